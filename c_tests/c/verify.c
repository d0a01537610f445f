/* Verification mode: mismatches are reported by rank and edge on both ends, nothing hangs, edges
   that fit carry their data, and the next call works. Switched on by info key, or by the
   environment in the second half of the table's runs. */
#include "forms.h"

static int me, n, left, right, verify_class;

/* the call on this process gave the verification error, and its text holds `text` */
static void expect(int line, int code, const char *text) {
  int class = -1, length;
  char have[4000] = "";
  MPI_Error_class(code, &class);
  MPIX_Neighbor_error_string(MPI_COMM_WORLD, sizeof have, have, &length);
  CHECK(class == verify_class, "line %d: class %d: %s", line, class, have);
  CHECK(strstr(have, text), "line %d: \"%s\" does not hold \"%s\"", line, have, text);
}

static void set(MPI_Info info) {
  /* a ring: from the left, to the right; and to oneself */
  int sources[2] = {left, me}, targets[2] = {right, me};
  OK(MPIX_Neighborhood_set(ALL_OPERATIONS, 2, sources, MPI_UNWEIGHTED, 2, targets, MPI_UNWEIGHTED, info, MPI_COMM_WORLD));
}

static void all_well(int line) {
  int send[2] = {me, me + 100}, have[2] = {-1, -1}, sum = -1;
  OK(MPIX_Neighbor_alltoall(send, 1, MPI_INT, have, 1, MPI_INT, MPI_COMM_WORLD));
  CHECK(have[0] == left && have[1] == me + 100, "line %d: %d, %d", line, have[0], have[1]);
  OK(MPIX_Neighbor_gather(&me, 1, MPI_INT, have, 1, MPI_INT, MPI_COMM_WORLD));
  CHECK(have[0] == left && have[1] == me, "line %d: %d, %d", line, have[0], have[1]);
  OK(MPIX_Neighbor_reduce(&me, 1, MPI_INT, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK(sum == left + me, "line %d: %d", line, sum);
}

/* process 0 sends two elements more than process 1 expects */
static void too_much(void) {
  enum { SIZE = 8 };
  int send[2 * SIZE], have[2 * SIZE], counts[2] = {2, 2}, more[2] = {4, 2}, displs[2] = {0, SIZE};
  for (int i = 0; i < 2 * SIZE; i++) send[i] = me * 100 + i, have[i] = -1;
  int rc = MPIX_Neighbor_alltoallv(send, me == 0 ? more : counts, displs, MPI_INT, have, counts, displs, MPI_INT, MPI_COMM_WORLD);
  char text[300];
  if (me == 1) {
    snprintf(text, sizeof text, "sources[0], process 0, sends 16 bytes (4 elements of 4 bytes) in an alltoall, but process 1 expects 8 bytes (2 elements of 4 bytes)");
    expect(__LINE__, rc, text);
    CHECK(have[0] == -1, "a block that does not fit was written");
  } else if (me == 0) {
    snprintf(text, sizeof text, "targets[0], process 1, expects in its sources[0] 8 bytes (2 elements of 4 bytes)");
    expect(__LINE__, rc, text);
  } else {
    CHECK(rc == MPI_SUCCESS, "process that has nothing to do with it: %d", rc);
  }
  /* all other edges carried their data */
  if (me != 1) CHECK(have[0] == left * 100 && have[1] == left * 100 + 1, "good edge: %d, %d", have[0], have[1]);
  CHECK(have[SIZE] == me * 100 + SIZE, "self edge: %d", have[SIZE]);
  all_well(__LINE__);
}

/* process 0 gathers where all others call alltoall */
static void other_operation(void) {
  int send[2] = {me, me}, have[2] = {-1, -1}, rc;
  if (me == 0) rc = MPIX_Neighbor_gather(send, 1, MPI_INT, have, 1, MPI_INT, MPI_COMM_WORLD);
  else rc = MPIX_Neighbor_alltoall(send, 1, MPI_INT, have, 1, MPI_INT, MPI_COMM_WORLD);
  if (me == 1) expect(__LINE__, rc, "sources[0], process 0, sends 4 bytes (1 elements of 4 bytes) in a gather, but process 1 expects 4 bytes (1 elements of 4 bytes) in an alltoall");
  else if (me == 0) expect(__LINE__, rc, "in an alltoall");
  else if (right != 0) CHECK(rc == MPI_SUCCESS, "%d", rc);
  all_well(__LINE__);
}

/* a process whose own arguments are in error leaves no one waiting */
static void bad_arguments(void) {
  int send[2] = {me, me}, have[2] = {-1, -1}, class = -1;
  int rc = MPIX_Neighbor_alltoall(send, me == 0 ? -1 : 1, MPI_INT, have, 1, MPI_INT, MPI_COMM_WORLD);
  if (me == 0) {
    MPI_Error_class(rc, &class);
    CHECK(class == MPI_ERR_COUNT, "class %d", class);
  } else if (left == 0) {
    expect(__LINE__, rc, "process 0, sends nothing, as its arguments are in error");
  }
  all_well(__LINE__);
  /* also where the error shows late: a datatype that is not committed, an operator that does not
     fit, no buffer */
  MPI_Datatype uncommitted;
  MPI_Type_contiguous(1, MPI_INT, &uncommitted);
  static const int classes[] = {MPI_ERR_TYPE, MPI_ERR_OP, MPI_ERR_BUFFER};
  for (int kind = 0; kind < 3; kind++) {
    float number = 1, result;
    if (kind == 0) rc = MPIX_Neighbor_alltoall(send, 1, me == 0 ? uncommitted : MPI_INT, have, 1, MPI_INT, MPI_COMM_WORLD);
    if (kind == 1) rc = MPIX_Neighbor_reduce(&number, 1, MPI_FLOAT, &result, 1, MPI_FLOAT, me == 0 ? MPI_BAND : MPI_SUM, MPI_COMM_WORLD);
    if (kind == 2) rc = MPIX_Neighbor_alltoall(me == 0 ? NULL : send, 1, MPI_INT, have, 1, MPI_INT, MPI_COMM_WORLD);
    if (me == 0) {
      MPI_Error_class(rc, &class);
      CHECK(class == classes[kind], "kind %d: class %d", kind, class);
    } else if (left == 0) {
      expect(__LINE__, rc, "process 0, sends nothing, as its arguments are in error");
    }
    all_well(__LINE__);
  }
  MPI_Type_free(&uncommitted);
}

static void reduction(void) {
  int send[2] = {me, 1}, have[2] = {-1, -1};
  int rc = MPIX_Neighbor_reduce(send, me == 0 ? 2 : 1, MPI_INT, have, me == 0 ? 2 : 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (me == 1) expect(__LINE__, rc, "sources[0], process 0, sends 8 bytes (2 elements of 4 bytes) in a reduce");
  else if (me == 0 || right == 0) CHECK(rc != MPI_SUCCESS, "not found");
  else CHECK(rc == MPI_SUCCESS && have[0] == left + me, "%d: %d", rc, have[0]);
  all_well(__LINE__);
}

/* of what process 0 sends to process 1 nothing is added there, and all else is */
static void accumulated(void) {
  int send[4] = {me, me + 1, me + 2, me + 3}, have[3] = {1000, 2000, 3000}, counts[2] = {1, 2}, more[2] = {2, 2}, displs[2] = {0, 2}, places[2] = {0, 1};
  int rc = MPIX_Neighbor_accumulatev(send, me == 0 ? more : counts, displs, MPI_INT, have, counts, places, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (me == 1) expect(__LINE__, rc, "sources[0], process 0, sends 8 bytes (2 elements of 4 bytes) in an accumulate, but process 1 expects 4 bytes (1 elements of 4 bytes)");
  else if (me == 0) expect(__LINE__, rc, "targets[0], process 1, expects in its sources[0] 4 bytes");
  else CHECK(rc == MPI_SUCCESS, "process that has nothing to do with it: %d", rc);
  CHECK(have[0] == (me == 1 ? 1000 : 1000 + left), "from the left: %d", have[0]);
  CHECK(have[1] == 2000 + me + 2 && have[2] == 3000 + me + 3, "from itself: %d, %d", have[1], have[2]);
  OK(MPIX_Neighbor_accumulatev(send, counts, displs, MPI_INT, have, counts, places, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK(have[0] == (me == 1 ? 1000 : 1000 + left) + left, "after an error: %d", have[0]);
  all_well(__LINE__);
}

static void self_edge(void) {
  int send[3] = {me, me, me}, have[3] = {-1, -1, -1}, one[2] = {1, 1}, self[2] = {1, me == n - 1 ? 2 : 1}, displs[2] = {0, 1};
  int rc = MPIX_Neighbor_alltoallv(send, self, displs, MPI_INT, have, one, displs, MPI_INT, MPI_COMM_WORLD);
  if (me == n - 1) expect(__LINE__, rc, "itself, sends 8 bytes");
  else CHECK(rc == MPI_SUCCESS && have[1] == me, "%d: %d", rc, have[1]);
  CHECK(n == 1 || have[0] == left, "good edge: %d", have[0]);
  all_well(__LINE__);
}

enum { LONG = 5000, EDGES = 3 };

static int (*sent)[LONG], (*got)[LONG], from[EDGES], to[EDGES], displs[EDGES] = {0, LONG, 2 * LONG};

static void fill(int call) {
  for (int k = 0; k < EDGES; k++)
    for (int i = 0; i < LONG; i++) sent[k][i] = 1000000 * call + 1000 * me + 100 * k + i % 100, got[k][i] = -1;
}

/* how many elements of an edge are wrong; `block`: the one that is sent over it */
static int wrong(int call, int k, int block, int length) {
  int bad = 0;
  for (int i = 0; i < length; i++) bad += got[k][i] != 1000000 * call + 1000 * from[k] + 100 * block + i % 100;
  return bad;
}

/* all edges, with short and with long blocks */
static void edges_are_well(int line) {
  static const int lengths[] = {1, LONG};
  for (int l = 0; l < 2; l++) {
    int length = lengths[l], counts[EDGES] = {length, length, length};
    fill(50 + l);
    OK(MPIX_Neighbor_alltoallv(sent, counts, displs, MPI_INT, got, counts, displs, MPI_INT, MPI_COMM_WORLD));
    for (int k = 0; k < EDGES; k++) CHECK(!wrong(50 + l, k, k, length), "line %d: alltoall, %d elements, edge %d", line, length, k);
    fill(60 + l);
    OK(MPIX_Neighbor_gatherv(sent, length, MPI_INT, got, counts, displs, MPI_INT, MPI_COMM_WORLD));
    for (int k = 0; k < EDGES; k++) CHECK(!wrong(60 + l, k, 0, length), "line %d: gather, %d elements, edge %d", line, length, k);
    fill(70 + l);
    OK(MPIX_Neighbor_reduce(sent, length, MPI_INT, got, length, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    int bad = 0;
    for (int i = 0; i < length; i++) bad += got[0][i] != 3 * (1000000 * (70 + l) + i % 100) + 1000 * (from[0] + from[1] + from[2]);
    CHECK(!bad, "line %d: reduce, %d elements: %d are wrong", line, length, bad);
  }
}

/* Two edges to the right and one to the left. Mistakes leave out one of two edges between the same
   processes, or all, so that neighbors have completed different numbers of calls together. */
static void several_edges(MPI_Info info) {
  sent = malloc(EDGES * sizeof *sent), got = malloc(EDGES * sizeof *got);
  from[0] = from[1] = left, from[2] = right, to[0] = to[1] = right, to[2] = left;
  OK(MPIX_Neighborhood_set(ALL_OPERATIONS, EDGES, from, MPI_UNWEIGHTED, EDGES, to, MPI_UNWEIGHTED, info, MPI_COMM_WORLD));
  const char *transport = getenv("MPIX_TRANSPORT");
  const char *text = test_described(MPIX_NEIGHBOR_GATHER, MPI_COMM_WORLD);
  int puts = transport && !strcmp(transport, "rma");
  CHECK(!!strstr(text, "transport: puts") == puts, "%s", text);
  edges_are_well(__LINE__);
  for (int l = 0; l < 2; l++) {
    int count = l ? LONG - 1 : 2, counts[EDGES] = {count, count, count}, more[EDGES] = {count + 1, count, count};
    fill(1 + l);
    int rc = MPIX_Neighbor_alltoallv(sent, me == 0 ? more : counts, displs, MPI_INT, got, counts, displs, MPI_INT, MPI_COMM_WORLD);
    if (me == 1) expect(__LINE__, rc, "sources[0], process 0, sends");
    else if (me == 0) expect(__LINE__, rc, "targets[0], process 1, expects");
    else CHECK(rc == MPI_SUCCESS, "process that has nothing to do with it: %d", rc);
    for (int k = 0; k < EDGES; k++) {
      if (me != 1 || k != 0) CHECK(!wrong(1 + l, k, k, count), "%d elements, edge %d", count, k);
      else CHECK(got[0][0] == -1 && got[0][count - 1] == -1, "a block that does not fit was written");
    }
    edges_are_well(__LINE__);
    /* process 0 expects less of a block that goes to all targets than its left sends */
    fill(3 + l);
    int less[EDGES] = {count, count - 1, count};
    rc = MPIX_Neighbor_gatherv(sent, count, MPI_INT, got, me == 0 ? less : counts, displs, MPI_INT, MPI_COMM_WORLD);
    if (me == 0) expect(__LINE__, rc, "sources[1], process");
    else if (right == 0) expect(__LINE__, rc, "targets[1], process 0, expects");
    else CHECK(rc == MPI_SUCCESS, "process that has nothing to do with it: %d", rc);
    for (int k = 0; k < EDGES; k++)
      if (me != 0 || k != 1) CHECK(!wrong(3 + l, k, 0, count), "%d elements, edge %d", count, k);
      else CHECK(got[1][0] == -1, "a block that does not fit was written");
    edges_are_well(__LINE__);
    /* process 0 gathers where all others call alltoall */
    fill(5 + l);
    if (me == 0) rc = MPIX_Neighbor_gather(sent, count, MPI_INT, got, count, MPI_INT, MPI_COMM_WORLD);
    else rc = MPIX_Neighbor_alltoallv(sent, counts, displs, MPI_INT, got, counts, displs, MPI_INT, MPI_COMM_WORLD);
    CHECK((rc == MPI_SUCCESS) == (me != 0 && left != 0 && right != 0), "%d", rc);
    for (int k = 0; k < EDGES && me != 0; k++)
      if (from[k] != 0) CHECK(!wrong(5 + l, k, k, count), "%d elements, edge %d", count, k);
    edges_are_well(__LINE__);
  }
  free(sent), free(got);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  me = test_rank, n = test_size, left = (me + n - 1) % n, right = (me + 1) % n;
  OK(MPIX_Neighbor_error_class(MPIX_ERR_VERIFY, &verify_class));
  MPI_Info info = MPI_INFO_NULL;
  if (!getenv("MPIX_NEIGHBOR_VERIFY")) {
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_verify", "true");
  }
  set(info);
  all_well(__LINE__);
  if (n > 1) {
    too_much();
    other_operation();
    bad_arguments();
    reduction();
    accumulated();
  }
  self_edge();
  if (n > 1) several_edges(info);
  /* what stands in the entry of no process is not looked at */
  int nobody = MPI_PROC_NULL, odd = -5, zero = 0;
  OK(MPIX_Neighbor_alltoall_set(1, &nobody, MPI_UNWEIGHTED, 1, &nobody, MPI_UNWEIGHTED, info, MPI_COMM_WORLD));
  OK(MPIX_Neighbor_alltoallv(&zero, &odd, &zero, MPI_INT, &zero, &odd, &zero, MPI_INT, MPI_COMM_WORLD));
  /* repeated edges and many processes, all in order */
  for (int seed = 0; seed < 3; seed++) {
    graph g = graph_random(n, 4 * n, 500 + seed);
    graph_set(&g, MPIX_NEIGHBOR_GATHER, info, MPI_COMM_WORLD);
    int got[200];
    OK(MPIX_Neighbor_gather(&me, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD));
    for (int j = 0; j < g.indegree[me]; j++) CHECK(g.sources[me][j] == MPI_PROC_NULL || got[j] == g.sources[me][j], "entry %d", j);
    graph_free(&g);
  }
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  return test_finish();
}
