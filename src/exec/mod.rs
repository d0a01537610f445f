//! Executors: each is made for one [`crate::schedule::Schedule`], binds it to buffers, counts and
//! datatypes, and runs it.

pub mod copy;
pub mod device;
pub mod forward;
pub mod guards;
pub mod lasting;
pub mod p2p;
pub mod shm;
pub mod tags;

use crate::datatype::buffers;
use crate::error::{Error, Result};
use crate::mpi;

/// Runs a schedule over one transport, one collective at a time, any number of times.
pub trait Executor {
    /// Finds out for each operation of the schedule which bytes it moves, and checks all arguments.
    /// Nothing is sent or written. Allocates only when a block is larger than any before.
    ///
    /// # Safety
    /// The buffers must be what the C prototypes ask for, and stay so until the collective is
    /// complete.
    unsafe fn bind(&mut self, buffers: &buffers::Buffers) -> Result<()>;

    /// Starts what is bound. Its messages have `tag`.
    fn start(&mut self, tag: i32) -> Result<()>;

    /// Does what can be done without waiting. Whether what was started has come to its end, or
    /// nothing was.
    fn test(&mut self) -> Result<bool>;

    /// Runs what is started to its end.
    fn wait(&mut self) -> Result<()>;

    /// Whether `start` posts all messages, so that MPI alone moves them: nobody waits for anything
    /// that this process does later.
    fn posts_at_once(&self) -> bool;

    /// Returns whether a start has failed half-way, so that only binding makes it usable again.
    fn is_lost(&self) -> bool;

    /// Forgets which datatypes MPI has accepted: handles of some may have been freed and come back
    /// as others.
    fn forget_datatypes(&mut self);

    /// Whether datatypes are used after the start.
    fn keeps_datatypes(&self) -> bool;

    /// Whether the block of source slot `source` is complete, and in a reduction is part of the
    /// result. Does what can be done for it without waiting; `test` has been called before. True
    /// also when nothing is under way.
    fn arrived(&mut self, source: usize) -> Result<bool>;
}

/// The executor that a schedule needs. The one that nearly all need is not behind another address.
#[allow(clippy::large_enum_variant)]
pub enum Any {
    /// Whole blocks and parts of them.
    P2p(p2p::P2p),
    /// Whole blocks and parts of them, by shared memory where there is such.
    Shm(Box<shm::Shm>),
    /// Packets.
    Packets(Box<forward::Packets>),
}

impl From<p2p::P2p> for Any {
    fn from(executor: p2p::P2p) -> Any {
        Any::P2p(executor)
    }
}

impl Any {
    /// Counts and traces what it does from now on.
    pub fn observe(&mut self, record: &std::sync::Arc<crate::observe::Record>) {
        match self {
            Any::P2p(executor) => executor.observe(record),
            Any::Shm(executor) => executor.observe(record),
            Any::Packets(executor) => executor.observe(record),
        }
    }

    /// Returns whether MPI may still be at work in the buffers that are bound, though nothing is
    /// under way.
    pub fn is_stuck(&self) -> bool {
        match self {
            Any::P2p(executor) => executor.is_stuck(),
            Any::Shm(executor) => executor.is_stuck(),
            // its blocks come in memory of its own
            Any::Packets(executor) => executor.is_lost(),
        }
    }

    /// Binds several fields, which are exchanged together by shared memory, of an executor that has
    /// no other edges.
    ///
    /// # Safety
    /// As for `Executor::bind`.
    pub unsafe fn bind_near(&mut self, fields: &[buffers::Buffers]) -> Result<()> {
        match self {
            // SAFETY: the caller vouches for the buffers.
            Any::Shm(executor) => unsafe {
                executor.bind_fields(fields)?;
                mpi::device::devices().map_or(Ok(()), |devices| executor.find_devices(fields, &devices))
            },
            _ => Err(Error::Internal("this executor takes one field".into()).into()),
        }
    }
}

impl Executor for Any {
    #[inline]
    unsafe fn bind(&mut self, buffers: &buffers::Buffers) -> Result<()> {
        // SAFETY: the caller vouches for the buffers.
        unsafe {
            match self {
                Any::P2p(executor) => executor.bind(buffers),
                Any::Shm(executor) => executor.bind(buffers),
                Any::Packets(executor) => executor.bind(buffers),
            }?;
            match mpi::device::devices() {
                None => Ok(()),
                Some(devices) => self.find_devices(buffers, &devices),
            }
        }
    }

    #[inline]
    fn start(&mut self, tag: i32) -> Result<()> {
        match self {
            Any::P2p(executor) => executor.start(tag),
            Any::Shm(executor) => executor.start(tag),
            Any::Packets(executor) => executor.start(tag),
        }
    }

    #[inline]
    fn test(&mut self) -> Result<bool> {
        match self {
            Any::P2p(executor) => executor.test(),
            Any::Shm(executor) => executor.test(),
            Any::Packets(executor) => executor.test(),
        }
    }

    #[inline]
    fn wait(&mut self) -> Result<()> {
        match self {
            Any::P2p(executor) => executor.wait(),
            Any::Shm(executor) => executor.wait(),
            Any::Packets(executor) => executor.wait(),
        }
    }

    fn posts_at_once(&self) -> bool {
        match self {
            Any::P2p(executor) => executor.posts_at_once(),
            Any::Shm(executor) => executor.posts_at_once(),
            Any::Packets(executor) => executor.posts_at_once(),
        }
    }

    fn is_lost(&self) -> bool {
        match self {
            Any::P2p(executor) => executor.is_lost(),
            Any::Shm(executor) => executor.is_lost(),
            Any::Packets(executor) => executor.is_lost(),
        }
    }

    fn forget_datatypes(&mut self) {
        match self {
            Any::P2p(executor) => executor.forget_datatypes(),
            Any::Shm(executor) => executor.forget_datatypes(),
            Any::Packets(executor) => executor.forget_datatypes(),
        }
    }

    #[inline]
    fn keeps_datatypes(&self) -> bool {
        match self {
            Any::P2p(executor) => executor.keeps_datatypes(),
            Any::Shm(executor) => executor.keeps_datatypes(),
            Any::Packets(executor) => executor.keeps_datatypes(),
        }
    }

    fn arrived(&mut self, source: usize) -> Result<bool> {
        match self {
            Any::P2p(executor) => executor.arrived(source),
            Any::Shm(executor) => executor.arrived(source),
            Any::Packets(executor) => executor.arrived(source),
        }
    }
}
