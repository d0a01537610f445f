//! The protocols, one per file.

pub mod crystal;
pub mod inbox;
pub mod nbx;
pub mod nbx_node;
pub mod nbx_probe;
pub mod pcx;
pub mod pex;
pub mod rsx;
