//! The functions behind ours: those of a library that is loaded later and interposes too, or the MPI's.

use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

/// A function behind ours, looked for once.
pub struct Next {
    /// Names with their final null: the first that is found counts.
    names: &'static [&'static str],
    found: AtomicPtr<c_void>,
}

impl Next {
    /// A function by these names, of which the later ones are other names of the same one.
    pub const fn new(names: &'static [&'static str]) -> Next {
        Next { names, found: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// Its address.
    #[inline(always)]
    pub fn get(&self) -> *mut c_void {
        let found = self.found.load(Ordering::Relaxed);
        if found.is_null() { self.find() } else { found }
    }

    #[cold]
    fn find(&self) -> *mut c_void {
        for name in self.names {
            let name = CStr::from_bytes_with_nul(name.as_bytes()).expect("names end with a null");
            // SAFETY: a C string; the function may be called at any time.
            let address = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
            if !address.is_null() {
                self.found.store(address, Ordering::Relaxed);
                return address;
            }
        }
        // the header that we were built with declares it: another MPI is loaded than ours
        eprintln!(
            "mpix-neighbor preload: no {} behind us; is this the library for the MPI that the program uses?",
            self.names[0]
        );
        std::process::abort();
    }
}

/// The address of a symbol that may be there or not, as a program sees it.
pub fn symbol(name: &CStr) -> *const c_void {
    // SAFETY: a C string.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
}

/// The function of this name behind ours, with the type that is said. To be used in an unsafe block: functions of this name must have this type.
macro_rules! next {
    ($name:ident: fn($($type:ty),* $(,)?)) => {{
        static NEXT: $crate::next::Next =
            $crate::next::Next::new(&[concat!(stringify!($name), "\0"), concat!("P", stringify!($name), "\0")]);
        std::mem::transmute::<*mut std::ffi::c_void, unsafe extern "C" fn($($type),*) -> std::ffi::c_int>(NEXT.get())
    }};
}
pub(crate) use next;
