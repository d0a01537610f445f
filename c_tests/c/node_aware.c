/* Blocks that travel together between nodes: fabricated nodes of all kinds, and with HOSTS=k in the
   environment the real ones of k hosts; alltoall, v and w and gather on random multigraphs against
   the definition; long blocks, which are cut; verification; choices; and what is an error. */
#include "forms.h"

enum { SENTINEL = -77 };

static int me, n;
static MPI_Comm comm;

/* the promise, the schedule, and a placement of processes */
static MPI_Info with(const char *schedule, const char *nodes) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_whole_communicator", "true");
  if (schedule) MPI_Info_set(info, "mpix_schedule", schedule);
  if (nodes) MPI_Info_set(info, "mpix_nodes", nodes);
  return info;
}

/* the i-th way to place the processes on nodes, as text; NULL: no more */
static const char *placement(int i) {
  static char text[1000];
  char *at = text;
  const char *numbers[] = {"1", "2", "3", "100"};
  if (i < 4) return numbers[i];
  if (i > 6 || n == 1) return NULL;
  for (int r = 0; r < n; r++) {
    /* in turns, uneven, one alone among the others */
    int node = i == 4 ? r % 2 : i == 5 ? 7 * (r * r % 3) : r == 1 ? 0 : 5;
    at += sprintf(at, "%s%d", r ? "," : "", node);
  }
  return text;
}

/* messages of all processes together */
static int all_messages(void) {
  const char *text = test_described(MPIX_NEIGHBOR_ALLTOALL, comm), *at = strstr(text, " message");
  int mine = 0, all;
  CHECK(strstr(text, "schedule node_aware: ") && at, "%s", text);
  while (at && at > text && at[-1] >= '0' && at[-1] <= '9') at--;
  if (at) mine = atoi(at);
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, comm);
  return all;
}

/* ints on the edge that leaves process s in target entry i; one number for all where they are
   equal */
static int ints(uint64_t seed, int equal, int longest, int s, int i) { return (int)((equal ? mix(seed) : mix3(seed, s, i)) % (longest + 1)); }

enum { ALLTOALL, ALLTOALLV, ALLTOALLW, GATHER };

/* one call: which collective, blocks of up to `longest` ints; those received have holes where
   `strided` */
static void exchange(const graph *g, int which, uint64_t seed, int longest, int strided) {
  int in = g->indegree[me], out = g->outdegree[me], equal = which == ALLTOALL || which == GATHER;
  int scounts[out + 1], sdispls[out + 1], rcounts[in + 1], rdispls[in + 1], sat = 0, rat = 0, step = strided ? 2 : 1;
  MPI_Aint sbytes[out + 1], rbytes[in + 1];
  MPI_Datatype stypes[out + 1], rtypes[in + 1], holes, received;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &holes);
  MPI_Type_commit(&holes);
  received = strided ? holes : MPI_INT;
  for (int i = 0; i < out; i++) {
    scounts[i] = ints(seed, equal, longest, me, i), sdispls[i] = sat, sbytes[i] = sat * (MPI_Aint)sizeof(int), stypes[i] = MPI_INT;
    sat += scounts[i];
  }
  for (int j = 0; j < in; j++) {
    int s = g->sources[me][j];
    rcounts[j] = ints(seed, equal, longest, s, equal || s == MPI_PROC_NULL ? 0 : graph_partner(g, me, j));
    rdispls[j] = rat / step, rbytes[j] = rat * (MPI_Aint)sizeof(int), rtypes[j] = received;
    rat += rcounts[j] * step;
  }
  if (which == GATHER) sat = ints(seed, 1, longest, 0, 0);
  buffer send = new_buffer(sat, 0), have = new_buffer(rat + 1, SENTINEL), want = new_buffer(rat + 1, SENTINEL);
  if (which == GATHER)
    for (int k = 0; k < sat; k++) send.image[k] = test_value(me, 0, k);
  else
    for (int i = 0; i < out; i++)
      for (int k = 0; k < scounts[i]; k++) send.image[sdispls[i] + k] = test_value(me, i, k);
  for (int j = 0; j < in; j++) {
    int s = g->sources[me][j];
    for (int k = 0; k < rcounts[j] && s != MPI_PROC_NULL; k++)
      want.image[step * (rdispls[j] + k)] = test_value(s, which == GATHER ? 0 : graph_partner(g, me, j), k);
  }
  int one = ints(seed, 1, longest, 0, 0);
  switch (which) {
    case ALLTOALL: OK(MPIX_Neighbor_alltoall(send.image, one, MPI_INT, have.image, one, received, comm)); break;
    case ALLTOALLV: OK(MPIX_Neighbor_alltoallv(send.image, scounts, sdispls, MPI_INT, have.image, rcounts, rdispls, received, comm)); break;
    case ALLTOALLW: OK(MPIX_Neighbor_alltoallw(send.image, scounts, sbytes, stypes, have.image, rcounts, rbytes, rtypes, comm)); break;
    case GATHER: OK(MPIX_Neighbor_gather(send.image, one, MPI_INT, have.image, one, received, comm)); break;
  }
  char what[100];
  snprintf(what, sizeof what, "collective %d, at most %d ints, seed %d", which, longest, (int)seed);
  compare(what, &have, &want);
  MPI_Type_free(&holes);
  free(send.image), free(have.image), free(want.image);
}

static graph all_to_all(int times) {
  graph g = graph_new(n);
  for (int s = 0; s < n; s++)
    for (int t = 0; t < n; t++)
      for (int k = 0; k < times && s != t; k++) {
        insert(&g.targets[s], &g.outdegree[s], g.outdegree[s], t);
        insert(&g.sources[t], &g.indegree[t], g.indegree[t], s);
      }
  return g;
}

static int set(const graph *g, int operations, int weight, MPI_Info info) {
  int in = g->indegree[me], out = g->outdegree[me], weights[in + out + 1];
  for (int i = 0; i <= in + out; i++) weights[i] = weight;
  const int *w = weight ? weights : MPI_UNWEIGHTED;
  return MPIX_Neighborhood_set(operations, in, g->sources[me], w, out, g->targets[me], w, info, comm);
}

/* all ways to place processes on nodes, on sparse and crowded graphs */
static void placements(void) {
  const char *nodes;
  for (int i = 0; (nodes = placement(i)) != NULL; i++) {
    MPI_Info info = with("node_aware", nodes);
    for (int edges = n / 2; edges <= 16 * n; edges *= 8) {
      graph g = graph_random(n, edges + i % 3, 100 * i + edges);
      OK(set(&g, MPIX_NEIGHBOR_ALLTOALL | MPIX_NEIGHBOR_GATHER, 0, info));
      const char *text = test_described(MPIX_NEIGHBOR_GATHER, comm);
      CHECK(strstr(text, "schedule node_aware: "), "%s", text);
      for (int which = ALLTOALL; which <= GATHER; which++) exchange(&g, which, 10 * i + which, 6, (i + which) % 2);
      graph_free(&g);
      if (edges == 0) break;
    }
    MPI_Info_free(&info);
  }
}

/* everyone to everyone on two nodes of halves: short blocks as one message, long ones, which wait
   for their receiver, as several */
static void lengths(void) {
  char nodes[20];
  sprintf(nodes, "%d", (n + 1) / 2);
  MPI_Info info = with("node_aware", nodes);
  MPI_Info_set(info, "mpix_loggp", "jaguar");
  graph g = all_to_all(1);
  OK(set(&g, MPIX_NEIGHBOR_ALLTOALL, 8, info));
  int few = all_messages();
  for (int which = ALLTOALL; which <= ALLTOALLW; which++) exchange(&g, which, which, 2, 0);
  OK(set(&g, MPIX_NEIGHBOR_ALLTOALL, 200000, info));
  int more = all_messages();
  for (int which = ALLTOALL; which <= ALLTOALLW; which++) exchange(&g, which, 40 + which, 50000, which % 2);
  if (n == 4) CHECK(few == 4 + 2 + 2 + 2 && more == 4 + 4 + 4, "%d messages for short blocks, %d for long ones", few, more);
  MPI_Info_free(&info);
  graph_free(&g);
}

/* one or two blocks for each process; one of them is wrong, on an edge inside a node, to one that
   carries, between nodes */
static void verified(int times) {
  MPI_Info info = with("node_aware", n > 2 ? "2" : "1");
  MPI_Info_set(info, "mpix_verify", "true");
  graph g = all_to_all(times);
  OK(set(&g, MPIX_NEIGHBOR_ALLTOALL, 0, info));
  MPI_Info_free(&info);
  exchange(&g, ALLTOALLV, 3, 4, 1);
  int verify, degree = times * (n - 1);
  MPIX_Neighbor_error_class(MPIX_ERR_VERIFY, &verify);
  for (int wrong = 0; wrong < n && n > 1; wrong++)
    for (int entry = wrong % 2; entry < degree; entry += n > 4 ? 5 : 1 + times) {
      int send[degree], have[2 * degree], counts[degree], scounts[degree], displs[degree], sdispls[degree], class;
      for (int i = 0; i < degree; i++) {
        send[i] = test_value(me, i, 0), have[2 * i] = have[2 * i + 1] = SENTINEL;
        scounts[i] = counts[i] = 1, sdispls[i] = i, displs[i] = 2 * i;
      }
      if (me == wrong) counts[entry] = 2;
      int source = g.sources[wrong][entry], bad = me == wrong || me == source;
      int rc = MPIX_Neighbor_alltoallv(send, scounts, sdispls, MPI_INT, have, counts, displs, MPI_INT, comm);
      MPI_Error_class(rc, &class);
      CHECK(bad ? class == verify : rc == MPI_SUCCESS, "process %d expects more in entry %d: %s", wrong, entry, test_message(rc));
      for (int j = 0; j < degree; j++) {
        int want = me == wrong && j == entry ? SENTINEL : test_value(g.sources[me][j], graph_partner(&g, me, j), 0);
        CHECK(have[2 * j] == want && have[2 * j + 1] == SENTINEL, "process %d expects more in entry %d: %d in entry %d", wrong, entry, have[2 * j], j);
      }
      /* arguments in error on one process: the others' blocks reach their targets */
      if (entry > 1) continue;
      if (me == wrong) counts[0] = -1;
      rc = MPIX_Neighbor_alltoallv(send, scounts, sdispls, MPI_INT, have, counts, displs, MPI_INT, comm);
      MPI_Error_class(rc, &class);
      CHECK(me == wrong ? class == MPI_ERR_COUNT : class == verify, "arguments of %d in error: %s", wrong, test_message(rc));
      for (int j = 0; j < degree && me != wrong; j++) {
        int s = g.sources[me][j];
        if (s != wrong) CHECK(have[2 * j] == test_value(s, graph_partner(&g, me, j), 0), "arguments of %d in error: %d", wrong, have[2 * j]);
      }
    }
  graph_free(&g);
}

/* the model, and the first calls */
static void choices(void) {
  graph g = all_to_all(1);
  MPI_Info info = with("auto", "2");
  MPI_Info_set(info, "mpix_loggp", "jaguar");
  OK(set(&g, MPIX_NEIGHBOR_ALLTOALL, 8, info));
  const char *text = test_described(MPIX_NEIGHBOR_ALLTOALL, comm);
  /* nothing is looked at where all share a node, or none */
  CHECK(strstr(text, n > 2 ? "by the model" : n == 2 ? "no message waits" : "by the model") || n == 1, "%s", text);
  exchange(&g, ALLTOALL, 5, 3, 0);
  MPI_Info_free(&info);
  info = with("measure", "2");
  OK(set(&g, MPIX_NEIGHBOR_ALLTOALL, 8, info));
  text = test_described(MPIX_NEIGHBOR_ALLTOALL, comm);
  CHECK(!strstr(text, "node_aware") == (n <= 2), "%s", text);
  /* at most 482 calls for each of eight, strict rounds among them: the two scatters fit where one
     process sends, or none */
  for (int call = 0; call < 85 || (call < 8 * 482 && strstr(text, "compare it with")); call++) {
    exchange(&g, ALLTOALLV, call, 3, 0);
    text = test_described(MPIX_NEIGHBOR_ALLTOALL, comm);
  }
  CHECK(strstr(text, "the first calls took"), "%s", text);
  MPI_Info_free(&info);
  graph_free(&g);
}

static void refused(void) {
  graph g = all_to_all(1);
  MPI_Info info = with("node_aware", "2"), silent;
  MPI_Info_create(&silent);
  MPI_Info_set(silent, "mpix_schedule", "node_aware");
  FAILS(set(&g, MPIX_NEIGHBOR_ALLTOALL, 0, silent), MPI_ERR_ARG, "mpix_whole_communicator=true must promise");
  FAILS(set(&g, ALL_OPERATIONS, 0, info), MPI_ERR_ARG, "set MPIX_NEIGHBOR_REDUCE by another call");
  FAILS(set(&g, MPIX_NEIGHBOR_REDUCE, 0, info), MPI_ERR_ARG, "set MPIX_NEIGHBOR_REDUCE by another call");
  MPI_Info_set(info, "mpix_graph_limit", "0");
  if (n > 1) FAILS(set(&g, MPIX_NEIGHBOR_ALLTOALL, 0, info), MPI_ERR_ARG, "are more than mpix_graph_limit = 0");
  MPI_Info_free(&info);
  const char *wrong[] = {"0", "two", "1,", "-1,1"};
  for (int i = 0; i < 4; i++) {
    info = with("node_aware", wrong[i]);
    FAILS(set(&g, MPIX_NEIGHBOR_ALLTOALL, 0, info), MPI_ERR_INFO_VALUE, "is not one of a number of processes");
    MPI_Info_free(&info);
  }
  info = with("node_aware", "0,1,2,3,4,5,6,7,8");
  char text[100];
  sprintf(text, "mpix_nodes names the nodes of 9 processes, but the communicator has %d", n);
  FAILS(set(&g, MPIX_NEIGHBOR_ALLTOALL, 0, info), MPI_ERR_ARG, text);
  MPI_Info_free(&info);
  if (n > 1) {
    int mismatch = -1;
    MPIX_Neighbor_error_class(MPIX_ERR_MISMATCH, &mismatch);
    info = with("node_aware", me ? "2" : "1");
    FAILS(set(&g, MPIX_NEIGHBOR_ALLTOALL, 0, info), mismatch, "mpix_nodes");
    MPI_Info_free(&info);
  }
  /* another operation with the same lists and hints gets the same schedule, but a reduction does
     not */
  info = with("node_aware", "2");
  OK(set(&g, MPIX_NEIGHBOR_ALLTOALL, 0, info));
  OK(set(&g, MPIX_NEIGHBOR_GATHER, 0, info));
  FAILS(set(&g, MPIX_NEIGHBOR_REDUCE, 0, info), MPI_ERR_ARG, "set MPIX_NEIGHBOR_REDUCE by another call");
  exchange(&g, ALLTOALL, 1, 3, 0);
  exchange(&g, GATHER, 2, 3, 0);
  MPI_Info_free(&info);
  MPI_Info_free(&silent);
  graph_free(&g);
}

/* the nodes that MPI finds, without a hint: as if a hint named them */
static void real_nodes(void) {
  MPI_Comm node;
  int leader = me, first, leads, nodes, leaders[n];
  char text[1000], *at = text;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Bcast(&leader, 1, MPI_INT, 0, node);
  leads = leader == me;
  MPI_Allreduce(&leads, &nodes, 1, MPI_INT, MPI_SUM, comm);
  MPI_Allgather(&leader, 1, MPI_INT, leaders, 1, MPI_INT, comm);
  MPI_Comm_free(&node);
  const char *hosts = getenv("HOSTS");
  if (hosts) CHECK(nodes == atoi(hosts), "MPI finds %d nodes on %s hosts", nodes, hosts);
  for (int r = 0; r < n; r++) at += sprintf(at, "%s%d", r ? "," : "", leaders[r]);
  graph g = all_to_all(1);
  for (int named = 0; named < 2; named++) {
    MPI_Info info = with("node_aware", named ? n > 1 ? text : "1" : NULL);
    OK(set(&g, MPIX_NEIGHBOR_ALLTOALL, 0, info));
    MPI_Info_free(&info);
    int messages = all_messages();
    if (named) CHECK(messages == first, "%d messages, but %d on nodes that are named", first, messages);
    first = messages;
    for (int which = ALLTOALL; which <= ALLTOALLW; which++) exchange(&g, which, which, 2000, which % 2);
  }
  graph_free(&g);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  me = test_rank, n = test_size;
  comm = test_duplicate();
  real_nodes();
  lengths();
  placements();
  if (!getenv("HOSTS")) {
    refused();
    if (test_form() == BLOCKING) choices();
    /* whose starts differ in number where arguments are in error */
    if (test_form() != PERSISTENT) verified(1), verified(2);
  }
  MPI_Comm_free(&comm);
  return test_finish();
}
