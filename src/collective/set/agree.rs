//! Agreement between processes when a neighborhood is set: on the arguments, the lists and the
//! directions of edges.

use crate::error::{Error, Result};
use crate::mpi::coll::{self, Reduction};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::device;
use crate::select::hints::Hints;
use crate::topology::cartesian::Grid;
use crate::topology::neighborhood::{self, Neighborhood};
use crate::util::cast::to_u32;

/// One process's arguments of a set call.
pub struct SetCall {
    /// Its lists.
    pub neighborhood: Neighborhood,
    /// Its hints.
    pub hints: Hints,
    /// The operations, as a set of bits.
    pub operations: i32,
}

/// Lets all processes know whether all arguments are in order and equal where they must be.
pub fn agree(comm: &Comm, request: Result<SetCall>) -> Result<SetCall> {
    let me = comm.rank()?;
    let (operations, hints) = match &request {
        Ok(r) => (i64::from(r.operations), r.hints.agreed()),
        Err(_) => (0, 0),
    };
    let failed = if request.is_err() { i64::from(me) } else { i64::MAX };
    let devices = i64::from(device::is_in_use());
    let lowest = coll::allreduce(comm, [failed, operations, -operations, hints, -hints, -devices], Reduction::Min)?;
    if lowest[0] != i64::MAX {
        let root = to_u32(lowest[0]);
        let remote = coll::share_error(comm, request.as_ref().err().map(|e| &**e), root, me)?;
        return Err(request.err().unwrap_or(remote.into()));
    }
    if lowest[1] != -lowest[2] {
        return Err(Error::Disagreement { what: "operations" }.into());
    }
    if lowest[3] != -lowest[4] {
        return Err(Error::Disagreement { what: Hints::AGREED }.into());
    }
    request.map(|request| SetCall { hints: Hints { devices: lowest[5] < 0, ..request.hints }, ..request })
}

/// Returns an error on all processes if a source or target entry has no counterpart at the other
/// end. Collective: one reduction; where the lists do not match, one exchange of O(P) words more.
pub fn match_lists(comm: &Comm, neighborhood: &Neighborhood) -> Result<()> {
    if coll::allreduce(comm, neighborhood.fingerprint(), Reduction::Sum)? == [0, 0] {
        return Ok(());
    }
    let size = comm.size()?;
    let mut listed = vec![0u32; size as usize];
    for (rank, times) in Neighborhood::multiplicities(neighborhood.targets()) {
        listed[rank as usize] = times;
    }
    let listed_by = coll::alltoall(comm, &listed)?;
    let mismatch = neighborhood::first_mismatch(neighborhood, &listed_by);
    let me = neighborhood.rank();
    let found = if mismatch.is_some() { i64::from(me) } else { i64::MAX };
    let [root] = coll::allreduce(comm, [found], Reduction::Min)?;
    let Ok(root) = u32::try_from(root) else {
        return Err(Error::Internal("lists match, but their fingerprints do not".into()).into());
    };
    // the receiver with the lowest rank speaks for all
    let remote = coll::share_error(comm, mismatch.as_ref(), root, me)?;
    let error = match (remote, mismatch) {
        (_, Some(own)) if root == me => own,
        (Error::Remote { text, .. }, _) => Error::Lists { text },
        (other, _) => other,
    };
    Err(error.into())
}

/// Labels the edges with directions if all edges on all processes have one, and orders the
/// directions by weight, heaviest first.
///
/// Collective over a Cartesian communicator; does nothing on others.
pub fn find_directions(comm: &Comm, n: Neighborhood, grid: Option<&Grid>) -> Result<(Neighborhood, Option<Vec<u32>>)> {
    let Some(grid) = grid else {
        return Ok((n, None));
    };
    let known = n.has_directions();
    let labelled = if known { Some(n.clone()) } else { grid.with_directions(&n) };
    let weights = labelled.as_ref().map(|l| l.direction_weights(grid.dimensions()));
    // one word more: 1 if this process has no directions
    let mut mine = vec![-1i64; 2 * grid.dimensions()];
    mine.push(i64::from(labelled.is_none()));
    for (mine, weight) in mine.iter_mut().zip(weights.into_iter().flatten()) {
        *mine = weight.map_or(-1, i64::from);
    }
    let mut heaviest = vec![0i64; mine.len()];
    coll::allreduce_slice(comm, &mine, &mut heaviest, Reduction::Max)?;
    let missing = heaviest.pop() != Some(0);
    match labelled {
        Some(labelled) if !missing => {
            let mut order: Vec<u32> = (0..to_u32(heaviest.len())).filter(|&d| heaviest[d as usize] >= 0).collect();
            order.sort_by_key(|&d| std::cmp::Reverse(heaviest[d as usize]));
            Ok((labelled, Some(order)))
        }
        _ => Ok((n, None)),
    }
}
