//! How packets look on their way: for each of their blocks its length, 8 bytes in little-endian order, then the blocks behind one another. Packets in a
//! packet are blocks of it.

/// Bytes for the length of a block.
pub const WORD: usize = 8;

/// Writes the lengths of a packet's blocks to its beginning.
pub fn write_lengths(packet: &mut [u8], lengths: impl IntoIterator<Item = u64>) {
    for (word, length) in packet.chunks_exact_mut(WORD).zip(lengths) {
        word.copy_from_slice(&length.to_le_bytes());
    }
}

/// The length of a packet's i-th block.
pub fn length(packet: &[u8], i: usize) -> usize {
    let word = &packet[i * WORD..(i + 1) * WORD];
    // what no memory holds is more than any packet has
    usize::try_from(word.iter().rev().fold(0u64, |length, &byte| length << 8 | u64::from(byte))).unwrap_or(usize::MAX)
}

/// An error if a packet does not have as many bytes as it says of its `blocks` blocks.
pub fn check(packet: &[u8], blocks: usize) -> Result<(), String> {
    let words = blocks.checked_mul(WORD).filter(|&words| words <= packet.len());
    let whole = words.and_then(|words| (0..blocks).try_fold(words, |sum, i| sum.checked_add(length(packet, i))));
    if whole == Some(packet.len()) {
        Ok(())
    } else {
        Err(format!("a packet of {} bytes does not hold {blocks} blocks", packet.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_found() {
        let mut packet = vec![0; 3 * WORD + 302];
        write_lengths(&mut packet, [2, 0, 300]);
        assert_eq!(check(&packet, 3), Ok(()));
        assert_eq!([0, 1, 2].map(|i| length(&packet, i)), [2, 0, 300]);
        assert_eq!(check(&[], 0), Ok(()));
        for (bytes, blocks) in [(325, 3), (327, 3), (326, 2), (326, 4), (20, 3), (326, usize::MAX)] {
            packet.resize(bytes, 0);
            assert!(check(&packet, blocks).is_err(), "{bytes} bytes, {blocks} blocks");
            packet.resize(326, 0);
        }
        write_lengths(&mut packet, [u64::MAX, 0, 300]);
        assert!(check(&packet, 3).is_err());
    }
}
