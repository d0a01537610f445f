//! Chooses from measured times how a long message between processes of a node is copied: twice,
//! through memory that both share, or once, by the receiver from the sender's memory. Also reads
//! and writes the text of the file that keeps the choice for later programs.
//!
//! A single copy saves a copy, and costs a system call and a look at each page. While a message
//! fits in the cache of the sender's core, two copies are cheaper than they seem; so a single copy
//! is faster, if at all, from some length on.

#![forbid(unsafe_code)]

use super::kept::{END, file, pattern};
use crate::util::cast::whole;

/// Lengths of the messages that are timed, in bytes, ascending.
pub const SIZES: [usize; 4] = [32 << 10, 128 << 10, 512 << 10, 2 << 20];

/// The choice of machines on which a single copy is never faster.
pub const NEVER: u64 = u64::MAX;

/// The most bytes from which on a message is copied once where processes share cores, unless a
/// single copy is never faster: the messages of all processes of a core share its cache. On 2 cores
/// with 4 neighbors each, a single copy took 0.9 to 1.1 of the time of two with 4 processes and
/// messages of 256 to 320 KB, 0.6 to 0.8 from 390 KB on; with 16 processes 0.5 to 0.8 from 320 KB
/// on.
pub const SHARED_CORES: u64 = 256 << 10;

/// A single copy has to take less than this part of the time of two: the sender of two need not
/// wait for its receiver.
const ADVANTAGE: f64 = 0.95;

/// The times of an exchange of messages of one length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Times {
    /// The length.
    pub bytes: usize,
    /// With two copies.
    pub two: f64,
    /// With one.
    pub one: f64,
}

/// Returns from how many bytes on a single copy is faster, where the logarithms of both times are
/// taken to be linear between two lengths; a multiple of 4096, or [`NEVER`]. `times` are in
/// ascending order of lengths.
pub fn crossover(times: &[Times]) -> u64 {
    // how far a single copy is behind
    let lag = |t: &Times| (t.one / (ADVANTAGE * t.two)).ln();
    let behind = times.iter().rposition(|t| lag(t).is_nan() || lag(t) >= 0.0);
    let bytes = match behind.map(|k| (&times[k], times.get(k + 1))) {
        None => times.first().map_or(f64::INFINITY, |t| t.bytes as f64),
        Some((_, None)) => f64::INFINITY,
        Some((below, Some(above))) => {
            let (low, high) = (lag(below), lag(above));
            let part = if low.is_finite() { low / (low - high) } else { 1.0 };
            below.bytes as f64 * (above.bytes as f64 / below.bytes as f64).powf(part)
        }
    };
    if bytes.is_finite() { whole(bytes).next_multiple_of(4096) } else { NEVER }
}

/// A length of the choice, or `never`.
pub fn text(from: u64) -> String {
    if from == NEVER { "never".into() } else { from.to_string() }
}

/// A node that a choice holds for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node(String);

impl Node {
    /// The node of this name. Nodes whose names differ only in numbers are alike.
    pub fn new(name: &str) -> Node {
        Node(pattern(name))
    }

    /// The name of its file.
    pub fn file(&self) -> String {
        file("copies", &self.comment())
    }

    /// The text of its file.
    pub fn text(&self, from: u64) -> String {
        let comment = self.comment();
        format!(
            "# measured when a neighborhood was set; without this file that is done again\n{comment}\
             single_copy = {}  # bytes from which on messages are copied once\n{END}",
            text(from)
        )
    }

    /// The choice in the text of a file.
    ///
    /// # Errors
    /// Why the file does not count, without anything that it holds.
    pub fn read(&self, file: &str) -> Result<u64, String> {
        if !file.contains(&self.comment()) {
            return Err("it is of another node".into());
        }
        if !file.ends_with(END) {
            return Err("it is cut off".into());
        }
        let value = file.lines().find_map(|line| line.split('#').next()?.trim().strip_prefix("single_copy = "));
        let from = value.and_then(|value| if value == "never" { Some(NEVER) } else { value.parse().ok() });
        from.filter(|&from| from >= 4096).ok_or_else(|| "it holds no length that was measured".into())
    }

    fn comment(&self) -> String {
        format!("# node: {}\n# two copies: by ordinary or streaming stores, in chunks of 256 KiB\n", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::kept::FILES;

    /// Times of messages of all lengths: two copies take a time unit a byte, a single copy `one` of
    /// them.
    fn times(one: [f64; SIZES.len()]) -> Vec<Times> {
        let of = |(bytes, one): (usize, f64)| Times { bytes, two: bytes as f64, one: one * bytes as f64 };
        SIZES.into_iter().zip(one).map(of).collect()
    }

    #[test]
    fn never_and_always() {
        assert_eq!(crossover(&times([2.0; 4])), NEVER);
        assert_eq!(crossover(&times([1.0; 4])), NEVER);
        assert_eq!(crossover(&times([0.5; 4])), 32 << 10);
        assert_eq!(crossover(&[]), NEVER);
    }

    #[test]
    fn it_lies_between_the_last_loss_and_the_first_gain() {
        // as far ahead as behind
        let middle = crossover(&times([2.0, 2.0, ADVANTAGE / 0.5, ADVANTAGE * 0.5]));
        assert_eq!(middle, 1 << 20);
        // hardly behind
        let early = crossover(&times([2.0, 2.0, ADVANTAGE * 1.001, ADVANTAGE * 0.5]));
        assert!((512 << 10..540 << 10).contains(&early), "{early}");
        // on a machine whose times are 11, 32, 133 and 206 us, and 4, 16, 62 and 318
        let measured = [11.0, 32.0, 133.0, 206.0].into_iter().zip([4.0, 16.0, 62.0, 318.0]);
        let list: Vec<Times> = SIZES.into_iter().zip(measured).map(|(bytes, (one, two))| Times { bytes, two, one }).collect();
        let from = crossover(&list);
        assert!((1 << 20..3 << 19).contains(&from), "{from}");
    }

    #[test]
    fn a_gain_before_a_loss_does_not_count() {
        assert_eq!(crossover(&times([0.5, 0.5, 0.5, 2.0])), NEVER);
        assert!(crossover(&times([0.5, 2.0, 0.5, 0.5])) > 128 << 10);
    }

    #[test]
    fn times_that_are_none_choose_nothing() {
        assert_eq!(crossover(&times([f64::NAN; 4])), NEVER);
        assert_eq!(crossover(&times([f64::INFINITY; 4])), NEVER);
        assert_eq!(crossover(&times([f64::INFINITY, 0.5, 0.5, 0.5])), 128 << 10);
        let zero = [Times { bytes: 4096, two: 0.0, one: 0.0 }];
        assert_eq!(crossover(&zero), NEVER);
    }

    #[test]
    fn a_file_gives_back_what_was_measured() {
        let node = Node::new("node017.site");
        for from in [32 << 10, 1 << 20, NEVER] {
            let text = node.text(from);
            assert_eq!(node.read(&text), Ok(from), "{text}");
            assert_eq!(Node::new("node3").read(&text), Ok(from));
            assert_eq!(Node::new("login").read(&text), Err("it is of another node".into()));
            for length in 0..text.len() {
                assert!(node.read(&text[..length]).is_err(), "{length}");
            }
        }
        for (from, to) in [("= 32768", "= 12"), ("= 32768", "= -1"), ("single_copy", "copies"), ("= 32768", "=")] {
            let text = node.text(32 << 10);
            assert_eq!(node.read(&text.replacen(from, to, 1)), Err("it holds no length that was measured".into()), "{to}");
        }
        assert!(node.file().strip_prefix("copies-").unwrap().parse::<u64>().unwrap() < FILES);
    }
}
