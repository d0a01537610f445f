/* Exchange times, ours beside the peers' from the same run.
 *
 * Cases: 2-D 5-point on a periodic grid (alltoall), 3-D 27-point halo of doubles (alltoallw, subarrays), random graphs with k = 6 targets (alltoallv).
 * Peers: native MPI_Neighbor_*, hand-written Irecv/Isend/Waitall, persistent requests (MPI_Startall), Sendrecv in dimension order (2-D).
 *
 * Method: see measure.h. */
#define _GNU_SOURCE
#include "measure.h"
#include <mpix_neighbor.h>
#include <sched.h>

struct problem {
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
};

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

/* ---- measuring */

static void print_line(const char *label, const char *where, const alternative *list, int alternatives, samples *s) {
  if (me != 0 || s->count == 0) return;
  double first = median(s->times[0], s->count);
  printf("%-26s %-5s %3d  %10.3f", label, where, s->count, first * 1e6);
  for (int a = 1; a < alternatives; a++) {
    double t = median(s->times[a], s->count);
    printf("  %s %.3f (%.2f)", list[a].name, t * 1e6, t / first);
  }
  printf("\n");
  fflush(stdout);
}

static void measure(const char *label, const alternative *list, int alternatives) {
  samples near, far;
  sample(list, alternatives, &near, &far);
  print_line(label, line ? "near" : "all", list, alternatives, &near);
  print_line(label, "far", list, alternatives, &far);
  release_samples(&near), release_samples(&far);
}

/* ---- the problems */

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
    const alternative list[] = {{"ours", ours, &p}, {"native", native, &p}, {"by hand", by_hand, &p}, {"persistent", persistent, &p}};
    measure(label, list, 4);
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
    const alternative list[] = {{"ours", ours, &p}, {"native", native, &p}, {"by hand", by_hand, &p}, {"persistent", persistent, &p}, {"sendrecv", sendrecv, &p}};
    measure(label, list, 5);
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
  const alternative list[] = {{"ours", ours, &p}, {"native", native, &p}, {"by hand", by_hand, &p}, {"persistent", persistent, &p}};
  measure(label, list, 4);
  p.recv = NULL;
  release(&p);
  for (k = 0; k < 26; k++) MPI_Type_free(&types_in[k]), MPI_Type_free(&types_out[k]);
  MPI_Comm_free(&cart);
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
    const alternative list[] = {{"ours", ours, &p}, {"native", native, &p}, {"by hand", by_hand, &p}, {"persistent", persistent, &p}};
    measure(label, list, 4);
    release(&p);
  }
  free(hit);
}

int main(int argc, char **argv) {
  const char *only = begin(argc, argv, "exchange [--rounds N] [--seconds S] [--only ring|grid|halo|random]");
  print_header("microseconds a call (ratio to ours)");
  if (me == 0) printf("# case                     cores rounds    ours\n");
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
  end();
  return 0;
}
