//! The hints of neighborhoods and their collectives.

use std::cell::RefCell;
use std::io;
use std::path::Path;

use super::machine::site_loggp;
use super::names::*;
use super::origins::{NEIGHBORHOOD, Origin, Origins, lines, short};
use super::value::{TRUTH, digest, find, note};
use crate::error::Result;
use crate::model::Loggp;
use crate::schedule::{ALGORITHMS, Algorithm, FoldOrder, Tuning};
use crate::topology::nodes::Placement;

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

impl Hints {
    /// Two lines: the hints in effect, and where they come from.
    pub fn describe(&self) -> String {
        lines(&NEIGHBORHOOD, &self.origins.0)
    }

    /// Notes where the machine's parameters come from, which no hint says.
    fn machine_from(&mut self, machine: &Loggp, origin: Origin) {
        self.origins.0.push((LOGGP.0, short(machine), origin));
    }
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
