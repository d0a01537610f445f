/* No allocation in the steady state: counts the calls of malloc and its kin that come from our
   library, by their return address, while collectives run again and again with changing buffers and
   counts. Of sparse exchanges, which must allocate what they bring: no more than that, and nothing
   that stays. */
#define _GNU_SOURCE
#include "allocations.h"
#include "sparse.h"
#include <malloc.h>

/* Rounds count once the first ones are over. A wait of 0.1 s asks whether the other processes still
   live, which reads files: a round that takes as long does not count. */
enum { ROUNDS = 60, FIRST = 10 };
static double begun;
static const allocations zero;
static allocations before, all_before;
static int counted;
static void begin_round(int round) {
  if (round == 0) by_us = by_all = zero, counted = 0;
  before = by_us, all_before = by_all, begun = MPI_Wtime(), counting = round >= FIRST;
}
static void end_round(void) {
  int counts = counting;
  counting = 0;
  if (!counts) return;
  if (MPI_Wtime() - begun < 0.1) counted++;
  else by_us = before, by_all = all_before;
}
static void no_allocations(const char *what, int line) {
  CHECK(counted > 0 && by_us.calls == 0, "line %d: %ld allocations in %d rounds %s", line, by_us.calls, counted, what);
}
#define NO_ALLOCATIONS(what) no_allocations(what, __LINE__)

static void compose(void *in, void *inout, int *length, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *length; i++) ((int *)inout)[i] = ((int *)in)[i] * 3 + ((int *)inout)[i];
}

/* along a tree packets are put together, passed on and taken apart in kept buffers; the hub's
   blocks have holes */
static void trees(MPI_Datatype strided) {
  enum { MOST = 600 };
  int hub = 0, out = test_rank == 0 ? test_size : 0, all_ranks[test_size];
  int *send = calloc((size_t)4 * MOST * (test_size + 1), sizeof(int)), have[MOST];
  for (int r = 0; r < test_size; r++) all_ranks[r] = r;
  unsetenv("MPIX_SCHEDULE");
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_schedule", "scatter_binomial");
  MPI_Info_set(info, "mpix_whole_communicator", "true");
  OK(MPIX_Neighbor_alltoall_set(1, &hub, MPI_UNWEIGHTED, out, all_ranks, MPI_UNWEIGHTED, info, MPI_COMM_WORLD));
  for (int round = 0; round < ROUNDS; round++) {
    begin_round(round);
    int k = round < 2 ? MOST / 2 : 1 + round % 7 * 20;
    OK(MPIX_Neighbor_alltoall(send + round % 3, k, strided, have, 2 * k, MPI_INT, MPI_COMM_WORLD));
    end_round();
  }
  NO_ALLOCATIONS("along a tree");
  MPI_Info_free(&info);
  free(send);
}

/* the bytes that our library allocates in `rounds` exchanges of one pattern */
static size_t bytes_of(const list *l, const char *data, MPI_Info info, MPI_Comm comm, int rounds) {
  by_us = zero;
  for (int r = 0; r < rounds; r++) {
    MPIX_Sparse_result result = NULL;
    counting = 1;
    int code = MPIX_Sparse_exchange(l->n, l->targets, data, l->lengths, l->displs, MPI_BYTE, MPI_BYTE, info, comm, &result);
    if (code == MPI_SUCCESS) code = MPIX_Sparse_free(&result);
    counting = 0;
    if (code != MPI_SUCCESS) CHECK(0, "%s", test_message(code));
  }
  return (size_t)by_us.bytes;
}

/* Allowed for an exchange: EACH bytes, ENTRY for each message that goes or comes, and LENGTH times
   the bytes that go and come (copies on the way, chunks that double). Over many exchanges the heap
   stays as large as it is, but for what MPI keeps. */
enum { EACH = 12288, ENTRY = 512, LENGTH = 8, KEPT = 200000 };

static void sparse_exchanges(void) {
  int rounds = test_size <= 2 ? 1000 : test_size <= 4 ? 100 : 30;
  MPI_Comm pair;
  MPI_Comm_split(MPI_COMM_WORLD, test_rank / 2, test_rank, &pair);
  for (int k = 1; k <= PROTOCOLS; k++) {
    /* auto comes last: it may try protocols, whose belongings are then there */
    int p = k % PROTOCOLS;
    MPI_Info info = test_hint("mpix_sparse", protocols[p]);
    list l = list_of(&MIXED_LENGTHS, test_rank, 7, test_size), none = {0};
    size_t bytes = 0, entries = 0;
    for (int s = 0; s < test_size; s++) {
      list theirs = list_of(&MIXED_LENGTHS, s, 7, test_size);
      /* where messages are passed on, anything may come by */
      for (int i = 0; i < theirs.n; i++) bytes += theirs.lengths[i], entries++;
      list_free(&theirs);
    }
    char *data = contents(&MIXED_LENGTHS, &l, test_rank, 7);
    bytes_of(&l, data, info, MPI_COMM_WORLD, 20);
    MPI_Barrier(MPI_COMM_WORLD);
    size_t before = mallinfo2().uordblks, allowed = EACH + ENTRY * entries + LENGTH * bytes, have = bytes_of(&l, data, info, MPI_COMM_WORLD, rounds) / rounds;
    MPI_Barrier(MPI_COMM_WORLD);
    size_t after = mallinfo2().uordblks;
    CHECK(have <= allowed, "%s: %zu bytes an exchange, not at most %zu", protocols[p], have, allowed);
    CHECK(after <= before + KEPT, "%s: the heap grew by %zu bytes in %d exchanges", protocols[p], after - before, rounds);
    /* nothing goes, nothing comes: what is allocated does not depend on the number of processes */
    bytes_of(&none, data, info, pair, 5);
    bytes_of(&none, data, info, MPI_COMM_WORLD, 5);
    size_t small = bytes_of(&none, data, info, pair, 4), large = bytes_of(&none, data, info, MPI_COMM_WORLD, 4);
    int pair_size;
    MPI_Comm_size(pair, &pair_size);
    if ((strncmp(protocols[p], "nbx", 4) == 0 || strcmp(protocols[p], "nbx_probe") == 0 || strcmp(protocols[p], "rsx") == 0) && pair_size == 2)
      CHECK(small == large, "%s: %zu bytes with 2 processes, %zu with %d", protocols[p], small, large, test_size);
    CHECK(large <= 4 * EACH, "%s: %zu bytes in 4 exchanges of nothing", protocols[p], large);
    if (test_rank == 0) printf("%s: %zu bytes an exchange that moves %zu, %zu an exchange of nothing\n", protocols[p], have, bytes, large / 4);
    free(data);
    list_free(&l);
    MPI_Info_free(&info);
  }
  MPI_Comm_free(&pair);
}

/* a run of a plan allocates nothing */
static void plan_runs(void) {
  int right = (test_rank + 1) % test_size, targets[3] = {right, test_rank, right}, counts[3] = {100, 7, 3000}, displs[3] = {0, 50, 0};
  static int data[6000];
  MPI_Datatype strided;
  MPI_Type_vector(2, 1, 2, MPI_INT, &strided);
  MPI_Type_commit(&strided);
  for (int k = 0; k < 2; k++) {
    MPIX_Sparse_plan plan;
    if (k) counts[2] = 1000;
    OK(MPIX_Sparse_plan_create(3, targets, data, counts, displs, k ? strided : MPI_INT, MPI_INT, MPI_INFO_NULL, MPI_COMM_WORLD, &plan));
    for (int run = 0; run < ROUNDS; run++) {
      begin_round(run);
      int code = MPIX_Sparse_plan_start(plan);
      if (code == MPI_SUCCESS) code = MPIX_Sparse_plan_wait(plan);
      end_round();
      OK(code);
    }
    NO_ALLOCATIONS("of a plan");
    OK(MPIX_Sparse_plan_free(&plan));
  }
  MPI_Type_free(&strided);
}

/* starting and completing a persistent collective allocates nothing, asking for its sources
   neither; a nonblocking one allocates its request */
static void requests(const graph *g, int *send, int *have, int most, MPI_Datatype strided) {
  enum { PLANS = 8 };
  int in = g->indegree[test_rank], out = g->outdegree[test_rank], k = most / 2, indices[in + 1], counts[out + in + 1], count;
  MPI_Aint displs[out + in + 1];
  MPI_Datatype types[out + in + 1];
  MPIX_Request plans[PLANS], request;
  const void *sendbufs[2] = {send, send};
  void *recvbufs[2] = {have, have + k};
  for (int e = 0; e < out + in; e++) counts[e] = 4, displs[e] = 64 * (e < out ? e : e - out), types[e] = strided;
  OK(MPIX_Neighbor_gather_plan(send, k, MPI_INT, have, k, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &plans[0]));
  OK(MPIX_Neighbor_alltoall_plan(send, k, MPI_INT, have, k, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &plans[1]));
  OK(MPIX_Neighbor_alltoallw_plan(send, counts, displs, types, have, counts + out, displs + out, types + out, MPI_COMM_WORLD, MPI_INFO_NULL, &plans[2]));
  OK(MPIX_Neighbor_reduce_plan(send, k, MPI_INT, have, k, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &plans[3]));
  OK(MPIX_Neighbor_alltoall_plan(send, k, strided, have, 2 * k, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &plans[4]));
  int fcounts[2 * (out + in) + 1];
  MPI_Aint fdispls[2 * (out + in) + 1];
  MPI_Datatype ftypes[2 * (out + in) + 1];
  for (int e = 0; e < 2 * (out + in); e++) fcounts[e] = 4, fdispls[e] = 16 * e, ftypes[e] = MPI_INT;
  OK(MPIX_Neighbor_alltoallw_fields_plan(2, sendbufs, fcounts, fdispls, ftypes, recvbufs, fcounts, fdispls, ftypes, MPI_COMM_WORLD, MPI_INFO_NULL, &plans[5]));
  OK(MPIX_Neighbor_accumulate_plan(send, k, MPI_INT, have, k, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &plans[6]));
  OK(MPIX_Neighbor_accumulate_plan(send, k, MPI_INT, have, k / 2, strided, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, &plans[7]));
  for (int round = 0; round < ROUNDS; round++) {
    /* nobody is further ahead than mailboxes in shared memory have room for: what finds none is
       copied to memory for MPI */
    MPI_Barrier(MPI_COMM_WORLD);
    begin_round(round);
    int code = MPIX_Request_startall(PLANS, plans);
    for (int flag = 0; code == MPI_SUCCESS && !flag;) code = MPIX_Request_test(&plans[round % PLANS], &flag);
    if (code == MPI_SUCCESS) code = MPIX_Request_waitall(PLANS, plans);
    if (code == MPI_SUCCESS) code = MPIX_Request_start(&plans[1]);
    for (count = 0; code == MPI_SUCCESS && count != MPI_UNDEFINED;) code = MPIX_Request_waitsome_source(plans[1], &count, indices);
    if (code == MPI_SUCCESS) code = MPIX_Request_wait(&plans[1]);
    end_round();
    OK(code);
  }
  NO_ALLOCATIONS("of persistent requests");
  for (int p = 0; p < PLANS; p++) OK(MPIX_Request_free(&plans[p]));
  for (int round = 0; round < ROUNDS; round++) {
    begin_round(round);
    int code = MPIX_Ineighbor_alltoall(send, k, MPI_INT, have, k, MPI_INT, MPI_COMM_WORLD, &request);
    if (code == MPI_SUCCESS) code = MPIX_Request_wait(&request);
    end_round();
    OK(code);
  }
  CHECK(counted > 0 && by_us.calls <= 4 * counted, "%ld allocations in %d nonblocking collectives", by_us.calls, counted);
  if (test_rank == 0) printf("allocations in %d nonblocking collectives: %ld by this library, %ld by MPI\n", counted, by_us.calls, by_all.calls - by_us.calls);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  int me = test_rank;
  graph g = graph_random(test_size, 4 * test_size, 42);
  int in = g.indegree[me], out = g.outdegree[me];
  enum { MOST = 512 };
  int *send = malloc(sizeof(int) * 2 * MOST * (out + 2)), *have = malloc(sizeof(int) * 2 * MOST * (in + 2));
  int scounts[out + 1], rcounts[in + 1], sdispls[out + 1], rdispls[in + 1];
  MPI_Aint sbytes[out + 1], rbytes[in + 1];
  MPI_Datatype stypes[out + 1], rtypes[in + 1], strided;
  MPI_Type_vector(2, 1, 2, MPI_INT, &strided);
  MPI_Type_commit(&strided);
  MPI_Op op;
  MPI_Op_create(compose, 0, &op);
  for (int i = 0; i < 2 * MOST * (out + 2); i++) send[i] = i;
  counting = 1;
  graph_set(&g, ALL_OPERATIONS, MPI_INFO_NULL, MPI_COMM_WORLD);
  counting = 0;
  /* the counter sees what it should: setting a neighborhood allocates, in our library */
  CHECK(by_us.calls > 0, "the counter does not see our allocations");
  for (int round = 0; round < ROUNDS; round++) {
    begin_round(round);
    /* the largest blocks come in the first rounds */
    int k = round < 2 ? MOST / 2 : 1 + round % 7 * 20, offset = round % 3;
    for (int i = 0; i < out; i++) scounts[i] = k, sdispls[i] = i * k, sbytes[i] = 4 * 2 * k * i, stypes[i] = MPI_INT;
    for (int j = 0; j < in; j++) rcounts[j] = k, rdispls[j] = j * k, rbytes[j] = 4 * 2 * k * j, rtypes[j] = MPI_INT;
    OK(MPIX_Neighbor_gather(send + offset, k, MPI_INT, have, k, MPI_INT, MPI_COMM_WORLD));
    OK(MPIX_Neighbor_alltoall(send + offset, k, MPI_INT, have, k, MPI_INT, MPI_COMM_WORLD));
    OK(MPIX_Neighbor_alltoallv(send, scounts, sdispls, MPI_INT, have, rcounts, rdispls, MPI_INT, MPI_COMM_WORLD));
    OK(MPIX_Neighbor_reduce(send, k, MPI_INT, have, k, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    OK(MPIX_Neighbor_reduce(send, k, MPI_INT, have, k, MPI_INT, op, MPI_COMM_WORLD));
    OK(MPIX_Neighbor_accumulate(send, k, MPI_INT, have, k, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    OK(MPIX_Neighbor_accumulate(send, 2 * k, MPI_INT, have, k, strided, op, MPI_COMM_WORLD));
    /* self edges between different layouts need a buffer, which is kept; strided blocks that are
       sent in parts too */
    for (int i = 0; i < out; i++) stypes[i] = strided, scounts[i] = k / 2;
    for (int j = 0; j < in; j++) rcounts[j] = k / 2 * 2;
    OK(MPIX_Neighbor_alltoallw(send, scounts, sbytes, stypes, have, rcounts, rbytes, rtypes, MPI_COMM_WORLD));
    end_round();
  }
  NO_ALLOCATIONS("of blocking collectives");
  if (me == 0) printf("allocations in %d steady rounds: %ld by this library, %ld by MPI\n", counted, by_us.calls, by_all.calls - by_us.calls);
  requests(&g, send, have, MOST, strided);
  free(send), free(have);
  trees(strided);
  MPI_Type_free(&strided);
  MPI_Op_free(&op);
  graph_free(&g);
  sparse_exchanges();
  plan_runs();
  return test_finish();
}
