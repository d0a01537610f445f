/* What several example programs need: memory, blocks of a range, medians, random numbers, and what
 * the library has chosen. */

#ifndef EXAMPLES_COMMON_H
#define EXAMPLES_COMMON_H

#include <mpi.h>
#include <mpix_neighbor.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void *resize(void *memory, size_t count, size_t size) {
  memory = count > SIZE_MAX / size ? NULL : realloc(memory, (count ? count : 1) * size);
  if (memory == NULL) {
    fprintf(stderr, "no memory for %zu elements of %zu bytes\n", count, size);
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  return memory;
}

/* Memory of zeros. */
static inline void *allocate(size_t count, size_t size) {
  void *memory = resize(NULL, count, size);
  return memset(memory, 0, (count ? count : 1) * size);
}

static inline int *ints(int count) { return allocate((size_t)count, sizeof(int)); }

/* First of the n things of process p of P, and the process that owns thing i; processes differ by
   one at most. */
static inline int block_start(int n, int P, int p) { return (int)((long long)n * p / P); }
static inline int block_owner(int n, int P, int i) { return (int)((((long long)i + 1) * P - 1) / n); }

static inline int ascending_int(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

static inline int ascending_double(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static inline double median(double *values, int n) {
  qsort(values, (size_t)n, sizeof *values, ascending_double);
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static inline uint64_t mix(uint64_t x) { /* the finalizer of splitmix64 */
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static inline uint64_t next_bits(uint64_t *stream) { return mix(*stream += 0x9e3779b97f4a7c15u); }

/* from 0 to below 1 */
static inline double next_real(uint64_t *stream) { return (double)(next_bits(stream) >> 11) * 0x1p-53; }

/* Prints `what`, then which protocol sparse exchanges on a communicator use, and why. */
static inline void print_choice(MPI_Comm comm, const char *what) {
  int length;
  MPIX_Sparse_describe(comm, 0, NULL, &length);
  char *text = allocate((size_t)length + 1, 1);
  MPIX_Sparse_describe(comm, length + 1, text, &length);
  printf("%s%s", what, text);
  free(text);
}

#endif
