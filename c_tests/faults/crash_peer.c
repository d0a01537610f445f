/* For the script `crash`: process 1 ends without a word while the others wait for it. Environment:

     TEST_END       exit (without MPI_Finalize), kill (by a signal), finalize, all (all are killed,
                    by the script)
     TEST_OP        gather, reduce or alltoall
     TEST_BYTES     the length of a block
     TEST_DELAY     process 1 takes part in the call and ends that many microseconds after its start
     TEST_NO_MEMFD  there are no files without names */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "no_memfd.h"
#include "test.h"

enum { LONGEST = 24 << 20, MOST = 8 };

static enum { ALLTOALL, GATHER, REDUCE } op;
static int sources[MOST], targets[MOST], degree, end_by_signal;

static void end_now(int signal) {
  (void)signal;
  if (end_by_signal) raise(SIGKILL);
  _exit(0);
}

/* the byte of which the block from `from` to `to` consists in a call */
static unsigned char value(int from, int to, int call) { return (unsigned char)mix3(from, op == ALLTOALL ? to : 0, call); }

static int exchange(unsigned char *send, unsigned char *have, int bytes, int call) {
  for (int k = 0; k < (op == ALLTOALL ? degree : 1); k++) memset(send + (size_t)k * bytes, value(test_rank, targets[k], call), bytes);
  switch (op) {
    case GATHER: return MPIX_Neighbor_gather(send, bytes, MPI_BYTE, have, bytes, MPI_BYTE, MPI_COMM_WORLD);
    case REDUCE: return MPIX_Neighbor_reduce(send, bytes, MPI_BYTE, have, bytes, MPI_BYTE, MPI_BXOR, MPI_COMM_WORLD);
    default: return MPIX_Neighbor_alltoall(send, bytes, MPI_BYTE, have, bytes, MPI_BYTE, MPI_COMM_WORLD);
  }
}

/* counts bytes from living processes that differ from what they sent; what is combined is known
   only if all have sent theirs */
static long wrong(const unsigned char *have, int bytes, int call, int code) {
  long n = 0;
  if (op == REDUCE) {
    unsigned char expected = 0;
    for (int k = 0; k < degree; k++) expected ^= value(sources[k], test_rank, call);
    for (int i = 0; code == MPI_SUCCESS && i < bytes; i++) n += have[i] != expected;
    return n;
  }
  for (int k = 0; k < degree; k++) {
    unsigned char expected = value(sources[k], test_rank, call);
    for (int i = 0; sources[k] != 1 && i < bytes; i++) n += have[(size_t)k * bytes + i] != expected;
  }
  return n;
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  const char *end = getenv("TEST_END"), *bytes_text = getenv("TEST_BYTES"), *op_text = getenv("TEST_OP"), *delay_text = getenv("TEST_DELAY");
  int bytes = bytes_text ? atoi(bytes_text) : 8, delay = delay_text ? atoi(delay_text) : 0;
  degree = test_size - 1;
  if (end == NULL || test_size < 2 || test_size > MOST || bytes > LONGEST) return 2;
  op = op_text && !strcmp(op_text, "gather") ? GATHER : op_text && !strcmp(op_text, "reduce") ? REDUCE : ALLTOALL;
  for (int k = 0; k < degree; k++) targets[k] = sources[k] = (test_rank + 1 + k) % test_size;
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL | MPIX_NEIGHBOR_GATHER | MPIX_NEIGHBOR_REDUCE, degree, sources, MPI_UNWEIGHTED, degree, targets,
                           MPI_UNWEIGHTED, MPI_INFO_NULL, MPI_COMM_WORLD));
  unsigned char *send = calloc((size_t)degree, (size_t)bytes), *have = calloc((size_t)degree, (size_t)bytes);
  int all = !strcmp(end, "all"), before = bytes > 1 << 20 ? 3 : 20;
  for (int call = 0; call < before || all; call++) {
    OK(exchange(send, have, bytes, 0));
    if (all && call == 20 && test_rank == 0) printf("under way\n"), fflush(stdout);
  }
  if (wrong(have, bytes, 0, MPI_SUCCESS) > 0) printf("process %d: WRONG before one ends\n", test_rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (test_rank == 1) {
    end_by_signal = !strcmp(end, "kill");
    if (delay > 0) {
      struct itimerval timer = {{0, 0}, {0, delay}};
      signal(SIGALRM, end_now);
      setitimer(ITIMER_REAL, &timer, NULL);
      exchange(send, have, bytes, 1);
      for (;;) pause();
    }
    usleep(200000);
    if (strcmp(end, "finalize")) end_now(0);
    MPI_Finalize();
    return 0;
  }
  /* the neighbors of one that gives up go on without it, in this call and in later ones */
  int failed = 0;
  for (int call = 1; call <= (test_size > 2 ? 12 : 1); call++) {
    int length, now = call == 3 ? 8 : bytes;
    double begin = MPI_Wtime();
    int code = exchange(send, have, now, call);
    double seconds = MPI_Wtime() - begin;
    char text[MPI_MAX_ERROR_STRING] = "";
    if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
    /* one that ended in the middle may have done its part, and what is short may have gone to where
       no one takes it any more */
    int expected = call > 1 || delay == 0 ? code != MPI_SUCCESS : 1;
    long bad = wrong(have, now, call, code);
    if (call == 1) printf("process %d: %.1f s: %s\n", test_rank, seconds, code == MPI_SUCCESS && delay == 0 ? "no error" : text);
    if (!expected || bad > 0 || seconds > 2.0) {
      printf("process %d, call %d: WRONG: %.1f s, %ld bytes, %s\n", test_rank, call, seconds, bad, code == MPI_SUCCESS ? "no error" : text);
      failed = 1;
    }
    fflush(stdout);
  }
  free(send), free(have);
  /* all that live have said theirs */
  int word = 0;
  for (int r = 2; r < test_size; r++) {
    if (test_rank == 0) MPI_Recv(&word, 1, MPI_INT, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (test_rank == r) MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  if (test_rank > 0) pause();
  if (!failed) printf("the living went on\n"), fflush(stdout);
  /* mpirun still has output to pass on; MPI_Finalize may wait for the one that is gone, and the
     other one waits there */
  usleep(200000);
  MPI_Abort(MPI_COMM_WORLD, 3);
}
