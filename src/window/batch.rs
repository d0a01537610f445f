//! Batches: packs operations on elements of one process, one after the other.
//!
//! A batch begins with a [`Header`]. Operations follow in groups of one kind and operator, each
//! with a head of 4 bytes. An index is written as its distance from the one before, in as few
//! bytes as that takes: 1 byte up to 63 elements away, 3 bytes up to 2^20. Elements that are evenly
//! spaced have a single index, as a *run*, and their distance unless it is 1.
//!
//! Cost of an operation beside its values: 1 to 5 bytes in an array of any size that fits in the
//! memory of a process, 4 more where kind or operator change; nothing for the second and later
//! elements of a run.

#![forbid(unsafe_code)]

use super::runs::Run;
#[cfg(feature = "mpi")]
use super::storage::Place;
use super::storage::Storage;
use crate::error::Result;

/// The kinds of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Stores a value.
    Put,
    /// Combines a value with the element.
    Accumulate,
    /// Returns the element.
    Get,
    /// Returns the element, and combines a value with it.
    FetchAndOp,
    /// Returns the element, and stores a value if the element equals another one.
    CompareAndSwap,
}

impl Kind {
    const ALL: [Kind; 5] = [Kind::Put, Kind::Accumulate, Kind::Get, Kind::FetchAndOp, Kind::CompareAndSwap];

    /// Returns how many values each element takes along.
    #[inline]
    pub fn values(self) -> usize {
        match self {
            Kind::Get => 0,
            Kind::Put | Kind::Accumulate | Kind::FetchAndOp => 1,
            Kind::CompareAndSwap => 2,
        }
    }

    /// Returns true if the element before the operation is sent back.
    #[inline]
    pub fn returns(self) -> bool {
        matches!(self, Kind::Get | Kind::FetchAndOp | Kind::CompareAndSwap)
    }
}

/// The kinds of messages between two processes of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Operations.
    Operations,
    /// Operations, after which the target answers.
    Urgent,
    /// The last operations of an epoch.
    Last,
    /// Elements that operations return, with zeros for those that could not be applied.
    Results,
    /// Nothing: what the last operations of an epoch return does not come.
    Lost,
    /// Nothing: the message acknowledges batches.
    Acknowledgement,
    /// The rank of a process that finalizes MPI with the window.
    Over,
}

impl Content {
    const ALL: [Content; 7] = [
        Content::Operations,
        Content::Urgent,
        Content::Last,
        Content::Results,
        Content::Lost,
        Content::Acknowledgement,
        Content::Over,
    ];
}

/// The beginning of each message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The kind of what follows the header.
    pub content: Content,
    /// True if operations before these could not be sent; of results, if some were not applied.
    pub lost: bool,
    /// The sender's epoch; wraps around.
    pub epoch: u32,
    /// Batches from the receiver that the sender has applied so far; wraps around.
    pub applied: u32,
    /// For the last batch of an epoch: batches that the sender has sent before; wraps around.
    pub before: u32,
}

/// Bytes of a header.
pub const HEADER: usize = 16;

impl Header {
    fn bytes(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[0] = self.content as u8;
        bytes[1] = self.lost.into();
        bytes[4..8].copy_from_slice(&self.epoch.to_ne_bytes());
        bytes[8..12].copy_from_slice(&self.applied.to_ne_bytes());
        bytes[12..16].copy_from_slice(&self.before.to_ne_bytes());
        bytes
    }

    /// Reads the header of a message.
    pub fn of(message: &[u8]) -> Header {
        let number = |at: usize| u32::from_ne_bytes(message[at..at + 4].try_into().expect("4 bytes"));
        Header {
            content: Content::ALL[usize::from(message[0])],
            lost: message[1] != 0,
            epoch: number(4),
            applied: number(8),
            before: number(12),
        }
    }
}

/// Bytes of a group's head: kind and whether it is a run, operator, elements.
const HEAD: usize = 4;

/// Set in the kind of a group that is a run, and of one whose distance is not 1.
const RUN: u8 = 0x80;
const SPACED: u8 = 0x40;

/// The most bytes that an index takes, and the bytes after the end of a batch that may be read.
pub const SPARE: usize = 8;

/// The most bytes that the indices of a run take: the first one and the distance.
const MOST_OF_RUN: usize = 2 * SPARE;

/// The most elements of a window: distances then fit in [`SPARE`] bytes.
pub const MOST_ELEMENTS: u64 = 1 << 54;

/// The most elements of a group.
const MOST_GROUP: u16 = u16::MAX;

/// A distance between indices as a number that is small if the distance is short either way.
#[inline]
fn folded(distance: i64) -> u64 {
    ((distance << 1) ^ (distance >> 63)).cast_unsigned()
}

/// The inverse of [`folded`].
#[inline]
fn unfolded(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

/// A number below 2^56 and its length in bytes, which is one more than its trailing zeros.
#[inline]
fn encoded(number: u64) -> (u64, usize) {
    let bits = 64 - (number | 1).leading_zeros();
    // bits / 7, rounded up, for up to 56 bits
    let length = (bits * 37 + 222) >> 8;
    (number << length | 1 << (length - 1), length as usize)
}

/// The key of a group: its kind and operator, which no other group has.
#[inline]
fn key_of(kind: Kind, operator: u8) -> u16 {
    u16::from_le_bytes([kind as u8, operator])
}

/// No group's key.
const NO_GROUP: u16 = u16::MAX;

/// A batch that is being filled, with room for its header.
#[derive(Debug)]
pub struct Batch {
    /// As long as the batch may become, and [`SPARE`] bytes.
    bytes: Storage,
    filled: Mark,
}

/// How far a batch has been filled.
#[derive(Debug, Clone, Copy)]
pub struct Mark {
    end: usize,
    /// The last group, if the next operation may go on with it: its key, where its head is, and its
    /// elements, which the head gets once the group ends. Otherwise [`NO_GROUP`].
    key: u16,
    elements: u16,
    head: usize,
    /// Index of the last element.
    last: i64,
    /// Bytes of results that the operations return.
    results: usize,
}

/// The mark of a batch without operations.
const EMPTY: Mark = Mark { end: HEADER, key: NO_GROUP, elements: 0, head: 0, last: 0, results: 0 };

impl Batch {
    /// An empty batch that takes `capacity` bytes, header included.
    pub fn new(capacity: usize) -> Result<Batch> {
        Ok(Batch::over(Storage::own(capacity + SPARE)?))
    }

    /// An empty batch in memory that is longer than it by [`SPARE`] bytes.
    pub fn over(bytes: Storage) -> Batch {
        Batch { bytes, filled: EMPTY }
    }

    /// Returns where it is packed.
    #[cfg(feature = "mpi")]
    pub fn place(&self) -> Place {
        self.bytes.place()
    }

    /// Returns its memory.
    #[cfg(feature = "mpi")]
    pub fn into_storage(self) -> Storage {
        self.bytes
    }

    /// Returns the capacity that a batch needs to take one operation on elements of `size` bytes.
    pub fn least_capacity(size: usize) -> usize {
        HEADER + HEAD + MOST_OF_RUN + 2 * size
    }

    /// Returns where it ends, for [`Batch::rewind`].
    pub fn mark(&self) -> Mark {
        self.filled
    }

    /// Removes the operations that were added after it ended there. It must not have been sent.
    pub fn rewind(&mut self, mark: Mark) {
        self.filled = mark;
    }

    /// Removes all operations.
    pub fn clear(&mut self) {
        self.filled = EMPTY;
    }

    /// Returns true if there are no operations.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.filled.end == HEADER
    }

    pub(super) fn capacity(&self) -> usize {
        self.bytes.len() - SPARE
    }

    /// Returns how many elements of `size` bytes fit as a run, and what they return in a message.
    /// An empty batch takes at least one.
    #[inline]
    pub fn run_room(&self, kind: Kind, size: usize) -> usize {
        let values = kind.values() * size;
        let Some(room) = self.capacity().checked_sub(self.filled.end + HEAD + MOST_OF_RUN) else { return 0 };
        let most = usize::from(MOST_GROUP);
        let by_values = room.checked_div(values).unwrap_or(most).min(most);
        if !kind.returns() {
            return by_values;
        }
        let returned = self.capacity() - HEADER - self.filled.results;
        by_values.min(returned.checked_div(size).unwrap_or(most))
    }

    /// Returns true if an operation on one element of `size` bytes fits.
    #[inline]
    pub fn takes_one(&self, kind: Kind, size: usize) -> bool {
        let returned = if kind.returns() { HEADER + self.filled.results + size } else { 0 };
        (self.filled.end + HEAD + SPARE + kind.values() * size).max(returned) <= self.capacity()
    }

    #[inline]
    fn write_index(&mut self, index: u64) {
        let index = index.cast_signed();
        self.write_distance(index - self.filled.last);
        self.filled.last = index;
    }

    #[inline]
    fn write_distance(&mut self, distance: i64) {
        let (word, length) = encoded(folded(distance));
        self.bytes[self.filled.end..self.filled.end + 8].copy_from_slice(&word.to_le_bytes());
        self.filled.end += length;
    }

    /// Ends the last group: its head says how many elements it has.
    #[inline]
    fn seal(&mut self) {
        if self.filled.key != NO_GROUP {
            self.bytes[self.filled.head + 2..self.filled.head + HEAD].copy_from_slice(&self.filled.elements.to_le_bytes());
            self.filled.key = NO_GROUP;
        }
    }

    #[inline]
    fn begin(&mut self, kind: u8, operator: u8, elements: u16) {
        let [low, high] = elements.to_le_bytes();
        self.bytes[self.filled.end..self.filled.end + HEAD].copy_from_slice(&[kind, operator, low, high]);
        self.filled.end += HEAD;
    }

    /// Returns true if the last group is of this kind and operator.
    #[inline]
    pub fn goes_on(&self, kind: Kind, operator: u8) -> bool {
        self.filled.key == key_of(kind, operator)
    }

    /// Adds an operation on one element of `size` bytes. There must be room. Returns where its
    /// values begin, and true if it begins a group.
    #[inline]
    pub fn push(&mut self, kind: Kind, operator: u8, index: u64, size: usize, values: [&[u8]; 2]) -> (usize, bool) {
        let begins = !self.goes_on(kind, operator) || self.filled.elements == MOST_GROUP;
        if begins {
            self.seal();
            (self.filled.key, self.filled.head, self.filled.elements) = (key_of(kind, operator), self.filled.end, 0);
            self.begin(kind as u8, operator, 0);
        }
        (self.write_one(kind, index, size, values), begins)
    }

    /// Writes an operation of the last group. There must be room. Returns where its values begin.
    #[inline]
    fn write_one(&mut self, kind: Kind, index: u64, size: usize, values: [&[u8]; 2]) -> usize {
        self.filled.elements += 1;
        self.write_index(index);
        let at = self.filled.end;
        for value in &values[..kind.values()] {
            self.bytes[self.filled.end..self.filled.end + size].copy_from_slice(&value[..size]);
            self.filled.end += size;
        }
        if kind.returns() {
            self.filled.results += size;
        }
        at
    }

    /// Adds an operation on one element of `SIZE` bytes to the last group. Returns false, and adds
    /// nothing, if that is of another kind or operator, or there is no room. Cannot panic.
    #[inline(always)]
    pub fn push_on<const SIZE: usize>(&mut self, kind: Kind, operator: u8, index: u64, values: [&[u8; SIZE]; 2]) -> bool {
        let Batch { bytes, filled: Mark { end, key, elements, last, results, .. } } = self;
        let (length, returned) = (kind.values() * SIZE, if kind.returns() { SIZE } else { 0 });
        // as in `takes_one`
        let most = bytes.len() - SPARE;
        if *key != key_of(kind, operator)
            || *elements == MOST_GROUP
            || HEADER + *results + returned > most
            || *end + HEAD + SPARE + length > most
        {
            return false;
        }
        let index = index.cast_signed();
        let (word, distance) = encoded(folded(index.wrapping_sub(*last)));
        let Some((at, _)) = bytes.get_mut(*end..).and_then(|room| room.split_first_chunk_mut()) else { return false };
        *at = word.to_le_bytes();
        let mut next = *end + distance;
        for value in &values[..kind.values()] {
            let Some((at, _)) = bytes.get_mut(next..).and_then(|room| room.split_first_chunk_mut()) else { return false };
            *at = **value;
            next += SIZE;
        }
        (*end, *last) = (next, index);
        *elements += 1;
        *results += returned;
        true
    }

    /// Adds an operation on `elements` elements of `size` bytes, at most as many as there is room
    /// for. Their indices must be below [`MOST_ELEMENTS`]. Returns where its values go, which the
    /// caller writes. Not for [`Kind::CompareAndSwap`].
    pub fn push_run(&mut self, kind: Kind, operator: u8, run: Run, elements: u16, size: usize) -> &mut [u8] {
        self.seal();
        let spaced = if run.distance == 1 { 0 } else { SPACED };
        self.begin(kind as u8 | RUN | spaced, operator, elements);
        self.write_index(run.first);
        if run.distance != 1 {
            self.write_distance(run.distance);
        }
        self.filled.last = run.last(elements);
        let (begin, length) = (self.filled.end, usize::from(elements) * size);
        self.filled.end += kind.values() * length;
        if kind.returns() {
            self.filled.results += length;
        }
        &mut self.bytes[begin..self.filled.end]
    }

    /// Adds bytes that are no operation: a result.
    pub fn append(&mut self, length: usize) -> &mut [u8] {
        let begin = self.filled.end;
        self.filled.end += length;
        &mut self.bytes[begin..self.filled.end]
    }

    /// Returns the values of an operation, from where `push` has put them on.
    #[inline]
    pub fn value_mut(&mut self, at: usize, length: usize) -> &mut [u8] {
        &mut self.bytes[at..at + length]
    }

    /// Reads the operations.
    pub fn reader(&mut self) -> Reader<'_> {
        self.seal();
        Reader::new(&self.bytes, self.filled.end)
    }

    /// Writes the header, and returns the message.
    pub fn message(&mut self, header: Header) -> &[u8] {
        let end = self.filled.end;
        &self.message_with_spare(header)[..end]
    }

    /// [`Batch::message`] and the [`SPARE`] bytes after it, for receivers that have no such bytes
    /// after a message.
    pub fn message_with_spare(&mut self, header: Header) -> &[u8] {
        self.seal();
        self.bytes[..HEADER].copy_from_slice(&header.bytes());
        &self.bytes[..self.filled.end + SPARE]
    }
}

/// A group of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
    /// Their kind.
    pub kind: Kind,
    /// The operator's number.
    pub operator: u8,
    /// Elements.
    pub elements: u16,
    /// The elements, if they are evenly spaced. Otherwise each has an index before its values.
    pub run: Option<Run>,
}

/// Reads the operations of a message.
#[derive(Debug)]
pub struct Reader<'a> {
    /// The message, and [`SPARE`] bytes or more.
    bytes: &'a [u8],
    at: usize,
    end: usize,
    last: i64,
}

impl<'a> Reader<'a> {
    /// Begins to read a message of `length` bytes, which more bytes follow in memory.
    pub fn new(bytes: &'a [u8], length: usize) -> Reader<'a> {
        assert!(length >= HEADER && length + SPARE <= bytes.len(), "a message of {length} bytes");
        Reader { bytes, at: HEADER, end: length, last: 0 }
    }

    /// Returns the next group.
    #[inline]
    pub fn group(&mut self) -> Option<Group> {
        if self.at >= self.end {
            return None;
        }
        let [kind, operator, low, high] = self.bytes[self.at..self.at + HEAD] else { unreachable!("four bytes") };
        self.at += HEAD;
        let elements = u16::from_le_bytes([low, high]);
        let run = (kind & RUN != 0).then(|| {
            let first = self.index();
            let run = Run { first, distance: if kind & SPACED == 0 { 1 } else { self.distance() } };
            self.last = run.last(elements);
            run
        });
        Some(Group { kind: Kind::ALL[usize::from(kind & !(RUN | SPACED))], operator, elements, run })
    }

    /// Returns the index of the next element of a group that is no run.
    #[inline]
    pub fn index(&mut self) -> u64 {
        self.last = self.last.wrapping_add(self.distance());
        self.last.cast_unsigned()
    }

    #[inline]
    fn distance(&mut self) -> i64 {
        let word = u64::from_le_bytes(self.bytes[self.at..self.at + 8].try_into().expect("8 bytes"));
        let length = word.trailing_zeros() + 1;
        assert!(length <= 8, "an index of no length");
        self.at += length as usize;
        unfolded((word << (64 - 8 * length)) >> (64 - 8 * length) >> length)
    }

    /// Returns the next `length` bytes, which are values.
    #[inline]
    pub fn values(&mut self, length: usize) -> &'a [u8] {
        let begin = self.at;
        self.at += length;
        assert!(self.at <= self.end, "values beyond the end of a message");
        &self.bytes[begin..self.at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::random::Random;

    const HEADER_OF_ALL: Header = Header { content: Content::Last, lost: true, epoch: 7, applied: u32::MAX, before: 3 };

    #[test]
    fn headers_arrive_as_they_were() {
        for content in Content::ALL {
            let header = Header { content, ..HEADER_OF_ALL };
            assert_eq!(Header::of(Batch::new(64).unwrap().message(header)), header);
        }
    }

    #[test]
    fn indices_take_few_bytes() {
        let length = |distance: i64| encoded(folded(distance)).1;
        assert_eq!([0, 1, -1, 63, -64].map(length), [1; 5]);
        assert_eq!([64, -65, 8191].map(length), [2; 3]);
        assert_eq!([1 << 19, -(1 << 20)].map(length), [3; 2]);
        let most = i64::try_from(MOST_ELEMENTS).unwrap();
        assert_eq!((length(most - 1), length(1 - most)), (8, 8));
        assert!((1..=56_usize).all(|bits| encoded(u64::MAX >> (64 - bits)).1 == bits.div_ceil(7)));
    }

    /// An operation that a test pushed: kind, operator, index, distance, elements, first byte of
    /// the values.
    type Pushed = (Kind, u8, u64, i64, u16, u8);

    fn push(batch: &mut Batch, (kind, operator, first, distance, elements, byte): Pushed, size: usize) {
        let values = |of: u8| vec![of; size];
        if elements == 1 {
            batch.push(kind, operator, first, size, [&values(byte), &values(byte.wrapping_add(1))]);
        } else {
            batch.push_run(kind, operator, Run { first, distance }, elements, size).fill(byte);
        }
    }

    fn read(message: &[u8], size: usize) -> Vec<Pushed> {
        let mut padded = message.to_vec();
        padded.extend([0xff; SPARE]);
        let mut reader = Reader::new(&padded, message.len());
        let mut all = Vec::new();
        while let Some(Group { kind, operator, elements, run }) = reader.group() {
            for _ in 0..if run.is_some() { 1 } else { elements } {
                let elements = if run.is_some() { elements } else { 1 };
                let Run { first, distance } = run.unwrap_or_else(|| Run { first: reader.index(), distance: 1 });
                let values = reader.values(kind.values() * size * usize::from(elements));
                if kind == Kind::CompareAndSwap {
                    assert_eq!(values[size], values[0].wrapping_add(1));
                }
                all.push((kind, operator, first, distance, elements, values.first().copied().unwrap_or(0)));
            }
        }
        all
    }

    #[test]
    fn a_batch_returns_what_was_pushed_until_it_is_full() {
        let mut random = Random::new(11);
        for round in 0..400 {
            let size = [1, 4, 8, 12, 16, 40][round % 6];
            let capacity = Batch::least_capacity(size) + random.below(3000) as usize;
            let mut batch = Batch::new(capacity).unwrap();
            for _ in 0..2 {
                let (mut pushed, mut returned) = (Vec::new(), 0);
                loop {
                    let kind = Kind::ALL[random.below(5) as usize];
                    let operator = u8::try_from(random.below(2)).unwrap();
                    let index = random.bits() >> (10 + random.below(54));
                    let run = batch.run_room(kind, size).min(random.below(20) as usize);
                    assert!(batch.takes_one(kind, size) || batch.run_room(kind, size) == 0);
                    let elements = if kind == Kind::CompareAndSwap { 1 } else { u16::try_from(run.max(1)).unwrap() };
                    if !batch.takes_one(kind, size) {
                        break;
                    }
                    let byte = if kind == Kind::Get { 0 } else { u8::try_from(random.below(256)).unwrap() };
                    // all indices of a run are those of elements
                    let half = MOST_ELEMENTS / 2;
                    let far = (half.cast_signed() / 20) >> random.below(50);
                    let distance = if elements == 1 { 1 } else { [1, 0, -1, 5, far, -far][random.below(6) as usize] };
                    let operation = (kind, operator, half + index % (half / 20), distance, elements, byte);
                    push(&mut batch, operation, size);
                    pushed.push(operation);
                    returned += if kind.returns() { usize::from(elements) * size } else { 0 };
                }
                let message = batch.message(HEADER_OF_ALL);
                assert!(message.len() <= capacity && HEADER + returned <= capacity);
                assert_eq!(read(message, size), pushed);
                assert_eq!(Header::of(message), HEADER_OF_ALL);
                batch.clear();
                assert!(batch.is_empty() && batch.filled.results == 0);
            }
        }
    }

    #[test]
    fn an_operation_goes_on_with_its_group_alone() {
        for (kind, capacity) in Kind::ALL.into_iter().flat_map(|kind| [60, 100, 4000].map(|capacity| (kind, capacity))) {
            let (mut one, mut other) = (Batch::new(capacity).unwrap(), Batch::new(capacity).unwrap());
            let values: [[u8; 8]; 2] = [[3; 8], [4; 8]];
            let slices = [&values[0][..], &values[1][..]];
            assert!(!one.push_on(kind, 2, 0, [&values[0], &values[1]]), "there is no group");
            one.push(kind, 2, 900, 8, slices);
            other.push(kind, 2, 900, 8, slices);
            assert!(!one.push_on(kind, 3, 0, [&values[0], &values[1]]), "that is another operator");
            for index in (0..2000).map(|k| k * k * 77 % 1001) {
                let added = one.push_on(kind, 2, index, [&values[0], &values[1]]);
                assert_eq!(added, other.takes_one(kind, 8));
                if !added {
                    break;
                }
                other.push(kind, 2, index, 8, slices);
            }
            assert_eq!(one.filled.results, other.filled.results);
            assert_eq!(one.message(HEADER_OF_ALL), other.message(HEADER_OF_ALL));
            assert!(!one.push_on(kind, 2, 0, [&values[0], &values[1]]), "the group has ended");
        }
    }

    #[test]
    fn neighboring_elements_cost_one_byte_each_and_runs_nothing() {
        let mut batch = Batch::new(4096).unwrap();
        for index in 1000..1100 {
            batch.push(Kind::Put, 0, index, 8, [&[1; 8], &[]]);
        }
        assert_eq!(batch.message(HEADER_OF_ALL).len(), HEADER + HEAD + 2 + 99 + 100 * 8);
        batch.clear();
        batch.push_run(Kind::Put, 0, Run { first: 1000, distance: 1 }, 100, 8);
        assert_eq!(batch.message(HEADER_OF_ALL).len(), HEADER + HEAD + 2 + 100 * 8);
        batch.clear();
        batch.push_run(Kind::Put, 0, Run { first: 1000, distance: -3 }, 100, 8);
        assert_eq!(batch.message(HEADER_OF_ALL).len(), HEADER + HEAD + 3 + 100 * 8);
    }

    #[test]
    fn a_value_can_be_changed_while_its_group_goes_on() {
        let mut batch = Batch::new(256).unwrap();
        let (at, begins) = batch.push(Kind::Accumulate, 2, 7, 1, [&[3], &[]]);
        assert!(begins && batch.goes_on(Kind::Accumulate, 2));
        assert!(!batch.goes_on(Kind::Accumulate, 1) && !batch.goes_on(Kind::Put, 2));
        batch.value_mut(at, 1)[0] += 4;
        assert!(!batch.push(Kind::Accumulate, 2, 8, 1, [&[1], &[]]).1);
        let message = batch.message(HEADER_OF_ALL);
        assert_eq!(read(message, 1), [(Kind::Accumulate, 2, 7, 1, 1, 7), (Kind::Accumulate, 2, 8, 1, 1, 1)]);
        // a run is a group of its own
        batch.push_run(Kind::Accumulate, 2, Run { first: 0, distance: 1 }, 4, 1);
        assert!(!batch.goes_on(Kind::Accumulate, 2));
    }

    #[test]
    fn what_is_taken_back_leaves_nothing() {
        let mut batch = Batch::new(256).unwrap();
        batch.push(Kind::Put, 2, 7, 1, [&[3], &[]]);
        let mark = batch.mark();
        batch.push_run(Kind::Put, 2, Run { first: 100, distance: 5 }, 4, 1);
        batch.push(Kind::Get, 0, 3, 1, [&[], &[]]);
        batch.rewind(mark);
        // its group goes on
        assert!(!batch.push(Kind::Put, 2, 8, 1, [&[4], &[]]).1);
        assert_eq!(read(batch.message(HEADER_OF_ALL), 1), [(Kind::Put, 2, 7, 1, 1, 3), (Kind::Put, 2, 8, 1, 1, 4)]);
    }

    #[test]
    fn results_follow_one_another() {
        let mut batch = Batch::new(64).unwrap();
        for value in 0..3 {
            batch.append(2).fill(value);
        }
        assert_eq!(batch.message(HEADER_OF_ALL)[HEADER..], [0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn groups_and_runs_are_bounded() {
        let mut batch = Batch::new(1 << 20).unwrap();
        for index in 0..70_000 {
            batch.push(Kind::Put, 3, index, 1, [&[1], &[]]);
        }
        assert_eq!(read(batch.message(HEADER_OF_ALL), 1).len(), 70_000);
        // elements without data
        assert_eq!(Batch::new(64).unwrap().run_room(Kind::Put, 0), usize::from(MOST_GROUP));
        assert_eq!(Batch::new(HEADER).unwrap().run_room(Kind::Put, 0), 0);
        let mut batch = Batch::new(1 << 20).unwrap();
        batch.push(Kind::Put, 3, 0, 4, [&[1; 4], &[]]);
        let more = (1..1 << 17).take_while(|&index| batch.push_on(Kind::Put, 3, index, [&[1; 4]; 2])).count();
        assert_eq!(batch.reader().group().map(|group| group.elements), Some(MOST_GROUP));
        assert_eq!(more + 1, usize::from(MOST_GROUP));
        assert!(Batch::new(64).unwrap().takes_one(Kind::Put, 0) && !Batch::new(HEADER).unwrap().takes_one(Kind::Put, 0));
    }

    #[test]
    fn an_operation_fits_in_the_least_capacity() {
        for size in [0, 1, 8, 1000] {
            let batch = Batch::new(Batch::least_capacity(size)).unwrap();
            assert!(Kind::ALL.iter().all(|&kind| batch.run_room(kind, size) > 0));
        }
    }
}
