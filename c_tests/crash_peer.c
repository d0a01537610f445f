/* For the script `crash`: process 1 ends without a word while the others wait for it. TEST_END: exit (without MPI_Finalize), kill (by a signal), finalize, all (all
   are killed, by the script). TEST_NO_MEMFD: there are no files without names. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test.h"

int memfd_create(const char *name, unsigned flags) {
  if (getenv("TEST_NO_MEMFD")) {
    errno = ENOSYS;
    return -1;
  }
  return (int)syscall(SYS_memfd_create, name, flags);
}

enum { LONGEST = 3 << 20 };

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  const char *end = getenv("TEST_END"), *bytes_text = getenv("TEST_BYTES");
  int bytes = bytes_text ? atoi(bytes_text) : 8, sources[8], targets[8], degree = test_size - 1;
  if (end == NULL || test_size < 2 || test_size > 8 || bytes > LONGEST) return 2;
  for (int k = 0; k < degree; k++) targets[k] = sources[k] = (test_rank + 1 + k) % test_size;
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, degree, sources, MPI_UNWEIGHTED, degree, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, MPI_COMM_WORLD));
  char *send = calloc((size_t)degree, (size_t)bytes), *have = calloc((size_t)degree, (size_t)bytes);
  int all = !strcmp(end, "all"), code = MPI_SUCCESS;
  for (int call = 0; call < 20 || all; call++) {
    OK(MPIX_Neighbor_alltoall(send, bytes, MPI_BYTE, have, bytes, MPI_BYTE, MPI_COMM_WORLD));
    if (all && call == 20 && test_rank == 0) printf("under way\n"), fflush(stdout);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (test_rank == 1) {
    usleep(200000);
    if (!strcmp(end, "exit")) _exit(0);
    if (!strcmp(end, "kill")) raise(SIGKILL);
    MPI_Finalize();
    return 0;
  }
  double begin = MPI_Wtime();
  /* the neighbors of one that gives up go on without it */
  code = MPIX_Neighbor_alltoall(send, bytes, MPI_BYTE, have, bytes, MPI_BYTE, MPI_COMM_WORLD);
  char text[MPI_MAX_ERROR_STRING] = "";
  int length;
  if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
  printf("process %d: %.1f s: %s\n", test_rank, MPI_Wtime() - begin, code == MPI_SUCCESS ? "no error" : text);
  fflush(stdout);
  free(send), free(have);
  /* MPI_Finalize may wait for the one that is gone, and the other one waits there */
  MPI_Abort(MPI_COMM_WORLD, 3);
}
