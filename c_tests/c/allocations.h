/* Counts allocations while `counting` is set: all, and those of the library, which their return
   address tells. For programs of a single file, compiled with _GNU_SOURCE. */
#ifndef ALLOCATIONS_H
#define ALLOCATIONS_H

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

typedef struct {
  long calls, bytes;
} allocations;

static int counting;
static allocations by_us, by_all;

static void count(void *caller, size_t bytes) {
  if (!counting) return;
  by_all.calls++, by_all.bytes += (long)bytes;
  /* dladdr must not count itself */
  counting = 0;
  Dl_info where;
  if (dladdr(caller, &where) && where.dli_fname && strstr(where.dli_fname, "mpix_neighbor")) by_us.calls++, by_us.bytes += (long)bytes;
  counting = 1;
}

void *malloc(size_t size) {
  count(__builtin_return_address(0), size);
  return __libc_malloc(size);
}
void *calloc(size_t members, size_t size) {
  count(__builtin_return_address(0), members * size);
  return __libc_calloc(members, size);
}
void *realloc(void *old, size_t size) {
  count(__builtin_return_address(0), size);
  return __libc_realloc(old, size);
}
int posix_memalign(void **result, size_t alignment, size_t size) {
  count(__builtin_return_address(0), size);
  *result = __libc_memalign(alignment, size);
  return *result ? 0 : 12;
}

#endif
