//! The caller's buffers: the address, element count and datatype of each block.

use crate::error::{Argument, Error, Result};
use crate::mpi::datatype::{Datatype, Datatypes};
use crate::mpi::device::Devices;
use crate::util::cast::{to_int, to_offset};

/// An array of counts or displacements, in any of MPI's integer widths.
#[derive(Debug, Clone, Copy)]
pub enum Ints<'a> {
    /// `int`
    Narrow(&'a [i32]),
    /// `MPI_Count`, and `MPI_Aint` where it is `long`
    Wide(&'a [i64]),
    /// `MPI_Aint` where it is `ptrdiff_t`
    Address(&'a [isize]),
}

impl Ints<'_> {
    fn len(&self) -> usize {
        match self {
            Ints::Narrow(v) => v.len(),
            Ints::Wide(v) => v.len(),
            Ints::Address(v) => v.len(),
        }
    }

    #[inline]
    fn get(&self, i: usize) -> i64 {
        match self {
            Ints::Narrow(v) => v[i].into(),
            Ints::Wide(v) => v[i],
            Ints::Address(v) => v[i] as i64,
        }
    }
}

/// Entries of count and displacement arrays: `int`, or `MPI_Count` and `MPI_Aint`.
pub trait Entry: Copy + 'static {
    /// The array, tagged with its width.
    fn ints(array: &[Self]) -> Ints<'_>;
}

impl Entry for i32 {
    #[inline(always)]
    fn ints(array: &[i32]) -> Ints<'_> {
        Ints::Narrow(array)
    }
}

impl Entry for i64 {
    #[inline(always)]
    fn ints(array: &[i64]) -> Ints<'_> {
        Ints::Wide(array)
    }
}

impl Entry for isize {
    #[inline(always)]
    fn ints(array: &[isize]) -> Ints<'_> {
        Ints::Address(array)
    }
}

/// How the blocks of a buffer are described.
#[derive(Debug, Clone, Copy)]
pub enum Shape<'a> {
    /// All list entries share one block at the start of the buffer: what gather and reduce send,
    /// and where reduce leaves its result.
    One {
        /// Elements.
        count: i64,
    },
    /// Consecutive blocks of equal counts.
    Equal {
        /// Elements of a block.
        count: i64,
    },
    /// Each block has a count, and a displacement in extents of the datatype.
    Vector {
        /// Elements, one per list entry.
        counts: Ints<'a>,
        /// Displacements, one per list entry.
        displs: Ints<'a>,
    },
    /// Each block has a count, a displacement in bytes and a datatype.
    General {
        /// Elements, one per list entry.
        counts: Ints<'a>,
        /// Displacements, one per list entry.
        displs: Ints<'a>,
        /// Datatypes, one per list entry.
        datatypes: Datatypes<'a>,
    },
}

/// Names of one side's arguments in the C prototype, for error texts.
#[derive(Debug)]
pub struct Names {
    /// The buffer.
    pub buffer: &'static str,
    /// Buffers, one for each field.
    pub buffers: &'static str,
    /// One count for all blocks.
    pub count: &'static str,
    /// Counts.
    pub counts: &'static str,
    /// Displacements.
    pub displs: &'static str,
    /// One datatype for all blocks.
    pub datatype: &'static str,
    /// Datatypes.
    pub datatypes: &'static str,
}

/// The send side.
pub static SEND: Names = Names {
    buffer: "sendbuf",
    buffers: "sendbufs",
    count: "sendcount",
    counts: "sendcounts",
    displs: "senddispls",
    datatype: "sendtype",
    datatypes: "sendtypes",
};

/// The receive side.
pub static RECV: Names = Names {
    buffer: "recvbuf",
    buffers: "recvbufs",
    count: "recvcount",
    counts: "recvcounts",
    displs: "recvdispls",
    datatype: "recvtype",
    datatypes: "recvtypes",
};

/// One side of a collective call.
#[derive(Debug, Clone, Copy)]
pub struct Blocks<'a> {
    /// Start of the buffer.
    pub base: *mut u8,
    /// Datatype of all blocks, unless the shape has its own.
    pub datatype: Datatype,
    /// Extent of that datatype in bytes.
    pub extent: i64,
    /// The blocks.
    pub shape: Shape<'a>,
    /// For error texts.
    pub names: &'static Names,
    /// For error texts: which of several fields it is, whose entries follow one another in the
    /// arguments.
    pub field: Option<u32>,
}

/// A block whose address is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Located {
    /// Address of the first element.
    pub at: *mut u8,
    /// Elements, not negative.
    pub count: i64,
    /// Their datatype.
    pub datatype: Datatype,
}

impl Located {
    /// Returns the bytes of data.
    pub fn bytes(&self) -> Result<i128> {
        Ok(i128::from(self.count) * i128::from(self.datatype.size()?))
    }

    /// Returns true if the data lies in device memory.
    pub fn is_on_device(&self, devices: &Devices) -> Result<bool> {
        devices.hold(self.at, self.count, self.datatype)
    }
}

/// Grows a buffer to at least `length` bytes.
#[inline]
pub fn enlarge(buffer: &mut Vec<u8>, length: usize) -> Result<()> {
    if buffer.len() < length {
        buffer.try_reserve_exact(length - buffer.len()).map_err(|_| Error::NoMemory { bytes: length })?;
        buffer.resize(length, 0);
    }
    Ok(())
}

/// Most bytes of a block: no machine addresses more, and sums of a few such lengths do not
/// overflow.
pub const MOST: i64 = 1 << 60;

/// Returns the bytes of `count` elements of `size` bytes each. Every path that turns counts into
/// lengths calls this function.
///
/// # Errors
/// The length exceeds any memory; `argument` names the count.
#[inline]
pub fn length(count: i64, size: i64, argument: impl FnOnce() -> Argument) -> Result<usize> {
    if let Some(bytes @ 0..=MOST) = count.checked_mul(size)
        && let Ok(bytes) = usize::try_from(bytes)
    {
        return Ok(bytes);
    }
    Err(too_large(count, size, argument()))
}

/// Returns the distance in bytes from the first of `count` elements to the last; a negative extent
/// walks downward.
///
/// # Errors
/// As for [`length`].
#[inline]
pub fn steps(count: i64, extent: i64, argument: impl FnOnce() -> Argument) -> Result<i64> {
    match (count - 1).max(0).checked_mul(extent) {
        Some(steps) if (-MOST..=MOST).contains(&steps) => Ok(steps),
        _ => Err(too_large(count, extent, argument())),
    }
}

#[cold]
fn too_large(count: i64, extent: i64, argument: Argument) -> Box<Error> {
    Error::TooLarge { argument, count, extent }.into()
}

impl Blocks<'_> {
    /// Returns the block of list entry `entry`.
    #[inline]
    pub fn locate(&self, entry: usize) -> Result<Located> {
        let (count, datatype, offset) = match self.shape {
            Shape::One { count } => (count, self.datatype, Some(0)),
            Shape::Equal { count } => {
                (count, self.datatype, to_int::<i64>(entry).checked_mul(count).and_then(|n| n.checked_mul(self.extent)))
            }
            Shape::Vector { counts, displs } => (counts.get(entry), self.datatype, displs.get(entry).checked_mul(self.extent)),
            Shape::General { counts, displs, datatypes } => {
                let count = counts.get(entry);
                let Some(datatype) = datatypes.of_block(entry, count.max(0)) else { return Err(self.null_datatype(entry)) };
                (count, datatype, Some(displs.get(entry)))
            }
        };
        if count < 0 {
            return Err(Error::NegativeCount { argument: self.count_argument(entry), value: count }.into());
        }
        // an empty block may be anywhere
        let Some(offset) = offset.or_else(|| (count == 0).then_some(0)) else {
            return Err(self.out_of_range(entry, count));
        };
        // MPI_BOTTOM is address 0, and displacements may be negative: the sum is an address, not an
        // offset within an allocation
        Ok(Located { at: self.base.wrapping_offset(to_offset(offset)), count, datatype })
    }

    /// Finds the blocks of several list entries, for shapes with one datatype. `found` also gets
    /// the position of each among `entries`.
    #[inline]
    pub fn locate_all(
        &self,
        entries: impl Iterator<Item = u32>,
        mut found: impl FnMut(usize, Located) -> Result<()>,
    ) -> Result<()> {
        // one loop per kind of array, free of decisions that do not depend on the entry
        match self.shape {
            Shape::Vector { counts: Ints::Narrow(counts), displs: Ints::Narrow(displs) } => {
                for (k, entry) in entries.enumerate() {
                    let (count, displ) = (counts[entry as usize], displs[entry as usize]);
                    let (false, Some(offset)) = (count < 0, i64::from(displ).checked_mul(self.extent)) else {
                        found(k, self.locate(entry as usize)?)?;
                        continue;
                    };
                    let at = self.base.wrapping_offset(to_offset(offset));
                    found(k, Located { at, count: count.into(), datatype: self.datatype })?;
                }
            }
            _ => {
                for (k, entry) in entries.enumerate() {
                    found(k, self.locate(entry as usize)?)?;
                }
            }
        }
        Ok(())
    }

    /// Returns true if each block has a datatype of its own.
    pub fn has_datatypes(&self) -> bool {
        matches!(self.shape, Shape::General { .. })
    }

    /// Returns the argument that is the buffer.
    #[cold]
    pub fn buffer_argument(&self) -> Argument {
        match self.field {
            Some(field) => Argument::at(self.names.buffers, field as usize),
            None => Argument::new(self.names.buffer),
        }
    }

    /// Returns the index of list entry `entry` in the array arguments.
    fn index(&self, entry: usize) -> usize {
        match (self.field, self.shape) {
            (Some(field), Shape::General { counts, .. }) => field as usize * counts.len() + entry,
            _ => entry,
        }
    }

    /// Returns the argument that holds the count of list entry `entry`.
    #[cold]
    pub fn count_argument(&self, entry: usize) -> Argument {
        match self.shape {
            Shape::One { .. } | Shape::Equal { .. } => Argument::new(self.names.count),
            _ => Argument::at(self.names.counts, self.index(entry)),
        }
    }

    /// Returns the error of a block of `count` elements that no address reaches.
    #[cold]
    fn out_of_range(&self, entry: usize, count: i64) -> Box<Error> {
        let (argument, count) = match self.shape {
            Shape::Vector { displs, .. } => (Argument::at(self.names.displs, entry), displs.get(entry)),
            _ => (self.count_argument(entry), count),
        };
        Error::TooLarge { argument, count, extent: self.extent }.into()
    }

    /// Returns the error of a block with data whose datatype is null.
    #[cold]
    pub fn null_datatype(&self, entry: usize) -> Box<Error> {
        Error::Datatype { argument: self.datatype_argument(entry), text: "it is MPI_DATATYPE_NULL".into() }.into()
    }

    /// Returns the argument that holds the datatype of list entry `entry`.
    #[cold]
    pub fn datatype_argument(&self, entry: usize) -> Argument {
        match self.shape {
            Shape::General { .. } => Argument::at(self.names.datatypes, self.index(entry)),
            _ => Argument::new(self.names.datatype),
        }
    }
}

/// Both sides of a collective call, and the operator if it reduces.
#[derive(Debug, Clone, Copy)]
pub struct Buffers<'a> {
    /// The blocks sent.
    pub input: Blocks<'a>,
    /// The blocks received.
    pub output: Blocks<'a>,
    /// The operator.
    pub op: Option<crate::mpi::Op>,
}
