/* messages combined along the dimensions of a grid, against the definition: one field with ghost
   cells whose send regions overlap, blocks of other lengths on each edge, gathers, stencils of any
   offsets, how many messages there are, and what is an error. Receive buffers are compared
   whole. */
#include "forms.h"

/* messages and bytes that the library sends */
static long messages, bytes;

int MPI_Isend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
  int size;
  MPI_Type_size(type, &size);
  messages++, bytes += (long)count * size;
  return PMPI_Isend(buf, count, type, dest, tag, comm, request);
}

enum { D = 3, MOST = 40, SENTINEL = -77 };

static int me, n, dims[D], periods[D], coords[D];
static int forced; /* whether MPIX_SCHEDULE asks for combining */
static MPI_Comm grid;

/* the process at coords + times * offset; MPI_PROC_NULL beyond an open end */
static int neighbor(const int *offset, int times) {
  int at[D], rank;
  for (int d = 0; d < D; d++) {
    at[d] = coords[d] + times * offset[d];
    if (periods[d]) at[d] = (at[d] % dims[d] + dims[d]) % dims[d];
    else if (at[d] < 0 || at[d] >= dims[d]) return MPI_PROC_NULL;
  }
  OK(MPI_Cart_rank(grid, at, &rank));
  return rank;
}

/* edges in one order on all processes, with or without the entries that hold no process; of entry i
   of a list the number of its offset */
static int edges, offsets[MOST][D];
static int indegree, outdegree, sources[MOST], targets[MOST], came[MOST], went[MOST];

static void offset(int x, int y, int z) { offsets[edges][0] = x, offsets[edges][1] = y, offsets[edges][2] = z, edges++; }

static void full(void) {
  edges = 0;
  for (int i = 0; i < 27; i++) {
    int k = i * 5 % 27; /* in no order that a library could expect */
    if (k != 13) offset(k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1);
  }
}

static int set(int operations, int weight, int nulls, MPI_Info info, MPI_Comm comm) {
  int weights[MOST];
  indegree = outdegree = 0;
  for (int i = 0; i < edges; i++) {
    int from = neighbor(offsets[i], -1), to = neighbor(offsets[i], 1);
    weights[i] = weight;
    if (nulls || from != MPI_PROC_NULL) sources[indegree] = from, came[indegree++] = i;
    if (nulls || to != MPI_PROC_NULL) targets[outdegree] = to, went[outdegree++] = i;
  }
  const int *w = weight ? weights : MPI_UNWEIGHTED;
  return MPIX_Neighborhood_set(operations, indegree, sources, w, outdegree, targets, w, info, comm);
}

/* how many messages a process sends by combining where all processes around it are there */
static int full_messages(void) {
  int messages = 0;
  for (int d = 0; d < D; d++) {
    if (periods[d]) messages += dims[d] > 2 ? 2 : dims[d] - 1;
    else messages += (coords[d] > 0) + (coords[d] + 1 < dims[d]);
  }
  return messages;
}

static void check_messages(int operation, int expected) {
  char text[40];
  snprintf(text, sizeof text, "%d message%s;", expected, expected == 1 ? "" : "s");
  CHECK(!forced || (strstr(test_described(operation, grid), "schedule combining") && strstr(test_described(operation, grid), text)), "%s is not in %s", text, test_described(operation, grid));
}

/* a cell of a process's own part of the field */
static int cell(int rank, const int *at) { return (int)(mix2(mix3(rank, at[0], at[1]), at[2]) & 0x7fffffff); }

/* one field with a border of ghost cells: what goes to a corner is also part of what goes to edges
   and faces */
static void field(void) {
  int inner[D] = {3, 4, 2}, sizes[D] = {5, 6, 4};
  MPI_Datatype stypes[MOST], rtypes[MOST];
  int ones[MOST];
  MPI_Aint zeros[MOST];
  full();
  OK(set(MPIX_NEIGHBOR_ALLTOALL, 0, 1, MPI_INFO_NULL, grid));
  check_messages(MPIX_NEIGHBOR_ALLTOALL, full_messages());
  for (int i = 0; i < edges; i++) {
    int extents[D], from[D], into[D];
    for (int d = 0; d < D; d++) {
      int o = offsets[i][d];
      extents[d] = o ? 1 : inner[d];
      from[d] = o > 0 ? inner[d] : 1;
      into[d] = o > 0 ? 0 : o < 0 ? inner[d] + 1 : 1; /* what travels up comes from below */
    }
    OK(MPI_Type_create_subarray(D, sizes, extents, from, MPI_ORDER_C, MPI_INT, &stypes[i]));
    OK(MPI_Type_create_subarray(D, sizes, extents, into, MPI_ORDER_C, MPI_INT, &rtypes[i]));
    MPI_Type_commit(&stypes[i]), MPI_Type_commit(&rtypes[i]);
    ones[i] = 1, zeros[i] = 0;
  }
  buffer have = new_buffer(5 * 6 * 4, SENTINEL), want = new_buffer(5 * 6 * 4, SENTINEL);
  for (int i = 0; i < have.total; i++) {
    int at[D] = {i / 24, i / 4 % 6, i % 4}, away[D], inside = 1;
    for (int d = 0; d < D; d++) {
      away[d] = at[d] == 0 ? -1 : at[d] > inner[d];
      inside &= away[d] == 0;
      if (away[d]) at[d] += away[d] < 0 ? inner[d] : -inner[d];
    }
    int owner = neighbor(away, 1);
    if (owner != MPI_PROC_NULL) want.image[i] = cell(owner, at);
    if (inside) have.image[i] = cell(me, at);
  }
  OK(MPIX_Neighbor_alltoallw(have.image, ones, zeros, stypes, have.image, ones, zeros, rtypes, grid));
  compare("field", &have, &want);
  for (int i = 0; i < edges; i++) MPI_Type_free(&stypes[i]), MPI_Type_free(&rtypes[i]);
  free(have.image), free(want.image);
}

/* ints on the edge of offset i from a process, some of them none, and what they are */
static int length(int from, int i, int round) { return (int)(mix3(from, i, round) % 6); }
static int value(int from, int to, int i, int k) { return (int)(mix2(mix3(from, to, i), k) & 0x7fffffff); }

static void vector(int round) {
  int scounts[MOST], sdispls[MOST], rcounts[MOST], rdispls[MOST];
  buffer send = new_buffer(6 * MOST, SENTINEL), have = new_buffer(6 * MOST, SENTINEL), want = new_buffer(6 * MOST, SENTINEL);
  for (int i = 0; i < outdegree; i++) {
    scounts[i] = length(me, went[i], round), sdispls[i] = 6 * (outdegree - 1 - i);
    for (int k = 0; k < scounts[i]; k++) send.image[sdispls[i] + k] = value(me, targets[i], went[i], k);
  }
  for (int i = 0; i < indegree; i++) {
    rcounts[i] = sources[i] == MPI_PROC_NULL ? 0 : length(sources[i], came[i], round), rdispls[i] = 6 * i;
    for (int k = 0; k < rcounts[i]; k++) want.image[rdispls[i] + k] = value(sources[i], me, came[i], k);
  }
  OK(MPIX_Neighbor_alltoallv(send.image, scounts, sdispls, MPI_INT, have.image, rcounts, rdispls, MPI_INT, grid));
  compare("alltoallv", &have, &want);
  free(send.image), free(have.image), free(want.image);
}

/* a block of a process's own length to all; received in every second int */
static void gather(int round) {
  int rcounts[MOST], rdispls[MOST], values[7];
  MPI_Datatype strided;
  OK(MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &strided));
  MPI_Type_commit(&strided);
  buffer have = new_buffer(14 * MOST, SENTINEL), want = new_buffer(14 * MOST, SENTINEL);
  for (int k = 0; k < 7; k++) values[k] = value(me, round, 0, k);
  for (int i = 0; i < indegree; i++) {
    rcounts[i] = sources[i] == MPI_PROC_NULL ? 0 : 1 + length(sources[i], 0, round), rdispls[i] = 7 * i;
    for (int k = 0; k < rcounts[i]; k++) want.image[2 * (rdispls[i] + k)] = value(sources[i], round, 0, k);
  }
  OK(MPIX_Neighbor_gatherv(values, 1 + length(me, 0, round), MPI_INT, have.image, rcounts, rdispls, strided, grid));
  compare("gatherv", &have, &want);
  for (int i = 0; i < have.total; i++) have.image[i] = want.image[i] = SENTINEL;
  for (int i = 0; i < indegree; i++)
    for (int k = 0; k < 7 && sources[i] != MPI_PROC_NULL; k++) want.image[7 * i + k] = value(sources[i], round, 0, k);
  OK(MPIX_Neighbor_gather(values, 7, MPI_INT, have.image, 7, MPI_INT, grid));
  compare("gather", &have, &want);
  MPI_Type_free(&strided);
  free(have.image), free(want.image);
}

static void exchange(int rounds) {
  for (int round = 0; round < rounds; round++) vector(round), gather(round);
}

/* full stencils, and others: repeated edges, edges to itself, far ones, ones that need the
   promise */
static void stencils(void) {
  int both = MPIX_NEIGHBOR_GATHER | MPIX_NEIGHBOR_ALLTOALL;
  full();
  OK(set(both, 0, 0, MPI_INFO_NULL, grid));
  check_messages(MPIX_NEIGHBOR_GATHER, full_messages());
  check_messages(MPIX_NEIGHBOR_ALLTOALL, full_messages());
  exchange(3);
  /* as MPI gives it: no corners, nothing to combine */
  OK(MPIX_Neighborhood_set_topology(both, MPI_INFO_NULL, grid));
  if (forced) CHECK(strstr(test_described(MPIX_NEIGHBOR_GATHER, grid), "schedule combining"), "%s", test_described(MPIX_NEIGHBOR_GATHER, grid));
  MPI_Info promise = test_hint("mpix_whole_communicator", "true");
  edges = 0;
  offset(2, -1, 0), offset(0, 0, 0), offset(1, 1, 0), offset(2, -1, 0), offset(0, 0, -1), offset(1, 1, 0), offset(0, 0, 0), offset(-1, 0, 1), offset(0, 2, 2);
  OK(set(both, 0, 1, promise, grid));
  exchange(2);
  /* several bytes in a message of one block */
  edges = 0;
  offset(1, 1, 1);
  OK(set(both, 0, 0, promise, grid));
  exchange(2);
  edges = 0;
  OK(set(both, 0, 0, promise, grid));
  exchange(1);
  MPI_Info_free(&promise);
}

/* the cost of full stencils on a periodic grid: in an alltoall a block travels once for each
   dimension, in a gather it is in a message once; beyond that there are 8 bytes for each block of a
   message */
static void counted(void) {
  enum { INTS = 100 };
  long each = INTS * (long)sizeof(int), alltoall = 0, gather = 0, held = 1;
  for (int d = 0; d < D; d++) {
    int ways = dims[d] > 2 ? 2 : dims[d] - 1;
    if (ways) alltoall += 18 * each;
    gather += ways * held * each, held *= 1 + ways;
  }
  full();
  OK(set(MPIX_NEIGHBOR_ALLTOALL | MPIX_NEIGHBOR_GATHER, 0, 0, MPI_INFO_NULL, grid));
  int *values = calloc(26 * INTS, sizeof(int)), *have = calloc(26 * INTS, sizeof(int));
  messages = bytes = 0;
  OK(MPIX_Neighbor_alltoall(values, INTS, MPI_INT, have, INTS, MPI_INT, grid));
  CHECK(messages == full_messages(), "%ld messages, not %d", messages, full_messages());
  CHECK(bytes >= alltoall && bytes <= alltoall + 8 * 54, "%ld bytes, of which %ld are blocks", bytes, alltoall);
  messages = bytes = 0;
  OK(MPIX_Neighbor_gather(values, INTS, MPI_INT, have, INTS, MPI_INT, grid));
  CHECK(messages == full_messages(), "%ld messages, not %d", messages, full_messages());
  CHECK(bytes >= gather && bytes <= gather + 8 * 54, "%ld bytes, of which %ld are blocks", bytes, gather);
  free(values), free(have);
}

/* long blocks: nothing is sent before its receiver asks */
static void long_blocks(void) {
  enum { LONG = 20000 };
  full();
  OK(set(MPIX_NEIGHBOR_ALLTOALL, 0, 0, MPI_INFO_NULL, grid));
  buffer send = new_buffer(LONG * 26, 0), have = new_buffer(LONG * 26, SENTINEL), want = new_buffer(LONG * 26, SENTINEL);
  for (int i = 0; i < outdegree; i++)
    for (int k = 0; k < LONG; k++) send.image[i * LONG + k] = value(me, targets[i], went[i], k);
  for (int i = 0; i < indegree; i++)
    for (int k = 0; k < LONG; k++) want.image[i * LONG + k] = value(sources[i], me, came[i], k);
  OK(MPIX_Neighbor_alltoall(send.image, LONG, MPI_INT, have.image, LONG, MPI_INT, grid));
  compare("long blocks", &have, &want);
  free(send.image), free(have.image), free(want.image);
}

/* set calls whose blocks cannot be combined */
static void refused(void) {
  full();
  test_fails(__LINE__, grid, set(ALL_OPERATIONS, 0, 0, MPI_INFO_NULL, grid), MPI_ERR_ARG, "set MPIX_NEIGHBOR_REDUCE by another call");
  test_fails(__LINE__, grid, set(MPIX_NEIGHBOR_REDUCE, 0, 0, MPI_INFO_NULL, grid), MPI_ERR_ARG, "set MPIX_NEIGHBOR_REDUCE by another call");
  /* one that is set does not serve a reduce with the same lists and hints, but a gather */
  OK(set(MPIX_NEIGHBOR_ALLTOALL, 0, 0, MPI_INFO_NULL, grid));
  test_fails(__LINE__, grid, set(MPIX_NEIGHBOR_REDUCE, 0, 0, MPI_INFO_NULL, grid), MPI_ERR_ARG, "set MPIX_NEIGHBOR_REDUCE by another call");
  OK(set(MPIX_NEIGHBOR_GATHER, 0, 0, MPI_INFO_NULL, grid));
  exchange(1);
  MPI_Comm flat = test_duplicate();
  MPI_Comm cartesian = grid;
  int rc = set(MPIX_NEIGHBOR_ALLTOALL, 0, 0, MPI_INFO_NULL, flat);
  grid = flat;
  test_fails(__LINE__, grid, rc, MPI_ERR_ARG, "it needs a Cartesian communicator");
  grid = cartesian;
  MPI_Comm_free(&flat);
  if (n > 2) {
    /* a ring of all ranks, with one edge twice */
    int into[2] = {(me + n - 1) % n, 0}, out[2] = {(me + 1) % n, 1}, thick = 0;
    for (int d = 0; d < D; d++) thick += dims[d] > 1;
    rc = MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, 1 + (me == 1), into, MPI_UNWEIGHTED, 1 + (me == 0), out, MPI_UNWEIGHTED, MPI_INFO_NULL, grid);
    test_fails(__LINE__, grid, rc, MPI_ERR_ARG, "neighbors at the same offsets");
    if (thick > 1) {
      edges = 0;
      offset(1, 1, dims[2] > 1);
      test_fails(__LINE__, grid, set(MPIX_NEIGHBOR_ALLTOALL, 0, 0, MPI_INFO_NULL, grid), MPI_ERR_ARG, "mpix_whole_communicator=true must promise");
    }
  }
}

/* verification: those who pass on others' blocks do so whatever is wrong with their own */
static void verified(void) {
  int verify = -1;
  MPIX_Neighbor_error_class(MPIX_ERR_VERIFY, &verify);
  MPI_Info info = test_hint("mpix_verify", "true");
  full();
  OK(set(MPIX_NEIGHBOR_ALLTOALL, 0, 1, info, grid));
  MPI_Info_free(&info);
  for (int wrong = 0; wrong < n; wrong += n > 4 ? 5 : 1)
    for (int how = 0; how < 3; how++) {
      int values[MOST], have[2 * MOST], touched = me == wrong;
      for (int i = 0; i < edges; i++) values[i] = value(me, targets[i], i, how);
      for (int i = 0; i < 2 * MOST; i++) have[i] = SENTINEL;
      for (int i = 0; i < edges; i++) touched |= sources[i] == wrong || targets[i] == wrong;
      /* arguments in error on the receiving or on the sending side, or two ints expected where one
         comes */
      int rcount = me != wrong || how == 1 ? 1 : how == 0 ? -1 : 2;
      int rc = MPIX_Neighbor_alltoall(values, me == wrong && how == 1 ? -1 : 1, MPI_INT, have, rcount, MPI_INT, grid);
      if (me == wrong && how < 2) test_fails(__LINE__, grid, rc, MPI_ERR_COUNT, "= -1 is negative");
      else if (touched && how < 2) test_fails(__LINE__, grid, rc, verify, "as its arguments are in error");
      else if (touched && n > 1) CHECK(rc != MPI_SUCCESS, "process %d is wrong", wrong);
      for (int i = 0; i < edges; i++) {
        int good = sources[i] != MPI_PROC_NULL && me != wrong && (sources[i] != wrong || how == 2);
        int want = good ? value(sources[i], me, i, how) : SENTINEL;
        CHECK(have[i] == want, "process %d wrong in way %d, source %d: %d instead of %d", wrong, how, i, have[i], want);
      }
    }
}

/* by the model, short blocks are combined, long ones are not, nor where there is a reduce; also
   where the graph may not be gathered, and the grid alone tells */
static void chosen(const char *graph_limit) {
  int several = 0;
  for (int d = 0; d < D; d++) several += dims[d] > 1;
  MPI_Info info = test_hint("mpix_loggp", "jaguar");
  if (graph_limit) MPI_Info_set(info, "mpix_graph_limit", graph_limit);
  full();
  OK(set(MPIX_NEIGHBOR_ALLTOALL, 8, 0, info, grid));
  int combined = strstr(test_described(MPIX_NEIGHBOR_ALLTOALL, grid), "schedule combining") != NULL;
  if (several > 1 && periods[0] && periods[1] && periods[2]) CHECK(combined, "%s", test_described(MPIX_NEIGHBOR_ALLTOALL, grid));
  vector(1);
  OK(set(MPIX_NEIGHBOR_ALLTOALL | MPIX_NEIGHBOR_GATHER, 10000000, 0, info, grid));
  CHECK(n < 2 || !strstr(test_described(MPIX_NEIGHBOR_ALLTOALL, grid), "schedule combining"), "%s", test_described(MPIX_NEIGHBOR_ALLTOALL, grid));
  exchange(1);
  OK(set(ALL_OPERATIONS, 8, 0, info, grid));
  CHECK(!strstr(test_described(MPIX_NEIGHBOR_ALLTOALL, grid), "schedule combining"), "%s", test_described(MPIX_NEIGHBOR_ALLTOALL, grid));
  exchange(1);
  MPI_Info_free(&info);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  me = test_rank, n = test_size;
  const char *asked = getenv("MPIX_SCHEDULE");
  forced = asked && strcmp(asked, "combining") == 0;
  int measured = asked && strcmp(asked, "measure") == 0;
  /* of many processes one exchange, for the number of messages */
  int kinds = n > 8 ? 1 : n > 4 ? 2 : 4;
  for (int kind = 0; kind < kinds; kind++) {
    /* as many dimensions as the number allows; three in a row in the middle one */
    int rest = n;
    for (int d = 0; d < D; d++) {
      dims[d] = n == 27 || (d == 1 && n % 3 == 0) ? 3 : rest % 2 == 0 ? 2 : 1;
      if (d == D - 1) dims[d] = rest;
      rest /= dims[d];
      periods[d] = kind == 0 || (kind == 2 && d != 1) || (kind == 3 && d == 1);
    }
    OK(MPI_Cart_create(MPI_COMM_WORLD, D, dims, periods, 0, &grid));
    MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN);
    MPI_Comm_rank(grid, &me);
    OK(MPI_Cart_coords(grid, me, D, coords));
    field();
    if (n == 27) CHECK(!forced || strstr(test_described(MPIX_NEIGHBOR_ALLTOALL, grid), "3 rounds, 6 messages;"), "%s", test_described(MPIX_NEIGHBOR_ALLTOALL, grid));
    if (kind == 0 && forced && test_form() == BLOCKING && !getenv("MPIX_NEIGHBOR_VERIFY")) counted();
    if (n <= 8) {
      stencils();
      if (kind == 0) long_blocks();
      if (forced) refused();
      else if (!measured) chosen(NULL), chosen("0");
      if (kind == 1 && !measured && test_form() != PERSISTENT) verified();
    }
    MPI_Comm_free(&grid);
  }
  return test_finish();
}
