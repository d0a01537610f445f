//! One exchange: it starts, is advanced until it is done, and hands over what has arrived.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use super::context::{ExchangeContext, Form, GuardedContext, SharedContext};
use super::dispatch::Run;
use super::messages::{Arrivals, Sends};
use super::transport::Loss;
use crate::error::{Error, Result};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::liveness::{self, Patience};
use crate::mpi::{self, message};
use crate::observe;
use crate::progress::Advance;
use crate::select::hints::SparseHints;
use crate::select::{UNMEASURED, time_code};
use crate::util::backoff::{Backoff, Pace, Rest};

/// An exchange in progress.
pub struct Exchange {
    context: SharedContext,
    sends: Sends,
    arrivals: Arrivals,
    run: Option<Run>,
    /// Its end has been noted in the context.
    ended: bool,
    /// The marks of all processes, once it has ended.
    marks: u8,
    /// Seconds that calls have spent in this exchange so far, if the chooser wants to know.
    spent: Option<f64>,
    /// True if it is among the requests that the process moves forward.
    listed: bool,
    /// The error that stopped the exchange. It goes no further.
    failure: Option<Box<Error>>,
    /// Counters and traces, if the environment asks for them.
    observed: Option<observe::Exchange>,
    /// Messages that could not be sent or did not arrive. The exchange continues to its end, since
    /// other processes depend on it, and then fails.
    loss: Loss,
    patience: Patience,
}

// SAFETY: it holds addresses in the caller's buffers, which whoever completes the exchange may
// access, memory of its own, and handles, which any thread that may call MPI may use.
unsafe impl Send for Exchange {}

impl Advance for Exchange {
    /// Does not end the exchange: no other one may start before the caller knows that it is done.
    fn advance(&mut self) {
        if self.failure.is_none() {
            let begin = self.spent.map(|_| mpi::time());
            self.failure = self.drive(GuardedContext::hold_if_free).err();
            self.spend(begin);
        }
    }
}

impl Exchange {
    /// [Starts](Exchange::start) an exchange to which this process sends nothing.
    pub fn start_empty(shared: &SharedContext, hints: Option<&SparseHints>, form: Form) -> Result<Exchange> {
        // SAFETY: there are no blocks.
        unsafe { Exchange::start(shared, hints, Sends::default(), form) }
    }

    /// Takes part in the exchange that the others may run although it could not start here, with no
    /// messages. Returns true if it has ended; its own errors do not count, as the first one is to
    /// be reported.
    #[cold]
    pub fn join(shared: &SharedContext, hints: Option<&SparseHints>) -> bool {
        if !shared.hold().is_awaited() {
            return false;
        }
        Exchange::start_empty(shared, hints, Form::Blocking).is_ok_and(|mut exchange| {
            let _ = exchange.wait();
            exchange.has_ended()
        })
    }

    /// Starts an exchange. Every process of the communicator calls this. It is local, except for
    /// the first call with a protocol that needs a window or a map of nodes; a nonblocking exchange
    /// takes such a protocol only if a hint asks for it.
    ///
    /// # Safety
    /// The blocks in `sends`, and their datatype, must live, unchanged, until the exchange is done.
    pub unsafe fn start(shared: &SharedContext, hints: Option<&SparseHints>, sends: Sends, form: Form) -> Result<Exchange> {
        let mut guard = shared.hold();
        let context = &mut *guard;
        context.transport.comm.is_whole()?;
        if context.running {
            return Err(Error::Exchanging.into());
        }
        let hints = hints.unwrap_or(&context.hints).with_machine(context.machine);
        context.in_effect = hints;
        context.transport.matched = hints.matched_probe && message::has_matched_probe();
        let choice = context.next_choice.take().unwrap_or_else(|| context.choose(&hints, form));
        let ExchangeContext { transport, resources, chooser, .. } = context;
        let why = (context.choice != Some(choice)).then_some(choice.why);
        let observed = transport.observed.as_mut().map(|o| o.begin(choice.protocol.name(), why));
        if transport.size > 1 {
            let made = Run::make(choice.protocol, hints.node_size, transport, resources);
            // the others may run this exchange already: the next call joins them
            let armed = |()| Run::arm(choice.protocol, transport, resources).inspect_err(|_| context.next_choice = Some(choice));
            if let Err(error) = made.and_then(armed) {
                observed.iter().for_each(observe::Exchange::end);
                return Err(error);
            }
        }
        // messages travel from here on: no other exchange can start before this one has ended, even
        // if something fails
        context.running = true;
        transport.loss = Loss::default();
        context.choice = Some(choice);
        if let Some(observed) = &observed {
            let own = sends.list.iter().filter(|o| o.target == transport.rank);
            own.for_each(|o| observed.record().sent(observe::Medium::Own, 1, o.bytes));
        }
        let mut exchange = Exchange {
            context: Arc::clone(shared),
            sends,
            arrivals: Arrivals::default(),
            run: None,
            ended: false,
            marks: 0,
            spent: None,
            listed: false,
            failure: None,
            observed,
            loss: Loss::default(),
            patience: Patience::default(),
        };
        let begin = chooser.wants_time().then(mpi::time);
        if transport.size > 1 {
            let (sends, arrivals) = (&exchange.sends, &mut exchange.arrivals);
            // SAFETY: the caller vouches for the blocks.
            let run = unsafe { Run::start(choice.protocol, transport, resources, sends, arrivals) };
            exchange.run = Some(run.map_err(|error| explain(error, &transport.comm))?);
        }
        // messages to oneself are copied while the first ones travel
        for own in exchange.sends.list.iter().filter(|o| o.target == transport.rank) {
            // SAFETY: as above.
            if let Err(e) = unsafe { exchange.arrivals.copy_own(own, exchange.sends.dense, &transport.comm) } {
                transport.loss.note(e);
            }
        }
        if exchange.run.is_none() {
            exchange.loss = std::mem::take(&mut transport.loss);
        }
        exchange.spent = begin.map(|begin| mpi::time() - begin);
        Ok(exchange)
    }

    /// Adds the exchange to the requests that the process moves forward.
    pub fn list(mut self) -> Arc<Mutex<Exchange>> {
        self.listed = true;
        let outstanding = Arc::clone(&self.context.hold().outstanding);
        let exchange = Arc::new(Mutex::new(self));
        outstanding.add(Arc::clone(&exchange) as _);
        exchange
    }

    /// Advances the exchange without blocking. Returns true once it is done.
    #[inline]
    pub fn progress(&mut self) -> Result<bool> {
        let begin = self.spent.map(|_| mpi::time());
        let done = self.go_on()?;
        if done {
            self.end(begin)?;
        } else {
            self.spend(begin);
        }
        Ok(done)
    }

    /// Adds the time since `begin` to the time spent.
    fn spend(&mut self, begin: Option<f64>) {
        if let (Some(spent), Some(begin)) = (&mut self.spent, begin) {
            *spent += mpi::time() - begin;
        }
    }

    /// Advances the exchange, or repeats the error that stopped it earlier.
    fn go_on(&mut self) -> Result<bool> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        self.drive(|context| Some(context.hold())).inspect_err(|e| self.failure = Some(e.clone()))
    }

    /// Advances the protocol, if `hold` gets its context. Returns true once every message has been
    /// sent and received.
    #[inline]
    fn drive(&mut self, hold: impl FnOnce(&GuardedContext) -> Option<MutexGuard<'_, ExchangeContext>>) -> Result<bool> {
        if let Some(run) = &mut self.run {
            let Some(mut guard) = hold(&self.context) else { return Ok(false) };
            let ExchangeContext { transport, resources, .. } = &mut *guard;
            // SAFETY: whoever started the exchange vouches for the blocks.
            let done = unsafe { run.progress(transport, resources, &self.sends, &mut self.arrivals) };
            if !done.map_err(|error| explain(error, &transport.comm))? {
                if self.patience.is_over() {
                    // an exchange needs all processes
                    self.patience.look_at_all(&transport.comm)?;
                }
                return Ok(false);
            }
            self.run = None;
            self.loss = std::mem::take(&mut transport.loss);
        }
        Ok(true)
    }

    /// Ends an exchange that is done, in a call that began at `begin`. Fails if a message was lost.
    fn end(&mut self, begin: Option<f64>) -> Result<()> {
        // once: an exchange that runs after this one is not over
        if !std::mem::replace(&mut self.ended, true) {
            self.spend(begin);
            if let Some(observed) = &self.observed {
                observed.end();
            }
            // the next exchange shares this time with all processes and passes it to the chooser
            let time = self.spent.map_or(UNMEASURED, |seconds| time_code(1e6 * seconds));
            self.marks = self.context.hold().finish(time);
        }
        // whoever asks gets the error: the process may have been moved forward by another call
        self.loss.error.clone().map_or(Ok(()), Err)
    }

    /// Returns true if the exchange has ended, also if a message was lost. One that has failed
    /// otherwise never ends.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Waits until the exchange is done.
    pub fn wait(&mut self) -> Result<()> {
        self.wait_with(|_, _| (), || Ok(()))
    }

    /// Waits until the exchange is done, or `check` fails, which is called again and again.
    pub fn wait_while(&mut self, check: impl FnMut() -> Result<()>) -> Result<()> {
        self.wait_with(|_, _| (), check)
    }

    /// Waits until the exchange is done and passes messages to `each` as they arrive: those of
    /// [`Arrivals::messages`] in the given range are new.
    pub fn wait_for_each(&mut self, each: impl FnMut(&Arrivals, Range<usize>)) -> Result<()> {
        self.wait_with(each, || Ok(()))
    }

    fn wait_with(&mut self, mut each: impl FnMut(&Arrivals, Range<usize>), mut check: impl FnMut() -> Result<()>) -> Result<()> {
        let (yields, oversubscribed, outstanding) = {
            let context = self.context.hold();
            (context.yields, context.oversubscribed, Arc::clone(&context.outstanding))
        };
        let mut backoff = Backoff::new(if oversubscribed { Pace::EXCHANGE } else { Pace::POLLING });
        let mut shown = 0;
        let waiting = self.observed.as_ref().map(|_| Instant::now());
        let begin = self.spent.map(|_| mpi::time());
        loop {
            let done = self.go_on()?;
            let ready = self.arrivals.ready()?;
            if ready > shown {
                // the exchange is still running, so that `each` cannot start another one
                each(&self.arrivals, shown..ready);
                shown = ready;
            }
            if done {
                if let (Some(observed), Some(waiting)) = (&self.observed, waiting) {
                    observed.record().waited(waiting);
                }
                return self.end(begin);
            }
            outstanding.advance();
            check()?;
            match (backoff.rest(), &mut self.run) {
                (Rest::None | Rest::Pause, _) => {}
                (Rest::Sleep, Some(Run::Inbox(run))) if run.may_sleep() && !outstanding.has_others(self.listed) => run.sleep(),
                // this protocol rarely enters MPI, so that MPI does not yield the core
                (_, Some(Run::Inbox(_))) => Rest::Yield.take(),
                _ if yields => Rest::Yield.take(),
                _ => {}
            }
        }
    }

    /// Returns the private communicator.
    pub fn comm(&self) -> Arc<Comm> {
        Arc::clone(self.context.hold().comm())
    }

    /// Returns the context of the communicator.
    pub fn context(&self) -> &SharedContext {
        &self.context
    }

    /// Returns which [marks](Sends::marks) any process has set. For an exchange that has ended; 0
    /// by `pcx_library`, whose sum by MPI has no room for them.
    pub fn marks(&self) -> u8 {
        self.marks
    }

    /// Returns the processes whose messages to this one were lost. For an exchange that has ended.
    pub fn lost_sources(&self) -> &[u32] {
        &self.loss.sources
    }

    /// Returns what has arrived, sorted by source. For an exchange that is done.
    pub fn take(&mut self) -> Arrivals {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        arrivals.sort();
        arrivals
    }
}

/// Returns the error of an exchange, which needs all processes: that one has ended, if it has.
#[cold]
fn explain(error: Box<Error>, comm: &Comm) -> Box<Error> {
    liveness::explain(error, comm.view(), Some(comm))
}

impl Drop for Exchange {
    fn drop(&mut self) {
        // After an error, or if the request was abandoned, messages are still in flight in the
        // buffers of the run, which must therefore stay.
        std::mem::forget(self.run.take());
    }
}
