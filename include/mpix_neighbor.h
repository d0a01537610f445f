/* Sparse (neighborhood) collective communication on any MPI.
 *
 * Generated from the Rust sources by `make header`; do not edit.
 *
 * Every function returns MPI_SUCCESS, or an error code after calling the error handler of its communicator. Results are written only on
 * success. Where a degree is 0, the arrays that belong to it are not looked at. */

#ifndef MPIX_NEIGHBOR_H
#define MPIX_NEIGHBOR_H

#include <mpi.h>

// Version of this header: the number before the first point.
#define MPIX_NEIGHBOR_VERSION_MAJOR 0

// Version of this header: the number between the points.
#define MPIX_NEIGHBOR_VERSION_MINOR 1

// Version of this header: the number behind the last point.
#define MPIX_NEIGHBOR_VERSION_PATCH 0

// For `MPIX_Neighbor_error_class`: the processes' arguments of a set call do not fit together.
#define MPIX_ERR_MISMATCH 1

// For `MPIX_Neighbor_error_class`: verification found that the two ends of an edge do not fit together.
#define MPIX_ERR_VERIFY 2

// The neighborhood is for `MPIX_Neighbor_gather` and `gatherv`.
#define MPIX_NEIGHBOR_GATHER 1

// The neighborhood is for `MPIX_Neighbor_alltoall`, `alltoallv` and `alltoallw`.
#define MPIX_NEIGHBOR_ALLTOALL 2

// The neighborhood is for `MPIX_Neighbor_reduce` and `reducev`.
#define MPIX_NEIGHBOR_REDUCE 4

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Sparse all-to-all: sends a block of its own to each target and receives a block of equal size from each source.
//
// - `sendbuf, sendcount, sendtype`: outdegree blocks of `sendcount` elements behind one another; block i goes to target i.
// - `recvbuf, recvcount, recvtype`: room for indegree blocks of `recvcount` elements behind one another; block j comes from source j and
//   nothing is written where source j is `MPI_PROC_NULL`.
// - `comm`: a communicator with a neighborhood for `MPIX_NEIGHBOR_ALLTOALL`.
//
// Called by every process that has an edge, and by all its neighbors; processes that no path of edges connects need not call equally often, unless
// `mpix_whole_communicator` promises that all call. The
// type signatures at the two ends of an edge must be equal. `MPI_IN_PLACE` is an error. Where a degree is 0 the arguments of that side
// are not looked at.
//
// Errors: `MPI_ERR_TOPOLOGY` (no neighborhood), `MPI_ERR_COUNT`, `MPI_ERR_TYPE`, `MPI_ERR_BUFFER`, and `MPI_ERR_TRUNCATE` on
// self edges; found before anything is sent. What only the other end can show (`MPI_ERR_TRUNCATE` of a message) comes from MPI
// while it waits. Cost: as `MPIX_Neighborhood_describe` says; with the schedule `direct` one round and a message for each edge
// to another process. Source: Hoefler and Träff, Sparse Collective Operations for MPI, Listing 2.
int MPIX_Neighbor_alltoall(const void *sendbuf,
                           int sendcount,
                           MPI_Datatype sendtype,
                           void *recvbuf,
                           int recvcount,
                           MPI_Datatype recvtype,
                           MPI_Comm comm);

// `MPIX_Neighbor_alltoall` with large counts.
int MPIX_Neighbor_alltoall_c(const void *sendbuf,
                             MPI_Count sendcount,
                             MPI_Datatype sendtype,
                             void *recvbuf,
                             MPI_Count recvcount,
                             MPI_Datatype recvtype,
                             MPI_Comm comm);

// Sparse all-to-all of blocks of different sizes: sends to target i `sendcounts[i]` elements from
// `sendbuf + senddispls[i] * extent(sendtype)` and receives from source j `recvcounts[j]` elements to
// `recvbuf + recvdispls[j] * extent(recvtype)`.
//
// - `sendcounts`, `senddispls`: outdegree entries; `recvcounts`, `recvdispls`: indegree entries. Not communicator-size entries.
//
// All else as for `MPIX_Neighbor_alltoall`.
int MPIX_Neighbor_alltoallv(const void *sendbuf,
                            const int *sendcounts,
                            const int *senddispls,
                            MPI_Datatype sendtype,
                            void *recvbuf,
                            const int *recvcounts,
                            const int *recvdispls,
                            MPI_Datatype recvtype,
                            MPI_Comm comm);

// `MPIX_Neighbor_alltoallv` with large counts.
int MPIX_Neighbor_alltoallv_c(const void *sendbuf,
                              const MPI_Count *sendcounts,
                              const MPI_Aint *senddispls,
                              MPI_Datatype sendtype,
                              void *recvbuf,
                              const MPI_Count *recvcounts,
                              const MPI_Aint *recvdispls,
                              MPI_Datatype recvtype,
                              MPI_Comm comm);

// Sparse all-to-all of blocks of different sizes and layouts: sends to target i `sendcounts[i]` elements of `sendtypes[i]` from
// `sendbuf + senddispls[i]` bytes and receives from source j `recvcounts[j]` elements of `recvtypes[j]` to `recvbuf + recvdispls[j]` bytes.
//
// - `sendcounts`, `senddispls`, `sendtypes`: outdegree entries; `recvcounts`, `recvdispls`, `recvtypes`: indegree entries.
//
// Blocks that are sent may overlap one another (corners of a halo); blocks that are received must not overlap any other block. All else as
// for `MPIX_Neighbor_alltoall`.
int MPIX_Neighbor_alltoallw(const void *sendbuf,
                            const int *sendcounts,
                            const MPI_Aint *senddispls,
                            const MPI_Datatype *sendtypes,
                            void *recvbuf,
                            const int *recvcounts,
                            const MPI_Aint *recvdispls,
                            const MPI_Datatype *recvtypes,
                            MPI_Comm comm);

// `MPIX_Neighbor_alltoallw` with large counts.
int MPIX_Neighbor_alltoallw_c(const void *sendbuf,
                              const MPI_Count *sendcounts,
                              const MPI_Aint *senddispls,
                              const MPI_Datatype *sendtypes,
                              void *recvbuf,
                              const MPI_Count *recvcounts,
                              const MPI_Aint *recvdispls,
                              const MPI_Datatype *recvtypes,
                              MPI_Comm comm);

// Sparse gather: sends one block to all targets and receives a block of equal size from each source.
//
// - `sendbuf, sendcount, sendtype`: the block that goes to every target; `sendcount` elements.
// - `recvbuf, recvcount, recvtype`: room for indegree blocks of `recvcount` elements behind one another; block j comes from source j and
//   nothing is written where source j is `MPI_PROC_NULL`.
// - `comm`: a communicator with a neighborhood for `MPIX_NEIGHBOR_GATHER`.
//
// Called by every process that has an edge, and by all its neighbors; processes that no path of edges connects need not call equally often. The
// type signature sent must equal the one that each target expects. `MPI_IN_PLACE` is an error. Where a degree is 0 the arguments of that
// side are not looked at.
//
// Errors: `MPI_ERR_TOPOLOGY` (no neighborhood), `MPI_ERR_COUNT`, `MPI_ERR_TYPE`, `MPI_ERR_BUFFER`, and `MPI_ERR_TRUNCATE` on
// self edges; found before anything is sent. What only the other end can show (`MPI_ERR_TRUNCATE` of a message) comes from MPI
// while it waits. Cost: as `MPIX_Neighborhood_describe` says; with the schedule `direct` one round and a message for each edge
// to another process. Source: Hoefler and Träff, Sparse Collective Operations for MPI, Listing 1.
int MPIX_Neighbor_gather(const void *sendbuf,
                         int sendcount,
                         MPI_Datatype sendtype,
                         void *recvbuf,
                         int recvcount,
                         MPI_Datatype recvtype,
                         MPI_Comm comm);

// `MPIX_Neighbor_gather` with large counts.
int MPIX_Neighbor_gather_c(const void *sendbuf,
                           MPI_Count sendcount,
                           MPI_Datatype sendtype,
                           void *recvbuf,
                           MPI_Count recvcount,
                           MPI_Datatype recvtype,
                           MPI_Comm comm);

// Sparse gather of blocks of different sizes: sends one block to all targets and receives from source j `recvcounts[j]` elements to
// `recvbuf + recvdispls[j] * extent(recvtype)`.
//
// - `recvcounts`, `recvdispls`: indegree entries.
//
// All else as for `MPIX_Neighbor_gather`.
int MPIX_Neighbor_gatherv(const void *sendbuf,
                          int sendcount,
                          MPI_Datatype sendtype,
                          void *recvbuf,
                          const int *recvcounts,
                          const int *recvdispls,
                          MPI_Datatype recvtype,
                          MPI_Comm comm);

// `MPIX_Neighbor_gatherv` with large counts.
int MPIX_Neighbor_gatherv_c(const void *sendbuf,
                            MPI_Count sendcount,
                            MPI_Datatype sendtype,
                            void *recvbuf,
                            const MPI_Count *recvcounts,
                            const MPI_Aint *recvdispls,
                            MPI_Datatype recvtype,
                            MPI_Comm comm);

// Version of the library that is linked.
//
// - `major, minor, patch`: where the numbers are written.
//
// Local; may be called at any time.
int MPIX_Neighbor_get_version(int *major, int *minor, int *patch);

// The error class that this library added to MPI's, for comparison with what `MPI_Error_class` gives.
//
// - `which`: `MPIX_ERR_MISMATCH` or `MPIX_ERR_VERIFY`.
// - `errorclass`: where the class is written.
//
// Local.
int MPIX_Neighbor_error_class(int which, int *errorclass);

// The text of the last error that a function of this library reported on a communicator. On MPIs that let error codes carry it,
// `MPI_Error_string` of the returned code gives the same text.
//
// - `comm`: the communicator.
// - `length`: characters that `string` has room for, the final null included. 0: nothing is written to `string`.
// - `string`: where the text is written, cut off if it is longer.
// - `resultlen`: length of the whole text, without the null; 0 if there was no error.
//
// Local.
int MPIX_Neighbor_error_string(MPI_Comm comm, int length, char *string, int *resultlen);

// Gives a communicator a neighborhood for some of the sparse collective operations, and builds the schedule that will run them.
//
// - `operations`: for which operations: `MPIX_NEIGHBOR_GATHER | MPIX_NEIGHBOR_ALLTOALL | MPIX_NEIGHBOR_REDUCE`, any combination, the same on all
//   processes. A neighborhood that an operation had before is replaced.
// - `indegree, sources, sourceweights`: the processes that send to the caller; `indegree` entries each.
// - `outdegree, targets, targetweights`: the processes that the caller sends to; `outdegree` entries each. Ranks of `comm`, in the order of the
//   blocks in the buffers of later calls. They may repeat, be the caller's, or be `MPI_PROC_NULL`; degrees may be 0 (then arrays are not
//   looked at) and larger than the communicator. A process that lists another one as target must be listed there as source as often. Repeated edges
//   match k-th to k-th.
//   On a Cartesian communicator, where all neighbors of all processes are one step away, each edge has the direction of that step, so that
//   `dimension_order` can be used.
// - weights: about how much travels on each edge, in any unit, not negative; `MPI_UNWEIGHTED` for all equal. A hint: wrong weights cost
//   time, never correctness.
// - `info`: hints, or `MPI_INFO_NULL`; may be freed afterwards. docs/tuning.md tells what each does.
//   `mpix_schedule` = `auto` (default), `measure`, `direct`, `dimension_order`, `linear_permutation`, `random_rounds`, `edge_coloring`,
//   `distributed_coloring`, `scatter_binomial`, `scatter_optimal`; `mpix_split` = `true` (default), `false`: whether messages may be cut; `mpix_weight_unit`: bytes that a weight of 1 stands
//   for (default 1); `mpix_loggp`: the machine's parameters, a preset or a file; `mpix_seed`, `mpix_duplex`, `mpix_round_window`, `mpix_graph_limit`;
//   `mpix_reduce_order` = `source` (default), `any`; `mpix_verify` = `false` (default), `true`; `mpix_whole_communicator` = `false` (default), `true`:
//   the promise that all processes of `comm` make every call, and that none waits for the return of another one's call before it makes its own.
//   Without it no process passes on blocks of others; the `scatter_` schedules do, for `MPIX_NEIGHBOR_ALLTOALL` alone, where one process sends to
//   others, to each once, and nobody else sends. Environment variables of the same names in capitals
//   (but `MPIX_NEIGHBOR_VERIFY`) override them. All but `mpix_round_window` and `mpix_reduce_order` must be the same on all processes. Unknown
//   keys are ignored, unknown values are errors.
// - `comm`: an intracommunicator. Duplicates of it do not inherit its neighborhoods.
//
// Collective over `comm`. Errors in the arguments of one process, and lists that do not match, are reported on all; nothing is changed
// then. Errors: `MPI_ERR_RANK`, `MPI_ERR_ARG`, `MPI_ERR_INFO_VALUE`, `MPI_ERR_COMM`, and the class `MPIX_ERR_MISMATCH`.
// Cost: five reductions of a few words; the first time on a communicator a duplicate of it and a split by nodes. Memory: O(degree).
// `random_rounds` and `edge_coloring`, and `auto` where weights say that messages are long, gather the graph of all processes on process 0: 8 bytes
// an edge and 12 a process there, freed before the function returns; docs/tuning.md tells the time. With `mpix_schedule` = `measure` the first ten
// calls for each algorithm are collective over `comm`: all processes must make them.
// Source: Hoefler and Träff, Sparse Collective Operations for MPI, Listing 8.
int MPIX_Neighborhood_set(int operations,
                          int indegree,
                          const int *sources,
                          const int *sourceweights,
                          int outdegree,
                          const int *targets,
                          const int *targetweights,
                          MPI_Info info,
                          MPI_Comm comm);

// `MPIX_Neighborhood_set` for `MPIX_NEIGHBOR_GATHER`. Source: the same paper, Listing 7.
int MPIX_Neighbor_gather_set(int indegree,
                             const int *sources,
                             const int *sourceweights,
                             int outdegree,
                             const int *targets,
                             const int *targetweights,
                             MPI_Info info,
                             MPI_Comm comm);

// `MPIX_Neighborhood_set` for `MPIX_NEIGHBOR_ALLTOALL`. Source: the same paper, Listing 7.
int MPIX_Neighbor_alltoall_set(int indegree,
                               const int *sources,
                               const int *sourceweights,
                               int outdegree,
                               const int *targets,
                               const int *targetweights,
                               MPI_Info info,
                               MPI_Comm comm);

// `MPIX_Neighborhood_set` for `MPIX_NEIGHBOR_REDUCE`. Source: the same paper, Listing 7.
int MPIX_Neighbor_reduce_set(int indegree,
                             const int *sources,
                             const int *sourceweights,
                             int outdegree,
                             const int *targets,
                             const int *targetweights,
                             MPI_Info info,
                             MPI_Comm comm);

// `MPIX_Neighborhood_set` with process groups instead of lists of ranks: the sources and targets are the processes of the groups, in the
// groups' order. A group holds no process twice and no `MPI_PROC_NULL`.
//
// - `sourcegroup`, `targetgroup`: groups of processes of `comm`; may be `MPI_GROUP_EMPTY`, and may be freed afterwards.
// - `sourceweights`, `targetweights`: as many entries as the groups have processes, or `MPI_UNWEIGHTED`.
//
// All else as for `MPIX_Neighborhood_set`; also `MPI_ERR_GROUP` where a process is not in `comm`. Source: the same paper, section IV.A.
int MPIX_Neighborhood_set_group(int operations,
                                MPI_Group sourcegroup,
                                const int *sourceweights,
                                MPI_Group targetgroup,
                                const int *targetweights,
                                MPI_Info info,
                                MPI_Comm comm);

// `MPIX_Neighborhood_set` with the neighbors that the communicator's virtual topology has, in the order in which
// `MPI_Neighbor_alltoall` takes them: Cartesian (per dimension first the lower, then the higher neighbor), graph, or distributed graph with
// its weights.
//
// On Cartesian communicators the block sent toward +d arrives in the receiver's -d slot, also where a periodic dimension has size 1
// or 2 and both neighbors are the same process.
//
// All else as for `MPIX_Neighborhood_set`; also `MPI_ERR_TOPOLOGY` where there is no topology. Source: the same paper, section IV.B.
int MPIX_Neighborhood_set_topology(int operations,
                                   MPI_Info info,
                                   MPI_Comm comm);

// Degrees of the neighborhood that a communicator has for an operation.
//
// - `operation`: one of `MPIX_NEIGHBOR_GATHER`, `MPIX_NEIGHBOR_ALLTOALL`, `MPIX_NEIGHBOR_REDUCE`.
// - `indegree, outdegree`: entries of the caller's source and target lists.
// - `weighted`: 1 if weights were given, else 0.
//
// Local. Errors: `MPI_ERR_TOPOLOGY` (no neighborhood), `MPI_ERR_ARG`.
int MPIX_Neighborhood_get_count(int operation, MPI_Comm comm, int *indegree, int *outdegree, int *weighted);

// Lists of the neighborhood that a communicator has for an operation, as they were given.
//
// - `operation`: one of `MPIX_NEIGHBOR_GATHER`, `MPIX_NEIGHBOR_ALLTOALL`, `MPIX_NEIGHBOR_REDUCE`.
// - `maxindegree, maxoutdegree`: entries that the arrays have room for; as many are written at the most. 0 where a side is not wanted.
// - `sources, targets`: ranks, or `MPI_PROC_NULL`.
// - `sourceweights, targetweights`: weights, 1 where there are none; `MPI_UNWEIGHTED` if they are not wanted.
//
// Local. Errors: `MPI_ERR_TOPOLOGY` (no neighborhood), `MPI_ERR_ARG`.
int MPIX_Neighborhood_get(int operation,
                          MPI_Comm comm,
                          int maxindegree,
                          int *sources,
                          int *sourceweights,
                          int maxoutdegree,
                          int *targets,
                          int *targetweights);

// A few lines for a person about the neighborhood that a communicator has for an operation: the caller's degrees, which schedule runs it and
// why, its rounds and messages, how processes wait.
//
// - `operation`: one of `MPIX_NEIGHBOR_GATHER`, `MPIX_NEIGHBOR_ALLTOALL`, `MPIX_NEIGHBOR_REDUCE`.
// - `length`: characters that `string` has room for, the final null included. 0: nothing is written to `string`.
// - `string`: where the text is written, cut off if it is longer; each line ends with a line feed.
// - `resultlen`: length of the whole text, without the null.
//
// Local. Errors: `MPI_ERR_TOPOLOGY` (no neighborhood), `MPI_ERR_ARG`.
int MPIX_Neighborhood_describe(int operation,
                               MPI_Comm comm,
                               int length,
                               char *string,
                               int *resultlen);

// Removes the neighborhoods that a communicator has for some operations. Not needed before `MPI_Comm_free`, which removes them too.
//
// - `operations`: which: `MPIX_NEIGHBOR_GATHER | MPIX_NEIGHBOR_ALLTOALL | MPIX_NEIGHBOR_REDUCE`, any combination, the same on all processes.
//
// Collective over `comm`. Errors: `MPI_ERR_TOPOLOGY` where one of them has no neighborhood (then none is removed), `MPI_ERR_ARG`.
int MPIX_Neighborhood_free(int operations,
                           MPI_Comm comm);

// Sparse reduction: sends one block to all targets and combines the blocks of all sources elementwise into one.
//
// - `sendbuf, sendcount, sendtype`: the block that goes to every target; `sendcount` elements.
// - `recvbuf, recvcount, recvtype`: the result, `recvcount` elements. The process's own block takes part only where it lists itself as a
//   source. Without a source (or with none but `MPI_PROC_NULL`) `recvbuf` is left as it is.
// - `op`: a predefined or user-defined operator that works on `recvtype`.
// - `comm`: a communicator with a neighborhood for `MPIX_NEIGHBOR_REDUCE`.
//
// The result is `((s0 op s1) op s2) op ...` in the order of the source list, always, so that it is the same in each run. Where the operator
// commutes and the info key `mpix_reduce_order=any` was given, the order of arrival by rounds is taken instead.
//
// Called by every process that has an edge, and by all its neighbors. The type signatures at the two ends of an edge must be equal.
// `MPI_IN_PLACE` is an error. Where the outdegree is 0 the send arguments are not looked at.
//
// Errors: `MPI_ERR_TOPOLOGY` (no neighborhood), `MPI_ERR_COUNT`, `MPI_ERR_TYPE`, `MPI_ERR_OP`, `MPI_ERR_BUFFER`,
// `MPI_ERR_NO_MEM`, and `MPI_ERR_TRUNCATE` on self edges; found before anything is sent. What only the other end can show
// comes from MPI while it waits. Cost: as for `MPIX_Neighbor_gather`, and memory for all sources' blocks but one, which is
// kept for the next call. Source: Hoefler and Träff, Sparse Collective Operations for MPI, Listing 3.
int MPIX_Neighbor_reduce(const void *sendbuf,
                         int sendcount,
                         MPI_Datatype sendtype,
                         void *recvbuf,
                         int recvcount,
                         MPI_Datatype recvtype,
                         MPI_Op op,
                         MPI_Comm comm);

// `MPIX_Neighbor_reduce` with large counts.
int MPIX_Neighbor_reduce_c(const void *sendbuf,
                           MPI_Count sendcount,
                           MPI_Datatype sendtype,
                           void *recvbuf,
                           MPI_Count recvcount,
                           MPI_Datatype recvtype,
                           MPI_Op op,
                           MPI_Comm comm);

// Sparse reduction of blocks that differ from target to target: sends to target i `sendcounts[i]` elements from
// `sendbuf + senddispls[i] * extent(sendtype)` and combines what comes from all sources, `recvcount` elements each.
//
// All sources of a process send it blocks of one signature. Where each contributes to another part of the target's data, as in the reverse
// of an irregular halo exchange, a block must cover all of what any source contributes to (neutral elements elsewhere), or
// `MPIX_Neighbor_alltoallv` and a loop serve better.
//
// - `sendcounts`, `senddispls`: outdegree entries.
//
// All else as for `MPIX_Neighbor_reduce`. Source: the same paper, Listing 4.
int MPIX_Neighbor_reducev(const void *sendbuf,
                          const int *sendcounts,
                          const int *senddispls,
                          MPI_Datatype sendtype,
                          void *recvbuf,
                          int recvcount,
                          MPI_Datatype recvtype,
                          MPI_Op op,
                          MPI_Comm comm);

// `MPIX_Neighbor_reducev` with large counts.
int MPIX_Neighbor_reducev_c(const void *sendbuf,
                            const MPI_Count *sendcounts,
                            const MPI_Aint *senddispls,
                            MPI_Datatype sendtype,
                            void *recvbuf,
                            MPI_Count recvcount,
                            MPI_Datatype recvtype,
                            MPI_Op op,
                            MPI_Comm comm);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* MPIX_NEIGHBOR_H */
