//! Datatypes: sizes, extents, packing, and types for counts beyond `int`.

use std::ffi::c_int;

use super::comm::{Communicator, Owned as Comm};
use super::constants::{RSMPI_DATATYPE_NULL, RSMPI_DOUBLE, RSMPI_INT64_T, RSMPI_UINT32_T, RSMPI_UINT64_T};
use super::{MPI_Aint, MPI_Datatype, check};
use crate::error::{Argument, Error, Result};
use crate::util::cast::{to_int, to_usize};

unsafe extern "C" {
    safe fn mpixn_byte() -> MPI_Datatype;
    safe fn mpixn_packed() -> MPI_Datatype;
    fn mpixn_number_in_fortran(datatype: MPI_Datatype);
}

/// A datatype: a handle that is not null and stays valid as long as MPI is asked about it through
/// this value or a copy of it. Whoever makes one vouches for that, and everyone else may ask.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(transparent)]
pub struct Datatype(MPI_Datatype);

// SAFETY: a handle, which may be used in any thread that may call MPI.
unsafe impl Send for Datatype {}
// SAFETY: as above.
unsafe impl Sync for Datatype {}

/// Returns true if a handle is `MPI_DATATYPE_NULL`.
fn is_null(datatype: MPI_Datatype) -> bool {
    datatype == RSMPI_DATATYPE_NULL
}

/// `MPI_BYTE`.
pub fn byte() -> Datatype {
    Datatype(mpixn_byte())
}

/// `MPI_DOUBLE`.
pub fn double() -> Datatype {
    Datatype(RSMPI_DOUBLE)
}

/// `MPI_UINT32_T`.
pub fn uint32() -> Datatype {
    Datatype(RSMPI_UINT32_T)
}

/// `MPI_INT64_T`.
pub fn int64() -> Datatype {
    Datatype(RSMPI_INT64_T)
}

/// `MPI_UINT64_T`.
pub fn uint64() -> Datatype {
    Datatype(RSMPI_UINT64_T)
}

/// `MPI_PACKED`.
pub fn packed() -> Datatype {
    Datatype(mpixn_packed())
}

impl Datatype {
    /// Takes a caller's handle; `None` if it is `MPI_DATATYPE_NULL`.
    ///
    /// # Safety
    /// `raw` must be null or a datatype that is not freed while this value or a copy of it is used:
    /// until the call ends, or its operation is complete. Comparing is no use.
    #[inline]
    pub unsafe fn from_raw(raw: MPI_Datatype) -> Option<Datatype> {
        if is_null(raw) { None } else { Some(Datatype(raw)) }
    }

    /// Returns the handle.
    #[inline]
    pub fn raw(self) -> MPI_Datatype {
        self.0
    }

    /// Returns the extent: the bytes from one element to the next.
    pub fn extent(self) -> Result<i64> {
        let (mut lb, mut extent): (MPI_Aint, MPI_Aint) = (0, 0);
        // SAFETY: a live datatype; the results are locals.
        check(unsafe { mpi_sys::MPI_Type_get_extent(self.0, &mut lb, &mut extent) }, "MPI_Type_get_extent")?;
        Ok(extent as i64)
    }

    /// Returns the size: the bytes of data of one element.
    pub fn size(self) -> Result<i64> {
        let mut size: mpi_sys::MPI_Count = 0;
        // SAFETY: a live datatype; the result is a local.
        check(unsafe { mpi_sys::MPI_Type_size_x(self.0, &mut size) }, "MPI_Type_size_x")?;
        Ok(size as i64)
    }

    /// Returns the true lower bound and true extent: the offset of an element's first byte, and the
    /// bytes from there to the end of its last.
    pub fn true_extent(self) -> Result<(i64, i64)> {
        let (mut lb, mut extent): (MPI_Aint, MPI_Aint) = (0, 0);
        // SAFETY: a live datatype; the results are locals.
        check(unsafe { mpi_sys::MPI_Type_get_true_extent(self.0, &mut lb, &mut extent) }, "MPI_Type_get_true_extent")?;
        Ok((lb as i64, extent as i64))
    }

    /// Returns where an element begins and ends, in bytes from its address; its data and its
    /// declared bounds lie within.
    pub fn bounds(self) -> Result<(i64, i64)> {
        let (mut lb, mut extent): (MPI_Aint, MPI_Aint) = (0, 0);
        // SAFETY: a live datatype; the results are locals.
        check(unsafe { mpi_sys::MPI_Type_get_extent(self.0, &mut lb, &mut extent) }, "MPI_Type_get_extent")?;
        let (true_lb, true_extent) = self.true_extent()?;
        let (lb, ub) = (lb as i64, lb as i64 + extent as i64);
        Ok((lb.min(ub).min(true_lb), ub.max(lb).max(true_lb + true_extent)))
    }

    /// Fails if MPI rejects the datatype for communication: it is not committed. A send of one
    /// element to `MPI_PROC_NULL` makes MPI check it and do nothing else. (MPICH does not check a
    /// send of no elements.)
    pub fn check_committed(self, comm: Communicator) -> Result<()> {
        // MPICH rejects a null address here
        let somewhere = 0u64;
        let (at, nobody) = ((&raw const somewhere).cast(), super::proc_null());
        // SAFETY: a live datatype; nothing is read for a message to no process.
        check(unsafe { mpi_sys::MPI_Send(at, 1, self.0, nobody, 0, comm.raw()) }, "MPI_Send")
    }

    /// Returns the bytes that `count` elements may need when packed, or `None` if they exceed
    /// `int`.
    pub fn pack_size(self, count: i64, comm: &Comm) -> Result<Option<usize>> {
        let bytes = i128::from(count) * i128::from(self.size()?);
        // MPI_Pack_size counts in int, and not every MPI detects overflow: ask only if it cannot
        // occur
        let (Ok(count), true) = (c_int::try_from(count), bytes < i128::from(c_int::MAX / 2)) else {
            return Ok(None);
        };
        let mut bytes = 0;
        // SAFETY: a live datatype; the result is a local.
        check(unsafe { mpi_sys::MPI_Pack_size(count, self.0, comm.raw(), &mut bytes) }, "MPI_Pack_size")?;
        Ok(usize::try_from(bytes).ok())
    }
}

/// The datatypes of a caller's list of blocks. Those of blocks without data are not looked at, and
/// may be anything.
#[derive(Debug, Clone, Copy)]
pub struct Datatypes<'a>(&'a [MPI_Datatype]);

impl<'a> Datatypes<'a> {
    /// Takes a caller's array.
    ///
    /// # Safety
    /// As for [`Datatype::from_raw`], for the entry of each block that `of_block` is asked for with
    /// a count other than 0.
    #[inline]
    pub unsafe fn from_raw(raw: &'a [MPI_Datatype]) -> Datatypes<'a> {
        Datatypes(raw)
    }

    /// Returns the datatype of a block of `count` elements; `None` if it is null. That of an empty
    /// block is ignored: it may be null, which not every MPI accepts.
    #[inline]
    pub fn of_block(self, block: usize, count: i64) -> Option<Datatype> {
        if count == 0 {
            return Some(byte());
        }
        // SAFETY: the maker vouches for the entries of blocks with data.
        unsafe { Datatype::from_raw(self.0[block]) }
    }

    /// Returns the handles.
    #[inline]
    pub fn raw(self) -> &'a [MPI_Datatype] {
        self.0
    }
}

impl<'a> From<&'a [Datatype]> for Datatypes<'a> {
    fn from(all: &'a [Datatype]) -> Datatypes<'a> {
        // SAFETY: a datatype is a transparent handle, and these are live.
        Datatypes(unsafe { std::slice::from_raw_parts(all.as_ptr().cast(), all.len()) })
    }
}

/// Packs `count` elements at `from` into `buffer`, and returns the bytes written. If they are fewer
/// than the data has, the caller must pack by a message to itself instead: MPICH 4.0 leaves bytes
/// out and reports success for a contiguous datatype while more than 512 datatypes are alive,
/// because it rounds the length down to a multiple of a part of the handle (fixed in 4.1).
///
/// # Safety
/// `from` must be readable as `count` elements of the datatype; `count` and the buffer's length
/// must fit in `int`.
pub unsafe fn pack(from: *const u8, count: i64, datatype: Datatype, buffer: &mut [u8], comm: &Comm) -> Result<usize> {
    let mut position = 0;
    check(
        // SAFETY: the caller vouches for what is read; MPI writes at most the buffer's length.
        unsafe {
            mpi_sys::MPI_Pack(
                from.cast(),
                to_int(count),
                datatype.0,
                buffer.as_mut_ptr().cast(),
                to_int(buffer.len()),
                &mut position,
                comm.raw(),
            )
        },
        "MPI_Pack",
    )?;
    Ok(to_usize(position))
}

/// Unpacks `count` elements from `buffer` to `into`.
///
/// # Safety
/// `into` must be writable as `count` elements of the datatype; `count` and the buffer's length
/// must fit in `int`.
pub unsafe fn unpack(buffer: &[u8], into: *mut u8, count: i64, datatype: Datatype, comm: &Comm) -> Result<()> {
    let mut position = 0;
    check(
        // SAFETY: the caller vouches for what is written; MPI reads at most the buffer's length.
        unsafe {
            mpi_sys::MPI_Unpack(
                buffer.as_ptr().cast(),
                to_int(buffer.len()),
                &mut position,
                into.cast(),
                to_int(count),
                datatype.0,
                comm.raw(),
            )
        },
        "MPI_Unpack",
    )
}

/// A datatype that the library owns; freed when dropped. MPI keeps what running operations still
/// use.
#[derive(Debug)]
pub struct Owned(MPI_Datatype);

// SAFETY: a handle, which may be used in any thread that may call MPI.
unsafe impl Send for Owned {}
// SAFETY: as above.
unsafe impl Sync for Owned {}

impl Owned {
    /// Returns the datatype.
    ///
    /// # Safety
    /// Neither it nor a copy of it may be used after `self` is dropped. (MPI keeps what operations
    /// that have been started need.)
    pub unsafe fn lend(&self) -> Datatype {
        Datatype(self.0)
    }

    /// Duplicates a datatype; the duplicate lives on when the caller frees the original.
    pub fn duplicate(datatype: Datatype) -> Result<Owned> {
        let mut copy = Owned(RSMPI_DATATYPE_NULL);
        // SAFETY: a live datatype; the result is a local.
        check(unsafe { mpi_sys::MPI_Type_dup(datatype.0, &mut copy.0) }, "MPI_Type_dup")?;
        Ok(copy.numbered())
    }

    /// Makes a committed datatype of the same data, without attributes.
    pub fn twin(datatype: Datatype) -> Result<Owned> {
        let mut twin = Owned(RSMPI_DATATYPE_NULL);
        // SAFETY: a live datatype; the result is a local.
        unsafe {
            check(mpi_sys::MPI_Type_contiguous(1, datatype.0, &mut twin.0), "MPI_Type_contiguous")?;
            check(mpi_sys::MPI_Type_commit(&mut twin.0), "MPI_Type_commit")?;
        }
        Ok(twin.numbered())
    }

    /// Lets user-defined operators in Fortran know the datatype.
    fn numbered(self) -> Owned {
        // SAFETY: a live datatype.
        unsafe { mpixn_number_in_fortran(self.0) };
        self
    }

    /// Makes a committed datatype whose one element, at `MPI_BOTTOM`, is all of the given blocks at
    /// their addresses.
    pub fn joined(blocks: &[(*mut u8, c_int, Datatype)]) -> Result<Owned> {
        let counts: Vec<c_int> = blocks.iter().map(|b| b.1).collect();
        let datatypes: Vec<Datatype> = blocks.iter().map(|b| b.2).collect();
        let mut addresses: Vec<MPI_Aint> = Vec::with_capacity(blocks.len());
        for (at, ..) in blocks {
            let mut address = 0;
            // SAFETY: an address is not followed; the result is a local.
            check(unsafe { mpi_sys::MPI_Get_address(at.cast(), &mut address) }, "MPI_Get_address")?;
            addresses.push(address);
        }
        Owned::structure(&counts, &addresses, &datatypes)
    }

    /// Makes a committed datatype whose one element is `count` elements of `datatype` at its
    /// address, and one byte at each of two displacements.
    pub fn with_bytes(count: c_int, datatype: Datatype, bytes: [MPI_Aint; 2]) -> Result<Owned> {
        Owned::structure(&[count, 1, 1], &[0, bytes[0], bytes[1]], &[datatype, byte(), byte()])
    }

    /// Makes a committed datatype whose one element is the given blocks, each at its displacement.
    fn structure(counts: &[c_int], displacements: &[MPI_Aint], datatypes: &[Datatype]) -> Result<Owned> {
        assert!(counts.len() == displacements.len() && counts.len() == datatypes.len());
        let (n, mut all) = (to_int(counts.len()), Owned(RSMPI_DATATYPE_NULL));
        let (counts, displacements, datatypes) = (counts.as_ptr(), displacements.as_ptr(), datatypes.as_ptr().cast());
        // SAFETY: live datatypes, which are transparent; the arrays have n entries, the result is a
        // local.
        unsafe {
            let rc = mpi_sys::MPI_Type_create_struct(n, counts, displacements, datatypes, &mut all.0);
            check(rc, "MPI_Type_create_struct")?;
            check(mpi_sys::MPI_Type_commit(&mut all.0), "MPI_Type_commit")?;
        }
        Ok(all)
    }

    /// Makes a committed datatype whose one element is the same `bytes` bytes `times` times: a long
    /// message from little memory.
    pub fn again(times: u64, bytes: c_int) -> Result<Owned> {
        let mut all = Owned(RSMPI_DATATYPE_NULL);
        let times = c_int::try_from(times).unwrap_or(c_int::MAX);
        // SAFETY: a predefined datatype; the result is a local.
        unsafe {
            check(mpi_sys::MPI_Type_create_hvector(times, bytes, 0, byte().0, &mut all.0), "MPI_Type_create_hvector")?;
            check(mpi_sys::MPI_Type_commit(&mut all.0), "MPI_Type_commit")?;
        }
        Ok(all)
    }

    /// Makes a committed datatype whose one element is `count` elements of `datatype`, for counts
    /// that do not fit in `int`: whole chunks of `INT_MAX` elements, followed by the rest.
    ///
    /// # Errors
    /// There are more than `INT_MAX` chunks, or the elements exceed the address range; `argument`
    /// names the count.
    pub fn repeated(count: i64, datatype: Datatype, argument: Argument) -> Result<Owned> {
        let (chunk, extent) = (i64::from(c_int::MAX), datatype.extent()?);
        // elements without data are as good as none, and any number of them is legal
        let count = if datatype.size()? == 0 { 0 } else { count };
        let too_large = || Error::TooLarge { argument, count, extent };
        count.checked_mul(extent).and_then(|reach| isize::try_from(reach).ok()).ok_or_else(too_large)?;
        let (chunks, rest) = (c_int::try_from(count / chunk).map_err(|_| too_large())?, to_int(count % chunk));
        let null = RSMPI_DATATYPE_NULL;
        let (mut head, mut tail) = (Owned(null), Owned(null));
        // SAFETY: a live datatype; the results are locals.
        unsafe {
            check(mpi_sys::MPI_Type_vector(chunks, c_int::MAX, c_int::MAX, datatype.0, &mut head.0), "MPI_Type_vector")?;
            check(mpi_sys::MPI_Type_contiguous(rest, datatype.0, &mut tail.0), "MPI_Type_contiguous")?;
        }
        let behind = extent * i64::from(chunks) * chunk;
        Owned::structure(&[1, 1], &[0, to_int(behind)], &[Datatype(head.0), Datatype(tail.0)])
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if !is_null(self.0) && super::is_usable() {
            // SAFETY: a live datatype that no one else frees. An error here cannot be reported.
            unsafe { mpi_sys::MPI_Type_free(&mut self.0) };
        }
    }
}
