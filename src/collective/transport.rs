//! The transport between processes that share no memory: messages, or puts into windows that the
//! set call makes.

use std::sync::Arc;

use crate::collective::{Operation, Selected};
use crate::error::Result;
use crate::exec::rma::link::Link;
use crate::exec::shm::channel::Channels;
use crate::machine::puts;
use crate::model::puts::{Times, puts_pay};
use crate::mpi;
use crate::mpi::coll::{self, Reduction};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::landing::Target;
use crate::mpi::window;
use crate::schedule::Algorithm;
use crate::select::hints::{Hints, Synchronization, Transport as Wanted};
use crate::topology::neighborhood::{Neighbor, Neighborhood};
use crate::util::cast::{to_int, whole};

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

/// Why `auto` cannot compare.
const UNKNOWN: &str = "no weights say how long blocks are";

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
        _ if !selected.iter().any(|s| s.choice.algorithm == Algorithm::Direct) => Some(NOT_DIRECT),
        Wanted::Auto if hints.weight_unit.is_none() => Some(UNKNOWN),
        _ if !window::can_be_made(comm)? => Some("this MPI makes no safe windows on a part of MPI_COMM_WORLD"),
        Wanted::Rma | Wanted::Auto => None,
    })
}

/// Returns who takes part in epochs, and what is done then.
fn target(hints: &Hints) -> (Target, String) {
    let passive = "put, flush, flag";
    match (hints.rma_synchronization, mpi::flaw_of_epochs()) {
        (Synchronization::Active, None) => (Target::Active, "post, start, complete, wait".into()),
        (Synchronization::Active, Some(flaw)) => (Target::Passive, format!("{passive}, as {flaw}")),
        (Synchronization::Passive, _) => (Target::Passive, passive.into()),
    }
}

/// Compares the times of messages and of puts for some edges. Returns whether puts are chosen, and
/// the reason; the same on all processes. `first` is the lowest rank of the caller's node.
/// Collective: two reductions, and [`puts::learn`].
fn compare(comm: &Comm, n: &Neighborhood, hints: &Hints, first: u32) -> Result<(bool, String)> {
    let is_far = n.targets().iter().any(|target| target.rank.is_some_and(|rank| rank != n.rank()));
    let [far, unknown] = coll::allreduce(comm, [is_far, !n.weighted()].map(i64::from), Reduction::Max)?;
    let unit = hints.weight_unit.filter(|_| unknown == 0);
    let (Some(unit), true) = (unit, far != 0) else {
        return Ok((false, if far == 0 { "no edge needs puts" } else { UNKNOWN }.into()));
    };
    let Some((times, origin)) = puts::learn(comm, first, target(hints).0)? else {
        return Ok((false, "the times of puts cannot be measured".into()));
    };
    let own = predict(n, unit.into(), &times);
    let slowest = coll::allreduce(comm, own.map(|time| to_int::<i64>(whole((1000.0 * time).min(1e18)))), Reduction::Max)?;
    let [messages, puts] = slowest.map(|time| time as f64 / 1000.0);
    Ok((
        puts_pay(messages, puts),
        format!("puts are predicted to take {puts:.1} us a call, and messages {messages:.1} ({})", origin.of_value()),
    ))
}

/// Predicts the microseconds that a call keeps this process busy by messages, and by puts.
fn predict(n: &Neighborhood, unit: u64, times: &Times) -> [f64; 2] {
    let mut sum = [0.0; 2];
    for (rank, blocks, weights) in Neighborhood::loads(n.targets()) {
        if rank != n.rank() {
            let (messages, puts) = times.predict(blocks.into(), weights.saturating_mul(unit));
            sum = [sum[0] + messages, sum[1] + puts];
        }
    }
    sum
}

/// Finds out what carries the blocks of each operation, and makes the windows. `channels`: memory
/// that is shared with neighbors, for each operation or not at all; edges there need no window.
/// `first` is the lowest rank of the caller's node. Collective.
pub fn choose(
    comm: &Comm,
    n: &Neighborhood,
    hints: &Hints,
    operations: &[Operation],
    selected: &[Selected],
    channels: &[Arc<Channels>],
    first: u32,
) -> Result<Vec<Transport>> {
    let choose = |k: usize| -> Result<Transport> {
        if let Some(why) = obstacle(hints, selected, comm)? {
            return Ok(Transport::messages(why));
        }
        let is_near = |edge: &&Neighbor| edge.rank.is_some_and(|rank| channels.get(k).is_some_and(|c| c.has(rank)));
        let far = |list: &[Neighbor]| list.iter().filter(|edge| !is_near(edge)).copied().collect();
        let far = Neighborhood::new(n.rank(), far(n.sources()), far(n.targets()), n.weighted());
        let why = match hints.transport {
            Wanted::Auto => match compare(comm, &far, hints, first)? {
                (false, why) => return Ok(Transport::messages(&why)),
                (true, why) => format!("; {why}"),
            },
            Wanted::Messages | Wanted::Rma => String::new(),
        };
        let (target, how) = target(hints);
        Ok(match Link::new(&far, hints.weight_unit, target, comm)? {
            Err(e) => Transport::messages(&format!("no window can be made: {e}")),
            Ok(link) => {
                let (sources, targets, kib) = (link.sources.len(), link.targets.len(), link.bytes.div_ceil(1024));
                let plans = match link.landing.attached() {
                    Ok(_) => "plans put long blocks straight where they are received".to_owned(),
                    Err(e) => format!("plans use it too: {e}"),
                };
                let text = format!(
                    "puts to {targets} processes and from {sources} ({how}), by the schedule direct; \
                     a landing area of {kib} KiB; {plans}{why}"
                );
                Transport { link: Some(Arc::new(link)), text }
            }
        })
    };
    (0..operations.len()).map(choose).collect()
}
