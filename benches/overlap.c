/* Overlap: how much of an exchange a computation hides.
 *
 * Cases: 1 edge to the right neighbor of a ring, and a periodic 2-D grid of processes (alltoall), 8
 * B to 4 MiB. Alternatives: ours persistent (plan) and nonblocking (Ineighbor), native
 * MPI_Ineighbor_alltoall, Irecv and Isend by hand; each started, then the computation, in one piece
 * or in 8 with a test between them, then a wait.
 *
 * The computation is a chain of multiplications that needs no memory, as long as the exchange
 * alone. Efficiency: (exchange + computation - both) / min(exchange, computation): 100 % if both
 * together take as long as one of them, 0 if they take as long as one after the other, less if
 * calls in between cost more than they hide. What is hidden is waiting: copies within a node are
 * made by the same cores as the computation.
 *
 * Method: see measure.h. */
#define _GNU_SOURCE
#include "edges.h"

enum { SLICES = 8 };

static volatile uint64_t result;

static void compute(long iterations) {
  uint64_t x = result;
  for (long i = 0; i < iterations; i++) x = x * 0x9e3779b97f4a7c15u + 1;
  result = x;
}

static void computation(problem *p) { compute(p->iterations); }

/* ---- ours */

static void start_plan(problem *p) { MPIX_Request_start(&p->plan); }

static void start_ours(problem *p) {
  MPIX_Ineighbor_alltoall(p->send, p->counts_out[0], p->type, p->recv, p->counts_in[0], p->type, p->comm, &p->plan);
}

static int test_ours(problem *p) {
  int done;
  MPIX_Request_test(&p->plan, &done);
  return done;
}

static void wait_ours(problem *p) { MPIX_Request_wait(&p->plan); }

/* ---- native, and by hand */

static void start_native(problem *p) {
  MPI_Ineighbor_alltoall(p->send, p->counts_out[0], p->type, p->recv, p->counts_in[0], p->type, p->comm, &p->requests[0]);
}

static int test_native(problem *p) {
  int done;
  MPI_Test(&p->requests[0], &done, MPI_STATUS_IGNORE);
  return done;
}

static void wait_native(problem *p) { MPI_Wait(&p->requests[0], MPI_STATUS_IGNORE); }

static int test_by_hand(problem *p) {
  int done;
  MPI_Testall(p->in + p->out, p->requests, &done, MPI_STATUSES_IGNORE);
  return done;
}

static void wait_by_hand(problem *p) { MPI_Waitall(p->in + p->out, p->requests, MPI_STATUSES_IGNORE); }

/* ---- beside the computation: for each way to exchange three functions */

#define WAY(name, start, test, wait)                                     \
  static void name##_alone(problem *p) {                                 \
    start(p);                                                            \
    wait(p);                                                             \
  }                                                                      \
  static void name##_untested(problem *p) {                              \
    start(p);                                                            \
    compute(p->iterations);                                              \
    wait(p);                                                             \
  }                                                                      \
  static void name##_tested(problem *p) {                                \
    int done = 0;                                                        \
    start(p);                                                            \
    for (int s = 0; s < SLICES; s++) {                                   \
      compute(p->iterations * (s + 1) / SLICES - p->iterations * s / SLICES); \
      if (!done && s + 1 < SLICES) done = test(p);                       \
    }                                                                    \
    if (!done) wait(p);                                                  \
  }

WAY(plan, start_plan, test_ours, wait_ours)
WAY(nonblocking, start_ours, test_ours, wait_ours)
WAY(native, start_native, test_native, wait_native)
WAY(hand, post_by_hand, test_by_hand, wait_by_hand)

enum { WAYS = 4, ALONE = 0, COMPUTATION, UNTESTED, TESTED, KINDS };

static const struct {
  const char *name;
  void (*run[KINDS])(problem *);
} ways[WAYS] = {
    {"plan", {plan_alone, computation, plan_untested, plan_tested}},
    {"Ineighbor", {nonblocking_alone, computation, nonblocking_untested, nonblocking_tested}},
    {"native", {native_alone, computation, native_untested, native_tested}},
    {"by hand", {hand_alone, computation, hand_untested, hand_tested}},
};

/* ---- measuring */

/* seconds an iteration takes */
static double calibrate(void) {
  const long iterations = 200000;
  double fastest = INFINITY;
  for (int i = 0; i < 10; i++) {
    double start = MPI_Wtime();
    compute(iterations);
    fastest = fmin(fastest, (MPI_Wtime() - start) / iterations);
  }
  MPI_Bcast(&fastest, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return fastest;
}

static void print_efficiency(const char *label, const char *where, samples *s) {
  if (me != 0 || s->count == 0) return;
  printf("%-22s %-5s %3d", label, where, s->count);
  for (int w = 0; w < WAYS; w++) {
    double t[KINDS];
    for (int k = 0; k < KINDS; k++) t[k] = typical(s->times[w * KINDS + k], s->count);
    printf("  %s %.2f us", ways[w].name, t[ALONE] * 1e6);
    for (int k = UNTESTED; k <= TESTED; k++) printf(" %4.0f%%", 100 * (t[ALONE] + t[COMPUTATION] - t[k]) / fmin(t[ALONE], t[COMPUTATION]));
  }
  printf("\n");
  fflush(stdout);
}

/* Times all ways on edges with blocks of `bytes` bytes; ends with the problem. */
static void overlap_on(problem *p, const char *what, int bytes, double iteration) {
  equal_blocks(p, bytes);
  finish_graph(p);
  problem on[WAYS];
  alternative list[WAYS * KINDS];
  for (int w = 0; w < WAYS; w++) {
    on[w] = *p;
    on[w].requests = need(sizeof(MPI_Request) * (p->in + p->out));
    if (ways[w].run[ALONE] == plan_alone)
      MPIX_Neighbor_alltoall_plan(p->send, p->counts_out[0], p->type, p->recv, p->counts_in[0], p->type, p->comm, MPI_INFO_NULL, &on[w].plan);
    for (int k = 0; k < KINDS; k++) list[w * KINDS + k] = (alternative){ways[w].name, ways[w].run[k], &on[w]};
    /* how long the exchange takes */
    double times[9];
    for (int i = 0; i < 9; i++) times[i] = batch(&list[w * KINDS], 10);
    on[w].iterations = (long)(median(times, 9) / iteration);
    MPI_Bcast(&on[w].iterations, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    for (int k = 0; k < KINDS; k++)
      if (k != COMPUTATION && ways[w].run[ALONE] != native_alone) expect_same(&list[w * KINDS + k]);
  }
  samples near, far;
  sample(list, WAYS * KINDS, &near, &far);
  char label[64];
  snprintf(label, sizeof label, "%s, %s", what, size_name(bytes));
  print_efficiency(label, line ? "near" : "all", &near);
  print_efficiency(label, "far", &far);
  release_samples(&near), release_samples(&far);
  for (int w = 0; w < WAYS; w++) {
    free(on[w].requests);
    if (on[w].plan) MPIX_Request_free(&on[w].plan);
  }
  release(p);
}

static const int sizes[] = {8, 64, 512, 4096, 32768, 262144, 1 << 20, 4 << 20};
enum { SIZES = sizeof sizes / sizeof *sizes };

int main(int argc, char **argv) {
  const char *only = begin(argc, argv, "overlap [--rounds N] [--seconds S] [--quantile Q] [--only ring|grid]");
  double iteration = calibrate();
  print_header("microseconds of the exchange alone, part of it hidden without tests and with 7 tests");
  if (me == 0) printf("# case                 cores rounds\n");
  for (int grid = 0; grid < 2; grid++) {
    if (*only && grid != !strcmp(only, "grid")) continue;
    for (int s = 0; s < SIZES; s += crowded ? 3 : 1) {
      problem p;
      if (grid) grid_edges(&p);
      else ring_edges(&p, 1);
      overlap_on(&p, grid ? "2-D 5-point" : "1 edge", sizes[s], iteration);
    }
  }
  end();
  return 0;
}
