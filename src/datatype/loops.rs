//! Nested loops that copy runs of bytes from one side to the other.
//!
//! The two inner loops are compiled for each short length of runs, so that a face of a 3-D box is
//! one call whatever its direction; longer runs are copied by the C library.

// inline(always): an exchange of strided blocks of 64 B takes up to 9 % less time (benches/fuse.c).

use super::typemap::{Dim, MOST_DIMS, Nest};
use crate::util::cast::to_offset;

/// A loop over runs, on both sides.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    count: usize,
    /// Bytes from one run to the next, on the side that is read and on the side that is written.
    from: isize,
    into: isize,
}

/// Loops over two nests, each with one more for its elements.
#[derive(Debug)]
pub(super) struct Steps {
    list: [Step; 2 * (MOST_DIMS + 1)],
    length: usize,
}

impl Steps {
    fn new() -> Steps {
        Steps { list: [Step { count: 1, from: 0, into: 0 }; 2 * (MOST_DIMS + 1)], length: 0 }
    }

    #[inline(always)]
    fn push(&mut self, step: Step) {
        self.list[self.length] = step;
        self.length += 1;
    }

    #[inline(always)]
    pub(super) fn as_slice(&self) -> &[Step] {
        &self.list[..self.length]
    }
}

/// The loops of a nest and over the elements around it, outermost first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dims {
    list: [Dim; MOST_DIMS + 1],
    length: usize,
    pub(super) run: usize,
}

impl Dims {
    /// Returns the loops over `count` elements that are one nest each.
    #[inline]
    pub(super) fn of(nest: &Nest, count: usize, extent: i64) -> Dims {
        let mut dims = Dims { list: [Dim { count: 1, stride: 0 }; MOST_DIMS + 1], length: 0, run: nest.run };
        let mut inner = &nest.dims[..];
        if count > 1 {
            let mut outer = Dim { count, stride: extent };
            match inner.first() {
                None if usize::try_from(extent) == Ok(nest.run) => {
                    dims.run *= count;
                    return dims;
                }
                Some(first) if i128::from(extent) == first.count as i128 * i128::from(first.stride) => {
                    outer = Dim { count: first.count * count, stride: first.stride };
                    inner = &inner[1..];
                }
                _ => {}
            }
            dims.list[0] = outer;
            dims.length = 1;
        }
        for dim in inner {
            dims.list[dims.length] = *dim;
            dims.length += 1;
        }
        dims
    }

    #[inline(always)]
    pub(super) fn as_slice(&self) -> &[Dim] {
        &self.list[..self.length]
    }
}

/// Returns the address `offset` bytes further on. Layouts may begin before the address; at
/// `MPI_BOTTOM`, offsets are addresses themselves.
#[inline(always)]
pub(super) fn shift<T: Address>(at: T, offset: i64) -> T {
    at.shifted(to_offset(offset))
}

/// Returns the address of item `k` of those that lie `stride` bytes apart from `at` on.
#[inline(always)]
pub(super) fn nth<T: Address>(at: T, k: usize, stride: i64) -> T {
    at.shifted(k.cast_signed().wrapping_mul(to_offset(stride)))
}

pub(super) trait Address: std::marker::Copy {
    fn shifted(self, offset: isize) -> Self;
}

impl Address for *const u8 {
    #[inline(always)]
    fn shifted(self, offset: isize) -> Self {
        self.wrapping_offset(offset)
    }
}

impl Address for *mut u8 {
    #[inline(always)]
    fn shifted(self, offset: isize) -> Self {
        self.wrapping_offset(offset)
    }
}

/// Calls `found` with each run of a nest, in order.
pub(super) fn runs_of(nest: &Nest, at: *const u8, found: &mut impl FnMut(*const u8, usize)) {
    fn level(dims: &[Dim], run: usize, at: *const u8, found: &mut impl FnMut(*const u8, usize)) {
        match dims.split_first() {
            None => found(at, run),
            Some((dim, inner)) => {
                (0..dim.count).for_each(|k| level(inner, run, nth(at, k, dim.stride), found));
            }
        }
    }
    level(&nest.dims, nest.run, shift(at, nest.offset), found);
}

/// Copies one run.
#[inline(always)]
pub(super) unsafe fn one<const PACK: bool>(bytes: usize, at: *mut u8, packed: *mut u8) {
    // SAFETY: the callers vouch for both sides.
    unsafe { if PACK { std::ptr::copy(at, packed, bytes) } else { std::ptr::copy(packed, at, bytes) } }
}

/// Copies runs along loops, outermost first, to or from packed bytes.
#[inline(always)]
pub(super) unsafe fn nested<const PACK: bool>(dims: &[Dim], run: usize, at: *mut u8, packed: *mut u8) {
    // the bytes of all elements fit in isize (`Typemap::new`, `Layout::new`)
    let step = |dim: &Dim, here: usize| {
        let (there, here) = (to_offset(dim.stride), here.cast_signed());
        let (from, into) = if PACK { (there, here) } else { (here, there) };
        Step { count: dim.count, from, into }
    };
    let (from, into) = if PACK { (at, packed) } else { (packed, at) };
    // SAFETY: the callers vouch for both sides.
    unsafe {
        match dims {
            [] => std::ptr::copy(from, into, run),
            [inner] => plane(from, into, run, ONCE, step(inner, run)),
            [outer, inner] => {
                plane(from, into, run, step(outer, run.wrapping_mul(inner.count)), step(inner, run));
            }
            [outermost, rest @ ..] => {
                let unit = rest.iter().fold(run, |bytes, dim| bytes * dim.count);
                let (mut at, mut packed) = (at, packed);
                for _ in 0..outermost.count {
                    deeper::<PACK>(rest, run, at, packed);
                    (at, packed) = (shift(at, outermost.stride), packed.wrapping_add(unit));
                }
            }
        }
    }
}

/// [`nested`], out of line: it recurses.
unsafe fn deeper<const PACK: bool>(dims: &[Dim], run: usize, at: *mut u8, packed: *mut u8) {
    // SAFETY: the callers vouch for both sides.
    unsafe { nested::<PACK>(dims, run, at, packed) }
}

/// Copies bytes `begin..end` of a nest, at least one.
pub(super) unsafe fn range<const PACK: bool>(dims: &[Dim], run: usize, at: *mut u8, begin: usize, end: usize, packed: *mut u8) {
    // SAFETY: the callers vouch for both sides.
    unsafe {
        let Some((outer, inner)) = dims.split_first() else {
            return one::<PACK>(end - begin, at.wrapping_add(begin), packed);
        };
        let unit = inner.iter().fold(run, |bytes, dim| bytes * dim.count);
        let place = |k: usize| nth(at, k, outer.stride);
        let (mut first, last) = (begin / unit, end / unit);
        let mut done = 0;
        if !begin.is_multiple_of(unit) || first == last {
            let until = end.min((first + 1) * unit);
            range::<PACK>(inner, run, place(first), begin - first * unit, until - first * unit, packed);
            done = until - begin;
            first += 1;
        }
        if first < last {
            let mut dims = Dims { list: [*outer; MOST_DIMS + 1], length: 1 + inner.len(), run };
            dims.list[0].count = last - first;
            dims.list[1..=inner.len()].copy_from_slice(inner);
            nested::<PACK>(dims.as_slice(), run, place(first), packed.wrapping_add(done));
            done += (last - first) * unit;
        }
        if begin + done < end {
            range::<PACK>(inner, run, place(last), 0, end - last * unit, packed.wrapping_add(done));
        }
    }
}

/// Merges the loops of two nests, if the counts of one divide those of the other. Returns the
/// length of the common runs, and the loops over them.
pub(super) fn joined(from: &Dims, into: &Dims) -> Option<(usize, Steps)> {
    /// The loops of one side, innermost first.
    struct Side<'a> {
        dims: &'a [Dim],
        count: usize,
        stride: isize,
    }
    impl<'a> Side<'a> {
        fn new(dims: &'a Dims, run: usize) -> Side<'a> {
            Side { dims: dims.as_slice(), count: dims.run / run, stride: run.cast_signed() }.next()
        }
        /// Moves to the next loop outward once the last one is used up.
        fn next(mut self) -> Side<'a> {
            while self.count == 1 {
                let Some((outer, inner)) = self.dims.split_last() else { break };
                (self.dims, self.count, self.stride) = (inner, outer.count, to_offset(outer.stride));
            }
            self
        }
        fn take(mut self, count: usize) -> Side<'a> {
            self.count /= count;
            self.stride = self.stride.wrapping_mul(count.cast_signed());
            self.next()
        }
    }
    let run = from.run.min(into.run);
    if !from.run.is_multiple_of(run) || !into.run.is_multiple_of(run) {
        return None;
    }
    let (mut a, mut b) = (Side::new(from, run), Side::new(into, run));
    let mut steps = Steps::new();
    while a.count > 1 && b.count > 1 {
        let count = a.count.min(b.count);
        if !a.count.is_multiple_of(count) || !b.count.is_multiple_of(count) {
            return None;
        }
        steps.push(Step { count, from: a.stride, into: b.stride });
        (a, b) = (a.take(count), b.take(count));
    }
    let length = steps.length;
    steps.list[..length].reverse();
    Some((run, steps))
}

/// No loop.
pub(super) const ONCE: Step = Step { count: 1, from: 0, into: 0 };

/// Copies runs along loops, outermost first.
#[inline]
pub(super) unsafe fn strided(from: *const u8, into: *mut u8, run: usize, steps: &[Step]) {
    // SAFETY: the callers vouch for both sides.
    unsafe {
        match *steps {
            [] => std::ptr::copy(from, into, run),
            [inner] => plane(from, into, run, ONCE, inner),
            [outer, inner] => plane(from, into, run, outer, inner),
            [outermost, ref rest @ ..] => {
                let (mut from, mut into) = (from, into);
                for _ in 0..outermost.count {
                    strided(from, into, run, rest);
                    (from, into) = (from.wrapping_offset(outermost.from), into.wrapping_offset(outermost.into));
                }
            }
        }
    }
}

/// Bytes of the runs that [`two`] copies.
pub(super) const WORD: usize = size_of::<u64>();

/// Copies words along loops, outermost first, two at a time: one of each pair of sides, which has
/// `from` first.
pub(super) unsafe fn two(pairs: [(*const u8, *mut u8); 2], steps: &[Step]) {
    let advance = |pairs: [(*const u8, *mut u8); 2], step: &Step| {
        pairs.map(|(from, into)| (from.wrapping_offset(step.from), into.wrapping_offset(step.into)))
    };
    let mut pairs = pairs;
    // SAFETY: the callers vouch for both sides of both pairs.
    unsafe {
        match steps {
            [] => two_words(pairs),
            [inner] => {
                for _ in 0..inner.count {
                    two_words(pairs);
                    pairs = advance(pairs, inner);
                }
            }
            [outer, rest @ ..] => {
                for _ in 0..outer.count {
                    two(pairs, rest);
                    pairs = advance(pairs, outer);
                }
            }
        }
    }
}

#[inline(always)]
unsafe fn two_words([first, second]: [(*const u8, *mut u8); 2]) {
    // SAFETY: the callers vouch for both sides of both pairs.
    unsafe {
        let words = (first.0.cast::<u64>().read_unaligned(), second.0.cast::<u64>().read_unaligned());
        first.1.cast::<u64>().write_unaligned(words.0);
        second.1.cast::<u64>().write_unaligned(words.1);
    }
}

/// Returns the loops that pack or unpack the runs of a nest.
pub(super) fn packing<const PACK: bool>(dims: &[Dim], run: usize) -> Steps {
    let mut steps = Steps::new();
    let mut unit = run;
    for dim in dims.iter().rev() {
        let (here, there) = (unit.cast_signed(), to_offset(dim.stride));
        let (from, into) = if PACK { (there, here) } else { (here, there) };
        steps.push(Step { count: dim.count, from, into });
        unit = unit.wrapping_mul(dim.count);
    }
    let length = steps.length;
    steps.list[..length].reverse();
    steps
}

/// Copies runs along two loops, with the widest moves that the processor has.
unsafe fn plane(from: *const u8, into: *mut u8, run: usize, outer: Step, inner: Step) {
    // SAFETY: the callers vouch for both sides; the processor has been asked.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if run >= WIDE && std::is_x86_feature_detected!("avx2") {
            return wide_plane(from, into, run, outer, inner);
        }
        any_plane(from, into, run, outer, inner);
    }
}

/// Bytes of runs for which there are wider moves than those that all processors have.
#[cfg(target_arch = "x86_64")]
const WIDE: usize = 32;

/// The same for processors with AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn wide_plane(from: *const u8, into: *mut u8, run: usize, outer: Step, inner: Step) {
    // SAFETY: the callers vouch for both sides.
    unsafe { any_plane(from, into, run, outer, inner) }
}

#[inline(always)]
unsafe fn any_plane(from: *const u8, into: *mut u8, run: usize, outer: Step, inner: Step) {
    macro_rules! lengths {
        ($($length:literal: $word:ty),*) => {
            // SAFETY: the callers vouch for both sides.
            unsafe {
                match run {
                    $($length => words::<$word>(from, into, outer, inner),)*
                    _ => runs(from, into, run, outer, inner),
                }
            }
        };
    }
    lengths!(
        1: u8, 2: u16, 4: u32, 8: u64, 12: [u32; 3], 16: [u64; 2], 20: [u32; 5], 24: [u64; 3], 28: [u32; 7], 32: [u64; 4], 40: [u64; 5], 48: [u64; 6],
        56: [u64; 7], 64: [u64; 8], 72: [u64; 9], 80: [u64; 10], 88: [u64; 11], 96: [u64; 12], 104: [u64; 13], 112: [u64; 14], 120: [u64; 15], 128: [u64; 16]
    );
}

#[inline(always)]
unsafe fn words<W: std::marker::Copy>(from: *const u8, into: *mut u8, outer: Step, inner: Step) {
    let (mut from, mut into) = (from, into);
    for _ in 0..outer.count {
        let (mut f, mut i) = (from, into);
        let mut left = inner.count;
        // SAFETY: the callers vouch for both sides.
        unsafe {
            let one = |f: *const u8, i: *mut u8| i.cast::<W>().write_unaligned(f.cast::<W>().read_unaligned());
            // Four at a time: their addresses are computed once. Gathers of AVX2 and AVX-512 took
            // 1.1 to 2.6 times as long on an AMD EPYC, scatters 1.0 to 1.3 times.
            while left >= 4 {
                one(f, i);
                one(f.wrapping_offset(inner.from), i.wrapping_offset(inner.into));
                let (f2, i2) = (f.wrapping_offset(2 * inner.from), i.wrapping_offset(2 * inner.into));
                one(f2, i2);
                one(f2.wrapping_offset(inner.from), i2.wrapping_offset(inner.into));
                (f, i) = (f.wrapping_offset(4 * inner.from), i.wrapping_offset(4 * inner.into));
                left -= 4;
            }
            for _ in 0..left {
                one(f, i);
                (f, i) = (f.wrapping_offset(inner.from), i.wrapping_offset(inner.into));
            }
        }
        (from, into) = (from.wrapping_offset(outer.from), into.wrapping_offset(outer.into));
    }
}

/// Copies runs of a length that has no loop of its own.
#[inline(always)]
unsafe fn runs(from: *const u8, into: *mut u8, run: usize, outer: Step, inner: Step) {
    type Narrow = [u64; 2];
    type Wide = [u64; 4];
    const NARROW: usize = size_of::<Narrow>();
    const WIDE: usize = size_of::<Wide>();
    /// For shorter runs, calling the C library costs more than it gains.
    const SHORT: usize = 1024;
    let (mut from, mut into) = (from, into);
    for _ in 0..outer.count {
        let (mut f, mut i) = (from, into);
        for _ in 0..inner.count {
            // SAFETY: the callers vouch for both sides; a run has room for a block.
            unsafe {
                match run {
                    WIDE..=SHORT => blocks::<Wide>(f, i, run),
                    NARROW..WIDE => blocks::<Narrow>(f, i, run),
                    _ => std::ptr::copy(f, i, run),
                }
            }
            (f, i) = (f.wrapping_offset(inner.from), i.wrapping_offset(inner.into));
        }
        (from, into) = (from.wrapping_offset(outer.from), into.wrapping_offset(outer.into));
    }
}

/// Copies a run in blocks, of which the last one may overlap the one before it.
#[inline(always)]
unsafe fn blocks<B: std::marker::Copy>(from: *const u8, into: *mut u8, run: usize) {
    // SAFETY: the callers vouch for both sides; blocks lie within the run.
    let block = |at: usize| unsafe {
        into.wrapping_add(at).cast::<B>().write_unaligned(from.wrapping_add(at).cast::<B>().read_unaligned());
    };
    (0..run / size_of::<B>()).for_each(|k| block(k * size_of::<B>()));
    block(run - size_of::<B>());
}

/// Copies runs of equal length that lie at `offsets` on one side.
pub(super) unsafe fn scattered<const PACK: bool>(run: usize, offsets: &[i64], at: *mut u8, packed: *mut u8) {
    #[inline(always)]
    unsafe fn words<const PACK: bool, W: std::marker::Copy>(offsets: &[i64], at: *mut u8, packed: *mut u8) {
        for (k, &offset) in offsets.iter().enumerate() {
            let (there, here) = (shift(at, offset).cast::<W>(), packed.cast::<W>().wrapping_add(k));
            // SAFETY: the callers vouch for both sides.
            unsafe {
                if PACK { here.write_unaligned(there.read_unaligned()) } else { there.write_unaligned(here.read_unaligned()) }
            }
        }
    }
    // SAFETY: the callers vouch for both sides.
    unsafe {
        match run {
            4 => words::<PACK, u32>(offsets, at, packed),
            8 => words::<PACK, u64>(offsets, at, packed),
            16 => words::<PACK, [u64; 2]>(offsets, at, packed),
            24 => words::<PACK, [u64; 3]>(offsets, at, packed),
            32 => words::<PACK, [u64; 4]>(offsets, at, packed),
            _ => {
                for (k, &offset) in offsets.iter().enumerate() {
                    one::<PACK>(run, shift(at, offset), packed.wrapping_add(k * run));
                }
            }
        }
    }
}
