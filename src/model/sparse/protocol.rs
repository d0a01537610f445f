//! The protocols, what an exchange has to do, and the sizes that both the model and the protocols use.

/// A protocol: how a process finds out what comes to it, and gets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Nonblocking consensus; receives posted ahead.
    Nbx,
    /// Nonblocking consensus; messages are probed for.
    NbxProbe,
    /// Nonblocking consensus between nodes; what a process sends to one node travels as one
    /// message.
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
    /// Inboxes in memory that all processes share.
    Inbox,
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

/// Bytes of a message that carries nothing of the caller's: acknowledgements, requests,
/// announcements, rounds of the barrier. Also of what goes ahead of each message where several
/// travel together.
pub const CONTROL_BYTES: u64 = 16;

/// Bytes of the receives that `nbx` and `nbx_node` post ahead. A longer message is announced.
pub const POSTED_BYTES: u64 = 4096;

/// Bytes that an inbox in shared memory has room for in one exchange, messages and
/// [`CONTROL_BYTES`] for each. What does not fit travels by MPI.
pub const INBOX_ROOM: u64 = 256 << 10;

/// Most bytes of a message that goes through an inbox. A longer one is announced there.
pub const INBOX_LONG: u64 = 32 << 10;

/// Bytes of PEX's word for each process, and of RSX's counter.
pub(super) const WORD_BYTES: u64 = 8;

/// Bytes of PCX's counter for each process.
pub(super) const COUNTER_BYTES: u64 = 4;

/// Rounds of a dissemination or hypercube among `processes`: log2, rounded up.
pub fn rounds(processes: u32) -> u32 {
    processes.max(1).checked_next_power_of_two().map_or(u32::BITS, u32::trailing_zeros)
}
