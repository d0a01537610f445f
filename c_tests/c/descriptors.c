/* Shared memory comes and goes with neighborhoods: after many of them there are no more open files
   than before, and no mapping of the library is left. */
#define _DEFAULT_SOURCE
#include <dirent.h>

#include "test.h"

static int files(void) {
  int count = 0;
  DIR *dir = opendir("/proc/self/fd");
  while (dir && readdir(dir)) count++;
  if (dir) closedir(dir);
  return count;
}

/* mappings of the library's memory */
static int mappings(void) {
  char line[512];
  int count = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps)) count += strstr(line, "memfd:mpix-neighbor") != NULL;
  if (maps) fclose(maps);
  return count;
}

static void cycle(int number) {
  int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size, mine = test_rank + number, have = -1;
  MPIX_Request plan;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  /* replaced, freed, or gone with its communicator */
  for (int k = 0; k < 2; k++) OK(MPIX_Neighborhood_set(ALL_OPERATIONS, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, comm));
  if (number == 0) CHECK(test_size == 1 || mappings() > 0, "no shared memory");
  OK(MPIX_Neighbor_alltoall_plan(&mine, 1, MPI_INT, &have, 1, MPI_INT, comm, MPI_INFO_NULL, &plan));
  OK(MPIX_Request_start(&plan));
  OK(MPIX_Request_wait(&plan));
  CHECK(have == left + number, "%d, not %d", have, left + number);
  OK(MPIX_Request_free(&plan));
  if (number % 2) OK(MPIX_Neighborhood_free(ALL_OPERATIONS, comm));
  MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
  test_init(&argc, &argv);
  for (int k = 0; k < 5; k++) cycle(k);
  MPI_Barrier(MPI_COMM_WORLD);
  int before = files();
  for (int k = 5; k < 105; k++) cycle(k);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(files() <= before, "%d open files, and %d before", files(), before);
  CHECK(mappings() == 0, "%d mappings are left", mappings());
  return test_finish();
}
