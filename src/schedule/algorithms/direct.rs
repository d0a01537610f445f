//! `direct`: everything at once.
//!
//! One round: all receives and sends are posted, and then the self edges copied. This is
//! SparseColl's Listing 5 and IrregPC's asynchronous algorithm (AC), and what applications write by
//! hand. It needs no knowledge of other processes. Useful for small messages and on networks that
//! resolve contention themselves, and as the baseline for all other algorithms.
//!
//! Cost: 1 round, one message for each edge to another process, no extra bytes.

use crate::schedule::grammar::{Algorithm, Block, Op, Schedule};
use crate::schedule::input::Input;

pub(in crate::schedule) fn build(input: &Input) -> Schedule {
    let n = input.neighborhood;
    let mut schedule = Schedule::new(Algorithm::Direct);
    let recvs =
        n.sources_in_order().filter(|&(_, from)| from != n.rank()).map(|(entry, from)| Op::recv(from, Block::Output(entry)));
    let sends = n.targets_in_order().filter(|&(_, to)| to != n.rank()).map(|(entry, to)| Op::send(to, Block::Input(entry)));
    schedule.push_round(recvs.chain(sends).chain(crate::schedule::grammar::self_copies(n)));
    schedule
}
