//! Bounds and times derived in the paper, in microseconds. The paper assumes o >= g and messages
//! without length; g occurs in none of them. Section numbers are the paper's.

use super::protocol::rounds;
use crate::model::Loggp;

/// Selects the bound used for T_BC, the time of a broadcast, of a census, and thus of a barrier.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Broadcast {
    /// Lower bound: every process that has the message forwards it each o.
    Lower,
    /// Time of a binomial tree, and of a dissemination barrier if P is a power of two.
    Upper,
    /// Time of the network's own barrier, in microseconds.
    Takes(f64),
}

/// T_BC(P): at least `log2(P) o`, at most `log2(P) (L + 2 o)` (section 2.3, Corollary 1).
pub fn broadcast(machine: &Loggp, processes: u32, bound: Broadcast) -> f64 {
    let step = match bound {
        Broadcast::Lower => machine.overhead,
        Broadcast::Upper => machine.latency + 2.0 * machine.overhead,
        Broadcast::Takes(us) => return us,
    };
    f64::from(processes.max(1)).log2() * step
}

/// Lower bound of T_RS(P), a personalized census: `G (P - 1) + (L + 2 o - G) ceil(log2 P)` (section
/// 2.4, Lemma 2, from Iannello's bound).
pub fn personalized_census(machine: &Loggp, processes: u32) -> f64 {
    let round = machine.latency + 2.0 * machine.overhead - machine.gap_per_byte;
    machine.gap_per_byte * f64::from(processes.max(1) - 1) + round * f64::from(rounds(processes))
}

/// Lower bound of T_PE(P), a personalized exchange: that of a personalized census (section 2.5,
/// Lemma 3).
pub fn personalized_exchange(machine: &Loggp, processes: u32) -> f64 {
    personalized_census(machine, processes)
}

/// Lower bound of T_DT(k), k messages each way between processes that know of them: that of T_BC(k)
/// (section 3, Lemma 4).
pub fn transmission_lower(machine: &Loggp, messages: u32) -> f64 {
    broadcast(machine, messages, Broadcast::Lower)
}

/// T_DT(k) of sending the messages one after another: the last leaves after k o and arrives L + o
/// later. The paper omits the terms without k (section 3, below Lemma 4).
pub fn transmission(machine: &Loggp, messages: u32) -> f64 {
    let k = f64::from(messages);
    if messages == 0 { 0.0 } else { k * machine.overhead + machine.latency + machine.overhead }
}

/// Additional cost of synchronous sends: `L + k o` (section 3.4, equation 2).
pub fn handshake(machine: &Loggp, messages: u32) -> f64 {
    machine.latency + f64::from(messages) * machine.overhead
}

/// T_PEX = T_PE + T_DT (section 3.1, Theorem 1).
pub fn pex(machine: &Loggp, processes: u32, messages: u32) -> f64 {
    personalized_exchange(machine, processes) + transmission(machine, messages)
}

/// T_PCX = T_RS + T_DT (section 3.2, Theorem 2).
pub fn pcx(machine: &Loggp, processes: u32, messages: u32) -> f64 {
    personalized_census(machine, processes) + transmission(machine, messages)
}

/// T_RSX = L + k o + T_BC + T_DT (section 3.3, Theorem 3). The same as T'_NBX.
pub fn rsx(machine: &Loggp, processes: u32, messages: u32, bound: Broadcast) -> f64 {
    let accumulates = machine.latency + f64::from(messages) * machine.overhead;
    accumulates + broadcast(machine, processes, bound) + transmission(machine, messages)
}

/// T_NBX = T_BC + T_DT (section 3.4, Theorem 4), if the network itself reports that a message was
/// received.
pub fn nbx(machine: &Loggp, processes: u32, messages: u32, bound: Broadcast) -> f64 {
    broadcast(machine, processes, bound) + transmission(machine, messages)
}

/// T'_NBX = T_NBX + L + k o (section 3.4, equation 2), if each message is acknowledged by another.
pub fn nbx_acknowledged(machine: &Loggp, processes: u32, messages: u32, bound: Broadcast) -> f64 {
    nbx(machine, processes, messages, bound) + handshake(machine, messages)
}

/// k(P), the number of messages per process up to which T'_NBX <= T_PCX: `(T_RS - T_BC - L) / o`
/// (section 4.2, drawn in Figure 1(c)). If it is negative, NBX is never faster. Infinite or NaN if
/// o is 0.
///
/// T_RS is a lower bound: PCX takes at least as long. With [`Broadcast::Upper`], NBX certainly wins
/// up to k(P); with [`Broadcast::Lower`], both are assumed to be optimal, as in section 4.1 of the
/// paper.
pub fn crossover(machine: &Loggp, processes: u32, bound: Broadcast) -> f64 {
    let won = personalized_census(machine, processes) - broadcast(machine, processes, bound) - machine.latency;
    won / machine.overhead
}
