/* Blocks put into windows (mpix_transport = rma) beside messages, and beside Irecv, Isend and
 * Waitall by hand: alltoall with both neighbors on a ring, with two processes twice with the other
 * one. Shared memory of the library is off, so that edges within a node go as those between nodes
 * do; the MPI's own is not. Single calls put into the landing area; plans, if their blocks are
 * long, straight where they are received. Weights make room for the longest ones in the landing
 * area.
 *
 * Each call writes a word of each cache line that it sends, and reads one of each that has come, as
 * in persistent.c. What each alternative delivers is compared with messages by hand, before its
 * times at each length.
 *
 * Usage: transport [--rounds N] [--seconds S] [--quantile Q]
 * Method: see measure.h. */
#define _GNU_SOURCE
#include "edges.h"

/* PUTS: ways of synchronizing them */
enum { LONGEST = 4 << 20, DEGREE = 2, PUTS = 3 };

static void blocking(problem *p) { MPIX_Neighbor_alltoall(p->send, p->counts_out[0], MPI_BYTE, p->recv, p->counts_in[0], MPI_BYTE, p->comm); }

STEP(blocking)
STEP(plan)
STEP(by_hand)

/* Without blocks; `bytes` are those of one, if that is to be known. */
static problem on(const char *transport, const char *synchronization, int bytes) {
  problem p;
  allocate(&p, DEGREE);
  p.sources[0] = p.targets[0] = (me + n - 1) % n, p.sources[1] = p.targets[1] = (me + 1) % n;
  MPI_Comm_dup(MPI_COMM_WORLD, &p.comm);
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_schedule", "direct");
  MPI_Info_set(info, "mpix_shared_memory", "0");
  MPI_Info_set(info, "mpix_transport", transport);
  MPI_Info_set(info, "mpix_rma_synchronization", synchronization);
  MPI_Info_set(info, "mpix_whole_communicator", "true"); /* fences need it */
  MPI_Info_set(info, "mpix_weight_unit", "1");
  int weights[DEGREE] = {bytes, bytes}, *w = bytes ? weights : MPI_UNWEIGHTED;
  MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, DEGREE, p.sources, w, DEGREE, p.targets, w, info, p.comm);
  MPI_Info_free(&info);
  return p;
}

/* Blocks of this length, and a plan of their exchange. */
static void give_blocks(problem *p, int bytes) {
  free(p->send), free(p->recv);
  equal_blocks(p, bytes);
  MPIX_Neighbor_alltoall_plan(p->send, bytes, MPI_BYTE, p->recv, bytes, MPI_BYTE, p->comm, MPI_INFO_NULL, &p->plan);
}

/* Without a plan. */
static void end_problem(problem *p) {
  p->in = p->out = 0; /* no persistent requests have been made */
  release(p);
}

/* the transport that mpix_transport=auto or auto_plans takes for blocks of a length */
static const char *chosen(const char *transport, int bytes, const char *synchronization) {
  char text[4096];
  int length;
  problem p = on(transport, synchronization, bytes);
  MPIX_Neighborhood_describe(MPIX_NEIGHBOR_ALLTOALL, p.comm, sizeof text, text, &length);
  end_problem(&p);
  return strstr(text, "transport: puts") ? "puts" : "messages";
}

int main(int argc, char **argv) {
  begin(argc, argv, "transport [--rounds N] [--seconds S] [--quantile Q]");
  print_header("microseconds a call (ratio to messages)");
  problem messages = on("messages", "active", 0);
  static const char *const synchronizations[PUTS] = {"active", "passive", "fence"};
  problem active = on("rma", "active", LONGEST), passive = on("rma", "passive", LONGEST), fence = on("rma", "fence", LONGEST);
  alternative list[] = {
      {"messages", blocking_step, &messages}, {"active", blocking_step, &active}, {"passive", blocking_step, &passive},
      {"fence", blocking_step, &fence},       {"plan", plan_step, &messages},     {"active", plan_step, &active},
      {"passive", plan_step, &passive},       {"fence", plan_step, &fence},       {"by hand", by_hand_step, &messages},
  };
  problem *problems[] = {&messages, &active, &passive, &fence};
  enum { FORMS = sizeof list / sizeof *list, PROBLEMS = sizeof problems / sizeof *problems };
  if (me == 0) {
    printf("# bytes  cores rounds      messages           active          passive            fence");
    printf("             plan           active          passive            fence          by hand");
    printf("   auto, auto_plans: active; passive; fence\n");
  }
  static const int sizes[] = {8, 64, 512, 4096, 8192, 16384, 32768, 65536, 262144, 1 << 20, LONGEST};
  for (int s = 0; s < (int)(sizeof sizes / sizeof *sizes); s++) {
    int bytes = sizes[s];
    for (int k = 0; k < PROBLEMS; k++) give_blocks(problems[k], bytes);
    for (int a = 0; a < FORMS; a++) expect_same(&list[a]);
    static const char *const takers[] = {"auto", "auto_plans"};
    const char *takes[PUTS][2];
    for (int k = 0; k < 2; k++)
      for (int how = 0; how < PUTS; how++) takes[how][k] = chosen(takers[k], bytes, synchronizations[how]);
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
        for (int how = 0; how < PUTS; how++) printf("%s%s, %s", how ? "; " : "   ", takes[how][0], takes[how][1]);
        printf("\n");
      }
    release_samples(&near), release_samples(&far);
    for (int k = 0; k < PROBLEMS; k++) MPIX_Request_free(&problems[k]->plan);
  }
  for (int k = 0; k < PROBLEMS; k++) end_problem(problems[k]);
  end();
  return 0;
}
