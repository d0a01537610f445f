/* Helpers that all test programs share: checks that count, a random generator that is the same
   everywhere, and random multigraphs. */
#ifndef TEST_H
#define TEST_H

#include <mpi.h>
#include <mpix_neighbor.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int test_rank, test_size, test_failures, test_checks;

/* one condition; the message goes with the first failures of a process */
#define CHECK(condition, ...)                                                     \
  do {                                                                            \
    test_checks++;                                                                \
    if (!(condition) && ++test_failures <= 10) {                                  \
      fprintf(stderr, "%s:%d: process %d of %d: ", __FILE__, __LINE__, test_rank, \
              test_size);                                                         \
      fprintf(stderr, __VA_ARGS__);                                               \
      fprintf(stderr, "  [%s]\n", #condition);                                    \
    }                                                                             \
  } while (0)

#define OK(call)                                                                          \
  do {                                                                                    \
    int ok_rc = (call);                                                                   \
    CHECK(ok_rc == MPI_SUCCESS, "%s returned %d: %s", #call, ok_rc, test_message(ok_rc)); \
  } while (0)

static inline const char *test_message(int code) {
  static char text[MPI_MAX_ERROR_STRING];
  int length;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) return "?";
  return text;
}

/* the call on `comm` failed with this class, and its text holds all of `text` */
static inline void test_fails(int line, MPI_Comm comm, int code, int class, const char *text) {
  int got = -1, length = -1;
  char have[2000] = "";
  MPI_Error_class(code, &got);
  MPIX_Neighbor_error_string(comm, sizeof have, have, &length);
  CHECK(got == class, "line %d: class %d, not %d: %s", line, got, class, have);
  CHECK(strstr(have, text), "line %d: text \"%s\" does not hold \"%s\"", line, have, text);
  CHECK(length == (int)strlen(have), "line %d: length %d", line, length);
}
/* for a call on the communicator that is called `comm` */
#define FAILS(call, class, text) test_fails(__LINE__, comm, call, class, text)

static inline void test_init(int *argc, char ***argv) {
  int started;
  MPI_Initialized(&started);
  if (!started) MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &test_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &test_size);
  /* our errors come back as codes: a failed check tells more than an abort */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

/* test_init for several threads; false, with a check that passes, if the MPI has none */
static inline int test_init_threads(int *argc, char ***argv) {
  int level;
  MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level);
  test_init(argc, argv);
  if (level == MPI_THREAD_MULTIPLE) return 1;
  if (test_rank == 0) printf("skipped: this MPI has no MPI_THREAD_MULTIPLE\n");
  test_checks++;
  return 0;
}

/* ends the program; exit code 1 on all processes if any check failed on any, or if there was no
   check. TEST_NO_FINALIZE: without MPI_Finalize, for an MPI that does not return from it
   (finalize_tcp.c) */
static inline int test_finish(void) {
  int mine[2] = {test_failures, test_checks}, all[2];
  MPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (test_rank == 0) printf("%d checks, %d failed\n", all[1], all[0]);
  if (getenv("TEST_NO_FINALIZE")) {
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    _exit(all[0] != 0 || all[1] == 0);
  }
  MPI_Finalize();
  return all[0] != 0 || all[1] == 0;
}

/* SplitMix64 */
static inline uint64_t mix(uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static inline uint64_t mix2(uint64_t a, uint64_t b) { return mix(mix(a) + b); }
static inline uint64_t mix3(uint64_t a, uint64_t b, uint64_t c) { return mix(mix2(a, b) + c); }

/* the lists of all processes */
typedef struct {
  int n;
  int *indegree, *outdegree;
  int **sources, **targets;
} graph;

static inline void insert(int **list, int *length, int at, int value) {
  *list = realloc(*list, (size_t)(*length + 1) * sizeof(int));
  memmove(*list + at + 1, *list + at, (size_t)(*length - at) * sizeof(int));
  (*list)[at] = value;
  (*length)++;
}

static inline graph graph_new(int n) {
  graph g = {n, calloc(n, sizeof(int)), calloc(n, sizeof(int)), calloc(n, sizeof(int *)), calloc(n, sizeof(int *))};
  return g;
}

static inline void graph_free(graph *g) {
  for (int r = 0; r < g->n; r++) {
    free(g->sources[r]);
    free(g->targets[r]);
  }
  free(g->sources);
  free(g->targets);
  free(g->indegree);
  free(g->outdegree);
}

/* a random multigraph with repeated edges, self edges, MPI_PROC_NULL and, in sparse ones, processes
   of degree 0; the places in the lists are random too, so that nothing but the k-th to k-th rule
   tells which edges belong together */
static inline graph graph_random(int n, int edges, uint64_t seed) {
  graph g = graph_new(n);
  for (int e = 0; e < edges; e++) {
    uint64_t h = mix2(seed, e);
    int s = h % n, t = (h >> 20) % n;
    insert(&g.targets[s], &g.outdegree[s], (h >> 40) % (g.outdegree[s] + 1), t);
    insert(&g.sources[t], &g.indegree[t], (h >> 50) % (g.indegree[t] + 1), s);
    if (h % 11 == 0) {
      insert(&g.targets[s], &g.outdegree[s], 0, MPI_PROC_NULL);
      insert(&g.sources[t], &g.indegree[t], g.indegree[t], MPI_PROC_NULL);
    }
  }
  return g;
}

/* the target entry of the process `source` whose block must arrive in source entry `j` of process
   `r`: the definition of matching */
static inline int graph_partner(const graph *g, int r, int j) {
  int source = g->sources[r][j], k = 0;
  for (int i = 0; i < j; i++) k += g->sources[r][i] == source;
  for (int i = 0; i < g->outdegree[source]; i++)
    if (g->targets[source][i] == r && k-- == 0) return i;
  return -1;
}

static inline void graph_set(const graph *g, int operations, MPI_Info info, MPI_Comm comm) {
  int r;
  MPI_Comm_rank(comm, &r);
  OK(MPIX_Neighborhood_set(operations, g->indegree[r], g->sources[r], MPI_UNWEIGHTED, g->outdegree[r], g->targets[r], MPI_UNWEIGHTED, info, comm));
}

/* int `k` of what process `s` sends in target entry `i` */
static inline int test_value(int s, int i, int k) { return (int)(mix3(s, i, k) & 0x7fffffff); }

/* the bytes of a buffer, as ints */
typedef struct {
  int total, *image;
} buffer;

static inline buffer new_buffer(int ints, int fill) {
  buffer b = {ints, malloc((size_t)(ints ? ints : 1) * sizeof(int))};
  for (int i = 0; i < ints; i++) b.image[i] = fill;
  return b;
}

static inline void compare(const char *what, const buffer *have, const buffer *want) {
  int bad = -1;
  for (int i = 0; i < have->total && bad < 0; i++)
    if (have->image[i] != want->image[i]) bad = i;
  CHECK(bad < 0, "%s: int %d of %d is %d, not %d", what, bad, have->total, bad < 0 ? 0 : have->image[bad], bad < 0 ? 0 : want->image[bad]);
}

/* a duplicate of the world, whose errors come back as codes */
static inline MPI_Comm test_duplicate(void) {
  MPI_Comm comm;
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return comm;
}

/* a ring: each process sends to the next rank, and receives from the one before */
static inline void test_ring(int operations, MPI_Info info, MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &size);
  int left = (rank + size - 1) % size, right = (rank + 1) % size;
  OK(MPIX_Neighborhood_set(operations, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, info, comm));
}

/* an info object with one hint */
static inline MPI_Info test_hint(const char *key, const char *value) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, key, value);
  return info;
}

/* the description of an operation's neighborhood; the next call overwrites it */
static inline const char *test_described(int operation, MPI_Comm comm) {
  static char text[8192];
  int length;
  OK(MPIX_Neighborhood_describe(operation, comm, sizeof text, text, &length));
  return text;
}

/* a datatype that is `count` elements at an absolute address */
static inline MPI_Datatype absolute(int *address, int count, MPI_Datatype element) {
  MPI_Aint at;
  MPI_Datatype type;
  MPI_Get_address(address, &at);
  MPI_Type_create_struct(1, &count, &at, &element, &type);
  MPI_Type_commit(&type);
  return type;
}

#define ALL_OPERATIONS (MPIX_NEIGHBOR_GATHER | MPIX_NEIGHBOR_ALLTOALL | MPIX_NEIGHBOR_REDUCE | MPIX_NEIGHBOR_ACCUMULATE)

#endif
