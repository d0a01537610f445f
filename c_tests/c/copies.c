/* From how many bytes on messages between processes of a node are copied once: found in a file that
   an earlier program has left, measured and kept, or given. Counts the copies: the program's own
   `process_vm_readv` stands before the system's.

   TEST_KEPT: there is a file; else there is none, and what is measured is kept. Whether it can be
   measured depends on the cores and on other programs. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "test.h"

enum { FROM = 123456, MOST = 2 * FROM, FILES = 64 };

static int me, n, copies, permitted;
static char folder[300];

ssize_t process_vm_readv(pid_t process, const struct iovec *here, unsigned long heres, const struct iovec *there, unsigned long theres, unsigned long flags) {
  Dl_info info;
  /* without the one that tries what is permitted */
  copies += there->iov_len > 8 && dladdr(__builtin_return_address(0), &info) && info.dli_fname && strstr(info.dli_fname, "mpix_neighbor");
  return syscall(SYS_process_vm_readv, process, here, heres, there, theres, flags);
}

static char value(int from, int i, int bytes) { return (char)(from * 7 + i * 13 + bytes); }

/* A neighborhood on a ring with this hint; its description. */
static const char *set(const char *hint, MPI_Comm *comm) {
  int left = (me + n - 1) % n, right = (me + 1) % n;
  MPI_Info info = hint ? test_hint("mpix_single_copy", hint) : MPI_INFO_NULL;
  *comm = test_duplicate();
  OK(MPIX_Neighborhood_set(ALL_OPERATIONS, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, info, *comm));
  if (hint) MPI_Info_free(&info);
  return test_described(MPIX_NEIGHBOR_ALLTOALL, *comm);
}

static void says(int line, const char *text, const char *expected) { CHECK(strstr(text, expected), "line %d: \"%s\" does not hold \"%s\"", line, text, expected); }

/* Exchanges messages of some bytes, blocking and started; they are copied from the sender's memory
   or not. */
static void exchange(int line, MPI_Comm comm, int bytes, int once) {
  static char send[MOST], have[MOST];
  int left = (me + n - 1) % n, wrong = 0;
  for (int form = 0; form < 2; form++) {
    MPIX_Request r;
    for (int i = 0; i < bytes; i++) send[i] = value(me, i, bytes + form), have[i] = 0;
    copies = 0;
    if (form == 0) {
      OK(MPIX_Neighbor_alltoall(send, bytes, MPI_CHAR, have, bytes, MPI_CHAR, comm));
    } else {
      OK(MPIX_Ineighbor_alltoall(send, bytes, MPI_CHAR, have, bytes, MPI_CHAR, comm, &r));
      OK(MPIX_Request_wait(&r));
    }
    for (int i = 0; i < bytes; i++) wrong += have[i] != value(left, i, bytes + form);
    CHECK(wrong == 0, "line %d: %d bytes, form %d: %d are wrong", line, bytes, form, wrong);
    /* none, too, where a process is kept from its core for so long that the message is withdrawn */
    CHECK(once || copies == 0, "line %d: %d bytes, form %d: %d single copies", line, bytes, form, copies);
    if (once && permitted) CHECK(copies <= 1, "line %d: %d bytes, form %d: %d single copies", line, bytes, form, copies);
    static int all;
    all += copies;
    if (once && permitted && form == 1) CHECK(all > 0, "line %d: no single copies", line);
  }
}

/* a file in the folder of what is kept */
static FILE *file(int k, const char *mode) {
  char path[400];
  snprintf(path, sizeof path, "%s/mpix-neighbor/copies-%d", folder, k);
  return fopen(path, mode);
}

/* Writes all files that there may be, for this node. */
static void keep(void) {
  char name[MPI_MAX_PROCESSOR_NAME + 1], pattern[MPI_MAX_PROCESSOR_NAME + 1], *to = pattern;
  int length;
  MPI_Get_processor_name(name, &length);
  name[length] = 0, name[strcspn(name, ".")] = 0;
  for (const char *c = name; *c; c++) {
    int digit = *c >= '0' && *c <= '9';
    if (!digit || to == pattern || to[-1] != '#') *to++ = digit ? '#' : *c;
  }
  *to = 0;
  for (int k = 0; k < FILES; k++) {
    FILE *f = file(k, "w");
    CHECK(f && fprintf(f, "# node: %s\n# two copies: by ordinary or streaming stores, in chunks of 256 KiB\nsingle_copy = %d\n# end\n", pattern, FROM) > 0 && fclose(f) == 0, "file %d", k);
  }
}

/* How many files there are; the text of the last one. */
static int kept(char text[1000]) {
  int files = 0;
  for (int k = 0; k < FILES; k++) {
    FILE *f = file(k, "r");
    if (!f) continue;
    text[fread(text, 1, 999, f)] = 0;
    fclose(f), files++;
  }
  return files;
}

static void remove_all(void) {
  char path[400];
  for (int k = 0; k < FILES; k++) {
    snprintf(path, sizeof path, "%s/mpix-neighbor/copies-%d", folder, k);
    unlink(path);
  }
  snprintf(path, sizeof path, "%s/mpix-neighbor", folder);
  rmdir(path), rmdir(folder);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  me = test_rank, n = test_size;
  alarm(100);
  unsetenv("MPIX_SINGLE_COPY");
  uint64_t word = 7, copy = 0;
  struct iovec from = {&word, 8}, into = {&copy, 8};
  permitted = syscall(SYS_process_vm_readv, getpid(), &into, 1, &from, 1, 0) == 8;
  snprintf(folder, sizeof folder, "/tmp/mpix-copies-%ld", (long)getpid());
  MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
  setenv("XDG_CACHE_HOME", folder, 1);
  char below[400], content[1000], expected[100], first[4000];
  snprintf(below, sizeof below, "%s/mpix-neighbor", folder);
  MPI_Comm comm;
  if (getenv("TEST_KEPT")) {
    if (me == 0) {
      CHECK(mkdir(folder, 0700) == 0 && mkdir(below, 0700) == 0, "%s", below);
      keep();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int again = 0; again < 2; again++) {
      const char *text = set(again ? "auto" : NULL, &comm);
      says(__LINE__, text, "mpix_single_copy = 123456 (measured by an earlier program)");
      if (permitted) says(__LINE__, text, "messages above 120 KiB: copied from the sender's memory");
      exchange(__LINE__, comm, FROM, 1);
      exchange(__LINE__, comm, FROM - 1, 0);
      exchange(__LINE__, comm, MOST, 1);
      MPI_Comm_free(&comm);
      /* what is remembered counts */
      MPI_Barrier(MPI_COMM_WORLD);
      if (me == 0) remove_all();
    }
  } else {
    const char *text = set(NULL, &comm), *at = strstr(text, "mpix_single_copy = ");
    memcpy(first, text, sizeof first);
    at = strstr(first, "mpix_single_copy = ");
    CHECK(at, "%s", first);
    if (me == 0) {
      int files = kept(content), measured = strstr(at, "(measured)") && strcspn(at, ")") < 60;
      CHECK(files == measured, "%d files, and: %s", files, first);
      if (measured) {
        snprintf(expected, sizeof expected, "\nsingle_copy = %.*s ", (int)strcspn(at + 19, " "), at + 19);
        says(__LINE__, content, expected);
        says(__LINE__, content, "\n# node: ");
        says(__LINE__, content, "\n# end\n");
      } else {
        printf("skipped: it was not measured here\n");
      }
    }
    /* the same on all processes */
    snprintf(content, sizeof content, "%.*s", (int)strcspn(at, ")"), at);
    snprintf(expected, sizeof expected, "%.90s", content);
    MPI_Bcast(expected, sizeof expected, MPI_CHAR, 0, MPI_COMM_WORLD);
    CHECK(!strncmp(expected, content, 90), "\"%s\" here, \"%s\" on process 0", content, expected);
    MPI_Comm_free(&comm);
    if (me == 0) remove_all();
  }
  /* what is given counts */
  says(__LINE__, set("false", &comm), "mpix_single_copy = false (info)");
  exchange(__LINE__, comm, MOST, 0);
  MPI_Comm_free(&comm);
  says(__LINE__, set("true", &comm), "mpix_single_copy = true (info)");
  exchange(__LINE__, comm, MOST, 0);
  MPI_Comm_free(&comm);
  says(__LINE__, set("200000", &comm), "mpix_single_copy = 200000 (info)");
  exchange(__LINE__, comm, 199999, 0);
  exchange(__LINE__, comm, 200000, 1);
  MPI_Comm_free(&comm);
  return test_finish();
}
