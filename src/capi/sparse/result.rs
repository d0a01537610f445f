//! Results of sparse exchanges: returns and copies their messages, and frees them.

use std::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex, MutexGuard};

use super::arguments::ReceiveType;
use crate::capi::args::{self, Results};
use crate::capi::boundary;
use crate::capi::user::User;
use crate::datatype::buffers::Located;
use crate::datatype::pack::unpack_by_mpi;
use crate::error::{Argument, Error, Result};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::{self, MPI_Aint, MPI_Count, device};
use crate::sparse::messages::{Arrivals, Arrived};
use crate::util::cast::{to_int, to_usize};
use crate::util::lock::lock;

/// The messages that a sparse exchange brought, ordered by source, those of one source in the order
/// in which it sent them.
pub struct MPIX_Sparse_result_object {
    /// Messages as they came.
    packed: Arrivals,
    /// Messages as elements of the receive type, where that differs: those that have been asked
    /// for, as they may be far longer so.
    typed: Mutex<Typed>,
    kind: ReceiveType,
    comm: Arc<Comm>,
    user: User,
    /// Belongs to a plan, which frees it.
    pub(super) of_plan: bool,
}

/// Messages as elements of a datatype.
#[derive(Default)]
struct Typed {
    room: Arrivals,
    /// Addresses of their first elements, by position; `None` of what nobody has asked for.
    at: Vec<Option<*mut u8>>,
}

/// Handle of the result of a sparse exchange, or NULL.
pub type MPIX_Sparse_result = *mut MPIX_Sparse_result_object;

impl MPIX_Sparse_result_object {
    /// Takes what has come, which must be whole numbers of elements.
    pub(super) fn new(packed: Arrivals, kind: ReceiveType, comm: &Arc<Comm>, user: User) -> Result<Self> {
        for m in &packed.messages {
            kind.check(m)?;
        }
        let typed = Mutex::default();
        Ok(MPIX_Sparse_result_object { packed, typed, kind, comm: Arc::clone(comm), user, of_plan: false })
    }

    fn messages(&self) -> &[Arrived] {
        &self.packed.messages
    }

    fn typed(&self) -> MutexGuard<'_, Typed> {
        lock(&self.typed)
    }

    /// Address of the first element of a message, by its position.
    fn elements_of(&self, position: usize) -> Result<*mut u8> {
        let m = &self.messages()[position];
        if self.kind.derived.is_none() {
            return Ok(m.at);
        }
        let Typed { room, at } = &mut *self.typed();
        at.resize(self.messages().len(), None);
        if let Some(known) = at[position] {
            return Ok(known);
        }
        // SAFETY: `new` has checked the length.
        let first = unsafe { self.kind.unpacked(m, room, &self.comm) }?;
        at[position] = Some(first);
        Ok(first)
    }

    fn count(&self, m: &Arrived) -> u64 {
        self.kind.layout.count(m.bytes).unwrap_or(0)
    }

    fn elements(&self) -> u64 {
        self.messages().iter().map(|m| self.count(m)).sum()
    }

    /// Unpacks what a further run of a plan has brought of the messages that have been asked for.
    ///
    /// # Safety
    /// The messages must be as long as those of the first run.
    pub(super) unsafe fn refresh(&mut self) -> Result<()> {
        let Some(datatype) = &self.kind.derived else { return Ok(()) };
        for (m, at) in self.packed.messages.iter().zip(&self.typed().at) {
            if let &Some(at) = at {
                // SAFETY: the caller vouches for the lengths; there is room; the datatype stays.
                unsafe { m.unpack(&self.kind.layout, at, datatype.lend(), &self.comm) }?;
            }
        }
        Ok(())
    }

    /// Hands the result to the caller.
    pub(super) fn hand_out(self, place: Results<MPIX_Sparse_result>) {
        place.write([Box::into_raw(Box::new(self))]);
    }
}

/// Returns how many messages a sparse exchange brought, and how many elements.
///
/// # Safety
/// The result must not have been freed; pointers must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_get_count(
    result: MPIX_Sparse_result,
    nmessages: *mut c_int,
    nelements: *mut MPI_Count,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        with("MPIX_Sparse_get_count", result, |result| {
            let (messages, elements) = (Results::one("nmessages", nmessages)?, Results::one("nelements", nelements)?);
            messages.write([args::int("nmessages", result.messages().len())?]);
            elements.write([to_int(result.elements())]);
            Ok(())
        })
    }
}

/// Returns one message of a sparse exchange.
///
/// # Safety
/// The result must not have been freed; pointers must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_get_message(
    result: MPIX_Sparse_result,
    index: c_int,
    source: *mut c_int,
    count: *mut MPI_Count,
    data: *mut *mut c_void,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        with("MPIX_Sparse_get_message", result, |result| {
            let length = result.messages().len();
            let beyond = || Error::Index { argument: Argument::new("index"), value: index.into(), length };
            let position = usize::try_from(index).ok().filter(|&i| i < length).ok_or_else(beyond)?;
            let m = result.messages()[position];
            let (from, elements) = (Results::one("source", source)?, Results::one("count", count)?);
            let place = Results::one("data", data)?;
            let at = result.elements_of(position)?;
            from.write([to_int(m.source)]);
            elements.write([to_int(result.count(&m))]);
            place.write([at.cast()]);
            Ok(())
        })
    }
}

/// Returns the sources, counts and displacements of all messages of a sparse exchange, as vector
/// collectives take them.
///
/// # Safety
/// The result must not have been freed; the arrays must be writable for as many entries as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_get_messages(
    result: MPIX_Sparse_result,
    maxmessages: c_int,
    sources: *mut c_int,
    counts: *mut c_int,
    displs: *mut c_int,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        with("MPIX_Sparse_get_messages", result, |result| {
            let room = args::length("maxmessages", maxmessages)?;
            let fits = |name, value: u64| {
                let narrow = || Error::Narrow { argument: Argument::new(name), value: to_int(value) };
                c_int::try_from(value).map_err(|_| Box::new(narrow()))
            };
            let wide = Table::of(result, room);
            let (mut narrow_counts, mut narrow_displs) = (Vec::new(), Vec::new());
            for (count, displ) in wide.counts.iter().zip(&wide.displs) {
                narrow_counts.push(if counts.is_null() { 0 } else { fits("counts", *count)? });
                narrow_displs.push(if displs.is_null() { 0 } else { fits("displs", *displ)? });
            }
            write_unless_null(sources, wide.sources);
            write_unless_null(counts, narrow_counts);
            write_unless_null(displs, narrow_displs);
            Ok(())
        })
    }
}

/// `MPIX_Sparse_get_messages` with large counts.
///
/// # Safety
/// As for `MPIX_Sparse_get_messages`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_get_messages_c(
    result: MPIX_Sparse_result,
    maxmessages: c_int,
    sources: *mut c_int,
    counts: *mut MPI_Count,
    displs: *mut MPI_Aint,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        with("MPIX_Sparse_get_messages_c", result, |result| {
            let wide = Table::of(result, args::length("maxmessages", maxmessages)?);
            write_unless_null(sources, wide.sources);
            write_unless_null(counts, wide.counts.into_iter().map(to_int));
            write_unless_null(displs, wide.displs.into_iter().map(to_int));
            Ok(())
        })
    }
}

/// Sources, counts and displacements of a result's first messages.
struct Table {
    sources: Vec<c_int>,
    counts: Vec<u64>,
    displs: Vec<u64>,
}

impl Table {
    fn of(result: &MPIX_Sparse_result_object, most: usize) -> Table {
        let messages = &result.messages()[..most.min(result.messages().len())];
        let counts: Vec<u64> = messages.iter().map(|m| result.count(m)).collect();
        let displs = counts.iter().scan(0, |at, c| Some(std::mem::replace(at, *at + c))).collect();
        Table { sources: messages.iter().map(|m| to_int(m.source)).collect(), counts, displs }
    }
}

unsafe fn write_unless_null<T>(array: *mut T, values: impl IntoIterator<Item = T>) {
    if !array.is_null() {
        for (i, value) in values.into_iter().enumerate() {
            // SAFETY: the caller vouches for as many entries.
            unsafe { array.add(i).write(value) };
        }
    }
}

/// Copies all messages of a sparse exchange into a buffer, one after the other, in order.
///
/// # Safety
/// The result must not have been freed; the buffer must be writable for the elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_copy(result: MPIX_Sparse_result, maxcount: MPI_Count, recvbuf: *mut c_void) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        with("MPIX_Sparse_copy", result, |result| {
            let needed = result.elements();
            if u64::try_from(maxcount).map_or(true, |room| room < needed) {
                return Err(Error::Room { argument: Argument::new("maxcount"), room: maxcount, needed }.into());
            }
            if needed > 0 && mpi::is_in_place(recvbuf) {
                return Err(Error::InPlace { argument: Argument::new("recvbuf") }.into());
            }
            // a datatype of absolute addresses goes with MPI_BOTTOM, which is NULL
            if recvbuf.is_null() && needed > 0 && result.kind.derived.is_none() {
                return Err(Error::NullBuffer { argument: Argument::new("recvbuf"), count: to_int(needed) }.into());
            }
            device::look();
            let devices = device::devices();
            let datatype = result.kind.derived.as_ref().map_or(mpi::message::packed(), |own| own.lend());
            let mut at: *mut u8 = recvbuf.cast();
            for m in &result.packed.messages {
                let count = result.count(m);
                match &result.kind.derived {
                    _ if m.bytes == 0 => {}
                    kind if devices.as_ref().map_or(Ok(false), |devices| devices.hold(at, 1, datatype))? => {
                        let elements = to_int(if kind.is_some() { count } else { m.bytes });
                        let block = Located { at, count: elements, datatype };
                        unpack_by_mpi(m.at, m.bytes, &block, true, &result.comm)?;
                    }
                    None => std::ptr::copy_nonoverlapping(m.at, at, to_usize(m.bytes)),
                    Some(_) => m.unpack(&result.kind.layout, at, datatype, &result.comm)?,
                }
                // there may be no memory behind the last element
                at = at.wrapping_offset(to_int::<isize>(count).wrapping_mul(to_int(result.kind.layout.extent)));
            }
            Ok(())
        })
    }
}

/// Frees the result of a sparse exchange.
///
/// # Safety
/// The result must not have been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Sparse_free(result: *mut MPIX_Sparse_result) -> c_int {
    // SAFETY: the caller vouches for the pointer.
    let live = unsafe { result.as_ref().and_then(|result| result.as_ref()) };
    let user = User::handler_of(live.map(|result| &result.user));
    let on = || user;
    boundary::call_on("MPIX_Sparse_free", on, || {
        // SAFETY: as above; the result is a box that `finish` made.
        unsafe {
            let place = args::pointer("result", result.as_mut())?;
            match place.as_ref() {
                None => {}
                Some(result) if result.of_plan => return Err(Error::OfPlan.into()),
                Some(_) => drop(Box::from_raw(std::mem::replace(place, std::ptr::null_mut()))),
            }
            Ok(())
        }
    })
}

unsafe fn with(function: &str, result: MPIX_Sparse_result, body: impl FnOnce(&MPIX_Sparse_result_object) -> Result<()>) -> c_int {
    // SAFETY: the caller vouches for the result.
    let result = unsafe { result.as_ref() };
    let on = || User::handler_of(result.map(|result| &result.user));
    boundary::call_on(function, on, || body(args::object("result", result)?))
}
