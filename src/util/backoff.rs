//! Waiting: the actions of a process between two polls, and every constant of them.
//!
//! A loop that waits polls, and asks a [`Backoff`] after each poll in vain:
//!
//! ```
//! use mpix_neighbor::util::backoff::{Backoff, Pace};
//!
//! let (mut backoff, mut polls) = (Backoff::new(Pace::MESSAGES), 0);
//! while polls < 100 {
//!     polls += 1;
//!     backoff.snooze();
//! }
//! ```
//!
//! A loop that has its own way to sleep, or that polls memory and must enter MPI now and then, acts
//! on [`Backoff::turn`] instead. A [`Pace`] says how soon a process rests; which one applies
//! depends on what is polled, and on whether the process has a core of its own.

#![forbid(unsafe_code)]

use std::time::{Duration, Instant};

/// How long a process waits before it first checks that its peers are alive, and between two
/// checks.
pub const CHECK: Duration = Duration::from_millis(100);

/// Polls between two readings of the clock.
pub const CLOCK: u32 = 64;

/// The longest sleep of a waiting process. After it, the process lets MPI progress other messages.
pub const NAP: Duration = Duration::from_micros(500);

/// How long a message waits for room in shared memory before it goes by MPI.
pub const ROOM: Duration = Duration::from_millis(2);

/// How long messages of `bytes` bytes in all lie for their receivers to copy them before copies go
/// by MPI: a receiver that waits for its core, or copies as many bytes of its own at 500 MB/s,
/// should not count as away.
pub fn until_withdrawn(bytes: u64) -> Duration {
    Duration::from_millis(20).saturating_add(Duration::from_nanos(bytes.saturating_mul(2)))
}

/// How long a process that finalizes MPI waits, without any progress, for the reports of others.
pub const REPORT: Duration = Duration::from_secs(20);

/// How long a process that finalizes MPI waits, without any progress, until living processes have
/// received its messages. Shorter than the wait for its report.
pub const UNRECEIVED: Duration = Duration::from_secs(10);

/// Tests of a cancelled receive before it counts as stuck: more than one whose sender lives needs.
/// An MPI that yields in each of them gets no more than [`CHECK`].
pub const CANCELLED: u32 = 100_000;

/// How soon a waiting process rests: after some polls it pauses, then yields its core, then sleeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Polls one after another.
    pub polls: u32,
    /// Polls after those, with a pause of the core between two.
    pub pauses: u32,
    /// Polls after those, with yields between them. Then the process sleeps.
    pub yields: u32,
    /// Polls from one yield or sleep to the next, a power of two.
    pub stride: u32,
    /// Polls from one entry into MPI to the next, a power of two, for loops that poll memory. The
    /// first polls are not interrupted.
    pub enter: u32,
}

/// More polls than a process ever waits.
const ALWAYS: u32 = u32::MAX;

/// Never resting and entering MPI, which the rows of the table change.
const NEVER: Pace = Pace { polls: ALWAYS, pauses: 0, yields: 0, stride: 1, enter: 1 << 31 };

/// The table.
impl Pace {
    /// A process with a core of its own, or one inside an MPI that yields by itself: polls.
    pub const POLLING: Pace = NEVER;

    /// Shared memory, with a core for each process.
    pub const OWN_CORE: Pace = Pace { polls: 2000, pauses: ALWAYS, enter: 64, ..NEVER };

    /// Shared memory, where processes share cores. A message that is missing needs a core as a
    /// rule: with 3 pauses, 8 processes on 2 cores took 1.15 times as long.
    pub const SHARED_CORE: Pace = Pace { polls: 0, yields: 16, enter: 32, ..NEVER };

    /// A caller that tests shared memory, and rests as it likes.
    pub const TESTS: Pace = Pace { polls: 0, pauses: ALWAYS, enter: 16, ..NEVER };

    /// A sparse exchange that polls shared memory; its wait has the pace of `EXCHANGE`.
    pub const INBOX: Pace = Pace { polls: 0, pauses: ALWAYS, enter: 64, ..NEVER };

    /// MPI's messages, where processes share cores.
    pub const MESSAGES: Pace = Pace { polls: 15, yields: ALWAYS, ..NEVER };

    /// A sparse exchange, where processes share cores.
    pub const EXCHANGE: Pace = Pace { polls: 0, yields: 64, stride: 4, ..NEVER };

    /// A process that cannot tell whether it has a core of its own.
    pub const UNSURE: Pace = Pace { polls: 99, yields: ALWAYS, ..NEVER };

    /// A process that others may need the core of to get ready, or one whose polls take long.
    pub const YIELDING: Pace = Pace { polls: 0, yields: ALWAYS, ..NEVER };

    /// A wait of which nobody measures the time.
    pub const SLEEPING: Pace = Pace { polls: 0, ..NEVER };
}

/// True once in `every` polls.
#[inline]
const fn is_turn(polls: u32, every: u32) -> bool {
    debug_assert!(every.is_power_of_two());
    polls & (every - 1) == 0
}

/// How a process rests between two polls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// Nothing.
    None,
    /// Pauses the core for some cycles.
    Pause,
    /// Yields the core to another process.
    Yield,
    /// Sleeps, at most [`NAP`].
    Sleep,
}

impl Rest {
    /// Rests.
    #[inline]
    pub fn take(self) {
        match self {
            Rest::None => {}
            Rest::Pause => std::hint::spin_loop(),
            Rest::Yield => std::thread::yield_now(),
            Rest::Sleep => std::thread::sleep(NAP),
        }
    }
}

/// The steps of a process after a poll that found nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// How it rests.
    pub rest: Rest,
    /// True if it enters MPI before, so that other messages progress.
    pub enters_mpi: bool,
    /// True if it checks that its peers are alive.
    pub checks: bool,
}

/// Tells a waiting process when to check that its peers are alive: every [`CHECK`].
#[derive(Debug, Default)]
pub struct Alarm {
    polls: u32,
    since: Option<Instant>,
}

impl Alarm {
    /// Begins a new wait.
    #[inline]
    pub fn restart(&mut self) {
        *self = Alarm::default();
    }

    /// Counts a poll in vain. Returns how long the process has waited since the last check, or
    /// since the first reading of the clock, whenever it reads the clock.
    #[inline]
    pub fn poll(&mut self) -> Option<Duration> {
        self.polls = self.polls.wrapping_add(1);
        if self.polls.is_multiple_of(CLOCK) { Some(self.read()) } else { None }
    }

    #[cold]
    fn read(&mut self) -> Duration {
        let now = Instant::now();
        let waited = now.duration_since(*self.since.get_or_insert(now));
        if waited >= CHECK {
            self.since = Some(now);
        }
        waited
    }

    /// Counts a poll in vain. Returns true when it is time to check.
    #[inline]
    pub fn rings(&mut self) -> bool {
        self.poll().is_some_and(|waited| waited >= CHECK)
    }
}

/// Counts the polls of a wait, and says what to do after each.
#[derive(Debug)]
pub struct Backoff {
    pace: Pace,
    /// Polls in vain since something happened.
    polls: u32,
    alarm: Alarm,
}

impl Backoff {
    /// Begins a wait.
    #[inline]
    pub fn new(pace: Pace) -> Backoff {
        Backoff { pace, polls: 0, alarm: Alarm::default() }
    }

    /// Begins a wait whose first polls are over.
    #[inline]
    pub fn after_polls(pace: Pace) -> Backoff {
        Backoff { polls: pace.polls, ..Backoff::new(pace) }
    }

    /// Begins a new wait at the same pace.
    #[inline]
    pub fn restart(&mut self) {
        *self = Backoff::new(self.pace);
    }

    /// Notes that something has happened: more may follow soon. The process still checks its peers
    /// as often.
    #[inline]
    pub fn reset(&mut self) {
        self.polls = 0;
    }

    /// Notes that the process was woken from its sleep: it yields some more before it sleeps again.
    #[inline]
    pub fn wake(&mut self) {
        self.polls = self.pace.polls.saturating_add(self.pace.pauses);
    }

    /// Counts a poll in vain, and says how to rest before the next one.
    #[inline]
    pub fn rest(&mut self) -> Rest {
        let Pace { polls, pauses, yields, stride, .. } = self.pace;
        let paused = polls.saturating_add(pauses);
        // from the end on it repeats the last stride
        self.polls = self.polls.checked_add(1).unwrap_or(ALWAYS - (stride - 1));
        match self.polls {
            n if n <= polls => Rest::None,
            n if n <= paused => Rest::Pause,
            n if !is_turn(n, stride) => Rest::None,
            n if n <= paused.saturating_add(yields) => Rest::Yield,
            _ => Rest::Sleep,
        }
    }

    /// Counts a poll in vain, and says what to do before the next one.
    #[inline]
    pub fn turn(&mut self) -> Turn {
        let checks = self.alarm.rings();
        let rest = self.rest();
        let enters_mpi = self.polls > self.pace.polls && is_turn(self.alarm.polls, self.pace.enter);
        Turn { rest, enters_mpi, checks }
    }

    /// Counts a poll in vain, and rests.
    #[inline]
    pub fn snooze(&mut self) {
        self.rest().take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rests(pace: Pace, polls: usize) -> Vec<Rest> {
        let mut backoff = Backoff::new(pace);
        (0..polls).map(|_| backoff.turn().rest).collect()
    }

    fn runs(of: &[Rest]) -> Vec<(Rest, usize)> {
        of.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect()
    }

    #[test]
    fn a_process_polls_then_pauses_then_yields_then_sleeps() {
        assert_eq!(runs(&rests(Pace::OWN_CORE, 9000)), [(Rest::None, 2000), (Rest::Pause, 7000)]);
        assert_eq!(runs(&rests(Pace::SHARED_CORE, 50)), [(Rest::Yield, 16), (Rest::Sleep, 34)]);
        assert_eq!(runs(&rests(Pace::MESSAGES, 50)), [(Rest::None, 15), (Rest::Yield, 35)]);
        assert_eq!(runs(&rests(Pace::POLLING, 5000)), [(Rest::None, 5000)]);
        assert_eq!(runs(&rests(Pace::SLEEPING, 3)), [(Rest::Sleep, 3)]);
    }

    #[test]
    fn a_sparse_exchange_rests_every_few_polls() {
        let rests = rests(Pace::EXCHANGE, 72);
        assert_eq!(runs(&rests[..8]), [(Rest::None, 3), (Rest::Yield, 1), (Rest::None, 3), (Rest::Yield, 1)]);
        let count = |rest| rests.iter().filter(|&&r| r == rest).count();
        assert_eq!((count(Rest::None), count(Rest::Yield), count(Rest::Sleep)), (54, 16, 2));
    }

    #[test]
    fn a_very_long_wait_still_rests() {
        let mut backoff = Backoff::new(Pace::EXCHANGE);
        backoff.polls = u32::MAX - 5;
        let rests: Vec<Rest> = (0..40).map(|_| backoff.rest()).collect();
        assert!(rests[20..].iter().filter(|&&rest| rest == Rest::Sleep).count() >= 5, "{rests:?}");
    }

    #[test]
    fn progress_begins_anew_and_a_wake_up_does_not() {
        let mut backoff = Backoff::new(Pace::SHARED_CORE);
        let next = |n: usize, backoff: &mut Backoff| (0..n).map(|_| backoff.turn().rest).last();
        assert_eq!(next(40, &mut backoff), Some(Rest::Sleep));
        backoff.wake();
        assert_eq!(next(16, &mut backoff), Some(Rest::Yield));
        assert_eq!(next(1, &mut backoff), Some(Rest::Sleep));
        backoff.reset();
        assert_eq!(next(16, &mut backoff), Some(Rest::Yield));
        assert_eq!(next(1, &mut backoff), Some(Rest::Sleep));
    }

    /// Even a wait that is reset all the time lets MPI progress, and never in its first polls.
    #[test]
    fn mpi_is_entered_at_regular_distances() {
        let mut backoff = Backoff::new(Pace::OWN_CORE);
        let entered: Vec<u32> = (1..=2200).filter(|_| backoff.turn().enters_mpi).collect();
        assert_eq!(entered, [2048, 2112, 2176]);
        let mut backoff = Backoff::new(Pace::SHARED_CORE);
        let entered = (1..=200).filter(|poll| {
            if poll % 7 == 0 {
                backoff.reset();
            }
            backoff.turn().enters_mpi
        });
        assert_eq!(entered.count(), 6);
        let mut backoff = Backoff::new(Pace::MESSAGES);
        assert!(!(0..5000).any(|_| backoff.turn().enters_mpi));
    }

    #[test]
    fn peers_are_checked_after_a_while_and_again_after_another() {
        let mut backoff = Backoff::new(Pace::SLEEPING);
        let begin = Instant::now();
        for n in 1..=2 {
            while !backoff.turn().checks {
                std::thread::sleep(CHECK / 500);
            }
            assert!(begin.elapsed() >= n * CHECK, "check {n} after {:?}", begin.elapsed());
        }
        backoff.restart();
        assert!(!(0..CLOCK).any(|_| backoff.turn().checks));
    }
}
