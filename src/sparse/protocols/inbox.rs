//! Inbox in shared memory: each process has room that all others write to. A sender reserves room by a fetch-and-add at the receiver and writes its message
//! there; one barrier, also in shared memory, tells that all messages are there. No acknowledgements, no probes, no rounds. See `shm/double_buffer.rs` for why that is
//! safe from one exchange to the next.
//!
//! What is longer than [`INBOX_LONG`] bytes is announced there, and travels by MPI to where it is to lie. When an inbox is full, messages travel by MPI and are
//! counted, so that the receiver knows how many to probe for; those of one sender stay in their order, as none fits behind one that did not.
//!
//! Useful where all processes of the communicator share memory. Cost: for each message a fetch-and-add and two copies, and a compare-and-exchange for the barrier;
//! what is long as PCX. Memory: 2 times [`INBOX_ROOM`] bytes and a page for each process, of which only what was ever used is really there; nothing else that grows
//! with P. Source: the library's own; the barrier is a central counter.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::model::dsde::{INBOX_LONG, INBOX_ROOM};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::message::{self, Mode};
use crate::shm::double_buffer::{Barrier, Half, MOST_PROCESSES, Reservation, VALUE_BITS};
use crate::shm::segment::Segment;
use crate::sparse::mailbox::{Inbox, Outbox, Sends};
use crate::sparse::{Kind, STATS_BITS, Stats, Wires, lost, pcx, send_one};

const _: () = assert!(STATS_BITS <= VALUE_BITS, "the gate has room for what travels with an exchange");

/// What is everybody's: at the beginning of the part of process 0.
#[derive(Default)]
#[repr(C, align(128))]
struct Head {
    gate: Barrier,
    bell: Bell,
}

/// Wakes those that sleep until the gate opens.
#[derive(Default)]
#[repr(C, align(128))]
struct Bell {
    /// Rings; the word at which the kernel looks.
    rings: AtomicU32,
    asleep: AtomicU32,
}

/// Before each message.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(16))]
struct Header {
    source: u32,
    /// One of the below.
    what: u32,
    bytes: u64,
}

/// The message lies behind the header; it travels by MPI; there is nothing any more; there is room for a message that its sender could not send.
const MESSAGE: u32 = 0;
const ANNOUNCED: u32 = 1;
const END: u32 = 2;
const FAILED: u32 = 3;

/// Bytes of a half and its counters, in whole lines.
const HALF: usize = (size_of::<Half>() + INBOX_ROOM as usize).next_multiple_of(128);

const HEADER: u64 = size_of::<Header>() as u64;

/// Looks in vain between two entries into MPI: a process that others wait for may need this one there.
const ENTER: u32 = 64;

/// Looks in vain between two glances at the clock, and how long a process waits before it asks whether the others live.
const GLANCE: u32 = 256;
const PATIENCE: Duration = Duration::from_millis(100);

/// How long a process sleeps at the most: then it lets MPI move other messages.
const NAP: Duration = Duration::from_micros(500);

/// Memory that all processes of the communicator share.
struct Memory {
    segment: Segment,
    size: u32,
}

impl Memory {
    fn head(&self) -> &Head {
        // SAFETY: the part of process 0 begins with a head, of zeroes at first, which is all atomics, and lives as long as the segment.
        unsafe { &*self.segment.part(0).cast::<Head>() }
    }

    /// A half of a process.
    fn half(&self, process: u32, number: u64) -> &Half {
        // SAFETY: as above; the head's size is a multiple of a half's alignment, and so is that of what comes before the second half.
        unsafe { &*self.before(process, number).cast::<Half>() }
    }

    /// Where a half begins: its counters, and right behind them its room.
    #[inline]
    fn before(&self, process: u32, number: u64) -> *mut u8 {
        self.segment.part(process).wrapping_add(size_of::<Head>() + (number % 2) as usize * HALF)
    }

    /// A place in a half of a process.
    #[inline]
    fn at(&self, process: u32, number: u64, position: u64) -> *mut u8 {
        self.before(process, number).wrapping_add(size_of::<Half>() + position as usize)
    }

    fn gate(&self) -> &Barrier {
        &self.head().gate
    }

    fn bell(&self) -> &Bell {
        &self.head().bell
    }

    /// Writes a header.
    fn label(&self, process: u32, number: u64, position: u64, header: Header) {
        // SAFETY: the place is the caller's, who has reserved it, inside of a half; places are multiples of a header.
        unsafe { self.at(process, number, position).cast::<Header>().write(header) };
    }
}

/// The inboxes of a communicator.
pub struct Inboxes {
    memory: Arc<Memory>,
    /// Of the next exchange by this protocol.
    number: u64,
}

impl Inboxes {
    /// `None` where memory cannot be shared, and then on all processes. Collective over `comm`, all of whose processes are on one node.
    pub fn new(comm: &Comm, size: u32) -> Result<Option<Inboxes>> {
        if size > MOST_PROCESSES {
            return Ok(None);
        }
        let bytes = size_of::<Head>() + 2 * HALF;
        let segment = Segment::new(bytes, usize::MAX, comm)?;
        Ok(segment.map(|segment| Inboxes { memory: Arc::new(Memory { segment, size }), number: 0 }))
    }
}

/// The protocol at work.
pub struct Run {
    memory: Arc<Memory>,
    number: u64,
    /// Behind the gate: messages by MPI that are still to be found.
    missing: Option<u32>,
    outbox: Outbox,
    looks: u32,
    /// When this process last asked whether the others live.
    asked: Option<Instant>,
}

impl Run {
    /// Begins. Never waits: all that the others need of this process is there when it returns. A message that cannot be sent is an error at the end, here and at its
    /// target: nobody waits for it.
    ///
    /// # Safety
    /// As for `sparse::Run::start`.
    pub unsafe fn start(wires: &mut Wires, sends: &Sends) -> Result<Run> {
        let (rank, rest) = (wires.rank, wires.tag(Kind::Rest));
        let mine = Stats::of(sends, wires);
        let Some(inboxes) = wires.inboxes.as_mut() else { unreachable!("chosen where there are some") };
        let (memory, number) = (Arc::clone(&inboxes.memory), inboxes.number);
        inboxes.number += 1;
        let mut outbox = Outbox::default();
        for o in sends.list.iter().filter(|o| o.target != rank) {
            let long = o.bytes > INBOX_LONG || o.device;
            let room = HEADER + if long { 0 } else { o.bytes.next_multiple_of(HEADER) };
            let half = memory.half(o.target, number);
            let sent = match half.reserve(room, INBOX_ROOM) {
                Reservation::Room(at) => {
                    let sent = if long {
                        // SAFETY: the caller vouches for the block.
                        let sent = unsafe { message::send(Mode::Standard, &o.block, o.target, rest, &wires.comm) };
                        sent.map(|request| outbox.push(request))
                    } else {
                        // SAFETY: the caller vouches for the block; the place has been reserved, and nobody else writes there.
                        let packed = unsafe { o.pack(memory.at(o.target, number, at + HEADER), sends.dense, &wires.comm) };
                        packed.inspect(|()| wires.observed.iter().for_each(|observed| observed.in_memory(o.bytes)))
                    };
                    let what = if long { ANNOUNCED } else { MESSAGE };
                    let header = match sent {
                        Ok(()) => Header { source: rank, what, bytes: o.bytes },
                        // as long as the room
                        Err(_) => Header { source: rank, what: FAILED, bytes: room - HEADER },
                    };
                    memory.label(o.target, number, at, header);
                    sent
                }
                Reservation::Full { end } => {
                    if let Some(at) = end {
                        memory.label(o.target, number, at, Header { source: rank, what: END, bytes: 0 });
                    }
                    // SAFETY: the caller vouches for the block.
                    let told = unsafe { send_one(wires, o, Mode::Standard, &mut outbox) };
                    told.map(drop).inspect_err(|_| half.withdraw())
                }
            };
            if let Err(e) = sent {
                wires.loss.get_or_insert(e);
            }
        }
        let join = |a, b| Stats::from_word(a).max(Stats::from_word(b)).word();
        if memory.gate().arrive(number, mine.word(), join) == u64::from(memory.size) {
            memory.bell().ring();
        }
        Ok(Run { memory, number, missing: None, outbox, looks: 0, asked: None })
    }

    /// Goes on.
    ///
    /// # Safety
    /// As for `sparse::Run::progress`.
    #[inline]
    pub unsafe fn progress(&mut self, wires: &mut Wires, inbox: &mut Inbox) -> Result<bool> {
        if self.missing.is_none() {
            let Some(told) = self.memory.gate().open(self.number, self.memory.size) else {
                self.look_around(wires)?;
                return Ok(false);
            };
            wires.learn(Stats::from_word(told));
            self.missing = Some(self.take_out(wires, inbox)?);
        }
        let missing = self.missing.as_mut().expect("counted above");
        Ok(pcx::find(wires, missing, inbox)? & inbox.complete()? & self.outbox.complete()?)
    }

    /// Takes what has come out of the inbox; how many messages are to be probed for.
    fn take_out(&self, wires: &mut Wires, inbox: &mut Inbox) -> Result<u32> {
        let contents = self.memory.half(wires.rank, self.number).drain(INBOX_ROOM);
        let bytes = if contents.overflowed { self.end(wires.rank) } else { contents.bytes };
        if bytes > 0 {
            // all at once, with the headers: they keep messages aligned, and nothing that a process in error writes later changes a length that was checked
            let at = inbox.room(bytes)?;
            // SAFETY: so many bytes of the half have been written before the gate opened, as there is room for.
            unsafe { std::ptr::copy_nonoverlapping(self.memory.at(wires.rank, self.number, 0), at, bytes as usize) };
            let mut position = 0;
            while position < bytes {
                // SAFETY: a header inside of the copy, which is aligned as one.
                let header = unsafe { at.add(position as usize).cast::<Header>().read() };
                position += HEADER;
                if header.what == ANNOUNCED {
                    inbox.receive(header.source, header.bytes, wires.tag(Kind::Rest), &wires.comm)?;
                    continue;
                }
                assert!(header.bytes <= bytes - position, "a process has overwritten memory that it shares");
                if header.what == FAILED {
                    wires.loss.get_or_insert_with(|| lost(header.source));
                } else {
                    inbox.enter(header.source, at.wrapping_add(position as usize), header.bytes);
                }
                position += header.bytes.next_multiple_of(HEADER);
            }
        }
        Ok(contents.elsewhere as u32)
    }

    /// Where messages end in the half of this process, which has been full.
    #[cold]
    fn end(&self, rank: u32) -> u64 {
        let mut position = 0;
        while position < INBOX_ROOM {
            // SAFETY: a header inside of the half; the senders' reservations follow one another up to the one that did not fit.
            let header = unsafe { self.memory.at(rank, self.number, position).cast::<Header>().read() };
            match header.what {
                MESSAGE | FAILED => position += HEADER + header.bytes.min(INBOX_LONG).next_multiple_of(HEADER),
                ANNOUNCED => position += HEADER,
                _ => return position,
            }
        }
        INBOX_ROOM
    }

    /// The gate is closed. Lets MPI move other messages now and then, and asks whether the others live.
    fn look_around(&mut self, wires: &Wires) -> Result<()> {
        self.looks = self.looks.wrapping_add(1);
        if self.looks.is_multiple_of(ENTER) {
            // what it may find stays where it is
            message::probe(None, wires.tag(Kind::Data), false, &wires.comm)?;
        }
        if self.looks.is_multiple_of(GLANCE) {
            let now = Instant::now();
            if now.duration_since(*self.asked.get_or_insert(now)) > PATIENCE {
                self.asked = Some(now);
                self.look_for_dead(wires)?;
            }
        }
        Ok(())
    }

    /// An error if a process has ended or finalized MPI, and so will never arrive. Behind the gate the exchange itself looks for those that have ended.
    #[cold]
    fn look_for_dead(&self, wires: &Wires) -> Result<()> {
        let me = wires.rank;
        // a process does not see its own lock
        let dead = (0..self.memory.size).find(|&p| p != me && !self.memory.segment.lives(p));
        match dead {
            // one that has been through the gate may go
            Some(rank) if self.memory.gate().open(self.number, self.memory.size).is_none() => Err(wires.comm.lose(rank)),
            _ => Ok(()),
        }
    }

    /// Sleeps until the gate opens, at most [`NAP`]; not at all behind the gate. For a process that shares its core with those that it waits for.
    pub fn sleep(&self) {
        if self.missing.is_some() {
            return;
        }
        let bell = self.memory.bell();
        let heard = bell.rings.load(Ordering::Acquire);
        // several threads may wait
        bell.asleep.fetch_add(1, Ordering::Relaxed);
        // either this process sees the gate open, or who opens it sees that one sleeps
        fence(Ordering::SeqCst);
        if self.memory.gate().open(self.number, self.memory.size).is_none() {
            let nap = libc::timespec { tv_sec: 0, tv_nsec: NAP.as_nanos() as _ };
            // SAFETY: a word that stays, and a local.
            unsafe { libc::syscall(libc::SYS_futex, bell.rings.as_ptr(), libc::FUTEX_WAIT, heard, &raw const nap) };
        }
        bell.asleep.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Bell {
    /// Wakes all. The gate has been opened before.
    fn ring(&self) {
        fence(Ordering::SeqCst);
        if self.asleep.load(Ordering::Relaxed) != 0 {
            self.rings.fetch_add(1, Ordering::Release);
            // SAFETY: a word that stays; waking reads and writes nothing.
            unsafe { libc::syscall(libc::SYS_futex, self.rings.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
        }
    }
}
