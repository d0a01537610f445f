//! Dynamic sparse data exchange: each process knows whom it sends to, and none knows who will send
//! to it.

mod arguments;
mod exchange;
mod plan;
mod result;

pub use exchange::*;
pub use plan::*;
pub use result::*;
