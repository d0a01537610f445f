//! NBX, nonblocking consensus, with probes: like `nbx.rs`, but messages are found by matched probes
//! and received at their final place.
//!
//! Best for long messages: none is copied. Cost: as NBX, plus a probe and a receive for each
//! message after it has arrived. Source: DSDE, section 3.4, Algorithm 2.

use crate::error::Result;
use crate::mpi::message::Mode;
use crate::sparse::messages::{Arrivals, PendingSends, Sends};
use crate::sparse::stats::Stats;
use crate::sparse::transport::Transport;

/// A run of the protocol.
pub struct Run {
    mine: Stats,
    pending: PendingSends,
    in_barrier: bool,
    through: bool,
}

impl Run {
    /// Starts the protocol.
    ///
    /// # Safety
    /// As for `dispatch::Run::start`.
    pub unsafe fn start(transport: &mut Transport, sends: &Sends) -> Result<Run> {
        // SAFETY: the caller vouches for the blocks.
        let pending = unsafe { transport.send_all(sends, Mode::Synchronous) }?;
        Ok(Run { mine: transport.stats(sends), pending, in_barrier: false, through: false })
    }

    /// Advances the protocol. Returns true once it is done.
    ///
    /// # Safety
    /// As for `dispatch::Run::progress`.
    #[inline]
    pub unsafe fn progress(&mut self, transport: &mut Transport, arrivals: &mut Arrivals) -> Result<bool> {
        while !self.through {
            while transport.find(None, arrivals)? {}
            if !self.in_barrier {
                // a rendezvous needs the receiver to make progress until the message has arrived
                arrivals.ready()?;
                if !self.pending.complete()? {
                    return Ok(false);
                }
                transport.barrier.enter(self.mine.word(), &transport.comm)?;
                self.in_barrier = true;
            }
            match transport.barrier.progress(&transport.comm)? {
                None => return Ok(false),
                Some(largest) => transport.learn(Stats::from_word(largest)),
            }
            // each message was matched before its sender entered the barrier, hence by a probe
            // above
            self.through = true;
        }
        arrivals.complete()
    }
}
