/* A process has no memory for what it receives: it says so, the message leaves MPI nevertheless, so
   that its sender does not wait for ever, and the next call is not disturbed. */
#include "scarce.h"
#include "test.h"

enum { LONG = 600000, MOST = 2 };

/* process 0 sends `blocks` blocks to process 1, whose own have gaps, so that what comes must be
   stored until it is unpacked */
static void unpacked(const char *transport, int blocks) {
  MPI_Comm comm = test_duplicate();
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_schedule", "direct");
  MPI_Info_set(info, "mpix_transport", transport);
  MPI_Info_set(info, "mpix_single_copy", "false");
  if (!strcmp(transport, "rma")) MPI_Info_set(info, "mpix_shared_memory", "0");
  int sources[MOST] = {0, 0}, targets[MOST] = {1, 1}, in = test_rank == 1 ? blocks : 0, out = test_rank == 0 ? blocks : 0;
  OK(MPIX_Neighbor_alltoall_set(in, sources, MPI_UNWEIGHTED, out, targets, MPI_UNWEIGHTED, info, comm));
  MPI_Info_free(&info);
  int *from = calloc(MOST * LONG, sizeof(int)), *into = calloc(2 * MOST * LONG, sizeof(int));
  for (int k = 0; k < blocks * LONG; k++) from[k] = test_value(0, k / LONG, k % LONG);
  for (int call = 0; call < 4; call++) {
    int length = call == 0 ? 10 : LONG, class = MPI_SUCCESS, bad = 0;
    MPI_Datatype gaps;
    MPI_Type_vector(length, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    int counts[MOST] = {length, length}, ones[MOST] = {1, 1};
    MPI_Aint at[MOST] = {0, LONG * (int)sizeof(int)}, gap_at[MOST] = {0, 2 * LONG * (int)sizeof(int)};
    MPI_Datatype ints[MOST] = {MPI_INT, MPI_INT}, all[MOST] = {gaps, gaps};
    memset(into, 0, 2 * MOST * LONG * sizeof(int));
    refused_memory = 0;
    if (test_rank == 1 && call == 1) scarce = 1 << 20;
    MPIX_Request request;
    int code = MPIX_Ineighbor_alltoallw(from, counts, at, ints, into, ones, gap_at, all, comm, &request);
    if (code == MPI_SUCCESS) code = MPIX_Request_wait(&request);
    scarce = 0;
    MPI_Type_free(&gaps);
    MPI_Error_class(code, &class);
    if (test_rank == 1 && call == 1) {
      CHECK(class == MPI_ERR_NO_MEM && refused_memory > 0, "%s, %d blocks: class %d, %d refused", transport, blocks, class, refused_memory);
      continue;
    }
    CHECK(code == MPI_SUCCESS, "%s, %d blocks, call %d: %s", transport, blocks, call, test_message(code));
    for (int i = 0; i < in; i++)
      for (int k = 0; k < length; k++) bad += into[2 * (i * LONG + k)] != test_value(0, i, k) || into[2 * (i * LONG + k) + 1] != 0;
    CHECK(bad == 0, "%s, %d blocks, call %d: %d ints are wrong", transport, blocks, call, bad);
  }
  free(from), free(into);
  MPI_Comm_free(&comm);
}

/* process 2, alone on its node, gets a packet */
static void packet(void) {
  int sources[2] = {0, 1}, targets[1] = {2}, in = test_rank == 2 ? 2 : 0, out = test_rank < 2 ? 1 : 0;
  MPI_Comm comm = test_duplicate();
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_schedule", "node_aware");
  MPI_Info_set(info, "mpix_whole_communicator", "true");
  MPI_Info_set(info, "mpix_shared_memory", "0");
  MPI_Info_set(info, "mpix_nodes", "2");
  OK(MPIX_Neighbor_alltoall_set(in, sources, MPI_UNWEIGHTED, out, targets, MPI_UNWEIGHTED, info, comm));
  MPI_Info_free(&info);
  int *from = calloc(LONG, sizeof(int)), *into = calloc(2 * LONG, sizeof(int));
  for (int k = 0; k < LONG; k++) from[k] = test_value(test_rank, 0, k);
  for (int call = 0; call < 3; call++) {
    int length = call == 0 ? 10 : LONG, class = MPI_SUCCESS;
    memset(into, 0, 2 * LONG * sizeof(int));
    refused_memory = 0;
    if (test_rank == 2 && call == 1) scarce = 1 << 20;
    int code = MPIX_Neighbor_alltoall(from, length, MPI_INT, into, length, MPI_INT, comm);
    scarce = 0;
    MPI_Error_class(code, &class);
    if (test_rank == 2 && call == 1) {
      CHECK(class == MPI_ERR_NO_MEM && refused_memory > 0, "class %d, %d refused", class, refused_memory);
      continue;
    }
    CHECK(code == MPI_SUCCESS, "call %d: %s", call, test_message(code));
    int bad = 0;
    for (int k = 0; k < in * length; k++) bad += into[k] != test_value(k / length, 0, k % length);
    CHECK(bad == 0, "call %d: %d ints are wrong", call, bad);
  }
  free(from), free(into);
  MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  if (test_size >= 3) packet();
  if (test_size >= 2) unpacked("auto", 1), unpacked("auto", 2), unpacked("rma", 1), unpacked("rma", 2);
  return test_finish();
}
