//! PCX, personalized census: each process learns how many messages to expect from a sum over all
//! processes, and probes for that many. The messages travel meanwhile.
//!
//! Best for up to a few thousand processes. Cost: a census of P numbers (`recursive_halving.rs`, or
//! the MPI library's `MPI_Ireduce_scatter_block`), k messages, k probes; 12 P bytes of memory (own
//! census) or 4 P. Source: DSDE, section 3.2, Algorithm 1.

use crate::error::Result;
use crate::mpi::message::{Mode, Request, collective};
use crate::sparse::messages::{Arrivals, PendingSends, Sends};
use crate::sparse::recursive_halving::Census;
use crate::sparse::transport::{Tag, Transport};

/// The implementation of the census.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The library's own recursive halving.
    Own,
    /// The MPI library.
    Library,
}

/// Progress of the census.
enum Count {
    Own,
    Library {
        request: Request,
        numbers: Vec<u32>,
        sum: Box<u32>,
    },
    /// Done; this many messages are still to be found.
    Missing(u64),
}

/// A run of the protocol.
pub struct Run {
    count: Count,
    pending: PendingSends,
}

impl Run {
    /// Starts the protocol.
    ///
    /// # Safety
    /// As for `dispatch::Run::start`.
    pub unsafe fn start(transport: &mut Transport, census: &mut Option<Census>, sends: &Sends, method: Method) -> Result<Run> {
        let others = || sends.list.iter().filter(|o| o.target != transport.rank);
        let count = match method {
            Method::Own => {
                let (rank, size, tag) = (transport.rank, transport.size, transport.tag(Tag::Census));
                let mine = transport.stats(sends);
                let census = census.get_or_insert_with(|| Census::new(rank, size, tag));
                others().for_each(|o| census.table[o.target as usize] += 1);
                census.start(mine, &transport.comm)?;
                Count::Own
            }
            Method::Library => {
                let (mut numbers, mut sum) = (vec![0u32; transport.size as usize], Box::new(0u32));
                others().for_each(|o| numbers[o.target as usize] += 1);
                // SAFETY: one number per process; neither moves before the request completes.
                let request = unsafe { collective::sum_scatter(&numbers, &raw mut *sum, &transport.comm) }?;
                Count::Library { request, numbers, sum }
            }
        };
        // messages need not wait for the census: tags keep apart those that arrive early
        // SAFETY: the caller vouches for the blocks.
        Ok(Run { count, pending: unsafe { transport.send_all(sends, Mode::Standard) }? })
    }

    /// Advances the protocol. Returns true once it is done.
    ///
    /// # Safety
    /// As for `dispatch::Run::progress`.
    #[inline]
    pub unsafe fn progress(
        &mut self,
        transport: &mut Transport,
        census: &mut Option<Census>,
        arrivals: &mut Arrivals,
    ) -> Result<bool> {
        let counted = match &mut self.count {
            Count::Own => {
                let census = census.as_mut().expect("created by start");
                match census.progress(&transport.comm)? {
                    None => return Ok(false),
                    Some((sum, largest)) => {
                        transport.learn(largest);
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
            self.count = Count::Missing(sum.into());
        }
        let Count::Missing(missing) = &mut self.count else { unreachable!("counted above") };
        Ok(transport.find_missing(missing, arrivals)? & arrivals.complete()? & self.pending.complete()?)
    }
}
