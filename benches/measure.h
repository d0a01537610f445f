/* How times are taken, for the programs of this directory. Each defines `struct problem`: what an alternative works on.
 *
 * Method: all alternatives in one process, interleaved in batches, each batch with a warm-up call; the slowest process counts; medians over the
 * rounds, or another quantile (--quantile). With two processes the distance of the two cores is probed before and after each round by passing a cache line back and forth: rounds are
 * near (below 120 ns), far, or mixed (dropped). Where processes outnumber cores all rounds count. */
#ifndef MEASURE_H
#define MEASURE_H

#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int me, n, rounds = 25, crowded;
static double budget = 6.0; /* seconds for one case */
/* which sample counts where programs let the caller choose: 0.5 is the median; less where other programs take the cores away at times */
static double quantile = 0.5;
/* fewest calls of a batch where processes share cores, and fewest rounds, whatever the budget */
static int least_calls = 20, least_rounds = 5;

typedef struct problem problem;

typedef struct {
  const char *name;
  void (*run)(problem *);
  problem *on;
} alternative;

/* most alternatives of a case */
enum { MOST = 16 };

/* seconds a call, of each alternative */
typedef struct {
  double *times[MOST];
  int count;
} samples;

static void *need(size_t bytes) {
  void *p = calloc(1, bytes ? bytes : 1);
  if (!p) MPI_Abort(MPI_COMM_WORLD, 1);
  return p;
}

static uint64_t mix(uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static const char *size_name(int bytes) {
  static char text[20];
  if (bytes >= 1 << 20) snprintf(text, sizeof text, "%d MiB", bytes >> 20);
  else if (bytes >= 1 << 10) snprintf(text, sizeof text, "%d KiB", bytes >> 10);
  else snprintf(text, sizeof text, "%d B", bytes);
  return text;
}

/* ---- begin and end */

static volatile uint64_t *line; /* shared by two processes on a node */
static MPI_Win line_window = MPI_WIN_NULL;

/* Starts MPI and reads the command line. Returns what --only says, or "". */
static const char *begin(int argc, char **argv, const char *usage) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  const char *only = "";
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--rounds")) rounds = atoi(argv[i + 1]);
    else if (!strcmp(argv[i], "--seconds")) budget = atof(argv[i + 1]);
    else if (!strcmp(argv[i], "--quantile")) quantile = atof(argv[i + 1]);
    else if (!strcmp(argv[i], "--only")) only = argv[i + 1];
    else if (me == 0) fprintf(stderr, "usage: %s\n", usage), MPI_Abort(MPI_COMM_WORLD, 2);
  }
  crowded = n > sysconf(_SC_NPROCESSORS_ONLN);
  if (n == 2 && !crowded) {
    void *base;
    MPI_Aint bytes;
    int unit;
    MPI_Win_allocate_shared(me == 0 ? 256 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &line_window);
    MPI_Win_shared_query(line_window, 0, &bytes, &unit, &base);
    line = base;
    if (me == 0) memset(base, 0, 256);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return only;
}

/* One line on the MPI and the processes; `what` the figures below it are. */
static void print_header(const char *what) {
  if (me != 0) return;
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(version, &length);
  printf("# %.*s, %d processes%s; %s\n", (int)strcspn(version, ",\n"), version, n, crowded ? ", more than cores" : "", what);
}

static void end(void) {
  if (line_window != MPI_WIN_NULL) MPI_Win_free(&line_window);
  MPI_Finalize();
}

/* ---- measuring */

/* ns for passing a cache line to the other process and back, halved */
static double probe(void) {
  if (!line) return 0;
  enum { PASSES = 400 };
  MPI_Barrier(MPI_COMM_WORLD);
  uint64_t base = __atomic_load_n(&line[8], __ATOMIC_ACQUIRE);
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  for (int i = 0; i < PASSES; i++) {
    uint64_t turn = base + 2 * (uint64_t)i + (uint64_t)me;
    while (__atomic_load_n(&line[8], __ATOMIC_ACQUIRE) != turn) continue;
    __atomic_store_n(&line[8], turn + 1, __ATOMIC_RELEASE);
  }
  double ns = (MPI_Wtime() - start) / PASSES / 2 * 1e9;
  MPI_Bcast(&ns, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return ns;
}

static double batch(const alternative *a, int calls) {
  a->run(a->on);
  MPI_Barrier(MPI_COMM_WORLD);
  /* where processes share cores, they leave the barrier a scheduler's time slice apart */
  for (int i = 0; i < 4 && crowded; i++) a->run(a->on);
  double start = MPI_Wtime();
  for (int i = 0; i < calls; i++) a->run(a->on);
  double mine = (MPI_Wtime() - start) / calls, slowest;
  /* where processes share cores, one that waits in a collective may spin on a core that a neighbor needs to finish its timed calls */
  for (int i = 0; i < 4 && crowded; i++) a->run(a->on);
  MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *v, int count) {
  if (!count) return NAN;
  qsort(v, (size_t)count, sizeof *v, compare);
  return count % 2 ? v[count / 2] : (v[count / 2 - 1] + v[count / 2]) / 2;
}

/* the sample that counts */
static inline double typical(double *v, int count) {
  double middle = median(v, count); /* sorts */
  int i = (int)(quantile * count);
  return quantile == 0.5 || !count ? middle : v[i < count ? i : count - 1];
}

/* Times all alternatives. Where cores are not probed all samples are near. */
static void sample(const alternative *list, int alternatives, samples *near, samples *far) {
  int calls[MOST];
  *near = *far = (samples){.count = 0};
  for (int a = 0; a < alternatives; a++) {
    near->times[a] = need(sizeof(double) * (size_t)rounds);
    far->times[a] = need(sizeof(double) * (size_t)rounds);
    /* batches of about 0.2 ms; where processes share cores 3 ms, and enough calls that the way out of the barrier does not count */
    int least = crowded ? least_calls : 4;
    double once = batch(&list[a], 4);
    calls[a] = (int)((crowded ? 3e-3 : 2e-4) / once);
    if (calls[a] < least) calls[a] = least;
    MPI_Bcast(&calls[a], 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  double start = MPI_Wtime();
  for (int r = 0; r < rounds; r++) {
    double before = probe(), t[MOST];
    /* each alternative is the first one equally often */
    for (int k = 0; k < alternatives; k++) {
      int a = (r + k) % alternatives;
      t[a] = batch(&list[a], calls[a]);
    }
    double after = probe();
    int is_near = before < 120 && after < 120, is_far = before >= 120 && after >= 120;
    for (int a = 0; a < alternatives; a++) {
      if (is_near) near->times[a][near->count] = t[a];
      if (is_far) far->times[a][far->count] = t[a];
    }
    near->count += is_near, far->count += is_far;
    double used = MPI_Wtime() - start;
    MPI_Bcast(&used, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (used > budget && r + 1 >= least_rounds) break;
  }
}

static void release_samples(samples *s) {
  for (int a = 0; a < MOST; a++) free(s->times[a]);
}

#endif
