//! The LogGP parameters of a machine: presets from the papers, and the file format.
//!
//! # File format
//! Text with one `key = value` per line. `#` begins a comment. Each key occurs exactly once:
//!
//! ```text
//! latency = 9.9           # microseconds
//! overhead = 1.75         # microseconds
//! gap = 3.4               # microseconds
//! gap_per_byte = 0.00058  # microseconds per byte
//! eager = 135168          # bytes, or `unlimited`
//! ```
//!
//! More keys may follow, for what [`Sharing`] holds: `copy` and `random`, in microseconds per byte,
//! and `links` and `latencies`, numbers separated by commas.
//!
//! `Display` writes this format and `FromStr` reads it, without loss.

use std::fmt;
use std::str::FromStr;

use super::Sharing;
use crate::schedule::Costs;

/// Parameters of a machine, with LogGP's letters. The fifth letter, P, is the number of schedules.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Loggp {
    /// L: time that a byte spends in the network, in microseconds.
    pub latency: f64,
    /// o: processor time for each message sent, and again for each message received, in
    /// microseconds.
    pub overhead: f64,
    /// g: minimum time between the last byte of a message and the first byte of the next message
    /// that a process sends, and likewise for those it receives, in microseconds.
    pub gap: f64,
    /// G: time between consecutive bytes of a message, in microseconds per byte; the inverse of the
    /// bandwidth (1 / G is in MB/s).
    pub gap_per_byte: f64,
    /// S, the eager limit in bytes: a message of at most this length leaves as soon as its sender
    /// is free, and the network keeps it until it is received. A longer one also waits until its
    /// receive has been posted (rendezvous). Not part of LogGP: it is the S of LogGPS (Ino,
    /// Fujimoto, Hagihara 2001). With `u64::MAX` no message waits, as in LogGP.
    pub eager: u64,
    /// Shared links, distances and copies, which LogGP leaves out.
    pub sharing: Sharing,
}

/// Parameters published in a paper.
#[derive(Debug, Clone, Copy)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// The machine, and where the values are given.
    pub source: &'static str,
    /// The values.
    pub values: Loggp,
}

const fn loggp(latency: f64, overhead: f64, gap: f64, gap_per_byte: f64, eager: u64) -> Loggp {
    Loggp { latency, overhead, gap, gap_per_byte, eager, sharing: Sharing::UNKNOWN }
}

/// All presets.
///
/// L, o, g, G are the rows of Table 1 of the two papers. Neither gives `eager`:
/// - DSDE measured the size from which a synchronous send takes as long as a plain one (Table 2:
///   12, 132 and 1.5 KiB). From that size on, plain sends wait for the receiver too, so it is used
///   here.
/// - LogGP models its machine, the Meiko CS-2, without any waiting for the receiver: unlimited.
///
/// o and g of Big Red and Intrepid are as printed, although o > g there: the processor, not the
/// network, limits the rate of short messages.
pub static PRESETS: [Preset; 5] = [
    Preset {
        name: "jaguar",
        source: "Cray XT-4 (SeaStar 2, 3-D torus): Hoefler, Siebert, Lumsdaine 2010, Tables 1 and 2",
        values: loggp(9.90, 1.75, 3.40, 0.00058, 132 * 1024),
    },
    Preset {
        name: "intrepid",
        source: "BlueGene/P (3-D torus): Hoefler, Siebert, Lumsdaine 2010, Tables 1 and 2",
        values: loggp(4.29, 2.87, 2.04, 0.00267, 12 * 1024),
    },
    Preset {
        name: "big_red",
        source: "PowerPC 970 cluster (Myrinet 2000, fat tree): Hoefler, Siebert, Lumsdaine 2010, Tables 1 and 2",
        values: loggp(7.08, 11.78, 4.19, 0.00414, 1536),
    },
    Preset {
        name: "meiko_split_c",
        source: "Meiko CS-2 under Split-C: Alexandrov, Ionescu, Schauser, Scheiman 1995, Table 1",
        values: loggp(8.6, 1.7, 14.2, 0.03, u64::MAX),
    },
    Preset {
        name: "meiko_elan",
        source: "Meiko CS-2 under the Elan library: Alexandrov, Ionescu, Schauser, Scheiman 1995, Table 1",
        values: loggp(10.0, 3.8, 13.8, 0.023, u64::MAX),
    },
];

/// `jaguar`: of the machines in the table, the most similar to a current cluster. It is the newest,
/// has commodity processors under Linux, and by far the highest bandwidth for its latency, which
/// determines if messages are worth splitting or combining. Big Red is called a cluster, but its
/// network is the oldest of the three.
impl Default for Loggp {
    fn default() -> Self {
        PRESETS[0].values
    }
}

const KEYS: [&str; 9] = ["latency", "overhead", "gap", "gap_per_byte", "eager", "copy", "links", "random", "latencies"];

/// Number of keys that must be there: the first ones.
const REQUIRED: usize = 5;

/// The value of `eager` if no message waits.
const UNLIMITED: &str = "unlimited";

/// An error in a parameter file. Lines are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// A line that is neither empty nor `key = value`.
    #[error("line {line}: \"{text}\" is not of the form key = value")]
    Form {
        /// The line.
        line: usize,
        /// Its text.
        text: String,
    },
    /// An unknown key.
    #[error("line {line}: there is no parameter {key}; the parameters are {}", KEYS.join(", "))]
    UnknownKey {
        /// The line.
        line: usize,
        /// The key.
        key: String,
    },
    /// A repeated key.
    #[error("line {line}: {key} is there already, in line {before}")]
    Twice {
        /// The line.
        line: usize,
        /// The key.
        key: &'static str,
        /// The line of the first occurrence.
        before: usize,
    },
    /// A value that is not a number or out of range.
    #[error("line {line}: {key} = {value} is not {wanted}")]
    Value {
        /// The line.
        line: usize,
        /// The key.
        key: &'static str,
        /// The value.
        value: String,
        /// Description of valid values.
        wanted: &'static str,
    },
    /// A missing key.
    #[error("{key} is missing (the file has {lines} lines)")]
    Missing {
        /// The key.
        key: &'static str,
        /// Number of lines in the file.
        lines: usize,
    },
}

impl FileError {
    /// The error text without any content of the file, for readers who may not have access to it.
    pub fn without_content(&self) -> String {
        match self {
            FileError::Form { line, .. } => format!("line {line} is not of the form key = value"),
            FileError::UnknownKey { line, .. } => {
                format!("line {line} is of none of the parameters, which are {}", KEYS.join(", "))
            }
            FileError::Value { line, key, wanted, .. } => format!("line {line}: {key} is not {wanted}"),
            // these contain only parameter names and line numbers
            FileError::Twice { .. } | FileError::Missing { .. } => self.to_string(),
        }
    }
}

impl Loggp {
    /// Returns the parameters of a preset.
    pub fn preset(name: &str) -> Option<Loggp> {
        PRESETS.iter().find(|p| p.name == name).map(|p| p.values)
    }

    /// The cost of a message beyond its bytes, in bytes: (L + 2 o) / G. A round in which a process
    /// waits for what it receives costs as much as this many bytes. IrregPC's tau / phi. Infinite
    /// if G is 0, and 0 if all three are.
    pub fn startup_bytes(&self) -> f64 {
        let startup = self.latency + 2.0 * self.overhead;
        if startup == 0.0 { 0.0 } else { startup / self.gap_per_byte }
    }

    /// (k - 1) G: time in which a message of `bytes` bytes passes a port, in microseconds. An empty
    /// message takes as long as one byte.
    pub fn transfer(&self, bytes: u64) -> f64 {
        bytes.saturating_sub(1) as f64 * self.gap_per_byte
    }

    /// 2 o + L + (k - 1) G: time from the sender's call to the end of the receiver's work, if both
    /// are otherwise idle.
    pub fn point_to_point(&self, bytes: u64) -> f64 {
        self.overhead + self.transfer(bytes) + self.latency + self.overhead
    }

    /// The costs for schedule builders, with `unit` bytes per unit of weight.
    pub fn costs(&self, unit: u32) -> Costs {
        let &Loggp { latency, overhead, gap, gap_per_byte, .. } = self;
        Costs { latency, overhead, gap, per_byte: gap_per_byte, unit: unit.into() }
    }

    /// Returns the name of a parameter that is negative or not finite, if any.
    pub fn invalid(&self) -> Option<&'static str> {
        let values = [self.latency, self.overhead, self.gap, self.gap_per_byte];
        KEYS.into_iter().zip(values).find(|&(_, v)| !is_cost(v)).map(|(key, _)| key)
    }
}

fn is_cost(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}

impl fmt::Display for Loggp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "latency = {}  # L, microseconds", self.latency)?;
        writeln!(f, "overhead = {}  # o, microseconds", self.overhead)?;
        writeln!(f, "gap = {}  # g, microseconds", self.gap)?;
        writeln!(f, "gap_per_byte = {}  # G, microseconds per byte", self.gap_per_byte)?;
        match self.eager {
            u64::MAX => writeln!(f, "eager = {UNLIMITED}  # S, bytes"),
            bytes => writeln!(f, "eager = {bytes}  # S, bytes"),
        }?;
        if let Some(copy) = self.sharing.copy {
            writeln!(f, "copy = {copy}  # microseconds per byte")?;
        }
        if self.sharing.known() > 0 {
            writeln!(
                f,
                "links = {}  # all nodes at once, 1, 2, 4, ... nodes on: microseconds per byte",
                self.sharing.links_text()
            )?;
        }
        if let Some(random) = self.sharing.random {
            writeln!(f, "random = {random}  # all nodes at once, to others at random: microseconds per byte")?;
        }
        if self.sharing.latencies[0] > 0.0 {
            writeln!(f, "latencies = {}  # L between nodes 1, 2, 4, ... apart, microseconds", self.sharing.latencies_text())?;
        }
        Ok(())
    }
}

impl FromStr for Loggp {
    type Err = FileError;

    fn from_str(text: &str) -> Result<Loggp, FileError> {
        let mut costs = [0.0; 4];
        let mut eager = 0;
        let mut sharing = Sharing::UNKNOWN;
        let mut found: [Option<usize>; KEYS.len()] = [None; KEYS.len()];
        for (i, whole) in text.lines().enumerate() {
            let line = i + 1;
            let content = whole.split('#').next().unwrap_or_default().trim();
            if content.is_empty() {
                continue;
            }
            let (key, value) = content
                .split_once('=')
                .ok_or_else(|| FileError::Form { line, text: content.to_owned() })
                .map(|(k, v)| (k.trim(), v.trim()))?;
            let k = (KEYS.iter().position(|&known| known == key))
                .ok_or_else(|| FileError::UnknownKey { line, key: key.to_owned() })?;
            if let Some(before) = found[k].replace(line) {
                return Err(FileError::Twice { line, key: KEYS[k], before });
            }
            let wrong = |wanted| FileError::Value { line, key: KEYS[k], value: value.to_owned(), wanted };
            let cost = || {
                let cost = value.parse().ok().filter(|&v| is_cost(v)).ok_or_else(|| wrong("a finite number of at least 0"))?;
                // turns -0 into 0
                Ok(cost + 0.0)
            };
            let times = || Sharing::parse_times(value).ok_or_else(|| wrong("1 to 16 positive numbers, separated by commas"));
            match KEYS[k] {
                "copy" => sharing.copy = Some(cost()?),
                "random" => sharing.random = Some(cost()?),
                "links" => sharing.links = times()?,
                "latencies" => sharing.latencies = times()?,
                "eager" if value == UNLIMITED => eager = u64::MAX,
                "eager" => eager = value.parse().map_err(|_| wrong("a whole number of bytes or `unlimited`"))?,
                _ => costs[k] = cost()?,
            }
        }
        match found[..REQUIRED].iter().position(Option::is_none) {
            Some(k) => Err(FileError::Missing { key: KEYS[k], lines: text.lines().count() }),
            None => Ok(Loggp { sharing, ..loggp(costs[0], costs[1], costs[2], costs[3], eager) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn errors_can_keep_what_a_file_holds_to_themselves() {
        for (text, expected) in [
            ("SECRET", "line 1 is not of the form key = value"),
            (
                "\nSECRET = 1",
                "line 2 is of none of the parameters, which are latency, overhead, gap, gap_per_byte, eager, copy, links, random, \
                 latencies",
            ),
            ("gap = SECRET", "line 1: gap is not a finite number of at least 0"),
            ("eager = SECRET", "line 1: eager is not a whole number of bytes or `unlimited`"),
            ("gap = 1\ngap = SECRET", "line 2: gap is there already, in line 1"),
            ("gap = 1 # SECRET", "latency is missing (the file has 1 lines)"),
        ] {
            assert_eq!(text.parse::<Loggp>().unwrap_err().without_content(), expected);
        }
    }

    #[test]
    fn presets_have_their_names_and_survive_the_file() {
        for p in &PRESETS {
            assert_eq!(Loggp::preset(p.name), Some(p.values));
            assert_eq!(PRESETS.iter().filter(|q| q.name == p.name).count(), 1);
            assert_eq!(p.values.to_string().parse(), Ok(p.values));
            assert_eq!(p.values.invalid(), None);
        }
        assert_eq!(Loggp::preset("meiko"), None);
        assert_eq!(Loggp::preset("jaguar"), Some(Loggp::default()));
    }

    /// DSDE's and LogGP's tables list the bandwidth that corresponds to G.
    #[test]
    fn derived_figures() {
        let elan = Loggp::preset("meiko_elan").unwrap();
        assert!((1.0 / elan.gap_per_byte - 43.0).abs() < 0.6);
        assert_eq!(elan.transfer(1001), 23.0);
        assert_eq!((elan.transfer(1), elan.transfer(0)), (0.0, 0.0));
        assert_eq!(elan.point_to_point(1001), 3.8 + 23.0 + 10.0 + 3.8);
        assert!((elan.startup_bytes() - 17.6 / 0.023).abs() < 1e-9);
        assert_eq!(loggp(1.0, 0.0, 0.0, 0.0, 0).startup_bytes(), f64::INFINITY);
        assert_eq!(loggp(0.0, 0.0, 0.0, 0.0, 0).startup_bytes(), 0.0);
    }

    #[test]
    fn errors_name_line_and_key() {
        let good = "# a machine\n\n latency=1 # L\noverhead = 2e0\ngap = 3\ngap_per_byte = .5\neager = unlimited\n";
        assert_eq!(good.parse(), Ok(loggp(1.0, 2.0, 3.0, 0.5, u64::MAX)));
        let error = |from: &str, to: &str| {
            assert!(good.contains(from), "{from}");
            good.replace(from, to).parse::<Loggp>().unwrap_err().to_string()
        };
        assert_eq!(error("gap = 3", "gap 3"), "line 5: \"gap 3\" is not of the form key = value");
        assert_eq!(
            error("gap = 3", "G = 3"),
            "line 5: there is no parameter G; the parameters are latency, overhead, gap, gap_per_byte, eager, copy, links, random, \
             latencies"
        );
        assert_eq!(error("gap = 3", "latency = 3"), "line 5: latency is there already, in line 3");
        for bad in ["-1", "NaN", "inf", "1 us", ""] {
            let text = error("gap = 3", &format!("gap = {bad}"));
            assert_eq!(text, format!("line 5: gap = {bad} is not a finite number of at least 0"));
        }
        for bad in ["-1", "1.5", "all"] {
            let text = error("eager = unlimited", &format!("eager = {bad}"));
            assert_eq!(text, format!("line 7: eager = {bad} is not a whole number of bytes or `unlimited`"));
        }
        assert_eq!(error("overhead = 2e0", ""), "overhead is missing (the file has 7 lines)");
        assert_eq!("".parse::<Loggp>().unwrap_err().to_string(), "latency is missing (the file has 0 lines)");
    }

    #[test]
    fn invalid_parameters_are_named() {
        let with = |f: fn(&mut Loggp)| {
            let mut p = Loggp::default();
            f(&mut p);
            p.invalid()
        };
        assert_eq!(with(|p| p.gap = f64::NAN), Some("gap"));
        assert_eq!(with(|p| p.gap_per_byte = -1.0), Some("gap_per_byte"));
        assert_eq!(with(|p| p.eager = 0), None);
    }

    proptest! {
        #[test]
        fn display_and_back(
            costs in prop::array::uniform4(prop_oneof![0.0f64..100.0, Just(0.0), any::<f64>().prop_map(f64::abs)]),
            eager in prop_oneof![any::<u64>(), Just(u64::MAX)],
        ) {
            prop_assume!(costs.iter().all(|&c| is_cost(c)));
            let mut p = loggp(costs[0], costs[1], costs[2], costs[3], eager);
            prop_assert_eq!(p.to_string().parse(), Ok(p));
            p.sharing.copy = Some(costs[0]);
            p.sharing.links[..3].copy_from_slice(&[costs[1] + 1e-9, costs[2] + 1.0, 8e-5]);
            p.sharing.random = Some(costs[3]);
            p.sharing.latencies[..2].copy_from_slice(&[costs[0] + 0.5, 1.75]);
            prop_assert_eq!(p.to_string().parse(), Ok(p));
        }
    }
}
