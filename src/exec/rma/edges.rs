//! Where the blocks of a schedule's rounds go through a link.

use std::sync::Arc;

use super::link::Link;
use super::slots::Slot;
use crate::mpi::comm::Owned as Comm;
use crate::schedule::Part;
use crate::topology::neighborhood::{Neighborhood, Rank};

/// Where blocks go through a link: for each entry of a list, the position of the other end's slot,
/// and the edge's place among all edges in matching order. `None` for an end that the link has not.
pub(super) struct Ways(Vec<Option<(usize, usize)>>);

/// A block of a round, or a part of one, in the order of messages and of blocks in them.
pub(super) struct Moved {
    /// The position of the slot, and the edge's place.
    pub(super) way: (usize, usize),
    pub(super) entry: u32,
    pub(super) part: Part,
}

impl Ways {
    /// `in_order`: the entries of a list of so many entries, in matching order, and their ranks.
    fn new(entries: usize, in_order: &[(u32, Rank)], slots: &[Slot]) -> Ways {
        let mut ways = vec![None; entries];
        for (place, (entry, rank)) in in_order.iter().enumerate() {
            ways[*entry as usize] = slots.binary_search_by_key(rank, |slot| slot.rank).ok().map(|slot| (slot, place));
        }
        Ways(ways)
    }

    pub(super) fn of(&self, entry: u32, part: Part) -> Option<Moved> {
        Some(Moved { way: self.0[entry as usize]?, entry, part })
    }
}

/// What all rounds of an executor have in common.
pub(super) struct Edges<'a> {
    pub(super) link: &'a Arc<Link>,
    pub(super) comm: &'a Arc<Comm>,
    pub(super) n: &'a Neighborhood,
    pub(super) targets: Ways,
    pub(super) sources: Ways,
    pub(super) fields: usize,
}

impl<'a> Edges<'a> {
    /// Moves so many fields together.
    pub(super) fn new(link: &'a Arc<Link>, comm: &'a Arc<Comm>, n: &'a Neighborhood, fields: usize) -> Edges<'a> {
        let targets = Ways::new(n.targets().len(), &n.targets_in_order().collect::<Vec<_>>(), &link.targets);
        let sources = Ways::new(n.sources().len(), &n.sources_in_order().collect::<Vec<_>>(), &link.sources);
        Edges { link, comm, n, targets, sources, fields }
    }
}
