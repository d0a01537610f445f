//! RSX, remote summation: each process adds to a counter of each of its targets; after a barrier its own counter tells how many messages come.
//!
//! The counters never go back: what has been added since the exchange before last counts, and exchanges take turns with two counters, so that no process
//! writes its own. Additions are completed by a flush, not by a fence, which would keep a nonblocking exchange waiting.
//!
//! Useful where the network adds in memory by itself. Cost: k additions and a flush, ceil(log2 P) rounds of the barrier, k messages, k probes; memory
//! for two counters, nothing that grows with P, on a window that is made at the first use. Source: DSDE, section 3.3.

use std::time::Instant;

use super::mailbox::{Inbox, Outbox, Sends};
use super::{Stats, Wires, pcx, send_all};
use crate::error::Result;
use crate::mpi::message::Mode;
use crate::mpi::window::Counters;

/// What each message adds. Accumulations read it until they are complete.
static ONE: u64 = 1;

/// The counters of a communicator.
pub struct Sums {
    counters: Counters,
    /// Their values at the end of the exchange before last.
    seen: [u64; 2],
    made: Instant,
}

impl Sums {
    /// When the window was made.
    pub fn made(&self) -> Instant {
        self.made
    }
}

/// The protocol at work.
pub struct Run {
    counter: usize,
    missing: Option<u32>,
    outbox: Outbox,
}

impl Run {
    /// Begins.
    ///
    /// # Safety
    /// As for `super::Run::start`.
    pub unsafe fn start(wires: &mut Wires, sends: &Sends) -> Result<Run> {
        wires.barrier.arm(&wires.comm)?;
        if wires.sums.is_none() {
            wires.sums = Some(Sums { counters: Counters::new(2, &wires.comm)?, seen: [0; 2], made: Instant::now() });
        }
        let Some(Sums { counters, .. }) = &wires.sums else { unreachable!("they have just been made") };
        let counter = wires.parity as usize;
        for o in sends.list.iter().filter(|o| o.target != wires.rank) {
            // SAFETY: a constant lives for ever.
            unsafe { counters.add(&raw const ONE, o.target, counter) }?;
        }
        counters.complete()?;
        wires.barrier.enter(Stats::of(sends, wires), &wires.comm)?;
        Ok(Run { counter, missing: None, outbox: Outbox::default() })
    }

    /// Goes on.
    ///
    /// # Safety
    /// As for `super::Run::progress`.
    #[inline]
    pub unsafe fn progress(&mut self, wires: &mut Wires, sends: &Sends, inbox: &mut Inbox) -> Result<bool> {
        if self.missing.is_none() {
            let Some(largest) = wires.barrier.progress(&wires.comm)? else {
                return Ok(false);
            };
            wires.learn(largest);
            let Some(Sums { counters, seen, .. }) = &mut wires.sums else { unreachable!("made at the start") };
            let now = counters.own(self.counter)?;
            self.missing = Some((now - std::mem::replace(&mut seen[self.counter], now)) as u32);
            // SAFETY: the caller vouches for the blocks.
            self.outbox = unsafe { send_all(wires, sends, Mode::Standard) }?;
        }
        let missing = self.missing.as_mut().expect("counted above");
        Ok(pcx::find(wires, missing, inbox)? & inbox.complete()? & self.outbox.complete()?)
    }
}
