//! Typemaps of datatypes: found once for each datatype, by asking MPI how it was made, and kept as an attribute of it.
//!
//! The attribute goes when the datatype is freed, and [`Freed`] counts that. As long as the count stays, a handle that has been looked at still names the same
//! datatype: who remembers it together with its typemap needs no call of MPI.
//!
//! Cost: for a datatype that has been looked at two calls of MPI, for a new one some for each datatype that it is made of.

use std::cell::{Cell, OnceCell, RefCell};
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::of_process::OfProcess;
use super::{MPI_Aint, MPI_Count, MPI_Datatype, check, datatype};
pub use crate::datatype::typemap::Typemap;
use crate::datatype::typemap::{MOST_PIECES, Pieces};
use crate::error::Result;

unsafe extern "C" {
    static mpixn_combiners: [c_int; Combiner::ALL.len()];
    static mpixn_order_fortran: c_int;
    static mpixn_distribute: [c_int; 4];
    fn mpixn_create_type_keyval(delete_fn: Option<DeleteFn>, keyval: *mut c_int) -> c_int;
    fn mpixn_type_envelope(datatype: MPI_Datatype, numbers: *mut [MPI_Count; 4], combiner: *mut c_int) -> c_int;
    fn mpixn_type_contents(
        datatype: MPI_Datatype,
        numbers: *const [MPI_Count; 4],
        integers: *mut c_int,
        addresses: *mut MPI_Aint,
        counts: *mut MPI_Count,
        datatypes: *mut MPI_Datatype,
    ) -> c_int;
}

type DeleteFn = unsafe extern "C" fn(MPI_Datatype, c_int, *mut c_void, *mut c_void) -> c_int;

/// How a datatype was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Combiner {
    Named,
    Dup,
    Contiguous,
    Vector,
    Hvector,
    HvectorInteger,
    Indexed,
    Hindexed,
    HindexedInteger,
    IndexedBlock,
    HindexedBlock,
    Struct,
    StructInteger,
    Subarray,
    Darray,
    Resized,
    F90Real,
    F90Complex,
    F90Integer,
}

impl Combiner {
    const ALL: [Combiner; 19] = [
        Combiner::Named,
        Combiner::Dup,
        Combiner::Contiguous,
        Combiner::Vector,
        Combiner::Hvector,
        Combiner::HvectorInteger,
        Combiner::Indexed,
        Combiner::Hindexed,
        Combiner::HindexedInteger,
        Combiner::IndexedBlock,
        Combiner::HindexedBlock,
        Combiner::Struct,
        Combiner::StructInteger,
        Combiner::Subarray,
        Combiner::Darray,
        Combiner::Resized,
        Combiner::F90Real,
        Combiner::F90Complex,
        Combiner::F90Integer,
    ];

    /// Of a type that cannot be freed.
    fn is_predefined(self) -> bool {
        matches!(self, Combiner::Named | Combiner::F90Real | Combiner::F90Complex | Combiner::F90Integer)
    }
}

/// Counts datatypes that have been freed, of those that have been looked at.
#[derive(Debug, Default)]
pub struct Freed {
    count: AtomicU64,
    /// Predefined datatypes that have been looked at: they need not be asked for an attribute, which not all of them can have.
    predefined: Mutex<Vec<(Handle, Option<Arc<Typemap>>)>>,
}

/// A handle of a predefined datatype, of which it is only looked whether it is equal.
#[derive(Debug)]
struct Handle(MPI_Datatype);

// SAFETY: handles may be used in any thread that may call MPI.
unsafe impl Send for Handle {}

static FREED: OfProcess<Freed> = OfProcess::new();

impl Freed {
    /// The process's counter, made at the first call.
    pub fn of_process() -> Result<Arc<Freed>> {
        FREED.get()
    }

    /// How many have been freed. Costs no call of MPI.
    #[inline]
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// The typemap of one element. `None`: it cannot be flattened, as it has too many irregular pieces or is of a kind that is not known.
    ///
    /// # Safety
    /// `datatype` must be a datatype.
    pub unsafe fn typemap(self: &Arc<Freed>, datatype: MPI_Datatype) -> Result<Option<Arc<Typemap>>> {
        if let Some(map) = self.predefined(datatype) {
            return Ok(map);
        }
        // SAFETY: the caller vouches for the handle; what is kept is read before the datatype can be freed.
        unsafe {
            let keyval = keyval()?;
            if let Some(kept) = kept(datatype, keyval)?.as_ref() {
                return Ok(kept.map.clone());
            }
            let made = Made::of(datatype)?;
            let map = made.typemap(datatype)?.map(Arc::new);
            if made.is_predefined() {
                return Ok(self.remember(datatype, map));
            }
            let kept = Box::into_raw(Box::new(Kept { map: map.clone(), freed: Arc::clone(self) }));
            if let Err(e) = check(mpi_sys::MPI_Type_set_attr(datatype, keyval, kept.cast()), "MPI_Type_set_attr") {
                // MPI did not take it
                drop(Box::from_raw(kept));
                return Err(e);
            }
            Ok(map)
        }
    }

    /// Whether it is a datatype that nobody frees. Does not look for a derived one's typemap.
    ///
    /// # Safety
    /// `datatype` must be a datatype.
    pub unsafe fn is_predefined(self: &Arc<Freed>, datatype: MPI_Datatype) -> Result<bool> {
        if self.predefined(datatype).is_some() {
            return Ok(true);
        }
        // SAFETY: the caller vouches for the handle.
        unsafe {
            if !kept(datatype, keyval()?)?.is_null() {
                return Ok(false);
            }
            let made = Made::of(datatype)?;
            if made.is_predefined() {
                self.remember(datatype, made.typemap(datatype)?.map(Arc::new));
            }
            Ok(made.is_predefined())
        }
    }

    /// The typemap of a predefined datatype that has been looked at.
    fn predefined(&self, datatype: MPI_Datatype) -> Option<Option<Arc<Typemap>>> {
        let list = self.predefined.lock().unwrap_or_else(PoisonError::into_inner);
        list.iter().find(|(handle, _)| handle.0 == datatype).map(|(_, map)| map.clone())
    }

    fn remember(&self, datatype: MPI_Datatype, map: Option<Arc<Typemap>>) -> Option<Arc<Typemap>> {
        let mut list = self.predefined.lock().unwrap_or_else(PoisonError::into_inner);
        list.push((Handle(datatype), map.clone()));
        map
    }
}

/// Typemaps of the datatypes that were asked for last.
#[derive(Debug, Default)]
pub struct Recent {
    freed: OnceCell<Arc<Freed>>,
    /// What `freed` counted when the list was begun.
    count: Cell<u64>,
    list: RefCell<Vec<(MPI_Datatype, Option<Arc<Typemap>>)>>,
    /// Which entry is the next to be replaced.
    next: Cell<usize>,
}

impl Recent {
    /// As many as a process has neighbors in a 3-D grid, on both sides.
    const MOST: usize = 52;

    /// The typemap of one element, as [`Freed::typemap`]. No call of MPI for a datatype that is in the list.
    ///
    /// # Safety
    /// `datatype` must be a datatype.
    pub unsafe fn typemap(&self, datatype: MPI_Datatype) -> Result<Option<Arc<Typemap>>> {
        let freed = self.freed()?;
        let mut list = self.list.borrow_mut();
        if self.count.get() != freed.count() {
            self.count.set(freed.count());
            list.clear();
        }
        if let Some((_, map)) = list.iter().find(|(handle, _)| *handle == datatype) {
            return Ok(map.clone());
        }
        // SAFETY: the caller vouches for the handle.
        let map = unsafe { freed.typemap(datatype) }?;
        if list.len() < Recent::MOST {
            list.push((datatype, map.clone()));
        } else {
            list[self.next.get()] = (datatype, map.clone());
            self.next.set((self.next.get() + 1) % Recent::MOST);
        }
        Ok(map)
    }

    /// The process's counter.
    pub fn freed(&self) -> Result<&Arc<Freed>> {
        if let Some(freed) = self.freed.get() {
            return Ok(freed);
        }
        let freed = Freed::of_process()?;
        Ok(self.freed.get_or_init(|| freed))
    }
}

/// The typemap of one element, as [`Freed::typemap`]; for who keeps nothing between calls.
///
/// # Safety
/// `datatype` must be a datatype.
#[allow(dead_code)]
pub unsafe fn of(datatype: MPI_Datatype) -> Result<Option<Arc<Typemap>>> {
    // SAFETY: the caller vouches for the handle.
    unsafe { Freed::of_process()?.typemap(datatype) }
}

/// What hangs on a datatype.
struct Kept {
    map: Option<Arc<Typemap>>,
    freed: Arc<Freed>,
}

/// What hangs on a datatype. Null if nothing does.
unsafe fn kept(datatype: MPI_Datatype, keyval: c_int) -> Result<*const Kept> {
    let (mut value, mut found): (*const Kept, c_int) = (std::ptr::null(), 0);
    // SAFETY: the caller vouches for the handle; MPI writes the pointer that was set.
    let rc = unsafe { mpi_sys::MPI_Type_get_attr(datatype, keyval, (&raw mut value).cast(), &mut found) };
    check(rc, "MPI_Type_get_attr")?;
    Ok(if found != 0 { value } else { std::ptr::null() })
}

fn keyval() -> Result<c_int> {
    static KEYVAL: OnceLock<c_int> = OnceLock::new();
    if let Some(&keyval) = KEYVAL.get() {
        return Ok(keyval);
    }
    let mut keyval = 0;
    // SAFETY: the callback has the type that MPI asks for; the result is a local.
    check(unsafe { mpixn_create_type_keyval(Some(let_go), &mut keyval) }, "MPI_Type_create_keyval")?;
    Ok(*KEYVAL.get_or_init(|| keyval))
}

/// Called by MPI when the datatype is freed.
unsafe extern "C" fn let_go(_datatype: MPI_Datatype, _keyval: c_int, value: *mut c_void, _extra: *mut c_void) -> c_int {
    // a panic must not unwind into MPI
    let done = std::panic::catch_unwind(|| {
        // SAFETY: the pointer is the box that `typemap` stored under this keyval, and MPI calls this once for it.
        let kept = unsafe { Box::from_raw(value.cast::<Kept>()) };
        kept.freed.count.fetch_add(1, Ordering::Release);
    });
    match done {
        Ok(()) => super::success(),
        Err(_) => super::errors::own_class(crate::error::Class::Intern),
    }
}

/// How a datatype was made: the first part of the answer.
struct Made {
    numbers: [MPI_Count; 4],
    /// `None` if it is not known.
    combiner: Option<Combiner>,
}

impl Made {
    unsafe fn of(datatype: MPI_Datatype) -> Result<Made> {
        let (mut numbers, mut combiner) = ([0; 4], 0);
        // SAFETY: the caller vouches for the handle; results are locals, the others constants of the C file.
        unsafe {
            check(mpixn_type_envelope(datatype, &mut numbers, &mut combiner), "MPI_Type_get_envelope")?;
            let combiner = (mpixn_combiners.iter()).position(|&known| known == combiner).map(|k| Combiner::ALL[k]);
            Ok(Made { numbers, combiner })
        }
    }

    /// Whether nobody frees it.
    fn is_predefined(&self) -> bool {
        self.combiner.is_some_and(Combiner::is_predefined)
    }

    /// The typemap, if it fits what MPI says of size and bounds.
    unsafe fn typemap(&self, datatype: MPI_Datatype) -> Result<Option<Typemap>> {
        // SAFETY: the caller vouches for the handle.
        unsafe {
            let Some(pieces) = self.pieces(datatype)? else { return Ok(None) };
            let (size, extent) = (datatype::size(datatype)?, datatype::extent(datatype)?);
            let (true_lb, true_extent) = datatype::true_extent(datatype)?;
            let (low, high) = (i128::from(true_lb), i128::from(true_lb) + i128::from(true_extent));
            let fits =
                |map: &Typemap| i64::try_from(map.size()) == Ok(size) && map.bounds().is_none_or(|bounds| bounds == (low, high));
            Ok(Typemap::new(pieces, extent).filter(fits))
        }
    }

    unsafe fn pieces(&self, datatype: MPI_Datatype) -> Result<Option<Pieces>> {
        let Some(combiner) = self.combiner else { return Ok(None) };
        // SAFETY: the caller vouches for the handle.
        unsafe {
            if combiner.is_predefined() {
                let (size, (true_lb, true_extent)) = (datatype::size(datatype)?, datatype::true_extent(datatype)?);
                // types of pairs may have holes
                let dense = size == 0 || (true_lb == 0 && true_extent == size);
                return Ok(usize::try_from(size).ok().filter(|_| dense).map(Pieces::bytes));
            }
            if self.numbers.iter().any(|&n| n as i64 > 4 * MOST_PIECES as i64) {
                return Ok(None);
            }
            let (contents, parts) = self.contents(datatype)?;
            let mut elements = Vec::with_capacity(parts.0.len());
            for &part in &parts.0 {
                let pieces = Made::of(part)?.pieces(part)?;
                elements.push((pieces, datatype::extent(part)?));
            }
            Ok(flatten(combiner, &contents, elements))
        }
    }

    /// Counts, displacements and so on in one list, as they are listed in the standard for large counts, and the datatypes.
    unsafe fn contents(&self, datatype: MPI_Datatype) -> Result<(Vec<i64>, Parts)> {
        let [integers, addresses, counts, datatypes] = self.numbers.map(|n| n as usize);
        let mut integers = vec![0; integers];
        let mut addresses: Vec<MPI_Aint> = vec![0; addresses];
        let mut counts: Vec<MPI_Count> = vec![0; counts];
        let mut parts = Parts(vec![datatype::null(); datatypes]);
        // SAFETY: the caller vouches for the handle; the arrays are as long as MPI has said.
        let rc = unsafe {
            mpixn_type_contents(
                datatype,
                &self.numbers,
                integers.as_mut_ptr(),
                addresses.as_mut_ptr(),
                counts.as_mut_ptr(),
                parts.0.as_mut_ptr(),
            )
        };
        check(rc, "MPI_Type_get_contents")?;
        let (integers, addresses) = (integers.into_iter().map(i64::from), addresses.into_iter().map(|a| a as i64));
        let counts = counts.into_iter().map(|c| c as i64);
        let integers: Vec<i64> = integers.collect();
        // in arrays only some numbers are large: those behind the number of dimensions
        let first = match self.combiner {
            Some(Combiner::Subarray) => 1,
            Some(Combiner::Darray) => 3,
            _ => integers.len(),
        };
        let (first, last) = integers.split_at(first.min(integers.len()));
        let numbers = first.iter().copied().chain(addresses).chain(counts).chain(last.iter().copied()).collect();
        Ok((numbers, parts))
    }
}

/// Handles that MPI has given to us.
struct Parts(Vec<MPI_Datatype>);

impl Drop for Parts {
    fn drop(&mut self) {
        for part in &mut self.0 {
            if datatype::is_null(*part) {
                continue;
            }
            // SAFETY: handles that are ours; predefined ones are nobody's. Errors have no one to go to.
            unsafe {
                if Made::of(*part).is_ok_and(|made| !made.is_predefined()) {
                    mpi_sys::MPI_Type_free(part);
                }
            }
        }
    }
}

/// The pieces of what was made of `elements` (each with its extent) by these numbers. `None` if that cannot be flattened.
fn flatten(combiner: Combiner, numbers: &[i64], elements: Vec<(Option<Pieces>, i64)>) -> Option<Pieces> {
    let number = |k: usize| numbers.get(k).copied();
    let single = || elements.first().and_then(|(pieces, extent)| Some((pieces.as_ref()?, *extent)));
    // `count` blocks, of which each says its length, its displacement in bytes, and of which element it is
    let blocks = |count: i64, block: &dyn Fn(usize) -> Option<(i64, i64, usize)>| {
        let mut all = Pieces::default();
        for k in 0..usize::try_from(count).ok()? {
            let (length, displacement, element) = block(k)?;
            let (pieces, extent) = elements.get(element)?;
            // what is empty may be anything
            if length > 0 {
                all.append(&pieces.clone()?.repeated(length, *extent)?, displacement)?;
            }
        }
        Some(all.regular())
    };
    let scaled = |displacement: i64| displacement.checked_mul(elements.first()?.1);
    match combiner {
        Combiner::Named | Combiner::F90Real | Combiner::F90Complex | Combiner::F90Integer => None,
        Combiner::Dup | Combiner::Resized => Some(single()?.0.clone()),
        Combiner::Contiguous => {
            let (pieces, extent) = single()?;
            pieces.clone().repeated(number(0)?, extent)
        }
        Combiner::Vector | Combiner::Hvector | Combiner::HvectorInteger => {
            let (pieces, extent) = single()?;
            let stride = if combiner == Combiner::Vector { scaled(number(2)?)? } else { number(2)? };
            pieces.clone().repeated(number(1)?, extent)?.repeated(number(0)?, stride)
        }
        Combiner::Indexed => {
            let count = number(0)?;
            let n = usize::try_from(count).ok()?;
            blocks(count, &|k| Some((number(1 + k)?, scaled(number(1 + n + k)?)?, 0)))
        }
        Combiner::Hindexed | Combiner::HindexedInteger => {
            let count = number(0)?;
            let n = usize::try_from(count).ok()?;
            blocks(count, &|k| Some((number(1 + k)?, number(1 + n + k)?, 0)))
        }
        Combiner::IndexedBlock => blocks(number(0)?, &|k| Some((number(1)?, scaled(number(2 + k)?)?, 0))),
        Combiner::HindexedBlock => blocks(number(0)?, &|k| Some((number(1)?, number(2 + k)?, 0))),
        Combiner::Struct | Combiner::StructInteger => {
            let count = number(0)?;
            let n = usize::try_from(count).ok()?;
            blocks(count, &|k| Some((number(1 + k)?, number(1 + n + k)?, k)))
        }
        Combiner::Subarray => {
            let (pieces, extent) = single()?;
            let dims = usize::try_from(number(0)?).ok()?;
            // SAFETY: a constant of the C file.
            let fortran = number(1 + 3 * dims)? == i64::from(unsafe { mpixn_order_fortran });
            let (mut pieces, mut stride, mut offset) = (pieces.clone(), extent, 0i64);
            // from the dimension that lies closest together outward
            for k in 0..dims {
                let dim = if fortran { k } else { dims - 1 - k };
                let (size, part, start) = (number(1 + dim)?, number(1 + dims + dim)?, number(1 + 2 * dims + dim)?);
                pieces = pieces.repeated(part, stride)?;
                offset = offset.checked_add(start.checked_mul(stride)?)?;
                stride = stride.checked_mul(size)?;
            }
            moved(&pieces, offset)
        }
        Combiner::Darray => {
            let (pieces, extent) = single()?;
            let (processes, mut rank, dims) = (number(0)?, number(1)?, usize::try_from(number(2)?).ok()?);
            // SAFETY: constants of the C file.
            let ([block, cyclic, none, default], fortran) = unsafe { (mpixn_distribute.map(i64::from), mpixn_order_fortran) };
            let fortran = number(3 + 4 * dims)? == i64::from(fortran);
            // processes are always in the order of C
            let (mut coordinates, mut rest) = (Vec::with_capacity(dims), processes);
            for dim in 0..dims {
                rest = rest.checked_div(number(3 + 3 * dims + dim)?)?;
                coordinates.push(rank.checked_div(rest)?);
                rank = rank.checked_rem(rest)?;
            }
            let (mut pieces, mut stride, mut offset) = (pieces.clone(), extent, 0i64);
            for k in 0..dims {
                let dim = if fortran { k } else { dims - 1 - k };
                let field = |which: usize| number(3 + which * dims + dim);
                let (size, distribution, argument, processes) = (field(0)?, field(1)?, field(2)?, field(3)?);
                // consecutive elements of a process, before those of the next one come
                let length = match argument {
                    _ if distribution == none => size,
                    given if given != default => given,
                    _ if distribution == block => size.checked_add(processes - 1)?.checked_div(processes)?,
                    _ if distribution == cyclic => 1,
                    _ => return None,
                };
                let round = length.checked_mul(processes)?;
                let first = length.checked_mul(coordinates[dim])?;
                let behind = size.checked_sub(first)?.max(0);
                let (whole, part) = (behind.checked_div(round)?, behind.checked_rem(round)?.min(length));
                // the last round may be cut short
                let (whole, part) = if part == length { (whole + 1, 0) } else { (whole, part) };
                let distance = round.checked_mul(stride)?;
                let mut all = pieces.clone().repeated(length, stride)?.repeated(whole, distance)?;
                all.append(&pieces.repeated(part, stride)?, whole.checked_mul(distance)?)?;
                offset = offset.checked_add(first.checked_mul(stride)?)?;
                (pieces, stride) = (all, stride.checked_mul(size)?);
            }
            moved(&pieces, offset)
        }
    }
}

/// The same, so many bytes further on.
fn moved(pieces: &Pieces, offset: i64) -> Option<Pieces> {
    let mut moved = Pieces::default();
    moved.append(pieces, offset)?;
    Some(moved)
}
