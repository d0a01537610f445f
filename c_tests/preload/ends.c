/* Ends: a communicator freed with requests under way, or with attributes that call the program;
   MPI_Finalize, from which attributes of MPI_COMM_SELF call the program, older than the library's
   there or younger; and programs that have sessions alone.

   Usage: ends freed|older|younger|sessions */
#include "preload.h"

static void ring_of(MPI_Comm comm, int *left, int *right) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  *left = (rank + size - 1) % size, *right = (rank + 1) % size;
}

/* what goes left arrives from the right */
static void expect(const int *in, int left, int right, int salt) {
  CHECK(in[0] == test_value(left, 1, salt) && in[1] == test_value(right, 0, salt), "%d %d", in[0], in[1]);
}

static MPI_Comm make_ring(MPI_Comm of) {
  MPI_Comm ring;
  int periodic = 1;
  OK(MPI_Cart_create(of, 1, &test_size, &periodic, 0, &ring));
  return ring;
}

/* the first process completes its request, and only then sends what the others wait for before they
   complete theirs; on the communicator, or once that is freed */
static void out_of_order(int frees) {
  for (int salt = 0; salt < 3; salt++) {
    int left, right, token = 0, in[2] = {-1, -1};
    int out[2] = {test_value(test_rank, 0, salt), test_value(test_rank, 1, salt)};
    MPI_Comm ring = make_ring(MPI_COMM_WORLD);
    MPI_Request request;
    ring_of(ring, &left, &right);
    OK(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring));
    expect(in, left, right, salt);
    in[0] = in[1] = -1;
    OK(MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring, &request));
    if (frees) OK(MPI_Comm_free(&ring));
    if (test_rank > 0) OK(MPI_Recv(&token, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int k = 1; test_rank == 0 && k < test_size; k++) OK(MPI_Send(&token, 1, MPI_INT, k, 3, MPI_COMM_WORLD));
    expect(in, left, right, salt);
    if (!frees) OK(MPI_Comm_free(&ring));
  }
}

static void exchange(MPI_Comm comm) {
  int left, right, in[2], out[2] = {test_value(test_rank, 0, 0), test_value(test_rank, 1, 0)};
  ring_of(comm, &left, &right);
  OK(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm));
  expect(in, left, right, 0);
}

static MPI_Comm kept;

/* called by MPI_Finalize */
static int last(MPI_Comm comm, int keyval, void *value, void *extra) {
  (void)comm, (void)keyval, (void)value, (void)extra;
  exchange(kept);
  MPI_Comm ring = make_ring(MPI_COMM_WORLD);
  exchange(ring);
  MPI_Comm_free(&ring);
  MPI_Comm_free(&kept);
  return MPI_SUCCESS;
}

/* called by MPI_Comm_free */
static int before_it_goes(MPI_Comm comm, int keyval, void *value, void *extra) {
  (void)keyval, (void)value, (void)extra;
  exchange(comm);
  return MPI_SUCCESS;
}

static void attributes(void) {
  int keyval;
  MPI_Comm ring = make_ring(MPI_COMM_WORLD);
  exchange(ring);
  OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, before_it_goes, &keyval, NULL));
  OK(MPI_Comm_set_attr(ring, keyval, NULL));
  OK(MPI_Comm_free(&ring));
  MPI_Comm_free_keyval(&keyval);
}

static int finalize(int older) {
  int keyval;
  OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, last, &keyval, NULL));
  if (older) OK(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL));
  kept = make_ring(MPI_COMM_WORLD);
  exchange(kept);
  if (!older) OK(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL));
  MPI_Finalize();
  if (test_rank == 0) printf("%d checks, %d failed\n", test_checks, test_failures);
  return test_failures != 0;
}

#if MPI_VERSION >= 4
static int sessions(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm, ring;
  MPI_Request request;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "ends", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Comm_rank(comm, &test_rank);
  MPI_Comm_size(comm, &test_size);
  ring = make_ring(comm);
  exchange(ring);
  int left, right, in[2], out[2] = {test_value(test_rank, 0, 0), test_value(test_rank, 1, 0)};
  ring_of(ring, &left, &right);
  OK(MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  expect(in, left, right, 0);
  MPI_Comm_free(&ring);
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  if (test_rank == 0) printf("%d checks, %d failed\n", test_checks, test_failures);
  MPI_Session_finalize(&session);
  return test_failures != 0;
}
#endif

int main(int argc, char **argv) {
  const char *end = argc > 1 ? argv[1] : "freed";
#if MPI_VERSION >= 4
  if (!strcmp(end, "sessions")) return sessions();
#endif
  test_init(&argc, &argv);
  if (strcmp(end, "freed")) return finalize(!strcmp(end, "older"));
  attributes();
  for (int frees = 0; frees < 2; frees++) out_of_order(frees);
  return test_finish();
}
