//! The map from ranks to nodes, and its text form in a hint.
//!
//! Nodes are numbered from 0 in the order of their lowest ranks, which are their leaders. Nodes may
//! have different numbers of processes, and the ranks of a node need not be consecutive. Memory: 8
//! bytes per process and per node.

#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::sync::Arc;

use crate::topology::neighborhood::Rank;
use crate::util::cast::to_u32;

/// The nodes of all processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locality {
    node_of: Vec<u32>,
    /// All processes, grouped by node, in the order of ranks within a node.
    members: Vec<Rank>,
    /// Index of each node's first member, then the number of processes.
    begins: Vec<usize>,
}

impl Locality {
    /// Creates the map from the name of each process's node, in the order of ranks: processes with
    /// equal names share a node.
    pub fn from_names(names: &[u32]) -> Locality {
        let mut numbers = HashMap::new();
        let node_of: Vec<u32> = (names.iter())
            .map(|name| {
                let next = to_u32(numbers.len());
                *numbers.entry(name).or_insert(next)
            })
            .collect();
        let mut members: Vec<Rank> = (0..to_u32(names.len())).collect();
        members.sort_by_key(|&r| node_of[r as usize]);
        let begins = (0..=to_u32(numbers.len())).map(|n| members.partition_point(|&r| node_of[r as usize] < n)).collect();
        Locality { node_of, members, begins }
    }

    /// Number of processes.
    pub fn processes(&self) -> u32 {
        to_u32(self.node_of.len())
    }

    /// Number of nodes.
    pub fn nodes(&self) -> u32 {
        to_u32(self.begins.len()) - 1
    }

    /// The node of a process.
    pub fn node_of(&self, process: Rank) -> u32 {
        self.node_of[process as usize]
    }

    /// True if two processes share a node.
    pub fn is_near(&self, one: Rank, other: Rank) -> bool {
        self.node_of(one) == self.node_of(other)
    }

    /// The processes of a node, in the order of their ranks.
    pub fn members(&self, node: u32) -> &[Rank] {
        &self.members[self.begins[node as usize]..self.begins[node as usize + 1]]
    }

    /// The process of the lowest rank on a node.
    pub fn leader(&self, node: u32) -> Rank {
        self.members(node)[0]
    }
}

/// A placement of processes on nodes, as given by a hint.
///
/// # Text
/// A single number n: each n consecutive ranks form a node; the last node may be smaller. Numbers
/// separated by commas: any number for each rank in order; ranks with equal numbers share a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Placement {
    /// This many consecutive ranks per node.
    Consecutive(u32),
    /// The name of each process's node.
    Listed(Arc<[u32]>),
}

impl Placement {
    /// Description of valid texts, for errors.
    pub const TEXT: &str = "a number of processes, from 1 to 4294967295, or a list of nodes, one for each process, as 0,0,1,1,0";

    /// Parses the text; `None` if it has neither form.
    pub fn parse(text: &str) -> Option<Placement> {
        let number = |word: &str| word.trim().parse::<u32>().ok();
        if text.contains(',') {
            Some(Placement::Listed(text.split(',').map(number).collect::<Option<Vec<u32>>>()?.into()))
        } else {
            number(text).filter(|&n| n > 0).map(Placement::Consecutive)
        }
    }

    /// Returns the nodes of `processes` processes.
    ///
    /// # Errors
    /// The list has a different number of entries.
    pub fn locality(&self, processes: u32) -> Result<Locality, String> {
        match self {
            Placement::Consecutive(size) => Ok(Locality::from_names(&(0..processes).map(|r| r / size).collect::<Vec<_>>())),
            Placement::Listed(names) if names.len() == processes as usize => Ok(Locality::from_names(names)),
            Placement::Listed(names) => {
                Err(format!("mpix_nodes names the nodes of {} processes, but the communicator has {processes}", names.len()))
            }
        }
    }

    /// Returns numbers that differ for different placements.
    pub fn words(&self) -> Vec<u64> {
        match self {
            Placement::Consecutive(size) => vec![1, u64::from(*size)],
            Placement::Listed(names) => [2, names.len() as u64].into_iter().chain(names.iter().map(|&n| n.into())).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_numbered_by_their_leaders() {
        let l = Locality::from_names(&[7, 3, 7, 0, 3, 7]);
        assert_eq!((l.processes(), l.nodes()), (6, 3));
        assert_eq!((0..6).map(|r| l.node_of(r)).collect::<Vec<_>>(), [0, 1, 0, 2, 1, 0]);
        assert_eq!([l.members(0), l.members(1), l.members(2)], [&[0, 2, 5][..], &[1, 4], &[3]]);
        assert_eq!([l.leader(0), l.leader(1), l.leader(2)], [0, 1, 3]);
        assert_eq!(Locality::from_names(&[]).nodes(), 0);
    }

    #[test]
    fn placements_and_their_text() {
        let nodes =
            |text: &str, n| Placement::parse(text).unwrap().locality(n).map(|l| (0..n).map(|r| l.node_of(r)).collect::<Vec<_>>());
        assert_eq!(nodes("2", 5), Ok(vec![0, 0, 1, 1, 2]));
        assert_eq!(nodes(" 9 ", 3), Ok(vec![0, 0, 0]));
        assert_eq!(nodes("5, 1,5", 3), Ok(vec![0, 1, 0]));
        assert_eq!(nodes("5,1,5", 4).unwrap_err(), "mpix_nodes names the nodes of 3 processes, but the communicator has 4");
        for wrong in ["", "0", "-1", "two", "1,", ",", "1,x", "4294967296", "1 2"] {
            assert_eq!(Placement::parse(wrong), None, "{wrong}");
        }
        let words: Vec<_> = ["1", "2", "1,2", "2,1", "1,2,0"].map(|t| Placement::parse(t).unwrap().words()).into();
        assert!((0..5).all(|i| (0..i).all(|j| words[i] != words[j])));
    }
}
