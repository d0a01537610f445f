/* Sparse exchanges, and messages of the user's, for the fuzzer: what each process sends follows
   from a key that all have. */
#ifndef FUZZ_SPARSE_H
#define FUZZ_SPARSE_H

#include "fuzz_calls.h"

static const char *const protocols[] = {"auto", "nbx", "nbx_probe", "nbx_node", "pex", "pcx", "pcx_library", "rsx", "crystal", "inbox"};
enum { MOST_PROCESSES = 256 };
enum { EXCHANGE, EXCHANGE_C, EXCHANGE_BLOCK, EXCHANGE_EACH, ISPARSE, PLAN, SPARSE_FORMS };

/* an exchange; `call` gives the contents */
typedef struct {
  call c;
  int form, n, targets[MOST_SPARSE], arrived;
  /* of each source, messages that have come */
  int before[MOST_PROCESSES];
  layout type;
  side out;
  MPIX_Sparse_request request;
  MPIX_Sparse_plan plan;
} exchange;

static inline int sparse_targets(const exchange *x, int s, int *targets) {
  uint64_t h = mix2(x->c.key, s);
  int n = h % 4 == 0 ? 0 : (int)((h >> 8) % (MOST_SPARSE + 1));
  for (int k = 0; k < n; k++) {
    uint64_t t = mix3(x->c.key, s, k + 100);
    targets[k] = t % 17 == 0 ? MPI_PROC_NULL : (int)((t >> 20) % (uint64_t)x->c.w->size);
  }
  return n;
}

static inline long sparse_units(const exchange *x, int s, int k) {
  if (x->form == EXCHANGE_BLOCK) return (long)(mix(x->c.key) % 20) * x->c.modulus;
  return units_of(&x->c, s, k, 0, 0);
}

/* the k-th message that comes, in the order of the result: its source, and its number there */
static inline int sparse_message(const exchange *x, int index, int *source, int *number) {
  int targets[MOST_SPARSE];
  for (int s = 0; s < x->c.w->size; s++)
    for (int k = 0, n = sparse_targets(x, s, targets); k < n; k++)
      if (targets[k] == x->c.w->rank && index-- == 0) {
        *source = s, *number = k;
        return 1;
      }
  return 0;
}

static inline void sparse_compare(exchange *x, int run, int source, int number, MPI_Count count, const void *data) {
  long units = sparse_units(x, source, number);
  CHECK(count == units / x->type.units, "%s: message %d of %d has %ld elements, not %ld", x->c.text, number, source, (long)count, units / x->type.units);
  if (count != units / x->type.units || units == 0) return;
  size_t length = (size_t)units * unit_bytes(&x->c.u);
  unsigned char *want = malloc(length), *have = malloc(length);
  content(&x->c, run, source, number, 0, want, length);
  transfer(&x->type, (long)count, (unsigned char *)(uintptr_t)data, have, 1);
  CHECK(memcmp(have, want, length) == 0, "%s: message %d of %d has wrong data", x->c.text, number, source);
  free(want), free(have);
}

static inline void sparse_result(exchange *x, int run, MPIX_Sparse_result result) {
  int n = -1, source = 0, number = 0, expected = 0, from;
  MPI_Count elements, count;
  void *data;
  OK(MPIX_Sparse_get_count(result, &n, &elements));
  while (sparse_message(x, expected, &source, &number)) expected++;
  CHECK(n == expected, "%s: %d messages, not %d", x->c.text, n, expected);
  for (int k = 0; k < n && n == expected; k++) {
    OK(MPIX_Sparse_get_message(result, k, &from, &count, &data));
    sparse_message(x, k, &source, &number);
    CHECK(from == source, "%s: message %d is from %d, not %d", x->c.text, k, from, source);
    if (from == source) sparse_compare(x, run, source, number, count, data);
  }
}

/* messages of one source come in its order, those of different ones in any */
static int each_message(int source, MPI_Count count, const void *data, void *context) {
  exchange *x = context;
  int k = 0, from, number;
  x->arrived++;
  for (int skip = x->before[source]++; sparse_message(x, k, &from, &number); k++)
    if (from == source && skip-- == 0) {
      sparse_compare(x, 0, source, number, count, data);
      return MPI_SUCCESS;
    }
  CHECK(0, "%s: a message of %d that it has not sent", x->c.text, source);
  return MPI_SUCCESS;
}

static inline void sparse_fill(exchange *x, int run) {
  for (int k = 0; k < x->n; k++) {
    if (x->out.units[k] <= 0) continue;
    size_t length = (size_t)x->out.units[k] * unit_bytes(&x->c.u);
    unsigned char *packed = malloc(length);
    content(&x->c, run, x->c.w->rank, k, 0, packed, length);
    transfer(&x->out.of[0], x->out.elements[k], x->out.base + x->out.at[k], packed, 0);
    free(packed);
  }
}

static inline void sparse_free(exchange *x) {
  if (x->plan) OK(MPIX_Sparse_plan_free(&x->plan));
  side_free(&x->out), layout_free(&x->type);
  memset(x, 0, sizeof *x);
}

/* begins an exchange; all but those that are nonblocking are complete then */
static inline void sparse_begin(exchange *x, world *w, random_stream *shared, random_stream *own) {
  static const int moduli[4] = {1, 2, 4, 6};
  memset(x, 0, sizeof *x);
  x->form = below(shared, SPARSE_FORMS);
  x->c.w = w, x->c.collective = ALLTOALLV, x->c.key = draw(shared), x->c.modulus = moduli[below(shared, 4)];
  x->c.u.count = between(shared, 1, 2);
  for (int k = 0; k < x->c.u.count; k++) x->c.u.basics[k] = below(shared, BASICS);
  const char *protocol = protocols[below(shared, (int)(sizeof protocols / sizeof *protocols))];
  snprintf(x->c.text, sizeof x->c.text, "sparse exchange by %s, form %d", protocol, x->form);
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpix_sparse", protocol);
  if (chance(shared, 20)) MPI_Info_set(info, "mpix_matched_probe", "false");
  if (chance(shared, 20)) MPI_Info_set(info, "mpix_node_size", chance(shared, 50) ? "1" : "2");
  x->n = sparse_targets(x, w->rank, x->targets);
  long units[MOST_SPARSE + 1];
  for (int k = 0; k < x->n; k++) units[k] = sparse_units(x, w->rank, k);
  /* blocks of equal length lie behind one another, also those for nobody */
  side_make(&x->out, own, x->form == EXCHANGE_BLOCK ? EQUAL : VECTOR, x->n, units, &x->c.u, x->c.modulus, NULL, w->comm);
  x->type = simple(own, &x->c.u, divisor(own, x->c.modulus));
  if (x->type.derived) MPI_Type_commit(&x->type.type);
  sparse_fill(x, 0);
  const side *s = &x->out;
  MPIX_Sparse_result result = NULL;
  MPI_Datatype type = x->n > 0 ? s->of[0].type : MPI_INT;
  switch (x->form) {
    case EXCHANGE: OK(MPIX_Sparse_exchange(x->n, x->targets, s->base, s->counts, s->displs, type, x->type.type, info, w->comm, &result)); break;
    case EXCHANGE_C: OK(MPIX_Sparse_exchange_c(x->n, x->targets, s->base, s->wide_counts, s->wide_displs, type, x->type.type, info, w->comm, &result)); break;
    case EXCHANGE_BLOCK:
      OK(MPIX_Sparse_exchange_block(x->n, x->targets, s->base, x->n ? s->counts[0] : 0, type, x->type.type, info, w->comm, &result));
      break;
    case EXCHANGE_EACH: {
      int expected = 0, from, number;
      OK(MPIX_Sparse_exchange_each(x->n, x->targets, s->base, s->counts, s->displs, type, x->type.type, each_message, x, info, w->comm));
      while (sparse_message(x, expected, &from, &number)) expected++;
      CHECK(x->arrived == expected, "%s: %d messages, not %d", x->c.text, x->arrived, expected);
      break;
    }
    case ISPARSE:
      OK(MPIX_Isparse_exchange(x->n, x->targets, s->base, s->counts, s->displs, type, x->type.type, info, w->comm, &x->request));
      break;
    case PLAN: OK(MPIX_Sparse_plan_create(x->n, x->targets, s->base, s->counts, s->displs, type, x->type.type, info, w->comm, &x->plan)); break;
    default: break;
  }
  MPI_Info_free(&info);
  side_scramble(&x->out, 1);
  if (result) {
    sparse_result(x, 0, result);
    OK(MPIX_Sparse_free(&result));
  }
  if (x->plan) {
    OK(MPIX_Sparse_plan_result(x->plan, &result));
    sparse_result(x, 0, result);
    for (int run = 1; run < 3 && test_failures == 0; run++) {
      int flag = 0;
      sparse_fill(x, run);
      OK(MPIX_Sparse_plan_start(x->plan));
      while (chance(own, 50) && !flag) OK(MPIX_Sparse_plan_test(x->plan, &flag));
      OK(MPIX_Sparse_plan_wait(x->plan));
      sparse_result(x, run, result);
    }
  }
}

static inline void sparse_end(exchange *x, random_stream *own) {
  MPIX_Sparse_result result = NULL;
  if (x->request) {
    int flag = 0;
    if (chance(own, 50))
      while (!flag && test_failures == 0) OK(MPIX_Sparse_test(&x->request, &flag, &result));
    if (!flag) OK(MPIX_Sparse_wait(&x->request, &result));
    sparse_result(x, 0, result);
    OK(MPIX_Sparse_free(&result));
  }
  sparse_free(x);
}

/* ---- messages of the user's, on the communicator itself, from anyone and with any tag */

static inline void traffic_begin(world *w, random_stream *shared) {
  static const int tags[] = {0, 1, 2, 3, 4, 5, 6, 64, 101, 102, 128, 129, 130, 30127, 30128, 32767};
  int right = (w->rank + 1) % w->size, tag = tags[below(shared, (int)(sizeof tags / sizeof *tags))], number = (int)(draw(shared) & 0xffff);
  w->outgoing[0] = w->rank, w->outgoing[1] = number, w->outgoing[2] = tag;
  memset(w->incoming, -1, sizeof w->incoming);
  OK(MPI_Irecv(w->incoming, 3, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, w->comm, &w->messages[0]));
  OK(MPI_Isend(w->outgoing, 3, MPI_INT, right, tag, w->comm, &w->messages[1]));
  w->traffic = 1;
}

static inline void traffic_end(world *w) {
  if (!w->traffic) return;
  OK(MPI_Waitall(2, w->messages, MPI_STATUSES_IGNORE));
  CHECK(w->incoming[0] == (w->rank + w->size - 1) % w->size && w->incoming[1] == w->outgoing[1] && w->incoming[2] == w->outgoing[2],
        "a message of the user's: %d %d %d", w->incoming[0], w->incoming[1], w->incoming[2]);
  w->traffic = 0;
}

#endif
