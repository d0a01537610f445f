/* Errors of sparse exchanges: the process whose arguments are wrong gets the class and a text with
   argument and value, through the error handler of its communicator; the others end their exchange,
   get what the rest has sent, and the next exchange is as good as any. */
#define _GNU_SOURCE
#include "handled.h"
#include "sparse.h"

static int me, n, wrong_one;
static MPI_Comm comm;

/* of results there is no communicator */
#define HANDLED_WORLD(call, class, text) HANDLED_ON(MPI_COMM_WORLD, call, class, text)

static const char *protocol;

/* calls of MPI that fail: receives, those from any source, the next one, and packing on this
   process, windows everywhere; and the test that finds the next message complete */
static int receives_fail, open_receives_fail, next_receive_fails, packs_fail, windows_fail, next_end_fails;
int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
  int code = PMPI_Test(request, flag, status);
  if (code == MPI_SUCCESS && *flag && next_end_fails) return next_end_fails = 0, MPI_ERR_OTHER;
  return code;
}
int MPI_Pack(const void *from, int count, MPI_Datatype type, void *into, int size, int *position, MPI_Comm c) {
  if (packs_fail) return MPI_ERR_INTERN;
  return PMPI_Pack(from, count, type, into, size, position, c);
}
int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm c, MPI_Request *request) {
  if (next_receive_fails) return next_receive_fails = 0, MPI_ERR_OTHER;
  if (receives_fail || (open_receives_fail && source == MPI_ANY_SOURCE)) return MPI_ERR_OTHER;
  return PMPI_Irecv(buffer, count, type, source, tag, c, request);
}
int MPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm c, void *base, MPI_Win *window) {
  if (windows_fail) return MPI_ERR_OTHER;
  return PMPI_Win_allocate(size, unit, info, c, base, window);
}

static MPI_Info chosen(void) { return test_hint("mpix_sparse", protocol); }

/* the messages of a process, and those of them that arrive while one process is in error */
static void around(list *l, int s, int round, int size) {
  (void)round;
  add(l, (s + 1) % size, 8), add(l, s, 4), add(l, (s + 2) % size, 5000), add(l, (s + 1) % size, 0);
}
static const pattern AROUND = {"around", around, 0};
static void around_one(list *l, int s, int round, int size) {
  if (s != wrong_one) around(l, s, round, size);
}
static const pattern AROUND_ONE = {"around one in error", around_one, 0};

static void still_works(void) {
  MPI_Info info = chosen();
  for (int r = 0; r < 2; r++) exchange(protocol, &AROUND, r, info, comm);
  MPI_Info_free(&info);
}

/* one argument list with one thing wrong */
typedef struct {
  int ntargets, targets[4], counts[4], displs[4];
  const int *ptargets, *pcounts, *pdispls;
  const void *sendbuf;
  MPI_Datatype sendtype, recvtype;
  MPIX_Sparse_result *result;
} arguments;

/* the second one begins a little behind its address, and has gaps */
static MPI_Datatype uncommitted, gaps;
static MPIX_Sparse_result untouched;

enum { KINDS = 15 };
static void spoil(arguments *a, int kind, int *class, char *text, size_t room) {
  *class = MPI_ERR_ARG;
  switch (kind) {
    case 0: a->targets[2] = n, *class = MPI_ERR_RANK, snprintf(text, room, "targets[2] = %d is not a rank of this communicator of %d processes", n, n); break;
    case 1: a->targets[0] = -77, *class = MPI_ERR_RANK, snprintf(text, room, "targets[0] = -77 is not a rank"); break;
    case 2: a->counts[1] = -3, *class = MPI_ERR_COUNT, snprintf(text, room, "sendcounts[1] = -3 is negative"); break;
    case 3: a->ptargets = NULL, snprintf(text, room, "targets is NULL, but 4 entries are needed"); break;
    case 4: a->pcounts = NULL, snprintf(text, room, "sendcounts is NULL, but 4 entries are needed"); break;
    case 5: a->pdispls = NULL, snprintf(text, room, "senddispls is NULL, but 4 entries are needed"); break;
    case 6: a->sendbuf = NULL, *class = MPI_ERR_BUFFER, snprintf(text, room, "sendbuf is NULL, but a block of 8 elements lies there"); break;
    case 7: a->sendbuf = MPI_IN_PLACE, *class = MPI_ERR_BUFFER, snprintf(text, room, "sendbuf is MPI_IN_PLACE"); break;
    case 8: a->sendtype = MPI_DATATYPE_NULL, *class = MPI_ERR_TYPE, snprintf(text, room, "sendtype is MPI_DATATYPE_NULL"); break;
    case 9: a->recvtype = MPI_DATATYPE_NULL, *class = MPI_ERR_TYPE, snprintf(text, room, "recvtype is MPI_DATATYPE_NULL"); break;
    case 10: a->sendtype = uncommitted, *class = MPI_ERR_TYPE, snprintf(text, room, "sendtype cannot be used"); break;
    case 11: a->recvtype = uncommitted, *class = MPI_ERR_TYPE, snprintf(text, room, "recvtype cannot be used"); break;
    case 12: a->ntargets = -5, snprintf(text, room, "ntargets = -5 is negative"); break;
    case 13: a->result = NULL, snprintf(text, room, "result is NULL"); break;
    case 14: a->sendbuf = NULL, a->sendtype = gaps, *class = MPI_ERR_BUFFER, snprintf(text, room, "sendbuf is NULL, but a block of 8 elements lies there"); break;
  }
}

static void one_in_error(int kind, int who) {
  char text[200] = "";
  int class = -1;
  wrong_one = who;
  list l = list_of(&AROUND, me, 0, n);
  char *data = contents(&AROUND, &l, me, 0);
  MPIX_Sparse_result result = (MPIX_Sparse_result)&untouched;
  arguments a = {4, {0}, {0}, {0}, NULL, NULL, NULL, data, MPI_BYTE, MPI_BYTE, &result};
  for (int i = 0; i < 4; i++) a.targets[i] = l.targets[i], a.counts[i] = l.lengths[i], a.displs[i] = l.displs[i];
  a.ptargets = a.targets, a.pcounts = a.counts, a.pdispls = a.displs;
  if (me == who) spoil(&a, kind, &class, text, sizeof text);
  MPI_Info info = chosen();
  int code = MPIX_Sparse_exchange(a.ntargets, a.ptargets, a.sendbuf, a.pcounts, a.pdispls, a.sendtype, a.recvtype, info, comm, a.result);
  if (me == who) {
    HANDLED(code, class, text);
    HANDLED(MPIX_Sparse_exchange_block(-1, NULL, NULL, 1, MPI_BYTE, MPI_BYTE, info, comm, &result), MPI_ERR_ARG, "MPIX_Sparse_exchange_block: ntargets = -1 is negative");
    CHECK(result == (MPIX_Sparse_result)&untouched, "an error writes the result");
  } else {
    OK(code);
    check_result(protocol, &AROUND_ONE, 0, result, me, n);
    OK(MPIX_Sparse_free(&result));
    OK(MPIX_Sparse_sources(0, NULL, info, comm, &result));
    OK(MPIX_Sparse_free(&result));
  }
  MPI_Info_free(&info);
  free(data);
  list_free(&l);
}

static int never(int source, MPI_Count count, const void *data, void *context) {
  (void)source, (void)count, (void)data, (void)context;
  CHECK(0, "called");
  return 0;
}

/* the same of the other forms, on all processes */
static void other_forms(void) {
  MPI_Info info = chosen();
  int target = 0, bad = -4, one = 1, zero = 0, value = 5;
  MPI_Count wide = -6;
  MPI_Aint at = 0;
  MPIX_Sparse_result result = NULL;
  MPIX_Sparse_request request = NULL;
  MPIX_Sparse_plan plan = NULL;
  HANDLED(MPIX_Sparse_exchange_c(1, &target, &value, &wide, &at, MPI_INT, MPI_INT, info, comm, &result), MPI_ERR_COUNT, "MPIX_Sparse_exchange_c: sendcounts[0] = -6 is negative");
  HANDLED(MPIX_Sparse_exchange_block(1, &target, &value, -2, MPI_INT, MPI_INT, info, comm, &result), MPI_ERR_COUNT, "MPIX_Sparse_exchange_block: sendcount = -2 is negative");
  HANDLED(MPIX_Sparse_exchange_block_c(1, &target, &value, -2, MPI_INT, MPI_INT, info, comm, &result), MPI_ERR_COUNT, "MPIX_Sparse_exchange_block_c: sendcount = -2 is negative");
  HANDLED(MPIX_Sparse_sources(1, &bad, info, comm, &result), MPI_ERR_RANK, "MPIX_Sparse_sources: targets[0] = -4");
  HANDLED(MPIX_Sparse_sources(1, &target, info, comm, NULL), MPI_ERR_ARG, "MPIX_Sparse_sources: result is NULL");
  HANDLED(MPIX_Sparse_exchange_each(1, &target, &value, &bad, &zero, MPI_INT, MPI_INT, never, NULL, info, comm), MPI_ERR_COUNT, "MPIX_Sparse_exchange_each: sendcounts[0] = -4");
  HANDLED(MPIX_Sparse_exchange_each(1, &target, &value, &one, &zero, MPI_INT, MPI_INT, NULL, NULL, info, comm), MPI_ERR_ARG, "MPIX_Sparse_exchange_each: function is NULL");
  HANDLED(MPIX_Sparse_exchange_each_c(1, &target, &value, &wide, &at, MPI_INT, MPI_INT, never, NULL, info, comm), MPI_ERR_COUNT, "MPIX_Sparse_exchange_each_c: sendcounts[0] = -6");
  HANDLED(MPIX_Isparse_exchange(1, &target, &value, &bad, &zero, MPI_INT, MPI_INT, info, comm, &request), MPI_ERR_COUNT, "MPIX_Isparse_exchange: sendcounts[0] = -4");
  HANDLED(MPIX_Isparse_exchange(0, NULL, NULL, NULL, NULL, MPI_INT, MPI_INT, info, comm, NULL), MPI_ERR_ARG, "MPIX_Isparse_exchange: request is NULL");
  HANDLED(MPIX_Isparse_exchange_c(1, &target, &value, &wide, &at, MPI_INT, MPI_INT, info, comm, &request), MPI_ERR_COUNT, "MPIX_Isparse_exchange_c: sendcounts[0] = -6");
  HANDLED(MPIX_Sparse_plan_create(1, &target, &value, &bad, &zero, MPI_INT, MPI_INT, info, comm, &plan), MPI_ERR_COUNT, "MPIX_Sparse_plan_create: sendcounts[0] = -4");
  HANDLED(MPIX_Sparse_plan_create(0, NULL, NULL, NULL, NULL, MPI_INT, MPI_INT, info, comm, NULL), MPI_ERR_ARG, "MPIX_Sparse_plan_create: plan is NULL");
  HANDLED(MPIX_Sparse_plan_create_c(1, &target, &value, &wide, &at, MPI_INT, MPI_INT, info, comm, &plan), MPI_ERR_COUNT, "MPIX_Sparse_plan_create_c: sendcounts[0] = -6");
  wide = (MPI_Count)1 << 62;
  HANDLED(MPIX_Sparse_exchange_c(1, &target, &value, &wide, &at, MPI_INT, MPI_INT, info, comm, &result), MPI_ERR_COUNT, "sendcounts[0]: 4611686018427387904 elements of extent 4 bytes exceed the address range");
  CHECK(result == NULL && request == NULL && plan == NULL, "errors write results");
  /* arguments that are not looked at: arrays without entries, the buffer of messages without bytes
     */
  OK(MPIX_Sparse_exchange(0, NULL, MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, MPI_INT, info, comm, &result));
  OK(MPIX_Sparse_free(&result));
  OK(MPIX_Sparse_exchange(1, &me, NULL, &zero, &zero, MPI_INT, MPI_INT, info, comm, &result));
  OK(MPIX_Sparse_free(&result));
  int nowhere = MPI_PROC_NULL;
  OK(MPIX_Sparse_exchange(1, &nowhere, NULL, &one, &zero, MPI_INT, MPI_INT, info, comm, &result));
  OK(MPIX_Sparse_free(&result));
  MPI_Info_free(&info);
}

static int take_none(int source, MPI_Count count, const void *data, void *context) {
  (void)source, (void)count, (void)data;
  ++*(int *)context;
  return MPI_SUCCESS;
}

/* bytes that are no whole number of elements: an error of the receiver alone, and nothing is left
   behind */
static void ragged(void) {
  MPI_Info info = chosen();
  int last = n - 1, length = me == 0 ? 7 : 8, zero = 0, flag = 0, calls = 0;
  char data[8] = "abcdefg", text[200];
  snprintf(text, sizeof text, "the message of 7 bytes from process 0 is no whole number of elements of recvtype, which have 4 bytes");
  for (int form = 0; form < 5; form++) {
    MPIX_Sparse_result result = NULL;
    MPIX_Sparse_request request = NULL;
    MPIX_Sparse_plan plan = NULL;
    int code;
    if (form == 0) {
      code = MPIX_Sparse_exchange(1, &last, data, &length, &zero, MPI_BYTE, MPI_INT, info, comm, &result);
    } else if (form == 1) {
      OK(MPIX_Isparse_exchange(1, &last, data, &length, &zero, MPI_BYTE, MPI_INT, info, comm, &request));
      code = MPIX_Sparse_wait(&request, &result);
      CHECK(request == NULL, "a failed request is not NULL");
    } else if (form == 2) {
      OK(MPIX_Isparse_exchange(1, &last, data, &length, &zero, MPI_BYTE, MPI_INT, info, comm, &request));
      for (flag = 0, code = MPI_SUCCESS; !flag && code == MPI_SUCCESS && request;) code = MPIX_Sparse_test(&request, &flag, &result);
      CHECK(request == NULL, "a failed request is not NULL");
    } else if (form == 3) {
      calls = 0;
      code = MPIX_Sparse_exchange_each(1, &last, data, &length, &zero, MPI_BYTE, MPI_INT, take_none, &calls, info, comm);
      CHECK(me == last || calls == 0, "%d calls", calls);
      CHECK(me != last || calls < n, "%d calls, the ragged one among them", calls);
    } else {
      code = MPIX_Sparse_plan_create(1, &last, data, &length, &zero, MPI_BYTE, MPI_INT, info, comm, &plan);
    }
    /* a plan is made by all or none */
    if (me == last || form > 3) {
      HANDLED(code, MPI_ERR_TRUNCATE, text);
      CHECK(result == NULL && plan == NULL, "an error writes results");
    } else {
      OK(code);
      OK(MPIX_Sparse_free(&result));
      OK(MPIX_Sparse_plan_free(&plan));
    }
    still_works();
  }
  /* no byte is any number of elements' none; a type without bytes takes no other message */
  MPI_Datatype nothing;
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&nothing);
  MPIX_Sparse_result result = NULL;
  length = 0;
  OK(MPIX_Sparse_exchange(1, &last, data, &length, &zero, MPI_BYTE, nothing, info, comm, &result));
  OK(MPIX_Sparse_free(&result));
  length = me == 0 ? 4 : 0;
  int code = MPIX_Sparse_exchange(1, &last, data, &length, &zero, MPI_BYTE, nothing, info, comm, &result);
  if (me == last) HANDLED(code, MPI_ERR_TRUNCATE, "the message of 4 bytes from process 0");
  else OK(code);
  OK(MPIX_Sparse_free(&result));
  MPI_Type_free(&nothing);
  MPI_Info_free(&info);
}

/* runs a plan; one whose messages do not come ends the program */
static void run_plan(MPIX_Sparse_plan plan) {
  int flag = 0;
  OK(MPIX_Sparse_plan_start(plan));
  for (double begin = MPI_Wtime(); !flag && MPI_Wtime() - begin < 20;) OK(MPIX_Sparse_plan_test(plan, &flag));
  if (flag) return;
  fprintf(stderr, "process %d, %s: the run of a plan does not end\n", me, protocol);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* a plan that all make, and that works */
static void good_plan(MPI_Info info) {
  int right = (me + 1) % n, left = (me + n - 1) % n, one = 1, zero = 0, value = 7 * me, source, *got = NULL;
  MPI_Count count;
  MPIX_Sparse_plan plan = NULL;
  MPIX_Sparse_result result;
  OK(MPIX_Sparse_plan_create(1, &right, &value, &one, &zero, MPI_INT, MPI_INT, info, comm, &plan));
  OK(MPIX_Sparse_plan_result(plan, &result));
  value++;
  run_plan(plan);
  OK(MPIX_Sparse_get_message(result, 0, &source, &count, (void **)&got));
  CHECK(source == left && *got == 7 * left + 1, "%d from %d", *got, source);
  OK(MPIX_Sparse_plan_free(&plan));
}

/* plans after one that a process could not make, so that none has it: they still belong together */
static void plans_after_an_error(void) {
  MPI_Info info = chosen();
  int right = (me + 1) % n, left = (me + n - 1) % n, one = 1, zero = 0, value = -1, bad = me == 0 ? -1 : 1;
  MPIX_Sparse_plan refused = NULL, plan = NULL;
  int code = MPIX_Sparse_plan_create(1, &right, &value, &bad, &zero, MPI_INT, MPI_INT, info, comm, &refused);
  HANDLED(code, MPI_ERR_COUNT, me == 0 ? "MPIX_Sparse_plan_create: sendcounts[0] = -1 is negative" : "MPIX_Sparse_plan_create: process 0: sendcounts[0] = -1 is negative");
  CHECK(refused == NULL, "an error writes the plan");
  OK(MPIX_Sparse_plan_create(1, &right, &value, &one, &zero, MPI_INT, MPI_INT, info, comm, &plan));
  MPIX_Sparse_result result;
  OK(MPIX_Sparse_plan_result(plan, &result));
  int source, *got = NULL;
  MPI_Count count;
  for (int run = 0; run < 3; run++) {
    value = 100 * me + run;
    run_plan(plan);
    OK(MPIX_Sparse_plan_wait(plan));
    OK(MPIX_Sparse_get_message(result, 0, &source, &count, (void **)&got));
    CHECK(source == left && *got == 100 * left + run, "%d from %d", *got, source);
  }
  HANDLED(MPIX_Sparse_free(&result), MPI_ERR_ARG, "MPIX_Sparse_free: the result belongs to a plan");
  HANDLED(MPIX_Sparse_plan_test(plan, NULL), MPI_ERR_ARG, "flag is NULL");
  HANDLED(MPIX_Sparse_plan_result(plan, NULL), MPI_ERR_ARG, "result is NULL");
  OK(MPIX_Sparse_plan_start(plan));
  HANDLED(MPIX_Sparse_plan_start(plan), MPI_ERR_REQUEST, "MPIX_Sparse_plan_start: plan is active");
  MPIX_Sparse_plan keep = plan;
  HANDLED(MPIX_Sparse_plan_free(&plan), MPI_ERR_REQUEST, "MPIX_Sparse_plan_free: plan is active");
  CHECK(plan == keep, "a plan that runs is gone");
  OK(MPIX_Sparse_plan_wait(plan));
  OK(MPIX_Sparse_plan_wait(plan));
  int flag = 0;
  OK(MPIX_Sparse_plan_test(plan, &flag));
  CHECK(flag == 1, "no run is under way, and not complete");
  OK(MPIX_Sparse_plan_free(&plan));
  OK(MPIX_Sparse_plan_free(&plan));
  OK(MPIX_Sparse_plan_free(&refused));
  HANDLED_WORLD(MPIX_Sparse_plan_free(NULL), MPI_ERR_ARG, "plan is NULL");
  HANDLED_WORLD(MPIX_Sparse_plan_start(NULL), MPI_ERR_ARG, "MPIX_Sparse_plan_start: plan is NULL");
  HANDLED_WORLD(MPIX_Sparse_plan_wait(NULL), MPI_ERR_ARG, "MPIX_Sparse_plan_wait: plan is NULL");
  HANDLED_WORLD(MPIX_Sparse_plan_test(NULL, &flag), MPI_ERR_ARG, "MPIX_Sparse_plan_test: plan is NULL");
  HANDLED_WORLD(MPIX_Sparse_plan_result(NULL, &result), MPI_ERR_ARG, "MPIX_Sparse_plan_result: plan is NULL");
  MPI_Info_free(&info);
}

/* a second exchange while one runs is refused, and the first one loses nothing */
static int begins_another(int source, MPI_Count count, const void *data, void *context) {
  (void)source, (void)count, (void)data, (void)context;
  MPIX_Sparse_result result = NULL;
  HANDLED(MPIX_Sparse_sources(0, NULL, MPI_INFO_NULL, comm, &result), MPI_ERR_OTHER, "MPIX_Sparse_sources: a sparse exchange on this communicator is still running");
  return MPI_SUCCESS;
}

static void second_exchange(void) {
  MPI_Info info = chosen();
  list l = list_of(&AROUND, me, 3, n);
  char *data = contents(&AROUND, &l, me, 3);
  MPIX_Sparse_request request = NULL, other = NULL;
  MPIX_Sparse_result result = NULL;
  MPIX_Sparse_plan plan = NULL;
  int flag = -1, one = 1, zero = 0;
  OK(MPIX_Isparse_exchange(l.n, l.targets, data, l.lengths, l.displs, MPI_BYTE, MPI_BYTE, info, comm, &request));
  HANDLED(MPIX_Isparse_exchange(1, &me, &one, &one, &zero, MPI_INT, MPI_INT, info, comm, &other), MPI_ERR_OTHER, "MPIX_Isparse_exchange: a sparse exchange on this communicator is still running");
  HANDLED(MPIX_Sparse_exchange(1, &me, &one, &one, &zero, MPI_INT, MPI_INT, info, comm, &result), MPI_ERR_OTHER, "MPIX_Sparse_exchange: a sparse exchange on this communicator is still running");
  /* one process alone: plans that all make later have nothing to do with it */
  if (me == 0) HANDLED(MPIX_Sparse_plan_create(1, &me, &one, &one, &zero, MPI_INT, MPI_INT, info, comm, &plan), MPI_ERR_OTHER, "MPIX_Sparse_plan_create: a sparse exchange");
  CHECK(other == NULL && result == NULL && plan == NULL, "errors write results");
  HANDLED(MPIX_Sparse_wait(&request, NULL), MPI_ERR_ARG, "MPIX_Sparse_wait: result is NULL");
  HANDLED(MPIX_Sparse_test(&request, NULL, &result), MPI_ERR_ARG, "MPIX_Sparse_test: flag is NULL");
  CHECK(request != NULL, "an error took the request");
  OK(MPIX_Sparse_wait(&request, &result));
  check_result(protocol, &AROUND, 3, result, me, n);
  OK(MPIX_Sparse_free(&result));
  HANDLED_WORLD(MPIX_Sparse_wait(&request, &result), MPI_ERR_ARG, "MPIX_Sparse_wait: request is NULL");
  HANDLED_WORLD(MPIX_Sparse_test(&request, &flag, &result), MPI_ERR_ARG, "MPIX_Sparse_test: request is NULL");
  HANDLED_WORLD(MPIX_Sparse_wait(NULL, &result), MPI_ERR_ARG, "request is NULL");
  CHECK(flag == -1, "flag is written");
  OK(MPIX_Sparse_exchange_each(1, &me, &one, &one, &zero, MPI_INT, MPI_INT, begins_another, NULL, info, comm));
  good_plan(info);
  free(data);
  list_free(&l);
  MPI_Info_free(&info);
}

/* an argument of a test in error says nothing of the exchange, which goes on while its process
   waits elsewhere */
static void no_flag(MPI_Comm elsewhere) {
  MPI_Info info = chosen();
  int right = (me + 1) % n, one = 1, zero = 0;
  MPIX_Sparse_request request = NULL;
  MPIX_Sparse_result result = NULL;
  if (me != 0) MPI_Barrier(MPI_COMM_WORLD);
  OK(MPIX_Isparse_exchange(1, &right, &me, &one, &zero, MPI_INT, MPI_INT, info, comm, &request));
  if (me == 0) {
    HANDLED(MPIX_Sparse_test(&request, NULL, &result), MPI_ERR_ARG, "MPIX_Sparse_test: flag is NULL");
    /* the others have not begun before */
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPIX_Sparse_sources(0, NULL, MPI_INFO_NULL, elsewhere, &result));
    OK(MPIX_Sparse_free(&result));
  }
  OK(MPIX_Sparse_wait(&request, &result));
  OK(MPIX_Sparse_free(&result));
  if (me != 0) {
    OK(MPIX_Sparse_sources(0, NULL, MPI_INFO_NULL, elsewhere, &result));
    OK(MPIX_Sparse_free(&result));
  }
  MPI_Info_free(&info);
}

/* a nonblocking exchange that has lost a message is complete: its request is gone */
static void lost_message(void) {
  MPI_Info info = chosen();
  MPI_Datatype strided;
  MPI_Type_vector(2, 1, 2, MPI_INT, &strided);
  MPI_Type_commit(&strided);
  int one = 1, zero = 0, from[4] = {0}, flag = -1;
  for (int by_test = 0; by_test < 2; by_test++) {
    MPIX_Sparse_request request = NULL;
    MPIX_Sparse_result result = NULL;
    packs_fail = 1;
    OK(MPIX_Isparse_exchange(1, &me, from, &one, &zero, strided, strided, info, comm, &request));
    int code = MPI_SUCCESS;
    if (!by_test) code = MPIX_Sparse_wait(&request, &result);
    while (by_test && request && code == MPI_SUCCESS) code = MPIX_Sparse_test(&request, &flag, &result);
    packs_fail = 0;
    CHECK(code != MPI_SUCCESS && handled == 1, "%s: code %d, handler called %d times", protocol, code, handled);
    handled = 0;
    CHECK(request == NULL && result == NULL, "%s: a request outlives its exchange", protocol);
    CHECK(!by_test || flag == 1, "%s: flag %d", protocol, flag);
  }
  MPI_Type_free(&strided);
  MPI_Info_free(&info);
}

/* a run of a plan one of whose messages fails ends when the others have ended, and can be followed
   by another one */
static void failed_runs(void) {
  if (n == 1) return;
  int right = (me + 1) % n, left = (me + n - 1) % n, one = 1, zero = 0, value = 0, source, *got;
  MPI_Count count;
  MPIX_Sparse_plan plan = NULL;
  MPIX_Sparse_result result;
  OK(MPIX_Sparse_plan_create(1, &right, &value, &one, &zero, MPI_INT, MPI_INT, MPI_INFO_NULL, comm, &plan));
  OK(MPIX_Sparse_plan_result(plan, &result));
  for (int by_test = 0; by_test < 2; by_test++) {
    int code = MPI_SUCCESS, flag = 0;
    OK(MPIX_Sparse_plan_start(plan));
    next_end_fails = 1;
    if (!by_test) code = MPIX_Sparse_plan_wait(plan);
    while (by_test && !flag && code == MPI_SUCCESS) code = MPIX_Sparse_plan_test(plan, &flag);
    CHECK(code != MPI_SUCCESS && handled == 1 && !next_end_fails, "code %d, handler called %d times", code, handled);
    CHECK(flag == by_test, "flag %d", flag);
    handled = 0;
    value = 10 * me + by_test;
    run_plan(plan);
    OK(MPIX_Sparse_get_message(result, 0, &source, &count, (void **)&got));
    CHECK(source == left && *got == 10 * left + by_test, "%d from %d", *got, source);
  }
  OK(MPIX_Sparse_plan_free(&plan));
}

/* a duplicate of a datatype calls the program back, which may call the library */
static int called_back;
static int duplicated(MPI_Datatype type, int key, void *extra, void *in, void *out, int *flag) {
  (void)type, (void)key, (void)extra;
  int length;
  OK(MPIX_Sparse_describe(comm, 0, NULL, &length));
  called_back++;
  *(void **)out = in, *flag = 1;
  return MPI_SUCCESS;
}
static int dropped(MPI_Datatype type, int key, void *value, void *extra) {
  (void)type, (void)key, (void)value, (void)extra;
  int length;
  OK(MPIX_Sparse_describe(comm, 0, NULL, &length));
  called_back++;
  return MPI_SUCCESS;
}

static void callbacks(void) {
  MPI_Datatype strided;
  int key, right = (me + 1) % n, one = 1, zero = 0, from[4] = {0};
  MPI_Type_vector(2, 1, 2, MPI_INT, &strided);
  MPI_Type_commit(&strided);
  MPI_Type_create_keyval(duplicated, dropped, &key, NULL);
  MPI_Type_set_attr(strided, key, &key);
  MPIX_Sparse_result result;
  MPIX_Sparse_request request;
  MPIX_Sparse_plan plan;
  called_back = 0;
  OK(MPIX_Sparse_exchange(1, &right, from, &one, &zero, strided, strided, MPI_INFO_NULL, comm, &result));
  OK(MPIX_Sparse_free(&result));
  CHECK(called_back == 2, "%d callbacks of a duplicate", called_back);
  OK(MPIX_Isparse_exchange(1, &right, from, &one, &zero, strided, strided, MPI_INFO_NULL, comm, &request));
  OK(MPIX_Sparse_wait(&request, &result));
  OK(MPIX_Sparse_free(&result));
  OK(MPIX_Sparse_plan_create(1, &right, from, &one, &zero, strided, strided, MPI_INFO_NULL, comm, &plan));
  OK(MPIX_Sparse_plan_free(&plan));
  CHECK(called_back == 10, "%d callbacks of duplicates", called_back);
  MPI_Type_free_keyval(&key);
  MPI_Type_free(&strided);
}

static void queries(void) {
  MPI_Info info = chosen();
  int targets[2] = {me, me}, source, counts[2], messages;
  MPI_Count count, elements;
  void *data;
  char text[9] = "";
  double values[4] = {1, 2, 3, 4}, room[4] = {-1, -1, -1, -1};
  MPIX_Sparse_result result, none = NULL;
  OK(MPIX_Sparse_exchange_block(2, targets, values, 2, MPI_DOUBLE, MPI_DOUBLE, info, comm, &result));
  HANDLED(MPIX_Sparse_get_message(result, 2, &source, &count, &data), MPI_ERR_ARG, "MPIX_Sparse_get_message: index = 2 is no index of the messages, of which there are 2");
  HANDLED(MPIX_Sparse_get_message(result, -1, &source, &count, &data), MPI_ERR_ARG, "index = -1 is no index");
  HANDLED(MPIX_Sparse_get_message(result, 0, NULL, &count, &data), MPI_ERR_ARG, "source is NULL");
  HANDLED(MPIX_Sparse_get_message(result, 0, &source, NULL, &data), MPI_ERR_ARG, "count is NULL");
  HANDLED(MPIX_Sparse_get_message(result, 0, &source, &count, NULL), MPI_ERR_ARG, "data is NULL");
  HANDLED(MPIX_Sparse_get_count(result, NULL, &elements), MPI_ERR_ARG, "nmessages is NULL");
  HANDLED(MPIX_Sparse_get_count(result, &messages, NULL), MPI_ERR_ARG, "nelements is NULL");
  HANDLED(MPIX_Sparse_get_messages(result, -1, counts, NULL, NULL), MPI_ERR_ARG, "MPIX_Sparse_get_messages: maxmessages = -1 is negative");
  HANDLED(MPIX_Sparse_get_messages_c(result, -1, counts, NULL, NULL), MPI_ERR_ARG, "MPIX_Sparse_get_messages_c: maxmessages = -1 is negative");
  HANDLED(MPIX_Sparse_copy(result, 3, room), MPI_ERR_TRUNCATE, "MPIX_Sparse_copy: maxcount = 3 elements are too few: 4 have come");
  HANDLED(MPIX_Sparse_copy(result, -1, room), MPI_ERR_TRUNCATE, "maxcount = -1");
  HANDLED(MPIX_Sparse_copy(result, 4, NULL), MPI_ERR_BUFFER, "recvbuf is NULL");
  HANDLED(MPIX_Sparse_copy(result, 4, MPI_IN_PLACE), MPI_ERR_BUFFER, "recvbuf is MPI_IN_PLACE");
  for (int k = 0; k < 4; k++) CHECK(room[k] == -1, "an error writes the buffer");
  OK(MPIX_Sparse_copy(result, 4, room));
  CHECK(room[0] == 1 && room[3] == 4, "%f, %f", room[0], room[3]);
  HANDLED_WORLD(MPIX_Sparse_get_count(none, &messages, &elements), MPI_ERR_ARG, "MPIX_Sparse_get_count: result is NULL");
  HANDLED_WORLD(MPIX_Sparse_get_message(none, 0, &source, &count, &data), MPI_ERR_ARG, "result is NULL");
  HANDLED_WORLD(MPIX_Sparse_get_messages(none, 0, NULL, NULL, NULL), MPI_ERR_ARG, "result is NULL");
  HANDLED_WORLD(MPIX_Sparse_copy(none, 0, NULL), MPI_ERR_ARG, "result is NULL");
  HANDLED_WORLD(MPIX_Sparse_free(NULL), MPI_ERR_ARG, "MPIX_Sparse_free: result is NULL");
  OK(MPIX_Sparse_free(&result));
  HANDLED(MPIX_Sparse_describe(comm, -4, text, &messages), MPI_ERR_ARG, "MPIX_Sparse_describe: length = -4 is negative");
  HANDLED(MPIX_Sparse_describe(comm, 9, NULL, &messages), MPI_ERR_ARG, "string is NULL");
  HANDLED(MPIX_Sparse_describe(comm, 0, NULL, NULL), MPI_ERR_ARG, "resultlen is NULL");
  OK(MPIX_Sparse_describe(comm, sizeof text, text, &messages));
  CHECK(strcmp(text, "sparse e") == 0 && messages > 40, "cut text \"%s\" of %d", text, messages);
  MPI_Info_free(&info);
}

static void bad_hints(void) {
  static const char *const bad[][3] = {
    {"mpix_sparse", "fastest", "info key mpix_sparse = \"fastest\" is not one of auto, nbx, nbx_probe, nbx_node, pex, pcx, pcx_library, rsx, crystal, inbox"},
    {"mpix_node_size", "0", "info key mpix_node_size = \"0\" is not one of"},
    {"mpix_node_size", "many", "info key mpix_node_size = \"many\" is not one of"},
    {"mpix_node_size", "-1", "info key mpix_node_size = \"-1\""},
    {"mpix_sparse_targets", "some", "info key mpix_sparse_targets = \"some\""},
    {"mpix_matched_probe", "perhaps", "info key mpix_matched_probe = \"perhaps\""},
    {"mpix_loggp", "no such file", "info key mpix_loggp = \"no such file\""},
  };
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    MPI_Info info = test_hint(bad[k][0], bad[k][1]);
    MPIX_Sparse_result result = NULL;
    MPIX_Sparse_request request = NULL;
    int ring = (me + 1) % n;
    HANDLED(MPIX_Sparse_sources(1, &ring, info, comm, &result), MPI_ERR_INFO_VALUE, bad[k][2]);
    HANDLED(MPIX_Isparse_exchange(0, NULL, NULL, NULL, NULL, MPI_INT, MPI_INT, info, comm, &request), MPI_ERR_INFO_VALUE, bad[k][2]);
    CHECK(result == NULL && request == NULL, "errors write results");
    MPI_Info_free(&info);
    /* on one process: the others go on by themselves */
    info = me == n - 1 ? test_hint(bad[k][0], bad[k][1]) : MPI_INFO_NULL;
    int code = MPIX_Sparse_sources(1, &ring, info, comm, &result);
    if (me == n - 1) HANDLED(code, MPI_ERR_INFO_VALUE, bad[k][2]);
    else OK(code);
    OK(MPIX_Sparse_free(&result));
    if (me == n - 1) MPI_Info_free(&info);
  }
  MPI_Info info = test_hint("somebody_elses_key", "whatever");
  exchange("unknown key", &AROUND, 5, info, comm);
  MPI_Info_free(&info);
}

static void wrong_communicators(MPI_Errhandler errhandler) {
  MPIX_Sparse_result result = NULL;
  MPIX_Sparse_request request = NULL;
  MPIX_Sparse_plan plan = NULL;
  int length;
  HANDLED_WORLD(MPIX_Sparse_sources(0, NULL, MPI_INFO_NULL, MPI_COMM_NULL, &result), MPI_ERR_COMM, "MPIX_Sparse_sources: comm is MPI_COMM_NULL");
  HANDLED_WORLD(MPIX_Isparse_exchange(0, NULL, NULL, NULL, NULL, MPI_INT, MPI_INT, MPI_INFO_NULL, MPI_COMM_NULL, &request), MPI_ERR_COMM, "comm is MPI_COMM_NULL");
  HANDLED_WORLD(MPIX_Sparse_describe(MPI_COMM_NULL, 0, NULL, &length), MPI_ERR_COMM, "comm is MPI_COMM_NULL");
  if (n == 1) return;
  MPI_Comm half, inter;
  MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - me % 2, 77, &inter);
  MPI_Comm_set_errhandler(inter, errhandler);
  HANDLED_ON(inter, MPIX_Sparse_sources(0, NULL, MPI_INFO_NULL, inter, &result), MPI_ERR_COMM, "MPIX_Sparse_sources: comm is an intercommunicator");
  HANDLED_ON(inter, MPIX_Isparse_exchange(0, NULL, NULL, NULL, NULL, MPI_INT, MPI_INT, MPI_INFO_NULL, inter, &request), MPI_ERR_COMM, "comm is an intercommunicator");
  HANDLED_ON(inter, MPIX_Sparse_plan_create(0, NULL, NULL, NULL, NULL, MPI_INT, MPI_INT, MPI_INFO_NULL, inter, &plan), MPI_ERR_COMM, "comm is an intercommunicator");
  HANDLED_ON(inter, MPIX_Sparse_describe(inter, 0, NULL, &length), MPI_ERR_COMM, "comm is an intercommunicator");
  HANDLED_ON(inter, MPIX_Neighborhood_set_targets(2, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, inter), MPI_ERR_COMM, "comm is an intercommunicator");
  CHECK(result == NULL && request == NULL && plan == NULL, "errors write results");
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

/* the environment says different things to the processes, or nonsense: an error on all of them,
   each time, and none when it is put right */
static void environment(MPI_Errhandler errhandler) {
  MPIX_Sparse_result result = NULL;
  MPI_Comm fresh = test_duplicate();
  MPI_Comm_set_errhandler(fresh, errhandler);
  if (n > 1) {
    int mismatch;
    OK(MPIX_Neighbor_error_class(MPIX_ERR_MISMATCH, &mismatch));
    setenv("MPIX_SPARSE", me == n - 1 ? "pex" : "nbx", 1);
    for (int k = 0; k < 2; k++) HANDLED_ON(fresh, MPIX_Sparse_sources(0, NULL, MPI_INFO_NULL, fresh, &result), mismatch, "MPIX_Sparse_sources: one of the environment variables MPIX_SPARSE");
    setenv("MPIX_SPARSE", "nbx", 1);
    setenv("MPIX_NODE_SIZE", me == 0 ? "2" : "1", 1);
    HANDLED_ON(fresh, MPIX_Sparse_sources(0, NULL, MPI_INFO_NULL, fresh, &result), mismatch, "MPIX_NODE_SIZE");
    unsetenv("MPIX_NODE_SIZE");
    setenv("MPIX_SPARSE", me == 0 ? "nonsense" : "nbx", 1);
    int code = MPIX_Sparse_sources(0, NULL, MPI_INFO_NULL, fresh, &result);
    if (me == 0) HANDLED_ON(fresh, code, MPI_ERR_INFO_VALUE, "MPIX_SPARSE = \"nonsense\" is not one of auto, nbx");
    else HANDLED_ON(fresh, code, MPI_ERR_INFO_VALUE, "MPIX_Sparse_sources: process 0: environment variable MPIX_SPARSE = \"nonsense\"");
  }
  setenv("MPIX_SPARSE", "nonsense", 1);
  HANDLED_ON(fresh, MPIX_Sparse_sources(0, NULL, MPI_INFO_NULL, fresh, &result), MPI_ERR_INFO_VALUE, "MPIX_SPARSE = \"nonsense\" is not one of auto, nbx");
  unsetenv("MPIX_SPARSE");
  exchange("environment put right", &AROUND, 1, MPI_INFO_NULL, fresh);
  MPI_Comm_free(&fresh);
}

/* an exchange that fails before its first message is over: the next one runs. Where only one
   process has failed, its next call joins the exchange that the others are in */
static void failed_starts(void) {
  if (n == 1) return;
  static const char *const armed[] = {"nbx", "nbx_probe", "crystal"};
  for (int p = 0; p < 3; p++) {
    MPI_Info info = test_hint("mpix_sparse", armed[p]);
    if (me == n - 1) {
      MPIX_Sparse_result result = NULL;
      MPIX_Sparse_plan plan = NULL;
      receives_fail = 1;
      int code = MPIX_Sparse_sources(0, NULL, info, comm, &result);
      CHECK(code != MPI_SUCCESS && handled == 1, "%s: no error of a receive that could not be posted", armed[p]);
      code = MPIX_Sparse_plan_create(0, NULL, NULL, NULL, NULL, MPI_INT, MPI_INT, info, comm, &plan);
      receives_fail = 0;
      CHECK(code != MPI_SUCCESS && handled == 2, "%s: no error of a plan whose receives could not be posted", armed[p]);
      handled = 0;
    }
    for (int r = 0; r < 2; r++) exchange(armed[p], &AROUND, r, info, comm);
    good_plan(info);
    /* what comes after the exchange that finds the sources is none */
    int right = (me + 1) % n, class = -1;
    next_receive_fails = me == n - 1;
    int code = MPIX_Neighborhood_set_targets(MPIX_NEIGHBOR_GATHER, 1, &right, MPI_UNWEIGHTED, info, comm);
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_OTHER && handled == 1, "%s: sources that one process cannot ask for: class %d: %s", armed[p], class, test_message(code));
    CHECK(next_receive_fails == 0, "%s: no receive was refused", armed[p]);
    handled = 0;
    OK(MPIX_Neighborhood_set_targets(MPIX_NEIGHBOR_GATHER, 1, &right, MPI_UNWEIGHTED, info, comm));
    OK(MPIX_Neighborhood_free(MPIX_NEIGHBOR_GATHER, comm));
    MPI_Info_free(&info);
  }
  /* what the first exchange on a communicator makes fails on one process, and so on all */
  MPI_Comm fresh;
  MPI_Comm_dup(comm, &fresh);
  MPIX_Sparse_result none = NULL;
  open_receives_fail = me == n - 1;
  int refused = MPIX_Sparse_sources(0, NULL, MPI_INFO_NULL, fresh, &none), kind = -1;
  open_receives_fail = 0;
  MPI_Error_class(refused, &kind);
  CHECK(kind == MPI_ERR_OTHER && handled == 1, "receives that one process cannot post: class %d: %s", kind, test_message(refused));
  handled = 0;
  exchange("after receives that could not be posted", &AROUND, 0, MPI_INFO_NULL, fresh);
  MPI_Comm_free(&fresh);
  MPI_Comm_dup(comm, &fresh);
  for (int attempt = 0; attempt < 2; attempt++) {
    MPIX_Sparse_result result = NULL;
    MPI_Info info = test_hint("mpix_sparse", "rsx");
    windows_fail = 1;
    int code = MPIX_Sparse_sources(0, NULL, info, fresh, &result), class = -1;
    windows_fail = 0;
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_OTHER && handled == 1, "attempt %d to make a window: class %d: %s", attempt, class, test_message(code));
    handled = 0;
    MPI_Info_free(&info);
    exchange("after a window that could not be made", &AROUND, attempt, MPI_INFO_NULL, fresh);
  }
  MPI_Comm_free(&fresh);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  me = test_rank, n = test_size;
  MPI_Errhandler errhandler;
  MPI_Comm_create_errhandler(handler, &errhandler);
  comm = test_duplicate();
  MPI_Comm elsewhere = test_duplicate();
  MPI_Comm_set_errhandler(comm, errhandler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
  MPI_Type_contiguous(1, MPI_BYTE, &uncommitted);
  MPI_Type_create_hindexed_block(2, 1, (MPI_Aint[]){8, 12}, MPI_BYTE, &gaps);
  MPI_Type_commit(&gaps);
  for (int p = 0; p < PROTOCOLS; p++) {
    protocol = protocols[p];
    for (int kind = 0; kind < KINDS; kind++)
      if (n <= 2 || (kind + p) % 3 == 0) one_in_error(kind, (kind + p) % n);
    still_works();
    other_forms();
    still_works();
    ragged();
    second_exchange();
    no_flag(elsewhere);
    lost_message();
    queries();
    plans_after_an_error();
    still_works();
  }
  protocol = "auto";
  callbacks();
  failed_runs();
  failed_starts();
  bad_hints();
  wrong_communicators(errhandler);
  environment(errhandler);
  still_works();
  MPI_Type_free(&uncommitted), MPI_Type_free(&gaps);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_free(&elsewhere);
  MPI_Comm_free(&comm);
  MPI_Errhandler_free(&errhandler);
  return test_finish();
}
