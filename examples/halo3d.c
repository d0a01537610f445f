/* A 3-D heat equation on a Cartesian process grid: ghost cells by MPIX_Neighbor_alltoallw, straight
 * in the field.
 *
 *   mpicc -std=c11 -O2 -Iinclude examples/halo3d.c -lmpix_neighbor -lm -o halo3d
 *   mpirun -n 4 ./halo3d --stencil 27 --picture heat.png
 *
 * Each process owns a block of cells, with one layer of ghost cells around it. A step brings the
 * neighbors' outermost cells into the ghost cells and then computes each cell from itself and the
 * cells around it. Two neighborhoods are shown:
 *
 *   7-point stencil    6 neighbors, taken from the Cartesian communicator:
 *                      MPIX_Neighborhood_set_topology
 *   27-point stencil  26 neighbors, edges and corners too, listed by the program:
 *                     MPIX_Neighborhood_set
 *
 * With --overlap a step starts the exchange, computes the cells that need no ghost cells, and then,
 * as blocks arrive, the cells that waited for them.
 *
 * The result is compared with a serial run of the same problem on process 0, and the exchange is
 * timed beside the MPI library's own MPI_Neighbor_alltoallw and beside Irecv, Isend and Waitall
 * written by hand. The exit code is 0 if the results agree.
 *
 * No return code is looked at, of MPI_ and MPIX_ functions alike: communicators keep the default
 * error handler, MPI_ERRORS_ARE_FATAL, which this library calls as MPI does. */

#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <mpix_neighbor.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "options.h"

enum { DIMS = 3, MAX_DEGREE = 26 };

static const char usage[] =
    "usage: halo3d [options]\n"
    "  --cells NX NY NZ   cells of the whole grid (48 40 32); need not divide evenly\n"
    "  --grid PX PY PZ    process grid; 0 leaves a number to MPI_Dims_create (0 0 0)\n"
    "  --stencil 7|27     7-point diffusion or 27-point average (7)\n"
    "  --open             temperature 0 outside of the box, instead of periodic boundaries\n"
    "  --overlap          compute while blocks are on their way, and tell what that won\n"
    "  --steps N          steps to compute (50)\n"
    "  --repeat N         exchanges to time, of each kind; fewer if they take more than 2 seconds (2000)\n"
    "  --schedule NAME    the library's schedule: info key mpix_schedule (auto)\n"
    "  --picture FILE     write the slice in the middle of z as a PNG\n";

typedef struct {
  int cells[DIMS], grid[DIMS];
  int stencil, periodic, overlap, steps, repeat, help;
  const char *schedule, *picture;
} options;

/* A box of cells and one layer of ghost cells around it. x is contiguous in memory; owned cells
   have indices 1 to n. */
typedef struct {
  int n[DIMS];          /* cells in x, y, z, without ghost cells */
  ptrdiff_t row, plane; /* cells from one y to the next, and from one z to the next */
  size_t size;          /* cells with ghost cells */
} box;

/* -------------------------------------------------------------------------------------- options */

/* All processes have the same arguments, so that all of them find the same error. Returns the
   argument that is wrong, or NULL. Past the end of argv stands a NULL, which no parser accepts. */
static const char *parse(char **argv, options *o) {
  *o = (options){.cells = {48, 40, 32}, .stencil = 7, .periodic = 1, .steps = 50, .repeat = 2000};
  for (char **a = argv + 1; *a != NULL; a++) {
    const char *name = *a;
    int ok = 1;
    if (strcmp(name, "--cells") == 0) {
      for (int d = 0; d < DIMS && ok; d++) ok = parse_int(a[1], 1, 1000000000, &o->cells[d]) && *++a != NULL;
    } else if (strcmp(name, "--grid") == 0) {
      for (int d = 0; d < DIMS && ok; d++) ok = parse_int(a[1], 0, 1000000000, &o->grid[d]) && *++a != NULL;
    } else if (strcmp(name, "--stencil") == 0) {
      ok = parse_int(a[1], 1, 1000000000, &o->stencil) && (o->stencil == 7 || o->stencil == 27) && *++a != NULL;
    } else if (strcmp(name, "--steps") == 0) {
      ok = parse_int(a[1], 0, 1000000000, &o->steps) && *++a != NULL;
    } else if (strcmp(name, "--repeat") == 0) {
      ok = parse_int(a[1], 1, 1000000000, &o->repeat) && *++a != NULL;
    } else if (strcmp(name, "--schedule") == 0) {
      ok = a[1] != NULL && (o->schedule = *++a) != NULL;
    } else if (strcmp(name, "--picture") == 0) {
      ok = a[1] != NULL && (o->picture = *++a) != NULL;
    } else if (strcmp(name, "--open") == 0) {
      o->periodic = 0;
    } else if (strcmp(name, "--overlap") == 0) {
      o->overlap = 1;
    } else if (strcmp(name, "--help") == 0) {
      o->help = 1;
    } else {
      ok = 0;
    }
    if (!ok) return name;
  }
  return NULL;
}

/* ---------------------------------------------------------------------------------- the problem */

static box make_box(const int n[DIMS]) {
  box b = {.row = n[0] + 2, .plane = (ptrdiff_t)(n[0] + 2) * (n[1] + 2)};
  memcpy(b.n, n, sizeof b.n);
  b.size = (size_t)b.plane * (size_t)(n[2] + 2);
  return b;
}

static ptrdiff_t at(const box *b, int x, int y, int z) { return x + y * b->row + z * b->plane; }

/* Temperature at the start: hot spots of different size and heat, placed so that no direction is
   like another. Only the place in the whole grid counts, so that any process grid starts with the
   same bits. */
static double initial(const int cells[DIMS], int x, int y, int z) {
  static const double spots[][5] = {/* place, width, heat */
                                    {0.22, 0.30, 0.45, 0.10, 1.00}, {0.68, 0.74, 0.55, 0.15, 0.70},
                                    {0.83, 0.20, 0.40, 0.06, 1.40}, {0.03, 0.90, 0.52, 0.08, 1.20},
                                    {0.45, 0.55, 0.97, 0.12, 0.90}};
  double u = (x + 0.5) / cells[0], v = (y + 0.5) / cells[1], w = (z + 0.5) / cells[2], heat = 0.0;
  for (size_t i = 0; i < sizeof spots / sizeof spots[0]; i++) {
    const double *s = spots[i];
    double du = u - s[0], dv = v - s[1], dw = w - s[2];
    heat += s[4] * exp(-(du * du + dv * dv + dw * dw) / (2 * s[3] * s[3]));
  }
  return heat;
}

/* Field of a box whose cell (1, 1, 1) is cell `start` of the whole grid; ghost cells are 0. */
static double *make_field(const box *b, const int start[DIMS], const int cells[DIMS]) {
  double *field = allocate(b->size, sizeof *field);
  for (int z = 1; z <= b->n[2]; z++)
    for (int y = 1; y <= b->n[1]; y++)
      for (int x = 1; x <= b->n[0]; x++)
        field[at(b, x, y, z)] = initial(cells, start[0] + x - 1, start[1] + y - 1, start[2] + z - 1);
  return field;
}

/* One step for the cells from `low` to `high`, both included. The additions of a cell have the same
   order wherever the cell lies in a block, so that the parallel and the serial run agree to the
   last bit. */
static void step_part(const box *b, int stencil, const int low[DIMS], const int high[DIMS], const double *restrict in,
                      double *restrict out) {
  const ptrdiff_t r = b->row, p = b->plane;
  for (int z = low[2]; z <= high[2]; z++) {
    for (int y = low[1]; y <= high[1]; y++) {
      const double *c = in + at(b, 0, y, z);
      double *to = out + at(b, 0, y, z);
      if (stencil == 7) {
        /* explicit Euler: stable up to a factor of 1/6 */
        for (int x = low[0]; x <= high[0]; x++)
          to[x] = c[x] + 0.125 * ((c[x - 1] + c[x + 1]) + (c[x - r] + c[x + r]) + (c[x - p] + c[x + p]) - 6.0 * c[x]);
      } else {
        /* 1-2-1 in each of the dimensions: center 8, faces 4, edges 2, corners 1, of 64 */
        for (int x = low[0]; x <= high[0]; x++) {
          double faces = (c[x - 1] + c[x + 1]) + (c[x - r] + c[x + r]) + (c[x - p] + c[x + p]);
          double edges = (c[x - 1 - r] + c[x + 1 - r]) + (c[x - 1 + r] + c[x + 1 + r]) + (c[x - 1 - p] + c[x + 1 - p]) +
                         (c[x - 1 + p] + c[x + 1 + p]) + (c[x - r - p] + c[x + r - p]) + (c[x - r + p] + c[x + r + p]);
          double corners = (c[x - 1 - r - p] + c[x + 1 - r - p]) + (c[x - 1 + r - p] + c[x + 1 + r - p]) +
                           (c[x - 1 - r + p] + c[x + 1 - r + p]) + (c[x - 1 + r + p] + c[x + 1 + r + p]);
          to[x] = (8.0 * c[x] + 4.0 * faces + 2.0 * edges + corners) / 64.0;
        }
      }
    }
  }
}

static void step(const box *b, int stencil, const double *in, double *out) {
  step_part(b, stencil, (int[]){1, 1, 1}, b->n, in, out);
}

/* --------------------------------------------------------------------------------- the exchange */

/* Entry i sends one block and receives one. A side is -1, 0 or 1 in each dimension: where a block
   lies in the box, and the direction in which it travels. */
typedef struct {
  int degree;
  int targets[MAX_DEGREE], sources[MAX_DEGREE]; /* MPI_PROC_NULL beyond an open end */
  int from[MAX_DEGREE][DIMS]; /* the side at which the block received lies */
  int sendtags[MAX_DEGREE], recvtags[MAX_DEGREE];
  int weights[MAX_DEGREE]; /* cells of the block sent; the block received has as many */
  MPI_Datatype sendtypes[MAX_DEGREE], recvtypes[MAX_DEGREE];
  int counts[MAX_DEGREE];      /* all 1: a datatype describes a whole block */
  MPI_Aint displs[MAX_DEGREE]; /* all 0: it also says where the block lies in the field */
  MPI_Comm comm;               /* Cartesian, with the library's neighborhood */
  MPI_Comm graph;              /* the same neighbors for MPI's own collectives */
  /* a graph has no entries for MPI_PROC_NULL */
  MPI_Datatype graph_sendtypes[MAX_DEGREE], graph_recvtypes[MAX_DEGREE];
} halo;

/* The process at one side of the caller. MPI_Cart_rank must not be asked about places beyond an
   open end. */
static int process_at(MPI_Comm cart, const int side[DIMS]) {
  int dims[DIMS], periods[DIMS], coords[DIMS], rank;
  MPI_Cart_get(cart, DIMS, dims, periods, coords);
  for (int d = 0; d < DIMS; d++) {
    coords[d] += side[d];
    if (periods[d]) coords[d] = (coords[d] + dims[d]) % dims[d];
    if (coords[d] < 0 || coords[d] >= dims[d]) return MPI_PROC_NULL;
  }
  MPI_Cart_rank(cart, coords, &rank);
  return rank;
}

/* The owned cells at one side of the box, or the ghost cells beyond them, as a datatype over the
   whole field. */
static MPI_Datatype side_type(const box *b, const int side[DIMS], int ghost) {
  int sizes[DIMS], subsizes[DIMS], starts[DIMS];
  for (int d = 0; d < DIMS; d++) {
    int k = DIMS - 1 - d; /* the last dimension is the contiguous one for MPI_ORDER_C */
    sizes[k] = b->n[d] + 2;
    subsizes[k] = side[d] == 0 ? b->n[d] : 1;
    starts[k] = side[d] <= 0 ? 1 : b->n[d];
    if (ghost) starts[k] += side[d];
  }
  MPI_Datatype type;
  MPI_Type_create_subarray(DIMS, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

/* The direction in which a block travels, as a tag for the hand-written exchange: a process can be
   the neighbor at several sides. */
static int direction_tag(const int d[DIMS], int sign) { return 13 + sign * (d[0] + 3 * d[1] + 9 * d[2]); }

/* An entry that sends the block at side `to` to the process there, and receives from the process at
   side `from`. */
static void add_entry(halo *h, const box *b, const int to[DIMS], const int from[DIMS]) {
  int i = h->degree++;
  h->targets[i] = process_at(h->comm, to);
  h->sources[i] = process_at(h->comm, from);
  memcpy(h->from[i], from, sizeof h->from[i]);
  h->sendtags[i] = direction_tag(to, 1);
  h->recvtags[i] = direction_tag(from, -1);
  h->sendtypes[i] = side_type(b, to, 0);
  h->recvtypes[i] = side_type(b, from, 1);
  h->weights[i] = 1;
  for (int d = 0; d < DIMS; d++) h->weights[i] *= to[d] == 0 ? b->n[d] : 1;
  h->counts[i] = 1;
  h->displs[i] = 0;
}

/* 6 neighbors, in the order that the standard gives a Cartesian communicator: -x, +x, -y, +y, -z,
   +z, in both lists. The library knows the directions then: the block sent toward +x arrives in the
   receiver's -x entry, also where a periodic dimension has one or two processes, so that the
   neighbors at both sides are the same process. */
static void make_faces(halo *h, const box *b, MPI_Info info) {
  for (int d = 0; d < DIMS; d++) {
    for (int s = -1; s <= 1; s += 2) {
      int side[DIMS] = {0};
      side[d] = s;
      add_entry(h, b, side, side);
    }
  }
  MPIX_Neighborhood_set_topology(MPIX_NEIGHBOR_ALLTOALL, info, h->comm);
  h->graph = h->comm;
  /* on a Cartesian communicator MPI has an entry for each side, open ends too */
  memcpy(h->graph_sendtypes, h->sendtypes, sizeof h->sendtypes);
  memcpy(h->graph_recvtypes, h->recvtypes, sizeof h->recvtypes);
}

/* 26 neighbors, listed. Lists say nothing about directions; where a process stands in a list
   several times, its k-th edge there meets the k-th edge of the other process's list. So entry i
   sends toward offset o_i and receives from the process at -o_i, whose block travels with the same
   offset o_i: if this process is the target of entries i, j, ... of another one, that one is the
   source of just these entries i, j, ... here, and k-th meets k-th. With the process at +o_i as
   i-th source, the lists would hold the same processes, but blocks would land at the opposite side
   of the box wherever a periodic dimension has one or two processes. */
static void make_faces_edges_corners(halo *h, const box *b, MPI_Info info) {
  for (int z = -1; z <= 1; z++)
    for (int y = -1; y <= 1; y++)
      for (int x = -1; x <= 1; x++)
        if (x != 0 || y != 0 || z != 0) add_entry(h, b, (int[]){x, y, z}, (int[]){-x, -y, -z});

  /* The weights tell the library that faces are heavier than edges and corners. Wrong ones would
     cost time, never correctness. */
  MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, h->degree, h->sources, h->weights, h->degree, h->targets, h->weights,
                        info, h->comm);

  /* for comparison only: the same edges as an MPI graph, without those that MPI_PROC_NULL leaves
     unused */
  int sources[MAX_DEGREE], targets[MAX_DEGREE], sourceweights[MAX_DEGREE], targetweights[MAX_DEGREE], in = 0, out = 0;
  for (int i = 0; i < h->degree; i++) {
    if (h->sources[i] != MPI_PROC_NULL) {
      sources[in] = h->sources[i];
      sourceweights[in] = h->weights[i];
      h->graph_recvtypes[in++] = h->recvtypes[i];
    }
    if (h->targets[i] != MPI_PROC_NULL) {
      targets[out] = h->targets[i];
      targetweights[out] = h->weights[i];
      h->graph_sendtypes[out++] = h->sendtypes[i];
    }
  }
  MPI_Dist_graph_create_adjacent(h->comm, in, sources, sourceweights, out, targets, targetweights, MPI_INFO_NULL, 0,
                                 &h->graph);
}

static void free_halo(halo *h) {
  for (int i = 0; i < h->degree; i++) {
    MPI_Type_free(&h->sendtypes[i]);
    MPI_Type_free(&h->recvtypes[i]);
  }
  if (h->graph != h->comm) MPI_Comm_free(&h->graph);
  MPI_Comm_free(&h->comm); /* removes its neighborhood */
}

enum { SIDES = 27, SLABS = 4 };

/* A part of the owned cells, and the entries that it waits for, as a set of bits. */
typedef struct {
  int low[DIMS], high[DIMS];
  unsigned entries;
} region;

/* The cells at one side of the box; side (0, 0, 0) are those that need no ghost cells. Of a
   dimension of one cell, that cell lies at both sides; it is counted at -1. */
static region make_region(const halo *h, const box *b, const int side[DIMS]) {
  region r = {.entries = 0};
  for (int d = 0; d < DIMS; d++) {
    int n = b->n[d];
    r.low[d] = side[d] < 0 ? 1 : side[d] > 0 && n > 1 ? n : 2;
    r.high[d] = side[d] < 0 ? 1 : side[d] > 0 ? n : n - 1;
  }
  /* the ghost cells at a side are next to these cells if these are at that side in each dimension
     in which it is one */
  for (int i = 0; i < h->degree; i++) {
    int next = 1;
    for (int d = 0; d < DIMS; d++) {
      int from = h->from[i][d];
      next = next && (from == 0 || from == side[d] || (b->n[d] == 1 && side[d] < 0));
    }
    if (next) r.entries |= 1u << i;
  }
  return r;
}

/* The data of a step. The two fields change their places after each. */
typedef struct {
  const halo *h;
  const box *own;
  int stencil;
  double *field, *next;
  /* with --overlap: the exchanges of field and next, and the parts of the box */
  MPIX_Request plan, next_plan;
  region regions[SIDES];
} work;

static void swap_fields(work *w) {
  double *field = w->field;
  MPIX_Request plan = w->plan;
  w->field = w->next;
  w->plan = w->next_plan;
  w->next = field;
  w->next_plan = plan;
}

/* Ours. The field is both buffers: what is received (ghost cells) overlaps nothing that is sent
   (owned cells). */
static void exchange_sparse(work *w) {
  const halo *h = w->h;
  MPIX_Neighbor_alltoallw(w->field, h->counts, h->displs, h->sendtypes, w->field, h->counts, h->displs, h->recvtypes,
                          h->comm);
}

/* The MPI library's. Only timed: released versions put blocks in the wrong entries when a periodic
   dimension has one or two processes, or when a process is listed several times. */
static void exchange_native(work *w) {
  const halo *h = w->h;
  MPI_Neighbor_alltoallw(w->field, h->counts, h->displs, h->graph_sendtypes, w->field, h->counts, h->displs,
                         h->graph_recvtypes, h->graph);
}

/* By hand. It may use the communicator of the neighborhood: the library's messages travel on a
   duplicate of its own. */
static void exchange_by_hand(work *w) {
  const halo *h = w->h;
  MPI_Request requests[2 * MAX_DEGREE];
  /* gcc 12 warns about MPICH 4.0's MPI_STATUSES_IGNORE: array of size 0 */
  MPI_Status statuses[2 * MAX_DEGREE];
  for (int i = 0; i < h->degree; i++)
    MPI_Irecv(w->field, 1, h->recvtypes[i], h->sources[i], h->recvtags[i], h->comm, &requests[i]);
  for (int i = 0; i < h->degree; i++)
    MPI_Isend(w->field, 1, h->sendtypes[i], h->targets[i], h->sendtags[i], h->comm, &requests[h->degree + i]);
  MPI_Waitall(2 * h->degree, requests, statuses);
}

static MPIX_Request make_plan(const halo *h, double *field) {
  MPIX_Request plan;
  MPIX_Neighbor_alltoallw_plan(field, h->counts, h->displs, h->sendtypes, field, h->counts, h->displs, h->recvtypes,
                               h->comm, MPI_INFO_NULL, &plan);
  return plan;
}

/* ------------------------------------------------------------------------------------ the steps */

static void step_alone(work *w) { step(w->own, w->stencil, w->field, w->next); }

static void exchange_then_step(work *w) {
  exchange_sparse(w);
  step_alone(w);
}

/* Computes what has waited for entry i alone. */
static void arrived(const work *w, int i, unsigned missing[SIDES]) {
  for (int k = 0; k < SIDES; k++) {
    if (!(missing[k] & 1u << i)) continue;
    missing[k] &= ~(1u << i);
    if (missing[k] == 0) step_part(w->own, w->stencil, w->regions[k].low, w->regions[k].high, w->field, w->next);
  }
}

/* The exchange is started; then come the cells that need no ghost cells, in a few slabs, and all
   others as their blocks arrive: cells at an edge or a corner of the box when the last block does
   that they wait for. Tests between slabs let MPI move long messages. Open ends too are told as
   arrived. Last, what is sent may still be on its way. */
static void overlapped_step(work *w) {
  unsigned missing[SIDES];
  int entries[MAX_DEGREE], count, entry;
  MPIX_Request_start(&w->plan);
  for (int k = 0; k < SIDES; k++) missing[k] = w->regions[k].entries;
  const region *inner = &w->regions[SIDES / 2];
  for (int s = 0; s < SLABS; s++) {
    int depth = inner->high[2] - inner->low[2] + 1;
    if (depth < 1) break;
    int low[DIMS] = {inner->low[0], inner->low[1], inner->low[2] + depth * s / SLABS};
    int high[DIMS] = {inner->high[0], inner->high[1], inner->low[2] + depth * (s + 1) / SLABS - 1};
    step_part(w->own, w->stencil, low, high, w->field, w->next);
    /* MPI_UNDEFINED, which is negative, when all have arrived */
    MPIX_Request_testsome_source(w->plan, &count, entries);
    for (int i = 0; i < count; i++) arrived(w, entries[i], missing);
  }
  for (;;) {
    MPIX_Request_waitany_source(w->plan, &entry);
    if (entry == MPI_UNDEFINED) break;
    arrived(w, entry, missing);
  }
  MPIX_Request_wait(&w->plan);
}

/* ----------------------------------------------------------------------------------- the timing */

enum { SPARSE, NATIVE, BY_HAND, THEN_STEP, OVERLAPPED, STEP_ALONE, KINDS, BATCHES = 25 };

static const struct {
  void (*call)(work *);
  const char *name;
} kinds[KINDS] = {[SPARSE] = {exchange_sparse, "MPIX_Neighbor_alltoallw"},
                  [NATIVE] = {exchange_native, "MPI_Neighbor_alltoallw"},
                  [BY_HAND] = {exchange_by_hand, "Irecv, Isend, Waitall"},
                  [THEN_STEP] = {exchange_then_step, "exchange, then step"},
                  [OVERLAPPED] = {overlapped_step, "overlapped"},
                  [STEP_ALONE] = {step_alone, "step without exchange"}};

/* Seconds per call of the kinds from `first` to before `end`: they take turns in batches, so that a
   change in the machine's speed meets all of them; the slowest process counts in each batch, and
   the median of the batches is the result. A call before the clock starts gets all processes going;
   a few exchanges after it has stopped keep those that are done from spinning in MPI_Barrier on a
   core that others still need. Ends after about 2 seconds: where processes outnumber the cores,
   some MPIs need milliseconds per exchange. */
static void time_kinds(work *w, const char *what, int first, int end, int repeat, double seconds[KINDS]) {
  const double budget = 2.0;
  const MPI_Comm comm = w->h->comm;
  double start = MPI_Wtime(), estimate[KINDS], times[KINDS][BATCHES];
  for (int k = first; k < end; k++) {
    kinds[k].call(w);
    double t = MPI_Wtime();
    for (int i = 0; i < 4; i++) kinds[k].call(w);
    estimate[k] = (MPI_Wtime() - t) / 4;
  }
  MPI_Allreduce(MPI_IN_PLACE, &estimate[first], end - first, MPI_DOUBLE, MPI_MAX, comm);
  int calls[KINDS];
  for (int k = first; k < end; k++)
    calls[k] = (int)fmax(1.0, fmin(repeat / (double)BATCHES, budget / ((end - first) * BATCHES * estimate[k])));

  int rank, batches = 0, more = 1;
  MPI_Comm_rank(comm, &rank);
  while (more) {
    for (int k = first; k < end; k++) {
      MPI_Barrier(comm);
      kinds[k].call(w);
      double t = MPI_Wtime();
      for (int i = 0; i < calls[k]; i++) kinds[k].call(w);
      times[k][batches] = (MPI_Wtime() - t) / calls[k];
      for (int i = 0; i < 4; i++) exchange_sparse(w);
    }
    batches++;
    more = batches < BATCHES && batches < repeat && MPI_Wtime() - start < budget;
    MPI_Bcast(&more, 1, MPI_INT, 0, comm); /* clocks differ: all follow process 0 */
  }
  for (int k = first; k < end; k++) {
    MPI_Allreduce(MPI_IN_PLACE, times[k], batches, MPI_DOUBLE, MPI_MAX, comm);
    seconds[k] = median(times[k], batches);
  }
  if (rank == 0) {
    printf("time per %s: slowest process, median of %d batches\n", what, batches);
    for (int k = first; k < end; k++)
      printf("  %-24s %10.2f us %8.2f times   (batches of %d)\n", kinds[k].name, 1e6 * seconds[k],
             seconds[k] / seconds[first], calls[k]);
  }
}

/* ------------------------------------------------------------------------------- the serial run */

/* Ghost cells of a box that is the whole grid: plain loops, so that nothing of the exchange above
   is needed for its own check. */
static void wrap(const box *b, double *field) {
  const int nx = b->n[0], ny = b->n[1], nz = b->n[2];
  for (int z = 0; z <= nz + 1; z++)
    for (int y = 0; y <= ny + 1; y++)
      for (int x = 0; x <= nx + 1; x++)
        field[at(b, x, y, z)] = field[at(b, (x + nx - 1) % nx + 1, (y + ny - 1) % ny + 1, (z + nz - 1) % nz + 1)];
}

static double *serial_run(const options *o, const box *whole) {
  double *field = make_field(whole, (int[]){0, 0, 0}, o->cells), *next = allocate(whole->size, sizeof *next);
  for (int s = 0; s < o->steps; s++) {
    if (o->periodic) wrap(whole, field);
    step(whole, o->stencil, field, next);
    double *swap = field;
    field = next;
    next = swap;
  }
  free(next);
  return field;
}

/* The owned cells of all processes in one field on process 0 (NULL on others). */
static double *gather(const options *o, const box *whole, const box *own, double *field, MPI_Comm cart) {
  int rank, processes, dims[DIMS], periods[DIMS], coords[DIMS];
  MPI_Comm_rank(cart, &rank);
  MPI_Comm_size(cart, &processes);
  MPI_Cart_get(cart, DIMS, dims, periods, coords);

  MPI_Request request;
  MPI_Datatype block = side_type(own, (int[]){0, 0, 0}, 0);
  MPI_Isend(field, 1, block, 0, 0, cart, &request);
  double *all = NULL;
  if (rank == 0) {
    all = allocate(whole->size, sizeof *all);
    for (int p = 0; p < processes; p++) {
      int sizes[DIMS], subsizes[DIMS], starts[DIMS];
      MPI_Cart_coords(cart, p, DIMS, coords);
      for (int d = 0; d < DIMS; d++) {
        int k = DIMS - 1 - d, first = block_start(o->cells[d], dims[d], coords[d]);
        sizes[k] = o->cells[d] + 2;
        subsizes[k] = block_start(o->cells[d], dims[d], coords[d] + 1) - first;
        starts[k] = 1 + first;
      }
      MPI_Datatype place;
      MPI_Type_create_subarray(DIMS, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &place);
      MPI_Type_commit(&place);
      MPI_Recv(all, 1, place, p, 0, cart, MPI_STATUS_IGNORE);
      MPI_Type_free(&place);
    }
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&block);
  return all;
}

static double largest_difference(const box *b, const double *u, const double *v) {
  double largest = 0.0;
  for (int z = 1; z <= b->n[2]; z++) {
    for (int y = 1; y <= b->n[1]; y++) {
      for (int x = 1; x <= b->n[0]; x++) {
        double d = fabs(u[at(b, x, y, z)] - v[at(b, x, y, z)]);
        if (isnan(d)) d = INFINITY;
        if (d > largest) largest = d;
      }
    }
  }
  return largest;
}

/* ---------------------------------------------------------------------------------- the picture */

/* palette: temperatures, then the color of lines */
enum { COLORS = 255, LINE = 255, LEAST_WIDTH = 480 };

static void put32(unsigned char *to, unsigned long v) {
  for (int i = 0; i < 4; i++) to[i] = (unsigned char)(v >> (24 - 8 * i));
}

static void write_chunk(FILE *file, const char *type, const unsigned char *data, size_t length) {
  unsigned char word[4];
  unsigned long crc = 0xffffffff;
  put32(word, length);
  fwrite(word, 1, 4, file);
  for (size_t i = 0; i < 4 + length; i++) {
    unsigned char byte = i < 4 ? (unsigned char)type[i] : data[i - 4];
    fputc(byte, file);
    crc ^= byte;
    for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? 0xedb88320 ^ crc >> 1 : crc >> 1;
  }
  put32(word, crc ^ 0xffffffff);
  fwrite(word, 1, 4, file);
}

/* A PNG with a palette. The pixels are in stored blocks, which each reader takes and which need no
   compression. */
static int write_png(const char *name, const unsigned char *pixels, size_t width, size_t height,
                     const unsigned char *palette) {
  FILE *file = fopen(name, "wb");
  if (file == NULL) return 0;
  const size_t most = 65535, raw = height * (width + 1), blocks = (raw + most - 1) / most;
  unsigned char *data = allocate(2 + raw + 5 * blocks + 4, 1), *to = data, header[13] = {0};
  unsigned long a = 1, b = 0;
  *to++ = 0x78;
  *to++ = 0x01;
  for (size_t i = 0; i < raw; i++) {
    if (i % most == 0) { /* is it the last block, its length, and the length's complement */
      size_t length = raw - i < most ? raw - i : most;
      *to++ = i + length == raw;
      for (int k = 0; k < 4; k++) *to++ = (unsigned char)((k < 2 ? length : ~length) >> (8 * (k % 2)));
    }
    size_t column = i % (width + 1); /* each row starts with the number of its filter: 0, none */
    *to = column == 0 ? 0 : pixels[i / (width + 1) * width + column - 1];
    a = (a + *to++) % 65521;
    b = (b + a) % 65521;
  }
  put32(to, b << 16 | a);
  to += 4;
  put32(header, width);
  put32(header + 4, height);
  header[8] = 8; /* bits per pixel */
  header[9] = 3; /* a palette */
  fwrite("\x89PNG\r\n\x1a\n", 1, 8, file);
  write_chunk(file, "IHDR", header, sizeof header);
  write_chunk(file, "PLTE", palette, 3 * 256);
  write_chunk(file, "IDAT", data, (size_t)(to - data));
  write_chunk(file, "IEND", NULL, 0);
  free(data);
  int ok = !ferror(file);
  return fclose(file) == 0 && ok;
}

/* The slice in the middle of z, y upward, with the boundaries between processes. */
static int draw(const char *name, const box *whole, const double *field, const int dims[DIMS]) {
  static const unsigned char colors[][3] = {{68, 1, 84},    {71, 44, 122},  {59, 81, 139},
                                            {44, 113, 142}, {33, 144, 141}, {39, 173, 129},
                                            {92, 200, 99},  {170, 220, 50}, {253, 231, 37}};
  const int steps = (int)(sizeof colors / sizeof colors[0]) - 1;
  unsigned char palette[3 * 256];
  for (int i = 0; i < 256; i++) {
    double place = (double)i * steps / (COLORS - 1);
    int left = place < steps ? (int)place : steps - 1;
    for (int k = 0; k < 3; k++) {
      double mixed = colors[left][k] + (place - left) * (colors[left + 1][k] - colors[left][k]);
      palette[3 * i + k] = i == LINE ? 255 : (unsigned char)(mixed + 0.5);
    }
  }

  int nx = whole->n[0], ny = whole->n[1], z = whole->n[2] / 2 + 1;
  double low = INFINITY, high = -INFINITY;
  for (int y = 1; y <= ny; y++) {
    for (int x = 1; x <= nx; x++) {
      low = fmin(low, field[at(whole, x, y, z)]);
      high = fmax(high, field[at(whole, x, y, z)]);
    }
  }
  int scale = (LEAST_WIDTH + nx - 1) / nx;
  size_t width = (size_t)nx * (size_t)scale, height = (size_t)ny * (size_t)scale;
  unsigned char *pixels = allocate(width * height, 1);
  for (size_t i = 0; i < height; i++) {
    for (size_t j = 0; j < width; j++) {
      double u = field[at(whole, 1 + (int)j / scale, ny - (int)i / scale, z)];
      pixels[i * width + j] = (unsigned char)(high > low ? (u - low) / (high - low) * (COLORS - 1) + 0.5 : 0);
    }
  }
  for (int c = 1; c < dims[0]; c++) {
    size_t j = (size_t)block_start(nx, dims[0], c) * (size_t)scale;
    for (size_t i = 0; i < height; i++) pixels[i * width + j] = LINE;
  }
  for (int c = 1; c < dims[1]; c++) {
    size_t i = height - (size_t)block_start(ny, dims[1], c) * (size_t)scale;
    for (size_t j = 0; j < width; j++) pixels[i * width + j] = LINE;
  }
  int ok = write_png(name, pixels, width, height, palette);
  free(pixels);
  return ok;
}

/* -------------------------------------------------------------------------------------- the run */

/* The process grid: what --grid leaves open is chosen by MPI. Returns 0 if it does not fit; the
   reason is printed. */
static int make_process_grid(const options *o, int processes, int rank, int dims[DIMS]) {
  long long given = 1;
  double size = 1.0;
  int open = 0;
  for (int d = 0; d < DIMS; d++) {
    dims[d] = o->grid[d];
    if (dims[d] == 0) open = 1;
    else if (given <= processes) given *= dims[d];
  }
  if (processes % given != 0 || (!open && given != processes)) {
    if (rank == 0)
      fprintf(stderr, "halo3d: a process grid of %d x %d x %d does not fit %d processes\n", dims[0], dims[1], dims[2],
              processes);
    return 0;
  }
  MPI_Dims_create(processes, DIMS, dims);
  for (int d = 0; d < DIMS; d++) {
    if (o->cells[d] < dims[d]) {
      if (rank == 0)
        fprintf(stderr, "halo3d: too few cells in %c: %d for %d processes; choose another --grid or more --cells\n",
                "xyz"[d], o->cells[d], dims[d]);
      return 0;
    }
    size *= o->cells[d] + 2.0;
  }
  if (size > INT_MAX) {
    if (rank == 0) fprintf(stderr, "halo3d: too many cells: process 0 computes all of them too, as a check\n");
    return 0;
  }
  return 1;
}

/* Prints what an exchange carries, and what the library says about the neighborhood. */
static void print_problem(const options *o, const halo *h, int rank, const int dims[DIMS]) {
  long long bytes[2] = {0, 0}; /* to other processes, to the process itself */
  for (int i = 0; i < h->degree; i++)
    if (h->targets[i] != MPI_PROC_NULL) bytes[h->targets[i] == rank] += h->weights[i] * (long long)sizeof(double);
  MPI_Allreduce(MPI_IN_PLACE, bytes, 2, MPI_LONG_LONG, MPI_MAX, h->comm);
  if (rank != 0) return;

  const int *n = o->cells;
  printf("cells %d x %d x %d, %s, %d-point stencil, process grid %d x %d x %d\n", n[0], n[1], n[2],
         o->periodic ? "periodic" : "open", o->stencil, dims[0], dims[1], dims[2]);
  printf("cells per process");
  for (int d = 0; d < DIMS; d++) {
    int least = n[d] / dims[d], most = (n[d] + dims[d] - 1) / dims[d];
    printf(most > least ? "%s%d-%d" : "%s%d", d == 0 ? " " : " x ", least, most);
  }
  printf("\nbytes per exchange, at most: %lld to other processes, %lld within the process\n", bytes[0], bytes[1]);

  int length;
  MPIX_Neighborhood_describe(MPIX_NEIGHBOR_ALLTOALL, h->comm, 0, NULL, &length);
  char *text = allocate((size_t)length + 1, 1);
  MPIX_Neighborhood_describe(MPIX_NEIGHBOR_ALLTOALL, h->comm, length + 1, text, &length);
  printf("%s%s", text, length > 0 && text[length - 1] == '\n' ? "" : "\n");
  free(text);
}

/* The parallel run, its timing and its check. The same exit code on all processes. */
static int run(const options *o, MPI_Comm world) {
  double begin = MPI_Wtime();
  int rank, processes, dims[DIMS], periods[DIMS], coords[DIMS], start[DIMS], n[DIMS];
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &processes);
  if (!make_process_grid(o, processes, rank, dims)) return 2;

  halo h = {0};
  for (int d = 0; d < DIMS; d++) periods[d] = o->periodic;
  MPI_Cart_create(world, DIMS, dims, periods, 1, &h.comm);
  MPI_Comm_rank(h.comm, &rank); /* MPI may have given the processes other ranks */
  MPI_Cart_coords(h.comm, rank, DIMS, coords);
  for (int d = 0; d < DIMS; d++) {
    start[d] = block_start(o->cells[d], dims[d], coords[d]);
    n[d] = block_start(o->cells[d], dims[d], coords[d] + 1) - start[d];
  }
  box own = make_box(n), whole = make_box(o->cells);

  MPI_Info info;
  MPI_Info_create(&info);
  if (o->schedule != NULL) MPI_Info_set(info, "mpix_schedule", o->schedule);
  if (o->stencil == 7) make_faces(&h, &own, info);
  else make_faces_edges_corners(&h, &own, info);
  MPI_Info_free(&info);
  print_problem(o, &h, rank, dims);

  /* Ghost cells beyond an open end are 0 in both fields and never received. */
  work w = {.h = &h, .own = &own, .stencil = o->stencil};
  w.field = make_field(&own, start, o->cells);
  w.next = allocate(own.size, sizeof *w.next);
  if (o->overlap) {
    w.plan = make_plan(&h, w.field);
    w.next_plan = make_plan(&h, w.next);
    for (int k = 0; k < SIDES; k++)
      w.regions[k] = make_region(&h, &own, (int[]){k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1});
  }
  double stepping = MPI_Wtime();
  for (int s = 0; s < o->steps; s++) {
    if (o->overlap) overlapped_step(&w);
    else exchange_then_step(&w);
    swap_fields(&w);
  }
  stepping = MPI_Wtime() - stepping;

  double *result = gather(o, &whole, &own, w.field, h.comm);
  double difference = 0.0;
  int ok = 1;
  if (rank == 0) {
    printf("%d steps took %.3f s\n", o->steps, stepping);
    double *serial = serial_run(o, &whole);
    difference = largest_difference(&whole, result, serial);
    ok = difference <= 1e-13;
    free(serial);
    if (o->picture != NULL) {
      int drawn = draw(o->picture, &whole, result, dims);
      if (drawn) printf("picture in %s\n", o->picture);
      else fprintf(stderr, "halo3d: cannot write %s\n", o->picture);
      ok = ok && drawn;
    }
  }
  MPI_Bcast(&ok, 1, MPI_INT, 0, h.comm);

  /* the fields are no longer needed: MPI's own collective may put ghost cells in the wrong
     places */
  double seconds[KINDS];
  time_kinds(&w, "exchange", SPARSE, BY_HAND + 1, o->repeat, seconds);
  char won[60] = "";
  if (o->overlap) {
    time_kinds(&w, "step", THEN_STEP, KINDS, o->repeat, seconds);
    snprintf(won, sizeof won, ", overlap won %.0f %% of a step",
             100 * (seconds[THEN_STEP] - seconds[OVERLAPPED]) / seconds[THEN_STEP]);
    MPIX_Request_free(&w.plan);
    MPIX_Request_free(&w.next_plan);
  }
  if (rank == 0)
    printf("halo3d: results %s the serial run: largest difference %g; %d steps, %d-point, "
           "exchange %.1f us (native %.1f, hand-written %.1f)%s, %.2f s\n",
           difference <= 1e-13 ? "agree with" : "DIFFER from", difference, o->steps, o->stencil, 1e6 * seconds[SPARSE],
           1e6 * seconds[NATIVE], 1e6 * seconds[BY_HAND], won, MPI_Wtime() - begin);

  free(result);
  free(w.field);
  free(w.next);
  free_halo(&h);
  return ok ? 0 : 1;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, code;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  options o;
  const char *wrong = parse(argv, &o);
  if (wrong != NULL || o.help) {
    code = show_usage(rank, "halo3d", wrong, usage);
  } else {
    code = run(&o, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return code;
}
