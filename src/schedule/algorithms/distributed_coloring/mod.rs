//! `distributed_coloring`: edge coloring that neighbors negotiate; no process knows the graph.
//!
//! Every edge gets a color, the number of its round, such that at each process all outgoing edges
//! have different colors and all incoming edges have different colors: one message in and one out
//! at a time. Useful where an edge coloring pays and the communicator is too large for each process
//! to hold all edges. A process knows its own lists, and sends messages to its sources and targets
//! only.
//!
//! After Marathe, Panconesi and Risinger, "An experimental study of a simple, distributed
//! edge-coloring algorithm": in each trial all uncolored edges propose a color at random out of
//! those that are free at both ends, and keep it where no other wants the same. What is added here:
//! the sender proposes different colors for its edges, so that they collide at receivers only; a
//! receiver answers with what is free there, so that a sender proposes nothing that is taken; an
//! edge between whose ends no color is free lets another edge of the sender move away; and the
//! palette begins with as many colors as the larger degree of the two ends, no more, and grows by a
//! thirty-second of that in each trial behind the sixth. It never grows beyond the degrees' sum
//! less one, with which a color is always free.
//!
//! Heavy edges share rounds: edges choose in three stages, the heaviest class of the two ends'
//! edges first, then the next one, then all others, each stage eight trials behind the one before.
//! Palettes are first those of a graph of the edges of the stage and those before. Weights with the
//! same highest two bits are of one class. Where weights are of one class there is one stage. A
//! sender's edges of earlier stages make way only within their first palette.
//!
//! # Protocol
//! Steps are numbered from 0 at each process. In even steps messages go from sources to targets, in
//! odd ones from targets to sources. In a step a process sends one message to each process in
//! [`Negotiation::sends`], receives one from each in [`Negotiation::receives`], in any order, all
//! of them before [`Negotiation::advance`] begins its next step. Processes that are not neighbors
//! may be in different steps. Between two processes messages meet in the order in which they are
//! sent, at most one in each step and direction: one tag serves. Both ends know in advance whether
//! there is a message, and how long it is: both lists give its length, and [`Negotiation::longest`]
//! bounds all lengths before anything is known about the other processes. A process is done when
//! the two lists will be empty forever; it then leaves, whatever others do.
//!
//! For each pair of a source and a target with `m` edges, which are in matching order:
//!
//! | step | words | meaning |
//! | --- | --- | --- |
//! | 0 | `1` | number of edges that leave the source |
//! | 1 | `1 + 2 m` | number of edges that arrive at the target; for each edge its stage there, and how many edges there are in this or an earlier stage |
//! | even | `m` | for each edge the proposed color or `u32::MAX`; or the first word says that the source's edges all have colors: the last message between the two |
//! | odd | `m / 32`, and at most 8 | a bit for each edge whose proposal is granted; a bit for each color that is free at the target. Both in words of 32, rounded up |
//!
//! Only colors of the pair's present palette are told, and of those at most 256 in a step, other
//! ones in each step: which they are follows from the two ranks, degrees and the step. Where a
//! process sends or receives at a time, not both, degrees are those of both sides together, and a
//! process refuses the colors that it proposes itself in this step.
//!
//! # Cost
//! A trial is two steps. A process sends in even steps until all its outgoing edges have colors,
//! and once more. Memory: at most about 24 words an edge, and a bit for each color. A palette of 32
//! colors or more has grown to its end within about 130 trials of its stage, a smaller one within
//! twice as many trials as it has colors. Then at least one edge gets a color in each trial (where
//! a pair's palette has more than 256 colors: in as many trials as tell all of it; with
//! `half_duplex`: with a probability above 0). This proves the end; the number of steps is much
//! smaller:
//!
//! Measured on random regular multigraphs with the default seed: rounds, steps of all processes,
//! messages and words an edge. "Three classes": a quarter of each process's edges weighs 1000, a
//! quarter 100, the others 10; "load" is then the sum over rounds of the heaviest edge over the
//! largest load of a process, which is 3.7 to 5.4 for the same graph and edges of unknown weight.
//!
//! | processes | degree | rounds | / degree | steps | messages | words | three classes: / degree | steps | messages | load |
//! | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
//! | 32 | 4 | 5 | 1.25 | 17 | 10 | 16 | 1.25 | 49 | 38 | 1.01 |
//! | 32 | 16 | 18 | 1.12 | 19 | 12 | 21 | 1.19 | 53 | 37 | 1.25 |
//! | 256 | 4 | 6 | 1.50 | 19 | 12 | 17 | 1.25 | 49 | 40 | 1.01 |
//! | 256 | 16 | 19 | 1.19 | 21 | 16 | 24 | 1.19 | 53 | 47 | 1.47 |
//! | 256 | 64 | 70 | 1.09 | 23 | 16 | 35 | 1.08 | 53 | 44 | 1.17 |
//! | 4,096 | 4 | 6 | 1.50 | 19 | 12 | 18 | 1.25 | 49 | 40 | 1.01 |
//! | 4,096 | 8 | 11 | 1.38 | 21 | 15 | 22 | 1.38 | 53 | 46 | 1.50 |
//! | 4,096 | 16 | 20 | 1.25 | 23 | 17 | 25 | 1.25 | 55 | 49 | 1.47 |
//! | 4,096 | 32 | 37 | 1.16 | 25 | 18 | 31 | 1.16 | 69 | 50 | 1.55 |
//! | 4,096 | 64 | 70 | 1.09 | 25 | 18 | 38 | 1.09 | 55 | 50 | 1.24 |
//! | 1,024 | 200 | 210 | 1.05 | 25 | 17 | 71 | 1.12 | 57 | 47 | 1.09 |
//! | 65,536 | 6 | 10 | 1.67 | 23 | 14 | 21 | 1.50 | 53 | 45 | 1.48 |
//! | 65,536 | 16 | 21 | 1.31 | 25 | 17 | 25 | 1.25 | 55 | 49 | 1.75 |
//!
//! With `half_duplex` and edges of one weight, rounds are 1.10 to 1.63 times the largest sum of
//! both degrees, in 21 to 35 steps. 65,536 processes of degree 16 are negotiated inside one process
//! in 2.4 s.

mod colors;
mod edges;
mod negotiation;
mod run_all;
#[cfg(test)]
mod tests;

pub use negotiation::{Exchange, Negotiation};
pub use run_all::{Stats, negotiate, run_all};
