/* Sparse windows: operations of all kinds on elements of all processes. A process can compute what
   every other one does, as all choices come from one random generator. */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "test.h"

static MPI_Aint one(uint64_t index) { return (MPI_Aint)index; }

static MPIX_Sparse_window create(void *base, int count, MPI_Datatype type, MPI_Comm comm) {
  MPIX_Sparse_window window = NULL;
  OK(MPIX_Sparse_window_create(base, count, type, MPI_INFO_NULL, comm, &window));
  return window;
}

/* ---- operations that commute: all processes on all elements, several epochs; between them each
   process uses its elements as it likes */

enum { ELEMENTS = 50, EPOCHS = 4 };

static int operations_in(int epoch) { return epoch == 1 ? 0 : epoch == 2 ? 3 : 700; }

#define COMMUTING(NAME, T, TYPE, OP, START, COMBINE) \
  static void NAME(MPI_Comm comm) { \
    int me, size; \
    MPI_Comm_rank(comm, &me), MPI_Comm_size(comm, &size); \
    T mine[ELEMENTS], want[ELEMENTS]; \
    for (int i = 0; i < ELEMENTS; i++) mine[i] = want[i] = (T)(START + i); \
    /* process 1 has no elements */ \
    MPIX_Sparse_window window = create(me == 1 ? NULL : mine, me == 1 ? 0 : ELEMENTS, TYPE, comm); \
    for (int epoch = 0; epoch < EPOCHS; epoch++) { \
      for (int p = 0; p < size; p++) \
        for (int k = 0; k < operations_in(epoch); k++) { \
          uint64_t h = mix3(p, epoch, k); \
          int target = h % size; \
          if (target == 1) target = 0; \
          MPI_Aint index = one((h >> 16) % ELEMENTS); \
          T value = (T)((h >> 40) % 3 + 1); \
          if (target == me) want[index] = COMBINE(want[index], value); \
          if (p == me) OK(MPIX_Sparse_window_accumulate(&value, 1, target, &index, OP, window)); \
        } \
      OK(MPIX_Sparse_window_fence(window)); \
      /* what others do after their fence has not been done yet */ \
      for (int i = 0; i < ELEMENTS && me != 1; i++) { \
        CHECK(mine[i] == want[i], #NAME ", epoch %d: element %d is %g, not %g", epoch, i, (double)mine[i], (double)want[i]); \
        mine[i] = want[i] = (T)(epoch + i); \
      } \
    } \
    OK(MPIX_Sparse_window_free(&window)); \
    CHECK(window == NULL, "the handle is left"); \
  }

#define PLUS(a, b) ((a) + (b))
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define DIFFERENT_BITS(a, b) ((a) ^ (b))
COMMUTING(sums_of_doubles, double, MPI_DOUBLE, MPI_SUM, 0, PLUS)
COMMUTING(sums_of_floats, float, MPI_FLOAT, MPI_SUM, 1, PLUS)
COMMUTING(maxima_of_ints, int, MPI_INT, MPI_MAX, -3, LARGER)
COMMUTING(maxima_of_unsigneds, unsigned, MPI_UNSIGNED, MPI_MAX, 2147483648u, LARGER)
COMMUTING(bits_of_words, uint64_t, MPI_UINT64_T, MPI_BXOR, 0, DIFFERENT_BITS)
COMMUTING(sums_of_shorts, short, MPI_SHORT, MPI_SUM, 0, PLUS)
/* below 128: MPICH 4.0 takes the largest of unsigned numbers of 8 and 16 bits as if they had
   signs */
COMMUTING(maxima_of_bytes, unsigned char, MPI_UNSIGNED_CHAR, MPI_MAX, 60, LARGER)

/* ---- all kinds of operations, in order: each process has elements of its own at each target, and
   keeps what they must be */

enum { OWN = 6, CALLS = 400 };

/* applies x -> first * x + second: of two of them neither may go first */
static void after_each_other(void *in, void *inout, int *count, MPI_Datatype *type) {
  int *a = in, *b = inout;
  (void)type;
  /* MPI passes the element as `in`, the value as `inout`: element op value */
  for (int i = 0; i < *count; i++) {
    int first = a[2 * i] * b[2 * i], second = a[2 * i + 1] * b[2 * i] + b[2 * i + 1];
    b[2 * i] = first, b[2 * i + 1] = second;
  }
}

static void kinds_in_order(MPI_Comm comm, uint64_t seed) {
  int me, size;
  MPI_Comm_rank(comm, &me), MPI_Comm_size(comm, &size);
  int *mine = calloc((size_t)size * OWN, sizeof *mine), *model = calloc((size_t)size * OWN, sizeof *model);
  int *results = malloc((size_t)CALLS * OWN * sizeof *results), *expected = malloc((size_t)CALLS * OWN * sizeof *expected);
  MPIX_Sparse_window window = create(mine, size * OWN, MPI_INT, comm);
  for (int epoch = 0; epoch < 3; epoch++) {
    int n = 0;
    for (int k = 0; k < CALLS; k++) {
      uint64_t h = mix3(seed + me, epoch, k);
      int target = h % size, kind = (h >> 8) % 8, count = (h >> 16) % (OWN + 1), values[OWN], compare[OWN];
      int from = (h >> 24) % OWN, step = (h >> 32) % 2 ? 1 : (h >> 33) % 3 + 1;
      MPI_Aint indices[OWN];
      for (int i = 0; i < count; i++) {
        int element = (from + i * step) % OWN;
        indices[i] = me * OWN + element;
        values[i] = (int)(mix3(h, 1, i) % 5);
        int *old = &model[target * OWN + element];
        compare[i] = mix3(h, 2, i) % 2 ? *old : (int)(mix3(h, 3, i) % 5);
        if (kind >= 4) expected[n + i] = *old;
        switch (kind) {
          case 0: case 1: *old = values[i]; break;
          case 2: case 5: *old += values[i]; break;
          case 3: *old = *old * values[i] % 1000; values[i] = *old; break;
          case 4: break;
          case 6: *old = *old == compare[i] ? values[i] : *old; break;
          case 7: *old = values[i]; break;
        }
      }
      switch (kind) {
        case 0: OK(MPIX_Sparse_window_put(values, count, target, indices, window)); break;
        case 1: OK(MPIX_Sparse_window_put_c(values, count, target, indices, window)); break;
        case 2: OK(MPIX_Sparse_window_accumulate(values, count, target, indices, MPI_SUM, window)); break;
        case 3: OK(MPIX_Sparse_window_accumulate(values, count, target, indices, MPI_REPLACE, window)); break;
        case 4:
          if (h >> 62) OK(MPIX_Sparse_window_get(results + n, count, target, indices, window));
          else OK(MPIX_Sparse_window_fetch_and_op(values, results + n, count, target, indices, MPI_NO_OP, window));
          break;
        case 5: OK(MPIX_Sparse_window_fetch_and_op(values, results + n, count, target, indices, MPI_SUM, window)); break;
        case 6: OK(MPIX_Sparse_window_compare_and_swap(values, compare, results + n, count, target, indices, window)); break;
        case 7: OK(MPIX_Sparse_window_fetch_and_op_c(values, results + n, count, target, indices, MPI_REPLACE, window)); break;
      }
      /* buffered: the arguments may be used again */
      memset(values, 99, sizeof values), memset(indices, 99, sizeof indices), memset(compare, 99, sizeof compare);
      if (kind >= 4) n += count;
      if (h % 97 == 0) {
        OK(MPIX_Sparse_window_flush(window));
        for (int i = 0; i < n; i++) CHECK(results[i] == expected[i], "epoch %d, call %d: result %d is %d, not %d", epoch, k, i, results[i], expected[i]);
      }
    }
    OK(MPIX_Sparse_window_fence(window));
    for (int i = 0; i < n; i++) CHECK(results[i] == expected[i], "epoch %d: result %d is %d, not %d", epoch, i, results[i], expected[i]);
  }
  /* the elements here, as each process expects them */
  int *want = malloc((size_t)size * OWN * sizeof *want);
  MPI_Alltoall(model, OWN, MPI_INT, want, OWN, MPI_INT, comm);
  for (int i = 0; i < size * OWN; i++) CHECK(mine[i] == want[i], "element %d is %d, not %d", i, mine[i], want[i]);
  OK(MPIX_Sparse_window_free(&window));
  free(mine), free(model), free(results), free(expected), free(want);
}

/* arrays of evenly spaced indices, of any distance, 0 and negative ones among them, and of others
   between them, which end anywhere in a batch. Each process has elements of its own at each target,
   of `words` words, `apart` words from one to the next. */
static void spaced_arrays(MPI_Comm comm, int words, int apart) {
  enum { REGION = 1500, MOST = 4000, CALLS = 24, WIDE = 3 };
  static const int distances[] = {1, 1, -1, 2, -7, 0, 40, 3};
  int me, size;
  MPI_Comm_rank(comm, &me), MPI_Comm_size(comm, &size);
  MPI_Datatype contiguous, type = MPI_UINT64_T;
  if (apart > 1) {
    MPI_Type_contiguous(words, MPI_UINT64_T, &contiguous);
    MPI_Type_create_resized(contiguous, 0, (MPI_Aint)(sizeof(uint64_t) * (size_t)apart), &type);
    MPI_Type_commit(&type), MPI_Type_free(&contiguous);
  }
  const size_t all = (size_t)size * REGION * (size_t)apart;
  uint64_t *mine = calloc(all, sizeof *mine), *model = calloc(all, sizeof *model), *want = malloc(all * sizeof *want);
  uint64_t *values = malloc((size_t)MOST * WIDE * sizeof *values), *got = calloc((size_t)MOST * WIDE, sizeof *got), *expected = calloc((size_t)MOST * WIDE, sizeof *expected);
  MPI_Aint *indices = malloc(MOST * sizeof *indices);
  MPIX_Sparse_window window = create(mine, size * REGION, type, comm);
  for (int k = 0; k < CALLS; k++) {
    uint64_t h = mix3(me, 500 + words, k);
    int target = h % size, kind = (h >> 8) % 5, count = 0, limit = (h >> 16) % MOST;
    if (apart > 1 && kind == 1) kind = 2; /* no sums of such elements */
    for (int part = 0; count < limit; part++) {
      uint64_t p = mix3(h, 9, part);
      int distance = distances[p % 8], length = (p >> 8) % 4 ? (int)((p >> 16) % 5) + 1 : (int)((p >> 16) % 1200) + 1;
      int at = (int)((p >> 40) % REGION);
      for (int i = 0; i < length && count < limit && at >= 0 && at < REGION; i++, at += distance) indices[count++] = me * REGION + at;
    }
    for (int i = 0; i < count; i++)
      for (int w = 0; w < words; w++) {
        uint64_t *value = &values[i * apart + w], *old = &model[((size_t)target * REGION + (size_t)(indices[i] - me * REGION)) * (size_t)apart + (size_t)w];
        *value = mix3(h, w, i);
        expected[i * apart + w] = *old;
        if (kind == 1) *old += *value;
        else if (kind != 3) *old = *value;
      }
    memset(got, 0, (size_t)MOST * WIDE * sizeof *got);
    switch (kind) {
      case 0: OK(MPIX_Sparse_window_put(values, count, target, indices, window)); break;
      case 1: OK(MPIX_Sparse_window_accumulate(values, count, target, indices, MPI_SUM, window)); break;
      case 2: OK(MPIX_Sparse_window_accumulate(values, count, target, indices, MPI_REPLACE, window)); break;
      case 3: OK(MPIX_Sparse_window_get(got, count, target, indices, window)); break;
      case 4: OK(MPIX_Sparse_window_fetch_and_op(values, got, count, target, indices, MPI_REPLACE, window)); break;
    }
    memset(values, 99, (size_t)MOST * WIDE * sizeof *values), memset(indices, 99, MOST * sizeof *indices);
    if (kind >= 3) {
      OK(MPIX_Sparse_window_flush(window));
      int wrong = 0;
      for (int i = 0; i < count; i++)
        for (int w = 0; w < words; w++) wrong += got[i * apart + w] != expected[i * apart + w];
      CHECK(wrong == 0, "elements of %d words in %d, call %d of kind %d: %d results of %d are wrong", words, apart, k, kind, wrong, count);
    }
  }
  OK(MPIX_Sparse_window_fence(window));
  MPI_Alltoall(model, REGION * apart, MPI_UINT64_T, want, REGION * apart, MPI_UINT64_T, comm);
  int wrong = 0;
  for (size_t i = 0; i < all; i++) wrong += mine[i] != want[i];
  CHECK(wrong == 0, "elements of %d words in %d: %d are wrong", words, apart, wrong);
  OK(MPIX_Sparse_window_free(&window));
  if (apart > 1) MPI_Type_free(&type);
  free(mine), free(model), free(want), free(values), free(got), free(expected), free(indices);
}

/* words of 8 bytes, one call for each operation: each process has an element at each target, the
   caller among them, and runs of one kind are as long as a batch, or short */
static void single_words(MPI_Comm comm) {
  enum { CALLS = 3000 };
  int me, size;
  MPI_Comm_rank(comm, &me), MPI_Comm_size(comm, &size);
  int64_t *mine = calloc((size_t)size, sizeof *mine), *model = calloc((size_t)size, sizeof *model), *want = malloc((size_t)size * sizeof *want);
  int64_t *results = malloc(CALLS * sizeof *results), *expected = malloc(CALLS * sizeof *expected);
  MPIX_Sparse_window window = create(mine, size, MPI_INT64_T, comm);
  MPI_Aint at = me;
  int n = 0, kind = 0;
  for (int k = 0; k < CALLS; k++) {
    uint64_t h = mix3(me, 77, k);
    int target = h % size;
    if (k % 900 > 800 || k % 900 == 0) kind = (h >> 8) % 7;
    int64_t value = (int64_t)mix3(h, 1, k), *old = &model[target], compare = h >> 63 ? *old : *old + 1;
    if (kind >= 3) expected[n] = *old;
    switch (kind) {
      case 0: OK(MPIX_Sparse_window_put(&value, 1, target, &at, window)); *old = value; break;
      case 1: OK(MPIX_Sparse_window_accumulate(&value, 1, target, &at, MPI_BXOR, window)); *old ^= value; break;
      case 2: OK(MPIX_Sparse_window_accumulate(&value, 1, target, &at, MPI_MAX, window)); *old = LARGER(*old, value); break;
      case 3: OK(MPIX_Sparse_window_get(&results[n++], 1, target, &at, window)); break;
      case 4: OK(MPIX_Sparse_window_fetch_and_op(&value, &results[n++], 1, target, &at, MPI_BXOR, window)); *old ^= value; break;
      case 5: OK(MPIX_Sparse_window_fetch_and_op(&value, &results[n++], 1, target, &at, MPI_REPLACE, window)); *old = value; break;
      case 6: OK(MPIX_Sparse_window_compare_and_swap(&value, &compare, &results[n++], 1, target, &at, window)); *old = *old == compare ? value : *old; break;
    }
    value = compare = 99;
    if (h % 501 == 0) OK(MPIX_Sparse_window_flush(window));
    if (h % 501 == 0 && target == me) CHECK(mine[me] == *old, "call %d: %lld, not %lld", k, (long long)mine[me], (long long)*old);
  }
  OK(MPIX_Sparse_window_fence(window));
  for (int i = 0; i < n; i++) CHECK(results[i] == expected[i], "result %d is %lld, not %lld", i, (long long)results[i], (long long)expected[i]);
  MPI_Alltoall(model, 1, MPI_INT64_T, want, 1, MPI_INT64_T, comm);
  for (int i = 0; i < size; i++) CHECK(mine[i] == want[i], "element %d is %lld, not %lld", i, (long long)mine[i], (long long)want[i]);
  OK(MPIX_Sparse_window_free(&window));
  free(mine), free(model), free(want), free(results), free(expected);
}

/* ---- operators of the program's */

static void operator_that_does_not_commute(MPI_Comm comm) {
  int me, size;
  MPI_Comm_rank(comm, &me), MPI_Comm_size(comm, &size);
  MPI_Datatype pair;
  MPI_Op op, other;
  MPI_Type_contiguous(2, MPI_INT, &pair), MPI_Type_commit(&pair);
  MPI_Op_create(after_each_other, 0, &op), MPI_Op_create(after_each_other, 0, &other);
  int(*mine)[2] = malloc((size_t)size * sizeof *mine), want[2] = {1, 0};
  for (int i = 0; i < size; i++) mine[i][0] = 1, mine[i][1] = 0;
  MPIX_Sparse_window window = create(mine, size, pair, comm);
  MPI_Type_free(&pair);
  OK(MPIX_Sparse_window_add_operator(op, window));
  MPI_Aint at = me;
  for (int k = 0; k < 20; k++) {
    int value[2] = {k % 3 + 1, k - 5}, before[2] = {0, 0};
    if (k % 2) OK(MPIX_Sparse_window_accumulate(value, 1, (me + 1) % size, &at, op, window));
    else {
      OK(MPIX_Sparse_window_fetch_and_op(value, before, 1, (me + 1) % size, &at, op, window));
      OK(MPIX_Sparse_window_flush(window));
      CHECK(before[0] == want[0] && before[1] == want[1], "operation %d: (%d, %d), not (%d, %d)", k, before[0], before[1], want[0], want[1]);
    }
    want[1] = want[1] * value[0] + value[1], want[0] *= value[0];
  }
  OK(MPIX_Sparse_window_fence(window));
  int from = (me + size - 1) % size;
  CHECK(mine[from][0] == want[0] && mine[from][1] == want[1], "(%d, %d), not (%d, %d)", mine[from][0], mine[from][1], want[0], want[1]);
  int value[2] = {0, 0};
  FAILS(MPIX_Sparse_window_accumulate(value, 1, 0, &at, other, window), MPI_ERR_OP, "has not been added");
  OK(MPIX_Sparse_window_free(&window));
  MPI_Op_free(&op), MPI_Op_free(&other);
  free(mine);
}

/* An operator of another window, which a process applies while its fence is under way, uses the
   window of that fence: an error there, and nothing is lost. */
static MPIX_Sparse_window in_fence;
static int put_in_fence;
static void put_there(void *from, void *into, int *length, MPI_Datatype *type) {
  (void)from, (void)into, (void)length, (void)type;
  int class = MPI_SUCCESS, value = 1;
  MPI_Aint at = 0;
  if (in_fence) MPI_Error_class(MPIX_Sparse_window_put(&value, 1, 1, &at, in_fence), &class), put_in_fence = class;
}
static void used_in_its_fence(MPI_Comm comm) {
  int me, size, mine = 5, other = 0, one = 1;
  MPI_Comm_rank(comm, &me), MPI_Comm_size(comm, &size);
  if (size < 2) return;
  MPI_Op op;
  MPI_Op_create(put_there, 1, &op);
  MPIX_Sparse_window first = create(&mine, 1, MPI_INT, comm), second = create(&other, 1, MPI_INT, comm);
  OK(MPIX_Sparse_window_add_operator(op, second));
  MPI_Barrier(comm);
  in_fence = me == 0 ? first : NULL, put_in_fence = MPI_SUCCESS;
  if (me == 1) {
    MPI_Aint at = 0;
    OK(MPIX_Sparse_window_accumulate(&one, 1, 0, &at, op, second));
    OK(MPIX_Sparse_window_flush(second));
  }
  OK(MPIX_Sparse_window_fence(first));
  if (me == 0) CHECK(put_in_fence == MPI_ERR_RMA_SYNC, "class %d", put_in_fence);
  in_fence = NULL;
  CHECK(mine == 5, "%d", mine);
  OK(MPIX_Sparse_window_free(&second));
  OK(MPIX_Sparse_window_free(&first));
  MPI_Op_free(&op);
}

/* what only reads elements does not write them, which would give pages to memory that has none:
   single words, the caller's own among them, by gets and compare-and-swaps that fail */
static void only_read(MPI_Comm comm) {
  enum { WORDS = 1024, READS = 300 };
  int size;
  MPI_Comm_size(comm, &size);
  const size_t bytes = WORDS * sizeof(uint64_t);
  uint64_t *mine = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), got[READS][2], value = 3, other = 5;
  MPIX_Sparse_window window = create(mine, WORDS, MPI_UINT64_T, comm);
  mprotect(mine, bytes, PROT_READ);
  MPI_Barrier(comm);
  memset(got, 9, sizeof got);
  for (int k = 0; k < READS; k++) {
    MPI_Aint at = one(mix2(k, 7) % WORDS);
    OK(MPIX_Sparse_window_get(&got[k][0], 1, k % size, &at, window));
  }
  for (int k = 0; k < READS; k++) {
    MPI_Aint at = one(mix2(k, 8) % WORDS);
    OK(MPIX_Sparse_window_compare_and_swap(&value, &other, &got[k][1], 1, k % size, &at, window));
  }
  OK(MPIX_Sparse_window_fence(window));
  for (int k = 0; k < READS; k++) CHECK(got[k][0] == 0 && got[k][1] == 0, "read %d: %d and %d", k, (int)got[k][0], (int)got[k][1]);
  OK(MPIX_Sparse_window_free(&window));
  munmap(mine, bytes);
}

/* ---- processes that compete */

static void tickets_and_winners(MPI_Comm comm) {
  enum { TICKETS = 300, PRIZES = 40 };
  int me, size;
  MPI_Comm_rank(comm, &me), MPI_Comm_size(comm, &size);
  int mine[1 + PRIZES], got[TICKETS], one_more = 1, had[PRIZES], won = 0;
  mine[0] = 0;
  for (int i = 1; i <= PRIZES; i++) mine[i] = -1;
  MPIX_Sparse_window window = create(mine, 1 + PRIZES, MPI_INT, comm);
  MPI_Aint zero = 0;
  for (int k = 0; k < TICKETS; k++) OK(MPIX_Sparse_window_fetch_and_op(&one_more, &got[k], 1, size - 1, &zero, MPI_SUM, window));
  for (int i = 0; i < PRIZES; i++) {
    MPI_Aint at = 1 + i;
    int none = -1;
    OK(MPIX_Sparse_window_compare_and_swap(&me, &none, &had[i], 1, i % size, &at, window));
  }
  /* the others may wait for the end of the epoch meanwhile */
  if (me % 2) OK(MPIX_Sparse_window_flush(window));
  OK(MPIX_Sparse_window_fence(window));
  int *all = malloc((size_t)size * TICKETS * sizeof(int)), *seen = calloc((size_t)size * TICKETS, sizeof(int)), total;
  MPI_Allgather(got, TICKETS, MPI_INT, all, TICKETS, MPI_INT, comm);
  for (int k = 0; k < size * TICKETS; k++) {
    int fits = all[k] >= 0 && all[k] < size * TICKETS;
    CHECK(fits && !seen[all[k]], "ticket %d was given twice, or is wrong", all[k]);
    if (fits) seen[all[k]] = 1;
  }
  for (int k = 1; k < TICKETS; k++) CHECK(got[k] > got[k - 1], "ticket %d came after %d", got[k], got[k - 1]);
  for (int i = 0; i < PRIZES; i++) won += had[i] == -1;
  MPI_Allreduce(&won, &total, 1, MPI_INT, MPI_SUM, comm);
  CHECK(total == PRIZES, "%d winners of %d", total, PRIZES);
  for (int i = 0; i < PRIZES; i++) CHECK((mine[1 + i] != -1) == (i % size == me), "prize %d went to %d", i, mine[1 + i]);
  OK(MPIX_Sparse_window_free(&window));
  free(all), free(seen);
}

/* many operations, and more than the target's memory has room for, while it only applies them */
static void floods(MPI_Comm comm) {
  enum { FLOOD = 60000, AROUND = 4096 };
  int me, size;
  MPI_Comm_rank(comm, &me), MPI_Comm_size(comm, &size);
  uint64_t *mine = calloc(AROUND, sizeof *mine), sum = 0, value = 1, total = 0;
  MPIX_Sparse_window window = create(mine, AROUND, MPI_UINT64_T, comm);
  int each = FLOOD / size;
  for (int k = 0; k < each; k++) {
    uint64_t h = mix2(me, k);
    MPI_Aint at = one((h >> 20) % AROUND);
    OK(MPIX_Sparse_window_accumulate(&value, 1, me % 2 ? 0 : (int)(h % size), &at, MPI_SUM, window));
  }
  OK(MPIX_Sparse_window_fence(window));
  for (int i = 0; i < AROUND; i++) sum += mine[i];
  MPI_Allreduce(&sum, &total, 1, MPI_UINT64_T, MPI_SUM, comm);
  CHECK(total == (uint64_t)each * size, "%lu operations of %lu", (unsigned long)total, (unsigned long)each * size);
  OK(MPIX_Sparse_window_fence(window));

  /* long runs there and back */
  MPI_Aint *indices = malloc(AROUND * sizeof *indices);
  uint64_t *out = malloc(AROUND * sizeof *out), *back = calloc(AROUND, sizeof *back);
  for (int i = 0; i < AROUND; i++) indices[i] = i, out[i] = mix2(me, i);
  OK(MPIX_Sparse_window_put(out, AROUND, (me + 1) % size, indices, window));
  OK(MPIX_Sparse_window_get(back, AROUND, (me + 1) % size, indices, window));
  OK(MPIX_Sparse_window_flush(window));
  CHECK(memcmp(out, back, AROUND * sizeof *out) == 0, "what was put is not there");
  OK(MPIX_Sparse_window_fence(window));
  for (int i = 0; i < AROUND; i++) CHECK(mine[i] == mix2((me + size - 1) % size, i), "element %d of a run", i);
  OK(MPIX_Sparse_window_free(&window));
  free(mine), free(indices), free(out), free(back);
}

/* a process that waits in another call of the library applies what comes */
static void served_from_another_call(MPI_Comm comm) {
  int me, size, mine[1] = {0};
  MPI_Comm_rank(comm, &me), MPI_Comm_size(comm, &size);
  MPIX_Sparse_window first = create(mine, 1, MPI_INT, comm), second = create(mine, 1, MPI_INT, comm);
  MPI_Aint zero = 0;
  int value = 5, got = -1;
  if (me == 0) {
    OK(MPIX_Sparse_window_accumulate(&value, 1, size - 1, &zero, MPI_SUM, first));
    OK(MPIX_Sparse_window_flush(first));
    OK(MPIX_Sparse_window_get(&got, 1, size - 1, &zero, first));
    OK(MPIX_Sparse_window_flush(first));
    CHECK(got == 5, "got %d", got);
  }
  /* the others wait here, in another window's fence */
  OK(MPIX_Sparse_window_fence(second));
  OK(MPIX_Sparse_window_free(&second));
  OK(MPIX_Sparse_window_free(&first));
}

/* so does one that waits in a call by which processes make something together */
static void served_while_things_are_made(MPI_Comm comm) {
  enum { SET, WINDOW, EXCHANGE, MEASURE, FREE, KINDS };
  int me, size, mine[KINDS] = {0}, none = MPI_PROC_NULL;
  MPI_Comm_rank(comm, &me), MPI_Comm_size(comm, &size);
  MPIX_Sparse_window window = create(mine, KINDS, MPI_INT, comm);
  for (int kind = 0; kind < KINDS; kind++) {
    MPIX_Sparse_window other = kind == FREE ? create(mine, 0, MPI_INT, comm) : NULL;
    MPIX_Sparse_result result;
    MPIX_Loggp measured;
    MPI_Comm copy;
    MPI_Info info;
    MPI_Comm_dup(comm, &copy);
    for (int p = 1; p < size && me == 0; p++) {
      MPI_Aint at = kind;
      int value = 5 + kind, got = -1;
      OK(MPIX_Sparse_window_put(&value, 1, p, &at, window));
      OK(MPIX_Sparse_window_get(&got, 1, p, &at, window));
      /* the others are in the call below, and wait for this process */
      OK(MPIX_Sparse_window_flush(window));
      CHECK(got == value, "kind %d, process %d: got %d", kind, p, got);
    }
    switch (kind) {
      case SET: OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, 1, &none, MPI_UNWEIGHTED, 1, &none, MPI_UNWEIGHTED, MPI_INFO_NULL, copy)); break;
      case WINDOW: other = create(mine, 0, MPI_INT, copy); break;
      case EXCHANGE:
        OK(MPIX_Sparse_exchange(0, NULL, NULL, NULL, NULL, MPI_INT, MPI_INT, MPI_INFO_NULL, copy, &result));
        OK(MPIX_Sparse_free(&result));
        break;
      case MEASURE:
        if (size == 1) break;
        MPI_Info_create(&info), MPI_Info_set(info, "mpix_loggp_seconds", "0.01");
        OK(MPIX_Loggp_measure(info, copy, &measured));
        MPI_Info_free(&info);
        break;
    }
    OK(MPIX_Sparse_window_free(&other));
    MPI_Comm_free(&copy);
  }
  OK(MPIX_Sparse_window_fence(window));
  for (int kind = 0; kind < KINDS; kind++) CHECK(mine[kind] == (me == 0 ? 0 : 5 + kind), "kind %d: %d", kind, mine[kind]);
  OK(MPIX_Sparse_window_free(&window));
}

/* in each epoch a few batches, which the target applies before it acknowledges them with its own
   last one: they are not taken for unacknowledged in the epochs after it */
static void few_batches_in_many_epochs(MPI_Comm comm) {
  enum { FEW = 10, MANY = 40, LOOKS = 1000 };
  int me, size;
  MPI_Comm_rank(comm, &me), MPI_Comm_size(comm, &size);
  uint64_t mine[FEW] = {0}, value = 1;
  MPI_Info info;
  MPIX_Sparse_window window;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_window_batch", "64");
  OK(MPIX_Sparse_window_create(mine, FEW, MPI_UINT64_T, info, comm, &window));
  MPI_Info_free(&info);
  for (int epoch = 0; epoch < MANY && size > 1; epoch++) {
    for (int k = 0; k < 2 * FEW && me == 1; k += 2) {
      MPI_Aint at = k % FEW;
      OK(MPIX_Sparse_window_accumulate(&value, 1, 0, &at, MPI_SUM, window));
    }
    MPI_Barrier(comm);
    MPI_Aint zero = 0;
    /* own elements: looks at what has come */
    for (int k = 0; k < LOOKS && me == 0; k++) OK(MPIX_Sparse_window_accumulate(&value, 1, 0, &zero, MPI_SUM, window));
    if (me == 0) OK(MPIX_Sparse_window_accumulate(&value, 1, 1, &zero, MPI_SUM, window));
    OK(MPIX_Sparse_window_fence(window));
  }
  const uint64_t sum = size == 1 ? 0 : me == 0 ? MANY * (LOOKS + 2) : me == 1 ? MANY : 0;
  CHECK(mine[0] == sum, "%lu, not %lu", (unsigned long)mine[0], (unsigned long)sum);
  OK(MPIX_Sparse_window_free(&window));
}

/* windows on parts of a communicator that is freed before them, and operations on nobody */
static void lives(MPI_Comm comm) {
  int me, size, mine[2] = {0, 0}, value = 3, part_rank, part_size;
  MPI_Comm part;
  MPI_Comm_rank(comm, &me), MPI_Comm_size(comm, &size);
  MPI_Comm_split(comm, me % 2, -me, &part);
  MPI_Comm_rank(part, &part_rank), MPI_Comm_size(part, &part_size);
  MPIX_Sparse_window whole = create(mine, 1, MPI_INT, comm), half = create(mine + 1, 1, MPI_INT, part);
  MPI_Comm_free(&part);
  MPI_Aint zero = 0;
  OK(MPIX_Sparse_window_accumulate(&value, 1, MPI_PROC_NULL, &zero, MPI_SUM, half));
  OK(MPIX_Sparse_window_accumulate(NULL, 0, 0, NULL, MPI_SUM, half));
  for (int p = 0; p < part_size; p++) OK(MPIX_Sparse_window_accumulate(&value, 1, p, &zero, MPI_SUM, half));
  OK(MPIX_Sparse_window_accumulate(&value, 1, (me + 1) % size, &zero, MPI_SUM, whole));
  OK(MPIX_Sparse_window_free(&whole));
  OK(MPIX_Sparse_window_fence(half));
  CHECK(mine[0] == 3 && mine[1] == 3 * part_size, "%d and %d", mine[0], mine[1]);
  OK(MPIX_Sparse_window_free(&half));
  (void)part_rank;
}

/* ---- bad input */

static void first_one(void *from, void *into, int *length, MPI_Datatype *type) { (void)from, (void)into, (void)length, (void)type; }

static void bad_input(void) {
  MPI_Comm comm = test_duplicate();
  int me = test_rank, size = test_size, mine[4] = {1, 2, 3, 4}, value[2] = {9, 9}, mismatch;
  MPIX_Sparse_window window = create(mine, me == 0 ? 4 : 2, MPI_INT, comm), copy;
  MPI_Aint good[2] = {0, 1}, bad[2] = {0, me + 1 == size ? 4 : 2};
  int next = (me + 1) % size;
  char text[100];
  snprintf(text, sizeof text, "indices[1] = %d is outside the %d elements of process %d", (int)bad[1], next ? 2 : 4, next);
  FAILS(MPIX_Sparse_window_put(value, 2, next, bad, window), MPI_ERR_ARG, text);
  bad[1] = -1;
  FAILS(MPIX_Sparse_window_get(value, 2, next, bad, window), MPI_ERR_ARG, "indices[1] = -1 is outside");
  /* evenly spaced ones, among them such whose ends are within, as numbers that wrap around */
  const MPI_Aint far = (MPI_Aint)1 << 62, wrapping[5] = {0, far, INT64_MIN, -far, 0};
  int many_values[5] = {9, 9, 9, 9, 9};
  FAILS(MPIX_Sparse_window_put(many_values, 5, next, wrapping, window), MPI_ERR_ARG, "indices[1] = 4611686018427387904 is outside");
  const MPI_Aint down[5] = {1, 0, -1, -2, -3}, up[5] = {0, 1, 2, 3, 4};
  FAILS(MPIX_Sparse_window_put(many_values, 5, next, down, window), MPI_ERR_ARG, "indices[2] = -1 is outside");
  FAILS(MPIX_Sparse_window_put(many_values, 5, next, up, window), MPI_ERR_ARG, "is outside");
  /* one operation, which may take a shorter way */
  for (int k = 0; k < 2; k++) {
    FAILS(MPIX_Sparse_window_accumulate(value, 1, next, bad + 1, MPI_SUM, window), MPI_ERR_ARG, "is outside");
    FAILS(MPIX_Sparse_window_accumulate(value, 1, me, bad + 1, MPI_SUM, window), MPI_ERR_ARG, "is outside");
    FAILS(MPIX_Sparse_window_accumulate(NULL, 1, next, good, MPI_SUM, window), MPI_ERR_BUFFER, "origin is NULL");
    FAILS(MPIX_Sparse_window_accumulate(MPI_IN_PLACE, 1, next, good, MPI_SUM, window), MPI_ERR_BUFFER, "origin is MPI_IN_PLACE");
    FAILS(MPIX_Sparse_window_accumulate(value, 1, size, good, MPI_SUM, window), MPI_ERR_RANK, "target = ");
    FAILS(MPIX_Sparse_window_accumulate(value, 1, -77, good, MPI_SUM, window), MPI_ERR_RANK, "target = -77");
    FAILS(MPIX_Sparse_window_accumulate(value, 1, next, NULL, MPI_SUM, window), MPI_ERR_ARG, "indices is NULL");
    FAILS(MPIX_Sparse_window_fetch_and_op(value, NULL, 1, next, good, MPI_SUM, window), MPI_ERR_BUFFER, "result is NULL");
    /* the second time, batches have groups of the same operator */
    int zero = 0;
    OK(MPIX_Sparse_window_accumulate(&zero, 1, next, good, MPI_SUM, window));
    OK(MPIX_Sparse_window_accumulate(&zero, 1, me, good, MPI_SUM, window));
  }
  FAILS(MPIX_Sparse_window_put(value, 2, size, good, window), MPI_ERR_RANK, "target = ");
  FAILS(MPIX_Sparse_window_put(value, 2, -77, good, window), MPI_ERR_RANK, "target = -77");
  FAILS(MPIX_Sparse_window_put(value, -2, next, good, window), MPI_ERR_COUNT, "count = -2");
  const MPI_Count many[] = {((MPI_Count)1 << 62) + 1, ((MPI_Count)1 << 61) + 1, INT64_MAX};
  for (int k = 0; k < 3; k++) {
    FAILS(MPIX_Sparse_window_put_c(value, many[k], next, good, window), MPI_ERR_COUNT, "exceed the address range");
    FAILS(MPIX_Sparse_window_get_c(value, many[k], next, good, window), MPI_ERR_COUNT, "exceed the address range");
    FAILS(MPIX_Sparse_window_accumulate_c(value, many[k], next, good, MPI_SUM, window), MPI_ERR_COUNT, "exceed the address range");
    FAILS(MPIX_Sparse_window_fetch_and_op_c(value, value, many[k], next, good, MPI_SUM, window), MPI_ERR_COUNT, "exceed the address range");
    FAILS(MPIX_Sparse_window_compare_and_swap_c(value, value, value, many[k], next, good, window), MPI_ERR_COUNT, "exceed the address range");
  }
  FAILS(MPIX_Sparse_window_put(NULL, 2, next, good, window), MPI_ERR_BUFFER, "origin is NULL");
  FAILS(MPIX_Sparse_window_put(MPI_IN_PLACE, 2, next, good, window), MPI_ERR_BUFFER, "origin is MPI_IN_PLACE");
  FAILS(MPIX_Sparse_window_put(value, 2, next, NULL, window), MPI_ERR_ARG, "indices is NULL");
  FAILS(MPIX_Sparse_window_get(NULL, 2, next, good, window), MPI_ERR_BUFFER, "result is NULL");
  FAILS(MPIX_Sparse_window_compare_and_swap(value, NULL, value, 1, next, good, window), MPI_ERR_BUFFER, "compare is NULL");
  FAILS(MPIX_Sparse_window_accumulate(value, 2, next, good, MPI_OP_NULL, window), MPI_ERR_OP, "MPI_OP_NULL");
  FAILS(MPIX_Sparse_window_add_operator(MPI_SUM, window), MPI_ERR_OP, "predefined");
  test_fails(__LINE__, MPI_COMM_WORLD, MPIX_Sparse_window_fence(NULL), MPI_ERR_ARG, "window is NULL");
  OK(MPIX_Sparse_window_fence(window));
  CHECK(mine[0] == 1 && mine[1] == 2 && mine[2] == 3 && mine[3] == 4, "an operation in error was done");
  /* calls that return something say where, too */
  FAILS(MPIX_Sparse_window_fetch_and_op(value, value, 1, next, bad + 1, MPI_SUM, window), MPI_ERR_ARG, "indices[0] = -1 is outside");
  FAILS(MPIX_Sparse_window_compare_and_swap(value, value, value, 1, next, bad + 1, window), MPI_ERR_ARG, "indices[0] = -1 is outside");
  FAILS(MPIX_Sparse_window_fetch_and_op(value, value, 1, size, good, MPI_SUM, window), MPI_ERR_RANK, "target = ");
  FAILS(MPIX_Sparse_window_compare_and_swap(value, value, value, 1, -77, good, window), MPI_ERR_RANK, "target = -77");
  FAILS(MPIX_Sparse_window_accumulate(value, 1, next, good, MPI_MINLOC, window), MPI_ERR_OP, "");
  copy = window;
  OK(MPIX_Sparse_window_free(&window));
  FAILS(MPIX_Sparse_window_put(value, 1, 0, good, copy), MPI_ERR_ARG, "window has been freed");
  FAILS(MPIX_Sparse_window_get(value, 1, 0, good, copy), MPI_ERR_ARG, "window has been freed");
  FAILS(MPIX_Sparse_window_accumulate(value, 1, 0, good, MPI_SUM, copy), MPI_ERR_ARG, "window has been freed");
  FAILS(MPIX_Sparse_window_fetch_and_op(value, value, 1, 0, good, MPI_SUM, copy), MPI_ERR_ARG, "window has been freed");
  FAILS(MPIX_Sparse_window_compare_and_swap(value, value, value, 1, 0, good, copy), MPI_ERR_ARG, "window has been freed");
  FAILS(MPIX_Sparse_window_add_operator(MPI_SUM, copy), MPI_ERR_ARG, "window has been freed");
  FAILS(MPIX_Sparse_window_flush(copy), MPI_ERR_ARG, "window has been freed");
  FAILS(MPIX_Sparse_window_fence(copy), MPI_ERR_ARG, "window has been freed");
  FAILS(MPIX_Sparse_window_free(&copy), MPI_ERR_ARG, "window has been freed");
  OK(MPIX_Sparse_window_free(&window));

  /* errors on one process are errors on all */
  int last = me == size - 1;
  MPIX_Neighbor_error_class(MPIX_ERR_MISMATCH, &mismatch);
  FAILS(MPIX_Sparse_window_create(mine, last ? -1 : 2, MPI_INT, MPI_INFO_NULL, comm, &window), MPI_ERR_COUNT, "count = -1");
  FAILS(MPIX_Sparse_window_create(last ? NULL : mine, 2, MPI_INT, MPI_INFO_NULL, comm, &window), MPI_ERR_BUFFER, "base is NULL");
  FAILS(MPIX_Sparse_window_create(mine, 2, last ? MPI_DATATYPE_NULL : MPI_INT, MPI_INFO_NULL, comm, &window), MPI_ERR_TYPE, "type is MPI_DATATYPE_NULL");
  MPI_Datatype fresh;
  MPI_Type_contiguous(2, MPI_INT, &fresh);
  MPI_Type_commit(&fresh);
  FAILS(MPIX_Sparse_window_create(last ? NULL : mine, 1, fresh, MPI_INFO_NULL, comm, &window), MPI_ERR_BUFFER, "base is NULL");
  MPI_Type_free(&fresh);
  MPI_Type_contiguous(2, MPI_INT, &fresh);
  FAILS(MPIX_Sparse_window_create(mine, 2, last ? fresh : MPI_INT, MPI_INFO_NULL, comm, &window), MPI_ERR_TYPE, "type cannot be used");
  MPI_Type_free(&fresh);
  FAILS(MPIX_Sparse_window_create(mine, 2, MPI_INT, MPI_INFO_NULL, comm, last ? NULL : &window), MPI_ERR_ARG, "window is NULL");
  MPI_Info info;
  MPI_Info_create(&info), MPI_Info_set(info, "mpix_sparse_targets", "few");
  FAILS(MPIX_Sparse_window_create(mine, 2, MPI_INT, last ? info : MPI_INFO_NULL, comm, &window), MPI_ERR_INFO_VALUE, "mpix_sparse_targets");
  MPI_Info_free(&info);
  if (size > 1) {
    FAILS(MPIX_Sparse_window_create(mine, 1, last ? MPI_FLOAT : MPI_INT, MPI_INFO_NULL, comm, &window), mismatch, "type is not the same");
    FAILS(MPIX_Sparse_window_create(mine, 1, last ? MPI_DOUBLE : MPI_INT, MPI_INFO_NULL, comm, &window), mismatch, "type is not the same");
    FAILS(MPIX_Sparse_window_create(mine, 1, last ? MPI_UNSIGNED : MPI_INT, MPI_INFO_NULL, comm, &window), mismatch, "type is not the same");
    FAILS(MPIX_Sparse_window_create(mine, 1, last ? MPI_2INT : MPI_FLOAT_INT, MPI_INFO_NULL, comm, &window), mismatch, "type is not the same");
    FAILS(MPIX_Sparse_window_create(mine, 1, last ? MPI_2INT : MPI_C_FLOAT_COMPLEX, MPI_INFO_NULL, comm, &window), mismatch, "type is not the same");
  }
  /* a number and a real, in this order or in the other one; made in several ways */
  const int ones[2] = {1, 1}, none[3] = {0, 1, 1};
  const MPI_Aint at[3] = {0, 4, 4}, swapped[2] = {4, 0};
  MPI_Datatype order[3] = {MPI_INT, MPI_FLOAT, MPI_DOUBLE}, reals[3] = {MPI_DOUBLE, MPI_INT, MPI_FLOAT}, other, same, twice;
  MPI_Type_create_struct(2, ones, at, order, &fresh), MPI_Type_commit(&fresh);
  MPI_Type_create_struct(2, ones, swapped, (MPI_Datatype[]){MPI_FLOAT, MPI_INT}, &other), MPI_Type_commit(&other);
  MPI_Type_create_struct(3, none, (MPI_Aint[]){0, 0, 4}, reals, &same), MPI_Type_commit(&same);
  if (size > 1) FAILS(MPIX_Sparse_window_create(mine, 1, last ? fresh : other, MPI_INFO_NULL, comm, &window), mismatch, "type is not the same");
  OK(MPIX_Sparse_window_create(mine, 1, last ? fresh : same, MPI_INFO_NULL, comm, &window));
  OK(MPIX_Sparse_window_free(&window));
  MPI_Type_vector(2, 1, 2, fresh, &twice), MPI_Type_commit(&twice);
  MPI_Type_free(&other);
  MPI_Type_create_hindexed(2, ones, (MPI_Aint[]){0, 8}, same, &other), MPI_Type_commit(&other);
  int room[8] = {0};
  OK(MPIX_Sparse_window_create(room, 1, last ? twice : other, MPI_INFO_NULL, comm, &window));
  OK(MPIX_Sparse_window_free(&window));
  if (size > 1) FAILS(MPIX_Sparse_window_create(room, 1, last ? twice : fresh, MPI_INFO_NULL, comm, &window), mismatch, "type is not the same");
  MPI_Type_free(&fresh), MPI_Type_free(&other), MPI_Type_free(&same), MPI_Type_free(&twice);
  /* the same numbers in another language */
  OK(MPIX_Sparse_window_create(mine, 2, last ? MPI_INTEGER4 : MPI_INT, MPI_INFO_NULL, comm, &window));
  OK(MPIX_Sparse_window_free(&window));
  MPI_Comm_free(&comm);
}

/* an operator that the target has not added: its fence names who has used it, and goes on */
static void operators_not_added(void) {
  MPI_Comm comm = test_duplicate();
  int me = test_rank, size = test_size, mine[2] = {1, 2}, value = 5;
  MPI_Op op, many[193];
  MPI_Aint zero = 0;
  MPIX_Sparse_window window = create(mine, 2, MPI_INT, comm);
  MPI_Op_create(first_one, 1, &op);
  if (me == 0) OK(MPIX_Sparse_window_add_operator(op, window));
  if (me == 0 && size > 1) OK(MPIX_Sparse_window_accumulate(&value, 1, 1, &zero, op, window));
  if (me == 1) FAILS(MPIX_Sparse_window_fence(window), MPI_ERR_OP, "process 0: it has used a user-defined operator");
  else OK(MPIX_Sparse_window_fence(window));
  CHECK(mine[0] == 1 && mine[1] == 2, "an operator that is not known was applied");
  OK(MPIX_Sparse_window_put(&value, 1, (me + 1) % size, &zero, window));
  OK(MPIX_Sparse_window_fence(window));
  CHECK(mine[0] == 5, "%d after the fence that failed", mine[0]);
  /* the caller hears of it where it waits for a result */
  int got = -1;
  if (me == 0 && size > 1) {
    OK(MPIX_Sparse_window_fetch_and_op(&value, &got, 1, 1, &zero, op, window));
    FAILS(MPIX_Sparse_window_flush(window), MPI_ERR_OTHER, "process 1: it could not apply operations on its elements");
    CHECK(got == 0, "got %d", got);
    OK(MPIX_Sparse_window_flush(window));
  }
  if (me == 0 && size > 1) FAILS(MPIX_Sparse_window_fence(window), MPI_ERR_OTHER, "process 1: it could not apply");
  else if (me == 1) FAILS(MPIX_Sparse_window_fence(window), MPI_ERR_OP, "process 0: it has used a user-defined operator");
  else OK(MPIX_Sparse_window_fence(window));
  CHECK(mine[0] == 5, "an operator that is not known was applied: %d", mine[0]);
  for (int k = 0; k < 193; k++) {
    MPI_Op_create(first_one, 1, &many[k]);
    if (k + (me == 0) < 192) OK(MPIX_Sparse_window_add_operator(many[k], window));
    else FAILS(MPIX_Sparse_window_add_operator(many[k], window), MPI_ERR_ARG, "192");
  }
  OK(MPIX_Sparse_window_free(&window));
  for (int k = 0; k < 193; k++) MPI_Op_free(&many[k]);
  MPI_Op_free(&op);
  MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  MPI_Comm comm = MPI_COMM_WORLD;
  sums_of_doubles(comm), sums_of_floats(comm), maxima_of_ints(comm), maxima_of_unsigneds(comm);
  bits_of_words(comm), sums_of_shorts(comm), maxima_of_bytes(comm);
  for (uint64_t seed = 1; seed <= 3; seed++) kinds_in_order(comm, seed * 1000);
  spaced_arrays(comm, 1, 1), spaced_arrays(comm, 2, 2), spaced_arrays(comm, 2, 3);
  single_words(comm);
  operator_that_does_not_commute(comm);
  used_in_its_fence(comm);
  only_read(comm);
  tickets_and_winners(comm);
  floods(comm);
  few_batches_in_many_epochs(comm);
  served_from_another_call(comm);
  served_while_things_are_made(comm);
  lives(comm);
  bad_input();
  operators_not_added();
  /* left to MPI_Finalize */
  static int left[1];
  create(left, 1, MPI_INT, comm);
  return test_finish();
}
