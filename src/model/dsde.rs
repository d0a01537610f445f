//! Predicted times of the protocols for dynamic sparse data exchange, in the LogGP model.
//!
//! Each formula counts what the protocol of that name in `src/sparse` does: its rounds, messages and bytes on the slowest process. Source: Hoefler,
//! Siebert, Lumsdaine, Scalable Communication Protocols for Dynamic Sparse Data Exchange, sections 2 to 4; the crystal router is Fox and others,
//! Solving Problems on Concurrent Processors, chapter 22.

use super::Loggp;

/// A protocol: how a process finds out what comes to it, and gets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Nonblocking consensus; receives posted ahead.
    Nbx,
    /// Nonblocking consensus; messages are probed for.
    NbxProbe,
    /// Nonblocking consensus between nodes; what a process sends to one node travels as one message.
    NbxNode,
    /// Personalized exchange: everyone tells everyone the size of the message.
    Pex,
    /// Personalized census: sums of numbers of messages, by recursive halving of our own.
    Pcx,
    /// The same by the MPI library's `MPI_Ireduce_scatter_block`.
    PcxLibrary,
    /// Remote summation: every process counts its messages up at their targets.
    Rsx,
    /// Crystal router: messages travel together through the dimensions of a hypercube.
    Crystal,
}

/// A protocol's line in the table.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Which.
    pub protocol: Protocol,
    /// Its name in hints, logs, tests and benches.
    pub name: &'static str,
}

/// All protocols, in the order of [`Protocol`]. Hints, dispatch, tests and benches derive from it.
pub static PROTOCOLS: [Entry; 8] = [
    Entry { protocol: Protocol::Nbx, name: "nbx" },
    Entry { protocol: Protocol::NbxProbe, name: "nbx_probe" },
    Entry { protocol: Protocol::NbxNode, name: "nbx_node" },
    Entry { protocol: Protocol::Pex, name: "pex" },
    Entry { protocol: Protocol::Pcx, name: "pcx" },
    Entry { protocol: Protocol::PcxLibrary, name: "pcx_library" },
    Entry { protocol: Protocol::Rsx, name: "rsx" },
    Entry { protocol: Protocol::Crystal, name: "crystal" },
];

impl Protocol {
    /// Its name in hints, logs, tests and benches.
    pub fn name(self) -> &'static str {
        PROTOCOLS[self as usize].name
    }
}

/// What an exchange has to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// Processes of the communicator (P).
    pub processes: u32,
    /// Processes that share a node.
    pub per_node: u32,
    /// Most messages that a process sends, and about as many that it receives (k).
    pub messages: u32,
    /// Bytes of a message.
    pub bytes: u64,
}

/// Rounds of a dissemination or hypercube among `processes`: log2, rounded up.
pub fn rounds(processes: u32) -> u32 {
    processes.max(1).next_power_of_two().trailing_zeros()
}

/// Predicted time of an exchange in microseconds.
pub fn predict_exchange(protocol: Protocol, machine: &Loggp, load: &Load) -> f64 {
    let (o, l) = (machine.overhead, machine.latency);
    let step = machine.gap.max(o);
    let k = f64::from(load.messages);
    let p = f64::from(load.processes);
    let log = f64::from(rounds(load.processes));
    // k messages out, k in; the last one of all arrives
    let data =
        |k: f64, bytes: f64| if k > 0.0 { l + 2.0 * o + (2.0 * k - 1.0) * step + k * bytes * machine.gap_per_byte } else { 0.0 };
    let round = l + 2.0 * o;
    let handshake = l + k * step;
    let bytes = load.bytes as f64;
    match protocol {
        Protocol::Nbx => data(k, bytes) + handshake + log * round,
        // a probe for each message
        Protocol::NbxProbe => data(k, bytes) + handshake + k * o + log * round,
        Protocol::NbxNode => {
            let nodes = (p / f64::from(load.per_node.max(1))).max(1.0);
            let k_nodes = k.min(nodes);
            let inside = f64::from(rounds(load.per_node)) * (round + k * bytes * machine.gap_per_byte / 2.0);
            data(k_nodes, k * bytes / k_nodes.max(1.0)) + l + k_nodes * step + log * round + inside
        }
        // Bruck's algorithm: half of P sizes in each round
        Protocol::Pex => log * (round + p / 2.0 * 8.0 * machine.gap_per_byte) + data(k, bytes),
        Protocol::Pcx | Protocol::PcxLibrary => log * round + p * 4.0 * machine.gap_per_byte + data(k, bytes) + k * o,
        Protocol::Rsx => data(k, 8.0) + log * round + data(k, bytes) + k * o,
        // half of what a process has moves on in each round
        Protocol::Crystal => log * (round + k * bytes / 2.0 * machine.gap_per_byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_protocols() {
        for (i, entry) in PROTOCOLS.iter().enumerate() {
            assert_eq!(entry.protocol as usize, i);
            assert_eq!(entry.protocol.name(), entry.name);
        }
    }
}
