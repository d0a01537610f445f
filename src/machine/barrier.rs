//! How long the barrier of all processes takes with which rounds of puts can end.
//!
//! It is measured by each set call that needs it, as it depends on all processes and where they
//! are, and is over soon: no file keeps it.

use crate::error::Result;
use crate::mpi::barrier::Barrier;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::liveness::Patience;
use crate::mpi::peer::now;

/// Tag on the communicator, which is one of this measurement alone.
const TAG: i32 = 1;

/// How many barriers are timed, together so many, after one of each that warms up.
const TIMES: usize = 7;
const TOGETHER: usize = 4;

/// Returns the microseconds of a barrier, the median of some, as this process sees it. Collective.
///
/// Cost: a duplicate of the communicator, and 32 barriers.
pub fn time(comm: &Comm) -> Result<f64> {
    let comm = comm.again()?;
    let mut barrier = Barrier::new(comm.rank()?, comm.size()?, TAG, u32::max);
    let mut times = Vec::with_capacity(TIMES);
    let mut patience = Patience::default();
    for round in 0..=TIMES {
        let began = now();
        for _ in 0..TOGETHER {
            if let Err(e) = pass(&mut barrier, &mut patience, &comm) {
                barrier.give_up();
                return Err(e);
            }
        }
        if round > 0 {
            times.push((now() - began) / TOGETHER as f64);
        }
    }
    times.sort_unstable_by(f64::total_cmp);
    Ok(times[TIMES / 2])
}

/// Runs one barrier. Fails if a process has ended.
fn pass(barrier: &mut Barrier, patience: &mut Patience, comm: &Comm) -> Result<()> {
    barrier.arm(comm)?;
    barrier.enter(0, comm)?;
    while barrier.progress(comm)?.is_none() {
        if patience.is_over() {
            patience.look_at_all(comm)?;
        }
    }
    Ok(())
}
