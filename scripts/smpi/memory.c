/* The simulator's memory. Preloaded by scripts/simulate.

   Nodes of SimGrid's lists lie side by side. SimGrid 3.32 keeps all messages that have left without
   their receiver in one list, and searches all of it, whatever it has found, whenever one of them
   ends: with 1,024 processes of 26 messages each, 26,624 nodes for each of as many messages. Nodes
   that lie in the order of the list in little memory are searched several times faster than those
   of malloc. So C++'s new and delete take pieces of 24 bytes, a node's, from an array, the first
   free one each time.

   What the library allocates is counted, for all simulated processes together. */
#define _GNU_SOURCE
#include <link.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- nodes */

enum { NODE = 24, WORDS = 1 << 20 };
static const size_t nodes = (size_t)WORDS * 64;

/* a bit for each node that is in use; none before `lowest` has a free one */
static uint64_t used[WORDS];
static size_t lowest, in_use;
static char *memory;

/* number of pieces of a node's size that are in use */
size_t simulator_nodes(void) { return in_use; }

/* new(size_t) */
void *_Znwm(size_t bytes) {
  if (!memory) {
    memory = mmap(NULL, nodes * NODE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) abort();
    madvise(memory, nodes * NODE, MADV_HUGEPAGE);
  }
  if (bytes == NODE) {
    while (lowest < WORDS && used[lowest] == UINT64_MAX) lowest++;
    if (lowest < WORDS) {
      int bit = __builtin_ctzll(~used[lowest]);
      used[lowest] |= UINT64_C(1) << bit;
      in_use++;
      return memory + (lowest * 64 + (size_t)bit) * NODE;
    }
  }
  void *p = malloc(bytes ? bytes : 1);
  if (!p) abort();
  return p;
}

/* delete(void *) */
void _ZdlPv(void *p) {
  size_t at = ((uintptr_t)p - (uintptr_t)memory) / NODE;
  if (!memory || (uintptr_t)p < (uintptr_t)memory || at >= nodes) {
    free(p);
    return;
  }
  used[at / 64] &= ~(UINT64_C(1) << at % 64);
  in_use--;
  if (at / 64 < lowest) lowest = at / 64;
}

/* delete(void *, size_t) */
void _ZdlPvm(void *p, size_t bytes) {
  (void)bytes;
  _ZdlPv(p);
}

/* ---- the library's memory */

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

/* the library's code, and its bytes: now, and at most since they were asked for */
static uintptr_t from, to;
static size_t now, most;

static int find(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size, (void)unused;
  if (!strstr(info->dlpi_name, "libmpix_neighbor")) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X)
      from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, to = from + info->dlpi_phdr[i].p_memsz;
  return 1;
}

/* Bytes that the library has, and had at most since the last call; the first begins to count. */
void simulator_memory(size_t *current, size_t *largest) {
  if (!to) dl_iterate_phdr(find, NULL);
  *current = now, *largest = most;
  most = now;
}

static int is_ours(const void *caller) { return (uintptr_t)caller >= from && (uintptr_t)caller < to; }

static void *given(void *p, const void *caller) {
  if (p && is_ours(caller)) {
    now += malloc_usable_size(p);
    if (now > most) most = now;
  }
  return p;
}

static void taken(void *p, const void *caller) {
  size_t bytes = p && is_ours(caller) ? malloc_usable_size(p) : 0;
  /* what it had before counting began */
  now -= bytes < now ? bytes : now;
}

#define CALLER __builtin_return_address(0)
void *malloc(size_t bytes) { return given(__libc_malloc(bytes), CALLER); }
void *calloc(size_t count, size_t bytes) { return given(__libc_calloc(count, bytes), CALLER); }
void *memalign(size_t unit, size_t bytes) { return given(__libc_memalign(unit, bytes), CALLER); }
void *aligned_alloc(size_t unit, size_t bytes) { return given(__libc_memalign(unit, bytes), CALLER); }

int posix_memalign(void **p, size_t unit, size_t bytes) {
  void *made = given(__libc_memalign(unit, bytes), CALLER);
  if (!made) return 12; /* ENOMEM */
  *p = made;
  return 0;
}

void *realloc(void *p, size_t bytes) {
  size_t old = p && is_ours(CALLER) ? malloc_usable_size(p) : 0;
  void *moved = __libc_realloc(p, bytes);
  if (moved || !bytes) now -= old < now ? old : now;
  return given(moved, CALLER);
}

void free(void *p) {
  taken(p, CALLER);
  __libc_free(p);
}
