//! `node_aware`: one message per pair of nodes, whatever the number of edges between them.
//!
//! An edge inside a node is served by its own message in the first round. The blocks from one node
//! to another are gathered by a carrier process, travel in one message to a carrier on the other
//! node, and are distributed from there. These steps are rounds 0, 1 and 2; a process that takes no
//! part in a step has no such round. In a round, a process sends at most one message of combined
//! blocks to each other process: blocks of several pairs of nodes that go through the same process
//! share a message.
//!
//! **Carriers.** If all blocks of a pair of nodes come from one process, or go to one, that process
//! is the carrier. Otherwise the carrier is the process of the node with the least load so far,
//! assigning heaviest pairs first, so that the processes of a node share the work. A pair much
//! heavier than an equal share of its node's load is cut into several messages, each long enough
//! that its bytes cost more than its startup.
//!
//! Useful where messages between nodes are expensive, many processes share a node, and blocks are
//! short. Cost: at most 3 rounds, and one message for each pair of nodes with edges between them,
//! except for heavy pairs. A block travels up to three times, twice of them inside a node, and
//! takes 8 extra bytes in each message of several blocks. With one node, or one process per node,
//! the messages are those of `direct`, except that repeated edges between two processes are
//! combined.
//!
//! Building needs the graph of all processes and their nodes on one process: time `O(E log E)`
//! plus, for each pair of nodes, the number of processes of both; about 150 bytes per edge. Each
//! process gets its own share, as words: see `shares`.
//!
//! Source: the technique of MPI libraries for dense collectives on clusters of multiprocessors,
//! here for any graph.

use crate::schedule::costs::length;
use crate::schedule::grammar::{Algorithm, Block, Op, Schedule};
use crate::schedule::input::Tuning;
use crate::schedule::rounds::{Ends, Shares, edges_to_others};
use crate::topology::graph::Graph;
use crate::topology::neighborhood::{Neighborhood, Rank};
use crate::topology::nodes::Locality;
use crate::util::cast::{to_u32, to_usize, whole};

/// Edges from one node to another that travel together.
struct Bundle {
    from: u32,
    to: u32,
    edges: Vec<u32>,
    weight: f64,
    /// The process that gathers and sends, and the one that receives and distributes.
    carriers: [Rank; 2],
}

/// One hop of a block: (round, sender, receiver, edge).
type Leg = (u32, Rank, Rank, u32);

const GATHER: u32 = 0;
const BETWEEN: u32 = 1;
const SCATTER: u32 = 2;

fn weight(graph: &Graph, edge: u32) -> f64 {
    length(graph.weight(edge as usize), 1) as f64
}

/// Groups the edges between nodes into bundles, and chooses their carriers.
fn bundles(graph: &Graph, ends: &Ends, nodes: &Locality, startup: f64) -> Vec<Bundle> {
    let pair = |e: u32| (nodes.node_of(ends.sources[e as usize]), nodes.node_of(graph.target(e as usize)));
    let mut between: Vec<u32> = (0..to_u32(graph.edges())).filter(|&e| pair(e).0 != pair(e).1).collect();
    between.sort_by_key(|&e| pair(e));
    // an equal share of what leaves a node, and of what arrives there
    let (mut leaves, mut arrives) = (vec![0.0; nodes.nodes() as usize], vec![0.0; nodes.nodes() as usize]);
    for &e in &between {
        let (from, to) = pair(e);
        leaves[from as usize] += weight(graph, e) / nodes.members(from).len() as f64;
        arrives[to as usize] += weight(graph, e) / nodes.members(to).len() as f64;
    }
    let mut bundles = Vec::new();
    for edges in between.chunk_by(|&a, &b| pair(a) == pair(b)) {
        let (from, to) = pair(edges[0]);
        let total: f64 = edges.iter().map(|&e| weight(graph, e)).sum();
        let fair = f64::min(leaves[from as usize], arrives[to as usize]);
        let most = usize::max(nodes.members(from).len(), nodes.members(to).len());
        // without bytes there is nothing to share
        let parts = if total == 0.0 { 1.0 } else { (total / fair - 1e-9).ceil().min(total / startup) };
        let parts = to_usize(whole(parts)).clamp(1, most);
        // the part that contains the middle of an edge
        let mut before = 0.0;
        let part_of = |&e: &u32| {
            let middle = before + weight(graph, e) / 2.0;
            before += weight(graph, e);
            // the middle of an edge of length 0 may lie at the very end
            (to_usize(whole(middle / total * parts as f64)).min(parts - 1), e)
        };
        let in_parts: Vec<(usize, u32)> = edges.iter().map(part_of).collect();
        // middles never decrease along the edges
        for part in in_parts.chunk_by(|a, b| a.0 == b.0) {
            let edges: Vec<u32> = part.iter().map(|p| p.1).collect();
            let weight = edges.iter().map(|&e| weight(graph, e)).sum();
            bundles.push(Bundle { from, to, edges, weight, carriers: [0; 2] });
        }
    }
    bundles
}

/// Chooses the carriers.
fn assign(bundles: &mut [Bundle], graph: &Graph, ends: &Ends, nodes: &Locality, startup: f64) {
    let mut order: Vec<usize> = (0..bundles.len()).collect();
    order.sort_by(|&a, &b| bundles[b].weight.total_cmp(&bundles[a].weight));
    // what each process sends away and receives so far, and its own weight in the current bundle
    let mut loads = [vec![0.0f64; graph.processes()], vec![0.0f64; graph.processes()]];
    let mut own = vec![0.0f64; graph.processes()];
    for b in order {
        let bundle = &mut bundles[b];
        for (side, node) in [(0, bundle.from), (1, bundle.to)] {
            let end = |e: u32| if side == 0 { ends.sources[e as usize] } else { graph.target(e as usize) };
            let first = end(bundle.edges[0]);
            let carrier = if bundle.edges.iter().all(|&e| end(e) == first) {
                first
            } else {
                bundle.edges.iter().for_each(|&e| own[end(e) as usize] += weight(graph, e));
                // prefer the lighter load in the other direction, then the larger weight of one's
                // own
                let better = |&a: &Rank, &b: &Rank| {
                    let (a, b) = (a as usize, b as usize);
                    (loads[side][a].total_cmp(&loads[side][b]))
                        .then(loads[1 - side][a].total_cmp(&loads[1 - side][b]))
                        .then(own[b].total_cmp(&own[a]))
                };
                let best = nodes.members(node).iter().copied().min_by(better).unwrap_or(first);
                bundle.edges.iter().for_each(|&e| own[end(e) as usize] = 0.0);
                best
            };
            bundle.carriers[side] = carrier;
            // where bytes cost nothing, messages count
            loads[side][carrier as usize] += if startup.is_finite() { startup + bundle.weight } else { 1.0 };
        }
    }
}

/// A schedule as it is sent: operations with the numbers of their rounds, and packets. Input and
/// output blocks are edges of the process, numbered as in a share of `rounds.rs`.
#[derive(Default, Clone)]
struct Written {
    ops: Vec<(u32, Op)>,
    packets: Vec<Vec<Block>>,
    scratch: u32,
}

impl Written {
    /// Returns the blocks of a message as one block.
    fn pack(&mut self, blocks: Vec<Block>) -> Block {
        if let [block] = blocks[..] {
            return block;
        }
        self.packets.push(blocks);
        Block::Packet(to_u32(self.packets.len()) - 1)
    }

    fn words(&self) -> impl Iterator<Item = u32> + '_ {
        let packets = self.packets.iter().flat_map(|p| std::iter::once(to_u32(p.len())).chain(p.iter().map(|&b| to_word(b))));
        let ops = self.ops.iter().map(|&(round, op)| match op {
            Op::Send { to, block, .. } => [2 * round, to, to_word(block)],
            Op::Recv { from, into, .. } => [2 * round + 1, from, to_word(into)],
            Op::Copy { .. } | Op::Reduce { .. } => unreachable!("copies are added by the process itself"),
        });
        std::iter::once(to_u32(self.packets.len())).chain(packets).chain(ops.flatten())
    }
}

/// Encodes a block for a share: its variant and its number.
fn to_word(block: Block) -> u32 {
    let index = to_u32(block.index());
    assert!(index < 1 << 30, "a number of a block is too large to be sent");
    match block {
        Block::Input(_) => 4 * index,
        Block::Output(_) => 4 * index + 1,
        Block::Scratch(_) => 4 * index + 2,
        Block::Packet(_) => 4 * index + 3,
    }
}

/// Returns the shares of all processes. A share consists of the number of packets, for each packet
/// its number of blocks and the blocks, and three words for each operation: its round and whether
/// it receives, the other process, the block.
pub(in crate::schedule) fn shares(graph: &Graph, nodes: &Locality, tuning: &Tuning) -> Shares {
    let mut shares = Vec::new();
    let words = (written(graph, nodes, tuning).iter())
        .map(|written| {
            let before = shares.len();
            shares.extend(written.words());
            to_u32(shares.len() - before)
        })
        .collect();
    (shares, words)
}

fn written(graph: &Graph, nodes: &Locality, tuning: &Tuning) -> Vec<Written> {
    let ends = Ends::of(graph);
    let mut bundles = bundles(graph, &ends, nodes, tuning.startup);
    assign(&mut bundles, graph, &ends, nodes, tuning.startup);
    let mut legs: Vec<Leg> = Vec::new();
    for e in 0..to_u32(graph.edges()) {
        let (source, target) = (ends.sources[e as usize], graph.target(e as usize));
        if nodes.is_near(source, target) {
            legs.push((GATHER, source, target, e));
        }
    }
    for Bundle { edges, carriers: [sender, receiver], .. } in &bundles {
        for &e in edges {
            let (source, target) = (ends.sources[e as usize], graph.target(e as usize));
            let way = [(GATHER, source, *sender), (BETWEEN, *sender, *receiver), (SCATTER, *receiver, target)];
            legs.extend(way.into_iter().filter(|(_, from, to)| from != to).map(|(round, from, to)| (round, from, to, e)));
        }
    }
    // each process begins with a different target, so that not all send to the same one first
    let processes = to_u32(graph.processes());
    legs.sort_by_key(|&(round, from, to, _)| (round, from, (to + processes - from) % processes));
    let mut all = vec![Written::default(); graph.processes()];
    // for each edge, the numbers of the scratch blocks at its carriers
    let mut scratch = vec![[0u32; 2]; graph.edges()];
    for message in legs.chunk_by(|a, b| (a.0, a.1, a.2) == (b.0, b.1, b.2)) {
        let (round, from, to, _) = message[0];
        let (lone, together): (Vec<u32>, Vec<u32>) = split(message, graph);
        for edges in [lone, together].iter().filter(|edges| !edges.is_empty()) {
            let (mut sent, mut received) = (Vec::with_capacity(edges.len()), Vec::with_capacity(edges.len()));
            for &e in edges {
                let at = e as usize;
                sent.push(match round {
                    _ if ends.sources[at] == from => Block::Input(to_u32(at - graph.edges_of(from).start)),
                    BETWEEN => Block::Scratch(scratch[at][0]),
                    _ => Block::Scratch(scratch[at][1]),
                });
                received.push(if graph.target(at) == to {
                    Block::Output(ends.arrivals[at])
                } else {
                    let next = &mut all[to as usize].scratch;
                    scratch[at][usize::from(round != GATHER)] = *next;
                    *next += 1;
                    Block::Scratch(*next - 1)
                });
            }
            let block = all[from as usize].pack(sent);
            all[from as usize].ops.push((round, Op::send(to, block)));
            let into = all[to as usize].pack(received);
            all[to as usize].ops.push((round, Op::recv(from, into)));
        }
    }
    all
}

/// Splits the blocks of a message into those that travel separately and those that travel together.
/// An edge inside a node has its own message, without copies. Repeated edges do not: a process that
/// leaves one of them out, as verification may, must not match another edge's message in its place.
fn split(message: &[Leg], graph: &Graph) -> (Vec<u32>, Vec<u32>) {
    let (round, _, to, _) = message[0];
    let direct = |leg: &Leg| round == GATHER && graph.target(leg.3 as usize) == to;
    let alone = message.iter().filter(|leg| direct(leg)).count() == 1;
    let (lone, together): (Vec<&Leg>, Vec<&Leg>) = message.iter().partition(|leg| alone && direct(leg));
    (lone.into_iter().map(|leg| leg.3).collect(), together.into_iter().map(|leg| leg.3).collect())
}

/// Builds the schedule of a process from its share.
///
/// # Panics
/// If it is not the share of this process.
pub fn schedule(n: &Neighborhood, share: &[u32]) -> Schedule {
    let [targets, sources] = edges_to_others(n);
    let block = |word: u32| match word % 4 {
        0 => Block::Input(targets[word as usize / 4].0),
        1 => Block::Output(sources[word as usize / 4].0),
        2 => Block::Scratch(word / 4),
        _ => Block::Packet(word / 4),
    };
    let (count, mut rest) = share.split_first().expect("a share says how many packets there are");
    let mut packets: Vec<Vec<Block>> = Vec::new();
    for _ in 0..*count {
        let (blocks, behind) = rest[1..].split_at(rest[0] as usize);
        packets.push(blocks.iter().map(|&word| block(word)).collect());
        rest = behind;
    }
    let ops = (rest.chunks_exact(3))
        .map(|op| {
            let block = block(op[2]);
            (op[0] / 2, if op[0] % 2 == 0 { Op::send(op[1], block) } else { Op::recv(op[1], block) })
        })
        .collect();
    let mut schedule = Schedule::from_numbered(Algorithm::NodeAware, ops, crate::schedule::grammar::self_copies(n));
    packets.into_iter().for_each(|blocks| schedule.push_packet(blocks));
    schedule
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::schedule::schedules_on_nodes;
    use crate::schedule::verify::{Goal, verify};
    use crate::util::random::mix;

    fn made(world: &[Neighborhood], nodes: &Locality, tuning: &Tuning) -> Vec<Schedule> {
        let schedules = schedules_on_nodes(world, nodes, tuning);
        verify(world, &schedules, Goal::Deliver, false).unwrap();
        schedules
    }

    fn text(world: &[Neighborhood], names: &[u32]) -> String {
        let schedules = made(world, &Locality::from_names(names), &Tuning::default());
        schedules.iter().zip(0..).map(|(s, p)| format!("process {p}\n{s}")).collect()
    }

    /// Messages: (sender, receiver).
    fn messages(schedules: &[Schedule], keep: impl Fn(Rank, Rank) -> bool) -> Vec<(Rank, Rank)> {
        let sends = schedules.iter().zip(0..).flat_map(|(s, p)| {
            s.ops().iter().filter_map(move |op| if let Op::Send { to, .. } = *op { Some((p, to)) } else { None })
        });
        sends.filter(|&(from, to)| keep(from, to)).collect()
    }

    fn between(schedules: &[Schedule], nodes: &Locality) -> Vec<(Rank, Rank)> {
        messages(schedules, |from, to| !nodes.is_near(from, to))
    }

    fn all_to_all(n: u32, weight: u32) -> Vec<Neighborhood> {
        let edges = (0..n).flat_map(|s| (0..n).map(move |t| (s, t, weight)));
        Graph::from_edges(n, &edges.collect::<Vec<_>>()).neighborhoods()
    }

    /// Two nodes of two processes, interleaved. 0 and 2 send to 1 and 3; 0 also to 2, its neighbor
    /// on the node, and to itself.
    #[test]
    fn two_nodes_by_hand() {
        let world = [
            Neighborhood::from_ranks(0, &[0], &[3, 2, 0, 1]),
            Neighborhood::from_ranks(1, &[2, 0], &[]),
            Neighborhood::from_ranks(2, &[0], &[1, 3]),
            Neighborhood::from_ranks(3, &[0, 2], &[]),
        ];
        assert_eq!(
            text(&world, &[0, 1, 0, 1]),
            "process 0\n\
             round 0: recv Packet(0) from 2; send Input(1) to 2; copy Input(2) into Output(0);\n\
             round 1: send Packet(1) to 1;\n\
             packet 0: [Scratch(0), Scratch(1)]\n\
             packet 1: [Input(0), Input(3), Scratch(0), Scratch(1)]\n\
             process 1\n\
             round 1: recv Packet(0) from 0;\n\
             round 2: send Packet(1) to 3;\n\
             packet 0: [Scratch(0), Output(1), Output(0), Scratch(1)]\n\
             packet 1: [Scratch(0), Scratch(1)]\n\
             process 2\n\
             round 0: recv Output(0) from 0; send Packet(0) to 0;\n\
             packet 0: [Input(0), Input(1)]\n\
             process 3\n\
             round 2: recv Packet(0) from 1;\n\
             packet 0: [Output(0), Output(1)]\n"
        );
    }

    /// An edge inside a node and blocks for a carrier go to the same process: the edge's block
    /// travels separately, without copies. If the edge is repeated, both copies travel with the
    /// others.
    #[test]
    fn edges_to_a_carrier() {
        let world = |repeated: bool| {
            let inside: &[Rank] = if repeated { &[1, 1] } else { &[1] };
            let sources: &[Rank] = if repeated { &[0, 0] } else { &[0] };
            [
                Neighborhood::from_ranks(0, &[], &[inside, &[2, 3]].concat()),
                Neighborhood::from_ranks(1, sources, &[2, 3, 2]),
                Neighborhood::from_ranks(2, &[0, 1, 1], &[]),
                Neighborhood::from_ranks(3, &[0, 1], &[]),
            ]
        };
        let nodes = Locality::from_names(&[0, 0, 1, 1]);
        let first = |repeated| made(&world(repeated), &nodes, &Tuning::default())[0].to_string();
        assert_eq!(first(false), "round 0: send Input(0) to 1; send Packet(0) to 1;\npacket 0: [Input(1), Input(2)]\n");
        assert_eq!(first(true), "round 0: send Packet(0) to 1;\npacket 0: [Input(0), Input(1), Input(2), Input(3)]\n");
    }

    /// With one node, and with one process per node, the messages are those of `direct`.
    #[test]
    fn nothing_to_gather() {
        let world = all_to_all(9, 1);
        let direct = crate::schedule::world_schedules(Algorithm::Direct, &world, None, &Tuning::default()).unwrap();
        let pairs = |schedules: &[Schedule]| {
            assert!(schedules.iter().all(|s| s.rounds() == 1 && s.packets() == 0));
            let mut pairs = messages(schedules, |_, _| true);
            pairs.sort_unstable();
            pairs
        };
        for names in [[5; 9], [8, 7, 6, 5, 4, 3, 2, 1, 0]] {
            assert_eq!(pairs(&made(&world, &Locality::from_names(&names), &Tuning::default())), pairs(&direct));
        }
        // no process sends, or there are no processes
        let alone = [Neighborhood::from_ranks(0, &[], &[]), Neighborhood::from_ranks(1, &[1], &[1])];
        let schedules = made(&alone, &Locality::from_names(&[0, 1]), &Tuning::default());
        assert_eq!((schedules[0].rounds(), schedules[1].to_string().as_str()), (0, "round 0: copy Input(0) into Output(0);\n"));
        assert!(made(&[], &Locality::from_names(&[]), &Tuning::default()).is_empty());
    }

    /// All to all on five nodes of four processes: each process carries one message out and one in.
    #[test]
    fn the_processes_of_a_node_share_the_work() {
        for names in [|r: u32| r / 4, |r| r % 5] {
            let nodes = Locality::from_names(&(0..20).map(names).collect::<Vec<_>>());
            let schedules = made(&all_to_all(20, 1), &nodes, &Tuning::default());
            let messages = between(&schedules, &nodes);
            assert_eq!(messages.len(), 5 * 4);
            let (away, into): (HashSet<Rank>, HashSet<Rank>) = messages.into_iter().unzip();
            assert_eq!((away.len(), into.len()), (20, 20));
            assert!(schedules.iter().all(|s| s.rounds() == 3));
        }
    }

    /// Between two nodes of four processes, short blocks travel as one message, long ones as four
    /// with equal loads.
    #[test]
    fn heavy_pairs_are_cut() {
        let nodes = Locality::from_names(&[0, 0, 0, 0, 1, 1, 1, 1]);
        let count = |weight, startup| {
            let messages = between(&made(&all_to_all(8, weight), &nodes, &Tuning { startup, ..Tuning::default() }), &nodes);
            let (away, into): (HashSet<Rank>, HashSet<Rank>) = messages.iter().copied().unzip();
            assert_eq!((away.len(), into.len()), (messages.len(), messages.len()));
            messages.len()
        };
        assert_eq!(count(100, 4096.0), 2);
        assert_eq!(count(100, f64::INFINITY), 2);
        // 16 edges: two messages if the bytes of each cost as much as its startup
        assert_eq!(count(512, 4096.0), 4);
        assert_eq!(count(100_000, 4096.0), 8);
        assert_eq!(count(1, 0.0), 8);
        // without bytes there is nothing to share
        assert_eq!(count(0, 0.0), 2);
    }

    /// A process that sends to all has one message per node, and so has one that receives from all.
    #[test]
    fn stars_have_a_message_for_each_node() {
        let nodes = Locality::from_names(&(0..24).map(|r| r / 6).collect::<Vec<_>>());
        for inward in [false, true] {
            let edges: Vec<_> = (0..24).map(|r| if inward { (r, 7, 1) } else { (7, r, 1) }).collect();
            let schedules = made(&Graph::from_edges(24, &edges).neighborhoods(), &nodes, &Tuning::default());
            let messages = between(&schedules, &nodes);
            assert_eq!(messages.len(), 3);
            assert!(messages.iter().all(|m| if inward { m.1 == 7 } else { m.0 == 7 }));
        }
    }

    /// On random graphs and placements, with nodes of any size: there are no more messages between
    /// nodes than pairs of nodes with edges, and the blocks of a process are adjacent in them, so
    /// that the one block of a gather occurs once.
    #[test]
    fn one_message_for_each_pair_of_nodes() {
        for seed in 0..300u64 {
            let draw = |k: u64| mix(mix(seed) ^ k);
            let n = 1 + draw(1) % 40;
            let names: Vec<u32> = (0..n).map(|r| to_u32(draw(100 + r) % (1 + draw(2) % n))).collect();
            let nodes = Locality::from_names(&names);
            let edge = |e| (to_u32(draw(1000 + e) % n), to_u32(draw(2000 + e) % n), (draw(3000 + e) % 1000) as u32);
            let graph = Graph::from_edges(to_u32(n), &(0..draw(3) % 200).map(edge).collect::<Vec<_>>());
            let world = graph.neighborhoods();
            let schedules = made(&world, &nodes, &Tuning { startup: f64::INFINITY, ..Tuning::default() });
            let pairs: HashSet<(u32, u32)> =
                graph.iter().map(|(s, t, _)| (nodes.node_of(s), nodes.node_of(t))).filter(|p| p.0 != p.1).collect();
            let messages = between(&schedules, &nodes);
            let carried: HashSet<(u32, u32)> = messages.iter().map(|&(s, t)| (nodes.node_of(s), nodes.node_of(t))).collect();
            assert_eq!((messages.len(), carried), (pairs.len(), pairs), "seed {seed}");
            let ends = Ends::of(&graph);
            for bundle in bundles(&graph, &ends, &nodes, f64::INFINITY) {
                let sources: Vec<Rank> = bundle.edges.iter().map(|&e| ends.sources[e as usize]).collect();
                assert!(sources.is_sorted());
            }
        }
    }

    /// A hundred thousand edges on a thousand processes take well below a second.
    #[test]
    fn many_edges() {
        let edge = |e: u32| (e % 1000, (e / 1000 * 37 + e) % 1000, 1 + e % 7);
        let graph = Graph::from_edges(1000, &(0..100_000).map(edge).collect::<Vec<_>>());
        let nodes = Locality::from_names(&(0..1000).map(|r| r / 32).collect::<Vec<_>>());
        let begin = std::time::Instant::now();
        let (shares, words) = shares(&graph, &nodes, &Tuning::default());
        assert_eq!(shares.len(), words.iter().map(|&w| w as usize).sum::<usize>());
        assert!(begin.elapsed().as_secs_f64() < 10.0);
    }
}
