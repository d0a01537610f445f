/* Bad input: the error class, the text with function, argument and value, the error handler, and
   that nothing was sent, written or lost. */
#include "handled.h"

static MPI_Comm comm;
static int ring[2], me, n;

static void set_ring(MPI_Comm c) {
  OK(MPIX_Neighborhood_set(ALL_OPERATIONS, 2, ring, MPI_UNWEIGHTED, 2, ring, MPI_UNWEIGHTED, MPI_INFO_NULL, c));
}

/* the neighborhood still works, and no stray message is around */
static void still_works(int line) {
  int send[2] = {me * 10, me * 10 + 1}, have[2] = {-1, -1};
  OK(MPIX_Neighbor_alltoall(send, 1, MPI_INT, have, 1, MPI_INT, comm));
  for (int j = 0; j < 2; j++) {
    /* with one or two processes both neighbors are the same one, and the k-th edge meets the
       k-th */
    int entry = n <= 2 ? j : 1 - j;
    CHECK(have[j] == ring[j] * 10 + entry, "line %d: entry %d: %d", line, j, have[j]);
  }
}

static void collective_arguments(void) {
  int buffer[4] = {1, 2, 3, 4}, result[4] = {-1, -1, -1, -1}, one[2] = {1, 1}, bad[2] = {1, -7}, displs[2] = {0, 1};
  MPI_Aint bytes[2] = {0, 4};
  MPI_Datatype types[2] = {MPI_INT, MPI_INT}, half[2] = {MPI_INT, MPI_DATATYPE_NULL}, raw[2], uncommitted, inner;
  MPI_Type_contiguous(1, MPI_INT, &uncommitted);
  /* begins a little behind its address */
  MPI_Type_create_subarray(1, (int[]){4}, (int[]){2}, (int[]){1}, MPI_ORDER_C, MPI_INT, &inner);
  MPI_Type_commit(&inner);
  raw[0] = MPI_INT, raw[1] = uncommitted;

  HANDLED(MPIX_Neighbor_alltoallv(buffer, one, displs, MPI_INT, result, bad, displs, MPI_INT, comm), MPI_ERR_COUNT, "MPIX_Neighbor_alltoallv: recvcounts[1] = -7 is negative");
  HANDLED(MPIX_Neighbor_alltoallv(buffer, bad, displs, MPI_INT, result, one, displs, MPI_INT, comm), MPI_ERR_COUNT, "sendcounts[1] = -7 is negative");
  HANDLED(MPIX_Neighbor_alltoall(buffer, -1, MPI_INT, result, 1, MPI_INT, comm), MPI_ERR_COUNT, "MPIX_Neighbor_alltoall: sendcount = -1 is negative");
  HANDLED(MPIX_Neighbor_gather(buffer, 1, MPI_INT, result, -2, MPI_INT, comm), MPI_ERR_COUNT, "MPIX_Neighbor_gather: recvcount = -2 is negative");
  HANDLED(MPIX_Neighbor_alltoallv(buffer, NULL, displs, MPI_INT, result, one, displs, MPI_INT, comm), MPI_ERR_ARG, "sendcounts is NULL, but 2 entries are needed");
  HANDLED(MPIX_Neighbor_alltoallv(buffer, one, displs, MPI_INT, result, one, NULL, MPI_INT, comm), MPI_ERR_ARG, "recvdispls is NULL");
  HANDLED(MPIX_Neighbor_alltoallw(buffer, one, bytes, NULL, result, one, bytes, types, comm), MPI_ERR_ARG, "sendtypes is NULL");
  HANDLED(MPIX_Neighbor_alltoallw(buffer, one, bytes, types, result, one, bytes, half, comm), MPI_ERR_TYPE, "recvtypes[1] cannot be used for communication: it is MPI_DATATYPE_NULL");
  HANDLED(MPIX_Neighbor_alltoallw(buffer, one, bytes, raw, result, one, bytes, types, comm), MPI_ERR_TYPE, "sendtypes[1] cannot be used");
  HANDLED(MPIX_Neighbor_gather(buffer, 1, MPI_DATATYPE_NULL, result, 1, MPI_INT, comm), MPI_ERR_TYPE, "sendtype is MPI_DATATYPE_NULL");
  HANDLED(MPIX_Neighbor_gather(buffer, 1, uncommitted, result, 1, MPI_INT, comm), MPI_ERR_TYPE, "sendtype cannot be used");
  HANDLED(MPIX_Neighbor_alltoall(MPI_IN_PLACE, 1, MPI_INT, result, 1, MPI_INT, comm), MPI_ERR_BUFFER, "sendbuf is MPI_IN_PLACE");
  HANDLED(MPIX_Neighbor_alltoall(buffer, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm), MPI_ERR_BUFFER, "recvbuf is MPI_IN_PLACE");
  HANDLED(MPIX_Neighbor_alltoall(NULL, 1, MPI_INT, result, 1, MPI_INT, comm), MPI_ERR_BUFFER, "sendbuf is NULL, but a block of 1 elements lies there");
  /* also where its blocks lie a little further */
  int further[2] = {2, 1};
  HANDLED(MPIX_Neighbor_alltoallv(NULL, one, further, MPI_INT, result, one, displs, MPI_INT, comm), MPI_ERR_BUFFER, "sendbuf is NULL, but a block of 1 elements lies there");
  HANDLED(MPIX_Neighbor_alltoallv(buffer, one, displs, MPI_INT, NULL, one, further, MPI_INT, comm), MPI_ERR_BUFFER, "recvbuf is NULL, but a block of 1 elements lies there");
  HANDLED(MPIX_Neighbor_alltoallv(buffer, one, displs, MPI_INT, NULL, one, displs, MPI_INT, comm), MPI_ERR_BUFFER, "recvbuf is NULL, but a block of 1 elements lies there");
  HANDLED(MPIX_Neighbor_alltoall(NULL, 1, inner, result, 2, MPI_INT, comm), MPI_ERR_BUFFER, "sendbuf is NULL, but a block of 1 elements lies there");
  HANDLED(MPIX_Neighbor_alltoall(buffer, 2, MPI_INT, NULL, 1, inner, comm), MPI_ERR_BUFFER, "recvbuf is NULL, but a block of 1 elements lies there");
  HANDLED(MPIX_Neighbor_reduce(buffer, 1, MPI_INT, result, 1, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP, "op is MPI_OP_NULL");
  HANDLED(MPIX_Neighbor_reduce(buffer, 1, MPI_INT, result, 1, MPI_INT, MPI_REPLACE, comm), MPI_ERR_OP, "op does not work on recvtype: it is for windows alone");
  HANDLED(MPIX_Neighbor_reduce(buffer, 1, MPI_INT, result, 1, MPI_INT, MPI_NO_OP, comm), MPI_ERR_OP, "op does not work on recvtype: it is for windows alone");
  HANDLED(MPIX_Neighbor_reduce(buffer, 1, MPI_FLOAT, result, 1, MPI_FLOAT, MPI_BAND, comm), MPI_ERR_OP, "op does not work on recvtype");
  /* two sources: one block is buffered */
  HANDLED(MPIX_Neighbor_reduce_c(buffer, 1, MPI_SHORT, result, (MPI_Count)1 << 58, MPI_SHORT, MPI_SUM, comm), MPI_ERR_NO_MEM, "no memory for a temporary buffer of");
  HANDLED(MPIX_Neighbor_reduce_c(buffer, 1, MPI_INT, result, (MPI_Count)1 << 62, MPI_INT, MPI_SUM, comm), MPI_ERR_COUNT, "exceed the address range");
  if (n > 1) HANDLED(MPIX_Neighbor_alltoall_c(buffer, 1, MPI_INT, result, (MPI_Count)1 << 62, MPI_INT, comm), MPI_ERR_COUNT, "recvcount: 4611686018427387904 elements of extent 4 bytes exceed the address range");
  MPI_Count single[2] = {1, 1};
  MPI_Aint away[2] = {0, (MPI_Aint)1 << 62};
  if (n > 1) HANDLED(MPIX_Neighbor_alltoallv_c(buffer, single, away, MPI_INT, result, single, bytes, MPI_INT, comm), MPI_ERR_COUNT, "senddispls[1]: 4611686018427387904 elements of extent 4 bytes exceed the address range");
  /* of several fields: the entries of one follow those of another */
  const void *sendbufs[2] = {buffer, buffer}, *no_sendbufs[2] = {buffer, NULL};
  void *recvbufs[2] = {result, result}, *in_place[2] = {MPI_IN_PLACE, result};
  int ones[4] = {1, 1, 1, 1}, fewer[4] = {1, 1, 1, -7};
  MPI_Aint places[4] = {0, 4, 0, 4};
  MPI_Datatype ints[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT}, mixed[4] = {MPI_INT, MPI_INT, MPI_DATATYPE_NULL, MPI_INT};
  HANDLED(MPIX_Neighbor_alltoallw_fields(2, sendbufs, fewer, places, ints, recvbufs, ones, places, ints, comm), MPI_ERR_COUNT, "sendcounts[3] = -7 is negative");
  HANDLED(MPIX_Neighbor_alltoallw_fields(2, sendbufs, ones, places, ints, recvbufs, ones, places, mixed, comm), MPI_ERR_TYPE, "recvtypes[2] cannot be used for communication: it is MPI_DATATYPE_NULL");
  HANDLED(MPIX_Neighbor_alltoallw_fields(2, no_sendbufs, ones, places, ints, recvbufs, ones, places, ints, comm), MPI_ERR_BUFFER, "sendbufs[1] is NULL, but a block of 1 elements lies there");
  HANDLED(MPIX_Neighbor_alltoallw_fields(2, NULL, ones, places, ints, recvbufs, ones, places, ints, comm), MPI_ERR_ARG, "sendbufs is NULL, but 2 entries are needed");
  HANDLED(MPIX_Neighbor_alltoallw_fields(2, sendbufs, ones, places, ints, in_place, ones, places, ints, comm), MPI_ERR_BUFFER, "recvbufs[0] is MPI_IN_PLACE");
  if (n == 1) HANDLED(MPIX_Neighbor_alltoall(buffer, 2, MPI_INT, result, 1, MPI_INT, comm), MPI_ERR_TRUNCATE, "the block to target 0 has 8 bytes, but source 0, which is this process too, expects 4 bytes");
  for (int i = 0; i < 4; i++) CHECK(result[i] == -1, "result %d was written", i);
  /* of an empty block not even the datatype is looked at */
  int none[2] = {0, 0};
  MPI_Datatype nothing[2] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
  OK(MPIX_Neighbor_alltoallw(NULL, none, bytes, nothing, NULL, none, bytes, nothing, comm));
  /* nor where it is */
  MPI_Count few[2] = {1, 0};
  MPI_Aint anywhere[2] = {0, (MPI_Aint)1 << 61};
  if (n == 1) OK(MPIX_Neighbor_alltoallv_c(buffer, few, anywhere, MPI_INT, result, few, anywhere, MPI_INT, comm));
  else OK(MPIX_Neighbor_alltoallv_c(buffer, (MPI_Count[]){0, 0}, anywhere, MPI_INT, result, (MPI_Count[]){0, 0}, anywhere, MPI_INT, comm));
  MPI_Type_free(&uncommitted), MPI_Type_free(&inner);
  still_works(__LINE__);
}

static void queries(void) {
  int a = -1, b = -1, c = -1;
  char text[8] = "";
  HANDLED(MPIX_Neighborhood_get_count(3, comm, &a, &b, &c), MPI_ERR_ARG, "operation = 3 is not one of MPIX_NEIGHBOR_GATHER");
  HANDLED(MPIX_Neighborhood_get_count(MPIX_NEIGHBOR_GATHER, comm, &a, NULL, &c), MPI_ERR_ARG, "outdegree is NULL");
  CHECK(a == -1 && b == -1 && c == -1, "results are written");
  HANDLED(MPIX_Neighborhood_get(MPIX_NEIGHBOR_GATHER, comm, -1, NULL, NULL, 0, NULL, NULL), MPI_ERR_ARG, "maxindegree = -1 is negative");
  HANDLED(MPIX_Neighborhood_free(16, comm), MPI_ERR_ARG, "operations = 16 is not a combination of MPIX_NEIGHBOR_GATHER");
  HANDLED(MPIX_Neighborhood_free(0, comm), MPI_ERR_ARG, "operations = 0 is not a combination");
  /* by one process alone: nobody frees anything, and nobody waits */
  HANDLED(MPIX_Neighborhood_free(me == n - 1 ? 0 : MPIX_NEIGHBOR_GATHER, comm), MPI_ERR_ARG, "operations = 0 is not a combination");
  OK(MPIX_Neighborhood_describe(MPIX_NEIGHBOR_GATHER, comm, sizeof text, text, &a));
  CHECK(strcmp(text, "MPIX_NE") == 0 && a > 40, "cut text \"%s\" of %d", text, a);
  OK(MPIX_Neighborhood_describe(MPIX_NEIGHBOR_GATHER, comm, 0, NULL, &a));
  HANDLED(MPIX_Neighbor_error_string(comm, -4, text, &a), MPI_ERR_ARG, "length = -4 is negative");
  still_works(__LINE__);
}

/* errors in the arguments of one process are reported on all, with its rank */
static void set_arguments(void) {
  int last = n - 1, wrong[2] = {ring[0], ring[1]}, weights[2] = {1, 1};
  char text[200];
  if (me == last) wrong[1] = n;
  snprintf(text, sizeof text, me == last ? "MPIX_Neighborhood_set: targets[1] = %d is not a rank of this communicator of %d processes" : "targets[1] = %d is not a rank of this communicator of %d processes", n, n);
  HANDLED(MPIX_Neighborhood_set(2, 2, ring, MPI_UNWEIGHTED, 2, wrong, MPI_UNWEIGHTED, MPI_INFO_NULL, comm), MPI_ERR_RANK, text);
  if (me != last) {
    char have[1000];
    int length;
    snprintf(text, sizeof text, "MPIX_Neighborhood_set: process %d: targets[1]", last);
    MPIX_Neighbor_error_string(comm, sizeof have, have, &length);
    CHECK(strstr(have, text), "%s", have);
  }
  weights[0] = me == 0 ? -3 : 1;
  HANDLED(MPIX_Neighbor_reduce_set(2, ring, weights, 2, ring, weights, MPI_INFO_NULL, comm), MPI_ERR_ARG, "sourceweights[0] = -3 is negative");
  HANDLED(MPIX_Neighborhood_set(2, -1, ring, MPI_UNWEIGHTED, 2, ring, MPI_UNWEIGHTED, MPI_INFO_NULL, comm), MPI_ERR_ARG, "indegree = -1 is negative");
  HANDLED(MPIX_Neighborhood_set(2, 2, ring, MPI_WEIGHTS_EMPTY, 2, ring, MPI_UNWEIGHTED, MPI_INFO_NULL, comm), MPI_ERR_ARG, "sourceweights is NULL or MPI_WEIGHTS_EMPTY, but 2 entries are needed");
  HANDLED(MPIX_Neighborhood_set(2, 2, ring, MPI_UNWEIGHTED, 2, ring, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, comm), MPI_ERR_ARG, "targetweights is NULL or MPI_WEIGHTS_EMPTY");
  HANDLED(MPIX_Neighborhood_set(2, 2, NULL, MPI_UNWEIGHTED, 2, ring, MPI_UNWEIGHTED, MPI_INFO_NULL, comm), MPI_ERR_ARG, "sources is NULL, but 2 entries are needed");
  HANDLED(MPIX_Neighborhood_set(16, 2, ring, MPI_UNWEIGHTED, 2, ring, MPI_UNWEIGHTED, MPI_INFO_NULL, comm), MPI_ERR_ARG, "operations = 16 is not a combination");
  HANDLED(MPIX_Neighborhood_set_topology(2, MPI_INFO_NULL, comm), MPI_ERR_TOPOLOGY, "no Cartesian, graph or distributed graph topology");
  if (n > 1) {
    int mismatch;
    OK(MPIX_Neighbor_error_class(MPIX_ERR_MISMATCH, &mismatch));
    HANDLED(MPIX_Neighborhood_set(me == 0 ? 1 : 2, 2, ring, MPI_UNWEIGHTED, 2, ring, MPI_UNWEIGHTED, MPI_INFO_NULL, comm), mismatch, ": operations is not the same on all processes");
    int (*set_one)(int, const int[], const int[], int, const int[], const int[], MPI_Info, MPI_Comm) = me == 0 ? MPIX_Neighbor_gather_set : MPIX_Neighbor_alltoall_set;
    HANDLED(set_one(2, ring, MPI_UNWEIGHTED, 2, ring, MPI_UNWEIGHTED, MPI_INFO_NULL, comm), mismatch, ": operation is not the same on all processes");
    MPI_Info other = test_hint("mpix_seed", me == 0 ? "3" : "4");
    HANDLED(MPIX_Neighborhood_set(2, 2, ring, MPI_UNWEIGHTED, 2, ring, MPI_UNWEIGHTED, other, comm), mismatch, ": hint mpix_seed is not the same on all processes");
    MPI_Info_set(other, "mpix_split", me == 0 ? "true" : "false");
    HANDLED(MPIX_Neighborhood_set(2, 2, ring, MPI_UNWEIGHTED, 2, ring, MPI_UNWEIGHTED, other, comm), mismatch, "hint mpix_seed is not the same");
    MPI_Info_free(&other);
    /* process 0 sends to the last one once more than that one knows */
    int of_zero[2] = {n - 1, 1}, more[3] = {ring[0], ring[1], last}, times = (of_zero[0] == last) + (of_zero[1] == last);
    snprintf(text, sizeof text, "process 0 lists process %d %d time(s) among its targets, but process %d lists process 0 %d time(s) among its sources", last, times + 1, last, times);
    HANDLED(MPIX_Neighborhood_set(2, 2, ring, MPI_UNWEIGHTED, me == 0 ? 3 : 2, more, MPI_UNWEIGHTED, MPI_INFO_NULL, comm), mismatch, text);
    /* process 1 expects something from process 0 that nobody sends */
    int expecting[3] = {ring[0], ring[1], 0};
    times = (of_zero[0] == 1) + (of_zero[1] == 1);
    snprintf(text, sizeof text, "process 0 lists process 1 %d time(s) among its targets, but process 1 lists process 0 %d time(s) among its sources", times, times + 1);
    HANDLED(MPIX_Neighborhood_set(2, me == 1 ? 3 : 2, expecting, MPI_UNWEIGHTED, 2, ring, MPI_UNWEIGHTED, MPI_INFO_NULL, comm), mismatch, text);
  }
  still_works(__LINE__);
}

static void hints(void) {
  MPI_Info info = test_hint("mpix_schedule", me == n - 1 ? "fastest" : "auto");
  HANDLED(MPIX_Neighborhood_set(2, 2, ring, MPI_UNWEIGHTED, 2, ring, MPI_UNWEIGHTED, info, comm), MPI_ERR_INFO_VALUE, "info key mpix_schedule = \"fastest\" is not one of auto, model, measure, direct");
  MPI_Info_set(info, "mpix_schedule", "dimension_order");
  HANDLED(MPIX_Neighborhood_set(2, 2, ring, MPI_UNWEIGHTED, 2, ring, MPI_UNWEIGHTED, info, comm), MPI_ERR_ARG, "schedule dimension_order cannot be used: it needs a Cartesian communicator");
  if (n > 1) {
    int mismatch;
    OK(MPIX_Neighbor_error_class(MPIX_ERR_MISMATCH, &mismatch));
    MPI_Info_set(info, "mpix_schedule", me ? "direct" : "auto");
    HANDLED(MPIX_Neighborhood_set(2, 2, ring, MPI_UNWEIGHTED, 2, ring, MPI_UNWEIGHTED, info, comm), mismatch, "mpix_schedule");
  }
  MPI_Info_set(info, "mpix_schedule", "auto");
  MPI_Info_set(info, "somebody_elses_key", "whatever");
  OK(MPIX_Neighborhood_set(2, 2, ring, MPI_UNWEIGHTED, 2, ring, MPI_UNWEIGHTED, info, comm));
  MPI_Info_free(&info);
  still_works(__LINE__);
}

static void groups(void) {
  MPI_Group all, others, world;
  MPI_Comm half;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Comm_group(comm, &all);
  HANDLED(MPIX_Neighborhood_set_group(2, MPI_GROUP_NULL, MPI_UNWEIGHTED, all, MPI_UNWEIGHTED, MPI_INFO_NULL, comm), MPI_ERR_GROUP, "sourcegroup is MPI_GROUP_NULL");
  /* everyone to everyone, itself included */
  OK(MPIX_Neighborhood_set_group(MPIX_NEIGHBOR_GATHER, all, MPI_UNWEIGHTED, all, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
  MPI_Group_free(&all);
  int got[64];
  OK(MPIX_Neighbor_gather(&me, 1, MPI_INT, got, 1, MPI_INT, comm));
  for (int j = 0; j < n; j++) CHECK(got[j] == j, "group: entry %d: %d", j, got[j]);
  OK(MPIX_Neighborhood_set_group(MPIX_NEIGHBOR_GATHER, MPI_GROUP_EMPTY, MPI_UNWEIGHTED, MPI_GROUP_EMPTY, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
  OK(MPIX_Neighbor_gather(NULL, 5, MPI_INT, NULL, 5, MPI_INT, comm));
  if (n > 1) {
    MPI_Comm_split(comm, me % 2, me, &half);
    MPI_Comm keep = comm;
    MPI_Errhandler h;
    MPI_Comm_get_errhandler(comm, &h);
    MPI_Comm_set_errhandler(half, h);
    MPI_Errhandler_free(&h);
    comm = half;
    int zero_or_one = me % 2 == 0 ? 1 : 0;
    MPI_Group_incl(world, 1, &zero_or_one, &others);
    HANDLED(MPIX_Neighborhood_set_group(2, others, MPI_UNWEIGHTED, MPI_GROUP_EMPTY, MPI_UNWEIGHTED, MPI_INFO_NULL, half), MPI_ERR_GROUP, "process 0 of sourcegroup is not in the communicator");
    MPI_Group_free(&others);
    MPI_Comm_free(&half);
    comm = keep;
  }
  MPI_Group_free(&world);
  set_ring(comm);
}

static void no_neighborhood(MPI_Errhandler errhandler) {
  MPI_Comm plain, keep = comm, inter, half;
  int value = 0, in, out, weighted;
  plain = test_duplicate();
  MPI_Comm_set_errhandler(plain, errhandler);
  comm = plain;
  HANDLED(MPIX_Neighbor_gather(&value, 1, MPI_INT, &value, 1, MPI_INT, plain), MPI_ERR_TOPOLOGY, "MPIX_Neighbor_gather: the communicator has no neighborhood for MPIX_NEIGHBOR_GATHER");
  HANDLED(MPIX_Neighborhood_get_count(MPIX_NEIGHBOR_REDUCE, plain, &in, &out, &weighted), MPI_ERR_TOPOLOGY, "no neighborhood for MPIX_NEIGHBOR_REDUCE");
  HANDLED(MPIX_Neighborhood_free(MPIX_NEIGHBOR_REDUCE, plain), MPI_ERR_TOPOLOGY, "no neighborhood");
  OK(MPIX_Neighbor_gather_set(0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, plain));
  OK(MPIX_Neighbor_gather(NULL, 0, MPI_DATATYPE_NULL, NULL, 0, MPI_DATATYPE_NULL, plain));
  /* with degree 0 no argument of that side is looked at */
  OK(MPIX_Neighbor_gather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, plain));
  /* results that are not wanted may go to one place */
  OK(MPIX_Neighborhood_get_count(MPIX_NEIGHBOR_GATHER, plain, &in, &in, &in));
  HANDLED(MPIX_Neighbor_alltoall(&value, 1, MPI_INT, &value, 1, MPI_INT, plain), MPI_ERR_TOPOLOGY, "MPIX_NEIGHBOR_ALLTOALL");
  OK(MPIX_Neighborhood_free(MPIX_NEIGHBOR_GATHER, plain));
  HANDLED(MPIX_Neighbor_gather(&value, 1, MPI_INT, &value, 1, MPI_INT, plain), MPI_ERR_TOPOLOGY, "no neighborhood");
  MPI_Comm_free(&plain);
  if (n > 1) {
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - me % 2, 77, &inter);
    MPI_Comm_set_errhandler(inter, errhandler);
    comm = inter;
    HANDLED(MPIX_Neighborhood_set(2, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, inter), MPI_ERR_COMM, "comm is an intercommunicator");
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
  }
  comm = MPI_COMM_WORLD;
  MPI_Comm_set_errhandler(comm, errhandler);
  HANDLED(MPIX_Neighbor_gather(&value, 1, MPI_INT, &value, 1, MPI_INT, MPI_COMM_NULL), MPI_ERR_COMM, "comm is MPI_COMM_NULL");
  HANDLED(MPIX_Neighbor_error_class(9, &value), MPI_ERR_ARG, "which = 9 is neither");
  int major = -1, minor, patch;
  OK(MPIX_Neighbor_get_version(&major, &minor, &patch));
  CHECK(major == MPIX_NEIGHBOR_VERSION_MAJOR && minor == MPIX_NEIGHBOR_VERSION_MINOR && patch == MPIX_NEIGHBOR_VERSION_PATCH, "version %d", major);
  comm = keep;
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  me = test_rank, n = test_size;
  MPI_Errhandler errhandler;
  MPI_Comm_create_errhandler(handler, &errhandler);
  comm = test_duplicate();
  MPI_Comm_set_errhandler(comm, errhandler);
  ring[0] = (me + n - 1) % n, ring[1] = (me + 1) % n;
  set_ring(comm);
  /* errors belong to the communicator of the call: the handler of the world is not called, it would
     end the program */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  collective_arguments();
  queries();
  set_arguments();
  hints();
  groups();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  no_neighborhood(errhandler);
  MPI_Comm_free(&comm);
  MPI_Errhandler_free(&errhandler);
  return test_finish();
}
