//! The end of an epoch, and of a window.

use std::sync::Arc;

use super::batch::{Batch, Content, Header, SPARE};
use super::guarded::{Guarded, Held};
use super::window::{OPERATIONS, SharedWindow, Window};
use crate::error::{Error, Result};
use crate::mpi::message::bytes_at;
use crate::observe::FENCE;
use crate::sparse::messages::{Outgoing, Sends};
use crate::sparse::{Exchange, Form};
use crate::util::cast::to_usize;

/// How often a process waits for the others of a fence if that fails: an error that has to do with
/// one of them must not keep it from serving the rest.
const WAITS: usize = 3;

/// What a process does at the end of an epoch, as a mark that travels with the exchange: it frees
/// the window, or goes on.
const FREES: u8 = 1;
const GOES_ON: u8 = 2;

/// What all processes have to agree on then.
const LAST_CALL: &str = "the call that ends the epoch (MPIX_Sparse_window_fence or MPIX_Sparse_window_free)";

/// Ends an epoch: applies all operations of all processes on all elements. Collective. Fails on
/// all processes if some free the window instead.
///
/// Cost: one sparse exchange of the last batches, and for operations that return something a
/// message back.
///
/// # Safety
/// As for [`create`](super::create), and [`Held::issue`] for each operation of the epoch.
pub unsafe fn fence(window: &Guarded<Window>) -> Result<()> {
    // SAFETY: the caller vouches for the window and the operations.
    unsafe { end_epoch(window, false) }
}

/// Ends an epoch, the last one if the caller `frees` the window.
///
/// # Safety
/// As for [`fence`].
unsafe fn end_epoch(window: &Guarded<Window>, frees: bool) -> Result<()> {
    let (mut begun, observed) = {
        let mut window = window.hold()?;
        window.check_free()?;
        // a notice may have come; after another error the process still takes part
        let polled = window.poll();
        let _ = window.keep(polled);
        let ends = window.state.check_epoch();
        window.keep(ends)?;
        let observed = window.observe();
        observed.iter().for_each(|(record, _)| record.used(FENCE, 1));
        let begun = window.begin_fence(frees);
        match window.keep(begun) {
            Ok(begun) => {
                window.begin_fencing();
                (begun, observed)
            }
            Err(e) => return Err(window.failure.clone().unwrap_or(e)),
        }
    };
    let fencing = Fencing(window);
    // the list of what must progress has the window
    let ends = || window.hold_if_free().map_or(Ok(()), |window| window.state.check_epoch());
    let exchanged = begun.exchange.wait_while(ends);
    let mut held = window.hold()?;
    let ended = if begun.exchange.has_ended() {
        let uneven = begun.exchange.marks() == FREES | GOES_ON;
        // one that has lost a message has told its target, and the others wait for this process
        let ended = held.end_fence(begun);
        if let Err(lost) = exchanged {
            held.state.loss.get_or_insert(lost);
        }
        if uneven {
            let why: Box<Error> = Error::Disagreement { what: LAST_CALL.into() }.into();
            held.state.over = Some((held.state.epoch, why.clone()));
            ended.and(Err(why))
        } else {
            ended
        }
    } else {
        // they may still be on their way
        std::mem::forget(begun.last);
        // one that finalizes MPI may be found to be gone before its notice is read
        let ends = held.poll().and_then(|_| held.state.check_epoch());
        ends.and(exchanged)
    };
    // also if this process has failed: the others are in the next one
    held.state.end_epoch();
    if let Some((record, call)) = observed {
        record.end(&call, Some("fence"));
    }
    let kept = held.keep(ended);
    let outcome = kept.and_then(|()| held.failure.clone().or_else(|| held.state.loss.take()).map_or(Ok(()), Err));
    drop(held);
    drop(fencing);
    outcome
}

/// Applies all operations, and ends the window's use of its memory. Collective. Fails if
/// others call a fence instead, which ends the epoch with the caller.
///
/// Cost: a flush and a fence.
///
/// # Safety
/// As for [`fence`].
pub unsafe fn free(window: &SharedWindow) -> Result<()> {
    let outcome = {
        let flushed = {
            let mut window = window.hold()?;
            // what a process says later would meet the receives of a later communicator
            window.list_unacknowledged();
            window.flush()
        };
        // SAFETY: as above.
        let mut fenced = unsafe { end_epoch(window, true) };
        if is_awaited(window)? {
            // its exchange could not start, and no later call joins the others there
            // SAFETY: as above.
            fenced = fenced.and(unsafe { end_epoch(window, true) });
        }
        flushed.and(fenced)
    };
    let left = is_awaited(window)?;
    let mut window = window.hold()?;
    if left {
        window.leave();
    }
    window.outstanding.remove(&window.progress);
    let all_free = window.state.over.is_none();
    window.close();
    if all_free {
        window.exchanges.free_window_if_idle();
    }
    outcome
}

/// True if the others may be in the exchange that ends an epoch, which could not start here.
fn is_awaited(window: &SharedWindow) -> Result<bool> {
    let exchanges = Arc::clone(&window.hold()?.exchanges);
    let context = exchanges.hold();
    Ok(context.is_awaited())
}

/// An epoch's end that has begun.
struct Begun {
    exchange: Exchange,
    /// The batches that the exchange sends.
    last: Vec<Batch>,
}

/// A fence under way, which ends even in a panic.
struct Fencing<'w>(&'w Guarded<Window>);

impl Drop for Fencing<'_> {
    fn drop(&mut self) {
        if let Ok(mut window) = self.0.hold() {
            (window.is_fencing, window.until_poll) = (false, OPERATIONS);
        }
    }
}

impl Window {
    /// Keeps everything else from using the window: `issue_one` too, for which no operations are
    /// left until the next look at what has come.
    fn begin_fencing(&mut self) {
        (self.is_fencing, self.until_poll) = (true, 0);
    }

    /// Starts the exchange of the last batches of the epoch. It makes nothing that takes all
    /// processes, as nobody would serve the others meanwhile. `frees`: whether the caller frees the
    /// window, which all learn.
    fn begin_fence(&mut self, frees: bool) -> Result<Begun> {
        self.state.apply_waiting(self.rank);
        // the others are told
        let lost = self.failure.is_some();
        let (mut list, mut last) = (Vec::new(), Vec::new());
        let listed = std::mem::take(&mut self.listed);
        let mut taken = Ok(());
        for &target in &listed {
            let peer = self.state.peer(target);
            peer.listed = false;
            if !peer.has_operations() && peer.has_applied_all() && !lost {
                continue;
            }
            let mut batch = match self.state.take_batch(target) {
                Ok(batch) => batch,
                Err(e) => {
                    taken = Err(e);
                    break;
                }
            };
            let mut header = self.state.header(target, Content::Last);
            header.lost = lost;
            self.state.peer(target).reported = header.applied;
            let message = batch.message_with_spare(header);
            let (block, bytes) = (bytes_at(message.as_ptr(), message.len() as u64), message.len() as u64);
            list.push(Outgoing { target, block, bytes, device: false });
            last.push(batch);
        }
        let sends = Sends { list, dense: true, marks: if frees { FREES } else { GOES_ON } };
        // SAFETY: the batches are kept until the exchange is done.
        let start = |()| unsafe { Exchange::start(&self.exchanges, Some(&self.hints), sends, Form::Nonblocking) };
        match taken.and_then(start) {
            Ok(exchange) => Ok(Begun { exchange, last }),
            Err(e) => {
                // some may be on their way, and the next fence tells those that miss one
                std::mem::forget(last);
                for &target in &listed {
                    self.state.peer(target).listed = true;
                }
                self.listed = listed;
                Err(e)
            }
        }
    }
}

impl Held<'_, Window> {
    /// Applies what the exchange has brought, and waits until nothing is under way.
    fn end_fence(&mut self, mut begun: Begun) -> Result<()> {
        begun.last.into_iter().for_each(|batch| self.state.recycle(batch));
        let arrived = begun.exchange.take();
        let mut ended = Ok(());
        for &source in begun.exchange.lost_sources() {
            // it may wait for results
            ended = ended.and(self.state.tell_lost(source));
        }
        for message in &arrived.messages {
            // SAFETY: the message has arrived.
            let bytes = unsafe { std::slice::from_raw_parts(message.at, to_usize(message.bytes)) };
            let (source, header) = (message.source, Header::of(bytes));
            let is_there = |window: &mut Window| header.lost || window.state.peer(source).applied == header.before;
            let waited = self.wait_on(is_there);
            let all_end = waited.as_ref().is_err_and(|e| self.ends_all(e));
            ended = ended.and(waited);
            if !is_there(self) {
                if all_end {
                    break;
                }
                // it may wait for results
                ended = ended.and(self.state.tell_lost(source));
                continue;
            }
            // the others wait for what their operations return
            let applied = self.state.apply_last(source, header, bytes, bytes.len() - SPARE);
            ended = ended.and(applied);
        }
        let done = self.wait_on(|window| window.state.is_done());
        ended.and(done)
    }

    /// True of an error after which the epoch ends nowhere: who has died stays dead.
    fn ends_all(&self, error: &Error) -> bool {
        self.state.check_epoch().is_err() || matches!(error, Error::Gone { .. })
    }

    /// Waits until `done` returns true, also after errors of others. Returns the first one.
    fn wait_on(&mut self, done: impl Fn(&mut Window) -> bool) -> Result<()> {
        let mut outcome = Ok(());
        for _ in 0..WAITS {
            let waited = self.wait(&[], &done);
            let is_over = waited.as_ref().map_or_else(|e| self.ends_all(e), |()| true);
            outcome = outcome.and(waited);
            if is_over {
                break;
            }
        }
        outcome
    }
}
