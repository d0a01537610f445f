//! Communicators and process groups.

use std::ffi::c_int;
use std::mem::ManuallyDrop;
use std::sync::{Arc, OnceLock};

use super::constants::{RSMPI_COMM_NULL, RSMPI_COMM_SELF, RSMPI_COMM_WORLD, RSMPI_GROUP_NULL, RSMPI_UNDEFINED};
use super::tally::Tally;
use super::{MPI_Comm, MPI_Group, check};
use crate::error::{Error, Result};

/// Returns true if a handle is `MPI_COMM_NULL`.
pub fn is_null(comm: MPI_Comm) -> bool {
    comm == RSMPI_COMM_NULL
}

/// Returns `MPI_COMM_WORLD`, for errors that belong to no communicator.
pub fn world() -> MPI_Comm {
    RSMPI_COMM_WORLD
}

/// Returns `MPI_COMM_SELF`, for state of the process that belongs to no communicator.
pub fn itself() -> MPI_Comm {
    RSMPI_COMM_SELF
}

/// Returns the caller's rank.
///
/// # Safety
/// `comm` must be a communicator.
pub unsafe fn rank(comm: MPI_Comm) -> Result<u32> {
    let mut rank = 0;
    // SAFETY: the caller vouches for `comm`; the result is a local.
    check(unsafe { mpi_sys::MPI_Comm_rank(comm, &mut rank) }, "MPI_Comm_rank")?;
    Ok(rank as u32)
}

/// Returns the number of processes.
///
/// # Safety
/// `comm` must be a communicator.
pub unsafe fn size(comm: MPI_Comm) -> Result<u32> {
    let mut size = 0;
    // SAFETY: the caller vouches for `comm`; the result is a local.
    check(unsafe { mpi_sys::MPI_Comm_size(comm, &mut size) }, "MPI_Comm_size")?;
    Ok(size as u32)
}

/// Returns true if `comm` is an intercommunicator.
///
/// # Safety
/// `comm` must be a communicator.
pub unsafe fn is_inter(comm: MPI_Comm) -> Result<bool> {
    let mut inter = 0;
    // SAFETY: the caller vouches for `comm`; the result is a local.
    check(unsafe { mpi_sys::MPI_Comm_test_inter(comm, &mut inter) }, "MPI_Comm_test_inter")?;
    Ok(inter != 0)
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
        Owned { comm, whole, lost: OnceLock::new(), tally: OnceLock::new() }
    }

    /// Notes that the process of rank `rank` is dead, and returns the error. Collective operations
    /// fail from then on. MPI may still be running one on the communicator, which is therefore
    /// never freed.
    pub fn lose(&self, rank: u32) -> Box<Error> {
        // SAFETY: live communicators; a part does not outlive the whole.
        let named = unsafe { translate_ranks(self.comm, &[rank], self.whole) };
        let named = named.ok().and_then(|ranks| u32::try_from(*ranks.first()?).ok()).unwrap_or(rank);
        Error::Gone { rank: *self.lost.get_or_init(|| named) }.into()
    }

    /// Fails if a collective operation found a process dead.
    pub fn is_whole(&self) -> Result<()> {
        self.lost.get().map_or(Ok(()), |&rank| Err(Error::Gone { rank }.into()))
    }

    /// Returns `MPI_COMM_WORLD`, which is not freed.
    pub fn world() -> ManuallyDrop<Owned> {
        let world = world();
        ManuallyDrop::new(Owned::new(world, world))
    }

    /// Counts the messages of `mpi::message` from now on. Only the first call has an effect.
    pub fn count(&self, tally: Arc<Tally>) {
        // an earlier one stays
        let _ = self.tally.set(tally);
    }

    /// Returns the counters of messages, if there are any.
    #[inline(always)]
    pub fn tally(&self) -> Option<&Arc<Tally>> {
        self.tally.get()
    }

    /// Returns the communicator whose ranks name processes in errors.
    pub(super) fn whole(&self) -> MPI_Comm {
        self.whole
    }

    /// Returns the handle.
    pub fn raw(&self) -> MPI_Comm {
        self.comm
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if super::is_usable() && self.is_whole().is_ok() {
            // SAFETY: a live communicator that no one else has. An error here cannot be reported.
            unsafe { mpi_sys::MPI_Comm_free(&mut self.comm) };
        }
    }
}

/// Returns true if a handle is `MPI_GROUP_NULL`.
pub fn is_null_group(group: MPI_Group) -> bool {
    group == RSMPI_GROUP_NULL
}

/// Returns the ranks in `MPI_COMM_WORLD` of some processes of `comm`; `None` for processes of other
/// worlds.
///
/// # Safety
/// `comm` must be a communicator.
pub unsafe fn world_ranks(comm: MPI_Comm, ranks: &[u32]) -> Result<Vec<Option<u32>>> {
    // SAFETY: the caller vouches for `comm`; the world is a communicator.
    let to = unsafe { translate_ranks(comm, ranks, world()) }?;
    Ok(to.into_iter().map(|rank| u32::try_from(rank).ok().filter(|_| rank != super::undefined())).collect())
}

/// Returns the ranks in `other` of some processes of `comm`.
///
/// # Safety
/// Both must be communicators.
unsafe fn translate_ranks(comm: MPI_Comm, ranks: &[u32], other: MPI_Comm) -> Result<Vec<i32>> {
    // SAFETY: the caller vouches for the communicators; the arrays have the given lengths,
    // and the groups are freed.
    unsafe {
        let mut groups: [MPI_Group; 2] = [RSMPI_GROUP_NULL; 2];
        check(mpi_sys::MPI_Comm_group(comm, &mut groups[0]), "MPI_Comm_group")?;
        check(mpi_sys::MPI_Comm_group(other, &mut groups[1]), "MPI_Comm_group")?;
        let from: Vec<i32> = ranks.iter().map(|&rank| rank as i32).collect();
        let mut to = vec![super::undefined(); from.len()];
        let (count, at) = (from.len() as i32, to.as_mut_ptr());
        let translated = check(
            mpi_sys::MPI_Group_translate_ranks(groups[0], count, from.as_ptr(), groups[1], at),
            "MPI_Group_translate_ranks",
        );
        for group in &mut groups {
            check(mpi_sys::MPI_Group_free(group), "MPI_Group_free")?;
        }
        translated.map(|()| to)
    }
}

/// Returns the ranks in `MPI_COMM_WORLD` of all processes of `comm`; `None` for processes of other
/// worlds.
///
/// # Safety
/// `comm` must be a communicator.
pub unsafe fn members(comm: MPI_Comm) -> Result<Vec<Option<c_int>>> {
    // SAFETY: the caller vouches for `comm`; the group that is made is freed.
    unsafe {
        let mut group = RSMPI_GROUP_NULL;
        check(mpi_sys::MPI_Comm_group(comm, &mut group), "MPI_Comm_group")?;
        let translated = translate(group, world());
        check(mpi_sys::MPI_Group_free(&mut group), "MPI_Group_free")?;
        translated
    }
}

/// Returns the ranks in `comm` of the processes of `group`, in the group's order; `None` for a
/// process that is not in `comm`.
///
/// # Safety
/// `group` must be a group, `comm` a communicator.
pub unsafe fn translate(group: MPI_Group, comm: MPI_Comm) -> Result<Vec<Option<c_int>>> {
    // SAFETY: the caller vouches for the handles; the arrays have the given lengths, and
    // the group that is made is freed.
    unsafe {
        let mut size = 0;
        check(mpi_sys::MPI_Group_size(group, &mut size), "MPI_Group_size")?;
        let mut all = RSMPI_GROUP_NULL;
        check(mpi_sys::MPI_Comm_group(comm, &mut all), "MPI_Comm_group")?;
        let from: Vec<c_int> = (0..size).collect();
        let mut to = vec![0; size as usize];
        let translated = check(
            mpi_sys::MPI_Group_translate_ranks(group, size, from.as_ptr(), all, to.as_mut_ptr()),
            "MPI_Group_translate_ranks",
        );
        check(mpi_sys::MPI_Group_free(&mut all), "MPI_Group_free")?;
        translated?;
        Ok(to.into_iter().map(|r| (r != RSMPI_UNDEFINED).then_some(r)).collect())
    }
}
