//! `mpix-neighbor schedule`: what each algorithm makes of one graph.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueEnum};
use mpix_neighbor::neighborhood::Neighborhood;
use mpix_neighbor::schedule::plan::lower_bound;
use mpix_neighbor::schedule::{ALGORITHMS, Block, Build, Entry, Op, Part, Schedule, Tuning, world_schedules};
use serde::Serialize;

use crate::Failure;
use crate::chart::{Bar, Chart, MAX_LANES, time};
use crate::input::{Problem, Source};
use crate::table::Table;

/// Show what each algorithm makes of a graph: rounds, messages, costs, and the run under the LogGP model
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    source: Source,

    /// Only this algorithm; may be repeated
    #[arg(long = "algorithm", value_name = "NAME", value_parser = algorithm)]
    algorithms: Vec<&'static Entry>,

    /// Bytes to a unit of weight
    #[arg(long, value_name = "BYTES", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    unit: u32,

    /// LogGP parameters: a preset or a file
    #[arg(long, value_name = "PRESET|FILE", default_value = DEFAULT_MODEL)]
    model: String,

    /// What a message costs beyond its bytes, in bytes (tau / phi) [default: as the model says]
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    startup: Option<f64>,

    /// Whether messages may be split
    #[arg(long, value_enum, default_value_t = Split::Yes)]
    split: Split,

    /// Whether a process sends and receives at the same time
    #[arg(long, value_enum, default_value_t = Duplex::Full)]
    duplex: Duplex,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Draw the run of the one --algorithm as an SVG
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,

    /// Which processes have lanes in the chart
    #[arg(long, value_name = "A..B", value_parser = lanes, requires = "chart")]
    processes: Option<std::ops::Range<u32>>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Split {
    /// Where it pays
    Yes,
    /// Never
    No,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Duplex {
    /// At the same time
    Full,
    /// One at a time
    Half,
}

fn algorithm(name: &str) -> Result<&'static Entry, String> {
    let names: Vec<&str> = ALGORITHMS.iter().map(|e| e.name).collect();
    (ALGORITHMS.iter().find(|e| e.name == name)).ok_or_else(|| format!("not one of {}", names.join(", ")))
}

/// A number of bytes, also with k, M or G behind it (powers of 1024).
pub fn bytes(text: &str) -> Result<f64, String> {
    let (digits, factor) = match text.strip_suffix(['k', 'K', 'M', 'G']) {
        Some(digits) => (digits, f64::from(1u32 << [("kK", 10), ("M", 20), ("G", 30)].iter().find(|s| text.ends_with(|c| s.0.contains(c))).map_or(0, |s| s.1))),
        None => (text, 1.0),
    };
    let number = digits.parse::<f64>().ok().filter(|n| n.is_finite() && (0.0..=1e15).contains(n));
    number.map(|n| n * factor).ok_or_else(|| "not a number of bytes, such as 4096 or 4k".into())
}

/// `a..b`, without `b`.
fn lanes(text: &str) -> Result<std::ops::Range<u32>, String> {
    let range = text.split_once("..").and_then(|(a, b)| Some(a.parse().ok()?..b.parse().ok()?));
    range.filter(|r: &std::ops::Range<u32>| !r.is_empty()).ok_or_else(|| "not a range such as 0..32, which ends before 32".into())
}
