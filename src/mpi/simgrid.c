/* What SimGrid's SMPI lacks, or does in another way than the library needs. Included by constants.c
   where MPI is SMPI. The functions replace MPI's inside the library alone, which does not export
   them.

   All simulated processes are threads of one process and take turns: one that polls must let the
   others run, and the clock go on. A poll that costs simulated time falsifies what is measured, one
   that costs none never ends. So requests are wrapped: a process that has tested in vain, ROUNDS
   times since anything happened, waits inside MPI until one of the requests that it tested is
   complete, and keeps the result for the test that asks for it.

   Collectives are done when they are started: SMPI's nonblocking ones are linear in the number of
   processes, its blocking ones are those of real MPIs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Tests of one request in vain before its process waits: a loop that tests several, one after the
   other, has then tested all of them. */
enum { ROUNDS = 3 };

typedef struct Wrapped {
  MPI_Request real;
  MPI_Status status;
  int done, code, persistent, active, cancelled;
  /* tests in vain since anything happened, and the place in the list of those */
  int vain, place;
  struct Wrapped *next;
} Wrapped;

/* A process's requests that were tested in vain since anything happened. */
typedef struct {
  Wrapped **list;
  MPI_Request *real;
  int length, room;
  /* true if the next test looks, after time that has been let pass */
  int looks;
} Waiting;

static Waiting *all;
static int processes;
static Wrapped *unused;

static void out_of_memory(void) {
  fprintf(stderr, "mpix-neighbor: the simulation is out of memory\n");
  abort();
}

static Waiting *waiting(void) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank >= processes) {
    int size;
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    all = realloc(all, (size_t)size * sizeof *all);
    if (!all) out_of_memory();
    memset(all + processes, 0, (size_t)(size - processes) * sizeof *all);
    processes = size;
  }
  return &all[rank];
}

/* lets simulated time pass, in which other processes and messages go on */
void mpixn_pass_time(double microseconds) {
  struct timespec rest = {0, (long)(1e3 * microseconds)};
  smpi_nanosleep(&rest, NULL);
  waiting()->looks = 1;
}

/* something has happened: what is not complete may be so soon */
static void happened(void) {
  Waiting *w = waiting();
  for (int i = 0; i < w->length; i++) w->list[i]->vain = 0;
  w->length = 0;
}

static Wrapped *wrap(MPI_Request real, int code) {
  happened();
  Wrapped *made = unused;
  if (made) unused = made->next;
  else if (!(made = malloc(sizeof *made))) out_of_memory();
  *made = (Wrapped){.real = real, .code = code, .active = 1};
  return made;
}

static int made(MPI_Request real, int code, MPI_Request *request) {
  if (code == MPI_SUCCESS) *request = (MPI_Request)wrap(real, code);
  return code;
}

static int finished(int code, MPI_Request *request) {
  int result = made(MPI_REQUEST_NULL, code, request);
  if (result == MPI_SUCCESS) ((Wrapped *)*request)->done = 1;
  return result;
}

static void forget(Wrapped *w) {
  if (w->vain) happened();
  w->next = unused;
  unused = w;
}

static MPI_Status empty_status(void) {
  MPI_Status status;
  memset(&status, 0, sizeof status);
  status.MPI_SOURCE = MPI_ANY_SOURCE;
  status.MPI_TAG = MPI_ANY_TAG;
  status.MPI_ERROR = MPI_SUCCESS;
  return status;
}

static void ask(Wrapped *w) {
  int done = 0, code = PMPI_Test(&w->real, &done, &w->status);
  w->done = done || code != MPI_SUCCESS, w->code = code;
}

/* SimGrid keeps each message that PMPI_Test finds complete in a list of the process for good, and
   searches that whole list whenever another one ends. Only waits take it out. So what is complete
   shows after ROUNDS tests, in the wait of in_vain. A cancelled receive is no good for that, and
   who has let time pass asks whether it was enough. */
static int is_done(Wrapped *w) {
  if (w->done || !w->active) return 1;
  Waiting *process = waiting();
  if (w->cancelled || process->looks) ask(w);
  process->looks = 0;
  return w->done;
}

/* takes the result of a complete request */
static int take(MPI_Request *request, MPI_Status *status) {
  Wrapped *w = (Wrapped *)*request;
  int code = w->code;
  if (status != MPI_STATUS_IGNORE) *status = w->active ? w->status : empty_status();
  happened();
  if (w->persistent) {
    w->active = w->done = 0, w->code = MPI_SUCCESS;
  } else {
    forget(w);
    *request = MPI_REQUEST_NULL;
  }
  return code;
}

/* notes a test in vain; true if the process has waited, and something is complete */
static int in_vain(Wrapped *tested) {
  Waiting *w = waiting();
  if (!tested->vain) {
    if (w->length == w->room) {
      w->room = 2 * w->room + 16;
      w->list = realloc(w->list, (size_t)w->room * sizeof *w->list);
      w->real = realloc(w->real, (size_t)w->room * sizeof *w->real);
      if (!w->list || !w->real) out_of_memory();
    }
    tested->place = w->length;
    w->list[w->length++] = tested;
  }
  if (++tested->vain < ROUNDS) return 0;
  for (int i = 0; i < w->length; i++) w->real[i] = w->list[i]->real;
  int index = MPI_UNDEFINED;
  MPI_Status status = empty_status();
  int code = PMPI_Waitany(w->length, w->real, &index, &status);
  if (index >= 0 && index < w->length) {
    Wrapped *complete = w->list[index];
    complete->real = w->real[index];
    complete->done = 1, complete->code = code, complete->status = status;
  }
  happened();
  return 1;
}

static int made_persistent(MPI_Request real, int code, MPI_Request *request) {
  int result = made(real, code, request);
  if (result == MPI_SUCCESS) ((Wrapped *)*request)->persistent = 1, ((Wrapped *)*request)->active = 0;
  return result;
}

#define MESSAGE(name, buffer, made)                                                                                      \
  int MPI_##name(buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request *request) {         \
    MPI_Request real;                                                                                                    \
    int code = PMPI_##name(at, count, type, peer, tag, comm, &real);                                                     \
    return made(real, code, request);                                                                                    \
  }
MESSAGE(Isend, const void *at, made)
MESSAGE(Issend, const void *at, made)
MESSAGE(Irecv, void *at, made)
MESSAGE(Send_init, const void *at, made_persistent)
MESSAGE(Recv_init, void *at, made_persistent)

int MPI_Start(MPI_Request *request) {
  Wrapped *w = (Wrapped *)*request;
  happened();
  w->active = 1, w->done = w->cancelled = 0;
  return PMPI_Start(&w->real);
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
  *flag = 1;
  if (*request == MPI_REQUEST_NULL) {
    if (status != MPI_STATUS_IGNORE) *status = empty_status();
    return MPI_SUCCESS;
  }
  Wrapped *w = (Wrapped *)*request;
  if (is_done(w) || (in_vain(w) && is_done(w))) return take(request, status);
  *flag = 0;
  return MPI_SUCCESS;
}

int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status) {
  Wrapped *w = (Wrapped *)request;
  *flag = !w || is_done(w) || (in_vain(w) && is_done(w));
  if (*flag && status != MPI_STATUS_IGNORE) *status = w && w->active ? w->status : empty_status();
  return MPI_SUCCESS;
}

/* an error is reported as that of the whole list: no other request is taken then */
int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
  *flag = 1;
  for (int i = 0; i < count; i++) {
    Wrapped *w = (Wrapped *)requests[i];
    if (w && !is_done(w)) *flag = 0;
  }
  /* wait for the first one: the others are needed as well */
  for (int i = 0; !*flag && i < count; i++) {
    Wrapped *w = (Wrapped *)requests[i];
    if (w && !is_done(w)) {
      if (!in_vain(w)) return MPI_SUCCESS;
      i--;
    }
    if (i == count - 1) *flag = 1;
  }
  int result = MPI_SUCCESS;
  for (int i = 0; i < count; i++) {
    MPI_Status *status = statuses ? &statuses[i] : MPI_STATUS_IGNORE;
    if (requests[i] == MPI_REQUEST_NULL) {
      if (status) *status = empty_status();
      continue;
    }
    int code = take(&requests[i], status);
    if (status) status->MPI_ERROR = code;
    if (code != MPI_SUCCESS) result = MPI_ERR_IN_STATUS;
  }
  return result;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  int flag = 0, code = MPI_SUCCESS;
  while (!flag && code == MPI_SUCCESS) code = MPI_Testall(count, requests, &flag, statuses);
  return code;
}

int MPI_Cancel(MPI_Request *request) {
  Wrapped *w = (Wrapped *)*request;
  happened();
  /* SMPI would call a receive cancelled that is complete */
  if (!is_done(w)) ask(w);
  if (is_done(w)) return MPI_SUCCESS;
  w->cancelled = 1;
  return PMPI_Cancel(&w->real);
}

int MPI_Request_free(MPI_Request *request) {
  Wrapped *w = (Wrapped *)*request;
  int code = w->real == MPI_REQUEST_NULL ? MPI_SUCCESS : PMPI_Request_free(&w->real);
  forget(w);
  *request = MPI_REQUEST_NULL;
  return code;
}

/* SMPI may return without having written a request: then the operation is complete */
int MPI_Rget_accumulate(const void *at, int count, MPI_Datatype type, void *into, int into_count, MPI_Datatype into_type,
                        int peer, MPI_Aint place, int place_count, MPI_Datatype place_type, MPI_Op op, MPI_Win win,
                        MPI_Request *request) {
  MPI_Request real = MPI_REQUEST_NULL;
  int code = PMPI_Rget_accumulate(at, count, type, into, into_count, into_type, peer, place, place_count, place_type, op, win, &real);
  return made(real, code, request);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request) { return finished(PMPI_Barrier(comm), request); }

int MPI_Ibcast(void *at, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request) {
  return finished(PMPI_Bcast(at, count, type, root, comm), request);
}

int MPI_Iallreduce(const void *from, void *into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request) {
  return finished(PMPI_Allreduce(from, into, count, type, op, comm), request);
}

int MPI_Ireduce_scatter_block(const void *from, void *into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request) {
  return finished(PMPI_Reduce_scatter_block(from, into, count, type, op, comm), request);
}

int MPI_Ialltoall(const void *from, int count, MPI_Datatype type, void *into, int room, MPI_Datatype as, MPI_Comm comm, MPI_Request *request) {
  return finished(PMPI_Alltoall(from, count, type, into, room, as, comm), request);
}

int MPI_Iallgather(const void *from, int count, MPI_Datatype type, void *into, int room, MPI_Datatype as, MPI_Comm comm, MPI_Request *request) {
  return finished(PMPI_Allgather(from, count, type, into, room, as, comm), request);
}

/* SMPI aborts in this one, and calls the fatal handler where a communicator has no grid */
int MPI_Topo_test(MPI_Comm comm, int *kind) {
  MPI_Errhandler handler;
  int dimensions, code = PMPI_Comm_get_errhandler(comm, &handler);
  if (code != MPI_SUCCESS) return code;
  PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  *kind = PMPI_Cartdim_get(comm, &dimensions) == MPI_SUCCESS ? MPI_CART : MPI_UNDEFINED;
  PMPI_Comm_set_errhandler(comm, handler);
  return PMPI_Errhandler_free(&handler);
}

/* SMPI does not have this one. Simulated processes do not end, so that it may block */
int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *copy, MPI_Request *request) {
  *request = MPI_REQUEST_NULL;
  return PMPI_Comm_dup(comm, copy);
}

/* SMPI crashes in this one */
int MPI_Comm_call_errhandler(MPI_Comm comm, int code) {
  MPI_Errhandler handler;
  if (PMPI_Comm_get_errhandler(comm, &handler) == MPI_SUCCESS) {
    if (handler == MPI_ERRORS_ARE_FATAL) PMPI_Abort(comm, code);
    PMPI_Errhandler_free(&handler);
  }
  return MPI_SUCCESS;
}
