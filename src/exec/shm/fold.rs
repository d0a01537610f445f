//! Reduces blocks straight from where they lie: in the order of the sources, or as they arrive.
//!
//! Predefined operators on int, long, float and double run in loops of our own, which read block
//! and result, and write the result. All others use `MPI_Reduce_local`, which leaves its result in
//! the right operand: each block is first copied next to the result so far. Cost: one pass over
//! block and result; two with `MPI_Reduce_local`.

use crate::datatype::buffers::enlarge;
use crate::datatype::buffers::{self, Blocks, Located};
use crate::datatype::check::refuse_null;
use crate::datatype::known::Known;
use crate::datatype::pack::Packing;
use crate::error::{Error, Result};
use crate::exec::blocks::Loopback;
use crate::exec::elements::fold_in_place;
use crate::exec::scratch::{Places, Room, Scratch};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::op::{self, Element, Operator};
use crate::mpi::{Datatype, Op};
use crate::schedule::FoldOrder;

/// Where the block of a source comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Nowhere,
    /// A process of the node: its position among the inbound channels, and the number of its block.
    Peer(u32, u32),
    /// The process itself: the entry in its list of targets, and the index of the copy.
    Own(u32, u32),
    Remote,
}

/// A block that the process sends to itself.
struct OwnBlock {
    target: u32,
    /// How its bytes are reached. Those that are not contiguous are packed when the call starts.
    way: Packing,
    block: Located,
    packed: Vec<u8>,
}

/// A reduction of the blocks of all sources.
pub struct Folding {
    order: FoldOrder,
    /// The sources that are processes, as entries of the list of sources, and where their blocks
    /// come from.
    pub chain: Vec<(u32, Origin)>,
    /// Which positions in `chain` are done, and how many; the number of blocks in the result; the
    /// first position that is not done.
    done: Vec<bool>,
    count_done: usize,
    folded: usize,
    next: usize,
    /// By source, its position in `chain`.
    of_source: Vec<Option<u32>>,
    op: Option<Op>,
    accepted: Option<(Op, Datatype)>,
    predefined: Option<(Operator, Element)>,
    result: Option<Located>,
    extent: i64,
    bytes: usize,
    /// How the result's data is unpacked, and its address, if it is contiguous.
    way: Packing,
    in_place: Option<*mut u8>,
    own: Vec<OwnBlock>,
    /// Two blocks with the layout of the result.
    scratch: Scratch,
    kept: Places,
    /// Index of the one that holds the result so far.
    at: usize,
}

impl Folding {
    pub fn new(order: FoldOrder, origins: &[Origin]) -> Folding {
        let chain: Vec<(u32, Origin)> = (0..).zip(origins.iter().copied()).filter(|c| c.1 != Origin::Nowhere).collect();
        let mut of_source = vec![None; origins.len()];
        for (position, &(source, _)) in (0..).zip(&chain) {
            of_source[source as usize] = Some(position);
        }
        Folding {
            order,
            done: vec![false; chain.len()],
            chain,
            count_done: 0,
            folded: 0,
            next: 0,
            of_source,
            op: None,
            accepted: None,
            predefined: None,
            result: None,
            extent: 0,
            bytes: 0,
            way: Packing::InPlace(std::ptr::null_mut()),
            in_place: None,
            own: Vec::new(),
            scratch: Scratch::default(),
            kept: Places::NONE,
            at: 0,
        }
    }

    /// Bytes of a block.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Binds the result, and checks the operator.
    pub fn bind(&mut self, op: Op, side: &Blocks, known: &Known, comm: &Comm, self_comm: &Comm) -> Result<()> {
        self.own.clear();
        if self.chain.is_empty() {
            // without sources, the arguments are not significant
            return Ok(());
        }
        let result = side.locate(0)?;
        if self.accepted != Some((op, result.datatype)) {
            result
                .datatype
                .check_committed(comm)
                .map_err(|e| Error::Datatype { argument: side.datatype_argument(0), text: said(*e) })?;
            op.check_type(result.datatype, self_comm)
                .map_err(|e| Error::Operator { argument: side.datatype_argument(0), text: said(*e) })?;
            self.accepted = Some((op, result.datatype));
            self.predefined = op::predefined(op, result.datatype);
        }
        refuse_null(&result, side)?;
        let (way, size) = Packing::of(&result, known, comm)?;
        let argument = || side.count_argument(0);
        let bytes = buffers::length(result.count, size, argument)?;
        (self.op, self.extent, self.bytes) = (Some(op), side.extent, bytes);
        self.in_place = if let Packing::InPlace(at) = way { Some(at) } else { None };
        self.way = way;
        if self.predefined.is_none() && self.chain.len() > 1 {
            let room = Room::of(&result, side.extent, argument)?;
            self.scratch.hold(room, 2)?;
            self.kept = self.scratch.places(room);
        }
        self.result = Some(result);
        Ok(())
    }

    /// Binds the block that the process sends to itself along the self edge from entry `target` of
    /// its list of targets.
    pub fn bind_own(&mut self, target: u32, block: Located, known: &Known, comm: &Comm) -> Result<()> {
        let (way, size) = Packing::of(&block, known, comm)?;
        let sent = i128::from(size) * i128::from(block.count);
        if sent != self.bytes as i128 {
            let source = self.chain.iter().find(|c| matches!(c.1, Origin::Own(t, _) if t == target));
            let (source_entry, expected) = (source.map_or(0, |s| s.0 as usize), self.bytes as i128);
            return Err(Error::SelfEdge { target: target as usize, sent, source_entry, expected }.into());
        }
        let mut packed = Vec::new();
        if !way.is_in_place() {
            enlarge(&mut packed, self.bytes)?;
        }
        self.own.push(OwnBlock { target, way, block, packed });
        Ok(())
    }

    /// Starts a reduction.
    ///
    /// # Safety
    /// The process's own blocks must be readable.
    pub unsafe fn start(&mut self, loopback: Loopback) -> Result<()> {
        self.done.fill(false);
        (self.count_done, self.folded, self.next, self.at) = (0, 0, 0, 0);
        for own_block in &mut self.own {
            if !own_block.way.is_in_place() {
                // SAFETY: the caller vouches for the block.
                unsafe { own_block.way.pack(&own_block.block, &mut own_block.packed, loopback.me, loopback.tag, loopback.comm) }?;
            }
        }
        Ok(())
    }

    /// Returns the data of the process's own block for `target`.
    pub fn own_data(&self, target: u32) -> *const u8 {
        let block = self.own.iter().find(|b| b.target == target);
        block.map_or(std::ptr::null(), |b| if let Packing::InPlace(at) = b.way { at } else { b.packed.as_ptr() })
    }

    /// Returns the positions in `chain` whose turn may have come.
    pub fn candidates(&self) -> std::ops::Range<usize> {
        match self.order {
            FoldOrder::Source => self.next..(self.next + 1).min(self.chain.len()),
            FoldOrder::Any => 0..self.chain.len(),
        }
    }

    /// True if the block at a position is part of the result, or was skipped.
    pub fn is_done(&self, position: usize) -> bool {
        self.done[position]
    }

    /// True if a source's block is part of the result, and for a source that is no process.
    pub fn is_source_done(&self, source: usize) -> bool {
        self.of_source.get(source).copied().flatten().is_none_or(|position| self.done[position as usize])
    }

    /// Number of blocks that are part of the result, or were skipped.
    pub fn count_done(&self) -> usize {
        self.count_done
    }

    /// True if all blocks are done.
    pub fn is_complete(&self) -> bool {
        self.count_done == self.chain.len()
    }

    /// Leaves a block out that cannot be used.
    pub fn skip(&mut self, position: usize) {
        if !std::mem::replace(&mut self.done[position], true) {
            self.count_done += 1;
        }
        while self.done.get(self.next) == Some(&true) {
            self.next += 1;
        }
    }

    /// Folds a block into the result.
    ///
    /// # Safety
    /// `data` must be readable for the bytes of a block, and the result writable.
    pub unsafe fn fold(&mut self, position: usize, data: *const u8, loopback: Loopback) -> Result<()> {
        let (first, last) = (self.folded == 0, self.count_done + 1 == self.chain.len());
        self.skip(position);
        self.folded += 1;
        let (Some(result), Some(op)) = (self.result, self.op) else { return Ok(()) };
        // SAFETY: the caller vouches for data and result; the kept blocks are as long as the
        // result.
        unsafe {
            match (self.predefined, self.in_place) {
                _ if first && last => self.place(data, &result, loopback),
                (Some(_), Some(into)) if first => {
                    std::ptr::copy_nonoverlapping(data, into, self.bytes);
                    Ok(())
                }
                (Some((operator, element)), Some(into)) => {
                    fold_in_place(operator, element, into, data, self.bytes);
                    Ok(())
                }
                _ => {
                    let next = 1 - self.at;
                    let into = if last { result.at } else { self.kept.at(next) };
                    let so_far = self.kept.at(self.at);
                    self.place(data, &Located { at: into, ..result }, loopback)?;
                    self.at = next;
                    if first {
                        return Ok(());
                    }
                    op::reduce(so_far, into, result.count, self.extent, result.datatype, op)
                }
            }
        }
    }

    /// Unpacks a block to where `into` says.
    unsafe fn place(&self, data: *const u8, into: &Located, loopback: Loopback) -> Result<()> {
        // SAFETY: as for `fold`.
        unsafe {
            match (self.in_place, &self.result) {
                (Some(at), Some(result)) => {
                    let offset = at.addr().wrapping_sub(result.at.addr());
                    std::ptr::copy_nonoverlapping(data, into.at.wrapping_add(offset), self.bytes);
                    Ok(())
                }
                _ => {
                    // unpacking only reads here
                    let data = std::slice::from_raw_parts_mut(data.cast_mut(), self.bytes);
                    self.way.unpack_front(data, into, self.bytes, loopback.me, loopback.tag, loopback.comm)
                }
            }
        }
    }

    /// Forgets which operator and datatype MPI has accepted.
    pub fn forget_datatypes(&mut self) {
        self.accepted = None;
    }
}

/// Returns MPI's text without the name of the function, which was only called to check.
#[cold]
fn said(e: Error) -> String {
    match e {
        Error::Mpi { text, .. } => text,
        other => other.to_string(),
    }
}
