//! The event loop: processors, ports and waiting messages of all processes.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::matching::Matched;
use super::result::Options;
use crate::model::Loggp;
use crate::topology::neighborhood::Rank;
use crate::util::cast::to_u32;

/// In `Simulation::left`: the round is complete.
const DONE: u32 = u32::MAX;

/// The activities of message `m` are numbered `4 m + SEND_OVERHEAD` and on.
pub(super) const SEND_OVERHEAD: u32 = 0;
pub(super) const OUT_PORT: u32 = 1;
pub(super) const IN_PORT: u32 = 2;
pub(super) const RECEIVE_OVERHEAD: u32 = 3;

/// The sender's processor has been given the message.
const BEGUN: u8 = 1;
/// The receive has been posted.
const POSTED: u8 = 2;
/// The message passes the out-port, or has passed it.
const LEFT: u8 = 4;
/// The message passes the in-port, or has passed it.
const PASSED: u8 = 8;
/// The message has arrived.
const ARRIVED: u8 = 16;
/// The message waits for its sender's out-port.
const WAITS_OUT: u8 = 32;
/// The message waits for its target's in-port.
const WAITS_IN: u8 = 64;
/// The first `Event::Take` of the message has been queued.
const CALLED: u8 = 128;

/// Events at the same time are processed in this order, and by number within a variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A message has arrived.
    Arrived(u32),
    /// A round of a process is complete.
    Done(Rank, u32),
    /// The last of a round's sends has left.
    Left(u32),
    /// A process checks what is complete, and starts what may start then.
    Progress(u32),
    /// A port with waiting messages is free.
    Free(u32),
    /// A message takes the ports that it needs, if they are free. The first number is the time
    /// since when it waits, as bits, so that the longest waiting comes first.
    Take(u64, u32),
}

/// Messages waiting for a port, with the bits of the time since when: ascending, in the order in
/// which they get the port.
type Line = VecDeque<(u64, u32)>;

struct Port {
    /// Time from which the port is free.
    free: f64,
    /// True if its next `Event::Free` is queued.
    wakes: bool,
    waiting: Line,
}

pub(super) struct State {
    /// First incomplete round.
    current: u32,
    /// First round whose receives are not posted.
    posted: u32,
    /// First round whose sends have not started.
    begun: u32,
    /// Rounds with started sends whose last bytes have not all left, if the window makes that
    /// matter.
    sending: u32,
    /// First message that has not left.
    head: u32,
    /// Time from which the next message may leave.
    rested: f64,
    /// Time from which the processor is free.
    free: f64,
    /// Time at which the last round was complete.
    pub(super) finish: f64,
}

pub(super) struct Simulation<'a> {
    pub(super) world: &'a Matched,
    pub(super) params: &'a Loggp,
    pub(super) options: &'a Options,
    /// Time that the bytes of each message take at a port.
    transfers: Vec<f64>,
    /// Time that each message spends in the network.
    pub(super) latencies: Vec<f64>,
    /// By time: the bits of nonnegative numbers have the same order as the numbers.
    events: BinaryHeap<Reverse<(u64, Event)>>,
    /// An event at the current time that precedes all others.
    next: Option<Event>,
    now: f64,
    /// For each activity, when it began. Until a message leaves, the entry of its out-port is the
    /// time since when it waits.
    pub(super) begin: Vec<f64>,
    flags: Vec<u8>,
    /// For each round, the number of operations whose completion time is not yet known; `DONE` when
    /// the round is complete.
    left: Vec<u32>,
    /// For each round, the number of sends that have not left.
    unsent: Vec<u32>,
    /// For each round, the latest known completion time.
    done: Vec<f64>,
    pub(super) states: Vec<State>,
    /// The out-port of process `p` is `2 p`, its in-port `2 p + 1`; in half duplex both are `2 p`.
    ports: Vec<Port>,
}

impl<'a> Simulation<'a> {
    pub(super) fn new(
        world: &'a Matched,
        params: &'a Loggp,
        options: &'a Options,
        transfers: Vec<f64>,
        latencies: Vec<f64>,
    ) -> Self {
        let processes = world.rounds.len() - 1;
        let mut left = vec![0; world.needs.len()];
        let mut unsent = left.clone();
        for m in &world.messages {
            unsent[m.send_round as usize] += 1;
            left[m.send_round as usize] += 1;
            left[m.recv_round as usize] += 1;
        }
        left.iter_mut().filter(|left| **left == 0).for_each(|left| *left = DONE);
        let state = |p: usize| {
            let first = world.rounds[p];
            State {
                current: first,
                posted: first,
                begun: first,
                sending: 0,
                head: world.sends[first as usize],
                rested: 0.0,
                free: 0.0,
                finish: 0.0,
            }
        };
        let port = |_| Port { free: 0.0, wakes: false, waiting: Line::new() };
        Simulation {
            world,
            params,
            options,
            transfers,
            latencies,
            events: BinaryHeap::new(),
            next: None,
            now: 0.0,
            begin: vec![0.0; 4 * world.messages.len()],
            flags: vec![0; world.messages.len()],
            done: vec![0.0; left.len()],
            left,
            unsent,
            states: (0..processes).map(state).collect(),
            ports: (0..2 * processes).map(port).collect(),
        }
    }

    pub(super) fn run(&mut self) {
        for p in 0..self.states.len() {
            self.at(0.0, Event::Progress(to_u32(p)));
        }
        loop {
            let event = match self.next.take() {
                Some(event) => event,
                None => {
                    let Some(Reverse((time, event))) = self.events.pop() else { break };
                    debug_assert!(f64::from_bits(time) >= self.now);
                    self.now = f64::from_bits(time);
                    event
                }
            };
            self.happen(event);
        }
        // Deadlock is impossible: a process that waits in the earliest round of all waits only for
        // messages whose sender and target have both reached that round, and one of these can move.
        let stuck = (self.states.iter().enumerate()).find(|(p, s)| s.current < self.world.rounds[p + 1]);
        assert!(stuck.is_none(), "process {} waits for ever", stuck.map_or(0, |s| s.0));
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Arrived(m) => {
                self.flags[m as usize] |= ARRIVED;
                if self.flags[m as usize] & POSTED != 0 {
                    self.receive(m);
                }
            }
            Event::Done(p, round) => {
                self.left[round as usize] = DONE;
                self.at(self.now, Event::Progress(p));
            }
            Event::Left(m) => {
                let p = self.world.messages[m as usize].source;
                self.states[p as usize].sending -= 1;
                self.at(self.now, Event::Progress(p));
            }
            Event::Progress(p) => self.progress(p as usize),
            Event::Free(port) => {
                self.ports[port as usize].wakes = false;
                if let Some(&(since, m)) = self.ports[port as usize].waiting.front() {
                    self.at(self.now, Event::Take(since, m));
                }
            }
            Event::Take(since, m) => self.take(since, m),
        }
    }

    fn at(&mut self, time: f64, event: Event) {
        let mut event = event;
        if time == self.now {
            match self.next {
                Some(next) if event < next => {
                    self.next = Some(event);
                    event = next;
                }
                None if self.events.peek().is_none_or(|first| (time.to_bits(), event) < first.0) => {
                    self.next = Some(event);
                    return;
                }
                _ => {}
            }
        }
        self.events.push(Reverse((time.to_bits(), event)));
    }

    /// Records the completion time of an operation of a round of `p`.
    fn complete(&mut self, p: Rank, round: u32, time: f64) {
        let done = &mut self.done[round as usize];
        *done = done.max(time);
        let last = *done;
        self.left[round as usize] -= 1;
        if self.left[round as usize] == 0 {
            self.at(last, Event::Done(p, round));
        }
    }

    /// Skips completed rounds, and starts what may start then.
    fn progress(&mut self, p: usize) {
        let world = self.world;
        let state = &mut self.states[p];
        let end = world.rounds[p + 1];
        while state.current < end && self.left[state.current as usize] == DONE {
            state.current += 1;
        }
        // nothing follows the completion of the last round
        if state.current == end {
            state.finish = self.now;
        }
        let (current, window) = (state.current, self.options.window);
        loop {
            let State { begun: round, sending, .. } = self.states[p];
            let ahead = if window == 1 { current + 1 } else { round.saturating_add(window) };
            while self.states[p].posted < ahead.min(end) {
                self.post(self.states[p].posted);
                self.states[p].posted += 1;
            }
            let may_begin = |round: u32| {
                if window == 1 { round <= current } else { sending < window && current >= world.needs[round as usize] }
            };
            if round == end || !may_begin(round) {
                break;
            }
            for m in world.sends_of(round) {
                self.flags[m as usize] |= BEGUN;
                self.work(p, m, SEND_OVERHEAD);
            }
            self.states[p].sending += u32::from(window > 1 && self.unsent[round as usize] > 0);
            self.states[p].begun += 1;
            self.advance(p);
        }
    }

    /// Gives the processor of `p` work for a message, and returns when it is done.
    fn work(&mut self, p: usize, m: u32, activity: u32) -> f64 {
        let begin = self.states[p].free.max(self.now);
        let node = 4 * m + activity;
        let end = begin + self.works(node);
        self.states[p].free = end;
        self.begin[node as usize] = begin;
        end
    }

    /// Time that a processor works for a message at one of its ends.
    fn works(&self, node: u32) -> f64 {
        let copied = self.world.messages[node as usize / 4].copied[usize::from(node % 4 == RECEIVE_OVERHEAD)];
        self.params.overhead + copied as f64 * self.options.copy
    }

    /// Posts the receives of a round, all at once: the processor handles messages that have already
    /// arrived in their order of arrival.
    fn post(&mut self, round: u32) {
        let world = self.world;
        let mut arrived: Vec<(u64, u32)> = Vec::new();
        for &m in world.recvs_of(round) {
            let message = &world.messages[m as usize];
            self.flags[m as usize] |= POSTED;
            if self.flags[m as usize] & ARRIVED != 0 {
                arrived.push(((self.end_of(4 * m + IN_PORT) + self.latencies[m as usize]).to_bits(), m));
            } else if message.bytes > self.params.eager && self.states[message.source as usize].head == m {
                self.advance(message.source as usize);
            }
        }
        arrived.sort_unstable();
        arrived.into_iter().for_each(|(_, m)| self.receive(m));
    }

    fn receive(&mut self, m: u32) {
        let message = &self.world.messages[m as usize];
        let time = self.work(message.target as usize, m, RECEIVE_OVERHEAD);
        self.complete(message.target, message.recv_round, time);
    }

    fn out_port(&self, m: u32) -> usize {
        2 * self.world.messages[m as usize].source as usize
    }

    fn in_port(&self, m: u32) -> usize {
        2 * self.world.messages[m as usize].target as usize + usize::from(!self.options.half_duplex)
    }

    /// Queues the first waiting message of a process for the time from which only ports can delay
    /// it, if that time is known.
    fn advance(&mut self, p: usize) {
        let world = self.world;
        let behind = world.sends[world.rounds[p + 1] as usize];
        let m = self.states[p].head;
        if m == behind {
            return;
        }
        let flags = self.flags[m as usize];
        let wanted = world.messages[m as usize].bytes <= self.params.eager || flags & POSTED != 0;
        if flags & (BEGUN | CALLED) != BEGUN || !wanted {
            return;
        }
        let since = self.now.max(self.states[p].rested).max(self.end_of(4 * m + SEND_OVERHEAD));
        self.flags[m as usize] |= CALLED;
        self.begin[(4 * m + OUT_PORT) as usize] = since;
        self.at(since, Event::Take(since.to_bits(), m));
    }

    /// Gives a message the ports that it needs, or lets it wait for those that are not free.
    fn take(&mut self, since: u64, m: u32) {
        let flags = self.flags[m as usize];
        // called by both of its ports, or already gone on
        if flags & PASSED != 0 || self.begin[(4 * m + OUT_PORT) as usize].to_bits() != since {
            return;
        }
        let leaves = flags & LEFT == 0;
        let eager = self.world.messages[m as usize].bytes <= self.params.eager;
        let needs = [(self.out_port(m), leaves), (self.in_port(m), !leaves || !eager)];
        let is_free = |s: &Self, port: usize| s.ports[port].free <= s.now;
        if needs.iter().all(|&(port, needed)| !needed || is_free(self, port)) {
            return if leaves { self.leave(m, since, eager) } else { self.pass(m, since) };
        }
        for (i, (port, _)) in needs.into_iter().enumerate().filter(|n| n.1.1) {
            if !is_free(self, port) {
                self.wait(port, since, m, [WAITS_OUT, WAITS_IN][i]);
            } else if flags & [WAITS_OUT, WAITS_IN][i] != 0 {
                // it cannot use this port yet: offer the port to the next one
                let line = &self.ports[port].waiting;
                let behind = line.partition_point(|&waiting| waiting <= (since, m));
                if let Some(&(since, next)) = line.get(behind) {
                    self.at(self.now, Event::Take(since, next));
                }
            }
        }
    }

    fn wait(&mut self, port: usize, since: u64, m: u32, flag: u8) {
        if self.flags[m as usize] & flag == 0 {
            self.flags[m as usize] |= flag;
            let line = &mut self.ports[port].waiting;
            let place = line.iter().rposition(|&waiting| waiting < (since, m)).map_or(0, |i| i + 1);
            line.insert(place, (since, m));
        }
        self.wake(port);
    }

    fn no_longer_waits(&mut self, port: usize, since: u64, m: u32, flag: u8) {
        if self.flags[m as usize] & flag != 0 {
            let line = &mut self.ports[port].waiting;
            if let Ok(place) = line.binary_search(&(since, m)) {
                line.remove(place);
            }
        }
    }

    /// Queues the event that a port with waiting messages becomes free.
    fn wake(&mut self, port: usize) {
        let p = &mut self.ports[port];
        if !p.wakes && !p.waiting.is_empty() {
            p.wakes = true;
            let free = p.free;
            self.at(free, Event::Free(to_u32(port)));
        }
    }

    /// Sends the first message of a process. Its ports are free.
    fn leave(&mut self, m: u32, since: u64, eager: bool) {
        let (out, into) = (self.out_port(m), self.in_port(m));
        let message = &self.world.messages[m as usize];
        self.no_longer_waits(out, since, m, WAITS_OUT);
        self.no_longer_waits(into, since, m, WAITS_IN);
        self.begin[(4 * m + OUT_PORT) as usize] = self.now;
        self.flags[m as usize] |= LEFT;
        let takes = self.transfers[m as usize];
        let state = &mut self.states[message.source as usize];
        state.head += 1;
        state.rested = self.now + takes + self.params.gap;
        let unsent = &mut self.unsent[message.send_round as usize];
        *unsent -= 1;
        if self.options.window > 1 && *unsent == 0 {
            self.at(self.now + takes, Event::Left(m));
        }
        self.occupy(out, takes);
        self.complete(message.source, message.send_round, self.now + takes);
        if eager {
            self.at(self.now, Event::Take(self.now.to_bits(), m));
        } else {
            self.pass(m, self.now.to_bits());
        }
        self.advance(message.source as usize);
    }

    /// Passes a message through its target's in-port, which is free.
    fn pass(&mut self, m: u32, since: u64) {
        let (into, takes) = (self.in_port(m), self.transfers[m as usize]);
        self.no_longer_waits(into, since, m, WAITS_IN);
        self.flags[m as usize] |= PASSED;
        self.begin[(4 * m + IN_PORT) as usize] = self.now;
        self.occupy(into, takes);
        self.at(self.now + takes + self.latencies[m as usize], Event::Arrived(m));
    }

    fn occupy(&mut self, port: usize, takes: f64) {
        self.ports[port].free = self.now + takes + self.params.gap;
        self.wake(port);
    }

    /// Time at which an activity ended.
    pub(super) fn end_of(&self, node: u32) -> f64 {
        self.begin[node as usize]
            + match node % 4 {
                OUT_PORT | IN_PORT => self.transfers[node as usize / 4],
                _ => self.works(node),
            }
    }
}
