//! Measures how long sparse exchanges take, to compare with the predictions of the model.
//!
//! Each process sends messages of one size to several others, drawn at random for each exchange but
//! the same for all protocols. Every protocol has a context of its own. Batches of exchanges rotate
//! through the protocols, so that a period in which the machine is busy affects all of them a
//! little and none alone. A batch starts with exchanges that are not timed and a barrier, and
//! counts with the time of its slowest process; the result is the median of all batches. An
//! exchange is timed from its list of targets to messages sorted by source, as
//! `MPIX_Sparse_exchange` is called.

use crate::error::{Error, Result};
use crate::machine::written;
use crate::model::fit::median;
use crate::model::{Load, PROTOCOLS, Protocol};
use crate::mpi::coll::{self, Reduction, idle_barrier, share_outcome};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::message::{bytes_at, lend};
use crate::mpi::peer::now;
use crate::select::hints::SparseHints;
use crate::sparse::messages::{Outgoing, Sends};
use crate::sparse::{Exchange, ExchangeContext, Form, SharedContext};
use crate::util::cast::to_usize;
use crate::util::random::Random;

/// The exchanges to measure.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// Number of processes that exchange messages, counted from rank 0: at least 2, at most all.
    pub processes: u32,
    /// Processes per node to assume. `None`: `MPIX_NODE_SIZE`, or the real nodes.
    pub per_node: Option<u32>,
    /// Messages that each process sends; fewer if there are not as many other processes.
    pub messages: u32,
    /// Bytes per message.
    pub bytes: u64,
    /// Exchanges per batch; at least 1.
    pub exchanges: u32,
    /// Batches per protocol; at least 1.
    pub batches: u32,
}

/// The result of a measurement.
#[derive(Debug, Clone)]
pub struct Timed {
    /// The load of an exchange, for [`predict_exchange`](crate::model::predict_exchange).
    pub load: Load,
    /// Microseconds per exchange, in the order of [`PROTOCOLS`]. `None`: the protocol cannot run
    /// here.
    pub times: Vec<Option<f64>>,
}

/// Measures exchanges with all protocols. Collective; `timing` must be the same on all processes.
/// `progress` is called on process 0 with the fraction that is done. Returns `None` on processes
/// that do not take part, which sleep meanwhile.
///
/// Memory: all messages of a process, once as sent and once as received, and the targets of a
/// batch.
///
/// # Errors
/// There is only one process, too little memory, or the hints of the environment are invalid or
/// differ: reported on all processes. Errors of MPI.
pub fn times(comm: &Comm, timing: &Timing, progress: impl FnMut(f64)) -> Result<Option<Timed>> {
    let (me, size) = (comm.rank()?, comm.size()?);
    if size < 2 {
        return Err(Error::Alone.into());
    }
    let takes_part = me < timing.processes.max(2);
    let part = comm.split(takes_part.into())?;
    let outcome = if takes_part { run(&part, timing, progress).map(Some) } else { Ok(None) };
    idle_barrier(comm)?;
    share_outcome(comm, outcome)
}

/// One protocol, with its context and its results.
struct Lane {
    context: SharedContext,
    hints: SparseHints,
    /// True if the protocol can run here.
    runs: bool,
    batches: Vec<f64>,
}

fn run(part: &Comm, timing: &Timing, progress: impl FnMut(f64)) -> Result<Timed> {
    let size = part.size()?;
    let messages = timing.messages.min(size - 1);
    let lane = |protocol| {
        let context = ExchangeContext::for_measurement(part.view())?;
        let (hints, runs) = {
            let context = context.hold();
            // everything else is as for any exchange
            let environment = context.environment_hints();
            let node_size = timing.per_node.or(environment.node_size);
            let hints = SparseHints { protocol: Some(protocol), node_size, ..environment };
            (hints, protocol != Protocol::Inbox || context.shares_memory(&hints))
        };
        Ok(Lane { context, hints, runs, batches: Vec::new() })
    };
    let mut lanes = PROTOCOLS.iter().map(|e| lane(e.protocol)).collect::<Result<Vec<Lane>>>()?;
    let per_node = lanes[0].context.hold().per_node(&lanes[0].hints);
    let bytes = timing.bytes.saturating_mul(messages.into());
    let buffer = share_outcome(part, written(usize::try_from(bytes).unwrap_or(usize::MAX)))?;
    lend(buffer, |buffer| batches(part, timing, messages, buffer, &mut lanes, progress))?;
    for lane in &lanes {
        // collective: all processes free their windows in the same order
        lane.context.free_window_if_idle();
    }
    let times = lanes.into_iter().map(|lane| median(lane.batches)).collect();
    Ok(Timed { load: Load { processes: size, per_node, messages, bytes: timing.bytes }, times })
}

fn batches(
    part: &Comm,
    timing: &Timing,
    messages: u32,
    buffer: &[u8],
    lanes: &mut [Lane],
    mut progress: impl FnMut(f64),
) -> Result<()> {
    let (me, size) = (part.rank()?, part.size()?);
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
            coll::barrier(part)?;
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
    /// Runs one exchange, in which each target gets a part of the buffer of its own.
    fn exchange(&self, targets: &[u32], bytes: u64, buffer: &[u8]) -> Result<()> {
        let block = |i: usize| {
            let at = i * to_usize(bytes);
            bytes_at(buffer[at..at + to_usize(bytes)].as_ptr(), bytes)
        };
        let list =
            targets.iter().enumerate().map(|(i, &target)| Outgoing { target, block: block(i), bytes, device: false }).collect();
        // SAFETY: the buffer is borrowed until the exchange is done, and `run` leaks it after an
        // error; the datatype is predefined.
        let mut exchange =
            unsafe { Exchange::start(&self.context, Some(&self.hints), Sends { list, dense: true, marks: 0 }, Form::Blocking) }?;
        exchange.wait()?;
        drop(exchange.take());
        Ok(())
    }
}
