//! RSX, remote summation: each process adds to a counter of each of its targets; after a barrier
//! its own counter tells how many messages come.
//!
//! The counters never go back: what has been added since the exchange before last counts, and
//! exchanges take turns with two counters, so that no process writes its own. Each addition has a
//! request (`MPI_Rget_accumulate`) that completes when the addition has been made; a fence or a
//! flush would keep a nonblocking exchange waiting. The messages are on their way meanwhile.
//!
//! Useful where the network adds in memory by itself. Cost: k additions, ceil(log2 P) rounds of the
//! barrier, k messages, k probes; memory for two counters, nothing that grows with P, on a window
//! that is made at the first use. Source: DSDE, section 3.3.

use std::time::Instant;

use crate::error::Result;
use crate::mpi::message::Mode;
use crate::mpi::window::Counters;
use crate::sparse::mailbox::{Inbox, Outbox, Sends};
use crate::sparse::{Stats, Wires, pcx, send_all};

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
    mine: Stats,
    additions: Outbox,
    /// Where additions leave what they found.
    _found: Vec<u64>,
    in_barrier: bool,
    missing: Option<u32>,
    outbox: Outbox,
}

impl Run {
    /// Begins.
    ///
    /// # Safety
    /// As for `sparse::Run::start`.
    pub unsafe fn start(wires: &mut Wires, sends: &Sends) -> Result<Run> {
        wires.barrier.arm(&wires.comm)?;
        if wires.sums.is_none() {
            wires.sums = Some(Sums { counters: Counters::new(2, &wires.comm)?, seen: [0; 2], made: Instant::now() });
        }
        let Some(Sums { counters, .. }) = &wires.sums else { unreachable!("they have just been made") };
        let counter = wires.parity as usize;
        let (mut additions, mut found) = (Outbox::default(), vec![0u64; sends.list.len()]);
        for (o, found) in sends.list.iter().zip(&mut found).filter(|(o, _)| o.target != wires.rank) {
            // SAFETY: the places do not move, and live as long as the run.
            additions.push(unsafe { counters.count_up(found, o.target, counter) }?);
        }
        // SAFETY: the caller vouches for the blocks.
        let outbox = unsafe { send_all(wires, sends, Mode::Standard) }?;
        let mine = Stats::of(sends, wires);
        Ok(Run { counter, mine, additions, _found: found, in_barrier: false, missing: None, outbox })
    }

    /// Goes on.
    ///
    /// # Safety
    /// As for `sparse::Run::progress`.
    #[inline]
    pub unsafe fn progress(&mut self, wires: &mut Wires, inbox: &mut Inbox) -> Result<bool> {
        if !self.in_barrier {
            if !self.additions.complete()? {
                return Ok(false);
            }
            // a request only tells that the addition has given its answer here; with that there is
            // nothing left to wait for
            let Some(Sums { counters, .. }) = &wires.sums else { unreachable!("made at the start") };
            counters.complete()?;
            wires.barrier.enter(self.mine, &wires.comm)?;
            self.in_barrier = true;
        }
        if self.missing.is_none() {
            let Some(largest) = wires.barrier.progress(&wires.comm)? else {
                return Ok(false);
            };
            wires.learn(largest);
            let Some(Sums { counters, seen, .. }) = &mut wires.sums else { unreachable!("made at the start") };
            let now = counters.own(self.counter)?;
            self.missing = Some((now - std::mem::replace(&mut seen[self.counter], now)) as u32);
        }
        let missing = self.missing.as_mut().expect("counted above");
        Ok(pcx::find(wires, missing, inbox)? & inbox.complete()? & self.outbox.complete()?)
    }
}
