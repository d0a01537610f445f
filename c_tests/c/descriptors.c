/* Shared memory comes and goes with neighborhoods: after many of them, and after many of their
   communicators, there are no more open files and mappings of the library than before.
   Neighborhoods that follow one another use the same memory, and find nothing there of those
   before. TEST_NO_MEMFD: their memory has a name, and is all there from the beginning. */
#define _GNU_SOURCE
#include <malloc.h>
#include "memory.h"
#include "no_memfd.h"
#include "resources.h"
#include "test.h"

/* how often the library has asked whether a message has gone */
static long tests;
int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
  tests++;
  return PMPI_Test(request, flag, status);
}

/* mappings of the library's memory */
static int mappings(void) {
  char line[512];
  int count = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps)) count += strstr(line, "memfd:mpix-neighbor") || strstr(line, "/dev/shm/mpix-neighbor");
  if (maps) fclose(maps);
  return count;
}

static void cycle(int number) {
  int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size, mine = test_rank + number, have = -1;
  MPIX_Request plan;
  MPI_Comm comm = test_duplicate();
  /* replaced, freed, or gone with its communicator */
  for (int k = 0; k < 2; k++) OK(MPIX_Neighborhood_set(ALL_OPERATIONS, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
  if (number == 0) CHECK(test_size == 1 || mappings() > 0, "no shared memory");
  OK(MPIX_Neighbor_alltoall_plan(&mine, 1, MPI_INT, &have, 1, MPI_INT, comm, MPI_INFO_NULL, &plan));
  OK(MPIX_Request_start(&plan));
  OK(MPIX_Request_wait(&plan));
  CHECK(have == left + number, "%d, not %d", have, left + number);
  OK(MPIX_Request_free(&plan));
  if (number % 2) OK(MPIX_Neighborhood_free(ALL_OPERATIONS, comm));
  MPI_Comm_free(&comm);
}

enum { LONG = 20000 };

/* a neighborhood of one communicator that stays, with other edges and operations each time; `plan`
   is of an earlier one, whose memory is then in use */
static void follow(int number, int *send, int *recv, MPIX_Request *plan, MPI_Comm comm) {
  int degree = 1 + number % 3, shift = 1 + number / 3 % 5, count = number % 7 == 0 ? LONG : number % 5;
  int operation = number % 2 ? MPIX_NEIGHBOR_ALLTOALL : MPIX_NEIGHBOR_GATHER, sources[3], targets[3];
  for (int k = 0; k < degree; k++) {
    targets[k] = (test_rank + shift * (k + 1)) % test_size;
    sources[k] = (test_rank + 15 * test_size - shift * (k + 1)) % test_size;
  }
  OK(MPIX_Neighborhood_set(operation, degree, sources, MPI_UNWEIGHTED, degree, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
  for (int round = 0; round < 2 + number % 20; round++) {
    int seed = number * 64 + round;
    for (int i = 0; i < degree * count; i++) send[i] = test_rank * 1000003 + seed + i, recv[i] = -1;
    if (operation == MPIX_NEIGHBOR_GATHER) OK(MPIX_Neighbor_gather(send, count, MPI_INT, recv, count, MPI_INT, comm));
    else OK(MPIX_Neighbor_alltoall(send, count, MPI_INT, recv, count, MPI_INT, comm));
    /* entry k of the targets is matched by entry k of the sources, also where edges are repeated */
    int wrong = 0;
    for (int k = 0; k < degree; k++)
      for (int i = 0; i < count; i++) wrong += recv[k * count + i] != sources[k] * 1000003 + seed + i + (operation == MPIX_NEIGHBOR_GATHER ? 0 : k * count);
    CHECK(wrong == 0, "neighborhood %d, call %d: %d ints are wrong", number, round, wrong);
  }
  if (number % 100 == 41) {
    OK(MPIX_Neighbor_alltoall_plan(send, 1, MPI_INT, recv, 1, MPI_INT, comm, MPI_INFO_NULL, plan));
  } else if (number % 100 == 60) {
    OK(MPIX_Request_free(plan));
  }
  /* replaced by one with the same lists, and then freed */
  if (number % 4 == 0) OK(MPIX_Neighborhood_set(operation, degree, sources, MPI_UNWEIGHTED, degree, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
  OK(MPIX_Neighborhood_free(operation, comm));
}

static void one_after_the_other(int count) {
  int *send = calloc(3 * LONG, sizeof *send), *recv = calloc(3 * LONG, sizeof *recv), before = 0, most = 0;
  MPIX_Request plan = NULL;
  MPI_Comm comm = test_duplicate();
  for (int number = 1; number <= count; number++) {
    follow(number, send, recv, &plan, comm);
    if (number == 100) before = test_files();
    if (mappings() > most) most = mappings();
  }
  MPI_Barrier(comm);
  CHECK(test_files() <= before, "%d open files, and %d before", test_files(), before);
  CHECK(most <= 4, "%d mappings", most);
  MPI_Comm_free(&comm);
  free(send), free(recv);
}

/* more requests at a time than there are cells: the last ones go by MPI, from memory of their own,
   and are through when the neighborhood goes; or, if some wait `late`, afterwards */
static void crowded(int count, int late) {
  enum { STARTS = 12 };
  int *send = calloc(LONG, sizeof *send), *recv = calloc(STARTS * LONG, sizeof *recv), most = 0;
  int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size;
  MPI_Comm comm = test_duplicate();
  for (int number = 0; number < count; number++) {
    MPIX_Request requests[STARTS];
    OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
    for (int i = 0; i < LONG; i++) send[i] = test_rank + number + i;
    for (int k = 0; k < STARTS; k++) OK(MPIX_Ineighbor_alltoall(send, LONG, MPI_INT, recv + k * LONG, LONG, MPI_INT, comm, &requests[k]));
    int first = !late || test_rank % 2 == 0, wrong = 0;
    if (first) OK(MPIX_Request_waitall(STARTS, requests));
    OK(MPIX_Neighborhood_free(MPIX_NEIGHBOR_ALLTOALL, comm));
    if (!first) OK(MPIX_Request_waitall(STARTS, requests));
    for (int k = 0; k < STARTS; k++)
      for (int i = 0; i < LONG; i++) wrong += recv[k * LONG + i] != left + number + i;
    CHECK(wrong == 0, "neighborhood %d: %d ints are wrong", number, wrong);
    if (mappings() > most) most = mappings();
  }
  /* that of the last two, of one whose last messages MPI is still completing, and the one through
     which set calls agree */
  CHECK(most <= 4, "%d mappings", most);
  MPI_Comm_free(&comm);
  free(send), free(recv);
}

/* many requests at a time: what one start costs does not grow with their number, and the memory of
   what has been sent is given back while the neighborhood lives */
static void many_started(void) {
  enum { STARTS = 200 };
  /* what is freed is given back at once */
  mallopt(M_MMAP_THRESHOLD, 1 << 16);
  int *send = calloc(LONG, sizeof *send), *recv = calloc((size_t)STARTS * LONG, sizeof *recv);
  int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size, wrong = 0;
  MPI_Comm comm = test_duplicate();
  MPIX_Request requests[STARTS];
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
  for (int i = 0; i < LONG; i++) send[i] = test_rank + i;
  memset(recv, 1, (size_t)STARTS * LONG * sizeof *recv);
  MPI_Barrier(comm);
  tests = 0;
  long before = resident();
  for (int k = 0; k < STARTS; k++) OK(MPIX_Ineighbor_alltoall(send, LONG, MPI_INT, recv + (size_t)k * LONG, LONG, MPI_INT, comm, &requests[k]));
  CHECK(tests < 20 * STARTS, "%ld tests in %d starts", tests, STARTS);
  OK(MPIX_Request_waitall(STARTS, requests));
  for (int k = 0; k < STARTS; k++)
    for (int i = 0; i < LONG; i++) wrong += recv[(size_t)k * LONG + i] != left + i;
  CHECK(wrong == 0, "%d ints are wrong", wrong);
  MPI_Barrier(comm);
  for (int k = 0; k < 20; k++) OK(MPIX_Neighbor_alltoall(send, 1, MPI_INT, recv, 1, MPI_INT, comm));
  CHECK(resident() < before + 8192, "%ld KiB, %ld before", resident(), before);
  MPI_Comm_free(&comm);
  free(send), free(recv);
}

/* memory stays when its neighborhood goes, but not much of it: that of messages of `count` ints */
static void leave(int count, int stays) {
  int *send = calloc(count, sizeof *send), *recv = calloc(count, sizeof *recv), target = (test_rank + 1) % test_size;
  int source = (test_rank + test_size - 1) % test_size;
  MPI_Comm comm;
  MPI_Info info;
  comm = test_duplicate();
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_single_copy", "false");
  for (int round = 0; round < 3; round++) {
    OK(MPIX_Neighbor_alltoall_set(1, &source, MPI_UNWEIGHTED, 1, &target, MPI_UNWEIGHTED, info, comm));
    for (int k = 0; k < 3; k++) OK(MPIX_Neighbor_alltoall(send, count, MPI_INT, recv, count, MPI_INT, comm));
    MPI_Barrier(comm);
    int during = mappings();
    CHECK(test_size == 1 || during > 0, "%d mappings", during);
    OK(MPIX_Neighborhood_free(MPIX_NEIGHBOR_ALLTOALL, comm));
    CHECK(test_size == 1 || mappings() == during - !stays, "%d ints: %d mappings, and %d before", count, mappings(), during);
  }
  MPI_Info_free(&info);
  MPI_Comm_free(&comm);
  free(send), free(recv);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  crowded(12, 0);
  crowded(12, 1);
  many_started();
  /* making memory that has a name takes long */
  int named = getenv("TEST_NO_MEMFD") != NULL, cycles = named ? 25 : 105;
  for (int k = 0; k < 5; k++) cycle(k);
  MPI_Barrier(MPI_COMM_WORLD);
  int before = test_files(), most = mappings();
  /* two of neighborhoods, and one through which set calls agree */
  CHECK(most <= 3, "%d mappings are left", most);
  for (int k = 5; k < cycles; k++) cycle(k);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(test_files() <= before, "%d open files, and %d before", test_files(), before);
  CHECK(mappings() <= most, "%d mappings are left, and %d before", mappings(), most);
  if (!named) one_after_the_other(600);
  leave(1000, !named);
  /* in chunks, which need little, and through a cell */
  leave(1 << 20, !named);
  leave(300000, 0);
  /* of those with a name, the one through which set calls agree */
  CHECK(mappings() <= (named ? 1 : most), "%d mappings are left, and %d before", mappings(), most);
  return test_finish();
}
