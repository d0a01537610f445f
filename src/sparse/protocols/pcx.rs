//! PCX, personalized census: each process learns how many messages to expect from a sum over all
//! processes. The messages travel meanwhile, to receives that are posted in advance
//! (`receive_ring.rs`).
//!
//! Best for up to a few thousand processes. Cost: a census of P numbers (`recursive_halving.rs`, or
//! the MPI library's `MPI_Ireduce_scatter_block`), k messages; 12 P bytes of memory (own census) or
//! 4 P. Source: DSDE, section 3.2, Algorithm 1.

use crate::error::Result;
use crate::mpi::message::{Mode, Request, collective, lend};
use crate::sparse::messages::{Arrivals, Sends};
use crate::sparse::receive_ring::{ReceiveRing, RingSends};
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
    /// Done: this many messages are for this process.
    Done(u64),
}

/// A run of the protocol.
pub struct Run {
    count: Count,
    sends: RingSends,
    /// Messages that have come.
    came: u64,
}

impl Run {
    /// Starts the protocol.
    ///
    /// # Safety
    /// As for `dispatch::Run::start`.
    pub unsafe fn start(
        transport: &mut Transport,
        ring: &mut ReceiveRing,
        census: &mut Option<Census>,
        sends: &Sends,
        method: Method,
        arrivals: &mut Arrivals,
    ) -> Result<Run> {
        let others = || sends.list.iter().filter(|o| o.target != transport.rank);
        // messages need not wait for the census: tags keep apart those that arrive early
        let mut send = |transport: &mut Transport| -> Result<_> {
            let came = ring.start(transport, arrivals)?;
            // SAFETY: the caller vouches for the blocks.
            Ok((came, unsafe { ring.send_all(transport, sends, Mode::Standard, |i| [sends.list[i].target]) }?))
        };
        let (count, (came, sends)) = match method {
            Method::Own => {
                let (rank, size, tag) = (transport.rank, transport.size, transport.tag(Tag::Census));
                let mine = transport.stats(sends);
                let census = census.get_or_insert_with(|| Census::new(rank, size, tag));
                others().for_each(|o| census.table[o.target as usize] += 1);
                census.start(mine, &transport.comm)?;
                (Count::Own, send(transport)?)
            }
            Method::Library => {
                let mut numbers = vec![0u32; transport.size as usize];
                others().for_each(|o| numbers[o.target as usize] += 1);
                let ((numbers, sum), (request, sent)) = lend((numbers, Box::new(0u32)), |(numbers, sum)| {
                    // SAFETY: one number per process; neither moves before the request completes.
                    let request = unsafe { collective::sum_scatter(numbers, &raw mut **sum, &transport.comm) }?;
                    Ok((request, send(transport)?))
                })?;
                (Count::Library { request, numbers, sum }, sent)
            }
        };
        Ok(Run { count, sends, came })
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
        census: &mut Option<Census>,
        arrivals: &mut Arrivals,
    ) -> Result<bool> {
        let counted = match &mut self.count {
            Count::Own => {
                let census = census.as_mut().expect("created by start");
                match census.progress(&transport.comm)? {
                    None => {
                        self.came += ring.advance(transport, arrivals)?;
                        return Ok(false);
                    }
                    Some((sum, largest)) => {
                        transport.learn(largest);
                        Some(sum)
                    }
                }
            }
            Count::Library { request, numbers, sum } => {
                if !request.test()? {
                    self.came += ring.advance(transport, arrivals)?;
                    return Ok(false);
                }
                numbers.clear();
                Some(**sum)
            }
            Count::Done(_) => None,
        };
        if let Some(sum) = counted {
            self.count = Count::Done(sum.into());
        }
        let Count::Done(sum) = self.count else { unreachable!("counted above") };
        if self.came < sum {
            self.came += ring.advance(transport, arrivals)?;
        }
        Ok((self.came == sum) & arrivals.complete()? & self.sends.small.complete()? & self.sends.long.complete()?)
    }
}
