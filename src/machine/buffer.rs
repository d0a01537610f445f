//! Buffers of measurements.

use crate::error::{Error, Result};

/// Allocates a buffer and writes to it: pages that were never written share one page of zeroes and
/// are faster to read.
pub fn written<T: Clone + From<u8>>(length: usize) -> Result<Vec<T>> {
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(length).map_err(|_| Error::NoMemory { bytes: length.saturating_mul(size_of::<T>()) })?;
    buffer.resize(length, T::from(1));
    Ok(buffer)
}
