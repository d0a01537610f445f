/* Blocking calls whose arguments are those of earlier ones, or nearly so: nothing of an earlier
   call may serve another one. A script changes one displacement, counts, datatypes, buffers or form
   of the call, in place; frees datatypes so that their handles come back as others; and puts other
   operations, errors, nested calls and new neighborhoods between. Each process computes what must
   arrive. What is remembered is counted by the calls that ask MPI about datatypes, and what is
   watched by those that give datatypes attributes.

   With TEST_THREADS=yes two threads make such calls, each on a communicator of its own. */
#include "test.h"
#include <pthread.h>

enum { EDGES = 4, BLOCK = 40, ARENA = EDGES * BLOCK, SETS = 6, MOST_COUNT = 3 };
typedef enum { ALLTOALLW, ALLTOALLV, ALLTOALL, GATHER, GATHERV, FORMS } form;

static int me, size, asked, watched, handles_back, reduces;
static MPI_Comm comm, alone;

/* counts the library's questions about datatypes */
int MPI_Type_get_extent(MPI_Datatype type, MPI_Aint *lb, MPI_Aint *extent) {
  asked++;
  return PMPI_Type_get_extent(type, lb, extent);
}
int MPI_Type_get_attr(MPI_Datatype type, int key, void *value, int *found) {
  asked++;
  return PMPI_Type_get_attr(type, key, value, found);
}
int MPI_Type_get_envelope(MPI_Datatype type, int *integers, int *addresses, int *types_of, int *combiner) {
  asked++;
  return PMPI_Type_get_envelope(type, integers, addresses, types_of, combiner);
}
/* a message to no process: MPI checks the datatype */
int MPI_Send(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm c) {
  asked += to == MPI_PROC_NULL;
  return PMPI_Send(from, count, type, to, tag, c);
}
int MPI_Type_set_attr(MPI_Datatype type, int key, void *value) {
  watched++;
  return PMPI_Type_set_attr(type, key, value);
}

/* Numbers that change the arguments when they do; the same on all processes. */
static struct {
  int displs[EDGES], counts, strides;
} epoch;

static int send_arena[SETS][ARENA], recv_arena[SETS][ARENA];
/* by side: of send and receive blocks; of MPI_Neighbor_alltoallv in elements */
static int counts[2][EDGES], displs_v[2][EDGES];
static MPI_Aint displs[2][EDGES];
static MPI_Datatype types[2][EDGES];

/* Entries 0 and 2 lead to the right, 1 to the process itself, 3 nowhere. */
static int source_of(int k) { return k == 1 ? me : (me + size - 1) % size; }
static int count_of(int k) { return (int)(mix3(1, epoch.counts, k) % (MOST_COUNT + 1)); }
/* forms with one count, and gather */
static int one_count(void) { return 1 + (int)(mix2(2, epoch.counts) % MOST_COUNT); }
static int stride_of(int process, int side, int k) { return 1 + (int)(mix3(mix2(3, epoch.strides), process * 2 + side, k) % 5); }
static int displ_of(int process, int side, int k) { return k * BLOCK + (int)(mix3(mix2(4, epoch.displs[k]), process * 2 + side, k) % 5); }
static int displ_v_of(int process, int side, int k) { return k * 5 + (int)(mix3(mix2(5, epoch.displs[k]), process * 2 + side, k) % 2); }

static void fill_arrays(void) {
  for (int side = 0; side < 2; side++)
    for (int k = 0; k < EDGES; k++) {
      counts[side][k] = count_of(k), displs_v[side][k] = displ_v_of(me, side, k);
      displs[side][k] = displ_of(me, side, k) * (MPI_Aint)sizeof(int);
    }
}

/* two ints each */
static MPI_Datatype made(int stride, int commit) {
  MPI_Datatype type;
  MPI_Type_vector(2, 1, stride, MPI_INT, &type);
  if (commit) MPI_Type_commit(&type);
  return type;
}

static void make_types(void) {
  for (int side = 0; side < 2; side++)
    for (int k = 0; k < EDGES; k++) types[side][k] = k == 3 ? MPI_DATATYPE_NULL : made(stride_of(me, side, k), 1);
}

/* frees all types and makes them again, in an order in which handles wander */
static void renew_types(void) {
  MPI_Datatype old[2 * EDGES];
  int n = 0;
  for (int side = 0; side < 2; side++)
    for (int k = 0; k < 3; k++) old[n++] = types[side][k], MPI_Type_free(&types[side][k]);
  make_types();
  for (int side = 0; side < 2; side++)
    for (int k = 0; k < 3; k++)
      for (int i = 0; i < n; i++) handles_back += types[side][k] == old[i];
}

static void set(void) {
  int right = (me + 1) % size, left = (me + size - 1) % size;
  int targets[EDGES] = {right, me, right, MPI_PROC_NULL}, sources[EDGES] = {left, me, left, MPI_PROC_NULL};
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_GATHER | MPIX_NEIGHBOR_ALLTOALL | (reduces ? MPIX_NEIGHBOR_REDUCE : 0), EDGES, sources, MPI_UNWEIGHTED, EDGES, targets, MPI_UNWEIGHTED,
                           MPI_INFO_NULL, comm));
}

/* the call in a form, on buffers */
static int run(form f, const int *from, int *into) {
  switch (f) {
    case ALLTOALLW: return MPIX_Neighbor_alltoallw(from, counts[0], displs[0], types[0], into, counts[1], displs[1], types[1], comm);
    case ALLTOALLV: return MPIX_Neighbor_alltoallv(from, counts[0], displs_v[0], types[0][0], into, counts[1], displs_v[1], types[1][0], comm);
    case ALLTOALL: return MPIX_Neighbor_alltoall(from, one_count(), types[0][0], into, one_count(), types[1][0], comm);
    case GATHER: return MPIX_Neighbor_gather(from, one_count(), types[0][0], into, one_count(), types[1][0], comm);
    default: break;
  }
  int same[EDGES] = {one_count(), one_count(), one_count(), one_count()};
  return MPIX_Neighbor_gatherv(from, one_count(), types[0][0], into, same, displs_v[1], types[1][0], comm);
}

/* where int `v` of element `j` of block `k` lies with a process */
static int place(form f, int process, int side, int k, int j, int v) {
  int of = f == ALLTOALLW ? k : 0, stride = stride_of(process, side, of), extent = stride + 1, inside = j * extent + v * stride;
  if (f == ALLTOALLW) return displ_of(process, side, k) + inside;
  if (side == 0 && (f == GATHER || f == GATHERV)) return inside;
  return (f == ALLTOALLV || f == GATHERV ? displ_v_of(process, side, k) : k * one_count()) * extent + inside;
}

static void check(const char *what, form f, int set, int call, int line) {
  int want[ARENA], bad = -1;
  for (int i = 0; i < ARENA; i++) want[i] = -1;
  for (int k = 0; k < 3; k++)
    for (int j = 0; j < (f == ALLTOALLW || f == ALLTOALLV ? count_of(k) : one_count()); j++)
      for (int v = 0; v < 2; v++)
        want[place(f, me, 1, k, j, v)] = (int)(mix3(call, source_of(k) * SETS + set, place(f, source_of(k), 0, k, j, v)) & 0xffffff);
  for (int i = 0; i < ARENA && bad < 0; i++)
    if (recv_arena[set][i] != want[i]) bad = i;
  CHECK(bad < 0, "line %d: %s, form %d, call %d: int %d is %d, not %d", line, what, f, call, bad, bad < 0 ? 0 : recv_arena[set][bad], bad < 0 ? 0 : want[bad]);
}

static void prepare(int set, int call) {
  for (int i = 0; i < ARENA; i++) send_arena[set][i] = (int)(mix3(call, me * SETS + set, i) & 0xffffff), recv_arena[set][i] = -1;
}

static int calls;

static void call_and_check(const char *what, form f, int set, int line) {
  prepare(set, ++calls);
  OK(run(f, send_arena[set], recv_arena[set]));
  check(what, f, set, calls, line);
}
#define CALL(what, f, set) call_and_check(what, f, set, __LINE__)

/* a call on a communicator of this process alone, the same each time */
static int nested;
static void call_alone(void) {
  static int from = 7, into;
  into = 0, nested++;
  OK(MPIX_Neighbor_alltoall(&from, 1, MPI_INT, &into, 1, MPI_INT, alone));
  CHECK(into == 7, "a nested call brings %d", into);
}

static void on_error(MPI_Comm *where, int *code, ...) {
  (void)where, (void)code;
  call_alone();
}

/* an operator that calls the library, and asks for the collective that is running */
static void calling_sum(void *in, void *inout, int *length, MPI_Datatype *type) {
  (void)type;
  int mine[1] = {0}, result[1];
  call_alone();
  CHECK(MPIX_Neighbor_reduce(mine, 1, MPI_INT, result, 1, MPI_INT, MPI_SUM, comm) != MPI_SUCCESS, "a reduction inside itself");
  for (int i = 0; i < *length; i++) ((int *)inout)[i] += ((int *)in)[i];
}
static void difference(void *in, void *inout, int *length, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *length; i++) ((int *)inout)[i] = ((int *)in)[i] - ((int *)inout)[i];
}

/* the handle of an operator comes back as another one */
static void reductions(int call) {
  static int mine, result;
  MPI_Op op;
  for (int times = 0; times < 2; times++) {
    int left = call + (me + size - 1) % size;
    mine = call + me;
    MPI_Op_create(calling_sum, 1, &op);
    OK(MPIX_Neighbor_reduce(&mine, 1, MPI_INT, &result, 1, MPI_INT, op, comm));
    CHECK(result == 2 * left + mine, "a sum is %d", result);
    MPI_Op_free(&op);
    MPI_Op_create(difference, 0, &op);
    OK(MPIX_Neighbor_reduce(&mine, 1, MPI_INT, &result, 1, MPI_INT, op, comm));
    CHECK(result == left - mine - left || result == left - (mine - left), "differences are %d", result);
    MPI_Op_free(&op);
    OK(MPIX_Neighbor_reduce(&mine, 1, MPI_INT, &result, 1, MPI_INT, MPI_MAX, comm));
    CHECK(result == (left > mine ? left : mine), "a maximum is %d", result);
  }
}

/* errors on all processes alike, between calls that are good; an erroneous call is none that may be
   repeated */
static void errors(form f, int set) {
  for (int times = 0; times < 2; times++) {
    int before = nested;
    if (f == ALLTOALLW || f == ALLTOALLV) {
      counts[0][0] = -1;
      CHECK(run(f, send_arena[set], recv_arena[set]) != MPI_SUCCESS, "a negative count");
      CHECK(nested == before + 1, "%d calls of the error handler", nested - before);
      fill_arrays();
    }
    CHECK(run(f, MPI_IN_PLACE, recv_arena[set]) != MPI_SUCCESS, "MPI_IN_PLACE");
    const int *from = send_arena[set];
    int *into = recv_arena[set];
    CALL("before an array is missing", f, set);
    if (f == ALLTOALLW) {
      CHECK(MPIX_Neighbor_alltoallw(from, NULL, displs[0], types[0], into, counts[1], displs[1], types[1], comm) != MPI_SUCCESS, "no counts");
      CHECK(MPIX_Neighbor_alltoallw(from, counts[0], displs[0], types[0], into, counts[1], NULL, types[1], comm) != MPI_SUCCESS, "no displacements");
      CHECK(MPIX_Neighbor_alltoallw(from, counts[0], displs[0], NULL, into, counts[1], displs[1], types[1], comm) != MPI_SUCCESS, "no datatypes");
      CHECK(MPIX_Neighbor_alltoallw(from, counts[0], displs[0], types[0], into, counts[1], displs[1], NULL, comm) != MPI_SUCCESS, "no datatypes received");
    }
    if (f == ALLTOALLV) {
      CHECK(MPIX_Neighbor_alltoallv(from, counts[0], NULL, types[0][0], into, counts[1], displs_v[1], types[1][0], comm) != MPI_SUCCESS, "no displacements");
      CHECK(MPIX_Neighbor_alltoallv(from, counts[0], displs_v[0], types[0][0], into, NULL, displs_v[1], types[1][0], comm) != MPI_SUCCESS, "no counts");
    }
    if (f == GATHERV) CHECK(MPIX_Neighbor_gatherv(from, one_count(), types[0][0], into, NULL, displs_v[1], types[1][0], comm) != MPI_SUCCESS, "no counts");
    if (f == ALLTOALL) CHECK(MPIX_Neighbor_alltoall(from, one_count(), MPI_DATATYPE_NULL, into, one_count(), types[1][0], comm) != MPI_SUCCESS, "no datatype");
  }
}

/* a neighborhood with one edge, to the right or to the left */
static void set_ring(int to_the_right, MPI_Comm where) {
  int right = (me + 1) % size, left = (me + size - 1) % size;
  OK(MPIX_Neighbor_alltoall_set(1, to_the_right ? &left : &right, MPI_UNWEIGHTED, 1, to_the_right ? &right : &left, MPI_UNWEIGHTED, MPI_INFO_NULL, where));
}

/* the same arguments on two communicators in turns, between operations that are started with them,
   and with neighborhoods that are turned round; communicators that are freed and come back */
static void elsewhere(void) {
  static int from, into;
  MPI_Comm rings[2];
  for (int lives = 0; lives < 3; lives++) {
    for (int r = 0; r < 2; r++) {
      rings[r] = test_duplicate();
      CHECK(MPIX_Neighbor_alltoall(&from, 1, MPI_INT, &into, 1, MPI_INT, rings[r]) != MPI_SUCCESS, "a communicator without neighborhood");
    }
    for (int i = 0; i < 60; i++) {
      int turned = i / 20, r = i % 2, to_the_right = (r + turned) % 2;
      int source = to_the_right ? (me + size - 1) % size : (me + 1) % size;
      if (i % 20 == 0)
        for (int k = 0; k < 2; k++) set_ring((k + turned) % 2, rings[k]);
      MPIX_Request request;
      int begun = 0;
      from = 100 * i + me, into = -1;
      if (i % 3 == 0) OK(MPIX_Ineighbor_alltoall(&from, 1, MPI_INT, &begun, 1, MPI_INT, rings[r], &request));
      OK(MPIX_Neighbor_alltoall(&from, 1, MPI_INT, &into, 1, MPI_INT, rings[r]));
      CHECK(into == 100 * i + source, "round %d: %d", i, into);
      if (i % 3 == 0) OK(MPIX_Request_wait(&request));
      CHECK(i % 3 || begun == into, "round %d: a started operation brings %d", i, begun);
      if (i % 5) continue;
      into = -1;
      OK(MPIX_Ineighbor_alltoall(&from, 1, MPI_INT, &into, 1, MPI_INT, rings[r], &request));
      OK(MPIX_Request_wait(&request));
      CHECK(into == 100 * i + source, "round %d: a started operation with the arguments of a call brings %d", i, into);
    }
    for (int r = 0; r < 2; r++) MPI_Comm_free(&rings[r]);
  }
}

/* a thread's calls: buffers in turns, a datatype that is freed and made again */
typedef struct {
  MPI_Comm comm;
  int wrong;
} ring;
static void *ring_thread(void *argument) {
  ring *own = argument;
  int left = (me + size - 1) % size, from[2][4], into[2];
  MPI_Datatype type = made(2, 1);
  for (int i = 0; i < 600; i++) {
    int b = i / 3 % 2, stride = 2 + i / 7 % 2;
    if (i % 7 == 0) MPI_Type_free(&type), type = made(stride, 1);
    int sum[2] = {-1, -1};
    memset(from[b], 0, sizeof from[b]);
    from[b][0] = i + me, from[b][stride] = 2 * i + me, into[b] = -1;
    own->wrong += MPIX_Neighbor_alltoall(&from[b][0], 1, type, sum, 2, MPI_INT, own->comm) != MPI_SUCCESS;
    own->wrong += sum[0] != i + left || sum[1] != 2 * i + left;
    own->wrong += MPIX_Neighbor_alltoall(&from[b][0], 1, MPI_INT, &into[b], 1, MPI_INT, own->comm) != MPI_SUCCESS;
    own->wrong += into[b] != i + left;
  }
  MPI_Type_free(&type);
  return NULL;
}
static int threads(void) {
  ring rings[2] = {0};
  pthread_t ids[2];
  for (int t = 0; t < 2; t++) rings[t].comm = test_duplicate(), set_ring(1, rings[t].comm);
  for (int t = 0; t < 2; t++) pthread_create(&ids[t], NULL, ring_thread, &rings[t]);
  for (int t = 0; t < 2; t++) {
    pthread_join(ids[t], NULL);
    CHECK(rings[t].wrong == 0, "thread %d: %d wrong", t, rings[t].wrong);
    MPI_Comm_free(&rings[t].comm);
  }
  return test_finish();
}

/* the handle of a type that has been used comes back as one that is not committed */
static void uncommitted(form f, int set) {
  MPI_Datatype old = types[0][0];
  int class = MPI_SUCCESS;
  while (count_of(0) == 0) epoch.counts++, fill_arrays();
  for (int i = 0; i < 3; i++) CALL("before a type is freed", f, set);
  MPI_Type_free(&types[0][0]);
  types[0][0] = made(stride_of(me, 0, 0), 0);
  handles_back += types[0][0] == old;
  int code = run(f, send_arena[set], recv_arena[set]);
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  CHECK(class == MPI_ERR_TYPE, "form %d, a type that is not committed: class %d", f, class);
  MPI_Type_commit(&types[0][0]);
  CALL("once it is committed", f, set);
}

static void script(uint64_t seed, int length) {
  form f = (form)(seed % FORMS);
  int set_now = 0;
  for (int step = 0; step < length; step++) {
    int what = (int)(mix3(seed, 6, step) % 16), again = 1 + (int)(mix3(seed, 7, step) % 3);
    switch (what) {
      case 4:
      case 5: epoch.displs[mix3(seed, 8, step) % 3]++, fill_arrays(); break;
      case 6: epoch.counts++, fill_arrays(); break;
      case 7: epoch.strides++, renew_types(); break;
      case 8: renew_types(); break;
      case 9: set_now = !set_now; break;
      case 10: set_now = (set_now + 1) % SETS; break;
      case 11: f = (form)((f + 1) % FORMS); break;
      case 12:
        if (reduces) reductions(step);
        break;
      case 13: set(); break;
      case 14: errors(f, set_now); break;
      case 15: CALL("another form", (form)((f + 2) % FORMS), set_now); break;
      default: break;
    }
    for (int i = 0; i < again; i++) CALL("script", f, set_now);
  }
}

/* what is verified is not remembered; how long schedules are compared depends on their times */
static int forgets(void) {
  const char *schedule = getenv("MPIX_SCHEDULE");
  return getenv("MPIX_NEIGHBOR_VERIFY") || (schedule && strcmp(schedule, "measure") == 0);
}

/* two buffers in turns, four, and more than are kept; arguments that change with each call, and
   then do not any more. What holds copies of blocks is bound to one call's arguments alone. */
static void patterns(form f) {
  /* others of the same handles for each call, so that soon nobody is to tell when they are freed;
     then some that stay for a while, one of which another form has used */
  for (int i = 0; i < 40; i++) {
    epoch.strides++, renew_types();
    if (i == 12) watched = 0;
    CALL("always new types", f, 0);
    if (i % 9 == 8) CALL("types that have just been used", f, 0);
  }
  CHECK(watched == 0 || forgets(), "form %d: %d datatypes that are used once are watched", f, watched);
  for (int i = 0; i < 3; i++) CALL("types that stay", f, 0);
  CALL("another form", (form)((f + 1) % FORMS), 0);
  for (int i = 0; i < 3; i++) {
    epoch.strides++, renew_types();
    CALL("new types", f, 0);
  }
  int kept = getenv("TEST_REDUCE") || getenv("MPIX_TRANSPORT") ? 1 : 4;
  for (int used = 1; used <= SETS; used++)
    for (int i = 0; i < 4 * SETS; i++) CALL("in turns", f, i % used);
  for (int i = 0; i < 80; i++) {
    epoch.displs[i % 3]++, fill_arrays();
    CALL("always new", f, i % SETS);
  }
  for (int i = 0; i < 1100; i++) {
    if (i == 1070) asked = 0;
    CALL("at last the same", f, i % kept);
  }
  CHECK(asked == 0 || forgets(), "form %d: MPI was asked %d times about types that it was asked about before", f, asked);
  for (int i = 0; i < 40; i++) {
    epoch.displs[i % 3]++, fill_arrays();
    if (i == 20) asked = 0;
    CALL("new again", f, i % SETS);
  }
  /* a process alone copies blocks of three types, of which two are known */
  int thrashes = size == 1 && f == ALLTOALLW;
  CHECK(asked == 0 || thrashes || forgets(), "form %d: with new arguments MPI was asked %d times about types that stay", f, asked);
  uncommitted(f, 0);
}

/* requests with datatypes, and calls of several fields, between calls whose datatypes stay known */
static void beside_requests(void) {
  int in_calls = 0;
  /* what has been called before is forgotten */
  set();
  for (int i = 0; i < 60; i++) {
    MPIX_Request request;
    const void *from[2] = {send_arena[2], send_arena[3]};
    void *into[2] = {recv_arena[2], recv_arena[3]};
    int lengths[2][2 * EDGES];
    MPI_Aint places[2][2 * EDGES];
    MPI_Datatype kinds[2][2 * EDGES];
    for (int side = 0; side < 2; side++)
      for (int k = 0; k < 2 * EDGES; k++) lengths[side][k] = counts[side][k % EDGES], places[side][k] = displs[side][k % EDGES], kinds[side][k] = types[side][k % EDGES];
    prepare(1, ++calls);
    OK(MPIX_Ineighbor_alltoallw(send_arena[1], counts[0], displs[0], types[0], recv_arena[1], counts[1], displs[1], types[1], comm, &request));
    OK(MPIX_Request_wait(&request));
    check("request", ALLTOALLW, 1, calls, __LINE__);
    prepare(2, ++calls), prepare(3, calls);
    OK(MPIX_Neighbor_alltoallw_fields(2, from, lengths[0], places[0], kinds[0], into, lengths[1], places[1], kinds[1], comm));
    check("first field", ALLTOALLW, 2, calls, __LINE__), check("second field", ALLTOALLW, 3, calls, __LINE__);
    int before = asked;
    CALL("beside requests", ALLTOALLW, 0);
    if (i > 40) in_calls += asked - before;
  }
  CHECK(in_calls == 0 || forgets(), "beside requests MPI was asked %d times about types that stay", in_calls);
}

int main(int argc, char **argv) {
  if (getenv("TEST_THREADS")) {
    int several = test_init_threads(&argc, &argv);
    me = test_rank, size = test_size;
    return several ? threads() : test_finish();
  }
  test_init(&argc, &argv);
  MPI_Errhandler handler;
  int zero = 0;
  MPI_Comm_dup(MPI_COMM_SELF, &alone);
  OK(MPIX_Neighbor_alltoall_set(1, &zero, MPI_UNWEIGHTED, 1, &zero, MPI_UNWEIGHTED, MPI_INFO_NULL, alone));
  comm = test_duplicate();
  MPI_Comm_create_errhandler(on_error, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Comm_rank(comm, &me), MPI_Comm_size(comm, &size);
  reduces = !getenv("TEST_REDUCE");
  fill_arrays();
  make_types();
  set();
  for (uint64_t seed = 0; seed < 8; seed++) script(seed, 150);
  for (form f = 0; f < FORMS; f++) patterns(f);
  beside_requests();
  elsewhere();
  CHECK(handles_back > 0, "no handle came back");
  for (int side = 0; side < 2; side++)
    for (int k = 0; k < 3; k++) MPI_Type_free(&types[side][k]);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&comm), MPI_Comm_free(&alone);
  return test_finish();
}
