/* The cost of the front: a call of MPIX_Neighbor_get_version through it, beside one of the same
   function in the library behind it, in nanoseconds. On one process:

     make flavors build/mpicc.openmpi/front MPICC=mpicc.openmpi
     mpirun.openmpi -n 1 build/mpicc.openmpi/front build/flavors ompi

   The last argument is the flavor of the MPI that runs. Batches of both alternate; the medians
   count. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCHES = 101, CALLS = 1000000 };
typedef int get_version(int *, int *, int *);

static int compare(const void *a, const void *b) { return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b); }

static get_version *load(const char *folder, const char *file) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.so", folder, file);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL), *found = library ? dlsym(library, "MPIX_Neighbor_get_version") : NULL;
  if (!found) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  get_version *function;
  memcpy(&function, &found, sizeof found);
  return function;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  char name[64];
  snprintf(name, sizeof name, "libmpix_neighbor_%s", argc > 2 ? argv[2] : "ompi");
  const char *folder = argc > 1 ? argv[1] : "build/flavors";
  get_version *volatile functions[2] = {load(folder, name), load(folder, "libmpix_neighbor")};
  static double times[2][BATCHES], differences[BATCHES];
  int major, minor, patch;
  for (int batch = 0; batch < BATCHES; batch++) {
    for (int k = 0; k < 2; k++) {
      get_version *function = functions[k];
      function(&major, &minor, &patch);
      double begin = MPI_Wtime();
      for (int i = 0; i < CALLS; i++) function(&major, &minor, &patch);
      times[k][batch] = (MPI_Wtime() - begin) / CALLS * 1e9;
    }
    differences[batch] = times[1][batch] - times[0][batch];
  }
  for (int k = 0; k < 2; k++) qsort(times[k], BATCHES, sizeof(double), compare);
  qsort(differences, BATCHES, sizeof(double), compare);
  printf("direct %.2f ns, through the front %.2f ns; difference %.2f ns (quartiles %.2f and %.2f)\n", times[0][BATCHES / 2], times[1][BATCHES / 2],
         differences[BATCHES / 2], differences[BATCHES / 4], differences[3 * BATCHES / 4]);
  MPI_Finalize();
  return 0;
}
