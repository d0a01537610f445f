/* Promises of requests beside the data of a single one (which the programs with forms.h test):
   several under way and completed in any order, also around blocking collectives and on two
   communicators; sources one by one, with a process that is late on purpose; what may be freed and
   changed after the start; errors. */
#include "test.h"

static int me, n;

/* every process sends to all others and itself, to some twice: edge k of process r goes to r + k */
enum { EXTRA = 2 };
static int degree;

static void set_all(MPI_Comm comm, int operations) {
  int sources[degree], targets[degree];
  for (int k = 0; k < degree; k++) {
    targets[k] = (me + k) % n;
    sources[k] = (me + n * EXTRA - k) % n;
  }
  OK(MPIX_Neighborhood_set(operations, degree, sources, MPI_UNWEIGHTED, degree, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
}

static int source_of(int k) { return (me + n * EXTRA - k) % n; }

/* an exchange of blocks of `count` ints, with values that name source, edge, round and element */
typedef struct {
  int count, tag, *send, *have;
  MPIX_Request request;
} exchange;

static int value(int source, int k, int tag, int i) { return (int)(mix3(mix2(source, k), tag, i) & 0x7fffffff); }

static void fill(exchange *x, int count, int tag) {
  x->count = count, x->tag = tag, x->request = NULL;
  x->send = malloc((size_t)(degree * count + 1) * sizeof(int));
  x->have = malloc((size_t)(degree * count + 1) * sizeof(int));
  for (int k = 0; k < degree; k++)
    for (int i = 0; i < count; i++) x->send[k * count + i] = value(me, k, tag, i), x->have[k * count + i] = -1;
}

static void begin(exchange *x, int count, int tag, MPI_Comm comm) {
  fill(x, count, tag);
  OK(MPIX_Ineighbor_alltoall(x->send, count, MPI_INT, x->have, count, MPI_INT, comm, &x->request));
}

static void check_block(const exchange *x, int k) {
  int bad = 0;
  for (int i = 0; i < x->count; i++) bad += x->have[k * x->count + i] != value(source_of(k), k, x->tag, i);
  CHECK(bad == 0, "exchange %d: %d of %d ints of source %d are wrong", x->tag, bad, x->count, k);
}

static void end(exchange *x) {
  for (int k = 0; k < degree; k++) check_block(x, k);
  free(x->send), free(x->have);
}

/* many under way, completed in another order on each process */
static void many(MPI_Comm comm) {
  enum { MANY = 9 };
  exchange x[MANY];
  MPIX_Request all[MANY];
  for (int way = 0; way < 8; way++) {
    for (int r = 0; r < MANY; r++) begin(&x[r], 1 + 300 * (r % 4), 100 * way + r, comm), all[r] = x[r].request;
    if (way == 0) {
      for (int r = MANY - 1; r >= 0; r--) OK(MPIX_Request_wait(&all[r]));
    } else if (way == 1) {
      for (int r = 0; r < MANY; r++) OK(MPIX_Request_wait(&all[(r * 2 + me) % MANY]));
    } else if (way == 2) {
      for (int flag = 0; !flag;) OK(MPIX_Request_testall(MANY, all, &flag));
    } else if (way == 3) {
      int index, told = 0;
      for (;;) {
        OK(MPIX_Request_waitany(MANY, all, &index));
        if (index == MPI_UNDEFINED) break;
        CHECK(index >= 0 && index < MANY && all[index] == NULL, "request %d is not complete", index);
        told++;
      }
      CHECK(told == MANY, "%d of %d were told", told, MANY);
    } else if (way == 4) {
      int index, flag, told = 0;
      for (;;) {
        OK(MPIX_Request_testany(MANY, all, &index, &flag));
        if (flag && index == MPI_UNDEFINED) break;
        CHECK(flag ? all[index] == NULL : index == MPI_UNDEFINED, "request %d, flag %d", index, flag);
        told += flag;
      }
      CHECK(told == MANY, "%d of %d were told", told, MANY);
    } else if (way < 7) {
      int count, indices[MANY], told = 0;
      for (;;) {
        if (way == 5) OK(MPIX_Request_waitsome(MANY, all, &count, indices));
        else OK(MPIX_Request_testsome(MANY, all, &count, indices));
        if (count == MPI_UNDEFINED) break;
        CHECK(count > 0 || way == 6, "%d requests are complete", count);
        for (int k = 0; k < count; k++) {
          CHECK(all[indices[k]] == NULL && (k == 0 || indices[k] > indices[k - 1]), "request %d is told", indices[k]);
          for (int e = 0; e < degree; e++) check_block(&x[indices[k]], e);
        }
        told += count;
      }
      CHECK(told == MANY, "%d of %d were told", told, MANY);
    } else {
      OK(MPIX_Request_waitall(MANY, all));
    }
    for (int r = 0; r < MANY; r++) {
      CHECK(all[r] == NULL, "request %d is not NULL", r);
      end(&x[r]);
    }
  }
}

/* processes wait for different things at the same time */
static void crossed(MPI_Comm comm, MPI_Comm other) {
  for (int repeat = 0; repeat < 3; repeat++) {
    exchange x, y;
    begin(&x, 50, 1000 + repeat, comm);
    int mine = 7 * me + repeat, all[degree];
    /* before or behind a blocking collective of another operation */
    if (me % 2) OK(MPIX_Request_wait(&x.request));
    OK(MPIX_Neighbor_gather(&mine, 1, MPI_INT, all, 1, MPI_INT, comm));
    for (int k = 0; k < degree; k++) CHECK(all[k] == 7 * source_of(k) + repeat, "gather: %d from %d", all[k], source_of(k));
    OK(MPIX_Request_wait(&x.request));
    end(&x);
    /* a blocking one of the same operation */
    begin(&x, 50, 2000 + repeat, comm);
    fill(&y, 20, 3000 + repeat);
    if (me % 3 == 1) OK(MPIX_Request_wait(&x.request));
    OK(MPIX_Neighbor_alltoall(y.send, 20, MPI_INT, y.have, 20, MPI_INT, comm));
    end(&y);
    OK(MPIX_Request_wait(&x.request));
    end(&x);
    /* a sparse exchange */
    MPIX_Sparse_request sparse;
    MPIX_Sparse_result result;
    int right = (me + 1) % n, one = 1, zero = 0, source, left = (me + n - 1) % n;
    MPI_Count got;
    void *at;
    OK(MPIX_Isparse_exchange(1, &right, &mine, &one, &zero, MPI_INT, MPI_INT, MPI_INFO_NULL, comm, &sparse));
    begin(&x, 60, 3500 + repeat, comm);
    if (me % 2) OK(MPIX_Request_wait(&x.request));
    OK(MPIX_Sparse_wait(&sparse, &result));
    OK(MPIX_Request_wait(&x.request));
    end(&x);
    OK(MPIX_Sparse_get_message(result, 0, &source, &got, &at));
    CHECK(source == left && got == 1 && *(int *)at == 7 * left + repeat, "%d from %d", *(int *)at, source);
    OK(MPIX_Sparse_free(&result));
    begin(&x, 60, 3600 + repeat, comm);
    if (me % 2) OK(MPIX_Request_wait(&x.request));
    OK(MPIX_Sparse_exchange_block(1, &right, &mine, 1, MPI_INT, MPI_INT, MPI_INFO_NULL, comm, &result));
    OK(MPIX_Request_wait(&x.request));
    end(&x);
    OK(MPIX_Sparse_free(&result));
    /* two communicators */
    begin(&x, 30, 4000 + repeat, comm);
    begin(&y, 40, 5000 + repeat, other);
    OK(MPIX_Request_wait(me % 2 ? &x.request : &y.request));
    OK(MPIX_Request_wait(me % 2 ? &y.request : &x.request));
    end(&x), end(&y);
  }
}

/* sources one by one: blocks are read as soon as they are told */
static void one_by_one(MPI_Comm comm) {
  for (int way = 0; way < 4; way++) {
    exchange x;
    int told[degree], count = 0, index, some[degree];
    begin(&x, 200, 6000 + way, comm);
    for (int k = 0; k < degree; k++) told[k] = 0;
    while (count < degree) {
      int found = 1;
      if (way == 0) {
        OK(MPIX_Request_waitany_source(x.request, &some[0]));
      } else if (way == 1) {
        OK(MPIX_Request_waitsome_source(x.request, &found, some));
        CHECK(found >= 1 && found <= degree, "%d sources", found);
      } else if (way == 2) {
        OK(MPIX_Request_testsome_source(x.request, &found, some));
        CHECK(found >= 0 && found <= degree, "%d sources", found);
      } else {
        some[0] = degree - 1 - count;
        OK(MPIX_Request_wait_source(x.request, some[0]));
      }
      for (int f = 0; f < found; f++) {
        CHECK(some[f] >= 0 && some[f] < degree && !told[some[f]], "source %d", some[f]);
        told[some[f]] = 1;
        check_block(&x, some[f]);
      }
      count += found;
    }
    OK(MPIX_Request_waitany_source(x.request, &index));
    CHECK(index == MPI_UNDEFINED, "source %d after all", index);
    OK(MPIX_Request_waitsome_source(x.request, &count, some));
    CHECK(count == MPI_UNDEFINED, "%d sources after all", count);
    OK(MPIX_Request_wait(&x.request));
    end(&x);
  }
}

/* Process 0 starts only when all others have the blocks of all sources but it: so these arrive
   before the collective is over. Not where a round waits for it: with rounds, the window must have
   room for all. */
static void late(MPI_Comm comm) {
  const char *schedule = getenv("MPIX_SCHEDULE"), *window = getenv("MPIX_ROUND_WINDOW");
  if (n == 1 || getenv("MPIX_NEIGHBOR_VERIFY") || (schedule && strcmp(schedule, "direct") && (!window || atoi(window) < n))) return;
  exchange x;
  if (me == 0) {
    for (int r = 1; r < n; r++) MPI_Recv(NULL, 0, MPI_INT, r, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    begin(&x, 3, 7000, comm);
  } else {
    begin(&x, 3, 7000, comm);
    for (int k = 0; k < degree; k++)
      if (source_of(k) != 0) {
        OK(MPIX_Request_wait_source(x.request, k));
        check_block(&x, k);
      }
    for (int k = 0; k < degree; k++)
      if (source_of(k) == 0) {
        int flag = -1;
        OK(MPIX_Request_test_source(x.request, k, &flag));
        CHECK(flag == 0, "the block of a process that has not sent has arrived (%d)", flag);
      }
    int flag = -1;
    OK(MPIX_Request_test(&x.request, &flag));
    CHECK(flag == 0 && x.request != NULL, "complete before all have sent");
    MPI_Send(NULL, 0, MPI_INT, 0, 5, MPI_COMM_WORLD);
  }
  OK(MPIX_Request_wait(&x.request));
  end(&x);
}

/* A reduction takes sources in as they come, in the order of the list. Process 0 is late again; it
   stands last in the list of even processes, and in the middle of that of odd ones. */
static void late_reduction(MPI_Comm comm) {
  const char *schedule = getenv("MPIX_SCHEDULE"), *order = getenv("MPIX_REDUCE_ORDER");
  if (n == 1 || getenv("MPIX_NEIGHBOR_VERIFY") || (schedule && strcmp(schedule, "direct")) || (order && !strcmp(order, "any"))) return;
  int sources[n], targets[n], before = 0;
  for (int k = 0; k < n; k++) targets[k] = k, sources[k] = (k + 1) % n;
  if (me % 2) sources[n - 1] = sources[n / 2], sources[n / 2] = 0;
  for (before = 0; sources[before] != 0; before++);
  OK(MPIX_Neighbor_reduce_set(n, sources, MPI_UNWEIGHTED, n, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
  double mine[2] = {1.5 * me, 1000 + me}, have[2] = {-1, -1};
  MPIX_Request request = NULL;
  if (me == 0)
    for (int r = 1; r < n; r++) MPI_Recv(NULL, 0, MPI_INT, r, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  OK(MPIX_Ineighbor_reduce(mine, 2, MPI_DOUBLE, have, 2, MPI_DOUBLE, MPI_SUM, comm, &request));
  if (me != 0) {
    for (int k = 0; k < before; k++) OK(MPIX_Request_wait_source(request, k));
    for (int k = before; k < n; k++) {
      int flag = -1;
      OK(MPIX_Request_test_source(request, k, &flag));
      CHECK(flag == 0, "source %d is part of a result before source %d, which is late", k, before);
    }
    MPI_Send(NULL, 0, MPI_INT, 0, 6, MPI_COMM_WORLD);
  }
  for (int k = 0; k < n; k++) OK(MPIX_Request_wait_source(request, k));
  OK(MPIX_Request_wait(&request));
  double want[2] = {0.75 * n * (n - 1), 1000.0 * n + 0.5 * n * (n - 1)};
  CHECK(have[0] == want[0] && have[1] == want[1], "%g %g, not %g %g", have[0], have[1], want[0], want[1]);
}

/* arrays and datatypes are the caller's again as soon as the start has returned */
static void freed(MPI_Comm comm) {
  for (int persistent = 0; persistent < 2; persistent++)
    for (int large = 0; large < 2; large++) {
      int *send = malloc((size_t)degree * 400 * sizeof(int)), *have = malloc((size_t)degree * 400 * sizeof(int));
      int *counts = malloc((size_t)degree * sizeof(int));
      MPI_Aint *displs = malloc((size_t)degree * sizeof(MPI_Aint));
      MPI_Datatype *types = malloc((size_t)degree * sizeof(MPI_Datatype)), strided;
      MPI_Type_vector(large ? 100 : 3, 1, 2, MPI_INT, &strided);
      MPI_Type_commit(&strided);
      for (int k = 0; k < degree; k++) counts[k] = 1, displs[k] = k * 400 * (MPI_Aint)sizeof(int), types[k] = strided;
      for (int i = 0; i < degree * 400; i++) send[i] = value(me, i / 400, persistent, i % 400), have[i] = -1;
      MPI_Info info;
      MPI_Info_create(&info);
      MPIX_Request request = NULL;
      if (persistent) OK(MPIX_Neighbor_alltoallw_plan(send, counts, displs, types, have, counts, displs, types, comm, info, &request));
      else OK(MPIX_Ineighbor_alltoallw(send, counts, displs, types, have, counts, displs, types, comm, &request));
      MPI_Info_free(&info);
      MPI_Type_free(&strided);
      for (int k = 0; k < degree; k++) counts[k] = -9, displs[k] = 123456789, types[k] = MPI_DATATYPE_NULL;
      free(counts), free(displs), free(types);
      /* another type in the place of the old one */
      MPI_Type_contiguous(7, MPI_DOUBLE, &strided);
      MPI_Type_commit(&strided);
      if (persistent) OK(MPIX_Request_start(&request));
      OK(MPIX_Request_wait(&request));
      if (persistent) OK(MPIX_Request_free(&request));
      MPI_Type_free(&strided);
      int bad = 0;
      for (int k = 0; k < degree; k++)
        for (int i = 0; i < 400; i++) {
          int data = i % 2 == 0 && i / 2 < (large ? 100 : 3);
          bad += have[400 * k + i] != (data ? value(source_of(k), k, persistent, i) : -1);
        }
      CHECK(bad == 0, "%d ints are wrong (persistent %d, large %d)", bad, persistent, large);
      free(send), free(have);
    }
}

/* a persistent one among others, with other data each time, in the order in which they are
   started */
static void persistent(MPI_Comm comm) {
  enum { PLANS = 3 };
  exchange x[PLANS], between;
  MPIX_Request all[PLANS + 1];
  for (int p = 0; p < PLANS; p++) {
    fill(&x[p], 1 + 100 * p, 0);
    OK(MPIX_Neighbor_alltoall_plan(x[p].send, x[p].count, MPI_INT, x[p].have, x[p].count, MPI_INT, comm, MPI_INFO_NULL, &all[p]));
  }
  all[PLANS] = NULL;
  for (int run = 0; run < 6; run++) {
    for (int p = 0; p < PLANS; p++) {
      x[p].tag = 8000 + 10 * run + p;
      for (int i = 0; i < degree * x[p].count; i++) x[p].send[i] = value(me, i / x[p].count, x[p].tag, i % x[p].count), x[p].have[i] = -1;
    }
    if (run % 2) {
      OK(MPIX_Request_startall(PLANS, all));
    } else {
      OK(MPIX_Request_start(&all[run % PLANS]));
      begin(&between, 10, 8500 + run, comm);
      OK(MPIX_Request_start(&all[(run + 1) % PLANS]));
      OK(MPIX_Request_start(&all[(run + 2) % PLANS]));
      OK(MPIX_Request_wait(&between.request));
      end(&between);
    }
    OK(MPIX_Request_waitall(PLANS + 1, all));
    for (int p = 0; p < PLANS; p++)
      for (int k = 0; k < degree; k++) check_block(&x[p], k);
    /* inactive ones are complete */
    int flag = 0, index = -1;
    OK(MPIX_Request_testall(PLANS + 1, all, &flag));
    CHECK(flag == 1, "inactive requests are not complete");
    OK(MPIX_Request_waitany(PLANS + 1, all, &index));
    CHECK(index == MPI_UNDEFINED, "request %d of inactive ones", index);
    index = -1, flag = 0;
    OK(MPIX_Request_testany(PLANS + 1, all, &index, &flag));
    CHECK(flag == 1 && index == MPI_UNDEFINED, "flag %d, request %d of inactive ones", flag, index);
    OK(MPIX_Request_waitsome(PLANS + 1, all, &index, (int[PLANS + 1]){0}));
    CHECK(index == MPI_UNDEFINED, "%d inactive requests", index);
    flag = 0;
    OK(MPIX_Request_test_source(all[0], 0, &flag));
    CHECK(flag == 1, "a source of an inactive request has not arrived");
    OK(MPIX_Request_waitany_source(all[0], &index));
    CHECK(index == MPI_UNDEFINED, "source %d of an inactive request", index);
  }
  for (int p = 0; p < PLANS; p++) {
    OK(MPIX_Request_free(&all[p]));
    CHECK(all[p] == NULL, "a freed request is not NULL");
    free(x[p].send), free(x[p].have);
  }
  OK(MPIX_Request_free(&all[PLANS]));
}

/* persistent ones that match alone are started in another order on each process, and beside
   others */
static void alone(MPI_Comm comm) {
  enum { PLANS = 4 };
  exchange x[PLANS], between;
  MPI_Info info;
  if (getenv("MPIX_NEIGHBOR_VERIFY")) return;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_match", "plan");
  for (int p = 0; p < PLANS; p++) {
    fill(&x[p], 40, 0);
    OK(MPIX_Neighbor_alltoall_plan(x[p].send, x[p].count, MPI_INT, x[p].have, x[p].count, MPI_INT, comm, info, &x[p].request));
  }
  MPI_Info_free(&info);
  for (int run = 0; run < 5; run++) {
    for (int p = 0; p < PLANS; p++) {
      x[p].tag = 9000 + 10 * run + p;
      for (int i = 0; i < degree * 40; i++) x[p].send[i] = value(me, i / 40, x[p].tag, i % 40), x[p].have[i] = -1;
    }
    for (int k = 0; k < PLANS; k++) {
      OK(MPIX_Request_start(&x[(k + me + run) % PLANS].request));
      /* at another place on each process; of the same size */
      if (k == (me + 2 * run) % PLANS) begin(&between, 40, 9500 + run, comm);
    }
    for (int k = 0; k < PLANS; k++) OK(MPIX_Request_wait(&x[(k * 3 + me) % PLANS].request));
    OK(MPIX_Request_wait(&between.request));
    end(&between);
    for (int p = 0; p < PLANS; p++)
      for (int k = 0; k < degree; k++) check_block(&x[p], k);
  }
  for (int p = 0; p < PLANS; p++) {
    OK(MPIX_Request_free(&x[p].request));
    free(x[p].send), free(x[p].have);
  }
}

/* of several requests the text names the one that has failed; the others are completed */
static void several_failures(void) {
  if (n == 1) return;
  MPI_Comm comm = test_duplicate();
  int left = (me + n - 1) % n, right = (me + 1) % n, class = MPI_ERR_TRUNCATE;
  if (getenv("MPIX_NEIGHBOR_VERIFY")) OK(MPIX_Neighbor_error_class(MPIX_ERR_VERIFY, &class));
  OK(MPIX_Neighbor_alltoall_set(1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
  for (int way = 0; way < 3; way++) {
    int send[5] = {me, me, me, me, me}, have[2][5] = {{0}, {0}}, flag = 0, count = 0, indices[2], told = 0;
    MPIX_Request all[2];
    /* by the second one more comes than is expected */
    for (int r = 0; r < 2; r++) OK(MPIX_Ineighbor_alltoall(send, 5, MPI_INT, have[r], 5 - 2 * r, MPI_INT, comm, &all[r]));
    if (way == 0) FAILS(MPIX_Request_waitall(2, all), class, "MPIX_Request_waitall: requests[1]: ");
    while (way == 1 && !flag) {
      int rc = MPIX_Request_testall(2, all, &flag);
      if (flag) FAILS(rc, class, "MPIX_Request_testall: requests[1]: ");
    }
    while (way == 2 && told < 2) {
      int rc = MPIX_Request_waitsome(2, all, &count, indices);
      CHECK(count > 0, "%d requests are complete", count);
      if (count > 0 && indices[count - 1] == 1) FAILS(rc, class, "MPIX_Request_waitsome: requests[1]: ");
      told += count > 0 ? count : 2;
    }
    CHECK(all[0] == NULL && all[1] == NULL, "way %d: a request is not complete", way);
    CHECK(have[0][0] == left && have[0][4] == left, "way %d: %d and %d", way, have[0][0], have[0][4]);
  }
  MPI_Comm_free(&comm);
}

static void errors(void) {
  MPI_Comm comm = test_duplicate();
  set_all(comm, ALL_OPERATIONS);
  exchange x, y;
  int flag = -1;
  fill(&x, 5, 1);
  fill(&y, 5, 2);
  OK(MPIX_Neighbor_alltoall_plan(x.send, 5, MPI_INT, x.have, 5, MPI_INT, comm, MPI_INFO_NULL, &x.request));
  /* all start; nobody completes before all have tried what must not be */
  OK(MPIX_Request_start(&x.request));
  FAILS(MPIX_Request_start(&x.request), MPI_ERR_REQUEST, "MPIX_Request_start: request is active");
  FAILS(MPIX_Request_startall(1, &x.request), MPI_ERR_REQUEST, "requests[0] is active");
  FAILS(MPIX_Request_free(&x.request), MPI_ERR_REQUEST, "is active");
  CHECK(x.request != NULL, "a request that could not be freed is gone");
  FAILS(MPIX_Request_test_source(x.request, degree, &flag), MPI_ERR_ARG, "no index of the source list");
  FAILS(MPIX_Request_wait_source(x.request, -1), MPI_ERR_ARG, "index = -1");
  FAILS(MPIX_Request_test_source(x.request, 0, NULL), MPI_ERR_ARG, "flag is NULL");
  FAILS(MPIX_Request_waitsome_source(x.request, &flag, NULL), MPI_ERR_ARG, "indices is NULL");
  CHECK(flag == -1, "a result was written");
  OK(MPIX_Request_wait(&x.request));
  for (int k = 0; k < degree; k++) check_block(&x, k);
  OK(MPIX_Ineighbor_alltoall(y.send, 5, MPI_INT, y.have, 5, MPI_INT, comm, &y.request));
  FAILS(MPIX_Request_start(&y.request), MPI_ERR_REQUEST, "is not persistent");
  FAILS(MPIX_Request_free(&y.request), MPI_ERR_REQUEST, "is active");
  OK(MPIX_Request_wait(&y.request));
  CHECK(y.request == NULL, "a complete request is not NULL");
  for (int k = 0; k < degree; k++) check_block(&y, k);
  /* arguments in error start nothing and leave the request alone */
  MPIX_Request untouched = x.request;
  FAILS(MPIX_Ineighbor_alltoall(y.send, -5, MPI_INT, y.have, 5, MPI_INT, comm, &untouched), MPI_ERR_COUNT, "sendcount = -5");
  FAILS(MPIX_Neighbor_alltoall_plan(y.send, 5, MPI_DATATYPE_NULL, y.have, 5, MPI_INT, comm, MPI_INFO_NULL, &untouched), MPI_ERR_TYPE, "MPI_DATATYPE_NULL");
  MPI_Datatype raw;
  MPI_Type_contiguous(1, MPI_INT, &raw);
  FAILS(MPIX_Neighbor_alltoall_plan(y.send, 5, raw, y.have, 5, MPI_INT, comm, MPI_INFO_NULL, &untouched), MPI_ERR_TYPE, "sendtype cannot be used");
  FAILS(MPIX_Ineighbor_alltoall(y.send, 5, MPI_INT, y.have, 5, raw, comm, &untouched), MPI_ERR_TYPE, "recvtype cannot be used");
  MPI_Type_free(&raw);
  FAILS(MPIX_Ineighbor_alltoall(y.send, 5, MPI_INT, y.have, 5, MPI_INT, comm, NULL), MPI_ERR_ARG, "request is NULL");
  CHECK(untouched == x.request, "a request was written");
  MPI_Info info = test_hint("mpix_fuse", "perhaps");
  FAILS(MPIX_Neighbor_alltoall_plan(y.send, 5, MPI_INT, y.have, 5, MPI_INT, comm, info, &untouched), MPI_ERR_INFO_VALUE, "perhaps");
  MPI_Info_free(&info);
  /* NULL is no request, but complete */
  MPIX_Request none = NULL;
  int index = -1;
  test_fails(__LINE__, MPI_COMM_WORLD, MPIX_Request_start(&none), MPI_ERR_REQUEST, "request is NULL");
  test_fails(__LINE__, MPI_COMM_WORLD, MPIX_Request_start(NULL), MPI_ERR_ARG, "request is NULL");
  test_fails(__LINE__, MPI_COMM_WORLD, MPIX_Request_waitall(-1, &none), MPI_ERR_ARG, "count = -1");
  test_fails(__LINE__, MPI_COMM_WORLD, MPIX_Request_waitall(1, NULL), MPI_ERR_ARG, "requests is NULL");
  test_fails(__LINE__, MPI_COMM_WORLD, MPIX_Request_test_source(none, 0, &flag), MPI_ERR_REQUEST, "request is NULL");
  OK(MPIX_Request_wait(&none));
  OK(MPIX_Request_test(&none, &flag));
  CHECK(flag == 1, "no request is not complete");
  OK(MPIX_Request_waitall(0, NULL));
  OK(MPIX_Request_testsome(0, NULL, &index, NULL));
  CHECK(index == MPI_UNDEFINED, "%d of no requests", index);
  test_fails(__LINE__, MPI_COMM_WORLD, MPIX_Request_testany(1, &none, &index, NULL), MPI_ERR_ARG, "flag is NULL");
  test_fails(__LINE__, MPI_COMM_WORLD, MPIX_Request_waitsome(1, &none, &index, NULL), MPI_ERR_ARG, "indices is NULL");
  several_failures();
  OK(MPIX_Request_waitany(0, NULL, &index));
  CHECK(index == MPI_UNDEFINED, "%d", index);
  /* a neighborhood that is set again, or freed */
  set_all(comm, MPIX_NEIGHBOR_ALLTOALL);
  FAILS(MPIX_Request_start(&x.request), MPI_ERR_REQUEST, "set again");
  OK(MPIX_Request_free(&x.request));
  OK(MPIX_Neighbor_alltoall_plan(x.send, 5, MPI_INT, x.have, 5, MPI_INT, comm, MPI_INFO_NULL, &x.request));
  OK(MPIX_Neighbor_alltoall_plan(y.send, 5, MPI_INT, y.have, 5, MPI_INT, comm, MPI_INFO_NULL, &y.request));
  /* one is under way while its neighborhood goes */
  for (int i = 0; i < degree * 5; i++) x.have[i] = -1;
  OK(MPIX_Request_start(&x.request));
  OK(MPIX_Neighborhood_free(ALL_OPERATIONS, comm));
  OK(MPIX_Request_wait(&x.request));
  for (int k = 0; k < degree; k++) check_block(&x, k);
  FAILS(MPIX_Request_start(&x.request), MPI_ERR_REQUEST, "has been freed");
  OK(MPIX_Request_free(&x.request));
  OK(MPIX_Request_free(&y.request));
  /* a neighborhood that is freed, and then its communicator: nobody is left who could be told but
     the world */
  {
    MPI_Comm brief;
    MPIX_Request old, running;
    MPI_Comm_dup(comm, &brief);
    set_all(brief, MPIX_NEIGHBOR_ALLTOALL);
    OK(MPIX_Neighbor_alltoall_plan(x.send, 5, MPI_INT, x.have, 5, MPI_INT, brief, MPI_INFO_NULL, &old));
    OK(MPIX_Ineighbor_alltoall(y.send, 5, MPI_INT, y.have, 5, MPI_INT, brief, &running));
    set_all(brief, MPIX_NEIGHBOR_ALLTOALL);
    OK(MPIX_Neighborhood_free(MPIX_NEIGHBOR_ALLTOALL, brief));
    MPI_Comm_free(&brief);
    test_fails(__LINE__, MPI_COMM_WORLD, MPIX_Request_start(&old), MPI_ERR_COMM, "the communicator of request has been freed");
    test_fails(__LINE__, MPI_COMM_WORLD, MPIX_Request_wait(&running), MPI_ERR_COMM, "has been freed");
    CHECK(running == NULL, "a request of a freed communicator is not complete");
    for (int k = 0; k < degree; k++) check_block(&y, k);
    OK(MPIX_Request_free(&old));
  }
  /* one is under way while its communicator goes: it comes to its end, and says so */
  set_all(comm, MPIX_NEIGHBOR_ALLTOALL);
  OK(MPIX_Neighbor_alltoall_plan(x.send, 5, MPI_INT, x.have, 5, MPI_INT, comm, MPI_INFO_NULL, &x.request));
  for (int i = 0; i < degree * 5; i++) x.have[i] = y.have[i] = -1;
  OK(MPIX_Request_start(&x.request));
  OK(MPIX_Ineighbor_alltoall(y.send, 5, MPI_INT, y.have, 5, MPI_INT, comm, &y.request));
  MPI_Comm_free(&comm);
  test_fails(__LINE__, MPI_COMM_WORLD, MPIX_Request_wait(&x.request), MPI_ERR_COMM, "MPIX_Request_wait: the communicator of request has been freed");
  int rc = MPI_SUCCESS;
  for (flag = 0; !flag && rc == MPI_SUCCESS;) rc = MPIX_Request_test(&y.request, &flag);
  test_fails(__LINE__, MPI_COMM_WORLD, rc, MPI_ERR_COMM, "");
  CHECK(flag == 1 && y.request == NULL, "a request of a freed communicator is not complete");
  test_fails(__LINE__, MPI_COMM_WORLD, MPIX_Request_start(&x.request), MPI_ERR_COMM, "");
  OK(MPIX_Request_free(&x.request));
  end(&x), end(&y);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  me = test_rank, n = test_size, degree = n + EXTRA > 2 * n ? 2 * n : n + EXTRA;
  MPI_Comm comm, other;
  comm = test_duplicate();
  other = test_duplicate();
  set_all(comm, ALL_OPERATIONS);
  set_all(other, ALL_OPERATIONS);
  many(comm);
  crossed(comm, other);
  one_by_one(comm);
  late(comm);
  late_reduction(other);
  freed(comm);
  persistent(comm);
  alone(comm);
  MPI_Comm_free(&comm);
  MPI_Comm_free(&other);
  errors();
  return test_finish();
}
