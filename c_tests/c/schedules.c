/* Which schedule a neighborhood gets: by hints, by the model, by the times of the first calls; and
   that each of them delivers. */
#include "test.h"

static int me, n;

static int number_before(const char *text, const char *word) {
  const char *at = strstr(text, word);
  if (!at) return -1;
  while (at > text && (at[-1] == ' ' || (at[-1] >= '0' && at[-1] <= '9'))) at--;
  return atoi(at);
}

/* everyone to everyone, in the order of ranks: all begin with the same target */
static int all[64], weights[64];
static int all_to_all(int weight, MPI_Info info, MPI_Comm comm, int operations) {
  int k = 0;
  for (int r = 0; r < n; r++)
    if (r != me) {
      all[k] = r;
      weights[k++] = weight;
    }
  const int *w = weight ? weights : MPI_UNWEIGHTED;
  return MPIX_Neighborhood_set(operations, k, all, w, k, all, w, info, comm);
}

static int value(int from, int to, int i) { return from * 100003 + to * 317 + i; }

/* `count` ints to each neighbor; returns whether all are right */
static void exchange(int count, MPI_Comm comm) {
  int *send = malloc(sizeof(int) * count * n), *recv = malloc(sizeof(int) * count * n), wrong = 0;
  for (int k = 0; k < n - 1; k++)
    for (int i = 0; i < count; i++) {
      send[k * count + i] = value(me, all[k], i);
      recv[k * count + i] = -1;
    }
  OK(MPIX_Neighbor_alltoall(send, count, MPI_INT, recv, count, MPI_INT, comm));
  for (int k = 0; k < n - 1; k++)
    for (int i = 0; i < count; i++) wrong += recv[k * count + i] != value(all[k], me, i);
  CHECK(wrong == 0, "%d of %d values are wrong", wrong, count * (n - 1));
  free(send);
  free(recv);
}

static void by_the_model(void) {
  MPI_Comm comm = test_duplicate();
  OK(all_to_all(0, MPI_INFO_NULL, comm, MPIX_NEIGHBOR_ALLTOALL));
  const char *text = test_described(MPIX_NEIGHBOR_ALLTOALL, comm);
  CHECK(strstr(text, "schedule direct: 1 round") && strstr(text, "no weights"), "%s", text);
  if (n == 1) return (void)MPI_Comm_free(&comm);
  double last = 0;
  MPI_Info jaguar = test_hint("mpix_loggp", "jaguar");
  for (int weight = 8; weight <= 8000000; weight *= 10) {
    OK(all_to_all(weight, jaguar, comm, MPIX_NEIGHBOR_ALLTOALL));
    text = test_described(MPIX_NEIGHBOR_ALLTOALL, comm);
    const char *by = strstr(text, "by the model ");
    double time = -1, direct = -1;
    if (weight < 100000) {
      CHECK(strstr(text, "schedule direct:") && strstr(text, "no message waits"), "%s", text);
      continue;
    }
    CHECK(by && sscanf(by, "by the model %lf us, against %lf us for direct", &time, &direct) == 2, "%s", text);
    CHECK(time <= direct && time > last, "worse than direct, or not longer than for shorter messages (%g us): %s", last, text);
    if (weight == 8000000 && n >= 4) CHECK(!strstr(text, "schedule direct:"), "all begin with the same target: %s", text);
    last = time;
    exchange(1000, comm);
  }
  /* the default parameters are not those of a node */
  OK(all_to_all(8000000, MPI_INFO_NULL, comm, MPIX_NEIGHBOR_ALLTOALL));
  text = test_described(MPIX_NEIGHBOR_ALLTOALL, comm);
  MPI_Comm node;
  int near;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &near);
  MPI_Comm_free(&node);
  CHECK(strstr(text, near == n ? "all processes share a node" : "by the model "), "%s", text);
  /* no weights, but what one is; and another machine */
  MPI_Info info = test_hint("mpix_weight_unit", "8000000");
  MPI_Info_set(info, "mpix_loggp", "jaguar");
  OK(all_to_all(0, info, comm, MPIX_NEIGHBOR_ALLTOALL));
  text = test_described(MPIX_NEIGHBOR_ALLTOALL, comm);
  double time = -1, direct = -1;
  const char *by = strstr(text, "by the model ");
  CHECK(by && sscanf(by, "by the model %lf us, against %lf us for direct", &time, &direct) == 2 && time == last, "%g: %s", last, text);
  MPI_Info_set(info, "mpix_loggp", "intrepid");
  OK(all_to_all(0, info, comm, MPIX_NEIGHBOR_ALLTOALL));
  by = strstr(text = test_described(MPIX_NEIGHBOR_ALLTOALL, comm), "by the model ");
  CHECK(by && sscanf(by, "by the model %lf us", &time) == 1 && time != last, "%g: %s", last, text);
  MPI_Info_free(&info);
  MPI_Info_free(&jaguar);
  MPI_Comm_free(&comm);
}

/* a Cartesian communicator, so that edges have directions, and long messages, longer upward than
   downward */
static void on_a_grid(void) {
  int periodic = 1, up, down, at;
  MPI_Comm cart;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &n, &periodic, 0, &cart);
  MPI_Cart_shift(cart, 0, 1, &down, &up);
  MPI_Comm_rank(cart, &at);
  int targets[2] = {up, down}, sources[2] = {down, up}, w[2] = {9000000, 2000000};
  MPI_Info info = test_hint("mpix_loggp", "jaguar");
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, 2, sources, w, 2, targets, w, info, cart));
  const char *text = test_described(MPIX_NEIGHBOR_ALLTOALL, cart);
  CHECK(n == 1 || strstr(text, "by the model "), "%s", text);
  int send[2] = {value(at, up, 1), value(at, down, 2)}, recv[2] = {0, 0};
  OK(MPIX_Neighbor_alltoall(send, 1, MPI_INT, recv, 1, MPI_INT, cart));
  CHECK(recv[0] == value(down, at, 1) && recv[1] == value(up, at, 2), "%d from below, %d from above", recv[0], recv[1]);
  MPI_Info_free(&info);
  MPI_Comm_free(&cart);
}

static void by_hints(void) {
  MPI_Comm comm = test_duplicate();
  const char *names[] = {"direct", "linear_permutation", "random_rounds", "edge_coloring", "distributed_coloring"};
  for (int i = 0; i < 5; i++) {
    MPI_Info info = test_hint("mpix_schedule", names[i]);
    OK(all_to_all(1000, info, comm, MPIX_NEIGHBOR_ALLTOALL));
    char expected[64];
    snprintf(expected, sizeof expected, "schedule %s: ", names[i]);
    const char *text = test_described(MPIX_NEIGHBOR_ALLTOALL, comm);
    CHECK(strstr(text, expected) && strstr(text, "the hint mpix_schedule"), "%s", text);
    int rounds = number_before(text, " round");
    if (i == 3) CHECK(rounds == (n > 1 ? n - 1 : 0), "as many rounds as the degree: %s", text);
    exchange(3000, comm);
    MPI_Info_free(&info);
  }
  /* one process or the other at a time: both directions of an edge need a round */
  MPI_Info info = test_hint("mpix_schedule", "edge_coloring");
  MPI_Info_set(info, "mpix_duplex", "half");
  OK(all_to_all(1000, info, comm, MPIX_NEIGHBOR_ALLTOALL));
  const char *text = test_described(MPIX_NEIGHBOR_ALLTOALL, comm);
  CHECK(number_before(text, " round") >= 2 * (n - 1), "%s", text);
  exchange(10, comm);
  MPI_Info_set(info, "mpix_duplex", "full");
  /* a graph that is too large to be gathered: neighbors negotiate */
  MPI_Info_set(info, "mpix_graph_limit", "0");
  OK(all_to_all(1000, info, comm, MPIX_NEIGHBOR_ALLTOALL));
  text = test_described(MPIX_NEIGHBOR_ALLTOALL, comm);
  CHECK(n == 1 || (strstr(text, "schedule distributed_coloring:") && strstr(text, "above mpix_graph_limit")), "%s", text);
  exchange(10, comm);
  MPI_Info_set(info, "mpix_schedule", "random_rounds");
  int rc = all_to_all(1000, info, comm, MPIX_NEIGHBOR_ALLTOALL), length;
  char message[2 * MPI_MAX_ERROR_STRING];
  if (n > 1) {
    CHECK(rc != MPI_SUCCESS, "a graph above the limit was gathered");
    OK(MPIX_Neighbor_error_string(comm, sizeof message, message, &length));
    CHECK(strstr(message, "random_rounds cannot be used") && strstr(message, "mpix_graph_limit = 0"), "%s", message);
  }
  MPI_Info_free(&info);
  /* hints that differ between processes */
  info = test_hint("mpix_seed", me == 0 ? "1" : "2");
  rc = all_to_all(1000, info, comm, MPIX_NEIGHBOR_ALLTOALL);
  CHECK((rc == MPI_SUCCESS) == (n == 1), "different seeds");
  MPI_Info_free(&info);
  info = test_hint("mpix_round_window", me == 0 ? "1" : "3");
  MPI_Info_set(info, "mpix_schedule", "random_rounds");
  OK(all_to_all(1000, info, comm, MPIX_NEIGHBOR_ALLTOALL));
  exchange(5000, comm);
  MPI_Info_free(&info);
  /* given on one process alone, it leaves the others a choice */
  info = test_hint("mpix_round_window", me == 0 ? "1" : "auto");
  rc = all_to_all(1000, info, comm, MPIX_NEIGHBOR_ALLTOALL);
  OK(MPIX_Neighbor_error_string(comm, sizeof message, message, &length));
  CHECK(n == 1 ? rc == MPI_SUCCESS : rc != MPI_SUCCESS && strstr(message, "whether mpix_round_window is given"), "%s", message);
  MPI_Info_free(&info);
  MPI_Comm_free(&comm);
}

/* messages of very different lengths, all long: cutting the longest pays */
static void cuts(void) {
  MPI_Comm comm = test_duplicate();
  int k = 0, in[64], out[64];
  for (int r = 0; r < n; r++)
    if (r != me) {
      all[k] = r;
      out[k] = 100000 * (1 + (int)(mix2(me, r) % 50));
      in[k++] = 100000 * (1 + (int)(mix2(r, me) % 50));
    }
  int messages[2];
  for (int split = 0; split < 2; split++) {
    MPI_Info info = test_hint("mpix_schedule", "random_rounds");
    MPI_Info_set(info, "mpix_split", split ? "true" : "false");
    OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, k, all, in, k, all, out, info, comm));
    int mine = number_before(test_described(MPIX_NEIGHBOR_ALLTOALL, comm), " message");
    MPI_Allreduce(&mine, &messages[split], 1, MPI_INT, MPI_SUM, comm);
    MPI_Info_free(&info);
    exchange(20000, comm);
  }
  CHECK(messages[0] == n * (n - 1), "%d messages without cuts", messages[0]);
  if (n >= 5) CHECK(messages[1] > messages[0], "%d messages with cuts", messages[1]);
  MPI_Comm_free(&comm);
}

static void by_measuring(void) {
  MPI_Comm comm = test_duplicate();
  MPI_Info info = test_hint("mpix_schedule", "measure");
  OK(all_to_all(4000, info, comm, MPIX_NEIGHBOR_ALLTOALL | MPIX_NEIGHBOR_REDUCE));
  const char *text = test_described(MPIX_NEIGHBOR_ALLTOALL, comm);
  CHECK(strstr(text, "schedule direct:") && strstr(text, "the first calls compare it with") && strstr(text, "edge_coloring"), "%s", text);
  int puts = getenv("MPIX_TRANSPORT") != NULL;
  CHECK((strstr(text, "edge_coloring in strict rounds") == NULL) == puts, "%s", text);
  int calls = 0;
  for (; strstr(test_described(MPIX_NEIGHBOR_ALLTOALL, comm), "compare it with"); calls++) {
    if (calls > 3000) {
      CHECK(0, "never decided");
      break;
    }
    if (calls == 5 && n > 1) {
      /* arguments in error count for no one's turn */
      int x;
      CHECK(MPIX_Neighbor_alltoall(&x, me == 0 ? -1 : -2, MPI_INT, &x, 1, MPI_INT, comm) != MPI_SUCCESS, "a negative count");
    }
    exchange(1000, comm);
  }
  /* all candidates but dimension_order, edge_coloring twice unless it puts: twelve calls each, more
     if they are short, and of those that are nearly as fast as the best, but at most 482 */
  int candidates = puts ? 5 : 6;
  CHECK(calls >= 12 * candidates && calls <= candidates * 482, "%d calls", calls);
  text = test_described(MPIX_NEIGHBOR_ALLTOALL, comm);
  double time = -1, direct = -1;
  const char *took = strstr(text, "the first calls took ");
  CHECK(took && sscanf(took, "the first calls took %lf us with it, %lf us with direct", &time, &direct) == 2, "%s", text);
  CHECK(time >= 0 && time <= direct, "%s", text);
  /* all have chosen the same */
  char mine[100], first[100];
  snprintf(mine, sizeof mine, "%.40s", strstr(text, "schedule "));
  *strchr(mine, ':') = 0;
  memcpy(first, mine, sizeof first);
  MPI_Bcast(first, sizeof first, MPI_CHAR, 0, comm);
  CHECK(strcmp(mine, first) == 0, "%s here, %s on process 0", mine, first);
  exchange(1000, comm);
  /* the other operation still compares, and sums while it does */
  for (int call = 0; call < 10 || (call < 3000 && strstr(test_described(MPIX_NEIGHBOR_REDUCE, comm), "compare it with")); call++) {
    long one[700], sum[700];
    for (int i = 0; i < 700; i++) one[i] = me + i;
    OK(MPIX_Neighbor_reduce(one, 700, MPI_LONG, sum, 700, MPI_LONG, MPI_SUM, comm));
    for (int i = 0; i < 700 && n > 1; i += 111) {
      long expected = (long)n * (n - 1) / 2 - me + (long)i * (n - 1);
      CHECK(sum[i] == expected, "call %d: sum %ld, not %ld", call, sum[i], expected);
    }
  }
  CHECK(strstr(test_described(MPIX_NEIGHBOR_REDUCE, comm), "the first calls took "), "%s", test_described(MPIX_NEIGHBOR_REDUCE, comm));
  MPI_Info_free(&info);
  /* freed while it compares */
  info = test_hint("mpix_schedule", "measure");
  OK(all_to_all(4000, info, comm, MPIX_NEIGHBOR_ALLTOALL));
  exchange(10, comm);
  MPI_Info_free(&info);
  MPI_Comm_free(&comm);
}

/* operations with the same lists and hints share a schedule; with others they do not */
static void shared(void) {
  MPI_Comm comm = test_duplicate();
  MPI_Info info = test_hint("mpix_schedule", "random_rounds");
  OK(all_to_all(1000, info, comm, MPIX_NEIGHBOR_GATHER));
  OK(all_to_all(1000, info, comm, MPIX_NEIGHBOR_ALLTOALL));
  exchange(1000, comm);
  /* on one process only there is another weight: no process may take the shared one */
  OK(all_to_all(me == 0 ? 77 : 1000, info, comm, MPIX_NEIGHBOR_REDUCE));
  int one = 1, sum = 0, got[64];
  OK(MPIX_Neighbor_reduce(&one, 1, MPI_INT, &sum, 1, MPI_INT, MPI_SUM, comm));
  CHECK(sum == n - 1, "sum %d", sum);
  OK(MPIX_Neighbor_gather(&me, 1, MPI_INT, got, 1, MPI_INT, comm));
  for (int k = 0; k < n - 1; k++) CHECK(got[k] == all[k], "gathered %d", got[k]);
  MPI_Info_free(&info);
  /* other hints */
  info = test_hint("mpix_schedule", "linear_permutation");
  OK(all_to_all(1000, info, comm, MPIX_NEIGHBOR_ALLTOALL));
  CHECK(strstr(test_described(MPIX_NEIGHBOR_ALLTOALL, comm), "schedule linear_permutation:"), "shared by mistake");
  CHECK(strstr(test_described(MPIX_NEIGHBOR_GATHER, comm), "schedule random_rounds:"), "replaced by mistake");
  exchange(1000, comm);
  MPI_Info_free(&info);
  MPI_Comm_free(&comm);
}

/* rounds order the edges between nodes alone where memory carries the others */
static void between_nodes(void) {
  MPI_Comm comm = test_duplicate();
  const char *memory[] = {"10485760", "0"};
  for (int without = 0; without <= 1; without++) {
    MPI_Info info = test_hint("mpix_schedule", "edge_coloring");
    MPI_Info_set(info, "mpix_nodes", "2");
    MPI_Info_set(info, "mpix_shared_memory", memory[without]);
    OK(all_to_all(1000, info, comm, MPIX_NEIGHBOR_ALLTOALL | MPIX_NEIGHBOR_REDUCE));
    const char *text = test_described(MPIX_NEIGHBOR_ALLTOALL, comm);
    /* with 4 processes each one has two targets on the other node, of three */
    if (n == 4) CHECK(number_before(text, " round") == 2 + without, "%s", text);
    exchange(without ? 10 : 1000, comm);
    int sum = -1, mine = 1 << me, none = 0;
    OK(MPIX_Neighbor_reduce(&mine, 1, MPI_INT, n > 1 ? &sum : &none, 1, MPI_INT, MPI_SUM, comm));
    if (n > 1) CHECK(sum == (1 << n) - 1 - mine, "a sum of %d", sum);
    /* a list of other processes: one node for all */
    MPI_Info_set(info, "mpix_nodes", "0,1,0,1,0,1,0,1,0");
    OK(all_to_all(1000, info, comm, MPIX_NEIGHBOR_ALLTOALL));
    exchange(5, comm);
    MPI_Info_set(info, "mpix_schedule", "auto");
    MPI_Info_set(info, "mpix_whole_communicator", "true");
    OK(all_to_all(1000, info, comm, MPIX_NEIGHBOR_ALLTOALL));
    exchange(5, comm);
    MPI_Info_free(&info);
  }
  MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  me = test_rank;
  n = test_size;
  by_the_model();
  on_a_grid();
  by_hints();
  cuts();
  by_measuring();
  shared();
  between_nodes();
  return test_finish();
}
