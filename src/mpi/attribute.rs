//! Values attached to a communicator or a datatype, dropped when MPI frees it.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::comm::Communicator;
use super::datatype::Datatype;
use super::{MPI_Comm, MPI_Datatype, check};
use crate::error::Result;
use crate::util::recall::{Epoch, Recall};

unsafe extern "C" {
    fn mpixn_create_keyval(delete_fn: Option<DeleteFn<MPI_Comm>>, keyval: *mut c_int) -> c_int;
    fn mpixn_create_type_keyval(delete_fn: Option<DeleteFn<MPI_Datatype>>, keyval: *mut c_int) -> c_int;
}

type DeleteFn<Handle> = unsafe extern "C" fn(Handle, c_int, *mut c_void, *mut c_void) -> c_int;

/// Ends whenever a communicator's value is dropped: its handle may come back as another one's.
static DROPPED: Epoch = Epoch::new();

thread_local! {
    /// The value found last, by keyval and communicator.
    static LAST_ANSWER: Recall<(c_int, MPI_Comm), *mut c_void> = const { Recall::new() };
}

/// A kind of attribute of communicators: values of type `T`, owned by the communicator. The keyval
/// is made at the first use.
pub struct Key<T> {
    keyval: OnceLock<c_int>,
    kind: std::marker::PhantomData<fn(T)>,
}

impl<T> Key<T> {
    /// Describes a kind of attribute; calls no MPI.
    pub const fn new() -> Self {
        Key { keyval: OnceLock::new(), kind: std::marker::PhantomData }
    }

    fn keyval(&self) -> Result<c_int> {
        if let Some(&keyval) = self.keyval.get() {
            return Ok(keyval);
        }
        let mut keyval = 0;
        // SAFETY: the callback has the type that MPI asks for; the result is a local.
        check(unsafe { mpixn_create_keyval(Some(drop_of_communicator::<T>), &mut keyval) }, "MPI_Comm_create_keyval")?;
        Ok(*self.keyval.get_or_init(|| keyval))
    }

    /// Returns the communicator's value, null if it has none. Costs one call of MPI, none if this
    /// thread asked last for the same one.
    #[inline]
    pub fn get(&self, comm: Communicator) -> Result<*mut T> {
        let Some(&keyval) = self.keyval.get() else {
            return Ok(std::ptr::null_mut());
        };
        let epoch = DROPPED.now();
        match LAST_ANSWER.with(|found| found.answer((keyval, comm.raw()), epoch)) {
            Some(value) => Ok(value.cast()),
            None => ask(keyval, comm, epoch).map(<*mut c_void>::cast),
        }
    }

    /// The communicator's value, if it has one. Costs what [`get`](Self::get) does.
    ///
    /// # Safety
    /// The reference must not be alive when the value is set or changed, or the communicator freed.
    #[inline(always)]
    pub unsafe fn value<'c>(&self, comm: Communicator<'c>) -> Result<Option<&'c T>> {
        // SAFETY: the value lives as long as the communicator has it, as the caller vouches.
        Ok(unsafe { self.get(comm)?.as_ref() })
    }

    /// Gives the communicator a value, drops an earlier one, and returns the new one.
    ///
    /// # Safety
    /// No reference to an earlier value may be alive, and what is returned is such a reference.
    pub unsafe fn set<'c>(&self, comm: Communicator<'c>, value: T) -> Result<&'c mut T> {
        let keyval = self.keyval()?;
        let value = Box::into_raw(Box::new(value));
        // SAFETY: the communicator now owns the box; `drop_value` takes it back.
        let set = check(unsafe { mpi_sys::MPI_Comm_set_attr(comm.raw(), keyval, value.cast()) }, "MPI_Comm_set_attr");
        if set.is_err() {
            // SAFETY: MPI did not take it.
            drop(unsafe { Box::from_raw(value) });
        }
        // SAFETY: the box of the communicator, which nobody else knows yet.
        set.map(|()| unsafe { &mut *value })
    }
}

/// Asks MPI for the value of a communicator, and recalls it if there is one.
#[inline(never)]
fn ask(keyval: c_int, comm: Communicator, epoch: u64) -> Result<*mut c_void> {
    let (mut value, mut found) = (std::ptr::null_mut::<c_void>(), 0);
    // SAFETY: a live communicator; MPI writes the pointer that `set` stored.
    let rc = unsafe { mpi_sys::MPI_Comm_get_attr(comm.raw(), keyval, (&raw mut value).cast(), &mut found) };
    check(rc, "MPI_Comm_get_attr")?;
    if found == 0 {
        return Ok(std::ptr::null_mut());
    }
    LAST_ANSWER.with(|last| last.keep((keyval, comm.raw()), value, epoch));
    Ok(value)
}

/// Notes when its communicator is freed.
struct FreeNotice(Arc<AtomicBool>);

impl Drop for FreeNotice {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

static FREE_NOTICE: Key<FreeNotice> = Key::new();

/// Returns a flag that becomes true when the communicator is freed. Threads must not ask for that
/// of one communicator at the same time.
pub fn freed_flag(comm: Communicator) -> Result<Arc<AtomicBool>> {
    // SAFETY: the value is set once, and lives as long as the communicator.
    unsafe {
        let notice = match FREE_NOTICE.value(comm)? {
            Some(notice) => notice,
            None => FREE_NOTICE.set(comm, FreeNotice(Arc::default()))?,
        };
        Ok(Arc::clone(&notice.0))
    }
}

/// A kind of attribute of datatypes: values of type `T`, owned by the datatype. The keyval is made
/// at the first use.
pub struct TypeKey<T> {
    keyval: OnceLock<c_int>,
    kind: std::marker::PhantomData<fn(T)>,
}

impl<T> TypeKey<T> {
    /// Describes a kind of attribute; calls no MPI.
    pub const fn new() -> Self {
        TypeKey { keyval: OnceLock::new(), kind: std::marker::PhantomData }
    }

    fn keyval(&self) -> Result<c_int> {
        if let Some(&keyval) = self.keyval.get() {
            return Ok(keyval);
        }
        let mut keyval = 0;
        // SAFETY: the callback has the type that MPI asks for; the result is a local.
        check(unsafe { mpixn_create_type_keyval(Some(drop_of_datatype::<T>), &mut keyval) }, "MPI_Type_create_keyval")?;
        Ok(*self.keyval.get_or_init(|| keyval))
    }

    /// Returns the datatype's value, null if it has none. Costs one call of MPI.
    pub fn get(&self, datatype: Datatype) -> Result<*const T> {
        let keyval = self.keyval()?;
        let (mut value, mut found): (*const T, c_int) = (std::ptr::null(), 0);
        // SAFETY: a live datatype; MPI writes the pointer that `set` stored.
        let rc = unsafe { mpi_sys::MPI_Type_get_attr(datatype.raw(), keyval, (&raw mut value).cast(), &mut found) };
        check(rc, "MPI_Type_get_attr")?;
        Ok(if found != 0 { value } else { std::ptr::null() })
    }

    /// Gives the datatype, which has no value, one. Threads must not do so at the same time.
    ///
    /// # Safety
    /// No reference to an earlier value may be alive.
    pub unsafe fn set(&self, datatype: Datatype, value: T) -> Result<()> {
        let keyval = self.keyval()?;
        let value = Box::into_raw(Box::new(value));
        // SAFETY: the datatype now owns the box; `drop_value` takes it back.
        let set = check(unsafe { mpi_sys::MPI_Type_set_attr(datatype.raw(), keyval, value.cast()) }, "MPI_Type_set_attr");
        if set.is_err() {
            // SAFETY: MPI did not take it.
            drop(unsafe { Box::from_raw(value) });
        }
        set
    }
}

/// Called by MPI when the communicator is freed, or the attribute deleted or replaced.
unsafe extern "C" fn drop_of_communicator<T>(_: MPI_Comm, _: c_int, value: *mut c_void, _: *mut c_void) -> c_int {
    // SAFETY: the pointer is the box that `set` stored under this keyval, and MPI calls this once
    // for it.
    let rc = unsafe { drop_value::<T>(value) };
    DROPPED.end();
    rc
}

/// Called by MPI when the datatype is freed.
unsafe extern "C" fn drop_of_datatype<T>(_: MPI_Datatype, _: c_int, value: *mut c_void, _: *mut c_void) -> c_int {
    // SAFETY: as above.
    unsafe { drop_value::<T>(value) }
}

/// Drops a value. Returns what a callback returns to MPI.
///
/// # Safety
/// The pointer must be a box of a `T` that nobody else drops.
unsafe fn drop_value<T>(value: *mut c_void) -> c_int {
    // a panic must not unwind into MPI
    let dropped = std::panic::catch_unwind(|| {
        // SAFETY: the caller vouches for the pointer.
        drop(unsafe { Box::from_raw(value.cast::<T>()) });
    });
    match dropped {
        Ok(()) => super::success(),
        Err(_) => super::errors::own_class(crate::error::Class::Intern),
    }
}
