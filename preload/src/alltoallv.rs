//! `MPI_Alltoallv` and `MPI_Alltoallw` with few nonempty blocks: sends only those.
//!
//! All processes must make the same decision, so they first agree on it: one reduction of a word on
//! a private duplicate of the communicator, which carries the messages too. If any process has many
//! blocks, or arguments that the MPI would refuse, the call is passed on to the MPI.
//!
//! Cost of a sparse call: the reduction, O(P) to look at the counts, and a message for each block.
//! Source: Hoefler and Träff, Sparse Collective Operations for MPI, section I; counts on the
//! receiving side are known here, so that no protocol has to find the senders.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use mpix_neighbor::util::cast::{to_int, to_u32, to_usize};

#[cfg(mpi_large)]
use mpi_sys::{MPI_Aint, MPI_Count};
use mpi_sys::{MPI_Comm, MPI_Datatype, MPI_Request, MPI_Status};
use mpix_neighbor::capi::preload;
use mpix_neighbor::util::backoff::{Backoff, Pace};

use crate::attribute::Key;
use crate::blocks::{Block, Blocks, Ints, Sides};
use crate::constants::RSMPI_COMM_NULL;
use crate::errors::{self, SUCCESS};
use crate::function::{Function, Mode, Name, index};
use crate::interpose::interpose;
use crate::reason::Reason;
use crate::shadow::{Counted, bare};
use crate::{agree, calls, guard, idle, passed, settings};

/// A call is sparse if on every process at most one block in this many has elements.
const SPARSE: u64 = 4;

/// Tag of the messages on the duplicate.
const TAG: c_int = 1;

unsafe extern "C" {
    fn mpixp_byte() -> MPI_Datatype;
    fn mpixp_status_error(status: *const MPI_Status) -> c_int;
}

/// The private part of a communicator.
struct Private {
    comm: MPI_Comm,
    #[allow(dead_code, reason = "it counts until it is dropped")]
    alive: Counted,
    processes: usize,
    /// True if the report has counted it.
    counted: AtomicBool,
    /// True if a message may still come that no receive waits for, which a later call would take.
    stray: AtomicBool,
}

/// The private parts of communicators.
static KEY: Key = Key::new(deleted);

impl Drop for Private {
    fn drop(&mut self) {
        if guard::FINALIZING.load(Ordering::Acquire) {
            return;
        }
        let _inside = guard::enter();
        // SAFETY: a communicator of our own, which is not used again. A failure cannot be reported.
        unsafe { mpi_sys::MPI_Comm_free(&mut self.comm) };
    }
}

/// Called by MPI when the program's communicator is freed.
unsafe extern "C" fn deleted(_comm: MPI_Comm, _keyval: c_int, value: *mut c_void, _extra: *mut c_void) -> c_int {
    // a panic must not unwind into MPI
    let dropped = std::panic::catch_unwind(|| {
        // SAFETY: the pointer is the box that `private` stored, and MPI calls this once for it.
        drop(unsafe { Box::from_raw(value.cast::<Option<Private>>()) });
    });
    if dropped.is_ok() { SUCCESS } else { mpi_sys::MPI_ERR_INTERN.cast_signed() }
}

/// The private part of a communicator, made at the first call, which is collective. `None` if calls
/// on it are passed on unexamined: so are all once a private part could not be made.
unsafe fn private<'a>(comm: MPI_Comm, fewest: u32) -> Option<&'a Private> {
    KEY.make()?;
    // SAFETY: the caller vouches for the communicator; results are locals; the attribute owns the
    // box.
    unsafe {
        if let Some(value) = KEY.get(comm) {
            return (*value.cast::<Option<Private>>()).as_ref();
        }
        let (mut inter, mut processes) = (0, 0);
        if mpi_sys::MPI_Comm_test_inter(comm, &mut inter) != SUCCESS {
            return None;
        }
        mpi_sys::MPI_Comm_size(comm, &mut processes);
        if inter != 0 || to_u32(processes) < fewest {
            return None;
        }
        let value = Box::into_raw(Box::new(None));
        let set = KEY.set(comm, value.cast());
        idle::make_room();
        // where a process has ended, those that find it out keep no private part
        let [all_set, room] = preload::least(comm, [set.into(), Counted::has_room().into()]).unwrap_or_default();
        match (all_set, set) {
            (0, true) => KEY.remove(comm),
            (0, false) => drop(Box::from_raw(value)),
            _ if room != 0 => {
                let private = bare(comm).map(|comm| Private {
                    comm,
                    alive: Counted::new(),
                    processes: to_usize(processes),
                    counted: AtomicBool::new(false),
                    stray: AtomicBool::new(false),
                });
                let all = preload::least(comm, [private.is_some().into()]).is_ok_and(|least| least == [1]);
                *value = private.filter(|_| all);
                return (*value).as_ref();
            }
            _ => (),
        }
        None
    }
}

/// The nonempty blocks, and the processes at their other ends; `None` if the MPI would refuse the
/// arguments, as a process whose messages are refused leaves others waiting, or if the communicator
/// is not to be used any more.
unsafe fn present(side: &Blocks, private: &Private) -> Option<Vec<(usize, Block)>> {
    if crate::blocks::is_in_place(side.base) || side.lacks_arrays() || private.stray.load(Ordering::Relaxed) {
        return None;
    }
    let counts = side.counts()?;
    let (mut found, mut accepted) = (Vec::new(), None);
    for i in 0..private.processes {
        // SAFETY: the caller vouches for arrays of as many entries as there are processes.
        let count = unsafe { counts.get(i) };
        if count < 0 || count > c_int::MAX.into() {
            return None;
        }
        if count > 0 {
            // SAFETY: as above; the type of a block with elements is looked at.
            let (block, bytes) = unsafe {
                let block = side.typed_block(i)?;
                if accepted != Some(block.datatype) && !preload::is_committed(block.datatype, private.comm)
                    || preload::lacks_memory(side.base, block.at, block.datatype)
                {
                    return None;
                }
                accepted = Some(block.datatype);
                (block, block.bytes())
            };
            // elements of no bytes at one end may be no elements at the other
            if bytes > 0 {
                found.push((i, block));
            }
        }
    }
    Some(found)
}

/// Runs an all-to-all call: as a sparse exchange if all processes have few blocks.
///
/// # Safety
/// The arguments must be what the prototype asks for.
pub unsafe fn run(function: Function, comm: MPI_Comm, send: Blocks, recv: Blocks, native: impl Fn() -> c_int) -> c_int {
    let Some(fewest) = settings::get().alltoallv else {
        return native();
    };
    if !guard::has_world() {
        return native();
    }
    if comm == RSMPI_COMM_NULL {
        passed::count(function, Mode::Blocking, || Reason::Arguments);
        return native();
    }
    // SAFETY: the caller vouches for the arguments.
    let (code, refused) = unsafe {
        let inside = guard::enter();
        let begin = Instant::now();
        let Some(private) = private(comm, fewest) else {
            drop(inside);
            passed::count(function, Mode::Blocking, || unlooked(comm, fewest));
            return native();
        };
        let blocks = present(&send, private).zip(present(&recv, private));
        let few = |most: usize| SPARSE * most as u64 <= private.processes as u64;
        let refused = blocks.is_none();
        let code = if !agree::all(private.comm, blocks.as_ref().is_some_and(|(send, recv)| few(send.len().max(recv.len())))) {
            None
        } else {
            blocks.map(|(send, recv)| {
                let code = exchange(private, &send, &recv);
                if code == SUCCESS {
                    let bytes = send.iter().map(|(_, block)| block.bytes()).sum();
                    let first = !private.counted.swap(true, Ordering::Relaxed);
                    calls::sparse(function, bytes, first, begin.elapsed());
                }
                code
            })
        };
        (code, refused)
    };
    match code {
        None => {
            passed::count(function, Mode::Blocking, || match passed::refused(&Sides { send, recv }) {
                Reason::Arguments if !refused => Reason::Dense,
                why => why,
            });
            native()
        }
        // SAFETY: as above. What goes wrong under way is not the arguments' fault.
        Some(code) if code != SUCCESS => unsafe {
            let text = || "MPI could not send or receive a block".into();
            errors::say_if_fatal(comm, Name(index(function, Mode::Blocking)), text);
            errors::raise(comm, errors::class(code))
        },
        Some(code) => code,
    }
}

/// Why calls on a communicator are passed on unexamined.
///
/// # Safety
/// `comm` must be a communicator.
#[cold]
unsafe fn unlooked(comm: MPI_Comm, fewest: u32) -> Reason {
    let _inside = guard::enter();
    let (mut inter, mut processes) = (0, 0);
    // SAFETY: the caller vouches for the communicator; results are locals.
    unsafe {
        mpi_sys::MPI_Comm_test_inter(comm, &mut inter);
        mpi_sys::MPI_Comm_size(comm, &mut processes);
    }
    match inter {
        0 if to_u32(processes) < fewest => Reason::Small,
        0 => Reason::NotMade,
        _ => Reason::Intercommunicator,
    }
}

/// Returns true if a request is complete, or has failed.
///
/// # Safety
/// It must be one of MPI's, or null.
unsafe fn has_ended(request: &mut MPI_Request) -> bool {
    let mut flag = 0;
    // SAFETY: the caller vouches for the request; the result is a local.
    let code = unsafe { mpi_sys::MPI_Test(request, &mut flag, mpi_sys::RSMPI_STATUS_IGNORE) };
    if code != SUCCESS {
        // SAFETY: a constant of mpi-sys' C file.
        *request = unsafe { mpi_sys::RSMPI_REQUEST_NULL };
    }
    code != SUCCESS || flag != 0
}

/// Posts a message of one block by `post`, or an empty one if the MPI refuses it: the process at
/// the other end waits for one. Returns the MPI's code, and sets `stuck` if it refuses both.
unsafe fn post(
    &(peer, block): &(usize, Block),
    request: *mut MPI_Request,
    stuck: &mut bool,
    post: impl Fn(*mut c_void, c_int, MPI_Datatype, c_int) -> c_int,
) -> c_int {
    let peer = to_int::<c_int>(peer);
    let code = post(block.at, to_int::<c_int>(block.count), block.datatype, peer);
    // SAFETY: constants of C files; the caller vouches for the request's place.
    unsafe {
        if code != SUCCESS && post(std::ptr::null_mut(), 0, mpixp_byte(), peer) != SUCCESS {
            *stuck = true;
            request.write(mpi_sys::RSMPI_REQUEST_NULL);
        }
    }
    code
}

/// Sends and receives the blocks. Returns an error code, once nothing is under way any more.
unsafe fn exchange(private: &Private, send: &[(usize, Block)], recv: &[(usize, Block)]) -> c_int {
    // SAFETY: the caller vouches for the blocks, which are left alone until the requests are
    // complete; constants of mpi-sys' C file.
    unsafe {
        let comm = private.comm;
        let mut requests: Vec<MPI_Request> = vec![mpi_sys::RSMPI_REQUEST_NULL; recv.len() + send.len()];
        let (receives, sends) = requests.split_at_mut(recv.len());
        let (mut posted, mut stuck) = (SUCCESS, false);
        for (block, request) in recv.iter().zip(receives.iter_mut()) {
            let request = &raw mut *request;
            let receive = |at, count, datatype, peer| mpi_sys::MPI_Irecv(at, count, datatype, peer, TAG, comm, request);
            posted = first_of(posted, post(block, request, &mut stuck, receive));
        }
        for (block, request) in send.iter().zip(sends) {
            let request = &raw mut *request;
            let send = |at: *mut _, count, datatype, peer| mpi_sys::MPI_Isend(at, count, datatype, peer, TAG, comm, request);
            posted = first_of(posted, post(block, request, &mut stuck, send));
        }
        if stuck {
            // others are likely to be refused, too: nothing may come, or too late
            private.stray.store(true, Ordering::Relaxed);
            for request in receives.iter_mut().filter(|request| **request != mpi_sys::RSMPI_REQUEST_NULL) {
                mpi_sys::MPI_Cancel(request);
            }
        }
        let mut statuses: Vec<MPI_Status> = vec![std::mem::zeroed(); requests.len()];
        let mut backoff = Backoff::new(Pace::UNSURE);
        loop {
            let mut flag = 0;
            let length = to_int::<c_int>(requests.len());
            let code = mpi_sys::MPI_Testall(length, requests.as_mut_ptr(), &mut flag, statuses.as_mut_ptr());
            // Open MPI 5.0.10 returns success if all have failed, and leaves them
            let left = code == SUCCESS && flag != 0 && requests.iter().any(|&request| request != mpi_sys::RSMPI_REQUEST_NULL);
            if left || errors::class(code) == mpi_sys::MPI_ERR_IN_STATUS.cast_signed() {
                let pending = mpi_sys::MPI_ERR_PENDING.cast_signed();
                let errors = statuses.iter().map(|status| mpixp_status_error(status)).filter(|&e| e != SUCCESS && e != pending);
                let unknown = if left { mpi_sys::MPI_ERR_OTHER.cast_signed() } else { code };
                let first = { errors }.next().unwrap_or(unknown);
                // the others still access the program's blocks
                while !requests.iter_mut().all(|request| has_ended(request)) {
                    backoff.snooze();
                }
                return first_of(posted, first);
            }
            if code != SUCCESS {
                return first_of(posted, code);
            }
            if flag != 0 {
                let empty = statuses[..recv.len()].iter().any(|status| is_empty(status));
                return first_of(posted, if empty { mpi_sys::MPI_ERR_OTHER.cast_signed() } else { SUCCESS });
            }
            backoff.snooze();
        }
    }
}

/// The first of two codes that is an error, if one is.
fn first_of(earlier: c_int, later: c_int) -> c_int {
    if earlier == SUCCESS { later } else { earlier }
}

/// Returns true if a message had no bytes: its sender could not send the block.
unsafe fn is_empty(status: &MPI_Status) -> bool {
    let mut bytes = 0;
    // SAFETY: the caller vouches for the status; a constant of the C file.
    unsafe { mpi_sys::MPI_Get_count(status, mpixp_byte(), &mut bytes) == SUCCESS && bytes == 0 }
}

interpose! {
    fn MPI_Alltoallv(
        sendbuf: *const c_void, sendcounts: *const c_int, senddispls: *const c_int, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcounts: *const c_int, recvdispls: *const c_int, recvtype: MPI_Datatype, comm: MPI_Comm,
    ) |native| {
        let send = Blocks::vector(sendbuf, Ints::Int(sendcounts), Ints::Int(senddispls), sendtype);
        let recv = Blocks::vector(recvbuf, Ints::Int(recvcounts), Ints::Int(recvdispls), recvtype);
        // SAFETY: the arguments are a program's for the function of this name.
        unsafe { run(Function::SparseAlltoallv, comm, send, recv, native) }
    }

    fn MPI_Alltoallw(
        sendbuf: *const c_void, sendcounts: *const c_int, senddispls: *const c_int, sendtypes: *const MPI_Datatype,
        recvbuf: *mut c_void, recvcounts: *const c_int, recvdispls: *const c_int, recvtypes: *const MPI_Datatype, comm: MPI_Comm,
    ) |native| {
        let (send, recv) = (
            Blocks::general(sendbuf, Ints::Int(sendcounts), Ints::Int(senddispls), sendtypes),
            Blocks::general(recvbuf, Ints::Int(recvcounts), Ints::Int(recvdispls), recvtypes),
        );
        // SAFETY: the arguments are a program's for the function of this name.
        unsafe { run(Function::SparseAlltoallw, comm, send, recv, native) }
    }

    #[cfg(mpi_large)]
    fn MPI_Alltoallv_c(
        sendbuf: *const c_void, sendcounts: *const MPI_Count, senddispls: *const MPI_Aint, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcounts: *const MPI_Count, recvdispls: *const MPI_Aint, recvtype: MPI_Datatype, comm: MPI_Comm,
    ) |native| {
        let send = Blocks::vector(sendbuf, Ints::Count(sendcounts), Ints::Aint(senddispls), sendtype);
        let recv = Blocks::vector(recvbuf, Ints::Count(recvcounts), Ints::Aint(recvdispls), recvtype);
        // SAFETY: the arguments are a program's for the function of this name.
        unsafe { run(Function::SparseAlltoallv, comm, send, recv, native) }
    }

    #[cfg(mpi_large)]
    fn MPI_Alltoallw_c(
        sendbuf: *const c_void, sendcounts: *const MPI_Count, senddispls: *const MPI_Aint, sendtypes: *const MPI_Datatype,
        recvbuf: *mut c_void, recvcounts: *const MPI_Count, recvdispls: *const MPI_Aint, recvtypes: *const MPI_Datatype, comm: MPI_Comm,
    ) |native| {
        let (send, recv) = (
            Blocks::general(sendbuf, Ints::Count(sendcounts), Ints::Aint(senddispls), sendtypes),
            Blocks::general(recvbuf, Ints::Count(recvcounts), Ints::Aint(recvdispls), recvtypes),
        );
        // SAFETY: the arguments are a program's for the function of this name.
        unsafe { run(Function::SparseAlltoallw, comm, send, recv, native) }
    }
}
