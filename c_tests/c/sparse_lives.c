/* Lifetimes: sparse exchanges on halves of a split that call a different number of times,
   on duplicates, on communicators that come and go by the hundred, on MPI_COMM_SELF, and everything
   that is never freed. */
#include "sparse.h"

static int me, n;

/* Making a communicator takes long where more processes than cores spin: then each protocol gets
   its turn on some number of processes. */
static int left_out(int p) { return n > 4 && (p + n) % 3; }

/* the parts of a split do not wait for each other: nothing is collective over more than the
   communicator */
static void halves(void) {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &half);
  MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
  for (int p = 0; p < PROTOCOLS; p++) {
    MPI_Info info = test_hint("mpix_sparse", protocols[p]);
    int times = me % 2 ? 2 : fewer(10) + p % 3;
    for (int r = 0; r < times; r++) exchange("half", r % 4 ? &FEW_SHORT : &MIXED_LENGTHS, r, info, half);
    exchange("world", &FEW_SHORT, p, info, MPI_COMM_WORLD);
    MPI_Info_free(&info);
  }
  MPI_Comm_free(&half);
}

/* a duplicate has wires of its own */
static void duplicates(void) {
  for (int p = 0; p < PROTOCOLS; p++) {
    if (left_out(p)) continue;
    MPI_Comm comm, copy;
    MPI_Info info = test_hint("mpix_sparse", protocols[p]);
    comm = test_duplicate();
    exchange("original", &FEW_SHORT, p, info, comm);
    MPI_Comm_dup(comm, &copy);
    /* an exchange runs on one while the other is used from its first to its last */
    list l = list_of(&MIXED_LENGTHS, me, p, n);
    char *data = contents(&MIXED_LENGTHS, &l, me, p);
    MPIX_Sparse_request request;
    MPIX_Sparse_result result = NULL;
    OK(MPIX_Isparse_exchange(l.n, l.targets, data, l.lengths, l.displs, MPI_BYTE, MPI_BYTE, info, comm, &request));
    exchange("duplicate", &FEW_SHORT, p + 1, info, copy);
    MPI_Comm_free(&copy);
    OK(MPIX_Sparse_wait(&request, &result));
    check_result("original", &MIXED_LENGTHS, p, result, me, n);
    OK(MPIX_Sparse_free(&result));
    exchange("original", &FEW_SHORT, p + 2, info, comm);
    MPI_Comm_free(&comm);
    MPI_Info_free(&info);
    free(data);
    list_free(&l);
  }
}

/* MPICH has 2,048 communicators, Open MPI's numbers grow: a leak of one private communicator or
   window a round is found by either */
static void many_lives(void) {
  int rounds = n <= 1 ? 1200 : n == 2 ? 400 : n <= 4 ? 10 : 3;
  for (int i = 0; i < rounds; i++) {
    MPI_Comm comm = test_duplicate();
    /* a window takes longer to make than all else */
    int p = (i + n) % PROTOCOLS;
    if (strcmp(protocols[p], "rsx") == 0 && i % 4) p = 1;
    MPI_Info info = test_hint("mpix_sparse", protocols[p]);
    MPI_Info_set(info, "mpix_node_size", i % 2 ? "1" : "2");
    exchange("short life", &FEW_SHORT, i, info, comm);
    MPI_Info_set(info, "mpix_node_size", "3");
    if (i % 5 == 0) exchange("short life", &FEW_SHORT, i + 1, info, comm);
    MPI_Info_free(&info);
    MPI_Comm_free(&comm);
  }
}

static void alone(void) {
  for (int p = 0; p < PROTOCOLS; p++) {
    MPI_Info info = test_hint("mpix_sparse", protocols[p]);
    for (int r = 0; r < 5; r++) exchange("self", r % 2 ? &FEW_SHORT : &MIXED_LENGTHS, r, info, MPI_COMM_SELF);
    MPI_Info_free(&info);
  }
}

/* plans and results of a communicator that is gone */
static void orphans(void) {
  for (int p = 0; p < PROTOCOLS; p++) {
    if (left_out(p + 1)) continue;
    MPI_Comm comm;
    MPI_Info info = test_hint("mpix_sparse", protocols[p]);
    comm = test_duplicate();
    int right = (me + 1) % n, left = (me + n - 1) % n, value = 100 * me;
    MPIX_Sparse_plan plan;
    MPIX_Sparse_request request;
    MPIX_Sparse_result result, own = NULL;
    int one = 1, zero = 0;
    OK(MPIX_Sparse_plan_create(1, &right, &value, &one, &zero, MPI_INT, MPI_INT, info, comm, &plan));
    OK(MPIX_Isparse_exchange(1, &right, &value, &one, &zero, MPI_INT, MPI_INT, info, comm, &request));
    MPI_Info_free(&info);
    MPI_Comm_free(&comm);
    OK(MPIX_Sparse_wait(&request, &own));
    value++;
    OK(MPIX_Sparse_plan_start(plan));
    OK(MPIX_Sparse_plan_wait(plan));
    OK(MPIX_Sparse_plan_result(plan, &result));
    int source, *got[2];
    MPI_Count count;
    OK(MPIX_Sparse_get_message(own, 0, &source, &count, (void **)&got[0]));
    OK(MPIX_Sparse_get_message(result, 0, &source, &count, (void **)&got[1]));
    CHECK(*got[0] == 100 * left && *got[1] == 100 * left + 1, "%d, %d", *got[0], *got[1]);
    OK(MPIX_Sparse_free(&own));
    OK(MPIX_Sparse_plan_free(&plan));
  }
}

/* a communicator that some free before they wait for an exchange, and others after */
static void freed_meanwhile(void) {
  for (int p = 0; p < PROTOCOLS; p++) {
    if (left_out(p)) continue;
    MPI_Comm comm = test_duplicate();
    MPI_Info info = test_hint("mpix_sparse", protocols[p]);
    /* what a protocol makes is there before the exchange */
    exchange("first", &FEW_SHORT, p, info, comm);
    int right = (me + 1) % n, left = (me + n - 1) % n, one = 1, zero = 0, source, *got;
    MPI_Count count;
    MPIX_Sparse_request request;
    MPIX_Sparse_result result = NULL;
    OK(MPIX_Isparse_exchange(1, &right, &me, &one, &zero, MPI_INT, MPI_INT, info, comm, &request));
    MPI_Info_free(&info);
    if (me % 2 == 0) MPI_Comm_free(&comm);
    OK(MPIX_Sparse_wait(&request, &result));
    if (me % 2) MPI_Comm_free(&comm);
    OK(MPIX_Sparse_get_message(result, 0, &source, &count, (void **)&got));
    CHECK(source == left && *got == left, "%s: %d from %d", protocols[p], *got, source);
    OK(MPIX_Sparse_free(&result));
    /* one that may get the numbers of what is gone */
    exchange("next", &FEW_SHORT, p, MPI_INFO_NULL, MPI_COMM_WORLD);
  }
}

/* alive at MPI_Finalize: wires with all protocols' belongings, on the world, a part of it,
   MPI_COMM_SELF and a communicator that is never freed; results and plans */
static void leave_behind(void) {
  MPI_Comm comms[4] = {MPI_COMM_WORLD, MPI_COMM_SELF};
  comms[2] = test_duplicate();
  MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &comms[3]);
  for (int k = 0; k < 4; k++) {
    MPI_Comm comm = comms[k];
    for (int p = 0; p < PROTOCOLS; p++) {
      if (left_out(p + 2)) continue;
      MPI_Info info = test_hint("mpix_sparse", protocols[p]); /* never freed either */
      int size, rank, one = 1, zero = 0;
      MPI_Comm_size(comm, &size), MPI_Comm_rank(comm, &rank);
      int right = (rank + 1) % size;
      static int value = 7;
      MPIX_Sparse_plan plan;
      MPIX_Sparse_result result;
      OK(MPIX_Sparse_plan_create(1, &right, &value, &one, &zero, MPI_INT, MPI_INT, info, comm, &plan));
      OK(MPIX_Sparse_plan_start(plan));
      OK(MPIX_Sparse_plan_wait(plan));
      OK(MPIX_Sparse_exchange(1, &right, &value, &one, &zero, MPI_INT, MPI_INT, info, comm, &result));
    }
  }
}

/* the MPI has two tags for plans: one that is free is taken, and none that an older plan has */
static int two_tags;
int MPI_Comm_get_attr(MPI_Comm comm, int key, void *value, int *found) {
  static int largest = 17;
  if (!two_tags || key != MPI_TAG_UB) return PMPI_Comm_get_attr(comm, key, value, found);
  *(int **)value = &largest;
  return *found = 1, MPI_SUCCESS;
}

static int make_plan(MPI_Comm comm, MPIX_Sparse_plan *plan) {
  static int value = 7;
  int right = (me + 1) % n, one = 1, zero = 0;
  return MPIX_Sparse_plan_create(1, &right, &value, &one, &zero, MPI_INT, MPI_INT, MPI_INFO_NULL, comm, plan);
}

static void tags(void) {
  MPI_Comm comm = test_duplicate();
  MPIX_Sparse_plan plans[2], plan = NULL;
  two_tags = 1;
  OK(make_plan(comm, &plans[0]));
  two_tags = 0;
  OK(make_plan(comm, &plans[1]));
  for (int k = 0; k < 2; k++) CHECK(make_plan(comm, &plan) != MPI_SUCCESS && plan == NULL, "a third plan");
  /* one process has freed it, and the others have not */
  if (me == 0) OK(MPIX_Sparse_plan_free(&plans[0]));
  CHECK(n == 1 || (make_plan(comm, &plan) != MPI_SUCCESS && plan == NULL), "the tag of a plan that others have");
  if (me != 0) OK(MPIX_Sparse_plan_free(&plans[0]));
  /* the turn of the other one's */
  if (n > 1) CHECK(make_plan(comm, &plan) != MPI_SUCCESS && plan == NULL, "the tag of the other plan");
  OK(make_plan(comm, &plan));
  for (int k = 0; k < 3; k++) {
    OK(MPIX_Sparse_plan_start(plan));
    OK(MPIX_Sparse_plan_start(plans[1]));
    OK(MPIX_Sparse_plan_wait(plans[1]));
    OK(MPIX_Sparse_plan_wait(plan));
  }
  OK(MPIX_Sparse_plan_free(&plan));
  OK(MPIX_Sparse_plan_free(&plans[1]));
  MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  me = test_rank, n = test_size;
  halves();
  duplicates();
  many_lives();
  alone();
  orphans();
  freed_meanwhile();
  tags();
  leave_behind();
  return test_finish();
}
