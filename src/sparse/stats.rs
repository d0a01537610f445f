//! Statistics that travel with every exchange, from which the next protocol is chosen.
//!
//! Each process contributes its own values; the protocol computes the maximum over all processes.
//! The values fit into one word of [`STATS_BITS`] bits, so that a protocol can add them to a
//! message it sends anyway.

use crate::util::cast::to_int;

/// The largest values of any process in an exchange. Message counts and bytes are stored as their
/// number of binary digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Duration of the previous exchange, encoded by `select::time_code`.
    pub time: u16,
    /// Messages that a process sends to other processes.
    pub messages: u16,
    /// Bytes that a process sends to other processes.
    pub bytes: u16,
    /// Two marks, each set if any process has set it ([`Sends::marks`](super::messages::Sends)).
    pub marks: u8,
}

impl Stats {
    /// Encodes a duration, a number of messages and a number of bytes.
    pub fn new(time: u16, messages: u64, bytes: u64) -> Stats {
        let digits = |n: u64, most: u32| to_int::<u16>((u64::BITS - n.leading_zeros()).min(most));
        Stats { time, messages: digits(messages, 31), bytes: digits(bytes, 63), marks: 0 }
    }

    /// Returns the larger value of each field.
    pub fn max(self, other: Stats) -> Stats {
        Stats {
            time: self.time.max(other.time),
            messages: self.messages.max(other.messages),
            bytes: self.bytes.max(other.bytes),
            marks: self.marks | other.marks,
        }
    }

    /// The larger value of each field of two packed ones, packed.
    pub fn merge(one: u32, other: u32) -> u32 {
        Stats::from_word(one).max(Stats::from_word(other)).word()
    }

    /// Packs the fields into [`STATS_BITS`] bits.
    pub fn word(self) -> u32 {
        u32::from(self.marks) << 22 | u32::from(self.time) << 11 | u32::from(self.messages) << 6 | u32::from(self.bytes)
    }

    /// Unpacks what [`Stats::word`] packed.
    pub fn from_word(word: u32) -> Stats {
        Stats {
            time: (word >> 11 & 0x7ff) as u16,
            messages: (word >> 6 & 0x1f) as u16,
            bytes: (word & 0x3f) as u16,
            marks: (word >> 22 & 3) as u8,
        }
    }

    /// Returns the midpoint of the numbers that have this many binary digits.
    pub fn middle(digits: u16) -> u64 {
        let low = 1u64.checked_shl(u32::from(digits).saturating_sub(1)).unwrap_or(1 << 63);
        if digits < 2 { u64::from(digits) } else { low + low / 2 }
    }
}

/// Bits of a packed [`Stats`]: 2 marks, 11 for the time, 5 for the digits of the message count, 6
/// for those of the bytes.
pub const STATS_BITS: u32 = 24;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_keeps_all_fields() {
        for (messages, bytes) in [(0, 0), (1, 8), (5, 1 << 40), (u64::MAX, u64::MAX)] {
            for marks in 0..4 {
                let stats = Stats { marks, ..Stats::new(2047, messages, bytes) };
                assert!(stats.word() < 1 << STATS_BITS);
                assert_eq!(Stats::from_word(stats.word()), stats);
            }
        }
    }

    #[test]
    fn marks_of_all_processes_come_together() {
        let stats = |marks, bytes| Stats { marks, ..Stats::new(1, 1, bytes) };
        let merged = Stats::from_word(Stats::merge(stats(1, 8).word(), stats(2, 1000).word()));
        assert_eq!(merged, stats(3, 1000));
    }
}
