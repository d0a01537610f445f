//! Chooses schedules and protocols, and records why.
//!
//! This is the only place that makes such choices. A choice is made on one process and broadcast,
//! or derived from values that are equal on all processes, so that all make the same one.

#![forbid(unsafe_code)]

use crate::error::{Error, Result};
use crate::model::Loggp;
use crate::schedule::{ALGORITHMS, Algorithm, Build, Input, Operations, Sample, Stencil};
use crate::select::hints::{Decider, Hints, Learn, MOST_EDGES, ScheduleHint, Transport};

mod choice;
mod comparison;
pub mod hints;
mod protocol;
mod race;
#[cfg(test)]
mod tests;

pub use choice::{Candidate, Choice, Reason};
pub use comparison::{Case, Comparison, Directions, Nodes, compare, compare_sample, fastest};
pub use protocol::{Chooser, Class, Likeness, ProtocolChoice, ProtocolReason, UNMEASURED, time_code};
pub use race::Race;

/// Number of edges of a graph from which on candidates are simulated only if that pays.
const FEW_EDGES: u64 = 1 << 16;

/// Maximum number of edges of a graph for which candidates are simulated: process 0 needs 400 bytes
/// for each.
const MOST_SIMULATED: u64 = 1 << 21;

/// Maximum number of edges of the part of a grid that stands for all of it.
const SAMPLED: u64 = 1 << 14;

/// From how many bytes on the order of messages is tried although no sender waits for a receiver:
/// between hosts strict rounds of 8 KiB take 0.5 to 1.05 of the time of `direct`, those of 512 B
/// 0.9 to 1.8 times as long.
const QUEUED: u64 = 1 << 12;

/// Time to simulate the candidates, in microseconds for each edge; of a processor of 2022.
const SIMULATION: f64 = 8.0;

/// Number of calls in which a comparison must be able to pay: it may take as long as they do.
const CALLS: f64 = 100.0;

/// The next fact that setting a neighborhood must find out before the schedule is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Next {
    /// Nothing: the choice is made.
    Take(Choice),
    /// The predictions of the model for the graph of all processes, or for a part of it; or, if it
    /// is too large, what trial calls of the set call say.
    Compare,
    /// The times of all usable algorithms in the first calls.
    Try,
}

/// Returns true if a set call may time the schedules whose predicted times are close to one
/// another: processes of several nodes exchange blocks whose lengths the weights say, and the
/// parameters are those of this machine.
pub fn tries(hints: &Hints, outline: Outline) -> bool {
    let is_asked = hints.schedule == ScheduleHint::Auto && hints.loggp.is_none() && !hints.verify && !hints.devices;
    is_asked && !outline.one_node && outline.has_trial
}

/// Properties of the graph that are known without gathering it; equal on all processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outline {
    /// Edges between different processes.
    pub edges: u64,
    /// True if any process gave weights.
    pub weighted: bool,
    /// The largest weight of an edge.
    pub heaviest: u64,
    /// The largest sum of weights of the edges that leave a process, or that reach it.
    pub busiest: u64,
    /// True if all processes share a node.
    pub one_node: bool,
    /// The operations for which the neighborhood is set.
    pub operations: Operations,
    /// Number of nodes; 0 if nothing depends on it.
    pub nodes: u32,
    /// True if an operation has trial calls, whose blocks have room.
    pub has_trial: bool,
    /// True if trials have not taken too much time.
    pub affords_trial: bool,
}

/// The first step of a choice.
///
/// # Errors
/// The algorithm requested by a hint cannot be used.
pub fn select(hints: &Hints, input: &Input, outline: Outline) -> Result<Next> {
    match hints.decider() {
        Decider::Given(Algorithm::EdgeColoring) if outline.edges > graph_limit(hints) => {
            let why = Reason::Negotiated(outline.edges);
            Ok(Next::Take(Choice::new(Algorithm::DistributedColoring, why)))
        }
        Decider::Given(algorithm) => match unfit(algorithm, hints, input, outline) {
            None => Ok(Next::Take(Choice::new(algorithm, Reason::Asked))),
            Some(reason) => Err(Error::Schedule { schedule: algorithm.name(), reason: reason + &hints.who_asks() }.into()),
        },
        Decider::Times => Ok(Next::Try),
        Decider::Model => Ok(match reason_for_direct(hints, input, outline) {
            Some(Reason::Large(_)) if tries_large(hints, outline) => Next::Compare,
            Some(why) => Next::Take(Choice::new(Algorithm::Direct, why)),
            None => Next::Compare,
        }),
    }
}

/// Returns why the model need not be asked.
fn reason_for_direct(hints: &Hints, input: &Input, outline: Outline) -> Option<Reason> {
    if !is_sized(hints, outline) {
        return Some(Reason::Unweighted);
    }
    // where the order of messages does not matter, rounds could only add delays; but a tree shares
    // the work of a star's hub, and combining messages, on a grid or between nodes, makes fewer
    let combines =
        input.star.is_some() || input.stencil.is_some_and(Stencil::saves_messages) || gathers(input.processes, outline.nodes);
    let combines = combines && outline.edges > 0;
    match hints.known_machine() {
        Some(machine) if !combines && !order_matters(hints, machine, outline) => Some(Reason::Eager(machine.eager)),
        // in shared memory, only parameters of this machine give correct predictions
        _ if outline.one_node && !hints.describes_processes() => Some(Reason::OneNode),
        // for which none were measured
        None if outline.edges > graph_limit(hints) => Some(Reason::Large(outline.edges)),
        None => Some(Reason::Unknown),
        Some(_) => (!is_compared(hints, input.stencil, outline)).then_some(Reason::Large(outline.edges)),
    }
}

/// Returns true if the order of messages may matter: one of them waits for its receiver, or trial
/// calls can find out whether they fill the queues of the network, which strict rounds avoid.
fn order_matters(hints: &Hints, machine: &Loggp, outline: Outline) -> bool {
    let longest = longest(hints, outline);
    longest > machine.eager || longest >= QUEUED && may_be_strict(hints) && outline.affords_trial && asks_trial(hints, outline)
}

/// Returns true if trial calls compare schedules where the graph is too large for the model: they
/// can be made, the order of messages is known to matter, and a process has several.
fn tries_large(hints: &Hints, outline: Outline) -> bool {
    hints.known_machine().is_some_and(|machine| order_matters(hints, machine, outline)) && asks_trial(hints, outline)
}

/// The same without the machine.
fn asks_trial(hints: &Hints, outline: Outline) -> bool {
    tries(hints, outline) && outline.busiest > outline.heaviest
}

/// Returns the schedules for trial calls to compare where [`select`] says [`Next::Compare`] of a
/// graph that is too large for the model: `direct`, and rounds that no process plans for all.
/// `None` for others.
pub fn compare_large(hints: &Hints, stencil: Option<&Stencil>, outline: Outline) -> Option<Comparison> {
    let choice = Choice::new(Algorithm::Direct, Reason::Large(outline.edges));
    let mut close = vec![choice.candidate, Algorithm::DistributedColoring.into()];
    add_strict(hints, &mut close);
    (!is_compared(hints, stencil, outline)).then_some(Comparison { choice, close })
}

/// Bytes of the longest message, as the weights say.
fn longest(hints: &Hints, outline: Outline) -> u64 {
    hints.bytes(outline.heaviest)
}

/// Returns true if the sizes of messages are known.
fn is_sized(hints: &Hints, outline: Outline) -> bool {
    outline.weighted || hints.weight_unit.is_some()
}

/// The most edges of a graph that process 0 gathers.
fn graph_limit(hints: &Hints) -> u64 {
    hints.graph_limit.min(MOST_EDGES)
}

/// Returns true if a part of the grid stands for all of it when schedules are compared.
pub fn is_sampled(hints: &Hints, stencil: &Stencil, outline: Outline) -> bool {
    !is_gathered(hints, outline) && Sample::exists(stencil, SAMPLED)
}

/// Returns true if process 0 may gather the graph and simulate its candidates: that takes no longer
/// than the calls do for which the schedule is made, so far as is known before.
fn is_gathered(hints: &Hints, outline: Outline) -> bool {
    let pays = || {
        let costs = |machine: &Loggp| machine.transfer(hints.bytes(outline.busiest)) * CALLS;
        hints.known_machine().is_some_and(|machine| costs(machine) >= outline.edges as f64 * SIMULATION)
    };
    outline.edges <= graph_limit(hints).min(MOST_SIMULATED) && (outline.edges <= FEW_EDGES || pays())
}

/// Returns true if schedules are compared by the model where its parameters are known.
fn is_compared(hints: &Hints, stencil: Option<&Stencil>, outline: Outline) -> bool {
    is_gathered(hints, outline) || stencil.is_some_and(|stencil| is_sampled(hints, stencil, outline))
}

/// Returns true if the set call must find out the parameters of the machine: nobody gives them, and
/// the choice, or where the schedules cut messages, depends on them. A choice for a graph that is
/// too large to be gathered does on a grid, of which a part may stand for all, and where trial
/// calls can be made. Without an edge between processes there is nothing to choose.
pub fn asks_for_machine(hints: &Hints, outline: Outline, processes: u32, on_grid: bool) -> bool {
    let missing = match hints.learn {
        Learn::Never => false,
        Learn::IfUnknown => hints.known_machine().is_none() && !outline.one_node,
        Learn::Now => processes > 1,
    };
    let costs = |algorithm: Algorithm| matches!(algorithm.entry().build, Build::Global(_) | Build::Scatter(_));
    let depends = match hints.decider() {
        Decider::Given(algorithm) => costs(algorithm),
        Decider::Times => true,
        Decider::Model => outline.edges <= graph_limit(hints) || on_grid || asks_trial(hints, outline),
    };
    missing && depends && is_sized(hints, outline) && (outline.edges > 0 || hints.learn == Learn::Now)
}

/// The schedules whose times are compared in the first calls.
pub fn candidates(hints: &Hints, input: &Input, outline: Outline) -> Vec<Candidate> {
    let differs = |a: Algorithm| a != Algorithm::NodeAware || gathers(input.processes, outline.nodes);
    let fits = |&a: &Algorithm| differs(a) && unfit(a, hints, input, outline).is_none();
    let mut all = ALGORITHMS.iter().map(|e| e.algorithm).filter(fits).map(Candidate::from).collect();
    add_strict(hints, &mut all);
    all
}

/// Adds strict rounds to schedules that are compared by their times, where the window is left to
/// the library: nothing but time says whether messages of two rounds hold up each other. Only of
/// one of them: `edge_coloring`, else `distributed_coloring`, else the first one with rounds.
fn add_strict(hints: &Hints, all: &mut Vec<Candidate>) {
    if !may_be_strict(hints) {
        return;
    }
    let rank = |algorithm| match algorithm {
        Algorithm::EdgeColoring => 0,
        Algorithm::DistributedColoring => 1,
        _ => 2,
    };
    let rounds = all.iter().map(|candidate| candidate.algorithm).filter(|&algorithm| in_rounds(algorithm));
    all.extend(rounds.min_by_key(|&algorithm| rank(algorithm)).map(|algorithm| Candidate { algorithm, strict: true }));
}

/// Returns true if the library decides whether rounds overlap: nobody says it, and messages carry
/// the blocks.
fn may_be_strict(hints: &Hints) -> bool {
    hints.window.is_none() && hints.transport == Transport::Messages
}

/// Returns true if a schedule sends all messages straight to their targets, in several rounds.
fn in_rounds(algorithm: Algorithm) -> bool {
    algorithm != Algorithm::Direct && !algorithm.entry().forwards()
}

/// Returns why an algorithm cannot be used; `None` if it can.
fn unfit(algorithm: Algorithm, hints: &Hints, input: &Input, outline: Outline) -> Option<String> {
    let entry = algorithm.entry();
    let limit = graph_limit(hints);
    match entry.build {
        Build::Global(_) | Build::Nodes(_) if outline.edges > limit => Some(format!(
            "it needs the graph of all processes, whose {} edges are more than mpix_graph_limit = {limit}",
            outline.edges
        )),
        _ => forbidden(algorithm, hints, outline.operations, input.stencil).or((entry.unfit)(input)).map(Into::into),
    }
}

/// Returns true if the model must know which processes share a node: they share its links.
pub fn asks_for_sharing(hints: &Hints, stencil: Option<&Stencil>, outline: Outline) -> bool {
    hints.decider() == Decider::Model
        && !outline.one_node
        && is_sized(hints, outline)
        && is_compared(hints, stencil, outline)
        && hints.known_machine().is_some_and(|machine| machine.sharing.has_distances())
}

/// Returns true if rounds order the edges between nodes alone: processes of a node may share
/// memory.
pub fn leaves_out_nodes(hints: &Hints, outline: Outline) -> bool {
    hints.shares_memory() && (!outline.one_node || hints.nodes.is_some())
}

/// Returns true if such rounds are planned by process 0, or their times predicted.
pub fn orders_between_nodes(hints: &Hints, stencil: Option<&Stencil>, outline: Outline) -> bool {
    let makes_rounds = match hints.decider() {
        Decider::Given(algorithm) => matches!(algorithm.entry().build, Build::Global(_)),
        Decider::Times => true,
        Decider::Model => is_sized(hints, outline) && is_compared(hints, stencil, outline) && hints.known_machine().is_some(),
    };
    makes_rounds && leaves_out_nodes(hints, outline)
}

/// Returns true if `node_aware` may be chosen, which depends on the nodes of processes.
pub fn asks_for_nodes(hints: &Hints, outline: Outline) -> bool {
    let served = Algorithm::NodeAware.entry().unserved(outline.operations).is_none();
    hints.whole_communicator
        && served
        && match hints.decider() {
            Decider::Given(algorithm) => algorithm == Algorithm::NodeAware,
            Decider::Times => true,
            Decider::Model => is_sized(hints, outline),
        }
}

/// Returns true if there are several nodes, and fewer nodes than processes; otherwise `node_aware`
/// equals `direct`.
fn gathers(processes: u32, nodes: u32) -> bool {
    (2..processes).contains(&nodes)
}

/// Returns true if a star would be useful, so that the library looks for one: only trees use stars.
pub fn may_forward(hints: &Hints, outline: Outline) -> bool {
    hints.whole_communicator && Algorithm::ScatterOptimal.entry().unserved(outline.operations).is_none()
}

/// Returns true if a stencil would be useful, so that the library looks for one: if messages may be
/// combined.
pub fn may_combine(hints: &Hints, outline: Outline) -> bool {
    let served = Algorithm::Combining.entry().unserved(outline.operations).is_none();
    served
        && match hints.decider() {
            Decider::Given(algorithm) => algorithm == Algorithm::Combining,
            Decider::Times => true,
            Decider::Model => {
                is_sized(hints, outline) && hints.known_machine().is_some() && (!outline.one_node || hints.describes_processes())
            }
        }
}

/// Returns why an algorithm that forwards is not allowed.
fn forbidden(algorithm: Algorithm, hints: &Hints, operations: Operations, stencil: Option<&Stencil>) -> Option<&'static str> {
    let entry = algorithm.entry();
    // if there is no stencil, that is the reason
    let neighbors = matches!(entry.build, Build::Stencil(_)) && stencil.is_none_or(Stencil::closed);
    let unserved = entry.unserved(operations);
    if unserved.is_none() && entry.forwards() && hints.devices && hints.schedule != ScheduleHint::Only(algorithm) {
        return Some("it passes blocks on in the memory of the host, and a process may have them on a device");
    }
    if unserved.is_some() || !entry.forwards() || hints.whole_communicator || neighbors {
        return unserved;
    }
    Some(
        "blocks travel through processes that are not their source or target, for which mpix_whole_communicator=true must promise \
         that all processes make every call",
    )
}
