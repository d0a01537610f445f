//! A window without memory of its own: each process attaches memory that others then put into.
//!
//! Attaching is a local call, and no other process learns of it: whoever puts must be told the
//! address. The window is open to all as long as it lives (`MPI_Win_lock_all`). A source puts and
//! flushes, and tells the target by other means, which then calls [`Attached::sync`].
//!
//! MPI forbids that attached ranges overlap. So one that lies within another that is in use shares
//! its region, and one that overlaps a region otherwise is not attached. Nor is more than MPI is
//! known to take.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::coll;
use super::comm::Owned as Comm;
use super::constants::{RSMPI_ERRORS_RETURN, RSMPI_INFO_NULL, RSMPI_WIN_NULL};
use super::passive::{Put, close_to_all, open_to_all, put};
use super::{MPI_Aint, check, freed_at_end};
use crate::error::Result;
use crate::util::cast::to_int;
use crate::util::lock::lock;

/// Most regions. Open MPI (4.1 and 5.0) takes `osc_rdma_max_attach`, which is 64 if nobody sets it;
/// the call that exceeds it fails, keeps a lock, and so makes the next one wait for ever.
const MOST: usize = 32;

/// Addresses of memory that is attached, and the ranges in it that are in use. The memory around
/// those may have been freed.
#[derive(Debug)]
struct Region {
    addresses: Range<usize>,
    used: Vec<Range<usize>>,
}

impl Region {
    fn uses(&self, addresses: &Range<usize>) -> bool {
        self.used.iter().any(|used| contains(used, addresses))
    }
}

/// The window. Freed by [`free`](Attached::free), as that is collective.
#[derive(Debug)]
pub struct Attached {
    window: mpi_sys::MPI_Win,
    /// Disjoint.
    regions: Mutex<Vec<Region>>,
    /// True once the window has been freed, which detaches everything.
    freed: AtomicBool,
}

// SAFETY: a handle, which any thread that may call MPI may use; the regions are locked.
unsafe impl Send for Attached {}
// SAFETY: as above.
unsafe impl Sync for Attached {}

impl Attached {
    /// Makes a window. Collective over `comm`. Where a process fails to make it, none has it: the
    /// inner error says why.
    pub fn new(comm: &Comm) -> Result<Result<Attached>> {
        // making a window blocks inside MPI: enter it only when all are here
        coll::barrier(comm)?;
        coll::count(Some(comm), 0);
        let mut window = RSMPI_WIN_NULL;
        // SAFETY: a live communicator; the result is a local.
        let rc = unsafe { mpi_sys::MPI_Win_create_dynamic(RSMPI_INFO_NULL, comm.raw(), &mut window) };
        let made = check(rc, "MPI_Win_create_dynamic");
        if let Err(e) = freed_at_end::agree(made, "MPI_Win_create_dynamic", comm)? {
            return Ok(Err(e));
        }
        // SAFETY: a live window.
        check(unsafe { mpi_sys::MPI_Win_set_errhandler(window, RSMPI_ERRORS_RETURN) }, "MPI_Win_set_errhandler")?;
        if let Err(e) = open_to_all(window, comm)? {
            // SAFETY: a live window, which no process uses.
            check(unsafe { mpi_sys::MPI_Win_free(&mut window) }, "MPI_Win_free")?;
            return Ok(Err(e));
        }
        Ok(Ok(Attached { window, regions: Mutex::default(), freed: AtomicBool::new(false) }))
    }

    /// Frees the window, which nobody uses any more. Collective.
    pub(super) fn free(&self) -> Result<()> {
        let mut window = self.window;
        self.freed.store(true, Ordering::Relaxed);
        close_to_all(window)?;
        // SAFETY: a live window, which nobody uses any more.
        check(unsafe { mpi_sys::MPI_Win_free(&mut window) }, "MPI_Win_free")
    }

    /// Attaches memory, and returns true if others can put there now.
    ///
    /// # Safety
    /// The bytes must be memory of this process until they are detached.
    pub unsafe fn attach(&self, addresses: &Range<usize>) -> bool {
        let mut regions = lock(&self.regions);
        if let Some(region) = regions.iter_mut().find(|region| region.uses(addresses)) {
            region.used.push(addresses.clone());
            return true;
        }
        if regions.len() == MOST || regions.iter().any(|region| overlap(&region.addresses, addresses)) {
            return false;
        }
        let at = std::ptr::with_exposed_provenance_mut(addresses.start);
        // SAFETY: a live window; the caller vouches for the bytes, which no other region has.
        let rc = unsafe { mpi_sys::MPI_Win_attach(self.window, at, to_int::<MPI_Aint>(addresses.len())) };
        let attached = check(rc, "MPI_Win_attach").is_ok();
        if attached {
            regions.push(Region { addresses: addresses.clone(), used: vec![addresses.clone()] });
        }
        attached
    }

    /// Takes back one `attach`, into whose memory nobody puts any more.
    pub fn detach(&self, addresses: &Range<usize>) {
        let mut regions = lock(&self.regions);
        let Some(k) = regions.iter().position(|region| contains(&region.addresses, addresses)) else { return };
        let used = &mut regions[k].used;
        if let Some(mine) = used.iter().position(|used| used == addresses) {
            used.swap_remove(mine);
        }
        if !used.is_empty() {
            return;
        }
        let region = regions.swap_remove(k);
        if !self.freed.load(Ordering::Relaxed) && super::is_usable() {
            let at = std::ptr::with_exposed_provenance(region.addresses.start);
            // SAFETY: a live window with this region. Errors cannot be reported.
            unsafe { mpi_sys::MPI_Win_detach(self.window, at) };
        }
    }

    /// Starts a put; its offset is what [`address`] has returned at the target.
    ///
    /// # Safety
    /// The bytes must be readable, and not be written, until `flush` has returned.
    pub unsafe fn put(&self, one: Put) -> Result<()> {
        // SAFETY: the caller vouches for the bytes.
        unsafe { put(self.window, one) }
    }

    /// Completes the puts to a process, here and there.
    pub fn flush(&self, target: u32) -> Result<()> {
        // SAFETY: a live window, locked.
        check(unsafe { mpi_sys::MPI_Win_flush(to_int(target), self.window) }, "MPI_Win_flush")
    }

    /// Makes what has been put visible to this process.
    pub fn sync(&self) -> Result<()> {
        // SAFETY: a live window, locked.
        check(unsafe { mpi_sys::MPI_Win_sync(self.window) }, "MPI_Win_sync")
    }
}

/// Returns an address as other processes name it in puts.
pub fn address(at: *const u8) -> Result<u64> {
    let mut address: MPI_Aint = 0;
    // SAFETY: nothing is read at the address; the result is a local.
    check(unsafe { mpi_sys::MPI_Get_address(at.cast(), &mut address) }, "MPI_Get_address")?;
    Ok((address as i64).cast_unsigned())
}

fn contains(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}
