/* Blocks of structs, some of which travel through another process as packed bytes. MPI_Recv of
   MPICH 4.0 places only the first 8 KiB of a longer message of bytes whose receive names structs
   of several basic types, and returns MPI_ERR_TRUNCATE; sent with the structs themselves it is
   right. What goes through this library must be whole with any MPI.

     structs [mpi]: only shows whether the MPI receives wrongly, and exits with 1 if so */
#include "sparse.h"

enum { COUNT = 2220, MEMBERS = 3 };

/* double, double, char at these places, in structs of this extent */
static const struct layout {
  MPI_Aint places[MEMBERS];
  int extent;
} layouts[] = {{{0, 8, 16}, 17}, {{0, 8, 16}, 24}, {{3, 11, 0}, 20}};
enum { LAYOUTS = sizeof layouts / sizeof *layouts, DATA = 17, LONGEST = 24 };

static MPI_Datatype make(const struct layout *layout) {
  int lengths[MEMBERS] = {1, 1, 1};
  MPI_Datatype members[MEMBERS] = {MPI_DOUBLE, MPI_DOUBLE, MPI_CHAR}, members_together, type;
  MPI_Type_create_struct(MEMBERS, lengths, layout->places, members, &members_together);
  MPI_Type_create_resized(members_together, 0, layout->extent, &type);
  MPI_Type_free(&members_together);
  MPI_Type_commit(&type);
  return type;
}

/* the data of `count` structs, one byte after the other */
static void pack(const struct layout *layout, const char *from, char *into, int count) {
  static const int lengths[MEMBERS] = {8, 8, 1};
  for (int i = 0; i < count; i++, from += layout->extent) {
    for (int m = 0; m < MEMBERS; into += lengths[m], m++) memcpy(into, from + layout->places[m], (size_t)lengths[m]);
  }
}

/* everyone sends `count` structs to everyone */
static void all_to_all(MPI_Datatype type, const struct layout *layout, int count, MPI_Comm comm) {
  size_t block = (size_t)(count * layout->extent), data = (size_t)(count * DATA);
  char *from = malloc(block * (size_t)test_size), *into = calloc((size_t)test_size, block), *got = malloc(data), *want = malloc(data), *sent = malloc(block);
  for (int t = 0; t < test_size; t++) fill(from + (size_t)t * block, (int)block, test_rank, t, count, 0);
  OK(MPIX_Neighbor_alltoall(from, count, type, into, count, type, comm));
  for (int s = 0; s < test_size; s++) {
    fill(sent, (int)block, s, test_rank, count, 0);
    pack(layout, sent, want, count);
    pack(layout, into + (size_t)s * block, got, count);
    CHECK(!memcmp(got, want, data), "%d structs of %d bytes from process %d", count, layout->extent, s);
  }
  free(from), free(into), free(got), free(want), free(sent);
}

/* process 0 sends packed bytes, process 1 receives structs */
static int mpi_is_wrong(const struct layout *layout) {
  enum { BYTES = COUNT * DATA };
  char *packed = malloc(BYTES), *into = calloc(COUNT, LONGEST), *got = malloc(BYTES);
  int wrong = 0, received = 0;
  MPI_Datatype type = make(layout);
  fill(packed, BYTES, 0, 1, 0, 0);
  if (test_rank == 0) MPI_Send(packed, BYTES, MPI_PACKED, 1, 0, MPI_COMM_WORLD);
  if (test_rank == 1) {
    MPI_Status status;
    int code = MPI_Recv(into, COUNT, type, 0, 0, MPI_COMM_WORLD, &status);
    pack(layout, into, got, COUNT);
    MPI_Get_count(&status, MPI_BYTE, &received);
    wrong = code != MPI_SUCCESS || received != BYTES || memcmp(packed, got, BYTES);
    if (wrong) printf("%d structs of extent %d are received wrongly (code %d)\n", COUNT, layout->extent, code);
  }
  MPI_Type_free(&type);
  free(packed), free(into), free(got);
  return wrong;
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  int mpi_alone = argc > 1 && !strcmp(argv[1], "mpi"), wrong = 0;
  if (mpi_alone) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int k = 0; k < LAYOUTS && test_size > 1; k++) wrong += mpi_is_wrong(&layouts[k]);
    CHECK(wrong == 0, "%d of %d", wrong, LAYOUTS);
    return test_finish();
  }
  int *everyone = malloc((size_t)test_size * sizeof *everyone);
  for (int r = 0; r < test_size; r++) everyone[r] = r;
  MPI_Info info = test_hint("mpix_whole_communicator", "true");
  OK(MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, test_size, everyone, MPI_UNWEIGHTED, test_size, everyone, MPI_UNWEIGHTED, info, MPI_COMM_WORLD));
  for (int k = 0; k < LAYOUTS; k++) {
    MPI_Datatype type = make(&layouts[k]);
    all_to_all(type, &layouts[k], 1, MPI_COMM_WORLD);
    all_to_all(type, &layouts[k], COUNT, MPI_COMM_WORLD);
    all_to_all(type, &layouts[k], 30, MPI_COMM_WORLD);
    MPI_Type_free(&type);
  }
  MPI_Info_free(&info);
  free(everyone);
  return test_finish();
}
