/* The machine's parameters: measured, set, found where they are said, and errors. No time is
   compared with another one: the machine may be busy. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "handled.h"

static MPI_Comm comm;
static int me, n;

static const MPIX_Loggp jaguar = {9.9, 1.75, 1.75, 3.4, 0.00058, 132 * 1024, 0};
static const MPIX_Loggp intrepid = {4.29, 2.87, 2.87, 2.04, 0.00267, 12 * 1024, 0};
static const MPIX_Loggp mine = {2.5, 0.25, 0.75, 0.5, 0.001, 777, 0.125};

static int same(const MPIX_Loggp *a, const MPIX_Loggp *b) {
  return a->latency == b->latency && a->send_overhead == b->send_overhead && a->recv_overhead == b->recv_overhead && a->gap == b->gap &&
         a->gap_per_byte == b->gap_per_byte && a->eager == b->eager && a->deviation == b->deviation;
}

/* these parameters count on the communicator */
static void count(int line, MPI_Comm c, const MPIX_Loggp *wanted) {
  MPIX_Loggp have = {-1, -1, -1, -1, -1, -7, -1};
  OK(MPIX_Loggp_get(c, &have));
  CHECK(same(&have, wanted), "line %d: L %g o %g %g g %g G %g S %lld, deviation %g", line, have.latency, have.send_overhead, have.recv_overhead, have.gap,
        have.gap_per_byte, (long long)have.eager, have.deviation);
}

/* a set call with messages of `bytes` bytes gives this reason for its choice */
static void chooses(int line, MPI_Info info, int bytes, const char *reason) {
  int ring[2] = {(me + n - 1) % n, (me + 1) % n}, weights[2] = {bytes, bytes};
  OK(MPIX_Neighbor_alltoall_set(2, ring, weights, 2, ring, weights, info, comm));
  const char *text = test_described(MPIX_NEIGHBOR_ALLTOALL, comm);
  CHECK(strstr(text, reason), "line %d: \"%s\" does not hold \"%s\"", line, text, reason);
}

static void measured(void) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_loggp_seconds", "0.05");
  MPI_Info_set(info, "mpix_loggp_bytes", "65536");
  MPIX_Loggp p = {-1, -1, -1, -1, -1, -7, -1};
  if (n == 1) {
    HANDLED(MPIX_Loggp_measure(info, comm, &p), MPI_ERR_COMM, "MPIX_Loggp_measure: comm has one process, and measuring takes two");
    CHECK(p.eager == -7, "a result was written");
  } else {
    OK(MPIX_Loggp_measure(info, comm, &p));
    CHECK(p.latency >= 0 && isfinite(p.latency), "L %g", p.latency);
    CHECK(p.send_overhead >= 0 && isfinite(p.send_overhead), "o_s %g", p.send_overhead);
    CHECK(p.recv_overhead >= 0 && isfinite(p.recv_overhead), "o_r %g", p.recv_overhead);
    CHECK(p.latency + p.send_overhead + p.recv_overhead > 0, "a message takes no time");
    CHECK(p.gap >= 0 && isfinite(p.gap), "g %g", p.gap);
    CHECK(p.gap_per_byte >= 0 && isfinite(p.gap_per_byte), "G %g", p.gap_per_byte);
    CHECK(p.eager >= MPIX_LOGGP_UNLIMITED && p.eager < 65536, "S %lld", (long long)p.eager);
    CHECK(p.deviation >= 0 && isfinite(p.deviation), "deviation %g", p.deviation);
    MPIX_Loggp first = p;
    MPI_Bcast(&first, sizeof first, MPI_BYTE, 0, comm);
    CHECK(same(&p, &first), "processes have different parameters");
    /* nothing counts before it is set; what was measured can be */
    count(__LINE__, comm, &jaguar);
    OK(MPIX_Loggp_set(&p, comm));
    count(__LINE__, comm, &p);
    /* the last process's errors, and process 0's, are everybody's; process 0's hints count */
    HANDLED(MPIX_Loggp_measure(info, comm, me == n - 1 ? NULL : &p), MPI_ERR_ARG, "parameters is NULL");
    MPI_Info_set(info, "mpix_loggp_seconds", me == 0 ? "never" : "0.05");
    HANDLED(MPIX_Loggp_measure(info, comm, &p), MPI_ERR_INFO_VALUE, "info key mpix_loggp_seconds = \"never\" is not one of 0.01 to 3600");
    MPI_Info_set(info, "mpix_loggp_seconds", me == 0 ? "0.05" : "0.1");
    MPI_Info_set(info, "mpix_loggp_bytes", me == 0 ? "65536" : "4096");
    OK(MPIX_Loggp_measure(info, comm, &p));
  }
  MPI_Info_free(&info);
}

static void set_and_get(void) {
  MPIX_Loggp p = mine;
  MPI_Comm copy;
  OK(MPIX_Loggp_set(&mine, comm));
  count(__LINE__, comm, &mine);
  MPI_Comm_dup(comm, &copy);
  count(__LINE__, copy, &jaguar);
  MPI_Comm_free(&copy);
  HANDLED(MPIX_Loggp_set(NULL, comm), MPI_ERR_ARG, "MPIX_Loggp_set: parameters is NULL");
  HANDLED(MPIX_Loggp_get(comm, NULL), MPI_ERR_ARG, "MPIX_Loggp_get: parameters is NULL");
  p.gap = -1;
  HANDLED(MPIX_Loggp_set(&p, comm), MPI_ERR_ARG, "parameters->gap = -1 is not a finite number of at least 0");
  p = mine, p.recv_overhead = NAN;
  HANDLED(MPIX_Loggp_set(me == n - 1 ? &p : &mine, comm), MPI_ERR_ARG, "parameters->recv_overhead = NaN is not a finite number");
  p = mine, p.latency = INFINITY;
  HANDLED(MPIX_Loggp_set(&p, comm), MPI_ERR_ARG, "parameters->latency = inf");
  p = mine, p.eager = -5;
  HANDLED(MPIX_Loggp_set(&p, comm), MPI_ERR_ARG, "parameters->eager = -5 is not a number of bytes or MPIX_LOGGP_UNLIMITED");
  if (n > 1) {
    int mismatch;
    OK(MPIX_Neighbor_error_class(MPIX_ERR_MISMATCH, &mismatch));
    p = mine, p.deviation = me == 0 ? 0.5 : 0.125;
    HANDLED(MPIX_Loggp_set(&p, comm), mismatch, "parameters is not the same on all processes");
    /* a bit less, in a number that must be larger */
    p = mine, p.latency = me == 0 ? 3 : 2;
    HANDLED(MPIX_Loggp_set(&p, comm), mismatch, "parameters is not the same on all processes");
  }
  count(__LINE__, comm, &mine);
  p = mine, p.eager = MPIX_LOGGP_UNLIMITED;
  OK(MPIX_Loggp_set(&p, comm));
  count(__LINE__, comm, &p);
  MPI_Comm keep = comm, half, inter;
  if (n > 1) {
    MPI_Errhandler h;
    MPI_Comm_get_errhandler(comm, &h);
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - me % 2, 77, &inter);
    MPI_Comm_set_errhandler(inter, h);
    comm = inter;
    HANDLED(MPIX_Loggp_set(&mine, inter), MPI_ERR_COMM, "comm is an intercommunicator");
    HANDLED(MPIX_Loggp_measure(MPI_INFO_NULL, inter, &p), MPI_ERR_COMM, "comm is an intercommunicator");
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    MPI_Errhandler_free(&h);
  }
  comm = keep;
}

/* the directory is this process's own */
static void write_file(const char *name, const char *text) {
  FILE *f = fopen(name, "w");
  CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0, "%s", name);
}

/* environment, info key, communicator, file that is named, file in the usual place, preset: the
   nearest counts */
static void order(void) {
  char directory[200], home[300], usual[400], named[400], text[800];
  snprintf(directory, sizeof directory, "/tmp/mpix-loggp-%ld-%d", (long)getpid(), me);
  snprintf(home, sizeof home, "%s/mpix-neighbor", directory);
  snprintf(usual, sizeof usual, "%s/loggp", home);
  snprintf(named, sizeof named, "%s/named", directory);
  CHECK(mkdir(directory, 0700) == 0 && mkdir(home, 0700) == 0, "%s", home);
  setenv("XDG_CONFIG_HOME", directory, 1);
  MPI_Comm_free(&comm);
  comm = test_duplicate();
  MPI_Errhandler errhandler;
  MPI_Comm_create_errhandler(handler, &errhandler);
  MPI_Comm_set_errhandler(comm, errhandler);
  MPI_Errhandler_free(&errhandler);
  MPI_Info info = test_hint("mpix_loggp", "intrepid");

  /* there is no file */
  count(__LINE__, comm, &jaguar);
  MPI_Info_set(info, "mpix_loggp", "jaguar");
  chooses(__LINE__, info, 10, "at most 135168 bytes");
  MPI_Info_set(info, "mpix_loggp", "intrepid");
  /* no preset decides by itself */
  chooses(__LINE__, MPI_INFO_NULL, 10, "all processes share a node");
  write_file(usual, "latency = 1\noverhead = 2 # half of both\ngap = 3\ngap_per_byte = 0.25\neager = 111\n");
  const MPIX_Loggp of_usual = {1, 2, 2, 3, 0.25, 111, 0};
  count(__LINE__, comm, &of_usual);
  chooses(__LINE__, MPI_INFO_NULL, 10, "at most 111 bytes");
  write_file(named, "latency = 5\noverhead = 2\ngap = 3\ngap_per_byte = 0.25\neager = 222\n");
  setenv("MPIX_LOGGP_FILE", named, 1);
  chooses(__LINE__, MPI_INFO_NULL, 10, "at most 222 bytes");
  /* a file does not say that the processes of a node are as far from one another */
  chooses(__LINE__, MPI_INFO_NULL, 100000, n > 1 ? "all processes share a node" : "at most 222 bytes");
  OK(MPIX_Loggp_set(&mine, comm));
  count(__LINE__, comm, &mine);
  chooses(__LINE__, MPI_INFO_NULL, 10, "at most 777 bytes");
  /* the caller, of this communicator, does */
  chooses(__LINE__, MPI_INFO_NULL, 100000, n > 1 ? "by the model" : "at most 777 bytes");
  chooses(__LINE__, info, 10, "at most 12288 bytes");
  count(__LINE__, comm, &mine);
  setenv("MPIX_LOGGP", "none", 1);
  chooses(__LINE__, info, 10, "all processes share a node");
  count(__LINE__, comm, &jaguar);
  if (n > 1) {
    setenv("MPIX_LOGGP", "measure", 1);
    chooses(__LINE__, info, 10, "us/B, S ");
    chooses(__LINE__, info, 10, " (measured)");
    chooses(__LINE__, info, 10000000, "by the model");
  }
  setenv("MPIX_LOGGP", "auto", 1);
  chooses(__LINE__, info, 10, "at most 777 bytes");
  count(__LINE__, comm, &mine);
  setenv("MPIX_LOGGP", "jaguar", 1);
  chooses(__LINE__, info, 10, "at most 135168 bytes");
  count(__LINE__, comm, &jaguar);
  setenv("MPIX_LOGGP", named, 1);
  chooses(__LINE__, info, 10, "at most 222 bytes");
  setenv("MPIX_LOGGP", "intrepid", 1);
  count(__LINE__, comm, &intrepid);
  setenv("MPIX_LOGGP", "nonsense", 1);
  MPIX_Loggp p = mine;
  HANDLED(MPIX_Loggp_get(comm, &p), MPI_ERR_INFO_VALUE, "environment variable MPIX_LOGGP = \"nonsense\"");
  CHECK(same(&p, &mine), "a result was written");
  unsetenv("MPIX_LOGGP");

  /* files that cannot be read, or not understood, are named; on another communicator, which has no
     parameters */
  MPI_Comm keep = comm;
  MPI_Errhandler h;
  MPI_Comm_get_errhandler(keep, &h);
  comm = test_duplicate();
  MPI_Comm_set_errhandler(comm, h);
  MPI_Errhandler_free(&h);
  setenv("MPIX_LOGGP_FILE", "/nowhere/loggp", 1);
  HANDLED(MPIX_Loggp_get(comm, &p), MPI_ERR_INFO_VALUE, "environment variable MPIX_LOGGP_FILE = \"/nowhere/loggp\" cannot be read: No such file");
  unsetenv("MPIX_LOGGP_FILE");
  write_file(usual, "latency = 1\n");
  snprintf(text, sizeof text, "the file %s is no file of LogGP parameters: overhead is missing", usual);
  HANDLED(MPIX_Loggp_get(comm, &p), MPI_ERR_INFO_VALUE, text);
  int neighbor = me;
  HANDLED(MPIX_Neighbor_alltoall_set(1, &neighbor, MPI_UNWEIGHTED, 1, &neighbor, MPI_UNWEIGHTED, MPI_INFO_NULL, comm), MPI_ERR_INFO_VALUE, "overhead is missing");
  /* all processes must find the same */
  if (me == 0) unlink(usual);
  else write_file(usual, "latency = 1\noverhead = 2\ngap = 3\ngap_per_byte = 0.25\neager = 111\n");
  if (n > 1) {
    int mismatch;
    OK(MPIX_Neighbor_error_class(MPIX_ERR_MISMATCH, &mismatch));
    HANDLED(MPIX_Neighbor_alltoall_set(1, &neighbor, MPI_UNWEIGHTED, 1, &neighbor, MPI_UNWEIGHTED, MPI_INFO_NULL, comm), mismatch, "a file of LogGP parameters");
  }
  MPI_Comm_free(&comm);
  comm = keep;
  MPI_Info_free(&info);
  unlink(usual);
  unlink(named);
  rmdir(home);
  rmdir(directory);
}

/* a machine on which bytes cost nothing: no schedule forgets a message */
static void free_bytes(void) {
  static const char *const schedules[] = {"auto", "model", "measure", "direct", "edge_coloring", "random_rounds", "linear_permutation"};
  static const MPIX_Loggp machines[] = {{5, 1, 1, 2, 0, 100, 0}, {5, 1, 1, 2, 5e-324, 100, 0}, {0, 0, 0, 0, 0, 0, 0}};
  int ring[2] = {(me + n - 1) % n, (me + 1) % n}, back[2] = {ring[1], ring[0]}, weights[2] = {1000, 1000};
  for (int m = 0; m < 3; m++)
    for (int s = 0; s < (int)(sizeof schedules / sizeof *schedules); s++) {
      MPI_Comm c = test_duplicate();
      MPI_Info info;
      MPI_Info_create(&info);
      MPI_Info_set(info, "mpix_schedule", schedules[s]);
      MPI_Info_set(info, "mpix_shared_memory", "0");
      OK(MPIX_Loggp_set(&machines[m], c));
      OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, 2, ring, weights, 2, back, weights, info, c));
      for (int call = 0; call < 20; call++) {
        int send[2] = {100 * me, 100 * me + 1}, have[2] = {-1, -1};
        OK(MPIX_Neighbor_alltoall(send, 1, MPI_INT, have, 1, MPI_INT, c));
        CHECK(have[0] == 100 * ring[0] && have[1] == 100 * ring[1] + 1, "machine %d, %s, call %d: %d %d", m, schedules[s], call, have[0], have[1]);
      }
      MPI_Info_free(&info);
      MPI_Comm_free(&c);
    }
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  me = test_rank, n = test_size;
  /* from loggp-tool: what the file says that the tool has written to the usual place */
  const char *expected = getenv("LOGGP_EXPECTED");
  if (expected) {
    MPIX_Loggp p;
    OK(MPIX_Loggp_get(MPI_COMM_WORLD, &p));
    CHECK(p.eager == (strcmp(expected, "unlimited") ? atoll(expected) : MPIX_LOGGP_UNLIMITED), "S %lld, not %s", (long long)p.eager, expected);
    CHECK(p.eager != jaguar.eager && p.latency != jaguar.latency, "L %g: that is the preset", p.latency);
    return test_finish();
  }
  unsetenv("MPIX_LOGGP");
  unsetenv("MPIX_LOGGP_FILE");
  setenv("XDG_CONFIG_HOME", "/nowhere", 1);
  MPI_Errhandler errhandler;
  MPI_Comm_create_errhandler(handler, &errhandler);
  comm = test_duplicate();
  MPI_Comm_set_errhandler(comm, errhandler);
  MPI_Errhandler_free(&errhandler);
  measured();
  set_and_get();
  order();
  free_bytes();
  MPI_Comm_free(&comm);
  return test_finish();
}
