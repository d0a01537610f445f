/* Long messages from memory that the kernel does not copy for other processes: secret files, where
   the system has them, else ordinary memory. Calls that have been started may be completed in any
   order, and others may come in between. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test.h"

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

enum { LONG = 4 << 20, PAGE = 4096 };

static int me, n, left, right;

/* makes bytes of memory secret */
static void hide(char *all, size_t begin, size_t end) {
  int file = (int)syscall(SYS_memfd_secret, 0);
  if (file >= 0 && ftruncate(file, (off_t)(end - begin)) == 0)
    CHECK(mmap(all + begin, end - begin, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED, "no secret memory");
  if (file >= 0) close(file);
}

static char *ordinary(void) { return mmap(NULL, LONG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }

/* memory of LONG bytes, of which those from `begin` to `end` are secret */
static char *memory(size_t begin, size_t end) {
  char *all = ordinary();
  hide(all, begin, end);
  return all;
}

static void expect(int line, const char *have, int salt) {
  int right_ones = 0;
  for (int i = 0; i < LONG; i++) right_ones += have[i] == (char)(left + salt);
  CHECK(right_ones == LONG, "line %d: %d bytes are right", line, right_ones);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  me = test_rank, n = test_size, left = (me + n - 1) % n, right = (me + 1) % n;
  MPI_Comm comm = test_duplicate();
  OK(MPIX_Neighborhood_set(ALL_OPERATIONS, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
  char *a = memory(0, LONG), *b = memory(0, LONG), *middle = memory(LONG / 2, LONG / 2 + PAGE), one = (char)me, other = -1;
  char *have_a = malloc(LONG), *have_b = malloc(LONG);
  memset(a, me + 1, LONG), memset(b, me + 11, LONG), memset(middle, me + 21, LONG);
  for (int turn = 0; turn < 3; turn++) {
    MPIX_Request of_a, of_b;
    memset(have_a, 0, LONG), memset(have_b, 0, LONG);
    OK(MPIX_Ineighbor_alltoall(a, LONG, MPI_CHAR, have_a, LONG, MPI_CHAR, comm, &of_a));
    OK(MPIX_Ineighbor_alltoall(b, LONG, MPI_CHAR, have_b, LONG, MPI_CHAR, comm, &of_b));
    /* in another order on each side */
    OK(MPIX_Request_wait(me % 2 ? &of_b : &of_a));
    OK(MPIX_Request_wait(me % 2 ? &of_a : &of_b));
    expect(__LINE__, have_a, 1), expect(__LINE__, have_b, 11);

    /* a blocking call while one has been started, before its end or after it */
    memset(have_a, 0, LONG);
    OK(MPIX_Ineighbor_alltoall(a, LONG, MPI_CHAR, have_a, LONG, MPI_CHAR, comm, &of_a));
    if (me % 2) OK(MPIX_Request_wait(&of_a));
    OK(MPIX_Neighbor_gather(&one, 1, MPI_CHAR, &other, 1, MPI_CHAR, comm));
    if (me % 2 == 0) OK(MPIX_Request_wait(&of_a));
    expect(__LINE__, have_a, 1);
    CHECK(other == left, "%d", other);

    /* an error that only the receiver finds */
    memset(have_a, 0, LONG);
    OK(MPIX_Ineighbor_alltoall(middle, LONG, MPI_CHAR, have_a, LONG, MPI_CHAR, comm, &of_a));
    OK(MPIX_Request_wait(&of_a));
    expect(__LINE__, have_a, 21);
    memset(have_b, 0, LONG);
    OK(MPIX_Neighbor_alltoall(turn % 2 ? a : middle, LONG, MPI_CHAR, have_b, LONG, MPI_CHAR, comm));
    expect(__LINE__, have_b, turn % 2 ? 1 : 21);
  }

  /* memory that the kernel copies in the first calls, and no longer in the others */
  char *later[2] = {ordinary(), ordinary()}, *have[2] = {have_a, have_b};
  MPIX_Request plan, started[2];
  OK(MPIX_Neighbor_alltoall_plan(later[0], LONG, MPI_CHAR, have_a, LONG, MPI_CHAR, comm, MPI_INFO_NULL, &plan));
  for (int turn = 0; turn < 4; turn++) {
    for (int k = 0; k < 2; k++) {
      if (turn == 2) hide(later[k], 0, LONG);
      memset(later[k], me + 31 + turn + 10 * k, LONG), memset(have[k], 0, LONG);
    }
    OK(MPIX_Request_start(&plan));
    OK(MPIX_Request_wait(&plan));
    expect(__LINE__, have_a, 31 + turn);
    memset(have_a, 0, LONG);
    for (int k = 0; k < 2; k++) OK(MPIX_Ineighbor_alltoall(later[k], LONG, MPI_CHAR, have[k], LONG, MPI_CHAR, comm, &started[k]));
    for (int k = 0; k < 2; k++) OK(MPIX_Request_wait(&started[k ^ (me % 2)]));
    for (int k = 0; k < 2; k++) expect(__LINE__, have[k], 31 + turn + 10 * k);
    memset(have_b, 0, LONG);
    OK(MPIX_Neighbor_alltoall(later[0], LONG, MPI_CHAR, have_b, LONG, MPI_CHAR, comm));
    expect(__LINE__, have_b, 31 + turn);
  }
  OK(MPIX_Request_free(&plan));
  MPI_Comm_free(&comm);
  return test_finish();
}
