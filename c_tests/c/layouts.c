/* Datatypes of every kind, by the standard's constructors one by one and nested at random, on self
   edges and to a neighbor, in exchanges of one field and of several that travel as one message.
   What must arrive is what MPI_Pack makes of the sender's block and MPI_Unpack of that at the
   receiver. */
#define _GNU_SOURCE
#include "test.h"
#include "allocations.h"

/* of an element: bytes of data, and bytes from its first one to its last one */
enum { LONGEST = 400, WIDEST = 1 << 13, EDGES = 4 };

static int me;

/* how often the library has asked how a type is made */
static long contents;
int MPI_Type_get_contents(MPI_Datatype type, int integers, int addresses, int types, int *i, MPI_Aint *a, MPI_Datatype *t) {
  contents++;
  return PMPI_Type_get_contents(type, integers, addresses, types, i, a, t);
}
#if MPI_VERSION >= 4
int MPI_Type_get_contents_c(MPI_Datatype type, MPI_Count integers, MPI_Count addresses, MPI_Count counts, MPI_Count types, int *i, MPI_Aint *a, MPI_Count *c, MPI_Datatype *t) {
  contents++;
  return PMPI_Type_get_contents_c(type, integers, addresses, counts, types, i, a, c, t);
}
#endif

/* a buffer in which `count` elements lie somewhere in the middle */
typedef struct {
  char *memory, *at;
  size_t length;
} place;

static place place_for(MPI_Datatype type, int count) {
  MPI_Aint lb, extent, low, high;
  int bytes;
  MPI_Type_get_extent(type, &lb, &extent);
  MPI_Type_get_true_extent(type, &low, &high);
  MPI_Type_size(type, &bytes);
  high += low;
  /* where nothing lies nowhere */
  if (bytes == 0) low = high = count = 0;
  MPI_Aint reach = count > 1 ? (count - 1) * extent : 0;
  if (reach < 0) low += reach;
  else high += reach;
  place p = {NULL, NULL, (size_t)(high > low ? high - low : 0) + 32};
  p.memory = malloc(p.length);
  /* any address is right for ints that nobody reads as ints */
  p.at = p.memory + 13 - (count ? low : 0);
  memset(p.memory, 0x5a, p.length);
  return p;
}

static int packed_size(MPI_Datatype type, int count) {
  int bytes;
  MPI_Type_size(type, &bytes);
  return bytes * count;
}

/* MPICH packs nothing at addresses that it takes for null */
static void pack(const place *p, MPI_Datatype type, int count, char *into) {
  int position = 0, bytes = packed_size(type, count);
  if (bytes) MPI_Pack(p->at, count, type, into, bytes, &position, MPI_COMM_SELF);
  CHECK(position == bytes, "%d of %d bytes", position, bytes);
}
static void unpack(const place *p, MPI_Datatype type, int count, const char *from) {
  int position = 0, bytes = packed_size(type, count);
  if (bytes) MPI_Unpack(from, bytes, &position, p->at, count, type, MPI_COMM_SELF);
}

static uint64_t state;
static int draw(int end) {
  state = mix(state);
  return (int)(state % (uint64_t)end);
}

/* one of each constructor around another type; bytes of it may overlap, but for the first ones of
   the list */
enum { KINDS = 18 };
static const char *const kinds[KINDS] = {"dup",           "contiguous",     "vector", "hvector",  "subarray", "fortran subarray", "resized", "indexed_block", "hindexed_block",
                                         "indexed",       "hindexed",       "struct", "darray",   "permuted", "backwards",        "empty",   "large counts",  "large subarray"};

static MPI_Datatype wrap(int kind, MPI_Datatype old) {
  MPI_Datatype new = MPI_DATATYPE_NULL, two[2];
  MPI_Aint lb, extent, low, true_extent, addresses[4];
  int a[3], b[3], c[3], lengths[4], displs[4], n = 2 + draw(2);
  MPI_Type_get_extent(old, &lb, &extent);
  MPI_Type_get_true_extent(old, &low, &true_extent);
  MPI_Aint reach = extent > true_extent ? extent : true_extent;
  for (int i = 0; i < 3; i++) b[i] = 1 + draw(3), c[i] = draw(3), a[i] = b[i] + c[i] + draw(2);
  /* irregular, never closer than three elements */
  for (int i = 0; i < 4; i++) lengths[i] = draw(4), displs[i] = 3 * i + (i > 1 ? 2 : 0), addresses[i] = 4 * reach * i + (i > 1 ? 24 : 4);
#if MPI_VERSION >= 4
  MPI_Count wide[3][4];
  for (int i = 0; i < 3; i++) wide[0][i] = a[i], wide[1][i] = b[i], wide[2][i] = c[i];
#endif
  switch (kind) {
    case 0: MPI_Type_dup(old, &new); break;
    case 1: MPI_Type_contiguous(n, old, &new); break;
    case 2: MPI_Type_vector(n, 2, 3 + draw(2), old, &new); break;
    case 3: MPI_Type_create_hvector(n, 1 + draw(2), 2 * reach + 4 * draw(3), old, &new); break;
    case 4: MPI_Type_create_subarray(3, a, b, c, MPI_ORDER_C, old, &new); break;
    case 5: MPI_Type_create_subarray(3, a, b, c, MPI_ORDER_FORTRAN, old, &new); break;
    case 6: MPI_Type_create_resized(old, 4 * draw(3) - 4, reach + 4 * draw(4), &new); break;
    case 7: MPI_Type_create_indexed_block(4, 2, displs, old, &new); break;
    case 8: MPI_Type_create_hindexed_block(3, 1 + draw(2), addresses, old, &new); break;
    case 9: MPI_Type_indexed(4, lengths, displs, old, &new); break;
    case 10: MPI_Type_create_hindexed(4, lengths, addresses, old, &new); break;
    case 11:
      MPI_Type_vector(2, 1, 2, MPI_INT, &two[0]);
      two[1] = old;
      lengths[0] = lengths[1] = 1, addresses[0] = -100, addresses[1] = draw(2) ? 40 : -81;
      MPI_Type_create_struct(2, lengths, addresses, two, &new);
      MPI_Type_free(&two[0]);
      break;
    case 12: {
      int sizes[2] = {5, 4}, how[2] = {MPI_DISTRIBUTE_BLOCK, draw(2) ? MPI_DISTRIBUTE_CYCLIC : MPI_DISTRIBUTE_BLOCK}, with[2] = {MPI_DISTRIBUTE_DFLT_DARG, 2 + draw(2)},
          grid[2] = {2, 2};
      if (draw(3) == 0) how[0] = MPI_DISTRIBUTE_NONE, grid[0] = 1, grid[1] = 4;
      MPI_Type_create_darray(4, draw(4), 2, sizes, how, with, grid, draw(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, old, &new);
      break;
    }
    case 13:
      /* no holes, but not in order */
      lengths[0] = 1, lengths[1] = 2, lengths[2] = 1, displs[0] = 3, displs[1] = 0, displs[2] = 2;
      MPI_Type_indexed(3, lengths, displs, old, &new);
      break;
    case 14: MPI_Type_vector(n + 1, 1, -1 - draw(3), old, &new); break;
    case 15:
      lengths[0] = 1, lengths[1] = 0, lengths[2] = 2;
      MPI_Type_contiguous(0, old, &two[0]);
      MPI_Type_indexed(3, lengths, displs, old, &two[1]);
      MPI_Type_create_struct(2, (int[]){7, 1}, (MPI_Aint[]){1000, 8}, two, &new);
      for (int i = 0; i < 2; i++) MPI_Type_free(&two[i]);
      break;
#if MPI_VERSION >= 4
    case 16: {
      MPI_Count counts[4], where[4], bytes[4];
      for (int i = 0; i < 4; i++) counts[i] = lengths[i], where[i] = displs[i], bytes[i] = addresses[i];
      MPI_Datatype types[4] = {old, old, old, old};
      switch (draw(9)) {
        case 0: MPI_Type_contiguous_c(n, old, &new); break;
        case 1: MPI_Type_vector_c(n, 2, 3, old, &new); break;
        case 2: MPI_Type_create_hvector_c(n, 2, 2 * reach + 4, old, &new); break;
        case 3: MPI_Type_indexed_c(4, counts, where, old, &new); break;
        case 4: MPI_Type_create_hindexed_c(4, counts, bytes, old, &new); break;
        case 5: MPI_Type_create_indexed_block_c(4, 2, where, old, &new); break;
        case 6: MPI_Type_create_hindexed_block_c(4, 2, bytes, old, &new); break;
        case 7: MPI_Type_create_struct_c(4, counts, bytes, types, &new); break;
        default: MPI_Type_create_resized_c(old, 4, reach + 4, &new);
      }
      break;
    }
    case 17: MPI_Type_create_subarray_c(3, wide[0], wide[1], wide[2], draw(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, old, &new); break;
#endif
    default: MPI_Type_contiguous(2, old, &new);
  }
  return new;
}

/* a committed type of ints, the same for the same seed */
static MPI_Datatype type_of(uint64_t seed) {
  MPI_Datatype type = MPI_INT, new;
  MPI_Aint lb, extent, true_extent;
  int bytes, depth = (int)(seed % 4), first = (int)(seed / 4 % KINDS), level = 0;
  state = mix(seed);
  if (draw(8) == 0) MPI_Type_create_f90_integer(9, &type);
  for (; level < depth; level++) {
    new = wrap(level ? draw(KINDS) : first, type);
    MPI_Type_size(new, &bytes);
    MPI_Type_get_extent(new, &lb, &extent);
    MPI_Type_get_true_extent(new, &lb, &true_extent);
    if (bytes > LONGEST || labs(extent) > WIDEST || labs(lb) > WIDEST || labs(true_extent) > WIDEST) {
      MPI_Type_free(&new);
      break;
    }
    /* what is inside is freed; predefined ones are nobody's */
    if (level) MPI_Type_free(&type);
    type = new;
  }
  if (level == 0) MPI_Type_dup(type, &new), type = new;
  MPI_Type_commit(&type);
  return type;
}

/* whether nothing is named twice, so that it can be received into */
static int injective(MPI_Datatype type, int count) {
  int bytes = packed_size(type, count);
  char *values = malloc(bytes + 1), *again = malloc(bytes + 1);
  place p = place_for(type, count);
  for (int i = 0; i < bytes; i++) values[i] = (char)mix(i);
  unpack(&p, type, count, values);
  pack(&p, type, count, again);
  int same = !memcmp(values, again, bytes);
  free(values), free(again), free(p.memory);
  return same;
}

/* a block on an edge, at one of its ends */
typedef struct {
  MPI_Datatype type;
  int count;
  place p;
} block;

/* the values that process s sends on edge e in exchange number i, and the types at both ends */
static void edge(uint64_t i, int s, int e, block *from, block *into, char **values) {
  uint64_t seed = mix3(i, s, e);
  int a, b;
  /* the first exchanges go through the kinds one by one */
  from->type = type_of(i < 2 * KINDS && e < 2 ? 4 * (i % KINDS) + 1 + i / KINDS : seed);
  into->type = type_of(seed >> 7);
  MPI_Type_size(from->type, &a);
  MPI_Type_size(into->type, &b);
  from->count = b / 4, into->count = a / 4;
  if (from->count == into->count && draw(2)) from->count = into->count = 1 + draw(3);
  if (!injective(into->type, into->count)) {
    MPI_Type_free(&into->type);
    MPI_Type_dup(from->type, &into->type);
    from->count = into->count = 1 + draw(3);
    if (!injective(into->type, into->count)) {
      MPI_Type_free(&into->type);
      MPI_Type_contiguous(a / 4, MPI_INT, &into->type);
      MPI_Type_commit(&into->type);
    }
  }
  int bytes = packed_size(from->type, from->count);
  CHECK(bytes == packed_size(into->type, into->count), "%d bytes", bytes);
  *values = malloc(bytes + 1);
  for (int k = 0; k < bytes / 4; k++) ((int *)*values)[k] = test_value(s, e, k);
  from->p = place_for(from->type, from->count);
  into->p = place_for(into->type, into->count);
  unpack(&from->p, from->type, from->count, *values);
  /* what is named twice is sent twice */
  pack(&from->p, from->type, from->count, *values);
}

/* one exchange, of `fields` fields */
static void exchange(uint64_t i, int fields, MPI_Comm comm) {
  block out[fields * EDGES], in[fields * EDGES], other;
  int scounts[fields * EDGES], rcounts[fields * EDGES];
  MPI_Aint sdispls[fields * EDGES], rdispls[fields * EDGES];
  MPI_Datatype stypes[fields * EDGES], rtypes[fields * EDGES];
  place want[fields * EDGES];
  const void *sendbufs[fields];
  void *recvbufs[fields];
  char *values;
  static char origin[1];
  for (int k = 0; k < fields * EDGES; k++) {
    int e = k % EDGES, sender = e < 2 || test_size == 1 ? me : 1 - me;
    /* blocks lie anywhere: relative to an address that is none of theirs, or to MPI_BOTTOM */
    edge(i, me, k, &out[k], &other, &values);
    MPI_Type_free(&other.type);
    free(values), free(other.p.memory);
    MPI_Aint base, at;
    MPI_Get_address(origin, &base);
    MPI_Get_address(out[k].p.at, &at);
    scounts[k] = out[k].count, stypes[k] = out[k].type, sdispls[k] = i % 2 ? at : at - base;
    edge(i, sender, k, &other, &in[k], &values);
    MPI_Type_free(&other.type);
    free(other.p.memory);
    MPI_Get_address(in[k].p.at, &at);
    rcounts[k] = in[k].count, rtypes[k] = in[k].type, rdispls[k] = i % 2 ? at : at - base;
    want[k] = place_for(in[k].type, in[k].count);
    unpack(&want[k], in[k].type, in[k].count, values);
    free(values);
  }
  for (int f = 0; f < fields; f++) sendbufs[f] = recvbufs[f] = i % 2 ? MPI_BOTTOM : origin;
  if (fields == 1) OK(MPIX_Neighbor_alltoallw(sendbufs[0], scounts, sdispls, stypes, recvbufs[0], rcounts, rdispls, rtypes, comm));
  else OK(MPIX_Neighbor_alltoallw_fields(fields, sendbufs, scounts, sdispls, stypes, recvbufs, rcounts, rdispls, rtypes, comm));
  for (int k = 0; k < fields * EDGES; k++) {
    size_t bad = 0;
    CHECK(want[k].length == in[k].p.length, "lengths");
    while (bad < want[k].length && want[k].memory[bad] == in[k].p.memory[bad]) bad++;
    CHECK(bad == want[k].length, "exchange %d of %d fields (%s), block %d: byte %zu of %zu", (int)i, fields, kinds[i % KINDS], k, bad, want[k].length);
    MPI_Type_free(&in[k].type), MPI_Type_free(&out[k].type);
    free(out[k].p.memory), free(in[k].p.memory), free(want[k].memory);
  }
}

/* a block of one type from the process to itself, into another one */
static void to_itself(const char *what, const void *from, int count, MPI_Datatype type, void *into, int other_count, MPI_Datatype other, MPI_Comm comm) {
  int scounts[EDGES] = {count}, rcounts[EDGES] = {other_count};
  MPI_Aint sdispls[EDGES] = {0}, rdispls[EDGES] = {0};
  MPI_Datatype stypes[EDGES] = {type, MPI_INT, MPI_INT, MPI_INT}, rtypes[EDGES] = {other, MPI_INT, MPI_INT, MPI_INT};
  int rc = MPIX_Neighbor_alltoallw(from, scounts, sdispls, stypes, into, rcounts, rdispls, rtypes, comm);
  CHECK(rc == MPI_SUCCESS, "%s: %s", what, test_message(rc));
}

/* a type is freed and another one made, which often gets its handle: what was known of the first
   must not serve the second */
static void handles_come_back(MPI_Comm comm) {
  int from[64], again = 0;
  MPI_Datatype before[2] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
  for (int i = 0; i < 64; i++) from[i] = test_value(me, 0, i);
  for (int round = 0; round < 200; round++) {
    int stride = 2 + round % 7, into[9] = {0};
    MPI_Datatype type, outer;
    MPI_Type_vector(4, 1, stride, MPI_INT, &type);
    MPI_Type_commit(&type);
    again += type == before[0] || type == before[1];
    before[0] = type, before[1] = MPI_DATATYPE_NULL;
    to_itself("vector", from, 1, type, into, 4, MPI_INT, comm);
    for (int k = 0; k < 4; k++) CHECK(into[k] == from[k * stride], "round %d: %d is not %d", round, into[k], from[k * stride]);
    if (round % 2) {
      MPI_Type_free(&type);
      continue;
    }
    /* what a type is made of may be freed, also when it has been used itself */
    MPI_Type_create_hvector(2, 1, 80, type, &outer);
    MPI_Type_commit(&outer);
    MPI_Type_free(&type);
    for (int use = 0; use < 2; use++) {
      memset(into, 0, sizeof into);
      to_itself("vector of vectors", from, 1, outer, into, 8, MPI_INT, comm);
      for (int k = 0; k < 8; k++) CHECK(into[k] == from[k / 4 * 20 + k % 4 * stride], "round %d, %d", round, k);
    }
    before[1] = outer;
    MPI_Type_free(&outer);
  }
  if (me == 0) printf("%d of 200 handles came back\n", again);
}

/* more irregular pieces than are written down: MPI packs those */
static void many_pieces(MPI_Comm comm) {
  enum { PIECES = 70000 };
  int *displs = malloc(PIECES * sizeof(int)), *from = malloc(3 * PIECES * sizeof(int)), *into = calloc(PIECES, sizeof(int)), bad = 0;
  for (int i = 0; i < 3 * PIECES; i++) from[i] = test_value(me, 1, i);
  for (int i = 0; i < PIECES; i++) displs[i] = 3 * i + (int)(mix(i) % 2);
  MPI_Datatype type;
  MPI_Type_create_indexed_block(PIECES, 1, displs, MPI_INT, &type);
  MPI_Type_commit(&type);
  for (int use = 0; use < 2; use++) {
    to_itself("many pieces", from, 1, type, into, PIECES, MPI_INT, comm);
    for (int i = 0; i < PIECES; i++) bad += into[i] != from[displs[i]];
    CHECK(bad == 0, "%d of %d", bad, PIECES);
  }
  MPI_Type_free(&type);
  free(displs), free(from), free(into);
}

/* a block of one type from the process to itself, of no elements: what decodes it copies nothing */
static void nothing(const char *what, MPI_Datatype type, MPI_Comm comm) {
  int none = 0;
  MPI_Type_commit(&type);
  contents = 0;
  OK(MPIX_Neighbor_alltoall(&none, 0, type, &none, 0, type, comm));
  CHECK(contents < 300000, "%s: MPI was asked %ld times how a type is made", what, contents);
  MPI_Type_free(&type);
}

/* types that are not taken apart to their end: of many parts with many irregular pieces each; of
   two equal parts, each of which has two, and so on; and of one within another, deep */
static void endless(MPI_Comm comm) {
  enum { PIECES = 60000, PARTS = 64, LEVELS = 20, DEPTH = 12000 };
  int *displs = malloc(PIECES * sizeof(int)), lengths[PARTS];
  MPI_Aint at[PARTS], lb, extent;
  MPI_Datatype part, type, parts[PARTS];
  for (int i = 0; i < PIECES; i++) displs[i] = 3 * i + (int)(mix(i) % 2);
  MPI_Type_create_indexed_block(PIECES, 1, displs, MPI_INT, &part);
  for (int k = 0; k < PARTS; k++) lengths[k] = 1, at[k] = 12L * PIECES * k, parts[k] = part;
  MPI_Type_create_struct(PARTS, lengths, at, parts, &type);
  MPI_Type_free(&part);
  by_us = (allocations){0, 0}, counting = 1;
  nothing("many parts of many pieces", type, comm);
  counting = 0;
  CHECK(by_us.bytes < 64 << 20, "%ld bytes to take a type apart", by_us.bytes);
  MPI_Type_contiguous(2, MPI_INT, &part);
  for (int level = 0; level < LEVELS; level++) {
    MPI_Type_get_extent(part, &lb, &extent);
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, extent}, (MPI_Datatype[]){part, part}, &type);
    MPI_Type_free(&part);
    part = type;
  }
  nothing("two parts of two parts", part, comm);
  MPI_Type_contiguous(2, MPI_INT, &part);
  for (int level = 0; level < DEPTH; level++) {
    MPI_Type_dup(part, &type);
    MPI_Type_free(&part);
    part = type;
  }
  nothing("duplicates of duplicates", part, comm);
  free(displs);
}

/* types of pairs have holes, and structures of several types too */
static void mixed(MPI_Comm comm) {
  struct {
    double value;
    int at;
  } pairs[3] = {{1.5, 1}, {2.5, 2}, {3.5, 3}}, taken[3];
  struct {
    short value;
    int at;
  } small[3] = {{1, 10}, {2, 20}, {3, 30}}, small_taken[3];
  struct {
    char name[3];
    double x;
    short s;
  } records[5], have[5];
  memset(taken, 0, sizeof taken), memset(small_taken, 0, sizeof small_taken), memset(records, 0, sizeof records), memset(have, 0, sizeof have);
  to_itself("pairs", pairs, 3, MPI_DOUBLE_INT, taken, 3, MPI_DOUBLE_INT, comm);
  to_itself("small pairs", small, 3, MPI_SHORT_INT, small_taken, 3, MPI_SHORT_INT, comm);
  for (int i = 0; i < 3; i++)
    CHECK(taken[i].value == pairs[i].value && taken[i].at == pairs[i].at && small_taken[i].value == small[i].value && small_taken[i].at == small[i].at, "pair %d", i);
  MPI_Datatype parts[3] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT}, record, reversed;
  MPI_Aint at[3] = {(char *)records[0].name - (char *)records, (char *)&records[0].x - (char *)records, (char *)&records[0].s - (char *)records};
  MPI_Type_create_struct(3, (int[]){3, 1, 1}, at, parts, &record);
  MPI_Type_create_hvector(5, 1, -(MPI_Aint)sizeof records[0], record, &reversed);
  MPI_Type_commit(&reversed);
  for (int i = 0; i < 5; i++) records[i].name[0] = 'a', records[i].name[2] = (char)('a' + i), records[i].x = i / 4.0 + me, records[i].s = (short)(i - 100);
  to_itself("records", &records[4], 1, reversed, &have[4], 1, reversed, comm);
  CHECK(!memcmp(records, have, sizeof records), "records");
  MPI_Type_free(&record), MPI_Type_free(&reversed);
}

/* a message that fills the first part of an element that only MPI can take apart: all of it
   arrives, in whatever way it comes */
static void half_an_element(int other, const char *transport) {
  enum { SENT = 50, ROOM = 100 };
  struct {
    short value;
    int at;
  } pairs[SENT], taken[2 * ROOM];
  MPI_Comm comm;
  MPI_Info info;
  MPI_Datatype element;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Info_create(&info);
  if (strcmp(transport, "shared")) MPI_Info_set(info, "mpix_shared_memory", "0");
  MPI_Info_set(info, "mpix_transport", !strcmp(transport, "rma") ? "rma" : "messages");
  OK(MPIX_Neighborhood_set(ALL_OPERATIONS, 1, &other, MPI_UNWEIGHTED, 1, &other, MPI_UNWEIGHTED, info, comm));
  MPI_Info_free(&info);
  MPI_Type_contiguous(ROOM, MPI_SHORT_INT, &element);
  MPI_Type_commit(&element);
  for (int elements = 1; elements <= 2; elements++) {
    int sent = (elements - 1) * ROOM + SENT, bad = 0;
    for (int i = 0; i < SENT; i++) pairs[i].value = (short)(me + i), pairs[i].at = 7 * i;
    memset(taken, 0xff, sizeof taken);
    /* the same pairs again and again */
    MPI_Datatype all;
    MPI_Type_create_hvector(sent / SENT, SENT, 0, MPI_SHORT_INT, &all);
    MPI_Type_commit(&all);
    OK(MPIX_Neighbor_alltoall(pairs, 1, all, taken, elements, element, comm));
    MPI_Type_free(&all);
    for (int i = 0; i < 2 * ROOM; i++) bad += i < sent ? taken[i].value != other + i % SENT || taken[i].at != 7 * (i % SENT) : taken[i].at != -1;
    CHECK(bad == 0, "%s, %d elements: %d pairs are wrong", transport, elements, bad);
  }
  MPI_Type_free(&element);
  MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  me = test_rank;
  if (test_size > 2) MPI_Abort(MPI_COMM_WORLD, 1);
  int other = test_size == 1 ? me : 1 - me, neighbors[EDGES] = {me, me, other, other};
  MPI_Info info = test_hint("mpix_fuse", "true");
  OK(MPIX_Neighborhood_set(ALL_OPERATIONS, EDGES, neighbors, MPI_UNWEIGHTED, EDGES, neighbors, MPI_UNWEIGHTED, info, MPI_COMM_WORLD));
  MPI_Info_free(&info);
  for (uint64_t i = 0; i < 240; i++) exchange(i, 1 + (int)(i % 3 == 2), MPI_COMM_WORLD);
  handles_come_back(MPI_COMM_WORLD);
  many_pieces(MPI_COMM_WORLD);
  endless(MPI_COMM_WORLD);
  mixed(MPI_COMM_WORLD);
  if (test_size == 2) half_an_element(other, "shared"), half_an_element(other, "messages"), half_an_element(other, "rma");
  return test_finish();
}
