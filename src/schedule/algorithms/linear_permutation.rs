//! `linear_permutation`: in round `k` every process exchanges with the processes `k` ranks away.
//!
//! IrregPC's LP (section 5.1). With `P` processes there are `P - 1` rounds. If `P` is a power of
//! two, processes `i` and `i XOR k` exchange in round `k`; otherwise `i` sends to `i + k` and
//! receives from `i - k`, modulo `P`. Each process thus has at most one message in and one out at a
//! time for any graph, and derives its rounds from its own lists. Useful where nearly all processes
//! send to nearly all others; on sparse graphs there are many rounds, most of them nearly empty. A
//! process waits only for its own messages: rounds without any are not stored and cost nothing.
//!
//! Repeated edges between two processes take rounds of further sweeps: the m-th repetition is in
//! round `m (P - 1) + k`. Round numbers end at 2^32 - 1, and all later repetitions share that last
//! round.
//!
//! Cost: for each process as many rounds as it has processes to send to or to receive from (half as
//! many if `P` is a power of two and edges go both ways), one message for each edge to another
//! process, no extra bytes. Building takes time `O(degree log degree)`, memory `O(degree)`.

use crate::schedule::grammar::{Algorithm, Block, Op, Schedule};
use crate::schedule::input::Input;
use crate::topology::neighborhood::Rank;

pub(in crate::schedule) fn build(input: &Input) -> Schedule {
    let n = input.neighborhood;
    let me = n.rank();
    let processes = u64::from(input.processes);
    // distance from one process to another
    let step = |from: Rank, to: Rank| {
        let (from, to) = (u64::from(from), u64::from(to));
        if processes.is_power_of_two() { from ^ to } else { (to + processes - from) % processes }
    };
    let round = |from: Rank, to: Rank, repetition: u64| {
        let number = repetition * (processes - 1) + step(from, to) - 1;
        u32::try_from(number).unwrap_or(u32::MAX)
    };
    let mut ops: Vec<(u32, Op)> = Vec::with_capacity(n.sources().len() + n.targets().len());
    for (entry, from, repetition) in repetitions(n.sources_in_order().collect(), me) {
        ops.push((round(from, me, repetition), Op::recv(from, Block::Output(entry))));
    }
    for (entry, to, repetition) in repetitions(n.targets_in_order().collect(), me) {
        ops.push((round(me, to, repetition), Op::send(to, Block::Input(entry))));
    }
    Schedule::from_numbered(Algorithm::LinearPermutation, ops, crate::schedule::grammar::self_copies(n))
}

/// The edges to other processes as (list entry, process, number of earlier edges to this process).
fn repetitions(mut edges: Vec<(u32, Rank)>, me: Rank) -> Vec<(u32, Rank, u64)> {
    edges.retain(|e| e.1 != me);
    edges.sort_by_key(|e| e.1);
    (edges.chunk_by(|a, b| a.1 == b.1))
        .flat_map(|same| same.iter().enumerate().map(|(m, &(entry, process))| (entry, process, m as u64)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::neighborhood::Neighborhood;

    fn text(n: &Neighborhood, processes: u32) -> String {
        build(&Input { neighborhood: n, processes, directions: None, star: None, stencil: None }).to_string()
    }

    #[test]
    fn pairs_exchange_where_processes_are_a_power_of_two() {
        let n = Neighborhood::from_ranks(1, &[2, 1, 3], &[3, 0, 1]);
        assert_eq!(
            text(&n, 4),
            "round 0: send Input(1) to 0; copy Input(2) into Output(1);\n\
             round 1: recv Output(2) from 3; send Input(0) to 3;\n\
             round 2: recv Output(0) from 2;\n"
        );
    }

    #[test]
    fn shifts_otherwise_and_a_sweep_for_each_repetition() {
        let n = Neighborhood::from_ranks(1, &[0, 3, 0], &[0, 2, 2]);
        assert_eq!(
            text(&n, 5),
            "round 0: recv Output(0) from 0; send Input(1) to 2;\n\
             round 2: recv Output(1) from 3;\n\
             round 3: send Input(0) to 0;\n\
             round 4: recv Output(2) from 0; send Input(2) to 2;\n"
        );
        assert_eq!(text(&Neighborhood::from_ranks(0, &[0], &[0]), 1), "round 0: copy Input(0) into Output(0);\n");
    }

    /// As many rounds as edges, however many processes there are, and no round number overflows.
    #[test]
    fn many_processes() {
        let n = Neighborhood::from_ranks(4_000_000_000, &[], &[0, 0, 0, 7]);
        assert_eq!(
            text(&n, 4_000_000_001),
            "round 0: send Input(0) to 0;\n\
             round 7: send Input(3) to 7;\n\
             round 4000000000: send Input(1) to 0;\n\
             round 4294967295: send Input(2) to 0;\n"
        );
    }
}
