//! Measures the LogGP parameters of the machine between two processes: thoroughly, in seconds, or
//! in a few tens of milliseconds.
//!
//! Process 0 exchanges messages with the first process on another node, or with process 1 if there
//! is only one node; the others sleep. All times are medians of as many repetitions as the time
//! allows. Repetitions rotate through all sizes, so that a period in which the machine is busy
//! affects all of them a little and none alone.
//!
//! - Round trips `PRTT(n, d, s)`: `n` messages of `s` bytes with a delay `d` between them, answered
//!   by one of `s` bytes. [`crate::model::fit`] derives L, g and G from those without delay.
//! - o_s = (PRTT(n, d, 1) - PRTT(1, 0, 1)) / (n - 1) - d, with a delay long enough for each message
//!   to find the network idle.
//! - o_r: the duration of receiving a byte that arrived earlier.
//! - The eager limit: the longest message whose send completes while its receiver waits for a
//!   different one, found by bisection. The send of a longer message waits for its receive. This
//!   tests what MPI does, not how long it takes, so that a busy machine yields the same result.
//!
//! Source: Hoefler, Lichei, Rehm: Low-Overhead LogGP Parameter Assessment for Modern
//! Interconnection Networks, 2007. o_r as in Culler, Liu, Martin, Yoshikawa: Assessing Fast Network
//! Interfaces, 1996.

use super::buffer::Buffers;
use super::share;
use crate::error::{Error, Result};
use crate::model::Loggp;
use crate::model::fit::{Measurement, Parameters, SEVERAL, Sample, Samples, median, sizes};
use crate::mpi::coll::{self, Reduction, idle_barrier, share_outcome};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::peer::{Peer, now};
use crate::select::hints::Measuring;
use crate::shm::node;
use crate::util::cast::{to_u32, to_usize, whole};

/// Tags on the communicator of the measurement.
const COMMAND: i32 = 1;
const READY: i32 = 2;
const MESSAGE: i32 = 3;

/// Repetitions of a measurement beyond which more add nothing.
const ENOUGH: usize = 2000;

/// How the eager limit is searched for.
#[derive(Debug, Clone, Copy)]
struct Search {
    /// How often a size is tried before the search concludes that a send does not complete on its
    /// own, and how long it waits each time, in microseconds.
    tries: u32,
    patience: f64,
    /// True to find the limit to the byte; else within a half of it.
    exact: bool,
}

/// Constants of the brief measurement; times in microseconds. On a network with 25 MB/s it takes 60
/// ms, on a faster one less.
mod brief {
    /// The longest message.
    pub const LONGEST: u32 = 1 << 18;
    /// Round trips longer than this are long enough to tell the time per byte.
    pub const LONG_TRIP: f64 = 1000.0;
    /// Time for round trips of one byte and overheads, and for the bytes of long messages.
    pub const SMALL: f64 = 8000.0;
    pub const BULK: f64 = 25_000.0;
    /// Lengths of the longest message that the first pass over the long sizes sends in all, there
    /// and back.
    pub const VOLUME: f64 = 42.0;
    /// Passes over the long sizes beyond which more add nothing.
    pub const PASSES: usize = 8;
}

/// The result of a measurement.
#[derive(Debug, Clone)]
pub struct Measured {
    /// The parameters; the same on all processes.
    pub parameters: Parameters,
    /// The process that process 0 exchanged messages with.
    pub peer: u32,
    /// True if that process is on a different node than process 0.
    pub other_node: bool,
    /// All measured times. Only on process 0.
    pub measurement: Option<Measurement>,
}

/// Measures the parameters thoroughly. Collective; the options of process 0 apply. `progress` is
/// called on process 0 with the fraction that is done.
///
/// Takes `options.seconds`, but at least as long as one repetition of everything. Memory: twice the
/// longest message, on two processes.
///
/// # Errors
/// There is only one process, or too little memory; reported on all processes.
pub fn measure(comm: &Comm, options: Measuring, mut progress: impl FnMut(f64)) -> Result<Measured> {
    if comm.size()? < 2 {
        return Err(Error::Alone.into());
    }
    let names = node::names(comm)?;
    let (peer, other_node) = peer(comm, names[comm.rank()? as usize])?;
    let mut longest = options.longest.to_le_bytes();
    coll::broadcast(comm, &mut longest, 0)?;
    let run = |client: &mut Client| client.run(options.seconds * 1e6, &mut progress);
    let (parameters, measurement) = between(comm, peer, &names, u32::from_le_bytes(longest), run)?;
    Ok(Measured { parameters, peer, other_node, measurement })
}

/// Measures the parameters in some tens of milliseconds, between process 0 and `peer`. Collective.
/// Memory: 512 KiB, on these two.
///
/// # Errors
/// Too little memory, or a process has ended; reported on all processes.
#[expect(clippy::redundant_closure_for_method_calls, reason = "the method serves one lifetime, the closure any")]
pub fn measure_briefly(comm: &Comm, peer: u32, names: &[u32]) -> Result<Parameters> {
    between(comm, peer, names, brief::LONGEST, |client| client.run_briefly()).map(|found| found.0)
}

/// Lets process 0 `run` a measurement with `peer`, and then all processes one of the links that
/// their nodes share; `names` are those of the processes' nodes. Returns the parameters, and on
/// process 0 all measured times. Collective.
fn between(
    comm: &Comm,
    peer: u32,
    names: &[u32],
    longest: u32,
    run: impl FnOnce(&mut Client) -> Result<Measurement>,
) -> Result<(Parameters, Option<Measurement>)> {
    let me = comm.rank()?;
    let other = match me {
        0 => Some(Peer { comm, rank: peer }),
        _ if me == peer => Some(Peer { comm, rank: 0 }),
        _ => None,
    };
    let buffers = share_outcome(comm, Buffers::new(if other.is_some() { longest as usize } else { 0 }))?;
    let outcome = match other {
        Some(peer) if me == 0 => {
            let mut client = Client { peer, buffers, longest: longest.into(), clock: clock() };
            let measured = run(&mut client);
            // the peer waits for this even after an error
            let done = client.command(Command::Stop).and(measured);
            if done.is_err() {
                // MPI may still be at work in the buffers
                std::mem::forget(client);
            }
            done.map(Some)
        }
        Some(peer) => {
            let mut buffers = buffers;
            let done = serve(peer, &mut buffers);
            if done.is_err() {
                std::mem::forget(buffers);
            }
            done.map(|()| None)
        }
        None => Ok(None),
    };
    idle_barrier(comm)?;
    let measurement = share_outcome(comm, outcome)?;
    let mut found = measurement.as_ref().map_or(Parameters::from(Loggp::default()), |m| m.parameters);
    if me == 0 {
        found.loggp.sharing.copy = Some(share::copy());
    }
    let mut parameters = Parameters::from_words(coll::broadcast_words(comm, found.words(), 0)?);
    parameters.loggp.sharing = share::measure(comm, names, &parameters.loggp)?;
    Ok((parameters, measurement))
}

/// Returns the first process on a different node than process 0, or process 1 if there is none, and
/// true if it is on a different node. `first` is the lowest rank of the caller's node. Collective:
/// one reduction.
pub fn peer(comm: &Comm, first: u32) -> Result<(u32, bool)> {
    let elsewhere = if first == 0 { i64::MAX } else { comm.rank()?.into() };
    let [peer] = coll::allreduce(comm, [elsewhere], Reduction::Min)?;
    Ok(u32::try_from(peer).map_or((1, false), |peer| (peer, true)))
}

/// A request of process 0 to its peer.
#[derive(Debug, Clone, Copy)]
enum Command {
    /// Round trips: receive `messages` messages of `bytes` bytes, then send one back.
    RoundTrips { repetitions: u32, messages: u32, bytes: u32 },
    /// Ping-pong: receive a message of one byte and send one back at once.
    Echo { repetitions: u32 },
    /// Receive a message of `bytes` bytes, but only after another message has arrived.
    Unexpected { bytes: u32 },
    /// End the measurement.
    Stop,
}

impl Command {
    const LENGTH: usize = 16;

    fn encode(self) -> [u8; Self::LENGTH] {
        let words = match self {
            Command::RoundTrips { repetitions, messages, bytes } => [0, repetitions, messages, bytes],
            Command::Echo { repetitions } => [1, repetitions, 0, 0],
            Command::Unexpected { bytes } => [2, 0, 0, bytes],
            Command::Stop => [3, 0, 0, 0],
        };
        let mut bytes = [0; Self::LENGTH];
        for (to, from) in bytes.chunks_exact_mut(4).zip(words) {
            to.copy_from_slice(&u32::to_le_bytes(from));
        }
        bytes
    }

    fn decode(bytes: [u8; Self::LENGTH]) -> Command {
        let word = |i: usize| u32::from_le_bytes(std::array::from_fn(|k| bytes[4 * i + k]));
        match word(0) {
            0 => Command::RoundTrips { repetitions: word(1), messages: word(2), bytes: word(3) },
            1 => Command::Echo { repetitions: word(1) },
            2 => Command::Unexpected { bytes: word(3) },
            _ => Command::Stop,
        }
    }
}

/// Serves the requests of process 0 until it ends the measurement.
fn serve(peer: Peer, buffers: &mut Buffers) -> Result<()> {
    let Buffers { send, recv } = buffers;
    loop {
        let mut command = [0; Command::LENGTH];
        peer.receive(&mut command, COMMAND)?;
        let command = Command::decode(command);
        peer.send(&[], READY)?;
        match command {
            Command::RoundTrips { repetitions, messages, bytes } => {
                let (message, room) = (&send[..bytes as usize], &mut recv[..bytes as usize]);
                for _ in 0..repetitions {
                    for _ in 0..messages {
                        peer.receive(room, MESSAGE)?;
                    }
                    peer.send(message, MESSAGE)?;
                }
            }
            Command::Echo { repetitions } => {
                for _ in 0..repetitions {
                    peer.receive(&mut recv[..1], MESSAGE)?;
                    peer.send(&send[..1], MESSAGE)?;
                }
            }
            Command::Unexpected { bytes } => {
                // While it waits for this, MPI may make progress, but nobody receives the message.
                peer.receive(&mut [], READY)?;
                peer.receive(&mut recv[..bytes as usize], MESSAGE)?;
            }
            Command::Stop => return Ok(()),
        }
    }
}

/// Measures how long reading the clock takes, in microseconds.
fn clock() -> f64 {
    const READINGS: usize = 200;
    let times = (0..READINGS).map(|_| {
        let begin = now();
        for _ in 0..READINGS {
            now();
        }
        (now() - begin) / (READINGS + 1) as f64
    });
    median(times.collect()).unwrap_or(0.0)
}

/// Busy-waits for some microseconds. Returns how many have really passed.
fn delay(microseconds: f64) -> f64 {
    let begin = now();
    loop {
        let passed = now() - begin;
        if passed >= microseconds {
            return passed;
        }
    }
}

/// Process 0, which drives the measurement.
struct Client<'a> {
    peer: Peer<'a>,
    buffers: Buffers,
    longest: u64,
    /// Microseconds that reading the clock takes.
    clock: f64,
}

impl Client<'_> {
    /// Sends a command to the peer and waits until it has received it.
    fn command(&mut self, command: Command) -> Result<()> {
        self.peer.send(&command.encode(), COMMAND)?;
        self.peer.receive(&mut [], READY)
    }

    /// Measures PRTT(n, 0, s) `repetitions` times, after one round trip to warm up.
    fn round_trips(&mut self, messages: u32, bytes: u64, times: &mut Vec<f64>, repetitions: u32) -> Result<()> {
        self.command(Command::RoundTrips { repetitions: repetitions + 1, messages, bytes: to_u32(bytes) })?;
        let (message, room) = (&self.buffers.send[..to_usize(bytes)], &mut self.buffers.recv[..to_usize(bytes)]);
        for repetition in 0..=repetitions {
            let begin = now();
            for _ in 0..messages {
                self.peer.send(message, MESSAGE)?;
            }
            self.peer.receive(room, MESSAGE)?;
            let time = now() - begin - self.clock;
            if repetition > 0 {
                times.push(time);
            }
        }
        Ok(())
    }

    /// Measures PRTT(n, d, 1) - (n - 1) d for n = `SEVERAL`, `repetitions` times.
    fn delayed(&mut self, d: f64, times: &mut Vec<f64>, repetitions: u32) -> Result<()> {
        self.command(Command::RoundTrips { repetitions, messages: SEVERAL, bytes: 1 })?;
        let (message, room) = (&self.buffers.send[..1], &mut self.buffers.recv[..1]);
        for _ in 0..repetitions {
            let begin = now();
            let mut delays = 0.0;
            self.peer.send(message, MESSAGE)?;
            for _ in 1..SEVERAL {
                // the delay includes half a clock reading before its first and after its last one
                delays += delay(d) + self.clock;
                self.peer.send(message, MESSAGE)?;
            }
            self.peer.receive(room, MESSAGE)?;
            times.push(now() - begin - self.clock - delays);
        }
        Ok(())
    }

    /// Measures how long it takes to receive a byte that arrived earlier, `repetitions` times.
    fn late_receives(&mut self, d: f64, times: &mut Vec<f64>, repetitions: u32) -> Result<()> {
        self.command(Command::Echo { repetitions })?;
        let (message, room) = (&self.buffers.send[..1], &mut self.buffers.recv[..1]);
        for _ in 0..repetitions {
            self.peer.send(message, MESSAGE)?;
            delay(d);
            let begin = now();
            self.peer.receive(room, MESSAGE)?;
            times.push(now() - begin - self.clock);
        }
        Ok(())
    }

    /// Returns true if the send of `bytes` bytes completes while its receiver waits for something
    /// else. Tries again before it returns false, since the receiver may merely have been late.
    fn completes_alone(&mut self, bytes: u64, search: Search) -> Result<bool> {
        for _ in 0..search.tries {
            self.command(Command::Unexpected { bytes: to_u32(bytes) })?;
            let message = &self.buffers.send[..to_usize(bytes)];
            if self.peer.completes(message, MESSAGE, search.patience, || self.peer.send(&[], READY))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the length of the longest message that is sent without waiting for its receiver;
    /// `u64::MAX` if even the longest one is.
    fn eager(&mut self, search: Search) -> Result<u64> {
        let (mut eager, mut rendezvous) = (0, self.longest);
        if !search.exact {
            // short messages first: on a slow network long ones take longer than anything else
            rendezvous = 1024;
            while rendezvous <= self.longest && self.completes_alone(rendezvous, search)? {
                (eager, rendezvous) = (rendezvous, 4 * rendezvous);
            }
            if eager == self.longest {
                return Ok(u64::MAX);
            }
        } else if self.completes_alone(self.longest, search)? {
            return Ok(u64::MAX);
        }
        while eager + if search.exact { 1 } else { (eager / 2).max(256) } < rendezvous {
            let middle = eager + (rendezvous - eager) / 2;
            if self.completes_alone(middle, search)? {
                eager = middle;
            } else {
                rendezvous = middle;
            }
        }
        Ok(eager)
    }

    /// Measures for `budget` microseconds.
    fn run(&mut self, budget: f64, progress: &mut impl FnMut(f64)) -> Result<Measurement> {
        let begin = now();
        let mut warm = Vec::new();
        self.round_trips(1, 1, &mut warm, 100)?;
        self.round_trips(1, self.longest, &mut Vec::new(), 1)?;
        let eager = self.eager(Search { tries: 3, patience: 2000.0, exact: true })?;
        warm.clear();
        self.round_trips(1, 1, &mut warm, 100)?;
        // long enough for a message to arrive and be answered
        let d = 2.0 * median(warm).unwrap_or(0.0).max(1.0);
        let sizes = sizes(eager, self.longest);
        let mut trips: Vec<Trips> = sizes.iter().flat_map(|&s| [1, SEVERAL].map(|messages| (s, messages, Vec::new()))).collect();
        let (mut delayed, mut late) = (Vec::new(), Vec::new());
        let steps = trips.len() as f64 + 1.0;
        loop {
            let first = late.is_empty();
            for (i, (bytes, messages, times)) in trips.iter_mut().enumerate() {
                let repetitions = if *bytes <= 8192 { 8 } else { 2 };
                self.round_trips(*messages, *bytes, times, repetitions)?;
                let done = (now() - begin) / budget;
                progress(if first { done.min(i as f64 / steps) } else { done.min(1.0) });
                if !first && done >= 1.0 {
                    break;
                }
            }
            self.delayed(d, &mut delayed, 8)?;
            self.late_receives(d, &mut late, 8)?;
            if now() - begin >= budget || late.len() >= ENOUGH {
                break;
            }
        }
        progress(1.0);
        evaluate(trips, delayed, late, eager, median)
    }

    /// Measures for some tens of milliseconds: fewer sizes, and these no longer than the network
    /// needs to tell its time per byte.
    fn run_briefly(&mut self) -> Result<Measurement> {
        let begin = now();
        let (mut one, mut one_of_several) = (Vec::new(), Vec::new());
        // the first messages also connect the processes
        self.round_trips(1, 1, &mut one, 1)?;
        one.clear();
        self.round_trips(1, 1, &mut one, 10)?;
        let trip = median(one.clone()).unwrap_or(0.0).max(1.0);
        let (mut probe, mut times) = (1024, Vec::new());
        let mut time = loop {
            times.clear();
            self.round_trips(1, probe, &mut times, 1)?;
            let time = times[0];
            if time >= brief::LONG_TRIP || 4 * probe > self.longest {
                break time;
            }
            probe *= 4;
        };
        if time >= brief::LONG_TRIP {
            // some of these bytes may have passed before the network held the sender to its rate
            self.round_trips(1, probe, &mut times, 1)?;
            time = time.max(times[times.len() - 1]);
        }
        let per_byte = (time - trip).max(0.0) / (2 * probe) as f64;
        let most = (brief::BULK / brief::VOLUME / per_byte).clamp(1024.0, self.longest as f64);
        let longest = whole(most) / 1024 * 1024;
        let eager = self.eager(Search { tries: 2, patience: (4.0 * trip).clamp(100.0, 1000.0), exact: false })?;

        let (mut delayed, mut late) = (Vec::new(), Vec::new());
        let small = now();
        loop {
            self.round_trips(1, 1, &mut one, 10)?;
            self.round_trips(SEVERAL, 1, &mut one_of_several, 4)?;
            self.delayed(2.0 * trip, &mut delayed, 2)?;
            self.late_receives(2.0 * trip, &mut late, 4)?;
            if now() - small >= brief::SMALL || late.len() >= ENOUGH {
                break;
            }
        }
        let mut trips = vec![(1, 1, one), (1, SEVERAL, one_of_several)];
        // Long trains first, one after another: networks that forward some bytes at once, and then
        // hold a sender to its rate, have to show the rate.
        let mut sizes = vec![longest, longest / 4, 1024.min(eager)];
        sizes.dedup();
        let pairs = sizes.iter().filter(|&&bytes| bytes > 1).flat_map(|&bytes| [SEVERAL, 1].map(|n| (bytes, n, Vec::new())));
        let mut long: Vec<Trips> = pairs.collect();
        let bulk = now();
        for pass in 0..brief::PASSES {
            for (bytes, messages, times) in &mut long {
                self.round_trips(*messages, *bytes, times, 2)?;
            }
            // one more pass would take too long
            if now() - bulk >= brief::BULK * (pass + 1) as f64 / (pass + 2) as f64 {
                break;
            }
        }
        trips.append(&mut long);
        log::debug!("LogGP parameters measured in {:.1} ms with messages of up to {longest} bytes", (now() - begin) / 1e3);
        // other programs only make times longer, and may meet most of so few
        evaluate(trips, delayed, late, eager, least)
    }
}

/// The least of some times; `None` if there are none.
fn least(times: Vec<f64>) -> Option<f64> {
    times.into_iter().reduce(f64::min)
}

/// Times of round trips: bytes of a message, messages, and microseconds.
type Trips = (u64, u32, Vec<f64>);

/// Fits the parameters to measured times, of which `typical` picks those that count.
fn evaluate(
    trips: Vec<Trips>,
    delayed: Vec<f64>,
    late: Vec<f64>,
    eager: u64,
    typical: fn(Vec<f64>) -> Option<f64>,
) -> Result<Measurement> {
    let round_trips: Vec<Sample> = (trips.into_iter())
        .filter_map(|(bytes, messages, times)| Some(Sample { bytes, messages, time: typical(times)? }))
        .collect();
    let one = round_trips.iter().find(|s| (s.bytes, s.messages) == (1, 1)).map_or(0.0, |s| s.time);
    let send_overhead = (typical(delayed).unwrap_or(0.0) - one) / f64::from(SEVERAL - 1);
    let samples = Samples { round_trips, send_overhead, recv_overhead: typical(late).unwrap_or(0.0), eager };
    samples.evaluate().ok_or_else(|| Error::Internal("the sizes measured are too few for a line".into()).into())
}
