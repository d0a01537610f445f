//! Message costs for algorithms that depend on them, and the length of the message on an edge.

/// Returns the length of the message on an edge: its weight in units of 1 / `scale` of a unit of
/// weight. If that unit is a byte, this is the length that the LogGP model uses. Bounds, costs of
/// rounds and predictions all use this length.
///
/// An edge of weight 0 has a message of length 0, which is still a message, like one of zero bytes
/// in MPI. It takes part in a round, is never cut, and costs its startup; under LogGP it costs o at
/// both ends, g and L, but no G.
pub fn length(weight: u32, scale: u64) -> u64 {
    u64::from(weight).saturating_mul(scale)
}

/// LogGP parameters and the number of bytes per unit of weight. Times are in any unit; equal on all
/// processes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Costs {
    /// L: time that a byte spends in the network.
    pub latency: f64,
    /// o: processor time for each message sent, and again for each message received.
    pub overhead: f64,
    /// g: minimum time between the last byte of a message and the first byte of the next at one
    /// process.
    pub gap: f64,
    /// G: time between consecutive bytes of a message.
    pub per_byte: f64,
    /// Bytes in a unit of weight.
    pub unit: f64,
}

impl Costs {
    /// Time from the beginning of a message until it has passed the sender's port, without o. The
    /// first byte takes no time.
    pub fn transfer(&self, weight: f64) -> f64 {
        (weight * self.unit - 1.0).max(0.0) * self.per_byte
    }

    /// Further time until the message has been received: 2 o + L.
    pub fn delivery(&self) -> f64 {
        self.latency + 2.0 * self.overhead
    }

    /// Further time until the sender's next message can pass the port, if the sender turns to that
    /// message at once: the larger of g and o.
    pub fn rest(&self) -> f64 {
        self.gap.max(self.overhead)
    }
}

impl Default for Costs {
    /// Order of magnitude of clusters: latency 10, overhead 1 and gap 2 microseconds, 1 GB/s,
    /// weights in bytes.
    fn default() -> Self {
        Costs { latency: 10.0, overhead: 1.0, gap: 2.0, per_byte: 0.001, unit: 1.0 }
    }
}
