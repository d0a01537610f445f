/* Sparse windows: values that lie among the elements that they go to, MPI_NO_OP without values,
   NULL, a window that an operator of another one uses during its fence, and accumulations by
   operators of the program's that are combined before they are sent. */
#include "test.h"
#include <stddef.h>

static MPI_Comm comm;
static MPIX_Sparse_window window;

static void make(void *base, int count, MPI_Datatype type) {
  window = NULL;
  OK(MPIX_Sparse_window_create(base, count, type, MPI_INFO_NULL, comm, &window));
}

/* elements that move up and down, by a put; gaps: every other int */
static void moves(int gaps) {
  enum { N = 40 };
  int m[2 * N], stride = 1 + gaps;
  MPI_Datatype type = MPI_INT;
  if (gaps) {
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &type);
    MPI_Type_commit(&type);
  }
  for (int up = 0; up < 2; up++) {
    MPI_Aint indices[N - 1];
    for (int k = 0; k < N - 1; k++) indices[k] = k + up;
    for (int i = 0; i < 2 * N; i++) m[i] = i;
    make(m, N, type);
    OK(MPIX_Sparse_window_put(m + stride * !up, N - 1, test_rank, indices, window));
    OK(MPIX_Sparse_window_fence(window));
    int bad = 0;
    for (int k = 0; k < N - 1; k++) bad += m[stride * (k + up)] != stride * (k + !up);
    for (int i = 0; i < stride * N; i++) bad += i % stride != 0 && m[i] != i;
    CHECK(bad == 0, "%d of %d are wrong (up %d, gaps %d)", bad, N - 1, up, gaps);
    OK(MPIX_Sparse_window_free(&window));
  }
  if (gaps) MPI_Type_free(&type);
}

/* values, and what they are compared with, that earlier operations of the same call change */
static void chains(void) {
  int m[4] = {1, 1, 1, 1}, got[3], twos[3] = {2, 2, 2};
  MPI_Aint indices[3] = {1, 2, 3};
  make(m, 4, MPI_INT);
  OK(MPIX_Sparse_window_accumulate(m, 3, test_rank, indices, MPI_SUM, window));
  OK(MPIX_Sparse_window_fence(window));
  CHECK(m[1] == 2 && m[2] == 2 && m[3] == 2, "%d %d %d", m[1], m[2], m[3]);
  m[0] = 2;
  for (int k = 0; k < 3; k++) twos[k] = 3;
  OK(MPIX_Sparse_window_compare_and_swap(twos, m, got, 3, test_rank, indices, window));
  OK(MPIX_Sparse_window_fence(window));
  for (int k = 0; k < 3; k++) CHECK(m[k + 1] == 3 && got[k] == 2, "%d: %d, got %d", k, m[k + 1], got[k]);
  OK(MPIX_Sparse_window_free(&window));
}

/* MPI_NO_OP reads; its values are not looked at */
static void no_op(void) {
  int m[10], got[10], one = 1;
  MPI_Aint indices[10], far = 10;
  for (int i = 0; i < 10; i++) m[i] = 10 * test_rank + i, indices[i] = 9 - i;
  make(m, 10, MPI_INT);
  for (int p = 0; p < test_size; p++) {
    OK(MPIX_Sparse_window_fetch_and_op(NULL, got, 10, p, indices, MPI_NO_OP, window));
    OK(MPIX_Sparse_window_flush(window));
    for (int i = 0; i < 10; i++) CHECK(got[i] == 10 * p + 9 - i, "got %d", got[i]);
    got[0] = -1;
    OK(MPIX_Sparse_window_fetch_and_op(&one, got, 1, p, indices, MPI_NO_OP, window));
    OK(MPIX_Sparse_window_fetch_and_op(&one, got + 1, 1, p, indices, MPI_NO_OP, window));
    OK(MPIX_Sparse_window_accumulate(NULL, 10, p, indices, MPI_NO_OP, window));
    OK(MPIX_Sparse_window_accumulate(&one, 1, p, indices, MPI_NO_OP, window));
    OK(MPIX_Sparse_window_flush(window));
    CHECK(got[0] == 10 * p + 9 && got[1] == got[0], "got %d and %d", got[0], got[1]);
    FAILS(MPIX_Sparse_window_accumulate(NULL, 1, p, &far, MPI_NO_OP, window), MPI_ERR_ARG, "indices[0] = 10 is outside");
    FAILS(MPIX_Sparse_window_fetch_and_op(NULL, got, 1, p, indices, MPI_SUM, window), MPI_ERR_BUFFER, "origin");
    FAILS(MPIX_Sparse_window_fetch_and_op(&one, NULL, 1, p, indices, MPI_NO_OP, window), MPI_ERR_BUFFER, "result");
  }
  OK(MPIX_Sparse_window_fence(window));
  for (int i = 0; i < 10; i++) CHECK(m[i] == 10 * test_rank + i, "%d", m[i]);
  OK(MPIX_Sparse_window_free(&window));
}

/* NULL is no address of elements with gaps, but one of elements at absolute addresses */
static void null(void) {
  MPI_Datatype gaps, there;
  int m[40] = {0}, values[3] = {5, 6, 7}, next = (test_rank + 1) % test_size;
  MPI_Aint zero = 0;
  MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
  MPI_Type_commit(&gaps);
  make(m, 10, gaps);
  for (int p = 0; p < test_size; p++) {
    FAILS(MPIX_Sparse_window_put(NULL, 1, p, &zero, window), MPI_ERR_BUFFER, "origin");
    FAILS(MPIX_Sparse_window_get(NULL, 1, p, &zero, window), MPI_ERR_BUFFER, "result");
  }
  OK(MPIX_Sparse_window_free(&window));
  MPI_Type_free(&gaps);
  /* the window's elements and the values are at one address */
  there = absolute(values, 3, MPI_INT);
  make(MPI_BOTTOM, 0, there);
  OK(MPIX_Sparse_window_put(MPI_BOTTOM, 0, next, &zero, window));
  OK(MPIX_Sparse_window_free(&window));
  MPI_Type_free(&there);
}

/* ---- an operator of window `other` is applied in the fence of `window`, and uses that */

static MPIX_Sparse_window other;
static int refusals, calls;

static void refused(int code) {
  int class;
  MPI_Error_class(code, &class);
  refusals += class == MPI_ERR_RMA_SYNC;
  calls++;
}

static void adds_and_uses(void *in, void *inout, int *count, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *count; i++) ((long *)inout)[i] += ((long *)in)[i];
  long value = 77, compare = 1003, got = -1;
  MPI_Aint three = 3;
  MPIX_Sparse_window same = window;
  for (int p = 0; p < test_size; p++) {
    refused(MPIX_Sparse_window_put(&value, 1, p, &three, window));
    refused(MPIX_Sparse_window_get(&got, 1, p, &three, window));
    refused(MPIX_Sparse_window_fetch_and_op(&value, &got, 1, p, &three, MPI_SUM, window));
    refused(MPIX_Sparse_window_compare_and_swap(&value, &compare, &got, 1, p, &three, window));
  }
  refused(MPIX_Sparse_window_flush(window));
  refused(MPIX_Sparse_window_fence(window));
  refused(MPIX_Sparse_window_free(&same));
  if (same != window) refusals = -1;
}

static void in_a_fence(void) {
  if (test_size < 2) return;
  long counter[1] = {0}, m[10], one = 1, got = -1;
  MPI_Aint zero = 0, three = 3;
  MPI_Op op;
  for (int i = 0; i < 10; i++) m[i] = 1000 * test_rank + i;
  OK(MPIX_Sparse_window_create(counter, 1, MPI_LONG, MPI_INFO_NULL, comm, &other));
  make(m, 10, MPI_LONG);
  MPI_Op_create(adds_and_uses, 1, &op);
  OK(MPIX_Sparse_window_add_operator(op, other));
  /* the short way knows the operator */
  OK(MPIX_Sparse_window_fetch_and_op(&one, &got, 1, test_rank, &zero, MPI_SUM, window));
  m[0]--;
  OK(MPIX_Sparse_window_fence(window));
  MPI_Barrier(comm);
  if (test_rank == 0)
    for (int p = 1; p < test_size; p++) {
      OK(MPIX_Sparse_window_accumulate(&one, 1, p, &zero, op, other));
      OK(MPIX_Sparse_window_flush(other));
    }
  /* process 0 is not here before the others have applied its operations */
  OK(MPIX_Sparse_window_fence(window));
  CHECK(calls == (test_rank > 0) * (4 * test_size + 3) && refusals == calls, "%d of %d calls were refused", refusals, calls);
  CHECK(m[3] == 1000 * test_rank + 3, "%ld", m[3]);
  /* the window goes on */
  for (int again = 0; again < 3; again++) {
    OK(MPIX_Sparse_window_get(&got, 1, test_size - 1 - test_rank, &three, window));
    OK(MPIX_Sparse_window_fence(window));
    CHECK(got == 1000 * (test_size - 1 - test_rank) + 3, "got %ld", got);
  }
  OK(MPIX_Sparse_window_free(&other));
  OK(MPIX_Sparse_window_free(&window));
  MPI_Op_free(&op);
}

/* ---- accumulations of one element are combined before they are sent, if the operator commutes */

typedef struct {
  _Alignas(64) double sum;
  int last;
} pair; /* has a gap at its end */

static int combined;

static void adds(void *in, void *inout, int *count, MPI_Datatype *type) {
  (void)type;
  pair *a = in, *b = inout;
  CHECK(((uintptr_t)in | (uintptr_t)inout) % 64 == 0, "%p, %p: not aligned", in, inout);
  for (int i = 0; i < *count; i++) b[i].sum += a[i].sum, b[i].last = a[i].last > b[i].last ? a[i].last : b[i].last;
  combined += *count;
}

/* twice the sum before, which MPI passes first, and the later one's number: the order counts */
static void doubles(void *in, void *inout, int *count, MPI_Datatype *type) {
  (void)type;
  pair *a = in, *b = inout;
  for (int i = 0; i < *count; i++) b[i].sum += 2 * a[i].sum;
  combined += *count;
}

static void aggregated(int commutes) {
  enum { N = 20, ELEMENTS = 3 };
  pair m[ELEMENTS], value;
  MPI_Datatype members, type;
  MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, offsetof(pair, last)}, (MPI_Datatype[]){MPI_DOUBLE, MPI_INT},
                         &members);
  MPI_Type_create_resized(members, 0, sizeof(pair), &type);
  MPI_Type_commit(&type);
  MPI_Op op;
  MPI_Info info = test_hint("mpix_window_aggregate", "true");
  for (int i = 0; i < ELEMENTS; i++) m[i].sum = 0, m[i].last = -1;
  OK(MPIX_Sparse_window_create(m, ELEMENTS, type, info, comm, &window));
  MPI_Op_create(commutes ? adds : doubles, commutes, &op);
  OK(MPIX_Sparse_window_add_operator(op, window));
  combined = 0;
  int next = (test_rank + 1) % test_size;
  for (int k = 0; k < N; k++)
    for (MPI_Aint i = 0; i < ELEMENTS; i++) {
      value.sum = k + 1, value.last = k;
      OK(MPIX_Sparse_window_accumulate(&value, 1, next, &i, op, window));
    }
  /* the caller has combined all but the first ones */
  int own = commutes && test_size > 1 ? ELEMENTS * (N - 1) : 0;
  CHECK(test_size == 1 || combined == own, "%d of %d combined by the caller", combined, own);
  OK(MPIX_Sparse_window_fence(window));
  double sum = 0;
  for (int k = 0; k < N; k++) sum = (commutes ? sum : 2 * sum) + k + 1;
  for (int i = 0; i < ELEMENTS; i++) CHECK(m[i].sum == sum && m[i].last == N - 1, "%d: %g and %d", i, m[i].sum, m[i].last);
  CHECK(combined == ELEMENTS * N, "%d combined", combined);
  OK(MPIX_Sparse_window_free(&window));
  MPI_Op_free(&op), MPI_Info_free(&info);
  MPI_Type_free(&type), MPI_Type_free(&members);
}

/* by an operator of MPI's that only MPI applies, to values at any address */
static void aggregated_by_mpi(void) {
  enum { N = 21, ELEMENTS = 3 };
  short m[ELEMENTS] = {0};
  MPI_Info info = test_hint("mpix_window_aggregate", "true");
  OK(MPIX_Sparse_window_create(m, ELEMENTS, MPI_SHORT, info, comm, &window));
  for (int k = 0; k < N; k++)
    for (MPI_Aint i = 0; i < ELEMENTS; i++) {
      short value = (short)(k + i);
      for (int p = 0; p < test_size; p++) OK(MPIX_Sparse_window_accumulate(&value, 1, p, &i, MPI_SUM, window));
    }
  OK(MPIX_Sparse_window_fence(window));
  for (int i = 0; i < ELEMENTS; i++) CHECK(m[i] == test_size * N * (10 + i), "%d: %d", i, m[i]);
  OK(MPIX_Sparse_window_free(&window));
  MPI_Info_free(&info);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  comm = test_duplicate();
  moves(0), moves(1), chains();
  no_op();
  null();
  in_a_fence();
  aggregated(1), aggregated(0), aggregated_by_mpi();
  MPI_Comm_free(&comm);
  return test_finish();
}
