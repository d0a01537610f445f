/* Processes that share memory: ours beside what the MPI offers, and beside what the memory itself
 * needs.
 *
 * Cases, 2 processes: 1 and 8 edges to the other one (alltoallv), 8 B to 4 MiB; 2-D 5-point on a
 * periodic grid (alltoall); a 27-point halo of doubles (alltoallw, subarrays). More processes:
 * random graphs with 6 targets, 3 with 4 processes (alltoallv, gather, and reduce with a sum of
 * doubles), and the halo.
 *
 * Alternatives: start and wait of our plan; our blocking call; the MPI's own blocking call and
 * persistent collective, where it has one; Irecv, Isend, Waitall; Startall; a chain of Sendrecv;
 * and, between 2 processes,
 *   floor    the exchange written by hand over a window of MPI_Win_allocate_shared: up to 56 bytes
 *            in the cache line of the flag that announces them, up to 512 KiB one copy into one of
 *            two halves and one out of it, longer messages through a ring of 2 chunks of 256 KiB,
 *            reads and writes in turn. All blocks for the other process are one message, a halo's
 *            are packed into it by loops; blocks for the process itself are copied.
 *   packing  the loops of the halo alone: into private memory and out of it.
 * With more processes the floor has messages of up to 64 KiB. A gather's and a reduction's block is
 * written once for all targets, and summed from there; a process that waits yields its core after a
 * few polls. Context switches a call and process are printed below each case.
 * For gather the MPI's own is MPI_Neighbor_allgather, for reduce the same with a sum over what
 * came.
 *
 * In each call of each alternative the process first writes a word of each cache line that it
 * sends, and at last reads a word of each line that has come (of a halo one word a block): else a
 * receiver that copies from the sender's memory finds the unchanged bytes in its own cache from the
 * second call on, and seems up to four times as fast as it is. What writing and reading take
 * without an exchange, `touch`, is subtracted from the others' times. What each delivers is checked
 * before it is timed; where the MPI's own collective puts blocks of repeated edges in other
 * entries, a note says so.
 *
 * Where processes share cores and the MPI's wait keeps the core, so that a call takes milliseconds,
 * persistent forms are left out, and there are few calls.
 *
 * With 2 processes the rounds of a case are spread over several passes over all cases, each with
 * new memory, so that both distances of the cores are seen. The run ends with a list of goals, and
 * whether they are met. Method: see measure.h. benches/compare repeats runs, tuned and not. */
#define _GNU_SOURCE
#include "crowd.h"
#include "edges.h"

/* ---- the floor */

typedef struct {
  char *at;
  size_t bytes;
} segment;

/* With more than two processes: one of them, and the blocks for it or from it. */
typedef struct {
  int rank, count, *blocks;
  size_t bytes;
} mate;

/* A message in one piece or several, or a halo's boxes; and what the process sends to itself. */
struct shared {
  mate *targets, *sources; /* with more than two processes; the rest is for two */
  int target_count, source_count;

  size_t bytes;
  int out, in, own;
  segment *sent, *received;
  int *boxes, *own_from, *own_to; /* numbers of blocks */
  char *private;                  /* where packing alone packs to */
};

static void append(segment *list, int *count, char *at, size_t bytes) {
  if (*count && list[*count - 1].at + list[*count - 1].bytes == at) list[*count - 1].bytes += bytes;
  else list[(*count)++] = (segment){at, bytes};
}

static size_t box_bytes(const box *b) { return sizeof(double) * b->extent[0] * b->extent[1] * b->extent[2]; }

/* of blocks that leave, and of those that come; without boxes they are MPI_BYTE */
static size_t block_bytes(const problem *p, int i) { return p->boxes_out ? box_bytes(&p->boxes_out[i]) : (size_t)p->counts_out[i]; }
static size_t bytes_of_source(const problem *p, int j) { return p->boxes_in ? box_bytes(&p->boxes_in[j]) : (size_t)p->counts_in[j]; }

/* with 2 processes: the block that comes from where block i goes to, and was sent as the peer's
   block i */
static int arrives_as(const problem *p, int i) { return p->cartesian ? i ^ 1 : i; }

static void make_shared(problem *p) {
  struct shared *s = p->peer = need(sizeof *s);
  s->sent = need(sizeof(segment) * p->out), s->received = need(sizeof(segment) * p->in);
  s->boxes = need(sizeof(int) * p->out), s->own_from = need(sizeof(int) * p->out), s->own_to = need(sizeof(int) * p->out);
  for (int i = 0; i < p->out; i++) {
    int j = arrives_as(p, i);
    if (p->targets[i] == me) {
      s->own_from[s->own] = i, s->own_to[s->own++] = j;
      continue;
    }
    s->bytes += block_bytes(p, i);
    if (p->boxes_out) {
      s->boxes[s->out++] = i;
    } else {
      append(s->sent, &s->out, p->send + p->bytes_out[i], block_bytes(p, i));
      append(s->received, &s->in, p->recv + p->bytes_in[j], block_bytes(p, i));
    }
  }
  s->private = need(s->bytes);
}

static void free_shared(problem *p) {
  struct shared *s = p->peer;
  if (!s) return;
  for (int t = 0; t < s->target_count; t++) free(s->targets[t].blocks);
  for (int r = 0; r < s->source_count; r++) free(s->sources[r].blocks);
  free(s->targets), free(s->sources);
  free(s->sent), free(s->received), free(s->boxes), free(s->own_from), free(s->own_to), free(s->private), free(s);
}

/* rows of one double are a loop of their own */
static double *pack(const problem *p, const box *b, double *to) {
  const double *field = (const double *)(const void *)p->send;
  const int width = b->extent[2];
  for (int x = 0; x < b->extent[0]; x++) {
    const double *row = field + ((size_t)(b->start[0] + x) * p->full + b->start[1]) * p->full + b->start[2];
    if (width == 1)
      for (int y = 0; y < b->extent[1]; y++) to[y] = row[(size_t)y * p->full];
    else
      for (int y = 0; y < b->extent[1]; y++) memcpy(to + (size_t)y * width, row + (size_t)y * p->full, sizeof(double) * width);
    to += (size_t)b->extent[1] * width;
  }
  return to;
}

static const double *unpack(const problem *p, const box *b, const double *from) {
  double *field = (double *)(void *)p->recv;
  const int width = b->extent[2];
  for (int x = 0; x < b->extent[0]; x++) {
    double *row = field + ((size_t)(b->start[0] + x) * p->full + b->start[1]) * p->full + b->start[2];
    if (width == 1)
      for (int y = 0; y < b->extent[1]; y++) row[(size_t)y * p->full] = from[y];
    else
      for (int y = 0; y < b->extent[1]; y++) memcpy(row + (size_t)y * p->full, from + (size_t)y * width, sizeof(double) * width);
    from += (size_t)b->extent[1] * width;
  }
  return from;
}

/* a box to another one of the same extent in the same field */
static void copy_box(const problem *p, const box *from, const box *to) {
  double *field = (double *)(void *)p->send;
  const int width = from->extent[2];
  for (int x = 0; x < from->extent[0]; x++) {
    const double *source = field + ((size_t)(from->start[0] + x) * p->full + from->start[1]) * p->full + from->start[2];
    double *target = field + ((size_t)(to->start[0] + x) * p->full + to->start[1]) * p->full + to->start[2];
    if (width == 1)
      for (int y = 0; y < from->extent[1]; y++) target[(size_t)y * p->full] = source[(size_t)y * p->full];
    else
      for (int y = 0; y < from->extent[1]; y++) memcpy(target + (size_t)y * p->full, source + (size_t)y * p->full, sizeof(double) * width);
  }
}

static void put_all(const problem *p, char *to) {
  const struct shared *s = p->peer;
  double *at = (double *)(void *)to;
  for (int i = 0; i < s->out; i++) {
    if (p->boxes_out) at = pack(p, &p->boxes_out[s->boxes[i]], at);
    else memcpy(to, s->sent[i].at, s->sent[i].bytes), to += s->sent[i].bytes;
  }
}

/* the k-th block that leaves is the k-th one that comes */
static void get_all(const problem *p, const char *from) {
  const struct shared *s = p->peer;
  const double *at = (const double *)(const void *)from;
  if (p->boxes_in)
    for (int i = 0; i < s->out; i++) at = unpack(p, &p->boxes_in[s->boxes[i]], at);
  else
    for (int j = 0; j < s->in; j++) memcpy(s->received[j].at, from, s->received[j].bytes), from += s->received[j].bytes;
}

static void copy_own(const problem *p) {
  const struct shared *s = p->peer;
  for (int i = 0; i < s->own; i++) {
    int from = s->own_from[i], to = s->own_to[i];
    if (p->boxes_out) copy_box(p, &p->boxes_out[from], &p->boxes_in[to]);
    else memcpy(p->recv + p->bytes_in[to], p->send + p->bytes_out[from], block_bytes(p, from));
  }
}

/* The next message's line or half is the one of the message before the last, which the other
   process has taken: its last message came after that. */
static void by_line(const problem *p) {
  const struct shared *s = p->peer;
  const uint64_t number = ++lines_done;
  uint64_t *to = outward->lines[number % 2].words;
  for (int i = 0; i < s->out; i++)
    for (size_t w = 0; w < s->sent[i].bytes / sizeof(word); w++) *to++ = ((const word *)(const void *)s->sent[i].at)[w];
  atomic_store_explicit(&outward->lines[number % 2].number, number, memory_order_release);
  copy_own(p);
  await(&inward->lines[number % 2].number, number);
  const uint64_t *from = inward->lines[number % 2].words;
  for (int j = 0; j < s->in; j++)
    for (size_t w = 0; w < s->received[j].bytes / sizeof(word); w++) ((word *)(void *)s->received[j].at)[w] = *from++;
}

static void by_half(const problem *p) {
  const uint64_t number = ++halves_done;
  put_all(p, outward->data + number % 2 * HALF);
  atomic_store_explicit(&outward->halves, number, memory_order_release);
  copy_own(p);
  await(&inward->halves, number);
  get_all(p, inward->data + number % 2 * HALF);
}

/* where in a list of segments */
typedef struct {
  const segment *of;
  size_t done;
} cursor;

/* copies the next bytes of a list, out of it or into it */
static void advance(cursor *c, char *chunk, size_t bytes, int out) {
  while (bytes) {
    size_t piece = c->of->bytes - c->done < bytes ? c->of->bytes - c->done : bytes;
    char *at = c->of->at + c->done;
    memcpy(out ? chunk : at, out ? at : chunk, piece);
    chunk += piece, bytes -= piece, c->done += piece;
    if (c->done == c->of->bytes) c->of++, c->done = 0;
  }
}

static void by_ring(const problem *p) {
  const struct shared *s = p->peer;
  cursor from = {s->sent, 0}, to = {s->received, 0};
  size_t left_out = s->bytes, left_in = s->bytes;
  long vain = 0;
  copy_own(p);
  while (left_out || left_in) {
    int moved = 0;
    if (left_out && chunks_put - atomic_load_explicit(&outward->got, memory_order_acquire) < CHUNKS) {
      size_t bytes = left_out < CHUNK ? left_out : CHUNK;
      advance(&from, outward->data + chunks_put % CHUNKS * CHUNK, bytes, 1);
      atomic_store_explicit(&outward->put, ++chunks_put, memory_order_release);
      left_out -= bytes, moved = 1;
    }
    if (left_in && atomic_load_explicit(&inward->put, memory_order_acquire) > chunks_got) {
      size_t bytes = left_in < CHUNK ? left_in : CHUNK;
      advance(&to, inward->data + chunks_got % CHUNKS * CHUNK, bytes, 0);
      atomic_store_explicit(&inward->got, ++chunks_got, memory_order_release);
      left_in -= bytes, moved = 1;
    }
    if (!moved) spin(&vain);
  }
}

static void through_memory(problem *p) {
  const size_t bytes = p->peer->bytes;
  if (bytes <= LINE_WORDS * sizeof(word) && !p->boxes_out) by_line(p);
  else if (bytes <= HALF) by_half(p);
  else by_ring(p);
}

/* ---- the floor of more than two processes */

/* the processes of a list, each once, with its blocks in their order; returns how many */
static int make_mates(mate *mates, int degree, const int *ranks, size_t (*bytes)(const problem *, int), const problem *p) {
  int count = 0;
  for (int i = 0; i < degree; i++) {
    int m = 0;
    while (m < count && mates[m].rank != ranks[i]) m++;
    if (m == count) mates[count++] = (mate){.rank = ranks[i], .blocks = need(sizeof(int) * degree)};
    mates[m].blocks[mates[m].count++] = i;
    mates[m].bytes += bytes(p, i);
  }
  return count;
}

static size_t common_bytes(const problem *p, int i) {
  (void)i;
  return p->room_out;
}

/* Returns whether there is one: no message is too long, none is for the process itself. */
static int make_crowd(problem *p) {
  struct shared *s = p->peer = need(sizeof *s);
  const int common = p->operations != MPIX_NEIGHBOR_ALLTOALL;
  s->targets = need(sizeof(mate) * p->out), s->sources = need(sizeof(mate) * p->in);
  s->target_count = make_mates(s->targets, p->out, p->targets, common ? common_bytes : block_bytes, p);
  s->source_count = make_mates(s->sources, p->in, p->sources, common ? common_bytes : bytes_of_source, p);
  int fits = passages != NULL, all;
  for (int t = 0; t < s->target_count; t++) fits &= s->targets[t].rank != me && s->targets[t].bytes <= LANE;
  MPI_Allreduce(&fits, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  restart_crowd();
  return all;
}

/* the k-th block that leaves for a process is the k-th one that it gets */
static void put_blocks(const problem *p, const mate *m, char *to) {
  for (int k = 0; k < m->count; k++) {
    const int i = m->blocks[k];
    if (p->boxes_out) to = (char *)pack(p, &p->boxes_out[i], (double *)(void *)to);
    else memcpy(to, p->send + p->bytes_out[i], block_bytes(p, i)), to += block_bytes(p, i);
  }
}

static void get_blocks(const problem *p, const mate *m, const char *from) {
  for (int k = 0; k < m->count; k++) {
    const int j = m->blocks[k];
    if (p->boxes_in) from = (const char *)unpack(p, &p->boxes_in[j], (const double *)(const void *)from);
    else memcpy(p->recv + p->bytes_in[j], from, bytes_of_source(p, j)), from += bytes_of_source(p, j);
  }
}

static void put_words(passage *to, uint64_t number, const char *from, size_t bytes) {
  for (size_t w = 0; w < bytes / sizeof(word); w++) to->lines[number % 2].words[w] = ((const word *)(const void *)from)[w];
}

/* All blocks of a process leave as one message; a common block is written once. */
static void send_to_crowd(const problem *p, uint64_t number) {
  const struct shared *s = p->peer;
  const int common = p->operations != MPIX_NEIGHBOR_ALLTOALL;
  for (int t = 0; t < s->target_count; t++) {
    const mate *m = &s->targets[t];
    const int in_line = m->bytes <= LINE_WORDS * sizeof(word) && !p->boxes_out;
    passage *to = passage_of(me, m->rank);
    if (common && !in_line && t == 0) {
      for (int other = 0; other < s->target_count; other++) await_room(passage_of(me, s->targets[other].rank), number);
      memcpy(passage_of(me, me)->lanes[number % 2], p->send, m->bytes);
    }
    await_room(to, number);
    if (in_line) put_words(to, number, common ? p->send : p->send + p->bytes_out[m->blocks[0]], m->bytes);
    else if (!common) put_blocks(p, m, to->lanes[number % 2]);
    announce(to, number);
  }
}

/* `added`: others have been summed before */
static void get_from(const problem *p, const mate *m, uint64_t number, int added) {
  passage *from = passage_of(m->rank, me);
  const int common = p->operations != MPIX_NEIGHBOR_ALLTOALL, in_line = m->bytes <= LINE_WORDS * sizeof(word) && !p->boxes_out;
  const char *data = in_line ? (const char *)from->lines[number % 2].words : (common ? passage_of(m->rank, m->rank) : from)->lanes[number % 2];
  if (p->sum) {
    const double *block = (const double *)(const void *)data;
    for (size_t i = 0; i < m->bytes / sizeof(double); i++) p->sum[i] = added ? p->sum[i] + block[i] : block[i];
  } else if (common || in_line) {
    memcpy(p->recv + p->bytes_in[m->blocks[0]], data, m->bytes);
  } else {
    get_blocks(p, m, data);
  }
  take_message(from, number);
}

static void through_crowd(problem *p) {
  const struct shared *s = p->peer;
  const uint64_t number = ++crowd_done;
  mate *left[MOST_PROCESSES];
  int count = s->source_count, vain = 0;
  send_to_crowd(p, number);
  for (int r = 0; r < count; r++) left[r] = &s->sources[r];
  while (count) {
    const int before = count;
    for (int r = 0; r < count;) {
      if (!has_come(passage_of(left[r]->rank, me), number)) r++;
      else get_from(p, left[r], number, count < s->source_count), left[r] = left[--count];
    }
    if (count == before) rest(&vain);
    else vain = 0;
  }
}

static void packing_alone(problem *p) {
  put_all(p, p->peer->private);
  copy_own(p);
  get_all(p, p->peer->private);
}

/* ---- alternatives beside those of edges.h */

static void sendrecv(problem *p) {
  for (int i = 0; i < p->out; i++) {
    int j = arrives_as(p, i);
    MPI_Sendrecv(p->send + p->bytes_out[i], p->counts_out[i], p->type, p->targets[i], 6, p->recv + p->bytes_in[j], p->counts_in[j], p->type, p->sources[j], 6,
                 p->comm, MPI_STATUS_IGNORE);
  }
}

/* elements of the common block */
static int common(const problem *p) { return (int)(p->room_out / sizeof(double)); }

static void our_gather(problem *p) { MPIX_Neighbor_gather(p->send, common(p), p->type, p->recv, common(p), p->type, p->comm); }
static void our_reduce(problem *p) { MPIX_Neighbor_reduce(p->send, common(p), p->type, p->sum, common(p), p->type, MPI_SUM, p->comm); }
static void native_gather(problem *p) { MPI_Neighbor_allgather(p->send, common(p), p->type, p->recv, common(p), p->type, p->comm); }

static void native_reduce(problem *p) {
  native_gather(p);
  add_blocks(p);
}

static void reduce_by_hand(problem *p) {
  by_hand(p);
  add_blocks(p);
}

static void reduce_by_startall(problem *p) {
  persistent(p);
  add_blocks(p);
}

/* ---- each call writes what it sends and reads what it gets; values stay, to be checked */

static void touch_step(problem *p) {
  write_blocks(p);
  read_blocks(p);
}

STEP(plan)
STEP(ours)
STEP(native)
#ifdef NATIVE_INIT
STEP(native_plan)
#endif
STEP(by_hand)
STEP(persistent)
STEP(sendrecv)
STEP(through_memory)
STEP(through_crowd)
STEP(packing_alone)
STEP(our_gather)
STEP(our_reduce)
STEP(native_gather)
STEP(native_reduce)
STEP(reduce_by_hand)
STEP(reduce_by_startall)

/* ---- cases */

enum { PLAN, BLOCKING, NATIVE, NATIVE_PLAN, BY_HAND, STARTALL, SENDRECV, FLOOR, PACKING, TOUCH, KINDS, BEST = KINDS };

static const char *const names[] = {"plan", "blocking", "native", "nat_plan", "by_hand", "startall", "sendrecv", "floor", "packing", "touch"};

/* FEWEST: samples without which no goal is judged */
enum { PAIR_PASSES = 5, MOST_CASES = 40, FEWEST = 3 };

/* the results of a case after some passes */
typedef struct {
  char label[32];
  int number[KINDS]; /* of the alternative, or -1 */
  int slow;
  int calls[MOST];
  samples near, far;
} figures;

static figures cases[MOST_CASES];
static int case_number, pass, passes = 1;

/* seconds without those of touching the buffers, or NAN where there is no such alternative or no
   sample */
static double seconds_of(figures *f, int kind, int far) {
  samples *s = far ? &f->far : &f->near;
  if (kind == BEST) {
    double best = NAN;
    for (int k = NATIVE; k <= SENDRECV; k++) best = fmin(best, seconds_of(f, k, far));
    return best;
  }
  if (f->number[kind] < 0 || !s->count) return NAN;
  return typical(s->times[f->number[kind]], s->count) - (kind == TOUCH ? 0 : seconds_of(f, TOUCH, far));
}

static void print_number(const char *format, double value) {
  char text[32];
  snprintf(text, sizeof text, format, value);
  /* as wide */
  if (isnan(value)) printf("%*s", (int)strlen(text), "-");
  else printf("%s", text);
}

static void print_figures(figures *f, int far) {
  samples *s = far ? &f->far : &f->near;
  if (me != 0 || !s->count) return;
  printf("%-20s %-5s %4d", f->label, far ? "far" : line ? "near" : "all", s->count);
  for (int k = 0; k < KINDS; k++) print_number(" %10.3f", seconds_of(f, k, far) * 1e6);
  double of_plan = seconds_of(f, PLAN, far);
  print_number("  %7.2f", seconds_of(f, NATIVE, far) / of_plan);
  print_number(" %7.2f", seconds_of(f, BEST, far) / of_plan);
  print_number(" %7.2f", of_plan / seconds_of(f, FLOOR, far));
  printf("\n");
  if (crowded) {
    printf("# context switches a call and process:");
    for (int k = 0; k < TOUCH; k++)
      if (f->number[k] >= 0) printf(" %s %.2f", names[k], s->switches[f->number[k]] / s->count);
    printf("\n");
  }
  fflush(stdout);
}

static void print_columns(void) {
  if (me != 0) return;
  printf("%-20s %-5s %4s", "# case", "cores", "rnds");
  for (int k = 0; k < KINDS; k++) printf(" %10s", names[k]);
  printf("  %7s %7s %7s\n", "nat/pl", "best/pl", "pl/flr");
}

/* Whether messages by hand take milliseconds, as those of MPIs that keep the core while they wait
   do where processes share cores. */
static int is_slow(problem *p) {
  double start = 0, slowest;
  for (int i = 0; i < 3; i++) {
    if (i == 1) start = MPI_Wtime();
    by_hand(p);
  }
  double mine = (MPI_Wtime() - start) / 2;
  MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return crowded && slowest > 5e-3;
}

/* Checks the alternatives, and times this pass's part of the rounds; ends with the problem. */
static void compare_on(problem *p, const char *what, const char *size, void (*run[KINDS])(problem *)) {
  figures *f = &cases[case_number++];
  alternative list[KINDS];
  int alternatives = 0, few_calls = least_calls, few_rounds = least_rounds;
  run[TOUCH] = touch_step;
  if (pass == 0) {
    snprintf(f->label, sizeof f->label, "%s, %s", what, size);
    f->slow = is_slow(p);
  }
  /* the MPI's other forms wait in the same way */
  if (f->slow) least_calls = 3, least_rounds = 3, run[NATIVE_PLAN] = run[STARTALL] = NULL;
  for (int k = 0; k < KINDS; k++) {
    f->number[k] = run[k] ? alternatives : -1;
    if (run[k]) list[alternatives++] = (alternative){names[k], run[k], p};
  }
  if (pass == 0) {
    for (int k = 0; k < KINDS; k++) {
      if (!run[k] || k == PACKING || k == TOUCH) continue;
      const alternative *a = &list[f->number[k]];
      if (k != NATIVE && k != NATIVE_PLAN) expect_same(a);
      else if (!delivers_same(a) && me == 0) printf("# %s, %s: the MPI's own puts other bytes than messages by hand do\n", f->label, a->name);
    }
    make_samples(&f->near, alternatives), make_samples(&f->far, alternatives);
    calibrate_batches(list, alternatives, f->calls);
  }
  sample_rounds(list, alternatives, f->calls, rounds * pass / passes, rounds * (pass + 1) / passes, budget / passes, &f->near, &f->far);
  least_calls = few_calls, least_rounds = few_rounds;
  if (pass + 1 == passes) print_figures(f, 0), print_figures(f, 1);
  if (p->native_plan != MPI_REQUEST_NULL) MPI_Request_free(&p->native_plan);
  MPIX_Request_free(&p->plan);
  free_shared(p);
  release(p);
}

/* all to all, with blocks */
static void exchange_on(problem *p, const char *what, const char *size) {
  void (*run[KINDS])(problem *) = {[PLAN] = plan_step, [BLOCKING] = ours_step, [NATIVE] = native_step, [BY_HAND] = by_hand_step, [STARTALL] = persistent_step};
  finish_graph(p);
  make_plan(p);
#ifdef NATIVE_INIT
  make_native_plan(p);
  run[NATIVE_PLAN] = native_plan_step;
#endif
  if (line) {
    make_shared(p);
    run[FLOOR] = through_memory_step;
    if (p->types_in) run[PACKING] = packing_alone_step;
    else run[SENDRECV] = sendrecv_step;
  } else if (make_crowd(p)) {
    run[FLOOR] = through_crowd_step;
  }
  compare_on(p, what, size, run);
}

static void ring(int degree, int bytes) {
  problem p;
  char what[32];
  ring_edges(&p, degree);
  equal_blocks(&p, bytes);
  snprintf(what, sizeof what, "%d edge%s", degree, degree > 1 ? "s" : "");
  exchange_on(&p, what, size_name(bytes));
}

static void grid(int bytes) {
  problem p;
  grid_edges(&p);
  equal_blocks(&p, bytes);
  exchange_on(&p, "2-D", size_name(bytes));
}

static void halo(int width) {
  problem p;
  char size[20];
  halo_edges(&p, width);
  snprintf(size, sizeof size, "%d^3", width);
  exchange_on(&p, "halo", size);
}

static int random_targets(void) { return n - 1 < 6 ? n - 1 : 6; }

static void random_graph(int bytes) {
  problem p;
  random_edges(&p, random_targets(), random_targets());
  equal_blocks(&p, bytes);
  exchange_on(&p, "random", size_name(bytes));
}

static void common_on(int bytes, int reduce) {
  void (*gathers[KINDS])(problem *) = {
      [PLAN] = plan_step, [BLOCKING] = our_gather_step, [NATIVE] = native_gather_step, [BY_HAND] = by_hand_step, [STARTALL] = persistent_step};
  void (*reduces[KINDS])(problem *) = {
      [PLAN] = plan_step, [BLOCKING] = our_reduce_step, [NATIVE] = native_reduce_step, [BY_HAND] = reduce_by_hand_step, [STARTALL] = reduce_by_startall_step};
  problem p;
  random_edges(&p, random_targets(), random_targets());
  common_block(&p, bytes, reduce);
  finish_graph(&p);
  if (reduce) MPIX_Neighbor_reduce_plan(p.send, common(&p), p.type, p.sum, common(&p), p.type, MPI_SUM, p.comm, MPI_INFO_NULL, &p.plan);
  else MPIX_Neighbor_gather_plan(p.send, common(&p), p.type, p.recv, common(&p), p.type, p.comm, MPI_INFO_NULL, &p.plan);
  void (**run)(problem *) = reduce ? reduces : gathers;
  if (make_crowd(&p)) run[FLOOR] = through_crowd_step;
  compare_on(&p, reduce ? "reduce" : "gather", size_name(bytes), run);
}

static int wanted(const char *only, const char *what) { return !*only || !strcmp(only, what); }

static void run_pair(const char *only) {
  static const int sizes[] = {8, 512, 4 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20}, degrees[] = {1, 8};
  for (size_t d = 0; d < 2 && wanted(only, "ring"); d++)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) ring(degrees[d], sizes[s]);
  if (wanted(only, "grid")) grid(8), grid(4 << 10);
  if (wanted(only, "halo")) halo(8), halo(16), halo(64);
}

static void run_many(const char *only) {
  static const int sizes[] = {8, 8 << 10, 64 << 10}, common_sizes[] = {8, 1 << 10, 8 << 10, 64 << 10};
  for (size_t s = 0; s < 3 && wanted(only, "random"); s++) random_graph(sizes[s]);
  if (wanted(only, "halo")) halo(32);
  for (int reduce = 0; reduce < 2; reduce++)
    for (size_t s = 0; s < 4 && wanted(only, reduce ? "reduce" : "gather"); s++) common_on(common_sizes[s], reduce);
}

/* ---- goals */

/* With a limit of at least 1 on a peer's time over ours; with PACKING at most, on our time over
   that. */
typedef struct {
  const char *label;
  int ours, peer;
  double limit;
} goal;

static const goal pair_goals[] = {
    {"1 edge, 8 B", PLAN, BEST, 2},        {"8 edges, 8 B", PLAN, BEST, 5},       {"2-D, 8 B", PLAN, BEST, 4},         {"halo, 8^3", PLAN, NATIVE, 7},
    {"halo, 16^3", PLAN, NATIVE, 5},       {"halo, 64^3", PLAN, NATIVE, 3},       {"1 edge, 4 KiB", PLAN, BEST, 1.1},  {"1 edge, 64 KiB", PLAN, BEST, 2.5},
    {"1 edge, 1 MiB", PLAN, BEST, 1.4},    {"halo, 64^3", PLAN, PACKING, 1.05},
};
/* limit in each case with two processes: of the plan's time to the floor, and of a blocking call's
   to the plan's */
static const double limit = 1.15;

/* only where processes share cores */
static const goal crowd_goals[] = {
#ifdef OPEN_MPI
    {"random, 8 B", PLAN, NATIVE, 1.4}, {"random, 8 KiB", PLAN, NATIVE, 4},  {"random, 64 KiB", PLAN, NATIVE, 2.5},
    {"gather, 8 B", PLAN, NATIVE, 1.4}, {"reduce, 8 B", PLAN, NATIVE, 1.2},
#else
    {"random, 8 B", PLAN, NATIVE, 50},
#endif
};

static const goal common_goals[] = {
    {"gather, 8 B", BLOCKING, NATIVE, 2}, {"gather, 1 KiB", BLOCKING, NATIVE, 2}, {"gather, 8 KiB", BLOCKING, NATIVE, 2}, {"gather, 64 KiB", BLOCKING, NATIVE, 2},
    {"reduce, 8 B", BLOCKING, NATIVE, 2}, {"reduce, 1 KiB", BLOCKING, NATIVE, 2}, {"reduce, 8 KiB", BLOCKING, NATIVE, 2}, {"reduce, 64 KiB", BLOCKING, NATIVE, 2},
};

/* difference of medians of the same thing */
static const double noise = 0.02;

static void print_outcome(double measured, int met) {
  if (isnan(measured)) printf("  %13s", "-");
  else printf("  %6.2f %6s", measured, met ? "met" : "MISSED");
}

/* whether ours is held to a peer that it cannot be ahead of */
static int is_limit(int ours, int peer) { return peer == FLOOR || peer == PACKING || (ours == BLOCKING && peer == PLAN); }

/* how often ours is as fast as a peer, or how many times as long it takes as what limits it */
static double ratio_of(figures *f, int ours, int peer, int far) {
  /* too few to tell */
  if ((far ? &f->far : &f->near)->count < FEWEST) return NAN;
  double of_us = seconds_of(f, ours, far), other = seconds_of(f, peer, far);
  return is_limit(ours, peer) ? of_us / other : other / of_us;
}

static void print_goals(const goal *goals, size_t count) {
  for (size_t g = 0; g < count; g++) {
    const goal *wish = &goals[g];
    int at_most = is_limit(wish->ours, wish->peer), c = 0;
    while (c < case_number && strcmp(cases[c].label, wish->label)) c++;
    if (c == case_number) continue;
    char text[80];
    if (at_most) snprintf(text, sizeof text, "%s: at most %.2f times the %s", wish->label, wish->limit, names[wish->peer]);
    else snprintf(text, sizeof text, "%s: %.1f times as fast as %s", wish->label, wish->limit, wish->peer == BEST ? "the best of the MPI" : "native");
    printf("%-56s", text);
    for (int far = 0; far < (line ? 2 : 1); far++) {
      double ratio = ratio_of(&cases[c], wish->ours, wish->peer, far);
      print_outcome(ratio, at_most ? ratio <= wish->limit : ratio >= wish->limit);
    }
    for (int far = 0; far < (line ? 2 : 0); far++) print_number("  %8.2f", ratio_of(&cases[c], FLOOR, wish->peer, far));
    printf("\n");
  }
}

/* the case in which ours loses most to what the MPI offers for the same: blocking beside blocking,
   plan beside the faster of both */
static void print_never_slower(void) {
  const figures *where[2] = {NULL, NULL};
  int in_call[2];
  double least[2] = {NAN, NAN};
  for (int far = 0; far < 2; far++)
    for (int c = 0; c < case_number; c++) {
      figures *f = &cases[c];
      double native_of_plan = fmin(seconds_of(f, NATIVE, far), seconds_of(f, NATIVE_PLAN, far)) / seconds_of(f, PLAN, far);
      double native_of_call = seconds_of(f, NATIVE, far) / seconds_of(f, BLOCKING, far), worse = fmin(native_of_plan, native_of_call);
      if (isnan(worse) || worse >= least[far] || (far ? &f->far : &f->near)->count < FEWEST) continue;
      least[far] = worse, where[far] = f, in_call[far] = native_of_call == worse;
    }
  printf("%-56s", "nowhere slower than native (2 % are noise)");
  for (int far = 0; far < (line ? 2 : 1); far++) print_outcome(least[far], least[far] >= 1 - noise);
  for (int far = 0; far < 2; far++)
    if (where[far]) printf("  %s (%s)", where[far]->label, in_call[far] ? "blocking" : "plan");
  printf("\n");
}

/* the case in which ours is farthest above what limits it */
static void print_worst(int ours, int peer) {
  const figures *where[2] = {NULL, NULL};
  double most[2] = {NAN, NAN};
  for (int far = 0; far < 2; far++)
    for (int c = 0; c < case_number; c++) {
      double ratio = ratio_of(&cases[c], ours, peer, far);
      if (isnan(ratio) || ratio <= most[far]) continue;
      most[far] = ratio, where[far] = &cases[c];
    }
  char text[80];
  snprintf(text, sizeof text, "%s everywhere at most %.2f times the %s", names[ours], limit, names[peer]);
  printf("%-56s", text);
  for (int far = 0; far < 2; far++) print_outcome(most[far], most[far] <= limit);
  for (int far = 0; far < 2; far++)
    if (where[far]) printf("  %s", where[far]->label);
  printf("\n");
}

#define GOALS(list) print_goals(list, sizeof list / sizeof *list)

static void print_summary(void) {
  if (me != 0) return;
  if (line) printf("# %-54s  %13s  %13s  %18s\n", "goal", "near", "far", "floor: near, far");
  else printf("# %-54s  %13s\n", "goal", "measured");
  if (line) GOALS(pair_goals), print_worst(PLAN, FLOOR), print_worst(BLOCKING, PLAN);
  if (crowded && n > 2) GOALS(crowd_goals);
  if (n == 16) GOALS(common_goals);
  print_never_slower();
}

int main(int argc, char **argv) {
  rounds = 0;
  const char *only = begin(argc, argv, "shm [--rounds N] [--seconds S] [--quantile Q] [--only ring|grid|halo|random|gather|reduce]");
  if (rounds <= 0) rounds = crowded ? 15 : 60;
  if (line) passes = rounds < PAIR_PASSES ? rounds : PAIR_PASSES, least_rounds = 2;
  open_floor(), open_crowd();
  print_header("microseconds a call, and ratios: native / plan, best of the MPI / plan, plan / floor");
  if (me == 0 && n > 2) printf("# random: %d targets\n", random_targets());
  print_columns();
  for (pass = 0; pass < passes; pass++) {
    case_number = 0;
    if (n == 2) run_pair(only);
    else if (n > 2) run_many(only);
  }
  print_distances();
  print_summary();
  close_floor(), close_crowd();
  end();
  return 0;
}
