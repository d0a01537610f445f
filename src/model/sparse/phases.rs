//! The phases of protocols: exchanges, rounds, barriers, reductions.

use super::protocol::{CONTROL_BYTES, COUNTER_BYTES, Network, rounds};
use crate::model::Loggp;

/// How a message travels: see the table in the [module](super).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Travel {
    /// Number of messages of [`CONTROL_BYTES`] that accompany it.
    pub(super) control: f64,
    /// Number of sequential steps.
    pub(super) legs: f64,
}

pub(super) const EAGER: Travel = Travel { control: 0.0, legs: 1.0 };
pub(super) const ACKNOWLEDGED: Travel = Travel { control: 1.0, legs: 2.0 };
pub(super) const RENDEZVOUS: Travel = Travel { control: 2.0, legs: 3.0 };
pub(super) const ANNOUNCED: Travel = Travel { control: 3.0, legs: 3.0 };

/// How a plain send travels.
pub(super) fn plain(machine: &Loggp, bytes: u64) -> Travel {
    if bytes > machine.eager { RENDEZVOUS } else { EAGER }
}

/// How a synchronous send travels. The reply to a rendezvous request also serves as
/// acknowledgement.
pub(super) fn synchronous(machine: &Loggp, bytes: u64) -> Travel {
    if bytes > machine.eager { RENDEZVOUS } else { ACKNOWLEDGED }
}

/// Time of an exchange: every process sends `k` messages and receives `k`, with `probes` probes for
/// each.
pub(super) fn exchange(machine: &Loggp, k: f64, bytes: u64, travel: Travel, probes: f64) -> f64 {
    let Loggp { latency: l, overhead: o, gap: g, .. } = *machine;
    let Travel { control, legs } = travel;
    if k == 0.0 {
        return 0.0;
    }
    let apart = |bytes| o.max(g + machine.transfer(bytes));
    let m = 1.0 + control;
    let ahead = m - legs;
    let transfer = machine.transfer(bytes) + control * machine.transfer(CONTROL_BYTES);
    let work = k * (2.0 * m + probes) * o;
    let last_of_a_peer = work - k * o + l + o;
    let ports = l + 2.0 * o + k * transfer + (m * k - 1.0) * g;
    let controls = if control > 0.0 { (ahead + 1.0) * apart(CONTROL_BYTES) } else { 0.0 };
    let distance = apart(bytes).max(controls);
    let path = legs * (l + 2.0 * o) + transfer + probes * o + ahead * apart(CONTROL_BYTES) + (k - 1.0) * distance;
    work.max(last_of_a_peer).max(ports).max(path)
}

/// Time of a round: every process sends one message and waits for one.
pub(super) fn round(machine: &Loggp, bytes: u64) -> f64 {
    exchange(machine, 1.0, bytes, plain(machine, bytes), 0.0).max(machine.gap + machine.transfer(bytes))
}

/// An exchange by synchronous sends. A network that acknowledges by itself adds to the latency what
/// a synchronous send takes longer than a plain one, and costs no process anything.
pub(super) fn exchange_synchronous(machine: &Loggp, network: &Network, k: f64, bytes: u64, probes: f64) -> f64 {
    match (synchronous(machine, bytes), network.synchronous) {
        (ACKNOWLEDGED, Some(latency)) if k > 0.0 => {
            exchange(machine, k, bytes, EAGER, probes) + (latency - machine.latency).max(0.0)
        }
        (travel, _) => exchange(machine, k, bytes, travel, probes),
    }
}

/// The network's barrier, or a dissemination barrier: in round i every process sends to the process
/// 2^i ranks higher.
pub(super) fn barrier(machine: &Loggp, network: &Network, processes: u32) -> f64 {
    network.barrier.unwrap_or_else(|| f64::from(rounds(processes)) * round(machine, CONTROL_BYTES))
}

/// An alltoall of one word by Bruck's algorithm: in round i the words whose distance has bit i set
/// travel together, behind the stats, which are as long as a word.
pub(super) fn alltoall(machine: &Loggp, processes: u32) -> f64 {
    let p = u64::from(processes);
    let with_bit = |i: u32| (p >> (i + 1) << i) + (p & ((2 << i) - 1)).saturating_sub(1 << i);
    (0..rounds(processes)).map(|i| round(machine, (1 + with_bit(i)) * COUNTER_BYTES)).sum()
}

/// A reduce-scatter of P counters by recursive halving: ceil(P / 2), then ceil(P / 4) and so on of
/// them travel. If P is not a power of two, the processes above the largest power first give all
/// their counters to another process, and get their own sum from it at the end.
pub(super) fn reduce_scatter(machine: &Loggp, processes: u32) -> f64 {
    let counters = |n: u64| round(machine, n * COUNTER_BYTES);
    let p = u64::from(processes);
    let folds = if p.is_power_of_two() { 0.0 } else { counters(p) + counters(1) };
    folds + (1..=p.ilog2()).map(|i| counters(p.div_ceil(1 << i))).sum::<f64>()
}
