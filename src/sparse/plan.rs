//! An exchange whose targets and sizes stay while contents change: found out once, then run with
//! persistent requests, message for message into the place that the first run gave it.
//!
//! Cost of a run: one message for each entry of the list, no search for senders, no allocation.

use std::sync::Arc;
use std::time::Instant;

use super::mailbox::{Inbox, Sends};
use super::{Shared, Wires};
use crate::error::{Error, Result};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::liveness::Patience;
use crate::mpi::message::Persistent;
use crate::observe::{Call, Record, Way};
use crate::progress::Outstanding;

/// A plan.
pub struct Plan {
    comm: Arc<Comm>,
    sends: Sends,
    /// The messages of the process to itself: entry of the list, and where it goes.
    own: Vec<(usize, *mut u8)>,
    requests: Persistent,
    yields: bool,
    outstanding: Arc<Outstanding>,
    active: bool,
    /// A message to itself that could not be packed: the run goes on to its end, and then fails.
    loss: Option<Box<Error>>,
    patience: Patience,
    /// What is counted and traced, where the environment asks for it.
    record: Option<Arc<Record>>,
}

impl Plan {
    /// Makes a plan of an exchange that has been done: `inbox` holds what came, ordered, and must
    /// live as long as the plan. `tag` is one that no other plan has (`Wires::next_plan`). Local.
    ///
    /// # Safety
    /// The blocks in `sends` must be readable whenever the plan runs.
    pub unsafe fn new(shared: &Shared, sends: Sends, inbox: &Inbox, tag: i32) -> Result<Plan> {
        let wires = shared.hold();
        let Wires { comm, rank, yields, outstanding, .. } = &*wires;
        let mut requests = Persistent::default();
        // SAFETY: the caller vouches for blocks and inbox.
        unsafe {
            for m in inbox.messages.iter().filter(|m| m.source != *rank) {
                requests.add_receive(m.at, m.bytes, m.source, tag, comm)?;
            }
            for o in sends.list.iter().filter(|o| o.target != *rank) {
                requests.add_send(&o.block, o.target, tag, comm)?;
            }
        }
        let from = (0..sends.list.len()).filter(|&i| sends.list[i].target == *rank);
        let own = from.zip(inbox.messages.iter().filter(|m| m.source == *rank)).map(|(i, m)| (i, m.at)).collect();
        Ok(Plan {
            comm: Arc::clone(comm),
            own,
            requests,
            yields: *yields,
            outstanding: Arc::clone(outstanding),
            active: false,
            loss: None,
            patience: Patience::default(),
            record: wires.observed.as_ref().map(|observed| observed.plan()),
            sends,
        })
    }

    /// Begins a run.
    pub fn start(&mut self) -> Result<()> {
        if self.active {
            return Err(Error::Exchanging.into());
        }
        let call = self.record.as_ref().map(|record| record.begin());
        self.patience.restart();
        self.requests.start()?;
        self.active = true;
        for &(i, into) in &self.own {
            // SAFETY: whoever made the plan vouches for the blocks; as many bytes were received
            // there before.
            if let Err(e) = unsafe { self.sends.list[i].pack(into, self.sends.dense, &self.comm) } {
                self.loss.get_or_insert(e);
            }
        }
        if let (Some(record), Some(call)) = (&self.record, call) {
            self.observe(record, &call);
        }
        Ok(())
    }

    /// Counts what a start has sent.
    #[cold]
    fn observe(&self, record: &Record, call: &Call) {
        let all: u64 = self.sends.list.iter().map(|o| o.bytes).sum();
        let own: u64 = self.own.iter().map(|&(i, _)| self.sends.list[i].bytes).sum();
        record.sent(Way::Mpi, self.sends.list.len() - self.own.len(), all - own);
        record.sent(Way::Own, self.own.len(), own);
        record.end(call, None);
    }

    /// Whether a run is under way.
    pub fn is_active(&self) -> bool {
        self.active
    }

    /// Whether the run is done; true also if there is none.
    pub fn test(&mut self) -> Result<bool> {
        if self.active && self.requests.test()? {
            self.active = false;
            self.loss.take().map_or(Ok(()), Err)?;
        }
        if self.active && self.patience.is_over() {
            // SAFETY: a live communicator.
            let dead = unsafe { self.patience.look(self.comm.raw(), self.requests.pending().into_iter()) };
            if let Some(&rank) = dead.first() {
                return Err(Error::Gone { rank }.into());
            }
        }
        Ok(!self.active)
    }

    /// Waits until the run is done.
    pub fn wait(&mut self) -> Result<()> {
        let outstanding = Arc::clone(&self.outstanding);
        let began = self.record.as_ref().map(|_| Instant::now());
        outstanding.until(self.yields, || self.test())?;
        if let (Some(record), Some(began)) = (&self.record, began) {
            record.waited(began);
        }
        Ok(())
    }
}
