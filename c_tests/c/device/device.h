/* Tests with device memory: the stand-in driver, and memory of each kind. The driver is loaded by
   the program, as that of a GPU is: TEST_DRIVER = cuda (default), hip6 or hip5 says which one. */
#ifndef DEVICE_H
#define DEVICE_H

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEVICE, MANAGED, REGISTERED, HOST };

static void *(*standin_allocate)(size_t bytes, int kind, void *where);
static void (*standin_free)(void *at);
static void *(*standin_alias)(const void *at);
static int (*standin_asked)(void);

static inline void *standin_function(void *library, const char *name) {
  void *function = dlsym(library, name);
  if (!function) {
    fprintf(stderr, "the stand-in has no %s\n", name);
    exit(2);
  }
  return function;
}

/* loads the driver from the folder `drivers` beside the program */
static inline void standin_load(void) {
  const char *driver = getenv("TEST_DRIVER");
  const char *name = !driver || !strcmp(driver, "cuda") ? "libcuda.so.1" : !strcmp(driver, "hip6") ? "libamdhip64.so.6" : "libamdhip64.so.5";
  char path[PATH_MAX + 64];
  ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
  while (length > 0 && path[length - 1] != '/') length--;
  sprintf(path + length, "drivers/%s", name);
  void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    exit(2);
  }
  *(void **)&standin_allocate = standin_function(library, "standin_allocate");
  *(void **)&standin_free = standin_function(library, "standin_free");
  *(void **)&standin_alias = standin_function(library, "standin_alias");
  *(void **)&standin_asked = standin_function(library, "standin_asked");
}

/* memory of a kind: what is given to MPI, and where the test reads and writes the same ints */
typedef struct {
  int *at, *image, ints, kind;
} memory;

static inline memory memory_of(int ints, int fill, int kind) {
  size_t bytes = (size_t)(ints ? ints : 1) * sizeof(int);
  memory m = {kind == HOST ? malloc(bytes) : standin_allocate(bytes, kind, NULL), NULL, ints, kind};
  if (!m.at) {
    fprintf(stderr, "no memory of kind %d\n", kind);
    exit(2);
  }
  m.image = kind == DEVICE ? standin_alias(m.at) : m.at;
  for (int i = 0; i < ints; i++) m.image[i] = fill;
  return m;
}

static inline void memory_free(memory *m) {
  if (m->kind == HOST) free(m->at);
  else standin_free(m->at);
}

#endif
