/* Messages about hints: misspelled keys and variables in the log, where each hint in effect comes
   from; shared memory that is not used; weights that are NULL. The environment of the line of the
   table sets the log's level. */
#define _GNU_SOURCE
#include <unistd.h>

#include "test.h"

static int me, n;
static char said[20000];

static FILE *capture;
static int kept;

/* keeps what is written to standard error from here on */
static void listen(void) {
  fflush(stderr);
  capture = tmpfile();
  kept = dup(2);
  CHECK(capture && dup2(fileno(capture), 2) == 2, "standard error cannot be kept");
}

static void heard(void) {
  fflush(stderr);
  dup2(kept, 2);
  close(kept);
  rewind(capture);
  size_t length = fread(said, 1, sizeof said - 1, capture);
  said[length] = 0;
  fclose(capture);
}

static int set(MPI_Info info, MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &size);
  int right = (rank + 1) % size, left = (rank + size - 1) % size;
  return MPIX_Neighborhood_set(ALL_OPERATIONS, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, info, comm);
}

static int times(const char *text) {
  int count = 0;
  for (const char *at = said; (at = strstr(at, text)); at += strlen(text)) count++;
  return count;
}

/* the level: -1 for one that there is not */
static int level(void) {
  const char *names[] = {"off", "error", "warn", "info", "debug"}, *wanted = getenv("MPIX_NEIGHBOR_LOG");
  if (!wanted) return 0;
  for (int k = 0; k < 5; k++)
    if (!strcmp(names[k], wanted)) return k;
  return -1;
}

enum { ERROR = 1, WARN, INFO, DEBUG };

static void misspelled(void) {
  int wants = level(), expected;
  char line[300];
  MPI_Info info;
  MPI_Comm comm = test_duplicate();
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_shedule", "direct");
  MPI_Info_set(info, "mpix_schedule", "direct");
  MPI_Info_set(info, "mpix_sky", "blue");
  MPI_Info_set(info, "somebody_elses_key", "whatever");
  listen();
  for (int k = 0; k < 3; k++) OK(set(info, comm));
  heard();
  /* on process 0, on the others for those who want to know all; once */
  expected = wants >= (me == 0 ? WARN : DEBUG);
  snprintf(line, sizeof line, "mpix-neighbor: process %d: %s: unknown info key mpix_shedule: is mpix_schedule meant?\n", me, me == 0 ? "warn" : "debug");
  CHECK(times(line) == expected, "%d times, not %d: %s", times(line), expected, said);
  CHECK(times("unknown info key mpix_sky: no known key is like it") == expected, "%s", said);
  CHECK(times("mpix_schedule = ") == (wants >= (me == 0 ? INFO : DEBUG) ? 12 : 0), "%s", said);
  CHECK(times("schedule direct: ") == (wants >= (me == 0 ? INFO : DEBUG) ? 12 : 0), "%s", said);
  CHECK(!strstr(said, "somebody"), "%s", said);
  /* variables are those of the program: process 0 of all */
  expected = me == 0 && wants >= WARN && getenv("MPIX_SHEDULE");
  CHECK(times("warn: unknown environment variable MPIX_SHEDULE: is MPIX_SCHEDULE meant?\n") == expected, "%s", said);
  expected = me == 0 && wants == -1;
  CHECK(times("warn: environment variable MPIX_NEIGHBOR_LOG = \"loud\" is not one of off, error, warn, info, debug\n") == expected, "%s", said);
  if (wants <= ERROR && !expected) CHECK(said[0] == 0, "%s", said);
  /* a sparse exchange has the same keys; one that is said before is not said again */
  MPIX_Sparse_result result;
  MPI_Info_set(info, "mpix_sprase", "nbx");
  listen();
  OK(MPIX_Sparse_sources(0, NULL, info, comm, &result));
  heard();
  expected = wants >= (me == 0 ? WARN : DEBUG);
  CHECK(times("unknown info key mpix_sprase: is mpix_sparse meant?") == expected, "%s", said);
  CHECK(times("unknown info key") == expected, "%s", said);
  OK(MPIX_Sparse_free(&result));
  /* a plan too */
  int mine = me, have = -1;
  MPIX_Request plan;
  MPI_Info_set(info, "mpix_macth", "plan");
  listen();
  OK(MPIX_Neighbor_gather_plan(&mine, 1, MPI_INT, &have, 1, MPI_INT, comm, info, &plan));
  heard();
  CHECK(times("unknown info key mpix_macth: is mpix_match meant?") == expected, "%s", said);
  OK(MPIX_Request_free(&plan));
  /* an error that the program ignores */
  MPI_Info_set(info, "mpix_schedule", "fastest");
  listen();
  int code = set(info, comm);
  heard();
  CHECK(code != MPI_SUCCESS, "no error");
  CHECK(times(": error: MPIX_Neighborhood_set: ") == (wants >= ERROR), "%s", said);
  CHECK(times("mpix_schedule = \"fastest\" is not one of") == (wants >= ERROR), "%s", said);
  MPI_Info_free(&info);
  MPI_Comm_free(&comm);
}

static void holds(MPI_Comm comm, int sparse, const char *text) {
  static char have[8000];
  int length = -1;
  if (sparse) OK(MPIX_Sparse_describe(comm, sizeof have, have, &length));
  else OK(MPIX_Neighborhood_describe(MPIX_NEIGHBOR_GATHER, comm, sizeof have, have, &length));
  CHECK(length == (int)strlen(have), "%d characters, not %d", (int)strlen(have), length);
  CHECK(strstr(have, text), "\"%s\" does not hold \"%s\"", have, text);
}

/* without this hint, processes that have a core each measure what it says */
#define SINGLE_COPY ", mpix_single_copy = true (environment MPIX_SINGLE_COPY)"

static void described(void) {
  MPI_Info info;
  MPI_Comm alone, comm = test_duplicate();
  MPI_Comm_dup(MPI_COMM_SELF, &alone);
  OK(set(MPI_INFO_NULL, alone));
  holds(alone, 0, "\nhints given or measured: none\nhints by default: mpix_schedule = auto, mpix_weight_unit = not given, mpix_loggp = auto, mpix_split = true, mpix_seed = 1, ");
  MPI_Comm_free(&alone);
  setenv("MPIX_SINGLE_COPY", "true", 1);
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_schedule", "direct");
  MPI_Info_set(info, "mpix_seed", "7");
  setenv("MPIX_SEED", "8", 1);
  setenv("MPIX_NEIGHBOR_VERIFY", "0", 1);
  OK(set(info, comm));
  holds(comm, 0, "\nhints given or measured: mpix_schedule = direct (info), mpix_seed = 8 (environment MPIX_SEED)" SINGLE_COPY ", mpix_verify = 0 (environment MPIX_NEIGHBOR_VERIFY)\nhints by default: mpix_weight_unit = not given, ");
  unsetenv("MPIX_SEED");
  unsetenv("MPIX_NEIGHBOR_VERIFY");
  /* the machine's parameters hang on the communicator */
  MPIX_Loggp machine = {.latency = 1, .send_overhead = 2, .recv_overhead = 4, .gap = 5, .gap_per_byte = 0.5, .eager = 6, .deviation = 0};
  OK(MPIX_Loggp_set(&machine, comm));
  OK(set(MPI_INFO_NULL, comm));
  holds(comm, 0, "hints given or measured: mpix_loggp = L 1 us, o 3 us, g 5 us, G 0.5 us/B, S 6 B (MPIX_Loggp_set)" SINGLE_COPY "\n");
  MPI_Info_set(info, "mpix_loggp", "big_red");
  OK(set(info, comm));
  holds(comm, 0, "hints given or measured: mpix_schedule = direct (info), mpix_loggp = big_red (info), mpix_seed = 7 (info)" SINGLE_COPY "\n");
  /* sparse exchanges: of the last one */
  MPIX_Sparse_result result;
  holds(comm, 1, "none yet\nhints given or measured: mpix_loggp = L 1 us, o 3 us, g 5 us, G 0.5 us/B, S 6 B (MPIX_Loggp_set)\nhints by default: mpix_sparse = auto, ");
  MPI_Info_set(info, "mpix_sparse", "pex");
  OK(MPIX_Sparse_sources(0, NULL, info, comm, &result));
  OK(MPIX_Sparse_free(&result));
  holds(comm, 1, "\nhints given or measured: mpix_sparse = pex (info), mpix_loggp = big_red (info)\nhints by default: mpix_sparse_targets = not given, ");
  unsetenv("MPIX_SINGLE_COPY");
  MPI_Info_free(&info);
  /* shared memory carries nothing of a schedule that passes blocks on */
  int right = (me + 1) % n, left = (me + n - 1) % n;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_schedule", "node_aware");
  MPI_Info_set(info, "mpix_whole_communicator", "true");
  OK(MPIX_Neighbor_alltoall_set(1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, info, comm));
  const char *text = test_described(MPIX_NEIGHBOR_ALLTOALL, comm);
  CHECK(!strstr(text, " of the targets"), "\"%s\" says that memory is shared", text);
  MPI_Info_free(&info);
  MPI_Comm_free(&comm);
}

/* NULL says that there are no weights nowhere but where the MPI's own constant is NULL */
static void weights(void) {
  int right = (me + 1) % n, left = (me + n - 1) % n, length, class, *none = NULL, weight = 1;
  char have[500], text[100];
  const char *name;
  MPI_Comm comm = test_duplicate();
  for (int side = 0; side < 2; side++) {
    name = side ? "targetweights" : "sourceweights";
    int code = MPIX_Neighbor_gather_set(1, &left, side ? &weight : none, 1, &right, side ? none : &weight, MPI_INFO_NULL, comm);
    if ((void *)MPI_UNWEIGHTED == NULL) {
      OK(code);
      continue;
    }
    MPI_Error_class(code, &class);
    OK(MPIX_Neighbor_error_string(comm, sizeof have, have, &length));
    snprintf(text, sizeof text, "%s is NULL or MPI_WEIGHTS_EMPTY, but 1 entries are needed, or MPI_UNWEIGHTED for none", name);
    CHECK(class == MPI_ERR_ARG && strstr(have, text), "%s", have);
  }
  OK(MPIX_Neighbor_gather_set(0, NULL, NULL, 0, NULL, NULL, MPI_INFO_NULL, comm));
  OK(MPIX_Neighbor_gather_set(1, &left, MPI_UNWEIGHTED, 1, &right, &weight, MPI_INFO_NULL, comm));
  MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
  unsetenv("MPIX_RMA_STRAIGHT"); /* it would be among those that are given */
  test_init(&argc, &argv);
  me = test_rank, n = test_size;
  misspelled();
  described();
  weights();
  return test_finish();
}
