/* Exchanges between hosts by all schedules: a 3-D 27-point and a 2-D 9-point halo on periodic grids
 * of processes, and a random graph; or, between two processes, one message each way.
 * `scripts/hosts-bench` runs it on hosts made of network namespaces.
 *
 * Alternatives are `direct`, Irecv/Isend/Waitall by hand, native MPI_Neighbor_alltoallv, and those
 * of our other schedules that the graph and the hosts allow. What `auto`, `model` and `measure`
 * take is timed once: under its own name, or as theirs where it is none of the alternatives.
 * Weights are bytes; all processes make every call, and the library knows it. What each delivers
 * is checked before it is timed. Lengths end where a call takes more than LONGEST_CALL; `measure`
 * makes its trial calls up to LONGEST_TRIAL, and where they do not end in TRIAL seconds it is
 * undecided.
 *
 * Each line: graph | length | alternative | milliseconds | ratio to `direct` | what it took | ratio
 * of that to the best of our schedules with the default window or in strict rounds (window 1).
 *
 * Usage: hosts [--only pair|halo|plane|random] [--seconds S] [--rounds N] [--quantile Q]
 *   --only     one of the graphs: pair is for two processes, the others are for more
 *   --seconds  roughly, for each length
 * Method: see measure.h. */
#define _GNU_SOURCE
#include "edges.h"

typedef struct {
  const char *name, *schedule, *window, *transport;
} variant;

/* the first ones are not chosen themselves */
enum { DIRECT, HAND, NATIVE, WINDOW_1, COLORING, WINDOW_4, COMBINING, NODE_AWARE, RMA, MEASURE, MODEL, AUTO, ALL };
static const variant variants[ALL] = {
    [DIRECT] = {"direct", "direct", NULL, NULL},
    [HAND] = {"by hand", NULL, NULL, NULL},
    [NATIVE] = {"native", NULL, NULL, NULL},
    [WINDOW_1] = {"edge_coloring, window 1", "edge_coloring", "1", NULL},
    [COLORING] = {"edge_coloring", "edge_coloring", NULL, NULL},
    [WINDOW_4] = {"edge_coloring, window 4", "edge_coloring", "4", NULL},
    [COMBINING] = {"combining", "combining", NULL, NULL},
    [NODE_AWARE] = {"node_aware", "node_aware", NULL, NULL},
    [RMA] = {"direct, rma", "direct", NULL, "rma"},
    [MEASURE] = {"measure", "measure", NULL, NULL},
    [MODEL] = {"model", "model", NULL, NULL},
    [AUTO] = {"auto", "auto", NULL, NULL},
};

/* seconds */
static const double LONGEST_CALL = 0.6, LONGEST_TRIAL = 0.08, TRIAL = 15;

static const struct {
  int bytes, calls, settling, checked;
} lengths[] = {{8, 40, 4, 3}, {512, 60, 60, 3}, {8192, 10, 6, 3}, {65536, 6, 1, 3}, {524288, 4, 1, 1}, {4194304, 1, 0, 1}};

/* fewer calls begin together */
enum { MANY = 10 };

/* several hosts, at least one of them with several processes */
static int gathers;

/* ---- graphs */

static MPI_Comm halo(problem *p) {
  step steps[MOST_STEPS];
  return box_edges(p, 3, steps);
}

static MPI_Comm plane(problem *p) {
  step steps[MOST_STEPS];
  return box_edges(p, 2, steps);
}

static MPI_Comm random_graph(problem *p) {
  MPI_Comm comm;
  random_edges(p, 4, 8);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  return comm;
}

static MPI_Comm pair(problem *p) {
  MPI_Comm comm;
  ring_edges(p, 1);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  return comm;
}

/* from an eighth to all of `bytes` */
static int uneven(int source, int target, int bytes) { return bytes / 8 * (1 + (int)(mix(((uint64_t)source << 16) + (uint64_t)target) % 8)); }

static void uneven_blocks(problem *p, int bytes) {
  p->room_in = p->room_out = 0;
  for (int j = 0; j < p->in; j++) p->bytes_in[j] = p->displs_in[j] = (int)p->room_in, p->room_in += (size_t)(p->counts_in[j] = uneven(p->sources[j], me, bytes));
  for (int i = 0; i < p->out; i++)
    p->bytes_out[i] = p->displs_out[i] = (int)p->room_out, p->room_out += (size_t)(p->counts_out[i] = uneven(me, p->targets[i], bytes));
  p->send = need(p->room_out), p->recv = need(p->room_in);
}

/* ---- ours */

static void set(problem *p, const variant *v) {
  const char *const pairs[][2] = {{"mpix_schedule", v->schedule},
                                  {"mpix_weight_unit", "1"},
                                  {"mpix_whole_communicator", "true"},
                                  {"mpix_round_window", v->window},
                                  {"mpix_transport", v->transport}};
  MPI_Info info;
  MPI_Info_create(&info);
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    if (pairs[i][1]) MPI_Info_set(info, pairs[i][0], pairs[i][1]);
  MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, p->in, p->sources, p->counts_in, p->out, p->targets, p->counts_out, info, p->comm);
  MPI_Info_free(&info);
}

/* the library's description of a neighborhood */
typedef struct {
  char schedule[32];
  int strict, compares, puts;
  double predicted; /* ms; 0 where the model was not asked */
} description;

static description describe(const problem *p) {
  description d = {.predicted = 0};
  char text[4096];
  int length;
  MPIX_Neighborhood_describe(MPIX_NEIGHBOR_ALLTOALL, p->comm, sizeof text, text, &length);
  const char *of = strstr(text, "\nschedule "), *by = strstr(text, "by the model ");
  if (!of || sscanf(of, "\nschedule %31[^:]", d.schedule) != 1) {
    fprintf(stderr, "hosts: the description is not understood:\n%s", text);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (by && sscanf(by, "by the model %lf us", &d.predicted) == 1) d.predicted *= 1e-3;
  char *end = strchr(of, ';');
  *end = 0;
  d.strict = strstr(of, " strict round") != NULL;
  *end = ';';
  d.compares = strstr(of, "the first calls compare") != NULL;
  d.puts = strstr(of, "transport: puts") != NULL;
  return d;
}

/* the same number on all processes: that of process 0 */
static double agreed(double seconds) {
  MPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return seconds;
}

/* Calls until `measure` has decided. Whether it has. */
static int decide(problem *p) {
  double begin = MPI_Wtime();
  while (describe(p).compares) {
    if (agreed(MPI_Wtime() - begin) > TRIAL) return 0;
    for (int i = 0; i < 6; i++) ours(p);
  }
  return 1;
}

/* the alternatives that `auto` may take: with the default window, or in strict rounds */
static const int taken[] = {DIRECT, COLORING, WINDOW_1, COMBINING, NODE_AWARE};

/* the alternative that runs a schedule; else `none` */
static int runs(const description *d, int none) {
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
    if (!strcmp(variants[taken[i]].schedule, d->schedule) && d->strict == (taken[i] == WINDOW_1)) return taken[i];
  return none;
}

/* ---- one length */

static void print_parameters(MPI_Comm comm) {
  MPIX_Loggp p;
  MPIX_Loggp_get(comm, &p);
  if (me == 0)
    printf("# measured: L %.1f us, o %.1f us, g %.1f us, G %.5f us a byte, eager %lld\n", p.latency, (p.send_overhead + p.recv_overhead) / 2, p.gap,
           p.gap_per_byte, (long long)p.eager);
}

/* Whether longer ones may follow. */
static int run(const char *graph, problem *base, MPI_Comm comms[ALL], int on_grid, int is_uneven, int l) {
  int bytes = lengths[l].bytes, is_there[ALL], by[ALL], numbers[ALL], is_set[ALL] = {0}, count = 0;
  problem on[ALL];
  description said[ALL] = {0};
  alternative list[ALL];
  (is_uneven ? uneven_blocks : equal_blocks)(base, bytes);
  least_calls = lengths[l].calls, settling_calls = lengths[l].settling, checked = lengths[l].checked, trial_calls = 1, least_rounds = 3;
  aligned = least_calls < MANY;
  for (int a = 0; a < ALL; a++) on[a] = *base, on[a].comm = comms[a];
  /* the first call also connects the processes */
  by_hand(&on[HAND]);
  double call = INFINITY;
  for (int i = 0; i < 3; i++) {
    double begin = MPI_Wtime();
    by_hand(&on[HAND]);
    call = fmin(call, agreed(MPI_Wtime() - begin));
  }
  if (call > LONGEST_CALL) {
    if (me == 0) printf("# %s, %s: a call takes %.1f s\n", graph, size_name(bytes), call), fflush(stdout);
    return 0;
  }
  for (int a = 0; a < ALL; a++) {
    is_there[a] = a == COMBINING ? on_grid : a == NODE_AWARE ? gathers : a == MEASURE ? call <= LONGEST_TRIAL : 1;
    if (!is_there[a] || a == HAND || a == NATIVE) continue;
    set(&on[a], &variants[a]), is_set[a] = 1;
    alternative checks = {variants[a].name, ours, &on[a]};
    expect_same(&checks);
    if (a == MEASURE && !decide(&on[a])) is_there[a] = 0;
    said[a] = describe(&on[a]);
    if (a == RMA) is_there[a] = said[a].puts;
  }
  if (l == 0) print_parameters(comms[AUTO]);
  for (int a = 0; a < ALL; a++) {
    by[a] = a >= MEASURE ? runs(&said[a], a) : a;
    if (!is_there[a] || by[a] != a) continue;
    numbers[count] = a;
    list[count++] = (alternative){variants[a].name, a == HAND ? by_hand : a == NATIVE ? native : ours, &on[a]};
  }
  samples near, far;
  sample(list, count, &near, &far);
  double times[ALL], best = INFINITY;
  for (int i = 0; i < count; i++) {
    int a = numbers[i];
    times[a] = 1e3 * typical(near.times[i], near.count);
    if (a != HAND && a != NATIVE && a != WINDOW_4 && a != RMA) best = fmin(best, times[a]);
  }
  for (int a = 0; a < ALL && me == 0; a++) {
    printf("%s | %s | %s | ", graph, size_name(bytes), variants[a].name);
    if (!is_there[a]) printf("- | - | - | -\n");
    else if (a < MEASURE) printf("%.3f | %.2f | - | -\n", times[a], times[a] / times[DIRECT]);
    else {
      printf("%.3f | %.2f | %s", times[by[a]], times[by[a]] / times[DIRECT], said[a].schedule);
      if (said[a].strict) printf(", strict");
      if (said[a].predicted > 0) printf(", predicted %.3f", said[a].predicted);
      printf(" | %.2f\n", times[by[a]] / best);
    }
  }
  fflush(stdout);
  release_samples(&near), release_samples(&far);
  for (int a = 0; a < ALL; a++)
    if (is_set[a]) MPIX_Neighborhood_free(MPIX_NEIGHBOR_ALLTOALL, comms[a]);
  free(base->send), free(base->recv);
  return 1;
}

/* ---- one graph, with all lengths */

static void run_graph(const char *graph, MPI_Comm (*make)(problem *)) {
  problem base;
  MPI_Comm comm = make(&base), comms[ALL];
  for (int a = 0; a < ALL; a++) {
    if (a != NATIVE) MPI_Comm_dup(comm, &comms[a]);
    else
      MPI_Dist_graph_create_adjacent(comm, base.in, base.sources, base.in ? MPI_UNWEIGHTED : MPI_WEIGHTS_EMPTY, base.out, base.targets, MPI_UNWEIGHTED,
                                     MPI_INFO_NULL, 0, &comms[a]);
  }
  for (int l = 0; l < (int)(sizeof lengths / sizeof *lengths); l++)
    if (!run(graph, &base, comms, make == halo || make == plane, make == random_graph, l)) break;
  for (int a = 0; a < ALL; a++) MPI_Comm_free(&comms[a]);
  MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    MPI_Comm (*make)(problem *);
    int of_two; /* for two processes; the others for more */
  } graphs[] = {{"pair", pair, 1}, {"halo", halo, 0}, {"plane", plane, 0}, {"random", random_graph, 0}};
  budget = 3;
  const char *only = begin(argc, argv, "hosts [--only pair|halo|plane|random] [--seconds S] [--rounds N] [--quantile Q]");
  int nodes;
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &nodes);
  nodes = nodes == 0;
  MPI_Allreduce(MPI_IN_PLACE, &nodes, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_free(&node);
  gathers = nodes > 1 && nodes < n;
  char what[100];
  snprintf(what, sizeof what, "%d hosts; graph | length | alternative | ms | to direct | took | to the best", nodes);
  print_header(what);
  int ran = 0;
  for (size_t g = 0; g < sizeof graphs / sizeof *graphs; g++)
    if (graphs[g].of_two == (n == 2) && (!*only || !strcmp(only, graphs[g].name))) run_graph(graphs[g].name, graphs[g].make), ran = 1;
  if (!ran && me == 0) printf("# there is no graph %s for %d processes\n", only, n);
  end();
  return 0;
}
