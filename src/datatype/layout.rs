//! Copies between the memory layout of a datatype and packed bytes, and between two layouts.
//!
//! `loops` has the nested loops that move the bytes.
//!
//! Cost: one pass over the data. Allocates nothing and calls no MPI.

use std::sync::Arc;

use super::loops::{Dims, ONCE, Step, WORD, joined, nested, nth, one, packing, range, runs_of, scattered, shift, strided, two};
use super::typemap::{Nest, Shape, Typemap};
use crate::util::memory::LINE;

/// Bytes of a face from which on two of them, in a cache line for each word, leave a core's
/// first-level cache.
const LARGE_FACE: usize = 8192;

/// Consecutive elements of a datatype.
#[derive(Debug, Clone)]
pub struct Layout {
    map: Arc<Typemap>,
    count: usize,
    bytes: usize,
}

impl Layout {
    /// Returns the layout of `count` elements, or `None` if their data exceeds any memory.
    #[inline]
    pub fn new(map: Arc<Typemap>, count: usize) -> Option<Layout> {
        let bytes = map.size().checked_mul(count).filter(|&bytes| isize::try_from(bytes).is_ok())?;
        Some(Layout { map, count, bytes })
    }

    /// Returns the bytes of data.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the offset of the first byte from the address if the data is contiguous and in
    /// packing order.
    #[inline]
    pub fn contiguous(&self) -> Option<i64> {
        self.map.contiguous(self.count)
    }

    /// Packs all data of the elements at `at`.
    ///
    /// # Safety
    /// The elements must be readable, and as many bytes as they have must be writable at `into`,
    /// without overlap.
    #[inline]
    pub unsafe fn pack(&self, at: *const u8, into: *mut u8) {
        // SAFETY: the caller vouches for both; packing writes only the packed side.
        unsafe { self.all::<true>(at.cast_mut(), into) }
    }

    /// Unpacks all data of the elements at `at`.
    ///
    /// # Safety
    /// As many bytes as the elements have must be readable at `from`, and the elements writable,
    /// without overlap.
    #[inline]
    pub unsafe fn unpack(&self, from: *const u8, at: *mut u8) {
        // SAFETY: the caller vouches for both; unpacking reads only the packed side.
        unsafe { self.all::<false>(at, from.cast_mut()) }
    }

    /// Packs bytes `begin..end` of the packed form into `into`.
    ///
    /// # Safety
    /// As for `pack`; `end` must not exceed the bytes of data.
    pub unsafe fn pack_part(&self, at: *const u8, begin: usize, end: usize, into: *mut u8) {
        // SAFETY: the caller vouches for both.
        unsafe { self.part::<true>(at.cast_mut(), begin, end, into) }
    }

    /// Unpacks bytes `begin..end` of the packed form, which are at `from`.
    ///
    /// # Safety
    /// As for `unpack`; `end` must not exceed the bytes of data.
    pub unsafe fn unpack_part(&self, from: *const u8, begin: usize, end: usize, at: *mut u8) {
        // SAFETY: the caller vouches for both.
        unsafe { self.part::<false>(at, begin, end, from.cast_mut()) }
    }

    /// Returns the nest and the innermost stride of a single element of words, no two of which lie
    /// in one cache line.
    fn words(&self) -> Option<(&Nest, u64)> {
        match self.map.shape() {
            Shape::Nest(nest) if nest.run == WORD && self.count == 1 => {
                let stride = nest.dims.last()?.stride.unsigned_abs();
                (stride > LINE as u64).then_some((nest, stride))
            }
            _ => None,
        }
    }

    /// True if these are words, one in each of many cache lines, and `other` has its words in the
    /// same lines or in those beside them, in the same order: two faces of a box across its rows,
    /// as the end of a row lies beside the beginning of the next one. Also that they are large: of
    /// a box of 64^3 doubles two that are written together take 0.64 to 0.85 of the time, and two
    /// that are read together 0.6 to 0.7; of one of 16^3 no less.
    #[inline]
    pub fn is_beside(&self, at: *const u8, other: &Layout, other_at: *const u8) -> bool {
        if self.bytes < LARGE_FACE {
            return false;
        }
        let Some(((a, stride), (b, _))) = self.words().zip(other.words()) else { return false };
        let apart = shift(at, a.offset).addr().abs_diff(shift(other_at, b.offset).addr()) as u64;
        let beside = (apart + LINE as u64) % stride;
        apart < stride + LINE as u64 && beside < 2 * LINE as u64 && a.dims == b.dims
    }

    /// Packs this and another layout that [is beside it](Layout::is_beside): address of each, and
    /// where it is packed.
    ///
    /// # Safety
    /// As for `pack`, for both.
    pub unsafe fn pack_two(&self, sides: (*const u8, *mut u8), other: &Layout, others: (*const u8, *mut u8)) {
        // SAFETY: the caller vouches for both; packing writes only the packed side.
        unsafe { self.all_two::<true>((sides.0.cast_mut(), sides.1), other, (others.0.cast_mut(), others.1)) }
    }

    /// Unpacks this and another layout that [is beside it](Layout::is_beside): `from` and address
    /// of each.
    ///
    /// # Safety
    /// As for `unpack`, for both; their elements must not overlap.
    pub unsafe fn unpack_two(&self, sides: (*const u8, *mut u8), other: &Layout, others: (*const u8, *mut u8)) {
        // SAFETY: the caller vouches for both; unpacking reads only the packed side.
        unsafe { self.all_two::<false>((sides.1, sides.0.cast_mut()), other, (others.1, others.0.cast_mut())) }
    }

    /// Packs or unpacks two: elements and packed bytes of each.
    #[inline]
    unsafe fn all_two<const PACK: bool>(&self, sides: (*mut u8, *mut u8), other: &Layout, others: (*mut u8, *mut u8)) {
        // SAFETY: the callers vouch for all sides.
        unsafe {
            let Some(((a, _), (b, _))) = self.words().zip(other.words()) else {
                self.all::<PACK>(sides.0, sides.1);
                return other.all::<PACK>(others.0, others.1);
            };
            let pairs = [(sides, a), (others, b)].map(|((at, packed), nest)| {
                let at = shift(at, nest.offset);
                if PACK { (at.cast_const(), packed) } else { (packed.cast_const(), at) }
            });
            two(pairs, packing::<PACK>(&a.dims, WORD).as_slice());
        }
    }

    /// Calls `found` with each run of the elements at `at`, in packing order.
    pub fn runs(&self, at: *const u8, found: &mut impl FnMut(*const u8, usize)) {
        for element in 0..self.count {
            let at = nth(at, element, self.map.extent());
            match self.map.shape() {
                Shape::Empty => {}
                Shape::Nest(nest) => runs_of(nest, at, found),
                Shape::Scattered { run, offsets } => offsets.iter().for_each(|&offset| found(shift(at, offset), *run)),
                Shape::List(list) => list.iter().for_each(|(_, nest)| runs_of(nest, at, found)),
            }
        }
    }

    /// Returns the bytes of the longest run of an element.
    pub fn longest_run(&self) -> usize {
        match self.map.shape() {
            Shape::Empty => 0,
            Shape::Nest(nest) => nest.run,
            Shape::Scattered { run, .. } => *run,
            Shape::List(list) => list.iter().map(|(_, nest)| nest.run).max().unwrap_or(0),
        }
    }

    #[inline]
    unsafe fn all<const PACK: bool>(&self, at: *mut u8, packed: *mut u8) {
        if self.bytes == 0 {
            return;
        }
        let (map, extent) = (&*self.map, self.map.extent());
        // SAFETY: the callers vouch for both sides.
        unsafe {
            if let Shape::Nest(nest) = map.shape() {
                let at = shift(at, nest.offset);
                if self.count == 1 {
                    return nested::<PACK>(&nest.dims, nest.run, at, packed);
                }
                let dims = Dims::of(nest, self.count, extent);
                return nested::<PACK>(dims.as_slice(), dims.run, at, packed);
            }
            for element in 0..self.count {
                let (at, packed) = (nth(at, element, extent), packed.wrapping_add(element * map.size()));
                match map.shape() {
                    Shape::Empty | Shape::Nest(_) => {}
                    Shape::Scattered { run, offsets } => scattered::<PACK>(*run, offsets, at, packed),
                    Shape::List(list) => {
                        for (begin, nest) in list {
                            nested::<PACK>(&nest.dims, nest.run, shift(at, nest.offset), packed.wrapping_add(*begin));
                        }
                    }
                }
            }
        }
    }

    unsafe fn part<const PACK: bool>(&self, at: *mut u8, begin: usize, end: usize, packed: *mut u8) {
        debug_assert!(begin <= end && end <= self.bytes);
        if begin >= end {
            return;
        }
        // SAFETY: the callers vouch for both sides.
        unsafe {
            if let Shape::Nest(nest) = self.map.shape() {
                let dims = Dims::of(nest, self.count, self.map.extent());
                return range::<PACK>(dims.as_slice(), dims.run, shift(at, nest.offset), begin, end, packed);
            }
            let size = self.map.size();
            let mut done = begin;
            while done < end {
                let element = done / size;
                let first = element * size;
                let last = end.min(first + size);
                let at = nth(at, element, self.map.extent());
                self.part_of_element::<PACK>(at, done - first, last - first, packed.wrapping_add(done - begin));
                done = last;
            }
        }
    }

    /// Packs or unpacks bytes `begin..end` of an element that is not a single nest.
    unsafe fn part_of_element<const PACK: bool>(&self, at: *mut u8, begin: usize, end: usize, packed: *mut u8) {
        // SAFETY: the callers vouch for both sides.
        unsafe {
            match self.map.shape() {
                Shape::Empty | Shape::Nest(_) => {}
                Shape::Scattered { run, offsets } => {
                    let run = *run;
                    let (mut begin, mut packed) = (begin, packed);
                    if !begin.is_multiple_of(run) {
                        let until = end.min(begin.next_multiple_of(run));
                        one::<PACK>(until - begin, shift(at, offsets[begin / run]).wrapping_add(begin % run), packed);
                        (packed, begin) = (packed.wrapping_add(until - begin), until);
                    }
                    if begin < end {
                        let whole = &offsets[begin / run..end / run];
                        scattered::<PACK>(run, whole, at, packed);
                        if !end.is_multiple_of(run) {
                            one::<PACK>(end % run, shift(at, offsets[end / run]), packed.wrapping_add(whole.len() * run));
                        }
                    }
                }
                Shape::List(list) => {
                    let first = list.partition_point(|(before, _)| *before <= begin) - 1;
                    let mut done = begin;
                    for (before, nest) in &list[first..] {
                        if done == end {
                            break;
                        }
                        let until = end.min(before + nest.bytes());
                        let (at, packed) = (shift(at, nest.offset), packed.wrapping_add(done - begin));
                        range::<PACK>(&nest.dims, nest.run, at, done - before, until - before, packed);
                        done = until;
                    }
                }
            }
        }
    }
}

/// A copy from one layout to another one with as many bytes of data, without packing it. Its loops
/// are found once: that takes longer than copying a short block.
#[derive(Debug, Clone)]
pub struct LayoutCopy {
    from: Layout,
    into: Layout,
    loops: Option<Loops>,
}

/// The loops of a copy, and where they begin on both sides.
#[derive(Debug, Clone)]
struct Loops {
    from: i64,
    into: i64,
    run: usize,
    steps: [Step; FEW],
    length: usize,
}

/// Most loops that are kept.
const FEW: usize = 4;

impl Loops {
    #[inline]
    fn steps(&self) -> &[Step] {
        &self.steps[..self.length]
    }
}

impl LayoutCopy {
    /// Finds the loops of a copy.
    pub fn new(from: Layout, into: Layout) -> LayoutCopy {
        debug_assert_eq!(from.bytes, into.bytes);
        let loops = match (from.map.shape(), into.map.shape()) {
            (Shape::Nest(a), Shape::Nest(b)) if from.bytes > 0 => {
                let dims = |layout: &Layout, nest| Dims::of(nest, layout.count, layout.map.extent());
                joined(&dims(&from, a), &dims(&into, b)).and_then(|(run, all)| {
                    let (mut steps, length) = ([ONCE; FEW], all.as_slice().len());
                    steps.get_mut(..length)?.copy_from_slice(all.as_slice());
                    Some(Loops { from: a.offset, into: b.offset, run, steps, length })
                })
            }
            _ => None,
        };
        LayoutCopy { from, into, loops }
    }

    /// Copies the data of the elements at `from` to those at `into`.
    ///
    /// # Safety
    /// The elements at `from` must be readable, and those at `into` writable, without overlap.
    pub unsafe fn run(&self, from: *const u8, into: *mut u8) {
        // SAFETY: the caller vouches for both.
        unsafe {
            match &self.loops {
                Some(loops) => strided(shift(from, loops.from), shift(into, loops.into), loops.run, loops.steps()),
                None => self.copy_runs(from, into),
            }
        }
    }

    /// Copies run by run, where the loops of the two layouts do not match.
    unsafe fn copy_runs(&self, from: *const u8, into: *mut u8) {
        if let Some(offset) = self.from.contiguous() {
            // SAFETY: the caller of `run` vouches for both.
            return unsafe { self.into.unpack(shift(from, offset), into) };
        }
        if let Some(offset) = self.into.contiguous() {
            // SAFETY: as above.
            return unsafe { self.from.pack(from, shift(into, offset)) };
        }
        let mut at = 0;
        let mut copy = |run: *const u8, length: usize| {
            // SAFETY: the caller of `run` vouches for both; the run is `at..at + length` of the
            // packed form.
            unsafe { self.into.part::<false>(into, at, at + length, run.cast_mut()) };
            at += length;
        };
        self.from.runs(from, &mut copy);
    }

    /// Does this copy, with the addresses of its elements, and another one, if both go to words in
    /// the same cache lines ([`Layout::is_beside`]) and have the same loops. Returns false if it
    /// has not.
    ///
    /// # Safety
    /// As for `run`, for both; nothing may be read after it was written.
    pub unsafe fn run_with(&self, (from, into): (*const u8, *mut u8), other: &LayoutCopy, others: (*const u8, *mut u8)) -> bool {
        // SAFETY: the caller vouches for both.
        self.into.is_beside(into, &other.into, others.1) && unsafe { self.run_two((from, into), other, others) }
    }

    /// The same wherever the words lie.
    unsafe fn run_two(&self, (from, into): (*const u8, *mut u8), other: &LayoutCopy, others: (*const u8, *mut u8)) -> bool {
        let (Some(loops), Some(other_loops)) = (&self.loops, &other.loops) else { return false };
        let words = (self.from.words(), other.from.words());
        if loops.run != WORD || !matches!(words, (Some((a, _)), Some((b, _))) if a.dims == b.dims) {
            return false;
        }
        let first = (shift(from, loops.from), shift(into, loops.into));
        let second = (shift(others.0, other_loops.from), shift(others.1, other_loops.into));
        // SAFETY: the caller vouches for all; the loops are those of both copies.
        unsafe { two([first, second], loops.steps()) };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::typemap::Pieces;
    use crate::util::cast::{to_int, to_offset, to_usize};
    use crate::util::random::{Random, mix};
    use proptest::prelude::*;

    /// The offsets of an element's bytes, in order, built by brute force.
    #[derive(Clone, Debug)]
    struct Bytes(Vec<i64>);

    /// A random element, in both forms.
    fn element(draw: &mut Random, depth: u32) -> (Pieces, Bytes) {
        if depth == 0 {
            let n = [1, 2, 4, 8, 8, 16, 24, 40, 200, 0][draw.below(10) as usize];
            return (Pieces::bytes(n), Bytes((0..to_int(n)).collect()));
        }
        let (pieces, bytes) = element(draw, depth - 1);
        if draw.below(3) == 0 {
            // an irregular list
            let (mut all, mut flat) = (Pieces::default(), Vec::new());
            for _ in 0..draw.below(5) {
                let offset = i64::from(draw.below(600)) - 300;
                let (pieces, bytes) = if draw.below(4) == 0 { element(draw, depth - 1) } else { (pieces.clone(), bytes.clone()) };
                all.append(&pieces, offset).unwrap();
                flat.extend(bytes.0.iter().map(|b| b + offset));
            }
            return (all, Bytes(flat));
        }
        let reach = bytes.0.iter().max().map_or(0, |most| most + 1) - bytes.0.iter().min().unwrap_or(&0);
        let stride = [reach, reach + 8, 3 * reach + 1, -reach, -2 * reach][draw.below(5) as usize];
        let count = i64::from(draw.below(5));
        let flat = (0..count).flat_map(|k| bytes.0.iter().map(move |b| b + k * stride)).collect();
        (pieces.repeated(count, stride).unwrap(), Bytes(flat))
    }

    struct Case {
        layout: Layout,
        /// Positions of its bytes in `room` bytes of memory; the element's address is at `origin`,
        /// before the memory if all its bytes lie behind it.
        places: Vec<usize>,
        origin: i64,
        room: usize,
    }

    impl Case {
        fn new(seed: u64, depth: u32, count: usize) -> Case {
            let mut draw = Random::new(seed);
            let (pieces, bytes) = element(&mut draw, depth);
            let reach = bytes.0.iter().max().map_or(0, |most| most + 1) - bytes.0.iter().min().unwrap_or(&0);
            let extent = [reach, reach + 5, -reach, 7 * reach][draw.below(4) as usize];
            let all: Vec<i64> = (0..to_int(count)).flat_map(|k| bytes.0.iter().map(move |b| b + k * extent)).collect();
            let (low, high) = (all.iter().min().copied().unwrap_or(0), all.iter().max().copied().unwrap_or(0));
            let layout = Layout::new(Arc::new(Typemap::new(pieces, extent).unwrap()), count).unwrap();
            let origin = -low;
            let places = all.iter().map(|o| to_usize(o + origin)).collect();
            Case { layout, places, origin, room: to_usize(high - low + 1) }
        }

        /// Memory in which each byte depends on its position.
        fn filled(&self) -> Vec<u8> {
            (0..self.room).map(|k| mix(k as u64).to_le_bytes()[0]).collect()
        }

        /// True if no byte occurs twice, so that data can be received there.
        fn is_injective(&self) -> bool {
            let mut sorted = self.places.clone();
            sorted.sort_unstable();
            sorted.windows(2).all(|w| w[0] != w[1])
        }

        fn at(&self, memory: &mut [u8]) -> *mut u8 {
            memory.as_mut_ptr().wrapping_offset(to_offset(self.origin))
        }

        fn check(&self, begin: usize, end: usize) {
            let mut memory = self.filled();
            let want: Vec<u8> = self.places.iter().map(|&p| memory[p]).collect();
            assert_eq!(self.layout.bytes(), want.len());
            let (mut runs, mut longest) = (0, 0);
            self.layout.runs(std::ptr::null(), &mut |_, bytes| (runs, longest) = (runs + bytes, longest.max(bytes)));
            assert_eq!(runs, want.len());
            assert!(runs == 0 || self.layout.longest_run() == longest);
            let mut have = vec![0xa5; want.len() + 1];
            // SAFETY: the memory takes in all places, and the other side as many bytes.
            unsafe { self.layout.pack(self.at(&mut memory), have.as_mut_ptr()) };
            assert_eq!(have[..want.len()], want);
            assert_eq!(have[want.len()], 0xa5);
            if let Some(offset) = self.layout.contiguous() {
                let first = to_usize(self.origin + offset);
                assert_eq!(memory[first..first + want.len()], want);
            }
            let mut part = vec![0xa5; end - begin + 1];
            // SAFETY: as above.
            unsafe { self.layout.pack_part(self.at(&mut memory), begin, end, part.as_mut_ptr()) };
            assert_eq!(part[..end - begin], want[begin..end]);
            assert_eq!(part[end - begin], 0xa5);
            if !self.is_injective() {
                return;
            }
            let packed: Vec<u8> = (0..want.len()).map(|k| mix(k as u64 + 77).to_le_bytes()[0]).collect();
            for (begin, end) in [(0, want.len()), (begin, end)] {
                let (mut have, mut want) = (memory.clone(), memory.clone());
                (begin..end).for_each(|k| want[self.places[k]] = packed[k]);
                // SAFETY: as above.
                unsafe {
                    if (begin, end) == (0, packed.len()) {
                        self.layout.unpack(packed.as_ptr(), self.at(&mut have));
                    } else {
                        self.layout.unpack_part(packed[begin..].as_ptr(), begin, end, self.at(&mut have));
                    }
                }
                assert_eq!(have, want);
            }
        }

        fn check_copy(&self, other: &Case) {
            let (mut from, memory) = (self.filled(), vec![0xa5u8; other.room]);
            let (mut have, mut want) = (memory.clone(), memory);
            self.places.iter().zip(&other.places).for_each(|(&a, &b)| want[b] = from[a]);
            // SAFETY: both memories take in all places.
            unsafe { LayoutCopy::new(self.layout.clone(), other.layout.clone()).run(self.at(&mut from), other.at(&mut have)) };
            assert_eq!(have, want);
        }
    }

    /// Words along up to three loops, the innermost with this stride; and the same ones elsewhere.
    fn two_faces([rows, planes, boxes]: [i64; 3], stride: i64, apart: i64) -> [Layout; 2] {
        let plane = (rows + 2) * stride;
        let face = Pieces::bytes(8).repeated(rows, stride).and_then(|p| p.repeated(planes, plane));
        let face = face.and_then(|p| p.repeated(boxes, (planes + 1) * plane)).unwrap();
        [0, apart].map(|offset| {
            let mut moved = Pieces::default();
            moved.append(&face, 64 + offset).unwrap();
            Layout::new(Arc::new(Typemap::new(moved, 8).unwrap()), 1).unwrap()
        })
    }

    /// Bytes of memory that takes in both.
    fn bytes_of(layouts: &[Layout; 2]) -> usize {
        let mut most = 0;
        for layout in layouts {
            layout.runs(std::ptr::null(), &mut |at, bytes| most = most.max(at.addr() + bytes));
        }
        most
    }

    #[test]
    fn only_words_in_the_same_lines_are_beside_one_another() {
        let is_beside = |stride: i64, apart: i64| {
            let [a, b] = two_faces([64, 16, 1], stride, apart);
            a.is_beside(std::ptr::null(), &b, std::ptr::null())
        };
        // ends and beginnings of rows, of the box and around it
        for (stride, apart) in [(528, 520), (528, 504), (528, 8), (528, 528), (144, 136), (80, 72), (528, 580)] {
            assert!(is_beside(stride, apart), "{stride}, {apart}");
        }
        // the middle of rows, other rows, rows that are no longer than a line
        for (stride, apart) in [(528, 264), (528, 100), (528, 2 * 528), (528, 8 * 528 - 8), (64, 56), (16, 8)] {
            assert!(!is_beside(stride, apart), "{stride}, {apart}");
        }
        let is_beside = |[a, _]: [Layout; 2], [_, b]: [Layout; 2]| a.is_beside(std::ptr::null(), &b, std::ptr::null());
        let shapes = [[64, 16, 1], [32, 32, 1], [16, 16, 1]];
        let [large, other, small] = shapes.map(|shape| move || two_faces(shape, 528, 8));
        assert!(is_beside(large(), large()) && !is_beside(large(), other()) && !is_beside(small(), small()));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn two_at_once_are_what_one_after_the_other_are(seed: u64, stride in 9i64..80, apart in 1i64..80, into in 9i64..80) {
            let mut draw = Random::new(seed);
            let (stride, apart, into) = (8 * stride, 8 * (apart % stride), 8 * into);
            let shape = [(); 3].map(|()| [1, 2, 3, 4, 7, 9][draw.below(6) as usize]);
            let shape = [shape[0] + 1, shape[1], shape[2]];
            let layouts = two_faces(shape, stride, apart);
            let mut packed: Vec<u8> = (0..2 * layouts[0].bytes()).map(|_| u8::try_from(draw.below(256)).unwrap_or_default()).collect();
            let (first, second) = packed.split_at_mut(layouts[0].bytes());
            let room = bytes_of(&layouts);
            let (mut have, mut want) = (vec![0xa5u8; room], vec![0xa5u8; room]);
            let [a, b] = &layouts;
            // SAFETY: the memory takes in all words.
            unsafe {
                a.unpack(first.as_ptr(), want.as_mut_ptr());
                b.unpack(second.as_ptr(), want.as_mut_ptr());
                let at = have.as_mut_ptr();
                a.unpack_two((first.as_ptr(), at), b, (second.as_ptr(), at));
            }
            prop_assert_eq!(&have, &want);
            let [mut here, mut there] = [(); 2].map(|()| vec![0u8; packed.len()]);
            // SAFETY: as above.
            unsafe {
                let (first, second) = here.split_at_mut(a.bytes());
                a.pack(want.as_ptr(), first.as_mut_ptr());
                b.pack(want.as_ptr(), second.as_mut_ptr());
                let (first, second) = there.split_at_mut(a.bytes());
                a.pack_two((want.as_ptr(), first.as_mut_ptr()), b, (want.as_ptr(), second.as_mut_ptr()));
            }
            prop_assert_eq!(here, there);
            // from there to layouts with other strides
            let others = two_faces(shape, into, 8 + apart % (into - 8) / 8 * 8);
            let room = bytes_of(&others);
            let (mut have_there, mut want_there) = (vec![0xa5u8; room], vec![0xa5u8; room]);
            let [c, d] = others;
            let (first, second) = (LayoutCopy::new(a.clone(), c), LayoutCopy::new(b.clone(), d));
            // SAFETY: as above.
            unsafe {
                first.run(want.as_ptr(), want_there.as_mut_ptr());
                second.run(want.as_ptr(), want_there.as_mut_ptr());
                let pair = (want.as_ptr(), have_there.as_mut_ptr());
                // too small to pay
                prop_assert!(!first.run_with(pair, &second, pair));
                prop_assert!(first.run_two(pair, &second, pair));
            }
            prop_assert_eq!(have_there, want_there);
        }

        #[test]
        fn any_layout_is_packed_and_unpacked_byte_for_byte(seed: u64, depth in 0u32..5, count in 0usize..4, begin: u64, end: u64) {
            let case = Case::new(seed, depth, count);
            let place = |any: u64| to_usize(any % (case.places.len() as u64 + 1));
            let (begin, end) = (place(begin), place(end));
            case.check(begin.min(end), begin.max(end));
        }

        #[test]
        fn any_layout_is_copied_to_any_other(seed: u64, other: u64, depth in 0u32..4, other_depth in 0u32..4) {
            // as many elements of each as give equal numbers of bytes
            let (a, b) = (Case::new(seed, depth, 1).places.len(), Case::new(other, other_depth, 1).places.len());
            if a * b > 1 << 16 {
                return Ok(());
            }
            let (a, b) = (Case::new(seed, depth, b), Case::new(other, other_depth, a));
            prop_assert_eq!(a.places.len(), b.places.len());
            if b.is_injective() {
                a.check_copy(&b);
            }
        }
    }
}
