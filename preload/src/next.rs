//! The next definition of a function after ours: that of a library loaded later that interposes
//! too, or the MPI's.

// inline(always): a collective that is taken over takes 77 ns instead of 104, `MPI_Test` 13 instead
// of 16, with all of this crate (benches/passthrough.c).

use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

use mpix_neighbor::util::say::say;

/// The next definition of a function, looked up once.
pub struct Next {
    /// Null-terminated names, of which the first one found counts.
    names: &'static [&'static str],
    found: AtomicPtr<c_void>,
}

impl Next {
    /// A function with these names, of which the later ones are aliases.
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
            let address = if address.is_null() { locally(name) } else { address };
            if !address.is_null() {
                self.found.store(address, Ordering::Relaxed);
                return address;
            }
        }
        // the header we were built with declares it, so another MPI than ours is loaded
        say(&format!(
            "mpix-neighbor preload: no {} behind us; is this the library for the MPI that the program uses?\n",
            self.names[0]
        ));
        std::process::abort();
    }
}

/// The address of an optional symbol, as a program sees it.
#[cfg(any(open_mpi, mpich))]
pub fn symbol(name: &CStr) -> *const c_void {
    // SAFETY: a C string.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    if address.is_null() { locally(name) } else { address }
}

/// The address of a symbol in a library that was loaded with `RTLD_LOCAL`, as Python loads its
/// modules, so that the usual lookup does not find it. Null if there is none.
#[cold]
fn locally(name: &CStr) -> *mut c_void {
    unsafe extern "C" fn collect(info: *mut libc::dl_phdr_info, _size: usize, names: *mut c_void) -> std::ffi::c_int {
        // SAFETY: the loader's description of a library, whose name ends with a null or is null;
        // `names` is the vector below.
        unsafe {
            if let (Some(info), Some(names)) = (info.as_ref(), names.cast::<Vec<std::ffi::CString>>().as_mut())
                && !info.dlpi_name.is_null()
            {
                names.push(CStr::from_ptr(info.dlpi_name).to_owned());
            }
        }
        0
    }
    /// The base address of the library that an address belongs to.
    fn library(address: *const c_void) -> *mut c_void {
        // SAFETY: plain integers and pointers; the function looks at no more than the address.
        unsafe {
            let mut info: libc::Dl_info = std::mem::zeroed();
            libc::dladdr(address, &mut info);
            info.dli_fbase
        }
    }
    let mut names: Vec<std::ffi::CString> = Vec::new();
    // SAFETY: the callback has the type that is asked for, and the vector lives until it returns.
    unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut names).cast()) };
    let own = library(locally as *const c_void);
    // the MPI's own libraries
    for library_name in names.iter().filter(|n| n.to_string_lossy().contains("mpi")) {
        // SAFETY: a C string; nothing new is loaded, and the library stays as others hold it.
        let address = unsafe {
            let handle = libc::dlopen(library_name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            if handle.is_null() {
                continue;
            }
            let address = libc::dlsym(handle, name.as_ptr());
            libc::dlclose(handle);
            address
        };
        if !address.is_null() && library(address) != own {
            return address;
        }
    }
    std::ptr::null_mut()
}

/// The next function of this name, with the given type. Needs an unsafe block: functions of this
/// name must have this type.
macro_rules! next {
    ($name:ident: fn($($type:ty),* $(,)?)) => {{
        static NEXT: $crate::next::Next =
            $crate::next::Next::new(&[concat!(stringify!($name), "\0"), concat!("P", stringify!($name), "\0")]);
        std::mem::transmute::<*mut std::ffi::c_void, unsafe extern "C" fn($($type),*) -> std::ffi::c_int>(NEXT.get())
    }};
}
pub(crate) use next;
