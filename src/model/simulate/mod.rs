//! Simulates the schedules of all processes in the LogGP model, event by event.
//!
//! # The model
//! A process has a processor and two ports, one out and one in; in half duplex a single port serves
//! both directions. All processes start at time 0. Letters are those of [`Loggp`].
//!
//! **A message of k bytes**
//! 1. The sender's processor works for o. It works in order of arrival, and on the sends of a round
//!    in their order.
//! 2. The bytes pass the sender's out-port, which takes (k - 1) G. Messages of a process leave in
//!    the order in which it sends them, whatever their targets: one that cannot leave blocks those
//!    after it.
//! 3. They pass the target's in-port, which also takes (k - 1) G, overlapping with step 2. A port
//!    passes one message at a time and rests for g after each.
//! 4. L after its last byte has passed the in-port, the message has arrived.
//! 5. When the receive has also been posted, the target's processor works for o. Then the receive
//!    is complete.
//!
//! Steps 2 and 3 depend on the size:
//! - At most `eager` bytes: the message leaves when the out-port is free. The send is complete when
//!   the last byte has left. If the in-port is not free, the network keeps the message.
//! - More (rendezvous): the message leaves when it is the first of its sender's messages, the
//!   receive has been posted, and both ports are free. It passes both at once. The handshake itself
//!   costs nothing. Messages that wait for the same in-port pass it in the order in which they
//!   began to wait. This is what IrregPC calls node contention: a sender whose target is busy
//!   waits, and so do its other messages.
//!
//! LogGP puts L before the in-port. As L is the same for all messages, each receive ends at the
//! same time. In full duplex nothing else differs; in half duplex a message occupies the target's
//! port L earlier than in LogGP. Times *at ports* are from the sender's point of view;
//! [`Transfer::receive`] includes L.
//!
//! **A round** begins with posting its receives; then its sends are given to the processor. With a
//! window of 1, a process begins a round when all operations of earlier rounds are complete. With a
//! window of w > 1, the sends of a round start when fewer than w rounds have incomplete sends, and
//! all rounds are complete that write a block which these sends read. Receives are posted w rounds
//! ahead of the first round whose sends have not started (those of long messages are, by the
//! executor, behind the sends of their round). Rounds are counted as each process stores them.
//!
//! **Shared links**: if the nodes of the processes are given, and [`Loggp::sharing`] says what
//! nodes share, a message between nodes takes (k - 1) G times a factor of at least 1. With B bytes
//! that leave a node in a round, its port takes at least B times the time per byte of the nearest
//! links; the network takes at least the mean over all nodes of the bytes times that of their
//! distance. All messages of the round that share the port, or the network, are slowed alike, but
//! for those whose process at the other end is slower than the port, as a hub is.
//!
//! **Free of cost**: copies, except those into and out of packets if [`Options::copy`] is set,
//! which extend o; reductions; posting a receive; and the header of a packet. An empty block, or
//! part of one, is a message, which costs as much as one of 1 byte.
//!
//! # Order of simultaneous events
//! The order does not depend on how schedules are stored, except for the order of a process's
//! sends, which it posts one by one:
//! 1. Messages arrive: those of the lowest sender first, and those of one sender in the order of
//!    its sends. This is *the order of messages* below.
//! 2. Processes whose rounds or sends are complete proceed. Each posts receives, round by round;
//!    the processor gets those whose messages are already there in order of arrival, then in the
//!    order of messages. Then it gets the sends.
//! 3. Messages take free ports: those that waited longest first, then in the order of messages. A
//!    message waits from the time when it is the first of its sender, its sender's processor has
//!    finished with it, the port has rested, and, for rendezvous, its receive is posted. An eager
//!    message waits for the in-port from the time it left.
//!
//! Actions that take no time can cause more events at the same time: then the first possible event
//! of this list happens next. A message that waits for its second port blocks no other message at
//! its first.
//!
//! Two processes that run this with equal arguments get bitwise equal results. Times are computed
//! by sums and products only.
//!
//! # Cost
//! O(m log m) time for m messages, and about 200 bytes of memory per message and per process. In
//! half duplex, a port that becomes free may have to examine all messages that wait for it.

mod contention;
mod engine;
mod matching;
mod outcome;
mod result;
#[cfg(test)]
mod tests;

use super::Loggp;
use crate::schedule::{Block, Schedule, length};
use crate::topology::neighborhood::{Neighborhood, Rank};
use crate::topology::nodes::Locality;
use contention::{latencies, transfers};
use engine::Simulation;
use matching::Matched;

pub use result::{Options, Run, Transfer};

/// Simulates schedules, given in the order of ranks.
///
/// `bytes` returns the length in bytes of a block that a process sends. It is called for input
/// blocks, and for blocks that the process sends without having received, copied or reduced
/// anything into them before; the lengths of all others follow from what was sent.
///
/// # Errors
/// A sentence if the schedules do not match: messages are matched in order, within rounds of the
/// same number. Matching schedules always run to completion. Also if a parameter is negative or not
/// finite, or the window is 0.
pub fn simulate(
    schedules: &[Schedule],
    bytes: &dyn Fn(Rank, Block) -> u64,
    params: &Loggp,
    options: &Options,
) -> Result<Run, String> {
    simulate_on(schedules, bytes, params, options, None)
}

/// As [`simulate()`], with processes on `nodes`, which share links as [`Loggp::sharing`] says.
///
/// # Errors
/// As [`simulate()`].
fn simulate_on(
    schedules: &[Schedule],
    bytes: &dyn Fn(Rank, Block) -> u64,
    params: &Loggp,
    options: &Options,
    nodes: Option<&Locality>,
) -> Result<Run, String> {
    if let Some(key) = params.invalid() {
        return Err(format!("{key} is not a finite number of at least 0"));
    }
    if !options.copy.is_finite() || options.copy < 0.0 {
        return Err("the time for a copied byte is not a finite number of at least 0".into());
    }
    if options.window == 0 {
        return Err("a window of 0 rounds lets nothing begin".into());
    }
    let world = Matched::new(schedules, bytes, options.gather)?;
    let transfers = transfers(&world, schedules, params, nodes);
    let latencies = latencies(&world, params, nodes);
    let mut simulation = Simulation::new(&world, params, options, transfers, latencies);
    simulation.run();
    Ok(simulation.result(schedules))
}

/// Predicts the total time of the schedules of all processes in microseconds, if an edge carries
/// `bytes_per_weight` bytes per unit of weight in the target list ([`length()`]).
///
/// # Errors
/// As [`simulate()`].
pub fn predict(
    world: &[Neighborhood],
    schedules: &[Schedule],
    bytes_per_weight: u64,
    params: &Loggp,
    options: &Options,
) -> Result<f64, String> {
    predict_on(world, schedules, bytes_per_weight, params, options, None)
}

/// As [`predict`], with processes on `nodes`, which share links as [`Loggp::sharing`] says.
///
/// # Errors
/// As [`simulate()`].
pub fn predict_on(
    world: &[Neighborhood],
    schedules: &[Schedule],
    bytes_per_weight: u64,
    params: &Loggp,
    options: &Options,
    nodes: Option<&Locality>,
) -> Result<f64, String> {
    let bytes = |p: Rank, block: Block| bytes_of(world, bytes_per_weight, p, block);
    Ok(simulate_on(schedules, &bytes, params, options, nodes)?.total)
}

/// Returns the number of bytes that a process sends in an input block, if an edge carries
/// `bytes_per_weight` bytes per unit of weight.
pub fn bytes_of(world: &[Neighborhood], bytes_per_weight: u64, p: Rank, block: Block) -> u64 {
    let target = world.get(p as usize).and_then(|n| n.targets().get(block.index()));
    target.map_or(0, |n| length(n.weight, bytes_per_weight))
}
