/* Messages of 1 KiB and more within a node, of each length as many in a row as are written in one
   way and then in the other: by ordinary stores and by streaming ones, whole or in chunks, from
   contiguous blocks and from blocks with gaps, at any alignment, copied out or combined. And two
   lengths at the same time, often enough for later trials. So are batches of a sparse window, and
   the elements that these return. And a message that no cache could keep, which is stored past
   them where it is received. */
#include "test.h"

enum { CALLS = 12, GAP = 3 };

static int me, n, left, right;

static unsigned char value(int from, int call, size_t i) { return (unsigned char)(29 * from + 7 * call + (int)(i % 251) + (int)(i / 251)); }

static MPI_Comm ring(void) {
  int sources[] = {left, left, left}, targets[] = {right, right, right};
  MPI_Comm comm = test_duplicate();
  OK(MPIX_Neighborhood_set(ALL_OPERATIONS, 3, sources, MPI_UNWEIGHTED, 3, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
  return comm;
}

/* three blocks for a process: contiguous, shorter and unaligned, and with gaps */
static void blocks(size_t bytes, size_t begin, MPI_Comm comm) {
  int words = (int)(bytes / 8), counts[3] = {(int)bytes, (int)(bytes / 3) + 1, 1};
  size_t room = 2 * bytes + 8 * (size_t)GAP * (size_t)words + 200, skip = begin + bytes + bytes / 3 + 5;
  MPI_Aint at[3] = {(MPI_Aint)begin, (MPI_Aint)(begin + bytes + 3), (MPI_Aint)skip};
  MPI_Datatype vector, types[3] = {MPI_BYTE, MPI_BYTE, MPI_BYTE};
  MPI_Type_vector(words, 8, 8 * GAP, MPI_BYTE, &vector);
  MPI_Type_commit(&vector);
  types[2] = vector;
  unsigned char *send = malloc(room), *have = malloc(room);
  MPIX_Request plan;
  OK(MPIX_Neighbor_alltoallw_plan(send, counts, at, types, have, counts, at, types, comm, MPI_INFO_NULL, &plan));
  for (int call = 0; call < 2 * CALLS; call++) {
    for (size_t i = 0; i < room; i++) send[i] = value(me, call, i);
    memset(have, 0, room);
    if (call % 2) {
      OK(MPIX_Request_start(&plan));
      OK(MPIX_Request_wait(&plan));
    } else {
      OK(MPIX_Neighbor_alltoallw(send, counts, at, types, have, counts, at, types, comm));
    }
    size_t bad = 0;
    for (size_t i = 0; i < room; i++) {
      int first = i >= begin && i < begin + bytes, second = i >= (size_t)at[1] && i < (size_t)at[1] + (size_t)counts[1];
      size_t in = i - skip;
      int third = i >= skip && in < 8 * (size_t)GAP * (size_t)words && in % (8 * GAP) < 8;
      bad += have[i] != (first || second || third ? value(left, call, i) : 0);
    }
    CHECK(bad == 0, "%zu bytes from %zu, call %d: %zu bytes are wrong", bytes, begin, call, bad);
  }
  OK(MPIX_Request_free(&plan));
  MPI_Type_free(&vector);
  free(send), free(have);
}

/* the same block to all, and a sum of what all send */
static void combined(size_t bytes, MPI_Comm comm) {
  int count = (int)(bytes / sizeof(long));
  long *send = malloc(3 * bytes), *have = malloc(3 * bytes);
  for (int call = 0; call < CALLS; call++) {
    size_t bad = 0;
    for (int i = 0; i < 3 * count; i++) send[i] = 1000 * me + call + i;
    memset(have, -1, 3 * bytes);
    OK(MPIX_Neighbor_gather(send, count, MPI_LONG, have, count, MPI_LONG, comm));
    for (int i = 0; i < 3 * count; i++) bad += have[i] != 1000 * left + call + i % count;
    CHECK(bad == 0, "gather, %zu bytes, call %d: %zu elements are wrong", bytes, call, bad);
    memset(have, -1, 3 * bytes);
    OK(MPIX_Neighbor_reduce(send, count, MPI_LONG, have, count, MPI_LONG, MPI_SUM, comm));
    bad = 0;
    for (int i = 0; i < count; i++) bad += have[i] != 3 * (1000 * left + call + i);
    CHECK(bad == 0, "reduce, %zu bytes, call %d: %zu elements are wrong", bytes, call, bad);
    for (int i = 0; i < 3 * count; i++) have[i] = i;
    OK(MPIX_Neighbor_accumulate(send, count, MPI_LONG, have, count, MPI_LONG, MPI_SUM, comm));
    bad = 0;
    for (int i = 0; i < 3 * count; i++) bad += have[i] != i + 1000 * left + call + i;
    CHECK(bad == 0, "accumulate, %zu bytes, call %d: %zu elements are wrong", bytes, call, bad);
  }
  free(send), free(have);
}

/* bytes of the largest cache of a core; 0 where the system does not say */
static size_t largest_cache(void) {
  FILE *f = fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "r");
  unsigned long kib = 0;
  if (f && fscanf(f, "%luK", &kib) != 1) kib = 0;
  if (f) fclose(f);
  return kib << 10;
}

/* a contiguous and unaligned block of half a cache and more, another one, and one with gaps */
static void beyond_caches(MPI_Comm comm) {
  enum { MOST = 40 << 20, SHORT = 1001, WORDS = 3000 };
  size_t bytes = largest_cache() / 2 + 12345;
  MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_UNSIGNED_LONG, MPI_MAX, MPI_COMM_WORLD);
  if (bytes > MOST || bytes == 12345) {
    if (me == 0) printf("skipped a message of half a cache: %zu bytes\n", bytes);
    bytes = 3 << 20;
  }
  int counts[3] = {(int)bytes, SHORT, 1};
  size_t skip = bytes + SHORT + 20, room = skip + 8 * (size_t)GAP * WORDS;
  MPI_Aint at[3] = {3, (MPI_Aint)bytes + 7, (MPI_Aint)skip};
  MPI_Datatype vector, types[3] = {MPI_BYTE, MPI_BYTE, MPI_BYTE};
  MPI_Type_vector(WORDS, 8, 8 * GAP, MPI_BYTE, &vector);
  MPI_Type_commit(&vector);
  types[2] = vector;
  unsigned char *send = malloc(room), *have = malloc(room), *expected = malloc(room);
  for (int call = 0; call < 3; call++) {
    for (size_t i = 0; i < room; i++) send[i] = value(me, call, i);
    memset(have, 0, room), memset(expected, 0, room);
    OK(MPIX_Neighbor_alltoallw(send, counts, at, types, have, counts, at, types, comm));
    for (size_t i = 0; i < bytes; i++) expected[3 + i] = value(left, call, 3 + i);
    for (size_t i = 0; i < SHORT; i++) expected[bytes + 7 + i] = value(left, call, bytes + 7 + i);
    for (size_t i = 0; i < 8 * WORDS; i++) {
      size_t place = skip + i / 8 * 8 * GAP + i % 8;
      expected[place] = value(left, call, place);
    }
    CHECK(!memcmp(have, expected, room), "%zu bytes, call %d", bytes, call);
  }
  MPI_Type_free(&vector);
  free(send), free(have), free(expected);
}

/* two plans of different lengths, under way together */
static void together(MPI_Comm comm) {
  enum { SHORT = 3000, LONG = 50000, MANY = 300 };
  static unsigned char send[2][3 * LONG], have[2][3 * LONG];
  static const int lengths[] = {SHORT, LONG};
  MPIX_Request plans[2];
  for (int k = 0; k < 2; k++)
    OK(MPIX_Neighbor_alltoall_plan(send[k], lengths[k], MPI_BYTE, have[k], lengths[k], MPI_BYTE, comm, MPI_INFO_NULL, &plans[k]));
  for (int call = 0; call < MANY; call++) {
    int bad = 0;
    for (int k = 0; k < 2; k++) {
      memset(send[k], 3 * me + 5 * k + call, sizeof send[k]), memset(have[k], -1, sizeof have[k]);
      OK(MPIX_Request_start(&plans[k]));
    }
    for (int k = 0; k < 2; k++) {
      OK(MPIX_Request_wait(&plans[k]));
      for (int i = 0; i < 3 * lengths[k]; i++) bad += have[k][i] != (unsigned char)(3 * left + 5 * k + call);
    }
    CHECK(bad == 0, "call %d: %d bytes are wrong", call, bad);
  }
  for (int k = 0; k < 2; k++) OK(MPIX_Request_free(&plans[k]));
}

/* batches with arrays and with single elements, each read again in the same epoch */
static void batches(void) {
  enum { PART = 6000, EPOCHS = 40 };
  static long table[2 * PART], values[PART], got[2 * PART];
  static MPI_Aint indices[2 * PART];
  MPIX_Sparse_window window;
  for (int i = 0; i < 2 * PART; i++) indices[i] = i;
  OK(MPIX_Sparse_window_create(table, 2 * PART, MPI_LONG, MPI_INFO_NULL, MPI_COMM_WORLD, &window));
  for (long epoch = 1; epoch <= EPOCHS; epoch++) {
    int bad = 0;
    for (int i = 0; i < PART; i++) values[i] = 1000 * me + epoch + i;
    OK(MPIX_Sparse_window_put(values, PART, right, indices, window));
    for (int i = 0; i < PART; i++)
      OK(MPIX_Sparse_window_accumulate(&values[i], 1, right, &indices[PART + (7 * i) % PART], MPI_SUM, window));
    OK(MPIX_Sparse_window_get(got, 2 * PART, right, indices, window));
    OK(MPIX_Sparse_window_fence(window));
    for (int i = 0; i < PART; i++) {
      int at = PART + (7 * i) % PART;
      long first = 1000 * left + epoch + i, sum = epoch * (1000 * left + i) + epoch * (epoch + 1) / 2;
      bad += table[i] != first || table[at] != sum;
      bad += got[i] != values[i] || got[at] != epoch * (1000 * me + i) + epoch * (epoch + 1) / 2;
    }
    CHECK(bad == 0, "epoch %ld: %d elements are wrong", epoch, bad);
  }
  OK(MPIX_Sparse_window_free(&window));
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  me = test_rank, n = test_size, left = (me + n - 1) % n, right = (me + 1) % n;
  MPI_Comm comm = ring();
  static const size_t lengths[] = {700, 2048, 4000, 4096, 9000, 70000, 300000};
  for (int k = 0; k < (int)(sizeof lengths / sizeof *lengths); k++) {
    blocks(lengths[k], 0, comm);
    blocks(lengths[k] + 13, 1 + (size_t)k, comm);
    combined(lengths[k], comm);
  }
  together(comm);
  beyond_caches(comm);
  batches();
  MPI_Comm_free(&comm);
  return test_finish();
}
