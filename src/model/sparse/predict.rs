//! The predicted time of each protocol.

use super::phases::*;
use super::protocol::{CONTROL_BYTES, INBOX_LONG, INBOX_ROOM, Load, POSTED_BYTES, PROTOCOLS, Protocol, WORD_BYTES, rounds};
use crate::model::Loggp;

/// A crystal router among `processes`, each of which has `messages` messages at any time: in each
/// round about half of them travel together, each behind a header.
fn crystal(machine: &Loggp, processes: u32, messages: u32, bytes: u64) -> f64 {
    let all = bytes.saturating_add(CONTROL_BYTES).saturating_mul(u64::from(messages));
    f64::from(rounds(processes)) * round(machine, all.div_ceil(2))
}

/// NBX among `processes`, each of which sends `k` messages into receives that are posted ahead.
fn nbx(machine: &Loggp, processes: u32, k: f64, bytes: u64) -> f64 {
    let travel = if bytes > POSTED_BYTES { ANNOUNCED } else { synchronous(machine, bytes) };
    exchange(machine, k, bytes, travel, 0.0) + barrier(machine, processes)
}

/// Inboxes: all bytes pass once, and one message's way tells that they are there; or what is too
/// much travels as plain messages.
fn inbox(machine: &Loggp, messages: u32, bytes: u64) -> f64 {
    let all = bytes.saturating_add(CONTROL_BYTES).saturating_mul(u64::from(messages));
    let gate = (machine.latency + 2.0 * machine.overhead).max(machine.gap);
    let fits = bytes <= INBOX_LONG && all <= INBOX_ROOM;
    gate + if fits { machine.transfer(all) } else { exchange(machine, messages.into(), bytes, plain(machine, bytes), 1.0) }
}

/// Predicted time of an exchange in microseconds, from a common start until the last process has
/// all its messages and knows it. With the parts of the module, P processes, k messages of b bytes:
///
/// | protocol | time |
/// | --- | --- |
/// | `nbx` | exchange of k, acknowledged (rendezvous above `eager` bytes, announced above [`POSTED_BYTES`]); barrier: ceil(log2 P) rounds |
/// | `nbx_probe` | the same with a probe for each message, never announced |
/// | `nbx_node` | `nbx` with one message for each other node that a process sends to; then `crystal` among the processes of a node |
/// | `pex` | alltoall of 8-byte words; exchange of k |
/// | `pcx`, `pcx_library` | recursive halving of P counters of 4 bytes; exchange of k with a probe for each |
/// | `rsx` | exchange of k words of 8 bytes, acknowledged; barrier; exchange of k with a probe for each |
/// | `crystal` | ceil(log2 P) rounds of k (b + 16) / 2 bytes |
/// | `inbox` | where all share a node: k (b + 16) bytes pass, and one way; above [`INBOX_LONG`], or [`INBOX_ROOM`] in all, exchange of k with a probe for each |
///
/// A round of the barrier has 16 bytes. Of a process's k messages, k (P - n) / (P - 1) leave its
/// node of n processes; those to one node travel together, each behind a header of 16 bytes. The
/// alltoall is Bruck's, ceil(log2 P) rounds of about 4 P bytes, or an exchange of P - 1 words,
/// whichever takes less time. Where the processes do not share a node there is no `inbox`: its time
/// is infinite. The halving has floor(log2 P) rounds of 2 P, P, P / 2, ... bytes, and where P is no
/// power of two, two more of 4 P and 4 bytes.
///
/// A process's messages to itself are none: alone it needs no time. Cost: O(log P). Processes that
/// ask the same get the same bits.
pub fn predict_exchange(protocol: Protocol, machine: &Loggp, load: &Load) -> f64 {
    let &Load { processes, messages, bytes, .. } = load;
    if processes <= 1 {
        return 0.0;
    }
    let k = f64::from(messages);
    let data = |probes| exchange(machine, k, bytes, plain(machine, bytes), probes);
    match protocol {
        Protocol::Nbx => nbx(machine, processes, k, bytes),
        Protocol::NbxProbe => exchange(machine, k, bytes, synchronous(machine, bytes), 1.0) + barrier(machine, processes),
        Protocol::NbxNode => {
            let per_node = load.per_node.clamp(1, processes);
            let nodes = processes.div_ceil(per_node);
            let others = u64::from(processes - 1);
            // in (P - 1)-ths of a message
            let away = u64::from(messages) * u64::from(processes - per_node);
            let parcels = away.div_ceil(others).min(u64::from(nodes - 1));
            let all = u128::from(away) * u128::from(bytes.saturating_add(CONTROL_BYTES));
            let parcel = u64::try_from(all.div_ceil(u128::from(others * parcels.max(1)))).unwrap_or(u64::MAX);
            nbx(machine, processes, parcels as f64, parcel) + crystal(machine, per_node, messages, bytes)
        }
        Protocol::Pex => alltoall(machine, processes) + data(0.0),
        Protocol::Pcx | Protocol::PcxLibrary => reduce_scatter(machine, processes) + data(1.0),
        Protocol::Rsx => exchange(machine, k, WORD_BYTES, ACKNOWLEDGED, 0.0) + barrier(machine, processes) + data(1.0),
        Protocol::Crystal => crystal(machine, processes, messages, bytes),
        Protocol::Inbox if load.per_node < processes => f64::INFINITY,
        Protocol::Inbox => inbox(machine, messages, bytes),
    }
}

/// The protocol among `candidates` that takes the least predicted time; of several, the one that is
/// first in [`PROTOCOLS`]. None only where there are no candidates. Processes that ask the same get
/// the same answer.
pub fn best(machine: &Loggp, load: &Load, candidates: &[Protocol]) -> Option<Protocol> {
    let listed = PROTOCOLS.iter().map(|e| e.protocol).filter(|p| candidates.contains(p));
    let timed = listed.map(|p| (p, predict_exchange(p, machine, load)));
    timed.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(p, _)| p)
}
