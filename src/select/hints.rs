//! Hints: info keys and environment variables, as typed values.
//!
//! An environment variable overrides the info key. Unknown keys are ignored ([`unknown`] has what
//! the log says of them); a value that is not understood is an error. Both are read when a
//! neighborhood is set, never later.

#![forbid(unsafe_code)]

pub mod origins;
pub mod unknown;

use std::cell::RefCell;
use std::io::{self, ErrorKind::NotADirectory, ErrorKind::NotFound, ErrorKind::PermissionDenied};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::model::{FileError, Loggp, PRESETS, PROTOCOLS, Protocol};
use crate::schedule::{ALGORITHMS, Algorithm, FoldOrder, Tuning};
use crate::topology::nodes::Placement;
use crate::util::random::mix;
use origins::{ExchangeOrigins, Origin, Origins};

/// A hint's names: (info key, environment variable).
type Names = (&'static str, &'static str);

const SCHEDULE: Names = ("mpix_schedule", "MPIX_SCHEDULE");
const SPLIT: Names = ("mpix_split", "MPIX_SPLIT");
const SEED: Names = ("mpix_seed", "MPIX_SEED");
const DUPLEX: Names = ("mpix_duplex", "MPIX_DUPLEX");
const ROUND_WINDOW: Names = ("mpix_round_window", "MPIX_ROUND_WINDOW");
const WEIGHT_UNIT: Names = ("mpix_weight_unit", "MPIX_WEIGHT_UNIT");
const LOGGP: Names = ("mpix_loggp", "MPIX_LOGGP");
const GRAPH_LIMIT: Names = ("mpix_graph_limit", "MPIX_GRAPH_LIMIT");
const REDUCE_ORDER: Names = ("mpix_reduce_order", "MPIX_REDUCE_ORDER");
const WHOLE_COMMUNICATOR: Names = ("mpix_whole_communicator", "MPIX_WHOLE_COMMUNICATOR");
const NODES: Names = ("mpix_nodes", "MPIX_NODES");
const FUSE: Names = ("mpix_fuse", "MPIX_FUSE");
/// Of persistent collectives alone; no environment variable.
const MATCH: &str = "mpix_match";
const SHARED_MEMORY: Names = ("mpix_shared_memory", "MPIX_SHARED_MEMORY");
const SINGLE_COPY: Names = ("mpix_single_copy", "MPIX_SINGLE_COPY");
const VERIFY: Names = ("mpix_verify", "MPIX_NEIGHBOR_VERIFY");
const SPARSE: Names = ("mpix_sparse", "MPIX_SPARSE");
const SPARSE_TARGETS: Names = ("mpix_sparse_targets", "MPIX_SPARSE_TARGETS");
const NODE_SIZE: Names = ("mpix_node_size", "MPIX_NODE_SIZE");
const MATCHED_PROBE: Names = ("mpix_matched_probe", "MPIX_MATCHED_PROBE");
const LOGGP_SECONDS: Names = ("mpix_loggp_seconds", "MPIX_LOGGP_SECONDS");
const LOGGP_BYTES: Names = ("mpix_loggp_bytes", "MPIX_LOGGP_BYTES");
/// Environment variable: a file with the parameters of the machine, for where nothing else says
/// them.
const LOGGP_FILE: &str = "MPIX_LOGGP_FILE";

/// Most edges of a graph that is gathered, whatever the hint says: positions in what is sent to the
/// processes are `int` for MPI.
pub const MOST_EDGES: u64 = 1 << 27;

/// Fewest bytes of shared memory with which it is used.
pub const LEAST_SHARED: u64 = 1 << 16;

/// Bytes of shared memory without a hint, and where a process uses a device: blocks in its memory
/// that are longer than a slot are left to MPI, which may move them without the host's memory.
/// Slots then have 16 KiB.
const DEFAULT_SHARED: u64 = 10 << 20;
const SHARED_WITH_DEVICES: u64 = 160 << 10;

/// Which schedule the caller wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScheduleHint {
    /// The library chooses by the model.
    Auto,
    /// The library chooses by the times of the first calls.
    Measure,
    /// This one; an error where it cannot be used.
    Only(Algorithm),
}

/// All hints.
#[derive(Debug, Clone, PartialEq)]
pub struct Hints {
    /// `mpix_schedule`: `auto` (default), `measure`, or an algorithm's name.
    pub schedule: ScheduleHint,
    /// `mpix_split`: whether messages may be cut (default `true`).
    pub split: bool,
    /// `mpix_seed`: where choices are drawn, they are drawn from this (default 1).
    pub seed: u64,
    /// `mpix_duplex` = `half`: a process sends or receives at a time, not both (default `full`).
    pub half_duplex: bool,
    /// `mpix_round_window`: rounds whose receives are posted at a time (default 1: each round ends
    /// before the next one begins).
    pub window: u32,
    /// `mpix_weight_unit`: bytes that a weight of 1 stands for. `None`: not said.
    pub weight_unit: Option<u32>,
    /// `mpix_loggp`: parameters of the machine, a preset's name or a file.
    /// `None`: not said, and the site's or the default preset stand for it.
    pub loggp: Option<Loggp>,
    /// Parameters from a file of the site. Of this machine, but nobody says that of the processes
    /// of this communicator: those that share a node may be much nearer to one another.
    pub site_loggp: Option<Loggp>,
    /// `mpix_graph_limit`: most edges of a graph that is gathered on process 0.
    pub graph_limit: u64,
    /// `mpix_reduce_order`: `source` (default) or `any`.
    pub reduce_order: FoldOrder,
    /// `mpix_fuse`: whether the blocks of several fields travel as one message: always or never.
    /// `None` (`auto`, default): where the model says that it pays.
    pub fuse: Option<bool>,
    /// `mpix_shared_memory`: most bytes of shared memory for the messages of an operation from one
    /// process to another one on its node (default 10 MiB). Below [`LEAST_SHARED`], all messages go
    /// by MPI.
    pub shared_memory: u64,
    /// `mpix_single_copy`: whether messages that are longer than a slot of shared memory are left
    /// to MPI where the kernel lets a process read another one's memory, so that one copy is enough
    /// (default `true`).
    pub single_copy: bool,
    /// `mpix_verify`: `false` (default) or `true`.
    pub verify: bool,
    /// `mpix_whole_communicator` = `true`: the caller promises that all processes of the
    /// communicator make every call, and that none of them waits for the end of another one's
    /// before it makes its own (default `false`).
    pub whole_communicator: bool,
    /// `mpix_nodes`: as if processes shared nodes in this way. `None`: the real nodes.
    pub nodes: Option<Placement>,
    /// Where the values come from.
    pub origins: Origins,
    /// No hint, but what the set call finds out: true if a process uses a device, and so may have
    /// blocks in its memory.
    pub devices: bool,
}

impl Default for Hints {
    fn default() -> Self {
        Hints {
            schedule: ScheduleHint::Auto,
            split: true,
            seed: 1,
            half_duplex: false,
            window: 1,
            weight_unit: None,
            loggp: None,
            site_loggp: None,
            graph_limit: 1 << 24,
            reduce_order: FoldOrder::Source,
            fuse: None,
            shared_memory: DEFAULT_SHARED,
            single_copy: true,
            verify: false,
            whole_communicator: false,
            nodes: None,
            origins: Origins::default(),
            devices: false,
        }
    }
}

impl Hints {
    /// Reads the hints. `info` and `env` give the value of a key or variable, `file` the text of a
    /// file.
    pub fn read(
        info: impl Fn(&str) -> Result<Option<String>>,
        env: impl Fn(&str) -> Option<String>,
        file: impl Fn(&Path) -> io::Result<String>,
    ) -> Result<Hints> {
        let mut hints = Hints::default();
        let given = RefCell::default();
        let value = |names| note(&given, find(names, &info, &env)?, names);
        let truth = TRUTH;
        if let Some(v) = value(SCHEDULE)? {
            let mut allowed = vec![("auto", ScheduleHint::Auto), ("measure", ScheduleHint::Measure)];
            allowed.extend(ALGORITHMS.iter().map(|e| (e.name, ScheduleHint::Only(e.algorithm))));
            hints.schedule = v.choose(&allowed)?;
        }
        if let Some(v) = value(SPLIT)? {
            hints.split = v.choose(&truth)?;
        }
        if let Some(v) = value(SEED)? {
            hints.seed = v.number(0..=u64::MAX)?;
        }
        if let Some(v) = value(DUPLEX)? {
            hints.half_duplex = v.choose(&[("full", false), ("half", true)])?;
        }
        if let Some(v) = value(ROUND_WINDOW)? {
            hints.window = v.number(1..=u32::MAX.into())? as u32;
        }
        if let Some(v) = value(WEIGHT_UNIT)? {
            hints.weight_unit = Some(v.number(1..=u32::MAX.into())? as u32);
        }
        if let Some(v) = value(LOGGP)? {
            hints.loggp = Some(v.loggp(file)?);
        }
        if let Some(v) = value(GRAPH_LIMIT)? {
            hints.graph_limit = v.number(0..=MOST_EDGES)?;
        }
        if let Some(v) = value(REDUCE_ORDER)? {
            hints.reduce_order = v.choose(&[("source", FoldOrder::Source), ("any", FoldOrder::Any)])?;
        }
        if let Some(fuse) = fuse(&info, &env)? {
            hints.fuse = fuse;
            value(FUSE)?;
        }
        if let Some(v) = value(SHARED_MEMORY)? {
            hints.shared_memory = v.number(0..=1 << 30)?;
        }
        if let Some(v) = value(SINGLE_COPY)? {
            hints.single_copy = v.choose(&truth)?;
        }
        if let Some(v) = value(VERIFY)? {
            hints.verify = v.choose(&truth)?;
        }
        if let Some(v) = value(WHOLE_COMMUNICATOR)? {
            hints.whole_communicator = v.choose(&truth)?;
        }
        if let Some(v) = value(NODES)? {
            hints.nodes = Some(Placement::parse(&v.text).ok_or_else(|| v.wrong(Placement::TEXT.into()))?);
        }
        hints.origins = Origins(given.into_inner());
        Ok(hints)
    }

    /// Where no hint says the machine's parameters, takes those that hang on the communicator
    /// (`known`), and where there are none, those of the site's file.
    ///
    /// # Errors
    /// As for [`site_loggp`].
    pub fn with_machine(
        mut self,
        known: Option<Loggp>,
        env: impl Fn(&str) -> Option<String>,
        file: impl Fn(&Path) -> io::Result<String>,
    ) -> Result<Hints> {
        if let (None, Some(known)) = (self.loggp, known) {
            self.loggp = Some(known);
            self.machine_from(&known, Origin::Communicator);
        }
        if self.loggp.is_none() {
            self.site_loggp = site_loggp(env, file)?;
        }
        if let Some(site) = self.site_loggp {
            self.machine_from(&site, Origin::File);
        }
        Ok(self)
    }

    /// The keys of the hints that all processes must agree on, for an error.
    pub const AGREED: &str = "one of the info keys mpix_schedule, mpix_split, mpix_seed, mpix_duplex, mpix_weight_unit, mpix_loggp, \
         mpix_graph_limit, mpix_fuse, mpix_shared_memory, mpix_single_copy, mpix_verify, mpix_whole_communicator, mpix_nodes, or its environment variable, or a file of LogGP parameters,";

    /// A number that, but for a chance of about 2^-62, differs where hints differ that all
    /// processes must agree on: all but the window and the order of reductions.
    pub fn agreed(&self) -> i64 {
        let schedule = match self.schedule {
            ScheduleHint::Auto => 0,
            ScheduleHint::Measure => 1,
            ScheduleHint::Only(algorithm) => 2 + algorithm as u64,
        };
        let m = self.machine();
        let mut values = vec![
            schedule,
            self.split.into(),
            self.seed,
            self.half_duplex.into(),
            self.weight_unit.map_or(0, |u| 1 + u64::from(u)),
            m.latency.to_bits(),
            m.overhead.to_bits(),
            m.gap.to_bits(),
            m.gap_per_byte.to_bits(),
            m.eager,
            self.graph_limit,
            self.fuse.map_or(0, |fuse| 1 + u64::from(fuse)),
            self.verify.into(),
            self.shared_memory,
            self.single_copy.into(),
            self.loggp.is_some().into(),
            self.whole_communicator.into(),
        ];
        values.extend(self.nodes.iter().flat_map(Placement::words));
        digest(&values)
    }

    /// Most bytes of shared memory for the messages of an operation to one process.
    pub fn shared_bytes(&self) -> u64 {
        if self.devices && self.shared_memory == DEFAULT_SHARED { SHARED_WITH_DEVICES } else { self.shared_memory }
    }

    /// The parameters of the machine.
    pub fn machine(&self) -> Loggp {
        self.loggp.or(self.site_loggp).unwrap_or_default()
    }

    /// What the algorithms are told.
    pub fn tuning(&self) -> Tuning {
        Tuning {
            seed: self.seed,
            startup: self.machine().startup_bytes() / f64::from(self.weight_unit.unwrap_or(1)),
            split: self.split,
            half_duplex: self.half_duplex,
            costs: self.machine().costs(self.weight_unit.unwrap_or(1)),
            ..Tuning::default()
        }
    }
}

/// The parameters of the machine in the site's file: the one that the environment variable
/// `MPIX_LOGGP_FILE` names, or [`loggp_path`] if there is such a file.
///
/// # Errors
/// The file cannot be read, or holds no parameters.
pub fn site_loggp(env: impl Fn(&str) -> Option<String>, file: impl Fn(&Path) -> io::Result<String>) -> Result<Option<Loggp>> {
    let (origin, path) = match env(LOGGP_FILE) {
        Some(name) => (format!("environment variable {LOGGP_FILE} = \"{name}\""), name.into()),
        None => match loggp_path(&env) {
            Some(path) => (format!("the file {}", path.display()), path),
            None => return Ok(None),
        },
    };
    match file(&path) {
        Ok(text) => {
            let wrong = |e: FileError| Error::LoggpFile { origin, reason: e.without_content() };
            Ok(Some(text.parse().map_err(wrong)?))
        }
        // nobody said that there is one
        Err(e) if matches!(e.kind(), NotFound | NotADirectory | PermissionDenied) && env(LOGGP_FILE).is_none() => {
            if e.kind() == PermissionDenied {
                log::warn!("{origin} is not looked at: {e}");
            }
            Ok(None)
        }
        Err(e) => Err(Error::LoggpUnread { origin, reason: e.to_string() }.into()),
    }
}

/// Where the parameters of the machine stand for all programs of a user: `mpix-neighbor/loggp` in
/// `$XDG_CONFIG_HOME`, or in `~/.config`. `None` without either of them. `env` gives the value of
/// an environment variable.
pub fn loggp_path(env: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let directory = |variable| env(variable).map(PathBuf::from).filter(|d| d.is_absolute());
    let config = directory("XDG_CONFIG_HOME").or_else(|| Some(directory("HOME")?.join(".config")))?;
    Some(config.join("mpix-neighbor").join("loggp"))
}

/// How the machine is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measuring {
    /// `mpix_loggp_seconds`: about how long, in seconds (default 3).
    pub seconds: f64,
    /// `mpix_loggp_bytes`: the longest message, in bytes (default 1 MiB).
    pub longest: u32,
}

impl Default for Measuring {
    fn default() -> Self {
        Measuring { seconds: 3.0, longest: 1 << 20 }
    }
}

impl Measuring {
    /// Seconds that may be asked for.
    pub const SECONDS: RangeInclusive<f64> = 0.01..=3600.0;
    /// Longest messages that may be asked for, in bytes.
    pub const BYTES: RangeInclusive<u64> = 1024..=1 << 30;

    /// Reads the hints. `info` and `env` give the value of a key or variable.
    pub fn read(info: impl Fn(&str) -> Result<Option<String>>, env: impl Fn(&str) -> Option<String>) -> Result<Measuring> {
        let mut measuring = Measuring::default();
        if let Some(v) = find(LOGGP_SECONDS, &info, &env)? {
            let seconds = v.text.trim().parse().ok().filter(|s| Self::SECONDS.contains(s));
            let allowed = || format!("{} to {}", Self::SECONDS.start(), Self::SECONDS.end());
            measuring.seconds = seconds.ok_or_else(|| v.wrong(allowed()))?;
        }
        if let Some(v) = find(LOGGP_BYTES, &info, &env)? {
            measuring.longest = v.number(Self::BYTES)? as u32;
        }
        Ok(measuring)
    }
}

/// What a truth value is called.
const TRUTH: [(&str, bool); 4] = [("false", false), ("true", true), ("0", false), ("1", true)];

/// The value of a hint, if there is one.
fn find(
    (key, variable): Names,
    info: impl Fn(&str) -> Result<Option<String>>,
    env: impl Fn(&str) -> Option<String>,
) -> Result<Option<Value>> {
    Ok(match env(variable) {
        Some(text) => Some(Value { origin: Origin::Environment, key: variable, text }),
        None => info(key)?.map(|text| Value { origin: Origin::Info, key, text }),
    })
}

/// Keeps in mind who gave a value.
fn note(given: &RefCell<Vec<origins::Given>>, value: Option<Value>, names: Names) -> Result<Option<Value>> {
    given.borrow_mut().extend(value.iter().map(|v| (names.0, v.text.trim().to_owned(), v.origin)));
    Ok(value)
}

/// `mpix_match` of a persistent collective: whether its starts match with one another alone
/// (`plan`), whatever is started beside it, and not with all starts in their order (`start`,
/// default).
pub fn matches_alone(info: impl Fn(&str) -> Result<Option<String>>) -> Result<bool> {
    let value = find((MATCH, ""), info, |_| None)?;
    Ok(value.map(|v| v.choose(&[("start", false), ("plan", true)])).transpose()?.unwrap_or(false))
}

/// `mpix_fuse`, as in [`Hints`], where it is said.
pub fn fuse(info: impl Fn(&str) -> Result<Option<String>>, env: impl Fn(&str) -> Option<String>) -> Result<Option<Option<bool>>> {
    let mut allowed = vec![("auto", None)];
    allowed.extend(TRUTH.map(|(text, value)| (text, Some(value))));
    find(FUSE, info, env)?.map(|v| v.choose(&allowed)).transpose()
}

/// The hints of sparse exchanges.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SparseHints {
    /// `mpix_sparse`: the protocol. `None` (`auto`, the default): the library chooses.
    pub protocol: Option<Protocol>,
    /// `mpix_sparse_targets`: about the most messages that a process sends to others in an
    /// exchange. `None`: not said.
    pub targets: Option<u32>,
    /// `mpix_node_size`: as if each so many processes, in the order of their ranks, were a node.
    /// `None`: the real nodes.
    pub node_size: Option<u32>,
    /// `mpix_matched_probe`: whether messages are probed for by `MPI_Improbe` (default, where the
    /// MPI has it) or `MPI_Iprobe`.
    pub matched_probe: bool,
    /// `mpix_loggp`, as in [`Hints`].
    pub loggp: Option<Loggp>,
    /// Where the values come from.
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
    /// Reads the hints, as [`Hints::read`] does: those that are understood, and whether all are.
    pub fn read(
        info: impl Fn(&str) -> Result<Option<String>>,
        env: impl Fn(&str) -> Option<String>,
        file: impl Fn(&Path) -> io::Result<String>,
    ) -> (SparseHints, Result<()>) {
        let mut hints = SparseHints::default();
        let given = RefCell::default();
        let value = |names| note(&given, find(names, &info, &env)?, names);
        let h = &mut hints;
        let results = [
            value(SPARSE).and_then(|v| {
                let mut allowed = vec![("auto", None)];
                allowed.extend(PROTOCOLS.iter().map(|e| (e.name, Some(e.protocol))));
                h.protocol = v.map(|v| v.choose(&allowed)).transpose()?.flatten();
                Ok(())
            }),
            value(SPARSE_TARGETS).and_then(|v| {
                h.targets = v.map(|v| v.number(0..=u32::MAX.into())).transpose()?.map(|n| n as u32);
                Ok(())
            }),
            value(NODE_SIZE).and_then(|v| {
                h.node_size = v.map(|v| v.number(1..=u32::MAX.into())).transpose()?.map(|n| n as u32);
                Ok(())
            }),
            value(MATCHED_PROBE).and_then(|v| {
                h.matched_probe = v.map(|v| v.choose(&TRUTH)).transpose()?.unwrap_or(true);
                Ok(())
            }),
            value(LOGGP).and_then(|v| {
                h.loggp = v.map(|v| v.loggp(file)).transpose()?;
                Ok(())
            }),
        ];
        hints.came_from(&given.into_inner());
        (hints, results.into_iter().collect())
    }

    /// The hints of the environment alone.
    pub fn from_environment(
        env: impl Fn(&str) -> Option<String>,
        file: impl Fn(&Path) -> io::Result<String>,
    ) -> Result<SparseHints> {
        let (hints, understood) = SparseHints::read(|_| Ok(None), env, file);
        understood.map(|()| hints)
    }

    /// The keys, for an error.
    pub const AGREED: &str = "one of the environment variables MPIX_SPARSE, MPIX_SPARSE_TARGETS, MPIX_NODE_SIZE, MPIX_LOGGP, or a file of LogGP parameters,";

    /// A number that, but for a chance of about 2^-62, differs where hints differ that all
    /// processes must agree on: all but the kind of probes.
    pub fn agreed(&self) -> i64 {
        let said = |n: Option<u32>| n.map_or(0, |n| 1 + u64::from(n));
        let m = self.loggp.unwrap_or_default();
        digest(&[
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

/// A number of 62 bits that, but for a small chance, differs where the values differ.
fn digest(values: &[u64]) -> i64 {
    (values.iter().fold(0, |hash, v| mix(hash ^ v).wrapping_add(1)) >> 2) as i64
}

struct Value {
    origin: Origin,
    key: &'static str,
    text: String,
}

impl Value {
    fn number(&self, range: RangeInclusive<u64>) -> Result<u64> {
        match self.text.trim().parse() {
            Ok(value) if range.contains(&value) => Ok(value),
            _ => Err(self.wrong(format!("{} to {}", range.start(), range.end()))),
        }
    }

    /// A preset's name, or the name of a file.
    fn loggp(&self, file: impl Fn(&Path) -> io::Result<String>) -> Result<Loggp> {
        let name = self.text.trim();
        if let Some(values) = Loggp::preset(name) {
            return Ok(values);
        }
        let origin = || format!("{} {} = \"{}\"", self.origin.of_value(), self.key, self.text);
        match file(Path::new(name)) {
            Ok(text) => {
                let wrong = |e: FileError| Error::LoggpFile { origin: origin(), reason: e.without_content() };
                Ok(text.parse().map_err(wrong)?)
            }
            Err(e) if e.kind() == NotFound => {
                let presets: Vec<&str> = PRESETS.iter().map(|p| p.name).collect();
                Err(self.wrong(format!("{}, or a file of LogGP parameters ({e})", presets.join(", "))))
            }
            Err(e) => Err(Error::LoggpUnread { origin: origin(), reason: e.to_string() }.into()),
        }
    }

    fn wrong(&self, allowed: String) -> Box<Error> {
        Error::HintValue { origin: self.origin.of_value(), key: self.key.into(), value: self.text.clone(), allowed }.into()
    }

    fn choose<T: Copy>(&self, allowed: &[(&str, T)]) -> Result<T> {
        let text = self.text.trim();
        match allowed.iter().find(|(name, _)| *name == text) {
            Some(&(_, value)) => Ok(value),
            None => Err(self.wrong((allowed.iter().map(|(name, _)| *name)).collect::<Vec<_>>().join(", "))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(info: &[(&str, &str)], env: &[(&str, &str)]) -> Result<Hints> {
        let get = |list: &[(&str, &str)], key: &str| list.iter().find(|e| e.0 == key).map(|e| e.1.to_string());
        let file = |path: &Path| match path.to_str() {
            Some("machine") => Ok("latency = 1\noverhead = 2\ngap = 3\ngap_per_byte = 4\neager = 5\n".into()),
            Some("shadow") => Ok("root:$6$secret:19000:0:99999:7:::\n".into()),
            Some("full") => Err(io::Error::other("too many open files")),
            _ => Err(io::Error::new(NotFound, "no such file")),
        };
        Hints::read(|k| Ok(get(info, k)), |k| get(env, k), file)
    }

    #[test]
    fn defaults_unknown_keys_and_override() {
        assert_eq!(read(&[("color", "blue")], &[]).unwrap(), Hints::default());
        let h = read(
            &[("mpix_schedule", "direct"), ("mpix_reduce_order", "any")],
            &[("MPIX_SCHEDULE", "dimension_order"), ("MPIX_NEIGHBOR_VERIFY", "1")],
        )
        .unwrap();
        assert_eq!(h.schedule, ScheduleHint::Only(Algorithm::DimensionOrder));
        assert_eq!(h.reduce_order, FoldOrder::Any);
        assert!(h.verify);
    }

    #[test]
    fn bad_values_are_named() {
        let e = read(&[("mpix_schedule", "fastest")], &[]).unwrap_err();
        let names: Vec<&str> = ALGORITHMS.iter().map(|e| e.name).collect();
        let allowed = format!("auto, measure, {}", names.join(", "));
        assert_eq!(e.to_string(), format!("info key mpix_schedule = \"fastest\" is not one of {allowed}"));
        let e = read(&[], &[("MPIX_NEIGHBOR_VERIFY", "maybe")]).unwrap_err();
        assert!(e.to_string().starts_with("environment variable MPIX_NEIGHBOR_VERIFY"));
        let e = read(&[("mpix_nodes", "1,2,")], &[]).unwrap_err();
        assert_eq!(e.to_string(), format!("info key mpix_nodes = \"1,2,\" is not one of {}", Placement::TEXT));
    }

    #[test]
    fn numbers_and_files() {
        let h =
            read(&[("mpix_seed", " 7 "), ("mpix_duplex", "half"), ("mpix_split", "0")], &[("MPIX_ROUND_WINDOW", "4")]).unwrap();
        assert_eq!((h.seed, h.half_duplex, h.split, h.window), (7, true, false, 4));
        let e = read(&[("mpix_round_window", "0")], &[]).unwrap_err();
        assert_eq!(e.to_string(), "info key mpix_round_window = \"0\" is not one of 1 to 4294967295");
        assert!(read(&[("mpix_weight_unit", "-3")], &[]).is_err());
        let h = read(&[("mpix_loggp", "intrepid"), ("mpix_weight_unit", "8")], &[]).unwrap();
        assert_eq!(h.machine(), Loggp::preset("intrepid").unwrap());
        assert_eq!(h.tuning().startup, h.machine().startup_bytes() / 8.0);
        let (costs, machine) = (h.tuning().costs, h.machine());
        assert_eq!((costs.transfer(100.0), costs.delivery()), (machine.transfer(800), machine.point_to_point(1)));
        let h = read(&[("mpix_loggp", "machine")], &[]).unwrap();
        assert_eq!(h.machine(), "latency = 1\noverhead = 2\ngap = 3\ngap_per_byte = 4\neager = 5".parse().unwrap());
        let e = read(&[("mpix_loggp", "elsewhere")], &[]).unwrap_err().to_string();
        assert!(e.contains("jaguar") && e.contains("no such file"), "{e}");
        // what a file holds is not repeated, and a file that there is is not said to be none
        let e = read(&[], &[("MPIX_LOGGP", "shadow")]).unwrap_err().to_string();
        assert_eq!(
            e,
            "environment variable MPIX_LOGGP = \"shadow\" is no file of LogGP parameters: line 1 is not of the form key = value"
        );
        let e = read(&[("mpix_loggp", "full")], &[]).unwrap_err().to_string();
        assert_eq!(e, "info key mpix_loggp = \"full\" cannot be read: too many open files");
    }

    #[test]
    fn the_nearest_parameters_count() {
        let preset = |name| Loggp::preset(name).unwrap();
        let with = |info: &[(&str, &str)], env: &[(&str, &str)], known, exists: &str| {
            let get = |key: &str| env.iter().find(|e| e.0 == key).map(|e| e.1.to_string());
            read(info, env).unwrap().with_machine(known, get, |path| match path.to_str() {
                Some("/site") => Ok(preset("big_red").to_string()),
                Some("/home/me/.config/mpix-neighbor/loggp") if exists == "good" => Ok(preset("meiko_elan").to_string()),
                Some("/home/me/.config/mpix-neighbor/loggp") if exists == "bad" => Ok("latency = 1\ngap = fast".into()),
                Some("/config/mpix-neighbor/loggp") => Err(NotADirectory.into()),
                _ => Err(NotFound.into()),
            })
        };
        let (home, site) = (("HOME", "/home/me"), ("MPIX_LOGGP_FILE", "/site"));
        let known = Some(preset("intrepid"));
        let of = |h: Result<Hints>| h.map(|h| (h.machine(), h.loggp.is_some())).map_err(|e| e.to_string());
        let (info, env) = (("mpix_loggp", "meiko_split_c"), ("MPIX_LOGGP", "jaguar"));
        // all of them, then without the nearest each time
        assert_eq!(of(with(&[info], &[env, home, site], known, "good")), Ok((preset("jaguar"), true)));
        assert_eq!(of(with(&[info], &[home, site], known, "good")), Ok((preset("meiko_split_c"), true)));
        assert_eq!(of(with(&[], &[home, site], known, "good")), Ok((preset("intrepid"), true)));
        assert_eq!(of(with(&[], &[home, site], None, "good")), Ok((preset("big_red"), false)));
        assert_eq!(of(with(&[], &[home], None, "good")), Ok((preset("meiko_elan"), false)));
        for env in [&[home][..], &[], &[("XDG_CONFIG_HOME", "/config"), home], &[("XDG_CONFIG_HOME", "relative")]] {
            assert_eq!(of(with(&[], env, None, "none")), Ok((Loggp::default(), false)), "{env:?}");
        }
        assert_eq!(
            of(with(&[], &[home], None, "bad")).unwrap_err(),
            "the file /home/me/.config/mpix-neighbor/loggp is no file of LogGP parameters: line 2: gap is not a finite number of at least 0"
        );
        let e = of(with(&[], &[("MPIX_LOGGP_FILE", "/nowhere")], None, "none")).unwrap_err();
        assert!(e.starts_with("environment variable MPIX_LOGGP_FILE = \"/nowhere\" cannot be read: "), "{e}");
        // a broken file is not looked at where something nearer counts
        assert_eq!(of(with(&[], &[home], known, "bad")), Ok((preset("intrepid"), true)));
    }

    #[test]
    fn a_site_is_agreed_on_and_not_the_callers_word() {
        let site = Hints { site_loggp: Loggp::preset("meiko_elan"), ..Hints::default() };
        let said = Hints { loggp: Loggp::preset("meiko_elan"), ..Hints::default() };
        assert_eq!((site.machine(), site.tuning().startup), (said.machine(), said.tuning().startup));
        assert!(site.agreed() != said.agreed() && site.agreed() != Hints::default().agreed());
    }

    #[test]
    fn measuring_has_limits() {
        let read = |info: &[(&str, &str)], env: &[(&str, &str)]| {
            let get = |list: &[(&str, &str)], key: &str| list.iter().find(|e| e.0 == key).map(|e| e.1.to_string());
            Measuring::read(|k| Ok(get(info, k)), |k| get(env, k)).map_err(|e| e.to_string())
        };
        assert_eq!(read(&[], &[]), Ok(Measuring { seconds: 3.0, longest: 1048576 }));
        let both = [("mpix_loggp_seconds", "0.5"), ("mpix_loggp_bytes", "4096")];
        assert_eq!(read(&both, &[("MPIX_LOGGP_SECONDS", "1")]), Ok(Measuring { seconds: 1.0, longest: 4096 }));
        for bad in ["0", "-1", "NaN", "inf", "3601", "long", ""] {
            let e = read(&[("mpix_loggp_seconds", bad)], &[]).unwrap_err();
            assert_eq!(e, format!("info key mpix_loggp_seconds = \"{bad}\" is not one of 0.01 to 3600"));
        }
        assert!(read(&[], &[("MPIX_LOGGP_BYTES", "1023")]).unwrap_err().ends_with("is not one of 1024 to 1073741824"));
    }

    #[test]
    fn what_must_agree_differs() {
        let mut seen = Vec::new();
        for verify in ["true", "false"] {
            for name in ALGORITHMS.iter().map(|e| e.name).chain(["auto", "measure"]) {
                seen.push(read(&[("mpix_schedule", name), ("mpix_verify", verify)], &[]).unwrap().agreed());
            }
        }
        for (key, value) in [
            ("mpix_seed", "2"),
            ("mpix_split", "false"),
            ("mpix_duplex", "half"),
            ("mpix_weight_unit", "1"),
            ("mpix_loggp", "meiko_elan"),
            ("mpix_loggp", "jaguar"),
            ("mpix_graph_limit", "10"),
            ("mpix_whole_communicator", "true"),
            ("mpix_nodes", "2"),
            ("mpix_nodes", "2,0"),
            ("mpix_nodes", "0,2"),
        ] {
            seen.push(read(&[(key, value)], &[]).unwrap().agreed());
        }
        for (key, _) in [SCHEDULE, SPLIT, SEED, DUPLEX, WEIGHT_UNIT, LOGGP, GRAPH_LIMIT, VERIFY, WHOLE_COMMUNICATOR, NODES] {
            assert!(Hints::AGREED.contains(key), "{key}");
        }
        // one process may overlap its rounds and another not
        assert_eq!(read(&[("mpix_round_window", "3")], &[]).unwrap().agreed(), Hints::default().agreed());
        assert!(seen.iter().all(|&n| n >= 0));
        let n = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), n);
    }
}
