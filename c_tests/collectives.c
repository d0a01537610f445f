/* All seven collectives and their large-count forms on random multigraphs, with contiguous,
   strided, negative lower bound and permuted datatypes, against the definition. Receive buffers are
   compared whole, gaps included. */
#include "forms.h"

enum { KINDS = 5, INTS = 2 };

/* a datatype of two ints: where they lie and how far elements are apart, in ints */
typedef struct {
  MPI_Datatype type;
  int offset[INTS], lowest, extent;
} layout;

static layout layouts[KINDS];

static layout make(int first, int second, int lb, int extent) {
  layout l = {MPI_DATATYPE_NULL, {first, second}, first < second ? first : second, extent};
  int lengths[2] = {1, 1};
  MPI_Aint at[2] = {first * (MPI_Aint)sizeof(int), second * (MPI_Aint)sizeof(int)};
  MPI_Datatype plain;
  MPI_Type_create_hindexed(2, lengths, at, MPI_INT, &plain);
  MPI_Type_create_resized(plain, lb * (MPI_Aint)sizeof(int), extent * (MPI_Aint)sizeof(int), &l.type);
  MPI_Type_free(&plain);
  MPI_Type_commit(&l.type);
  return l;
}

static void make_layouts(void) {
  layouts[0] = make(0, 1, 0, 2);   /* contiguous */
  layouts[1] = make(0, 2, 0, 4);   /* strided */
  layouts[2] = make(-2, 1, -2, 5); /* negative lower bound */
  layouts[3] = make(1, 0, 0, 2);   /* no holes, but in another order */
  layouts[4] = make(0, 1, 0, -2);  /* one element before the other */
}

static void put(int *at, const layout *l, int k, int v) { at[(k / INTS) * l->extent + l->offset[k % INTS]] = v; }

enum { MARGIN = 16, SENTINEL = -77 };

/* ints that a block of `count` elements may touch on either side of its first element */
static int room(int count) { return count * 5 + MARGIN; }

/* elements on the edge that leaves process s in target entry i */
static int edge_count(uint64_t seed, int s, int i) { return mix3(seed, s, i) % 5; }

static const graph *g;
static int me;

static void test_gather(uint64_t seed, int wide) {
  /* all processes of a connected part must send equally much: one count for all */
  int count = seed % 4, in = g->indegree[me];
  const layout *sl = &layouts[mix2(seed, me) % KINDS], *rl = &layouts[mix2(seed, me + 1000) % KINDS];
  buffer send = new_buffer(2 * room(count), 0);
  buffer have = new_buffer(2 * room(count * (in + 1)), SENTINEL), want = new_buffer(have.total, SENTINEL);
  int *sendbuf = send.image + room(count), origin = room(count * (in + 1));
  for (int k = 0; k < count * INTS; k++) put(sendbuf, sl, k, test_value(me, 0, k));
  for (int j = 0; j < in; j++) {
    if (g->sources[me][j] == MPI_PROC_NULL) continue;
    for (int k = 0; k < count * INTS; k++) put(want.image + origin + j * count * rl->extent, rl, k, test_value(g->sources[me][j], 0, k));
  }
  if (wide) OK(MPIX_Neighbor_gather_c(sendbuf, count, sl->type, have.image + origin, count, rl->type, MPI_COMM_WORLD));
  else OK(MPIX_Neighbor_gather(sendbuf, count, sl->type, have.image + origin, count, rl->type, MPI_COMM_WORLD));
  compare("gather", &have, &want);
  free(send.image), free(have.image), free(want.image);
}

static void test_gatherv(uint64_t seed, int wide) {
  int in = g->indegree[me], mine = mix2(seed, me) % 4;
  const layout *sl = &layouts[mix2(seed, me + 1) % KINDS], *rl = &layouts[mix2(seed, me + 7) % KINDS];
  int counts[in + 1], displs[in + 1], at = -3;
  MPI_Count wcounts[in + 1];
  MPI_Aint wdispls[in + 1];
  /* blocks in reverse order, with gaps, and the first ones before the buffer's address */
  for (int j = in - 1; j >= 0; j--) {
    int s = g->sources[me][j];
    wcounts[j] = counts[j] = s == MPI_PROC_NULL ? 3 : (int)(mix2(seed, s) % 4);
    wdispls[j] = displs[j] = at;
    at += counts[j] + 1;
  }
  buffer send = new_buffer(2 * room(mine), 0), have = new_buffer(2 * room(at + 4), SENTINEL), want = new_buffer(have.total, SENTINEL);
  int *sendbuf = send.image + room(mine), origin = room(at + 4) / 2 + MARGIN;
  for (int k = 0; k < mine * INTS; k++) put(sendbuf, sl, k, test_value(me, 0, k));
  for (int j = 0; j < in; j++) {
    if (g->sources[me][j] == MPI_PROC_NULL) continue;
    for (int k = 0; k < counts[j] * INTS; k++) put(want.image + origin + displs[j] * rl->extent, rl, k, test_value(g->sources[me][j], 0, k));
  }
  if (wide) OK(MPIX_Neighbor_gatherv_c(sendbuf, mine, sl->type, have.image + origin, wcounts, wdispls, rl->type, MPI_COMM_WORLD));
  else OK(MPIX_Neighbor_gatherv(sendbuf, mine, sl->type, have.image + origin, counts, displs, rl->type, MPI_COMM_WORLD));
  compare("gatherv", &have, &want);
  free(send.image), free(have.image), free(want.image);
}

static void test_alltoall(uint64_t seed, int wide) {
  int count = seed % 4, in = g->indegree[me], out = g->outdegree[me];
  const layout *sl = &layouts[mix2(seed, me + 2) % KINDS], *rl = &layouts[mix2(seed, me + 5) % KINDS];
  buffer send = new_buffer(2 * room(count * (out + 1)), 0);
  buffer have = new_buffer(2 * room(count * (in + 1)), SENTINEL), want = new_buffer(have.total, SENTINEL);
  int from = room(count * (out + 1)), origin = room(count * (in + 1));
  for (int i = 0; i < out; i++)
    for (int k = 0; k < count * INTS; k++) put(send.image + from + i * count * sl->extent, sl, k, test_value(me, i, k));
  for (int j = 0; j < in; j++) {
    if (g->sources[me][j] == MPI_PROC_NULL) continue;
    int i = graph_partner(g, me, j);
    for (int k = 0; k < count * INTS; k++) put(want.image + origin + j * count * rl->extent, rl, k, test_value(g->sources[me][j], i, k));
  }
  if (wide) OK(MPIX_Neighbor_alltoall_c(send.image + from, count, sl->type, have.image + origin, count, rl->type, MPI_COMM_WORLD));
  else OK(MPIX_Neighbor_alltoall(send.image + from, count, sl->type, have.image + origin, count, rl->type, MPI_COMM_WORLD));
  compare("alltoall", &have, &want);
  free(send.image), free(have.image), free(want.image);
}

static void test_alltoallv(uint64_t seed, int wide) {
  int in = g->indegree[me], out = g->outdegree[me];
  const layout *sl = &layouts[mix2(seed, me + 3) % KINDS], *rl = &layouts[mix2(seed, me + 4) % KINDS];
  int scounts[out + 1], sdispls[out + 1], rcounts[in + 1], rdispls[in + 1], sat = -2, rat = -3;
  MPI_Count wscounts[out + 1], wrcounts[in + 1];
  MPI_Aint wsdispls[out + 1], wrdispls[in + 1];
  for (int i = out - 1; i >= 0; i--) {
    wscounts[i] = scounts[i] = edge_count(seed, me, i);
    wsdispls[i] = sdispls[i] = sat;
    sat += scounts[i];
  }
  for (int j = 0; j < in; j++) {
    wrcounts[j] = rcounts[j] = g->sources[me][j] == MPI_PROC_NULL ? 2 : edge_count(seed, g->sources[me][j], graph_partner(g, me, j));
    wrdispls[j] = rdispls[j] = rat;
    rat += rcounts[j] + j % 2;
  }
  buffer send = new_buffer(3 * room(sat + 3), 0), have = new_buffer(3 * room(rat + 4), SENTINEL), want = new_buffer(have.total, SENTINEL);
  int from = room(sat + 3), origin = room(rat + 4);
  for (int i = 0; i < out; i++)
    for (int k = 0; k < scounts[i] * INTS; k++) put(send.image + from + sdispls[i] * sl->extent, sl, k, test_value(me, i, k));
  for (int j = 0; j < in; j++) {
    if (g->sources[me][j] == MPI_PROC_NULL) continue;
    int i = graph_partner(g, me, j);
    for (int k = 0; k < rcounts[j] * INTS; k++) put(want.image + origin + rdispls[j] * rl->extent, rl, k, test_value(g->sources[me][j], i, k));
  }
  int *sb = send.image + from, *rb = have.image + origin;
  if (wide) OK(MPIX_Neighbor_alltoallv_c(sb, wscounts, wsdispls, sl->type, rb, wrcounts, wrdispls, rl->type, MPI_COMM_WORLD));
  else OK(MPIX_Neighbor_alltoallv(sb, scounts, sdispls, sl->type, rb, rcounts, rdispls, rl->type, MPI_COMM_WORLD));
  compare("alltoallv", &have, &want);
  free(send.image), free(have.image), free(want.image);
}

/* every block with a layout of its own; `bottom` 1: displacements are addresses, relative to
   MPI_BOTTOM; 2: datatypes hold addresses */
static void test_alltoallw(uint64_t seed, int wide, int bottom) {
  int in = g->indegree[me], out = g->outdegree[me];
  int scounts[out + 1], rcounts[in + 1], sroom = 0, rroom = 0;
  MPI_Count wscounts[out + 1], wrcounts[in + 1];
  MPI_Aint sdispls[out + 1], rdispls[in + 1];
  MPI_Datatype stypes[out + 1], rtypes[in + 1];
  const layout *sl[out + 1], *rl[in + 1];
  int sat[out + 1], rat[in + 1];
  for (int i = 0; i < out; i++) {
    sl[i] = &layouts[mix3(seed, me, i) % KINDS];
    stypes[i] = sl[i]->type;
    wscounts[i] = scounts[i] = edge_count(seed, me, i);
    sat[i] = sroom + MARGIN;
    sroom += 2 * room(scounts[i]);
  }
  for (int j = 0; j < in; j++) {
    rl[j] = &layouts[mix3(seed, me + 50, j) % KINDS];
    rtypes[j] = rl[j]->type;
    wrcounts[j] = rcounts[j] = g->sources[me][j] == MPI_PROC_NULL ? 1 : edge_count(seed, g->sources[me][j], graph_partner(g, me, j));
    rat[j] = rroom + MARGIN;
    rroom += 2 * room(rcounts[j]);
  }
  buffer send = new_buffer(sroom, 0), have = new_buffer(rroom, SENTINEL), want = new_buffer(rroom, SENTINEL);
  for (int i = 0; i < out; i++) {
    for (int k = 0; k < scounts[i] * INTS; k++) put(send.image + sat[i], sl[i], k, test_value(me, i, k));
    sdispls[i] = sat[i] * (MPI_Aint)sizeof(int);
    if (bottom) MPI_Get_address(send.image + sat[i], &sdispls[i]);
  }
  for (int j = 0; j < in; j++) {
    rdispls[j] = rat[j] * (MPI_Aint)sizeof(int);
    if (bottom) MPI_Get_address(have.image + rat[j], &rdispls[j]);
    if (g->sources[me][j] == MPI_PROC_NULL) continue;
    int i = graph_partner(g, me, j);
    for (int k = 0; k < rcounts[j] * INTS; k++) put(want.image + rat[j], rl[j], k, test_value(g->sources[me][j], i, k));
  }
  if (bottom == 2) {
    for (int i = 0; i < out; i++) stypes[i] = absolute(send.image + sat[i], scounts[i], stypes[i]), sdispls[i] = 0, wscounts[i] = scounts[i] = 1;
    for (int j = 0; j < in; j++) rtypes[j] = absolute(have.image + rat[j], rcounts[j], rtypes[j]), rdispls[j] = 0, wrcounts[j] = rcounts[j] = 1;
  }
  void *sb = bottom ? MPI_BOTTOM : send.image, *rb = bottom ? MPI_BOTTOM : have.image;
  if (wide) OK(MPIX_Neighbor_alltoallw_c(sb, wscounts, sdispls, stypes, rb, wrcounts, rdispls, rtypes, MPI_COMM_WORLD));
  else OK(MPIX_Neighbor_alltoallw(sb, scounts, sdispls, stypes, rb, rcounts, rdispls, rtypes, MPI_COMM_WORLD));
  compare("alltoallw", &have, &want);
  for (int i = 0; i < out && bottom == 2; i++) MPI_Type_free(&stypes[i]);
  for (int j = 0; j < in && bottom == 2; j++) MPI_Type_free(&rtypes[j]);
  free(send.image), free(have.image), free(want.image);
}

/* integer sums on contiguous data; operators and layouts are the matter of reduce.c */
static void test_reduce(uint64_t seed, int wide, int vector) {
  int count = 1 + seed % 4, in = g->indegree[me], out = g->outdegree[me], ints = count * INTS, real = 0;
  int send[(out + 1) * ints], have[ints], want[ints], counts[out + 1], displs[out + 1];
  MPI_Count wcounts[out + 1];
  MPI_Aint wdispls[out + 1];
  for (int i = 0; i < out; i++) {
    wcounts[i] = counts[i] = ints;
    wdispls[i] = displs[i] = vector ? i * ints : 0;
    for (int k = 0; k < ints; k++) send[displs[i] + k] = test_value(me, vector ? i : 0, k) % 100000;
  }
  for (int k = 0; k < ints; k++) have[k] = SENTINEL, want[k] = 0;
  for (int j = 0; j < in; j++) {
    int s = g->sources[me][j];
    if (s == MPI_PROC_NULL) continue;
    real++;
    for (int k = 0; k < ints; k++) want[k] += test_value(s, vector ? graph_partner(g, me, j) : 0, k) % 100000;
  }
  if (vector && wide) OK(MPIX_Neighbor_reducev_c(send, wcounts, wdispls, MPI_INT, have, ints, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  else if (vector) OK(MPIX_Neighbor_reducev(send, counts, displs, MPI_INT, have, ints, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  else if (wide) OK(MPIX_Neighbor_reduce_c(send, ints, MPI_INT, have, ints, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  else OK(MPIX_Neighbor_reduce(send, ints, MPI_INT, have, ints, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  for (int k = 0; k < ints; k++)
    CHECK(have[k] == (real ? want[k] : SENTINEL), "reduce: int %d is %d, not %d (%d sources)", k, have[k], want[k], real);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  make_layouts();
  me = test_rank;
  const char *reduces = getenv("TEST_REDUCE"); /* "no": not all schedules serve reductions */
  int reduce = !reduces || strcmp(reduces, "no");
  for (uint64_t seed = 0; seed < 8; seed++) {
    /* sparse ones leave processes without edges; the last ones have far more edges than
       processes */
    int edges = (int)(seed * test_size / 2) + (seed == 7 ? 40 : 0);
    graph random = graph_random(test_size, edges, seed);
    g = &random;
    graph_set(g, reduce ? ALL_OPERATIONS : MPIX_NEIGHBOR_GATHER | MPIX_NEIGHBOR_ALLTOALL, MPI_INFO_NULL, MPI_COMM_WORLD);
    /* the same schedule with other buffers, counts and types each time */
    for (int repeat = 0; repeat < 2; repeat++) {
      uint64_t s = seed * 10 + repeat;
      test_gather(s, repeat);
      test_gatherv(s, repeat);
      test_alltoall(s, repeat);
      test_alltoallv(s, repeat);
      test_alltoallw(s, repeat, 0);
      test_alltoallw(s, repeat, 1);
      test_alltoallw(s, repeat, 2);
      if (reduce) test_reduce(s, repeat, 0), test_reduce(s, repeat, 1);
    }
    graph_free(&random);
  }
  for (int k = 0; k < KINDS; k++) MPI_Type_free(&layouts[k].type);
  return test_finish();
}
