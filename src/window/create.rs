//! Makes windows.

use std::sync::{Arc, Mutex, Weak};

use super::batch::{Batch, MOST_ELEMENTS, SPARE};
use super::elements::Elements;
use super::guarded::Guarded;
use super::rings::Rings;
use super::state::State;
use super::window::{OPERATIONS, Progress, SharedWindow, Window};
use crate::datatype::signature::Signature;
use crate::error::{Argument, Error, Result};
use crate::mpi::coll::{self, Reduction};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::datatype::Owned as OwnedDatatype;
use crate::mpi::liveness::Patience;
use crate::mpi::of_process::OfProcess;
use crate::mpi::posted::PostedReceives;
use crate::mpi::{self, Communicator, Datatype, text_of};
use crate::observe::Medium;
use crate::progress::of_process;
use crate::select::hints::WindowHints;
use crate::sparse::ExchangeContext;
use crate::util::cast::{to_int, to_usize};
use crate::util::lock::lock;

/// Number of receives that are kept posted, unless messages are so long that these would take more
/// than some bytes; and the fewest.
const RECEIVES: usize = 16;
const RECEIVED: usize = 16 << 20;
const FEWEST: usize = 2;

/// Batches for a process of the node are so many times as long as messages: they lie where their
/// target reads them, and the fewer they are, the longer are the stretches that a processor fetches
/// ahead. 10,000 puts by one call took 1.4 times as long in batches of 4 KiB, 1.6 times on cores
/// that are far from each other (benches/onesided.c).
const NEAR: usize = 4;

/// The memory that a process makes a window of.
pub struct Memory {
    /// Address of the first element.
    pub base: *mut u8,
    /// Elements.
    pub count: i64,
    /// Their datatype.
    pub datatype: Datatype,
}

/// The windows of the process, whose receives end before MPI is finalized.
#[derive(Default)]
struct Open(Mutex<Vec<Weak<Guarded<Window>>>>);

static OPEN: OfProcess<Open> = OfProcess::new();

impl Open {
    fn add(&self, window: &SharedWindow) {
        let mut all = lock(&self.0);
        all.retain(|window| window.strong_count() > 0);
        all.push(Arc::downgrade(window));
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        for window in lock(&self.0).iter().filter_map(Weak::upgrade) {
            window.hold().iter_mut().for_each(|window| window.finalize());
        }
    }
}

/// Makes a window. Collective over `user`. A process whose arguments are in error takes part, and
/// all get the error.
///
/// Cost: about twenty collective operations of a few words, and 16 bytes a process.
///
/// # Safety
/// The memory must be readable and writable, and be left to the window, until it is freed.
pub unsafe fn create(memory: Result<Memory>, hints: Result<WindowHints>, user: Communicator) -> Result<SharedWindow> {
    let comm = Comm::duplicate(user)?;
    let size = comm.size()?;
    let self_comm = comm.self_comm()?;
    let made = memory.and_then(|memory| Ok((elements(&memory, &self_comm)?, hints?)));
    let ((elements, signature), hints) = coll::share_outcome(&comm, made)?;
    let batch = agree(&comm, &elements, signature, &hints)?;
    let least = Batch::least_capacity(elements.size);
    let (capacity, near_capacity) = (batch.max(least), (NEAR * batch).max(least));
    let counts = coll::allgather_words(&comm, [elements.count], size)?.into_iter().map(|[count]| count).collect();
    let exchanges = ExchangeContext::make(user)?;
    exchanges.hold().prepare(&hints.exchange)?;
    let (yields, oversubscribed) = exchanges.hold().waiting();
    let comm = Arc::new(comm);
    let rings = Rings::new(&comm, hints.exchange.node_size, near_capacity)?;
    let near = rings.as_ref().map_or(0, Rings::count);
    let words = elements.dense().filter(|_| elements.are_words() && !hints.aggregate);
    // what follows is local, and may fail on a single process
    let made = make_receives(&comm, capacity, near + 1 < size as usize).and_then(|receives| {
        let rank = comm.rank()?;
        let state = State::new(Arc::clone(&comm), self_comm, elements, rings, capacity, hints.aggregate, [rank, size]);
        Ok((receives, state, rank, of_process()?, mpi::has_several_threads()?, OPEN.get()?))
    });
    let (receives, mut state, rank, outstanding, several_threads, open) = coll::share_outcome(&comm, made)?;
    let record = exchanges.hold().record_window();
    if let Some(record) = &record {
        let others = size - 1;
        let (way, longest) = if near == 0 { ("messages", capacity) } else { ("shared memory", near_capacity) };
        record.describe(format!("transport {way}: memory to {near} of {others} other processes, batches of {longest} bytes"));
        comm.count(Arc::clone(record.tally(Medium::Mpi)));
    }
    let words = words.filter(|_| record.is_none());
    state.record = record;
    let window = Arc::new_cyclic(|own: &Weak<Guarded<Window>>| {
        Guarded::new(
            Window {
                state,
                receives,
                comm,
                rank,
                counts,
                listed: Vec::new(),
                exchanges,
                hints: hints.exchange,
                yields,
                oversubscribed,
                outstanding: Arc::clone(&outstanding),
                progress: Arc::new(Mutex::new(Progress(Weak::clone(own)))),
                patience: Patience::default(),
                until_poll: OPERATIONS,
                words,
                is_fencing: false,
                failure: None,
            },
            several_threads,
        )
    });
    open.add(&window);
    let progress = Arc::clone(&window.hold()?.progress);
    outstanding.add(progress);
    Ok(window)
}

/// Checks that all processes have elements of one type and the hints that must agree, and returns
/// the bytes of a batch, the least of all.
fn agree(comm: &Comm, elements: &Elements, signature: Option<Signature>, hints: &WindowHints) -> Result<usize> {
    let is_known = i64::from(signature.is_some());
    let [a, b, c] = [signature.map_or(0, Signature::number), to_int(elements.size), hints.exchange.agreed()];
    let low = coll::allreduce(comm, [to_int(hints.batch), is_known, a, b, c, -a, -b, -c], Reduction::Min)?;
    let is_one = |k: usize| low[2 + k] == -low[5 + k];
    if (low[1] == 1 && !is_one(0)) || !is_one(1) {
        return Err(Error::Disagreement { what: "type".into() }.into());
    }
    if !is_one(2) {
        return Err(Error::Disagreement { what: "one of the hints of sparse exchanges".into() }.into());
    }
    Ok(to_usize(low[0]))
}

/// Posts the receives of a process that messages come to from `others`: 16, or fewer of long ones.
fn make_receives(comm: &Arc<Comm>, capacity: usize, others: bool) -> Result<Option<PostedReceives>> {
    let receives = (RECEIVED / capacity).clamp(FEWEST, RECEIVES);
    others.then(|| PostedReceives::new(Arc::clone(comm), receives, capacity, SPARE)).transpose()
}

/// Checks a process's memory. Also returns the signature of an element, if MPI tells it.
fn elements(memory: &Memory, self_comm: &Comm) -> Result<(Elements, Option<Signature>)> {
    let &Memory { base, count, datatype } = memory;
    if let Err(e) = datatype.check_committed(self_comm.view()) {
        return Err(Error::Datatype { argument: Argument::new("type"), text: text_of(*e) }.into());
    }
    let most = MOST_ELEMENTS.cast_signed();
    let extent = datatype.extent()?;
    if count > most || count.checked_mul(extent.max(1)).is_none_or(|bytes| bytes > most << 6) {
        return Err(Error::TooLarge { argument: Argument::new("count"), count, extent }.into());
    }
    if base.is_null() && count > 0 {
        return Err(Error::NullBuffer { argument: Argument::new("base"), count }.into());
    }
    let signature = Signature::of(datatype)?;
    let own = OwnedDatatype::duplicate(datatype)?;
    Ok((Elements::new(base, count.cast_unsigned(), own, self_comm)?, signature))
}
