/* Races between exchanges that follow one another without a barrier: a process that is through may
   be in the next exchange while another one, held up on purpose, is still in this one. Contents and
   lengths name the round, so that a message in the wrong exchange is found. */
#define _GNU_SOURCE
#include "sparse.h"
#include <sched.h>
#include <unistd.h>

static int me, n;

/* Delays inside of exchanges too: the library's own calls of MPI stop now and then. Each process
   has its own sequence. */
static uint64_t chance = 1;
static int one_in; /* 0: no delays */

static void hold_up(void) {
  if (!one_in) return;
  chance = mix(chance);
  if (chance % (uint64_t)one_in) return;
  int how = chance >> 40 & 3;
  if (how == 0) usleep(chance >> 50 & 127);
  else if (how == 1)
    for (int i = chance >> 50 & 7; i >= 0; i--) sched_yield();
  else
    for (volatile int i = chance >> 48 & 4095; i > 0; i--) continue;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
  hold_up();
  return PMPI_Test(request, flag, status);
}
int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm, MPI_Request *request) {
  hold_up();
  return PMPI_Isend(buffer, count, type, target, tag, comm, request);
}
int MPI_Issend(const void *buffer, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm, MPI_Request *request) {
  int code = PMPI_Issend(buffer, count, type, target, tag, comm, request);
  hold_up();
  return code;
}
int MPI_Cancel(MPI_Request *request) {
  hold_up();
  return PMPI_Cancel(request);
}

/* the messages of a process in a round: 0 to 3 of a few ints, now and then a long one; cheap to
   compute, so that there can be many rounds */
typedef struct {
  int n, target[3], ints[3];
} few;

static few few_of(int s, int round) {
  uint64_t h = mix2((uint64_t)s << 32 | 0x5eed, round);
  few f = {(int)(h & 3), {0}, {0}};
  for (int i = 0; i < f.n; i++) {
    f.target[i] = (int)((h >> (8 + 8 * i)) % (uint64_t)n);
    f.ints[i] = (int)(h >> (36 + 4 * i) & 7);
    if ((h >> 50 & 255) == 0) f.ints[i] += 1200;
    /* 20,000 ints need a rendezvous in any MPI */
    if ((h >> 50 & 2047) == 1) f.ints[i] += 20000;
  }
  return f;
}

static int value_of(int s, int round, int i, int k) { return (int)((uint32_t)round * 40503u + (uint32_t)(s * 3 + i) * 2654435761u + (uint32_t)k); }

static int check_few(const char *what, int round, MPIX_Sparse_result result) {
  int messages = -1, at = 0, wrong = 0;
  MPI_Count elements;
  wrong += MPIX_Sparse_get_count(result, &messages, &elements) != MPI_SUCCESS;
  for (int s = 0; s < n && !wrong; s++) {
    few f = few_of(s, round);
    for (int i = 0; i < f.n && !wrong; i++) {
      if (f.target[i] != me) continue;
      int source;
      MPI_Count count;
      void *data;
      if (MPIX_Sparse_get_message(result, at++, &source, &count, &data) != MPI_SUCCESS) {
        wrong = 1;
        break;
      }
      wrong += source != s || count != f.ints[i];
      for (int k = 0; k < f.ints[i] && !wrong; k++) wrong += ((int *)data)[k] != value_of(s, round, i, k);
    }
  }
  wrong += at != messages;
  CHECK(!wrong, "%s, round %d: a message is missing, wrong or too much (%d messages)", what, round, messages);
  return wrong;
}

static int data[3 * 21300];

/* 1 if it is right */
static int round_of(const char *what, int round, MPI_Info info, MPI_Comm comm, int nonblocking) {
  few f = few_of(me, round);
  int displs[3], at = 0;
  for (int i = 0; i < f.n; i++) {
    displs[i] = at;
    for (int k = 0; k < f.ints[i]; k++) data[at++] = value_of(me, round, i, k);
  }
  MPIX_Sparse_result result = NULL;
  int code;
  if (nonblocking) {
    MPIX_Sparse_request request = NULL;
    int flag = 0;
    code = MPIX_Isparse_exchange(f.n, f.target, data, f.ints, displs, MPI_INT, MPI_INT, info, comm, &request);
    while (code == MPI_SUCCESS && !flag) {
      code = MPIX_Sparse_test(&request, &flag, &result);
      if (n > 2) sched_yield();
    }
  } else {
    code = MPIX_Sparse_exchange(f.n, f.target, data, f.ints, displs, MPI_INT, MPI_INT, info, comm, &result);
  }
  if (code != MPI_SUCCESS || !result) {
    CHECK(0, "%s, round %d: error %d: %s", what, round, code, test_message(code));
    return 0;
  }
  int wrong = check_few(what, round, result);
  return MPIX_Sparse_free(&result) == MPI_SUCCESS && !wrong;
}

/* a process chosen by chance is late */
static void late(int round) {
  uint64_t h = mix2(0x1a7e, round);
  if (h % (uint64_t)n != (uint64_t)me || (h >> 20) % 16) return;
  if (h >> 30 & 1) usleep(h >> 40 & 255);
  else
    for (volatile int i = h >> 40 & 65535; i > 0; i--) continue;
}

/* rounds as long as time lasts, the same number on all processes */
static int out_of_time(double began, double seconds) {
  int mine = MPI_Wtime() - began > seconds, any;
  MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return any;
}

static int rounds_in_all;

static void soak(const char *what, MPI_Info *infos, int ninfos, double seconds, int most, int nonblocking) {
  double began = MPI_Wtime();
  int round = 0, right = 1, apart = n <= 2 ? 256 : 32;
  /* the clock is looked at seldom: an Allreduce brings the processes together, which is what must
     not happen in between */
  while (round < most && !(round && out_of_time(began, seconds)))
    for (int end = round + apart; round < end && round < most; round++) {
      late(round);
      right &= round_of(what, round, infos[mix(round) % (uint64_t)ninfos], MPI_COMM_WORLD, nonblocking == 2 ? (int)(mix2(round, me) & 1) : nonblocking);
    }
  CHECK(right, "%s: %d rounds", what, round);
  rounds_in_all += round;
}

/* exchanges, neighborhood collectives and plans, interleaved on one communicator */
static void interleaved(MPI_Info *infos, int most) {
  int right = (me + 1) % n, left = (me + n - 1) % n, sent = 0, one = 1, zero = 0, ok = 1;
  MPIX_Sparse_plan plan;
  MPIX_Sparse_result planned;
  OK(MPIX_Neighborhood_set(ALL_OPERATIONS, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, MPI_COMM_WORLD));
  OK(MPIX_Sparse_plan_create(1, &right, &sent, &one, &zero, MPI_INT, MPI_INT, MPI_INFO_NULL, MPI_COMM_WORLD, &plan));
  OK(MPIX_Sparse_plan_result(plan, &planned));
  for (int round = 0; round < most; round++) {
    uint64_t h = mix2(0x17e4, round);
    late(round);
    sent = 1000 * me + round;
    if (h & 1) ok &= MPIX_Sparse_plan_start(plan) == MPI_SUCCESS;
    if (h & 2) ok &= round_of("interleaved", round, infos[h >> 8 & 7], MPI_COMM_WORLD, h >> 5 & 1);
    if (h & 4) {
      int have = -1, mine = -round - 1000 * me;
      ok &= MPIX_Neighbor_alltoall(&mine, 1, MPI_INT, &have, 1, MPI_INT, MPI_COMM_WORLD) == MPI_SUCCESS;
      ok &= have == -round - 1000 * left;
    }
    if (h & 1) {
      int source;
      MPI_Count count;
      void *at;
      ok &= MPIX_Sparse_plan_wait(plan) == MPI_SUCCESS;
      ok &= MPIX_Sparse_get_message(planned, 0, &source, &count, &at) == MPI_SUCCESS && *(int *)at == 1000 * left + round;
    }
    if (h & 8) ok &= round_of("interleaved", round + 1, infos[h >> 12 & 7], MPI_COMM_WORLD, 0);
    CHECK(ok, "interleaved, round %d", round);
    if (!ok) break;
  }
  OK(MPIX_Sparse_plan_free(&plan));
  OK(MPIX_Neighborhood_free(ALL_OPERATIONS, MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  me = test_rank, n = test_size;
  chance = mix(1000 + me);
  MPI_Info infos[PROTOCOLS + 3];
  for (int p = 0; p < PROTOCOLS; p++) infos[p] = test_hint("mpix_sparse", protocols[p]);
  for (int k = 0; k < 2; k++) {
    infos[PROTOCOLS + k] = test_hint("mpix_sparse", "nbx_node");
    MPI_Info_set(infos[PROTOCOLS + k], "mpix_node_size", k ? "2" : "1");
  }
  infos[PROTOCOLS + 2] = test_hint("mpix_sparse", "nbx_probe");
  MPI_Info_set(infos[PROTOCOLS + 2], "mpix_matched_probe", "false");
  int most = n <= 2 ? 6000 : n <= 4 ? 1500 : 500;
  /* two seconds in all, whatever the machine does beside */
  double seconds = 0.06;
  for (int p = 0; p < PROTOCOLS + 3; p++) {
    const char *name = p < PROTOCOLS ? protocols[p] : "nbx_node or nbx_probe with hints";
    one_in = 0;
    soak(name, &infos[p], 1, seconds, most, 0);
    one_in = 50;
    soak(name, &infos[p], 1, seconds, most, 1);
  }
  /* protocols change from call to call, blocking or not by chance of each process. The first of a
     node size, and of a window, waits for all: node sizes alternate too seldom to matter */
  one_in = 0;
  soak("mixed", infos, PROTOCOLS, 3 * seconds, most, 2);
  one_in = 100;
  soak("mixed, with delays", infos, PROTOCOLS, 3 * seconds, most, 2);
  soak("mixed, with other nodes", infos, PROTOCOLS + 3, 2 * seconds, most / 8, 0);
  interleaved(infos, most / 10);
  if (me == 0) printf("%d rounds in soaks\n", rounds_in_all);
  for (int p = 0; p < PROTOCOLS + 3; p++) MPI_Info_free(&infos[p]);
  return test_finish();
}
