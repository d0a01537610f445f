/* Memory that more than two processes of a node share, for the floor of exchanges among them:
   flags for each pair of processes, and room for two messages. A process that waits polls a few
   times, then yields its core, as others need it. */
#ifndef CROWD_H
#define CROWD_H

#include "shared.h"

/* LANE: bytes of the longest message to one process */
enum { MOST_PROCESSES = 16, LANE = 64 << 10, PAGE = 4096, OFF_PAGES = 1024, POLLS = 3 };

/* From one process to another one. Message n uses line and lane n mod 2. The receiver alone writes
   `taken`: not all pairs send both ways, so no message says that an earlier one was taken. */
typedef struct {
  flag_line lines[2];
  _Alignas(APART) _Atomic uint64_t taken;
  /* programs' own buffers begin near the beginning of a page */
  _Alignas(PAGE) char before[OFF_PAGES];
  char lanes[2][LANE];
} passage;

static MPI_Win crowd_window = MPI_WIN_NULL;
static passage *passages; /* n a process, by sender */
static uint64_t crowd_done;

static passage *passage_of(int from, int to) { return &passages[from * n + to]; }

/* leaves `passages` null where not all processes share memory */
static void open_crowd(void) {
  MPI_Comm node;
  int of_node, unit;
  void *base;
  MPI_Aint bytes;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &of_node);
  MPI_Comm_free(&node);
  if (n < 3 || of_node < n || n > MOST_PROCESSES) return;
  MPI_Win_allocate_shared(me == 0 ? (MPI_Aint)n * n * (MPI_Aint)sizeof(passage) + PAGE : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &crowd_window);
  MPI_Win_shared_query(crowd_window, 0, &bytes, &unit, &base);
  passages = (passage *)(((uintptr_t)base + PAGE - 1) / PAGE * PAGE);
}

/* counts from zero, as other pairs of processes exchange messages from now on */
static void restart_crowd(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  crowd_done = 0;
  for (int to = 0; passages && to < n; to++) {
    passage *own = passage_of(me, to);
    for (int l = 0; l < 2; l++) own->lines[l].number = 0;
    own->taken = 0;
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void close_crowd(void) {
  if (crowd_window != MPI_WIN_NULL) MPI_Win_free(&crowd_window);
}

/* after a poll in vain */
static void rest(int *vain) {
  if (++*vain > POLLS) sched_yield();
}

/* until the receiver has taken the message before the last, whose place message `number` takes */
static void await_room(passage *to, uint64_t number) {
  int vain = 0;
  while (atomic_load_explicit(&to->taken, memory_order_acquire) + 2 < number) rest(&vain);
}

static void announce(passage *to, uint64_t number) { atomic_store_explicit(&to->lines[number % 2].number, number, memory_order_release); }

static int has_come(passage *from, uint64_t number) { return atomic_load_explicit(&from->lines[number % 2].number, memory_order_acquire) == number; }

static void take_message(passage *from, uint64_t number) { atomic_store_explicit(&from->taken, number, memory_order_release); }

#endif
