/* Sums of what comes and what is in its place: MPIX_Neighbor_accumulatev beside the MPI's own
 * exchange, or messages by hand, followed by a loop of additions.
 *
 * Cases, 2 processes: 1 and 8 edges to the other one, 8 B to 1 MiB of doubles each. More processes:
 * random graphs with 6 targets.
 *
 * Alternatives: our blocking call; start and wait of our plan; MPI_Neighbor_alltoallv and
 * additions; Irecv, Isend, Waitall and additions; and, between 2 processes, the floor: the same by
 * hand over shared memory, where the receiver adds what the sender has put there. Up to 56 bytes
 * are in the cache line of the flag that announces them, up to 512 KiB in one of two halves, longer
 * messages go through a ring of 8 chunks of 128 KiB.
 *
 * Each call first writes a word of each cache line that it sends: else a receiver that copies from
 * the sender's memory finds the unchanged bytes in its own cache. Each alternative is checked
 * before it is timed. Method: see measure.h. */
#define _GNU_SOURCE
#include "edges.h"
#include "shared.h"

static const int sizes[] = {8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void add(double *restrict to, const double *restrict from, size_t count) {
  for (size_t k = 0; k < count; k++) to[k] += from[k];
}

/* adds all that has come */
static void add_all(problem *p) { add(p->sum, (const double *)(void *)p->recv, p->room_in / sizeof(double)); }

static void our_call(problem *p) {
  write_lines(p->send, p->room_out);
  MPIX_Neighbor_accumulatev(p->send, p->counts_out, p->displs_out, p->type, p->sum, p->counts_in, p->displs_in, p->type, MPI_SUM, p->comm);
}

static void our_plan(problem *p) {
  write_lines(p->send, p->room_out);
  plan(p);
}

static void native_and_add(problem *p) {
  write_lines(p->send, p->room_out);
  native(p);
  add_all(p);
}

static void by_hand_and_add(problem *p) {
  write_lines(p->send, p->room_out);
  by_hand(p);
  add_all(p);
}

/* ---- the floor: the blocks of all edges are one message */

static void by_line(problem *p) {
  const uint64_t number = ++lines_done;
  const size_t count = p->room_out / sizeof(double);
  for (size_t w = 0; w < count; w++) outward->lines[number % 2].words[w] = ((const word *)(void *)p->send)[w];
  atomic_store_explicit(&outward->lines[number % 2].number, number, memory_order_release);
  await(&inward->lines[number % 2].number, number);
  double came[LINE_WORDS];
  memcpy(came, inward->lines[number % 2].words, count * sizeof(double));
  add(p->sum, came, count);
}

static void by_half(problem *p) {
  const uint64_t number = ++halves_done;
  memcpy(outward->data + number % 2 * HALF, p->send, p->room_out);
  atomic_store_explicit(&outward->halves, number, memory_order_release);
  await(&inward->halves, number);
  add(p->sum, (const double *)(void *)(inward->data + number % 2 * HALF), p->room_in / sizeof(double));
}

static void by_ring(problem *p) {
  size_t sent = 0, added = 0;
  long vain = 0;
  while (sent < p->room_out || added < p->room_in) {
    int moved = 0;
    if (sent < p->room_out && chunks_put - atomic_load_explicit(&outward->got, memory_order_acquire) < CHUNKS) {
      size_t bytes = p->room_out - sent < CHUNK ? p->room_out - sent : CHUNK;
      memcpy(outward->data + chunks_put % CHUNKS * CHUNK, p->send + sent, bytes);
      atomic_store_explicit(&outward->put, ++chunks_put, memory_order_release);
      sent += bytes, moved = 1;
    }
    if (added < p->room_in && atomic_load_explicit(&inward->put, memory_order_acquire) > chunks_got) {
      size_t bytes = p->room_in - added < CHUNK ? p->room_in - added : CHUNK;
      add(p->sum + added / sizeof(double), (const double *)(void *)(inward->data + chunks_got % CHUNKS * CHUNK), bytes / sizeof(double));
      atomic_store_explicit(&inward->got, ++chunks_got, memory_order_release);
      added += bytes, moved = 1;
    }
    if (!moved) spin(&vain);
  }
}

static void through_memory(problem *p) {
  write_lines(p->send, p->room_out);
  if (p->room_out <= LINE_WORDS * sizeof(double)) by_line(p);
  else if (p->room_out <= HALF) by_half(p);
  else by_ring(p);
}

/* ---- cases */

/* blocks of doubles; sums in `sum`, blocks that are to be added in `recv` */
static void blocks_of_doubles(problem *p, int bytes) {
  const int count = bytes / (int)sizeof(double);
  p->operations = MPIX_NEIGHBOR_ACCUMULATE;
  equal_blocks(p, bytes);
  p->type = MPI_DOUBLE;
  for (int j = 0; j < p->in; j++) p->counts_in[j] = count, p->displs_in[j] = j * count;
  for (int i = 0; i < p->out; i++) p->counts_out[i] = count, p->displs_out[i] = i * count;
  p->sum = need(p->room_in);
}

/* Ends the program unless an alternative adds what messages by hand add. */
static void expect_sums(const alternative *a) {
  problem *p = a->on;
  const size_t out = p->room_out / sizeof(double), in = p->room_in / sizeof(double);
  double *sent = (double *)(void *)p->send, *expected = need(p->room_in);
  for (size_t k = 0; k < in; k++) p->sum[k] = expected[k] = (double)k;
  for (int c = 0; c < checked; c++) {
    for (size_t k = 0; k < out; k++) sent[k] = (double)(mix((uint64_t)me << 40 | (uint64_t)c << 56 | k) % 1000);
    by_hand(p);
    add(expected, (const double *)(void *)p->recv, in);
    MPI_Barrier(MPI_COMM_WORLD);
    a->run(p);
  }
  if (memcmp(expected, p->sum, p->room_in)) {
    fprintf(stderr, "%s: other sums than by hand\n", a->name);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  free(expected);
}

static void accumulate_on(problem *p, const char *what, int bytes) {
  char label[64];
  blocks_of_doubles(p, bytes);
  finish_graph(p);
  MPIX_Neighbor_accumulatev_plan(p->send, p->counts_out, p->displs_out, p->type, p->sum, p->counts_in, p->displs_in, p->type, MPI_SUM, p->comm, MPI_INFO_NULL,
                                 &p->plan);
  const alternative list[] = {
      {"ours", our_call, p}, {"plan", our_plan, p}, {"native", native_and_add, p}, {"by hand", by_hand_and_add, p}, {"floor", through_memory, p}};
  const int alternatives = line ? 5 : 4;
  for (int a = 0; a < alternatives; a++)
    if (list[a].run != native_and_add) expect_sums(&list[a]); /* MPIs may put blocks of repeated edges in other entries */
  /* additions of subnormal numbers, or of those that are none, may be slower */
  for (size_t k = 0; k < p->room_out / sizeof(double); k++) ((double *)(void *)p->send)[k] = 1;
  snprintf(label, sizeof label, "%s, %s", what, size_name(bytes));
  measure(label, list, alternatives);
  MPIX_Request_free(&p->plan);
  release(p);
}

static void ring(int degree) {
  for (int s = 0; s < SIZES; s++) {
    problem p;
    ring_edges(&p, degree);
    accumulate_on(&p, degree > 1 ? "8 edges" : "1 edge", sizes[s]);
  }
}

static void random_graph(void) {
  for (int s = 0; s < SIZES; s += 2) {
    problem p;
    random_edges(&p, 6, 6);
    accumulate_on(&p, "random", sizes[s]);
  }
}

int main(int argc, char **argv) {
  begin(argc, argv, "sums [--rounds N] [--seconds S] [--quantile Q]");
  open_floor();
  print_header("microseconds a call (ratio to ours)");
  if (me == 0) printf("# case                     cores rounds    ours\n");
  if (n == 2) ring(1), ring(8);
  else if (n > 2) random_graph();
  close_floor();
  end();
  return 0;
}
