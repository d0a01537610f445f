//! The graph of all processes, for schedules that process 0 plans for everybody, and where the
//! processes are.

use std::cell::OnceCell;

use crate::collective::set::tree;
use crate::error::{Error, Result};
use crate::mpi::comm::Owned as Comm;
use crate::select::Nodes;
use crate::select::hints::Hints;
use crate::shm::node::Team;
use crate::topology::graph::Graph;
use crate::topology::neighborhood::{Neighborhood, Rank};
use crate::topology::nodes::Locality;

/// The graph of all processes, gathered when first needed.
pub struct GatheredGraph<'a> {
    /// The private communicator.
    pub comm: &'a Comm,
    /// The processes of this one's node.
    pub team: &'a Team,
    /// This process's lists.
    pub neighborhood: &'a Neighborhood,
    /// True when `graph` has been gathered.
    pub gathered: bool,
    /// On process 0.
    pub graph: Option<Graph>,
    /// Which processes share a node; on process 0, where it matters.
    pub nodes: Option<Locality>,
    /// True if processes of a node exchange blocks through memory that they share.
    pub shares_memory: bool,
    /// Number of edges between nodes, once it has been counted.
    pub far: OnceCell<u64>,
}

impl GatheredGraph<'_> {
    /// The graph, on process 0. Collective the first time.
    pub fn graph(&mut self) -> Result<Option<&Graph>> {
        if !self.gathered {
            let (mut row, weights) = Graph::row(self.neighborhood);
            row.extend(weights);
            self.graph = tree::gather(self.comm, row)?.map(|rows| Graph::from_joined_rows(&rows.lengths, &rows.words));
            self.gathered = true;
        }
        Ok(self.graph.as_ref())
    }

    /// Where the processes are, as schedules are compared; on process 0, where it matters.
    pub fn placement(&self) -> Option<Nodes<'_>> {
        self.nodes.as_ref().map(|nodes| Nodes { nodes, share_memory: self.shares_memory })
    }

    /// The processes, in the order of their ranks, with which this one shares memory that serves
    /// the edges between them, as the hints place them. Local.
    pub fn near(&self, hints: &Hints) -> Result<Vec<Rank>> {
        if !self.shares_memory {
            return Ok(Vec::new());
        }
        let Some(placement) = &hints.nodes else { return Ok(self.team.group().ranks().to_vec()) };
        let nodes = placement.locality(self.comm.size()?).map_err(Error::Internal)?;
        Ok(nodes.members(nodes.node_of(self.neighborhood.rank())).to_vec())
    }

    /// Number of edges between nodes; on process 0, if the graph and the nodes are known. Local.
    pub fn far_edges(&self) -> Option<u64> {
        let (graph, nodes) = self.graph.as_ref().zip(self.nodes.as_ref())?;
        let is_far = |&(source, target, _): &_| !nodes.is_near(source, target);
        Some(*self.far.get_or_init(|| graph.iter().filter(is_far).count() as u64))
    }

    /// The direction of each edge of the graph, on process 0. Collective.
    pub fn directions(&self) -> Result<Vec<u32>> {
        Ok(tree::gather(self.comm, Graph::row_directions(self.neighborhood))?.unwrap_or_default().words)
    }
}
