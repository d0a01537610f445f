/* Blocks that are put into windows: lengths around every limit, datatypes, repeated edges, requests
   that wait for one another's turn, neighborhoods set anew, what people read, and hints that are
   wrong. Run without shared memory, or with nodes of one process, so that edges go by puts. */
#include "flaws.h"

enum { MOST = 300000, CALLS = 5 };

/* an operator that does not commute: what comes last in the order of the sources */
static void take_last(void *from, void *into, int *length, MPI_Datatype *type) {
  (void)from, (void)into, (void)length, (void)type;
}

static int me, n;
/* true if a barrier of all processes ends each call */
static int fenced;

static void set_hint(MPI_Info info, const char *key, const char *value) { MPI_Info_set(info, key, value); }

static MPI_Info hints(void) {
  MPI_Info info;
  MPI_Info_create(&info);
  set_hint(info, "mpix_schedule", "direct");
  set_hint(info, "mpix_transport", "rma");
  return info;
}

static char value(int from, int to, int call, int i) { return (char)(7 * from + 3 * to + 11 * call + i + i / 127); }

/* true if the description says that blocks are put */
static int puts_blocks(MPI_Comm comm, int operation) {
  const char *text = test_described(operation, comm);
  CHECK(strstr(text, "transport: "), "%s", text);
  return strstr(text, "transport: puts") != NULL;
}

/* all processes to all others, blocks of any length */
static void lengths(void) {
  static const int bytes[] = {0, 1, 8, 4095, 4096, 65535, 65536, 65537, MOST};
  MPI_Comm comm = test_duplicate();
  int *all = malloc((size_t)n * sizeof *all);
  for (int r = 0; r < n; r++) all[r] = r;
  MPI_Info info = hints();
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL | MPIX_NEIGHBOR_GATHER, n, all, MPI_UNWEIGHTED, n, all, MPI_UNWEIGHTED, info, comm));
  if (n > 1) CHECK(puts_blocks(comm, MPIX_NEIGHBOR_ALLTOALL), "blocks are not put");
  char *send = malloc((size_t)n * MOST), *have = malloc((size_t)n * MOST);
  for (int k = 0; k < (int)(sizeof bytes / sizeof *bytes); k++) {
    int b = bytes[k], bad = 0;
    for (int r = 0; r < n; r++)
      for (int i = 0; i < b; i++) send[(size_t)r * (size_t)b + (size_t)i] = value(me, r, k, i);
    memset(have, 0, (size_t)n * (size_t)b);
    OK(MPIX_Neighbor_alltoall(send, b, MPI_BYTE, have, b, MPI_BYTE, comm));
    for (int r = 0; r < n; r++)
      for (int i = 0; i < b; i++) bad += have[(size_t)r * (size_t)b + (size_t)i] != value(r, me, k, i);
    CHECK(bad == 0, "%d bytes: %d are wrong", b, bad);
    memset(have, 0, (size_t)n * (size_t)b);
    OK(MPIX_Neighbor_gather(send, b, MPI_BYTE, have, b, MPI_BYTE, comm));
    bad = 0;
    for (int r = 0; r < n; r++)
      for (int i = 0; i < b; i++) bad += have[(size_t)r * (size_t)b + (size_t)i] != value(r, 0, k, i);
    CHECK(bad == 0, "gather, %d bytes: %d are wrong", b, bad);
  }
  free(send), free(have), free(all);
  MPI_Info_free(&info);
  MPI_Comm_free(&comm);
}

/* each edge twice, blocks of every other element, of different counts: some fit their slot, the
   others do not */
static void vectors(void) {
  MPI_Comm comm = test_duplicate();
  int left = (me + n - 1) % n, right = (me + 1) % n;
  int sources[] = {left, MPI_PROC_NULL, left}, targets[] = {right, right, MPI_PROC_NULL}, weights[] = {2, 1, 1};
  MPI_Info info = hints();
  set_hint(info, "mpix_weight_unit", "1000");
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, 3, sources, weights, 3, targets, weights, info, comm));
  MPI_Info_free(&info);
  MPI_Datatype every_other;
  MPI_Type_vector(1000, 1, 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  static int send[2][2000], have[2][2000];
  for (int call = 0; call < CALLS; call++) {
    int elements = call % 2 ? 1 : 1000, bad = 0;
    MPI_Datatype type = call % 2 ? MPI_INT : every_other;
    for (int b = 0; b < 2; b++)
      for (int i = 0; i < 2000; i++) send[b][i] = me * 10000 + b * 5000 + call + i, have[b][i] = -1;
    int counts[] = {1, 1, 0}, displs[] = {0, 2000 * (int)sizeof(int), 0};
    int recv_counts[] = {1, 0, 1}, recv_displs[] = {0, 0, 2000 * (int)sizeof(int)};
    MPI_Datatype types[] = {type, type, type};
    if (call < 2) {
      MPI_Aint wide[] = {0, 2000 * (MPI_Aint)sizeof(int), 0}, recv_wide[] = {0, 0, 2000 * (MPI_Aint)sizeof(int)};
      OK(MPIX_Neighbor_alltoallw(send, counts, wide, types, have, recv_counts, recv_wide, types, comm));
    } else {
      MPI_Datatype bytes_apart;
      MPI_Type_create_resized(type, 0, 1, &bytes_apart);
      MPI_Type_commit(&bytes_apart);
      OK(MPIX_Neighbor_alltoallv(send, counts, displs, bytes_apart, have, recv_counts, recv_displs, bytes_apart, comm));
      MPI_Type_free(&bytes_apart);
    }
    for (int b = 0; b < 2; b++)
      for (int i = 0; i < 2000; i++) {
        int sent = i % 2 == 0 && i / 2 < elements;
        bad += have[b][i] != (sent ? left * 10000 + b * 5000 + call + i : -1);
      }
    CHECK(bad == 0, "call %d: %d are wrong", call, bad);
  }
  MPI_Type_free(&every_other);
  MPI_Comm_free(&comm);
}

/* requests and plans that are under way together, completed in any order, and blocking calls among
   them */
static void requests(void) {
  MPI_Comm comm = test_duplicate();
  int left = (me + n - 1) % n, right = (me + 1) % n, send[CALLS], have[CALLS], plan_have = -1;
  MPI_Info info = hints();
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, info, comm));
  MPIX_Request request[CALLS], plan;
  OK(MPIX_Neighbor_alltoall_plan(&me, 1, MPI_INT, &plan_have, 1, MPI_INT, comm, MPI_INFO_NULL, &plan));
  for (int round = 0; round < 20; round++) {
    for (int k = 0; k < CALLS; k++) {
      send[k] = 100 * me + 10 * round + k, have[k] = -1;
      if (k == CALLS / 2) {
        plan_have = -1;
        OK(MPIX_Request_start(&plan));
      }
      /* whether a call blocks is each process's own affair */
      if (k + 1 < CALLS || (me + round) % 2) {
        OK(MPIX_Ineighbor_alltoall(&send[k], 1, MPI_INT, &have[k], 1, MPI_INT, comm, &request[k]));
      } else {
        OK(MPIX_Neighbor_alltoall(&send[k], 1, MPI_INT, &have[k], 1, MPI_INT, comm));
        request[k] = NULL;
      }
    }
    for (int k = CALLS; k-- > 0;) OK(MPIX_Request_wait(&request[k]));
    OK(MPIX_Request_wait(&plan));
    CHECK(plan_have == left, "plan: %d", plan_have);
    for (int k = 0; k < CALLS; k++) CHECK(have[k] == 100 * left + 10 * round + k, "request %d: %d", k, have[k]);
  }
  /* set anew while the plan lives: its window stays */
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, 1, &right, MPI_UNWEIGHTED, 1, &left, MPI_UNWEIGHTED, info, comm));
  OK(MPIX_Neighbor_alltoall(&me, 1, MPI_INT, &have[0], 1, MPI_INT, comm));
  CHECK(have[0] == right, "the other way round: %d", have[0]);
  OK(MPIX_Request_free(&plan));
  MPI_Info_free(&info);
  MPI_Comm_free(&comm);
}

/* no edges at all on some processes, and only one way on others */
static void one_way(void) {
  MPI_Comm comm = test_duplicate();
  int zero = 0, one = 1, have = -1, two = n >= 2;
  MPI_Info info = hints();
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, me == 1 && two, &zero, MPI_UNWEIGHTED, me == 0 && two, &one, MPI_UNWEIGHTED, info, comm));
  for (int i = 0; i < 50; i++) {
    int what = i + 5;
    OK(MPIX_Neighbor_alltoall(&what, 1, MPI_INT, &have, 1, MPI_INT, comm));
    CHECK(have == (me == 1 && two ? i + 5 : -1), "%d", have);
  }
  MPI_Info_free(&info);
  MPI_Comm_free(&comm);
}

/* A source that is done need not wait for the other targets of its source: 0 sends to 1 and 2, and
   2 starts only when 1, which has its block, says so. */
static void late_target(void) {
  MPI_Comm comm = test_duplicate();
  int zero = 0, targets[] = {1, 2}, have = -1, what[] = {7, 8}, receives = me == 1 || me == 2;
  MPI_Info info = hints();
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, receives, &zero, MPI_UNWEIGHTED, me ? 0 : 2, targets, MPI_UNWEIGHTED, info, comm));
  for (int round = 0; round < 20; round++) {
    if (me == 2) MPI_Recv(NULL, 0, MPI_INT, 1, 0, comm, MPI_STATUS_IGNORE);
    have = -1;
    OK(MPIX_Neighbor_alltoall(what, 1, MPI_INT, &have, 1, MPI_INT, comm));
    if (me == 1) MPI_Send(NULL, 0, MPI_INT, 2, 0, comm);
    CHECK(have == (receives ? 6 + me : -1), "round %d: %d", round, have);
  }
  MPI_Info_free(&info);
  MPI_Comm_free(&comm);
}

/* With a passive target, a block is there as soon as its source has put it: 0 gets that of 1 before
   2 starts, and tells 2 so. */
static void by_source(void) {
  MPI_Comm comm = test_duplicate();
  int zero = 0, sources[] = {1, 2}, have[2], sends = me == 1 || me == 2;
  MPI_Info info = hints();
  set_hint(info, "mpix_rma_synchronization", "passive");
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, me ? 0 : 2, sources, MPI_UNWEIGHTED, sends, &zero, MPI_UNWEIGHTED, info, comm));
  for (int round = 0; round < 20; round++) {
    int what = 10 * me + round;
    have[0] = have[1] = -1;
    if (me == 2) MPI_Recv(NULL, 0, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
    MPIX_Request request;
    OK(MPIX_Ineighbor_alltoall(&what, 1, MPI_INT, have, 1, MPI_INT, comm, &request));
    if (me == 0) {
      OK(MPIX_Request_wait_source(request, 0));
      CHECK(have[0] == 10 + round, "round %d: %d", round, have[0]);
      MPI_Send(NULL, 0, MPI_INT, 2, 0, comm);
    }
    OK(MPIX_Request_wait(&request));
    if (me == 0) CHECK(have[0] == 10 + round && have[1] == 20 + round, "round %d: %d, %d", round, have[0], have[1]);
  }
  MPI_Info_free(&info);
  MPI_Comm_free(&comm);
}

/* a block that is longer than its place: an error at the receiver, and the next call is right */
static void too_long(void) {
  MPI_Comm comm = test_duplicate();
  int left = (me + n - 1) % n, right = (me + 1) % n;
  MPI_Info info = hints();
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, info, comm));
  static char send[MOST], have[MOST];
  static const int longest[] = {100, MOST};
  for (int k = 0; k < 2 && n > 1; k++) {
    int bytes = longest[k], class = MPI_SUCCESS, last = -1;
    memset(have, 1, sizeof have);
    MPI_Error_class(MPIX_Neighbor_alltoallv(send, &bytes, &(int){0}, MPI_BYTE, have, &(int){bytes / 2}, &(int){0}, MPI_BYTE, comm), &class);
    CHECK(class == MPI_ERR_TRUNCATE, "%d bytes: class %d", bytes, class);
    CHECK(have[bytes / 2] == 1, "the block was overrun");
    OK(MPIX_Neighbor_alltoall(&me, 1, MPI_INT, &last, 1, MPI_INT, comm));
    CHECK(last == left, "the call after the error: %d", last);
  }
  MPI_Info_free(&info);
  MPI_Comm_free(&comm);
}

/* cases that take messages after all, and say why */
static void describes(void) {
  int left = (me + n - 1) % n, right = (me + 1) % n;
  const char *text, *cases[][3] = {
      {"mpix_transport", "messages", "transport: messages\n"},
      {"mpix_transport", "auto", "transport: messages, as no weights say how long blocks are"},
      {"mpix_schedule", "edge_coloring", n > 1 ? "transport: puts" : "transport: "},
  };
  for (int k = 0; k < 3; k++) {
    MPI_Comm comm = test_duplicate();
    MPI_Info info = hints();
    set_hint(info, cases[k][0], cases[k][1]);
    OK(MPIX_Neighborhood_set(ALL_OPERATIONS, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, info, comm));
    text = test_described(MPIX_NEIGHBOR_REDUCE, comm);
    CHECK(strstr(text, cases[k][2]), "%s = %s: %s", cases[k][0], cases[k][1], text);
    /* rounds are put */
    if (n > 1) CHECK(puts_blocks(comm, MPIX_NEIGHBOR_ALLTOALL) == (k == 2), "%s = %s", cases[k][0], cases[k][1]);
    MPI_Info_free(&info);
    MPI_Comm_free(&comm);
  }
  MPI_Comm comm = test_duplicate();
  MPI_Info info = hints();
  OK(MPIX_Neighborhood_set(ALL_OPERATIONS, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, info, comm));
  text = test_described(MPIX_NEIGHBOR_REDUCE, comm);
  if (n > 1) CHECK(strstr(text, "transport: puts"), "%s", text);
  /* puts that this MPI may read late, or whose end it says too early */
  if (n > 1 && are_epochs_flawed() && !fenced) CHECK(strstr(text, "put, flush, flag"), "%s", text);
  if (n > 1 && fenced) CHECK(strstr(text, "(put, flush, barrier of all processes)"), "%s", text);
  set_hint(info, "mpix_transport", "pigeons");
  int class;
  MPI_Error_class(MPIX_Neighborhood_set(ALL_OPERATIONS, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, info, comm), &class);
  CHECK(class == MPI_ERR_INFO_VALUE, "class %d", class);
  set_hint(info, "mpix_transport", me ? "rma" : "messages");
  MPI_Error_class(MPIX_Neighborhood_set(ALL_OPERATIONS, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, info, comm), &class);
  CHECK((class == MPI_SUCCESS) == (n == 1), "processes disagree: class %d", class);
  MPI_Info_free(&info);
  MPI_Comm_free(&comm);
}

/* The first calls are timed, by different schedules: all of them put, also blocks that are
   combined, until the description says which has won. */
static void measured(void) {
  const char *text = NULL;
  MPI_Comm comm = test_duplicate();
  int *all = malloc((size_t)n * sizeof *all), sum = -1, calls = 0;
  for (int r = 0; r < n; r++) all[r] = r;
  MPI_Info info = hints();
  set_hint(info, "mpix_schedule", "measure");
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_REDUCE, n, all, MPI_UNWEIGHTED, n, all, MPI_UNWEIGHTED, info, comm));
  for (int call = 0; call < 3000; call++) {
    CHECK(puts_blocks(comm, MPIX_NEIGHBOR_REDUCE), "call %d: blocks are not put", call);
    text = test_described(MPIX_NEIGHBOR_REDUCE, comm);
    if (!strstr(text, "compare")) break;
    OK(MPIX_Neighbor_reduce(&call, 1, MPI_INT, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == n * call, "call %d: %d", call, sum);
    calls++;
  }
  CHECK(calls > 0 && !strstr(text, "compare"), "after %d calls: %s", calls, text);
  free(all);
  MPI_Info_free(&info);
  MPI_Comm_free(&comm);
}

/* A schedule of rounds: blocks that are combined are put in each, and those of all rounds are
   combined in the order of the sources; a block that is too short is an error. */
static void in_rounds(void) {
  MPI_Comm comm = test_duplicate();
  int *all = malloc((size_t)n * sizeof *all);
  for (int r = 0; r < n; r++) all[r] = (me + r) % n;
  MPI_Info info = hints();
  set_hint(info, "mpix_schedule", "linear_permutation");
  OK(MPIX_Neighborhood_set(ALL_OPERATIONS, n, all, MPI_UNWEIGHTED, n, all, MPI_UNWEIGHTED, info, comm));
  if (n > 1) CHECK(puts_blocks(comm, MPIX_NEIGHBOR_REDUCE) && puts_blocks(comm, MPIX_NEIGHBOR_ACCUMULATE), "blocks are not put");
  MPI_Op last;
  MPI_Op_create(take_last, 0, &last);
  int *send = malloc((size_t)n * sizeof *send), *have = malloc((size_t)n * sizeof *have);
  for (int call = 0; call < CALLS; call++) {
    int what = 100 * me + call, got = -1;
    OK(MPIX_Neighbor_reduce(&what, 1, MPI_INT, &got, 1, MPI_INT, last, comm));
    CHECK(got == 100 * all[n - 1] + call, "reduce, call %d: %d", call, got);
    MPIX_Request request;
    int sum = -1;
    OK(MPIX_Ineighbor_reduce(&what, 1, MPI_INT, &sum, 1, MPI_INT, MPI_SUM, comm, &request));
    OK(MPIX_Request_wait(&request));
    CHECK(sum == 100 * (n * (n - 1) / 2) + n * call, "sum, call %d: %d", call, sum);
    for (int r = 0; r < n; r++) send[r] = what + 10 * all[r], have[r] = 7;
    OK(MPIX_Neighbor_accumulate(send, 1, MPI_INT, have, 1, MPI_INT, MPI_SUM, comm));
    for (int r = 0; r < n; r++) CHECK(have[r] == 7 + 100 * all[r] + call + 10 * me, "accumulate, call %d: %d from %d", call, have[r], all[r]);
  }
  if (n > 1) {
    int class = MPI_SUCCESS, two[2] = {1, 1}, sum[2] = {-1, -1};
    MPI_Error_class(MPIX_Neighbor_reduce(two, me ? 2 : 1, MPI_INT, sum, me ? 2 : 1, MPI_INT, MPI_SUM, comm), &class);
    CHECK(class == MPI_ERR_TRUNCATE, "blocks of different lengths: class %d", class);
    OK(MPIX_Neighbor_reduce(two, 2, MPI_INT, sum, 2, MPI_INT, MPI_SUM, comm));
    CHECK(sum[0] == n && sum[1] == n, "the call after the error: %d, %d", sum[0], sum[1]);
  }
  free(send), free(have), free(all);
  MPI_Op_free(&last);
  MPI_Info_free(&info);
  MPI_Comm_free(&comm);
}

/* two halves of the processes at the same time: where windows of parts are not safe, messages */
static void parts(void) {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half);
  int rank, size, have = -1;
  MPI_Comm_rank(half, &rank);
  MPI_Comm_size(half, &size);
  int left = (rank + size - 1) % size, right = (rank + 1) % size;
  MPI_Info info = hints();
  OK(MPIX_Neighborhood_set(ALL_OPERATIONS, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, info, half));
  for (int i = 0; i < 20; i++) {
    int what = 10 * rank + i;
    OK(MPIX_Neighbor_gather(&what, 1, MPI_INT, &have, 1, MPI_INT, half));
    CHECK(have == 10 * left + i, "%d", have);
  }
  puts_blocks(half, MPIX_NEIGHBOR_GATHER);
  MPI_Info_free(&info);
  MPI_Comm_free(&half);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  me = test_rank, n = test_size;
  const char *how = getenv("MPIX_RMA_SYNCHRONIZATION");
  fenced = how && !strcmp(how, "fence");
  lengths();
  vectors();
  requests();
  one_way();
  if (n >= 3 && !fenced) late_target();
  if (n >= 3 && !fenced) by_source();
  too_long();
  describes();
  /* hundreds of calls, which take long where processes share cores */
  if (n == 2) measured();
  in_rounds();
  parts();
  return test_finish();
}
