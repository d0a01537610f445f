//! Sets, queries and frees neighborhoods.

use std::ffi::{c_char, c_int};

use super::args::{Results, intracommunicator};
use super::set_targets::with_sources;
use super::{args, boundary, hints};
use crate::collective::set::{self, SetCall};
use crate::collective::{Operation, handle};
use crate::error::{Argument, Class, Error, Result};
use crate::logging;
use crate::mpi::topology::{self, Topology};
use crate::mpi::{self, Communicator, MPI_Comm, MPI_Group, MPI_Info, comm};
use crate::select::hints::Hints;
use crate::topology::cartesian::Grid;
use crate::topology::neighborhood::{self, Neighbor, Neighborhood};
use crate::util::cast::to_int;

/// Operation: `MPIX_Neighbor_gather` and `MPIX_Neighbor_gatherv`.
pub const MPIX_NEIGHBOR_GATHER: c_int = 1;
/// Operation: `MPIX_Neighbor_alltoall`, `MPIX_Neighbor_alltoallv`, `MPIX_Neighbor_alltoallw` and
/// `MPIX_Neighbor_alltoallw_fields`.
pub const MPIX_NEIGHBOR_ALLTOALL: c_int = 2;
/// Operation: `MPIX_Neighbor_reduce` and `MPIX_Neighbor_reducev`.
pub const MPIX_NEIGHBOR_REDUCE: c_int = 4;
/// Operation: `MPIX_Neighbor_accumulate`, `MPIX_Neighbor_accumulatev` and
/// `MPIX_Neighbor_accumulatew`.
pub const MPIX_NEIGHBOR_ACCUMULATE: c_int = 8;

/// Sets a communicator's neighborhood for one or more operations, and builds the schedule that runs
/// them.
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
    unsafe { lists.set("MPIX_Neighborhood_set", ("operations", operations), info, comm) }
}

/// Sets a communicator's neighborhood for `MPIX_NEIGHBOR_GATHER` alone.
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
    unsafe { lists.set("MPIX_Neighbor_gather_set", ("operation", MPIX_NEIGHBOR_GATHER), info, comm) }
}

/// Sets a communicator's neighborhood for `MPIX_NEIGHBOR_ALLTOALL` alone.
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
    unsafe { lists.set("MPIX_Neighbor_alltoall_set", ("operation", MPIX_NEIGHBOR_ALLTOALL), info, comm) }
}

/// Sets a communicator's neighborhood for `MPIX_NEIGHBOR_REDUCE` alone.
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
    unsafe { lists.set("MPIX_Neighbor_reduce_set", ("operation", MPIX_NEIGHBOR_REDUCE), info, comm) }
}

/// Sets a communicator's neighborhood from process groups instead of lists of ranks.
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
        set("MPIX_Neighborhood_set_group", ("operations", operations), comm, info, |comm| {
            let sources = ranks_of("sourcegroup", sourcegroup, comm)?;
            let targets = ranks_of("targetgroup", targetgroup, comm)?;
            let lists = Lists {
                indegree: to_int(sources.len()),
                sources: sources.as_ptr(),
                sourceweights,
                outdegree: to_int(targets.len()),
                targets: targets.as_ptr(),
                targetweights,
            };
            lists.neighborhood(comm)
        })
    }
}

/// Sets a communicator's neighborhood to the neighbors in its virtual topology.
///
/// # Safety
/// As for any MPI function: handles must be valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighborhood_set_topology(operations: c_int, info: MPI_Info, comm: MPI_Comm) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe { set("MPIX_Neighborhood_set_topology", ("operations", operations), comm, info, topology_neighborhood) }
}

/// Sets a communicator's neighborhood from the targets alone: a sparse exchange finds the sources.
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
    unsafe {
        set("MPIX_Neighborhood_set_targets", ("operations", operations), comm, info, |comm| {
            with_sources(lists.neighborhood(comm), info, comm)
        })
    }
}

/// Sets a communicator's neighborhood to the edges of another operation, the other way round.
///
/// # Safety
/// As for any MPI function: handles must be valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighborhood_reverse(from: c_int, to: c_int, info: MPI_Info, comm: MPI_Comm) -> c_int {
    // SAFETY: the caller vouches for the arguments; the neighborhood found is not kept.
    unsafe {
        set("MPIX_Neighborhood_reverse", ("to", to), comm, info, |comm| {
            Ok(handle::lookup(comm, args::operation("from", from)?)?.reversed())
        })
    }
}

/// Returns the degrees of a communicator's neighborhood for an operation.
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        boundary::call("MPIX_Neighborhood_get_count", comm, |comm| {
            let n = handle::lookup(comm, args::operation("operation", operation)?)?.neighborhood();
            let into = Results::one("indegree", indegree)?;
            let out = Results::one("outdegree", outdegree)?;
            let with_weights = Results::one("weighted", weighted)?;
            into.write([to_int(n.sources().len())]);
            out.write([to_int(n.targets().len())]);
            with_weights.write([n.weighted().into()]);
            Ok(())
        })
    }
}

/// Returns the lists of a communicator's neighborhood for an operation, as they were given.
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        boundary::call("MPIX_Neighborhood_get", comm, |comm| {
            let n = handle::lookup(comm, args::operation("operation", operation)?)?.neighborhood();
            let room_in = args::length("maxindegree", maxindegree)?.min(n.sources().len());
            let room_out = args::length("maxoutdegree", maxoutdegree)?.min(n.targets().len());
            let into = (Results::array("sources", sources, room_in)?, weights("sourceweights", sourceweights, room_in)?);
            let out = (Results::array("targets", targets, room_out)?, weights("targetweights", targetweights, room_out)?);
            for ((ranks, weights), list) in [(into, n.sources()), (out, n.targets())] {
                ranks.write(list.iter().map(|n| n.rank.map_or(mpi::proc_null(), to_int)));
                weights.write(list.iter().map(|n| to_int(n.weight)));
            }
            Ok(())
        })
    }
}

/// Describes a communicator's neighborhood for an operation in a few lines of text.
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
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        boundary::call("MPIX_Neighborhood_describe", comm, |comm| {
            let bound = handle::lookup(comm, args::operation("operation", operation)?)?;
            args::text(&bound.describe(), length, string, resultlen)
        })
    }
}

/// Removes a communicator's neighborhoods for one or more operations.
///
/// # Safety
/// `comm` must be a communicator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Neighborhood_free(operations: c_int, comm: MPI_Comm) -> c_int {
    // SAFETY: the caller vouches for `comm`, and uses no neighborhood meanwhile.
    unsafe {
        boundary::call("MPIX_Neighborhood_free", comm, |comm| handle::free(comm, args::operations("operations", operations)))
    }
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
    /// Sets the neighborhood of these lists. `operations`: an argument, by name.
    unsafe fn set(&self, function: &str, operations: (&'static str, c_int), info: MPI_Info, comm: MPI_Comm) -> c_int {
        // SAFETY: the caller vouches for the arguments.
        unsafe { set(function, operations, comm, info, |comm| self.neighborhood(comm)) }
    }

    unsafe fn neighborhood(&self, comm: Communicator) -> Result<Neighborhood> {
        // SAFETY: the caller vouches for the arrays.
        unsafe {
            let list = |degree: c_int, names: [&'static str; 3], ranks, weights: *const c_int| {
                let degree = args::length(names[0], degree)?;
                let ranks = args::array(names[1], ranks, degree)?;
                let weights = match topology::is_unweighted(weights) {
                    true => None,
                    false if stand_for_none(weights) && degree > 0 => return Err(null_weights(names[2], degree)),
                    false => Some(args::array(names[2], weights, degree)?),
                };
                entries(ranks, weights, comm, (names[1], names[2]))
            };
            let (sources, a) = list(self.indegree, ["indegree", "sources", "sourceweights"], self.sources, self.sourceweights)?;
            let (targets, b) = list(self.outdegree, ["outdegree", "targets", "targetweights"], self.targets, self.targetweights)?;
            Ok(Neighborhood::new(comm.rank()?, sources, targets, a || b))
        }
    }
}

/// The entries of a list, and whether they have weights, which those of an empty list do not.
/// `names`: of the arrays of ranks and weights.
fn entries(
    ranks: &[c_int],
    weights: Option<&[c_int]>,
    comm: Communicator,
    names: (&'static str, &'static str),
) -> Result<(Vec<Neighbor>, bool)> {
    let list = neighborhood::entries(ranks, weights, mpi::proc_null(), comm.size()?, names)?;
    let weighted = weights.is_some() && !list.is_empty();
    Ok((list, weighted))
}

/// True for what is no array: NULL, and `MPI_WEIGHTS_EMPTY` where there are entries.
fn stand_for_none(weights: *const c_int) -> bool {
    weights.is_null() || topology::is_weights_empty(weights)
}

/// NULL does not stand for missing weights, unless it is the MPI's `MPI_UNWEIGHTED`.
fn null_weights(name: &'static str, length: usize) -> Box<Error> {
    Error::NullWeights { argument: Argument::new(name), length }.into()
}

/// An array for weights, empty if the caller does not want them.
unsafe fn weights(name: &'static str, pointer: *mut c_int, room: usize) -> Result<Results<c_int>> {
    let wanted = if topology::is_unweighted(pointer) { 0 } else { room };
    if stand_for_none(pointer) && wanted > 0 {
        return Err(null_weights(name, wanted));
    }
    // SAFETY: the caller vouches for the array.
    unsafe { Results::array(name, pointer, wanted) }
}

unsafe fn ranks_of(name: &'static str, group: MPI_Group, comm: Communicator) -> Result<Vec<c_int>> {
    let argument = Argument::new(name);
    if comm::is_null_group(group) {
        return Err(Error::NullHandle { argument, null: "MPI_GROUP_NULL", class: Class::Group }.into());
    }
    // SAFETY: the caller vouches for the group.
    let ranks = unsafe { comm::translate(group, comm) }?;
    ranks.into_iter().enumerate().map(|(index, r)| r.ok_or_else(|| Error::NotInCommunicator { argument, index }.into())).collect()
}

fn topology_neighborhood(comm: Communicator) -> Result<Neighborhood> {
    neighborhood_of(&topology::get(comm)?, comm)
}

/// The neighbors of the caller in a topology, which a communicator of these processes has.
pub(super) fn neighborhood_of(topology: &Topology, comm: Communicator) -> Result<Neighborhood> {
    let rank = comm.rank()?;
    let list = |ranks: &[c_int], weights: Option<&Vec<c_int>>| {
        entries(ranks, weights.map(Vec::as_slice), comm, ("neighbors", "weights"))
    };
    match topology {
        Topology::None => Err(Error::NoTopology.into()),
        Topology::Cartesian(dims, periodic) => Ok(Grid::new(dims.clone(), periodic.clone()).neighborhood(rank)),
        Topology::Graph(neighbors) => {
            let (both, weighted) = list(neighbors, None)?;
            Ok(Neighborhood::new(rank, both.clone(), both, weighted))
        }
        Topology::DistGraph { sources, targets, weights } => {
            let (from, to) = (weights.as_ref().map(|both| &both.0), weights.as_ref().map(|both| &both.1));
            let ((sources, a), (targets, b)) = (list(sources, from)?, list(targets, to)?);
            Ok(Neighborhood::new(rank, sources, targets, a || b))
        }
    }
}

/// Sets neighborhoods: the common part of all set functions. `operations`: an argument, by name.
unsafe fn set(
    function: &str,
    operations: (&'static str, c_int),
    comm: MPI_Comm,
    info: MPI_Info,
    neighborhood: impl FnOnce(Communicator) -> Result<Neighborhood>,
) -> c_int {
    // SAFETY: the caller vouches for the handles.
    unsafe {
        set_with(function, operations, comm, neighborhood, |comm| {
            logging::unknown_keys(info, comm);
            hints::of_set_call(info, comm)
        })
    }
}

/// The same, with the hints that `hints` returns.
pub(super) unsafe fn set_with(
    function: &str,
    operations: (&'static str, c_int),
    comm: MPI_Comm,
    neighborhood: impl FnOnce(Communicator) -> Result<Neighborhood>,
    hints: impl FnOnce(Communicator) -> Result<Hints>,
) -> c_int {
    // SAFETY: the caller vouches for the handles; no neighborhood is in use during a set call.
    unsafe {
        boundary::call(function, comm, |comm| {
            intracommunicator(comm)?;
            logging::start();
            // it may be collective, so it comes before anything else can fail
            let (neighborhood, hints) = (neighborhood(comm), hints(comm));
            let request = (|| {
                Ok(SetCall {
                    operations: args::operations(operations.0, operations.1)?,
                    argument: operations.0,
                    neighborhood: neighborhood?,
                    hints: hints?,
                })
            })();
            set::set(comm, request)?;
            for operation in Operation::of(operations.1) {
                let set = handle::lookup(comm, operation)?;
                logging::made(comm, || set.describe());
            }
            Ok(())
        })
    }
}

const _: () = {
    // the constants of the C header are the bits of the operations
    assert!(MPIX_NEIGHBOR_GATHER == 1 << Operation::Gather as c_int);
    assert!(MPIX_NEIGHBOR_ALLTOALL == 1 << Operation::Alltoall as c_int);
    assert!(MPIX_NEIGHBOR_REDUCE == 1 << Operation::Reduce as c_int);
    assert!(MPIX_NEIGHBOR_ACCUMULATE == 1 << Operation::Accumulate as c_int);
};
