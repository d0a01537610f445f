/* Sparse matrix times vector, y = A x, and transposed, z = A' w: who needs what from whom is the
 * pattern of the matrix.
 *
 *   mpicc -std=c11 -O2 -Iinclude examples/spmv.c -lmpix_neighbor -lm -o spmv
 *   mpirun -n 4 ./spmv matrix.mtx
 *
 * Each process owns a block of rows with its part of y and w, and a block of columns with its part
 * of x and z.
 *
 *   y = A x    Rows have nonzeros in columns that others own: their entries of x, the ghost
 *              entries, are brought by MPIX_Neighbor_alltoallv. Sources are the owners of these
 *              columns, targets the processes that need ours.
 *   z = A' w   Rows contribute to entries of z that others own: contributions travel the same way
 *              back, over the reverse neighborhood, and MPIX_Neighbor_accumulatew adds them to what
 *              the owner has.
 *
 * A process knows whose columns its rows need, but not who needs its columns. With --discover it
 * sends the owners the list of what it needs by MPIX_Sparse_exchange, and gets the lists of those
 * that it did not know of; no memory or time is proportional to the number of processes. Without,
 * each process tells every other one, by MPI_Alltoall.
 *
 * The results are compared with a serial run on process 0. The exit code is 0 if they agree.
 *
 * No return code is looked at, of MPI_ and MPIX_ functions alike: communicators keep the default
 * error handler, MPI_ERRORS_ARE_FATAL, which this library calls as MPI does. */

#include "matrix.h"
#include <mpix_neighbor.h>

static const char usage[] =
    "usage: spmv FILE.mtx [options]\n"
    "  --repeat N        products and exchanges to time; fewer if they take more than 2 seconds (2000)\n"
    "  --schedule NAME   the library's schedule: info key mpix_schedule (auto)\n"
    "  --discover        find out who needs what by MPIX_Sparse_exchange, not by MPI_Alltoall\n"
    "  --statistics P[,P...]\n"
    "                    only print how many neighbors a process has if P processes share the matrix; one process is\n"
    "                    enough\n";

/* Most processes that statistics are made for. */
enum { MOST_PROCESSES = 1 << 24 };

/* --------------------------------------------------------------------------- distributed matrix */

/* Columns are numbered anew: first those that the process owns, then the ghost columns, in the
   order of the whole matrix and so source by source. A vector of all these columns is what the rows
   need of x, and what they contribute to z. */
typedef struct {
  matrix a;       /* the process's rows; columns numbered as said */
  int own;        /* columns that the process owns */
  int ghosts;     /* columns that others own and that its rows need */
  int *ghost;     /* their numbers in the whole matrix, ascending */
  int indegree;   /* processes that own ghost columns */
  int *sources, *recvcounts, *recvdispls;
  int outdegree;  /* processes that need columns of this one */
  int *targets, *sendcounts, *senddispls;
  int sends;      /* sum of sendcounts */
  int *send;      /* which of its own columns go out, target by target */
  /* arguments of accumulatew: a block of ghost entries for each source, and for each target the
     entries in which its contributions belong */
  MPI_Aint *ghost_places, *own_places;
  MPI_Datatype *ghost_types, *own_types;
  int *ones;
  /* neighborhoods for ghost entries, whose sources own them, and for contributions, the other way
     round */
  MPI_Comm comm;
} distributed;

/* Gives each process its rows; process 0 has the whole matrix. */
static void distribute_rows(const matrix *whole, matrix *mine, MPI_Comm comm) {
  int rank, P, sizes[2] = {0, 0};
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &P);
  if (rank == 0) {
    sizes[0] = whole->rows;
    sizes[1] = whole->columns;
  }
  MPI_Bcast(sizes, 2, MPI_INT, 0, comm);

  int *counts = allocate((size_t)P, sizeof *counts), *displs = allocate((size_t)P, sizeof *displs);
  for (int p = 0; p < P; p++) {
    displs[p] = block_start(sizes[0], P, p);
    counts[p] = block_start(sizes[0], P, p + 1) - displs[p];
  }
  mine->rows = counts[rank];
  mine->columns = sizes[1];
  mine->first = allocate((size_t)mine->rows + 1, sizeof *mine->first);

  /* where the rows start, then the nonzeros between the first row of a process and that of the next
     one */
  MPI_Scatterv(rank == 0 ? whole->first : NULL, counts, displs, MPI_INT, mine->first, mine->rows, MPI_INT, 0, comm);
  if (rank == 0) {
    for (int p = 0; p < P; p++) {
      int end = displs[p] + counts[p];
      displs[p] = whole->first[displs[p]];
      counts[p] = whole->first[end] - displs[p];
    }
  }
  int nonzeros;
  MPI_Scatter(counts, 1, MPI_INT, &nonzeros, 1, MPI_INT, 0, comm);
  int offset = mine->rows > 0 ? mine->first[0] : 0;
  mine->first[mine->rows] = offset + nonzeros;
  for (int i = 0; i <= mine->rows; i++) mine->first[i] -= offset;
  mine->column = allocate((size_t)nonzeros, sizeof *mine->column);
  mine->value = allocate((size_t)nonzeros, sizeof *mine->value);
  MPI_Scatterv(rank == 0 ? whole->column : NULL, counts, displs, MPI_INT, mine->column, nonzeros, MPI_INT, 0, comm);
  MPI_Scatterv(rank == 0 ? whole->value : NULL, counts, displs, MPI_DOUBLE, mine->value, nonzeros, MPI_DOUBLE, 0, comm);
  free(counts);
  free(displs);
}

/* Finds the ghost columns and numbers the columns of the rows anew. */
static void find_ghosts(distributed *d, int first_column) {
  int nonzeros = d->a.first[d->a.rows], last_column = first_column + d->own;
  d->ghost = allocate((size_t)nonzeros, sizeof *d->ghost);
  int n = 0;
  for (int k = 0; k < nonzeros; k++)
    if (d->a.column[k] < first_column || d->a.column[k] >= last_column) d->ghost[n++] = d->a.column[k];
  qsort(d->ghost, (size_t)n, sizeof *d->ghost, ascending_int);
  d->ghosts = 0;
  for (int k = 0; k < n; k++)
    if (k == 0 || d->ghost[k] != d->ghost[k - 1]) d->ghost[d->ghosts++] = d->ghost[k];

  for (int k = 0; k < nonzeros; k++) {
    int *c = &d->a.column[k];
    if (*c >= first_column && *c < last_column) {
      *c -= first_column;
    } else {
      int *found = bsearch(c, d->ghost, (size_t)d->ghosts, sizeof *c, ascending_int);
      *c = d->own + (int)(found - d->ghost);
    }
  }
}

/* From a count for each process of the communicator: the processes with a count, their counts, and
   where each one's part starts. Returns how many there are. */
static int keep_nonzero(int P, const int *all, int **ranks, int **counts, int **displs) {
  int degree = 0, sum = 0;
  for (int p = 0; p < P; p++) degree += all[p] > 0;
  *ranks = allocate((size_t)degree, sizeof **ranks);
  *counts = allocate((size_t)degree, sizeof **counts);
  *displs = allocate((size_t)degree, sizeof **displs);
  degree = 0;
  for (int p = 0; p < P; p++) {
    if (all[p] == 0) continue;
    (*ranks)[degree] = p;
    (*counts)[degree] = all[p];
    (*displs)[degree++] = sum;
    sum += all[p];
  }
  return degree;
}

/* Who needs what from whom. A process knows its sources, the owners of its ghost columns. Its
   targets, the processes that need its columns, only these themselves know: each tells all owners
   how many columns it needs, and then which ones. That costs memory and time proportional to the
   number of processes, once. */
static void find_neighbors(distributed *d, int columns, int first_column, MPI_Comm comm) {
  int P;
  MPI_Comm_size(comm, &P);
  int *needed = allocate((size_t)P, sizeof *needed), *wanted = allocate((size_t)P, sizeof *wanted);
  for (int k = 0; k < d->ghosts; k++) needed[block_owner(columns, P, d->ghost[k])]++;
  MPI_Alltoall(needed, 1, MPI_INT, wanted, 1, MPI_INT, comm);
  d->indegree = keep_nonzero(P, needed, &d->sources, &d->recvcounts, &d->recvdispls);
  d->outdegree = keep_nonzero(P, wanted, &d->targets, &d->sendcounts, &d->senddispls);

  int *needed_at = allocate((size_t)P, sizeof *needed_at), *wanted_at = allocate((size_t)P, sizeof *wanted_at);
  for (int p = 0; p + 1 < P; p++) {
    needed_at[p + 1] = needed_at[p] + needed[p];
    wanted_at[p + 1] = wanted_at[p] + wanted[p];
  }
  d->sends = wanted_at[P - 1] + wanted[P - 1];
  d->send = allocate((size_t)d->sends, sizeof *d->send);
  MPI_Alltoallv(d->ghost, needed, needed_at, MPI_INT, d->send, wanted, wanted_at, MPI_INT, comm);
  for (int k = 0; k < d->sends; k++) d->send[k] -= first_column;
  free(needed);
  free(wanted);
  free(needed_at);
  free(wanted_at);
}

/* The same where no process has a number for every other one. Ghost columns are ordered by owner:
   those of one owner are the message to it. What comes in is ordered by source: targets, counts,
   and the lists of columns one behind the other. */
static void discover_neighbors(distributed *d, int columns, int first_column, MPI_Comm comm) {
  int P;
  MPI_Comm_size(comm, &P);
  d->sources = allocate((size_t)d->ghosts, sizeof *d->sources);
  d->recvcounts = allocate((size_t)d->ghosts, sizeof *d->recvcounts);
  d->recvdispls = allocate((size_t)d->ghosts, sizeof *d->recvdispls);
  d->indegree = 0;
  for (int k = 0; k < d->ghosts; k++) {
    int owner = block_owner(columns, P, d->ghost[k]);
    if (d->indegree == 0 || d->sources[d->indegree - 1] != owner) {
      d->sources[d->indegree] = owner;
      d->recvdispls[d->indegree++] = k;
    }
    d->recvcounts[d->indegree - 1]++;
  }

  MPIX_Sparse_result wanted;
  MPI_Count sends;
  MPIX_Sparse_exchange(d->indegree, d->sources, d->ghost, d->recvcounts, d->recvdispls, MPI_INT, MPI_INT, MPI_INFO_NULL,
                       comm, &wanted);
  MPIX_Sparse_get_count(wanted, &d->outdegree, &sends);
  d->sends = (int)sends;
  d->targets = allocate((size_t)d->outdegree, sizeof *d->targets);
  d->sendcounts = allocate((size_t)d->outdegree, sizeof *d->sendcounts);
  d->senddispls = allocate((size_t)d->outdegree, sizeof *d->senddispls);
  d->send = allocate((size_t)d->sends, sizeof *d->send);
  MPIX_Sparse_get_messages(wanted, d->outdegree, d->targets, d->sendcounts, d->senddispls);
  MPIX_Sparse_copy(wanted, sends, d->send);
  MPIX_Sparse_free(&wanted);
  for (int k = 0; k < d->sends; k++) d->send[k] -= first_column;
}

/* The neighborhoods of both products. The weights are what travels: the entries of each message. */
static void set_neighborhoods(distributed *d, const char *schedule, MPI_Comm comm) {
  MPI_Info info;
  MPI_Info_create(&info);
  if (schedule != NULL) MPI_Info_set(info, "mpix_schedule", schedule);
  MPI_Comm_dup(comm, &d->comm);
  MPIX_Neighbor_alltoall_set(d->indegree, d->sources, d->recvcounts, d->outdegree, d->targets, d->sendcounts, info,
                             d->comm);
  MPIX_Neighborhood_reverse(MPIX_NEIGHBOR_ALLTOALL, MPIX_NEIGHBOR_ACCUMULATE, info, d->comm);
  MPI_Info_free(&info);
}

/* Says where contributions come from and where they belong: a target's are those entries that it
   was sent. */
static void describe_contributions(distributed *d) {
  d->ghost_places = allocate((size_t)d->indegree, sizeof *d->ghost_places);
  d->ghost_types = allocate((size_t)d->indegree, sizeof *d->ghost_types);
  for (int i = 0; i < d->indegree; i++) {
    d->ghost_places[i] = (MPI_Aint)(sizeof(double) * (size_t)(d->own + d->recvdispls[i]));
    d->ghost_types[i] = MPI_DOUBLE;
  }
  d->own_places = allocate((size_t)d->outdegree, sizeof *d->own_places);
  d->own_types = allocate((size_t)d->outdegree, sizeof *d->own_types);
  d->ones = allocate((size_t)d->outdegree, sizeof *d->ones);
  for (int i = 0; i < d->outdegree; i++) {
    d->ones[i] = 1;
    MPI_Type_create_indexed_block(d->sendcounts[i], 1, d->send + d->senddispls[i], MPI_DOUBLE, &d->own_types[i]);
    MPI_Type_commit(&d->own_types[i]);
  }
}

static distributed distribute(const matrix *whole, const char *schedule, int discover, MPI_Comm comm) {
  int rank, P;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &P);
  distributed d;
  distribute_rows(whole, &d.a, comm);
  int columns = d.a.columns, first_column = block_start(columns, P, rank);
  d.own = block_start(columns, P, rank + 1) - first_column;
  find_ghosts(&d, first_column);
  (discover ? discover_neighbors : find_neighbors)(&d, columns, first_column, comm);
  set_neighborhoods(&d, schedule, comm);
  describe_contributions(&d);
  return d;
}

static void free_distributed(distributed *d) {
  int *lists[] = {d->ghost,   d->sources,    d->recvcounts, d->recvdispls,
                  d->targets, d->sendcounts, d->senddispls, d->send};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) free(lists[i]);
  for (int i = 0; i < d->outdegree; i++) MPI_Type_free(&d->own_types[i]);
  free(d->ghost_places);
  free(d->own_places);
  free(d->ghost_types);
  free(d->own_types);
  free(d->ones);
  free_matrix(&d->a);
  MPI_Comm_free(&d->comm); /* removes its neighborhoods */
}

/* --------------------------------------------------------------------------------- the products */

/* The vectors of one process. `x` and `z` have all columns that the rows know, `own` and then
   `ghosts`. */
typedef struct {
  double *x, *y, *w, *z;
  double *packed; /* as many as `send`: entries on their way out */
} vectors;

/* Brings the ghost entries of x. They arrive where they are used, behind the process's own
   entries. */
static void exchange_ghosts(const distributed *d, vectors *v) {
  for (int k = 0; k < d->sends; k++) v->packed[k] = v->x[d->send[k]];
  MPIX_Neighbor_alltoallv(v->packed, d->sendcounts, d->senddispls, MPI_DOUBLE, v->x + d->own, d->recvcounts,
                          d->recvdispls, MPI_DOUBLE, d->comm);
}

/* Takes the contributions to ghost entries of z home, and adds those that come in to the process's
   own entries, in the order of the source list, so that each run gives the same bits. */
static void exchange_contributions(const distributed *d, vectors *v) {
  MPIX_Neighbor_accumulatew(v->z, d->recvcounts, d->ghost_places, d->ghost_types, v->z, d->ones, d->own_places,
                            d->own_types, MPI_SUM, d->comm);
}

/* y = A x for rows that are all here, as in the serial run. */
static void multiply(const matrix *a, const double *x, double *y) {
  for (int i = 0; i < a->rows; i++) {
    double sum = 0.0;
    for (int k = a->first[i]; k < a->first[i + 1]; k++) sum += a->value[k] * x[a->column[k]];
    y[i] = sum;
  }
}

/* z = A' w, as far as these rows contribute to it. */
static void multiply_transposed(const matrix *a, int columns, const double *w, double *z) {
  for (int j = 0; j < columns; j++) z[j] = 0.0;
  for (int i = 0; i < a->rows; i++)
    for (int k = a->first[i]; k < a->first[i + 1]; k++) z[a->column[k]] += a->value[k] * w[i];
}

static void product(const distributed *d, vectors *v) {
  exchange_ghosts(d, v);
  multiply(&d->a, v->x, v->y);
}

static void transposed_product(const distributed *d, vectors *v) {
  multiply_transposed(&d->a, d->own + d->ghosts, v->w, v->z);
  exchange_contributions(d, v);
}

/* Entry i of x and of w: any numbers of both signs that each process can compute. */
static double entry_of_x(int i) { return (double)((i * 7919LL + 13) % 1009 - 500) / 256.0; }
static double entry_of_w(int i) { return (double)((i * 6007LL + 29) % 997 - 470) / 512.0; }

/* ----------------------------------------------------------------------------------- the timing */

enum { PRODUCT, GHOSTS, TRANSPOSED, CONTRIBUTIONS, KINDS, BATCHES = 25 };

static void (*const timed[KINDS])(const distributed *, vectors *) = {product, exchange_ghosts, transposed_product,
                                                                    exchange_contributions};

/* Seconds for each of the four: they take turns in batches, so that a change in the machine's speed
   meets all of them; the slowest process counts in each batch, and the median of the batches is the
   result. A call before the clock starts gets all processes going; a few after it has stopped keep
   those that are done from spinning in MPI_Barrier on a core that others still need. Ends after
   about 2 seconds. Spoils z, to which contributions are added again and again. */
static void measure(const distributed *d, vectors *v, int repeat, double seconds[KINDS]) {
  const double budget = 2.0;
  double start = MPI_Wtime(), estimate[KINDS], times[KINDS][BATCHES];
  int rank, calls[KINDS], batches = 0, more = 1;
  MPI_Comm_rank(d->comm, &rank);
  for (int k = 0; k < KINDS; k++) {
    timed[k](d, v);
    double t = MPI_Wtime();
    for (int i = 0; i < 4; i++) timed[k](d, v);
    estimate[k] = fmax((MPI_Wtime() - t) / 4, 1e-9);
  }
  MPI_Allreduce(MPI_IN_PLACE, estimate, KINDS, MPI_DOUBLE, MPI_MAX, d->comm);
  for (int k = 0; k < KINDS; k++)
    calls[k] = (int)fmax(1.0, fmin(repeat / (double)BATCHES, budget / (KINDS * BATCHES * estimate[k])));

  while (more) {
    for (int k = 0; k < KINDS; k++) {
      MPI_Barrier(d->comm);
      timed[k](d, v);
      double t = MPI_Wtime();
      for (int i = 0; i < calls[k]; i++) timed[k](d, v);
      times[k][batches] = (MPI_Wtime() - t) / calls[k];
      for (int i = 0; i < 4; i++) exchange_ghosts(d, v);
    }
    batches++;
    more = batches < BATCHES && batches < repeat && MPI_Wtime() - start < budget;
    MPI_Bcast(&more, 1, MPI_INT, 0, d->comm); /* clocks differ: all follow process 0 */
  }
  for (int k = 0; k < KINDS; k++) {
    MPI_Allreduce(MPI_IN_PLACE, times[k], batches, MPI_DOUBLE, MPI_MAX, d->comm);
    seconds[k] = median(times[k], batches);
  }
}

/* ---------------------------------------------------------------------------------- the results */

/* Brings the parts of a vector of n entries to process 0. */
static void gather(const double *part, int n, double *all, MPI_Comm comm) {
  int rank, P;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &P);
  int *counts = allocate((size_t)P, sizeof *counts), *displs = allocate((size_t)P, sizeof *displs);
  for (int p = 0; p < P; p++) {
    displs[p] = block_start(n, P, p);
    counts[p] = block_start(n, P, p + 1) - displs[p];
  }
  MPI_Gatherv(part, counts[rank], MPI_DOUBLE, all, counts, displs, MPI_DOUBLE, 0, comm);
  free(counts);
  free(displs);
}

/* Largest difference of two vectors, each entry relative to the sum of absolute values that it was
   added up from. */
static double largest_error(int n, const double *u, const double *v, const double *magnitude) {
  double largest = 0.0;
  for (int i = 0; i < n; i++) {
    double error = fabs(u[i] - v[i]);
    if (error != 0.0) error /= magnitude[i];
    if (isnan(error)) error = INFINITY;
    if (error > largest) largest = error;
  }
  return largest;
}

/* Compares y and z with a serial run on process 0; gives the errors there. */
static void check(const matrix *whole, const distributed *d, const vectors *v, int rows, int columns,
                  double errors[2]) {
  int rank;
  MPI_Comm_rank(d->comm, &rank);
  double *y = NULL, *z = NULL;
  if (rank == 0) {
    y = allocate((size_t)rows, sizeof *y);
    z = allocate((size_t)columns, sizeof *z);
  }
  gather(v->y, rows, y, d->comm);
  gather(v->z, columns, z, d->comm);
  if (rank != 0) return;

  /* first with absolute values, for the magnitudes, then as it is */
  size_t nonzeros = (size_t)whole->first[rows];
  double *x = allocate((size_t)columns, sizeof *x), *w = allocate((size_t)rows, sizeof *w);
  double *y_size = allocate((size_t)rows, sizeof *y), *z_size = allocate((size_t)columns, sizeof *z);
  double *y_serial = allocate((size_t)rows, sizeof *y), *z_serial = allocate((size_t)columns, sizeof *z);
  matrix absolute = *whole;
  absolute.value = allocate(nonzeros, sizeof *absolute.value);
  for (size_t k = 0; k < nonzeros; k++) absolute.value[k] = fabs(whole->value[k]);
  for (int j = 0; j < columns; j++) x[j] = fabs(entry_of_x(j));
  for (int i = 0; i < rows; i++) w[i] = fabs(entry_of_w(i));
  multiply(&absolute, x, y_size);
  multiply_transposed(&absolute, columns, w, z_size);
  for (int j = 0; j < columns; j++) x[j] = entry_of_x(j);
  for (int i = 0; i < rows; i++) w[i] = entry_of_w(i);
  multiply(whole, x, y_serial);
  multiply_transposed(whole, columns, w, z_serial);
  errors[0] = largest_error(rows, y, y_serial, y_size);
  errors[1] = largest_error(columns, z, z_serial, z_size);

  double *all[] = {y, z, x, w, y_size, z_size, y_serial, z_serial, absolute.value};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
}

/* Prints what the library says about the exchange that found the neighbors, and about these. */
static void print_choices(int discover, MPI_Comm world, MPI_Comm comm) {
  for (int which = discover ? 0 : 1; which < 2; which++) {
    int length;
    char *text = NULL;
    for (int room = 0; text == NULL; room = length + 1) { /* first the length, then the text */
      if (room > 0) text = allocate((size_t)room, 1);
      if (which == 0) MPIX_Sparse_describe(world, room, text, &length);
      else MPIX_Neighborhood_describe(MPIX_NEIGHBOR_ALLTOALL, comm, room, text, &length);
    }
    printf("%s%s", text, length > 0 && text[length - 1] == '\n' ? "" : "\n");
    free(text);
  }
}

/* A line for each process. */
static void print_distribution(const distributed *d) {
  enum { FIELDS = 7 };
  int rank, P;
  MPI_Comm_rank(d->comm, &rank);
  MPI_Comm_size(d->comm, &P);
  int mine[FIELDS] = {d->a.rows, d->own, d->a.first[d->a.rows], d->indegree, d->ghosts, d->outdegree, d->sends};
  int *all = rank == 0 ? allocate((size_t)P * FIELDS, sizeof *all) : NULL;
  MPI_Gather(mine, FIELDS, MPI_INT, all, FIELDS, MPI_INT, 0, d->comm);
  if (rank != 0) return;

  printf("process       rows    columns   nonzeros    sources     ghosts    targets    entries sent\n");
  for (int p = 0; p < P; p++) {
    const int *f = all + (size_t)p * FIELDS;
    printf("%7d %10d %10d %10d %10d %10d %10d %15d\n", p, f[0], f[1], f[2], f[3], f[4], f[5], f[6]);
  }
  free(all);
}

/* How many neighbors each of P processes would have: rows in blocks of about equal numbers of
   nonzeros, the vector in blocks of equal length. A process's sources own columns that its rows
   need; its targets have rows that need its columns. Source of the distribution: Hoefler, Siebert,
   Lumsdaine, Scalable Communication Protocols for Dynamic Sparse Data Exchange, section 5.3. */
static void print_statistics(const matrix *a, int P) {
  long long nonzeros = a->first[a->rows], sum = 0;
  int most_sources = 0, most_targets = 0, most_nonzeros = 0, row = 0;
  int *targets = allocate((size_t)P, sizeof *targets), *seen_by = allocate((size_t)P, sizeof *seen_by);
  for (int p = 0; p < P; p++) {
    /* its rows begin in its share of the nonzeros */
    int sources = 0, begin = a->first[row];
    for (; row < a->rows && (p + 1 == P || a->first[row] * (long long)P < nonzeros * (p + 1)); row++) {
      for (int k = a->first[row]; k < a->first[row + 1]; k++) {
        int owner = block_owner(a->columns, P, a->column[k]);
        if (owner == p || seen_by[owner] == p + 1) continue;
        seen_by[owner] = p + 1;
        sources++;
        targets[owner]++;
      }
    }
    sum += sources;
    if (sources > most_sources) most_sources = sources;
    if (a->first[row] - begin > most_nonzeros) most_nonzeros = a->first[row] - begin;
  }
  for (int p = 0; p < P; p++)
    if (targets[p] > most_targets) most_targets = targets[p];
  printf("%9d %14d %12.2f %12d %12d\n", P, most_nonzeros, (double)sum / P, most_sources, most_targets);
  free(targets);
  free(seen_by);
}

/* Reads the matrix on process 0, and prints its statistics for numbers of processes. The same exit
   code on all processes. */
static int statistics(const char *name, char *list, MPI_Comm world) {
  int rank, ok = 1, P;
  MPI_Comm_rank(world, &rank);
  if (rank == 0) {
    matrix whole = {0};
    ok = read_matrix(name, &whole);
    if (ok) {
      printf("%s: %d rows, %d columns, %d nonzeros\n", name, whole.rows, whole.columns, whole.first[whole.rows]);
      printf("processes  most nonzeros    average k  most sources most targets\n");
      for (; read_int(&list, 1, MOST_PROCESSES, &P); list += *list == ',') print_statistics(&whole, P);
      free_matrix(&whole);
    }
  }
  MPI_Bcast(&ok, 1, MPI_INT, 0, world);
  return ok ? 0 : 2;
}

/* Returns true if a text is numbers of processes with commas between them. */
static int is_list(char *text) {
  int P;
  while (read_int(&text, 1, MOST_PROCESSES, &P))
    if (*text++ != ',') return text[-1] == '\0';
  return 0;
}

/* The same exit code on all processes. */
static int run(const char *name, const char *schedule, int discover, int repeat, MPI_Comm world) {
  int rank, P, ok = 1;
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &P);
  matrix whole = {0}; /* stays empty on all processes but 0 */
  if (rank == 0) ok = read_matrix(name, &whole);
  MPI_Bcast(&ok, 1, MPI_INT, 0, world);
  if (!ok) return 2;

  distributed d = distribute(&whole, schedule, discover, world);
  int sizes[2] = {whole.rows, whole.columns};
  MPI_Bcast(sizes, 2, MPI_INT, 0, world);
  int rows = sizes[0], columns = sizes[1];
  if (rank == 0) printf("%s: %d rows, %d columns, %d nonzeros\n", name, rows, columns, whole.first[rows]);
  print_distribution(&d);
  if (rank == 0) print_choices(discover, world, d.comm);

  size_t local = (size_t)d.own + (size_t)d.ghosts, own_rows = (size_t)d.a.rows;
  vectors v = {.x = allocate(local, sizeof(double)), .y = allocate(own_rows, sizeof(double)),
               .w = allocate(own_rows, sizeof(double)), .z = allocate(local, sizeof(double)),
               .packed = allocate((size_t)d.sends, sizeof(double))};
  for (int j = 0; j < d.own; j++) v.x[j] = entry_of_x(block_start(columns, P, rank) + j);
  for (int i = 0; i < d.a.rows; i++) v.w[i] = entry_of_w(block_start(rows, P, rank) + i);

  product(&d, &v);
  transposed_product(&d, &v);
  double errors[2] = {0.0, 0.0};
  check(&whole, &d, &v, rows, columns, errors);
  ok = errors[0] <= 1e-12 && errors[1] <= 1e-12;
  MPI_Bcast(&ok, 1, MPI_INT, 0, world);

  double seconds[KINDS];
  measure(&d, &v, repeat, seconds);
  if (rank == 0) {
    for (int k = 0; k < KINDS; k++) seconds[k] *= 1e6;
    printf("y = A x   %10.2f us, exchange of it %10.2f us\n", seconds[PRODUCT], seconds[GHOSTS]);
    printf("z = A' w  %10.2f us, exchange of it %10.2f us\n", seconds[TRANSPOSED], seconds[CONTRIBUTIONS]);
    printf("spmv: results %s the serial run: y within %.1e, z within %.1e; "
           "processes %d, A x %.1f us (exchange %.1f), A' w %.1f us (exchange %.1f)\n",
           ok ? "agree with" : "DIFFER from", errors[0], errors[1], P, seconds[PRODUCT], seconds[GHOSTS],
           seconds[TRANSPOSED], seconds[CONTRIBUTIONS]);
  }

  double *all[] = {v.x, v.y, v.w, v.z, v.packed};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
  free_distributed(&d);
  free_matrix(&whole);
  return ok ? 0 : 1;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, code, ok = 1, help = 0, discover = 0, repeat = 2000;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char *name = NULL, *schedule = NULL, *wrong = NULL;
  char *counts = NULL;
  for (char **a = argv + 1; ok && *a != NULL; a++) { /* argv ends with a NULL */
    char *end = a[1];
    wrong = *a;
    if (strcmp(*a, "--help") == 0) {
      help = 1;
    } else if (strcmp(*a, "--discover") == 0) {
      discover = 1;
    } else if (strcmp(*a, "--statistics") == 0) {
      ok = a[1] != NULL && is_list(counts = *++a);
    } else if (strcmp(*a, "--schedule") == 0) {
      ok = a[1] != NULL && (schedule = *++a) != NULL;
    } else if (strcmp(*a, "--repeat") == 0) {
      ok = end != NULL && read_int(&end, 1, INT_MAX, &repeat) && *end == '\0' && *++a != NULL;
    } else {
      ok = **a != '-' && name == NULL;
      name = *a;
    }
  }
  if (help || !ok || name == NULL) {
    /* all processes have the same arguments, so that all come here */
    code = help && ok ? 0 : 2;
    if (rank == 0 && !ok) fprintf(stderr, "spmv: %s is not understood, or its value is wrong\n", wrong);
    if (rank == 0) fputs(usage, code == 0 ? stdout : stderr);
  } else {
    code = counts != NULL ? statistics(name, counts, MPI_COMM_WORLD) : run(name, schedule, discover, repeat, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return code;
}
