/* Trial calls of set calls: between nodes, schedules that the model finds close to one another are
   timed, and the fastest is taken. The processes say on which node they are, TEST_PER_NODE (1) on
   each. A clock runs in which messages of some schedules are slow, so that what is faster is known,
   however busy the machine is. */
#define _POSIX_C_SOURCE 200809L
#include "test.h"

static int n, me, per_node = 1;

int MPI_Get_processor_name(char *name, int *length) {
  *length = sprintf(name, "node%03d.site", me < 0 ? 0 : me / per_node);
  return MPI_SUCCESS;
}

/* the tags of `direct`, of alltoall and of gather, the same for all calls; long messages with these
   tags, and with others */
static int tags_of_direct[2] = {-1, -1}, learns = -1, direct_messages, other_messages;
/* the long message that MPI refuses, from 1 */
static int refused;
/* seconds that they add to a clock that is otherwise slow */
static double slow_direct, slow_others, added;
/* the same for others that follow one without a look at what has arrived, as in rounds that
   overlap, and for those that do not */
static double slow_ahead, slow_behind;
static int is_ahead;
double MPI_Wtime(void) { return 1e-3 * PMPI_Wtime() + added; }

enum { LONG = 1000 };

static int note(int count, int tag) {
  if (count < LONG) return MPI_SUCCESS;
  if (learns >= 0) tags_of_direct[learns] = tag;
  if (tag == tags_of_direct[0] || tag == tags_of_direct[1]) direct_messages++, added += slow_direct;
  else other_messages++, added += slow_others + (is_ahead ? slow_ahead : slow_behind);
  is_ahead = 1;
  return refused > 0 && --refused == 0 ? MPI_ERR_OTHER : MPI_SUCCESS;
}
int MPI_Isend(const void *from, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm, MPI_Request *request) {
  if (note(count, tag)) return MPI_ERR_OTHER;
  return PMPI_Isend(from, count, type, target, tag, comm, request);
}
int MPI_Send_init(const void *from, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm, MPI_Request *request) {
  if (note(count, tag)) return MPI_ERR_OTHER;
  return PMPI_Send_init(from, count, type, target, tag, comm, request);
}

int MPI_Testall(int count, MPI_Request requests[], int *done, MPI_Status statuses[]) {
  is_ahead = 0;
  return PMPI_Testall(count, requests, done, statuses);
}
int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  is_ahead = 0;
  return PMPI_Waitall(count, requests, statuses);
}

static int reductions;
int MPI_Iallreduce(const void *from, void *into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request) {
  reductions++;
  return PMPI_Iallreduce(from, into, count, type, op, comm, request);
}

/* ---- a graph: from each process to all that come after it at a distance up to `reach` */

enum { MOST = 16 };
static int reach, sources[MOST], targets[MOST], in_weights[MOST], out_weights[MOST];

static int weight(int from, int to, int bytes) { return bytes + 100 * ((from + 2 * to) % 3); }

static void edges(int distance, int bytes) {
  reach = distance;
  for (int k = 0; k < reach; k++) {
    sources[k] = (me + n - 1 - k) % n, targets[k] = (me + 1 + k) % n;
    in_weights[k] = weight(sources[k], me, bytes), out_weights[k] = weight(me, targets[k], bytes);
  }
}

static int set_code, may_fail;

/* Sets operations, and describes `described`. */
static const char *set(int operations, int described, const char *schedule, MPI_Comm comm) {
  static char text[8192];
  int length;
  text[0] = 0;
  MPI_Info info;
  MPI_Info_create(&info);
  if (schedule) MPI_Info_set(info, "mpix_schedule", schedule);
  MPI_Info_set(info, "mpix_weight_unit", "1");
  direct_messages = other_messages = 0;
  set_code = MPIX_Neighborhood_set(operations, reach, sources, in_weights, reach, targets, out_weights, info, comm);
  MPI_Info_free(&info);
  if (!may_fail) OK(set_code);
  if (set_code == MPI_SUCCESS) OK(MPIX_Neighborhood_describe(described, comm, sizeof text, text, &length));
  return text;
}

/* Exchanges blocks whose lengths are not the weights. */
static void exchange(MPI_Comm comm) {
  int send[MOST], recv[MOST];
  for (int k = 0; k < reach; k++) send[k] = 1000 * me + targets[k], recv[k] = -1;
  OK(MPIX_Neighbor_alltoall(send, 1, MPI_INT, recv, 1, MPI_INT, comm));
  for (int k = 0; k < reach; k++) CHECK(sources[k] == MPI_PROC_NULL || recv[k] == 1000 * sources[k] + me, "from %d: %d", sources[k], recv[k]);
}

/* The same with blocks of LONG bytes. */
static void long_exchange(MPI_Comm comm) {
  char *send = calloc(MOST, LONG), *recv = calloc(MOST, LONG);
  for (int k = 0; k < reach; k++) send[LONG * k] = (char)(10 * me + targets[k]), recv[LONG * k] = -1;
  OK(MPIX_Neighbor_alltoall(send, LONG, MPI_CHAR, recv, LONG, MPI_CHAR, comm));
  for (int k = 0; k < reach; k++) CHECK(recv[LONG * k] == (char)(10 * sources[k] + me), "from %d: %d", sources[k], recv[LONG * k]);
  free(send), free(recv);
}

static void says(int line, const char *text, const char *expected, const char *name) {
  const char *of = strstr(text, "\nschedule ");
  char start[100], first[4096] = "";
  snprintf(start, sizeof start, "\nschedule %s", name);
  CHECK(strstr(text, expected) && of && !strncmp(of, start, strlen(start)), "line %d: \"%s\" does not hold \"%s\" and \"%s\"", line, text, expected, start + 1);
  /* all processes say the same of the choice */
  if (of) snprintf(first, sizeof first, "%.*s", (int)strcspn(strchr(of, ';'), "\n"), strchr(of, ';'));
  char own[4096];
  memcpy(own, first, sizeof own);
  MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
  CHECK(!strcmp(first, own), "line %d: \"%s\" here, \"%s\" on process 0", line, own, first);
}

/* Parameters of the machine. Collective. */
static void write_parameters(const char *file, int eager) {
  if (me == 0) {
    FILE *f = fopen(file, "w");
    CHECK(f && fprintf(f, "latency = 5\noverhead = 1\ngap = 2\ngap_per_byte = 0.01\neager = %d\n", eager) > 0 && fclose(f) == 0, "%s", file);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static const char tried[] = "trial calls of a set call took", predicted[] = "by the model";

int main(int argc, char **argv) {
  me = -1;
  test_init(&argc, &argv);
  me = test_rank, n = test_size;
  if (getenv("TEST_PER_NODE")) per_node = atoi(getenv("TEST_PER_NODE"));
  MPI_Comm comm, other;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  char file[100], text[8192];
  /* messages cost what their bytes do, whatever the order: no schedule is clearly faster */
  snprintf(file, sizeof file, "/tmp/mpix-trial-%ld", (long)getpid());
  MPI_Bcast(file, sizeof file, MPI_CHAR, 0, MPI_COMM_WORLD);
  write_parameters(file, 4096);
  setenv("MPIX_LOGGP_FILE", file, 1);

  if (n < 3 || n <= per_node) {
    /* one message has no order */
    edges(n - 1, 100000);
    says(__LINE__, set(MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_ALLTOALL, NULL, comm), predicted, "direct");
    exchange(comm);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) unlink(file);
    MPI_Comm_free(&comm);
    return test_finish();
  }

  if (getenv("MPIX_TRANSPORT")) {
    /* puts, whose clock is the real one */
    edges(n - 1, 100000);
    says(__LINE__, set(MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_ALLTOALL, NULL, comm), tried, "");
    exchange(comm);
    edges(n - 1, 20);
    set(MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_ALLTOALL, NULL, comm);
    exchange(comm);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) unlink(file);
    MPI_Comm_free(&comm);
    return test_finish();
  }

  /* which tags `direct` has */
  edges(n - 1, 100000);
  int far = 0;
  for (int k = 0; k < reach; k++) far += targets[k] / per_node != me / per_node;
  char *send = calloc(1, (size_t)n * 2000), *recv = calloc(1, (size_t)n * 2000);
  set(MPIX_NEIGHBOR_ALLTOALL | MPIX_NEIGHBOR_GATHER, MPIX_NEIGHBOR_ALLTOALL, "direct", comm);
  learns = 0;
  OK(MPIX_Neighbor_alltoall(send, 2000, MPI_CHAR, recv, 2000, MPI_CHAR, comm));
  learns = 1;
  OK(MPIX_Neighbor_gather(send, 2000, MPI_CHAR, recv, 2000, MPI_CHAR, comm));
  learns = -1;
  free(send), free(recv);
  CHECK(direct_messages == 2 * far && tags_of_direct[0] != tags_of_direct[1], "%d messages by direct", direct_messages);

  /* the faster one is taken, and nothing is left of the trial */
  slow_direct = 2e-3, slow_others = 1e-3;
  snprintf(text, sizeof text, "%s", set(MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_ALLTOALL, NULL, comm));
  says(__LINE__, text, tried, "");
  CHECK(!strstr(text, "schedule direct"), "%s", text);
  CHECK(direct_messages && other_messages, "%d and %d messages", direct_messages, other_messages);
  exchange(comm);
  /* a neighborhood that is much like it: remembered */
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  edges(n - 1, 100100);
  says(__LINE__, set(MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_ALLTOALL, NULL, other), strstr(text, tried), "");
  CHECK(!direct_messages && !other_messages, "%d and %d messages", direct_messages, other_messages);
  exchange(other);
  MPI_Comm_free(&other);
  /* another one */
  slow_direct = 1e-3, slow_others = 2e-3;
  edges(n - 1, 200000);
  says(__LINE__, set(MPIX_NEIGHBOR_ALLTOALL | MPIX_NEIGHBOR_REDUCE, MPIX_NEIGHBOR_REDUCE, NULL, comm), tried, "direct");
  CHECK(direct_messages && other_messages, "%d and %d messages", direct_messages, other_messages);
  exchange(comm);
  edges(n - 1, 400000);
  slow_direct = 2e-3, slow_others = 1e-3;
  snprintf(text, sizeof text, "%s", set(MPIX_NEIGHBOR_GATHER, MPIX_NEIGHBOR_GATHER, NULL, comm));
  says(__LINE__, text, tried, "");
  CHECK(!strstr(text, "schedule direct"), "%s", text);
  CHECK(direct_messages && other_messages, "%d and %d messages", direct_messages, other_messages);
  slow_direct = 1e-3, slow_others = 2e-3;
  edges(n - 1, 70000);
  says(__LINE__, set(MPIX_NEIGHBOR_GATHER, MPIX_NEIGHBOR_GATHER, NULL, comm), tried, "direct");
  /* of several operations one is timed */
  edges(n - 1, 80000);
  says(__LINE__, set(MPIX_NEIGHBOR_GATHER | MPIX_NEIGHBOR_ALLTOALL | MPIX_NEIGHBOR_ACCUMULATE, MPIX_NEIGHBOR_GATHER, NULL, comm), tried, "direct");
  exchange(comm);
  /* rounds that overlap, or each after the end of the one before */
  slow_others = 1e-3;
  for (int strict = 0; strict < 2; strict++) {
    slow_direct = 4e-3, slow_ahead = strict ? 1e-3 : 0, slow_behind = strict ? 0 : 1e-3;
    edges(n - 1, 130000 + 40000 * strict);
    snprintf(text, sizeof text, "%s", set(MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_ALLTOALL, NULL, comm));
    /* between nodes other rounds may send one message at a time anyway */
    says(__LINE__, text, tried, per_node > 1 ? "" : "edge_coloring");
    CHECK(direct_messages && other_messages, "%d and %d messages", direct_messages, other_messages);
    CHECK(!strstr(text, "schedule direct") && (per_node > 1 || !strstr(text, " strict round") == !strict), "%s", text);
    exchange(comm);
    /* not where the program says how many may overlap */
    setenv("MPIX_ROUND_WINDOW", "2", 1);
    snprintf(text, sizeof text, "%s", set(MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_ALLTOALL, NULL, comm));
    says(__LINE__, text, tried, "");
    CHECK(!strstr(text, " strict round"), "%s", text);
    unsetenv("MPIX_ROUND_WINDOW");
    /* the program's own calls compare them too */
    text[0] = 0;
    set(MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_ALLTOALL, "measure", comm);
    for (int call = 0; call < 5000 && !strstr(text, "the first calls took"); call++) {
      long_exchange(comm);
      OK(MPIX_Neighborhood_describe(MPIX_NEIGHBOR_ALLTOALL, comm, sizeof text, text, &(int){0}));
    }
    says(__LINE__, text, "the first calls took", "");
    CHECK(!strstr(text, "schedule direct") && (per_node > 1 || !strstr(text, " strict round") == !strict), "%s", text);
  }
  slow_ahead = slow_behind = 0;
  /* edges that are repeated, and to oneself; a request is under way on another communicator */
  slow_direct = 2e-3, slow_others = 1e-3;
  edges(n - 1, 90000);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  OK(MPIX_Neighbor_alltoall_set(reach, sources, MPI_UNWEIGHTED, reach, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, other));
  int before[MOST], after[MOST];
  for (int k = 0; k < reach; k++) before[k] = 100 * me + targets[k];
  MPIX_Request request;
  OK(MPIX_Ineighbor_alltoall(before, 1, MPI_INT, after, 1, MPI_INT, other, &request));
  for (int k = 0; k < 3; k++) {
    int again = k ? k - 1 : me;
    sources[reach] = k ? sources[again] : me, targets[reach] = k ? targets[again] : me;
    in_weights[reach] = weight(sources[reach], me, 90000), out_weights[reach] = weight(me, targets[reach], 90000), reach++;
  }
  says(__LINE__, set(MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_ALLTOALL, NULL, comm), tried, "");
  exchange(comm);
  OK(MPIX_Request_wait(&request));
  for (int k = 0; k < n - 1; k++) CHECK(after[k] == 100 * sources[k] + me, "from %d: %d", sources[k], after[k]);
  MPI_Comm_free(&other);

  /* MPI refuses a message of a trial call: an error everywhere, and another set call does better */
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN);
  edges(n - 1, 60000);
  refused = me == 1 ? 5 : 0, may_fail = 1;
  const char *nothing = set(MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_ALLTOALL, NULL, other);
  CHECK(set_code != MPI_SUCCESS && !*nothing, "%d: %s", set_code, nothing);
  refused = may_fail = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  says(__LINE__, set(MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_ALLTOALL, NULL, other), tried, "");
  exchange(other);
  MPI_Comm_free(&other);

  /* sources that say something else than targets; edges from and to nobody */
  edges(n - 1, 50000);
  for (int k = 0; k < reach; k++) in_weights[k] = 7 * k;
  sources[reach] = targets[reach] = MPI_PROC_NULL, in_weights[reach] = 5, out_weights[reach] = 12345;
  reach++;
  says(__LINE__, set(MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_ALLTOALL, NULL, comm), tried, "");
  exchange(comm);
  /* a process without edges */
  edges(n - 1, 30000);
  if (me == n - 1) reach = 0;
  else {
    int k = n - 2 - me;
    sources[n - 2 - k] = sources[n - 2], in_weights[n - 2 - k] = in_weights[n - 2];
    targets[k] = targets[n - 2], out_weights[k] = out_weights[n - 2];
    reach--;
  }
  says(__LINE__, set(MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_ALLTOALL, NULL, comm), n > 3 ? tried : predicted, "");
  exchange(comm);

  /* a graph that is too large for the model to compare: messages are tried in rounds that neighbors
     negotiate */
  setenv("MPIX_GRAPH_LIMIT", "1", 1);
  for (int rounds = 0; rounds < 2; rounds++) {
    slow_direct = rounds ? 2e-3 : 1e-3, slow_others = rounds ? 1e-3 : 2e-3;
    edges(n - 1, rounds ? 150000 : 300000);
    says(__LINE__, set(MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_ALLTOALL, NULL, comm), tried, rounds ? "distributed_coloring" : "direct");
    CHECK(direct_messages && other_messages, "%d and %d messages", direct_messages, other_messages);
    exchange(comm);
    /* again: remembered */
    says(__LINE__, set(MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_ALLTOALL, NULL, comm), tried, rounds ? "distributed_coloring" : "direct");
    CHECK(!direct_messages && !other_messages, "%d and %d messages", direct_messages, other_messages);
    exchange(comm);
  }
  edges(n - 1, 20);
  says(__LINE__, set(MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_ALLTOALL, NULL, comm), "no message waits", "direct");
  edges(1, 150000);
  says(__LINE__, set(MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_ALLTOALL, NULL, comm), "takes longer than it could gain", "direct");
  edges(n - 1, 160000);
  says(__LINE__, set(MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_ALLTOALL, "model", comm), "takes longer than it could gain", "direct");
  unsetenv("MPIX_GRAPH_LIMIT");

  /* messages that no receiver keeps waiting are tried from 4 KiB on, if several can be strict in
     their rounds, and an operation has a trial */
  write_parameters(file, 65536);
  slow_direct = 2e-3, slow_others = 1e-3;
  edges(n - 1, 8000);
  snprintf(text, sizeof text, "%s", set(MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_ALLTOALL, NULL, comm));
  says(__LINE__, text, tried, "");
  CHECK(!strstr(text, "schedule direct"), "%s", text);
  CHECK(direct_messages && other_messages, "%d and %d messages", direct_messages, other_messages);
  exchange(comm);
  edges(n - 1, 8200);
  says(__LINE__, set(MPIX_NEIGHBOR_REDUCE, MPIX_NEIGHBOR_REDUCE, NULL, comm), "no message waits", "direct");
  says(__LINE__, set(MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_ALLTOALL, "model", comm), "no message waits", "direct");
  setenv("MPIX_ROUND_WINDOW", "2", 1);
  says(__LINE__, set(MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_ALLTOALL, NULL, comm), "no message waits", "direct");
  unsetenv("MPIX_ROUND_WINDOW");
  edges(n - 1, 3000);
  says(__LINE__, set(MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_ALLTOALL, NULL, comm), "no message waits", "direct");
  write_parameters(file, 4096);

  /* where there is no trial: the model alone is asked, parameters are given, arguments are
     verified, blocks are combined, or they are too long */
  for (int without = 0; without < 5; without++) {
    edges(n - 1, without == 4 ? 200000000 : 123456);
    if (without == 1) setenv("MPIX_LOGGP", file, 1);
    if (without == 2) setenv("MPIX_NEIGHBOR_VERIFY", "true", 1);
    int reduces = without == 3, operation = reduces ? MPIX_NEIGHBOR_ACCUMULATE : MPIX_NEIGHBOR_ALLTOALL;
    int operations = reduces ? MPIX_NEIGHBOR_ACCUMULATE | MPIX_NEIGHBOR_REDUCE : MPIX_NEIGHBOR_ALLTOALL;
    says(__LINE__, set(operations, operation, without ? NULL : "model", comm), predicted, "");
    CHECK(!direct_messages && !other_messages, "%d: %d and %d messages", without, direct_messages, other_messages);
    if (!reduces) exchange(comm);
    unsetenv("MPIX_LOGGP"), unsetenv("MPIX_NEIGHBOR_VERIFY");
  }
  /* a request whose tag the calls of a trial would come to, on one process alone: no trial */
  char from[MOST] = {0}, into[MOST];
  slow_direct = slow_others = 1e-3;
  edges(n - 1, 100000);
  set(MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_ALLTOALL, "edge_coloring", comm);
  OK(MPIX_Ineighbor_alltoall(from, 1, MPI_CHAR, into, 1, MPI_CHAR, comm, &request));
  if (me) OK(MPIX_Request_wait(&request));
  for (int i = 0; i < 7270; i++) OK(MPIX_Neighbor_alltoall(from, 1, MPI_CHAR, into, 1, MPI_CHAR, comm));
  edges(n - 1, 450000);
  says(__LINE__, set(MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_ALLTOALL, NULL, comm), predicted, "");
  if (!me) OK(MPIX_Request_wait(&request));
  /* blocks for which a process has no room, as others share its node: no trial, and none is begun
     for neighborhoods like it */
  if (per_node == 2 && n == 4) {
    int first = 0;
    for (int again = 0; again < 2; again++) {
      edges(n - 1, 50000000 + 100 * again);
      reductions = 0;
      says(__LINE__, set(MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_ALLTOALL, NULL, comm), predicted, "");
      CHECK(!again || reductions < first, "%d reductions, then %d", first, reductions);
      first = reductions;
    }
  }
  /* trials have taken more than a minute, and most of the program's time: what was found is still
     known, but for others the model's choice stands, and short messages are not compared */
  slow_direct = slow_others = 20;
  edges(n - 1, 330000);
  snprintf(text, sizeof text, "%s", set(MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_ALLTOALL, NULL, comm));
  says(__LINE__, text, tried, "");
  for (int known = 1; known >= 0; known--) {
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    edges(n - 1, known ? 330100 : 600000);
    says(__LINE__, set(MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_ALLTOALL, NULL, other), known ? strstr(text, tried) : predicted, "");
    CHECK(!direct_messages && !other_messages, "%d: %d and %d messages", known, direct_messages, other_messages);
    MPI_Comm_free(&other);
  }
  write_parameters(file, 65536);
  edges(n - 1, 20000);
  says(__LINE__, set(MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_ALLTOALL, NULL, comm), "no message waits", "direct");
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == 0) unlink(file);
  MPI_Comm_free(&comm);
  return test_finish();
}
