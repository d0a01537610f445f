//! Collectives whose `mpi_f08` functions in MPICH fail before they reach the C names: they ask for
//! the degrees of a distributed graph, whatever the topology (seen in 4.0.2).
//!
//! Buffers come as descriptors. Where one has gaps, a blocking call works on a copy without them; a
//! started call, which goes on using the buffer, is an error: MPICH would send such a buffer as if
//! it had no gaps, as it does in calls that go on to it for another reason.

use std::cell::Cell;
use std::ffi::{c_int, c_void};

#[cfg(mpi_init_large)]
use mpi_sys::MPI_Count;
use mpi_sys::{MPI_Aint, MPI_Datatype, RSMPI_Comm_f2c as comm_of, RSMPI_Info_f2c as info_of, RSMPI_Type_f2c as type_of};

use super::descriptor::{Contiguous, Descriptor, Trouble};
use super::export::*;
use crate::collective::narrow;
#[cfg(mpi_init_large)]
use crate::collective::wide;
use crate::errors;
use crate::function::{Function, Mode, Name, index};
use crate::state::{self, State};

/// The converted arguments of a call.
struct Taken {
    comm: mpi_sys::MPI_Comm,
    sendbuf: *const Descriptor,
    recvbuf: *const Descriptor,
    sendtypes: Vec<MPI_Datatype>,
    recvtypes: Vec<MPI_Datatype>,
}

unsafe fn take(
    comm: *const Integer,
    sendbuf: *const Descriptor,
    sendtypes: *const Integer,
    recvbuf: *const Descriptor,
    recvtypes: *const Integer,
) -> Option<Taken> {
    // SAFETY: the caller vouches for the communicator, and for arrays as long as the lists.
    unsafe {
        let comm = comm_of(*comm);
        let state: &State = state::of(comm)?;
        let list = |types: *const Integer, degree: usize| (0..degree).map(|i| type_of(*types.add(i))).collect();
        let (sendtypes, recvtypes) = (list(sendtypes, state.targets.len()), list(recvtypes, state.sources.len()));
        Some(Taken { comm, sendbuf, recvbuf, sendtypes, recvtypes })
    }
}

impl Taken {
    /// Runs a blocking call, on copies of the buffers that have gaps. `call` gets the addresses.
    ///
    /// # Safety
    /// The descriptors must be a program's.
    unsafe fn blocking(
        &self,
        native: &dyn Fn() -> c_int,
        call: impl FnOnce(*mut c_void, *mut c_void, &dyn Fn() -> c_int) -> c_int,
    ) -> c_int {
        // SAFETY: the caller vouches for the descriptors.
        unsafe {
            let (send, recv) = match (Contiguous::of(self.sendbuf), Contiguous::of(self.recvbuf)) {
                (Ok(send), Ok(recv)) => (send, recv),
                (Err(trouble), _) | (_, Err(trouble)) => return self.refuse(Mode::Blocking, trouble),
            };
            let passed = Cell::new(false);
            let pass = || {
                passed.set(true);
                native()
            };
            let code = call(send.address, recv.address, &pass);
            // the MPI writes to the buffer itself
            if !passed.get() {
                recv.write_back();
            }
            code
        }
    }

    /// Starts a call, or makes a persistent one. `call` gets the buffers' addresses.
    ///
    /// # Safety
    /// The descriptors must be a program's.
    unsafe fn started(&self, mode: Mode, call: impl FnOnce(*mut c_void, *mut c_void) -> c_int) -> c_int {
        // SAFETY: the caller vouches for the descriptors.
        unsafe {
            match (Descriptor::address(self.sendbuf), Descriptor::address(self.recvbuf)) {
                (Ok(sendbuf), Ok(recvbuf)) => call(sendbuf, recvbuf),
                (Err(trouble), _) | (_, Err(trouble)) => self.refuse(mode, trouble),
            }
        }
    }

    /// Calls the communicator's error handler for a buffer that cannot be used.
    #[cold]
    unsafe fn refuse(&self, mode: Mode, trouble: Trouble) -> c_int {
        // SAFETY: a communicator, as it has a state.
        unsafe {
            errors::say_if_fatal(self.comm, Name(index(Function::Alltoallw, mode)), || trouble.text().into());
            errors::raise(self.comm, trouble.class())
        }
    }
}

/// Defines the name of a function with descriptors.
macro_rules! described {
    ($suffix:literal: $($lower:ident ($($arg:ident: $type:ty),* $(,)?) |$native:ident| $body:block)*) => {$(
        mod $lower {
            use super::*;

            unsafe fn body($($arg: $type,)* $native: &dyn Fn() -> c_int) -> c_int {
                // SAFETY: the arguments are a program's for the function of this name.
                unsafe { $body }
            }

            export! { mpi_, $lower, $suffix: ($($arg: $type),*) descriptor }
        }
    )*};
}

/// Defines the functions of one width of counts, by bodies of that width.
macro_rules! alltoallw {
    ($suffix:literal $count:ty: $inner:path, $blocking:ident, $nonblocking:ident, $persistent:ident) => {
        use $inner as inner;

        described! { $suffix:
            neighbor_alltoallw (
                sendbuf: *const Descriptor, sendcounts: *const $count, senddispls: *const MPI_Aint, sendtypes: *const Integer,
                recvbuf: *const Descriptor, recvcounts: *const $count, recvdispls: *const MPI_Aint, recvtypes: *const Integer,
                comm: *const Integer,
            ) |native| {
                match take(comm, sendbuf, sendtypes, recvbuf, recvtypes) {
                    None => native(),
                    Some(t) => t.blocking(native, |sendbuf, recvbuf, native| inner::$blocking(
                        sendbuf, sendcounts, senddispls, t.sendtypes.as_ptr(), recvbuf, recvcounts, recvdispls, t.recvtypes.as_ptr(),
                        t.comm, native,
                    )),
                }
            }

            ineighbor_alltoallw (
                sendbuf: *const Descriptor, sendcounts: *const $count, senddispls: *const MPI_Aint, sendtypes: *const Integer,
                recvbuf: *const Descriptor, recvcounts: *const $count, recvdispls: *const MPI_Aint, recvtypes: *const Integer,
                comm: *const Integer, request: *mut Integer,
            ) |native| {
                match take(comm, sendbuf, sendtypes, recvbuf, recvtypes) {
                    None => native(),
                    Some(t) => t.started(Mode::Nonblocking, |sendbuf, recvbuf| {
                        with_request(request, native, |request, native| inner::$nonblocking(
                            sendbuf, sendcounts, senddispls, t.sendtypes.as_ptr(), recvbuf, recvcounts, recvdispls,
                            t.recvtypes.as_ptr(), t.comm, request, native,
                        ))
                    }),
                }
            }

            neighbor_alltoallw_init (
                sendbuf: *const Descriptor, sendcounts: *const $count, senddispls: *const MPI_Aint, sendtypes: *const Integer,
                recvbuf: *const Descriptor, recvcounts: *const $count, recvdispls: *const MPI_Aint, recvtypes: *const Integer,
                comm: *const Integer, info: *const Integer, request: *mut Integer,
            ) |native| {
                match take(comm, sendbuf, sendtypes, recvbuf, recvtypes) {
                    None => native(),
                    Some(t) => t.started(Mode::Persistent, |sendbuf, recvbuf| {
                        with_request(request, native, |request, native| inner::$persistent(
                            sendbuf, sendcounts, senddispls, t.sendtypes.as_ptr(), recvbuf, recvcounts, recvdispls,
                            t.recvtypes.as_ptr(), t.comm, info_of(*info), request, native,
                        ))
                    }),
                }
            }
        }
    };
}

mod int {
    use super::*;
    alltoallw! { "_f08ts_" Integer: narrow::inner, MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, MPI_Neighbor_alltoallw_init }
}

#[cfg(mpi_init_large)]
mod large {
    use super::*;
    alltoallw! { "_f08ts_large_" MPI_Count: wide::inner, MPI_Neighbor_alltoallw_c, MPI_Ineighbor_alltoallw_c, MPI_Neighbor_alltoallw_init_c }
}
