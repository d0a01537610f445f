/* With TEST_NO_MEMFD in the environment there are no files without names. For programs compiled
   with _GNU_SOURCE. */
#ifndef NO_MEMFD_H
#define NO_MEMFD_H

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int memfd_create(const char *name, unsigned flags) {
  if (getenv("TEST_NO_MEMFD")) {
    errno = ENOSYS;
    return -1;
  }
  return (int)syscall(SYS_memfd_create, name, flags);
}

#endif
