/* Gives up the core when MPICH's progress engine has found nothing to do. Its processes keep their
   cores while they wait, so that with more of them than cores each message takes a turn of the
   scheduler, milliseconds. Preloaded by `launch` in scripts/mpi.sh, and by scripts/hosts-bench for
   all alternatives alike; UCX is below MPICH there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void *worker);
unsigned ucp_worker_progress(void *worker) {
  static unsigned (*below)(void *);
  if (!below) *(void **)&below = dlsym(RTLD_NEXT, "ucp_worker_progress");
  unsigned events = below(worker);
  if (events == 0) sched_yield();
  return events;
}
