/* Buffers in device memory, which only MPI may touch, with a stand-in for the driver
   (device/driver.c): a touch by the processor is a crash. All collectives, each process with
   buffers of any kind, lengths that travel in each of the ways that there are; strided types, self
   edges, repeated edges; several fields; sparse exchanges; memory that is freed and given out again
   as another kind; a driver that is loaded late (TEST_LOAD=late). And what is an error. */
#define _GNU_SOURCE
#include "device/device.h"
#include "forms.h"
#include <sys/mman.h>

enum { LONGEST = 40000, FIELDS = 3 };

extern int standin_device_blocks(void);
extern int standin_messages(void);
extern int standin_staged(void);

static int me, size;

/* which kind of memory a process has for something */
static int kind_of(uint64_t seed, int process, int what) {
  uint64_t h = mix3(seed, process, what) % 8;
  return h < 5 ? DEVICE : h == 5 ? MANAGED : h == 6 ? REGISTERED : HOST;
}

static void compare_memory(const char *what, const memory *have, const int *want) {
  int bad = -1;
  for (int i = 0; i < have->ints && bad < 0; i++)
    if (have->image[i] != want[i]) bad = i;
  CHECK(bad < 0, "%s, memory of kind %d: int %d of %d is %d, not %d", what, have->kind, bad, have->ints, bad < 0 ? 0 : have->image[bad],
        bad < 0 ? 0 : want[bad]);
}

/* elements on the edge that leaves process s in target entry i: for a cell of a ring, an eager
   buffer, and none of these */
static int edge_count(uint64_t seed, int s, int i) {
  static const int counts[] = {0, 1, 7, 11, 300, 2000, 9000, LONGEST};
  return counts[mix3(seed, s, i) % 8];
}

static int *filled(int ints, int fill) {
  int *array = malloc((size_t)(ints + 1) * sizeof(int));
  for (int i = 0; i < ints; i++) array[i] = fill;
  return array;
}

/* alltoall, alltoallv: blocks behind one another */
static void test_alltoall(const graph *g, uint64_t seed, int count, MPI_Comm comm) {
  int in = g->indegree[me], out = g->outdegree[me];
  memory send = memory_of(out * count, -1, kind_of(seed, me, 0)), recv = memory_of(in * count, -2, kind_of(seed, me, 1));
  int *want = filled(in * count, -2), counts[in + out + 1], displs[in + out + 1];
  for (int i = 0; i < in + out; i++) counts[i] = count, displs[i] = i * count;
  for (int i = 0; i < out * count; i++) send.image[i] = test_value(me, i / count, i % count);
  for (int j = 0; j < in; j++)
    for (int k = 0; k < count && g->sources[me][j] != MPI_PROC_NULL; k++)
      want[j * count + k] = test_value(g->sources[me][j], graph_partner(g, me, j), k);
  OK(MPIX_Neighbor_alltoall(send.at, count, MPI_INT, recv.at, count, MPI_INT, comm));
  compare_memory("alltoall", &recv, want);
  for (int i = 0; i < recv.ints; i++) recv.image[i] = -2;
  OK(MPIX_Neighbor_alltoallv(send.at, counts, displs, MPI_INT, recv.at, counts, displs, MPI_INT, comm));
  compare_memory("alltoallv", &recv, want);
  memory_free(&send), memory_free(&recv), free(want);
}

/* gather, gatherv */
static void test_gather(const graph *g, uint64_t seed, int count, MPI_Comm comm) {
  int in = g->indegree[me];
  memory send = memory_of(count, -1, kind_of(seed, me, 2)), recv = memory_of(in * count, -2, kind_of(seed, me, 3));
  int *want = filled(in * count, -2), counts[in + 1], displs[in + 1];
  for (int k = 0; k < count; k++) send.image[k] = test_value(me, 0, k);
  for (int j = 0; j < in; j++) {
    counts[j] = count, displs[j] = j * count;
    for (int k = 0; k < count && g->sources[me][j] != MPI_PROC_NULL; k++) want[j * count + k] = test_value(g->sources[me][j], 0, k);
  }
  OK(MPIX_Neighbor_gather(send.at, count, MPI_INT, recv.at, count, MPI_INT, comm));
  compare_memory("gather", &recv, want);
  for (int i = 0; i < recv.ints; i++) recv.image[i] = -2;
  OK(MPIX_Neighbor_gatherv(send.at, count, MPI_INT, recv.at, counts, displs, MPI_INT, comm));
  compare_memory("gatherv", &recv, want);
  memory_free(&send), memory_free(&recv), free(want);
}

/* alltoallw: each block with a length of its own, strided at one end or both */
static void test_alltoallw(const graph *g, uint64_t seed, MPI_Comm comm) {
  int in = g->indegree[me], out = g->outdegree[me], room = 2 * LONGEST + 3;
  MPI_Datatype types[2] = {MPI_INT, MPI_DATATYPE_NULL};
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &types[1]);
  MPI_Type_commit(&types[1]);
  memory send = memory_of(out * room, -1, kind_of(seed, me, 4)), recv = memory_of(in * room, -2, kind_of(seed, me, 5));
  int *want = filled(in * room, -2), scounts[out + 1], rcounts[in + 1], device = 0, blocks = standin_device_blocks();
  MPI_Aint sdispls[out + 1], rdispls[in + 1];
  MPI_Datatype stypes[out + 1], rtypes[in + 1];
  for (int i = 0; i < out; i++) {
    int strided = mix3(seed, me, 100 + i) % 2, null = g->targets[me][i] == MPI_PROC_NULL;
    scounts[i] = null ? 0 : edge_count(seed, me, i);
    sdispls[i] = (i * (MPI_Aint)room + 1) * (MPI_Aint)sizeof(int), stypes[i] = types[strided];
    for (int k = 0; k < scounts[i]; k++) send.image[i * room + 1 + k * (1 + strided)] = test_value(me, i, k);
    device |= send.kind == DEVICE && scounts[i] > 0;
  }
  for (int j = 0; j < in; j++) {
    int s = g->sources[me][j], i = s == MPI_PROC_NULL ? -1 : graph_partner(g, me, j), strided = mix3(seed, me, 200 + j) % 2;
    rcounts[j] = i < 0 ? 0 : edge_count(seed, s, i);
    rdispls[j] = (j * (MPI_Aint)room + 2) * (MPI_Aint)sizeof(int), rtypes[j] = types[strided];
    for (int k = 0; k < rcounts[j]; k++) want[j * room + 2 + k * (1 + strided)] = test_value(s, i, k);
    device |= recv.kind == DEVICE && rcounts[j] > 0;
  }
  OK(MPIX_Neighbor_alltoallw(send.at, scounts, sdispls, stypes, recv.at, rcounts, rdispls, rtypes, comm));
  compare_memory("alltoallw", &recv, want);
  CHECK((standin_device_blocks() > blocks) == device, "%d blocks in device memory went to MPI", standin_device_blocks() - blocks);
  MPI_Type_free(&types[1]);
  memory_free(&send), memory_free(&recv), free(want);
}

/* several fields, of which some lie on a device */
static void test_fields(const graph *g, uint64_t seed, const char *fuse, MPI_Comm comm) {
  int in = g->indegree[me], out = g->outdegree[me], room = 2 * 2000 + 1;
  MPI_Datatype types[2] = {MPI_INT, MPI_DATATYPE_NULL};
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &types[1]);
  MPI_Type_commit(&types[1]);
  memory send[FIELDS], recv[FIELDS];
  int *want[FIELDS], scounts[FIELDS * out + 1], rcounts[FIELDS * in + 1];
  const void *sendbufs[FIELDS];
  void *recvbufs[FIELDS];
  MPI_Aint sdispls[FIELDS * out + 1], rdispls[FIELDS * in + 1];
  MPI_Datatype stypes[FIELDS * out + 1], rtypes[FIELDS * in + 1];
  for (int f = 0; f < FIELDS; f++) {
    send[f] = memory_of(out * room, -1, kind_of(seed, me, 10 + f)), recv[f] = memory_of(in * room, -2, kind_of(seed, me, 20 + f));
    want[f] = filled(in * room, -2), sendbufs[f] = send[f].at, recvbufs[f] = recv[f].at;
    for (int i = 0; i < out; i++) {
      int e = f * out + i, strided = f == 1;
      scounts[e] = edge_count(seed + f, me, i) % 2001, sdispls[e] = i * (MPI_Aint)room * (MPI_Aint)sizeof(int), stypes[e] = types[strided];
      for (int k = 0; k < scounts[e]; k++) send[f].image[i * room + k * (1 + strided)] = test_value(me, i * FIELDS + f, k);
    }
    for (int j = 0; j < in; j++) {
      int e = f * in + j, strided = f == 2, s = g->sources[me][j], i = s == MPI_PROC_NULL ? -1 : graph_partner(g, me, j);
      rcounts[e] = i < 0 ? 0 : edge_count(seed + f, s, i) % 2001;
      rdispls[e] = j * (MPI_Aint)room * (MPI_Aint)sizeof(int), rtypes[e] = types[strided];
      for (int k = 0; k < rcounts[e]; k++) want[f][j * room + k * (1 + strided)] = test_value(s, i * FIELDS + f, k);
    }
  }
  MPI_Info info = test_hint("mpix_fuse", fuse);
  graph_set(g, MPIX_NEIGHBOR_ALLTOALL, info, comm);
  MPI_Info_free(&info);
  OK(MPIX_Neighbor_alltoallw_fields(FIELDS, sendbufs, scounts, sdispls, stypes, recvbufs, rcounts, rdispls, rtypes, comm));
  for (int f = 0; f < FIELDS; f++) {
    compare_memory("fields", &recv[f], want[f]);
    memory_free(&send[f]), memory_free(&recv[f]), free(want[f]);
  }
  MPI_Type_free(&types[1]);
}

/* sets a graph with weights of which schedules with rounds cut the heavy edges */
static int weight(int s, int t) { return s == MPI_PROC_NULL || t == MPI_PROC_NULL ? 0 : (int)(mix2(s, t) % 100000); }

static void set_weighted(const graph *g, MPI_Comm comm) {
  int in = g->indegree[me], out = g->outdegree[me], sourceweights[in + 1], targetweights[out + 1];
  for (int j = 0; j < in; j++) sourceweights[j] = weight(g->sources[me][j], me);
  for (int i = 0; i < out; i++) targetweights[i] = weight(me, g->targets[me][i]);
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_GATHER | MPIX_NEIGHBOR_ALLTOALL, in, g->sources[me], sourceweights, out, g->targets[me], targetweights,
                           MPI_INFO_NULL, comm));
}

/* each process sends to all, itself included */
static graph complete(void) {
  graph g = graph_new(size);
  for (int s = 0; s < size; s++)
    for (int t = 0; t < size; t++) insert(&g.targets[s], &g.outdegree[s], g.outdegree[s], t), insert(&g.sources[t], &g.indegree[t], g.indegree[t], s);
  return g;
}

/* whether host memory goes without messages: by shared memory alone */
static int sends_no_messages(void) { return !(getenv("MPIX_SHARED_MEMORY") || getenv("MPIX_NEIGHBOR_VERIFY") || getenv("MPIX_NODES")); }

/* the same addresses as memory of the host and of a device in turns: what was found out in a call
   holds for no other one */
static void test_reuse(MPI_Comm comm) {
  enum { COUNT = 500 };
  int shared = sends_no_messages();
  graph g = complete();
  size_t bytes = (size_t)size * COUNT * sizeof(int);
  memory send = memory_of(size * COUNT, 0, DEVICE), recv = memory_of(size * COUNT, 0, DEVICE);
  graph_set(&g, MPIX_NEIGHBOR_ALLTOALL, MPI_INFO_NULL, comm);
  for (int round = 0; round < 6; round++) {
    int kind = round % 2 ? REGISTERED : DEVICE, blocks = standin_device_blocks(), messages = standin_messages();
    standin_free(send.at), standin_free(recv.at);
    CHECK(standin_allocate(bytes, kind, send.at) == send.at && standin_allocate(bytes, kind, recv.at) == recv.at, "other addresses");
    send.image = kind == DEVICE ? standin_alias(send.at) : send.at, recv.image = kind == DEVICE ? standin_alias(recv.at) : recv.at;
    for (int i = 0; i < size * COUNT; i++) send.image[i] = test_value(me, round, i), recv.image[i] = -1;
    OK(MPIX_Neighbor_alltoall(send.at, COUNT, MPI_INT, recv.at, COUNT, MPI_INT, comm));
    int bad = 0;
    for (int i = 0; i < size * COUNT; i++) bad += recv.image[i] != test_value(i / COUNT, round, me * COUNT + i % COUNT);
    CHECK(bad == 0, "round %d: %d ints are wrong", round, bad);
    CHECK((standin_device_blocks() > blocks) == (kind == DEVICE), "round %d: %d blocks went to MPI as a device's", round, standin_device_blocks() - blocks);
    CHECK(!shared || (standin_messages() > messages) == (kind == DEVICE), "round %d: %d messages", round, standin_messages() - messages);
  }
  memory_free(&send), memory_free(&recv);
  graph_free(&g);
}

/* what is long goes from device to device in MPI's way, without the memory of the host; each end
   may be a device's or not */
static void test_long(MPI_Comm comm) {
  enum { COUNT = 5000 };
  /* where cells are longer than that it may */
  const char *shared = getenv("MPIX_SHARED_MEMORY");
  int large_cells = shared && atoi(shared) > 200000;
  graph g = graph_new(size);
  for (int s = 0; s < size; s++)
    for (int t = 0; t < size; t++)
      if (s != t) insert(&g.targets[s], &g.outdegree[s], g.outdegree[s], t), insert(&g.sources[t], &g.indegree[t], g.indegree[t], s);
  memory first = memory_of(1, 0, DEVICE);
  graph_set(&g, MPIX_NEIGHBOR_GATHER | MPIX_NEIGHBOR_ALLTOALL, MPI_INFO_NULL, comm);
  for (int round = 0; round < 16; round++) {
    memory send = memory_of(size * COUNT, me + round, (me * 3 + round) % 4 % 3 ? DEVICE : HOST), recv = memory_of(size * COUNT, -1, (me + round / 4) % 4 ? DEVICE : HOST);
    int staged = standin_staged(), last = (size - 1) * COUNT - 1;
    if (round % 2) OK(MPIX_Neighbor_gather(send.at, COUNT, MPI_INT, recv.at, COUNT, MPI_INT, comm));
    else OK(MPIX_Neighbor_alltoall(send.at, COUNT, MPI_INT, recv.at, COUNT, MPI_INT, comm));
    if (size > 1) CHECK(recv.image[last] == (me == size - 1 ? size - 2 : size - 1) + round, "round %d: %d", round, recv.image[last]);
    CHECK(standin_staged() == staged || large_cells, "round %d: %d of the messages went through the memory of the host", round, standin_staged() - staged);
    memory_free(&send), memory_free(&recv);
  }
  memory_free(&first);
  graph_free(&g);
}

/* memory that the processor may touch goes as all other: by shared memory, without a message */
static void test_host_kinds(MPI_Comm comm) {
  enum { COUNT = 500 };
  graph g = complete();
  graph_set(&g, MPIX_NEIGHBOR_ALLTOALL, MPI_INFO_NULL, comm);
  for (int kind = MANAGED; kind <= HOST; kind++) {
    memory send = memory_of(size * COUNT, kind, kind), recv = memory_of(size * COUNT, -1, kind);
    int messages = standin_messages(), blocks = standin_device_blocks();
    OK(MPIX_Neighbor_alltoall(send.at, COUNT, MPI_INT, recv.at, COUNT, MPI_INT, comm));
    CHECK(recv.image[size * COUNT - 1] == kind, "kind %d", kind);
    CHECK(standin_device_blocks() == blocks, "memory of kind %d is taken for a device's", kind);
    CHECK(standin_messages() == messages || !sends_no_messages(), "memory of kind %d costs %d messages", kind, standin_messages() - messages);
    memory_free(&send), memory_free(&recv);
  }
  graph_free(&g);
}

static void refused(int rc, const char *what, const char *part, MPI_Comm comm) {
  char text[500] = "";
  int length, class = MPI_SUCCESS;
  if (rc != MPI_SUCCESS) MPI_Error_class(rc, &class);
  MPIX_Neighbor_error_string(comm, sizeof text, text, &length);
  CHECK(class == MPI_ERR_BUFFER, "%s: class %d: %s", what, class, text);
  CHECK(strstr(text, "in device memory") && strstr(text, part), "%s: \"%s\"", what, text);
}

/* reductions, and schedules that pass blocks on */
static void test_errors(MPI_Comm comm) {
  enum { COUNT = 20 };
  graph g = complete();
  memory device = memory_of(size * COUNT, 1, DEVICE), host = memory_of(size * COUNT, 1, HOST), result = memory_of(size * COUNT, 0, HOST);
  graph_set(&g, ALL_OPERATIONS, MPI_INFO_NULL, comm);
  refused(MPIX_Neighbor_reduce(device.at, COUNT, MPI_INT, result.at, COUNT, MPI_INT, MPI_SUM, comm), "reduce from a device", "sendbuf", comm);
  refused(MPIX_Neighbor_reduce(host.at, COUNT, MPI_INT, device.at, COUNT, MPI_INT, MPI_SUM, comm), "reduce to a device", "recvbuf", comm);
  OK(MPIX_Neighbor_reduce(host.at, COUNT, MPI_INT, result.at, COUNT, MPI_INT, MPI_SUM, comm));
  CHECK(result.image[COUNT - 1] == size, "a reduction after an error gives %d", result.image[COUNT - 1]);
  /* blocks may come from a device, but are combined in memory of the host alone */
  refused(MPIX_Neighbor_accumulate(host.at, COUNT, MPI_INT, device.at, COUNT, MPI_INT, MPI_SUM, comm), "accumulate to a device", "recvbuf", comm);
  for (int times = 0; times < 2; times++) OK(MPIX_Neighbor_accumulate(times ? device.at : host.at, COUNT, MPI_INT, result.at, COUNT, MPI_INT, MPI_SUM, comm));
  CHECK(result.image[COUNT - 1] == size + 2 && (size == 1 || result.image[size * COUNT - 1] == 2), "accumulated %d", result.image[COUNT - 1]);
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_schedule", "node_aware");
  MPI_Info_set(info, "mpix_whole_communicator", "true");
  MPI_Info_set(info, "mpix_nodes", "2");
  graph_set(&g, MPIX_NEIGHBOR_ALLTOALL, info, comm);
  MPI_Info_free(&info);
  refused(MPIX_Neighbor_alltoall(device.at, COUNT, MPI_INT, result.at, COUNT, MPI_INT, comm), "node_aware from a device", "node_aware", comm);
  refused(MPIX_Neighbor_alltoall(host.at, COUNT, MPI_INT, device.at, COUNT, MPI_INT, comm), "node_aware to a device", "mpix_schedule=direct", comm);
  OK(MPIX_Neighbor_alltoall(host.at, COUNT, MPI_INT, result.at, COUNT, MPI_INT, comm));
  CHECK(result.image[size * COUNT - 1] == 1, "node_aware after an error");
  /* what is made with an error in its arguments tells nobody */
  if (test_form() != BLOCKING) {
    memory_free(&device), memory_free(&host), memory_free(&result);
    graph_free(&g);
    return;
  }
  /* with verification one process's error is told to its neighbors, who wait for nothing */
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_verify", "true");
  graph_set(&g, MPIX_NEIGHBOR_REDUCE, info, comm);
  MPI_Info_free(&info);
  int rc = MPIX_Neighbor_reduce(me == 0 ? device.at : host.at, COUNT, MPI_INT, result.at, COUNT, MPI_INT, MPI_SUM, comm), class, ours;
  MPI_Error_class(rc, &class);
  MPIX_Neighbor_error_class(MPIX_ERR_VERIFY, &ours);
  CHECK(class == (me == 0 ? MPI_ERR_BUFFER : ours), "a verified reduction: class %d", class);
  memory_free(&device), memory_free(&host), memory_free(&result);
  graph_free(&g);
}

/* where the library chooses it takes nothing that would be an error: of a star trees would be made,
   and packets between nodes */
static void test_choice(MPI_Comm comm) {
  graph g = graph_new(size);
  for (int t = 1; t < size; t++) insert(&g.targets[0], &g.outdegree[0], g.outdegree[0], t), insert(&g.sources[t], &g.indegree[t], 0, 0);
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_whole_communicator", "true");
  MPI_Info_set(info, "mpix_schedule", "measure");
  MPI_Info_set(info, "mpix_nodes", "2");
  graph_set(&g, MPIX_NEIGHBOR_ALLTOALL, info, comm);
  MPI_Info_free(&info);
  char text[2000];
  int length;
  OK(MPIX_Neighborhood_describe(MPIX_NEIGHBOR_ALLTOALL, comm, sizeof text, text, &length));
  CHECK(!strstr(text, "scatter_") && !strstr(text, "node_aware"), "%s", text);
  memory device = memory_of(size * 10, me, DEVICE);
  for (int i = 0; i < 100; i++) OK(MPIX_Neighbor_alltoall(device.at, 10, MPI_INT, device.at, 10, MPI_INT, comm));
  CHECK(device.image[0] == 0, "process 0 sends %d", device.image[0]);
  memory_free(&device);
  graph_free(&g);
}

/* sparse exchanges from a device, and what has come copied to one */
static void test_sparse(const char *protocol, uint64_t seed, int strided, MPI_Comm comm) {
  enum { MESSAGES = 4, ROOM = 24000 };
  static const int counts[] = {0, 3, 800, 12000};
  int targets[MESSAGES], send_counts[MESSAGES], displs[MESSAGES], stride = 1 + strided, expected = 0;
  MPI_Datatype type = MPI_INT;
  if (strided) {
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &type);
    MPI_Type_commit(&type);
  }
  memory send = memory_of(MESSAGES * ROOM, -1, kind_of(seed, me, 30));
  for (int m = 0; m < MESSAGES; m++) {
    targets[m] = mix3(seed, me, m) % size, send_counts[m] = counts[mix3(seed, m, me) % 4], displs[m] = m * ROOM / stride;
    for (int k = 0; k < send_counts[m]; k++) send.image[m * ROOM + k * stride] = test_value(me, m, k);
  }
  MPI_Info info = test_hint("mpix_sparse", protocol);
  MPIX_Sparse_result result = NULL;
  MPIX_Sparse_plan plan = NULL;
  int form = test_form();
  if (form == PERSISTENT) {
    OK(MPIX_Sparse_plan_create(MESSAGES, targets, send.at, send_counts, displs, type, type, info, comm, &plan));
    for (int i = 0; i < 2; i++) {
      OK(MPIX_Sparse_plan_start(plan));
      OK(MPIX_Sparse_plan_wait(plan));
    }
    OK(MPIX_Sparse_plan_result(plan, &result));
  } else if (form == NONBLOCKING) {
    MPIX_Sparse_request request;
    OK(MPIX_Isparse_exchange(MESSAGES, targets, send.at, send_counts, displs, type, type, info, comm, &request));
    OK(MPIX_Sparse_wait(&request, &result));
  } else OK(MPIX_Sparse_exchange(MESSAGES, targets, send.at, send_counts, displs, type, type, info, comm, &result));
  MPI_Info_free(&info);
  for (int s = 0; s < size; s++)
    for (int m = 0; m < MESSAGES; m++)
      if ((int)(mix3(seed, s, m) % size) == me) expected += counts[mix3(seed, m, s) % 4];
  memory recv = memory_of(expected * stride, -2, kind_of(seed, me, 31));
  int *want = filled(expected * stride, -2), at = 0;
  for (int s = 0; s < size; s++)
    for (int m = 0; m < MESSAGES; m++)
      for (int k = 0; (int)(mix3(seed, s, m) % size) == me && k < counts[mix3(seed, m, s) % 4]; k++, at += stride) want[at] = test_value(s, m, k);
  OK(MPIX_Sparse_copy(result, expected, recv.at));
  compare_memory(protocol, &recv, want);
  if (plan) OK(MPIX_Sparse_plan_free(&plan));
  else OK(MPIX_Sparse_free(&result));
  if (strided) MPI_Type_free(&type);
  memory_free(&send), memory_free(&recv), free(want);
}

int main(int argc, char **argv) {
  static const char *protocols[] = {"inbox", "nbx", "nbx_probe", "nbx_node", "pex", "pcx", "pcx_library", "rsx", "crystal"};
  const char *load = getenv("TEST_LOAD");
  int late = load && !strcmp(load, "late");
  if (!late) standin_load();
  test_init(&argc, &argv);
  MPI_Comm comm = test_duplicate();
  MPI_Comm_rank(comm, &me), MPI_Comm_size(comm, &size);
  if (late) {
    /* the neighborhood is set, and has been used, when the driver comes */
    enum { COUNT = 300 };
    graph g = complete();
    graph_set(&g, MPIX_NEIGHBOR_ALLTOALL, MPI_INFO_NULL, comm);
    int *host = filled(size * COUNT, me), *result = filled(size * COUNT, -1);
    size_t bytes = (size_t)size * COUNT * sizeof(int);
    void *pages = mmap(NULL, bytes + 3 * (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 3; i++) OK(MPIX_Neighbor_alltoall(host, COUNT, MPI_INT, result, COUNT, MPI_INT, comm));
    for (int i = 0; i < 3; i++) OK(MPIX_Neighbor_alltoall(pages, COUNT, MPI_INT, result, COUNT, MPI_INT, comm));
    MPIX_Sparse_window window;
    MPI_Aint both[2] = {0, 1};
    OK(MPIX_Sparse_window_create(host, COUNT, MPI_INT, MPI_INFO_NULL, comm, &window));
    standin_load();
    memory device = memory_of(size * COUNT, me, DEVICE);
    /* a call on several elements finds the driver, and so does a fence */
    if (me % 2) OK(MPIX_Sparse_window_fence(window));
    refused(MPIX_Sparse_window_put(device.at, 2 - me % 2, 0, both, window), "put from a device", "origin", comm);
    if (me % 2 == 0) OK(MPIX_Sparse_window_fence(window));
    OK(MPIX_Sparse_window_free(&window));
    OK(MPIX_Neighbor_alltoall(device.at, COUNT, MPI_INT, result, COUNT, MPI_INT, comm));
    CHECK(result[size * COUNT - 1] == size - 1, "%d", result[size * COUNT - 1]);
    OK(MPIX_Neighbor_alltoall(host, COUNT, MPI_INT, device.at, COUNT, MPI_INT, comm));
    CHECK(device.image[size * COUNT - 1] == size - 1, "%d", device.image[size * COUNT - 1]);
    /* pages that were the host's in calls before become a device's, for the same call */
    CHECK(standin_allocate(bytes, DEVICE, pages) == pages, "other addresses");
    int *image = standin_alias(pages), blocks = standin_device_blocks();
    for (int i = 0; i < size * COUNT; i++) image[i] = me + 10, result[i] = -1;
    OK(MPIX_Neighbor_alltoall(pages, COUNT, MPI_INT, result, COUNT, MPI_INT, comm));
    CHECK(result[size * COUNT - 1] == size + 9, "%d from pages that have become a device's", result[size * COUNT - 1]);
    CHECK(standin_device_blocks() > blocks, "pages that have become a device's are taken for the host's");
    standin_free(pages);
    memory_free(&device), free(host), free(result);
    graph_free(&g);
  }
  for (uint64_t seed = 0; seed < 6; seed++) {
    graph g = graph_random(size, 3 * size + (int)seed, seed);
    set_weighted(&g, comm);
    static const int counts[] = {1, 10, 11, 600, 5000, LONGEST};
    test_alltoall(&g, seed, counts[seed], comm);
    test_gather(&g, seed, counts[seed], comm);
    test_alltoallw(&g, seed, comm);
    test_alltoallw(&g, seed + 100, comm);
    if (test_form() == BLOCKING) test_fields(&g, seed, seed % 3 == 0 ? "true" : seed % 3 == 1 ? "false" : "auto", comm);
    graph_free(&g);
  }
  test_host_kinds(comm);
  test_reuse(comm);
  test_long(comm);
  if (!getenv("MPIX_NEIGHBOR_VERIFY") && !getenv("MPIX_SCHEDULE")) {
    test_errors(comm);
    test_choice(comm);
  }
  for (uint64_t seed = 0; seed < 2; seed++)
    for (size_t p = 0; p < sizeof protocols / sizeof *protocols; p++)
      for (int strided = 0; strided < 2; strided++) test_sparse(protocols[p], seed, strided, comm);
  CHECK(standin_asked() > 0, "the driver has not been asked");
  MPI_Comm_free(&comm);
  return test_finish();
}
