//! Requests, and the statuses of messages that have arrived.

use std::mem::{ManuallyDrop, MaybeUninit};
use std::time::Instant;

use super::constants::{RSMPI_REQUEST_NULL, RSMPI_STATUS_IGNORE, RSMPI_UNDEFINED};
use super::datatype::packed;
use super::{MPI_Request, MPI_Status, check};
use crate::error::Result;
use crate::util::backoff::{CANCELLED, CHECK, CLOCK};

/// `MPI_REQUEST_NULL`.
pub fn null() -> MPI_Request {
    RSMPI_REQUEST_NULL
}

/// Returns true if a request is complete or null, and leaves it as it is. Otherwise MPI makes
/// progress.
#[inline]
pub(super) fn is_complete(request: MPI_Request) -> bool {
    let mut done = 0;
    // SAFETY: a live request or null; the result is a local, and no status is wanted.
    let rc = unsafe { mpi_sys::MPI_Request_get_status(request, &mut done, RSMPI_STATUS_IGNORE) };
    // leave a failed request to be completed elsewhere
    rc != super::success() || done != 0
}

/// Runs `body` with buffers that it gives to MPI, and returns them with its value. If it fails,
/// they are leaked: MPI may still use them.
pub fn lend<B, T>(buffers: B, body: impl FnOnce(&mut B) -> Result<T>) -> Result<(B, T)> {
    let mut buffers = ManuallyDrop::new(buffers);
    let value = body(&mut buffers)?;
    Ok((ManuallyDrop::into_inner(buffers), value))
}

/// The fate of a message that nobody waits for any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    /// Nothing: it had arrived.
    No,
    /// It was cancelled, or has failed.
    Gone,
    /// MPI may still access its buffer, which must never be freed or reused.
    Stuck,
}

/// Cancels receives, and waits for the outcomes with one bound: a message that has begun to arrive
/// cannot be cancelled, and its sender may have died. There are no requests afterwards.
#[cold]
pub(super) fn withdraw_all(requests: &mut [MPI_Request], positions: &[usize]) -> Vec<Lost> {
    let cancel = |&position: &usize| {
        let request = &mut requests[position];
        // SAFETY: a live request.
        *request != null() && unsafe { mpi_sys::MPI_Cancel(request) } == super::success()
    };
    let cancelled: Vec<bool> = positions.iter().map(cancel).collect();
    let begin = Instant::now();
    positions.iter().zip(cancelled).map(|(&position, cancelled)| outcome(&mut requests[position], cancelled, begin)).collect()
}

/// The outcome of a receive that may have been cancelled, once it is known, or [`CHECK`] has gone
/// by since `begin`. There is no request afterwards.
fn outcome(request: &mut MPI_Request, cancelled: bool, begin: Instant) -> Lost {
    if *request == null() {
        return Lost::Gone;
    }
    for test in 1..=if cancelled { CANCELLED } else { 1 } {
        match test_cancelled(request) {
            Ok(None) => {}
            Ok(Some(Cancelled::Came(_))) => return Lost::No,
            Ok(Some(Cancelled::Back)) => return Lost::Gone,
            Err(_) if *request == null() => return Lost::Gone,
            Err(_) => break,
        }
        if test.is_multiple_of(CLOCK) && begin.elapsed() > CHECK {
            break;
        }
    }
    // a request that MPI still uses must not be freed
    *request = null();
    Lost::Stuck
}

/// Returns the outcome of cancelling a receive, if it is known.
fn test_cancelled(request: &mut MPI_Request) -> Result<Option<Cancelled>> {
    let mut status = MaybeUninit::<MPI_Status>::uninit();
    let (mut done, mut cancelled) = (0, 0);
    // SAFETY: a live request; the results are locals, and MPI writes the status if it says that the
    // request is complete.
    unsafe {
        check(mpi_sys::MPI_Test(request, &mut done, status.as_mut_ptr()), "MPI_Test")?;
        if done == 0 {
            return Ok(None);
        }
        check(mpi_sys::MPI_Test_cancelled(status.as_ptr(), &mut cancelled), "MPI_Test_cancelled")?;
        Ok(Some(match cancelled {
            0 => Cancelled::Came(Status::of(status.assume_init_ref())?),
            _ => Cancelled::Back,
        }))
    }
}

/// The status of a message that has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    /// Its source.
    pub source: u32,
    /// Its tag.
    pub tag: i32,
    /// Its length in bytes.
    pub bytes: u64,
}

impl Status {
    pub(super) fn of(status: &MPI_Status) -> Result<Status> {
        let mut count = 0;
        // SAFETY: a status that MPI wrote; the result is a local.
        check(unsafe { mpi_sys::MPI_Get_count(status, packed().raw(), &mut count) }, "MPI_Get_count")?;
        let bytes: i64 = if count == RSMPI_UNDEFINED {
            let mut elements: mpi_sys::MPI_Count = 0;
            // SimGrid declares it without `const`, and only reads it
            let status = (&raw const *status).cast_mut();
            // SAFETY: as above.
            check(unsafe { mpi_sys::MPI_Get_elements_x(status, packed().raw(), &mut elements) }, "MPI_Get_elements_x")?;
            elements as i64
        } else {
            count.into()
        };
        // Where there was no message, MPI gives no process as the source. A length that it cannot
        // tell is longer than any limit.
        let (source, bytes) = (status.MPI_SOURCE.cast_unsigned(), bytes.cast_unsigned());
        Ok(Status { source, tag: status.MPI_TAG, bytes })
    }
}

/// A request, or none. Dropping an active request leaks it: its buffer must then stay.
#[derive(Debug)]
pub struct Request(MPI_Request);

impl Default for Request {
    fn default() -> Self {
        Request(null())
    }
}

impl Request {
    /// Returns true if there is no request.
    pub fn is_null(&self) -> bool {
        self.0 == null()
    }

    /// Returns where MPI writes a request.
    #[inline]
    pub(super) fn raw_mut(&mut self) -> *mut MPI_Request {
        &mut self.0
    }

    /// Returns true if the request is complete, or if there is none.
    #[inline]
    pub fn test(&mut self) -> Result<bool> {
        if self.is_null() {
            return Ok(true);
        }
        let mut done = 0;
        // SAFETY: a live request; the result is a local.
        check(unsafe { mpi_sys::MPI_Test(&mut self.0, &mut done, RSMPI_STATUS_IGNORE) }, "MPI_Test")?;
        Ok(done != 0)
    }

    /// Returns the status of a receive, if it is complete. There must be a request.
    #[inline]
    pub fn test_receive(&mut self) -> Result<Option<Status>> {
        let mut status = MaybeUninit::<MPI_Status>::uninit();
        let mut done = 0;
        // SAFETY: a live request; the results are locals, and MPI writes the status if it says that
        // the request is complete.
        unsafe {
            check(mpi_sys::MPI_Test(&mut self.0, &mut done, status.as_mut_ptr()), "MPI_Test")?;
            if done == 0 { Ok(None) } else { Status::of(status.assume_init_ref()).map(Some) }
        }
    }

    /// Begins to cancel a receive; `test_cancelled` returns the outcome.
    pub fn cancel(&mut self) -> Result<()> {
        // SAFETY: a live request.
        check(unsafe { mpi_sys::MPI_Cancel(&mut self.0) }, "MPI_Cancel")
    }

    /// Cancels a receive, if there is one, and returns true if it has ended. A message that has
    /// begun to arrive cannot be canceled, and may never complete: then MPI keeps the buffer.
    #[cold]
    pub fn withdraw(&mut self) -> bool {
        withdraw_all(std::slice::from_mut(&mut self.0), &[0]) != [Lost::Stuck]
    }

    /// Gives up a send, if there is one, and returns true if it has ended. Otherwise MPI keeps the
    /// block, and there is no request any more: one that MPI still uses must not be freed.
    #[cold]
    pub fn give_up(&mut self) -> bool {
        let ended = matches!(self.test(), Ok(true));
        self.0 = null();
        ended
    }

    /// Returns the outcome of cancelling a receive, if it is known.
    pub fn test_cancelled(&mut self) -> Result<Option<Cancelled>> {
        test_cancelled(&mut self.0)
    }
}

/// The outcome of cancelling a receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cancelled {
    /// No message arrived.
    Back,
    /// It was too late: this message arrived.
    Came(Status),
}
