/* Graphs whose vertices are dealt out in blocks to the processes of a communicator: random numbers,
 * lists of edges, R-MAT graphs, and a process's part of a graph; shared by bfs, components and
 * pagerank.
 *
 * R-MAT graphs: Chakrabarti, Zhan, Faloutsos, 2004; the parameters called nice and nasty are those
 * of Barrett, One-Sided Communication for High Performance Computing Applications, 2009. */

#ifndef EXAMPLES_GRAPH_H
#define EXAMPLES_GRAPH_H

#include "forms.h"
#include <limits.h>
#include <mpix_neighbor.h>

/* ------------------------------------------------------------------------------- random numbers */

/* Every number is a function of the seed, of what it is for, and of a number in the whole graph: so
   the graph is the same on any number of processes, and process 0 can make all of it. */
enum { ROWS, REMOTE, RMAT, PERMUTATION };

static inline uint64_t stream_of(int seed, uint64_t purpose, uint64_t number) {
  return mix(mix((uint64_t)seed * 4 + purpose) + number);
}

/* from 0 to below n */
static inline int next_below(uint64_t *stream, int n) { return (int)(next_real(stream) * n); }

/* ------------------------------------------------------------------------------------ the edges */

typedef struct {
  int u, v; /* as MPI_2INT */
} edge;

typedef struct {
  edge *at;
  size_t count, room;
} edge_list;

static inline void add(edge_list *l, int u, int v) {
  if (l->count == l->room) {
    l->room = l->room ? 2 * l->room : 1024;
    l->at = resize(l->at, l->room, sizeof *l->at);
  }
  l->at[l->count++] = (edge){u, v};
}

static inline int ascending_edge(const void *a, const void *b) {
  const edge *x = a, *y = b;
  return x->u != y->u ? (x->u > y->u) - (x->u < y->u) : (x->v > y->v) - (x->v < y->v);
}

static inline void sort_and_unite(edge_list *l) {
  if (l->count == 0) return;
  qsort(l->at, l->count, sizeof *l->at, ascending_edge);
  size_t n = 0;
  for (size_t i = 1; i < l->count; i++)
    if (ascending_edge(&l->at[n], &l->at[i]) != 0) l->at[++n] = l->at[i];
  l->count = n + 1;
}

static inline int long_enough(size_t n) {
  if (n <= INT_MAX) return (int)n;
  fprintf(stderr, "more than 2^31 - 1 edges in a message\n");
  MPI_Abort(MPI_COMM_WORLD, 3);
  return 0;
}

/* Brings edges to the owners of the vertices where they begin; without repetitions, in order. Who
   has edges for whom is known to nobody beforehand. */
static inline void deliver(edge_list *l, int vertices, MPI_Info info, MPI_Comm comm) {
  int P;
  MPI_Comm_size(comm, &P);
  sort_and_unite(l);
  if (P == 1) return;
  int *targets = ints(P), *counts = ints(P), *displs = ints(P), n = 0;
  long_enough(l->count);
  for (int i = 0; i < (int)l->count; i++) {
    int owner = block_owner(vertices, P, l->at[i].u);
    if (n == 0 || targets[n - 1] != owner) {
      targets[n] = owner;
      displs[n++] = i;
    }
    counts[n - 1]++;
  }
  MPIX_Sparse_result result;
  MPIX_Sparse_exchange(n, targets, l->at, counts, displs, MPI_2INT, MPI_2INT, info, comm, &result);
  int messages;
  MPI_Count edges;
  MPIX_Sparse_get_count(result, &messages, &edges);
  l->room = l->count = (size_t)edges;
  l->at = resize(l->at, l->room, sizeof *l->at);
  MPIX_Sparse_copy(result, edges, l->at);
  MPIX_Sparse_free(&result);
  sort_and_unite(l);
  free(targets);
  free(counts);
  free(displs);
}

/* Adds the opposite of each edge. Collective. */
static inline void add_opposite(edge_list *l, int vertices, MPI_Info info, MPI_Comm comm) {
  edge_list back = {0};
  for (size_t i = 0; i < l->count; i++) add(&back, l->at[i].v, l->at[i].u);
  deliver(&back, vertices, info, comm);
  for (size_t i = 0; i < back.count; i++) add(l, back.at[i].u, back.at[i].v);
  free(back.at);
  sort_and_unite(l);
}

/* A permutation of the numbers below n that needs no memory: a Feistel network on the next larger
   square of a power of 2, again and again until the number is one below n. */
static inline int permute(int seed, int n, int number) {
  int half = 1;
  while (half < 16 && 1ll << (2 * half) < n) half++;
  uint64_t x = (uint64_t)number, mask = (1u << half) - 1;
  do {
    uint64_t left = x >> half, right = x & mask;
    for (uint64_t round = 0; round < 4; round++) {
      uint64_t next = left ^ (stream_of(seed, PERMUTATION, round << 32 | right) & mask);
      left = right;
      right = next;
    }
    x = left << half | right;
  } while (x >= (uint64_t)n);
  return (int)x;
}

/* `edges` for each of so many vertices, on average. Quadrants: a, b, c; d is the rest. */
typedef struct {
  int vertices, edges, seed;
  const double *quadrants;
} rmat;

/* uniform: the graphs of Erdos and Renyi */
static const double rmat_uniform[] = {0.25, 0.25, 0.25};
static const double rmat_nice[] = {0.45, 0.15, 0.15};
static const double rmat_nasty[] = {0.57, 0.19, 0.19};

/* Kinds of R-MAT graphs, and their names as values of an option; ALL: each of them. */
enum { UNIFORM, NICE, NASTY, KINDS, ALL = KINDS };
static const char *const rmat_names[] = {"erdos-renyi", "rmat-nice", "rmat-nasty", "all"};
static const double *const rmat_quadrants[] = {rmat_uniform, rmat_nice, rmat_nasty};

static inline int parse_rmat(const char *text, int *kind) {
  for (*kind = 0; text != NULL && *kind <= ALL; ++*kind)
    if (strcmp(text, rmat_names[*kind]) == 0) return 1;
  return 0;
}

/* New edges become hard to find in a graph that has most of all. */
static inline int rmat_possible(int vertices, int edges) { return (long long)edges * 4 <= vertices; }

/* Edge `number` of an R-MAT graph: in the matrix of all pairs, falls into one of the quadrants with
   probabilities a, b, c, d, then into a quadrant of that, and so on. Vertices are renamed, so that
   those with many edges lie anywhere. */
static inline edge rmat_edge(const rmat *r, uint64_t number) {
  const double *p = r->quadrants;
  uint64_t stream = stream_of(r->seed, RMAT, number);
  long long u, v;
  do { /* until it is inside, if the number of vertices is no power of 2 */
    u = v = 0;
    for (long long size = 1; size < r->vertices; size *= 2) {
      double at = next_real(&stream);
      u = 2 * u + (at >= p[0] + p[1]);
      v = 2 * v + ((at >= p[0] && at < p[0] + p[1]) || at >= p[0] + p[1] + p[2]);
    }
  } while (u >= r->vertices || v >= r->vertices);
  return (edge){permute(r->seed, r->vertices, (int)u), permute(r->seed, r->vertices, (int)v)};
}

/* As many different edges as wanted: each process makes a part of them, sees which ones of those
   that arrived are the same, and as many as these are in the whole graph are made anew. */
static inline void make_rmat(const rmat *r, MPI_Info info, MPI_Comm comm, edge_list *l) {
  int rank, P;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &P);
  long long wanted = (long long)r->vertices * r->edges, made = 0, different = 0;
  while (different < wanted) {
    long long missing = wanted - different;
    for (long long i = missing * rank / P; i < missing * (rank + 1) / P; i++) {
      edge e = rmat_edge(r, (uint64_t)(made + i));
      add(l, e.u, e.v);
    }
    made += missing;
    deliver(l, r->vertices, info, comm);
    different = (long long)l->count;
    MPI_Allreduce(MPI_IN_PLACE, &different, 1, MPI_LONG_LONG, MPI_SUM, comm);
  }
}

/* ----------------------------------------------------------------------------- a process's part */

/* Vertices have local numbers: first the process's own, in order, and then the ghosts: those
   elsewhere that edges lead to, in order too and so owner by owner. */
typedef struct {
  int vertices; /* of the whole graph */
  int first, own, ghosts;
  size_t *start; /* edges of own vertex i are start[i] to start[i + 1] - 1 */
  int *adjacent; /* where they lead to, in local numbers */
  int *there;    /* number of each ghost among its owner's vertices */
  /* processes that own ghosts, and the first ghost of each; one more as end */
  int owners, *owner, *owner_start;
  int *owned_by;                    /* of each ghost: which of these owners it has */
} graph;

static inline void free_graph(graph *g) {
  void *all[] = {g->start, g->adjacent, g->there, g->owner, g->owner_start, g->owned_by};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
}

static inline void number_ghosts(graph *g, const edge_list *l, int P) {
  int last = g->first + g->own, *ghost = allocate(l->count, sizeof *ghost);
  size_t n = 0;
  for (size_t i = 0; i < l->count; i++)
    if (l->at[i].v < g->first || l->at[i].v >= last) ghost[n++] = l->at[i].v;
  qsort(ghost, n, sizeof *ghost, ascending_int);
  for (size_t i = 0; i < n; i++)
    if (i == 0 || ghost[i] != ghost[g->ghosts - 1]) ghost[g->ghosts++] = ghost[i];
  for (size_t e = 0; e < l->count; e++) {
    int *v = &g->adjacent[e];
    if (*v >= g->first && *v < last) *v -= g->first;
    else *v = g->own + (int)((int *)bsearch(v, ghost, (size_t)g->ghosts, sizeof *v, ascending_int) - ghost);
  }

  g->there = ints(g->ghosts);
  g->owned_by = ints(g->ghosts);
  g->owner = ints(g->ghosts < P ? g->ghosts : P);
  g->owner_start = ints((g->ghosts < P ? g->ghosts : P) + 1);
  for (int i = 0; i < g->ghosts; i++) {
    int owner = block_owner(g->vertices, P, ghost[i]);
    if (g->owners == 0 || g->owner[g->owners - 1] != owner) {
      g->owner[g->owners] = owner;
      g->owner_start[g->owners++] = i;
    }
    g->owned_by[i] = g->owners - 1;
    g->there[i] = ghost[i] - block_start(g->vertices, P, owner);
  }
  g->owner_start[g->owners] = g->ghosts;
  free(ghost);
}

/* Collective over `comm`, whose processes own the vertices. Makes the process's part from the
   edges that begin there; `vertices` of the graph are set. */
static inline void build_graph(graph *g, const edge_list *l, MPI_Comm comm) {
  int rank, P;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &P);
  g->first = block_start(g->vertices, P, rank);
  g->own = block_start(g->vertices, P, rank + 1) - g->first;
  g->start = allocate((size_t)g->own + 1, sizeof *g->start);
  g->adjacent = allocate(l->count, sizeof *g->adjacent);
  size_t *next = allocate((size_t)g->own + 1, sizeof *next);
  for (size_t i = 0; i < l->count; i++) g->start[l->at[i].u - g->first + 1]++;
  for (int i = 0; i < g->own; i++) next[i + 1] = g->start[i + 1] += g->start[i];
  for (size_t i = 0; i < l->count; i++) g->adjacent[next[l->at[i].u - g->first]++] = l->at[i].v;
  number_ghosts(g, l, P);
  free(next);
}

#endif
