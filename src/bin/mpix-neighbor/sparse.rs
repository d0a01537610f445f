//! `mpix-neighbor sparse`: the LogGP model's predictions for the protocols for dynamic sparse data
//! exchange, and the number of messages from which PCX is faster than NBX; with `--compare`, under
//! an MPI launcher, also measured times.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use mpix_neighbor::model::sparse::paper::{self, Broadcast, crossover};
use mpix_neighbor::model::{Load, Loggp, Network, PRESETS, PROTOCOLS, predict_exchange_on};
use mpix_neighbor::util::cast::whole;
use serde::Serialize;

use crate::curves::{Curve, Curves};
use crate::failure::Failure;
use crate::input::{bytes, microseconds, model};
use crate::output;
use crate::parameters::Parameters;
use crate::table::{Table, quotient};
use crate::text::time;

/// Predict the times of the protocols for dynamic sparse data exchange, and measure them: mpirun -n
/// 4 mpix-neighbor sparse --compare
#[derive(Args)]
pub struct Arguments {
    /// Numbers of processes, separated by commas
    #[arg(long, value_name = "P", value_delimiter = ',', default_values_t = (1..=16).map(|e| 1u32 << e), value_parser = clap::value_parser!(u32).range(1..))]
    pub processes: Vec<u32>,

    /// How many messages each process sends
    #[arg(long, value_name = "K", default_value_t = 6)]
    pub messages: u32,

    /// Bytes of a message
    #[arg(long, default_value = "512", value_parser = whole_bytes)]
    pub bytes: u64,

    /// Processes on a node [default: 1, and for --compare MPIX_NODE_SIZE, or as they are]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub per_node: Option<u32>,

    /// LogGP parameters: a preset or a file (- is standard input); may be repeated [default:
    /// jaguar, and for --crossover all presets; for --compare MPIX_LOGGP, the library's file, or
    /// what is measured]
    #[arg(long, value_name = "PRESET|FILE")]
    pub loggp: Vec<String>,

    /// Time of a barrier by the network, instead of one by messages
    #[arg(long, value_name = "US", value_parser = microseconds, conflicts_with = "compare")]
    barrier: Option<f64>,

    /// Latency of a synchronous send, instead of an acknowledgement by a message
    #[arg(long, value_name = "US", value_parser = microseconds, conflicts_with = "compare")]
    synchronous: Option<f64>,

    /// Print the bounds of DSDE's section 3 too, with either bound of a barrier's time T_BC
    #[arg(long, conflicts_with = "compare")]
    bounds: bool,

    /// Measure too, under mpirun: among 2, 4, 8, 16 and all processes, 16 at most
    #[arg(long, conflicts_with_all = ["processes", "crossover"])]
    pub compare: bool,

    /// Exchanges of a batch, for --compare
    #[arg(long, value_name = "N", default_value_t = 100, requires = "compare", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub exchanges: u32,

    /// Batches of each protocol, for --compare: their median counts
    #[arg(long, value_name = "N", default_value_t = 15, requires = "compare", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub batches: u32,

    /// Draw up to how many messages NBX takes no longer than PCX as an SVG; - is standard output,
    /// where nothing else is printed then
    #[arg(long, value_name = "FILE")]
    crossover: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

fn whole_bytes(text: &str) -> Result<u64, String> {
    let number = bytes(text)?;
    if number.fract() == 0.0 { Ok(whole(number)) } else { Err("not a whole number of bytes".into()) }
}

/// Times of several protocols in several cases, of which the least of each case is marked.
pub struct Times {
    /// The quantity by which the cases differ.
    pub heading: &'static str,
    /// Names of the protocols.
    pub protocols: Vec<&'static str>,
    /// For each case its name and the protocols' times in microseconds; none where a protocol does
    /// not run.
    pub cases: Vec<(String, Vec<Option<f64>>)>,
}

impl Times {
    /// A row for each case. A star stands before the least time; of equal ones before the first.
    pub fn table(&self) -> Table {
        let mut table = Table::new([self.heading].into_iter().chain(self.protocols.iter().copied()));
        for (case, times) in &self.cases {
            table.row([case.clone()].into_iter().chain(cells(times)));
        }
        table
    }
}

/// Times as the cells of a row, in which a star stands before the least.
pub fn cells(times: &[Option<f64>]) -> impl Iterator<Item = String> {
    let least = least(times);
    times.iter().enumerate().map(move |(i, us)| match us {
        Some(us) => format!("{}{}", if least == Some(i) { "*" } else { "" }, time(us * 1e-6)),
        None => "-".into(),
    })
}

/// The place of the least time; of equal ones the first.
pub fn least(times: &[Option<f64>]) -> Option<usize> {
    let known = times.iter().enumerate().filter_map(|(i, us)| us.map(|us| (i, us)));
    known.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(i, _)| i)
}

#[derive(Serialize)]
struct Prediction {
    protocol: &'static str,
    /// `null` where the protocol cannot run.
    predicted_us: Option<f64>,
}

#[derive(Serialize)]
struct Case {
    processes: u32,
    best: &'static str,
    protocols: Vec<Prediction>,
    /// k(P) with either bound of T_BC; `null` where o is 0.
    crossover_lower: f64,
    crossover_upper: f64,
    /// T_PEX, T_PCX, T_RSX and T_NBX with the lower bound of T_BC, and with the upper one.
    bounds_lower: [f64; 4],
    bounds_upper: [f64; 4],
}

#[derive(Serialize)]
struct Machine {
    #[serde(flatten)]
    parameters: Parameters,
    cases: Vec<Case>,
}

#[derive(Serialize)]
struct Report {
    messages: u32,
    bytes: u64,
    per_node: u32,
    #[serde(skip)]
    bounds: bool,
    machines: Vec<Machine>,
}

/// Runs the command without `--compare`; what it prints.
pub fn run(arguments: &Arguments) -> Result<String, Failure> {
    let named = |name: &String| Ok((name.clone(), model("--loggp", name)?));
    let chosen = arguments.loggp.iter().map(named).collect::<Result<Vec<_>, Failure>>()?;
    let presets = |count| PRESETS.iter().take(count).map(|p| (p.name.to_owned(), p.values)).collect();
    let or_presets = |count| if chosen.is_empty() { presets(count) } else { chosen.clone() };
    let file_only = output::alone(&[("--crossover", arguments.crossover.as_deref())], arguments.json)?;
    if let Some(file) = &arguments.crossover {
        let svg = chart(&or_presets(PRESETS.len()), &arguments.processes)?.svg();
        output::write(file, &svg)?;
    }
    if file_only {
        return Ok(String::new());
    }
    // the first preset is the default
    let machines = or_presets(1).into_iter().map(|(name, machine)| predict(&name, &machine, arguments)).collect();
    let &Arguments { messages, bytes, bounds, .. } = arguments;
    let report = Report { messages, bytes, per_node: arguments.per_node.unwrap_or(1), bounds, machines };
    Ok(if arguments.json { crate::table::json(&report) } else { report.text() })
}

fn predict(model: &str, machine: &Loggp, arguments: &Arguments) -> Machine {
    let case = |&processes: &u32| {
        let &Arguments { messages, bytes, per_node, barrier, synchronous, .. } = arguments;
        let network = Network { barrier, synchronous };
        let bound = |bound| barrier.map_or(bound, Broadcast::Takes);
        let load = Load { processes, per_node: per_node.unwrap_or(1), messages, bytes };
        let protocols: Vec<Prediction> = (PROTOCOLS.iter())
            .map(|e| Prediction {
                protocol: e.name,
                predicted_us: finite(predict_exchange_on(e.protocol, machine, &network, &load)),
            })
            .collect();
        let times: Vec<_> = protocols.iter().map(|p| p.predicted_us).collect();
        Case {
            processes,
            best: least(&times).map_or("", |i| protocols[i].protocol),
            protocols,
            crossover_lower: crossover(machine, processes, bound(Broadcast::Lower)),
            crossover_upper: crossover(machine, processes, bound(Broadcast::Upper)),
            bounds_lower: bounds(machine, processes, messages, bound(Broadcast::Lower), synchronous),
            bounds_upper: bounds(machine, processes, messages, bound(Broadcast::Upper), synchronous),
        }
    };
    Machine { parameters: Parameters::new(model, machine), cases: arguments.processes.iter().map(case).collect() }
}

/// T_PEX, T_PCX, T_RSX and T_NBX of the paper, the last one with what acknowledgements add.
fn bounds(machine: &Loggp, processes: u32, messages: u32, barrier: Broadcast, synchronous: Option<f64>) -> [f64; 4] {
    let added = synchronous.map_or_else(|| paper::handshake(machine, messages), |latency| (latency - machine.latency).max(0.0));
    [
        paper::pex(machine, processes, messages),
        paper::pcx(machine, processes, messages),
        paper::rsx(machine, processes, messages, barrier),
        paper::nbx(machine, processes, messages, barrier) + added,
    ]
}

/// A predicted time; none of what cannot run.
pub fn finite(us: f64) -> Option<f64> {
    us.is_finite().then_some(us)
}

/// The chart of k(P).
fn chart(machines: &[(String, Loggp)], processes: &[u32]) -> Result<Curves, Failure> {
    let mut processes = processes.to_vec();
    processes.sort_unstable();
    processes.dedup();
    if processes.len() < 2 {
        return Err(Failure::Usage("--crossover needs at least two different numbers of --processes".into()));
    }
    let curve = |(name, machine): &(String, Loggp), bound| Curve {
        name: name.clone(),
        dashed: bound == Broadcast::Lower,
        points: processes.iter().map(|&p| (f64::from(p), crossover(machine, p, bound))).collect(),
    };
    Ok(Curves {
        title: "Up to how many messages of a process NBX takes no longer than PCX".into(),
        subtitles: vec![
            "k(P) = (T_RS - T_BC - L) / o with T_RS = G (P - 1) + (L + 2 o - G) ceil(log2 P): Hoefler, Siebert, Lumsdaine 2010, section 4.2."
                .into(),
            "Below a line NBX takes less, above it PCX. T_BC, the time of a barrier, is between two bounds.".into(),
        ],
        axes: ["processes (P)", "messages of a process (k)"].map(String::from),
        styles: ["T_BC = log2(P) (L + 2 o)", "T_BC = log2(P) o"],
        curves: machines.iter().flat_map(|m| [curve(m, Broadcast::Upper), curve(m, Broadcast::Lower)]).collect(),
    })
}

impl Machine {
    /// The paper's bounds, and how many times as long as NBX PCX takes.
    fn bounds(&self) -> Table {
        let mut table = Table::new([
            "processes",
            "PEX, PCX",
            "RSX, least T_BC",
            "NBX, least T_BC",
            "PCX / NBX",
            "RSX, most T_BC",
            "NBX, most T_BC",
            "PCX / NBX",
        ]);
        let shown = |us: f64| time(us * 1e-6);
        for Case { processes, bounds_lower, bounds_upper, .. } in &self.cases {
            let either = |&[_, pcx, rsx, nbx]: &[f64; 4]| [shown(rsx), shown(nbx), quotient(pcx, nbx, 2)];
            let common = [processes.to_string(), shown(bounds_lower[1])];
            table.row(common.into_iter().chain(either(bounds_lower)).chain(either(bounds_upper)));
        }
        table
    }

    fn text(&self) -> String {
        // what can run in none of the cases has no column
        let columns: Vec<usize> =
            (0..PROTOCOLS.len()).filter(|&i| self.cases.iter().any(|c| c.protocols[i].predicted_us.is_some())).collect();
        let row = |c: &Case| columns.iter().map(|&i| c.protocols[i].predicted_us).collect();
        let times = Times {
            heading: "processes",
            protocols: columns.iter().map(|&i| PROTOCOLS[i].name).collect(),
            cases: self.cases.iter().map(|c| (c.processes.to_string(), row(c))).collect(),
        };
        format!("{}\n\n{}", self.parameters, times.table())
    }
}

/// The plural ending of a noun that follows a number.
pub fn plural(n: u32) -> &'static str {
    if n == 1 { "" } else { "s" }
}

impl Report {
    fn text(&self) -> String {
        let mut text = format!(
            "{} message{} of {} B from each process, {} process{} on a node; times under LogGP, *: the least\n",
            self.messages,
            plural(self.messages),
            self.bytes,
            self.per_node,
            if self.per_node == 1 { "" } else { "es" },
        );
        for machine in &self.machines {
            let _ = write!(text, "\n{}", machine.text());
            if self.bounds {
                let _ = write!(text, "\nDSDE's bounds\n\n{}", machine.bounds());
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_time_is_marked_once() {
        let times = Times {
            heading: "case",
            protocols: vec!["a", "b", "c"],
            cases: vec![
                ("x".into(), vec![Some(20.0), Some(10.0), Some(10.0)]),
                ("y".into(), vec![None, Some(2.0), Some(1.0)]),
                ("z".into(), vec![None; 3]),
            ],
        };
        let text = times.table().to_string();
        let rows: Vec<Vec<&str>> = text.lines().skip(2).map(|l| l.split('|').map(str::trim).collect()).collect();
        assert_eq!(rows[0][1..5], ["x", "20.00 µs", "*10.00 µs", "10.00 µs"]);
        assert_eq!(rows[1][1..5], ["y", "-", "2.000 µs", "*1.000 µs"]);
        assert_eq!(rows[2][1..5], ["z", "-", "-", "-"]);
    }

    #[test]
    fn bytes_are_whole() {
        assert_eq!(["0", "512", "4k", "1.5k"].map(|t| whole_bytes(t).ok()), [0, 512, 4096, 1536].map(Some));
        assert_eq!(["", "1.5", "-1", "x"].map(|t| whole_bytes(t).ok()), [None; 4]);
    }
}
