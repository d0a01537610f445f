/* mpix_transport=auto and auto_plans: puts and messages are timed once, by set calls whose answer
   depends on it, and the faster of both is taken. Here a clock runs in which puts or messages are
   slow, so that what is faster is known, however busy the machine is. Each variant stands for an
   MPI of its own, whose times do not count for others. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <unistd.h>

#include "test.h"

enum { BLOCKS = 3, BYTES = 5000 };

static int me, n, version, puts_made, straight_puts, refuses;
static double slow_put, slow_landing, slow_straight, slow_send;

/* the transport that is asked for, and the weight of each edge */
static const char *transport = "auto";
static int weight = BYTES;

/* seconds that puts and sends have added to a clock that is otherwise slow */
static double added;
double MPI_Wtime(void) { return 1e-3 * PMPI_Wtime() + added; }

int MPI_Put(const void *from, int count, MPI_Datatype type, int target, MPI_Aint displ, int many, MPI_Datatype there, MPI_Win win) {
  int *flavor = NULL, found = 0;
  MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &found);
  puts_made++;
  added += slow_put;
  /* a block, to where it is received or not */
  int straight = found && *flavor == MPI_WIN_FLAVOR_DYNAMIC;
  straight_puts += straight;
  if (count > 16) added += straight ? slow_straight : slow_landing;
  return refuses ? MPI_ERR_OTHER : PMPI_Put(from, count, type, target, displ, many, there, win);
}
int MPI_Isend(const void *from, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm, MPI_Request *request) {
  if (count >= 16) added += slow_send;
  return PMPI_Isend(from, count, type, target, tag, comm, request);
}
int MPI_Get_library_version(char *text, int *length) {
  int code = PMPI_Get_library_version(text, length);
  /* the first line counts */
  char *end = text + strcspn(text, "\n");
  if (version && *length) *length = (int)(end - text) + sprintf(end, ", test %d", version);
  return code;
}

static char folder[200];

/* calls `each` for the files with times of puts; returns how many there are */
static int files(void (*each)(const char *path)) {
  char below[300], path[600];
  int found = 0;
  snprintf(below, sizeof below, "%s/mpix-neighbor", folder);
  DIR *d = opendir(below);
  for (struct dirent *e; d && (e = readdir(d));) {
    if (strncmp(e->d_name, "puts-", 5)) continue;
    found++;
    snprintf(path, sizeof path, "%s/%s", below, e->d_name);
    if (each) each(path);
  }
  if (d) closedir(d);
  return found;
}
static void cut_off(const char *path) { CHECK(truncate(path, 40) == 0, "%s", path); }
static void delete(const char *path) { unlink(path); }

/* Sets a ring with several edges to each neighbor, and says what carries blocks. Messages are timed
   by process 0 of the communicator, which is the last process where `turned`. */
static const char *set(int turned, int weighted, MPI_Comm *comm) {
  int rank, ends[2 * BLOCKS], weights[2 * BLOCKS];
  MPI_Comm_split(MPI_COMM_WORLD, 0, turned ? n - me : me, comm);
  MPI_Comm_rank(*comm, &rank);
  for (int k = 0; k < 2 * BLOCKS; k++) ends[k] = (rank + (k < BLOCKS ? 1 : n - 1)) % n, weights[k] = weight;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_schedule", "direct");
  MPI_Info_set(info, "mpix_transport", transport);
  MPI_Info_set(info, "mpix_weight_unit", "1");
  int *w = weighted ? weights : MPI_UNWEIGHTED;
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, 2 * BLOCKS, ends, w, 2 * BLOCKS, ends, w, info, *comm));
  MPI_Info_free(&info);
  const char *text = test_described(MPIX_NEIGHBOR_ALLTOALL, *comm);
  const char *at = strstr(text, "transport: ");
  CHECK(at, "%s", text);
  return at;
}

/* A set call says this, having measured or not; then calls are right. */
static void expect(int line, int turned, int measures, const char *begin, const char *origin) {
  static char send[2 * BLOCKS][BYTES], have[2 * BLOCKS][BYTES];
  MPI_Comm comm;
  char expected[100];
  int before = puts_made, rank, all, bad = 0;
  const char *says = set(turned, 1, &comm);
  int length = (int)strcspn(says, "\n");
  CHECK(!strncmp(says, begin, strlen(begin)), "line %d: %.*s", line, length, says);
  snprintf(expected, sizeof expected, " in plans, and messages ");
  CHECK(strstr(says, expected) && strstr(says, expected) < says + length, "line %d: %.*s", line, length, says);
  const char *synchronization = getenv("MPIX_RMA_SYNCHRONIZATION");
  int fenced = synchronization && !strcmp(synchronization, "fence"), tells = strstr(says, "us a call with a barrier of ") != NULL;
  CHECK(fenced == tells, "line %d: %.*s", line, length, says);
  snprintf(expected, sizeof expected, "(%s)", origin);
  CHECK(strstr(says, expected) && strstr(says, expected) < says + length, "line %d: %.*s", line, length, says);
  int mine = puts_made - before;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, comm);
  CHECK((all > 0) == measures, "line %d: %d puts in the set call", line, all);
  double slow[3] = {slow_put, slow_send, slow_landing};
  slow_put = slow_send = slow_landing = 0;
  before = puts_made;
  MPI_Comm_rank(comm, &rank);
  for (int call = 0; call < 3; call++) {
    for (int k = 0; k < 2 * BLOCKS; k++) memset(send[k], 31 * rank + 5 * k + call, BYTES);
    memset(have, -1, sizeof have);
    OK(MPIX_Neighbor_alltoall(send, BYTES, MPI_CHAR, have, BYTES, MPI_CHAR, comm));
    for (int k = 0; k < 2 * BLOCKS; k++) {
      /* with two processes all edges connect the same ones, and match in their order */
      int from = (rank + (k < BLOCKS ? 1 : n - 1)) % n, there = n == 2 ? k : (k + BLOCKS) % (2 * BLOCKS);
      for (int i = 0; i < BYTES; i++) bad += have[k][i] != (char)(31 * from + 5 * there + call);
    }
  }
  CHECK(bad == 0, "line %d: %d bytes are wrong", line, bad);
  CHECK((puts_made > before) == !strncmp(begin, "transport: puts", 15), "line %d: %d puts in calls", line, puts_made - before);
  slow_put = slow[0], slow_send = slow[1], slow_landing = slow[2];
  MPI_Comm_free(&comm);
}

/* From how many bytes on plans put straight is measured under rma, too, unless a hint says it:
   the set call has these words, and a plan with messages of 15,000 bytes, each in one piece, puts
   straight or not. */
static void expect_straight(int line, int measures, const char *words, int puts) {
  static char send[2][BLOCKS * BYTES], have[2][BLOCKS * BYTES];
  MPI_Comm comm;
  MPIX_Request plan;
  int before = puts_made, all, bad = 0, rank;
  transport = "rma";
  const char *says = set(0, 1, &comm);
  int length = (int)strcspn(says, "\n"), mine = puts_made - before;
  if (strstr(says, "plans use it too: ")) words = "plans use it too: ", puts = 0; /* it cannot */
  CHECK(strstr(says, words) && strstr(says, words) < says + length, "line %d: %.*s", line, length, says);
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, comm);
  CHECK((all > 0) == measures, "line %d: %d puts in the set call", line, all);
  double slow[3] = {slow_put, slow_straight, slow_landing};
  slow_put = slow_straight = slow_landing = 0;
  MPI_Comm_rank(comm, &rank);
  OK(MPIX_Neighbor_alltoall_plan(send, BYTES, MPI_CHAR, have, BYTES, MPI_CHAR, comm, MPI_INFO_NULL, &plan));
  before = straight_puts;
  for (int call = 0; call < 4; call++) {
    memset(send[0], 3 * rank + call, sizeof *send), memset(send[1], 5 * rank + call, sizeof *send), memset(have, -1, sizeof have);
    OK(MPIX_Request_start(&plan));
    OK(MPIX_Request_wait(&plan));
    for (int side = 0; side < 2; side++) {
      int from = (rank + (side ? n - 1 : 1)) % n, there = n == 2 ? side : !side;
      for (int i = 0; i < BLOCKS * BYTES; i++) bad += have[side][i] != (char)((there ? 5 : 3) * from + call);
    }
  }
  CHECK(bad == 0, "line %d: %d bytes are wrong", line, bad);
  CHECK((straight_puts > before) == puts, "line %d: %d puts went straight", line, straight_puts - before);
  slow_put = slow[0], slow_straight = slow[1], slow_landing = slow[2];
  OK(MPIX_Request_free(&plan));
  MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
  unsetenv("MPIX_RMA_STRAIGHT"); /* measured here */
  test_init(&argc, &argv);
  me = test_rank, n = test_size;
  snprintf(folder, sizeof folder, "/tmp/mpix-transport-%ld", (long)getpid());
  MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
  setenv("XDG_CACHE_HOME", folder, 1);
  MPI_Comm comm;
  const char *says;
  if (n < 2 || !getenv("MPIX_SHARED_MEMORY")) {
    says = set(0, 1, &comm);
    CHECK(!strncmp(says, "transport: messages, as no edge needs puts\n", 43), "%s", says);
    CHECK(files(NULL) == 0, "measured for nobody");
    MPI_Comm_free(&comm);
    return test_finish();
  }
  says = set(0, 0, &comm);
  CHECK(!strncmp(says, "transport: messages, as no weights say how long blocks are\n", 59), "%s", says);
  MPI_Comm_free(&comm);
#define THEN MPI_Barrier(MPI_COMM_WORLD)
  version = 1, slow_put = 0.001;
  expect(__LINE__, 0, 1, "transport: messages, as puts are predicted", "measured");
  THEN;
  CHECK(files(NULL) == 1, "%d files", files(NULL));
  expect(__LINE__, 0, 0, "transport: messages, as puts are predicted", "measured");
  /* another process looks them up, as in a later program */
  expect(__LINE__, 1, 0, "transport: messages, as puts are predicted", "measured by an earlier program");
  version = 2, slow_put = 0, slow_send = 0.001;
  expect(__LINE__, 0, 1, "transport: puts", "measured");
  expect(__LINE__, 1, 0, "transport: puts", "measured by an earlier program");
  THEN;
  CHECK(files(NULL) == 2 || files(NULL) == 1, "%d files", files(NULL));
  THEN;
  /* a file that is cut off is replaced; what process 0 remembers, counts */
  if (me == 0) files(cut_off);
  THEN;
  expect(__LINE__, 0, 0, "transport: puts", "measured");
  version = 3;
  expect(__LINE__, 0, 1, "transport: puts", "measured");
  version = 4, slow_send = 0;
  if (me == 0) files(delete);
  THEN;
  /* MPI refuses puts */
  refuses = me == 0;
  says = set(0, 1, &comm);
  CHECK(!strncmp(says, "transport: messages, as the times of puts cannot be measured\n", 61), "%s", says);
  CHECK(files(NULL) == 0, "what failed was kept");
  MPI_Comm_free(&comm);
  refuses = 0, version = 5, slow_put = 0.001;
  expect(__LINE__, 0, 1, "transport: messages, as puts are predicted", "measured");
  /* puts win where plans put blocks straight to where they are received, if these are long */
  version = 6, slow_put = 0, slow_send = 0.0005, slow_landing = 0.02, weight = 20000;
  expect(__LINE__, 0, 1, "transport: messages, as puts are predicted", "measured");
  transport = "auto_plans";
  expect(__LINE__, 0, 0, "transport: puts", "measured");
  expect(__LINE__, 1, 0, "transport: puts", "measured by an earlier program");
  weight = BYTES;
  expect(__LINE__, 0, 0, "transport: messages, as puts are predicted", "measured");
  slow_put = slow_send = 0;
  expect_straight(__LINE__, 0, "plans put messages of 4096 bytes and more straight", 1);
  version = 7, slow_landing = 0, slow_straight = 0.02;
  expect_straight(__LINE__, 1, "plans use it too (measured)", 0);
  setenv("MPIX_RMA_STRAIGHT", "15000", 1);
  version = 8;
  expect_straight(__LINE__, 0, "plans put messages of 15000 bytes and more straight", 1);
  setenv("MPIX_RMA_STRAIGHT", "50000", 1);
  expect_straight(__LINE__, 0, "plans put messages of 50000 bytes and more straight", 0);
  setenv("MPIX_RMA_STRAIGHT", "false", 1);
  expect_straight(__LINE__, 0, "plans use it too", 0);
  unsetenv("MPIX_RMA_STRAIGHT");
  THEN;
  if (me == 0) {
    char below[300];
    files(delete);
    snprintf(below, sizeof below, "%s/mpix-neighbor", folder);
    rmdir(below), rmdir(folder);
  }
  return test_finish();
}
