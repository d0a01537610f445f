//! What every part of the library may use.

pub mod random;
