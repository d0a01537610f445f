//! `dimension_order`: Cartesian rounds of one send and one receive, heavier dimensions first.
//!
//! One round for each direction of each dimension: every process sends to its neighbor on one side
//! and receives from its neighbor on the other. Each process thus has at most one message in and
//! one out at a time, and both directions of a link are used. This is SparseColl's Listing 6.
//! Rounds are ordered by weight (heaviest direction first, agreed by all processes when the
//! neighborhood is set), so that heavy edges share rounds. Useful for medium and large messages,
//! where contention at the receivers costs more than the wait between rounds. Requires that all
//! processes know the directions of their edges: a Cartesian communicator with neighbors one step
//! away.
//!
//! Cost: at most 2 d rounds for d dimensions, one message for each edge to another process, no
//! extra bytes.

use crate::schedule::grammar::{Algorithm, Block, Op, Schedule};
use crate::schedule::input::Input;
use crate::topology::neighborhood::{Neighbor, Rank};

pub(in crate::schedule) fn unfit(input: &Input) -> Option<&'static str> {
    (input.directions.is_none())
        .then_some("it needs a Cartesian communicator, and lists in which all neighbors of all processes are one step away")
}

pub(in crate::schedule) fn build(input: &Input) -> Schedule {
    let n = input.neighborhood;
    let mut schedule = Schedule::new(Algorithm::DimensionOrder);
    // list entry and process of the edge with this direction; each process has at most one per side
    let edge = |list: &[Neighbor], direction: u32| -> Option<(u32, Rank)> {
        let entry = list.iter().position(|e| e.direction == direction && e.rank.is_some())?;
        let rank = list[entry].rank?;
        (rank != n.rank()).then_some((entry as u32, rank))
    };
    // self edges are copied while the messages of the first round travel
    let mut copies = crate::schedule::grammar::self_copies(n);
    for &direction in input.directions.unwrap_or_default() {
        let recv = edge(n.sources(), direction).map(|(entry, from)| Op::recv(from, Block::Output(entry)));
        let send = edge(n.targets(), direction).map(|(entry, to)| Op::send(to, Block::Input(entry)));
        let copies = std::mem::take(&mut copies);
        schedule.push_round(recv.into_iter().chain(send).chain(copies));
    }
    if !copies.is_empty() {
        // no edge leads to another process
        schedule.push_round(copies);
    }
    schedule
}
