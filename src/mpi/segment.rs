//! Memory that the processes of a node share.
//!
//! One anonymous file (`memfd_create`), which the others open through `/proc`; where that is not possible (processes of different containers) one in
//! `/dev/shm`, whose name is removed as soon as all have opened it. Either is gone with the last process that has it, however that ends. Not a window of MPI:
//! freeing one is collective, and what hangs on a communicator does not go at the same time everywhere.
//!
//! Each process holds a lock on a byte of the file, which the kernel drops when the process ends: so the others see whether it lives. It gives the lock back
//! when MPI is finalized.
//!
//! Cost: one mapping and one open file for each segment and process; pages are there when they are first written.

use std::ffi::CString;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::attribute::Key;
use super::coll::{self, Reduction};
use super::comm::{self, Owned as Comm};
use crate::error::Result;

/// The parts of a segment begin on pages.
const PAGE: usize = 4096;

/// Memory of all processes of a node, unmapped when dropped.
#[derive(Debug)]
pub struct Segment {
    base: *mut u8,
    length: usize,
    file: Arc<OwnedFd>,
    /// Where the part of each process begins.
    parts: Vec<usize>,
}

// SAFETY: memory that all processes may write at any time anyhow; whoever uses it keeps to a protocol of atomics.
unsafe impl Send for Segment {}
// SAFETY: as above.
unsafe impl Sync for Segment {}

/// What the others need to open the file.
#[derive(Debug, Clone, Copy, Default)]
struct Invitation {
    process: u64,
    file: u64,
    /// Of the file: in another container, the same process number is another process.
    device: u64,
    inode: u64,
}

impl Segment {
    /// Makes a segment in which this process has a part of `bytes` bytes, zeroed. `None` where nobody wants a part, where all parts together are more than `most`
    /// bytes, or where it cannot be made, and then on all processes. Collective over `node`: all its processes share memory. O(processes of the node) memory.
    pub fn new(bytes: usize, most: usize, node: &Comm) -> Result<Option<Segment>> {
        // SAFETY: a live communicator.
        let (me, size) = unsafe { (comm::rank(node.raw())?, comm::size(node.raw())?) };
        // too much for what is told is too much for the memory
        let pages = u32::try_from(bytes.div_ceil(PAGE)).unwrap_or(u32::MAX);
        let all = coll::allgather(node, pages, size)?;
        let mut parts = Vec::with_capacity(all.len());
        let mut length = 0usize;
        for pages in &all {
            parts.push(length);
            length = length.saturating_add(PAGE * *pages as usize);
        }
        if length == 0 || length > most || all.contains(&u32::MAX) {
            return Ok(None);
        }
        let file = match share(node, me, length, anonymous, through_proc)? {
            Some(file) => file,
            None => match named(node, me, length)? {
                Some(file) => file,
                None => return Ok(None),
            },
        };
        let segment = Segment::map(file, length, parts).filter(|segment| segment.hold(me));
        if let Some(segment) = &segment {
            leave_with_mpi(&segment.file)?;
        }
        // also: nobody asks who lives before all hold their locks
        let [mapped] = coll::allreduce(node, [i64::from(segment.is_some())], Reduction::Min)?;
        Ok(segment.filter(|_| mapped == 1))
    }

    fn map(file: OwnedFd, length: usize, parts: Vec<usize>) -> Option<Segment> {
        // SAFETY: a new mapping of an open file that is as long.
        let base = unsafe {
            libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED, file.as_raw_fd(), 0)
        };
        (base != libc::MAP_FAILED).then(|| Segment { base: base.cast(), length, file: Arc::new(file), parts })
    }

    /// The part of a process.
    pub fn part(&self, process: u32) -> *mut u8 {
        self.base.wrapping_add(self.parts[process as usize])
    }

    /// Where an address of the segment lies in it, which is the same on all processes.
    pub fn position(&self, at: *const u8) -> usize {
        at.addr() - self.base.addr()
    }

    /// The address of a position, if so many bytes lie there.
    #[inline(always)]
    pub fn at(&self, position: usize, bytes: usize) -> Option<*mut u8> {
        (position <= self.length && bytes <= self.length - position).then(|| self.base.wrapping_add(position))
    }

    /// Takes the lock that says that this process lives.
    fn hold(&self, me: u32) -> bool {
        self.lock(libc::F_OFD_SETLK, me).is_some()
    }

    /// Whether a process lives and has the segment. A system call.
    pub fn lives(&self, process: u32) -> bool {
        // where it cannot be found out nobody is said to be dead
        self.lock(libc::F_OFD_GETLK, process).is_none_or(|kind| kind != libc::F_UNLCK as libc::c_short)
    }

    /// Sets or asks for a lock. The kind that there is; `None` if that failed.
    fn lock(&self, command: libc::c_int, process: u32) -> Option<libc::c_short> {
        // SAFETY: a struct of numbers.
        let mut lock: libc::flock = unsafe { std::mem::zeroed() };
        lock.l_type = libc::F_WRLCK as libc::c_short;
        lock.l_whence = libc::SEEK_SET as libc::c_short;
        (lock.l_start, lock.l_len) = (libc::off_t::from(process), 1);
        // SAFETY: an open file; the struct is a local.
        let done = unsafe { libc::fcntl(self.file.as_raw_fd(), command, &mut lock) };
        (done == 0).then_some(lock.l_type)
    }
}

/// Files whose locks are given back when MPI is finalized: hangs on `MPI_COMM_SELF`, whose attributes MPI drops first. A process that waits there for others
/// does nothing for them any more.
#[derive(Default)]
struct Leaving(Mutex<Vec<Weak<OwnedFd>>>);

static LEAVING: Key<Leaving> = Key::new();

/// Notes a file for the end of MPI.
fn leave_with_mpi(file: &Arc<OwnedFd>) -> Result<()> {
    // two threads may come at the same time
    static MAKING: Mutex<()> = Mutex::new(());
    let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    let own = comm::itself();
    // SAFETY: a communicator that there always is; the value stays as long as MPI does.
    unsafe {
        if LEAVING.get(own)?.is_null() {
            LEAVING.set(own, Leaving::default())?;
        }
        if let Some(Leaving(files)) = LEAVING.get(own)?.as_ref() {
            let mut files = files.lock().unwrap_or_else(PoisonError::into_inner);
            files.retain(|file| file.strong_count() > 0);
            files.push(Arc::downgrade(file));
        }
    }
    Ok(())
}

impl Drop for Leaving {
    fn drop(&mut self) {
        let files = std::mem::take(self.0.get_mut().unwrap_or_else(PoisonError::into_inner));
        for file in files.iter().filter_map(Weak::upgrade) {
            // SAFETY: a struct of numbers; an open file. All of it: this process has one lock there.
            unsafe {
                let mut lock: libc::flock = std::mem::zeroed();
                lock.l_type = libc::F_UNLCK as libc::c_short;
                lock.l_whence = libc::SEEK_SET as libc::c_short;
                libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &mut lock);
            }
        }
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // SAFETY: the mapping that `map` made; whoever had addresses in it held the segment.
        unsafe { libc::munmap(self.base.cast(), self.length) };
    }
}

/// A file of `length` bytes that has no name.
fn anonymous(length: usize) -> Option<OwnedFd> {
    // SAFETY: a new file, which is owned from here on.
    let file = unsafe {
        let fd = libc::memfd_create(c"mpix-neighbor".as_ptr(), libc::MFD_CLOEXEC);
        (fd >= 0).then(|| OwnedFd::from_raw_fd(fd))
    }?;
    enlarge(&file, length).then_some(file)
}

fn enlarge(file: &OwnedFd, length: usize) -> bool {
    let Ok(length) = libc::off_t::try_from(length) else { return false };
    // SAFETY: an open file.
    unsafe { libc::ftruncate(file.as_raw_fd(), length) == 0 }
}

/// Opens the file of another process.
fn through_proc(invitation: &Invitation, length: usize) -> Option<OwnedFd> {
    let path = CString::new(format!("/proc/{}/fd/{}", invitation.process, invitation.file)).ok()?;
    // SAFETY: a path; the file that is opened is owned from here on.
    let file = unsafe {
        let fd = libc::open(path.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
        (fd >= 0).then(|| OwnedFd::from_raw_fd(fd))
    }?;
    let (device, inode, size) = identity(file.as_raw_fd())?;
    (device == invitation.device && inode == invitation.inode && size == length as u64).then_some(file)
}

/// Device, inode and length of a file.
fn identity(file: RawFd) -> Option<(u64, u64, u64)> {
    // SAFETY: an open file; a struct of numbers.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        (libc::fstat(file, &mut status) == 0).then_some((status.st_dev, status.st_ino, status.st_size as u64))
    }
}

/// Makes a file on process 0 and opens it on the others; `None` on all if that fails on one. Collective.
fn share(
    node: &Comm,
    me: u32,
    length: usize,
    make: impl FnOnce(usize) -> Option<OwnedFd>,
    open: impl FnOnce(&Invitation, usize) -> Option<OwnedFd>,
) -> Result<Option<OwnedFd>> {
    let mut words = [0u64; 4];
    let mut file = None;
    if me == 0 {
        file = make(length);
        if let Some((file, (device, inode, _))) = file.as_ref().and_then(|f| Some((f, identity(f.as_raw_fd())?))) {
            words = [std::process::id().into(), file.as_raw_fd() as u64, device, inode];
        }
    }
    let mut message: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    coll::broadcast(node, &mut message, 0)?;
    let word = |k: usize| u64::from_le_bytes(std::array::from_fn(|i| message[8 * k + i]));
    if me != 0 && word(0) != 0 {
        file = open(&Invitation { process: word(0), file: word(1), device: word(2), inode: word(3) }, length);
    }
    let [all] = coll::allreduce(node, [i64::from(file.is_some())], Reduction::Min)?;
    Ok(file.filter(|_| all == 1))
}

/// A file with a name in shared memory, which is removed when all have opened it. Collective.
fn named(node: &Comm, me: u32, length: usize) -> Result<Option<OwnedFd>> {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let name = |process: u64, number: u64| CString::new(format!("/mpix-neighbor-{process}-{number}")).ok();
    // one that another process has left behind, with the same number in another container, is not in the way
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    let number = now << 16 | u64::from(MADE.fetch_add(1, Ordering::Relaxed) & 0xffff);
    let open = |name: &CString, flags: libc::c_int| {
        // SAFETY: a name; the file that is opened is owned from here on.
        unsafe {
            let fd = libc::shm_open(name.as_ptr(), flags | libc::O_RDWR | libc::O_CLOEXEC, 0o600);
            (fd >= 0).then(|| OwnedFd::from_raw_fd(fd))
        }
    };
    let own = name(std::process::id().into(), number);
    let make = |length| {
        let file = open(own.as_ref()?, libc::O_CREAT | libc::O_EXCL)?;
        // a file system that is too small is found here, not when memory is written
        let length = libc::off_t::try_from(length).ok()?;
        // SAFETY: an open file.
        unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, length) == 0 }.then_some(file)
    };
    let mut count = number.to_le_bytes();
    coll::broadcast(node, &mut count, 0)?;
    let opened = share(node, me, length, make, |invitation, length| {
        let file = open(&name(invitation.process, u64::from_le_bytes(count))?, 0)?;
        let (device, inode, size) = identity(file.as_raw_fd())?;
        (device == invitation.device && inode == invitation.inode && size == length as u64).then_some(file)
    });
    if let (0, Some(own)) = (me, &own) {
        // SAFETY: a name. Nothing is there if making it failed.
        unsafe { libc::shm_unlink(own.as_ptr()) };
    }
    opened
}
