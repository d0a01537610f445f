//! Reads the hints of calls: from info objects, the environment, and what is set on a communicator.

use crate::environment;
use crate::error::Result;
use crate::machine;
use crate::model::Parameters;
use crate::mpi::{Communicator, MPI_Info, info};
use crate::select::hints::{Hints, SparseHints};

/// Reads the hints of a set call on a communicator, with the LogGP parameters in effect there.
///
/// # Safety
/// `info` must be an info object or `MPI_INFO_NULL`.
pub unsafe fn of_set_call(info: MPI_Info, comm: Communicator) -> Result<Hints> {
    let known = machine::set_on(comm)?;
    // SAFETY: the caller vouches for the handle.
    with_machine(read(|key| unsafe { info::get(info, key) })?, known.as_ref())
}

/// Reads the hints of the environment, and these: keys of an info object with their values. Calls
/// no MPI.
pub fn hints_given(given: &[(&str, &str)]) -> Result<Hints> {
    let value = |key: &str| given.iter().find(|(name, _)| *name == key).map(|(_, value)| (*value).into());
    with_machine(read(|key| Ok(value(key)))?, None)
}

/// Reads hints without the LogGP parameters that are set on a communicator; `info`: the value of a
/// key.
pub fn read(info: impl Fn(&str) -> Result<Option<String>>) -> Result<Hints> {
    // a set call reads some twenty of them, and most programs have none
    Hints::read(info, environment::of_prefix("MPIX_"), environment::text)
}

/// Adds the parameters that are set on a communicator, if they are.
pub fn with_machine(hints: Hints, known: Option<&Parameters>) -> Result<Hints> {
    hints.with_machine(known.map(|p| p.loggp), environment::variable, environment::text)
}

/// The hints of a sparse exchange, if it has any, and an error if one of them is not understood.
/// The others are in effect then, so that a process whose hints are in error takes the same
/// protocol as its peers.
///
/// # Safety
/// `info` must be an info object or `MPI_INFO_NULL`.
pub unsafe fn sparse_hints(info: MPI_Info) -> (Option<SparseHints>, Result<()>) {
    if info::is_null(info) {
        return (None, Ok(()));
    }
    // SAFETY: the caller vouches for `info`.
    let (hints, understood) = SparseHints::read(|key| unsafe { info::get(info, key) }, environment::variable, environment::text);
    (Some(hints), understood)
}
