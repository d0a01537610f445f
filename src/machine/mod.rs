//! The LogGP parameters of the machine, and the only place that says where they come from.
//!
//! [`Hints`](crate::select::hints::Hints) holds those that somebody gives: a hint, the caller of
//! `MPIX_Loggp_set` ([`set`] and [`set_on`]), or a site's file. If nobody does, a set call whose
//! choice depends on them gets them here ([`learn`]): from the memory of the process, from a file
//! that an earlier program has left (`kept`), or by measuring (`measure`). Presets never stand in
//! where a schedule is chosen. `copies` and `puts` do the same for other choices, and `barrier`
//! measures each time; `trials` keeps what trial calls have found.

use crate::error::{Error, Result};
use crate::model::kept::{Place, is_plausible, rounded};
use crate::model::{Loggp, Parameters};
use crate::mpi::attribute::Key;
use crate::mpi::coll::{self, Reduction, share_outcome};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::{self, Communicator};
use crate::select::hints::Learn;
use crate::select::hints::origins::Origin;
use crate::shm::node;

use kept::Memory;

pub mod barrier;
mod buffer;
pub mod copies;
mod kept;
mod measure;
pub mod puts;
mod share;
pub mod trials;

pub use buffer::written;
pub use measure::{Measured, measure};

/// Parameters, and where they come from.
pub type Found = (Loggp, Origin);

/// What the process has measured or found in files.
static MEMORY: Memory<Place, Found> = Memory::new();

/// What its files hold, for the log.
const KEPT: &str = "LogGP parameters";

static PARAMETERS: Key<Parameters> = Key::new();

/// Returns the parameters that were set on a communicator. Local.
pub fn set_on(comm: Communicator) -> Result<Option<Parameters>> {
    // SAFETY: the value is copied before anyone can replace it.
    Ok(unsafe { PARAMETERS.value(comm)? }.copied())
}

/// Sets the parameters of a communicator, which must be the same on all processes. Collective over
/// `comm`: a process whose arguments are invalid passes its error.
///
/// # Errors
/// The arguments of a process are invalid, or the parameters differ. Then nothing is changed on any
/// process.
pub fn set(comm: Communicator, parameters: Result<Parameters>) -> Result<()> {
    let private = Comm::duplicate(comm)?;
    let parameters = share_outcome(&private, parameters)?;
    let words = parameters.words();
    let other = words.map(|w| !w);
    let (lowest, highest) =
        (coll::allreduce(&private, words, Reduction::Min)?, coll::allreduce(&private, other, Reduction::Min)?);
    if lowest != highest.map(|w| !w) {
        return Err(Error::Disagreement { what: "parameters".into() }.into());
    }
    // SAFETY: `set_on` returns no reference.
    unsafe { PARAMETERS.set(comm, parameters) }.map(|_| ())
}

/// Finds out the parameters between nodes when nobody gives them; with [`Learn::Now`] measures
/// them, between processes of one node if there is only one. Returns the same on all processes:
/// what process 0 remembers or finds in its file counts for all. `None` if what was measured cannot
/// be right.
///
/// `first` is the lowest rank of the caller's node. Collective: a reduction and two broadcasts of a
/// few words; if it measures, some tens of milliseconds.
pub fn learn(comm: &Comm, first: u32, how: Learn) -> Result<Option<Found>> {
    let (peer, other_node) = measure::peer(comm, first)?;
    let place = place(comm, peer, first)?;
    let known = match how {
        Learn::Now => None,
        _ => kept::look_up(
            comm,
            &MEMORY,
            &place,
            || kept::read_file(place.file(), KEPT, |text| place.read(text)),
            |loggp| Parameters::from(loggp).words(),
            |words| Parameters::from_words(words).loggp,
        )?,
    };
    let (parameters, origin) = match known {
        Some(known) => known,
        None => (rounded(&measure::measure_briefly(comm, peer, &node::names(comm)?)?.loggp), Origin::Measured),
    };
    let counts = is_plausible(&parameters);
    if !counts && known.is_none() {
        log::info!("measured LogGP parameters do not count: {}", parameters.to_string().replace('\n', "; "));
    }
    if other_node {
        if counts && known.is_none() && comm.rank()? == 0 {
            kept::write_file(place.file(), KEPT, &place.text(&parameters));
        }
        // what cannot be right is not measured again
        MEMORY.remember(place, (parameters, origin))?;
    }
    Ok(counts.then_some((parameters, origin)))
}

/// What messages between process 0 and `peer` have to do with. The same on all processes.
/// `first` is the lowest rank of the caller's node. Collective: a reduction and two broadcasts.
fn place(comm: &Comm, peer: u32, first: u32) -> Result<Place> {
    const LENGTH: usize = 128;
    let name = |root| {
        let mut bytes = [0; LENGTH];
        let own = mpi::processor_name();
        let length = own.len().min(LENGTH);
        bytes[..length].copy_from_slice(&own.as_bytes()[..length]);
        coll::broadcast(comm, &mut bytes, root)?;
        let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(LENGTH);
        Result::Ok(String::from_utf8_lossy(&bytes[..end]).into_owned())
    };
    let [nodes] = coll::allreduce(comm, [u64::from(first == comm.rank()?)], Reduction::Sum)?;
    let (first, second) = (name(0)?, name(peer)?);
    Ok(Place::new(&mpi::library_version(), [&first, &second], [nodes, u64::from(comm.size()?).div_ceil(nodes.max(1))]))
}
