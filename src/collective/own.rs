//! The library's own objects on a communicator, and those that wait for another communicator.
//!
//! A private communicator, the processes of the node and the memory that they share cost a
//! duplicate and several exchanges between processes. When the program frees a communicator, a
//! process keeps them, for the next communicator of the same processes in the same order that gets
//! a neighborhood, whatever call has made that: a duplicate, one with a topology, a split. So they
//! do not depend on a parent, nor on when it is freed.
//!
//! Each process can see only its own part, and threads may free communicators in different orders.
//! So each proposes what it has ([`Store::take`]), by a number that is the same on all processes,
//! and all use it if all propose the same: then it has as many processes as the communicator, and
//! each has the same rank in both. That is agreed with everything else about the set call, in the
//! reduction that comes first, on the program's communicator.
//!
//! Messages of the two communicators' collectives do not meet: nothing is kept that a request still
//! uses, or on which a call has failed or a process is dead, as a message may still be on its way
//! there. What all processes propose, none uses; and each has received all that was sent to it.

use std::sync::atomic::{Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};

use crate::error::Result;
use crate::exec::shm::under_way::Marks;
use crate::exec::waiting::Waiting;
use crate::machine;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::liveness::Patience;
use crate::mpi::of_process::OfProcess;
use crate::mpi::{self, Communicator, coll};
use crate::shm::node::Team;
use crate::shm::reducer::{Reducer, Watch};
use crate::util::lock::lock;

/// Most of them that wait in a process: with another one, the oldest goes.
const MOST: usize = 8;

/// The library's own objects on a communicator, the same for all of its neighborhoods.
#[derive(Clone)]
pub struct Own {
    /// The private communicator.
    pub comm: Arc<Comm>,
    /// A communicator of this process alone, made with the first neighborhood whose operation
    /// combines blocks.
    pub self_comm: Option<Arc<Comm>>,
    /// How the process waits.
    pub waiting: Waiting,
    /// The processes of this one's node.
    pub team: Arc<Team>,
    /// Number of neighborhoods that have been set.
    pub generation: u64,
    /// Which collectives are under way whose messages could have the tags of others.
    pub marks: Arc<Marks>,
    /// What reduces the words of set calls. Made once; `None` where MPI does that.
    reducer: Arc<OnceLock<Option<Reducer>>>,
    /// Tells it from all others; the same on all its processes.
    pub number: i64,
    /// This process's rank, and how many processes there are.
    place: [u32; 2],
    /// True if all processes were started together: those of others can be disconnected, once
    /// nothing connects them.
    is_of_one_world: bool,
}

impl Own {
    /// Duplicates the communicator, and finds the processes of the node. Collective.
    pub fn make(comm: Communicator, number: i64) -> Result<Own> {
        let comm = Arc::new(Comm::duplicate(comm)?);
        let team = Team::new(&comm, machine::copies::known()?)?;
        // with more processes on the node than cores, waiting must yield the core unless MPI does
        let waiting = if team.oversubscribed() && !mpi::wait_yields() { Waiting::Yield } else { Waiting::Block };
        let place = [comm.rank()?, comm.size()?];
        let is_of_one_world = comm.view().members()?.iter().all(Option::is_some);
        let team = Arc::new(team);
        let (marks, reducer) = (Arc::default(), Arc::default());
        Ok(Own { comm, self_comm: None, waiting, team, generation: 0, marks, reducer, number, place, is_of_one_world })
    }

    /// The communicator of this process alone, made if there is none.
    pub fn self_comm(&mut self) -> Result<Arc<Comm>> {
        match &self.self_comm {
            Some(comm) => Ok(Arc::clone(comm)),
            None => Ok(Arc::clone(self.self_comm.insert(Arc::new(self.comm.self_comm()?)))),
        }
    }

    /// Lets the processes of one node reduce the words of set calls in shared memory from now on,
    /// if this is not the first one: who sets one neighborhood would pay more than that saves.
    /// Collective; the memory is made once.
    pub fn prepare_reductions(&self) -> Result<()> {
        if self.generation > 1 && self.reducer.get().is_none() {
            let made = self.new_reducer()?;
            self.reducer.get_or_init(|| made);
        }
        Ok(())
    }

    /// Makes what reduces words in shared memory, where all processes are on one node. Collective.
    fn new_reducer(&self) -> Result<Option<Reducer>> {
        if self.team.size() == self.comm.size()? { Reducer::new(&self.team) } else { Ok(None) }
    }

    /// Adds up `sums` (wrapping around), and takes the least of each of `least`, over all
    /// processes, in place. Collective; the lengths are the same on all processes.
    ///
    /// Cost: two reductions at the same time, or one through shared memory.
    pub fn sum_and_least(&self, sums: &mut [u64], least: &mut [i64]) -> Result<()> {
        let comm = &*self.comm;
        let fits = Reducer::fits(sums.len() + least.len());
        let Some(reducer) = self.reducer.get().and_then(Option::as_ref).filter(|_| fits) else {
            return coll::sum_and_least(comm.view(), Some(comm), sums, least);
        };
        comm.is_whole()?;
        reducer.sum_and_least(sums, least, &Watch { comm: comm.view(), look: &|patience| patience.look_at_all(comm) })
    }

    /// True if nothing else uses it, and nothing that was done with it can be seen.
    fn is_unused(&self) -> bool {
        // the team refers to the communicator, too
        let unused = Arc::strong_count(&self.comm) == 2
            && Arc::strong_count(&self.team) == 1
            && self.self_comm.as_ref().is_none_or(|comm| Arc::strong_count(comm) == 1);
        // what another thread did before it let go of it is seen from here on
        fence(Ordering::Acquire);
        // statistics count for the communicator that they were begun for
        let sound = |comm: &Comm| comm.is_whole().is_ok() && !comm.has_unmatched() && comm.tally().is_none();
        let reduces = self.reducer.get().and_then(Option::as_ref).is_none_or(Reducer::is_sound);
        let sound = sound(&self.comm) && self.self_comm.as_deref().is_none_or(sound) && reduces;
        unused && self.is_of_one_world && sound && self.team.is_light()
    }
}

/// Reductions in shared memory that are no part of set calls, nor in one order with them.
pub struct Apart(Reducer);

impl Apart {
    /// Makes memory for the processes of `own`. `None` on all of them if they cannot share any.
    /// Collective.
    pub fn new(own: &Own) -> Result<Option<Apart>> {
        Ok(own.new_reducer()?.map(Apart))
    }

    /// Takes the least of each word over all processes. `comm`: a new communicator of these, in any
    /// order, on which the program can have sent nothing before all have called this. Collective.
    pub fn least<const N: usize>(&self, comm: Communicator, mut words: [i64; N]) -> Result<[i64; N]> {
        let look = |patience: &mut Patience| patience.look_at(comm, 0..comm.size()?);
        self.0.sum_and_least(&mut [], &mut words, &Watch { comm, look: &look })?;
        Ok(words)
    }
}

/// What waits in a process, oldest first.
#[derive(Default)]
pub struct Store(Mutex<Vec<Own>>);

static STORE: OfProcess<Store> = OfProcess::new();

/// The store of the process, which MPI drops when it is finalized. Who keeps something there later
/// must not keep the store itself alive.
pub fn store() -> Result<Weak<Store>> {
    Ok(Arc::downgrade(&STORE.get()?))
}

impl Store {
    fn lock(&self) -> MutexGuard<'_, Vec<Own>> {
        lock(&self.0)
    }

    /// Keeps objects that no communicator has any more, if they can serve another one.
    pub fn keep(&self, own: Own) {
        if !own.is_unused() {
            return;
        }
        let oldest = {
            let mut all = self.lock();
            all.push(own);
            (all.len() > MOST).then(|| all.remove(0))
        };
        // freed without the lock
        drop(oldest);
    }

    /// Takes out what this process proposes for a communicator: of all that fit it, that with the
    /// lowest number, whatever order they were kept in.
    pub fn take(&self, comm: Communicator) -> Result<Option<Own>> {
        let place = [comm.rank()?, comm.size()?];
        let mut all = self.lock();
        let mut first: Option<(usize, i64)> = None;
        for (k, own) in all.iter().enumerate().filter(|(_, own)| own.place == place) {
            if first.is_none_or(|(_, number)| own.number < number) && own.comm.view().is_like(comm)? {
                first = Some((k, own.number));
            }
        }
        Ok(first.map(|(k, _)| all.remove(k)))
    }

    /// Decides about what this process has proposed, when the least and the largest number that
    /// processes have proposed are known (0: nothing). Returns it if all have proposed it.
    ///
    /// Otherwise it waits again, unless another process has proposed a larger number: that one
    /// lacks this, which so can never serve.
    pub fn settle(&self, proposed: Option<Own>, [least, largest]: [i64; 2]) -> Option<Own> {
        let own = proposed?;
        if least == largest {
            return Some(own);
        }
        if own.number == largest {
            self.keep(own);
        }
        None
    }
}
