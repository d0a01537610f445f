/* Exchanges along a line from and to device memory, by an MPI that takes it (device/mpi.c). Each
   process has other kinds of memory; with an argument all have device memory alone. */
#define _GNU_SOURCE
#include "device/device.h"
#include "preload.h"

static void test(const topology *t, int count, int all, int round) {
  int kinds[] = {DEVICE, HOST, MANAGED, DEVICE}, n = 2 * count;
  memory out = memory_of(n, -1, all ? DEVICE : kinds[(test_rank + round) % 4]), in = memory_of(n, -1, all ? DEVICE : kinds[(test_rank + round / 4) % 4]);
  for (int form = 0; form < 3; form++) {
    for (int i = 0; i < n; i++) out.image[i] = test_value(test_rank, i / count, i % count + form), in.image[i] = -1;
    MPI_Request request;
    if (form == 0) OK(MPI_Neighbor_alltoall(out.at, count, MPI_INT, in.at, count, MPI_INT, t->comm));
    else if (form == 1 && !all) {
      OK(MPI_Ineighbor_alltoall(out.at, count, MPI_INT, in.at, count, MPI_INT, t->comm, &request));
      OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else OK(MPI_Neighbor_allgather(out.at, count, MPI_INT, in.at, count, MPI_INT, t->comm));
    int gathers = form == 2 || (form == 1 && all), bad = 0;
    for (int i = 0; i < n; i++) {
      int source = t->sources[i / count], entry = gathers ? 0 : t->entries[i / count];
      bad += in.image[i] != (source < 0 ? -1 : test_value(source, entry, i % count + form));
    }
    CHECK(bad == 0, "form %d, %d ints: %d are wrong", form, count, bad);
  }
  memory_free(&out), memory_free(&in);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  topology line = cartesian("line", 1, -test_size, 1, 1);
  /* as CUDA's runtime does, with the first allocation */
  standin_load();
  for (int round = 0; round < 12; round++) {
    test(&line, 3, argc > 1, round);
    test(&line, 1500, argc > 1, round);
    test(&line, 50000, argc > 1, round);
  }
  CHECK(standin_asked() > 0, "the driver has not been asked");
  topology_free(&line);
  return test_finish();
}
