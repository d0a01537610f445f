//! A schedule and the executors of blocking calls, which stay bound to the arguments of the last
//! few calls.
//!
//! Programs make the same calls again and again, with one pair of buffers or a few. A call whose
//! arguments are those of an earlier one (`datatype/remembered.rs`) finds an executor that is bound
//! to them, and starts as a plan does. Any other binds the executor that has not been used for
//! longest. After [`PATIENCE`] calls in a row that are new, nothing is remembered or looked up
//! until [`PERIOD`] are over: a program whose arguments always change pays for binding alone.
//!
//! Where such a program also frees datatypes between its calls, they are no longer watched, and are
//! forgotten after each call.
//!
//! An executor that combines or forwards blocks, or puts them into a window, holds copies of them.
//! Of these there is one.
//!
//! Where a device driver is loaded nothing is remembered, as an address that was host memory may
//! have become device memory.
//!
//! Cost: remembering copies the arrays of counts, displacements and datatypes. The first calls with
//! different arguments make up to [`MOST`] executors.

// inline(always): see `datatype/remembered.rs`

use std::sync::Arc;

use crate::collective::executors::ExecutorPool;
use crate::collective::{Operation, Purpose, Selected};
use crate::datatype::buffers::Buffers;
use crate::datatype::known::Known;
use crate::datatype::remembered::RememberedArguments;
use crate::error::Result;
use crate::exec::combine::Combine;
use crate::exec::{Any, Executor};
use crate::mpi::device;
use crate::schedule::Schedule;
use crate::select::Choice;

/// Most executors.
const MOST: usize = 4;

/// How many calls in a row with new arguments are remembered.
const PATIENCE: u32 = 8;

/// After how many of them the next [`PATIENCE`] are.
const PERIOD: u32 = 1024;

/// The arguments of a blocking call.
pub trait CallArguments {
    /// True if they are those of an earlier call on the same neighborhood. That one was valid, so
    /// nothing has to be checked.
    ///
    /// # Safety
    /// They must be what the C prototype asks for.
    unsafe fn are(&self, kept: &RememberedArguments) -> bool;
}

impl CallArguments for Buffers<'_> {
    unsafe fn are(&self, kept: &RememberedArguments) -> bool {
        kept.are(self)
    }
}

/// A schedule and the executors of blocking calls.
pub struct Runner {
    /// The algorithm, and why it was chosen.
    pub choice: Choice,
    /// Before folding.
    pub schedule: Arc<Schedule>,
    /// None before the first call. Of those that combine blocks, the second one does so in any
    /// order.
    executors: Vec<BoundExecutor>,
    /// How they combine blocks, and true if they may do so in any order.
    combine: Option<Combine>,
    any_order: bool,
    /// True if executors may be made for more arguments.
    grows: bool,
    /// Counts calls.
    clock: u64,
    /// Calls in a row with new arguments, modulo [`PERIOD`].
    misses: u32,
    known: Known,
    /// Buffer addresses of the last calls with new arguments. Others make the call look again for a
    /// device driver, which may have been loaded meanwhile.
    seen: [(*mut u8, *mut u8); 2],
}

/// An executor, and the arguments that it is bound to.
pub struct BoundExecutor {
    /// The executor.
    pub executor: Any,
    arguments: RememberedArguments,
    /// True if the last call has succeeded, false before the first.
    settled: bool,
    /// When it was used last.
    used: u64,
    /// How many datatypes had been freed when it was bound last.
    freed: u64,
    /// True if MPI tells when one is freed that it is bound to.
    watches: bool,
}

impl BoundExecutor {
    fn new(executor: Any) -> BoundExecutor {
        BoundExecutor { executor, arguments: RememberedArguments::new(), settled: false, used: 0, freed: 0, watches: true }
    }

    /// Notes how its call has ended, and returns that. After an error the next call binds again.
    #[inline]
    pub fn settle(&mut self, ended: Result<()>) -> Result<()> {
        self.settled = ended.is_ok();
        ended
    }
}

impl Runner {
    /// Runs a schedule. `any_order`: reductions may combine blocks in any order.
    pub fn new(selected: Selected, operation: Operation, any_order: bool, pool: &ExecutorPool) -> Runner {
        let Selected { choice, schedule } = selected;
        let combine = operation.combines();
        let is_light = combine.is_none() && !schedule.algorithm().entry().forwards() && pool.transport().link.is_none();
        Runner {
            choice,
            schedule,
            executors: Vec::new(),
            combine,
            any_order: any_order && combine.is_some(),
            grows: is_light,
            clock: 0,
            misses: 0,
            known: Known::default(),
            seen: [(std::ptr::null_mut(), std::ptr::null_mut()); 2],
        }
    }

    /// Makes the executors that calls need and that are missing. Not before the first call, as many
    /// neighborhoods serve calls of one operation only, or requests alone.
    fn prepare(&mut self, pool: &ExecutorPool) {
        if self.executors.is_empty() {
            // most neighborhoods need no more
            self.executors.reserve_exact(1);
            self.add(self.combine, pool);
        }
        if self.any_order && self.executors.len() == 1 {
            self.add(self.combine.map(Combine::in_any_order), pool);
        }
    }

    /// Makes an executor. Returns its position.
    fn add(&mut self, combine: Option<Combine>, pool: &ExecutorPool) -> usize {
        let executor = pool.executor(&self.schedule, Purpose { combine, request: false, fields: 1, shares: true });
        self.executors.push(BoundExecutor::new(executor));
        self.executors.len() - 1
    }

    /// True if a call with these buffers reduces in any order.
    pub fn is_any_order(&self, buffers: &Buffers) -> Result<bool> {
        match buffers.op {
            Some(op) if self.any_order => op.commutes(),
            _ => Ok(false),
        }
    }

    /// Returns an executor that is bound to the buffers, for one call, which must be settled.
    ///
    /// # Safety
    /// As for `Executor::bind`.
    pub unsafe fn bind(&mut self, buffers: &Buffers, pool: &ExecutorPool) -> Result<&mut BoundExecutor> {
        // SAFETY: the caller vouches for the buffers.
        let position = match unsafe { self.find(buffers) } {
            Some(position) => position,
            // SAFETY: as above.
            None => unsafe { self.bind_anew(buffers, pool) }?,
        };
        Ok(self.lend(position))
    }

    /// The same, if an executor is bound to these arguments already.
    ///
    /// # Safety
    /// The arguments must be what the C prototype asks for.
    #[inline(always)]
    pub unsafe fn bound(&mut self, arguments: &impl CallArguments) -> Option<&mut BoundExecutor> {
        // SAFETY: the caller vouches for the arguments.
        unsafe { self.find(arguments) }.map(|position| self.lend(position))
    }

    /// Returns the position of an executor that is bound to the arguments, if one is.
    #[inline(always)]
    unsafe fn find(&mut self, arguments: &impl CallArguments) -> Option<usize> {
        if self.misses > PATIENCE || device::is_driver_known() {
            return None;
        }
        // a loop, as the compiler does not inline `position`
        for (position, bound) in self.executors.iter().enumerate() {
            // SAFETY: the caller vouches for the arguments.
            if bound.settled && unsafe { arguments.are(&bound.arguments) } && bound.arguments.are_valid(&self.known) {
                self.misses = 0;
                return Some(position);
            }
        }
        None
    }

    #[inline(always)]
    fn lend(&mut self, position: usize) -> &mut BoundExecutor {
        self.clock += 1;
        let bound = &mut self.executors[position];
        (bound.settled, bound.used) = (false, self.clock);
        bound
    }

    /// Binds an executor to new buffers. Returns its position.
    #[cold]
    #[inline(never)]
    unsafe fn bind_anew(&mut self, buffers: &Buffers, pool: &ExecutorPool) -> Result<usize> {
        self.see(buffers);
        let any_order = self.is_any_order(buffers)?;
        let is_patient = self.misses < PATIENCE;
        let remembers = is_patient && !device::is_driver_known();
        self.prepare(pool);
        self.misses = (self.misses + 1) % PERIOD;
        let position =
            if self.grows { self.replaced(remembers).unwrap_or_else(|| self.add(None, pool)) } else { usize::from(any_order) };
        let freed = self.known.freed()?;
        let bound = &mut self.executors[position];
        bound.arguments.forget();
        let renewed = std::mem::replace(&mut bound.freed, freed) != freed;
        // datatypes that come and go as the arguments do are not worth an attribute each
        let watched = bound.watches;
        bound.watches = is_patient || watched && !renewed;
        if renewed || !watched || !bound.watches {
            // a handle that MPI has accepted may have come back
            bound.executor.forget_datatypes(bound.watches);
        }
        // SAFETY: the caller vouches for the buffers.
        unsafe { bound.executor.bind(buffers) }?;
        if remembers {
            bound.arguments.remember(buffers, pool.neighborhood(), freed, &self.known);
        }
        Ok(position)
    }

    /// Returns the position of the executor for a call with new arguments: one whose last call has
    /// failed, which may know why, or the one used longest ago; the first one if the call is not
    /// remembered. `None`: another executor is to be made.
    fn replaced(&self, remembers: bool) -> Option<usize> {
        if let Some(failed) = self.executors.iter().position(|bound| !bound.settled) {
            return Some(failed);
        }
        if !remembers {
            return Some(0);
        }
        let oldest = (0..self.executors.len()).min_by_key(|&k| self.executors[k].used);
        oldest.filter(|_| self.executors.len() >= MOST)
    }

    /// Remembers the addresses of buffers, and looks for a device driver if they are new: CUDA's
    /// runtime loads its driver with the first allocation. With `MPI_BOTTOM` each call may have
    /// other buffers.
    fn see(&mut self, buffers: &Buffers) {
        let (new, [last, other]) = ((buffers.input.base, buffers.output.base), &mut self.seen);
        if *last == new {
            return;
        }
        if std::mem::replace(other, std::mem::replace(last, new)) != new {
            device::look();
        }
        if new.0.is_null() || new.1.is_null() {
            *last = (std::ptr::null_mut(), std::ptr::without_provenance_mut(1));
        }
    }
}
