/* Blocks that a schedule cuts, and whose parts are put: contiguous, strided, and of a datatype that
   only MPI can pack, in every combination of both ends; parts that fit their slots and parts that
   do not; lengths that differ; a block that MPI refuses to pack. Run without shared memory, or with
   nodes of one process, so that edges go by puts. */
#include "forms.h"

/* more pieces than the library keeps of a datatype */
enum { INTS = 66000, ROOM = 3 * INTS + 2, KINDS = 3, CALLS = 4, MORE = 4, MOST = 16 };

/* each process has an edge to each, and some more to the next one, so that schedules cut */
static int me, n, edges, targets[MOST], sources[MOST];
static MPI_Datatype types[KINDS];
static int *scattered;

/* how often MPI packs, and whether it refuses to */
static int packs, unpacks, refuses;
int MPI_Pack(const void *from, int count, MPI_Datatype type, void *into, int size, int *position, MPI_Comm comm) {
  packs++;
  return refuses ? MPI_ERR_OTHER : PMPI_Pack(from, count, type, into, size, position, comm);
}
int MPI_Unpack(const void *from, int size, int *position, void *into, int count, MPI_Datatype type, MPI_Comm comm) {
  unpacks++;
  return PMPI_Unpack(from, size, position, into, count, type, comm);
}

/* where int i of a block of a kind lies */
static int place(int kind, int i) { return kind == 0 ? i : kind == 1 ? 2 * i : scattered[i]; }

static void make_types(void) {
  scattered = malloc(INTS * sizeof *scattered);
  for (int i = 0; i < INTS; i++) scattered[i] = 3 * i + (int)(mix2(i, 5) % 2);
  MPI_Type_contiguous(INTS, MPI_INT, &types[0]);
  MPI_Type_vector(INTS, 1, 2, MPI_INT, &types[1]);
  MPI_Type_create_indexed_block(INTS, 1, scattered, MPI_INT, &types[2]);
  for (int k = 0; k < KINDS; k++) MPI_Type_commit(&types[k]);
}

/* so that blocks are cut; slots are from a quarter to twice as long as blocks, by the unit 4 */
static int weight(int s, int t) { return INTS / 4 + (int)(mix2(s, t) % (2 * INTS)); }

/* sets all operations; returns true if blocks are cut */
static int set(MPI_Comm comm, const char *schedule, const char *unit) {
  int to[MOST], from[MOST], rounds = 0, messages = 0;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_schedule", schedule);
  MPI_Info_set(info, "mpix_transport", "rma");
  MPI_Info_set(info, "mpix_weight_unit", unit);
  for (int e = 0; e < edges; e++) from[e] = weight(sources[e], me), to[e] = weight(me, targets[e]);
  OK(MPIX_Neighborhood_set(ALL_OPERATIONS, edges, sources, from, edges, targets, to, info, comm));
  MPI_Info_free(&info);
  const char *text = test_described(MPIX_NEIGHBOR_ALLTOALL, comm);
  if (n > 1) CHECK(strstr(text, "transport: puts"), "%s", text);
  const char *line = strstr(text, "schedule ");
  if (line) sscanf(strchr(line, ':'), ": %d rounds, %d messages", &rounds, &messages);
  MPI_Allreduce(MPI_IN_PLACE, &messages, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (n > 3 && !strcmp(schedule, "random_rounds")) CHECK(messages > n * (edges - 1), "no block is cut: %d messages, %s", messages, text);
  text = test_described(MPIX_NEIGHBOR_REDUCE, comm);
  if (n > 1) CHECK(strstr(text, "transport: puts"), "%s", text);
  return n > 1 && messages > n * (edges - 1);
}

/* the number of an edge among those between its processes, and of the call */
static int tag_of(int e, int call) { return 10 * (e < n ? 0 : e - n + 1) + call; }

/* ints of a block, and of its gaps, that differ from what they should be */
static int wrong(const int *have, int kind, int from, int to, int tag) {
  int bad = 0;
  for (int i = 0, at = 0; i < INTS; i++) {
    for (int end = place(kind, i); at < end; at++) bad += have[at] != -1;
    bad += have[at++] != test_value(from, 100 * to + tag, i);
  }
  return bad;
}

/* each call with other kinds at both ends; in call `spoiled`, process 1 cannot pack */
static void alltoall(const char *schedule, const char *unit, int spoiled) {
  MPI_Comm comm = test_duplicate();
  set(comm, schedule, unit);
  int counts[MOST], kinds[MOST];
  MPI_Aint displs[MOST];
  MPI_Datatype sent[MOST], received[MOST];
  int *send = malloc((size_t)edges * ROOM * sizeof(int)), *have = malloc((size_t)edges * ROOM * sizeof(int));
  for (int call = 0; call < CALLS; call++) {
    int has_scattered = 0, lost[MOST] = {0};
    for (int e = 0; e < edges; e++) {
      int *block = send + (size_t)e * ROOM, kind = (me + e + call) % KINDS;
      counts[e] = 1, displs[e] = (MPI_Aint)((size_t)e * ROOM * sizeof(int));
      for (int i = 0; i < INTS; i++) block[place(kind, i)] = test_value(me, 100 * targets[e] + tag_of(e, call), i);
      sent[e] = types[kind], kinds[e] = (me + 2 * e + call / 2) % KINDS, received[e] = types[kinds[e]];
      has_scattered += targets[e] != me && kind == 2;
      /* blocks that process 1 cannot pack */
      if (call == spoiled && (1 + e + call) % KINDS == 2 && (e >= n || e != 1)) lost[e < n ? e : 2 % n] = 1;
    }
    memset(have, -1, (size_t)edges * ROOM * sizeof(int));
    packs = 0, refuses = call == spoiled && me == 1;
    int code = MPIX_Neighbor_alltoallw(send, counts, displs, sent, have, counts, displs, received, comm);
    refuses = 0;
    if (has_scattered && call != spoiled) CHECK(packs > 0, "call %d: MPI has packed nothing", call);
    CHECK((code != MPI_SUCCESS) == (call == spoiled && (me == 1 || lost[me])), "call %d: %s", call, test_message(code));
    for (int e = 0; e < edges; e++) {
      if (sources[e] == 1 && lost[me]) continue;
      int bad = wrong(have + (size_t)e * ROOM, kinds[e], sources[e], me, tag_of(e, call));
      CHECK(bad == 0, "%s, call %d, kind %d from %d: %d ints are wrong", schedule, call, kinds[e], sources[e], bad);
    }
  }
  free(send), free(have);
  MPI_Comm_free(&comm);
}

/* a source is told once its block is where it belongs, however it has been cut; the same block goes
   to all */
static void by_source(const char *schedule) {
  MPI_Comm comm = test_duplicate();
  set(comm, schedule, "4");
  int *send = malloc(ROOM * sizeof(int)), *have = malloc((size_t)edges * ROOM * sizeof(int)), counts[MOST], displs[MOST];
  MPI_Datatype apart;
  MPI_Type_create_resized(types[2], 0, (MPI_Aint)(ROOM * sizeof(int)), &apart);
  MPI_Type_commit(&apart);
  for (int i = 0; i < INTS; i++) send[scattered[i]] = test_value(me, 0, i);
  for (int e = 0; e < edges; e++) counts[e] = 1, displs[e] = e;
  memset(have, -1, (size_t)edges * ROOM * sizeof(int));
  MPIX_Request request;
  OK(MPIX_Ineighbor_gatherv(send, 1, types[2], have, counts, displs, apart, comm, &request));
  for (int e = edges; e-- > 0;) {
    OK(MPIX_Request_wait_source(request, e));
    int bad = wrong(have + (size_t)e * ROOM, 2, sources[e], 0, 0);
    CHECK(bad == 0, "%s: %d ints of source %d are wrong", schedule, bad, e);
  }
  OK(MPIX_Request_wait(&request));
  MPI_Type_free(&apart);
  free(send), free(have);
  MPI_Comm_free(&comm);
}

/* blocks that are longer than their receivers expect, or shorter and cut: an error there, and the
   next call is right */
static void lengths(const char *schedule) {
  MPI_Comm comm = test_duplicate();
  int cuts = set(comm, schedule, "1");
  int *send = malloc((size_t)edges * INTS * sizeof(int)), *have = malloc((size_t)edges * INTS * sizeof(int));
  for (int call = 0; call < CALLS; call++) {
    int count = call % 2 ? INTS : INTS / 2, expected = call == 0 ? INTS / 4 : call == 2 ? INTS : count, class;
    int sent[MOST], received[MOST], displs[MOST], bad = 0, told;
    for (int e = 0; e < edges; e++) {
      displs[e] = e * INTS, sent[e] = count, received[e] = sources[e] == me ? count : expected;
      for (int i = 0; i < count; i++) send[e * INTS + i] = test_value(me, e, i + call);
    }
    MPI_Error_class(MPIX_Neighbor_alltoallv(send, sent, displs, MPI_INT, have, received, displs, MPI_INT, comm), &class);
    CHECK(class == MPI_SUCCESS || (call % 2 == 0 && class == MPI_ERR_TRUNCATE), "%s, call %d: class %d", schedule, call, class);
    told = class != MPI_SUCCESS;
    MPI_Allreduce(MPI_IN_PLACE, &told, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (call == 0 && n > 1) CHECK(told == n, "%s: %d processes found blocks that are too long", schedule, told);
    if (call == 2 && cuts) CHECK(told > 0, "%s: nobody found a block that is too short", schedule);
    for (int e = 0; e < edges; e++)
      for (int i = 0; call % 2 && i < count; i++) bad += have[e * INTS + i] != test_value(sources[e], e < n ? me : e, i + call);
    CHECK(bad == 0, "%s, call %d: %d ints are wrong", schedule, call, bad);
  }
  free(send), free(have);
  MPI_Comm_free(&comm);
}

/* as many rounds as edges: what a round takes, or a look for one source, must not grow with them */
static void many_rounds(void) {
  enum { EDGES = 4000 };
  static int other[EDGES], send[EDGES], have[EDGES];
  int index, bad = 0;
  MPI_Comm comm = test_duplicate();
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_schedule", "linear_permutation");
  MPI_Info_set(info, "mpix_transport", "rma");
  for (int e = 0; e < EDGES; e++) other[e] = 1 - me, send[e] = EDGES * me + e, have[e] = -1;
  OK(MPIX_Neighbor_alltoall_set(EDGES, other, MPI_UNWEIGHTED, EDGES, other, MPI_UNWEIGHTED, info, comm));
  const char *text = test_described(MPIX_NEIGHBOR_ALLTOALL, comm);
  CHECK(strstr(text, "transport: puts") && strstr(text, "4000 rounds"), "%s", text);
  MPIX_Request request;
  OK(MPIX_Ineighbor_alltoall(send, 1, MPI_INT, have, 1, MPI_INT, comm, &request));
  for (int e = 0; e < EDGES; e++) {
    OK(MPIX_Request_waitany_source(request, &index));
    bad += index < 0 || index >= EDGES || have[index] != EDGES * (1 - me) + index;
  }
  OK(MPIX_Request_wait(&request));
  CHECK(bad == 0, "%d of %d edges are wrong", bad, EDGES);
  MPI_Info_free(&info);
  MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
  static const char *schedules[] = {"random_rounds", "edge_coloring"};
  test_init(&argc, &argv);
  me = test_rank, n = test_size;
  for (int r = 0; r < n; r++) targets[r] = sources[r] = r;
  for (edges = n; edges < n + MORE; edges++) targets[edges] = (me + 1) % n, sources[edges] = (me + n - 1) % n;
  make_types();
  for (int k = 0; k < 2; k++) {
    alltoall(schedules[k], "4", n > 1 && test_form() == BLOCKING ? 2 : -1);
    /* what is longer than its slot follows by message */
    alltoall(schedules[k], "1", -1);
    by_source(schedules[k]);
    /* verification finds such lengths before anything is sent */
    if (test_form() == BLOCKING && !getenv("MPIX_NEIGHBOR_VERIFY")) lengths(schedules[k]);
  }
  if (n == 2) many_rounds();
  for (int k = 0; k < KINDS; k++) MPI_Type_free(&types[k]);
  free(scattered);
  return test_finish();
}
