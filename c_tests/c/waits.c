/* Processes that wait for one another crosswise: in the library for a collective, and in MPI for a
   message of the program's own. All of it must end, as what has been started leaves nothing to do
   for the process that has started it, and whoever waits in the library lets MPI move other
   messages. */
#define _DEFAULT_SOURCE
#include <unistd.h>

#include "test.h"

enum { TAG = 5, MOST = 20, LONG = 1 << 20 };

static int me;
static MPI_Comm comm;
static char *send[MOST], *have[MOST], *message;

static unsigned char value(int process, int k, int i) { return (unsigned char)(17 * process + 5 * k + i + i / 251); }

static void fill(int k, int bytes) {
  for (int i = 0; i < bytes; i++) send[k][i] = (char)value(me, k, i);
  memset(have[k], 0, (size_t)bytes);
}

/* process 0 receives nothing where edges go one way */
static void check(int k, int bytes, int both) {
  int bad = 0;
  if (me == 1 || both)
    for (int i = 0; i < bytes; i++) bad += (unsigned char)have[k][i] != value(1 - me, k, i);
  CHECK(bad == 0, "%d of %d bytes of collective %d are wrong", bad, bytes, k);
}

static void told(const char *what, int bytes) {
  if (getenv("TEST_VERBOSE")) fprintf(stderr, "process %d: %s, %d bytes\n", me, what, bytes);
}

/* one has a long message of its own under way to the other one, and calls the library */
static void long_message(int sender, int bytes, int both) {
  told("a message is under way", bytes);
  fill(0, bytes);
  MPI_Request request;
  if (me == sender) {
    MPI_Isend(message, LONG, MPI_BYTE, 1 - me, TAG, MPI_COMM_WORLD, &request);
  } else {
    MPI_Recv(message, LONG, MPI_BYTE, 1 - me, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  OK(MPIX_Neighbor_alltoall(send[0], bytes, MPI_BYTE, have[0], bytes, MPI_BYTE, comm));
  if (me == sender) MPI_Wait(&request, MPI_STATUS_IGNORE);
  check(0, bytes, both);
}

/* one starts collectives, and then waits in MPI until the other one has completed them */
static void started(int starter, int count, int bytes, int both) {
  told("collectives are under way", bytes);
  MPIX_Request requests[MOST];
  for (int k = 0; k < count; k++) {
    fill(k, bytes);
    OK(MPIX_Ineighbor_alltoall(send[k], bytes, MPI_BYTE, have[k], bytes, MPI_BYTE, comm, &requests[k]));
  }
  if (me == starter) MPI_Recv(message, 1, MPI_BYTE, 1 - me, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  OK(MPIX_Request_waitall(count, requests));
  if (me != starter) MPI_Send(message, 1, MPI_BYTE, 1 - me, TAG, MPI_COMM_WORLD);
  for (int k = 0; k < count; k++) check(k, bytes, both);
}

/* blocking calls on one process; the other one has started, and waits in MPI until these are over.
   (Only to there, as what comes back it sends when it starts.) */
static void blocking(int starter, int count, int bytes, int both) {
  told("the other process calls", bytes);
  MPIX_Request requests[MOST];
  for (int k = 0; k < count; k++) {
    fill(k, bytes);
    if (me == starter) {
      OK(MPIX_Ineighbor_alltoall(send[k], bytes, MPI_BYTE, have[k], bytes, MPI_BYTE, comm, &requests[k]));
    } else {
      OK(MPIX_Neighbor_alltoall(send[k], bytes, MPI_BYTE, have[k], bytes, MPI_BYTE, comm));
      check(k, bytes, both);
    }
  }
  if (me == starter) {
    MPI_Recv(message, 1, MPI_BYTE, 1 - me, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    OK(MPIX_Request_waitall(count, requests));
    for (int k = 0; k < count; k++) check(k, bytes, both);
  } else {
    MPI_Send(message, 1, MPI_BYTE, 1 - me, TAG, MPI_COMM_WORLD);
  }
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  me = test_rank;
  alarm(60);
  int other = 1 - me;
  message = malloc(LONG);
  memset(message, 1, LONG);
  for (int k = 0; k < MOST; k++) send[k] = malloc(2 << 20), have[k] = malloc(2 << 20);
  for (int both = 1; both >= 0; both--) {
    comm = test_duplicate();
    OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, both || me == 1, &other, MPI_UNWEIGHTED, both || me == 0, &other, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
    int lengths[] = {8, 4096, 8192, 65536, 1 << 19, 2 << 20};
    for (int k = 0; k < 6; k++) {
      int bytes = lengths[k], some = bytes > 65536 ? 4 : MOST;
      for (int process = 0; process < 2; process++) {
        long_message(process, bytes, both);
        started(process, 1, bytes, both);
        started(process, some, bytes, both);
        blocking(process, 1, bytes, both);
        blocking(process, some, bytes, both);
      }
    }
    MPI_Comm_free(&comm);
  }
  for (int k = 0; k < MOST; k++) free(send[k]), free(have[k]);
  free(message);
  return test_finish();
}
