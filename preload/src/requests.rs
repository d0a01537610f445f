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
use std::sync::{Arc, Mutex};
use std::time::Instant;

use mpi_sys::{MPI_Comm, MPI_Datatype, MPI_Request};
use mpix_neighbor::capi::{MPIX_Request, MPIX_Request_free, MPIX_Request_start, MPIX_Request_test};
use mpix_neighbor::util::lock::lock;

use crate::errors::{self, SUCCESS};
use crate::function::{self, Function, Mode, Name};
use crate::state::State;
use crate::{calls, guard, settings};

unsafe extern "C" {
    fn mpixp_byte() -> MPI_Datatype;
}

/// One of our requests.
struct Entry {
    function: Function,
    mode: Mode,
    /// Bytes sent by a start, for the report.
    bytes: u64,
    run: Mutex<Run>,
    /// Kept until the request is gone, even if the program frees its communicator.
    state: Arc<State>,
}

/// The request of the library, and how far it is.
struct Run {
    request: MPIX_Request,
    /// True if started and, as far as the program knows, not yet completed.
    active: bool,
    /// The result, if it ended before the program asked.
    ended: Option<c_int>,
}

// SAFETY: requests may be completed by another thread than that which started them; the lock is
// held whenever one is used.
unsafe impl Send for Run {}

/// The entries by the program's handles. Locked to look one up, to add or to remove one, and never
/// while other code runs: that may wait for another thread, which may need the table.
static TABLE: Mutex<Option<HashMap<usize, Arc<Entry>>>> = Mutex::new(None);
static LENGTH: AtomicUsize = AtomicUsize::new(0);

/// True if the table is empty. Costs one load.
#[inline(always)]
pub fn none() -> bool {
    // a request that another thread has just made reaches this one by means that order memory
    LENGTH.load(Ordering::Relaxed) == 0
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

/// An error to be raised when no lock is held.
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

/// Looks up all of our requests in a list. Returns their indices and shares of them.
pub fn find_all(requests: &[MPI_Request]) -> Vec<(usize, Ours)> {
    let table = lock(&TABLE);
    let Some(table) = table.as_ref() else { return Vec::new() };
    let ours = |request| table.get(&key(request)).map(|entry| Ours(Arc::clone(entry)));
    requests.iter().enumerate().filter_map(|(i, &request)| Some((i, ours(request)?))).collect()
}

/// Looks up one of our requests.
pub fn find(request: MPI_Request) -> Option<Ours> {
    Some(Ours(Arc::clone(lock(&TABLE).as_ref()?.get(&key(request))?)))
}

/// Puts one of our requests into the table, for which the program has `stand_in`.
///
/// # Safety
/// `request` must be one of the library's, which nobody else uses.
pub unsafe fn insert(
    stand_in: StandIn,
    request: MPIX_Request,
    (function, mode): (Function, Mode),
    bytes: u64,
    state: Arc<State>,
) -> MPI_Request {
    let handle = stand_in.0;
    std::mem::forget(stand_in);
    let run = Mutex::new(Run { request, active: mode == Mode::Nonblocking, ended: None });
    let mut table = lock(&TABLE);
    let table = table.get_or_insert_default();
    table.insert(key(handle), Arc::new(Entry { function, mode, bytes, run, state }));
    LENGTH.store(table.len(), Ordering::Relaxed);
    handle
}

/// A share of one of our requests.
pub struct Ours(Arc<Entry>);

impl Ours {
    /// An error of the request.
    #[cold]
    pub fn fails(&self, class: c_int) -> Failure {
        Failure { class, comm: self.0.state.owner() }
    }

    /// Says what the library knows of the request's error.
    #[cold]
    fn explain(&self) {
        let function = Name(function::index(self.0.function, self.0.mode));
        if let Some(on) = self.0.state.for_requests {
            // SAFETY: the program's communicator, or the world if it has been freed; our own.
            unsafe { errors::explain(self.0.state.owner(), on, function) };
        }
    }

    /// Starts a persistent request, which must be inactive.
    pub fn start(&self) -> Result<(), Failure> {
        let entry = &*self.0;
        let _inside = guard::enter();
        let mut run = lock(&entry.run);
        if entry.mode != Mode::Persistent || run.active {
            return Err(self.fails(mpi_sys::MPI_ERR_REQUEST.cast_signed()));
        }
        let begin = settings::get().report.then(Instant::now);
        // SAFETY: a request of ours, used under its lock.
        let code = unsafe { MPIX_Request_start(&mut run.request) };
        if code != SUCCESS {
            entry.state.note_failure();
            self.explain();
            return Err(self.fails(errors::class(code)));
        }
        run.active = true;
        let spent = begin.map(|begin| begin.elapsed()).unwrap_or_default();
        calls::started(entry.function, entry.mode, &entry.state, entry.bytes, spent);
        Ok(())
    }

    /// Makes progress.
    pub fn progress(&self) -> Progress {
        let _inside = guard::enter();
        let mut run = lock(&self.0.run);
        if !run.active {
            return Progress::Inactive;
        }
        if run.ended.is_none() {
            let mut flag = 0;
            // SAFETY: a request of ours, used under its lock.
            let code = unsafe { MPIX_Request_test(&mut run.request, &mut flag) };
            if code != SUCCESS {
                self.0.state.note_failure();
            }
            if code != SUCCESS || flag != 0 {
                run.ended = Some(code);
            }
        }
        if run.ended.is_some() { Progress::Complete } else { Progress::Pending }
    }

    /// Completes the request as far as the program is concerned, and frees it if it is nonblocking.
    ///
    /// # Safety
    /// `request` must be where the program keeps it.
    pub unsafe fn settle(&self, request: *mut MPI_Request) -> Option<Failure> {
        let _inside = guard::enter();
        let code = {
            let mut run = lock(&self.0.run);
            run.active = false;
            run.ended.take().unwrap_or(SUCCESS)
        };
        if code != SUCCESS {
            self.explain();
        }
        if self.0.mode == Mode::Nonblocking {
            // SAFETY: the caller vouches for the pointer.
            unsafe { remove(request) };
        }
        (code != SUCCESS).then(|| self.fails(errors::class(code)))
    }

    /// Frees a request, which must be inactive.
    ///
    /// # Safety
    /// `request` must be where the program keeps it.
    pub unsafe fn free(&self, request: *mut MPI_Request) -> Result<(), Failure> {
        let _inside = guard::enter();
        let mut run = lock(&self.0.run);
        if run.active {
            return Err(self.fails(mpi_sys::MPI_ERR_REQUEST.cast_signed()));
        }
        // SAFETY: an inactive request of ours, which is not used again.
        let code = unsafe { MPIX_Request_free(&mut run.request) };
        if code != SUCCESS {
            return Err(self.fails(errors::class(code)));
        }
        // SAFETY: the caller vouches for the pointer.
        unsafe { remove(request) };
        Ok(())
    }
}

/// Removes one of our requests from the table, and frees what stands for it.
///
/// # Safety
/// `request` must be where the program keeps it; the caller must have a share of it.
unsafe fn remove(request: *mut MPI_Request) {
    let entry = {
        let mut table = lock(&TABLE);
        let Some(table) = table.as_mut() else { return };
        // SAFETY: the caller vouches for the pointer.
        let entry = table.remove(&key(unsafe { *request }));
        LENGTH.store(table.len(), Ordering::Relaxed);
        entry
    };
    // a list may name a request twice
    if entry.is_some() {
        // SAFETY: a request that we have made; `free` leaves the null handle.
        unsafe { mpi_sys::PMPI_Request_free(request) };
    }
}
