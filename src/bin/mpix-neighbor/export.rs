//! `mpix-neighbor schedule --export`: the schedules of all processes as JSON, for other programs to
//! check or run. docs/schedule-format.md describes the format; any change of its meaning needs a
//! new version.

use std::collections::HashMap;
use std::io::{BufWriter, Write};
use std::path::Path;

use mpix_neighbor::schedule::{Block, Op, Part, Schedule};
use mpix_neighbor::topology::neighborhood::{Neighborhood, Rank};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::write_by;

const FORMAT: &str = "mpix-neighbor-schedule";
const VERSION: u32 = 1;

/// The exported document.
#[derive(Serialize)]
pub struct Export {
    format: &'static str,
    version: u32,
    tool: String,
    graph: String,
    processes: usize,
    unit_bytes: u32,
    half_duplex: bool,
    /// The node of each process, if nodes are given.
    nodes: Option<Vec<u32>>,
    neighborhoods: Vec<Lists>,
    schedules: Vec<World>,
}

/// The lists of a process, with `null` for `MPI_PROC_NULL`.
#[derive(Serialize)]
struct Lists {
    sources: Vec<Option<Source>>,
    targets: Vec<Option<Target>>,
}

/// An entry of a source list, with the block that arrives.
#[derive(Serialize)]
struct Source {
    rank: Rank,
    target_entry: u32,
}

#[derive(Serialize)]
struct Target {
    rank: Rank,
    weight: u32,
    source_entry: u32,
}

#[derive(Serialize)]
struct World {
    algorithm: &'static str,
    processes: Vec<Process>,
}

#[derive(Serialize)]
struct Process {
    rounds: Vec<Round>,
    scratch_blocks: u32,
    packets: Vec<Vec<Place>>,
}

#[derive(Serialize)]
struct Round {
    number: u32,
    operations: Vec<Operation>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Place {
    Input(u32),
    Output(u32),
    Scratch(u32),
    Packet(u32),
}

#[derive(Serialize)]
#[serde(tag = "op", rename_all = "lowercase")]
enum Operation {
    Recv { from: Rank, into: Place, part: [u32; 3] },
    Send { to: Rank, block: Place, part: [u32; 3] },
    Copy { from: Place, into: Place },
    Reduce { from: Place, into: Place },
}

impl From<Block> for Place {
    fn from(block: Block) -> Place {
        match block {
            Block::Input(entry) => Place::Input(entry),
            Block::Output(entry) => Place::Output(entry),
            Block::Scratch(k) => Place::Scratch(k),
            Block::Packet(k) => Place::Packet(k),
        }
    }
}

impl From<&Op> for Operation {
    fn from(op: &Op) -> Operation {
        let fraction = |part: Part| <[u32; 3]>::from(part.fraction());
        match *op {
            Op::Recv { from, into, part } => Operation::Recv { from, into: into.into(), part: fraction(part) },
            Op::Send { to, block, part } => Operation::Send { to, block: block.into(), part: fraction(part) },
            Op::Copy { from, into } => Operation::Copy { from: from.into(), into: into.into() },
            Op::Reduce { from, into } => Operation::Reduce { from: from.into(), into: into.into() },
        }
    }
}

impl From<&Schedule> for Process {
    fn from(schedule: &Schedule) -> Process {
        let round = |r| Round { number: schedule.number(r), operations: schedule.round(r).iter().map(Operation::from).collect() };
        Process {
            rounds: (0..schedule.rounds()).map(round).collect(),
            scratch_blocks: schedule.scratch_blocks(),
            packets: (0..schedule.packets()).map(|k| schedule.packet(k).iter().map(|&block| block.into()).collect()).collect(),
        }
    }
}

/// The lists of all processes, each entry with the matching entry at the other end: the k-th edge
/// from the source to the target matches the k-th edge of the target from the source.
fn lists(world: &[Neighborhood]) -> Vec<Lists> {
    let mut entries: HashMap<(Rank, Rank), Vec<[u32; 2]>> = HashMap::new();
    for n in world {
        for (entry, to) in n.targets_in_order() {
            entries.entry((n.rank(), to)).or_default().push([entry, 0]);
        }
    }
    for n in world {
        let mut met: HashMap<Rank, usize> = HashMap::new();
        for (entry, from) in n.sources_in_order() {
            let k = met.entry(from).or_default();
            if let Some(edge) = entries.get_mut(&(from, n.rank())).and_then(|edges| edges.get_mut(*k)) {
                edge[1] = entry;
            }
            *k += 1;
        }
    }
    let mut lists: Vec<Lists> = (world.iter())
        .map(|n| Lists {
            sources: n.sources().iter().map(|_| None).collect(),
            targets: n.targets().iter().map(|_| None).collect(),
        })
        .collect();
    for ((from, to), edges) in entries {
        for [target_entry, source_entry] in edges {
            let weight = world[from as usize].targets()[target_entry as usize].weight;
            lists[from as usize].targets[target_entry as usize] = Some(Target { rank: to, weight, source_entry });
            lists[to as usize].sources[source_entry as usize] = Some(Source { rank: from, target_entry });
        }
    }
    lists
}

impl Export {
    /// Creates an export without schedules.
    pub fn new(graph: &str, world: &[Neighborhood], unit_bytes: u32, half_duplex: bool, nodes: Option<Vec<u32>>) -> Export {
        Export {
            format: FORMAT,
            version: VERSION,
            tool: format!("mpix-neighbor {}", env!("CARGO_PKG_VERSION")),
            graph: graph.to_owned(),
            processes: world.len(),
            unit_bytes,
            half_duplex,
            nodes,
            neighborhoods: lists(world),
            schedules: Vec::new(),
        }
    }

    /// Adds the schedules of all processes built by one algorithm.
    pub fn push(&mut self, algorithm: &'static str, schedules: &[Schedule]) {
        self.schedules.push(World { algorithm, processes: schedules.iter().map(Process::from).collect() });
    }

    /// Writes the document to a file, or to standard output for `-`.
    pub fn write(&self, file: &Path) -> Result<(), Failure> {
        write_by(file, |out| self.write_to(out))
    }

    fn write_to(&self, out: impl Write) -> std::io::Result<()> {
        let mut out = BufWriter::new(out);
        serde_json::to_writer(&mut out, self)?;
        out.write_all(b"\n")?;
        out.flush()
    }
}
