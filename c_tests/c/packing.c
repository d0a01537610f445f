/* Datatypes without gaps, while hundreds of others are alive. MPICH 4.0 then packs too few bytes
   and returns MPI_SUCCESS: MPI_Pack rounds the length of what has no gaps down to a multiple of
   bits 8 to 15 of the datatype's handle, where it means the size of the basic type
   (typerep_yaksa_pack.c; mended in 4.1). The first 512 datatypes of a process are safe.
   MPI_Unpack is right. What goes through this library must be whole with any MPI.

     packing [mpi]: only shows whether the MPI packs wrongly, and exits with 1 if so */
#include "sparse.h"

enum { LEVELS = 4, FEW = 7, ADJACENT = (1 << 18) + 3 };
/* datatypes alive at each level: MPICH rounds to multiples of 1, 2, 3 and 16 */
static const int alive[LEVELS] = {300, 600, 850, 1200};
static int short_of, packed, unpacked_wrong;
/* how often the rank is asked for */
static int ranks_asked;

int MPI_Comm_rank(MPI_Comm comm, int *rank) {
  ranks_asked++;
  return PMPI_Comm_rank(comm, rank);
}

static void pack(const char *from, int count, MPI_Datatype type, int bytes) {
  char *into = malloc((size_t)bytes);
  int position = 0;
  OK(MPI_Pack(from, count, type, into, bytes, &position, MPI_COMM_SELF));
  packed++, short_of += position != bytes;
  memset(into, 0, (size_t)bytes);
  position = 0;
  OK(MPI_Unpack(from, bytes, &position, into, count, type, MPI_COMM_SELF));
  unpacked_wrong += position != bytes || memcmp(from, into, (size_t)bytes) != 0;
  free(into);
}

/* packing many messages asks MPI for nothing that stays the same */
static void count_calls(void) {
  enum { MOST = 40 };
  int targets[MOST], counts[MOST], displs[MOST], asked[2];
  MPIX_Sparse_result result;
  char from[16];
  MPI_Datatype type;
  MPI_Type_vector(4, 1, 2, MPI_CHAR, &type);
  MPI_Type_commit(&type);
  memset(from, 5, sizeof from);
  for (int k = 0; k < MOST; k++) targets[k] = (test_rank + 1) % test_size, counts[k] = 1, displs[k] = 0;
  for (int round = 0; round < 4; round++) {
    int n = round % 2 ? MOST : 1;
    ranks_asked = 0;
    OK(MPIX_Sparse_exchange(n, targets, from, counts, displs, type, MPI_CHAR, MPI_INFO_NULL, MPI_COMM_WORLD, &result));
    asked[round % 2] = ranks_asked;
    OK(MPIX_Sparse_free(&result));
  }
  CHECK(asked[0] == asked[1], "%d messages ask %d times for the rank, one %d times", MOST, asked[1], asked[0]);
  MPI_Type_free(&type);
}

static int elements(int s, int t) { return 1 + (s + 2 * t) % 5; }

/* everyone sends to everyone, itself included */
static void all_to_all(const char *protocol, MPI_Datatype type) {
  int n = test_size, room = 5 * FEW, got = -1, source, *targets = malloc((size_t)n * 3 * sizeof *targets), *counts = targets + n, *displs = counts + n;
  char *from = malloc((size_t)(n * room));
  for (int t = 0; t < n; t++) {
    targets[t] = t, counts[t] = elements(test_rank, t), displs[t] = 5 * t;
    fill(from + t * room, room, test_rank, t, 0, 0);
  }
  MPI_Info info = test_hint("mpix_sparse", protocol);
  MPIX_Sparse_result result = NULL;
  OK(MPIX_Sparse_exchange(n, targets, from, counts, displs, type, MPI_CHAR, info, MPI_COMM_WORLD, &result));
  MPI_Info_free(&info);
  MPI_Count count, all;
  void *data;
  OK(MPIX_Sparse_get_count(result, &got, &all));
  CHECK(got == n, "%s: %d messages, not %d", protocol, got, n);
  for (int k = 0; k < got && got == n; k++) {
    OK(MPIX_Sparse_get_message(result, k, &source, &count, &data));
    int bytes = FEW * elements(source, test_rank);
    char want[5 * FEW];
    fill(want, room, source, test_rank, 0, 0);
    CHECK(count == bytes && !memcmp(data, want, (size_t)bytes), "%s: the %d bytes of process %d to %d", protocol, bytes, source, test_rank);
  }
  OK(MPIX_Sparse_free(&result));
  free(targets), free(from);
}

/* a block that cannot be flattened, to oneself and to the next process */
static void collective(MPI_Datatype type, MPI_Comm comm) {
  char *from = malloc(2 * ADJACENT), *into = calloc(2, ADJACENT), *want = malloc(ADJACENT);
  int previous = (test_rank + test_size - 1) % test_size;
  for (int typed = 0; typed < 3; typed++) {
    /* of the sender, of the receiver, of both */
    int out = typed != 1, in = typed != 0;
    int scounts[2] = {out ? 1 : ADJACENT, out ? 1 : ADJACENT}, rcounts[2] = {in ? 1 : ADJACENT, in ? 1 : ADJACENT};
    MPI_Aint displs[2] = {0, ADJACENT};
    MPI_Datatype stypes[2] = {out ? type : MPI_CHAR, out ? type : MPI_CHAR}, rtypes[2] = {in ? type : MPI_CHAR, in ? type : MPI_CHAR};
    for (int e = 0; e < 2; e++) fill(from + e * ADJACENT, ADJACENT, test_rank, e, typed, 0);
    memset(into, 0, 2 * ADJACENT);
    OK(MPIX_Neighbor_alltoallw(from, scounts, displs, stypes, into, rcounts, displs, rtypes, comm));
    for (int e = 0; e < 2; e++) {
      fill(want, ADJACENT, e ? previous : test_rank, e, typed, 0);
      CHECK(!memcmp(into + e * ADJACENT, want, ADJACENT), "edge %d, typed %d", e, typed);
    }
  }
  free(from), free(into), free(want);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  int mpi_alone = argc > 1 && !strcmp(argv[1], "mpi"), made = 0, *places = malloc(ADJACENT * sizeof *places);
  MPI_Datatype *others = malloc((size_t)alive[LEVELS - 1] * sizeof *others);
  int sources[2] = {test_rank, (test_rank + test_size - 1) % test_size}, targets[2] = {test_rank, (test_rank + 1) % test_size};
  char *from = malloc(ADJACENT);
  fill(from, ADJACENT, 0, 0, 0, 0);
  if (!mpi_alone) OK(MPIX_Neighborhood_set(ALL_OPERATIONS, 2, sources, MPI_UNWEIGHTED, 2, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, MPI_COMM_WORLD));
  for (int i = 0; i < ADJACENT; i++) places[i] = i;
  for (int level = 0; level < LEVELS; level++) {
    for (; made < alive[level]; made++) MPI_Type_contiguous(1, MPI_CHAR, &others[made]);
    MPI_Datatype few, adjacent;
    MPI_Type_contiguous(FEW, MPI_CHAR, &few);
    MPI_Type_commit(&few);
    /* more numbers than are looked at */
    MPI_Type_create_indexed_block(ADJACENT, 1, places, MPI_CHAR, &adjacent);
    MPI_Type_commit(&adjacent);
    for (int count = 1; count <= 5; count++) pack(from, count, few, count * FEW);
    pack(from, 1, adjacent, ADJACENT);
    if (!mpi_alone) count_calls();
    for (int k = 0; k < PROTOCOLS && !mpi_alone; k++) all_to_all(protocols[k], few);
    if (!mpi_alone) collective(adjacent, MPI_COMM_WORLD);
    MPI_Type_free(&few), MPI_Type_free(&adjacent);
  }
  while (made > 0) MPI_Type_free(&others[--made]);
  free(others), free(places), free(from);
  CHECK(unpacked_wrong == 0, "MPI_Unpack wrote %d of %d wrongly", unpacked_wrong, packed);
  if (test_rank == 0) printf("MPI_Pack: %d of %d calls left bytes out\n", short_of, packed);
  if (mpi_alone) CHECK(short_of == 0, "%d", short_of);
  return test_finish();
}
