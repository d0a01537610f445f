//! The header of a message: its number, its length, and where it is. It lies before the
//! message in the landing area, or precedes it as a message of its own.

/// Bytes of a header.
pub const BYTES: usize = 16;

/// Where a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Behind the header.
    Here,
    /// It comes by message, as it is too long for the landing area.
    Message,
    /// Nowhere: its sender could not pack or put it.
    Nowhere,
    /// In its blocks.
    There,
}

/// A header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Which of all messages of the edges between its two processes it is, from 1 on.
    pub number: u64,
    /// Length of the message.
    pub bytes: u64,
    /// Where it is.
    pub place: Place,
}

/// Bits of the second word that hold the length: no memory is longer.
const LENGTH: u32 = 61;

impl Header {
    /// The words that are sent.
    pub fn words(self) -> [u64; 2] {
        debug_assert!(self.bytes >> LENGTH == 0);
        [self.number, (self.place as u64) << LENGTH | self.bytes]
    }

    /// Reads the words; `None` if none of our headers looks so.
    pub fn of([number, rest]: [u64; 2]) -> Option<Header> {
        let place =
            [Place::Here, Place::Message, Place::Nowhere, Place::There].into_iter().find(|&p| p as u64 == rest >> LENGTH)?;
        Some(Header { number, bytes: rest & ((1 << LENGTH) - 1), place })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back() {
        for place in [Place::Here, Place::Message, Place::Nowhere, Place::There] {
            for bytes in [0, 1, 1 << 40, (1 << LENGTH) - 1] {
                let header = Header { number: 7, bytes, place };
                assert_eq!(Header::of(header.words()), Some(header));
            }
        }
        assert_eq!(Header::of([7, u64::MAX]), None);
    }
}
