//! NBX between nodes: everything a process sends to the processes of one node travels as one
//! message, an envelope, to one process there, which distributes the contents inside the node.
//!
//! The envelope goes to the process that has the same place on its node as the sender has on its
//! own, so that the processes of a node share the work. NBX (`nbx.rs`) runs between nodes, the
//! crystal router (`crystal.rs`) inside each node.
//!
//! Best for many processes per node and a network on which messages are expensive. Cost: as NBX,
//! for at most one message per node that a process sends to; then ceil(log2 n) messages inside a
//! node of n processes. Memory: 8 bytes per process, allocated at first use. Source: NBX of DSDE,
//! and the crystal router.

use std::sync::Arc;

use super::crystal::{self, Packet, Router, Routing};
use super::nbx;
use crate::error::Result;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::message::{bytes_at, lend};
use crate::shm::node;
use crate::sparse::messages::{Arrivals, Outgoing, Sends};
use crate::sparse::receive_ring::ReceiveRing;
use crate::sparse::stats::Stats;
use crate::sparse::transport::{Tag, Transport};
use crate::topology::nodes::Locality;
use crate::util::cast::{to_u32, to_usize};

/// The nodes of all processes, real ones or those that a hint assumes, and the router within this
/// process's.
pub struct NodeRouter {
    nodes: Locality,
    /// This process's place on its node.
    place: u32,
    router: Router,
    /// Processes per node, if a hint assumes nodes.
    assumed: Option<u32>,
}

impl NodeRouter {
    /// Creates the map. If `assumed` is given, each run of that many ranks counts as a node.
    /// Collective: an allgather of a word, unless `assumed` is given.
    fn new(comm: &Arc<Comm>, rank: u32, size: u32, assumed: Option<u32>) -> Result<NodeRouter> {
        let names = match assumed {
            Some(processes) => (0..size).map(|r| r / processes).collect(),
            None => node::names(comm)?,
        };
        let nodes = Locality::from_names(&names);
        let own = nodes.members(nodes.node_of(rank));
        let place = to_u32(own.partition_point(|&r| r < rank));
        let places = [place, to_u32(own.len())];
        let router = Router::new(Arc::clone(comm), places, |place| own[place as usize], Tag::NodeRouter.number(0));
        Ok(NodeRouter { nodes, place, router, assumed })
    }

    /// True if the map is that of the real nodes.
    pub fn is_real(&self) -> bool {
        self.assumed.is_none()
    }
}

const WORD: usize = size_of::<u64>();

enum Phase {
    /// Envelopes travel between nodes.
    Between(nbx::Run),
    /// Their contents travel inside nodes.
    Inside(Routing),
}

/// A run of the protocol.
pub struct Run {
    phase: Phase,
    mine: Stats,
    /// The envelopes, one per node, which NBX sends to the others.
    envelopes: Vec<Vec<u64>>,
    /// Place of the one for the own node, which this process distributes itself.
    own: Option<usize>,
    /// Envelopes that have arrived.
    arrived: Arrivals,
    nothing: Sends,
}

impl Run {
    /// Makes the map of nodes where there is none, which is collective.
    pub fn make(transport: &Transport, nodes: &mut Option<NodeRouter>, node_size: Option<u32>) -> Result<()> {
        if nodes.as_ref().is_none_or(|n| n.assumed != node_size) {
            let made = NodeRouter::new(&transport.comm, transport.rank, transport.size, node_size)?;
            *nodes = Some(made);
        }
        Ok(())
    }

    /// Starts the protocol.
    ///
    /// # Safety
    /// As for `dispatch::Run::start`.
    pub unsafe fn start(
        transport: &mut Transport,
        ring: &mut ReceiveRing,
        nodes: &mut Option<NodeRouter>,
        sends: &Sends,
    ) -> Result<Run> {
        let Some(NodeRouter { nodes, place: own_place, .. }) = nodes else { unreachable!("created by make") };
        let mut order: Vec<&Outgoing> = sends.list.iter().filter(|o| o.target != transport.rank).collect();
        order.sort_by_key(|o| nodes.node_of(o.target));
        let groups: Vec<&[&Outgoing]> = order.chunk_by(|a, b| nodes.is_near(a.target, b.target)).collect();
        let (mut envelopes, mut outgoing) = (Vec::new(), Vec::new());
        for group in &groups {
            let members = nodes.members(nodes.node_of(group[0].target));
            let mut envelope: Vec<u64> = Vec::new();
            // where this fails, each message asks for its own room
            envelope.try_reserve_exact(group.iter().map(|o| crystal::words(o.bytes)).sum()).ok();
            for o in *group {
                let place = members.partition_point(|&m| m < o.target) as u64;
                let label = [place << 32 | u64::from(transport.rank), o.bytes];
                // SAFETY: the caller vouches for the block; there is room for its bytes.
                let pack = |into| unsafe { o.pack(into, sends.dense, &transport.comm) };
                crystal::append(&mut envelope, label, pack, &mut transport.loss)?;
            }
            let target = members[*own_place as usize % members.len()];
            envelopes.push(envelope);
            outgoing.push(target);
        }
        let own = outgoing.iter().position(|&target| target == transport.rank);
        let (mine, mut arrived) = (transport.stats(sends), Arrivals::default());
        let (envelopes, between) = lend(envelopes, |envelopes| {
            let list = (outgoing.into_iter().zip(envelopes)).map(|(target, e)| {
                let bytes = size_of_val(&e[..]) as u64;
                Outgoing { target, block: bytes_at(e.as_ptr().cast(), bytes), bytes, device: false }
            });
            let list = Sends { list: list.collect(), dense: true, marks: 0 };
            let readers = |i: usize| groups[i].iter().map(|o| o.target);
            // SAFETY: the envelopes do not move and live as long as the run.
            unsafe { nbx::Run::start(transport, ring, &list, readers, mine, &mut arrived) }
        })?;
        Ok(Run { phase: Phase::Between(between), mine, envelopes, own, arrived, nothing: Sends::default() })
    }

    /// Advances the protocol. Returns true once it is done.
    ///
    /// # Safety
    /// As for `dispatch::Run::progress`.
    #[inline]
    pub unsafe fn progress(
        &mut self,
        transport: &mut Transport,
        ring: &mut ReceiveRing,
        nodes: &mut Option<NodeRouter>,
        arrivals: &mut Arrivals,
    ) -> Result<bool> {
        let nodes = nodes.as_mut().expect("created by start");
        if let Phase::Between(between) = &mut self.phase {
            // SAFETY: the envelopes live as long as the run.
            if !unsafe { between.progress(transport, ring, &mut self.arrived) }? {
                return Ok(false);
            }
            let held = self.contents();
            // SAFETY: the own envelope, and those that have arrived, live as long as the run.
            self.phase =
                Phase::Inside(unsafe { Routing::start(&mut nodes.router, held, self.mine, &self.nothing, &mut transport.loss) }?);
        }
        let Phase::Inside(inside) = &mut self.phase else { unreachable!("started above") };
        // SAFETY: as above; the packets' bytes are valid until the router is used again.
        unsafe {
            let Some((packets, _)) = inside.progress(&mut nodes.router, &self.nothing, &mut transport.loss)? else {
                return Ok(false);
            };
            crystal::deliver(packets, arrivals, &mut transport.loss)?;
        }
        Ok(true)
    }

    /// Returns the messages in the own envelope and in all that have arrived, those of one source
    /// in the order in which it sent them.
    fn contents(&self) -> Vec<Packet> {
        let mut packets = Vec::new();
        self.own.iter().for_each(|&own| Packet::read_all(&self.envelopes[own], &mut packets));
        for envelope in &self.arrived.messages {
            #[expect(clippy::cast_ptr_alignment, reason = "arrivals are aligned for words")]
            let first = envelope.at.cast::<u64>();
            // SAFETY: these bytes have arrived and consist of words.
            let words = unsafe { std::slice::from_raw_parts(first, to_usize(envelope.bytes) / WORD) };
            Packet::read_all(words, &mut packets);
        }
        packets
    }
}
