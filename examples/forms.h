/* Runs the same work in several forms side by side, and prints what each takes; shared by the
 * examples that compare this library with MPI's one-sided operations and with messages by hand.
 *
 * Forms take turns in rounds, so that a change in the machine's speed meets all of them. The
 * slowest process counts in each round, and the median of the rounds is the result. */

#ifndef EXAMPLES_FORMS_H
#define EXAMPLES_FORMS_H

#include "common.h"
#include "options.h"
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One form of the work: `run` is collective over the communicator that times it. Forms whose
   `run` is NULL are skipped. */
typedef struct {
  const char *name;
  void (*run)(void *on);
  void *on;
} form;

enum { MOST_FORMS = 10, MOST_ROUNDS = 99, LEAST_ROUNDS = 3 };

/* Collective. Memory of zeros that others may access by MPI's one-sided operations: `allocated` by
   MPI, which can then place it in memory that the processes of a node share, or the program's own.
   If the MPI fails, process 0 says so and all processes get NULL: Open MPI 4.1 has no window of a
   program's own memory for a process that is alone (MPI_ERR_WIN). `comm` must live as long as the
   window: MPICH 4.0 takes a window whose communicator has been freed for a later one. */
static inline void *make_window(size_t count, size_t size, int allocated, MPI_Comm comm, MPI_Win *window) {
  void *base = NULL;
  if (count == 0) count = 1; /* so that there is an address */
  MPI_Aint bytes = (MPI_Aint)(count * size);
  MPI_Errhandler handler;
  int rank, failed;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_get_errhandler(comm, &handler);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN); /* for this call: the window keeps the default */
  if (allocated) {
    failed = MPI_Win_allocate(bytes, (int)size, MPI_INFO_NULL, comm, &base, window);
  } else {
    base = allocate(count, size);
    failed = MPI_Win_create(base, bytes, (int)size, MPI_INFO_NULL, comm, window);
  }
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Errhandler_free(&handler);
  if (failed != MPI_SUCCESS && rank == 0) {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(failed, text, &length);
    printf("MPI_Win_%s fails: %s; forms that need it are skipped\n", allocated ? "allocate" : "create", text);
  }
  int any = failed != MPI_SUCCESS;
  MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_LOR, comm);
  if (any) {
    if (!allocated) free(base);
    return NULL;
  }
  if (allocated) memset(base, 0, count * size);
  MPI_Barrier(comm); /* no process writes before all have cleared */
  return base;
}

/* Collective. Takes what make_window returned. */
static inline void free_window(void *base, int allocated, MPI_Win *window) {
  if (base == NULL) return;
  MPI_Win_free(window);
  if (!allocated) free(base);
}

/* The kind of memory for make_window: "create" or "allocate". */
static inline int parse_window(const char *text, int *allocated) {
  if (text == NULL) return 0;
  *allocated = strcmp(text, "allocate") == 0;
  return *allocated || strcmp(text, "create") == 0;
}

/* Collective. Seconds that a call of each form takes, NAN for those that are skipped. In each round
   each form is called once before its clock starts; short ones are called often, and a few times
   more after the clock has stopped, which keeps processes that are done from waiting in MPI_Barrier
   on a core that others need. Ends after `rounds`, or after about `budget` seconds, but not before
   LEAST_ROUNDS unless `rounds` are fewer. Returns the number of rounds. */
static inline int time_forms(const form *forms, int count, int rounds, double budget, MPI_Comm comm,
                              double *seconds) {
  static double times[MOST_FORMS][MOST_ROUNDS];
  double estimate[MOST_FORMS] = {0}, begin = MPI_Wtime();
  int calls[MOST_FORMS] = {0}, done = 0, more = 1;
  if (rounds > MOST_ROUNDS) rounds = MOST_ROUNDS;
  const int least = rounds < LEAST_ROUNDS ? rounds : LEAST_ROUNDS;
  /* first calls prepare more than later ones: short ones are estimated again */
  for (int pass = 0; pass < 2; pass++) {
    for (int f = 0; f < count; f++) {
      if (forms[f].run == NULL || (pass > 0 && estimate[f] > budget / 100)) continue;
      MPI_Barrier(comm);
      double t = MPI_Wtime();
      forms[f].run(forms[f].on);
      estimate[f] = MPI_Wtime() - t;
    }
    MPI_Allreduce(MPI_IN_PLACE, estimate, count, MPI_DOUBLE, MPI_MAX, comm);
  }
  for (int f = 0; f < count; f++) {
    double wanted = budget / (1.5 * count * rounds * fmax(estimate[f], 1e-9));
    calls[f] = (int)fmax(1.0, fmin(wanted, 200.0));
  }
  while (more) {
    for (int k = 0; k < count; k++) {
      int f = (k + done) % count, trailing = calls[f] >= 16 ? 4 : 0;
      if (forms[f].run == NULL) continue;
      MPI_Barrier(comm);
      forms[f].run(forms[f].on);
      double t = MPI_Wtime();
      for (int i = 0; i < calls[f]; i++) forms[f].run(forms[f].on);
      times[f][done] = (MPI_Wtime() - t) / calls[f];
      for (int i = 0; i < trailing; i++) forms[f].run(forms[f].on);
    }
    done++;
    more = done < least || (done < rounds && MPI_Wtime() - begin < budget);
    MPI_Bcast(&more, 1, MPI_INT, 0, comm); /* clocks differ: all follow process 0 */
  }
  for (int f = 0; f < count; f++) {
    if (forms[f].run == NULL) {
      seconds[f] = NAN;
      continue;
    }
    MPI_Allreduce(MPI_IN_PLACE, times[f], done, MPI_DOUBLE, MPI_MAX, comm);
    seconds[f] = median(times[f], done);
  }
  return done;
}

/* Names of the forms, as the head of columns that print_times fills. */
static inline void print_names(const char *label, const form *forms, int count) {
  printf("%-22s", label);
  for (int f = 0; f < count; f++) printf("%12s%s", forms[f].name, f > 0 ? "          " : "");
  printf("\n");
}

/* Microseconds of each form, in parentheses their ratio to the first form, and at the end the
   rounds. */
static inline void print_times(const char *label, const double *seconds, int count, int rounds) {
  printf("%-22s", label);
  for (int f = 0; f < count; f++) {
    if (isnan(seconds[f])) printf("%12s%s", "-", f > 0 ? "          " : "");
    else if (f == 0) printf("%12.2f", seconds[f] * 1e6);
    else printf("%12.2f (%7.2f)", seconds[f] * 1e6, seconds[f] / seconds[0]);
  }
  printf("  (median of %d round%s)\n", rounds, rounds == 1 ? "" : "s");
  fflush(stdout);
}

#endif
