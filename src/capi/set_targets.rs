//! Finds the sources of a neighborhood by a sparse exchange.

use std::ffi::c_int;
use std::sync::Arc;

use super::args;
use super::hints::sparse_hints;
use crate::error::{Error, Result};
use crate::mpi::coll::{self, Reduction};
use crate::mpi::message::{bytes_at, lend};
use crate::mpi::{Communicator, MPI_Info};
use crate::select::hints::SparseHints;
use crate::sparse::messages::{Outgoing, Sends};
use crate::sparse::{self, Exchange, Form, SharedContext};
use crate::topology::neighborhood::{Neighbor, Neighborhood};

/// Finds the sources of a neighborhood whose targets are known, by a sparse exchange. Collective,
/// also for a process whose arguments are in error.
///
/// # Safety
/// `info` must be an info object or `MPI_INFO_NULL`.
pub unsafe fn with_sources(known: Result<Neighborhood>, info: MPI_Info, comm: Communicator) -> Result<Neighborhood> {
    /// Weight of an edge, and 1 if weights were given.
    type Edge = [u32; 2];
    let targets = known.as_ref().map_or(&[][..], |n| n.targets());
    let weighted = known.as_ref().is_ok_and(Neighborhood::weighted);
    let edges: Vec<Edge> = targets.iter().map(|t| [t.weight, weighted.into()]).collect();
    let bytes = size_of::<Edge>() as u64;
    let send = |(t, edge): (&Neighbor, &Edge)| {
        t.rank.map(|target| Outgoing { target, block: bytes_at((&raw const *edge).cast(), bytes), bytes, device: false })
    };
    let sends = Sends { list: targets.iter().zip(&edges).filter_map(send).collect(), dense: true, marks: 0 };
    let shared = sparse::context(comm)?;
    // SAFETY: the caller vouches for the handle.
    let (hints, understood) = unsafe { sparse_hints(info) };
    agree_on_hints(&shared, hints.as_ref(), understood)?;
    let (_, arrived) = lend(edges, |_| {
        // SAFETY: the edges outlive the exchange.
        let started = unsafe { Exchange::start(&shared, hints.as_ref(), sends, Form::Blocking) };
        let mut exchange = started.inspect_err(|_| {
            // what comes next is no exchange, and the others would wait for this process
            Exchange::join(&shared, hints.as_ref());
        })?;
        match exchange.wait() {
            // a lost message: MPI is done with the others
            Err(loss) if exchange.has_ended() => Ok(Err(loss)),
            waited => waited.map(|()| Ok(exchange.take())),
        }
    })?;
    let arrived = arrived?;
    let known = known?;
    // as that of every other list, its length is an int
    args::int("indegree", arrived.messages.len())?;
    let mut any = weighted;
    let mut sources = Vec::with_capacity(arrived.messages.len());
    for m in &arrived.messages {
        let other = || Error::Internal(format!("process {} is in another sparse exchange", m.source));
        if m.bytes != bytes {
            return Err(other().into());
        }
        // SAFETY: the message is as long as an edge.
        let [weight, weighted] = unsafe { m.at.cast::<Edge>().read_unaligned() };
        // weights are those of a caller, which are ints
        c_int::try_from(weight).map_err(|_| other())?;
        any |= weighted != 0;
        sources.push(Neighbor { rank: Some(m.source), weight, direction: 0 });
    }
    Ok(Neighborhood::new(known.rank(), sources, known.targets().to_vec(), any))
}

/// Fails on all processes if one has not understood its hints, or they differ: they would run
/// different protocols, and wait for each other; or if one cannot start an exchange, as another one
/// is under way. Collective.
fn agree_on_hints(shared: &SharedContext, hints: Option<&SparseHints>, understood: Result<()>) -> Result<()> {
    let (comm, understood, number) = {
        let context = shared.hold();
        let understood = if context.is_running() { Err(Error::Exchanging.into()) } else { understood };
        let number = understood.as_ref().map_or(-1, |()| hints.copied().unwrap_or(context.environment_hints()).agreed());
        (Arc::clone(context.comm()), understood, number)
    };
    let [low, high] = coll::allreduce(&comm, [number, -number], Reduction::Min)?;
    if low < 0 {
        return coll::share_outcome(&comm, understood);
    }
    if low == -high { Ok(()) } else { Err(Error::Disagreement { what: SparseHints::AGREED_IN_CALLS.into() }.into()) }
}
