/* What the fronts share: the families that there are libraries for, and how a process ends for
   which there is none. LIBRARY is what the files' names begin with. */
#ifndef MPIXN_FLAVOR_H
#define MPIXN_FLAVOR_H
#include "../src/mpi/families.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ends the process, as the library does under the wrong MPI: no error handler can be called */
static _Noreturn void end(const char *format, ...) {
  static int ending;
  /* another thread says it */
  while (__atomic_exchange_n(&ending, 1, __ATOMIC_ACQ_REL)) pause();
  char text[4096] = "mpix-neighbor: ";
  size_t room = sizeof text - 32, length = strlen(text);
  va_list list;
  va_start(list, format);
  int printed = vsnprintf(text + length, room - length, format, list);
  va_end(list);
  length += printed < 0 ? 0 : (size_t)printed < room - length ? (size_t)printed : room - length - 1;
  length += (size_t)sprintf(text + length, ". The program ends here.\n");
  /* a single write, so that the lines of several processes do not mix; its failure cannot be
     reported */
  if (write(STDERR_FILENO, text, length) < 0) _exit(1);
  _exit(1);
}

/* the file of the library for a family, in the folder of this one */
struct file {
  char path[4096];
};

/* where this library lies, as it was named to the loader */
static const char *own_path(void) {
  Dl_info own;
  if (!dladdr(mpixn_families, &own) || !own.dli_fname) end("the loader does not tell where " LIBRARY ".so lies");
  return own.dli_fname;
}

static struct file file_for(int family) {
  struct file file;
  const char *own = own_path(), *slash = strrchr(own, '/');
  int folder = slash ? (int)(slash - own) : 1;
  int printed = snprintf(file.path, sizeof file.path, "%.*s/" LIBRARY "_%s.so", folder, slash ? own : ".", mpixn_families[family].flavor);
  if (printed < 0 || (size_t)printed >= sizeof file.path) end("the path of " LIBRARY ".so is too long");
  return file;
}

/* the families that there are libraries for, for people */
static const char *libraries(char *text, size_t room) {
  size_t length = 0;
  *text = 0;
  for (int i = 0; i < MPIXN_FAMILIES; i++)
    if (access(file_for(i).path, R_OK) == 0 && length < room)
      length += (size_t)snprintf(text + length, room - length, "%s%s", length ? ", " : "", mpixn_families[i].name);
  return length ? text : "none";
}

/* what the MPI says of itself, first line only; of a process that ends: the memory is not freed */
static const char *version(void) {
  int (*get)(char *, int *), length = 0;
  void *found = dlsym(RTLD_DEFAULT, "MPI_Get_library_version");
  memcpy(&get, &found, sizeof found);
  /* more than any MPI writes */
  char *text = calloc(1 << 16, 1);
  if (!found || !text || get(text, &length) != 0) return "";
  text[strcspn(text, "\r\n")] = 0;
  return text;
}

/* Ends the process if it has not loaded an MPI of exactly one family. Returns that one. */
static int only_family(unsigned families) {
  char have[256];
  if (!families) {
    const char *text = version();
    end("%s%s; there are libraries for: %s", *text ? "this is an unknown MPI: " : "no MPI is loaded in this process", text, libraries(have, sizeof have));
  }
  if (families & (families - 1)) end("several MPIs are loaded in this process; there are libraries for: %s", libraries(have, sizeof have));
  return __builtin_ctz(families);
}
#endif
