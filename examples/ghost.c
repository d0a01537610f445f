/* Ghost cells: each process sends a buffer to each of a few neighbors, again and again. What does
 * an exchange cost by puts, by messages, and by this library?
 *
 *   mpicc -std=c11 -O2 -Iinclude examples/ghost.c -lmpix_neighbor -lm -o ghost
 *   mpirun -n 4 ./ghost --largest 100000 >ghost.txt
 *   mpix-neighbor plot ghost.txt --table 3 >fences.svg
 *
 * Processes form a ring, and the neighbors are the nearest ones on both sides. Forms:
 *
 *   plan       MPIX_Neighbor_alltoallv_plan, started and waited for
 *   window     MPIX_Sparse_window_put of each buffer, and MPIX_Sparse_window_fence
 *   messages   MPI_Irecv and MPI_Isend of each buffer, MPI_Waitall
 *   fence      one MPI_Put to each neighbor between two calls of MPI_Win_fence
 *   pscw       one MPI_Put to each neighbor between MPI_Win_post, MPI_Win_start and
 *              MPI_Win_complete, MPI_Win_wait
 *
 * Before each exchange a process writes to each cache line that it sends, and then reads from each
 * one that has come: unchanged bytes would lie in the receiver's cache already, and seem to travel
 * in no time.
 *
 * In the second table, window, fence and pscw bring the same buffers by a put for each double. The
 * third has the cost of the synchronization alone, against the number of processes.
 *
 * The program follows Barrett, One-Sided Communication for High Performance Computing Applications,
 * 2009, chapter 7: Figures 6 and 7, and 1.
 *
 * After each case, each process compares what each form brought with what its neighbors must have
 * sent, which it computes itself. The exit code is 0 if all are equal.
 *
 * No return code is looked at, of MPI_ and MPIX_ functions alike: communicators and windows keep
 * the default error handler, MPI_ERRORS_ARE_FATAL, which this library calls as MPI does. */

#include "forms.h"
#include <mpix_neighbor.h>

enum { MOST_NEIGHBORS = 16 };

static const char usage[] =
    "usage: ghost [options]\n"
    "  --distance D      neighbors are the nearest D processes on each side, at most 8 (2)\n"
    "  --largest N       doubles of the largest buffer (1000)\n"
    "  --largest-many N  doubles of the largest buffer that is brought by a put for each double (1000)\n"
    "  --window KIND     memory of the windows: create, the program's, or allocate, MPI's (create)\n"
    "  --rounds N        most rounds; the median of them counts. At least 3 run, if N allows (15)\n"
    "  --seconds S       seconds for each case, about (1)\n";

typedef struct {
  int distance, largest, largest_many, allocated, rounds, seconds, help;
} options;

enum { PLAN, WINDOW, MESSAGES, FENCE, PSCW, FORMS };

typedef struct {
  MPI_Comm comm; /* with the neighborhood */
  int rank, processes, neighbors;
  int ranks[MOST_NEIGHBORS];  /* the neighbors: both sources and targets */
  int places[MOST_NEIGHBORS]; /* which of its neighbors this process is, of each neighbor */
  int size;                   /* doubles of each buffer */
  int counts[MOST_NEIGHBORS], displs[MOST_NEIGHBORS];
  double *send, *receive[FORMS]; /* buffers of all neighbors, neighbor by neighbor */
  MPI_Aint *indices; /* of each element of a process */
  MPIX_Sparse_window window;
  int allocated;
  MPI_Win fence, pscw;
  MPI_Group group; /* the neighbors */
  MPIX_Request plan;
} ghosts;

/* ------------------------------------------------------------------------------------ neighbors */

/* The nearest processes of the ring on both sides, each once; a process that is alone is its own
   neighbor. A process is a neighbor of its neighbors. */
static int find_neighbors(int rank, int processes, int distance, int *ranks) {
  int found = 0;
  for (int d = 1; d <= distance && d <= processes / 2; d++) {
    int above = (rank + d) % processes, below = (rank + processes - d) % processes;
    ranks[found++] = above;
    if (below != above) ranks[found++] = below;
  }
  if (processes == 1) ranks[found++] = rank;
  return found;
}

/* Which neighbor of `other`, a neighbor, this process is. */
static int place_at(int rank, int other, int processes, int distance) {
  int ranks[MOST_NEIGHBORS], i = 0;
  find_neighbors(other, processes, distance, ranks);
  while (ranks[i] != rank) i++;
  return i;
}

/* Collective over `comm`. Room for buffers of `largest` doubles. */
static void make_ghosts(ghosts *g, int distance, int largest, int allocated, MPI_Comm comm) {
  *g = (ghosts){.allocated = allocated};
  MPI_Comm_dup(comm, &g->comm);
  MPI_Comm_rank(comm, &g->rank);
  MPI_Comm_size(comm, &g->processes);
  g->neighbors = find_neighbors(g->rank, g->processes, distance, g->ranks);
  for (int i = 0; i < g->neighbors; i++) g->places[i] = place_at(g->rank, g->ranks[i], g->processes, distance);
  MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, g->neighbors, g->ranks, MPI_UNWEIGHTED, g->neighbors, g->ranks,
                        MPI_UNWEIGHTED, MPI_INFO_NULL, g->comm);
  MPI_Group all;
  MPI_Comm_group(comm, &all);
  MPI_Group_incl(all, g->neighbors, g->ranks, &g->group);
  MPI_Group_free(&all);

  size_t room = (size_t)g->neighbors * (size_t)largest;
  g->send = allocate(room, sizeof(double));
  g->receive[PLAN] = allocate(room, sizeof(double));
  g->receive[MESSAGES] = allocate(room, sizeof(double));
  g->receive[WINDOW] = allocate(room, sizeof(double));
  g->indices = allocate(room, sizeof *g->indices);
  for (size_t k = 0; k < room; k++) g->indices[k] = (MPI_Aint)k;
  MPIX_Sparse_window_create(g->receive[WINDOW], (int)room, MPI_DOUBLE, MPI_INFO_NULL, comm, &g->window);
  g->receive[FENCE] = make_window(room, sizeof(double), allocated, comm, &g->fence);
  if (g->receive[FENCE] != NULL)
    g->receive[PSCW] = make_window(room, sizeof(double), allocated, comm, &g->pscw);
}

/* Collective. Buffers of `size` doubles from here on. */
static void set_size(ghosts *g, int size) {
  g->size = size;
  for (int i = 0; i < g->neighbors; i++) {
    g->counts[i] = size;
    g->displs[i] = i * size;
  }
  MPIX_Neighbor_alltoallv_plan(g->send, g->counts, g->displs, MPI_DOUBLE, g->receive[PLAN], g->counts, g->displs,
                               MPI_DOUBLE, g->comm, MPI_INFO_NULL, &g->plan);
}

static void free_ghosts(ghosts *g) {
  MPIX_Sparse_window_free(&g->window);
  free_window(g->receive[FENCE], g->allocated, &g->fence);
  free_window(g->receive[PSCW], g->allocated, &g->pscw);
  free(g->receive[PLAN]);
  free(g->receive[WINDOW]);
  free(g->receive[MESSAGES]);
  free(g->indices);
  free(g->send);
  MPI_Group_free(&g->group);
  MPI_Comm_free(&g->comm);
}

/* ---------------------------------------------------------------------------------------- forms */

enum { LINE = 64 / sizeof(double) };

/* Writes to each cache line of the buffers, as a program does that computes new values. */
static void produce(const ghosts *g) {
  volatile double *send = g->send;
  for (int k = 0; k < g->neighbors * g->size; k += LINE) send[k] = send[k];
}

/* Reads from each cache line of what has come. */
static void consume(const ghosts *g, const double *receive) {
  volatile double read = 0;
  for (int k = 0; k < g->neighbors * g->size; k += LINE) read = receive[k];
  (void)read;
}

static void run_plan(void *on) {
  ghosts *g = on;
  produce(g);
  MPIX_Request_start(&g->plan);
  MPIX_Request_wait(&g->plan);
  consume(g, g->receive[PLAN]);
}

static void run_messages(void *on) {
  ghosts *g = on;
  MPI_Request requests[2 * MOST_NEIGHBORS];
  int n = 0;
  produce(g);
  for (int i = 0; i < g->neighbors; i++)
    MPI_Irecv(g->receive[MESSAGES] + g->displs[i], g->size, MPI_DOUBLE, g->ranks[i], 0, g->comm, &requests[n++]);
  for (int i = 0; i < g->neighbors; i++)
    MPI_Isend(g->send + g->displs[i], g->size, MPI_DOUBLE, g->ranks[i], 0, g->comm, &requests[n++]);
  MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
  consume(g, g->receive[MESSAGES]);
}

static void window_puts(const ghosts *g, int piece) {
  produce(g);
  for (int i = 0; i < g->neighbors; i++) {
    const double *from = g->send + g->displs[i];
    const MPI_Aint *to = g->indices + (size_t)g->places[i] * (size_t)g->size;
    for (int k = 0; k < g->size; k += piece) MPIX_Sparse_window_put(from + k, piece, g->ranks[i], to + k, g->window);
  }
  MPIX_Sparse_window_fence(g->window);
  consume(g, g->receive[WINDOW]);
}

/* Puts of `piece` doubles, as many as bring each neighbor its buffer. */
static void put_all(const ghosts *g, int piece, MPI_Win window) {
  for (int i = 0; i < g->neighbors; i++) {
    const double *from = g->send + g->displs[i];
    MPI_Aint to = (MPI_Aint)g->places[i] * g->size;
    for (int k = 0; k < g->size; k += piece)
      MPI_Put(from + k, piece, MPI_DOUBLE, g->ranks[i], to + k, piece, MPI_DOUBLE, window);
  }
}

static void fence_puts(const ghosts *g, int piece) {
  produce(g);
  MPI_Win_fence(MPI_MODE_NOPRECEDE, g->fence);
  put_all(g, piece, g->fence);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, g->fence);
  consume(g, g->receive[FENCE]);
}

static void pscw_puts(const ghosts *g, int piece) {
  produce(g);
  MPI_Win_post(g->group, 0, g->pscw);
  MPI_Win_start(g->group, 0, g->pscw);
  put_all(g, piece, g->pscw);
  MPI_Win_complete(g->pscw);
  MPI_Win_wait(g->pscw);
  consume(g, g->receive[PSCW]);
}

static void run_window(void *on) { window_puts(on, ((ghosts *)on)->size); }
static void run_fence(void *on) { fence_puts(on, ((ghosts *)on)->size); }
static void run_pscw(void *on) { pscw_puts(on, ((ghosts *)on)->size); }
static void run_window_many(void *on) { window_puts(on, 1); }
static void run_fence_many(void *on) { fence_puts(on, 1); }
static void run_pscw_many(void *on) { pscw_puts(on, 1); }

/* Synchronization alone. */
static void run_barrier(void *on) { MPI_Barrier(((ghosts *)on)->comm); }
static void run_window_empty(void *on) { MPIX_Sparse_window_fence(((ghosts *)on)->window); }
static void run_fence_empty(void *on) { MPI_Win_fence(0, ((ghosts *)on)->fence); }
static void run_pscw_empty(void *on) {
  ghosts *g = on;
  MPI_Win_post(g->group, 0, g->pscw);
  MPI_Win_start(g->group, 0, g->pscw);
  MPI_Win_complete(g->pscw);
  MPI_Win_wait(g->pscw);
}

/* The forms of the tables. */
static const form one_put[FORMS] = {{"plan", run_plan, NULL},
                                    {"window", run_window, NULL},
                                    {"messages", run_messages, NULL},
                                    {"fence", run_fence, NULL},
                                    {"pscw", run_pscw, NULL}};
static const form many_puts[FORMS] = {{"plan", run_plan, NULL},
                                      {"window", run_window_many, NULL},
                                      {"messages", run_messages, NULL},
                                      {"fence", run_fence_many, NULL},
                                      {"pscw", run_pscw_many, NULL}};
static const form synchronization[FORMS] = {{"plan", run_plan, NULL},
                                            {"window", run_window_empty, NULL},
                                            {"barrier", run_barrier, NULL},
                                            {"fence", run_fence_empty, NULL},
                                            {"pscw", run_pscw_empty, NULL}};

/* Those that need MPI's windows are skipped if there are none. */
static void take_forms(form *forms, const form *table, ghosts *g) {
  int windows = g->receive[FENCE] != NULL && g->receive[PSCW] != NULL;
  for (int f = 0; f < FORMS; f++) {
    forms[f] = (form){table[f].name, table[f].run, g};
    if (f >= FENCE && !windows) forms[f].run = NULL;
  }
}

/* ---------------------------------------------------------------------------------------- check */

/* Element k of what process `source` sends `target`. */
static double value_of(int source, int target, int k, int salt) {
  return source * 1e6 + target * 1e3 + (double)((k * 7919LL + salt) % 997);
}

/* Collective. Runs a form on fresh buffers and returns how many doubles are wrong. */
static long long check(ghosts *g, const form *f, int buffer, int salt) {
  if (f->run == NULL) return 0;
  for (int i = 0; i < g->neighbors; i++) {
    for (int k = 0; k < g->size; k++) {
      g->send[g->displs[i] + k] = value_of(g->rank, g->ranks[i], k, salt);
      g->receive[buffer][g->displs[i] + k] = -1.0;
    }
  }
  MPI_Barrier(g->comm); /* no put arrives before all have cleared */
  f->run(f->on);
  long long wrong = 0;
  for (int i = 0; i < g->neighbors; i++)
    for (int k = 0; k < g->size; k++)
      wrong += g->receive[buffer][g->displs[i] + k] != value_of(g->ranks[i], g->rank, k, salt);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG_LONG, MPI_SUM, g->comm);
  if (wrong > 0 && g->rank == 0)
    printf("ghost: %s, %d doubles: %lld doubles are WRONG\n", f->name, g->size, wrong);
  return wrong;
}

/* ------------------------------------------------------------------------------------ measuring */

/* Collective. One table: the forms for buffers of 1, 10, 100 ... doubles. Returns how many doubles
   were wrong. */
static long long measure_sizes(const options *o, ghosts *g, const form *forms, int largest, const char *title) {
  long long wrong = 0;
  if (g->rank == 0) printf("\n%s, microseconds (ratio to the plan)\n", title);
  if (g->rank == 0) print_names("doubles", forms, FORMS);
  for (int size = 1; size <= largest; size = size > largest / 10 ? largest + 1 : 10 * size) {
    double seconds[FORMS];
    char label[20];
    set_size(g, size);
    for (int f = 0; f < FORMS; f++) wrong += check(g, &forms[f], f, size);
    int rounds = time_forms(forms, FORMS, o->rounds, o->seconds, g->comm, seconds);
    for (int f = 0; f < FORMS; f++) wrong += check(g, &forms[f], f, size + 1);
    MPIX_Request_free(&g->plan);
    snprintf(label, sizeof label, "%d", size);
    if (g->rank == 0) print_times(label, seconds, FORMS, rounds);
  }
  return wrong;
}

/* Collective. The third table: synchronization, on communicators of 2 processes and more. */
static void measure_synchronization(const options *o, MPI_Comm world) {
  int rank, P;
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &P);
  int first = P < 2 ? P : 2;
  if (rank == 0) printf("\nSynchronization alone; plan: 1 double, microseconds (ratio to the plan)\n");
  for (int processes = first; processes <= P; processes++) {
    MPI_Comm part;
    double seconds[FORMS];
    char label[20];
    MPI_Comm_split(world, rank < processes ? 0 : MPI_UNDEFINED, rank, &part);
    if (part != MPI_COMM_NULL) {
      ghosts g;
      make_ghosts(&g, o->distance, 1, o->allocated, part);
      set_size(&g, 1);
      form forms[FORMS];
      take_forms(forms, synchronization, &g);
      int rounds = time_forms(forms, FORMS, o->rounds, o->seconds, part, seconds);
      if (g.receive[FENCE] != NULL) MPI_Win_fence(MPI_MODE_NOSUCCEED, g.fence);
      if (rank == 0 && processes == first) print_names("processes", forms, FORMS);
      snprintf(label, sizeof label, "%d", processes);
      if (rank == 0) print_times(label, seconds, FORMS, rounds);
      MPIX_Request_free(&g.plan);
      free_ghosts(&g);
      MPI_Comm_free(&part);
    }
    MPI_Barrier(world);
  }
}

/* The same exit code on all processes. */
static int run(const options *o, MPI_Comm world) {
  int larger = o->largest > o->largest_many ? o->largest : o->largest_many;
  ghosts g;
  make_ghosts(&g, o->distance, larger, o->allocated, world);
  if (g.rank == 0)
    printf("%d processes, %d neighbors each, windows by MPI_Win_%s\n", g.processes, g.neighbors,
           o->allocated ? "allocate" : "create");
  form one[FORMS], many[FORMS];
  take_forms(one, one_put, &g);
  take_forms(many, many_puts, &g);
  long long wrong = measure_sizes(o, &g, one, o->largest, "One put to each neighbor");
  wrong += measure_sizes(o, &g, many, o->largest_many, "A put for each double");
  measure_synchronization(o, world);
  if (g.rank == 0)
    printf("ghost: results %s what the neighbors sent\n", wrong == 0 ? "agree with" : "DIFFER from");
  free_ghosts(&g);
  return wrong == 0 ? 0 : 1;
}

/* Returns the argument that is wrong, or NULL. Past the end of argv stands a NULL, which no parser
   accepts. */
static const char *parse(char **argv, options *o) {
  *o = (options){.distance = 2, .largest = 1000, .largest_many = 1000, .rounds = 15, .seconds = 1};
  for (char **a = argv + 1; *a != NULL; a++) {
    const char *name = *a;
    int ok = 1;
    if (strcmp(name, "--distance") == 0) ok = parse_int(a[1], 1, MOST_NEIGHBORS / 2, &o->distance) && *++a != NULL;
    else if (strcmp(name, "--largest") == 0) ok = parse_int(a[1], 1, 1000000, &o->largest) && *++a != NULL;
    else if (strcmp(name, "--largest-many") == 0) ok = parse_int(a[1], 1, 1000000, &o->largest_many) && *++a != NULL;
    else if (strcmp(name, "--window") == 0) ok = parse_window(a[1], &o->allocated) && *++a != NULL;
    else if (strcmp(name, "--rounds") == 0) ok = parse_int(a[1], 1, MOST_ROUNDS, &o->rounds) && *++a != NULL;
    else if (strcmp(name, "--seconds") == 0) ok = parse_int(a[1], 0, 1000, &o->seconds) && *++a != NULL;
    else if (strcmp(name, "--help") == 0) o->help = 1;
    else ok = 0;
    if (!ok) return name;
  }
  return NULL;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, code;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  options o;
  const char *wrong = parse(argv, &o);
  if (wrong != NULL || o.help) {
    code = show_usage(rank, "ghost", wrong, usage);
  } else {
    code = run(&o, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return code;
}
