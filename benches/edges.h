/* Exchanges on fixed neighborhoods, for the programs of this directory: the edges, their buffers,
   and what most programs compare. */
#ifndef EDGES_H
#define EDGES_H

#include "measure.h"
#include <mpix_neighbor.h>

/* Open MPI 4 has persistent collectives as an extension, Open MPI 5 before it has all of MPI 4 */
#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#define NATIVE_INIT(name) MPI_Neighbor_##name##_init
#elif defined OMPI_MAJOR_VERSION
#include <mpi-ext.h>
#ifdef OMPI_HAVE_MPI_EXT_PCOLLREQ
#define NATIVE_INIT(name) MPIX_Neighbor_##name##_init
#endif
#endif

/* a block of a 3-D field of doubles */
typedef struct {
  int start[3], extent[3];
} box;

struct problem {
  MPI_Comm comm;  /* has our neighborhood and a native topology */
  int operations; /* what the neighborhood is for */
  int in, out, *sources, *targets;
  int *counts_in, *counts_out, *displs_in, *displs_out; /* elements */
  MPI_Aint *bytes_in, *bytes_out;
  MPI_Datatype type, *types_in, *types_out; /* one type, or one for each block */
  MPI_Datatype *made;                       /* types that are to be freed */
  int types_made;
  char *send, *recv; /* may be the same */
  size_t room_out, room_in;
  MPI_Request *requests, *persistent; /* receives first */
  /* entries 2 d and 2 d + 1 are the two directions of dimension d */
  int cartesian;
  MPIX_Request plan;
  MPI_Request native_plan;
  MPI_Aint *first_in, *first_out; /* bytes: where the data of a block begin */
  box *boxes_in, *boxes_out;      /* a halo's blocks, in a field of `full` doubles each way */
  int full;
  double *sum;         /* the sum of what comes, if it is wanted: a reduction */
  struct shared *peer; /* an exchange through shared memory by hand */
  long iterations;     /* of a computation beside the exchange */
};

/* ---- what most programs compare */

static inline void ours(problem *p) {
  if (p->types_in) MPIX_Neighbor_alltoallw(p->send, p->counts_out, p->bytes_out, p->types_out, p->recv, p->counts_in, p->bytes_in, p->types_in, p->comm);
  else if (p->cartesian) MPIX_Neighbor_alltoall(p->send, p->counts_out[0], p->type, p->recv, p->counts_in[0], p->type, p->comm);
  else MPIX_Neighbor_alltoallv(p->send, p->counts_out, p->displs_out, p->type, p->recv, p->counts_in, p->displs_in, p->type, p->comm);
}

static inline void native(problem *p) {
  if (p->types_in) MPI_Neighbor_alltoallw(p->send, p->counts_out, p->bytes_out, p->types_out, p->recv, p->counts_in, p->bytes_in, p->types_in, p->comm);
  else if (p->cartesian) MPI_Neighbor_alltoall(p->send, p->counts_out[0], p->type, p->recv, p->counts_in[0], p->type, p->comm);
  else MPI_Neighbor_alltoallv(p->send, p->counts_out, p->displs_out, p->type, p->recv, p->counts_in, p->displs_in, p->type, p->comm);
}

/* The direction of a block on a Cartesian grid, where one process may be the neighbor on both
   sides; else edges to one process meet in their order. */
static inline int tag_out(const problem *p, int i) { return p->cartesian ? i : 0; }
static inline int tag_in(const problem *p, int j) { return p->cartesian ? j ^ 1 : 0; }

enum { BY_HAND_TAGS = 100, PERSISTENT_TAGS = 200 };

static inline void post_by_hand(problem *p) {
  int r = 0;
  for (int j = 0; j < p->in; j++)
    MPI_Irecv(p->recv + p->bytes_in[j], p->counts_in[j], p->types_in ? p->types_in[j] : p->type, p->sources[j], BY_HAND_TAGS + tag_in(p, j), p->comm,
              &p->requests[r++]);
  for (int i = 0; i < p->out; i++)
    MPI_Isend(p->send + p->bytes_out[i], p->counts_out[i], p->types_out ? p->types_out[i] : p->type, p->targets[i], BY_HAND_TAGS + tag_out(p, i), p->comm,
              &p->requests[r++]);
}

static inline void by_hand(problem *p) {
  post_by_hand(p);
  MPI_Waitall(p->in + p->out, p->requests, MPI_STATUSES_IGNORE);
}

static inline void persistent(problem *p) {
  MPI_Startall(p->in + p->out, p->persistent);
  MPI_Waitall(p->in + p->out, p->persistent, MPI_STATUSES_IGNORE);
}

/* ---- plans */

static inline void plan(problem *p) {
  MPIX_Request_start(&p->plan);
  MPIX_Request_wait(&p->plan);
}

static inline void make_plan(problem *p) {
  if (p->types_in)
    MPIX_Neighbor_alltoallw_plan(p->send, p->counts_out, p->bytes_out, p->types_out, p->recv, p->counts_in, p->bytes_in, p->types_in, p->comm, MPI_INFO_NULL, &p->plan);
  else if (p->cartesian) MPIX_Neighbor_alltoall_plan(p->send, p->counts_out[0], p->type, p->recv, p->counts_in[0], p->type, p->comm, MPI_INFO_NULL, &p->plan);
  else
    MPIX_Neighbor_alltoallv_plan(p->send, p->counts_out, p->displs_out, p->type, p->recv, p->counts_in, p->displs_in, p->type, p->comm, MPI_INFO_NULL, &p->plan);
}

#ifdef NATIVE_INIT
static inline void native_plan(problem *p) {
  MPI_Start(&p->native_plan);
  MPI_Wait(&p->native_plan, MPI_STATUS_IGNORE);
}

static inline void make_native_plan(problem *p) {
  if (p->types_in)
    NATIVE_INIT(alltoallw)(p->send, p->counts_out, p->bytes_out, p->types_out, p->recv, p->counts_in, p->bytes_in, p->types_in, p->comm, MPI_INFO_NULL,
                           &p->native_plan);
  else if (p->cartesian) NATIVE_INIT(alltoall)(p->send, p->counts_out[0], p->type, p->recv, p->counts_in[0], p->type, p->comm, MPI_INFO_NULL, &p->native_plan);
  else
    NATIVE_INIT(alltoallv)(p->send, p->counts_out, p->displs_out, p->type, p->recv, p->counts_in, p->displs_in, p->type, p->comm, MPI_INFO_NULL, &p->native_plan);
}
#endif

/* ---- the problems: first the edges, then the blocks, then finish_graph, which makes the
   communicator, unless the edges come from one */

static inline void allocate(problem *p, int degree) {
  *p = (problem){.comm = MPI_COMM_NULL, .in = degree, .out = degree, .operations = MPIX_NEIGHBOR_ALLTOALL, .type = MPI_BYTE, .native_plan = MPI_REQUEST_NULL};
  p->sources = need(sizeof(int) * degree), p->targets = need(sizeof(int) * degree);
  p->counts_in = need(sizeof(int) * degree), p->counts_out = need(sizeof(int) * degree);
  p->displs_in = need(sizeof(int) * degree), p->displs_out = need(sizeof(int) * degree);
  p->bytes_in = need(sizeof(MPI_Aint) * degree), p->bytes_out = need(sizeof(MPI_Aint) * degree);
  p->first_in = need(sizeof(MPI_Aint) * degree), p->first_out = need(sizeof(MPI_Aint) * degree);
  p->requests = need(sizeof(MPI_Request) * 2 * degree), p->persistent = need(sizeof(MPI_Request) * 2 * degree);
}

/* `degree` edges to the right neighbor on a ring of processes */
static inline void ring_edges(problem *p, int degree) {
  allocate(p, degree);
  for (int i = 0; i < degree; i++) p->sources[i] = (me + n - 1) % n, p->targets[i] = (me + 1) % n;
}

/* 2-D 5-point on a periodic grid */
static inline void grid_edges(problem *p) {
  int dims[2] = {0, 0}, periods[2] = {1, 1};
  allocate(p, 4);
  p->cartesian = 1;
  MPI_Dims_create(n, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &p->comm);
  for (int d = 0; d < 2; d++) MPI_Cart_shift(p->comm, d, 1, &p->sources[2 * d], &p->sources[2 * d + 1]);
  memcpy(p->targets, p->sources, sizeof(int) * 4);
}

/* to `least` to `most` others drawn at random (all others, where there are fewer): the same
   graph for all block sizes */
static inline void random_edges(problem *p, int least, int most) {
  char *hit = need((size_t)n * n);
  for (int s = 0; s < n; s++) {
    int k = least + (int)(mix((uint64_t)s) % (uint64_t)(most - least + 1));
    if (k > n - 1) k = n - 1;
    for (int i = 0, drawn = 0; drawn < k; i++) {
      int t = (int)(mix((uint64_t)s * 1000 + (uint64_t)i) % (uint64_t)n);
      if (t != s && !hit[s * n + t]) hit[s * n + t] = 1, drawn++;
    }
  }
  allocate(p, n);
  p->in = p->out = 0;
  for (int r = 0; r < n; r++) {
    if (hit[r * n + me]) p->sources[p->in++] = r;
    if (hit[me * n + r]) p->targets[p->out++] = r;
  }
  free(hit);
}

/* a step from a process to a neighbor on a grid, corners included; three dimensions at most */
typedef struct {
  int by[3];
} step;

enum { MOST_STEPS = 26 };

/* 2-D 9-point or 3-D 27-point on a periodic grid, whose communicator is returned: the edges, and
   their steps */
static inline MPI_Comm box_edges(problem *p, int dimensions, step steps[MOST_STEPS]) {
  int dims[3] = {0}, periods[3] = {1, 1, 1}, here[3], places = dimensions == 3 ? 27 : 9, k = 0;
  MPI_Comm cart;
  allocate(p, places - 1);
  MPI_Dims_create(n, dimensions, dims);
  MPI_Cart_create(MPI_COMM_WORLD, dimensions, dims, periods, 0, &cart);
  MPI_Cart_coords(cart, me, dimensions, here);
  for (int place = 0; place < places; place++) {
    int to[3], from[3];
    if (place == places / 2) continue;
    for (int d = dimensions - 1, left = place; d >= 0; d--, left /= 3) {
      int by = steps[k].by[d] = left % 3 - 1;
      to[d] = (here[d] + by + dims[d]) % dims[d], from[d] = (here[d] - by + dims[d]) % dims[d];
    }
    MPI_Cart_rank(cart, to, &p->targets[k]);
    MPI_Cart_rank(cart, from, &p->sources[k]);
    k++;
  }
  return cart;
}

static inline void equal_blocks(problem *p, int bytes) {
  for (int j = 0; j < p->in; j++) p->counts_in[j] = bytes, p->displs_in[j] = j * bytes, p->bytes_in[j] = (MPI_Aint)j * bytes;
  for (int i = 0; i < p->out; i++) p->counts_out[i] = bytes, p->displs_out[i] = i * bytes, p->bytes_out[i] = (MPI_Aint)i * bytes;
  memcpy(p->first_in, p->bytes_in, sizeof(MPI_Aint) * p->in), memcpy(p->first_out, p->bytes_out, sizeof(MPI_Aint) * p->out);
  p->send = need(p->room_out = (size_t)p->out * bytes), p->recv = need(p->room_in = (size_t)p->in * bytes);
}

/* one block of doubles for all targets; with `reduce` the sum of those that come is wanted */
static inline void common_block(problem *p, int bytes, int reduce) {
  p->operations = reduce ? MPIX_NEIGHBOR_REDUCE : MPIX_NEIGHBOR_GATHER;
  p->type = MPI_DOUBLE;
  for (int j = 0; j < p->in; j++) p->counts_in[j] = bytes / (int)sizeof(double), p->bytes_in[j] = p->first_in[j] = (MPI_Aint)j * bytes;
  for (int i = 0; i < p->out; i++) p->counts_out[i] = bytes / (int)sizeof(double);
  p->send = need(p->room_out = (size_t)bytes), p->recv = need(p->room_in = (size_t)p->in * bytes);
  if (reduce) p->sum = need((size_t)bytes);
}

static inline MPI_Datatype keep_type(problem *p, MPI_Datatype type) {
  MPI_Type_commit(&type);
  p->made[p->types_made++] = type;
  return type;
}

static inline void allocate_types(problem *p) {
  p->types_in = need(sizeof(MPI_Datatype) * p->in), p->types_out = need(sizeof(MPI_Datatype) * p->out);
  p->made = need(sizeof(MPI_Datatype) * (p->in + p->out));
}

/* blocks of doubles, of which each second one is sent */
static inline void strided_blocks(problem *p, int bytes) {
  MPI_Datatype vector;
  allocate_types(p);
  MPI_Type_vector(bytes / (int)sizeof(double), 1, 2, MPI_DOUBLE, &vector);
  keep_type(p, vector);
  for (int j = 0; j < p->in; j++) p->counts_in[j] = 1, p->bytes_in[j] = (MPI_Aint)j * 2 * bytes, p->types_in[j] = vector;
  for (int i = 0; i < p->out; i++) p->counts_out[i] = 1, p->bytes_out[i] = (MPI_Aint)i * 2 * bytes, p->types_out[i] = vector;
  p->send = need(p->room_out = (size_t)p->out * 2 * bytes), p->recv = need(p->room_in = (size_t)p->in * 2 * bytes);
}

/* 3-D 27-point on a periodic grid of processes: the edges, and a field of width^3 doubles, whose
   blocks are subarrays */
static inline void halo_edges(problem *p, int width) {
  step steps[MOST_STEPS];
  int full = width + 2;
  MPI_Comm cart = box_edges(p, 3, steps);
  MPI_Comm_free(&cart);
  allocate_types(p);
  p->boxes_in = need(sizeof(box) * MOST_STEPS), p->boxes_out = need(sizeof(box) * MOST_STEPS);
  p->full = full;
  for (int k = 0; k < MOST_STEPS; k++) {
    int sub[3], start_out[3], start_in[3], all[3] = {full, full, full};
    for (int d = 0; d < 3; d++) {
      int by = steps[k].by[d];
      sub[d] = by ? 1 : width;
      start_out[d] = by > 0 ? width : 1;
      start_in[d] = by > 0 ? 0 : by < 0 ? width + 1 : 1;
    }
    MPI_Type_create_subarray(3, all, sub, start_out, MPI_ORDER_C, MPI_DOUBLE, &p->types_out[k]);
    MPI_Type_create_subarray(3, all, sub, start_in, MPI_ORDER_C, MPI_DOUBLE, &p->types_in[k]);
    p->types_out[k] = keep_type(p, p->types_out[k]);
    p->types_in[k] = keep_type(p, p->types_in[k]);
    p->counts_in[k] = p->counts_out[k] = 1;
    p->boxes_out[k] = (box){{start_out[0], start_out[1], start_out[2]}, {sub[0], sub[1], sub[2]}};
    p->boxes_in[k] = (box){{start_in[0], start_in[1], start_in[2]}, {sub[0], sub[1], sub[2]}};
    p->first_out[k] = (MPI_Aint)sizeof(double) * ((start_out[0] * full + start_out[1]) * full + start_out[2]);
    p->first_in[k] = (MPI_Aint)sizeof(double) * ((start_in[0] * full + start_in[1]) * full + start_in[2]);
  }
  p->send = p->recv = need(p->room_out = p->room_in = sizeof(double) * full * full * full);
}

/* The communicator, its neighborhood, and persistent requests. */
static inline void finish_graph(problem *p) {
  if (!p->cartesian)
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, p->in, p->sources, p->in ? MPI_UNWEIGHTED : MPI_WEIGHTS_EMPTY, p->out, p->targets, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &p->comm);
  MPIX_Neighborhood_set_topology(p->operations, MPI_INFO_NULL, p->comm);
  int r = 0;
  for (int j = 0; j < p->in; j++)
    MPI_Recv_init(p->recv + p->bytes_in[j], p->counts_in[j], p->types_in ? p->types_in[j] : p->type, p->sources[j], PERSISTENT_TAGS + tag_in(p, j), p->comm,
                  &p->persistent[r++]);
  for (int i = 0; i < p->out; i++)
    MPI_Send_init(p->send + p->bytes_out[i], p->counts_out[i], p->types_out ? p->types_out[i] : p->type, p->targets[i], PERSISTENT_TAGS + tag_out(p, i), p->comm,
                  &p->persistent[r++]);
}

static inline void release(problem *p) {
  for (int r = 0; r < p->in + p->out; r++) MPI_Request_free(&p->persistent[r]);
  for (int t = 0; t < p->types_made; t++) MPI_Type_free(&p->made[t]);
  if (p->recv != p->send) free(p->recv);
  free(p->counts_in), free(p->counts_out), free(p->displs_in), free(p->displs_out), free(p->bytes_in), free(p->bytes_out);
  free(p->requests), free(p->persistent), free(p->send), free(p->sources), free(p->targets);
  free(p->types_in), free(p->types_out), free(p->made);
  free(p->first_in), free(p->first_out), free(p->boxes_in), free(p->boxes_out), free(p->sum);
  MPI_Comm_free(&p->comm);
}

/* ---- checking: MPIs' own collectives may put blocks of repeated edges in other entries */

/* Calls that are checked one right after the other, with other data each: what one leaves behind
   must not serve the next. */
static int checked = 3;

static inline void *result_of(problem *p) { return p->sum ? (char *)p->sum : p->recv; }
static inline size_t room_of_result(const problem *p) { return p->sum ? p->room_out : p->room_in; }

/* ---- each call writes what it sends and reads what it gets; values stay, to be checked */

typedef uint64_t __attribute__((may_alias)) word;

enum { CACHE_LINE = 64 };

static inline void write_lines(char *at, size_t bytes) {
  for (size_t b = 0; b < bytes; b += CACHE_LINE) {
    volatile word *w = (word *)(void *)(at + b);
    *w = *w;
  }
}

static volatile uint64_t result __attribute__((unused));

static inline uint64_t read_lines(const char *at, size_t bytes) {
  uint64_t all = 0;
  for (size_t b = 0; b < bytes; b += CACHE_LINE) all ^= *(const volatile word *)(const void *)(at + b);
  return all;
}

static inline void write_blocks(problem *p) {
  if (p->boxes_out)
    for (int i = 0; i < p->out; i++) write_lines(p->send + p->first_out[i], 1);
  else write_lines(p->send, p->room_out);
}

static inline void read_blocks(problem *p) {
  uint64_t all = 0;
  if (p->boxes_in)
    for (int j = 0; j < p->in; j++) all ^= read_lines(p->recv + p->first_in[j], 1);
  else all = read_lines(result_of(p), room_of_result(p));
  result = all;
}

/* a call of an alternative with that */
#define STEP(name)                    \
  static void name##_step(problem *p) { \
    write_blocks(p);                  \
    name(p);                          \
    read_blocks(p);                   \
  }

/* Fills the send buffers for the `number`th call, with values of this process alone, and clears
   those of results. Sums of doubles must not depend on their order. */
static inline void fill_buffers(problem *p, int number) {
  const uint64_t key = (uint64_t)me << 40 | (uint64_t)number << 56;
  memset(p->recv, 0, p->room_in);
  if (p->sum) memset(p->sum, 0, p->room_out);
  for (size_t i = 0; i < p->room_out; i += 8) {
    uint64_t word = mix(key | i);
    double value = (double)(word % 1000);
    memcpy(p->send + i, p->sum ? (void *)&value : (void *)&word, p->room_out - i < 8 ? p->room_out - i : 8);
  }
}

static inline void add_blocks(problem *p) {
  int count = (int)(p->room_out / sizeof(double));
  for (int j = 0; j < p->in; j++) {
    const double *block = (const double *)(void *)p->recv + (size_t)j * count;
    for (int i = 0; i < count; i++) p->sum[i] = j ? p->sum[i] + block[i] : block[i];
  }
}

/* Returns true if an alternative delivers the same bytes as messages by hand, on all processes. */
static inline int delivers_same(const alternative *a) {
  problem *p = a->on;
  char *expected[checked];
  int same = 1;
  for (int c = 0; c < checked; c++) {
    fill_buffers(p, c);
    by_hand(p);
    if (p->sum) add_blocks(p);
    expected[c] = need(room_of_result(p));
    memcpy(expected[c], result_of(p), room_of_result(p));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int c = 0; c < checked; c++) {
    fill_buffers(p, c);
    a->run(p);
    if (memcmp(expected[c], result_of(p), room_of_result(p))) same = 0;
    free(expected[c]);
  }
  MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  return same;
}

/* Ends the program unless it does. */
static inline void expect_same(const alternative *a) {
  if (delivers_same(a)) return;
  if (me == 0) fprintf(stderr, "%s: other bytes than by hand\n", a->name), MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Barrier(MPI_COMM_WORLD);
}

#endif
