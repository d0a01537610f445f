/* Several fields in one exchange, on random multigraphs: blocks of different layouts, lengths and
   numbers, joined always, never, or as the model says; blocking, nonblocking and persistent,
   against the definition. And how many messages that takes. */
#include "test.h"

enum { FIELDS = 4, MOST = 700 };

static int me, sends;

/* the library's messages pass here */
int MPI_Isend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
  sends++;
  return PMPI_Isend(buf, count, type, dest, tag, comm, request);
}

/* elements of field f on the edge that leaves process s in target entry i; some fields have none
   there; some blocks are so long that messages of both kinds are joined, short ones and long
   ones */
static int edge_count(uint64_t seed, int s, int i, int f) {
  uint64_t h = mix2(mix3(seed, s, i), f);
  return h % 4 == 0 ? 0 : (int)((h >> 10) % (f >= 2 && h % 5 < 2 ? MOST : 4));
}

static int value(int s, int i, int f, int k) { return test_value(s, i * FIELDS + f, k); }

/* ints between elements: fields 1 and 3 are strided */
static int stride(int f) { return f % 2 ? 2 : 1; }

static void test_fields(const graph *g, uint64_t seed, int fields, int form, int wide, const char *fuse, MPI_Comm comm) {
  int in = g->indegree[me], out = g->outdegree[me], room = 2 * MOST + 3;
  MPI_Datatype types[2] = {MPI_INT, MPI_DATATYPE_NULL};
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &types[1]);
  MPI_Type_commit(&types[1]);
  buffer send[FIELDS], have[FIELDS], want[FIELDS];
  const void *sendbufs[FIELDS];
  void *recvbufs[FIELDS];
  int scounts[fields * out + 1], rcounts[fields * in + 1];
  MPI_Count wscounts[fields * out + 1], wrcounts[fields * in + 1];
  MPI_Aint sdispls[fields * out + 1], rdispls[fields * in + 1];
  MPI_Datatype stypes[fields * out + 1], rtypes[fields * in + 1];
  int joined = 0, separate = 0;
  for (int f = 0; f < fields; f++) {
    send[f] = new_buffer(out * room, -1), have[f] = new_buffer(in * room, -2), want[f] = new_buffer(in * room, -2);
    sendbufs[f] = send[f].image, recvbufs[f] = have[f].image;
    for (int i = 0; i < out; i++) {
      int e = f * out + i;
      wscounts[e] = scounts[e] = edge_count(seed, me, i, f);
      sdispls[e] = (i * room + 1) * (MPI_Aint)sizeof(int);
      stypes[e] = types[f % 2];
      for (int k = 0; k < scounts[e]; k++) send[f].image[i * room + 1 + k * stride(f)] = value(me, i, f, k);
      /* nothing is looked at in an empty block */
      if (scounts[e] == 0) stypes[e] = MPI_DATATYPE_NULL;
      if (g->targets[me][i] == MPI_PROC_NULL) scounts[e] = -5, wscounts[e] = -5;
    }
    for (int j = 0; j < in; j++) {
      int e = f * in + j, s = g->sources[me][j];
      rdispls[e] = (j * room + 2) * (MPI_Aint)sizeof(int);
      rtypes[e] = types[(f + 1) % 2];
      if (s == MPI_PROC_NULL) {
        wrcounts[e] = rcounts[e] = -7, rtypes[e] = MPI_DATATYPE_NULL;
        continue;
      }
      int i = graph_partner(g, me, j);
      wrcounts[e] = rcounts[e] = edge_count(seed, s, i, f);
      for (int k = 0; k < rcounts[e]; k++) want[f].image[j * room + 2 + k * stride(f + 1)] = value(s, i, f, k);
    }
  }
  for (int i = 0; i < out; i++) {
    if (g->targets[me][i] == MPI_PROC_NULL || g->targets[me][i] == me) continue;
    joined += fields > 1 ? 1 : fields;
    separate += fields;
  }
  int rc, runs = form == 2 ? 3 : 1, before = sends;
  MPIX_Request request = NULL;
  if (form == 0 && wide) rc = MPIX_Neighbor_alltoallw_fields_c(fields, sendbufs, wscounts, sdispls, stypes, recvbufs, wrcounts, rdispls, rtypes, comm);
  else if (form == 0) rc = MPIX_Neighbor_alltoallw_fields(fields, sendbufs, scounts, sdispls, stypes, recvbufs, rcounts, rdispls, rtypes, comm);
  else if (form == 1 && wide)
    rc = MPIX_Ineighbor_alltoallw_fields_c(fields, sendbufs, wscounts, sdispls, stypes, recvbufs, wrcounts, rdispls, rtypes, comm, &request);
  else if (form == 1) rc = MPIX_Ineighbor_alltoallw_fields(fields, sendbufs, scounts, sdispls, stypes, recvbufs, rcounts, rdispls, rtypes, comm, &request);
  else if (wide)
    rc = MPIX_Neighbor_alltoallw_fields_plan_c(fields, sendbufs, wscounts, sdispls, stypes, recvbufs, wrcounts, rdispls, rtypes, comm, MPI_INFO_NULL, &request);
  else rc = MPIX_Neighbor_alltoallw_fields_plan(fields, sendbufs, scounts, sdispls, stypes, recvbufs, rcounts, rdispls, rtypes, comm, MPI_INFO_NULL, &request);
  CHECK(rc == MPI_SUCCESS, "form %d: %s", form, test_message(rc));
  /* arrays and datatypes are the caller's again */
  for (int e = 0; e < fields * out; e++) scounts[e] = -1, sdispls[e] = 1 << 30, stypes[e] = MPI_DATATYPE_NULL;
  for (int e = 0; e < fields * in; e++) rcounts[e] = -1, rdispls[e] = 1 << 30, rtypes[e] = MPI_DATATYPE_NULL;
  MPI_Type_free(&types[1]);
  for (int run = 0; run < runs; run++) {
    if (form == 2) OK(MPIX_Request_start(&request));
    if (form == 1)
      for (int j = 0; j < in; j++) {
        OK(MPIX_Request_wait_source(request, j));
        /* all fields of a source that is told have arrived */
        for (int f = 0; f < fields; f++)
          CHECK(!memcmp(have[f].image + j * room, want[f].image + j * room, room * sizeof(int)), "field %d of source %d", f, j);
      }
    OK(MPIX_Request_wait(&request));
  }
  for (int f = 0; f < fields; f++) {
    compare("a field", &have[f], &want[f]);
    free(send[f].image), free(have[f].image), free(want[f].image);
  }
  const char *schedule = getenv("MPIX_SCHEDULE"), *shared = getenv("MPIX_SHARED_MEMORY");
  /* puts take messages of their own, however many fields there are */
  int puts = getenv("MPIX_TRANSPORT") != NULL;
  if (!puts && !getenv("MPIX_NEIGHBOR_VERIFY") && shared && !strcmp(shared, "0") && (!schedule || !strcmp(schedule, "direct"))) {
    int took = (sends - before) / runs;
    if (!strcmp(fuse, "true")) CHECK(took == joined, "%d messages, not %d", took, joined);
    else if (!strcmp(fuse, "false")) CHECK(took == separate, "%d messages, not %d", took, separate);
    else CHECK(took >= joined && took <= separate, "%d messages, not from %d to %d", took, joined, separate);
  }
  OK(MPIX_Request_free(&request));
}

/* as many fields at both ends: verification finds where process 0 has one more, which is empty; and
   there is a most */
static void verified_numbers(MPI_Comm comm) {
  enum { TOO_MANY = 882 };
  int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size, verify = -1, class = -1;
  MPIX_Neighbor_error_class(MPIX_ERR_VERIFY, &verify);
  MPI_Info info = test_hint("mpix_verify", "true");
  OK(MPIX_Neighbor_alltoall_set(1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, info, comm));
  MPI_Info_free(&info);
  int from = 7, into = 0, none = 0, counts[TOO_MANY] = {0};
  const void *sendbufs[TOO_MANY];
  void *recvbufs[TOO_MANY];
  MPI_Aint displs[TOO_MANY] = {0};
  MPI_Datatype types[TOO_MANY];
  for (int f = 0; f < TOO_MANY; f++) sendbufs[f] = &none, recvbufs[f] = &none, types[f] = MPI_INT;
  int last = test_rank == 0 && test_size > 1;
  sendbufs[last] = &from, recvbufs[last] = &into, counts[last] = 1;
  int code = MPIX_Neighbor_alltoallw_fields(last + 1, sendbufs, counts, displs, types, recvbufs, counts, displs, types, comm);
  if (test_size > 1 && (test_rank == 0 || left == 0 || right == 0)) {
    MPI_Error_class(code, &class);
    CHECK(class == verify, "class %d", class);
    CHECK(into == (test_rank == 0 || left == 0 ? 0 : 7), "%d", into);
  } else {
    OK(code);
    CHECK(into == 7, "%d", into);
  }
  counts[last] = 0;
  MPI_Error_class(MPIX_Neighbor_alltoallw_fields(TOO_MANY, sendbufs, counts, displs, types, recvbufs, counts, displs, types, comm), &class);
  CHECK(class == MPI_ERR_ARG, "class %d", class);
  sendbufs[TOO_MANY - 2] = &from, recvbufs[TOO_MANY - 2] = &into, counts[TOO_MANY - 2] = 1, into = 0;
  OK(MPIX_Neighbor_alltoallw_fields(TOO_MANY - 1, sendbufs, counts, displs, types, recvbufs, counts, displs, types, comm));
  CHECK(into == 7, "%d", into);
}

static void errors(MPI_Comm comm) {
  int self = test_rank, counts[2] = {1, -3}, class = -1;
  MPI_Aint displs[2] = {0, 0};
  MPI_Datatype types[2] = {MPI_INT, MPI_INT}, raw;
  int from[2] = {1, 2}, into[2] = {0, 0};
  const void *sendbufs[2] = {&from[0], &from[1]};
  void *recvbufs[2] = {&into[0], &into[1]};
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  OK(MPIX_Neighbor_alltoall_set(1, &self, MPI_UNWEIGHTED, 1, &self, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
  MPI_Error_class(MPIX_Neighbor_alltoallw_fields(-1, sendbufs, counts, displs, types, recvbufs, counts, displs, types, comm), &class);
  CHECK(class == MPI_ERR_ARG, "class %d", class);
  MPI_Error_class(MPIX_Neighbor_alltoallw_fields(2, NULL, counts, displs, types, recvbufs, counts, displs, types, comm), &class);
  CHECK(class == MPI_ERR_ARG, "class %d", class);
  MPI_Error_class(MPIX_Neighbor_alltoallw_fields(2, sendbufs, counts, displs, types, recvbufs, counts, displs, types, comm), &class);
  CHECK(class == MPI_ERR_COUNT, "class %d", class);
  counts[1] = 1;
  MPI_Type_contiguous(1, MPI_INT, &raw);
  types[1] = raw;
  MPI_Error_class(MPIX_Neighbor_alltoallw_fields(2, sendbufs, counts, displs, types, recvbufs, counts, displs, types, comm), &class);
  CHECK(class == MPI_ERR_TYPE, "class %d", class);
  CHECK(into[0] == 0 && into[1] == 0, "something was written");
  MPI_Type_free(&raw);
  types[1] = MPI_INT;
  OK(MPIX_Neighbor_alltoallw_fields(2, sendbufs, counts, displs, types, recvbufs, counts, displs, types, comm));
  CHECK(into[0] == 1 && into[1] == 2, "%d %d", into[0], into[1]);
}

/* lengths that differ while their sums do not: verification finds them, on self edges and others,
   and the next call is not disturbed */
static void verified(MPI_Comm comm) {
  int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size, targets[2] = {right, test_rank}, sources[2] = {left, test_rank};
  int verify = -1, class = -1;
  MPIX_Neighbor_error_class(MPIX_ERR_VERIFY, &verify);
  MPI_Info info = test_hint("mpix_verify", "true");
  OK(MPIX_Neighbor_alltoall_set(2, sources, MPI_UNWEIGHTED, 2, targets, MPI_UNWEIGHTED, info, comm));
  MPI_Info_free(&info);
  int from[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  const void *sendbufs[2] = {from, from + 4};
  MPI_Aint displs[4] = {0, 8, 0, 8};
  MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
  for (int way = 0; way < 3; way++) {
    int into[8] = {0}, scounts[4] = {1, 1, 1, 1}, rcounts[4] = {1, 1, 1, 1};
    void *recvbufs[2] = {into, into + 4};
    /* field 0 is one int longer, field 1 one shorter: on the self edge, or on that from the left */
    if (way == 1) rcounts[1] = 2, rcounts[3] = 0;
    if (way == 2) rcounts[0] = 2, rcounts[2] = 0;
    int code = MPIX_Neighbor_alltoallw_fields(2, sendbufs, scounts, displs, types, recvbufs, rcounts, displs, types, comm);
    if (way == 0) {
      OK(code);
      CHECK(into[0] == 1 && into[2] == 3 && into[4] == 5 && into[6] == 7, "%d %d %d %d", into[0], into[2], into[4], into[6]);
    } else {
      MPI_Error_class(code, &class);
      CHECK(class == verify, "way %d: class %d", way, class);
      CHECK(into[way == 1 ? 1 : 0] == 0, "a block that does not fit was written");
    }
    /* no field at all */
    OK(MPIX_Neighbor_alltoallw_fields(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, comm));
  }
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  me = test_rank;
  MPI_Comm comm = test_duplicate();
  static const char *const fuses[] = {"true", "false", "auto"};
  for (uint64_t seed = 0; seed < 6; seed++) {
    graph g = graph_random(test_size, (int)(seed * test_size / 2) + (seed == 5 ? 20 : 0), seed);
    for (int k = 0; k < 3; k++) {
      MPI_Info info = test_hint("mpix_fuse", fuses[k]);
      /* a startup costs as much as 473 bytes: some edges are joined, others not */
      MPI_Info_set(info, "mpix_loggp", "meiko_split_c");
      graph_set(&g, MPIX_NEIGHBOR_ALLTOALL, info, comm);
      MPI_Info_free(&info);
      for (int form = 0; form < 3; form++)
        for (int fields = 0; fields <= FIELDS; fields += fields == 1 ? 2 : 1)
          test_fields(&g, seed * 100 + (uint64_t)fields, fields, form, (form + fields) % 2, fields > 1 ? fuses[k] : "false", comm);
    }
    graph_free(&g);
  }
  errors(comm);
  verified(comm);
  verified_numbers(comm);
  MPI_Comm_free(&comm);
  return test_finish();
}
