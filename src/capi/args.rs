//! Checks of arguments that need no communication.

// inline(always): a blocking call with blocks of 8 B takes 7 % less time (benches/exchange.c).

use std::ffi::{c_char, c_int};

use crate::collective::Operation;
use crate::error::{Argument, Class, Error, Result};
use crate::mpi::{Communicator, Datatype, MPI_Datatype, MPI_Op, Op};

/// Returns a caller's array of `length` entries; `None` if it has entries, but no address.
///
/// # Safety
/// The pointer must be null or valid for `length` entries.
#[inline(always)]
pub unsafe fn entries<'a, T>(pointer: *const T, length: usize) -> Option<&'a [T]> {
    if length == 0 {
        return Some(&[]);
    }
    // SAFETY: the caller vouches for the length.
    (!pointer.is_null()).then(|| unsafe { std::slice::from_raw_parts(pointer, length) })
}

/// Checks a caller's array of `length` entries. It may be null if `length` is 0.
///
/// # Safety
/// As for [`entries`].
#[inline(always)]
pub unsafe fn array<'a, T>(name: &'static str, pointer: *const T, length: usize) -> Result<&'a [T]> {
    // SAFETY: the caller vouches for the array.
    unsafe { entries(pointer, length) }.ok_or_else(|| Error::NullArray { argument: Argument::new(name), length }.into())
}

/// Where results are written. A caller may pass one place for several results that it does not
/// want, so these are pointers, not references.
#[derive(Clone, Copy)]
pub struct Results<T> {
    first: *mut T,
    length: usize,
}

impl<T: Copy> Results<T> {
    /// Checks a caller's array of `length` results. It may be null if `length` is 0.
    ///
    /// # Safety
    /// The pointer must be null or writable for `length` entries.
    pub unsafe fn array(name: &'static str, first: *mut T, length: usize) -> Result<Self> {
        if first.is_null() && length > 0 {
            return Err(Error::NullArray { argument: Argument::new(name), length }.into());
        }
        Ok(Results { first, length })
    }

    /// Checks the place of one result.
    ///
    /// # Safety
    /// The pointer must be null or writable.
    pub unsafe fn one(name: &'static str, place: *mut T) -> Result<Self> {
        pointer(name, (!place.is_null()).then_some(Results { first: place, length: 1 }))
    }

    /// Writes result `i`, if there is room for it.
    pub fn write_at(self, i: usize, value: T) {
        if i < self.length {
            // SAFETY: the constructors' callers vouch for `length` entries.
            unsafe { self.first.add(i).write(value) };
        }
    }

    /// Writes as many of the results as there is room for.
    pub fn write(self, values: impl IntoIterator<Item = T>) {
        for (i, value) in values.into_iter().take(self.length).enumerate() {
            self.write_at(i, value);
        }
    }
}

/// Checks a pointer to one thing, or to the place for it: `target` is `None` if it is null.
pub fn pointer<T>(name: &'static str, target: Option<T>) -> Result<T> {
    target.ok_or_else(|| Error::NullPointer { argument: Argument::new(name) }.into())
}

/// Checks a handle of an object of this library: `object` is `None` if it is null.
pub fn object<T>(name: &'static str, object: Option<T>) -> Result<T> {
    let null = || Error::NullHandle { argument: Argument::new(name), null: "NULL", class: Class::Arg };
    object.ok_or_else(|| null().into())
}

/// Returns an error if `comm` is an intercommunicator.
pub fn intracommunicator(comm: Communicator) -> Result<()> {
    if comm.is_inter()? { Err(Error::Intercommunicator.into()) } else { Ok(()) }
}

/// Checks a degree or length.
pub fn length(name: &'static str, value: c_int) -> Result<usize> {
    usize::try_from(value).map_err(|_| Error::Negative { argument: Argument::new(name), value: value.into() }.into())
}

/// Converts a number that the caller gets as an `int`: the argument `name`.
pub fn int(name: &'static str, value: usize) -> Result<c_int> {
    c_int::try_from(value).map_err(|_| Error::BeyondInt { argument: Argument::new(name), value }.into())
}

/// Writes a text as `MPI_Error_string` does: at most `length` characters, including the terminating
/// null, which is there whenever `length` is positive. `resultlen` becomes the length of the whole
/// text, or the largest `int` if that is shorter.
///
/// # Safety
/// `string` must be writable for `length` characters, `resultlen` writable or null.
pub unsafe fn text(text: &str, length: c_int, string: *mut c_char, resultlen: *mut c_int) -> Result<()> {
    let room = self::length("length", length)?;
    // SAFETY: the caller vouches for both.
    let (string, resultlen) = unsafe { (Results::array("string", string, room)?, Results::one("resultlen", resultlen)?) };
    resultlen.write([c_int::try_from(text.len()).unwrap_or(c_int::MAX)]);
    if let Some(fits) = room.checked_sub(1) {
        let fits = text.len().min(fits);
        string.write(text.as_bytes()[..fits].iter().chain(&[0]).map(|&byte| c_char::from_ne_bytes([byte])));
    }
    Ok(())
}

/// Checks a non-empty set of operations, the argument `name`.
pub fn operations(name: &'static str, value: c_int) -> Result<c_int> {
    let all = Operation::ALL.iter().fold(0, |set, o| set | o.bit());
    if value != 0 && value & !all == 0 {
        return Ok(value);
    }
    Err(Error::Operations { argument: Argument::new(name), value: value.into(), wanted: "a combination" }.into())
}

/// Checks that there is exactly one operation, the argument `name`.
pub fn operation(name: &'static str, value: c_int) -> Result<Operation> {
    (Operation::ALL.into_iter().find(|o| o.bit() == value))
        .ok_or_else(|| Error::Operations { argument: Argument::new(name), value: value.into(), wanted: "one" }.into())
}

/// Checks an operator.
///
/// # Safety
/// As for [`Op::from_raw`].
pub unsafe fn operator(op: MPI_Op) -> Result<Op> {
    let null = || Error::NullHandle { argument: Argument::new("op"), null: "MPI_OP_NULL", class: Class::Op };
    // SAFETY: the caller vouches for the handle.
    unsafe { Op::from_raw(op) }.ok_or_else(|| null().into())
}

/// Checks a datatype.
///
/// # Safety
/// As for [`Datatype::from_raw`].
#[inline(always)]
pub unsafe fn datatype(name: &'static str, datatype: MPI_Datatype) -> Result<Datatype> {
    let null = || Error::NullHandle { argument: Argument::new(name), null: "MPI_DATATYPE_NULL", class: Class::Type };
    // SAFETY: the caller vouches for the handle.
    unsafe { Datatype::from_raw(datatype) }.ok_or_else(|| null().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_no_int_holds_is_an_error() {
        const MOST: usize = 0x7fff_ffff;
        assert_eq!((int("nmessages", 0), int("nmessages", MOST)), (Ok(0), Ok(c_int::MAX)));
        let error = int("nmessages", MOST + 1).unwrap_err();
        assert_eq!(error.to_string(), "nmessages would be 2147483648, which does not fit in an int");
    }

    #[test]
    fn texts_are_cut_and_keep_their_bytes() {
        let (mut string, mut length) = ([1; 6], 0);
        // SAFETY: an array and its length, and a local.
        unsafe { text("k\u{e9}y", 4, string.as_mut_ptr(), &raw mut length) }.unwrap();
        assert_eq!((string.map(|byte| byte.to_ne_bytes()[0]), length), ([b'k', 0xc3, 0xa9, 0, 1, 1], 4));
    }
}
