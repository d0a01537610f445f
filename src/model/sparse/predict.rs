//! Predicted time of each protocol.

use super::phases::*;
use super::protocol::{CONTROL_BYTES, INBOX_LONG, INBOX_ROOM, Load, Network, POSTED_BYTES, Protocol, WORD_BYTES, rounds};
use crate::model::Loggp;

/// A crystal router among `processes`, each of which holds `messages` messages at all times: in
/// each round about half of them travel together, each with a header.
fn crystal(machine: &Loggp, processes: u32, messages: u32, bytes: u64) -> f64 {
    let all = bytes.saturating_add(CONTROL_BYTES).saturating_mul(u64::from(messages));
    f64::from(rounds(processes)) * round(machine, all.div_ceil(2))
}

/// NBX among `processes`, each of which sends `k` messages to receives posted ahead.
fn nbx(machine: &Loggp, network: &Network, processes: u32, k: f64, bytes: u64) -> f64 {
    let data = if bytes > POSTED_BYTES {
        exchange(machine, k, bytes, ANNOUNCED, 0.0)
    } else {
        exchange_synchronous(machine, network, k, bytes, 0.0)
    };
    data + barrier(machine, network, processes)
}

/// True if a process's inbox has no room for `messages` messages of `bytes` bytes, each of which is
/// short enough for it.
pub fn overflow_inbox(messages: u32, bytes: u64) -> bool {
    bytes <= INBOX_LONG && all_in_inbox(messages, bytes) > INBOX_ROOM
}

fn all_in_inbox(messages: u32, bytes: u64) -> u64 {
    bytes.saturating_add(CONTROL_BYTES).saturating_mul(u64::from(messages))
}

/// Inboxes: all bytes pass once, and one message latency signals that they are there. What does not
/// fit travels as plain messages.
fn inbox(machine: &Loggp, messages: u32, bytes: u64) -> f64 {
    let gate = (machine.latency + 2.0 * machine.overhead).max(machine.gap);
    gate + if bytes <= INBOX_LONG && !overflow_inbox(messages, bytes) {
        machine.transfer(all_in_inbox(messages, bytes))
    } else {
        exchange(machine, messages.into(), bytes, plain(machine, bytes), 1.0)
    }
}

/// Predicts the time of an exchange in microseconds, from a common start until the last process has
/// all its messages and knows it.
///
/// In terms of the phases in the [module](super), with P processes, k messages of b bytes:
///
/// | protocol | time |
/// | --- | --- |
/// | `nbx` | exchange of k, acknowledged [^1]; barrier: ceil(log2 P) rounds |
/// | `nbx_probe` | the same with a probe for each message, never announced |
/// | `nbx_node` | `nbx` with one message per target node; `crystal` within a node |
/// | `pex` | alltoall of 4-byte words; exchange of k |
/// | `pcx`, `pcx_library` | recursive halving of P counters of 4 bytes; exchange of k [^1] |
/// | `rsx` | exchange of k words of 8 bytes, acknowledged; barrier; exchange of k with probes |
/// | `crystal` | ceil(log2 P) rounds of k (b + 16) / 2 bytes |
/// | `inbox` | on one node: k (b + 16) bytes pass, and one latency [^2] |
///
/// [^1]: By rendezvous above `eager` bytes, announced above [`POSTED_BYTES`].
///
/// [^2]: Above [`INBOX_LONG`] bytes, or [`INBOX_ROOM`] in all: exchange of k with a probe for each.
///
/// A round of the barrier has 16 bytes. Of a process's k messages, k (P - n) / (P - 1) leave its
/// node of n processes; those to one node travel together, each with a header of 16 bytes. The
/// alltoall is Bruck's, ceil(log2 P) rounds of about 2 P bytes. If the processes do not share a
/// node, `inbox` is impossible: its time is infinite. The halving has floor(log2 P) rounds of 2 P,
/// P, P / 2, ... bytes, and two more of 4 P and 4 bytes if P is not a power of two.
///
/// Messages from a process to itself do not count: with one process the time is 0. Cost: O(log P).
/// Processes that pass equal arguments get bitwise equal results.
pub fn predict_exchange(protocol: Protocol, machine: &Loggp, load: &Load) -> f64 {
    predict_exchange_on(protocol, machine, &Network::default(), load)
}

/// [`predict_exchange`] on a network that does more than LogGP says.
pub fn predict_exchange_on(protocol: Protocol, machine: &Loggp, network: &Network, load: &Load) -> f64 {
    let &Load { processes, messages, bytes, .. } = load;
    if processes <= 1 {
        return 0.0;
    }
    let k = f64::from(messages);
    let data = |probes| exchange(machine, k, bytes, plain(machine, bytes), probes);
    match protocol {
        Protocol::Nbx => nbx(machine, network, processes, k, bytes),
        Protocol::NbxProbe => exchange_synchronous(machine, network, k, bytes, 1.0) + barrier(machine, network, processes),
        Protocol::NbxNode => {
            let per_node = load.per_node.clamp(1, processes);
            let nodes = processes.div_ceil(per_node);
            let others = u64::from(processes - 1);
            // in (P - 1)-ths of a message
            let away = u64::from(messages) * u64::from(processes - per_node);
            let parcels = away.div_ceil(others).min(u64::from(nodes - 1));
            let all = u128::from(away) * u128::from(bytes.saturating_add(CONTROL_BYTES));
            let parcel = u64::try_from(all.div_ceil(u128::from(others * parcels.max(1)))).unwrap_or(u64::MAX);
            nbx(machine, network, processes, parcels as f64, parcel) + crystal(machine, per_node, messages, bytes)
        }
        Protocol::Pex => alltoall(machine, processes) + data(0.0),
        Protocol::Pcx | Protocol::PcxLibrary => {
            let announced = || exchange(machine, k, bytes, ANNOUNCED, 0.0);
            reduce_scatter(machine, processes) + if bytes > POSTED_BYTES { announced() } else { data(0.0) }
        }
        Protocol::Rsx => exchange(machine, k, WORD_BYTES, ACKNOWLEDGED, 0.0) + barrier(machine, network, processes) + data(1.0),
        Protocol::Crystal => crystal(machine, processes, messages, bytes),
        Protocol::Inbox if load.per_node < processes => f64::INFINITY,
        Protocol::Inbox => inbox(machine, messages, bytes),
    }
}
