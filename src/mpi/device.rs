//! Device memory: finds out which of a caller's blocks the processor must not touch.
//!
//! Asks the driver library of CUDA (`libcuda.so`) or HIP (`libamdhip64.so`, any version) if the
//! process has loaded it already; this module never loads one. A program may load a driver at any
//! time; CUDA's runtime does so in its first call. [`look`] finds out, at the cost of one call of
//! `dl_iterate_phdr`, which stops at the first object unless something was loaded since.
//! [`devices`] costs one load.
//!
//! Only memory that the processor cannot access counts as device memory: managed memory and
//! registered host memory do not, nor does memory that a driver does not know or cannot report on.
//! Answers are cached in a [`Devices`] for the duration of one call, because memory may be freed
//! and allocated again between calls.

use std::cell::Cell;
use std::ffi::{CStr, CString, c_int, c_uint, c_void};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use super::datatype::Datatype;
use super::message::Block;
use crate::error::Result;
use crate::util::cast::to_offset;
use crate::util::lock::lock;

/// The drivers' code for success: `CUDA_SUCCESS`, `hipSuccess`.
const SUCCESS: c_int = 0;

/// `CU_POINTER_ATTRIBUTE_MEMORY_TYPE` and `_IS_MANAGED`, and the value of the former for device
/// memory.
const CU_MEMORY_TYPE: c_int = 2;
const CU_IS_MANAGED: c_int = 8;
const CU_DEVICE: c_uint = 2;

/// `hipMemoryTypeDevice`, whose value changed in HIP 6.
const HIP_DEVICE: c_int = 2;
const HIP_DEVICE_BEFORE_6: c_int = 1;
const HIP_6: c_int = 6 * 10_000_000;

/// `hipPointerAttribute_t`.
#[repr(C)]
struct HipAttributes {
    kind: c_int,
    device: c_int,
    device_pointer: *mut c_void,
    host_pointer: *mut c_void,
    is_managed: c_int,
    flags: c_uint,
    /// Room for the members of later versions.
    _room: [u64; 8],
}

type AddressRange = unsafe extern "C" fn(*mut usize, *mut usize, usize) -> c_int;

/// Functions of CUDA's driver.
#[derive(Clone, Copy)]
struct Cuda {
    attributes: unsafe extern "C" fn(c_uint, *const c_int, *mut *mut c_void, usize) -> c_int,
    range: Option<AddressRange>,
    current: Option<unsafe extern "C" fn(*mut *mut c_void) -> c_int>,
    count: Option<unsafe extern "C" fn(*mut c_int) -> c_int>,
    device: Option<unsafe extern "C" fn(*mut c_int, c_int) -> c_int>,
    state: Option<unsafe extern "C" fn(c_int, *mut c_uint, *mut c_int) -> c_int>,
}

/// Functions of HIP.
#[derive(Clone, Copy)]
struct Hip {
    attributes: unsafe extern "C" fn(*mut HipAttributes, *const c_void) -> c_int,
    range: Option<AddressRange>,
    /// Peeks at, and clears, the thread's last error.
    errors: Option<[unsafe extern "C" fn() -> c_int; 2]>,
    device: c_int,
}

/// The drivers that the process has loaded.
#[derive(Default)]
struct Drivers {
    cuda: Option<Cuda>,
    hip: Option<Hip>,
}

/// Null until a driver is found. Replaced when a second driver is found, and never freed, because
/// other threads may still use it.
static DRIVERS: AtomicPtr<Drivers> = AtomicPtr::new(std::ptr::null_mut());

/// The number of objects that had been loaded at the last look.
static LOADED: AtomicU64 = AtomicU64::new(u64::MAX);

/// Names of the drivers' libraries, without their versions.
const NAMES: [&[u8]; 2] = [b"libcuda.so", b"libamdhip64.so"];

/// The state of a walk over the loaded objects.
#[derive(Default)]
struct Walk {
    before: u64,
    loaded: u64,
    found: [Option<CString>; 2],
}

/// Finds out if a driver has been loaded since the last look.
pub fn look() {
    let mut walk = Walk { before: LOADED.load(Ordering::Relaxed), ..Walk::default() };
    // SAFETY: the function has the type that is asked for; the data outlives the walk.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut walk).cast()) };
    if walk.loaded != walk.before {
        enter(&walk);
    }
}

/// Returns true if the process uses a device: it has a CUDA context, or has loaded HIP. CUDA's
/// driver alone proves nothing: on clusters with GPUs, MPI may load it.
pub fn is_in_use() -> bool {
    let drivers = DRIVERS.load(Ordering::Acquire);
    // SAFETY: what is there is never freed.
    unsafe { drivers.as_ref() }.is_some_and(|drivers| drivers.hip.is_some() || drivers.cuda.is_some_and(|cuda| cuda.is_in_use()))
}

/// Returns true if a driver has been found: any address may be that of device memory.
#[inline]
pub fn is_driver_known() -> bool {
    !DRIVERS.load(Ordering::Relaxed).is_null()
}

/// Returns what the blocks of one call are checked with, or `None` if no driver has been found.
#[inline]
pub fn devices() -> Option<Devices> {
    let drivers = DRIVERS.load(Ordering::Acquire);
    // SAFETY: what is there is never freed.
    unsafe { drivers.as_ref() }.map(|drivers| Devices { drivers, last: Cell::new((0, 0)) })
}

/// Notes an object that may be a driver. Stops the walk at once if nothing has been loaded since
/// the last one.
unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _size: usize, walk: *mut c_void) -> c_int {
    // SAFETY: the data is what `look` gave, the object is alive during the walk, and a name is null
    // or a string.
    unsafe {
        let (walk, info) = (&mut *walk.cast::<Walk>(), &*info);
        walk.loaded = info.dlpi_adds as u64;
        if walk.loaded == walk.before {
            return 1;
        }
        if !info.dlpi_name.is_null() {
            let path = CStr::from_ptr(info.dlpi_name);
            let name = path.to_bytes().rsplit(|&c| c == b'/').next().unwrap_or_default();
            for (library, found) in NAMES.iter().zip(&mut walk.found) {
                let version = name.strip_prefix(*library);
                if version.is_some_and(|version| version.is_empty() || version[0] == b'.') {
                    found.get_or_insert_with(|| path.to_owned());
                }
            }
        }
    }
    0
}

/// Records the drivers that a walk has found.
#[cold]
fn enter(walk: &Walk) {
    static ENTERING: Mutex<()> = Mutex::new(());
    let _entering = lock(&ENTERING);
    let known = DRIVERS.load(Ordering::Acquire);
    // SAFETY: what is there is never freed.
    let known = unsafe { known.as_ref() };
    let (cuda, hip) = (known.and_then(|d| d.cuda), known.and_then(|d| d.hip));
    let found = Drivers {
        cuda: cuda.or_else(|| walk.found[0].as_deref().and_then(Cuda::of)),
        hip: hip.or_else(|| walk.found[1].as_deref().and_then(Hip::of)),
    };
    if found.cuda.is_some() != cuda.is_some() || found.hip.is_some() != hip.is_some() {
        DRIVERS.store(Box::into_raw(Box::new(found)), Ordering::Release);
    }
    LOADED.store(walk.loaded, Ordering::Relaxed);
}

/// A loaded library, pinned from now on.
#[derive(Clone, Copy)]
struct Library(*mut c_void);

impl Library {
    fn of(path: &CStr) -> Option<Library> {
        // SAFETY: a string. Loads nothing: the library is there.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        (!handle.is_null()).then_some(Library(handle))
    }

    /// Returns one of its functions.
    ///
    /// # Safety
    /// `F` must be the type of a pointer to the function of this name.
    unsafe fn function<F: Copy>(self, name: &CStr) -> Option<F> {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        // SAFETY: a handle and a string.
        let address = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        // SAFETY: the caller vouches for the type.
        (!address.is_null()).then(|| unsafe { std::mem::transmute_copy(&address) })
    }
}

impl Cuda {
    fn of(path: &CStr) -> Option<Cuda> {
        let library = Library::of(path)?;
        // SAFETY: the functions' types, with CUdeviceptr as an address.
        unsafe {
            Some(Cuda {
                attributes: library.function(c"cuPointerGetAttributes")?,
                range: library.function(c"cuMemGetAddressRange_v2"),
                current: library.function(c"cuCtxGetCurrent"),
                count: library.function(c"cuDeviceGetCount"),
                device: library.function(c"cuDeviceGet"),
                state: library.function(c"cuDevicePrimaryCtxGetState"),
            })
        }
    }

    /// Returns true if this thread has a context, or if a device has its primary context, which
    /// CUDA's runtime uses.
    fn is_in_use(&self) -> bool {
        let mut context = std::ptr::null_mut();
        // SAFETY: the result is a local.
        if self.current.is_some_and(|current| unsafe { current(&mut context) } == SUCCESS) && !context.is_null() {
            return true;
        }
        let (Some(count), Some(device), Some(state)) = (self.count, self.device, self.state) else { return false };
        let mut devices = 0;
        // SAFETY: the result is a local.
        if unsafe { count(&mut devices) } != SUCCESS {
            return false;
        }
        (0..devices).any(|i| {
            let (mut handle, mut flags, mut active) = (0, 0, 0);
            // SAFETY: the results are locals; the handle is a device's where the first call has
            // succeeded.
            unsafe { device(&mut handle, i) == SUCCESS && state(handle, &mut flags, &mut active) == SUCCESS && active != 0 }
        })
    }

    fn holds(&self, address: usize) -> bool {
        let (mut kind, mut managed): (c_uint, c_uint) = (0, 0);
        let asked = [CU_MEMORY_TYPE, CU_IS_MANAGED];
        let mut answers = [(&raw mut kind).cast::<c_void>(), (&raw mut managed).cast()];
        // SAFETY: both answers have room; an address that the driver does not know is no error.
        let code = unsafe { (self.attributes)(2, asked.as_ptr(), answers.as_mut_ptr(), address) };
        code == SUCCESS && kind == CU_DEVICE && managed == 0
    }
}

impl Hip {
    fn of(path: &CStr) -> Option<Hip> {
        let library = Library::of(path)?;
        // SAFETY: the functions' types.
        unsafe {
            let version: unsafe extern "C" fn(*mut c_int) -> c_int = library.function(c"hipRuntimeGetVersion")?;
            let peek = library.function(c"hipPeekAtLastError");
            let take = library.function(c"hipGetLastError");
            let mut number = 0;
            let known = version(&mut number) == SUCCESS;
            Some(Hip {
                attributes: library.function(c"hipPointerGetAttributes")?,
                range: library.function(c"hipMemGetAddressRange"),
                errors: peek.zip(take).map(|(peek, take)| [peek, take]),
                device: if known && number < HIP_6 { HIP_DEVICE_BEFORE_6 } else { HIP_DEVICE },
            })
        }
    }

    fn holds(&self, address: usize) -> bool {
        // SAFETY: plain members: all zeroes is one.
        let mut answer: HipAttributes = unsafe { std::mem::zeroed() };
        // SAFETY: takes nothing; reports this thread's last error.
        let clean = self.errors.is_some_and(|[peek, _]| unsafe { peek() } == SUCCESS);
        // SAFETY: the answer has room; an address that the driver does not know is an error, which
        // is the host's.
        let code = unsafe { (self.attributes)(&mut answer, std::ptr::without_provenance(address)) };
        if code != SUCCESS {
            // clear the error, or the program would take it for its own
            if let Some([_, take]) = self.errors.filter(|_| clean) {
                // SAFETY: takes nothing.
                unsafe { take() };
            }
            return false;
        }
        answer.kind == self.device && answer.is_managed == 0
    }
}

/// Tells device memory from host memory, for the duration of a call.
pub struct Devices {
    drivers: &'static Drivers,
    /// The first address of the allocation that was found last, and its end.
    last: Cell<(usize, usize)>,
}

impl Devices {
    /// Returns true if the data of a block lies in device memory. Checks only the first byte.
    pub fn hold(&self, at: *const u8, count: i64, datatype: Datatype) -> Result<bool> {
        if count == 0 {
            return Ok(false);
        }
        let (size, (first, _)) = (datatype.size()?, datatype.true_extent()?);
        Ok(size > 0 && self.holds_byte(at.wrapping_offset(to_offset(first)).addr()))
    }

    /// Like [`hold`](Devices::hold), for the block of a message.
    pub fn hold_block(&self, block: &Block) -> Result<bool> {
        self.hold(block.at, block.count, block.datatype)
    }

    /// Returns true if a byte lies in device memory.
    pub fn holds_byte(&self, address: usize) -> bool {
        let (from, up_to) = self.last.get();
        if (from..up_to).contains(&address) {
            return true;
        }
        let Drivers { cuda, hip } = self.drivers;
        let found = match (cuda, hip) {
            (Some(cuda), _) if cuda.holds(address) => cuda.range,
            (_, Some(hip)) if hip.holds(address) => hip.range,
            _ => return false,
        };
        if let Some(Range { start, end }) = found.and_then(|range| allocation(range, address)) {
            self.last.set((start, end));
        }
        true
    }
}

/// Returns the allocation that contains an address.
fn allocation(range: AddressRange, address: usize) -> Option<Range<usize>> {
    let (mut begin, mut bytes) = (0, 0);
    // SAFETY: both results are locals; the address is a device's.
    let code = unsafe { range(&mut begin, &mut bytes, address) };
    (code == SUCCESS && begin <= address).then(|| begin..begin.saturating_add(bytes))
}
