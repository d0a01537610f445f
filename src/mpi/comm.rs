//! Communicators and process groups.

use std::ffi::c_int;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use super::constants::{RSMPI_COMM_NULL, RSMPI_CONGRUENT, RSMPI_GROUP_NULL, RSMPI_IDENT, RSMPI_UNDEFINED, RSMPI_UNEQUAL};
use super::tally::Tally;
use super::{MPI_Comm, MPI_Group, check};
use crate::error::{Error, Result};
use crate::util::cast::{to_int, to_u32};
use crate::util::lock::lock;

unsafe extern "C" {
    safe fn mpixn_comm_world() -> MPI_Comm;
    safe static mpixn_windows_of_parts: c_int;
    safe fn mpixn_comm_self() -> MPI_Comm;
}

/// A communicator that someone else owns: a handle that is not null and valid for `'a`. Whoever
/// makes one vouches for that, and everyone else may ask MPI about it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(transparent)]
pub struct Communicator<'a>(MPI_Comm, PhantomData<&'a ()>);

// SAFETY: a handle, which may be used in any thread that may call MPI.
unsafe impl Send for Communicator<'_> {}
// SAFETY: as above.
unsafe impl Sync for Communicator<'_> {}

/// Returns `MPI_COMM_WORLD`, for errors that belong to no communicator. It exists as long as MPI is
/// usable.
pub fn world() -> Communicator<'static> {
    Communicator(mpixn_comm_world(), PhantomData)
}

/// Returns `MPI_COMM_SELF`, for state of the process that belongs to no communicator. It exists as
/// long as MPI is usable.
pub fn itself() -> Communicator<'static> {
    Communicator(mpixn_comm_self(), PhantomData)
}

impl<'a> Communicator<'a> {
    /// Takes a caller's handle; `None` if it is `MPI_COMM_NULL`.
    ///
    /// # Safety
    /// `raw` must be null or a communicator that is not freed during `'a`.
    #[inline]
    pub unsafe fn from_raw(raw: MPI_Comm) -> Option<Communicator<'a>> {
        if raw == RSMPI_COMM_NULL { None } else { Some(Communicator(raw, PhantomData)) }
    }

    /// Returns the handle.
    #[inline]
    pub fn raw(self) -> MPI_Comm {
        self.0
    }

    /// Returns the caller's rank.
    pub fn rank(self) -> Result<u32> {
        let mut rank = 0;
        // SAFETY: a live communicator; the result is a local.
        check(unsafe { mpi_sys::MPI_Comm_rank(self.0, &mut rank) }, "MPI_Comm_rank")?;
        Ok(to_u32(rank))
    }

    /// Returns the number of processes.
    pub fn size(self) -> Result<u32> {
        let mut size = 0;
        // SAFETY: a live communicator; the result is a local.
        check(unsafe { mpi_sys::MPI_Comm_size(self.0, &mut size) }, "MPI_Comm_size")?;
        Ok(to_u32(size))
    }

    /// Returns true for an intercommunicator.
    pub fn is_inter(self) -> Result<bool> {
        let mut inter = 0;
        // SAFETY: a live communicator; the result is a local.
        check(unsafe { mpi_sys::MPI_Comm_test_inter(self.0, &mut inter) }, "MPI_Comm_test_inter")?;
        Ok(inter != 0)
    }

    /// Returns true if both have the same processes in the same order. Local.
    pub fn is_like(self, other: Communicator) -> Result<bool> {
        let mut outcome = RSMPI_UNEQUAL;
        // SAFETY: live communicators; the result is a local.
        check(unsafe { mpi_sys::MPI_Comm_compare(self.0, other.0, &mut outcome) }, "MPI_Comm_compare")?;
        Ok(outcome == RSMPI_IDENT || outcome == RSMPI_CONGRUENT)
    }

    /// Returns the ranks in `MPI_COMM_WORLD` of some processes; `None` for processes of other
    /// worlds.
    pub fn world_ranks(self, ranks: &[u32]) -> Result<Vec<Option<u32>>> {
        let to = translate_ranks(self, ranks, world())?;
        Ok(to.into_iter().map(|rank| u32::try_from(rank).ok().filter(|_| rank != super::undefined())).collect())
    }

    /// Returns the ranks in `MPI_COMM_WORLD` of all processes; `None` for processes of other
    /// worlds.
    pub fn members(self) -> Result<Vec<Option<c_int>>> {
        // SAFETY: live communicators; the group that is made is freed.
        unsafe {
            let mut group = RSMPI_GROUP_NULL;
            check(mpi_sys::MPI_Comm_group(self.0, &mut group), "MPI_Comm_group")?;
            let translated = translate(group, world());
            check(mpi_sys::MPI_Group_free(&mut group), "MPI_Group_free")?;
            translated
        }
    }
}

/// A communicator that the library owns; freed when dropped.
#[derive(Debug)]
pub struct Owned {
    comm: MPI_Comm,
    /// The communicator that this one is a part of, or itself. Errors name processes by their ranks
    /// there.
    whole: MPI_Comm,
    /// A process that a collective operation found dead.
    lost: OnceLock<u32>,
    /// Processes with which messages no longer match, and whether there are any.
    unmatched: Mutex<Vec<u32>>,
    any_unmatched: AtomicBool,
    /// The caller's rank.
    rank: OnceLock<u32>,
    /// Counts the messages of `mpi::message`, if the environment asks for it.
    tally: OnceLock<Arc<Tally>>,
}

// SAFETY: a handle, which may be used in any thread that may call MPI. Collective calls on it are
// made one after the other, as MPI asks.
unsafe impl Send for Owned {}
// SAFETY: as above.
unsafe impl Sync for Owned {}

impl Owned {
    pub(super) fn new(comm: MPI_Comm, whole: MPI_Comm) -> Owned {
        let (unmatched, any_unmatched) = (Mutex::default(), AtomicBool::new(false));
        let (lost, rank, tally) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Owned { comm, whole, lost, unmatched, any_unmatched, rank, tally }
    }

    /// Notes that the process of rank `rank` is dead, and returns the error. Collective operations
    /// fail from then on. MPI may still be running one on the communicator, which is therefore
    /// never freed.
    pub fn lose(&self, rank: u32) -> Box<Error> {
        // a part does not outlive the whole
        let named = translate_ranks(self.view(), &[rank], Communicator(self.whole, PhantomData));
        let named = named.ok().and_then(|ranks| u32::try_from(*ranks.first()?).ok()).unwrap_or(rank);
        Error::Gone { rank: *self.lost.get_or_init(|| named) }.into()
    }

    /// Fails if a collective operation found a process dead.
    pub fn is_whole(&self) -> Result<()> {
        self.lost.get().map_or(Ok(()), |&rank| Err(Error::Gone { rank }.into()))
    }

    /// Notes that a message to or from the process of rank `rank` could not be posted, nor anything
    /// in its place: the next one would be taken for it. None may be posted from then on. The
    /// communicator is never freed: MPI may give its context to another one, which would receive
    /// what was sent to this process in vain.
    #[cold]
    pub fn mismatch(&self, rank: u32) {
        let mut unmatched = lock(&self.unmatched);
        if !unmatched.contains(&rank) {
            unmatched.push(rank);
        }
        self.any_unmatched.store(true, Ordering::Release);
    }

    /// Returns true if there is a process with which messages no longer match.
    #[inline]
    pub fn has_unmatched(&self) -> bool {
        self.any_unmatched.load(Ordering::Acquire)
    }

    /// Returns true if windows can be made on it; the same on all processes. In Open MPI 4, two
    /// parts of `MPI_COMM_WORLD` that make windows at the same time can get the same file (seen in
    /// 4.1.4: `MPI_ERR_WIN` on some processes).
    pub fn can_have_windows(&self) -> Result<bool> {
        if mpixn_windows_of_parts != 0 {
            return Ok(true);
        }
        let mut result = 0;
        // SAFETY: live communicators; the result is a local.
        let rc = unsafe { mpi_sys::MPI_Comm_compare(self.raw(), world().raw(), &mut result) };
        check(rc, "MPI_Comm_compare")?;
        Ok(result != RSMPI_UNEQUAL)
    }

    /// Returns the processes with which messages no longer match.
    #[cold]
    pub fn unmatched(&self) -> Vec<u32> {
        lock(&self.unmatched).clone()
    }

    /// Returns the caller's rank, which MPI is asked for once.
    #[inline]
    pub fn rank(&self) -> Result<u32> {
        if let Some(&rank) = self.rank.get() {
            return Ok(rank);
        }
        let rank = self.view().rank()?;
        Ok(*self.rank.get_or_init(|| rank))
    }

    /// Returns `MPI_COMM_WORLD`, which is not freed.
    pub fn world() -> ManuallyDrop<Owned> {
        let world = world().0;
        ManuallyDrop::new(Owned::new(world, world))
    }

    /// Counts the messages of `mpi::message` from now on. Only the first call has an effect.
    pub fn count(&self, tally: Arc<Tally>) {
        // an earlier one stays
        let _ = self.tally.set(tally);
    }

    /// Returns the counters of messages, if there are any.
    #[inline]
    pub fn tally(&self) -> Option<&Arc<Tally>> {
        self.tally.get()
    }

    /// Lets errors name processes by their ranks in `whole`, which lives longer.
    pub(super) fn part_of(mut self, whole: &Owned) -> Owned {
        self.whole = whole.whole;
        self
    }

    /// Returns the communicator whose ranks name processes in errors.
    pub(super) fn whole(&self) -> MPI_Comm {
        self.whole
    }

    /// Returns the handle.
    pub fn raw(&self) -> MPI_Comm {
        self.comm
    }

    /// Returns the communicator, for what works on any.
    #[inline]
    pub fn view(&self) -> Communicator<'_> {
        Communicator(self.comm, PhantomData)
    }

    /// Returns the number of processes.
    pub fn size(&self) -> Result<u32> {
        self.view().size()
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if super::is_usable() && self.is_whole().is_ok() && !self.has_unmatched() {
            // SAFETY: a live communicator that no one else has. An error here cannot be reported.
            unsafe { mpi_sys::MPI_Comm_free(&mut self.comm) };
        }
    }
}

/// Returns true if a handle is `MPI_GROUP_NULL`.
pub fn is_null_group(group: MPI_Group) -> bool {
    group == RSMPI_GROUP_NULL
}

/// Returns the ranks in `other` of some processes of `comm`.
fn translate_ranks(comm: Communicator, ranks: &[u32], other: Communicator) -> Result<Vec<c_int>> {
    let from: Vec<c_int> = ranks.iter().map(|&rank| to_int(rank)).collect();
    let mut group = RSMPI_GROUP_NULL;
    // SAFETY: a live communicator; the group is freed.
    unsafe {
        check(mpi_sys::MPI_Comm_group(comm.0, &mut group), "MPI_Comm_group")?;
        let translated = translate_group(group, &from, other);
        let freed = check(mpi_sys::MPI_Group_free(&mut group), "MPI_Group_free");
        translated.and_then(|to| freed.map(|()| to))
    }
}

/// Returns the ranks in `comm` of the processes of `group`, in the group's order; `None` for a
/// process that is not in `comm`.
///
/// # Safety
/// `group` must be a group.
pub unsafe fn translate(group: MPI_Group, comm: Communicator) -> Result<Vec<Option<c_int>>> {
    // SAFETY: the caller vouches for the group; the result is a local.
    let to = unsafe {
        let mut size = 0;
        check(mpi_sys::MPI_Group_size(group, &mut size), "MPI_Group_size")?;
        translate_group(group, &(0..size).collect::<Vec<c_int>>(), comm)?
    };
    Ok(to.into_iter().map(|r| (r != RSMPI_UNDEFINED).then_some(r)).collect())
}

/// Returns the ranks in `comm` of those that are `from` in `group`; undefined for a process that is
/// not in `comm`.
///
/// # Safety
/// `group` must be a group.
unsafe fn translate_group(group: MPI_Group, from: &[c_int], comm: Communicator) -> Result<Vec<c_int>> {
    let (mut all, mut to) = (RSMPI_GROUP_NULL, vec![RSMPI_UNDEFINED; from.len()]);
    // SAFETY: the caller vouches for the group; the arrays have the given lengths, and the group
    // that is made is freed.
    unsafe {
        check(mpi_sys::MPI_Comm_group(comm.0, &mut all), "MPI_Comm_group")?;
        let count = to_int(from.len());
        let translated = mpi_sys::MPI_Group_translate_ranks(group, count, from.as_ptr(), all, to.as_mut_ptr());
        let freed = check(mpi_sys::MPI_Group_free(&mut all), "MPI_Group_free");
        check(translated, "MPI_Group_translate_ranks").and(freed)?;
    }
    Ok(to)
}
