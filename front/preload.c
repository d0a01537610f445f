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

/* a file's name without its folder */
static const char *name_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* True if a list for LD_PRELOAD has an entry; a path as it is, or a file's name in any folder. */
static int has(const char *list, const char *entry, int by_name) {
  while (*(list += strspn(list, " :"))) {
    size_t length = strcspn(list, " :"), begin = 0;
    for (size_t i = 0; by_name && i < length; i++)
      if (list[i] == '/') begin = i + 1;
    if (length - begin == strlen(entry) && strncmp(list + begin, entry, length - begin) == 0) return 1;
    list += length;
  }
  return 0;
}

/* Appends an entry to a list. */
static void add(char *list, const char *entry, size_t length) {
  if (*list) strcat(list, ":");
  strncat(list, entry, length);
}

/* A list without an entry. */
static char *without(const char *list, const char *entry) {
  char *text = calloc(strlen(list) + 1, 1);
  if (!text) end("there is no memory for LD_PRELOAD");
  while (*(list += strspn(list, " :"))) {
    size_t length = strcspn(list, " :");
    if (length != strlen(entry) || strncmp(list, entry, length) != 0) add(text, list, length);
    list += length;
  }
  return text;
}

/* A list with an entry before this library's own, or, where that is not in the list as it is in
   /etc/ld.so.preload, before all others. */
static char *with(const char *list, const char *entry) {
  const char *own = name_of(own_path());
  char *text = calloc(strlen(list) + strlen(entry) + 2, 1);
  if (!text) end("there is no memory for LD_PRELOAD");
  int is_in = has(list, own, 1), is_added = 0;
  if (!is_in) add(text, entry, strlen(entry));
  while (*(list += strspn(list, " :"))) {
    size_t length = strcspn(list, " :");
    char one[length + 1];
    memcpy(one, list, length), one[length] = 0;
    if (is_in && !is_added && strcmp(name_of(one), own) == 0) add(text, entry, strlen(entry)), is_added = 1;
    add(text, list, length);
    list += length;
  }
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
  if (has(list, file.path, 0)) {
    /* run anew; that it is loaded again where this fails does no harm */
    setenv("LD_PRELOAD", without(list, file.path), 1);
    return;
  }
  char have[256], program[4096];
  if (access(file.path, R_OK) != 0)
    end("this program runs under %s, and %s cannot be read: %s; there are preload libraries for: %s", mpixn_families[family].name, file.path,
        strerror(errno), libraries(have, sizeof have));
  /* the loader counts as the program then */
  if (getauxval(AT_BASE) == 0) end("the loader was called by name: set LD_PRELOAD=%s", file.path);
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  program[length < 0 ? 0 : length] = 0;
  if (setenv("LD_PRELOAD", with(list, file.path), 1) == 0) {
    /* by the file's own name, which ps and debuggers show; it may have been deleted or replaced */
    execv(program, argv);
    execv("/proc/self/exe", argv);
  }
  end("the program cannot be run again under %s: %s; set LD_PRELOAD to that", file.path, strerror(errno));
}
