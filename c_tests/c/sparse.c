/* MPIX_Sparse_exchange by each protocol: every message arrives once, whole, in order, and nothing
   else does. */
#define _GNU_SOURCE
#include "sparse.h"
#include <unistd.h>

/* MPI's probes, counted: a hint chooses between them */
static int matched_probes, plain_probes;
int MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status) {
  matched_probes++;
  return PMPI_Improbe(source, tag, comm, flag, message, status);
}
int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
  plain_probes++;
  return PMPI_Iprobe(source, tag, comm, flag, status);
}

static void nobody(list *l, int s, int round, int size) { (void)l, (void)s, (void)round, (void)size; }

static void all_to_one(list *l, int s, int round, int size) {
  int n = 1 + (s + round) % 3;
  for (int i = 0; i < n; i++) add(l, round % size, 10 * s + i);
}

static void one_to_all(list *l, int s, int round, int size) {
  if (s == round % size)
    for (int t = size - 1; t >= 0; t--) add(l, t, 5 + t);
}

static void all_to_all(list *l, int s, int round, int size) {
  for (int k = 0; k < size; k++) add(l, (s + k + round) % size, 8 * k + s);
}

static void ring(list *l, int s, int round, int size) { add(l, (s + 1 + round % 2) % size, 1000 + round); }

/* A synchronous send to oneself that is waited for before anything is received never ends: own
   messages are copied. The long ones would need a rendezvous. */
static void itself(list *l, int s, int round, int size) {
  (void)round, (void)size;
  add(l, s, 3), add(l, s, 200000), add(l, s, 0), add(l, s, 5000);
}

static void nowhere(list *l, int s, int round, int size) {
  (void)round, (void)size;
  for (int i = 0; i < 3 + s % 2; i++) add(l, MPI_PROC_NULL, 100);
}

/* messages without a byte arrive like all others, several of one source as often as they were
   sent */
static void no_bytes(list *l, int s, int round, int size) {
  for (int i = 0; i < 5; i++) add(l, (s + i * i + round) % size, 0);
}

/* one target again and again, others in between: order is kept, whatever way a length takes */
static void in_order(list *l, int s, int round, int size) {
  static const int lengths[] = {9000, 1, 4096, 4097, 0, 70000, 2, 4097, 3, 0, 8192, 4};
  int to = (s + 1 + round) % size, aside = (s + 2 + round) % size;
  for (int i = 0; i < 12; i++) {
    add(l, to, lengths[i]);
    if (i % 4 == 1) add(l, aside, i);
    if (i % 5 == 2) add(l, MPI_PROC_NULL, 50);
  }
}

/* more messages to one process than it has receives posted */
static void burst(list *l, int s, int round, int size) {
  int n = s == (round + 1) % size ? 300 : 17 + s % 3;
  for (int i = 0; i < n; i++) add(l, round % size, i % 50 == 49 ? 6000 : i % 29);
}

/* the numbers of messages differ much between processes */
static void uneven(list *l, int s, int round, int size) {
  int n = (s + round) % size == 0 ? 60 : (s + round) % 3;
  for (int i = 0; i < n; i++) add(l, (s * 7 + i * i) % size, i);
}

/* each length around a limit, from each process */
static void limits(list *l, int s, int round, int size) {
  static const int lengths[] = {4095, 4096, 4097, 8150, 8151, 8152, 8153, 8158, 8159, 8160, 8161, 8162, 8168, 8175, 8176, 8177, 8184, 8191, 8192, 8193};
  int n = sizeof lengths / sizeof *lengths;
  /* alone, so that what travels together with it does not move it across the limit; and some
     together */
  if (round < n) add(l, (s + 1) % size, lengths[round]);
  else
    for (int i = 0; i < 4; i++) add(l, (s + i) % size, lengths[(round + 5 * i) % n] / (i + 1));
}

/* eager limits of MPI libraries lie here; one process sends 4 MiB */
static void lengthy(list *l, int s, int round, int size) {
  static const int lengths[] = {16383, 16384, 32767, 32769, 65535, 65537, 100 << 10, 131072, 131073, 262145, 600000};
  for (int i = 0; i < 2; i++) add(l, (s + 1 + i) % size, lengths[(round * 2 + i + s) % 11]);
  if (round == 0 && s == size / 2) add(l, (s + size - 1) % size, 4 << 20);
  add(l, (s + 1) % size, 2);
}

/* more bytes to one process than an inbox in shared memory has room for, in many and in few
   messages; short ones behind long ones */
static void flood(list *l, int s, int round, int size) {
  static const int lengths[] = {9000, 0, 32768, 17, 32769, 20000, 1};
  int n = 20 + 30 * ((s + round) % 2);
  for (int i = 0; i < n; i++) add(l, i % 11 == 10 ? (s + i) % size : round / 2 % size, lengths[(i + s) % 7]);
}

static const struct {
  pattern pattern;
  int rounds;
} table[] = {
  {{"nobody", nobody, 0}, 3}, {{"all to one", all_to_one, 0}, 3}, {{"one to all", one_to_all, 0}, 3}, {{"all to all", all_to_all, 0}, 3},
  {{"ring", ring, 0}, 2}, {{"itself", itself, 0}, 2}, {{"nowhere", nowhere, 0}, 2}, {{"no bytes", no_bytes, 0}, 3},
  /* what finds senders by looking for bytes that are not zero loses these */
  {{"zeros", mixed_lengths, 1}, 4}, {{"zeros in order", in_order, 1}, 1}, {{"in order", in_order, 0}, 2}, {{"burst", burst, 0}, 2},
  {{"uneven", uneven, 0}, 2}, {{"limits", limits, 0}, 24}, {{"lengthy", lengthy, 0}, 2}, {{"mixed lengths", mixed_lengths, 0}, 12},
  {{"flood", flood, 0}, 5},
};
enum { PATTERNS = sizeof table / sizeof *table };

static void patterns(const char *protocol, MPI_Info info) {
  for (int p = 0; p < PATTERNS; p++)
    for (int r = 0; r < table[p].rounds; r++) exchange(protocol, &table[p].pattern, r, info, MPI_COMM_WORLD);
}

/* another protocol from call to call on one communicator, and other nodes */
static void mixed(void) {
  for (int r = 0; r < fewer(120); r++) {
    uint64_t h = mix2(4711, r);
    const char *protocol = protocols[h % PROTOCOLS];
    MPI_Info info = test_hint("mpix_sparse", protocol);
    if (h & 1 << 20) MPI_Info_set(info, "mpix_node_size", h & 1 << 21 ? "2" : "3");
    if (h & 1 << 22) MPI_Info_set(info, "mpix_matched_probe", "false");
    exchange(protocol, h % 3 ? &FEW_SHORT : &MIXED_LENGTHS, r, info, MPI_COMM_WORLD);
    MPI_Info_free(&info);
  }
}

/* as if one, two, three or more processes were a node: messages are passed on between some, inside
   of others */
static void nodes(void) {
  static const char *const sizes[] = {"1", "2", "3", "100"};
  for (int k = 0; k < 4; k++) {
    MPI_Info info = test_hint("mpix_sparse", "nbx_node");
    MPI_Info_set(info, "mpix_node_size", sizes[k]);
    for (int p = 0; p < PATTERNS; p++) exchange(sizes[k], &table[p].pattern, k, info, MPI_COMM_WORLD);
    MPI_Info_free(&info);
  }
}

/* sizes are never exchanged: a probe gives them, matched or, on request, not */
static void probes(void) {
  static const char *const probing[] = {"nbx_probe", "pex", "rsx"};
  enum { PROBING = sizeof probing / sizeof *probing };
  static const pattern burst_pattern = {"burst", burst, 0};
  for (int k = 0; k < 2 * PROBING; k++) {
    int matched = k / PROBING;
    const char *protocol = probing[k % PROBING];
    MPI_Info info = test_hint("mpix_sparse", protocol);
    MPI_Info_set(info, "mpix_matched_probe", matched ? "true" : "false");
    matched_probes = plain_probes = 0;
    for (int r = 0; r < 2 * fewer(4); r++) exchange(protocol, r % 2 ? &MIXED_LENGTHS : &burst_pattern, r, info, MPI_COMM_WORLD);
    int right = matched ? matched_probes : plain_probes, wrong = matched ? plain_probes : matched_probes;
    /* pex probes only where one process sends another one several messages */
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(wrong == 0, "%s, mpix_matched_probe=%s: %d probes of the other kind", protocol, matched ? "true" : "false", wrong);
    CHECK(test_size == 1 || right > 0, "%s, mpix_matched_probe=%s: no probe", protocol, matched ? "true" : "false");
    MPI_Info_free(&info);
  }
}

/* the text names the protocol that was asked for */
static void described(const char *protocol) {
  char text[1000], want[100];
  int length = -1;
  OK(MPIX_Sparse_describe(MPI_COMM_WORLD, sizeof text, text, &length));
  snprintf(want, sizeof want, "protocol %s:", protocol);
  CHECK(strcmp(protocol, "auto") == 0 || strstr(text, want), "\"%s\" does not hold \"%s\"", text, want);
  CHECK(length == (int)strlen(text) && text[length - 1] == '\n', "length %d", length);
}

/* Processes of one node go by memory that they share: unless the hints have it that they are on
   several. */
static void memory(void) {
  char text[1000];
  int length;
  MPI_Info info = test_hint("mpix_sparse", "inbox");
  exchange("inbox", &FEW_SHORT, 0, info, MPI_COMM_WORLD);
  described("inbox");
  /* who comes late is not dead: the others look for that after a tenth of a second */
  for (int r = 0; r < 2; r++) {
    if (test_rank == r % test_size) usleep(350000);
    exchange("inbox of a late process", &FEW_SHORT, r, info, MPI_COMM_WORLD);
  }
  MPI_Info_set(info, "mpix_node_size", "1");
  for (int r = 0; r < 3; r++) exchange("inbox on several nodes", &FEW_SHORT, r, info, MPI_COMM_WORLD);
  OK(MPIX_Sparse_describe(MPI_COMM_WORLD, sizeof text, text, &length));
  CHECK(test_size == 1 || strstr(text, "protocol nbx: instead of inbox: not all processes share memory"), "\"%s\"", text);
  MPI_Info_free(&info);
  MPI_Comm fresh = test_duplicate();
  for (int r = 0; r < 3; r++) exchange("auto on one node", &MIXED_LENGTHS, r, MPI_INFO_NULL, fresh);
  OK(MPIX_Sparse_describe(fresh, sizeof text, text, &length));
  CHECK(test_size == 1 || strstr(text, "protocol inbox: by the model"), "\"%s\"", text);
  MPI_Comm_free(&fresh);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  const char *forced = getenv("MPIX_SPARSE");
  for (int p = 0; p < PROTOCOLS; p++) {
    /* the environment overrides the info, so that one protocol is all that there is */
    if (forced && strcmp(forced, protocols[p]) != 0) continue;
    MPI_Info info = test_hint("mpix_sparse", protocols[p]);
    patterns(protocols[p], forced ? MPI_INFO_NULL : info);
    if (!forced) described(protocols[p]);
    else described(forced);
    MPI_Info_free(&info);
  }
  if (!forced) {
    nodes();
    probes();
    memory();
  }
  mixed();
  return test_finish();
}
