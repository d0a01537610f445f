/* Blocks that are large enough to be sent in parts, under whichever schedule is chosen: contiguous
   data, holes, strides, negative lower bounds, data out of order, different counts and datatypes at
   both ends of an edge, cuts within a structure, empty blocks, MPI_BOTTOM. Against the definition;
   receive buffers are compared whole, gaps included. */
#include "forms.h"

/* ints of an element; all blocks have a multiple of the largest, so that every datatype fits */
enum { KINDS = 10, MOST_INTS = 6, SPREAD = 12 };

/* a datatype of some ints: where they lie and how far elements are apart, in ints */
typedef struct {
  MPI_Datatype type;
  int ints, offset[MOST_INTS], extent;
} layout;

static layout layouts[KINDS];

static layout make(int ints, const int *offset, int lb, int extent) {
  layout l = {MPI_DATATYPE_NULL, ints, {0}, extent};
  int lengths[MOST_INTS];
  MPI_Aint at[MOST_INTS];
  for (int i = 0; i < ints; i++) l.offset[i] = offset[i], lengths[i] = 1, at[i] = offset[i] * (MPI_Aint)sizeof(int);
  MPI_Datatype plain;
  MPI_Type_create_hindexed(ints, lengths, at, MPI_INT, &plain);
  MPI_Type_create_resized(plain, lb * (MPI_Aint)sizeof(int), extent * (MPI_Aint)sizeof(int), &l.type);
  MPI_Type_free(&plain);
  MPI_Type_commit(&l.type);
  return l;
}

static void make_layouts(void) {
  layout predefined = {MPI_INT, 1, {0}, 1};
  layouts[0] = predefined;
  layouts[1] = make(3, (int[]){0, 1, 2}, 0, 3);            /* contiguous */
  layouts[2] = make(3, (int[]){0, 1, 3}, 0, 5);            /* a structure with a hole */
  layouts[3] = make(6, (int[]){0, 2, 4, 6, 8, 10}, 0, 12); /* strided */
  layouts[4] = make(2, (int[]){-2, 1}, -2, 5);             /* negative lower bound */
  layouts[5] = make(2, (int[]){1, 0}, 0, 2);               /* no holes, but in another order */
  layouts[6] = make(2, (int[]){0, 1}, 0, -2);              /* one element before the other */
  layouts[7] = make(6, (int[]){0, 1, 2, 4, 3, 5}, 0, 6);   /* nearly in order */
  /* holes between elements only: one element alone has none */
  layouts[8] = make(2, (int[]){0, 1}, -1, 4);
  layouts[9] = make(6, (int[]){1, 2, 3, 4, 5, 6}, 1, 6);   /* contiguous, behind its address */
}

static int *place(int *at, const layout *l, int k) { return at + (k / l->ints) * l->extent + l->offset[k % l->ints]; }

enum { MARGIN = 32, SENTINEL = -77 };

/* ints that a block of `ints` ints of data may touch on either side of its first element */
static int room(int ints) { return ints * 3 + MARGIN; }

static const graph *g;
static int me;
static MPI_Comm comm;

static int is_null(int j) { return g->sources[me][j] == MPI_PROC_NULL; }

/* lengths of blocks in ints: empty, too short to be cut, just long enough, long; some end on a
   cut */
static int length(uint64_t h) {
  static const int lengths[] = {0, 6, 30, 48, 90, 102, 240, 1536, 6000, 16500};
  return lengths[h % (sizeof lengths / sizeof *lengths)];
}
static int edge_length(uint64_t seed, int s, int i) { return length(mix3(seed, s, i)); }
static const layout *pick(uint64_t seed, int what) { return &layouts[mix3(seed, me, what) % KINDS]; }

static void fill(int *at, const layout *l, int ints, int entry) {
  for (int k = 0; k < ints; k++) *place(at, l, k) = test_value(me, entry, k);
}
static void expect(int *at, const layout *l, int ints, int source, int entry) {
  for (int k = 0; k < ints; k++) *place(at, l, k) = test_value(source, entry, k);
}

static void test_gather(uint64_t seed) {
  int ints = length(mix(seed)), in = g->indegree[me];
  const layout *sl = pick(seed, 1), *rl = pick(seed, 2);
  int origin = room(ints * (in + 1));
  buffer send = new_buffer(2 * room(ints), 0), have = new_buffer(2 * origin, SENTINEL), want = new_buffer(2 * origin, SENTINEL);
  fill(send.image + room(ints), sl, ints, 0);
  for (int j = 0; j < in; j++)
    if (!is_null(j)) expect(want.image + origin + j * (ints / rl->ints) * rl->extent, rl, ints, g->sources[me][j], 0);
  OK(MPIX_Neighbor_gather(send.image + room(ints), ints / sl->ints, sl->type, have.image + origin, ints / rl->ints, rl->type, comm));
  compare("gather", &have, &want);
  free(send.image), free(have.image), free(want.image);
}

static void test_gatherv(uint64_t seed) {
  int in = g->indegree[me], mine = edge_length(seed, me, 0), counts[in + 1], displs[in + 1], at = -3;
  const layout *sl = pick(seed, 3), *rl = pick(seed, 4);
  for (int j = in - 1; j >= 0; j--) {
    counts[j] = is_null(j) ? 3 : edge_length(seed, g->sources[me][j], 0) / rl->ints;
    displs[j] = at;
    at += counts[j] + 1;
  }
  int origin = room(rl->ints * (at + 4));
  buffer send = new_buffer(2 * room(mine), 0), have = new_buffer(2 * origin, SENTINEL), want = new_buffer(2 * origin, SENTINEL);
  fill(send.image + room(mine), sl, mine, 0);
  for (int j = 0; j < in; j++)
    if (!is_null(j)) expect(want.image + origin + displs[j] * rl->extent, rl, counts[j] * rl->ints, g->sources[me][j], 0);
  OK(MPIX_Neighbor_gatherv(send.image + room(mine), mine / sl->ints, sl->type, have.image + origin, counts, displs, rl->type, comm));
  compare("gatherv", &have, &want);
  free(send.image), free(have.image), free(want.image);
}

static void test_alltoall(uint64_t seed) {
  int ints = length(mix(seed + 1)), in = g->indegree[me], out = g->outdegree[me];
  const layout *sl = pick(seed, 5), *rl = pick(seed, 6);
  int from = room(ints * (out + 1)), origin = room(ints * (in + 1));
  buffer send = new_buffer(2 * from, 0), have = new_buffer(2 * origin, SENTINEL), want = new_buffer(2 * origin, SENTINEL);
  for (int i = 0; i < out; i++) fill(send.image + from + i * (ints / sl->ints) * sl->extent, sl, ints, i);
  for (int j = 0; j < in; j++)
    if (!is_null(j)) expect(want.image + origin + j * (ints / rl->ints) * rl->extent, rl, ints, g->sources[me][j], graph_partner(g, me, j));
  OK(MPIX_Neighbor_alltoall(send.image + from, ints / sl->ints, sl->type, have.image + origin, ints / rl->ints, rl->type, comm));
  compare("alltoall", &have, &want);
  free(send.image), free(have.image), free(want.image);
}

static void test_alltoallv(uint64_t seed, const layout *sl, const layout *rl) {
  int in = g->indegree[me], out = g->outdegree[me];
  int scounts[out + 1], sdispls[out + 1], rcounts[in + 1], rdispls[in + 1], sat = -2, rat = -3;
  for (int i = out - 1; i >= 0; i--) {
    scounts[i] = edge_length(seed, me, i) / sl->ints;
    sdispls[i] = sat;
    sat += scounts[i];
  }
  for (int j = 0; j < in; j++) {
    rcounts[j] = is_null(j) ? 2 : edge_length(seed, g->sources[me][j], graph_partner(g, me, j)) / rl->ints;
    rdispls[j] = rat;
    rat += rcounts[j] + j % 2;
  }
  int from = room(sl->ints * (sat + 3)), origin = room(rl->ints * (rat + 4));
  buffer send = new_buffer(2 * from, 0), have = new_buffer(2 * origin, SENTINEL), want = new_buffer(2 * origin, SENTINEL);
  for (int i = 0; i < out; i++) fill(send.image + from + sdispls[i] * sl->extent, sl, scounts[i] * sl->ints, i);
  for (int j = 0; j < in; j++)
    if (!is_null(j)) expect(want.image + origin + rdispls[j] * rl->extent, rl, rcounts[j] * rl->ints, g->sources[me][j], graph_partner(g, me, j));
  OK(MPIX_Neighbor_alltoallv(send.image + from, scounts, sdispls, sl->type, have.image + origin, rcounts, rdispls, rl->type, comm));
  compare("alltoallv", &have, &want);
  free(send.image), free(have.image), free(want.image);
}

/* every block with a layout of its own; `bottom` 1: displacements are addresses, relative to
   MPI_BOTTOM; 2: datatypes hold addresses */
static void test_alltoallw(uint64_t seed, int bottom) {
  int in = g->indegree[me], out = g->outdegree[me];
  int scounts[out + 1], rcounts[in + 1], sat[out + 1], rat[in + 1], sroom = 0, rroom = 0;
  MPI_Aint sdispls[out + 1], rdispls[in + 1];
  MPI_Datatype stypes[out + 1], rtypes[in + 1];
  const layout *sl[out + 1], *rl[in + 1];
  for (int i = 0; i < out; i++) {
    int ints = edge_length(seed, me, i);
    sl[i] = pick(seed, 100 + i);
    stypes[i] = sl[i]->type;
    scounts[i] = ints / sl[i]->ints;
    sat[i] = sroom + room(ints);
    sroom += 2 * room(ints);
  }
  for (int j = 0; j < in; j++) {
    int ints = is_null(j) ? 6 : edge_length(seed, g->sources[me][j], graph_partner(g, me, j));
    rl[j] = pick(seed, 1000 + j);
    rtypes[j] = rl[j]->type;
    rcounts[j] = ints / rl[j]->ints;
    rat[j] = rroom + room(ints);
    rroom += 2 * room(ints);
  }
  buffer send = new_buffer(sroom, 0), have = new_buffer(rroom, SENTINEL), want = new_buffer(rroom, SENTINEL);
  for (int i = 0; i < out; i++) {
    fill(send.image + sat[i], sl[i], scounts[i] * sl[i]->ints, i);
    sdispls[i] = sat[i] * (MPI_Aint)sizeof(int);
    if (bottom) MPI_Get_address(send.image + sat[i], &sdispls[i]);
    if (bottom == 2) stypes[i] = absolute(send.image + sat[i], scounts[i], stypes[i]), sdispls[i] = 0, scounts[i] = 1;
  }
  for (int j = 0; j < in; j++) {
    if (!is_null(j)) expect(want.image + rat[j], rl[j], rcounts[j] * rl[j]->ints, g->sources[me][j], graph_partner(g, me, j));
    rdispls[j] = rat[j] * (MPI_Aint)sizeof(int);
    if (bottom) MPI_Get_address(have.image + rat[j], &rdispls[j]);
    if (bottom == 2) rtypes[j] = absolute(have.image + rat[j], rcounts[j], rtypes[j]), rdispls[j] = 0, rcounts[j] = 1;
  }
  void *sb = bottom ? MPI_BOTTOM : send.image, *rb = bottom ? MPI_BOTTOM : have.image;
  OK(MPIX_Neighbor_alltoallw(sb, scounts, sdispls, stypes, rb, rcounts, rdispls, rtypes, comm));
  compare("alltoallw", &have, &want);
  for (int i = 0; i < out && bottom == 2; i++) MPI_Type_free(&stypes[i]);
  for (int j = 0; j < in && bottom == 2; j++) MPI_Type_free(&rtypes[j]);
  free(send.image), free(have.image), free(want.image);
}

/* neither commutative nor associative: the result tells the order of all steps */
static int combine(int a, int b) { return (int)((3 * (unsigned)a + (unsigned)b) & 0x7fffffff); }

static const layout *reduced;
static void combine_elements(void *in, void *inout, int *count, MPI_Datatype *type) {
  (void)type;
  for (int k = 0; k < *count * reduced->ints; k++) {
    int *into = place(inout, reduced, k);
    *into = combine(*place(in, reduced, k), *into);
  }
}

static void test_reduce(uint64_t seed, MPI_Op op, int vector) {
  /* all processes of a connected part reduce equally much */
  int ints = length(mix(seed + 2 + vector)), in = g->indegree[me], out = g->outdegree[me], sources = 0;
  const layout *sl = pick(seed, 7), *rl = op == MPI_SUM ? &layouts[0] : pick(seed, 8);
  int from = room(ints * (out + 1)), origin = room(ints), counts[out + 1], displs[out + 1];
  buffer send = new_buffer(2 * from, 0), have = new_buffer(2 * origin, SENTINEL), want = new_buffer(2 * origin, SENTINEL);
  for (int i = 0; i < out; i++) {
    counts[i] = ints / sl->ints, displs[i] = i * counts[i];
    fill(send.image + from + displs[i] * sl->extent, sl, ints, i);
  }
  if (!vector) fill(send.image + from, sl, ints, 0);
  for (int j = 0; j < in; j++) {
    if (is_null(j)) continue;
    int i = vector ? graph_partner(g, me, j) : 0;
    for (int k = 0; k < ints; k++) {
      int *into = place(want.image + origin, rl, k), v = test_value(g->sources[me][j], i, k);
      *into = !sources ? v : op == MPI_SUM ? (int)((unsigned)*into + (unsigned)v) : combine(*into, v);
    }
    sources++;
  }
  reduced = rl;
  if (vector) OK(MPIX_Neighbor_reducev(send.image + from, counts, displs, sl->type, have.image + origin, ints / rl->ints, rl->type, op, comm));
  else OK(MPIX_Neighbor_reduce(send.image + from, ints / sl->ints, sl->type, have.image + origin, ints / rl->ints, rl->type, op, comm));
  compare(vector ? "reducev" : "reduce", &have, &want);
  free(send.image), free(have.image), free(want.image);
}

/* a datatype that comes with the handle of one that was freed: what was known of that one must not
   be believed of this one */
static void types_come_and_go(uint64_t seed) {
  for (int i = 0; i < 6; i++) {
    layout l = i % 2 ? make(2, (int[]){1, 0}, 0, 2) : make(2, (int[]){0, 1}, 0, 2);
    test_alltoallv(seed + i, i % 3 ? &l : &layouts[0], i % 3 != 1 ? &l : &layouts[0]);
    MPI_Type_free(&l.type);
  }
}

/* weights in about bytes, so that schedules which cut heavy edges do so */
static int weight(int s, int t) { return s == MPI_PROC_NULL || t == MPI_PROC_NULL ? 0 : (int)(mix2(s, t) % 100000); }

static void test_all(uint64_t seed, MPI_Op op) {
  int in = g->indegree[me], out = g->outdegree[me], sourceweights[in + 1], targetweights[out + 1];
  for (int j = 0; j < in; j++) sourceweights[j] = weight(g->sources[me][j], me);
  for (int i = 0; i < out; i++) targetweights[i] = weight(me, g->targets[me][i]);
  OK(MPIX_Neighborhood_set(ALL_OPERATIONS, in, g->sources[me], sourceweights, out, g->targets[me], targetweights, MPI_INFO_NULL, comm));
  /* the same schedule with other buffers, lengths and types each time */
  for (int repeat = 0; repeat < 3; repeat++, seed += 1000) {
    test_gather(seed);
    test_gatherv(seed);
    test_alltoall(seed);
    test_alltoallv(seed, pick(seed, 9), pick(seed, 10));
    /* a strided send against a contiguous receive, and the reverse */
    test_alltoallv(seed + 1, &layouts[3], &layouts[0]);
    test_alltoallv(seed + 2, &layouts[0], &layouts[3]);
    for (int bottom = 0; bottom < 3; bottom++) test_alltoallw(seed + bottom, bottom);
    for (int vector = 0; vector < 2; vector++) {
      test_reduce(seed, MPI_SUM, vector);
      test_reduce(seed, op, vector);
    }
  }
  types_come_and_go(seed);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  make_layouts();
  me = test_rank;
  MPI_Op op;
  MPI_Op_create(combine_elements, 0, &op);
  const char *schedule = getenv("MPIX_SCHEDULE");
  if (!schedule || strcmp(schedule, "dimension_order")) {
    comm = MPI_COMM_WORLD;
    for (uint64_t seed = 0; seed < 4; seed++) {
      /* from sparse to far more edges than processes */
      graph random = graph_random(test_size, (int)(seed * test_size / 2) + (seed == 3 ? 10 : 2), seed + 50);
      g = &random;
      test_all(seed, op);
      graph_free(&random);
    }
  }
  /* a ring, in both directions, on a Cartesian communicator */
  int dims[1] = {test_size}, periods[1] = {1};
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &comm);
  graph ring = graph_new(test_size);
  for (int p = 0; p < test_size; p++)
    for (int step = -1; step <= 1; step += 2) {
      int q = (p + step + test_size) % test_size;
      insert(&ring.targets[p], &ring.outdegree[p], ring.outdegree[p], q);
      insert(&ring.sources[p], &ring.indegree[p], ring.indegree[p], q);
    }
  g = &ring;
  test_all(99, op);
  graph_free(&ring);
  MPI_Comm_free(&comm);
  MPI_Op_free(&op);
  for (int k = 1; k < KINDS; k++) MPI_Type_free(&layouts[k].type);
  return test_finish();
}
