/* Exchange times, ours beside the peers' from the same run.
 *
 * Cases: 2-D 5-point on a periodic grid (alltoall), 3-D 27-point halo of doubles (alltoallw, subarrays), random graphs with k = 6 targets (alltoallv).
 * Peers: native MPI_Neighbor_*, hand-written Irecv/Isend/Waitall, persistent requests (MPI_Startall), Sendrecv in dimension order (2-D).
 *
 * Method: all alternatives in one process, interleaved in batches, each batch with a warm-up call; the slowest process counts; medians over the
 * rounds. With two processes the distance of the two cores is probed before and after each round by passing a cache line back and forth: rounds are
 * near (below 120 ns), far, or mixed (dropped). Where processes outnumber cores all rounds count. */
#define _GNU_SOURCE
#include <math.h>
#include <mpi.h>
#include <mpix_neighbor.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int me, n, rounds = 25, crowded;
static double budget = 6.0; /* seconds for one case */

typedef struct {
  MPI_Comm comm; /* has our neighborhood and a native topology */
  int in, out, *sources, *targets;
  int *counts_in, *counts_out, *displs_in, *displs_out; /* elements */
  MPI_Aint *bytes_in, *bytes_out;
  MPI_Datatype *types_in, *types_out; /* NULL: one type */
  MPI_Datatype type;
  char *send, *recv;
  MPI_Aint extent;
  MPI_Request *requests, *persistent;
  int cartesian;
} problem;

/* ---- the alternatives */

static void ours(problem *p) {
  if (p->types_in) MPIX_Neighbor_alltoallw(p->send, p->counts_out, p->bytes_out, p->types_out, p->recv, p->counts_in, p->bytes_in, p->types_in, p->comm);
  else if (p->cartesian) MPIX_Neighbor_alltoall(p->send, p->counts_out[0], p->type, p->recv, p->counts_in[0], p->type, p->comm);
  else MPIX_Neighbor_alltoallv(p->send, p->counts_out, p->displs_out, p->type, p->recv, p->counts_in, p->displs_in, p->type, p->comm);
}

static void native(problem *p) {
  if (p->types_in) MPI_Neighbor_alltoallw(p->send, p->counts_out, p->bytes_out, p->types_out, p->recv, p->counts_in, p->bytes_in, p->types_in, p->comm);
  else if (p->cartesian) MPI_Neighbor_alltoall(p->send, p->counts_out[0], p->type, p->recv, p->counts_in[0], p->type, p->comm);
  else MPI_Neighbor_alltoallv(p->send, p->counts_out, p->displs_out, p->type, p->recv, p->counts_in, p->displs_in, p->type, p->comm);
}

static void by_hand(problem *p) {
  int r = 0;
  for (int j = 0; j < p->in; j++)
    MPI_Irecv(p->recv + p->bytes_in[j], p->counts_in[j], p->types_in ? p->types_in[j] : p->type, p->sources[j], 5, p->comm, &p->requests[r++]);
  for (int i = 0; i < p->out; i++)
    MPI_Isend(p->send + p->bytes_out[i], p->counts_out[i], p->types_out ? p->types_out[i] : p->type, p->targets[i], 5, p->comm, &p->requests[r++]);
  MPI_Waitall(r, p->requests, MPI_STATUSES_IGNORE);
}

static void persistent(problem *p) {
  MPI_Startall(p->in + p->out, p->persistent);
  MPI_Waitall(p->in + p->out, p->persistent, MPI_STATUSES_IGNORE);
}

static void sendrecv(problem *p) {
  for (int i = 0; i < p->out; i++)
    MPI_Sendrecv(p->send + p->bytes_out[i], p->counts_out[i], p->type, p->targets[i], 6, p->recv + p->bytes_in[i ^ 1], p->counts_in[i ^ 1], p->type,
                 p->sources[i ^ 1], 6, p->comm, MPI_STATUS_IGNORE);
}

typedef struct {
  const char *name;
  void (*run)(problem *);
} alternative;

/* ---- measuring */

static volatile uint64_t *line; /* shared by two processes on a node */

/* ns for passing a cache line to the other process and back, halved */
static double probe(void) {
  if (!line) return 0;
  enum { PASSES = 400 };
  MPI_Barrier(MPI_COMM_WORLD);
  uint64_t base = __atomic_load_n(&line[8], __ATOMIC_ACQUIRE);
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  for (int i = 0; i < PASSES; i++) {
    uint64_t turn = base + 2 * (uint64_t)i + (uint64_t)me;
    while (__atomic_load_n(&line[8], __ATOMIC_ACQUIRE) != turn) continue;
    __atomic_store_n(&line[8], turn + 1, __ATOMIC_RELEASE);
  }
  double ns = (MPI_Wtime() - start) / PASSES / 2 * 1e9;
  MPI_Bcast(&ns, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return ns;
}

static double batch(problem *p, const alternative *a, int calls) {
  a->run(p);
  MPI_Barrier(MPI_COMM_WORLD);
  /* where processes share cores, they leave the barrier a scheduler's time slice apart */
  for (int i = 0; i < 4 && crowded; i++) a->run(p);
  double start = MPI_Wtime();
  for (int i = 0; i < calls; i++) a->run(p);
  double mine = (MPI_Wtime() - start) / calls, slowest;
  /* where processes share cores, one that waits in a collective may spin on a core that a neighbor needs to finish its timed calls */
  for (int i = 0; i < 4 && crowded; i++) a->run(p);
  MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *v, int count) {
  if (!count) return NAN;
  qsort(v, (size_t)count, sizeof *v, compare);
  return count % 2 ? v[count / 2] : (v[count / 2 - 1] + v[count / 2]) / 2;
}

static void print_line(const char *label, const char *where, const alternative *list, int alternatives, double **times, int count) {
  if (me != 0 || count == 0) return;
  double first = median(times[0], count);
  printf("%-26s %-5s %3d  %10.3f", label, where, count, first * 1e6);
  for (int a = 1; a < alternatives; a++) {
    double t = median(times[a], count);
    printf("  %s %.3f (%.2f)", list[a].name, t * 1e6, t / first);
  }
  printf("\n");
  fflush(stdout);
}

static void measure(const char *label, problem *p, const alternative *list, int alternatives) {
  double *near[8], *far[8];
  int nears = 0, fars = 0, calls[8];
  for (int a = 0; a < alternatives; a++) {
    near[a] = malloc(sizeof(double) * (size_t)rounds);
    far[a] = malloc(sizeof(double) * (size_t)rounds);
    /* batches of about 0.2 ms; where processes share cores 3 ms, and enough calls that the way out of the barrier does not count */
    double once = batch(p, &list[a], 4);
    calls[a] = (int)((crowded ? 3e-3 : 2e-4) / once);
    if (calls[a] < (crowded ? 20 : 4)) calls[a] = crowded ? 20 : 4;
    MPI_Bcast(&calls[a], 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  double start = MPI_Wtime();
  for (int r = 0; r < rounds; r++) {
    double before = probe(), t[8];
    /* each alternative is the first one equally often */
    for (int k = 0; k < alternatives; k++) {
      int a = (r + k) % alternatives;
      t[a] = batch(p, &list[a], calls[a]);
    }
    double after = probe();
    int is_near = before < 120 && after < 120, is_far = before >= 120 && after >= 120;
    for (int a = 0; a < alternatives; a++) {
      if (is_near) near[a][nears] = t[a];
      if (is_far) far[a][fars] = t[a];
    }
    nears += is_near, fars += is_far;
    double used = MPI_Wtime() - start;
    MPI_Bcast(&used, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (used > budget && r >= 4) break;
  }
  print_line(label, line ? "near" : "all", list, alternatives, near, nears);
  print_line(label, "far", list, alternatives, far, fars);
  for (int a = 0; a < alternatives; a++) free(near[a]), free(far[a]);
}

/* ---- the problems */

static void *need(size_t bytes) {
  void *p = calloc(1, bytes ? bytes : 1);
  if (!p) MPI_Abort(MPI_COMM_WORLD, 1);
  return p;
}

static void allocate(problem *p) {
  p->counts_in = need(sizeof(int) * p->in), p->counts_out = need(sizeof(int) * p->out);
  p->displs_in = need(sizeof(int) * p->in), p->displs_out = need(sizeof(int) * p->out);
  p->bytes_in = need(sizeof(MPI_Aint) * p->in), p->bytes_out = need(sizeof(MPI_Aint) * p->out);
  p->requests = need(sizeof(MPI_Request) * (p->in + p->out)), p->persistent = need(sizeof(MPI_Request) * (p->in + p->out));
}

static void make_persistent(problem *p) {
  int r = 0;
  for (int j = 0; j < p->in; j++)
    MPI_Recv_init(p->recv + p->bytes_in[j], p->counts_in[j], p->types_in ? p->types_in[j] : p->type, p->sources[j], 7, p->comm, &p->persistent[r++]);
  for (int i = 0; i < p->out; i++)
    MPI_Send_init(p->send + p->bytes_out[i], p->counts_out[i], p->types_out ? p->types_out[i] : p->type, p->targets[i], 7, p->comm, &p->persistent[r++]);
}

static void equal_blocks(problem *p, int bytes) {
  p->type = MPI_BYTE;
  for (int j = 0; j < p->in; j++) p->counts_in[j] = bytes, p->displs_in[j] = j * bytes, p->bytes_in[j] = (MPI_Aint)j * bytes;
  for (int i = 0; i < p->out; i++) p->counts_out[i] = bytes, p->displs_out[i] = i * bytes, p->bytes_out[i] = (MPI_Aint)i * bytes;
  p->send = need((size_t)p->out * bytes), p->recv = need((size_t)p->in * bytes);
}

static void release(problem *p) {
  for (int r = 0; r < p->in + p->out; r++) MPI_Request_free(&p->persistent[r]);
  free(p->counts_in), free(p->counts_out), free(p->displs_in), free(p->displs_out), free(p->bytes_in), free(p->bytes_out);
  free(p->requests), free(p->persistent), free(p->send), free(p->recv), free(p->sources), free(p->targets);
  MPI_Comm_free(&p->comm);
}

static const char *size_name(int bytes) {
  static char text[20];
  if (bytes >= 1 << 20) snprintf(text, sizeof text, "%d MiB", bytes >> 20);
  else if (bytes >= 1 << 10) snprintf(text, sizeof text, "%d KiB", bytes >> 10);
  else snprintf(text, sizeof text, "%d B", bytes);
  return text;
}

static const int sizes[] = {8, 64, 512, 4096, 32768, 262144, 1 << 20};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* one edge to each side of a ring of processes: with two processes, one message each way to one peer by two edges; `degree` 1: to the right only */
static void ring(int degree) {
  for (int s = 0; s < SIZES; s += crowded ? 3 : 1) {
    problem p = {.in = degree, .out = degree};
    allocate(&p);
    p.sources = need(sizeof(int) * degree), p.targets = need(sizeof(int) * degree);
    for (int i = 0; i < degree; i++) p.sources[i] = (me + n - 1) % n, p.targets[i] = (me + 1) % n;
    equal_blocks(&p, sizes[s]);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, p.sources, MPI_UNWEIGHTED, degree, p.targets, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &p.comm);
    MPIX_Neighborhood_set_topology(MPIX_NEIGHBOR_ALLTOALL, MPI_INFO_NULL, p.comm);
    make_persistent(&p);
    char label[64];
    snprintf(label, sizeof label, "%d edge%s right, %s", degree, degree > 1 ? "s" : "", size_name(sizes[s]));
    static const alternative list[] = {{"ours", ours}, {"native", native}, {"by hand", by_hand}, {"persistent", persistent}};
    measure(label, &p, list, 4);
    release(&p);
  }
}

static void grid_2d(void) {
  for (int s = 0; s < SIZES; s += crowded ? 3 : 1) {
    problem p = {.in = 4, .out = 4, .cartesian = 1};
    int dims[2] = {0, 0}, periods[2] = {1, 1};
    MPI_Dims_create(n, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &p.comm);
    allocate(&p);
    p.sources = need(sizeof(int) * 4), p.targets = need(sizeof(int) * 4);
    for (int d = 0; d < 2; d++) MPI_Cart_shift(p.comm, d, 1, &p.sources[2 * d], &p.sources[2 * d + 1]);
    memcpy(p.targets, p.sources, sizeof(int) * 4);
    equal_blocks(&p, sizes[s]);
    MPIX_Neighborhood_set_topology(MPIX_NEIGHBOR_ALLTOALL, MPI_INFO_NULL, p.comm);
    make_persistent(&p);
    char label[64];
    snprintf(label, sizeof label, "2-D 5-point, %s", size_name(sizes[s]));
    static const alternative list[] = {{"ours", ours}, {"native", native}, {"by hand", by_hand}, {"persistent", persistent}, {"sendrecv", sendrecv}};
    measure(label, &p, list, 5);
    release(&p);
  }
}

static void halo_3d(int width) {
  problem p = {.in = 0, .out = 0};
  int dims[3] = {0, 0, 0}, periods[3] = {1, 1, 1}, c[3], full = width + 2, k = 0;
  MPI_Comm cart;
  MPI_Dims_create(n, 3, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &cart);
  MPI_Cart_coords(cart, me, 3, c);
  p.in = p.out = 26;
  allocate(&p);
  p.sources = need(sizeof(int) * 26), p.targets = need(sizeof(int) * 26);
  MPI_Datatype types_in[26], types_out[26];
  p.types_in = types_in, p.types_out = types_out;
  for (int o = 0; o < 27; o++) {
    int at[3] = {o / 9 - 1, o / 3 % 3 - 1, o % 3 - 1}, to[3], from[3], sub[3], start_out[3], start_in[3], all[3] = {full, full, full};
    if (o == 13) continue;
    for (int d = 0; d < 3; d++) {
      to[d] = (c[d] + at[d] + dims[d]) % dims[d], from[d] = (c[d] - at[d] + dims[d]) % dims[d];
      sub[d] = at[d] ? 1 : width;
      start_out[d] = at[d] > 0 ? width : 1;
      start_in[d] = at[d] > 0 ? 0 : at[d] < 0 ? width + 1 : 1;
    }
    MPI_Cart_rank(cart, to, &p.targets[k]);
    MPI_Cart_rank(cart, from, &p.sources[k]);
    MPI_Type_create_subarray(3, all, sub, start_out, MPI_ORDER_C, MPI_DOUBLE, &types_out[k]);
    MPI_Type_create_subarray(3, all, sub, start_in, MPI_ORDER_C, MPI_DOUBLE, &types_in[k]);
    MPI_Type_commit(&types_out[k]);
    MPI_Type_commit(&types_in[k]);
    p.counts_in[k] = p.counts_out[k] = 1;
    k++;
  }
  p.send = need(sizeof(double) * full * full * full);
  p.recv = p.send;
  MPI_Dist_graph_create_adjacent(cart, 26, p.sources, MPI_UNWEIGHTED, 26, p.targets, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &p.comm);
  MPIX_Neighborhood_set_topology(MPIX_NEIGHBOR_ALLTOALL, MPI_INFO_NULL, p.comm);
  make_persistent(&p);
  char label[64];
  snprintf(label, sizeof label, "3-D 27-point, %d^3", width);
  static const alternative list[] = {{"ours", ours}, {"native", native}, {"by hand", by_hand}, {"persistent", persistent}};
  measure(label, &p, list, 4);
  p.recv = NULL;
  release(&p);
  for (k = 0; k < 26; k++) MPI_Type_free(&types_in[k]), MPI_Type_free(&types_out[k]);
  MPI_Comm_free(&cart);
}

static uint64_t mix(uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* every process sends to k = 6 others drawn at random (as many as there are, where there are fewer) */
static void random_graph(void) {
  int k = n - 1 < 6 ? n - 1 : 6;
  if (k == 0) return;
  int *hit = need(sizeof(int) * n * n);
  for (int s = 0; s < n; s++)
    for (int i = 0, drawn = 0; drawn < k; i++) {
      int t = (int)(mix((uint64_t)s * 1000 + (uint64_t)i) % (uint64_t)n);
      if (t != s && !hit[s * n + t]) hit[s * n + t] = 1, drawn++;
    }
  for (int s = 0; s < SIZES; s += crowded ? 3 : 1) {
    problem p = {.in = 0, .out = k};
    for (int r = 0; r < n; r++) p.in += hit[r * n + me];
    allocate(&p);
    p.sources = need(sizeof(int) * p.in), p.targets = need(sizeof(int) * k);
    for (int r = 0, i = 0, j = 0; r < n; r++) {
      if (hit[r * n + me]) p.sources[j++] = r;
      if (hit[me * n + r]) p.targets[i++] = r;
    }
    equal_blocks(&p, sizes[s]);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, p.in, p.sources, p.in ? MPI_UNWEIGHTED : MPI_WEIGHTS_EMPTY, p.out, p.targets, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &p.comm);
    MPIX_Neighborhood_set_topology(MPIX_NEIGHBOR_ALLTOALL, MPI_INFO_NULL, p.comm);
    make_persistent(&p);
    char label[64];
    snprintf(label, sizeof label, "random k = %d, %s", k, size_name(sizes[s]));
    static const alternative list[] = {{"ours", ours}, {"native", native}, {"by hand", by_hand}, {"persistent", persistent}};
    measure(label, &p, list, 4);
    release(&p);
  }
  free(hit);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  const char *only = "";
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--rounds")) rounds = atoi(argv[i + 1]);
    else if (!strcmp(argv[i], "--seconds")) budget = atof(argv[i + 1]);
    else if (!strcmp(argv[i], "--only")) only = argv[i + 1];
    else if (me == 0) fprintf(stderr, "usage: exchange [--rounds N] [--seconds S] [--only ring|grid|halo|random]\n"), MPI_Abort(MPI_COMM_WORLD, 2);
  }
  crowded = n > sysconf(_SC_NPROCESSORS_ONLN);
  MPI_Win win = MPI_WIN_NULL;
  if (n == 2 && !crowded) {
    void *base;
    MPI_Aint bytes;
    int unit;
    MPI_Win_allocate_shared(me == 0 ? 256 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_shared_query(win, 0, &bytes, &unit, &base);
    line = base;
    if (me == 0) memset(base, 0, 256);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (me == 0) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    printf("# %.*s, %d processes%s; microseconds a call (ratio to ours)\n", (int)strcspn(version, ",\n"), version, n, crowded ? ", more than cores" : "");
    printf("# case                     cores rounds    ours\n");
  }
  if (!*only || !strcmp(only, "ring")) {
    ring(1);
    if (n == 2) ring(8);
  }
  if (!*only || !strcmp(only, "grid")) grid_2d();
  if (!*only || !strcmp(only, "halo")) {
    halo_3d(8);
    halo_3d(16);
    halo_3d(32);
    if (!crowded) halo_3d(64);
  }
  if (!*only || !strcmp(only, "random")) random_graph();
  if (win != MPI_WIN_NULL) MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
