//! Functions for the preload library that the C ABI does not offer. Nothing here is in the header.

pub use crate::mpi::topology::Topology;

use std::ffi::{c_int, c_void};

use super::hints::hints_given;
use super::{boundary, neighborhood};
use crate::collective::own::Apart;
use crate::collective::{Operation, handle};
use crate::datatype::check;
use crate::error::{Error, Result, catch};
use crate::logging;
use crate::mpi::comm::Communicator;
use crate::mpi::{Datatype, MPI_Comm, MPI_Datatype, coll, errors, topology};
use crate::select::hints;

/// Takes the least of each word over all processes of a communicator, without calling its error
/// handler. Collective.
///
/// # Errors
/// A process has ended, or the MPI has failed.
///
/// # Safety
/// `comm` must be a communicator.
pub unsafe fn least<const N: usize>(comm: MPI_Comm, words: [i64; N]) -> Result<[i64; N]> {
    // SAFETY: the caller vouches for the handle.
    let comm = unsafe { live(comm) }?;
    errors::returning(comm, || catch(|| coll::least(comm, words)))
}

/// Reduces words of the processes of a node in shared memory.
pub struct Reducer(Apart);

impl Reducer {
    /// Makes one for the processes of a communicator with a neighborhood for
    /// `MPIX_NEIGHBOR_ALLTOALL`. `None` on all of them if they cannot share memory. Collective.
    ///
    /// # Errors
    /// A process has ended, or the MPI has failed.
    ///
    /// # Safety
    /// `comm` must be a communicator on which no collective runs.
    pub unsafe fn new(comm: MPI_Comm) -> Result<Option<Reducer>> {
        // SAFETY: the caller vouches for the handle.
        catch(|| Ok(handle::reducer_apart(unsafe { live(comm) }?, Operation::Alltoall)?.map(Reducer)))
    }

    /// Same as [`least`], for a communicator of the same processes. Collective.
    ///
    /// # Errors
    /// As for [`least`]; then each later call fails, too.
    ///
    /// # Safety
    /// `comm` must be a communicator.
    pub unsafe fn least<const N: usize>(&self, comm: MPI_Comm, words: [i64; N]) -> Result<[i64; N]> {
        // SAFETY: the caller vouches for the handle.
        catch(|| self.0.least(unsafe { live(comm) }?, words))
    }
}

/// Returns the topology of a communicator, as the calling process sees it.
///
/// # Errors
/// The MPI does not tell.
///
/// # Safety
/// `comm` must be a communicator.
pub unsafe fn topology(comm: MPI_Comm) -> Result<Topology> {
    // SAFETY: the caller vouches for the handle.
    catch(|| topology::get(unsafe { live(comm) }?))
}

/// Hints, read once for several set calls.
#[derive(Debug, Clone)]
pub struct Hints(hints::Hints);

impl Hints {
    /// Reads the hints of the environment, the files that they name, and these hints: keys of an
    /// info object with their values. Calls no MPI.
    ///
    /// # Errors
    /// A hint is in error, or a file.
    pub fn read(given: &[(&str, &str)]) -> Result<Hints> {
        logging::start();
        catch(|| hints_given(given).map(Hints))
    }
}

/// Sets the neighborhood of a topology, as `MPIX_Neighborhood_set_topology` does, but that
/// parameters of `MPIX_Loggp_set` do not count. `comm` has the processes of a communicator with the
/// topology, in the same order. Collective, also for a process whose hints are in error. Returns an
/// MPI error code.
///
/// # Safety
/// `comm` must be a communicator on which no collective runs.
pub unsafe fn set(operations: c_int, topology: &Topology, hints: Result<Hints>, comm: MPI_Comm) -> c_int {
    let lists = |comm: Communicator| neighborhood::neighborhood_of(topology, comm);
    let (function, operations) = ("MPIX_Neighborhood_set_topology", ("operations", operations));
    // SAFETY: the caller vouches for the handle.
    unsafe { neighborhood::set_with(function, operations, comm, lists, |_| hints.map(|hints| hints.0)) }
}

/// The traits of a neighborhood that its communicator's users have to know. The same on all
/// processes.
pub struct Traits {
    /// True if a start posts all messages of a call.
    pub posts_at_once: bool,
    /// True if it has a window.
    pub has_window: bool,
}

/// Returns the traits of a communicator's neighborhood for `MPIX_NEIGHBOR_ALLTOALL`. Calls no MPI.
///
/// # Errors
/// There is none.
///
/// # Safety
/// `comm` must be a communicator on which no collective runs.
pub unsafe fn traits(comm: MPI_Comm) -> Result<Traits> {
    catch(|| {
        // SAFETY: the caller vouches for the handle; the reference does not leave this function.
        let bound = unsafe { handle::lookup(live(comm)?, Operation::Alltoall) }?;
        Ok(Traits { posts_at_once: bound.posts_at_once(), has_window: bound.has_window() })
    })
}

/// Returns true if the memory that a communicator's neighborhoods share with other processes is
/// little enough to stay while nothing uses it. May make system calls.
///
/// # Safety
/// `comm` must be a communicator.
pub unsafe fn is_light(comm: MPI_Comm) -> bool {
    // SAFETY: the caller vouches for the handle.
    catch(|| handle::is_light(unsafe { live(comm) }?)).unwrap_or(false)
}

/// Returns true if the error handler of a communicator ends the program.
///
/// # Safety
/// `comm` must be a communicator.
pub unsafe fn is_fatal(comm: MPI_Comm) -> bool {
    // SAFETY: the caller vouches for the handle.
    catch(|| unsafe { live(comm) }.map(errors::is_fatal)).unwrap_or(false)
}

/// Returns the text of the last error reported on a communicator, empty if there was none.
///
/// # Safety
/// `comm` must be a communicator.
pub unsafe fn last_error(comm: MPI_Comm) -> String {
    // SAFETY: the caller vouches for the handle.
    catch(|| boundary::last_error(unsafe { live(comm) }?)).unwrap_or_default()
}

/// Returns true if MPI accepts a datatype for communication. `comm` must return errors.
///
/// # Safety
/// `datatype` must be null or a datatype, `comm` a communicator.
pub unsafe fn is_committed(datatype: MPI_Datatype, comm: MPI_Comm) -> bool {
    catch(|| {
        // SAFETY: the caller vouches for the handles, which do not leave this function.
        let (datatype, comm) = unsafe { (Datatype::from_raw(datatype), live(comm)?) };
        datatype.map_or(Ok(false), |datatype| datatype.check_committed(comm).map(|()| true))
    })
    .unwrap_or(false)
}

/// Returns true if elements at `at`, in a buffer that begins at `base`, would be at a null address.
///
/// # Safety
/// `datatype` must be null or a datatype.
pub unsafe fn lacks_memory(base: *const c_void, at: *const c_void, datatype: MPI_Datatype) -> bool {
    if !base.is_null() || !check::is_near_null(at) {
        return false;
    }
    // SAFETY: the caller vouches for the handle, which does not leave this function.
    let datatype = unsafe { Datatype::from_raw(datatype) };
    catch(|| datatype.map_or(Ok(true), check::has_data_near_its_address)).unwrap_or(true)
}

/// # Safety
/// As for [`Communicator::from_raw`].
unsafe fn live<'a>(comm: MPI_Comm) -> Result<Communicator<'a>> {
    // SAFETY: the caller vouches for the handle.
    unsafe { Communicator::from_raw(comm) }.ok_or_else(|| Error::Internal("no communicator".into()).into())
}
