/* Neighborhoods from topologies: Cartesian grids with open and periodic dimensions of sizes 1, 2
   and more, graphs, distributed graphs; lists with weights on Cartesian communicators. Every block
   names sender, receiver, edge and element, so that no mix-up goes unseen. */
#include "forms.h"

enum { COUNT = 3, MAX_DIMS = 4 };

static int value(int sender, int receiver, int edge, int k) { return ((sender * 64 + receiver) * 16 + edge) * 8 + k; }

/* in entry j arrives the block that was sent the other way, as the definition says */
static void check_cartesian(MPI_Comm cart, int ndims, const char *name) {
  int me, up, down, entries = 2 * ndims;
  MPI_Comm_rank(cart, &me);
  int neighbors[2 * MAX_DIMS + 1];
  for (int d = 0; d < ndims; d++) {
    MPI_Cart_shift(cart, d, 1, &down, &up);
    neighbors[2 * d] = down;
    neighbors[2 * d + 1] = up;
  }
  int in, out, weighted;
  OK(MPIX_Neighborhood_get_count(MPIX_NEIGHBOR_ALLTOALL, cart, &in, &out, &weighted));
  CHECK(in == entries && out == entries && !weighted, "%s: degrees %d, %d", name, in, out);
  int sources[2 * MAX_DIMS + 1], targets[2 * MAX_DIMS + 1];
  OK(MPIX_Neighborhood_get(MPIX_NEIGHBOR_ALLTOALL, cart, entries, sources, MPI_UNWEIGHTED, entries, targets, MPI_UNWEIGHTED));
  for (int i = 0; i < entries; i++) CHECK(sources[i] == neighbors[i] && targets[i] == neighbors[i], "%s: entry %d", name, i);

  int send[2 * MAX_DIMS * COUNT + 1], have[2 * MAX_DIMS * COUNT + 1], want[2 * MAX_DIMS * COUNT + 1], gathered[2 * MAX_DIMS * COUNT + 1];
  int counts[2 * MAX_DIMS + 1], displs[2 * MAX_DIMS + 1];
  MPI_Aint bytes[2 * MAX_DIMS + 1];
  MPI_Datatype types[2 * MAX_DIMS + 1];
  for (int i = 0; i < entries; i++) {
    counts[i] = COUNT;
    displs[i] = i * COUNT;
    bytes[i] = displs[i] * (MPI_Aint)sizeof(int);
    types[i] = MPI_INT;
    for (int k = 0; k < COUNT; k++) {
      send[i * COUNT + k] = value(me, neighbors[i], i, k);
      want[i * COUNT + k] = neighbors[i] == MPI_PROC_NULL ? -1 : value(neighbors[i], me, i ^ 1, k);
    }
  }
  for (int form = 0; form < 3; form++) {
    for (int i = 0; i < entries * COUNT; i++) have[i] = -1;
    if (form == 0) OK(MPIX_Neighbor_alltoall(send, COUNT, MPI_INT, have, COUNT, MPI_INT, cart));
    if (form == 1) OK(MPIX_Neighbor_alltoallv(send, counts, displs, MPI_INT, have, counts, displs, MPI_INT, cart));
    if (form == 2) OK(MPIX_Neighbor_alltoallw(send, counts, bytes, types, have, counts, bytes, types, cart));
    for (int i = 0; i < entries * COUNT; i++)
      CHECK(have[i] == want[i], "%s: form %d, entry %d: %d, not %d", name, form, i / COUNT, have[i], want[i]);
  }
  /* the same schedule, folded: the difference of sums names the entries' order only in reduce.c;
     here the right blocks must be in */
  long sum = -1, sum_of_blocks = -1, mine = 1L << me, blocks[2 * MAX_DIMS + 1], want_sum = 0, want_blocks = 0;
  int ones[2 * MAX_DIMS + 1], at[2 * MAX_DIMS + 1];
  for (int i = 0; i < entries; i++) {
    ones[i] = 1, at[i] = i;
    blocks[i] = value(me, me, i, 1);
    if (neighbors[i] == MPI_PROC_NULL) continue;
    want_sum += 1L << neighbors[i];
    want_blocks += value(neighbors[i], neighbors[i], i ^ 1, 1);
  }
  OK(MPIX_Neighbor_reduce(&mine, 1, MPI_LONG, &sum, 1, MPI_LONG, MPI_SUM, cart));
  OK(MPIX_Neighbor_reducev(blocks, ones, at, MPI_LONG, &sum_of_blocks, 1, MPI_LONG, MPI_SUM, cart));
  CHECK(sum == (want_sum ? want_sum : -1), "%s: reduce: %ld, not %ld", name, sum, want_sum);
  CHECK(sum_of_blocks == (want_sum ? want_blocks : -1), "%s: reducev: %ld, not %ld", name, sum_of_blocks, want_blocks);
  for (int i = 0; i < entries; i++) gathered[i] = -1;
  OK(MPIX_Neighbor_gather(&me, 1, MPI_INT, gathered, 1, MPI_INT, cart));
  for (int i = 0; i < entries; i++)
    CHECK(gathered[i] == (neighbors[i] == MPI_PROC_NULL ? -1 : neighbors[i]), "%s: gather, entry %d: %d", name, i, gathered[i]);
}

/* all ways to write the number of processes as a product of up to MAX_DIMS sizes would be many:
   take those with small and equal factors */
static void cartesian_grids(void) {
  static const int shapes[][MAX_DIMS] = {{0}, {1, 0}, {0, 1}, {2, 0}, {0, 2}, {1, 1, 0}, {2, 2, 0}, {2, 1, 2, 0}, {0, 0}, {0, 0, 0}, {1, 2, 0, 1}, {0, 0, 0, 0}};
  static const int lengths[] = {1, 2, 2, 2, 2, 3, 3, 4, 2, 3, 4, 4};
  for (size_t s = 0; s < sizeof lengths / sizeof *lengths; s++) {
    int ndims = lengths[s], dims[MAX_DIMS], fixed = 1;
    for (int d = 0; d < ndims; d++) {
      dims[d] = shapes[s][d];
      if (dims[d]) fixed *= dims[d];
    }
    if (test_size % fixed) continue;
    if (MPI_Dims_create(test_size, ndims, dims) != MPI_SUCCESS) continue;
    /* all periodic, all open, alternating */
    for (int kind = 0; kind < 3; kind++) {
      /* making communicators is slow where processes outnumber cores */
      if (test_size > 4 && kind != (int)s % 3) continue;
      int periods[MAX_DIMS];
      char name[100];
      for (int d = 0; d < ndims; d++) periods[d] = kind == 0 || (kind == 2 && d % 2);
      snprintf(name, sizeof name, "grid %dx%dx%dx%d, kind %d", dims[0], ndims > 1 ? dims[1] : 0, ndims > 2 ? dims[2] : 0, ndims > 3 ? dims[3] : 0, kind);
      MPI_Comm cart;
      MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &cart);
      OK(MPIX_Neighborhood_set_topology(ALL_OPERATIONS, MPI_INFO_NULL, cart));
      check_cartesian(cart, ndims, name);
      MPI_Comm_free(&cart);
    }
  }
}

/* lists with weights on a Cartesian communicator: each process lists its neighbors in another
   order. SparseColl's circular pattern: heavy edges go around in squares. Matching is k-th to k-th,
   whatever the schedule. */
static void weighted_lists(void) {
  int dims[2] = {0, 0}, periods[2] = {1, 1}, me;
  MPI_Comm cart;
  MPI_Dims_create(test_size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
  MPI_Comm_rank(cart, &me);
  int lists[64][4];
  for (int r = 0; r < test_size; r++) {
    int c[2], n[4], at[2];
    MPI_Cart_coords(cart, r, 2, c);
    for (int i = 0; i < 4; i++) {
      at[0] = c[0] + (i == 0 ? -1 : i == 1);
      at[1] = c[1] + (i == 2 ? -1 : i == 3);
      MPI_Cart_rank(cart, at, &n[i]);
    }
    for (int i = 0; i < 4; i++) lists[r][i] = n[(i + r) % 4];
  }
  int weights[4] = {1, 1000, 1, 1000};
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, 4, lists[me], weights, 4, lists[me], weights, MPI_INFO_NULL, cart));
  int in, out, weighted, got[4], ranks[4];
  OK(MPIX_Neighborhood_get_count(MPIX_NEIGHBOR_ALLTOALL, cart, &in, &out, &weighted));
  CHECK(weighted == 1, "weights are forgotten");
  OK(MPIX_Neighborhood_get(MPIX_NEIGHBOR_ALLTOALL, cart, 4, ranks, got, 0, NULL, NULL));
  for (int i = 0; i < 4; i++) CHECK(got[i] == weights[i] && ranks[i] == lists[me][i], "entry %d: weight %d", i, got[i]);
  int send[4], have[4];
  for (int i = 0; i < 4; i++) send[i] = value(me, lists[me][i], i, 0);
  OK(MPIX_Neighbor_alltoall(send, 1, MPI_INT, have, 1, MPI_INT, cart));
  for (int j = 0; j < 4; j++) {
    int s = lists[me][j], k = 0, i;
    for (i = 0; i < j; i++) k += lists[me][i] == s;
    for (i = 0; i < 4; i++)
      if (lists[s][i] == me && k-- == 0) break;
    CHECK(have[j] == value(s, me, i, 0), "weighted lists: entry %d: %d", j, have[j]);
  }
  char text[4000];
  int length;
  OK(MPIX_Neighborhood_describe(MPIX_NEIGHBOR_ALLTOALL, cart, sizeof text, text, &length));
  const char *asked = getenv("MPIX_SCHEDULE");
  char expected[64];
  snprintf(expected, sizeof expected, "schedule %s:", asked ? asked : "direct");
  CHECK(strstr(text, expected) && (size_t)length == strlen(text), "describe: %s", text);
  MPI_Comm_free(&cart);
}

static void graphs(void) {
  if (getenv("MPIX_SCHEDULE") && strcmp(getenv("MPIX_SCHEDULE"), "dimension_order") == 0) return;
  /* a ring with a chord to process 0; every process lists its neighbors twice */
  int index[64], edges[64 * 8], n = 0;
  for (int r = 0; r < test_size; r++) {
    for (int twice = 0; twice < 2; twice++) {
      edges[n++] = (r + 1) % test_size;
      edges[n++] = (r + test_size - 1) % test_size;
    }
    index[r] = n;
  }
  MPI_Comm comm;
  MPI_Graph_create(MPI_COMM_WORLD, test_size, index, edges, 0, &comm);
  OK(MPIX_Neighborhood_set_topology(MPIX_NEIGHBOR_ALLTOALL, MPI_INFO_NULL, comm));
  int send[4], have[4], me = test_rank;
  for (int i = 0; i < 4; i++) send[i] = value(me, edges[4 * me + i], i, 0);
  OK(MPIX_Neighbor_alltoall(send, 1, MPI_INT, have, 1, MPI_INT, comm));
  for (int j = 0; j < 4; j++) {
    int s = edges[4 * me + j], k = 0, i;
    for (i = 0; i < j; i++) k += edges[4 * me + i] == s;
    for (i = 0; i < 4; i++)
      if (edges[4 * s + i] == me && k-- == 0) break;
    CHECK(have[j] == value(s, me, i, 0), "graph: entry %d: %d", j, have[j]);
  }
  MPI_Comm_free(&comm);

  /* distributed graph, directed and weighted: process r sends r + 1 blocks to its right neighbor,
     the last one none */
  int out = me == test_size - 1 ? 0 : me + 1, in = me, right[64], left[64], weights[64];
  for (int i = 0; i < 64; i++) right[i] = me + 1, left[i] = me - 1, weights[i] = 10 + i;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, left, in ? weights : MPI_WEIGHTS_EMPTY, out, right, out ? weights : MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &comm);
  OK(MPIX_Neighborhood_set_topology(MPIX_NEIGHBOR_ALLTOALL | MPIX_NEIGHBOR_REDUCE, MPI_INFO_NULL, comm));
  int got_in, got_out, weighted, ranks[64], got[64];
  OK(MPIX_Neighborhood_get_count(MPIX_NEIGHBOR_REDUCE, comm, &got_in, &got_out, &weighted));
  CHECK(got_in == in && got_out == out && weighted == (in + out > 0), "dist graph: %d, %d, %d", got_in, got_out, weighted);
  OK(MPIX_Neighborhood_get(MPIX_NEIGHBOR_REDUCE, comm, 64, ranks, got, 0, NULL, NULL));
  for (int j = 0; j < in; j++) CHECK(ranks[j] == me - 1 && got[j] == 10 + j, "dist graph: source %d", j);
  int blocks[64], arrived[64], sum = -5, want = 0;
  for (int i = 0; i < out; i++) blocks[i] = value(me, me + 1, i % 16, i / 16);
  OK(MPIX_Neighbor_alltoall(blocks, 1, MPI_INT, arrived, 1, MPI_INT, comm));
  for (int j = 0; j < in; j++) CHECK(arrived[j] == value(me - 1, me, j % 16, j / 16), "dist graph: entry %d", j);
  OK(MPIX_Neighbor_reduce(&me, 1, MPI_INT, &sum, 1, MPI_INT, MPI_SUM, comm));
  for (int j = 0; j < in; j++) want += me - 1;
  CHECK(sum == (in ? want : -5), "dist graph: sum %d", sum);
  MPI_Comm_free(&comm);
}

/* unweighted distributed graphs, duplicates of them, and a process of degree 0 with
   MPI_UNWEIGHTED */
static void unweighted(void) {
  if (getenv("MPIX_SCHEDULE") && strcmp(getenv("MPIX_SCHEDULE"), "dimension_order") == 0) return;
  int me = test_rank, last = me == test_size - 1, left = me - 1, right = me + 1, in, out, weighted, got = -1;
  MPI_Comm comm, copy;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, me > 0, &left, MPI_UNWEIGHTED, !last, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  MPI_Comm_dup(comm, &copy);
  MPI_Comm both[2] = {comm, copy};
  for (int i = 0; i < 2; i++) {
    OK(MPIX_Neighborhood_set_topology(MPIX_NEIGHBOR_GATHER, MPI_INFO_NULL, both[i]));
    OK(MPIX_Neighborhood_get_count(MPIX_NEIGHBOR_GATHER, both[i], &in, &out, &weighted));
    CHECK(in == (me > 0) && out == !last && !weighted, "unweighted: %d, %d, %d", in, out, weighted);
    OK(MPIX_Neighbor_gather(&me, 1, MPI_INT, &got, 1, MPI_INT, both[i]));
    CHECK(got == me - 1, "unweighted: %d", got);
    MPI_Comm_free(&both[i]);
  }
}

/* with verification: a block that does not fit is reported at both ends, under every schedule, and
   all others arrive */
static void mismatch(void) {
  if (!getenv("MPIX_NEIGHBOR_VERIFY")) return;
  int dims[2] = {0, 0}, periods[2] = {1, 1}, me, verify, class, neighbors[4];
  MPI_Comm cart;
  MPI_Dims_create(test_size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
  MPI_Comm_set_errhandler(cart, MPI_ERRORS_RETURN);
  MPI_Comm_rank(cart, &me);
  for (int d = 0; d < 2; d++) MPI_Cart_shift(cart, d, 1, &neighbors[2 * d], &neighbors[2 * d + 1]);
  OK(MPIX_Neighbor_error_class(MPIX_ERR_VERIFY, &verify));
  OK(MPIX_Neighborhood_set_topology(MPIX_NEIGHBOR_ALLTOALL, MPI_INFO_NULL, cart));
  for (int entry = 0; entry < 4; entry++) {
    int send[8], have[8], counts[4] = {1, 1, 1, 1}, displs[4] = {0, 2, 4, 6}, ones[4] = {1, 1, 1, 1};
    for (int i = 0; i < 4; i++) send[2 * i] = value(me, neighbors[i], i, 0), have[2 * i] = -1;
    counts[entry] = me == 0 ? 2 : 1;
    int rc = MPIX_Neighbor_alltoallv(send, counts, displs, MPI_INT, have, ones, displs, MPI_INT, cart);
    /* the receiver's entry on the other side */
    int bad = neighbors[entry ^ 1] == 0 ? entry ^ 1 : -1;
    MPI_Error_class(rc, &class);
    CHECK(class == (me == 0 || bad >= 0 ? verify : MPI_SUCCESS), "mismatch in entry %d: class %d", entry, class);
    for (int j = 0; j < 4; j++)
      CHECK(have[2 * j] == (j == bad ? -1 : value(neighbors[j], me, j ^ 1, 0)), "mismatch in entry %d: entry %d: %d", entry, j, have[2 * j]);
  }
  MPI_Comm_free(&cart);
}

/* one process that is all its own neighbors: more neighbors than processes */
static void self(void) {
  int dims[3] = {1, 1, 1}, periods[3] = {1, 1, 1};
  MPI_Comm cart;
  MPI_Cart_create(MPI_COMM_SELF, 3, dims, periods, 0, &cart);
  OK(MPIX_Neighborhood_set_topology(ALL_OPERATIONS, MPI_INFO_NULL, cart));
  check_cartesian(cart, 3, "three periodic dimensions of one process");
  /* self edges are copied, never sent */
  const char *text = test_described(MPIX_NEIGHBOR_ALLTOALL, cart);
  CHECK(strstr(text, ", 0 messages;"), "%s", text);
  MPI_Comm_free(&cart);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  cartesian_grids();
  weighted_lists();
  graphs();
  unweighted();
  mismatch();
  self();
  return test_finish();
}
