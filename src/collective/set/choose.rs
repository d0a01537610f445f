//! Chooses the schedule of a neighborhood, the same one on all processes.

use std::sync::Arc;

use crate::collective::set::world::GatheredGraph;
use crate::error::{Error, Result, catch};
use crate::machine::trials::{self, Alike};
use crate::mpi::coll::{self, Reduction};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::group::Group;
use crate::schedule::{ALGORITHMS, Algorithm, Input, Operations, Star, Stencil};
use crate::select::hints::Hints;
use crate::select::{self, Candidate, Case, Choice, Comparison, Directions, Outline, Reason};
use crate::shm::node;
use crate::topology::cartesian::Grid;
use crate::topology::graph;
use crate::topology::neighborhood::Neighborhood;
use crate::topology::nodes::Locality;
use crate::util::cast::low_half;

/// Finds out if all neighborhoods together form a star, from the sum of their shares. Returns the
/// same on all processes.
///
/// Collective if there is a star: a broadcast of 8 bytes and 4 for each target.
pub fn find_star(comm: &Comm, neighborhood: &Neighborhood, shares: [u64; 4]) -> Result<Option<Star>> {
    let Some((hub, targets)) = Star::from_shares(shares) else {
        return Ok(None);
    };
    let mut message = vec![0u8; 8 + 4 * targets];
    if neighborhood.rank() == hub {
        let star = Star::of_hub(neighborhood);
        message[..8].copy_from_slice(&star.weight.to_le_bytes());
        for (word, target) in message[8..].chunks_exact_mut(4).zip(star.targets) {
            word.copy_from_slice(&target.to_le_bytes());
        }
    }
    coll::broadcast(comm, &mut message, hub)?;
    let weight = f64::from_le_bytes(std::array::from_fn(|i| message[i]));
    let targets = message[8..].chunks_exact(4).map(|word| u32::from_le_bytes(std::array::from_fn(|i| word[i]))).collect();
    Ok(Some(Star { hub, targets, weight }))
}

/// Returns the processes that make the same calls as this one: all, if `whole` promises that, else
/// those that edges connect with it, directly or through others.
///
/// Collective: for the latter, allgathers of a word, at most log2 n + 1 if n processes are
/// connected.
pub fn connected(comm: &Arc<Comm>, neighborhood: &Neighborhood, whole: bool) -> Result<Group> {
    if whole {
        return Group::new(comm, |_| true);
    }
    let (me, processes) = (comm.rank()?, comm.size()?);
    // processes with one label are connected; labels around one another are joined until nothing
    // changes: all processes know when
    let mut labels: Vec<u32> = (0..processes).collect();
    loop {
        let ends = neighborhood.sources().iter().chain(neighborhood.targets());
        let around = ends.filter_map(|end| end.rank).map(|rank| labels[rank as usize]);
        let lowest = around.fold(labels[me as usize], u32::min);
        let words = coll::allgather_words(comm, [lowest.into()], processes)?;
        let lowest: Vec<u32> = words.iter().map(|&[word]| low_half(word)).collect();
        if lowest == labels {
            return Ok(Group::new(comm, |rank| labels[rank as usize] == labels[me as usize])?.apart());
        }
        labels = graph::joined(&labels, &lowest);
    }
}

/// Returns which processes share nodes: the real ones, or those of the hint.
///
/// Collective unless the hint names them: an allgather of a word.
pub fn find_nodes(comm: &Comm, hints: &Hints, input: &Input) -> Result<Locality> {
    match &hints.nodes {
        Some(placement) => {
            let wrong = |reason| Error::Schedule { schedule: Algorithm::NodeAware.name(), reason };
            Ok(placement.locality(input.processes).map_err(wrong)?)
        }
        None => Ok(Locality::from_names(&node::names(comm)?)),
    }
}

/// Finds out if all neighborhoods on a grid together form a stencil. Returns the same on all
/// processes.
///
/// Collective: a reduction of two words for each dimension, one of a word for each place in the box
/// of all offsets (4096 at most), and one of a word.
pub fn find_stencil(comm: &Comm, neighborhood: &Neighborhood, grid: &Grid) -> Result<Option<Stencil>> {
    let most = |mine: &[i64]| {
        let mut all = vec![0; mine.len()];
        coll::allreduce_slice(comm, mine, &mut all, Reduction::Max).map(|()| all)
    };
    let reach = most(&Stencil::reach(grid, neighborhood))?;
    let Some(counts) = Stencil::counts(grid, neighborhood, &reach) else {
        return Ok(None);
    };
    let stencil = Stencil::new(grid.clone(), &reach, &most(&counts)?);
    let differs = most(&[i64::from(!stencil.describes(neighborhood))])?;
    Ok((differs == [0]).then_some(stencil))
}

/// What the model has chosen, and what a trial is to find out.
pub struct Compared {
    /// The choice.
    pub choice: Choice,
    /// Schedules that trial calls are to compare, the choice first; none if the choice stands.
    pub rivals: Vec<Candidate>,
}

/// Lets process 0 compare predicted times, where the graph is not too large, and broadcasts its
/// choice: that of an earlier trial, if it remembers one, or the model's if trials have taken too
/// much time. Collective.
///
/// `alike` says what an outcome for some algorithms holds for, given the number of edges between
/// nodes, if trial calls can be made.
pub fn compare(
    world: &mut GatheredGraph,
    hints: &Hints,
    input: &Input,
    outline: Outline,
    alike: impl Fn(&[Candidate], Option<u64>) -> Option<Alike>,
) -> Result<Compared> {
    let comm = world.comm;
    let sampled = input.stencil.filter(|stencil| select::is_sampled(hints, stencil, outline));
    let compared = match (sampled, select::compare_large(hints, input.stencil, outline)) {
        (_, Some(comparison)) => (comm.rank()? == 0).then_some(Ok(comparison)),
        (Some(stencil), _) => {
            let mine = stencil.weights(input.neighborhood);
            let mut weights = vec![0; mine.len()];
            coll::allreduce_slice(comm, &mine, &mut weights, Reduction::Max)?;
            let (order, nodes) = (input.directions, world.placement());
            let compare = || select::compare_sample(hints, stencil, &weights, order, nodes, outline.operations);
            (comm.rank()? == 0).then(|| catch(compare))
        }
        (None, None) => compare_graph(world, hints, input, outline.operations)?,
    };
    let decide = |compared: Comparison| -> Result<(Choice, Vec<Candidate>)> {
        let alike = if compared.close.len() > 1 { alike(&compared.close, world.far_edges()) } else { None };
        let Some(alike) = alike else { return Ok((compared.choice, Vec::new())) };
        Ok(match trials::recall(&alike)? {
            Some(known) => (known, Vec::new()),
            None if outline.affords_trial => (compared.choice, compared.close),
            None => (compared.choice, Vec::new()),
        })
    };
    let encode = |(Choice { candidate, why }, rivals): (Choice, Vec<Candidate>)| -> Result<[[u8; 8]; 4]> {
        let (kind, time, direct) = match why {
            Reason::Predicted(time, direct) => (1, time, direct),
            Reason::Tried(time, direct) => (2, time, direct),
            Reason::Large(_) => (3, 0.0, 0.0),
            _ => return Err(Error::Internal(format!("a comparison ends with this reason: {why}")).into()),
        };
        let mut message = [[0; 8], time.to_le_bytes(), direct.to_le_bytes(), mask(&rivals).to_le_bytes()];
        message[0][..3].copy_from_slice(&[kind, candidate.algorithm as u8, candidate.strict.into()]);
        Ok(message)
    };
    let decided = compared.map(|compared| compared.and_then(decide).and_then(encode));
    // an error must not keep the others waiting: nothing stands for it
    let mut message = if let Some(Ok(message)) = decided { message } else { [[0; 8]; 4] };
    coll::broadcast(comm, message.as_flattened_mut(), 0)?;
    if let Some(Err(error)) = decided {
        return Err(error);
    }
    let (time, direct) = (f64::from_le_bytes(message[1]), f64::from_le_bytes(message[2]));
    let why = match message[0][0] {
        1 => Reason::Predicted(time, direct),
        2 => Reason::Tried(time, direct),
        3 => Reason::Large(outline.edges),
        _ => return Err(Error::Internal("process 0 could not compare schedules".into()).into()),
    };
    let entry = ALGORITHMS.get(usize::from(message[0][1]));
    let algorithm = entry.map(|e| e.algorithm).ok_or_else(|| Error::Internal("process 0 chose an unknown schedule".into()))?;
    let candidate = Candidate { algorithm, strict: message[0][2] != 0 };
    Ok(Compared { choice: Choice { candidate, why }, rivals: unmask(u64::from_le_bytes(message[3]), candidate) })
}

/// The bit of a candidate in a word.
fn bit(candidate: Candidate) -> u64 {
    1 << (2 * candidate.algorithm as u32 + u32::from(candidate.strict))
}

/// A set of candidates as a word.
fn mask(candidates: &[Candidate]) -> u64 {
    candidates.iter().fold(0, |mask, &candidate| mask | bit(candidate))
}

/// The candidates of such a set, `first` first.
fn unmask(mask: u64, first: Candidate) -> Vec<Candidate> {
    let both = |algorithm| [false, true].map(|strict| Candidate { algorithm, strict });
    let every = ALGORITHMS.iter().flat_map(|entry| both(entry.algorithm));
    let mut all: Vec<Candidate> = every.filter(|&candidate| mask & bit(candidate) != 0).collect();
    all.sort_by_key(|&candidate| candidate != first);
    all
}

/// Compares on the graph of all processes, on process 0. Collective.
fn compare_graph(
    world: &mut GatheredGraph,
    hints: &Hints,
    input: &Input,
    operations: Operations,
) -> Result<Option<Result<Comparison>>> {
    let (directions, star, stencil) = (input.directions, input.star.is_some(), input.stencil);
    // all processes have directions, or none has
    let of_edges = directions.map(|_| world.directions()).transpose()?;
    let directions = (of_edges.as_ref().zip(directions)).map(|(of_edges, order)| Directions { of_edges, order });
    world.graph()?;
    let nodes = world.placement();
    let case = |graph| Case { graph, directions, star, stencil, nodes, operations, part: false };
    Ok(world.graph.as_ref().map(|graph| catch(|| select::compare(hints, &case(graph)))))
}
