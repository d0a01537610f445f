use std::sync::Arc;

use super::*;
use crate::model::{Loggp, Options, predict};
use crate::schedule::{Star, world_schedules};
use crate::select::hints::origins::{Origin, Origins};
use crate::topology::graph::Graph;
use crate::topology::neighborhood::{Neighbor, Neighborhood};
use crate::topology::nodes::Locality;

const ALL: Operations = Operations { gather: true, alltoall: true, reduce: true };
const ALLTOALL: Operations = Operations { gather: false, alltoall: true, reduce: false };
const FEW: Outline = Outline {
    edges: 10,
    weighted: false,
    heaviest: 1,
    busiest: 1,
    one_node: false,
    operations: ALL,
    nodes: 0,
    has_trial: true,
    affords_trial: true,
};

/// Hints under which the model decides.
fn jaguar() -> Hints {
    Hints { site_loggp: Loggp::preset("jaguar").map(Arc::new), ..Hints::default() }
}

#[test]
fn a_schedule_that_does_not_fit_is_an_error_with_its_reason() {
    let n = Neighborhood::from_ranks(0, &[0], &[0]);
    let mut input = Input { neighborhood: &n, processes: 1, directions: None, star: None, stencil: None };
    let only = |algorithm| Hints { schedule: ScheduleHint::Only(algorithm), ..Hints::default() };
    let e = select(&only(Algorithm::DimensionOrder), &input, FEW).unwrap_err();
    assert!(e.to_string().contains("dimension_order cannot be used: it needs a Cartesian"));
    let of_environment = Origins(vec![("mpix_schedule", "dimension_order".into(), Origin::Environment)]);
    let asked = Hints { origins: of_environment, ..only(Algorithm::DimensionOrder) };
    let e = select(&asked, &input, FEW).unwrap_err().to_string();
    assert!(e.ends_with(" (the environment variable MPIX_SCHEDULE asks for it)"), "{e}");
    assert!(!candidates(&Hints::default(), &input, FEW).contains(&Algorithm::DimensionOrder.into()));
    input.directions = Some(&[0, 1]);
    let asked = |algorithm| Next::Take(Choice::new(algorithm, Reason::Asked));
    assert_eq!(select(&only(Algorithm::DimensionOrder), &input, FEW).unwrap(), asked(Algorithm::DimensionOrder));
    let few = Hints { graph_limit: 9, ..only(Algorithm::RandomRounds) };
    let e = select(&few, &input, FEW).unwrap_err().to_string();
    assert!(e.contains("10 edges are more than mpix_graph_limit = 9"), "{e}");
    assert!(!candidates(&few, &input, FEW).contains(&Algorithm::EdgeColoring.into()));
    let negotiated = Choice::new(Algorithm::DistributedColoring, Reason::Negotiated(10));
    let few = Hints { graph_limit: 9, ..only(Algorithm::EdgeColoring) };
    assert_eq!(select(&few, &input, FEW).unwrap(), Next::Take(negotiated));
}

/// Trees need a star, the promise, and alltoall only; the error names whichever is missing. If
/// all conditions hold, the model may choose them.
#[test]
fn trees_only_where_they_are_allowed() {
    let graph = Graph::from_edges(40, &(1..40).map(|to| (0, to, 8)).collect::<Vec<_>>());
    let world = graph.neighborhoods();
    let star = Star::find(&world).unwrap();
    let input = |star| Input { neighborhood: &world[0], processes: 40, directions: None, star, stencil: None };
    let asked = Hints { schedule: ScheduleHint::Only(Algorithm::ScatterOptimal), ..Hints::default() };
    let promised = Hints { whole_communicator: true, ..asked.clone() };
    let (alone, both) = (Outline { operations: ALLTOALL, ..FEW }, FEW);
    let reason = |hints: &Hints, star, outline| select(hints, &input(star), outline).unwrap_err().to_string();
    assert!(reason(&asked, None, alone).contains("mpix_whole_communicator=true must promise"));
    assert!(reason(&promised, Some(&star), both).contains("serves MPIX_NEIGHBOR_ALLTOALL and MPIX_NEIGHBOR_ACCUMULATE only"));
    assert!(reason(&promised, None, alone).contains("only one process sends"));
    let choice = Choice::new(Algorithm::ScatterOptimal, Reason::Asked);
    assert_eq!(select(&promised, &input(Some(&star)), alone).unwrap(), Next::Take(choice));
    assert!(candidates(&promised, &input(Some(&star)), alone).contains(&Algorithm::ScatterBinomial.into()));
    assert!(!candidates(&promised, &input(None), alone).contains(&Algorithm::ScatterBinomial.into()));
    // blocks of 8 bytes: it helps a source of 39 messages if others forward them
    let auto = |whole_communicator| Hints { whole_communicator, ..jaguar() };
    let weighted = |outline| Outline { weighted: true, heaviest: 8, ..outline };
    assert_eq!(select(&auto(true), &input(Some(&star)), weighted(alone)).unwrap(), Next::Compare);
    let chosen = |hints, outline: Outline, star| {
        compare(&hints, &Case { star, ..Case::of(&graph, outline.operations) }).unwrap().choice.algorithm()
    };
    assert_eq!(chosen(auto(true), alone, true), Algorithm::ScatterOptimal);
    assert_eq!(chosen(auto(true), alone, false), Algorithm::Direct);
    assert_eq!(chosen(auto(true), both, true), Algorithm::Direct);
    assert_eq!(chosen(auto(false), alone, true), Algorithm::Direct);
}

/// A full stencil with edges of one weight, and the stencil of all processes.
fn box_of(side: u32, weight: u32) -> (Graph, Stencil) {
    let graph = crate::model::generate::grid(&[side; 3], &[true; 3], crate::model::generate::Stencil::Box, None);
    let edges: Vec<_> = graph.iter().map(|(from, to, _)| (from, to, weight)).collect();
    let grid = crate::topology::cartesian::Grid::new(vec![side; 3], vec![true; 3]);
    let stencil = Stencil::find(&grid, &graph.neighborhoods()).unwrap();
    (Graph::from_edges(side * side * side, &edges), stencil)
}

/// Short messages are combined, long ones are not. In a gather, where no byte travels twice,
/// longer blocks are combined too.
#[test]
fn messages_are_combined_where_that_pays() {
    let chosen = |bytes, operations| {
        let (graph, stencil) = box_of(4, bytes);
        compare(&Hints::default(), &Case { stencil: Some(&stencil), ..Case::of(&graph, operations) }).unwrap().choice
    };
    let gather = Operations { gather: true, ..Operations::default() };
    let both = Operations { gather: true, ..ALLTOALL };
    for (bytes, operations, combined) in [
        (8, ALLTOALL, true),
        (500, ALLTOALL, true),
        (3000, ALLTOALL, false),
        (8, gather, true),
        (3000, gather, true),
        (300_000, gather, false),
        (8, both, true),
        (3000, both, false),
        (8, ALL, false),
    ] {
        let choice = chosen(bytes, operations);
        assert_eq!(choice.algorithm() == Algorithm::Combining, combined, "{bytes} bytes, {operations:?}: {}", choice.why);
    }
}

/// `node_aware` needs the promise, does not serve reductions, and is considered if processes
/// share nodes, but not all the same one.
#[test]
fn nodes_only_where_they_matter() {
    let list: Vec<_> = (0..32u32).flat_map(|p| (0..32).map(move |q| (p, q, 8))).collect();
    let graph = Graph::from_edges(32, &list);
    let world = graph.neighborhoods();
    let input = Input { neighborhood: &world[0], processes: 32, directions: None, star: None, stencil: None };
    let asked = Hints { schedule: ScheduleHint::Only(Algorithm::NodeAware), ..Hints::default() };
    let promised = Hints { whole_communicator: true, ..asked.clone() };
    let on = |nodes| Outline { operations: ALLTOALL, weighted: true, heaviest: 8, nodes, ..FEW };
    let reason = |hints: &Hints, outline| select(hints, &input, outline).unwrap_err().to_string();
    assert!(reason(&asked, on(4)).contains("mpix_whole_communicator=true must promise"));
    assert!(reason(&promised, FEW).contains("set MPIX_NEIGHBOR_REDUCE by another call"));
    assert!(reason(&Hints { graph_limit: 9, ..promised.clone() }, on(4)).contains("more than mpix_graph_limit = 9"));
    for nodes in [1, 4, 32] {
        let choice = Choice::new(Algorithm::NodeAware, Reason::Asked);
        assert_eq!(select(&promised, &input, on(nodes)).unwrap(), Next::Take(choice));
    }
    let auto = Hints { whole_communicator: true, ..jaguar() };
    for (nodes, compared) in [(1, false), (2, true), (31, true), (32, false)] {
        assert_eq!(select(&auto, &input, on(nodes)).unwrap() == Next::Compare, compared, "{nodes} nodes");
        assert_eq!(candidates(&auto, &input, on(nodes)).contains(&Algorithm::NodeAware.into()), compared, "{nodes} nodes");
    }
    let unweighted = |hints: Hints| (hints, Outline { weighted: false, ..on(0) });
    let measure = Hints { schedule: ScheduleHint::Measure, ..auto.clone() };
    for ((hints, outline), looked) in [
        (unweighted(auto.clone()), false),
        (unweighted(measure.clone()), true),
        ((auto.clone(), on(0)), true),
        ((Hints::default(), on(0)), false),
        ((auto.clone(), Outline { operations: ALL, ..on(0) }), false),
        ((asked, on(0)), false),
        ((promised, on(0)), true),
    ] {
        assert_eq!(asks_for_nodes(&hints, outline), looked, "{hints:?}, {outline:?}");
    }
    // 31 messages of 8 bytes cost more than a few combined ones, even if messages inside a node
    // cost as much
    let nodes = |size: u32| Locality::from_names(&(0..32).map(|r| r / size).collect::<Vec<_>>());
    let chosen = |hints: &Hints, size| {
        let nodes = nodes(size);
        let nodes = Some(Nodes { nodes: &nodes, share_memory: false });
        compare(hints, &Case { nodes, ..Case::of(&graph, ALLTOALL) }).unwrap().choice
    };
    assert_eq!(chosen(&auto, 8).algorithm(), Algorithm::NodeAware, "{}", chosen(&auto, 8).why);
    assert_eq!(chosen(&Hints::default(), 8).algorithm(), Algorithm::Direct);
    assert_eq!(chosen(&auto, 32).algorithm(), Algorithm::Direct);
    assert_eq!(chosen(&auto, 1).algorithm(), Algorithm::Direct);
}

/// Where calls are verified, `measure` is decided by the model, which then knows as much as under
/// `auto`.
#[test]
fn the_model_decides_in_place_of_times_that_verification_changes() {
    let mut machine = Loggp::preset("jaguar").unwrap();
    machine.sharing.links[0] = 1e-4;
    let auto = Hints { site_loggp: Some(Arc::new(machine)), whole_communicator: true, ..Hints::default() };
    let measure = Hints { schedule: ScheduleHint::Measure, ..auto.clone() };
    let verified = Hints { verify: true, ..measure.clone() };
    for weighted in [false, true] {
        let outline = Outline { operations: ALLTOALL, weighted, heaviest: 1 << 20, ..FEW };
        let asks = |hints: &Hints| [asks_for_sharing(hints, None, outline), asks_for_nodes(hints, outline)];
        assert_eq!(asks(&auto), [weighted; 2]);
        assert_eq!(asks(&verified), asks(&auto));
        assert_eq!(asks(&measure), [false, true]);
    }
}

/// Algorithms that forward are an error for blocks on a device: they are used only if a hint
/// asks for them.
#[test]
fn nothing_is_passed_on_unasked_where_blocks_may_lie_on_devices() {
    let n = Neighborhood::from_ranks(0, &[0], &[0]);
    let input = Input { neighborhood: &n, processes: 9, directions: None, star: None, stencil: None };
    let outline = Outline { nodes: 3, operations: ALLTOALL, ..FEW };
    let forwards = |devices| {
        let hints = Hints { devices, whole_communicator: true, ..Hints::default() };
        candidates(&hints, &input, outline).iter().any(|candidate| candidate.algorithm.entry().forwards())
    };
    assert!(forwards(false) && !forwards(true));
    let schedule = ScheduleHint::Only(Algorithm::NodeAware);
    let asked = Hints { devices: true, whole_communicator: true, schedule, ..Hints::default() };
    assert!(unfit(Algorithm::NodeAware, &asked, &input, outline).is_none());
}

/// Combining does not serve reductions, and needs a stencil; if blocks leave the neighborhood
/// of their source, also the promise.
#[test]
fn combining_only_where_it_is_allowed() {
    let (graph, stencil) = box_of(4, 8);
    let world = graph.neighborhoods();
    let input = |stencil| Input { neighborhood: &world[0], processes: 64, directions: None, star: None, stencil };
    let asked = Hints { schedule: ScheduleHint::Only(Algorithm::Combining), ..Hints::default() };
    let alltoall = Outline { operations: ALLTOALL, ..FEW };
    let reason = |hints: &Hints, stencil, outline| select(hints, &input(stencil), outline).unwrap_err().to_string();
    assert!(reason(&asked, Some(&stencil), FEW).contains("set MPIX_NEIGHBOR_REDUCE by another call"));
    assert!(reason(&asked, None, alltoall).contains("neighbors at the same offsets"));
    let choice = Next::Take(Choice::new(Algorithm::Combining, Reason::Asked));
    assert_eq!(select(&asked, &input(Some(&stencil)), alltoall).unwrap(), choice);
    let diagonal = |from: u32| (from, from / 4 % 4 * 4 + from / 16 * 16 + (from + 1) % 4, 8);
    let diagonals: Vec<_> = (0..64).map(diagonal).map(|(from, to, weight)| (from, (to + 16) % 64, weight)).collect();
    let diagonals = Graph::from_edges(64, &diagonals).neighborhoods();
    let open = Stencil::find(stencil.grid(), &diagonals).unwrap();
    assert!(reason(&asked, Some(&open), alltoall).contains("mpix_whole_communicator=true must promise"));
    let promised = Hints { whole_communicator: true, ..asked.clone() };
    assert_eq!(select(&promised, &input(Some(&open)), alltoall).unwrap(), choice);
    // a comparison is worthwhile for short messages only if it could make them fewer
    let weighted = Outline { weighted: true, heaviest: 8, ..alltoall };
    let auto = |stencil| select(&jaguar(), &input(stencil), weighted).unwrap();
    assert_eq!(auto(Some(&stencil)), Next::Compare);
    assert!(matches!(auto(Some(&open)), Next::Take(_)));
    assert!(candidates(&Hints::default(), &input(Some(&stencil)), alltoall).contains(&Algorithm::Combining.into()));
    assert!(!candidates(&Hints::default(), &input(Some(&stencil)), FEW).contains(&Algorithm::Combining.into()));
    // the library looks for it only if it can be chosen
    for (hints, outline, looked) in [
        (jaguar(), weighted, true),
        (Hints::default(), weighted, false),
        (jaguar(), alltoall, false),
        (jaguar(), Outline { one_node: true, ..weighted }, false),
        (jaguar(), Outline { operations: ALL, ..weighted }, false),
        (jaguar(), Outline { edges: 1 << 40, ..weighted }, true),
        (asked, alltoall, true),
        (Hints { schedule: ScheduleHint::Only(Algorithm::Direct), ..Hints::default() }, weighted, false),
        (Hints { schedule: ScheduleHint::Measure, ..Hints::default() }, alltoall, true),
    ] {
        assert_eq!(may_combine(&hints, outline), looked, "{hints:?} {outline:?}");
    }
}

#[test]
fn the_graph_is_looked_at_where_sizes_are_known() {
    let n = Neighborhood::from_ranks(0, &[0], &[0]);
    let input = Input { neighborhood: &n, processes: 1, directions: None, star: None, stencil: None };
    let direct = |why| Next::Take(Choice::new(Algorithm::Direct, why));
    assert_eq!(select(&jaguar(), &input, FEW).unwrap(), direct(Reason::Unweighted));
    let weighted = Outline { weighted: true, heaviest: 1 << 20, ..FEW };
    assert_eq!(select(&jaguar(), &input, weighted).unwrap(), Next::Compare);
    let near = Outline { one_node: true, ..weighted };
    assert_eq!(select(&jaguar(), &input, near).unwrap(), direct(Reason::OneNode));
    let known = Hints { loggp: Loggp::preset("jaguar").map(Arc::new), ..Hints::default() };
    assert_eq!(select(&known, &input, near).unwrap(), Next::Compare);
    let unit = Hints { weight_unit: Some(1 << 20), ..jaguar() };
    assert_eq!(select(&unit, &input, FEW).unwrap(), Next::Compare);
    let small = Outline { weighted: true, ..FEW };
    assert_eq!(select(&jaguar(), &input, small).unwrap(), direct(Reason::Eager(Loggp::default().eager)));
    // several messages that no receiver keeps waiting: by trial calls, which are not for all
    let queued = Outline { weighted: true, heaviest: QUEUED, busiest: 2 * QUEUED, ..FEW };
    assert_eq!(select(&jaguar(), &input, queued).unwrap(), Next::Compare);
    let model = Hints { schedule: ScheduleHint::Model, ..jaguar() };
    let shorter = Outline { heaviest: QUEUED - 1, ..queued };
    let single = Outline { busiest: QUEUED, ..queued };
    let untried = Outline { has_trial: false, ..queued };
    let dear = Outline { affords_trial: false, ..queued };
    let [two, puts] = [Hints { window: Some(2), ..jaguar() }, Hints { transport: Transport::Rma, ..jaguar() }];
    for (hints, outline) in [
        (&model, queued),
        (&known, queued),
        (&two, queued),
        (&puts, queued),
        (&jaguar(), shorter),
        (&jaguar(), single),
        (&jaguar(), untried),
        (&jaguar(), dear),
    ] {
        assert_eq!(select(hints, &input, outline).unwrap(), direct(Reason::Eager(Loggp::default().eager)), "{outline:?}");
    }
    let large = Outline { edges: 1 << 40, heaviest: 5, ..weighted };
    assert_eq!(select(&unit, &input, large).unwrap(), direct(Reason::Large(1 << 40)));
    let measure = Hints { schedule: ScheduleHint::Measure, ..Hints::default() };
    assert_eq!(select(&measure, &input, large).unwrap(), Next::Try);
    assert_eq!(select(&Hints { verify: true, ..measure }, &input, FEW).unwrap(), direct(Reason::Unweighted));
}

/// The more edges, the longer calls must last, up to a limit; a part of a grid is small. Of what is
/// too large trial calls are made, where they can be.
#[test]
fn large_graphs_are_compared_where_that_pays() {
    let n = Neighborhood::from_ranks(0, &[0], &[0]);
    let grid = crate::topology::cartesian::Grid::new(vec![100; 3], vec![true; 3]);
    let stencil = Stencil::new(grid, &[1; 6], &std::array::from_fn::<i64, 27, _>(|place| i64::from(place != 13)));
    let input = |stencil| Input { neighborhood: &n, processes: 1_000_000, directions: None, star: None, stencil };
    let hints = Hints { weight_unit: Some(1 << 20), ..jaguar() };
    let of = |edges, busiest| Outline { edges, weighted: true, heaviest: 1, busiest, operations: ALLTOALL, ..FEW };
    let next = |hints: &Hints, stencil, outline| select(hints, &input(stencil), outline).unwrap();
    let direct = |edges| Next::Take(Choice::new(Algorithm::Direct, Reason::Large(edges)));
    // what the model alone does; and trial calls just where it takes `direct`
    let chosen = |hints: &Hints, stencil, outline: Outline| {
        let alone = next(&Hints { schedule: ScheduleHint::Model, ..hints.clone() }, stencil, outline);
        if alone == direct(outline.edges) && hints.known_machine().is_some() {
            let Comparison { choice, close } = compare_large(hints, stencil, outline).unwrap();
            let negotiated = Algorithm::DistributedColoring;
            let strict = Candidate { algorithm: negotiated, strict: true };
            assert_eq!((alone, &close[..]), (Next::Take(choice), &[choice.candidate, negotiated.into(), strict][..]));
            assert_eq!(next(hints, stencil, outline), Next::Compare);
            let single = Outline { busiest: outline.heaviest, ..outline };
            for outline in [single, Outline { one_node: true, ..outline }] {
                assert!(matches!(next(hints, None, outline), Next::Take(_)), "{outline:?}");
            }
        }
        alone
    };
    assert_eq!(chosen(&hints, None, of(FEW_EDGES, 1)), Next::Compare);
    // 100 calls of 600 us for each MiB; 8.4 s for a million edges
    assert_eq!(chosen(&hints, None, of(1 << 20, 130)), direct(1 << 20));
    assert_eq!(chosen(&hints, None, of(1 << 20, 150)), Next::Compare);
    assert_eq!(chosen(&Hints { graph_limit: 9, ..hints.clone() }, None, of(10, 150)), direct(10));
    assert_eq!(chosen(&hints, None, of(MOST_SIMULATED + 1, 1 << 40)), direct(MOST_SIMULATED + 1));
    let all = of(26_000_000, 26);
    let short = Hints { weight_unit: Some(8), ..jaguar() };
    for hints in [&hints, &short, &Hints { graph_limit: 9, ..short.clone() }] {
        assert_eq!(chosen(hints, Some(&stencil), all), Next::Compare);
        assert!(is_sampled(hints, &stencil, all));
        assert_ne!(chosen(hints, None, all), Next::Compare);
    }
    assert!(!is_sampled(&hints, &stencil, of(1 << 20, 150)), "gathered");
    // a machine that is not known
    let unknown = Hints { weight_unit: Some(8), ..Hints::default() };
    assert_eq!(chosen(&unknown, Some(&stencil), all), direct(26_000_000));
    let Next::Take(Choice { why: Reason::Unknown, .. }) = chosen(&unknown, None, of(1 << 20, 1)) else { panic!() };
}

/// Without parameters of this machine nothing is compared: no preset stands in.
#[test]
fn unknown_parameters_choose_direct() {
    let n = Neighborhood::from_ranks(0, &[0], &[0]);
    let input = Input { neighborhood: &n, processes: 8, directions: None, star: None, stencil: None };
    let direct = |why| Next::Take(Choice::new(Algorithm::Direct, why));
    for heaviest in [1, 1 << 10, 1 << 30] {
        let weighted = Outline { weighted: true, heaviest, ..FEW };
        let near = Outline { one_node: true, ..weighted };
        for learn in [Learn::IfUnknown, Learn::Now, Learn::Never] {
            let hints = Hints { learn, ..Hints::default() };
            assert_eq!(select(&hints, &input, weighted).unwrap(), direct(Reason::Unknown), "{learn:?}");
            assert_eq!(select(&hints, &input, near).unwrap(), direct(Reason::OneNode), "{learn:?}");
        }
    }
    // those that a set call finds out decide, on one node if they were measured there
    let weighted = Outline { weighted: true, heaviest: 1 << 30, ..FEW };
    let near = Outline { one_node: true, ..weighted };
    for (learn, one_node) in [(Learn::IfUnknown, direct(Reason::OneNode)), (Learn::Now, Next::Compare)] {
        let mut hints = Hints { learn, ..Hints::default() };
        hints.learn_machine(Loggp::preset("big_red").unwrap(), Origin::Measured);
        assert_eq!(select(&hints, &input, weighted).unwrap(), Next::Compare);
        assert_eq!(select(&hints, &input, near).unwrap(), one_node);
    }
}

/// A set call makes trial calls only between nodes, where sizes are known, and nobody gives the
/// parameters of the machine or asks for the model.
#[test]
fn trials_are_made_where_they_help() {
    let weighted = Outline { weighted: true, ..FEW };
    let auto = Hints { site_loggp: Loggp::preset("jaguar").map(Arc::new), ..Hints::default() };
    for (hints, outline, tried) in [
        (auto.clone(), weighted, true),
        (auto.clone(), Outline { one_node: true, ..weighted }, false),
        (auto.clone(), Outline { has_trial: false, ..weighted }, false),
        (Hints { schedule: ScheduleHint::Model, ..auto.clone() }, weighted, false),
        (Hints { loggp: Loggp::preset("jaguar").map(Arc::new), ..auto.clone() }, weighted, false),
        (Hints { verify: true, ..auto.clone() }, weighted, false),
        (Hints { devices: true, ..auto }, weighted, false),
    ] {
        assert_eq!(tries(&hints, outline), tried, "{hints:?} {outline:?}");
    }
}

/// A set call measures only where that changes anything.
#[test]
fn parameters_are_asked_for_where_something_depends_on_them() {
    let weighted = Outline { weighted: true, ..FEW };
    let near = Outline { one_node: true, ..weighted };
    let large = Outline { edges: 1 << 40, ..weighted };
    let (auto, now) = (Hints::default(), Hints { learn: Learn::Now, ..Hints::default() });
    let by = |schedule| Hints { schedule, ..Hints::default() };
    for (hints, outline, asked) in vec![
        (auto.clone(), weighted, true),
        (auto.clone(), FEW, false),
        (auto.clone(), near, false),
        (auto.clone(), large, false),
        // trial calls may compare
        (auto.clone(), Outline { busiest: 2, ..large }, true),
        (by(ScheduleHint::Model), Outline { busiest: 2, ..large }, false),
        (Hints { weight_unit: Some(8), ..auto.clone() }, FEW, true),
        (Hints { learn: Learn::Never, ..auto }, weighted, false),
        (jaguar(), weighted, false),
        (Hints { loggp: Loggp::preset("jaguar").map(Arc::new), ..Hints::default() }, weighted, false),
        (now.clone(), near, true),
        (now.clone(), FEW, false),
        (by(ScheduleHint::Measure), weighted, true),
        (by(ScheduleHint::Measure), large, true),
        (by(ScheduleHint::Only(Algorithm::EdgeColoring)), weighted, true),
        (by(ScheduleHint::Only(Algorithm::ScatterOptimal)), weighted, true),
        (by(ScheduleHint::Only(Algorithm::Direct)), weighted, false),
        (by(ScheduleHint::Measure), Outline { edges: 0, ..weighted }, false),
        (by(ScheduleHint::Auto), Outline { edges: 0, ..weighted }, false),
        (by(ScheduleHint::Only(Algorithm::Combining)), weighted, false),
    ] {
        assert_eq!(asks_for_machine(&hints, outline, 8, false), asked, "{hints:?} {outline:?}");
    }
    assert!(!asks_for_machine(&now, near, 1, false), "nobody to measure with");
    // of a large grid a part is compared, with and without trial calls
    for hints in [by(ScheduleHint::Auto), by(ScheduleHint::Model)] {
        let untried = Outline { busiest: 2, has_trial: false, ..large };
        assert!(asks_for_machine(&hints, untried, 8, true));
        assert!(!asks_for_machine(&hints, untried, 8, false), "no trial calls");
    }
}

/// Many large messages that meet at the same processes in the same order: rounds avoid that.
/// Small ones: one round.
#[test]
fn never_predicted_worse_than_direct_and_better_where_messages_collide() {
    let edges = |weight| {
        let list: Vec<_> = (0..16u32).flat_map(|p| (0..16).filter(move |&q| q != p).map(move |q| (p, q, weight))).collect();
        Graph::from_edges(16, &list)
    };
    let compare_all =
        |graph: &Graph| compare(&Hints::default(), &Case::of(graph, FEW.operations)).map(|compared| compared.choice);
    let choice = compare_all(&edges(1_000_000)).unwrap();
    assert_ne!(choice.algorithm(), Algorithm::Direct);
    let Reason::Predicted(time, direct) = choice.why else { panic!("{choice:?}") };
    assert!(time < direct);
    assert!(choice.why.to_string().contains("against"));
    assert_eq!(compare_all(&edges(8)).unwrap().algorithm(), Algorithm::Direct);
    for weight in [1, 1000, 30_000, 200_000] {
        let graph = edges(weight);
        let choice = compare_all(&graph).unwrap();
        let (world, hints) = (graph.neighborhoods(), Hints::default());
        let predicted = |algorithm| {
            let schedules = world_schedules(algorithm, &world, None, &hints.tuning()).unwrap();
            predict(&world, &schedules, 1, &hints.machine(), &Options::default()).unwrap()
        };
        let (time, direct) = (predicted(choice.algorithm()), predicted(Algorithm::Direct));
        assert_eq!(choice.why, Reason::Predicted(time, direct), "{weight}");
        assert!(time <= direct, "{weight}: {time} by {:?}, {direct}", choice.algorithm());
    }
}

/// Where the window is left to the library, one schedule also runs in strict rounds.
#[test]
fn strict_rounds_are_tried() {
    use Algorithm::{Combining, Direct, DistributedColoring, EdgeColoring, LinearPermutation, RandomRounds};
    let strict = |hints: &Hints, algorithms: &[Algorithm]| {
        let mut all: Vec<Candidate> = algorithms.iter().copied().map(Candidate::from).collect();
        add_strict(hints, &mut all);
        all.iter().filter(|candidate| candidate.strict).map(|candidate| candidate.algorithm).collect::<Vec<_>>()
    };
    let auto = Hints::default();
    assert_eq!(strict(&auto, &[RandomRounds, Direct, EdgeColoring]), [EdgeColoring]);
    assert_eq!(strict(&auto, &[Direct, LinearPermutation, DistributedColoring]), [DistributedColoring]);
    assert_eq!(strict(&auto, &[RandomRounds, LinearPermutation, Direct]), [RandomRounds]);
    assert_eq!(strict(&auto, &[Direct, Combining]), []);
    let given = Hints { window: Some(2), ..Hints::default() };
    let puts = Hints { transport: Transport::Auto, ..Hints::default() };
    assert!([given, puts].iter().all(|hints| strict(hints, &[Direct, EdgeColoring]).is_empty()));
    // each way to several schedules
    let n = Neighborhood::from_ranks(0, &[1, 2], &[1, 2]);
    let input = Input { neighborhood: &n, processes: 3, directions: None, star: None, stencil: None };
    let both = |all: &[Candidate]| [false, true].map(|strict| all.iter().any(|candidate| candidate.strict == strict));
    assert_eq!(both(&candidates(&auto, &input, FEW)), [true; 2]);
    let large = Outline { edges: 1 << 25, ..FEW };
    assert_eq!(both(&compare_large(&auto, None, large).unwrap().close), [true; 2]);
    let graph = Graph::from_edges(3, &[(0, 1, 1 << 20), (0, 2, 1 << 20), (1, 2, 1 << 20), (2, 1, 1 << 20)]);
    assert_eq!(both(&compare(&auto, &Case::of(&graph, ALLTOALL)).unwrap().close), [true; 2]);
}

#[test]
fn measured_times_must_differ_clearly() {
    let times = |other| {
        let strict = Candidate { algorithm: Algorithm::RandomRounds, strict: true };
        [(Algorithm::Direct.into(), 100.0), (strict, other), (Algorithm::RandomRounds.into(), 99.0)]
    };
    assert_eq!(fastest(&times(97.0), Reason::Measured), Choice::new(Algorithm::Direct, Reason::Measured(100.0, 100.0)));
    assert_eq!(fastest(&times(90.0), Reason::Measured), Choice::new(times(90.0)[1].0, Reason::Measured(90.0, 100.0)));
}

/// With directions, `dimension_order` is among the candidates.
#[test]
fn directions_are_used() {
    // a periodic line of processes, long messages upward and short ones downward
    let n = 8u32;
    let world: Vec<_> = (0..n)
        .map(|p| {
            let neighbor = |rank, weight, direction| Neighbor { rank: Some(rank), weight, direction };
            let (up, down) = ((p + 1) % n, (p + n - 1) % n);
            let targets = vec![neighbor(down, 200_000, 0), neighbor(up, 900_000, 1)];
            let sources = vec![neighbor(down, 900_000, 1), neighbor(up, 200_000, 0)];
            Neighborhood::new(p, sources, targets, true)
        })
        .collect();
    let graph = Graph::from_neighborhoods(&world);
    let of_edges: Vec<u32> = world.iter().flat_map(Graph::row_directions).collect();
    assert_eq!(of_edges.len(), graph.edges());
    let directions = Directions { of_edges: &of_edges, order: &[1, 0] };
    let case = Case::of(&graph, FEW.operations);
    let time = |directions| match compare(&Hints::default(), &Case { directions, ..case }).unwrap().choice.why {
        Reason::Predicted(time, _) => time,
        why => panic!("{why}"),
    };
    assert!(time(Some(directions)) <= time(None));
    let schedules = world_schedules(Algorithm::DimensionOrder, &world, Some(&[1, 0]), &Hints::default().tuning()).unwrap();
    let alone = predict(&world, &schedules, 1, &Hints::default().machine(), &Options::default()).unwrap();
    assert!(time(Some(directions)) <= alone);
}
