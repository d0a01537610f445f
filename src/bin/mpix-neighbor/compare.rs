//! `mpix-neighbor compare`: the algorithms for general graphs side by side on IrregPC's test sets,
//! under its costs: a round takes `tau + M phi` for its longest message `M`. The columns of its
//! Tables 5 to 7, with two of this library's algorithms and the lower bound.

use std::fmt::Write;

use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use mpix_neighbor::schedule::random_rounds::{Lambda, Variant, build_variant};
use mpix_neighbor::schedule::rounds::{lower_bound, ratio};
use mpix_neighbor::schedule::{ALGORITHMS, Algorithm, Build, Tuning, schedules_on_nodes, world_schedules};
use mpix_neighbor::topology::graph::Graph;
use mpix_neighbor::topology::nodes::{Locality, Placement};
use serde::Serialize;

use crate::failure::Failure;
use crate::generator::Generator;
use crate::input::{Search, bytes, locality, microseconds, placement};
use crate::matchings;
use crate::ports::{self, Message};
use crate::table::{Table, quotient};
use crate::timing::timed;

/// Compare the algorithms for general graphs on IrregPC's test sets
#[derive(Args)]
pub struct Arguments {
    /// Test set: 1 = about equal degrees and random sizes, 2 = few large and many small messages, 3
    /// = a mesh
    #[arg(long, value_name = "1|2|3", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=3))]
    set: u32,

    /// Degree of set 1
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=31))]
    degree: u32,

    /// Points of the mesh of set 3
    #[arg(long, default_value_t = 2800)]
    #[arg(value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    points: u32,

    /// Number of graphs
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    matrices: u32,

    /// Bytes to a unit of weight, separated by commas
    #[arg(long, value_delimiter = ',', default_values_t = (4..14).map(|k| 1u32 << k))]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    units: Vec<u32>,

    /// Cost of a message beyond its bytes (tau / phi)
    #[arg(long, value_name = "BYTES", default_value = "4096", value_parser = bytes)]
    startup: f64,

    /// Time of a byte (phi) in microseconds: costs are printed in milliseconds, and scheduling as a
    /// share of them
    #[arg(long, value_name = "US", value_parser = microseconds)]
    phi: Option<f64>,

    /// Up to how many bytes a message of AC that has to wait does not hold up those behind it
    #[arg(long, value_name = "BYTES", default_value = "0", value_parser = bytes)]
    eager: f64,

    #[command(flatten)]
    search: Search,

    /// Which processes share a node, for a column of node_aware: a number of processes to a node,
    /// or the node of each process, as 0,0,1,1
    #[arg(long, value_name = "N|LIST", value_parser = placement)]
    nodes: Option<Placement>,

    /// Also compare costs with a bound that takes all ports together, where the lower bound takes
    /// each by itself: some 10 seconds for a graph and unit
    #[arg(long)]
    matchings: bool,

    /// Statistic over all graphs
    #[arg(long, value_enum, default_value_t = Statistic::Mean)]
    statistic: Statistic,

    /// From which the graphs are drawn
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum Statistic {
    Mean,
    Median,
}

impl Statistic {
    fn of(self, mut values: Vec<f64>) -> f64 {
        let n = values.len();
        match self {
            _ if n == 0 => 0.0,
            Statistic::Mean => values.iter().sum::<f64>() / n as f64,
            Statistic::Median => {
                values.sort_by(f64::total_cmp);
                f64::midpoint(values[(n - 1) / 2], values[n / 2])
            }
        }
    }
}

/// A column of the tables.
#[derive(Clone, Copy)]
enum Method {
    /// AC: all at once. Has no rounds.
    Asynchronous,
    /// An algorithm of the table.
    Table(Algorithm),
    /// RS_N, RS_N+sort, RS_NH.
    Random(Variant),
    /// RS_NH+fixed: the best of several fixed shares.
    BestFixed,
    /// An algorithm that knows which processes share a node.
    Nodes,
}

/// The shares that RS_NH+fixed tries (IrregPC, section 7.1).
const FIXED: [f64; 5] = [0.75, 0.875, 0.9375, 0.96875, 1.0];

/// All columns: IrregPC's, then what else of the table fits any graph.
fn methods(nodes: bool) -> Vec<(&'static str, Method)> {
    let named = |name: &str| ALGORITHMS.iter().find(|e| e.name == name);
    let mut methods = vec![("AC", Method::Asynchronous)];
    methods.extend(named("linear_permutation").map(|e| ("LP", Method::Table(e.algorithm))));
    methods.extend([
        ("RS_N", Method::Random(Variant::RsN)),
        ("RS_N+sort", Method::Random(Variant::RsNSort)),
        ("RS_NH", Method::Random(Variant::RsNh(Lambda::Incremental))),
        ("RS_NH(1)", Method::Random(Variant::RsNh(Lambda::One))),
        ("RS_NH+fixed", Method::BestFixed),
    ]);
    let other = |name: &str| !["direct", "linear_permutation", "random_rounds"].contains(&name);
    let two = Graph::from_edges(2, &[(0, 1, 1), (1, 0, 1)]).neighborhoods();
    let fits = |algorithm| world_schedules(algorithm, &two, None, &Tuning::default()).is_ok();
    methods.extend(
        (ALGORITHMS.iter().filter(|e| e.single_port && other(e.name) && fits(e.algorithm)))
            .map(|e| (e.name, Method::Table(e.algorithm))),
    );
    methods.extend(ALGORITHMS.iter().filter(|e| nodes && matches!(e.build, Build::Nodes(_))).map(|e| (e.name, Method::Nodes)));
    methods
}

/// The schedule of one method for a graph, in numbers. Costs in units of weight.
struct Outcome {
    /// The paper's cost; AC's is `overlapped`.
    cost: f64,
    /// The cost where rounds do not wait for one another.
    overlapped: f64,
    /// Rounds with messages; AC has none.
    rounds: Option<f64>,
    /// Messages.
    messages: f64,
    /// How long the schedule took to make, in microseconds.
    scheduling: f64,
}

impl Outcome {
    fn new(graph: &Graph, messages: &[Message], scheduling: f64, startup: f64) -> Outcome {
        Outcome {
            cost: ports::synchronized(messages, startup),
            overlapped: ports::unsynchronized(graph.processes(), messages, startup),
            rounds: Some(ports::rounds(messages) as f64),
            messages: messages.len() as f64,
            scheduling,
        }
    }
}

impl Method {
    /// True if its cost is that of rounds with one message in and one out at a time.
    fn has_rounds(self) -> bool {
        !matches!(self, Method::Asynchronous | Method::Nodes)
    }

    fn run(self, graph: &Graph, nodes: Option<&Locality>, tuning: &Tuning, eager: f64) -> Result<Outcome, String> {
        let startup = tuning.startup;
        let variant = |variant| {
            let (rounds, scheduling) = timed(|| build_variant(graph, variant, tuning).0);
            Outcome::new(graph, &ports::of_rounds(graph, &rounds), scheduling, startup)
        };
        Ok(match self {
            Method::Asynchronous => {
                let cost = ports::asynchronous(graph, startup, eager);
                Outcome { cost, overlapped: cost, rounds: None, messages: graph.edges() as f64, scheduling: 0.0 }
            }
            Method::Random(v) => variant(v),
            Method::BestFixed => (FIXED.iter().map(|&share| variant(Variant::RsNh(Lambda::Fixed(share)))))
                .min_by(|a, b| a.cost.total_cmp(&b.cost))
                .ok_or("no share is tried")?,
            Method::Nodes => {
                let (world, nodes) = (graph.neighborhoods(), nodes.ok_or("no nodes are given")?);
                let (schedules, scheduling) = timed(|| schedules_on_nodes(&world, nodes, tuning));
                let messages = ports::of_packets(&world, &schedules)?;
                Outcome { cost: ports::loaded(&messages, startup), ..Outcome::new(graph, &messages, scheduling, startup) }
            }
            Method::Table(algorithm) => match algorithm.entry().build {
                Build::Global(build) => {
                    let (rounds, scheduling) = timed(|| build(graph, tuning));
                    Outcome::new(graph, &ports::of_rounds(graph, &rounds), scheduling, startup)
                }
                _ => {
                    let world = graph.neighborhoods();
                    let (schedules, all) = timed(|| world_schedules(algorithm, &world, None, tuning));
                    let messages = ports::of_schedules(&world, &schedules?).ok_or("messages without a weight")?;
                    // each process makes its own
                    Outcome::new(graph, &messages, all / world.len().max(1) as f64, startup)
                }
            },
        })
    }
}

/// Costs of all graphs to their bounds.
#[derive(Serialize)]
struct Ratio {
    mean: f64,
    worst: f64,
}

impl Ratio {
    fn new(outcomes: &[Outcome], bounds: &[f64]) -> Ratio {
        let ratios: Vec<f64> = outcomes.iter().zip(bounds).map(|(o, &bound)| ratio(o.cost, bound)).collect();
        Ratio { worst: ratios.iter().copied().fold(0.0, f64::max), mean: Statistic::Mean.of(ratios) }
    }

    fn text(&self) -> String {
        format!("{:.2} / {:.2}", self.mean, self.worst)
    }
}

/// A method at one size of the unit, over all graphs.
#[derive(Serialize)]
struct Cell {
    method: &'static str,
    /// Bytes to a unit of weight.
    unit: u32,
    /// Costs in bytes, as many as would pass in the same time.
    cost: f64,
    cost_overlapped: f64,
    /// To the lower bound.
    ratio: Ratio,
    /// To the bound by matchings, if asked for, of methods that it bounds.
    matchings: Option<Ratio>,
    rounds: Option<f64>,
    messages: f64,
    scheduling_us: f64,
}

#[derive(Serialize)]
struct Comparison {
    set: String,
    matrices: u32,
    startup: f64,
    #[serde(skip)]
    phi: Option<f64>,
    statistic: Statistic,
    /// For each unit the lower bound in bytes.
    lower_bounds: Vec<(u32, f64)>,
    /// The same by matchings, if asked for.
    matchings: Vec<(u32, f64)>,
    cells: Vec<Cell>,
}

/// The inputs that all units share.
struct Inputs<'a> {
    arguments: &'a Arguments,
    graphs: Vec<Graph>,
    nodes: Option<Locality>,
    methods: Vec<(&'static str, Method)>,
    progress: ProgressBar,
}

impl Inputs<'_> {
    /// Runs a method on all graphs with messages of `unit` bytes.
    fn outcomes(&self, name: &str, method: Method, unit: u32) -> Result<Vec<Outcome>, String> {
        let (arguments, bytes) = (self.arguments, f64::from(unit));
        let mut outcomes = Vec::new();
        for (i, graph) in self.graphs.iter().enumerate() {
            let (seed, startup) = (arguments.seed.wrapping_add(i as u64), arguments.startup / bytes);
            let tuning = Tuning { seed, startup, budget: arguments.search.budget, ..Tuning::default() };
            let outcome = method.run(graph, self.nodes.as_ref(), &tuning, arguments.eager / bytes);
            outcomes.push(outcome.map_err(|e| format!("{name}: {e}"))?);
            self.progress.inc(1);
        }
        Ok(outcomes)
    }
}

/// Runs the command; what it prints.
pub fn run(arguments: &Arguments) -> Result<String, Failure> {
    let generator = match arguments.set {
        1 => Generator::IrregPc1(arguments.degree, 32),
        2 => Generator::IrregPc2,
        _ => Generator::Airfoil(arguments.points, 32),
    };
    // each unit has one row
    let mut units: Vec<u32> = Vec::new();
    for &unit in &arguments.units {
        if !units.contains(&unit) {
            units.push(unit);
        }
    }
    let graphs: Vec<Graph> =
        (0..u64::from(arguments.matrices)).map(|i| generator.make(arguments.seed.wrapping_add(i)).graph).collect();
    let nodes = match (&arguments.nodes, graphs.first()) {
        (Some(placement), Some(graph)) => Some(locality(placement, graph.processes())?),
        _ => None,
    };
    let methods = methods(nodes.is_some());
    let columns = methods.len() + usize::from(arguments.matchings);
    let progress = ProgressBar::new((columns * units.len()) as u64 * graphs.len() as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg} {eta}") {
        progress.set_style(style);
    }
    let inputs = Inputs { arguments, graphs, nodes, methods, progress };
    let mut result = Comparison {
        set: generator.to_string(),
        matrices: arguments.matrices,
        startup: arguments.startup,
        phi: arguments.phi,
        statistic: arguments.statistic,
        lower_bounds: Vec::new(),
        matchings: Vec::new(),
        cells: Vec::new(),
    };
    for &unit in &units {
        result.add_unit(&inputs, unit)?;
    }
    inputs.progress.finish_and_clear();
    match arguments.json {
        true => Ok(crate::table::json(&result)),
        false => Ok(result.text(&inputs.methods)),
    }
}

impl Comparison {
    /// Adds the results for messages of `unit` bytes.
    fn add_unit(&mut self, inputs: &Inputs, unit: u32) -> Result<(), Failure> {
        let Inputs { arguments, graphs, methods, progress, .. } = inputs;
        let (statistic, bytes) = (self.statistic, f64::from(unit));
        let startup = arguments.startup / bytes;
        let bounds: Vec<f64> = graphs.iter().map(|g| lower_bound(g, startup)).collect();
        self.lower_bounds.push((unit, statistic.of(bounds.clone()) * bytes));
        progress.set_message("bounds");
        let matchings: Option<Vec<f64>> = arguments.matchings.then(|| {
            let bound = |graph| {
                progress.inc(1);
                matchings::bound(graph, startup)
            };
            graphs.iter().map(bound).collect()
        });
        self.matchings.extend(matchings.iter().map(|bounds| (unit, statistic.of(bounds.clone()) * bytes)));
        for &(name, method) in methods {
            progress.set_message(name);
            let outcomes = inputs.outcomes(name, method, unit)?;
            let of = |value: fn(&Outcome) -> f64| statistic.of(outcomes.iter().map(value).collect());
            self.cells.push(Cell {
                method: name,
                unit,
                cost: of(|o| o.cost) * bytes,
                cost_overlapped: of(|o| o.overlapped) * bytes,
                ratio: Ratio::new(&outcomes, &bounds),
                matchings: matchings.as_ref().filter(|_| method.has_rounds()).map(|bounds| Ratio::new(&outcomes, bounds)),
                rounds: outcomes.iter().map(|o| o.rounds).collect::<Option<Vec<f64>>>().map(|rounds| statistic.of(rounds)),
                messages: of(|o| o.messages),
                // of times that are measured, a few are far off
                scheduling_us: Statistic::Median.of(outcomes.iter().map(|o| o.scheduling).collect()),
            });
        }
        Ok(())
    }

    fn text(&self, methods: &[(&'static str, Method)]) -> String {
        let statistic = match self.statistic {
            Statistic::Mean => "means",
            Statistic::Median => "medians",
        };
        let mut text = format!("{}: {statistic} of {} graphs, tau / phi = {} B\n", self.set, self.matrices, self.startup);
        let passing = |bytes: f64| match self.phi {
            Some(us) => format!("{:.3}", bytes * us * 1e-3),
            None => format!("{:.1}", bytes / 1024.0),
        };
        // a row for each unit, which ends with its bound if the column of bounds has a heading
        let table = |cell: &dyn Fn(&Cell) -> String, (last, bounds): (&str, &[(u32, f64)])| {
            let has_bounds = !last.is_empty();
            let headings = ["unit (B)"].into_iter().chain(methods.iter().map(|m| m.0)).chain(has_bounds.then_some(last));
            let mut table = Table::new(headings);
            for &(unit, bound) in bounds {
                let cells = self.cells.iter().filter(|c| c.unit == unit).map(cell);
                table.row([unit.to_string()].into_iter().chain(cells).chain(has_bounds.then(|| passing(bound))));
            }
            table
        };
        let (bounded, plain) = (("lower bound", &self.lower_bounds[..]), ("", &self.lower_bounds[..]));
        let what = if self.phi.is_some() { "in ms" } else { "in KiB (what would pass in the same time)" };
        let unit = if self.phi.is_some() { "in ms" } else { "in KiB" };
        let costs = table(&|c| passing(c.cost), bounded);
        let ratios = table(&|c| c.ratio.text(), plain);
        let overlapped = table(&|c| passing(c.cost_overlapped), bounded);
        let share = |c: &Cell, us: f64| quotient(c.scheduling_us, c.cost * us, 4);
        let shares = self.phi.map(|us| table(&|c| share(c, us), plain));
        let _ = write!(
            text,
            "\nCommunication cost, sum over rounds of tau + M phi, {what}. AC: messages wait for ports.\n\n{costs}\
             \nIts ratio to the lower bound: mean / worst.\n\n{ratios}"
        );
        if !self.matchings.is_empty() {
            let cell = |c: &Cell| c.matchings.as_ref().map_or("-".into(), Ratio::text);
            let ratios = table(&cell, ("bound", &self.matchings));
            let _ = write!(text, "\nIts ratio to a bound that takes all ports together, and that bound {unit}.\n\n{ratios}");
        }
        let _ = write!(text, "\nCommunication cost if rounds do not wait for one another, {unit}.\n\n{overlapped}");
        let mut rows = [("rounds", vec![]), ("messages", vec![]), ("scheduling (µs)", vec![])];
        for (name, _) in methods {
            let cells = || self.cells.iter().filter(|c| c.method == *name);
            let mean = |values: Vec<f64>| format!("{:.1}", Statistic::Mean.of(values));
            let rounds: Option<Vec<f64>> = cells().map(|c| c.rounds).collect();
            rows[0].1.push(rounds.map_or("-".into(), mean));
            rows[1].1.push(mean(cells().map(|c| c.messages).collect()));
            rows[2].1.push(mean(cells().map(|c| c.scheduling_us).collect()));
        }
        let mut table = Table::new([""].into_iter().chain(methods.iter().map(|m| m.0)));
        rows.into_iter().for_each(|row| table.row([row.0.to_owned()].into_iter().chain(row.1)));
        let _ = write!(text, "\nOver all units: rounds, messages, and the time to make the schedule.\n\n{table}");
        if let Some(shares) = shares {
            let _ = write!(text, "\nScheduling time to communication time, for a schedule that is used once.\n\n{shares}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics() {
        assert_eq!(Statistic::Mean.of(vec![1.0, 2.0, 6.0]), 3.0);
        assert_eq!(Statistic::Median.of(vec![6.0, 1.0, 2.0]), 2.0);
        assert_eq!(Statistic::Median.of(vec![4.0, 1.0]), 2.5);
    }

    /// Every column is at or above the lower bound, and no rounds that overlap cost more than
    /// rounds that do not.
    #[test]
    fn costs_are_ordered() {
        let edges: Vec<(u32, u32, u32)> = (0..100u32).map(|i| (i % 16, (i * 7 + i / 16) % 16, 1 + i % 9)).collect();
        let graph = Graph::from_edges(16, &edges);
        let tuning = Tuning { startup: 4.0, ..Tuning::default() };
        for (name, method) in methods(false) {
            let outcome = method.run(&graph, None, &tuning, 0.0).unwrap();
            assert!(outcome.overlapped >= lower_bound(&graph, 4.0) - 1e-9, "{name}");
            assert!(outcome.cost >= outcome.overlapped - 1e-9, "{name}");
        }
    }
}
