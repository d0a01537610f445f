//! The choice of the protocol of a sparse exchange: by the model first, and where a communicator
//! makes many exchanges of one kind, by their times.
//!
//! A chooser lives on each process. What goes into it is equal on all of them, so that all come to
//! the same choice without a word: loads and times are the largest of all processes, and travel
//! with the exchanges.

use std::fmt;

use crate::model::{Load, PROTOCOLS, Protocol, predict_exchange};
use crate::select::hints::SparseHints;

/// A protocol, and why.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProtocolChoice {
    /// The protocol.
    pub protocol: Protocol,
    /// Why.
    pub why: WhyProtocol,
}

/// Why a protocol was chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WhyProtocol {
    /// By the hint.
    Asked,
    /// By the model, for this load; predicted time in microseconds.
    Predicted(Load, f64),
    /// The MPI library's windows are not safe on this communicator, and `rsx` needs one.
    NoWindow,
    /// `inbox` needs memory that all processes share, and they do not.
    NoMemory,
    /// A nonblocking exchange cannot make what the other choice needs.
    Local,
    /// To measure it.
    Tried,
    /// By the times of exchanges like this one, in microseconds, of that of the model's choice too.
    Measured(f64, f64),
}

impl fmt::Display for WhyProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WhyProtocol::Asked => write!(f, "the hint mpix_sparse asks for it"),
            WhyProtocol::Predicted(load, time) => {
                write!(f, "by the model {time:.2} us for about {} messages of {} bytes a process", load.messages, load.bytes)
            }
            WhyProtocol::NoWindow => {
                write!(f, "instead of rsx: windows on parts of MPI_COMM_WORLD are not safe in Open MPI before version 5")
            }
            WhyProtocol::NoMemory => write!(f, "instead of inbox: not all processes share memory"),
            WhyProtocol::Local => write!(f, "a nonblocking exchange does not make a window or a map of nodes"),
            WhyProtocol::Tried => write!(f, "it has its turn, as protocols are being compared"),
            WhyProtocol::Measured(time, model) => {
                write!(f, "exchanges like the last one took {time:.2} us with it, {model:.2} us with the model's choice")
            }
        }
    }
}

/// What an exchange was like: binary digits of the most messages of a process, and of the most
/// bytes.
pub type Likeness = (u16, u16);

/// Exchanges that are alike, by number.
pub type Class = usize;

/// Whether one is like the other: neither number differs by more than one digit.
fn alike(a: Likeness, b: Likeness) -> bool {
    a.0.abs_diff(b.0) <= 1 && a.1.abs_diff(b.1) <= 1
}

/// Messages of a process, and bytes of each, where nothing is known yet.
const FIRST_MESSAGES: u32 = 8;
const FIRST_BYTES: u64 = 512;

/// Exchanges of a class that the model decides before others are tried: few exchanges are not worth
/// a trial.
const BEFORE_TRIAL: u32 = 16;

/// Each candidate has this many turns of [`IN_A_ROW`] exchanges, of which the first one does not
/// count.
const TURNS: usize = 6;
const IN_A_ROW: usize = 6;

/// A candidate is predicted to take at most so many times as long as the best one. The model does
/// not know what processes cost each other that share memory or cores.
const WORTH_A_TRY: f64 = 2.5;

/// Most classes that are remembered; in others the model decides.
const MOST_CLASSES: usize = 32;

/// The code of a time that was not measured: larger than all others, so that it is the largest if
/// one process did not measure.
pub const UNMEASURED: u16 = 2047;

/// Codes in a factor of two: a step is 2.2 %.
const STEPS: f64 = 32.0;

/// A time in microseconds, as a number of 11 bits.
pub fn time_code(microseconds: f64) -> u16 {
    ((microseconds * 1e3).max(1.0).log2() * STEPS).round().clamp(0.0, f64::from(UNMEASURED - 1)) as u16
}

fn microseconds(code: u16) -> f64 {
    (f64::from(code) / STEPS).exp2() / 1e3
}

/// The state of a class.
#[derive(Debug, Clone)]
struct Trial {
    /// The first one of the class.
    like: Likeness,
    exchanges: u32,
    /// The model's choice is the first one.
    candidates: Vec<Protocol>,
    /// Codes of the times of each, the first ones of turns left out.
    times: Vec<Vec<u16>>,
    /// The choice when all turns are over.
    outcome: Option<ProtocolChoice>,
}

/// Chooses for one communicator.
#[derive(Debug, Clone, Default)]
pub struct Chooser {
    trials: Vec<Trial>,
    /// The class of the last exchange.
    last: Class,
    /// The exchange whose time is still to come: class, candidate, whether it counts.
    timed: Option<(Class, usize, bool)>,
}

impl Chooser {
    /// The protocol of the next exchange. `load` and `like` are those of the exchange before;
    /// `like` is `None` if there was none. `shares`: whether all processes share memory. All of
    /// that is equal on all processes.
    pub fn choose(&mut self, hints: &SparseHints, load: &Load, like: Option<Likeness>, shares: bool) -> ProtocolChoice {
        self.timed = None;
        if let Some(protocol) = hints.protocol {
            return ProtocolChoice { protocol, why: WhyProtocol::Asked };
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
            ProtocolChoice { protocol, why: WhyProtocol::Predicted(load, time) }
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
            return ProtocolChoice { protocol: trial.candidates[candidate], why: WhyProtocol::Tried };
        }
        let medians: Vec<u16> = trial.times.iter_mut().map(|t| median(t)).collect();
        let (winner, least) = (medians.iter().copied().enumerate()).min_by_key(|m| m.1).expect("there are candidates");
        let outcome = if least == UNMEASURED {
            by_model()
        } else {
            let why = WhyProtocol::Measured(microseconds(least), microseconds(medians[0]));
            ProtocolChoice { protocol: trial.candidates[winner], why }
        };
        trial.outcome = Some(outcome);
        outcome
    }

    /// The class of an exchange like this one: the last one's if it is alike, so that sizes that
    /// vary around a power of two do not make two classes of one kind. `None`: there are too many.
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

    /// Whether the time of the exchange that has been chosen for is wanted.
    pub fn wants_time(&self) -> bool {
        self.timed.is_some_and(|t| t.2)
    }

    /// The choice that has just been made is not followed.
    pub fn forget(&mut self) {
        self.timed = None;
    }

    /// What the time of an exchange will be entered under, which is known only when the next one
    /// has told it.
    pub fn ticket(&self) -> Option<(Class, usize)> {
        self.timed.filter(|t| t.2).map(|(class, candidate, _)| (class, candidate))
    }

    /// Enters the time of an exchange, the largest of all processes.
    pub fn enter(&mut self, (class, candidate): (Class, usize), code: u16) {
        let times = self.trials.get_mut(class).and_then(|t| t.times.get_mut(candidate));
        if let (Some(times), true) = (times, code != UNMEASURED) {
            times.push(code);
        }
    }
}

/// The middle time; [`UNMEASURED`] if there is none.
fn median(times: &mut [u16]) -> u16 {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or(UNMEASURED)
}

/// Protocols that `auto` may take, with predicted times, the first choice first and the others from
/// the least time on. Not the MPI library's census, which tells nothing about the other processes;
/// remote summation only where it is predicted to be best, as it needs a window; nodes only where
/// there are several, with several processes. Inboxes only where processes share memory, and then
/// before all others: the model takes the others' messages for no dearer than a copy of their
/// bytes.
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
    list.sort_by(|a, b| (a.0 != Protocol::Inbox).cmp(&(b.0 != Protocol::Inbox)).then(a.1.total_cmp(&b.1)));
    let best = list[0].0;
    list.retain(|c| c.0 != Protocol::Rsx || best == Protocol::Rsx);
    list
}

/// Those of the candidates that are worth a trial: the first one, and all whose predicted times are
/// not far from the least.
fn worth_a_try(candidates: &[(Protocol, f64)]) -> Vec<Protocol> {
    let least = candidates.iter().map(|c| c.1).fold(f64::INFINITY, f64::min);
    let worth = candidates.iter().enumerate().filter(|(i, c)| *i == 0 || c.1 <= WORTH_A_TRY * least);
    worth.map(|(_, c)| c.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOAD: Load = Load { processes: 16, per_node: 16, messages: 6, bytes: 512 };

    /// Exchanges with times that a function gives: the protocols that were taken.
    fn run(chooser: &mut Chooser, like: Likeness, exchanges: usize, time: impl Fn(Protocol) -> f64) -> Vec<ProtocolChoice> {
        let mut taken = Vec::new();
        let mut known = None;
        for _ in 0..exchanges {
            let choice = chooser.choose(&SparseHints::default(), &LOAD, Some(like), false);
            // the time of the exchange before comes with this one
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
        assert_eq!((choice.protocol, choice.why), (Protocol::Rsx, WhyProtocol::Asked));
        let mut chooser = Chooser::default();
        let taken = run(&mut chooser, (3, 6), BEFORE_TRIAL as usize, |_| 1.0);
        let best = candidates(&SparseHints::default(), &LOAD, false)[0].0;
        assert!(taken.iter().all(|c| c.protocol == best && matches!(c.why, WhyProtocol::Predicted(..))));
    }

    #[test]
    fn the_fastest_candidate_stays() {
        let candidates = candidates(&SparseHints::default(), &LOAD, false);
        let worth = worth_a_try(&candidates);
        assert!(worth.len() > 2, "{candidates:?}");
        for &fastest in &worth {
            let mut chooser = Chooser::default();
            let taken = run(&mut chooser, (3, 12), 600, |p| if p == fastest { 10.0 } else { 12.0 });
            let trial: Vec<Protocol> = taken.iter().filter(|c| c.why == WhyProtocol::Tried).map(|c| c.protocol).collect();
            for p in &worth {
                assert_eq!(trial.iter().filter(|q| *q == p).count(), TURNS * IN_A_ROW);
            }
            let last = taken.last().unwrap();
            assert_eq!(last.protocol, fastest);
            assert!(matches!(last.why, WhyProtocol::Measured(..)), "{}", last.why);
            // another class begins anew
            let other = chooser.choose(&SparseHints::default(), &LOAD, Some((9, 12)), false);
            assert!(matches!(other.why, WhyProtocol::Predicted(..)));
        }
    }

    /// Where processes share memory inboxes come first, whatever the model has for the others;
    /// elsewhere never.
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
        assert!(choice.protocol == Protocol::Inbox && matches!(choice.why, WhyProtocol::Predicted(..)), "{}", choice.why);
    }

    /// The first candidate has its turns also where another one is predicted to take far less time,
    /// and that one too.
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
            assert!(!matches!(choice.why, WhyProtocol::Measured(..)));
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
