//! `mpix-neighbor schedule`: the schedule that each algorithm builds for one graph.

use std::fmt::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use mpix_neighbor::model::{Options, Run, bytes_of, simulate};
use mpix_neighbor::schedule::rounds::ratio;
use mpix_neighbor::schedule::{
    ALGORITHMS, Algorithm, Build, Entry, Op, Schedule, Tuning, schedules_on_nodes, world_schedules_on,
};
use mpix_neighbor::topology::nodes::{Locality, Placement};
use mpix_neighbor::util::cast::to_u32;
use serde::Serialize;

use crate::chart::{Bar, Chart, MAX_LANES};
use crate::export::Export;
use crate::failure::Failure;
use crate::input::{Search, Source, bytes, locality, model, placement};
use crate::output;
use crate::parameters::Parameters;
use crate::ports;
use crate::problem::Problem;
use crate::table::Table;
use crate::text::time;
use crate::timing::timed;

/// Show what each algorithm makes of a graph: rounds, messages, costs, and the run under the LogGP
/// model
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    source: Source,

    /// Only this algorithm; may be repeated
    #[arg(long = "algorithm", value_name = "NAME", value_parser = algorithm)]
    algorithms: Vec<Algorithm>,

    /// Bytes to a unit of weight
    #[arg(long, value_name = "BYTES", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    unit: u32,

    #[command(flatten)]
    search: Search,

    /// LogGP parameters: a preset or a file; - is standard input
    #[arg(long, value_name = "PRESET|FILE", default_value = "jaguar")]
    model: String,

    /// Cost of a message beyond its bytes, in bytes (tau / phi) [default: as the model says]
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    startup: Option<f64>,

    /// Let messages be split
    #[arg(long, value_enum, default_value_t = Split::Yes)]
    split: Split,

    /// Let a process send and receive at the same time, or only one after the other
    #[arg(long, value_enum, default_value_t = Duplex::Full)]
    duplex: Duplex,

    /// How many rounds may have sends in flight
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    window: u32,

    /// Share of its blocks that a process of scatter_binomial hands on first
    #[arg(long, value_name = "ALPHA", default_value_t = Tuning::default().share, value_parser = share)]
    share: f64,

    /// Which processes share a node, for node_aware: a number of processes to a node, or the node
    /// of each process, as 0,0,1,1
    #[arg(long, value_name = "N|LIST", value_parser = placement)]
    nodes: Option<Placement>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Write the schedules of all processes as JSON (docs/schedule-format.md) to a file; - is
    /// standard output, where nothing else is printed then
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,

    /// Draw the run of the one --algorithm as an SVG; - is standard output, where nothing else is
    /// printed then
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

fn algorithm(name: &str) -> Result<Algorithm, String> {
    let names: Vec<&str> = ALGORITHMS.iter().map(|e| e.name).collect();
    let entry = ALGORITHMS.iter().find(|e| e.name == name);
    entry.map(|e| e.algorithm).ok_or_else(|| format!("not one of {}", names.join(", ")))
}

/// A number between 0 and 1.
fn share(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| "not a number from 0 to 1".into())
}

/// `a..b`, without `b`.
fn lanes(text: &str) -> Result<std::ops::Range<u32>, String> {
    let range = text.split_once("..").and_then(|(a, b)| Some(a.parse().ok()?..b.parse().ok()?));
    range.filter(|r: &std::ops::Range<u32>| !r.is_empty()).ok_or_else(|| "not a range such as 0..32, which ends before 32".into())
}

/// The schedule of one algorithm for the graph, in numbers. Costs in bytes, as many as would pass
/// in the same time; times in microseconds.
#[derive(Serialize)]
struct Figures {
    algorithm: &'static str,
    /// Rounds in which messages travel.
    rounds: usize,
    /// Messages of all processes.
    messages: usize,
    /// Those that carry only a part of a block.
    pieces: usize,
    /// Most rounds that one process takes part in.
    rounds_of_a_process: usize,
    /// IrregPC's cost; only where each process has one message in and one out in a round, or in
    /// half duplex one in or out.
    cost_bytes: Option<f64>,
    /// Its ratio to the lower bound, if that is a number.
    cost_ratio: Option<f64>,
    /// The run under the LogGP model.
    predicted_us: f64,
    /// Time in which a process makes the schedule.
    scheduling_us: f64,
}

/// All that is printed.
#[derive(Serialize)]
struct Report {
    graph: String,
    processes: usize,
    edges: usize,
    weight: u64,
    unit_bytes: u32,
    max_degree_out: u32,
    max_degree_in: u32,
    #[serde(flatten)]
    parameters: Parameters,
    window: u32,
    half_duplex: bool,
    split: bool,
    startup_bytes: f64,
    /// Lower bounds of schedules with one message in and one out at a time, or in half duplex one
    /// in or out: rounds, and IrregPC's cost in bytes.
    lower_bound_rounds: u32,
    lower_bound_bytes: f64,
    algorithms: Vec<Figures>,
    /// Algorithms that do not fit the graph, and why.
    unfit: Vec<(&'static str, &'static str)>,
}

impl Report {
    /// A report without algorithms yet; `startup` and `bound`: in bytes.
    fn new(arguments: &Arguments, problem: &Problem, parameters: Parameters, (startup, bound): (f64, f64)) -> Report {
        let graph = &problem.graph;
        let half_duplex = arguments.duplex == Duplex::Half;
        let (out, into) = graph.degrees();
        let most = |degrees: &[u32]| degrees.iter().copied().max().unwrap_or(0);
        Report {
            graph: problem.name.clone(),
            processes: graph.processes(),
            edges: graph.edges(),
            weight: graph.loads().0.iter().sum(),
            unit_bytes: arguments.unit,
            max_degree_out: most(&out),
            max_degree_in: most(&into),
            parameters,
            window: arguments.window,
            half_duplex,
            split: arguments.split == Split::Yes,
            startup_bytes: startup,
            lower_bound_rounds: ports::bound_rounds(graph, half_duplex),
            lower_bound_bytes: bound,
            algorithms: Vec::new(),
            unfit: Vec::new(),
        }
    }
}

/// Runs the command; what it prints.
pub fn run(arguments: &Arguments) -> Result<String, Failure> {
    if arguments.chart.is_some() && arguments.algorithms.len() != 1 {
        return Err(Failure::Usage("--chart needs one --algorithm".into()));
    }
    let files = [("--export", arguments.export.as_deref()), ("--chart", arguments.chart.as_deref())];
    let file_only = output::alone(&files, arguments.json)?;
    let model = model("--model", &arguments.model)?;
    let startup = arguments.startup.unwrap_or_else(|| model.startup_bytes());
    if !startup.is_finite() {
        return Err(Failure::Usage(format!("the model {} does not tell a startup in bytes: give --startup", arguments.model)));
    }
    let problem = arguments.source.problem()?;
    let nodes = arguments.nodes.as_ref().map(|placement| locality(placement, problem.world.len())).transpose()?;
    let half_duplex = arguments.duplex == Duplex::Half;
    let split = arguments.split == Split::Yes;
    let startup_units = startup / f64::from(arguments.unit);
    let (seed, budget, costs) = (arguments.source.seed(), arguments.search.budget, model.costs(arguments.unit));
    let tuning = Tuning { seed, startup: startup_units, split, half_duplex, budget, costs, share: arguments.share };
    let bound = ports::bound(&problem.graph, tuning.startup, half_duplex);
    let parameters = Parameters::new(&arguments.model, &model);
    let mut report = Report::new(arguments, &problem, parameters, (startup, bound * f64::from(arguments.unit)));
    let node_of = nodes.as_ref().map(|nodes| (0..nodes.processes()).map(|p| nodes.node_of(p)).collect());
    let mut export = (arguments.export.as_ref())
        .map(|file| (file, Export::new(&problem.name, &problem.world, arguments.unit, half_duplex, node_of)));
    let named = !arguments.algorithms.is_empty();
    for entry in &ALGORITHMS {
        if named && !arguments.algorithms.contains(&entry.algorithm) {
            continue;
        }
        let made = make(entry, &problem, nodes.as_ref(), &tuning);
        let (schedules, scheduling_us) = match made {
            Ok(made) => made,
            Err(reason) if named => return Err(Failure::Run(format!("{} does not fit: {reason}", entry.name))),
            Err(reason) => {
                report.unfit.push((entry.name, reason));
                continue;
            }
        };
        let trace = arguments.chart.is_some();
        let options = Options { window: arguments.window, half_duplex, trace, ..Options::default() };
        let run = simulate(&schedules, &|p, block| bytes_of(&problem.world, arguments.unit.into(), p, block), &model, &options)?;
        let made = Made { entry, schedules: &schedules, predicted_us: run.total, scheduling_us };
        report.algorithms.push(figures(&problem, &tuning, f64::from(arguments.unit), bound, &made));
        if let Some((_, export)) = &mut export {
            export.push(entry.name, &schedules);
        }
        if let Some(file) = &arguments.chart {
            let svg = chart(arguments, &report, &run)?.svg();
            output::write(file, &svg)?;
        }
    }
    if let Some((file, export)) = export {
        export.write(file)?;
    }
    if file_only {
        return Ok(String::new());
    }
    Ok(if arguments.json { crate::table::json(&report) } else { report.text() })
}

/// The schedules of all processes, and what one process needs to make its own, in microseconds.
fn make(
    entry: &Entry,
    problem: &Problem,
    nodes: Option<&Locality>,
    tuning: &Tuning,
) -> Result<(Vec<Schedule>, f64), &'static str> {
    if let Build::Global(plan) = entry.build {
        // every process makes the plan of all and takes its own schedule out of it
        let (plan, us) = fastest(|| plan(&problem.graph, tuning));
        return Ok((plan.schedules(&problem.graph, &problem.world), us));
    }
    if let (Build::Nodes(_), Some(nodes)) = (entry.build, nodes) {
        return Ok(fastest(|| schedules_on_nodes(&problem.world, nodes, tuning)));
    }
    if let Build::Nodes(_) = entry.build {
        return Err("it needs to know which processes share a node: --nodes");
    }
    let (grid, directions) = (problem.grid.as_ref(), problem.directions.as_deref());
    let (schedules, us) = fastest(|| world_schedules_on(entry.algorithm, &problem.world, grid, directions, tuning));
    Ok((schedules?, us / problem.world.len().max(1) as f64))
}

/// Runs `body` up to three times, unless that takes long; its result and the shortest time: memory
/// is cold the first time.
fn fastest<T>(body: impl Fn() -> T) -> (T, f64) {
    let (mut result, mut us) = timed(&body);
    for _ in 0..2 {
        if us > 50_000.0 {
            break;
        }
        let again = timed(&body);
        (result, us) = (again.0, us.min(again.1));
    }
    (result, us)
}

/// The schedules of an algorithm for all processes.
struct Made<'a> {
    entry: &'a Entry,
    schedules: &'a [Schedule],
    /// Time of their run under the LogGP model.
    predicted_us: f64,
    /// Time in which a process makes its own.
    scheduling_us: f64,
}

/// `unit`: bytes of a unit of weight; `bound`: lower bound of the cost, in units.
fn figures(problem: &Problem, tuning: &Tuning, unit: f64, bound: f64, made: &Made) -> Figures {
    let &Made { entry, schedules, predicted_us, scheduling_us } = made;
    let parts = schedules.iter().flat_map(Schedule::ops).filter(|op| matches!(op, Op::Send { part, .. } if !part.is_whole()));
    let mut rounds: Vec<u32> = schedules.iter().flat_map(sending_rounds).collect();
    rounds.sort_unstable();
    rounds.dedup();
    // the bound holds for what has one message at a time
    let cost = (ports::of_schedules(&problem.world, schedules))
        .filter(|messages| entry.single_port && ports::one_at_a_time(messages, tuning.half_duplex))
        .map(|messages| ports::synchronized(&messages, tuning.startup));
    Figures {
        algorithm: entry.name,
        rounds: rounds.len(),
        messages: schedules.iter().map(Schedule::messages).sum(),
        pieces: parts.count(),
        rounds_of_a_process: schedules.iter().map(Schedule::rounds).max().unwrap_or(0),
        cost_bytes: cost.map(|c| c * unit),
        cost_ratio: cost.filter(|_| problem.graph.edges() > 0).map(|c| ratio(c, bound)).filter(|r| r.is_finite()),
        predicted_us,
        scheduling_us,
    }
}

/// Numbers of the rounds in which a process sends.
fn sending_rounds(schedule: &Schedule) -> impl Iterator<Item = u32> + '_ {
    let sends = |r: &usize| schedule.round(*r).iter().any(|op| matches!(op, Op::Send { .. }));
    (0..schedule.rounds()).filter(sends).map(|r| schedule.number(r))
}

/// The chart of a run.
fn chart(arguments: &Arguments, report: &Report, run: &Run) -> Result<Chart, Failure> {
    let all = to_u32(report.processes);
    let processes = match &arguments.processes {
        Some(range) if range.end > all => return Err(Failure::Usage(format!("--processes: there are {all} processes"))),
        Some(range) => range.clone(),
        None => 0..all,
    };
    if to_u32(processes.len()) > MAX_LANES {
        return Err(Failure::Usage(format!(
            "a chart of {} processes cannot be read: choose at most {MAX_LANES} of them with --processes A..B",
            processes.len()
        )));
    }
    if !run.total.is_finite() {
        return Err(Failure::Run("the predicted time is too long to be drawn".into()));
    }
    let transfers = run.trace.as_deref().unwrap_or_default();
    let mut rounds: Vec<u32> = transfers.iter().map(|t| t.round).collect();
    rounds.sort_unstable();
    rounds.dedup();
    let bars = (transfers.iter())
        .flat_map(|t| {
            let bar = |sends, range: &std::ops::Range<f64>| {
                let (process, peer) = if sends { (t.source, t.target) } else { (t.target, t.source) };
                let round = rounds.binary_search(&t.round).unwrap_or(0);
                Bar { process, sends, peer, bytes: t.bytes, round, begin: range.start * 1e-6, end: range.end * 1e-6 }
            };
            [bar(true, &t.send), bar(false, &t.receive)]
        })
        .collect();
    let name = report.algorithms.last().map_or("", |f| f.algorithm);
    Ok(Chart {
        title: format!("{name} on {}: {} under LogGP", report.graph, time(run.total * 1e-6)),
        subtitle: format!(
            "{all} processes, {} messages in {} round{}, {} B to a unit of weight; {}",
            transfers.len(),
            rounds.len(),
            if rounds.len() == 1 { "" } else { "s" },
            report.unit_bytes,
            report.model_text()
        ),
        processes,
        rounds,
        end: run.total * 1e-6,
        bars,
    })
}

impl Report {
    fn model_text(&self) -> String {
        let duplex = if self.half_duplex { "half" } else { "full" };
        format!("{}; {duplex} duplex, window {}", self.parameters, self.window)
    }

    fn text(&self) -> String {
        // what passes in a time, as that time
        let passing = |bytes: f64| time(bytes * self.parameters.gap_per_byte_us * 1e-6);
        let mut text = format!(
            "graph: {}; {} processes, {} edges, weight {} of {} B; at most {} edges out of a process, {} in\n\
             model: {}\n\
             IrregPC: tau / phi = {:.0} B; messages may {}be split; with one message in {} one out at a time, at least {} rounds and a cost of {}\n\n",
            self.graph,
            self.processes,
            self.edges,
            self.weight,
            self.unit_bytes,
            self.max_degree_out,
            self.max_degree_in,
            self.model_text(),
            self.startup_bytes,
            if self.split { "" } else { "not " },
            if self.half_duplex { "or" } else { "and" },
            self.lower_bound_rounds,
            passing(self.lower_bound_bytes),
        );
        let mut table = Table::new([
            "algorithm",
            "rounds",
            "of a process",
            "messages",
            "pieces",
            "IrregPC cost",
            "/ bound",
            "LogGP time",
            "scheduling",
        ]);
        for f in &self.algorithms {
            let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".into());
            table.row([
                f.algorithm.to_owned(),
                f.rounds.to_string(),
                f.rounds_of_a_process.to_string(),
                f.messages.to_string(),
                f.pieces.to_string(),
                or_none(f.cost_bytes.map(passing)),
                or_none(f.cost_ratio.map(|r| format!("{r:.3}"))),
                time(f.predicted_us * 1e-6),
                time(f.scheduling_us * 1e-6),
            ]);
        }
        let _ = write!(text, "{table}");
        for (name, reason) in &self.unfit {
            let _ = write!(text, "\n{name} does not fit: {reason}");
        }
        if !self.unfit.is_empty() {
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_lanes() {
        assert_eq!(lanes("3..8"), Ok(3..8));
        for text in ["", "3", "3..3", "8..3", "a..b", "3..=8", "-1..4"] {
            assert!(lanes(text).is_err(), "{text}");
        }
    }
}
