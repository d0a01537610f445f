/* Exchanges on fixed neighborhoods, for the programs of this directory: the edges, their buffers, and what most programs compare. */
#ifndef EDGES_H
#define EDGES_H

#include "measure.h"
#include <mpix_neighbor.h>

struct problem {
  MPI_Comm comm; /* has our neighborhood and a native topology */
  int in, out, *sources, *targets;
  int *counts_in, *counts_out, *displs_in, *displs_out; /* elements */
  MPI_Aint *bytes_in, *bytes_out;
  MPI_Datatype type, *types_in, *types_out; /* one type, or one for each block */
  MPI_Datatype *made;                       /* types that are to be freed */
  int types_made;
  char *send, *recv; /* may be the same */
  size_t room_out, room_in;
  MPI_Request *requests, *persistent; /* receives first */
  int cartesian;                      /* slots 2 d and 2 d + 1 are the two directions of dimension d */
  MPIX_Request plan;
  MPI_Request native_plan;
  long iterations; /* of a computation beside the exchange */
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

/* The direction of a block on a Cartesian grid, where one process may be the neighbor on both sides; else edges to one process meet in their order. */
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

/* ---- the problems: first the edges, then the blocks, then finish_graph, which makes the communicator, unless the edges come from one */

static inline void allocate(problem *p, int degree) {
  *p = (problem){.comm = MPI_COMM_NULL, .in = degree, .out = degree, .type = MPI_BYTE, .native_plan = MPI_REQUEST_NULL};
  p->sources = need(sizeof(int) * degree), p->targets = need(sizeof(int) * degree);
  p->counts_in = need(sizeof(int) * degree), p->counts_out = need(sizeof(int) * degree);
  p->displs_in = need(sizeof(int) * degree), p->displs_out = need(sizeof(int) * degree);
  p->bytes_in = need(sizeof(MPI_Aint) * degree), p->bytes_out = need(sizeof(MPI_Aint) * degree);
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

static inline void equal_blocks(problem *p, int bytes) {
  for (int j = 0; j < p->in; j++) p->counts_in[j] = bytes, p->displs_in[j] = j * bytes, p->bytes_in[j] = (MPI_Aint)j * bytes;
  for (int i = 0; i < p->out; i++) p->counts_out[i] = bytes, p->displs_out[i] = i * bytes, p->bytes_out[i] = (MPI_Aint)i * bytes;
  p->send = need(p->room_out = (size_t)p->out * bytes), p->recv = need(p->room_in = (size_t)p->in * bytes);
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

/* 3-D 27-point on a periodic grid of processes: the edges, and a field of width^3 doubles, whose blocks are subarrays */
static inline void halo_edges(problem *p, int width) {
  int dims[3] = {0, 0, 0}, periods[3] = {1, 1, 1}, c[3], full = width + 2, k = 0;
  MPI_Comm cart;
  allocate(p, 26);
  allocate_types(p);
  MPI_Dims_create(n, 3, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &cart);
  MPI_Cart_coords(cart, me, 3, c);
  for (int o = 0; o < 27; o++) {
    int at[3] = {o / 9 - 1, o / 3 % 3 - 1, o % 3 - 1}, to[3], from[3], sub[3], start_out[3], start_in[3], all[3] = {full, full, full};
    if (o == 13) continue;
    for (int d = 0; d < 3; d++) {
      to[d] = (c[d] + at[d] + dims[d]) % dims[d], from[d] = (c[d] - at[d] + dims[d]) % dims[d];
      sub[d] = at[d] ? 1 : width;
      start_out[d] = at[d] > 0 ? width : 1;
      start_in[d] = at[d] > 0 ? 0 : at[d] < 0 ? width + 1 : 1;
    }
    MPI_Cart_rank(cart, to, &p->targets[k]);
    MPI_Cart_rank(cart, from, &p->sources[k]);
    MPI_Type_create_subarray(3, all, sub, start_out, MPI_ORDER_C, MPI_DOUBLE, &p->types_out[k]);
    MPI_Type_create_subarray(3, all, sub, start_in, MPI_ORDER_C, MPI_DOUBLE, &p->types_in[k]);
    p->types_out[k] = keep_type(p, p->types_out[k]);
    p->types_in[k] = keep_type(p, p->types_in[k]);
    p->counts_in[k] = p->counts_out[k] = 1;
    k++;
  }
  MPI_Comm_free(&cart);
  p->send = p->recv = need(p->room_out = p->room_in = sizeof(double) * full * full * full);
}

/* The communicator, its neighborhood, and persistent requests. */
static inline void finish_graph(problem *p) {
  if (!p->cartesian)
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, p->in, p->sources, p->in ? MPI_UNWEIGHTED : MPI_WEIGHTS_EMPTY, p->out, p->targets, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &p->comm);
  MPIX_Neighborhood_set_topology(MPIX_NEIGHBOR_ALLTOALL, MPI_INFO_NULL, p->comm);
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
  MPI_Comm_free(&p->comm);
}

/* ---- checking: native collectives are left out, which put blocks of repeated edges in other slots */

/* What is sent, of this process alone; the receive buffer is cleared. */
static inline void fill_buffers(problem *p) {
  memset(p->recv, 0, p->room_in);
  for (size_t i = 0; i < p->room_out; i++) p->send[i] = (char)mix((uint64_t)me << 40 | i);
}

/* Ends the program unless an alternative delivers the bytes that messages by hand deliver. */
static inline void expect_same(const alternative *a) {
  problem *p = a->on;
  fill_buffers(p);
  by_hand(p);
  char *expected = need(p->room_in);
  memcpy(expected, p->recv, p->room_in);
  fill_buffers(p);
  MPI_Barrier(MPI_COMM_WORLD);
  a->run(p);
  if (memcmp(expected, p->recv, p->room_in)) fprintf(stderr, "%s: other bytes than by hand\n", a->name), MPI_Abort(MPI_COMM_WORLD, 1);
  free(expected);
}

/* ---- printing */

static inline void print_line(const char *label, const char *where, const alternative *list, int alternatives, samples *s) {
  if (me != 0 || s->count == 0) return;
  double first = typical(s->times[0], s->count);
  printf("%-26s %-5s %3d  %10.3f", label, where, s->count, first * 1e6);
  for (int a = 1; a < alternatives; a++) {
    double t = typical(s->times[a], s->count);
    printf("  %s %.3f (%.2f)", list[a].name, t * 1e6, t / first);
  }
  printf("\n");
  fflush(stdout);
}

static inline void measure(const char *label, const alternative *list, int alternatives) {
  samples near, far;
  sample(list, alternatives, &near, &far);
  print_line(label, line ? "near" : "all", list, alternatives, &near);
  print_line(label, "far", list, alternatives, &far);
  release_samples(&near), release_samples(&far);
}

#endif
