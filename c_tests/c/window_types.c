/* Sparse windows whose elements are no plain numbers. */
#include "test.h"

static MPIX_Sparse_window create(void *base, int count, MPI_Datatype type, MPI_Comm comm) {
  MPIX_Sparse_window window = NULL;
  OK(MPIX_Sparse_window_create(base, count, type, MPI_INFO_NULL, comm, &window));
  return window;
}

/* elements with gaps between and inside them, put and summed; gaps stay as they are */
static void elements_with_gaps(MPI_Comm comm) {
  int me, size;
  MPI_Comm_rank(comm, &me), MPI_Comm_size(comm, &size);
  MPI_Datatype two, spread;
  MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &two);
  MPI_Type_create_resized(two, 0, 4 * sizeof(double), &spread), MPI_Type_commit(&spread), MPI_Type_free(&two);
  double(*mine)[4] = malloc((size_t)size * sizeof *mine);
  for (int i = 0; i < size; i++)
    for (int j = 0; j < 4; j++) mine[i][j] = -1;
  MPIX_Sparse_window window = create(mine, size, spread, comm);
  double values[2][4] = {{me, 77, me + 0.5, 78}, {1, 79, 2, 80}}, back[4] = {5, 5, 5, 5};
  for (int p = 0; p < size; p++) {
    MPI_Aint at = me;
    OK(MPIX_Sparse_window_put(values[0], 1, p, &at, window));
    OK(MPIX_Sparse_window_accumulate(values[1], 1, p, &at, MPI_SUM, window));
  }
  MPI_Aint at = me;
  OK(MPIX_Sparse_window_get(back, 1, size - 1, &at, window));
  OK(MPIX_Sparse_window_fence(window));
  for (int i = 0; i < size; i++)
    CHECK(mine[i][0] == i + 1 && mine[i][1] == -1 && mine[i][2] == i + 2.5 && mine[i][3] == -1, "element %d: %g %g %g %g", i, mine[i][0], mine[i][1], mine[i][2], mine[i][3]);
  CHECK(back[0] == me + 1 && back[1] == 5 && back[2] == me + 2.5 && back[3] == 5, "got %g %g %g %g", back[0], back[1], back[2], back[3]);
  OK(MPIX_Sparse_window_free(&window));
  MPI_Type_free(&spread);
  free(mine);
}

/* a pair with a hole, as MPI_MAXLOC takes it */
static void largest_of_pairs(MPI_Comm comm) {
  struct { double value; int process; } mine[2] = {{-1, -1}, {-1, -1}}, value = {test_rank * 7 % 5, test_rank};
  int me, size, best = 0;
  MPI_Comm_rank(comm, &me), MPI_Comm_size(comm, &size);
  value.value = me * 7 % 5, value.process = me;
  MPIX_Sparse_window window = create(mine, 2, MPI_DOUBLE_INT, comm);
  MPI_Aint at = 1;
  for (int p = 0; p < size; p++) OK(MPIX_Sparse_window_accumulate(&value, 1, p, &at, MPI_MAXLOC, window));
  OK(MPIX_Sparse_window_fence(window));
  for (int p = 1; p < size; p++)
    if (p * 7 % 5 > best * 7 % 5) best = p;
  CHECK(mine[1].process == best && mine[1].value == best * 7 % 5 && mine[0].process == -1, "%g of %d", mine[1].value, mine[1].process);
  OK(MPIX_Sparse_window_free(&window));
}

/* elements that are longer than a batch */
static void long_elements(MPI_Comm comm) {
  enum { LONG = 30000 };
  int me, size;
  MPI_Comm_rank(comm, &me), MPI_Comm_size(comm, &size);
  MPI_Datatype type;
  MPI_Type_contiguous(LONG, MPI_INT, &type), MPI_Type_commit(&type);
  int *mine = calloc(2 * LONG, sizeof(int)), *value = malloc(LONG * sizeof(int)), *back = calloc(LONG, sizeof(int));
  for (int i = 0; i < LONG; i++) value[i] = i * (me + 1);
  MPIX_Sparse_window window = create(mine, 2, type, comm);
  MPI_Aint at = 1;
  OK(MPIX_Sparse_window_accumulate(value, 1, (me + 1) % size, &at, MPI_SUM, window));
  OK(MPIX_Sparse_window_accumulate(value, 1, (me + 1) % size, &at, MPI_SUM, window));
  OK(MPIX_Sparse_window_get(back, 1, (me + 1) % size, &at, window));
  OK(MPIX_Sparse_window_fence(window));
  int from = (me + size - 1) % size, wrong = 0;
  for (int i = 0; i < LONG; i++) wrong += mine[i] != 0 || mine[LONG + i] != 2 * i * (from + 1) || back[i] != 2 * value[i];
  CHECK(wrong == 0, "%d of %d are wrong", wrong, LONG);
  OK(MPIX_Sparse_window_free(&window));
  MPI_Type_free(&type);
  free(mine), free(value), free(back);
}

/* words of two numbers each, which a predefined operator combines one by one */
static void pairs_of_numbers(MPI_Comm comm) {
  enum { PAIRS = 12 };
  int me, size, mine[PAIRS][2], value[3][2], back[2][2] = {{-1, -1}, {-1, -1}};
  MPI_Comm_rank(comm, &me), MPI_Comm_size(comm, &size);
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair), MPI_Type_commit(&pair);
  for (int i = 0; i < PAIRS; i++) mine[i][0] = i, mine[i][1] = -i;
  MPIX_Sparse_window window = create(mine, PAIRS, pair, comm);
  MPI_Type_free(&pair);
  for (int k = 0; k < 3; k++) value[k][0] = 100 * (k + 1), value[k][1] = me + 1;
  MPI_Aint scattered[3] = {5, 2, 9}, spaced[4] = {1, 4, 7, 10};
  int four[4][2] = {{1, 1}, {2, 2}, {3, 3}, {4, 4}}, other = (me + 1) % size;
  OK(MPIX_Sparse_window_accumulate(value, 3, other, scattered, MPI_SUM, window));
  OK(MPIX_Sparse_window_accumulate(four, 4, other, spaced, MPI_SUM, window));
  OK(MPIX_Sparse_window_fetch_and_op(value, back, 2, other, scattered, MPI_SUM, window));
  OK(MPIX_Sparse_window_fence(window));
  int from = (me + size - 1) % size;
  for (int i = 0; i < PAIRS; i++) {
    int a = i, b = -i;
    for (int k = 0; k < 4; k++)
      if (i == spaced[k]) a += k + 1, b += k + 1;
    for (int k = 0; k < 3; k++)
      if (i == scattered[k]) a += (k < 2 ? 200 : 100) * (k + 1), b += (k < 2 ? 2 : 1) * (from + 1);
    CHECK(mine[i][0] == a && mine[i][1] == b, "pair %d: (%d, %d), not (%d, %d)", i, mine[i][0], mine[i][1], a, b);
  }
  for (int k = 0; k < 2; k++) {
    int a = (int)scattered[k] + 100 * (k + 1), b = me + 1 - (int)scattered[k];
    CHECK(back[k][0] == a && back[k][1] == b, "fetched (%d, %d), not (%d, %d)", back[k][0], back[k][1], a, b);
  }
  OK(MPIX_Sparse_window_free(&window));
}

/* elements without data: more batches of gets than there are buffers for what they return */
static void nothing(MPI_Comm comm) {
  int me, size, mine = 0, back = 7;
  MPI_Comm_rank(comm, &me), MPI_Comm_size(comm, &size);
  MPI_Datatype empty;
  MPI_Type_contiguous(0, MPI_INT, &empty), MPI_Type_commit(&empty);
  MPIX_Sparse_window window = create(&mine, 1, empty, comm);
  MPI_Type_free(&empty);
  for (int k = 0; k < 300; k++) {
    MPI_Aint at = 0;
    OK(MPIX_Sparse_window_get(&back, 1, (me + 1) % size, &at, window));
    OK(MPIX_Sparse_window_flush(window));
  }
  CHECK(back == 7, "%d", back);
  OK(MPIX_Sparse_window_free(&window));
}

/* a complex number of C on some processes, and of Fortran or C++ on others */
static void complex_numbers(MPI_Comm comm) {
#if defined MPI_COMPLEX16 && defined MPI_CXX_DOUBLE_COMPLEX
  MPI_Datatype types[] = {MPI_C_DOUBLE_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX16, MPI_CXX_DOUBLE_COMPLEX};
  int me, size, in = 0;
  MPI_Comm_rank(comm, &me), MPI_Comm_size(comm, &size);
  MPI_Type_size(types[me % 4], &in);
  CHECK(in == 16, "%d bytes", in);
  double sum[2] = {0, 0}, mine[2] = {1, me};
  MPI_Aint at = 0;
  MPIX_Sparse_window window = create(sum, 1, types[me % 4], comm);
  OK(MPIX_Sparse_window_put(mine, 1, (me + 1) % size, &at, window));
  OK(MPIX_Sparse_window_fence(window));
  CHECK(sum[0] == 1 && sum[1] == (me + size - 1) % size, "%g, %g", sum[0], sum[1]);
  OK(MPIX_Sparse_window_free(&window));
#endif
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  MPI_Comm comm = MPI_COMM_WORLD;
  elements_with_gaps(comm);
  largest_of_pairs(comm);
  long_elements(comm);
  pairs_of_numbers(comm);
  nothing(comm);
  complex_numbers(comm);
  return test_finish();
}
