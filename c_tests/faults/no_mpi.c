/* Loads libraries, each with its names to itself, of which the last is the front; then threads call
   a function of it at once. Not linked to any MPI. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 4 };
static int (*get_version)(int *, int *, int *);
static pthread_barrier_t together;

static void *call(void *major) {
  int minor, patch;
  pthread_barrier_wait(&together);
  return get_version(major, &minor, &patch) == 0 ? major : NULL;
}

int main(int argc, char **argv) {
  void *library = NULL;
  for (int i = 1; i < argc; i++)
    if (!(library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL))) return printf("%s\n", dlerror()), 2;
  void *found = library ? dlsym(library, "MPIX_Neighbor_get_version") : NULL;
  if (!found) return printf("no function\n"), 2;
  memcpy(&get_version, &found, sizeof found);
  pthread_t threads[THREADS];
  int majors[THREADS], right = 0;
  pthread_barrier_init(&together, NULL, THREADS);
  for (int i = 0; i < THREADS; i++) majors[i] = -1, pthread_create(&threads[i], NULL, call, &majors[i]);
  for (int i = 0; i < THREADS; i++) {
    void *result;
    pthread_join(threads[i], &result);
    right += result == &majors[i] && majors[i] == majors[0] && majors[i] >= 0;
  }
  printf("went on: %d of %d threads\n", right, THREADS);
  return right != THREADS;
}
