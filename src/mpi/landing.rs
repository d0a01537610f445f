//! A window in which each process has memory that its sources put into.
//!
//! Epochs need neighbors alone. With an active target, a process lets its sources in (`post`), and
//! its targets let it in (`start`, `put`, `complete`). `MPI_Win_start` may block until all targets
//! have posted, so `start` asks for a promise that they have, and tells MPI so where MPI uses that
//! well (`MPI_MODE_NOCHECK`). `test` replaces `MPI_Win_wait`, which would not return if a source
//! has died.
//!
//! With a passive target, each process has one epoch for all others (`MPI_Win_lock_all`) as long as
//! the window lives. The source puts, flushes (`flush`), and then replaces a word at the target,
//! its flag, by an atomic operation (`raise`); the target calls nothing but polls its flags
//! (`flag`).
//!
//! Freeing a window is collective. What has not been freed when MPI is finalized is freed then
//! (`freed_at_end`). A window with an epoch that never ends is left to MPI.

use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::attached::Attached;
use super::coll::{self, Reduction};
use super::comm::Owned as Comm;
use super::constants::{RSMPI_ERRORS_RETURN, RSMPI_GROUP_NULL, RSMPI_INFO_NULL, RSMPI_UINT64_T, RSMPI_WIN_NULL};
use super::freed_at_end::{self, FreedAtEnd};
use super::op::Op;
use super::passive::{Put, close_to_all, open_to_all, put};
use super::{MPI_Aint, MPI_Group, check};
use crate::error::{Error, Result};
use crate::util::cast::{to_int, to_usize};

unsafe extern "C" {
    safe static mpixn_mode_epoch: c_int;
}

/// Least bytes of a contiguous block that is put straight from the caller's buffer: for a shorter
/// one, a copy costs less than a second put for the header.
pub const IN_PLACE: usize = 4096;

/// Who takes part in an epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Both ends: `MPI_Win_post`, `start`, `complete` and `test`.
    Active,
    /// The process that puts: `MPI_Win_lock_all` and `flush`.
    Passive,
}

/// A group of processes; freed when dropped.
#[derive(Debug)]
pub struct Group(MPI_Group);

// SAFETY: a handle, which may be used in any thread that may call MPI.
unsafe impl Send for Group {}
// SAFETY: as above.
unsafe impl Sync for Group {}

impl Group {
    /// Makes a group of some processes of a communicator. Local.
    pub fn of(comm: &Comm, ranks: &[u32]) -> Result<Group> {
        let ranks: Vec<c_int> = ranks.iter().map(|&rank| to_int(rank)).collect();
        let (mut all, mut group) = (RSMPI_GROUP_NULL, RSMPI_GROUP_NULL);
        // SAFETY: a live communicator; the array has the given length, and the group of all
        // processes is freed.
        unsafe {
            check(mpi_sys::MPI_Comm_group(comm.raw(), &mut all), "MPI_Comm_group")?;
            let made = check(mpi_sys::MPI_Group_incl(all, to_int(ranks.len()), ranks.as_ptr(), &mut group), "MPI_Group_incl");
            check(mpi_sys::MPI_Group_free(&mut all), "MPI_Group_free")?;
            made.map(|()| Group(group))
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if super::is_usable() {
            // SAFETY: a live group that no one else has. Errors cannot be reported.
            unsafe { mpi_sys::MPI_Group_free(&mut self.0) };
        }
    }
}

/// A word at a target that says that puts are complete.
#[derive(Debug, Clone, Copy)]
pub struct Flag {
    /// Its new value.
    pub value: u64,
    /// The process.
    pub target: u32,
    /// Where in its memory the word is, a multiple of 8.
    pub offset: u64,
}

/// The window and this process's memory in it. Freed by [`free`](Landing::free), as that is
/// collective.
#[derive(Debug)]
pub struct Landing {
    comm: Comm,
    window: mpi_sys::MPI_Win,
    /// Its place among those that are freed together.
    number: i64,
    memory: *mut u8,
    bytes: usize,
    target: Target,
    /// A window for memory of the caller's, or why there is none.
    attached: std::result::Result<Attached, String>,
    /// True while sources may put.
    open: AtomicBool,
    /// True once the window has been freed.
    freed: AtomicBool,
}

impl FreedAtEnd for Landing {
    fn free_at_end(&self) {
        let _ = self.free_if_all(true);
    }
}

// SAFETY: a handle, and memory that lives as long as the window. Whoever has the epoch uses both.
unsafe impl Send for Landing {}
// SAFETY: as above.
unsafe impl Sync for Landing {}

impl Landing {
    /// Makes a window in which this process has `bytes` bytes, and which keeps `comm`, and if it
    /// can be had, one for memory that is attached later. Collective over `comm`; `target` is the
    /// same on all processes. Where a process fails to make the first, none has it: the inner error
    /// says why.
    pub fn new(bytes: usize, target: Target, comm: Comm) -> Result<Result<Arc<Landing>>> {
        freed_at_end::prepare()?;
        // making a window blocks inside MPI: enter it only when all are here
        coll::barrier(&comm)?;
        coll::count(Some(&comm), 0);
        let mut window = RSMPI_WIN_NULL;
        let mut memory: *mut u8 = std::ptr::null_mut();
        // SAFETY: a live communicator; the results are locals. MPI writes the address of the memory
        // to the second one.
        let made = unsafe {
            let (bytes, at) = (to_int::<MPI_Aint>(bytes), (&raw mut memory).cast());
            check(mpi_sys::MPI_Win_allocate(bytes, 1, RSMPI_INFO_NULL, comm.raw(), at, &mut window), "MPI_Win_allocate")
        };
        let number = match freed_at_end::agree(made, "MPI_Win_allocate", &comm)? {
            Ok(number) => number,
            Err(e) => return Ok(Err(e)),
        };
        // SAFETY: a live window.
        check(unsafe { mpi_sys::MPI_Win_set_errhandler(window, RSMPI_ERRORS_RETURN) }, "MPI_Win_set_errhandler")?;
        if target == Target::Passive {
            // the address of no bytes is any
            let is_aligned = bytes == 0 || memory.addr().is_multiple_of(align_of::<u64>());
            let [aligned] = coll::allreduce(&comm, [i64::from(is_aligned)], Reduction::Min)?;
            let opened = if aligned == 0 {
                Err(Error::Internal("the memory of a window is not aligned".into()).into())
            } else {
                open_to_all(window, &comm)?
            };
            if let Err(e) = opened {
                // SAFETY: a live window, which no process uses.
                check(unsafe { mpi_sys::MPI_Win_free(&mut window) }, "MPI_Win_free")?;
                return Ok(Err(e));
            }
        }
        let attached = Attached::new(&comm)?.map_err(|e| e.to_string());
        let (open, freed) = (AtomicBool::new(false), AtomicBool::new(false));
        let landing = Arc::new(Landing { comm, window, number, memory, bytes, target, attached, open, freed });
        freed_at_end::keep(number, Arc::clone(&landing) as Arc<dyn FreedAtEnd>)?;
        Ok(Ok(landing))
    }

    /// Who takes part in epochs.
    pub fn target(&self) -> Target {
        self.target
    }

    /// The communicator of the window's processes.
    pub fn comm(&self) -> &Comm {
        &self.comm
    }

    /// A window for memory of the caller's; the same on all processes.
    ///
    /// # Errors
    /// Why there is none.
    pub fn attached(&self) -> std::result::Result<&Attached, &str> {
        self.attached.as_ref().map_err(String::as_str)
    }

    /// Frees the window if no process `keeps` it, or has an epoch open, and returns true then.
    /// Collective.
    pub fn free(&self, keeps: bool) -> Result<bool> {
        let freed = super::is_usable() && self.free_if_all(!keeps)?;
        if freed {
            freed_at_end::forget(self.number)?;
        }
        Ok(freed)
    }

    /// Frees the window if all processes can do so, and returns true then.
    fn free_if_all(&self, can: bool) -> Result<bool> {
        freed_at_end::free_if_all(&self.comm, &self.freed, can && !self.open.load(Ordering::Acquire), || {
            let mut window = self.window;
            if self.target == Target::Passive {
                close_to_all(self.window)?;
            }
            if let Ok(attached) = &self.attached {
                attached.free()?;
            }
            // SAFETY: a live window, which nobody uses any more.
            check(unsafe { mpi_sys::MPI_Win_free(&mut window) }, "MPI_Win_free")
        })
    }

    /// Address of a byte of this process's memory; null if there are not `bytes` bytes from there
    /// on.
    pub fn at(&self, offset: usize, bytes: usize) -> *const u8 {
        let fits = offset.checked_add(bytes).is_some_and(|end| end <= self.bytes);
        if fits { self.memory.wrapping_add(offset) } else { std::ptr::null() }
    }

    /// Lets the processes of a group put. Does not block. A passive target always does.
    pub fn post(&self, sources: &Group) -> Result<()> {
        if self.target == Target::Passive {
            return Ok(());
        }
        // SAFETY: a live window and group.
        check(unsafe { mpi_sys::MPI_Win_post(sources.0, mpixn_mode_epoch, self.window) }, "MPI_Win_post")?;
        self.open.store(true, Ordering::Release);
        Ok(())
    }

    /// Returns true, once, when all that the group of `post` has put is here, which ends its epoch.
    pub fn test(&self) -> Result<bool> {
        let mut done = 0;
        // SAFETY: a live window; the result is a local.
        check(unsafe { mpi_sys::MPI_Win_test(self.window, &mut done) }, "MPI_Win_test")?;
        if done != 0 {
            self.open.store(false, Ordering::Release);
        }
        Ok(done != 0)
    }

    /// Begins to access the memory of the processes of a group, each of which has posted.
    pub fn start(&self, targets: &Group) -> Result<()> {
        // SAFETY: a live window and group.
        check(unsafe { mpi_sys::MPI_Win_start(targets.0, mpixn_mode_epoch, self.window) }, "MPI_Win_start")
    }

    /// Completes the puts since `start`, here and at their targets. When this returns, the bytes
    /// may be written again.
    pub fn complete(&self) -> Result<()> {
        // SAFETY: a live window.
        check(unsafe { mpi_sys::MPI_Win_complete(self.window) }, "MPI_Win_complete")
    }

    /// Starts puts, one after the other. If MPI refuses one, those behind it are left out.
    ///
    /// # Safety
    /// The bytes must be readable, and not be written, until `complete` or, with a passive target,
    /// `flush` has returned.
    pub unsafe fn put(&self, puts: impl IntoIterator<Item = Put>) -> Result<()> {
        // SAFETY: the caller vouches for the bytes.
        puts.into_iter().try_for_each(|one| unsafe { put(self.window, one) })
    }

    /// Completes the puts to a process, here and there. When this returns, the bytes may be written
    /// again. For a window with a passive target.
    pub fn flush(&self, target: u32) -> Result<()> {
        // SAFETY: a live window, locked.
        check(unsafe { mpi_sys::MPI_Win_flush(to_int(target), self.window) }, "MPI_Win_flush")
    }

    /// Gives a flag its value, after a flush of what it stands for. For a window with a passive
    /// target.
    pub fn raise(&self, Flag { value, target, offset }: Flag) -> Result<()> {
        let (word, replace) = (RSMPI_UINT64_T, Op::replace().raw());
        let (at, to, offset) = ((&raw const value).cast(), to_int(target), to_int::<MPI_Aint>(offset));
        // SAFETY: a live window, locked; the word lives until it has been flushed.
        let rc = unsafe { mpi_sys::MPI_Accumulate(at, 1, word, to, offset, 1, word, replace, self.window) };
        check(rc, "MPI_Accumulate").and_then(|()| self.flush(target))
    }

    /// Makes what has been put visible to this process. For a window with a passive target.
    pub fn sync(&self) -> Result<()> {
        // SAFETY: a live window, locked.
        check(unsafe { mpi_sys::MPI_Win_sync(self.window) }, "MPI_Win_sync")
    }

    /// Returns a flag of this process, for a window with a passive target. Once it has been raised,
    /// and after [`Landing::sync`], what was put before can be read.
    #[expect(clippy::cast_ptr_alignment, reason = "asserted")]
    pub fn flag(&self, offset: u64) -> &AtomicU64 {
        let at = self.at(to_usize(offset), size_of::<u64>());
        assert!(!at.is_null() && at.addr().is_multiple_of(align_of::<u64>()), "a flag is a word of the window");
        // SAFETY: a word of the window's memory, aligned, which other processes change as a whole.
        unsafe { AtomicU64::from_ptr(at.cast::<u64>().cast_mut()) }
    }
}
