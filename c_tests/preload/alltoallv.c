/* All-to-all calls with few blocks, with many, and both in turns, on several communicators. */
#define _DEFAULT_SOURCE
#include "preload.h"

#include <unistd.h>

enum { RING, NOTHING, DENSE, ONE_IS_DENSE, ITSELF, SHIFTED, PATTERNS };

/* elements that process s sends to process t of n */
static int elements(int pattern, int s, int t, int n, int round) {
  switch (pattern) {
    case RING: return t == (s + 1) % n ? 3 + round % 2 : 0;
    case NOTHING: return 0;
    case DENSE: return 1 + (s + t + round) % 3;
    case ONE_IS_DENSE: return s == n - 1 || (t + round) % n == s;
    case ITSELF: return s == t ? 2 : 0;
    default: return t == (s + 2 + round) % n ? 1 + s : 0;
  }
}

static void run(MPI_Comm comm, int pattern, int round, int general) {
  int n, me;
  MPI_Comm_size(comm, &n);
  MPI_Comm_rank(comm, &me);
  int *sc = ints(n), *sd = ints(n), *rc = ints(n), *rd = ints(n), so = 0, ro = 2;
  MPI_Datatype *st = malloc(n * sizeof *st), *rt = malloc(n * sizeof *rt), pair;
  MPI_Type_vector(1, 1, 2, MPI_INT, &pair);
  MPI_Type_create_resized(pair, 0, 2 * sizeof(int), &pair);
  MPI_Type_commit(&pair);
  for (int p = 0; p < n; p++) {
    sc[p] = elements(pattern, me, p, n, round), rc[p] = elements(pattern, p, me, n, round);
    sd[p] = so, so += sc[p];
    rd[p] = ro, ro += 2 * rc[p] + 1;
    /* empty blocks may have any displacement */
    if (rc[p] == 0) rd[p] = -1000000;
    st[p] = MPI_INT, rt[p] = pair;
  }
  int *out = ints(so), *in = ints(ro), *want = ints(ro);
  for (int i = 0; i < ro; i++) in[i] = want[i] = -1;
  for (int p = 0; p < n; p++) {
    for (int k = 0; k < sc[p]; k++) out[sd[p] + k] = test_value(me, p, k);
    for (int k = 0; k < rc[p]; k++) want[rd[p] + (general ? 2 * k : k)] = test_value(p, me, k);
  }
  if (general) {
    int *sb = ints(n), *rb = ints(n);
    for (int p = 0; p < n; p++) sb[p] = sd[p] * (int)sizeof(int), rb[p] = rd[p] * (int)sizeof(int);
    OK(MPI_Alltoallw(out, sc, sb, st, in, rc, rb, rt, comm));
    free(sb), free(rb);
  } else {
#if MPI_VERSION >= 4
    if (round % 2) {
      MPI_Count *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
      MPI_Aint *c = malloc(n * sizeof *c), *d = malloc(n * sizeof *d);
      for (int p = 0; p < n; p++) a[p] = sc[p], b[p] = rc[p], c[p] = sd[p], d[p] = rd[p];
      OK(MPI_Alltoallv_c(out, a, c, MPI_INT, in, b, d, MPI_INT, comm));
      free(a), free(b), free(c), free(d);
    } else
#endif
      OK(MPI_Alltoallv(out, sc, sd, MPI_INT, in, rc, rd, MPI_INT, comm));
  }
  int bad = 0;
  for (int i = 0; i < ro; i++) bad += in[i] != want[i];
  CHECK(bad == 0, "pattern %d, round %d, %s: %d of %d are wrong", pattern, round, general ? "w" : "v", bad, ro);
  MPI_Type_free(&pair);
  free(sc), free(sd), free(rc), free(rd), free(st), free(rt), free(out), free(in), free(want);
}

/* all blocks in place */
static void in_place(MPI_Comm comm) {
  int n, me;
  MPI_Comm_size(comm, &n);
  MPI_Comm_rank(comm, &me);
  int *counts = ints(n), *displs = ints(n), *buffer = ints(n), bad = 0;
  for (int p = 0; p < n; p++) counts[p] = p == me, displs[p] = p, buffer[p] = test_value(me, p, 0);
  OK(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, buffer, counts, displs, MPI_INT, comm));
  for (int p = 0; p < n; p++) bad += buffer[p] != test_value(me, p, 0);
  CHECK(bad == 0, "in place: %d are wrong", bad);
  free(counts), free(displs), free(buffer);
}

/* elements without data at one end that are no elements at the other: nothing travels, and nothing
   of it meets a later call */
static void no_data(MPI_Comm comm) {
  int n, me;
  MPI_Comm_size(comm, &n);
  MPI_Comm_rank(comm, &me);
  int *sc = ints(n), *rc = ints(n), *zeros = ints(n), right = (me + 1) % n, left = (me + n - 1) % n;
  MPI_Datatype *st = malloc(n * sizeof *st), *rt = malloc(n * sizeof *rt), none;
  MPI_Type_contiguous(0, MPI_INT, &none);
  MPI_Type_commit(&none);
  for (int round = 0; round < 6; round++) {
    int out = test_value(me, right, round), in = -1;
    for (int p = 0; p < n; p++) sc[p] = rc[p] = zeros[p] = 0, st[p] = rt[p] = MPI_INT;
    /* by turns only the one end, only the other, and real data */
    if (round % 3 == 0) sc[right] = 1, st[right] = none;
    if (round % 3 == 1) rc[left] = 1, rt[left] = none;
    if (round % 3 == 2) sc[right] = 1, rc[left] = 1;
    OK(MPI_Alltoallw(&out, sc, zeros, st, &in, rc, zeros, rt, comm));
    CHECK(in == (round % 3 == 2 ? test_value(left, me, round) : -1), "round %d of types without data: %d", round, in);
  }
  MPI_Type_free(&none);
  free(sc), free(rc), free(zeros), free(st), free(rt);
}

/* Sends that fail: 1: those of elements, 2: all. */
static int refusal;
int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm, MPI_Request *request) {
  return refusal > (count == 0) ? MPI_ERR_OTHER : PMPI_Isend(buffer, count, type, target, tag, comm, request);
}

/* One process cannot send its block: its neighbor gets an error, and all others their blocks. No
   process can send anything: none waits. */
static void unsent(void) {
  int n = test_size, right = (test_rank + 1) % n, left = (test_rank + n - 1) % n;
  int *sc = ints(n), *rc = ints(n), *zeros = ints(n), class, out, in;
  for (int p = 0; p < n; p++) sc[p] = p == right, rc[p] = p == left, zeros[p] = 0;
  alarm(20);
  for (int round = 0; round < 4; round++) {
    refusal = round == 0 ? test_rank == 0 : round == 2 ? 2 : 0;
    out = test_value(test_rank, right, round), in = -1;
    MPI_Error_class(MPI_Alltoallv(&out, sc, zeros, MPI_INT, &in, rc, zeros, MPI_INT, MPI_COMM_WORLD), &class);
    int fails = round == 2 || (round == 0 && (test_rank == 0 || left == 0));
    refusal = 0;
    CHECK(class == (fails ? MPI_ERR_OTHER : MPI_SUCCESS), "round %d: class %d", round, class);
    if (round % 2 == 1 || (round == 0 && left != 0)) CHECK(in == test_value(left, test_rank, round), "round %d: %d", round, in);
  }
  alarm(0);
  free(sc), free(rc), free(zeros);
}

/* All messages of process 0 fail, and the MPI calls their list complete, as the tool behind the
   library has it: the call fails there. All others, and later ones, are right. */
static int masked(void) {
  int n = test_size, right = (test_rank + 1) % n, left = (test_rank + n - 1) % n;
  int *sc = ints(n), *rc = ints(n), *zeros = ints(n), class, out, in;
  for (int p = 0; p < n; p++) sc[p] = p == right, rc[p] = p == left, zeros[p] = 0;
  for (int round = 0; round < 4; round++) {
    int fails = round % 2 == 0 && test_rank == 0;
    out = test_value(test_rank, right, round), in = -1;
    if (fails) setenv("TOOL_MASKS", "1", 1);
    MPI_Error_class(MPI_Alltoallv(&out, sc, zeros, MPI_INT, &in, rc, zeros, MPI_INT, MPI_COMM_WORLD), &class);
    unsetenv("TOOL_MASKS");
    CHECK(class == (fails ? MPI_ERR_OTHER : MPI_SUCCESS), "round %d: class %d", round, class);
    if (!fails) CHECK(in == test_value(left, test_rank, round), "round %d: %d", round, in);
  }
  free(sc), free(rc), free(zeros);
  return test_finish();
}

/* Arguments that the MPI refuses: every process gets its error, and waits for nobody. */
static void refused(void) {
  int n = test_size, right = (test_rank + 1) % n, left = (test_rank + n - 1) % n;
  int *sc = ints(n), *rc = ints(n), *zeros = ints(n), out[4] = {0}, in[4], class, want;
  MPI_Datatype *st = malloc(n * sizeof *st), *rt = malloc(n * sizeof *rt), uncommitted;
  MPI_Type_vector(2, 1, 2, MPI_INT, &uncommitted);
  for (int p = 0; p < n; p++) sc[p] = p == right, rc[p] = p == left, zeros[p] = 0;
  /* longer than a test takes: a process that waits is ended */
  alarm(20);
#define SAME(name, ...)                                                                   \
  do {                                                                                    \
    MPI_Error_class(PMPI_##name(__VA_ARGS__), &want);                                     \
    MPI_Error_class(MPI_##name(__VA_ARGS__), &class);                                     \
    CHECK(class == want && class != MPI_SUCCESS, "class %d, the MPI's %d", class, want);  \
  } while (0)
  SAME(Alltoallv, out, sc, zeros, uncommitted, in, rc, zeros, MPI_INT, MPI_COMM_WORLD);
  SAME(Alltoallv, out, sc, zeros, MPI_INT, in, rc, zeros, uncommitted, MPI_COMM_WORLD);
  for (int p = 0; p < n; p++) st[p] = uncommitted, rt[p] = MPI_INT;
  SAME(Alltoallw, out, sc, zeros, st, in, rc, zeros, rt, MPI_COMM_WORLD);
#ifdef MPICH
  /* Open MPI reads from there */
  SAME(Alltoallv, NULL, sc, zeros, MPI_INT, in, rc, zeros, MPI_INT, MPI_COMM_WORLD);
#endif
  alarm(0);
  MPI_Type_free(&uncommitted);
  free(sc), free(rc), free(zeros), free(st), free(rt);
}

/* One call on each of many communicators: the library leaves the program as many as it has without
   it. */
static int crowd(void) {
  static MPI_Comm comms[1200];
  int zeros[2] = {0}, sent = 0, received;
  for (int i = 0; i < 1200; i++) {
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    OK(MPI_Alltoallv(&sent, zeros, zeros, MPI_INT, &received, zeros, zeros, MPI_INT, comms[i]));
  }
  for (int i = 0; i < 1200; i++) OK(MPI_Comm_free(&comms[i]));
  return test_finish();
}

/* Argument: nothing, crowd or masked. */
int main(int argc, char **argv) {
  test_init(&argc, &argv);
  test_errors_return();
  if (argc > 1 && !strcmp(argv[1], "crowd")) return crowd();
  if (argc > 1 && !strcmp(argv[1], "masked")) return masked();
  MPI_Comm comms[4];
  int periodic = 1;
  comms[0] = MPI_COMM_WORLD;
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]));
  OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -test_rank, &comms[2]));
  OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, &periodic, 0, &comms[3]));
  for (int c = 0; c < 4; c++)
    for (int round = 0; round < 3; round++) {
      for (int pattern = 0; pattern < PATTERNS; pattern++)
        for (int general = 0; general < 2; general++) run(comms[c], pattern, round, general);
      in_place(comms[c]);
      no_data(comms[c]);
    }
  refused();
  unsent();
  /* an error is the MPI's to find, also where only one process makes it */
  int counts[64] = {0}, displs[64] = {0}, a[64] = {0}, b[64], class;
  if (test_rank == 0) {
    counts[0] = -1;
    MPI_Error_class(MPI_Alltoallv(a, counts, displs, MPI_INT, b, counts, displs, MPI_INT, MPI_COMM_SELF), &class);
    CHECK(class == MPI_ERR_COUNT || class == MPI_ERR_ARG, "a negative count: class %d", class);
  }
  /* between two groups the library does not look */
  if (test_size > 1) {
    MPI_Comm half, inter;
    OK(MPI_Comm_split(MPI_COMM_WORLD, test_rank % 2, test_rank, &half));
    OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - test_rank % 2, 3, &inter));
    memset(counts, 0, sizeof counts);
    OK(MPI_Alltoallv(a, counts, displs, MPI_INT, b, counts, displs, MPI_INT, inter));
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&half));
  }
  for (int c = 1; c < 4; c++) OK(MPI_Comm_free(&comms[c]));
  return test_finish();
}
