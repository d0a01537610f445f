//! LogGP parameters as commands print them.

use mpix_neighbor::model::Loggp;
use serde::Serialize;

use crate::text::printable;

/// The parameters of a machine, and its name.
#[derive(Serialize)]
pub struct Parameters {
    pub model: String,
    latency_us: f64,
    overhead_us: f64,
    gap_us: f64,
    pub gap_per_byte_us: f64,
    /// `null`: unlimited.
    eager_bytes: Option<u64>,
}

impl Parameters {
    /// `model` may be the name of a file, and is made printable.
    pub fn new(model: &str, machine: &Loggp) -> Parameters {
        Parameters {
            model: printable(model),
            latency_us: machine.latency,
            overhead_us: machine.overhead,
            gap_us: machine.gap,
            gap_per_byte_us: machine.gap_per_byte,
            eager_bytes: (machine.eager < u64::MAX).then_some(machine.eager),
        }
    }
}

impl std::fmt::Display for Parameters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rendezvous = self.eager_bytes.map_or("no rendezvous".into(), |b| format!("rendezvous above {b} B"));
        let Parameters { model, latency_us: l, overhead_us: o, gap_us: g, gap_per_byte_us: per_byte, .. } = self;
        write!(f, "{model}: L = {l} µs, o = {o} µs, g = {g} µs, G = {per_byte} µs/B, {rendezvous}")
    }
}
