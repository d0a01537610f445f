/* MPI refuses messages of sparse windows, or receives of them, or there is no memory: the process
   that this happens to, and those whose operations are lost, get an error; all others go on, nobody
   waits for ever, and epochs end alike everywhere. Each process is a node here, so that all
   messages are MPI's. */
#include "scarce.h"
#include "test.h"

/* the kind of call that is refused, how many of it, and of which length (0: any); how many have
   been */
typedef enum { NOTHING, SENDS, LAST, RECEIVES, BARRIERS, SUMS } kind;
static kind refusing;
static int times, length, refused;

static int refuse(kind what, int count) {
  if (refusing != what || times == 0 || (length > 0 && count != length)) return 0;
  times--;
  return ++refused;
}
int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm, MPI_Request *request) {
  return refuse(SENDS, count) ? MPI_ERR_OTHER : PMPI_Isend(buffer, count, type, target, tag, comm, request);
}
/* the messages of the exchange that ends an epoch */
int MPI_Issend(const void *buffer, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm, MPI_Request *request) {
  return refuse(LAST, count) ? MPI_ERR_OTHER : PMPI_Issend(buffer, count, type, target, tag, comm, request);
}
int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request) {
  int posted = source == MPI_ANY_SOURCE && tag == MPI_ANY_TAG && count == 4032;
  if (posted ? refuse(RECEIVES, count) : source != MPI_ANY_SOURCE && refuse(BARRIERS, count)) return MPI_ERR_OTHER;
  return PMPI_Irecv(buffer, count, type, source, tag, comm, request);
}

int MPI_Reduce_local(const void *in, void *inout, int count, MPI_Datatype type, MPI_Op op) {
  return refuse(SUMS, count) ? MPI_ERR_OTHER : PMPI_Reduce_local(in, inout, count, type, op);
}

enum { N = 100, ANSWER = 24 };
static long elements[N];
static MPIX_Sparse_window window;
static MPI_Comm comm;

static int make_on_nodes(MPI_Datatype type, const char *node_size, const char *protocol) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_node_size", node_size);
  MPI_Info_set(info, "mpix_sparse", protocol);
  for (int i = 0; i < N; i++) elements[i] = 1000 * test_rank + i;
  window = NULL;
  int code = MPIX_Sparse_window_create(elements, type == MPI_LONG ? N : 0, type, info, comm, &window);
  MPI_Info_free(&info);
  return code;
}

static int make(MPI_Datatype type) { return make_on_nodes(type, "1", "nbx"); }

static void begin(void) {
  OK(make(MPI_LONG));
  OK(MPIX_Sparse_window_fence(window));
}

/* the next refusals are process `who`'s */
static void refuse_at(int who, kind what, int most, int bytes) {
  refused = 0;
  if (test_rank == who) refusing = what, times = most, length = bytes;
}

/* `most` have been refused */
static void were_refused(int who, int most) {
  CHECK(refused == (test_rank == who ? most : 0), "%d refused, not %d", refused, most);
  refusing = NOTHING;
}

/* the call fails on those processes, and is right on the others */
static void fails_on(int line, int code, int processes) {
  int fails = processes >> test_rank & 1;
  CHECK((code != MPI_SUCCESS) == fails, "line %d: %s", line, test_message(code));
}
#define FAILS_ON(call, processes) fails_on(__LINE__, call, processes)

static int fetch(long *got, int target, int index) {
  long one = 1;
  MPI_Aint k = index;
  *got = -1;
  return MPIX_Sparse_window_fetch_and_op(&one, got, 1, target, &k, MPI_SUM, window);
}

static int get(long *got, int target, int index) {
  MPI_Aint k = index;
  *got = -1;
  return MPIX_Sparse_window_get(got, 1, target, &k, window);
}

static int put(long value, int target, int index) {
  MPI_Aint k = index;
  return MPIX_Sparse_window_put(&value, 1, target, &k, window);
}

/* all is as if nothing had been: each process reads of each other one, by a flush and a fence */
static void goes_on(void) {
  for (int p = 0; p < test_size; p++) {
    long got;
    OK(get(&got, p, 50));
    OK(MPIX_Sparse_window_flush(window));
    CHECK(got == 1000 * p + 50, "process %d: got %ld", p, got);
    OK(get(&got, p, 51));
    OK(MPIX_Sparse_window_fence(window));
    CHECK(got == 1000 * p + 51, "process %d: got %ld", p, got);
  }
  OK(MPIX_Sparse_window_free(&window));
}

/* an answer of process 1 is refused, once or twice: it is sent all the same */
static void answers(int most) {
  long got;
  begin();
  refuse_at(1, SENDS, most, ANSWER);
  if (test_rank != 1)
    for (int i = 0; i < 20; i++) {
      OK(fetch(&got, 1, 5));
      OK(MPIX_Sparse_window_flush(window));
      CHECK(got >= 1005 && got < 1005 + 20 * test_size, "got %ld", got);
    }
  FAILS_ON(MPIX_Sparse_window_fence(window), 1 << 1);
  were_refused(1, most);
  CHECK(test_rank != 1 || elements[5] == 1005 + 20 * (test_size - 1), "%ld", elements[5]);
  FAILS_ON(MPIX_Sparse_window_free(&window), 1 << 1);
}

/* the same in the fence itself */
static void last_answers(int most) {
  long got = -1;
  begin();
  refuse_at(1, SENDS, most, ANSWER);
  if (test_rank != 1) OK(get(&got, 1, 7));
  FAILS_ON(MPIX_Sparse_window_fence(window), 1 << 1);
  were_refused(1, most);
  CHECK(test_rank == 1 || got == 1007, "got %ld", got);
  FAILS_ON(MPIX_Sparse_window_free(&window), 1 << 1);
}

/* a receive is refused when it is posted again, once or twice: a later poll posts it */
static void receives(int most) {
  long got;
  begin();
  refuse_at(1, RECEIVES, most, 0);
  if (test_rank == 0)
    for (int i = 0; i < 50; i++) {
      OK(fetch(&got, 1, 5));
      OK(MPIX_Sparse_window_flush(window));
      CHECK(got == 1005 + i, "got %ld", got);
    }
  FAILS_ON(MPIX_Sparse_window_fence(window), (most > 1) << 1);
  were_refused(1, most);
  CHECK(test_rank != 1 || elements[5] == 1055, "%ld", elements[5]);
  FAILS_ON(MPIX_Sparse_window_free(&window), (most > 1) << 1);
}

/* the last batch of process 0 for process 1 is lost, with batches before it, and an operation that
   waits for its result; process 2 has nothing to do with it */
static void last(int before, int returns) {
  long got = -1, lost;
  begin();
  if (test_size > 2 && test_rank == 2) OK(get(&got, 0, 5));
  if (test_rank == 0) {
    for (int i = 0; i < before; i++) OK(put(7000 + i % N, 1, i % N));
    OK(returns ? get(&lost, 1, 5) : put(8, 1, 5));
  }
  refuse_at(0, LAST, 1, 0);
  FAILS_ON(MPIX_Sparse_window_fence(window), 3);
  were_refused(0, 1);
  CHECK(test_rank != 2 || got == 5, "got %ld", got);
  if (before) {
    /* what is late has come by now, and elements are as they were */
    OK(MPIX_Sparse_window_fence(window));
    if (test_rank == 0)
      for (int i = 0; i < N; i++) OK(put(1000 + i, 1, i));
    OK(MPIX_Sparse_window_fence(window));
  }
  goes_on();
}

/* the same with nodes of two processes: the batches for processes 2 and 3 travel in one message to
   process 2, which distributes them; process 1 has nothing to do with it */
static void relayed(void) {
  long got = -1, lost;
  OK(make_on_nodes(MPI_LONG, "2", "nbx_node"));
  OK(MPIX_Sparse_window_fence(window));
  if (test_rank == 0) {
    OK(get(&lost, 3, 5));
    OK(put(8, 2, 5));
  }
  if (test_rank == 1) OK(get(&got, 3, 6));
  refuse_at(0, LAST, 1, 0);
  FAILS_ON(MPIX_Sparse_window_fence(window), 1 << 0 | 1 << 2 | 1 << 3);
  were_refused(0, 1);
  CHECK(test_rank != 1 || got == 3006, "got %ld", got);
  goes_on();
}

/* operations of process 0, one of which waits for its result, are refused twice: they are lost, and
   it and their target hear of it */
static void operations(void) {
  long got = -1;
  begin();
  refuse_at(0, SENDS, 2, 0);
  if (test_rank == 0) {
    OK(get(&got, 1, 5));
    CHECK(MPIX_Sparse_window_flush(window) != MPI_SUCCESS, "lost operations");
  }
  FAILS_ON(MPIX_Sparse_window_fence(window), 3);
  were_refused(0, 2);
  FAILS_ON(MPIX_Sparse_window_fence(window), 1);
  FAILS_ON(MPIX_Sparse_window_free(&window), 1);
}

static long double wide[2];

static void begin_wide(void) {
  MPI_Info info = test_hint("mpix_node_size", "1");
  window = NULL;
  wide[0] = 1, wide[1] = 2;
  OK(MPIX_Sparse_window_create(wide, 2, MPI_LONG_DOUBLE, info, comm, &window));
  MPI_Info_free(&info);
}

/* process 1 cannot apply an operation: nobody waits for what that would have returned, neither in a
   flush, which says so, nor in the fence. Others are applied, also later ones of the same epoch */
static void applied(int flushes) {
  long double one = 1, got = -1, then = -1;
  MPI_Aint second = 1;
  begin_wide();
  refuse_at(1, SUMS, 1, 0);
  if (test_rank == 0) {
    OK(MPIX_Sparse_window_fetch_and_op(&one, &got, 1, 1, &second, MPI_SUM, window));
    if (flushes) {
      CHECK(MPIX_Sparse_window_flush(window) != MPI_SUCCESS && got == 0, "got %Lg", got);
      OK(MPIX_Sparse_window_fetch_and_op(&one, &then, 1, 1, &second, MPI_SUM, window));
      OK(MPIX_Sparse_window_flush(window));
      CHECK(then == 2, "got %Lg", then);
      OK(MPIX_Sparse_window_get(&then, 1, 1, &second, window));
    }
  }
  FAILS_ON(MPIX_Sparse_window_fence(window), 3);
  were_refused(1, 1);
  CHECK(test_rank != 0 || !flushes || then == 3, "got %Lg", then);
  CHECK(test_rank != 1 || wide[1] == 2 + flushes, "%Lg", wide[1]);
  OK(MPIX_Sparse_window_fence(window));
  OK(MPIX_Sparse_window_free(&window));
}

/* the same for elements of the caller's own */
static void applied_own(void) {
  long double ones[2] = {1, 1}, got[2] = {-1, -1};
  MPI_Aint both[2] = {0, 1};
  begin_wide();
  refuse_at(1, SUMS, 1, 0);
  if (test_rank == 1) {
    OK(MPIX_Sparse_window_fetch_and_op(ones, got, 2, 1, both, MPI_SUM, window));
    CHECK(got[0] == 0 && got[1] == 2, "got %Lg and %Lg", got[0], got[1]);
    CHECK(wide[0] == 1 && wide[1] == 3, "%Lg %Lg", wide[0], wide[1]);
    CHECK(MPIX_Sparse_window_flush(window) != MPI_SUCCESS, "a lost operation");
    OK(MPIX_Sparse_window_flush(window));
  }
  FAILS_ON(MPIX_Sparse_window_fence(window), 1 << 1);
  were_refused(1, 1);
  OK(MPIX_Sparse_window_fence(window));
  OK(MPIX_Sparse_window_free(&window));
}

/* the same for all of several batches, which process 1 meets in its fence. What process 2 puts
   there in its last one is applied */
static void applied_last(void) {
  long double one = 1, other = 7;
  MPI_Aint at[400];
  begin_wide();
  for (int i = 0; i < 400; i++) at[i] = i % 2;
  refuse_at(1, SUMS, 2400, 0);
  if (test_rank == 0)
    for (int i = 0; i < 2400; i += 400) {
      static long double ones[400];
      for (int k = 0; k < 400; k++) ones[k] = one;
      OK(MPIX_Sparse_window_accumulate(ones, 400, 1, at, MPI_SUM, window));
    }
  if (test_rank == 2) OK(MPIX_Sparse_window_put(&other, 1, 1, at, window));
  MPI_Barrier(comm);
  FAILS_ON(MPIX_Sparse_window_fence(window), 3);
  CHECK(test_rank != 1 || refused > 1000, "%d refused", refused);
  refusing = NOTHING;
  CHECK(test_rank != 1 || (wide[0] == (test_size > 2 ? 7 : 1) && wide[1] == 2), "%Lg %Lg", wide[0], wide[1]);
  OK(MPIX_Sparse_window_fence(window));
  OK(MPIX_Sparse_window_free(&window));
}

/* the exchange of process 1's last fence, in which the window is freed, cannot start: it joins the
   others there, or if it cannot do that either, leaves them */
static void freed(const char *protocol, int most) {
  long got = -1;
  OK(make_on_nodes(MPI_LONG, "1", protocol));
  OK(MPIX_Sparse_window_fence(window));
  if (test_rank == 0) OK(get(&got, test_size - 1, 7));
  MPI_Barrier(comm);
  refuse_at(1, BARRIERS, most, 0);
  int code = MPIX_Sparse_window_free(&window);
  CHECK(code == MPI_SUCCESS ? most == 1 && test_rank != 1 : most == 2 || test_rank == 1 || test_rank == 0, "%s", test_message(code));
  were_refused(1, most);
  MPI_Barrier(comm);
}

/* receives are refused where a window is made, or there is no memory for them: all get the error */
static void made(void) {
  MPI_Datatype lengthy;
  refuse_at(1, RECEIVES, 1, 0);
  OK(make(MPI_LONG));
  were_refused(1, 1);
  goes_on();
  refuse_at(1, RECEIVES, 2, 0);
  FAILS_ON(make(MPI_LONG), -1);
  were_refused(1, 2);
  MPI_Type_contiguous(1 << 20, MPI_LONG, &lengthy);
  MPI_Type_commit(&lengthy);
  if (test_rank == 1) scarce = 1 << 23;
  int code = make(lengthy), class;
  scarce = 0;
  MPI_Error_class(code, &class);
  CHECK(class == MPI_ERR_NO_MEM, "class %d: %s", class, test_message(code));
  OK(make(lengthy));
  OK(MPIX_Sparse_window_free(&window));
  MPI_Type_free(&lengthy);
}

/* windows whose only element is so long that there is no memory for a batch */
enum { LENGTHY = 1 << 20 };

static void begin_lengthy(MPI_Datatype *type, long *base) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_node_size", "1");
  MPI_Info_set(info, "mpix_sparse", "nbx");
  MPI_Type_contiguous(LENGTHY, MPI_LONG, type);
  MPI_Type_commit(type);
  for (int i = 0; i < LENGTHY; i++) base[i] = test_rank;
  window = NULL;
  OK(MPIX_Sparse_window_create(base, 1, *type, info, comm, &window));
  MPI_Info_free(&info);
  OK(MPIX_Sparse_window_fence(window));
}

static void has_no_memory(int code) {
  int class;
  MPI_Error_class(code, &class);
  CHECK(class == MPI_ERR_NO_MEM, "class %d: %s", class, test_message(code));
}

/* process 0 has no memory for a put: its target hears of it in the fence */
static void put_without_memory(long *base, long *other) {
  MPI_Datatype type;
  MPI_Aint first = 0;
  begin_lengthy(&type, base);
  if (test_rank == 0) {
    scarce = sizeof(long) * LENGTHY, refused_memory = 0;
    int code = MPIX_Sparse_window_put(other, 1, 1, &first, window);
    scarce = 0;
    has_no_memory(code);
    CHECK(refused_memory > 0, "nothing was refused");
  }
  FAILS_ON(MPIX_Sparse_window_fence(window), 3);
  CHECK(base[LENGTHY - 1] == test_rank, "%ld", base[LENGTHY - 1]);
  FAILS_ON(MPIX_Sparse_window_fence(window), 1);
  FAILS_ON(MPIX_Sparse_window_free(&window), 1);
  MPI_Type_free(&type);
}

/* process 1, in its fence, has no memory for batches: it needs none for a put, and without any for
   what a get returns, the window ends for its caller */
static void target_without_memory(long *base, long *other, int gets) {
  MPI_Datatype type;
  MPI_Aint first = 0;
  begin_lengthy(&type, base);
  for (int i = 0; i < LENGTHY; i++) other[i] = 7;
  if (test_rank == 0) {
    MPI_Barrier(comm);
    if (gets) {
      OK(MPIX_Sparse_window_get(other, 1, 1, &first, window));
      has_no_memory(MPIX_Sparse_window_flush(window));
      CHECK(other[0] == 7, "got %ld", other[0]);
    } else {
      OK(MPIX_Sparse_window_put(other, 1, 1, &first, window));
      OK(MPIX_Sparse_window_flush(window));
    }
  } else {
    if (test_rank == 1) scarce = sizeof(long) * LENGTHY;
    MPI_Barrier(comm);
  }
  int code = MPIX_Sparse_window_fence(window);
  scarce = 0;
  fails_on(__LINE__, code, gets ? 3 : 0);
  if (gets && test_rank < 2) has_no_memory(code);
  CHECK(base[LENGTHY - 1] == (test_rank == 1 && !gets ? 7 : test_rank), "%ld", base[LENGTHY - 1]);
  FAILS_ON(MPIX_Sparse_window_fence(window), gets);
  FAILS_ON(MPIX_Sparse_window_free(&window), gets);
  MPI_Type_free(&type);
}

static void without_memory(void) {
  long *base = malloc(sizeof *base * LENGTHY), *other = malloc(sizeof *other * LENGTHY);
  put_without_memory(base, other);
  target_without_memory(base, other, 0), target_without_memory(base, other, 1);
  free(base), free(other);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  comm = test_duplicate();
  answers(1), answers(2);
  last_answers(1), last_answers(2);
  receives(1), receives(2);
  last(0, 0), last(0, 1), last(2000, 0), last(2000, 1);
  if (test_size > 3) relayed();
  operations();
  applied(0), applied(1), applied_own(), applied_last();
  freed("nbx", 1), freed("crystal", 1), freed("nbx", 2);
  made();
  without_memory();
  MPI_Comm_free(&comm);
  return test_finish();
}
