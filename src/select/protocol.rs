//! Chooses the protocol of a sparse exchange: first by the model, and if a communicator makes many
//! similar exchanges, by their times.
//!
//! Each process has a chooser. Its inputs are equal on all processes, so that all make the same
//! choice without communication: loads and times are maxima over all processes, and travel with the
//! exchanges.

use std::fmt;

use crate::model::{Load, PROTOCOLS, Protocol, overflow_inbox, predict_exchange};
use crate::select::hints::SparseHints;
use crate::util::cast::{to_int, whole};

/// A protocol and the reason for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProtocolChoice {
    /// The protocol.
    pub protocol: Protocol,
    /// The reason.
    pub why: ProtocolReason,
}

/// Why a protocol was chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ProtocolReason {
    /// A hint asks for it.
    Asked,
    /// The model, for this load; predicted time in microseconds.
    Predicted(Load, f64),
    /// The MPI library's windows are not safe on this communicator, and `rsx` needs one.
    NoWindow,
    /// `inbox` needs memory shared by all processes, and there is none.
    NoMemory,
    /// A nonblocking exchange cannot create what the other choice needs.
    Local,
    /// A trial, to measure it.
    Tried,
    /// Times of similar exchanges in microseconds: its own, and that of the model's choice, if that
    /// could be had.
    Measured(f64, Option<f64>),
}

impl fmt::Display for ProtocolReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProtocolReason::Asked => write!(f, "the hint mpix_sparse asks for it"),
            ProtocolReason::Predicted(load, time) => {
                write!(f, "by the model {time:.2} us for about {} messages of {} bytes a process", load.messages, load.bytes)
            }
            ProtocolReason::NoWindow => {
                write!(f, "instead of rsx: windows on parts of MPI_COMM_WORLD are not safe in Open MPI before version 5")
            }
            ProtocolReason::NoMemory => write!(f, "instead of inbox: not all processes share memory"),
            ProtocolReason::Local => write!(f, "a nonblocking exchange does not make a window or a map of nodes"),
            ProtocolReason::Tried => write!(f, "it has its turn, as protocols are being compared"),
            ProtocolReason::Measured(time, model) => {
                write!(f, "exchanges like the last one took {time:.2} us with it")?;
                model.map_or(Ok(()), |model| write!(f, ", {model:.2} us with the model's choice"))
            }
        }
    }
}

/// Size of an exchange: number of binary digits of the maximum number of messages per process, and
/// of the maximum number of bytes.
pub type Likeness = (u16, u16);

/// A class of similar exchanges, by number.
pub type Class = usize;

/// Returns true if two exchanges are similar: neither number differs by more than one digit.
fn alike(a: Likeness, b: Likeness) -> bool {
    a.0.abs_diff(b.0) <= 1 && a.1.abs_diff(b.1) <= 1
}

/// Assumed messages per process, and bytes of each, before anything is known.
const FIRST_MESSAGES: u32 = 8;
const FIRST_BYTES: u64 = 512;

/// Exchanges of a class for which the model decides before others are tried: a few exchanges are
/// not worth a trial.
const BEFORE_TRIAL: u32 = 16;

/// Each candidate has this many turns of [`IN_A_ROW`] exchanges, the first of which does not count.
const TURNS: usize = 6;
const IN_A_ROW: usize = 6;

/// Maximum ratio of a candidate's predicted time to the best one. The model does not know how much
/// processes slow each other down when they share memory or cores.
const WORTH_A_TRY: f64 = 2.5;

/// Maximum number of classes that are remembered; for others the model decides.
const MOST_CLASSES: usize = 32;

/// The code of a time that was not measured: larger than all others, so that it is the maximum if
/// any process did not measure.
pub const UNMEASURED: u16 = 2047;

/// Number of codes per factor of two: a step is 2.2 %.
const STEPS: f64 = 32.0;

/// Encodes a time in microseconds as a number of 11 bits.
pub fn time_code(microseconds: f64) -> u16 {
    to_int(whole(((microseconds * 1e3).max(1.0).log2() * STEPS).round().clamp(0.0, f64::from(UNMEASURED - 1))))
}

fn microseconds(code: u16) -> f64 {
    (f64::from(code) / STEPS).exp2() / 1e3
}

/// The state of a class.
#[derive(Debug, Clone)]
struct Trial {
    /// Size of the first exchange of the class.
    like: Likeness,
    exchanges: u32,
    /// The candidates, the model's choice first.
    candidates: Vec<Protocol>,
    /// Codes of the times of each candidate, without the first of each turn.
    times: Vec<Vec<u16>>,
    /// The final choice after all turns.
    outcome: Option<ProtocolChoice>,
}

/// Chooses protocols for one communicator.
#[derive(Debug, Clone, Default)]
pub struct Chooser {
    trials: Vec<Trial>,
    /// The class of the last exchange.
    last: Class,
    /// The exchange whose time is pending: class, candidate, and true if it counts.
    timed: Option<(Class, usize, bool)>,
}

impl Chooser {
    /// Chooses the protocol of the next exchange. `load` and `like` are those of the previous
    /// exchange; `like` is `None` if there was none. `shares`: true if all processes share memory.
    /// All arguments are equal on all processes.
    #[expect(clippy::missing_panics_doc, reason = "a trial has candidates")]
    pub fn choose(&mut self, hints: &SparseHints, load: &Load, like: Option<Likeness>, shares: bool) -> ProtocolChoice {
        self.timed = None;
        if let Some(protocol) = hints.protocol {
            return ProtocolChoice { protocol, why: ProtocolReason::Asked };
        }
        let mut load = *load;
        if like.is_none() {
            (load.messages, load.bytes) = (FIRST_MESSAGES.min(load.processes), FIRST_BYTES);
        }
        if let Some(targets) = hints.targets {
            load.messages = targets;
        }
        let by_model = || {
            let (protocol, time) = candidates(hints, &load, shares)[0];
            ProtocolChoice { protocol, why: ProtocolReason::Predicted(load, time) }
        };
        let Some(class) = like.and_then(|like| self.class(like)) else {
            return by_model();
        };
        let trial = &mut self.trials[class];
        if let Some(outcome) = trial.outcome {
            return outcome;
        }
        trial.exchanges += 1;
        if trial.exchanges <= BEFORE_TRIAL {
            return by_model();
        }
        if trial.candidates.is_empty() {
            trial.candidates = worth_a_try(&candidates(hints, &load, shares));
            trial.times = vec![Vec::new(); trial.candidates.len()];
        }
        let nth = (trial.exchanges - BEFORE_TRIAL - 1) as usize;
        let turn = nth / IN_A_ROW;
        if turn < TURNS * trial.candidates.len() && trial.candidates.len() > 1 {
            let candidate = turn % trial.candidates.len();
            self.timed = Some((class, candidate, !nth.is_multiple_of(IN_A_ROW)));
            return ProtocolChoice { protocol: trial.candidates[candidate], why: ProtocolReason::Tried };
        }
        let medians: Vec<u16> = trial.times.iter_mut().map(|t| median(t)).collect();
        let (winner, least) = (medians.iter().copied().enumerate()).min_by_key(|m| m.1).expect("there are candidates");
        let outcome = if least == UNMEASURED {
            by_model()
        } else {
            let model = (medians[0] != UNMEASURED).then(|| microseconds(medians[0]));
            let why = ProtocolReason::Measured(microseconds(least), model);
            ProtocolChoice { protocol: trial.candidates[winner], why }
        };
        trial.outcome = Some(outcome);
        outcome
    }

    /// Returns the class of an exchange of this size: that of the last exchange if they are
    /// similar, so that sizes that vary around a power of two stay in one class. `None` if there
    /// are too many classes.
    fn class(&mut self, like: Likeness) -> Option<Class> {
        let fits = |t: &Trial| alike(t.like, like);
        if !self.trials.get(self.last).is_some_and(fits) {
            self.last = match self.trials.iter().position(fits) {
                Some(class) => class,
                None if self.trials.len() == MOST_CLASSES => return None,
                None => {
                    self.trials.push(Trial { like, exchanges: 0, candidates: vec![], times: vec![], outcome: None });
                    self.trials.len() - 1
                }
            };
        }
        Some(self.last)
    }

    /// Returns true if the time of the current exchange is needed.
    pub fn wants_time(&self) -> bool {
        self.timed.is_some_and(|t| t.2)
    }

    /// Discards the last choice, which is not followed.
    pub fn forget(&mut self) {
        self.timed = None;
    }

    /// Returns the key under which the time of an exchange is entered, once the next exchange has
    /// communicated it.
    pub fn ticket(&self) -> Option<(Class, usize)> {
        self.timed.filter(|t| t.2).map(|(class, candidate, _)| (class, candidate))
    }

    /// Enters the time of an exchange, the maximum over all processes.
    pub fn enter(&mut self, (class, candidate): (Class, usize), code: u16) {
        let times = self.trials.get_mut(class).and_then(|t| t.times.get_mut(candidate));
        if let (Some(times), true) = (times, code != UNMEASURED) {
            times.push(code);
        }
    }
}

/// The median time; [`UNMEASURED`] if there is none.
fn median(times: &mut [u16]) -> u16 {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or(UNMEASURED)
}

/// Protocols that `auto` may choose, with predicted times, the first choice first and the others by
/// increasing time. Excluded are the MPI library's census, which reveals nothing about the other
/// processes; remote summation, unless it is predicted to be best, because it needs a window; and
/// `nbx_node`, unless there are several nodes with several processes. Inboxes require shared
/// memory, and precede all others unless short messages do not fit: for the model, the messages of
/// the others cost no more than a copy of their bytes.
fn candidates(hints: &SparseHints, load: &Load, shares: bool) -> Vec<(Protocol, f64)> {
    let machine = hints.loggp.unwrap_or_default();
    let nodes = load.per_node > 1 && load.per_node < load.processes;
    let fits = |p: Protocol| match p {
        Protocol::PcxLibrary => false,
        Protocol::NbxNode => nodes,
        Protocol::Inbox => shares,
        _ => true,
    };
    let mut list: Vec<(Protocol, f64)> = (PROTOCOLS.iter())
        .filter(|e| fits(e.protocol))
        .map(|e| (e.protocol, predict_exchange(e.protocol, &machine, load)))
        .collect();
    let leads = |p: Protocol| p == Protocol::Inbox && !overflow_inbox(load.messages, load.bytes);
    list.sort_by(|a, b| (!leads(a.0)).cmp(&!leads(b.0)).then(a.1.total_cmp(&b.1)));
    let best = list[0].0;
    list.retain(|c| c.0 != Protocol::Rsx || best == Protocol::Rsx);
    list
}

/// The candidates worth a trial: the first one, and all whose predicted times are close to the
/// minimum.
fn worth_a_try(candidates: &[(Protocol, f64)]) -> Vec<Protocol> {
    let least = candidates.iter().map(|c| c.1).fold(f64::INFINITY, f64::min);
    let worth = candidates.iter().enumerate().filter(|(i, c)| *i == 0 || c.1 <= WORTH_A_TRY * least);
    worth.map(|(_, c)| c.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Loggp;

    const LOAD: Load = Load { processes: 16, per_node: 16, messages: 6, bytes: 512 };

    /// Runs exchanges with times given by a function, and returns the protocols that were chosen.
    fn run(chooser: &mut Chooser, like: Likeness, exchanges: usize, time: impl Fn(Protocol) -> f64) -> Vec<ProtocolChoice> {
        let mut taken = Vec::new();
        let mut known = None;
        for _ in 0..exchanges {
            let choice = chooser.choose(&SparseHints::default(), &LOAD, Some(like), false);
            // the time of the previous exchange arrives with this one
            if let Some((ticket, code)) = known.take() {
                chooser.enter(ticket, code);
            }
            known = chooser.ticket().map(|ticket| (ticket, time_code(time(choice.protocol))));
            taken.push(choice);
        }
        taken
    }

    #[test]
    fn times_survive_their_codes() {
        for us in [0.001, 0.5, 1.0, 33.3, 1e4, 1e6] {
            assert!((microseconds(time_code(us)) / us - 1.0).abs() < 0.012, "{us}");
        }
        assert_eq!(time_code(0.0), 0);
        assert_eq!(time_code(1e300), UNMEASURED - 1);
    }

    #[test]
    fn hints_decide_and_the_model_begins() {
        let hints = SparseHints { protocol: Some(Protocol::Rsx), ..SparseHints::default() };
        let choice = Chooser::default().choose(&hints, &LOAD, None, false);
        assert_eq!((choice.protocol, choice.why), (Protocol::Rsx, ProtocolReason::Asked));
        let mut chooser = Chooser::default();
        let taken = run(&mut chooser, (3, 6), BEFORE_TRIAL as usize, |_| 1.0);
        let best = candidates(&SparseHints::default(), &LOAD, false)[0].0;
        assert!(taken.iter().all(|c| c.protocol == best && matches!(c.why, ProtocolReason::Predicted(..))));
    }

    /// On Jaguar the crystal router is fastest; in a tie the order is that of the table.
    #[test]
    fn the_model_orders_candidates() {
        let load = Load { processes: 64, per_node: 8, messages: 6, bytes: 512 };
        let by = |machine| candidates(&SparseHints { loggp: Some(machine), ..SparseHints::default() }, &load, false);
        let jaguar = by(Loggp::preset("jaguar").unwrap());
        assert_eq!(jaguar[0].0, Protocol::Crystal);
        assert!(jaguar.is_sorted_by(|a, b| a.1 <= b.1), "{jaguar:?}");
        let free = Loggp { latency: 0.0, overhead: 0.0, gap: 0.0, gap_per_byte: 0.0, ..Loggp::default() };
        let left_out = [Protocol::Rsx, Protocol::PcxLibrary, Protocol::Inbox];
        let table: Vec<_> = PROTOCOLS.iter().map(|e| (e.protocol, 0.0)).filter(|c| !left_out.contains(&c.0)).collect();
        assert_eq!(by(free), table);
    }

    #[test]
    fn inboxes_come_first_unless_they_overflow() {
        let first = |messages, bytes| candidates(&SparseHints::default(), &Load { messages, bytes, ..LOAD }, true)[0].0;
        assert_eq!(first(6, 512), Protocol::Inbox);
        assert_eq!(first(10_000, 8), Protocol::Inbox);
        assert_ne!(first(30_000, 8), Protocol::Inbox);
    }

    #[test]
    fn what_could_not_be_measured_is_not_told() {
        let load = Load { processes: 1024, per_node: 64, messages: 500, bytes: 1000 };
        assert_eq!(candidates(&SparseHints::default(), &load, false)[0].0, Protocol::NbxNode);
        let (mut chooser, mut known, mut last) = (Chooser::default(), None, None);
        for _ in 0..600 {
            let choice = chooser.choose(&SparseHints::default(), &load, Some((9, 19)), false);
            if let Some((ticket, code)) = known.take() {
                chooser.enter(ticket, code);
            }
            // as where all exchanges are nonblocking
            if choice.protocol == Protocol::NbxNode {
                chooser.forget();
            }
            known = chooser.ticket().map(|ticket| (ticket, time_code(10.0)));
            last = Some(choice.why);
        }
        assert!(matches!(last, Some(ProtocolReason::Measured(_, None))), "{last:?}");
    }

    #[test]
    fn the_fastest_candidate_stays() {
        let candidates = candidates(&SparseHints::default(), &LOAD, false);
        let worth = worth_a_try(&candidates);
        assert!(worth.len() > 2, "{candidates:?}");
        for &fastest in &worth {
            let mut chooser = Chooser::default();
            let taken = run(&mut chooser, (3, 12), 600, |p| if p == fastest { 10.0 } else { 12.0 });
            let trial: Vec<Protocol> = taken.iter().filter(|c| c.why == ProtocolReason::Tried).map(|c| c.protocol).collect();
            for p in &worth {
                assert_eq!(trial.iter().filter(|q| *q == p).count(), TURNS * IN_A_ROW);
            }
            let last = taken.last().unwrap();
            assert_eq!(last.protocol, fastest);
            assert!(matches!(last.why, ProtocolReason::Measured(..)), "{}", last.why);
            // another class starts from scratch
            let other = chooser.choose(&SparseHints::default(), &LOAD, Some((9, 12)), false);
            assert!(matches!(other.why, ProtocolReason::Predicted(..)));
        }
    }

    /// If processes share memory, inboxes that have room come first, whatever the model predicts
    /// for the others; otherwise they are never chosen.
    #[test]
    fn inboxes_begin_where_memory_is_shared() {
        for (messages, bytes) in [(0, 0), (1, 8), (6, 512), (50, 64), (6, 1 << 20)] {
            for processes in [2, 16, 100] {
                let load = Load { processes, per_node: processes, messages, bytes };
                let with = candidates(&SparseHints::default(), &load, true);
                assert_eq!(with[0].0, Protocol::Inbox);
                assert!(with[1..].is_sorted_by(|a, b| a.1 <= b.1));
                let without = candidates(&SparseHints::default(), &load, false);
                assert_eq!(with[1..], without.iter().filter(|c| c.0 != Protocol::Rsx).copied().collect::<Vec<_>>()[..]);
                assert_eq!(worth_a_try(&with)[0], Protocol::Inbox);
            }
        }
        let choice = Chooser::default().choose(&SparseHints::default(), &LOAD, None, true);
        assert!(choice.protocol == Protocol::Inbox && matches!(choice.why, ProtocolReason::Predicted(..)), "{}", choice.why);
    }

    /// The first candidate has its turns even if another is predicted to be much faster, and so has
    /// that one.
    #[test]
    fn the_first_and_the_least_are_worth_a_try() {
        let list = [(Protocol::Inbox, 9.0), (Protocol::Crystal, 1.0), (Protocol::Pex, 2.5), (Protocol::Nbx, 2.6)];
        assert_eq!(worth_a_try(&list), [Protocol::Inbox, Protocol::Crystal, Protocol::Pex]);
    }

    #[test]
    fn without_times_the_model_stays() {
        let mut chooser = Chooser::default();
        for _ in 0..400 {
            let choice = chooser.choose(&SparseHints::default(), &LOAD, Some((3, 6)), false);
            if let Some(ticket) = chooser.ticket() {
                chooser.enter(ticket, UNMEASURED);
            }
            assert!(!matches!(choice.why, ProtocolReason::Measured(..)));
        }
    }

    #[test]
    fn classes_are_bounded() {
        let mut chooser = Chooser::default();
        for i in 0..1000 {
            chooser.choose(&SparseHints::default(), &LOAD, Some((i, i)), false);
        }
        assert_eq!(chooser.trials.len(), MOST_CLASSES);
    }

    #[test]
    fn sizes_around_a_power_of_two_are_one_class() {
        let mut chooser = Chooser::default();
        for i in 0..1000 {
            chooser.choose(&SparseHints::default(), &LOAD, Some((3, 11 + i % 2)), false);
        }
        assert_eq!(chooser.trials.len(), 1);
        chooser.choose(&SparseHints::default(), &LOAD, Some((3, 14)), false);
        assert_eq!(chooser.trials.len(), 2);
    }
}
