//! `combining`: blocks travel along the dimensions of a grid, and blocks with the same next step
//! share a message.
//!
//! If all processes of a Cartesian communicator have neighbors at the same offsets, up to open
//! boundaries, a block with offset (o_1, ..., o_d) can travel o_1 steps along the first dimension,
//! then o_2 along the second, and so on. In each dimension, a process sends all blocks with the
//! same step in one message: its own and those that arrived along earlier dimensions. A full
//! stencil of 27 points in three dimensions takes 6 messages instead of 26, with the corner blocks
//! forwarded, as applications do by hand when they exchange ghost cells one dimension at a time.
//! SparseColl (II.D) proposes this optimization; here it works for any offsets.
//!
//! Useful for short messages, where the number of messages costs more than the bytes that travel
//! several times; the model decides. In a gather no byte travels farther than necessary, because a
//! process's block occurs once in a message: a gather of a full stencil moves exactly the bytes of
//! `direct`.
//!
//! Cost: one round for each dimension with neighbors, and in each round one message for each
//! distinct nonzero step. A block travels once for each dimension in which its offset is nonzero. A
//! message of several blocks carries 8 extra bytes per block, and is packed and unpacked. Building
//! takes memory O(d e) for e edges of a process, time O(s e) for s messages, and the detection
//! described at [`Stencil`](crate::schedule::Stencil).

use crate::schedule::grammar::{Algorithm, Block, Op, Schedule};
use crate::schedule::input::Input;
use crate::schedule::stencil::{Offset, edges, others};
use crate::util::cast::to_u32;

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
            for (entry, offset) in edges {
                if let Ok(i) = stencil.offsets.binary_search_by(|o| o.0.cmp(&offset)) {
                    blocks[i].push(block(entry));
                }
            }
            blocks
        };
        // for each offset, the blocks in transit that this process holds, in the order of their
        // edges
        let mut held = by_offset(&mut edges(grid, n), Block::Input);
        let mut sources = others(n.sources_in_order(), n.rank()).map(|(entry, from)| (entry, grid.offset(from, n.rank())));
        let outputs = by_offset(&mut sources, Block::Output);
        let coords = grid.coords(n.rank());
        let mut scratch = 0;
        let mut message = |blocks: Vec<Block>| match blocks[..] {
            [block] => block,
            _ => {
                packets.push(blocks);
                Block::Packet(to_u32(packets.len()) - 1)
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
                        ops.push((to_u32(r), Op::send(grid.rank(&to), message(blocks))));
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
                        ops.push((to_u32(r), Op::recv(grid.rank(&from), message(blocks))));
                    }
                }
            }
            for (i, blocks) in came {
                held[i] = blocks;
            }
        }
    }
    let mut schedule = Schedule::from_numbered(Algorithm::Combining, ops, crate::schedule::grammar::self_copies(n));
    for blocks in packets {
        schedule.push_packet(blocks);
    }
    schedule
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Stencil;
    use crate::schedule::{Tuning, world_schedules_on};
    use crate::topology::cartesian::Grid;
    use crate::topology::neighborhood::{Neighborhood, Rank};

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

    /// SparseColl's example, in the interior of an open grid, by hand: the corner block is
    /// forwarded.
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
        // single blocks travel without a packet: the first corner has no process above, the last
        // one none below
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

    /// A stencil needs the caller's promise if, for every order of dimensions, some intermediate
    /// offset is not in the stencil.
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
        // the first dimension could come first, but then none could come second
        assert_eq!(found(&[&[1, 1, 1], &[1, 0, 0], &[0, 0, 1], &[0, 1, 1]]), (true, vec![2, 1, 0]));
        assert_eq!(found(&[&[2, 2, 0], &[1, 0, 0], &[0, 1, 0]]), (false, vec![0, 1]));
    }

    /// One edge more or less on one process, a different edge, offsets that need too large a box,
    /// and a grid too small for some offsets.
    #[test]
    fn what_is_no_stencil() {
        let grid = Grid::new(vec![4, 4], vec![true, false]);
        let offsets: [&[i32]; 3] = [&[1, 0], &[0, 1], &[-1, 2]];
        let good = world(&grid, &offsets);
        let find = |world: &[Neighborhood]| Stencil::find(&grid, world);
        assert_eq!(find(&good).unwrap().offsets, [(vec![-1, 2], 1), (vec![0, 1], 1), (vec![1, 0], 1)]);
        let targets = |p: usize| good[p].targets_in_order().map(|t| t.1).collect::<Vec<Rank>>();
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
        // edges to oneself do not matter
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

    /// Both neighbors along a periodic dimension of size 2 are the same process: its two blocks
    /// share a message, and arrive in the right places.
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
