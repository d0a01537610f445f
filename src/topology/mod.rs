//! Neighborhoods, Cartesian grids, the graph of all processes, and the nodes that they run on.

#![forbid(unsafe_code)]

pub mod cartesian;
pub mod graph;
pub mod neighborhood;
pub mod nodes;
