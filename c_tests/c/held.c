/* Memory of messages in chunks. A request that its receiver does not complete holds the memory that
   its block lies in, and nothing else: the messages of long blocking calls still come in chunks,
   and are not left to MPI, as is what has found no room for 2 ms. The chunks of a gather go
   straight to where they belong: the process grows by no copy of them. */
#include "memory.h"
#include "test.h"

enum { BLOCK = 100 << 10, LONG = 2 << 20, VERY_LONG = 64 << 20, CALLS = 7 };

static int by_mpi, least;

int MPI_Isend(const void *at, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request) {
  by_mpi += count >= least;
  return PMPI_Isend(at, count, type, to, tag, comm, request);
}

/* a neighborhood of the other process alone, whose long messages come in chunks */
static MPI_Comm comm_with(int operation, int other) {
  MPI_Comm comm = test_duplicate();
  MPI_Info info = test_hint("mpix_single_copy", "false");
  OK(MPIX_Neighborhood_set(operation, 1, &other, MPI_UNWEIGHTED, 1, &other, MPI_UNWEIGHTED, info, comm));
  MPI_Info_free(&info);
  return comm;
}

/* until one message has gone in chunks: a process that loses its core for a while leaves its own to
   MPI, too. Fewer calls than there are cells: the next one would find that of the request. */
static void chunks(char *send, char *have) {
  int other = 1 - test_rank, right = 0, here = 0, all = 0;
  char *early = calloc(2, BLOCK), *late = early + BLOCK;
  MPI_Comm comm = comm_with(MPIX_NEIGHBOR_ALLTOALL, other);
  MPIX_Request request;
  memset(early, 50 + test_rank, BLOCK);
  OK(MPIX_Ineighbor_alltoall(early, BLOCK, MPI_CHAR, late, BLOCK, MPI_CHAR, comm, &request));
  least = LONG;
  for (int call = 0; call < CALLS && !all; call++) {
    int before = by_mpi;
    memset(send, 10 * test_rank + call, LONG);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPIX_Neighbor_alltoall(send, LONG, MPI_CHAR, have, LONG, MPI_CHAR, comm));
    CHECK(have[0] == 10 * other + call && have[LONG - 1] == 10 * other + call, "%d, %d", have[0], have[LONG - 1]);
    here |= by_mpi == before;
    MPI_Allreduce(&here, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  }
  CHECK(here, "all of %d messages went by MPI", CALLS);
  OK(MPIX_Request_wait(&request));
  for (int i = 0; i < BLOCK; i++) right += late[i] == 50 + other;
  CHECK(right == BLOCK, "%d of %d bytes of the request are right", right, BLOCK);
  free(early);
  MPI_Comm_free(&comm);
}

static void grown(void) {
  int other = 1 - test_rank;
  char *send = malloc(VERY_LONG), *have = malloc(VERY_LONG);
  memset(send, test_rank + 1, VERY_LONG), memset(have, 77, VERY_LONG);
  MPI_Comm comm = comm_with(MPIX_NEIGHBOR_GATHER, other);
  long before = resident(), after;
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPIX_Neighbor_gather(send, VERY_LONG, MPI_CHAR, have, VERY_LONG, MPI_CHAR, comm));
  after = resident();
  CHECK(have[0] == other + 1 && have[VERY_LONG - 1] == other + 1, "%d, %d", have[0], have[VERY_LONG - 1]);
  CHECK(after < before + VERY_LONG / 1024 / 2, "%ld KiB, and %ld before", after, before);
  MPI_Comm_free(&comm);
  free(send), free(have);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  char *send = calloc(1, LONG), *have = calloc(1, LONG);
  if (test_size == 2) chunks(send, have), grown();
  free(send), free(have);
  return test_finish();
}
