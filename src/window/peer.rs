//! The state that a process keeps for each other one: operations on their way there, and messages
//! that came from there.

use std::collections::VecDeque;

use super::batch::Batch;

/// The most batches to one process that it has not acknowledged: what bounds the memory that they
/// take there.
pub const MOST_UNACKNOWLEDGED: u32 = 16;

/// Batches from one process that are applied before they are acknowledged, if nothing else goes
/// there.
pub const ACKNOWLEDGED_TOGETHER: u32 = MOST_UNACKNOWLEDGED / 2;

/// Where elements go that an operation returns.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Address of the first one.
    pub at: *mut u8,
    /// Elements.
    pub elements: usize,
}

/// Another process. Counts of batches wrap around.
#[derive(Debug)]
pub struct Peer {
    /// Operations that have not been sent, if there have been some since the last that were.
    pub batch: Option<Batch>,
    /// Batches sent.
    pub sent: u32,
    /// Batches that it has acknowledged.
    pub acknowledged: u32,
    /// Batches from there that this process has applied.
    pub applied: u32,
    /// Batches from there that this process has acknowledged.
    pub reported: u32,
    /// Where the elements go that it will return, in order.
    pub places: VecDeque<Place>,
    /// Where an index stands in the batch, if accumulations of one index are sent as one.
    pub repeats: Option<Repeats>,
    /// True if it is on the list of those that may not have applied all operations.
    pub listed: bool,
}

impl Peer {
    /// A process without operations.
    pub fn new(aggregates: bool) -> Peer {
        let repeats = aggregates.then(Repeats::default);
        let places = VecDeque::new();
        Peer { batch: None, sent: 0, acknowledged: 0, applied: 0, reported: 0, places, repeats, listed: false }
    }

    /// Returns true if it has operations that have not been sent.
    #[inline]
    pub fn has_operations(&self) -> bool {
        self.batch.as_ref().is_some_and(|batch| !batch.is_empty())
    }

    /// Notes where elements go that it will return, `extent` bytes apart. Returns true if they do
    /// not follow the last ones in memory, and so have a place of their own.
    #[inline]
    pub fn expect(&mut self, at: *mut u8, elements: usize, extent: isize) -> bool {
        if let Some(last) = self.places.back_mut()
            && last.at.wrapping_offset(extent.wrapping_mul(last.elements.cast_signed())) == at
        {
            last.elements += elements;
            return false;
        }
        self.places.push_back(Place { at, elements });
        true
    }

    /// Returns true if it may have another batch.
    #[inline]
    pub fn takes_another(&self) -> bool {
        self.sent.wrapping_sub(self.acknowledged) < MOST_UNACKNOWLEDGED
    }

    /// Takes the number of batches that it has applied. A number that came another way may be older
    /// than the last one.
    pub fn acknowledge(&mut self, applied: u32) {
        if self.sent.wrapping_sub(applied) <= self.sent.wrapping_sub(self.acknowledged) {
            self.acknowledged = applied;
        }
    }

    /// Returns true if it has acknowledged the first `sent` batches, which have been sent.
    pub fn has_applied(&self, sent: u32) -> bool {
        self.sent.wrapping_sub(sent) >= self.sent.wrapping_sub(self.acknowledged)
    }

    /// Returns true if it has acknowledged all batches.
    pub fn has_applied_all(&self) -> bool {
        self.sent == self.acknowledged
    }

    /// Returns true if what came from there should be acknowledged.
    pub fn is_owed_acknowledgement(&self) -> bool {
        self.applied.wrapping_sub(self.reported) >= ACKNOWLEDGED_TOGETHER
    }
}

/// Indices that have been accumulated to in the group that is being filled, and where their values
/// stand. Indices may push each other out; then both are sent.
#[derive(Debug)]
pub struct Repeats {
    table: Box<[Repeat]>,
    /// Entries of earlier groups are void.
    group: u32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Repeat {
    index: u64,
    at: u32,
    group: u32,
}

impl Default for Repeats {
    fn default() -> Repeats {
        Repeats { table: vec![Repeat::default(); Repeats::ENTRIES].into_boxed_slice(), group: 1 }
    }
}

impl Repeats {
    /// More than a batch of the default size has elements of 8 bytes, inside a node too.
    const ENTRIES: usize = 4096;

    fn entry(&mut self, index: u64) -> &mut Repeat {
        // Fibonacci hashing: the high bits of the product depend on all bits of the index
        let hash = index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - Repeats::ENTRIES.trailing_zeros());
        &mut self.table[usize::try_from(hash).unwrap_or(0)]
    }

    /// Returns where the value of an index stands.
    #[inline]
    pub fn find(&mut self, index: u64) -> Option<usize> {
        let group = self.group;
        let entry = self.entry(index);
        (entry.group == group && entry.index == index).then_some(entry.at as usize)
    }

    /// Notes where the value of an index stands.
    #[inline]
    pub fn note(&mut self, index: u64, at: usize) {
        let group = self.group;
        // a place that is too high for an entry is not noted
        if let Ok(at) = u32::try_from(at) {
            *self.entry(index) = Repeat { index, at, group };
        }
    }

    /// Forgets all indices: another group begins.
    #[inline]
    pub fn forget(&mut self) {
        self.group = self.group.wrapping_add(1);
        if self.group == 0 {
            *self = Repeats::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_takes_batches_until_too_many_are_unacknowledged() {
        let mut peer = Peer::new(false);
        (peer.sent, peer.acknowledged) = (u32::MAX - 3, u32::MAX - 3);
        let sent = (0..100).take_while(|_| peer.takes_another().then(|| peer.sent = peer.sent.wrapping_add(1)).is_some());
        assert_eq!(sent.count(), MOST_UNACKNOWLEDGED as usize);
        // its answers come before it must wait for good
        const { assert!(ACKNOWLEDGED_TOGETHER < MOST_UNACKNOWLEDGED) }
    }

    #[test]
    fn an_older_acknowledgement_changes_nothing() {
        let mut peer = Peer::new(false);
        (peer.sent, peer.acknowledged) = (3, u32::MAX - 8);
        peer.acknowledge(1);
        peer.acknowledge(u32::MAX);
        assert_eq!(peer.acknowledged, 1);
        peer.acknowledge(3);
        assert!(peer.has_applied_all());
    }

    #[test]
    fn repeats_are_found_in_their_group_alone() {
        let mut repeats = Repeats::default();
        assert_eq!(repeats.find(0), None);
        repeats.note(0, 20);
        repeats.note(5, 40);
        assert_eq!((repeats.find(0), repeats.find(5), repeats.find(6)), (Some(20), Some(40), None));
        repeats.forget();
        assert_eq!((repeats.find(0), repeats.find(5)), (None, None));
        repeats.group = u32::MAX;
        repeats.note(7, 1);
        repeats.forget();
        assert_eq!(repeats.find(7), None);
        // indices that share an entry do not mix
        for index in 0..5000 {
            repeats.note(index, 8 * usize::try_from(index).unwrap());
        }
        for index in 0..5000 {
            assert!(repeats.find(index).is_none_or(|at| at == 8 * usize::try_from(index).unwrap()));
        }
    }
}
