//! Sparse windows: buffered operations on elements of other processes.

use std::ffi::{c_int, c_void};

use super::args::{self, Results, intracommunicator};
use super::boundary;
use super::user::User;
use crate::datatype::buffers;
use crate::environment;
use crate::error::{Argument, Error, Result};
use crate::logging;
use crate::mpi::attribute::freed_flag;
use crate::mpi::{self, MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Info, MPI_Op, Op, device, info};
use crate::select::hints::WindowHints;
use crate::util::cast::to_int;
use crate::window::batch::Kind;
use crate::window::{self, Memory, Operations, SharedWindow};

/// A sparse window: elements of all processes of a communicator.
pub struct MPIX_Sparse_window_object {
    /// `None` once freed: the object stays, so that a later use of the handle is found.
    window: Option<SharedWindow>,
    user: User,
}

/// Handle of a sparse window, or NULL.
pub type MPIX_Sparse_window = *mut MPIX_Sparse_window_object;

/// Makes a window of elements of all processes of a communicator.
///
/// # Safety
/// As for any MPI function: handles must be valid, and `base` must have `count` elements until the
/// window is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_window_create(
    base: *mut c_void,
    count: c_int,
    r#type: MPI_Datatype,
    info: MPI_Info,
    comm: MPI_Comm,
    window: *mut MPIX_Sparse_window,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe { create("MPIX_Sparse_window_create", (base, count.into(), r#type), info, comm, window) }
}

/// `MPIX_Sparse_window_create` with large counts.
///
/// # Safety
/// As for `MPIX_Sparse_window_create`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_window_create_c(
    base: *mut c_void,
    count: MPI_Count,
    r#type: MPI_Datatype,
    info: MPI_Info,
    comm: MPI_Comm,
    window: *mut MPIX_Sparse_window,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe { create("MPIX_Sparse_window_create_c", (base, count, r#type), info, comm, window) }
}

unsafe fn create(
    function: &str,
    (base, count, datatype): (*mut c_void, i64, MPI_Datatype),
    info: MPI_Info,
    comm: MPI_Comm,
    window: *mut MPIX_Sparse_window,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        boundary::call(function, comm, |user| {
            intracommunicator(user)?;
            logging::start();
            logging::unknown_keys(info, user);
            let hints = WindowHints::read(|key| info::get(info, key), environment::variable, environment::text);
            let checked = memory(base, count, datatype).and_then(|memory| Ok((memory, Results::one("window", window)?)));
            // a process whose arguments are in error takes part
            let (memory, place) = match checked {
                Ok((memory, place)) => (Ok(memory), Some(place)),
                Err(e) => (Err(e), None),
            };
            let freed = freed_flag(user)?;
            let made = Some(window::create(memory, hints, user)?);
            let object = Box::into_raw(Box::new(MPIX_Sparse_window_object { window: made, user: User::new(comm, &freed) }));
            place.into_iter().for_each(|place| place.write([object]));
            Ok(())
        })
    }
}

/// Checks what a window is made of.
///
/// # Safety
/// The handle must be a datatype or null.
unsafe fn memory(base: *mut c_void, count: i64, datatype: MPI_Datatype) -> Result<Memory> {
    if count < 0 {
        return Err(Error::NegativeCount { argument: Argument::new("count"), value: count }.into());
    }
    // SAFETY: the caller vouches for the handle.
    let datatype = unsafe { args::datatype("type", datatype) }?;
    device::look();
    if count > 0 {
        buffer("base", base, None)?;
    }
    Ok(Memory { base: base.cast(), count, datatype })
}

/// Checks that a buffer is one that the processor can access. `elements`: how many lie there, if
/// NULL is no address.
#[inline]
fn buffer(name: &'static str, at: *const c_void, elements: Option<i64>) -> Result<()> {
    if at.is_null()
        && let Some(count) = elements
    {
        return Err(Error::NullBuffer { argument: Argument::new(name), count }.into());
    }
    if mpi::is_in_place(at) {
        return Err(Error::InPlace { argument: Argument::new(name) }.into());
    }
    match device::devices() {
        Some(devices) if devices.holds_byte(at.addr()) => {
            let why = "the processor packs operations on windows, and applies them".into();
            Err(Error::Device { argument: Argument::new(name), entry: 0, why }.into())
        }
        _ => Ok(()),
    }
}

/// Runs the body of a function that works on a window.
#[inline]
unsafe fn with_window(function: &str, window: MPIX_Sparse_window, body: impl FnOnce(&SharedWindow) -> Result<()>) -> c_int {
    // SAFETY: the caller vouches for the window, whose object is never freed.
    let window = unsafe { window.as_ref() };
    let on = || User::handler_of(window.map(|window| &window.user));
    boundary::call_on(function, on, || {
        let freed = || Error::FreedWindow { argument: Argument::new("window") };
        body(args::object("window", window)?.window.as_ref().ok_or_else(freed)?)
    })
}

/// The arguments of operations: addresses of values, of values to compare with, and of results;
/// null where the operation has none.
pub(super) struct Pointers {
    pub(super) origin: *const c_void,
    pub(super) compare: *const c_void,
    pub(super) result: *mut c_void,
}

impl Pointers {
    #[inline]
    fn values(&self) -> [*const u8; 2] {
        [self.origin.cast(), self.compare.cast()]
    }
}

/// Checks the arguments of operations, and issues them.
///
/// # Safety
/// As for the functions of `window_operations`.
// inline(always): as for `Window::issue_one`
#[inline(always)]
pub(super) unsafe fn issue(
    function: &str,
    kind: Kind,
    op: Option<MPI_Op>,
    pointers: &Pointers,
    count: i64,
    target: c_int,
    indices: *const MPI_Aint,
    window: MPIX_Sparse_window,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        if count == 1
            && are_plain(kind, pointers)
            // MPI_Aint is an integer of the size of an address
            && let Some(&index) = indices.cast::<i64>().as_ref()
            && let Some(window) = window.as_ref().and_then(|object| object.window.as_ref())
            && let Some(mut window) = window.hold_at_once()
            // does not panic: there is no boundary around it
            && window.issue_one(kind, op, pointers.values(), pointers.result.cast(), target, index)
        {
            return mpi::success();
        }
        issue_checked(function, kind, op, pointers, count, target, indices, window)
    }
}

/// Returns true if the addresses that operations need are plain ones: not null or special, and not
/// of a device.
#[inline]
fn are_plain(kind: Kind, pointers: &Pointers) -> bool {
    let is_plain = |at: *const c_void, needed: bool| !needed || !(at.is_null() || mpi::is_in_place(at));
    is_plain(pointers.origin, kind.values() > 0)
        && is_plain(pointers.compare, kind.values() > 1)
        && is_plain(pointers.result, kind.returns())
        && device::devices().is_none()
}

/// [`issue`] with all checks.
///
/// # Safety
/// As for `issue`.
#[inline(never)]
unsafe fn issue_checked(
    function: &str,
    kind: Kind,
    op: Option<MPI_Op>,
    pointers: &Pointers,
    count: i64,
    target: c_int,
    indices: *const MPI_Aint,
    window: MPIX_Sparse_window,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        with_window(function, window, |window| {
            let mut window = window.hold()?;
            let length =
                usize::try_from(count).map_err(|_| Error::NegativeCount { argument: Argument::new("count"), value: count })?;
            // of the indices themselves
            buffers::length(count, to_int(size_of::<MPI_Aint>()), || Argument::new("count"))?;
            // MPI_Aint is an integer of the size of an address
            let indices: &[i64] = args::array("indices", indices.cast(), length)?;
            let op = op.map(|op| args::operator(op)).transpose()?;
            let Ok(rank) = u32::try_from(target) else { return nobody(target, window.size()) };
            if rank >= window.size() {
                return nobody(target, window.size());
            }
            let &Pointers { origin, compare, result } = pointers;
            // one operation takes less time than that
            if length > 1 {
                device::look();
            }
            if length > 0 {
                // elements may lie at absolute addresses
                let null = window.has_relative_elements().then_some(count);
                if kind.values() > 0 && !op.is_some_and(Op::is_no_op) {
                    buffer("origin", origin, null)?;
                }
                if kind.values() > 1 {
                    buffer("compare", compare, null)?;
                }
                if kind.returns() {
                    buffer("result", result, null)?;
                }
            }
            window.issue(&Operations {
                kind,
                op,
                origin: origin.cast(),
                compare: compare.cast(),
                result: result.cast(),
                target: rank,
                indices,
            })
        })
    }
}

const _: () = assert!(size_of::<MPI_Aint>() == size_of::<i64>(), "indices have 64 bits");

/// Operations on elements of no process do nothing, unless that is an error.
#[cold]
fn nobody(target: c_int, size: u32) -> Result<()> {
    if target == mpi::proc_null() {
        return Ok(());
    }
    Err(Error::Rank { argument: Argument::new("target"), value: target.into(), size }.into())
}

/// Registers a user-defined operator with a window.
///
/// # Safety
/// The window must be valid, and the operator not be freed before the window.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_window_add_operator(op: MPI_Op, window: MPIX_Sparse_window) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        with_window("MPIX_Sparse_window_add_operator", window, |window| {
            let op = args::operator(op)?;
            window.hold()?.add_operator(op)
        })
    }
}

/// Applies all operations of all processes.
///
/// # Safety
/// The window must be valid, and its memory and the places of results be there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_window_fence(window: MPIX_Sparse_window) -> c_int {
    // SAFETY: the caller vouches for the window.
    unsafe {
        with_window("MPIX_Sparse_window_fence", window, |window| {
            device::look();
            window::fence(window)
        })
    }
}

/// Waits until the caller's operations have been applied.
///
/// # Safety
/// As for `MPIX_Sparse_window_fence`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_window_flush(window: MPIX_Sparse_window) -> c_int {
    // SAFETY: the caller vouches for the window.
    unsafe {
        with_window("MPIX_Sparse_window_flush", window, |window| {
            device::look();
            window.hold()?.flush()
        })
    }
}

/// Applies all operations of all processes, and frees a window.
///
/// # Safety
/// As for `MPIX_Sparse_window_fence`; the pointer must be null (an error) or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_window_free(window: *mut MPIX_Sparse_window) -> c_int {
    // SAFETY: the caller vouches for the pointer and the window.
    unsafe {
        // an object is never freed
        let object = window.as_ref().map_or(std::ptr::null_mut(), |&object| object);
        let on = || User::handler_of(object.as_ref().map(|object| &object.user));
        boundary::call_on("MPIX_Sparse_window_free", on, || {
            let place = args::pointer("window", window.as_mut())?;
            let Some(object) = object.as_mut() else { return Ok(()) };
            let freed = || Error::FreedWindow { argument: Argument::new("window") };
            // an operator must not free the window that it is applied to, nor anything one in its
            // fence
            object.window.as_ref().ok_or_else(freed)?.hold()?.check_free()?;
            let Some(live) = object.window.take() else { return Ok(()) };
            *place = std::ptr::null_mut();
            window::free(&live)
        })
    }
}
