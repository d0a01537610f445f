/* Sparse (neighborhood) collective communication on any MPI.
 *
 * Generated from the Rust sources by `make header`; do not edit.
 *
 * Every function returns MPI_SUCCESS, or an error code after calling the error handler of its communicator. Results are written only on
 * success. Where a degree is 0, the arrays that belong to it are not looked at. */

#ifndef MPIX_NEIGHBOR_H
#define MPIX_NEIGHBOR_H

#include <mpi.h>

// For `MPIX_Loggp.eager`: no message waits for its receiver.
#define MPIX_LOGGP_UNLIMITED -1

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

// A neighborhood collective that one call starts and another one completes.
typedef struct MPIX_Request_object MPIX_Request_object;

// A sparse exchange whose targets and sizes stay.
typedef struct MPIX_Sparse_plan_object MPIX_Sparse_plan_object;

// A nonblocking sparse exchange under way.
typedef struct MPIX_Sparse_request_object MPIX_Sparse_request_object;

// What a sparse exchange brought: messages, ordered by source, those of one source as it sent them.
typedef struct MPIX_Sparse_result_object MPIX_Sparse_result_object;

// A nonblocking or persistent neighborhood collective. NULL is none.
typedef MPIX_Request_object *MPIX_Request;

// LogGP parameters of a machine (Alexandrov, Ionescu, Schauser, Scheiman 1995). Times in microseconds.
typedef struct {
  // L: what a byte needs through the network.
  double latency;
  // o_s: how long a process works for a message that it sends.
  double send_overhead;
  // o_r: how long a process works for a message that it receives.
  double recv_overhead;
  // g: the least time between two short messages of a process.
  double gap;
  // G: time for each byte of a long message.
  double gap_per_byte;
  // The longest message, in bytes, that leaves without its receiver; `MPIX_LOGGP_UNLIMITED`: all do.
  MPI_Count eager;
  // How far measured times are from what the parameters predict: median of |measured - predicted| / measured. 0 where nothing was measured.
  double deviation;
} MPIX_Loggp;

// A result of a sparse exchange. NULL is none.
typedef MPIX_Sparse_result_object *MPIX_Sparse_result;

// What `MPIX_Sparse_exchange_each` calls for each message: source, elements of the receive type, their place (valid during the call), and what the
// caller gave as context. Returns `MPI_SUCCESS`, or anything else not to be called again.
typedef int (*MPIX_Sparse_function)(int source, MPI_Count count, const void *data, void *context);

// A nonblocking sparse exchange. NULL is none.
typedef MPIX_Sparse_request_object *MPIX_Sparse_request;

// A plan of a sparse exchange. NULL is none.
typedef MPIX_Sparse_plan_object *MPIX_Sparse_plan;

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

// Sparse all-to-all of several fields at once: what `nfields` calls of `MPIX_Neighbor_alltoallw` do, one for each field, in one exchange.
//
// - `nfields`: number of fields, at least 0; the same on all processes.
// - `sendbufs`, `recvbufs`: nfields addresses, of the fields' buffers.
// - `sendcounts`, `senddispls`, `sendtypes`: nfields * outdegree entries; those of field f and target i at `f * outdegree + i`.
// - `recvcounts`, `recvdispls`, `recvtypes`: nfields * indegree entries; those of field f and source j at `f * indegree + j`.
// - `comm`: a communicator with a neighborhood for `MPIX_NEIGHBOR_ALLTOALL`.
//
// The blocks of all fields that go to one neighbor travel as one message where the LogGP model says that this saves more startups than the copying costs: where they are
// short. The hint `mpix_fuse` = `true` or `false` (default `auto`) of the neighborhood, or the environment variable `MPIX_FUSE`, makes that always or never so. Blocks that other processes pass on are not put
// together.
//
// All else as for `MPIX_Neighbor_alltoallw`; texts of errors name entries by their number within the field. Cost: for each edge with a joint message a datatype is made, so that a plan (`MPIX_Neighbor_alltoallw_fields_plan`) serves
// repeated exchanges better.
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

// `MPIX_Neighbor_alltoallw_fields` with large counts.
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

// Starts a `MPIX_Neighbor_alltoallw_fields`, and returns when its messages are posted. All else as for `MPIX_Ineighbor_gather`.
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

// `MPIX_Ineighbor_alltoallw_fields` with large counts.
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

// Makes a persistent `MPIX_Neighbor_alltoallw_fields`.
//
// - `info`: `mpix_fuse`, which stands before the neighborhood's, and `mpix_match`, the same on neighbors; or `MPI_INFO_NULL`.
//
// All else as for `MPIX_Neighbor_gather_plan`.
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

// `MPIX_Neighbor_alltoallw_fields_plan` with large counts.
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

// Sparse gather: sends one block to all targets and receives a block of equal size from each source.
//
// - `sendbuf, sendcount, sendtype`: the block that goes to every target; `sendcount` elements.
// - `recvbuf, recvcount, recvtype`: room for indegree blocks of `recvcount` elements behind one another; block j comes from source j and
//   nothing is written where source j is `MPI_PROC_NULL`.
// - `comm`: a communicator with a neighborhood for `MPIX_NEIGHBOR_GATHER`.
//
// Called by every process that has an edge, and by all its neighbors; processes that no path of edges connects need not call equally often, unless
// `mpix_whole_communicator` promises that all call. The
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

// Starts a `MPIX_Neighbor_gather`, and returns when its messages are posted.
//
// - `request`: the collective, for `MPIX_Request_wait` and its like, which complete it. Until then `sendbuf` must not be written and `recvbuf` not be
//   touched, but for blocks of which `MPIX_Request_test_source` and its like have said that they have arrived.
//
// Arrays of counts, displacements and datatypes may be changed and freed at once, datatypes too; not an operator. Any number of collectives may be under way on a
// communicator; they match in the order in which they are started, blocking ones with them. Where the schedule has several rounds, all waiting and
// testing functions of this library move all collectives of the process forward, and nothing else does: neighbors may have to wait for the next such
// call. Of such ones the oldest under way must be no more than 10,000 collectives old.
//
// All else as for `MPIX_Neighbor_gather`; errors in the arguments are found here and start nothing. (With verification neighbors must hear of them: then it
// waits for these.) Cost: that, up to four allocations, and where there are several rounds a copy of the arrays and a duplicate of each derived datatype.
int MPIX_Ineighbor_gather(const void *sendbuf,
                          int sendcount,
                          MPI_Datatype sendtype,
                          void *recvbuf,
                          int recvcount,
                          MPI_Datatype recvtype,
                          MPI_Comm comm,
                          MPIX_Request *request);

// `MPIX_Ineighbor_gather` with large counts.
int MPIX_Ineighbor_gather_c(const void *sendbuf,
                            MPI_Count sendcount,
                            MPI_Datatype sendtype,
                            void *recvbuf,
                            MPI_Count recvcount,
                            MPI_Datatype recvtype,
                            MPI_Comm comm,
                            MPIX_Request *request);

// Starts a `MPIX_Neighbor_gatherv`, and returns when its messages are posted. All else as for `MPIX_Ineighbor_gather`.
int MPIX_Ineighbor_gatherv(const void *sendbuf,
                           int sendcount,
                           MPI_Datatype sendtype,
                           void *recvbuf,
                           const int *recvcounts,
                           const int *recvdispls,
                           MPI_Datatype recvtype,
                           MPI_Comm comm,
                           MPIX_Request *request);

// `MPIX_Ineighbor_gatherv` with large counts.
int MPIX_Ineighbor_gatherv_c(const void *sendbuf,
                             MPI_Count sendcount,
                             MPI_Datatype sendtype,
                             void *recvbuf,
                             const MPI_Count *recvcounts,
                             const MPI_Aint *recvdispls,
                             MPI_Datatype recvtype,
                             MPI_Comm comm,
                             MPIX_Request *request);

// Starts a `MPIX_Neighbor_alltoall`, and returns when its messages are posted. All else as for `MPIX_Ineighbor_gather`.
int MPIX_Ineighbor_alltoall(const void *sendbuf,
                            int sendcount,
                            MPI_Datatype sendtype,
                            void *recvbuf,
                            int recvcount,
                            MPI_Datatype recvtype,
                            MPI_Comm comm,
                            MPIX_Request *request);

// `MPIX_Ineighbor_alltoall` with large counts.
int MPIX_Ineighbor_alltoall_c(const void *sendbuf,
                              MPI_Count sendcount,
                              MPI_Datatype sendtype,
                              void *recvbuf,
                              MPI_Count recvcount,
                              MPI_Datatype recvtype,
                              MPI_Comm comm,
                              MPIX_Request *request);

// Starts a `MPIX_Neighbor_alltoallv`, and returns when its messages are posted. All else as for `MPIX_Ineighbor_gather`.
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

// `MPIX_Ineighbor_alltoallv` with large counts.
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

// Starts a `MPIX_Neighbor_alltoallw`, and returns when its messages are posted. All else as for `MPIX_Ineighbor_gather`.
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

// `MPIX_Ineighbor_alltoallw` with large counts.
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

// Starts a `MPIX_Neighbor_reduce`, and returns when its messages are posted. The operator must not be freed before the request is complete; a user-defined one is
// given a duplicate of a derived datatype. All else as for `MPIX_Ineighbor_gather`.
int MPIX_Ineighbor_reduce(const void *sendbuf,
                          int sendcount,
                          MPI_Datatype sendtype,
                          void *recvbuf,
                          int recvcount,
                          MPI_Datatype recvtype,
                          MPI_Op op,
                          MPI_Comm comm,
                          MPIX_Request *request);

// `MPIX_Ineighbor_reduce` with large counts.
int MPIX_Ineighbor_reduce_c(const void *sendbuf,
                            MPI_Count sendcount,
                            MPI_Datatype sendtype,
                            void *recvbuf,
                            MPI_Count recvcount,
                            MPI_Datatype recvtype,
                            MPI_Op op,
                            MPI_Comm comm,
                            MPIX_Request *request);

// Starts a `MPIX_Neighbor_reducev`, and returns when its messages are posted. The operator must not be freed before the request is complete; a user-defined one is
// given a duplicate of a derived datatype. All else as for `MPIX_Ineighbor_gather`.
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

// `MPIX_Ineighbor_reducev` with large counts.
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

// Measures the LogGP parameters of the machine, between process 0 and the first process on another node, or process 1 where all processes share a node.
//
// - `info`: hints, or `MPI_INFO_NULL`; those of process 0 count. `mpix_loggp_seconds`: about how long to measure (0.01 to 3600, default 3);
//   `mpix_loggp_bytes`: the longest message (1024 to 1073741824, default 1048576). The environment variables `MPIX_LOGGP_SECONDS` and
//   `MPIX_LOGGP_BYTES` override them.
// - `comm`: an intracommunicator of at least two processes. It is left as it was: `MPIX_Loggp_set` makes the parameters count on it.
// - `parameters`: where the parameters are written, the same on all processes. latency is half a round trip of a byte without both overheads, or 0 if these
//   are more, which they may be in shared memory; gap is that of short messages, gap_per_byte that of messages above eager. docs/tuning.md tells
//   how each is measured.
//
// Collective over `comm`. The other processes sleep meanwhile. Best without any: with a process more than there are cores, some MPIs' waiting processes
// take the time from those that are measured. Errors, reported on all processes: `MPI_ERR_COMM` (one process, or an intercommunicator),
// `MPI_ERR_ARG`, `MPI_ERR_INFO_VALUE`, `MPI_ERR_NO_MEM`. Cost: as long as said, or as one repetition of everything takes; memory on two processes for a
// message of the longest size. Source: Hoefler, Lichei, Rehm: Low-Overhead LogGP Parameter Assessment for Modern Interconnection Networks, 2007.
int MPIX_Loggp_measure(MPI_Info info,
                       MPI_Comm comm,
                       MPIX_Loggp *parameters);

// Says which LogGP parameters count on a communicator: where later set calls on it choose schedules, and later sparse exchanges protocols, unless the
// info key `mpix_loggp` or the environment variable `MPIX_LOGGP` says otherwise. Duplicates of the communicator do not inherit them.
//
// - `parameters`: the parameters; finite and not negative. The model has one overhead, and takes the mean of the two.
// - `comm`: an intracommunicator. Parameters that it had before are replaced.
//
// Collective over `comm`: all processes pass the same parameters. Errors in the arguments of one process are reported on all; nothing is changed
// then. Errors: `MPI_ERR_ARG`, `MPI_ERR_COMM`, and the class `MPIX_ERR_MISMATCH`. Cost: a duplicate of the communicator, freed again, and three
// reductions of a few words.
int MPIX_Loggp_set(const MPIX_Loggp *parameters,
                   MPI_Comm comm);

// The LogGP parameters that count on a communicator where no info key says otherwise: those of the environment variable `MPIX_LOGGP`, else those that
// `MPIX_Loggp_set` gave it, else those of the file that the environment variable `MPIX_LOGGP_FILE` names, else those of the file
// mpix-neighbor/loggp in `$XDG_CONFIG_HOME` or `~/.config`, else the preset jaguar. What does not come from `MPIX_Loggp_set` has one overhead, which stands
// for both, and a deviation of 0.
//
// - `parameters`: where they are written.
//
// Local. Errors: `MPI_ERR_ARG`, `MPI_ERR_INFO_VALUE` (a file or variable that is not understood).
int MPIX_Loggp_get(MPI_Comm comm,
                   MPIX_Loggp *parameters);

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
//   `distributed_coloring`, `scatter_binomial`, `scatter_optimal`, `combining`, `node_aware`; `mpix_split` = `true` (default), `false`: whether messages may be cut; `mpix_weight_unit`: bytes that a weight of 1 stands
//   for (default 1); `mpix_loggp`: the machine's parameters, a preset or a file (default: those that `MPIX_Loggp_get` gives); `mpix_seed`, `mpix_duplex`, `mpix_round_window`, `mpix_graph_limit`;
//   `mpix_reduce_order` = `source` (default), `any`; `mpix_fuse` = `auto` (default), `true`, `false`: for several fields; `mpix_shared_memory`: most bytes of shared memory for the messages to one process of the node (default 10 MiB;
//   below 64 KiB none); `mpix_single_copy` = `true` (default), `false`; `mpix_verify` = `false` (default), `true`; `mpix_whole_communicator` = `false` (default), `true`:
//   the promise that all processes of `comm` make every call, and that none waits for the return of another one's call before it makes its own.
//   Without it no process passes on blocks of others but of its own neighbors; the `scatter_` schedules do, for `MPIX_NEIGHBOR_ALLTOALL` alone, where one process sends to
//   others, to each once, and nobody else sends. `combining`, for `MPIX_NEIGHBOR_GATHER` and `MPIX_NEIGHBOR_ALLTOALL` on a Cartesian communicator on
//   which all processes have neighbors at the same offsets, needs the promise only where blocks pass through processes that are not neighbors of their source.
//   `node_aware`, for the same operations, always needs it; `mpix_nodes`: as if each so many processes, or those with equal numbers in a list of a
//   number for each process, shared a node (default: the real nodes). Environment variables of the same names in capitals
//   (but `MPIX_NEIGHBOR_VERIFY`) override them. All but `mpix_round_window` and `mpix_reduce_order` must be the same on all processes. Unknown
//   keys are ignored (with `MPIX_NEIGHBOR_LOG=warn` those that begin with `mpix_` are named on
//   standard error), unknown values are errors.
// - `comm`: an intracommunicator. Duplicates of it do not inherit its neighborhoods.
//
// Collective over `comm`. Errors in the arguments of one process, and lists that do not match, are reported on all; nothing is changed
// then. Errors: `MPI_ERR_RANK`, `MPI_ERR_ARG`, `MPI_ERR_INFO_VALUE`, `MPI_ERR_COMM`, and the class `MPIX_ERR_MISMATCH`.
// Cost: five reductions of a few words, three more where `combining` can be chosen; the first time on a communicator a duplicate of it and a split by nodes. Memory: O(degree).
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

// `MPIX_Neighborhood_set` where a process knows whom it sends to, but not who will send to it: a sparse exchange finds the sources.
//
// - `outdegree, targets, targetweights`: as for `MPIX_Neighborhood_set`. Where a target is `MPI_PROC_NULL` there is no source.
// - The sources are ordered by rank, those of one rank as they stand in that process's list, and have the weights that the other end gives.
//   `MPIX_Neighborhood_get_count` and `MPIX_Neighborhood_get` tell them.
// - `info`: also the hints of `MPIX_Sparse_exchange`.
//
// All else as for `MPIX_Neighborhood_set`. Cost beyond it: a sparse exchange of 8 bytes for each target, with the memory that its protocol needs (docs/sparse.md;
// `nbx` none that grows with the number of processes). Source: Hoefler, Siebert, Lumsdaine, Scalable Communication Protocols for Dynamic Sparse Data Exchange.
int MPIX_Neighborhood_set_targets(int operations,
                                  int outdegree,
                                  const int *targets,
                                  const int *targetweights,
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
// why, its rounds and messages, how processes wait, the hints in effect and where they come from.
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

// Makes a persistent `MPIX_Neighbor_gather`, which `MPIX_Request_start` runs any number of times.
//
// - `info`: `mpix_match` = `start` (default): starts match in their order with all other collectives of the operation on the communicator, those that are not
//   persistent too; `plan`: they match with one another alone, and may come in any order beside others, a different one on each process (as those of
//   `MPI_Neighbor_alltoall_init`; not where collectives are verified). `mpix_fuse`: for several fields. Both the same on neighbors. Or `MPI_INFO_NULL`. May be
//   freed at once. Other keys are ignored.
// - `request`: the collective, inactive. `MPIX_Request_free` frees it.
//
// Everything about the arguments is found out here: a start allocates nothing, looks nothing up and asks nothing of datatypes. What is in `sendbuf` when it is
// started is sent. Arrays of counts, displacements and datatypes may be changed and freed at once, datatypes too; not an operator.
//
// Called by all neighbors, at the same place among their calls of the operation on the communicator; communicates nothing. It takes the schedule that the
// neighborhood has then (with `mpix_schedule` = `measure` before the choice the first one). When the neighborhood is freed, or another one set in its place, the request can no longer be started. Errors: those in the arguments of
// `MPIX_Neighbor_gather`. Memory: that of the messages, and duplicates of derived datatypes.
int MPIX_Neighbor_gather_plan(const void *sendbuf,
                              int sendcount,
                              MPI_Datatype sendtype,
                              void *recvbuf,
                              int recvcount,
                              MPI_Datatype recvtype,
                              MPI_Comm comm,
                              MPI_Info info,
                              MPIX_Request *request);

// `MPIX_Neighbor_gather_plan` with large counts.
int MPIX_Neighbor_gather_plan_c(const void *sendbuf,
                                MPI_Count sendcount,
                                MPI_Datatype sendtype,
                                void *recvbuf,
                                MPI_Count recvcount,
                                MPI_Datatype recvtype,
                                MPI_Comm comm,
                                MPI_Info info,
                                MPIX_Request *request);

// Makes a persistent `MPIX_Neighbor_gatherv`. All else as for `MPIX_Neighbor_gather_plan`.
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

// `MPIX_Neighbor_gatherv_plan` with large counts.
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

// Makes a persistent `MPIX_Neighbor_alltoall`. All else as for `MPIX_Neighbor_gather_plan`.
int MPIX_Neighbor_alltoall_plan(const void *sendbuf,
                                int sendcount,
                                MPI_Datatype sendtype,
                                void *recvbuf,
                                int recvcount,
                                MPI_Datatype recvtype,
                                MPI_Comm comm,
                                MPI_Info info,
                                MPIX_Request *request);

// `MPIX_Neighbor_alltoall_plan` with large counts.
int MPIX_Neighbor_alltoall_plan_c(const void *sendbuf,
                                  MPI_Count sendcount,
                                  MPI_Datatype sendtype,
                                  void *recvbuf,
                                  MPI_Count recvcount,
                                  MPI_Datatype recvtype,
                                  MPI_Comm comm,
                                  MPI_Info info,
                                  MPIX_Request *request);

// Makes a persistent `MPIX_Neighbor_alltoallv`. All else as for `MPIX_Neighbor_gather_plan`.
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

// `MPIX_Neighbor_alltoallv_plan` with large counts.
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

// Makes a persistent `MPIX_Neighbor_alltoallw`. All else as for `MPIX_Neighbor_gather_plan`.
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

// `MPIX_Neighbor_alltoallw_plan` with large counts.
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

// Makes a persistent `MPIX_Neighbor_reduce`. The operator must not be freed before the request; a user-defined one is given a duplicate of a
// derived datatype. All else as for `MPIX_Neighbor_gather_plan`.
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

// `MPIX_Neighbor_reduce_plan` with large counts.
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

// Makes a persistent `MPIX_Neighbor_reducev`. The operator must not be freed before the request; a user-defined one is given a duplicate of a
// derived datatype. All else as for `MPIX_Neighbor_gather_plan`.
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

// `MPIX_Neighbor_reducev_plan` with large counts.
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

// Starts a persistent collective, and returns when its messages are posted.
//
// - `request`: one that a `_plan` function made, and that is not active; it becomes active. The buffers must be left alone then as those of a
//   nonblocking collective, until it is complete.
//
// Called by all neighbors, as the collective itself; matched with all collectives of its operation on the communicator in the order in which they are
// started. Never waits. Errors: `MPI_ERR_REQUEST` (NULL, active, not persistent, of a neighborhood that has been freed or set again, or too many started
// beside it), `MPI_ERR_COMM` (communicator freed). Cost: the messages of the first round, without allocation, type query or lookup.
int MPIX_Request_start(MPIX_Request *request);

// Starts persistent collectives, in their order in the array.
//
// - `count, requests`: so many requests, each as for `MPIX_Request_start`.
//
// All else as for `MPIX_Request_start`. Where one cannot be started, those before it have been, and those behind it have not.
int MPIX_Request_startall(int count, MPIX_Request *requests);

// Whether a collective is complete; moves all that are under way forward, never waits.
//
// - `request`: a collective. If it is complete it becomes NULL, or inactive if it is persistent. For NULL and for an inactive one, `flag` is 1.
// - `flag`: 1 if it is complete, else 0.
//
// Local. Errors: those of the collective, reported on its communicator once all of it has come to its end; `MPI_ERR_COMM` if that has been freed
// meanwhile: then too the collective has come to its end.
int MPIX_Request_test(MPIX_Request *request,
                      int *flag);

// Whether collectives are all complete; moves all that are under way forward, never waits.
//
// - `count, requests`: so many collectives, NULL and inactive ones among them. If all are complete, each becomes NULL, or inactive; else none is changed.
// - `flag`: 1 if all are complete, else 0.
//
// All else as for `MPIX_Request_test`; of several errors the first one in the array is reported.
int MPIX_Request_testall(int count,
                         MPIX_Request *requests,
                         int *flag);

// Waits until a collective is complete.
//
// - `request`: a collective; becomes NULL, or inactive if it is persistent. For NULL and for an inactive one it returns at once.
//
// All else as for `MPIX_Request_test`.
int MPIX_Request_wait(MPIX_Request *request);

// Waits until collectives are all complete.
//
// - `count, requests`: so many collectives, NULL and inactive ones among them; each becomes NULL, or inactive if it is persistent.
//
// All else as for `MPIX_Request_test`; all are completed, also where some fail, and of several errors the first one in the array is reported.
int MPIX_Request_waitall(int count,
                         MPIX_Request *requests);

// Waits until one of several collectives is complete.
//
// - `count, requests`: so many collectives; the one that is complete becomes NULL, or inactive if it is persistent.
// - `index`: which one; `MPI_UNDEFINED` if none is active.
//
// All else as for `MPIX_Request_test`.
int MPIX_Request_waitany(int count, MPIX_Request *requests, int *index);

// Frees a persistent collective; `request` becomes NULL. NULL is left alone.
//
// - `request`: one that is not active.
//
// Local. Errors: `MPI_ERR_REQUEST` if it is active (neighbors count on it); it is left as it is.
int MPIX_Request_free(MPIX_Request *request);

// Whether the block of one source has arrived, so that it may be read, while others may not have; moves all that is under way forward, never waits.
//
// - `request`: a collective under way. Of one that is persistent and inactive, all blocks have arrived.
// - `index`: which source: index in the source list. Entries that are `MPI_PROC_NULL` have arrived from the beginning.
// - `flag`: 1 if its block has arrived, in a reduction if it is part of the result (which then may not be complete), else 0. The source counts as told then; see
//   `MPIX_Request_waitany_source`.
//
// The collective must be completed all the same, as its sends may be under way. With the default order of a reduction a source is part of the result when all before
// it are. Where blocks come in packets (`scatter_` schedules) they arrive with the packet.
//
// Local. Errors: `MPI_ERR_REQUEST` (NULL), `MPI_ERR_ARG` (index); where a message of the collective has failed its error, which completing reports
// again. Cost: a test of the messages that bring the block.
int MPIX_Request_test_source(MPIX_Request request,
                             int index,
                             int *flag);

// Waits until the block of one source has arrived.
//
// All else as for `MPIX_Request_test_source`.
int MPIX_Request_wait_source(MPIX_Request request, int index);

// Waits until the block of a source has arrived that has not been told since the collective was started.
//
// - `index`: which source; `MPI_UNDEFINED` if all have been told, or the collective is not active.
//
// So a loop until `MPI_UNDEFINED` gets each source once, about in the order in which they arrive: of those that are there at a time the first in the
// list comes first. All else as for `MPIX_Request_test_source`.
int MPIX_Request_waitany_source(MPIX_Request request,
                                int *index);

// Waits until the blocks of sources have arrived that have not been told since the collective was started.
//
// - `outcount`: how many, at least 1; `MPI_UNDEFINED` if all have been told, or the collective is not active.
// - `indices`: room for indegree entries; which sources, ascending.
//
// All else as for `MPIX_Request_test_source`.
int MPIX_Request_waitsome_source(MPIX_Request request, int *outcount, int *indices);

// The blocks of which sources have arrived that have not been told since the collective was started; never waits.
//
// - `outcount`: how many, 0 if there is none at the moment; `MPI_UNDEFINED` if all have been told, or the collective is not active.
//
// All else as for `MPIX_Request_waitsome_source`.
int MPIX_Request_testsome_source(MPIX_Request request,
                                 int *outcount,
                                 int *indices);

// Dynamic sparse data exchange: sends a message to each target, and receives the messages that others send to the caller, of which it needs to
// know nothing.
//
// - `ntargets, targets`: to whom: ranks of `comm`, in any order; may repeat (each entry is a message of its own), be the caller's (copied), or be
//   `MPI_PROC_NULL` (nothing is sent). 0: nothing is sent, and the arrays are not looked at.
// - `sendbuf, sendcounts, senddispls, sendtype`: message i is `sendcounts[i]` elements at `sendbuf + senddispls[i] * extent(sendtype)`; `ntargets`
//   entries each. Messages of no elements arrive too.
// - `recvtype`: what the receiver takes messages as; the type signature of each message must be that of a whole number of elements.
// - `info`: hints, or `MPI_INFO_NULL`; equal on all processes, may be freed afterwards. `mpix_sparse` = `auto` (default), `nbx`, `nbx_probe`, `nbx_node`,
//   `pex`, `pcx`, `pcx_library`, `rsx`, `crystal`, `inbox`: the protocol; `mpix_sparse_targets`: about the most messages that a process sends;
//   `mpix_node_size`: as if each so many processes were a node; `mpix_matched_probe` = `true` (default), `false`; `mpix_loggp`: the machine's parameters,
//   a preset or a file. Environment variables of the same names in capitals override them. docs/sparse.md tells what each does.
// - `comm`: an intracommunicator.
// - `result`: what has come, ordered by source, and within a source as it was sent; freed by `MPIX_Sparse_free`.
//
// Collective over `comm`: every process calls it, also one that sends nothing. One exchange on a communicator runs at a time. The first one on a communicator
// makes a duplicate of it. A process whose arguments are in error takes part with no messages and then gets the error; what is sent to it is
// lost. Errors: `MPI_ERR_RANK`, `MPI_ERR_COUNT`, `MPI_ERR_ARG`, `MPI_ERR_BUFFER`, `MPI_ERR_TYPE`, `MPI_ERR_COMM`, `MPI_ERR_INFO_VALUE`,
// `MPI_ERR_TRUNCATE` where a message is no whole number of elements of `recvtype`, and `MPI_ERR_NO_MEM`, after which other processes may wait for ever.
// Cost: the messages, and what the protocol needs to find their receivers (`nbx`: a synchronous send each and ceil(log2 P) rounds of 4 bytes; the others in
// docs/sparse.md). Memory: what arrives. Source: Hoefler, Siebert, Lumsdaine, Scalable Communication Protocols for Dynamic Sparse Data Exchange.
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

// `MPIX_Sparse_exchange` with large counts.
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

// `MPIX_Sparse_exchange` of messages of one size: message i is `sendcount` elements at `sendbuf + i * sendcount * extent(sendtype)`.
int MPIX_Sparse_exchange_block(int ntargets,
                               const int *targets,
                               const void *sendbuf,
                               int sendcount,
                               MPI_Datatype sendtype,
                               MPI_Datatype recvtype,
                               MPI_Info info,
                               MPI_Comm comm,
                               MPIX_Sparse_result *result);

// `MPIX_Sparse_exchange_block` with a large count.
int MPIX_Sparse_exchange_block_c(int ntargets,
                                 const int *targets,
                                 const void *sendbuf,
                                 MPI_Count sendcount,
                                 MPI_Datatype sendtype,
                                 MPI_Datatype recvtype,
                                 MPI_Info info,
                                 MPI_Comm comm,
                                 MPIX_Sparse_result *result);

// Finds out who has the caller among its targets, without any payload: the messages of the result have no elements.
//
// All else as for `MPIX_Sparse_exchange`.
int MPIX_Sparse_sources(int ntargets, const int *targets, MPI_Info info, MPI_Comm comm, MPIX_Sparse_result *result);

// `MPIX_Sparse_exchange` that calls a function for each message as it arrives, instead of making a result. Messages of one source come in the order
// in which it sent them; those of different sources in any order.
//
// - `function`: called on each message, one at a time, in the calling thread; it may call MPI, but no sparse exchange on `comm`.
// - `context`: handed to it.
//
// All else as for `MPIX_Sparse_exchange`; also `MPI_ERR_OTHER` where the function returned an error: it is not called again then, and
// the exchange is brought to its end. Where messages come a long way (`nbx_node`, `crystal`) they come all at once.
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

// `MPIX_Sparse_exchange_each` with large counts.
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

// Begins `MPIX_Sparse_exchange` and returns: `MPIX_Sparse_test` and `MPIX_Sparse_wait` bring it to its end.
//
// - `request`: the exchange. The send buffer must not be written until it is complete; arrays, datatypes and info may be freed at once.
//
// All else as for `MPIX_Sparse_exchange`; all processes call this form. Local, but for the first exchange on a communicator, and the first one for which a hint
// asks for `rsx`, `nbx_node` or another `mpix_node_size`: these wait until all processes have begun them (`auto` takes neither protocol before a blocking
// exchange has). A call whose arguments are in error waits for the end of the exchange. Nothing moves between calls of MPI. The communicator may be freed
// before the exchange is complete; errors are then reported on `MPI_COMM_WORLD`.
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

// `MPIX_Isparse_exchange` with large counts.
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

// Whether a nonblocking sparse exchange is complete; moves it forward, never waits.
//
// - `request`: the exchange; becomes NULL when it is complete.
// - `flag`: 1 if it is complete, else 0.
// - `result`: what has come; written only when it is complete.
//
// Local. Errors: as for `MPIX_Sparse_exchange`, reported on its communicator; `MPI_ERR_ARG` where a pointer or the request is NULL.
int MPIX_Sparse_test(MPIX_Sparse_request *request,
                     int *flag,
                     MPIX_Sparse_result *result);

// Waits until a nonblocking sparse exchange is complete.
//
// All else as for `MPIX_Sparse_test`.
int MPIX_Sparse_wait(MPIX_Sparse_request *request, MPIX_Sparse_result *result);

// How many messages, and how many elements of the receive type, a sparse exchange brought.
//
// - `nmessages`, `nelements`: where these are written.
//
// Local. Errors: `MPI_ERR_ARG` where a pointer or the result is NULL.
int MPIX_Sparse_get_count(MPIX_Sparse_result result, int *nmessages, MPI_Count *nelements);

// One message of a sparse exchange.
//
// - `index`: which one, from 0. Messages are ordered by source, those of one source as it sent them.
// - `source`: who sent it.
// - `count`: elements of the receive type.
// - `data`: where they lie: in the result's memory, aligned for any type, until the result is freed. The caller may write there.
//
// Local. Errors: `MPI_ERR_ARG` where a pointer or the result is NULL, or there is no such message.
int MPIX_Sparse_get_message(MPIX_Sparse_result result, int index, int *source, MPI_Count *count, void **data);

// Sources, counts and displacements of all messages of a sparse exchange, as vector collectives take them.
//
// - `maxmessages`: entries that the arrays have room for; as many are written at the most.
// - `sources`, `counts`: as `MPIX_Sparse_get_message` gives them.
// - `displs`: elements of all messages before this one: where `MPIX_Sparse_copy` puts it.
//
// Any of the arrays may be NULL if it is not wanted. Local. Errors: `MPI_ERR_ARG`, and `MPI_ERR_COUNT` where a number does not fit in an `int`.
int MPIX_Sparse_get_messages(MPIX_Sparse_result result,
                             int maxmessages,
                             int *sources,
                             int *counts,
                             int *displs);

// `MPIX_Sparse_get_messages` with large counts.
int MPIX_Sparse_get_messages_c(MPIX_Sparse_result result, int maxmessages, int *sources, MPI_Count *counts, MPI_Aint *displs);

// Copies all messages of a sparse exchange into the caller's buffer, one behind the other, in order.
//
// - `maxcount`: elements of the receive type that the buffer has room for.
// - `recvbuf`: the buffer. What lies between the elements of a derived type is left alone.
//
// Local. Errors: `MPI_ERR_ARG`, and `MPI_ERR_TRUNCATE` where `maxcount` is less than `MPIX_Sparse_get_count` says; nothing is written then.
int MPIX_Sparse_copy(MPIX_Sparse_result result,
                     MPI_Count maxcount,
                     void *recvbuf);

// Frees what a sparse exchange brought. `result` becomes NULL; NULL is left alone.
//
// Local. Errors: `MPI_ERR_ARG` for a result that belongs to a plan.
int MPIX_Sparse_free(MPIX_Sparse_result *result);

// A sparse exchange whose targets and sizes stay while contents change. Runs the exchange once, which finds out who sends to whom; then each run costs
// the messages alone.
//
// - `sendbuf`: what it holds at `MPIX_Sparse_plan_start` is sent by the run. Arrays, datatypes and info may be freed at once.
// - `plan`: the plan; `MPIX_Sparse_plan_result` gives its result, which already holds the first run's messages. Where one process gets an error instead,
//   the plans of those that send to it must not be run.
//
// All else as for `MPIX_Sparse_exchange`.
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

// `MPIX_Sparse_plan_create` with large counts.
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

// Begins a run of a plan.
//
// Called by every process that sends or receives messages in the plan. Neither the send buffer nor the result may be touched until the run is complete.
// Errors: `MPI_ERR_ARG`, and `MPI_ERR_OTHER` where a run is under way already.
int MPIX_Sparse_plan_start(MPIX_Sparse_plan plan);

// Whether a run of a plan is complete: its messages are then in the plan's result. Never waits.
//
// - `flag`: 1 if it is complete, or there is none; else 0.
//
// Local. Errors: `MPI_ERR_ARG`, and what MPI reports.
int MPIX_Sparse_plan_test(MPIX_Sparse_plan plan, int *flag);

// Waits until a run of a plan is complete: its messages are then in the plan's result.
//
// Local. Errors: `MPI_ERR_ARG`, and what MPI reports.
int MPIX_Sparse_plan_wait(MPIX_Sparse_plan plan);

// The result of a plan: the same for all runs, whose messages replace one another in place. Freed with the plan.
//
// Local. Errors: `MPI_ERR_ARG`.
int MPIX_Sparse_plan_result(MPIX_Sparse_plan plan, MPIX_Sparse_result *result);

// Frees a plan and its result. `plan` becomes NULL; NULL is left alone.
//
// Local. Errors: `MPI_ERR_OTHER` where a run is under way (nothing is freed then).
int MPIX_Sparse_plan_free(MPIX_Sparse_plan *plan);

// A few lines for a person about the sparse exchanges on a communicator: which protocol served the
// last one and why, how processes wait, the hints in effect and where they come from.
//
// - `length`: characters that `string` has room for, the final null included. 0: nothing is written to `string`.
// - `string`: where the text is written, cut off if it is longer; each line ends with a line feed.
// - `resultlen`: length of the whole text, without the null.
//
// Collective over `comm` before the first exchange on it, which it then prepares; local afterwards. Errors: `MPI_ERR_ARG`.
int MPIX_Sparse_describe(MPI_Comm comm, int length, char *string, int *resultlen);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* MPIX_NEIGHBOR_H */
