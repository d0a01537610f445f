//! The executor of collectives that combine blocks which another executor delivers.
//!
//! The other executor receives the blocks as bytes in this one's memory; a block that is complete
//! is combined with the others, or with what is in its place. Blocks are combined in the order of
//! the source list, so that results are the same in each run and places may overlap; or in any
//! order. A query for a source (`arrived`) combines the blocks that it needs; all others are
//! combined when the last has come.
//!
//! Cost beyond the other executor's: one pass over each block, and memory for the data of all
//! blocks. Nothing is allocated once the longest blocks have been seen.

use std::sync::Arc;

use crate::datatype::buffers::{Blocks, Buffers, Ints, Shape, enlarge};
use crate::datatype::known::Known;
use crate::datatype::pack::Loopback;
use crate::error::{Error, Result};
use crate::exec::combine::Combine;
use crate::exec::executor::Executor;
use crate::exec::folding::{ChainEntry, Folding, Origin};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::device::Devices;
use crate::mpi::message;
use crate::observe::Record;
use crate::schedule::{Block, Op, Schedule};
use crate::util::cast::{to_int, to_usize};
use crate::util::memory::LINE;

/// Executes one schedule, and combines what it delivers.
pub struct Delivered<D: Executor> {
    /// Delivers the blocks.
    inner: D,
    folding: Folding,
    comm: Arc<Comm>,
    /// A communicator that holds only this process.
    self_comm: Arc<Comm>,
    me: i32,
    tag: i32,
    /// The blocks that are sent.
    sent: Vec<Block>,
    /// By source, bytes of its block, and where they begin in `data`.
    counts: Vec<i64>,
    displs: Vec<i64>,
    /// The received data, and where the first block begins there.
    data: Vec<u8>,
    aligned: usize,
    known: Known,
    running: bool,
    /// The first block that could not be combined.
    failure: Option<Box<Error>>,
}

impl<D: Executor> Delivered<D> {
    /// Makes an executor of what `inner` delivers, which executes `schedule`, on a neighborhood
    /// with so many sources.
    pub fn new(inner: D, combine: Combine, schedule: &Schedule, sources: usize, me: u32, comms: [Arc<Comm>; 2]) -> Self {
        let mut origins = vec![Origin::Nowhere; sources];
        for (source, _) in schedule.homes() {
            origins[to_usize(source)] = Origin::Remote;
        }
        let sent = schedule.ops().iter().filter_map(|op| match *op {
            Op::Send { block, .. } => Some(block),
            Op::Copy { from, .. } => Some(from),
            Op::Recv { .. } | Op::Reduce { .. } => None,
        });
        let [comm, self_comm] = comms;
        Delivered {
            inner,
            folding: Folding::new(combine, &origins),
            comm,
            self_comm,
            me: to_int(me),
            tag: 0,
            sent: sent.collect(),
            counts: vec![0; sources],
            displs: vec![0; sources],
            data: Vec::new(),
            aligned: 0,
            known: Known::default(),
            running: false,
            failure: None,
        }
    }

    /// Fails if a block lies in device memory that would be combined there, or is sent to be. Other
    /// blocks that are sent are found by the executor that sends them.
    #[cold]
    pub fn refuse_devices(&mut self, buffers: &Buffers, devices: &Devices) -> Result<()> {
        self.folding.find_devices(devices, buffers, self.sent.iter().copied())
    }

    /// Leaks the received data if MPI may still write it.
    fn leave_memory(&mut self) {
        if self.inner.is_stuck() {
            std::mem::forget(std::mem::take(&mut self.data));
        }
    }

    /// Combines the block at a position, unless that is done.
    fn combine(&mut self, position: usize) {
        if self.folding.is_done(position) {
            return;
        }
        let ChainEntry { source, offset, .. } = self.folding.chain[position];
        let data = self.data[self.aligned + offset..][..self.folding.bytes(source)].as_ptr();
        let loopback = Loopback { me: self.me, tag: self.tag, comm: &self.comm };
        // SAFETY: the caller of `bind` vouches for the buffers until the call is complete.
        if let Err(error) = unsafe { self.folding.fold(position, data, &self.known, loopback) } {
            self.failure.get_or_insert(error);
        }
    }

    /// Ends a call: combines what is left, unless blocks are missing.
    fn end(&mut self, delivered: Result<()>) -> Result<()> {
        if std::mem::take(&mut self.running) && delivered.is_ok() {
            (0..self.folding.chain.len()).for_each(|position| self.combine(position));
        }
        delivered.and(self.failure.take().map_or(Ok(()), Err))
    }
}

impl<D: Executor> Executor for Delivered<D> {
    fn observe(&mut self, record: &Arc<Record>) {
        self.inner.observe(record);
    }

    fn is_stuck(&self) -> bool {
        self.inner.is_stuck()
    }

    unsafe fn bind(&mut self, buffers: &Buffers) -> Result<()> {
        self.leave_memory();
        let Self { folding, counts, displs, known, .. } = self;
        // without sources, the operator is not significant
        if !folding.chain.is_empty() {
            let op = buffers.op.ok_or_else(|| Error::Internal("a call that combines has no operator".into()))?;
            folding.bind(op, &buffers.output, known, &self.comm, &self.self_comm)?;
        }
        let mut length = 0usize;
        for position in 0..folding.chain.len() {
            let source = folding.chain[position].source;
            let end = folding.put_at(source, length);
            let bytes = folding.bytes(source);
            (counts[to_usize(source)], displs[to_usize(source)]) = (to_int(bytes), to_int(length));
            length = (end.checked_next_multiple_of(LINE))
                .filter(|&end| isize::try_from(end).is_ok())
                .ok_or(Error::NoMemory { bytes })?;
        }
        enlarge(&mut self.data, length + LINE)?;
        self.aligned = self.data.as_ptr().align_offset(LINE);
        let base = self.data[self.aligned..].as_mut_ptr();
        let shape = Shape::Vector { counts: Ints::Wide(&self.counts), displs: Ints::Wide(&self.displs) };
        let output = Blocks { base, datatype: message::packed(), extent: 1, shape, names: buffers.output.names, field: None };
        // SAFETY: the caller vouches for what is sent; what is received goes to memory of our own.
        unsafe { self.inner.bind(&Buffers { input: buffers.input, output, op: None }) }
    }

    fn start(&mut self, tag: i32) -> Result<()> {
        let loopback = Loopback { me: self.me, tag, comm: &self.comm };
        // SAFETY: all blocks are delivered, also the process's own.
        unsafe { self.folding.start(loopback) }?;
        (self.tag, self.running, self.failure) = (tag, false, None);
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

    fn has_numbers(&self, many: u64) -> Result<()> {
        self.inner.has_numbers(many)
    }

    fn forget_datatypes(&mut self, watches: bool) {
        self.folding.forget_datatypes();
        self.known.forget(watches);
        self.inner.forget_datatypes(watches);
    }

    fn keeps_datatypes(&self) -> bool {
        true
    }

    fn arrived(&mut self, source: usize) -> Result<bool> {
        if let Some(error) = &self.failure {
            return Err(error.clone());
        }
        while self.running && !self.folding.is_source_done(source) {
            let Some(position) = self.folding.next_for(source) else { break };
            if !self.inner.arrived(to_usize(self.folding.chain[position].source))? {
                return Ok(false);
            }
            self.combine(position);
        }
        self.failure.clone().map_or(Ok(true), Err)
    }
}

impl<D: Executor> Drop for Delivered<D> {
    fn drop(&mut self) {
        self.leave_memory();
    }
}
