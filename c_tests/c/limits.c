/* Limits of a process: file sizes, open files, memory. Calls then work without shared memory, on
   all processes together, and nobody waits for one that has reached a limit. Names of parameter
   files that are none: devices, pipes, directories, secrets. TEST_NO_MEMFD: there are no files
   without names. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flaws.h"
#include "no_memfd.h"
#include "test.h"

static int me, n;

static int set(MPI_Info info, MPI_Comm comm) {
  int right = (me + 1) % n, left = (me + n - 1) % n;
  return MPIX_Neighborhood_set(ALL_OPERATIONS, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, info, comm);
}

/* whether neighbors share memory; data of all lengths arrive */
static int shares(const char *what, MPI_Comm comm) {
  enum { LONG = 300000 };
  static char send[LONG], have[LONG];
  int left = (me + n - 1) % n;
  for (int bytes = 1; bytes <= LONG; bytes += LONG / 3) {
    memset(send, 'a' + me, sizeof send);
    memset(have, 0, sizeof have);
    OK(MPIX_Neighbor_alltoall(send, bytes, MPI_BYTE, have, bytes, MPI_BYTE, comm));
    CHECK(have[0] == 'a' + left && have[bytes - 1] == 'a' + left, "%s: %d bytes: %d", what, bytes, have[0]);
  }
  return strstr(test_described(MPIX_NEIGHBOR_ALLTOALL, comm), "shared memory: none") == NULL;
}

/* a sparse exchange with the right neighbor */
static int exchange(MPI_Info info, MPI_Comm comm) {
  int right = (me + 1) % n, one = 1, at = 0, count = -1;
  MPI_Count elements;
  MPIX_Sparse_result result = NULL;
  int code = MPIX_Sparse_exchange(1, &right, &me, &one, &at, MPI_INT, MPI_INT, info, comm, &result);
  if (code != MPI_SUCCESS) return code;
  OK(MPIX_Sparse_get_count(result, &count, &elements));
  CHECK(count == 1, "%d messages", count);
  OK(MPIX_Sparse_free(&result));
  return code;
}

/* lowers a limit and returns what it was before */
static struct rlimit lower(int resource, rlim_t value) {
  struct rlimit before, now;
  getrlimit(resource, &before);
  now = before;
  now.rlim_cur = value;
  CHECK(setrlimit(resource, &now) == 0, "a limit cannot be set");
  return before;
}

/* opens files until there is no more descriptor */
static int exhaust(int *files, int most) {
  int count = 0;
  while (count < most && (files[count] = open("/dev/null", O_RDONLY)) >= 0) count++;
  CHECK(count < most && errno == EMFILE, "%d files are open", count);
  return count;
}

static rlim_t address_space(void) {
  unsigned long pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  CHECK(f && fscanf(f, "%lu", &pages) == 1, "no /proc/self/statm");
  if (f) fclose(f);
  return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* Communicators whose neighborhoods share memory. A freed one would leave its memory to the next,
   which then needs none where a limit has been reached. */
static MPI_Comm holding[100];
static int held;

static void hold(MPI_Comm comm) { holding[held++] = comm; }

/* takes what communicators that have been freed have left */
static void take_all(void) {
  enum { MOST = 10 };
  for (int k = 0; k < MOST; k++) {
    MPI_Comm comm = test_duplicate();
    OK(set(MPI_INFO_NULL, comm));
    hold(comm);
  }
}

enum limit { FILE_SIZE, FILES, MEMORY, LIMITS };
static const char *NAMES[LIMITS] = {"file size", "open files", "memory"};

/* a set call and a sparse exchange on new communicators while some processes are at a limit: no
   error, and where `falls_back` no process shares memory */
static void at_limit(enum limit limit, int limited, int falls_back, const char *who) {
  static int files[5000];
  char what[100];
  int count = 0;
  struct rlimit before = {0, 0}, few = {0, 0};
  MPI_Comm comm = test_duplicate(), other = test_duplicate();
  MPI_Info info = MPI_INFO_NULL;
  snprintf(what, sizeof what, "%s, %s", NAMES[limit], who);
  if (limit == MEMORY) {
    /* much more than MPI itself may want meanwhile */
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_shared_memory", "134217728");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (limited) {
    if (limit == FILE_SIZE) before = lower(RLIMIT_FSIZE, 4096);
    if (limit == MEMORY) before = lower(RLIMIT_AS, address_space() + (64 << 20));
    if (limit == FILES) few = lower(RLIMIT_NOFILE, 4000), count = exhaust(files, 5000);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  OK(set(info, comm));
  int shared = shares(what, comm);
  OK(exchange(MPI_INFO_NULL, other));
  MPI_Barrier(MPI_COMM_WORLD);
  if (limited) {
    if (limit == FILE_SIZE) setrlimit(RLIMIT_FSIZE, &before);
    if (limit == MEMORY) setrlimit(RLIMIT_AS, &before);
    if (limit == FILES) {
      for (int k = 0; k < count; k++) close(files[k]);
      setrlimit(RLIMIT_NOFILE, &few);
    }
  }
  CHECK(!falls_back || !shared, "%s: memory is shared", what);
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  if (shared) hold(comm);
  else MPI_Comm_free(&comm);
  MPI_Comm_free(&other);
  /* and afterwards it is as before */
  comm = test_duplicate();
  OK(set(MPI_INFO_NULL, comm));
  shared = shares(what, comm);
  CHECK(shared == (n > 1), "%s: afterwards memory is %sshared", what, shared ? "" : "not ");
  hold(comm);
}

static void limits(void) {
  take_all();
  if (me == 0 && n > 1 && is_mpich_5()) printf("skipped: file sizes, as this MPI is known to be wrong\n");
  for (int limit = n > 1 && is_mpich_5() ? FILE_SIZE + 1 : 0; limit < LIMITS; limit++) {
    at_limit(limit, 1, 1, "all processes");
    at_limit(limit, me == 0, 1, "process 0");
    /* whoever only opens a file needs no room in it */
    at_limit(limit, me == n - 1, limit != FILE_SIZE, "the last process");
  }
  while (held > 0) MPI_Comm_free(&holding[--held]);
}

/* a neighborhood that wants too much has no shared memory; a later one that wants less has, and one
   on another communicator of the same processes */
static void smaller(void) {
  take_all();
  MPI_Comm comm = test_duplicate(), other = test_duplicate();
  MPI_Info info;
  MPI_Info_create(&info);
  struct rlimit before = lower(RLIMIT_FSIZE, 4 << 20);
  MPI_Barrier(MPI_COMM_WORLD);
  OK(set(MPI_INFO_NULL, comm));
  CHECK(!shares("too much", comm), "too much memory is shared");
  MPI_Info_set(info, "mpix_shared_memory", "65536");
  for (int k = 0; k < 2; k++) {
    OK(set(info, k ? other : comm));
    CHECK(shares("less", k ? other : comm) == (n > 1), "%d: after too much, less is not shared", k);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  setrlimit(RLIMIT_FSIZE, &before);
  MPI_Info_free(&info);
  MPI_Comm_free(&comm), MPI_Comm_free(&other);
  while (held > 0) MPI_Comm_free(&holding[--held]);
}

/* the segment can be neither cut off under its readers, nor made longer */
static void sealed(void) {
  int seen = 0;
  MPI_Comm comm = test_duplicate();
  OK(set(MPI_INFO_NULL, comm));
  for (int fd = 0; fd < 1000; fd++) {
    char path[64], link[256] = "";
    struct stat status;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (readlink(path, link, sizeof link - 1) < 0 || !strstr(link, "memfd:mpix-neighbor")) continue;
    seen++;
    int wanted = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL, seals = fcntl(fd, F_GET_SEALS);
    CHECK((seals & wanted) == wanted, "seals %x", seals);
    CHECK(fstat(fd, &status) == 0 && status.st_size > 0, "no length");
    CHECK(ftruncate(fd, 0) == -1 && errno == EPERM, "it can be cut off");
    CHECK(ftruncate(fd, status.st_size * 2) == -1 && errno == EPERM, "it can be made longer");
  }
  /* those of communicators that have been freed are among them */
  CHECK(n > 1 ? seen > 0 : seen == 0, "%d segments", seen);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(shares("sealed", comm) == (n > 1), "sharing");
  MPI_Comm_free(&comm);
}

/* a call failed on all processes with this text; `text` of the process that is in error */
static void refused(int code, MPI_Comm comm, const char *what, const char *text) {
  int class = -1, length = -1;
  char have[1000] = "";
  MPI_Error_class(code, &class);
  OK(MPIX_Neighbor_error_string(comm, sizeof have, have, &length));
  CHECK(class == MPI_ERR_INFO_VALUE, "%s: class %d: %s", what, class, have);
  CHECK(strstr(have, text), "%s: \"%s\" does not hold \"%s\"", what, have, text);
  CHECK(!strstr(have, "SECRET"), "%s: %s", what, have);
}

static char directory[100];

static const char *in_directory(const char *name) {
  static char path[200];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  return path;
}

static void write_file(const char *name, const char *text) {
  FILE *f = fopen(in_directory(name), "w");
  CHECK(f && fputs(text, f) >= 0, "%s cannot be written", name);
  if (f) fclose(f);
}

static const char *GOOD = "latency = 1\noverhead = 1\ngap = 1\ngap_per_byte = 0.001\neager = 1000\n";

/* names of parameter files that are none, by info key and by environment, on one process or all of
   them */
static void files(void) {
  if (me == 0) {
    char huge[200];
    strcpy(directory, "/tmp/mpix-limits-XXXXXX");
    CHECK(mkdtemp(directory), "no directory");
    CHECK(mkfifo(in_directory("fifo"), 0600) == 0, "no FIFO");
    strcpy(huge, in_directory("huge"));
    int file = open(huge, O_CREAT | O_WRONLY, 0600);
    CHECK(file >= 0 && ftruncate(file, 1 << 30) == 0, "no huge file");
    close(file);
    write_file("form", "root:SECRET:19000:0:99999:7:::\n");
    write_file("key", "# one\nSECRET = 5\n");
    write_file("value", "latency = 1\ngap = SECRET\n");
    mkdir(in_directory("mpix-neighbor"), 0700);
    write_file("mpix-neighbor/loggp", GOOD);
  }
  MPI_Bcast(directory, sizeof directory, MPI_CHAR, 0, MPI_COMM_WORLD);
  struct {
    const char *name, *text;
  } wrong[] = {
    {"/dev/zero", "cannot be read: it is not a regular file"},
    {"fifo", "cannot be read: it is not a regular file"},
    {"", "cannot be read: it is a directory"},
    {"huge", "cannot be read: it is larger than 65536 bytes"},
    {"form", "is no file of LogGP parameters: line 1 is not of the form key = value"},
    {"key", "is no file of LogGP parameters: line 2 is of none of the parameters"},
    {"value", "is no file of LogGP parameters: line 2: gap is not a finite number of at least 0"},
    {"nowhere", "No such file or directory"},
  };
  MPI_Comm comm = test_duplicate();
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    for (int all = 0; all < 2; all++) {
      int mine = all || me == n - 1;
      const char *name = wrong[k].name[0] == '/' ? wrong[k].name : in_directory(wrong[k].name);
      MPI_Info info;
      MPI_Info_create(&info);
      if (mine) MPI_Info_set(info, "mpix_loggp", name);
      refused(set(info, comm), comm, name, wrong[k].text);
      MPI_Info_free(&info);
      if (mine) setenv("MPIX_LOGGP", name, 1);
      refused(set(MPI_INFO_NULL, comm), comm, name, wrong[k].text);
      MPI_Comm sparse = test_duplicate();
      refused(exchange(MPI_INFO_NULL, sparse), sparse, name, wrong[k].text);
      MPI_Comm_free(&sparse);
      unsetenv("MPIX_LOGGP");
      if (mine) setenv("MPIX_LOGGP_FILE", name, 1);
      refused(set(MPI_INFO_NULL, comm), comm, name, wrong[k].text);
      unsetenv("MPIX_LOGGP_FILE");
    }
  }
  /* a file that there is cannot be opened: that, and not that there is none, is what the error
     says */
  static int open_files[5000];
  char usual[200];
  snprintf(usual, sizeof usual, "%s", getenv("XDG_CONFIG_HOME") ? getenv("XDG_CONFIG_HOME") : "/nowhere");
  setenv("XDG_CONFIG_HOME", directory, 1);
  for (int all = 0; all < 2; all++) {
    int mine = all || me == n - 1;
    struct rlimit few = lower(RLIMIT_NOFILE, 4000);
    int count = mine ? exhaust(open_files, 5000) : 0;
    MPI_Barrier(MPI_COMM_WORLD);
    refused(set(MPI_INFO_NULL, comm), comm, "a site's file without descriptors", "mpix-neighbor/loggp cannot be read: Too many open files");
    MPI_Barrier(MPI_COMM_WORLD);
    for (int k = 0; k < count; k++) close(open_files[k]);
    setrlimit(RLIMIT_NOFILE, &few);
  }
  OK(set(MPI_INFO_NULL, comm));
  CHECK(shares("a site's file", comm) == (n > 1), "sharing");
  setenv("XDG_CONFIG_HOME", usual, 1);
  MPI_Comm_free(&comm);
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == 0) {
    const char *made[] = {"fifo", "huge", "form", "key", "value", "mpix-neighbor/loggp", "mpix-neighbor", ""};
    for (size_t k = 0; k < sizeof made / sizeof *made; k++) CHECK(remove(in_directory(made[k])) == 0, "%s stays", made[k]);
  }
}

/* many neighborhoods at once leave the program a quarter of the files that it may open */
static void spare(void) {
  enum { FILES_AT_MOST = 256, SETS = 220, OWN = FILES_AT_MOST / 4 };
  static MPI_Comm comms[SETS];
  static int files[FILES_AT_MOST];
  struct rlimit before = lower(RLIMIT_NOFILE, FILES_AT_MOST);
  int shared = 0;
  for (int k = 0; k < SETS; k++) {
    comms[k] = test_duplicate();
    OK(set(MPI_INFO_NULL, comms[k]));
    if (k % 10 == 0 || k == SETS - 1) shared = shares("many neighborhoods", comms[k]);
    CHECK(k > 0 || shared == (n > 1), "the first neighborhood shares %d", shared);
  }
  CHECK(!shared, "all share memory");
  int count = exhaust(files, FILES_AT_MOST);
  CHECK(n == 1 || (count >= OWN - 4 && count <= OWN + 40), "the program may open %d files", count);
  for (int k = 0; k < count; k++) close(files[k]);
  for (int k = 0; k < SETS; k++) MPI_Comm_free(&comms[k]);
  setrlimit(RLIMIT_NOFILE, &before);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  me = test_rank, n = test_size;
  /* whatever hangs here would do so for ever */
  alarm(100);
  limits();
  smaller();
  if (!getenv("TEST_NO_MEMFD")) sealed();
  files();
  /* files with names are as large as said from the beginning */
  if (!getenv("TEST_NO_MEMFD")) spare();
  return test_finish();
}
