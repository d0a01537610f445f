//! The protocols, one in each file.

pub(super) mod crystal;
pub(super) mod inbox;
pub(super) mod nbx;
pub(super) mod nbx_node;
pub(super) mod nbx_probe;
pub(super) mod pcx;
pub(super) mod pex;
pub(super) mod rsx;
