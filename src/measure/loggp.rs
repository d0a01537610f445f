//! The LogGP parameters of the machine: measured between two processes, and kept on a communicator
//! for its later calls.
//!
//! # The measurement
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

use crate::error::{Error, Result};
use crate::model::fit::{Measurement, Parameters, SEVERAL, Sample, Samples, median, sizes};
use crate::mpi::Communicator;
use crate::mpi::attribute::Key;
use crate::mpi::coll::{self, Reduction, share_outcome};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::peer::{Peer, idle_barrier, now};
use crate::select::hints::Measuring;
use crate::util::cast::{to_u32, to_usize};

/// Tags on the communicator of the measurement.
const COMMAND: i32 = 1;
const READY: i32 = 2;
const MESSAGE: i32 = 3;

/// How often the search for the eager limit tries a size before it concludes that a send does not
/// complete on its own, and how long it waits each time, in microseconds.
const ASKED: u32 = 3;
const PATIENCE: f64 = 2000.0;
/// Repetitions of a measurement beyond which more add nothing.
const ENOUGH: usize = 2000;

static PARAMETERS: Key<Parameters> = Key::new();

/// Returns the parameters that were set on a communicator. Local.
pub fn known(comm: Communicator) -> Result<Option<Parameters>> {
    // SAFETY: the value is copied before anyone can replace it.
    Ok(unsafe { PARAMETERS.get(comm)?.as_ref() }.copied())
}

/// Sets the parameters of a communicator, which must be the same on all processes. Collective over
/// `comm`: a process whose arguments are invalid passes its error.
///
/// # Errors
/// The arguments of a process are invalid, or the parameters differ. Then nothing is changed on any
/// process.
pub fn hang(comm: Communicator, parameters: Result<Parameters>) -> Result<()> {
    let private = Comm::duplicate(comm)?;
    let parameters = share_outcome(&private, parameters)?;
    let words = parameters_to_words(&parameters);
    let other: [u64; WORDS] = words.map(|w| !w);
    let (lowest, highest) =
        (coll::allreduce(&private, words, Reduction::Min)?, coll::allreduce(&private, other, Reduction::Min)?);
    if lowest != highest.map(|w| !w) {
        return Err(Error::Disagreement { what: "parameters" }.into());
    }
    // SAFETY: `known` returns no reference.
    unsafe { PARAMETERS.set(comm, parameters) }
}

const WORDS: usize = 8;

fn parameters_to_words(p: &Parameters) -> [u64; WORDS] {
    let m = &p.loggp;
    let [latency, overhead, gap, per_byte] = [m.latency, m.overhead, m.gap, m.gap_per_byte].map(f64::to_bits);
    let [send, recv, deviation] = [p.send_overhead, p.recv_overhead, p.deviation].map(f64::to_bits);
    [latency, overhead, gap, per_byte, m.eager, send, recv, deviation]
}

fn parameters_from_words(words: [u64; WORDS]) -> Parameters {
    let cost = |i: usize| f64::from_bits(words[i]);
    let loggp = crate::model::Loggp { latency: cost(0), overhead: cost(1), gap: cost(2), gap_per_byte: cost(3), eager: words[4] };
    Parameters { loggp, send_overhead: cost(5), recv_overhead: cost(6), deviation: cost(7) }
}

/// The result of a measurement.
#[derive(Debug, Clone)]
pub struct Found {
    /// The parameters; the same on all processes.
    pub parameters: Parameters,
    /// The process that process 0 exchanged messages with.
    pub peer: u32,
    /// True if that process is on a different node than process 0.
    pub other_node: bool,
    /// All measured times. Only on process 0.
    pub measurement: Option<Measurement>,
}

/// Measures the parameters. Collective; the options of process 0 apply. `progress` is called on
/// process 0 with the fraction that is done.
///
/// Takes `options.seconds`, but at least as long as one repetition of everything. Memory: twice the
/// longest message, on two processes.
///
/// # Errors
/// There is only one process, or too little memory; reported on all processes.
pub fn measure(comm: &Comm, options: Measuring, mut progress: impl FnMut(f64)) -> Result<Found> {
    let (me, size) = (comm.rank()?, comm.size()?);
    if size < 2 {
        return Err(Error::Alone.into());
    }
    let (peer, other_node) = choose_peer(comm, me)?;
    let mut longest = options.longest.to_le_bytes();
    coll::broadcast(comm, &mut longest, 0)?;
    let options = Measuring { longest: u32::from_le_bytes(longest), ..options };
    let other = match me {
        0 => Some(Peer { comm, rank: peer }),
        _ if me == peer => Some(Peer { comm, rank: 0 }),
        _ => None,
    };
    let buffers = share_outcome(comm, Buffers::new(if other.is_some() { options.longest as usize } else { 0 }))?;
    let outcome = match other {
        Some(peer) if me == 0 => {
            let mut client = Client { peer, buffers, longest: options.longest.into(), clock: clock() };
            let measured = client.run(options.seconds * 1e6, &mut progress);
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
    let mut bytes = [0; 8 * WORDS];
    if let Some(m) = &measurement {
        for (to, from) in bytes.chunks_exact_mut(8).zip(parameters_to_words(&m.parameters)) {
            to.copy_from_slice(&from.to_le_bytes());
        }
    }
    coll::broadcast(comm, &mut bytes, 0)?;
    let word = |i: usize| u64::from_le_bytes(std::array::from_fn(|k| bytes[8 * i + k]));
    Ok(Found { parameters: parameters_from_words(std::array::from_fn(word)), peer, other_node, measurement })
}

/// Separate buffers for sending and receiving. A shared buffer would move from one core's cache to
/// the other's and back, so that its bytes take longer than those of a message that follows another
/// one.
struct Buffers {
    send: Vec<u8>,
    recv: Vec<u8>,
}

impl Buffers {
    /// Allocates buffers and writes to them: pages that were never written share one page of zeroes
    /// and are faster to read.
    fn new(bytes: usize) -> Result<Buffers> {
        let written = || {
            let mut buffer = Vec::new();
            buffer.try_reserve_exact(bytes).map_err(|_| Error::NoMemory { bytes })?;
            buffer.resize(bytes, 1);
            Result::Ok(buffer)
        };
        Ok(Buffers { send: written()?, recv: written()? })
    }
}

/// Returns the first process on a different node than process 0, or process 1 if there is none, and
/// true if it is on a different node. Collective.
fn choose_peer(comm: &Comm, me: u32) -> Result<(u32, bool)> {
    let node = comm.node()?;
    let mut first = me.to_le_bytes();
    coll::broadcast(&node, &mut first, 0)?;
    let elsewhere = if u32::from_le_bytes(first) == 0 { u64::MAX } else { me.into() };
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
    fn completes_alone(&mut self, bytes: u64) -> Result<bool> {
        for _ in 0..ASKED {
            self.command(Command::Unexpected { bytes: to_u32(bytes) })?;
            let message = &self.buffers.send[..to_usize(bytes)];
            if self.peer.completes(message, MESSAGE, PATIENCE, || self.peer.send(&[], READY))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the length of the longest message that is sent without waiting for its receiver;
    /// `u64::MAX` if even the longest one tried is.
    fn eager(&mut self) -> Result<u64> {
        if self.completes_alone(self.longest)? {
            return Ok(u64::MAX);
        }
        let (mut eager, mut rendezvous) = (0, self.longest);
        while eager + 1 < rendezvous {
            let middle = eager + (rendezvous - eager) / 2;
            if self.completes_alone(middle)? {
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
        let eager = self.eager()?;
        warm.clear();
        self.round_trips(1, 1, &mut warm, 100)?;
        // long enough for a message to arrive and be answered
        let d = 2.0 * median(warm).unwrap_or(0.0).max(1.0);
        let sizes = sizes(eager, self.longest);
        let mut trips: Vec<(u64, u32, Vec<f64>)> =
            sizes.iter().flat_map(|&s| [1, SEVERAL].map(|messages| (s, messages, Vec::new()))).collect();
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
        let round_trips: Vec<Sample> = (trips.into_iter())
            .filter_map(|(bytes, messages, times)| Some(Sample { bytes, messages, time: median(times)? }))
            .collect();
        let one = round_trips.iter().find(|s| (s.bytes, s.messages) == (1, 1)).map_or(0.0, |s| s.time);
        let send_overhead = (median(delayed).unwrap_or(0.0) - one) / f64::from(SEVERAL - 1);
        let samples = Samples { round_trips, send_overhead, recv_overhead: median(late).unwrap_or(0.0), eager };
        samples.evaluate().ok_or_else(|| Error::Internal("the sizes measured are too few for a line".into()).into())
    }
}
