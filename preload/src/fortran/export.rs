//! Macros that define the Fortran names, and helpers that the definitions share.

use std::cell::Cell;
use std::ffi::{CStr, c_int, c_void};

use mpi_sys::{MPI_Request, RSMPI_Request_c2f as integer_of};

use crate::constants::RSMPI_REQUEST_NULL;
use crate::errors::SUCCESS;
use crate::next::symbol;

/// A Fortran integer.
pub type Integer = c_int;

/// Defines the Fortran names of MPI functions, given in lower case, upper case and C's
/// capitalization. The last argument, `ierror`, is left out: `native` returns what the next
/// function stores there, and the body's result is stored there.
macro_rules! fortran {
    ($prefix:ident $capitals:ident: $($lower:ident $upper:ident $camel:ident ($($arg:ident: $type:ty),* $(,)?) |$native:ident| $body:block)*) => {$(
        mod $lower {
            use super::*;

            // a body need not read all arguments; one has nothing unsafe
            #[allow(unused_variables, unused_unsafe)]
            unsafe fn body($($arg: $type,)* $native: &dyn Fn() -> c_int) -> c_int {
                // SAFETY: the arguments are a program's for the function of this name.
                unsafe { $body }
            }

            export! { $prefix, $lower, "_f08_": ($($arg: $type),*) f08 }
            #[cfg(open_mpi)]
            mod others {
                use super::*;
                export! { $prefix, $lower, "": ($($arg: $type),*) plain }
                export! { $prefix, $lower, "_": ($($arg: $type),*) one }
                export! { $prefix, $lower, "__": ($($arg: $type),*) two }
                export! { $capitals, $upper, "": ($($arg: $type),*) upper }
                export! { $capitals, $camel, "_f": ($($arg: $type),*) f }
                export! { $capitals, $camel, "_f08": ($($arg: $type),*) bound }
            }
        }
    )*};
}

/// Defines one of the names.
macro_rules! export {
    ($prefix:ident, $name:ident, $suffix:literal: ($($arg:ident: $type:ty),*) $function:ident) => {
        #[unsafe(export_name = concat!(stringify!($prefix), stringify!($name), $suffix))]
        unsafe extern "C" fn $function($($arg: $type,)* ierror: *mut Integer) {
            static NEXT: crate::next::Next = crate::next::Next::new(&[concat!(stringify!($prefix), stringify!($name), $suffix, "\0")]);
            let native = || {
                let mut code = $crate::errors::SUCCESS;
                // SAFETY: the function behind has the same type; the arguments are passed on as
                // they came.
                unsafe {
                    std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($type,)* *mut Integer)>(NEXT.get())($($arg,)* &mut code);
                }
                code
            };
            let code = if crate::guard::passes() {
                native()
            } else {
                // SAFETY: the arguments are a program's for the function of this name.
                crate::guard::run(|| unsafe { body($($arg,)* &native) }, native)
            };
            if !ierror.is_null() {
                // SAFETY: the program's variable.
                unsafe { ierror.write(code) };
            }
        }
    };
}

pub(super) use {export, fortran};

/// Address of a variable of the MPI's Fortran bindings; if there is none, one that no argument has.
pub fn address(name: &CStr) -> *const c_void {
    static NOTHING: u8 = 0;
    let found = symbol(name);
    if found.is_null() { (&raw const NOTHING).cast() } else { found }
}

/// Calls a C function that makes a request. `on` passes the call on unchanged.
///
/// # Safety
/// `request` must be the program's variable.
pub unsafe fn with_request(
    request: *mut Integer,
    on: &dyn Fn() -> c_int,
    call: impl FnOnce(*mut MPI_Request, &dyn Fn() -> c_int) -> c_int,
) -> c_int {
    let mut made = RSMPI_REQUEST_NULL;
    let passed = Cell::new(false);
    let pass = || {
        passed.set(true);
        on()
    };
    let code = call(&mut made, &pass);
    if code == SUCCESS && !passed.get() {
        // SAFETY: the program's variable.
        unsafe { request.write(integer_of(made)) };
    }
    code
}
