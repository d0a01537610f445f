/* Plans whose blocks are put straight where they are received: with and without gaps, several for a
   process, plans that share memory, memory that is freed and used again, and lengths that differ.
   Run without shared memory, or with nodes of one process, so that edges go by puts. */
#include "test.h"

enum { LONG = 200000, CALLS = 4, GAPS = 8 };

static int me, n, left, right;

/* puts into memory that was attached */
static int straight;
int MPI_Put(const void *from, int count, MPI_Datatype type, int target, MPI_Aint displ, int many, MPI_Datatype there, MPI_Win win) {
  int *flavor = NULL, found = 0;
  MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &found);
  if (found && *flavor == MPI_WIN_FLAVOR_DYNAMIC) straight++;
  return PMPI_Put(from, count, type, target, displ, many, there, win);
}

/* windows with memory of their own that have not been freed */
static int windows;
int MPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win) {
  windows++;
  return PMPI_Win_allocate(size, unit, info, comm, base, win);
}
int MPI_Win_free(MPI_Win *win) {
  int *flavor = NULL, found = 0;
  MPI_Win_get_attr(*win, MPI_WIN_CREATE_FLAVOR, &flavor, &found);
  if (found && *flavor == MPI_WIN_FLAVOR_ALLOCATE) windows--;
  return PMPI_Win_free(win);
}

/* true if plans put straight, which some MPIs cannot */
static int can;

/* With fences, a target answers before a message, and says where its blocks lie, only where it has
   offered such places for the message before. */
static int fenced, offered;

/* true if this message goes straight; `offers`: whether its target offers places */
static int goes(int offers) {
  int yes = offers && (!fenced || offered);
  offered = offers;
  return yes;
}

static void set_ring(int edges, MPI_Comm comm) {
  static char text[8192];
  int length, sources[] = {left, left}, targets[] = {right, right};
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_schedule", "direct");
  MPI_Info_set(info, "mpix_transport", "rma");
  MPI_Info_set(info, "mpix_rma_straight", "16384"); /* where it is measured, nobody knows what goes straight */
  OK(MPIX_Neighborhood_set(ALL_OPERATIONS, edges, sources, MPI_UNWEIGHTED, edges, targets, MPI_UNWEIGHTED, info, comm));
  MPI_Info_free(&info);
  OK(MPIX_Neighborhood_describe(MPIX_NEIGHBOR_ALLTOALL, comm, (int)sizeof text, text, &length));
  can = n > 1 && strstr(text, "plans put messages of 16384 bytes and more straight") != NULL;
  fenced = strstr(text, "from the second start on") != NULL, offered = 0;
  if (n > 1) CHECK(can || strstr(text, "plans use it too: "), "%s", text);
}

static MPI_Comm ring(int edges) {
  MPI_Comm comm = test_duplicate();
  set_ring(edges, comm);
  return comm;
}

static char value(int from, int call, size_t i) { return (char)(7 * from + 11 * call + (int)(i % 127) + (int)(i / 127) + 1); }

static void fill(char *send, size_t bytes, int call) {
  for (size_t i = 0; i < bytes; i++) send[i] = value(me, call, i);
}

static int wrong(const char *have, size_t bytes, int call, size_t from) {
  int bad = 0;
  for (size_t i = 0; i < bytes; i++) bad += have[i] != value(left, call, from + i);
  return bad;
}

static void run(MPIX_Request *plan) {
  OK(MPIX_Request_start(plan));
  OK(MPIX_Request_wait(plan));
}

/* checks how many puts went straight since the last time */
static void puts_are(int expected, const char *what) {
  if (can) CHECK(straight == expected, "%s: %d puts went straight, not %d", what, straight, expected);
  straight = 0;
}

/* one block, of any length; a plan's later starts too; longer than a slot */
static void contiguous(void) {
  static const int bytes[] = {0, 100, 16383, 16384, 65537, LONG};
  MPI_Comm comm = ring(1);
  char *send = malloc(LONG), *have = malloc(LONG + 1);
  for (int k = 0; k < (int)(sizeof bytes / sizeof *bytes); k++) {
    MPIX_Request plan;
    OK(MPIX_Neighbor_alltoall_plan(send, bytes[k], MPI_BYTE, have, bytes[k], MPI_BYTE, comm, MPI_INFO_NULL, &plan));
    straight = 0;
    int expected = 0;
    for (int call = 0; call < CALLS; call++) {
      fill(send, LONG, call), memset(have, 0, LONG + 1);
      run(&plan);
      expected += goes(bytes[k] >= 16384);
      CHECK(wrong(have, (size_t)bytes[k], call, 0) == 0 && have[bytes[k]] == 0, "%d bytes, call %d", bytes[k], call);
    }
    puts_are(expected, "contiguous");
    OK(MPIX_Request_free(&plan));
  }
  free(send), free(have);
  MPI_Comm_free(&comm);
}

/* blocks with gaps, on either side, which stay as they are; a type of too many runs */
static void gaps(void) {
  static const int runs[] = {GAPS, 100};
  MPI_Comm comm = ring(1);
  char *send = malloc(2 * LONG), *have = malloc(2 * LONG), *packed = malloc(2 * LONG);
  for (int k = 0; k < 2; k++)
    for (int side = 0; side < 3; side++) {
      int many = runs[k], run_bytes = LONG / many / 2 * 2, total = many * run_bytes;
      MPI_Datatype vector;
      MPI_Type_vector(many, run_bytes, 2 * run_bytes, MPI_BYTE, &vector);
      MPI_Type_commit(&vector);
      int sends = side & 1 || side == 0, receives = side & 2 || side == 0;
      MPIX_Request plan;
      MPI_Aint zero = 0;
      int send_count = sends ? 1 : total, recv_count = receives ? 1 : total;
      MPI_Datatype send_type = sends ? vector : MPI_BYTE, recv_type = receives ? vector : MPI_BYTE;
      OK(MPIX_Neighbor_alltoallw_plan(send, &send_count, &zero, &send_type, have, &recv_count, &zero, &recv_type, comm, MPI_INFO_NULL, &plan));
      MPI_Type_free(&vector);
      straight = 0;
      int expected = 0;
      for (int call = 0; call < CALLS; call++) {
        fill(packed, (size_t)total, call);
        memset(send, 9, 2 * LONG), memset(have, -3, 2 * LONG);
        for (int i = 0; i < total; i++) send[sends ? i / run_bytes * 2 * run_bytes + i % run_bytes : i] = packed[i];
        run(&plan);
        if (goes(!receives || many == GAPS)) expected += receives ? GAPS : 1;
        int bad = 0;
        for (int r = 0; r < many; r++) {
          size_t at = (size_t)(r * run_bytes);
          bad += wrong(have + (receives ? 2 * at : at), (size_t)run_bytes, call, at);
          if (receives && r + 1 < many)
            for (int i = 0; i < run_bytes; i++) bad += have[2 * at + (size_t)run_bytes + (size_t)i] != -3;
        }
        CHECK(bad == 0, "%d runs, side %d, call %d: %d are wrong", many, side, call, bad);
      }
      puts_are(expected, "gaps");
      OK(MPIX_Request_free(&plan));
    }
  free(send), free(have), free(packed);
  MPI_Comm_free(&comm);
}

/* two blocks for the same process, apart from one another and not in the order of the sends */
static void several(void) {
  MPI_Comm comm = ring(2);
  char *send = malloc(2 * LONG), *have = malloc(3 * LONG);
  int bytes = LONG / 2, counts[] = {bytes, bytes}, from[] = {0, bytes}, into[] = {2 * bytes, 0};
  MPIX_Request plan;
  OK(MPIX_Neighbor_alltoallv_plan(send, counts, from, MPI_BYTE, have, counts, into, MPI_BYTE, comm, MPI_INFO_NULL, &plan));
  straight = 0;
  int expected = 0;
  for (int call = 0; call < CALLS; call++) {
    fill(send, 2 * LONG, call), memset(have, 0, 3 * LONG);
    run(&plan);
    expected += 2 * goes(1);
    int bad = wrong(have + into[0], (size_t)bytes, call, 0) + wrong(have + into[1], (size_t)bytes, call, (size_t)bytes);
    for (int i = 0; i < bytes; i++) bad += have[bytes + i] != 0;
    CHECK(bad == 0, "two blocks, call %d: %d are wrong", call, bad);
  }
  puts_are(expected, "several");
  OK(MPIX_Request_free(&plan));
  /* every process sends one block along both edges: it travels once, as before */
  OK(MPIX_Neighbor_gather_plan(send, bytes, MPI_BYTE, have, bytes, MPI_BYTE, comm, MPI_INFO_NULL, &plan));
  run(&plan);
  CHECK(wrong(have, (size_t)bytes, CALLS - 1, 0) + wrong(have + bytes, (size_t)bytes, CALLS - 1, 0) == 0, "gather");
  OK(MPIX_Request_free(&plan));
  free(send), free(have);
  MPI_Comm_free(&comm);
}

/* plans into the same memory, and into memory that overlaps; each is right when it has run */
static void shared_memory(void) {
  MPI_Comm comm = ring(1);
  char *send = malloc(LONG), *have = malloc(2 * LONG);
  MPIX_Request same[2], within, across;
  for (int k = 0; k < 2; k++)
    OK(MPIX_Neighbor_alltoall_plan(send, LONG, MPI_BYTE, have, LONG, MPI_BYTE, comm, MPI_INFO_NULL, &same[k]));
  OK(MPIX_Neighbor_alltoall_plan(send, LONG / 2, MPI_BYTE, have + 7, LONG / 2, MPI_BYTE, comm, MPI_INFO_NULL, &within));
  OK(MPIX_Neighbor_alltoall_plan(send, LONG, MPI_BYTE, have + LONG / 2, LONG, MPI_BYTE, comm, MPI_INFO_NULL, &across));
  straight = 0;
  int expected = 0;
  for (int call = 0; call < CALLS; call++) {
    fill(send, LONG, call);
    for (int k = 0; k < 2; k++) {
      memset(have, 0, 2 * LONG);
      run(&same[k]);
      expected += goes(1);
      CHECK(wrong(have, LONG, call, 0) == 0, "the same memory, call %d", call);
    }
    memset(have, 0, 2 * LONG);
    run(&within);
    expected += goes(1);
    CHECK(wrong(have + 7, LONG / 2, call, 0) == 0 && have[6] == 0 && have[7 + LONG / 2] == 0, "within, call %d", call);
    run(&across);
    expected += goes(0);
    CHECK(wrong(have + LONG / 2, LONG, call, 0) == 0, "across, call %d", call);
  }
  puts_are(expected, "shared memory");
  /* the others keep what the first one had attached */
  OK(MPIX_Request_free(&same[0]));
  memset(have, 0, LONG);
  run(&same[1]);
  CHECK(wrong(have, LONG, CALLS - 1, 0) == 0, "after another plan of the same memory was freed");
  OK(MPIX_Request_free(&same[1]));
  memset(have, 0, LONG);
  run(&within);
  CHECK(wrong(have + 7, LONG / 2, CALLS - 1, 0) == 0, "after the outer plans were freed");
  OK(MPIX_Request_free(&across));
  expected = goes(1);
  puts_are(expected + goes(1), "what is left");
  /* what is attached only for plans that were freed may have been freed, too, and be other memory
     now */
  MPIX_Request beyond;
  OK(MPIX_Neighbor_alltoall_plan(send, LONG / 4, MPI_BYTE, have + LONG / 4 * 3, LONG / 4, MPI_BYTE, comm, MPI_INFO_NULL, &beyond));
  expected = 0;
  for (int call = 0; call < CALLS; call++) {
    memset(have, 0, LONG);
    run(&beyond);
    expected += goes(0);
    CHECK(wrong(have + LONG / 4 * 3, LONG / 4, CALLS - 1, 0) == 0, "beyond, call %d", call);
  }
  puts_are(expected, "beyond");
  OK(MPIX_Request_free(&within));
  OK(MPIX_Request_free(&beyond));
  free(send), free(have);
  MPI_Comm_free(&comm);
}

/* plan and memory are freed, and another plan gets the same address, or another one near by */
static void again(void) {
  MPI_Comm comm = ring(1);
  char *send = malloc(2 * LONG);
  int expected = 0;
  straight = 0;
  for (int round = 0; round < 12; round++) {
    int bytes = round % 3 == 2 ? 2 * LONG : LONG;
    char *have = calloc(1, (size_t)bytes);
    MPIX_Request plan;
    OK(MPIX_Neighbor_alltoall_plan(send, bytes, MPI_BYTE, have, bytes, MPI_BYTE, comm, MPI_INFO_NULL, &plan));
    fill(send, (size_t)bytes, round);
    run(&plan);
    expected += goes(1);
    CHECK(wrong(have, (size_t)bytes, round, 0) == 0, "round %d", round);
    OK(MPIX_Request_free(&plan));
    free(have);
  }
  puts_are(expected, "again");
  free(send);
  MPI_Comm_free(&comm);
}

/* the window of a neighborhood that has been replaced is freed when its plans have been, one of
   them far later than the others */
static void outlived(void) {
  enum { SETS = 40 };
  MPI_Comm comm = ring(1);
  int most = 0, before = windows, send = me, have = -1;
  MPIX_Request kept = NULL;
  for (int round = 0; round < SETS; round++) {
    MPIX_Request plan;
    OK(MPIX_Neighbor_alltoall_plan(&send, 1, MPI_INT, &have, 1, MPI_INT, comm, MPI_INFO_NULL, &plan));
    set_ring(1, comm);
    if (round == 0) kept = plan;
    else OK(MPIX_Request_free(&plan));
    if (windows > most) most = windows;
  }
  CHECK(most <= before + 2, "%d windows for %d operations", most, before);
  OK(MPIX_Neighborhood_free(ALL_OPERATIONS, comm));
  CHECK(windows <= (before > 0), "%d windows beside that of a plan", windows);
  OK(MPIX_Request_free(&kept));
  set_ring(1, comm);
  MPI_Comm_free(&comm);
  CHECK(windows == 0, "%d windows at the end", windows);
}

/* many plans at the same time, side by side in memory: those run too that attach no memory */
static void many(void) {
  enum { PLANS = 100, BYTES = 17000 };
  MPI_Comm comm = ring(1);
  char *send = malloc(BYTES), *have[PLANS];
  MPIX_Request plans[PLANS];
  for (int k = 0; k < PLANS; k++) {
    have[k] = malloc(BYTES);
    OK(MPIX_Neighbor_alltoall_plan(send, BYTES, MPI_BYTE, have[k], BYTES, MPI_BYTE, comm, MPI_INFO_NULL, &plans[k]));
  }
  straight = 0;
  for (int call = 0; call < 2; call++) {
    fill(send, BYTES, call);
    for (int k = 0; k < PLANS; k++) {
      memset(have[k], 0, BYTES);
      run(&plans[k]);
      CHECK(wrong(have[k], BYTES, call, 0) == 0, "plan %d, call %d", k, call);
    }
  }
  if (can) CHECK(straight > 0 && straight <= 2 * PLANS, "%d puts went straight", straight);
  for (int k = 0; k < PLANS; k++) {
    OK(MPIX_Request_free(&plans[k]));
    free(have[k]);
  }
  free(send);
  MPI_Comm_free(&comm);
}

/* one end has a plan and the other one makes single calls; requests are under way together */
static void mixed(void) {
  MPI_Comm comm = ring(1);
  char *send = malloc(LONG), *have = malloc(LONG), *other = malloc(LONG);
  MPIX_Request plan, request;
  OK(MPIX_Neighbor_alltoall_plan(send, LONG, MPI_BYTE, have, LONG, MPI_BYTE, comm, MPI_INFO_NULL, &plan));
  for (int call = 0; call < 3 * CALLS; call++) {
    fill(send, LONG, call), memset(have, 0, LONG), memset(other, 0, LONG);
    if ((me + call) % 2) {
      run(&plan);
    } else {
      OK(MPIX_Neighbor_alltoall(send, LONG, MPI_BYTE, have, LONG, MPI_BYTE, comm));
    }
    CHECK(wrong(have, LONG, call, 0) == 0, "call %d", call);
    memset(have, 0, LONG);
    OK(MPIX_Request_start(&plan));
    OK(MPIX_Ineighbor_alltoall(send, LONG, MPI_BYTE, other, LONG, MPI_BYTE, comm, &request));
    OK(MPIX_Request_wait(&request));
    OK(MPIX_Request_wait(&plan));
    CHECK(wrong(have, LONG, call, 0) + wrong(other, LONG, call, 0) == 0, "together, call %d", call);
  }
  OK(MPIX_Request_free(&plan));
  free(send), free(have), free(other);
  MPI_Comm_free(&comm);
}

/* a message that is longer or shorter than its place: an error, or, of one block, a short message;
   nothing else is written, and the next call is right */
static void lengths_differ(void) {
  MPI_Comm comm = ring(1);
  char *send = malloc(2 * LONG), *have = malloc(2 * LONG);
  fill(send, 2 * LONG, 0);
  straight = 0;
  for (int k = 0; k < 2 && n > 1; k++) {
    int sent = k ? LONG / 2 : 2 * LONG - 10, class = -1;
    MPIX_Request plan;
    OK(MPIX_Neighbor_alltoallv_plan(send, &sent, &(int){0}, MPI_BYTE, have, &(int){LONG}, &(int){0}, MPI_BYTE, comm, MPI_INFO_NULL, &plan));
    for (int call = 0; call < 2; call++) {
      memset(have, 0, 2 * LONG);
      OK(MPIX_Request_start(&plan));
      MPI_Error_class(MPIX_Request_wait(&plan), &class);
      CHECK(class == (k ? MPI_SUCCESS : MPI_ERR_TRUNCATE), "%d bytes: class %d", sent, class);
      if (k) CHECK(wrong(have, (size_t)sent, 0, 0) == 0, "a short message is wrong");
      CHECK(have[k ? sent : LONG] == 0, "the block was overrun");
    }
    OK(MPIX_Request_free(&plan));
    puts_are(0, "lengths that differ");
    int last = -1;
    OK(MPIX_Neighbor_alltoall(&me, 1, MPI_INT, &last, 1, MPI_INT, comm));
    CHECK(last == left, "the call after the error: %d", last);
  }
  free(send), free(have);
  MPI_Comm_free(&comm);
}

/* the plan is freed last: after its neighborhood, and after its communicator */
static void late(void) {
  MPI_Comm comm = ring(1);
  char *send = malloc(LONG), *have = malloc(LONG);
  MPIX_Request plan;
  OK(MPIX_Neighbor_alltoall_plan(send, LONG, MPI_BYTE, have, LONG, MPI_BYTE, comm, MPI_INFO_NULL, &plan));
  fill(send, LONG, 1);
  run(&plan);
  CHECK(wrong(have, LONG, 1, 0) == 0, "before");
  OK(MPIX_Neighborhood_free(ALL_OPERATIONS, comm));
  MPI_Comm_free(&comm);
  OK(MPIX_Request_free(&plan));
  free(send), free(have);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  me = test_rank, n = test_size;
  left = (me + n - 1) % n, right = (me + 1) % n;
  contiguous();
  gaps();
  several();
  shared_memory();
  again();
  outlived();
  many();
  mixed();
  /* verification finds that before anything is put */
  if (!getenv("MPIX_NEIGHBOR_VERIFY")) lengths_differ();
  late();
  return test_finish();
}
