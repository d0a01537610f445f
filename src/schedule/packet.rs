//! The wire format of packets.
//!
//! A packet begins with the length of each of its blocks (8 bytes, little-endian), followed by the
//! blocks. Nested packets are ordinary blocks. A block equal to the one before it is not repeated;
//! its length is given as [`SAME`]. The block that a gather sends to many processes therefore
//! occurs once in a packet. A block that could not be packed is not there, which its length says
//! ([`LOST`]).

use std::ops::Range;

/// Bytes of a length field.
pub const WORD: usize = 8;

/// In place of a length: the block repeats the one before it.
pub const SAME: u64 = u64::MAX;

/// In place of a length: this, with a number that the length does not exceed. The block is lost.
pub const LOST: u64 = 1 << 63;

/// Returns what the length of the i-th block does not exceed, if that block is lost. `last` is the
/// answer for the block before it.
pub fn lost(packet: &[u8], i: usize, last: Option<usize>) -> Option<usize> {
    match word(packet, i) {
        SAME => last,
        word => (word & LOST != 0).then_some((word & !LOST) as usize),
    }
}

/// Writes the length fields of a packet: lengths, [`SAME`], or [`LOST`].
pub fn write_lengths(packet: &mut [u8], lengths: impl IntoIterator<Item = u64>) {
    for (word, length) in packet.chunks_exact_mut(WORD).zip(lengths) {
        word.copy_from_slice(&length.to_le_bytes());
    }
}

fn word(packet: &[u8], i: usize) -> u64 {
    packet[i * WORD..(i + 1) * WORD].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// The empty range before the first block, to pass to [`place`] as the range before block 0.
pub fn front(blocks: usize) -> Range<usize> {
    blocks * WORD..blocks * WORD
}

/// Returns the range of the i-th block; `last` is the range of the block before it.
pub fn place(packet: &[u8], i: usize, last: Range<usize>) -> Range<usize> {
    match word(packet, i) {
        SAME => last,
        lost if lost & LOST != 0 => last.end..last.end,
        // more than memory can hold is more than any packet has
        length => last.end..last.end.saturating_add(usize::try_from(length).unwrap_or(usize::MAX)),
    }
}

/// Checks that the length of a packet equals the sum of its length fields for `blocks` blocks.
pub fn check(packet: &[u8], blocks: usize) -> Result<(), String> {
    let words = blocks.checked_mul(WORD).filter(|&words| words <= packet.len());
    let begins = words.is_some() && (blocks == 0 || word(packet, 0) != SAME);
    let end = begins.then(|| (0..blocks).fold(front(blocks), |last, i| place(packet, i, last)).end);
    if end == Some(packet.len()) {
        Ok(())
    } else {
        Err(format!("a packet of {} bytes does not hold {blocks} blocks", packet.len()))
    }
}

/// True if this is no packet but says that one is lost: it begins with [`SAME`], or as much of it
/// as there is.
pub fn is_notice(packet: &[u8]) -> bool {
    !packet.is_empty() && packet.iter().take(WORD).all(|&byte| byte == 0xff)
}

/// Makes this no packet: until another one is written here, it says that one is lost.
pub fn spoil(packet: &mut [u8]) {
    packet.iter_mut().take(WORD).for_each(|byte| *byte = 0xff);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_found() {
        let mut packet = vec![0; 3 * WORD + 302];
        write_lengths(&mut packet, [2, 0, 300]);
        assert_eq!(check(&packet, 3), Ok(()));
        let places = |packet: &[u8], blocks| -> Vec<Range<usize>> {
            let next = |last: &mut Range<usize>, i| {
                *last = place(packet, i, last.clone());
                Some(last.clone())
            };
            (0..blocks).scan(front(blocks), next).collect()
        };
        assert_eq!(places(&packet, 3), [24..26, 26..26, 26..326]);
        assert_eq!(check(&[], 0), Ok(()));
        for (bytes, blocks) in [(325, 3), (327, 3), (326, 2), (326, 4), (20, 3), (326, usize::MAX)] {
            packet.resize(bytes, 0);
            assert!(check(&packet, blocks).is_err(), "{bytes} bytes, {blocks} blocks");
            packet.resize(326, 0);
        }
        write_lengths(&mut packet, [2, SAME, 300]);
        assert_eq!(check(&packet, 3), Ok(()));
        assert_eq!(places(&packet, 3), [24..26, 24..26, 26..326]);
        // the first block has none before it to repeat, and the sum of lengths must not overflow
        for words in [[SAME, 2, 300], [2, 300, LOST - 1], [LOST - 1, LOST - 1, 2], [302, SAME, 1]] {
            write_lengths(&mut packet, words);
            assert!(check(&packet, 3).is_err(), "{words:?}");
        }
        write_lengths(&mut packet, [302, SAME, SAME]);
        assert_eq!(check(&packet, 3), Ok(()));
        // a notice in place of a packet is none, whatever its length
        for length in [1, WORD, 3 * WORD, 3 * WORD + 302] {
            let notice = vec![0xff; length];
            assert!(is_notice(&notice) && (1..4).all(|blocks| check(&notice, blocks).is_err()), "{length}");
        }
        assert!(!is_notice(&packet) && !is_notice(&[]));
        for length in [1, WORD, 3 * WORD + 302] {
            let mut spoiled = packet[..length].to_vec();
            spoil(&mut spoiled);
            assert!(is_notice(&spoiled), "{length}");
        }
        // a lost block, and one that repeats it
        write_lengths(&mut packet, [LOST | 0x28, SAME, 302]);
        assert_eq!((check(&packet, 3), places(&packet, 3)), (Ok(()), vec![24..24, 24..24, 24..326]));
        let first = lost(&packet, 0, None);
        assert_eq!((first, lost(&packet, 1, first), lost(&packet, 2, first)), (Some(40), Some(40), None));
    }
}
