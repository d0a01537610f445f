//! Memory that the processes of a node share.
//!
//! A segment is one anonymous file (`memfd_create`), sealed so that nobody can change its length,
//! which the others open through `/proc`. Where that is not possible (processes of different
//! containers), it is a file in `/dev/shm`, whose name is removed once all have opened it. Either
//! is gone with the last process that has it open, however that ends; only the file in `/dev/shm`
//! stays if its maker is killed before all have opened it. It is no MPI window: freeing one is
//! collective, and attributes of a communicator are not deleted everywhere at the same time.
//!
//! Each process holds a lock on a byte of the file. The kernel drops it when the process ends, so
//! that the others can see whether it is alive. The process releases it when MPI is finalized.
//!
//! Segments that come and go can use the same memory one after the other ([`Kept`]). A process that
//! prepares its part of the next one must not touch what others may still look at in the last one,
//! before it knows that they do not. So each part has two *fronts*, for what must be in place
//! before others write or look: successive segments use them in turn. A segment that all processes
//! have prepared ([`Kept::prepare`]), as they agree elsewhere, costs no exchange of its own.
//!
//! Cost: one mapping and one open file for each segment and process. Pages are allocated when they
//! are first written.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use crate::error::Result;
use crate::mpi;
use crate::mpi::group::Group;
use crate::mpi::of_process::OfProcess;
use crate::util::cast::to_int;
use crate::util::lock::{get_mut, lock};

/// Each process's part of a segment begins on a page.
const PAGE: usize = 4096;

/// Bytes in front of kept memory, for the word that [`Segment::note_much`] sets.
const OWN: usize = 128;

/// A file that all processes of a node have mapped; unmapped when dropped.
#[derive(Debug)]
struct Mapping {
    base: *mut u8,
    length: usize,
    file: Arc<OwnedFd>,
    /// What is known about each process: see [`Segment::once`].
    known: Box<[AtomicU8]>,
}

// SAFETY: all processes may write the memory at any time anyway; its users follow a protocol of
// atomics.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

/// Memory of all processes of a node, divided among them.
#[derive(Debug)]
pub struct Segment {
    mapping: Arc<Mapping>,
    division: Division,
}

/// The division of a mapping among the processes.
#[derive(Debug, Clone)]
struct Division {
    /// Offset of each process's part, and the end of the last one.
    parts: Arc<[usize]>,
    /// Bytes of each of the two fronts of this process's part.
    front: usize,
    /// Number of segments that were in this memory before.
    before: u32,
}

/// Memory that the processes of a node keep for segments to come. It is unmapped when this and all
/// its segments are gone. In the same places on all processes; `None` where this one has given it
/// up.
#[derive(Debug, Default)]
pub struct Kept(Mutex<Places>);

#[derive(Debug, Default)]
struct Places {
    /// The last segment in each place.
    all: [Option<Segment>; MOST_KEPT],
    /// The longest front and body that this process has had since memory was refused last.
    longest: [usize; 2],
}

/// A segment that this process has room for in memory that is kept.
#[derive(Debug)]
pub struct Prepared {
    segment: Segment,
    place: usize,
}

impl Prepared {
    /// The segment. Only this process's front may be touched before all have agreed on it.
    pub fn segment(&self) -> &Segment {
        &self.segment
    }

    /// Names the segment, among all that processes of the node may prepare.
    pub fn name(&self) -> u64 {
        (self.place as u64) << 32 | u64::from(self.segment.division.before)
    }

    /// Takes the segment, which all processes of the node have prepared.
    pub fn take(self, kept: &Kept) -> Segment {
        if let Some(place) = &mut kept.lock().all[self.place] {
            place.division.before = self.segment.division.before;
        }
        self.segment
    }
}

/// Most mappings that are kept: a neighborhood and one that replaces it use two at a time.
const MOST_KEPT: usize = 2;

impl Kept {
    fn lock(&self) -> MutexGuard<'_, Places> {
        lock(&self.0)
    }

    /// Which of them this process has and no segment uses, as a set of bits.
    fn unused(&self) -> u64 {
        let unused = |place: &Option<Segment>| place.as_ref().is_some_and(Segment::is_unused);
        let bits = self.lock().all.iter().enumerate().filter(|(_, place)| unused(place)).map(|(k, _)| 1 << k).sum();
        // what another thread did before it dropped the last user is done
        fence(Ordering::Acquire);
        bits
    }

    /// Which places are empty on this process, as a set of bits.
    fn empty(&self) -> u64 {
        self.lock().all.iter().enumerate().filter(|(_, place)| place.is_none()).map(|(k, _)| 1 << k).sum()
    }

    /// For each of them, how many segments were there before the last one. One word each half.
    fn before(&self) -> u64 {
        let before = |place: &Option<Segment>| place.as_ref().map_or(0, |place| place.division.before);
        self.lock().all.iter().enumerate().map(|(k, place)| u64::from(before(place)) << (32 * k)).sum()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.lock().all.iter().all(Option::is_none)
    }

    /// Finds room for the next segment, in which the process `me` has a front and a body of so many
    /// bytes. Local: the others must agree, each on the same one.
    pub fn prepare(&self, [front, body]: [usize; 2], me: u32) -> Option<Prepared> {
        let places = self.lock();
        let fits = |place: &Segment| {
            let Division { parts, front: most, .. } = &place.division;
            let part = parts[me as usize + 1] - parts[me as usize];
            place.is_unused() && front <= *most && 2 * most + body <= part.max(2 * most)
        };
        let (k, place) = places.all.iter().enumerate().find_map(|(k, place)| Some((k, place.as_ref().filter(|p| fits(p))?)))?;
        // as in `unused`
        fence(Ordering::Acquire);
        let division = Division { before: place.division.before.wrapping_add(1), ..place.division.clone() };
        Some(Prepared { segment: Segment { mapping: Arc::clone(&place.mapping), division }, place: k })
    }

    /// The front and body to ask for if this process wants these: as long as any that it has had.
    fn to_ask_for(&self, wanted: [usize; 2]) -> [usize; 2] {
        if wanted == [0, 0] {
            return wanted;
        }
        let Places { longest, .. } = *self.lock();
        [0, 1].map(|k| longest[k].max(wanted[k]))
    }

    /// Notes what this process was given, and forgets how much it had if that was refused: a
    /// neighborhood that wants less may have it.
    fn note(&self, given: Option<[usize; 2]>) {
        match given {
            Some([0, 0]) => {}
            given => self.lock().longest = given.unwrap_or_default(),
        }
    }

    /// The bytes that the system has given all processes together for kept memory; 0 for memory
    /// where no process has noted much.
    pub fn bytes(&self) -> u64 {
        self.lock().all.iter().flatten().map(|place| place.mapping.bytes()).sum()
    }

    /// Gives up what no segment uses and takes more than `most` bytes.
    pub fn trim(&self, most: u64) {
        for place in &mut self.lock().all {
            if place.as_ref().is_some_and(|place| place.is_unused() && place.mapping.bytes() > most) {
                *place = None;
            }
        }
    }
}

/// Names the file for the processes that open it.
#[derive(Debug, Clone, Copy, Default)]
struct Invitation {
    process: u64,
    file: u64,
    /// Device and inode of the file: in another container, the same process number is another
    /// process.
    device: u64,
    inode: u64,
}

impl Segment {
    /// Makes a segment in which this process has a part of `bytes` bytes, zeroed.
    ///
    /// Collective over `node`, whose processes all share memory. Returns `None` on all of them if
    /// nobody wants a part, if all parts together exceed `most` bytes, or if the segment cannot be
    /// made. O(processes of the node) memory.
    pub fn new(bytes: usize, most: usize, node: &Group) -> Result<Option<Segment>> {
        let all = node.allgather([pages(bytes).into()])?;
        let wanted: Vec<u32> = all.iter().map(|&[pages]| to_int(pages)).collect();
        let Some((parts, length)) = divide(&wanted, 0, most) else { return Ok(None) };
        let division = Division { parts, front: 0, before: 0 };
        Ok(Mapping::new(length, 0, node)?.map(|mapping| Segment { mapping: Arc::new(mapping), division }))
    }

    /// Makes a segment like `new`, in memory that is kept if all processes have some that none uses
    /// any more. Parts are then as their users have left them: the second result is true. This
    /// process's part has two fronts of `front` bytes, a multiple of a page, and a body of `body`
    /// bytes behind them, or as much more as it has had before. Before the parts lie `head` bytes,
    /// the same on all processes; users put there what stays.
    pub fn reused(wanted: [usize; 2], head: usize, most: usize, node: &Group, kept: &Kept) -> Result<Option<(Segment, bool)>> {
        let [front, body] = kept.to_ask_for(wanted);
        let mine = [u64::from(pages(2 * front + body)), kept.empty() << 32 | kept.unused(), kept.before()];
        let all = node.allgather(mine)?;
        let wanted: Vec<u32> = all.iter().map(|&[pages, ..]| to_int(pages)).collect();
        let head = (OWN + head).next_multiple_of(PAGE);
        let Some((parts, length)) = divide(&wanted, head, most) else {
            if wanted.iter().any(|&pages| pages > 0) {
                kept.note(None);
            }
            return Ok(None);
        };
        let all_have = |k: usize| all.iter().all(|&[_, bits, _]| bits >> k & 1 == 1);
        let any_lacks = |k: usize| all.iter().any(|&[_, bits, _]| bits >> (32 + k) & 1 == 1);
        let fits = |place: &Option<Segment>| place.as_ref().is_some_and(|place| place.mapping.length >= length);
        let found = kept.lock().all.iter().enumerate().position(|(k, place)| all_have(k) && fits(place));
        if found.is_some() {
            kept.note(Some([front, body]));
        }
        if let Some(k) = found
            && let Some(place) = &mut kept.lock().all[k]
        {
            // equal on all, whatever they remember
            let before = all.iter().map(|&[.., before]| to_int::<u32>(before >> (32 * k) & 0xffff_ffff)).max().unwrap_or(0);
            place.division = Division { parts, front, before: before.wrapping_add(1) };
            let (mapping, division) = (Arc::clone(&place.mapping), place.division.clone());
            return Ok(Some((Segment { mapping, division }, true)));
        }
        let made = Mapping::new(length, head, node)?.map(Arc::new);
        kept.note(made.is_some().then_some([front, body]));
        let Some(mapping) = made else { return Ok(None) };
        let division = Division { parts, front, before: 0 };
        // rather in the place of one that is too short than of one that is in use
        let place = (0..MOST_KEPT).find(|&k| any_lacks(k)).or_else(|| (0..MOST_KEPT).find(|&k| all_have(k)));
        kept.lock().all[place.unwrap_or(0)] = Some(Segment { mapping: Arc::clone(&mapping), division: division.clone() });
        Ok(Some((Segment { mapping, division }, false)))
    }

    /// True if this process has no other segment in the same memory.
    fn is_unused(&self) -> bool {
        Arc::strong_count(&self.mapping) == 1
    }

    /// Returns the address of what stays, in front of all parts.
    pub fn head(&self) -> *mut u8 {
        self.mapping.base.wrapping_add(OWN)
    }

    /// Notes that a process writes more than a little. Only in memory that is kept, which has a
    /// word for it.
    #[inline]
    pub fn note_much(&self) {
        self.mapping.note_much();
    }

    /// Returns the part of a process.
    pub fn part(&self, process: u32) -> *mut u8 {
        self.mapping.base.wrapping_add(self.division.parts[process as usize])
    }

    /// Which of the two fronts this segment uses.
    pub fn turn(&self) -> usize {
        self.division.before as usize % 2
    }

    /// Returns this process's front and its body, where `me` is its place in the node.
    pub fn front_and_body(&self, me: u32) -> [*mut u8; 2] {
        let Division { front, .. } = self.division;
        [self.turn() * front, 2 * front].map(|offset| self.part(me).wrapping_add(offset))
    }

    /// The answer about a process, which `ask` gives once for all segments of the same memory.
    pub fn once(&self, process: u32, ask: impl FnOnce() -> bool) -> bool {
        const NO: u8 = 1;
        let known = &self.mapping.known[process as usize];
        if known.load(Ordering::Relaxed) == 0 {
            known.store(NO + u8::from(ask()), Ordering::Relaxed);
        }
        known.load(Ordering::Relaxed) > NO
    }

    /// Returns the offset of an address of the segment, which is the same on all processes.
    pub fn position(&self, at: *const u8) -> usize {
        at.addr() - self.mapping.base.addr()
    }

    /// Returns the address of an offset that another process has found by
    /// [`position`](Self::position).
    pub fn address(&self, position: usize) -> *mut u8 {
        self.mapping.base.wrapping_add(position)
    }

    /// Returns the address of an offset, if `bytes` bytes lie there.
    #[inline]
    pub fn at(&self, position: usize, bytes: usize) -> Option<*mut u8> {
        let Mapping { base, length, .. } = &*self.mapping;
        (position <= *length && bytes <= length - position).then(|| base.wrapping_add(position))
    }

    /// Returns true if a process is alive and has the segment. Makes a system call.
    pub fn lives(&self, process: u32) -> bool {
        // a process is not reported dead if the check fails
        self.mapping.lock(libc::F_OFD_GETLK, process).is_none_or(|kind| kind != to_int::<libc::c_short>(libc::F_UNLCK))
    }
}

/// Pages of a part. A part whose number of pages does not fit is more than any memory.
fn pages(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(PAGE)).unwrap_or(u32::MAX)
}

/// The offset of each process's part behind `head` bytes and of their end, and the length of all;
/// `None` if nobody wants a part, if that is more than `most`, or if processes are simulated:
/// nothing simulates the time that memory takes.
fn divide(pages: &[u32], head: usize, most: usize) -> Option<(Arc<[usize]>, usize)> {
    let mut length = head;
    let mut parts = Vec::with_capacity(pages.len() + 1);
    for &pages in pages {
        parts.push(length);
        length = length.saturating_add(PAGE * pages as usize);
    }
    parts.push(length);
    (!mpi::is_simulated() && length > head && length <= most && !pages.contains(&u32::MAX)).then(|| (parts.into(), length))
}

impl Mapping {
    /// Makes memory of zeros, of which all write the first `head` bytes. Collective; `None` on all
    /// processes if one of them fails.
    fn new(length: usize, head: usize, node: &Group) -> Result<Option<Mapping>> {
        let (me, mut failure) = (node.me(), None);
        let mapping = match share(node, me, [length, head], anonymous, through_proc, &mut failure)? {
            Some(mapping) => Some(mapping),
            None => {
                let mapping = named(node, me, [length, head], &mut failure)?;
                // all of it has been given at once
                mapping.iter().filter(|_| head > 0).for_each(Mapping::note_much);
                mapping
            }
        };
        if mapping.is_none() {
            log_failure(length, failure);
        }
        Ok(mapping)
    }

    fn map(file: OwnedFd, length: usize, processes: u32) -> io::Result<Mapping> {
        // SAFETY: a new mapping of an open file of that length.
        let base = unsafe {
            libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED, file.as_raw_fd(), 0)
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let known = (0..processes).map(|_| AtomicU8::new(0)).collect();
        Ok(Mapping { base: base.cast(), length, file: Arc::new(file), known })
    }

    /// The word of kept memory that is nonzero once a process has noted much.
    fn noted(&self) -> &AtomicU32 {
        // SAFETY: the word lies in front of everything else, and lives as long.
        unsafe { &*self.base.cast_const().cast() }
    }

    #[inline]
    fn note_much(&self) {
        // mostly noted already: a store would take the line from the others
        if self.noted().load(Ordering::Relaxed) == 0 {
            self.noted().store(1, Ordering::Relaxed);
        }
    }

    /// The bytes that the system has given for it: pages that a process has written; 0 if none has
    /// noted much.
    fn bytes(&self) -> u64 {
        if self.noted().load(Ordering::Relaxed) == 0 {
            return 0;
        }
        status(self.file.as_raw_fd()).map_or(0, |status| to_int::<u64>(status.st_blocks) * 512)
    }

    /// Takes the lock that shows that this process is alive.
    fn hold(&self, me: u32) -> io::Result<()> {
        self.lock(libc::F_OFD_SETLK, me).map(|_| ()).ok_or_else(io::Error::last_os_error)
    }

    /// Takes or tests a lock. Returns the kind of lock that there is; `None` if the call failed.
    fn lock(&self, command: libc::c_int, process: u32) -> Option<libc::c_short> {
        lock_range(&self.file, command, libc::F_WRLCK, (process.into(), 1))
    }
}

/// Takes, releases or tests a lock on a range of a file: its start and length, 0 for all that
/// follows. Returns the kind of lock that there is; `None` if the call failed.
fn lock_range(
    file: &OwnedFd,
    command: libc::c_int,
    kind: libc::c_int,
    (start, length): (libc::off_t, libc::off_t),
) -> Option<libc::c_short> {
    // SAFETY: an open file; all zeros are a valid struct of numbers, a local variable.
    unsafe {
        let mut lock: libc::flock = std::mem::zeroed();
        (lock.l_type, lock.l_whence) = (to_int(kind), to_int(libc::SEEK_SET));
        (lock.l_start, lock.l_len) = (start, length);
        (libc::fcntl(file.as_raw_fd(), command, &mut lock) == 0).then_some(lock.l_type)
    }
}

/// Files whose locks are released when MPI is finalized. An attribute of `MPI_COMM_SELF`, which MPI
/// deletes first: a process that waits in `MPI_Finalize` does nothing for others any more.
#[derive(Default)]
struct HeldLocks(Mutex<Vec<Weak<OwnedFd>>>);

static HELD_LOCKS: OfProcess<HeldLocks> = OfProcess::new();

/// Releases the lock on a file at the end of MPI.
fn release_at_finalize(file: &Arc<OwnedFd>) -> Result<()> {
    let held = HELD_LOCKS.get()?;
    let mut files = lock(&held.0);
    files.retain(|file| file.strong_count() > 0);
    files.push(Arc::downgrade(file));
    Ok(())
}

impl Drop for HeldLocks {
    fn drop(&mut self) {
        let files = std::mem::take(get_mut(&mut self.0));
        for file in files.iter().filter_map(Weak::upgrade) {
            // the whole file, in which this process has one lock
            let _ = lock_range(&file, libc::F_OFD_SETLK, libc::F_UNLCK, (0, 0));
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping that `map` made; its users hold it.
        unsafe { libc::munmap(self.base.cast(), self.length) };
    }
}

/// Logs why memory cannot be shared, on the process that failed.
fn log_failure(length: usize, failure: Option<io::Error>) {
    if let Some(failure) = failure {
        log::warn!("{length} bytes of memory cannot be shared with the processes of this node: {failure}; messages go by MPI");
    }
}

/// Makes an anonymous file of `length` bytes. Its length is sealed, so that nobody can shrink what
/// others have mapped.
fn anonymous(length: usize) -> io::Result<OwnedFd> {
    let create = |flags| {
        // SAFETY: a new file, owned from here on.
        unsafe { owned(libc::memfd_create(c"mpix-neighbor".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING | flags)) }
    };
    // Not executable, as some systems demand. Kernels before 6.3 do not know the flag.
    let file = create(libc::MFD_NOEXEC_SEAL).or_else(|_| create(0))?;
    fits_limit(length)?;
    // SAFETY: an open file.
    check(unsafe { libc::ftruncate(file.as_raw_fd(), offset(length)?) })?;
    let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
    // SAFETY: as above.
    check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) })?;
    Ok(file)
}

/// Fails where a file of `length` bytes exceeds the limit of the process (`ulimit -f`). Enlarging
/// one beyond it raises SIGXFSZ, which ends the process.
fn fits_limit(length: usize) -> io::Result<()> {
    let limit = limit_of(libc::RLIMIT_FSIZE)?;
    if limit != libc::RLIM_INFINITY && length as u64 > limit {
        return Err(io::Error::from_raw_os_error(libc::EFBIG));
    }
    Ok(())
}

/// Returns the limit of the process on a resource (`ulimit`).
fn limit_of(resource: libc::__rlimit_resource_t) -> io::Result<libc::rlim_t> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the struct is a local.
    check(unsafe { libc::getrlimit(resource, &mut limit) })?;
    Ok(limit.rlim_cur)
}

fn offset(length: usize) -> io::Result<libc::off_t> {
    libc::off_t::try_from(length).map_err(|_| io::Error::from_raw_os_error(libc::EFBIG))
}

/// Turns the result of a system call into an error if it is negative.
fn check(returned: libc::c_int) -> io::Result<()> {
    if returned < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Takes ownership of a file that a system call has opened. Fails, and closes it, if its number is
/// among the last quarter of those that the process may have: these are the program's.
///
/// # Safety
/// The file, if there is one, must have no other owner.
unsafe fn owned(file: RawFd) -> io::Result<OwnedFd> {
    check(file)?;
    // SAFETY: an open file, for which the caller vouches.
    let file = unsafe { OwnedFd::from_raw_fd(file) };
    let limit = limit_of(libc::RLIMIT_NOFILE)?;
    // the system gives the lowest number that is free
    if to_int::<u64>(file.as_raw_fd()) >= limit - limit / 4 {
        return Err(io::Error::from_raw_os_error(libc::EMFILE));
    }
    Ok(file)
}

/// Opens the file of another process.
fn through_proc(invitation: &Invitation, length: usize) -> io::Result<OwnedFd> {
    let path = CString::new(format!("/proc/{}/fd/{}", invitation.process, invitation.file))?;
    // in another namespace it may be a terminal, or a device
    let flags = libc::O_RDWR | libc::O_CLOEXEC | libc::O_NOCTTY | libc::O_NONBLOCK;
    // SAFETY: a path; the opened file is owned from here on.
    let file = unsafe { owned(libc::open(path.as_ptr(), flags)) }?;
    invitation.names(file, length)
}

impl Invitation {
    /// Returns the file, if it is the one that is meant.
    fn names(&self, file: OwnedFd, length: usize) -> io::Result<OwnedFd> {
        if identity(file.as_raw_fd())? == (self.device, self.inode, length as u64) {
            Ok(file)
        } else {
            Err(io::Error::other("another file goes by that name here"))
        }
    }
}

/// Returns device, inode and length of a file.
fn identity(file: RawFd) -> io::Result<(u64, u64, u64)> {
    let status = status(file)?;
    Ok((status.st_dev, status.st_ino, to_int::<u64>(status.st_size)))
}

/// Returns what the system says of a file.
fn status(file: RawFd) -> io::Result<libc::stat> {
    // SAFETY: the system fails if this is no open file; all zeros are a valid struct of numbers.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        check(libc::fstat(file, &mut status))?;
        Ok(status)
    }
}

/// Makes a file on process 0, and maps it on all. Collective. Returns `None` on all processes if
/// one of them fails, which stores the reason in `failure`.
fn share(
    node: &Group,
    me: u32,
    [length, head]: [usize; 2],
    make: impl FnOnce(usize) -> io::Result<OwnedFd>,
    open: impl FnOnce(&Invitation, usize) -> io::Result<OwnedFd>,
    failure: &mut Option<io::Error>,
) -> Result<Option<Mapping>> {
    let mut words = [0u64; 4];
    let mut file = None;
    if me == 0 {
        let made = make(length).and_then(|file| Ok((identity(file.as_raw_fd())?, file)));
        file = keep(made, failure).map(|((device, inode, _), file)| {
            words = [std::process::id().into(), to_int(file.as_raw_fd()), device, inode];
            file
        });
    }
    let [process, number, device, inode] = node.broadcast(words)?;
    if me != 0 && process != 0 {
        let invitation = Invitation { process, file: number, device, inode };
        file = keep(open(&invitation, length), failure);
    }
    let mapped = |file| Mapping::map(file, length, node.size()).and_then(|mapping| mapping.hold(me).map(|()| mapping));
    let mapping = file.and_then(|file| keep(mapped(file), failure));
    if let (Some(mapping), 0) = (&mapping, me) {
        // processes that write a new page at the same time wait for each other in the kernel
        for at in (0..head).step_by(PAGE) {
            // SAFETY: the head lies in the mapping, where the others write once all have it.
            unsafe { mapping.base.add(at).write_volatile(0) };
        }
    }
    let leaves =
        |mapping: Mapping| release_at_finalize(&mapping.file).map(|()| mapping).map_err(|e| io::Error::other(e.to_string()));
    let mapping = mapping.and_then(|mapping| keep(leaves(mapping), failure));
    // also makes sure that all hold their locks before anyone checks them
    let all = node.all(mapping.is_some())?;
    Ok(mapping.filter(|_| all))
}

/// Returns a value, or stores the error.
fn keep<T>(result: io::Result<T>, failure: &mut Option<io::Error>) -> Option<T> {
    result.map_err(|error| *failure = Some(error)).ok()
}

/// Makes a file with a name in shared memory, which is removed once all have mapped it. Collective.
fn named(node: &Group, me: u32, size: [usize; 2], failure: &mut Option<io::Error>) -> Result<Option<Mapping>> {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let name = |process: u64, number: u64| CString::new(format!("/mpix-neighbor-{process}-{number}"));
    // a file left behind by a process with the same number in another container is not in the way
    let now =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| to_int::<u64>(since.as_nanos()));
    let number = now << 16 | u64::from(MADE.fetch_add(1, Ordering::Relaxed) & 0xffff);
    let open = |name: &CString, flags: libc::c_int| {
        // SAFETY: a name; the opened file is owned from here on.
        unsafe { owned(libc::shm_open(name.as_ptr(), flags | libc::O_RDWR | libc::O_CLOEXEC, 0o600)) }
    };
    let own = name(std::process::id().into(), number).ok();
    let make = |length| {
        fits_limit(length)?;
        let file = open(own.as_ref().ok_or(io::ErrorKind::InvalidInput)?, libc::O_CREAT | libc::O_EXCL)?;
        // A file system that is too small must fail here, not when memory is written.
        // SAFETY: an open file.
        match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, offset(length)?) } {
            0 => Ok(file),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    };
    let [number] = node.broadcast([number])?;
    let find = |invitation: &Invitation, length| invitation.names(open(&name(invitation.process, number)?, 0)?, length);
    let mapping = share(node, me, size, make, find, failure);
    if let (0, Some(own)) = (me, &own) {
        // SAFETY: a name. If the file could not be made, nothing has that name, or a file that
        // nobody uses.
        unsafe { libc::shm_unlink(own.as_ptr()) };
    }
    mapping
}
