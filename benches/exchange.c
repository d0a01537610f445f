/* Exchange times, ours beside the peers' from the same run.
 *
 * Cases: 2-D 5-point on a periodic grid (alltoall), 3-D 27-point halo of doubles (alltoallw,
 * subarrays), random graphs with k = 6 targets (alltoallv). Peers: native MPI_Neighbor_*,
 * hand-written Irecv/Isend/Waitall, persistent requests (MPI_Startall), Sendrecv in dimension order
 * (2-D).
 *
 * Each call writes what it sends and reads what it gets, as in persistent.c.
 * Method: see measure.h. */
#define _GNU_SOURCE
#include "edges.h"

static void sendrecv(problem *p) {
  for (int i = 0; i < p->out; i++)
    MPI_Sendrecv(p->send + p->bytes_out[i], p->counts_out[i], p->type, p->targets[i], 6, p->recv + p->bytes_in[i ^ 1], p->counts_in[i ^ 1], p->type,
                 p->sources[i ^ 1], 6, p->comm, MPI_STATUS_IGNORE);
}

STEP(ours)
STEP(native)
STEP(by_hand)
STEP(persistent)
STEP(sendrecv)

static const int sizes[] = {8, 64, 512, 4096, 32768, 262144, 1 << 20};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Times the alternatives on edges with blocks; ends with the problem. */
static void compare_on(problem *p, const char *what, const char *size) {
  finish_graph(p);
  char label[64];
  snprintf(label, sizeof label, "%s, %s", what, size);
  const alternative list[] = {
    {"ours", ours_step, p}, {"native", native_step, p}, {"by hand", by_hand_step, p}, {"persistent", persistent_step, p}, {"sendrecv", sendrecv_step, p},
  };
  expect_same(&list[0]);
  measure(label, list, p->cartesian ? 5 : 4);
  release(p);
}

static void ring(int degree) {
  for (int s = 0; s < SIZES; s += crowded ? 3 : 1) {
    problem p;
    ring_edges(&p, degree);
    equal_blocks(&p, sizes[s]);
    char what[40];
    snprintf(what, sizeof what, "%d edge%s right", degree, degree > 1 ? "s" : "");
    compare_on(&p, what, size_name(sizes[s]));
  }
}

static void grid_2d(void) {
  for (int s = 0; s < SIZES; s += crowded ? 3 : 1) {
    problem p;
    grid_edges(&p);
    equal_blocks(&p, sizes[s]);
    compare_on(&p, "2-D 5-point", size_name(sizes[s]));
  }
}

static void halo_3d(int width) {
  problem p;
  halo_edges(&p, width);
  char size[20];
  snprintf(size, sizeof size, "%d^3", width);
  compare_on(&p, "3-D 27-point", size);
}

/* every process sends to k = 6 others drawn at random (as many as there are, where there are
   fewer) */
static void random_graph(void) {
  int k = n - 1 < 6 ? n - 1 : 6;
  if (k == 0) return;
  for (int s = 0; s < SIZES; s += crowded ? 3 : 1) {
    problem p;
    random_edges(&p, k, k);
    equal_blocks(&p, sizes[s]);
    char what[40];
    snprintf(what, sizeof what, "random k = %d", k);
    compare_on(&p, what, size_name(sizes[s]));
  }
}

int main(int argc, char **argv) {
  const char *only = begin(argc, argv, "exchange [--rounds N] [--seconds S] [--quantile Q] [--only ring|grid|halo|random]");
  print_header("microseconds a call (ratio to ours)");
  if (me == 0) printf("# case                     cores rounds    ours\n");
  if (!*only || !strcmp(only, "ring")) {
    ring(1);
    if (n == 2) ring(8);
  }
  if (!*only || !strcmp(only, "grid")) grid_2d();
  if (!*only || !strcmp(only, "halo")) {
    halo_3d(8);
    halo_3d(16);
    halo_3d(32);
    if (!crowded) halo_3d(64);
  }
  if (!*only || !strcmp(only, "random")) random_graph();
  end();
  return 0;
}
