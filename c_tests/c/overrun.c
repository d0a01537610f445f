/* Messages that are longer than their receivers expect: MPI_ERR_TRUNCATE, nothing is written past
   the end of a block, and the calls that follow work. Lengths around those at which a message takes
   another way: a line, the eager limit, a cell of shared memory, and far above. */
#include "test.h"

enum { ALLTOALL, TWO_BLOCKS, GATHER, REDUCE, REDUCE_OWN, OPERATIONS };
enum { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };
enum { LONGEST = 3000000, GUARD = 64 << 10, FILL = 0x5a };

static const char *const names[] = {"alltoall", "alltoallv, two blocks", "gather", "reduce", "reduce by an operator of the caller's"};
static const char *const forms[] = {"blocking", "nonblocking", "persistent"};
static int me, n, left, right;
static MPI_Op own_op;
static MPI_Comm one, two;
static unsigned char *send, *have;
/* bytes of `have` that a call in error may reach */
static size_t reach;

static void xor_bytes(void *in, void *inout, int *length, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *length; i++) ((unsigned char *)inout)[i] ^= ((unsigned char *)in)[i];
}

static int class_of(int code) {
  int class;
  MPI_Error_class(code, &class);
  return class;
}

static unsigned char value(int from, int block, int call) { return (unsigned char)(mix3(from, block, call) % 80); }

/* one call: blocks of `sent` bytes, where blocks of `expected` bytes are waited for; of two blocks
   the one with index `longer` (2: both) is that long */
static int call(int op, int form, int sent, int expected, int longer, int count) {
  int in[2] = {expected, expected}, out[2] = {longer == 1 ? expected : sent, longer == 0 ? expected : sent};
  int from[2] = {0, out[0]}, to[2] = {0, expected + GUARD};
  MPI_Datatype b = MPI_BYTE;
  MPI_Op o = op == REDUCE_OWN ? own_op : MPI_BXOR;
  MPI_Info info = MPI_INFO_NULL;
  MPIX_Request r;
  int rc;
  reach = 2 * (size_t)((sent > expected ? sent : expected) + GUARD);
  memset(have, FILL, reach);
  memset(send, value(me, 0, count), (size_t)out[0]);
  memset(send + out[0], value(me, 1, count), (size_t)out[1]);
  if (form == BLOCKING) {
    switch (op) {
      case ALLTOALL: return MPIX_Neighbor_alltoall(send, sent, b, have, expected, b, one);
      case TWO_BLOCKS: return MPIX_Neighbor_alltoallv(send, out, from, b, have, in, to, b, two);
      case GATHER: return MPIX_Neighbor_gather(send, sent, b, have, expected, b, one);
      default: return MPIX_Neighbor_reduce(send, sent, b, have, expected, b, o, two);
    }
  }
  if (form == NONBLOCKING) {
    switch (op) {
      case ALLTOALL: rc = MPIX_Ineighbor_alltoall(send, sent, b, have, expected, b, one, &r); break;
      case TWO_BLOCKS: rc = MPIX_Ineighbor_alltoallv(send, out, from, b, have, in, to, b, two, &r); break;
      case GATHER: rc = MPIX_Ineighbor_gather(send, sent, b, have, expected, b, one, &r); break;
      default: rc = MPIX_Ineighbor_reduce(send, sent, b, have, expected, b, o, two, &r);
    }
    return rc == MPI_SUCCESS ? MPIX_Request_wait(&r) : rc;
  }
  switch (op) {
    case ALLTOALL: rc = MPIX_Neighbor_alltoall_plan(send, sent, b, have, expected, b, one, info, &r); break;
    case TWO_BLOCKS: rc = MPIX_Neighbor_alltoallv_plan(send, out, from, b, have, in, to, b, two, info, &r); break;
    case GATHER: rc = MPIX_Neighbor_gather_plan(send, sent, b, have, expected, b, one, info, &r); break;
    default: rc = MPIX_Neighbor_reduce_plan(send, sent, b, have, expected, b, o, two, info, &r);
  }
  if (rc != MPI_SUCCESS) return rc;
  int first = MPIX_Request_start(&r);
  if (first == MPI_SUCCESS) first = MPIX_Request_wait(&r);
  rc = MPIX_Request_start(&r);
  if (rc == MPI_SUCCESS) rc = MPIX_Request_wait(&r);
  CHECK(class_of(first) == class_of(rc), "the second start: %d after %d", rc, first);
  OK(MPIX_Request_free(&r));
  return rc;
}

/* bytes behind the blocks that were written */
static long past(int op, int expected) {
  long bad = 0;
  size_t stride = op == TWO_BLOCKS ? (size_t)expected + GUARD : 0, blocks = op == TWO_BLOCKS ? 2 : 1;
  for (size_t k = 0; k < blocks; k++) {
    size_t end = k + 1 < blocks ? stride : reach - k * stride;
    for (size_t i = (size_t)expected; i < end; i++) bad += have[k * stride + i] != FILL;
  }
  return bad;
}

static void right_call(int op, int form, int bytes, int count) {
  OK(call(op, form, bytes, bytes, 2, count));
  int blocks = op == TWO_BLOCKS ? 2 : 1;
  long wrong = past(op, bytes);
  for (int k = 0; k < blocks; k++) {
    /* both blocks of a reduction are the one that all get */
    int expected = op >= REDUCE ? 0 : value(left, k, count);
    for (int i = 0; i < bytes; i++) wrong += have[(size_t)k * ((size_t)bytes + GUARD) + (size_t)i] != expected;
  }
  CHECK(wrong == 0, "%s, %s, a right call of %d bytes: %ld bytes are wrong", names[op], forms[form], bytes, wrong);
}

static void too_long(int op, int form, int sent, int expected, int longer, int who, int count) {
  int mine = who == n || me == who, told = who == n || left == who;
  int rc = call(op, form, mine ? sent : expected, expected, longer, count);
  if (told)
    CHECK(rc != MPI_SUCCESS && class_of(rc) == MPI_ERR_TRUNCATE, "%s, %s: %d bytes for %d, block %d: %d, %s", names[op], forms[form], sent, expected, longer, rc,
          rc == MPI_SUCCESS ? "no error" : test_message(rc));
  else CHECK(rc == MPI_SUCCESS, "%s, %s: %d, %s, where the message was as long as expected", names[op], forms[form], rc, test_message(rc));
  long bad = past(op, expected);
  CHECK(bad == 0, "%s, %s: %d bytes for %d, block %d: %ld bytes behind the block were written", names[op], forms[form], sent, expected, longer, bad);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  me = test_rank, n = test_size, left = (me + n - 1) % n, right = (me + 1) % n;
  one = test_duplicate();
  two = test_duplicate();
  int lefts[2] = {left, left}, rights[2] = {right, right};
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_GATHER | MPIX_NEIGHBOR_ALLTOALL, 1, lefts, MPI_UNWEIGHTED, 1, rights, MPI_UNWEIGHTED, MPI_INFO_NULL, one));
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL | MPIX_NEIGHBOR_REDUCE, 2, lefts, MPI_UNWEIGHTED, 2, rights, MPI_UNWEIGHTED, MPI_INFO_NULL, two));
  MPI_Op_create(xor_bytes, 1, &own_op);
  send = malloc(2 * (size_t)LONGEST), have = malloc(2 * (size_t)(LONGEST + GUARD));
  static const int lengths[][2] = {{9, 8}, {5000, 0}, {5000, 100}, {40001, 40000}, {140000, 30000}, {300002, 300000}, {LONGEST, 1}, {LONGEST, 1500000}};
  int count = 0;
  for (int op = 0; op < OPERATIONS; op++) {
    for (int form = 0; form < FORMS; form++) {
      for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        int sent = lengths[k][0], expected = lengths[k][1];
        for (int longer = op == TWO_BLOCKS ? 0 : 2; longer <= 2; longer++) {
          too_long(op, form, sent, expected, longer, n, ++count);
          right_call(op, form, expected, ++count);
          /* one process alone is in error */
          if (n > 2) too_long(op, form, sent, expected, longer, 1, ++count);
        }
        right_call(op, form, sent, ++count);
      }
    }
  }
  free(send), free(have);
  MPI_Op_free(&own_op);
  MPI_Comm_free(&one);
  MPI_Comm_free(&two);
  return test_finish();
}
