/* The two ends of an edge disagree about the bytes of a block. That is an error of the program;
   what it must not do is to make later calls wrong. */
#define _GNU_SOURCE
#include "test.h"

static int me, n, left, right;

static MPI_Info by_messages(const char *key, const char *value) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_shared_memory", "0");
  MPI_Info_set(info, key, value);
  return info;
}

/* completes a request, or says that it hangs */
static int complete(int line, MPIX_Request *request) {
  int flag = 0, code = MPI_SUCCESS;
  double begin = MPI_Wtime();
  while (!flag && code == MPI_SUCCESS) {
    code = MPIX_Request_test(request, &flag);
    if (MPI_Wtime() - begin > 20) {
      fprintf(stderr, "line %d: process %d waits in vain\n", line, me);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  return code;
}

/* two fields, of which one is shorter at the sender than the receiver expects, in one call */
static void fields(const char *fuse) {
  MPI_Comm comm = test_duplicate();
  MPI_Info info = by_messages("mpix_fuse", fuse);
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, info, comm));
  MPI_Info_free(&info);
  for (int call = 0; call < 5; call++) {
    int send[2][4], have[2][4], sent[2] = {4, 4 * (call != 1)}, expected[2] = {4, 4};
    for (int f = 0; f < 2; f++)
      for (int k = 0; k < 4; k++) send[f][k] = 1000 * me + 100 * call + 10 * f + k, have[f][k] = -1;
    const void *from[2] = {send[0], send[1]};
    void *into[2] = {have[0], have[1]};
    MPI_Aint displs[2] = {0, 0};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPIX_Request request;
    OK(MPIX_Ineighbor_alltoallw_fields(2, from, sent, displs, types, into, expected, displs, types, comm, &request));
    OK(complete(__LINE__, &request));
    for (int f = 0; f < 2; f++)
      for (int k = 0; k < 4 && (call != 1 || f == 0); k++)
        CHECK(have[f][k] == 1000 * left + 100 * call + 10 * f + k, "fuse %s, call %d, field %d: %d", fuse, call, f, have[f][k]);
  }
  MPI_Comm_free(&comm);
}

/* edges that a schedule of rounds cuts, all but the first process's long one */
static int weight(int from, int to) {
  unsigned x = (unsigned)(7 * from + 13 * to + 62) * 2654435761u;
  return from == 0 && to == 1 ? 1000000 : 20000 + (int)(x % 480000);
}

/* process 1 expects nothing where process 0 sends something: it says so, nobody waits in vain, and
   nothing of it comes in a later call, here or on the next communicator */
static void cut(const char *schedule, int bytes) {
  enum { MOST = 8 };
  char *send = malloc((size_t)MOST * 1000), *have = malloc((size_t)MOST * 1000);
  for (int turn = 0; turn < 3; turn++) {
    int others[MOST], in[MOST], out[MOST], sent[MOST], expected[MOST], displs[MOST], degree = 0;
    MPI_Comm comm = test_duplicate();
    MPI_Info info = by_messages("mpix_schedule", schedule);
    MPI_Info_set(info, "mpix_weight_unit", "1");
    MPI_Info_set(info, "mpix_loggp", "jaguar");
    for (int p = 0; p < n; p++)
      if (p != me) others[degree] = p, out[degree] = weight(me, p), in[degree++] = weight(p, me);
    OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, degree, others, in, degree, others, out, info, comm));
    MPI_Info_free(&info);
    for (int k = 0; k < degree; k++) {
      sent[k] = expected[k] = bytes, displs[k] = 1000 * k;
      if (turn == 0 && me == 1 && others[k] == 0) expected[k] = 0;
      memset(send + displs[k], 10 * turn + me + 1, (size_t)bytes);
    }
    memset(have, 0, (size_t)MOST * 1000);
    MPIX_Request request;
    OK(MPIX_Ineighbor_alltoallv(send, sent, displs, MPI_BYTE, have, expected, displs, MPI_BYTE, comm, &request));
    int code = complete(__LINE__, &request), class;
    MPI_Error_class(code, &class);
    CHECK(class == (turn == 0 && me == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "%s, turn %d: class %d", schedule, turn, class);
    for (int k = 0; k < degree; k++)
      for (int i = 0; i < expected[k]; i++)
        CHECK(have[displs[k] + i] == 10 * turn + others[k] + 1, "%s, turn %d, byte %d from %d: %d", schedule, turn, i, others[k], have[displs[k] + i]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
  }
  free(send), free(have);
}

/* more fields than there are tags for them: refused, and the next call is right */
static void many_fields(void) {
  enum { MANY = 7281 };
  int *send = malloc(MANY * sizeof *send), *have = malloc(MANY * sizeof *have), *counts = malloc(MANY * sizeof *counts), code;
  MPI_Aint *displs = calloc(MANY, sizeof *displs);
  MPI_Datatype *types = malloc(MANY * sizeof *types);
  const void **from = malloc(MANY * sizeof *from);
  void **into = malloc(MANY * sizeof *into);
  MPI_Comm comm = test_duplicate();
  MPI_Info info = by_messages("mpix_schedule", "random_rounds");
  MPI_Info_set(info, "mpix_fuse", "false");
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, info, comm));
  MPI_Info_free(&info);
  for (int f = 0; f < MANY; f++) from[f] = &send[f], into[f] = &have[f], counts[f] = 1, types[f] = MPI_INT;
  for (int fields = MANY; fields >= MANY - 1; fields--) {
    MPIX_Request request;
    for (int f = 0; f < MANY; f++) send[f] = 10000 * me + f, have[f] = -1;
    code = MPIX_Ineighbor_alltoallw_fields(fields, from, counts, displs, types, into, counts, displs, types, comm, &request);
    if (fields == MANY) {
      FAILS(code, MPI_ERR_ARG, "nfields is 7281, but calls that exchange several fields one by one, in rounds, take at most 7280");
      continue;
    }
    OK(code);
    OK(complete(__LINE__, &request));
    int wrong = 0;
    for (int f = 0; f < fields; f++) wrong += have[f] != 10000 * left + f;
    CHECK(wrong == 0, "%d of %d fields", wrong, fields);
  }
  MPI_Comm_free(&comm);
  free(send), free(have), free(counts), free(displs), free(types), free(from), free(into);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  me = test_rank, n = test_size, left = (me + n - 1) % n, right = (me + 1) % n;
  if (n > 1) {
    static const char *const fuses[] = {"true", "false", "auto"};
    for (int k = 0; k < 3; k++) fields(fuses[k]);
    static const char *const schedules[] = {"random_rounds", "edge_coloring", "direct", "linear_permutation"};
    for (int k = 0; k < 4; k++) cut(schedules[k], 600);
  }
  many_fields();
  return test_finish();
}
