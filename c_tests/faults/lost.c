/* A function of MPI, or malloc, fails in the middle of a call: memory
   in which MPI may still read stays as it is, no message that has come is lost, the target of one
   that has not hears of it, and the next call is as if nothing had been. MPI's functions pass here:
   sends before and after the one that fails are lazy, and read their buffers later, as MPI may. */
#define _GNU_SOURCE
#include <mpi.h>

#include "flaws.h"
#include "scarce.h"

extern void __libc_free(void *);

/* the buffers of a collective, and how many of them have been freed */
static const void *watched[2];
static int freed;
void free(void *at) {
  if (at) freed += at == watched[0] || at == watched[1];
  __libc_free(at);
}
int MPI_Ireduce_scatter_block(const void *from, void *into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request) {
  watched[0] = from, watched[1] = into;
  return PMPI_Ireduce_scatter_block(from, into, count, type, op, comm, request);
}

enum { MOST = 8 };
typedef struct {
  const void *buffer;
  int count, target, tag;
  MPI_Datatype type;
  MPI_Comm comm;
  MPI_Request request;
} sent;
/* whether sends are lazy, and how many there are until one fails */
static int lazily, left, lazy_count, failed;
static sent lazy[MOST];

static int query(void *state, MPI_Status *status) {
  (void)state;
  MPI_Status_set_elements(status, MPI_BYTE, 0);
  MPI_Status_set_cancelled(status, 0);
  return MPI_SUCCESS;
}
static int release(void *state) {
  (void)state;
  return MPI_SUCCESS;
}
static int cancel(void *state, int complete) {
  (void)state, (void)complete;
  return MPI_SUCCESS;
}

/* whether the next send is refused */
static int refuse_send;
/* the kind of call that is refused, how many of it come before, and how many are refused */
typedef enum { NOTHING, SENDS, ANNOUNCEMENTS, RECEIVES, POSTS, STARTS, PUTS, COMPLETES, FLUSHES, FLAGS } kind;
static kind refusing;
static int before, times;
static int is_refused(kind what) {
  if (refusing != what || before-- > 0 || times == 0) return 0;
  times--;
  return ++failed;
}
int MPI_Win_post(MPI_Group group, int assert, MPI_Win win) {
  return is_refused(POSTS) ? MPI_ERR_OTHER : PMPI_Win_post(group, assert, win);
}
int MPI_Win_start(MPI_Group group, int assert, MPI_Win win) {
  return is_refused(STARTS) ? MPI_ERR_OTHER : PMPI_Win_start(group, assert, win);
}
int MPI_Win_complete(MPI_Win win) { return is_refused(COMPLETES) ? PMPI_Win_complete(win), MPI_ERR_OTHER : PMPI_Win_complete(win); }
int MPI_Win_flush(int rank, MPI_Win win) { return is_refused(FLUSHES) ? MPI_ERR_OTHER : PMPI_Win_flush(rank, win); }
int MPI_Put(const void *from, int count, MPI_Datatype type, int target, MPI_Aint displ, int n, MPI_Datatype there, MPI_Win win) {
  return is_refused(PUTS) ? MPI_ERR_OTHER : PMPI_Put(from, count, type, target, displ, n, there, win);
}
int MPI_Accumulate(const void *from, int count, MPI_Datatype type, int target, MPI_Aint displ, int n, MPI_Datatype there, MPI_Op op, MPI_Win win) {
  return is_refused(FLAGS) ? MPI_ERR_OTHER : PMPI_Accumulate(from, count, type, target, displ, n, there, op, win);
}

/* the send that was refused last */
static sent refused_send;
/* the length from which on messages are not sent at all; 0: all are */
static int vanish;
/* bytes of a message that is announced, by its length */
enum { ANNOUNCED = 10000 };
static int is_announcement(const void *buffer, int count) {
  static const uint64_t length = ANNOUNCED;
  return count == sizeof length && !memcmp(buffer, &length, sizeof length);
}
int MPI_Issend(const void *buffer, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm, MPI_Request *request) {
  if (is_announcement(buffer, count) && is_refused(ANNOUNCEMENTS)) return MPI_ERR_OTHER;
  return PMPI_Issend(buffer, count, type, target, tag, comm, request);
}
int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm, MPI_Request *request) {
  if (is_refused(SENDS)) return refused_send = (sent){buffer, count, target, tag, type, comm, MPI_REQUEST_NULL}, MPI_ERR_OTHER;
  if (is_announcement(buffer, count) && is_refused(ANNOUNCEMENTS)) return MPI_ERR_OTHER;
  if (vanish > 0 && count >= vanish) return *request = MPI_REQUEST_NULL, MPI_SUCCESS;
  if (refuse_send) return refuse_send = 0, failed++, MPI_ERR_OTHER;
  if (!lazily) return PMPI_Isend(buffer, count, type, target, tag, comm, request);
  sent s = {buffer, count, target, tag, type, comm, MPI_REQUEST_NULL};
  if (left-- == 0) return failed++, MPI_ERR_OTHER;
  MPI_Grequest_start(query, release, cancel, NULL, request);
  s.request = *request;
  if (lazy_count < MOST) lazy[lazy_count++] = s;
  return MPI_SUCCESS;
}

/* how many receives there are until one is refused; none is when negative */
static int receives_left = -1;
/* whether there is room for one byte of the next message of process 0, so that its receive fails
   when it has come */
static int shorten;
static char room;
int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request) {
  if (receives_left >= 0 && receives_left-- == 0) return failed++, MPI_ERR_OTHER;
  if (is_refused(RECEIVES)) return MPI_ERR_OTHER;
  if (shorten && source == 0 && count > 1) return shorten = 0, failed++, PMPI_Irecv(&room, 1, MPI_BYTE, source, tag, comm, request);
  return PMPI_Irecv(buffer, count, type, source, tag, comm, request);
}
int MPI_Imrecv(void *buffer, int count, MPI_Datatype type, MPI_Message *message, MPI_Request *request) {
  if (shorten && count > 1) return shorten = 0, failed++, PMPI_Imrecv(&room, 1, MPI_BYTE, message, request);
  return PMPI_Imrecv(buffer, count, type, message, request);
}

/* true: the next window is made, and then refused; the window made last */
static int refuse_window;
static MPI_Win made;
int MPI_Win_allocate(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *window) {
  int code = PMPI_Win_allocate(bytes, unit, info, comm, base, window);
  made = *window;
  if (refuse_window) return refuse_window = 0, failed++, MPI_ERR_OTHER;
  return code;
}

/* memory that has been freed is another's */
static void scribble(void) {
  void *blocks[2000];
  for (int k = 0; k < 2000; k++) {
    size_t size = 16 + (size_t)(k % 200) * 24;
    blocks[k] = malloc(size);
    memset(blocks[k], 0xee, size);
  }
  for (int k = 0; k < 2000; k++) free(blocks[k]);
}

/* MPI reads what it has been given, now */
static void send_late(void) {
  lazily = 0;
  CHECK(failed == 1 && lazy_count > 0, "%d sends failed, after %d", failed, lazy_count);
  for (int k = 0; k < lazy_count; k++) {
    OK(PMPI_Send(lazy[k].buffer, lazy[k].count, lazy[k].type, lazy[k].target, lazy[k].tag, lazy[k].comm));
    MPI_Grequest_complete(lazy[k].request);
  }
  lazy_count = failed = 0;
}

static void set_on(MPI_Comm comm, const char *schedule, const char *nodes, int in, const int *sources, const int *in_weights, int out, const int *targets, const int *out_weights) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_schedule", schedule);
  MPI_Info_set(info, "mpix_shared_memory", "0");
  MPI_Info_set(info, "mpix_fuse", "true");
  MPI_Info_set(info, "mpix_whole_communicator", "true");
  if (in_weights != MPI_UNWEIGHTED) MPI_Info_set(info, "mpix_weight_unit", "1000000");
  if (nodes) MPI_Info_set(info, "mpix_nodes", nodes);
  OK(MPIX_Neighbor_alltoall_set(in, sources, in_weights, out, targets, out_weights, info, comm));
  MPI_Info_free(&info);
}

static MPI_Comm set(const char *schedule, const char *nodes, int in, const int *sources, int out, const int *targets) {
  MPI_Comm comm = test_duplicate();
  set_on(comm, schedule, nodes, in, sources, MPI_UNWEIGHTED, out, targets, MPI_UNWEIGHTED);
  return comm;
}

/* process 0 sends to process 1, twice, two short fields put together; the second send fails */
static void fused(int plan) {
  int peers[2] = {1 - test_rank, 1 - test_rank}, sends = test_rank == 0 ? 2 : 0, comes = test_rank == 1 ? 2 : 0, code;
  MPI_Comm comm = set("direct", NULL, comes, peers, sends, peers);
  int from[2][2][50], into[2][2][50] = {0}, counts[4] = {50, 50, 50, 50};
  for (int k = 0; k < 200; k++) from[k / 100][k / 50 % 2][k % 50] = test_value(0, 0, k);
  const void *sendbufs[2] = {from[0], from[1]};
  void *recvbufs[2] = {into[0], into[1]};
  MPI_Aint displs[4] = {0, sizeof from[0][0], 0, sizeof from[0][0]};
  MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
  MPIX_Request request = NULL;
  if (plan) OK(MPIX_Neighbor_alltoallw_fields_plan(2, sendbufs, counts, displs, types, recvbufs, counts, displs, types, comm, MPI_INFO_NULL, &request));
  for (int again = 0; again < 3; again++) {
    memset(into, 0, sizeof into);
    if (test_rank == 0 && again == 1) lazily = 1, left = 1;
    if (plan) OK(MPIX_Request_start(&request));
    else OK(MPIX_Ineighbor_alltoallw_fields(2, sendbufs, counts, displs, types, recvbufs, counts, displs, types, comm, &request));
    if (test_rank == 0 && again == 1) scribble(), send_late();
    code = MPIX_Request_wait(&request);
    CHECK((code != MPI_SUCCESS) == (again == 1 && test_rank < 2), "call %d: %s (plan %d)", again, test_message(code), plan);
    if (test_rank == 1 && again != 1) CHECK(!memcmp(from, into, sizeof from), "call %d: wrong data (plan %d)", again, plan);
  }
  if (plan) OK(MPIX_Request_free(&request));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&comm);
}

/* processes 0 and 2 send two short fields, put together, to process 1; what process 0 sends is
   refused in the second call. The fields of process 2 have arrived all the same, and those of
   process 0 are as they were */
static void fused_with_others(int plan) {
  if (test_size != 3) return;
  int peers[2] = {0, 2}, one = 1, in = test_rank == 1 ? 2 : 0, out = 1 - in / 2, counts[4] = {50, 50, 50, 50};
  MPI_Comm comm = set("direct", NULL, in, peers, out, &one);
  int from[2][50], into[2][2][50];
  const void *sendbufs[2] = {from[0], from[1]};
  void *recvbufs[2] = {into[0], into[1]};
  MPI_Aint displs[4] = {0, sizeof from[0], 0, sizeof from[0]}, start[2] = {0, 0};
  MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
  MPIX_Request request = NULL;
  if (plan) OK(MPIX_Neighbor_alltoallw_fields_plan(2, sendbufs, counts, start, types, recvbufs, counts, displs, types, comm, MPI_INFO_NULL, &request));
  for (int call = 0; call < 3; call++) {
    for (int k = 0; k < 100; k++) from[k / 50][k % 50] = test_value(test_rank, call, k);
    for (int k = 0; k < 200; k++) into[k / 100][k / 50 % 2][k % 50] = -1;
    refuse_send = call == 1 && test_rank == 0;
    if (plan) OK(MPIX_Request_start(&request));
    else OK(MPIX_Ineighbor_alltoallw_fields(2, sendbufs, counts, start, types, recvbufs, counts, displs, types, comm, &request));
    int code = MPIX_Request_wait(&request);
    CHECK((code != MPI_SUCCESS) == (call == 1 && test_rank < 2), "call %d: %s (plan %d)", call, test_message(code), plan);
    for (int j = 0; j < in; j++)
      for (int k = 0; k < 100; k++) {
        int have = into[k / 50][j][k % 50], expected = call == 1 && j == 0 ? -1 : test_value(peers[j], call, k);
        CHECK(have == expected, "call %d: of process %d: %d, not %d (plan %d)", call, peers[j], have, expected, plan);
      }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  failed = 0;
  if (plan) OK(MPIX_Request_free(&request));
  MPI_Comm_free(&comm);
}

/* blocks that travel in packets: process 0 puts one together for each of two others on another
   node; the second send fails */
static void packets(void) {
  if (test_size < 3) return;
  int sources[2] = {0, 0}, targets[4] = {1, 2, 1, 2}, in = test_rank == 1 || test_rank == 2 ? 2 : 0, out = test_rank == 0 ? 4 : 0;
  MPI_Comm comm = set("node_aware", "1", in, sources, out, targets);
  int from[4][30], into[2][30] = {{0}};
  for (int k = 0; k < 120; k++) from[k / 30][k % 30] = test_value(0, 0, k);
  for (int again = 0; again < 3; again++) {
    MPIX_Request request = NULL;
    memset(into, 0, sizeof into);
    if (test_rank == 0 && again == 1) lazily = 1, left = 1;
    OK(MPIX_Ineighbor_alltoall(from, 30, MPI_INT, into, 30, MPI_INT, comm, &request));
    if (test_rank == 0 && again == 1) scribble(), send_late();
    int code = MPIX_Request_wait(&request), failing = code != MPI_SUCCESS, all = 0;
    CHECK(again == 1 || !failing, "call %d: %s", again, test_message(code));
    MPI_Allreduce(&failing, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == (again == 1 ? 2 : 0) && (failing || again != 1 || test_rank != 0), "call %d: %d errors", again, all);
    for (int j = 0; j < in && !failing; j++) CHECK(!memcmp(into[j], from[2 * j + test_rank - 1], sizeof into[j]), "packet of process %d, block %d", test_rank, j);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&comm);
}

/* calls in which process 1 gets `in` blocks, all of them right */
static void calls(int in, MPI_Comm comm) {
  for (int call = 1; call < 9; call++) {
    int from[3], into[3];
    for (int i = 0; i < 3; i++) from[i] = test_value(2, i, call), into[i] = -1;
    OK(MPIX_Neighbor_alltoall(from, 1, MPI_INT, into, 1, MPI_INT, comm));
    for (int i = 0; i < in; i++) CHECK(into[i] == test_value(2, i, call), "call %d: block %d is %d", call, i, into[i]);
  }
}

/* process 0 sends three blocks to process 1, one a round; the second receive of the first of two
   requests is refused. Messages between the two no longer match: the other request, which is under
   way, must not succeed without its blocks, and later calls say so. Process 2, to which process 1
   sends a block, does not notice */
static void refused_receive(void) {
  if (test_size < 2) return;
  int sources[3] = {test_rank - 1, 0, 0}, targets[3] = {test_rank + 1, 1, 1};
  int in = test_rank == 1 ? 3 : test_rank == 2, out = test_rank == 0 ? 3 : test_rank == 1 && test_size > 2;
  /* the second receive is posted when the first round is over */
  setenv("MPIX_ROUND_WINDOW", "1", 1);
  MPI_Comm comm = set("edge_coloring", NULL, in, sources, out, targets);
  unsetenv("MPIX_ROUND_WINDOW");
  char text[2000];
  int length, from[2][3], into[2][3], code[2];
  OK(MPIX_Neighborhood_describe(MPIX_NEIGHBOR_ALLTOALL, comm, sizeof text, text, &length));
  CHECK(test_rank > 1 || strstr(text, "edge_coloring: 3 rounds"), "%s", text);
  MPIX_Request request[2];
  failed = 0;
  if (test_rank == 1) receives_left = 2;
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < 3; i++) from[k][i] = test_value(k, i, 0), into[k][i] = -1;
    OK(MPIX_Ineighbor_alltoall(from[k], 1, MPI_INT, into[k], 1, MPI_INT, comm, &request[k]));
  }
  for (int k = 0; k < 2; k++) code[k] = MPIX_Request_wait(&request[k]);
  receives_left = -1;
  if (test_rank == 1) {
    CHECK(failed == 1, "%d receives refused", failed);
    for (int k = 0; k < 2; k++) {
      int same = 0;
      for (int i = 0; i < 3; i++) same += into[k][i] == test_value(k, i, 0);
      CHECK(code[k] != MPI_SUCCESS && same < 3, "request %d: %s, %d blocks", k, test_message(code[k]), same);
    }
    code[0] = MPIX_Neighbor_alltoall(from[0], 1, MPI_INT, into[0], 1, MPI_INT, comm);
    OK(MPIX_Neighbor_error_string(comm, sizeof text, text, &length));
    CHECK(code[0] != MPI_SUCCESS && strstr(text, "process 0"), "later call: %s", text);
  } else {
    CHECK(code[0] == MPI_SUCCESS && code[1] == MPI_SUCCESS, "the others: %s", test_message(code[code[0] == MPI_SUCCESS]));
  }
  if (test_rank == 2) {
    into[0][0] = -1;
    OK(MPIX_Neighbor_alltoall(from[0], 1, MPI_INT, into[0], 1, MPI_INT, comm));
    CHECK(into[0][0] == test_value(0, 0, 0) && into[1][0] == test_value(1, 0, 0), "%d %d came", into[0][0], into[1][0]);
  }
  failed = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  /* what was sent there and not received comes to nobody where the neighborhood is set again, nor
     on another communicator: MPICH gives one that is made now the context of one that has been
     freed */
  OK(MPIX_Neighborhood_free(MPIX_NEIGHBOR_ALLTOALL, comm));
  set_on(comm, "edge_coloring", NULL, in, sources, MPI_UNWEIGHTED, out, targets, MPI_UNWEIGHTED);
  calls(in, comm);
  MPI_Comm_free(&comm);
  comm = set("edge_coloring", NULL, in, sources, out, targets);
  calls(in, comm);
  MPI_Comm_free(&comm);
}

/* process 0 sends a packet with a block for each of the two others, which share a node: one of them
   passes on what is for the other one. If the packet cannot be sent, or its receive fails, neither
   takes anything else for its block, however short the other block is */
static void forwarded(int receive) {
  enum { CALLS = 6 };
  if (test_size != 3) return;
  int sources[1] = {0}, targets[2] = {1, 2}, in = test_rank > 0, out = test_rank > 0 ? 0 : 2, errors = 0;
  MPI_Comm comm = set("node_aware", "0,1,1", in, sources, out, targets);
  for (int call = 0; call < CALLS; call++) {
    /* at the other one of the two each time */
    int counts[2] = {call % 4 < 2 ? 1 : 100, call % 4 < 2 ? 100 : 1}, displs[2] = {0, 100}, expected = test_rank > 0 ? counts[test_rank - 1] : 0;
    int from[200], into[100], failing = call % 2;
    for (int k = 0; k < 200; k++) from[k] = test_value(k / 100, call, k % 100);
    for (int k = 0; k < 100; k++) into[k] = -1;
    failed = 0;
    if (failing && receive) shorten = test_rank > 0;
    if (failing && !receive) refuse_send = test_rank == 0;
    int code = MPIX_Neighbor_alltoallv(from, counts, displs, MPI_INT, into, &expected, displs, MPI_INT, comm), wrong = 0;
    for (int k = 0; k < expected; k++) wrong += into[k] != test_value(test_rank - 1, call, k);
    CHECK(code != MPI_SUCCESS || wrong == 0, "call %d: no error, but %d ints are wrong", call, wrong);
    CHECK(code == MPI_SUCCESS || failing, "call %d: %s", call, test_message(code));
    /* who needs no more than one message of process 0 may not have failed */
    int told = code != MPI_SUCCESS, all;
    shorten = refuse_send = 0;
    MPI_Allreduce(&told, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == (failing ? receive ? 2 : 3 : 0), "call %d: %d errors", call, all);
    errors += told;
  }
  CHECK(errors == (test_rank > 0 || !receive ? CALLS / 2 : 0), "%d errors", errors);
  failed = 0;
  MPI_Comm_free(&comm);
}

/* each process sends to the next one, and the ends of each edge compare their arguments. Of these
   messages, process 1 cannot send one: the edge has no data at both ends, the others have theirs,
   and so have all in the next call. If it cannot receive one, none of its edges has data, and all
   that it calls later fails; nobody waits for it */
static void refused_comparison(int receive) {
  int n = test_size, next = (test_rank + 1) % n, last = (test_rank + n - 1) % n;
  MPI_Comm comm = test_duplicate();
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_verify", "true");
  MPI_Info_set(info, "mpix_shared_memory", "0");
  OK(MPIX_Neighbor_alltoall_set(1, &last, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, info, comm));
  MPI_Info_free(&info);
  for (int call = 0; call < 4; call++) {
    int from = test_value(test_rank, next, call), into = -1, fails = 0;
    failed = 0;
    if (call == 1 && test_rank == 1) refuse_send = !receive, receives_left = receive ? 0 : -1;
    int code = MPIX_Neighbor_alltoall(&from, 1, MPI_INT, &into, 1, MPI_INT, comm), told = code != MPI_SUCCESS;
    refuse_send = 0, receives_left = -1;
    if (call == 1 && test_rank == 1) CHECK(failed == 1 && told, "%d refused: %s", failed, test_message(code));
    if (call == 0) CHECK(!told, "call 0: %s", test_message(code));
    /* between processes that are not process 1 all goes on */
    if (test_rank != 1 && last != 1) CHECK(into == test_value(last, test_rank, call), "call %d: %d", call, into);
    CHECK(told || into == test_value(last, test_rank, call), "call %d: no error, but %d", call, into);
    MPI_Allreduce(&told, &fails, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(fails == (call == 0 || (call > 1 && !receive) ? 0 : receive && n > 2 ? 3 : 2), "call %d: %d errors", call, fails);
  }
  failed = 0;
  MPI_Comm_free(&comm);
}

/* calls that put are starts of a plan, whose blocks go straight where they are received */
static int planned;

/* a call of the ring, or a start of a plan of it */
static int put(const void *from, void *into, int bytes, MPI_Comm comm, MPIX_Request *plan) {
  if (!planned) return MPIX_Neighbor_alltoall(from, bytes, MPI_BYTE, into, bytes, MPI_BYTE, comm);
  if (!*plan) OK(MPIX_Neighbor_alltoall_plan(from, bytes, MPI_BYTE, into, bytes, MPI_BYTE, comm, MPI_INFO_NULL, plan));
  int code = MPIX_Request_start(plan);
  return code == MPI_SUCCESS ? MPIX_Request_wait(plan) : code;
}

/* each process puts a block to the next one, and in call 2 MPI refuses something of process 1 so
   many times: then that call fails there, and at the next process if that has no block. All others
   have theirs, and the next calls are as if nothing had been. If no process lets others put any
   more (MPI_Win_post fails), blocks go by messages, which MPI refuses likewise */
static void refused_put(const char *synchronization, int posts, kind what, int first, int many, int bytes, int told) {
  int n = test_size, next = (test_rank + 1) % n, last = (test_rank + n - 1) % n;
  MPI_Comm comm = test_duplicate();
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_schedule", "direct");
  MPI_Info_set(info, "mpix_transport", "rma");
  MPI_Info_set(info, "mpix_rma_synchronization", synchronization);
  if (!strcmp(synchronization, "fence")) MPI_Info_set(info, "mpix_whole_communicator", "true");
  MPI_Info_set(info, "mpix_shared_memory", "0");
  OK(MPIX_Neighbor_alltoall_set(1, &last, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, info, comm));
  MPI_Info_free(&info);
  char *from = malloc((size_t)bytes), *into = malloc((size_t)bytes);
  MPIX_Request plan = NULL;
  for (int call = 0; call < 5; call++) {
    for (int i = 0; i < bytes; i++) from[i] = (char)(test_rank + call + i), into[i] = -1;
    int fails = call == 2 && (test_rank == 1 || (told && test_rank == 2 % n)), wrong = 0;
    failed = 0, refusing = NOTHING;
    if (call == 0 && posts) refusing = POSTS, before = 0, times = 1;
    if (call == 2 && test_rank == 1) refusing = what, before = first, times = many;
    int code = put(from, into, bytes, comm, &plan);
    if (refusing != NOTHING) CHECK(failed == (call == 2 ? many : 1), "call %d: %d refused", call, failed);
    refusing = NOTHING;
    CHECK((code != MPI_SUCCESS) == (fails || (call == 0 && posts)), "%s, %d after %d, call %d: %s", synchronization, (int)what, first, call, test_message(code));
    for (int i = 0; i < bytes; i++) wrong += into[i] != (char)(last + call + i);
    if (!(fails && told && test_rank == 2 % n)) CHECK(wrong == 0, "%s, %d after %d, call %d: %d bytes are wrong", synchronization, (int)what, first, call, wrong);
  }
  failed = 0;
  if (plan) OK(MPIX_Request_free(&plan));
  free(from), free(into);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&comm);
}

/* MPI refuses calls of one kind of process 1 twice, after `first` others, in one of five calls, and
   so keeps it from ending the call with the barrier of all: it fails on all, as do the next ones */
static void refused_fence(kind what, int first, int bytes, int in) {
  int next = (test_rank + 1) % test_size, last = (test_rank + test_size - 1) % test_size;
  MPI_Comm comm = test_duplicate();
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_schedule", "direct");
  MPI_Info_set(info, "mpix_transport", "rma");
  MPI_Info_set(info, "mpix_rma_synchronization", "fence");
  MPI_Info_set(info, "mpix_whole_communicator", "true");
  MPI_Info_set(info, "mpix_shared_memory", "0");
  OK(MPIX_Neighbor_alltoall_set(1, &last, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, info, comm));
  MPI_Info_free(&info);
  char *from = malloc((size_t)bytes), *into = malloc((size_t)bytes);
  MPIX_Request plan = NULL;
  for (int call = 0; call < 5; call++) {
    int wrong = 0;
    for (int i = 0; i < bytes; i++) from[i] = (char)(test_rank + call + i), into[i] = -1;
    failed = 0, refusing = NOTHING;
    if (call == in && test_rank == 1) refusing = what, before = first, times = 2;
    int code = put(from, into, bytes, comm, &plan);
    if (refusing != NOTHING) CHECK(failed == 2, "%d of %d refused", failed, (int)what);
    refusing = NOTHING;
    CHECK((code != MPI_SUCCESS) == (call >= in), "%d after %d, call %d: %s", (int)what, first, call, test_message(code));
    for (int i = 0; i < bytes; i++) wrong += into[i] != (char)(last + call + i);
    if (call < in) CHECK(wrong == 0, "%d, call %d: %d bytes are wrong", (int)what, call, wrong);
  }
  failed = 0;
  if (plan) OK(MPIX_Request_free(&plan));
  /* who was told where the blocks of process 1 lie may still put there */
  free(from);
  if (!planned) free(into);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&comm);
}

static void refused_puts(void) {
  enum { SHORT = 8, PLANNED = 50000, LONG = 300000 };
  int has_active = !are_epochs_flawed();
  for (int active = 0; active <= has_active; active++) {
    const char *how = active ? "active" : "passive";
    /* the answer; what does not fit its place and follows by message */
    refused_put(how, 0, SENDS, 0, 1, SHORT, 0);
    refused_put(how, 0, RECEIVES, 0, 1, SHORT, 0);
    refused_put(how, 0, SENDS, 1, 1, LONG, 1);
    refused_put(how, 0, PUTS, 0, 1, SHORT, 1);
    /* the block itself, without the header behind it */
    refused_put(how, 0, PUTS, 0, 1, 10000, 1);
    /* the header alone, without which nobody waits for the message */
    refused_put(how, 0, PUTS, 0, 1, LONG, 1);
  }
  refused_put("passive", 0, FLUSHES, 0, 1, SHORT, 1);
  refused_put("passive", 0, FLAGS, 0, 1, SHORT, 1);
  /* the barrier's receives and sends, and what completes a put, are tried once more */
  refused_put("fence", 0, RECEIVES, 0, 1, SHORT, 0);
  refused_put("fence", 0, SENDS, 0, 1, SHORT, 0);
  refused_put("fence", 0, FLUSHES, 0, 1, SHORT, 0);
  refused_put("fence", 0, SENDS, 0, 1, LONG, 1);
  refused_put("fence", 0, PUTS, 0, 1, SHORT, 1);
  refused_put("fence", 0, PUTS, 0, 1, 10000, 1);
  refused_put("fence", 0, PUTS, 0, 1, LONG, 1);
  refused_fence(FLUSHES, 0, SHORT, 2), refused_fence(SENDS, 0, SHORT, 2), refused_fence(RECEIVES, 0, SHORT, 2);
  /* plans: the answer, its receive behind those of the barrier, the block, what completes it, and
     that answers will come, of which the first call tells */
  int rounds = test_size > 2 ? 2 : 1;
  planned = 1;
  refused_put("fence", 0, SENDS, 0, 1, PLANNED, 0);
  refused_put("fence", 0, RECEIVES, rounds, 1, PLANNED, 0);
  refused_put("fence", 0, PUTS, 0, 1, PLANNED, 1);
  refused_put("fence", 0, FLUSHES, 0, 1, PLANNED, 0);
  refused_fence(SENDS, 0, PLANNED, 2), refused_fence(RECEIVES, rounds, PLANNED, 2), refused_fence(FLAGS, 0, PLANNED, 0);
  planned = 0;
  if (!has_active) return;
  refused_put("active", 0, STARTS, 0, 1, SHORT, 0);
  /* the epoch of the target never ends: its window is left to MPI */
  refused_put("active", 0, STARTS, 0, 2, SHORT, 1);
  refused_put("active", 0, COMPLETES, 0, 1, SHORT, 0);
  /* by messages: the answer, the header, the data */
  for (int k = 0; k < 3; k++) refused_put("active", 1, SENDS, k, 1, SHORT, k > 0);
}

/* process 1 cannot take part in what its protocol makes first: so nobody begins the exchange, and
   the next one is as if nothing had been */
static void refused_making(void) {
  MPI_Comm comm = test_duplicate();
  MPI_Info info;
  MPI_Info_create(&info);
  int next = (test_rank + 1) % test_size, last = (test_rank + test_size - 1) % test_size, one = 1, zero = 0;
  for (int call = 0; call < 4; call++) {
    MPIX_Sparse_result result;
    MPI_Info_set(info, "mpix_sparse", call == 0 ? "pex" : "rsx");
    int value = test_value(test_rank, next, call), source = -1;
    MPI_Count elements = 0;
    void *data = NULL;
    failed = 0, refuse_window = call == 1 && test_rank == 1;
    int code = MPIX_Sparse_exchange(1, &next, &value, &one, &zero, MPI_INT, MPI_INT, info, comm, &result);
    if (call == 1 && test_rank == 1) CHECK(failed == 1, "%d refused", failed);
    refuse_window = 0;
    CHECK((code != MPI_SUCCESS) == (call == 1), "call %d: %s", call, test_message(code));
    if (code != MPI_SUCCESS) {
      /* that of which the library cannot know that all have it */
      MPI_Win_free(&made);
      continue;
    }
    OK(MPIX_Sparse_get_message(result, 0, &source, &elements, &data));
    CHECK(source == last && elements == 1 && *(int *)data == test_value(last, test_rank, call), "call %d: process %d", call, source);
    OK(MPIX_Sparse_free(&result));
  }
  failed = 0;
  MPI_Info_free(&info);
  MPI_Comm_free(&comm);
}

/* the hints of a sparse exchange */
static MPI_Info sparse_by(const char *protocol) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_sparse", protocol);
  MPI_Info_set(info, "mpix_node_size", "1");
  return info;
}

/* process 0 sends messages of these lengths to process 1, the first time without memory for one of
   them: both ends hear of it, nobody else does, and the next exchange has all messages */
static void unpacked(const char *protocol, const char *node_size, int n, const int *counts, size_t memory) {
  enum { MOST_MESSAGES = 3 };
  MPI_Comm comm = test_duplicate();
  MPI_Info info = sparse_by(protocol);
  MPI_Info_set(info, "mpix_node_size", node_size);
  int to[MOST_MESSAGES] = {1, 1, 1}, displs[MOST_MESSAGES], all = 0, messages = 0, source, class;
  for (int m = 0; m < n; m++) displs[m] = all, all += counts[m];
  char *from = malloc((size_t)all), *data;
  for (int k = 0; k < all; k++) from[k] = (char)(k % 251);
  MPIX_Sparse_result result;
  for (int call = 0; call < 2; call++) {
    result = NULL;
    refused_memory = 0;
    if (test_rank == 0 && call == 0) scarce = memory;
    int code = MPIX_Sparse_exchange(test_rank == 0 ? n : 0, to, from, counts, displs, MPI_BYTE, MPI_BYTE, info, comm, &result);
    scarce = 0;
    MPI_Error_class(code, &class);
    if (call == 0) {
      CHECK(class == (test_rank == 0 ? MPI_ERR_NO_MEM : test_rank == 1 ? MPI_ERR_OTHER : MPI_SUCCESS), "%s: call %d: class %d: %s", protocol, call, class, test_message(code));
      CHECK(test_rank != 0 || refused_memory > 0, "%s: call %d: nothing was refused", protocol, call);
    } else {
      CHECK(code == MPI_SUCCESS, "%s: call %d: %s", protocol, call, test_message(code));
      MPI_Count elements, count;
      OK(MPIX_Sparse_get_count(result, &messages, &elements));
      CHECK(messages == (test_rank == 1 ? n : 0), "%s: call %d: %d messages", protocol, call, messages);
      for (int m = 0; m < messages; m++) {
        OK(MPIX_Sparse_get_message(result, m, &source, &count, (void **)&data));
        CHECK(count == counts[m] && !memcmp(data, from + displs[m], (size_t)count), "%s: call %d: message %d is wrong", protocol, call, m);
      }
    }
    OK(MPIX_Sparse_free(&result));
  }
  free(from);
  MPI_Info_free(&info);
  MPI_Comm_free(&comm);
}

static void packed_in_little_memory(void) {
  enum { ENVELOPE = (1 << 20) + 8 };
  static const int two[] = {2 << 20, 4}, three[] = {600 << 10, 8, 2 << 20}, whole[] = {ENVELOPE - 16};
  unpacked("crystal", "1", 2, two, 1 << 20), unpacked("nbx_node", "1", 2, two, 1 << 20);
  /* the label of the second message finds a buffer that is full */
  unpacked("crystal", "1", 3, three, 1 << 20), unpacked("nbx_node", "1", 3, three, 1 << 20);
  /* there is memory for the envelope of the own node, but not for passing on what is in it */
  unpacked("nbx_node", "2", 1, whole, ENVELOPE + 8);
}

/* the announcement of a long message of process 0 is refused, once: it is sent all the same */
static void announced(const char *protocol) {
  MPI_Comm comm = test_duplicate();
  MPI_Info info = sparse_by(protocol);
  int to = 1, length = ANNOUNCED, none = 0, messages = 0;
  char *from = malloc(ANNOUNCED);
  for (int k = 0; k < ANNOUNCED; k++) from[k] = (char)(k % 251);
  MPIX_Sparse_result result = NULL;
  MPI_Count elements;
  OK(MPIX_Sparse_sources(0, NULL, info, comm, &result));
  OK(MPIX_Sparse_free(&result));
  MPI_Barrier(comm);
  failed = 0;
  if (test_rank == 0) refusing = ANNOUNCEMENTS, before = 0, times = 1;
  OK(MPIX_Sparse_exchange(test_rank == 0, &to, from, &length, &none, MPI_BYTE, MPI_BYTE, info, comm, &result));
  CHECK(failed == (test_rank == 0), "%d announcements refused", failed);
  refusing = NOTHING, failed = 0;
  OK(MPIX_Sparse_get_count(result, &messages, &elements));
  CHECK(messages == (test_rank == 1) && elements == (test_rank == 1 ? ANNOUNCED : 0), "%s: %d messages", protocol, messages);
  if (messages == 1) {
    int source;
    void *data;
    OK(MPIX_Sparse_get_message(result, 0, &source, &elements, &data));
    CHECK(!memcmp(data, from, ANNOUNCED), "%s: wrong data", protocol);
  }
  OK(MPIX_Sparse_free(&result));
  free(from);
  MPI_Info_free(&info);
  MPI_Comm_free(&comm);
}

/* process 1 has no memory for what comes by the crystal router; its arguments may be `bad`, too */
static void unrouted(int plans, int bad) {
  enum { LONG = 2 << 20 };
  MPI_Comm comm = test_duplicate();
  MPI_Info info = sparse_by("crystal");
  int to = 1, none = 0, length = LONG, class;
  char *from = calloc(1, LONG);
  MPIX_Sparse_result result = NULL;
  MPIX_Sparse_plan plan = NULL;
  OK(MPIX_Sparse_sources(0, NULL, info, comm, &result));
  OK(MPIX_Sparse_free(&result));
  MPI_Barrier(comm);
  /* nobody is going to receive it */
  if (test_rank == 0) vanish = 1 << 20;
  if (test_rank == 1) scarce = 1 << 20;
  int sends = bad && test_rank == 1 ? -1 : test_rank == 0;
  int code = plans ? MPIX_Sparse_plan_create(sends, &to, from, &length, &none, MPI_BYTE, MPI_BYTE, info, comm, &plan)
                   : MPIX_Sparse_exchange(sends, &to, from, &length, &none, MPI_BYTE, MPI_BYTE, info, comm, &result);
  vanish = 0, scarce = 0;
  MPI_Error_class(code, &class);
  /* the others' exchanges come to their end, but a plan takes all */
  CHECK(class == (test_rank == 1 ? MPI_ERR_NO_MEM : plans ? MPI_ERR_OTHER : MPI_SUCCESS), "class %d: %s", class, test_message(code));
  CHECK(plan == NULL, "a plan of some processes");
  OK(MPIX_Sparse_free(&result));
  free(from);
  MPI_Info_free(&info);
  MPI_Comm_free(&comm);
}

/* process 0 can send neither its message nor, twice, the notice in its place: its call stops, but
   MPI still has the numbers of the census, and the notice */
static void stopped(void) {
  MPI_Comm comm = test_duplicate();
  MPI_Info info = sparse_by("pcx_library");
  int to = 1, one = 1, none = 0, value = 5;
  MPIX_Sparse_result result = NULL;
  OK(MPIX_Sparse_sources(0, NULL, info, comm, &result));
  OK(MPIX_Sparse_free(&result));
  MPI_Barrier(comm);
  failed = 0;
  if (test_rank == 0) refusing = SENDS, before = 0, times = 3;
  watched[0] = watched[1] = NULL, freed = 0;
  int code = MPIX_Sparse_exchange(test_rank == 0, &to, &value, &one, &none, MPI_INT, MPI_INT, info, comm, &result);
  CHECK((code != MPI_SUCCESS) == (test_rank < 2), "%s", test_message(code));
  if (test_rank == 0) {
    CHECK(failed == 3, "%d sends refused", failed);
    CHECK(watched[0] && watched[1] && freed == 0, "%d buffers of a collective freed", freed);
    scribble();
    sent s = refused_send;
    OK(PMPI_Send(s.buffer, s.count, s.type, s.target, s.tag, s.comm));
  } else if (test_rank == 1) {
    char text[500];
    int length;
    OK(MPIX_Neighbor_error_string(comm, sizeof text, text, &length));
    CHECK(strstr(text, "process 0: a message could not be sent to this process"), "%s", text);
  }
  refusing = NOTHING, failed = 0, watched[0] = watched[1] = NULL;
  MPI_Barrier(comm);
  OK(MPIX_Sparse_free(&result));
  MPI_Info_free(&info);
  MPI_Comm_free(&comm);
}

/* process 1 cannot take part in the exchange that makes a plan: a receive is refused before it
   begins, once, or its only message, and what takes that one's place, so that its call stops. There
   is no plan, and all get an error */
static void unplanned(const char *protocol, kind what, int most) {
  MPI_Comm comm = test_duplicate();
  MPI_Info info = sparse_by(protocol);
  int to = 0, one = 1, none = 0, value = 5;
  MPIX_Sparse_plan plan = NULL;
  MPIX_Sparse_result result = NULL;
  OK(MPIX_Sparse_sources(0, NULL, info, comm, &result));
  OK(MPIX_Sparse_free(&result));
  failed = 0;
  if (test_rank == 1) refusing = what, before = 0, times = most;
  int code = MPIX_Sparse_plan_create(test_rank == 1, &to, &value, &one, &none, MPI_INT, MPI_INT, info, comm, &plan);
  CHECK(code != MPI_SUCCESS && plan == NULL, "a plan of some processes");
  CHECK(failed == (test_rank == 1 ? most : 0), "%d refused", failed);
  refusing = NOTHING;
  if (what == SENDS && test_rank == 1) {
    sent s = refused_send;
    OK(PMPI_Send(s.buffer, s.count, s.type, s.target, s.tag, s.comm));
  } else if (what == RECEIVES) {
    OK(MPIX_Sparse_plan_create(test_rank == 1, &to, &value, &one, &none, MPI_INT, MPI_INT, info, comm, &plan));
    OK(MPIX_Sparse_plan_free(&plan));
  }
  MPI_Barrier(comm);
  MPI_Info_free(&info);
  MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  if (test_size >= 2) fused(0), fused(1);
  fused_with_others(0), fused_with_others(1);
  packets();
  refused_receive();
  forwarded(0), forwarded(1);
  if (test_size >= 2) refused_making(), refused_comparison(0), refused_comparison(1), refused_puts();
  if (test_size >= 2) packed_in_little_memory(), announced("nbx"), announced("pcx"), announced("pcx_library");
  if (test_size >= 2) unrouted(0, 0), unrouted(1, 0), unrouted(1, 1), stopped();
  if (test_size >= 2) unplanned("nbx", RECEIVES, 1), unplanned("crystal", RECEIVES, 1), unplanned("pcx_library", SENDS, 3);
  return test_finish();
}
