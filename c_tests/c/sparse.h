/* Helpers of the programs on sparse exchanges: patterns whose lists every process can compute for
   every other one, so that what must arrive is known without communication. Contents name sender,
   message, round and place. */
#ifndef SPARSE_H
#define SPARSE_H

#include "test.h"

static const char *const protocols[] = {"auto", "nbx", "nbx_probe", "nbx_node", "pex", "pcx", "pcx_library", "rsx", "crystal", "inbox"};
enum { PROTOCOLS = sizeof protocols / sizeof *protocols };

/* the messages of one process in one exchange; lengths in bytes */
typedef struct {
  int n, room, total, *targets, *lengths, *displs;
} list;

static inline void add(list *l, int target, int bytes) {
  if (l->n == l->room) {
    l->room = l->room ? 2 * l->room : 16;
    l->targets = realloc(l->targets, sizeof(int) * l->room);
    l->lengths = realloc(l->lengths, sizeof(int) * l->room);
    l->displs = realloc(l->displs, sizeof(int) * l->room);
  }
  l->targets[l->n] = target;
  l->lengths[l->n] = bytes;
  l->displs[l->n++] = l->total;
  l->total += bytes;
}

static inline void list_free(list *l) {
  free(l->targets), free(l->lengths), free(l->displs);
  *l = (list){0};
}

typedef struct {
  const char *name;
  /* adds what process `s` of `size` sends in a round */
  void (*of)(list *l, int s, int round, int size);
  /* all bytes are zero */
  int blank;
} pattern;

static inline list list_of(const pattern *p, int s, int round, int size) {
  list l = {0};
  p->of(&l, s, round, size);
  return l;
}

/* the bytes of message `i` of process `s` */
static inline void fill(char *at, int bytes, int s, int i, int round, int blank) {
  uint32_t value = (uint32_t)mix3(s, i, round);
  if (blank) {
    memset(at, 0, bytes);
    return;
  }
  for (int k = 0; k + 4 <= bytes; k += 4, value += 2654435761u) memcpy(at + k, &value, 4);
  memcpy(at + bytes / 4 * 4, &value, bytes % 4);
}

static inline char *contents(const pattern *p, const list *l, int s, int round) {
  char *data = malloc(l->total + 1);
  for (int i = 0; i < l->n; i++) fill(data + l->displs[i], l->lengths[i], s, i, round, p->blank);
  return data;
}

static inline void check_bytes(const char *what, int round, const void *have, int bytes, int s, int i, int blank) {
  char *want = malloc(bytes + 1);
  fill(want, bytes, s, i, round, blank);
  int bad = bytes && memcmp(have, want, bytes) != 0;
  CHECK(!bad, "%s, round %d: the %d bytes of message %d of process %d", what, round, bytes, i, s);
  free(want);
}

/* compares a result of bytes with what must have come to process `me` */
static inline void check_result(const char *what, const pattern *p, int round, MPIX_Sparse_result result, int me, int size) {
  int n = -1, at = 0;
  MPI_Count bytes = -1, expected = 0;
  OK(MPIX_Sparse_get_count(result, &n, &bytes));
  for (int s = 0; s < size; s++) {
    list l = list_of(p, s, round, size);
    for (int i = 0; i < l.n; i++) {
      if (l.targets[i] != me) continue;
      expected += l.lengths[i];
      CHECK(at < n, "%s, %s, round %d: message %d of process %d is missing", what, p->name, round, i, s);
      if (at >= n) continue;
      int source = -1;
      MPI_Count count = -1;
      void *data = NULL;
      OK(MPIX_Sparse_get_message(result, at++, &source, &count, &data));
      int right = source == s && count == l.lengths[i];
      CHECK(right, "%s, %s, round %d: %lld bytes from %d, not %d from %d", what, p->name, round, (long long)count, source, l.lengths[i], s);
      CHECK((uintptr_t)data % 16 == 0, "%s, %s: data at %p is not aligned", what, p->name, data);
      if (right) check_bytes(what, round, data, l.lengths[i], s, i, p->blank);
    }
    list_free(&l);
  }
  CHECK(at == n, "%s, %s, round %d: %d messages, not %d", what, p->name, round, n, at);
  CHECK(bytes == expected, "%s, %s, round %d: %lld bytes, not %lld", what, p->name, round, (long long)bytes, (long long)expected);
}

/* one exchange of a pattern */
static inline void exchange(const char *what, const pattern *p, int round, MPI_Info info, MPI_Comm comm) {
  int me, size;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &size);
  list l = list_of(p, me, round, size);
  char *data = contents(p, &l, me, round);
  MPIX_Sparse_result result = NULL;
  OK(MPIX_Sparse_exchange(l.n, l.targets, data, l.lengths, l.displs, MPI_BYTE, MPI_BYTE, info, comm, &result));
  CHECK(result != NULL, "%s, %s, round %d: no result", what, p->name, round);
  if (result) check_result(what, p, round, result, me, size);
  OK(MPIX_Sparse_free(&result));
  CHECK(result == NULL, "the handle of a freed result is not NULL");
  free(data);
  list_free(&l);
}

/* short messages with repeated targets, the process itself, MPI_PROC_NULL, no bytes, and none at
   all */
static inline void few_short(list *l, int s, int round, int size) {
  uint64_t seed = mix3(round, s, size);
  int n = seed % 7 == 0 ? 0 : (int)(mix(seed) % 6);
  for (int i = 0; i < n; i++) {
    uint64_t h = mix2(seed, i);
    int target = h % 13 == 0 ? MPI_PROC_NULL : i > 0 && h % 5 == 0 ? l->targets[i - 1] : (int)((h >> 8) % (uint64_t)size);
    add(l, target, h >> 16 & 3 ? (int)((h >> 20) % 64) : 0);
  }
}
static const pattern FEW_SHORT = {"few short", few_short, 0};

/* as few_short, with lengths around the limits of cells (4096 bytes), of the router's heads (8192
   with prefix and labels), of inboxes (32768) and of MPI's eager messages */
static inline void mixed_lengths(list *l, int s, int round, int size) {
  static const int lengths[] = {0, 1, 4, 17, 400, 4088, 4095, 4096, 4097, 4100, 8143, 8144, 8145, 8152, 8160, 8161, 8168, 8176, 8192, 8193, 16384, 32768, 32769, 65536, 65537, 160000};
  uint64_t seed = mix3(round, s, size);
  int n = seed % 7 == 0 ? 0 : (int)(mix(seed) % 8);
  for (int i = 0; i < n; i++) {
    uint64_t h = mix2(seed, i);
    int target = h % 13 == 0 ? MPI_PROC_NULL : i > 0 && h % 5 == 0 ? l->targets[i - 1] : (int)((h >> 8) % (uint64_t)size);
    add(l, target, lengths[(h >> 20) % (h & 64 ? 26 : 5)]);
  }
}
static const pattern MIXED_LENGTHS = {"mixed lengths", mixed_lengths, 0};

/* ranks beyond the cores of a test machine are slow where the MPI library spins */
static inline int fewer(int n) { return test_size <= 2 ? n : test_size <= 4 ? (n + 1) / 2 : (n + 3) / 4; }

#endif
