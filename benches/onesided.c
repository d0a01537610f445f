/* Sparse windows: many small operations on elements of other processes, beside MPI's one-sided
 * operations and messages by hand.
 *
 * Cases:
 *
 *   accumulate  random elements of all processes are changed by exclusive or, one call for each,
 *               as in GUPS. Alternatives: MPIX_Sparse_window_accumulate and _fence; MPI_Accumulate
 *               with a fence at the end and after each 100000 calls; pairs of element and value,
 *               sorted by target, by MPI_Alltoallv.
 *   puts        8 bytes are put into each of many elements of one neighbor in an epoch, one call
 *               for each. Alternatives: MPIX_Sparse_window_put and _fence; MPI_Put and a fence; one
 *               message of the same bytes.
 *   array       the same by one call of MPIX_Sparse_window_put with arrays of indices and values,
 *               beside one message.
 *   growth      memory of the process before and after many accumulates in one epoch, of the
 *               library's window alone.
 *
 * MPI's windows are of the program's own memory (create) and of memory that the MPI allocates
 * (allocate), which processes of a node then share. An MPI that cannot make one is left out, and
 * the reason printed.
 *
 * Method: alternatives take turns in rounds, each with one run; the slowest process counts; medians
 * over the rounds, of two processes over those in which their cores were near (measure.h). Values
 * are changed before each run, as a program's are: those that stay as they are lie in the target's
 * cache after the first message. --updates and --puts: operations of each process in a run. */
#define _GNU_SOURCE
#include "measure.h"
#include <mpix_neighbor.h>

enum { ELEMENTS = 1 << 18, CHUNK = 100000 };

struct problem {
  uint64_t *table; /* the process's elements */
  MPIX_Sparse_window window;
  MPI_Win win;
  int operations;
  uint64_t *values;                        /* puts: one for each element */
  MPI_Aint *indices;                       /* array: of each element */
  int *counts, *displs, *incoming, *inner; /* by hand: of each process */
  uint64_t *out, *in;                      /* by hand: pairs of element and value */
};

static int updates = 1000000, most_puts = 10000, growth = 10000000;

/* ------------------------------------------------------------------------------- the operations */

/* update `i` of process `rank`: an element of all processes' together, and what it is changed by */
static uint64_t update(int rank, int i, uint64_t *value) {
  *value = mix((uint64_t)rank << 40 | (uint64_t)i);
  return mix(*value) % ((uint64_t)n * ELEMENTS);
}

static void window_accumulates(problem *p) {
  for (int i = 0; i < p->operations; i++) {
    uint64_t value, at = update(me, i, &value);
    MPI_Aint index = (MPI_Aint)(at % ELEMENTS);
    MPIX_Sparse_window_accumulate(&value, 1, (int)(at / ELEMENTS), &index, MPI_BXOR, p->window);
  }
  MPIX_Sparse_window_fence(p->window);
}

/* values stay where they are until the fence */
static void fenced_accumulates(problem *p) {
  MPI_Win_fence(MPI_MODE_NOPRECEDE, p->win);
  for (int i = 0; i < p->operations; i++) {
    uint64_t *value = &p->out[i % CHUNK], at = update(me, i, value);
    MPI_Accumulate(value, 1, MPI_UINT64_T, (int)(at / ELEMENTS), (MPI_Aint)(at % ELEMENTS), 1, MPI_UINT64_T, MPI_BXOR, p->win);
    /* MPIs keep operations until the fence: memory would grow */
    if ((i + 1) % CHUNK == 0 && i + 1 < p->operations) MPI_Win_fence(0, p->win);
  }
  MPI_Win_fence(MPI_MODE_NOSUCCEED, p->win);
}

/* in chunks, so that what is on its way has bounded memory */
static void sent_accumulates(problem *p) {
  for (int first = 0; first < p->operations; first += CHUNK) {
    int last = first + CHUNK < p->operations ? first + CHUNK : p->operations, sum = 0;
    memset(p->counts, 0, sizeof *p->counts * (size_t)n);
    for (int i = first; i < last; i++) {
      uint64_t value;
      p->counts[update(me, i, &value) / ELEMENTS] += 2;
    }
    for (int r = 0, at = 0; r < n; at += p->counts[r++]) p->displs[r] = at;
    for (int i = first; i < last; i++) {
      uint64_t value, at = update(me, i, &value);
      int *next = &p->displs[at / ELEMENTS];
      p->out[(*next)++] = at % ELEMENTS;
      p->out[(*next)++] = value;
    }
    for (int r = 0; r < n; r++) p->displs[r] -= p->counts[r];
    MPI_Alltoall(p->counts, 1, MPI_INT, p->incoming, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < n; sum += p->incoming[r++]) p->inner[r] = sum;
    p->in = realloc(p->in, sizeof *p->in * (size_t)(sum ? sum : 1));
    if (!p->in) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Alltoallv(p->out, p->counts, p->displs, MPI_UINT64_T, p->in, p->incoming, p->inner, MPI_UINT64_T, MPI_COMM_WORLD);
    for (int i = 0; i < sum; i += 2) p->table[p->in[i]] ^= p->in[i + 1];
  }
}

static int right(void) { return (me + 1) % n; }
static int left(void) { return (me + n - 1) % n; }

static void window_puts(problem *p) {
  for (MPI_Aint i = 0; i < p->operations; i++) MPIX_Sparse_window_put(&p->values[i], 1, right(), &i, p->window);
  MPIX_Sparse_window_fence(p->window);
}

static void window_array(problem *p) {
  MPIX_Sparse_window_put(p->values, p->operations, right(), p->indices, p->window);
  MPIX_Sparse_window_fence(p->window);
}

static void fenced_puts(problem *p) {
  MPI_Win_fence(MPI_MODE_NOPRECEDE, p->win);
  for (int i = 0; i < p->operations; i++) MPI_Put(&p->values[i], 1, MPI_UINT64_T, right(), i, 1, MPI_UINT64_T, p->win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, p->win);
}

static void sent_puts(problem *p) {
  MPI_Request requests[2];
  MPI_Irecv(p->table, p->operations, MPI_UINT64_T, left(), 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(p->values, p->operations, MPI_UINT64_T, right(), 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* --------------------------------------------------------------------------------- the problems */

enum { WINDOW, CREATE, ALLOCATE, BY_HAND, FORMS };
static const char *const names[FORMS] = {"window", "MPI create", "MPI allocate", "by hand"};

/* False, on all processes, if the MPI makes no such window, and process 0 says so. */
static int make_win(problem *p, int form) {
  const MPI_Aint bytes = ELEMENTS * sizeof(uint64_t);
  void *base = NULL;
  /* for this call: windows have an error handler of their own */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (form == CREATE) base = need((size_t)bytes);
  int code = form == CREATE ? MPI_Win_create(base, bytes, sizeof(uint64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &p->win)
                            : MPI_Win_allocate(bytes, sizeof(uint64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &p->win);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  int failed = code != MPI_SUCCESS;
  if (failed && me == 0) {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, text, &length);
    printf("# no window of kind %s: %s\n", names[form], text);
  }
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
  p->table = base;
  return !failed;
}

/* False if the alternative is left out. */
static int make(problem *p, int form, int operations) {
  *p = (problem){.operations = operations};
  p->values = need(sizeof *p->values * (size_t)operations);
  p->indices = need(sizeof *p->indices * (size_t)operations);
  for (int i = 0; i < operations; i++) p->indices[i] = i;
  p->out = need(sizeof *p->out * 2 * CHUNK);
  int **lists[] = {&p->counts, &p->displs, &p->incoming, &p->inner};
  for (int l = 0; l < 4; l++) *lists[l] = need(sizeof(int) * (size_t)n);
  if (form == CREATE || form == ALLOCATE) return make_win(p, form);
  p->table = need(sizeof *p->table * ELEMENTS);
  if (form == WINDOW) MPIX_Sparse_window_create(p->table, ELEMENTS, MPI_UINT64_T, MPI_INFO_NULL, MPI_COMM_WORLD, &p->window);
  return 1;
}

static void discard(problem *p, int form, int made) {
  if (form == WINDOW) MPIX_Sparse_window_free(&p->window);
  if (made && (form == CREATE || form == ALLOCATE)) MPI_Win_free(&p->win);
  if (form != ALLOCATE) free(p->table);
  void *all[] = {p->values, p->indices, p->counts, p->displs, p->incoming, p->inner, p->out, p->in};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

static void wrong(const alternative *a, uint64_t at) {
  fprintf(stderr, "%s: wrong element %llu of process %d\n", a->name, (unsigned long long)at, me);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Ends the program unless a run does what a serial run does. */
static void check_accumulates(const alternative *a) {
  problem *p = a->on;
  uint64_t *expected = need(sizeof *expected * ELEMENTS);
  memset(p->table, 0, sizeof *p->table * ELEMENTS);
  for (int r = 0; r < n; r++)
    for (int i = 0; i < p->operations; i++) {
      uint64_t value, at = update(r, i, &value);
      if (at / ELEMENTS == (uint64_t)me) expected[at % ELEMENTS] ^= value;
    }
  MPI_Barrier(MPI_COMM_WORLD);
  a->run(p);
  for (uint64_t at = 0; at < ELEMENTS; at++)
    if (p->table[at] != expected[at]) wrong(a, at);
  free(expected);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void check_puts(const alternative *a) {
  problem *p = a->on;
  memset(p->table, 0, sizeof *p->table * ELEMENTS);
  for (int i = 0; i < p->operations; i++) p->values[i] = mix((uint64_t)me << 40 | (uint64_t)i);
  MPI_Barrier(MPI_COMM_WORLD);
  a->run(p);
  for (int i = 0; i < p->operations; i++)
    if (p->table[i] != mix((uint64_t)left() << 40 | (uint64_t)i)) wrong(a, (uint64_t)i);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* ------------------------------------------------------------------------------------ measuring */

static void change_values(problem *p) {
  for (int i = 0; i < p->operations; i++) p->values[i]++;
}

/* Seconds a run of each alternative, NAN for those without one. Returns where the cores were: the
   far rounds count if there are no near ones. */
static const char *time_runs(const alternative *list, double seconds[FORMS]) {
  double *times[2][FORMS], begin = MPI_Wtime(), mine[FORMS], slowest[FORMS];
  int counts[2] = {0, 0}, more = 1;
  for (int a = 0; a < FORMS; a++) times[0][a] = need(sizeof(double) * (size_t)rounds), times[1][a] = need(sizeof(double) * (size_t)rounds);
  for (int round = 0; more && round < rounds; round++) {
    double before = probe();
    for (int k = 0; k < FORMS; k++) {
      int which = (k + round) % FORMS;
      const alternative *a = &list[which];
      mine[which] = 0;
      if (!a->run) continue;
      change_values(a->on);
      MPI_Barrier(MPI_COMM_WORLD);
      double start = MPI_Wtime();
      a->run(a->on);
      mine[which] = MPI_Wtime() - start;
    }
    double after = probe();
    MPI_Allreduce(mine, slowest, FORMS, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    int is_near = before < NEAR && after < NEAR, is_far = fmin(before, after) >= NEAR && fmax(before, after) < DISTURBED;
    if (is_near || is_far) {
      for (int a = 0; a < FORMS; a++) times[is_far][a][counts[is_far]] = slowest[a];
      counts[is_far]++;
    }
    more = MPI_Wtime() - begin < budget || !(counts[0] + counts[1]);
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  int far = counts[0] == 0;
  for (int a = 0; a < FORMS; a++) {
    seconds[a] = list[a].run ? median(times[far][a], counts[far]) : NAN;
    free(times[0][a]), free(times[1][a]);
  }
  return !line ? "all" : far ? "far" : "near";
}

/* One line: nanoseconds an operation, and the ratio to the library's. */
static void run_case(const char *label, int operations, void (*const runs[FORMS])(problem *), void (*check)(const alternative *),
                     double seconds[FORMS]) {
  problem p[FORMS];
  alternative list[FORMS];
  for (int f = 0; f < FORMS; f++) {
    int made = runs[f] && make(&p[f], f, operations);
    list[f] = (alternative){names[f], made ? runs[f] : NULL, &p[f]};
    if (made) check(&list[f]);
  }
  const char *where = time_runs(list, seconds);
  for (int f = 0; f < FORMS; f++)
    if (runs[f]) discard(&p[f], f, list[f].run != NULL);
  if (me != 0) return;
  printf("%-12s %9d %-4s", label, operations, where);
  for (int f = 0; f < FORMS; f++) {
    if (isnan(seconds[f])) continue;
    printf("  %s %.1f", names[f], seconds[f] / operations * 1e9);
    if (f > 0) printf(" (%.2f)", seconds[f] / seconds[0]);
  }
  printf("\n");
  fflush(stdout);
}

/* KiB of the process in memory */
static long resident(void) {
  long pages = 0, all;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld %ld", &all, &pages) != 2) MPI_Abort(MPI_COMM_WORLD, 1);
  fclose(file);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void run_growth(void) {
  problem p;
  make(&p, WINDOW, growth);
  window_accumulates(&p); /* takes nearly all the memory that a window may need: places of batches */
  long grown = -resident();
  window_accumulates(&p);
  grown += resident();
  MPI_Allreduce(MPI_IN_PLACE, &grown, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
  if (me == 0) printf("%-12s %9d  window: %ld KiB more than after %d\n", "growth", growth, grown, growth);
  if (me == 0) print_goal("KiB that the memory grows by", (double)grown, 128.0 * n, 1);
  discard(&p, WINDOW, 1);
}

int main(int argc, char **argv) {
  static void (*const accumulating[FORMS])(problem *) = {window_accumulates, fenced_accumulates, fenced_accumulates, sent_accumulates};
  static void (*const putting[FORMS])(problem *) = {window_puts, fenced_puts, fenced_puts, sent_puts};
  static void (*const in_array[FORMS])(problem *) = {window_array, NULL, NULL, sent_puts};
  double seconds[FORMS];
  rounds = 5;
  take_number(&argc, argv, "--updates", &updates);
  take_number(&argc, argv, "--puts", &most_puts);
  take_number(&argc, argv, "--growth", &growth);
  const char *only = begin(argc, argv, "onesided [--updates N] [--puts N] [--growth N] [--rounds N] [--seconds S] [--only accumulate|puts|array|growth]");
  if (most_puts > ELEMENTS) most_puts = ELEMENTS;
  print_header("nanoseconds an operation (ratio to the library's window)");
  if (!*only || !strcmp(only, "accumulate")) {
    run_case("accumulate", updates, accumulating, check_accumulates, seconds);
    if (me == 0) {
      print_goal("accumulates, MPI create / window", seconds[CREATE] / seconds[WINDOW], 20, 0);
      print_goal("accumulates, MPI allocate / window", seconds[ALLOCATE] / seconds[WINDOW], 20, 0);
    }
  }
  for (int count = most_puts; count >= 10 && (!*only || !strcmp(only, "puts")); count /= 10) {
    run_case("puts", count, putting, check_puts, seconds);
    if (me != 0 || count != most_puts) continue;
    print_goal("puts, MPI create / window", seconds[CREATE] / seconds[WINDOW], 20, 0);
    print_goal("puts, MPI allocate / window", seconds[ALLOCATE] / seconds[WINDOW], 20, 0);
    print_goal("puts, window / one message", seconds[WINDOW] / seconds[BY_HAND], 1.2, 1);
  }
  if (!*only || !strcmp(only, "array")) {
    run_case("array", most_puts, in_array, check_puts, seconds);
    if (me == 0) print_goal("puts by one call, window / one message", seconds[WINDOW] / seconds[BY_HAND], 1.2, 1);
  }
  if (!*only || !strcmp(only, "growth")) run_growth();
  end();
  return 0;
}
