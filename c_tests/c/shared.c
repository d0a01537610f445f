/* Collectives among processes that share memory: lengths around every limit of that (what lies in a
   cache line, in a cell, comes in chunks), all operations, graphs of all kinds, and blocking,
   nonblocking and persistent calls in one sequence, where each process takes another form for the
   same collective and completes what is under way in an order of its own. Values name sender, edge,
   run and element. */
#define _DEFAULT_SOURCE
#include <unistd.h>

#include "test.h"

enum { ALLTOALL, ALLTOALLV, ALLTOALLW, GATHER, GATHERV, REDUCE, REDUCEV, OPERATIONS };
enum { BLOCKING, STARTED, PLANNED, FORMS };
enum { RUNS = 2, PENDING = 24 };

/* kinds of reductions: predefined operators in loops of the library, others by MPI, and an operator
   that does not commute */
enum { INT_SUM, LONG_BXOR, DOUBLE_MAX, FLOAT_SUM, SHORT_SUM, AFFINE, KINDS };

static int me, n;
static size_t cell, chunk;
static MPI_Datatype affine_type;
static MPI_Op affine_op;

/* x -> a x + b: first that at the left, then that at the right */
typedef struct {
  uint32_t a, b;
} affine;

static void compose(void *in, void *inout, int *length, MPI_Datatype *type) {
  const affine *left = in;
  affine *right = inout;
  (void)type;
  for (int i = 0; i < *length; i++) {
    right[i].b += right[i].a * left[i].b;
    right[i].a *= left[i].a;
  }
}

static const size_t widths[KINDS] = {sizeof(int), sizeof(long), sizeof(double), sizeof(float), sizeof(short), sizeof(affine)};

static MPI_Datatype type_of(int kind) {
  MPI_Datatype types[KINDS] = {MPI_INT, MPI_LONG, MPI_DOUBLE, MPI_FLOAT, MPI_SHORT, affine_type};
  return types[kind];
}

static MPI_Op operator_of(int kind) {
  MPI_Op ops[KINDS] = {MPI_SUM, MPI_BXOR, MPI_MAX, MPI_SUM, MPI_SUM, affine_op};
  return ops[kind];
}

static void set_element(int kind, void *at, uint64_t h) {
  switch (kind) {
    case INT_SUM: *(int *)at = (int)(h & 0xffffff); break;
    case LONG_BXOR: *(long *)at = (long)h; break;
    case DOUBLE_MAX: *(double *)at = (double)(h >> 20); break;
    /* exact */
    case FLOAT_SUM: *(float *)at = (float)(h & 0xffff); break;
    case SHORT_SUM: *(short *)at = (short)(h & 0xff); break;
    default: *(affine *)at = (affine){(uint32_t)h | 1, (uint32_t)(h >> 32)};
  }
}

static void fold_element(int kind, void *at, const void *next) {
  switch (kind) {
    case INT_SUM: *(int *)at += *(const int *)next; break;
    case LONG_BXOR: *(long *)at ^= *(const long *)next; break;
    case DOUBLE_MAX:
      if (*(double *)at < *(const double *)next) *(double *)at = *(const double *)next;
      break;
    case FLOAT_SUM: *(float *)at += *(const float *)next; break;
    case SHORT_SUM: *(short *)at = (short)(*(short *)at + *(const short *)next); break;
    default: {
      affine right = *(const affine *)next;
      int one = 1;
      compose(at, &right, &one, NULL);
      *(affine *)at = right;
    }
  }
}

/* one collective of a sequence: the same on all processes, but for the lists */
typedef struct {
  const graph *g;
  MPI_Comm comm;
  uint64_t seed;
  int operation, kind, run, form, in, out;
  size_t base;
  int *counts;
  int *displs;
  MPI_Aint *wide;
  MPI_Datatype *types;
  unsigned char *send, *have;
  size_t sent, got;
  MPIX_Request request;
} call;

static size_t lengths(uint64_t h) {
  size_t all[] = {0, 1, 8, 39, 40, 41, 48, 64, 4096, cell - 1, cell, cell + 1, cell + chunk + 1, 2 * cell + 1, 2 * chunk + 1, 7 * chunk + 3};
  /* where cells are large, what is longer is seldom */
  return all[h / 64 % (h % 64 < (cell > 65536 ? 3 : 24) ? 16 : 9)];
}

/* bytes from process `s`, target entry `i`; where all blocks are equal both are 0 */
static size_t length_of(const call *c, int s, int i) {
  switch (c->operation) {
    case ALLTOALLV: return lengths(mix3(c->seed, s, i));
    case ALLTOALLW: return lengths(mix3(c->seed, s, i)) / 4 * 4;
    case GATHERV: return lengths(mix3(c->seed, s, 0));
    case REDUCE:
    case REDUCEV: return c->base / widths[c->kind] * widths[c->kind];
    default: return c->base;
  }
}

static int is_one(const call *c) { return c->operation == GATHER || c->operation == GATHERV || c->operation == REDUCE; }

static uint64_t name_of(const call *c, int s, int i) { return mix3(mix2(c->seed, c->run), s, is_one(c) ? 0 : i); }

static unsigned char byte_of(uint64_t name, size_t k) { return (unsigned char)((name >> (k % 8 * 8)) + k / 8 * 5); }

/* int k of a block of alltoallw lies at every second place if the block is strided */
static int is_strided(const call *c, int side, int entry) { return mix3(c->seed, side + 7, entry + 31 * me) % 2; }

static void fill_block(const call *c, int s, int i, unsigned char *at, size_t bytes, int stride) {
  uint64_t name = name_of(c, s, i);
  if (c->operation == REDUCE || c->operation == REDUCEV) {
    size_t width = widths[c->kind];
    for (size_t k = 0; k < bytes / width; k++) set_element(c->kind, at + k * width, mix2(name, k));
  } else {
    for (size_t k = 0; k < bytes; k++) at[k / 4 * 4 * stride + k % 4] = byte_of(name, k);
  }
}

static void fill(call *c) {
  memset(c->have, 0xee, c->got + 1);
  for (int i = 0; i < (is_one(c) ? c->out > 0 : c->out); i++)
    fill_block(c, me, i, c->send + (is_one(c) ? 0 : c->wide[i]), length_of(c, me, i), c->operation == ALLTOALLW && is_strided(c, 0, i) ? 2 : 1);
}

static MPI_Datatype type_for(int strided, size_t ints) {
  MPI_Datatype type;
  if (strided) {
    MPI_Type_vector((int)ints, 1, 2, MPI_INT, &type);
  } else {
    MPI_Type_contiguous((int)ints, MPI_INT, &type);
  }
  MPI_Type_commit(&type);
  return type;
}

static void prepare(call *c, const graph *g, MPI_Comm comm, uint64_t seed, int form) {
  memset(c, 0, sizeof *c);
  c->g = g, c->comm = comm, c->seed = seed, c->form = form;
  c->operation = mix2(seed, 1) % OPERATIONS, c->kind = mix2(seed, 2) % KINDS, c->base = lengths(mix2(seed, 3));
  c->in = g->indegree[me], c->out = g->outdegree[me];
  int all = c->in + c->out;
  c->counts = calloc((size_t)all + 1, sizeof(int)), c->displs = calloc((size_t)all + 1, sizeof(int));
  c->wide = calloc((size_t)all + 1, sizeof(MPI_Aint)), c->types = calloc((size_t)all + 1, sizeof(MPI_Datatype));
  int width = c->operation == REDUCEV ? (int)widths[c->kind] : 1, reduces = c->operation == REDUCE || c->operation == REDUCEV;
  /* blocks of the regular calls stand side by side; all others have a gap */
  int gap = c->operation == ALLTOALL || c->operation == GATHER ? 0 : 16;
  for (int k = 0; k < all; k++) {
    int is_in = k >= c->out, entry = is_in ? k - c->out : k;
    size_t bytes = 0;
    if (!is_in) {
      bytes = length_of(c, me, entry);
    } else if (c->g->sources[me][entry] != MPI_PROC_NULL) {
      bytes = length_of(c, c->g->sources[me][entry], graph_partner(g, me, entry));
    } else {
      bytes = length_of(c, 0, 0);
    }
    size_t *at = is_in ? &c->got : &c->sent;
    c->wide[k] = (MPI_Aint)*at, c->displs[k] = (int)(*at / (size_t)width), c->counts[k] = (int)(bytes / (size_t)width);
    if (c->operation == ALLTOALLW) {
      int strided = is_strided(c, is_in, entry);
      c->types[k] = type_for(strided, bytes / 4), c->counts[k] = 1;
      bytes *= strided ? 2 : 1;
    }
    *at += (bytes + (size_t)gap + (gap ? 15 : 0)) / (gap ? 16 : 1) * (gap ? 16 : 1);
  }
  if (is_one(c)) c->sent = length_of(c, me, 0);
  if (reduces) c->got = c->base;
  c->send = calloc(c->sent + 16, 1), c->have = malloc(c->got + 16);
}

static void run(call *c) {
  int b = (int)c->base, s = c->out, count = (int)(c->base / widths[c->kind]), form = c->form;
  int own = (int)length_of(c, me, 0);
  MPI_Datatype type = type_of(c->kind);
  MPI_Op op = operator_of(c->kind);
  MPIX_Request *r = &c->request;
#define EACH(name, ...)                                                                              \
  (form == BLOCKING  ? MPIX_Neighbor_##name(__VA_ARGS__, c->comm)                                    \
   : form == STARTED ? MPIX_Ineighbor_##name(__VA_ARGS__, c->comm, r)                                \
                     : MPIX_Neighbor_##name##_plan(__VA_ARGS__, c->comm, MPI_INFO_NULL, r))
  int rc = MPI_SUCCESS;
  if (form != PLANNED || *r == NULL) {
    switch (c->operation) {
      case ALLTOALL: rc = EACH(alltoall, c->send, b, MPI_BYTE, c->have, b, MPI_BYTE); break;
      case ALLTOALLV: rc = EACH(alltoallv, c->send, c->counts, c->displs, MPI_BYTE, c->have, c->counts + s, c->displs + s, MPI_BYTE); break;
      case ALLTOALLW: rc = EACH(alltoallw, c->send, c->counts, c->wide, c->types, c->have, c->counts + s, c->wide + s, c->types + s); break;
      case GATHER: rc = EACH(gather, c->send, b, MPI_BYTE, c->have, b, MPI_BYTE); break;
      case GATHERV: rc = EACH(gatherv, c->send, own, MPI_BYTE, c->have, c->counts + s, c->displs + s, MPI_BYTE); break;
      case REDUCE: rc = EACH(reduce, c->send, count, type, c->have, count, type, op); break;
      default: rc = EACH(reducev, c->send, c->counts, c->displs, type, c->have, count, type, op);
    }
  }
  OK(rc);
  if (form == PLANNED) OK(MPIX_Request_start(r));
}

static void verify(call *c) {
  static const char *names[] = {"alltoall", "alltoallv", "alltoallw", "gather", "gatherv", "reduce", "reducev"};
  size_t bad = 0, all = 0, first = 0;
  int worst = -1;
  if (c->operation == REDUCE || c->operation == REDUCEV) {
    size_t bytes = length_of(c, 0, 0), width = widths[c->kind];
    unsigned char *want = malloc(bytes + 16), *next = malloc(bytes + 16);
    int some = 0;
    for (int j = 0; j < c->in; j++) {
      int source = c->g->sources[me][j];
      if (source == MPI_PROC_NULL) continue;
      fill_block(c, source, graph_partner(c->g, me, j), some ? next : want, bytes, 1);
      for (size_t k = 0; some && k < bytes; k += width) fold_element(c->kind, want + k, next + k);
      some = 1;
    }
    for (size_t k = 0; some && k < bytes; k++, all++)
      if (c->have[k] != want[k] && bad++ == 0) first = k;
    free(want), free(next);
  } else {
    for (int j = 0; j < c->in; j++) {
      int source = c->g->sources[me][j], k = c->out + j;
      if (source == MPI_PROC_NULL) continue;
      int partner = graph_partner(c->g, me, j), stride = c->operation == ALLTOALLW && is_strided(c, 1, j) ? 2 : 1;
      uint64_t name = name_of(c, source, partner);
      size_t bytes = length_of(c, source, partner);
      for (size_t e = 0; e < bytes; e++, all++)
        if (c->have[(size_t)c->wide[k] + e / 4 * 4 * (size_t)stride + e % 4] != byte_of(name, e) && bad++ == 0) first = e, worst = j;
    }
  }
  CHECK(bad == 0, "%s of %d bytes, kind %d, form %d, run %d: %zu of %zu bytes are wrong, first byte %zu of source entry %d", names[c->operation],
        (int)c->base, c->kind, c->form, c->run, bad, all, first, worst);
}

static void release(call *c) {
  if (c->form == PLANNED) OK(MPIX_Request_free(&c->request));
  for (int k = 0; c->operation == ALLTOALLW && k < c->in + c->out; k++) MPI_Type_free(&c->types[k]);
  free(c->counts), free(c->displs), free(c->wide), free(c->types), free(c->send), free(c->have);
}

/* completes a call in one of several ways */
static void complete(call *c, uint64_t h) {
  int flag = 0, index;
  if (h % 4 == 0) {
    while (!flag && c->form == STARTED) OK(MPIX_Request_test(&c->request, &flag));
  } else if (h % 4 == 1 && c->in > 0) {
    do OK(MPIX_Request_waitany_source(c->request, &index));
    while (index != MPI_UNDEFINED);
  }
  OK(MPIX_Request_wait(&c->request));
  verify(c);
}

/* a sequence: what is under way at a time is in `pending` */
static void sequence(const graph *g, MPI_Comm comm, uint64_t seed, int steps, int forms) {
  call pending[PENDING];
  int under_way = 0;
  for (int step = 0; step < steps; step++) {
    uint64_t common = mix2(seed, step), mine = mix3(seed, step, me + 1);
    int form = forms == FORMS ? (int)(mine % FORMS) : forms;
    /* now and then someone is late */
    if (mine % 23 == 0) usleep(1500);
    if (getenv("TEST_STEP")) fprintf(stderr, "process %d: step %d, form %d, operation %d, %d bytes\n", me, step, form, (int)(mix2(common, 1) % OPERATIONS), (int)lengths(mix2(common, 3)));
    call c;
    for (int r = 0; r < RUNS; r++) {
      if (r == 0 || form != PLANNED) prepare(&c, g, comm, common, form);
      c.run = r;
      fill(&c);
      run(&c);
      if (form == STARTED) {
        if (under_way == PENDING || mine % 5 == 0) {
          int k = (int)((mine >> 8) % (uint64_t)(under_way + 1));
          if (k < under_way) {
            call other = pending[k];
            pending[k] = c, c = other;
          }
          complete(&c, mine >> 16);
          release(&c);
        } else {
          pending[under_way++] = c;
        }
      } else if (form == PLANNED) {
        complete(&c, 1 + (mine >> 16) % 3);
        if (r + 1 == RUNS) release(&c);
      } else {
        verify(&c);
        release(&c);
      }
    }
  }
  while (under_way > 0) {
    int k = (int)(mix3(seed, under_way, me) % (uint64_t)under_way);
    complete(&pending[k], mix2(seed, under_way));
    release(&pending[k]);
    pending[k] = pending[--under_way];
  }
}

/* edges from some processes to others */
static graph graph_of(int shape, uint64_t seed) {
  graph g = graph_new(n);
#define EDGE(s, t) (insert(&g.targets[s], &g.outdegree[s], g.outdegree[s], t), insert(&g.sources[t], &g.indegree[t], g.indegree[t], s))
  switch (shape) {
    case 0:
      graph_free(&g);
      return graph_random(n, 4 * n, seed);
    case 1: /* a chain: the ends only send, or only receive */
      for (int r = 0; r + 1 < n; r++) EDGE(r, r + 1);
      break;
    case 2: /* even ones send, odd ones receive */
      for (int s = 0; s < n; s += 2)
        for (int t = 1; t < n; t += 2) EDGE(s, t);
      break;
    case 3: /* all to all, itself too, and twice to the next one */
      for (int s = 0; s < n; s++)
        for (int t = 0; t <= n; t++) EDGE(s, (s + t) % n);
      break;
    default: /* one sends to all others; edges back from the last one alone */
      for (int t = 1; t < n; t++) EDGE(0, t);
      if (n > 1 && shape == 4) EDGE(n - 1, 0);
  }
  return g;
}

/* a block that is for all targets, and one target that is late; then long blocks of their own, the
   first of which needs the memory where that lies */
static void memory_of_all(uint64_t seed) {
  graph g = graph_of(5, 0);
  MPI_Comm comm = test_duplicate();
  graph_set(&g, MPIX_NEIGHBOR_REDUCE, MPI_INFO_NULL, comm);
  for (int r = 0; r < 6; r++) {
    call c, d;
    prepare(&c, &g, comm, seed, BLOCKING);
    release(&c);
    /* the same collective with operation and length as wanted */
    uint64_t first = seed, second;
    for (;; first++) {
      prepare(&c, &g, comm, first, BLOCKING);
      if (c.operation == REDUCE && c.base >= 64 && c.base <= cell) break;
      release(&c);
    }
    for (second = first + 1;; second++) {
      prepare(&d, &g, comm, second, BLOCKING);
      if (d.operation == REDUCEV && d.base > cell) break;
      release(&d);
    }
    seed = second + 1;
    if (me == n - 1) usleep(20000);
    fill(&c), run(&c), verify(&c), release(&c);
    fill(&d), run(&d), verify(&d), release(&d);
  }
  MPI_Comm_free(&comm);
  graph_free(&g);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  me = test_rank, n = test_size;
  alarm(getenv("TEST_ALARM") ? (unsigned)atoi(getenv("TEST_ALARM")) : 100);
  const char *shared = getenv("MPIX_SHARED_MEMORY");
  size_t most = shared && atol(shared) > 0 ? (size_t)atol(shared) : 10 << 20;
  cell = most > 36864 + 32768 ? (most - 36864) / 8 / 4096 * 4096 : 4096, chunk = cell < 262144 ? cell : 262144;
  MPI_Type_contiguous(2, MPI_UNSIGNED, &affine_type);
  MPI_Type_commit(&affine_type);
  MPI_Op_create(compose, 0, &affine_op);
  const char *steps_text = getenv("TEST_STEPS");
  int steps = steps_text ? atoi(steps_text) : 24;
  memory_of_all(77);
  for (int shape = 0; shape < 5; shape++) {
    graph g = graph_of(shape, 5 + shape);
    MPI_Comm comm = test_duplicate();
    graph_set(&g, ALL_OPERATIONS, MPI_INFO_NULL, comm);
    for (int forms = BLOCKING; forms <= (getenv("TEST_UNMIXED") ? PLANNED : FORMS); forms++) {
      if (getenv("TEST_VERBOSE")) fprintf(stderr, "process %d: shape %d, forms %d\n", me, shape, forms);
      sequence(&g, comm, mix2(shape, forms), forms == FORMS ? 2 * steps : steps / 2, forms);
    }
    MPI_Comm_free(&comm);
    graph_free(&g);
  }
  MPI_Op_free(&affine_op);
  MPI_Type_free(&affine_type);
  return test_finish();
}
