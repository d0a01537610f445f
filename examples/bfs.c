/* Level-synchronous breadth-first search of a distributed graph: whom a process sends to changes
 * from level to level, and nobody knows who will send.
 *
 *   mpicc -std=c11 -O2 -Iinclude examples/bfs.c -lmpix_neighbor -lm -o bfs
 *   mpirun -n 4 ./bfs --graph rmat-nasty --vertices 100000
 *   mpirun -n 4 ./bfs --file graph.txt --undirected --protocol pcx
 *
 * Vertices are dealt out in blocks. A process knows the edges that leave its vertices, and nothing
 * of those that arrive. In each level it follows the edges of the vertices that were found in the
 * level before; those that lie elsewhere it names to their owners, each owner one message, each
 * vertex once:
 *
 *   MPIX_Sparse_exchange       once a level: the vertices that others found come back as a result
 *   MPIX_Sparse_exchange_each  the same with --stream: vertices are taken while other messages are
 *                              still on their way
 *   MPI_Alltoall, Alltoallv    with --protocol alltoallv, for comparison: counts for all processes,
 *                              most of them 0
 *
 * Sparse exchanges also bring the edges to their sources when the graph is made, and to vertices
 * what checks them.
 *
 * The distances are checked twice: each process looks whether each vertex is one step farther than
 * the nearest of those that lead to it, which only the true distances fulfil; and process 0
 * compares them with a serial run, unless the graph is too large for one process. The exit code is
 * 0 if both agree.
 *
 * The algorithm and the balanced graphs: Hoefler, Siebert, Lumsdaine, Scalable Communication
 * Protocols for Dynamic Sparse Data Exchange, 2010, section 5.1. R-MAT graphs: see graph.h.
 *
 * No return code is looked at, of MPI_ and MPIX_ functions alike: communicators keep the default
 * error handler, MPI_ERRORS_ARE_FATAL, which this library calls as MPI does. */

#include "graph.h"
#include "options.h"
#include <errno.h>

enum { MOST_REPEATS = 10000, MOST_LINES = 24 };
static const long long MOST_SERIAL_EDGES = 40000000; /* half a gigabyte on process 0 */

static const char usage[] =
    "usage: bfs [options]\n"
    "  --graph NAME       balanced, rmat-nice, rmat-nasty or file (balanced)\n"
    "  --file FILE        the graph: an edge `u v` a line, vertices from 0, comments from # on\n"
    "  --vertices N       balanced: vertices of a block (2000); R-MAT: of the graph (20000)\n"
    "  --blocks B         balanced: blocks of the graph (one a process)\n"
    "  --edges K, -k K    balanced: edges from a block to others (6); R-MAT: edges a vertex, on average (8)\n"
    "  --probability P    balanced: that a vertex has an edge to another one of its block (0.03)\n"
    "  --undirected       R-MAT, file: edges lead both ways\n"
    "  --seed N           of the random numbers (1)\n"
    "  --root V           where the search begins (the vertex with the most edges)\n"
    "  --protocol NAME    the library's protocol: info key mpix_sparse; alltoallv: MPI_Alltoall and Alltoallv (auto)\n"
    "  --stream           take vertices as messages arrive\n"
    "  --repeat N         searches to time, after one that is not timed (10)\n";

enum kind { BALANCED, RMAT_NICE, RMAT_NASTY, FROM_FILE };
static const char *const kinds[] = {"balanced", "rmat-nice", "rmat-nasty", "file"};

typedef struct {
  enum kind kind;
  int vertices, blocks, edges, seed, root, repeat; /* -1: not given */
  int undirected, stream, help;
  double probability;
  const char *file, *protocol;
} options;

/* -------------------------------------------------------------------------------------- options */

static int parse_kind(const char *text, enum kind *kind) {
  for (int k = BALANCED; text != NULL && k <= FROM_FILE; k++) {
    if (strcmp(text, kinds[k]) != 0) continue;
    *kind = (enum kind)k;
    return 1;
  }
  return 0;
}

static int parse_probability(const char *text, double *p) {
  char *end;
  *p = text ? strtod(text, &end) : -1;
  return text != NULL && end != text && *end == '\0' && *p >= 0 && *p <= 1;
}

/* All processes have the same arguments, so that all of them find the same error. Returns the
   argument that is wrong, or NULL. Past the end of argv stands a NULL, which no parser accepts. */
static const char *parse(char **argv, int processes, options *o) {
  *o = (options){.vertices = -1, .blocks = -1, .edges = -1, .seed = 1, .root = -1, .repeat = 10, .probability = 0.03};
  o->protocol = "auto";
  const char *graph = NULL, *vertices = "--vertices";
  for (char **a = argv + 1; *a != NULL; a++) {
    const char *name = *a;
    int ok = 1;
    if (strcmp(name, "--graph") == 0) ok = parse_kind(a[1], &o->kind) && (graph = *++a) != NULL;
    else if (strcmp(name, "--file") == 0) ok = a[1] != NULL && (o->file = *++a) != NULL;
    else if (strcmp(name, "--vertices") == 0) ok = parse_int(a[1], 1, 2000000000, &o->vertices) && *++a != NULL;
    else if (strcmp(name, "--blocks") == 0) ok = parse_int(a[1], 1, 2000000000, &o->blocks) && *++a != NULL;
    else if (strcmp(name, "--edges") == 0 || strcmp(name, "-k") == 0)
      ok = parse_int(a[1], 0, 2000000000, &o->edges) && *++a != NULL;
    else if (strcmp(name, "--probability") == 0) ok = parse_probability(a[1], &o->probability) && *++a != NULL;
    else if (strcmp(name, "--seed") == 0) ok = parse_int(a[1], 0, 2000000000, &o->seed) && *++a != NULL;
    else if (strcmp(name, "--root") == 0) ok = parse_int(a[1], 0, 2000000000, &o->root) && *++a != NULL;
    else if (strcmp(name, "--repeat") == 0)
      ok = parse_int(a[1], 1, 2000000000, &o->repeat) && o->repeat <= MOST_REPEATS && *++a != NULL;
    else if (strcmp(name, "--protocol") == 0) ok = a[1] != NULL && (o->protocol = *++a) != NULL;
    else if (strcmp(name, "--undirected") == 0) o->undirected = 1;
    else if (strcmp(name, "--stream") == 0) o->stream = 1;
    else if (strcmp(name, "--help") == 0) o->help = 1;
    else ok = 0;
    if (!ok) return name;
  }
  if (o->file != NULL && graph == NULL) o->kind = FROM_FILE;
  if ((o->kind == FROM_FILE) != (o->file != NULL)) return "--file";
  if (o->undirected && o->kind == BALANCED) return "--undirected";
  if (o->blocks > 0 && o->kind != BALANCED) return "--blocks";
  if (o->blocks < 0) o->blocks = processes;
  if (o->vertices < 0) o->vertices = o->kind == BALANCED ? 2000 : 20000;
  if (o->edges < 0) o->edges = o->kind == BALANCED ? 6 : 8;
  if (o->kind == BALANCED) {
    if (o->vertices > 2000000000 / o->blocks) return vertices;
    o->vertices *= o->blocks;
  } else if (o->kind != FROM_FILE && !rmat_possible(o->vertices, o->edges)) {
    return "--edges";
  }
  return NULL;
}

/* ------------------------------------------------------------------------------------ the edges */

/* Blocks of n vertices. In a block each vertex has an edge to each other one with a certain
   probability; some edges lead from any vertex of the block to any vertex of the others; and a
   cycle through all vertices makes sure that each can be reached. Only the edges that leave
   vertices from `first` to below `last`. */
static void make_balanced(const options *o, int first, int last, edge_list *l) {
  int V = o->vertices, n = V / o->blocks;
  /* -0 if all edges are there, minus infinity if none is */
  double scale = 1 / log1p(-o->probability);
  for (int u = first; u < last; u++) {
    uint64_t stream = stream_of(o->seed, ROWS, (uint64_t)u);
    int begin = u / n * n;
    /* how many vertices are passed over before the next edge: one random number an edge, not one a
       pair */
    for (double v = 0; o->probability > 0; v++) {
      v += floor(log1p(-next_real(&stream)) * scale);
      if (v >= n) break;
      if (begin + (int)v != u) add(l, u, begin + (int)v);
    }
    if (V > 1) add(l, u, u + 1 < V ? u + 1 : 0);
  }
  if (o->blocks == 1 || last == first) return;
  for (int b = first / n; b <= (last - 1) / n; b++) {
    for (int i = 0; i < o->edges; i++) {
      uint64_t stream = stream_of(o->seed, REMOTE, (uint64_t)b * (uint64_t)o->edges + (uint64_t)i);
      int u = b * n + next_below(&stream, n), v = next_below(&stream, V - n);
      if (v >= b * n) v += n;
      if (u >= first && u < last) add(l, u, v);
    }
  }
}

/* Reads an edge list. What is wrong is said with the line; 0 is returned then. */
static int read_edges(const char *name, edge_list *l, int *vertices) {
  char text[256];
  const char *wrong = NULL;
  FILE *file = fopen(name, "r");
  if (file == NULL) {
    fprintf(stderr, "bfs: %s: %s\n", name, strerror(errno));
    return 0;
  }
  long line = 0;
  *vertices = 0;
  while (wrong == NULL && fgets(text, sizeof text, file) != NULL) {
    line++;
    int c = 0;
    if (strchr(text, '\n') == NULL && !feof(file)) {
      /* a long comment is read past */
      if (strchr(text, '#') == NULL) wrong = "line longer than 254 characters";
      while (c != '\n' && c != EOF) c = getc(file);
    }
    text[strcspn(text, "#")] = '\0';
    char *at = text, *end;
    long ends[2] = {0, 0};
    int n = 0;
    errno = 0;
    for (; n < 2; n++, at = end) {
      ends[n] = strtol(at, &end, 10);
      if (end == at) break;
      if (errno != 0 || ends[n] < 0 || ends[n] >= 2000000000) wrong = "vertices are numbers from 0 to below 2 10^9";
    }
    if (wrong == NULL && (n == 1 || at[strspn(at, " \t\r\n")] != '\0')) wrong = "expected two vertices, or a comment";
    if (wrong != NULL || n == 0) continue;
    add(l, (int)ends[0], (int)ends[1]);
    for (int i = 0; i < 2; i++)
      if (ends[i] >= *vertices) *vertices = (int)ends[i] + 1;
  }
  if (wrong == NULL && ferror(file)) wrong = strerror(errno);
  if (wrong == NULL && l->count == 0) wrong = "no edges";
  if (wrong != NULL) fprintf(stderr, "bfs: %s:%ld: %s\n", name, line, wrong);
  fclose(file);
  return wrong == NULL;
}

/* Collective over `comm`: its processes own the vertices. On a communicator of one process nothing
   is sent. */
static int make_graph(const options *o, MPI_Info info, MPI_Comm comm, graph *g) {
  int rank, P, ok = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &P);
  *g = (graph){.vertices = o->vertices};
  edge_list l = {0};
  if (o->kind == FROM_FILE) {
    /* one reader: only its node needs the file */
    if (rank == 0) ok = read_edges(o->file, &l, &g->vertices);
    int told[2] = {ok, g->vertices};
    MPI_Bcast(told, 2, MPI_INT, 0, comm);
    if (!told[0]) {
      free(l.at);
      return 0;
    }
    g->vertices = told[1];
    deliver(&l, g->vertices, info, comm);
  } else if (o->kind != BALANCED) {
    const rmat r = {o->vertices, o->edges, o->seed, o->kind == RMAT_NICE ? rmat_nice : rmat_nasty};
    make_rmat(&r, info, comm, &l);
  } else {
    make_balanced(o, block_start(g->vertices, P, rank), block_start(g->vertices, P, rank + 1), &l);
  }
  if (o->undirected) add_opposite(&l, g->vertices, info, comm);
  build_graph(g, &l, comm);
  free(l.at);
  return 1;
}

/* ----------------------------------------------------------------------------------- the search */

/* what happened in a level, at one process or in all together */
typedef struct {
  /* vertices looked at, their edges, vertices sent, processes sent to */
  long long frontier, edges, sent, targets;
} level;

typedef struct {
  const graph *g;
  int distance;   /* of the vertices of `found` */
  int *distances; /* of own vertices; -1: not found yet */
  int *frontier, frontiers, *found, founds;
  /* of each ghost: its owner has been told; what comes later is no nearer */
  char *sent;
  int *outgoing, outgoings; /* ghosts to tell in this level */
  int targets, *target, *counts, *displs, *packed;
  int *all_counts; /* for alltoallv: 4 arrays of an entry for each process; else NULL */
  level *levels;
  int nlevels, room;
  double exchange_seconds, seconds;
} search;

static search make_search(const options *o, const graph *g, MPI_Comm comm) {
  int P;
  MPI_Comm_size(comm, &P);
  search s = {.g = g, .distances = ints(g->own), .frontier = ints(g->own), .found = ints(g->own)};
  s.sent = allocate((size_t)g->ghosts, 1);
  s.outgoing = ints(g->ghosts);
  s.packed = ints(g->ghosts);
  s.target = ints(g->owners);
  s.counts = ints(g->owners);
  s.displs = ints(g->owners);
  if (strcmp(o->protocol, "alltoallv") == 0) s.all_counts = allocate((size_t)P, 4 * sizeof(int));
  return s;
}

static void free_search(search *s) {
  void *all[] = {s->distances, s->frontier, s->found,  s->sent,       s->outgoing, s->packed,
                 s->target,    s->counts,   s->displs, s->all_counts, s->levels};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
}

static void find(search *s, int vertex) {
  if (s->distances[vertex] >= 0) return;
  s->distances[vertex] = s->distance;
  s->found[s->founds++] = vertex;
}

/* Follows the edges of the frontier. */
static void expand(search *s, level *l) {
  const graph *g = s->g;
  s->outgoings = 0;
  for (int i = 0; i < s->frontiers; i++) {
    int u = s->frontier[i];
    l->edges += (long long)(g->start[u + 1] - g->start[u]);
    for (size_t e = g->start[u]; e < g->start[u + 1]; e++) {
      int v = g->adjacent[e];
      if (v < g->own) {
        find(s, v);
      } else if (!s->sent[v - g->own]) {
        s->sent[v - g->own] = 1;
        s->outgoing[s->outgoings++] = v - g->own;
      }
    }
  }
}

/* Sorts what goes out by owners, as numbers of the owners' vertices. */
static void pack(search *s) {
  const graph *g = s->g;
  for (int i = 0; i < g->owners; i++) s->counts[i] = 0;
  for (int i = 0; i < s->outgoings; i++) s->counts[g->owned_by[s->outgoing[i]]]++;
  for (int i = 0, sum = 0; i < g->owners; sum += s->counts[i++]) s->displs[i] = sum;
  for (int i = 0; i < s->outgoings; i++)
    s->packed[s->displs[g->owned_by[s->outgoing[i]]]++] = g->there[s->outgoing[i]];
  s->targets = 0;
  for (int i = 0; i < g->owners; i++) {
    if (s->counts[i] == 0) continue;
    s->target[s->targets] = g->owner[i];
    /* the place had moved behind its last vertex */
    s->displs[s->targets] = s->displs[i] - s->counts[i];
    s->counts[s->targets++] = s->counts[i];
  }
}

static int find_all(int source, MPI_Count count, const void *data, void *context) {
  (void)source;
  for (MPI_Count i = 0; i < count; i++) find(context, ((const int *)data)[i]);
  return MPI_SUCCESS;
}

static void exchange_sparse(search *s, MPI_Info info, MPI_Comm comm) {
  MPIX_Sparse_result result;
  int messages, source;
  MPI_Count count;
  void *data;
  MPIX_Sparse_exchange(s->targets, s->target, s->packed, s->counts, s->displs, MPI_INT, MPI_INT, info, comm, &result);
  MPIX_Sparse_get_count(result, &messages, &count);
  for (int i = 0; i < messages; i++) {
    MPIX_Sparse_get_message(result, i, &source, &count, &data);
    find_all(source, count, data, s);
  }
  MPIX_Sparse_free(&result);
}

/* The distances are the same in whatever order messages come; only the order of the frontier
   changes. */
static void exchange_stream(search *s, MPI_Info info, MPI_Comm comm) {
  MPIX_Sparse_exchange_each(s->targets, s->target, s->packed, s->counts, s->displs, MPI_INT, MPI_INT, find_all, s, info,
                            comm);
}

/* As programs do without a sparse exchange: all processes tell all others how much will come. */
static void exchange_alltoallv(search *s, MPI_Info info, MPI_Comm comm) {
  (void)info;
  int P, sum = 0;
  MPI_Comm_size(comm, &P);
  int *sendcounts = s->all_counts, *senddispls = sendcounts + P, *recvcounts = senddispls + P;
  int *recvdispls = recvcounts + P;
  memset(sendcounts, 0, (size_t)P * sizeof *sendcounts);
  for (int i = 0; i < s->targets; i++) {
    sendcounts[s->target[i]] = s->counts[i];
    senddispls[s->target[i]] = s->displs[i];
  }
  MPI_Alltoall(sendcounts, 1, MPI_INT, recvcounts, 1, MPI_INT, comm);
  for (int p = 0; p < P; sum += recvcounts[p++]) recvdispls[p] = sum;
  int *data = ints(sum);
  MPI_Alltoallv(s->packed, sendcounts, senddispls, MPI_INT, data, recvcounts, recvdispls, MPI_INT, comm);
  find_all(MPI_ANY_SOURCE, sum, data, s);
  free(data);
}

/* One search from the root. Collective. */
static void run_search(const options *o, search *s, int root, MPI_Info info, MPI_Comm comm) {
  const graph *g = s->g;
  void (*exchange)(search *, MPI_Info, MPI_Comm) = s->all_counts ? exchange_alltoallv
                                                   : o->stream   ? exchange_stream
                                                                 : exchange_sparse;
  for (int i = 0; i < g->own; i++) s->distances[i] = -1;
  memset(s->sent, 0, (size_t)g->ghosts);
  s->distance = s->founds = s->nlevels = 0;
  s->exchange_seconds = 0;
  MPI_Barrier(comm);
  double begin = MPI_Wtime();
  if (root >= g->first && root < g->first + g->own) find(s, root - g->first);
  for (int more = 1; more;) {
    int *swap = s->frontier;
    s->frontier = s->found;
    s->frontiers = s->founds;
    s->found = swap;
    s->founds = 0;
    s->distance++;
    level l = {.frontier = s->frontiers};
    expand(s, &l);
    more = s->founds > 0 || s->outgoings > 0;
    MPI_Allreduce(MPI_IN_PLACE, &more, 1, MPI_INT, MPI_LOR, comm);
    if (more) {
      pack(s);
      double t = MPI_Wtime();
      exchange(s, info, comm);
      s->exchange_seconds += MPI_Wtime() - t;
      l.sent = s->outgoings;
      l.targets = s->targets;
    }
    if (s->nlevels == s->room) {
      s->room = s->room ? 2 * s->room : 64;
      s->levels = resize(s->levels, (size_t)s->room, sizeof *s->levels);
    }
    s->levels[s->nlevels++] = l;
  }
  s->seconds = MPI_Wtime() - begin;
}

/* ----------------------------------------------------------------------------------- the checks */

static void lower(int *least, int value) {
  if (value < *least) *least = value;
}

/* The root has distance 0, and each other vertex is one step farther than the nearest one with an
   edge to it, or has none that was found. No other distances than the true ones fulfil this: of
   wrong ones the least could not be. Returns how many vertices of the whole graph are wrong. */
static long long check_everywhere(const graph *g, const int *distances, int root, MPI_Info info, MPI_Comm comm) {
  int *least = ints(g->own + g->ghosts), *counts = ints(g->owners), *displs = ints(g->owners);
  edge *told = allocate((size_t)g->ghosts, sizeof *told);
  for (int v = 0; v < g->own + g->ghosts; v++) least[v] = INT_MAX;
  if (root >= g->first && root < g->first + g->own) least[root - g->first] = 0;
  for (int u = 0; u < g->own; u++)
    for (size_t e = g->start[u]; distances[u] >= 0 && e < g->start[u + 1]; e++)
      lower(&least[g->adjacent[e]], distances[u] + 1);
  int n = 0;
  for (int i = 0; i < g->owners; i++) {
    displs[i] = n;
    for (int k = g->owner_start[i]; k < g->owner_start[i + 1]; k++)
      if (least[g->own + k] < INT_MAX) told[n++] = (edge){g->there[k], least[g->own + k]};
    counts[i] = n - displs[i]; /* a message of nothing is a message too: here it does no harm */
  }
  MPIX_Sparse_result result;
  MPIX_Sparse_exchange(g->owners, g->owner, told, counts, displs, MPI_2INT, MPI_2INT, info, comm, &result);
  int messages;
  MPI_Count pairs;
  MPIX_Sparse_get_count(result, &messages, &pairs);
  edge *came = allocate((size_t)pairs, sizeof *came);
  MPIX_Sparse_copy(result, pairs, came);
  MPIX_Sparse_free(&result);
  for (MPI_Count i = 0; i < pairs; i++) lower(&least[came[i].u], came[i].v);
  long long wrong = 0;
  for (int v = 0; v < g->own; v++) wrong += distances[v] != (least[v] < INT_MAX ? least[v] : -1);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG_LONG, MPI_SUM, comm);
  free(least);
  free(counts);
  free(displs);
  free(told);
  free(came);
  return wrong;
}

/* Breadth-first search as in a textbook, on a graph without ghosts. */
static int *serial_search(const graph *g, int root) {
  int *distances = ints(g->own), *queue = ints(g->own), head = 0, tail = 0;
  for (int v = 0; v < g->own; v++) distances[v] = -1;
  distances[root] = 0;
  queue[tail++] = root;
  while (head < tail) {
    int u = queue[head++];
    for (size_t e = g->start[u]; e < g->start[u + 1]; e++) {
      int v = g->adjacent[e];
      if (distances[v] >= 0) continue;
      distances[v] = distances[u] + 1;
      queue[tail++] = v;
    }
  }
  free(queue);
  return distances;
}

/* Compares with a serial run on process 0, which makes the whole graph anew. Returns how many
   distances differ; there only. */
static long long check_serially(const options *o, const graph *g, const int *distances, int root, MPI_Comm comm) {
  int rank, P;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &P);
  int *counts = ints(P), *displs = ints(P), *all = ints(rank == 0 ? g->vertices : 0);
  for (int p = 0; p < P; p++) {
    displs[p] = block_start(g->vertices, P, p);
    counts[p] = block_start(g->vertices, P, p + 1) - displs[p];
  }
  MPI_Gatherv(distances, g->own, MPI_INT, all, counts, displs, MPI_INT, 0, comm);
  long long wrong = 0;
  graph whole;
  if (rank == 0) {
    if (make_graph(o, MPI_INFO_NULL, MPI_COMM_SELF, &whole) && whole.vertices == g->vertices) {
      int *serial = serial_search(&whole, root);
      for (int v = 0; v < g->vertices; v++) wrong += all[v] != serial[v];
      free(serial);
      free_graph(&whole);
    } else {
      wrong = g->vertices; /* the file has changed */
    }
  }
  free(counts);
  free(displs);
  free(all);
  return wrong;
}

/* ----------------------------------------------------------------------------------- the report */

/* The vertex with the most edges, of several the first. */
static int largest_vertex(const graph *g, MPI_Comm comm) {
  struct {
    long degree;
    int vertex;
  } most = {-1, INT_MAX}; /* as MPI_LONG_INT */
  for (int v = 0; v < g->own; v++) {
    long degree = (long)(g->start[v + 1] - g->start[v]);
    if (degree <= most.degree) continue;
    most.degree = degree;
    most.vertex = g->first + v;
  }
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_LONG_INT, MPI_MAXLOC, comm);
  return most.vertex;
}

static void print_level(const level *sum, long long most, int d, int P) {
  printf("%7d %11lld %12lld %13lld %10lld %9.2f\n", d, sum->frontier, sum->edges, sum->sent, most,
         (double)sum->targets / P);
}

/* A line for each level, of all processes together. */
static void print_levels(const search *s, MPI_Comm comm) {
  int rank, P, n = s->nlevels;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &P);
  level *sums = allocate((size_t)n, sizeof *sums);
  long long *most = allocate((size_t)n, sizeof *most);
  for (int i = 0; i < n; i++) most[i] = s->levels[i].targets;
  MPI_Reduce(s->levels, sums, 4 * n, MPI_LONG_LONG, MPI_SUM, 0, comm);
  MPI_Reduce(rank == 0 ? MPI_IN_PLACE : most, most, n, MPI_LONG_LONG, MPI_MAX, 0, comm);
  if (rank == 0) {
    printf("  level    vertices        edges vertices sent  targets: most, average of the processes\n");
    for (int i = 0; i < n; i++) {
      if (sums[i].frontier == 0) continue; /* what was sent last had been found already */
      if (n <= MOST_LINES || i < MOST_LINES - 3 || i >= n - 2) print_level(&sums[i], most[i], i, P);
      else if (i == MOST_LINES - 3) printf("    ...\n");
    }
  }
  free(sums);
  free(most);
}

/* The same exit code on all processes. */
static int run(const options *o, MPI_Comm world) {
  int rank, P;
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &P);
  MPI_Info info;
  MPI_Info_create(&info);
  if (strcmp(o->protocol, "alltoallv") != 0) MPI_Info_set(info, "mpix_sparse", o->protocol);
  /* auto goes by what travelled before on a communicator: levels, and what else is sent, each have
     their own */
  MPI_Comm comm;
  MPI_Comm_dup(world, &comm);

  graph g;
  double t = MPI_Wtime();
  int ok = make_graph(o, info, world, &g), root = o->root;
  t = MPI_Wtime() - t;
  if (ok && root >= g.vertices) {
    if (rank == 0) fprintf(stderr, "bfs: vertex %d is not one of the %d of the graph\n", root, g.vertices);
    free_graph(&g);
    ok = 0;
  }
  if (!ok) {
    MPI_Comm_free(&comm);
    MPI_Info_free(&info);
    return 2;
  }
  if (root < 0) root = largest_vertex(&g, comm);
  long long edges = (long long)g.start[g.own];
  MPI_Allreduce(MPI_IN_PLACE, &edges, 1, MPI_LONG_LONG, MPI_SUM, comm);
  if (rank == 0) {
    printf("%s: %d vertices, %lld edges, made in %.2f s; %d processes\n", o->file ? o->file : kinds[o->kind],
           g.vertices, edges, t, P);
    printf("search from vertex %d, protocol %s\n", root, o->protocol);
  }

  search s = make_search(o, &g, comm);
  double *times[2] = {allocate((size_t)o->repeat, sizeof(double)), allocate((size_t)o->repeat, sizeof(double))};
  run_search(o, &s, root, info, comm); /* first calls prepare more than later ones */
  for (int i = 0; i < o->repeat; i++) {
    run_search(o, &s, root, info, comm);
    times[0][i] = s.exchange_seconds;
    times[1][i] = s.seconds;
  }
  double medians[2];
  for (int k = 0; k < 2; k++) {
    MPI_Allreduce(MPI_IN_PLACE, times[k], o->repeat, MPI_DOUBLE, MPI_MAX, comm);
    medians[k] = 1e6 * median(times[k], o->repeat);
  }
  print_levels(&s, comm);
  if (rank == 0 && !s.all_counts) print_choice(comm, "");

  long long reached = 0, traversed = 0, serial = 0, wrong = check_everywhere(&g, s.distances, root, info, world);
  int serially = edges <= MOST_SERIAL_EDGES;
  int farthest = 0;
  for (int v = 0; v < g.own; v++) {
    reached += s.distances[v] >= 0;
    if (s.distances[v] > farthest) farthest = s.distances[v];
  }
  for (int i = 0; i < s.nlevels; i++) traversed += s.levels[i].edges;
  MPI_Allreduce(MPI_IN_PLACE, &reached, 1, MPI_LONG_LONG, MPI_SUM, comm);
  MPI_Allreduce(MPI_IN_PLACE, &farthest, 1, MPI_INT, MPI_MAX, comm);
  MPI_Allreduce(MPI_IN_PLACE, &traversed, 1, MPI_LONG_LONG, MPI_SUM, comm);
  if (serially) serial = check_serially(o, &g, s.distances, root, comm);
  ok = wrong == 0 && serial == 0;
  MPI_Bcast(&ok, 1, MPI_INT, 0, comm);
  if (rank == 0) {
    printf("distances: %lld vertices are not one step behind their nearest; ", wrong);
    if (serially) printf("%lld differ from the serial run\n", serial);
    else printf("too many edges for a serial run\n");
    printf("bfs: results %s %s; %lld vertices up to distance %d, %lld edges; exchange %.1f us of %.1f us, "
           "%.1f us a level\n",
           ok ? "agree with" : "DIFFER from", serially ? "the serial run" : "the check at each vertex", reached,
           farthest, traversed, medians[0], medians[1], medians[0] / (s.nlevels > 1 ? s.nlevels - 1 : 1));
  }
  free(times[0]);
  free(times[1]);
  free_search(&s);
  free_graph(&g);
  MPI_Comm_free(&comm);
  MPI_Info_free(&info);
  return ok ? 0 : 1;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, P, code;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &P);
  options o;
  const char *wrong = parse(argv, P, &o);
  if (wrong != NULL || o.help) {
    code = show_usage(rank, "bfs", wrong, usage);
  } else {
    code = run(&o, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return code;
}
