//! RSX, remote summation: each process increments a counter at each of its targets; after a
//! barrier, its own counter says how many messages to expect.
//!
//! Counters are never reset: an exchange counts what has been added since its counter was last
//! read. Exchanges alternate between two counters, so that no process ever has to write its own.
//! Every addition has a request (`MPI_Rget_accumulate`), which completes once the addition has been
//! performed; a fence or a flush would block a nonblocking exchange. The messages travel meanwhile.
//!
//! Best for networks that perform atomic additions in hardware. Cost: k additions, ceil(log2 P)
//! rounds of the barrier, k messages, k probes; memory for two counters, none that grows with P, in
//! a window that is created at first use. Source: DSDE, section 3.3.

use std::sync::{Arc, OnceLock};

use crate::error::Result;
use crate::mpi::counters::Counters;
use crate::mpi::message::{Mode, lend};
use crate::sparse::messages::{Arrivals, PendingSends, Sends};
use crate::sparse::stats::Stats;
use crate::sparse::transport::Transport;
use crate::util::cast::to_usize;

/// The counters of one communicator.
#[derive(Default)]
pub struct Sums {
    /// Made at the first run.
    counters: Arc<OnceLock<Arc<Counters>>>,
    /// The values that the counters had when they were last read, two exchanges ago.
    seen: [u64; 2],
}

impl Sums {
    /// The counters, once there are any.
    pub fn counters(&self) -> &Arc<OnceLock<Arc<Counters>>> {
        &self.counters
    }
}

/// A run of the protocol.
pub struct Run {
    counter: usize,
    mine: Stats,
    additions: PendingSends,
    /// Where the additions store the previous values.
    _found: Vec<u64>,
    in_barrier: bool,
    missing: Option<u64>,
    pending: PendingSends,
}

impl Run {
    /// Makes the window at the first call, which is collective.
    pub fn make(transport: &Transport, sums: &Sums) -> Result<()> {
        if sums.counters.get().is_none() {
            // nobody else makes it: the caller has the sums
            let _ = sums.counters.set(Counters::new(2, &transport.comm)?);
        }
        Ok(())
    }

    /// Starts the protocol.
    ///
    /// # Safety
    /// As for `dispatch::Run::start`.
    pub unsafe fn start(transport: &mut Transport, sums: &Sums, sends: &Sends) -> Result<Run> {
        let Some(counters) = sums.counters.get() else { unreachable!("created by make") };
        let counter = to_usize(transport.parity);
        let mut additions = PendingSends::default();
        let (found, pending) = lend(vec![0u64; sends.list.len()], |found| {
            for (o, found) in sends.list.iter().zip(found).filter(|(o, _)| o.target != transport.rank) {
                // SAFETY: the buffers do not move and live as long as the run.
                additions.push(unsafe { counters.count_up(found, o.target, counter) }?);
            }
            // SAFETY: the caller vouches for the blocks.
            unsafe { transport.send_all(sends, Mode::Standard) }
        })?;
        let mine = transport.stats(sends);
        Ok(Run { counter, mine, additions, _found: found, in_barrier: false, missing: None, pending })
    }

    /// Advances the protocol. Returns true once it is done.
    ///
    /// # Safety
    /// As for `dispatch::Run::progress`.
    #[inline]
    pub unsafe fn progress(&mut self, transport: &mut Transport, sums: &mut Sums, arrivals: &mut Arrivals) -> Result<bool> {
        if !self.in_barrier {
            if !self.additions.complete()? {
                return Ok(false);
            }
            // a completed request only says that the previous value has arrived; after that, there
            // is nothing left to wait for
            let Some(counters) = sums.counters.get() else { unreachable!("created by make") };
            counters.complete()?;
            transport.barrier.enter(self.mine.word(), &transport.comm)?;
            self.in_barrier = true;
        }
        if self.missing.is_none() {
            let Some(largest) = transport.barrier.progress(&transport.comm)? else {
                return Ok(false);
            };
            transport.learn(Stats::from_word(largest));
            let Some(counters) = sums.counters.get() else { unreachable!("created by make") };
            let now = counters.own(self.counter)?;
            self.missing = Some(now - std::mem::replace(&mut sums.seen[self.counter], now));
        }
        let missing = self.missing.as_mut().expect("counted above");
        Ok(transport.find_missing(missing, arrivals)? & arrivals.complete()? & self.pending.complete()?)
    }
}
