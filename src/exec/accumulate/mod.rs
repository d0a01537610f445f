//! The executor of collectives that combine each received block with what is in the caller's
//! buffer.
//!
//! Another executor receives the blocks as bytes in this one's memory; when a block is complete, it
//! is combined in its place. Blocks are combined in the order of the source list, so that results
//! are the same in each run and places may overlap; or in any order. A query for a source
//! (`arrived`) combines the blocks that it needs; all others are combined when the last has come.
//!
//! Cost beyond the other executor's: one pass over each block, and memory for the data of all
//! blocks. Nothing is allocated once the longest blocks have been seen.

pub mod accumulation;
pub mod block;

use std::sync::Arc;

use self::accumulation::Accumulation;
use crate::datatype::buffers::{Blocks, Buffers, Ints, Shape, enlarge};
use crate::datatype::known::Known;
use crate::datatype::pack::Loopback;
use crate::error::{Error, Result};
use crate::exec::device::{no_reduction, refuse};
use crate::exec::executor::Executor;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::device::Devices;
use crate::mpi::message;
use crate::observe::Record;
use crate::schedule::{Block, FoldOrder, Schedule};
use crate::util::cast::{to_int, to_u32, to_usize};

/// Alignment of each block's data: a cache line.
const LINE: usize = 64;

/// An executor that delivers blocks to be combined.
pub trait Delivers: Executor {
    /// Returns true if MPI may still access the bound buffers although no call is active.
    fn is_stuck(&self) -> bool;

    /// Counts and traces this executor from now on.
    fn observe(&mut self, record: &Arc<Record>);
}

/// Executes one schedule, and combines what it delivers.
pub struct Accumulate<D: Delivers> {
    /// Delivers the blocks.
    inner: D,
    order: FoldOrder,
    comm: Arc<Comm>,
    /// A communicator that holds only this process.
    self_comm: Arc<Comm>,
    me: i32,
    tag: i32,
    /// The blocks that the schedule delivers, in the order of their sources.
    blocks: Accumulation,
    /// By source, its position among the blocks.
    of_source: Vec<Option<u32>>,
    /// By source, bytes of its block, and where they begin in `data`.
    counts: Vec<i64>,
    displs: Vec<i64>,
    /// The received data.
    data: Vec<u8>,
    known: Known,
    /// True for each block that has been combined; the first one that may not have been.
    done: Vec<bool>,
    next: usize,
    running: bool,
    /// The first block that could not be combined.
    failure: Option<Box<Error>>,
}

impl<D: Delivers> Accumulate<D> {
    /// Makes an executor of what `inner` delivers, which executes `schedule`, on a neighborhood
    /// with so many sources.
    pub fn new(inner: D, order: FoldOrder, schedule: &Schedule, sources: usize, me: u32, comms: [Arc<Comm>; 2]) -> Self {
        let mut of_source = vec![None; sources];
        for (source, _) in schedule.homes() {
            of_source[to_usize(source)] = Some(0);
        }
        let mut entries = Vec::new();
        for (source, position) in (0u32..).zip(&mut of_source).filter(|(_, position)| position.is_some()) {
            *position = Some(to_u32(entries.len()));
            entries.push(source);
        }
        let [comm, self_comm] = comms;
        Accumulate {
            inner,
            order,
            comm,
            self_comm,
            me: to_int(me),
            tag: 0,
            done: vec![false; entries.len()],
            next: 0,
            blocks: Accumulation::new(entries.into_iter()),
            of_source,
            counts: vec![0; sources],
            displs: vec![0; sources],
            data: Vec::new(),
            known: Known::default(),
            running: false,
            failure: None,
        }
    }

    /// Counts and traces this executor from now on.
    pub fn observe(&mut self, record: &Arc<Record>) {
        self.inner.observe(record);
    }

    /// Returns true if MPI may still access the bound buffers although no call is active.
    pub fn is_stuck(&self) -> bool {
        self.inner.is_stuck()
    }

    /// Fails if a block would be combined in device memory. Blocks that are sent are found by the
    /// executor that sends them.
    #[cold]
    pub fn refuse_devices(&self, buffers: &Buffers, devices: &Devices) -> Result<()> {
        refuse(devices, buffers, self.blocks.sources().map(Block::Output), no_reduction)
    }

    /// Leaks the received data if MPI may still write it.
    fn leave_memory(&mut self) {
        if self.inner.is_stuck() {
            std::mem::forget(std::mem::take(&mut self.data));
        }
    }

    /// Combines the block at a position, unless that is done.
    fn combine(&mut self, position: usize) {
        if std::mem::replace(&mut self.done[position], true) {
            return;
        }
        let source = to_usize(self.blocks.source(position));
        let begin = to_usize(self.displs[source]);
        let data = self.data[begin..][..to_usize(self.counts[source])].as_ptr();
        let loopback = Loopback { me: self.me, tag: self.tag, comm: &self.comm };
        // SAFETY: the caller of `bind` vouches for the buffers until the call is complete.
        if let Err(error) = unsafe { self.blocks.combine(position, data, &self.known, loopback) } {
            self.failure.get_or_insert(error);
        }
    }

    /// Ends a call: combines what is left, unless blocks are missing.
    fn end(&mut self, delivered: Result<()>) -> Result<()> {
        if std::mem::take(&mut self.running) && delivered.is_ok() {
            (0..self.done.len()).for_each(|position| self.combine(position));
        }
        delivered.and(self.failure.take().map_or(Ok(()), Err))
    }
}

impl<D: Delivers> Executor for Accumulate<D> {
    unsafe fn bind(&mut self, buffers: &Buffers) -> Result<()> {
        self.leave_memory();
        self.blocks.bind(buffers.op, &buffers.output, &self.known, &self.comm, &self.self_comm)?;
        let mut length = 0usize;
        for (position, source) in self.blocks.sources().map(to_usize).enumerate() {
            let bytes = self.blocks.bytes(position);
            (self.counts[source], self.displs[source]) = (to_int(bytes), to_int(length));
            length = (length.checked_add(bytes))
                .and_then(|end| end.checked_next_multiple_of(LINE))
                .filter(|&end| isize::try_from(end).is_ok())
                .ok_or(Error::NoMemory { bytes })?;
        }
        enlarge(&mut self.data, length + LINE)?;
        let aligned = self.data.as_ptr().align_offset(LINE);
        self.displs.iter_mut().for_each(|displ| *displ += to_int::<i64>(aligned));
        let shape = Shape::Vector { counts: Ints::Wide(&self.counts), displs: Ints::Wide(&self.displs) };
        let names = buffers.output.names;
        let output = Blocks { base: self.data.as_mut_ptr(), datatype: message::packed(), extent: 1, shape, names };
        // SAFETY: the caller vouches for what is sent; what is received goes to memory of our own.
        unsafe { self.inner.bind(&Buffers { input: buffers.input, output, op: None }) }
    }

    fn start(&mut self, tag: i32) -> Result<()> {
        self.done.fill(false);
        (self.tag, self.next, self.running, self.failure) = (tag, 0, false, None);
        self.inner.start(tag)?;
        self.running = true;
        Ok(())
    }

    fn test(&mut self) -> Result<bool> {
        match self.inner.test() {
            Ok(false) => Ok(false),
            ended => self.end(ended.map(|_| ())).map(|()| true),
        }
    }

    fn wait(&mut self) -> Result<()> {
        let delivered = self.inner.wait();
        self.end(delivered)
    }

    fn posts_at_once(&self) -> bool {
        self.inner.posts_at_once()
    }

    fn can_start(&self) -> Result<()> {
        self.inner.can_start()
    }

    fn forget_datatypes(&mut self) {
        self.blocks.forget_datatypes();
        self.inner.forget_datatypes();
    }

    fn keeps_datatypes(&self) -> bool {
        true
    }

    fn arrived(&mut self, source: usize) -> Result<bool> {
        let Some(position) = self.of_source.get(source).copied().flatten().map(to_usize) else { return Ok(true) };
        if let Some(error) = &self.failure {
            return Err(error.clone());
        }
        if !self.running || self.done[position] {
            return Ok(true);
        }
        let first = if self.order == FoldOrder::Source { self.next } else { position };
        for position in first..=position {
            if !self.inner.arrived(to_usize(self.blocks.source(position)))? {
                return Ok(false);
            }
            self.combine(position);
            self.next = position + 1;
        }
        match &self.failure {
            Some(error) => Err(error.clone()),
            None => Ok(true),
        }
    }
}

impl<D: Delivers> Drop for Accumulate<D> {
    fn drop(&mut self) {
        self.leave_memory();
    }
}
