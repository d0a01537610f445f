/* The front of the preload libraries: one LD_PRELOAD for programs of every MPI. It takes nothing
   over. Before `main`, it finds the MPI that the program is linked to, puts the library for its
   family, libmpix_neighbor_preload_<flavor>.so, before itself into LD_PRELOAD, and runs the program
   anew. There it takes the library out of the variable again: it is loaded, and the program's
   children may run under no MPI, or another one.

   Jumps through a table, as the front of the main library has, would not do: a preload library must
   not export a name that the program's MPI lacks, as programs ask for names to learn what the MPI
   has; and what it exports must be there before other libraries are bound to it. */
#define _GNU_SOURCE
#define LIBRARY "libmpix_neighbor_preload"
#include "flavor.h"
#include <errno.h>
#include <sys/auxv.h>

/* True if these are the same bytes. */
static int same(const char *text, size_t length, const char *other) { return length == strlen(other) && memcmp(text, other, length) == 0; }

/* A file's name without its folder. */
static const char *name_of(const char *path, size_t length) {
  const char *slash = memrchr(path, '/', length);
  return slash ? slash + 1 : path;
}

/* Appends an entry to a list. */
static void add(char *list, const char *entry, size_t length) {
  if (*list) strcat(list, ":");
  strncat(list, entry, length);
}

/* A list for LD_PRELOAD without a library or, if `insert`, with it: before this library, or last
   where the list does not name this one, as /etc/ld.so.preload does. `there`: whether the list had
   it. */
static char *edited(const char *list, const char *library, int insert, int *there) {
  const char *own = own_path(), *own_name = name_of(own, strlen(own));
  char *text = calloc(strlen(list) + strlen(library) + 2, 1);
  if (!text) end("there is no memory for LD_PRELOAD");
  *there = 0;
  for (size_t length; *(list += strspn(list, " :")); list += length) {
    length = strcspn(list, " :");
    const char *name = name_of(list, length);
    if (same(list, length, library)) {
      *there = 1;
      continue;
    }
    if (insert && same(name, (size_t)(list + length - name), own_name)) {
      add(text, library, strlen(library));
      insert = 0;
    }
    add(text, list, length);
  }
  if (insert) add(text, library, strlen(library));
  return text;
}

__attribute__((constructor)) static void choose(int argc, char **argv, char **environment) {
  (void)argc, (void)environment;
  unsigned families = mpixn_families_in(RTLD_DEFAULT);
  /* shells and launchers, through which the variable passes */
  if (!families && !dlsym(RTLD_DEFAULT, "MPI_Get_library_version")) return;
  int family = only_family(families);
  struct file file = file_for(family);
  const char *list = getenv("LD_PRELOAD");
  if (!list) list = "";
  int there;
  char *plain = edited(list, file.path, 0, &there);
  if (there) {
    /* run anew; where this fails, children load the library too */
    setenv("LD_PRELOAD", plain, 1);
    return;
  }
  char have[256], program[4096];
  if (access(file.path, R_OK) != 0)
    end("this program runs under %s, and %s cannot be read: %s; there are preload libraries for: %s", mpixn_families[family].name, file.path,
        strerror(errno), libraries(have, sizeof have));
  /* the loader would look for parts of it and find none, and the program would be run again and
     again */
  if (file.path[strcspn(file.path, " :")]) end("%s cannot be preloaded: LD_PRELOAD holds no path with a blank or a colon", file.path);
  /* the loader counts as the program then */
  if (getauxval(AT_BASE) == 0) end("the loader was called by name: set LD_PRELOAD=%s", file.path);
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  program[length < 0 ? 0 : length] = 0;
  if (setenv("LD_PRELOAD", edited(list, file.path, 1, &there), 1) == 0) {
    /* by the file's own name, which ps and debuggers show; it may have been deleted or replaced */
    execv(program, argv);
    execv("/proc/self/exe", argv);
  }
  end("the program cannot be run again under %s: %s; set LD_PRELOAD to that", file.path, strerror(errno));
}
