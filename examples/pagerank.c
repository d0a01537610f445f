/* PageRank: in each step the rank of a vertex flows along its edges, most of which lead to other
 * processes' vertices.
 *
 *   mpicc -std=c11 -O2 -Iinclude examples/pagerank.c -lmpix_neighbor -lm -o pagerank
 *   mpirun -n 4 ./pagerank --graph rmat-nasty --vertices 100000
 *   mpirun -n 4 ./pagerank --file matrix.mtx
 *
 * A vertex pushes its rank, divided by its number of edges, to those that its edges lead to, or
 * pulls it from those that have edges to it. Forms:
 *
 *   window     push by MPIX_Sparse_window_accumulate, one call for each edge
 *   summed     push by MPIX_Sparse_window_accumulate of sums, one for each vertex of others, one
 *              call for each owner
 *   pull       MPIX_Sparse_window_get, one call for each edge
 *   exchange   push by MPIX_Sparse_exchange: vertex and sum of what flows there, one message for
 *              each owner
 *   accumulate push by MPI_Accumulate, one call for each edge, between calls of MPI_Win_fence
 *   get        pull by MPI_Get, one call for each edge, between calls of MPI_Win_fence
 *   messages   push by MPI_Isend and MPI_Irecv of sums, whose vertices have been sent once before
 *
 * The program follows Barrett, One-Sided Communication for High Performance Computing Applications,
 * 2009, chapter 5, and has its three graphs. As there, a fence stands after each 100000 calls of
 * MPI_Accumulate, which MPIs keep in memory until then; the library's window needs none.
 *
 * The ranks by each form are compared with those of a serial run on process 0. The exit code is 0
 * if they are equal but for rounding.
 *
 * No return code is looked at, of MPI_ and MPIX_ functions alike: communicators and windows keep
 * the default error handler, MPI_ERRORS_ARE_FATAL, which this library calls as MPI does. */

#include "graph.h"
#include "matrix.h"

enum { FROM_FILE = KINDS + 1, TOP = 10 };
static const double damping = 0.85;

static const char usage[] =
    "usage: pagerank [options]\n"
    "  --graph NAME      erdos-renyi, rmat-nice, rmat-nasty or all (all)\n"
    "  --file FILE.mtx   the graph: an edge from row to column for each entry of a square Matrix Market file\n"
    "  --vertices N      vertices of the graph, but for files (500)\n"
    "  --edges K         edges that a vertex has, on average (8)\n"
    "  --seed N          of the random numbers (1)\n"
    "  --iterations N    steps of a run (5)\n"
    "  --fence-every N   calls of MPI_Accumulate between two fences (100000)\n"
    "  --window KIND     memory of MPI's windows: create, the program's, or allocate, MPI's (create)\n"
    "  --rounds N        most rounds; the median of them counts. At least 3 run, if N allows (9)\n"
    "  --seconds S       seconds for each graph, about (1)\n";

typedef struct {
  int kind, vertices, edges, seed, iterations, fence_every, allocated, rounds, seconds, help;
  const char *file;
} options;

/* --------------------------------------------------------------------------------------- solver */

typedef struct {
  double value;
  int vertex;
} share_of; /* as MPI_DOUBLE_INT */

/* Local numbers of vertices: own ones, then ghosts. */
typedef struct solver solver;
struct solver {
  const graph *out, *in; /* edges that leave own vertices, and that lead to them, the other way round */
  MPI_Comm comm;
  int iterations;
  double residual; /* sum of the changes of all ranks in the last step */
  double *from, *to;
  double *share; /* of own vertices: what flows along each of their edges */
  double *flow;  /* of own vertices: the sum of what flows in; brought by the form */
  void (*bring)(solver *);

  /* memory that others access: `share` of forms that pull, `pushed` of those that push */
  double *pushed, *pulled; /* pulled: a number for each edge of `in` */
  MPIX_Sparse_window window;
  MPI_Win win;
  int allocated, fence_every, fences; /* fences: as many as the process with the most edges needs */
  /* of each ghost: */
  share_of *pairs;
  double *sums;
  MPI_Aint *places; /* among the owner's vertices */
  /* messages: of each owner of ghosts, and from `sources` */
  int *counts, sources, *source, *sourcecounts, *sourcedispls, *vertices;
  double *arrived;
  MPI_Request *requests;
};

/* Ranks start equal. What vertices without edges have is dealt out to all. */
static void iterate(void *on) {
  solver *s = on;
  const graph *g = s->out;
  for (int v = 0; v < g->own; v++) s->from[v] = 1.0 / g->vertices;
  for (int k = 0; k < s->iterations; k++) {
    double kept = 0.0, change = 0.0;
    for (int v = 0; v < g->own; v++) {
      size_t edges = g->start[v + 1] - g->start[v];
      s->share[v] = edges > 0 ? s->from[v] / (double)edges : 0.0;
      if (edges == 0) kept += s->from[v];
      s->flow[v] = 0.0;
    }
    /* also tells that all have done with what the last step brought, before others push again */
    MPI_Allreduce(MPI_IN_PLACE, &kept, 1, MPI_DOUBLE, MPI_SUM, s->comm);
    s->bring(s);
    double base = (1.0 - damping + damping * kept) / g->vertices;
    for (int v = 0; v < g->own; v++) {
      s->to[v] = base + damping * s->flow[v];
      change += fabs(s->to[v] - s->from[v]);
    }
    MPI_Allreduce(&change, &s->residual, 1, MPI_DOUBLE, MPI_SUM, s->comm);
    double *swap = s->from;
    s->from = s->to;
    s->to = swap;
  }
}

/* Adds the flow between own vertices. */
static void flow_here(solver *s) {
  const graph *g = s->out;
  for (int v = 0; v < g->own; v++)
    for (size_t e = g->start[v]; e < g->start[v + 1]; e++)
      if (g->adjacent[e] < g->own) s->flow[g->adjacent[e]] += s->share[v];
}

/* Adds what others have pushed, and clears it for the next step. */
static void take_pushed(solver *s) {
  for (int v = 0; v < s->out->own; v++) {
    s->flow[v] += s->pushed[v];
    s->pushed[v] = 0.0;
  }
}

/* Adds up what has been pulled. */
static void take_pulled(solver *s) {
  const graph *g = s->in;
  for (int v = 0; v < g->own; v++)
    for (size_t e = g->start[v]; e < g->start[v + 1]; e++)
      s->flow[v] += g->adjacent[e] < g->own ? s->share[g->adjacent[e]] : s->pulled[e];
}

static int owner_of(const graph *g, int ghost) { return g->owner[g->owned_by[ghost]]; }

/* ---------------------------------------------------------------------------------------- forms */

enum { WINDOW, SUMMED, PULL, EXCHANGE, ACCUMULATE, GET, MESSAGES, FORMS };

static void push_window(solver *s) {
  const graph *g = s->out;
  for (int v = 0; v < g->own; v++) {
    for (size_t e = g->start[v]; e < g->start[v + 1]; e++) {
      int ghost = g->adjacent[e] - g->own;
      if (ghost < 0) continue;
      MPI_Aint there = g->there[ghost];
      MPIX_Sparse_window_accumulate(&s->share[v], 1, owner_of(g, ghost), &there, MPI_SUM, s->window);
    }
  }
  flow_here(s);
  MPIX_Sparse_window_fence(s->window);
  take_pushed(s);
}

static void pull_window(solver *s) {
  const graph *g = s->in;
  for (size_t e = 0; e < g->start[g->own]; e++) {
    int ghost = g->adjacent[e] - g->own;
    if (ghost < 0) continue;
    MPI_Aint there = g->there[ghost];
    MPIX_Sparse_window_get(&s->pulled[e], 1, owner_of(g, ghost), &there, s->window);
  }
  MPIX_Sparse_window_fence(s->window);
  take_pulled(s);
}

static void push_accumulate(solver *s) {
  const graph *g = s->out;
  int calls = 0, fences = 0;
  MPI_Win_fence(MPI_MODE_NOPRECEDE, s->win);
  for (int v = 0; v < g->own; v++) {
    for (size_t e = g->start[v]; e < g->start[v + 1]; e++) {
      int ghost = g->adjacent[e] - g->own;
      if (ghost < 0) continue;
      MPI_Accumulate(&s->share[v], 1, MPI_DOUBLE, owner_of(g, ghost), g->there[ghost], 1, MPI_DOUBLE, MPI_SUM, s->win);
      if (++calls % s->fence_every != 0) continue;
      MPI_Win_fence(0, s->win);
      fences++;
    }
  }
  for (; fences < s->fences; fences++) MPI_Win_fence(0, s->win);
  flow_here(s);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, s->win);
  take_pushed(s);
}

static void pull_get(solver *s) {
  const graph *g = s->in;
  MPI_Win_fence(MPI_MODE_NOPRECEDE, s->win);
  for (size_t e = 0; e < g->start[g->own]; e++) {
    int ghost = g->adjacent[e] - g->own;
    if (ghost < 0) continue;
    MPI_Get(&s->pulled[e], 1, MPI_DOUBLE, owner_of(g, ghost), g->there[ghost], 1, MPI_DOUBLE, s->win);
  }
  MPI_Win_fence(MPI_MODE_NOSUCCEED, s->win);
  take_pulled(s);
}

/* Adds the flow to each ghost. */
static void sum_ghosts(solver *s) {
  const graph *g = s->out;
  for (int i = 0; i < g->ghosts; i++) s->sums[i] = 0.0;
  for (int v = 0; v < g->own; v++)
    for (size_t e = g->start[v]; e < g->start[v + 1]; e++)
      if (g->adjacent[e] >= g->own) s->sums[g->adjacent[e] - g->own] += s->share[v];
}

static void push_summed(solver *s) {
  const graph *g = s->out;
  sum_ghosts(s);
  for (int i = 0; i < g->owners; i++) {
    int first = g->owner_start[i];
    MPIX_Sparse_window_accumulate(s->sums + first, s->counts[i], g->owner[i], s->places + first, MPI_SUM, s->window);
  }
  flow_here(s);
  MPIX_Sparse_window_fence(s->window);
  take_pushed(s);
}

static void push_exchange(solver *s) {
  const graph *g = s->out;
  MPIX_Sparse_result result;
  int messages, source;
  MPI_Count count;
  void *data;
  sum_ghosts(s);
  for (int i = 0; i < g->ghosts; i++) s->pairs[i] = (share_of){s->sums[i], g->there[i]};
  MPIX_Sparse_exchange(g->owners, g->owner, s->pairs, s->counts, g->owner_start, MPI_DOUBLE_INT, MPI_DOUBLE_INT,
                       MPI_INFO_NULL, s->comm, &result);
  flow_here(s);
  MPIX_Sparse_get_count(result, &messages, &count);
  for (int m = 0; m < messages; m++) {
    MPIX_Sparse_get_message(result, m, &source, &count, &data);
    const share_of *pairs = data;
    for (MPI_Count i = 0; i < count; i++) s->flow[pairs[i].vertex] += pairs[i].value;
  }
  MPIX_Sparse_free(&result);
}

static void push_messages(solver *s) {
  const graph *g = s->out;
  int n = 0;
  for (int i = 0; i < s->sources; i++)
    MPI_Irecv(s->arrived + s->sourcedispls[i], s->sourcecounts[i], MPI_DOUBLE, s->source[i], 0, s->comm,
              &s->requests[n++]);
  sum_ghosts(s);
  for (int i = 0; i < g->owners; i++)
    MPI_Isend(s->sums + g->owner_start[i], s->counts[i], MPI_DOUBLE, g->owner[i], 0, s->comm, &s->requests[n++]);
  flow_here(s);
  MPI_Waitall(n, s->requests, MPI_STATUSES_IGNORE);
  int arrived = s->sources > 0 ? s->sourcedispls[s->sources - 1] + s->sourcecounts[s->sources - 1] : 0;
  for (int k = 0; k < arrived; k++) s->flow[s->vertices[k]] += s->arrived[k];
}

/* Collective. Tells the owners of ghosts, once, which vertices the sums in messages are for. */
static void prepare_messages(solver *s) {
  const graph *g = s->out;
  MPIX_Sparse_result result;
  MPI_Count arrivals;
  MPIX_Sparse_exchange(g->owners, g->owner, g->there, s->counts, g->owner_start, MPI_INT, MPI_INT, MPI_INFO_NULL,
                       s->comm, &result);
  MPIX_Sparse_get_count(result, &s->sources, &arrivals);
  s->source = ints(s->sources);
  s->sourcecounts = ints(s->sources);
  s->sourcedispls = ints(s->sources);
  s->vertices = allocate((size_t)arrivals, sizeof(int));
  s->arrived = allocate((size_t)arrivals, sizeof(double));
  s->requests = allocate((size_t)s->sources + (size_t)g->owners, sizeof *s->requests);
  MPIX_Sparse_get_messages(result, s->sources, s->source, s->sourcecounts, s->sourcedispls);
  MPIX_Sparse_copy(result, arrivals, s->vertices);
  MPIX_Sparse_free(&result);
}

/* Collective. `bring` is NULL if the form is skipped. */
static solver make_solver(const options *o, const graph *out, const graph *in, int which, MPI_Comm comm) {
  static void (*const bring[FORMS])(solver *) = {push_window,     push_summed, pull_window,  push_exchange,
                                                 push_accumulate, pull_get,    push_messages};
  solver s = {.out = out, .in = in, .comm = comm, .iterations = o->iterations, .bring = bring[which]};
  size_t own = (size_t)out->own, ghosts = (size_t)out->ghosts;
  s.allocated = o->allocated;
  s.fence_every = o->fence_every;
  double **vectors[] = {&s.from, &s.to, &s.flow};
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) *vectors[i] = allocate(own, sizeof(double));
  s.pulled = allocate(in->start[in->own], sizeof(double));
  s.pairs = allocate(ghosts, sizeof *s.pairs);
  s.sums = allocate(ghosts, sizeof *s.sums);
  s.places = allocate(ghosts, sizeof *s.places);
  for (size_t i = 0; i < ghosts; i++) s.places[i] = out->there[i];
  s.counts = ints(out->owners);
  for (int i = 0; i < out->owners; i++) s.counts[i] = out->owner_start[i + 1] - out->owner_start[i];
  s.share = which == GET ? make_window(own, sizeof(double), o->allocated, comm, &s.win) : allocate(own, sizeof(double));
  s.pushed = which == ACCUMULATE ? make_window(own, sizeof(double), o->allocated, comm, &s.win)
                                 : allocate(own, sizeof(double));
  if (s.share == NULL || s.pushed == NULL) s.bring = NULL;
  if (which == WINDOW || which == SUMMED || which == PULL)
    MPIX_Sparse_window_create(which == PULL ? s.share : s.pushed, out->own, MPI_DOUBLE, MPI_INFO_NULL, comm, &s.window);
  if (which == ACCUMULATE) {
    size_t remote = 0;
    for (size_t e = 0; e < out->start[out->own]; e++) remote += out->adjacent[e] >= out->own;
    s.fences = (int)(remote / (size_t)s.fence_every);
    MPI_Allreduce(MPI_IN_PLACE, &s.fences, 1, MPI_INT, MPI_MAX, comm);
  }
  if (which == MESSAGES) prepare_messages(&s);
  return s;
}

static void free_solver(solver *s, int which) {
  if (which == WINDOW || which == SUMMED || which == PULL) MPIX_Sparse_window_free(&s->window);
  if (which == GET) free_window(s->share, s->allocated, &s->win);
  else free(s->share);
  if (which == ACCUMULATE) free_window(s->pushed, s->allocated, &s->win);
  else free(s->pushed);
  void *all[] = {s->from,   s->to,     s->flow,         s->pulled,       s->pairs,    s->sums,    s->places,
                 s->counts, s->source, s->sourcecounts, s->sourcedispls, s->vertices, s->arrived, s->requests};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
}

/* --------------------------------------------------------------------------------------- graphs */

/* Reads the edges on process 0 of `comm`. Returns 0 on all processes if there is something wrong
   with the file, which is said. */
static int read_edges(const char *name, edge_list *l, int *vertices, MPI_Comm comm) {
  int rank, told[2] = {1, 0};
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) {
    matrix a = {0};
    told[0] = read_matrix(name, &a);
    told[1] = a.rows;
    if (told[0] && (a.rows != a.columns || a.rows == 0)) {
      fprintf(stderr, "%s: the matrix is not square, or empty\n", name);
      told[0] = 0;
    }
    for (int i = 0; told[0] && i < a.rows; i++)
      for (int k = a.first[i]; k < a.first[i + 1]; k++) add(l, i, a.column[k]);
    free_matrix(&a);
  }
  MPI_Bcast(told, 2, MPI_INT, 0, comm);
  *vertices = told[1];
  if (told[0]) deliver(l, *vertices, MPI_INFO_NULL, comm);
  return told[0];
}

/* Collective. The same graph on any number of processes: edges by where they begin, and by where
   they end. Returns 0 if the file is wrong. */
static int make_graphs(const options *o, int kind, MPI_Comm comm, graph *out, graph *in) {
  edge_list l = {0}, back = {0};
  int vertices = o->vertices, ok = 1;
  if (kind == FROM_FILE) {
    ok = read_edges(o->file, &l, &vertices, comm);
  } else {
    const rmat r = {o->vertices, o->edges, o->seed, rmat_quadrants[kind]};
    make_rmat(&r, MPI_INFO_NULL, comm, &l);
  }
  if (ok) {
    for (size_t i = 0; i < l.count; i++) add(&back, l.at[i].v, l.at[i].u);
    deliver(&back, vertices, MPI_INFO_NULL, comm);
    *out = (graph){.vertices = vertices};
    *in = (graph){.vertices = vertices};
    build_graph(out, &l, comm);
    build_graph(in, &back, comm);
  }
  free(l.at);
  free(back.at);
  return ok;
}

/* --------------------------------------------------------------------------------------- checks */

static void no_exchange(solver *s) { flow_here(s); }

/* The ranks of a graph that is here as a whole. */
static double *serial_ranks(const options *o, const graph *whole, double *residual) {
  size_t V = (size_t)whole->vertices;
  solver s = {.out = whole, .comm = MPI_COMM_SELF, .iterations = o->iterations, .bring = no_exchange};
  double **vectors[] = {&s.from, &s.to, &s.share, &s.flow};
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) *vectors[i] = allocate(V, sizeof(double));
  iterate(&s);
  free(s.to);
  free(s.share);
  free(s.flow);
  *residual = s.residual;
  return s.from;
}

static share_of by_rank(const double *ranks, int v) { return (share_of){ranks[v], v}; }

static int descending_rank(const void *a, const void *b) {
  const share_of *x = a, *y = b;
  if (x->value != y->value) return x->value < y->value ? 1 : -1;
  return (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

/* The vertices with the highest ranks, at most TOP; the number of them. */
static int find_top(const double *ranks, int V, share_of top[TOP]) {
  share_of *all = allocate((size_t)V, sizeof *all);
  int n = V < TOP ? V : TOP;
  for (int v = 0; v < V; v++) all[v] = by_rank(ranks, v);
  qsort(all, (size_t)V, sizeof *all, descending_rank);
  memcpy(top, all, (size_t)n * sizeof *top);
  free(all);
  return n;
}

/* Collective. The ranks of all vertices, on process 0; NULL elsewhere. */
static double *gather_ranks(const solver *s) {
  int rank, P, V = s->out->vertices;
  MPI_Comm_rank(s->comm, &rank);
  MPI_Comm_size(s->comm, &P);
  int *counts = ints(P), *displs = ints(P);
  double *all = rank == 0 ? allocate((size_t)V, sizeof *all) : NULL;
  for (int p = 0; p < P; p++) {
    displs[p] = block_start(V, P, p);
    counts[p] = block_start(V, P, p + 1) - displs[p];
  }
  MPI_Gatherv(s->from, s->out->own, MPI_DOUBLE, all, counts, displs, MPI_DOUBLE, 0, s->comm);
  free(counts);
  free(displs);
  return all;
}

/* The largest relative difference of a rank from the serial run's. The top vertices must be the
   serial run's too, but for those whose ranks are equal but for rounding. */
static double largest_error(const double *ranks, const double *serial, int V) {
  share_of top[TOP], expected[TOP];
  double error = 0.0;
  for (int v = 0; v < V; v++) {
    double difference = fabs(ranks[v] - serial[v]) / serial[v];
    error = isnan(difference) ? INFINITY : fmax(error, difference);
  }
  int n = find_top(ranks, V, top);
  find_top(serial, V, expected);
  for (int i = 0; i < n; i++) error = fmax(error, fabs(serial[top[i].vertex] / expected[i].value - 1.0));
  return error;
}

static void print_top(const double *ranks, int V) {
  share_of top[TOP];
  int n = find_top(ranks, V, top);
  printf("top vertices:");
  for (int i = 0; i < n; i++) printf(" %d (%.5f)", top[i].vertex, top[i].value);
  printf("\n");
}

/* Collective. One graph in all forms. Returns the exit code. */
static int run_graph(const options *o, int kind, MPI_Comm comm) {
  static const char *const names[FORMS] = {"window",     "summed", "pull",    "exchange",
                                            "accumulate", "get",    "messages"};
  const double tolerance = 1e-10;
  int rank, ok = 1;
  graph out, in;
  MPI_Comm_rank(comm, &rank);
  if (!make_graphs(o, kind, comm, &out, &in)) return 2;
  double *serial = NULL, serial_residual = 0.0;
  if (rank == 0) {
    graph whole, unused;
    if (!make_graphs(o, kind, MPI_COMM_SELF, &whole, &unused) || whole.vertices != out.vertices) {
      fprintf(stderr, "pagerank: the file has changed\n");
      MPI_Abort(comm, 2);
    }
    serial = serial_ranks(o, &whole, &serial_residual);
    free_graph(&whole);
    free_graph(&unused);
  }
  long long edges = (long long)out.start[out.own];
  MPI_Allreduce(MPI_IN_PLACE, &edges, 1, MPI_LONG_LONG, MPI_SUM, comm);

  solver solvers[FORMS];
  form forms[FORMS];
  double seconds[FORMS];
  for (int f = 0; f < FORMS; f++) {
    solvers[f] = make_solver(o, &out, &in, f, comm);
    forms[f] = (form){names[f], solvers[f].bring ? iterate : NULL, &solvers[f]};
  }
  char label[40];
  snprintf(label, sizeof label, "%d iterations", o->iterations);
  if (rank == 0) {
    printf("\n%s: %d vertices, %lld edges\n", kind == FROM_FILE ? o->file : rmat_names[kind], out.vertices, edges);
    print_names("us (ratio to window)", forms, FORMS);
  }
  int rounds = time_forms(forms, FORMS, o->rounds, o->seconds, comm, seconds);
  if (rank == 0) {
    print_times(label, seconds, FORMS, rounds);
    printf("residual %.6e\n", serial_residual);
    print_top(serial, out.vertices);
  }
  for (int f = 0; f < FORMS; f++) {
    if (forms[f].run == NULL) continue;
    iterate(&solvers[f]);
    double *ranks = gather_ranks(&solvers[f]);
    if (rank != 0) continue;
    double error = largest_error(ranks, serial, out.vertices);
    double change = fabs(solvers[f].residual - serial_residual);
    if (!(error <= tolerance) || !(change <= tolerance)) {
      ok = 0;
      printf("pagerank: %s DIFFERS: ranks by %.1e, residual by %.1e\n", names[f], error, change);
    }
    free(ranks);
  }
  MPI_Bcast(&ok, 1, MPI_INT, 0, comm);
  for (int f = 0; f < FORMS; f++) free_solver(&solvers[f], f);
  free(serial);
  free_graph(&out);
  free_graph(&in);
  return ok ? 0 : 1;
}

/* The same exit code on all processes. */
static int run(const options *o, MPI_Comm world) {
  int rank, P, code = 0;
  MPI_Comm comm;
  MPI_Comm_dup(world, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &P);
  if (rank == 0) printf("%d processes, windows by MPI_Win_%s\n", P, o->allocated ? "allocate" : "create");
  if (o->kind == FROM_FILE) {
    code = run_graph(o, FROM_FILE, comm);
  } else {
    for (int kind = 0; kind < KINDS; kind++)
      if (o->kind == ALL || o->kind == kind) code = run_graph(o, kind, comm) != 0 || code != 0;
  }
  if (rank == 0 && code != 2)
    printf("pagerank: results %s the serial run\n", code == 0 ? "agree with" : "DIFFER from");
  MPI_Comm_free(&comm);
  return code;
}

/* Returns the argument that is wrong, or NULL. Past the end of argv stands a NULL, which no parser
   accepts. */
static const char *parse(char **argv, options *o) {
  *o = (options){.kind = ALL,  .vertices = 500, .edges = 8, .seed = 1, .iterations = 5, .fence_every = 100000,
                 .rounds = 9, .seconds = 1};
  for (char **a = argv + 1; *a != NULL; a++) {
    const char *name = *a;
    int ok = 1;
    if (strcmp(name, "--graph") == 0) ok = parse_rmat(a[1], &o->kind) && *++a != NULL;
    else if (strcmp(name, "--file") == 0) ok = a[1] != NULL && (o->file = *++a) != NULL;
    else if (strcmp(name, "--vertices") == 0) ok = parse_int(a[1], 1, 1000000000, &o->vertices) && *++a != NULL;
    else if (strcmp(name, "--edges") == 0) ok = parse_int(a[1], 0, 1000, &o->edges) && *++a != NULL;
    else if (strcmp(name, "--seed") == 0) ok = parse_int(a[1], 0, INT_MAX, &o->seed) && *++a != NULL;
    else if (strcmp(name, "--iterations") == 0) ok = parse_int(a[1], 1, 100000, &o->iterations) && *++a != NULL;
    else if (strcmp(name, "--fence-every") == 0) ok = parse_int(a[1], 1, INT_MAX, &o->fence_every) && *++a != NULL;
    else if (strcmp(name, "--window") == 0) ok = parse_window(a[1], &o->allocated) && *++a != NULL;
    else if (strcmp(name, "--rounds") == 0) ok = parse_int(a[1], 1, MOST_ROUNDS, &o->rounds) && *++a != NULL;
    else if (strcmp(name, "--seconds") == 0) ok = parse_int(a[1], 0, 1000, &o->seconds) && *++a != NULL;
    else if (strcmp(name, "--help") == 0) o->help = 1;
    else ok = 0;
    if (!ok) return name;
  }
  if (o->file != NULL) o->kind = FROM_FILE;
  return o->kind == FROM_FILE || rmat_possible(o->vertices, o->edges) ? NULL : "--edges";
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, code;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  options o;
  const char *wrong = parse(argv, &o);
  if (wrong != NULL || o.help) {
    code = show_usage(rank, "pagerank", wrong, usage);
  } else {
    code = run(&o, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return code;
}
