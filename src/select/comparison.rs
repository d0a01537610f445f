//! Compares schedules by the times that the model predicts, or that the first calls took.

#![forbid(unsafe_code)]

use super::hints::Hints;
use super::{Candidate, Choice, Reason, SAMPLED, add_strict, forbidden, gathers, in_rounds};
use crate::error::{Error, Result};
use crate::model::{Loggp, Options, predict_on};
use crate::schedule::rounds::far_edges;
use crate::schedule::{ALGORITHMS, Algorithm, Build, Entry, Operations, Sample, Stencil, schedules_on_nodes, world_schedules_on};
use crate::topology::graph::Graph;
use crate::topology::nodes::Locality;

/// Time to copy a byte into or out of a packet where it was not measured, in microseconds: 10 GB/s,
/// typical of caches and memory of cluster nodes.
const COPY: f64 = 1e-4;

/// `direct` stays unless another algorithm takes less than this part of its time, measured or
/// predicted: both have errors.
const CLEARLY: f64 = 0.95;

/// The same for predicted times of rounds where processes share the links of their node: such links
/// pass messages of several processes at a time, while the model lets them wait for each other.
const CLEARLY_SHARED: f64 = 0.8;

/// A schedule is worth a trial if the lowest predicted time is at least this part of its own:
/// between hosts the model was wrong by up to a factor of three, and by less about two schedules
/// beside each other.
const CLOSE: f64 = 0.5;

/// The model's predictions for the schedules of a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The algorithm with the lowest predicted time; `direct` if no other is clearly faster.
    pub choice: Choice,
    /// All that a trial should compare, the choice first: `direct`, and of the others those with
    /// predicted times close to the lowest one. Of rounds only the fastest, and `edge_coloring`: it
    /// keeps messages between nodes apart where the model sees no difference. One of them also in
    /// strict rounds.
    pub close: Vec<Candidate>,
}

/// Directions, if all edges have them.
#[derive(Debug, Clone, Copy)]
pub struct Directions<'a> {
    /// The direction of each edge of the graph.
    pub of_edges: &'a [u32],
    /// The directions, heaviest first.
    pub order: &'a [u32],
}

/// Which processes are on the same nodes.
#[derive(Debug, Clone, Copy)]
pub struct Nodes<'a> {
    /// The map.
    pub nodes: &'a Locality,
    /// True if processes of a node exchange blocks through memory that they share.
    pub share_memory: bool,
}

/// The problem for which schedules are compared.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// The edges of all processes.
    pub graph: &'a Graph,
    /// Their directions.
    pub directions: Option<Directions<'a>>,
    /// True if the processes know that their lists form a star. Trees are left out otherwise: they
    /// are built by what all know of it.
    pub star: bool,
    /// The stencil that they form on a grid.
    pub stencil: Option<&'a Stencil>,
    /// Where the processes are.
    pub nodes: Option<Nodes<'a>>,
    /// The operations that will use the schedule.
    pub operations: Operations,
    /// True if the graph is a part of one that no process knows. Schedules that need the graph of
    /// all processes are left out.
    pub part: bool,
}

impl<'a> Case<'a> {
    /// The whole graph, on no grid, each process on a node of its own.
    pub const fn of(graph: &'a Graph, operations: Operations) -> Case<'a> {
        Case { graph, directions: None, star: false, stencil: None, nodes: None, operations, part: false }
    }
}

/// Does the same as [`compare`] on a large grid, by a part of it, whose processes are where they
/// are on the grid.
/// `weights`: the largest of all processes' [`Stencil::weights`]; `order`: the directions, heaviest
/// first.
pub fn compare_sample(
    hints: &Hints,
    stencil: &Stencil,
    weights: &[i64],
    order: Option<&[u32]>,
    nodes: Option<Nodes>,
    operations: Operations,
) -> Result<Comparison> {
    let Some(sample) = Sample::of(stencil, weights, SAMPLED) else {
        return Err(Error::Internal("a grid has no part that stands for it".into()).into());
    };
    let directions = sample.directions.as_ref().zip(order).map(|(of_edges, order)| Directions { of_edges, order });
    let locality = nodes.map(|Nodes { nodes, share_memory }| {
        let names: Vec<u32> = sample.ranks.iter().map(|&rank| nodes.node_of(rank)).collect();
        (Locality::from_names(&names), share_memory)
    });
    let nodes = locality.as_ref().map(|(nodes, share_memory)| Nodes { nodes, share_memory: *share_memory });
    let stencil = Some(&sample.stencil);
    compare(hints, &Case { graph: &sample.graph, directions, star: false, stencil, nodes, operations, part: true })
}

/// Returns true if no process makes the schedules of all of them.
fn needs_no_graph(entry: &Entry) -> bool {
    !matches!(entry.build, Build::Global(_) | Build::Nodes(_))
}

/// Compares the predicted times of all algorithms that fit. Builds and simulates the schedules of
/// all processes: a microsecond or two for each edge and algorithm.
pub fn compare(hints: &Hints, case: &Case) -> Result<Comparison> {
    let &Case { graph, directions, star, stencil, nodes, operations, part } = case;
    let of_edge = |e: usize| directions.map_or(0, |d| d.of_edges[e]);
    let all = graph.neighborhoods_with(of_edge);
    let sharing = nodes.filter(|nodes| nodes.share_memory).map(|nodes| nodes.nodes);
    let nodes = nodes.map(|nodes| nodes.nodes);
    let far = sharing.map(|nodes| far_edges(graph, nodes));
    let far = far.as_ref().map(|(far, numbers)| far.neighborhoods_with(|e| of_edge(numbers[e] as usize)));
    let (tuning, unit) = (hints.tuning(), u64::from(hints.unit()));
    let gather = operations == Operations { gather: true, ..Operations::default() };
    let machine = hints.machine();
    let copy = machine.sharing.copy.unwrap_or(COPY);
    // As if each round ended before the next begins: what overlapping gains depends on how long
    // messages take to agree with their receivers, which nothing measures.
    let options = Options { half_duplex: hints.half_duplex, gather, copy, ..Options::default() };
    let near = sharing.map_or(0.0, |nodes| near_time(graph, nodes, copy * unit as f64));
    let clearly_in_rounds = if shares_links(nodes, &machine) { CLEARLY_SHARED } else { CLEARLY };
    let mut times: Vec<(Candidate, f64, f64)> = Vec::new();
    // a round for each distance between processes: only where most of them have messages
    let dense = graph.processes() <= 4 * graph.max_degree() as usize;
    // if the graph is known, edge_coloring yields fewer rounds than neighbors can negotiate
    let helps = |e: &Entry| match e.build {
        Build::Negotiated(_) => false,
        _ => dense || e.algorithm != Algorithm::LinearPermutation,
    };
    let known = |e: &Entry| !part || needs_no_graph(e);
    let fits = |e: &Entry| star || !matches!(e.build, Build::Scatter(_));
    let compared = |e: &&Entry| helps(e) && known(e) && fits(e) && forbidden(e.algorithm, hints, operations, stencil).is_none();
    let grid = stencil.map(Stencil::grid);
    for entry in ALGORITHMS.iter().filter(compared) {
        // schedules that pass blocks on use no shared memory
        let (world, near) = match &far {
            Some(far) if !entry.forwards() => (far, near),
            _ => (&all, 0.0),
        };
        let schedules = match (entry.build, nodes) {
            (Build::Nodes(_), Some(nodes)) if gathers(nodes.processes(), nodes.nodes()) => {
                Ok(schedules_on_nodes(world, nodes, &tuning))
            }
            _ => world_schedules_on(entry.algorithm, world, grid, directions.map(|d| d.order), &tuning),
        };
        // algorithms that cannot be used are left out
        if let Ok(schedules) = schedules {
            let time = near + predict_on(world, &schedules, unit, &machine, &options, nodes).map_err(Error::Internal)?;
            times.push((entry.algorithm.into(), time, if entry.forwards() { CLEARLY } else { clearly_in_rounds }));
        }
    }
    let (candidate, time, direct) = lowest(times.iter().copied());
    let choice = Choice { candidate, why: Reason::Predicted(time, direct) };
    let mut close = close(candidate, &times);
    if graph.max_degree() < 2 {
        // one message has no order
        close.retain(|&other| other == candidate || !in_rounds(other.algorithm));
    }
    add_strict(hints, &mut close);
    Ok(Comparison { choice, close })
}

/// The algorithms worth a trial; see [`Comparison`].
fn close(choice: Candidate, times: &[(Candidate, f64, f64)]) -> Vec<Candidate> {
    let least = times.iter().map(|t| t.1).fold(f64::INFINITY, f64::min);
    let mut sorted: Vec<&(Candidate, f64, f64)> =
        times.iter().filter(|t| t.0.algorithm == Algorithm::Direct || CLOSE * t.1 <= least).collect();
    // of rounds that take the same, those whose order is chosen by what each process has to do
    let rank = |t: &(Candidate, f64, f64)| if t.0.algorithm == Algorithm::EdgeColoring { CLEARLY * t.1 } else { t.1 };
    sorted.sort_by(|a, b| (a.0 != choice).cmp(&(b.0 != choice)).then(rank(a).total_cmp(&rank(b))));
    let mut close = Vec::new();
    for &&(candidate, ..) in &sorted {
        let has_rounds = || close.iter().any(|other: &Candidate| in_rounds(other.algorithm));
        if !in_rounds(candidate.algorithm) || candidate.algorithm == Algorithm::EdgeColoring || !has_rounds() {
            close.push(candidate);
        }
    }
    close
}

/// Time of the process that copies the most into and out of memory that it shares, in microseconds;
/// `copy`: for a unit of weight.
fn near_time(graph: &Graph, nodes: &Locality, copy: f64) -> f64 {
    let mut units = vec![0u64; graph.processes()];
    for (source, target, weight) in graph.iter().filter(|&(source, target, _)| nodes.is_near(source, target)) {
        units[source as usize] += u64::from(weight);
        units[target as usize] += u64::from(weight);
    }
    units.into_iter().max().unwrap_or(0) as f64 * copy
}

/// Returns true if processes share the links of their node, as far as the machine is known.
fn shares_links(nodes: Option<&Locality>, machine: &Loggp) -> bool {
    machine.sharing.known() > 0 && nodes.is_some_and(|nodes| gathers(nodes.processes(), nodes.nodes()))
}

/// Returns the schedule with the lowest time, its time, and that of `direct`. Each one comes with
/// its time, and the part of the time of `direct` that it must stay below.
fn lowest(times: impl Iterator<Item = (Candidate, f64, f64)> + Clone) -> (Candidate, f64, f64) {
    let by_direct = Candidate::from(Algorithm::Direct);
    let direct = times.clone().find(|t| t.0 == by_direct).map_or(f64::INFINITY, |t| t.1);
    let clear = times.filter(|t| t.1 < t.2 * direct);
    let best = clear.fold((by_direct, direct), |best, t| if t.1 < best.1 { (t.0, t.1) } else { best });
    (best.0, best.1, direct)
}

/// Chooses by measured times, in microseconds. Because measurements have errors, an algorithm must
/// be clearly faster than `direct`. `reason` gets the time of the choice, and that of `direct`.
pub fn fastest(times: &[(Candidate, f64)], reason: fn(f64, f64) -> Reason) -> Choice {
    let (candidate, time, direct) = lowest(times.iter().map(|&(candidate, time)| (candidate, time, CLEARLY)));
    Choice { candidate, why: reason(time, direct) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::generate::{self, Stencil as Shape};
    use crate::topology::cartesian::Grid;

    const ALLTOALL: Operations = Operations { gather: false, alltoall: true, reduce: false };

    /// Of rounds the fastest and `edge_coloring` are compared, of schedules that pass blocks on
    /// all, `direct` whatever it takes, and the choice first.
    #[test]
    fn close_schedules_are_compared() {
        use Algorithm::{Combining, Direct, EdgeColoring, NodeAware, RandomRounds};
        let of = |choice: Algorithm, times: &[(Algorithm, f64)]| {
            let times: Vec<_> = times.iter().map(|&(algorithm, time)| (algorithm.into(), time, CLEARLY)).collect();
            close(choice.into(), &times).into_iter().map(|candidate| candidate.algorithm).collect::<Vec<_>>()
        };
        assert_eq!(
            of(Direct, &[(Direct, 9.0), (RandomRounds, 9.9), (EdgeColoring, 10.0), (Combining, 30.0)]),
            [Direct, EdgeColoring]
        );
        assert_eq!(of(Direct, &[(Direct, 9.0), (RandomRounds, 9.0), (EdgeColoring, 10.0)]), [Direct, RandomRounds, EdgeColoring]);
        assert_eq!(of(Direct, &[(Direct, 9.0), (RandomRounds, 9.0), (EdgeColoring, 19.0)]), [Direct, RandomRounds]);
        assert_eq!(
            of(Combining, &[(Direct, 90.0), (EdgeColoring, 90.0), (Combining, 9.0), (NodeAware, 12.0)]),
            [Combining, NodeAware, Direct]
        );
        assert_eq!(of(Direct, &[(Direct, 9.0), (Combining, 8.9)]), [Direct, Combining]);
        // one message for each process
        let graph = Graph::from_edges(3, &[(0, 1, 1 << 20), (1, 2, 1 << 20), (2, 0, 1 << 20)]);
        assert_eq!(compare(&Hints::default(), &Case::of(&graph, ALLTOALL)).unwrap().close, [Direct.into()]);
    }

    /// A part of a grid chooses what the whole grid chooses, at the same predicted times, in
    /// rounds, in combined messages and in one round, with several processes a node too.
    #[test]
    fn a_part_of_a_grid_stands_for_all_of_it() {
        let hints = Hints { site_loggp: Loggp::preset("jaguar").map(std::sync::Arc::new), ..Hints::default() };
        let mut chosen = Vec::new();
        for (shape, unit) in [(Shape::Box, 8), (Shape::Box, 1 << 20), (Shape::Faces, 8), (Shape::Faces, 1 << 20)] {
            let grid = Grid::new(if shape == Shape::Box { vec![8, 10, 12] } else { vec![10, 20, 16] }, vec![true; 3]);
            let placed = Locality::from_names(&(0..grid.size()).map(|rank| rank / 8).collect::<Vec<_>>());
            let graph = generate::grid(grid.dims(), &[true; 3], shape, None);
            let world: Vec<_> = graph.neighborhoods();
            let stencil = Stencil::find(&grid, &world).unwrap();
            let hints = Hints { weight_unit: Some(unit), ..hints.clone() };
            let labelled: Option<Vec<_>> = world.iter().map(|n| grid.with_directions(n)).collect();
            let graph = labelled.as_ref().map_or(graph, |world| Graph::from_neighborhoods(world));
            let of_edges: Option<Vec<u32>> = labelled.map(|world| world.iter().flat_map(Graph::row_directions).collect());
            let order = of_edges.as_ref().map(|_| [0, 1, 2, 3, 4, 5].as_slice());
            let directions = of_edges.as_ref().zip(order).map(|(of_edges, order)| Directions { of_edges, order });
            for nodes in [None, Some(Nodes { nodes: &placed, share_memory: true })] {
                let case = Case { directions, stencil: Some(&stencil), nodes, part: true, ..Case::of(&graph, ALLTOALL) };
                let whole = compare(&hints, &case).unwrap().choice;
                let weights = vec![1; stencil.weights(&world[0]).len()];
                let part = compare_sample(&hints, &stencil, &weights, order, nodes, ALLTOALL).unwrap().choice;
                let (Reason::Predicted(a, direct), Reason::Predicted(b, direct_of_part)) = (whole.why, part.why) else {
                    panic!()
                };
                assert_eq!(whole.candidate, part.candidate, "{shape:?} {unit}: {a} {b} {direct} {direct_of_part}");
                // a node at the end of a row of the part has fewer processes than one of the grid
                let near =
                    |one: f64, other: f64| one.max(other) / one.min(other) < if nodes.is_some() { 1.35 } else { 1.000_001 };
                assert!(near(a, b) && near(direct, direct_of_part), "{shape:?} {unit}: {a} {b} {direct} {direct_of_part}");
                chosen.push(whole.algorithm());
            }
        }
        assert!(chosen.contains(&Algorithm::Combining) && chosen.contains(&Algorithm::Direct), "{chosen:?}");
    }

    /// A block that memory carries costs its copies, and no message; one between nodes costs the
    /// same.
    #[test]
    fn messages_within_a_node_are_not_those_of_a_network() {
        let ring = |processes: u32| (0..processes).map(move |p| (p, (p + 1) % processes, 1 << 20)).collect::<Vec<_>>();
        let graph = Graph::from_edges(4, &ring(4));
        let time = |names: &[u32], share_memory| {
            let nodes = Locality::from_names(names);
            let nodes = Some(Nodes { nodes: &nodes, share_memory });
            match compare(&Hints::default(), &Case { nodes, ..Case::of(&graph, ALLTOALL) }).unwrap().choice.why {
                Reason::Predicted(time, _) => time,
                why => panic!("{why}"),
            }
        };
        let (copied, alone) = (2.0 * f64::from(1 << 20) * COPY, time(&[0, 1, 2, 3], true));
        assert!((time(&[0; 4], true) - copied).abs() < 1e-6, "{}", time(&[0; 4], true));
        assert_eq!((time(&[0; 4], false), time(&[0, 1, 2, 3], false)), (alone, alone));
        // each process sends one message to the other node or receives one, and copies one
        let half = time(&[0, 0, 1, 1], true);
        assert!(half > 0.5 * copied && half <= alone + 0.5 * copied, "{half}, {copied}, {alone}");
    }
}
