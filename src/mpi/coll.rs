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

/// `MPI_Allgather` of one number of each of `size` processes. Collective; O(P) memory.
pub fn allgather(comm: &Owned, value: u32, size: u32) -> Result<Vec<u32>> {
    let mut result = vec![0u32; size as usize];
    check(
        // SAFETY: one number is sent; there is room for one of each process, as callers say how many there are.
        unsafe {
            let number = mpi_sys::RSMPI_UINT32_T;
            let into = result.as_mut_ptr().cast();
            mpi_sys::MPI_Allgather((&raw const value).cast(), 1, number, into, 1, number, comm.raw())
        },
        "MPI_Allgather",
    )?;
    Ok(result)
}

/// `MPI_Gather` of one number of each process to process 0, which alone gets them; the others get none. Collective.
pub fn gather(comm: &Owned, value: u32) -> Result<Vec<u32>> {
    let mut result = vec![0u32; at_root(comm)?];
    check(
        // SAFETY: one number is sent; on process 0 there is room for one of each process.
        unsafe {
            mpi_sys::MPI_Gather(
                (&raw const value).cast(),
                1,
                mpi_sys::RSMPI_UINT32_T,
                result.as_mut_ptr().cast(),
                1,
                mpi_sys::RSMPI_UINT32_T,
                0,
                comm.raw(),
            )
        },
        "MPI_Gather",
    )?;
    Ok(result)
}

/// `MPI_Gatherv` of `counts[p]` numbers of each process `p` to process 0, which alone gets them, and alone knows the counts. Collective. There
/// must be less than `INT_MAX` together.
pub fn gatherv(comm: &Owned, values: &[u32], counts: &[u32]) -> Result<Vec<u32>> {
    let (ints, displs, total) = layout(counts);
    let mut result = vec![0u32; total];
    check(
        // SAFETY: on process 0 the result has room for as many numbers as are said, one process behind the other.
        unsafe {
            mpi_sys::MPI_Gatherv(
                values.as_ptr().cast(),
                values.len() as i32,
                mpi_sys::RSMPI_UINT32_T,
                result.as_mut_ptr().cast(),
                ints.as_ptr(),
                displs.as_ptr(),
                mpi_sys::RSMPI_UINT32_T,
                0,
                comm.raw(),
            )
        },
        "MPI_Gatherv",
    )?;
    Ok(result)
}

/// `MPI_Scatter` of one number to each process from process 0, which alone has them. Collective.
pub fn scatter(comm: &Owned, values: &[u32]) -> Result<u32> {
    assert_eq!(values.len(), at_root(comm)?, "one number for each process");
    let mut value = 0u32;
    check(
        // SAFETY: process 0 has a number for each process; there is room for one.
        unsafe {
            mpi_sys::MPI_Scatter(
                values.as_ptr().cast(),
                1,
                mpi_sys::RSMPI_UINT32_T,
                (&raw mut value).cast(),
                1,
                mpi_sys::RSMPI_UINT32_T,
                0,
                comm.raw(),
            )
        },
        "MPI_Scatter",
    )?;
    Ok(value)
}

/// `MPI_Scatterv` of `counts[p]` numbers to each process `p` from process 0, which alone has values and counts; `mine` come here. Collective.
/// There must be less than `INT_MAX` together.
pub fn scatterv(comm: &Owned, values: &[u32], counts: &[u32], mine: u32) -> Result<Vec<u32>> {
    let (ints, displs, total) = layout(counts);
    assert_eq!(values.len(), total, "as many numbers as are said");
    let mut result = vec![0u32; mine as usize];
    check(
        // SAFETY: process 0 has as many numbers as are said, one process behind the other; there is room for those that come.
        unsafe {
            mpi_sys::MPI_Scatterv(
                values.as_ptr().cast(),
                ints.as_ptr(),
                displs.as_ptr(),
                mpi_sys::RSMPI_UINT32_T,
                result.as_mut_ptr().cast(),
                mine as i32,
                mpi_sys::RSMPI_UINT32_T,
                0,
                comm.raw(),
            )
        },
        "MPI_Scatterv",
    )?;
    Ok(result)
}

/// The number of processes on process 0, 0 on the others.
fn at_root(comm: &Owned) -> Result<usize> {
    // SAFETY: a live communicator.
    let (rank, size) = unsafe { (super::comm::rank(comm.raw())?, super::comm::size(comm.raw())?) };
    Ok(if rank == 0 { size as usize } else { 0 })
}

/// Counts and displacements for MPI, and the number of all elements.
fn layout(counts: &[u32]) -> (Vec<i32>, Vec<i32>, usize) {
    let total: u64 = counts.iter().map(|&c| u64::from(c)).sum();
    assert!(total <= i32::MAX as u64, "{total} numbers are too many for one collective");
    let ints: Vec<i32> = counts.iter().map(|&c| c as i32).collect();
    let displs = ints.iter().scan(0, |at, &c| Some(std::mem::replace(at, *at + c))).collect();
    (ints, displs, total as usize)
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
