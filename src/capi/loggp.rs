//! The LogGP parameters of the machine: measures them, and sets those of a communicator.

use std::ffi::c_int;

use super::args::{self, Results, intracommunicator};
use super::boundary;
use super::hints::{read, with_machine};
use crate::collective::handle;
use crate::environment;
use crate::error::{Error, Result};
use crate::logging;
use crate::machine;
use crate::model::{Loggp, Parameters, Sharing};
use crate::mpi::coll;
use crate::mpi::comm::Owned;
use crate::mpi::{MPI_Comm, MPI_Count, MPI_Info, info};
use crate::select::hints::Measuring;
use crate::sparse;

/// `MPIX_Loggp.eager` of a machine on which no message waits for its receiver.
pub const MPIX_LOGGP_UNLIMITED: c_int = -1;

/// LogGP parameters of a machine (Alexandrov, Ionescu, Schauser, Scheiman 1995). Times are in
/// microseconds.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct MPIX_Loggp {
    /// L: time that a byte takes through the network.
    pub latency: f64,
    /// o_s: time that a process spends on a message that it sends.
    pub send_overhead: f64,
    /// o_r: time that a process spends on a message that it receives.
    pub recv_overhead: f64,
    /// g: least time between two short messages of a process.
    pub gap: f64,
    /// G: time for each byte of a long message.
    pub gap_per_byte: f64,
    /// Longest message, in bytes, that is sent without waiting for its receiver, or
    /// `MPIX_LOGGP_UNLIMITED`.
    pub eager: MPI_Count,
    /// Deviation of measured times from those that the parameters predict: the median of
    /// |measured - predicted| / measured. 0 if nothing was measured.
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
            // halved before they are added, so that the largest numbers have a mean too
            overhead: self.send_overhead / 2.0 + self.recv_overhead / 2.0,
            gap: self.gap,
            gap_per_byte: self.gap_per_byte,
            eager,
            sharing: Sharing::UNKNOWN,
        };
        Ok(Parameters { loggp, send_overhead: self.send_overhead, recv_overhead: self.recv_overhead, deviation: self.deviation })
    }
}

/// Measures the LogGP parameters of the machine.
///
/// # Safety
/// `info` and `comm` must be valid handles, `parameters` writable or null (an error).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Loggp_measure(info: MPI_Info, comm: MPI_Comm, parameters: *mut MPIX_Loggp) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        boundary::call("MPIX_Loggp_measure", comm, |comm| {
            intracommunicator(comm)?;
            logging::start();
            logging::unknown_keys(info, comm);
            let arguments = (|| {
                let measuring = Measuring::read(|key| info::get(info, key), environment::variable)?;
                Ok((Results::one("parameters", parameters)?, measuring))
            })();
            let private = Owned::duplicate(comm)?;
            let (place, measuring) = coll::share_outcome(&private, arguments)?;
            place.write([machine::measure(&private, measuring, |_| ())?.parameters.into()]);
            Ok(())
        })
    }
}

/// Sets the LogGP parameters of a communicator.
///
/// # Safety
/// `comm` must be a communicator, `parameters` readable or null (an error).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Loggp_set(parameters: *const MPIX_Loggp, comm: MPI_Comm) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        boundary::call("MPIX_Loggp_set", comm, |comm| {
            intracommunicator(comm)?;
            let parameters = args::pointer("parameters", parameters.as_ref()).and_then(MPIX_Loggp::check);
            let loggp = parameters.as_ref().ok().map(|p| p.loggp);
            machine::set(comm, parameters)?;
            loggp.map_or(Ok(()), |loggp| sparse::set_machine(comm, &loggp))
        })
    }
}

/// Returns the LogGP parameters that are in effect on a communicator where no info key says
/// otherwise.
///
/// # Safety
/// `comm` must be a communicator, `parameters` writable or null (an error).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Loggp_get(comm: MPI_Comm, parameters: *mut MPIX_Loggp) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        boundary::call("MPIX_Loggp_get", comm, |comm| {
            let place = Results::one("parameters", parameters)?;
            let hints = read(|_| Ok(None))?;
            let known = machine::set_on(comm)?;
            let mut hints = with_machine(hints, known.as_ref())?;
            hints.learned = handle::learned(comm)?;
            // those of the communicator have two overheads
            let counts = known.filter(|known| hints.known_machine() == Some(&known.loggp)).unwrap_or(hints.machine().into());
            place.write([counts.into()]);
            Ok(())
        })
    }
}
