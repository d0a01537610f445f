//! NBX, nonblocking consensus, with probes: as `nbx.rs`, but messages are looked for by matched
//! probes and received where they are to lie.
//!
//! Useful where messages are long: none is copied. Cost: as NBX, and a probe and a receive for each
//! message after it has come. Source: DSDE, section 3.4, Algorithm 2.

use crate::error::Result;
use crate::mpi::message::Mode;
use crate::sparse::mailbox::{Inbox, Outbox, Sends};
use crate::sparse::{Stats, Wires, send_all};

/// The protocol at work.
pub struct Run {
    mine: Stats,
    outbox: Outbox,
    in_barrier: bool,
    through: bool,
}

impl Run {
    /// Begins.
    ///
    /// # Safety
    /// As for `sparse::Run::start`.
    pub unsafe fn start(wires: &mut Wires, sends: &Sends) -> Result<Run> {
        wires.barrier.arm(&wires.comm)?;
        // SAFETY: the caller vouches for the blocks.
        let outbox = unsafe { send_all(wires, sends, Mode::Synchronous) }?;
        Ok(Run { mine: Stats::of(sends, wires), outbox, in_barrier: false, through: false })
    }

    /// Goes on.
    ///
    /// # Safety
    /// As for `sparse::Run::progress`.
    #[inline]
    pub unsafe fn progress(&mut self, wires: &mut Wires, inbox: &mut Inbox) -> Result<bool> {
        while !self.through {
            while wires.find(None, inbox)? {}
            if !self.in_barrier {
                // a rendezvous needs the receiver's attention until its message is here
                inbox.ready()?;
                if !self.outbox.complete()? {
                    return Ok(false);
                }
                wires.barrier.enter(self.mine, &wires.comm)?;
                self.in_barrier = true;
            }
            match wires.barrier.progress(&wires.comm)? {
                None => return Ok(false),
                Some(largest) => wires.learn(largest),
            }
            // every message was matched before its sender entered the barrier, so by a probe above
            self.through = true;
        }
        inbox.complete()
    }
}
