/* Conjugate gradients on a brick of points, each coupled with the 26 around it: an unstructured
 * solver in small, whose processes exchange ghost entries in each iteration.
 *
 *   mpicc -std=c11 -O2 -Iinclude examples/hpccg.c -lmpix_neighbor -lm -o hpccg
 *   mpirun -n 4 ./hpccg --cells 40 40 40
 *
 * Each process has a brick of the same size (weak scaling), and the bricks form a larger one. The
 * matrix is stored row by row; the program derives from its columns whose entries a process needs,
 * and who needs its own. The ghost entries of a vector lie behind the process's own ones, owner by
 * owner. Forms of their exchange:
 *
 *   plan       MPIX_Neighbor_alltoallv_plan, started and waited for
 *   messages   MPI_Irecv into the ghost entries, MPI_Isend, MPI_Waitall
 *   fence      MPI_Put into the ghost entries between two calls of MPI_Win_fence
 *   pscw       MPI_Put between MPI_Win_post, _start and MPI_Win_complete, _wait
 *
 * The program follows Barrett, One-Sided Communication for High Performance Computing Applications,
 * 2009, chapter 6, and Mantevo's HPCCG: 27 on the diagonal, -1 elsewhere, a solution of ones.
 *
 * The residuals of all forms must be equal in each iteration, to the last bit; and equal, but for
 * rounding, to those of a serial run on process 0, unless the whole brick is too large for it. The
 * last x must be as near to the solution as the last residual says. The exit code is 0 if all this
 * holds.
 *
 * No return code is looked at, of MPI_ and MPIX_ functions alike: communicators and windows keep
 * the default error handler, MPI_ERRORS_ARE_FATAL, which this library calls as MPI does. */

#include "forms.h"
#include <limits.h>
#include <mpix_neighbor.h>

enum { MOST_ITERATIONS = 1000, MOST_SERIAL_ROWS = 1000000 };

static const char usage[] =
    "usage: hpccg [options]\n"
    "  --cells X Y Z     points of a process in each dimension (8 8 8)\n"
    "  --iterations N    iterations of a run (20)\n"
    "  --window KIND     memory of the windows: create, the program's, or allocate, MPI's (create)\n"
    "  --rounds N        most rounds; the median of them counts. At least 3 run, if N allows (15)\n"
    "  --seconds S       seconds for the solver, and for the exchange alone, about (2)\n";

typedef struct {
  int cells[3], iterations, allocated, rounds, seconds, help;
} options;

/* --------------------------------------------------------------------------------------- matrix */

/* Rows are the process's own points, with x running fastest. Columns are numbered from 0: own
   points, then ghost points. */
typedef struct {
  int rows, ghosts;
  int *first, *column; /* row i has the nonzeros first[i] to first[i + 1] - 1 */
  double *value, *right;
  /* processes with common points, both sources and targets; ghosts of each and own points that it
     needs, whose numbers are `send`, neighbor by neighbor */
  int neighbors, *ranks, *recvcounts, *recvdispls, *sendcounts, *senddispls;
  int sends, *send;
} matrix;

static int ascending_key(const void *a, const void *b) {
  long long x = *(const long long *)a, y = *(const long long *)b;
  return (x > y) - (x < y);
}

static int sort_and_unite(long long *keys, int count) {
  int n = 0;
  qsort(keys, (size_t)count, sizeof *keys, ascending_key);
  for (int k = 0; k < count; k++)
    if (k == 0 || keys[k] != keys[n - 1]) keys[n++] = keys[k];
  return n;
}

/* Which point lies at these offsets, as owner * rows + its number there; -1 outside of the whole
   brick. `corner`: the position of the process among the others in each dimension. */
static long long point_at(const int cells[3], const int dims[3], const int corner[3], const int at[3],
                          const int offset[3]) {
  int owner = 0, number = 0;
  for (int d = 2; d >= 0; d--) {
    int global = corner[d] * cells[d] + at[d] + offset[d];
    if (global < 0 || global >= dims[d] * cells[d]) return -1;
    owner = owner * dims[d] + global / cells[d];
    number = number * cells[d] + global % cells[d];
  }
  return (long long)owner * cells[0] * cells[1] * cells[2] + number;
}

/* Splits sorted keys by owner: a count and the place of the first for each. */
static int split_by_owner(const long long *keys, int count, int rows, int *ranks, int *counts, int *displs) {
  int owners = 0;
  for (int k = 0; k < count; k++) {
    int owner = (int)(keys[k] / rows);
    if (owners == 0 || ranks[owners - 1] != owner) {
      ranks[owners] = owner;
      counts[owners] = 0;
      displs[owners++] = k;
    }
    counts[owners - 1]++;
  }
  return owners;
}

/* The rows of one of dims[0] * dims[1] * dims[2] processes. */
static matrix make_matrix(const int cells[3], const int dims[3], int rank) {
  enum { STENCIL = 27 };
  const int rows = cells[0] * cells[1] * cells[2];
  const int corner[3] = {rank % dims[0], rank / dims[0] % dims[1], rank / dims[0] / dims[1]};
  matrix a = {.rows = rows};
  a.first = allocate((size_t)rows + 1, sizeof *a.first);
  a.column = allocate((size_t)rows * STENCIL, sizeof *a.column);
  a.value = allocate((size_t)rows * STENCIL, sizeof *a.value);
  a.right = allocate((size_t)rows, sizeof *a.right);
  /* ghosts: what the rows need of others; wanted: the same couplings seen from the other side,
     since the matrix is symmetric */
  size_t inner = 1; /* rows that lie on no face: these have no column elsewhere */
  for (int d = 0; d < 3; d++) inner *= cells[d] > 2 ? (size_t)cells[d] - 2 : 0;
  size_t room = ((size_t)rows - inner) * (STENCIL - 1);
  long long *ghosts = allocate(room, sizeof *ghosts), *wanted = allocate(room, sizeof *wanted);
  long long *keys = allocate((size_t)rows * STENCIL, sizeof *keys);
  int nonzeros = 0, outside = 0, row = 0, at[3], offset[3];
  for (at[2] = 0; at[2] < cells[2]; at[2]++)
    for (at[1] = 0; at[1] < cells[1]; at[1]++)
      for (at[0] = 0; at[0] < cells[0]; at[0]++, row++) {
        int before = nonzeros;
        for (offset[2] = -1; offset[2] <= 1; offset[2]++)
          for (offset[1] = -1; offset[1] <= 1; offset[1]++)
            for (offset[0] = -1; offset[0] <= 1; offset[0]++) {
              long long key = point_at(cells, dims, corner, at, offset);
              if (key < 0) continue;
              keys[nonzeros] = key;
              a.value[nonzeros++] = offset[0] == 0 && offset[1] == 0 && offset[2] == 0 ? 27.0 : -1.0;
              if (key / rows == rank) continue;
              ghosts[outside] = key;
              wanted[outside++] = key / rows * rows + row;
            }
        a.first[row + 1] = nonzeros;
        a.right[row] = 27.0 - (nonzeros - before - 1);
      }

  a.ghosts = sort_and_unite(ghosts, outside);
  a.sends = sort_and_unite(wanted, outside);
  for (int k = 0; k < nonzeros; k++) {
    if (keys[k] / rows == rank) {
      a.column[k] = (int)(keys[k] % rows);
    } else {
      const long long *found = bsearch(&keys[k], ghosts, (size_t)a.ghosts, sizeof *ghosts, ascending_key);
      a.column[k] = rows + (int)(found - ghosts);
    }
  }
  int **lists[] = {&a.ranks, &a.recvcounts, &a.recvdispls, &a.sendcounts, &a.senddispls};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) *lists[i] = allocate(STENCIL, sizeof(int));
  a.neighbors = split_by_owner(ghosts, a.ghosts, rows, a.ranks, a.recvcounts, a.recvdispls);
  split_by_owner(wanted, a.sends, rows, a.ranks, a.sendcounts, a.senddispls);
  a.send = allocate((size_t)a.sends, sizeof *a.send);
  for (int k = 0; k < a.sends; k++) a.send[k] = (int)(wanted[k] % rows);
  free(ghosts);
  free(wanted);
  free(keys);
  return a;
}

static void free_matrix(matrix *a) {
  void *all[] = {a->first,      a->column,     a->value,      a->right, a->ranks,
                 a->recvcounts, a->recvdispls, a->sendcounts, a->senddispls, a->send};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
}

/* --------------------------------------------------------------------------------------- solver */

/* A solver and its form of exchange. `p` has the ghost entries behind the process's own ones. */
typedef struct solver solver;
struct solver {
  const matrix *a;
  MPI_Comm comm;
  void (*exchange)(solver *); /* NULL: no neighbors */
  int iterations;
  double *p, *r, *x, *Ap, *packed, *history;
  MPIX_Request plan;
  int allocated;
  MPI_Win window;
  MPI_Group group;  /* the neighbors */
  int *peer_displs; /* where this process's points begin among the ghosts of each neighbor */
};

static double dot(const solver *s, const double *u, const double *v) {
  double sum = 0.0;
  for (int i = 0; i < s->a->rows; i++) sum += u[i] * v[i];
  if (s->comm != MPI_COMM_NULL) MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, s->comm);
  return sum;
}

static void multiply(const matrix *a, const double *x, double *y) {
  for (int i = 0; i < a->rows; i++) {
    double sum = 0.0;
    for (int k = a->first[i]; k < a->first[i + 1]; k++) sum += a->value[k] * x[a->column[k]];
    y[i] = sum;
  }
}

/* Solves from x = 0, and notes the residual before each iteration and after the last one. */
static void solve(void *on) {
  solver *s = on;
  const int n = s->a->rows;
  for (int i = 0; i < n; i++) {
    s->x[i] = 0.0;
    s->p[i] = s->r[i] = s->a->right[i];
  }
  double residual = dot(s, s->r, s->r);
  for (int k = 0; k < s->iterations; k++) {
    s->history[k] = sqrt(residual);
    if (s->exchange != NULL) s->exchange(s);
    multiply(s->a, s->p, s->Ap);
    /* small systems are solved exactly: nothing is left to divide by */
    double curvature = dot(s, s->p, s->Ap), alpha = curvature > 0.0 ? residual / curvature : 0.0;
    for (int i = 0; i < n; i++) {
      s->x[i] += alpha * s->p[i];
      s->r[i] -= alpha * s->Ap[i];
    }
    double next = dot(s, s->r, s->r), beta = residual > 0.0 ? next / residual : 0.0;
    for (int i = 0; i < n; i++) s->p[i] = s->r[i] + beta * s->p[i];
    residual = next;
  }
  s->history[s->iterations] = sqrt(residual);
}

/* Without `p`: where that lies depends on the form. */
static solver make_solver(const matrix *a, int iterations, MPI_Comm comm) {
  solver s = {.a = a, .comm = comm, .iterations = iterations};
  double **vectors[] = {&s.r, &s.x, &s.Ap};
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++)
    *vectors[i] = allocate((size_t)a->rows, sizeof(double));
  s.packed = allocate((size_t)a->sends, sizeof(double));
  s.history = allocate((size_t)iterations + 1, sizeof(double));
  s.peer_displs = allocate((size_t)a->neighbors, sizeof(int));
  return s;
}

static void free_solver(solver *s) {
  void *all[] = {s->r, s->x, s->Ap, s->packed, s->history, s->peer_displs};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
}

/* ---------------------------------------------------------------------------------------- forms */

enum { PLAN, MESSAGES, FENCE, PSCW, FORMS };

static void pack(solver *s) {
  for (int k = 0; k < s->a->sends; k++) s->packed[k] = s->p[s->a->send[k]];
}

static void exchange_plan(solver *s) {
  pack(s);
  MPIX_Request_start(&s->plan);
  MPIX_Request_wait(&s->plan);
}

static void exchange_messages(solver *s) {
  const matrix *a = s->a;
  MPI_Request requests[2 * 26];
  int n = 0;
  for (int i = 0; i < a->neighbors; i++)
    MPI_Irecv(s->p + a->rows + a->recvdispls[i], a->recvcounts[i], MPI_DOUBLE, a->ranks[i], 0, s->comm, &requests[n++]);
  pack(s);
  for (int i = 0; i < a->neighbors; i++)
    MPI_Isend(s->packed + a->senddispls[i], a->sendcounts[i], MPI_DOUBLE, a->ranks[i], 0, s->comm, &requests[n++]);
  MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}

static void put_all(solver *s) {
  const matrix *a = s->a;
  for (int i = 0; i < a->neighbors; i++)
    MPI_Put(s->packed + a->senddispls[i], a->sendcounts[i], MPI_DOUBLE, a->ranks[i], a->rows + s->peer_displs[i],
            a->sendcounts[i], MPI_DOUBLE, s->window);
}

static void exchange_fence(solver *s) {
  pack(s);
  MPI_Win_fence(MPI_MODE_NOPRECEDE, s->window);
  put_all(s);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, s->window);
}

static void exchange_pscw(solver *s) {
  pack(s);
  MPI_Win_post(s->group, 0, s->window);
  MPI_Win_start(s->group, 0, s->window);
  put_all(s);
  MPI_Win_complete(s->window);
  MPI_Win_wait(s->window);
}

static void exchange_alone(void *on) { ((solver *)on)->exchange(on); }

/* Collective. A solver for each form. All have the same neighborhood. Those that have no window are
   left without `p`. */
static void make_forms(solver *solvers, const matrix *a, const options *o, MPI_Comm comm) {
  static void (*const exchanges[FORMS])(solver *) = {exchange_plan, exchange_messages, exchange_fence, exchange_pscw};
  size_t entries = (size_t)a->rows + (size_t)a->ghosts;
  MPI_Group all;
  MPI_Comm_group(comm, &all);
  MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, a->neighbors, a->ranks, a->recvcounts, a->neighbors, a->ranks,
                        a->sendcounts, MPI_INFO_NULL, comm);
  for (int f = 0; f < FORMS; f++) {
    solver *s = &solvers[f];
    *s = make_solver(a, o->iterations, comm);
    s->exchange = exchanges[f];
    s->allocated = o->allocated;
    if (f < FENCE) s->p = allocate(entries, sizeof(double));
    else if (f == FENCE || solvers[FENCE].p != NULL)
      s->p = make_window(entries, sizeof(double), o->allocated, comm, &s->window);
    MPI_Group_incl(all, a->neighbors, a->ranks, &s->group);
    /* a neighborhood serves here too: each tells each where its points begin */
    MPIX_Neighbor_alltoall(a->recvdispls, 1, MPI_INT, s->peer_displs, 1, MPI_INT, comm);
  }
  solver *s = &solvers[PLAN];
  MPIX_Neighbor_alltoallv_plan(s->packed, a->sendcounts, a->senddispls, MPI_DOUBLE, s->p + a->rows, a->recvcounts,
                               a->recvdispls, MPI_DOUBLE, comm, MPI_INFO_NULL, &s->plan);
  MPI_Group_free(&all);
}

static void free_forms(solver *solvers) {
  MPIX_Request_free(&solvers[PLAN].plan);
  for (int f = 0; f < FORMS; f++) {
    if (f < FENCE) free(solvers[f].p);
    else free_window(solvers[f].p, solvers[f].allocated, &solvers[f].window);
    MPI_Group_free(&solvers[f].group);
    free_solver(&solvers[f]);
  }
}

/* --------------------------------------------------------------------------------------- checks */

/* Collective. The largest difference of an entry of x from 1. */
static double error_of(const solver *s) {
  double error = 0.0;
  for (int i = 0; i < s->a->rows; i++) {
    double difference = fabs(s->x[i] - 1.0);
    error = isnan(difference) ? INFINITY : fmax(error, difference);
  }
  MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, s->comm);
  return error;
}

/* The largest difference between residuals of the same iteration, relative to the first residual,
   of a serial run. */
static double serial_error(const options *o, const int dims[3], const double *history) {
  const int alone[3] = {1, 1, 1};
  int cells[3];
  for (int d = 0; d < 3; d++) cells[d] = o->cells[d] * dims[d];
  matrix a = make_matrix(cells, alone, 0);
  solver s = make_solver(&a, o->iterations, MPI_COMM_NULL);
  s.p = allocate((size_t)a.rows, sizeof(double));
  solve(&s);
  double error = 0.0;
  for (int k = 0; k <= o->iterations; k++) {
    double difference = fabs(s.history[k] - history[k]) / s.history[0];
    error = isnan(difference) ? INFINITY : fmax(error, difference);
  }
  free(s.p);
  free_solver(&s);
  free_matrix(&a);
  return error;
}

/* The same exit code on all processes. */
static int run(const options *o, MPI_Comm world) {
  static const char *const names[FORMS] = {"plan", "messages", "fence", "pscw"};
  int rank, P, dims[3] = {0, 0, 0};
  MPI_Comm comm;
  MPI_Comm_dup(world, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &P);
  MPI_Dims_create(P, 3, dims);
  matrix a = make_matrix(o->cells, dims, rank);
  solver solvers[FORMS];
  make_forms(solvers, &a, o, comm);

  form solving[FORMS], exchanging[FORMS];
  double seconds[FORMS];
  for (int f = 0; f < FORMS; f++) {
    int skipped = solvers[f].p == NULL;
    solving[f] = (form){names[f], skipped ? NULL : solve, &solvers[f]};
    exchanging[f] = (form){names[f], skipped ? NULL : exchange_alone, &solvers[f]};
  }
  if (rank == 0) {
    printf("%d processes of %d x %d x %d points, %d x %d x %d processes; windows by MPI_Win_%s\n", P, o->cells[0],
           o->cells[1], o->cells[2], dims[0], dims[1], dims[2], o->allocated ? "allocate" : "create");
    print_names("us (ratio to the plan)", solving, FORMS);
  }
  int rounds = time_forms(exchanging, FORMS, o->rounds, o->seconds, comm, seconds);
  if (rank == 0) print_times("one exchange", seconds, FORMS, rounds);
  rounds = time_forms(solving, FORMS, o->rounds, o->seconds, comm, seconds);
  char label[40];
  snprintf(label, sizeof label, "%d iterations", o->iterations);
  if (rank == 0) print_times(label, seconds, FORMS, rounds);

  const double *history = solvers[PLAN].history;
  int ok = 1;
  double error = 0.0, serial = 0.0;
  for (int f = 0; f < FORMS; f++) {
    if (solvers[f].p == NULL) continue;
    error = fmax(error, error_of(&solvers[f]));
    int equal = memcmp(history, solvers[f].history, ((size_t)o->iterations + 1) * sizeof *history) == 0;
    if (!equal) printf("hpccg: process %d: residuals by %s DIFFER from those by the plan\n", rank, names[f]);
    ok = ok && equal;
  }
  int serially = (long long)a.rows * P <= MOST_SERIAL_ROWS;
  if (serially && rank == 0) serial = serial_error(o, dims, history);
  ok = ok && serial <= 1e-10;
  /* each row of the matrix has at least 1 more on the diagonal than beside it: no error is larger
     than its residual; another 1e-10 is for rounding */
  ok = ok && error <= history[o->iterations] + 1e-10;
  MPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_LAND, comm);
  if (rank == 0) {
    printf("residual %.6e at first, %.6e at last; x within %.1e of the solution\n", history[0], history[o->iterations],
           error);
    if (serially) printf("residuals within %.1e of the serial run's\n", serial);
    else printf("too many points for a serial run\n");
    printf("hpccg: results %s %s\n", ok ? "agree with" : "DIFFER from",
           serially ? "each other, the solution and the serial run" : "each other and the solution");
  }
  free_forms(solvers);
  free_matrix(&a);
  MPI_Comm_free(&comm);
  return ok ? 0 : 1;
}

/* Returns the argument that is wrong, or NULL. Past the end of argv stands a NULL, which no parser
   accepts. */
static const char *parse(char **argv, options *o) {
  *o = (options){.cells = {8, 8, 8}, .iterations = 20, .rounds = 15, .seconds = 2};
  for (char **a = argv + 1; *a != NULL; a++) {
    const char *name = *a;
    int ok = 1;
    if (strcmp(name, "--cells") == 0) {
      for (int d = 0; ok && d < 3; d++) ok = parse_int(a[1], 1, 1000, &o->cells[d]) && *++a != NULL;
      ok = ok && (long long)o->cells[0] * o->cells[1] * o->cells[2] <= INT_MAX / 32;
    } else if (strcmp(name, "--iterations") == 0) {
      ok = parse_int(a[1], 1, MOST_ITERATIONS, &o->iterations) && *++a != NULL;
    } else if (strcmp(name, "--window") == 0) {
      ok = parse_window(a[1], &o->allocated) && *++a != NULL;
    } else if (strcmp(name, "--rounds") == 0) {
      ok = parse_int(a[1], 1, MOST_ROUNDS, &o->rounds) && *++a != NULL;
    } else if (strcmp(name, "--seconds") == 0) {
      ok = parse_int(a[1], 0, 1000, &o->seconds) && *++a != NULL;
    } else if (strcmp(name, "--help") == 0) {
      o->help = 1;
    } else {
      ok = 0;
    }
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
    code = show_usage(rank, "hpccg", wrong, usage);
  } else {
    code = run(&o, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return code;
}
