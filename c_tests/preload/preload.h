/* Helpers of the programs that run under the preload library. They do not know of it: nothing but
   MPI is included. Every result is compared with a computed one, never with another MPI call's. */
#ifndef PRELOAD_H
#define PRELOAD_H

#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int test_rank, test_size, test_failures, test_checks;

#define CHECK(condition, ...)                                                                         \
  do {                                                                                                \
    test_checks++;                                                                                    \
    if (!(condition) && ++test_failures <= 10) {                                                      \
      fprintf(stderr, "%s:%d: process %d of %d: ", __FILE__, __LINE__, test_rank, test_size);         \
      fprintf(stderr, __VA_ARGS__);                                                                   \
      fprintf(stderr, "  [%s]\n", #condition);                                                        \
    }                                                                                                 \
  } while (0)

#define OK(call)                                                            \
  do {                                                                      \
    int ok_rc = (call);                                                     \
    CHECK(ok_rc == MPI_SUCCESS, "%s returned %d", #call, ok_rc);            \
  } while (0)

static inline void test_init(int *argc, char ***argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &test_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &test_size);
}

/* errors of calls without a communicator come back as codes too */
static inline void test_errors_return(void) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

static inline int test_finish(void) {
  int mine[2] = {test_failures, test_checks}, all[2];
  MPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (test_rank == 0) printf("%d checks, %d failed\n", all[1], all[0]);
  MPI_Finalize();
  return all[0] != 0 || all[1] == 0;
}

/* int `k` of what process `s` sends in target entry `i` */
static inline int test_value(int s, int i, int k) {
  uint64_t z = ((uint64_t)s * 1000003 + i) * 1000033 + k + 1;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (int)((z ^ (z >> 31)) & 0x7fffffff);
}

/* a communicator with a topology, and what must arrive on it: the block in source entry j is what
   `sources[j]` sends in its target entry `entries[j]` */
typedef struct {
  MPI_Comm comm;
  const char *name;
  int rank, indegree, outdegree, *sources, *targets, *entries;
} topology;

static inline void topology_free(topology *t) {
  free(t->sources);
  free(t->targets);
  free(t->entries);
  if (t->comm != MPI_COMM_NULL) MPI_Comm_free(&t->comm);
}

static inline int *ints(int n) { return malloc((size_t)(n + 1) * sizeof(int)); }

/* Cartesian: along each dimension the neighbor below, then the one above; what is sent down arrives
   from above, and what is sent up from below */
static inline topology of_cartesian(const char *name, MPI_Comm comm) {
  topology t = {.comm = comm, .name = name};
  if (comm == MPI_COMM_NULL) return t;
  int n;
  MPI_Comm_rank(comm, &t.rank);
  MPI_Cartdim_get(comm, &n);
  t.indegree = t.outdegree = 2 * n;
  t.sources = ints(2 * n), t.targets = ints(2 * n), t.entries = ints(2 * n);
  for (int d = 0; d < n; d++) {
    MPI_Cart_shift(comm, d, 1, &t.sources[2 * d], &t.sources[2 * d + 1]);
    t.entries[2 * d] = 2 * d + 1;
    t.entries[2 * d + 1] = 2 * d;
  }
  memcpy(t.targets, t.sources, 2 * n * sizeof(int));
  return t;
}

/* graphs: repeated edges match k-th to k-th */
static inline void match(topology *t) {
  int size, most, longest;
  MPI_Comm_rank(t->comm, &t->rank);
  MPI_Comm_size(t->comm, &size);
  most = t->outdegree;
  MPI_Allreduce(&most, &longest, 1, MPI_INT, MPI_MAX, t->comm);
  int *mine = ints(longest), *all = ints(longest * size);
  for (int i = 0; i < longest; i++) mine[i] = i < t->outdegree ? t->targets[i] : -99;
  if (longest > 0) MPI_Allgather(mine, longest, MPI_INT, all, longest, MPI_INT, t->comm);
  t->entries = ints(t->indegree);
  for (int j = 0; j < t->indegree; j++) {
    int k = 0;
    for (int i = 0; i < j; i++) k += t->sources[i] == t->sources[j];
    t->entries[j] = -1;
    for (int i = 0; i < longest && t->sources[j] >= 0; i++)
      if (all[t->sources[j] * longest + i] == t->rank && k-- == 0) t->entries[j] = i;
  }
  free(mine);
  free(all);
}

static inline topology of_graph(const char *name, MPI_Comm comm) {
  topology t = {.comm = comm, .name = name};
  if (comm == MPI_COMM_NULL) return t;
  MPI_Comm_rank(comm, &t.rank);
  MPI_Graph_neighbors_count(comm, t.rank, &t.indegree);
  t.outdegree = t.indegree;
  t.sources = ints(t.indegree), t.targets = ints(t.indegree);
  MPI_Graph_neighbors(comm, t.rank, t.indegree, t.sources);
  memcpy(t.targets, t.sources, t.indegree * sizeof(int));
  match(&t);
  return t;
}

static inline topology of_dist_graph(const char *name, MPI_Comm comm) {
  topology t = {.comm = comm, .name = name};
  int weighted;
  MPI_Dist_graph_neighbors_count(comm, &t.indegree, &t.outdegree, &weighted);
  t.sources = ints(t.indegree), t.targets = ints(t.outdegree);
  int *a = ints(t.indegree), *b = ints(t.outdegree);
  MPI_Dist_graph_neighbors(comm, t.indegree, t.sources, weighted ? a : MPI_UNWEIGHTED, t.outdegree, t.targets, weighted ? b : MPI_UNWEIGHTED);
  free(a);
  free(b);
  match(&t);
  return t;
}

/* Cartesian with n dimensions; sizes below zero are not periodic */
static inline topology cartesian(const char *name, int n, int a, int b, int c) {
  int dims[3] = {abs(a), abs(b), abs(c)}, periods[3] = {a > 0, b > 0, c > 0};
  MPI_Comm comm;
  OK(MPI_Cart_create(MPI_COMM_WORLD, n, dims, periods, 0, &comm));
  return of_cartesian(name, comm);
}

/* edges s -> t with `edges(s, t)` repeats, given by both ends; made from `parent`, which has the
   processes of MPI_COMM_WORLD */
static inline topology dist_graph_from(MPI_Comm parent, const char *name, int (*edges)(int s, int t), int weighted) {
  int *sources = ints(8 * test_size), *targets = ints(8 * test_size), in = 0, out = 0;
  for (int p = 0; p < test_size; p++) {
    for (int k = edges(p, test_rank); k > 0; k--) sources[in++] = p;
    /* the ends list repeated edges in different places */
    for (int k = edges(test_rank, test_size - 1 - p); k > 0; k--) targets[out++] = test_size - 1 - p;
  }
  int *weights = ints(8 * test_size);
  for (int i = 0; i < 8 * test_size; i++) weights[i] = 1 + i % 3;
  MPI_Comm comm;
  OK(MPI_Dist_graph_create_adjacent(parent, in, sources, weighted ? weights : MPI_UNWEIGHTED, out, targets,
                                    weighted ? weights : MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
  free(sources);
  free(targets);
  free(weights);
  return of_dist_graph(name, comm);
}
static inline topology dist_graph(const char *name, int (*edges)(int s, int t), int weighted) {
  return dist_graph_from(MPI_COMM_WORLD, name, edges, weighted);
}

static inline int edges_many(int s, int t) { return (s * 7 + t * 3) % 4 == 0 ? 0 : (s + 2 * t) % 3 + (s == t); }
/* process 0 sends to all others and hears of nobody; some have degree 0 */
static inline int edges_star(int s, int t) { return s == 0 && t % 3 == 1; }
static inline int edges_ring(int s, int t) { return t == (s + 1) % test_size; }
static inline int edges_none(int s, int t) { return s + t < 0; }

#define TOPOLOGIES 16
/* some communicators of all kinds; returns how many */
static inline int topologies(topology *t) {
  int n = 0, two[2] = {0, 0}, half = test_size % 2 == 0 ? 2 : 1;
  MPI_Dims_create(test_size, 2, two);
  t[n++] = cartesian("ring", 1, test_size, 1, 1);
  t[n++] = cartesian("line", 1, -test_size, 1, 1);
  t[n++] = cartesian("torus", 2, two[0], two[1], 1);
  t[n++] = cartesian("short dimensions", 3, half, test_size / half, 1);
  t[n++] = cartesian("cylinder", 2, -two[0], two[1], 1);
  if (test_size > 3) t[n++] = cartesian("ring of 3", 1, 3, 1, 1);
  int keep[3] = {1, 0, 1};
  MPI_Comm comm;
  OK(MPI_Cart_sub(t[3].comm, keep, &comm));
  t[n++] = of_cartesian("part", comm);
  OK(MPI_Comm_dup(t[2].comm, &comm));
  t[n++] = of_cartesian("duplicate", comm);
  /* a graph: rings of distance 1 and 2, both ways */
  int *index = ints(test_size), *edges = ints(4 * test_size), at = 0;
  for (int p = 0; p < test_size; p++) {
    int steps[4] = {1, test_size - 1, 2, 2 * test_size - 2};
    for (int k = 0; k < (test_size > 4 ? 4 : 2); k++) edges[at++] = (p + steps[k]) % test_size;
    index[p] = at;
  }
  OK(MPI_Graph_create(MPI_COMM_WORLD, test_size, index, edges, 0, &comm));
  free(index);
  free(edges);
  t[n++] = of_graph("graph", comm);
  t[n++] = dist_graph("repeated edges", edges_many, 0);
  t[n++] = dist_graph("star", edges_star, 1);
  t[n++] = dist_graph("no edges", edges_none, 0);
  /* by the process before the source */
  int source = (test_rank + 1) % test_size, degree = 2, destinations[2] = {source, (source + 1) % test_size};
  OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &source, &degree, destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
  t[n++] = of_dist_graph("distributed graph", comm);
  OK(MPI_Comm_dup_with_info(t[9 + (test_size > 3)].comm, MPI_INFO_NULL, &comm));
  t[n++] = of_dist_graph("duplicated graph", comm);
  /* distributed graphs, whatever their parents are */
  t[n++] = dist_graph_from(t[0].comm, "from a grid", edges_many, 1);
  t[n++] = dist_graph_from(t[7 + (test_size > 3)].comm, "from a graph", edges_ring, 0);
  return n;
}

#endif
