//! How packets look on their way: for each of their blocks its length, 8 bytes in little-endian order, then the blocks behind one another. Packets in a
//! packet are blocks of it.

use std::ops::Range;

/// Bytes for the length of a block.
pub const WORD: usize = 8;

/// Writes the lengths of a packet's blocks to its beginning.
pub fn write_lengths(packet: &mut [u8], lengths: impl IntoIterator<Item = u64>) {
    for (word, length) in packet.chunks_exact_mut(WORD).zip(lengths) {
        word.copy_from_slice(&length.to_le_bytes());
    }
}

/// Where the blocks of a packet of `blocks` blocks are. An error if the packet does not have as many bytes as it says.
pub fn split(packet: &[u8], blocks: usize) -> Result<Vec<Range<usize>>, String> {
    let wrong = || format!("a packet of {} bytes does not hold {blocks} blocks", packet.len());
    let first = blocks.checked_mul(WORD).filter(|&first| first <= packet.len()).ok_or_else(wrong)?;
    let mut at = first;
    let ranges = (packet[..first].chunks_exact(WORD))
        .map(|word| {
            let length = word.iter().rev().fold(0u64, |length, &byte| length << 8 | u64::from(byte));
            let end = usize::try_from(length).ok().and_then(|length| at.checked_add(length))?;
            (end <= packet.len()).then(|| std::mem::replace(&mut at, end)..end)
        })
        .collect::<Option<Vec<_>>>()
        .ok_or_else(wrong)?;
    if at == packet.len() { Ok(ranges) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_found() {
        let mut packet = vec![0; 3 * WORD + 302];
        write_lengths(&mut packet, [2, 0, 300]);
        assert_eq!(split(&packet, 3), Ok(vec![24..26, 26..26, 26..326]));
        assert_eq!(split(&[], 0), Ok(vec![]));
        for (bytes, blocks) in [(325, 3), (327, 3), (326, 2), (326, 4), (20, 3), (326, usize::MAX)] {
            packet.resize(bytes, 0);
            assert!(split(&packet, blocks).is_err(), "{bytes} bytes, {blocks} blocks");
            packet.resize(326, 0);
        }
        write_lengths(&mut packet, [u64::MAX, 0, 300]);
        assert!(split(&packet, 3).is_err());
    }
}
