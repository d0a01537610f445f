/* All forms of the sparse exchange: large counts, blocks, sources alone, a function for each
   message, nonblocking, plans; how results are read; datatypes on either side. */
#define _DEFAULT_SOURCE
#include <time.h>
#include <unistd.h>

#include "sparse.h"

static int me, n;

/* by a function for each message */

typedef struct {
  const char *what;
  const pattern *p;
  /* next[s]: position in the list of process s behind the message that came last */
  int round, calls, fail_at, *next;
  list *lists;
} each_context;

static int take_each(int source, MPI_Count count, const void *data, void *context) {
  each_context *c = context;
  c->calls++;
  CHECK(source >= 0 && source < n, "%s: source %d", c->what, source);
  if (source < 0 || source >= n) return MPI_SUCCESS;
  const list *l = &c->lists[source];
  int i = c->next[source];
  while (i < l->n && l->targets[i] != me) i++;
  int right = i < l->n && l->lengths[i] == count;
  CHECK(right, "%s, round %d: %lld bytes from %d, not message %d", c->what, c->round, (long long)count, source, i);
  if (right) check_bytes(c->what, c->round, data, l->lengths[i], source, i, 0);
  c->next[source] = i + 1;
  return c->calls == c->fail_at ? 77 : MPI_SUCCESS;
}

static int to_me(const list *l) {
  int sum = 0;
  for (int i = 0; i < l->n; i++) sum += l->targets[i] == me;
  return sum;
}

static void each(const char *protocol, MPI_Info info, const pattern *p, int round, int fail_at, int wide) {
  int expected = 0;
  list *lists = malloc(sizeof(list) * n);
  each_context c = {protocol, p, round, 0, fail_at, calloc(n, sizeof(int)), lists};
  for (int s = 0; s < n; s++) lists[s] = list_of(p, s, round, n), expected += to_me(&lists[s]);
  list *l = &lists[me];
  char *data = contents(p, l, me, round);
  int code;
  if (wide) {
    MPI_Count *counts = malloc(sizeof(MPI_Count) * (l->n + 1));
    MPI_Aint *displs = malloc(sizeof(MPI_Aint) * (l->n + 1));
    for (int i = 0; i < l->n; i++) counts[i] = l->lengths[i], displs[i] = l->displs[i];
    code = MPIX_Sparse_exchange_each_c(l->n, l->targets, data, counts, displs, MPI_BYTE, MPI_BYTE, take_each, &c, info, MPI_COMM_WORLD);
    free(counts), free(displs);
  } else {
    code = MPIX_Sparse_exchange_each(l->n, l->targets, data, l->lengths, l->displs, MPI_BYTE, MPI_BYTE, take_each, &c, info, MPI_COMM_WORLD);
  }
  if (fail_at && fail_at <= expected) {
    int class, length;
    char text[300];
    MPI_Error_class(code, &class);
    MPIX_Neighbor_error_string(MPI_COMM_WORLD, sizeof text, text, &length);
    CHECK(class == MPI_ERR_OTHER && strstr(text, "the function that was given returned 77 for the message from process"), "%s: %d, %s", protocol, class, text);
    CHECK(c.calls == fail_at, "%s: %d calls, not %d", protocol, c.calls, fail_at);
  } else {
    OK(code);
    CHECK(c.calls == expected, "%s, round %d: %d calls, not %d", protocol, round, c.calls, expected);
  }
  for (int s = 0; s < n; s++) list_free(&lists[s]);
  free(lists), free(c.next), free(data);
}

/* the function sees elements of the receive type */
static int take_strided(int source, MPI_Count count, const void *data, void *context) {
  const int *at = data;
  int *calls = context;
  CHECK(count == 2, "%lld elements", (long long)count);
  for (int k = 0; k < 2; k++)
    CHECK(at[3 * k] == 10 * source + k && at[3 * k + 2] == 10 * source + k + 100, "from %d: %d, %d", source, at[3 * k], at[3 * k + 2]);
  (*calls)++;
  return MPI_SUCCESS;
}

static void each_typed(MPI_Info info) {
  MPI_Datatype strided;
  MPI_Type_vector(2, 1, 2, MPI_INT, &strided);
  MPI_Type_commit(&strided);
  int targets[2] = {(me + 1) % n, me}, counts[2] = {4, 4}, displs[2] = {0, 0}, calls = 0;
  int send[4] = {10 * me, 10 * me + 100, 10 * me + 1, 10 * me + 101};
  OK(MPIX_Sparse_exchange_each(2, targets, send, counts, displs, MPI_INT, strided, take_strided, &calls, info, MPI_COMM_WORLD));
  CHECK(calls == 2, "%d calls", calls);
  MPI_Type_free(&strided);
}

/* large counts, blocks, sources alone */

static void wide(const char *protocol, MPI_Info info, int round) {
  const pattern *p = &MIXED_LENGTHS;
  list l = list_of(p, me, round, n);
  char *data = contents(p, &l, me, round);
  MPI_Count counts[20];
  MPI_Aint displs[20];
  for (int i = 0; i < l.n; i++) counts[i] = l.lengths[i], displs[i] = l.displs[i];
  MPIX_Sparse_result result = NULL;
  OK(MPIX_Sparse_exchange_c(l.n, l.targets, data, counts, displs, MPI_BYTE, MPI_BYTE, info, MPI_COMM_WORLD, &result));
  check_result(protocol, p, round, result, me, n);
  OK(MPIX_Sparse_free(&result));
  MPIX_Sparse_request request = NULL;
  OK(MPIX_Isparse_exchange_c(l.n, l.targets, data, counts, displs, MPI_BYTE, MPI_BYTE, info, MPI_COMM_WORLD, &request));
  OK(MPIX_Sparse_wait(&request, &result));
  check_result(protocol, p, round, result, me, n);
  OK(MPIX_Sparse_free(&result));
  free(data);
  list_free(&l);
}

static void equal_blocks(list *l, int s, int round, int size) {
  for (int i = 0; i < s % 3 + round; i++) add(l, i == 1 ? MPI_PROC_NULL : (s + i) % size, 700 * round);
}

static void no_payload(list *l, int s, int round, int size) {
  for (int i = 0; i < (s + round) % 4; i++) add(l, i == 2 ? MPI_PROC_NULL : (s * i + 1) % size, 0);
}

static void blocks(const char *protocol, MPI_Info info) {
  static const pattern equal = {"equal blocks", equal_blocks, 0}, empty = {"no payload", no_payload, 0};
  for (int round = 0; round < 4; round++) {
    MPIX_Sparse_result result = NULL;
    list l = list_of(&equal, me, round, n);
    char *data = contents(&equal, &l, me, round);
    if (round % 2) OK(MPIX_Sparse_exchange_block(l.n, l.targets, data, 700 * round, MPI_BYTE, MPI_BYTE, info, MPI_COMM_WORLD, &result));
    else OK(MPIX_Sparse_exchange_block_c(l.n, l.targets, data, 700 * round, MPI_BYTE, MPI_BYTE, info, MPI_COMM_WORLD, &result));
    check_result(protocol, &equal, round, result, me, n);
    OK(MPIX_Sparse_free(&result));
    list_free(&l);
    free(data);
    l = list_of(&empty, me, round, n);
    OK(MPIX_Sparse_sources(l.n, l.targets, info, MPI_COMM_WORLD, &result));
    check_result(protocol, &empty, round, result, me, n);
    OK(MPIX_Sparse_free(&result));
    list_free(&l);
  }
}

/* nonblocking: arrays, types and info are gone right after the start; other traffic is not
   disturbed */

static void scribble(list *l) {
  for (int i = 0; i < l->n; i++) l->targets[i] = -77, l->lengths[i] = -77, l->displs[i] = 1 << 30;
  list_free(l);
}

static void nonblocking(const char *protocol, int round, MPI_Comm comm) {
  const pattern *p = &MIXED_LENGTHS;
  list l = list_of(p, me, round, n);
  char *data = contents(p, &l, me, round);
  MPI_Info info = test_hint("mpix_sparse", protocol);
  MPI_Datatype type;
  MPI_Type_contiguous(1, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPIX_Sparse_request request = NULL;
  MPIX_Sparse_result result = NULL;
  /* receives for anything, of the user's, on the same communicator: only the user's messages match
     them */
  int mine[2] = {-1, -1}, said[2] = {me * 10, me * 10 + 1};
  MPI_Request receives[2], sends[2];
  for (int k = 0; k < 2; k++) MPI_Irecv(&mine[k], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &receives[k]);
  OK(MPIX_Isparse_exchange(l.n, l.targets, data, l.lengths, l.displs, round % 2 ? type : MPI_BYTE, round % 3 ? type : MPI_BYTE, info, comm, &request));
  MPI_Type_free(&type);
  MPI_Info_free(&info);
  /* the same handle may come back as another type */
  MPI_Datatype other;
  MPI_Type_vector(3, 1, 5, MPI_DOUBLE, &other);
  MPI_Type_commit(&other);
  scribble(&l);
  CHECK(request != NULL, "no request");
  for (int k = 0; k < 2; k++) MPI_Isend(&said[k], 1, MPI_INT, (me + 1) % n, k ? 0 : 32767, comm, &sends[k]);
  if (round % 2) {
    int flag = 0, code = MPI_SUCCESS, early = 0;
    while (!flag && code == MPI_SUCCESS) {
      early += request == NULL || result != NULL;
      code = MPIX_Sparse_test(&request, &flag, &result);
    }
    OK(code);
    CHECK(early == 0, "%s: not complete, but written", protocol);
  } else {
    OK(MPIX_Sparse_wait(&request, &result));
  }
  CHECK(request == NULL, "%s: the request is not NULL", protocol);
  MPI_Status status[2];
  MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
  MPI_Waitall(2, receives, status);
  int left = (me + n - 1) % n;
  for (int k = 0; k < 2; k++)
    CHECK(mine[k] == left * 10 + k && status[k].MPI_TAG == (k ? 0 : 32767), "%s: a receive of the user's got %d, tag %d", protocol, mine[k], status[k].MPI_TAG);
  if (result) check_result(protocol, p, round, result, me, n);
  OK(MPIX_Sparse_free(&result));
  MPI_Type_free(&other);
  free(data);
}

/* who waits for long in shared memory sleeps where processes share cores */
static void asleep(void) {
  if (n <= sysconf(_SC_NPROCESSORS_ONLN)) return;
  MPI_Info info = test_hint("mpix_sparse", "inbox");
  int right = (me + 1) % n, one = 1, zero = 0, length;
  char text[4096];
  MPIX_Sparse_request request = NULL;
  MPIX_Sparse_result result = NULL;
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == 0) nanosleep(&(struct timespec){0, 400000000}, NULL);
  OK(MPIX_Isparse_exchange(1, &right, &me, &one, &zero, MPI_INT, MPI_INT, info, MPI_COMM_WORLD, &request));
  clock_t begin = clock();
  OK(MPIX_Sparse_wait(&request, &result));
  double busy = (double)(clock() - begin) / CLOCKS_PER_SEC;
  OK(MPIX_Sparse_describe(MPI_COMM_WORLD, sizeof text, text, &length));
  if (me > 0 && strstr(text, "inbox")) CHECK(busy < 0.15, "%f s of 0.4 s of waiting on a core", busy);
  OK(MPIX_Sparse_free(&result));
  MPI_Info_free(&info);
}

/* exchanges on two communicators at a time, begun in one order and ended in the other */
static void overlapping(const char *protocol, MPI_Comm other) {
  MPI_Info info = test_hint("mpix_sparse", protocol);
  MPI_Comm comms[2] = {MPI_COMM_WORLD, other};
  MPIX_Sparse_request requests[2];
  MPIX_Sparse_result results[2] = {NULL, NULL};
  list l[2];
  char *data[2];
  for (int k = 0; k < 2; k++) {
    l[k] = list_of(&MIXED_LENGTHS, me, 50 + k, n);
    data[k] = contents(&MIXED_LENGTHS, &l[k], me, 50 + k);
    OK(MPIX_Isparse_exchange(l[k].n, l[k].targets, data[k], l[k].lengths, l[k].displs, MPI_BYTE, MPI_BYTE, info, comms[k], &requests[k]));
  }
  int flags[2] = {0, 0};
  while (!flags[0] || !flags[1])
    for (int k = 1; k >= 0; k--)
      if (!flags[k] && MPIX_Sparse_test(&requests[k], &flags[k], &results[k]) != MPI_SUCCESS) {
        CHECK(0, "%s: an error", protocol);
        flags[k] = 1;
      }
  for (int k = 0; k < 2; k++) {
    check_result(protocol, &MIXED_LENGTHS, 50 + k, results[k], me, n);
    OK(MPIX_Sparse_free(&results[k]));
    free(data[k]);
    list_free(&l[k]);
  }
  MPI_Info_free(&info);
}

/* plans */

static void for_plans(list *l, int s, int round, int size) {
  /* process 0 takes no part in plan 2 */
  if (round == 2 && s == 0) return;
  static const int lengths[] = {40, 0, 5000, 8, 100000};
  for (int i = 0; i < 2 + s % 3; i++) {
    int target = i == 1 ? s : (s + i + round) % size;
    if (round == 2 && target == 0) target = MPI_PROC_NULL;
    add(l, target, lengths[(s + i + round) % 5]);
  }
}
static const pattern FOR_PLANS = {"plans", for_plans, 0};

static void plans(const char *protocol, MPI_Comm comm) {
  enum { PLANS = 3 };
  MPIX_Sparse_plan plan[PLANS];
  MPIX_Sparse_result result[PLANS];
  list l[PLANS];
  char *data[PLANS];
  for (int k = 0; k < PLANS; k++) {
    MPI_Info info = test_hint("mpix_sparse", protocol);
    list given = list_of(&FOR_PLANS, me, k, n);
    MPI_Datatype byte;
    MPI_Type_contiguous(1, MPI_BYTE, &byte);
    MPI_Type_commit(&byte);
    l[k] = list_of(&FOR_PLANS, me, k, n);
    data[k] = contents(&FOR_PLANS, &l[k], me, k);
    if (k == 1) {
      MPI_Count counts[8];
      MPI_Aint displs[8];
      for (int i = 0; i < given.n; i++) counts[i] = given.lengths[i], displs[i] = given.displs[i];
      OK(MPIX_Sparse_plan_create_c(given.n, given.targets, data[k], counts, displs, byte, byte, info, comm, &plan[k]));
    } else {
      OK(MPIX_Sparse_plan_create(given.n, given.targets, data[k], given.lengths, given.displs, k ? byte : MPI_BYTE, k ? MPI_BYTE : byte, info, comm, &plan[k]));
    }
    MPI_Type_free(&byte);
    MPI_Info_free(&info);
    scribble(&given);
    OK(MPIX_Sparse_plan_result(plan[k], &result[k]));
    /* the creation has run it once */
    check_result(protocol, &FOR_PLANS, k, result[k], me, n);
  }
  for (int run = 0; run < 6; run++) {
    /* contents of another round in the places of this one: the lengths stay. Started in another
       order on each process, all under way at a time */
    for (int k = 0; k < PLANS; k++)
      for (int i = 0; i < l[k].n; i++) fill(data[k] + l[k].displs[i], l[k].lengths[i], me, i, 1000 + 10 * run + k, 0);
    int takes_part[PLANS] = {1, 1, me != 0};
    for (int j = 0; j < PLANS; j++) {
      int k = (j + me + run) % PLANS;
      if (takes_part[k]) OK(MPIX_Sparse_plan_start(plan[k]));
    }
    for (int j = 0; j < PLANS; j++) {
      int k = (j + 2 * me + run) % PLANS, flag = run % 2;
      if (run % 2) OK(MPIX_Sparse_plan_wait(plan[k]));
      else
        while (!flag && MPIX_Sparse_plan_test(plan[k], &flag) == MPI_SUCCESS) continue;
      OK(MPIX_Sparse_plan_test(plan[k], &flag));
      CHECK(flag == 1, "%s: plan %d: a run that is done is not complete", protocol, k);
      int count, at = 0;
      MPI_Count elements;
      OK(MPIX_Sparse_get_count(result[k], &count, &elements));
      for (int s = 0; s < n; s++) {
        list theirs = list_of(&FOR_PLANS, s, k, n);
        for (int i = 0; i < theirs.n; i++) {
          if (theirs.targets[i] != me) continue;
          int source;
          MPI_Count bytes;
          void *place;
          OK(MPIX_Sparse_get_message(result[k], at++, &source, &bytes, &place));
          CHECK(source == s && bytes == theirs.lengths[i], "%s: plan %d: %lld bytes from %d", protocol, k, (long long)bytes, source);
          check_bytes(protocol, 1000 + 10 * run + k, place, theirs.lengths[i], s, i, 0);
        }
        list_free(&theirs);
      }
      CHECK(at == count, "%s: plan %d: %d messages, not %d", protocol, k, count, at);
    }
    /* an exchange between the runs of plans */
    if (run % 3 == 1) exchange(protocol, &FEW_SHORT, run, MPI_INFO_NULL, comm);
  }
  for (int j = 0; j < PLANS; j++) {
    int k = (j + me) % PLANS;
    OK(MPIX_Sparse_plan_free(&plan[k]));
    CHECK(plan[k] == NULL, "the plan is not NULL");
    free(data[k]);
    list_free(&l[k]);
  }
}

/* a plan whose messages are strided at both ends: the result's memory has its holes */
static void typed_plan(const char *protocol) {
  MPI_Info info = test_hint("mpix_sparse", protocol);
  MPI_Datatype column, pair;
  MPI_Type_vector(3, 1, 4, MPI_INT, &column);
  MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
  MPI_Type_commit(&column), MPI_Type_commit(&pair);
  int send[27], targets[2] = {(me + 1) % n, me}, counts[2] = {2, 2}, displs[2] = {0, 1};
  MPIX_Sparse_plan plan;
  MPIX_Sparse_result result;
  for (int k = 0; k < 27; k++) send[k] = 100 * me + k;
  OK(MPIX_Sparse_plan_create(2, targets, send, counts, displs, column, pair, info, MPI_COMM_WORLD, &plan));
  MPI_Type_free(&column), MPI_Type_free(&pair);
  MPI_Info_free(&info);
  OK(MPIX_Sparse_plan_result(plan, &result));
  for (int run = 0; run < 4; run++) {
    if (run) {
      for (int k = 0; k < 27; k++) send[k] = 1000 * run + 100 * me + k;
      OK(MPIX_Sparse_plan_start(plan));
      OK(MPIX_Sparse_plan_wait(plan));
    }
    int messages;
    MPI_Count elements;
    OK(MPIX_Sparse_get_count(result, &messages, &elements));
    CHECK(messages == 2 && elements == 6, "%d messages of %lld", messages, (long long)elements);
    /* the second one is unpacked when it is asked for, in a later run */
    for (int m = 0; m < (run < 2 ? 1 : 2); m++) {
      int source;
      MPI_Count count;
      void *data;
      OK(MPIX_Sparse_get_message(result, m, &source, &count, &data));
      int left = (me + n - 1) % n, i = n == 1 ? m : source == left ? 0 : 1;
      CHECK(count == 3, "%lld elements", (long long)count);
      /* element e of the six ints that were sent: of the first, then of the second column; the
         extent of a column is 9 ints */
      for (int e = 0; e < 6; e++) {
        int want = 1000 * run + 100 * source + 9 * i + (e / 3) * 9 + (e % 3) * 4;
        int have = ((int *)data)[(e / 2) * 3 + (e % 2) * 2];
        CHECK(have == want, "%s: run %d, message %d, int %d: %d, not %d", protocol, run, m, e, have, want);
      }
    }
  }
  OK(MPIX_Sparse_plan_free(&plan));
}

/* results: tables, copies, and a life of their own */

static void tables(MPI_Info info) {
  /* nobody gets a message, whatever its count */
  int targets[4] = {(me + 1) % n, me, (me + 1) % n, MPI_PROC_NULL}, counts[4] = {3, 0, 2, -9}, displs[4] = {0, 0, 3, 0}, send[9];
  for (int k = 0; k < 9; k++) send[k] = 10 * me + k;
  MPIX_Sparse_result result;
  OK(MPIX_Sparse_exchange(4, targets, send, counts, displs, MPI_INT, MPI_INT, info, MPI_COMM_WORLD, &result));
  int left = (me + n - 1) % n;
  int want_sources[3], want_counts[3], want_displs[3], at = 0;
  for (int s = 0, sum = 0; s < n; s++)
    for (int i = 0; i < 3; i++) {
      if ((i == 1 ? s : (s + 1) % n) != me) continue;
      want_sources[at] = s, want_counts[at] = counts[i], want_displs[at++] = sum;
      sum += counts[i];
    }
  CHECK(at == 3, "%d", at);
  for (int room = 0; room < 6; room++) {
    int sources[6], ints[6], places[6], got = room < 3 ? room : 3;
    MPI_Count wide[6];
    MPI_Aint addresses[6];
    for (int k = 0; k < 6; k++) sources[k] = ints[k] = places[k] = -5, wide[k] = addresses[k] = -5;
    OK(MPIX_Sparse_get_messages(result, room, sources, ints, places));
    for (int k = 0; k < 6; k++)
      CHECK(sources[k] == (k < got ? want_sources[k] : -5) && ints[k] == (k < got ? want_counts[k] : -5) && places[k] == (k < got ? want_displs[k] : -5),
            "room for %d: entry %d: %d, %d, %d", room, k, sources[k], ints[k], places[k]);
    sources[0] = -5;
    OK(MPIX_Sparse_get_messages_c(result, room, sources, wide, addresses));
    for (int k = 0; k < 6; k++)
      CHECK(sources[k] == (k < got ? want_sources[k] : -5) && wide[k] == (k < got ? want_counts[k] : -5) && addresses[k] == (k < got ? want_displs[k] : -5),
            "room for %d: entry %d: %d, %lld, %lld", room, k, sources[k], (long long)wide[k], (long long)addresses[k]);
    OK(MPIX_Sparse_get_messages(result, room, NULL, ints, NULL));
    OK(MPIX_Sparse_get_messages(result, room, NULL, NULL, NULL));
    OK(MPIX_Sparse_get_messages_c(result, room, NULL, NULL, addresses));
  }
  int copy[7], bad = 0;
  for (int k = 0; k < 7; k++) copy[k] = -9;
  OK(MPIX_Sparse_copy(result, 5, copy));
  for (int k = 0; k < 5; k++) bad += copy[k] != 10 * left + k;
  CHECK(bad == 0 && copy[5] == -9 && copy[6] == -9, "copy: %d, %d, %d, %d, %d", copy[0], copy[1], copy[2], copy[3], copy[4]);
  OK(MPIX_Sparse_copy(result, 100, copy));
  OK(MPIX_Sparse_free(&result));
  /* nothing has come: nothing is needed to copy it */
  OK(MPIX_Sparse_exchange(0, NULL, NULL, NULL, NULL, MPI_DATATYPE_NULL, MPI_INT, info, MPI_COMM_WORLD, &result));
  int messages = -1;
  MPI_Count elements = -1;
  OK(MPIX_Sparse_get_count(result, &messages, &elements));
  CHECK(messages == 0 && elements == 0, "%d messages of %lld elements", messages, (long long)elements);
  OK(MPIX_Sparse_copy(result, 0, NULL));
  OK(MPIX_Sparse_get_messages(result, 0, NULL, NULL, NULL));
  OK(MPIX_Sparse_free(&result));
  OK(MPIX_Sparse_free(&result));
}

/* a result lives on when its communicator is gone, and when others have come */
static void outliving(const char *protocol) {
  MPI_Info info = test_hint("mpix_sparse", protocol);
  MPI_Datatype spread;
  MPI_Type_create_resized(MPI_BYTE, 0, 3, &spread);
  MPI_Type_commit(&spread);
  MPIX_Sparse_result results[4];
  for (int k = 0; k < 4; k++) {
    MPI_Comm comm = test_duplicate();
    list l = list_of(&FEW_SHORT, me, k, n);
    char *data = contents(&FEW_SHORT, &l, me, k);
    OK(MPIX_Sparse_exchange(l.n, l.targets, data, l.lengths, l.displs, MPI_BYTE, k == 3 ? spread : MPI_BYTE, info, comm, &results[k]));
    memset(data, 99, l.total);
    free(data);
    list_free(&l);
    MPI_Comm_free(&comm);
  }
  MPI_Type_free(&spread);
  MPI_Info_free(&info);
  for (int k = 0; k < 3; k++) check_result(protocol, &FEW_SHORT, k, results[k], me, n);
  /* elements of the freed type, and a copy of them */
  int messages, at = 0;
  MPI_Count bytes;
  OK(MPIX_Sparse_get_count(results[3], &messages, &bytes));
  char *copy = malloc(3 * bytes + 1);
  memset(copy, 7, 3 * bytes + 1);
  OK(MPIX_Sparse_copy(results[3], bytes, copy));
  for (int s = 0, m = 0; s < n; s++) {
    list l = list_of(&FEW_SHORT, s, 3, n);
    for (int i = 0; i < l.n; i++) {
      if (l.targets[i] != me) continue;
      char want[64];
      int source, bad = 0;
      MPI_Count count;
      void *place;
      fill(want, l.lengths[i], s, i, 3, 0);
      OK(MPIX_Sparse_get_message(results[3], m++, &source, &count, &place));
      CHECK(count == l.lengths[i], "%lld elements", (long long)count);
      for (int k = 0; k < l.lengths[i]; k++, at++) bad += ((char *)place)[3 * k] != want[k] || copy[3 * at] != want[k] || copy[3 * at + 1] != 7 || copy[3 * at + 2] != 7;
      CHECK(bad == 0, "%s: message %d of process %d in a resized type", protocol, i, s);
    }
    list_free(&l);
  }
  free(copy);
  /* freed in another order on each process */
  for (int k = 0; k < 4; k++) OK(MPIX_Sparse_free(&results[(k + me) % 4]));
}

/* datatypes */

/* Extents and lower bounds, not sizes: where an int of the type lies. `map[k]`: int k of an
   element, relative to the element, in ints. */
typedef struct {
  const char *name;
  MPI_Datatype type;
  int ints, extent, map[4];
} layout;

enum { LAYOUTS = 7 };

static void layouts(layout *all) {
  all[0] = (layout){"int", MPI_INT, 1, 1, {0}};
  all[1] = (layout){"contiguous", MPI_DATATYPE_NULL, 4, 4, {0, 1, 2, 3}};
  MPI_Type_contiguous(4, MPI_INT, &all[1].type);
  all[2] = (layout){"vector", MPI_DATATYPE_NULL, 2, 4, {0, 3}};
  MPI_Type_vector(2, 1, 3, MPI_INT, &all[2].type);
  all[3] = (layout){"negative lower bound", MPI_DATATYPE_NULL, 2, 4, {-3, 0}};
  int lengths[2] = {1, 1}, displs[2] = {-3, 0};
  MPI_Type_indexed(2, lengths, displs, MPI_INT, &all[3].type);
  all[4] = (layout){"resized", MPI_DATATYPE_NULL, 1, 3, {0}};
  MPI_Type_create_resized(MPI_INT, -4, 12, &all[4].type);
  all[5] = (layout){"backward struct", MPI_DATATYPE_NULL, 4, 6, {5, 2, 3, 0}};
  MPI_Aint bytes[3] = {20, 8, 0};
  int counts[3] = {1, 2, 1};
  MPI_Datatype types[3] = {MPI_INT, MPI_INT, MPI_INT};
  MPI_Type_create_struct(3, counts, bytes, types, &all[5].type);
  /* overlapping elements of negative extent */
  MPI_Datatype two;
  MPI_Type_vector(2, 1, 2, MPI_INT, &two);
  all[6] = (layout){"negative extent", MPI_DATATYPE_NULL, 2, -3, {0, 2}};
  MPI_Type_create_resized(two, 0, -12, &all[6].type);
  MPI_Type_free(&two);
  for (int k = 1; k < LAYOUTS; k++) MPI_Type_commit(&all[k].type);
}

/* every type to every other one whose elements make up the same ints */
static void types(const char *protocol, MPI_Info info) {
  layout all[LAYOUTS];
  layouts(all);
  for (int a = 0; a < LAYOUTS; a++)
    for (int b = 0; b < LAYOUTS; b++) {
      /* 4 ints to the right, 8 to the process itself */
      const layout *from = &all[a], *to = &all[b];
      enum { MIDDLE = 60 };
      int send[2 * MIDDLE], targets[2] = {(me + 1) % n, me}, counts[2] = {4 / from->ints, 8 / from->ints}, displs[2] = {0, 5};
      for (int k = 0; k < 2 * MIDDLE; k++) send[k] = -1;
      int value[2][8];
      for (int i = 0; i < 2; i++)
        for (int k = 0; k < (i ? 8 : 4); k++) value[i][k] = 1000 * (i + 1) + k;
      /* the two messages do not meet in memory: the second one begins 5 elements behind the
         first */
      for (int i = 0; i < 2; i++)
        for (int k = 0; k < (i ? 8 : 4); k++) send[MIDDLE + (displs[i] + k / from->ints) * from->extent + from->map[k % from->ints]] = value[i][k] + 10000 * me;
      MPIX_Sparse_result result = NULL;
      OK(MPIX_Sparse_exchange(2, targets, send + MIDDLE, counts, displs, from->type, to->type, info, MPI_COMM_WORLD, &result));
      if (!result) continue;
      int messages = -1, left = (me + n - 1) % n, copied = 0, copy[2 * MIDDLE], used[2 * MIDDLE], wrong = 0;
      MPI_Count elements = -1;
      OK(MPIX_Sparse_get_count(result, &messages, &elements));
      CHECK(messages == 2 && elements == 12 / to->ints, "%s to %s: %d messages of %lld elements", from->name, to->name, messages, (long long)elements);
      for (int k = 0; k < 2 * MIDDLE; k++) copy[k] = used[k] = -1;
      OK(MPIX_Sparse_copy(result, elements, copy + MIDDLE));
      for (int m = 0; m < messages; m++) {
        int source;
        MPI_Count count;
        void *data;
        OK(MPIX_Sparse_get_message(result, m, &source, &count, &data));
        int i = n == 1 ? m : source == left ? 0 : 1, ints = i ? 8 : 4, bad = -1;
        CHECK(count == ints / to->ints, "%s to %s: %lld elements", from->name, to->name, (long long)count);
        for (int k = 0; k < ints; k++) {
          int at = k / to->ints * to->extent + to->map[k % to->ints], want = value[i][k] + 10000 * source;
          if (((int *)data)[at] != want) bad = k;
          at += MIDDLE + copied * to->extent;
          used[at] = want;
        }
        CHECK(bad < 0, "%s: %s to %s: int %d of message %d", protocol, from->name, to->name, bad, m);
        copied += ints / to->ints;
      }
      for (int k = 0; k < 2 * MIDDLE; k++) wrong += copy[k] != used[k];
      CHECK(wrong == 0, "%s: %s to %s: %d ints of the copy, or between its elements", protocol, from->name, to->name, wrong);
      OK(MPIX_Sparse_free(&result));
    }
  for (int k = 1; k < LAYOUTS; k++) MPI_Type_free(&all[k].type);
}

/* addresses inside of the datatype, the buffer is MPI_BOTTOM */
static void bottom(const char *protocol, MPI_Info info) {
  int send[6], have[6] = {0}, targets[3] = {(me + 1) % n, me, (me + 1) % n}, counts[3] = {1, 1, 0}, displs[3] = {0, 0, 0};
  for (int k = 0; k < 6; k++) send[k] = 10 * me + k, have[k] = -1;
  MPI_Datatype from = absolute(send, 6, MPI_INT), into = absolute(have, 6, MPI_INT);
  MPIX_Sparse_result result = NULL;
  OK(MPIX_Sparse_exchange(3, targets, MPI_BOTTOM, counts, displs, from, MPI_INT, info, MPI_COMM_WORLD, &result));
  int copy[12], left = (me + n - 1) % n, bad = 0;
  OK(MPIX_Sparse_copy(result, 12, copy));
  for (int k = 0; k < 12; k++) {
    int first = left < me ? left : me, second = left < me ? me : left;
    bad += copy[k] != 10 * (k < 6 ? first : second) + k % 6;
  }
  CHECK(bad == 0, "%s: %d ints from absolute addresses", protocol, bad);
  OK(MPIX_Sparse_free(&result));
  /* received as a type of absolute addresses, and copied there */
  counts[0] = 6;
  OK(MPIX_Sparse_exchange(1, targets, send, counts, displs, MPI_INT, into, info, MPI_COMM_WORLD, &result));
  int source;
  MPI_Count count;
  void *data;
  OK(MPIX_Sparse_get_message(result, 0, &source, &count, &data));
  CHECK(source == left && count == 1, "%lld elements from %d", (long long)count, source);
  MPI_Aint at;
  MPI_Get_address(have, &at);
  const int *ints = (const int *)((uintptr_t)data + (uintptr_t)at);
  for (int k = 0; k < 6; k++) CHECK(ints[k] == 10 * left + k && have[k] == -1, "%s: %d", protocol, ints[k]);
  OK(MPIX_Sparse_copy(result, 1, MPI_BOTTOM));
  for (int k = 0; k < 6; k++) CHECK(have[k] == 10 * left + k, "%s: %d", protocol, have[k]);
  OK(MPIX_Sparse_free(&result));
  MPI_Type_free(&from), MPI_Type_free(&into);
}

/* elements that span more memory than there is can be copied one by one: only who asks for a
   message in the result's memory has it there */
static void spans(MPI_Info info) {
  MPI_Datatype wide;
  MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)1 << 47, &wide);
  MPI_Type_commit(&wide);
  int right = (me + 1) % n, left = (me + n - 1) % n, one = 1, zero = 0, have = -1, source = -1;
  MPIX_Sparse_result result = NULL;
  OK(MPIX_Sparse_exchange(1, &right, &me, &one, &zero, MPI_INT, wide, info, MPI_COMM_WORLD, &result));
  OK(MPIX_Sparse_copy(result, 1, &have));
  CHECK(have == left, "%d came", have);
  MPI_Count count = -1;
  void *data = NULL;
  int class, code = MPIX_Sparse_get_message(result, 0, &source, &count, &data);
  MPI_Error_class(code, &class);
  CHECK(class == MPI_ERR_NO_MEM && source == -1 && count == -1 && !data, "class %d: %s", class, test_message(code));
  OK(MPIX_Sparse_free(&result));
  MPI_Type_free(&wide);
}

/* what is remembered of a datatype is not that of a freed one whose handle came back */
static void types_that_go(MPI_Info info) {
  for (int i = 0; i < 12; i++) {
    MPI_Datatype type;
    int stride = 1 + i % 4, send[10], right = (me + 1) % n, one = 1, zero = 0;
    MPI_Type_vector(2, 1, stride, MPI_INT, &type);
    MPI_Type_commit(&type);
    for (int k = 0; k < 10; k++) send[k] = 100 * me + k;
    MPIX_Sparse_result result = NULL;
    OK(MPIX_Sparse_exchange(1, &right, send, &one, &zero, type, type, info, MPI_COMM_WORLD, &result));
    MPI_Type_free(&type);
    int source, left = (me + n - 1) % n;
    MPI_Count count;
    void *data;
    OK(MPIX_Sparse_get_message(result, 0, &source, &count, &data));
    CHECK(count == 1 && ((int *)data)[0] == 100 * left && ((int *)data)[stride] == 100 * left + stride, "stride %d: %d, %d", stride, ((int *)data)[0], ((int *)data)[stride]);
    OK(MPIX_Sparse_free(&result));
  }
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  me = test_rank, n = test_size;
  MPI_Comm other = test_duplicate();
  for (int p = 0; p < PROTOCOLS; p++) {
    MPI_Info info = test_hint("mpix_sparse", protocols[p]);
    for (int r = 0; r < fewer(6); r++) each(protocols[p], info, r % 2 ? &FEW_SHORT : &MIXED_LENGTHS, r, 0, r > 3);
    for (int r = 1; r < 4; r++) each(protocols[p], info, &FEW_SHORT, r, r, 0);
    each_typed(info);
    for (int r = 0; r < 3; r++) wide(protocols[p], info, r);
    blocks(protocols[p], info);
    for (int r = 0; r < 2 + fewer(4); r++) nonblocking(protocols[p], r, r % 3 ? other : MPI_COMM_WORLD);
    overlapping(protocols[p], other);
    plans(protocols[p], p % 2 ? other : MPI_COMM_WORLD);
    typed_plan(protocols[p]);
    tables(info);
    if (n <= 4 || p % 3 == n % 3) outliving(protocols[p]);
    if (n <= 4 || p % 3 == n % 3) types(protocols[p], info);
    bottom(protocols[p], info);
    spans(info);
    types_that_go(info);
    MPI_Info_free(&info);
  }
  asleep();
  MPI_Comm_free(&other);
  return test_finish();
}
