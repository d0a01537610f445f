//! Chooses from measured times whether the blocks of a neighborhood travel as messages or are put
//! into windows of MPI. Also reads and writes the text of the file that keeps the times for later
//! programs.
//!
//! The blocks for a process are messages of their own, and one put. So times of messages depend on
//! how many there are, those of puts on all bytes together. Processes of a neighborhood are served
//! one after the other; what they overlap, messages and puts overlap alike.
//!
//! Source: Barrett, One-Sided Communication for High Performance Computing Applications, chapter 3,
//! for what makes puts pay.

#![forbid(unsafe_code)]

use std::fmt::Write;

use super::kept::{END, LONGEST, Place, file, short};
use crate::util::cast::whole;

/// Bytes of a message, or of a put, that are timed, ascending.
pub const SIZES: [usize; 5] = [64, 4 << 10, 32 << 10, 128 << 10, 1 << 20];

/// Length from which blocks are put straight to where they are received, if none ever are.
pub const NEVER: u64 = u64::MAX;

/// How many messages of that length there are at a time, ascending.
pub const MESSAGES: [usize; 2] = [1, 4];

/// The shortest block that is put to where it is received: there is room for few of them.
pub const LEAST_STRAIGHT: u64 = SIZES[1] as u64;

/// Times that differ by this factor are the same.
const NOISE: f64 = 1.05;

/// Puts have to take less than this part of the time of messages: those wait for no one.
const ADVANTAGE: f64 = 0.9;

/// Microseconds of exchanges, in which both processes send.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exchange {
    /// Of as many messages as [`MESSAGES`] says.
    pub messages: [f64; MESSAGES.len()],
    /// Of a put into a landing area, with what synchronizes it and the copies at both ends.
    pub put: f64,
    /// Of a put to where the block is received.
    pub straight: f64,
}

/// Predicted microseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Predicted {
    /// Of blocks as messages.
    pub messages: f64,
    /// Of a put of all of them into a landing area.
    pub put: f64,
    /// Of puts to where they are received.
    pub straight: f64,
}

/// Numbers of an exchange.
const EACH: usize = MESSAGES.len() + 2;

/// The times of exchanges of messages and puts as long as [`SIZES`] says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Times(pub [Exchange; SIZES.len()]);

/// How the target of a put learns that it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice {
    /// It calls MPI, which tells it that an epoch has ended.
    Epoch,
    /// It looks at a word that the source sets.
    Flag,
    /// It enters a barrier that the source enters once it has put.
    Barrier,
}

/// Conditions, beside the MPI and the nodes, under which times hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    /// How the target learns of puts.
    pub notice: Notice,
    /// True if source and target are on different nodes.
    pub between_nodes: bool,
}

impl Times {
    /// How many numbers there are.
    pub const NUMBERS: usize = SIZES.len() * EACH;

    /// In place of times that cannot be measured. Not plausible.
    pub const UNKNOWN: Times = Times([Exchange { messages: [0.0; 2], put: 0.0, straight: 0.0 }; SIZES.len()]);

    /// All numbers, in the order of the file.
    pub fn numbers(&self) -> [f64; Self::NUMBERS] {
        let mut all = self.0.iter().flat_map(|e| [e.messages[0], e.messages[1], e.put, e.straight]);
        std::array::from_fn(|_| all.next().unwrap_or(f64::NAN))
    }

    /// Makes times of all numbers.
    pub fn from_numbers(all: [f64; Self::NUMBERS]) -> Times {
        Times(std::array::from_fn(|i| {
            let of = &all[EACH * i..];
            Exchange { messages: [of[0], of[1]], put: of[2], straight: of[3] }
        }))
    }

    /// The same to four digits, as a file has them.
    #[must_use]
    pub fn rounded(&self) -> Times {
        Times::from_numbers(self.numbers().map(short))
    }

    /// Returns true if the times can be right.
    pub fn is_plausible(&self) -> bool {
        self.numbers().iter().all(|&time| time > 0.0 && time <= LONGEST)
    }

    /// Returns how long `blocks` messages of equal length take that have `bytes` bytes together,
    /// and how long puts of all of them take. Between two sizes, times are linear in the bytes;
    /// beyond the last one, too.
    pub fn predict(&self, blocks: u64, bytes: u64) -> Predicted {
        let each = bytes as f64 / blocks.max(1) as f64;
        let (one, several) = (self.at(each, |e| e.messages[0]), self.at(each, |e| e.messages[1]));
        let further = (several - one).max(0.0) / (MESSAGES[1] - MESSAGES[0]) as f64;
        Predicted {
            messages: one + further * blocks.saturating_sub(1) as f64,
            put: self.at(bytes as f64, |e| e.put),
            straight: self.at(bytes as f64, |e| e.straight),
        }
    }

    /// Returns from how many bytes on a put to where a block is received takes hardly longer than
    /// one into the landing area, or [`NEVER`]; at least [`LEAST_STRAIGHT`]. Between two sizes,
    /// times are linear in the bytes.
    pub fn straight_from(&self) -> u64 {
        // how far the former is behind
        let lag = |i: usize| self.0[i].straight - NOISE * self.0[i].put;
        match (0..SIZES.len()).rfind(|&i| lag(i) > 0.0).filter(|&i| i > 0) {
            None => LEAST_STRAIGHT,
            Some(i) if i + 1 == SIZES.len() => NEVER,
            Some(i) => {
                let (low, high) = (lag(i), lag(i + 1));
                whole(SIZES[i] as f64 + low / (low - high) * (SIZES[i + 1] - SIZES[i]) as f64)
            }
        }
    }

    /// Returns how long the barrier takes that ends an exchange of the two processes: a message of
    /// a few bytes in both ways.
    pub fn barrier(&self) -> f64 {
        self.0[0].messages[0]
    }

    /// A time for a length.
    fn at(&self, bytes: f64, time: impl Fn(&Exchange) -> f64) -> f64 {
        let above = SIZES.iter().position(|&size| size as f64 >= bytes).unwrap_or(SIZES.len() - 1).max(1);
        let [low, high] = [SIZES[above - 1], SIZES[above]].map(|size| size as f64);
        let part = ((bytes - low) / (high - low)).max(0.0);
        let (low, high) = (time(&self.0[above - 1]), time(&self.0[above]));
        // what is longer takes no less time
        low + part * (high - low).max(0.0)
    }

    /// The name of the file for a place.
    pub fn file(place: &Place, way: Way) -> String {
        file("puts", &comments(place, way))
    }

    /// The text of the file.
    pub fn text(&self, place: &Place, way: Way) -> String {
        let mut text = format!(
            "# measured when a neighborhood was set; without this file that is done again\n{}\
             # bytes = microseconds of 1 message, of 4, of a put, of one to where it is received\n",
            comments(place, way)
        );
        for (size, Exchange { messages: [one, several], put, straight }) in SIZES.iter().zip(self.0) {
            writeln!(text, "{size} = {one} {several} {put} {straight}").expect("a text takes all that is written to it");
        }
        text + END
    }

    /// The times in the text of a file.
    ///
    /// # Errors
    /// Why the file does not count, without anything that it holds.
    pub fn read(text: &str, place: &Place, way: Way) -> Result<Times, String> {
        if !text.contains(&comments(place, way)) {
            return Err("it is of another MPI, of other nodes, or of another synchronization".into());
        }
        if !text.ends_with(END) {
            return Err("it is cut off".into());
        }
        let numbers = |size: usize| {
            let line = text.lines().find_map(|line| line.strip_prefix(&format!("{size} = ")));
            line.into_iter().flat_map(|line| line.split(' ')).map(|word| word.parse().unwrap_or(f64::NAN))
        };
        let all: Vec<f64> = SIZES.into_iter().flat_map(numbers).collect();
        let times = <[f64; Self::NUMBERS]>::try_from(all).map(Times::from_numbers);
        times.ok().filter(Times::is_plausible).ok_or_else(|| "it holds no times that were measured".into())
    }
}

/// Returns true if puts are fast enough, by the predicted times of messages and of puts.
pub fn puts_pay(messages: f64, puts: f64) -> bool {
    puts < ADVANTAGE * messages
}

fn comments(place: &Place, way: Way) -> String {
    let target = match way.notice {
        Notice::Epoch => "active target",
        Notice::Flag => "passive target",
        Notice::Barrier => "passive target and barriers",
    };
    let nodes = if way.between_nodes { "between nodes" } else { "within a node" };
    format!("{}# puts: {target}, {nodes}\n", place.comments())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::kept::FILES;

    const WAY: Way = Way { notice: Notice::Epoch, between_nodes: true };

    fn place() -> Place {
        Place::new("Open MPI v4.1.4", ["node017.site", "node3"], [8, 16])
    }

    /// Messages that take 1 us and 1 us for each 1,000 bytes; each further one 0.5 us and as much
    /// for its bytes. Puts that take 2 us and 1 us for each 2,000 bytes, or 3 us and 1 us for each
    /// 4,000.
    fn times() -> Times {
        Times(SIZES.map(|size| {
            let one = 1.0 + size as f64 / 1000.0;
            let (put, straight) = (2.0 + size as f64 / 2000.0, 3.0 + size as f64 / 4000.0);
            Exchange { messages: [one, 4.0 * one - 1.5], put, straight }
        }))
    }

    #[track_caller]
    fn near(found: Predicted, expected: Predicted) {
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9 * b;
        let pairs = [(found.messages, expected.messages), (found.put, expected.put), (found.straight, expected.straight)];
        assert!(pairs.into_iter().all(|(found, expected)| close(found, expected)), "{found:?} {expected:?}");
    }

    #[test]
    fn times_are_linear_between_sizes_and_beyond() {
        for bytes in [64, 100, 4096, 5000, 100_000, 1 << 18, 1 << 20, 1 << 22] {
            for blocks in [1, 2, 4, 9] {
                let (many, bytes_too) = (blocks as f64, bytes as f64);
                let each = (bytes_too / many).max(64.0);
                let messages = 0.5 + many * (0.5 + each / 1000.0);
                let (put, straight) = (2.0 + bytes_too / 2000.0, 3.0 + bytes_too / 4000.0);
                near(times().predict(blocks, bytes), Predicted { messages, put, straight });
            }
        }
        // the length of each message counts, not that of all
        let mut slow = times();
        slow.0[2].messages[0] = 1000.0;
        assert!(slow.predict(8, 32 << 10).messages < 100.0 && slow.predict(1, 32 << 10).messages == 1000.0);
        // not below what the shortest takes, nor for no block
        near(times().predict(1, 0), times().predict(1, 64));
        near(times().predict(0, 8), times().predict(1, 64));
    }

    #[test]
    fn longer_ones_and_more_take_no_less() {
        let mut odd = times();
        odd.0[4] = Exchange { messages: [1.0, 0.5], put: 1.0, straight: 1.0 };
        let found = odd.predict(4, 1 << 24);
        let least = odd.0[3];
        assert!(found.messages >= least.messages[0] && found.put >= least.put && found.straight >= least.straight, "{found:?}");
    }

    #[test]
    fn long_blocks_go_straight_from_where_that_is_faster_on() {
        // 3 + b / 4000 against 1.05 (2 + b / 2000), but no less than the least
        assert_eq!(times().straight_from(), LEAST_STRAIGHT);
        let mut odd = times();
        odd.0[2] = Exchange { straight: NOISE * 10.0 + 1.0, put: 10.0, ..odd.0[2] };
        odd.0[3] = Exchange { straight: NOISE * 20.0 - 1.0, put: 20.0, ..odd.0[3] };
        assert_eq!(odd.straight_from(), (32 << 10) + (48 << 10), "the last length counts at which it is slower");
        odd.0[4].straight = 1.06 * odd.0[4].put;
        assert_eq!(odd.straight_from(), NEVER);
        odd.0[4].straight = 1.04 * odd.0[4].put;
        assert_eq!(odd.straight_from(), (32 << 10) + (48 << 10));
        assert_eq!(Times(odd.0.map(|e| Exchange { straight: e.put, ..e })).straight_from(), LEAST_STRAIGHT);
    }

    #[test]
    fn puts_must_gain_something() {
        assert!(puts_pay(10.0, 8.9));
        assert!(!puts_pay(10.0, 9.1) && !puts_pay(10.0, f64::NAN) && !puts_pay(0.0, 0.0));
    }

    #[test]
    fn a_file_gives_back_what_was_measured() {
        let times = times().rounded();
        let text = times.text(&place(), WAY);
        assert_eq!(Times::read(&text, &place(), WAY), Ok(times), "{text}");
        assert_eq!(Times::from_numbers(times.numbers()), times);
        assert!(times.is_plausible());
        let others = [
            (Place::new("Open MPI v4.1.5", ["node1", "node2"], [8, 16]), WAY),
            (Place::new("Open MPI v4.1.4", ["node1", "login"], [8, 16]), WAY),
            (place(), Way { notice: Notice::Flag, ..WAY }),
            (place(), Way { notice: Notice::Barrier, ..WAY }),
            (place(), Way { between_nodes: false, ..WAY }),
        ];
        for (place, way) in others {
            assert!(Times::read(&text, &place, way).unwrap_err().starts_with("it is of another"), "{way:?}");
            assert!(Times::file(&place, way).strip_prefix("puts-").unwrap().parse::<u64>().unwrap() < FILES);
        }
        for length in 0..text.len() {
            assert!(Times::read(&text[..length], &place(), WAY).is_err(), "{length}");
        }
        for (from, to) in
            [("64 = 1.064", "64 = 0"), ("64 = 1.064", "64 = -1"), ("64 = 1.064 ", "64 = "), ("32768", "32769"), ("1.064", "inf")]
        {
            assert!(text.contains(from), "{text}");
            let wrong = text.replacen(from, to, 1);
            assert_eq!(Times::read(&wrong, &place(), WAY), Err("it holds no times that were measured".into()), "{to}");
        }
    }
}
