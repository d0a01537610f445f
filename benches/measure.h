/* How times are taken, for the programs of this directory. Each defines `struct problem`: what an
 * alternative works on.
 *
 * Method: all alternatives in one process, interleaved in batches, each batch with a warm-up call;
 * the slowest process counts; medians over the rounds, or another quantile (--quantile). With two
 * processes the distance of the two cores is probed before and after each round by passing a cache
 * line back and forth: rounds are near (below 120 ns), far, or, and then dropped, mixed or
 * disturbed by other programs (1 us or more). Where processes outnumber cores all rounds count. */
#ifndef MEASURE_H
#define MEASURE_H

#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int me, n, rounds = 25, crowded;
static double budget = 6.0; /* seconds for one case */
/* which sample counts where programs let the caller choose: 0.5 is the median; less where other
   programs take the cores away at times */
static double quantile = 0.5;
/* fewest calls of a batch where processes share cores, and fewest rounds, whatever the budget */
static int least_calls = 20, least_rounds = 5;
/* calls on each side of a batch that do not count where processes share cores, and those that tell
   how long a call takes */
static int settling_calls = 4, trial_calls = 4;
/* Whether the processes meet just before the calls that are timed, also where they share cores. For
   long calls, of which a batch has few: a process that ends the settling calls early would count as
   time of the first timed call how long it waits there for the others. */
static int aligned;

typedef struct problem problem;

typedef struct {
  const char *name;
  void (*run)(problem *);
  problem *on;
} alternative;

/* ns of the probe from which cores are far, and from which it has been disturbed */
enum { NEAR = 120, DISTURBED = 1000 };

/* most alternatives of a case */
enum { MOST = 24 };

/* seconds a call, of each alternative; and the sum of the context switches a call and process */
typedef struct {
  double *times[MOST], switches[MOST];
  int count;
} samples;

static void *need(size_t bytes) {
  void *p = calloc(1, bytes ? bytes : 1);
  if (!p) MPI_Abort(MPI_COMM_WORLD, 1);
  return p;
}

static inline uint64_t mix(uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static inline const char *size_name(int bytes) {
  static char text[20];
  if (bytes >= 1 << 20) snprintf(text, sizeof text, "%d MiB", bytes >> 20);
  else if (bytes >= 1 << 10) snprintf(text, sizeof text, "%d KiB", bytes >> 10);
  else snprintf(text, sizeof text, "%d B", bytes);
  return text;
}

/* ---- command line */

/* takes an option and its value out of the command line */
static inline const char *take(int *argc, char **argv, const char *option) {
  for (int i = 1; i + 1 < *argc; i++) {
    if (strcmp(argv[i], option)) continue;
    const char *value = argv[i + 1];
    memmove(&argv[i], &argv[i + 2], sizeof *argv * (size_t)(*argc - i - 1));
    *argc -= 2;
    return value;
  }
  return NULL;
}

static inline void take_number(int *argc, char **argv, const char *option, int *number) {
  const char *value = take(argc, argv, option);
  if (value) *number = atoi(value);
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
  MPI_Comm node;
  int of_node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &of_node);
  MPI_Comm_free(&node);
  if (n == 2 && of_node == 2 && !crowded) {
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

/* prints variables of the environment that change how the MPI moves messages */
static void print_settings(void) {
  static const char *const kinds[] = {"OMPI_MCA_btl", "OMPI_MCA_pml", "OMPI_MCA_smsc", "OMPI_MCA_mpi_yield", "MPIR_CVAR_", "UCX_", "MPIX_"};
  extern char **environ;
  int any = 0;
  for (char **e = environ; *e; e++)
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
      /* MPICH's launcher sets one in each run */
      if (!strncmp(*e, kinds[k], strlen(kinds[k])) && !strstr(*e, "INTERFACE_HOSTNAME")) printf("%s%s", any++ ? " " : "# environment: ", *e);
  if (any) printf("\n");
}

/* A line on the MPI and the processes, and one on what the environment sets, if anything; `what`
   the figures below it are. */
static void print_header(const char *what) {
  if (me != 0) return;
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(version, &length);
  printf("# %.*s, %d processes%s; %s\n", (int)strcspn(version, ",\n"), version, n, crowded ? ", more than cores" : "", what);
  print_settings();
}

static void end(void) {
  if (line_window != MPI_WIN_NULL) MPI_Win_free(&line_window);
  MPI_Finalize();
}

/* ---- measuring */

/* ns for passing a cache line to the other process and back, halved */
static inline double probe(void) {
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

/* ns of all near and all far rounds' probes, of each round's two the lesser, which nothing has
   disturbed; and how many */
static double passing[2];
static int passings[2];

/* One line on how far the cores were. */
static inline void print_distances(void) {
  static const char *const names[] = {"near", "far"};
  if (me != 0 || !line) return;
  printf("# a cache line to the other process:");
  for (int far = 0; far < 2; far++)
    if (passings[far]) printf(" %s %.0f ns (%d rounds)", names[far], passing[far] / passings[far], passings[far]);
  printf("\n");
}

/* context switches a call and process in the last batch */
static double switched;

static inline double switches_so_far(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_nvcsw + usage.ru_nivcsw);
}

static inline double batch(const alternative *a, int calls) {
  a->run(a->on);
  MPI_Barrier(MPI_COMM_WORLD);
  /* where processes share cores, they leave the barrier a scheduler's time slice apart */
  for (int i = 0; i < settling_calls && crowded; i++) a->run(a->on);
  if (aligned) MPI_Barrier(MPI_COMM_WORLD);
  double switches = switches_so_far(), start = MPI_Wtime();
  for (int i = 0; i < calls; i++) a->run(a->on);
  double mine = (MPI_Wtime() - start) / calls, slowest;
  switches = (switches_so_far() - switches) / calls / n;
  /* where processes share cores, one that waits in a collective may spin on a core that a neighbor
     needs to finish its timed calls */
  for (int i = 0; i < settling_calls && crowded; i++) a->run(a->on);
  MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(&switches, &switched, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
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

/* no samples yet, room for one of each round */
static inline void make_samples(samples *s, int alternatives) {
  *s = (samples){.count = 0};
  for (int a = 0; a < alternatives; a++) s->times[a] = need(sizeof(double) * (size_t)rounds);
}

/* How many calls make a batch: about 0.2 ms; where processes share cores 3 ms, and enough calls
   that the way out of the barrier does not count. */
static inline void calibrate_batches(const alternative *list, int alternatives, int calls[MOST]) {
  for (int a = 0; a < alternatives; a++) {
    int least = crowded ? least_calls : 4;
    double once = batch(&list[a], trial_calls);
    calls[a] = (int)((crowded ? 3e-3 : 2e-4) / once);
    if (calls[a] < least) calls[a] = least;
    MPI_Bcast(&calls[a], 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
}

/* The rounds from `first` to `last`, fewer where they take more than `seconds`. Where cores are not
   probed all samples are near. */
static inline void sample_rounds(const alternative *list, int alternatives, const int calls[MOST], int first, int last, double seconds, samples *near, samples *far) {
  double start = MPI_Wtime();
  for (int r = first; r < last; r++) {
    double before = probe(), t[MOST], switches[MOST];
    /* each alternative is the first one equally often */
    for (int k = 0; k < alternatives; k++) {
      int a = (r + k) % alternatives;
      t[a] = batch(&list[a], calls[a]);
      switches[a] = switched;
    }
    double after = probe();
    int is_near = before < NEAR && after < NEAR, is_far = fmin(before, after) >= NEAR && fmax(before, after) < DISTURBED;
    for (int a = 0; a < alternatives; a++) {
      if (is_near) near->times[a][near->count] = t[a], near->switches[a] += switches[a];
      if (is_far) far->times[a][far->count] = t[a];
    }
    near->count += is_near, far->count += is_far;
    if (is_near || is_far) passing[is_far] += fmin(before, after), passings[is_far]++;
    double used = MPI_Wtime() - start;
    MPI_Bcast(&used, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (used > seconds && r + 1 - first >= least_rounds) break;
  }
}

/* Times all alternatives. */
static inline void sample(const alternative *list, int alternatives, samples *near, samples *far) {
  int calls[MOST];
  make_samples(near, alternatives), make_samples(far, alternatives);
  calibrate_batches(list, alternatives, calls);
  sample_rounds(list, alternatives, calls, 0, rounds, budget, near, far);
}

static inline void release_samples(samples *s) {
  for (int a = 0; a < MOST; a++) free(s->times[a]);
}

/* ---- printing */

static inline void print_line(const char *label, const char *where, const alternative *list, int alternatives, samples *s) {
  if (me != 0 || s->count == 0) return;
  double first = typical(s->times[0], s->count);
  printf("%-26s %-5s %3d  %10.3f", label, where, s->count, first * 1e6);
  for (int a = 1; a < alternatives; a++) {
    double t = typical(s->times[a], s->count);
    printf("  %s %.3f (%.2f)", list[a].name, t * 1e6, t / first);
  }
  printf("\n");
  fflush(stdout);
}

/* one line: whether a ratio reaches its goal; none if it is no number */
static inline void print_goal(const char *text, double ratio, double limit, int at_most) {
  if (isnan(ratio)) return;
  printf("# goal: %s: %.2f, %s %g: %s\n", text, ratio, at_most ? "at most" : "at least", limit,
         (at_most ? ratio <= limit : ratio >= limit) ? "met" : "MISSED");
}

/* judge: what else is printed of the samples of a line, if there are any; or NULL */
static inline void measure_and(const char *label, const alternative *list, int alternatives,
                               void (*judge)(const char *label, const char *where, const samples *)) {
  samples near, far;
  sample(list, alternatives, &near, &far);
  samples *both[] = {&near, &far};
  for (int k = 0; k < 2; k++) {
    const char *where = k ? "far" : line ? "near" : "all";
    print_line(label, where, list, alternatives, both[k]);
    if (judge && me == 0 && both[k]->count > 0) judge(label, where, both[k]);
  }
  release_samples(&near), release_samples(&far);
}

static inline void measure(const char *label, const alternative *list, int alternatives) {
  measure_and(label, list, alternatives, NULL);
}

#endif
