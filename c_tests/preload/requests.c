/* Requests of neighborhood collectives among others: mixed lists in all functions that complete,
   misuse, communicators freed meanwhile; and the errors that an MPI reports. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "preload.h"

#include <dlfcn.h>

#if MPI_VERSION >= 4
#define PLAN MPI_Neighbor_alltoall_init
#else
#define PLAN MPIX_Neighbor_alltoall_init
#endif

static MPI_Comm ring;
static int left, right;

/* one exchange along the ring: what goes left arrives from the right */
typedef struct {
  int out[2], in[2], salt;
} exchange;

static void prepare(exchange *e, int salt) {
  e->salt = salt;
  e->out[0] = test_value(test_rank, 0, salt), e->out[1] = test_value(test_rank, 1, salt);
  e->in[0] = e->in[1] = -1;
}

static void verify(const exchange *e, const char *what) {
  CHECK(e->in[0] == test_value(left, 1, e->salt) && e->in[1] == test_value(right, 0, e->salt), "%s: %d %d", what, e->in[0], e->in[1]);
}

static void start(exchange *e, int salt, MPI_Request *request) {
  prepare(e, salt);
  OK(MPI_Ineighbor_alltoall(e->out, 1, MPI_INT, e->in, 1, MPI_INT, ring, request));
}

enum { WAITALL, TESTALL, WAITANY, TESTANY, WAITSOME, TESTSOME, FUNCTIONS };

/* two exchanges, a message each way, and null requests, in one list */
static void mixed(int function, int ignore) {
  enum { N = 7 };
  exchange a, b;
  int got = -1, sent = 100 + test_rank, done = 0, index, flag, count, indices[N];
  MPI_Request r[N];
  MPI_Status statuses[N], status;
  memset(statuses, 0x55, sizeof statuses);
  r[0] = r[4] = MPI_REQUEST_NULL;
  start(&a, 10 + function, &r[2]);
  OK(MPI_Irecv(&got, 1, MPI_INT, left, 9, ring, &r[3]));
  start(&b, 20 + function, &r[5]);
  OK(MPI_Isend(&sent, 1, MPI_INT, right, 9, ring, &r[6]));
  /* inactive: it must not count */
  OK(MPI_Recv_init(&sent, 0, MPI_INT, left, 8, ring, &r[1]));
  MPI_Request inactive = r[1];
  int seen[N] = {0}, source_seen = 0;
  switch (function) {
    case WAITALL:
    case TESTALL:
      if (function == WAITALL) {
        OK(MPI_Waitall(N, r, ignore ? MPI_STATUSES_IGNORE : statuses));
      } else {
        for (flag = 0; !flag;) {
          MPI_Request before[N];
          memcpy(before, r, sizeof r);
          OK(MPI_Testall(N, r, &flag, ignore ? MPI_STATUSES_IGNORE : statuses));
          if (!flag) CHECK(!memcmp(before, r, sizeof r), "testall let go of some");
        }
      }
      if (!ignore) {
        source_seen = statuses[3].MPI_SOURCE == left && statuses[3].MPI_TAG == 9;
        CHECK(source_seen, "status of the message: %d %d", statuses[3].MPI_SOURCE, statuses[3].MPI_TAG);
        CHECK(statuses[2].MPI_SOURCE == MPI_ANY_SOURCE && statuses[5].MPI_TAG == MPI_ANY_TAG, "statuses of the exchanges");
      }
      break;
    case WAITANY:
    case TESTANY:
      while (done < 4) {
        flag = 1;
        if (function == WAITANY)
          OK(MPI_Waitany(N, r, &index, &status));
        else
          OK(MPI_Testany(N, r, &index, &flag, &status));
        if (!flag) continue;
        CHECK(index >= 2 && index < N && index != 4, "any: index %d", index);
        if (index < 0 || index >= N) return;
        seen[index]++;
        if (index == 3) CHECK(status.MPI_SOURCE == left && status.MPI_TAG == 9, "any: status");
        if (index == 2) CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE, "any: status of an exchange");
        done++;
      }
      break;
    default:
      while (done < 4) {
        count = -1;
        if (function == WAITSOME)
          OK(MPI_Waitsome(N, r, &count, indices, ignore ? MPI_STATUSES_IGNORE : statuses));
        else
          OK(MPI_Testsome(N, r, &count, indices, ignore ? MPI_STATUSES_IGNORE : statuses));
        CHECK(count >= (function == WAITSOME) && count <= 4, "some: %d", count);
        if (count < 0) return;
        for (int i = 0; i < count; i++) {
          seen[indices[i]]++;
          if (indices[i] == 3 && !ignore) CHECK(statuses[i].MPI_SOURCE == left && statuses[i].MPI_TAG == 9, "some: status");
          if (indices[i] == 2 && !ignore) CHECK(statuses[i].MPI_SOURCE == MPI_ANY_SOURCE, "some: status of an exchange");
        }
        done += count;
      }
  }
  if (function > TESTALL)
    for (int i = 0; i < N; i++) CHECK(seen[i] == (i == 2 || i == 3 || i == 5 || i == 6), "request %d was told of %d times", i, seen[i]);
  verify(&a, "mixed");
  verify(&b, "mixed");
  CHECK(got == 100 + left, "message: %d", got);
  for (int i = 0; i < N; i++) CHECK(i == 1 ? r[i] == inactive : r[i] == MPI_REQUEST_NULL, "request %d is still there", i);
  /* nothing is active any more */
  index = flag = -7;
  OK(MPI_Testany(N, r, &index, &flag, &status));
  CHECK(flag && index == MPI_UNDEFINED, "none active: %d %d", flag, index);
  OK(MPI_Waitsome(N, r, &count, indices, statuses));
  CHECK(count == MPI_UNDEFINED, "none active: %d", count);
  OK(MPI_Request_free(&r[1]));
}

/* persistent exchanges and a persistent message in one list */
static void persistent(void) {
  exchange a, b;
  memset(&a, 0, sizeof a), memset(&b, 0, sizeof b);
  int got = -1, sent = 0, flag, index;
  MPI_Request r[4];
  MPI_Status status;
  OK(PLAN(a.out, 1, MPI_INT, a.in, 1, MPI_INT, ring, MPI_INFO_NULL, &r[0]));
  OK(MPI_Recv_init(&got, 1, MPI_INT, left, 4, ring, &r[1]));
  OK(PLAN(b.out, 1, MPI_INT, b.in, 1, MPI_INT, ring, MPI_INFO_NULL, &r[2]));
  OK(MPI_Send_init(&sent, 1, MPI_INT, right, 4, ring, &r[3]));
  MPI_Request all[4];
  memcpy(all, r, sizeof r);
  /* inactive ones are complete, and do not count */
  OK(MPI_Waitall(4, r, MPI_STATUSES_IGNORE));
  OK(MPI_Testany(4, r, &index, &flag, &status));
  CHECK(flag && index == MPI_UNDEFINED, "inactive: %d %d", flag, index);
  OK(MPI_Test(&r[0], &flag, &status));
  CHECK(flag, "test of an inactive one");
  for (int round = 0; round < 4; round++) {
    prepare(&a, 30 + round), prepare(&b, 40 + round);
    sent = test_rank + 1000 * round;
    OK(MPI_Startall(4, r));
    if (round == 1) {
      /* what must not be done with an active one is an error, and does not disturb it */
      int class, code = MPI_Start(&r[0]);
      MPI_Error_class(code, &class);
      CHECK(class == MPI_ERR_REQUEST, "start of an active one: class %d", class);
    }
    if (round % 2) {
      OK(MPI_Waitall(4, r, MPI_STATUSES_IGNORE));
    } else {
      for (int done = 0; done < 4; done++) {
        OK(MPI_Waitany(4, r, &index, MPI_STATUS_IGNORE));
        CHECK(index >= 0 && index < 4, "waitany of persistent ones: %d", index);
      }
    }
    verify(&a, "persistent"), verify(&b, "persistent");
    CHECK(got == left + 1000 * round, "persistent message: %d", got);
    CHECK(!memcmp(all, r, sizeof r), "persistent requests change");
  }
  for (int i = 0; i < 4; i++) OK(MPI_Request_free(&r[i]));
  for (int i = 0; i < 4; i++) CHECK(r[i] == MPI_REQUEST_NULL, "a freed request is there");
}

/* persistent exchanges match with themselves alone: they may be started in another order on each
   process, and beside others */
static void any_order(void) {
  exchange e[3], blocking, once;
  MPI_Request r[3], nonblocking;
  memset(e, 0, sizeof e);
  for (int k = 0; k < 3; k++) OK(PLAN(e[k].out, 1, MPI_INT, e[k].in, 1, MPI_INT, ring, MPI_INFO_NULL, &r[k]));
  for (int round = 0; round < 6; round++) {
    for (int k = 0; k < 3; k++) prepare(&e[k], 300 + 10 * round + k);
    prepare(&blocking, 400 + round);
    for (int k = 0; k < 3; k++) {
      OK(MPI_Start(&r[(k + test_rank + round) % 3]));
      if (k == (test_rank + 2 * round) % 3) start(&once, 500 + round, &nonblocking);
      if (k == (test_rank + 2 * round) % 3) OK(MPI_Neighbor_alltoall(blocking.out, 1, MPI_INT, blocking.in, 1, MPI_INT, ring));
    }
    OK(MPI_Wait(&nonblocking, MPI_STATUS_IGNORE));
    OK(MPI_Waitall(3, r, MPI_STATUSES_IGNORE));
    for (int k = 0; k < 3; k++) verify(&e[k], "persistent, in any order");
    verify(&blocking, "blocking beside persistent"), verify(&once, "nonblocking beside persistent");
  }
  for (int k = 0; k < 3; k++) OK(MPI_Request_free(&r[k]));
}

static int class_of(int code) {
  int class;
  MPI_Error_class(code, &class);
  return class;
}

static void misuse(void) {
  exchange e;
  MPI_Request r, copy;
  int flag = 0;
  start(&e, 50, &r);
  copy = r;
  CHECK(class_of(MPI_Cancel(&r)) == MPI_ERR_REQUEST, "cancel");
  CHECK(class_of(MPI_Request_free(&r)) == MPI_ERR_REQUEST, "free of an active one");
  CHECK(class_of(MPI_Start(&r)) == MPI_ERR_REQUEST, "start of a nonblocking one");
  CHECK(r == copy, "the request has changed");
  /* looking does not complete */
  while (!flag) OK(MPI_Request_get_status(r, &flag, MPI_STATUS_IGNORE));
  CHECK(r == copy, "get_status has let go of the request");
  verify(&e, "get_status");
  /* a handle survives the way to Fortran and back */
  MPI_Fint integer = MPI_Request_c2f(r);
  r = MPI_Request_f2c(integer);
  OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
  CHECK(r == MPI_REQUEST_NULL, "wait has left the request");
}

/* many under way, blocking calls among them, completed last one first */
static void many(void) {
  enum { N = 40 };
  static exchange e[N], b;
  MPI_Request r[N];
  for (int i = 0; i < N; i++) {
    start(&e[i], 60 + i, &r[i]);
    if (i % 10 == 3) {
      prepare(&b, i);
      OK(MPI_Neighbor_alltoall(b.out, 1, MPI_INT, b.in, 1, MPI_INT, ring));
      verify(&b, "blocking beside");
    }
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < i; j++) CHECK(r[i] != r[j], "requests %d and %d are equal", i, j);
  for (int i = N - 1; i >= 0; i--) {
    OK(MPI_Wait(&r[i], MPI_STATUS_IGNORE));
    verify(&e[i], "many");
  }
}

/* some processes wait for something else before they complete the exchange */
static void elsewhere(void) {
  int n = 1 << 16;
  int *out = malloc(2 * n * sizeof(int)), *in = malloc(2 * n * sizeof(int)), token = 0;
  for (int i = 0; i < 2 * n; i++) out[i] = test_value(test_rank, i / n, i % n), in[i] = -1;
  MPI_Request r;
  OK(MPI_Ineighbor_alltoall(out, n, MPI_INT, in, n, MPI_INT, ring, &r));
  if (test_rank > 0) OK(MPI_Recv(&token, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
  for (int p = 1; p < test_size && test_rank == 0; p++) OK(MPI_Send(&token, 1, MPI_INT, p, 5, MPI_COMM_WORLD));
  int bad = 0;
  for (int i = 0; i < n; i++) bad += in[i] != test_value(left, 1, i) || in[n + i] != test_value(right, 0, i);
  CHECK(bad == 0, "%d of %d are wrong", bad, n);
  free(out);
  free(in);
}

/* the communicator is freed while a request is under way */
static void freed(void) {
  MPI_Comm kept = ring;
  OK(MPI_Comm_dup(kept, &ring));
  exchange e[2] = {{{0}, {0}, 0}};
  MPI_Request r[2];
  start(&e[0], 70, &r[0]);
  prepare(&e[1], 71);
  OK(PLAN(e[1].out, 1, MPI_INT, e[1].in, 1, MPI_INT, ring, MPI_INFO_NULL, &r[1]));
  OK(MPI_Start(&r[1]));
  OK(MPI_Comm_free(&ring));
  ring = kept;
  OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
  verify(&e[0], "freed"), verify(&e[1], "freed");
  OK(MPI_Request_free(&r[1]));
}

/* a field with ghost cells: what is sent and received lies in one array, ghosts overlap in the
   corners */
static void field(void) {
  enum { N = 4, W = N + 2 };
  int dims[2] = {0, 0}, periods[2] = {1, 1}, a[W][W], n[4], me;
  MPI_Comm torus;
  MPI_Dims_create(test_size, 2, dims);
  OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &torus));
  MPI_Comm_rank(torus, &me);
  MPI_Cart_shift(torus, 0, 1, &n[0], &n[1]);
  MPI_Cart_shift(torus, 1, 1, &n[2], &n[3]);
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < W; i++)
      for (int j = 0; j < W; j++) a[i][j] = i > 0 && j > 0 && i <= N && j <= N ? test_value(me, round, i * W + j) : -1;
    /* rows and columns in full length, corners included */
    int sizes[2] = {W, W}, row[2] = {1, W}, column[2] = {W, 1};
    int from[4][2] = {{1, 0}, {N, 0}, {0, 1}, {0, N}}, to[4][2] = {{0, 0}, {N + 1, 0}, {0, 0}, {0, N + 1}};
    MPI_Datatype send[4], recv[4];
    int counts[4] = {1, 1, 1, 1};
    MPI_Aint zeros[4] = {0, 0, 0, 0};
    for (int k = 0; k < 4; k++) {
      MPI_Type_create_subarray(2, sizes, k < 2 ? row : column, from[k], MPI_ORDER_C, MPI_INT, &send[k]);
      MPI_Type_create_subarray(2, sizes, k < 2 ? row : column, to[k], MPI_ORDER_C, MPI_INT, &recv[k]);
      MPI_Type_commit(&send[k]);
      MPI_Type_commit(&recv[k]);
    }
    if (round == 0) {
      OK(MPI_Neighbor_alltoallw(a, counts, zeros, send, a, counts, zeros, recv, torus));
    } else {
      MPI_Request r;
      OK(MPI_Ineighbor_alltoallw(a, counts, zeros, send, a, counts, zeros, recv, torus, &r));
      if (round == 2) {
        for (int k = 0; k < 4; k++) MPI_Type_free(&send[k]), MPI_Type_free(&recv[k]);
        memset(counts, 0x55, sizeof counts), memset(zeros, 0x55, sizeof zeros);
      }
      OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    }
    int bad = 0;
    for (int k = 1; k <= N; k++) {
      bad += a[0][k] != test_value(n[0], round, N * W + k) || a[N + 1][k] != test_value(n[1], round, W + k);
      bad += a[k][0] != test_value(n[2], round, k * W + N) || a[k][N + 1] != test_value(n[3], round, k * W + 1);
      for (int j = 1; j <= N; j++) bad += a[k][j] != test_value(me, round, k * W + j);
    }
    CHECK(bad == 0, "field, round %d: %d are wrong", round, bad);
    if (round < 2)
      for (int k = 0; k < 4; k++) MPI_Type_free(&send[k]), MPI_Type_free(&recv[k]);
  }
  OK(MPI_Comm_free(&torus));
}

static int handled, handled_class;
static void handler(MPI_Comm *comm, int *code, ...) {
  (void)comm;
  handled++;
  handled_class = class_of(*code);
}

/* the same classes as the MPI's, through the program's error handler; PMPI_ is the MPI's */
static void errors(void) {
  int out[4] = {0}, in[4] = {0}, negative[2] = {1, -1}, zeros[2] = {0, 0}, ones[2] = {1, 1};
  MPI_Errhandler mine;
  MPI_Comm comm;
  OK(MPI_Comm_dup(ring, &comm));
  MPI_Comm_create_errhandler(handler, &mine);
  MPI_Comm_set_errhandler(comm, mine);
#define SAME(name, ...)                                                                                                    \
  do {                                                                                                                     \
    handled = 0;                                                                                                           \
    int native = class_of(PMPI_##name(__VA_ARGS__)), by_native = handled, native_class = handled_class;                    \
    handled = 0;                                                                                                           \
    int ours = class_of(MPI_##name(__VA_ARGS__));                                                                          \
    CHECK(ours == native, "%s(%s): class %d, the MPI's %d", #name, #__VA_ARGS__, ours, native);     \
    CHECK(handled == by_native && handled_class == native_class, "%s: %d calls of the handler, class %d", #name, handled, handled_class); \
  } while (0)
  SAME(Neighbor_alltoall, out, -1, MPI_INT, in, 1, MPI_INT, comm);
  SAME(Neighbor_alltoall, out, 1, MPI_DATATYPE_NULL, in, 1, MPI_INT, comm);
  SAME(Neighbor_alltoall, out, 1, MPI_INT, in, 1, MPI_DATATYPE_NULL, comm);
  SAME(Neighbor_allgather, out, 1, MPI_INT, in, -2, MPI_INT, comm);
  SAME(Neighbor_allgatherv, out, 1, MPI_INT, in, negative, zeros, MPI_INT, comm);
  SAME(Neighbor_alltoallv, out, negative, zeros, MPI_INT, in, ones, zeros, MPI_INT, comm);
  MPI_Request r = MPI_REQUEST_NULL;
  SAME(Ineighbor_alltoall, out, -1, MPI_INT, in, 1, MPI_INT, comm, &r);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, mine);
  SAME(Neighbor_alltoall, out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
  SAME(Neighbor_alltoall, out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_NULL);
  test_errors_return();
  MPI_Errhandler_free(&mine);
  OK(MPI_Comm_free(&comm));
}

/* what arrives is longer than what is expected: the handler is told once, of that class */
static void truncation(void) {
  int out[4] = {1, 2, 3, 4}, in[4];
  MPI_Errhandler mine;
  MPI_Comm comm;
  OK(MPI_Comm_dup(ring, &comm));
  MPI_Comm_create_errhandler(handler, &mine);
  MPI_Comm_set_errhandler(comm, mine);
  handled = 0;
  int class = class_of(MPI_Neighbor_alltoall(out, 2, MPI_INT, in, 1, MPI_INT, comm));
  CHECK(class == MPI_ERR_TRUNCATE && handled == 1 && handled_class == class, "blocking: class %d, handler %d times", class, handled);
  MPI_Request r;
  handled = 0;
  if (test_size > 1) {
    OK(MPI_Ineighbor_alltoall(out, 2, MPI_INT, in, 1, MPI_INT, comm, &r));
    class = class_of(MPI_Wait(&r, MPI_STATUS_IGNORE));
    CHECK(class == MPI_ERR_TRUNCATE && handled == 1 && handled_class == class, "nonblocking: class %d, handler %d times", class, handled);
    CHECK(r == MPI_REQUEST_NULL, "a failed request is there");
    OK(MPI_Ineighbor_alltoall(out, 2, MPI_INT, in, 1, MPI_INT, comm, &r));
    handled = 0;
    MPI_Status status[2];
    MPI_Request both[2] = {MPI_REQUEST_NULL, r};
    class = class_of(MPI_Waitall(2, both, status));
    CHECK(class == MPI_ERR_IN_STATUS && handled == 1, "waitall: class %d, handler %d times", class, handled);
    CHECK(status[0].MPI_ERROR == MPI_SUCCESS && class_of(status[1].MPI_ERROR) == MPI_ERR_TRUNCATE, "errors in statuses: %d %d",
          status[0].MPI_ERROR, status[1].MPI_ERROR);
  }
  MPI_Errhandler_free(&mine);
  OK(MPI_Comm_free(&comm));
}

/* one of the MPI's requests fails beside one of the library's: each has its own error. Open MPI
   sees no error in what a process sends to itself. */
static void native_truncation(void) {
  if (test_size == 1) return;
  exchange e;
  int sent[2] = {1, 2}, got;
  MPI_Request r[3];
  MPI_Status statuses[3];
  memset(statuses, 0x55, sizeof statuses);
  start(&e, 60, &r[0]);
  OK(MPI_Irecv(&got, 1, MPI_INT, left, 11, ring, &r[1]));
  OK(MPI_Isend(sent, 2, MPI_INT, right, 11, ring, &r[2]));
  int class = class_of(MPI_Waitall(3, r, statuses));
  CHECK(class == MPI_ERR_IN_STATUS, "waitall: class %d", class);
  CHECK(statuses[0].MPI_ERROR == MPI_SUCCESS && class_of(statuses[1].MPI_ERROR) == MPI_ERR_TRUNCATE, "errors in statuses: %d %d",
        statuses[0].MPI_ERROR, statuses[1].MPI_ERROR);
  verify(&e, "beside a request that fails");
  OK(MPI_Wait(&r[2], MPI_STATUS_IGNORE));
}

/* A list with a handle that is none is refused, and lets go of no request. */
static void invalid_beside(void) {
  enum { TESTALL, WAITALL, TESTSOME, FUNCTIONS };
  for (int function = 0; function < FUNCTIONS; function++) {
    exchange e;
    MPI_Request r[2], kept;
    int flag = 0, class, count, indices[2];
    start(&e, 65 + function, &r[0]);
    kept = r[0];
    r[1] = (MPI_Request)0;
    if (function == WAITALL) class = class_of(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    if (function == TESTSOME) {
      while (!flag) OK(MPI_Request_get_status(r[0], &flag, MPI_STATUS_IGNORE));
      class = class_of(MPI_Testsome(2, r, &count, indices, MPI_STATUSES_IGNORE));
    }
    /* the library asks the MPI once its own are complete */
    if (function == TESTALL)
      do class = class_of(MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE));
      while (class == MPI_SUCCESS && !flag);
    CHECK(class == MPI_ERR_REQUEST, "an invalid handle, %d: class %d", function, class);
    CHECK(r[0] == kept, "a list that is refused has let go of a request, %d", function);
    OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    verify(&e, "beside an invalid handle");
  }
  /* beside one that cannot be complete, as the others have not started */
  exchange e;
  MPI_Request r[2];
  if (test_rank > 0) OK(MPI_Barrier(MPI_COMM_WORLD));
  start(&e, 68, &r[0]);
  if (test_rank == 0) {
    int flag = 77, index = 77, class;
    r[1] = (MPI_Request)0;
    class = test_size > 1 ? class_of(MPI_Testany(2, r, &index, &flag, MPI_STATUS_IGNORE)) : MPI_ERR_REQUEST;
    CHECK(class == MPI_ERR_REQUEST, "testany of an invalid handle: class %d", class);
    if (test_size > 1) CHECK(flag == 0 && index == MPI_UNDEFINED, "testany of an invalid handle: flag %d, index %d", flag, index);
    OK(MPI_Barrier(MPI_COMM_WORLD));
  }
  OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
  verify(&e, "beside an invalid handle");
}

static int copies, deletes;
static int copy_attribute(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag) {
  (void)comm, (void)keyval, (void)extra;
  copies++;
  *(void **)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}
static int delete_attribute(MPI_Comm comm, int keyval, void *value, void *extra) {
  (void)comm, (void)keyval, (void)value, (void)extra;
  deletes++;
  return MPI_SUCCESS;
}

/* nothing of what the library does with communicators shows */
static void attributes(void) {
  int keyval, value = 5, found, *got;
  MPI_Comm a, b;
  char name[MPI_MAX_OBJECT_NAME];
  MPI_Errhandler of_a;
  OK(MPI_Comm_dup(ring, &a));
  MPI_Comm_create_keyval(copy_attribute, delete_attribute, &keyval, NULL);
  MPI_Comm_set_attr(a, keyval, &value);
  OK(MPI_Comm_dup(a, &b));
  CHECK(copies == 1 && deletes == 0, "%d copies, %d deletes", copies, deletes);
  MPI_Comm_get_attr(b, keyval, &got, &found);
  CHECK(found && got == &value, "the attribute is lost");
  MPI_Comm_get_errhandler(b, &of_a);
  CHECK(of_a == MPI_ERRORS_RETURN, "the error handler is lost");
  int length, result;
  MPI_Comm_get_name(b, name, &length);
  MPI_Comm_compare(a, b, &result);
  CHECK(result == MPI_CONGRUENT, "not congruent");
  OK(MPI_Comm_free(&a));
  OK(MPI_Comm_free(&b));
  CHECK(copies == 1 && deletes == 2, "%d copies, %d deletes", copies, deletes);
  MPI_Comm_free_keyval(&keyval);
  /* processes that are left out of a topology */
  int dims[1] = {1}, periods[1] = {1};
  OK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &a));
  CHECK((a == MPI_COMM_NULL) == (test_rank > 0), "a communicator of one process");
  if (a != MPI_COMM_NULL) OK(MPI_Comm_free(&a));
}

static int type_copies, type_deletes;

static int copy_type(MPI_Datatype type, int keyval, void *extra, void *value, void *copy, int *flag) {
  (void)type, (void)keyval, (void)extra, (void)value, (void)copy;
  type_copies++;
  *flag = 0;
  return MPI_ERR_OTHER; /* it must not be duplicated */
}

static int delete_type(MPI_Datatype type, int keyval, void *value, void *extra) {
  (void)type, (void)keyval, (void)value, (void)extra;
  type_deletes++;
  return MPI_SUCCESS;
}

/* attributes of datatypes are the program's: no call duplicates one that is in use, and it may be
   freed at once */
static void attributes_of_types(void) {
  int keyval, out[4] = {1, 0, 2, 0}, in[4];
  for (int persistent = 0; persistent < 2; persistent++)
    for (int again = 0; again < 3; again++) {
      MPI_Datatype type;
      MPI_Request request;
      OK(MPI_Type_create_keyval(copy_type, delete_type, &keyval, NULL));
      OK(MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &type));
      OK(MPI_Type_commit(&type));
      OK(MPI_Type_set_attr(type, keyval, NULL));
      memset(in, 0, sizeof in);
      if (persistent) OK(PLAN(out, 1, type, in, 1, type, ring, MPI_INFO_NULL, &request));
      else OK(MPI_Ineighbor_alltoall(out, 1, type, in, 1, type, ring, &request));
      OK(MPI_Type_free(&type));
      if (persistent) OK(MPI_Start(&request));
      OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
      CHECK(in[0] == 2 && in[2] == 1, "%d %d", in[0], in[2]);
      if (persistent) OK(MPI_Request_free(&request));
      CHECK(type_deletes == 3 * persistent + again + 1, "%d deletes: the datatype is still there", type_deletes);
      MPI_Type_free_keyval(&keyval);
    }
  CHECK(type_copies == 0, "%d copies", type_copies);
}

/* makes the MPI request that stands for one of the library's; 1: the next one is refused, 2: it has
   been */
static int refusal;
int PMPI_Send_init(const void *buffer, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm, MPI_Request *request) {
  static int (*next)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
  if (refusal == 1) return refusal = 2, MPI_ERR_OTHER;
  if (!next) *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Send_init");
  return next(buffer, count, type, target, tag, comm, request);
}

/* a call for which there is no MPI request has not begun: the process makes it again, and its
   neighbors do not notice */
static void without_request(void) {
  exchange e;
  MPI_Request request;
  MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
  for (int call = 0; call < 3; call++) {
    prepare(&e, 70 + call);
    refusal = test_rank == 0 && call == 1;
    int code = MPI_Ineighbor_alltoall(e.out, 1, MPI_INT, e.in, 1, MPI_INT, ring, &request);
    CHECK((code != MPI_SUCCESS) == (refusal == 2), "call %d: code %d, refusal %d", call, code, refusal);
    refusal = 0;
    if (code != MPI_SUCCESS) OK(MPI_Ineighbor_alltoall(e.out, 1, MPI_INT, e.in, 1, MPI_INT, ring, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    verify(&e, "a call that was refused before");
  }
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  test_errors_return();
  int periodic = 1;
  OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, &periodic, 0, &ring));
  MPI_Cart_shift(ring, 0, 1, &left, &right);
  for (int function = 0; function < FUNCTIONS; function++)
    for (int ignore = 0; ignore < 2; ignore++) mixed(function, ignore);
  persistent();
  any_order();
  misuse();
  many();
  elsewhere();
  freed();
  field();
  attributes();
  attributes_of_types();
  errors();
  truncation();
  without_request();
  native_truncation();
  invalid_beside();
  OK(MPI_Comm_free(&ring));
  return test_finish();
}
