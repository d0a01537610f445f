/* A few calls that every MPI gets right: 50 exchanges of 4 ints along a line. With an argument:
   none. */
#include "preload.h"

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  topology line = cartesian("line", 1, -test_size, 1, 1);
  for (int round = 0; round < (argc > 1 ? 0 : 50); round++) {
    int out[8], in[8];
    for (int i = 0; i < 8; i++) out[i] = test_value(test_rank, i / 4, i + round), in[i] = -1;
    OK(MPI_Neighbor_alltoall(out, 4, MPI_INT, in, 4, MPI_INT, line.comm));
    for (int i = 0; i < 8; i++) {
      int source = line.sources[i / 4], entry = line.entries[i / 4], want = source < 0 ? -1 : test_value(source, entry, 4 * entry + i % 4 + round);
      CHECK(in[i] == want, "round %d: int %d is %d, not %d", round, i, in[i], want);
    }
  }
  CHECK(line.comm != MPI_COMM_NULL, "no communicator");
  topology_free(&line);
  return test_finish();
}
