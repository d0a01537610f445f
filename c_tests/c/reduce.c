/* Reductions: operators that do not commute, user-defined operators on derived datatypes, any order
   where it is allowed, no source, predefined operators, layouts with a negative lower bound. */
#include "forms.h"
#include <stddef.h>

/* x -> a x + b, composed: associative, does not commute */
typedef struct {
  int64_t a, b;
} affine;

static void compose(void *in, void *inout, int *length, MPI_Datatype *type) {
  affine *f = in, *g = inout;
  (void)type;
  for (int i = 0; i < *length; i++) {
    affine r = {f[i].a * g[i].a % 1000003, (f[i].a * g[i].b + f[i].b) % 1000003};
    g[i] = r;
  }
}

/* the same on elements that are 40 bytes apart and lie 8 bytes before their address */
enum { STRIDE = 40, BEFORE = 8 };
static void compose_strided(void *in, void *inout, int *length, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *length; i++) {
    int one = 1;
    compose((char *)in + i * STRIDE - BEFORE, (char *)inout + i * STRIDE - BEFORE, &one, type);
  }
}

static void sum_ints(void *in, void *inout, int *length, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *length; i++) ((int *)inout)[i] += ((int *)in)[i];
}

static affine element(int s, int k) {
  uint64_t h = mix2(s, k);
  affine f = {(int64_t)(h % 1000) + 2, (int64_t)((h >> 20) % 1000)};
  return f;
}

/* a struct whose second member alone travels: the operator is given the address of the struct,
   aligned as a struct must be */
typedef struct {
  int left_out, number;
  long double wide;
} padded;

static int misaligned;

static void add_padded(void *in, void *inout, int *length, MPI_Datatype *type) {
  padded *a = in, *b = inout;
  (void)type;
  misaligned += (uintptr_t)in % _Alignof(padded) != 0 || (uintptr_t)inout % _Alignof(padded) != 0;
  for (int i = 0; i < *length; i++) b[i].number += a[i].number, b[i].wide += a[i].wide;
}

static const graph *g;

/* the composition in the order of the source list */
static affine expected(int me, int k) {
  affine r = {1, 0};
  for (int j = 0; j < g->indegree[me]; j++) {
    if (g->sources[me][j] == MPI_PROC_NULL) continue;
    affine f = element(g->sources[me][j], k);
    affine both = {r.a * f.a % 1000003, (r.a * f.b + r.b) % 1000003};
    r = both;
  }
  return r;
}

static int real_sources(int me) {
  int n = 0;
  for (int j = 0; j < g->indegree[me]; j++) n += g->sources[me][j] != MPI_PROC_NULL;
  return n;
}

static void source_order(MPI_Info info) {
  enum { N = 5 };
  int me = test_rank;
  MPI_Datatype type, strided, moved;
  MPI_Type_contiguous(sizeof(affine), MPI_BYTE, &type);
  MPI_Type_commit(&type);
  int length = sizeof(affine);
  MPI_Aint at = -BEFORE;
  MPI_Type_create_hindexed(1, &length, &at, MPI_BYTE, &moved);
  MPI_Type_create_resized(moved, -BEFORE, STRIDE, &strided);
  MPI_Type_commit(&strided);
  MPI_Type_free(&moved);
  MPI_Op op, op_strided;
  MPI_Op_create(compose, 0, &op);
  MPI_Op_create(compose_strided, 0, &op_strided);
  graph_set(g, MPIX_NEIGHBOR_REDUCE, info, MPI_COMM_WORLD);
  affine send[N], have[N];
  for (int k = 0; k < N; k++) send[k] = element(me, k), have[k].a = have[k].b = -1;
  OK(MPIX_Neighbor_reduce(send, N, type, have, N, type, op, MPI_COMM_WORLD));
  for (int k = 0; k < N; k++) {
    affine want = expected(me, k);
    if (real_sources(me) == 0) want.a = want.b = -1;
    CHECK(have[k].a == want.a && have[k].b == want.b, "element %d: %ld, %ld", k, (long)have[k].a, (long)have[k].b);
  }
  /* the receive side in another layout than the send side, gaps untouched */
  char spread[N * STRIDE + 64];
  memset(spread, 0x5a, sizeof spread);
  OK(MPIX_Neighbor_reduce(send, N, type, spread + 16, N, strided, op_strided, MPI_COMM_WORLD));
  for (int k = 0; k < N; k++) {
    affine want = expected(me, k), got;
    memcpy(&got, spread + 16 + k * STRIDE - BEFORE, sizeof got);
    if (real_sources(me) == 0) memset(&want, 0x5a, sizeof want);
    CHECK(got.a == want.a && got.b == want.b, "strided element %d", k);
    CHECK(spread[16 + k * STRIDE + (int)sizeof(affine) - BEFORE] == 0x5a, "gap behind element %d is written", k);
  }
  MPI_Op_free(&op);
  MPI_Op_free(&op_strided);
  MPI_Type_free(&type);
  MPI_Type_free(&strided);
}

/* predefined operators; a user-defined one that commutes, in any order */
static void operators(MPI_Info any) {
  int me = test_rank, n = real_sources(me);
  graph_set(g, MPIX_NEIGHBOR_REDUCE, any, MPI_COMM_WORLD);
  long sum = 0, largest = -1, send = me + 1, have = -9;
  unsigned char bits = 0, mine = (unsigned char)(1 << (me % 8)), ored = 0;
  for (int j = 0; j < g->indegree[me]; j++) {
    int s = g->sources[me][j];
    if (s == MPI_PROC_NULL) continue;
    sum += s + 1;
    largest = s + 1 > largest ? s + 1 : largest;
    bits |= (unsigned char)(1 << (s % 8));
  }
  OK(MPIX_Neighbor_reduce(&send, 1, MPI_LONG, &have, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
  CHECK(have == (n ? sum : -9), "sum %ld, not %ld", have, sum);
  have = -9;
  OK(MPIX_Neighbor_reduce(&send, 1, MPI_LONG, &have, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD));
  CHECK(have == (n ? largest : -9), "max %ld, not %ld", have, largest);
  OK(MPIX_Neighbor_reduce(&mine, 1, MPI_BYTE, &ored, 1, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD));
  CHECK(ored == bits, "or %d, not %d", ored, bits);
  struct {
    double value;
    int index;
  } at = {-(double)me, me}, least = {1, -1};
  OK(MPIX_Neighbor_reduce(&at, 1, MPI_DOUBLE_INT, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD));
  CHECK(least.index == (n ? (int)largest - 1 : -1), "minloc %d", least.index);
  /* MPI_Reduce_local of both MPIs compares some of these as if they had a sign */
#define LARGEST_UNSIGNED(type, datatype) \
  { \
    const type half = (type)((type)1 << (8 * sizeof(type) - 1)); \
    type own = (type)((me % 2 ? half : (type)0) + (type)me), most = 0, least_one = (type)-1, wanted = 0, smallest = (type)-1; \
    for (int j = 0; j < g->indegree[me]; j++) { \
      int s = g->sources[me][j]; \
      if (s == MPI_PROC_NULL) continue; \
      type of = (type)((s % 2 ? half : (type)0) + (type)s); \
      if (of > wanted) wanted = of; \
      if (of < smallest) smallest = of; \
    } \
    OK(MPIX_Neighbor_reduce(&own, 1, datatype, &most, 1, datatype, MPI_MAX, MPI_COMM_WORLD)); \
    CHECK(most == wanted, #datatype ": max %llu, not %llu", (unsigned long long)most, (unsigned long long)wanted); \
    OK(MPIX_Neighbor_reduce(&own, 1, datatype, &least_one, 1, datatype, MPI_MIN, MPI_COMM_WORLD)); \
    CHECK(least_one == smallest, #datatype ": min %llu, not %llu", (unsigned long long)least_one, (unsigned long long)smallest); \
  }
  LARGEST_UNSIGNED(unsigned char, MPI_UNSIGNED_CHAR)
  LARGEST_UNSIGNED(unsigned short, MPI_UNSIGNED_SHORT)
  LARGEST_UNSIGNED(uint8_t, MPI_UINT8_T)
  LARGEST_UNSIGNED(uint16_t, MPI_UINT16_T)
  LARGEST_UNSIGNED(unsigned, MPI_UNSIGNED)
  LARGEST_UNSIGNED(unsigned long, MPI_UNSIGNED_LONG)
  LARGEST_UNSIGNED(unsigned long long, MPI_UNSIGNED_LONG_LONG)
  LARGEST_UNSIGNED(uint32_t, MPI_UINT32_T)
  LARGEST_UNSIGNED(uint64_t, MPI_UINT64_T)
  /* Fortran's numbers */
#define SUM_OF(type, datatype) \
  { \
    type own[3] = {(type)(me + 1), (type)(2 * me + 1), (type)7}, total[3] = {-9, -9, -9}; \
    OK(MPIX_Neighbor_reduce(own, 3, datatype, total, 3, datatype, MPI_SUM, MPI_COMM_WORLD)); \
    CHECK(total[0] == (type)(n ? sum : -9), #datatype ": sum %g, not %ld", (double)total[0], sum); \
    CHECK(total[1] == (type)(n ? 2 * sum - n : -9) && total[2] == (type)(n ? 7 * n : -9), #datatype ": sums %g, %g", (double)total[1], (double)total[2]); \
  }
  SUM_OF(int, MPI_INTEGER)
  SUM_OF(int64_t, MPI_INTEGER8)
  SUM_OF(float, MPI_REAL)
  SUM_OF(double, MPI_DOUBLE_PRECISION)
  SUM_OF(double, MPI_REAL8)
  /* MPI has no logical operator for real numbers; where it accepts one, it has the logical value */
  double truth = me + 1.5, all = -1, none[2] = {0};
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  if (MPI_Allreduce(&none[0], &none[1], 0, MPI_DOUBLE, MPI_LAND, MPI_COMM_SELF) == MPI_SUCCESS) {
    OK(MPIX_Neighbor_reduce(&truth, 1, MPI_DOUBLE, &all, 1, MPI_DOUBLE, MPI_LAND, MPI_COMM_WORLD));
    CHECK(n < 2 || all == 1, "logical and of %d real numbers: %g", n, all);
  }
  MPI_Op op;
  MPI_Op_create(sum_ints, 1, &op);
  int ints[3] = {me, 2 * me, 3 * me}, got[3] = {-1, -1, -1};
  OK(MPIX_Neighbor_reduce(ints, 3, MPI_INT, got, 3, MPI_INT, op, MPI_COMM_WORLD));
  for (int k = 0; k < 3; k++) CHECK(got[k] == (n ? (k + 1) * (int)(sum - n) : -1), "user sum %d", got[k]);
  MPI_Op_free(&op);
  /* zero elements: nothing is touched, nothing hangs */
  have = -3;
  OK(MPIX_Neighbor_reduce(&send, 0, MPI_LONG, &have, 0, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
  CHECK(have == -3, "zero elements");
}

static void alignment(void) {
  int lengths[2] = {1, 1}, me = test_rank, sum = 0;
  MPI_Aint at[2] = {offsetof(padded, number), offsetof(padded, wide)};
  MPI_Datatype members[2] = {MPI_INT, MPI_LONG_DOUBLE}, plain, type;
  MPI_Type_create_struct(2, lengths, at, members, &plain);
  MPI_Type_create_resized(plain, 0, sizeof(padded), &type);
  MPI_Type_commit(&type);
  MPI_Op op;
  MPI_Op_create(add_padded, 1, &op);
  graph_set(g, MPIX_NEIGHBOR_REDUCE, MPI_INFO_NULL, MPI_COMM_WORLD);
  padded send[2] = {{-1, me, me}, {-1, 2 * me, 2 * me}}, have[2] = {{-7, 0, 0}, {-7, 0, 0}};
  OK(MPIX_Neighbor_reduce(send, 2, type, have, 2, type, op, MPI_COMM_WORLD));
  for (int j = 0; j < g->indegree[me]; j++) sum += g->sources[me][j] == MPI_PROC_NULL ? 0 : g->sources[me][j];
  for (int k = 0; k < 2; k++) CHECK(have[k].left_out == -7 && have[k].number == (k + 1) * sum && have[k].wide == (k + 1) * sum, "element %d: %d", k, have[k].number);
  CHECK(misaligned == 0, "the operator was given misaligned addresses %d times", misaligned);
  MPI_Op_free(&op);
  MPI_Type_free(&plain);
  MPI_Type_free(&type);
}

/* nobody to combine with: the result stays, and the operator need not fit the type */
static void nobody(const char *memory) {
  int null = MPI_PROC_NULL;
  float mine = 1, result = -7;
  MPI_Comm comm = test_duplicate();
  MPI_Info info = test_hint("mpix_shared_memory", memory);
  OK(MPIX_Neighbor_reduce_set(1, &null, MPI_UNWEIGHTED, 1, &null, MPI_UNWEIGHTED, info, comm));
  MPI_Info_free(&info);
  OK(MPIX_Neighbor_reduce(&mine, 1, MPI_FLOAT, &result, 1, MPI_FLOAT, MPI_BAND, comm));
  CHECK(result == -7, "%g with %s bytes of shared memory", result, memory);
  MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  MPI_Info any = test_hint("mpix_reduce_order", "any");
  for (int seed = 0; seed < 5; seed++) {
    graph random = graph_random(test_size, seed * test_size, (uint64_t)seed + 100);
    g = &random;
    source_order(MPI_INFO_NULL);
    /* permission for any order does not reach operators that do not commute */
    source_order(any);
    operators(MPI_INFO_NULL);
    operators(any);
    alignment();
    graph_free(&random);
  }
  MPI_Info_free(&any);
  nobody("10485760"), nobody("0");
  return test_finish();
}
