//! Datatypes: sizes, extents, packing, and types for counts beyond `int`.

use std::ffi::c_int;

use super::comm::Owned as Comm;
use super::{MPI_Aint, MPI_Datatype, check};
use crate::error::Result;

unsafe extern "C" {
    fn mpixn_byte() -> MPI_Datatype;
}

/// `MPI_DATATYPE_NULL`.
pub fn null() -> MPI_Datatype {
    // SAFETY: a constant of mpi-sys' C file.
    unsafe { mpi_sys::RSMPI_DATATYPE_NULL }
}

/// Returns true if a handle is `MPI_DATATYPE_NULL`.
pub fn is_null(datatype: MPI_Datatype) -> bool {
    datatype == null()
}

/// Returns the extent: the bytes from one element to the next.
///
/// # Safety
/// `datatype` must be a datatype.
pub unsafe fn extent(datatype: MPI_Datatype) -> Result<i64> {
    let (mut lb, mut extent): (MPI_Aint, MPI_Aint) = (0, 0);
    // SAFETY: the caller vouches for the handle; the results are locals.
    check(unsafe { mpi_sys::MPI_Type_get_extent(datatype, &mut lb, &mut extent) }, "MPI_Type_get_extent")?;
    Ok(extent as i64)
}

/// Returns the size: the bytes of data of one element.
///
/// # Safety
/// `datatype` must be a datatype.
pub unsafe fn size(datatype: MPI_Datatype) -> Result<i64> {
    let mut size: mpi_sys::MPI_Count = 0;
    // SAFETY: the caller vouches for the handle; the result is a local.
    check(unsafe { mpi_sys::MPI_Type_size_x(datatype, &mut size) }, "MPI_Type_size_x")?;
    Ok(size as i64)
}

/// Returns the true lower bound and true extent: the offset of an element's first byte, and the
/// bytes from there to the end of its last.
///
/// # Safety
/// `datatype` must be a datatype.
pub unsafe fn true_extent(datatype: MPI_Datatype) -> Result<(i64, i64)> {
    let (mut lb, mut extent): (MPI_Aint, MPI_Aint) = (0, 0);
    // SAFETY: the caller vouches for the handle; the results are locals.
    check(unsafe { mpi_sys::MPI_Type_get_true_extent(datatype, &mut lb, &mut extent) }, "MPI_Type_get_true_extent")?;
    Ok((lb as i64, extent as i64))
}

/// Returns where an element begins and ends, in bytes from its address; its data and its declared
/// bounds lie within.
///
/// # Safety
/// `datatype` must be a datatype.
pub unsafe fn bounds(datatype: MPI_Datatype) -> Result<(i64, i64)> {
    let (mut lb, mut extent): (MPI_Aint, MPI_Aint) = (0, 0);
    // SAFETY: the caller vouches for the handle; the results are locals.
    unsafe {
        check(mpi_sys::MPI_Type_get_extent(datatype, &mut lb, &mut extent), "MPI_Type_get_extent")?;
        let (true_lb, true_extent) = true_extent(datatype)?;
        let (lb, ub) = (lb as i64, lb as i64 + extent as i64);
        Ok((lb.min(ub).min(true_lb), ub.max(lb).max(true_lb + true_extent)))
    }
}

/// `MPI_BYTE`.
pub fn byte() -> MPI_Datatype {
    // SAFETY: a constant of the C file.
    unsafe { mpixn_byte() }
}

/// Fails if MPI rejects the datatype for communication: null, or not committed. A send of one
/// element to `MPI_PROC_NULL` makes MPI check it and do nothing else. (MPICH does not check a send
/// of no elements.)
///
/// # Safety
/// `datatype` must be a datatype or null.
pub unsafe fn check_committed(datatype: MPI_Datatype, comm: &Comm) -> Result<()> {
    // MPICH rejects a null address here
    let somewhere = 0u64;
    // SAFETY: nothing is read for a message to no process; the caller vouches for the handle.
    check(unsafe { mpi_sys::MPI_Send((&raw const somewhere).cast(), 1, datatype, super::proc_null(), 0, comm.raw()) }, "MPI_Send")
}

/// Returns the bytes that `count` elements may need when packed, or `None` if they exceed `int`.
///
/// # Safety
/// `datatype` must be a committed datatype.
pub unsafe fn pack_size(count: i64, datatype: MPI_Datatype, comm: &Comm) -> Result<Option<usize>> {
    // SAFETY: the caller vouches for the handle.
    let bytes = i128::from(count) * i128::from(unsafe { size(datatype) }?);
    // MPI_Pack_size counts in int, and not every MPI detects overflow: ask only if it cannot occur
    let (Ok(count), true) = (c_int::try_from(count), bytes < i128::from(c_int::MAX / 2)) else {
        return Ok(None);
    };
    let mut bytes = 0;
    // SAFETY: as above; the result is a local.
    check(unsafe { mpi_sys::MPI_Pack_size(count, datatype, comm.raw(), &mut bytes) }, "MPI_Pack_size")?;
    Ok(usize::try_from(bytes).ok())
}

/// Packs `count` elements at `from` into `buffer`, and returns the bytes written. If they are fewer
/// than the data has, the caller must pack by a message to itself instead: MPICH 4.0 leaves bytes
/// out and reports success for a contiguous datatype while more than 512 datatypes are alive,
/// because it rounds the length down to a multiple of a part of the handle (fixed in 4.1).
///
/// # Safety
/// `from` must be readable as `count` elements of the datatype; `count` and the buffer's length
/// must fit in `int`.
pub unsafe fn pack(from: *const u8, count: i64, datatype: MPI_Datatype, buffer: &mut [u8], comm: &Comm) -> Result<usize> {
    let mut position = 0;
    check(
        // SAFETY: the caller vouches for what is read; MPI writes at most the buffer's length.
        unsafe {
            mpi_sys::MPI_Pack(
                from.cast(),
                count as c_int,
                datatype,
                buffer.as_mut_ptr().cast(),
                buffer.len() as c_int,
                &mut position,
                comm.raw(),
            )
        },
        "MPI_Pack",
    )?;
    Ok(position as usize)
}

/// Unpacks `count` elements from `buffer` to `into`.
///
/// # Safety
/// `into` must be writable as `count` elements of the datatype; `count` and the buffer's length
/// must fit in `int`.
pub unsafe fn unpack(buffer: &[u8], into: *mut u8, count: i64, datatype: MPI_Datatype, comm: &Comm) -> Result<()> {
    let mut position = 0;
    check(
        // SAFETY: the caller vouches for what is written; MPI reads at most the buffer's length.
        unsafe {
            mpi_sys::MPI_Unpack(
                buffer.as_ptr().cast(),
                buffer.len() as c_int,
                &mut position,
                into.cast(),
                count as c_int,
                datatype,
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

impl Owned {
    /// Returns the handle.
    pub fn raw(&self) -> MPI_Datatype {
        self.0
    }

    /// Duplicates a datatype; the duplicate lives on when the caller frees the original.
    ///
    /// # Safety
    /// `datatype` must be a datatype.
    pub unsafe fn duplicate(datatype: MPI_Datatype) -> Result<Owned> {
        let mut copy = Owned(null());
        // SAFETY: the caller vouches for the handle; the result is a local.
        check(unsafe { mpi_sys::MPI_Type_dup(datatype, &mut copy.0) }, "MPI_Type_dup")?;
        Ok(copy)
    }

    /// Makes a committed datatype whose one element, at `MPI_BOTTOM`, is all of the given blocks at
    /// their addresses.
    ///
    /// # Safety
    /// The datatypes must be committed datatypes.
    pub unsafe fn joined(blocks: &[(*mut u8, c_int, MPI_Datatype)]) -> Result<Owned> {
        let counts: Vec<c_int> = blocks.iter().map(|b| b.1).collect();
        let datatypes: Vec<MPI_Datatype> = blocks.iter().map(|b| b.2).collect();
        let mut addresses: Vec<MPI_Aint> = Vec::with_capacity(blocks.len());
        // SAFETY: the caller vouches for the handles; the arrays have one entry a block, the
        // results are locals.
        unsafe {
            for (at, ..) in blocks {
                let mut address = 0;
                check(mpi_sys::MPI_Get_address(at.cast(), &mut address), "MPI_Get_address")?;
                addresses.push(address);
            }
            let mut all = Owned(null());
            let rc = mpi_sys::MPI_Type_create_struct(
                blocks.len() as c_int,
                counts.as_ptr(),
                addresses.as_ptr(),
                datatypes.as_ptr(),
                &mut all.0,
            );
            check(rc, "MPI_Type_create_struct")?;
            check(mpi_sys::MPI_Type_commit(&mut all.0), "MPI_Type_commit")?;
            Ok(all)
        }
    }

    /// Makes a committed datatype whose one element is the given blocks, each at its displacement.
    ///
    /// # Safety
    /// The datatypes must be committed datatypes.
    pub unsafe fn structure<const N: usize>(
        counts: &[c_int; N],
        displacements: &[MPI_Aint; N],
        datatypes: &[MPI_Datatype; N],
    ) -> Result<Owned> {
        let mut all = Owned(null());
        // SAFETY: the caller vouches for the handles; the arrays have N entries, the result is a
        // local.
        unsafe {
            let (counts, displacements) = (counts.as_ptr(), displacements.as_ptr());
            let rc = mpi_sys::MPI_Type_create_struct(N as c_int, counts, displacements, datatypes.as_ptr(), &mut all.0);
            check(rc, "MPI_Type_create_struct")?;
            check(mpi_sys::MPI_Type_commit(&mut all.0), "MPI_Type_commit")?;
        }
        Ok(all)
    }

    /// Makes a committed datatype whose one element is the same `bytes` bytes `times` times: a long
    /// message from little memory.
    pub fn again(times: u64, bytes: c_int) -> Result<Owned> {
        let mut all = Owned(null());
        let times = c_int::try_from(times).unwrap_or(c_int::MAX);
        // SAFETY: a predefined datatype; the result is a local.
        unsafe {
            check(mpi_sys::MPI_Type_create_hvector(times, bytes, 0, byte(), &mut all.0), "MPI_Type_create_hvector")?;
            check(mpi_sys::MPI_Type_commit(&mut all.0), "MPI_Type_commit")?;
        }
        Ok(all)
    }

    /// Makes a committed datatype whose one element is `count` elements of `datatype`, for counts
    /// that do not fit in `int`: whole chunks of `INT_MAX` elements, followed by the rest.
    ///
    /// # Safety
    /// `datatype` must be a committed datatype, `count` above `INT_MAX`, and `count` times the
    /// extent representable.
    pub unsafe fn repeated(count: i64, datatype: MPI_Datatype) -> Result<Owned> {
        let chunk = i64::from(c_int::MAX);
        let (chunks, rest) = ((count / chunk) as c_int, (count % chunk) as c_int);
        // SAFETY: the caller vouches for the handle; results are locals, arrays have two entries.
        unsafe {
            let (mut head, mut tail, mut all) = (Owned(null()), Owned(null()), Owned(null()));
            check(mpi_sys::MPI_Type_vector(chunks, c_int::MAX, c_int::MAX, datatype, &mut head.0), "MPI_Type_vector")?;
            check(mpi_sys::MPI_Type_contiguous(rest, datatype, &mut tail.0), "MPI_Type_contiguous")?;
            let behind = extent(datatype)? * i64::from(chunks) * chunk;
            let displacements: [MPI_Aint; 2] = [0, behind as MPI_Aint];
            check(
                mpi_sys::MPI_Type_create_struct(
                    2,
                    [1, 1].as_ptr(),
                    displacements.as_ptr(),
                    [head.0, tail.0].as_ptr(),
                    &mut all.0,
                ),
                "MPI_Type_create_struct",
            )?;
            check(mpi_sys::MPI_Type_commit(&mut all.0), "MPI_Type_commit")?;
            Ok(all)
        }
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
