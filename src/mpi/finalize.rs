//! Messages that outlive the object that sent them. They complete while MPI is finalized, as MPI
//! requires: when it drops what is kept of the process, or else, of neighborhoods that the program
//! has not freed, when it drops those.
//!
//! A message is left to MPI, with its memory, if its receiver has died, or if nobody has received
//! any message for [`UNRECEIVED`]: its receiver may never make the matching call, which is an error
//! of the program but must not keep this process waiting for ever. MPI goes on sending it as long
//! as it makes progress.

use std::any::Any;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use super::comm::{self, Communicator};
use super::liveness::{self, Patience};
use super::of_process::{self, OfProcess};
use super::request::Request;
use crate::util::backoff::{Backoff, Pace, UNRECEIVED};
use crate::util::lock::{get_mut, lock};

/// A message in flight.
#[derive(Debug)]
pub struct Message {
    /// Its request.
    pub request: Request,
    /// The memory that MPI sends from.
    pub memory: Vec<u8>,
    /// The receiver's rank in `MPI_COMM_WORLD`; `None` for a process of another world.
    pub receiver: Option<u32>,
    /// What must stay as long as the message is in flight.
    #[expect(dead_code, reason = "it is dropped with the message")]
    pub beside: Option<Arc<dyn Any + Send + Sync>>,
}

impl Message {
    /// True if it has been sent, or will not be: a failure is the receiver's to notice.
    pub fn is_over(&mut self) -> bool {
        // after MPI is finalized, no call is allowed and nothing is read any more
        !super::is_usable() || !matches!(self.request.test(), Ok(false))
    }
}

// SAFETY: a handle, which may be used in any thread that may call MPI.
unsafe impl Send for Message {}

/// The messages of this process.
#[derive(Default)]
struct Leftovers(Mutex<Vec<Message>>);

static LEFTOVERS: OfProcess<Leftovers> = OfProcess::new();

/// Drops the messages that are over.
fn forget_sent(messages: &mut Vec<Message>) {
    messages.retain_mut(|message| !message.is_over());
}

/// Hands over messages, which complete while MPI is finalized, or are found to be over when the
/// next ones are handed over.
pub fn leave(mut messages: Vec<Message>) {
    forget_sent(&mut messages);
    if messages.is_empty() {
        return;
    }
    // MPI drops the youngest first, and dropping this one needs liveness's
    let _ = liveness::card();
    match LEFTOVERS.get() {
        Ok(kept) => {
            kept.forget_sent();
            kept.lock().append(&mut messages);
        }
        Err(_) if of_process::is_ending() => drop(Leftovers(Mutex::new(messages))),
        // MPI may still read it
        Err(_) => std::mem::forget(messages),
    }
}

/// Drops what is over of the messages that have been handed over.
pub fn look_after() {
    if let Ok(Some(kept)) = LEFTOVERS.get_or_make(|| Ok(None)) {
        kept.forget_sent();
    }
}

impl Leftovers {
    fn lock(&self) -> MutexGuard<'_, Vec<Message>> {
        lock(&self.0)
    }

    /// Looks at them without the lock: MPICH may free a communicator in such a call, which may hand
    /// over others.
    fn forget_sent(&self) {
        let mut messages = std::mem::take(&mut *self.lock());
        forget_sent(&mut messages);
        self.lock().append(&mut messages);
    }
}

impl Drop for Leftovers {
    fn drop(&mut self) {
        let mut messages = std::mem::take(get_mut(&mut self.0));
        let (mut patience, mut backoff, mut progress) =
            (Patience::default(), Backoff::new(super::resting(Pace::YIELDING)), Instant::now());
        loop {
            let before = messages.len();
            forget_sent(&mut messages);
            if messages.is_empty() {
                return;
            }
            if messages.len() < before {
                progress = Instant::now();
            }
            if patience.is_over() {
                drop_dead(&mut messages, &mut patience, comm::world());
                if !messages.is_empty() && progress.elapsed() > UNRECEIVED {
                    return give_up(messages);
                }
            }
            backoff.snooze();
        }
    }
}

/// Leaves messages to MPI that living processes do not receive.
#[cold]
fn give_up(messages: Vec<Message>) {
    let receivers: BTreeSet<u32> = messages.iter().filter_map(|message| message.receiver).collect();
    let receivers = receivers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    log::warn!(
        "MPI_Finalize: {} messages to processes {receivers} of MPI_COMM_WORLD have not been received for {} s and are left \
         to MPI: does a process make fewer calls of a neighborhood collective than its neighbors?",
        messages.len(),
        UNRECEIVED.as_secs(),
    );
    // MPI may still read them
    std::mem::forget(messages);
}

/// Drops messages to processes that have died: nobody ever receives them.
#[cold]
fn drop_dead(messages: &mut Vec<Message>, patience: &mut Patience, world: Communicator) {
    let receivers = messages.iter().filter_map(|message| message.receiver);
    let dead = patience.look(world, receivers);
    for message in messages.extract_if(.., |message| message.receiver.is_some_and(|rank| dead.contains(&rank))) {
        // MPI may still read it
        std::mem::forget(message.memory);
    }
}
