/* Sparse windows for the fuzzer: epochs of operations of all kinds. The fuzzer does other things
   before the end of one with so few operations that none waits for its target. Every process knows
   what all do, and keeps a model of all processes' elements:

     elements of one origin's   all kinds in any order: elements and results are as in the model
     elements of all            operations that commute: elements are
     a counter                  fetch-and-op: each number is given once, to a process in order
     a prize                    compare-and-swap: one process gets it in an epoch */
#ifndef FUZZ_WINDOW_H
#define FUZZ_WINDOW_H

#include "fuzz_sparse.h"

enum { OWN_ELEMENTS = 5, COMMON_ELEMENTS = 12, MOST_INDICES = 9, MOST_OPERATIONS = 250, FEW = 3, MOST_RESULTS = MOST_OPERATIONS * MOST_INDICES };
enum { EXACT, NUMBER, PRIZE };

typedef struct {
  MPIX_Sparse_window window;
  MPI_Datatype type;
  world *w;
  size_t size, extent;
  int elements, counter, prize;
  uint64_t key;
  int epoch, open, few;
  unsigned char *mine;
  uint64_t *model; /* of process p from p * elements on */
  /* of the epoch: where results go, what they are and of which process, what they must be */
  int results;
  unsigned char *into;
  int kind[MOST_RESULTS], of[MOST_RESULTS];
  uint64_t expected[MOST_RESULTS];
  int checked;        /* results before this one have been compared */
  uint64_t *first;    /* of each process: the counter at the beginning */
  int *contested;     /* of each process: some want its prize */
  char text[120];
} fuzz_window;

static inline uint64_t element_of(const fuzz_window *f, const unsigned char *at) {
  uint64_t value = 0;
  memcpy(&value, at, f->size);
  return value;
}

/* values have as many bits as the type */
static inline uint64_t value_of(const fuzz_window *f, uint64_t h) { return f->size == 4 ? (uint32_t)h : h; }

static inline void set_element(const fuzz_window *f, unsigned char *at, uint64_t value) { memcpy(at, &value, f->size); }

/* compares the results that the model has, and returns how many differ */
static inline int compare_results(fuzz_window *f, int until) {
  int wrong = 0;
  for (; f->checked < until; f->checked++)
    wrong += f->kind[f->checked] == EXACT && element_of(f, f->into + (size_t)f->checked * f->extent) != f->expected[f->checked];
  return wrong;
}

static inline void flush_and_compare(fuzz_window *f) {
  OK(MPIX_Sparse_window_flush(f->window));
  int wrong = compare_results(f, f->results);
  CHECK(wrong == 0, "%s: %d results are wrong after a flush", f->text, wrong);
}

/* the operations of process `s` in the epoch: they change the model, and are called if it is this
   process */
static inline void window_operations(fuzz_window *f, int s, random_stream *own) {
  enum { PUT, ADD, GET, FETCH, SWAP, KINDS };
  world *w = f->w;
  random_stream r = {mix3(f->key, f->epoch, s)};
  int mine = s == w->rank, total = below(&r, f->few ? FEW + 1 : MOST_OPERATIONS + 1);
  for (int k = 0; k < total; k++) {
    int where = below(&r, 100), target = below(&r, w->size), count = 1, kind, bits = below(&r, 2);
    MPI_Aint indices[MOST_INDICES];
    unsigned char values[MOST_INDICES * 16] = {0}, compare[MOST_INDICES * 16] = {0};
    uint64_t *model = f->model + (size_t)target * (size_t)f->elements;
    MPI_Op op = bits ? MPI_BXOR : MPI_SUM;
    if (where < 60) kind = below(&r, KINDS);
    else if (where < 85) kind = ADD;
    else kind = where < 95 ? FETCH : SWAP;
    if (where >= 95) f->contested[target] = 1;
    if (where < 85) count = between(&r, 0, MOST_INDICES);
    if (where >= 85) op = MPI_SUM;
    int from = below(&r, COMMON_ELEMENTS), step = between(&r, -2, 2), replaces = kind == FETCH && where < 60 && below(&r, 4) == 0;
    if (replaces) op = MPI_REPLACE;
    for (int i = 0; i < count; i++) {
      int at = from + i * step + OWN_ELEMENTS * COMMON_ELEMENTS; /* not negative */
      if (where < 60) indices[i] = s * OWN_ELEMENTS + at % OWN_ELEMENTS;
      /* one operator for each element */
      else if (where < 85) indices[i] = w->size * OWN_ELEMENTS + (at % (COMMON_ELEMENTS / 2)) * 2 + bits;
      else indices[i] = where < 95 ? f->counter : f->prize;
      uint64_t *old = &model[indices[i]], value = value_of(f, draw(&r)), wanted = value_of(f, below(&r, 2) ? *old : draw(&r));
      if (where >= 85) value = where < 95 ? 1 : (uint64_t)s + 1, wanted = 0;
      set_element(f, values + (size_t)i * f->extent, value), set_element(f, compare + (size_t)i * f->extent, wanted);
      if (mine && kind >= GET) {
        int n = f->results + i;
        f->kind[n] = where < 60 ? EXACT : where < 95 ? NUMBER : PRIZE;
        f->expected[n] = *old, f->of[n] = target;
      }
      if (where >= 95) continue;
      if (kind == PUT || replaces || (kind == SWAP && *old == wanted)) *old = value;
      else if (kind == ADD || kind == FETCH) *old = value_of(f, op == MPI_BXOR ? *old ^ value : *old + value);
    }
    if (!mine) continue;
    void *into = f->into + (size_t)f->results * f->extent;
    switch (kind) {
      case PUT: OK(MPIX_Sparse_window_put(values, count, target, indices, f->window)); break;
      case ADD: OK(MPIX_Sparse_window_accumulate(values, count, target, indices, op, f->window)); break;
      case GET: OK(MPIX_Sparse_window_get(into, count, target, indices, f->window)); break;
      case FETCH: OK(MPIX_Sparse_window_fetch_and_op_c(values, into, count, target, indices, op, f->window)); break;
      case SWAP: OK(MPIX_Sparse_window_compare_and_swap(values, compare, into, count, target, indices, f->window)); break;
      default: break;
    }
    if (kind >= GET) f->results += count;
    if (!f->few && chance(own, 4)) flush_and_compare(f);
  }
}

static inline void window_begin(fuzz_window *f, random_stream *shared, random_stream *own) {
  f->few = chance(shared, 40), f->open = 1, f->results = f->checked = 0;
  memset(f->contested, 0, sizeof *f->contested * (size_t)f->w->size);
  for (int p = 0; p < f->w->size; p++) f->first[p] = f->model[(size_t)p * (size_t)f->elements + (size_t)f->counter];
  for (int s = 0; s < f->w->size; s++) window_operations(f, s, own);
}

static inline void window_end(fuzz_window *f, random_stream *shared) {
  world *w = f->w;
  OK(MPIX_Sparse_window_fence(f->window));
  int wrong = compare_results(f, f->results);
  CHECK(wrong == 0, "%s, epoch %d: %d results are wrong", f->text, f->epoch, wrong);
  /* each number that was given, and each prize: their sums tell whether one is missing or twice
     there */
  uint64_t found[2] = {0, 0}, wanted[2] = {0, 0}, last[MOST_PROCESSES];
  for (int p = 0; p < w->size; p++) {
    uint64_t end = f->model[(size_t)p * (size_t)f->elements + (size_t)f->counter];
    for (uint64_t number = f->first[p]; number != end; number = value_of(f, number + 1)) wanted[0] += mix2((uint64_t)p, number);
    if (f->contested[p]) wanted[1] += mix((uint64_t)p);
    last[p] = 0;
  }
  for (int n = 0; n < f->results; n++) {
    uint64_t have = element_of(f, f->into + (size_t)n * f->extent);
    int p = f->of[n];
    if (f->kind[n] == PRIZE && have == 0) found[1] += mix((uint64_t)p);
    if (f->kind[n] == PRIZE) CHECK(have <= (uint64_t)w->size, "%s: %d has the prize", f->text, (int)have);
    if (f->kind[n] != NUMBER) continue;
    found[0] += mix2((uint64_t)p, have);
    uint64_t distance = value_of(f, have - f->first[p]) + 1;
    CHECK(distance > last[p], "%s: number %d after %d", f->text, (int)distance - 1, (int)last[p] - 1);
    last[p] = distance;
  }
  OK(MPI_Allreduce(MPI_IN_PLACE, found, 2, MPI_UINT64_T, MPI_SUM, w->comm));
  CHECK(found[0] == wanted[0], "%s, epoch %d: numbers are missing, or were given twice", f->text, f->epoch);
  CHECK(found[1] == wanted[1], "%s, epoch %d: not one winner for each prize", f->text, f->epoch);
  wrong = 0;
  for (int i = 0; i < f->elements; i++) {
    const unsigned char *at = f->mine + (size_t)i * f->extent;
    if (i != f->prize) wrong += element_of(f, at) != f->model[(size_t)w->rank * (size_t)f->elements + (size_t)i];
    for (size_t b = f->size; b < f->extent; b++) wrong += at[b] != 0xa5;
  }
  CHECK(wrong == 0, "%s, epoch %d: %d elements are wrong", f->text, f->epoch, wrong);
  int fresh = chance(shared, 30);
  for (int p = 0; p < w->size; p++)
    for (int i = 0; i < f->elements; i++) {
      uint64_t *in_model = &f->model[(size_t)p * (size_t)f->elements + (size_t)i];
      if (i == f->prize) *in_model = 0;
      else if (fresh) *in_model = value_of(f, mix3(f->key + (uint64_t)f->epoch, p, i));
      if (p == w->rank) set_element(f, f->mine + (size_t)i * f->extent, *in_model);
    }
  f->epoch++, f->open = 0;
}

static inline void window_make(fuzz_window *f, world *w, random_stream *shared) {
  static const char *const batches[] = {"64", "200", "4032", "65536"};
  memset(f, 0, sizeof *f);
  const char *protocol = protocols[below(shared, (int)(sizeof protocols / sizeof *protocols))];
  int type = below(shared, 3), batch = below(shared, 4), aggregate = chance(shared, 30), node = below(shared, 4);
  f->w = w, f->key = draw(shared);
  f->size = type == 0 ? 4 : 8, f->extent = type == 2 ? 16 : f->size;
  MPI_Type_create_resized(type == 0 ? MPI_UINT32_T : MPI_UINT64_T, 0, (MPI_Aint)f->extent, &f->type);
  MPI_Type_commit(&f->type);
  f->counter = w->size * OWN_ELEMENTS + COMMON_ELEMENTS, f->prize = f->counter + 1, f->elements = f->prize + 1;
  f->mine = malloc((size_t)f->elements * f->extent), f->into = malloc((size_t)MOST_RESULTS * f->extent);
  f->model = calloc((size_t)f->elements * (size_t)w->size, sizeof *f->model);
  f->first = calloc((size_t)w->size, sizeof *f->first), f->contested = calloc((size_t)w->size, sizeof *f->contested);
  memset(f->mine, 0xa5, (size_t)f->elements * f->extent);
  for (int i = 0; i < f->elements; i++) set_element(f, f->mine + (size_t)i * f->extent, 0);
  snprintf(f->text, sizeof f->text, "window of %d bytes in %d, %s, batches of %s%s, nodes of %d", (int)f->size, (int)f->extent, protocol, batches[batch],
           aggregate ? ", aggregated" : "", node);
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_sparse", protocol);
  MPI_Info_set(info, "mpix_window_batch", batches[batch]);
  if (aggregate) MPI_Info_set(info, "mpix_window_aggregate", "true");
  if (node == 1 || node == 2) MPI_Info_set(info, "mpix_node_size", node == 1 ? "1" : "2");
  /* the datatype that operators know; with gaps none does */
  MPI_Datatype plain = type == 0 ? MPI_UINT32_T : MPI_UINT64_T;
  OK(MPIX_Sparse_window_create(f->mine, f->elements, type == 2 ? f->type : plain, info, w->comm, &f->window));
  MPI_Info_free(&info);
}

static inline void window_discard(fuzz_window *f) {
  OK(MPIX_Sparse_window_free(&f->window));
  MPI_Type_free(&f->type);
  free(f->mine), free(f->into), free(f->model), free(f->first), free(f->contested);
  memset(f, 0, sizeof *f);
}

#endif
