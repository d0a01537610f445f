/* Known faults of MPIs, for programs that show them with MPI alone. */
#ifndef FLAWS_H
#define FLAWS_H
#include "test.h"

/* the first number behind `name` in what the MPI says of its version; 0 if that lacks the name */
static inline int version_behind(const char *name) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(version, &length);
  const char *at = strstr(version, name);
  return at ? atoi(at + strlen(name)) : 0;
}

/* true for Open MPI 5 and later, whose MPI_Win_test ends epochs too early */
static inline int is_open_mpi_5(void) { return version_behind("Open MPI v") >= 5; }

/* true for MPICH 5 and later, which writes a file at the first message of a communicator, and dies
   of it under a low limit on file sizes */
static inline int is_mpich_5(void) { return version_behind("MPICH Version:") >= 5; }

/* true for an MPICH over UCX, whose MPI_Win_complete returns too early */
static inline int is_mpich_over_ucx(void) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING], device[64] = "";
  int length;
  MPI_Get_library_version(version, &length);
  const char *line = strstr(version, "MPICH Device");
  if (line) sscanf(line, "MPICH Device: %63[^\n]", device);
  return strstr(device, "ucx") != NULL;
}

/* true where the library has passive targets alone, whatever is asked for */
static inline int are_epochs_flawed(void) { return is_mpich_over_ucx() || is_open_mpi_5(); }

/* the assertion of epochs that start where all targets have posted: Open MPI's osc/sm loses count
   of epochs with MPI_MODE_NOCHECK */
#ifdef MPICH_VERSION
enum { EPOCH = MPI_MODE_NOCHECK };
#else
enum { EPOCH = 0 };
#endif

/* ends a test of what is known to be wrong */
static inline int skip(void) {
  if (test_rank == 0) printf("skipped: this MPI is known to be wrong\n");
  CHECK(1, "skipped");
  return test_finish();
}
#endif
