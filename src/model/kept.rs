//! Measured parameters that are kept for later programs: for which machine and MPI they hold, and
//! the text of the file.
//!
//! A file is a parameter file ([`Loggp`]'s format) whose comments say what it holds for:
//!
//! ```text
//! # mpi: Open MPI v4.1.4, package: Debian OpenMPI
//! # nodes: node#, node#; 8 or more, of 16 or more processes
//! latency = 9.9  # L, microseconds
//! ...
//! ```
//!
//! There are at most [`FILES`] of them. What a place hashes to decides which one is its; a file
//! that holds for another place is as good as none, and is replaced.

#![forbid(unsafe_code)]

use super::{Loggp, Sharing};
use crate::util::random::mix;

/// Most files.
pub const FILES: u64 = 64;

/// The last line, by which a file that is cut off is known.
pub(super) const END: &str = "# end\n";

/// Times of a message above this, in microseconds, are no measured ones.
pub(super) const LONGEST: f64 = 1e9;

/// The MPI and the nodes for which parameters hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    mpi: String,
    nodes: [String; 2],
    counts: [u64; 2],
}

impl Place {
    /// Messages by an MPI library of this version between two nodes of these names. Nodes whose
    /// names differ only in numbers are alike. `counts`: how many nodes share the network, and how
    /// many processes a node, as one alone may not fill its link; numbers with the same logarithm,
    /// rounded down, are alike.
    pub fn new(mpi: &str, nodes: [&str; 2], counts: [u64; 2]) -> Place {
        Place { mpi: line(mpi), nodes: nodes.map(pattern), counts: counts.map(|count| 1 << count.max(1).ilog2()) }
    }

    /// The name of its file.
    pub fn file(&self) -> String {
        file("loggp", &self.comments())
    }

    /// The text of its file.
    pub fn text(&self, parameters: &Loggp) -> String {
        let comments = self.comments();
        format!("# measured when a neighborhood was set; without this file that is done again\n{comments}{parameters}{END}")
    }

    /// The parameters in the text of a file.
    ///
    /// # Errors
    /// Why the file does not count, without anything that it holds.
    pub fn read(&self, text: &str) -> Result<Loggp, String> {
        if !text.contains(&self.comments()) {
            return Err("it is of another MPI, or of other nodes".into());
        }
        if !text.ends_with(END) {
            return Err("it is cut off".into());
        }
        let parameters = text.parse::<Loggp>().map_err(|e| e.without_content())?;
        if is_plausible(&parameters) { Ok(parameters) } else { Err("it holds no times that were measured".into()) }
    }

    /// Describes the place in comments of a file.
    pub(super) fn comments(&self) -> String {
        let ([a, b], [nodes, processes]) = (&self.nodes, self.counts);
        format!("# mpi: {}\n# nodes: {a}, {b}; {nodes} or more, of {processes} or more processes\n", self.mpi)
    }
}

/// The name of one of the files of a kind: that of what holds for these comments.
pub(super) fn file(kind: &str, comments: &str) -> String {
    let hash = comments.bytes().fold(0, |hash, byte| mix(hash ^ u64::from(byte)).wrapping_add(1));
    format!("{kind}-{}", hash % FILES)
}

/// Returns true if measured parameters can be right: a message takes time, and so does a byte, but
/// not for ever.
pub fn is_plausible(parameters: &Loggp) -> bool {
    let Loggp { latency, overhead, gap, gap_per_byte, sharing, .. } = *parameters;
    let Sharing { copy, links, random, latencies } = sharing;
    // 0 stands for links and latencies that were not measured
    let times = [latency, overhead, gap, gap_per_byte].into_iter().chain(copy).chain(random).chain(links).chain(latencies);
    latency + overhead > 0.0 && gap_per_byte > 0.0 && times.into_iter().all(|time| (0.0..=LONGEST).contains(&time))
}

/// Measured parameters to four digits: more say nothing.
pub fn rounded(parameters: &Loggp) -> Loggp {
    let Sharing { copy, links, random, latencies } = parameters.sharing;
    Loggp {
        latency: short(parameters.latency),
        overhead: short(parameters.overhead),
        gap: short(parameters.gap),
        gap_per_byte: short(parameters.gap_per_byte),
        eager: parameters.eager,
        sharing: Sharing {
            copy: copy.map(short),
            links: links.map(short),
            random: random.map(short),
            latencies: latencies.map(short),
        },
    }
}

/// A measured time to four digits.
pub(super) fn short(time: f64) -> f64 {
    format!("{time:.3e}").parse().unwrap_or(time)
}

/// The name of a host without its domain, and with `#` for each number.
pub(super) fn pattern(host: &str) -> String {
    let mut pattern = String::new();
    for c in line(host.split('.').next().unwrap_or_default()).chars() {
        match c {
            '0'..='9' if pattern.ends_with('#') => {}
            '0'..='9' => pattern.push('#'),
            _ => pattern.push(c),
        }
    }
    pattern
}

/// At most 200 printable characters of a text.
fn line(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEASURED: Loggp =
        Loggp { latency: 31.5, overhead: 4.25, gap: 6.0, gap_per_byte: 0.04, eager: 49152, sharing: Sharing::UNKNOWN };

    fn place() -> Place {
        Place::new("Open MPI v4.1.4", ["node017.site", "node3"], [8, 16])
    }

    #[test]
    fn a_file_gives_back_what_was_measured() {
        let text = place().text(&MEASURED);
        assert_eq!(place().read(&text), Ok(MEASURED));
        assert!(text.contains("\n# mpi: Open MPI v4.1.4\n# nodes: node#, node#; 8 or more, of 16 or more processes\n"), "{text}");
        assert_eq!(place(), Place::new("Open MPI v4.1.4", ["node1", "node001"], [15, 16]));
    }

    #[test]
    fn a_file_of_another_place_does_not_count() {
        let text = place().text(&MEASURED);
        for other in [
            Place::new("Open MPI v4.1.5", ["node1", "node2"], [8, 16]),
            Place::new("Open MPI v4.1", ["node1", "node2"], [8, 16]),
            Place::new("Open MPI v4.1.4", ["login", "node2"], [8, 16]),
            Place::new("Open MPI v4.1.4", ["node1", "gpu2"], [8, 16]),
            Place::new("Open MPI v4.1.4", ["node1", "node2"], [16, 16]),
            Place::new("Open MPI v4.1.4", ["node1", "node2"], [8, 1]),
        ] {
            assert_eq!(other.read(&text), Err("it is of another MPI, or of other nodes".into()), "{other:?}");
        }
    }

    #[test]
    fn a_broken_file_does_not_count() {
        let text = place().text(&MEASURED);
        for (from, to, why) in [
            ("latency = 31.5", "latency = ", "line 4: latency is not a finite number of at least 0"),
            ("gap_per_byte = 0.04", "", "gap_per_byte is missing (the file has 9 lines)"),
            ("gap_per_byte = 0.04", "gap_per_byte = 0", "it holds no times that were measured"),
            ("gap = 6", "gap = 1e300", "it holds no times that were measured"),
            ("gap = 6", "links = 1e305\ngap = 6", "it holds no times that were measured"),
            ("# nodes", "nodes", "it is of another MPI, or of other nodes"),
        ] {
            assert!(text.contains(from), "{from}");
            assert_eq!(place().read(&text.replacen(from, to, 1)), Err(why.into()), "{to}");
        }
        assert!(place().read("").is_err());
        // cut off in the middle
        for length in 0..text.len() {
            assert!(place().read(&text[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn names_are_one_line_and_files_are_few() {
        let odd = Place::new("a\nlatency = 1\n", ["b\r\nc", &"x".repeat(9999)], [8, 16]);
        assert_eq!(odd.comments().lines().count(), 2);
        assert!(odd.comments().len() < 1000);
        assert_eq!(odd.read(&odd.text(&MEASURED)), Ok(MEASURED));
        for n in 0..1000 {
            let file = Place::new(&n.to_string(), ["a", "b"], [8, 16]).file();
            assert!(file.strip_prefix("loggp-").unwrap().parse::<u64>().unwrap() < FILES);
        }
    }

    #[test]
    fn four_digits_are_enough() {
        let long = Loggp {
            latency: 80.949_845_060,
            gap_per_byte: 0.000_055_673_87,
            gap: 123_456.0,
            overhead: 0.0,
            eager: 777,
            sharing: Sharing::UNKNOWN,
        };
        let short = Loggp {
            latency: 80.95,
            gap_per_byte: 0.000_055_67,
            gap: 123_500.0,
            overhead: 0.0,
            eager: 777,
            sharing: Sharing::UNKNOWN,
        };
        assert_eq!(rounded(&long), short);
        assert_eq!(rounded(&MEASURED), MEASURED);
    }

    #[test]
    fn what_takes_no_time_was_not_measured() {
        assert!(is_plausible(&MEASURED));
        assert!(is_plausible(&Loggp { latency: 0.0, eager: u64::MAX, ..MEASURED }));
        assert!(!is_plausible(&Loggp { latency: 0.0, overhead: 0.0, ..MEASURED }));
        assert!(!is_plausible(&Loggp { gap_per_byte: 0.0, ..MEASURED }));
        let sharing = Sharing { copy: Some(0.001), random: Some(0.05), ..Sharing::UNKNOWN };
        assert!(is_plausible(&Loggp { sharing, ..MEASURED }));
        for odd in [f64::NAN, f64::INFINITY, 1e305, -1.0] {
            let [mut links, mut latencies] = [Sharing::UNKNOWN.links; 2];
            (links[1], latencies[1]) = (odd, odd);
            for sharing in [
                Sharing { links, ..sharing },
                Sharing { latencies, ..sharing },
                Sharing { random: Some(odd), ..sharing },
                Sharing { copy: Some(odd), ..sharing },
            ] {
                assert!(!is_plausible(&Loggp { sharing, ..MEASURED }), "{sharing:?}");
            }
        }
    }
}
