//! Typemaps: where the bytes of a datatype's element lie, in the order in which MPI sends them.
//!
//! Most datatypes of real programs are one nest of loops: a run of bytes, repeated along strides.
//! Contiguous types, vectors, subarrays, and lists of equally spaced blocks all become one nest. An
//! irregular datatype becomes a list of nests, or a list of offsets of runs of equal length.
//!
//! Pure data: made by `datatype::decode` from what MPI reports of a datatype, read by the copy
//! loops of `datatype::layout`.
//!
//! Cost: time and memory proportional to the irregular pieces, of which there are at most
//! [`MOST_PIECES`].

#![forbid(unsafe_code)]

use smallvec::{SmallVec, smallvec};

/// Elements with more irregular pieces than this have no typemap.
pub const MOST_PIECES: usize = 1 << 16;

/// The maximum depth of a nest.
pub const MOST_DIMS: usize = 7;

/// A loop of a nest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dim {
    /// Iterations, at least 2.
    pub count: usize,
    /// Bytes from one to the next.
    pub stride: i64,
}

/// Runs of equal length, repeated along strides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nest {
    /// Offset of the first byte from the element's address.
    pub offset: i64,
    /// Contiguous bytes, not 0.
    pub run: usize,
    /// The loops, outermost first. They are maximal: no loop continues where the one inside it
    /// ends, nor the innermost one where the run ends.
    pub dims: SmallVec<[Dim; 2]>,
}

impl Nest {
    /// Returns the bytes of data.
    pub fn bytes(&self) -> usize {
        self.dims.iter().fold(self.run, |bytes, dim| bytes * dim.count)
    }

    /// Returns the offsets of the lowest byte and of the end of the highest.
    fn bounds(&self) -> (i128, i128) {
        let (mut low, mut high) = (i128::from(self.offset), i128::from(self.offset) + self.run as i128);
        for dim in &self.dims {
            let reach = (dim.count - 1) as i128 * i128::from(dim.stride);
            (low, high) = (low + reach.min(0), high + reach.max(0));
        }
        (low, high)
    }

    /// Repeats the nest `count` times. Returns false if it would become too deep.
    fn repeat(&mut self, count: usize, stride: i64) -> bool {
        if count == 1 {
            return true;
        }
        let depth = self.dims.len();
        match self.dims.first_mut() {
            None if i64::try_from(self.run) == Ok(stride) => self.run *= count,
            Some(outer) if i128::from(stride) == outer.count as i128 * i128::from(outer.stride) => outer.count *= count,
            _ if depth == MOST_DIMS => return false,
            _ => self.dims.insert(0, Dim { count, stride }),
        }
        true
    }
}

/// The nests of an element, in order, while it is being decoded. Methods return `None` if the
/// element has no typemap.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pieces(SmallVec<[Nest; 1]>);

impl Pieces {
    /// Returns `count` bytes from the address on.
    pub fn bytes(count: usize) -> Pieces {
        Pieces(if count == 0 { smallvec![] } else { smallvec![Nest { offset: 0, run: count, dims: smallvec![] }] })
    }

    /// Repeats the pieces `count` times, `stride` bytes apart.
    pub fn repeated(mut self, count: i64, stride: i64) -> Option<Pieces> {
        let count = usize::try_from(count).ok()?;
        if count == 0 || self.0.is_empty() {
            return Some(Pieces::default());
        }
        self.checked_bytes()?.checked_mul(count).filter(|&bytes| isize::try_from(bytes).is_ok())?;
        if let [nest] = &mut self.0[..]
            && nest.repeat(count, stride)
        {
            return Some(self);
        }
        if count == 1 {
            return Some(self);
        }
        let mut all = Pieces::default();
        for k in 0..count {
            all.append(&self, i64::try_from(k).ok()?.checked_mul(stride)?)?;
        }
        Some(all)
    }

    /// Appends the pieces of another element, shifted by `offset` bytes.
    pub fn append(&mut self, other: &Pieces, offset: i64) -> Option<()> {
        for nest in &other.0 {
            let offset = nest.offset.checked_add(offset)?;
            if let Some(last) = self.0.last_mut() {
                let goes_on = i128::from(last.offset) + last.run as i128 == i128::from(offset);
                if goes_on && last.dims.is_empty() && nest.dims.is_empty() {
                    last.run = last.run.checked_add(nest.run)?;
                    continue;
                }
            }
            if self.0.len() == MOST_PIECES {
                return None;
            }
            self.0.push(Nest { offset, ..nest.clone() });
        }
        Some(())
    }

    /// Merges regular sequences of pieces into loops.
    #[must_use]
    pub fn regular(mut self) -> Pieces {
        while self.0.len() > 1 {
            let found = grouped(&self.0);
            // a few accidental loops gain nothing
            if found.len() > self.0.len() / 2 {
                break;
            }
            self.0 = found;
        }
        self
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    fn checked_bytes(&self) -> Option<usize> {
        self.0.iter().try_fold(0usize, |sum, nest| sum.checked_add(nest.bytes()))
    }
}

/// Merges consecutive nests that are alike and equally spaced into loops.
fn grouped(list: &[Nest]) -> SmallVec<[Nest; 1]> {
    /// The least iterations of a loop, unless it covers the whole list.
    const LEAST: usize = 3;
    let distance = |i: usize| {
        let (a, b) = (&list[i], list.get(i + 1)?);
        (a.run == b.run && a.dims == b.dims).then(|| b.offset.checked_sub(a.offset)).flatten()
    };
    let (mut found, mut i) = (SmallVec::new(), 0);
    while i < list.len() {
        let mut nest = list[i].clone();
        let mut count = 1;
        if let Some(stride) = distance(i) {
            count += (i..list.len()).take_while(|&k| distance(k) == Some(stride)).count();
            if !(count >= LEAST || count == list.len()) || !nest.repeat(count, stride) {
                count = 1;
            }
        }
        found.push(nest);
        i += count;
    }
    found
}

/// The arrangement of an element's data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// No data.
    Empty,
    /// One nest.
    Nest(Nest),
    /// Runs of `run` bytes at these offsets.
    Scattered {
        /// Bytes of each run.
        run: usize,
        /// Their offsets.
        offsets: Box<[i64]>,
    },
    /// Consecutive nests, each with the number of bytes before it.
    List(Box<[(usize, Nest)]>),
}

/// One element of a datatype.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typemap {
    size: usize,
    extent: i64,
    shape: Shape,
}

impl Typemap {
    /// Returns the typemap of an element of these pieces, with this extent, or `None` if it has too
    /// many bytes.
    pub fn new(pieces: Pieces, extent: i64) -> Option<Typemap> {
        let size = pieces.checked_bytes().filter(|&size| isize::try_from(size).is_ok())?;
        let mut list = pieces.regular().0;
        let shape = match &list[..] {
            [] => Shape::Empty,
            [_] => Shape::Nest(list.swap_remove(0)),
            [first, ..] if list.iter().all(|nest| nest.dims.is_empty() && nest.run == first.run) => {
                Shape::Scattered { run: first.run, offsets: list.iter().map(|nest| nest.offset).collect() }
            }
            _ => {
                let mut before = 0;
                let with_begin = |nest: Nest| {
                    let begin = before;
                    before += nest.bytes();
                    (begin, nest)
                };
                Shape::List(list.into_iter().map(with_begin).collect())
            }
        };
        Some(Typemap { size, extent, shape })
    }

    /// Returns the bytes of data of an element.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the extent: the bytes from one element to the next.
    pub fn extent(&self) -> i64 {
        self.extent
    }

    /// Returns the arrangement of the data.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Returns the offset of the first byte of `count` elements if their data is contiguous and in
    /// sending order.
    #[inline]
    pub fn contiguous(&self, count: usize) -> Option<i64> {
        match &self.shape {
            _ if count == 0 => Some(0),
            Shape::Empty => Some(0),
            Shape::Nest(nest) if nest.dims.is_empty() && (count == 1 || usize::try_from(self.extent) == Ok(nest.run)) => {
                Some(nest.offset)
            }
            _ => None,
        }
    }

    /// Returns the offsets of the lowest byte and of the end of the highest, or `None` if there is
    /// no data.
    pub fn bounds(&self) -> Option<(i128, i128)> {
        let wider = |a: (i128, i128), b: (i128, i128)| (a.0.min(b.0), a.1.max(b.1));
        match &self.shape {
            Shape::Empty => None,
            Shape::Nest(nest) => Some(nest.bounds()),
            Shape::Scattered { run, offsets } => {
                let (low, high) = (offsets.iter().min()?, offsets.iter().max()?);
                Some((i128::from(*low), i128::from(*high) + *run as i128))
            }
            Shape::List(list) => list.iter().map(|(_, nest)| nest.bounds()).reduce(wider),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::cast::{to_int, to_u32};

    fn nest(offset: i64, run: usize, dims: &[(usize, i64)]) -> Nest {
        Nest { offset, run, dims: dims.iter().map(|&(count, stride)| Dim { count, stride }).collect() }
    }

    fn shape(pieces: Pieces) -> Shape {
        Typemap::new(pieces, 0).unwrap().shape
    }

    fn runs(list: &[(i64, usize)]) -> Pieces {
        let mut pieces = Pieces::default();
        list.iter().for_each(|&(offset, run)| pieces.append(&Pieces::bytes(run), offset).unwrap());
        pieces
    }

    #[test]
    fn loops_that_go_on_are_one() {
        let double = || Pieces::bytes(8);
        assert_eq!(shape(double().repeated(10, 8).unwrap()), Shape::Nest(nest(0, 80, &[])));
        // 3 rows of 4 doubles, in rows of 10 doubles, in 5 planes of 3 rows
        let rows = double().repeated(4, 8).unwrap().repeated(3, 80).unwrap();
        assert_eq!(shape(rows.clone().repeated(5, 240).unwrap()), Shape::Nest(nest(0, 32, &[(15, 80)])));
        assert_eq!(shape(rows.repeated(5, 250).unwrap()), Shape::Nest(nest(0, 32, &[(5, 250), (3, 80)])));
        assert_eq!(shape(double().repeated(3, -8).unwrap()), Shape::Nest(nest(0, 8, &[(3, -8)])));
        assert_eq!(shape(double().repeated(0, 8).unwrap()), Shape::Empty);
        assert_eq!(double().repeated(-1, 8), None);
        assert_eq!(double().repeated(i64::MAX, 8), None);
    }

    #[test]
    fn lists_are_made_loops() {
        assert_eq!(shape(runs(&[(0, 8), (8, 4), (12, 4)])), Shape::Nest(nest(0, 16, &[])));
        assert_eq!(shape(runs(&[(5, 8), (25, 8)])), Shape::Nest(nest(5, 8, &[(2, 20)])));
        let face: Vec<(i64, usize)> = (0..6).flat_map(|z| (0..5).map(move |y| (1000 * z + 100 * y + 7, 8))).collect();
        assert_eq!(shape(runs(&face)), Shape::Nest(nest(7, 8, &[(6, 1000), (5, 100)])));
        let random = [0, 3, 20, 23, 31, 60].map(|o| 8 * o);
        let list: Vec<(i64, usize)> = random.iter().map(|&o| (o, 8)).collect();
        assert_eq!(shape(runs(&list)), Shape::Scattered { run: 8, offsets: random.into() });
        let Shape::List(list) = shape(runs(&[(0, 8), (100, 4), (50, 8)])) else { panic!("not a list") };
        assert_eq!(*list, [(0, nest(0, 8, &[])), (8, nest(100, 4, &[])), (12, nest(50, 8, &[]))]);
    }

    #[test]
    fn the_limits_hold() {
        let irregular = runs(&[(0, 8), (20, 8), (70, 8)]);
        assert!(irregular.clone().repeated(to_int(MOST_PIECES / 3), 1 << 20).is_some());
        assert!(irregular.repeated(to_int(MOST_PIECES / 3 + 1), 1 << 20).is_none());
        // too deep a nest is written out
        let mut pieces = Pieces::bytes(1);
        for level in 0..=to_u32(MOST_DIMS) {
            pieces = pieces.repeated(2, 3i64.pow(level + 1)).unwrap();
        }
        assert_eq!(pieces.len(), 2);
        assert_eq!(pieces.checked_bytes(), Some(256));
        assert_eq!(Pieces::bytes(1 << 62).repeated(2, 1 << 62), None);
        assert_eq!(
            runs(&[(i64::MAX, 1)]).repeated(2, 1).and_then(|p| Typemap::new(p, 0)).map(|t| t.bounds()),
            Some(Some((i64::MAX.into(), i128::from(i64::MAX) + 2)))
        );
    }

    #[test]
    fn bounds_are_those_of_the_bytes() {
        let map = |pieces| Typemap::new(pieces, 0).unwrap();
        assert_eq!(map(Pieces::bytes(8).repeated(3, -20).unwrap()).bounds(), Some((-40, 8)));
        assert_eq!(map(runs(&[(0, 8), (100, 4), (50, 8)])).bounds(), Some((0, 104)));
        assert_eq!(map(runs(&[(0, 8), (100, 8), (-50, 8)])).bounds(), Some((-50, 108)));
        assert_eq!(map(Pieces::default()).bounds(), None);
        let map = Typemap::new(runs(&[(3, 5)]), 9).unwrap();
        assert_eq!((map.extent(), map.size(), map.contiguous(1), map.contiguous(2)), (9, 5, Some(3), None));
        assert_eq!(Typemap::new(runs(&[(3, 5)]), 5).unwrap().contiguous(2), Some(3));
    }
}
