/* MPIX_Sparse_exchange by each protocol: every message arrives once, whole, in order, and nothing else does. Every process can compute what every
   other one sends, so that what must arrive is known without communication. */
#include "test.h"

static const char *protocols[] = {"auto", "nbx", "nbx_probe", "nbx_node", "pex", "pcx", "pcx_library", "rsx", "crystal"};
enum { PROTOCOLS = sizeof protocols / sizeof *protocols };

/* what process `s` sends in a round */
typedef struct {
  int n, *targets, *counts, *displs, total;
} list;

/* lengths in ints: many short ones, none, and a few that cross the limits of slots and heads */
static int length_of(uint64_t h) {
  static const int lengths[] = {0, 1, 2, 3, 17, 100, 255, 1023, 1024, 1025, 2046, 2048, 5000, 40000};
  return lengths[h % (h & 64 ? 14 : 8)];
}

static list list_of(int s, int round, int size) {
  uint64_t seed = mix3(round, s, size);
  int n = seed % 7 == 0 ? 0 : (int)(mix(seed) % 8);
  list l = {n, malloc(sizeof(int) * 8), malloc(sizeof(int) * 8), malloc(sizeof(int) * 8), 0};
  for (int i = 0; i < n; i++) {
    uint64_t h = mix2(seed, i);
    l.targets[i] = h % 13 == 0 ? MPI_PROC_NULL : i > 0 && h % 5 == 0 ? l.targets[i - 1] : (int)((h >> 8) % (uint64_t)size);
    l.counts[i] = length_of(h >> 16);
    l.displs[i] = l.total;
    l.total += l.counts[i];
  }
  return l;
}

static void list_free(list *l) {
  free(l->targets);
  free(l->counts);
  free(l->displs);
}

static int *contents(int s, int round, const list *l) {
  int *data = malloc(sizeof(int) * (size_t)(l->total + 1));
  for (int i = 0; i < l->n; i++)
    for (int k = 0; k < l->counts[i]; k++) data[l->displs[i] + k] = test_value(s * 1000 + round, i, k);
  return data;
}

/* compares a result with what must have come */
static void check_result(const char *what, int round, MPIX_Sparse_result result, int me, int size) {
  int n, at = 0;
  MPI_Count elements, expected = 0;
  OK(MPIX_Sparse_get_count(result, &n, &elements));
  for (int s = 0; s < size; s++) {
    list l = list_of(s, round, size);
    for (int i = 0; i < l.n; i++) {
      if (l.targets[i] != me) continue;
      expected += l.counts[i];
      CHECK(at < n, "%s, round %d: message %d of process %d is missing", what, round, i, s);
      if (at >= n) continue;
      int source;
      MPI_Count count;
      void *data;
      OK(MPIX_Sparse_get_message(result, at++, &source, &count, &data));
      CHECK(source == s && count == l.counts[i], "%s, round %d: %lld ints from %d, not %d from %d", what, round, (long long)count, source, l.counts[i], s);
      int bad = -1;
      if (source == s && count == l.counts[i])
        for (int k = 0; k < count && bad < 0; k++)
          if (((int *)data)[k] != test_value(s * 1000 + round, i, k)) bad = k;
      CHECK(bad < 0, "%s, round %d: int %d of message %d of process %d", what, round, bad, i, s);
    }
    list_free(&l);
  }
  CHECK(at == n, "%s, round %d: %d messages, not %d", what, round, n, at);
  CHECK(elements == expected, "%s, round %d: %lld ints, not %lld", what, round, (long long)elements, (long long)expected);
}

static MPI_Info hint(const char *key, const char *value) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, key, value);
  return info;
}

static void rounds(MPI_Comm comm, const char *protocol, int first, int last) {
  int me, size;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &size);
  MPI_Info info = hint("mpix_sparse", protocol);
  for (int r = first; r < last; r++) {
    list l = list_of(me, r, size);
    int *data = contents(me, r, &l);
    MPIX_Sparse_result result = NULL;
    OK(MPIX_Sparse_exchange(l.n, l.targets, data, l.counts, l.displs, MPI_INT, MPI_INT, info, comm, &result));
    if (result) check_result(protocol, r, result, me, size);
    OK(MPIX_Sparse_free(&result));
    CHECK(result == NULL, "the handle of a freed result is NULL");
    free(data);
    list_free(&l);
  }
  MPI_Info_free(&info);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  for (int p = 0; p < PROTOCOLS; p++) rounds(MPI_COMM_WORLD, protocols[p], 0, 40);
  return test_finish();
}
