//! What messages cost, for algorithms whose schedules depend on it, and how long the message of an
//! edge is.

/// The length of the message on an edge: its weight, in units of which there are `scale` in a unit
/// of weight. With bytes as that unit it is what the LogGP model lets travel; bounds, costs of
/// rounds, plans and predictions count nothing else.
///
/// An edge of weight 0 has a message of length 0. It is a message all the same, as one of no bytes
/// is for MPI: it is in a round, never cut, and costs its startup there; under LogGP it costs o at
/// both ends, g and L, and no G.
pub fn length(weight: u32, scale: u64) -> u64 {
    u64::from(weight).saturating_mul(scale)
}

/// LogGP's parameters, and what a unit of weight is. Times in any unit; equal on all processes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Costs {
    /// L: what a byte needs through the network.
    pub latency: f64,
    /// o: how long a processor works for a message that it sends, and again for one that it
    /// receives.
    pub overhead: f64,
    /// g: the least time from the last byte of a message to the first one of the next, at a
    /// process.
    pub gap: f64,
    /// G: time from one byte of a message to its next.
    pub per_byte: f64,
    /// Bytes in a unit of weight.
    pub unit: f64,
}

impl Costs {
    /// From the beginning of a message until it has passed the sender's port, without o: the first
    /// byte takes no time.
    pub fn transfer(&self, weight: f64) -> f64 {
        (weight * self.unit - 1.0).max(0.0) * self.per_byte
    }

    /// What a message takes beyond that until it has been received: 2 o + L.
    pub fn delivery(&self) -> f64 {
        self.latency + 2.0 * self.overhead
    }

    /// What a process waits beyond that until its next message passes its port, if it gives itself
    /// to that message then: g, or o where that is more.
    pub fn rest(&self) -> f64 {
        self.gap.max(self.overhead)
    }
}

impl Default for Costs {
    /// A latency of 10, an overhead of 1 and a gap of 2 microseconds, 1 GB/s, bytes as weights: the
    /// order of magnitude of clusters.
    fn default() -> Self {
        Costs { latency: 10.0, overhead: 1.0, gap: 2.0, per_byte: 0.001, unit: 1.0 }
    }
}
