/* Dynamic sparse data exchange: our protocols beside each other, beside what MPI offers, and beside
 * hand-written versions of what libraries do.
 *
 * The microbenchmark of DSDE, section 4.3: in each round every process draws k = 6 different other
 * processes, and for each of them a length of 1 to 1024 bytes; 1000 rounds, which are the same for
 * all alternatives. Where there are fewer others, all of them are targets. The draws come
 * from splitmix64, so that every process can tell what every other one sends.
 *
 * Each alternative has a communicator of its own and goes through the rounds again and again. Ours
 * are chosen by the environment, which is read at the first exchange on a communicator: timed calls
 * have no info. Ours end with a result, ordered by source, which is freed; the others receive into
 * memory that is there. What each delivers is checked before it is timed. Method: see measure.h.
 *
 * --soak N runs N rounds of each protocol (--protocol: of one) and checks every byte. */
#define _GNU_SOURCE
#include "../c_tests/c/allocations.h"
#include "measure.h"
#include <mpix_neighbor.h>
#include <sched.h>

/* ---- rounds */

static int k = 6, longest = 1024, drawn_rounds = 1000;

/* the messages of a process in a round */
typedef struct {
  int *targets, *bytes;
} round_of;

/* draws the round of a process; `order` has room for n */
static void draw(uint64_t number, int process, round_of r, int *order) {
  uint64_t seed = mix(mix(number) + (uint64_t)process);
  for (int p = 0; p < n - 1; p++) order[p] = p < process ? p : p + 1;
  for (int i = 0; i < k; i++) {
    int j = i + (int)(mix(seed + 2 * (uint64_t)i) % (uint64_t)(n - 1 - i)), picked = order[j];
    order[j] = order[i], order[i] = picked;
    r.targets[i] = picked;
    r.bytes[i] = 1 + (int)(mix(seed + 2 * (uint64_t)i + 1) % (uint64_t)longest);
  }
}

/* the bytes of message `i`, which differ in each round: whole words, of which the last one may be
   too long */
static void write_message(uint64_t number, int process, int i, int bytes, char *at) {
  uint64_t key = mix(number * 1000003 + (uint64_t)process * 1009 + (uint64_t)i);
  for (int b = 0; b < bytes; b += 8) {
    uint64_t word = mix(key + (uint64_t)b);
    memcpy(at + b, &word, 8);
  }
}

/* ---- the problem */

typedef struct {
  int source, bytes;
  const char *at;
} message;

/* the problem of an alternative; all but communicator and counters are the same for all */
struct problem {
  MPI_Comm comm;
  unsigned number; /* of the next round */
  round_of *table, now;
  char *send, *recv;
  int stride; /* bytes from one message to the next, in both buffers */
  int *displs;
  MPI_Request *requests;
  int came; /* messages of the last exchange */
  message *messages;
  int *counts_out, *counts_in, *displs_out, *displs_in; /* one for each process */
  MPIX_Sparse_result result;
  int keep; /* leave the result to the caller */
};

/* goes to the next round */
static void next(problem *p) {
  p->now = p->table[p->number++ % (unsigned)drawn_rounds];
  p->came = 0;
}

static char *room(problem *p) { return p->recv + (size_t)p->came * (size_t)p->stride; }

static void arrived(problem *p, int source, int bytes) {
  p->messages[p->came] = (message){source, bytes, room(p)};
  p->came++;
}

/* ---- ours */

static void ours(problem *p) {
  next(p);
  MPIX_Sparse_exchange(k, p->now.targets, p->send, p->now.bytes, p->displs, MPI_BYTE, MPI_BYTE, MPI_INFO_NULL, p->comm, &p->result);
  if (!p->keep) MPIX_Sparse_free(&p->result);
}

/* ---- what MPI offers */

static void alltoallv(problem *p) {
  next(p);
  memset(p->counts_out, 0, sizeof(int) * (size_t)n);
  for (int i = 0; i < k; i++) p->counts_out[p->now.targets[i]] = p->now.bytes[i], p->displs_out[p->now.targets[i]] = p->displs[i];
  MPI_Alltoall(p->counts_out, 1, MPI_INT, p->counts_in, 1, MPI_INT, p->comm);
  for (int s = 0; s < n; s++) {
    p->displs_in[s] = (int)(room(p) - p->recv);
    if (p->counts_in[s]) arrived(p, s, p->counts_in[s]);
  }
  MPI_Alltoallv(p->send, p->counts_out, p->displs_out, MPI_BYTE, p->recv, p->counts_in, p->displs_in, MPI_BYTE, p->comm);
}

/* ---- hand-written */

enum { TAG = 8 };

static void send_all(problem *p, int tag, int (*how)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *)) {
  for (int i = 0; i < k; i++) how(p->send + p->displs[i], p->now.bytes[i], MPI_BYTE, p->now.targets[i], tag, p->comm, &p->requests[i]);
}

/* receives a message of this tag, if one is there */
static int receive_one(problem *p, int tag) {
  int found, bytes;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, tag, p->comm, &found, &status);
  if (!found) return 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  MPI_Recv(room(p), bytes, MPI_BYTE, status.MPI_SOURCE, tag, p->comm, MPI_STATUS_IGNORE);
  arrived(p, status.MPI_SOURCE, bytes);
  return 1;
}

/* DSDE, Algorithm 2 */
static void nonblocking_consensus(problem *p, int tag, int yield) {
  MPI_Request barrier = MPI_REQUEST_NULL;
  int in_barrier = 0, done = 0;
  send_all(p, tag, MPI_Issend);
  while (!done) {
    int found = receive_one(p, tag);
    if (in_barrier) {
      MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
    } else {
      MPI_Testall(k, p->requests, &in_barrier, MPI_STATUSES_IGNORE);
      if (in_barrier) MPI_Ibarrier(p->comm, &barrier);
    }
    if (yield && !found && !done) sched_yield();
  }
}

/* tags alternate, so that messages of the next round are left for it */
static void nbx_tags(problem *p) {
  next(p);
  nonblocking_consensus(p, TAG + (int)(p->number & 1), 0);
}

/* the same, giving the core away where nothing has come */
static void nbx_yields(problem *p) {
  next(p);
  nonblocking_consensus(p, TAG + (int)(p->number & 1), 1);
}

/* a barrier keeps rounds apart, as in KaMPIng's alltoallv_sparse */
static void nbx_barrier(problem *p) {
  next(p);
  nonblocking_consensus(p, TAG, 0);
  MPI_Barrier(p->comm);
}

/* PETSc, PetscCommBuildTwoSided by nonblocking barrier: it brings items of one size, here the
   lengths; then come the messages */
static void petsc_ibarrier(problem *p) {
  MPI_Request barrier = MPI_REQUEST_NULL;
  int in_barrier = 0, done = 0, tag, *lengths = p->counts_in;
  next(p);
  tag = TAG + (int)(p->number & 1);
  for (int i = 0; i < k; i++) MPI_Issend(&p->now.bytes[i], 1, MPI_INT, p->now.targets[i], tag, p->comm, &p->requests[i]);
  while (!done) {
    int found;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, tag, p->comm, &found, &status);
    if (found) {
      MPI_Recv(&lengths[p->came], 1, MPI_INT, status.MPI_SOURCE, tag, p->comm, MPI_STATUS_IGNORE);
      arrived(p, status.MPI_SOURCE, lengths[p->came]);
    }
    if (in_barrier) {
      MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
    } else {
      MPI_Testall(k, p->requests, &in_barrier, MPI_STATUSES_IGNORE);
      if (in_barrier) MPI_Ibarrier(p->comm, &barrier);
    }
  }
  send_all(p, tag + 2, MPI_Isend);
  for (int m = 0; m < p->came; m++)
    MPI_Irecv((char *)p->messages[m].at, p->messages[m].bytes, MPI_BYTE, p->messages[m].source, tag + 2, p->comm, &p->requests[k + m]);
  MPI_Waitall(k + p->came, p->requests, MPI_STATUSES_IGNORE);
}

/* the way of PETSc before there were nonblocking barriers, and DSDE's Algorithm 1: a sum tells how
   many come. No process gets its sum of the next round before all have received what is for them in
   this one. */
static void reduce_scatter(problem *p) {
  int coming;
  next(p);
  memset(p->counts_out, 0, sizeof(int) * (size_t)n);
  for (int i = 0; i < k; i++) p->counts_out[p->now.targets[i]]++;
  MPI_Reduce_scatter_block(p->counts_out, &coming, 1, MPI_INT, MPI_SUM, p->comm);
  send_all(p, TAG, MPI_Isend);
  while (p->came < coming) {
    MPI_Status status;
    int bytes;
    MPI_Probe(MPI_ANY_SOURCE, TAG, p->comm, &status);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    MPI_Recv(room(p), bytes, MPI_BYTE, status.MPI_SOURCE, TAG, p->comm, MPI_STATUS_IGNORE);
    arrived(p, status.MPI_SOURCE, bytes);
  }
  MPI_Waitall(k, p->requests, MPI_STATUSES_IGNORE);
}

/* ---- all alternatives */

typedef struct {
  const char *name; /* of ours: the value of mpix_sparse */
  void (*run)(problem *);
  const char *what;
} contestant;

static const contestant contestants[] = {
    {"auto", ours, ""},
    {"nbx", ours, ""},
    {"nbx_probe", ours, ""},
    {"nbx_node", ours, ""},
    {"pex", ours, ""},
    {"pcx", ours, ""},
    {"pcx_library", ours, ""},
    {"rsx", ours, ""},
    {"crystal", ours, ""},
    {"inbox", ours, ""},
    {"alltoallv", alltoallv, "MPI_Alltoall of lengths, MPI_Alltoallv"},
    {"hand_nbx", nbx_tags, "hand-written NBX, alternating tags"},
    {"hand_nbx_yield", nbx_yields, "the same, sched_yield where nothing has come"},
    {"hand_nbx_barrier", nbx_barrier, "hand-written NBX, barrier between rounds"},
    {"hand_petsc_ibarrier", petsc_ibarrier, "hand-written as PETSc: NBX of lengths, then messages"},
    {"hand_reduce_scatter", reduce_scatter, "hand-written: MPI_Reduce_scatter_block, Isend, Probe"},
};
enum { AUTO = 0, ALL = sizeof contestants / sizeof *contestants };

static void prepare(problem *p) {
  round_of *table = need(sizeof *table * (size_t)drawn_rounds);
  int *numbers = need(sizeof(int) * 2 * (size_t)k * (size_t)drawn_rounds), *order = need(sizeof(int) * (size_t)n);
  for (int r = 0; r < drawn_rounds; r++) {
    table[r] = (round_of){numbers + 2 * k * r, numbers + 2 * k * r + k};
    draw((uint64_t)r, me, table[r], order);
  }
  free(order);
  p->table = table;
  p->stride = (longest + 7) / 8 * 8;
  p->send = need((size_t)k * (size_t)p->stride), p->recv = need((size_t)n * (size_t)p->stride);
  p->displs = need(sizeof(int) * (size_t)k);
  for (int i = 0; i < k; i++) p->displs[i] = i * p->stride;
  p->requests = need(sizeof(MPI_Request) * (size_t)(k + n));
  p->messages = need(sizeof(message) * (size_t)n);
  p->counts_out = need(sizeof(int) * (size_t)n), p->counts_in = need(sizeof(int) * (size_t)n);
  p->displs_out = need(sizeof(int) * (size_t)n), p->displs_in = need(sizeof(int) * (size_t)n);
}

static void discard(problem *p) {
  free(p->table[0].targets), free(p->table), free(p->send), free(p->recv), free(p->displs), free(p->requests), free(p->messages);
  free(p->counts_out), free(p->counts_in), free(p->displs_out), free(p->displs_in);
}

/* The first exchange on a communicator of ours reads the environment. Returns 0, and leaves no
   communicator, where there is no such protocol. */
static int open_communicator(problem *p, const contestant *c) {
  MPI_Comm_dup(MPI_COMM_WORLD, &p->comm);
  if (c->run != ours) return 1;
  setenv("MPIX_SPARSE", c->name, 1);
  MPI_Comm_set_errhandler(p->comm, MPI_ERRORS_RETURN);
  int there = MPIX_Sparse_sources(0, NULL, MPI_INFO_NULL, p->comm, &p->result) == MPI_SUCCESS;
  MPI_Comm_set_errhandler(p->comm, MPI_ERRORS_ARE_FATAL);
  unsetenv("MPIX_SPARSE");
  if (there) return MPIX_Sparse_free(&p->result), 1;
  if (me == 0) printf("# %s: not in this library\n", c->name);
  MPI_Comm_free(&p->comm);
  return 0;
}

/* ---- checks */

static void wrong(const alternative *a, uint64_t number, const char *what, int source) {
  fprintf(stderr, "dsde: %s: round %llu: process %d: %s process %d\n", a->name, (unsigned long long)number, me, what, source);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static int by_source(const void *a, const void *b) { return ((const message *)a)->source - ((const message *)b)->source; }

/* One exchange, of whose messages every byte is compared. Round `number` need not be in the
   table. */
static void check(const alternative *a, uint64_t number) {
  static round_of other, mine;
  static int *order;
  static char *expected;
  problem *p = a->on;
  if (!order) {
    other = (round_of){need(sizeof(int) * (size_t)k), need(sizeof(int) * (size_t)k)};
    mine = (round_of){need(sizeof(int) * (size_t)k), need(sizeof(int) * (size_t)k)};
    order = need(sizeof(int) * (size_t)n), expected = need((size_t)p->stride);
  }
  draw(number, me, mine, order);
  for (int i = 0; i < k; i++) write_message(number, me, i, mine.bytes[i], p->send + p->displs[i]);
  round_of *table = p->table, one = mine;
  unsigned before = p->number;
  int all = drawn_rounds;
  /* a table of one round */
  p->table = &one, drawn_rounds = 1, p->keep = 1;
  a->run(p);
  p->table = table, drawn_rounds = all, p->keep = 0, p->number = before + 1;
  if (p->result) {
    MPI_Count bytes;
    MPIX_Sparse_get_count(p->result, &p->came, &bytes);
    if (p->came > n) wrong(a, number, "too many messages at", me);
    for (int m = 0; m < p->came; m++) {
      void *at;
      MPIX_Sparse_get_message(p->result, m, &p->messages[m].source, &bytes, &at);
      p->messages[m].bytes = (int)bytes, p->messages[m].at = at;
    }
  } else {
    qsort(p->messages, (size_t)p->came, sizeof *p->messages, by_source);
  }
  int at = 0;
  for (int s = 0; s < n; s++) {
    if (s == me) continue;
    draw(number, s, other, order);
    for (int i = 0; i < k; i++) {
      if (other.targets[i] != me) continue;
      const message *m = &p->messages[at++];
      if (at > p->came || m->source != s) wrong(a, number, "no message from", s);
      if (m->bytes != other.bytes[i]) wrong(a, number, "wrong length from", s);
      write_message(number, s, i, m->bytes, expected);
      if (memcmp(m->at, expected, (size_t)m->bytes)) wrong(a, number, "wrong bytes from", s);
    }
  }
  if (at != p->came) wrong(a, number, "too many messages at", me);
  MPIX_Sparse_free(&p->result);
}

static void soak(const alternative *list, int alternatives, long long rounds_to_do) {
  for (int a = 0; a < alternatives; a++) {
    double start = MPI_Wtime();
    for (long long r = 0; r < rounds_to_do; r++) {
      check(&list[a], (uint64_t)r);
      if (me == 0 && (r + 1) * 10 / rounds_to_do != r * 10 / rounds_to_do)
        printf("%s: %3lld %%, %lld rounds, %.1f s\n", list[a].name, (r + 1) * 100 / rounds_to_do, r + 1, MPI_Wtime() - start), fflush(stdout);
    }
  }
}

/* ---- figures */

/* allocations of an exchange in the steady state, over `counted` exchanges: of our library, and of
   all, on the process that makes the most */
static void count_allocations(const alternative *a, int counted, double figures[4]) {
  for (int i = 0; i < counted; i++) a->run(a->on);
  by_us = by_all = (allocations){0, 0};
  counting = 1;
  for (int i = 0; i < counted; i++) a->run(a->on);
  counting = 0;
  double mine[4] = {(double)by_us.calls, (double)by_us.bytes, (double)by_all.calls, (double)by_all.bytes};
  MPI_Allreduce(mine, figures, 4, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  for (int f = 0; f < 4; f++) figures[f] /= counted;
}

static void print_summary(const char *label, const alternative *list, int alternatives, const double *times) {
  int best = -1, best_peer = -1, ours_auto = -1;
  for (int a = 0; a < alternatives; a++) {
    int *of = list[a].run == ours ? &best : &best_peer;
    if (*of < 0 || times[a] < times[*of]) *of = a;
    if (list[a].run == ours && !strcmp(list[a].name, "auto")) ours_auto = a;
  }
  if (best < 0 || best_peer < 0 || ours_auto < 0) return;
  printf("%s: best peer / auto %.2f (%s); auto / best %.2f (%s)\n", label, times[best_peer] / times[ours_auto], list[best_peer].name,
         times[ours_auto] / times[best], list[best].name);
}

/* `slow`: where a call may take tens of milliseconds, as some MPIs' do where processes share cores,
   there are few of them */
static void measure_protocols(const alternative *list, const char *const *what, int alternatives, int slow) {
  double counts[ALL][4];
  if (slow) least_calls = 6, least_rounds = 3;
  for (int a = 0; a < alternatives; a++) count_allocations(&list[a], slow ? 8 : 50, counts[a]);
  samples near, far;
  sample(list, alternatives, &near, &far);
  if (me == 0) {
    const samples *both[] = {&near, &far};
    const char *labels[] = {line ? "near" : "all", "far"};
    double times[2][ALL], least[2][ALL], best[2];
    printf("%-20s", "#");
    for (int s = 0; s < 2; s++) {
      char label[32];
      if (!both[s]->count) continue;
      snprintf(label, sizeof label, "%s (%d) us", labels[s], both[s]->count);
      printf("  %13s %7s %9s", label, "/ best", "least us");
      best[s] = INFINITY;
      for (int a = 0; a < alternatives; a++) {
        times[s][a] = median(both[s]->times[a], both[s]->count);
        least[s][a] = both[s]->times[a][0]; /* sorted now */
        if (list[a].run == ours && times[s][a] < best[s]) best[s] = times[s][a];
      }
      /* peers alone */
      for (int a = 0; a < alternatives && isinf(best[s]); a++) best[s] = times[s][0];
    }
    printf("  our allocations, bytes  all, bytes\n");
    for (int a = 0; a < alternatives; a++) {
      printf("%-20s", list[a].name);
      for (int s = 0; s < 2; s++)
        if (both[s]->count) printf("  %13.2f %7.2f %9.2f", times[s][a] * 1e6, times[s][a] / best[s], least[s][a] * 1e6);
      printf("  %15.1f %6.0f  %3.1f %5.0f  %s\n", counts[a][0], counts[a][1], counts[a][2], counts[a][3], what[a]);
    }
    for (int s = 0; s < 2; s++)
      if (both[s]->count) print_summary(labels[s], list, alternatives, times[s]);
    fflush(stdout);
  }
  release_samples(&near), release_samples(&far);
}

/* prints the library's reason for the protocol of the last exchange */
static void print_choice(const problem *p) {
  char text[1000];
  int length;
  MPIX_Sparse_describe(p->comm, sizeof text, text, &length);
  char *at = strstr(text, "protocol ");
  if (me == 0 && at) printf("# auto: %.*s\n", (int)strcspn(at, "\n"), at);
}

int main(int argc, char **argv) {
  static const char usage[] = "dsde [--k N] [--bytes MOST] [--rounds N] [--batches N] [--seconds S] [--protocol NAME] [--soak ROUNDS]";
  take_number(&argc, argv, "--k", &k);
  take_number(&argc, argv, "--bytes", &longest);
  take_number(&argc, argv, "--rounds", &drawn_rounds);
  rounds = 100; /* batches: see measure.h */
  take_number(&argc, argv, "--batches", &rounds);
  const char *protocol = take(&argc, argv, "--protocol"), *soaking = take(&argc, argv, "--soak");
  begin(argc, argv, usage);
  if (k < 1 || longest < 1 || drawn_rounds < 1 || rounds < 1 || (soaking && atoll(soaking) < 1)) {
    if (me == 0) fprintf(stderr, "usage: %s\n", usage), MPI_Abort(MPI_COMM_WORLD, 2);
  }
  print_header("sparse exchange: microseconds a round, and ratio to the best of ours");
  if (n < 2) return end(), 0;
  int asked = k;
  if (k > n - 1) k = n - 1;
  if (me == 0) {
    printf("# k = %d random targets%s, 1 B to %s each, %d rounds\n", k, k < asked ? " (all other processes)" : "", size_name(longest), drawn_rounds);
  }
  problem base = {.comm = MPI_COMM_NULL}, on[ALL];
  alternative list[ALL];
  const char *what[ALL];
  int alternatives = 0;
  prepare(&base);
  double slowest_check = 0;
  for (int c = 0; c < ALL; c++) {
    if (protocol ? strcmp(contestants[c].name, protocol) : soaking && contestants[c].run != ours) continue;
    /* it differs from the one before only where processes share cores */
    if (!protocol && !crowded && contestants[c].run == nbx_yields) continue;
    int a = alternatives;
    on[a] = base;
    if (!open_communicator(&on[a], &contestants[c])) continue;
    alternatives++;
    list[a] = (alternative){contestants[c].name, contestants[c].run, &on[a]};
    what[a] = contestants[c].what;
    /* the first exchanges make windows and connections */
    double fastest = INFINITY;
    for (uint64_t r = 0; r < 8; r++) {
      double start = MPI_Wtime();
      check(&list[a], r);
      fastest = fmin(fastest, MPI_Wtime() - start);
    }
    slowest_check = fmax(slowest_check, fastest);
  }
  if (!alternatives && me == 0) fprintf(stderr, "dsde: there is no protocol %s\n", protocol), MPI_Abort(MPI_COMM_WORLD, 2);
  if (soaking) {
    soak(list, alternatives, atoll(soaking));
  } else {
    MPI_Bcast(&slowest_check, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    measure_protocols(list, what, alternatives, slowest_check > 5e-3);
    for (int a = 0; a < alternatives; a++)
      if (list[a].run == ours && !strcmp(list[a].name, "auto")) print_choice(&on[a]);
  }
  for (int a = 0; a < alternatives; a++) MPI_Comm_free(&on[a].comm);
  discard(&base);
  end();
  return 0;
}
