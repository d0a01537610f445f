//! `combining`: blocks travel along the dimensions of a grid, those of one way in one message.
//!
//! Where all processes of a Cartesian communicator have neighbors at the same offsets, up to open
//! ends, a block with offset (o_1, ..., o_d) can go o_1 steps along the first dimension, then o_2
//! along the second, and so on. All blocks that a process has and that go the same way in a
//! dimension, its own and those that came along the dimensions before, go there in one message. A
//! full stencil of 27 points in three dimensions takes 6 messages instead of 26: corner blocks ride
//! along, as programs with ghost cells do it by hand. This is what SparseColl (II.D) asks of an
//! implementation, for any offsets.
//!
//! Useful where messages are short, so that their number counts more than the bytes that travel
//! several times: the model says where. For a gather no byte travels further than to those who need
//! it, as a process's block is in a message once: a gather of a full stencil moves exactly the
//! bytes of `direct`.
//!
//! Cost: one round for each dimension in which there are neighbors; in each of them one message for
//! each distinct step other than 0; a block travels once for each dimension in which its offset is
//! not 0. A message of several blocks has 8 bytes more for each of them, and is put together and
//! taken apart. To make it: time and memory O(d e) for e edges of a process, and at set time what
//! [`Stencil`] says.

use std::collections::BTreeMap;

use crate::schedule::{Algorithm, Block, Input, Op, Schedule};
use crate::topology::cartesian::Grid;
use crate::topology::neighborhood::{Neighborhood, Rank};

/// Steps along each dimension.
type Offset = Vec<i32>;

/// Most places of a box that holds all offsets.
const MOST_PLACES: usize = 4096;

/// The offsets at which all processes of a grid have neighbors, as far as the grid reaches.
///
/// Each process tells how far its offsets reach ([`Stencil::reach`]), then how many edges it has at
/// each place of the box that holds all offsets ([`Stencil::counts`]), and whether its lists are
/// what follows from all processes' counts ([`Stencil::describes`]): three reductions to maxima, of
/// 2 d words, of one for each place of the box, and of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stencil {
    grid: Grid,
    /// All but 0, ascending, and how many edges a process has at each.
    offsets: Vec<(Offset, u32)>,
    /// The dimensions in which there are neighbors, in the order in which blocks travel along them.
    order: Vec<usize>,
    closed: bool,
}

impl Stencil {
    /// How far a process's edges to others reach, downward and upward in each dimension.
    pub fn reach(grid: &Grid, n: &Neighborhood) -> Vec<i64> {
        let mut reach = vec![0; 2 * grid.dimensions()];
        for (_, offset) in edges(grid, n) {
            for (d, &steps) in offset.iter().enumerate() {
                let at = &mut reach[2 * d + usize::from(steps > 0)];
                *at = i64::from(steps.unsigned_abs()).max(*at);
            }
        }
        reach
    }

    /// How many edges a process has at each place of the box that all processes' reaches make;
    /// `None` if it has too many places.
    pub fn counts(grid: &Grid, n: &Neighborhood, reach: &[i64]) -> Option<Vec<i64>> {
        let mut counts = vec![0; places(reach)?];
        for (_, offset) in edges(grid, n) {
            counts[place(&offset, reach)] += 1;
        }
        Some(counts)
    }

    /// The stencil that all processes' reaches and counts make.
    pub fn new(grid: Grid, reach: &[i64], counts: &[i64]) -> Stencil {
        let at = |place: usize| {
            let mut rest = place as i64;
            let mut offset: Offset = (reach.chunks_exact(2).rev())
                .map(|r| {
                    let width = r[0] + r[1] + 1;
                    let steps = rest % width - r[0];
                    rest /= width;
                    steps as i32
                })
                .collect();
            offset.reverse();
            offset
        };
        let taken = counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let offsets: Vec<(Offset, u32)> = taken.map(|(place, &count)| (at(place), count as u32)).collect();
        let used = |d: &usize| offsets.iter().any(|(offset, _)| offset[*d] != 0);
        let dimensions: Vec<usize> = (0..grid.dimensions()).filter(used).collect();
        let order = closed_order(&offsets, &dimensions);
        Stencil { grid, offsets, closed: order.is_some(), order: order.unwrap_or(dimensions) }
    }

    /// Whether a process has the edges that the stencil says.
    pub fn describes(&self, n: &Neighborhood) -> bool {
        let mut counts: BTreeMap<Offset, u32> = BTreeMap::new();
        for (_, offset) in edges(&self.grid, n) {
            *counts.entry(offset).or_default() += 1;
        }
        let coords = self.grid.coords(n.rank());
        let expected = self.offsets.iter().filter(|(offset, _)| self.grid.moved(&coords, offset, 1).is_some());
        counts.iter().map(|(offset, count)| (offset, *count)).eq(expected.map(|(offset, count)| (offset, *count)))
    }

    /// The stencil of all processes, in the order of ranks; `None` if there is none, or one with
    /// offsets too far apart.
    pub fn find(grid: &Grid, world: &[Neighborhood]) -> Option<Stencil> {
        let mut reach = vec![0; 2 * grid.dimensions()];
        let most = |all: &mut [i64], mine: Vec<i64>| all.iter_mut().zip(mine).for_each(|(all, mine)| *all = mine.max(*all));
        world.iter().for_each(|n| most(&mut reach, Stencil::reach(grid, n)));
        let mut counts = vec![0; places(&reach)?];
        for n in world {
            most(&mut counts, Stencil::counts(grid, n, &reach)?);
        }
        let stencil = Stencil::new(grid.clone(), &reach, &counts);
        world.iter().all(|n| stencil.describes(n)).then_some(stencil)
    }

    /// The grid.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Whether blocks travel only through processes that are neighbors of their source: the offsets
    /// on a block's way are offsets of the stencil too.
    pub fn closed(&self) -> bool {
        self.closed
    }

    /// Whether a process in the middle of the grid sends fewer messages than it has edges.
    pub fn saves_messages(&self) -> bool {
        let messages: usize = self.order.iter().map(|&d| self.steps(d).len()).sum();
        messages < self.offsets.iter().map(|(_, count)| *count as usize).sum()
    }

    /// The distinct steps along a dimension, but 0, ascending.
    fn steps(&self, d: usize) -> Vec<i32> {
        let mut steps: Vec<i32> = self.offsets.iter().map(|(offset, _)| offset[d]).filter(|&steps| steps != 0).collect();
        steps.sort_unstable();
        steps.dedup();
        steps
    }

    /// The offsets whose blocks process `coords` sends `steps` along the `r`-th dimension, as their
    /// numbers: those of one source behind one another.
    fn sent(&self, coords: &[u32], r: usize, steps: i32) -> Vec<usize> {
        let mut sent: Vec<(Offset, usize)> = (self.offsets.iter().enumerate())
            .filter(|(_, (offset, _))| offset[self.order[r]] == steps)
            .filter_map(|(i, (offset, _))| {
                let way = restricted(offset, &self.order[..r]);
                let source = self.grid.moved(coords, &way, -1)?;
                self.grid.moved(&source, offset, 1)?;
                Some((way, i))
            })
            .collect();
        sent.sort_unstable();
        sent.into_iter().map(|(_, i)| i).collect()
    }
}

/// The steps along some dimensions, 0 along the others.
fn restricted(offset: &[i32], dimensions: &[usize]) -> Offset {
    (0..offset.len()).map(|d| if dimensions.contains(&d) { offset[d] } else { 0 }).collect()
}

/// An order of the dimensions in which all offsets on the way of a block are offsets of the
/// stencil; `None` if there is none, or the dimensions are too many to be tried.
fn closed_order(offsets: &[(Offset, u32)], dimensions: &[usize]) -> Option<Vec<usize>> {
    const MOST_DIMENSIONS: usize = 8;
    fn extend(order: &mut Vec<usize>, offsets: &[(Offset, u32)], dimensions: &[usize], refused: &mut Vec<Vec<usize>>) -> bool {
        if order.len() == dimensions.len() {
            return true;
        }
        for &d in dimensions {
            if order.contains(&d) {
                continue;
            }
            order.push(d);
            let mut set = order.clone();
            set.sort_unstable();
            let holds = |way: &Offset| way.iter().all(|&s| s == 0) || offsets.binary_search_by(|o| o.0.cmp(way)).is_ok();
            if !refused.contains(&set) {
                if offsets.iter().all(|(offset, _)| holds(&restricted(offset, order)))
                    && extend(order, offsets, dimensions, refused)
                {
                    return true;
                }
                refused.push(set);
            }
            order.pop();
        }
        false
    }
    let mut order = Vec::new();
    (dimensions.len() <= MOST_DIMENSIONS && extend(&mut order, offsets, dimensions, &mut Vec::new())).then_some(order)
}

/// Places of the box; `None` if there are too many.
fn places(reach: &[i64]) -> Option<usize> {
    let widths = reach.chunks_exact(2).map(|r| usize::try_from(r[0] + r[1] + 1).ok());
    let places = widths.into_iter().try_fold(1usize, |places, width| places.checked_mul(width?));
    places.filter(|&places| places <= MOST_PLACES)
}

/// The place of an offset in the box.
fn place(offset: &[i32], reach: &[i64]) -> usize {
    let widths = reach.chunks_exact(2).zip(offset);
    widths.fold(0, |place, (r, &steps)| place * (r[0] + r[1] + 1) + i64::from(steps) + r[0]) as usize
}

/// Slots and offsets of the edges to other processes, in matching order.
fn edges<'a>(grid: &'a Grid, n: &'a Neighborhood) -> impl Iterator<Item = (u32, Offset)> + 'a {
    others(n.targets_in_order(), n.rank()).map(|(slot, to)| (slot, grid.offset(n.rank(), to)))
}

fn others(list: Vec<(u32, Rank)>, me: Rank) -> impl Iterator<Item = (u32, Rank)> {
    list.into_iter().filter(move |e| e.1 != me)
}

pub(in crate::schedule) fn unfit(input: &Input) -> Option<&'static str> {
    (input.stencil.is_none()).then_some(
        "it needs a Cartesian communicator on which all processes have neighbors at the same offsets, as far as the grid reaches and in a box of \
         4096 places",
    )
}

pub(in crate::schedule) fn build(input: &Input) -> Schedule {
    let n = input.neighborhood;
    let (mut ops, mut packets) = (Vec::new(), Vec::new());
    if let Some(stencil) = input.stencil {
        let grid = &stencil.grid;
        let by_offset = |edges: &mut dyn Iterator<Item = (u32, Offset)>, block: fn(u32) -> Block| {
            let mut blocks: Vec<Vec<Block>> = vec![Vec::new(); stencil.offsets.len()];
            for (slot, offset) in edges {
                if let Ok(i) = stencil.offsets.binary_search_by(|o| o.0.cmp(&offset)) {
                    blocks[i].push(block(slot));
                }
            }
            blocks
        };
        // for each offset the blocks that this process has on their way, in the order of their
        // edges
        let mut held = by_offset(&mut edges(grid, n), Block::Input);
        let mut sources = others(n.sources_in_order(), n.rank()).map(|(slot, from)| (slot, grid.offset(from, n.rank())));
        let outputs = by_offset(&mut sources, Block::Output);
        let coords = grid.coords(n.rank());
        let mut scratch = 0;
        let mut message = |blocks: Vec<Block>| match blocks[..] {
            [block] => block,
            _ => {
                packets.push(blocks);
                Block::Packet(packets.len() as u32 - 1)
            }
        };
        for (r, &d) in stencil.order.iter().enumerate() {
            let mut came = Vec::new();
            for steps in stencil.steps(d) {
                let step: Offset = (0..grid.dimensions()).map(|e| if e == d { steps } else { 0 }).collect();
                if let Some(to) = grid.moved(&coords, &step, 1) {
                    let sent = stencil.sent(&coords, r, steps);
                    let blocks: Vec<Block> = sent.iter().flat_map(|&i| held[i].iter().copied()).collect();
                    if !blocks.is_empty() {
                        ops.push((r as u32, Op::send(grid.rank(&to), message(blocks))));
                    }
                }
                if let Some(from) = grid.moved(&coords, &step, -1) {
                    let first = came.len();
                    for i in stencil.sent(&from, r, steps) {
                        let (offset, count) = &stencil.offsets[i];
                        let mut next = |_| {
                            scratch += 1;
                            Block::Scratch(scratch - 1)
                        };
                        let arrives = stencil.order[r + 1..].iter().all(|&later| offset[later] == 0);
                        came.push((i, if arrives { outputs[i].clone() } else { (0..*count).map(&mut next).collect() }));
                    }
                    let blocks: Vec<Block> = came[first..].iter().flat_map(|(_, blocks)| blocks.iter().copied()).collect();
                    if !blocks.is_empty() {
                        ops.push((r as u32, Op::recv(grid.rank(&from), message(blocks))));
                    }
                }
            }
            for (i, blocks) in came {
                held[i] = blocks;
            }
        }
    }
    let mut schedule = Schedule::from_numbered(Algorithm::Combining, ops, crate::schedule::self_copies(n));
    for blocks in packets {
        schedule.push_packet(blocks);
    }
    schedule
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{Tuning, world_schedules_on};

    fn world(grid: &Grid, offsets: &[&[i32]]) -> Vec<Neighborhood> {
        (0..grid.size())
            .map(|p| {
                let ranks = |times: i32| -> Vec<Rank> {
                    let at = |offset: &&[i32]| Some(grid.rank(&grid.moved(&grid.coords(p), offset, times)?));
                    offsets.iter().filter_map(at).collect()
                };
                Neighborhood::from_ranks(p, &ranks(-1), &ranks(1))
            })
            .collect()
    }

    fn schedules(grid: &Grid, offsets: &[&[i32]]) -> Vec<Schedule> {
        world_schedules_on(Algorithm::Combining, &world(grid, offsets), Some(grid), None, &Tuning::default()).unwrap()
    }

    fn full(d: u32) -> Vec<Vec<i32>> {
        let offset = |i: i32| (0..d).map(|e| i / 3i32.pow(e) % 3 - 1).collect();
        (0..3i32.pow(d)).map(offset).filter(|o: &Offset| o.iter().any(|&s| s != 0)).collect()
    }

    /// SparseColl's example: the corner rides along. In the middle of an open grid, by hand.
    #[test]
    fn a_corner_rides_along() {
        let grid = Grid::new(vec![3, 3], vec![false; 2]);
        let schedules = schedules(&grid, &[&[1, 1], &[1, 0], &[0, 1]]);
        assert_eq!(
            schedules[4].to_string(),
            "round 0: recv Packet(1) from 1; send Packet(0) to 7;\n\
             round 1: recv Packet(3) from 3; send Packet(2) to 5;\n\
             packet 0: [Input(1), Input(0)]\n\
             packet 1: [Output(1), Scratch(0)]\n\
             packet 2: [Input(2), Scratch(0)]\n\
             packet 3: [Output(2), Output(0)]\n"
        );
        // single blocks travel without a packet: the first corner has no process above, nor the
        // last one below
        assert_eq!(schedules[0].to_string().lines().last(), Some("packet 0: [Input(1), Input(0)]"));
        assert_eq!(schedules[2].to_string(), "round 0: send Input(0) to 5;\nround 1: recv Output(0) from 1;\n");
    }

    #[test]
    fn full_stencils() {
        for (d, edges, messages) in [(1u32, 2, 2), (2, 8, 4), (3, 26, 6), (4, 80, 8)] {
            let grid = Grid::new(vec![3; d as usize], vec![true; d as usize]);
            let offsets = full(d);
            let offsets: Vec<&[i32]> = offsets.iter().map(|o| &o[..]).collect();
            let world = world(&grid, &offsets);
            assert_eq!(world[0].targets().len(), edges);
            let stencil = Stencil::find(&grid, &world).unwrap();
            assert_eq!((stencil.closed(), stencil.saves_messages()), (true, d > 1));
            for schedule in schedules(&grid, &offsets) {
                assert_eq!((schedule.messages(), schedule.rounds()), (messages, d as usize));
            }
        }
    }

    /// Which stencils need the promise: where some offset on the way is not in the stencil,
    /// whatever the order.
    #[test]
    fn closed_stencils() {
        let grid = Grid::new(vec![5, 5, 4], vec![true, false, true]);
        let found = |offsets: &[&[i32]]| {
            let stencil = Stencil::find(&grid, &world(&grid, offsets)).unwrap();
            (stencil.closed(), stencil.order)
        };
        assert_eq!(found(&[]), (true, vec![]));
        assert_eq!(found(&[&[0, 0, 0]]), (true, vec![]));
        assert_eq!(found(&[&[0, 2, 0], &[0, -1, 0]]), (true, vec![1]));
        assert_eq!(found(&[&[1, 1, 0], &[1, 0, 0]]), (true, vec![0, 1]));
        assert_eq!(found(&[&[1, 1, 0], &[0, 1, 0]]), (true, vec![1, 0]));
        assert_eq!(found(&[&[1, 1, 2], &[0, 0, 2], &[0, 1, 2]]), (true, vec![2, 1, 0]));
        assert_eq!(found(&[&[1, 1, 0]]), (false, vec![0, 1]));
        // the first dimension could be the first one, but nothing could be the second
        assert_eq!(found(&[&[1, 1, 1], &[1, 0, 0], &[0, 0, 1], &[0, 1, 1]]), (true, vec![2, 1, 0]));
        assert_eq!(found(&[&[2, 2, 0], &[1, 0, 0], &[0, 1, 0]]), (false, vec![0, 1]));
    }

    /// One edge more or less on one process, another edge, offsets that need too large a box, and a
    /// grid too small for some offsets.
    #[test]
    fn what_is_no_stencil() {
        let grid = Grid::new(vec![4, 4], vec![true, false]);
        let offsets: [&[i32]; 3] = [&[1, 0], &[0, 1], &[-1, 2]];
        let good = world(&grid, &offsets);
        let find = |world: &[Neighborhood]| Stencil::find(&grid, world);
        assert_eq!(find(&good).unwrap().offsets, [(vec![-1, 2], 1), (vec![0, 1], 1), (vec![1, 0], 1)]);
        let targets = |p: usize| good[p].targets_in_order().into_iter().map(|t| t.1).collect::<Vec<Rank>>();
        for change in [
            |list: &mut Vec<Rank>| list.truncate(list.len() - 1),
            |list: &mut Vec<Rank>| list.push(list[0]),
            |list: &mut Vec<Rank>| list[0] = (list[0] + 4) % 16,
        ] {
            let mut bad = good.clone();
            let mut list = targets(5);
            change(&mut list);
            bad[5] = Neighborhood::from_ranks(5, &[], &list);
            assert_eq!(find(&bad), None);
        }
        // edges to oneself are nobody's concern
        let mut own = good.clone();
        own[5] = Neighborhood::from_ranks(5, &[5], &[&targets(5)[..], &[5]].concat());
        assert_eq!(find(&own), find(&good));
        let line = Grid::new(vec![10_000], vec![true]);
        assert_eq!(Stencil::find(&line, &world(&line, &[&[4095]])).unwrap().offsets, [(vec![4095], 1)]);
        assert_eq!(Stencil::find(&line, &world(&line, &[&[4096]])), None);
        let small = Grid::new(vec![2, 1], vec![false; 2]);
        assert_eq!(Stencil::find(&small, &world(&small, &[&[2, 0], &[1, 1]])).unwrap().offsets, []);
        let schedule = |world: &[Neighborhood]| world_schedules_on(Algorithm::Combining, world, None, None, &Tuning::default());
        assert!(schedule(&good).unwrap_err().contains("it needs a Cartesian communicator"));
    }

    /// Both neighbors along a periodic dimension of size 2 are one process: its two blocks ride in
    /// one message, and no one gets the other's.
    #[test]
    fn two_neighbors_in_one_process() {
        let grid = Grid::new(vec![2, 1], vec![true; 2]);
        let made = schedules(&grid, &[&[-1, 0], &[1, 0], &[0, 1], &[0, -1], &[1, 1]]);
        assert_eq!(
            made[0].to_string(),
            "round 0: recv Packet(1) from 1; send Packet(0) to 1; copy Input(2) into Output(2); copy Input(3) into Output(3);\n\
             packet 0: [Input(0), Input(1), Input(4)]\npacket 1: [Output(0), Output(1), Output(4)]\n"
        );
    }
}
