//! The LogGP parameters of the machine: measuring them, and saying which ones count on a communicator.

use std::ffi::c_int;

use super::args::Results;
use super::boundary;
use crate::environment;
use crate::error::{Argument, Error, Result};
use crate::logging;
use crate::measure;
use crate::model::{Loggp, Parameters};
use crate::mpi::comm::{self, Owned};
use crate::mpi::{MPI_Comm, MPI_Count, MPI_Info, info};
use crate::select::hints::{Hints, Measuring};
use crate::sparse;

/// For `MPIX_Loggp.eager`: no message waits for its receiver.
pub const MPIX_LOGGP_UNLIMITED: c_int = -1;

/// LogGP parameters of a machine (Alexandrov, Ionescu, Schauser, Scheiman 1995). Times in microseconds.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct MPIX_Loggp {
    /// L: what a byte needs through the network.
    pub latency: f64,
    /// o_s: how long a process works for a message that it sends.
    pub send_overhead: f64,
    /// o_r: how long a process works for a message that it receives.
    pub recv_overhead: f64,
    /// g: the least time between two short messages of a process.
    pub gap: f64,
    /// G: time for each byte of a long message.
    pub gap_per_byte: f64,
    /// The longest message, in bytes, that leaves without its receiver; `MPIX_LOGGP_UNLIMITED`: all do.
    pub eager: MPI_Count,
    /// How far measured times are from what the parameters predict: median of |measured - predicted| / measured. 0 where nothing was measured.
    pub deviation: f64,
}

impl From<Parameters> for MPIX_Loggp {
    fn from(p: Parameters) -> MPIX_Loggp {
        MPIX_Loggp {
            latency: p.loggp.latency,
            send_overhead: p.send_overhead,
            recv_overhead: p.recv_overhead,
            gap: p.loggp.gap,
            gap_per_byte: p.loggp.gap_per_byte,
            eager: MPI_Count::try_from(p.loggp.eager).unwrap_or(MPIX_LOGGP_UNLIMITED.into()),
            deviation: p.deviation,
        }
    }
}

impl MPIX_Loggp {
    fn check(&self) -> Result<Parameters> {
        let wrong =
            |member: &str, value: String, wanted| Error::Parameter { argument: format!("parameters->{member}"), value, wanted };
        for (member, value) in [
            ("latency", self.latency),
            ("send_overhead", self.send_overhead),
            ("recv_overhead", self.recv_overhead),
            ("gap", self.gap),
            ("gap_per_byte", self.gap_per_byte),
            ("deviation", self.deviation),
        ] {
            if !value.is_finite() || value < 0.0 {
                return Err(wrong(member, value.to_string(), "a finite number of at least 0").into());
            }
        }
        let eager = match u64::try_from(self.eager) {
            Ok(bytes) => bytes,
            Err(_) if self.eager == MPI_Count::from(MPIX_LOGGP_UNLIMITED) => u64::MAX,
            Err(_) => return Err(wrong("eager", self.eager.to_string(), "a number of bytes or MPIX_LOGGP_UNLIMITED").into()),
        };
        let loggp = Loggp {
            latency: self.latency,
            // half each, before the sum: the largest numbers have a mean too
            overhead: self.send_overhead / 2.0 + self.recv_overhead / 2.0,
            gap: self.gap,
            gap_per_byte: self.gap_per_byte,
            eager,
        };
        Ok(Parameters { loggp, send_overhead: self.send_overhead, recv_overhead: self.recv_overhead, deviation: self.deviation })
    }
}

/// Measures the LogGP parameters of the machine, between process 0 and the first process on another node, or process 1 where all processes share a node.
///
/// - `info`: hints, or `MPI_INFO_NULL`; those of process 0 count. `mpix_loggp_seconds`: about how long to measure (0.01 to 3600, default 3);
///   `mpix_loggp_bytes`: the longest message (1024 to 1073741824, default 1048576). The environment variables `MPIX_LOGGP_SECONDS` and
///   `MPIX_LOGGP_BYTES` override them.
/// - `comm`: an intracommunicator of at least two processes. It is left as it was: `MPIX_Loggp_set` makes the parameters count on it.
/// - `parameters`: where the parameters are written, the same on all processes. latency is half a round trip of a byte without both overheads, or 0 if these
///   are more, which they may be in shared memory; gap is that of short messages, gap_per_byte that of messages above eager. docs/tuning.md tells
///   how each is measured.
///
/// Collective over `comm`. The other processes sleep meanwhile. Best without any: with a process more than there are cores, some MPIs' waiting processes
/// take the time from those that are measured. Errors, reported on all processes: `MPI_ERR_COMM` (one process, or an intercommunicator),
/// `MPI_ERR_ARG`, `MPI_ERR_INFO_VALUE`, `MPI_ERR_NO_MEM`. Cost: as long as said, or as one repetition of everything takes; memory on two processes for a
/// message of the longest size. Source: Hoefler, Lichei, Rehm: Low-Overhead LogGP Parameter Assessment for Modern Interconnection Networks, 2007.
///
/// # Safety
/// `info` and `comm` must be valid handles, `parameters` writable or null (an error).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Loggp_measure(info: MPI_Info, comm: MPI_Comm, parameters: *mut MPIX_Loggp) -> c_int {
    boundary::call("MPIX_Loggp_measure", comm, || {
        // SAFETY: the caller vouches for the arguments.
        unsafe {
            intracommunicator(comm)?;
            logging::start();
            logging::unknown_keys(info, comm);
            let arguments = (|| {
                let measuring = Measuring::read(|key| info::get(info, key), environment::variable)?;
                Ok((Results::one("parameters", parameters)?, measuring))
            })();
            let private = Owned::duplicate(comm)?;
            let (place, measuring) = measure::loggp::together(&private, arguments)?;
            place.write([measure::loggp::measure(&private, measuring, |_| ())?.parameters.into()]);
        }
        Ok(())
    })
}

/// Says which LogGP parameters count on a communicator: where later set calls on it choose schedules, and later sparse exchanges protocols, unless the
/// info key `mpix_loggp` or the environment variable `MPIX_LOGGP` says otherwise. Duplicates of the communicator do not inherit them.
///
/// - `parameters`: the parameters; finite and not negative. The model has one overhead, and takes the mean of the two.
/// - `comm`: an intracommunicator. Parameters that it had before are replaced.
///
/// Collective over `comm`: all processes pass the same parameters. Errors in the arguments of one process are reported on all; nothing is changed
/// then. Errors: `MPI_ERR_ARG`, `MPI_ERR_COMM`, and the class `MPIX_ERR_MISMATCH`. Cost: a duplicate of the communicator, freed again, and three
/// reductions of a few words.
///
/// # Safety
/// `comm` must be a communicator, `parameters` readable or null (an error).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Loggp_set(parameters: *const MPIX_Loggp, comm: MPI_Comm) -> c_int {
    boundary::call("MPIX_Loggp_set", comm, || {
        // SAFETY: the caller vouches for the arguments.
        unsafe {
            intracommunicator(comm)?;
            let null = || Error::NullResult { argument: Argument::new("parameters") };
            let parameters = parameters.as_ref().ok_or_else(|| null().into()).and_then(MPIX_Loggp::check);
            let loggp = parameters.as_ref().ok().map(|p| p.loggp);
            measure::loggp::hang(comm, parameters)?;
            loggp.map_or(Ok(()), |loggp| sparse::set_machine(comm, loggp))
        }
    })
}

/// The LogGP parameters that count on a communicator where no info key says otherwise: those of the environment variable `MPIX_LOGGP`, else those that
/// `MPIX_Loggp_set` gave it, else those of the file that the environment variable `MPIX_LOGGP_FILE` names, else those of the file
/// mpix-neighbor/loggp in `$XDG_CONFIG_HOME` or `~/.config`, else the preset jaguar. What does not come from `MPIX_Loggp_set` has one overhead, which stands
/// for both, and a deviation of 0.
///
/// - `parameters`: where they are written.
///
/// Local. Errors: `MPI_ERR_ARG`, `MPI_ERR_INFO_VALUE` (a file or variable that is not understood).
///
/// # Safety
/// `comm` must be a communicator, `parameters` writable or null (an error).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Loggp_get(comm: MPI_Comm, parameters: *mut MPIX_Loggp) -> c_int {
    boundary::call("MPIX_Loggp_get", comm, || {
        // SAFETY: the caller vouches for the arguments.
        unsafe {
            let place = Results::one("parameters", parameters)?;
            let hints = read(|_| Ok(None))?;
            let known = measure::loggp::known(comm)?.filter(|_| hints.loggp.is_none());
            let counts = match known {
                Some(known) => known,
                None => with_machine(hints, None)?.machine().into(),
            };
            place.write([counts.into()]);
        }
        Ok(())
    })
}

/// The hints of a call on a communicator, with the parameters of the machine that count there.
///
/// # Safety
/// The handles must be valid.
pub(super) unsafe fn hints(info: MPI_Info, comm: MPI_Comm) -> Result<Hints> {
    // SAFETY: the caller vouches for the handles.
    unsafe { with_machine(read(|key| info::get(info, key))?, measure::loggp::known(comm)?) }
}

fn read(info: impl Fn(&str) -> Result<Option<String>>) -> Result<Hints> {
    Hints::read(info, environment::variable, environment::text)
}

fn with_machine(hints: Hints, known: Option<Parameters>) -> Result<Hints> {
    hints.with_machine(known.map(|p| p.loggp), environment::variable, environment::text)
}

/// An error if `comm` is none.
unsafe fn intracommunicator(comm: MPI_Comm) -> Result<()> {
    // SAFETY: the caller vouches for `comm`.
    if unsafe { comm::is_inter(comm) }? { Err(Error::Intercommunicator.into()) } else { Ok(()) }
}
