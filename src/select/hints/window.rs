//! Hints of sparse windows.

use std::io;
use std::path::Path;

use super::names::*;
use super::sparse::SparseHints;
use super::value::{TRUTH, find};
use crate::error::Result;

/// The hints of sparse windows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowHints {
    /// `mpix_window_batch`: bytes of operations that are sent as one message. The least of all
    /// processes' values counts.
    pub batch: u32,
    /// `mpix_window_aggregate`: true to combine accumulations of one element before they are sent.
    pub aggregate: bool,
    /// The hints of the exchanges that end epochs.
    pub exchange: SparseHints,
}

impl WindowHints {
    /// Bytes of a batch: with its envelope it fits in 4,096 bytes, which MPIs send within a node
    /// without waiting for the receiver.
    pub const BATCH: u32 = 4032;

    /// Reads the hints like [`Hints::read`](super::Hints::read).
    pub fn read(
        info: impl Fn(&str) -> Result<Option<String>>,
        env: impl Fn(&str) -> Option<String>,
        file: impl Fn(&Path) -> io::Result<String>,
    ) -> Result<WindowHints> {
        let batch = find(WINDOW_BATCH, &info, &env)?.map(|v| v.small_number(64..=1 << 20)).transpose()?;
        let aggregate = find(WINDOW_AGGREGATE, &info, &env)?.map(|v| v.choose(&TRUTH)).transpose()?;
        let (exchange, understood) = SparseHints::read(info, env, file);
        understood?;
        Ok(WindowHints { batch: batch.unwrap_or(Self::BATCH), aggregate: aggregate.unwrap_or(false), exchange })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(given: &[(&str, &str)]) -> Result<WindowHints> {
        let info = |key: &str| Ok(given.iter().find(|(name, _)| *name == key).map(|(_, value)| (*value).to_owned()));
        WindowHints::read(info, |_| None, |_| Err(io::ErrorKind::NotFound.into()))
    }

    #[test]
    fn hints_are_read_and_wrong_ones_refused() {
        let hints = read(&[]).unwrap();
        assert_eq!((hints.batch, hints.aggregate, hints.exchange.protocol), (WindowHints::BATCH, false, None));
        let hints = read(&[("mpix_window_batch", "65536"), ("mpix_window_aggregate", "true"), ("mpix_sparse", "nbx")]).unwrap();
        assert_eq!((hints.batch, hints.aggregate), (65536, true));
        assert!(hints.exchange.protocol.is_some());
        for wrong in [("mpix_window_batch", "63"), ("mpix_window_aggregate", "2"), ("mpix_sparse", "x")] {
            assert!(read(&[wrong]).unwrap_err().to_string().contains(wrong.0));
        }
    }
}
