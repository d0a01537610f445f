/* The cost of a communicator that is used once: made, one neighborhood collective, freed. The edges
 * lead to both neighbors on a ring; of `others`, each cycle has other edges than the 11 before; of
 * `fresh`, it also has weights that no cycle before had.
 *
 * `native` calls the MPI by its PMPI names. `create` makes the same calls by their usual names, as
 * a program does, so that the preload library takes them over where it is loaded; `set` sets the
 * neighborhood on a communicator that stays, and frees it; `dup` sets it on a duplicate of
 * MPI_COMM_WORLD, which it frees. `empty` makes and frees only.
 *
 * Goal: `create`, under the preload library, takes at most 1.5 times as long as `native`.
 *
 * Usage: setup [--rounds N] [--seconds S] [--quantile Q] [--only same|others|fresh]
 * Method: see measure.h. */
#define _GNU_SOURCE
#include "measure.h"
#include <mpix_neighbor.h>

enum { DEGREE = 2, LISTS = 12, MOST_DEGREE = DEGREE + LISTS };
typedef enum { SAME, OTHERS, FRESH } changes;

struct problem {
  MPI_Comm comm;
  changes changes;
  int turn, degree, weights[MOST_DEGREE], sources[MOST_DEGREE], targets[MOST_DEGREE], send[MOST_DEGREE], recv[MOST_DEGREE];
};

/* the lists of the next cycle */
static void advance(problem *p) {
  p->degree = DEGREE + (p->changes ? p->turn++ % LISTS : 0);
  for (int k = 0; k < p->degree; k++) p->targets[k] = (me + 1) % n, p->sources[k] = (me + n - 1) % n;
  p->targets[1] = p->sources[0], p->sources[1] = p->targets[0];
  for (int k = 0; k < p->degree; k++) p->weights[k] = p->turn;
}

/* of both lists */
static const int *weights(const problem *p) { return p->changes == FRESH ? p->weights : MPI_UNWEIGHTED; }

#define CREATED(name, make, call, release)                                                     \
  static void name(problem *p) {                                                               \
    MPI_Comm comm;                                                                             \
    advance(p);                                                                                \
    make(MPI_COMM_WORLD, p->degree, p->sources, weights(p), p->degree, p->targets, weights(p), \
         MPI_INFO_NULL, 0, &comm);                                                             \
    call;                                                                                      \
    release(&comm);                                                                            \
  }
CREATED(native, PMPI_Dist_graph_create_adjacent, PMPI_Neighbor_alltoall(p->send, 1, MPI_INT, p->recv, 1, MPI_INT, comm), PMPI_Comm_free)
CREATED(create, MPI_Dist_graph_create_adjacent, MPI_Neighbor_alltoall(p->send, 1, MPI_INT, p->recv, 1, MPI_INT, comm), MPI_Comm_free)
CREATED(native_empty, PMPI_Dist_graph_create_adjacent, (void)0, PMPI_Comm_free)
CREATED(empty, MPI_Dist_graph_create_adjacent, (void)0, MPI_Comm_free)

static void set_on(problem *p, MPI_Comm comm) {
  advance(p);
  MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, p->degree, p->sources, weights(p), p->degree, p->targets, weights(p), MPI_INFO_NULL, comm);
  MPIX_Neighbor_alltoall(p->send, 1, MPI_INT, p->recv, 1, MPI_INT, comm);
}

static void set(problem *p) {
  set_on(p, p->comm);
  MPIX_Neighborhood_free(MPIX_NEIGHBOR_ALLTOALL, p->comm);
}

static void on_dup(problem *p) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  set_on(p, comm);
  MPI_Comm_free(&comm);
}

static void native_dup(problem *p) {
  (void)p;
  MPI_Comm comm;
  PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
  PMPI_Comm_free(&comm);
}

static void expect(problem *p, const char *what) {
  if (p->recv[0] != p->sources[0] + 1 || p->recv[1] != p->sources[1] + 1) {
    fprintf(stderr, "process %d: %s: wrong blocks %d %d\n", me, what, p->recv[0], p->recv[1]);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

/* `native` and `create` are the first two; without the preload library they are the same */
static void judge(const char *lists, const char *where, const samples *s) {
  const char *preload = getenv("LD_PRELOAD");
  if (!preload || !strstr(preload, "mpix_neighbor")) return;
  char text[60];
  snprintf(text, sizeof text, "%s lists, %s, create / native", lists, where);
  print_goal(text, typical(s->times[1], s->count) / typical(s->times[0], s->count), 1.5, 1);
}

int main(int argc, char **argv) {
  least_calls = 3;
  const char *only = begin(argc, argv, "setup [--rounds N] [--seconds S] [--quantile Q] [--only same|others|fresh]");
  print_header("microseconds a cycle (ratio to native)");
  static const char *const names[] = {"same", "others", "fresh"};
  int measured = 0;
  for (changes changes = SAME; changes <= FRESH; changes++) {
    if (*only && strcmp(only, names[changes])) continue;
    measured = 1;
    problem p = {.changes = changes};
    for (int k = 0; k < MOST_DEGREE; k++) p.send[k] = me + 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &p.comm);
    alternative list[] = {
        {"native", native, &p},
        {"create", create, &p},
        {"set", set, &p},
        {"dup", on_dup, &p},
        {"native, empty", native_empty, &p},
        {"empty", empty, &p},
        {"native dup", native_dup, &p},
    };
    enum { FORMS = sizeof list / sizeof *list };
    for (int a = 0; a < 4; a++) {
      memset(p.recv, 0, sizeof p.recv);
      list[a].run(&p);
      expect(&p, list[a].name);
    }
    measure_and(names[changes], list, FORMS, judge);
    MPI_Comm_free(&p.comm);
  }
  if (!measured) {
    fprintf(stderr, "--only %s: not same, others or fresh\n", only);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  end();
  return 0;
}
