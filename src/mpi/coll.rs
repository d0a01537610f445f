//! The collectives that setting a neighborhood needs.
//!
//! Each starts MPI's nonblocking collective and waits in one loop, which notices if a process has
//! ended (see `liveness`), and moves forward what else the process has to do for others
//! ([`meanwhile`]): the one that it waits for may be waiting for that. The loop does not yield its
//! core, like MPI's own waits: on a busy machine that would cost a time slice per poll. An MPI that
//! yields does so in each test. If a process has ended, MPI may still access the buffers, which are
//! then leaked. [`idle_barrier`] alone, for measurements, sleeps, and moves nothing forward.

use std::sync::OnceLock;

use super::comm::{Communicator, Owned};
use super::constants::{RSMPI_MAX, RSMPI_MIN, RSMPI_SUM, RSMPI_UINT32_T, RSMPI_UINT64_T};
use super::datatype::{self, Datatype};
use super::liveness::{self, Patience};
use super::request::{Request, lend};
use super::tally;
use super::{MPI_Op, check};
use crate::error::{Class, Error, Result};
use crate::util::backoff::{Backoff, Pace};
use crate::util::cast::to_int;

/// What a process does while it waits for a collective.
static MEANWHILE: OnceLock<fn()> = OnceLock::new();

/// Sets what a process does after each poll in vain of a collective, from now on. Only the first
/// call has an effect. The function must not wait, and is called with locks held.
pub fn meanwhile(advance: fn()) {
    // an earlier one stays
    let _ = MEANWHILE.set(advance);
}

/// Moves forward what else the process has to do for others.
pub fn advance_others() {
    if let Some(advance) = MEANWHILE.get() {
        advance();
    }
}

/// Waits for collectives on `raw`, and returns their buffers. `comm` owns `raw`, unless that is a
/// communicator of the user's.
pub(super) fn complete<T, const N: usize>(
    raw: Communicator,
    comm: Option<&Owned>,
    requests: [Request; N],
    buffers: T,
) -> Result<T> {
    complete_watching(raw, comm, requests, buffers, |patience| match comm {
        Some(comm) => patience.look_at_all(comm),
        None => patience.look_at(raw, 0..raw.size()?),
    })
}

/// As [`complete`]; `look` fails if a process has ended that the collectives need.
pub(super) fn complete_watching<T, const N: usize>(
    raw: Communicator,
    comm: Option<&Owned>,
    mut requests: [Request; N],
    buffers: T,
    look: impl Fn(&mut Patience) -> Result<()>,
) -> Result<T> {
    let mut patience = Patience::default();
    let mut wait = || -> Result<()> {
        while !requests.iter_mut().try_fold(true, |all, request| Ok::<_, Box<Error>>(request.test()? && all))? {
            advance_others();
            if patience.is_over() {
                look(&mut patience)?;
            }
        }
        Ok(())
    };
    let (buffers, ()) = lend(buffers, |_| wait()).map_err(|e| liveness::explain(e, raw, comm))?;
    Ok(buffers)
}

/// Counts a collective to which this process contributes `bytes` bytes, if the environment asks for
/// it.
pub(super) fn count(comm: Option<&Owned>, bytes: usize) {
    match comm.and_then(Owned::tally) {
        Some(tally) => tally.operate([1, bytes as u64, 0, 0]),
        None => tally::current().iter().for_each(|tally| tally.operate([1, bytes as u64, 0, 0])),
    }
}

/// Starts a collective with `post` and waits for it. The buffers stay in place; this process
/// contributes `bytes` bytes.
fn run<T>(
    comm: &Owned,
    call: &'static str,
    bytes: usize,
    mut buffers: T,
    post: impl FnOnce(&mut T, &mut Request) -> i32,
) -> Result<T> {
    comm.is_whole()?;
    count(Some(comm), bytes);
    let mut request = Request::default();
    check(post(&mut buffers, &mut request), call).map_err(|e| liveness::explain(e, comm.view(), Some(comm)))?;
    complete(comm.view(), Some(comm), [request], buffers)
}

/// Takes the least of each word over all processes of a communicator of the user's. Collective.
pub fn least<const N: usize>(comm: Communicator, words: [i64; N]) -> Result<[i64; N]> {
    count(None, size_of_val(&words));
    let mut buffers = (words.to_vec(), vec![0; N]);
    let mut request = Request::default();
    check(start_reduction(comm, &mut buffers, Reduction::Min, &mut request), "MPI_Iallreduce")?;
    let (_, least) = complete(comm, None, [request], buffers)?;
    Ok(std::array::from_fn(|k| least[k]))
}

/// Runs a barrier (`MPI_Ibarrier`). Collective.
pub fn barrier(comm: &Owned) -> Result<()> {
    // SAFETY: a live communicator; the request is a local.
    run(comm, "MPI_Ibarrier", 0, (), |(), request| unsafe { mpi_sys::MPI_Ibarrier(comm.raw(), request.raw_mut()) })
}

/// Runs a barrier in which processes sleep, so that late ones have their cores. Returns up to
/// [`NAP`](crate::util::backoff::NAP) late. Collective.
pub fn idle_barrier(comm: &Owned) -> Result<()> {
    let mut request = Request::default();
    comm.is_whole()?;
    // SAFETY: a live communicator; the request is a local.
    check(unsafe { mpi_sys::MPI_Ibarrier(comm.raw(), request.raw_mut()) }, "MPI_Ibarrier")?;
    let (mut patience, mut backoff) = (Patience::default(), Backoff::new(super::resting(Pace::SLEEPING)));
    while !request.test()? {
        if patience.is_over() {
            patience.look_at_all(comm)?;
        }
        backoff.snooze();
    }
    Ok(())
}

/// Elementwise reductions.
#[derive(Debug, Clone, Copy)]
pub enum Reduction {
    /// `MPI_MIN`
    Min,
    /// `MPI_MAX`
    Max,
    /// `MPI_SUM` (wraps around)
    Sum,
}

impl Reduction {
    fn op(self) -> MPI_Op {
        match self {
            Reduction::Min => RSMPI_MIN,
            Reduction::Max => RSMPI_MAX,
            Reduction::Sum => RSMPI_SUM,
        }
    }
}

/// 64-bit elements of reductions.
pub trait Element: Copy + Default {
    /// Their datatype.
    fn datatype() -> Datatype;
}

impl Element for f64 {
    fn datatype() -> Datatype {
        datatype::double()
    }
}

impl Element for i64 {
    fn datatype() -> Datatype {
        datatype::int64()
    }
}

impl Element for u64 {
    fn datatype() -> Datatype {
        datatype::uint64()
    }
}

/// Reduces elementwise over all processes (`MPI_Iallreduce`). Collective.
pub fn allreduce<T: Element, const N: usize>(comm: &Owned, values: [T; N], with: Reduction) -> Result<[T; N]> {
    let mut result = [T::default(); N];
    allreduce_slice(comm, &values, &mut result, with)?;
    Ok(result)
}

/// Like [`allreduce`], for a slice of equal length on all processes. Collective.
pub fn allreduce_slice<T: Element>(comm: &Owned, values: &[T], result: &mut [T], with: Reduction) -> Result<()> {
    assert_eq!(values.len(), result.len());
    let buffers = (values.to_vec(), result.to_vec());
    let (_, reduced) = run(comm, "MPI_Iallreduce", size_of_val(values), buffers, |buffers, request| {
        start_reduction(comm.view(), buffers, with, request)
    })?;
    result.copy_from_slice(&reduced);
    Ok(())
}

/// Adds up `sums` (wrapping around), and takes the least of each of `least`, over all processes and
/// in place: two reductions at the same time. `owner` owns the communicator, unless that is the
/// user's. Collective; the lengths are the same on all processes.
pub fn sum_and_least(comm: Communicator, owner: Option<&Owned>, sums: &mut [u64], least: &mut [i64]) -> Result<()> {
    owner.map_or(Ok(()), Owned::is_whole)?;
    count(owner, size_of_val(sums));
    count(owner, size_of_val(least));
    let mut adding = (sums.to_vec(), sums.to_vec());
    let mut lowering = (least.to_vec(), least.to_vec());
    let mut requests = [Request::default(), Request::default()];
    let begun = check(start_reduction(comm, &mut adding, Reduction::Sum, &mut requests[0]), "MPI_Iallreduce");
    let begun =
        begun.and_then(|()| check(start_reduction(comm, &mut lowering, Reduction::Min, &mut requests[1]), "MPI_Iallreduce"));
    if let Err(error) = begun {
        // MPI may still write to them
        std::mem::forget((adding, lowering));
        return Err(liveness::explain(error, comm, owner));
    }
    let (added, lowest) = complete(comm, owner, requests, (adding, lowering))?;
    sums.copy_from_slice(&added.1);
    least.copy_from_slice(&lowest.1);
    Ok(())
}

/// Starts a reduction from the first buffer into the second one, which is as long. Returns MPI's
/// code. The buffers must stay until the request is complete.
fn start_reduction<T: Element>(
    comm: Communicator,
    buffers: &mut (Vec<T>, Vec<T>),
    with: Reduction,
    request: &mut Request,
) -> i32 {
    let (send, recv) = buffers;
    let (from, into, count) = (send.as_ptr().cast(), recv.as_mut_ptr().cast(), to_int(send.len()));
    // SAFETY: both buffers hold that many elements of this datatype.
    unsafe { mpi_sys::MPI_Iallreduce(from, into, count, T::datatype().raw(), with.op(), comm.raw(), request.raw_mut()) }
}

/// Exchanges one number with each process (`MPI_Ialltoall`). Collective; O(P) memory.
pub fn alltoall(comm: &Owned, values: &[u32]) -> Result<Vec<u32>> {
    let buffers = (values.to_vec(), vec![0u32; values.len()]);
    let (_, result) = run(comm, "MPI_Ialltoall", size_of_val(values), buffers, |(send, recv), request| {
        let (from, into) = (send.as_ptr().cast(), recv.as_mut_ptr().cast());
        // SAFETY: both buffers hold one number for each process of the communicator, which is what
        // callers pass.
        unsafe {
            let number = RSMPI_UINT32_T;
            mpi_sys::MPI_Ialltoall(from, 1, number, into, 1, number, comm.raw(), request.raw_mut())
        }
    })?;
    Ok(result)
}

/// Gathers `N` words of each of `size` processes on all (`MPI_Iallgather`). Collective; O(P)
/// memory.
pub fn allgather_words<const N: usize>(comm: &Owned, words: [u64; N], size: u32) -> Result<Vec<[u64; N]>> {
    let buffers = (Box::new(words), vec![[0u64; N]; size as usize]);
    let (_, result) = run(comm, "MPI_Iallgather", size_of_val(&words), buffers, |(send, recv), request| {
        let (from, into, count) = (send.as_ptr().cast(), recv.as_mut_ptr().cast(), to_int(N));
        // SAFETY: N words are sent; there is room for as many of each process, as callers say how
        // many there are.
        unsafe {
            let word = RSMPI_UINT64_T;
            mpi_sys::MPI_Iallgather(from, count, word, into, count, word, comm.raw(), request.raw_mut())
        }
    })?;
    Ok(result)
}

/// Broadcasts bytes (`MPI_Ibcast`); `bytes` has the same length on all processes, at most
/// `INT_MAX`. Collective.
pub fn broadcast(comm: &Owned, bytes: &mut [u8], root: u32) -> Result<()> {
    let given = if comm.rank()? == root { bytes.len() } else { 0 };
    let sent = run(comm, "MPI_Ibcast", given, bytes.to_vec(), |copy, request| {
        let (at, count, byte) = (copy.as_mut_ptr().cast(), to_int(copy.len()), datatype::byte().raw());
        // SAFETY: the buffer has the given length.
        unsafe { mpi_sys::MPI_Ibcast(at, count, byte, to_int(root), comm.raw(), request.raw_mut()) }
    })?;
    bytes.copy_from_slice(&sent);
    Ok(())
}

/// Broadcasts words, and returns those of process `root`. Collective.
pub fn broadcast_words<const N: usize>(comm: &Owned, words: [u64; N], root: u32) -> Result<[u64; N]> {
    let mut bytes = words.map(u64::to_ne_bytes);
    broadcast(comm, bytes.as_flattened_mut(), root)?;
    Ok(bytes.map(u64::from_ne_bytes))
}

/// Returns the error of process `root` on all processes. Collective.
pub fn share_error(comm: &Owned, error: Option<&Error>, root: u32, me: u32) -> Result<Error> {
    const LENGTH: usize = u8::MAX as usize;
    let mut message = [0u8; LENGTH + 2];
    if me == root
        && let Some(e) = error
    {
        let text = e.to_string();
        let mut end = text.len().min(LENGTH);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        message[0] = e.class().unwrap_or(Class::Other) as u8;
        message[1] = to_int(end);
        message[2..2 + end].copy_from_slice(&text.as_bytes()[..end]);
    }
    broadcast(comm, &mut message, root)?;
    let class = Class::ALL.get(usize::from(message[0])).copied().unwrap_or(Class::Other);
    let text = String::from_utf8_lossy(&message[2..2 + usize::from(message[1])]).into_owned();
    Ok(Error::Remote { rank: root, class, text })
}

/// Takes part in [`share_outcome`] without waiting for it: the others, which must not be waited
/// for, get an error. Collective.
pub fn abandon_outcome(comm: &Owned) -> Result<()> {
    let me = i64::from(comm.rank()?);
    count(Some(comm), size_of_val(&me));
    let mut request = Request::default();
    // MPI uses them when nobody waits any more
    let buffers = Box::leak(Box::new((vec![-1 - me], vec![0])));
    check(start_reduction(comm.view(), buffers, Reduction::Min, &mut request), "MPI_Iallreduce")
}

/// Returns `mine` if all processes succeeded; otherwise an error on all of them. A process with an
/// error of its own returns that one, the others that of the lowest rank. Collective.
pub fn share_outcome<T>(comm: &Owned, mine: Result<T>) -> Result<T> {
    let me = comm.rank()?;
    let failed = if mine.is_err() { i64::from(me) } else { i64::MAX };
    let [lowest] = allreduce(comm, [failed], Reduction::Min)?;
    if lowest < 0 {
        let abandoned = Error::Remote { rank: to_int(-1 - lowest), class: Class::Other, text: "it could not go on".into() };
        return Err(mine.err().unwrap_or(abandoned.into()));
    }
    let Ok(root) = u32::try_from(lowest) else {
        return mine;
    };
    let remote = share_error(comm, mine.as_ref().err().map(|e| &**e), root, me)?;
    Err(mine.err().unwrap_or(remote.into()))
}
