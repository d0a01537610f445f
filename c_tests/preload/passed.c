/* Calls that are not taken over, for reasons that the report names, and ends other than
   MPI_Finalize. The argument says how the program ends. Two processes; one for a single call. */
#define _GNU_SOURCE
#include "preload.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile sig_atomic_t test_caught;

static void test_catch(int signal) { test_caught = signal; }

static int exchange(MPI_Comm comm, int count) {
  int out[8] = {0}, in[8];
  return MPI_Neighbor_alltoall(out, count, MPI_INT, in, count, MPI_INT, comm);
}

/* a signal handler gets no more stack than the threads of some programs give it */
static void small_stack(void) {
  size_t bytes = 8192;
  char *at = mmap(NULL, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(at != MAP_FAILED && mprotect(at + bytes, bytes, PROT_READ | PROT_WRITE) == 0, "no memory");
  stack_t stack = {.ss_sp = at + bytes, .ss_size = bytes};
  CHECK(sigaltstack(&stack, NULL) == 0, "no stack of %zu bytes", bytes);
}

int main(int argc, char **argv) {
  const char *end = argc > 1 ? argv[1] : "finalize";
  int own = strcmp(end, "own") == 0;
  if (own) signal(SIGTERM, test_catch);
  test_init(&argc, &argv);
  topology line = cartesian("line", 1, -test_size, 1, 1);
  MPI_Comm_set_errhandler(line.comm, MPI_ERRORS_RETURN);
  if (strcmp(end, "one") == 0) {
    OK(exchange(line.comm, 4));
    topology_free(&line);
    return test_finish();
  }
  for (int i = 0; i < 3; i++) OK(exchange(line.comm, 4));
  /* the arguments are in error */
  CHECK(exchange(line.comm, -1) != MPI_SUCCESS, "a negative count is taken");
  /* a duplicate that the library does not see */
  MPI_Comm later;
  MPI_Request request;
  OK(MPI_Comm_idup(line.comm, &later, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  for (int i = 0; i < 2; i++) OK(exchange(later, 4));
  OK(MPI_Comm_free(&later));
  /* no topology */
  MPI_Comm plain, half, inter;
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &plain));
  MPI_Comm_set_errhandler(plain, MPI_ERRORS_RETURN);
  /* Open MPI reports this one there */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  CHECK(exchange(plain, 4) != MPI_SUCCESS, "a communicator without a topology is taken");
  /* between two groups, which the library does not look at */
  OK(MPI_Comm_split(plain, test_rank % 2, 0, &half));
  OK(MPI_Intercomm_create(half, 0, plain, 1 - test_rank % 2, 7, &inter));
  int counts[1] = {1}, displs[1] = {0}, out = test_rank, in = -1;
  OK(MPI_Alltoallv(&out, counts, displs, MPI_INT, &in, counts, displs, MPI_INT, inter));
  CHECK(in == 1 - test_rank, "%d came, not %d", in, 1 - test_rank);
  OK(MPI_Comm_free(&inter));
  OK(MPI_Comm_free(&half));
  OK(MPI_Comm_free(&plain));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  if (own) {
    raise(SIGTERM);
    CHECK(test_caught == SIGTERM, "the program's handler has not run");
  }
  if (test_rank == 0) {
    if (strcmp(end, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 3);
    if (strcmp(end, "segv") == 0) raise(SIGSEGV);
    if (strcmp(end, "fault") == 0) *(volatile int *)(sizeof(int) * (argc > 9)) = 1;
    if (strcmp(end, "term") == 0 || strcmp(end, "assert") == 0) small_stack();
    if (strcmp(end, "term") == 0) kill(getpid(), SIGTERM);
    if (strcmp(end, "assert") == 0) abort();
    if (strcmp(end, "exit") == 0) exit(4);
  }
  if (strcmp(end, "finalizing") == 0) {
    /* process 0 waits for the others there, one of which never comes */
    long process = getpid();
    OK(MPI_Bcast(&process, 1, MPI_LONG, 0, MPI_COMM_WORLD));
    if (test_rank == 0) {
      MPI_Finalize();
    } else {
      sleep(1);
      kill((pid_t)process, SIGTERM);
    }
  }
  if (test_rank > 0 && strcmp(end, "finalize") != 0 && !own) {
    /* until the launcher ends it */
    for (;;) sleep(1);
  }
  topology_free(&line);
  return test_finish();
}
