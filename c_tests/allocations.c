/* No allocation in the steady state: counts the calls of malloc and its kin that come from our library, by their return address, while
   collectives run again and again with changing buffers and counts. */
#define _GNU_SOURCE
#include "test.h"
#include <dlfcn.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static int counting, ours, all;

static void count(void *caller) {
  if (!counting) return;
  all++;
  /* dladdr must not count itself */
  counting = 0;
  Dl_info where;
  if (dladdr(caller, &where) && where.dli_fname && strstr(where.dli_fname, "mpix_neighbor")) ours++;
  counting = 1;
}

void *malloc(size_t size) {
  count(__builtin_return_address(0));
  return __libc_malloc(size);
}
void *calloc(size_t n, size_t size) {
  count(__builtin_return_address(0));
  return __libc_calloc(n, size);
}
void *realloc(void *old, size_t size) {
  count(__builtin_return_address(0));
  return __libc_realloc(old, size);
}
int posix_memalign(void **result, size_t alignment, size_t size) {
  count(__builtin_return_address(0));
  *result = __libc_memalign(alignment, size);
  return *result ? 0 : 12;
}

static void compose(void *in, void *inout, int *length, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *length; i++) ((int *)inout)[i] = ((int *)in)[i] * 3 + ((int *)inout)[i];
}

/* along a tree packets are put together, passed on and taken apart in kept buffers; the hub's blocks have holes */
static void trees(MPI_Datatype strided) {
  enum { MOST = 600 };
  int hub = 0, out = test_rank == 0 ? test_size : 0, all_ranks[test_size];
  int *send = calloc((size_t)4 * MOST * (test_size + 1), sizeof(int)), have[MOST];
  for (int r = 0; r < test_size; r++) all_ranks[r] = r;
  unsetenv("MPIX_SCHEDULE");
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_schedule", "scatter_binomial");
  MPI_Info_set(info, "mpix_whole_communicator", "true");
  OK(MPIX_Neighbor_alltoall_set(1, &hub, MPI_UNWEIGHTED, out, all_ranks, MPI_UNWEIGHTED, info, MPI_COMM_WORLD));
  ours = all = 0;
  for (int round = 0; round < 60; round++) {
    counting = round >= 10;
    int k = round < 2 ? MOST / 2 : 1 + round % 7 * 20;
    OK(MPIX_Neighbor_alltoall(send + round % 3, k, strided, have, 2 * k, MPI_INT, MPI_COMM_WORLD));
    counting = 0;
  }
  CHECK(ours == 0, "%d allocations in 50 rounds along a tree", ours);
  MPI_Info_free(&info);
  free(send);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  int me = test_rank;
  graph g = graph_random(test_size, 4 * test_size, 42);
  int in = g.indegree[me], out = g.outdegree[me];
  enum { MOST = 512 };
  int *send = malloc(sizeof(int) * 2 * MOST * (out + 2)), *have = malloc(sizeof(int) * 2 * MOST * (in + 2));
  int scounts[out + 1], rcounts[in + 1], sdispls[out + 1], rdispls[in + 1];
  MPI_Aint sbytes[out + 1], rbytes[in + 1];
  MPI_Datatype stypes[out + 1], rtypes[in + 1], strided;
  MPI_Type_vector(2, 1, 2, MPI_INT, &strided);
  MPI_Type_commit(&strided);
  MPI_Op op;
  MPI_Op_create(compose, 0, &op);
  for (int i = 0; i < 2 * MOST * (out + 2); i++) send[i] = i;
  counting = 1;
  graph_set(&g, ALL_OPERATIONS, MPI_INFO_NULL, MPI_COMM_WORLD);
  counting = 0;
  /* the counter sees what it should: setting a neighborhood allocates, in our library */
  CHECK(ours > 0, "the counter does not see our allocations");
  ours = all = 0;
  for (int round = 0; round < 60; round++) {
    counting = round >= 10;
    /* the largest blocks come in the first rounds */
    int k = round < 2 ? MOST / 2 : 1 + round % 7 * 20, offset = round % 3;
    for (int i = 0; i < out; i++) scounts[i] = k, sdispls[i] = i * k, sbytes[i] = 4 * 2 * k * i, stypes[i] = MPI_INT;
    for (int j = 0; j < in; j++) rcounts[j] = k, rdispls[j] = j * k, rbytes[j] = 4 * 2 * k * j, rtypes[j] = MPI_INT;
    OK(MPIX_Neighbor_gather(send + offset, k, MPI_INT, have, k, MPI_INT, MPI_COMM_WORLD));
    OK(MPIX_Neighbor_alltoall(send + offset, k, MPI_INT, have, k, MPI_INT, MPI_COMM_WORLD));
    OK(MPIX_Neighbor_alltoallv(send, scounts, sdispls, MPI_INT, have, rcounts, rdispls, MPI_INT, MPI_COMM_WORLD));
    OK(MPIX_Neighbor_reduce(send, k, MPI_INT, have, k, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    OK(MPIX_Neighbor_reduce(send, k, MPI_INT, have, k, MPI_INT, op, MPI_COMM_WORLD));
    /* self edges between different layouts need a buffer, which is kept; strided blocks that are sent in parts too */
    for (int i = 0; i < out; i++) stypes[i] = strided, scounts[i] = k / 2;
    for (int j = 0; j < in; j++) rcounts[j] = k / 2 * 2;
    OK(MPIX_Neighbor_alltoallw(send, scounts, sbytes, stypes, have, rcounts, rbytes, rtypes, MPI_COMM_WORLD));
    counting = 0;
  }
  CHECK(ours == 0, "%d allocations in 50 rounds", ours);
  if (me == 0) printf("allocations in 50 steady rounds: %d by this library, %d by MPI\n", ours, all - ours);
  free(send), free(have);
  trees(strided);
  MPI_Type_free(&strided);
  MPI_Op_free(&op);
  graph_free(&g);
  return test_finish();
}
