/* Communicators that come and go: what the library keeps of one serves the next one only if all
   processes agree that it is like it, and nothing piles up. */
#define _GNU_SOURCE
#include "../c/resources.h"
#include "preload.h"

#include <dlfcn.h>
#include <pthread.h>

#include "memory.h"

/* one block along each edge, and no other */
static void exchange(topology *t, int round) {
  int out[64], in[64];
  for (int i = 0; i < t->outdegree; i++) out[i] = test_value(t->rank, i, round);
  for (int j = 0; j < t->indegree; j++) in[j] = -1;
  OK(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, t->comm));
  for (int j = 0; j < t->indegree; j++) {
    int want = t->sources[j] < 0 ? -1 : test_value(t->sources[j], t->entries[j], round);
    CHECK(in[j] == want, "%s, round %d: block %d is %d, not %d", t->name, round, j, in[j], want);
  }
}

static topology shifted(MPI_Comm parent, int shift, int only, int repeats) {
  int rank, size, sources[8], targets[8];
  MPI_Comm_rank(parent, &rank);
  MPI_Comm_size(parent, &size);
  /* `only`: the edge of one process is left out, so that most lists are as before */
  int target = (rank + shift) % size, source = (rank + size - shift % size) % size;
  for (int k = 0; k < repeats; k++) sources[k] = source, targets[k] = target;
  MPI_Comm comm;
  OK(MPI_Dist_graph_create_adjacent(parent, source == only ? 0 : repeats, sources, MPI_UNWEIGHTED, rank == only ? 0 : repeats, targets,
                                    MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
  return of_dist_graph("shifted", comm);
}

/* the same again and again, and others in between; more shapes than are kept */
static void shapes(void) {
  for (int round = 0; round < 120; round++) {
    int other = round % 40 >= 10;
    topology t = shifted(MPI_COMM_WORLD, other ? round % 11 : 1, round % 5 == 4 ? round % test_size : -1, other ? 1 + round % 7 : 1);
    for (int k = 0; k < 1 + round % 20; k++) exchange(&t, round + k);
    MPI_Request request;
    int out[8] = {0}, in[8];
    OK(MPI_Ineighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, t.comm, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    topology_free(&t);
  }
  for (int round = 0; round < 3; round++) {
    topology all[TOPOLOGIES];
    int count = topologies(all);
    for (int k = 0; k < count; k++)
      if (all[k].comm != MPI_COMM_NULL) exchange(&all[k], round);
    for (int k = 0; k < count; k++) topology_free(&all[(round % 2 ? count - 1 - k : k + round) % count]);
  }
}

/* parts of one parent, by other colors each time: a part may have the same lists, but other
   processes */
static void parts(void) {
  for (int round = 0; round < 24; round++) {
    int dims[2] = {2, test_size / 2}, periods[2] = {1, 1}, keep[2] = {round % 2, !(round % 2)};
    if (test_size % 2) return;
    MPI_Comm grid, part;
    OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid));
    OK(MPI_Cart_sub(grid, keep, &part));
    topology t = of_cartesian("part", part);
    exchange(&t, round);
    topology_free(&t);
    /* pairs of changing processes, in the order of their keys */
    MPI_Comm pair;
    MPI_Comm_split(MPI_COMM_WORLD, (test_rank + round % 3) / 2, round % 4 < 2 ? test_rank : -test_rank, &pair);
    t = shifted(pair, 1, -1, 1);
    exchange(&t, round);
    if (round % 2) MPI_Comm_free(&pair);
    topology_free(&t);
    if (!(round % 2)) MPI_Comm_free(&pair);
    MPI_Comm_free(&grid);
  }
}

/* the members of the new communicator are others each time, the parent is the same one */
static void members(void) {
  for (int round = 0; round < 12 && test_size > 2; round++) {
    /* by the process that is left out, or the order, the ranks of the others change */
    int edges[64], index[64], n = test_size - 1;
    MPI_Comm ordered, comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, (test_rank + round) % test_size, &ordered);
    for (int p = 0; p < n; p++) index[p] = p + 1, edges[p] = (p + 1) % n == p - 1 ? p - 1 : (p + n / 2) % n;
    if (n % 2 == 0) {
      OK(MPI_Graph_create(ordered, n, index, edges, 0, &comm));
      topology t = of_graph("without one", comm);
      if (comm != MPI_COMM_NULL) exchange(&t, round);
      topology_free(&t);
    }
    MPI_Comm_free(&ordered);
  }
}

/* communicators of all processes of a parent, of some, and of duplicates between them: processes
   that one leaves out take part in the next one */
static void mixed(void) {
  for (int round = 0; round < 24; round++) {
    int some[1] = {test_size > 1 ? 1 + round % (test_size - 1) : 1}, periodic[1] = {1};
    topology whole = shifted(MPI_COMM_WORLD, 1 + round % 3, -1, 1);
    MPI_Comm part, copy;
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, some, periodic, 0, &part));
    if (part != MPI_COMM_NULL) {
      topology t = of_cartesian("of some", part);
      exchange(&t, round);
      topology_free(&t);
    }
    OK(MPI_Comm_dup(whole.comm, &copy));
    exchange(&whole, round);
    topology_free(&whole);
    whole = of_dist_graph("duplicate", copy);
    exchange(&whole, round);
    topology_free(&whole);
  }
}

/* the same lists with other weights, or none, and ranks in another order */
static void weights(void) {
  for (int round = 0; round < 12; round++) {
    int source = (test_rank + test_size - 1) % test_size, target = (test_rank + 1) % test_size, weight = 1 + round % 3, periodic = 1;
    int *given = round % 4 == 3 ? MPI_UNWEIGHTED : &weight;
    MPI_Comm comm;
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &source, given, 1, &target, given, MPI_INFO_NULL, round % 2, &comm));
    topology t = of_dist_graph("weighted", comm);
    exchange(&t, round);
    topology_free(&t);
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, &periodic, round % 2, &comm));
    t = of_cartesian("reordered", comm);
    exchange(&t, round);
    topology_free(&t);
  }
}

/* a call fails on one process alone, which then makes the right one: what the others keep serves
   nobody without it */
static void failing(void) {
  for (int round = 0; round < 12; round++) {
    topology t = shifted(MPI_COMM_WORLD, 1, -1, 1);
    int out = 0, in;
    MPI_Comm_set_errhandler(t.comm, MPI_ERRORS_RETURN);
    if (test_rank == round % test_size) CHECK(MPI_Neighbor_alltoall(&out, -1, MPI_INT, &in, 1, MPI_INT, t.comm) != MPI_SUCCESS, "a negative count");
    for (int k = 0; k < 3; k++) exchange(&t, round + k);
    topology_free(&t);
  }
}

/* many parents, each with neighborhoods of several shapes, freed at the end; gives the open files
   while all were there */
static int crowd(void) {
  enum { PARENTS = 40, SHAPES = 8 };
  static MPI_Comm all[PARENTS];
  int most, count = test_size > 2 ? 10 : PARENTS;
  for (int p = 0; p < count; p++) {
    MPI_Comm_dup(MPI_COMM_WORLD, &all[p]);
    for (int k = 0; k < SHAPES; k++) {
      topology t = shifted(all[p], 1, -1, 1 + k);
      exchange(&t, p + k);
      topology_free(&t);
    }
  }
  most = test_files();
  for (int p = 0; p < count; p++) MPI_Comm_free(&all[p]);
  MPI_Barrier(MPI_COMM_WORLD);
  return most;
}

/* a parent that has been freed keeps nothing, and all parents together keep no more than some:
   neither files nor communicators of the MPI run out. What is kept of the world's neighborhoods
   depends on which processes came first, until there is as much as may be: the first crowd sees
   to that. */
static void parents(void) {
  crowd();
  int had = test_files(), most = crowd();
  CHECK(most <= had + 100, "%d open files, and %d before", most, had);
  CHECK(test_files() <= had + 2, "%d open files, and %d before", test_files(), had);
}

/* communicators that none of the calls would be taken over on: a hint is in error, or processes
   have different parameters */
static void mistaken(void) {
  char file[] = "/tmp/mpix-again-XXXXXX";
  int descriptor = mkstemp(file);
  CHECK(descriptor >= 0, "%s cannot be made", file);
  for (int wrong = 0; wrong < 2; wrong++) {
    dprintf(descriptor, "latency = %d\noverhead = 1\ngap = 1\ngap_per_byte = 1\neager = 1\n", test_rank);
    setenv("MPIX_LOGGP", wrong ? file : "foo", 1);
    topology t = shifted(MPI_COMM_WORLD, 1, -1, 1);
    topology_free(&t);
    CHECK(ftruncate(descriptor, 0) == 0 && lseek(descriptor, 0, SEEK_SET) == 0, "%s cannot be written again", file);
  }
  /* the same on all, in a file of the same name */
  dprintf(descriptor, "latency = 1\noverhead = 1\ngap = 1\ngap_per_byte = 1\neager = 1\n");
  topology t = shifted(MPI_COMM_WORLD, 1, -1, 1);
  exchange(&t, 0);
  topology_free(&t);
  unsetenv("MPIX_LOGGP");
  close(descriptor), unlink(file);
}

/* hints of the environment count when a communicator is made: the report has both schedules */
static int environment(void) {
  for (int round = 0; round < 4; round++) {
    mistaken();
    if (round % 2) setenv("MPIX_SCHEDULE", "edge_coloring", 1);
    else unsetenv("MPIX_SCHEDULE");
    topology t = shifted(MPI_COMM_WORLD, 1, -1, 1);
    exchange(&t, round);
    topology_free(&t);
  }
  return test_finish();
}

/* freed with a request under way, which is completed when the next one is there */
static void outstanding(void) {
  for (int round = 0; round < 20; round++) {
    topology first = shifted(MPI_COMM_WORLD, 1, -1, 1), second;
    int out = test_value(test_rank, 0, round), in = -1, source = first.sources[0];
    MPI_Request request;
    OK(MPI_Ineighbor_alltoall(&out, 1, MPI_INT, &in, 1, MPI_INT, first.comm, &request));
    topology_free(&first);
    if (test_rank % 2) OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    second = shifted(MPI_COMM_WORLD, 1, -1, 1);
    exchange(&second, round + 100);
    if (test_rank % 2 == 0) OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(in == test_value(source, 0, round), "round %d: %d", round, in);
    topology_free(&second);
  }
}

/* threads free communicators with the same lists in different orders, and others, of which there
   are more than are kept */
enum { THREADS = 2 };
static MPI_Comm comms[THREADS], worlds[THREADS];
static int failures[THREADS];

static void *work(void *argument) {
  int me = (int)(intptr_t)argument, bad = 0, left = (test_rank + test_size - 1) % test_size;
  for (int round = 0; round < 150; round++) {
    int out[2] = {test_value(test_rank, me, round), test_value(test_rank, me + 2, round)}, in[2] = {-1, -1};
    MPI_Comm own;
    bad += MPI_Comm_dup(comms[me], &own);
    bad += MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, own);
    bad += in[0] != test_value(left, me + 2, round);
    bad += MPI_Comm_free(&own);
    int sources[8], targets[8], many[8], degree = 1 + (round + me) % 8;
    for (int k = 0; k < degree; k++) sources[k] = left, targets[k] = (test_rank + 1) % test_size, many[k] = test_value(test_rank, k, round);
    int have[8] = {0};
    bad += MPI_Dist_graph_create_adjacent(worlds[me], degree, sources, MPI_UNWEIGHTED, degree, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &own);
    bad += MPI_Neighbor_alltoall(many, 1, MPI_INT, have, 1, MPI_INT, own);
    for (int k = 0; k < degree; k++) bad += have[k] != test_value(left, k, round);
    bad += MPI_Comm_free(&own);
  }
  failures[me] = bad;
  return NULL;
}

static void threads(void) {
  int periodic = 1;
  pthread_t all[THREADS];
  for (int i = 0; i < THREADS; i++) {
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, &periodic, 0, &comms[i]));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &worlds[i]));
  }
  for (intptr_t i = 0; i < THREADS; i++) pthread_create(&all[i], NULL, work, (void *)i);
  for (int i = 0; i < THREADS; i++) pthread_join(all[i], NULL);
  for (int i = 0; i < THREADS; i++) CHECK(failures[i] == 0, "thread %d: %d failures", i, failures[i]);
  for (int i = 0; i < THREADS; i++) {
    OK(MPI_Comm_free(&comms[i]));
    OK(MPI_Comm_free(&worlds[i]));
  }
}

static void cycles(int count) {
  for (int round = 0; round < count; round++) {
    topology t = {.comm = MPI_COMM_NULL, .name = "cycle", .rank = test_rank, .indegree = 1, .outdegree = 1};
    int shift = 1 + round / 16 % 3, source = (test_rank + 3 * test_size - shift) % test_size, target = (test_rank + shift) % test_size, entry = 0;
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &source, MPI_UNWEIGHTED, 1, &target, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &t.comm));
    t.sources = &source, t.entries = &entry;
    exchange(&t, round);
    MPI_Comm_free(&t.comm);
  }
}

/* of the library, too */
static int duplicates;
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy) {
  int (*next)(MPI_Comm, MPI_Comm *);
  *(void **)&next = dlsym(RTLD_NEXT, "MPI_Comm_dup");
  duplicates++;
  return next(comm, copy);
}

/* Two graphs alternately: what is kept of each serves it again, although process 0, which has no
   edge in either, cannot tell them apart. */
static void alternating(void) {
  if (test_size < 3) return;
  int had = 0;
  for (int round = 0; round < 40; round++) {
    int from = 1 + round % 2, into = 2 - round % 2, sends = test_rank == from, receives = test_rank == into;
    MPI_Comm comm;
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, receives, &from, MPI_UNWEIGHTED, sends, &into, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
    topology t = of_dist_graph("alternating", comm);
    exchange(&t, round);
    topology_free(&t);
    if (round == 9) had = duplicates;
  }
  CHECK(had > 0 && duplicates == had, "%d duplicates in 30 rounds, of two graphs", duplicates - had);
}

/* as many as can be in half a minute where other programs use the cores, too */
static void flat(int count) {
  cycles(300);
  MPI_Barrier(MPI_COMM_WORLD);
  int had[2] = {test_files(), all_mappings()};
  long used = resident();
  double end = MPI_Wtime() + 30;
  for (int done = 0, late = 0; done < count && !late; done += 100) {
    cycles(100);
    late = MPI_Wtime() > end;
    MPI_Bcast(&late, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  /* the MPI may map memory of its own at any time */
  CHECK(test_files() <= had[0] + 2, "%d open files, and %d before", test_files(), had[0]);
  CHECK(all_mappings() <= had[1] + 8, "%d mappings, and %d before", all_mappings(), had[1]);
  CHECK(resident() <= used + 4096, "%ld KiB, and %ld before", resident(), used);
}

/* Argument: how many cycles, or environment. */
int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &test_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &test_size);
  CHECK(provided == MPI_THREAD_MULTIPLE, "thread level %d", provided);
  if (argc > 1 && !strcmp(argv[1], "environment")) return environment();
  shapes();
  parts();
  members();
  mixed();
  weights();
  failing();
  alternating();
  parents();
  outstanding();
  if (test_size > 1) threads();
  flat(argc > 1 ? atoi(argv[1]) : 1000);
  return test_finish();
}
