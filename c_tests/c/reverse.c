/* MPIX_Neighborhood_reverse: what a halo sends out comes back to its owner. Each block goes along
   its edge and back along the reversed edge, so that every process must find its own blocks again,
   whatever the graph and the schedule; lists and weights are the old ones, exchanged. */
#include "test.h"

enum { MAX = 512, COUNT = 3 };

typedef struct {
  int degree, ranks[MAX], weights[MAX];
} list;

static void lists(int operation, MPI_Comm comm, list *sources, list *targets, int *weighted) {
  OK(MPIX_Neighborhood_get_count(operation, comm, &sources->degree, &targets->degree, weighted));
  OK(MPIX_Neighborhood_get(operation, comm, MAX, sources->ranks, sources->weights, MAX, targets->ranks, targets->weights));
}

static void same(const char *name, const list *have, const list *want) {
  CHECK(have->degree == want->degree, "%s: degree %d, not %d", name, have->degree, want->degree);
  for (int i = 0; i < want->degree; i++)
    CHECK(have->ranks[i] == want->ranks[i] && have->weights[i] == want->weights[i], "%s: entry %d: process %d, weight %d", name, i, have->ranks[i], have->weights[i]);
}

/* with a neighborhood set for MPIX_NEIGHBOR_ALLTOALL, and none for the others */
static void out_and_back(MPI_Comm comm, const char *name) {
  list sources, targets, into, out;
  int weighted, still, me;
  static int sent[MAX * COUNT], there[MAX * COUNT], back[MAX * COUNT], counts[MAX], displs[MAX];
  MPI_Comm_rank(comm, &me);
  lists(MPIX_NEIGHBOR_ALLTOALL, comm, &sources, &targets, &weighted);
  for (int i = 0; i < MAX; i++) counts[i] = COUNT, displs[i] = i * COUNT;
  for (int i = 0; i < targets.degree * COUNT; i++) sent[i] = test_value(me, i / COUNT, i % COUNT), back[i] = -1;
  for (int i = 0; i < sources.degree * COUNT; i++) there[i] = -1;
  OK(MPIX_Neighbor_alltoallv(sent, counts, displs, MPI_INT, there, counts, displs, MPI_INT, comm));

  /* other operations first: the one that is reversed stays */
  OK(MPIX_Neighborhood_reverse(MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_REDUCE, MPI_INFO_NULL, comm));
  lists(MPIX_NEIGHBOR_REDUCE, comm, &into, &out, &still);
  CHECK(still == weighted, "%s: weighted %d, not %d", name, still, weighted);
  same(name, &into, &targets);
  same(name, &out, &sources);
  lists(MPIX_NEIGHBOR_ALLTOALL, comm, &into, &out, &still);
  same(name, &into, &sources);
  same(name, &out, &targets);
  /* the sum over the targets' ranks: what each of them returns along each edge */
  long mine = me + 1, sum = 0, want = 0;
  for (int i = 0; i < targets.degree; i++) want += targets.ranks[i] == MPI_PROC_NULL ? 0 : targets.ranks[i] + 1;
  OK(MPIX_Neighbor_reduce(&mine, 1, MPI_LONG, &sum, 1, MPI_LONG, MPI_SUM, comm));
  CHECK(sum == want, "%s: sum %ld, not %ld", name, sum, want);

  /* in its own place */
  OK(MPIX_Neighborhood_reverse(MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_ALLTOALL | MPIX_NEIGHBOR_GATHER, MPI_INFO_NULL, comm));
  OK(MPIX_Neighbor_alltoallv(there, counts, displs, MPI_INT, back, counts, displs, MPI_INT, comm));
  for (int i = 0; i < targets.degree * COUNT; i++) {
    int expected = targets.ranks[i / COUNT] == MPI_PROC_NULL ? -1 : sent[i];
    CHECK(back[i] == expected, "%s: block %d has come back as %d, not %d", name, i / COUNT, back[i], expected);
  }
  /* twice is the first one again */
  OK(MPIX_Neighborhood_reverse(MPIX_NEIGHBOR_GATHER, MPIX_NEIGHBOR_ALLTOALL, MPI_INFO_NULL, comm));
  for (int i = 0; i < sources.degree * COUNT; i++) back[i] = -1;
  OK(MPIX_Neighbor_alltoallv(sent, counts, displs, MPI_INT, back, counts, displs, MPI_INT, comm));
  for (int i = 0; i < sources.degree * COUNT; i++) CHECK(back[i] == there[i], "%s: twice reversed: block %d", name, i / COUNT);
  OK(MPIX_Neighborhood_free(MPIX_NEIGHBOR_GATHER | MPIX_NEIGHBOR_ALLTOALL | MPIX_NEIGHBOR_REDUCE, comm));
}

static void graphs(MPI_Comm comm) {
  for (int seed = 0; seed < 4; seed++) {
    char name[40];
    int n, me, weights[MAX];
    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &me);
    graph g = graph_random(n, n * (1 + 3 * seed), 77 + seed);
    snprintf(name, sizeof name, "graph %d", seed);
    for (int i = 0; i < MAX; i++) weights[i] = 1 + i * (me + 1);
    /* weights on one side alone are weights */
    OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, g.indegree[me], g.sources[me], MPI_UNWEIGHTED, g.outdegree[me], g.targets[me], seed % 2 ? weights : MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
    out_and_back(comm, name);
    graph_free(&g);
  }
}

/* periodic dimensions of size 1 and 2: only directions tell the edges between two processes
   apart */
static void grids(void) {
  static const int shapes[][3] = {{0}, {0, 1}, {2, 0}, {1, 1, 0}, {2, 2, 0}};
  static const int lengths[] = {1, 2, 2, 3, 3};
  for (int s = 0; s < 5; s++) {
    for (int open = 0; open < 2; open++) {
      int dims[3], periods[3], fixed = 1;
      char name[40];
      for (int d = 0; d < lengths[s]; d++) {
        dims[d] = shapes[s][d], periods[d] = !open || d % 2;
        if (dims[d]) fixed *= dims[d];
      }
      if (test_size % fixed) continue;
      MPI_Comm cart;
      MPI_Dims_create(test_size, lengths[s], dims);
      MPI_Cart_create(MPI_COMM_WORLD, lengths[s], dims, periods, 0, &cart);
      snprintf(name, sizeof name, "grid %d, open %d", s, open);
      OK(MPIX_Neighborhood_set_topology(MPIX_NEIGHBOR_ALLTOALL, MPI_INFO_NULL, cart));
      out_and_back(cart, name);
      /* one direction only: a shift along the last dimension */
      int down, up;
      MPI_Cart_shift(cart, lengths[s] - 1, 1, &down, &up);
      OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, 1, &down, MPI_UNWEIGHTED, 1, &up, MPI_UNWEIGHTED, MPI_INFO_NULL, cart));
      out_and_back(cart, name);
      MPI_Comm_free(&cart);
    }
  }
}

static void errors(MPI_Comm comm) {
  FAILS(MPIX_Neighborhood_reverse(MPIX_NEIGHBOR_GATHER, MPIX_NEIGHBOR_ALLTOALL, MPI_INFO_NULL, comm), MPI_ERR_TOPOLOGY, "MPIX_Neighborhood_reverse: the communicator has no neighborhood for MPIX_NEIGHBOR_GATHER");
  int next = (test_rank + 1) % test_size, previous = (test_rank + test_size - 1) % test_size, got = -1;
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, 1, &previous, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
  FAILS(MPIX_Neighborhood_reverse(3, MPIX_NEIGHBOR_REDUCE, MPI_INFO_NULL, comm), MPI_ERR_ARG, "MPIX_Neighborhood_reverse: from = 3");
  FAILS(MPIX_Neighborhood_reverse(MPIX_NEIGHBOR_ALLTOALL, 16, MPI_INFO_NULL, comm), MPI_ERR_ARG, "MPIX_Neighborhood_reverse: to = 16");
  /* an argument in error on one process is an error on all */
  int from = test_rank == test_size - 1 ? 0 : MPIX_NEIGHBOR_ALLTOALL;
  FAILS(MPIX_Neighborhood_reverse(from, MPIX_NEIGHBOR_ALLTOALL, MPI_INFO_NULL, comm), MPI_ERR_ARG, "from = 0");
  if (test_size > 1) {
    int mismatch;
    OK(MPIX_Neighbor_error_class(MPIX_ERR_MISMATCH, &mismatch));
    FAILS(MPIX_Neighborhood_reverse(MPIX_NEIGHBOR_ALLTOALL, test_rank == 0 ? MPIX_NEIGHBOR_GATHER : MPIX_NEIGHBOR_REDUCE, MPI_INFO_NULL, comm), mismatch, "MPIX_Neighborhood_reverse: to is not the same on all processes");
  }
  /* what was there still is */
  OK(MPIX_Neighbor_alltoall(&test_rank, 1, MPI_INT, &got, 1, MPI_INT, comm));
  CHECK(got == previous, "%d, not %d", got, previous);
  OK(MPIX_Neighborhood_free(MPIX_NEIGHBOR_ALLTOALL, comm));
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  MPI_Comm comm = test_duplicate();
  const char *schedule = getenv("MPIX_SCHEDULE");
  /* that one serves no graph */
  if (!schedule || strcmp(schedule, "dimension_order") != 0) {
    graphs(comm);
    errors(comm);
  }
  grids();
  MPI_Comm_free(&comm);
  return test_finish();
}
