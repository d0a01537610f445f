/* A differential fuzzer: random neighborhoods, hints, collectives of all forms, nested datatypes,
   sparse exchanges, windows and messages of the user's between them, on several communicators at a
   time.
   Every process draws what all do from one seed, and so knows what must arrive; each draws the
   layouts of its own buffers. What arrives is compared byte by byte with the typemap, guards around
   the buffers included.

     fuzz [--seconds S] [--cases N] [--seed X] [--case K] [--log]

   runs random cases for S seconds (10) or N cases; `--case K` only that one of the seed. A failing
   case prints what it did and the command that repeats it. */
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "fuzz_window.h"

enum { MOST_WORLDS = 3, MOST_CALLS = 5, STEPS = 14, PATIENCE = 100 };
static const char *const operation_name[OPERATIONS] = {"gather", "alltoall", "reduce", "accumulate"};

static world worlds[MOST_WORLDS];
static call calls[MOST_CALLS];
static exchange pending[MOST_WORLDS];
static fuzz_window windows[MOST_WORLDS];
static int world_count;
static uint64_t seed;
static long number_of_case, collectives_run, sets_made, sets_refused, exchanges_run, epochs_run;

/* the steps of the case, for when it fails */
static char story[1 << 16];
static size_t told;
static int log_steps;

static void tell(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  size_t before = told;
  if (told + 1 < sizeof story) told += (size_t)vsnprintf(story + told, sizeof story - told, format, arguments);
  if (told >= sizeof story) told = sizeof story - 1;
  va_end(arguments);
  if (log_steps) fprintf(stderr, "[%d] %s", test_rank, story + before);
}

static char repeat[200];

/* a case that does not end */
static void stuck(int signal) {
  (void)signal;
  static const char what[] = "fuzz: a case has not ended. To repeat it:\n";
  if (write(2, what, sizeof what - 1) < 0 || write(2, repeat, strlen(repeat)) < 0 || (test_rank == 0 && write(2, story, told) < 0)) _exit(4);
  _exit(3);
}

static MPI_Info hints(random_stream *shared, random_stream *own, const char *schedule, int whole, int verify, char *text, size_t room) {
  static const char *const memory[] = {"0", "0", "65536", "131072", "1048576"};
  static const char *const presets[] = {"jaguar", "intrepid", "big_red", "meiko_split_c", "meiko_elan"};
  static const char *const windows[] = {"1", "2", "50"};
  MPI_Info info;
  MPI_Info_create(&info);
  int length = 0;
#define HINT(key, value)          \
  (MPI_Info_set(info, key, value), \
   length += snprintf(text + length, room - (size_t)length, " %s=%s", (key) + 5, value))
  text[0] = 0;
  if (schedule) HINT("mpix_schedule", schedule);
  if (whole) HINT("mpix_whole_communicator", "true");
  if (verify) HINT("mpix_verify", "true");
  if (chance(shared, 60)) HINT("mpix_shared_memory", memory[below(shared, 5)]);
  if (chance(shared, 30)) HINT("mpix_single_copy", "false");
  if (chance(shared, 30)) HINT("mpix_nodes", chance(shared, 50) ? "1" : "2");
  if (chance(shared, 40)) HINT("mpix_loggp", presets[below(shared, 5)]);
  if (chance(shared, 20)) HINT("mpix_split", "false");
  if (chance(shared, 20)) HINT("mpix_duplex", "half");
  if (chance(shared, 30)) HINT("mpix_weight_unit", chance(shared, 50) ? "1000" : "1000000");
  if (chance(shared, 20) && !(schedule && !strcmp(schedule, "random_rounds"))) HINT("mpix_graph_limit", "0");
  if (chance(shared, 40)) HINT("mpix_fuse", chance(shared, 50) ? "true" : "false");
  if (chance(shared, 30)) HINT("mpix_transport", "rma");
  if (chance(shared, 30)) HINT("mpix_rma_synchronization", "passive");
  if (chance(shared, 30)) HINT("mpix_round_window", windows[below(own, 3)]);
  if (chance(own, 30)) HINT("mpix_reduce_order", "any");
#undef HINT
  return info;
}

/* ---- neighborhoods */

enum { RANDOM, STAR, TOPOLOGY, OFFSETS, DENSE, TARGETS };
static const char *const graph_kind[] = {"random", "star", "topology", "offsets", "dense", "targets"};

/* the lists of all processes for random displacements on a periodic grid, or of the topology's
   own */
static graph grid_graph(const world *w, random_stream *shared, int topology) {
  graph g = graph_new(w->size);
  int dims[2], periods[2], mine[2], at[2], offsets[10][2], n = topology ? 4 : between(shared, 1, 10);
  MPI_Cart_get(w->comm, 2, dims, periods, mine);
  for (int k = 0; k < n; k++)
    for (int d = 0; d < 2; d++) offsets[k][d] = topology ? (k / 2 == d ? 2 * (k % 2) - 1 : 0) : between(shared, -1, 1);
  for (int r = 0; r < w->size; r++) {
    MPI_Cart_coords(w->comm, r, 2, at);
    for (int k = 0; k < n; k++)
      for (int way = 0; way < 2; way++) {
        int to[2], inside = 1, rank = MPI_PROC_NULL;
        for (int d = 0; d < 2; d++) {
          /* of a topology both lists are one; of others sources lie the other way */
          to[d] = at[d] + (way && !topology ? -offsets[k][d] : offsets[k][d]);
          if (!periods[d] && (to[d] < 0 || to[d] >= dims[d])) inside = 0;
          to[d] = (to[d] + 2 * dims[d]) % dims[d];
        }
        if (inside) MPI_Cart_rank(w->comm, to, &rank);
        if (way == 0) insert(&g.targets[r], &g.outdegree[r], g.outdegree[r], rank);
        else insert(&g.sources[r], &g.indegree[r], g.indegree[r], rank);
      }
  }
  return g;
}

static graph make_graph(const world *w, int kind, random_stream *shared) {
  int n = w->size;
  uint64_t key = draw(shared);
  if (kind == TOPOLOGY || kind == OFFSETS) return grid_graph(w, shared, kind == TOPOLOGY);
  if (kind == STAR) {
    graph g = graph_new(n);
    int center = (int)(key % (uint64_t)n);
    for (int k = 0; k < n; k++) {
      int r = (int)(((uint64_t)k + key / 7) % (uint64_t)n);
      if (r == center || mix2(key, r) % 5 == 0) continue;
      insert(&g.targets[center], &g.outdegree[center], g.outdegree[center], r);
      insert(&g.sources[r], &g.indegree[r], 0, center);
    }
    return g;
  }
  if (kind == DENSE) {
    graph g = graph_new(n);
    for (int s = 0; s < n; s++)
      for (int k = 0; k < n; k++) {
        int t = (k + s) % n;
        insert(&g.targets[s], &g.outdegree[s], g.outdegree[s], t);
        insert(&g.sources[t], &g.indegree[t], (int)(mix3(key, s, t) % (uint64_t)(g.indegree[t] + 1)), s);
      }
    return g;
  }
  graph g = graph_random(n, (int)(key % (uint64_t)(4 * n + 1)), key);
  if (kind != TARGETS) return g;
  /* as a sparse exchange finds them: by rank, and in the order of that process's list */
  for (int r = 0; r < n; r++) {
    g.indegree[r] = 0;
    for (int s = 0; s < n; s++)
      for (int i = 0; i < g.outdegree[s]; i++)
        if (g.targets[s][i] == r) insert(&g.sources[r], &g.indegree[r], g.indegree[r], s);
  }
  return g;
}

static graph copy_graph(const graph *g) {
  graph copy = graph_new(g->n);
  for (int r = 0; r < g->n; r++) {
    for (int i = 0; i < g->outdegree[r]; i++) insert(&copy.targets[r], &copy.outdegree[r], i, g->targets[r][i]);
    for (int j = 0; j < g->indegree[r]; j++) insert(&copy.sources[r], &copy.indegree[r], j, g->sources[r][j]);
  }
  return copy;
}

static void forget(world *w, int operation) {
  if (w->of[operation].set) graph_free(&w->of[operation].g);
  memset(&w->of[operation], 0, sizeof w->of[operation]);
  /* plans cannot be started any more */
  for (int k = 0; k < MOST_CALLS; k++)
    if (calls[k].w == w && calls[k].operation == operation) {
      calls[k].stale = 1;
      if (!calls[k].active) call_free(&calls[k]);
    }
}

/* sets a random neighborhood for random operations of a communicator */
static void step_set(world *w, random_stream *shared, random_stream *own) {
  static const char *const general[] = {"direct", "linear_permutation", "random_rounds", "random_rounds", "edge_coloring", "edge_coloring", "distributed_coloring", "measure", "auto"};
  int kind = w->cartesian ? between(shared, TOPOLOGY, OFFSETS) : (int[]){RANDOM, RANDOM, RANDOM, STAR, DENSE, TARGETS}[below(shared, 6)];
  int operations = between(shared, 1, 15), whole = chance(shared, 40), verify = chance(shared, 30), weighted = chance(shared, 40);
  const char *schedule = chance(shared, 80) ? general[below(shared, 9)] : NULL;
  /* schedules that only some operations and graphs can have */
  int special = chance(shared, 40);
  if (special && kind == STAR) operations = 2 | (operations & 8), whole = 1, schedule = chance(shared, 50) ? "scatter_binomial" : "scatter_optimal";
  else if (special && kind == TOPOLOGY) schedule = chance(shared, 50) ? "dimension_order" : "combining";
  else if (special && kind == OFFSETS) schedule = "combining", whole = 1;
  else if (special) schedule = "node_aware", whole = 1;
  if (schedule && (!strcmp(schedule, "combining") || !strcmp(schedule, "node_aware"))) operations = operations & 11 ? operations & 11 : 2;
  graph g = make_graph(w, kind, shared);
  char text[600];
  MPI_Info info = hints(shared, own, schedule, whole, verify, text, sizeof text);
  int r = w->rank, in = g.indegree[r], out = g.outdegree[r], code;
  int *iw = malloc(((size_t)in + 1) * sizeof *iw), *ow = malloc(((size_t)out + 1) * sizeof *ow);
  for (int j = 0; j < in; j++) iw[j] = between(own, 0, 100000);
  for (int i = 0; i < out; i++) ow[i] = between(own, 0, 100000);
  tell("set %d on communicator %d, %s, %d sources and %d targets:%s%s\n", operations, (int)(w - worlds), graph_kind[kind], in, out, text, weighted ? ", weighted" : "");
  /* finding the sources is a sparse exchange, of which a communicator has one at a time */
  if (kind == TARGETS && pending[w - worlds].request) sparse_end(&pending[w - worlds], own);
  for (int again = 0; again < 2; again++) {
    if (kind == TOPOLOGY) code = MPIX_Neighborhood_set_topology(operations, info, w->comm);
    else if (kind == TARGETS) code = MPIX_Neighborhood_set_targets(operations, out, g.targets[r], weighted ? ow : MPI_UNWEIGHTED, info, w->comm);
    else
      code = MPIX_Neighborhood_set(operations, in, g.sources[r], weighted ? iw : MPI_UNWEIGHTED, out, g.targets[r], weighted ? ow : MPI_UNWEIGHTED, info, w->comm);
    if (code == MPI_SUCCESS || !special || again) break;
    /* not every grid can combine */
    sets_refused++;
    MPI_Info_delete(info, "mpix_schedule");
  }
  CHECK(code == MPI_SUCCESS, "set returned %d: %s", code, test_message(code));
  sets_made++;
  MPI_Info_free(&info);
  free(iw), free(ow);
  for (int k = 0; k < OPERATIONS; k++)
    if (operations & 1 << k) {
      forget(w, k);
      w->of[k] = (neighborhood){1, kind == STAR, copy_graph(&g), kind == TOPOLOGY};
    }
  graph_free(&g);
}

/* ---- a case */

static void step_call(world *w, random_stream *shared, random_stream *own) {
  int operation = below(shared, OPERATIONS), mode = below(shared, 3), number = 0;
  while (operation < OPERATIONS && !w->of[operation].set) operation++;
  while (number < MOST_CALLS && calls[number].w) number++;
  if (operation == OPERATIONS || number == MOST_CALLS) return;
  call *c = &calls[number];
  call_make(c, w, operation, mode, shared, own);
  tell("%s on communicator %d\n", c->text, (int)(w - worlds));
  MPI_Info info = MPI_INFO_NULL;
  if (mode == PERSISTENT && chance(shared, 30)) {
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_match", "plan");
  }
  if (mode != PERSISTENT) call_fill(c, 0);
  OK(call_issue(c, info));
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  for (int f = 0; f < c->fields; f++) side_scramble(&c->in[f], 1), side_scramble(&c->out[f], 1);
  collectives_run++;
  c->active = mode == NONBLOCKING;
  if (mode == BLOCKING) call_compare(c), call_free(c);
}

/* starts a plan that is not running */
static void step_start(int number) {
  call *c = &calls[number];
  if (!c->w || c->mode != PERSISTENT || c->active || c->runs == 4) return;
  tell("start of call %d: %s\n", number, c->text);
  call_fill(c, ++c->runs);
  OK(MPIX_Request_start(&c->request));
  collectives_run++;
  c->active = 1;
}

static void step_complete(int number, random_stream *own) {
  call *c = &calls[number];
  if (!c->w || !c->active) return;
  tell("completion of call %d: %s\n", number, c->text);
  call_complete(c, own);
  if (c->mode == NONBLOCKING || c->stale) call_free(c);
}

static void step_sparse(world *w, random_stream *shared, random_stream *own) {
  exchange *x = &pending[w - worlds];
  if (x->request) {
    tell("completion of the sparse exchange on communicator %d\n", (int)(w - worlds));
    sparse_end(x, own);
    return;
  }
  exchanges_run++;
  tell("sparse exchange on communicator %d\n", (int)(w - worlds));
  sparse_begin(x, w, shared, own);
  tell("  was %s\n", x->c.text);
  if (!x->request) sparse_end(x, own);
}

/* an epoch of few operations ends in a later step */
static void step_window(world *w, random_stream *shared, random_stream *own) {
  fuzz_window *f = &windows[w - worlds];
  if (!f->window) {
    window_make(f, w, shared);
    tell("communicator %d: %s\n", (int)(w - worlds), f->text);
  }
  if (!f->open) {
    tell("epoch %d on communicator %d\n", f->epoch, (int)(w - worlds));
    epochs_run++;
    window_begin(f, shared, own);
    if (f->few) return;
  }
  tell("end of epoch %d on communicator %d\n", f->epoch, (int)(w - worlds));
  window_end(f, shared);
  if (chance(shared, 20)) window_discard(f);
}

static void make_worlds(random_stream *shared) {
  world_count = between(shared, 1, MOST_WORLDS);
  for (int k = 0; k < world_count; k++) {
    world *w = &worlds[k];
    memset(w, 0, sizeof *w);
    int kind = below(shared, 4), dims[2] = {0, 0}, periods[2];
    periods[0] = chance(shared, 70), periods[1] = chance(shared, 70);
    if (kind == 0) {
      MPI_Dims_create(test_size, 2, dims);
      MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &w->comm);
      w->cartesian = 1;
    } else if (kind == 1) {
      /* in another order */
      uint64_t key = draw(shared);
      MPI_Comm_split(MPI_COMM_WORLD, 0, (int)(mix2(key, test_rank) % 1000), &w->comm);
    } else {
      w->comm = test_duplicate();
    }
    MPI_Comm_set_errhandler(w->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(w->comm, &w->rank), MPI_Comm_size(w->comm, &w->size);
    tell("communicator %d: %s\n", k, kind == 0 ? "cartesian" : kind == 1 ? "reordered" : "duplicate");
  }
}

static void run_case(uint64_t key) {
  random_stream shared = {mix(key)}, own = {mix3(key, test_rank, 1)};
  told = 0;
  make_worlds(&shared);
  for (int k = 0; k < world_count; k++) step_set(&worlds[k], &shared, &own);
  for (int step = 0; step < STEPS && test_failures == 0; step++) {
    world *w = &worlds[below(&shared, world_count)];
    int what = below(&shared, 100);
    if (what < 50) step_call(w, &shared, &own);
    else if (what < 65) step_start(below(&shared, MOST_CALLS));
    else if (what < 80) step_complete(below(&shared, MOST_CALLS), &own);
    else if (what < 84) step_sparse(w, &shared, &own);
    else if (what < 89) step_window(w, &shared, &own);
    else if (what < 93) {
      tell("traffic on communicator %d\n", (int)(w - worlds));
      if (w->traffic) traffic_end(w);
      else traffic_begin(w, &shared);
    } else if (what < 97) step_set(w, &shared, &own);
    else if (what < 99) {
      for (int k = 0; k < OPERATIONS; k++)
        if (w->of[k].set) {
          tell("free %s on communicator %d\n", operation_name[k], (int)(w - worlds));
          OK(MPIX_Neighborhood_free(1 << k, w->comm));
          forget(w, k);
          break;
        }
    } else {
      OK(MPI_Barrier(w->comm));
    }
  }
  /* a failure leaves things as they are: the program ends */
  for (int k = 0; k < MOST_CALLS && test_failures == 0; k++) {
    step_complete(k, &own);
    if (calls[k].w) call_free(&calls[k]);
  }
  for (int k = 0; k < world_count && test_failures == 0; k++) {
    if (pending[k].request) step_sparse(&worlds[k], &shared, &own);
    if (windows[k].open) step_window(&worlds[k], &shared, &own);
    if (windows[k].window) window_discard(&windows[k]);
    traffic_end(&worlds[k]);
    for (int o = 0; o < OPERATIONS; o++) forget(&worlds[k], o);
    MPI_Comm_free(&worlds[k].comm);
  }
}

/* Cases of a program that runs for a time. Windows that a plan still uses when its communicator is
   freed are kept until MPI_Finalize, and MPICH has 2,048 communicators, windows among them. */
enum { MOST_CASES = 8000 };

int main(int argc, char **argv) {
  double seconds = 10;
  long cases = -1, only = -1;
  test_init(&argc, &argv);
  seed = mix2((uint64_t)time(NULL), (uint64_t)getpid());
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    if (!strcmp(argv[i], "--seed")) seed = strtoull(value, NULL, 0), i++;
    else if (!strcmp(argv[i], "--seconds")) seconds = atof(value), i++;
    else if (!strcmp(argv[i], "--cases")) cases = atol(value), i++;
    else if (!strcmp(argv[i], "--case")) only = atol(value), i++;
    else if (!strcmp(argv[i], "--log")) log_steps = 1;
    else {
      if (test_rank == 0) fprintf(stderr, "%s: what is %s? Options: --seed X, --seconds S, --cases N, --case K, --log\n", argv[0], argv[i]);
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
  }
  MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  if (test_rank == 0) printf("fuzz: --seed 0x%016llx, %d processes\n", (unsigned long long)seed, test_size), fflush(stdout);
  MPI_Op_create(affine, 0, &affine_op);
  signal(SIGALRM, stuck);
  double begin = MPI_Wtime();
  for (number_of_case = only >= 0 ? only : 0;; number_of_case++) {
    snprintf(repeat, sizeof repeat, "  mpirun -n %d %s --seed 0x%016llx --case %ld\n", test_size, argv[0], (unsigned long long)seed, number_of_case);
    alarm(PATIENCE);
    run_case(mix2(seed, (uint64_t)number_of_case));
    alarm(0);
    if (test_failures > 0) {
      fprintf(stderr, "fuzz: process %d failed. To repeat it:\n%swhat it did:\n%s", test_rank, repeat, story);
      /* others may have something to say too, or wait for this process for ever */
      sleep(1);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    int over = test_rank == 0 && cases < 0 && (MPI_Wtime() - begin > seconds || number_of_case + 1 == MOST_CASES);
    alarm(PATIENCE);
    MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
    alarm(0);
    if (over || only >= 0 || number_of_case + 1 == cases) break;
  }
  MPI_Op_free(&affine_op);
  if (test_rank == 0)
    printf("fuzz: %ld cases, %ld collectives, %ld exchanges, %ld epochs, %ld neighborhoods (%ld otherwise than wished), %ld datatypes (%ld replaced, as MPI packs them wrongly)\n",
           number_of_case + 1, collectives_run, exchanges_run, epochs_run, sets_made, sets_refused, types_made, types_refused);
  return test_finish();
}
