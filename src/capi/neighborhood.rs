//! Setting, asking and freeing neighborhoods.

use std::ffi::{c_char, c_int};

use super::args::Results;
use super::sparse::sparse_hints;
use super::{args, boundary};
use crate::collective::set::{self, SetCall};
use crate::collective::{Operation, handle};
use crate::error::{Argument, Class, Error, Result};
use crate::logging;
use crate::mpi::message::bytes_at;
use crate::mpi::topology::{self, Topology};
use crate::mpi::{self, MPI_Comm, MPI_Group, MPI_Info, comm};
use crate::sparse::mailbox::{Outgoing, Sends};
use crate::sparse::{self, Exchange, Form};
use crate::topology::cartesian::Grid;
use crate::topology::neighborhood::{self, Neighbor, Neighborhood};

/// The neighborhood is for `MPIX_Neighbor_gather` and `gatherv`.
pub const MPIX_NEIGHBOR_GATHER: c_int = 1;
/// The neighborhood is for `MPIX_Neighbor_alltoall`, `alltoallv` and `alltoallw`.
pub const MPIX_NEIGHBOR_ALLTOALL: c_int = 2;
/// The neighborhood is for `MPIX_Neighbor_reduce` and `reducev`.
pub const MPIX_NEIGHBOR_REDUCE: c_int = 4;

/// Gives a communicator a neighborhood for some of the sparse collective operations, and builds the schedule that will run them.
///
/// - `operations`: for which operations: `MPIX_NEIGHBOR_GATHER | MPIX_NEIGHBOR_ALLTOALL | MPIX_NEIGHBOR_REDUCE`, any combination, the same on all
///   processes. A neighborhood that an operation had before is replaced.
/// - `indegree, sources, sourceweights`: the processes that send to the caller; `indegree` entries each.
/// - `outdegree, targets, targetweights`: the processes that the caller sends to; `outdegree` entries each. Ranks of `comm`, in the order of the
///   blocks in the buffers of later calls. They may repeat, be the caller's, or be `MPI_PROC_NULL`; degrees may be 0 (then arrays are not
///   looked at) and larger than the communicator. A process that lists another one as target must be listed there as source as often. Repeated edges
///   match k-th to k-th.
///   On a Cartesian communicator, where all neighbors of all processes are one step away, each edge has the direction of that step, so that
///   `dimension_order` can be used.
/// - weights: about how much travels on each edge, in any unit, not negative; `MPI_UNWEIGHTED` for all equal. A hint: wrong weights cost
///   time, never correctness.
/// - `info`: hints, or `MPI_INFO_NULL`; may be freed afterwards. docs/tuning.md tells what each does.
///   `mpix_schedule` = `auto` (default), `measure`, `direct`, `dimension_order`, `linear_permutation`, `random_rounds`, `edge_coloring`,
///   `distributed_coloring`, `scatter_binomial`, `scatter_optimal`, `combining`, `node_aware`; `mpix_split` = `true` (default), `false`: whether messages may be cut; `mpix_weight_unit`: bytes that a weight of 1 stands
///   for (default 1); `mpix_loggp`: the machine's parameters, a preset or a file (default: those that `MPIX_Loggp_get` gives); `mpix_seed`, `mpix_duplex`, `mpix_round_window`, `mpix_graph_limit`;
///   `mpix_reduce_order` = `source` (default), `any`; `mpix_fuse` = `auto` (default), `true`, `false`: for several fields; `mpix_shared_memory`: most bytes of shared memory for the messages to one process of the node (default 10 MiB;
///   below 64 KiB none); `mpix_single_copy` = `true` (default), `false`; `mpix_verify` = `false` (default), `true`; `mpix_whole_communicator` = `false` (default), `true`:
///   the promise that all processes of `comm` make every call, and that none waits for the return of another one's call before it makes its own.
///   Without it no process passes on blocks of others but of its own neighbors; the `scatter_` schedules do, for `MPIX_NEIGHBOR_ALLTOALL` alone, where one process sends to
///   others, to each once, and nobody else sends. `combining`, for `MPIX_NEIGHBOR_GATHER` and `MPIX_NEIGHBOR_ALLTOALL` on a Cartesian communicator on
///   which all processes have neighbors at the same offsets, needs the promise only where blocks pass through processes that are not neighbors of their source.
///   `node_aware`, for the same operations, always needs it; `mpix_nodes`: as if each so many processes, or those with equal numbers in a list of a
///   number for each process, shared a node (default: the real nodes). Environment variables of the same names in capitals
///   (but `MPIX_NEIGHBOR_VERIFY`) override them. All but `mpix_round_window` and `mpix_reduce_order` must be the same on all processes. Unknown
///   keys are ignored (with `MPIX_NEIGHBOR_LOG=warn` those that begin with `mpix_` are named on
///   standard error), unknown values are errors.
/// - `comm`: an intracommunicator. Duplicates of it do not inherit its neighborhoods.
///
/// Collective over `comm`. Errors in the arguments of one process, and lists that do not match, are reported on all; nothing is changed
/// then. Errors: `MPI_ERR_RANK`, `MPI_ERR_ARG`, `MPI_ERR_INFO_VALUE`, `MPI_ERR_COMM`, and the class `MPIX_ERR_MISMATCH`.
/// Cost: five reductions of a few words, three more where `combining` can be chosen; the first time on a communicator a duplicate of it and a split by nodes. Memory: O(degree).
/// `random_rounds` and `edge_coloring`, and `auto` where weights say that messages are long, gather the graph of all processes on process 0: 8 bytes
/// an edge and 12 a process there, freed before the function returns; docs/tuning.md tells the time. With `mpix_schedule` = `measure` the first ten
/// calls for each algorithm are collective over `comm`: all processes must make them.
/// Source: Hoefler and Träff, Sparse Collective Operations for MPI, Listing 8.
///
/// # Safety
/// As for any MPI function: handles must be valid and arrays as long as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighborhood_set(
    operations: c_int,
    indegree: c_int,
    sources: *const c_int,
    sourceweights: *const c_int,
    outdegree: c_int,
    targets: *const c_int,
    targetweights: *const c_int,
    info: MPI_Info,
    comm: MPI_Comm,
) -> c_int {
    let lists = Lists { indegree, sources, sourceweights, outdegree, targets, targetweights };
    // SAFETY: the caller vouches for the arguments.
    unsafe { set("MPIX_Neighborhood_set", operations, comm, info, || lists.neighborhood(comm)) }
}

/// `MPIX_Neighborhood_set` for `MPIX_NEIGHBOR_GATHER`. Source: the same paper, Listing 7.
///
/// # Safety
/// As for any MPI function: handles must be valid and arrays as long as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_gather_set(
    indegree: c_int,
    sources: *const c_int,
    sourceweights: *const c_int,
    outdegree: c_int,
    targets: *const c_int,
    targetweights: *const c_int,
    info: MPI_Info,
    comm: MPI_Comm,
) -> c_int {
    let lists = Lists { indegree, sources, sourceweights, outdegree, targets, targetweights };
    // SAFETY: the caller vouches for the arguments.
    unsafe { set("MPIX_Neighbor_gather_set", MPIX_NEIGHBOR_GATHER, comm, info, || lists.neighborhood(comm)) }
}

/// `MPIX_Neighborhood_set` for `MPIX_NEIGHBOR_ALLTOALL`. Source: the same paper, Listing 7.
///
/// # Safety
/// As for any MPI function: handles must be valid and arrays as long as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_alltoall_set(
    indegree: c_int,
    sources: *const c_int,
    sourceweights: *const c_int,
    outdegree: c_int,
    targets: *const c_int,
    targetweights: *const c_int,
    info: MPI_Info,
    comm: MPI_Comm,
) -> c_int {
    let lists = Lists { indegree, sources, sourceweights, outdegree, targets, targetweights };
    // SAFETY: the caller vouches for the arguments.
    unsafe { set("MPIX_Neighbor_alltoall_set", MPIX_NEIGHBOR_ALLTOALL, comm, info, || lists.neighborhood(comm)) }
}

/// `MPIX_Neighborhood_set` for `MPIX_NEIGHBOR_REDUCE`. Source: the same paper, Listing 7.
///
/// # Safety
/// As for any MPI function: handles must be valid and arrays as long as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighbor_reduce_set(
    indegree: c_int,
    sources: *const c_int,
    sourceweights: *const c_int,
    outdegree: c_int,
    targets: *const c_int,
    targetweights: *const c_int,
    info: MPI_Info,
    comm: MPI_Comm,
) -> c_int {
    let lists = Lists { indegree, sources, sourceweights, outdegree, targets, targetweights };
    // SAFETY: the caller vouches for the arguments.
    unsafe { set("MPIX_Neighbor_reduce_set", MPIX_NEIGHBOR_REDUCE, comm, info, || lists.neighborhood(comm)) }
}

/// `MPIX_Neighborhood_set` with process groups instead of lists of ranks: the sources and targets are the processes of the groups, in the
/// groups' order. A group holds no process twice and no `MPI_PROC_NULL`.
///
/// - `sourcegroup`, `targetgroup`: groups of processes of `comm`; may be `MPI_GROUP_EMPTY`, and may be freed afterwards.
/// - `sourceweights`, `targetweights`: as many entries as the groups have processes, or `MPI_UNWEIGHTED`.
///
/// All else as for `MPIX_Neighborhood_set`; also `MPI_ERR_GROUP` where a process is not in `comm`. Source: the same paper, section IV.A.
///
/// # Safety
/// As for any MPI function: handles must be valid and arrays as long as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighborhood_set_group(
    operations: c_int,
    sourcegroup: MPI_Group,
    sourceweights: *const c_int,
    targetgroup: MPI_Group,
    targetweights: *const c_int,
    info: MPI_Info,
    comm: MPI_Comm,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        set("MPIX_Neighborhood_set_group", operations, comm, info, || {
            let sources = ranks_of("sourcegroup", sourcegroup, comm)?;
            let targets = ranks_of("targetgroup", targetgroup, comm)?;
            let lists = Lists {
                indegree: sources.len() as c_int,
                sources: sources.as_ptr(),
                sourceweights,
                outdegree: targets.len() as c_int,
                targets: targets.as_ptr(),
                targetweights,
            };
            lists.neighborhood(comm)
        })
    }
}

/// `MPIX_Neighborhood_set` with the neighbors that the communicator's virtual topology has, in the order in which
/// `MPI_Neighbor_alltoall` takes them: Cartesian (per dimension first the lower, then the higher neighbor), graph, or distributed graph with
/// its weights.
///
/// On Cartesian communicators the block sent toward +d arrives in the receiver's -d slot, also where a periodic dimension has size 1
/// or 2 and both neighbors are the same process.
///
/// All else as for `MPIX_Neighborhood_set`; also `MPI_ERR_TOPOLOGY` where there is no topology. Source: the same paper, section IV.B.
///
/// # Safety
/// As for any MPI function: handles must be valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighborhood_set_topology(operations: c_int, info: MPI_Info, comm: MPI_Comm) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe { set("MPIX_Neighborhood_set_topology", operations, comm, info, || topology_neighborhood(comm)) }
}

/// `MPIX_Neighborhood_set` where a process knows whom it sends to, but not who will send to it: a sparse exchange finds the sources.
///
/// - `outdegree, targets, targetweights`: as for `MPIX_Neighborhood_set`. Where a target is `MPI_PROC_NULL` there is no source.
/// - The sources are ordered by rank, those of one rank as they stand in that process's list, and have the weights that the other end gives.
///   `MPIX_Neighborhood_get_count` and `MPIX_Neighborhood_get` tell them.
/// - `info`: also the hints of `MPIX_Sparse_exchange`.
///
/// All else as for `MPIX_Neighborhood_set`. Cost beyond it: a sparse exchange of 8 bytes for each target, with the memory that its protocol needs (docs/sparse.md;
/// `nbx` none that grows with the number of processes). Source: Hoefler, Siebert, Lumsdaine, Scalable Communication Protocols for Dynamic Sparse Data Exchange.
///
/// # Safety
/// As for any MPI function: handles must be valid and arrays as long as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighborhood_set_targets(
    operations: c_int,
    outdegree: c_int,
    targets: *const c_int,
    targetweights: *const c_int,
    info: MPI_Info,
    comm: MPI_Comm,
) -> c_int {
    let unweighted = topology::unweighted();
    let lists = Lists { indegree: 0, sources: std::ptr::null(), sourceweights: unweighted, outdegree, targets, targetweights };
    // SAFETY: the caller vouches for the arguments.
    unsafe { set("MPIX_Neighborhood_set_targets", operations, comm, info, || with_sources(lists.neighborhood(comm), info, comm)) }
}

/// A neighborhood of which only the targets are known, and its sources as a sparse exchange finds them. Collective, also for a process whose
/// arguments are in error.
unsafe fn with_sources(known: Result<Neighborhood>, info: MPI_Info, comm: MPI_Comm) -> Result<Neighborhood> {
    /// Weight of an edge, and whether weights were given.
    type Edge = [u32; 2];
    let targets = known.as_ref().map_or(&[][..], |n| n.targets());
    let weighted = known.as_ref().is_ok_and(Neighborhood::weighted);
    let edges: Vec<Edge> = targets.iter().map(|t| [t.weight, weighted.into()]).collect();
    let bytes = size_of::<Edge>() as u64;
    let send = |(t, edge): (&Neighbor, &Edge)| {
        t.rank.map(|target| Outgoing { target, block: bytes_at((&raw const *edge).cast(), bytes), bytes, device: false })
    };
    let sends = Sends { list: targets.iter().zip(&edges).filter_map(send).collect(), dense: true };
    // SAFETY: the caller vouches for the handles; the edges outlive the exchange.
    let arrived = unsafe {
        let shared = sparse::wires(comm)?;
        let (hints, understood) = sparse_hints(info);
        let mut exchange = Exchange::start(&shared, hints.as_ref(), sends, Form::Blocking)?;
        exchange.wait()?;
        understood?;
        exchange.take()
    };
    let known = known?;
    let mut any = weighted;
    let mut sources = Vec::with_capacity(arrived.messages.len());
    for m in &arrived.messages {
        if m.bytes != bytes {
            return Err(Error::Internal(format!("process {} is in another sparse exchange", m.source)).into());
        }
        // SAFETY: as many bytes as an edge have come; messages in the inbox are aligned for it.
        let [weight, weighted] = unsafe { m.at.cast::<Edge>().read() };
        any |= weighted != 0;
        sources.push(Neighbor { rank: Some(m.source), weight, direction: 0 });
    }
    Ok(Neighborhood::new(known.rank(), sources, known.targets().to_vec(), any))
}

/// Degrees of the neighborhood that a communicator has for an operation.
///
/// - `operation`: one of `MPIX_NEIGHBOR_GATHER`, `MPIX_NEIGHBOR_ALLTOALL`, `MPIX_NEIGHBOR_REDUCE`.
/// - `indegree, outdegree`: entries of the caller's source and target lists.
/// - `weighted`: 1 if weights were given, else 0.
///
/// Local. Errors: `MPI_ERR_TOPOLOGY` (no neighborhood), `MPI_ERR_ARG`.
///
/// # Safety
/// `comm` must be a communicator, the results writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighborhood_get_count(
    operation: c_int,
    comm: MPI_Comm,
    indegree: *mut c_int,
    outdegree: *mut c_int,
    weighted: *mut c_int,
) -> c_int {
    boundary::call("MPIX_Neighborhood_get_count", comm, || {
        // SAFETY: the caller vouches for the arguments.
        unsafe {
            let n = handle::lookup(comm, args::operation(operation)?)?.neighborhood();
            let into = Results::one("indegree", indegree)?;
            let out = Results::one("outdegree", outdegree)?;
            let with_weights = Results::one("weighted", weighted)?;
            into.write([n.sources().len() as c_int]);
            out.write([n.targets().len() as c_int]);
            with_weights.write([n.weighted().into()]);
        }
        Ok(())
    })
}

/// Lists of the neighborhood that a communicator has for an operation, as they were given.
///
/// - `operation`: one of `MPIX_NEIGHBOR_GATHER`, `MPIX_NEIGHBOR_ALLTOALL`, `MPIX_NEIGHBOR_REDUCE`.
/// - `maxindegree, maxoutdegree`: entries that the arrays have room for; as many are written at the most. 0 where a side is not wanted.
/// - `sources, targets`: ranks, or `MPI_PROC_NULL`.
/// - `sourceweights, targetweights`: weights, 1 where there are none; `MPI_UNWEIGHTED` if they are not wanted.
///
/// Local. Errors: `MPI_ERR_TOPOLOGY` (no neighborhood), `MPI_ERR_ARG`.
///
/// # Safety
/// `comm` must be a communicator, the arrays writable for as many entries as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighborhood_get(
    operation: c_int,
    comm: MPI_Comm,
    maxindegree: c_int,
    sources: *mut c_int,
    sourceweights: *mut c_int,
    maxoutdegree: c_int,
    targets: *mut c_int,
    targetweights: *mut c_int,
) -> c_int {
    boundary::call("MPIX_Neighborhood_get", comm, || {
        // SAFETY: the caller vouches for the arguments.
        unsafe {
            let n = handle::lookup(comm, args::operation(operation)?)?.neighborhood();
            let room_in = args::length("maxindegree", maxindegree)?.min(n.sources().len());
            let room_out = args::length("maxoutdegree", maxoutdegree)?.min(n.targets().len());
            let into = (Results::array("sources", sources, room_in)?, weights("sourceweights", sourceweights, room_in)?);
            let out = (Results::array("targets", targets, room_out)?, weights("targetweights", targetweights, room_out)?);
            for ((ranks, weights), list) in [(into, n.sources()), (out, n.targets())] {
                ranks.write(list.iter().map(|n| n.rank.map_or(mpi::proc_null(), |r| r as c_int)));
                weights.write(list.iter().map(|n| n.weight as c_int));
            }
        }
        Ok(())
    })
}

/// A few lines for a person about the neighborhood that a communicator has for an operation: the caller's degrees, which schedule runs it and
/// why, its rounds and messages, how processes wait, the hints in effect and where they come from.
///
/// - `operation`: one of `MPIX_NEIGHBOR_GATHER`, `MPIX_NEIGHBOR_ALLTOALL`, `MPIX_NEIGHBOR_REDUCE`.
/// - `length`: characters that `string` has room for, the final null included. 0: nothing is written to `string`.
/// - `string`: where the text is written, cut off if it is longer; each line ends with a line feed.
/// - `resultlen`: length of the whole text, without the null.
///
/// Local. Errors: `MPI_ERR_TOPOLOGY` (no neighborhood), `MPI_ERR_ARG`.
///
/// # Safety
/// `comm` must be a communicator, `string` writable for `length` characters, `resultlen` writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighborhood_describe(
    operation: c_int,
    comm: MPI_Comm,
    length: c_int,
    string: *mut c_char,
    resultlen: *mut c_int,
) -> c_int {
    boundary::call("MPIX_Neighborhood_describe", comm, || {
        // SAFETY: the caller vouches for the arguments.
        unsafe {
            let slot = handle::lookup(comm, args::operation(operation)?)?;
            args::text(&slot.describe(), length, string, resultlen)
        }
    })
}

/// Removes the neighborhoods that a communicator has for some operations. Not needed before `MPI_Comm_free`, which removes them too.
///
/// - `operations`: which: `MPIX_NEIGHBOR_GATHER | MPIX_NEIGHBOR_ALLTOALL | MPIX_NEIGHBOR_REDUCE`, any combination, the same on all processes.
///
/// Collective over `comm`. Errors: `MPI_ERR_TOPOLOGY` where one of them has no neighborhood (then none is removed), `MPI_ERR_ARG`.
///
/// # Safety
/// `comm` must be a communicator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighborhood_free(operations: c_int, comm: MPI_Comm) -> c_int {
    boundary::call("MPIX_Neighborhood_free", comm, || {
        // SAFETY: the caller vouches for `comm`.
        unsafe { handle::free(comm, args::operations(operations)?) }
    })
}

/// The list arguments of a set call.
struct Lists {
    indegree: c_int,
    sources: *const c_int,
    sourceweights: *const c_int,
    outdegree: c_int,
    targets: *const c_int,
    targetweights: *const c_int,
}

impl Lists {
    unsafe fn neighborhood(&self, comm: MPI_Comm) -> Result<Neighborhood> {
        // SAFETY: the caller vouches for the arrays and `comm`.
        unsafe {
            let size = comm::size(comm)?;
            let list = |degree: c_int, names: [&'static str; 3], ranks, weights: *const c_int| {
                let degree = args::length(names[0], degree)?;
                let ranks = args::array(names[1], ranks, degree)?;
                let weights = match topology::is_unweighted(weights) {
                    true => None,
                    false if weights.is_null() && degree > 0 => return Err(null_weights(names[2], degree)),
                    false => Some(args::array(names[2], weights, degree)?),
                };
                let slots: Vec<Neighbor> = neighborhood::slots(ranks, weights, mpi::proc_null(), size, (names[1], names[2]))?;
                Result::Ok((slots, weights.is_some() && degree > 0))
            };
            let (sources, a) = list(self.indegree, ["indegree", "sources", "sourceweights"], self.sources, self.sourceweights)?;
            let (targets, b) = list(self.outdegree, ["outdegree", "targets", "targetweights"], self.targets, self.targetweights)?;
            Ok(Neighborhood::new(comm::rank(comm)?, sources, targets, a || b))
        }
    }
}

/// NULL is not what says that there are no weights, unless the MPI has it so.
fn null_weights(name: &'static str, length: usize) -> Box<Error> {
    Error::NullWeights { argument: Argument::new(name), length }.into()
}

/// Where weights are to be written; no entries if they are not wanted.
unsafe fn weights(name: &'static str, pointer: *mut c_int, room: usize) -> Result<Results<c_int>> {
    let wanted = if topology::is_unweighted(pointer) { 0 } else { room };
    if pointer.is_null() && wanted > 0 {
        return Err(null_weights(name, wanted));
    }
    // SAFETY: the caller vouches for the array.
    unsafe { Results::array(name, pointer, wanted) }
}

unsafe fn ranks_of(name: &'static str, group: MPI_Group, comm: MPI_Comm) -> Result<Vec<c_int>> {
    let argument = Argument::new(name);
    if comm::is_null_group(group) {
        return Err(Error::NullHandle { argument, null: "MPI_GROUP_NULL", class: Class::Group }.into());
    }
    // SAFETY: the caller vouches for the handles.
    let ranks = unsafe { comm::translate(group, comm) }?;
    ranks.into_iter().enumerate().map(|(index, r)| r.ok_or_else(|| Error::NotInCommunicator { argument, index }.into())).collect()
}

unsafe fn topology_neighborhood(comm: MPI_Comm) -> Result<Neighborhood> {
    // SAFETY: the caller vouches for `comm`.
    let (rank, size, topology) = unsafe { (comm::rank(comm)?, comm::size(comm)?, topology::get(comm)?) };
    let list = |ranks: &[c_int], weights: Option<&[c_int]>| {
        neighborhood::slots(ranks, weights, mpi::proc_null(), size, ("neighbors", "weights"))
    };
    match topology {
        Topology::None => Err(Error::NoTopology.into()),
        Topology::Cartesian(dims, periodic) => Ok(Grid::new(dims, periodic).neighborhood(rank)),
        Topology::Graph(neighbors) => {
            let both = list(&neighbors, None)?;
            Ok(Neighborhood::new(rank, both.clone(), both, false))
        }
        Topology::DistGraph { sources, targets, weights } => {
            let weighted = weights.is_some();
            let (from, to) = weights.unzip();
            let (sources, targets) = (list(&sources, from.as_deref())?, list(&targets, to.as_deref())?);
            Ok(Neighborhood::new(rank, sources, targets, weighted))
        }
    }
}

/// The common part of all set functions.
unsafe fn set(
    function: &str,
    operations: c_int,
    comm: MPI_Comm,
    info: MPI_Info,
    neighborhood: impl FnOnce() -> Result<Neighborhood>,
) -> c_int {
    boundary::call(function, comm, || {
        // SAFETY: the caller vouches for `comm`.
        if unsafe { comm::is_inter(comm) }? {
            return Err(Error::Intercommunicator.into());
        }
        logging::start();
        // SAFETY: the caller vouches for the handles.
        unsafe { logging::unknown_keys(info, comm) };
        // what finds the sources is collective: before anything else can be in error
        let neighborhood = neighborhood();
        let request = (|| {
            Ok(SetCall {
                operations: args::operations(operations)?,
                neighborhood: neighborhood?,
                // SAFETY: the caller vouches for the handles.
                hints: unsafe { super::loggp::hints(info, comm) }?,
            })
        })();
        // SAFETY: as above.
        unsafe {
            set::set(comm, request)?;
            for operation in Operation::ALL.into_iter().filter(|operation| operations & operation.bit() != 0) {
                let set = handle::lookup(comm, operation)?;
                logging::made(comm, || set.describe());
            }
        }
        Ok(())
    })
}

const _: () = {
    // the constants of the C header are the bits that the handle uses
    assert!(MPIX_NEIGHBOR_GATHER == 1 << Operation::Gather as c_int);
    assert!(MPIX_NEIGHBOR_ALLTOALL == 1 << Operation::Alltoall as c_int);
    assert!(MPIX_NEIGHBOR_REDUCE == 1 << Operation::Reduce as c_int);
};
