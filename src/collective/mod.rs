//! Neighborhood collectives: what is set on a communicator, what is called, and what is under way.

pub mod fuse;
pub mod handle;
pub mod request;
pub mod setup;
pub mod tags;
pub mod verify;
