/* Parameters of the machine that set calls find out: measured between nodes, remembered, and kept
   in a file for later programs. The processes say that each is on a node of its own; the first half
   of them measures, the other half stands for a later program, which remembers nothing. No time is
   compared with another one. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <sys/stat.h>

#include "test.h"

static int me, n, apart = 1;
/* version of the MPI: parameters of one do not count for another */
static int version = 1;

int MPI_Get_processor_name(char *name, int *length) {
  *length = sprintf(name, "node%03d.site", apart ? me : 0);
  return MPI_SUCCESS;
}
int MPI_Get_library_version(char *text, int *length) {
  int code = PMPI_Get_library_version(text, length);
  /* the first line counts */
  char *end = text + strcspn(text, "\n");
  if (me >= 0 && *length) *length = (int)(end - text) + sprintf(end, ", test %d", version);
  return code;
}

static char folder[200];

/* the file, in this process's folder; "" if there is none. There is at most one */
static const char *file(void) {
  static char path[600];
  char below[300];
  int files = 0;
  path[0] = 0;
  snprintf(below, sizeof below, "%s/mpix-neighbor", folder);
  DIR *d = opendir(below);
  for (struct dirent *e; d && (e = readdir(d));) {
    if (strncmp(e->d_name, "loggp-", 6)) continue;
    snprintf(path, sizeof path, "%s/%s", below, e->d_name);
    files++;
  }
  if (d) closedir(d);
  CHECK(files <= 1, "%d files in %s", files, below);
  return path;
}

static void contents(char text[2000]) {
  FILE *f = fopen(file(), "r");
  size_t length = f ? fread(text, 1, 1999, f) : 0;
  text[length] = 0;
  if (f) fclose(f);
}

static void write_contents(const char *text) {
  FILE *f = fopen(file(), "w");
  CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0, "%s", file());
}

static void use_folder(const char *name) {
  snprintf(folder, sizeof folder, "%s", name);
  setenv("XDG_CACHE_HOME", folder, 1);
}

static void remove_folder(const char *name) {
  char below[300];
  snprintf(folder, sizeof folder, "%s", name);
  if (*file()) unlink(file());
  snprintf(below, sizeof below, "%s/mpix-neighbor", folder);
  rmdir(below), rmdir(folder);
}

/* Sets a neighborhood with weights on a ring, and describes it. */
static const char *set(const char *loggp, MPI_Comm comm) {
  int size, rank;
  MPI_Comm_size(comm, &size), MPI_Comm_rank(comm, &rank);
  int ring[2] = {(rank + size - 1) % size, (rank + 1) % size}, weights[2] = {1 << 20, 1 << 20};
  MPI_Info info;
  MPI_Info_create(&info);
  if (loggp) MPI_Info_set(info, "mpix_loggp", loggp);
  MPI_Info_set(info, "mpix_schedule", "model");
  OK(MPIX_Neighbor_alltoall_set(2, ring, weights, 2, ring, weights, info, comm));
  MPI_Info_free(&info);
  return test_described(MPIX_NEIGHBOR_ALLTOALL, comm);
}

/* A set call on a new communicator of the same processes. Its parameters have this origin, are the
   same everywhere, and decide; their text goes to `found`. */
static void finds(int line, MPI_Comm part, const char *loggp, const char *origin, char found[300]) {
  MPI_Comm comm;
  char first[300] = "", expected[100];
  MPI_Comm_dup(part, &comm);
  const char *text = set(loggp, comm), *at = strstr(text, "mpix_loggp = L ");
  snprintf(found, 300, "%.*s", at ? (int)strcspn(at, "(") : 0, at ? at : "");
  snprintf(expected, sizeof expected, "(%s)", origin);
  CHECK(at && strstr(at, expected), "line %d: \"%s\" does not hold \"%s\"", line, text, expected);
  CHECK(strstr(text, "by the model"), "line %d: %s", line, text);
  memcpy(first, found, sizeof first);
  MPI_Bcast(first, sizeof first, MPI_CHAR, 0, comm);
  CHECK(!strcmp(first, found), "line %d: %s here, %s on process 0", line, found, first);
  /* they are those in effect on the communicator */
  MPIX_Loggp p;
  double latency = -1;
  OK(MPIX_Loggp_get(comm, &p));
  CHECK(sscanf(found, "mpix_loggp = L %lf us", &latency) == 1 && latency == p.latency, "line %d: L %g, %s", line, p.latency, found);
  MPI_Comm_free(&comm);
}

static void says(int line, MPI_Comm part, const char *loggp, const char *expected) {
  MPI_Comm comm;
  MPI_Comm_dup(part, &comm);
  const char *text = set(loggp, comm);
  CHECK(strstr(text, expected), "line %d: \"%s\" does not hold \"%s\"", line, text, expected);
  MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
  me = -1;
  test_init(&argc, &argv);
  me = test_rank, n = test_size;
  unsetenv("MPIX_LOGGP");
  unsetenv("MPIX_LOGGP_FILE");
  setenv("XDG_CONFIG_HOME", "/nowhere", 1);
  if (n < 4) {
    says(__LINE__, MPI_COMM_WORLD, "none", n > 1 ? "no parameters of this machine are known" : "all processes share a node");
    if (test_rank == 0) printf("skipped: the rest takes 4 processes\n");
    return test_finish();
  }
  /* the first half measures, the other half comes later */
  MPI_Comm half;
  int later = me >= n / 2, first_of_half;
  MPI_Comm_split(MPI_COMM_WORLD, later, me, &half);
  MPI_Comm_rank(half, &first_of_half);
  first_of_half = first_of_half == 0;
  char base[100], name[200], found[300], again[300], text[2000], *at;
  snprintf(base, sizeof base, "/tmp/mpix-learned-%ld", (long)getpid());
  MPI_Bcast(base, sizeof base, MPI_CHAR, 0, MPI_COMM_WORLD);
  struct stat before, after;

#define THEN MPI_Barrier(MPI_COMM_WORLD)
#define FIRST_HALF if (!later)
#define OTHER_HALF if (later)

  /* no folder: measured, kept, remembered */
  use_folder(base);
  FIRST_HALF {
    finds(__LINE__, half, NULL, "measured", found);
    contents(text);
    if (first_of_half) {
      CHECK(strstr(text, ", test 1\n# nodes: node#, node#; ") && strstr(text, "\n# end\n"), "%s", text);
      CHECK(stat(file(), &before) == 0, "%s", file());
    }
    /* again without a file: from memory */
    finds(__LINE__, half, NULL, "measured", again);
    CHECK(!strcmp(found, again), "%s, then %s", found, again);
    if (first_of_half) CHECK(stat(file(), &after) == 0 && before.st_ino == after.st_ino, "written twice");
    /* what is given counts, and measures nothing */
    says(__LINE__, half, "jaguar", "mpix_loggp = jaguar (info)");
    says(__LINE__, half, "none", "no parameters of this machine are known");
    /* unless it is to be measured: that is kept in its place */
    THEN;
    finds(__LINE__, half, "measure", "measured", found);
    if (first_of_half) CHECK(stat(file(), &after) == 0 && before.st_ino != after.st_ino, "not written");
  }
  OTHER_HALF THEN;
  THEN;
  /* a later program reads it */
  OTHER_HALF {
    finds(__LINE__, half, NULL, "measured by an earlier program", found);
    finds(__LINE__, half, NULL, "measured by an earlier program", again);
    CHECK(!strcmp(found, again), "%s, then %s", found, again);
  }
  THEN;
  /* files that do not count are replaced: cut off, of another MPI, empty, with other parameters
     than can be */
  for (int bad = 0; bad < 4; bad++) {
    if (me == 0) unlink(file());
    version++;
    THEN;
    FIRST_HALF finds(__LINE__, half, NULL, "measured", found);
    THEN;
    if (me == 0) {
      contents(text);
      at = strstr(text, bad == 0 ? "overhead" : bad == 1 ? ", test" : bad == 2 ? "#" : "gap_per_byte = ");
      CHECK(at, "%s", text);
      if (bad == 1) at[2] = 'T';
      else if (bad == 3) memcpy(at, "gap_per_byte = 0 #", 18);
      else *at = 0;
      write_contents(text);
    }
    THEN;
    OTHER_HALF finds(__LINE__, half, NULL, "measured", found);
    OTHER_HALF if (first_of_half) {
      contents(text);
      CHECK(strstr(text, ", test ") && strstr(text, "\n# end\n") && !strstr(text, "= 0 #"), "%s", text);
    }
    THEN;
  }
  /* processes with different files: that of process 0 counts */
  if (me == 0) unlink(file());
  version++;
  THEN;
  FIRST_HALF finds(__LINE__, half, NULL, "measured", found);
  THEN;
  contents(text);
  snprintf(name, sizeof name, "%s", strrchr(file(), '/'));
  THEN;
  char own[150], path[600];
  snprintf(own, sizeof own, "%s-%d", base, me);
  OTHER_HALF {
    use_folder(own);
    snprintf(path, sizeof path, "%s/mpix-neighbor", own);
    CHECK(mkdir(own, 0700) == 0 && mkdir(path, 0700) == 0, "%s", path);
    at = strstr(text, "latency = ");
    CHECK(at, "%s", text);
    FILE *f = fopen(strcat(path, name), "w");
    CHECK(f && fprintf(f, "%.*slatency = %d.5%s", (int)(at - text), text, 1000 + me, strchr(at, '\n')) > 0 && fclose(f) == 0, "%s", path);
    finds(__LINE__, half, NULL, "measured by an earlier program", found);
    snprintf(text, sizeof text, "mpix_loggp = L %d.5 us", 1000 + n / 2);
    CHECK(strstr(found, text), "%s, not %s", found, text);
    remove_folder(own);
  }
  THEN;
  /* where nothing can be written or read nothing is said, and the program goes on */
  static const char *const nowhere[] = {"/proc/none", "/dev/null", "relative", ""};
  for (size_t k = 0; k < sizeof nowhere / sizeof *nowhere; k++) {
    char home[300] = "";
    if (getenv("HOME")) snprintf(home, sizeof home, "%s", getenv("HOME"));
    use_folder(nowhere[k]);
    setenv("HOME", "/proc/none", 1);
    version++;
    finds(__LINE__, half, NULL, "measured", found);
    finds(__LINE__, half, NULL, "measured", again);
    CHECK(!strcmp(found, again), "%s, then %s", found, again);
    setenv("HOME", home, 1);
  }
  /* nothing is measured where nothing depends on it, or on one node, unless that is asked for */
  if (me == 0) remove_folder(base);
  THEN;
  version++;
  use_folder(base);
  apart = 0;
  /* the processes in another order: those in this one remember where they were */
  MPI_Comm reversed;
  MPI_Comm_split(half, 0, n - me, &reversed);
  says(__LINE__, reversed, NULL, "all processes share a node");
  /* whatever comes out of that on a busy node */
  says(__LINE__, reversed, "measure", "mpix_loggp = ");
  says(__LINE__, reversed, NULL, "all processes share a node");
  MPI_Comm_free(&reversed);
  CHECK(!*file(), "%s: kept, though it was measured on one node", file());
  THEN;
  MPI_Comm_free(&half);
  return test_finish();
}
