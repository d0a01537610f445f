/* Random nested datatypes for the fuzzer, each with the typemap that it must have. The typemap is
   worked out here, not asked of MPI: some MPIs pack a few such types wrongly. A type that the MPI
   packs or unpacks wrongly by itself is replaced. */
#ifndef FUZZ_TYPES_H
#define FUZZ_TYPES_H

#include <stdarg.h>

#include "test.h"

typedef struct {
  uint64_t state;
} random_stream;

static inline uint64_t draw(random_stream *r) { return r->state = mix(r->state); }
/* from 0 to n - 1 */
static inline int below(random_stream *r, int n) { return (int)((draw(r) >> 16) % (uint64_t)(n > 0 ? n : 1)); }
static inline int between(random_stream *r, int low, int high) { return low + below(r, high - low + 1); }
static inline int chance(random_stream *r, int percent) { return below(r, 100) < percent; }

enum { BASICS = 6, MOST_UNIT = 3, MOST_TEXT = 400, MOST_SPAN = 6000, MOST_ROOM = 300000 };
static const size_t basic_size[BASICS] = {1, 2, 4, 8, 8, 4};
static const char *const basic_name[BASICS] = {"char", "short", "int", "int64", "double", "float"};

static inline MPI_Datatype basic_type(int b) {
  switch (b) {
    case 0: return MPI_CHAR;
    case 1: return MPI_SHORT;
    case 2: return MPI_INT;
    case 3: return MPI_INT64_T;
    case 4: return MPI_DOUBLE;
    default: return MPI_FLOAT;
  }
}

/* a unit, on which both ends of a message agree: blocks are a number of units, whatever their
   layout */
typedef struct {
  int count, basics[MOST_UNIT];
} unit;

static inline size_t unit_bytes(const unit *u) {
  size_t bytes = 0;
  for (int i = 0; i < u->count; i++) bytes += basic_size[u->basics[i]];
  return bytes;
}

typedef struct {
  MPI_Datatype type;
  int derived, units, entries;
  /* of each entry in its order */
  long *at;
  unsigned char *basic;
  long lb, ub;
  char text[MOST_TEXT];
} layout;

static long types_made, types_refused;

static inline void describe(layout *l, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(l->text, sizeof l->text, format, arguments);
  va_end(arguments);
}

static inline void layout_free(layout *l) {
  if (l->derived) MPI_Type_free(&l->type);
  free(l->at), free(l->basic);
  *l = (layout){.type = MPI_DATATYPE_NULL};
}

/* the lowest byte, and the first one behind the highest */
static inline void reach(const layout *l, long *low, long *high) {
  *low = 0, *high = 0;
  for (int i = 0; i < l->entries; i++) {
    long end = l->at[i] + (long)basic_size[l->basic[i]];
    if (i == 0 || l->at[i] < *low) *low = l->at[i];
    if (i == 0 || end > *high) *high = end;
  }
}

/* true if this many consecutive elements touch no byte twice */
static inline int tiles(const layout *l, long elements) {
  long low, high, extent = l->ub - l->lb, last = (elements - 1) * extent;
  if (elements <= 0 || l->entries == 0) return 1;
  reach(l, &low, &high);
  if (extent >= high - low && elements > 1) return tiles(l, 1);
  long first = last < 0 ? low + last : low, end = last > 0 ? high + last : high;
  unsigned char *touched = calloc((size_t)(end - first), 1);
  int good = 1;
  for (long e = 0; e < elements && good; e++)
    for (int i = 0; i < l->entries && good; i++)
      for (size_t b = 0; b < basic_size[l->basic[i]]; b++) {
        unsigned char *t = &touched[l->at[i] + e * extent - first + (long)b];
        if (*t) good = 0;
        *t = 1;
      }
  free(touched);
  return good;
}

/* the child again and again: typemap of what is made by a call that MPI has made `type` by; frees
   the child */
static inline layout composed(layout *child, MPI_Datatype type, int places, const long *place) {
  layout l = {.type = type, .derived = 1, .units = child->units * places, .entries = child->entries * places};
  l.at = malloc((size_t)l.entries * sizeof *l.at + 1), l.basic = malloc((size_t)l.entries + 1);
  for (int p = 0; p < places; p++) {
    for (int i = 0; i < child->entries; i++) {
      l.at[p * child->entries + i] = place[p] + child->at[i];
      l.basic[p * child->entries + i] = child->basic[i];
    }
    if (p == 0 || place[p] + child->lb < l.lb) l.lb = place[p] + child->lb;
    if (p == 0 || place[p] + child->ub > l.ub) l.ub = place[p] + child->ub;
  }
  return l;
}

static inline void resize(layout *l, long lb, long extent) {
  MPI_Datatype type;
  MPI_Type_create_resized(l->type, lb, extent, &type);
  if (l->derived) MPI_Type_free(&l->type);
  l->type = type, l->derived = 1, l->lb = lb, l->ub = lb + extent;
}

/* MPI's bounds where they are defined otherwise than ours, as with padding and empty blocks */
static inline void agree_on_bounds(layout *l) {
  MPI_Aint lb, extent;
  MPI_Type_get_extent(l->type, &lb, &extent);
  if (lb != l->lb || lb + extent != l->ub) resize(l, l->lb, l->ub - l->lb);
}

/* one unit */
static inline layout leaf(random_stream *r, const unit *u) {
  layout l = {.units = 1, .entries = u->count};
  l.at = malloc((size_t)u->count * sizeof *l.at), l.basic = malloc((size_t)u->count);
  for (int i = 0; i < u->count; i++) l.basic[i] = (unsigned char)u->basics[i];
  if (u->count == 1) {
    l.at[0] = 0, l.type = basic_type(u->basics[0]), l.ub = (long)basic_size[u->basics[0]];
    describe(&l, "%s", basic_name[u->basics[0]]);
    return l;
  }
  /* a structure, sometimes with gaps, or with members in another order in memory */
  int lengths[MOST_UNIT], order = chance(r, 30);
  MPI_Aint displacements[MOST_UNIT];
  MPI_Datatype types[MOST_UNIT];
  long next = 0;
  for (int k = 0; k < u->count; k++) {
    int i = order ? u->count - 1 - k : k;
    next += chance(r, 30) ? between(r, 1, 9) : 0;
    displacements[i] = l.at[i] = next, lengths[i] = 1, types[i] = basic_type(u->basics[i]);
    next += (long)basic_size[u->basics[i]];
  }
  MPI_Type_create_struct(u->count, lengths, displacements, types, &l.type);
  l.derived = 1, l.lb = -1, l.ub = next;
  resize(&l, 0, next);
  describe(&l, "struct(%d members, %ld bytes)", u->count, next);
  return l;
}

enum { MOST_PLACES = 64 };

/* `n` numbers that sum up to `sum` */
static inline void split(random_stream *r, int sum, int n, int *parts) {
  for (int i = 0; i < n; i++) parts[i] = 0;
  for (int k = 0; k < sum; k++) parts[below(r, n)]++;
}

static inline int divisor(random_stream *r, int k) {
  int d;
  do d = between(r, 1, k);
  while (k % d != 0);
  return d;
}

static layout generate(random_stream *r, const unit *u, int units, int depth);

/* `factor` times the child, which is freed */
static inline layout wrapped(random_stream *r, layout *child, int factor) {
  long place[MOST_PLACES], extent = child->ub - child->lb;
  int lengths[MOST_PLACES], elements[MOST_PLACES], places = 0, kind = below(r, 9), n;
  MPI_Aint bytes[MOST_PLACES];
  MPI_Datatype type, types[MOST_PLACES];
  const char *name = "";
  int in_bytes = kind == 2 || kind == 4 || kind == 6, step = chance(r, 20) ? 1 : 8;
  if (kind == 1 || kind == 2) {
    int length = divisor(r, factor), stride = between(r, -length - 3, length + 3);
    long distance = kind == 1 ? stride * extent : (long)stride * step * between(r, 1, 4);
    if (kind == 1) MPI_Type_vector(factor / length, length, stride, child->type, &type), name = "vector";
    else MPI_Type_create_hvector(factor / length, length, distance, child->type, &type), name = "hvector";
    for (int i = 0; i < factor / length; i++)
      for (int j = 0; j < length; j++) place[places++] = i * distance + j * extent;
  } else if (kind >= 3 && kind <= 6) {
    n = kind == 5 ? factor / divisor(r, factor) : between(r, 1, factor + 1);
    split(r, factor, n, lengths);
    for (int i = 0; i < n; i++) {
      if (kind == 5) lengths[i] = factor / n;
      elements[i] = between(r, -6, 2 * factor + 6), bytes[i] = (MPI_Aint)between(r, -20, 40) * step, types[i] = child->type;
      for (int j = 0; j < lengths[i]; j++) place[places++] = (in_bytes ? (long)bytes[i] : elements[i] * extent) + j * extent;
    }
    if (kind == 3) MPI_Type_indexed(n, lengths, elements, child->type, &type), name = "indexed";
    else if (kind == 4) MPI_Type_create_hindexed(n, lengths, bytes, child->type, &type), name = "hindexed";
    else if (kind == 5) MPI_Type_create_indexed_block(n, factor / n, elements, child->type, &type), name = "indexed_block";
    else MPI_Type_create_struct(n, lengths, bytes, types, &type), name = "struct";
  } else if (kind == 7) {
    int fortran = chance(r, 50), sizes[2], sub[2], starts[2];
    sub[0] = divisor(r, factor), sub[1] = factor / sub[0];
    for (int d = 0; d < 2; d++) sizes[d] = sub[d] + between(r, 0, 3), starts[d] = between(r, 0, sizes[d] - sub[d]);
    MPI_Type_create_subarray(2, sizes, sub, starts, fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C, child->type, &type), name = "subarray";
    int slow = fortran ? 1 : 0, fast = 1 - slow;
    for (int i = 0; i < sub[slow]; i++)
      for (int j = 0; j < sub[fast]; j++) place[places++] = ((long)(starts[slow] + i) * sizes[fast] + starts[fast] + j) * extent;
  } else if (kind == 8 && factor == 1) {
    MPI_Type_dup(child->type, &type), name = "dup", place[places++] = 0;
  } else {
    MPI_Type_contiguous(factor, child->type, &type), name = "contiguous";
    for (int i = 0; i < factor; i++) place[places++] = i * extent;
  }
  layout l = composed(child, type, places, place);
  describe(&l, "%s(%d x %.300s)", name, factor, child->text);
  layout_free(child);
  agree_on_bounds(&l);
  return l;
}

/* a type of this many units; not committed */
static layout generate(random_stream *r, const unit *u, int units, int depth) {
  if (units == 1 && (depth == 0 || chance(r, 30))) return leaf(r, u);
  if (units > 1 && depth > 0 && chance(r, 15)) {
    /* two different ones behind one another, or one in the other's gaps */
    int first = between(r, 1, units - 1), lengths[2] = {1, 1};
    layout parts[2] = {generate(r, u, first, depth - 1), generate(r, u, units - first, depth - 1)};
    MPI_Aint bytes[2] = {between(r, -4, 4) * 8, 0};
    bytes[1] = bytes[0] + parts[0].ub - parts[1].lb + between(r, 0, 3) * 4;
    MPI_Datatype types[2] = {parts[0].type, parts[1].type}, type;
    MPI_Type_create_struct(2, lengths, bytes, types, &type);
    layout l = {.type = type, .derived = 1, .units = units, .entries = parts[0].entries + parts[1].entries};
    l.at = malloc((size_t)l.entries * sizeof *l.at), l.basic = malloc((size_t)l.entries);
    for (int p = 0, k = 0; p < 2; p++) {
      for (int i = 0; i < parts[p].entries; i++, k++) l.at[k] = bytes[p] + parts[p].at[i], l.basic[k] = parts[p].basic[i];
      if (p == 0 || bytes[p] + parts[p].lb < l.lb) l.lb = bytes[p] + parts[p].lb;
      if (p == 0 || bytes[p] + parts[p].ub > l.ub) l.ub = bytes[p] + parts[p].ub;
    }
    describe(&l, "struct(%.180s, %.180s)", parts[0].text, parts[1].text);
    layout_free(&parts[0]), layout_free(&parts[1]);
    resize(&l, l.lb, l.ub - l.lb);
    return l;
  }
  int factor = depth == 0 ? units : divisor(r, units);
  layout child = generate(r, u, units / factor, depth > 0 ? depth - 1 : 0), l = wrapped(r, &child, factor);
  if (chance(r, 25)) {
    long lb = l.lb + between(r, -2, 2) * 8, extent = l.ub - l.lb + between(r, -1, 3) * 8;
    resize(&l, lb, extent < 0 ? 0 : extent);
    layout copy = l;
    describe(&l, "resized(%ld, %ld, %.300s)", lb, l.ub - l.lb, copy.text);
  }
  return l;
}

static inline layout simple(random_stream *r, const unit *u, int units) {
  layout child = leaf(r, u);
  if (units == 1) return child;
  long place[MOST_PLACES];
  MPI_Datatype type;
  for (int i = 0; i < units; i++) place[i] = i * (child.ub - child.lb);
  MPI_Type_contiguous(units, child.type, &type);
  layout l = composed(&child, type, units, place);
  describe(&l, "contiguous(%d x %.300s)", units, child.text);
  layout_free(&child);
  agree_on_bounds(&l);
  return l;
}

/* writes, or reads, the data of `elements` elements at `base` in the order of the typemap */
static inline void transfer(const layout *l, long elements, unsigned char *base, unsigned char *packed, int out) {
  for (long e = 0; e < elements; e++)
    for (int i = 0; i < l->entries; i++) {
      unsigned char *place = base + l->at[i] + e * (l->ub - l->lb);
      size_t size = basic_size[l->basic[i]];
      if (out) memcpy(packed, place, size);
      else memcpy(place, packed, size);
      packed += size;
    }
}

/* whether the MPI packs and unpacks these elements as the typemap says */
static inline int mpi_knows(const layout *l, int elements, MPI_Comm comm) {
  long low, high, extent = l->ub - l->lb, last = (elements - 1) * extent;
  if (elements == 0 || l->entries == 0 || !l->derived) return 1;
  reach(l, &low, &high);
  low += last < 0 ? last : 0, high += last > 0 ? last : 0;
  size_t room = (size_t)(high - low), bytes = 0;
  for (int i = 0; i < l->entries; i++) bytes += basic_size[l->basic[i]];
  bytes *= (size_t)elements;
  unsigned char *from = malloc(room), *into = malloc(room), *want = malloc(room), *ours = malloc(bytes);
  for (size_t i = 0; i < room; i++) from[i] = (unsigned char)(mix(i) >> 7), into[i] = want[i] = (unsigned char)(i * 7);
  transfer(l, elements, from - low, ours, 1);
  transfer(l, elements, want - low, ours, 0);
  int size = -1, position = 0, good;
  MPI_Pack_size(elements, l->type, comm, &size);
  unsigned char *room_for_pack = malloc((size_t)(size > 0 ? size : 1));
  good = size >= (int)bytes && MPI_Pack(from - low, elements, l->type, room_for_pack, size, &position, comm) == MPI_SUCCESS;
  good = good && position == (int)bytes && memcmp(room_for_pack, ours, bytes) == 0;
  position = 0;
  good = good && MPI_Unpack(ours, (int)bytes, &position, into - low, elements, l->type, comm) == MPI_SUCCESS && memcmp(into, want, room) == 0;
  free(from), free(into), free(want), free(ours), free(room_for_pack);
  return good;
}

/* a committed type of this many units, of which `elements` consecutive ones touch no byte twice.
   Random where few are needed */
static inline layout random_layout(random_stream *r, const unit *u, int units, long elements, MPI_Comm comm) {
  layout l = {0};
  types_made++;
  for (int attempt = 0; attempt < 3 && elements * units <= 3000 && chance(r, 85); attempt++) {
    long low, high;
    l = generate(r, u, units, between(r, 0, 3));
    reach(&l, &low, &high);
    if (l.ub - l.lb <= MOST_SPAN && high - low <= MOST_SPAN && elements * (l.ub - l.lb) < MOST_ROOM && tiles(&l, 1)) {
      if (l.ub <= l.lb || !tiles(&l, elements)) resize(&l, low, high - low);
      MPI_Type_commit(&l.type);
      if (mpi_knows(&l, (int)elements, comm)) return l;
      types_refused++;
    }
    layout_free(&l);
  }
  l = simple(r, u, units);
  if (!tiles(&l, elements)) {
    long low, high;
    reach(&l, &low, &high);
    resize(&l, low, high - low);
  }
  if (l.derived) MPI_Type_commit(&l.type);
  return l;
}

#endif
