//! The few collectives that setting a neighborhood needs.

use super::comm::Owned;
use super::{MPI_Datatype, MPI_Op, check};
use crate::error::Result;

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
