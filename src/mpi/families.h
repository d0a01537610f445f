/* Families of MPIs: those whose handles and constants agree share a library. For the library itself
   and for its front (front/front.c). */
#ifndef MPIXN_FAMILIES_H
#define MPIXN_FAMILIES_H
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

enum { MPIXN_OPEN_MPI, MPIXN_MPICH, MPIXN_STANDARD, MPIXN_FAMILIES };

/* the name, the one in file names, and a symbol that all MPIs of the family export: one of mpi.h's,
   so that it cannot go. The standard ABI has no such symbol */
static const struct {
  const char *name, *flavor, *marker;
} mpixn_families[MPIXN_FAMILIES] = {
    {"Open MPI", "ompi", "ompi_mpi_comm_world"},
    {"MPICH", "mpich", "MPIR_Dup_fn"},
    {"MPI-5 standard ABI", "abi", NULL},
};

/* The families, as bits, whose MPI is in `scope`: a handle of dlopen, or RTLD_DEFAULT. */
static inline unsigned mpixn_families_in(void *scope) {
  int (*abi_version)(int *, int *), major = -1, minor = -1;
  void *found = dlsym(scope, "MPI_Abi_get_version");
  memcpy(&abi_version, &found, sizeof found);
  /* the same MPI's library without the standard ABI has the function too, and says -1. The one with
     it may need the other library: markers do not count */
  if (found && abi_version(&major, &minor) == 0 && major > 0) return 1u << MPIXN_STANDARD;
  unsigned families = 0;
  for (int i = 0; i < MPIXN_STANDARD; i++)
    if (dlsym(scope, mpixn_families[i].marker)) families |= 1u << i;
  return families;
}
#endif
