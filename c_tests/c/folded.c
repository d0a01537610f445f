/* Long blocks that are combined while they come in chunks: into one result and into their places,
   from one process and from several, in the order of the sources and in any, where blocks of one
   process stand apart from one another, and where a process is late. Sums of numbers of such
   different size that each order has a result of its own. Where chunks are combined at once, the
   library allocates nothing as long as a message. */
#define _GNU_SOURCE
#include <limits.h>
#include <unistd.h>

#include "allocations.h"
#include "test.h"

enum { MOST_EDGES = 4, MARGIN = 16 };

static int me, n;

/* ---- Graphs: the sources of a process, and so its targets ---- */

static int degree, sources[MOST_EDGES], targets[MOST_EDGES];

static void graph_of(int shape) {
  static const int away[][MOST_EDGES] = {{1}, {1, 1, 1}, {1, 2}, {2, 1, 1}, {1, 2, 1}, {1, 0, 1, 2}};
  static const int degrees[] = {1, 3, 2, 3, 3, 4};
  degree = degrees[shape];
  for (int i = 0; i < degree; i++) sources[i] = (me + n * 2 - away[shape][i]) % n, targets[i] = (me + away[shape][i]) % n;
}

enum { SHAPES = 6 };

/* ---- What is combined ---- */

/* numbers of which some are so large that small ones vanish beside them */
static double number(int from, int entry, int call, int i) {
  uint64_t h = mix2(mix3(from, entry, call), i);
  double large = h % 3 == 0 ? 1e17 : h % 3 == 1 ? -1e17 : 1;
  return large * (double)(1 + h / 3 % 1000);
}

enum { DOUBLE, STRIDED, COMPLEX, INT, KINDS };

typedef struct {
  MPI_Datatype type, received;
  int doubles, apart; /* in an element; from one received element to the next one, in elements */
} kind;

static kind kinds[KINDS];

/* runs a plan that has been made once, and frees it */
static void run(int made, MPIX_Request *plan) {
  OK(made);
  OK(MPIX_Request_start(plan));
  OK(MPIX_Request_wait(plan));
  OK(MPIX_Request_free(plan));
}

/* a number as an int, whose sums do not depend on the order */
static int whole(double x) { return (int)((int64_t)(x / 1e10) % 1000003); }

static void reduce(int shape, int length, int call, int plan, MPI_Comm comm) {
  double *sent = malloc((size_t)length * sizeof(double)), *have = malloc((size_t)length * sizeof(double));
  for (int i = 0; i < length; i++) sent[i] = number(me, 0, call, i), have[i] = -1;
  MPIX_Request request;
  counting = 1;
  if (!plan) OK(MPIX_Neighbor_reduce(sent, length, MPI_DOUBLE, have, length, MPI_DOUBLE, MPI_SUM, comm));
  else run(MPIX_Neighbor_reduce_plan(sent, length, MPI_DOUBLE, have, length, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &request), &request);
  counting = 0;
  int wrong = 0;
  for (int i = 0; i < length; i++) {
    double want = number(sources[0], 0, call, i);
    for (int j = 1; j < degree; j++) want += number(sources[j], 0, call, i);
    wrong += want != have[i];
  }
  CHECK(wrong == 0, "reduce, shape %d, %d doubles, call %d: %d are wrong", shape, length, call, wrong);
  free(sent), free(have);
}

static void reduce_in_any_order(int shape, int length, int call, MPI_Comm comm) {
  int *sent = malloc((size_t)length * sizeof(int)), *have = malloc((size_t)length * sizeof(int)), wrong = 0;
  for (int i = 0; i < length; i++) sent[i] = whole(number(me, 0, call, i)), have[i] = -1;
  OK(MPIX_Neighbor_reduce(sent, length, MPI_INT, have, length, MPI_INT, MPI_SUM, comm));
  for (int i = 0; i < length; i++) {
    int want = 0;
    for (int j = 0; j < degree; j++) want += whole(number(sources[j], 0, call, i));
    wrong += want != have[i];
  }
  CHECK(wrong == 0, "reduce, shape %d, %d ints, call %d: %d are wrong", shape, length, call, wrong);
  free(sent), free(have);
}

/* blocks of different lengths; in the order of sources their places are the same memory */
static void accumulate(int shape, int k, int length, int call, int plan, int in_order, MPI_Comm comm) {
  const kind *t = &kinds[k];
  int counts[MOST_EDGES], sdispls[MOST_EDGES], rdispls[MOST_EDGES];
  int total = 0, places = 0;
  for (int j = 0; j < degree; j++) {
    counts[j] = length - 3 * j;
    sdispls[j] = total, total += counts[j];
    rdispls[j] = in_order ? j : places, places += counts[j];
  }
  if (in_order) places = length + MOST_EDGES;
  int items = t->doubles ? t->doubles : 1;
  size_t size = t->doubles ? sizeof(double) : sizeof(int), all = (size_t)(places * items * t->apart + MARGIN);
  char *sent = malloc((size_t)(total * items) * size), *have = malloc(all * size), *want = malloc(all * size);
  for (int j = 0; j < degree; j++)
    for (int i = 0; i < counts[j] * items; i++) {
      double x = number(me, j, call, i);
      if (t->doubles) ((double *)sent)[sdispls[j] * items + i] = x;
      else ((int *)sent)[sdispls[j] + i] = whole(x);
    }
  for (size_t i = 0; i < all; i++) {
    if (t->doubles) ((double *)want)[i] = number(-1, 0, call, (int)i);
    else ((int *)want)[i] = whole(number(-1, 0, call, (int)i));
  }
  memcpy(have, want, all * size);
  for (int j = 0; j < degree; j++) {
    for (int i = 0; i < counts[j] * items; i++) {
      int place = (rdispls[j] + i / items) * items * t->apart + i % items;
      double x = number(sources[j], j, call, i); /* entry j leads to as far as entry j comes from */
      if (t->doubles) ((double *)want)[place] += x;
      else ((int *)want)[place] += whole(x);
    }
  }
  MPIX_Request request;
  counting = 1;
  if (!plan) OK(MPIX_Neighbor_accumulatev(sent, counts, sdispls, t->type, have, counts, rdispls, t->received, MPI_SUM, comm));
  else run(MPIX_Neighbor_accumulatev_plan(sent, counts, sdispls, t->type, have, counts, rdispls, t->received, MPI_SUM, comm, MPI_INFO_NULL, &request), &request);
  counting = 0;
  size_t bad = 0;
  while (bad < all * size && have[bad] == want[bad]) bad++;
  CHECK(bad == all * size, "accumulate, shape %d, kind %d, %d elements, call %d: byte %zu of %zu", shape, k, length, call, bad, all * size);
  free(sent), free(have), free(want);
}

static MPI_Comm neighborhood(const char *order) {
  MPI_Comm comm = test_duplicate();
  MPI_Info info = test_hint("mpix_reduce_order", order);
  int operations = MPIX_NEIGHBOR_REDUCE | MPIX_NEIGHBOR_ACCUMULATE;
  OK(MPIX_Neighborhood_set(operations, degree, sources, MPI_UNWEIGHTED, degree, targets, MPI_UNWEIGHTED, info, comm));
  MPI_Info_free(&info);
  return comm;
}

/* combining as chunks come needs no memory for the message: for each process in one call at least,
   as a message that has waited for long goes by MPI */
static void at_once(int shape, int length) {
  long own = LONG_MAX, least = LONG_MAX;
  for (int call = 0; call < 20 && least >= length; call++) {
    MPI_Comm comm = neighborhood("source");
    by_us = (allocations){0};
    accumulate(shape, STRIDED, length, call, 0, 1, comm);
    MPI_Comm_free(&comm);
    if (by_us.bytes < own) own = by_us.bytes;
    MPI_Allreduce(&own, &least, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
  }
  CHECK(least < length, "shape %d: %ld bytes are allocated for %d doubles", shape, least, length);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  me = test_rank, n = test_size;
  const char *shared = getenv("MPIX_SHARED_MEMORY"), *single = getenv("MPIX_SINGLE_COPY");
  int cell = (int)(((shared ? atol(shared) : 10 << 20) - 36864) / 8), chunks_alone = single && !strcmp(single, "false");
  /* elements: some more than a cell holds, or as many as asked for */
  int asked = getenv("TEST_LENGTH") ? atoi(getenv("TEST_LENGTH")) : 0;
  int lengths[] = {cell / 8 + 1, 9 * (cell / 8) + 5, 4 * (cell / 8) + 2}, several = asked ? 1 : 3;
  if (asked) lengths[0] = asked;
  MPI_Datatype strided;
  MPI_Type_create_resized(MPI_DOUBLE, 0, 3 * sizeof(double), &strided);
  MPI_Type_commit(&strided);
  kinds[DOUBLE] = (kind){MPI_DOUBLE, MPI_DOUBLE, 1, 1};
  kinds[STRIDED] = (kind){MPI_DOUBLE, strided, 1, 3};
  kinds[COMPLEX] = (kind){MPI_C_DOUBLE_COMPLEX, MPI_C_DOUBLE_COMPLEX, 2, 1};
  kinds[INT] = (kind){MPI_INT, MPI_INT, 0, 1};
  int calls = 0;
  for (int shape = 0; shape < SHAPES; shape++) {
    graph_of(shape);
    MPI_Comm in_order = neighborhood("source"), any = neighborhood("any");
    for (int plan = 0; plan < 2; plan++)
      for (int l = 0; l < several; l++) {
        int length = lengths[l], late = calls++ % 5 == 4;
        if (late) MPI_Barrier(MPI_COMM_WORLD);
        if (late && me == calls / 5 % n) usleep(3000);
        reduce(shape, length, calls, plan, in_order);
        reduce_in_any_order(shape, 2 * length, calls, any);
        for (int k = 0; k < KINDS; k++) {
          accumulate(shape, k, length, calls, plan, 1, in_order);
          accumulate(shape, k, length, calls, plan, 0, any);
        }
      }
    MPI_Comm_free(&in_order), MPI_Comm_free(&any);
    if (chunks_alone && n > 1 && shape < 2) at_once(shape, lengths[1]);
  }
  MPI_Type_free(&strided);
  return test_finish();
}
