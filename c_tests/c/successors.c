/* What the library has made for a communicator serves the next one of the same processes: setting a
   neighborhood there makes no communicator and sends no message, nothing piles up, and no message
   of the one before is taken for one of the next. */
#define _DEFAULT_SOURCE
#include "resources.h"
#include "memory.h"
#include "test.h"

#include <pthread.h>

/* calls of the library, which finds these in place of the MPI's */
static int duplicates, reductions, others;

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *made, MPI_Request *request) {
  duplicates++;
  return PMPI_Comm_idup(comm, made, request);
}
int MPI_Iallreduce(const void *from, void *into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request) {
  reductions++;
  return PMPI_Iallreduce(from, into, count, type, op, comm, request);
}
int MPI_Iallgather(const void *from, int n, MPI_Datatype type, void *into, int m, MPI_Datatype kind, MPI_Comm comm, MPI_Request *request) {
  others++;
  return PMPI_Iallgather(from, n, type, into, m, kind, comm, request);
}
int MPI_Isend(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request) {
  others++;
  return PMPI_Isend(from, count, type, to, tag, comm, request);
}

static int shares;

/* MPICH 4.0.2 keeps a message that nobody has received when its communicator is freed, and gives it
   to the next one with the same context */
#ifdef OPEN_MPI
static const int drops_messages = 1;
#else
static const int drops_messages = 0;
#endif

/* the ranks next to the caller's in `comm`, `step` places away */
static void neighbors(MPI_Comm comm, int step, int *source, int *target) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  *target = (rank + step) % size, *source = (rank + size - step % size) % size;
}

static void set_ring(MPI_Comm comm, int step) {
  int source, target;
  neighbors(comm, step, &source, &target);
  OK(MPIX_Neighborhood_set(ALL_OPERATIONS, 1, &source, MPI_UNWEIGHTED, 1, &target, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
}

/* each process passes on its rank in `comm` */
static void call_ring(int line, MPI_Comm comm, int step, int round) {
  int rank, source, target, send, have = -1;
  MPI_Comm_rank(comm, &rank);
  neighbors(comm, step, &source, &target);
  send = 1000 * round + rank;
  OK(MPIX_Neighbor_alltoall(&send, 1, MPI_INT, &have, 1, MPI_INT, comm));
  CHECK(have == 1000 * round + source, "line %d, round %d: %d, not %d", line, round, have, 1000 * round + source);
}

static MPI_Comm quiet(MPI_Comm comm) {
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return comm;
}

/* another communicator of all processes */
static MPI_Comm next(int kind) {
  MPI_Comm comm;
  int dims[1] = {test_size}, periods[1] = {1};
  switch (kind) {
    case 0: MPI_Comm_dup(MPI_COMM_WORLD, &comm); break;
    case 1: MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &comm); break;
    case 2: MPI_Comm_split(MPI_COMM_WORLD, 0, test_rank, &comm); break;
    /* in the opposite order: a process in the middle has the same rank */
    case 3: MPI_Comm_split(MPI_COMM_WORLD, 0, -test_rank, &comm); break;
    /* some of them, which may have the same ranks */
    default: MPI_Comm_split(MPI_COMM_WORLD, test_rank / 2, test_rank, &comm);
  }
  return quiet(comm);
}

/* kinds of communicators in turn, and edges; then many that are alike */
static void kinds(void) {
  for (int round = 0; round < 60; round++) {
    MPI_Comm comm = next(round % 5);
    set_ring(comm, 1 + round % 3);
    for (int k = 0; k < round % 4; k++) call_ring(__LINE__, comm, 1 + round % 3, round);
    MPI_Comm_free(&comm);
  }
}

/* two at a time, freed in either order */
static void pairs(void) {
  for (int round = 0; round < 20; round++) {
    MPI_Comm comm[2];
    for (int k = 0; k < 2; k++) comm[k] = next(round % 3), set_ring(comm[k], 1 + k);
    for (int k = 0; k < 4; k++) call_ring(__LINE__, comm[(k + round) % 2], 1 + (k + round) % 2, round);
    for (int k = 0; k < 2; k++) MPI_Comm_free(&comm[(k + round) % 2]);
  }
}

static void cycles(int count) {
  int files = 0, mappings = 0, before[3] = {0};
  long kilobytes = 0;
  for (int round = 0; round < count; round++) {
    if (round == 20) before[0] = duplicates, before[1] = reductions, before[2] = others;
    MPI_Comm comm = next(0);
    set_ring(comm, 1 + round % 2);
    if (round == 20 && shares) {
      CHECK(duplicates == before[0], "%d duplicates", duplicates - before[0]);
      CHECK(reductions <= before[1] + 2, "%d reductions", reductions - before[1]);
      CHECK(others == before[2], "%d messages and other collectives", others - before[2]);
    }
    call_ring(__LINE__, comm, 1 + round % 2, round);
    MPI_Comm_free(&comm);
    if (round == count / 2) files = test_files(), mappings = all_mappings(), kilobytes = resident();
  }
  CHECK(duplicates == before[0], "%d duplicates", duplicates - before[0]);
  CHECK(test_files() <= files, "%d open files, and %d before", test_files(), files);
  /* the MPI and the C library map memory of their own now and then */
  CHECK(all_mappings() <= mappings + 4, "%d mappings, and %d before", all_mappings(), mappings);
  CHECK(resident() <= kilobytes + 2048, "%ld KiB, and %ld before", resident(), kilobytes);
}

/* the steps of rings of which no edge leads back to its process */
static int step_of(int round) { return test_size > 1 ? 1 + round % (test_size - 1) : 1; }

/* sets a ring, and says how many reductions of the MPI that took */
static int reductions_of(MPI_Comm comm, int round) {
  int before = reductions, sent = others, step = step_of(round);
  set_ring(comm, step);
  int made = reductions - before;
  CHECK(!shares || others == sent, "round %d: %d messages and other collectives", round, others - sent);
  call_ring(__LINE__, comm, step, round);
  return made;
}

/* the processes of a node agree in memory that they share, once a communicator has set more than
   one neighborhood; also when one of them comes late because another one has yet to send it a
   message */
static void again(void) {
  enum { BYTES = 8 << 20 };
  char *bytes = malloc(BYTES);
  int *lists = malloc(sizeof(int)), expected = shares && test_size > 1 && test_size <= 16 ? 0 : 2;
  MPI_Comm comm = next(0);
  for (int round = 0; round < 3; round++) set_ring(comm, step_of(round));
  CHECK(reductions_of(comm, 3) == expected, "not %d reductions", expected);
  for (int round = 0; round < 3; round++) {
    MPI_Request request = MPI_REQUEST_NULL;
    int last = test_size - 1;
    memset(bytes, round, BYTES);
    if (test_rank == 0 && last) MPI_Isend(bytes, BYTES, MPI_BYTE, last, 0, MPI_COMM_WORLD, &request);
    if (test_rank == last && last) MPI_Recv(bytes, BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(reductions_of(comm, round) == expected, "round %d: not %d reductions", round, expected);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  /* an argument of one process is in error: all of them hear of it, and go on */
  for (int round = 0; round < 3; round++) {
    lists[0] = test_rank == test_size - 1 ? test_size : test_rank;
    int code = MPIX_Neighborhood_set(ALL_OPERATIONS, 1, lists, MPI_UNWEIGHTED, 1, lists, MPI_UNWEIGHTED, MPI_INFO_NULL, comm);
    CHECK(code != MPI_SUCCESS, "a rank of %d", lists[0]);
    CHECK(reductions_of(comm, round) == expected, "after an error: not %d reductions", expected);
  }
  MPI_Comm_free(&comm);
  /* the next communicator goes on with what this one had */
  comm = next(0);
  for (int round = 0; round < 3; round++) set_ring(comm, step_of(round));
  CHECK(reductions_of(comm, 3) == expected, "not %d reductions", expected);
  MPI_Comm_free(&comm);
  free(lists);
  free(bytes);
}

/* a request that is under way when its communicator is freed: one process has sent, and the other
   does not receive. Only through shared memory: Open MPI 4.1.4 may give the message to the next
   communicator with the same number, or fail there */
static void abandoned(void) {
  for (int round = 1; round < 5; round++) {
    int send = -round, have = -1;
    MPIX_Request request;
    MPI_Comm comm = next(0);
    set_ring(comm, 1);
    OK(MPIX_Ineighbor_alltoall(&send, 1, MPI_INT, &have, 1, MPI_INT, comm, &request));
    MPI_Comm_free(&comm);
    CHECK(MPIX_Request_wait(&request) != MPI_SUCCESS, "the communicator is gone");
    comm = next(0);
    set_ring(comm, 1);
    for (int k = 0; k < 3; k++) call_ring(__LINE__, comm, 1, round);
    MPI_Comm_free(&comm);
  }
}

/* a call that fails on one process, to which another one has sent */
static void failed(void) {
  int degree[2] = {test_rank == 0, test_rank == 1}, peer[1] = {1 - test_rank};
  for (int round = 1; round < 5; round++) {
    for (int fails = 1; fails >= 0; fails--) {
      MPI_Comm comm = next(0);
      OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_GATHER, degree[0], peer, MPI_UNWEIGHTED, degree[1], peer, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
      int send = 2 * round + fails, have = -1, code = MPIX_Neighbor_gather(&send, 1, MPI_INT, &have, fails && test_rank == 0 ? -1 : 1, MPI_INT, comm);
      CHECK((code == MPI_SUCCESS) == !(fails && test_rank == 0), "code %d", code);
      if (test_rank == 0 && !fails) CHECK(have == send, "%d, not %d", have, send);
      /* the message is there before the communicator goes */
      if (test_rank == 1) MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
      if (test_rank == 0) MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Comm_free(&comm);
    }
  }
}

/* The processes propose different things once, as a plan of one of them still uses what the others
   propose first: after that they agree on what comes next, which none has lost. */
static void different(void) {
  int send = test_rank, have = -1;
  MPIX_Request request;
  MPI_Comm comm[2];
  /* the second time in the order in which they are proposed */
  for (int round = 0; round < 2; round++) {
    for (int k = 0; k < 2; k++) comm[k] = next(0), set_ring(comm[k], 1);
    if (round == 0) MPI_Comm_free(&comm[0]), MPI_Comm_free(&comm[1]);
  }
  OK(MPIX_Neighbor_alltoall_plan(&send, 1, MPI_INT, &have, 1, MPI_INT, comm[0], MPI_INFO_NULL, &request));
  if (test_rank) OK(MPIX_Request_free(&request));
  for (int k = 0; k < 2; k++) MPI_Comm_free(&comm[k]);
  int before = duplicates;
  comm[0] = next(0), set_ring(comm[0], 1);
  CHECK(duplicates == before + 1, "%d duplicates where proposals differ", duplicates - before);
  comm[1] = next(0), set_ring(comm[1], 1);
  CHECK(duplicates == before + 1, "%d duplicates after that", duplicates - before - 1);
  for (int k = 0; k < 2; k++) call_ring(__LINE__, comm[k], 1, 1), MPI_Comm_free(&comm[k]);
  if (!test_rank) OK(MPIX_Request_free(&request));
}

/* each thread makes communicators of its own, so that processes free them in different orders */
static void *thread(void *parent) {
  for (int round = 0; round < 40; round++) {
    MPI_Comm comm;
    MPI_Comm_dup(*(MPI_Comm *)parent, &comm);
    set_ring(quiet(comm), 1);
    call_ring(__LINE__, comm, 1, round);
    MPI_Comm_free(&comm);
  }
  return NULL;
}

static void threads(void) {
  MPI_Comm parents[2];
  pthread_t running[2];
  for (int t = 0; t < 2; t++) MPI_Comm_dup(MPI_COMM_WORLD, &parents[t]);
  for (int t = 0; t < 2; t++) pthread_create(&running[t], NULL, thread, &parents[t]);
  for (int t = 0; t < 2; t++) pthread_join(running[t], NULL);
  for (int t = 0; t < 2; t++) MPI_Comm_free(&parents[t]);
}

int main(int argc, char **argv) {
  int provided;
  const char *memory = getenv("MPIX_SHARED_MEMORY");
  shares = !memory || atoi(memory) > 0;
  MPI_Init_thread(&argc, &argv, getenv("TEST_THREADS") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  test_init(&argc, &argv);
  kinds();
  pairs();
  again();
  cycles(argc > 1 ? atoi(argv[1]) : test_size <= 2 ? 10000 : 200);
  if (test_size > 1 && shares) abandoned();
  if (test_size > 1 && shares) different();
  if (test_size > 1 && (shares || drops_messages)) failed();
  if (getenv("TEST_THREADS") && provided == MPI_THREAD_MULTIPLE) threads();
  cycles(100);
  return test_finish();
}
