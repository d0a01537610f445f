//! How long exchanges take: what predictions of the model are held against.
//!
//! Each process sends messages of one size to different others, which are drawn anew for each
//! exchange and are the same for all protocols. Every protocol has wires of its own. Batches of
//! exchanges take turns among the protocols, so that a time in which the machine is busy with
//! something else touches all a little, and none alone. A batch begins with exchanges that are not
//! timed and a barrier, and takes as long as it does on its slowest process; the median over all
//! batches counts. An exchange is timed from its list of targets to messages ordered by source, as
//! `MPIX_Sparse_exchange` is called.

use std::sync::Arc;

use super::mailbox::{Outgoing, Sends};
use super::{Exchange, Form, Guarded, Shared, Wires};
use crate::error::{Error, Result};
use crate::measure::loggp::together;
use crate::model::fit::median;
use crate::model::{Load, PROTOCOLS, Protocol};
use crate::mpi::coll::{self, Reduction};
use crate::mpi::comm::{self, Owned as Comm};
use crate::mpi::message::bytes_at;
use crate::mpi::pair::{idle_barrier, now};
use crate::mpi::start;
use crate::select::hints::SparseHints;
use crate::util::random::Random;

/// What is timed.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// So many processes, the first ones, exchange messages: at least 2, and no more than there
    /// are.
    pub processes: u32,
    /// As if each so many processes were a node. `None`: `MPIX_NODE_SIZE`, or the real nodes.
    pub per_node: Option<u32>,
    /// Messages that each process sends; fewer where there are not so many others.
    pub messages: u32,
    /// Bytes of a message.
    pub bytes: u64,
    /// Exchanges of a batch; at least 1.
    pub exchanges: u32,
    /// Batches of each protocol; at least 1.
    pub batches: u32,
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct Timed {
    /// What an exchange had to do, for [`predict_exchange`](crate::model::predict_exchange).
    pub load: Load,
    /// Microseconds of an exchange, in the order of [`PROTOCOLS`]. `None`: the protocol cannot run
    /// here.
    pub times: Vec<Option<f64>>,
}

/// Times exchanges by all protocols. Collective; `timing` is the same on all processes. `progress`
/// is called on process 0, with the part that is done. `None` on processes that take no part: they
/// sleep meanwhile.
///
/// Memory: all messages of a process once on each side, and their targets in a batch.
///
/// # Errors
/// There is one process only, no memory, hints of the environment that are wrong or differ: on all
/// processes. What MPI reports.
pub fn times(comm: &Comm, timing: &Timing, progress: impl FnMut(f64)) -> Result<Option<Timed>> {
    // SAFETY: a live communicator.
    let (me, size) = unsafe { (comm::rank(comm.raw())?, comm::size(comm.raw())?) };
    if size < 2 {
        return Err(Error::Alone.into());
    }
    let takes_part = me < timing.processes.max(2);
    let part = comm.split(takes_part.into())?;
    let outcome = if takes_part { run(&part, timing, progress).map(Some) } else { Ok(None) };
    idle_barrier(comm)?;
    together(comm, outcome)
}

/// A protocol with what is its own.
struct Lane {
    wires: Shared,
    hints: SparseHints,
    /// Whether the protocol can run here.
    runs: bool,
    batches: Vec<f64>,
}

fn run(part: &Comm, timing: &Timing, progress: impl FnMut(f64)) -> Result<Timed> {
    // SAFETY: a live communicator.
    let size = unsafe { comm::size(part.raw()) }?;
    let messages = timing.messages.min(size - 1);
    let lane = |protocol| {
        // SAFETY: an intracommunicator, all of whose processes make the same wires one after the
        // other.
        let mut wires = unsafe { Wires::new(part.raw()) }?;
        // the processes that take no part sleep: no other window is made at the same time
        wires.windows = true;
        // the rest is as for any exchange
        let of_environment = wires.hints;
        let wires = Arc::new(Guarded::new(wires));
        let node_size = timing.per_node.or(of_environment.node_size);
        let hints = SparseHints { protocol: Some(protocol), node_size, ..of_environment };
        let runs = protocol != Protocol::Inbox || wires.hold().shares_memory(&hints);
        Ok(Lane { wires, hints, runs, batches: Vec::new() })
    };
    let mut lanes = PROTOCOLS.iter().map(|e| lane(e.protocol)).collect::<Result<Vec<Lane>>>()?;
    let per_node = lanes[0].wires.hold().per_node(&lanes[0].hints);
    let buffer = together(part, written(timing.bytes.checked_mul(messages.into())))?;
    let timed = batches(part, timing, messages, &buffer, &mut lanes, progress);
    if timed.is_err() {
        // messages may be under way from it
        std::mem::forget(buffer);
    }
    timed?;
    for lane in &lanes {
        // collective, as all of this is
        lane.wires.hold().sums = None;
    }
    let times = lanes.into_iter().map(|lane| median(lane.batches)).collect();
    Ok(Timed { load: Load { processes: size, per_node, messages, bytes: timing.bytes }, times })
}

/// Memory that is really there.
fn written(bytes: Option<u64>) -> Result<Vec<u8>> {
    let bytes = bytes.and_then(|b| usize::try_from(b).ok()).unwrap_or(usize::MAX);
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(bytes).map_err(|_| Error::NoMemory { bytes })?;
    buffer.resize(bytes, 1);
    Ok(buffer)
}

fn batches(
    part: &Comm,
    timing: &Timing,
    messages: u32,
    buffer: &[u8],
    lanes: &mut [Lane],
    mut progress: impl FnMut(f64),
) -> Result<()> {
    // SAFETY: a live communicator.
    let (me, size) = unsafe { (comm::rank(part.raw())?, comm::size(part.raw())?) };
    let (exchanges, count) = (timing.exchanges.max(1), timing.batches.max(1));
    let warm = (exchanges / 10).max(1) as usize;
    let mut random = Random::new(me.into());
    for batch in 0..count {
        let others = |_| random.different(messages, size - 1).into_iter().map(|i| i + u32::from(i >= me)).collect();
        let rounds: Vec<Vec<u32>> = (0..warm + exchanges as usize).map(others).collect();
        let steps = lanes.len();
        for (i, lane) in lanes.iter_mut().enumerate().filter(|(_, lane)| lane.runs) {
            for targets in &rounds[..warm] {
                lane.exchange(targets, timing.bytes, buffer)?;
            }
            start::barrier(part)?;
            let begin = now();
            for targets in &rounds[warm..] {
                lane.exchange(targets, timing.bytes, buffer)?;
            }
            let [slowest] = coll::allreduce(part, [now() - begin], Reduction::Max)?;
            lane.batches.push(slowest / f64::from(exchanges));
            if me == 0 {
                progress(f64::from(batch) / f64::from(count) + (i + 1) as f64 / (steps as f64 * f64::from(count)));
            }
        }
    }
    Ok(())
}

impl Lane {
    /// An exchange: to each target its own part of the buffer.
    fn exchange(&self, targets: &[u32], bytes: u64, buffer: &[u8]) -> Result<()> {
        let block = |i: usize| {
            let at = i * bytes as usize;
            bytes_at(buffer[at..at + bytes as usize].as_ptr(), bytes)
        };
        let list =
            targets.iter().enumerate().map(|(i, &target)| Outgoing { target, block: block(i), bytes, device: false }).collect();
        // SAFETY: the buffer is borrowed until the exchange is done, and kept by `run` after an
        // error; the datatype is predefined.
        let mut exchange =
            unsafe { Exchange::start(&self.wires, Some(&self.hints), Sends { list, dense: true }, Form::Blocking) }?;
        exchange.wait()?;
        drop(exchange.take());
        Ok(())
    }
}
