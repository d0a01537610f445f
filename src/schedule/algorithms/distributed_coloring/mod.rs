//! `distributed_coloring`: an edge coloring that neighbors negotiate; no process knows the graph.
//!
//! Every edge gets a color, which is the number of its round. At each process all outgoing edges
//! have different colors, and so do all incoming edges: one message in and one out at a time.
//! Useful where an edge coloring pays and the communicator is too large for one process to hold all
//! edges. A process knows only its own lists, and communicates only with its sources and targets.
//!
//! Based on Marathe, Panconesi and Risinger, "An experimental study of a simple, distributed
//! edge-coloring algorithm": in each trial, every uncolored edge proposes a random color that is
//! free at both ends, and keeps it unless another edge wants the same. This implementation adds:
//! - A sender proposes different colors for its edges, so that collisions occur only at receivers.
//! - A receiver reports its free colors, so that no sender proposes a taken color.
//! - If no color is free at both ends of an edge, another edge of the sender changes its color: in
//!   a palette that takes several messages to report, only once all of it has been reported.
//! - The palette starts with as many colors as the larger degree of the two ends, and grows by 1/32
//!   of that in each trial after the sixth, up to the sum of the degrees minus one, with which a
//!   color is always free.
//!
//! Heavy edges share rounds: edges choose in three stages, first the heaviest class among the edges
//! of both ends, then the next class, then all others. Each stage starts eight trials after the one
//! before. Its palette is first that of a graph with only the edges of this and earlier stages.
//! Weights with the same two highest bits form a class. If all weights are in one class, there is
//! one stage. Edges of earlier stages change colors only within their first palette.
//!
//! # Protocol
//! Steps are numbered from 0 at each process. In even steps messages travel from sources to
//! targets, in odd steps from targets to sources. In each step a process sends one message to each
//! process in [`Negotiation::sends`] and receives one from each in [`Negotiation::receives`], in
//! any order, before [`Negotiation::advance`] begins its next step. Processes that are not
//! neighbors may be in different steps. Messages between two processes match in the order sent, at
//! most one per step and direction, so that one tag suffices. Both ends know in advance if there is
//! a message and how long it is: both lists give its length, and [`Negotiation::longest`] bounds
//! all lengths before anything is known about the other processes. A process is done when both
//! lists will stay empty; it can then leave, whatever other processes do.
//!
//! For each pair of a source and a target with `m` edges, in matching order:
//!
//! | step | words | meaning |
//! | --- | --- | --- |
//! | 0 | `1` | out-degree of the source |
//! | 1 | `1 + 2 m` | in-degree of the target; for each edge its stage and rivals there [^1] |
//! | even | `m` | for each edge the proposed color or `u32::MAX` [^2] |
//! | odd | `m / 32`, and at most 8 | granted edges and free colors of the target [^3] |
//!
//! [^1]: Rivals of an edge are the edges in the same or an earlier stage.
//!
//! [^2]: A special first word says that all edges of the source have colors: this is its last
//! message to the target.
//!
//! [^3]: One bit per edge, set if its proposal is granted, and one bit per color; both in words of
//! 32 bits, rounded up.
//!
//! A message reports colors of the pair's current palette only, at most 256 per step, and different
//! ones in each step: the two ranks, the degrees and the step determine which. A target all of
//! whose edges are the pair's reports none: its source knows their colors. In half duplex,
//! degrees count both directions, and a process refuses the colors that it proposes itself in the
//! same step.
//!
//! # Cost
//! A trial is two steps. A process sends in even steps until all of its outgoing edges have colors,
//! and once more. Memory: at most about 24 words per edge, plus one bit per color. A palette of 32
//! colors or more reaches its maximum within about 130 trials of its stage, a smaller one within
//! twice as many trials as it has colors. From then on at least one edge gets a color in each
//! trial. (If a pair's palette has more than 256 colors: in at most four times as many trials as it
//! takes to report all of it. With `half_duplex`: with positive probability.) This proves
//! termination; the number of steps is much smaller in practice.
//!
//! Measured on random regular multigraphs of P processes and degree d with the default seed:
//! rounds, steps of all processes, messages and words per edge. "3" (three classes): a quarter of
//! each process's edges has weight 1000, a quarter 100, the others 10; "load" is then the sum over
//! rounds of the heaviest edge, divided by the largest load of a process. It is 3.7 to 5.4 for the
//! same graph if the weights are not known.
//!
//! | P | d | rounds | / d | steps | messages | words | 3: / d | steps | messages | load |
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
//! With `half_duplex` and edges of equal weight, the number of rounds is 1.10 to 1.63 times the
//! largest sum of both degrees, found in 21 to 35 steps. Negotiating 65,536 processes of degree 16
//! inside one process takes 2.4 s.

mod colors;
mod edges;
mod negotiation;
mod run_all;
#[cfg(test)]
mod tests;

pub use negotiation::{Exchange, Negotiation};
pub use run_all::{Stats, negotiate, run_all};
