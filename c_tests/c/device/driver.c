/* A stand-in for the driver library of a GPU, for machines without one. Its device memory is mapped
   twice: at the address that the program gets nothing can be touched, so that a load or store there
   is a crash; at another one, which only the stand-in's MPI (mpi.c) and the test know, it can be
   read and written. Built as libcuda.so.1 (CUDA), and as libamdhip64.so.6 and .so.5 (HIP,
   HIP_VERSION 6 and 5), whose types have other values. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { DEVICE, MANAGED, REGISTERED };

typedef struct {
  char *at, *alias;
  size_t bytes;
  int kind;
} allocation;

enum { MOST = 4096 };
static allocation all[MOST];
static int count, asked, used;

static allocation *find(const void *address) {
  const char *p = address;
  for (int i = 0; i < count; i++)
    if (p >= all[i].at && p < all[i].at + all[i].bytes) return &all[i];
  return NULL;
}

/* memory of a kind, at `where` unless that is NULL, or NULL */
void *standin_allocate(size_t bytes, int kind, void *where) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  bytes = (bytes + page - 1) / page * page + page;
  int file = memfd_create("device", 0), fixed = where ? MAP_FIXED : 0;
  if (count == MOST || file < 0 || ftruncate(file, (off_t)bytes) != 0) return NULL;
  char *alias = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  char *at = mmap(where, bytes, kind == DEVICE ? PROT_NONE : PROT_READ | PROT_WRITE, MAP_SHARED | fixed, file, 0);
  close(file);
  if (at == MAP_FAILED || alias == MAP_FAILED) return NULL;
  all[count++] = (allocation){at, alias, bytes, kind};
  used = 1;
  return at;
}

void standin_free(void *at) {
  allocation *a = find(at);
  if (!a) return;
  munmap(a->at, a->bytes);
  munmap(a->alias, a->bytes);
  *a = all[--count];
}

/* where what lies at an address can be touched; NULL if it is not device memory */
void *standin_alias(const void *at) {
  allocation *a = find(at);
  return a && a->kind == DEVICE ? a->alias + ((const char *)at - a->at) : NULL;
}

/* how often the driver has been asked */
int standin_asked(void) { return asked; }

#ifndef HIP_VERSION

enum { CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_NOT_INITIALIZED = 3 };
enum { MEMORY_TYPE = 2, IS_MANAGED = 8, HOST = 1, ON_DEVICE = 2 };

int cuPointerGetAttributes(unsigned n, const int *attributes, void **data, uintptr_t address) {
  allocation *a = find((void *)address);
  asked++;
  /* before the first allocation the program has not initialized it */
  if (!used) return CUDA_ERROR_NOT_INITIALIZED;
  for (unsigned i = 0; i < n; i++) {
    unsigned *answer = data[i];
    if (attributes[i] == MEMORY_TYPE) *answer = !a ? 0 : a->kind == REGISTERED ? HOST : ON_DEVICE;
    else if (attributes[i] == IS_MANAGED) *answer = a && a->kind == MANAGED;
    else return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

/* two devices, of which the program uses the second one by the runtime */
int cuCtxGetCurrent(void **context) {
  *context = NULL;
  return used ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

int cuDeviceGetCount(int *devices) {
  *devices = 2;
  return used ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal + 70;
  return CUDA_SUCCESS;
}

int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) {
  *flags = 0, *active = used && device == 71;
  return CUDA_SUCCESS;
}

int cuMemGetAddressRange_v2(uintptr_t *base, size_t *bytes, uintptr_t address) {
  allocation *a = find((void *)address);
  if (!a || a->kind == REGISTERED) return CUDA_ERROR_INVALID_VALUE;
  *base = (uintptr_t)a->at, *bytes = a->bytes;
  return CUDA_SUCCESS;
}

#else

typedef struct {
  int kind, device;
  void *device_pointer, *host_pointer;
  int managed;
  unsigned flags;
} attributes;

#if HIP_VERSION >= 6
enum { HOST = 1, ON_DEVICE = 2, IS_MANAGED = 3 };
#else
enum { HOST = 0, ON_DEVICE = 1, IS_MANAGED = 4 };
#endif

static int last_error;

int hipRuntimeGetVersion(int *version) {
  *version = HIP_VERSION * 10000000 + 200000;
  return 0;
}

int hipPeekAtLastError(void) { return last_error; }

int hipGetLastError(void) {
  int error = last_error;
  last_error = 0;
  return error;
}

int hipPointerGetAttributes(attributes *answer, const void *address) {
  allocation *a = find(address);
  asked++;
  if (!a) return last_error = 1;
  memset(answer, 0, sizeof *answer);
  answer->kind = a->kind == DEVICE ? ON_DEVICE : a->kind == MANAGED ? IS_MANAGED : HOST;
  answer->managed = a->kind == MANAGED;
  answer->device_pointer = a->at;
  return 0;
}

int hipMemGetAddressRange(void **base, size_t *bytes, void *address) {
  allocation *a = find(address);
  if (!a || a->kind == REGISTERED) return last_error = 1;
  *base = a->at, *bytes = a->bytes;
  return 0;
}

#endif
