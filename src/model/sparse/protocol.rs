//! The table of protocols, the parameters of an exchange, and sizes shared by the model and the
//! protocols.

/// A protocol: how a process finds out which messages it receives, and gets them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Nonblocking consensus; receives posted ahead.
    Nbx,
    /// Nonblocking consensus; messages are probed for.
    NbxProbe,
    /// Nonblocking consensus between nodes; all messages of a process to one node travel as one
    /// message.
    NbxNode,
    /// Personalized exchange: every process tells all others the size of its message.
    Pex,
    /// Personalized census: sums the numbers of messages by the library's own recursive halving.
    Pcx,
    /// Personalized census by `MPI_Ireduce_scatter_block`.
    PcxLibrary,
    /// Remote summation: every process counts its messages at their targets.
    Rsx,
    /// Crystal router: messages travel together along the dimensions of a hypercube.
    Crystal,
    /// Inboxes in shared memory.
    Inbox,
}

/// A protocol's entry in the table.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The protocol.
    pub protocol: Protocol,
    /// Its name in hints, logs, tests and benches.
    pub name: &'static str,
}

/// All protocols, in the order of [`Protocol`]. Hints, dispatch, tests and benches derive from it.
pub static PROTOCOLS: [Entry; 9] = [
    Entry { protocol: Protocol::Nbx, name: "nbx" },
    Entry { protocol: Protocol::NbxProbe, name: "nbx_probe" },
    Entry { protocol: Protocol::NbxNode, name: "nbx_node" },
    Entry { protocol: Protocol::Pex, name: "pex" },
    Entry { protocol: Protocol::Pcx, name: "pcx" },
    Entry { protocol: Protocol::PcxLibrary, name: "pcx_library" },
    Entry { protocol: Protocol::Rsx, name: "rsx" },
    Entry { protocol: Protocol::Crystal, name: "crystal" },
    Entry { protocol: Protocol::Inbox, name: "inbox" },
];

impl Protocol {
    /// The protocol's name in hints, logs, tests and benches.
    pub fn name(self) -> &'static str {
        PROTOCOLS[self as usize].name
    }
}

/// Parameters of an exchange.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// Number of processes in the communicator (P).
    pub processes: u32,
    /// Number of processes per node.
    pub per_node: u32,
    /// Maximum number of messages that a process sends, and approximately receives (k).
    pub messages: u32,
    /// Bytes per message.
    pub bytes: u64,
}

/// Abilities of a network beyond LogGP's parameters. By default none.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Network {
    /// Time of a barrier of all processes, in microseconds, instead of one by messages.
    pub barrier: Option<f64>,
    /// Latency of an eager synchronous send in microseconds (L_s in the paper's Table 2), instead
    /// of an acknowledgement by a message of its own.
    pub synchronous: Option<f64>,
}

/// Bytes of a message without user data: acknowledgements, requests, announcements, rounds of the
/// barrier. Also the size of a header where several messages travel together.
pub const CONTROL_BYTES: u64 = 16;

/// Bytes of the receives that `nbx`, `nbx_node` and `pcx` post ahead. A longer message is
/// announced.
pub const POSTED_BYTES: u64 = 4096;

/// Capacity in bytes of an inbox in shared memory for one exchange, including [`CONTROL_BYTES`] per
/// message. What does not fit travels by MPI.
pub const INBOX_ROOM: u64 = 256 << 10;

/// Maximum length in bytes of a message in an inbox. A longer one is announced there.
pub const INBOX_LONG: u64 = 32 << 10;

/// Bytes of RSX's counter.
pub(super) const WORD_BYTES: u64 = 8;

/// Bytes of PCX's counter and of PEX's word per process.
pub(super) const COUNTER_BYTES: u64 = 4;

/// Rounds of a dissemination or hypercube algorithm among `processes`: log2, rounded up.
pub fn rounds(processes: u32) -> u32 {
    processes.max(1).checked_next_power_of_two().map_or(u32::BITS, u32::trailing_zeros)
}
