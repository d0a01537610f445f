/* Persistent exchanges: start and wait of ours beside those of the MPI.
 *
 * Cases: 1 and 8 edges to the right neighbor of a ring (alltoallv) and a periodic 2-D grid of
 * processes (alltoall); the same edges with blocks of which each second double is sent, and a 3-D
 * 27-point halo (alltoallw). Ours is MPIX_Neighbor_alltoall(v, w)_plan with MPIX_Request_start and
 * _wait. Peers: the MPI's own persistent collective, where it has one; MPI_Startall and MPI_Waitall
 * of requests made by hand; Irecv, Isend, Waitall; our blocking call. Last, blocking alltoallw
 * around which a datatype is made and freed: the call's own, or another one.
 *
 * Each call writes a word of each cache line that it sends, and reads one of each that has come:
 * else a receiver that copies from the sender's memory finds the unchanged bytes in its own cache
 * from the second call on, and seems up to four times as fast as it is. That is part of all times.
 * Method: see measure.h. */
#define _GNU_SOURCE
#include "edges.h"

STEP(plan)
STEP(ours)
#ifdef NATIVE_INIT
STEP(native_plan)
#endif
STEP(by_hand)
STEP(persistent)

/* Times the alternatives on edges with blocks; ends with the problem. */
static void compare_on(problem *p, const char *what, const char *size) {
  finish_graph(p);
  make_plan(p);
  char label[64];
  snprintf(label, sizeof label, "%s, %s", what, size);
  alternative list[MOST] = {{"plan", plan_step, p}, {"startall", persistent_step, p}, {"by hand", by_hand_step, p}, {"blocking", ours_step, p}};
  int alternatives = 4;
  for (int a = 0; a < alternatives; a++) expect_same(&list[a]);
#ifdef NATIVE_INIT
  make_native_plan(p);
  list[alternatives++] = (alternative){"native", native_plan_step, p};
#endif
  measure(label, list, alternatives);
  if (p->native_plan != MPI_REQUEST_NULL) MPI_Request_free(&p->native_plan);
  MPIX_Request_free(&p->plan);
  release(p);
}

static const int sizes[] = {8, 64, 512, 4096, 32768, 262144, 1 << 20};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* `degree` edges to the right, or 0: the 2-D grid */
static void regular(int degree, int strided) {
  for (int s = 0; s < SIZES; s += crowded || strided ? 3 : 1) {
    problem p;
    if (degree) ring_edges(&p, degree);
    else grid_edges(&p);
    if (strided) strided_blocks(&p, sizes[s]);
    else equal_blocks(&p, sizes[s]);
    char what[40] = "2-D 5-point";
    if (degree) snprintf(what, sizeof what, "%d edge%s", degree, degree > 1 ? "s" : "");
    if (strided) strcat(what, ", strided");
    compare_on(&p, what, size_name(sizes[s]));
  }
}

static void halo_3d(int width) {
  problem p;
  halo_edges(&p, width);
  char size[20];
  snprintf(size, sizeof size, "%d^3", width);
  compare_on(&p, "3-D 27-point", size);
}

/* Vectors as `strided_blocks` has them, made for each call and freed after it. `used`: the call has
   them, else those that are always the same. */
static void renew(problem *p, int used, void (*run)(problem *)) {
  MPI_Datatype kept = p->types_out[0], made;
  int each;
  MPI_Type_size(kept, &each);
  MPI_Type_vector(each / (int)sizeof(double), 1, 2, MPI_DOUBLE, &made);
  MPI_Type_commit(&made);
  for (int k = 0; used && k < p->out; k++) p->types_out[k] = made;
  for (int k = 0; used && k < p->in; k++) p->types_in[k] = made;
  run(p);
  for (int k = 0; used && k < p->out; k++) p->types_out[k] = kept;
  for (int k = 0; used && k < p->in; k++) p->types_in[k] = kept;
  MPI_Type_free(&made);
}
static void kept(problem *p) { renew(p, 0, ours); }
static void renewed(problem *p) { renew(p, 1, ours); }
static void kept_native(problem *p) { renew(p, 0, native); }
static void renewed_native(problem *p) { renew(p, 1, native); }
STEP(kept)
STEP(renewed)
STEP(kept_native)
STEP(renewed_native)

/* The cost of watching a datatype that a call has until it is freed: a type is made and freed
   around each call, and either it is in the call, or one that stays. */
static void watched(int bytes) {
  problem p;
  ring_edges(&p, 1);
  strided_blocks(&p, bytes);
  finish_graph(&p);
  char label[64];
  snprintf(label, sizeof label, "types, %s", size_name(bytes));
  alternative list[] = {{"kept", kept_step, &p}, {"renewed", renewed_step, &p}, {"native", kept_native_step, &p}, {"its renewed", renewed_native_step, &p}};
  for (int a = 0; a < 4; a++) expect_same(&list[a]);
  measure(label, list, 4);
  release(&p);
}

int main(int argc, char **argv) {
  const char *only = begin(argc, argv, "persistent [--rounds N] [--seconds S] [--quantile Q] [--only ring|grid|strided|halo|types]");
  print_header("microseconds for start and wait (ratio to ours)");
  if (me == 0 && strcmp(only, "types")) printf("# case                     cores rounds    plan\n");
  for (int strided = 0; strided < 2; strided++) {
    if (*only && strided != !strcmp(only, "strided")) continue;
    if (!*only || strided || !strcmp(only, "ring")) {
      regular(1, strided);
      if (n == 2) regular(8, strided);
    }
    if (!*only || strided || !strcmp(only, "grid")) regular(0, strided);
  }
  if (!*only || !strcmp(only, "halo"))
    for (int width = 8; width <= (crowded ? 32 : 64); width *= 2) halo_3d(width);
  if (!*only || !strcmp(only, "types")) {
    if (me == 0) printf("# case                     cores rounds    kept\n");
    watched(64), watched(4096);
  }
  end();
  return 0;
}
