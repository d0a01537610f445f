//! PCX, personalized census: each process learns how many messages come to it from a sum over all
//! processes, and probes for as many. They are on their way meanwhile.
//!
//! Useful with up to some thousand processes. Cost: a census of P numbers (`census.rs`, or the MPI
//! library's `MPI_Ireduce_scatter_block`), k messages, k probes; 12 P bytes of memory (own census)
//! or 4 P. Source: DSDE, section 3.2, Algorithm 1.

use crate::error::Result;
use crate::mpi::message::{Mode, Request, collective};
use crate::sparse::mailbox::{Inbox, Outbox, Sends};
use crate::sparse::{Kind, Stats, Wires, send_all};

/// Who counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Census {
    /// Recursive halving of our own.
    Own,
    /// The MPI library.
    Library,
}

/// How far the count is.
enum Count {
    Own,
    Library {
        request: Request,
        numbers: Vec<u32>,
        sum: Box<u32>,
    },
    /// So many messages are still to be found.
    Missing(u32),
}

/// The protocol at work.
pub struct Run {
    count: Count,
    outbox: Outbox,
}

impl Run {
    /// Begins.
    ///
    /// # Safety
    /// As for `sparse::Run::start`.
    pub unsafe fn start(wires: &mut Wires, sends: &Sends, census: Census) -> Result<Run> {
        let others = || sends.list.iter().filter(|o| o.target != wires.rank);
        let count = match census {
            Census::Own => {
                let (rank, size, tag) = (wires.rank, wires.size, wires.tag(Kind::Census));
                let mine = Stats::of(sends, wires);
                let census = wires.census.get_or_insert_with(|| crate::sparse::census::Census::new(rank, size, tag));
                others().for_each(|o| census.table[o.target as usize] += 1);
                census.start(mine, &wires.comm)?;
                Count::Own
            }
            Census::Library => {
                let (mut numbers, mut sum) = (vec![0u32; wires.size as usize], Box::new(0u32));
                others().for_each(|o| numbers[o.target as usize] += 1);
                // SAFETY: a number for each process; both stay where they are until the request is
                // complete.
                let request = unsafe { collective::sum_scatter(&numbers, &raw mut *sum, &wires.comm) }?;
                Count::Library { request, numbers, sum }
            }
        };
        // messages need not wait for the count: tags keep those apart that come before it is known
        // SAFETY: the caller vouches for the blocks.
        Ok(Run { count, outbox: unsafe { send_all(wires, sends, Mode::Standard) }? })
    }

    /// Goes on.
    ///
    /// # Safety
    /// As for `sparse::Run::progress`.
    #[inline]
    pub unsafe fn progress(&mut self, wires: &mut Wires, inbox: &mut Inbox) -> Result<bool> {
        let counted = match &mut self.count {
            Count::Own => {
                let census = wires.census.as_mut().expect("it has been started");
                match census.progress(&wires.comm)? {
                    None => return Ok(false),
                    Some((sum, largest)) => {
                        wires.learn(largest);
                        Some(sum)
                    }
                }
            }
            Count::Library { request, numbers, sum } => {
                if !request.test()? {
                    return Ok(false);
                }
                numbers.clear();
                Some(**sum)
            }
            Count::Missing(_) => None,
        };
        if let Some(sum) = counted {
            self.count = Count::Missing(sum);
        }
        let Count::Missing(missing) = &mut self.count else { unreachable!("counted above") };
        Ok(find(wires, missing, inbox)? & inbox.complete()? & self.outbox.complete()?)
    }
}

/// Looks for messages as long as some are missing; true when none is.
pub fn find(wires: &mut Wires, missing: &mut u32, inbox: &mut Inbox) -> Result<bool> {
    while *missing > 0 {
        if !wires.find(None, inbox)? {
            return Ok(false);
        }
        *missing -= 1;
    }
    Ok(true)
}
