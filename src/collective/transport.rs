//! The transport between processes that share no memory: messages, or puts into windows that the
//! set call makes.

use std::sync::Arc;

use crate::collective::{Operation, Selected};
use crate::error::Result;
use crate::exec::rma::link::Link;
use crate::exec::shm::channel::Channels;
use crate::mpi;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::landing::Target;
use crate::mpi::window;
use crate::schedule::Algorithm;
use crate::select::hints::{Hints, Synchronization, Transport as Wanted};
use crate::topology::neighborhood::{Neighbor, Neighborhood};

/// The transport of one operation.
#[derive(Clone)]
pub struct Transport {
    /// The window, if there is one.
    pub link: Option<Arc<Link>>,
    /// Its description, for people.
    text: String,
}

/// Why other schedules put nothing.
const NOT_DIRECT: &str = "puts need the schedule direct";

impl Transport {
    fn messages(why: &str) -> Transport {
        Transport { link: None, text: if why.is_empty() { "messages".into() } else { format!("messages, as {why}") } }
    }

    /// Names the transport, and the reason. `direct`: calls may run by the schedule `direct`.
    pub fn text(&self, direct: bool) -> String {
        if self.link.is_some() && !direct { Transport::messages(NOT_DIRECT).text } else { self.text.clone() }
    }
}

/// Says why operations use no window, if they do not; the same on all processes.
fn obstacle(hints: &Hints, selected: &[Selected], comm: &Comm) -> Result<Option<&'static str>> {
    Ok(match hints.transport {
        Wanted::Messages => Some(""),
        Wanted::Auto => Some("nothing measured says that puts are faster"),
        Wanted::Rma if hints.verify => Some("calls are verified"),
        Wanted::Rma if !selected.iter().any(|s| s.choice.algorithm == Algorithm::Direct) => Some(NOT_DIRECT),
        Wanted::Rma if !window::can_be_made(comm)? => Some("this MPI makes no safe windows on a part of MPI_COMM_WORLD"),
        Wanted::Rma => None,
    })
}

/// Finds out what carries the blocks of each operation, and makes the windows. `channels`: memory
/// that is shared with neighbors, for each operation or not at all; edges there need no window.
/// Collective.
pub fn choose(
    comm: &Comm,
    n: &Neighborhood,
    hints: &Hints,
    operations: &[Operation],
    selected: &[Selected],
    channels: &[Arc<Channels>],
) -> Result<Vec<Transport>> {
    let choose = |k: usize| -> Result<Transport> {
        if let Some(why) = obstacle(hints, selected, comm)? {
            return Ok(Transport::messages(why));
        }
        let is_near = |edge: &&Neighbor| edge.rank.is_some_and(|rank| channels.get(k).is_some_and(|c| c.has(rank)));
        let far = |list: &[Neighbor]| list.iter().filter(|edge| !is_near(edge)).copied().collect();
        let far = Neighborhood::new(n.rank(), far(n.sources()), far(n.targets()), n.weighted());
        let (target, how) = match hints.rma_synchronization {
            Synchronization::Active if mpi::ends_epochs_early() => {
                (Target::Passive, "put, flush, flag, as this MPI ends epochs of active targets too early")
            }
            Synchronization::Active => (Target::Active, "post, start, complete, wait"),
            Synchronization::Passive => (Target::Passive, "put, flush, flag"),
        };
        Ok(match Link::new(&far, hints.weight_unit, target, comm)? {
            Err(e) => Transport::messages(&format!("no window can be made: {e}")),
            Ok(link) => {
                let (sources, targets, kib) = (link.sources.len(), link.targets.len(), link.bytes.div_ceil(1024));
                let text = format!(
                    "puts to {targets} processes and from {sources} ({how}), by the schedule direct; \
                     a landing area of {kib} KiB"
                );
                Transport { link: Some(Arc::new(link)), text }
            }
        })
    };
    (0..operations.len()).map(choose).collect()
}
