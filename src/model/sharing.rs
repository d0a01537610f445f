//! Properties of a network that LogGP leaves out and that are measured: links that messages of
//! several nodes share, latency by distance, and the cost of a copy.

#![forbid(unsafe_code)]

use crate::util::cast::to_u32;

/// Measured properties of a network of nodes, beyond those of a pair of processes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sharing {
    /// Processor time for a byte that is copied into or out of a packet, in microseconds. `None`:
    /// not measured.
    pub copy: Option<f64>,
    /// `links[i]`: time for each byte that leaves a node while all nodes send at once, each one to
    /// the node 2^i further, in microseconds. Positive; 0 from the first distance on that was not
    /// measured.
    pub links: [f64; Sharing::DISTANCES],
    /// The same while each node sends to others at random. `None`: not measured.
    pub random: Option<f64>,
    /// `latencies[i]`: L between nodes 2^i apart, in microseconds, the mean over all such pairs.
    /// Positive; 0 from the first distance on that was not measured.
    pub latencies: [f64; Sharing::DISTANCES],
}

impl Sharing {
    /// Distances 1, 2, 4, ..., 32768 nodes.
    pub const DISTANCES: usize = 16;

    /// Nothing was measured: all messages have links of their own.
    pub const UNKNOWN: Sharing =
        Sharing { copy: None, links: [0.0; Sharing::DISTANCES], random: None, latencies: [0.0; Sharing::DISTANCES] };

    /// Words that differ if the properties do.
    pub fn words(&self) -> impl Iterator<Item = u64> {
        let found = [self.copy, self.random].into_iter().map(|time| time.map_or(0, |time| 1 + time.to_bits()));
        // zeros follow what was measured
        let [links, latencies] = [measured(&self.links), measured(&self.latencies)];
        let lengths = [links, latencies].into_iter().map(|times| times.len() as u64);
        found.chain(lengths).chain(links.iter().chain(latencies).copied().map(f64::to_bits))
    }

    /// Number of distances to measure among `nodes` nodes: they are a ring, on which none is
    /// farther than half of it.
    pub fn distances(nodes: u32) -> usize {
        nodes.checked_ilog2().map_or(0, |log| log as usize).min(Sharing::DISTANCES)
    }

    /// Time for each byte that leaves a node, with the least contention that was measured: that of
    /// the node's own port, which its processes share. `None` if nothing was measured.
    pub fn port(&self) -> Option<f64> {
        measured(&self.links).iter().copied().reduce(f64::min)
    }

    /// Time for each byte that leaves a node, if all nodes send that far. 0 if it was not measured.
    pub fn link(&self, distance: u32) -> f64 {
        at_distance(&self.links, distance).unwrap_or(0.0)
    }

    /// L between nodes that far apart. `None` for one node, or if it was not measured.
    pub fn latency(&self, distance: u32) -> Option<f64> {
        at_distance(&self.latencies, distance)
    }

    /// Distance between two of `nodes` nodes.
    pub fn distance(a: u32, b: u32, nodes: u32) -> u32 {
        let direct = a.abs_diff(b);
        direct.min(nodes - direct)
    }

    /// Reads times of distances, separated by commas. `None` if they are no positive numbers, or
    /// too many.
    pub(super) fn parse_times(text: &str) -> Option<[f64; Sharing::DISTANCES]> {
        let mut times = [0.0; Sharing::DISTANCES];
        for (i, time) in text.split(',').enumerate() {
            *times.get_mut(i)? = time.trim().parse().ok().filter(|&t: &f64| t.is_finite() && t > 0.0)?;
        }
        Some(times)
    }

    /// The times of `links` that were measured as text, separated by commas.
    pub fn links_text(&self) -> String {
        text(&self.links)
    }

    /// The same of `latencies`.
    pub fn latencies_text(&self) -> String {
        text(&self.latencies)
    }

    /// Number of distances whose links were measured.
    pub fn known(&self) -> u32 {
        to_u32(measured(&self.links).len())
    }

    /// True if messages between nodes take other times than between two nodes alone.
    pub fn has_distances(&self) -> bool {
        self.links[0] > 0.0 || self.latencies[0] > 0.0
    }
}

/// The times of the distances that were measured.
fn measured(times: &[f64]) -> &[f64] {
    times.split(|&time| time == 0.0).next().unwrap_or_default()
}

fn text(times: &[f64]) -> String {
    measured(times).iter().map(f64::to_string).collect::<Vec<_>>().join(", ")
}

/// The time of a distance. Between those that were measured, the logarithm of the distance counts;
/// beyond them, the longest one. `None` for 0, or if none was measured.
fn at_distance(times: &[f64], distance: u32) -> Option<f64> {
    let times = measured(times);
    let log = distance.checked_ilog2().filter(|_| !times.is_empty())?;
    let at = |i: u32| times[(i as usize).min(times.len() - 1)];
    let part = f64::from(distance).log2() - f64::from(log);
    Some(at(log) + part * (at(log + 1) - at(log)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_between_measured_ones_are_interpolated() {
        let mut sharing = Sharing::UNKNOWN;
        assert_eq!((sharing.port(), sharing.link(3)), (None, 0.0));
        sharing.links[..3].copy_from_slice(&[1.0, 3.0, 2.0]);
        assert_eq!((sharing.port(), sharing.known()), (Some(1.0), 3));
        assert_eq!([1, 2, 4, 8, 1000].map(|d| sharing.link(d)), [1.0, 3.0, 2.0, 2.0, 2.0]);
        let between = sharing.link(3);
        assert!(between < 3.0 && between > 2.0, "{between}");
        assert_eq!(Sharing::parse_times(&sharing.links_text()), Some(sharing.links));
        assert_eq!((sharing.latency(4), sharing.latencies_text().as_str()), (None, ""));
        sharing.latencies[..2].copy_from_slice(&[1.5, 2.5]);
        assert_eq!([0, 1, 2, 8].map(|d| sharing.latency(d)), [None, Some(1.5), Some(2.5), Some(2.5)]);
        assert_eq!(sharing.latencies_text(), "1.5, 2.5");
        for wrong in ["", "0", "1,,2", "1 2", "nan", "-1", &["1"; 17].join(",")] {
            assert_eq!(Sharing::parse_times(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn nodes_are_a_ring() {
        assert_eq!([(0, 1), (0, 7), (1, 5), (6, 1)].map(|(a, b)| Sharing::distance(a, b, 8)), [1, 1, 4, 3]);
        assert_eq!([0, 1, 2, 3, 4, 8].map(Sharing::distances), [0, 0, 1, 1, 2, 3]);
    }
}
