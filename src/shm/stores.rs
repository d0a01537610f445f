//! Chooses between ordinary and [streaming](crate::shm::streaming) stores for the messages that go
//! through a [ring](crate::shm::ring), by the times that both ends take for some of them.
//!
//! Which are faster depends on where the two cores are and on the length. So for each power of two,
//! the first few messages are written in one way, the next few in the other, and then those are
//! timed now and then that are written as was chosen; more and more rarely, a few are written in
//! the other way. Several in a row, as the memory that they go through is used in turn, and each
//! finds its lines where the one before has left them. The sender says which message it wants to be
//! timed, the receiver how long it took to copy that out.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize};

use crate::shm::ring::{Ring, STREAMED};
use crate::shm::streaming;
use crate::util::cast::{high_half, low_half, of_halves, to_usize, whole};

/// Least bytes of a message for which there is a choice: shorter ones do not wait for lines.
pub const LEAST: usize = 1 << 10;

/// Lengths that are told apart.
const CLASSES: usize = 12;

/// How many messages in a row are written in a way that is tried. The last one is timed.
const TRIAL: u32 = 4;

/// One of so many others is timed.
const TIMED: u32 = 16;

/// How many messages lie between trials, at first and at most.
const FIRST_GAP: u32 = 64;
const LONGEST_GAP: u32 = 2048;

/// A time of which nobody knows after so many messages is not waited for any longer.
const LOST: u32 = 64;

/// The other way has to take less than this part of the time.
const ADVANTAGE: f64 = 0.9;

/// How a message is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// By streaming stores.
    pub streams: bool,
    /// Both ends time it.
    pub timed: bool,
}

impl Style {
    pub const ORDINARY: Style = Style { streams: false, timed: false };

    /// What is added to a length for the receiver.
    pub fn flag(self) -> u32 {
        if self.streams { STREAMED } else { 0 }
    }

    /// The word for the bytes of a chunk, as [`chunk`] reads it.
    pub fn chunk(self, bytes: usize) -> u64 {
        of_halves(low_half(bytes as u64), high_half(bytes as u64) | self.flag())
    }
}

/// What is known of messages of about the same length. Time units are ticks for each 2^20 bytes; 0:
/// not known.
#[derive(Debug, Default)]
struct Class {
    messages: AtomicU32,
    /// By ordinary stores, and by streaming ones.
    times: [AtomicU32; 2],
    streams: AtomicBool,
    /// The message with which the next trial begins, and how many lie between that and the one
    /// before.
    next: AtomicU32,
    gap: AtomicU32,
}

impl Class {
    /// How the next message is to be written.
    fn next(&self) -> Style {
        let number = self.messages.load(Relaxed);
        let tried = number.wrapping_sub(self.next.load(Relaxed));
        if number < 2 * TRIAL {
            Style { streams: number >= TRIAL, timed: number % TRIAL == TRIAL - 1 }
        } else if tried < TRIAL {
            Style { streams: !self.streams.load(Relaxed), timed: tried == TRIAL - 1 }
        } else {
            Style { streams: self.streams.load(Relaxed), timed: number % TIMED == TIMED - 1 }
        }
    }

    /// Counts the next message. `may_time`: both ends can time it. Returns true if they are to. One
    /// that is to be timed, and cannot be, does not count: the one after it is to be timed then.
    fn count(&self, may_time: bool) -> bool {
        let timed = self.next().timed;
        if timed && !may_time {
            return false;
        }
        let number = self.messages.load(Relaxed);
        self.messages.store(number.wrapping_add(1), Relaxed);
        let is_first = number < 2 * TRIAL;
        if is_first || (timed && number.wrapping_sub(self.next.load(Relaxed)) < TRIAL) {
            let gap = if is_first { FIRST_GAP } else { (2 * self.gap.load(Relaxed)).min(LONGEST_GAP) };
            self.gap.store(gap, Relaxed);
            self.next.store(number.wrapping_add(gap), Relaxed);
        }
        timed
    }

    /// Learns a time, and chooses.
    fn learn(&self, streams: bool, time: f64) {
        let own = &self.times[usize::from(streams)];
        let old = f64::from(own.load(Relaxed));
        // a process that loses its core makes times longer only
        let new = if old == 0.0 || time < old { time } else { old + (time.min(4.0 * old) - old) / 4.0 };
        own.store(u32::try_from(whole(new.max(1.0))).unwrap_or(u32::MAX), Relaxed);
        let [ordinary, streaming] = [0, 1].map(|k: usize| f64::from(self.times[k].load(Relaxed)));
        if ordinary == 0.0 || streaming == 0.0 {
            return;
        }
        let (chosen, other) = if self.streams.load(Relaxed) { (streaming, ordinary) } else { (ordinary, streaming) };
        if other < ADVANTAGE * chosen {
            self.streams.fetch_xor(true, Relaxed);
        }
    }
}

/// The choices for the messages to one process, or to several that read the same ones. Messages are
/// written one at a time.
#[derive(Debug, Default)]
pub struct Stores {
    classes: [Class; CLASSES],
    /// One more than the number of the message whose time is waited for; 0: none is.
    asked: AtomicU64,
    /// Its class, its length, whether it was streamed, the ticks that writing took, and how many
    /// messages have waited for its time.
    class: AtomicUsize,
    bytes: AtomicU64,
    streamed: AtomicBool,
    ticks: AtomicU64,
    waited: AtomicU32,
}

impl Stores {
    /// Says how message `number` of so many bytes is written, at least [`LEAST`]. `rings` are those
    /// of its targets.
    pub fn choose<'a, const N: usize>(
        &self,
        number: u64,
        bytes: usize,
        rings: impl Iterator<Item = &'a Ring<N>> + Clone,
    ) -> Style {
        let Style { streams, .. } = self.next(bytes, rings.clone());
        Style { streams, timed: self.count(number, Written { bytes, longest: bytes, streams, in_place: false }, rings) }
    }

    /// Says how the next message of at most so many bytes is to be written. [`Stores::count`]
    /// comes next, with that message or with another one.
    pub fn next<'a, const N: usize>(&self, longest: usize, rings: impl Iterator<Item = &'a Ring<N>>) -> Style {
        if !streaming::AVAILABLE {
            return Style::ORDINARY;
        }
        self.learn(rings);
        self.classes[class_of(longest)].next()
    }

    /// True if the next message of so many bytes is to be streamed, as far as is known now.
    #[inline]
    pub fn streams_next(&self, bytes: usize) -> bool {
        bytes >= LEAST && self.classes[class_of(bytes)].next().streams
    }

    /// Counts message `number`, which is written next. Returns true if both ends time it.
    pub fn count<'a, const N: usize>(&self, number: u64, written: Written, rings: impl Iterator<Item = &'a Ring<N>>) -> bool {
        let Written { bytes, longest, streams, in_place } = written;
        let class = class_of(longest);
        let may_time = !in_place && self.asked.load(Relaxed) == 0;
        if !streaming::AVAILABLE || !self.classes[class].count(may_time) {
            return false;
        }
        rings.for_each(|ring| ring.ask_for_time(number));
        self.class.store(class, Relaxed);
        self.bytes.store(bytes as u64, Relaxed);
        self.streamed.store(streams, Relaxed);
        self.ticks.store(0, Relaxed);
        self.waited.store(0, Relaxed);
        self.asked.store(number + 1, Relaxed);
        true
    }

    /// Adds what writing a message that is timed, or a part of it, has taken.
    pub fn add(&self, ticks: u64) {
        self.ticks.store(self.ticks.load(Relaxed).saturating_add(ticks), Relaxed);
    }

    /// Waits for no time: the message that was to be timed is not sent so.
    pub fn withdraw(&self) {
        self.asked.store(0, Relaxed);
    }

    /// Takes the time that was asked for, if all targets have told it. The slowest counts.
    fn learn<'a, const N: usize>(&self, mut rings: impl Iterator<Item = &'a Ring<N>>) {
        let asked = self.asked.load(Relaxed);
        if asked == 0 {
            return;
        }
        if let Some(read) = rings.try_fold(0, |most: u32, ring| ring.time(asked - 1).map(|time| most.max(time))) {
            let (bytes, wrote) = (self.bytes.load(Relaxed), self.ticks.load(Relaxed));
            if told(wrote) != UNKNOWN && read != UNKNOWN {
                let time = (wrote + u64::from(read)) as f64 * f64::from(1 << 20) / bytes as f64;
                self.classes[self.class.load(Relaxed)].learn(self.streamed.load(Relaxed), time);
            }
            self.asked.store(0, Relaxed);
        } else if self.waited.fetch_add(1, Relaxed) >= LOST {
            self.asked.store(0, Relaxed);
        }
    }
}

/// A message as its sender writes it.
#[derive(Debug, Clone, Copy)]
pub struct Written {
    /// Its length.
    pub bytes: usize,
    /// The length that the choice was made for.
    pub longest: usize,
    /// By streaming stores.
    pub streams: bool,
    /// It has been packed where it lies, so that nobody knows how long that took.
    pub in_place: bool,
}

/// The class of messages of so many bytes.
fn class_of(bytes: usize) -> usize {
    to_usize(u64::from((bytes / LEAST).max(1).ilog2())).min(CLASSES - 1)
}

/// Ticks that cannot be right.
const UNKNOWN: u32 = u32::MAX;

/// Ticks as a receiver tells them.
pub fn told(ticks: u64) -> u32 {
    u32::try_from(ticks).unwrap_or(UNKNOWN)
}

/// Bytes of a chunk in the words that describe chunks, and whether they are streamed.
pub fn chunk(word: u64) -> (u64, bool) {
    (of_halves(low_half(word), high_half(word) & !STREAMED), high_half(word) & STREAMED != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs messages, whose times are those of `time(streams)`. Returns how many were streamed.
    fn run(class: &Class, messages: usize, time: impl Fn(bool) -> f64) -> usize {
        (0..messages)
            .filter(|_| {
                let style = class.next();
                if class.count(true) {
                    class.learn(style.streams, time(style.streams));
                }
                style.streams
            })
            .count()
    }

    #[test]
    fn the_faster_way_is_taken_but_for_few_trials() {
        let class = Class::default();
        let streamed = run(&class, 100_000, |streams| if streams { 100.0 } else { 400.0 });
        assert!(streamed > 99_700, "{streamed}");
        let class = Class::default();
        let streamed = run(&class, 100_000, |streams| if streams { 200.0 } else { 100.0 });
        assert!(streamed < 300, "{streamed}");
        // both alike: as it was
        let class = Class::default();
        let streamed = run(&class, 100_000, |streams| if streams { 95.0 } else { 100.0 });
        assert!(streamed < 300, "{streamed}");
    }

    #[test]
    fn a_process_that_moves_changes_the_choice() {
        let class = Class::default();
        run(&class, 20_000, |streams| if streams { 100.0 } else { 60.0 });
        let streamed = run(&class, 20_000, |streams| if streams { 100.0 } else { 400.0 });
        assert!(streamed > 19_000, "{streamed}");
        let streamed = run(&class, 20_000, |streams| if streams { 110.0 } else { 60.0 });
        assert!(streamed < 3 * to_usize(u64::from(LONGEST_GAP)), "{streamed}");
    }

    #[test]
    fn a_lost_core_does_not_count_for_long() {
        let class = Class::default();
        let calls = std::cell::Cell::new(0);
        let time = |streams: bool| {
            calls.set(calls.get() + 1);
            let noise = if calls.get() % 20 == 0 { 100.0 } else { 1.0 };
            noise * if streams { 100.0 } else { 60.0 }
        };
        let streamed = run(&class, 100_000, time);
        assert!(streamed < 5_000, "{streamed}");
    }

    #[test]
    fn what_cannot_be_timed_is_timed_next() {
        let class = Class::default();
        let mut all = [0; 2];
        for k in 0..1000 {
            // a time is asked for in every other message, and known at the next one
            let style = class.next();
            if class.count(k % 2 == 0) {
                assert!(k % 2 == 0 && style.timed);
                class.learn(style.streams, if style.streams { 100.0 } else { 400.0 });
                all[usize::from(style.streams)] += 1;
            }
        }
        assert!(all[0] > 1 && all[1] > 40 && class.streams.load(Relaxed), "{all:?}");
    }

    #[test]
    fn a_clock_that_goes_back_says_nothing() {
        // SAFETY: all zeros are an empty ring.
        let ring: Box<Ring> = unsafe { Box::new(std::mem::zeroed()) };
        let stores = Stores::default();
        let mut asked = 0;
        for number in 0..200 {
            let style = stores.choose(number, 5000, std::iter::once(&*ring));
            if style.timed {
                stores.add(if number % 3 == 0 { u64::MAX } else { 1000 });
                ring.set_time(number, told(if number % 3 == 1 { u64::MAX } else { 1000 }));
                asked += 1;
            }
        }
        let times = stores.classes[class_of(5000)].times.each_ref().map(|time| time.load(Relaxed));
        let expected = whole(2000.0 * f64::from(1 << 20) / 5000.0);
        assert!(asked > 10 && times.iter().all(|&time| time == 0 || u64::from(time) == expected), "{asked} {times:?}");
    }

    #[test]
    fn a_word_holds_bytes_and_style() {
        let streams = Style { streams: true, timed: false };
        assert_eq!([streams, Style::ORDINARY].map(|style| chunk(style.chunk(131_072))), [(131_072, true), (131_072, false)]);
    }

    #[test]
    fn lengths_are_told_apart() {
        assert!(class_of(4096) == class_of(8191) && class_of(4096) != class_of(8192));
        assert!(class_of(1) == 0 && class_of(1 << 40) == CLASSES - 1);
    }
}
