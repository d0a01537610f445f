//! Hints of neighborhoods and their collectives.

use std::cell::RefCell;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::machine::site_loggp;
use super::names::*;
use super::origins::{NEIGHBORHOOD, Origin, Origins, lines, short};
use super::value::{Learn, LoggpValue, TRUTH, Value, digest, find, note};
use crate::error::Result;
use crate::model::{Loggp, copies, puts};
use crate::schedule::{ALGORITHMS, Algorithm, FoldOrder, Tuning};
use crate::topology::nodes::Placement;

/// Maximum number of edges of a gathered graph, whatever the hint says: offsets in the scattered
/// data are `int` in MPI.
pub const MOST_EDGES: u64 = 1 << 27;

/// Minimum number of bytes for which shared memory is used.
pub const LEAST_SHARED: u64 = 1 << 16;

/// Bytes of shared memory without a hint, and if a process uses a device. Blocks in device memory
/// that are longer than a cell are then left to MPI, which may move them without going through host
/// memory; cells have 16 KiB in this case.
const DEFAULT_SHARED: u64 = 10 << 20;
const SHARED_WITH_DEVICES: u64 = 164 << 10;

/// The schedule that the caller wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScheduleHint {
    /// The library chooses by the model, and between nodes by trial calls too.
    Auto,
    /// The library chooses by the model alone.
    Model,
    /// The library chooses by timing the first calls.
    Measure,
    /// This algorithm; an error if it cannot be used.
    Only(Algorithm),
}

/// Who decides on the schedule of a set call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decider {
    /// The caller.
    Given(Algorithm),
    /// The times of the first calls.
    Times,
    /// The model, where it knows enough.
    Model,
}

/// The transport between processes that share no memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// Messages.
    Messages,
    /// Puts into windows, where they can be used.
    Rma,
    /// The one that is measured to be faster.
    Auto,
    /// The one that is measured to be faster for plans.
    AutoPlans,
}

/// How puts are synchronized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Synchronization {
    /// With an active target: the processes at both ends of an edge take part.
    Active,
    /// With a passive target: the process that puts says so in the other one's memory.
    Passive,
    /// With a barrier of all processes, which all have put before.
    Fence,
}

/// Which messages between processes of a node stay in the sender's memory, from where the receiver
/// copies them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SingleCopy {
    /// Those for which a measurement says that this is faster.
    Auto,
    /// Those that are longer than a cell of shared memory.
    AboveCell,
    /// Those of at least this many bytes.
    From(u64),
    /// Those that are longer than a cell, of started calls, whose sender is away.
    Away,
    /// None.
    Never,
}

impl SingleCopy {
    /// The least number of bytes.
    const LEAST: u64 = 4097;

    fn word(self) -> u64 {
        match self {
            SingleCopy::Auto => 0,
            SingleCopy::AboveCell => 1,
            SingleCopy::Never => 2,
            SingleCopy::Away => 3,
            SingleCopy::From(bytes) => bytes,
        }
    }
}

/// Properties of the machine that a set call found out. Ignored by comparisons: they follow from
/// the hints and the processes, and a neighborhood that is set with the same ones takes what there
/// is.
#[derive(Debug, Clone, Default)]
pub struct Learned {
    /// Its parameters.
    pub machine: Option<(Arc<Loggp>, Origin)>,
    /// Least bytes of a message that is copied once.
    pub single_copy: Option<(u64, Origin)>,
}

impl PartialEq for Learned {
    fn eq(&self, _: &Learned) -> bool {
        true
    }
}

/// All hints of a neighborhood.
#[derive(Debug, Clone, PartialEq)]
pub struct Hints {
    /// `mpix_schedule`: `auto` (default), `model`, `measure`, or an algorithm's name.
    pub schedule: ScheduleHint,
    /// `mpix_split`: true (default) if messages may be cut.
    pub split: bool,
    /// `mpix_seed`: seed of random choices (default 1).
    pub seed: u64,
    /// `mpix_duplex` = `half`: a process can either send or receive at a time (default `full`).
    pub half_duplex: bool,
    /// `mpix_round_window`: number of rounds that may have sends in flight (with 1, each round ends
    /// before the next begins). `None` (`auto`, default): 2, or 1 where that was measured to be
    /// faster.
    pub window: Option<u32>,
    /// `mpix_weight_unit`: number of bytes per unit of weight. `None`: not given.
    pub weight_unit: Option<u32>,
    /// `mpix_loggp`: parameters of the machine, a preset's name or a file; or those set on the
    /// communicator. `None`: not given.
    pub loggp: Option<Arc<Loggp>>,
    /// `mpix_loggp` = `auto` (default), `measure` or `none`: what a set call does without
    /// parameters.
    pub learn: Learn,
    /// Parameters from the site's file. They describe this machine, but not necessarily the
    /// processes of this communicator: processes that share a node may communicate much faster.
    pub site_loggp: Option<Arc<Loggp>>,
    /// Properties of the machine that the set call found out.
    pub learned: Learned,
    /// `mpix_graph_limit`: maximum number of edges of a graph that is gathered on process 0.
    pub graph_limit: u64,
    /// `mpix_reduce_order`: `source` (default) or `any`.
    pub reduce_order: FoldOrder,
    /// `mpix_fuse`: true if the blocks of several fields always travel as one message, false if
    /// never. `None` (`auto`, default): if the model predicts a gain.
    pub fuse: Option<bool>,
    /// `mpix_shared_memory`: maximum number of bytes of shared memory for the messages of an
    /// operation from one process to another on its node (default 10 MiB). Below [`LEAST_SHARED`],
    /// all messages go by MPI.
    pub shared_memory: u64,
    /// `mpix_single_copy`: which messages receivers copy from the sender's memory, where the kernel
    /// lets a process read another's: `auto` (default), `true`, `false` or a number of bytes.
    pub single_copy: SingleCopy,
    /// `mpix_transport`: `messages` (default), `rma`, `auto` or `auto_plans`.
    pub transport: Transport,
    /// `mpix_rma_synchronization`: `active` (default), `passive` or `fence`.
    pub rma_synchronization: Synchronization,
    /// `mpix_rma_straight`: from how many bytes on plans put messages straight to where they are
    /// received. `None` (`auto`, default): as measured.
    pub rma_straight: Option<u64>,
    /// `mpix_verify`: `false` (default) or `true`.
    pub verify: bool,
    /// `mpix_whole_communicator` = `true`: the caller promises that all processes of the
    /// communicator make every call, and that none of them waits for the completion of another's
    /// call before making its own (default `false`).
    pub whole_communicator: bool,
    /// `mpix_nodes`: treat processes as if they shared nodes in this way. `None`: the real nodes.
    pub nodes: Option<Placement>,
    /// Sources of the values.
    pub origins: Origins,
    /// Not a hint, but found out by the set call: true if a process uses a device, and so may have
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
            window: None,
            weight_unit: None,
            loggp: None,
            learn: Learn::default(),
            site_loggp: None,
            learned: Learned::default(),
            graph_limit: 1 << 24,
            reduce_order: FoldOrder::Source,
            fuse: None,
            shared_memory: DEFAULT_SHARED,
            single_copy: SingleCopy::Auto,
            transport: Transport::Messages,
            rma_synchronization: Synchronization::Active,
            rma_straight: None,
            verify: false,
            whole_communicator: false,
            nodes: None,
            origins: Origins::default(),
            devices: false,
        }
    }
}

impl Hints {
    /// Reads the hints. `info` and `env` return the value of a key or variable, `file` the text of
    /// a file.
    pub fn read(
        info: impl Fn(&str) -> Result<Option<String>>,
        env: impl Fn(&str) -> Option<String>,
        file: impl Fn(&Path) -> io::Result<String>,
    ) -> Result<Hints> {
        let mut hints = Hints::default();
        let given = RefCell::default();
        let value = |names| -> Result<_> { Ok(note(&given, find(names, &info, &env)?, names)) };
        if let Some(v) = value(SCHEDULE)? {
            hints.schedule = schedule_of(&v)?;
        }
        if let Some(v) = value(SPLIT)? {
            hints.split = v.choose(&TRUTH)?;
        }
        if let Some(v) = value(SEED)? {
            hints.seed = v.number(0..=u64::MAX)?;
        }
        if let Some(v) = value(DUPLEX)? {
            hints.half_duplex = v.choose(&[("full", false), ("half", true)])?;
        }
        if let Some(v) = value(ROUND_WINDOW)? {
            hints.window = round_window(&v)?;
        }
        if let Some(v) = value(WEIGHT_UNIT)? {
            hints.weight_unit = Some(v.small_number(1..=u32::MAX)?);
        }
        if let Some(v) = value(LOGGP)? {
            match v.loggp(file)? {
                LoggpValue::Given(parameters) => hints.loggp = Some(Arc::new(parameters)),
                LoggpValue::Learn(learn) => hints.learn = learn,
            }
        }
        if let Some(v) = value(GRAPH_LIMIT)? {
            hints.graph_limit = v.number(0..=MOST_EDGES)?;
        }
        if let Some(v) = value(REDUCE_ORDER)? {
            hints.reduce_order = v.choose(&[("source", FoldOrder::Source), ("any", FoldOrder::Any)])?;
        }
        if let Some(v) = value(FUSE)? {
            hints.fuse = fuse_of(&v)?;
        }
        if let Some(v) = value(SHARED_MEMORY)? {
            hints.shared_memory = v.number(0..=1 << 30)?;
        }
        if let Some(v) = value(SINGLE_COPY)? {
            hints.single_copy = single_copy(&v)?;
        }
        if let Some(v) = value(TRANSPORT)? {
            hints.transport = v.choose(&[
                ("messages", Transport::Messages),
                ("rma", Transport::Rma),
                ("auto", Transport::Auto),
                ("auto_plans", Transport::AutoPlans),
            ])?;
        }
        if let Some(v) = value(VERIFY)? {
            hints.verify = v.choose(&TRUTH)?;
        }
        if let Some(v) = value(WHOLE_COMMUNICATOR)? {
            hints.whole_communicator = v.choose(&TRUTH)?;
        }
        if let Some(v) = value(RMA_SYNCHRONIZATION)? {
            hints.rma_synchronization = synchronization(&v, hints.whole_communicator)?;
        }
        if let Some(v) = value(RMA_STRAIGHT)? {
            hints.rma_straight = straight(&v)?;
        }
        if let Some(v) = value(NODES)? {
            hints.nodes = Some(Placement::parse(&v.text).ok_or_else(|| v.wrong(Placement::TEXT.into()))?);
        }
        hints.origins = Origins(given.into_inner());
        Ok(hints)
    }

    /// If no hint says where the machine's parameters come from, takes those attached to the
    /// communicator (`known`), or else those of the site's file.
    ///
    /// # Errors
    /// As for [`site_loggp`].
    pub fn with_machine(
        mut self,
        known: Option<Loggp>,
        env: impl Fn(&str) -> Option<String>,
        file: impl Fn(&Path) -> io::Result<String>,
    ) -> Result<Hints> {
        if self.loggp.is_some() || self.learn != Learn::IfUnknown {
            return Ok(self);
        }
        if let Some(known) = known {
            self.machine_from(&known, Origin::Communicator);
            self.loggp = Some(Arc::new(known));
        } else if let Some(site) = site_loggp(env, file)? {
            self.machine_from(&site, Origin::File);
            self.site_loggp = Some(Arc::new(site));
        }
        Ok(self)
    }

    /// Takes parameters that the set call found out.
    pub fn learn_machine(&mut self, machine: impl Into<Arc<Loggp>>, origin: Origin) {
        let machine = machine.into();
        self.machine_from(&machine, origin);
        self.learned.machine = Some((machine, origin));
    }

    /// Returns a number that, except with probability of about 2^-62, differs if hints differ that
    /// must be equal on all processes: all but the order of reductions, and the window's value, of
    /// which only counts whether it is given.
    pub fn agreed(&self) -> i64 {
        digest(self.words(&self.machine()).map(|word| word.1))
    }

    /// The same for each hint, with its key.
    pub fn agreed_each(&self) -> [(&'static str, i64); NEIGHBORHOOD.len()] {
        let machine = self.machine();
        let words = |key| self.words(&machine).filter(move |word| word.0 == key).map(|word| word.1);
        NEIGHBORHOOD.map(|((key, _), _)| (key, digest(words(key))))
    }

    /// Names the part of a hint that must be equal on all processes, for errors.
    pub fn what_of(key: &str) -> String {
        match key {
            _ if key == ROUND_WINDOW.0 => format!("whether {key} is given"),
            _ if key == LOGGP.0 => format!("hint {key}, or a file of LogGP parameters,"),
            _ => format!("hint {key}"),
        }
    }

    /// The values that count for [`Hints::agreed`], each with the key of its hint. `m` are the
    /// machine's parameters in effect.
    fn words<'a>(&'a self, m: &'a Loggp) -> impl Iterator<Item = (&'static str, u64)> + 'a {
        let schedule = match self.schedule {
            ScheduleHint::Auto => 0,
            ScheduleHint::Measure => 1,
            ScheduleHint::Model => 2,
            ScheduleHint::Only(algorithm) => 3 + algorithm as u64,
        };
        let values = [
            (SCHEDULE, schedule),
            (SPLIT, self.split.into()),
            (SEED, self.seed),
            (DUPLEX, self.half_duplex.into()),
            // its value is each process's own
            (ROUND_WINDOW, self.window.is_some().into()),
            (WEIGHT_UNIT, self.weight_unit.map_or(0, |u| 1 + u64::from(u))),
            (LOGGP, m.latency.to_bits()),
            (LOGGP, m.overhead.to_bits()),
            (LOGGP, m.gap.to_bits()),
            (LOGGP, m.gap_per_byte.to_bits()),
            (LOGGP, m.eager),
            (GRAPH_LIMIT, self.graph_limit),
            (FUSE, self.fuse.map_or(0, |fuse| 1 + u64::from(fuse))),
            (VERIFY, self.verify.into()),
            (SHARED_MEMORY, self.shared_memory),
            (SINGLE_COPY, self.single_copy.word()),
            (LOGGP, self.loggp.is_some().into()),
            // a preset stands in for what is not known
            (LOGGP, self.known_machine().is_some().into()),
            (LOGGP, self.learn as u64),
            (WHOLE_COMMUNICATOR, self.whole_communicator.into()),
            (TRANSPORT, self.transport as u64),
            (RMA_SYNCHRONIZATION, self.rma_synchronization as u64),
            (RMA_STRAIGHT, self.rma_straight.unwrap_or(0)),
        ];
        let sharing = m.sharing.words().map(|word| (LOGGP, word));
        let nodes = self.nodes.iter().flat_map(Placement::words).map(|word| (NODES, word));
        values.into_iter().chain(sharing).chain(nodes).map(|((key, _), word)| (key, word))
    }

    /// Number of rounds that may have sends in flight, of schedules that let rounds overlap.
    pub fn rounds_in_flight(&self) -> u32 {
        self.window.unwrap_or(2)
    }

    /// Maximum number of bytes of shared memory for the messages of an operation to one process.
    pub fn shared_bytes(&self) -> u64 {
        if self.devices && self.shared_memory == DEFAULT_SHARED { SHARED_WITH_DEVICES } else { self.shared_memory }
    }

    /// True if processes of a node are to exchange blocks through memory that they share. Not where
    /// calls are verified: neighbors may call different collectives then, which shared rings do not
    /// survive.
    pub fn shares_memory(&self) -> bool {
        !self.verify && self.shared_bytes() >= LEAST_SHARED
    }

    /// The parameters of the machine, if they are known.
    pub fn known_machine(&self) -> Option<&Loggp> {
        let learned = self.learned.machine.as_ref().map(|found| &found.0);
        self.loggp.as_ref().or(self.site_loggp.as_ref()).or(learned).map(|machine| &**machine)
    }

    /// True if the parameters are those of this communicator's processes, wherever they are:
    /// somebody says so, or has them measured.
    pub fn describes_processes(&self) -> bool {
        self.loggp.is_some() || (self.learn == Learn::Now && self.learned.machine.is_some())
    }

    /// The parameters of the machine. Those of a preset stand in for unknown ones where a schedule
    /// that a hint asks for cuts messages, and for the costs of joining fields; they choose none.
    pub fn machine(&self) -> Loggp {
        self.known_machine().copied().unwrap_or_default()
    }

    /// Bytes of a unit of weight; 1 if nobody says.
    pub fn unit(&self) -> u32 {
        self.weight_unit.unwrap_or(1)
    }

    /// Bytes that have this weight.
    pub fn bytes(&self, weight: u64) -> u64 {
        weight.saturating_mul(self.unit().into())
    }

    /// Who decides on the schedule. Verification changes the times.
    pub fn decider(&self) -> Decider {
        match self.schedule {
            ScheduleHint::Only(algorithm) => Decider::Given(algorithm),
            ScheduleHint::Measure if !self.verify => Decider::Times,
            ScheduleHint::Measure | ScheduleHint::Auto | ScheduleHint::Model => Decider::Model,
        }
    }

    /// Parameters for the schedule builders.
    pub fn tuning(&self) -> Tuning {
        Tuning {
            seed: self.seed,
            startup: self.machine().startup_bytes() / f64::from(self.unit()),
            split: self.split,
            half_duplex: self.half_duplex,
            costs: self.machine().costs(self.unit()),
            ..Tuning::default()
        }
    }
}

impl Hints {
    /// Two lines: the hints in effect, and their sources.
    pub fn describe(&self) -> String {
        let mut origins = self.origins.0.clone();
        let found = self.learned.single_copy;
        origins.extend(found.map(|(from, origin)| (SINGLE_COPY.0, copies::text(from), origin)));
        lines(&NEIGHBORHOOD, &origins)
    }

    /// Says that the environment asks for the schedule, which is not seen in the program; nothing
    /// if it does not.
    pub fn who_asks(&self) -> String {
        match self.origins.0.iter().rfind(|given| given.0 == SCHEDULE.0) {
            Some((_, _, Origin::Environment)) => format!(" (the environment variable {} asks for it)", SCHEDULE.1),
            _ => String::new(),
        }
    }

    /// Records the source of the machine's parameters if no hint gives them.
    fn machine_from(&mut self, machine: &Loggp, origin: Origin) {
        self.origins.0.push((LOGGP.0, short(machine), origin));
    }
}

/// `mpix_match` of a persistent collective: returns true if its starts match only each other
/// (`plan`), regardless of other starts; false if they match all starts in order (`start`,
/// default).
pub fn matches_alone(info: impl Fn(&str) -> Result<Option<String>>) -> Result<bool> {
    let value = find((MATCH, ""), info, |_| None)?;
    Ok(value.map(|v| v.choose(&[("start", false), ("plan", true)])).transpose()?.unwrap_or(false))
}

/// `mpix_fuse`, as in [`Hints`]; `None` if it is not given.
pub fn fuse(info: impl Fn(&str) -> Result<Option<String>>, env: impl Fn(&str) -> Option<String>) -> Result<Option<Option<bool>>> {
    find(FUSE, info, env)?.map(|v| fuse_of(&v)).transpose()
}

fn fuse_of(value: &Value) -> Result<Option<bool>> {
    let mut allowed = vec![("auto", None)];
    allowed.extend(TRUTH.map(|(text, value)| (text, Some(value))));
    value.choose(&allowed)
}

fn schedule_of(value: &Value) -> Result<ScheduleHint> {
    let mut allowed = vec![("auto", ScheduleHint::Auto), ("model", ScheduleHint::Model), ("measure", ScheduleHint::Measure)];
    allowed.extend(ALGORITHMS.iter().map(|e| (e.name, ScheduleHint::Only(e.algorithm))));
    value.choose(&allowed)
}

fn round_window(value: &Value) -> Result<Option<u32>> {
    match value.text.trim() {
        "auto" => Ok(None),
        _ => match value.small_number(1..=u32::MAX) {
            Ok(rounds) => Ok(Some(rounds)),
            Err(_) => Err(value.wrong(format!("auto, 1 to {}", u32::MAX))),
        },
    }
}

fn single_copy(value: &Value) -> Result<SingleCopy> {
    let mut words = vec![("auto", SingleCopy::Auto), ("away", SingleCopy::Away)];
    words.extend(TRUTH.map(|(text, value)| (text, if value { SingleCopy::AboveCell } else { SingleCopy::Never })));
    // a description says so of a machine where that was measured
    words.push(("never", SingleCopy::Never));
    value.bytes_or_word(SingleCopy::LEAST, SingleCopy::From, &words)
}

/// `promised`: all processes make every call.
fn synchronization(value: &Value, promised: bool) -> Result<Synchronization> {
    use Synchronization::{Active, Fence, Passive};
    let chosen = value.choose(&[("active", Active), ("passive", Passive), ("fence", Fence)])?;
    if chosen == Fence && !promised {
        let promise = "fence needs the promise mpix_whole_communicator=true that all processes make every call";
        return Err(value.wrong(format!("active, passive ({promise})")));
    }
    Ok(chosen)
}

fn straight(value: &Value) -> Result<Option<u64>> {
    let words = [("auto", None), ("false", Some(puts::NEVER)), ("0", Some(puts::NEVER))];
    value.bytes_or_word(puts::LEAST_STRAIGHT, Some, &words)
}
