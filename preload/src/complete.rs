//! The functions that complete, start and free requests, for lists that mix our requests with the
//! MPI's.
//!
//! In a list passed to the MPI, our requests are replaced by `MPI_REQUEST_NULL`. Testing ours lets
//! the MPI make progress on its own.

use std::ffi::c_int;

use mpix_neighbor::util::cast::{to_int, to_usize};

use mpi_sys::{MPI_Request, MPI_Status};
use mpix_neighbor::util::backoff::{Backoff, Pace};

use crate::constants::RSMPI_REQUEST_NULL;
use crate::errors::{self, SUCCESS};
use crate::interpose::interpose;
use crate::next::next;
use crate::requests::{self, Failure, Ours, Progress};

unsafe extern "C" {
    fn mpixp_empty_status(status: *mut MPI_Status, with_error: c_int) -> c_int;
    fn mpixp_status(statuses: *mut MPI_Status, i: c_int) -> *mut MPI_Status;
    fn mpixp_set_status_error(status: *mut MPI_Status, code: c_int);
}

/// A program's list of requests, split into ours and the MPI's.
struct List {
    /// The program's array.
    requests: *mut MPI_Request,
    /// The MPI's requests, at the same indices.
    native: Vec<MPI_Request>,
    /// Our requests with their indices.
    ours: Vec<(usize, Ours)>,
}

impl List {
    /// Splits a list. `None` if no request is ours.
    ///
    /// # Safety
    /// `requests` must point to `count` requests.
    unsafe fn new(count: c_int, requests: *mut MPI_Request) -> Option<List> {
        if requests::none() || count <= 0 || requests.is_null() {
            return None;
        }
        // SAFETY: the caller vouches for the array.
        let all = unsafe { std::slice::from_raw_parts(requests, to_usize(count)) };
        let ours = requests::find_all(all);
        if ours.is_empty() {
            return None;
        }
        let mut native = all.to_vec();
        for &(i, _) in &ours {
            native[i] = null();
        }
        Some(List { requests, native, ours })
    }

    /// Where the program keeps request `i`.
    fn place(&self, i: usize) -> *mut MPI_Request {
        // SAFETY: the array has this entry.
        unsafe { self.requests.add(i) }
    }

    fn count(&self) -> c_int {
        to_int::<c_int>(self.native.len())
    }

    /// Copies the MPI's requests back into the program's list.
    fn write_back(&self) {
        let mut ours = self.ours.iter().peekable();
        for (i, &request) in self.native.iter().enumerate() {
            if ours.next_if(|&&(o, _)| o == i).is_none() {
                // SAFETY: the array has this entry.
                unsafe { self.place(i).write(request) };
            }
        }
    }

    /// True if the list has requests of the MPI, active or not.
    fn has_native(&self) -> bool {
        self.native.iter().any(|&request| request != null())
    }

    /// Makes progress on our requests; returns a complete one with its index. Sets `active` if any
    /// is active.
    fn first_complete(&self, active: &mut bool) -> Option<&(usize, Ours)> {
        *active = false;
        self.ours.iter().find(|(_, request)| match request.progress() {
            Progress::Inactive => false,
            Progress::Pending => {
                *active = true;
                false
            }
            Progress::Complete => true,
        })
    }

    /// Makes progress on our requests; returns true if none is pending.
    fn all_complete(&self) -> bool {
        // no short circuit: every request makes progress
        self.ours.iter().filter(|(_, request)| matches!(request.progress(), Progress::Pending)).count() == 0
    }

    /// Completes all our requests, and returns the first error. If there is one, of ours or in
    /// `code`, the MPI's result for its requests, each status has an error field: those of the
    /// MPI's requests stay as the MPI has written them.
    ///
    /// # Safety
    /// `statuses` must be as long as the list, or the MPI's way to ask for none.
    unsafe fn settle_all(&self, statuses: *mut MPI_Status, code: c_int) -> Option<Failure> {
        let mut first = None;
        for (i, request) in &self.ours {
            // SAFETY: the program's array, and statuses that the caller vouches for; a null pointer
            // is only compared.
            unsafe {
                let failure = request.settle(self.place(*i));
                if first.is_none() && failure.is_some() && code == SUCCESS {
                    (0..self.count()).for_each(|k| set_error(mpixp_status(statuses, k), SUCCESS));
                }
                first = first.or(failure);
                if first.is_some() || code != SUCCESS {
                    // MPICH leaves the fields of the null requests in their places as they are
                    let class = failure.map_or(SUCCESS, |failure| failure.class);
                    set_error(mpixp_status(statuses, to_int::<c_int>(*i)), class);
                }
            }
        }
        first
    }
}

/// `MPI_REQUEST_NULL`.
fn null() -> MPI_Request {
    RSMPI_REQUEST_NULL
}

unsafe fn set_error(status: *mut MPI_Status, code: c_int) {
    // SAFETY: a constant of mpi-sys' C file; the caller vouches for the status.
    unsafe {
        if status != mpi_sys::RSMPI_STATUS_IGNORE {
            mpixp_set_status_error(status, code);
        }
    }
}

/// Calls the error handler for a request that has failed.
fn told(failure: Option<Failure>) -> c_int {
    // SAFETY: a communicator of the program's that it has not freed.
    failure.map_or(SUCCESS, |failure| unsafe { errors::raise(failure.comm, failure.class) })
}

/// Same as above, for calls whose statuses say which request failed.
fn told_in_status(failure: Option<Failure>) -> c_int {
    told(failure.map(|failure| Failure { class: mpi_sys::MPI_ERR_IN_STATUS.cast_signed(), ..failure }))
}

/// True if the MPI has written errors into statuses: its requests are complete. After any other
/// error the program still has all requests of its list.
fn is_in_status(code: c_int) -> bool {
    code != SUCCESS && errors::class(code) == mpi_sys::MPI_ERR_IN_STATUS.cast_signed()
}

/// The request that is to be completed, started or freed, if it is ours.
///
/// # Safety
/// `request` must point to a request, or be null.
unsafe fn ours(request: *const MPI_Request) -> Option<Ours> {
    if requests::none() || request.is_null() {
        return None;
    }
    // SAFETY: the caller vouches for the pointer.
    requests::find(unsafe { *request })
}

/// `MPI_Wait`.
///
/// # Safety
/// As for the MPI function. This holds for all functions here.
pub unsafe fn wait(request: *mut MPI_Request, status: *mut MPI_Status, native: impl FnOnce() -> c_int) -> c_int {
    let mut backoff = Backoff::new(Pace::UNSURE);
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let Some(ours) = ours(request) else { return native() };
        while matches!(ours.progress(), Progress::Pending) {
            backoff.snooze();
        }
        complete(ours, request, status)
    }
}

/// Ends a call that has found one of our requests complete or inactive.
unsafe fn complete(ours: Ours, request: *mut MPI_Request, status: *mut MPI_Status) -> c_int {
    // SAFETY: the caller vouches for the pointers.
    let failure = unsafe {
        mpixp_empty_status(status, 0);
        ours.settle(request)
    };
    // the error handler need not return
    drop(ours);
    told(failure)
}

/// `MPI_Test`.
pub unsafe fn test(
    request: *mut MPI_Request,
    flag: *mut c_int,
    status: *mut MPI_Status,
    native: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let Some(ours) = ours(request) else { return native() };
        if matches!(ours.progress(), Progress::Pending) {
            *flag = 0;
            return SUCCESS;
        }
        *flag = 1;
        complete(ours, request, status)
    }
}

/// `MPI_Request_get_status`.
pub unsafe fn get_status(
    request: MPI_Request,
    flag: *mut c_int,
    status: *mut MPI_Status,
    native: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let Some(ours) = ours(&request) else { return native() };
        let pending = matches!(ours.progress(), Progress::Pending);
        *flag = (!pending).into();
        if !pending {
            mpixp_empty_status(status, 0);
        }
    }
    SUCCESS
}

/// `MPI_Waitall`.
pub unsafe fn waitall(
    count: c_int,
    requests: *mut MPI_Request,
    statuses: *mut MPI_Status,
    native: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let Some(mut list) = List::new(count, requests) else {
            return native();
        };
        let mut backoff = Backoff::new(Pace::UNSURE);
        while !list.all_complete() {
            backoff.snooze();
        }
        // statuses of null requests are empty
        let code = next!(MPI_Waitall: fn(c_int, *mut MPI_Request, *mut MPI_Status))(count, list.native.as_mut_ptr(), statuses);
        list.write_back();
        if code != SUCCESS && !is_in_status(code) {
            return code;
        }
        let failure = list.settle_all(statuses, code);
        drop(list);
        if code == SUCCESS { told_in_status(failure) } else { code }
    }
}

/// `MPI_Testall`.
pub unsafe fn testall(
    count: c_int,
    requests: *mut MPI_Request,
    flag: *mut c_int,
    statuses: *mut MPI_Status,
    native: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let Some(mut list) = List::new(count, requests) else {
            return native();
        };
        *flag = 0;
        if !list.all_complete() {
            return SUCCESS;
        }
        let testall = next!(MPI_Testall: fn(c_int, *mut MPI_Request, *mut c_int, *mut MPI_Status));
        let code = testall(count, list.native.as_mut_ptr(), flag, statuses);
        list.write_back();
        if !is_in_status(code) && (code != SUCCESS || *flag == 0) {
            return code;
        }
        let failure = list.settle_all(statuses, code);
        drop(list);
        if code == SUCCESS { told_in_status(failure) } else { code }
    }
}

/// Polls a list once: `MPI_Testany`. Returns the MPI's code and the failure of a request of ours.
unsafe fn any(list: &mut List, index: *mut c_int, flag: &mut c_int, status: *mut MPI_Status) -> (c_int, Option<Failure>) {
    let mut active = false;
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        if let Some((i, request)) = list.first_complete(&mut active) {
            (*index, *flag) = (to_int::<c_int>(*i), 1);
            mpixp_empty_status(status, 0);
            return (SUCCESS, request.settle(list.place(*i)));
        }
        let testany = next!(MPI_Testany: fn(c_int, *mut MPI_Request, *mut c_int, *mut c_int, *mut MPI_Status));
        let code = testany(list.count(), list.native.as_mut_ptr(), index, flag, status);
        list.write_back();
        // no request of the MPI is active, but one of ours is
        if code == SUCCESS && *flag != 0 && *index == mpi_sys::RSMPI_UNDEFINED && active {
            *flag = 0;
        }
        (code, None)
    }
}

/// `MPI_Testany`.
pub unsafe fn testany(
    count: c_int,
    requests: *mut MPI_Request,
    index: *mut c_int,
    flag: *mut c_int,
    status: *mut MPI_Status,
    native: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let Some(mut list) = List::new(count, requests) else {
            return native();
        };
        // an MPI that fails need not write it
        *flag = 0;
        let (code, failure) = any(&mut list, index, &mut *flag, status);
        if *flag == 0 {
            *index = mpi_sys::RSMPI_UNDEFINED;
        }
        drop(list);
        if code == SUCCESS { told(failure) } else { code }
    }
}

/// `MPI_Waitany`.
pub unsafe fn waitany(
    count: c_int,
    requests: *mut MPI_Request,
    index: *mut c_int,
    status: *mut MPI_Status,
    native: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let Some(mut list) = List::new(count, requests) else {
            return native();
        };
        // as above
        *index = mpi_sys::RSMPI_UNDEFINED;
        let mut backoff = Backoff::new(Pace::UNSURE);
        loop {
            let mut flag = 0;
            let (code, failure) = any(&mut list, index, &mut flag, status);
            if code != SUCCESS {
                return code;
            }
            if flag != 0 {
                drop(list);
                return told(failure);
            }
            backoff.snooze();
        }
    }
}

/// Polls a list once: `MPI_Testsome`. Returns the MPI's code and the first failure of a request of
/// ours.
unsafe fn some(
    list: &mut List,
    outcount: &mut c_int,
    indices: *mut c_int,
    statuses: *mut MPI_Status,
) -> (c_int, Option<Failure>) {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let testsome = next!(MPI_Testsome: fn(c_int, *mut MPI_Request, *mut c_int, *mut c_int, *mut MPI_Status));
        let mut code = SUCCESS;
        *outcount = mpi_sys::RSMPI_UNDEFINED;
        if list.has_native() {
            code = testsome(list.count(), list.native.as_mut_ptr(), outcount, indices, statuses);
            list.write_back();
            if code != SUCCESS && !is_in_status(code) {
                return (code, None);
            }
        }
        let (mut told_of, mut pending, mut first) = ((*outcount).max(0), false, None);
        for (i, request) in &list.ours {
            match request.progress() {
                Progress::Inactive => (),
                Progress::Pending => pending = true,
                Progress::Complete => {
                    indices.add(to_usize(told_of)).write(to_int::<c_int>(*i));
                    let status = mpixp_status(statuses, told_of);
                    mpixp_empty_status(status, 1);
                    if let Some(failure) = request.settle(list.place(*i)) {
                        if first.is_none() && code == SUCCESS {
                            (0..told_of).for_each(|k| set_error(mpixp_status(statuses, k), SUCCESS));
                        }
                        set_error(status, failure.class);
                        first = first.or(Some(failure));
                    }
                    told_of += 1;
                }
            }
        }
        if pending || told_of > 0 {
            *outcount = told_of;
        }
        (code, first)
    }
}

/// `MPI_Testsome`.
pub unsafe fn testsome(
    count: c_int,
    requests: *mut MPI_Request,
    outcount: *mut c_int,
    indices: *mut c_int,
    statuses: *mut MPI_Status,
    native: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let Some(mut list) = List::new(count, requests) else {
            return native();
        };
        let (code, failure) = some(&mut list, &mut *outcount, indices, statuses);
        drop(list);
        if code == SUCCESS { told_in_status(failure) } else { code }
    }
}

/// `MPI_Waitsome`.
pub unsafe fn waitsome(
    count: c_int,
    requests: *mut MPI_Request,
    outcount: *mut c_int,
    indices: *mut c_int,
    statuses: *mut MPI_Status,
    native: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let Some(mut list) = List::new(count, requests) else {
            return native();
        };
        let mut backoff = Backoff::new(Pace::UNSURE);
        loop {
            let (code, failure) = some(&mut list, &mut *outcount, indices, statuses);
            if code != SUCCESS {
                return code;
            }
            if *outcount != 0 {
                drop(list);
                return told_in_status(failure);
            }
            backoff.snooze();
        }
    }
}

/// `MPI_Start`.
pub unsafe fn start(request: *mut MPI_Request, native: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let Some(ours) = ours(request) else { return native() };
        let failure = ours.start().err();
        drop(ours);
        told(failure)
    }
}

/// `MPI_Startall`.
pub unsafe fn startall(count: c_int, requests: *mut MPI_Request, native: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let Some(list) = List::new(count, requests) else {
            return native();
        };
        // null requests must not be started
        let mut ours = list.ours.iter().peekable();
        let places: Vec<usize> = (0..list.native.len()).filter(|i| ours.next_if(|(o, _)| o == i).is_none()).collect();
        let mut theirs: Vec<MPI_Request> = places.iter().map(|&i| list.native[i]).collect();
        if !theirs.is_empty() {
            let startall = next!(MPI_Startall: fn(c_int, *mut MPI_Request));
            let code = startall(to_int::<c_int>(theirs.len()), theirs.as_mut_ptr());
            for (&i, &request) in places.iter().zip(&theirs) {
                list.place(i).write(request);
            }
            if code != SUCCESS {
                return code;
            }
        }
        let failure = list.ours.iter().find_map(|(_, request)| request.start().err());
        drop((list, places, theirs));
        told(failure)
    }
}

/// `MPI_Request_free`.
pub unsafe fn free(request: *mut MPI_Request, native: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let Some(ours) = ours(request) else { return native() };
        let failure = ours.free(request).err();
        drop(ours);
        told(failure)
    }
}

/// `MPI_Cancel`: collective operations cannot be cancelled.
pub unsafe fn cancel(request: *mut MPI_Request, native: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    let Some(ours) = (unsafe { ours(request) }) else { return native() };
    let failure = ours.fails(mpi_sys::MPI_ERR_REQUEST.cast_signed());
    drop(ours);
    told(Some(failure))
}

interpose! {
    fn MPI_Wait(request: *mut MPI_Request, status: *mut MPI_Status) |native| {
        // SAFETY: a program's arguments for the function of this name; so below.
        unsafe { wait(request, status, native) }
    }

    fn MPI_Waitall(count: c_int, requests: *mut MPI_Request, statuses: *mut MPI_Status) |native| {
        // SAFETY: as above.
        unsafe { waitall(count, requests, statuses, native) }
    }

    fn MPI_Waitany(count: c_int, requests: *mut MPI_Request, index: *mut c_int, status: *mut MPI_Status) |native| {
        // SAFETY: as above.
        unsafe { waitany(count, requests, index, status, native) }
    }

    fn MPI_Waitsome(count: c_int, requests: *mut MPI_Request, outcount: *mut c_int, indices: *mut c_int, statuses: *mut MPI_Status) |native| {
        // SAFETY: as above.
        unsafe { waitsome(count, requests, outcount, indices, statuses, native) }
    }

    fn MPI_Test(request: *mut MPI_Request, flag: *mut c_int, status: *mut MPI_Status) |native| {
        // SAFETY: as above.
        unsafe { test(request, flag, status, native) }
    }

    fn MPI_Testall(count: c_int, requests: *mut MPI_Request, flag: *mut c_int, statuses: *mut MPI_Status) |native| {
        // SAFETY: as above.
        unsafe { testall(count, requests, flag, statuses, native) }
    }

    fn MPI_Testany(count: c_int, requests: *mut MPI_Request, index: *mut c_int, flag: *mut c_int, status: *mut MPI_Status) |native| {
        // SAFETY: as above.
        unsafe { testany(count, requests, index, flag, status, native) }
    }

    fn MPI_Testsome(count: c_int, requests: *mut MPI_Request, outcount: *mut c_int, indices: *mut c_int, statuses: *mut MPI_Status) |native| {
        // SAFETY: as above.
        unsafe { testsome(count, requests, outcount, indices, statuses, native) }
    }

    fn MPI_Start(request: *mut MPI_Request) |native| {
        // SAFETY: as above.
        unsafe { start(request, native) }
    }

    fn MPI_Startall(count: c_int, requests: *mut MPI_Request) |native| {
        // SAFETY: as above.
        unsafe { startall(count, requests, native) }
    }

    fn MPI_Request_free(request: *mut MPI_Request) |native| {
        // SAFETY: as above.
        unsafe { free(request, native) }
    }

    fn MPI_Request_get_status(request: MPI_Request, flag: *mut c_int, status: *mut MPI_Status) |native| {
        // SAFETY: as above.
        unsafe { get_status(request, flag, status, native) }
    }

    fn MPI_Cancel(request: *mut MPI_Request) |native| {
        // SAFETY: as above.
        unsafe { cancel(request, native) }
    }
}
