//! Stars: neighborhoods in which one process sends to others, and the others at most to themselves.

use super::costs::length;
use crate::topology::neighborhood::{Neighborhood, Rank};
use crate::util::cast::{to_u32, to_usize};

/// A star: one process, the hub, sends to each of some other processes once, and no other process
/// sends to others. All may send to themselves.
#[derive(Debug, Clone, PartialEq)]
pub struct Star {
    /// The process that sends to others; arbitrary if none does.
    pub hub: Rank,
    /// The targets of the hub in matching order, without the hub itself.
    pub targets: Vec<Rank>,
    /// Mean weight of the edges to the targets.
    pub weight: f64,
}

impl Star {
    /// Local contribution to the decision if there is a star. Pass the sum over all processes to
    /// [`Star::from_shares`].
    pub fn share(n: &Neighborhood) -> [u64; 4] {
        let mut others = others(n);
        let targets = others.len();
        others.sort_unstable();
        others.dedup();
        let repeats = others.len() < targets;
        if targets > 0 { [1, n.rank().into(), targets as u64, repeats.into()] } else { [0; 4] }
    }

    /// Returns the hub and its number of targets from the sum of all shares; `None` if there is no
    /// star. If no process sends to others, process 0 is the hub.
    pub fn from_shares(sum: [u64; 4]) -> Option<(Rank, usize)> {
        let [senders, hub, targets, repeats] = sum;
        // of several senders the sums mean nothing, and need not fit
        (senders <= 1 && repeats == 0).then(|| (to_u32(hub), to_usize(targets)))
    }

    /// Returns the star whose hub is `n`.
    pub fn of_hub(n: &Neighborhood) -> Star {
        let weights = n.targets_in_order().filter(|t| t.1 != n.rank()).map(|t| n.targets()[t.0 as usize].weight);
        let total: f64 = weights.map(|w| length(w, 1) as f64).sum();
        let targets = others(n);
        Star { hub: n.rank(), weight: total / targets.len().max(1) as f64, targets }
    }

    /// Finds the star in the lists of all processes, given in the order of ranks; `None` if there
    /// is none.
    pub fn find(world: &[Neighborhood]) -> Option<Star> {
        let mut sum = [0; 4];
        for n in world {
            for (sum, share) in sum.iter_mut().zip(Star::share(n)) {
                *sum += share;
            }
        }
        Star::of_hub(world.get(Star::from_shares(sum)?.0 as usize)?).into()
    }

    /// The process at a position of the tree.
    pub(super) fn rank(&self, place: u32) -> Rank {
        if place == 0 { self.hub } else { self.targets[place as usize - 1] }
    }
}

/// The targets without the process itself, in matching order.
fn others(n: &Neighborhood) -> Vec<Rank> {
    let mut others = Vec::with_capacity(n.targets().len());
    others.extend(n.targets_in_order().map(|t| t.1).filter(|&r| r != n.rank()));
    others
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_of_many_hubs_is_no_rank() {
        let many = 100_000u64;
        assert_eq!(Star::from_shares([many, many * (many - 1) / 2, many, 0]), None);
        assert_eq!(Star::from_shares([1, 7, 3, 0]), Some((7, 3)));
        assert_eq!(Star::from_shares([1, 7, 3, 1]), None);
    }
}
