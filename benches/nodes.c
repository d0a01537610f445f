/* Exchanges between nodes: each process with edges to all processes of other nodes, by `direct` and
 * by `node_aware`, for short blocks. Takes several nodes: `c_tests/hosts bench` runs it on hosts
 * made of network namespaces. Method: see measure.h. */
#define _GNU_SOURCE
#include "measure.h"
#include <mpix_neighbor.h>

struct problem {
  MPI_Comm comm;
  int bytes;
  char *send, *recv;
};

static void run(problem *p) { MPIX_Neighbor_alltoall(p->send, p->bytes, MPI_BYTE, p->recv, p->bytes, MPI_BYTE, p->comm); }

int main(int argc, char **argv) {
  begin(argc, argv, "nodes [--rounds N] [--seconds S] [--quantile Q]");
  /* the lowest rank on a node is its name */
  MPI_Comm node;
  int name = me, names[n], others[n], degree = 0, nodes = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Bcast(&name, 1, MPI_INT, 0, node);
  MPI_Allgather(&name, 1, MPI_INT, names, 1, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < n; r++) {
    nodes += names[r] == r;
    if (names[r] != name) others[degree++] = r;
  }
  char what[100];
  snprintf(what, sizeof what, "%d nodes, edges to all processes of other nodes, us a call", nodes);
  print_header(what);
  if (me == 0) printf("%-8s %10s %12s %8s\n", "block", "direct", "node_aware", "ratio");
  const char *schedules[] = {"direct", "node_aware"};
  int sizes[] = {8, 1024}, failed = 0;
  for (int s = 0; s < 2; s++) {
    problem problems[2];
    alternative list[2];
    for (int k = 0; k < 2; k++) {
      problem *p = &problems[k];
      MPI_Info info;
      MPI_Info_create(&info);
      MPI_Info_set(info, "mpix_schedule", schedules[k]);
      MPI_Info_set(info, "mpix_whole_communicator", "true");
      MPI_Comm_dup(MPI_COMM_WORLD, &p->comm);
      if (MPIX_Neighborhood_set(MPIX_NEIGHBOR_ALLTOALL, degree, others, MPI_UNWEIGHTED, degree, others, MPI_UNWEIGHTED, info, p->comm))
        MPI_Abort(MPI_COMM_WORLD, 1);
      MPI_Info_free(&info);
      p->bytes = sizes[s];
      p->send = need((size_t)degree * (size_t)p->bytes), p->recv = need((size_t)degree * (size_t)p->bytes);
      for (int i = 0; i < degree * p->bytes; i++) p->send[i] = (char)mix((uint64_t)me << 40 | (uint64_t)others[i / p->bytes] << 20 | (uint64_t)(i % p->bytes));
      run(p);
      for (int j = 0; j < degree * p->bytes; j++)
        failed += p->recv[j] != (char)mix((uint64_t)others[j / p->bytes] << 40 | (uint64_t)me << 20 | (uint64_t)(j % p->bytes));
      list[k] = (alternative){schedules[k], run, p};
    }
    if (failed) fprintf(stderr, "process %d: %d bytes are wrong\n", me, failed), MPI_Abort(MPI_COMM_WORLD, 1);
    samples near, far;
    sample(list, 2, &near, &far);
    double direct = 1e6 * typical(near.times[0], near.count), aware = 1e6 * typical(near.times[1], near.count);
    if (me == 0) printf("%-8s %10.1f %12.1f %8.2f\n", size_name(sizes[s]), direct, aware, direct / aware);
    release_samples(&near), release_samples(&far);
    for (int k = 0; k < 2; k++) free(problems[k].send), free(problems[k].recv), MPI_Comm_free(&problems[k].comm);
  }
  MPI_Comm_free(&node);
  end();
  return 0;
}
