//! The transport between processes that share no memory: messages, or puts into windows that the
//! set call makes.

use std::borrow::Cow;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::collective::Selected;
use crate::error::Result;
use crate::exec::rma::link::Link;
use crate::exec::rma::{STRAIGHT_FROM, goes_straight};
use crate::exec::shm::channel::Channels;
use crate::machine::{barrier, puts};
use crate::model::puts::{NEVER, Notice, Predicted, Times, puts_pay};
use crate::mpi;
use crate::mpi::coll::{self, Reduction};
use crate::mpi::comm::Owned as Comm;
use crate::schedule::Algorithm;
use crate::select::hints::origins::Origin;
use crate::select::hints::{Hints, Synchronization, Transport as Wanted};
use crate::topology::neighborhood::{Neighbor, Neighborhood};
use crate::util::cast::{to_int, whole};

/// The transport of one operation.
#[derive(Clone)]
pub struct Transport {
    /// The window, if there is one.
    pub link: Option<Arc<Link>>,
    /// The schedules that use it, and the others, with the reason.
    puts: SmallVec<[Algorithm; 2]>,
    others: SmallVec<[(Algorithm, &'static str); 2]>,
    /// Its description, for people, before and after the names of the schedules that put.
    text: [Cow<'static, str>; 2],
}

/// Why `auto` cannot compare.
const UNKNOWN: &str = "no weights say how long blocks are";

impl Transport {
    fn messages(why: &str) -> Transport {
        Transport {
            link: None,
            puts: SmallVec::new(),
            others: SmallVec::new(),
            text: [if why.is_empty() { "messages".into() } else { format!("messages, as {why}").into() }, "".into()],
        }
    }

    /// Frees the window if the schedule that trial calls have chosen does not put. Collective.
    pub fn settle(&mut self, winner: Algorithm) -> Result<()> {
        let unused = self.link.take_if(|_| !self.puts.contains(&winner));
        // trial calls are over, so that nothing needs it
        unused.map_or(Ok(()), |link| link.retire().map(drop))
    }

    /// True if calls by this schedule put.
    pub fn puts_by(&self, algorithm: Algorithm) -> bool {
        self.puts.contains(&algorithm)
    }

    /// Names the transport, and the reason. `runs`: whether calls may run by a schedule.
    pub fn text(&self, runs: impl Fn(Algorithm) -> bool) -> String {
        let [before, after] = &self.text;
        let names: Vec<&str> = self.puts.iter().filter(|&&a| runs(a)).map(|algorithm| algorithm.name()).collect();
        let other = self.others.iter().find(|&&(algorithm, _)| runs(algorithm)).filter(|_| names.is_empty());
        match other {
            Some(&(_, why)) => Transport::messages(why).text.concat(),
            None => format!("{before}{}{after}", names.join(", ")),
        }
    }
}

/// Says why a schedule does not put, if it does not.
fn why_not(algorithm: Algorithm) -> Option<&'static str> {
    algorithm.entry().forwards().then_some("the schedule passes blocks on")
}

/// Says why an operation uses no window, if it does not; the same on all processes. `puts`: its
/// schedules that put; `others`: those that do not.
fn obstacle(
    hints: &Hints,
    puts: &[Algorithm],
    others: &[(Algorithm, &'static str)],
    comm: &Comm,
) -> Result<Option<&'static str>> {
    Ok(match hints.transport {
        Wanted::Messages => Some(""),
        _ if puts.is_empty() => Some(others.first().map_or("", |other| other.1)),
        Wanted::Auto | Wanted::AutoPlans if hints.weight_unit.is_none() => Some(UNKNOWN),
        _ if !comm.can_have_windows()? => Some("this MPI makes no safe windows on a part of MPI_COMM_WORLD"),
        Wanted::Rma | Wanted::Auto | Wanted::AutoPlans => None,
    })
}

/// Returns how targets learn of puts, and what is done for that.
fn notice(hints: &Hints) -> (Notice, String) {
    let passive = "put, flush, flag";
    match (hints.rma_synchronization, mpi::flaw_of_epochs()) {
        (Synchronization::Active, None) => (Notice::Epoch, "post, start, complete, wait".into()),
        (Synchronization::Active, Some(flaw)) => (Notice::Flag, format!("{passive}, as {flaw}")),
        (Synchronization::Passive, _) => (Notice::Flag, passive.into()),
        // processes whose arguments are in error make no round
        (Synchronization::Fence, _) if hints.verify => (Notice::Flag, format!("{passive}, as calls are verified")),
        (Synchronization::Fence, _) => (Notice::Barrier, "put, flush, barrier of all processes".into()),
    }
}

/// The most rounds that each of some schedules has on any process, which barriers of all processes
/// end. Collective: a reduction.
fn fenced(puts: &[Algorithm], selected: &[Selected], comm: &Comm) -> Result<Vec<(Algorithm, u32)>> {
    let rounds = |algorithm: Algorithm| {
        let schedule =
            selected.iter().find(|selected| selected.choice.algorithm() == algorithm).map(|selected| &selected.schedule);
        let last = schedule.and_then(|schedule| schedule.rounds().checked_sub(1).map(|last| schedule.number(last)));
        last.map_or(0, |last| i64::from(last) + 1)
    };
    let own: Vec<i64> = puts.iter().map(|&algorithm| rounds(algorithm)).collect();
    let mut most = own.clone();
    coll::allreduce_slice(comm, &own, &mut most, Reduction::Max)?;
    Ok(puts.iter().copied().zip(most.into_iter().map(to_int)).collect())
}

/// Measured times of puts, or why there are none; the same on all processes. `needs_weights`: the
/// times are of no use without weights. `first` is the lowest rank of the caller's node.
/// Collective: a reduction, and [`puts::learn`].
fn learn(
    comm: &Comm,
    n: &Neighborhood,
    notice: Notice,
    needs_weights: bool,
    first: u32,
) -> Result<std::result::Result<puts::Found, &'static str>> {
    let is_far = n.targets().iter().any(|target| target.rank.is_some_and(|rank| rank != n.rank()));
    let is_unknown = is_far && needs_weights && !n.weighted();
    let [far, unknown] = coll::allreduce(comm, [is_far, is_unknown].map(i64::from), Reduction::Max)?;
    if far == 0 {
        return Ok(Err("no edge needs puts"));
    }
    if unknown != 0 {
        return Ok(Err(UNKNOWN));
    }
    Ok(puts::learn(comm, first, notice)?.ok_or("the times of puts cannot be measured"))
}

/// From how many bytes on plans put messages straight to their blocks, if so, and where that is
/// from.
fn straight_from(hints: &Hints, found: Option<puts::Found>) -> (u64, Option<Origin>) {
    match (hints.rma_straight, found) {
        (Some(from), _) => (from, None),
        (None, Some((times, origin))) => (times.straight_from(), Some(origin)),
        (None, None) => (STRAIGHT_FROM, None),
    }
}

/// Says which messages of plans are put straight to their blocks.
fn text_of_straight((from, origin): (u64, Option<Origin>), fenced: bool) -> String {
    let origin = origin.map_or_else(String::new, |origin| format!(" ({})", origin.of_value()));
    if from == NEVER {
        return format!("plans use it too{origin}");
    }
    let starts = if fenced { ", from the second start on" } else { "" };
    format!("plans put messages of {from} bytes and more straight where they are received{starts}{origin}")
}

/// Compares the times of messages and of puts for some edges. Returns whether puts are chosen, and
/// the reason; the same on all processes. Collective: a reduction, and if barriers end calls,
/// [`barrier::time`].
fn compare(comm: &Comm, n: &Neighborhood, hints: &Hints, (times, origin): puts::Found) -> Result<(bool, String)> {
    // without it, nobody learns times
    let unit = hints.unit();
    let notice = notice(hints).0;
    let mut barrier = None;
    if notice == Notice::Barrier {
        barrier = barrier::time(comm)?;
        if barrier.is_none() {
            return Ok((false, "the time of a barrier of all processes cannot be measured".into()));
        }
    }
    let from = straight_from(hints, Some((times, origin))).0;
    let own = predict(n, unit.into(), (&times, from), barrier);
    let slowest = coll::allreduce(comm, own.map(|time| to_int::<i64>(whole((1000.0 * time).min(1e18)))), Reduction::Max)?;
    let [messages, puts, plans, barrier] = slowest.map(|time| time as f64 / 1000.0);
    let barrier = if notice == Notice::Barrier { format!(" with a barrier of {barrier:.1}") } else { String::new() };
    let counts = if hints.transport == Wanted::AutoPlans { plans } else { puts };
    Ok((
        puts_pay(messages, counts),
        format!(
            "puts are predicted to take {puts:.1} us a call{barrier}, {plans:.1} in plans, and messages {messages:.1} ({})",
            origin.of_value()
        ),
    ))
}

/// Predicts the microseconds that a call keeps this process busy by messages, by puts, by puts of a
/// plan, and, of these, in the barrier of all processes that ends it, if one does. `from`: from how
/// many bytes on plans put straight to blocks.
fn predict(n: &Neighborhood, unit: u64, (times, from): (&Times, u64), barrier: Option<f64>) -> [f64; 4] {
    // what is timed for two processes has a barrier of these in it
    let pair = if barrier.is_some() { times.barrier() } else { 0.0 };
    let all = barrier.unwrap_or(0.0);
    let mut sum = [0.0, all, all, all];
    for (rank, blocks, weights) in Neighborhood::loads(n.targets()) {
        if rank == n.rank() {
            continue;
        }
        let (blocks, bytes) = (u64::from(blocks), weights.saturating_mul(unit));
        let Predicted { messages, put, straight } = times.predict(blocks, bytes);
        let in_plans = if goes_straight(bytes, blocks, from) { straight } else { put };
        let [put, in_plans] = [put, in_plans].map(|time| (time - pair).max(0.0));
        sum = [sum[0] + messages, sum[1] + put, sum[2] + in_plans, all];
    }
    sum
}

/// Finds out what carries the blocks of each of so many operations, and makes the windows.
/// `channels`: memory that is shared with neighbors, for each operation or not at all; edges there
/// need no window. `first` is the lowest rank of the caller's node. Collective.
pub fn choose(
    comm: &Comm,
    n: &Neighborhood,
    hints: &Hints,
    operations: usize,
    selected: &[Selected],
    channels: &[Arc<Channels>],
    first: u32,
) -> Result<Vec<Arc<Transport>>> {
    let (mut puts, mut others) = (SmallVec::new(), SmallVec::new());
    for Selected { choice, .. } in selected {
        let algorithm = choice.algorithm();
        match why_not(algorithm) {
            None => puts.push(algorithm),
            Some(why) => others.push((algorithm, why)),
        }
    }
    if let Some(why) = obstacle(hints, &puts, &others, comm)? {
        return Ok(std::iter::repeat_n(Arc::new(Transport::messages(why)), operations).collect());
    }
    let choose = |k: usize| -> Result<Transport> {
        let is_near = |edge: &&Neighbor| edge.rank.is_some_and(|rank| channels.get(k).is_some_and(|c| c.has(rank)));
        let far = |list: &[Neighbor]| list.iter().filter(|edge| !is_near(edge)).copied().collect();
        let far = Neighborhood::new(n.rank(), far(n.sources()), far(n.targets()), n.weighted());
        let (notice, how) = notice(hints);
        let compares = matches!(hints.transport, Wanted::Auto | Wanted::AutoPlans);
        let found = if compares || hints.rma_straight.is_none() { learn(comm, &far, notice, compares, first)? } else { Err("") };
        let why = match found {
            _ if !compares => String::new(),
            Err(why) => return Ok(Transport::messages(why)),
            Ok(found) => match compare(comm, &far, hints, found)? {
                (false, why) => return Ok(Transport::messages(&why)),
                (true, why) => format!("; {why}"),
            },
        };
        let target = puts::target(notice);
        let fenced = if notice == Notice::Barrier { Some(fenced(&puts, selected, comm)?) } else { None };
        let straight = straight_from(hints, found.ok());
        let text = text_of_straight(straight, fenced.is_some());
        Ok(match Link::new(&far, hints.weight_unit, target, fenced, straight.0, comm)? {
            Err(e) => Transport::messages(&format!("no window can be made: {e}")),
            Ok(link) => {
                let (sources, targets, kib) = (link.sources.len(), link.targets.len(), link.bytes.div_ceil(1024));
                let plans = match link.landing.attached() {
                    Ok(_) => text,
                    Err(e) => format!("plans use it too: {e}"),
                };
                let text = [
                    format!("puts to {targets} processes and from {sources} ({how}), by the schedule ").into(),
                    format!("; a landing area of {kib} KiB; {plans}{why}").into(),
                ];
                Transport { link: Some(Arc::new(link)), puts: puts.clone(), others: others.clone(), text }
            }
        })
    };
    (0..operations).map(|k| choose(k).map(Arc::new)).collect()
}
