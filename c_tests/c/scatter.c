/* alltoall from one process to others along trees, against the definition: hubs of any rank, with
   all or some targets in any order, all forms of the collective, datatypes that differ between hub
   and targets, blocks of all lengths, and what is an error. Receive buffers are compared whole. */
#include "forms.h"

enum { KINDS = 4, INTS = 2, SENTINEL = -77 };

/* a datatype of two ints: where they lie and how far elements are apart, in ints */
static struct {
  MPI_Datatype type;
  int offset[INTS], extent;
} layouts[KINDS];

static void make(int kind, int first, int second, int lb, int extent) {
  int lengths[2] = {1, 1};
  MPI_Aint at[2] = {first * (MPI_Aint)sizeof(int), second * (MPI_Aint)sizeof(int)};
  MPI_Datatype plain;
  MPI_Type_create_hindexed(2, lengths, at, MPI_INT, &plain);
  MPI_Type_create_resized(plain, lb * (MPI_Aint)sizeof(int), extent * (MPI_Aint)sizeof(int), &layouts[kind].type);
  MPI_Type_free(&plain);
  MPI_Type_commit(&layouts[kind].type);
  layouts[kind].offset[0] = first, layouts[kind].offset[1] = second, layouts[kind].extent = extent;
}

static int me, n, trees;

/* int `k` of a block of a layout */
static int *at(int *base, int kind, int k) { return base + (k / INTS) * layouts[kind].extent + layouts[kind].offset[k % INTS]; }

/* the hub's targets, and the entry of each process there */
static int hub, outdegree, targets[80], entry_of[80];

static void clear(int from) {
  hub = from, outdegree = 0;
  for (int r = 0; r < n; r++) entry_of[r] = -1;
}
static void target(int r) {
  if (r != MPI_PROC_NULL) entry_of[r] = outdegree;
  targets[outdegree++] = r;
}

static MPI_Info promise(const char *key, const char *value) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_whole_communicator", "true");
  if (key) MPI_Info_set(info, key, value);
  return info;
}

static int set(int operations, int weight, MPI_Info info, MPI_Comm comm) {
  int weights[80];
  for (int i = 0; i < 80; i++) weights[i] = weight;
  const int *w = weight ? weights : MPI_UNWEIGHTED;
  return MPIX_Neighborhood_set(operations, entry_of[me] >= 0, &hub, w, me == hub ? outdegree : 0, targets, w, info, comm);
}

/* `count` elements to each, of one layout at the hub and another one at each target; the `longest`
   block decides the buffers' sizes */
static void exchange(uint64_t seed, int form, int longest, MPI_Comm comm) {
  int equal = form < 2, room = (longest + 1) * 5 + 8;
  int skind = mix2(seed, 1) % KINDS, rkind = mix2(seed, me + 2) % KINDS;
  int counts[80], displs[80], mine = 0;
  MPI_Aint wdispls[80], bytes[80];
  MPI_Count wcounts[80];
  MPI_Datatype types[80];
  for (int i = 0; i < outdegree; i++) {
    /* a third of them without a byte, but one count for all in alltoall */
    uint64_t h = mix2(seed, equal ? 7 : 100 + i);
    counts[i] = h % 3 == 0 && !equal ? 0 : (int)(h / 3 % (longest + 1));
    wcounts[i] = counts[i];
    /* blocks in reverse order, with gaps */
    wdispls[i] = displs[i] = equal ? i * counts[i] : (outdegree - 1 - i) * (longest + 1);
    int kind = form >= 4 ? (int)(mix3(seed, 3, i) % KINDS) : skind;
    types[i] = layouts[kind].type;
    bytes[i] = (MPI_Aint)i * room * (MPI_Aint)sizeof(int);
  }
  buffer send = new_buffer(me == hub ? (outdegree + 2) * room : 1, 0), have = new_buffer(2 * room, SENTINEL), want = new_buffer(2 * room, SENTINEL);
  int *sendbuf = send.image + (me == hub ? room : 0), *recvbuf = have.image + room / 2;
  for (int i = 0; me == hub && i < outdegree; i++)
    for (int k = 0; k < counts[i] * INTS; k++) {
      if (form >= 4) *at(sendbuf + i * room, mix3(seed, 3, i) % KINDS, k) = test_value(hub, i, k);
      else *at(sendbuf + (equal ? i * counts[i] : displs[i]) * layouts[skind].extent, skind, k) = test_value(hub, i, k);
    }
  int entry = entry_of[me], zero = 0;
  MPI_Count wmine;
  MPI_Aint wzero = 0;
  if (entry >= 0) {
    mine = counts[entry];
    for (int k = 0; k < mine * INTS; k++) *at(want.image + room / 2, rkind, k) = test_value(hub, entry, k);
  }
  wmine = mine;
  MPI_Datatype st = layouts[skind].type, rt = layouts[rkind].type;
  int one = outdegree ? counts[0] : 0;
  switch (form) {
    case 0: OK(MPIX_Neighbor_alltoall(sendbuf, one, st, recvbuf, mine, rt, comm)); break;
    case 1: OK(MPIX_Neighbor_alltoall_c(sendbuf, one, st, recvbuf, mine, rt, comm)); break;
    case 2: OK(MPIX_Neighbor_alltoallv(sendbuf, counts, displs, st, recvbuf, &mine, &zero, rt, comm)); break;
    case 3: OK(MPIX_Neighbor_alltoallv_c(sendbuf, wcounts, wdispls, st, recvbuf, &wmine, &wzero, rt, comm)); break;
    case 4: OK(MPIX_Neighbor_alltoallw(sendbuf, counts, bytes, types, recvbuf, &mine, &wzero, &rt, comm)); break;
    case 5: OK(MPIX_Neighbor_alltoallw_c(sendbuf, wcounts, bytes, types, recvbuf, &wmine, &wzero, &rt, comm)); break;
  }
  char what[100];
  snprintf(what, sizeof what, "hub %d, %d targets, form %d, at most %d elements, layouts %d to %d", hub, outdegree, form, longest, skind, rkind);
  compare(what, &have, &want);
  free(send.image), free(have.image), free(want.image);
}

static void all_forms(MPI_Comm comm) {
  for (int repeat = 0; repeat < 2; repeat++)
    for (int form = 0; form < 6; form++) exchange(1000 * hub + 10 * form + repeat, form, 4, comm);
}

static void stars(void) {
  MPI_Comm comm = test_duplicate();
  MPI_Info info = promise(NULL, NULL);
  for (int from = 0; from < n; from++)
    for (int which = 0; which < 5; which++) {
      clear(from);
      for (int i = 0; i < n; i++) {
        int up = (from + i) % n, down = (from + n - i) % n;
        /* all others, as a scatter has them */
        if (which == 0 && up != from) target(up);
        if (which == 1) target(down);                          /* all, downward, the hub first */
        if (which == 2 && (i % 2 || i == 4)) target(i);        /* some, in the order of ranks */
        if (which == 3 && up != from) target(down), target(MPI_PROC_NULL);
        if (which == 4 && i < 1) target(from);                 /* only itself, and */
      }
      if (which == 4 && n > 2) target((from + 2) % n);         /* one other process */
      OK(set(MPIX_NEIGHBOR_ALLTOALL, which == 1 ? 1000 : 0, info, comm));
      const char *asked = getenv("MPIX_SCHEDULE");
      if (trees) CHECK(strstr(test_described(MPIX_NEIGHBOR_ALLTOALL, comm), asked), "%s", test_described(MPIX_NEIGHBOR_ALLTOALL, comm));
      all_forms(comm);
    }
  /* nobody sends */
  clear(0);
  OK(set(MPIX_NEIGHBOR_ALLTOALL, 0, info, comm));
  all_forms(comm);
  MPI_Info_free(&info);
  MPI_Comm_free(&comm);
}

/* blocks that no MPI sends without asking the receiver, and short ones after them; other machines,
   other trees */
static void lengths(void) {
  const char *machines[] = {"jaguar", "meiko_elan"};
  for (int m = 0; m < 2; m++) {
    MPI_Comm comm = test_duplicate();
    MPI_Info info = promise("mpix_loggp", machines[m]);
    clear(n - 1);
    for (int r = 0; r < n; r++) target(r);
    OK(set(MPIX_NEIGHBOR_ALLTOALL, m ? 3 : 200000, info, comm));
    for (int longest = 50000; longest > 0; longest /= 37)
      for (int form = 0; form < 6; form += 2) exchange(longest + form, form, longest, comm);
    for (int repeat = 0; repeat < 50; repeat++) exchange(repeat, 2, 20, comm);
    MPI_Info_free(&info);
    MPI_Comm_free(&comm);
  }
}

/* processes that also send to themselves, ahead of the hub or behind it: with a tree, which is
   chosen where each further message costs much, everyone still gets all blocks */
static void own_edges(void) {
  MPIX_Loggp machine = {.latency = 1, .send_overhead = 0.1, .recv_overhead = 0.1, .gap = 100, .gap_per_byte = 1e-6};
  MPI_Comm comm = test_duplicate();
  MPI_Info info = promise("mpix_weight_unit", "1");
  OK(MPIX_Loggp_set(&machine, comm));
  for (int from = 0; from < n; from++) {
    int to[80] = {0}, weights[80], blocks[80], have[2] = {SENTINEL, SENTINEL}, count = 0;
    const int own = me != from && me % 2, first = own && me % 4 == 1;
    int sources[2] = {first ? me : from, first ? from : me};
    for (int r = 0; me == from && r < n; r++)
      if (r != from) to[count++] = r;
    if (own) to[count++] = me;
    for (int i = 0; i < 80; i++) weights[i] = 8, blocks[i] = me == from ? 100 * from + to[i < count ? i : 0] : -me;
    OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, me == from ? 0 : 1 + own, sources, weights, count, to, weights, info, comm));
    /* all choices are open */
    const int open = !getenv("MPIX_SCHEDULE") || !strcmp(getenv("MPIX_SCHEDULE"), "auto");
    if (open && n > 2 && !getenv("MPIX_LOGGP")) CHECK(strstr(test_described(MPIX_NEIGHBOR_ALLTOALL, comm), "scatter_"), "%s", test_described(MPIX_NEIGHBOR_ALLTOALL, comm));
    OK(MPIX_Neighbor_alltoall(blocks, 1, MPI_INT, have, 1, MPI_INT, comm));
    if (me != from) CHECK(have[first] == 100 * from + me, "hub %d: %d", from, have[first]);
    if (own) CHECK(have[!first] == -me, "hub %d: %d from itself", from, have[!first]);
  }
  MPI_Info_free(&info);
  MPI_Comm_free(&comm);
}

static MPI_Comm comm;

/* everyone gets an int, and all is well; `except` gets none or another one */
static void simple(int line, int except) {
  int values[80], have = SENTINEL;
  for (int i = 0; i < outdegree; i++) values[i] = 100 * line + i;
  OK(MPIX_Neighbor_alltoall(values, 1, MPI_INT, &have, 1, MPI_INT, comm));
  if (me != except) CHECK(have == (entry_of[me] >= 0 ? 100 * line + entry_of[me] : SENTINEL), "line %d: %d", line, have);
}

static void everyone(int from) {
  clear(from);
  for (int r = 0; r < n; r++)
    if (r != from) target(r);
}

/* neighborhoods that a tree cannot serve */
static void refused(void) {
  MPI_Info info = promise(NULL, NULL), silent;
  MPI_Info_create(&silent);
  everyone(0);
  FAILS(set(MPIX_NEIGHBOR_ALLTOALL, 0, silent, comm), MPI_ERR_ARG, "mpix_whole_communicator=true must promise");
  FAILS(set(ALL_OPERATIONS, 0, info, comm), MPI_ERR_ARG, "it serves MPIX_NEIGHBOR_ALLTOALL and MPIX_NEIGHBOR_ACCUMULATE only");
  FAILS(set(MPIX_NEIGHBOR_GATHER, 0, info, comm), MPI_ERR_ARG, "it serves MPIX_NEIGHBOR_ALLTOALL and MPIX_NEIGHBOR_ACCUMULATE only");
  int next = (me + 1) % n, last = (me + n - 1) % n, twice[2] = {n - 1, n - 1}, zeros[2] = {0, 0};
  if (n > 1) {
    int rc = MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, 1, &last, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, info, comm);
    FAILS(rc, MPI_ERR_ARG, "it needs a neighborhood in which only one process sends to others, to each of them once");
    rc = MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, me == n - 1 ? 2 : 0, zeros, MPI_UNWEIGHTED, me == 0 ? 2 : 0, twice, MPI_UNWEIGHTED, info, comm);
    FAILS(rc, MPI_ERR_ARG, "to each of them once");
    int mismatch = -1;
    MPIX_Neighbor_error_class(MPIX_ERR_MISMATCH, &mismatch);
    FAILS(set(MPIX_NEIGHBOR_ALLTOALL, 0, me ? info : silent, comm), mismatch, "mpix_whole_communicator");
  }
  /* an alltoall that is set does not serve a gather with the same lists and hints */
  OK(set(MPIX_NEIGHBOR_ALLTOALL, 0, info, comm));
  FAILS(set(MPIX_NEIGHBOR_GATHER, 0, info, comm), MPI_ERR_ARG, "it serves MPIX_NEIGHBOR_ALLTOALL and MPIX_NEIGHBOR_ACCUMULATE only");
  simple(__LINE__, -1);
  MPI_Info_free(&info);
  MPI_Info_free(&silent);
}

/* a process that others rely on expects less, or more, than comes */
static void other_lengths(void) {
  MPI_Info info = promise(NULL, NULL);
  everyone(0);
  OK(set(MPIX_NEIGHBOR_ALLTOALL, 0, info, comm));
  MPI_Info_free(&info);
  /* of a binomial tree the first to receive, half of all blocks */
  int relay = n - n / 2;
  if (n < 4 || strcmp(getenv("MPIX_SCHEDULE"), "scatter_binomial") || getenv("MPIX_NEIGHBOR_VERIFY")) return;
  for (int expected = 0; expected < 5; expected++) {
    int values[240], have[20];
    for (int i = 0; i < 3 * outdegree; i++) values[i] = i;
    for (int i = 0; i < 20; i++) have[i] = SENTINEL;
    /* three ints to each; at the relay in elements of two ints with holes */
    int rc = me == relay ? MPIX_Neighbor_alltoall(values, 3, MPI_INT, have, expected, layouts[1].type, comm)
                         : MPIX_Neighbor_alltoall(values, 3, MPI_INT, have, 3, MPI_INT, comm);
    if (me == relay && expected < 2) {
      char text[100];
      snprintf(text, sizeof text, "source 0 sends 12 bytes, but this process expects %d bytes", 8 * expected);
      FAILS(rc, MPI_ERR_TRUNCATE, text);
      CHECK(have[0] == SENTINEL, "%d was written", have[0]);
    } else {
      CHECK(rc == MPI_SUCCESS, "%s", test_message(rc));
    }
    int entry = entry_of[me];
    if (me == relay && expected >= 2) {
      CHECK(have[0] == 3 * entry && have[2] == 3 * entry + 1 && have[4] == 3 * entry + 2, "%d %d %d", have[0], have[2], have[4]);
      CHECK(have[1] == SENTINEL && have[6] == SENTINEL, "%d %d", have[1], have[6]);
    }
    if (me != relay && me != 0) CHECK(have[0] == 3 * entry && have[2] == 3 * entry + 2, "%d %d", have[0], have[2]);
    simple(__LINE__, -1);
  }
}

/* verification: those who pass on others' blocks do so whatever is wrong with their own */
static void verified(void) {
  MPI_Info info = promise("mpix_verify", "true");
  everyone(n - 1);
  OK(set(MPIX_NEIGHBOR_ALLTOALL, 0, info, comm));
  MPI_Info_free(&info);
  simple(__LINE__, -1);
  int verify = -1;
  MPIX_Neighbor_error_class(MPIX_ERR_VERIFY, &verify);
  for (int wrong = 0; wrong < n && n > 1; wrong++)
    for (int how = 0; how < 3; how++) {
      int values[160], have[2] = {SENTINEL, SENTINEL}, rc;
      for (int i = 0; i < 2 * outdegree; i++) values[i] = i + 1;
      /* a target that expects two ints; arguments in error; at the hub two ints for all */
      int count = me != wrong ? 1 : how == 0 ? 2 : -1;
      MPI_Datatype type = me == wrong && how == 2 ? MPI_DATATYPE_NULL : MPI_INT;
      if (how == 2) count = 1;
      if (me == hub) rc = MPIX_Neighbor_alltoall(values, count, type, have, 1, MPI_INT, comm);
      else rc = MPIX_Neighbor_alltoall(values, 1, MPI_INT, have, count, type, comm);
      if (how == 0 && (me == hub || me == wrong || wrong == hub)) FAILS(rc, verify, "expects");
      else if (me == wrong) FAILS(rc, how == 1 ? MPI_ERR_COUNT : MPI_ERR_TYPE, how == 1 ? "= -1 is negative" : "MPI_DATATYPE_NULL");
      else if (me == hub || wrong == hub) FAILS(rc, verify, "as its arguments are in error");
      else CHECK(rc == MPI_SUCCESS, "%s", test_message(rc));
      int want = me == hub || me == wrong || wrong == hub ? SENTINEL : entry_of[me] + 1;
      CHECK(have[0] == want && have[1] == SENTINEL, "process %d wrong in way %d: %d instead of %d", wrong, how, have[0], want);
      simple(__LINE__, -1);
    }
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  me = test_rank, n = test_size;
  const char *asked = getenv("MPIX_SCHEDULE");
  trees = asked && strncmp(asked, "scatter_", 8) == 0;
  make(0, 0, 1, 0, 2);   /* contiguous */
  make(1, 0, 2, 0, 4);   /* strided */
  make(2, 1, 0, 0, 2);   /* no holes, but in another order */
  make(3, -2, 1, -2, 5); /* negative lower bound */
  stars();
  lengths();
  own_edges();
  comm = test_duplicate();
  if (trees) refused(), other_lengths();
  verified();
  MPI_Comm_free(&comm);
  for (int k = 0; k < KINDS; k++) MPI_Type_free(&layouts[k].type);
  return test_finish();
}
