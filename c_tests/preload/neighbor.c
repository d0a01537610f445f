/* All neighborhood collectives, in all forms that the MPI has, on communicators of all kinds.
   Arguments: which forms. */
#include "preload.h"

enum { ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW, OPERATIONS };
enum { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

#define HAS_LARGE (MPI_VERSION >= 4)
#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#define INIT(name) MPI_##name##_init
#else
#define INIT(name) MPIX_##name##_init
#endif

/* one side of a call, in ints */
typedef struct {
  int degree, *image, total;
  int *counts, *displs, *peers, *entries;
  MPI_Aint *addresses;
  MPI_Datatype *types;
  MPI_Count *large;
} side;

/* elements that process `s` sends in entry `i` */
static int count_of(int op, int s, int i, int round) {
  switch (op) {
    case ALLGATHER:
    case ALLTOALL: return 1 + round;
    case ALLGATHERV: return 1 + (s + round) % 3;
    default: return (s + 2 * i + round) % 4;
  }
}

/* `wide`: elements are 2 ints apart in blocks of types of their own */
static side make_side(const topology *t, int op, int sends, int round, int wide) {
  side s = {.degree = sends ? t->outdegree : t->indegree};
  int n = s.degree;
  s.counts = ints(n), s.displs = ints(n), s.peers = ints(n), s.entries = ints(n);
  s.addresses = malloc((n + 1) * sizeof(MPI_Aint));
  s.types = malloc((n + 1) * sizeof(MPI_Datatype));
  s.large = malloc((n + 1) * sizeof(MPI_Count));
  int one = sends && op <= ALLGATHERV, packed = op == ALLGATHER || op == ALLTOALL;
  int at = packed ? 0 : 3;
  /* vector forms: blocks in reverse order, with gaps */
  for (int k = 0; k < n; k++) {
    int i = packed ? k : n - 1 - k;
    s.peers[i] = sends ? t->rank : t->sources[i];
    s.entries[i] = op <= ALLGATHERV ? 0 : sends ? i : t->entries[i];
    s.counts[i] = count_of(op, s.peers[i] < 0 ? 1 : s.peers[i], one || op <= ALLGATHERV ? 0 : s.entries[i] < 0 ? 0 : s.entries[i], round);
    if (op == ALLGATHERV && s.peers[i] < 0) s.counts[i] = 2;
    s.displs[i] = one ? 0 : at;
    if (!one) at += wide ? 2 * s.counts[i] + 1 : s.counts[i] + !packed;
  }
  s.total = one ? count_of(op, t->rank, 0, round) : at;
  s.image = ints(s.total);
  for (int i = 0; i < s.total; i++) s.image[i] = -1;
  for (int i = 0; i < n; i++) {
    s.addresses[i] = s.displs[i] * (MPI_Aint)sizeof(int);
    s.large[i] = s.counts[i];
    if (op == ALLTOALLW && wide) {
      MPI_Type_vector(s.counts[i], 1, 2, MPI_INT, &s.types[i]);
      MPI_Type_commit(&s.types[i]);
    } else {
      s.types[i] = MPI_INT;
    }
  }
  return s;
}

static void free_arrays(side *s, int op, int wide) {
  if (op == ALLTOALLW && wide)
    for (int i = 0; i < s->degree; i++) MPI_Type_free(&s->types[i]);
  /* what a library must not look at any more */
  memset(s->counts, 0x55, s->degree * sizeof(int));
  memset(s->displs, 0x55, s->degree * sizeof(int));
  memset(s->addresses, 0x55, s->degree * sizeof(MPI_Aint));
  memset(s->types, 0x55, s->degree * sizeof(MPI_Datatype));
  memset(s->large, 0x55, s->degree * sizeof(MPI_Count));
  free(s->counts), free(s->displs), free(s->addresses), free(s->types), free(s->large);
}

/* fills what is sent, or what must be there after receiving */
static void fill(const side *s, int sends, int one, int step, int salt) {
  if (one) {
    for (int k = 0; k < s->total; k++) s->image[k] = test_value(test_rank, 0, k) ^ salt;
    return;
  }
  for (int i = 0; i < s->degree; i++)
    for (int k = 0; k < s->counts[i] && (sends || s->peers[i] >= 0); k++)
      s->image[s->displs[i] + step * k] = test_value(s->peers[i], s->entries[i], k) ^ salt;
}

static void run(const topology *t, int op, int form, int large, int round, int bottom) {
  int wide = op == ALLTOALLW && round % 2, gathers = op <= ALLGATHERV;
  side out = make_side(t, op, 1, round, 0), in = make_side(t, op, 0, round, wide), want = make_side(t, op, 0, round, wide);
  /* ranks in values are those of MPI_COMM_WORLD where the communicator is a part of it */
  int me = t->rank, world = test_rank;
  test_rank = me;
  void *sendbuf = out.image, *recvbuf = in.image;
  if (bottom) {
    MPI_Aint a, b;
    MPI_Get_address(out.image, &a);
    MPI_Get_address(in.image, &b);
    for (int i = 0; i < out.degree; i++) out.addresses[i] += a;
    for (int i = 0; i < in.degree; i++) in.addresses[i] += b;
    sendbuf = recvbuf = MPI_BOTTOM;
  }
  /* some programs pass no buffer where there is no neighbor */
  if (out.degree == 0) sendbuf = NULL;
  if (in.degree == 0) recvbuf = NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm comm = t->comm;
  MPI_Aint *large_displs[2] = {NULL, NULL};
  int n = 1 + round, m = count_of(op, me, 0, round);
  fill(&out, 1, gathers, 1, 0);
#define CALL(name, ...)                                                                                         \
  (form == BLOCKING ? MPI_Neighbor_##name(__VA_ARGS__, comm)                                                   \
   : form == NONBLOCKING ? MPI_Ineighbor_##name(__VA_ARGS__, comm, &request)                                   \
                         : INIT(Neighbor_##name)(__VA_ARGS__, comm, MPI_INFO_NULL, &request))
#define CALL_LARGE(name, ...)                                                                                   \
  (form == BLOCKING ? MPI_Neighbor_##name##_c(__VA_ARGS__, comm)                                               \
   : form == NONBLOCKING ? MPI_Ineighbor_##name##_c(__VA_ARGS__, comm, &request)                               \
                         : MPI_Neighbor_##name##_init_c(__VA_ARGS__, comm, MPI_INFO_NULL, &request))
  if (!large) {
    switch (op) {
      case ALLGATHER: OK(CALL(allgather, sendbuf, n, MPI_INT, recvbuf, n, MPI_INT)); break;
      case ALLGATHERV: OK(CALL(allgatherv, sendbuf, m, MPI_INT, recvbuf, in.counts, in.displs, MPI_INT)); break;
      case ALLTOALL: OK(CALL(alltoall, sendbuf, n, MPI_INT, recvbuf, n, MPI_INT)); break;
      case ALLTOALLV:
        OK(CALL(alltoallv, sendbuf, out.counts, out.displs, MPI_INT, recvbuf, in.counts, in.displs, MPI_INT));
        break;
      default:
        for (int i = 0; i < in.degree; i++)
          if (wide && in.counts[i] > 0) in.counts[i] = 1;
        for (int i = 0; i < in.degree; i++)
          if (wide) want.counts[i] = in.large[i];
        OK(CALL(alltoallw, sendbuf, out.counts, out.addresses, out.types, recvbuf, in.counts, in.addresses, in.types));
    }
  } else {
#if HAS_LARGE
    MPI_Aint *sd = malloc((out.degree + 1) * sizeof *sd), *rd = malloc((in.degree + 1) * sizeof *rd);
    for (int i = 0; i < out.degree; i++) sd[i] = out.displs[i];
    for (int i = 0; i < in.degree; i++) rd[i] = in.displs[i];
    switch (op) {
      case ALLGATHER: OK(CALL_LARGE(allgather, sendbuf, n, MPI_INT, recvbuf, n, MPI_INT)); break;
      case ALLGATHERV: OK(CALL_LARGE(allgatherv, sendbuf, m, MPI_INT, recvbuf, in.large, rd, MPI_INT)); break;
      case ALLTOALL: OK(CALL_LARGE(alltoall, sendbuf, n, MPI_INT, recvbuf, n, MPI_INT)); break;
      case ALLTOALLV: OK(CALL_LARGE(alltoallv, sendbuf, out.large, sd, MPI_INT, recvbuf, in.large, rd, MPI_INT)); break;
      default:
        for (int i = 0; i < in.degree; i++)
          if (wide && in.large[i] > 0) in.large[i] = 1;
        OK(CALL_LARGE(alltoallw, sendbuf, out.large, out.addresses, out.types, recvbuf, in.large, in.addresses, in.types));
    }
    large_displs[0] = sd, large_displs[1] = rd;
    if (form == NONBLOCKING) memset(sd, 0x55, out.degree * sizeof *sd), memset(rd, 0x55, in.degree * sizeof *rd);
#endif
  }
  int *counts = out.counts, *displs = out.displs;
  side copy = out;
  copy.counts = memcpy(ints(out.degree), counts, out.degree * sizeof(int));
  copy.displs = memcpy(ints(out.degree), displs, out.degree * sizeof(int));
  /* nonblocking: the arrays and types are gone before the call is over */
  if (form == NONBLOCKING) free_arrays(&out, op, 0), free_arrays(&in, op, wide);
  for (int start = 0; start < (form == PERSISTENT ? 3 : 1); start++) {
    if (form == PERSISTENT) {
      fill(&copy, 1, gathers, 1, start);
      OK(MPI_Start(&request));
    }
    if (form != BLOCKING) {
      MPI_Status status;
      memset(&status, 0x55, sizeof status);
      if (start % 2) {
        int flag = 0;
        while (!flag) OK(MPI_Test(&request, &flag, &status));
      } else {
        OK(MPI_Wait(&request, &status));
      }
      int elements = -5, cancelled = -5;
      MPI_Get_count(&status, MPI_INT, &elements);
      MPI_Test_cancelled(&status, &cancelled);
      CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG && elements == 0 && !cancelled,
            "%s: status of operation %d: source %d, tag %d, %d elements, cancelled %d", t->name, op, status.MPI_SOURCE, status.MPI_TAG,
            elements, cancelled);
    }
    for (int i = 0; i < want.total; i++) want.image[i] = -1;
    fill(&want, 0, 0, wide ? 2 : 1, start);
    int bad = -1;
    for (int i = 0; i < want.total && bad < 0; i++)
      if (want.image[i] != in.image[i]) bad = i;
    CHECK(bad < 0, "%s: operation %d, form %d, %s, round %d, start %d: int %d of %d is %d, not %d", t->name, op, form,
          large ? "large" : "small", round, start, bad, want.total, bad < 0 ? 0 : in.image[bad], bad < 0 ? 0 : want.image[bad]);
  }
  if (form == NONBLOCKING) CHECK(request == MPI_REQUEST_NULL, "%s: a completed request is there", t->name);
  if (form == PERSISTENT) {
    CHECK(request != MPI_REQUEST_NULL, "%s: a persistent request is gone", t->name);
    OK(MPI_Request_free(&request));
    CHECK(request == MPI_REQUEST_NULL, "%s: a freed request is there", t->name);
  }
  if (form != NONBLOCKING) free_arrays(&out, op, 0), free_arrays(&in, op, wide);
  free_arrays(&want, op, wide);
  free(copy.counts), free(copy.displs), free(large_displs[0]), free(large_displs[1]);
  free(out.image), free(in.image), free(want.image);
  free(out.peers), free(out.entries), free(in.peers), free(in.entries), free(want.peers), free(want.entries);
  test_rank = world;
}

static int copies;

static int copied(MPI_Comm comm, int key, void *extra, void *from, void *into, int *flag) {
  (void)comm, (void)key, (void)extra;
  copies++, *(void **)into = from, *flag = 1;
  return MPI_SUCCESS;
}

/* attributes are copied as often as by the MPI alone, which gives a distributed graph those of its
   parent (Open MPI 5) or none; PMPI_ is the MPI's */
static void attributes(void) {
  MPI_Comm parent, native, graph;
  int key, source = (test_rank + test_size - 1) % test_size, target = (test_rank + 1) % test_size, received = -1;
  MPI_Comm_create_keyval(copied, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
  OK(MPI_Comm_set_attr(parent, key, &copies));
#define FROM_PARENT parent, 1, &source, MPI_UNWEIGHTED, 1, &target, MPI_UNWEIGHTED, MPI_INFO_NULL, 0
  OK(PMPI_Dist_graph_create_adjacent(FROM_PARENT, &native));
  int want = copies;
  copies = 0;
  OK(MPI_Dist_graph_create_adjacent(FROM_PARENT, &graph));
  CHECK(copies == want, "%d copies of an attribute, not %d", copies, want);
  OK(MPI_Neighbor_allgather(&test_rank, 1, MPI_INT, &received, 1, MPI_INT, graph));
  CHECK(received == source, "%d, not %d", received, source);
  OK(MPI_Comm_free(&graph));
  OK(MPI_Comm_free(&native));
  OK(MPI_Comm_free(&parent));
  OK(MPI_Comm_free_keyval(&key));
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  topology t[TOPOLOGIES];
  int n = topologies(t);
  const char *forms = argc > 1 ? argv[1] : "bnp";
  for (int i = 0; i < n; i++) {
    if (t[i].comm == MPI_COMM_NULL) continue;
    for (int form = 0; form < FORMS; form++) {
      if (!strchr(forms, "bnp"[form])) continue;
      for (int large = 0; large <= HAS_LARGE; large++)
        for (int op = 0; op < OPERATIONS; op++)
          for (int round = 0; round < 2; round++)
            for (int bottom = 0; bottom <= (op == ALLTOALLW); bottom++) run(&t[i], op, form, large, round, bottom);
    }
  }
  for (int i = n - 1; i >= 0; i--) topology_free(&t[i]);
  attributes();
  return test_finish();
}
