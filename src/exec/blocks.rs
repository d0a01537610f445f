//! The blocks of a message between two processes, which are packed one after the other.

// inline(always): plans with blocks of 256 B take 10 % to 18 % less time, with `send`, `recv`,
// `blocks` and `shm/ring.rs` together (benches/fuse.c).

use std::mem::MaybeUninit;
use std::ops::Range;

use crate::datatype::buffers::{self, Blocks, Located, Shape};
use crate::datatype::check::{accept, is_null, refuse_null};
use crate::datatype::known::Known;
use crate::datatype::layout::Layout;
use crate::datatype::pack::{self, Loopback, layout};
use crate::error::{Error, Result};
use crate::mpi::Datatype;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::datatype::{self};
use crate::mpi::device::Devices;
use crate::mpi::message;
use crate::schedule::Part;
use crate::shm::streaming;
use crate::util::cast::{to_int, to_u32, to_usize};

/// How the data of a block is packed. Unlike [`pack::Packing`] it has offsets from the block's
/// address, which changes from call to call, and parts of blocks.
#[derive(Debug)]
enum BlockPacking {
    /// It is contiguous, and begins this many bytes from the block's address.
    Contiguous(isize),
    Layout(Layout),
    /// It is a part, which begins at this byte.
    Part(Layout, usize),
    /// It is a part, and the whole block has been packed, or will be unpacked: it is here.
    Staged(*mut u8),
    /// Only MPI can pack it.
    Mpi(pack::Packing),
}

/// A block of a message, or a part of one.
pub struct MessageBlock {
    /// Its field, and its entry in the list of targets or sources.
    pub field: u32,
    pub entry: u32,
    /// In a call, the address of its first element.
    at: *mut u8,
    /// Bytes of data.
    pub bytes: usize,
    part: Part,
    count: i64,
    packing: BlockPacking,
    accepted: Option<Datatype>,
    /// Count of freed datatypes up to which the rest is valid: a handle may come back as another
    /// datatype.
    freed: u64,
    /// True if its data lies in device memory.
    device: bool,
}

impl MessageBlock {
    pub fn new(field: usize, entry: u32) -> MessageBlock {
        MessageBlock::of_part(field, entry, Part::WHOLE)
    }

    /// A part of a block.
    pub fn of_part(field: usize, entry: u32, part: Part) -> MessageBlock {
        let (at, packing) = (std::ptr::null_mut(), BlockPacking::Contiguous(0));
        let (field, accepted) = (to_u32(field), None);
        MessageBlock { field, entry, at, bytes: 0, part, count: 0, packing, accepted, freed: 0, device: false }
    }

    /// True if it is a part of a block.
    pub fn is_part(&self) -> bool {
        !self.part.is_whole()
    }

    /// True if it is a part of a block that is packed or unpacked as a whole, as only MPI can.
    pub fn needs_place(&self) -> bool {
        self.is_part() && matches!(self.packing, BlockPacking::Mpi(_) | BlockPacking::Staged(_))
    }

    /// Says where the whole block, of so many bytes, is packed. Holds until the next `bind`.
    pub fn place(&mut self, whole: *mut u8, bytes: usize) {
        let first = self.part.range(bytes as u64).start;
        self.packing = BlockPacking::Staged(whole.wrapping_add(to_usize(first)));
    }

    /// Hands a block that was just bound over to MPI, if it lies on a device.
    pub fn find_device(&mut self, devices: &Devices, side: &Blocks, known: &Known, freed: u64, comm: &Comm) -> Result<()> {
        let is = self.located().is_on_device(devices)?;
        let was = std::mem::replace(&mut self.device, is);
        if self.device {
            self.packing = BlockPacking::Mpi(pack::Packing::Message);
        } else if was {
            // `packing` holds for the address of the previous call only
            self.forget();
            self.bind(side, known, freed, comm)?;
        }
        Ok(())
    }

    /// Returns the block as MPI takes it, if it lies on a device.
    pub fn on_device(&self) -> Option<message::Block> {
        let Located { at, count, datatype } = self.located();
        self.device.then_some(message::Block { at, count, datatype })
    }

    /// True if it is packed into a staging buffer before MPI sends it.
    pub fn is_staged(&self) -> bool {
        self.in_place().is_none() && !self.device
    }

    /// Locates the block. Neither asks MPI nor allocates if datatype and count are those of the
    /// previous call.
    #[inline(always)]
    pub fn bind(&mut self, side: &Blocks, known: &Known, freed: u64, comm: &Comm) -> Result<()> {
        let located = side.locate(self.entry as usize)?;
        self.at = located.at;
        if self.accepted == Some(located.datatype)
            && self.count == located.count
            && self.freed == freed
            && !(is_null(&located, side) && self.bytes > 0)
        {
            return Ok(());
        }
        self.look_at(&located, side, known, freed, comm).inspect_err(|_| self.accepted = None)
    }

    fn look_at(&mut self, located: &Located, side: &Blocks, known: &Known, freed: u64, comm: &Comm) -> Result<()> {
        if self.accepted != Some(located.datatype) || self.freed != freed {
            accept(&mut self.accepted, located.datatype, side, self.entry as usize, comm)?;
        }
        refuse_null(located, side)?;
        (self.count, self.freed) = (located.count, freed);
        if let Some(size) = known.dense(located.datatype)? {
            self.bytes = buffers::length(located.count, size, || side.count_argument(self.entry as usize))?;
            self.packing = BlockPacking::Contiguous(0);
        } else {
            self.bytes = buffers::length(located.count, located.datatype.size()?, || side.count_argument(self.entry as usize))?;
            self.bind_derived(located, known, comm)?;
        }
        if self.is_part() {
            self.cut();
        }
        Ok(())
    }

    /// Makes the whole block, which has been bound, the part.
    fn cut(&mut self) {
        let range = self.part.range(self.bytes as u64);
        let first = to_usize(range.start);
        self.bytes = to_usize(range.end) - first;
        self.packing = match std::mem::replace(&mut self.packing, BlockPacking::Contiguous(0)) {
            BlockPacking::Contiguous(offset) => BlockPacking::Contiguous(offset + to_int::<isize>(first)),
            BlockPacking::Layout(layout) => BlockPacking::Part(layout, first),
            other => other,
        };
    }

    fn bind_derived(&mut self, located: &Located, known: &Known, comm: &Comm) -> Result<()> {
        if self.bytes == 0 {
            self.packing = BlockPacking::Contiguous(0);
            // where elements have no bytes, MPI must tell when their datatype is freed
            return if located.count > 0 { known.typemap(located.datatype).map(drop) } else { Ok(()) };
        }
        self.packing = match layout(located, known)? {
            Some(layout) => match layout.contiguous() {
                Some(offset) => BlockPacking::Contiguous(to_int(offset)),
                None => BlockPacking::Layout(layout),
            },
            None => BlockPacking::Mpi(pack::Packing::without_layout(located, comm)?),
        };
        Ok(())
    }

    /// Makes it a block of so many bytes without a place of its own: if it comes by MPI, it stays
    /// in the message's buffer.
    pub fn stage(&mut self, bytes: usize) {
        (self.bytes, self.packing) = (bytes, BlockPacking::Mpi(pack::Packing::Message));
    }

    /// Forgets which datatype MPI has accepted.
    pub fn forget(&mut self) {
        self.accepted = None;
    }

    /// True if any range of its bytes can be packed alone.
    #[inline(always)]
    pub fn is_divisible(&self) -> bool {
        !matches!(self.packing, BlockPacking::Mpi(_))
    }

    /// Returns the address of its data, if that is contiguous.
    #[inline(always)]
    pub fn in_place(&self) -> Option<*mut u8> {
        match self.packing {
            BlockPacking::Contiguous(offset) => Some(self.at.wrapping_offset(offset)),
            BlockPacking::Staged(at) => Some(at),
            _ => None,
        }
    }

    /// Calls `found` with each run of its bytes in the caller's memory, in packing order. Returns
    /// false if only MPI knows them.
    pub fn runs(&self, found: &mut impl FnMut(*const u8, usize)) -> bool {
        match &self.packing {
            BlockPacking::Contiguous(offset) => found(self.at.wrapping_offset(*offset), self.bytes),
            BlockPacking::Layout(layout) => layout.runs(self.at, found),
            BlockPacking::Part(layout, first) => {
                let (mut at_byte, part) = (0, *first..*first + self.bytes);
                layout.runs(self.at, &mut |at, bytes| {
                    let (begin, end) = (part.start.max(at_byte), part.end.min(at_byte + bytes));
                    if begin < end {
                        found(at.wrapping_add(begin - at_byte), end - begin);
                    }
                    at_byte += bytes;
                });
            }
            BlockPacking::Staged(_) | BlockPacking::Mpi(_) => return false,
        }
        true
    }

    fn located(&self) -> Located {
        // a block that MPI packs has an accepted datatype
        Located { at: self.at, count: self.count, datatype: self.accepted.unwrap_or_else(datatype::byte) }
    }

    /// Packs all of it into a message.
    ///
    /// # Safety
    /// The block must be readable, and `into` writable for its bytes.
    #[inline(always)]
    pub unsafe fn pack(&self, into: *mut u8, loopback: Loopback) -> Result<()> {
        // SAFETY: the caller vouches for both ends.
        unsafe {
            match &self.packing {
                BlockPacking::Contiguous(offset) => copy(self.at.wrapping_offset(*offset), into, self.bytes),
                BlockPacking::Layout(layout) => layout.pack(self.at, into),
                BlockPacking::Part(layout, first) => layout.pack_part(self.at, *first, first + self.bytes, into),
                BlockPacking::Staged(at) => copy(*at, into, self.bytes),
                BlockPacking::Mpi(packing) => {
                    let into = std::slice::from_raw_parts_mut(into, self.bytes);
                    packing.pack(&self.located(), into, loopback)?;
                }
            }
        }
        Ok(())
    }

    /// Unpacks all of it from a message.
    ///
    /// # Safety
    /// The block must be writable, and `from` readable for its bytes.
    #[inline(always)]
    pub unsafe fn unpack(&self, from: *const u8, loopback: Loopback) -> Result<()> {
        // SAFETY: the caller vouches for both ends.
        unsafe {
            match &self.packing {
                BlockPacking::Contiguous(offset) => copy(from, self.at.wrapping_offset(*offset), self.bytes),
                BlockPacking::Layout(layout) => layout.unpack(from, self.at),
                BlockPacking::Part(layout, first) => layout.unpack_part(from, *first, first + self.bytes, self.at),
                BlockPacking::Staged(at) => copy(from, *at, self.bytes),
                BlockPacking::Mpi(packing) => {
                    let from = std::slice::from_raw_parts(from, self.bytes);
                    packing.unpack(from, &self.located(), loopback)?;
                }
            }
        }
        Ok(())
    }

    /// The layouts of it and the next block, if both are words in the same cache lines.
    #[inline(always)]
    fn beside<'a>(&'a self, next: &'a MessageBlock) -> Option<[&'a Layout; 2]> {
        let (BlockPacking::Layout(layout), BlockPacking::Layout(other)) = (&self.packing, &next.packing) else { return None };
        layout.is_beside(self.at, other, next.at).then_some([layout, other])
    }

    /// Packs it and the next block into a message, if both are words in the same cache lines.
    /// Returns false if it has not.
    ///
    /// # Safety
    /// As for `pack`, for both.
    #[inline(always)]
    unsafe fn pack_with(&self, next: &MessageBlock, into: *mut u8) -> bool {
        let Some([layout, other]) = self.beside(next) else { return false };
        // SAFETY: the caller vouches for both.
        unsafe { layout.pack_two((self.at, into), other, (next.at, into.wrapping_add(self.bytes))) };
        true
    }

    /// Unpacks it and the next block from a message, if both are words in the same cache lines.
    /// Returns false if it has not.
    ///
    /// # Safety
    /// As for `unpack`, for both; they must not overlap.
    #[inline(always)]
    unsafe fn unpack_with(&self, next: &MessageBlock, from: *const u8) -> bool {
        let Some([layout, other]) = self.beside(next) else { return false };
        // SAFETY: the caller vouches for both.
        unsafe { layout.unpack_two((from, self.at), other, (from.wrapping_add(self.bytes), next.at)) };
        true
    }

    /// Unpacks a message of `bytes` bytes, which may be shorter than the block.
    ///
    /// # Safety
    /// As for `unpack`, for `bytes` bytes.
    ///
    /// # Errors
    /// The message is longer than the block; then nothing is unpacked.
    #[cold]
    pub unsafe fn unpack_short(&self, from: *const u8, bytes: usize, loopback: Loopback) -> Result<()> {
        if bytes > self.bytes {
            return Err(Error::Truncated { source_entry: self.entry as usize, sent: bytes, expected: self.bytes }.into());
        }
        // SAFETY: the caller vouches for both ends.
        unsafe {
            let BlockPacking::Mpi(packing) = &self.packing else {
                self.unpack_part(0..bytes, from);
                return Ok(());
            };
            let from = std::slice::from_raw_parts(from, bytes);
            packing.unpack_front(from, &self.located(), self.bytes, loopback)
        }
    }

    /// Packs a range of its bytes. The block must be divisible.
    ///
    /// # Safety
    /// As for `pack`.
    unsafe fn pack_part(&self, part: Range<usize>, into: *mut u8) {
        // SAFETY: the caller vouches for both ends.
        unsafe {
            match &self.packing {
                BlockPacking::Layout(layout) => layout.pack_part(self.at, part.start, part.end, into),
                BlockPacking::Part(layout, first) => layout.pack_part(self.at, first + part.start, first + part.end, into),
                BlockPacking::Staged(at) => copy(at.wrapping_add(part.start), into, part.len()),
                BlockPacking::Contiguous(offset) => {
                    copy(self.at.wrapping_offset(*offset).wrapping_add(part.start), into, part.len());
                }
                BlockPacking::Mpi(_) => {}
            }
        }
    }

    /// Unpacks a range of its bytes. The block must be divisible.
    ///
    /// # Safety
    /// As for `unpack`.
    unsafe fn unpack_part(&self, part: Range<usize>, from: *const u8) {
        // SAFETY: the caller vouches for both ends.
        unsafe {
            match &self.packing {
                BlockPacking::Layout(layout) => layout.unpack_part(from, part.start, part.end, self.at),
                BlockPacking::Part(layout, first) => layout.unpack_part(from, first + part.start, first + part.end, self.at),
                BlockPacking::Staged(at) => copy(from, at.wrapping_add(part.start), part.len()),
                BlockPacking::Contiguous(offset) => {
                    copy(from, self.at.wrapping_offset(*offset).wrapping_add(part.start), part.len());
                }
                BlockPacking::Mpi(_) => {}
            }
        }
    }
}

/// Copies bytes; eight of them without a call.
///
/// # Safety
/// Both ends must be valid, and not overlap.
#[inline(always)]
unsafe fn copy(from: *const u8, into: *mut u8, bytes: usize) {
    // SAFETY: the caller vouches for both ends.
    unsafe {
        if bytes == 8 {
            into.cast::<u64>().write_unaligned(from.cast::<u64>().read_unaligned());
        } else {
            std::ptr::copy_nonoverlapping(from, into, bytes);
        }
    }
}

/// Returns the total length of blocks in bytes.
///
/// # Errors
/// No memory is that long.
#[inline(always)]
pub fn total(blocks: &[MessageBlock]) -> Result<usize> {
    let sum = blocks.iter().fold(0usize, |sum, block| sum.saturating_add(block.bytes));
    if sum > to_usize(buffers::MOST) { Err(Error::NoMemory { bytes: sum }.into()) } else { Ok(sum) }
}

/// Returns the address of the first byte of a message, if all its bytes follow one another in
/// memory.
#[inline(always)]
pub fn in_one_piece(blocks: &[MessageBlock]) -> Option<*mut u8> {
    let mut stretch = Stretch::EMPTY;
    for block in blocks {
        if let Some(Stretch { bytes: 1.., .. }) = stretch.add(block.in_place()?, block.bytes) {
            return None;
        }
    }
    Some(stretch.at)
}

/// Returns the bytes of the longest run that packing a message copies at once; `usize::MAX` if only
/// MPI can pack it.
pub fn longest_run(blocks: &[MessageBlock]) -> usize {
    let (mut stretch, mut longest) = (Stretch::EMPTY, 0);
    for block in blocks {
        let (ended, inner) = match (block.in_place(), &block.packing) {
            (Some(at), _) => (stretch.add(at, block.bytes), 0),
            (None, BlockPacking::Layout(layout) | BlockPacking::Part(layout, _)) => {
                (Some(std::mem::replace(&mut stretch, Stretch::EMPTY)), layout.longest_run())
            }
            (None, _) => return usize::MAX,
        };
        longest = longest.max(inner).max(ended.map_or(0, |stretch| stretch.bytes));
    }
    longest.max(stretch.bytes)
}

/// Returns the total length of those blocks that are packed into a staging buffer before MPI sends
/// them.
pub fn staged_bytes(blocks: &[MessageBlock]) -> usize {
    blocks.iter().filter(|block| block.is_staged()).map(|block| block.bytes).sum()
}

/// Bytes that follow one another in memory, from blocks that follow one another in a message.
struct Stretch {
    at: *mut u8,
    bytes: usize,
}

impl Stretch {
    const EMPTY: Stretch = Stretch { at: std::ptr::null_mut(), bytes: 0 };

    /// Adds a block if its bytes follow. Else returns the stretch, and begins with the block.
    #[inline(always)]
    fn add(&mut self, at: *mut u8, bytes: usize) -> Option<Stretch> {
        if self.at.wrapping_add(self.bytes) == at {
            self.bytes += bytes;
            return None;
        }
        Some(std::mem::replace(self, Stretch { at, bytes }))
    }

    /// Packs the stretch. Returns where the message goes on.
    ///
    /// # Safety
    /// As for `MessageBlock::pack`.
    #[inline(always)]
    unsafe fn pack(self, into: *mut u8) -> *mut u8 {
        // SAFETY: the caller vouches for both ends.
        unsafe { copy(self.at, into, self.bytes) };
        into.wrapping_add(self.bytes)
    }

    /// Unpacks the stretch. Returns where the message goes on.
    ///
    /// # Safety
    /// As for `MessageBlock::unpack`.
    #[inline(always)]
    unsafe fn unpack(self, from: *const u8) -> *const u8 {
        // SAFETY: the caller vouches for both ends.
        unsafe { copy(from, self.at, self.bytes) };
        from.wrapping_add(self.bytes)
    }
}

/// Packs blocks into a message.
///
/// # Safety
/// The blocks must be readable, and `into` writable for the bytes of all.
#[inline(always)]
pub unsafe fn pack(blocks: &[MessageBlock], mut into: *mut u8, loopback: Loopback) -> Result<()> {
    let (mut stretch, mut left) = (Stretch::EMPTY, blocks);
    while let [block, rest @ ..] = left {
        left = rest;
        // SAFETY: the caller vouches for both ends.
        unsafe {
            if let Some(at) = block.in_place() {
                if let Some(stretch) = stretch.add(at, block.bytes) {
                    into = stretch.pack(into);
                }
                continue;
            }
            into = std::mem::replace(&mut stretch, Stretch::EMPTY).pack(into);
            if let [next, others @ ..] = rest
                && block.pack_with(next, into)
            {
                into = into.wrapping_add(block.bytes + next.bytes);
                left = others;
                continue;
            }
            block.pack(into, loopback)?;
        }
        into = into.wrapping_add(block.bytes);
    }
    // SAFETY: as above.
    unsafe { stretch.pack(into) };
    Ok(())
}

/// Unpacks blocks from a message. On an error, the others are unpacked nonetheless, and the first
/// error is returned.
///
/// # Safety
/// The blocks must be writable, and `from` readable for the bytes of all.
#[inline(always)]
pub unsafe fn unpack(blocks: &[MessageBlock], mut from: *const u8, loopback: Loopback) -> Result<()> {
    let (mut done, mut stretch, mut left) = (Ok(()), Stretch::EMPTY, blocks);
    while let [block, rest @ ..] = left {
        left = rest;
        // SAFETY: the caller vouches for both ends.
        unsafe {
            if let Some(at) = block.in_place() {
                if let Some(stretch) = stretch.add(at, block.bytes) {
                    from = stretch.unpack(from);
                }
                continue;
            }
            from = std::mem::replace(&mut stretch, Stretch::EMPTY).unpack(from);
            if let [next, others @ ..] = rest
                && block.unpack_with(next, from)
            {
                from = from.wrapping_add(block.bytes + next.bytes);
                left = others;
                continue;
            }
            let unpacked = block.unpack(from, loopback);
            done = done.and(unpacked);
        }
        from = from.wrapping_add(block.bytes);
    }
    // SAFETY: as above.
    unsafe { stretch.unpack(from) };
    done
}

/// Unpacks a message of `bytes` bytes, of which `expected` were expected. `common`: it is one
/// block, which all of these get.
///
/// # Safety
/// As for `unpack`; the message must not be longer than the blocks.
#[inline(always)]
pub unsafe fn unpack_message(
    blocks: &[MessageBlock],
    common: bool,
    expected: usize,
    from: *const u8,
    bytes: usize,
    loopback: Loopback,
) -> Result<()> {
    // SAFETY: the caller vouches for both ends.
    unsafe {
        match blocks {
            [block] if bytes == expected => block.unpack(from, loopback),
            [_, ..] if common || bytes != expected => {
                blocks.iter().try_for_each(|block| block.unpack_short(from, bytes, loopback))
            }
            _ => unpack(blocks, from, loopback),
        }
    }
}

/// Intersects blocks with bytes `part` of their message. Yields block, range of its bytes, and
/// offset of that range in the part.
fn parts(blocks: &[MessageBlock], part: Range<usize>) -> impl Iterator<Item = (&MessageBlock, Range<usize>, usize)> {
    let mut begin = 0;
    blocks.iter().filter_map(move |block| {
        let (first, end) = (begin, begin + block.bytes);
        begin = end;
        let (from, to) = (part.start.max(first), part.end.min(end));
        (from < to).then(|| (block, from - first..to - first, from - part.start))
    })
}

/// Packs bytes `part` of a message of divisible blocks.
///
/// # Safety
/// As for `pack`.
pub unsafe fn pack_part(blocks: &[MessageBlock], part: Range<usize>, into: *mut u8) {
    for (block, part, offset) in parts(blocks, part) {
        // SAFETY: the caller vouches for both ends.
        unsafe { block.pack_part(part, into.wrapping_add(offset)) };
    }
}

/// Unpacks bytes `part` of a message of divisible blocks.
///
/// # Safety
/// As for `unpack`.
pub unsafe fn unpack_part(blocks: &[MessageBlock], part: Range<usize>, from: *const u8) {
    for (block, part, offset) in parts(blocks, part) {
        // SAFETY: the caller vouches for both ends.
        unsafe { block.unpack_part(part, from.wrapping_add(offset)) };
    }
}

/// Bytes that are packed on the stack before they are streamed, unless they are contiguous.
const PIECE: usize = 4 << 10;

/// [`pack_part`] into shared memory, by streaming stores.
///
/// # Safety
/// As for `pack`.
pub unsafe fn pack_streaming(blocks: &[MessageBlock], part: Range<usize>, mut into: *mut u8) {
    let mut piece = MaybeUninit::<[u8; PIECE]>::uninit();
    let (piece, mut filled) = (piece.as_mut_ptr().cast::<u8>(), 0);
    for (block, mut part, _) in parts(blocks, part) {
        while !part.is_empty() {
            if let Some(at) = block.in_place()
                && filled == 0
                && part.len() >= PIECE
            {
                let bytes = part.len() / PIECE * PIECE;
                // SAFETY: the caller vouches for both ends.
                unsafe { streaming::store(at.wrapping_add(part.start), into, bytes) };
                into = into.wrapping_add(bytes);
                part.start += bytes;
                continue;
            }
            let bytes = part.len().min(PIECE - filled);
            // SAFETY: the caller vouches for the block; the piece has room for so many more.
            unsafe { block.pack_part(part.start..part.start + bytes, piece.wrapping_add(filled)) };
            part.start += bytes;
            filled += bytes;
            if filled == PIECE {
                // SAFETY: as above; the piece is full.
                unsafe { streaming::store(piece, into, PIECE) };
                into = into.wrapping_add(PIECE);
                filled = 0;
            }
        }
    }
    // SAFETY: as above.
    unsafe { streaming::store(piece, into, filled) };
    streaming::fence();
}

/// [`unpack_part`] of what was packed by [`pack_streaming`]; or, `past` the caches, of anything.
///
/// # Safety
/// As for `unpack`.
pub unsafe fn unpack_streamed(blocks: &[MessageBlock], part: Range<usize>, from: *const u8, past: bool) {
    for (block, part, offset) in parts(blocks, part) {
        let from = from.wrapping_add(offset);
        // SAFETY: the caller vouches for both ends.
        unsafe {
            match block.in_place() {
                Some(at) if past => streaming::store(from, at.wrapping_add(part.start), part.len()),
                Some(at) => streaming::load(from, at.wrapping_add(part.start), part.len()),
                None => block.unpack_part(part, from),
            }
        }
    }
    if past {
        streaming::fence();
    }
}

/// True if all blocks of a side are the same one.
pub fn is_one(side: &Blocks) -> bool {
    matches!(side.shape, Shape::One { .. })
}
