/* MPIX_Neighborhood_set_targets: sources that a sparse exchange finds, by every protocol. The
   neighborhood is the one that MPIX_Neighborhood_set makes of both lists, and all three collectives
   run on it. */
#include "sparse.h"

static int me, n;

enum { MOST = 64 };

/* targets and weights of a process in a case; repeated ones, the process itself, MPI_PROC_NULL,
   none */
static int targets_of(int s, int round, int *targets, int *weights) {
  uint64_t seed = mix3(round, s, 0x7a26);
  int count = round == 0 ? 0 : seed % 5 == 0 ? 0 : (int)(mix(seed) % 6);
  for (int i = 0; i < count; i++) {
    uint64_t h = mix2(seed, i);
    targets[i] = h % 9 == 0 ? MPI_PROC_NULL : i > 0 && h % 4 == 0 ? targets[i - 1] : (int)((h >> 8) % (uint64_t)n);
    weights[i] = (int)(h >> 20 & 1023);
  }
  return count;
}

/* the sources that must be found: by rank, those of one rank in the order of its list */
static int sources_of(int round, int *sources, int *weights, int *entries) {
  int count = 0, theirs[8], said[8];
  for (int s = 0; s < n; s++) {
    int k = targets_of(s, round, theirs, said);
    for (int i = 0; i < k; i++)
      if (theirs[i] == me) sources[count] = s, entries[count] = i, weights[count++] = said[i];
  }
  return count;
}

static void lists(const char *protocol, int round, int weighted, MPI_Comm comm, int in, const int *sources, const int *sweights, int out, const int *targets, const int *tweights) {
  for (int o = 1; o <= 4; o *= 2) {
    int din = -1, dout = -1, have = -1, s[MOST], sw[MOST], t[MOST], tw[MOST], bad = 0;
    OK(MPIX_Neighborhood_get_count(o, comm, &din, &dout, &have));
    CHECK(din == in && dout == out, "%s, case %d: degrees %d and %d, not %d and %d", protocol, round, din, dout, in, out);
    /* a process without an edge may not know that others gave weights */
    CHECK((!in && !out) || have == (weighted != 0), "%s, case %d: weighted %d", protocol, round, have);
    if (din != in || dout != out) continue;
    OK(MPIX_Neighborhood_get(o, comm, MOST, s, sw, MOST, t, tw));
    for (int j = 0; j < in; j++) bad += s[j] != sources[j] || sw[j] != (weighted ? sweights[j] : 1);
    for (int i = 0; i < out; i++) bad += t[i] != targets[i] || tw[i] != (weighted ? tweights[i] : 1);
    CHECK(bad == 0, "%s, case %d: %d entries of the lists", protocol, round, bad);
  }
}

static void run(const char *protocol, int round, MPI_Comm comm, int in, const int *sources, const int *entries, int out) {
  int mine = 1000 + me, have[MOST], send[MOST], sum = -1, want = 0, bad = 0;
  for (int i = 0; i < out; i++) send[i] = 100 * me + i;
  OK(MPIX_Neighbor_gather(&mine, 1, MPI_INT, have, 1, MPI_INT, comm));
  for (int j = 0; j < in; j++) bad += have[j] != 1000 + sources[j], want += 1000 + sources[j];
  CHECK(bad == 0, "%s, case %d: %d blocks of gather", protocol, round, bad);
  OK(MPIX_Neighbor_alltoall(send, 1, MPI_INT, have, 1, MPI_INT, comm));
  for (int j = 0; j < in; j++) bad += have[j] != 100 * sources[j] + entries[j];
  CHECK(bad == 0, "%s, case %d: %d blocks of alltoall", protocol, round, bad);
  OK(MPIX_Neighbor_reduce(&mine, 1, MPI_INT, &sum, 1, MPI_INT, MPI_SUM, comm));
  CHECK(sum == (in ? want : -1), "%s, case %d: sum %d, not %d", protocol, round, sum, want);
}

static void cases(const char *protocol, MPI_Comm comm) {
  MPI_Info info = test_hint("mpix_sparse", protocol);
  for (int round = 0; round < 8; round++) {
    int targets[8], tweights[8], sources[MOST], sweights[MOST], entries[MOST], weighted = round % 3;
    int out = targets_of(me, round, targets, tweights), in = sources_of(round, sources, sweights, entries);
    OK(MPIX_Neighborhood_set_targets(ALL_OPERATIONS, out, targets, weighted ? tweights : MPI_UNWEIGHTED, info, comm));
    lists(protocol, round, weighted, comm, in, sources, sweights, out, targets, tweights);
    run(protocol, round, comm, in, sources, entries, out);
    /* the same neighborhood by MPIX_Neighborhood_set, from both lists */
    if (round == 3) {
      OK(MPIX_Neighborhood_set(ALL_OPERATIONS, in, sources, MPI_UNWEIGHTED, out, targets, MPI_UNWEIGHTED, info, comm));
      lists(protocol, round, 0, comm, in, sources, sweights, out, targets, tweights);
      run(protocol, round, comm, in, sources, entries, out);
    }
  }
  MPI_Info_free(&info);
}

/* what is wrong on one process is told to all, and the neighborhood that was there stays */
static void errors(MPI_Comm comm) {
  int right[1] = {(me + 1) % n}, left = (me + n - 1) % n, last = n - 1, wrong[1] = {me == last ? n : right[0]}, weights[1] = {me == 0 ? -3 : 1};
  char text[100];
  OK(MPIX_Neighborhood_set_targets(ALL_OPERATIONS, 1, right, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
  snprintf(text, sizeof text, "targets[0] = %d is not a rank of this communicator of %d processes", n, n);
  FAILS(MPIX_Neighborhood_set_targets(ALL_OPERATIONS, 1, wrong, MPI_UNWEIGHTED, MPI_INFO_NULL, comm), MPI_ERR_RANK, text);
  FAILS(MPIX_Neighborhood_set_targets(ALL_OPERATIONS, 1, right, weights, MPI_INFO_NULL, comm), MPI_ERR_ARG, "targetweights[0] = -3 is negative");
  FAILS(MPIX_Neighborhood_set_targets(ALL_OPERATIONS, me == last ? -1 : 1, right, MPI_UNWEIGHTED, MPI_INFO_NULL, comm), MPI_ERR_ARG, "outdegree = -1 is negative");
  FAILS(MPIX_Neighborhood_set_targets(ALL_OPERATIONS, 1, me == 0 ? NULL : right, MPI_UNWEIGHTED, MPI_INFO_NULL, comm), MPI_ERR_ARG, "targets is NULL, but 1 entries are needed");
  /* a process that asks for nothing that there is does not keep the others waiting */
  FAILS(MPIX_Neighborhood_set_targets(me == last ? 99 : ALL_OPERATIONS, 1, right, MPI_UNWEIGHTED, MPI_INFO_NULL, comm), MPI_ERR_ARG, "operations = 99 is not a combination");
  MPI_Info info = test_hint("mpix_schedule", me == last ? "fastest" : "auto");
  FAILS(MPIX_Neighborhood_set_targets(ALL_OPERATIONS, 1, right, MPI_UNWEIGHTED, info, comm), MPI_ERR_INFO_VALUE, "info key mpix_schedule = \"fastest\"");
  MPI_Info_free(&info);
  info = test_hint("mpix_sparse", me == last ? "fastest" : "auto");
  FAILS(MPIX_Neighborhood_set_targets(ALL_OPERATIONS, 1, right, MPI_UNWEIGHTED, info, comm), MPI_ERR_INFO_VALUE, "mpix_sparse = \"fastest\" is not one of auto, nbx");
  MPI_Info_free(&info);
  /* protocols that would wait for each other */
  info = test_hint("mpix_sparse", me == last ? "fastest" : "pex");
  FAILS(MPIX_Neighborhood_set_targets(ALL_OPERATIONS, 1, right, MPI_UNWEIGHTED, info, comm), MPI_ERR_INFO_VALUE, "mpix_sparse = \"fastest\" is not one of auto, nbx");
  MPI_Info_free(&info);
  if (n > 1) {
    int mismatch;
    OK(MPIX_Neighbor_error_class(MPIX_ERR_MISMATCH, &mismatch));
    info = test_hint("mpix_sparse", me == last ? "rsx" : "pex");
    FAILS(MPIX_Neighborhood_set_targets(ALL_OPERATIONS, 1, right, MPI_UNWEIGHTED, info, comm), mismatch, "one of the info keys mpix_sparse");
    MPI_Info_free(&info);
  }
  int have = -1;
  OK(MPIX_Neighbor_gather(&me, 1, MPI_INT, &have, 1, MPI_INT, comm));
  CHECK(have == left, "%d", have);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  me = test_rank, n = test_size;
  MPI_Comm comm = test_duplicate();
  for (int p = 0; p < PROTOCOLS; p++) cases(protocols[p], p % 2 ? comm : MPI_COMM_WORLD);
  errors(comm);
  MPI_Comm_free(&comm);
  return test_finish();
}
