//! The elements of a process's window: reading, writing and combining them.

use crate::datatype::buffers::{Blocks, Located, Names, Shape, enlarge};
use crate::datatype::known::Known;
use crate::datatype::pack::{Loopback, Packing};
use crate::error::{Argument, Result};
use crate::exec::accumulate::block::{Block, Tools};
use crate::exec::elements::Elements as Loops;
use crate::exec::scratch::{Room, Scratch};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::datatype::Owned as OwnedDatatype;
use crate::mpi::{Datatype, Op};
use crate::util::cast::{to_int, to_offset, to_usize};

/// The arguments that describe a window, for error texts.
static WINDOW: Names = Names {
    buffer: "base",
    buffers: "base",
    count: "count",
    counts: "count",
    displs: "indices",
    datatype: "type",
    datatypes: "type",
};

/// Describes the messages by which some data is packed, on a communicator of this process alone.
fn with_itself(self_comm: &Comm) -> Loopback<'_> {
    Loopback { me: 0, tag: 0, comm: self_comm }
}

/// How an operator works on the elements.
pub enum Combining {
    /// By a loop of our own, on values wherever they lie.
    Loops(Loops),
    /// By MPI.
    Block {
        /// How, at the first element of the window.
        block: Box<Block>,
        /// True if values may be combined in any order.
        commutes: bool,
    },
}

impl Combining {
    /// Returns true if values may be combined with each other before they are with an element.
    #[inline]
    pub fn commutes(&self) -> bool {
        match self {
            // operators of MPI's
            Combining::Loops(_) => true,
            Combining::Block { commutes, .. } => *commutes,
        }
    }
}

/// The elements of a window, without gaps.
#[derive(Debug, Clone, Copy)]
pub struct Dense {
    /// Address of the first one.
    pub base: *mut u8,
    /// Elements.
    pub count: u64,
    /// Bytes of an element.
    pub size: usize,
}

/// The elements of a window, and memory to combine them.
pub struct Elements {
    base: *mut u8,
    /// Elements.
    pub count: u64,
    /// `None` once closed.
    datatype: Option<OwnedDatatype>,
    extent: i64,
    /// Bytes of an element's data.
    pub size: usize,
    /// Where its data begins and ends, in bytes from its address.
    bounds: (i64, i64),
    /// The packing of the element at `base`.
    packing: Packing,
    /// Bytes from an element's address to its data, if that is contiguous.
    plain: Option<isize>,
    /// Facts about the datatype.
    known: Known,
    scratch: Scratch,
    packed: Vec<u8>,
    /// Memory of an element outside of the window, once values have been combined there.
    apart: Scratch,
}

impl Elements {
    /// The `count` elements at `base`; `datatype` is a duplicate of the caller's.
    pub fn new(base: *mut u8, count: u64, datatype: OwnedDatatype, self_comm: &Comm) -> Result<Elements> {
        // SAFETY: dropped with the duplicate.
        let lent = unsafe { datatype.lend() };
        let known = Known::default();
        // a process without elements has no base, and a packing does not depend on it
        let base = if base.is_null() { std::ptr::NonNull::<u128>::dangling().as_ptr().cast() } else { base };
        let (packing, size) = Packing::of(&Located { at: base, count: 1, datatype: lent }, &known, self_comm)?;
        let plain = match &packing {
            Packing::InPlace(at) => Some(to_int(at.addr().cast_signed() - base.addr().cast_signed())),
            _ => None,
        };
        let (size, extent, (low, length)) = (to_usize(size), lent.extent()?, lent.true_extent()?);
        let bounds = (low, low.saturating_add(length));
        let (scratch, packed, apart) = (Scratch::default(), Vec::new(), Scratch::default());
        let datatype = Some(datatype);
        Ok(Elements { base, count, datatype, extent, size, bounds, packing, plain, known, scratch, packed, apart })
    }

    /// Returns the bytes from the address of one element to that of the next.
    pub fn extent(&self) -> i64 {
        self.extent
    }

    /// Returns true if no element with data lies at NULL: the datatype has no absolute addresses,
    /// which lie far from 0.
    #[inline]
    pub fn are_relative(&self) -> bool {
        const NEAR: u64 = 1 << 16;
        self.size > 0 && self.bounds.0.unsigned_abs() < NEAR
    }

    /// Returns true if some of the `count` elements that begin at `at` may be bytes of the window.
    pub fn may_overlap(&self, at: *const u8, count: usize) -> bool {
        let range = |at: usize, count: i64| {
            let (begin, last) = (i128::from(to_int::<i64>(at)), i128::from(self.extent) * i128::from(count - 1));
            (begin + last.min(0) + i128::from(self.bounds.0), begin + last.max(0) + i128::from(self.bounds.1))
        };
        if self.count == 0 || count == 0 {
            return false;
        }
        let (own, other) = (range(self.base.addr(), self.count.cast_signed()), range(at.addr(), to_int(count)));
        own.0 < other.1 && other.0 < own.1
    }

    /// Returns true if the elements at consecutive addresses are bytes in order, without gaps.
    #[inline]
    pub fn is_dense(&self) -> bool {
        self.plain == Some(0) && self.extent == to_int::<i64>(self.size)
    }

    /// Returns true if elements are words: 4 or 8 bytes without gaps.
    #[inline]
    pub fn are_words(&self) -> bool {
        matches!(self.size, 4 | 8) && self.is_dense()
    }

    /// Returns the elements of the window, if they have no gaps.
    #[inline]
    pub fn dense(&self) -> Option<Dense> {
        self.is_dense().then_some(Dense { base: self.base, count: self.count, size: self.size })
    }

    /// Returns the address of an element of the window.
    #[inline]
    fn address(&self, index: u64) -> *mut u8 {
        self.base.wrapping_offset(to_offset(index.cast_signed().wrapping_mul(self.extent)))
    }

    /// Binds an operator to the elements. Calls MPI, which checks that they fit.
    pub fn bind(&mut self, op: Op, self_comm: &Comm) -> Result<Combining> {
        let mut block = Block::new(0);
        let datatype = self.datatype();
        let shape = Shape::Equal { count: 1 };
        let side = Blocks { base: self.base, datatype, extent: self.extent, shape, names: &WINDOW, field: None };
        let commutes = op.commutes()?;
        block.bind((op, commutes), &side, &self.known, self_comm, self_comm)?;
        let (packed, room) = block.needs();
        enlarge(&mut self.packed, packed)?;
        if let Some(room) = room {
            self.scratch.hold(room, 2)?;
        }
        Ok(match (block.plain(), self.plain) {
            (Some((loops, _)), Some(_)) => Combining::Loops(loops),
            _ => Combining::Block { block: Box::new(block), commutes },
        })
    }

    /// Copies the data of an element at `at`, which need not be in the window, to `into`.
    ///
    /// # Safety
    /// The element must be readable.
    #[inline]
    pub unsafe fn load(&self, at: *const u8, into: &mut [u8], self_comm: &Comm) -> Result<()> {
        // SAFETY: the caller vouches for the element.
        unsafe {
            if let Some(offset) = self.plain {
                copy(at.wrapping_offset(offset), into.as_mut_ptr(), into.len());
                return Ok(());
            }
            let located = self.located(at.cast_mut());
            self.packing_at(&located, self_comm)?.pack(&located, into, with_itself(self_comm))
        }
    }

    /// Copies an element's data to the element at `at`, which need not be in the window.
    ///
    /// # Safety
    /// The element must be writable.
    #[inline]
    pub unsafe fn store(&self, from: &[u8], at: *mut u8, self_comm: &Comm) -> Result<()> {
        // SAFETY: the caller vouches for the element.
        unsafe {
            if let Some(offset) = self.plain {
                copy(from.as_ptr(), at.wrapping_offset(offset), from.len());
                return Ok(());
            }
            let located = self.located(at);
            self.packing_at(&located, self_comm)?.unpack(from, &located, with_itself(self_comm))
        }
    }

    /// Copies the data of elements that begin at `at`, as many as there is room for in `into`. They
    /// need not be in the window.
    ///
    /// # Safety
    /// As for [`Elements::load`].
    pub unsafe fn load_all(&self, at: *const u8, into: &mut [u8], self_comm: &Comm) -> Result<()> {
        // SAFETY: the caller vouches for the elements.
        unsafe {
            if self.is_dense() {
                into.copy_from_slice(std::slice::from_raw_parts(at, into.len()));
                return Ok(());
            }
            for (k, into) in into.chunks_exact_mut(self.size.max(1)).enumerate() {
                self.load(self.after(at.cast_mut(), k), into, self_comm)?;
            }
            Ok(())
        }
    }

    /// Copies data to the elements that begin at `at`, which need not be in the window.
    ///
    /// # Safety
    /// As for [`Elements::store`].
    pub unsafe fn store_all(&self, from: &[u8], at: *mut u8, self_comm: &Comm) -> Result<()> {
        // SAFETY: the caller vouches for the elements.
        unsafe {
            if self.is_dense() {
                copy(from.as_ptr(), at, from.len());
                return Ok(());
            }
            for (k, from) in from.chunks_exact(self.size.max(1)).enumerate() {
                self.store(from, self.after(at, k), self_comm)?;
            }
            Ok(())
        }
    }

    /// Returns the address of the element that is `k` after the one at `at`.
    #[inline]
    pub fn after(&self, at: *mut u8, k: usize) -> *mut u8 {
        at.wrapping_offset(to_offset(self.extent.wrapping_mul(to_int(k))))
    }

    /// Returns the data of an element at `at`, which need not be in the window, unless it must be
    /// packed.
    ///
    /// # Safety
    /// The element must be readable, and not be written, as long as its data is used.
    #[inline]
    pub unsafe fn in_place<'a>(&self, at: *const u8) -> Option<&'a [u8]> {
        // SAFETY: the caller vouches for the element.
        self.plain.map(|offset| unsafe { std::slice::from_raw_parts(at.wrapping_offset(offset), self.size) })
    }

    fn located(&self, at: *mut u8) -> Located {
        Located { at, count: 1, datatype: self.datatype() }
    }

    fn datatype(&self) -> Datatype {
        let datatype = self.datatype.as_ref().expect("the window has not been closed");
        // SAFETY: the duplicate outlives every use of this: nothing happens on a closed window.
        unsafe { datatype.lend() }
    }

    /// Frees the datatype.
    pub fn close(&mut self) {
        self.datatype = None;
    }

    fn packing_at(&self, located: &Located, self_comm: &Comm) -> Result<Packing> {
        match &self.packing {
            Packing::Layout(layout) => Ok(Packing::Layout(layout.clone())),
            _ => Packing::without_layout(located, self_comm),
        }
    }

    /// Returns an element of the window.
    ///
    /// # Safety
    /// The window's memory must be readable.
    #[inline]
    pub unsafe fn get(&self, index: u64, into: &mut [u8], self_comm: &Comm) -> Result<()> {
        // SAFETY: the caller vouches for the window.
        unsafe { self.load(self.address(index), into, self_comm) }
    }

    /// Writes an element of the window.
    ///
    /// # Safety
    /// The window's memory must be writable.
    #[inline]
    pub unsafe fn put(&self, index: u64, value: &[u8], self_comm: &Comm) -> Result<()> {
        // SAFETY: the caller vouches for the window.
        unsafe { self.store(value, self.address(index), self_comm) }
    }

    /// Combines a value with an element of the window.
    ///
    /// # Safety
    /// The window's memory must be writable.
    #[inline]
    pub unsafe fn combine(&mut self, index: u64, value: &[u8], how: &Combining, self_comm: &Comm) -> Result<()> {
        // SAFETY: the caller vouches for the window.
        unsafe { self.combine_at(self.address(index), value, how, self_comm) }
    }

    /// Combines a value with another one. Both are data of an element.
    pub fn combine_values(&mut self, into: &mut [u8], value: &[u8], how: &Combining, self_comm: &Comm) -> Result<()> {
        assert_eq!((into.len(), value.len()), (self.size, self.size), "the data of an element");
        // SAFETY: both are data of an element; the memory apart has room for one.
        unsafe {
            // our own loops alone take values wherever they lie
            if let Combining::Loops(loops) = how
                && loops.loops().is_some()
            {
                return loops.combine(into.as_mut_ptr(), value.as_ptr(), value.len());
            }
            let at = self.apart()?;
            self.store(into, at, self_comm)?;
            self.combine_at(at, value, how, self_comm)?;
            self.load(at, into, self_comm)
        }
    }

    /// Returns the address of an element outside of the window, which has memory for its data, and
    /// is as well aligned as any element.
    fn apart(&mut self) -> Result<*mut u8> {
        let room = Room::of(&self.located(self.base), self.extent, || Argument::new(WINDOW.count))?;
        self.apart.hold(room, 1)?;
        Ok(self.apart.places(room).at(0))
    }

    /// Combines a value with the element at `at`, which need not be in the window.
    ///
    /// # Safety
    /// The element must be writable.
    #[inline]
    unsafe fn combine_at(&mut self, at: *mut u8, value: &[u8], how: &Combining, self_comm: &Comm) -> Result<()> {
        // SAFETY: the caller vouches for the element.
        unsafe {
            match how {
                Combining::Loops(loops) => {
                    loops.combine(at.wrapping_offset(self.plain.unwrap_or(0)), value.as_ptr(), value.len())
                }
                Combining::Block { block, .. } => self.combine_by_mpi(at, value, block, self_comm),
            }
        }
    }

    /// The same by MPI.
    ///
    /// # Safety
    /// As for [`Elements::combine_at`].
    #[cold]
    unsafe fn combine_by_mpi(&mut self, at: *mut u8, value: &[u8], block: &Block, self_comm: &Comm) -> Result<()> {
        let offset = at.addr().cast_signed().wrapping_sub(self.base.addr().cast_signed());
        let loopback = with_itself(self_comm);
        let mut tools = Tools { scratch: &mut self.scratch, packed: &mut self.packed, known: &self.known, loopback };
        // SAFETY: the caller vouches for the element.
        unsafe { block.moved(offset).combine(0..block.bytes(), value.as_ptr(), &mut tools) }
    }
}

/// Copies an element's data.
///
/// # Safety
/// Both must be valid for `bytes` bytes; they may overlap.
#[inline]
unsafe fn copy(from: *const u8, into: *mut u8, bytes: usize) {
    // SAFETY: the caller vouches for both.
    unsafe {
        match bytes {
            // lengths that the compiler knows spare a call
            8 => into.cast::<u64>().write_unaligned(from.cast::<u64>().read_unaligned()),
            4 => into.cast::<u32>().write_unaligned(from.cast::<u32>().read_unaligned()),
            _ => std::ptr::copy(from, into, bytes),
        }
    }
}
