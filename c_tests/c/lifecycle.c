/* Lifetimes: communicators with neighborhoods freed thousands of times, handles that the
   caller frees early, duplicates, several communicators with different schedules, changing buffers,
   disconnected parts, the user's own messages, neighborhoods alive at finalize. */
#include "test.h"

static int me, n, left, right;

static void ring(int line, MPI_Comm comm) {
  int have = -1;
  OK(MPIX_Neighbor_gather(&me, 1, MPI_INT, &have, 1, MPI_INT, comm));
  CHECK(have == left, "line %d: %d", line, have);
}

/* MPICH has 2,048 communicators, Open MPI's numbers grow: a leak of one private communicator a
   round is found by either */
static void many_lives(void) {
  int rounds = n <= 2 ? 2500 : n <= 4 ? 40 : 8;
  for (int i = 0; i < rounds; i++) {
    MPI_Comm comm = test_duplicate();
    test_ring(ALL_OPERATIONS, MPI_INFO_NULL, comm);
    if (i % 3 == 0) test_ring(ALL_OPERATIONS, MPI_INFO_NULL, comm);
    if (i % 50 == 0) ring(__LINE__, comm);
    if (i % 2) OK(MPIX_Neighborhood_free(ALL_OPERATIONS, comm));
    MPI_Comm_free(&comm);
  }
}

static void duplicates(void) {
  MPI_Comm comm, copy;
  int value = 0, class;
  comm = test_duplicate();
  test_ring(ALL_OPERATIONS, MPI_INFO_NULL, comm);
  MPI_Comm_dup(comm, &copy);
  MPI_Error_class(MPIX_Neighbor_gather(&value, 1, MPI_INT, &value, 1, MPI_INT, copy), &class);
  CHECK(class == MPI_ERR_TOPOLOGY, "a duplicate inherits the neighborhood: %d", class);
  ring(__LINE__, comm);
  MPI_Comm_free(&comm);
  test_ring(ALL_OPERATIONS, MPI_INFO_NULL, copy);
  ring(__LINE__, copy);
  MPI_Comm_free(&copy);
}

/* info and datatypes freed right after use; arrays overwritten after set */
static void early_free(void) {
  MPI_Info info = test_hint("mpix_schedule", "direct");
  int source[1] = {left}, target[1] = {right}, weights[1] = {7};
  MPI_Comm comm = test_duplicate();
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, 1, source, weights, 1, target, weights, info, comm));
  MPI_Info_free(&info);
  source[0] = target[0] = weights[0] = -99;
  for (int i = 0; i < 20; i++) {
    /* a new type with the handle of the one before, and another layout: nothing remembered of the
       old one may be used */
    MPI_Datatype type;
    MPI_Type_vector(2, 1, 1 + i % 5, MPI_INT, &type);
    MPI_Type_commit(&type);
    int send[16], have[16];
    for (int k = 0; k < 16; k++) send[k] = 1000 * i + 100 * me + k, have[k] = -1;
    OK(MPIX_Neighbor_alltoall(send, 1, type, have, 1, type, comm));
    MPI_Type_free(&type);
    for (int k = 0; k < 16; k++) {
      int carried = k == 0 || k == 1 + i % 5;
      CHECK(have[k] == (carried ? 1000 * i + 100 * left + k : -1), "round %d, int %d: %d", i, k, have[k]);
    }
  }
  MPI_Comm_free(&comm);
}

/* a schedule holds no address: the second call's buffers are the second call's */
static void other_buffers(void) {
  MPI_Comm comm = test_duplicate();
  test_ring(ALL_OPERATIONS, MPI_INFO_NULL, comm);
  int a = me, b = me + 1000, from_a = -1, from_b = -1;
  OK(MPIX_Neighbor_alltoall(&a, 1, MPI_INT, &from_a, 1, MPI_INT, comm));
  OK(MPIX_Neighbor_alltoall(&b, 1, MPI_INT, &from_b, 1, MPI_INT, comm));
  CHECK(from_a == left && from_b == left + 1000, "%d, %d", from_a, from_b);
  MPI_Comm_free(&comm);
}

/* the choice belongs to the communicator, not to the process: two Cartesian communicators, used
   alternately */
static void two_schedules(void) {
  static const char *names[2] = {"direct", "dimension_order"};
  MPI_Comm comm[2];
  int dims[1] = {n}, periods[1] = {1};
  for (int i = 0; i < 2; i++) {
    MPI_Info info = test_hint("mpix_schedule", names[i]);
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &comm[i]);
    OK(MPIX_Neighborhood_set_topology(MPIX_NEIGHBOR_ALLTOALL, info, comm[i]));
    MPI_Info_free(&info);
  }
  for (int round = 0; round < 6; round++) {
    int send[2] = {me, -me}, have[2];
    OK(MPIX_Neighbor_alltoall(send, 1, MPI_INT, have, 1, MPI_INT, comm[round % 2]));
    CHECK(have[0] == -left && have[1] == right, "%d, %d", have[0], have[1]);
    const char *text = test_described(MPIX_NEIGHBOR_ALLTOALL, comm[round % 2]);
    CHECK(strstr(text, names[round % 2]), "%s", text);
  }
  MPI_Comm_free(&comm[0]);
  MPI_Comm_free(&comm[1]);
}

/* parts that no path of edges connects call a different number of times; and operations with
   different neighborhoods on one communicator */
static void disconnected(void) {
  MPI_Comm comm = test_duplicate();
  int mate = me ^ 1, degree = mate < n, got = -1, sum = -1;
  OK(MPIX_Neighbor_gather_set(degree, &mate, MPI_UNWEIGHTED, degree, &mate, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
  OK(MPIX_Neighbor_reduce_set(1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
  for (int i = 0; i < 10 * (me / 2); i++) {
    int send = me * 1000 + i;
    OK(MPIX_Neighbor_gather(&send, 1, MPI_INT, &got, 1, MPI_INT, comm));
    CHECK(got == (degree ? mate * 1000 + i : -1), "round %d: %d", i, got);
  }
  OK(MPIX_Neighbor_reduce(&me, 1, MPI_INT, &sum, 1, MPI_INT, MPI_SUM, comm));
  CHECK(sum == left, "%d", sum);
  MPI_Comm_free(&comm);
}

/* wildcard receives and sends of the user's with any tag never meet ours */
static void user_traffic(void) {
  MPI_Comm comm = test_duplicate();
  test_ring(ALL_OPERATIONS, MPI_INFO_NULL, comm);
  MPI_Request request;
  MPI_Status status;
  int mine = -1, *tag_ub, flag;
  MPI_Irecv(&mine, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request);
  for (int i = 0; i < 20; i++) ring(__LINE__, comm);
  /* a neighbor may be ahead: nobody sends before all have looked */
  CHECK(mine == -1, "our message went to the user: %d", mine);
  MPI_Comm_get_attr(comm, MPI_TAG_UB, &tag_ub, &flag);
  MPI_Barrier(comm);
  int send = me + 5;
  MPI_Send(&send, 1, MPI_INT, right, *tag_ub, comm);
  ring(__LINE__, comm);
  MPI_Wait(&request, &status);
  CHECK(mine == left + 5 && status.MPI_TAG == *tag_ub, "%d", mine);
  MPI_Comm_free(&comm);
}

static MPI_Comm described;

static void describing(void *in, void *inout, int *count, MPI_Datatype *type) {
  char text[200];
  int length;
  (void)type;
  OK(MPIX_Neighborhood_describe(MPIX_NEIGHBOR_REDUCE, described, sizeof text, text, &length));
  for (int i = 0; i < *count; i++) ((int *)inout)[i] += ((int *)in)[i];
}

/* a neighborhood is described while a collective runs on it */
static void described_within(void) {
  MPI_Op op;
  int ring[2] = {left, right}, sum = -1;
  MPI_Op_create(describing, 1, &op);
  described = test_duplicate();
  OK(MPIX_Neighborhood_set(ALL_OPERATIONS, 2, ring, MPI_UNWEIGHTED, 2, ring, MPI_UNWEIGHTED, MPI_INFO_NULL, described));
  OK(MPIX_Neighbor_reduce(&me, 1, MPI_INT, &sum, 1, MPI_INT, op, described));
  CHECK(sum == left + right, "%d", sum);
  MPI_Comm_free(&described);
  MPI_Op_free(&op);
}

/* how often an attribute of MPI_COMM_SELF, by which a program hears of MPI_Finalize, was deleted */
static int deleted;
static int count_deleted(MPI_Comm comm, int key, void *value, void *state) {
  (void)comm, (void)key, (void)value, (void)state;
  deleted++;
  return MPI_SUCCESS;
}

/* communicators of one process are made and freed, and the program hears of none of them */
static void of_one_process(void) {
  int key, sum;
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, count_deleted, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, &deleted);
  for (int k = 0; k < 3; k++) {
    MPI_Comm comm = test_duplicate();
    test_ring(ALL_OPERATIONS, MPI_INFO_NULL, comm);
    OK(MPIX_Neighbor_reduce(&me, 1, MPI_INT, &sum, 1, MPI_INT, MPI_SUM, comm));
    OK(MPIX_Neighborhood_free(ALL_OPERATIONS, comm));
    MPI_Comm_free(&comm);
  }
  CHECK(deleted == 0, "an attribute was deleted %d times", deleted);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  me = test_rank, n = test_size, left = (me + n - 1) % n, right = (me + 1) % n;
  of_one_process();
  many_lives();
  duplicates();
  early_free();
  other_buffers();
  two_schedules();
  disconnected();
  user_traffic();
  described_within();
  /* alive at MPI_Finalize: on the world, and on a communicator that is never freed */
  MPI_Comm forgotten = test_duplicate();
  test_ring(ALL_OPERATIONS, MPI_INFO_NULL, forgotten);
  test_ring(ALL_OPERATIONS, MPI_INFO_NULL, MPI_COMM_WORLD);
  ring(__LINE__, MPI_COMM_WORLD);
  return test_finish();
}
