/* Memory that runs out: from some size on, malloc has none. */
#ifndef SCARCE_H
#define SCARCE_H
#include <stddef.h>

extern void *__libc_malloc(size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_calloc(size_t, size_t);

/* from which size on there is no memory (0: there is all), and how often there was none */
static size_t scarce;
static int refused_memory;

static int refuse_memory(size_t size) { return scarce > 0 && size >= scarce && ++refused_memory; }
void *malloc(size_t size) { return refuse_memory(size) ? NULL : __libc_malloc(size); }
void *realloc(void *at, size_t size) { return refuse_memory(size) ? NULL : __libc_realloc(at, size); }
void *calloc(size_t n, size_t size) { return refuse_memory(n * size) ? NULL : __libc_calloc(n, size); }
#endif
