//! Runs the schedules of all processes in simulated time, event by event.
//!
//! # The model
//! A process has a processor and two ports, one out and one in; in half duplex one port is both.
//! All start at time 0. Letters are those of [`Loggp`].
//!
//! **A message of k bytes**
//! 1. The sender's processor works for o. It takes its work in the order in which it comes, sends
//!    of a round in their order.
//! 2. The bytes pass the sender's out-port, which takes (k - 1) G. Messages of a process leave in
//!    the order in which it sends them, whoever they are for: one that cannot leave holds up those
//!    behind it.
//! 3. They pass the target's in-port, which takes (k - 1) G too; not one after the other, but as
//!    they come. A port passes one message at a time; behind each it rests for g.
//! 4. L after its last byte has passed the in-port, the message has arrived.
//! 5. When the receive has been posted too, the target's processor works for o. Then the receive is
//!    complete.
//!
//! Steps 2 and 3 differ by size:
//! - at most `eager` bytes: passing the out-port needs only the out-port. The send is complete when
//!   the last byte has left. If the in-port is not free, the network keeps the message.
//! - more (rendezvous): the message leaves when it is first in its line, the receive has been
//!   posted, and both ports are free. It passes both at once. That the two processes agree costs
//!   nothing. Several that wait for one in-port pass in the order in which they came to wait. This
//!   is what IrregPC calls node contention: a sender whose target is busy waits, and its other
//!   messages with it.
//!
//! LogGP puts L before the in-port. As L is the same for all messages, the end of each receive is
//! the same. In full duplex nothing else differs either; in half duplex a message occupies the
//! target's port L earlier than it would there. Here times *at ports* are as the sender's side sees
//! them; [`Transfer::receive`] has L added.
//!
//! **A round** begins with the posting of its receives, then its sends are given to the processor.
//! With a window of 1 a process begins a round when all its operations of the rounds before are
//! complete. With a window of w > 1, receives of w rounds are posted, counted from the first round
//! that is not complete. The sends of a round in the window begin when all sends of the rounds
//! before are complete, and all rounds that write a block which they read. Rounds are counted as
//! each process stores them.
//!
//! **Costs nothing**: copies, but where [`Options::copy`] says otherwise those into packets and out
//! of them, for which the processor works longer than o; reductions, posting a receive, a part of a
//! block that has no bytes (no message is made of it), and what a packet says about its blocks. A
//! whole block without bytes is a message, which costs as much as one of 1 byte.
//!
//! # What happens at the same time
//! happens in this order, which does not depend on how schedules are stored; only the order of a
//! process's sends, which it posts one after the other, says anything:
//! 1. Messages arrive: those of the lowest sender first, and of one sender in the order of its
//!    sends. That is *the order of messages*, also below.
//! 2. Processes whose rounds or sends are complete go on. Each posts receives, round by round; the
//!    processor gets those whose messages are there already as they arrived, then in the order of
//!    messages. Then it gets the sends.
//! 3. Messages take ports that are free, those first that have waited longest, then in the order of
//!    messages. A message waits from when it is first in its line, its sender's processor is done
//!    with it, the port has rested from the one before it, and, for rendezvous, its receive is
//!    posted. One that was eager waits for the in-port from when it has left.
//!
//! What takes no time may make more happen at the same time: then the first of all of this that
//! can happen happens next. A message that waits for a second port holds up nobody at the first.
//!
//! Two processes that run this on equal arguments get equal bits. Only sums and products are made
//! of times.
//!
//! # Cost
//! O(m log m) time for m messages, and about 200 bytes of memory for a message and for a process.
//! In half duplex a port that becomes free may have to look at all messages that wait for it.

mod critical_path;
mod engine;
mod matching;
mod result;
#[cfg(test)]
mod tests;

use super::Loggp;
use crate::schedule::{Block, Schedule, length};
use crate::topology::neighborhood::{Neighborhood, Rank};
use engine::Simulation;
use matching::Matched;

pub use result::{Options, Process, Run, Step, StepKind, Transfer};

/// Runs schedules, given in the order of ranks.
///
/// `bytes` is the length in bytes of a block that a process sends. It is asked for input blocks,
/// and for blocks which the process sends without having received, copied or reduced anything into
/// them before; the lengths of all others follow from what was sent.
///
/// # Errors
/// A sentence, where the schedules do not match: messages meet in the order in which they stand, in
/// rounds of the same number. Schedules that match always run to the end. Also where a parameter is
/// negative or not finite, or the window 0.
pub fn simulate(
    schedules: &[Schedule],
    bytes: &dyn Fn(Rank, Block) -> u64,
    params: &Loggp,
    options: &Options,
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
    let mut simulation = Simulation::new(&world, params, options);
    simulation.run();
    Ok(simulation.result(schedules))
}

/// The total time of a world's schedules, in microseconds, where an edge carries
/// `bytes_per_weight` bytes for each unit of the weight in the target list ([`length()`]).
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
    let bytes = |p: Rank, block: Block| bytes_of(world, bytes_per_weight, p, block);
    Ok(simulate(schedules, &bytes, params, options)?.total)
}

/// How many bytes a process sends in an input block, where an edge carries `bytes_per_weight` for
/// each unit of its weight.
pub fn bytes_of(world: &[Neighborhood], bytes_per_weight: u64, p: Rank, block: Block) -> u64 {
    let target = world.get(p as usize).and_then(|n| n.targets().get(block.slot()));
    target.map_or(0, |n| length(n.weight, bytes_per_weight))
}
