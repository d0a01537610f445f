/* Several threads at a time: each has a communicator of its own, all have messages and exchanges
   under way, and each completes its own lists; and one of them starts an exchange that another one
   keeps from going on until it has completed its own. */
#define _DEFAULT_SOURCE /* usleep */
#include "preload.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { THREADS = 2, ROUNDS = 60 };

static MPI_Comm comms[THREADS];
static int left, right, failures[THREADS];

static void *work(void *argument) {
  int me = (int)(intptr_t)argument, bad = 0;
  MPI_Comm comm = comms[me], own;
  for (int round = 0; round < ROUNDS; round++) {
    int out[2] = {test_value(test_rank, 0, round + 1000 * me), test_value(test_rank, 1, round + 1000 * me)}, in[2] = {-1, -1};
    int again[2] = {-1, -1}, got = -1, sent = test_rank * 100 + round, flag = 0;
    MPI_Request r[3];
    bad += MPI_Irecv(&got, 1, MPI_INT, left, 5, comm, &r[0]);
    bad += MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm, &r[1]);
    bad += MPI_Isend(&sent, 1, MPI_INT, right, 5, comm, &r[2]);
    bad += MPI_Neighbor_alltoall(out, 1, MPI_INT, again, 1, MPI_INT, comm);
    if (round % 3 == 0)
      bad += MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    else if (round % 3 == 1)
      while (!flag) bad += MPI_Testall(3, r, &flag, MPI_STATUSES_IGNORE);
    else
      for (int done = 0, index; done < 3; done++) bad += MPI_Waitany(3, r, &index, MPI_STATUS_IGNORE);
    int from_left = test_value(left, 1, round + 1000 * me), from_right = test_value(right, 0, round + 1000 * me);
    bad += in[0] != from_left || in[1] != from_right || again[0] != from_left || again[1] != from_right || got != left * 100 + round;
    if (round % 20 == 7) {
      bad += MPI_Comm_dup(comm, &own);
      bad += MPI_Neighbor_alltoall(out, 1, MPI_INT, again, 1, MPI_INT, own);
      bad += again[0] != from_left || again[1] != from_right;
      bad += MPI_Comm_free(&own);
    }
  }
  failures[me] = bad;
  return NULL;
}

/* how far the two are: the first one is in the midst of its call; the second one's has ended */
static atomic_int called, completed;
static MPI_Datatype unknown;
static int in_time;

/* called by the library for a datatype that it does not know, within the first one's call */
static void hold(MPI_Datatype type) {
  if (type != unknown || atomic_exchange(&called, 1)) return;
  for (double end = MPI_Wtime() + 10; !atomic_load(&completed) && MPI_Wtime() < end;) usleep(1000);
  in_time = atomic_load(&completed);
}

int MPI_Type_get_envelope(MPI_Datatype type, int *integers, int *addresses, int *types, int *combiner) {
  hold(type);
  return PMPI_Type_get_envelope(type, integers, addresses, types, combiner);
}

#if MPI_VERSION >= 4
int MPI_Type_get_envelope_c(MPI_Datatype type, MPI_Count *integers, MPI_Count *addresses, MPI_Count *counts, MPI_Count *types, int *combiner) {
  hold(type);
  return PMPI_Type_get_envelope_c(type, integers, addresses, counts, types, combiner);
}
#endif

static void *complete(void *argument) {
  for (double end = MPI_Wtime() + 10; !atomic_load(&called) && MPI_Wtime() < end;) usleep(1000);
  int code = MPI_Wait(argument, MPI_STATUS_IGNORE);
  atomic_store(&completed, 1);
  return (void *)(intptr_t)code;
}

/* the first one waits for the second one, which has nothing to do with its request */
static void held_up(void) {
  int out[4] = {1, 2, 3, 4}, in[4], other_out[2] = {test_rank, test_rank}, other_in[2] = {-1, -1};
  MPI_Request request, other;
  pthread_t thread;
  void *code;
  OK(MPI_Type_contiguous(2, MPI_INT, &unknown));
  OK(MPI_Type_commit(&unknown));
  OK(MPI_Ineighbor_alltoall(other_out, 1, MPI_INT, other_in, 1, MPI_INT, comms[1], &other));
  pthread_create(&thread, NULL, complete, &other);
  OK(MPI_Ineighbor_alltoall(out, 1, unknown, in, 1, unknown, comms[0], &request));
  CHECK(atomic_load(&called), "the library has not asked about the datatype");
  CHECK(in_time, "the other thread's request has not been completed");
  pthread_join(thread, &code);
  CHECK((intptr_t)code == MPI_SUCCESS && other_in[0] == left && other_in[1] == right, "%d %d", other_in[0], other_in[1]);
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_Type_free(&unknown));
}

int main(int argc, char **argv) {
  int provided, periodic = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &test_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &test_size);
  CHECK(provided == MPI_THREAD_MULTIPLE, "thread level %d", provided);
  for (int i = 0; i < THREADS; i++) OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, &periodic, 0, &comms[i]));
  MPI_Cart_shift(comms[0], 0, 1, &left, &right);
  pthread_t threads[THREADS];
  for (intptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS; i++) CHECK(failures[i] == 0, "thread %d: %d failures", i, failures[i]);
  held_up();
  for (int i = 0; i < THREADS; i++) OK(MPI_Comm_free(&comms[i]));
  return test_finish();
}
