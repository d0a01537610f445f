//! Hints of sparse exchanges.

use std::cell::RefCell;
use std::io;
use std::path::Path;

use super::names::*;
use super::origins::{EXCHANGE, ExchangeOrigins, Given, Origin, lines, short};
use super::value::{LoggpValue, TRUTH, digest, find, note};
use crate::error::Result;
use crate::model::{Loggp, PROTOCOLS, Protocol};

/// The hints of sparse exchanges.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SparseHints {
    /// `mpix_sparse`: the protocol. `None` (`auto`, the default): the library chooses.
    pub protocol: Option<Protocol>,
    /// `mpix_sparse_targets`: approximate maximum number of messages that a process sends to others
    /// in an exchange. `None`: not given.
    pub targets: Option<u32>,
    /// `mpix_node_size`: treat each this many consecutive ranks as a node. `None`: the real nodes.
    pub node_size: Option<u32>,
    /// `mpix_matched_probe`: true to probe for messages by `MPI_Improbe` (default, if the MPI
    /// library has it), false for `MPI_Iprobe`.
    pub matched_probe: bool,
    /// `mpix_loggp`: a preset or a file. Exchanges measure no parameters: every other value counts
    /// as not given.
    pub loggp: Option<Loggp>,
    /// Sources of the values.
    pub origins: ExchangeOrigins,
}

impl Default for SparseHints {
    fn default() -> Self {
        SparseHints {
            protocol: None,
            targets: None,
            node_size: None,
            matched_probe: true,
            loggp: None,
            origins: ExchangeOrigins::default(),
        }
    }
}

impl SparseHints {
    /// Reads the hints like [`Hints::read`](super::Hints::read). Returns the valid ones, and an
    /// error if any is invalid.
    pub fn read(
        info: impl Fn(&str) -> Result<Option<String>>,
        env: impl Fn(&str) -> Option<String>,
        file: impl Fn(&Path) -> io::Result<String>,
    ) -> (SparseHints, Result<()>) {
        let mut hints = SparseHints::default();
        let given = RefCell::default();
        let value = |names| -> Result<_> { Ok(note(&given, find(names, &info, &env)?, names)) };
        let h = &mut hints;
        let results = [
            value(SPARSE).and_then(|v| {
                let mut allowed = vec![("auto", None)];
                allowed.extend(PROTOCOLS.iter().map(|e| (e.name, Some(e.protocol))));
                h.protocol = v.map(|v| v.choose(&allowed)).transpose()?.flatten();
                Ok(())
            }),
            value(SPARSE_TARGETS).and_then(|v| {
                h.targets = v.map(|v| v.small_number(0..=u32::MAX)).transpose()?;
                Ok(())
            }),
            value(NODE_SIZE).and_then(|v| {
                h.node_size = v.map(|v| v.small_number(1..=u32::MAX)).transpose()?;
                Ok(())
            }),
            value(MATCHED_PROBE).and_then(|v| {
                h.matched_probe = v.map(|v| v.choose(&TRUTH)).transpose()?.unwrap_or(true);
                Ok(())
            }),
            value(LOGGP).and_then(|v| {
                h.loggp = v.map(|v| v.loggp(file)).transpose()?.and_then(LoggpValue::given);
                Ok(())
            }),
        ];
        hints.came_from(&given.into_inner());
        (hints, results.into_iter().collect())
    }

    /// Reads the hints from the environment only.
    pub fn from_environment(
        env: impl Fn(&str) -> Option<String>,
        file: impl Fn(&Path) -> io::Result<String>,
    ) -> Result<SparseHints> {
        let (hints, understood) = SparseHints::read(|_| Ok(None), env, file);
        understood.map(|()| hints)
    }

    /// The keys, for errors.
    pub const AGREED: &str = "one of the environment variables MPIX_SPARSE, MPIX_SPARSE_TARGETS, MPIX_NODE_SIZE, MPIX_LOGGP, or a file of LogGP parameters,";

    /// The same where calls have hints of their own.
    pub const AGREED_IN_CALLS: &str = "one of the info keys mpix_sparse, mpix_sparse_targets, mpix_node_size, mpix_loggp, or its environment variable, or a file of LogGP parameters,";

    /// Returns a number that, except with probability of about 2^-62, differs if hints differ that
    /// must be equal on all processes: all but the kind of probes.
    pub fn agreed(&self) -> i64 {
        let said = |n: Option<u32>| n.map_or(0, |n| 1 + u64::from(n));
        let m = self.loggp.unwrap_or_default();
        digest([
            self.protocol.map_or(0, |p| 1 + p as u64),
            said(self.targets),
            said(self.node_size),
            m.latency.to_bits(),
            m.overhead.to_bits(),
            m.gap.to_bits(),
            m.gap_per_byte.to_bits(),
            m.eager,
            self.loggp.is_some().into(),
        ])
    }
}

impl SparseHints {
    /// Two lines: the hints in effect, and their sources.
    pub fn describe(&self) -> String {
        let number = |n: Option<u32>| n.map_or("not given".to_owned(), |n| n.to_string());
        let values = [
            self.protocol.map_or("auto", Protocol::name).to_owned(),
            number(self.targets),
            number(self.node_size),
            self.matched_probe.to_string(),
            self.loggp.map_or_else(|| "auto".to_owned(), |machine| short(&machine)),
        ];
        let given = EXCHANGE.iter().zip(self.origins).zip(values);
        lines(&EXCHANGE, &given.filter_map(|(((names, _), origin), value)| Some((names.0, value, origin?))).collect::<Vec<_>>())
    }

    /// Records the sources of values.
    fn came_from(&mut self, given: &[Given]) {
        self.origins = EXCHANGE.map(|(names, _)| given.iter().rfind(|g| g.0 == names.0).map(|g| g.2));
    }

    /// Takes the machine's parameters from another source if no hint gives them.
    #[must_use]
    pub fn with_machine(mut self, machine: Option<(Loggp, Origin)>) -> SparseHints {
        if let (None, Some((machine, origin))) = (self.loggp, machine) {
            self.loggp = Some(machine);
            self.origins[EXCHANGE.len() - 1] = Some(origin);
        }
        self
    }
}
