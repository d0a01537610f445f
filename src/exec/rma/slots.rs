//! How the landing area is divided: a slot for each source.

use super::header;
use crate::topology::neighborhood::{Neighborhood, Rank};
use crate::util::cast::to_usize;
use crate::util::memory::LINE;

/// Bytes that a block has room for if no weights say how long it is.
const UNKNOWN: usize = 64 << 10;

/// Least and most bytes of a source's messages in the area.
const LEAST: usize = 4 << 10;
const MOST: usize = 64 << 20;

/// Most bytes of the area, where slots have more than the least.
const AREA: usize = 256 << 20;

/// Bytes of a flag, with what keeps the header behind it aligned.
const FLAG: usize = 16;

/// The place of one source's messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The source, or for a sender, the target.
    pub rank: Rank,
    /// Where its header begins.
    pub offset: u64,
    /// Most bytes of a message in it.
    pub capacity: u64,
}

impl Slot {
    /// Where its flag is: the word that says, with a passive target, which call's message it has.
    pub fn flag(&self) -> u64 {
        self.offset - FLAG as u64
    }

    /// The place for every other message, where there are two.
    #[must_use]
    pub fn other(self) -> Slot {
        Slot { offset: self.offset + taken(self.capacity), ..self }
    }
}

/// Bytes from one slot to the next.
fn taken(capacity: u64) -> u64 {
    ((FLAG + header::BYTES) as u64 + capacity).next_multiple_of(LINE as u64)
}

/// Divides the area among the sources of a neighborhood, sorted by rank, without the process
/// itself. `unit`: bytes that a weight of 1 stands for, if the caller said so. `places`: for how
/// many messages each source has one. Returns the slots and the length of the area.
pub fn divide(n: &Neighborhood, unit: Option<u32>, places: usize) -> (Vec<Slot>, usize) {
    let mut others = Neighborhood::loads(n.sources());
    others.retain(|source| source.0 != n.rank());
    let fair = (AREA / places / others.len().max(1)).max(LEAST);
    let mut end = 0;
    let slots = others.into_iter().map(|(rank, times, weights)| {
        let wanted = match unit.filter(|_| n.weighted()) {
            Some(unit) => usize::try_from(weights.saturating_mul(unit.into())).unwrap_or(usize::MAX),
            None => UNKNOWN.saturating_mul(to_usize(times)),
        };
        let capacity = wanted.clamp(LEAST, MOST).min(fair);
        let slot = Slot { rank, offset: (end + FLAG) as u64, capacity: capacity as u64 };
        end += places * to_usize(taken(capacity as u64));
        slot
    });
    (slots.collect(), end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::neighborhood::Neighbor;

    #[test]
    fn slots_do_not_overlap_and_follow_the_weights() {
        let (slots, end) = divide(&Neighborhood::from_ranks(2, &[3, 1, 2, 3], &[]), Some(8), 1);
        assert_eq!(slots.iter().map(|s| (s.rank, s.capacity)).collect::<Vec<_>>(), [(1, 64 << 10), (3, 128 << 10)]);
        assert!(slots[1].flag() >= slots[0].offset + slots[0].capacity + 16 && slots[1].flag() % 64 == 0);
        assert!(end as u64 >= slots[1].offset + slots[1].capacity + 16);
        let source = |weight| Neighbor { rank: Some(1), weight, direction: 0 };
        let weighted = |weight| Neighborhood::new(0, vec![source(weight)], Vec::new(), true);
        assert_eq!(divide(&weighted(1000), Some(100), 1).0[0].capacity, 100_000);
        assert_eq!(divide(&weighted(1), Some(1), 1).0[0].capacity, LEAST as u64);
        assert_eq!(divide(&weighted(u32::MAX), Some(u32::MAX), 1).0[0].capacity, MOST as u64);
        // weights without a unit say nothing about bytes
        assert_eq!(divide(&weighted(1000), None, 1).0[0].capacity, UNKNOWN as u64);
    }

    #[test]
    fn many_sources_share_the_area() {
        let ranks: Vec<u32> = (1..=40_000).collect();
        for places in 1..3 {
            let (slots, end) = divide(&Neighborhood::from_ranks(0, &ranks, &[]), None, places);
            assert!(end <= 3 * AREA, "{end}");
            assert!(slots.iter().all(|s| s.capacity >= LEAST as u64));
        }
        assert_eq!(divide(&Neighborhood::from_ranks(0, &[0], &[0]), None, 1), (Vec::new(), 0));
    }

    #[test]
    fn places_do_not_overlap() {
        let (slots, end) = divide(&Neighborhood::from_ranks(2, &[3, 1, 2, 3], &[]), Some(8), 2);
        let behind = |slot: Slot| slot.offset + header::BYTES as u64 + slot.capacity;
        let order = [slots[0], slots[0].other(), slots[1], slots[1].other()];
        assert!(order.windows(2).all(|pair| behind(pair[0]) <= pair[1].flag() && pair[1].flag().is_multiple_of(LINE as u64)));
        assert!(behind(order[3]) <= end as u64);
    }
}
