/* Conjugate gradients and an edge sweep on an unstructured mesh: what irregular programs need from
 * sparse collectives.
 *
 *   mpirun -n 4 ./mesh FILE.graph [--svg FILE.svg] [--shift S] [--tolerance T] [--schedule NAME]
 *                                 [--seed N]
 *
 * FILE.graph is a graph in METIS format. METIS splits its vertices among the processes. A process
 * then owns some vertices and needs copies of those that lie just beyond the cut: its ghost
 * vertices. The cut says who talks to whom, and that is the neighborhood: an irregular graph of
 * processes, of which each process gives its own edges only.
 *
 *   MPIX_Neighbor_alltoallv    in every iteration: brings the owners' values to the ghosts
 *   MPIX_Neighbor_accumulatew  after a sweep over the edges: adds what was added up at ghosts to
 *                              what the owners have
 *
 * Process 0 does everything a second time without any communication; the program fails if the
 * results differ.
 *
 * No return code of MPI or of MPIX is looked at: the default error handler ends all processes with
 * a message when a call fails, and the functions of this library call the communicator's error
 * handler just as MPI's own do. */

#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <metis.h>
#include <mpix_neighbor.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "svg.h"

static double *doubles(int count) { return allocate((size_t)count, sizeof(double)); }

static void release_all(void **memory, size_t count) {
  for (size_t i = 0; i < count; i++) free(memory[i]);
}
#define RELEASE(...) release_all((void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))

static char fault[200]; /* what went wrong, set where it was seen */

/* always false, so that one may write `return fail(...)` */
static bool fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(fault, sizeof fault, format, arguments);
  va_end(arguments);
  return false;
}

/* ---- options --------------------------------------------------------------------------------- */

typedef struct {
  const char *file, *svg, *schedule; /* svg, schedule: NULL if not given */
  double shift, tolerance;
  int seed;
} Options;

static const char *const USAGE =
    "usage: mesh FILE.graph [--svg FILE.svg] [--shift S] [--tolerance T] [--schedule NAME] [--seed N]\n"
    "  --svg FILE.svg   draw the graph of processes\n"
    "  --shift S        the matrix is the graph's Laplacian plus S times the identity (default 0.01)\n"
    "  --tolerance T    end conjugate gradients when the residual fell by this factor (default 1e-10)\n"
    "  --schedule NAME  value of the info key mpix_schedule for the neighborhoods (default: the library chooses)\n"
    "  --seed N         seed of METIS' random numbers (default 1)\n";

static bool read_number(const char *text, double above, double below, double *number) {
  char *end;
  *number = strtod(text, &end);
  return end != text && *end == '\0' && *number > above && *number < below;
}

/* All processes have the same arguments, so all find the same fault, and nobody waits for a process
   that left. */
static bool read_options(int argc, char **argv, Options *o) {
  double seed = 1;
  *o = (Options){.shift = 0.01, .tolerance = 1e-10};
  for (int i = 1; i < argc; i++) {
    const char *name = argv[i], *value = argv[i + 1]; /* argv[argc] is NULL */
    if (name[0] != '-' && !o->file) {
      o->file = name;
      continue;
    }
    bool known = true, good = value;
    if (!strcmp(name, "--svg")) o->svg = value;
    else if (!strcmp(name, "--schedule")) o->schedule = value;
    else if (!strcmp(name, "--shift")) good = good && read_number(value, 0, HUGE_VAL, &o->shift);
    else if (!strcmp(name, "--tolerance")) good = good && read_number(value, 0, 1, &o->tolerance);
    else if (!strcmp(name, "--seed")) good = good && read_number(value, -1, INT_MAX, &seed) && seed == floor(seed);
    else known = false;
    if (!known) return fail("unexpected argument %s", name);
    if (!good) return value ? fail("%s does not take the value %s", name, value) : fail("%s needs a value", name);
    i++;
  }
  o->seed = (int)seed;
  return o->file ? true : fail("no graph given");
}

/* ---- the graph ------------------------------------------------------------------------------- */

/* adjacent[start[v]] to adjacent[start[v + 1] - 1] are the vertices next to v in ascending order;
 * each edge is there twice, once from each end */
typedef struct {
  int vertices, edges;
  int *start, *adjacent;
} Graph;

typedef struct {
  FILE *file;
  char *line, *at; /* at: where the next number of the line may begin */
  size_t room;
} Reader;

/* The next line that is no comment; at the end of the file false, and an empty line. Empty lines
 * count: they are vertices without edges. */
static bool next_line(Reader *r) {
  static char nothing[] = "";
  r->at = nothing;
  do {
    if (getline(&r->line, &r->room, r->file) < 0) return false;
  } while (r->line[0] == '%');
  r->at = r->line;
  return true;
}

/* 1: there was a number from 0 to below INT_MAX, 0: there is nothing more in the line, -1: there is
   something else */
static int next_number(Reader *r, int *value) {
  while (isspace((unsigned char)*r->at)) r->at++;
  if (*r->at == '\0') return 0;
  char *end;
  errno = 0;
  long number = strtol(r->at, &end, 10);
  if (end == r->at || (*end && !isspace((unsigned char)*end)) || errno || number < 0 || number >= INT_MAX) return -1;
  r->at = end;
  *value = (int)number;
  return 1;
}

/* A vertex' line: size and weights, as many numbers as `ignored`, then the neighbors, each with a
 * weight if `weighted`. All these are read past: this program's work is the same at all vertices
 * and edges. */
static bool read_vertex(Reader *r, Graph *g, int v, int ignored, bool weighted) {
  int *filled = &g->start[v + 1], number = 0, got = 1;
  *filled = g->start[v];
  /* the last line may be empty and without a line feed, which looks like no line */
  if (!next_line(r) && v + 1 < g->vertices) return fail("the file ends after %d of %d vertices", v, g->vertices);
  for (int i = 0; i < ignored && got == 1; i++) got = next_number(r, &number);
  if (got != 1) return fail("vertex %d does not begin with its %d sizes and weights", v + 1, ignored);
  while ((got = next_number(r, &number)) == 1) {
    if (number < 1 || number > g->vertices || number == v + 1)
      return fail("vertex %d cannot have neighbor %d", v + 1, number);
    if (*filled == 2 * g->edges) return fail("there are more edges than the %d of the first line", g->edges);
    g->adjacent[(*filled)++] = number - 1;
    if (weighted && next_number(r, &number) != 1) return fail("vertex %d has an edge without a whole weight", v + 1);
  }
  if (got < 0) return fail("vertex %d has a neighbor that is no whole number: %.20s", v + 1, r->at);
  qsort(g->adjacent + g->start[v], (size_t)(*filled - g->start[v]), sizeof(int), ascending_int);
  return true;
}

/* Both ends must name an edge: otherwise a process would wait for values that nobody knows that it
   wants. */
static bool check_symmetry(const Graph *g) {
  for (int v = 0; v < g->vertices; v++) {
    for (int e = g->start[v]; e < g->start[v + 1]; e++) {
      int u = g->adjacent[e];
      if (e > g->start[v] && g->adjacent[e - 1] == u) return fail("vertex %d has neighbor %d twice", v + 1, u + 1);
      if (!bsearch(&v, g->adjacent + g->start[u], (size_t)(g->start[u + 1] - g->start[u]), sizeof(int), ascending_int))
        return fail("vertex %d has neighbor %d, but not the other way round", v + 1, u + 1);
    }
  }
  return true;
}

static bool read_lines(Reader *r, Graph *g) {
  int format = 0, weights = 1, more = 0;
  if (!next_line(r) || next_number(r, &g->vertices) != 1 || next_number(r, &g->edges) != 1 ||
      next_number(r, &format) < 0 || next_number(r, &weights) < 0 || next_number(r, &more) != 0)
    return fail("it does not begin with a line `vertices edges [format [weights]]`");
  if (g->vertices < 1 || g->edges > INT_MAX / 2) return fail("%d vertices and %d edges?", g->vertices, g->edges);
  /* decimal digits: vertices have a size, vertices have weights, edges have a weight */
  bool sized = format / 100, weighted = format / 10 % 10, edges_weighted = format % 10;
  if (format != 100 * sized + 10 * weighted + edges_weighted) return fail("format %d is not of digits 0, 1", format);
  g->start = ints(g->vertices + 1);
  g->adjacent = ints(2 * g->edges);
  for (int v = 0; v < g->vertices; v++) {
    if (!read_vertex(r, g, v, sized + (weighted ? weights : 0), edges_weighted)) return false;
  }
  while (next_line(r)) {
    if (next_number(r, &more) != 0) return fail("there are more vertices than the %d of the first line", g->vertices);
  }
  if (g->start[g->vertices] != 2 * g->edges)
    return fail("the first line says %d edges, but there are %d ends of edges", g->edges, g->start[g->vertices]);
  return check_symmetry(g);
}

static bool read_graph(const char *path, Graph *g) {
  Reader r = {.file = fopen(path, "r")};
  if (!r.file) return fail("%s", strerror(errno));
  bool good = read_lines(&r, g);
  if (ferror(r.file)) good = fail("%s", strerror(errno)); /* such as for a directory */
  free(r.line);
  fclose(r.file);
  return good;
}

/* The whole graph on every process keeps the example short, and one reader means one message for a
 * bad file, which only its node must have. For a graph that is larger than a process' memory each
 * process would read a slice and a parallel partitioner would move the vertices; the neighborhoods
 * would not change. */
static void broadcast_graph(Graph *g, int rank) {
  int sizes[2] = {g->vertices, g->edges};
  MPI_Bcast(sizes, 2, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank != 0) *g = (Graph){sizes[0], sizes[1], ints(sizes[0] + 1), ints(2 * sizes[1])};
  MPI_Bcast(g->start, g->vertices + 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Bcast(g->adjacent, 2 * g->edges, MPI_INT, 0, MPI_COMM_WORLD);
}

/* owner[v] becomes the process that vertex v goes to. METIS is asked only where there is something
 * to decide: one part, as many parts as vertices, or no edges are not what it was made for. */
static bool partition(const Graph *g, int parts, int seed, int *owner) {
  if (parts == 1 || parts >= g->vertices || g->edges == 0) {
    for (int v = 0; v < g->vertices; v++) owner[v] = v % parts;
    return true;
  }
  idx_t vertices = g->vertices, constraints = 1, nparts = parts, cut, options[METIS_NOPTIONS];
  /* has 32 or 64 bits, as METIS was built */
  idx_t *start = allocate((size_t)g->vertices + 1, sizeof(idx_t));
  idx_t *adjacent = allocate(2 * (size_t)g->edges, sizeof(idx_t));
  idx_t *part = allocate((size_t)g->vertices, sizeof(idx_t));
  for (int v = 0; v <= g->vertices; v++) start[v] = g->start[v];
  for (int e = 0; e < 2 * g->edges; e++) adjacent[e] = g->adjacent[e];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = seed;
  int status = METIS_PartGraphKway(&vertices, &constraints, start, adjacent, NULL, NULL, NULL, &nparts, NULL, NULL,
                                   options, &cut, part);
  for (int v = 0; v < g->vertices; v++) owner[v] = (int)part[v];
  RELEASE(start, adjacent, part);
  return status == METIS_OK ? true : fail("METIS could not partition it");
}

/* ---- a process' share of the graph, and its neighborhoods ------------------------------------ */

/* one side of a neighborhood: processes in ascending order, and for each a block of `counts` values
   from `displs` on */
typedef struct {
  int degree, total; /* total: values in all blocks */
  int *ranks, *counts, *displs;
} Side;

/* Vertices have local numbers: first the owned ones in the order of their global numbers, then the
 * ghosts, by owner and within that by global number. So the ghosts of one owner lie behind one
 * another, and the ghost part of a vector is the receive buffer of an exchange: nothing has to be
 * unpacked. That blocks go by global numbers is the rule by which sender and receiver agree on what
 * the k-th value of a block is. */
typedef struct {
  int owned;
  int *global;           /* global number of each local vertex */
  int *start, *adjacent; /* as in Graph, of the owned vertices and with local numbers */
  Side in;               /* where ghost values come from: blocks of the ghost part */
  Side out;              /* who has ghosts of owned vertices: blocks of `sent` */
  /* owned vertices in the order in which their values are sent, once for each receiver */
  int *sent;
  /* neighborhoods owner -> ghost, and ghost -> owner */
  MPI_Comm comm;
  /* for accumulatew: a block of ghosts for each owner, and for each process that has ghosts of
     owned vertices, which these are */
  MPI_Aint *ghost_places, *owned_places;
  MPI_Datatype *ghost_types, *owned_types;
  int *ones;
} Share;

/* counts by rank to a list of those that are not 0; afterward next[p] is where the block of process
   p begins */
static Side make_side(int *next, int processes) {
  Side s = {0};
  for (int p = 0; p < processes; p++) s.degree += next[p] > 0;
  s.ranks = ints(s.degree);
  s.counts = ints(s.degree);
  s.displs = ints(s.degree);
  for (int p = 0, i = 0; p < processes; p++) {
    if (next[p] == 0) continue;
    s.ranks[i] = p;
    s.counts[i] = next[p];
    s.displs[i] = next[p] = s.total;
    s.total += s.counts[i++];
  }
  return s;
}

/* what the cut says: there is no communication in here */
static Share make_share(const Graph *g, const int *owner, int rank, int processes) {
  enum { UNKNOWN = -1, GHOST = -2 };
  Share s = {0};
  int *local = ints(g->vertices), *next_in = ints(processes), *next_out = ints(processes), ends = 0;
  /* the last vertex that was counted for a process, + 1: a vertex is sent to it once */
  int *last = ints(processes);
  for (int v = 0; v < g->vertices; v++) local[v] = owner[v] == rank ? s.owned++ : UNKNOWN;
  for (int v = 0; v < g->vertices; v++) {
    for (int e = g->start[v]; owner[v] == rank && e < g->start[v + 1]; e++, ends++) {
      int u = g->adjacent[e], p = owner[u];
      if (p == rank) continue;
      next_in[p] += local[u] == UNKNOWN;
      next_out[p] += last[p] != v + 1;
      local[u] = GHOST;
      last[p] = v + 1;
    }
  }
  s.in = make_side(next_in, processes);
  s.out = make_side(next_out, processes);

  /* The blocks have their places now; going through the vertices in global order fills each of them
     in that order. */
  s.global = ints(s.owned + s.in.total);
  for (int v = 0; v < g->vertices; v++) {
    if (local[v] == GHOST) local[v] = s.owned + next_in[owner[v]]++;
    if (local[v] != UNKNOWN) s.global[local[v]] = v;
  }
  s.start = ints(s.owned + 1);
  s.adjacent = ints(ends);
  s.sent = ints(s.out.total);
  memset(last, 0, (size_t)processes * sizeof(int));
  for (int i = 0, filled = 0; i < s.owned; i++) {
    int v = s.global[i];
    for (int e = g->start[v]; e < g->start[v + 1]; e++) {
      int u = g->adjacent[e], p = owner[u];
      s.adjacent[filled++] = local[u];
      if (p == rank) continue;
      if (last[p] != v + 1) s.sent[next_out[p]++] = i;
      last[p] = v + 1;
    }
    s.start[i + 1] = filled;
  }
  RELEASE(local, next_in, next_out, last);
  return s;
}

/* Hands the neighborhoods to the library. The weights are the numbers of values on each edge, a
 * hint for schedules. Lists and info are free for other use afterward. */
static void set_neighborhoods(Share *s, const char *schedule) {
  const Side *in = &s->in, *out = &s->out;
  MPI_Info info = MPI_INFO_NULL;
  if (schedule) {
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_schedule", schedule);
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &s->comm);
  MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, in->degree, in->ranks, in->counts, out->degree, out->ranks, out->counts,
                        info, s->comm);
  MPIX_Neighborhood_reverse(MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_ACCUMULATE, info, s->comm);
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
}

/* The way back from ghosts to owners. Ghosts lie behind one another and leave as they are; what
 * comes in belongs to the vertices that were sent to that process, which a datatype lists. */
static void describe_way_back(Share *s) {
  const Side *in = &s->in, *out = &s->out;
  s->ghost_places = allocate((size_t)in->degree, sizeof(MPI_Aint));
  s->ghost_types = allocate((size_t)in->degree, sizeof(MPI_Datatype));
  for (int i = 0; i < in->degree; i++) {
    s->ghost_places[i] = (MPI_Aint)(sizeof(double) * (size_t)(s->owned + in->displs[i]));
    s->ghost_types[i] = MPI_DOUBLE;
  }
  s->owned_places = allocate((size_t)out->degree, sizeof(MPI_Aint));
  s->owned_types = allocate((size_t)out->degree, sizeof(MPI_Datatype));
  s->ones = ints(out->degree);
  for (int i = 0; i < out->degree; i++) {
    s->ones[i] = 1;
    MPI_Type_create_indexed_block(out->counts[i], 1, s->sent + out->displs[i], MPI_DOUBLE, &s->owned_types[i]);
    MPI_Type_commit(&s->owned_types[i]);
  }
}

static void free_share(Share *s) {
  MPI_Comm_free(&s->comm); /* the neighborhoods go with it */
  for (int i = 0; i < s->out.degree; i++) MPI_Type_free(&s->owned_types[i]);
  RELEASE(s->global, s->start, s->adjacent, s->sent, s->in.ranks, s->in.counts, s->in.displs, s->out.ranks,
          s->out.counts, s->out.displs, s->ghost_places, s->ghost_types, s->owned_places, s->owned_types, s->ones);
}

/* Brings the owners' values to the ghosts. values: of owned vertices and ghosts; buffer: room for
 * s->out.total values. Returns the seconds that the call took: without the packing, but with the
 * waiting for neighbors that come later. */
static double exchange_ghosts(const Share *s, double *values, double *buffer) {
  for (int k = 0; k < s->out.total; k++) buffer[k] = values[s->sent[k]];
  double begin = MPI_Wtime();
  MPIX_Neighbor_alltoallv(buffer, s->out.counts, s->out.displs, MPI_DOUBLE, values + s->owned, s->in.counts,
                          s->in.displs, MPI_DOUBLE, s->comm);
  return MPI_Wtime() - begin;
}

/* ---- conjugate gradients --------------------------------------------------------------------- */

typedef struct {
  int iterations;
  bool converged;
  double residual, right_side;      /* 2-norms */
  /* of all, and the mean of one exchange: of the process where they are longest */
  double seconds, exchange_seconds;
} Solved;

/* depends on the global vertex number alone: the system is the same for every number of
   processes */
static double right_hand_side(int vertex) { return 1 + sin(vertex); }

/* share: NULL where one process has all of it, so in all functions below */
static double dot(const double *a, const double *b, int n, const Share *share) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  if (share) MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

/* y = (L + shift) x; L has the degrees on its diagonal and -1 for each edge. A row may refer to
   ghosts in x. */
static void multiply(const int *start, const int *adjacent, int rows, double shift, const double *x, double *y) {
  for (int i = 0; i < rows; i++) {
    double sum = (start[i + 1] - start[i] + shift) * x[i];
    for (int e = start[i]; e < start[i + 1]; e++) sum -= x[adjacent[e]];
    y[i] = sum;
  }
}

/* No eigenvalue of L is negative or above twice the largest degree, so this bounds the condition
   number. */
static double condition(const Graph *g, double shift) {
  int largest = 0;
  for (int v = 0; v < g->vertices; v++) {
    if (g->start[v + 1] - g->start[v] > largest) largest = g->start[v + 1] - g->start[v];
  }
  return (2.0 * largest + shift) / shift;
}

/* In exact arithmetic half as many iterations are enough. */
static int iteration_limit(double condition, double tolerance) {
  return 10 + (int)fmin(1e6, sqrt(condition) * log(2 * sqrt(condition) / tolerance));
}

/* Solves (L + shift) x = right_hand_side; x: one value for each row. With a share its rows,
 * together with all others; with share NULL the rows of the whole graph g, alone. Both do the same,
 * but the dot products round differently. */
static Solved solve(const Graph *g, const Share *share, const Options *o, int limit, double *x) {
  int rows = share ? share->owned : g->vertices, ghosts = share ? share->in.total : 0;
  const int *start = share ? share->start : g->start, *adjacent = share ? share->adjacent : g->adjacent;
  double *r = doubles(rows), *q = doubles(rows), *p = doubles(rows + ghosts);
  double *buffer = doubles(share ? share->out.total : 0);
  Solved result = {0};
  double begin = MPI_Wtime();
  for (int i = 0; i < rows; i++) {
    x[i] = 0;
    r[i] = p[i] = right_hand_side(share ? share->global[i] : i);
  }
  double rr = dot(r, r, rows, share), goal = o->tolerance * o->tolerance * rr;
  result.right_side = sqrt(rr);
  for (; rr > goal && result.iterations < limit; result.iterations++) {
    /* all that neighbors have to tell each other: the product needs p at the neighbors of each
       row */
    if (share) result.exchange_seconds += exchange_ghosts(share, p, buffer);
    multiply(start, adjacent, rows, o->shift, p, q);
    double alpha = rr / dot(p, q, rows, share), before = rr;
    for (int i = 0; i < rows; i++) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    rr = dot(r, r, rows, share);
    for (int i = 0; i < rows; i++) p[i] = r[i] + rr / before * p[i];
  }
  double times[2] = {MPI_Wtime() - begin, result.exchange_seconds / (result.iterations ? result.iterations : 1)};
  if (share) MPI_Allreduce(MPI_IN_PLACE, times, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  result.seconds = times[0];
  result.exchange_seconds = times[1];
  result.residual = sqrt(rr);
  result.converged = rr <= goal;
  RELEASE(r, q, p, buffer);
  return result;
}

/* ---- the sweep over the edges ---------------------------------------------------------------- */

static double flow_variable(int vertex) { return cos(0.01 * vertex) + 0.5 * sin(vertex); }

/* some flux over an edge with the values a and b at its ends; it matters which end is which */
static double flux(double a, double b) { return 0.25 * (a * a + b * b) - 0.5 * fmax(fabs(a), fabs(b)) * (b - a); }

/* y[u] += flux, y[v] -= flux for each edge, u being the end with the lower global number. The owner
 * of u does it alone; where it does not own v, what v gets is added up in the ghost part of y.
 * names: global numbers, NULL if u is one. */
static void sweep(const int *start, const int *adjacent, const int *names, int rows, const double *x, double *y) {
  for (int u = 0; u < rows; u++) {
    for (int e = start[u]; e < start[u + 1]; e++) {
      int v = adjacent[e];
      if (names ? names[u] > names[v] : u > v) continue;
      double f = flux(x[u], x[v]);
      y[u] += f;
      y[v] -= f;
    }
  }
}

/* y: s->owned values. What was added up at ghosts goes home in the mirror image of
 * exchange_ghosts, and is added to the owners' values there. That it is added in the order of the
 * list gives the same sums in every run, in whatever order the messages come. */
static void sweep_in_parallel(const Share *s, double *y) {
  double *x = doubles(s->owned + s->in.total), *sum = doubles(s->owned + s->in.total), *buffer = doubles(s->out.total);
  for (int i = 0; i < s->owned; i++) x[i] = flow_variable(s->global[i]);
  exchange_ghosts(s, x, buffer);
  sweep(s->start, s->adjacent, s->global, s->owned, x, sum);
  MPIX_Neighbor_accumulatew(sum, s->in.counts, s->ghost_places, s->ghost_types, sum, s->ones, s->owned_places,
                            s->owned_types, MPI_SUM, s->comm);
  memcpy(y, sum, (size_t)s->owned * sizeof(double));
  RELEASE(x, sum, buffer);
}

/* ---- report and comparison, by process 0 ----------------------------------------------------- */

/* a vector's owned parts in the order of the global numbers; NULL elsewhere than at process 0 */
static double *collect(const double *part, const Share *s, const int *owner, int vertices, int rank, int processes) {
  int *counts = ints(processes), *displs = ints(processes);
  for (int v = 0; v < vertices; v++) counts[owner[v]]++;
  for (int p = 1; p < processes; p++) displs[p] = displs[p - 1] + counts[p - 1];
  double *parts = rank == 0 ? doubles(vertices) : NULL, *whole = rank == 0 ? doubles(vertices) : NULL;
  MPI_Gatherv(part, s->owned, MPI_DOUBLE, parts, counts, displs, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int v = 0; rank == 0 && v < vertices; v++) whole[v] = parts[displs[owner[v]]++];
  RELEASE(counts, displs, parts);
  return whole;
}

/* Prints who sends how much, and draws it. The lists are asked back from the library: this is what
   it works with. */
static bool report(const Graph *g, const Share *s, const int *owner, const Options *o, int rank, int processes) {
  enum { LOAD, SOURCES, TARGETS, VALUES_IN, VALUES_OUT, COLUMNS };
  int row[COLUMNS] = {s->owned, 0, 0, s->in.total, s->out.total}, weighted;
  MPIX_Neighborhood_get_count(MPIX_NEIGHBOR_ALLTOALL, s->comm, &row[SOURCES], &row[TARGETS], &weighted);
  int *targets = ints(row[TARGETS]), *weights = ints(row[TARGETS]), *volumes = ints(processes);
  MPIX_Neighborhood_get(MPIX_NEIGHBOR_ALLTOALL, s->comm, 0, NULL, MPI_UNWEIGHTED, row[TARGETS], targets, weights);
  for (int i = 0; i < row[TARGETS]; i++) volumes[targets[i]] = weights[i];
  /* a matrix of all processes will do for a report on a few hundred; nothing else in here grows
     with their square */
  int *table = ints(rank == 0 ? COLUMNS * processes : 0), *loads = ints(processes);
  int *matrix = allocate(rank == 0 ? (size_t)processes * (size_t)processes : 0, sizeof(int));
  MPI_Gather(row, COLUMNS, MPI_INT, table, COLUMNS, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Gather(volumes, processes, MPI_INT, matrix, processes, MPI_INT, 0, MPI_COMM_WORLD);

  bool good = true;
  if (rank == 0) {
    int cut = 0, length;
    char text[1000];
    for (int v = 0; v < g->vertices; v++) {
      /* from both ends */
      for (int e = g->start[v]; e < g->start[v + 1]; e++) cut += owner[v] != owner[g->adjacent[e]];
    }
    printf("%s: %d vertices, %d edges; %d processes, %d edges cut\n\n", o->file, g->vertices, g->edges, processes,
           cut / 2);
    printf("process  vertices  in-degree  out-degree  values in  values out\n");
    for (int p = 0; p < processes; p++) {
      const int *t = table + COLUMNS * p;
      loads[p] = t[LOAD];
      printf("%7d  %8d  %9d  %10d  %9d  %10d\n", p, t[LOAD], t[SOURCES], t[TARGETS], t[VALUES_IN], t[VALUES_OUT]);
    }
    MPIX_Neighborhood_describe(MPIX_NEIGHBOR_ALLTOALL, s->comm, sizeof text, text, &length);
    printf("\n%s\n", text);
    FILE *file = o->svg ? fopen(o->svg, "w") : NULL;
    if (file) {
      const char *slash = strrchr(o->file, '/');
      snprintf(text, sizeof text, "%.60s on %d processes", slash ? slash + 1 : o->file, processes);
      svg_begin(file, 900, 980, text);
      good = svg_graph(file, 450, 480, 350, processes, loads, matrix);
      svg_circle(file, 90, 925, 12, SVG_NODE, SVG_NODE_EDGE);
      svg_text(file, 125, 925, 14, "start", SVG_INK, "process with its rank; area and number outside: vertices");
      svg_line(file, 70, 955, 110, 955, 7, SVG_LINE);
      svg_text(file, 125, 955, 14, "start", SVG_INK, "width and number: values per exchange, both directions together");
      svg_end(file);
      good = !ferror(file) && good;
      good = fclose(file) == 0 && good;
    }
    if (o->svg && !(file && good)) good = fail("%s cannot be written", o->svg);
  }
  RELEASE(targets, weights, volumes, table, loads, matrix);
  return good;
}

static double largest(const double *a, int n) {
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(a[i]));
  return most;
}

static double difference(const double *a, const double *b, int n) {
  double most = 0;
  for (int i = 0; i < n; i++) {
    if (!(fabs(a[i] - b[i]) <= most)) most = fabs(a[i] - b[i]); /* so that NaN is not overlooked */
    if (isnan(most)) break;
  }
  return most;
}

/* Does all of it serially and says whether the results agree. x: the solution; y: fluxes. */
static bool compare(const Graph *g, const Options *o, int limit, const Solved *solved, const double *x,
                    const double *y) {
  int n = g->vertices;
  double *serial_x = doubles(n), *flow = doubles(n), *serial_y = doubles(n);
  Solved serial = solve(g, NULL, o, limit, serial_x);
  for (int v = 0; v < n; v++) flow[v] = flow_variable(v);
  sweep(g->start, g->adjacent, NULL, n, flow, serial_y);

  /* No eigenvalue of the matrix is below the shift, so no x is farther than |residual| / shift from
   * the exact solution; two that reached the tolerance may differ by twice that. The other term is
   * what rounding does to a residual that is updated and never computed afresh. Fluxes have the
   * same terms in both runs, added in another order. */
  double x_allowed = 2 * solved->right_side / o->shift * (o->tolerance + 10 * DBL_EPSILON * condition(g, o->shift));
  double y_allowed = 1e-12 * largest(serial_y, n), x_differs = difference(x, serial_x, n);
  double y_differs = difference(y, serial_y, n);

  printf("conjugate gradients  %d iterations (serial: %d), residual %.2e of the right-hand side\n", solved->iterations,
         serial.iterations, solved->residual / solved->right_side);
  printf("one ghost exchange   %.1f microseconds, mean over the iterations at the process where it is largest\n",
         solved->exchange_seconds * 1e6);
  printf("solution             differs from the serial one by %.1e (allowed: %.1e, largest value: %.3g)\n", x_differs,
         x_allowed, largest(serial_x, n));
  printf("fluxes               differ from the serial ones by %.1e (allowed: %.1e, largest value: %.3g)\n\n", y_differs,
         y_allowed, largest(serial_y, n));

  bool agree = true; /* the conditions are written so that NaN does not pass */
  if (!solved->converged || !serial.converged) agree = fail("conjugate gradients did not converge in %d steps", limit);
  else if (!(x_differs <= x_allowed)) agree = fail("the solution differs from the serial one");
  else if (!(y_differs <= y_allowed)) agree = fail("the fluxes differ from the serial ones");
  else
    printf("mesh: results agree with the serial run: solution within %.1e, fluxes within %.1e; %d iterations, %.2f s\n",
           x_differs, y_differs, solved->iterations, solved->seconds);
  RELEASE(serial_x, flow, serial_y);
  return agree;
}

/* What process 0 found, on all processes: so all of them go on, or leave with the same exit
   status. */
static bool on_all(bool good, int rank, const Options *o) {
  int flag = good;
  MPI_Bcast(&flag, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (!flag && rank == 0) fprintf(stderr, "mesh: %s: %s\n", o->file, fault);
  return flag;
}

static bool run(const Options *o, int rank, int processes) {
  Graph g = {0};
  int *owner = NULL;
  bool good = on_all(rank != 0 || read_graph(o->file, &g), rank, o);
  if (good) {
    broadcast_graph(&g, rank);
    owner = ints(g.vertices);
    good = on_all(rank != 0 || partition(&g, processes, o->seed, owner), rank, o);
  }
  if (good) {
    MPI_Bcast(owner, g.vertices, MPI_INT, 0, MPI_COMM_WORLD);
    Share s = make_share(&g, owner, rank, processes);
    set_neighborhoods(&s, o->schedule);
    describe_way_back(&s);
    bool drawn = report(&g, &s, owner, o, rank, processes);

    int limit = iteration_limit(condition(&g, o->shift), o->tolerance);
    double *x = doubles(s.owned), *y = doubles(s.owned);
    /* process 0 was busy with the report; that is not the exchange's time */
    MPI_Barrier(MPI_COMM_WORLD);
    Solved solved = solve(NULL, &s, o, limit, x);
    sweep_in_parallel(&s, y);

    double *all_x = collect(x, &s, owner, g.vertices, rank, processes);
    double *all_y = collect(y, &s, owner, g.vertices, rank, processes);
    bool agree = rank != 0 || compare(&g, o, limit, &solved, all_x, all_y);
    good = on_all(agree && drawn, rank, o);
    RELEASE(x, y, all_x, all_y);
    free_share(&s);
  }
  RELEASE(owner, g.start, g.adjacent);
  return good;
}

int main(int argc, char **argv) {
  int rank, processes;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  Options o;
  bool good = read_options(argc, argv, &o);
  if (!good && rank == 0) fprintf(stderr, "mesh: %s\n%s", fault, USAGE);
  if (good) good = run(&o, rank, processes);
  MPI_Finalize();
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
