//! How long the barrier of all processes takes with which rounds of puts can end.
//!
//! It is measured by each set call that needs it, as it depends on all processes and where they
//! are, and is over soon: no file keeps it.

use crate::error::{Error, Result};
use crate::model::fit::median;
use crate::mpi::barrier::Barrier;
use crate::mpi::coll;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::liveness::Patience;
use crate::mpi::peer::now;

/// Tag on the communicator, which is one of this measurement alone.
const TAG: i32 = 1;

/// How many barriers are timed, together so many, after one of each that warms up.
const TIMES: usize = 7;
const TOGETHER: usize = 4;

/// Microseconds that all may take: else MPI has refused something to another process.
const DEADLINE: f64 = 3e6;

/// Returns the microseconds of a barrier, the median of some, as this process sees it; `None` on
/// all processes if MPI refuses something. Collective.
///
/// Cost: a duplicate of the communicator, 32 barriers, and a reduction.
pub fn time(comm: &Comm) -> Result<Option<f64>> {
    let own = comm.again()?;
    let mut barrier = Barrier::new(own.rank()?, own.size()?, TAG, u32::max);
    let measured = measure(&mut barrier, &own);
    if measured.is_err() {
        barrier.give_up();
        own.mismatch(own.rank()?);
    }
    match coll::share_outcome(comm, measured) {
        Ok(time) => Ok(Some(time)),
        Err(e) if matches!(*e, Error::Gone { .. }) => Err(e),
        Err(e) => {
            log::info!("the time of a barrier cannot be measured: {e}");
            Ok(None)
        }
    }
}

fn measure(barrier: &mut Barrier, comm: &Comm) -> Result<f64> {
    let mut times = Vec::with_capacity(TIMES);
    let (mut patience, deadline) = (Patience::default(), now() + DEADLINE);
    for round in 0..=TIMES {
        let began = now();
        for _ in 0..TOGETHER {
            barrier.arm(comm)?;
            barrier.enter(0, comm)?;
            while barrier.progress(comm)?.is_none() {
                if patience.is_over() {
                    patience.look_at_all(comm)?;
                    if now() > deadline {
                        return Err(Error::Internal("a process does not enter the barrier".into()).into());
                    }
                }
            }
        }
        if round > 0 {
            times.push((now() - began) / TOGETHER as f64);
        }
    }
    Ok(median(times).unwrap_or_default())
}
