/* The order in which messages are posted: receives before sends, but where messages are long, those
   from a process behind those to it. What fails in either order is told alike. */
#include "test.h"

/* how many sends and receives of data there are until MPI refuses one; none is when negative */
static int sends_left = -1, receives_left = -1;
/* receives and sends of data, in the order in which they were posted */
static char posted[64];
static int logging;
static void note(char what, int count) {
  size_t length = strlen(posted);
  if (logging && count > 0 && length + 1 < sizeof posted) posted[length] = what, posted[length + 1] = 0;
}
int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request) {
  note('r', count);
  if (count > 0 && receives_left >= 0 && receives_left-- == 0) return MPI_ERR_OTHER;
  return PMPI_Irecv(buffer, count, type, source, tag, comm, request);
}
int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm, MPI_Request *request) {
  note('s', count);
  if (count > 0 && sends_left >= 0 && sends_left-- == 0) return MPI_ERR_OTHER;
  return PMPI_Isend(buffer, count, type, target, tag, comm, request);
}

enum { SHORT = 1 << 15, LONG = SHORT + 1 };

/* a ring, with an edge to each side: to the next process, and back */
static int sources[2], targets[2];

static MPI_Comm ring(const char *schedule, const char *window) {
  MPI_Comm comm = test_duplicate();
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_shared_memory", "0");
  MPI_Info_set(info, "mpix_schedule", schedule);
  MPI_Info_set(info, "mpix_round_window", window);
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, 2, sources, MPI_UNWEIGHTED, 2, targets, MPI_UNWEIGHTED, info, comm));
  MPI_Info_free(&info);
  return comm;
}

/* how many bytes are not `value` */
static int wrong_bytes(const void *have, int bytes, int value) {
  int wrong = 0;
  for (int k = 0; k < bytes; k++) wrong += ((const unsigned char *)have)[k] != value;
  return wrong;
}

/* one of the words of `expected`, which are equally long */
static int is_one_of(const char *expected) { return strlen(posted) == strcspn(expected, " ") && strstr(expected, posted); }

/* one call, or a start of a plan: `forth` bytes to the next process, `back` to the one before */
static void call(MPI_Comm comm, int planned, int forth, int back, const char *expected) {
  int counts[2] = {forth, back}, displs[2] = {0, forth}, all = forth + back;
  unsigned char *send = malloc((size_t)all), *have = malloc((size_t)all);
  for (int i = 0; i < 2; i++) memset(send + displs[i], 10 * i + test_rank, (size_t)counts[i]);
  memset(have, 255, (size_t)all);
  MPIX_Request plan;
  *posted = 0;
  if (planned) {
    OK(MPIX_Neighbor_alltoallv_plan(send, counts, displs, MPI_BYTE, have, counts, displs, MPI_BYTE, comm, MPI_INFO_NULL, &plan));
    logging = 1;
    OK(MPIX_Request_start(&plan));
    OK(MPIX_Request_wait(&plan));
    logging = 0;
    OK(MPIX_Request_free(&plan));
  } else {
    logging = 1;
    OK(MPIX_Neighbor_alltoallv(send, counts, displs, MPI_BYTE, have, counts, displs, MPI_BYTE, comm));
    logging = 0;
  }
  for (int i = 0; i < 2; i++) {
    int wrong = wrong_bytes(have + displs[i], counts[i], 10 * i + sources[i]);
    CHECK(wrong == 0, "%d and %d bytes: %d bytes from process %d", forth, back, wrong, sources[i]);
  }
  if (test_size > 1) CHECK(is_one_of(expected), "%d and %d bytes%s: %s, not %s", forth, back, planned ? ", a plan" : "", posted, expected);
  free(send), free(have);
}

/* short and long messages in turn */
static void exchange(const char *schedule, const char *window, const char *of_short, const char *of_long) {
  MPI_Comm comm = ring(schedule, window);
  for (int planned = 0; planned < 2; planned++) {
    call(comm, planned, LONG, LONG, of_long);
    call(comm, planned, 8, 8, of_short);
    call(comm, planned, 8, 300000, of_long);
    call(comm, planned, SHORT, SHORT, of_short);
    call(comm, planned, 300000, 8, of_long);
  }
  MPI_Comm_free(&comm);
}

/* blocks are as long as their data: not as what those span */
static void strided(int count, int blocklength, const char *expected) {
  MPI_Comm comm = ring("direct", "1");
  MPI_Datatype vector;
  MPI_Type_vector(count, blocklength, 2 * blocklength, MPI_BYTE, &vector);
  MPI_Type_commit(&vector);
  size_t span = 2 * (size_t)count * (size_t)blocklength;
  char *send = calloc(2, span), *have = malloc(2 * span);
  memset(send, test_rank + 1, 2 * span), memset(have, 0, 2 * span);
  int ones[2] = {1, 1};
  MPI_Aint displs[2] = {0, (MPI_Aint)span};
  MPI_Datatype types[2] = {vector, vector};
  *posted = 0, logging = 1;
  OK(MPIX_Neighbor_alltoallw(send, ones, displs, types, have, ones, displs, types, comm));
  logging = 0;
  for (int i = 0; i < 2; i++) {
    int wrong = 0;
    for (size_t k = 0; k < span; k++) wrong += have[(size_t)displs[i] + k] != (k / (size_t)blocklength % 2 == 0 ? sources[i] + 1 : 0);
    CHECK(wrong == 0, "%d x %d bytes: %d differ", count, blocklength, wrong);
  }
  if (test_size > 1) CHECK(!strcmp(posted, expected), "%d x %d bytes: %s, not %s", count, blocklength, posted, expected);
  MPI_Type_free(&vector);
  free(send), free(have);
  MPI_Comm_free(&comm);
}

/* process 0 sends the next one more than that expects, which names it; the other block is there */
static void too_long(int expected) {
  if (test_size < 3) return;
  MPI_Comm comm = ring("direct", "1");
  int sent[2] = {expected, expected}, taken[2] = {expected, expected}, displs[2] = {0, 4 * expected};
  if (test_rank == 0) sent[0] += 100;
  char *send = malloc(8 * (size_t)expected), *have = malloc(8 * (size_t)expected), text[100];
  memset(send, test_rank + 1, 8 * (size_t)expected), memset(have, 0, 8 * (size_t)expected);
  int code = MPIX_Neighbor_alltoallv(send, sent, displs, MPI_BYTE, have, taken, displs, MPI_BYTE, comm);
  snprintf(text, sizeof text, "the message from process %d (block 0)", sources[0]);
  if (test_rank == 1) FAILS(code, MPI_ERR_TRUNCATE, text);
  else CHECK(code == MPI_SUCCESS, "%d bytes: %s", expected, test_message(code));
  for (int i = test_rank == 1; i < 2; i++) {
    int wrong = wrong_bytes(have + displs[i], expected, sources[i] + 1);
    CHECK(wrong == 0, "%d bytes: block %d has %d wrong ones", expected, i, wrong);
  }
  free(send), free(have);
  MPI_Comm_free(&comm);
}

/* MPI refuses the send of process 0 to the next one, which hears of it; the others' blocks are
   there, and the next call is as if nothing had been */
static void refused(int bytes) {
  if (test_size < 3) return;
  MPI_Comm comm = ring("direct", "1");
  int counts[2] = {bytes, bytes}, displs[2] = {0, bytes};
  char *send = malloc(2 * (size_t)bytes), *have = malloc(2 * (size_t)bytes);
  for (int call = 0; call < 2; call++) {
    int hears = call == 0 && test_rank < 2;
    memset(send, test_rank + 1, 2 * (size_t)bytes), memset(have, 0, 2 * (size_t)bytes);
    if (call == 0 && test_rank == 0) sends_left = 0;
    int code = MPIX_Neighbor_alltoallv(send, counts, displs, MPI_BYTE, have, counts, displs, MPI_BYTE, comm);
    sends_left = -1;
    CHECK((code != MPI_SUCCESS) == hears, "%d bytes, call %d: %s", bytes, call, test_message(code));
    for (int i = call == 0 && test_rank == 1; i < 2; i++) {
      int wrong = wrong_bytes(have + displs[i], bytes, sources[i] + 1);
      CHECK(wrong == 0, "%d bytes, call %d: block %d has %d wrong ones", bytes, call, i, wrong);
    }
  }
  free(send), free(have);
  MPI_Comm_free(&comm);
}

/* MPI refuses process 1 the receive of the short message from process 0, which is posted last: its
   other block, which is long, is there, and those of the others */
static void refused_receive(void) {
  if (test_size < 3) return;
  MPI_Comm comm = ring("direct", "1");
  enum { BACK = 300000 };
  int counts[2] = {8, BACK}, displs[2] = {0, 8};
  char *send = malloc(8 + BACK), *have = calloc(8 + BACK, 1);
  memset(send, test_rank + 1, 8 + BACK);
  if (test_rank == 1) receives_left = 1;
  int code = MPIX_Neighbor_alltoallv(send, counts, displs, MPI_BYTE, have, counts, displs, MPI_BYTE, comm);
  CHECK(receives_left == -1, "%d receives to be refused", receives_left);
  receives_left = -1;
  CHECK((code != MPI_SUCCESS) == (test_rank == 1), "%s", test_message(code));
  for (int i = test_rank == 1; i < 2; i++) {
    int wrong = wrong_bytes(have + displs[i], counts[i], sources[i] + 1);
    CHECK(wrong == 0, "block %d has %d wrong ones", i, wrong);
  }
  free(send), free(have);
  MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  int next = (test_rank + 1) % test_size, last = (test_rank + test_size - 1) % test_size;
  sources[0] = last, sources[1] = next, targets[0] = next, targets[1] = last;
  const char *of_long = test_size == 2 ? "ssrr" : "srsr";
  exchange("direct", "1", "rrss", of_long);
  /* each round has one of each, with two processes for the same one; with windows, short ones are
     received a round ahead */
  exchange("edge_coloring", "1", "rsrs", test_size == 2 ? "srsr" : "rsrs srsr rssr srrs");
  exchange("edge_coloring", "2", "rrss", "srsr");
  strided(8, 1, "rrss");
  strided(2, SHORT / 2, "rrss");
  strided(2, SHORT, of_long);
  too_long(200);
  too_long(100000);
  refused(200);
  refused(100000);
  refused_receive();
  return test_finish();
}
