/* MPIX_Neighbor_accumulate, accumulatev, accumulatew: each source's block is combined with what is
   in its place, in the order of the sources, whatever the graph, the schedule, the datatype and the
   operator; places overlap. A halo that is reversed adds what ghost cells hold to their owners. */
#include "forms.h"
#include <stddef.h>

/* a persistent collective runs three times, and combines three times */
static int runs(void) { return test_form() == PERSISTENT ? 3 : 1; }

#define FORMS(name, ...)                                                                                                      \
  (test_form() == NONBLOCKING ? by_sources(MPIX_Ineighbor_##name(__VA_ARGS__, comm, &test_request), MPIX_NEIGHBOR_ACCUMULATE, comm) \
   : test_form() == PERSISTENT ? by_plan(MPIX_Neighbor_##name##_plan(__VA_ARGS__, comm, MPI_INFO_NULL, &test_request))              \
                               : MPIX_Neighbor_##name(__VA_ARGS__, comm))
#define FORMS_C(name, ...)                                                                                                       \
  (test_form() == NONBLOCKING ? by_sources(MPIX_Ineighbor_##name##_c(__VA_ARGS__, comm, &test_request), MPIX_NEIGHBOR_ACCUMULATE, comm) \
   : test_form() == PERSISTENT ? by_plan(MPIX_Neighbor_##name##_plan_c(__VA_ARGS__, comm, MPI_INFO_NULL, &test_request))                \
                               : MPIX_Neighbor_##name##_c(__VA_ARGS__, comm))

/* ---- Operators and datatypes, each with what it does to one item ---- */

/* x -> a x + b, composed: associative, does not commute */
typedef struct {
  int64_t a, b;
} affine;

typedef struct {
  double value;
  int index;
} pair;

static void compose_one(void *old, const void *new) {
  affine *f = old;
  const affine *g = new;
  affine r = {f->a * g->a % 1000003, (f->a * g->b + f->b) % 1000003};
  *f = r;
}
static void compose(void *in, void *inout, int *length, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *length; i++) {
    affine left = ((affine *)in)[i];
    compose_one(&left, (affine *)inout + i);
    ((affine *)inout)[i] = left;
  }
}
/* the same on elements that are 40 bytes apart and lie 8 bytes before their address */
static void compose_strided(void *in, void *inout, int *length, MPI_Datatype *type) {
  for (int i = 0; i < *length; i++) {
    int one = 1;
    compose((char *)in + i * 40 - 8, (char *)inout + i * 40 - 8, &one, type);
  }
}
static void add_user(void *in, void *inout, int *length, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *length; i++) ((int *)inout)[i] += ((int *)in)[i];
}
static void add_long(void *old, const void *new) { *(long *)old += *(const long *)new; }
static void add_int(void *old, const void *new) { *(int *)old = (int)(*(unsigned *)old + *(const unsigned *)new); }
static void times_short(void *old, const void *new) { *(short *)old = (short)(*(short *)old * *(const short *)new); }
static void xor_byte(void *old, const void *new) { *(unsigned char *)old ^= *(const unsigned char *)new; }
static void most(void *old, const void *new) {
  if (*(const double *)new > *(double *)old) memcpy(old, new, sizeof(double));
}
static void or_int(void *old, const void *new) { *(int *)old |= *(const int *)new; }
static void least(void *old, const void *new) {
  pair *a = old;
  const pair *b = new;
  if (b->value < a->value || (b->value == a->value && b->index < a->index)) a->value = b->value, a->index = b->index;
}

static void some_affine(void *item, uint64_t h) { *(affine *)item = (affine){(int64_t)(h % 1000) + 2, (int64_t)((h >> 20) % 1000)}; }
static void some_long(void *item, uint64_t h) { *(long *)item = (long)(h >> 8); }
static void some_int(void *item, uint64_t h) { *(int *)item = (int)(h & 0xffffff); }
static void some_short(void *item, uint64_t h) { *(short *)item = (short)(h % 5 - 2); }
static void some_byte(void *item, uint64_t h) { *(unsigned char *)item = (unsigned char)h; }
static void some_double(void *item, uint64_t h) { *(double *)item = (double)(h % 1000) - 500.5; }
static void some_pair(void *item, uint64_t h) { ((pair *)item)->value = (double)(h % 7), ((pair *)item)->index = (int)(h >> 40) % 1000; }

/* elements that are received: `items` basic items each, at `offsets`, `extent` bytes apart */
typedef struct {
  const char *name;
  int size, items, offsets[3], extent;
  void (*apply)(void *old, const void *new);
  void (*some)(void *item, uint64_t h);
  MPI_Datatype basic, type;
  MPI_Op op;
} kind;

enum { KINDS = 11 };
static kind kinds[KINDS];
static MPI_Op op_compose, op_strided, op_add;

static MPI_Datatype resized(MPI_Datatype old, MPI_Aint extent) {
  MPI_Datatype new;
  MPI_Type_create_resized(old, 0, extent, &new);
  MPI_Type_commit(&new);
  MPI_Type_free(&old);
  return new;
}

static void make_kinds(void) {
  MPI_Datatype type, affine_type, strided, ints, doubles, pairs;
  MPI_Op_create(compose, 0, &op_compose);
  MPI_Op_create(compose_strided, 0, &op_strided);
  MPI_Op_create(add_user, 1, &op_add);
  MPI_Type_contiguous(2, MPI_INT64_T, &affine_type);
  MPI_Type_commit(&affine_type);
  int one = 1;
  MPI_Aint before = -8, places[] = {-8, 4};
  MPI_Type_create_struct(1, &one, &before, &affine_type, &type);
  strided = resized(type, 40);
  /* an empty member may be of any datatype */
  int lengths[] = {1, 0, 1};
  MPI_Aint three[] = {places[0], 0, places[1]};
  MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_INT};
  MPI_Type_create_struct(3, lengths, three, types, &type);
  ints = resized(type, 24);
  MPI_Type_vector(3, 1, 2, MPI_DOUBLE, &type);
  doubles = resized(type, 48);
  MPI_Type_vector(2, 1, 2, MPI_DOUBLE_INT, &type);
  pairs = resized(type, 48);
  kind all[KINDS] = {
      {"long, sum", 8, 1, {0}, 8, add_long, some_long, MPI_LONG, MPI_LONG, MPI_SUM},
      {"short, product", 2, 1, {0}, 2, times_short, some_short, MPI_SHORT, MPI_SHORT, MPI_PROD},
      {"byte, xor", 1, 1, {0}, 1, xor_byte, some_byte, MPI_BYTE, MPI_BYTE, MPI_BXOR},
      {"three doubles with gaps, max", 8, 3, {0, 16, 32}, 48, most, some_double, MPI_DOUBLE, doubles, MPI_MAX},
      {"two ints around their address, or", 4, 2, {-8, 4}, 24, or_int, some_int, MPI_INT, ints, MPI_BOR},
      {"pair, minloc", 16, 1, {0}, 16, least, some_pair, MPI_DOUBLE_INT, MPI_DOUBLE_INT, MPI_MINLOC},
      {"two pairs with gaps, minloc", 16, 2, {0, 32}, 48, least, some_pair, MPI_DOUBLE_INT, pairs, MPI_MINLOC},
      {"affine, composed", 16, 1, {0}, 16, compose_one, some_affine, affine_type, affine_type, op_compose},
      {"affine with gaps, composed", 16, 1, {-8}, 40, compose_one, some_affine, affine_type, strided, op_strided},
      {"int, a sum of the user's", 4, 1, {0}, 4, add_int, some_int, MPI_INT, MPI_INT, op_add},
      {"int, sum", 4, 1, {0}, 4, add_int, some_int, MPI_INT, MPI_INT, MPI_SUM},
  };
  memcpy(kinds, all, sizeof all);
}

static void free_kinds(void) {
  int derived[] = {3, 4, 6, 7, 8};
  for (int i = 0; i < 5; i++) MPI_Type_free(&kinds[derived[i]].type);
  MPI_Op_free(&op_compose);
  MPI_Op_free(&op_strided);
  MPI_Op_free(&op_add);
}

/* ---- Random multigraphs ---- */

enum { PLACES = 6, MARGIN = 64 };

/* elements of the block that process `s` sends in target entry `i` */
static int length(int s, int i, int most_elements) { return (int)(mix3(3, s, i) % (unsigned)(most_elements + 1)); }
static uint64_t item(int s, int i, int k) { return mix3(s, i, k); }

/* which function is called */
enum { EQUAL, VECTOR, VECTOR_C, GENERAL, GENERAL_C, CALLS };

/* one call on the graph: places of different sources overlap */
static void one_call(const graph *g, const kind *t, int call, int most_elements, MPI_Comm comm) {
  int me = test_rank, in = g->indegree[me], out = g->outdegree[me], room = PLACES + most_elements;
  size_t bytes = (size_t)(call == EQUAL ? in * most_elements : room) * t->extent + 2 * MARGIN + 48;
  char *have = malloc(bytes), *want = malloc(bytes), name[100];
  snprintf(name, sizeof name, "%s, call %d, up to %d", t->name, call, most_elements);
  int *scounts = calloc(out + 1, sizeof(int)), *sdispls = calloc(out + 1, sizeof(int));
  int *rcounts = calloc(in + 1, sizeof(int)), *rdispls = calloc(in + 1, sizeof(int));
  MPI_Count *big_scounts = calloc(out + 1, sizeof(MPI_Count)), *big_rcounts = calloc(in + 1, sizeof(MPI_Count));
  MPI_Aint *big_sdispls = calloc(out + 1, sizeof(MPI_Aint)), *big_rdispls = calloc(in + 1, sizeof(MPI_Aint));
  MPI_Aint *byte_sdispls = calloc(out + 1, sizeof(MPI_Aint)), *byte_rdispls = calloc(in + 1, sizeof(MPI_Aint));
  MPI_Datatype *stypes = calloc(out + 1, sizeof(MPI_Datatype)), *rtypes = calloc(in + 1, sizeof(MPI_Datatype));
  for (size_t b = 0; b < bytes; b++) have[b] = (char)(b * 7);
  /* what is there is of the items' kind: where a place may begin, in all elements */
  for (int e = 0; e < (call == EQUAL ? in * most_elements : room); e++)
    for (int k = 0; k < t->items; k++) t->some(have + MARGIN + e * t->extent + t->offsets[k], mix3(me, e, 900 + k));
  memcpy(want, have, bytes);
  int total = 0;
  for (int i = 0; i < out; i++) {
    int elements = call == EQUAL ? most_elements : length(me, i, most_elements);
    scounts[i] = elements * t->items, sdispls[i] = total;
    if (g->targets[me][i] == MPI_PROC_NULL && call != EQUAL) scounts[i] = -3;
    big_scounts[i] = scounts[i], big_sdispls[i] = sdispls[i], byte_sdispls[i] = (MPI_Aint)total * t->size, stypes[i] = t->basic;
    total += elements * t->items;
  }
  char *sent = calloc((size_t)total + 1, t->size);
  for (int i = 0; i < out; i++)
    for (int k = 0; k < (call == EQUAL ? most_elements * t->items : scounts[i]); k++) t->some(sent + (size_t)(sdispls[i] + k) * t->size, item(me, i, k));
  for (int j = 0; j < in; j++) {
    int i = g->sources[me][j] == MPI_PROC_NULL ? 0 : graph_partner(g, me, j);
    rcounts[j] = call == EQUAL ? most_elements : length(g->sources[me][j], i, most_elements);
    rdispls[j] = call == EQUAL ? j * most_elements : (int)(mix2(me, j) % PLACES);
    if (g->sources[me][j] == MPI_PROC_NULL && call != EQUAL) rcounts[j] = -3;
    big_rcounts[j] = rcounts[j], big_rdispls[j] = rdispls[j], byte_rdispls[j] = (MPI_Aint)rdispls[j] * t->extent, rtypes[j] = t->type;
  }
  for (int run = 0; run < runs(); run++) {
    for (int j = 0; j < in; j++) {
      int s = g->sources[me][j];
      if (s == MPI_PROC_NULL) continue;
      int i = graph_partner(g, me, j);
      for (int k = 0; k < rcounts[j] * t->items; k++) {
        char new[16];
        t->some(new, item(s, i, k));
        t->apply(want + MARGIN + (size_t)(rdispls[j] + k / t->items) * t->extent + t->offsets[k % t->items], new);
      }
    }
  }
  char *at = have + MARGIN;
  switch (call) {
    case EQUAL: OK(FORMS(accumulate, sent, most_elements * t->items, t->basic, at, most_elements, t->type, t->op)); break;
    case VECTOR: OK(FORMS(accumulatev, sent, scounts, sdispls, t->basic, at, rcounts, rdispls, t->type, t->op)); break;
    case VECTOR_C: OK(FORMS_C(accumulatev, sent, big_scounts, big_sdispls, t->basic, at, big_rcounts, big_rdispls, t->type, t->op)); break;
    case GENERAL: OK(FORMS(accumulatew, sent, scounts, byte_sdispls, stypes, at, rcounts, byte_rdispls, rtypes, t->op)); break;
    default: OK(FORMS_C(accumulatew, sent, big_scounts, byte_sdispls, stypes, at, big_rcounts, byte_rdispls, rtypes, t->op));
  }
  size_t bad = 0;
  while (bad < bytes && have[bad] == want[bad]) bad++;
  CHECK(bad == bytes, "%s: byte %zu of %zu differs (element %ld)", name, bad, bytes, ((long)bad - MARGIN) / t->extent);
  free(have), free(want), free(sent), free(scounts), free(sdispls), free(rcounts), free(rdispls), free(stypes), free(rtypes);
  free(big_scounts), free(big_rcounts), free(big_sdispls), free(big_rdispls), free(byte_sdispls), free(byte_rdispls);
}

static void graphs(MPI_Comm comm, MPI_Info info) {
  for (int seed = 0; seed < 3; seed++) {
    graph g = graph_random(test_size, test_size * (1 + 2 * seed), 170 + seed);
    graph_set(&g, MPIX_NEIGHBOR_ACCUMULATE, info, comm);
    for (int k = 0; k < KINDS; k++)
      for (int call = 0; call < CALLS; call++) one_call(&g, &kinds[k], call, 4, comm);
    graph_free(&g);
  }
  /* long blocks, in chunks or by MPI */
  graph g = graph_random(test_size, 2 * test_size, 99);
  graph_set(&g, MPIX_NEIGHBOR_ACCUMULATE, info, comm);
  int several[] = {0, 3, 6, 7, 10};
  for (int k = 0; k < 5; k++) one_call(&g, &kinds[several[k]], VECTOR, 3000, comm);
  one_call(&g, &kinds[0], EQUAL, 50000, comm);
  one_call(&g, &kinds[3], GENERAL, 40000, comm);
  OK(MPIX_Neighborhood_free(MPIX_NEIGHBOR_ACCUMULATE, comm));
  graph_free(&g);
}

/* ---- A reverse halo ---- */

enum { SIDE = 3, WITH_GHOSTS = SIDE + 2, CELLS = WITH_GHOSTS * WITH_GHOSTS };

static MPI_Datatype part(int rows, int columns, int row, int column) {
  int sizes[] = {WITH_GHOSTS, WITH_GHOSTS}, part[] = {rows, columns}, from[] = {row, column};
  MPI_Datatype type;
  MPI_Type_create_subarray(2, sizes, part, from, MPI_ORDER_C, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

/* out: owners to ghosts; back: ghosts to owners, where they add up */
static void halo(int rows, int periodic) {
  int dims[] = {rows, 0}, periods[] = {periodic, periodic};
  if (rows > 0 && test_size % rows) return;
  MPI_Comm comm;
  MPI_Dims_create(test_size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Datatype owned[] = {part(1, SIDE, 1, 1), part(1, SIDE, SIDE, 1), part(SIDE, 1, 1, 1), part(SIDE, 1, 1, SIDE)};
  MPI_Datatype ghosts[] = {part(1, SIDE, 0, 1), part(1, SIDE, SIDE + 1, 1), part(SIDE, 1, 1, 0), part(SIDE, 1, 1, SIDE + 1)};
  int ones[] = {1, 1, 1, 1}, neighbors[4];
  MPI_Aint zeros[4] = {0};
  double field[CELLS], want[CELLS];
  MPI_Cart_shift(comm, 0, 1, &neighbors[0], &neighbors[1]);
  MPI_Cart_shift(comm, 1, 1, &neighbors[2], &neighbors[3]);
  for (int c = 0; c < CELLS; c++) field[c] = -1;
  for (int r = 1; r <= SIDE; r++)
    for (int c = 1; c <= SIDE; c++) field[r * WITH_GHOSTS + c] = test_rank * 100 + r * 10 + c;
  memcpy(want, field, sizeof field);
  OK(MPIX_Neighborhood_set_topology(MPIX_NEIGHBOR_ALLTOALL, MPI_INFO_NULL, comm));
  OK(MPIX_Neighborhood_reverse(MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_ACCUMULATE, MPI_INFO_NULL, comm));
  OK(MPIX_Neighbor_alltoallw(field, ones, zeros, owned, field, ones, zeros, ghosts, comm));
  /* ghosts hold copies: adding them back counts each owned cell once more for each side it is on */
  double sum[CELLS];
  memcpy(sum, field, sizeof field);
  OK(FORMS(accumulatew, field, ones, zeros, ghosts, sum, ones, zeros, owned, MPI_SUM));
  for (int r = 1; r <= SIDE; r++) {
    for (int c = 1; c <= SIDE; c++) {
      int times = (r == 1 && neighbors[0] != MPI_PROC_NULL) + (r == SIDE && neighbors[1] != MPI_PROC_NULL) + (c == 1 && neighbors[2] != MPI_PROC_NULL) +
                  (c == SIDE && neighbors[3] != MPI_PROC_NULL);
      double expected = want[r * WITH_GHOSTS + c] * (1 + runs() * times), got = sum[r * WITH_GHOSTS + c];
      CHECK(got == expected, "%d x %d, periodic %d: cell %d %d: %g, not %g", dims[0], dims[1], periodic, r, c, got, expected);
    }
  }
  for (int r = 0; r < WITH_GHOSTS; r += SIDE + 1)
    for (int c = 0; c < WITH_GHOSTS; c++) CHECK(sum[r * WITH_GHOSTS + c] == field[r * WITH_GHOSTS + c], "ghost cell %d %d has changed", r, c);
  for (int i = 0; i < 4; i++) MPI_Type_free(&owned[i]), MPI_Type_free(&ghosts[i]);
  MPI_Comm_free(&comm);
}

/* ---- Beside other operations, operators that go, absolute addresses, and errors ---- */

/* neighborhoods that were set at different times, and two operations under way that start in
   another order on each process: long blocks go by MPI, and must not meet those of the other one */
static void beside_others(MPI_Comm comm) {
  enum { LONG = 400000 };
  int next = (test_rank + 1) % test_size, previous = (test_rank + test_size - 1) % test_size;
  double *sent = malloc(LONG * sizeof *sent), *sum = malloc(LONG * sizeof *sum), *got = malloc(LONG * sizeof *got);
  for (int generation = 0; generation < 3; generation++) {
    int operations = generation == 0 ? ALL_OPERATIONS : generation == 1 ? MPIX_NEIGHBOR_ALLTOALL : MPIX_NEIGHBOR_GATHER;
    OK(MPIX_Neighborhood_set(operations, 1, &previous, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
    /* so that both count alike, and equal numbers of calls cannot tell them apart */
    for (int k = 0; k < generation; k++) OK(MPIX_Neighbor_alltoall(sent, 1, MPI_DOUBLE, got, 1, MPI_DOUBLE, comm));
    for (int k = 0; k < LONG; k++) sent[k] = test_rank + k, sum[k] = -1, got[k] = 0;
    MPIX_Request requests[2];
    for (int k = 0; k < 2; k++) {
      if ((k + test_rank) % 2) OK(MPIX_Ineighbor_accumulate(sent, LONG, MPI_DOUBLE, sum, LONG, MPI_DOUBLE, MPI_SUM, comm, &requests[k]));
      else OK(MPIX_Ineighbor_alltoall(sent, LONG / 2, MPI_DOUBLE, got, LONG / 2, MPI_DOUBLE, comm, &requests[k]));
    }
    OK(MPIX_Request_waitall(2, requests));
    int bad = 0;
    for (int k = 0; k < LONG; k++) bad += sum[k] != previous + k - 1 || got[k] != (k < LONG / 2 ? previous + k : 0);
    CHECK(bad == 0, "generation %d: %d elements are wrong", generation, bad);
  }
  OK(MPIX_Neighborhood_free(ALL_OPERATIONS, comm));
  free(sent), free(sum), free(got);
}

static void first_of(void *in, void *inout, int *length, MPI_Datatype *type) {
  (void)type;
  memcpy(inout, in, (size_t)*length * sizeof(int));
}

/* MPIs give the handle of an operator that was freed to another one, which need not commute */
static void operators_that_go(MPI_Comm comm) {
  int next = (test_rank + 1) % test_size, previous = (test_rank + test_size - 1) % test_size;
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ACCUMULATE, 1, &previous, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
  for (int round = 0; round < 4; round++) {
    int have = 7, commutes = round % 2 == 0, want = 7;
    MPI_Op op;
    MPI_Op_create(commutes ? add_user : first_of, commutes, &op);
    OK(FORMS(accumulate, &test_rank, 1, MPI_INT, &have, 1, MPI_INT, op));
    MPI_Op_free(&op);
    if (commutes) want += runs() * previous;
    CHECK(have == want, "operator %d: %d, not %d", round, have, want);
  }
}

static void bottom(MPI_Comm comm) {
  int next = (test_rank + 1) % test_size, previous = (test_rank + test_size - 1) % test_size;
  int sent[3], have[3];
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ACCUMULATE, 1, &previous, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
  for (int k = 0; k < 3; k++) sent[k] = test_rank + k, have[k] = 100 * k;
  MPI_Datatype from = absolute(sent, 3, MPI_INT), into = absolute(have, 3, MPI_INT);
  OK(FORMS(accumulate, MPI_BOTTOM, 1, from, MPI_BOTTOM, 1, into, MPI_SUM));
  for (int k = 0; k < 3; k++) CHECK(have[k] == 100 * k + runs() * (previous + k), "at MPI_BOTTOM: %d is %d", k, have[k]);
  MPI_Type_free(&from);
  MPI_Type_free(&into);
}

/* blocks of several lengths and datatypes in one message: those that follow a single byte are not
   aligned */
static void unaligned(MPI_Comm comm) {
  enum { BLOCKS = 4, SHORTS = 700 };
  static const int counts[BLOCKS] = {1, SHORTS, 1, 2};
  MPI_Datatype types[BLOCKS] = {MPI_SIGNED_CHAR, MPI_SHORT, MPI_LONG_DOUBLE, MPI_DOUBLE};
  struct {
    signed char c;
    short s[SHORTS];
    long double l;
    double d[2];
  } sent, have;
  int next = (test_rank + 1) % test_size, previous = (test_rank + test_size - 1) % test_size;
  int sources[BLOCKS] = {previous, previous, previous, previous}, targets[BLOCKS] = {next, next, next, next};
  MPI_Aint places[BLOCKS] = {(char *)&sent.c - (char *)&sent, (char *)sent.s - (char *)&sent, (char *)&sent.l - (char *)&sent, (char *)sent.d - (char *)&sent};
  memset(&sent, 0, sizeof sent), memset(&have, 0, sizeof have);
  sent.c = (signed char)(test_rank + 1), sent.l = test_rank + 2, sent.d[0] = test_rank + 3, sent.d[1] = test_rank + 4;
  for (int k = 0; k < SHORTS; k++) sent.s[k] = (short)(test_rank + k);
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ACCUMULATE, BLOCKS, sources, MPI_UNWEIGHTED, BLOCKS, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
  OK(FORMS(accumulatew, &sent, counts, places, types, &have, counts, places, types, MPI_SUM));
  int bad = have.c != runs() * (previous + 1), times = runs();
  bad += have.l != times * (previous + 2) || have.d[0] != times * (previous + 3) || have.d[1] != times * (previous + 4);
  for (int k = 0; k < SHORTS; k++) bad += have.s[k] != times * (previous + k);
  CHECK(bad == 0, "unaligned: %d elements are wrong", bad);
}

static void errors(MPI_Comm comm) {
  int next = (test_rank + 1) % test_size, previous = (test_rank + test_size - 1) % test_size, one = 1, minus = -1;
  double send[4] = {1, 2, 3, 4}, have[4] = {0};
  MPI_Aint zero = 0;
  FAILS(FORMS(accumulate, send, 1, MPI_DOUBLE, have, 1, MPI_DOUBLE, MPI_SUM), MPI_ERR_TOPOLOGY, "no neighborhood for MPIX_NEIGHBOR_ACCUMULATE");
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ACCUMULATE, 1, &previous, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
  FAILS(FORMS(accumulate, send, 1, MPI_DOUBLE, have, 1, MPI_DOUBLE, MPI_OP_NULL), MPI_ERR_OP, "op is MPI_OP_NULL");
  FAILS(FORMS(accumulate, send, 1, MPI_DOUBLE, have, 1, MPI_DOUBLE, MPI_BAND), MPI_ERR_OP, "op does not work on recvtype");
  FAILS(FORMS(accumulate, send, 1, MPI_DOUBLE, have, -1, MPI_DOUBLE, MPI_SUM), MPI_ERR_COUNT, "recvcount = -1");
  FAILS(FORMS(accumulatev, send, &one, &(int){0}, MPI_DOUBLE, have, &minus, &(int){0}, MPI_DOUBLE, MPI_SUM), MPI_ERR_COUNT, "recvcounts[0] = -1");
  FAILS(FORMS(accumulate, send, 1, MPI_DOUBLE, NULL, 1, MPI_DOUBLE, MPI_SUM), MPI_ERR_BUFFER, "recvbuf");
  FAILS(FORMS(accumulate, send, 1, MPI_DOUBLE, MPI_IN_PLACE, 1, MPI_DOUBLE, MPI_SUM), MPI_ERR_BUFFER, "MPI_IN_PLACE");
  FAILS(FORMS(accumulate, send, 1, MPI_DOUBLE, have, 1, MPI_DOUBLE, MPI_REPLACE), MPI_ERR_OP, "op does not work on recvtype: it is for windows alone");
  int lengths[] = {1, 1};
  MPI_Aint places[] = {0, 8};
  MPI_Datatype two[] = {MPI_DOUBLE, MPI_INT}, mixed, plain, empty;
  /* also of elements without bytes */
  MPI_Type_contiguous(0, MPI_DOUBLE, &empty);
  MPI_Type_commit(&empty);
  FAILS(FORMS(accumulate, send, 1, empty, have, 1, empty, MPI_NO_OP), MPI_ERR_OP, "op does not work on recvtype: it is for windows alone");
  MPI_Type_free(&empty);
  MPI_Type_create_struct(2, lengths, places, two, &mixed);
  plain = MPI_BYTE;
  MPI_Count twelve = 12, single = 1;
  FAILS(FORMS(accumulatew, send, &(int){12}, &zero, &plain, have, &one, &zero, &mixed, MPI_SUM), MPI_ERR_TYPE, "recvtypes[0]");
  MPI_Type_commit(&mixed);
  FAILS(FORMS(accumulatew, send, &(int){12}, &zero, &plain, have, &one, &zero, &mixed, MPI_SUM), MPI_ERR_OP, "op does not work on recvtypes[0]: it is not made of one predefined datatype");
  FAILS(FORMS_C(accumulatew, send, &twelve, &zero, &plain, have, &single, &zero, &mixed, MPI_MAX), MPI_ERR_OP, "recvtypes[0]");
  MPI_Type_free(&mixed);
  /* a type without data is of no datatype */
  int none[] = {0, 0};
  MPI_Type_create_struct(2, none, places, two, &mixed);
  MPI_Type_commit(&mixed);
  OK(FORMS(accumulatew, send, &(int){0}, &zero, &plain, have, &one, &zero, &mixed, MPI_SUM));
  MPI_Type_free(&mixed);
  CHECK(have[0] == 0 && have[1] == 0, "a call in error has changed the buffer");
  /* nothing has been sent: the next call matches */
  OK(FORMS(accumulate, send, 2, MPI_DOUBLE, have, 2, MPI_DOUBLE, MPI_SUM));
  CHECK(have[0] == runs() && have[1] == 2 * runs(), "%g %g", have[0], have[1]);
  if (getenv("MPIX_SCHEDULE") || getenv("MPIX_NODES") || getenv("MPIX_NEIGHBOR_VERIFY") || test_size == 1) return;
  /* within a node, the lengths of both ends are compared */
  FAILS(FORMS(accumulate, send, 1, MPI_DOUBLE, have, 2, MPI_DOUBLE, MPI_SUM), MPI_ERR_TRUNCATE, "8 bytes");
  CHECK(have[0] == runs() && have[1] == 2 * runs(), "what is too short was added: %g %g", have[0], have[1]);
  OK(FORMS(accumulate, send, 2, MPI_DOUBLE, have, 2, MPI_DOUBLE, MPI_SUM));
  CHECK(have[0] == 2 * runs() && have[1] == 4 * runs(), "after a block that was too short: %g %g", have[0], have[1]);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  MPI_Comm comm;
  MPI_Info any;
  comm = test_duplicate();
  make_kinds();
  const char *schedule = getenv("MPIX_SCHEDULE");
  /* those serve no graph */
  if (!schedule || (strcmp(schedule, "dimension_order") != 0 && strcmp(schedule, "combining") != 0)) {
    graphs(comm, MPI_INFO_NULL);
    MPI_Info_create(&any);
    MPI_Info_set(any, "mpix_reduce_order", "any");
    /* operators that do not commute keep their order all the same */
    graphs(comm, any);
    MPI_Info_free(&any);
    errors(comm);
    bottom(comm);
    unaligned(comm);
    /* verified calls are told apart by their order; node_aware does not reduce */
    if (!getenv("MPIX_NEIGHBOR_VERIFY") && (!schedule || strcmp(schedule, "node_aware") != 0)) beside_others(comm);
    operators_that_go(comm);
  }
  for (int rows = 0; rows < 3; rows++) halo(rows, 0), halo(rows, 1);
  free_kinds();
  MPI_Comm_free(&comm);
  return test_finish();
}
