/* Memory that two processes share, for exchanges written by hand over it: the floor, what shared
   memory itself needs. And how a program touches what it sends and gets. */
#ifndef SHARED_H
#define SHARED_H

#include "measure.h"
#include <sched.h>
#include <stdatomic.h>

enum { LINE_WORDS = 7, HALF = 512 << 10, CHUNK = 256 << 10, CHUNKS = 2, APART = 128 };

/* not moved by the compiler's knowledge of types */

/* a flag, and a message that fits beside it */
typedef struct {
  _Alignas(APART) _Atomic uint64_t number;
  uint64_t words[LINE_WORDS];
} flag_line;

/* one direction; `got` alone is written by the receiver */
typedef struct {
  flag_line lines[2];
  _Alignas(APART) _Atomic uint64_t halves;
  _Alignas(APART) _Atomic uint64_t put;
  _Alignas(APART) _Atomic uint64_t got;
  _Alignas(APART) char data[2 * HALF];
} direction;

_Static_assert(CHUNKS * CHUNK <= 2 * HALF, "all chunks fit");

/* both directions, and how far they are; all cases use the same */
static MPI_Win window = MPI_WIN_NULL;
static direction *outward, *inward;
static uint64_t lines_done, halves_done, chunks_put, chunks_got;

static void open_floor(void) {
  if (!line) return;
  void *base;
  MPI_Aint bytes;
  int unit;
  MPI_Win_allocate_shared(me == 0 ? 2 * sizeof(direction) + APART : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  MPI_Win_shared_query(window, 0, &bytes, &unit, &base);
  direction *both = (direction *)(((uintptr_t)base + APART - 1) / APART * APART);
  outward = &both[me], inward = &both[1 - me];
  memset(outward, 0, sizeof *outward);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void close_floor(void) {
  if (window != MPI_WIN_NULL) MPI_Win_free(&window);
}

/* other programs may need the core */
static void spin(long *vain) {
  if (++*vain % 20000 == 0) sched_yield();
}

static void await(_Atomic uint64_t *flag, uint64_t number) {
  long vain = 0;
  while (atomic_load_explicit(flag, memory_order_acquire) < number) spin(&vain);
}


#endif
