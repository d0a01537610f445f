/* Connected components by searches that run in parallel and claim vertices, wherever these lie, by
 * an atomic compare-and-swap.
 *
 *   mpicc -std=c11 -O2 -Iinclude examples/components.c -lmpix_neighbor -lm -o components
 *   mpirun -n 4 ./components --graph rmat-nasty --vertices 100000
 *
 * 1. Each process searches from its own vertices, one search at a time. Each search has a
 *    component's name, and claims the vertices that edges lead to: it writes the name where no name
 *    stands yet. A vertex that has another name is a collision of two components. A vertex that
 *    others have claimed is expanded by its owner, when that comes by.
 * 2. All processes exchange their collisions, without those that follow from others, and unite the
 *    names that belong together.
 * 3. Each process renames its vertices.
 *
 * A process looks at the answers to its claims in batches. Forms:
 *
 *   window     MPIX_Sparse_window_compare_and_swap, MPIX_Sparse_window_flush; own vertices are
 *              claimed by a load and a store, since the library touches them only in its calls, so
 *              that a search goes on among them until claims of others' are all that is left
 *   cas        MPI_Compare_and_swap, of own vertices too, and MPI_Win_flush_all, under
 *              MPI_Win_lock_all
 *   messages   claims and answers by MPI_Alltoallv, in rounds that all processes take part in; own
 *              vertices as in `window`
 *
 * The program follows Barrett, One-Sided Communication for High Performance Computing Applications,
 * 2009, chapter 4, and has its three graphs.
 *
 * The result of each form is compared with that of a serial union-find on process 0. The exit code
 * is 0 if all have the same components.
 *
 * No return code is looked at, of MPI_ and MPIX_ functions alike: communicators and windows keep
 * the default error handler, MPI_ERRORS_ARE_FATAL, which this library calls as MPI does. */

#include "graph.h"

enum { NONE = -1, LOOKS = 64, RECENT = 1024 };

static const char usage[] =
    "usage: components [options]\n"
    "  --graph NAME      erdos-renyi, rmat-nice, rmat-nasty or all (all)\n"
    "  --vertices N      vertices of the graph (2000)\n"
    "  --edges K         edges that a vertex has, on average, before each gets its opposite (8)\n"
    "  --seed N          of the random numbers (1)\n"
    "  --batch N         claims that are made together, about (4096)\n"
    "  --window KIND     memory of MPI's window: create, the program's, or allocate, MPI's (create)\n"
    "  --rounds N        most rounds; the median of them counts. At least 3 run, if N allows (9)\n"
    "  --seconds S       seconds for each graph, about (1)\n";

typedef struct {
  int kind, vertices, edges, seed, batch, allocated, rounds, seconds, help;
} options;

/* ------------------------------------------------------------------------------------- searches */

/* Vertices have local numbers: own ones, then ghosts. */
typedef struct search search;
struct search {
  const graph *g;
  MPI_Comm comm;
  int rank, batch;
  /* the form: `ask` issues a request as soon as it is made, in forms that can; `claim` answers the
     requests of the batch; `open` and `close` begin and end the time in which others may access
     `component`; `together`: processes claim at the same time, until none has requests; `direct`:
     own vertices are claimed at once, as nobody accesses them meanwhile */
  void (*open)(search *), (*ask)(search *, int), (*claim)(search *), (*close)(search *);
  int together, direct;
  MPIX_Sparse_window window;
  MPI_Win win;
  int allocated;

  int *component; /* of own vertices; others read and write it */
  int *known;     /* of all local numbers: name, NONE, or -2 - the request that will tell */
  int *queue, head, tail; /* own vertices to expand */
  int next;               /* own vertices before this one have a name */
  int looked;             /* the own vertex that is looked at next */
  int requests;
  int *vertex, *proposed, *previous; /* of each request: name to write, or NONE; what stood there */
  edge_list waiting;                 /* edges to vertices of requests: name, request */
  edge_list collisions;              /* pairs of names */
  edge recent[RECENT];               /* the last pairs: most collisions repeat one */
};

static void collide(search *s, int a, int b) {
  edge pair = {a < b ? a : b, a < b ? b : a};
  edge *recent = &s->recent[mix((uint64_t)pair.u << 32 | (uint64_t)pair.v) % RECENT];
  if (recent->u == pair.u && recent->v == pair.v) return;
  *recent = pair;
  if (s->collisions.count == s->collisions.room) sort_and_unite(&s->collisions);
  add(&s->collisions, pair.u, pair.v);
}

/* Learns the name of a vertex for which one was proposed. Own ones are expanded later: each is
   learned once. */
static void learn(search *s, int v, int proposed, int previous) {
  int name = previous != NONE ? previous : proposed;
  s->known[v] = name;
  if (proposed != NONE && proposed != name) collide(s, proposed, name);
  if (name != NONE && v < s->g->own) s->queue[s->tail++] = v;
}

/* Claims an own vertex, in forms in which others access it only while this process is in a call. */
static int claim_here(search *s, int v, int name) {
  int previous = s->component[v];
  if (previous == NONE) s->component[v] = name;
  return previous;
}

static void request(search *s, int v, int name) {
  if (s->direct && v < s->g->own) {
    learn(s, v, name, claim_here(s, v, name));
    return;
  }
  s->vertex[s->requests] = v;
  s->proposed[s->requests] = name;
  s->known[v] = -2 - s->requests;
  if (s->ask != NULL) s->ask(s, s->requests);
  s->requests++;
}

/* Follows the edges of an own vertex. The answer to a request that proposes the same name tells all
   that such an edge would. */
static void expand(search *s, int v) {
  const graph *g = s->g;
  int name = s->known[v];
  for (size_t e = g->start[v]; e < g->start[v + 1]; e++) {
    int u = g->adjacent[e], known = s->known[u];
    if (known == name) continue;
    if (known == NONE) request(s, u, name);
    else if (known > NONE) collide(s, name, known);
    else if (s->proposed[-2 - known] != name) add(&s->waiting, name, -2 - known);
  }
}

/* The first own vertex that has no name; all before it have one. */
static int next_without_name(search *s) {
  while (s->next < s->g->own && s->known[s->next] >= 0) s->next++;
  return s->next;
}

/* Looks at some own vertices that have no name: others may have claimed them. Returns 0 if it has
   learned of none. */
static int look(search *s) {
  int own = s->g->own, tail = s->tail;
  if (s->direct && s->looked == own) s->looked = next_without_name(s);
  for (int i = 0; i < LOOKS && s->looked < own; i++, s->looked++)
    if (s->known[s->looked] == NONE) request(s, s->looked, NONE);
  return s->tail > tail;
}

/* Starts a search at the next own vertex that has no name. Forms that learn its name later look at
   those behind it too, unless they have looked there. Returns 0 if there is none. */
static int start_search(search *s) {
  int v = next_without_name(s);
  if (v == s->g->own) return 0;
  if (s->direct) request(s, v, NONE);
  if (s->known[v] == NONE) request(s, v, s->g->first + v);
  if (!s->direct && v >= s->looked) {
    s->looked = v + 1;
    look(s);
  }
  return 1;
}

/* Makes a batch of requests. Returns 0 if all own vertices are done. */
static int fill(search *s) {
  s->requests = 0;
  s->waiting.count = 0;
  do
    while (s->head < s->tail && s->requests < s->batch) expand(s, s->queue[s->head++]);
  while ((s->direct && s->requests < s->batch && look(s)) || (s->requests == 0 && start_search(s)));
  return s->requests > 0;
}

/* Learns the names of the requested vertices. */
static void take_answers(search *s) {
  for (int r = 0; r < s->requests; r++) learn(s, s->vertex[r], s->proposed[r], s->previous[r]);
  for (size_t i = 0; i < s->waiting.count; i++) {
    int name = s->known[s->vertex[s->waiting.at[i].v]];
    if (name != s->waiting.at[i].u) collide(s, name, s->waiting.at[i].u);
  }
}

/* ------------------------------------------------------------------------ names that are united */

static int root_of(int *parent, int i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

static void unite(int *parent, int i, int j) {
  i = root_of(parent, i);
  j = root_of(parent, j);
  if (i < j) parent[j] = i;
  else parent[i] = j;
}

/* The names in pairs, in ascending order. Returns how many. */
static int names_of(const edge *pairs, int count, int *names) {
  int n = 0;
  for (int i = 0; i < count; i++) {
    names[2 * i] = pairs[i].u;
    names[2 * i + 1] = pairs[i].v;
  }
  qsort(names, 2 * (size_t)count, sizeof *names, ascending_int);
  for (int i = 0; i < 2 * count; i++)
    if (i == 0 || names[i] != names[n - 1]) names[n++] = names[i];
  return n;
}

/* Unites the names in pairs; those are moved to the front that unite two parts, and so imply the
   others. Returns how many these are. */
static int unite_pairs(edge *pairs, int count, const int *names, int n, int *parent) {
  int needed = 0;
  for (int i = 0; i < n; i++) parent[i] = i;
  for (int i = 0; i < count; i++) {
    int *u = bsearch(&pairs[i].u, names, (size_t)n, sizeof *names, ascending_int);
    int *v = bsearch(&pairs[i].v, names, (size_t)n, sizeof *names, ascending_int);
    if (root_of(parent, (int)(u - names)) == root_of(parent, (int)(v - names))) continue;
    unite(parent, (int)(u - names), (int)(v - names));
    pairs[needed++] = pairs[i];
  }
  return needed;
}

/* Collective. All collisions of all processes; their names get the least one of each component. */
static void unite_names(search *s) {
  int P, sum = 0;
  MPI_Comm_size(s->comm, &P);
  sort_and_unite(&s->collisions);
  int mine = long_enough(s->collisions.count), *names = ints(2 * mine), *parent = ints(2 * mine);
  int *counts = ints(P), *displs = ints(P);
  mine = unite_pairs(s->collisions.at, mine, names, names_of(s->collisions.at, mine, names), parent);
  free(names);
  free(parent);
  MPI_Allgather(&mine, 1, MPI_INT, counts, 1, MPI_INT, s->comm);
  for (int p = 0; p < P; sum += counts[p++]) displs[p] = sum;
  edge *all = allocate((size_t)sum, sizeof *all);
  MPI_Allgatherv(s->collisions.at, mine, MPI_2INT, all, counts, displs, MPI_2INT, s->comm);

  names = ints(2 * sum), parent = ints(2 * sum);
  int n = names_of(all, sum, names);
  unite_pairs(all, sum, names, n, parent);
  for (int v = 0; v < s->g->own; v++) {
    int *found = bsearch(&s->known[v], names, (size_t)n, sizeof *names, ascending_int);
    if (found != NULL) s->known[v] = names[root_of(parent, (int)(found - names))];
  }
  free(counts);
  free(displs);
  free(all);
  free(names);
  free(parent);
}

/* Collective. The names of own vertices are in `known` afterward. */
static void find_components(void *on) {
  search *s = on;
  for (int v = 0; v < s->g->own; v++) s->component[v] = NONE;
  for (int v = 0; v < s->g->own + s->g->ghosts; v++) s->known[v] = NONE;
  s->head = s->tail = s->next = s->looked = 0;
  s->collisions.count = 0;
  for (int i = 0; i < RECENT; i++) s->recent[i] = (edge){NONE, NONE};
  s->open(s);
  for (;;) {
    int more = fill(s);
    if (s->together) MPI_Allreduce(MPI_IN_PLACE, &more, 1, MPI_INT, MPI_LOR, s->comm);
    if (!more) break;
    s->claim(s);
    take_answers(s);
  }
  s->close(s);
  unite_names(s);
}

/* ---------------------------------------------------------------------------------------- forms */

enum { WINDOW, CAS, MESSAGES, FORMS };

/* Where a request goes: process, and number of the vertex among that one's own. */
static int target_of(const search *s, int r, int *there) {
  int v = s->vertex[r], ghost = v - s->g->own;
  *there = ghost < 0 ? v : s->g->there[ghost];
  return ghost < 0 ? s->rank : s->g->owner[s->g->owned_by[ghost]];
}

/* Nothing opens a window: what others claim after this fence comes in the next call of the library,
   and by then a process has cleared its names. */
static void close_window(search *s) { MPIX_Sparse_window_fence(s->window); }

/* Processes serve each other in these calls: while they search, and not only when they wait. */
static void ask_window(search *s, int r) {
  static const int none = NONE;
  int there, target = target_of(s, r, &there);
  MPI_Aint index = there;
  MPIX_Sparse_window_compare_and_swap(&s->proposed[r], &none, &s->previous[r], 1, target, &index, s->window);
}

static void claim_window(search *s) { MPIX_Sparse_window_flush(s->window); }

static void open_cas(search *s) {
  MPI_Win_lock_all(0, s->win);
  MPI_Win_sync(s->win);
  MPI_Barrier(s->comm);
}

static void ask_cas(search *s, int r) {
  static const int none = NONE;
  int there, target = target_of(s, r, &there);
  MPI_Compare_and_swap(&s->proposed[r], &none, &s->previous[r], MPI_INT, target, there, s->win);
}

static void claim_cas(search *s) { MPI_Win_flush_all(s->win); }

static void close_cas(search *s) {
  MPI_Barrier(s->comm); /* no process claims any more */
  MPI_Win_unlock_all(s->win);
}

static void no_more(search *s) { (void)s; }

/* Claims of vertices elsewhere travel to their owners, sorted by process, and the answers come back
   in the same order. */
static void claim_messages(search *s) {
  int P, there;
  MPI_Comm_size(s->comm, &P);
  int *sendcounts = ints(P), *senddispls = ints(P + 1), *recvcounts = ints(P), *recvdispls = ints(P + 1);
  int *order = ints(s->requests);
  for (int r = 0; r < s->requests; r++) sendcounts[target_of(s, r, &there)]++;
  MPI_Alltoall(sendcounts, 1, MPI_INT, recvcounts, 1, MPI_INT, s->comm);
  for (int p = 0; p < P; p++) {
    senddispls[p + 1] = senddispls[p] + sendcounts[p];
    recvdispls[p + 1] = recvdispls[p] + recvcounts[p];
  }
  int sends = senddispls[P], receives = recvdispls[P];
  edge *claims = allocate((size_t)sends, sizeof *claims), *asked = allocate((size_t)receives, sizeof *asked);
  int *answers = ints(receives), *came = ints(sends);
  for (int r = 0; r < s->requests; r++) {
    int target = target_of(s, r, &there);
    order[senddispls[target]] = r;
    claims[senddispls[target]++] = (edge){there, s->proposed[r]};
  }
  for (int p = 0; p < P; p++) senddispls[p] -= sendcounts[p];
  MPI_Alltoallv(claims, sendcounts, senddispls, MPI_2INT, asked, recvcounts, recvdispls, MPI_2INT, s->comm);
  for (int i = 0; i < receives; i++) answers[i] = claim_here(s, asked[i].u, asked[i].v);
  MPI_Alltoallv(answers, recvcounts, recvdispls, MPI_INT, came, sendcounts, senddispls, MPI_INT, s->comm);
  for (int i = 0; i < sends; i++) s->previous[order[i]] = came[i];
  void *all[] = {sendcounts, senddispls, recvcounts, recvdispls, order, claims, asked, answers, came};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
}

/* Open MPI 4.1 ends with a segmentation fault in MPI_Compare_and_swap on memory that it has
   allocated, if there is more than one process. */
static int cas_breaks(int allocated, MPI_Comm comm) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length, rank, P;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &P);
  MPI_Get_library_version(version, &length);
  int breaks = allocated && P > 1 && strncmp(version, "Open MPI v4", strlen("Open MPI v4")) == 0;
  if (breaks && rank == 0)
    printf("MPI_Compare_and_swap on memory of MPI_Win_allocate ends %.*s; cas is skipped\n",
           (int)strcspn(version, ","), version);
  return breaks;
}

/* Collective. Without `component` if the form is skipped. */
static search make_search(const options *o, const graph *g, int which, MPI_Comm comm) {
  int all = g->own + g->ghosts;
  search s = {.g = g, .comm = comm, .batch = o->batch, .allocated = o->allocated};
  MPI_Comm_rank(comm, &s.rank);
  int **lists[] = {&s.known, &s.vertex, &s.proposed, &s.previous};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) *lists[i] = ints(all);
  s.queue = ints(g->own);
  if (which == WINDOW) {
    s.open = no_more, s.ask = ask_window, s.claim = claim_window, s.close = close_window;
    s.direct = 1;
    s.component = ints(g->own);
    MPIX_Sparse_window_create(s.component, g->own, MPI_INT, MPI_INFO_NULL, comm, &s.window);
  } else if (which == CAS) {
    s.open = open_cas, s.ask = ask_cas, s.claim = claim_cas, s.close = close_cas;
    if (!cas_breaks(o->allocated, comm))
      s.component = make_window((size_t)g->own, sizeof(int), o->allocated, comm, &s.win);
  } else {
    s.open = no_more, s.claim = claim_messages, s.close = no_more;
    s.together = s.direct = 1;
    s.component = ints(g->own);
  }
  return s;
}

static void free_search(search *s, int which) {
  if (which == WINDOW) MPIX_Sparse_window_free(&s->window);
  if (which == CAS) free_window(s->component, s->allocated, &s->win);
  else free(s->component);
  void *all[] = {s->known, s->vertex, s->proposed, s->previous, s->queue, s->waiting.at, s->collisions.at};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
}

/* --------------------------------------------------------------------------------------- checks */

/* Components of a graph that is here as a whole: for each vertex the least one of its component. */
static int *serial_components(const graph *g) {
  int *parent = ints(g->own);
  for (int v = 0; v < g->own; v++) parent[v] = v;
  for (int v = 0; v < g->own; v++)
    for (size_t e = g->start[v]; e < g->start[v + 1]; e++) unite(parent, v, g->adjacent[e]);
  for (int v = 0; v < g->own; v++) parent[v] = root_of(parent, v);
  return parent;
}

/* Collective. The number of components. The name of a component is one of its vertices. */
static int count_components(const search *s) {
  int count = 0;
  for (int v = 0; v < s->g->own; v++) count += s->known[v] == s->g->first + v;
  MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT, MPI_SUM, s->comm);
  return count;
}

/* Collective. Returns, on process 0, how many vertices are not in the component of the serial run:
   each name must belong to one of those, and each of those have one name. */
static int compare(const search *s, const int *serial) {
  int rank, P, V = s->g->vertices, wrong = 0;
  MPI_Comm_rank(s->comm, &rank);
  MPI_Comm_size(s->comm, &P);
  int *counts = ints(P), *displs = ints(P), *names = ints(rank == 0 ? V : 0), *of_name = ints(rank == 0 ? V : 0);
  for (int p = 0; p < P; p++) {
    displs[p] = block_start(V, P, p);
    counts[p] = block_start(V, P, p + 1) - displs[p];
  }
  MPI_Gatherv(s->known, s->g->own, MPI_INT, names, counts, displs, MPI_INT, 0, s->comm);
  if (rank == 0) {
    for (int v = 0; v < V; v++) of_name[v] = NONE;
    for (int v = 0; v < V; v++) {
      int name = names[v];
      if (name < 0 || name >= V) {
        wrong++;
        continue;
      }
      if (of_name[name] == NONE) of_name[name] = serial[v];
      wrong += of_name[name] != serial[v] || name != names[serial[v]];
    }
  }
  free(counts);
  free(displs);
  free(names);
  free(of_name);
  return wrong;
}

/* The same graph on any number of processes. */
static graph make_graph(const options *o, int kind, MPI_Comm comm) {
  const rmat r = {o->vertices, o->edges, o->seed, rmat_quadrants[kind]};
  graph g = {.vertices = o->vertices};
  edge_list l = {0};
  make_rmat(&r, MPI_INFO_NULL, comm, &l);
  add_opposite(&l, o->vertices, MPI_INFO_NULL, comm);
  build_graph(&g, &l, comm);
  free(l.at);
  return g;
}

/* Collective. One graph in all forms. Returns 0 if a form is wrong. */
static int run_graph(const options *o, int kind, MPI_Comm comm) {
  static const char *const names[FORMS] = {"window", "cas", "messages"};
  int rank, ok = 1, *serial = NULL, expected = 0, largest = 0;
  MPI_Comm_rank(comm, &rank);
  graph g = make_graph(o, kind, comm);
  if (rank == 0) {
    graph whole = make_graph(o, kind, MPI_COMM_SELF);
    serial = serial_components(&whole);
    int *sizes = ints(g.vertices);
    for (int v = 0; v < g.vertices; v++) {
      expected += serial[v] == v;
      if (++sizes[serial[v]] > largest) largest = sizes[serial[v]];
    }
    free(sizes);
    free_graph(&whole);
  }
  MPI_Bcast(&expected, 1, MPI_INT, 0, comm);

  search searches[FORMS];
  form forms[FORMS];
  double seconds[FORMS];
  for (int f = 0; f < FORMS; f++) {
    searches[f] = make_search(o, &g, f, comm);
    forms[f] = (form){names[f], searches[f].component != NULL ? find_components : NULL, &searches[f]};
  }
  if (rank == 0) {
    printf("\n%s: %d vertices, %d components, the largest of %d vertices\n", rmat_names[kind], g.vertices, expected, largest);
    print_names("us (ratio to window)", forms, FORMS);
  }
  int rounds = time_forms(forms, FORMS, o->rounds, o->seconds, comm, seconds);
  if (rank == 0) print_times("search", seconds, FORMS, rounds);
  for (int f = 0; f < FORMS; f++) {
    if (forms[f].run == NULL) continue;
    find_components(&searches[f]);
    int found = count_components(&searches[f]), wrong = compare(&searches[f], serial);
    MPI_Bcast(&wrong, 1, MPI_INT, 0, comm);
    if (found == expected && wrong == 0) continue;
    ok = 0;
    if (rank == 0) printf("components: %s finds %d components, %d vertices WRONG\n", names[f], found, wrong);
  }
  for (int f = 0; f < FORMS; f++) free_search(&searches[f], f);
  free(serial);
  free_graph(&g);
  return ok;
}

/* The same exit code on all processes. */
static int run(const options *o, MPI_Comm world) {
  int rank, P, ok = 1;
  MPI_Comm comm;
  MPI_Comm_dup(world, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &P);
  if (rank == 0)
    printf("%d processes, batches of %d claims, windows by MPI_Win_%s\n", P, o->batch,
           o->allocated ? "allocate" : "create");
  for (int kind = 0; kind < KINDS; kind++)
    if (o->kind == ALL || o->kind == kind) ok = run_graph(o, kind, comm) && ok;
  if (rank == 0) printf("components: results %s the serial run\n", ok ? "agree with" : "DIFFER from");
  MPI_Comm_free(&comm);
  return ok ? 0 : 1;
}

/* Returns the argument that is wrong, or NULL. Past the end of argv stands a NULL, which no parser
   accepts. */
static const char *parse(char **argv, options *o) {
  *o = (options){.kind = ALL, .vertices = 2000, .edges = 8, .seed = 1, .batch = 4096, .rounds = 9, .seconds = 1};
  for (char **a = argv + 1; *a != NULL; a++) {
    const char *name = *a;
    int ok = 1;
    if (strcmp(name, "--graph") == 0) ok = parse_rmat(a[1], &o->kind) && *++a != NULL;
    else if (strcmp(name, "--vertices") == 0) ok = parse_int(a[1], 1, 1000000000, &o->vertices) && *++a != NULL;
    else if (strcmp(name, "--edges") == 0) ok = parse_int(a[1], 0, 1000, &o->edges) && *++a != NULL;
    else if (strcmp(name, "--seed") == 0) ok = parse_int(a[1], 0, INT_MAX, &o->seed) && *++a != NULL;
    else if (strcmp(name, "--batch") == 0) ok = parse_int(a[1], 1, INT_MAX, &o->batch) && *++a != NULL;
    else if (strcmp(name, "--window") == 0) ok = parse_window(a[1], &o->allocated) && *++a != NULL;
    else if (strcmp(name, "--rounds") == 0) ok = parse_int(a[1], 1, MOST_ROUNDS, &o->rounds) && *++a != NULL;
    else if (strcmp(name, "--seconds") == 0) ok = parse_int(a[1], 0, 1000, &o->seconds) && *++a != NULL;
    else if (strcmp(name, "--help") == 0) o->help = 1;
    else ok = 0;
    if (!ok) return name;
  }
  return rmat_possible(o->vertices, o->edges) ? NULL : "--edges";
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, code;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  options o;
  const char *wrong = parse(argv, &o);
  if (wrong != NULL || o.help) {
    code = show_usage(rank, "components", wrong, usage);
  } else {
    code = run(&o, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return code;
}
