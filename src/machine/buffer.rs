//! Buffers of measurements.

use std::hint::black_box;

use crate::error::{Error, Result};
use crate::util::memory::LINE;

/// Allocates a buffer and writes to it: pages that were never written share one page of zeroes and
/// are faster to read.
pub fn written<T: Clone + From<u8>>(length: usize) -> Result<Vec<T>> {
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(length).map_err(|_| Error::NoMemory { bytes: length.saturating_mul(size_of::<T>()) })?;
    buffer.resize(length, T::from(1));
    Ok(buffer)
}

/// Separate buffers for sending and receiving, which have been written. A shared buffer would move
/// from one core's cache to the other's and back, so that its bytes take longer than those of a
/// message that follows another one.
pub struct Buffers {
    pub send: Vec<u8>,
    pub recv: Vec<u8>,
}

impl Buffers {
    /// Those for messages of so many bytes.
    pub fn new(bytes: usize) -> Result<Buffers> {
        Ok(Buffers { send: written(bytes)?, recv: written(bytes)? })
    }
}

/// Writes to each cache line of a message, as a program does before it sends it. What others read
/// of it lies in their caches already if nobody has written it since the last time.
pub fn write_lines(message: &mut [u8]) {
    message.iter_mut().step_by(LINE).for_each(|byte| *byte = byte.wrapping_add(1));
    black_box(message);
}

/// Reads from each cache line of a message, as a program does that has received it.
pub fn read_lines(message: &[u8]) {
    black_box(message.iter().step_by(LINE).fold(0, |all, byte| all ^ byte));
}
