//! The neighborhood in which one process sends and all others receive from it at most.

use super::costs::length;
use crate::topology::neighborhood::{Neighborhood, Rank};

/// A neighborhood of all processes in which one, the hub, sends to some others, to each once, and
/// no other process sends.
#[derive(Debug, Clone, PartialEq)]
pub struct Star {
    /// The process that sends; any where none does.
    pub hub: Rank,
    /// Those to which it sends, but itself, in matching order.
    pub targets: Vec<Rank>,
    /// The mean weight of its edges to them.
    pub weight: f64,
}

impl Star {
    /// What a process knows of whether there is a star. The sum of all processes' goes to
    /// [`Star::from_shares`].
    pub fn share(n: &Neighborhood) -> [u64; 4] {
        let sends = n.targets().iter().any(|t| t.rank.is_some());
        let mut others = others(n);
        let targets = others.len();
        others.sort_unstable();
        others.dedup();
        let repeats = others.len() < targets;
        if sends { [1, n.rank().into(), targets as u64, repeats.into()] } else { [0; 4] }
    }

    /// From the sum of all processes' shares the hub and its number of targets; `None` if there is
    /// no star. Where nobody sends, process 0 is the hub.
    pub fn from_shares(sum: [u64; 4]) -> Option<(Rank, usize)> {
        let [senders, hub, targets, repeats] = sum;
        (senders <= 1 && repeats == 0).then_some((hub as Rank, targets as usize))
    }

    /// The star of which `n` is the hub.
    pub fn of_hub(n: &Neighborhood) -> Star {
        let weights = n.targets_in_order().into_iter().filter(|t| t.1 != n.rank()).map(|t| n.targets()[t.0 as usize].weight);
        let total: f64 = weights.map(|w| length(w, 1) as f64).sum();
        let targets = others(n);
        Star { hub: n.rank(), weight: total / targets.len().max(1) as f64, targets }
    }

    /// The star of all processes, in the order of ranks; `None` if there is none.
    pub fn find(world: &[Neighborhood]) -> Option<Star> {
        let mut sum = [0; 4];
        for n in world {
            for (sum, share) in sum.iter_mut().zip(Star::share(n)) {
                *sum += share;
            }
        }
        Star::of_hub(world.get(Star::from_shares(sum)?.0 as usize)?).into()
    }

    /// The process at a place of the tree.
    pub(super) fn rank(&self, place: u32) -> Rank {
        if place == 0 { self.hub } else { self.targets[place as usize - 1] }
    }
}

/// The targets but the process itself, in matching order.
fn others(n: &Neighborhood) -> Vec<Rank> {
    n.targets_in_order().into_iter().map(|t| t.1).filter(|&r| r != n.rank()).collect()
}
