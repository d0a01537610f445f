/* Lets processes of MPICH share cores: one that waits gives its core away, as those of Open MPI do
 * with mpi_yield_when_idle. Preloaded by scripts/hosts-bench, under UCX alone; for all alternatives
 * alike. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

/* UCX's: takes what has arrived, and returns how much */
unsigned ucp_worker_progress(void *worker) {
  static unsigned (*take)(void *);
  if (!take) *(void **)&take = dlsym(RTLD_NEXT, "ucp_worker_progress");
  unsigned taken = take(worker);
  if (!taken) sched_yield();
  return taken;
}
