/* Blocks put into windows (mpix_transport = rma) beside messages, and beside Irecv, Isend and
 * Waitall by hand: alltoall with both neighbors on a ring, with two processes twice with the other
 * one. Shared memory of the library is off, so that edges within a node go as those between nodes
 * do; the MPI's own is not. Single calls put into the landing area; plans, if their blocks are
 * long, straight where they are received. Weights make room for the longest ones in the landing
 * area.
 *
 * Usage: transport [--rounds N] [--seconds S] [--quantile Q]
 * Method: see measure.h. */
#define _GNU_SOURCE
#include "measure.h"
#include <mpix_neighbor.h>

enum { LONGEST = 4 << 20, DEGREE = 2 };

struct problem {
  MPI_Comm comm;
  int bytes, peers[DEGREE];
  char *send, *recv;
  MPIX_Request plan;
};

static void ours(problem *p) { MPIX_Neighbor_alltoall(p->send, p->bytes, MPI_BYTE, p->recv, p->bytes, MPI_BYTE, p->comm); }

static void planned(problem *p) {
  MPIX_Request_start(&p->plan);
  MPIX_Request_wait(&p->plan);
}

static void by_hand(problem *p) {
  MPI_Request requests[2 * DEGREE];
  /* what goes to the right comes from the left */
  for (int k = 0; k < DEGREE; k++) MPI_Irecv(p->recv + k * p->bytes, p->bytes, MPI_BYTE, p->peers[k], k, p->comm, &requests[k]);
  for (int k = 0; k < DEGREE; k++) MPI_Isend(p->send + k * p->bytes, p->bytes, MPI_BYTE, p->peers[k], 1 - k, p->comm, &requests[DEGREE + k]);
  MPI_Waitall(2 * DEGREE, requests, MPI_STATUSES_IGNORE);
}

/* `bytes` are those of a block, if that is to be known. */
static problem on(const char *transport, const char *synchronization, int bytes) {
  problem p = {.peers = {(me + n - 1) % n, (me + 1) % n}, .send = need(DEGREE * LONGEST), .recv = need(DEGREE * LONGEST)};
  for (int i = 0; i < DEGREE * LONGEST; i++) p.send[i] = (char)mix((uint64_t)i);
  MPI_Comm_dup(MPI_COMM_WORLD, &p.comm);
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_schedule", "direct");
  MPI_Info_set(info, "mpix_shared_memory", "0");
  MPI_Info_set(info, "mpix_transport", transport);
  MPI_Info_set(info, "mpix_rma_synchronization", synchronization);
  MPI_Info_set(info, "mpix_weight_unit", "1");
  int weights[DEGREE] = {bytes, bytes}, *w = bytes ? weights : MPI_UNWEIGHTED;
  MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, DEGREE, p.peers, w, DEGREE, p.peers, w, info, p.comm);
  MPI_Info_free(&info);
  return p;
}

/* what mpix_transport=auto or auto_plans takes for blocks of a length */
static const char *chosen(const char *transport, int bytes, const char *synchronization) {
  char text[4096];
  int length;
  problem p = on(transport, synchronization, bytes);
  MPIX_Neighborhood_describe(MPIX_NEIGHBOR_ALLTOALL, p.comm, sizeof text, text, &length);
  MPI_Comm_free(&p.comm);
  free(p.send), free(p.recv);
  return strstr(text, "transport: puts") ? "puts" : "messages";
}

int main(int argc, char **argv) {
  begin(argc, argv, "rma [--rounds N] [--seconds S] [--quantile Q]");
  print_header("microseconds a call (ratio to messages)");
  problem messages = on("messages", "active", 0), hand = messages;
  problem active = on("rma", "active", LONGEST), passive = on("rma", "passive", LONGEST);
  alternative list[] = {
      {"messages", ours, &messages},   {"active", ours, &active},       {"passive", ours, &passive},
      {"plan", planned, &messages},    {"active", planned, &active},    {"passive", planned, &passive},
      {"by hand", by_hand, &hand},
  };
  problem *with_plans[] = {&messages, &active, &passive};
  enum { FORMS = sizeof list / sizeof *list };
  if (me == 0) {
    printf("# bytes  cores rounds      messages           active          passive");
    printf("             plan           active          passive          by hand   auto, auto_plans: active; passive\n");
  }
  static const int sizes[] = {8, 64, 512, 4096, 8192, 16384, 32768, 65536, 262144, 1 << 20, LONGEST};
  for (int s = 0; s < (int)(sizeof sizes / sizeof *sizes); s++) {
    int bytes = sizes[s];
    for (int a = 0; a < FORMS; a++) list[a].on->bytes = bytes;
    for (int k = 0; k < 3; k++) {
      problem *p = with_plans[k];
      MPIX_Neighbor_alltoall_plan(p->send, bytes, MPI_BYTE, p->recv, bytes, MPI_BYTE, p->comm, MPI_INFO_NULL, &p->plan);
    }
    static const char *const takers[] = {"auto", "auto_plans"};
    const char *takes[2][2];
    for (int k = 0; k < 2; k++) takes[0][k] = chosen(takers[k], bytes, "active"), takes[1][k] = chosen(takers[k], bytes, "passive");
    samples near, far;
    sample(list, FORMS, &near, &far);
    const samples *both[] = {&near, &far};
    for (int k = 0; k < 2; k++)
      if (me == 0 && both[k]->count > 0) {
        double base = typical(both[k]->times[0], both[k]->count);
        printf("%7s  %5s  %5d", size_name(bytes), k ? "far" : line ? "near" : "all", both[k]->count);
        for (int a = 0; a < FORMS; a++) {
          double t = typical(both[k]->times[a], both[k]->count);
          printf("  %8.2f (%.2f)", 1e6 * t, t / base);
        }
        printf("   %s, %s; %s, %s\n", takes[0][0], takes[0][1], takes[1][0], takes[1][1]);
      }
    release_samples(&near), release_samples(&far);
    for (int k = 0; k < 3; k++) MPIX_Request_free(&with_plans[k]->plan);
  }
  MPI_Comm_free(&messages.comm), MPI_Comm_free(&active.comm), MPI_Comm_free(&passive.comm);
  end();
  return 0;
}
