//! Communicators and process groups.

use std::ffi::c_int;
use std::mem::ManuallyDrop;
use std::sync::{Arc, OnceLock};

use super::tally::Tally;
use super::{MPI_Comm, MPI_Group, check, coll, liveness};
use crate::error::{Error, Result};

/// Whether a handle is `MPI_COMM_NULL`.
pub fn is_null(comm: MPI_Comm) -> bool {
    // SAFETY: a constant of mpi-sys' C file.
    comm == unsafe { mpi_sys::RSMPI_COMM_NULL }
}

/// `MPI_COMM_WORLD`, for errors that belong to no communicator.
pub fn world() -> MPI_Comm {
    // SAFETY: a constant of mpi-sys' C file.
    unsafe { mpi_sys::RSMPI_COMM_WORLD }
}

/// `MPI_COMM_SELF`, for what belongs to the process and no communicator.
pub fn itself() -> MPI_Comm {
    // SAFETY: a constant of mpi-sys' C file.
    unsafe { mpi_sys::RSMPI_COMM_SELF }
}

/// The caller's rank.
///
/// # Safety
/// `comm` must be a communicator.
pub unsafe fn rank(comm: MPI_Comm) -> Result<u32> {
    let mut rank = 0;
    // SAFETY: the caller vouches for `comm`; the result is a local.
    check(unsafe { mpi_sys::MPI_Comm_rank(comm, &mut rank) }, "MPI_Comm_rank")?;
    Ok(rank as u32)
}

/// Number of processes.
///
/// # Safety
/// `comm` must be a communicator.
pub unsafe fn size(comm: MPI_Comm) -> Result<u32> {
    let mut size = 0;
    // SAFETY: the caller vouches for `comm`; the result is a local.
    check(unsafe { mpi_sys::MPI_Comm_size(comm, &mut size) }, "MPI_Comm_size")?;
    Ok(size as u32)
}

/// Whether it is an intercommunicator.
///
/// # Safety
/// `comm` must be a communicator.
pub unsafe fn is_inter(comm: MPI_Comm) -> Result<bool> {
    let mut inter = 0;
    // SAFETY: the caller vouches for `comm`; the result is a local.
    check(unsafe { mpi_sys::MPI_Comm_test_inter(comm, &mut inter) }, "MPI_Comm_test_inter")?;
    Ok(inter != 0)
}

/// A communicator of our own; freed when dropped.
#[derive(Debug)]
pub struct Owned {
    comm: MPI_Comm,
    /// The communicator that this one is a part of, or itself: errors name processes by their ranks there.
    whole: MPI_Comm,
    /// A process that an operation of all has found dead.
    lost: OnceLock<u32>,
    /// Counts the messages of `message.rs`, where somebody asks.
    tally: OnceLock<Arc<Tally>>,
}

// SAFETY: a handle, which may be used in any thread that may call MPI. Collective calls on it are made one after the other, as MPI asks.
unsafe impl Send for Owned {}
// SAFETY: as above.
unsafe impl Sync for Owned {}

impl Owned {
    fn new(comm: MPI_Comm, whole: MPI_Comm) -> Owned {
        Owned { comm, whole, lost: OnceLock::new(), tally: OnceLock::new() }
    }

    /// Notes that a process is dead, by its rank here, so that collective operations fail from then on: the error of this one. MPI may still be at work in an
    /// operation on the communicator, which therefore is never freed.
    pub fn lose(&self, rank: u32) -> Box<Error> {
        // SAFETY: live communicators; a part does not outlive the whole.
        let named = unsafe { liveness::translate(self.comm, &[rank], self.whole) };
        let named = named.ok().and_then(|ranks| u32::try_from(*ranks.first()?).ok()).unwrap_or(rank);
        Error::Gone { rank: *self.lost.get_or_init(|| named) }.into()
    }

    /// Fails if an operation of all processes has found one dead.
    pub fn is_whole(&self) -> Result<()> {
        self.lost.get().map_or(Ok(()), |&rank| Err(Error::Gone { rank }.into()))
    }

    /// A duplicate of `comm` without its info hints (which may promise what we do not keep), whose errors come back as codes.
    /// Collective over `comm`.
    ///
    /// # Safety
    /// `comm` must be an intracommunicator, and all its processes must call this.
    pub unsafe fn duplicate(comm: MPI_Comm) -> Result<Owned> {
        // a duplicate cannot be waited for with patience, but the processes that enter it late can
        // SAFETY: the caller vouches for `comm`.
        unsafe {
            coll::meet(comm)?;
            Owned::copy(comm)
        }
    }

    /// Another communicator of the same processes. Collective over `self`.
    pub fn again(&self) -> Result<Owned> {
        coll::barrier(self)?;
        // SAFETY: a live communicator.
        unsafe { Owned::copy(self.comm) }
    }

    unsafe fn copy(comm: MPI_Comm) -> Result<Owned> {
        // SAFETY: the caller vouches for `comm`; the handles are constants and a local.
        unsafe {
            coll::count(None, 0);
            let mut copy = mpi_sys::RSMPI_COMM_NULL;
            check(mpi_sys::MPI_Comm_dup_with_info(comm, mpi_sys::RSMPI_INFO_NULL, &mut copy), "MPI_Comm_dup_with_info")?;
            let copy = Owned::new(copy, copy);
            check(mpi_sys::MPI_Comm_set_errhandler(copy.comm, mpi_sys::RSMPI_ERRORS_RETURN), "MPI_Comm_set_errhandler")?;
            Ok(copy)
        }
    }

    /// The processes that share memory with the caller. Collective over `self`.
    pub fn node(&self) -> Result<Owned> {
        coll::barrier(self)?;
        // SAFETY: a live communicator; the other handles are constants and a local.
        unsafe {
            coll::count(None, 0);
            let mut node = mpi_sys::RSMPI_COMM_NULL;
            let shared = mpi_sys::RSMPI_COMM_TYPE_SHARED;
            check(
                mpi_sys::MPI_Comm_split_type(self.comm, shared, 0, mpi_sys::RSMPI_INFO_NULL, &mut node),
                "MPI_Comm_split_type",
            )?;
            Ok(Owned::new(node, self.whole))
        }
    }

    /// Those processes that give the same `color`, in the order of their ranks. Collective over `self`.
    pub fn split(&self, color: u32) -> Result<Owned> {
        coll::barrier(self)?;
        // SAFETY: a live communicator; the other handle is a local.
        unsafe {
            coll::count(None, 0);
            let mut part = mpi_sys::RSMPI_COMM_NULL;
            check(mpi_sys::MPI_Comm_split(self.comm, color as c_int, 0, &mut part), "MPI_Comm_split")?;
            Ok(Owned::new(part, self.whole))
        }
    }

    /// A communicator of the caller alone. Collective over `self`.
    pub fn alone(&self) -> Result<Owned> {
        // SAFETY: a live communicator.
        self.split(unsafe { rank(self.comm) }?)
    }

    /// `MPI_COMM_WORLD`, which is not freed.
    pub fn world() -> ManuallyDrop<Owned> {
        let world = world();
        ManuallyDrop::new(Owned::new(world, world))
    }

    /// Counts the single messages that are sent from now on (`message.rs`). Once.
    pub fn count(&self, tally: Arc<Tally>) {
        // an earlier one stays
        let _ = self.tally.set(tally);
    }

    /// Where messages are counted.
    #[inline(always)]
    pub fn tally(&self) -> Option<&Arc<Tally>> {
        self.tally.get()
    }

    /// The handle.
    pub fn raw(&self) -> MPI_Comm {
        self.comm
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if super::is_usable() && self.is_whole().is_ok() {
            // SAFETY: a live communicator that no one else has. An error here has no one to go to.
            unsafe { mpi_sys::MPI_Comm_free(&mut self.comm) };
        }
    }
}

/// Whether a handle is `MPI_GROUP_NULL`.
pub fn is_null_group(group: MPI_Group) -> bool {
    // SAFETY: a constant of mpi-sys' C file.
    group == unsafe { mpi_sys::RSMPI_GROUP_NULL }
}

/// Ranks in `MPI_COMM_WORLD` of a communicator's processes; `None` for processes of another world.
///
/// # Safety
/// `comm` must be a communicator.
pub unsafe fn members(comm: MPI_Comm) -> Result<Vec<Option<c_int>>> {
    // SAFETY: the caller vouches for `comm`; the group that is made is freed.
    unsafe {
        let mut group = mpi_sys::RSMPI_GROUP_NULL;
        check(mpi_sys::MPI_Comm_group(comm, &mut group), "MPI_Comm_group")?;
        let translated = translate(group, world());
        check(mpi_sys::MPI_Group_free(&mut group), "MPI_Group_free")?;
        translated
    }
}

/// Ranks in `comm` of the processes of `group`, in the group's order; `None` for a process that is not in `comm`.
///
/// # Safety
/// `group` must be a group, `comm` a communicator.
pub unsafe fn translate(group: MPI_Group, comm: MPI_Comm) -> Result<Vec<Option<c_int>>> {
    // SAFETY: the caller vouches for the handles; the arrays have the lengths that are said, and the group that is made is freed.
    unsafe {
        let mut size = 0;
        check(mpi_sys::MPI_Group_size(group, &mut size), "MPI_Group_size")?;
        let mut all = mpi_sys::RSMPI_GROUP_NULL;
        check(mpi_sys::MPI_Comm_group(comm, &mut all), "MPI_Comm_group")?;
        let from: Vec<c_int> = (0..size).collect();
        let mut to = vec![0; size as usize];
        let translated = check(
            mpi_sys::MPI_Group_translate_ranks(group, size, from.as_ptr(), all, to.as_mut_ptr()),
            "MPI_Group_translate_ranks",
        );
        check(mpi_sys::MPI_Group_free(&mut all), "MPI_Group_free")?;
        translated?;
        Ok(to.into_iter().map(|r| (r != mpi_sys::RSMPI_UNDEFINED).then_some(r)).collect())
    }
}
