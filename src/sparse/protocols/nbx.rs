//! NBX, nonblocking consensus, with receives that are posted in advance (`receive_ring.rs`). Each
//! process sends its messages synchronously; once all have been matched, it enters a barrier and
//! continues to receive until the barrier completes. By then, every message has been matched
//! everywhere.
//!
//! The completion of a synchronous send says that a receive has matched, not that the receiver has
//! noticed. At the end, the oldest receive is therefore cancelled. If that is too late, a message
//! was on its way to it; otherwise none was, neither to this receive nor to a younger one.
//!
//! Best for many processes with few neighbors each, for messages of any size. Cost: k messages and
//! their acknowledgements, ceil(log2 P) rounds of the barrier; memory for the ring's buffers, none
//! that grows with P. Source: DSDE, section 3.4, Algorithm 2.

use crate::error::Result;
use crate::mpi::message::Mode;
use crate::sparse::messages::{Arrivals, Sends};
use crate::sparse::receive_ring::{ReceiveRing, RingSends};
use crate::sparse::stats::Stats;
use crate::sparse::transport::Transport;

enum Phase {
    /// Waiting until all messages have been matched.
    Sending,
    /// In the barrier; messages may still arrive.
    Waiting,
    /// All messages of all processes have been matched; the oldest receive is being cancelled.
    Draining,
    /// Waiting until long messages have been transferred.
    Finishing,
}

/// A run of the protocol.
pub struct Run {
    phase: Phase,
    mine: Stats,
    sends: RingSends,
}

impl Run {
    /// Starts the protocol. `mine` are the stats that this process contributes; `readers` as for
    /// [`ReceiveRing::send_all`].
    ///
    /// # Safety
    /// As for `dispatch::Run::start`.
    pub unsafe fn start<R: IntoIterator<Item = u32>>(
        transport: &mut Transport,
        ring: &mut ReceiveRing,
        sends: &Sends,
        readers: impl Fn(usize) -> R,
        mine: Stats,
        arrivals: &mut Arrivals,
    ) -> Result<Run> {
        ring.start(transport, arrivals)?;
        // SAFETY: the caller vouches for the blocks.
        let sends = unsafe { ring.send_all(transport, sends, Mode::Synchronous, readers) }?;
        Ok(Run { phase: Phase::Sending, mine, sends })
    }

    /// Advances the protocol. Returns true once it is done.
    ///
    /// # Safety
    /// As for `dispatch::Run::progress`.
    #[inline]
    pub unsafe fn progress(
        &mut self,
        transport: &mut Transport,
        ring: &mut ReceiveRing,
        arrivals: &mut Arrivals,
    ) -> Result<bool> {
        loop {
            if !matches!(self.phase, Phase::Draining) {
                ring.advance(transport, arrivals)?;
            }
            match self.phase {
                Phase::Sending => {
                    if !self.sends.small.complete()? {
                        return Ok(false);
                    }
                    transport.barrier.enter(self.mine.word(), &transport.comm)?;
                    self.phase = Phase::Waiting;
                }
                Phase::Waiting => match transport.barrier.progress(&transport.comm)? {
                    None => return Ok(false),
                    Some(largest) => {
                        ring.cancel()?;
                        transport.learn(Stats::from_word(largest));
                        self.phase = Phase::Draining;
                    }
                },
                Phase::Draining => {
                    if !ring.drain(transport, arrivals)? {
                        return Ok(false);
                    }
                    self.phase = Phase::Finishing;
                }
                Phase::Finishing => return Ok(self.sends.long.complete()? && arrivals.complete()?),
            }
        }
    }
}
