//! Our requests in a program's hands.
//!
//! The program gets an MPI request, so that it can compare and copy it and convert it to Fortran;
//! this request never communicates (a persistent send to `MPI_PROC_NULL`). A table maps it to the
//! request of ours that it stands for. All functions that complete, start or free requests look
//! into the table; while it is empty that costs one load.

// inline(always): a collective that is taken over takes 77 ns instead of 104, `MPI_Test` 13 instead
// of 16, with all of this crate (benches/passthrough.c).

use std::collections::HashMap;
use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use mpi_sys::{MPI_Comm, MPI_Datatype, MPI_Request};
use mpix_neighbor::capi::{MPIX_Request, MPIX_Request_free, MPIX_Request_start, MPIX_Request_test};
use mpix_neighbor::util::lock::lock;

use crate::constants::RSMPI_COMM_WORLD;
use crate::errors::{self, SUCCESS};
use crate::function::{self, Function, Mode, Name};
use crate::state::State;
use crate::{calls, guard, settings};

unsafe extern "C" {
    fn mpixp_byte() -> MPI_Datatype;
}

/// One of our requests.
struct Entry {
    request: MPIX_Request,
    mode: Mode,
    function: Function,
    /// Bytes sent by a start, for the report.
    bytes: u64,
    /// True if started and, as far as the program knows, not yet completed.
    active: bool,
    /// The result, if it ended before the program asked.
    ended: Option<c_int>,
    /// Kept until the request is gone, even if the program frees its communicator.
    state: Arc<State>,
}

// SAFETY: requests may be completed by another thread than that which started them; the table's
// lock is held whenever one is used.
unsafe impl Send for Entry {}

impl Entry {
    /// Says what the library knows of the request's error.
    #[cold]
    fn explain(&self) {
        let function = Name(function::index(self.function, self.mode));
        if let Some(on) = self.state.for_requests {
            // SAFETY: the program's communicator, or the world if it has been freed; our own.
            unsafe { errors::explain(self.state.owner(), on, function) };
        }
    }
}

static TABLE: Mutex<Option<HashMap<usize, Entry>>> = Mutex::new(None);
static LENGTH: AtomicUsize = AtomicUsize::new(0);

/// True if the table is empty. Costs one load.
#[inline(always)]
pub fn none() -> bool {
    // a request that another thread has just made reaches this one by means that order memory
    LENGTH.load(Ordering::Relaxed) == 0
}

/// The locked table. The thread is inside as long as it exists, and must not wait for anything.
pub struct Table {
    // dropped in this order: what dropping an entry calls is inside too, and may wait, or run a
    // program's callbacks, which use the table
    table: MutexGuard<'static, Option<HashMap<usize, Entry>>>,
    removed: Vec<State>,
    _inside: guard::Inside,
}

/// The progress of a request.
pub enum Progress {
    /// Not active: there is nothing to complete.
    Inactive,
    /// Not complete.
    Pending,
    /// Complete.
    Complete,
}

/// An error to be raised when the table is unlocked.
#[derive(Clone, Copy)]
pub struct Failure {
    /// The error's class.
    pub class: c_int,
    /// The communicator whose error handler must be called.
    pub comm: MPI_Comm,
}

/// An MPI request that stands for one of ours in the program's hands. It is made before that one,
/// which communicates and could not be taken back if MPI refused.
pub struct StandIn(MPI_Request);

impl StandIn {
    /// Makes one. Returns an error code if MPI refuses.
    pub fn new() -> Result<StandIn, c_int> {
        // SAFETY: constants; the result is a local.
        let (code, handle) = unsafe {
            let mut handle = mpi_sys::RSMPI_REQUEST_NULL;
            let (nobody, alone) = (mpi_sys::RSMPI_PROC_NULL, mpi_sys::RSMPI_COMM_SELF);
            (mpi_sys::PMPI_Send_init(std::ptr::null(), 0, mpixp_byte(), nobody, 0, alone, &mut handle), handle)
        };
        if code == SUCCESS { Ok(StandIn(handle)) } else { Err(code) }
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        // SAFETY: an inactive request that is not used again.
        unsafe { mpi_sys::PMPI_Request_free(&mut self.0) };
    }
}

/// A handle as a number: an integer in some MPIs, an address in others.
fn key(request: MPI_Request) -> usize {
    const { assert!(size_of::<MPI_Request>() <= size_of::<usize>()) };
    let mut number = 0usize;
    // SAFETY: a handle is plain data, no longer than the number.
    unsafe {
        let (from, into) = ((&raw const request).cast::<u8>(), (&raw mut number).cast::<u8>());
        std::ptr::copy_nonoverlapping(from, into, size_of::<MPI_Request>());
    }
    number
}

/// Locks the table.
pub fn table() -> Table {
    let inside = guard::enter();
    Table { table: lock(&TABLE), removed: Vec::new(), _inside: inside }
}

impl Table {
    fn entry(&mut self, request: MPI_Request) -> Option<&mut Entry> {
        self.table.as_mut()?.get_mut(&key(request))
    }

    /// True if a request is ours.
    pub fn has(&self, request: MPI_Request) -> bool {
        self.table.as_ref().is_some_and(|table| table.contains_key(&key(request)))
    }

    /// The communicator of one of our requests.
    pub fn comm(&mut self, request: MPI_Request) -> MPI_Comm {
        let state = self.entry(request).map(|entry| Arc::clone(&entry.state));
        state.map_or(world(), |state| state.owner())
    }

    /// Puts one of our requests into the table, for which the program has `stand_in`.
    ///
    /// # Safety
    /// `request` must be one of the library's, which nobody else uses.
    pub unsafe fn insert(
        &mut self,
        stand_in: StandIn,
        request: MPIX_Request,
        (function, mode): (Function, Mode),
        bytes: u64,
        state: Arc<State>,
    ) -> MPI_Request {
        let handle = stand_in.0;
        std::mem::forget(stand_in);
        let entry = Entry { request, mode, function, bytes, active: mode == Mode::Nonblocking, ended: None, state };
        let table = self.table.get_or_insert_default();
        table.insert(key(handle), entry);
        LENGTH.store(table.len(), Ordering::Relaxed);
        handle
    }

    /// Starts one of our persistent requests, which must be inactive. Returns an error class.
    pub fn start(&mut self, request: MPI_Request) -> c_int {
        let Some(entry) = self.entry(request).filter(|entry| entry.mode == Mode::Persistent && !entry.active) else {
            return mpi_sys::MPI_ERR_REQUEST.cast_signed();
        };
        let begin = settings::get().report.then(Instant::now);
        // SAFETY: a request of ours, used under the lock.
        let code = unsafe { MPIX_Request_start(&mut entry.request) };
        if code != SUCCESS {
            entry.state.note_failure();
            entry.explain();
            return errors::class(code);
        }
        entry.active = true;
        let spent = begin.map(|begin| begin.elapsed()).unwrap_or_default();
        calls::started(entry.function, entry.mode, &entry.state, entry.bytes, spent);
        SUCCESS
    }

    /// Makes progress on one of our requests.
    pub fn progress(&mut self, request: MPI_Request) -> Progress {
        let Some(entry) = self.entry(request).filter(|entry| entry.active) else {
            return Progress::Inactive;
        };
        if entry.ended.is_none() {
            let mut flag = 0;
            // SAFETY: a request of ours, used under the lock.
            let code = unsafe { MPIX_Request_test(&mut entry.request, &mut flag) };
            if code != SUCCESS {
                entry.state.note_failure();
            }
            if code != SUCCESS || flag != 0 {
                entry.ended = Some(code);
            }
        }
        if entry.ended.is_some() { Progress::Complete } else { Progress::Pending }
    }

    /// Completes one of our requests as far as the program is concerned, and frees it if it is
    /// nonblocking.
    ///
    /// # Safety
    /// `request` must be where the program keeps it.
    pub unsafe fn settle(&mut self, request: *mut MPI_Request) -> Option<Failure> {
        // SAFETY: the caller vouches for the pointer.
        let handle = unsafe { *request };
        let entry = self.entry(handle)?;
        entry.active = false;
        let code = entry.ended.take().unwrap_or(SUCCESS);
        let comm = entry.state.owner();
        if code != SUCCESS {
            entry.explain();
        }
        if entry.mode == Mode::Nonblocking {
            // SAFETY: as above.
            unsafe { self.remove(request) };
        }
        (code != SUCCESS).then(|| Failure { class: errors::class(code), comm })
    }

    /// Frees one of our persistent requests, which must be inactive. Returns an error class.
    ///
    /// # Safety
    /// `request` must be where the program keeps it.
    pub unsafe fn free(&mut self, request: *mut MPI_Request) -> c_int {
        // SAFETY: the caller vouches for the pointer.
        let handle = unsafe { *request };
        let Some(entry) = self.entry(handle).filter(|entry| !entry.active) else {
            return mpi_sys::MPI_ERR_REQUEST.cast_signed();
        };
        // SAFETY: an inactive request of ours, which is not used again.
        let code = unsafe { MPIX_Request_free(&mut entry.request) };
        if code != SUCCESS {
            return errors::class(code);
        }
        // SAFETY: as above.
        unsafe { self.remove(request) };
        SUCCESS
    }

    unsafe fn remove(&mut self, request: *mut MPI_Request) {
        if let Some(table) = self.table.as_mut() {
            // SAFETY: the caller vouches for the pointer; the handle is a request that we have
            // made, and `free` leaves the null handle.
            unsafe {
                // the last user of a communicator that the program has freed
                self.removed.extend(table.remove(&key(*request)).and_then(|entry| Arc::into_inner(entry.state)));
                mpi_sys::PMPI_Request_free(request);
            }
            LENGTH.store(table.len(), Ordering::Relaxed);
        }
    }
}

/// `MPI_COMM_WORLD`.
fn world() -> MPI_Comm {
    RSMPI_COMM_WORLD
}
