/* Random collectives for the fuzzer: buffers of random layout with guards around them, the call in
   any of its forms, and what it must have brought. */
#ifndef FUZZ_CALLS_H
#define FUZZ_CALLS_H

#include "fuzz_types.h"

enum { GATHER, GATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW, FIELDS_, REDUCE, REDUCEV, ACCUMULATE, ACCUMULATEV, ACCUMULATEW, COLLECTIVES };
enum { GATHERS, ALLTOALLS, REDUCES, ACCUMULATES, OPERATIONS };
enum { BLOCKING, NONBLOCKING, PERSISTENT };
enum { ONE, EQUAL, VECTOR, GENERAL };
enum { MOST_FIELDS = 4, GUARD = 32, MOST_SPARSE = 12 };
static const char *const collective_name[COLLECTIVES] = {"gather", "gatherv", "alltoall", "alltoallv", "alltoallw", "fields", "reduce", "reducev", "accumulate", "accumulatev", "accumulatew"};
static const char *const mode_name[3] = {"", "I", "plan "};

/* a neighborhood as all processes know it */
typedef struct {
  int set, star;
  graph g;
  /* the block for the neighbor in +d comes from the one in -d */
  int cartesian;
} neighborhood;

typedef struct {
  MPI_Comm comm;
  int rank, size, cartesian, periodic;
  neighborhood of[OPERATIONS];
  /* user traffic under way */
  int traffic, incoming[3], outgoing[3];
  MPI_Request messages[2];
} world;

static inline int partner(const neighborhood *n, int r, int j) { return n->cartesian ? j ^ 1 : graph_partner(&n->g, r, j); }

/* one side of a call */
typedef struct {
  int form, blocks, layouts;
  layout *of;
  /* bytes from the base, elements, units; units of -1: there is no process */
  long *at, *elements, *units;
  unsigned char *memory, *want, *base;
  size_t room;
  int *counts, *displs;
  MPI_Count *wide_counts;
  MPI_Aint *wide_displs;
  MPI_Datatype *types;
} side;

typedef struct {
  MPIX_Request request;
  world *w;
  neighborhood *n;
  int collective, operation, mode, wide, fields, degree, active, runs, stale;
  uint64_t key;
  unit u;
  int modulus;
  side in[MOST_FIELDS], out[MOST_FIELDS];
  MPI_Op op;
  int op_kind;
  char text[200];
} call;

/* ---- operators */

enum { SUM_, BXOR_, MAX_, AFFINE, OPERATORS };
static MPI_Op affine_op;

/* x -> a x + b, one after the other: associative, not commutative */
static void affine(void *in, void *inout, int *length, MPI_Datatype *type) {
  MPI_Aint lb, extent;
  MPI_Type_get_extent(*type, &lb, &extent);
  for (int i = 0; i < *length; i++) {
    uint32_t first[2], second[2];
    memcpy(first, (char *)in + i * extent, sizeof first), memcpy(second, (char *)inout + i * extent, sizeof second);
    uint32_t both[2] = {first[0] * second[0], first[1] * second[0] + second[1]};
    memcpy((char *)inout + i * extent, both, sizeof both);
  }
}

static inline void combine(int op, int32_t *into, const int32_t *next, size_t ints) {
  for (size_t i = 0; i < ints; i++) {
    if (op == SUM_) into[i] = (int32_t)((uint32_t)into[i] + (uint32_t)next[i]);
    else if (op == BXOR_) into[i] ^= next[i];
    else if (op == MAX_) into[i] = into[i] > next[i] ? into[i] : next[i];
    else if (i % 2 == 0) {
      uint32_t a = (uint32_t)into[i], b = (uint32_t)into[i + 1], c = (uint32_t)next[i], d = (uint32_t)next[i + 1];
      into[i] = (int32_t)(a * c), into[i + 1] = (int32_t)(b * c + d);
    }
  }
}

/* ---- what all processes know */

/* units of the block that process s sends in entry i to process t, by a key that is the same on
   all */
static inline long units_of(const call *c, int s, int i, int t, int f) {
  uint64_t h = mix(c->key);
  if (c->collective == GATHERV) h = mix2(c->key, s);
  else if (c->collective == REDUCEV) h = mix2(c->key, t);
  else if (c->collective == ALLTOALLV || c->collective == ALLTOALLW || c->collective == ACCUMULATEV || c->collective == ACCUMULATEW) h = mix3(c->key, s, i);
  else if (c->collective == FIELDS_) h = mix2(mix3(c->key, s, i), f);
  long much = (long)((h >> 20) % 1000), kind = (long)(h % 100), units;
  if (kind < 15) units = 0;
  else if (kind < 75) units = 1 + much % 6;
  else if (kind < 94 || c->key % 3 != 0) units = 10 + much % 300;
  else units = 400 + 4 * much;
  return units * c->modulus;
}

/* the bytes of a block in the order of its signature */
static inline void content(const call *c, int run, int s, int i, int f, unsigned char *bytes, size_t length) {
  uint64_t h = mix2(mix3(c->key + (uint64_t)run, s, i), f + 7);
  for (size_t k = 0; k < length; k += 8) {
    uint64_t word = mix(h + k);
    memcpy(bytes + k, &word, length - k < 8 ? length - k : 8);
  }
}

/* ---- sides */

static inline void side_free(side *s) {
  for (int i = 0; i < s->layouts; i++) layout_free(&s->of[i]);
  free(s->of), free(s->at), free(s->elements), free(s->units), free(s->memory), free(s->want);
  free(s->counts), free(s->displs), free(s->wide_counts), free(s->wide_displs), free(s->types);
  memset(s, 0, sizeof *s);
}

static inline layout *layout_of(side *s, int i) { return &s->of[s->layouts == 1 ? 0 : i]; }

/* lays blocks of `units` units out; `fixed` where the type is given */
static inline void side_make(side *s, random_stream *r, int form, int blocks, const long *units, const unit *u, int modulus, const layout *fixed, MPI_Comm comm) {
  *s = (side){.form = form, .blocks = blocks};
  size_t n = (size_t)blocks + 1;
  s->at = calloc(n, sizeof *s->at), s->elements = calloc(n, sizeof *s->elements), s->units = calloc(n, sizeof *s->units);
  s->counts = calloc(n, sizeof *s->counts), s->displs = calloc(n, sizeof *s->displs), s->types = calloc(n, sizeof *s->types);
  s->wide_counts = calloc(n, sizeof *s->wide_counts), s->wide_displs = calloc(n, sizeof *s->wide_displs);
  long most = 0;
  for (int i = 0; i < blocks; i++) {
    s->units[i] = units[i];
    if (units[i] > most) most = units[i];
  }
  s->layouts = form == GENERAL ? blocks : 1, s->of = calloc((size_t)s->layouts + 1, sizeof *s->of);
  for (int k = 0; k < s->layouts; k++) {
    int each = divisor(r, modulus);
    long needed = form == GENERAL ? (units[k] < 0 ? 0 : units[k]) : form == EQUAL ? most * blocks : most;
    s->of[k] = fixed ? *fixed : random_layout(r, u, each, needed / each, comm);
  }
  /* places one after the other, in random order, from a random beginning */
  int *order = malloc(n * sizeof *order);
  for (int i = 0; i < blocks; i++) {
    int k = below(r, i + 1);
    order[i] = order[k], order[k] = i;
  }
  long next = between(r, -9, 9), lowest = 0, highest = 0;
  for (int k = 0; k < blocks; k++) {
    int i = form == EQUAL ? k : order[k];
    layout *l = layout_of(s, i);
    long low, high, extent = l->ub - l->lb, count = units[i] < 0 ? 0 : units[i] / l->units;
    reach(l, &low, &high);
    s->elements[i] = count;
    if (form == ONE) s->at[i] = 0;
    if (form == EQUAL) s->at[i] = i * (most / l->units) * extent;
    if (form == VECTOR) {
      s->displs[i] = (int)next, s->wide_displs[i] = next, s->at[i] = next * extent;
      if (count > 0) next += count + (high - low + extent - 1) / extent - 1;
      next += between(r, 0, 2);
    }
    if (form == GENERAL) {
      long align = chance(r, 80) ? 8 : 1, first = low + (extent < 0 && count > 0 ? (count - 1) * extent : 0);
      next = (next + 7) / 8 * 8 + align * between(r, 0, 3);
      s->at[i] = next - first, s->wide_displs[i] = s->at[i];
      if (count > 0) next += (count - 1) * labs(extent) + high - low;
    }
    if (count > 0) {
      long last = (count - 1) * extent, begin = s->at[i] + low + (last < 0 ? last : 0), end = s->at[i] + high + (last > 0 ? last : 0);
      if (begin < lowest) lowest = begin;
      if (end > highest) highest = end;
    }
    s->counts[i] = (int)count, s->wide_counts[i] = count, s->types[i] = l->type;
    /* nothing is looked at there */
    if (units[i] < 0 && form >= VECTOR) s->counts[i] = -5, s->wide_counts[i] = -7;
    if ((units[i] < 0 || (count == 0 && chance(r, 30))) && form == GENERAL) s->types[i] = MPI_DATATYPE_NULL;
  }
  free(order);
  s->room = (size_t)(highest - lowest) + 2 * GUARD;
  s->memory = malloc(s->room), s->want = malloc(s->room), s->base = s->memory + GUARD - lowest;
  uint64_t junk = draw(r);
  for (size_t i = 0; i < s->room; i++) s->memory[i] = (unsigned char)((junk >> (i % 8 * 8)) + i);
  memcpy(s->want, s->memory, s->room);
}

/* the arrays are the caller's again, and may be anything */
static inline void side_scramble(side *s, int free_types) {
  for (int i = 0; i < s->blocks; i++) s->counts[i] = 1 << 28, s->displs[i] = 1 << 28, s->wide_counts[i] = -1, s->wide_displs[i] = 1 << 30, s->types[i] = MPI_DATATYPE_NULL;
  for (int k = 0; free_types && k < s->layouts; k++)
    if (s->of[k].derived) MPI_Type_free(&s->of[k].type), s->of[k].derived = 0;
}

static inline int same_block(side *s, int i) {
  layout *l = layout_of(s, i);
  unsigned char *want = s->want + (s->base - s->memory);
  for (long e = 0; e < s->elements[i]; e++)
    for (int k = 0; k < l->entries; k++) {
      long at = s->at[i] + l->at[k] + e * (l->ub - l->lb);
      if (memcmp(s->base + at, want + at, basic_size[l->basic[k]]) != 0) return 0;
    }
  return 1;
}

static inline void side_compare(const call *c, side *s, const char *what, int f) {
  size_t bad = 0;
  while (bad < s->room && s->memory[bad] == s->want[bad]) bad++;
  CHECK(bad == s->room, "%s: byte %ld of the %s of field %d (of %ld) is %d, not %d", c->text, (long)bad - (s->base - s->memory), what, f,
        (long)s->room - 2 * GUARD, s->memory[bad < s->room ? bad : 0], s->want[bad < s->room ? bad : 0]);
  if (bad == s->room) return;
  for (int i = 0; i < s->blocks; i++)
    if (s->units[i] >= 0)
      fprintf(stderr, "  %s block %d: %ld units, %ld elements at byte %ld, %s, type %s\n", what, i, s->units[i], s->elements[i], s->at[i],
              same_block(s, i) ? "right" : "WRONG", layout_of(s, i)->text);
}

/* ---- calls */

/* puts what is sent, and what must come, for run `run` */
static inline void call_fill(call *c, int run) {
  const graph *g = &c->n->g;
  int me = c->w->rank, reduces = c->operation == REDUCES;
  size_t bytes = unit_bytes(&c->u);
  for (int f = 0; f < c->fields; f++) {
    side *in = &c->in[f], *out = &c->out[f];
    for (int i = 0; i < in->blocks; i++) {
      if (in->units[i] <= 0) continue;
      size_t length = (size_t)in->units[i] * bytes;
      unsigned char *packed = malloc(length);
      content(c, run, me, in->form == ONE ? 0 : i, f, packed, length);
      transfer(layout_of(in, i), in->elements[i], in->base + in->at[i], packed, 0);
      transfer(layout_of(in, i), in->elements[i], in->want + (in->base - in->memory) + in->at[i], packed, 0);
      free(packed);
    }
    size_t base = (size_t)(out->base - out->memory);
    if (reduces) {
      size_t length = (size_t)(out->units[0] > 0 ? out->units[0] : 0) * bytes;
      int32_t *sum = malloc(length + 4), *next = malloc(length + 4);
      int first = 1;
      for (int j = 0; j < g->indegree[me]; j++) {
        int s = g->sources[me][j];
        if (s == MPI_PROC_NULL) continue;
        int i = c->collective == REDUCE ? 0 : partner(c->n, me, j);
        content(c, run, s, i, f, (unsigned char *)(first ? sum : next), length);
        if (!first) combine(c->op_kind, sum, next, length / 4);
        first = 0;
      }
      if (!first) transfer(&out->of[0], out->elements[0], out->want + base, (unsigned char *)sum, 0);
      free(sum), free(next);
      continue;
    }
    for (int j = 0; j < out->blocks; j++) {
      if (out->units[j] <= 0) continue;
      size_t length = (size_t)out->units[j] * bytes;
      unsigned char *packed = malloc(length);
      content(c, run, g->sources[me][j], c->operation == GATHERS ? 0 : partner(c->n, me, j), f, packed, length);
      if (c->operation == ACCUMULATES) {
        unsigned char *old = malloc(length);
        transfer(layout_of(out, j), out->elements[j], out->want + base + out->at[j], old, 1);
        combine(c->op_kind, (int32_t *)old, (int32_t *)packed, length / 4);
        memcpy(packed, old, length);
        free(old);
      }
      transfer(layout_of(out, j), out->elements[j], out->want + base + out->at[j], packed, 0);
      free(packed);
    }
  }
}

static inline void call_compare(call *c) {
  for (int f = 0; f < c->fields; f++) {
    side_compare(c, &c->out[f], "receive buffer", f);
    side_compare(c, &c->in[f], "send buffer", f);
  }
}

#define FORMS(name, ...)                                                                    \
  (c->mode == BLOCKING      ? MPIX_Neighbor_##name(__VA_ARGS__, comm)                       \
   : c->mode == NONBLOCKING ? MPIX_Ineighbor_##name(__VA_ARGS__, comm, &c->request)         \
                            : MPIX_Neighbor_##name##_plan(__VA_ARGS__, comm, info, &c->request))
#define FORMS_C(name, ...)                                                                  \
  (c->mode == BLOCKING      ? MPIX_Neighbor_##name##_c(__VA_ARGS__, comm)                   \
   : c->mode == NONBLOCKING ? MPIX_Ineighbor_##name##_c(__VA_ARGS__, comm, &c->request)     \
                            : MPIX_Neighbor_##name##_plan_c(__VA_ARGS__, comm, info, &c->request))

static inline int call_issue(call *c, MPI_Info info) {
  MPI_Comm comm = c->w->comm;
  side *s = &c->in[0], *d = &c->out[0];
  const void *sb = s->base;
  void *db = d->base;
  MPI_Datatype st = s->blocks > 0 ? s->of[0].type : MPI_INT, dt = d->blocks > 0 ? d->of[0].type : MPI_INT;
  /* all blocks have as many elements */
  int sn = 0, dn = 0;
  for (int i = 0; i < s->blocks; i++) sn = s->counts[i] > sn ? s->counts[i] : sn;
  for (int i = 0; i < d->blocks; i++) dn = d->counts[i] > dn ? d->counts[i] : dn;
  switch (c->collective) {
    case GATHER: return c->wide ? FORMS_C(gather, sb, sn, st, db, dn, dt) : FORMS(gather, sb, sn, st, db, dn, dt);
    case GATHERV:
      return c->wide ? FORMS_C(gatherv, sb, sn, st, db, d->wide_counts, d->wide_displs, dt) : FORMS(gatherv, sb, sn, st, db, d->counts, d->displs, dt);
    case ALLTOALL: return c->wide ? FORMS_C(alltoall, sb, sn, st, db, dn, dt) : FORMS(alltoall, sb, sn, st, db, dn, dt);
    case ALLTOALLV:
      return c->wide ? FORMS_C(alltoallv, sb, s->wide_counts, s->wide_displs, st, db, d->wide_counts, d->wide_displs, dt)
                     : FORMS(alltoallv, sb, s->counts, s->displs, st, db, d->counts, d->displs, dt);
    case ALLTOALLW:
      return c->wide ? FORMS_C(alltoallw, sb, s->wide_counts, s->wide_displs, s->types, db, d->wide_counts, d->wide_displs, d->types)
                     : FORMS(alltoallw, sb, s->counts, s->wide_displs, s->types, db, d->counts, d->wide_displs, d->types);
    case REDUCE: return c->wide ? FORMS_C(reduce, sb, sn, st, db, dn, dt, c->op) : FORMS(reduce, sb, sn, st, db, dn, dt, c->op);
    case REDUCEV:
      return c->wide ? FORMS_C(reducev, sb, s->wide_counts, s->wide_displs, st, db, dn, dt, c->op)
                     : FORMS(reducev, sb, s->counts, s->displs, st, db, dn, dt, c->op);
    case ACCUMULATE: return c->wide ? FORMS_C(accumulate, sb, sn, st, db, dn, dt, c->op) : FORMS(accumulate, sb, sn, st, db, dn, dt, c->op);
    case ACCUMULATEV:
      return c->wide ? FORMS_C(accumulatev, sb, s->wide_counts, s->wide_displs, st, db, d->wide_counts, d->wide_displs, dt, c->op)
                     : FORMS(accumulatev, sb, s->counts, s->displs, st, db, d->counts, d->displs, dt, c->op);
    case ACCUMULATEW:
      return c->wide ? FORMS_C(accumulatew, sb, s->wide_counts, s->wide_displs, s->types, db, d->wide_counts, d->wide_displs, d->types, c->op)
                     : FORMS(accumulatew, sb, s->counts, s->wide_displs, s->types, db, d->counts, d->wide_displs, d->types, c->op);
    default: break;
  }
  int in = s->blocks, out = d->blocks, rc;
  size_t ns = (size_t)(c->fields * in) + 1, nd = (size_t)(c->fields * out) + 1;
  const void *sbs[MOST_FIELDS];
  void *dbs[MOST_FIELDS];
  int *sc = malloc(ns * sizeof *sc), *dc = malloc(nd * sizeof *dc);
  MPI_Count *wsc = malloc(ns * sizeof *wsc), *wdc = malloc(nd * sizeof *wdc);
  MPI_Aint *sd = malloc(ns * sizeof *sd), *dd = malloc(nd * sizeof *dd);
  MPI_Datatype *sts = malloc(ns * sizeof *sts), *dts = malloc(nd * sizeof *dts);
  for (int f = 0; f < c->fields; f++) {
    sbs[f] = c->in[f].base, dbs[f] = c->out[f].base;
    for (int i = 0; i < in; i++) {
      int e = f * in + i;
      sc[e] = c->in[f].counts[i], wsc[e] = c->in[f].wide_counts[i], sd[e] = c->in[f].wide_displs[i], sts[e] = c->in[f].types[i];
    }
    for (int j = 0; j < out; j++) {
      int e = f * out + j;
      dc[e] = c->out[f].counts[j], wdc[e] = c->out[f].wide_counts[j], dd[e] = c->out[f].wide_displs[j], dts[e] = c->out[f].types[j];
    }
  }
  rc = c->wide ? FORMS_C(alltoallw_fields, c->fields, sbs, wsc, sd, sts, dbs, wdc, dd, dts)
               : FORMS(alltoallw_fields, c->fields, sbs, sc, sd, sts, dbs, dc, dd, dts);
  free(sc), free(dc), free(wsc), free(wdc), free(sd), free(dd), free(sts), free(dts);
  return rc;
}

/* makes a random call of an operation; one that is persistent is not started. `shared` is the same
   on all processes, `own` is not */
static inline void call_make(call *c, world *w, int operation, int mode, random_stream *shared, random_stream *own) {
  static const int moduli[6] = {1, 1, 2, 4, 6, 12};
  memset(c, 0, sizeof *c);
  c->w = w, c->operation = operation, c->n = &w->of[operation], c->mode = mode, c->fields = 1;
  static const int first[OPERATIONS] = {GATHER, ALLTOALL, REDUCE, ACCUMULATE}, last[OPERATIONS] = {GATHERV, FIELDS_, REDUCEV, ACCUMULATEW};
  c->collective = between(shared, first[operation], last[operation]);
  if (c->collective == FIELDS_) c->fields = between(shared, 0, MOST_FIELDS);
  c->key = draw(shared), c->modulus = moduli[below(shared, 6)];
  c->u.count = chance(shared, 60) ? 1 : between(shared, 2, MOST_UNIT);
  for (int k = 0; k < c->u.count; k++) c->u.basics[k] = below(shared, BASICS);
  c->wide = chance(own, 30);
  layout fixed = {0};
  if (operation >= REDUCES) {
    /* a user's operator takes one type, which accumulatew has for each block */
    c->op_kind = below(shared, c->collective == ACCUMULATEW ? AFFINE : OPERATORS);
    c->op = c->op_kind == SUM_ ? MPI_SUM : c->op_kind == BXOR_ ? MPI_BXOR : c->op_kind == MAX_ ? MPI_MAX : affine_op;
    c->u = (unit){c->op_kind == AFFINE ? 2 : 1, {2, 2, 2}};
    if (operation == REDUCES && c->op_kind != AFFINE) fixed = simple(own, &(unit){1, {2}}, 1);
    if (c->op_kind == AFFINE) {
      fixed = simple(own, &(unit){1, {2}}, 2);
      fixed.units = 1;
      if (chance(own, 50)) resize(&fixed, 0, 8 + 4 * between(own, 0, 2));
      MPI_Type_commit(&fixed.type);
    }
  }
  const graph *g = &c->n->g;
  int me = w->rank, in = g->outdegree[me], out = g->indegree[me];
  long *sent = calloc((size_t)in + 1, sizeof *sent), *come = calloc((size_t)out + 1, sizeof *come);
  static const int in_form[COLLECTIVES] = {ONE, ONE, EQUAL, VECTOR, GENERAL, GENERAL, ONE, VECTOR, EQUAL, VECTOR, GENERAL};
  static const int out_form[COLLECTIVES] = {EQUAL, VECTOR, EQUAL, VECTOR, GENERAL, GENERAL, ONE, ONE, EQUAL, VECTOR, GENERAL};
  for (int f = 0; f < c->fields; f++) {
    for (int i = 0; i < in; i++) {
      int t = g->targets[me][i];
      sent[i] = t == MPI_PROC_NULL ? -1 : units_of(c, me, i, t, f);
    }
    for (int j = 0; j < out; j++) {
      int s = g->sources[me][j];
      come[j] = s == MPI_PROC_NULL ? -1 : units_of(c, s, c->operation == GATHERS ? 0 : partner(c->n, me, j), me, f);
    }
    int sends = in, comes = out;
    if (in_form[c->collective] == ONE) sends = 1, sent[0] = units_of(c, me, 0, 0, f);
    if (out_form[c->collective] == ONE) comes = 1, come[0] = units_of(c, 0, 0, me, f);
    side_make(&c->in[f], own, in_form[c->collective], sends, sent, &c->u, c->modulus, NULL, w->comm);
    side_make(&c->out[f], own, out_form[c->collective], comes, come, &c->u, c->modulus, operation == REDUCES || c->op_kind == AFFINE ? &fixed : NULL, w->comm);
  }
  free(sent), free(come);
  c->degree = out;
  snprintf(c->text, sizeof c->text, "%s%s%s of %d fields on %d to %d edges, units of %zu bytes", mode_name[mode], collective_name[c->collective],
           c->wide ? "_c" : "", c->fields, in, out, unit_bytes(&c->u));
}

static inline void call_free(call *c) {
  if (c->request) OK(MPIX_Request_free(&c->request));
  for (int f = 0; f < c->fields; f++) side_free(&c->in[f]), side_free(&c->out[f]);
  memset(c, 0, sizeof *c);
}

/* the block of a source that is said to have arrived */
static inline void check_source(call *c, int j) {
  if (c->operation == REDUCES) return;
  for (int f = 0; f < c->fields; f++)
    if (c->out[f].units[j] > 0) CHECK(same_block(&c->out[f], j), "%s: source %d was told too early, or is wrong (field %d)", c->text, j, f);
}

/* completes a call in one of many ways, and compares */
static inline void call_complete(call *c, random_stream *own) {
  int degree = c->degree, way = c->stale ? below(own, 2) : below(own, 6), flag = 0, index = 0, some = 0;
  if (way == 1)
    while (!flag && test_failures == 0) OK(MPIX_Request_test(&c->request, &flag));
  if (way == 2)
    for (int k = 0; k < degree; k++) {
      int j = below(own, degree);
      OK(MPIX_Request_wait_source(c->request, j));
      check_source(c, j);
    }
  if (way == 3)
    while (index != MPI_UNDEFINED && test_failures == 0) {
      OK(MPIX_Request_waitany_source(c->request, &index));
      if (index != MPI_UNDEFINED) CHECK(index >= 0 && index < degree, "%s: source %d", c->text, index);
      if (index >= 0 && index < degree) check_source(c, index);
    }
  if (way == 4) {
    int *indices = malloc((size_t)(degree + 1) * sizeof *indices), waits = chance(own, 50);
    for (int tries = 0; tries < 1000 && some != MPI_UNDEFINED && test_failures == 0; tries++) {
      if (waits) OK(MPIX_Request_waitsome_source(c->request, &some, indices));
      else OK(MPIX_Request_testsome_source(c->request, &some, indices));
      for (int k = 0; some != MPI_UNDEFINED && k < some; k++) check_source(c, indices[k]);
    }
    free(indices);
  }
  if (way == 5 && degree > 0) {
    index = below(own, degree);
    OK(MPIX_Request_test_source(c->request, index, &flag));
    if (flag) check_source(c, index);
  }
  OK(MPIX_Request_wait(&c->request));
  c->active = 0;
  call_compare(c);
}

#endif
