/* Counts above INT_MAX. Signatures of more than 2 GiB come from a datatype whose elements all lie
   at the same place, so that little memory is touched; one transfer really fills more than 2 GiB
   where the machine has the memory. */
#define _GNU_SOURCE
#include "test.h"
#include <sys/mman.h>
#include <unistd.h>

static int me, n, left, right;

/* a large count of a small type: 2^31 + 4 elements, really moved by process 0 to its right
   neighbor */
static void really(void) {
  MPI_Count count = ((MPI_Count)1 << 31) + 4;
  int source = 0, target = n > 1 ? 1 : 0, in = me == target, out = me == source;
  MPI_Comm comm = test_duplicate();
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, in, &source, MPI_UNWEIGHTED, out, &target, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
  char *send = NULL, *have = NULL;
  int prot = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  if (out) {
    send = mmap(NULL, count, prot, flags, -1, 0);
    /* only what differs from zero takes memory */
    send[0] = 1, send[INT32_MAX] = 2, send[count - 1] = 3;
  }
  if (in) have = mmap(NULL, count, prot, flags, -1, 0);
  CHECK((!out || send != MAP_FAILED) && (!in || have != MAP_FAILED), "no memory");
  OK(MPIX_Neighbor_alltoall_c(send, count, MPI_BYTE, have, count, MPI_BYTE, comm));
  if (in) CHECK(have[0] == 1 && have[INT32_MAX] == 2 && have[count - 1] == 3 && have[count / 2] == 0, "large block: %d, %d, %d", have[0], have[INT32_MAX], have[count - 1]);
  /* in one of the runs: the block that comes takes as much memory as the result */
  if (n == 2 && !getenv("MPIX_SHARED_MEMORY")) {
    OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ACCUMULATE, in, &source, MPI_UNWEIGHTED, out, &target, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
    OK(MPIX_Neighbor_accumulate_c(send, count, MPI_SIGNED_CHAR, have, count, MPI_SIGNED_CHAR, MPI_SUM, comm));
    if (in) CHECK(have[0] == 2 && have[INT32_MAX] == 4 && have[count - 1] == 6 && have[count / 2] == 0, "large block added: %d, %d, %d", have[0], have[INT32_MAX], have[count - 1]);
  }
  if (send) munmap(send, count);
  if (have) munmap(have, count);
  MPI_Comm_free(&comm);
}

/* 2,049 elements of 1 MiB, all at the same place: a signature of more than 2 GiB in 1 MiB of
   memory; every element is written over the one before. Counts that fit in int, sizes that do
   not. */
static void repeated(MPI_Comm comm) {
  enum { MIB = 1 << 20, COUNT = 2049 };
  MPI_Datatype block, same;
  MPI_Type_contiguous(MIB, MPI_BYTE, &block);
  MPI_Type_create_resized(block, 0, 0, &same);
  MPI_Type_commit(&same);
  unsigned char *send = malloc(MIB), *have = malloc(MIB);
  for (int i = 0; i < MIB; i++) send[i] = (unsigned char)(mix2(me, i)), have[i] = 0;
  OK(MPIX_Neighbor_gather(send, COUNT, same, have, COUNT, same, comm));
  int bad = 0;
  for (int i = 0; i < MIB; i++) bad += have[i] != (unsigned char)mix2(left, i);
  CHECK(bad == 0, "%d bytes differ", bad);
  free(send), free(have);
  MPI_Type_free(&same);
  MPI_Type_free(&block);
}

/* large displacements: element 2^31 + 7 of an array of which only a few pages are touched */
static void far_away(MPI_Comm comm) {
  size_t length = ((size_t)1 << 34) + 4096;
  int64_t *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(memory != MAP_FAILED, "no address range");
  if (memory == MAP_FAILED) return;
  MPI_Count counts[1] = {3};
  MPI_Aint from[1] = {((MPI_Aint)1 << 31) + 7}, to[1] = {((MPI_Aint)1 << 31) + 107};
  for (int k = 0; k < 3; k++) memory[from[0] + k] = me * 10 + k;
  OK(MPIX_Neighbor_alltoallv_c(memory, counts, from, MPI_INT64_T, memory, counts, to, MPI_INT64_T, comm));
  for (int k = 0; k < 3; k++) CHECK(memory[to[0] + k] == left * 10 + k, "far element %d", k);
  munmap(memory, length);
}

/* a persistent call with more elements than fit in int, of a type without data, started again while
   other types come and go */
static void again(MPI_Comm comm) {
  MPI_Count count = (MPI_Count)INT32_MAX + 5;
  MPI_Datatype none, others[3];
  MPI_Type_contiguous(0, MPI_INT, &none);
  MPI_Type_commit(&none);
  int send[4] = {1, 2, 3, 4}, have[4] = {0, 0, 0, 0};
  MPIX_Request plan;
  OK(MPIX_Neighbor_alltoall_plan_c(send, count, none, have, count, none, comm, MPI_INFO_NULL, &plan));
  MPI_Type_free(&none);
  for (int run = 0; run < 4; run++) {
    OK(MPIX_Request_start(&plan));
    OK(MPIX_Request_wait(&plan));
    /* handles of freed types would come back as these */
    for (int k = 0; k < 3; k++) MPI_Type_contiguous(4, MPI_INT, &others[k]), MPI_Type_commit(&others[k]);
    OK(MPIX_Request_start(&plan));
    OK(MPIX_Request_wait(&plan));
    for (int k = 0; k < 3; k++) MPI_Type_free(&others[k]);
  }
  for (int k = 0; k < 4; k++) CHECK(have[k] == 0, "int %d was written: %d", k, have[k]);
  OK(MPIX_Request_free(&plan));
}

/* more elements without data than fit in int, and than fit in an int of chunks of INT_MAX */
static void without_data(MPI_Comm comm) {
  const MPI_Count many[3] = {(MPI_Count)INT32_MAX + 5, (MPI_Count)1 << 62, INT64_MAX};
  const MPI_Aint displs[1] = {0};
  MPI_Datatype none;
  /* a protocol that sends each message from where it is */
  MPI_Info info = test_hint("mpix_sparse", "nbx_probe");
  MPI_Type_contiguous(0, MPI_INT, &none);
  MPI_Type_commit(&none);
  for (int k = 0; k < 3; k++) {
    MPIX_Sparse_result result;
    MPI_Count elements;
    int messages;
    OK(MPIX_Sparse_exchange_c(1, &right, &me, &many[k], displs, none, MPI_INT, info, comm, &result));
    OK(MPIX_Sparse_get_count(result, &messages, &elements));
    CHECK(messages == 1 && elements == 0, "%d messages of %lld elements", messages, (long long)elements);
    OK(MPIX_Sparse_free(&result));
    OK(MPIX_Neighbor_alltoall_c(&me, many[k], none, &messages, many[k], none, comm));
    OK(MPIX_Neighbor_gather_c(&me, many[k], none, &messages, many[k], none, comm));
    CHECK(messages == 1, "elements without data have written %d", messages);
  }
  MPI_Info_free(&info);
  MPI_Type_free(&none);
}

/* a count whose bytes no memory holds is an error of all functions, whether the product wraps
   around or not, and nothing is moved */
static void refused(MPI_Comm comm, int code, const char *what, MPI_Count count) {
  int class, length;
  char text[MPI_MAX_ERROR_STRING] = "no error";
  MPI_Error_class(code, &class);
  /* MPI_Error_string has the text on Open MPI alone */
  if (code != MPI_SUCCESS) MPIX_Neighbor_error_string(comm, sizeof text, text, &length);
  CHECK(class == MPI_ERR_COUNT && strstr(text, "exceed the address range"), "%s, %lld elements: %d, %s", what, (long long)count, code, text);
}

static void too_large(MPI_Comm comm) {
  struct {
    MPI_Count count;
    MPI_Datatype type;
  } const cases[] = {{((MPI_Count)1 << 62) + 1, MPI_INT}, {INT64_MAX, MPI_DOUBLE}, {INT64_MAX, MPI_BYTE}, {((MPI_Count)1 << 62) + 1, MPI_BYTE}};
  MPI_Datatype derived;
  MPI_Type_vector(2, 1, 2, MPI_INT, &derived);
  MPI_Type_commit(&derived);
  double send[4] = {1, 2, 3, 4}, have[4];
  for (int k = 0; k < 6; k++) {
    MPI_Count count = cases[k % 4].count, counts[1] = {count};
    MPI_Datatype type = k < 4 ? cases[k].type : derived, types[1] = {type};
    MPI_Aint displs[1] = {0};
    MPIX_Request request;
    const void *sends[2] = {send, send};
    void *haves[2] = {have, have};
    MPI_Count two[2] = {count, count};
    MPI_Aint zero[2] = {0, 0};
    MPI_Datatype both[2] = {type, type};
    for (int i = 0; i < 4; i++) have[i] = -1;
    refused(comm, MPIX_Neighbor_alltoall_c(send, count, type, have, count, type, comm), "alltoall", count);
    refused(comm, MPIX_Neighbor_alltoallv_c(send, counts, displs, type, have, counts, displs, type, comm), "alltoallv", count);
    refused(comm, MPIX_Neighbor_alltoallw_c(send, counts, displs, types, have, counts, displs, types, comm), "alltoallw", count);
    refused(comm, MPIX_Neighbor_alltoallw_fields_c(2, sends, two, zero, both, haves, two, zero, both, comm), "fields", count);
    refused(comm, MPIX_Neighbor_gather_c(send, count, type, have, count, type, comm), "gather", count);
    refused(comm, MPIX_Neighbor_gatherv_c(send, count, type, have, counts, displs, type, comm), "gatherv", count);
    refused(comm, MPIX_Ineighbor_alltoall_c(send, count, type, have, count, type, comm, &request), "ialltoall", count);
    refused(comm, MPIX_Neighbor_gather_plan_c(send, count, type, have, count, type, comm, MPI_INFO_NULL, &request), "gather plan", count);
    if (k < 2) {
      refused(comm, MPIX_Neighbor_accumulate_c(send, count, type, have, count, type, MPI_SUM, comm), "accumulate", count);
      refused(comm, MPIX_Neighbor_accumulatev_c(send, counts, displs, type, have, counts, displs, type, MPI_SUM, comm), "accumulatev", count);
      refused(comm, MPIX_Neighbor_accumulatew_c(send, counts, displs, types, have, counts, displs, types, MPI_SUM, comm), "accumulatew", count);
      refused(comm, MPIX_Ineighbor_accumulate_c(send, count, type, have, count, type, MPI_SUM, comm, &request), "iaccumulate", count);
      refused(comm, MPIX_Neighbor_accumulate_plan_c(send, count, type, have, count, type, MPI_SUM, comm, MPI_INFO_NULL, &request), "accumulate plan", count);
      refused(comm, MPIX_Neighbor_reduce_c(send, count, type, have, count, type, MPI_SUM, comm), "reduce", count);
      refused(comm, MPIX_Neighbor_reducev_c(send, counts, displs, type, have, count, type, MPI_SUM, comm), "reducev", count);
      refused(comm, MPIX_Neighbor_reduce_plan_c(send, count, type, have, count, type, MPI_SUM, comm, MPI_INFO_NULL, &request), "reduce plan", count);
    }
    MPIX_Sparse_result result;
    refused(comm, MPIX_Sparse_exchange_c(1, &right, send, counts, displs, type, type, MPI_INFO_NULL, comm, &result), "sparse", count);
    MPIX_Sparse_plan plan;
    refused(comm, MPIX_Sparse_plan_create_c(1, &right, send, counts, displs, type, type, MPI_INFO_NULL, comm, &plan), "sparse plan", count);
    for (int i = 0; i < 4; i++) CHECK(have[i] == -1, "double %d was written", i);
    /* the neighborhood still works */
    OK(MPIX_Neighbor_alltoall_c(&me, 1, MPI_INT, have, 1, MPI_INT, comm));
    int first;
    memcpy(&first, have, sizeof first);
    CHECK(first == left, "from process %d: %d", left, first);
  }
  MPI_Type_free(&derived);
}

static void nothing(void *in, void *inout, int *length, MPI_Datatype *type) { (void)in, (void)inout, (void)length, (void)type; }

/* a reduction whose elements lie so far apart that memory for two of its results is longer than
   any */
static void far_apart(MPI_Comm comm) {
  MPI_Datatype apart;
  MPI_Op op;
  MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)1 << 62, &apart);
  MPI_Type_commit(&apart);
  MPI_Op_create(nothing, 1, &op);
  int have = -1;
  refused(comm, MPIX_Neighbor_reduce_c(&me, 2, apart, &have, 2, apart, op, comm), "reduce of elements far apart", 2);
  CHECK(have == -1, "the result was written");
  MPI_Op_free(&op);
  MPI_Type_free(&apart);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  me = test_rank, n = test_size, left = (me + n - 1) % n, right = (me + 1) % n;
  MPI_Comm comm = test_duplicate();
  test_ring(ALL_OPERATIONS, MPI_INFO_NULL, comm);
  repeated(comm);
  far_away(comm);
  again(comm);
  without_data(comm);
  too_large(comm);
  int twice[2][2] = {{left, left}, {right, right}};
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_REDUCE, 2, twice[0], MPI_UNWEIGHTED, 2, twice[1], MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
  far_apart(comm);
  MPI_Comm_free(&comm);
  /* both ends, and what MPI keeps between them */
  double free_memory = (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  int enough = free_memory > 7e9;
  MPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (enough) really();
  else if (me == 0) printf("skipped: a transfer of more than 2 GiB, as less than 7 GB of memory are free\n");
  return test_finish();
}
