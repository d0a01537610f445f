/* Calls of short blocks, each message in a cell of shared memory or in the small buffer beside it:
   one to three blocks from each neighbor, of up to the 104 bytes that a cell has room for and
   above; one plan, and more plans at a time than a ring has cells, completed in each way; neighbors
   that come late; and messages of fewer bytes than there is room for, and of more. */
#define _DEFAULT_SOURCE
#include "test.h"

enum { PLANS = 12, EDGES = 3, WORDS = 16, WAYS = 6 };
static int me, n, left, right;

/* word `k` of block `i` from `process` in call `call` of a plan */
static uint64_t word(int process, int plan, int call, int i, int k) { return mix3(mix3((uint64_t)process, (uint64_t)plan, (uint64_t)call), (uint64_t)i, (uint64_t)k); }

typedef struct {
  MPIX_Request request;
  uint64_t send[EDGES][WORDS], have[EDGES][WORDS];
  int sent, room, edges, number, call;
} plan;

static void make(plan *p, int number, int edges, int sent, int room, MPI_Comm comm) {
  *p = (plan){.sent = sent, .room = room, .edges = edges, .number = number};
  int out[EDGES] = {sent, sent, sent}, in[EDGES] = {room, room, room}, places[EDGES] = {0, WORDS, 2 * WORDS};
  OK(MPIX_Neighbor_alltoallv_plan(p->send, out, places, MPI_UINT64_T, p->have, in, places, MPI_UINT64_T, comm, MPI_INFO_NULL, &p->request));
}

static void fill(plan *p) {
  p->call++;
  for (int i = 0; i < p->edges; i++)
    for (int k = 0; k < WORDS; k++) p->send[i][k] = word(me, p->number, p->call, i, k), p->have[i][k] = 7;
}

static void check(const plan *p) {
  for (int i = 0; i < p->edges; i++)
    for (int k = 0; k < WORDS; k++) {
      uint64_t want = k < p->sent ? word(left, p->number, p->call, i, k) : 7;
      CHECK(p->have[i][k] == want, "plan %d, call %d, block %d of %d, %d words: word %d", p->number, p->call, i, p->edges, p->sent, k);
    }
}

static void complete(plan *p, int way) {
  int flag = 0, index;
  switch (way) {
    case 0: OK(MPIX_Request_wait(&p->request)); break;
    case 1:
      while (!flag) OK(MPIX_Request_test(&p->request, &flag));
      break;
    case 2:
      OK(MPIX_Request_test(&p->request, &flag));
      OK(MPIX_Request_wait(&p->request));
      break;
    case 3:
      for (int i = 0; i < p->edges; i++) {
        OK(MPIX_Request_waitany_source(p->request, &index));
        CHECK(index >= 0 && index < p->edges, "source %d", index);
      }
      OK(MPIX_Request_wait(&p->request));
      break;
    case 4:
      OK(MPIX_Request_wait_source(p->request, p->edges - 1));
      OK(MPIX_Request_test_source(p->request, 0, &flag));
      OK(MPIX_Request_waitall(1, &p->request));
      break;
    default:
      OK(MPIX_Request_waitany(1, &p->request, &index));
      CHECK(index == 0, "request %d", index);
  }
  check(p);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  me = test_rank, n = test_size, left = (me + n - 1) % n, right = (me + 1) % n;
  static plan plans[PLANS];
  for (int edges = 1; edges <= EDGES; edges++) {
    MPI_Comm comm;
    int sources[EDGES] = {left, left, left}, targets[EDGES] = {right, right, right};
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, edges, sources, MPI_UNWEIGHTED, edges, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
    /* one at a time */
    for (int sent = 0; sent <= WORDS; sent++) {
      make(&plans[0], 0, edges, sent, sent, comm);
      for (int call = 0; call < 3 * WAYS; call++) {
        fill(&plans[0]);
        if (call % 7 == 3 && me == 0) usleep(500);
        OK(MPIX_Request_start(&plans[0].request));
        complete(&plans[0], call % WAYS);
      }
      OK(MPIX_Request_free(&plans[0].request));
    }
    /* many, of different lengths, started together */
    for (int p = 0; p < PLANS; p++) make(&plans[p], p, edges, 1 + p % 5, 1 + p % 5, comm);
    for (int call = 0; call < 2 * WAYS; call++) {
      if (call % 5 == 2 && me == n - 1) usleep(500);
      for (int p = 0; p < PLANS; p++) {
        fill(&plans[p]);
        OK(MPIX_Request_start(&plans[p].request));
      }
      for (int p = 0; p < PLANS; p++) complete(&plans[call % 2 ? p : PLANS - 1 - p], (call + p) % WAYS);
    }
    for (int p = 0; p < PLANS; p++) OK(MPIX_Request_free(&plans[p].request));
    /* one block may have fewer bytes than there is room for, but on an edge from a process to
       itself */
    for (int sent = 1; edges == 1 && n > 1 && sent < 5; sent++) {
      make(&plans[0], 0, 1, sent, 5, comm);
      for (int call = 0; call < WAYS; call++) {
        fill(&plans[0]);
        OK(MPIX_Request_start(&plans[0].request));
        complete(&plans[0], call);
      }
      OK(MPIX_Request_free(&plans[0].request));
    }
    /* more than there is room for, in each way to complete it; what follows works */
    for (int call = 0; call < 2 && n > 1; call++) {
      int flag = 0, rc;
      make(&plans[0], 0, edges, 3, 2, comm);
      make(&plans[1], 1, edges, 4, 4, comm);
      fill(&plans[0]), fill(&plans[1]);
      OK(MPIX_Request_start(&plans[0].request));
      OK(MPIX_Request_start(&plans[1].request));
      if (call == 0) rc = MPIX_Request_wait(&plans[0].request);
      else
        while ((rc = MPIX_Request_test(&plans[0].request, &flag)) == MPI_SUCCESS && !flag) {}
      int class;
      MPI_Error_class(rc, &class);
      CHECK(class == MPI_ERR_TRUNCATE, "class %d", class);
      for (int i = 0; i < edges; i++)
        for (int k = 2; k < WORDS; k++) CHECK(plans[0].have[i][k] == 7, "block %d, word %d is written over", i, k);
      complete(&plans[1], call);
      for (int p = 0; p < 2; p++) OK(MPIX_Request_free(&plans[p].request));
    }
    MPI_Comm_free(&comm);
  }
  return test_finish();
}
