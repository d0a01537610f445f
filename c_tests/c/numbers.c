/* Messages that find no room in memory go by MPI, with tags that repeat: of collectives that start
   long after one that is under way, of another operation, and of a neighborhood that is set long
   after. What would be confused is refused, and can be called again. */
#include "test.h"

enum { MOST = 300, EARLY = 9, LATE = 16 };

static MPIX_Request requests[MOST];
static int sent[MOST], got[MOST];

static MPI_Comm ring(void) {
  MPI_Comm comm = test_duplicate();
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return comm;
}

static int left(void) { return (test_rank + test_size - 1) % test_size; }

static void set(int operations, MPI_Comm comm) {
  int from = left(), to = (test_rank + 1) % test_size;
  MPI_Info info = test_hint("mpix_schedule", "direct");
  OK(MPIX_Neighborhood_set(operations, 1, &from, MPI_UNWEIGHTED, 1, &to, MPI_UNWEIGHTED, info, comm));
  MPI_Info_free(&info);
}

static int value(int rank, int kind, int call) { return 1000003 * kind + 31 * call + rank; }

/* starts a collective; returns the class of its error */
static int start(int k, int kind, MPI_Comm comm) {
  int class;
  sent[k] = value(test_rank, kind, k), got[k] = -1;
  int code = kind ? MPIX_Ineighbor_gather(&sent[k], 1, MPI_INT, &got[k], 1, MPI_INT, comm, &requests[k])
                  : MPIX_Ineighbor_alltoall(&sent[k], 1, MPI_INT, &got[k], 1, MPI_INT, comm, &requests[k]);
  MPI_Error_class(code, &class);
  return class;
}

static void end(int k, int kind) {
  OK(MPIX_Request_wait(&requests[k]));
  CHECK(got[k] == value(left(), kind, k), "request %d of kind %d: %d", k, kind, got[k]);
}

/* Few requests are under way, which fill the ring, while others come and go: as many as have tags
   that differ, of which `limit` tells. */
static int limit;
static void one_after_another(void) {
  MPI_Comm comm = ring();
  set(MPIX_NEIGHBOR_ALLTOALL, comm);
  int class = MPI_SUCCESS, calls = 0;
  for (int k = 0; k < EARLY; k++) CHECK(start(k, 0, comm) == MPI_SUCCESS, "request %d", k);
  while (class == MPI_SUCCESS && calls < 20000) {
    int out = value(test_rank, 2, calls), in = -1;
    MPI_Error_class(MPIX_Neighbor_alltoall(&out, 1, MPI_INT, &in, 1, MPI_INT, comm), &class);
    if (class != MPI_SUCCESS) break;
    CHECK(in == value(left(), 2, calls), "call %d: %d", calls, in);
    calls++;
  }
  if (class != MPI_SUCCESS) {
    /* the first request is as far back as there are tags */
    limit = EARLY + calls;
    CHECK(class == MPI_ERR_REQUEST && (limit & (limit - 1)) == 0, "class %d after %d calls", class, calls);
  }
  for (int k = 0; k < EARLY; k++) end(k, 0);
  for (int call = 0; call < 20; call++) {
    int out = value(test_rank, 3, call), in = -1;
    OK(MPIX_Neighbor_alltoall(&out, 1, MPI_INT, &in, 1, MPI_INT, comm));
    CHECK(in == value(left(), 3, call), "later call %d: %d", call, in);
  }
  MPI_Comm_free(&comm);
}

/* Several fields that travel together take one number: the last one that is free is enough. */
static void together(void) {
  if (!limit) return;
  MPI_Comm comm = ring();
  set(MPIX_NEIGHBOR_ALLTOALL, comm);
  for (int k = 0; k < EARLY; k++) CHECK(start(k, 0, comm) == MPI_SUCCESS, "request %d", k);
  for (int call = EARLY; call < limit - 1; call++) {
    int out = call, in = -1;
    OK(MPIX_Neighbor_alltoall(&out, 1, MPI_INT, &in, 1, MPI_INT, comm));
  }
  int out[2] = {test_rank, -test_rank}, in[2] = {-1, -1}, ones[2] = {1, 1};
  const void *from[2] = {&out[0], &out[1]};
  void *into[2] = {&in[0], &in[1]};
  MPI_Aint places[2] = {0, 0};
  MPI_Datatype ints[2] = {MPI_INT, MPI_INT};
  OK(MPIX_Neighbor_alltoallw_fields(2, from, ones, places, ints, into, ones, places, ints, comm));
  CHECK(in[0] == left() && in[1] == -left(), "fields: %d and %d", in[0], in[1]);
  for (int k = 0; k < EARLY; k++) end(k, 0);
  MPI_Comm_free(&comm);
}

/* Many requests under way, of which the newest are completed first. */
static void all_at_once(void) {
  MPI_Comm comm = ring();
  set(MPIX_NEIGHBOR_ALLTOALL, comm);
  for (int k = 0; k < MOST; k++) CHECK(start(k, 0, comm) == MPI_SUCCESS, "request %d", k);
  for (int k = MOST - 1; k >= 0; k--) end(k, 0);
  MPI_Comm_free(&comm);
}

/* Two operations, of which one is set so often that the numbers of its neighborhoods repeat: what
   finds no room meets no message of the other one. */
static void operations(void) {
  MPI_Comm comm = ring();
  set(MPIX_NEIGHBOR_GATHER, comm);
  for (int k = 0; k < 64; k++) set(MPIX_NEIGHBOR_ALLTOALL, comm);
  for (int k = 0; k < LATE; k++) CHECK(start(k, 1, comm) == MPI_SUCCESS, "gather %d", k);
  for (int k = LATE; k < 2 * LATE; k++) CHECK(start(k, 0, comm) == MPI_SUCCESS, "alltoall %d", k);
  for (int k = LATE; k < 2 * LATE; k++) end(k, 0);
  for (int k = 0; k < LATE; k++) end(k, 1);
  MPI_Comm_free(&comm);
}

/* Requests of a neighborhood that has been replaced so often that another one has its tags: there,
   the same numbers are refused until they are complete. */
static void replaced(void) {
  MPI_Comm comm = ring();
  set(MPIX_NEIGHBOR_ALLTOALL, comm);
  for (int k = 0; k < LATE; k++) CHECK(start(k, 0, comm) == MPI_SUCCESS, "request %d", k);
  for (int k = 0; k < 64; k++) set(MPIX_NEIGHBOR_ALLTOALL, comm);
  int class = start(LATE, 0, comm);
  CHECK(class == (limit ? MPI_ERR_REQUEST : MPI_SUCCESS), "class %d", class);
  for (int k = LATE - 1; k >= 0; k--) end(k, 0);
  if (class != MPI_SUCCESS) CHECK(start(LATE, 0, comm) == MPI_SUCCESS, "the one that was refused");
  end(LATE, 0);
  MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  one_after_another();
  together();
  all_at_once();
  operations();
  replaced();
  return test_finish();
}
