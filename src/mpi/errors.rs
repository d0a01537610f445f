//! Error classes, codes and strings.
//!
//! Each error class has one error code, made by `MPI_Add_error_code` when it is first needed.
//! Before a code is returned, its string is set to the error's text, so that `MPI_Error_string` and
//! the message of `MPI_ERRORS_ARE_FATAL` show it. MPICH gives codes of predefined classes a text of
//! its own (seen in 4.0.2): there the plain class is returned, and with a fatal error handler the
//! text goes to standard error. In both cases the communicator keeps the text of its last error.

use std::ffi::{CString, c_int};
use std::sync::OnceLock;

use super::check;
use super::code::{class_of, string};
use super::comm::Communicator;
use super::constants::{RSMPI_ERRORS_ARE_FATAL, RSMPI_ERRORS_RETURN};
use crate::error::{Class, Error, Result};
use crate::util::cast::to_usize;

unsafe extern "C" {
    safe static mpixn_max_error_string: c_int;
    safe static mpixn_error_classes: [c_int; Class::ALL.len() - 2];
    safe fn mpixn_errors_abort() -> mpi_sys::MPI_Errhandler;
}

/// The library's own two classes.
const OWN: [(Class, &str); 2] = [
    (Class::Mismatch, "MPIX_ERR_MISMATCH: the processes' arguments of a neighborhood do not fit together"),
    (Class::Verify, "MPIX_ERR_VERIFY: the two ends of an edge of a neighborhood do not fit together"),
];

#[derive(Clone, Copy)]
struct Code {
    class: c_int,
    code: c_int,
    /// True if `MPI_Error_string` of the code returns what `MPI_Add_error_string` set.
    carries_text: bool,
}

/// Made once: MPI offers no way to remove codes.
static CODES: OnceLock<[Code; Class::ALL.len()]> = OnceLock::new();

fn codes() -> &'static [Code; Class::ALL.len()] {
    CODES.get_or_init(|| Class::ALL.map(|class| make(class).unwrap_or(plain(class))))
}

/// Returns the code of a class that has none of its own. Our own classes have no number before they
/// are added; "other" stands in for them.
fn plain(class: Class) -> Code {
    let standard = mpixn_error_classes;
    let class = standard.get(number(class)).copied().unwrap_or(standard[number(Class::Other)]);
    Code { class, code: class, carries_text: false }
}

/// Returns a class's number in messages.
pub fn number(class: Class) -> usize {
    class as usize
}

fn make(class: Class) -> Result<Code> {
    let own = OWN.iter().find(|own| own.0 == class);
    let mut number = plain(class).class;
    let mut code = 0;
    if let Some((_, text)) = own {
        // SAFETY: the result is a local.
        check(unsafe { mpi_sys::MPI_Add_error_class(&mut number) }, "MPI_Add_error_class")?;
        set_string(number, text)?;
    }
    // SAFETY: the result is a local.
    check(unsafe { mpi_sys::MPI_Add_error_code(number, &mut code) }, "MPI_Add_error_code")?;
    let probe = "mpix-neighbor";
    set_string(code, probe)?;
    let carries_text = class_of(code) == number && string(code) == probe;
    Ok(Code { class: number, code: if carries_text { code } else { number }, carries_text })
}

fn set_string(code: c_int, text: &str) -> Result<()> {
    let limit = to_usize(mpixn_max_error_string) - 1;
    let mut end = text.len().min(limit);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let text = CString::new(text[..end].replace('\0', " ")).unwrap_or_default();
    // SAFETY: a C string that MPI copies. SimGrid declares it without `const`, and only reads it.
    check(unsafe { mpi_sys::MPI_Add_error_string(code, text.as_ptr().cast_mut()) }, "MPI_Add_error_string")
}

/// Returns the number of one of our own classes.
pub fn own_class(class: Class) -> c_int {
    codes()[number(class)].class
}

/// `MPI_ERR_TRUNCATE`.
pub fn truncated() -> c_int {
    plain(Class::Truncate).class
}

/// Returns the code for an error, with its string set to `text`, and true if the code carries the
/// text.
pub fn code_for(error: &Error, text: &str) -> (c_int, bool) {
    let code = match (error.class(), error) {
        (Some(class), _) => codes()[number(class)],
        // errors of the MPI library keep their class
        (None, Error::Mpi { code, .. }) => {
            let class = class_of(*code);
            match codes().iter().find(|c| c.class == class) {
                Some(known) => *known,
                None => return (*code, false),
            }
        }
        (None, _) => codes()[number(Class::Intern)],
    };
    let carries = code.carries_text && set_string(code.code, text).is_ok();
    (code.code, carries)
}

/// Returns true if the communicator's error handler is `MPI_ERRORS_ARE_FATAL`, or
/// `MPI_ERRORS_ABORT`.
pub fn is_fatal(comm: Communicator) -> bool {
    // SAFETY: a live communicator; the handle is a local that is freed again.
    unsafe {
        let mut handler = RSMPI_ERRORS_RETURN;
        if mpi_sys::MPI_Comm_get_errhandler(comm.raw(), &mut handler) != super::success() {
            return false;
        }
        let fatal = handler == RSMPI_ERRORS_ARE_FATAL || handler == mpixn_errors_abort();
        mpi_sys::MPI_Errhandler_free(&mut handler);
        fatal
    }
}

/// Runs `calls` with errors on the communicator returned as codes, and restores its error handler.
pub fn returning<T>(comm: Communicator, calls: impl FnOnce() -> Result<T>) -> Result<T> {
    // SAFETY: a live communicator; the handle is a local that is freed again.
    unsafe {
        let mut handler = RSMPI_ERRORS_RETURN;
        check(mpi_sys::MPI_Comm_get_errhandler(comm.raw(), &mut handler), "MPI_Comm_get_errhandler")?;
        check(mpi_sys::MPI_Comm_set_errhandler(comm.raw(), RSMPI_ERRORS_RETURN), "MPI_Comm_set_errhandler")?;
        let done = calls();
        mpi_sys::MPI_Comm_set_errhandler(comm.raw(), handler);
        mpi_sys::MPI_Errhandler_free(&mut handler);
        done
    }
}

/// Calls the communicator's error handler.
pub fn call_handler(comm: Communicator, code: c_int) {
    // SAFETY: a live communicator. What the handler returns cannot be reported.
    unsafe { mpi_sys::MPI_Comm_call_errhandler(comm.raw(), code) };
}

/// The code to return when MPI cannot be asked: `MPI_ERR_OTHER` in many MPIs, success in none.
pub const OTHER_THAN_SUCCESS: c_int = 16;
