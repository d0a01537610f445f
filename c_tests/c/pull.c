/* Long messages that receivers copy from the sender's memory, where the kernel fails them: at once,
   in the middle, or with fewer bytes than asked for, in all forms and operations, between blocks
   that are contiguous and such that are not. And send buffers that can only be read. The program's
   own `process_vm_readv` stands before the system's.

   TEST_FORBIDDEN: no process may read the memory of another one; everything works as well. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "test.h"

enum { PASS, REFUSE, REFUSE_LATER, SHORTEN, WAYS };
enum { BLOCKING, STARTED, PLANNED, FORMS };
enum { VECTOR, STRIDED_OUT, STRIDED_IN, TWO_BLOCKS, GATHER, REDUCE, ACCUMULATE, CASES };
enum { INTS = (3 << 20) / 4 + 3, WORD = sizeof(uint64_t) };

static int me, n, left, right, way, copies, all_copies, forbidden;
static MPI_Comm comm;

/* whether an address of code is the library's */
static int is_ours(void *at) {
  Dl_info info;
  return dladdr(at, &info) && info.dli_fname && strstr(info.dli_fname, "mpix_neighbor");
}

/* how many bytes long spans of memory are */
static size_t total(const struct iovec *spans, unsigned long count) {
  size_t bytes = 0;
  for (unsigned long k = 0; k < count; k++) bytes += spans[k].iov_len;
  return bytes;
}

/* the first copies of a call fail or end early; those of the MPI pass */
ssize_t process_vm_readv(pid_t process, const struct iovec *here, unsigned long heres, const struct iovec *there, unsigned long theres, unsigned long flags) {
  struct iovec first;
  size_t bytes = total(there, theres);
  int ours = is_ours(__builtin_return_address(0));
  if (ours && forbidden) return errno = EPERM, -1;
  /* without the one that tries what is permitted */
  if (ours && bytes > WORD) {
    copies++, all_copies++;
    if (way == REFUSE || (way == REFUSE_LATER && copies == 2)) return way = PASS, errno = EFAULT, -1;
    if (way == SHORTEN && copies % 2) {
      first = there[0], first.iov_len = first.iov_len / 2 + 1;
      there = &first, theres = 1;
    }
  }
  return syscall(SYS_process_vm_readv, process, here, heres, there, theres, flags);
}

static int value(int from, int block, int i, int call) { return (int)((unsigned)from * 1000003u + (unsigned)block * 777767u + (unsigned)i * 13u + (unsigned)call * 101u); }

/* runs a collective in its form; `name` with the operation's arguments but for the communicator */
#define RUN(name, ...)                                                                     \
  do {                                                                                     \
    MPIX_Request r;                                                                        \
    if (form == BLOCKING) {                                                                \
      OK(MPIX_Neighbor_##name(__VA_ARGS__, comm));                                         \
    } else if (form == STARTED) {                                                          \
      OK(MPIX_Ineighbor_##name(__VA_ARGS__, comm, &r));                                    \
      OK(MPIX_Request_wait(&r));                                                           \
    } else {                                                                               \
      OK(MPIX_Neighbor_##name##_plan(__VA_ARGS__, comm, MPI_INFO_NULL, &r));               \
      for (int start = 0; start < 2; start++) {                                            \
        OK(MPIX_Request_start(&r));                                                        \
        OK(MPIX_Request_wait(&r));                                                         \
      }                                                                                    \
      OK(MPIX_Request_free(&r));                                                           \
    }                                                                                      \
  } while (0)

static void one(int what, int form, const int *send, int *have, int call) {
  static const char *const names[] = {"contiguous", "strided to contiguous", "contiguous to strided", "two blocks", "gather", "reduce", "accumulate"};
  int counts[2] = {INTS, what == TWO_BLOCKS ? INTS / 2 : INTS}, ones[2] = {1, 1};
  MPI_Aint from[2] = {0, 4 * (MPI_Aint)(2 * INTS + 5)}, to[2] = {4 * (MPI_Aint)(2 * INTS + 9), 0};
  MPI_Datatype strided, ints[2] = {MPI_INT, MPI_INT}, strides[2];
  MPI_Type_vector(INTS, 1, 2, MPI_INT, &strided);
  MPI_Type_commit(&strided);
  strides[0] = strides[1] = strided;
  int begun = way;
  copies = 0;
  for (int i = 0; i < 4 * INTS + 20; i++) have[i] = what == ACCUMULATE ? 5 : -1;
  switch (what) {
    case VECTOR: RUN(alltoallw, send, counts, from, ints, have, counts, to, ints); break;
    case STRIDED_OUT: RUN(alltoallw, send, ones, from, strides, have, counts, to, ints); break;
    case STRIDED_IN: RUN(alltoallw, send, counts, from, ints, have, ones, to, strides); break;
    case TWO_BLOCKS: RUN(alltoallw, send, counts, from, ints, have, counts, to, ints); break;
    case GATHER: RUN(gather, send, INTS, MPI_INT, have, INTS, MPI_INT); break;
    case REDUCE: RUN(reduce, send, INTS, MPI_INT, have, INTS, MPI_INT, MPI_BXOR); break;
    default: RUN(accumulate, send, INTS, MPI_INT, have, INTS, MPI_INT, MPI_SUM);
  }
  int sources[2] = {left, right}, wrong = 0;
  for (int b = 0; b < 2; b++) {
    int source = sources[b];
    for (int i = 0; i < counts[b]; i++) {
      int stride = what == STRIDED_OUT ? 2 : 1, got, want = value(source, 0, i, call);
      if (what < GATHER) {
        want = value(source, 0, (int)(from[b] / 4) + i * stride, call);
        got = have[to[b] / 4 + (what == STRIDED_IN ? 2 * i : i)];
      } else if (what == GATHER) {
        got = have[b * INTS + i];
      } else if (what == REDUCE) {
        want ^= value(sources[1 - b], 0, i, call), got = have[i];
      } else {
        int starts = form == PLANNED ? 2 : 1;
        want = (int)(5u + (unsigned)starts * (unsigned)value(source, 0, i + b * INTS, call)), got = have[b * INTS + i];
      }
      wrong += got != want;
    }
  }
  CHECK(wrong == 0, "%s, form %d, way %d: %d ints are wrong", names[what], form, begun, wrong);
  MPI_Type_free(&strided);
}

/* a copy in a file, which must not be written */
static const int *read_only(const int *from, size_t bytes) {
  char name[] = "/tmp/mpix-neighbor-pull-XXXXXX";
  int file = mkstemp(name);
  unlink(name);
  CHECK(file >= 0 && write(file, from, bytes) == (ssize_t)bytes, "no file");
  void *at = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
  CHECK(at != MAP_FAILED, "no mapping");
  close(file);
  return at;
}

int main(int argc, char **argv) {
  forbidden = getenv("TEST_FORBIDDEN") != NULL;
  test_init(&argc, &argv);
  me = test_rank, n = test_size, left = (me + n - 1) % n, right = (me + 1) % n;
  alarm(100);
  char probe[2 * WORD] = "", copy[2 * WORD];
  struct iovec from = {probe, WORD}, into = {copy, WORD};
  if (!forbidden && syscall(SYS_process_vm_readv, getpid(), &into, 1, &from, 1, 0) != WORD) forbidden = 1;
  comm = test_duplicate();
  /* block 0 goes to the right and comes from the left, block 1 the other way */
  int sources[2] = {left, right}, targets[2] = {right, left};
  OK(MPIX_Neighborhood_set(ALL_OPERATIONS, 2, sources, MPI_UNWEIGHTED, 2, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
  const char *text = test_described(MPIX_NEIGHBOR_ALLTOALL, comm);
  CHECK((strstr(text, "copied from the sender's memory") == NULL) == forbidden, "%s", text);
  size_t bytes = sizeof(int) * (4 * (size_t)INTS + 20);
  int *send = malloc(bytes), *have = malloc(bytes), call = 0;
  for (int what = 0; what < CASES; what++)
    for (int form = 0; form < FORMS; form++)
      for (int first = 0; first < WAYS; first++) {
        call++;
        for (int i = 0; i < 4 * INTS + 20; i++) send[i] = value(me, 0, i, call);
        way = first;
        one(what, form, send, have, call);
        way = PASS;
      }
  for (int form = 0; form < FORMS; form++) {
    const int *mapped = read_only(send, bytes);
    one(VECTOR, form, mapped, have, call);
    munmap((void *)(uintptr_t)mapped, bytes);
  }
  /* not each time: a message that waits for long goes by MPI */
  CHECK(forbidden ? all_copies == 0 : all_copies > 0, "%d copies from the memory of senders", all_copies);
  free(send), free(have);
  MPI_Comm_free(&comm);
  return test_finish();
}
