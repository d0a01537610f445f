/* Sparse (neighborhood) collective communication on any MPI.
 *
 * Generated from bindings/functions.toml and the Rust sources by `make header`; do not edit.
 *
 * Every function returns MPI_SUCCESS, or an error code after calling the error handler of its
 * communicator. Results are written only on success. Where a degree is 0, the arrays that belong to
 * it are not looked at. */

#ifndef MPIX_NEIGHBOR_H
#define MPIX_NEIGHBOR_H

#include <mpi.h>

/* `MPIX_Loggp.eager` of a machine on which no message waits for its receiver. */
#define MPIX_LOGGP_UNLIMITED -1

/* Major version of this header. */
#define MPIX_NEIGHBOR_VERSION_MAJOR 0

/* Minor version of this header. */
#define MPIX_NEIGHBOR_VERSION_MINOR 1

/* Patch version of this header. */
#define MPIX_NEIGHBOR_VERSION_PATCH 0

/* Selector for `MPIX_Neighbor_error_class`, not an error class: do not compare codes or classes
 * with it. The arguments of a set call do not match between processes. */
#define MPIX_ERR_MISMATCH 1

/* Selector for `MPIX_Neighbor_error_class`, not an error class: do not compare codes or classes
 * with it. Verification found that the two ends of an edge do not match. */
#define MPIX_ERR_VERIFY 2

/* Operation: `MPIX_Neighbor_gather` and `MPIX_Neighbor_gatherv`. */
#define MPIX_NEIGHBOR_GATHER 1

/* Operation: `MPIX_Neighbor_alltoall`, `MPIX_Neighbor_alltoallv`, `MPIX_Neighbor_alltoallw` and
 * `MPIX_Neighbor_alltoallw_fields`. */
#define MPIX_NEIGHBOR_ALLTOALL 2

/* Operation: `MPIX_Neighbor_reduce` and `MPIX_Neighbor_reducev`. */
#define MPIX_NEIGHBOR_REDUCE 4

/* Operation: `MPIX_Neighbor_accumulate`, `MPIX_Neighbor_accumulatev` and
 * `MPIX_Neighbor_accumulatew`. */
#define MPIX_NEIGHBOR_ACCUMULATE 8

/* A neighborhood collective that one call starts and another completes. */
typedef struct MPIX_Request_object MPIX_Request_object;

/* A sparse exchange whose targets and sizes stay the same. */
typedef struct MPIX_Sparse_plan_object MPIX_Sparse_plan_object;

/* A nonblocking sparse exchange under way. */
typedef struct MPIX_Sparse_request_object MPIX_Sparse_request_object;

/* The messages that a sparse exchange brought, ordered by source, those of one source in the order
 * in which it sent them. */
typedef struct MPIX_Sparse_result_object MPIX_Sparse_result_object;

/* A sparse window: elements of all processes of a communicator. */
typedef struct MPIX_Sparse_window_object MPIX_Sparse_window_object;

/* Handle of a nonblocking or persistent neighborhood collective, or NULL. */
typedef MPIX_Request_object *MPIX_Request;

/* LogGP parameters of a machine (Alexandrov, Ionescu, Schauser, Scheiman 1995). Times are in
 * microseconds. */
typedef struct {
  /* L: time that a byte takes through the network. */
  double latency;
  /* o_s: time that a process spends on a message that it sends. */
  double send_overhead;
  /* o_r: time that a process spends on a message that it receives. */
  double recv_overhead;
  /* g: least time between two short messages of a process. */
  double gap;
  /* G: time for each byte of a long message. */
  double gap_per_byte;
  /* Longest message, in bytes, that is sent without waiting for its receiver, or
   * `MPIX_LOGGP_UNLIMITED`. */
  MPI_Count eager;
  /* Deviation of measured times from those that the parameters predict: the median of
   * |measured - predicted| / measured. 0 if nothing was measured. */
  double deviation;
} MPIX_Loggp;

/* Handle of the result of a sparse exchange, or NULL. */
typedef MPIX_Sparse_result_object *MPIX_Sparse_result;

/* Called by `MPIX_Sparse_exchange_each` for each message. `count` elements of the receive type are
 * at `data`, which is valid during the call. Returns `MPI_SUCCESS`, or anything else not to be
 * called again. */
typedef int (*MPIX_Sparse_function)(int source, MPI_Count count, const void *data, void *context);

/* Handle of a nonblocking sparse exchange, or NULL. */
typedef MPIX_Sparse_request_object *MPIX_Sparse_request;

/* Handle of a plan of a sparse exchange, or NULL. */
typedef MPIX_Sparse_plan_object *MPIX_Sparse_plan;

/* Handle of a sparse window, or NULL. */
typedef MPIX_Sparse_window_object *MPIX_Sparse_window;

#ifdef __cplusplus
extern "C" {
#endif /* __cplusplus */

/* ---- Neighborhoods
 *
 * A neighborhood is set once on a communicator, and serves any number of collectives. */

/* Sets a communicator's neighborhood for one or more operations, and builds the schedule that runs
 * them.
 *
 * - `operations`: `MPIX_NEIGHBOR_GATHER`, `MPIX_NEIGHBOR_ALLTOALL`, `MPIX_NEIGHBOR_REDUCE` and
 *   `MPIX_NEIGHBOR_ACCUMULATE`, in any combination (`|`), the same on all processes. Replaces the
 *   neighborhood that an operation had.
 * - `indegree`: Number of sources. May be 0, and larger than the communicator.
 * - `sources` (`indegree` entries): Ranks of the processes that send to the caller, in the order of
 *   the blocks in the receive buffers of later calls. They may repeat, include the caller, and be
 *   `MPI_PROC_NULL`.
 * - `sourceweights` (`indegree` entries): Roughly how much travels on each edge, in any unit, not
 *   negative; or `MPI_UNWEIGHTED` for all equal.
 * - `outdegree`: Number of targets. May be 0, and larger than the communicator.
 * - `targets` (`outdegree` entries): Ranks of the processes that the caller sends to, in the order
 *   of the blocks in the send buffers. They may repeat, include the caller, and be `MPI_PROC_NULL`.
 * - `targetweights` (`outdegree` entries): As `sourceweights`.
 * - `info`: Hints, or `MPI_INFO_NULL`. May be freed afterwards.
 * - `comm`: An intracommunicator. Its duplicates do not inherit its neighborhoods.
 *
 * If a process lists another one as a target, that process must list it as a source equally often.
 * Repeated edges match in order, the k-th with the k-th. On a Cartesian communicator where all
 * neighbors of all processes are one step away, each edge gets the direction of that step, so that
 * the schedule `dimension_order` can be used.
 *
 * Weights are a hint: wrong weights cost time, never correctness.
 *
 * The hints that are read here; docs/choosing-a-schedule.md has a table of their values and of what
 * they do. Environment variables of the same names in capitals override them (for `mpix_verify` it
 * is `MPIX_NEIGHBOR_VERIFY`). All but `mpix_reduce_order` must be the same on all processes; of
 * `mpix_round_window` the value may differ where all give one. Unknown keys are ignored (with
 * `MPIX_NEIGHBOR_LOG=warn`, those that begin with `mpix_` are named on standard error); unknown
 * values are errors.
 *
 * - `mpix_schedule`: `auto` (default), `model` (as `auto`, without trial calls), `measure`,
 *   `direct`, `dimension_order`, `linear_permutation`, `random_rounds`, `edge_coloring`,
 *   `distributed_coloring`, `scatter_binomial`, `scatter_optimal`, `combining`, `node_aware`.
 * - `mpix_split`: `true` (default) or `false`, whether messages may be cut into parts.
 * - `mpix_weight_unit`: bytes that a weight of 1 stands for (default 1).
 * - `mpix_loggp`: the machine's parameters, a preset or a file; `auto` (default): those that
 *   `MPIX_Loggp_get` returns, and if there are none, measured where the choice depends on them;
 *   `measure`: measured by this call; `none`: unknown, so that `auto` chooses `direct`.
 * - `mpix_seed`: seeds random choices (default 1).
 * - `mpix_duplex`: `full` (default) or `half`, whether a process sends and receives in the same
 *   round of `random_rounds`, `edge_coloring` and `distributed_coloring`.
 * - `mpix_round_window`: rounds that may have sends in flight, at least 1; `auto` (default): 2, or
 *   1 where trial calls or `measure` find that faster.
 * - `mpix_graph_limit`: the most edges of a graph that process 0 gathers (default 16777216).
 * - `mpix_reduce_order`: `source` (default) or `any`, the order in which blocks are combined.
 * - `mpix_fuse`: `auto` (default), `true` or `false`, whether the blocks of several fields travel
 *   as one message.
 * - `mpix_shared_memory`: the most bytes of shared memory for the messages to one process of the
 *   node (default 10 MiB; below 64 KiB none).
 * - `mpix_single_copy`: which messages within a node are copied from the sender's memory where the
 *   kernel permits that: `auto` (default), those for which that was measured to be faster; `true`,
 *   those longer than a cell of shared memory; a number of bytes, at least 4097, also those at
 *   least as long; `away`, those of nonblocking and persistent calls that are longer than a cell,
 *   if the sender is not waiting in the library; `false` or `never`, none.
 * - `mpix_transport`: `messages` (default), `rma`, `auto` or `auto_plans`, what carries blocks
 *   between processes that share no memory: messages, puts into windows, or what is measured to be
 *   faster for single calls or for plans.
 * - `mpix_rma_synchronization`: `active` (default), `passive` or, with `mpix_whole_communicator`,
 *   `fence`, how puts are synchronized.
 * - `mpix_rma_straight`: `auto` (default), `false` or a number of bytes, at least 4096, from how
 *   many on plans put the message for a process straight to where it is received: as measured,
 *   never, or from that on.
 * - `mpix_verify`: `false` (default) or `true`, whether the two ends of each edge compare their
 *   arguments before each call.
 * - `mpix_nodes`: a number of consecutive processes that are taken to share a node, or a list of
 *   the node of each process (default: the real nodes).
 * - `mpix_whole_communicator`: `false` (default) or `true`, the promise that all processes of
 *   `comm` make every call, and that none waits for another one's call to return before it makes
 *   its own.
 *
 * Without that promise, a process passes on blocks of its own neighbors only. `scatter_binomial`,
 * `scatter_optimal` and `node_aware` therefore need it always; `combining` needs it where blocks
 * pass through processes that are not neighbors of their source. The `scatter_` schedules serve
 * `MPIX_NEIGHBOR_ALLTOALL` and `MPIX_NEIGHBOR_ACCUMULATE`, where one process sends to others, to
 * each once, and nobody else sends. `combining` (on a Cartesian communicator on which all processes
 * have neighbors at the same offsets) and `node_aware` serve all operations but
 * `MPIX_NEIGHBOR_REDUCE`.
 *
 * With `mpix_schedule` = `measure`, the first 12 to 482 calls for each schedule are collective over
 * the processes that edges connect, directly or through others; with `mpix_whole_communicator` over
 * `comm`.
 *
 * Collective over `comm`.
 *
 * Errors:
 *
 * - `MPI_ERR_RANK`: An entry of `sources` or `targets` is no rank of `comm`.
 * - `MPI_ERR_ARG`: A degree or weight is negative, an array is NULL, `operations` is no
 *   combination, or the schedule that a hint asks for cannot be used.
 * - `MPI_ERR_INFO_VALUE`: A hint has an unknown value, or a file that it names cannot be read.
 * - `MPI_ERR_COMM`: `comm` is `MPI_COMM_NULL` or an intercommunicator.
 * - `MPIX_ERR_MISMATCH`: The lists of two processes do not match, or an argument differs between
 *   processes. See `MPIX_Neighbor_error_class`.
 * - `MPI_ERR_OTHER`: A process has ended.
 *
 * Errors in the arguments of one process, and lists that do not match, are reported on all
 * processes, and nothing is changed.
 *
 * Cost: Two reductions of a few words at the same time, three more where `combining` can be chosen;
 * the first time on a communicator, a duplicate of it and two allgathers, and what shared memory
 * needs (docs/shared-memory.md). Memory: O(degree). `random_rounds` and `edge_coloring`, and `auto`
 * where weights say that messages are long, gather the graph of all processes on process 0: 8 bytes
 * for each edge and 12 for each process, freed before the function returns. `auto` may also make
 * trial calls between nodes, with blocks as long as the weights say, for 0.25 s or more: up to
 * about 4 s, and at most 16 s if one call of each schedule takes less than 4 s together.
 * docs/tuning.md gives the time.
 *
 * Source: Hoefler and Träff, Sparse Collective Operations for MPI, Listings 7 and 8. */
int MPIX_Neighborhood_set(int operations,
                          int indegree,
                          const int *sources,
                          const int *sourceweights,
                          int outdegree,
                          const int *targets,
                          const int *targetweights,
                          MPI_Info info,
                          MPI_Comm comm);

/* Sets a communicator's neighborhood for `MPIX_NEIGHBOR_GATHER` alone.
 *
 * All else is as for `MPIX_Neighborhood_set`.
 *
 * Source: Hoefler and Träff, Sparse Collective Operations for MPI, Listing 7. */
int MPIX_Neighbor_gather_set(int indegree,
                             const int *sources,
                             const int *sourceweights,
                             int outdegree,
                             const int *targets,
                             const int *targetweights,
                             MPI_Info info,
                             MPI_Comm comm);

/* Sets a communicator's neighborhood for `MPIX_NEIGHBOR_ALLTOALL` alone.
 *
 * All else is as for `MPIX_Neighborhood_set`.
 *
 * Source: Hoefler and Träff, Sparse Collective Operations for MPI, Listing 7. */
int MPIX_Neighbor_alltoall_set(int indegree,
                               const int *sources,
                               const int *sourceweights,
                               int outdegree,
                               const int *targets,
                               const int *targetweights,
                               MPI_Info info,
                               MPI_Comm comm);

/* Sets a communicator's neighborhood for `MPIX_NEIGHBOR_REDUCE` alone.
 *
 * All else is as for `MPIX_Neighborhood_set`.
 *
 * Source: Hoefler and Träff, Sparse Collective Operations for MPI, Listing 7. */
int MPIX_Neighbor_reduce_set(int indegree,
                             const int *sources,
                             const int *sourceweights,
                             int outdegree,
                             const int *targets,
                             const int *targetweights,
                             MPI_Info info,
                             MPI_Comm comm);

/* Sets a communicator's neighborhood from process groups instead of lists of ranks.
 *
 * - `sourcegroup`: Processes of `comm` that send to the caller, in the group's order. May be
 *   `MPI_GROUP_EMPTY`, and may be freed afterwards.
 * - `sourceweights` (one for each process of `sourcegroup`): Weights as for
 *   `MPIX_Neighborhood_set`, or `MPI_UNWEIGHTED`.
 * - `targetgroup`: Processes of `comm` that the caller sends to, likewise.
 * - `targetweights` (one for each process of `targetgroup`): Weights as for
 *   `MPIX_Neighborhood_set`, or `MPI_UNWEIGHTED`.
 *
 * A group contains no process twice and no `MPI_PROC_NULL`.
 *
 * All else is as for `MPIX_Neighborhood_set`.
 *
 * Errors:
 *
 * - `MPI_ERR_GROUP`: A group is `MPI_GROUP_NULL`, or a process of it is not in `comm`.
 * - `MPI_ERR_ARG`: A degree or weight is negative, an array is NULL, `operations` is no
 *   combination, or the schedule that a hint asks for cannot be used.
 * - `MPI_ERR_INFO_VALUE`: A hint has an unknown value, or a file that it names cannot be read.
 * - `MPI_ERR_COMM`: `comm` is `MPI_COMM_NULL` or an intercommunicator.
 * - `MPIX_ERR_MISMATCH`: The lists of two processes do not match, or an argument differs between
 *   processes. See `MPIX_Neighbor_error_class`.
 * - `MPI_ERR_OTHER`: A process has ended.
 *
 * Source: Hoefler and Träff, Sparse Collective Operations for MPI, section IV.A. */
int MPIX_Neighborhood_set_group(int operations,
                                MPI_Group sourcegroup,
                                const int *sourceweights,
                                MPI_Group targetgroup,
                                const int *targetweights,
                                MPI_Info info,
                                MPI_Comm comm);

/* Sets a communicator's neighborhood to the neighbors in its virtual topology.
 *
 * The neighbors come in the order in which `MPI_Neighbor_alltoall` takes them: Cartesian (for each
 * dimension first the lower, then the higher neighbor), graph, or distributed graph with its
 * weights.
 *
 * On a Cartesian communicator, the block sent toward +d arrives in the receiver's -d block, also
 * where a periodic dimension has size 1 or 2 and both neighbors are the same process.
 *
 * All else is as for `MPIX_Neighborhood_set`.
 *
 * Errors:
 *
 * - `MPI_ERR_TOPOLOGY`: `comm` has no topology.
 * - `MPI_ERR_ARG`: A degree or weight is negative, an array is NULL, `operations` is no
 *   combination, or the schedule that a hint asks for cannot be used.
 * - `MPI_ERR_INFO_VALUE`: A hint has an unknown value, or a file that it names cannot be read.
 * - `MPI_ERR_COMM`: `comm` is `MPI_COMM_NULL` or an intercommunicator.
 * - `MPIX_ERR_MISMATCH`: The lists of two processes do not match, or an argument differs between
 *   processes. See `MPIX_Neighbor_error_class`.
 * - `MPI_ERR_OTHER`: A process has ended.
 *
 * Source: Hoefler and Träff, Sparse Collective Operations for MPI, section IV.B. */
int MPIX_Neighborhood_set_topology(int operations, MPI_Info info, MPI_Comm comm);

/* Sets a communicator's neighborhood from the targets alone: a sparse exchange finds the sources.
 *
 * - `targets` (`outdegree` entries): As for `MPIX_Neighborhood_set`. A target that is
 *   `MPI_PROC_NULL` has no source.
 * - `info`: Hints of `MPIX_Neighborhood_set` and of `MPIX_Sparse_exchange`, or `MPI_INFO_NULL`.
 *
 * The sources are ordered by rank, those of one rank as they stand in that process's list, and have
 * the weights given at the other end. `MPIX_Neighborhood_get_count` and `MPIX_Neighborhood_get`
 * return them.
 *
 * All else is as for `MPIX_Neighborhood_set`.
 *
 * Errors:
 *
 * - `MPI_ERR_COUNT`: More entries of target lists name the process than fit in an `int`.
 * - `MPI_ERR_RANK`: An entry of `sources` or `targets` is no rank of `comm`.
 * - `MPI_ERR_ARG`: A degree or weight is negative, an array is NULL, `operations` is no
 *   combination, or the schedule that a hint asks for cannot be used.
 * - `MPI_ERR_INFO_VALUE`: A hint has an unknown value, or a file that it names cannot be read.
 * - `MPI_ERR_COMM`: `comm` is `MPI_COMM_NULL` or an intercommunicator.
 * - `MPIX_ERR_MISMATCH`: The lists of two processes do not match, or an argument differs between
 *   processes. See `MPIX_Neighbor_error_class`.
 * - `MPI_ERR_OTHER`: A process has ended.
 *
 * Cost: That of `MPIX_Neighborhood_set`, a reduction of two words, by which hints are compared, and
 * a sparse exchange of 8 bytes for each target, with the memory that its protocol needs
 * (docs/sparse.md; `nbx` needs none that grows with the number of processes).
 *
 * Source: Hoefler, Siebert, Lumsdaine, Scalable Communication Protocols for Dynamic Sparse Data
 * Exchange. */
int MPIX_Neighborhood_set_targets(int operations,
                                  int outdegree,
                                  const int *targets,
                                  const int *targetweights,
                                  MPI_Info info,
                                  MPI_Comm comm);

/* Sets a communicator's neighborhood to the edges of another operation, the other way round.
 *
 * - `from`: One of `MPIX_NEIGHBOR_GATHER`, `MPIX_NEIGHBOR_ALLTOALL`, `MPIX_NEIGHBOR_REDUCE` and
 *   `MPIX_NEIGHBOR_ACCUMULATE`: the operation whose edges are taken. The same on all processes.
 * - `to`: The operations that get them, in any combination (`|`), the same on all processes. May
 *   contain `from`, whose neighborhood is then replaced.
 * - `info`: Hints as for `MPIX_Neighborhood_set`, or `MPI_INFO_NULL`. Those of `from` do not carry
 *   over.
 * - `comm`: A communicator with a neighborhood for `from`.
 *
 * The sources of `from` become the targets of `to`, and its targets the sources, each in the order
 * in which they stood and with its weight. Block `i` sent travels to the process from which block
 * `i` of `from` came, and arrives there as the block in whose place `from` sends. A reverse halo,
 * which returns what was computed on ghost cells to their owners, uses the counts, displacements
 * and datatypes of the halo with the two sides exchanged; with `to` = `MPIX_NEIGHBOR_ACCUMULATE`,
 * it adds what returns to what the owners have.
 *
 * Collective over `comm`.
 *
 * Errors:
 *
 * - `MPI_ERR_TOPOLOGY`: `comm` has no neighborhood for `from`.
 * - `MPI_ERR_ARG`: `from` is not exactly one operation, or `to` is no combination.
 *
 * Others as for `MPIX_Neighborhood_set`. The communicator then keeps the neighborhoods that it had.
 *
 * Cost: That of `MPIX_Neighborhood_set`. */
int MPIX_Neighborhood_reverse(int from, int to, MPI_Info info, MPI_Comm comm);

/* Returns the degrees of a communicator's neighborhood for an operation.
 *
 * - `operation`: One of `MPIX_NEIGHBOR_GATHER`, `MPIX_NEIGHBOR_ALLTOALL`, `MPIX_NEIGHBOR_REDUCE`
 *   and `MPIX_NEIGHBOR_ACCUMULATE`.
 * - `comm`: A communicator with a neighborhood for it.
 * - `indegree`: Number of sources.
 * - `outdegree`: Number of targets.
 * - `weighted`: 1 if weights were given for an entry of a list, else 0.
 *
 * Local.
 *
 * Errors:
 *
 * - `MPI_ERR_TOPOLOGY`: `comm` has no neighborhood for `operation`.
 * - `MPI_ERR_ARG`: `operation` is not exactly one, or a pointer is NULL. */
int MPIX_Neighborhood_get_count(int operation,
                                MPI_Comm comm,
                                int *indegree,
                                int *outdegree,
                                int *weighted);

/* Returns the lists of a communicator's neighborhood for an operation, as they were given.
 *
 * - `maxindegree`: Entries that `sources` and `sourceweights` have room for; no more are written. 0
 *   if they are not wanted.
 * - `sources` (`maxindegree` entries): Ranks, or `MPI_PROC_NULL`.
 * - `sourceweights` (`maxindegree` entries): Weights, 1 where none were given; `MPI_UNWEIGHTED` if
 *   they are not wanted.
 * - `maxoutdegree`: As `maxindegree`, for `targets` and `targetweights`.
 * - `targets` (`maxoutdegree` entries): Ranks, or `MPI_PROC_NULL`.
 * - `targetweights` (`maxoutdegree` entries): As `sourceweights`.
 *
 * All else is as for `MPIX_Neighborhood_get_count`. */
int MPIX_Neighborhood_get(int operation,
                          MPI_Comm comm,
                          int maxindegree,
                          int *sources,
                          int *sourceweights,
                          int maxoutdegree,
                          int *targets,
                          int *targetweights);

/* Describes a communicator's neighborhood for an operation in a few lines of text.
 *
 * - `length`: Characters that `string` has room for, the terminating null included. 0: nothing is
 *   written to `string`.
 * - `string` (`length` entries): Receives the text, truncated if it is longer. Each line ends with
 *   a line feed.
 * - `resultlen`: Length of the whole text, without the terminating null.
 *
 * The text is for people: the caller's degrees, the schedule and why it was chosen, its rounds and
 * messages, how processes wait, the hints in effect and where they come from.
 *
 * All else is as for `MPIX_Neighborhood_get_count`. */
int MPIX_Neighborhood_describe(int operation,
                               MPI_Comm comm,
                               int length,
                               char *string,
                               int *resultlen);

/* Removes a communicator's neighborhoods for one or more operations.
 *
 * - `operations`: `MPIX_NEIGHBOR_GATHER`, `MPIX_NEIGHBOR_ALLTOALL`, `MPIX_NEIGHBOR_REDUCE` and
 *   `MPIX_NEIGHBOR_ACCUMULATE`, in any combination (`|`), the same on all processes.
 * - `comm`: The communicator.
 *
 * Not needed before `MPI_Comm_free`, which removes them too.
 *
 * Collective over `comm`. An error in one process's argument is reported on all; nothing is removed
 * then.
 *
 * Errors:
 *
 * - `MPI_ERR_TOPOLOGY`: One of the operations has no neighborhood.
 * - `MPI_ERR_ARG`: `operations` is no combination.
 * - `MPIX_ERR_MISMATCH`: It is not the same on all processes.
 *
 * Cost: Two reductions of one and two words at the same time, or one through shared memory; with
 * windows, a reduction and their end besides. */
int MPIX_Neighborhood_free(int operations, MPI_Comm comm);

/* ---- Neighborhood collectives
 *
 * Each has a blocking, a nonblocking and a persistent form. Every function that takes counts has a
 * large-count (`_c`) variant. */

/* Sends one block to all targets and receives a block of equal size from each source.
 *
 * - `sendbuf`: The block sent to every target.
 * - `sendcount`: Elements of that block.
 * - `sendtype`: Datatype of the elements sent.
 * - `recvbuf`: Room for `indegree` consecutive blocks; block j comes from source j, and is left
 *   alone where source j is `MPI_PROC_NULL`.
 * - `recvcount`: Elements of each block received.
 * - `recvtype`: Datatype of the elements received.
 * - `comm`: A communicator with a neighborhood for `MPIX_NEIGHBOR_GATHER`.
 *
 * The type signatures at the two ends of an edge must be equal. Where a degree is 0, the arguments
 * of that side are not looked at.
 *
 * Every process that has an edge calls it, and so do all its neighbors. Processes that no path of
 * edges connects need not call equally often, unless `mpix_whole_communicator` promises that every
 * process of the communicator calls. Under a schedule of several rounds, no process may wait for
 * the return of another one's call before it makes its own.
 *
 * Errors:
 *
 * - `MPI_ERR_COMM`: `comm` is `MPI_COMM_NULL`.
 * - `MPI_ERR_TOPOLOGY`: `comm` has no neighborhood for the operation.
 * - `MPI_ERR_COUNT`: A count is negative, or a block exceeds the address range.
 * - `MPI_ERR_TYPE`: A datatype is `MPI_DATATYPE_NULL` or not committed.
 * - `MPI_ERR_BUFFER`: A buffer is `MPI_IN_PLACE`, NULL where a block of elements lies, or in device
 *   memory that the library would have to touch (docs/device-buffers.md).
 * - `MPI_ERR_ARG`: An array is NULL where it has entries.
 * - `MPI_ERR_TRUNCATE`: A message brings more than the receiver expects, or the two ends of a self
 *   edge differ.
 * - `MPI_ERR_OTHER`: Another collective is still running on the neighborhood, or a process has
 *   ended before it took part.
 * - `MPIX_ERR_VERIFY`: With `mpix_verify`, the two ends of an edge do not match. See
 *   `MPIX_Neighbor_error_class`.
 *
 * Errors in the arguments are found before anything is sent. What only the other end can show
 * (`MPI_ERR_TRUNCATE` of a message) is reported while the call waits.
 *
 * Cost: Rounds and messages as `MPIX_Neighborhood_describe` reports. With the schedule `direct`,
 * one round, and for each edge to another process one message of the bytes of its block. A call
 * with the arguments of one of the last four (of the last one, if blocks are combined or passed on)
 * starts as a plan does: that they are the same is all that is checked. The first calls with new
 * arguments allocate.
 *
 * Source: Hoefler and Träff, Sparse Collective Operations for MPI, Listing 1. */
int MPIX_Neighbor_gather(const void *sendbuf,
                         int sendcount,
                         MPI_Datatype sendtype,
                         void *recvbuf,
                         int recvcount,
                         MPI_Datatype recvtype,
                         MPI_Comm comm);

/* `MPIX_Neighbor_gather` with large counts. */
int MPIX_Neighbor_gather_c(const void *sendbuf,
                           MPI_Count sendcount,
                           MPI_Datatype sendtype,
                           void *recvbuf,
                           MPI_Count recvcount,
                           MPI_Datatype recvtype,
                           MPI_Comm comm);

/* Starts `MPIX_Neighbor_gather` and returns once its messages are posted.
 *
 * - `request`: The collective, for `MPIX_Request_wait` and the other functions that complete it.
 *   Until then, `sendbuf` must not be written, and `recvbuf` must not be touched, except for blocks
 *   that `MPIX_Request_test_source` and its variants have reported.
 *
 * Arrays of counts, displacements and datatypes may be changed or freed at once. So may datatypes,
 * but not an operator. Any number of collectives may be under way on a communicator. They match in
 * the order in which they are started, together with the blocking ones.
 *
 * If the schedule has several rounds, each waiting or testing function of this library moves every
 * collective of the process forward, and nothing else does: neighbors may have to wait for the next
 * such call. Among such collectives, the oldest one under way must not be more than 7,280
 * collectives old; otherwise the call returns `MPI_ERR_REQUEST`.
 *
 * Errors in the arguments are reported here, and nothing is started; besides those of the blocking
 * form, `MPI_ERR_ARG` if `request` is NULL. With verification (`mpix_verify`) neighbors must learn
 * of them first, so the call then waits for the neighbors.
 *
 * Cost: That of the blocking form, and up to four allocations. With several rounds, also a copy of
 * the arrays, and a duplicate of each derived datatype.
 *
 * All else is as for `MPIX_Neighbor_gather`. */
int MPIX_Ineighbor_gather(const void *sendbuf,
                          int sendcount,
                          MPI_Datatype sendtype,
                          void *recvbuf,
                          int recvcount,
                          MPI_Datatype recvtype,
                          MPI_Comm comm,
                          MPIX_Request *request);

/* `MPIX_Ineighbor_gather` with large counts. */
int MPIX_Ineighbor_gather_c(const void *sendbuf,
                            MPI_Count sendcount,
                            MPI_Datatype sendtype,
                            void *recvbuf,
                            MPI_Count recvcount,
                            MPI_Datatype recvtype,
                            MPI_Comm comm,
                            MPIX_Request *request);

/* Makes a persistent `MPIX_Neighbor_gather`, which `MPIX_Request_start` runs any number of times.
 *
 * - `info`: Hints, or `MPI_INFO_NULL`; the same on neighbors. May be freed at once. `mpix_match`
 *   and `mpix_fuse` are read, other keys are ignored.
 * - `request`: The collective, inactive. `MPIX_Request_free` frees it.
 *
 * All work on the arguments is done here, and errors in them are reported here; besides those of
 * the blocking form, `MPI_ERR_ARG` if `request` is NULL, and `MPI_ERR_INFO_VALUE` if `mpix_match`
 * or `mpix_fuse` has an unknown value. A start allocates nothing, looks nothing up and queries no
 * datatype. A start sends what is in the send buffer at that time. Arrays of counts, displacements
 * and datatypes may be changed or freed at once. So may datatypes, but not an operator.
 *
 * Making it communicates nothing. It takes the schedule that the neighborhood has at that time
 * (with `mpix_schedule` = `measure`, before the choice is made, the first one that is tried). Once
 * the neighborhood is freed or replaced, the request can no longer be started.
 *
 * - `mpix_match` = `start` (default): starts match in order with all other collectives of the
 *   operation on the communicator, including those that are not persistent.
 * - `mpix_match` = `plan`: the starts of this request match only one another, and may come in any
 *   order beside other collectives, a different one on each process, as those of
 *   `MPI_Neighbor_alltoall_init` may. Not where collectives are verified, and an error
 *   (`MPI_ERR_OTHER`) on an MPI without tags for it.
 * - `mpix_fuse`: for several fields, see `MPIX_Neighbor_alltoallw_fields`.
 *
 * All neighbors make it, at the same place among their calls of the operation on the communicator.
 *
 * Cost: No messages. Memory for the messages and for duplicates of derived datatypes.
 *
 * All else is as for `MPIX_Neighbor_gather`. */
int MPIX_Neighbor_gather_plan(const void *sendbuf,
                              int sendcount,
                              MPI_Datatype sendtype,
                              void *recvbuf,
                              int recvcount,
                              MPI_Datatype recvtype,
                              MPI_Comm comm,
                              MPI_Info info,
                              MPIX_Request *request);

/* `MPIX_Neighbor_gather_plan` with large counts. */
int MPIX_Neighbor_gather_plan_c(const void *sendbuf,
                                MPI_Count sendcount,
                                MPI_Datatype sendtype,
                                void *recvbuf,
                                MPI_Count recvcount,
                                MPI_Datatype recvtype,
                                MPI_Comm comm,
                                MPI_Info info,
                                MPIX_Request *request);

/* Sends one block to all targets and receives a block of its own size from each source.
 *
 * - `recvbuf`: Receives `recvcounts[j]` elements from source j at `recvbuf + recvdispls[j] *
 *   extent(recvtype)`.
 * - `recvcounts` (`indegree` entries): Elements of each block received.
 * - `recvdispls` (`indegree` entries): Where each block received begins, in extents of `recvtype`
 *   from `recvbuf`.
 *
 * All else is as for `MPIX_Neighbor_gather`. */
int MPIX_Neighbor_gatherv(const void *sendbuf,
                          int sendcount,
                          MPI_Datatype sendtype,
                          void *recvbuf,
                          const int *recvcounts,
                          const int *recvdispls,
                          MPI_Datatype recvtype,
                          MPI_Comm comm);

/* `MPIX_Neighbor_gatherv` with large counts. */
int MPIX_Neighbor_gatherv_c(const void *sendbuf,
                            MPI_Count sendcount,
                            MPI_Datatype sendtype,
                            void *recvbuf,
                            const MPI_Count *recvcounts,
                            const MPI_Aint *recvdispls,
                            MPI_Datatype recvtype,
                            MPI_Comm comm);

/* Starts `MPIX_Neighbor_gatherv` and returns once its messages are posted.
 *
 * All else is as for `MPIX_Neighbor_gatherv` and `MPIX_Ineighbor_gather`. */
int MPIX_Ineighbor_gatherv(const void *sendbuf,
                           int sendcount,
                           MPI_Datatype sendtype,
                           void *recvbuf,
                           const int *recvcounts,
                           const int *recvdispls,
                           MPI_Datatype recvtype,
                           MPI_Comm comm,
                           MPIX_Request *request);

/* `MPIX_Ineighbor_gatherv` with large counts. */
int MPIX_Ineighbor_gatherv_c(const void *sendbuf,
                             MPI_Count sendcount,
                             MPI_Datatype sendtype,
                             void *recvbuf,
                             const MPI_Count *recvcounts,
                             const MPI_Aint *recvdispls,
                             MPI_Datatype recvtype,
                             MPI_Comm comm,
                             MPIX_Request *request);

/* Makes a persistent `MPIX_Neighbor_gatherv`, which `MPIX_Request_start` runs any number of times.
 *
 * All else is as for `MPIX_Neighbor_gatherv` and `MPIX_Neighbor_gather_plan`. */
int MPIX_Neighbor_gatherv_plan(const void *sendbuf,
                               int sendcount,
                               MPI_Datatype sendtype,
                               void *recvbuf,
                               const int *recvcounts,
                               const int *recvdispls,
                               MPI_Datatype recvtype,
                               MPI_Comm comm,
                               MPI_Info info,
                               MPIX_Request *request);

/* `MPIX_Neighbor_gatherv_plan` with large counts. */
int MPIX_Neighbor_gatherv_plan_c(const void *sendbuf,
                                 MPI_Count sendcount,
                                 MPI_Datatype sendtype,
                                 void *recvbuf,
                                 const MPI_Count *recvcounts,
                                 const MPI_Aint *recvdispls,
                                 MPI_Datatype recvtype,
                                 MPI_Comm comm,
                                 MPI_Info info,
                                 MPIX_Request *request);

/* Sends a block of its own to each target and receives a block of equal size from each source.
 *
 * - `sendbuf`: `outdegree` consecutive blocks; block i goes to target i.
 * - `sendcount`: Elements of each block sent.
 * - `sendtype`: Datatype of the elements sent.
 * - `recvbuf`: Room for `indegree` consecutive blocks; block j comes from source j, and is left
 *   alone where source j is `MPI_PROC_NULL`.
 * - `recvcount`: Elements of each block received.
 * - `recvtype`: Datatype of the elements received.
 * - `comm`: A communicator with a neighborhood for `MPIX_NEIGHBOR_ALLTOALL`.
 *
 * The type signatures at the two ends of an edge must be equal. Where a degree is 0, the arguments
 * of that side are not looked at.
 *
 * Every process that has an edge calls it, and so do all its neighbors. Processes that no path of
 * edges connects need not call equally often, unless `mpix_whole_communicator` promises that every
 * process of the communicator calls. Under a schedule of several rounds, no process may wait for
 * the return of another one's call before it makes its own.
 *
 * Errors:
 *
 * - `MPI_ERR_COMM`: `comm` is `MPI_COMM_NULL`.
 * - `MPI_ERR_TOPOLOGY`: `comm` has no neighborhood for the operation.
 * - `MPI_ERR_COUNT`: A count is negative, or a block exceeds the address range.
 * - `MPI_ERR_TYPE`: A datatype is `MPI_DATATYPE_NULL` or not committed.
 * - `MPI_ERR_BUFFER`: A buffer is `MPI_IN_PLACE`, NULL where a block of elements lies, or in device
 *   memory that the library would have to touch (docs/device-buffers.md).
 * - `MPI_ERR_ARG`: An array is NULL where it has entries.
 * - `MPI_ERR_TRUNCATE`: A message brings more than the receiver expects, or the two ends of a self
 *   edge differ.
 * - `MPI_ERR_OTHER`: Another collective is still running on the neighborhood, or a process has
 *   ended before it took part.
 * - `MPIX_ERR_VERIFY`: With `mpix_verify`, the two ends of an edge do not match. See
 *   `MPIX_Neighbor_error_class`.
 *
 * Errors in the arguments are found before anything is sent. What only the other end can show
 * (`MPI_ERR_TRUNCATE` of a message) is reported while the call waits.
 *
 * Cost: Rounds and messages as `MPIX_Neighborhood_describe` reports. With the schedule `direct`,
 * one round, and for each edge to another process one message of the bytes of its block. A call
 * with the arguments of one of the last four (of the last one, if blocks are combined or passed on)
 * starts as a plan does: that they are the same is all that is checked. The first calls with new
 * arguments allocate.
 *
 * Source: Hoefler and Träff, Sparse Collective Operations for MPI, Listing 2. */
int MPIX_Neighbor_alltoall(const void *sendbuf,
                           int sendcount,
                           MPI_Datatype sendtype,
                           void *recvbuf,
                           int recvcount,
                           MPI_Datatype recvtype,
                           MPI_Comm comm);

/* `MPIX_Neighbor_alltoall` with large counts. */
int MPIX_Neighbor_alltoall_c(const void *sendbuf,
                             MPI_Count sendcount,
                             MPI_Datatype sendtype,
                             void *recvbuf,
                             MPI_Count recvcount,
                             MPI_Datatype recvtype,
                             MPI_Comm comm);

/* Starts `MPIX_Neighbor_alltoall` and returns once its messages are posted.
 *
 * All else is as for `MPIX_Neighbor_alltoall` and `MPIX_Ineighbor_gather`. */
int MPIX_Ineighbor_alltoall(const void *sendbuf,
                            int sendcount,
                            MPI_Datatype sendtype,
                            void *recvbuf,
                            int recvcount,
                            MPI_Datatype recvtype,
                            MPI_Comm comm,
                            MPIX_Request *request);

/* `MPIX_Ineighbor_alltoall` with large counts. */
int MPIX_Ineighbor_alltoall_c(const void *sendbuf,
                              MPI_Count sendcount,
                              MPI_Datatype sendtype,
                              void *recvbuf,
                              MPI_Count recvcount,
                              MPI_Datatype recvtype,
                              MPI_Comm comm,
                              MPIX_Request *request);

/* Makes a persistent `MPIX_Neighbor_alltoall`, which `MPIX_Request_start` runs any number of times.
 *
 * All else is as for `MPIX_Neighbor_alltoall` and `MPIX_Neighbor_gather_plan`. */
int MPIX_Neighbor_alltoall_plan(const void *sendbuf,
                                int sendcount,
                                MPI_Datatype sendtype,
                                void *recvbuf,
                                int recvcount,
                                MPI_Datatype recvtype,
                                MPI_Comm comm,
                                MPI_Info info,
                                MPIX_Request *request);

/* `MPIX_Neighbor_alltoall_plan` with large counts. */
int MPIX_Neighbor_alltoall_plan_c(const void *sendbuf,
                                  MPI_Count sendcount,
                                  MPI_Datatype sendtype,
                                  void *recvbuf,
                                  MPI_Count recvcount,
                                  MPI_Datatype recvtype,
                                  MPI_Comm comm,
                                  MPI_Info info,
                                  MPIX_Request *request);

/* Sends a block of its own size to each target and receives one from each source.
 *
 * - `sendbuf`: Holds `sendcounts[i]` elements for target i at `sendbuf + senddispls[i] *
 *   extent(sendtype)`.
 * - `sendcounts` (`outdegree` entries): Elements of each block sent.
 * - `senddispls` (`outdegree` entries): Where each block sent begins, in extents of `sendtype` from
 *   `sendbuf`.
 * - `recvbuf`: Receives `recvcounts[j]` elements from source j at `recvbuf + recvdispls[j] *
 *   extent(recvtype)`.
 * - `recvcounts` (`indegree` entries): Elements of each block received.
 * - `recvdispls` (`indegree` entries): Where each block received begins, in extents of `recvtype`
 *   from `recvbuf`.
 *
 * The arrays have an entry for each neighbor, not for each process of the communicator.
 *
 * All else is as for `MPIX_Neighbor_alltoall`. */
int MPIX_Neighbor_alltoallv(const void *sendbuf,
                            const int *sendcounts,
                            const int *senddispls,
                            MPI_Datatype sendtype,
                            void *recvbuf,
                            const int *recvcounts,
                            const int *recvdispls,
                            MPI_Datatype recvtype,
                            MPI_Comm comm);

/* `MPIX_Neighbor_alltoallv` with large counts. */
int MPIX_Neighbor_alltoallv_c(const void *sendbuf,
                              const MPI_Count *sendcounts,
                              const MPI_Aint *senddispls,
                              MPI_Datatype sendtype,
                              void *recvbuf,
                              const MPI_Count *recvcounts,
                              const MPI_Aint *recvdispls,
                              MPI_Datatype recvtype,
                              MPI_Comm comm);

/* Starts `MPIX_Neighbor_alltoallv` and returns once its messages are posted.
 *
 * All else is as for `MPIX_Neighbor_alltoallv` and `MPIX_Ineighbor_gather`. */
int MPIX_Ineighbor_alltoallv(const void *sendbuf,
                             const int *sendcounts,
                             const int *senddispls,
                             MPI_Datatype sendtype,
                             void *recvbuf,
                             const int *recvcounts,
                             const int *recvdispls,
                             MPI_Datatype recvtype,
                             MPI_Comm comm,
                             MPIX_Request *request);

/* `MPIX_Ineighbor_alltoallv` with large counts. */
int MPIX_Ineighbor_alltoallv_c(const void *sendbuf,
                               const MPI_Count *sendcounts,
                               const MPI_Aint *senddispls,
                               MPI_Datatype sendtype,
                               void *recvbuf,
                               const MPI_Count *recvcounts,
                               const MPI_Aint *recvdispls,
                               MPI_Datatype recvtype,
                               MPI_Comm comm,
                               MPIX_Request *request);

/* Makes a persistent `MPIX_Neighbor_alltoallv`, which `MPIX_Request_start` runs any number of
 * times.
 *
 * All else is as for `MPIX_Neighbor_alltoallv` and `MPIX_Neighbor_gather_plan`. */
int MPIX_Neighbor_alltoallv_plan(const void *sendbuf,
                                 const int *sendcounts,
                                 const int *senddispls,
                                 MPI_Datatype sendtype,
                                 void *recvbuf,
                                 const int *recvcounts,
                                 const int *recvdispls,
                                 MPI_Datatype recvtype,
                                 MPI_Comm comm,
                                 MPI_Info info,
                                 MPIX_Request *request);

/* `MPIX_Neighbor_alltoallv_plan` with large counts. */
int MPIX_Neighbor_alltoallv_plan_c(const void *sendbuf,
                                   const MPI_Count *sendcounts,
                                   const MPI_Aint *senddispls,
                                   MPI_Datatype sendtype,
                                   void *recvbuf,
                                   const MPI_Count *recvcounts,
                                   const MPI_Aint *recvdispls,
                                   MPI_Datatype recvtype,
                                   MPI_Comm comm,
                                   MPI_Info info,
                                   MPIX_Request *request);

/* Sends a block of its own size and layout to each target and receives one from each source.
 *
 * - `sendbuf`: Holds `sendcounts[i]` elements of `sendtypes[i]` for target i at `sendbuf +
 *   senddispls[i]` bytes.
 * - `sendcounts` (`outdegree` entries): Elements of each block sent.
 * - `senddispls` (`outdegree` entries): Where each block sent begins, in bytes from `sendbuf`.
 * - `sendtypes` (`outdegree` entries): Datatype of each block sent.
 * - `recvbuf`: Receives `recvcounts[j]` elements of `recvtypes[j]` from source j at `recvbuf +
 *   recvdispls[j]` bytes.
 * - `recvcounts` (`indegree` entries): Elements of each block received.
 * - `recvdispls` (`indegree` entries): Where each block received begins, in bytes from `recvbuf`.
 * - `recvtypes` (`indegree` entries): Datatype of each block received.
 *
 * Blocks that are sent may overlap one another (corners of a halo). A block that is received must
 * not overlap any other block.
 *
 * All else is as for `MPIX_Neighbor_alltoall`. */
int MPIX_Neighbor_alltoallw(const void *sendbuf,
                            const int *sendcounts,
                            const MPI_Aint *senddispls,
                            const MPI_Datatype *sendtypes,
                            void *recvbuf,
                            const int *recvcounts,
                            const MPI_Aint *recvdispls,
                            const MPI_Datatype *recvtypes,
                            MPI_Comm comm);

/* `MPIX_Neighbor_alltoallw` with large counts. */
int MPIX_Neighbor_alltoallw_c(const void *sendbuf,
                              const MPI_Count *sendcounts,
                              const MPI_Aint *senddispls,
                              const MPI_Datatype *sendtypes,
                              void *recvbuf,
                              const MPI_Count *recvcounts,
                              const MPI_Aint *recvdispls,
                              const MPI_Datatype *recvtypes,
                              MPI_Comm comm);

/* Starts `MPIX_Neighbor_alltoallw` and returns once its messages are posted.
 *
 * All else is as for `MPIX_Neighbor_alltoallw` and `MPIX_Ineighbor_gather`. */
int MPIX_Ineighbor_alltoallw(const void *sendbuf,
                             const int *sendcounts,
                             const MPI_Aint *senddispls,
                             const MPI_Datatype *sendtypes,
                             void *recvbuf,
                             const int *recvcounts,
                             const MPI_Aint *recvdispls,
                             const MPI_Datatype *recvtypes,
                             MPI_Comm comm,
                             MPIX_Request *request);

/* `MPIX_Ineighbor_alltoallw` with large counts. */
int MPIX_Ineighbor_alltoallw_c(const void *sendbuf,
                               const MPI_Count *sendcounts,
                               const MPI_Aint *senddispls,
                               const MPI_Datatype *sendtypes,
                               void *recvbuf,
                               const MPI_Count *recvcounts,
                               const MPI_Aint *recvdispls,
                               const MPI_Datatype *recvtypes,
                               MPI_Comm comm,
                               MPIX_Request *request);

/* Makes a persistent `MPIX_Neighbor_alltoallw`, which `MPIX_Request_start` runs any number of
 * times.
 *
 * All else is as for `MPIX_Neighbor_alltoallw` and `MPIX_Neighbor_gather_plan`. */
int MPIX_Neighbor_alltoallw_plan(const void *sendbuf,
                                 const int *sendcounts,
                                 const MPI_Aint *senddispls,
                                 const MPI_Datatype *sendtypes,
                                 void *recvbuf,
                                 const int *recvcounts,
                                 const MPI_Aint *recvdispls,
                                 const MPI_Datatype *recvtypes,
                                 MPI_Comm comm,
                                 MPI_Info info,
                                 MPIX_Request *request);

/* `MPIX_Neighbor_alltoallw_plan` with large counts. */
int MPIX_Neighbor_alltoallw_plan_c(const void *sendbuf,
                                   const MPI_Count *sendcounts,
                                   const MPI_Aint *senddispls,
                                   const MPI_Datatype *sendtypes,
                                   void *recvbuf,
                                   const MPI_Count *recvcounts,
                                   const MPI_Aint *recvdispls,
                                   const MPI_Datatype *recvtypes,
                                   MPI_Comm comm,
                                   MPI_Info info,
                                   MPIX_Request *request);

/* Runs `MPIX_Neighbor_alltoallw` on several fields in one exchange.
 *
 * - `nfields`: Number of fields, at least 0, the same on all processes.
 * - `sendbufs` (`nfields` entries): Send buffer of each field.
 * - `sendcounts` (`nfields * outdegree` entries): Elements of each block sent; the entry of field f
 *   and target i is at `f * outdegree + i`.
 * - `senddispls` (`nfields * outdegree` entries): Where each block sent begins, in bytes from its
 *   field's buffer, in the same order.
 * - `sendtypes` (`nfields * outdegree` entries): Datatype of each block sent, in the same order.
 * - `recvbufs` (`nfields` entries): Receive buffer of each field.
 * - `recvcounts` (`nfields * indegree` entries): Elements of each block received; the entry of
 *   field f and source j is at `f * indegree + j`.
 * - `recvdispls` (`nfields * indegree` entries): Where each block received begins, in bytes from
 *   its field's buffer, in the same order.
 * - `recvtypes` (`nfields * indegree` entries): Datatype of each block received, in the same order.
 *
 * The blocks of all fields that go to one neighbor travel as one message where they are short:
 * where the LogGP model says that the saved startups outweigh the copies. The hint `mpix_fuse` of
 * the neighborhood (`auto` by default), or the environment variable `MPIX_FUSE`, fuses them always
 * (`true`) or never (`false`). Blocks that other processes pass on are not fused.
 *
 * Texts of errors name entries by their number in the whole array: entry `i` of field `f` is number
 * `f * degree + i`.
 *
 * All else is as for `MPIX_Neighbor_alltoallw`.
 *
 * Errors:
 *
 * - `MPI_ERR_ARG`: `nfields` is negative, an array is NULL where it has entries, or calls are
 *   verified and there are more fields than tags.
 * - `MPI_ERR_COMM`: `comm` is `MPI_COMM_NULL`.
 * - `MPI_ERR_TOPOLOGY`: `comm` has no neighborhood for the operation.
 * - `MPI_ERR_COUNT`: A count is negative, or a block exceeds the address range.
 * - `MPI_ERR_TYPE`: A datatype is `MPI_DATATYPE_NULL` or not committed.
 * - `MPI_ERR_BUFFER`: A buffer is `MPI_IN_PLACE`, NULL where a block of elements lies, or in device
 *   memory that the library would have to touch (docs/device-buffers.md).
 * - `MPI_ERR_TRUNCATE`: A message brings more than the receiver expects, or the two ends of a self
 *   edge differ.
 * - `MPI_ERR_OTHER`: Another collective is still running on the neighborhood, or a process has
 *   ended before it took part.
 * - `MPIX_ERR_VERIFY`: With `mpix_verify`, the two ends of an edge do not match. See
 *   `MPIX_Neighbor_error_class`.
 *
 * Cost: That of `MPIX_Neighbor_alltoallw`. Each edge with a fused message also takes a datatype,
 * which is made in the call, so the persistent form serves repeated exchanges better. */
int MPIX_Neighbor_alltoallw_fields(int nfields,
                                   const void *const *sendbufs,
                                   const int *sendcounts,
                                   const MPI_Aint *senddispls,
                                   const MPI_Datatype *sendtypes,
                                   void *const *recvbufs,
                                   const int *recvcounts,
                                   const MPI_Aint *recvdispls,
                                   const MPI_Datatype *recvtypes,
                                   MPI_Comm comm);

/* `MPIX_Neighbor_alltoallw_fields` with large counts. */
int MPIX_Neighbor_alltoallw_fields_c(int nfields,
                                     const void *const *sendbufs,
                                     const MPI_Count *sendcounts,
                                     const MPI_Aint *senddispls,
                                     const MPI_Datatype *sendtypes,
                                     void *const *recvbufs,
                                     const MPI_Count *recvcounts,
                                     const MPI_Aint *recvdispls,
                                     const MPI_Datatype *recvtypes,
                                     MPI_Comm comm);

/* Starts `MPIX_Neighbor_alltoallw_fields` and returns once its messages are posted.
 *
 * All else is as for `MPIX_Neighbor_alltoallw_fields` and `MPIX_Ineighbor_gather`. */
int MPIX_Ineighbor_alltoallw_fields(int nfields,
                                    const void *const *sendbufs,
                                    const int *sendcounts,
                                    const MPI_Aint *senddispls,
                                    const MPI_Datatype *sendtypes,
                                    void *const *recvbufs,
                                    const int *recvcounts,
                                    const MPI_Aint *recvdispls,
                                    const MPI_Datatype *recvtypes,
                                    MPI_Comm comm,
                                    MPIX_Request *request);

/* `MPIX_Ineighbor_alltoallw_fields` with large counts. */
int MPIX_Ineighbor_alltoallw_fields_c(int nfields,
                                      const void *const *sendbufs,
                                      const MPI_Count *sendcounts,
                                      const MPI_Aint *senddispls,
                                      const MPI_Datatype *sendtypes,
                                      void *const *recvbufs,
                                      const MPI_Count *recvcounts,
                                      const MPI_Aint *recvdispls,
                                      const MPI_Datatype *recvtypes,
                                      MPI_Comm comm,
                                      MPIX_Request *request);

/* Makes a persistent `MPIX_Neighbor_alltoallw_fields`, which `MPIX_Request_start` runs any number
 * of times.
 *
 * The value of `mpix_fuse` in `info` takes precedence over the neighborhood's.
 *
 * All else is as for `MPIX_Neighbor_alltoallw_fields` and `MPIX_Neighbor_gather_plan`. */
int MPIX_Neighbor_alltoallw_fields_plan(int nfields,
                                        const void *const *sendbufs,
                                        const int *sendcounts,
                                        const MPI_Aint *senddispls,
                                        const MPI_Datatype *sendtypes,
                                        void *const *recvbufs,
                                        const int *recvcounts,
                                        const MPI_Aint *recvdispls,
                                        const MPI_Datatype *recvtypes,
                                        MPI_Comm comm,
                                        MPI_Info info,
                                        MPIX_Request *request);

/* `MPIX_Neighbor_alltoallw_fields_plan` with large counts. */
int MPIX_Neighbor_alltoallw_fields_plan_c(int nfields,
                                          const void *const *sendbufs,
                                          const MPI_Count *sendcounts,
                                          const MPI_Aint *senddispls,
                                          const MPI_Datatype *sendtypes,
                                          void *const *recvbufs,
                                          const MPI_Count *recvcounts,
                                          const MPI_Aint *recvdispls,
                                          const MPI_Datatype *recvtypes,
                                          MPI_Comm comm,
                                          MPI_Info info,
                                          MPIX_Request *request);

/* Sends one block to all targets and combines the blocks of all sources elementwise into one.
 *
 * - `sendbuf`: The block sent to every target.
 * - `sendcount`: Elements of that block.
 * - `sendtype`: Datatype of the elements sent.
 * - `recvbuf`: The result. It is left alone where there is no source, or none but `MPI_PROC_NULL`.
 * - `recvcount`: Elements of the result.
 * - `recvtype`: Datatype of the elements received.
 * - `op`: A predefined or user-defined operator that works on `recvtype`.
 * - `comm`: A communicator with a neighborhood for `MPIX_NEIGHBOR_REDUCE`.
 *
 * The result is `((s0 op s1) op s2) op ...` in the order of the source list, so that it is the same
 * in each run. If the operator commutes and `mpix_reduce_order` = `any` was given, blocks are
 * combined in the order in which the rounds bring them.
 *
 * The process's own block takes part only if the process lists itself as a source.
 *
 * The type signatures at the two ends of an edge must be equal. Where a degree is 0, the arguments
 * of that side are not looked at.
 *
 * Every process that has an edge calls it, and so do all its neighbors. Processes that no path of
 * edges connects need not call equally often, unless `mpix_whole_communicator` promises that every
 * process of the communicator calls. Under a schedule of several rounds, no process may wait for
 * the return of another one's call before it makes its own.
 *
 * Errors:
 *
 * - `MPI_ERR_OP`: `op` is `MPI_OP_NULL`, or does not work on `recvtype`.
 * - `MPI_ERR_NO_MEM`: There is no memory for the blocks to be combined.
 * - `MPI_ERR_COMM`: `comm` is `MPI_COMM_NULL`.
 * - `MPI_ERR_TOPOLOGY`: `comm` has no neighborhood for the operation.
 * - `MPI_ERR_COUNT`: A count is negative, or a block exceeds the address range.
 * - `MPI_ERR_TYPE`: A datatype is `MPI_DATATYPE_NULL` or not committed.
 * - `MPI_ERR_BUFFER`: A buffer is `MPI_IN_PLACE`, NULL where a block of elements lies, or in device
 *   memory that the library would have to touch (docs/device-buffers.md).
 * - `MPI_ERR_ARG`: An array is NULL where it has entries.
 * - `MPI_ERR_TRUNCATE`: A message brings more than the receiver expects, or the two ends of a self
 *   edge differ.
 * - `MPI_ERR_OTHER`: Another collective is still running on the neighborhood, or a process has
 *   ended before it took part.
 * - `MPIX_ERR_VERIFY`: With `mpix_verify`, the two ends of an edge do not match. See
 *   `MPIX_Neighbor_error_class`.
 *
 * Errors in the arguments are found before anything is sent. What only the other end can show
 * (`MPI_ERR_TRUNCATE` of a message) is reported while the call waits.
 *
 * Cost: That of `MPIX_Neighbor_gather`, and memory for all sources' blocks but one, which is kept
 * for the next call.
 *
 * Source: Hoefler and Träff, Sparse Collective Operations for MPI, Listing 3. */
int MPIX_Neighbor_reduce(const void *sendbuf,
                         int sendcount,
                         MPI_Datatype sendtype,
                         void *recvbuf,
                         int recvcount,
                         MPI_Datatype recvtype,
                         MPI_Op op,
                         MPI_Comm comm);

/* `MPIX_Neighbor_reduce` with large counts. */
int MPIX_Neighbor_reduce_c(const void *sendbuf,
                           MPI_Count sendcount,
                           MPI_Datatype sendtype,
                           void *recvbuf,
                           MPI_Count recvcount,
                           MPI_Datatype recvtype,
                           MPI_Op op,
                           MPI_Comm comm);

/* Starts `MPIX_Neighbor_reduce` and returns once its messages are posted.
 *
 * The operator must not be freed before the request is complete. A user-defined operator is passed
 * a duplicate of a derived datatype.
 *
 * All else is as for `MPIX_Neighbor_reduce` and `MPIX_Ineighbor_gather`. */
int MPIX_Ineighbor_reduce(const void *sendbuf,
                          int sendcount,
                          MPI_Datatype sendtype,
                          void *recvbuf,
                          int recvcount,
                          MPI_Datatype recvtype,
                          MPI_Op op,
                          MPI_Comm comm,
                          MPIX_Request *request);

/* `MPIX_Ineighbor_reduce` with large counts. */
int MPIX_Ineighbor_reduce_c(const void *sendbuf,
                            MPI_Count sendcount,
                            MPI_Datatype sendtype,
                            void *recvbuf,
                            MPI_Count recvcount,
                            MPI_Datatype recvtype,
                            MPI_Op op,
                            MPI_Comm comm,
                            MPIX_Request *request);

/* Makes a persistent `MPIX_Neighbor_reduce`, which `MPIX_Request_start` runs any number of times.
 *
 * The operator must not be freed before the request. A user-defined operator is passed a duplicate
 * of a derived datatype.
 *
 * All else is as for `MPIX_Neighbor_reduce` and `MPIX_Neighbor_gather_plan`. */
int MPIX_Neighbor_reduce_plan(const void *sendbuf,
                              int sendcount,
                              MPI_Datatype sendtype,
                              void *recvbuf,
                              int recvcount,
                              MPI_Datatype recvtype,
                              MPI_Op op,
                              MPI_Comm comm,
                              MPI_Info info,
                              MPIX_Request *request);

/* `MPIX_Neighbor_reduce_plan` with large counts. */
int MPIX_Neighbor_reduce_plan_c(const void *sendbuf,
                                MPI_Count sendcount,
                                MPI_Datatype sendtype,
                                void *recvbuf,
                                MPI_Count recvcount,
                                MPI_Datatype recvtype,
                                MPI_Op op,
                                MPI_Comm comm,
                                MPI_Info info,
                                MPIX_Request *request);

/* Sends a block of its own to each target and combines the blocks of all sources elementwise into
 * one.
 *
 * - `sendbuf`: Holds `sendcounts[i]` elements for target i at `sendbuf + senddispls[i] *
 *   extent(sendtype)`.
 * - `sendcounts` (`outdegree` entries): Elements of each block sent.
 * - `senddispls` (`outdegree` entries): Where each block sent begins, in extents of `sendtype` from
 *   `sendbuf`.
 * - `recvcount`: Elements of the result, and of each source's block.
 *
 * All sources of a process send it blocks of one signature. If each contributes to another part of
 * the target's data, as in the reverse of an irregular halo exchange, `MPIX_Neighbor_accumulatev`
 * serves better.
 *
 * All else is as for `MPIX_Neighbor_reduce`.
 *
 * Source: Hoefler and Träff, Sparse Collective Operations for MPI, Listing 4. */
int MPIX_Neighbor_reducev(const void *sendbuf,
                          const int *sendcounts,
                          const int *senddispls,
                          MPI_Datatype sendtype,
                          void *recvbuf,
                          int recvcount,
                          MPI_Datatype recvtype,
                          MPI_Op op,
                          MPI_Comm comm);

/* `MPIX_Neighbor_reducev` with large counts. */
int MPIX_Neighbor_reducev_c(const void *sendbuf,
                            const MPI_Count *sendcounts,
                            const MPI_Aint *senddispls,
                            MPI_Datatype sendtype,
                            void *recvbuf,
                            MPI_Count recvcount,
                            MPI_Datatype recvtype,
                            MPI_Op op,
                            MPI_Comm comm);

/* Starts `MPIX_Neighbor_reducev` and returns once its messages are posted.
 *
 * All else is as for `MPIX_Neighbor_reducev` and `MPIX_Ineighbor_gather`. */
int MPIX_Ineighbor_reducev(const void *sendbuf,
                           const int *sendcounts,
                           const int *senddispls,
                           MPI_Datatype sendtype,
                           void *recvbuf,
                           int recvcount,
                           MPI_Datatype recvtype,
                           MPI_Op op,
                           MPI_Comm comm,
                           MPIX_Request *request);

/* `MPIX_Ineighbor_reducev` with large counts. */
int MPIX_Ineighbor_reducev_c(const void *sendbuf,
                             const MPI_Count *sendcounts,
                             const MPI_Aint *senddispls,
                             MPI_Datatype sendtype,
                             void *recvbuf,
                             MPI_Count recvcount,
                             MPI_Datatype recvtype,
                             MPI_Op op,
                             MPI_Comm comm,
                             MPIX_Request *request);

/* Makes a persistent `MPIX_Neighbor_reducev`, which `MPIX_Request_start` runs any number of times.
 *
 * All else is as for `MPIX_Neighbor_reducev` and `MPIX_Neighbor_gather_plan`. */
int MPIX_Neighbor_reducev_plan(const void *sendbuf,
                               const int *sendcounts,
                               const int *senddispls,
                               MPI_Datatype sendtype,
                               void *recvbuf,
                               int recvcount,
                               MPI_Datatype recvtype,
                               MPI_Op op,
                               MPI_Comm comm,
                               MPI_Info info,
                               MPIX_Request *request);

/* `MPIX_Neighbor_reducev_plan` with large counts. */
int MPIX_Neighbor_reducev_plan_c(const void *sendbuf,
                                 const MPI_Count *sendcounts,
                                 const MPI_Aint *senddispls,
                                 MPI_Datatype sendtype,
                                 void *recvbuf,
                                 MPI_Count recvcount,
                                 MPI_Datatype recvtype,
                                 MPI_Op op,
                                 MPI_Comm comm,
                                 MPI_Info info,
                                 MPIX_Request *request);

/* Sends a block of its own to each target and combines each source's block with what is in its
 * place.
 *
 * - `sendbuf`: `outdegree` consecutive blocks; block i goes to target i.
 * - `sendcount`: Elements of each block sent.
 * - `sendtype`: Datatype of the elements sent.
 * - `recvbuf`: `indegree` consecutive blocks, each combined with the one that comes from its
 *   source; left alone where the source is `MPI_PROC_NULL`.
 * - `recvcount`: Elements of each block received.
 * - `recvtype`: Datatype of the elements received.
 * - `op`: A predefined or user-defined operator.
 * - `comm`: A communicator with a neighborhood for `MPIX_NEIGHBOR_ACCUMULATE`.
 *
 * Each element of the block from source j becomes `old op received`. Blocks are combined in the
 * order of the source list, so that the result is the same in each run. If the operator commutes
 * and `mpix_reduce_order` = `any` was given, they may be combined in any order.
 *
 * A predefined operator combines elements of one predefined datatype: `recvtype` is one, or is made
 * of one alone. A user-defined operator is given elements of `recvtype`.
 *
 * No place may overlap a block that is sent. After an error, some blocks may have been combined and
 * others not.
 *
 * The type signatures at the two ends of an edge must be equal. Where a degree is 0, the arguments
 * of that side are not looked at.
 *
 * Every process that has an edge calls it, and so do all its neighbors. Processes that no path of
 * edges connects need not call equally often, unless `mpix_whole_communicator` promises that every
 * process of the communicator calls. Under a schedule of several rounds, no process may wait for
 * the return of another one's call before it makes its own.
 *
 * Errors:
 *
 * - `MPI_ERR_OP`: `op` is `MPI_OP_NULL`, or does not work on a datatype received.
 * - `MPI_ERR_NO_MEM`: There is no memory for the blocks to be combined.
 * - `MPI_ERR_COMM`: `comm` is `MPI_COMM_NULL`.
 * - `MPI_ERR_TOPOLOGY`: `comm` has no neighborhood for the operation.
 * - `MPI_ERR_COUNT`: A count is negative, or a block exceeds the address range.
 * - `MPI_ERR_TYPE`: A datatype is `MPI_DATATYPE_NULL` or not committed.
 * - `MPI_ERR_BUFFER`: A buffer is `MPI_IN_PLACE`, NULL where a block of elements lies, or in device
 *   memory that the library would have to touch (docs/device-buffers.md).
 * - `MPI_ERR_ARG`: An array is NULL where it has entries.
 * - `MPI_ERR_TRUNCATE`: A message brings more than the receiver expects, or the two ends of a self
 *   edge differ.
 * - `MPI_ERR_OTHER`: Another collective is still running on the neighborhood, or a process has
 *   ended before it took part.
 * - `MPIX_ERR_VERIFY`: With `mpix_verify`, the two ends of an edge do not match. See
 *   `MPIX_Neighbor_error_class`.
 *
 * Errors in the arguments are found before anything is sent. What only the other end can show
 * (`MPI_ERR_TRUNCATE` of a message) is reported while the call waits.
 *
 * Cost: That of `MPIX_Neighbor_alltoall`, where one pass over each block received, and over its
 * place, takes the place of the copy out of shared memory; and memory for the data that comes from
 * other nodes, which is kept for the next call. */
int MPIX_Neighbor_accumulate(const void *sendbuf,
                             int sendcount,
                             MPI_Datatype sendtype,
                             void *recvbuf,
                             int recvcount,
                             MPI_Datatype recvtype,
                             MPI_Op op,
                             MPI_Comm comm);

/* `MPIX_Neighbor_accumulate` with large counts. */
int MPIX_Neighbor_accumulate_c(const void *sendbuf,
                               MPI_Count sendcount,
                               MPI_Datatype sendtype,
                               void *recvbuf,
                               MPI_Count recvcount,
                               MPI_Datatype recvtype,
                               MPI_Op op,
                               MPI_Comm comm);

/* Starts `MPIX_Neighbor_accumulate` and returns once its messages are posted.
 *
 * The operator must not be freed before the request is complete. A user-defined operator is passed
 * a duplicate of a derived datatype. The arrays are copied, and derived datatypes duplicated, with
 * any schedule.
 *
 * All else is as for `MPIX_Neighbor_accumulate` and `MPIX_Ineighbor_gather`. */
int MPIX_Ineighbor_accumulate(const void *sendbuf,
                              int sendcount,
                              MPI_Datatype sendtype,
                              void *recvbuf,
                              int recvcount,
                              MPI_Datatype recvtype,
                              MPI_Op op,
                              MPI_Comm comm,
                              MPIX_Request *request);

/* `MPIX_Ineighbor_accumulate` with large counts. */
int MPIX_Ineighbor_accumulate_c(const void *sendbuf,
                                MPI_Count sendcount,
                                MPI_Datatype sendtype,
                                void *recvbuf,
                                MPI_Count recvcount,
                                MPI_Datatype recvtype,
                                MPI_Op op,
                                MPI_Comm comm,
                                MPIX_Request *request);

/* Makes a persistent `MPIX_Neighbor_accumulate`, which `MPIX_Request_start` runs any number of
 * times.
 *
 * The operator must not be freed before the request. A user-defined operator is passed a duplicate
 * of a derived datatype.
 *
 * All else is as for `MPIX_Neighbor_accumulate` and `MPIX_Neighbor_gather_plan`. */
int MPIX_Neighbor_accumulate_plan(const void *sendbuf,
                                  int sendcount,
                                  MPI_Datatype sendtype,
                                  void *recvbuf,
                                  int recvcount,
                                  MPI_Datatype recvtype,
                                  MPI_Op op,
                                  MPI_Comm comm,
                                  MPI_Info info,
                                  MPIX_Request *request);

/* `MPIX_Neighbor_accumulate_plan` with large counts. */
int MPIX_Neighbor_accumulate_plan_c(const void *sendbuf,
                                    MPI_Count sendcount,
                                    MPI_Datatype sendtype,
                                    void *recvbuf,
                                    MPI_Count recvcount,
                                    MPI_Datatype recvtype,
                                    MPI_Op op,
                                    MPI_Comm comm,
                                    MPI_Info info,
                                    MPIX_Request *request);

/* Sends a block of its own size to each target and combines each source's block with what is in its
 * place.
 *
 * - `sendbuf`: Holds `sendcounts[i]` elements for target i at `sendbuf + senddispls[i] *
 *   extent(sendtype)`.
 * - `sendcounts` (`outdegree` entries): Elements of each block sent.
 * - `senddispls` (`outdegree` entries): Where each block sent begins, in extents of `sendtype` from
 *   `sendbuf`.
 * - `recvbuf`: Holds `recvcounts[j]` elements at `recvbuf + recvdispls[j] * extent(recvtype)`, with
 *   which the block of source j is combined.
 * - `recvcounts` (`indegree` entries): Elements of each block received.
 * - `recvdispls` (`indegree` entries): Where each block received begins, in extents of `recvtype`
 *   from `recvbuf`.
 *
 * The places of several sources may overlap, and may hold the same elements.
 *
 * All else is as for `MPIX_Neighbor_accumulate`. */
int MPIX_Neighbor_accumulatev(const void *sendbuf,
                              const int *sendcounts,
                              const int *senddispls,
                              MPI_Datatype sendtype,
                              void *recvbuf,
                              const int *recvcounts,
                              const int *recvdispls,
                              MPI_Datatype recvtype,
                              MPI_Op op,
                              MPI_Comm comm);

/* `MPIX_Neighbor_accumulatev` with large counts. */
int MPIX_Neighbor_accumulatev_c(const void *sendbuf,
                                const MPI_Count *sendcounts,
                                const MPI_Aint *senddispls,
                                MPI_Datatype sendtype,
                                void *recvbuf,
                                const MPI_Count *recvcounts,
                                const MPI_Aint *recvdispls,
                                MPI_Datatype recvtype,
                                MPI_Op op,
                                MPI_Comm comm);

/* Starts `MPIX_Neighbor_accumulatev` and returns once its messages are posted.
 *
 * All else is as for `MPIX_Neighbor_accumulatev` and `MPIX_Ineighbor_gather`. */
int MPIX_Ineighbor_accumulatev(const void *sendbuf,
                               const int *sendcounts,
                               const int *senddispls,
                               MPI_Datatype sendtype,
                               void *recvbuf,
                               const int *recvcounts,
                               const int *recvdispls,
                               MPI_Datatype recvtype,
                               MPI_Op op,
                               MPI_Comm comm,
                               MPIX_Request *request);

/* `MPIX_Ineighbor_accumulatev` with large counts. */
int MPIX_Ineighbor_accumulatev_c(const void *sendbuf,
                                 const MPI_Count *sendcounts,
                                 const MPI_Aint *senddispls,
                                 MPI_Datatype sendtype,
                                 void *recvbuf,
                                 const MPI_Count *recvcounts,
                                 const MPI_Aint *recvdispls,
                                 MPI_Datatype recvtype,
                                 MPI_Op op,
                                 MPI_Comm comm,
                                 MPIX_Request *request);

/* Makes a persistent `MPIX_Neighbor_accumulatev`, which `MPIX_Request_start` runs any number of
 * times.
 *
 * All else is as for `MPIX_Neighbor_accumulatev` and `MPIX_Neighbor_gather_plan`. */
int MPIX_Neighbor_accumulatev_plan(const void *sendbuf,
                                   const int *sendcounts,
                                   const int *senddispls,
                                   MPI_Datatype sendtype,
                                   void *recvbuf,
                                   const int *recvcounts,
                                   const int *recvdispls,
                                   MPI_Datatype recvtype,
                                   MPI_Op op,
                                   MPI_Comm comm,
                                   MPI_Info info,
                                   MPIX_Request *request);

/* `MPIX_Neighbor_accumulatev_plan` with large counts. */
int MPIX_Neighbor_accumulatev_plan_c(const void *sendbuf,
                                     const MPI_Count *sendcounts,
                                     const MPI_Aint *senddispls,
                                     MPI_Datatype sendtype,
                                     void *recvbuf,
                                     const MPI_Count *recvcounts,
                                     const MPI_Aint *recvdispls,
                                     MPI_Datatype recvtype,
                                     MPI_Op op,
                                     MPI_Comm comm,
                                     MPI_Info info,
                                     MPIX_Request *request);

/* Sends a block of its own size and layout to each target and combines each source's block with
 * what is in its place.
 *
 * - `sendbuf`: Holds `sendcounts[i]` elements of `sendtypes[i]` for target i at `sendbuf +
 *   senddispls[i]` bytes.
 * - `sendcounts` (`outdegree` entries): Elements of each block sent.
 * - `senddispls` (`outdegree` entries): Where each block sent begins, in bytes from `sendbuf`.
 * - `sendtypes` (`outdegree` entries): Datatype of each block sent.
 * - `recvbuf`: Holds `recvcounts[j]` elements of `recvtypes[j]` at `recvbuf + recvdispls[j]` bytes,
 *   with which the block of source j is combined.
 * - `recvcounts` (`indegree` entries): Elements of each block received.
 * - `recvdispls` (`indegree` entries): Where each block's place begins, in bytes from `recvbuf`.
 * - `recvtypes` (`indegree` entries): Datatype of each block received.
 *
 * The places of several sources may overlap, and may hold the same elements: corners of a reverse
 * halo.
 *
 * All else is as for `MPIX_Neighbor_accumulate`. */
int MPIX_Neighbor_accumulatew(const void *sendbuf,
                              const int *sendcounts,
                              const MPI_Aint *senddispls,
                              const MPI_Datatype *sendtypes,
                              void *recvbuf,
                              const int *recvcounts,
                              const MPI_Aint *recvdispls,
                              const MPI_Datatype *recvtypes,
                              MPI_Op op,
                              MPI_Comm comm);

/* `MPIX_Neighbor_accumulatew` with large counts. */
int MPIX_Neighbor_accumulatew_c(const void *sendbuf,
                                const MPI_Count *sendcounts,
                                const MPI_Aint *senddispls,
                                const MPI_Datatype *sendtypes,
                                void *recvbuf,
                                const MPI_Count *recvcounts,
                                const MPI_Aint *recvdispls,
                                const MPI_Datatype *recvtypes,
                                MPI_Op op,
                                MPI_Comm comm);

/* Starts `MPIX_Neighbor_accumulatew` and returns once its messages are posted.
 *
 * All else is as for `MPIX_Neighbor_accumulatew` and `MPIX_Ineighbor_gather`. */
int MPIX_Ineighbor_accumulatew(const void *sendbuf,
                               const int *sendcounts,
                               const MPI_Aint *senddispls,
                               const MPI_Datatype *sendtypes,
                               void *recvbuf,
                               const int *recvcounts,
                               const MPI_Aint *recvdispls,
                               const MPI_Datatype *recvtypes,
                               MPI_Op op,
                               MPI_Comm comm,
                               MPIX_Request *request);

/* `MPIX_Ineighbor_accumulatew` with large counts. */
int MPIX_Ineighbor_accumulatew_c(const void *sendbuf,
                                 const MPI_Count *sendcounts,
                                 const MPI_Aint *senddispls,
                                 const MPI_Datatype *sendtypes,
                                 void *recvbuf,
                                 const MPI_Count *recvcounts,
                                 const MPI_Aint *recvdispls,
                                 const MPI_Datatype *recvtypes,
                                 MPI_Op op,
                                 MPI_Comm comm,
                                 MPIX_Request *request);

/* Makes a persistent `MPIX_Neighbor_accumulatew`, which `MPIX_Request_start` runs any number of
 * times.
 *
 * All else is as for `MPIX_Neighbor_accumulatew` and `MPIX_Neighbor_gather_plan`. */
int MPIX_Neighbor_accumulatew_plan(const void *sendbuf,
                                   const int *sendcounts,
                                   const MPI_Aint *senddispls,
                                   const MPI_Datatype *sendtypes,
                                   void *recvbuf,
                                   const int *recvcounts,
                                   const MPI_Aint *recvdispls,
                                   const MPI_Datatype *recvtypes,
                                   MPI_Op op,
                                   MPI_Comm comm,
                                   MPI_Info info,
                                   MPIX_Request *request);

/* `MPIX_Neighbor_accumulatew_plan` with large counts. */
int MPIX_Neighbor_accumulatew_plan_c(const void *sendbuf,
                                     const MPI_Count *sendcounts,
                                     const MPI_Aint *senddispls,
                                     const MPI_Datatype *sendtypes,
                                     void *recvbuf,
                                     const MPI_Count *recvcounts,
                                     const MPI_Aint *recvdispls,
                                     const MPI_Datatype *recvtypes,
                                     MPI_Op op,
                                     MPI_Comm comm,
                                     MPI_Info info,
                                     MPIX_Request *request);

/* ---- Requests
 *
 * Starting and completing nonblocking and persistent collectives, and asking which neighbors'
 * blocks have arrived. */

/* Starts a persistent collective and returns once its messages are posted.
 *
 * - `request`: A persistent request that is not active; it becomes active. Until it is complete,
 *   its buffers are in use, as those of a nonblocking collective are.
 *
 * Never waits. Matches all collectives of its operation on the communicator in the order in which
 * they are started, unless the plan was made with `mpix_match` = `plan`.
 *
 * All neighbors call it, as they would the collective itself.
 *
 * Errors:
 *
 * - `MPI_ERR_REQUEST`: The request is NULL, active or not persistent, its neighborhood has been
 *   freed or replaced, or too many collectives have been started beside it.
 * - `MPI_ERR_COMM`: The communicator has been freed.
 * - `MPI_ERR_ARG`: A pointer is NULL, or a count is negative.
 *
 * Cost: The messages of the first round. No allocation, datatype query or lookup. */
int MPIX_Request_start(MPIX_Request *request);

/* Starts persistent collectives in the order of an array.
 *
 * - `count`: Number of requests.
 * - `requests` (`count` entries): Requests, each as for `MPIX_Request_start`.
 *
 * If one cannot be started, those before it have been started, and those after it have not.
 *
 * All else is as for `MPIX_Request_start`. */
int MPIX_Request_startall(int count, MPIX_Request *requests);

/* Tests whether a collective is complete, and completes it if so.
 *
 * - `request`: A collective. If it is complete, it becomes NULL, or inactive if it is persistent.
 * - `flag`: 1 if it is complete, also if it has failed, else 0. 1 for NULL and for an inactive
 *   request.
 *
 * Moves every collective of the process forward. Never waits.
 *
 * Local.
 *
 * Errors:
 *
 * - `MPI_ERR_ARG`: A pointer is NULL, or a count is negative.
 * - `MPI_ERR_COMM`: The communicator has been freed meanwhile. The collective has ended then, too.
 * - errors of the collective: Reported on its communicator once all of it has ended. */
int MPIX_Request_test(MPIX_Request *request, int *flag);

/* Tests whether several collectives are all complete, and completes them if so.
 *
 * - `count`: Number of requests.
 * - `requests` (`count` entries): Collectives; NULL and inactive ones are allowed. If all are
 *   complete, each becomes NULL, or inactive; otherwise none is changed.
 * - `flag`: 1 if all are complete, also if some have failed, else 0.
 *
 * Of several errors, the first one in the array is reported. Its text names the request.
 *
 * All else is as for `MPIX_Request_test`. */
int MPIX_Request_testall(int count, MPIX_Request *requests, int *flag);

/* Waits until a collective is complete, and completes it.
 *
 * - `request`: A collective; becomes NULL, or inactive if it is persistent. For NULL and for an
 *   inactive request the call returns at once.
 *
 * All else is as for `MPIX_Request_test`. */
int MPIX_Request_wait(MPIX_Request *request);

/* Waits until several collectives are all complete, and completes them.
 *
 * - `count`: Number of requests.
 * - `requests` (`count` entries): Collectives; NULL and inactive ones are allowed. Each becomes
 *   NULL, or inactive if it is persistent.
 *
 * All are completed, even if some fail. Of several errors, the first one in the array is reported.
 * Its text names the request.
 *
 * All else is as for `MPIX_Request_test`. */
int MPIX_Request_waitall(int count, MPIX_Request *requests);

/* Waits until one of several collectives is complete, and completes it.
 *
 * - `count`: Number of requests.
 * - `requests` (`count` entries): Collectives; the one that is complete becomes NULL, or inactive
 *   if it is persistent.
 * - `index`: Which one, also if it has failed; or `MPI_UNDEFINED` if none is active.
 *
 * All else is as for `MPIX_Request_test`. */
int MPIX_Request_waitany(int count, MPIX_Request *requests, int *index);

/* Tests whether one of several collectives is complete, and completes it if so.
 *
 * - `count`: Number of requests.
 * - `requests` (`count` entries): Collectives; NULL and inactive ones are allowed. One that is
 *   complete becomes NULL, or inactive if it is persistent.
 * - `index`: Which one, also if it has failed; `MPI_UNDEFINED` if none is complete, or none is
 *   active.
 * - `flag`: 1 if one is complete, or none is active, else 0.
 *
 * All else is as for `MPIX_Request_test`. */
int MPIX_Request_testany(int count, MPIX_Request *requests, int *index, int *flag);

/* Waits until some of several collectives are complete, and completes them.
 *
 * - `count`: Number of requests.
 * - `requests` (`count` entries): Collectives; NULL and inactive ones are allowed. Those that are
 *   complete become NULL, or inactive if they are persistent.
 * - `outcount`: How many, at least 1, also if some have failed; or `MPI_UNDEFINED` if none is
 *   active.
 * - `indices` (`count` entries): Which ones, ascending. Only the first `outcount` entries are
 *   written.
 *
 * Of several errors, the first one in the array is reported. Its text names the request.
 *
 * All else is as for `MPIX_Request_test`. */
int MPIX_Request_waitsome(int count, MPIX_Request *requests, int *outcount, int *indices);

/* Completes those of several collectives that are complete.
 *
 * - `count`: Number of requests.
 * - `requests` (`count` entries): Collectives; NULL and inactive ones are allowed. Those that are
 *   complete become NULL, or inactive if they are persistent.
 * - `outcount`: How many, 0 if there is none at the moment, also if some have failed; or
 *   `MPI_UNDEFINED` if none is active.
 * - `indices` (`count` entries): Which ones, ascending. Only the first `outcount` entries are
 *   written.
 *
 * Never waits. Of several errors, the first one in the array is reported. Its text names the
 * request.
 *
 * All else is as for `MPIX_Request_test`. */
int MPIX_Request_testsome(int count, MPIX_Request *requests, int *outcount, int *indices);

/* Frees a persistent collective.
 *
 * - `request`: A request that is not active; becomes NULL. NULL is left alone.
 *
 * Local.
 *
 * Errors:
 *
 * - `MPI_ERR_REQUEST`: The request is active, and neighbors count on it. It is left as it is.
 * - `MPI_ERR_ARG`: The pointer is NULL. */
int MPIX_Request_free(MPIX_Request *request);

/* Tests whether the block of one source has arrived, so that it may be read before the others have.
 *
 * - `request`: A collective under way. Of a persistent request that is inactive, all blocks have
 *   arrived.
 * - `index`: Index in the source list. Entries that are `MPI_PROC_NULL` have arrived from the
 *   beginning.
 * - `flag`: 1 if the block has arrived, else 0. In a reduction, 1 if it is part of the result,
 *   which may still be incomplete.
 *
 * Moves every collective of the process forward. Never waits. A source whose flag is 1 counts as
 * reported; see `MPIX_Request_waitany_source`.
 *
 * The collective must be completed all the same, as its sends may still be under way. In a
 * reduction in the default order, a source is part of the result once all sources before it are.
 * Where blocks travel in packets (`scatter_` schedules), they arrive with the packet.
 *
 * Local.
 *
 * Errors:
 *
 * - `MPI_ERR_REQUEST`: The request is NULL.
 * - `MPI_ERR_ARG`: `index` is no index of a source, or a pointer is NULL.
 * - errors of the collective: A message of it has failed. Completing it reports the error again.
 *
 * Cost: A test of the messages that bring the block. */
int MPIX_Request_test_source(MPIX_Request request, int index, int *flag);

/* Waits until the block of one source has arrived.
 *
 * All else is as for `MPIX_Request_test_source`. */
int MPIX_Request_wait_source(MPIX_Request request, int index);

/* Waits until the block of a source that has not been reported yet has arrived.
 *
 * - `index`: Which source, or `MPI_UNDEFINED` if all have been reported or the collective is not
 *   active.
 *
 * A loop until `MPI_UNDEFINED` gets each source once, roughly in the order of arrival: of those
 * that have arrived at one time, the first in the list comes first.
 *
 * All else is as for `MPIX_Request_test_source`. */
int MPIX_Request_waitany_source(MPIX_Request request, int *index);

/* Waits until at least one source that has not been reported yet has arrived.
 *
 * - `outcount`: How many, at least 1, or `MPI_UNDEFINED` if all have been reported or the
 *   collective is not active.
 * - `indices` (`indegree` entries): Which sources, ascending. Only the first `outcount` entries are
 *   written.
 *
 * All else is as for `MPIX_Request_test_source`. */
int MPIX_Request_waitsome_source(MPIX_Request request, int *outcount, int *indices);

/* Returns the sources whose blocks have arrived and have not been reported since the collective was
 * started.
 *
 * - `outcount`: How many, 0 if there is none at the moment, or `MPI_UNDEFINED` if all have been
 *   reported or the collective is not active.
 * - `indices` (`indegree` entries): Which sources, ascending. Only the first `outcount` entries are
 *   written.
 *
 * Never waits.
 *
 * All else is as for `MPIX_Request_test_source`. */
int MPIX_Request_testsome_source(MPIX_Request request, int *outcount, int *indices);

/* ---- Sparse exchange
 *
 * Dynamic sparse data exchange: each process knows whom it sends to, and none knows who will send
 * to it. */

/* Sends a message to each target, and receives the messages that others send to the caller, which
 * it need not know of.
 *
 * - `ntargets`: Number of messages. 0: nothing is sent, and the arrays are not looked at.
 * - `targets` (`ntargets` entries): Ranks of `comm`, in any order. They may repeat (each entry is a
 *   message of its own), include the caller (copied), and be `MPI_PROC_NULL` (nothing is sent).
 * - `sendbuf`: Holds message i, of `sendcounts[i]` elements, at `sendbuf + senddispls[i] *
 *   extent(sendtype)`.
 * - `sendcounts` (`ntargets` entries): Elements of each message. Messages of no elements arrive
 *   too.
 * - `senddispls` (`ntargets` entries): Where each message begins, in extents of `sendtype` from
 *   `sendbuf`.
 * - `sendtype`: Datatype of the elements sent.
 * - `recvtype`: Datatype that messages are received as. The type signature of each message must be
 *   that of a whole number of elements.
 * - `info`: Hints, or `MPI_INFO_NULL`; equal on all processes. May be freed afterwards.
 * - `comm`: An intracommunicator.
 * - `result`: The messages received, ordered by source, those of one source in the order in which
 *   it sent them. `MPIX_Sparse_free` frees it.
 *
 * One exchange at a time runs on a communicator. A process whose arguments are in error takes part
 * with no messages and then gets the error; what is sent to it is lost.
 *
 * Hints, which docs/sparse.md explains. Environment variables of the same names in capitals
 * override them.
 *
 * - `mpix_sparse`: the protocol, `auto` (default), `nbx`, `nbx_probe`, `nbx_node`, `pex`, `pcx`,
 *   `pcx_library`, `rsx`, `crystal`, `inbox`.
 * - `mpix_sparse_targets`: roughly the most messages that a process sends.
 * - `mpix_node_size`: a number of consecutive processes that are taken to share a node.
 * - `mpix_matched_probe`: `true` (default) or `false`, whether `MPI_Improbe` or `MPI_Iprobe` finds
 *   messages.
 * - `mpix_loggp`: the machine's parameters, a preset or a file; `auto`, `measure` and `none` count
 *   as not given.
 *
 * Collective over `comm`: every process calls it, also one that sends nothing.
 *
 * Errors:
 *
 * - `MPI_ERR_RANK`: An entry of `targets` is no rank of `comm`.
 * - `MPI_ERR_COUNT`: A count is negative, or a message exceeds the address range.
 * - `MPI_ERR_ARG`: `ntargets` is negative, or a pointer is NULL.
 * - `MPI_ERR_BUFFER`: `sendbuf` is `MPI_IN_PLACE`, or NULL where elements lie.
 * - `MPI_ERR_TYPE`: A datatype is `MPI_DATATYPE_NULL` or not committed.
 * - `MPI_ERR_COMM`: `comm` is `MPI_COMM_NULL` or an intercommunicator.
 * - `MPI_ERR_INFO_VALUE`: A hint has an unknown value.
 * - `MPIX_ERR_MISMATCH`: In the first exchange on `comm`, the environment's hints, or parameters of
 *   the machine, are not the same on all processes. See `MPIX_Neighbor_error_class`.
 * - `MPI_ERR_TRUNCATE`: A message is not a whole number of elements of `recvtype`.
 * - `MPI_ERR_NO_MEM`: There is no memory for what arrives. Other processes may then wait forever.
 * - `MPI_ERR_OTHER`: Another exchange on `comm` is still running, a process has ended, or a message
 *   could not be packed.
 *
 * Cost: The messages, and what the protocol needs to find their receivers (`nbx`: a synchronous
 * send for each message, and ceil(log2 P) rounds of 4 bytes; the others in docs/sparse.md). The
 * first exchange on a communicator makes two duplicates of it (docs/sparse.md). Memory: what
 * arrives.
 *
 * Source: Hoefler, Siebert, Lumsdaine, Scalable Communication Protocols for Dynamic Sparse Data
 * Exchange. */
int MPIX_Sparse_exchange(int ntargets,
                         const int *targets,
                         const void *sendbuf,
                         const int *sendcounts,
                         const int *senddispls,
                         MPI_Datatype sendtype,
                         MPI_Datatype recvtype,
                         MPI_Info info,
                         MPI_Comm comm,
                         MPIX_Sparse_result *result);

/* `MPIX_Sparse_exchange` with large counts. */
int MPIX_Sparse_exchange_c(int ntargets,
                           const int *targets,
                           const void *sendbuf,
                           const MPI_Count *sendcounts,
                           const MPI_Aint *senddispls,
                           MPI_Datatype sendtype,
                           MPI_Datatype recvtype,
                           MPI_Info info,
                           MPI_Comm comm,
                           MPIX_Sparse_result *result);

/* `MPIX_Sparse_exchange` with messages of equal size.
 *
 * - `sendbuf`: Holds message i at `sendbuf + i * sendcount * extent(sendtype)`.
 * - `sendcount`: Elements of each message.
 *
 * All else is as for `MPIX_Sparse_exchange`. */
int MPIX_Sparse_exchange_block(int ntargets,
                               const int *targets,
                               const void *sendbuf,
                               int sendcount,
                               MPI_Datatype sendtype,
                               MPI_Datatype recvtype,
                               MPI_Info info,
                               MPI_Comm comm,
                               MPIX_Sparse_result *result);

/* `MPIX_Sparse_exchange_block` with large counts. */
int MPIX_Sparse_exchange_block_c(int ntargets,
                                 const int *targets,
                                 const void *sendbuf,
                                 MPI_Count sendcount,
                                 MPI_Datatype sendtype,
                                 MPI_Datatype recvtype,
                                 MPI_Info info,
                                 MPI_Comm comm,
                                 MPIX_Sparse_result *result);

/* Finds out which processes have the caller among their targets.
 *
 * No payload travels: the messages of the result have no elements.
 *
 * All else is as for `MPIX_Sparse_exchange`. */
int MPIX_Sparse_sources(int ntargets,
                        const int *targets,
                        MPI_Info info,
                        MPI_Comm comm,
                        MPIX_Sparse_result *result);

/* Does what `MPIX_Sparse_exchange` does, calling a function for each message as it arrives instead
 * of making a result.
 *
 * - `function`: Called for each message, one at a time, in the calling thread. It may call MPI, but
 *   start no sparse exchange on `comm`.
 * - `context`: Passed to the function.
 *
 * The messages of one source come in the order in which it sent them, those of different sources in
 * any order. Where messages take several hops (`nbx_node`, `crystal`), all of them arrive at once.
 *
 * All else is as for `MPIX_Sparse_exchange`.
 *
 * Errors:
 *
 * - `MPI_ERR_OTHER`: The function returned an error: it is not called again, and the exchange is
 *   completed. Or as for `MPIX_Sparse_exchange`.
 * - `MPI_ERR_RANK`: An entry of `targets` is no rank of `comm`.
 * - `MPI_ERR_COUNT`: A count is negative, or a message exceeds the address range.
 * - `MPI_ERR_ARG`: `ntargets` is negative, or a pointer is NULL.
 * - `MPI_ERR_BUFFER`: `sendbuf` is `MPI_IN_PLACE`, or NULL where elements lie.
 * - `MPI_ERR_TYPE`: A datatype is `MPI_DATATYPE_NULL` or not committed.
 * - `MPI_ERR_COMM`: `comm` is `MPI_COMM_NULL` or an intercommunicator.
 * - `MPI_ERR_INFO_VALUE`: A hint has an unknown value.
 * - `MPIX_ERR_MISMATCH`: In the first exchange on `comm`, the environment's hints, or parameters of
 *   the machine, are not the same on all processes. See `MPIX_Neighbor_error_class`.
 * - `MPI_ERR_TRUNCATE`: A message is not a whole number of elements of `recvtype`.
 * - `MPI_ERR_NO_MEM`: There is no memory for what arrives. Other processes may then wait forever.
 */
int MPIX_Sparse_exchange_each(int ntargets,
                              const int *targets,
                              const void *sendbuf,
                              const int *sendcounts,
                              const int *senddispls,
                              MPI_Datatype sendtype,
                              MPI_Datatype recvtype,
                              MPIX_Sparse_function function,
                              void *context,
                              MPI_Info info,
                              MPI_Comm comm);

/* `MPIX_Sparse_exchange_each` with large counts. */
int MPIX_Sparse_exchange_each_c(int ntargets,
                                const int *targets,
                                const void *sendbuf,
                                const MPI_Count *sendcounts,
                                const MPI_Aint *senddispls,
                                MPI_Datatype sendtype,
                                MPI_Datatype recvtype,
                                MPIX_Sparse_function function,
                                void *context,
                                MPI_Info info,
                                MPI_Comm comm);

/* Starts `MPIX_Sparse_exchange` and returns; `MPIX_Sparse_test` and `MPIX_Sparse_wait` complete it.
 *
 * - `request`: The exchange. Until it is complete, the send buffer must not be written. Arrays,
 *   datatypes and info may be freed at once.
 *
 * Local, except for the first exchange on a communicator, and the first one for which a hint asks
 * for `rsx`, `nbx_node` or another `mpix_node_size`: these wait until all processes have started
 * them (`auto` takes neither protocol before a blocking exchange has). A call whose arguments are
 * in error waits until the exchange has ended.
 *
 * Nothing moves between calls of MPI. The communicator may be freed before the exchange is
 * complete; errors are then reported on `MPI_COMM_WORLD`.
 *
 * All processes of `comm` call this form.
 *
 * All else is as for `MPIX_Sparse_exchange`. */
int MPIX_Isparse_exchange(int ntargets,
                          const int *targets,
                          const void *sendbuf,
                          const int *sendcounts,
                          const int *senddispls,
                          MPI_Datatype sendtype,
                          MPI_Datatype recvtype,
                          MPI_Info info,
                          MPI_Comm comm,
                          MPIX_Sparse_request *request);

/* `MPIX_Isparse_exchange` with large counts. */
int MPIX_Isparse_exchange_c(int ntargets,
                            const int *targets,
                            const void *sendbuf,
                            const MPI_Count *sendcounts,
                            const MPI_Aint *senddispls,
                            MPI_Datatype sendtype,
                            MPI_Datatype recvtype,
                            MPI_Info info,
                            MPI_Comm comm,
                            MPIX_Sparse_request *request);

/* Tests whether a nonblocking sparse exchange is complete, and completes it if so.
 *
 * - `request`: The exchange; becomes NULL when it is complete.
 * - `flag`: 1 if it is complete, also if it has failed, else 0.
 * - `result`: The messages received; written only when the exchange is complete.
 *
 * Moves the exchange forward. Never waits.
 *
 * Local.
 *
 * Errors:
 *
 * - `MPI_ERR_ARG`: A pointer or the request is NULL.
 * - errors of `MPIX_Sparse_exchange`: Reported on the exchange's communicator. */
int MPIX_Sparse_test(MPIX_Sparse_request *request, int *flag, MPIX_Sparse_result *result);

/* Waits until a nonblocking sparse exchange is complete, and completes it.
 *
 * All else is as for `MPIX_Sparse_test`. */
int MPIX_Sparse_wait(MPIX_Sparse_request *request, MPIX_Sparse_result *result);

/* Returns how many messages a sparse exchange brought, and how many elements.
 *
 * - `result`: The result.
 * - `nmessages`: Number of messages.
 * - `nelements`: Elements of the receive type in all messages.
 *
 * Local.
 *
 * Errors:
 *
 * - `MPI_ERR_ARG`: A pointer or the result is NULL.
 * - `MPI_ERR_COUNT`: The number of messages does not fit in an `int`. */
int MPIX_Sparse_get_count(MPIX_Sparse_result result, int *nmessages, MPI_Count *nelements);

/* Returns one message of a sparse exchange.
 *
 * - `index`: Which message, from 0. Messages are ordered by source, those of one source as it sent
 *   them.
 * - `source`: Rank of the sender.
 * - `count`: Elements of the receive type.
 * - `data`: The elements, in the result's memory, aligned for any type, valid until the result is
 *   freed. The caller may write there. With a derived type, the first call for a message unpacks
 *   it, into memory as long as its elements span, gaps included.
 *
 * All else is as for `MPIX_Sparse_get_count`.
 *
 * Errors:
 *
 * - `MPI_ERR_ARG`: A pointer or the result is NULL, or there is no message `index`.
 * - `MPI_ERR_NO_MEM`: There is no memory for the elements of a derived type. */
int MPIX_Sparse_get_message(MPIX_Sparse_result result,
                            int index,
                            int *source,
                            MPI_Count *count,
                            void **data);

/* Returns the sources, counts and displacements of all messages of a sparse exchange, as vector
 * collectives take them.
 *
 * - `maxmessages`: Entries that the arrays have room for; no more are written.
 * - `sources` (`maxmessages` entries): Rank of each message's sender, or NULL if it is not wanted.
 * - `counts` (`maxmessages` entries): Elements of each message, or NULL.
 * - `displs` (`maxmessages` entries): Elements of all messages before each one, which is where
 *   `MPIX_Sparse_copy` puts it, or NULL.
 *
 * All else is as for `MPIX_Sparse_get_count`.
 *
 * Errors:
 *
 * - `MPI_ERR_ARG`: The result is NULL, or `maxmessages` is negative.
 * - `MPI_ERR_COUNT`: A number does not fit in an `int`. */
int MPIX_Sparse_get_messages(MPIX_Sparse_result result,
                             int maxmessages,
                             int *sources,
                             int *counts,
                             int *displs);

/* `MPIX_Sparse_get_messages` with large counts. */
int MPIX_Sparse_get_messages_c(MPIX_Sparse_result result,
                               int maxmessages,
                               int *sources,
                               MPI_Count *counts,
                               MPI_Aint *displs);

/* Copies all messages of a sparse exchange into a buffer, one after the other, in order.
 *
 * - `maxcount`: Elements of the receive type that the buffer has room for.
 * - `recvbuf`: The buffer. The gaps between elements of a derived datatype are left alone.
 *
 * All else is as for `MPIX_Sparse_get_count`.
 *
 * Errors:
 *
 * - `MPI_ERR_TRUNCATE`: `maxcount` is less than `MPIX_Sparse_get_count` returns; nothing is
 *   written.
 * - `MPI_ERR_BUFFER`: `recvbuf` is `MPI_IN_PLACE`, or NULL where elements go.
 * - `MPI_ERR_ARG`: A pointer or the result is NULL. */
int MPIX_Sparse_copy(MPIX_Sparse_result result, MPI_Count maxcount, void *recvbuf);

/* Frees the result of a sparse exchange.
 *
 * - `result`: The result; becomes NULL. NULL is left alone.
 *
 * Local.
 *
 * Errors:
 *
 * - `MPI_ERR_ARG`: The pointer is NULL, or the result belongs to a plan. */
int MPIX_Sparse_free(MPIX_Sparse_result *result);

/* Describes the sparse exchanges on a communicator in a few lines of text.
 *
 * - `comm`: The communicator.
 * - `length`: Characters that `string` has room for, the terminating null included. 0: nothing is
 *   written to `string`.
 * - `string` (`length` entries): Receives the text, truncated if it is longer. Each line ends with
 *   a line feed.
 * - `resultlen`: Length of the whole text, without the terminating null.
 *
 * The text is for people: the protocol of the last exchange and why it was chosen, how processes
 * wait, the hints in effect and where they come from.
 *
 * Collective over `comm` before the first exchange on it, which it then prepares; local afterwards.
 *
 * Errors:
 *
 * - `MPI_ERR_ARG`: A pointer is NULL, or `length` is negative. */
int MPIX_Sparse_describe(MPI_Comm comm, int length, char *string, int *resultlen);

/* ---- Plans of sparse exchanges
 *
 * For an exchange whose targets and sizes stay the same while contents change. */

/* Runs a sparse exchange and keeps its targets and sizes as a plan, whose further runs cost the
 * messages alone.
 *
 * - `sendbuf`: Each run sends what it holds at `MPIX_Sparse_plan_start`. Arrays, datatypes and info
 *   may be freed at once.
 * - `plan`: The plan. `MPIX_Sparse_plan_result` returns its result, which already holds the first
 *   run's messages.
 *
 * All processes get a plan, or none does: an error on one of them is reported on all, after one
 * reduction of a word. A call that is refused because an exchange is still running counts for
 * nobody; the others wait for the next one.
 *
 * Runs of different plans may be under way at a time, and be started and completed in any order.
 * The communicator may be freed before the plan. Free the plan before `MPI_Finalize`.
 *
 * All else is as for `MPIX_Sparse_exchange`. */
int MPIX_Sparse_plan_create(int ntargets,
                            const int *targets,
                            const void *sendbuf,
                            const int *sendcounts,
                            const int *senddispls,
                            MPI_Datatype sendtype,
                            MPI_Datatype recvtype,
                            MPI_Info info,
                            MPI_Comm comm,
                            MPIX_Sparse_plan *plan);

/* `MPIX_Sparse_plan_create` with large counts. */
int MPIX_Sparse_plan_create_c(int ntargets,
                              const int *targets,
                              const void *sendbuf,
                              const MPI_Count *sendcounts,
                              const MPI_Aint *senddispls,
                              MPI_Datatype sendtype,
                              MPI_Datatype recvtype,
                              MPI_Info info,
                              MPI_Comm comm,
                              MPIX_Sparse_plan *plan);

/* Starts a run of a plan.
 *
 * - `plan`: The plan. Until the run is complete, neither its send buffer nor its result may be
 *   touched.
 *
 * Every process that sends or receives messages in the plan calls it.
 *
 * Errors:
 *
 * - `MPI_ERR_ARG`: The plan is NULL.
 * - `MPI_ERR_REQUEST`: A run is under way already.
 *
 * Cost: The messages of the plan. */
int MPIX_Sparse_plan_start(MPIX_Sparse_plan plan);

/* Tests whether a run of a plan is complete; its messages are then in the plan's result.
 *
 * - `plan`: The plan.
 * - `flag`: 1 if the run is complete, also if it has failed, or none is under way, else 0.
 *
 * Never waits.
 *
 * Local.
 *
 * Errors:
 *
 * - `MPI_ERR_ARG`: A pointer or the plan is NULL.
 * - errors of MPI: A message has failed. */
int MPIX_Sparse_plan_test(MPIX_Sparse_plan plan, int *flag);

/* Waits until a run of a plan is complete; its messages are then in the plan's result.
 *
 * All else is as for `MPIX_Sparse_plan_test`. */
int MPIX_Sparse_plan_wait(MPIX_Sparse_plan plan);

/* Returns the result of a plan.
 *
 * - `plan`: The plan.
 * - `result`: The result, the same for all runs, whose messages replace one another in place. It is
 *   freed with the plan.
 *
 * Local.
 *
 * Errors:
 *
 * - `MPI_ERR_ARG`: A pointer or the plan is NULL. */
int MPIX_Sparse_plan_result(MPIX_Sparse_plan plan, MPIX_Sparse_result *result);

/* Frees a plan and its result.
 *
 * - `plan`: The plan; becomes NULL. NULL is left alone.
 *
 * If a start has failed, or a test or wait has said that a process has ended, the plan's memory
 * stays, as MPI may still use it.
 *
 * Local.
 *
 * Errors:
 *
 * - `MPI_ERR_REQUEST`: A run is under way, and no process of it has ended; nothing is freed.
 * - `MPI_ERR_ARG`: The pointer is NULL. */
int MPIX_Sparse_plan_free(MPIX_Sparse_plan *plan);

/* ---- Sparse windows
 *
 * Buffered operations on elements of other processes: what MPI's one-sided communication does, for
 * programs that do many small operations on elements all over the machine. `docs/one-sided.md` says
 * when to use them. */

/* Makes a window of elements of all processes of a communicator.
 *
 * - `base`: The caller's elements. Read and written by the library until the window is freed.
 * - `count`: Elements at `base`, 0 or more; may differ between processes.
 * - `type`: Datatype of an element; the same on all processes. May be freed at once.
 * - `info`: Hints, or `MPI_INFO_NULL`; the same on all processes, but for `mpix_window_batch` and
 *   `mpix_window_aggregate`. May be freed at once.
 * - `comm`: The communicator. May be freed before the window.
 * - `window`: The window. `MPIX_Sparse_window_free` frees it.
 *
 * Operations on elements of another process are packed into a batch, which travels when it is full,
 * when the caller flushes, or at the end of the epoch. The target applies batches when it is in a
 * call of this library, and at no other time: between `MPIX_Sparse_window_fence` and its next call
 * of this library, a process may use its elements as if no window were there. A process that only
 * computes or waits in MPI applies nothing, and those that wait for it wait on.
 *
 * Operations of one process on elements of another one are applied in the order in which they were
 * called, whatever they do. Operations of different processes on one element are applied one after
 * the other, in any order.
 *
 * A caller has at most 16 batches under way to one process. When they are full, an operation waits
 * until that process applies some, and applies meanwhile what has come to the caller: memory is
 * bounded by the number of processes that operations go to or come from.
 *
 * Hints:
 *
 * - `mpix_window_batch` (4032): bytes of a batch, 64 to 1048576; inside a node it is 4 times as
 *   long. The least of all processes' values counts; a batch takes at least one operation.
 * - `mpix_window_aggregate` (`false`): `true` combines accumulations of one element, one after the
 *   other by one operator that commutes, before they are sent. The caller then applies the
 *   operator, one of the program's too, while it uses the window.
 * - `mpix_sparse` and the other hints of `MPIX_Sparse_exchange`: how epochs end.
 *
 * Collective over `comm`.
 *
 * Errors:
 *
 * - `MPI_ERR_COMM`: `comm` is `MPI_COMM_NULL` or an intercommunicator.
 * - `MPI_ERR_COUNT`: `count` is negative, or more than 2^54, or the elements exceed the address
 *   range.
 * - `MPI_ERR_TYPE`: `type` is `MPI_DATATYPE_NULL` or not committed.
 * - `MPI_ERR_BUFFER`: `base` is `MPI_IN_PLACE`, NULL with elements, or in device memory.
 * - `MPI_ERR_ARG`: `window` is NULL.
 * - `MPI_ERR_INFO_VALUE`: The value of a hint is not valid.
 * - `MPIX_ERR_MISMATCH`: `type` or a hint is not the same on all processes.
 *
 * An error on one process is an error on all.
 *
 * Cost: About twenty collective operations of a few words. Memory: 16 bytes for each process, 10
 * KiB for each pair of processes of a node, and where there are other nodes 16 batches. */
int MPIX_Sparse_window_create(void *base,
                              int count,
                              MPI_Datatype type,
                              MPI_Info info,
                              MPI_Comm comm,
                              MPIX_Sparse_window *window);

/* `MPIX_Sparse_window_create` with large counts. */
int MPIX_Sparse_window_create_c(void *base,
                                MPI_Count count,
                                MPI_Datatype type,
                                MPI_Info info,
                                MPI_Comm comm,
                                MPIX_Sparse_window *window);

/* Stores values in elements of a process.
 *
 * - `origin`: The values, `count` elements of the window's type. May be used again at once.
 * - `count`: Elements.
 * - `target`: Rank of the process, which may be the caller. `MPI_PROC_NULL`: nothing is done.
 * - `indices` (`count` entries): Index of each element, from 0. May be used again at once.
 * - `window`: The window.
 *
 * Returns once the operations are in a batch. They have been applied when
 * `MPIX_Sparse_window_flush` or `MPIX_Sparse_window_fence` returns.
 *
 * Local, but for the wait when the target has too many batches under way.
 *
 * Errors:
 *
 * - `MPI_ERR_ARG`: `window` is NULL or has been freed, `indices` is NULL with elements, or an index
 *   is negative or not below the `count` that the target gave. No operation of the call is done
 *   then.
 * - `MPI_ERR_COUNT`: `count` is negative.
 * - `MPI_ERR_RANK`: `target` is not a rank of the window.
 * - `MPI_ERR_BUFFER`: A buffer is NULL with elements, `MPI_IN_PLACE`, or in device memory.
 * - `MPI_ERR_RMA_SYNC`: The process is in the window's fence, or in an operator that is applied to
 *   the window.
 * - `MPI_ERR_OTHER`: The target has ended, or an earlier call on the window has failed.
 *
 * Cost: For each element its value and 1 to 5 bytes in a batch; nothing but the value for the
 * second and later elements of indices that follow one another. One message a batch. */
int MPIX_Sparse_window_put(const void *origin,
                           int count,
                           int target,
                           const MPI_Aint *indices,
                           MPIX_Sparse_window window);

/* `MPIX_Sparse_window_put` with large counts. */
int MPIX_Sparse_window_put_c(const void *origin,
                             MPI_Count count,
                             int target,
                             const MPI_Aint *indices,
                             MPIX_Sparse_window window);

/* Reads elements of a process.
 *
 * - `result`: Receives the elements, `count` of the window's type. Must not be touched until
 *   `MPIX_Sparse_window_flush` or `MPIX_Sparse_window_fence` returns.
 *
 * All else is as for `MPIX_Sparse_window_put`.
 *
 * Cost: For each element 1 to 5 bytes in a batch, and its value in an answer. Two messages a batch.
 */
int MPIX_Sparse_window_get(void *result,
                           int count,
                           int target,
                           const MPI_Aint *indices,
                           MPIX_Sparse_window window);

/* `MPIX_Sparse_window_get` with large counts. */
int MPIX_Sparse_window_get_c(void *result,
                             MPI_Count count,
                             int target,
                             const MPI_Aint *indices,
                             MPIX_Sparse_window window);

/* Combines values with elements of a process.
 *
 * - `op`: The operator: element = element `op` value. A predefined one, `MPI_REPLACE`, `MPI_NO_OP`,
 *   which does nothing and takes no values, or one that the window has been given by
 *   `MPIX_Sparse_window_add_operator`.
 *
 * All else is as for `MPIX_Sparse_window_put`.
 *
 * Errors:
 *
 * - `MPI_ERR_OP`: `op` is `MPI_OP_NULL`, does not work on the window's type, or is a user-defined
 *   one that has not been added to the window.
 * - `MPI_ERR_ARG`: `window` is NULL or has been freed, `indices` is NULL with elements, or an index
 *   is negative or not below the `count` that the target gave. No operation of the call is done
 *   then.
 * - `MPI_ERR_COUNT`: `count` is negative.
 * - `MPI_ERR_RANK`: `target` is not a rank of the window.
 * - `MPI_ERR_BUFFER`: A buffer is NULL with elements, `MPI_IN_PLACE`, or in device memory.
 * - `MPI_ERR_RMA_SYNC`: The process is in the window's fence, or in an operator that is applied to
 *   the window.
 * - `MPI_ERR_OTHER`: The target has ended, or an earlier call on the window has failed. */
int MPIX_Sparse_window_accumulate(const void *origin,
                                  int count,
                                  int target,
                                  const MPI_Aint *indices,
                                  MPI_Op op,
                                  MPIX_Sparse_window window);

/* `MPIX_Sparse_window_accumulate` with large counts. */
int MPIX_Sparse_window_accumulate_c(const void *origin,
                                    MPI_Count count,
                                    int target,
                                    const MPI_Aint *indices,
                                    MPI_Op op,
                                    MPIX_Sparse_window window);

/* Reads elements of a process, and combines values with them.
 *
 * - `result`: Receives the elements as they were before. Must not be touched until
 *   `MPIX_Sparse_window_flush` or `MPIX_Sparse_window_fence` returns.
 *
 * No operation of another process comes between reading and combining. `MPI_NO_OP` reads alone:
 * `origin` may be NULL.
 *
 * All else is as for `MPIX_Sparse_window_accumulate`.
 *
 * Cost: For each element its value and 1 to 5 bytes in a batch, and its value in an answer. Two
 * messages a batch. */
int MPIX_Sparse_window_fetch_and_op(const void *origin,
                                    void *result,
                                    int count,
                                    int target,
                                    const MPI_Aint *indices,
                                    MPI_Op op,
                                    MPIX_Sparse_window window);

/* `MPIX_Sparse_window_fetch_and_op` with large counts. */
int MPIX_Sparse_window_fetch_and_op_c(const void *origin,
                                      void *result,
                                      MPI_Count count,
                                      int target,
                                      const MPI_Aint *indices,
                                      MPI_Op op,
                                      MPIX_Sparse_window window);

/* Reads elements of a process, and stores values in those that equal what they are compared with.
 *
 * - `origin`: The values to be stored, `count` elements of the window's type. May be used again at
 *   once.
 * - `compare`: The values that the elements must equal, byte by byte. May be used again at once.
 * - `result`: Receives the elements as they were before. Must not be touched until
 *   `MPIX_Sparse_window_flush` or `MPIX_Sparse_window_fence` returns.
 *
 * No operation of another process comes between reading and storing. Padding within an element
 * counts, as in `MPI_LONG_DOUBLE`.
 *
 * All else is as for `MPIX_Sparse_window_put`.
 *
 * Cost: For each element two values and 1 to 5 bytes in a batch, and a value in an answer. Two
 * messages a batch. */
int MPIX_Sparse_window_compare_and_swap(const void *origin,
                                        const void *compare,
                                        void *result,
                                        int count,
                                        int target,
                                        const MPI_Aint *indices,
                                        MPIX_Sparse_window window);

/* `MPIX_Sparse_window_compare_and_swap` with large counts. */
int MPIX_Sparse_window_compare_and_swap_c(const void *origin,
                                          const void *compare,
                                          void *result,
                                          MPI_Count count,
                                          int target,
                                          const MPI_Aint *indices,
                                          MPIX_Sparse_window window);

/* Registers a user-defined operator with a window.
 *
 * - `op`: The operator, made by `MPI_Op_create`. Must not be freed before the window.
 * - `window`: The window.
 *
 * Processes name an operator by its place in this order. The operator need not commute. Its
 * function must not use the window that it is applied to: calls of the window fail with
 * `MPI_ERR_RMA_SYNC`.
 *
 * Local, but all processes add the same operators in the same order, before any of them uses one. A
 * fence finds one that has not been added; another order is not found, as MPI does not say what an
 * operator calls.
 *
 * Errors:
 *
 * - `MPI_ERR_ARG`: `window` is NULL or has been freed, or already has 192 user-defined operators,
 *   the maximum.
 * - `MPI_ERR_OP`: `op` is `MPI_OP_NULL`, is predefined, or does not work on the window's type.
 * - `MPI_ERR_RMA_SYNC`: The process is in the window's fence, or in an operator that is applied to
 *   the window. */
int MPIX_Sparse_window_add_operator(MPI_Op op, MPIX_Sparse_window window);

/* Applies all operations of all processes.
 *
 * - `window`: The window.
 *
 * When it returns, all operations that any process has called before its fence have been applied to
 * the caller's elements, and what the caller's operations return has come. None that another
 * process calls after its fence is applied to the caller's elements before the caller's next call
 * of this library.
 *
 * Collective over the window's communicator.
 *
 * Errors:
 *
 * - `MPI_ERR_ARG`: `window` is NULL or has been freed.
 * - `MPI_ERR_RMA_SYNC`: The process is in the window's fence, or in an operator that is applied to
 *   the window.
 * - `MPI_ERR_OTHER`: A process has ended, an operation was lost, or an earlier call on the window
 *   has failed.
 * - `MPI_ERR_OP`: Another process used an operator that this one has not added. What it returns is
 *   zeros.
 * - `MPIX_ERR_MISMATCH`: Other processes free the window in place of this fence, as all learn; the
 *   operations of the epoch have been applied. Or a process has finalized MPI before it has freed
 *   the window. The window is of no more use.
 *
 * Cost: One sparse exchange of the last batches; if operations return something, a message back for
 * each of these. */
int MPIX_Sparse_window_fence(MPIX_Sparse_window window);

/* Waits until the caller's operations have been applied.
 *
 * The targets apply them when they are in a call of this library, as `MPIX_Sparse_window_create`
 * says; they need not flush.
 *
 * Local, but waits for calls of the targets.
 *
 * All else is as for `MPIX_Sparse_window_fence`.
 *
 * Errors:
 *
 * - `MPI_ERR_OTHER`: A target has ended, or could not apply an operation, whose result is zeros
 *   then; or an earlier call on the window has failed.
 * - `MPIX_ERR_MISMATCH`: A process has finalized MPI before it has freed the window. The window is
 *   of no more use.
 * - `MPI_ERR_ARG`: `window` is NULL or has been freed.
 * - `MPI_ERR_RMA_SYNC`: The process is in the window's fence, or in an operator that is applied to
 *   the window.
 * - `MPI_ERR_OP`: Another process used an operator that this one has not added. What it returns is
 *   zeros.
 *
 * Cost: Two messages for each process that may not have applied all. */
int MPIX_Sparse_window_flush(MPIX_Sparse_window window);

/* Applies all operations of all processes, and frees a window.
 *
 * - `window`: The window; NULL afterwards. A NULL window is left alone.
 *
 * A process that uses a copy of the handle afterwards gets an error. For that, a few bytes of each
 * window stay.
 *
 * Collective over the window's communicator.
 *
 * Errors:
 *
 * - `MPI_ERR_ARG`: The pointer is NULL, or the window has been freed.
 * - `MPI_ERR_RMA_SYNC`: The process is in the window's fence, or in an operator that is applied to
 *   the window. The window is not freed.
 * - `MPIX_ERR_MISMATCH`: As for `MPIX_Sparse_window_fence`: other processes call a fence, now or in
 *   the epoch before. The window is freed nevertheless.
 * - `MPI_ERR_OTHER`: As for `MPIX_Sparse_window_fence`. The window is freed nevertheless.
 *
 * Cost: A flush and a fence. */
int MPIX_Sparse_window_free(MPIX_Sparse_window *window);

/* ---- LogGP parameters
 *
 * The parameters of the machine, by which schedules and protocols are chosen. */

/* Measures the LogGP parameters of the machine.
 *
 * - `info`: Hints, or `MPI_INFO_NULL`; those of process 0 count.
 * - `comm`: An intracommunicator of at least two processes. It is left as it was: `MPIX_Loggp_set`
 *   puts the parameters into effect on it.
 * - `parameters`: The parameters, the same on all processes.
 *
 * Measures between process 0 and the first process on another node, or process 1 if all processes
 * share a node. The other processes sleep meanwhile. It is best to have none: with more processes
 * than cores, the waiting processes of some MPIs take time from those that are measured.
 *
 * `latency` is half a round trip of one byte without both overheads, or 0 if the overheads are
 * more, as they may be in shared memory. `gap` is that of short messages, `gap_per_byte` that of
 * messages above `eager`. docs/tuning.md explains how each is measured.
 *
 * Hints. The environment variables `MPIX_LOGGP_SECONDS` and `MPIX_LOGGP_BYTES` override them.
 *
 * - `mpix_loggp_seconds`: roughly how long to measure (0.01 to 3600, default 3).
 * - `mpix_loggp_bytes`: the longest message (1024 to 1073741824, default 1048576).
 *
 * Collective over `comm`.
 *
 * Errors:
 *
 * - `MPI_ERR_COMM`: `comm` has one process, or is an intercommunicator.
 * - `MPI_ERR_ARG`: `parameters` is NULL.
 * - `MPI_ERR_INFO_VALUE`: A hint has an unknown value.
 * - `MPI_ERR_NO_MEM`: There is no memory for the longest message.
 *
 * Errors are reported on all processes.
 *
 * Cost: The time that the hint asks for, or that of one repetition of every measurement. Memory on
 * two processes for a message of the longest size.
 *
 * Source: Hoefler, Lichei, Rehm, Low-Overhead LogGP Parameter Assessment for Modern Interconnection
 * Networks, 2007. */
int MPIX_Loggp_measure(MPI_Info info, MPI_Comm comm, MPIX_Loggp *parameters);

/* Sets the LogGP parameters of a communicator.
 *
 * - `parameters`: The parameters, finite and not negative, the same on all processes. The model has
 *   one overhead, and takes the mean of the two.
 * - `comm`: An intracommunicator. Replaces the parameters that it had. Its duplicates do not
 *   inherit them.
 *
 * Later set calls on the communicator choose schedules by them, and later sparse exchanges
 * protocols, unless the info key `mpix_loggp` or the environment variable `MPIX_LOGGP` says
 * otherwise.
 *
 * Collective over `comm`.
 *
 * Errors:
 *
 * - `MPI_ERR_ARG`: `parameters` is NULL, or one of them is out of range.
 * - `MPI_ERR_COMM`: `comm` is an intercommunicator.
 * - `MPIX_ERR_MISMATCH`: The parameters differ between processes. See `MPIX_Neighbor_error_class`.
 *
 * Errors in the arguments of one process are reported on all, and nothing is changed.
 *
 * Cost: A duplicate of the communicator, freed again, and three reductions of a few words. */
int MPIX_Loggp_set(const MPIX_Loggp *parameters, MPI_Comm comm);

/* Returns the LogGP parameters that are in effect on a communicator where no info key says
 * otherwise.
 *
 * - `comm`: The communicator.
 * - `parameters`: The parameters.
 *
 * The first of these that there is:
 *
 * - the environment variable `MPIX_LOGGP`;
 * - the parameters that `MPIX_Loggp_set` gave the communicator;
 * - the file that the environment variable `MPIX_LOGGP_FILE` names;
 * - the file `mpix-neighbor/loggp` in `$XDG_CONFIG_HOME` or `~/.config`;
 * - what the set calls on the communicator have measured, or found in the file of an earlier
 *   program;
 * - the preset `jaguar`, by which no schedule is chosen.
 *
 * Parameters that do not come from `MPIX_Loggp_set` have one overhead, which stands for both, and a
 * deviation of 0.
 *
 * Local.
 *
 * Errors:
 *
 * - `MPI_ERR_ARG`: `parameters` is NULL.
 * - `MPI_ERR_INFO_VALUE`: A file or variable is not understood. */
int MPIX_Loggp_get(MPI_Comm comm, MPIX_Loggp *parameters);

/* ---- Versions and errors
 *
 * Errors are MPI error codes, reported through the error handler of the communicator. */

/* Returns the version of the library that is linked.
 *
 * - `major`: Major version.
 * - `minor`: Minor version.
 * - `patch`: Patch version.
 *
 * Local. May be called at any time.
 *
 * Errors:
 *
 * - `MPI_ERR_ARG`: A pointer is NULL. */
int MPIX_Neighbor_get_version(int *major, int *minor, int *patch);

/* Returns an error class that this library added to MPI's, for comparison with what
 * `MPI_Error_class` returns.
 *
 * - `which`: `MPIX_ERR_MISMATCH` or `MPIX_ERR_VERIFY`.
 * - `errorclass`: The class.
 *
 * `MPIX_ERR_MISMATCH` and `MPIX_ERR_VERIFY` are selectors for this function, not error classes. To
 * recognize a mismatch, call `MPI_Error_class(code, &class)` and
 * `MPIX_Neighbor_error_class(MPIX_ERR_MISMATCH, &mismatch)`, and compare `class` with `mismatch`.
 *
 * Local.
 *
 * Errors:
 *
 * - `MPI_ERR_ARG`: `which` is neither, or the pointer is NULL. */
int MPIX_Neighbor_error_class(int which, int *errorclass);

/* Returns the text of the last error that a function of this library reported on a communicator.
 *
 * - `comm`: The communicator.
 * - `length`: Characters that `string` has room for, the terminating null included. 0: nothing is
 *   written to `string`.
 * - `string` (`length` entries): Receives the text, truncated if it is longer.
 * - `resultlen`: Length of the whole text, without the terminating null; 0 if there was no error.
 *
 * On MPIs that let error codes carry it, `MPI_Error_string` of the returned code gives the same
 * text.
 *
 * Local.
 *
 * Errors:
 *
 * - `MPI_ERR_ARG`: A pointer is NULL, or `length` is negative. */
int MPIX_Neighbor_error_string(MPI_Comm comm, int length, char *string, int *resultlen);

#ifdef __cplusplus
}  /* extern "C" */
#endif  /* __cplusplus */

#endif  /* MPIX_NEIGHBOR_H */
