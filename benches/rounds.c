/* Irregular exchanges by schedules of rounds, beside `direct`, native MPI_Neighbor_alltoallv and
 * hand-written Irecv/Isend/Waitall.
 *
 * Cases (IrregPC, section 7.2, scaled to the number of processes):
 *   uniform  each process sends to min(8, n - 1) others drawn at random, and receives from as many;
 *            messages of 1 to 32 units
 *   skewed   each process sends 16 units: few processes in few long messages, most in many short
 *            ones
 * With two processes, edges to the one peer are repeated: 8 each way; skewed 1 of 16 units from
 * process 0, and 8 of 2 units from process 1.
 *
 * All alternatives move the same bytes between the same buffers; what each delivers is checked
 * before it is timed. Ours have a communicator each; weights are the messages' bytes. `measure`
 * makes its trial calls before. Method: see measure.h. */
#define _GNU_SOURCE
#include "measure.h"
#include <mpix_neighbor.h>

/* the problem of an alternative: all but the communicator is the same for all */
struct problem {
  MPI_Comm comm;
  int in, out, *sources, *targets;
  int *counts_in, *counts_out, *displs_in, *displs_out; /* bytes */
  char *send, *recv;
  size_t bytes_in, bytes_out;
  MPI_Request *requests;
};

static void ours(problem *p) {
  MPIX_Neighbor_alltoallv(p->send, p->counts_out, p->displs_out, MPI_BYTE, p->recv, p->counts_in, p->displs_in, MPI_BYTE, p->comm);
}

static void native(problem *p) {
  MPI_Neighbor_alltoallv(p->send, p->counts_out, p->displs_out, MPI_BYTE, p->recv, p->counts_in, p->displs_in, MPI_BYTE, p->comm);
}

static void by_hand(problem *p) {
  int r = 0;
  for (int j = 0; j < p->in; j++) MPI_Irecv(p->recv + p->displs_in[j], p->counts_in[j], MPI_BYTE, p->sources[j], 5, p->comm, &p->requests[r++]);
  for (int i = 0; i < p->out; i++) MPI_Isend(p->send + p->displs_out[i], p->counts_out[i], MPI_BYTE, p->targets[i], 5, p->comm, &p->requests[r++]);
  MPI_Waitall(r, p->requests, MPI_STATUSES_IGNORE);
}

/* ---- graphs: all processes make the same list of edges, by source */

typedef struct {
  int from, to, units;
} edge;

enum { DEGREE = 8, UNITS = 16 };

static uint64_t drawn;

static int below(int limit) { return (int)(mix(drawn++) % (uint64_t)limit); }

/* brings `count` entries drawn at random to the front */
static void shuffle(int *list, int length, int count) {
  for (int i = 0; i < count; i++) {
    int j = i + below(length - i), moved = list[i];
    list[i] = list[j], list[j] = moved;
  }
}

static int sends_to(const edge *row, int d, int to) {
  for (int k = 0; k < d; k++)
    if (row[k].to == to) return 1;
  return 0;
}

/* processes in random order on a circle send to the next d; then random edges exchange their
   targets, where that repeats no edge */
static int uniform(edge *edges) {
  int d = n == 2 || n > DEGREE ? DEGREE : n - 1, count = n * d, *circle = need(sizeof(int) * (size_t)n);
  for (int p = 0; p < n; p++) circle[p] = p;
  shuffle(circle, n, n);
  for (int at = 0; at < n; at++)
    for (int k = 0; k < d; k++) edges[circle[at] * d + k] = (edge){circle[at], circle[(at + 1 + (n == 2 ? 0 : k)) % n], 1 + below(32)};
  for (int i = 0; i < 4 * count; i++) {
    edge *e = &edges[below(count)], *f = &edges[below(count)];
    if (e->from == f->to || f->from == e->to || sends_to(&edges[e->from * d], d, f->to) || sends_to(&edges[f->from * d], d, e->to)) continue;
    int moved = e->to;
    e->to = f->to, f->to = moved;
  }
  free(circle);
  return count;
}

/* 1, 2, 4 ... processes send 1, 2, 4 ... messages, at most n / 2; the last kind has all that are
   left. With 32 processes it is IrregPC's set. */
static int skewed(edge *edges) {
  int *messages = need(sizeof(int) * (size_t)n), *others = need(sizeof(int) * (size_t)n), *order = need(sizeof(int) * (size_t)n), count = 0;
  for (int p = 0; p < n; p++) order[p] = p;
  if (n > 2) shuffle(order, n, n);
  for (int k = 1, p = 0; p < n; k *= 2)
    for (int of_kind = 2 * k <= n / 2 && k < UNITS ? k : n; of_kind > 0 && p < n; of_kind--) messages[order[p++]] = k;
  if (n == 2) messages[0] = 1, messages[1] = DEGREE;
  for (int p = 0; p < n; p++) {
    int length = 0;
    for (int q = 0; q < n; q++)
      if (q != p) others[length++] = q;
    if (n > 2) shuffle(others, length, messages[p]);
    for (int k = 0; k < messages[p]; k++) edges[count++] = (edge){p, others[n > 2 ? k : 0], UNITS / messages[p]};
  }
  free(messages), free(others), free(order);
  return count;
}

/* ---- the problem */

static void allocate(problem *p, const edge *edges, int count, int unit) {
  for (int e = 0; e < count; e++) p->in += edges[e].to == me, p->out += edges[e].from == me;
  p->sources = need(sizeof(int) * p->in), p->targets = need(sizeof(int) * p->out);
  p->counts_in = need(sizeof(int) * p->in), p->counts_out = need(sizeof(int) * p->out);
  p->displs_in = need(sizeof(int) * p->in), p->displs_out = need(sizeof(int) * p->out);
  p->requests = need(sizeof(MPI_Request) * (p->in + p->out));
  for (int e = 0, i = 0, j = 0; e < count; e++) {
    int bytes = edges[e].units * unit;
    if (edges[e].to == me) p->sources[j] = edges[e].from, p->counts_in[j] = bytes, p->displs_in[j++] = (int)p->bytes_in, p->bytes_in += bytes;
    if (edges[e].from == me) p->targets[i] = edges[e].to, p->counts_out[i] = bytes, p->displs_out[i++] = (int)p->bytes_out, p->bytes_out += bytes;
  }
  p->send = need(p->bytes_out), p->recv = need(p->bytes_in);
}

static void release(problem *p) {
  free(p->sources), free(p->targets), free(p->counts_in), free(p->counts_out), free(p->displs_in), free(p->displs_out);
  free(p->requests), free(p->send), free(p->recv);
}

/* byte `at` of edge `e` */
static char expected(int e, int at) { return (char)(mix((uint64_t)e << 32 | (uint64_t)at / 8) >> (at % 8 * 8)); }

/* the numbers of this process's edges, in and out, are those of its lists, in order */
static void fill(problem *p, const edge *edges, int count) {
  for (int e = 0, i = 0; e < count; e++) {
    if (edges[e].from != me) continue;
    for (int b = 0; b < p->counts_out[i]; b++) p->send[p->displs_out[i] + b] = expected(e, b);
    i++;
  }
}

static void check(const alternative *a, const edge *edges, int count) {
  problem *p = a->on;
  for (size_t b = 0; b < p->bytes_in; b++) p->recv[b] = (char)~p->recv[b];
  a->run(p);
  for (int e = 0, j = 0; e < count; e++) {
    if (edges[e].to != me) continue;
    for (int b = 0; b < p->counts_in[j]; b++) {
      if (p->recv[p->displs_in[j] + b] == expected(e, b)) continue;
      fprintf(stderr, "rounds: %s: process %d, source entry %d (process %d): byte %d is wrong\n", a->name, me, j, p->sources[j], b);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    j++;
  }
}

/* ---- our schedules */

typedef struct {
  const char *schedule, *window, *name;
} variant;

static const variant variants[] = {
    {"direct", "2", "direct"},
    {"linear_permutation", "2", "linear_permutation"},
    {"random_rounds", "2", "random_rounds"},
    {"random_rounds", "1", "random_rounds, window 1"},
    {"edge_coloring", "2", "edge_coloring"},
    {"edge_coloring", "1", "edge_coloring, window 1"},
    {"edge_coloring", "4", "edge_coloring, window 4"},
    {"distributed_coloring", "2", "distributed_coloring"},
    {"measure", "auto", "measure"},
};
enum { VARIANTS = sizeof variants / sizeof *variants, SETS = 3 };

static double slowest(double mine) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return mine;
}

/* one communicator for each variant, for all cases */
static MPI_Comm comms[VARIANTS];

/* Makes the communicators. Seconds that the first set call on one takes, the median of them; it
 * sets a neighborhood without edges, for another operation: while that is there, what serves all
 * neighborhoods of a communicator stays. */
static double open_communicators(void) {
  double times[VARIANTS];
  for (int v = 0; v < VARIANTS; v++) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[v]);
    MPI_Barrier(comms[v]);
    double start = MPI_Wtime();
    MPIX_Neighborhood_set(MPIX_NEIGHBOR_GATHER, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, comms[v]);
    times[v] = slowest(MPI_Wtime() - start);
  }
  return median(times, VARIANTS);
}

/* Gives the problem a neighborhood by this schedule. Seconds that setting takes, the median of up
   to SETS, of fewer where they take long. */
static double set(problem *p, const variant *v) {
  double times[SETS], used = 0;
  int done = 0;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_schedule", v->schedule);
  MPI_Info_set(info, "mpix_round_window", v->window);
  MPI_Info_set(info, "mpix_weight_unit", "1");
  while (done < SETS && used < 0.1) {
    /* with the same neighborhood in place there would be nothing to do */
    if (done > 0) MPIX_Neighborhood_free(MPIX_NEIGHBOR_ALLTOALL, p->comm);
    MPI_Barrier(p->comm);
    double start = MPI_Wtime();
    MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, p->in, p->sources, p->counts_in, p->out, p->targets, p->counts_out, info, p->comm);
    times[done] = slowest(MPI_Wtime() - start);
    used += times[done++];
  }
  MPI_Info_free(&info);
  return median(times, done);
}

/* the schedule that runs, by the library's word: its name, most rounds of a process, messages of
   all processes. Whether it still compares */
static int described(problem *p, char name[32], int *most_rounds, int *messages) {
  char text[1024] = "";
  int length;
  MPIX_Neighborhood_describe(MPIX_NEIGHBOR_ALLTOALL, p->comm, sizeof text, text, &length);
  const char *at = strstr(text, "\nschedule ");
  if (!at || sscanf(at, "\nschedule %31[^:]: %d %*[a-z ], %d", name, most_rounds, messages) != 3) {
    fprintf(stderr, "rounds: the description is not understood:\n%s", text);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (strstr(at, " strict round")) strncat(name, ", strict", 31 - strlen(name));
  MPI_Allreduce(MPI_IN_PLACE, most_rounds, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, messages, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return strstr(at, "the first calls compare") != NULL;
}

/* ---- one case */

static void print_times(const samples *s, const double *times, int a, int native, int direct) {
  if (s->count) printf("  %11.2f %8.2f %8.2f", times[a] * 1e6, times[a] / times[native], times[a] / times[direct]);
}

static void run(const char *kind, int (*make)(edge *), int unit) {
  enum { NATIVE = VARIANTS, BY_HAND, ALL };
  edge *edges = need(sizeof(edge) * (size_t)n * UNITS);
  drawn = 1;
  int count = make(edges), most_rounds[ALL] = {0}, messages[ALL] = {0};
  problem base = {.comm = MPI_COMM_NULL}, on[ALL];
  alternative list[ALL];
  char picked[ALL][32] = {""}, names[ALL][64];
  double set_times[VARIANTS];
  allocate(&base, edges, count, unit);
  fill(&base, edges, count);
  for (int a = 0; a < ALL; a++) {
    on[a] = base;
    list[a] = (alternative){names[a], a == NATIVE ? native : a == BY_HAND ? by_hand : ours, &on[a]};
    snprintf(names[a], sizeof names[a], "%s", a == NATIVE ? "MPI_Neighbor_alltoallv" : a == BY_HAND ? "Irecv/Isend/Waitall" : variants[a].name);
    on[a].comm = a < VARIANTS ? comms[a] : MPI_COMM_WORLD;
    if (a < VARIANTS) set_times[a] = set(&on[a], &variants[a]);
  }
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, base.in, base.sources, base.in ? base.counts_in : MPI_WEIGHTS_EMPTY, base.out, base.targets, base.counts_out,
                                 MPI_INFO_NULL, 0, &on[NATIVE].comm);
  for (int a = 0; a < ALL; a++) {
    check(&list[a], edges, count);
    if (a >= VARIANTS) continue;
    while (described(&on[a], picked[a], &most_rounds[a], &messages[a]))
      for (int i = 0; i < 6; i++) ours(&on[a]);
    check(&list[a], edges, count);
    if (!strcmp(variants[a].schedule, "measure")) snprintf(names[a], sizeof names[a], "measure: %s", picked[a]);
  }

  samples near, far;
  sample(list, ALL, &near, &far);
  double near_times[ALL], far_times[ALL];
  for (int a = 0; a < ALL; a++) near_times[a] = median(near.times[a], near.count), far_times[a] = median(far.times[a], far.count);
  if (me == 0) {
    long bytes = 0;
    for (int e = 0; e < count; e++) bytes += (long)edges[e].units * unit;
    printf("\n%s, unit %s: %d messages, %ld bytes\n", kind, size_name(unit), count, bytes);
    printf("%-34s %6s %8s %10s", "#", "rounds", "messages", "set us");
    const samples *both[] = {&near, &far};
    const char *labels[] = {line ? "near" : "all", "far"};
    for (int s = 0; s < 2; s++) {
      char label[32];
      snprintf(label, sizeof label, "%s (%d) us", labels[s], both[s]->count);
      if (both[s]->count) printf("  %11s %8s %8s", label, "/ native", "/ direct");
    }
    printf("\n");
    for (int a = 0; a < ALL; a++) {
      if (a < VARIANTS) printf("%-34s %6d %8d %10.0f", names[a], most_rounds[a], messages[a], set_times[a] * 1e6);
      else printf("%-34s %6s %8d %10s", names[a], "-", count, "-");
      print_times(&near, near_times, a, NATIVE, 0);
      print_times(&far, far_times, a, NATIVE, 0);
      printf("\n");
    }
    fflush(stdout);
  }
  release_samples(&near), release_samples(&far);
  for (int v = 0; v < VARIANTS; v++) MPIX_Neighborhood_free(MPIX_NEIGHBOR_ALLTOALL, comms[v]);
  MPI_Comm_free(&on[NATIVE].comm);
  release(&base);
  free(edges);
}

/* one kind of graph, with messages of several units */
static void run_kind(const char *kind, int (*make)(edge *)) {
  static const int units[] = {64, 1024, 8192};
  enum { SIZES = sizeof units / sizeof *units };
  /* with many processes to a core the two ends must do, as MPICH's peers take tens of milliseconds
     a call */
  for (int u = 0; u < SIZES; u += crowded && n > 8 ? SIZES - 1 : 1) run(kind, make, units[u]);
}

int main(int argc, char **argv) {
  const char *only = begin(argc, argv, "rounds [--rounds N] [--seconds S] [--only uniform|skewed]");
  /* for the same reason */
  least_calls = 6, least_rounds = 3;
  print_header("microseconds a call, and their ratios to native and to direct");
  if (n > 1) {
    double first = open_communicators();
    if (me == 0) printf("# the first set call on a communicator takes %.0f us\n", first * 1e6);
    if (!*only || !strcmp(only, "uniform")) run_kind("uniform", uniform);
    if (!*only || !strcmp(only, "skewed")) run_kind("skewed", skewed);
    for (int v = 0; v < VARIANTS; v++) MPI_Comm_free(&comms[v]);
  }
  end();
  return 0;
}
