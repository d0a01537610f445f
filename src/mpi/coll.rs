//! The few collectives that setting a neighborhood needs.

use super::comm::Owned;
use super::{MPI_Datatype, MPI_Op, check};
use crate::error::{Error, Result};

/// Elementwise reductions.
#[derive(Debug, Clone, Copy)]
pub enum Reduction {
    /// `MPI_MIN`
    Min,
    /// `MPI_MAX`
    Max,
    /// `MPI_SUM` (wraps around)
    Sum,
    /// `MPI_BOR`
    Or,
}

impl Reduction {
    fn op(self) -> MPI_Op {
        // SAFETY: constants of mpi-sys' C file.
        unsafe {
            match self {
                Reduction::Min => mpi_sys::RSMPI_MIN,
                Reduction::Max => mpi_sys::RSMPI_MAX,
                Reduction::Sum => mpi_sys::RSMPI_SUM,
                Reduction::Or => mpi_sys::RSMPI_BOR,
            }
        }
    }
}

/// 64-bit elements that can be reduced.
pub trait Element: Copy + Default {
    /// Their datatype.
    fn datatype() -> MPI_Datatype;
}

impl Element for f64 {
    fn datatype() -> MPI_Datatype {
        // SAFETY: a constant of mpi-sys' C file.
        unsafe { mpi_sys::RSMPI_DOUBLE }
    }
}

impl Element for i64 {
    fn datatype() -> MPI_Datatype {
        // SAFETY: a constant of mpi-sys' C file.
        unsafe { mpi_sys::RSMPI_INT64_T }
    }
}

impl Element for u64 {
    fn datatype() -> MPI_Datatype {
        // SAFETY: a constant of mpi-sys' C file.
        unsafe { mpi_sys::RSMPI_UINT64_T }
    }
}

/// `MPI_Allreduce`. Collective.
pub fn allreduce<T: Element, const N: usize>(comm: &Owned, values: [T; N], with: Reduction) -> Result<[T; N]> {
    let mut result = [T::default(); N];
    allreduce_slice(comm, &values, &mut result, with)?;
    Ok(result)
}

/// `MPI_Allreduce` of as many elements on all processes. Collective.
pub fn allreduce_slice<T: Element>(comm: &Owned, values: &[T], result: &mut [T], with: Reduction) -> Result<()> {
    assert_eq!(values.len(), result.len());
    check(
        // SAFETY: both buffers hold as many elements of this datatype as are said.
        unsafe {
            mpi_sys::MPI_Allreduce(
                values.as_ptr().cast(),
                result.as_mut_ptr().cast(),
                values.len() as i32,
                T::datatype(),
                with.op(),
                comm.raw(),
            )
        },
        "MPI_Allreduce",
    )
}

/// `MPI_Alltoall` of one number for each process. Collective; O(P) memory.
pub fn alltoall(comm: &Owned, values: &[u32]) -> Result<Vec<u32>> {
    let mut result = vec![0u32; values.len()];
    check(
        // SAFETY: both buffers hold one number for each process of the communicator, which is what callers pass.
        unsafe {
            mpi_sys::MPI_Alltoall(
                values.as_ptr().cast(),
                1,
                mpi_sys::RSMPI_UINT32_T,
                result.as_mut_ptr().cast(),
                1,
                mpi_sys::RSMPI_UINT32_T,
                comm.raw(),
            )
        },
        "MPI_Alltoall",
    )?;
    Ok(result)
}

/// `MPI_Allgather` of one number of each process. Collective; O(P) memory.
pub fn allgather(comm: &Owned, value: u32) -> Result<Vec<u32>> {
    // SAFETY: a live communicator.
    let size = unsafe { super::comm::size(comm.raw()) }?;
    let mut result = vec![0u32; size as usize];
    check(
        // SAFETY: one number is sent; there is room for one of each process.
        unsafe {
            mpi_sys::MPI_Allgather(
                (&raw const value).cast(),
                1,
                mpi_sys::RSMPI_UINT32_T,
                result.as_mut_ptr().cast(),
                1,
                mpi_sys::RSMPI_UINT32_T,
                comm.raw(),
            )
        },
        "MPI_Allgather",
    )?;
    Ok(result)
}

/// `MPI_Allgatherv` of `counts[p]` numbers of each process `p`, of which there are less than `INT_MAX` together. Collective.
pub fn allgatherv(comm: &Owned, values: &[u32], counts: &[u32]) -> Result<Vec<u32>> {
    let total: u64 = counts.iter().map(|&c| u64::from(c)).sum();
    if total > i32::MAX as u64 {
        return Err(Error::Internal(format!("{total} numbers are too many to be gathered")).into());
    }
    let ints: Vec<i32> = counts.iter().map(|&c| c as i32).collect();
    let displs: Vec<i32> = ints.iter().scan(0, |at, &c| Some(std::mem::replace(at, *at + c))).collect();
    let mut result = vec![0u32; total as usize];
    check(
        // SAFETY: the result has room for as many numbers as are said, one process behind the other.
        unsafe {
            mpi_sys::MPI_Allgatherv(
                values.as_ptr().cast(),
                values.len() as i32,
                mpi_sys::RSMPI_UINT32_T,
                result.as_mut_ptr().cast(),
                ints.as_ptr(),
                displs.as_ptr(),
                mpi_sys::RSMPI_UINT32_T,
                comm.raw(),
            )
        },
        "MPI_Allgatherv",
    )?;
    Ok(result)
}

/// `MPI_Bcast` of bytes; `bytes` has the same length on all processes. Collective.
pub fn broadcast(comm: &Owned, bytes: &mut [u8], root: u32) -> Result<()> {
    check(
        // SAFETY: the buffer has the length that is said.
        unsafe {
            mpi_sys::MPI_Bcast(bytes.as_mut_ptr().cast(), bytes.len() as i32, super::datatype::byte(), root as i32, comm.raw())
        },
        "MPI_Bcast",
    )
}
