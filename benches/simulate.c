/* The library under SimGrid's SMPI: simulated times of ours beside the same exchange by hand, and
 * what the library's model predicts. `make simulate` runs it; docs/simulation.md says what it
 * means.
 *
 * A call begins at the same time on all processes and ends on the slowest one. What each
 * alternative delivers is checked in each call.
 *
 * Usage: simulate sparse|bfs|nbody|halo|random|patterns|ghost|permutations|set|machine
 *        [PARAMETERS]; PARAMETERS is a file of LogGP parameters for the model */
#define _GNU_SOURCE
#include <mpi.h>
#include <mpix_neighbor.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* TRIAL: exchanges after which `auto` of a sparse exchange has compared all protocols */
enum { TRIAL = 350, CALLS = 3, MOST = 64, TAG = 8, HALO = 26, RANDOM = 8 };

/* this process, and what it works on */
typedef struct {
  int me, n, round, steps, near, messages, bytes, nodes, per_node;
  MPI_Comm comm;
  const char *parameters;
  /* a sparse exchange: each message is one word, repeated */
  int degree, targets[MOST], came, room, *sources;
  uint64_t *out, *in_word, *words;
  MPI_Info info;
  int *counts, *counts_in;
  char chosen[32];
  /* a neighborhood: blocks of as many bytes each, or a multiple of them */
  int in, edges_out, *from, *to, *bytes_in, *bytes_out, *at_in, *at_out, *tags_in, *tags_out;
  char *send, *recv;
  MPI_Request *requests;
  MPI_Win window;
  MPI_Group around;
} job;

static uint64_t mix(uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static void *need(size_t bytes) {
  void *p = calloc(1, bytes ? bytes : 1);
  if (!p) MPI_Abort(MPI_COMM_WORLD, 1);
  return p;
}

static void fail(const job *j, const char *name, const char *what) {
  fprintf(stderr, "simulate: %s: process %d: %s\n", name, j->me, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- time */

/* Simulated seconds from one step to the next: longer than any step. They cost nothing. */
static const double step = 1;

/* the longest call of each step: all processes share the program's variables, so that no message
   is needed to take times */
enum { STEPS = 4096 };
static double longest[STEPS];

/* all processes leave at the same time, that of their next step, which is returned */
static double together(job *j) {
  double begin = ++j->steps * step, left = begin - MPI_Wtime();
  if (left < 0 || j->steps >= STEPS) fail(j, "time", "a step took too long, or there are too many");
  struct timespec rest = {(time_t)left, (long)(1e9 * (left - (double)(time_t)left))};
  nanosleep(&rest, NULL);
  return begin;
}

/* microseconds that the slowest process took since `begin` */
static double slowest(job *j, double begin) {
  double mine = MPI_Wtime() - begin;
  int now = j->steps;
  if (mine > longest[now]) longest[now] = mine;
  together(j);
  return 1e6 * longest[now];
}

/* True if an alternative is to be simulated: if SIMULATE_ONLY names it, or is not set. Of a name
   with a comma only what comes before it is compared. */
static int is_asked(const char *name) {
  const char *only = getenv("SIMULATE_ONLY");
  size_t length = strcspn(name, ",");
  for (const char *at = only; at && *at; at += strcspn(at, ","), at += strspn(at, ","))
    if (strcspn(at, ",") == length && !strncmp(at, name, length)) return 1;
  return !only;
}

static MPI_Info info_of(const char *const pairs[][2], int count) {
  MPI_Info info;
  MPI_Info_create(&info);
  for (int i = 0; i < count; i++)
    if (pairs[i][1]) MPI_Info_set(info, pairs[i][0], pairs[i][1]);
  return info;
}

/* `hand`: the time by hand, 0 for that itself; `model`: 0 where the library has no prediction */
static void print(const job *j, const char *name, double us, double hand, double model) {
  if (j->me != 0) return;
  printf("  %-24s %10.2f us", name, us);
  if (hand > 0) printf("  %5.2f of by hand", us / hand);
  if (model > 0) printf("  model %10.2f us (%.2f)", model, model / us);
  printf("\n"), fflush(stdout);
}

/* Bytes that the library has in all processes, and had at most since the last call, by the
   preloaded scripts/smpi/memory.c. */
void simulator_memory(size_t *now, size_t *most) __attribute__((weak));

/* Nodes of SimGrid's lists, by the same: those of messages are gone when all have arrived, but for
   some. */
size_t simulator_nodes(void) __attribute__((weak));

#include "simulated_sparse.h"
#include "simulated_bound.h"

/* ---- neighborhoods */

static void allocate(job *j, int degree) {
  size_t list = sizeof(int) * (size_t)degree;
  j->in = j->edges_out = degree;
  j->from = need(list), j->to = need(list), j->bytes_in = need(list), j->bytes_out = need(list);
  j->at_in = need(list), j->at_out = need(list), j->tags_in = need(list), j->tags_out = need(list);
  j->requests = need(sizeof(MPI_Request) * 2 * (size_t)degree);
}

static void give_buffers(job *j) {
  int in = 0, out = 0;
  for (int i = 0; i < j->in; i++) j->at_in[i] = in, in += j->bytes_in[i], j->at_out[i] = out, out += j->bytes_out[i];
  free(j->send), free(j->recv);
  j->send = need((size_t)out), j->recv = need((size_t)in);
}

static void exchange(job *j) {
  MPIX_Neighbor_alltoallv(j->send, j->bytes_out, j->at_out, MPI_BYTE, j->recv, j->bytes_in, j->at_in, MPI_BYTE, j->comm);
}

static void by_hand(job *j) {
  int r = 0;
  for (int i = 0; i < j->in; i++) MPI_Irecv(j->recv + j->at_in[i], j->bytes_in[i], MPI_BYTE, j->from[i], j->tags_in[i], j->comm, &j->requests[r++]);
  for (int i = 0; i < j->edges_out; i++) MPI_Isend(j->send + j->at_out[i], j->bytes_out[i], MPI_BYTE, j->to[i], j->tags_out[i], j->comm, &j->requests[r++]);
  MPI_Waitall(r, j->requests, MPI_STATUSES_IGNORE);
}

/* the bytes of an edge, by its ends and its number among those of the target */
static char byte_of(int from, int to, int tag, int round) { return (char)mix(((uint64_t)from << 40) + ((uint64_t)to << 16) + ((uint64_t)tag << 8) + (uint64_t)round); }

static double time_exchange(job *j, const char *name, void (*run)(job *)) {
  double sum = 0;
  size_t nodes = 0;
  for (int call = -1; call < CALLS; call++) {
    if (call == 0 && simulator_nodes) nodes = simulator_nodes();
    j->round++;
    for (int i = 0; i < j->edges_out; i++) memset(j->send + j->at_out[i], byte_of(j->me, j->to[i], j->tags_out[i], j->round), (size_t)j->bytes_out[i]);
    double begin = together(j);
    run(j);
    double us = slowest(j, begin);
    if (call >= 0) sum += us;
    for (int i = 0; i < j->in; i++) {
      char expected = byte_of(j->from[i], j->me, j->tags_in[i], j->round);
      for (int b = 0; b < j->bytes_in[i]; b++)
        if (j->recv[j->at_in[i] + b] != expected) fail(j, name, "a wrong byte");
    }
  }
  if (simulator_nodes && simulator_nodes() > nodes + (size_t)j->n * (size_t)j->in) fail(j, name, "SimGrid keeps messages that have arrived");
  return sum / CALLS;
}

/* Sets the neighborhood, and returns microseconds. `schedule` may end with a window of rounds:
   "edge_coloring, window 4". The model's prediction for what is chosen, 0 if it was not asked. */
static double set(job *j, const char *schedule, int whole, double *model, char chosen[32]) {
  char name[32];
  const char *window = strstr(schedule, ", window ");
  snprintf(name, sizeof name, "%.*s", (int)strcspn(schedule, ","), schedule);
  const char *const pairs[][2] = {{"mpix_schedule", name},
                                  {"mpix_weight_unit", "1"},
                                  {"mpix_loggp", j->parameters},
                                  {"mpix_whole_communicator", whole ? "true" : NULL},
                                  {"mpix_round_window", window ? window + strlen(", window ") : NULL}};
  MPI_Info info = info_of(pairs, 5);
  double begin = together(j);
  MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, j->in, j->from, j->bytes_in, j->edges_out, j->to, j->bytes_out, info, j->comm);
  double us = slowest(j, begin);
  MPI_Info_free(&info);
  char text[4096];
  int length;
  MPIX_Neighborhood_describe(MPIX_NEIGHBOR_ALLTOALL, j->comm, sizeof text, text, &length);
  const char *by = strstr(text, "by the model "), *of = strstr(text, "schedule ");
  *model = 0, strcpy(chosen, name);
  if (by) sscanf(by, "by the model %lf", model);
  if (of) sscanf(of, "schedule %31[a-z_]", chosen);
  if (strstr(text, " strict round")) strcat(chosen, ", strict");
  return us;
}

static void compare(job *j, const char *const schedules[], int count, int whole) {
  double hand = 0;
  print(j, "at least", least_time(j), 0, 0);
  if (is_asked("by_hand")) hand = time_exchange(j, "by hand", by_hand), print(j, "by hand", hand, 0, 0);
  for (int s = 0; s < count; s++) {
    if (!is_asked(schedules[s])) continue;
    double model;
    char name[64], chosen[32];
    /* with SIMULATE_TRIALS the set call times what the model finds close */
    const char *schedule = strcmp(schedules[s], "model") || !getenv("SIMULATE_TRIALS") ? schedules[s] : "auto";
    set(j, schedule, whole, &model, chosen);
    if (strcmp(schedules[s], "model")) snprintf(name, sizeof name, "%s", schedules[s]);
    else snprintf(name, sizeof name, "%s: %s", schedule, chosen);
    print(j, name, time_exchange(j, schedule, exchange), hand, model);
  }
}

/* 26 neighbors on a periodic grid */
static void grid(job *j) {
  int dims[3] = {0, 0, 0}, periods[3] = {1, 1, 1}, here[3], i = 0;
  MPI_Comm all;
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  MPI_Dims_create(j->n, 3, dims);
  MPI_Cart_create(all, 3, dims, periods, 0, &j->comm);
  MPI_Cart_coords(j->comm, j->me, 3, here);
  allocate(j, HALO);
  for (int place = 0; place < 27; place++) {
    int offset[3] = {place / 9 - 1, place / 3 % 3 - 1, place % 3 - 1}, to[3], from[3];
    if (place == 13) continue;
    for (int d = 0; d < 3; d++) to[d] = (here[d] + offset[d] + dims[d]) % dims[d], from[d] = (here[d] - offset[d] + dims[d]) % dims[d];
    MPI_Cart_rank(j->comm, to, &j->to[i]), MPI_Cart_rank(j->comm, from, &j->from[i]);
    j->tags_in[i] = j->tags_out[i] = place, i++;
  }
}

/* true if messages of `bytes` bytes are simulated: not if SIMULATE_LARGEST is less */
static int is_wanted(int bytes) {
  const char *largest = getenv("SIMULATE_LARGEST");
  return !largest || bytes <= atoi(largest);
}

static void halo(job *j) {
  /* all that a halo may have; the first one where processes share nodes */
  static const char *const schedules[] = {"node_aware", "direct", "combining", "edge_coloring", "model"};
  static const int sizes[] = {8, 256, 1024, 16384};
  const char *each = getenv("SIMULATE_PER_NODE");
  grid(j);
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes && is_wanted(sizes[s]); s++) {
    for (int i = 0; i < HALO; i++) j->bytes_in[i] = j->bytes_out[i] = sizes[s];
    give_buffers(j);
    if (j->me == 0) printf("27-point halo, blocks of %d bytes\n", sizes[s]);
    int first = !each || atoi(each) < 2;
    compare(j, schedules + first, 5 - first, 1);
  }
}

/* one more permutation without fixed points: the next process of each (Sattolo: one cycle) */
static void draw_cycle(const job *j, uint64_t *seed, int *order) {
  for (int p = 0; p < j->n; p++) order[p] = p;
  for (int p = j->n - 1; p > 0; p--) {
    *seed = mix(*seed);
    int q = (int)(*seed % (uint64_t)p), moved = order[p];
    order[p] = order[q], order[q] = moved;
  }
}

/* the i-th edge of each process is that of a permutation */
static void take_edges(job *j, int i, const int *order) {
  j->to[i] = order[j->me];
  for (int p = 0; p < j->n; p++)
    if (order[p] == j->me) j->from[i] = p;
}

/* each process sends to RANDOM others and receives from as many: permutations without fixed
   points */
static void random_graph(job *j) {
  int *order = need(sizeof(int) * (size_t)j->n);
  uint64_t seed = 1;
  MPI_Comm_dup(MPI_COMM_WORLD, &j->comm);
  allocate(j, RANDOM);
  for (int i = 0; i < RANDOM; i++) {
    draw_cycle(j, &seed, order);
    take_edges(j, i, order);
  }
  free(order);
  /* edges that repeat match in the order of both lists: by permutation */
  for (int i = 0; i < RANDOM; i++) j->tags_in[i] = j->tags_out[i] = i;
}

static void random_exchange(job *j) {
  static const char *const schedules[] = {"direct", "edge_coloring, window 1", "edge_coloring", "edge_coloring, window 4", "model"};
  /* messages of `least` to `most` units */
  static const struct {
    const char *name;
    int least, most;
  } cases[] = {{"32 KiB", 4, 4}, {"8 to 64 KiB", 1, 8}, {"256 KiB", 32, 32}};
  enum { UNIT = 8192 };
  random_graph(j);
  for (size_t c = 0; c < sizeof cases / sizeof *cases && is_wanted(UNIT * cases[c].most); c++) {
    uint64_t lengths = (uint64_t)(cases[c].most - cases[c].least + 1);
    for (int i = 0; i < RANDOM; i++) {
      j->bytes_out[i] = UNIT * (cases[c].least + (int)(mix(((uint64_t)j->me << 8) + (uint64_t)i) % lengths));
      j->bytes_in[i] = UNIT * (cases[c].least + (int)(mix(((uint64_t)j->from[i] << 8) + (uint64_t)i) % lengths));
    }
    give_buffers(j);
    if (j->me == 0) printf("random graph, %d messages of %s\n", RANDOM, cases[c].name);
    compare(j, schedules, sizeof schedules / sizeof *schedules, 0);
  }
}

/* 4 neighbors on a periodic grid. Four rows or more: SMPI mixes up long and short messages of one
   tag. Returns the number of rows */
enum { DIRECTIONS = 4, COLUMNS = 8 };
static int square(job *j) {
  int dims[2] = {j->n / COLUMNS, COLUMNS}, periods[2] = {1, 1};
  MPI_Comm all;
  if (j->n % COLUMNS || dims[0] < 4 || dims[0] % 2) fail(j, "a grid", "needs 32, 48, 64 or so processes");
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  MPI_Cart_create(all, 2, dims, periods, 0, &j->comm);
  allocate(j, DIRECTIONS);
  for (int d = 0; d < DIRECTIONS; d++) {
    int down, up;
    MPI_Cart_shift(j->comm, d / 2, 1, &down, &up);
    j->to[d] = j->from[d] = d % 2 ? up : down;
    /* what goes up comes from below */
    j->tags_out[d] = d, j->tags_in[d] = d ^ 1;
  }
  return dims[0];
}

/* SparseColl, Figures 6 and 9: two of the neighbors with heavy messages, or all (Figures 4, 5) */
static void patterns(job *j) {
  static const char *const schedules[] = {"direct", "dimension_order", "edge_coloring", "model"};
  static const char *const names[] = {"horizontal", "vertical", "circular", "uniform"};
  enum { HEAVY = 65536, LIGHT = HEAVY / 100 };
  int here[2], rows = square(j);
  MPI_Cart_coords(j->comm, j->me, 2, here);
  for (int pattern = 0; pattern < 4; pattern++) {
    for (int d = 0; d < DIRECTIONS; d++) {
      int square = d % 2 == (here[d / 2] % 2 == 0), heavy = pattern == 0 ? d < 2 : pattern == 1 ? d >= 2 : pattern == 3 || square;
      /* an edge of a square has the same weight both ways */
      j->bytes_out[d] = j->bytes_in[d] = heavy ? HEAVY : LIGHT;
    }
    give_buffers(j);
    if (j->me == 0) printf("%s, %d x %d processes, messages of %d and %d bytes\n", names[pattern], rows, COLUMNS, HEAVY, LIGHT);
    compare(j, schedules, 4, 0);
  }
}

#include "simulated_ghost.h"

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* milliseconds of a permutation */
static double time_permutation(job *j, const int *order, int bytes) {
  double model;
  char chosen[32];
  take_edges(j, 0, order);
  j->bytes_in[0] = j->bytes_out[0] = bytes;
  give_buffers(j);
  set(j, "direct", 0, &model, chosen);
  return time_exchange(j, "permutation", exchange) / 1e3;
}

/* IrregPC, Table 3, Figures 4 and 5: the exchange with process p xor 1, 2, 4, ..., and the spread
   of random permutations */
static void permutations(job *j) {
  static const int sizes[] = {1024, 262144};
  enum { DRAWN = 100 };
  int *order = need(sizeof(int) * (size_t)j->n);
  double times[DRAWN], sum;
  uint64_t seed = 1;
  if (j->n & (j->n - 1)) fail(j, "permutations", "the number of processes is no power of two");
  MPI_Comm_dup(MPI_COMM_WORLD, &j->comm);
  allocate(j, 1);
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    if (j->me == 0) printf("permutations, messages of %d bytes\n", sizes[s]);
    for (int distance = 1; distance < j->n; distance *= 2) {
      for (int p = 0; p < j->n; p++) order[p] = p ^ distance;
      double ms = time_permutation(j, order, sizes[s]);
      if (j->me == 0) printf("  xor %-20d %10.3f ms\n", distance, ms);
    }
    sum = 0;
    for (int i = 0; i < DRAWN; i++) {
      draw_cycle(j, &seed, order);
      times[i] = time_permutation(j, order, sizes[s]);
      sum += times[i];
    }
    double mean = sum / DRAWN;
    int near = 0;
    for (int i = 0; i < DRAWN; i++) near += times[i] > 0.9 * mean && times[i] < 1.1 * mean;
    qsort(times, DRAWN, sizeof *times, by_value);
    if (j->me == 0) printf("  %d at random, mean      %10.3f ms  %.3f to %.3f, %d within 10 %%\n", DRAWN, mean, times[0], times[DRAWN - 1], near);
  }
  free(order);
}

/* a set call: its time, and what the library has of memory afterwards, and had at most */
static void time_set(job *j, const char *name, const char *schedule) {
  double model;
  char chosen[32];
  size_t now, most;
  if (simulator_memory) simulator_memory(&now, &most);
  print(j, name, set(j, schedule, 0, &model, chosen), 0, 0);
  if (simulator_memory && j->me == 0) {
    simulator_memory(&now, &most);
    printf("    then the library has %5zu B a process, %5zu B at most\n", now / (size_t)j->n, most / (size_t)j->n), fflush(stdout);
  }
}

static void sets(job *j) {
  static const char *const schedules[] = {"direct", "distributed_coloring", "edge_coloring", "model"};
  double model;
  char chosen[32];
  size_t now, most;
  if (simulator_memory) simulator_memory(&now, &most);
  random_graph(j);
  for (int i = 0; i < RANDOM; i++) j->bytes_in[i] = j->bytes_out[i] = 32768;
  /* measures the machine if a schedule needs it that process 0 plans, on another communicator than
     that of the first call */
  MPI_Comm comm = j->comm;
  MPI_Comm_dup(comm, &j->comm);
  set(j, is_asked("model") || is_asked("edge_coloring") ? "model" : "direct", 0, &model, chosen);
  MPI_Comm_free(&j->comm);
  j->comm = comm;
  if (j->me == 0) printf("set calls, random graph, %d edges each way a process\n", RANDOM);
  time_set(j, "first, direct", "direct");
  for (int s = 0; s < 4; s++)
    if (is_asked(schedules[s])) time_set(j, schedules[s], schedules[s]);
}

/* the parameters that the library measures here */
static void machine(job *j) {
  MPIX_Loggp p;
  static const char *const pairs[][2] = {{"mpix_loggp_seconds", "0.01"}};
  MPI_Info info = info_of(pairs, 1);
  double begin = together(j);
  MPIX_Loggp_measure(info, MPI_COMM_WORLD, &p);
  MPI_Info_free(&info);
  if (j->me == 0) printf("%.2f ms: L %.3f o %.3f g %.3f G %.7f eager %lld\n", 1e3 * (MPI_Wtime() - begin), p.latency, (p.send_overhead + p.recv_overhead) / 2, p.gap, p.gap_per_byte, (long long)p.eager);
}

int main(int argc, char **argv) {
  job j = {.parameters = argc > 2 ? argv[2] : NULL};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &j.me);
  MPI_Comm_size(MPI_COMM_WORLD, &j.n);
  const char *what = argc > 1 ? argv[1] : "";
  int known = 1;
  const char *messages = getenv("SIMULATE_MESSAGES");
  j.messages = messages ? atoi(messages) : 6;
  const char *bytes = getenv("SIMULATE_BYTES");
  j.bytes = bytes ? atoi(bytes) : 8;
  if (j.bytes < 8 || j.bytes > 1 << 20 || j.bytes % 8) fail(&j, "SIMULATE_BYTES", "8 to 1048576, a multiple of 8");
  const char *nodes = getenv("SIMULATE_NODES"), *per_node = getenv("SIMULATE_PER_NODE");
  j.nodes = nodes ? atoi(nodes) : 0, j.per_node = per_node ? atoi(per_node) : 1;
  if (j.nodes < 0 || (j.nodes && (j.messages > j.nodes * j.per_node || j.nodes * j.per_node >= j.n)))
    fail(&j, "SIMULATE_NODES", "as many as have a process for each message, and fewer than all");
  if (j.messages < 1 || j.messages > MOST || j.messages >= j.n) fail(&j, "SIMULATE_MESSAGES", "1 to 64, and fewer than processes");
  if (j.n <= RANDOM) {
    if (j.me == 0) fprintf(stderr, "simulate: at least %d processes\n", RANDOM + 1);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (!strcmp(what, "sparse")) sparse(&j);
  else if (!strcmp(what, "bfs")) searches(&j);
  else if (!strcmp(what, "nbody")) near(&j);
  else if (!strcmp(what, "halo")) halo(&j);
  else if (!strcmp(what, "random")) random_exchange(&j);
  else if (!strcmp(what, "patterns")) patterns(&j);
  else if (!strcmp(what, "ghost")) ghost(&j);
  else if (!strcmp(what, "permutations")) permutations(&j);
  else if (!strcmp(what, "set")) sets(&j);
  else if (!strcmp(what, "machine")) machine(&j);
  else known = 0;
  if (!known && j.me == 0) fprintf(stderr, "Usage: simulate sparse|bfs|nbody|halo|random|patterns|ghost|permutations|set|machine [PARAMETERS]\n");
  MPI_Finalize();
  return !known;
}
