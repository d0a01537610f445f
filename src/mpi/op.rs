//! Reduction operators.

use std::ffi::c_int;
use std::sync::{Mutex, PoisonError};

use super::comm::Owned as Comm;
use super::{MPI_Datatype, MPI_Op, check};
use crate::error::Result;

unsafe extern "C" {
    fn mpixn_op_null() -> MPI_Op;
    fn mpixn_element(datatype: MPI_Datatype) -> c_int;
    fn mpixn_operator(op: MPI_Op) -> c_int;
}

/// Elements of predefined datatypes that the library reduces itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// `MPI_INT`, `MPI_INT32_T`
    Int,
    /// `MPI_LONG`, `MPI_LONG_LONG`, `MPI_INT64_T`
    Long,
    /// `MPI_FLOAT`
    Float,
    /// `MPI_DOUBLE`
    Double,
}

/// Predefined operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Operator {
    Sum,
    Product,
    Min,
    Max,
    LogicalAnd,
    BitAnd,
    LogicalOr,
    BitOr,
    LogicalXor,
    BitXor,
}

/// Returns the predefined operator and elements that these handles stand for, if they do. The
/// operator need not fit the elements.
pub fn predefined(op: MPI_Op, datatype: MPI_Datatype) -> Option<(Operator, Element)> {
    use Operator::{BitAnd, BitOr, BitXor, LogicalAnd, LogicalOr, LogicalXor, Max, Min, Product, Sum};
    const ELEMENTS: [Element; 4] = [Element::Int, Element::Long, Element::Float, Element::Double];
    const OPERATORS: [Operator; 10] = [Sum, Product, Min, Max, LogicalAnd, BitAnd, LogicalOr, BitOr, LogicalXor, BitXor];
    // SAFETY: only compares handles.
    let (operator, element) = unsafe { (mpixn_operator(op), mpixn_element(datatype)) };
    let position = |counted: c_int| usize::try_from(counted - 1).ok();
    Some((*OPERATORS.get(position(operator)?)?, *ELEMENTS.get(position(element)?)?))
}

/// Returns true if a handle is `MPI_OP_NULL`.
pub fn is_null(op: MPI_Op) -> bool {
    // SAFETY: a constant of the C file.
    op == unsafe { mpixn_op_null() }
}

/// Returns true if the operator commutes.
///
/// # Safety
/// `op` must be an operator.
pub unsafe fn commutes(op: MPI_Op) -> Result<bool> {
    let mut commutes = 0;
    // SAFETY: the caller vouches for the handle; the result is a local.
    check(unsafe { mpi_sys::MPI_Op_commutative(op, &mut commutes) }, "MPI_Op_commutative")?;
    Ok(commutes != 0)
}

/// Fails if the operator does not work on the datatype: a reduction of no elements makes MPI check
/// it. `self_comm` must hold only this process. (`MPI_Reduce_local` has no communicator and would
/// call the error handler of `MPI_COMM_WORLD`.)
///
/// # Safety
/// The handles must be an operator and a datatype.
pub unsafe fn check_type(op: MPI_Op, datatype: MPI_Datatype, self_comm: &Comm) -> Result<()> {
    // a communicator takes one collective at a time, and several threads may get here
    static CHECKING: Mutex<()> = Mutex::new(());
    let _checking = CHECKING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut nothing = 0u64;
    let at: *mut std::ffi::c_void = (&raw mut nothing).cast();
    // SAFETY: no element is read or written.
    let rc = unsafe { mpi_sys::MPI_Allreduce(at, at.wrapping_byte_add(4), 0, datatype, op, self_comm.raw()) };
    check(rc, "MPI_Allreduce")
}

/// Computes `into[i] = from[i] op into[i]` for `count` elements that are `extent` bytes apart.
///
/// # Safety
/// Both must be valid for `count` elements of the datatype and must not overlap.
pub unsafe fn reduce(from: *mut u8, into: *mut u8, count: i64, extent: i64, datatype: MPI_Datatype, op: MPI_Op) -> Result<()> {
    let mut done = 0;
    while done < count {
        let now = (count - done).min(i64::from(c_int::MAX));
        let offset = (done * extent) as isize;
        check(
            // SAFETY: the caller vouches for the buffers; the chunk lies within them.
            unsafe {
                mpi_sys::MPI_Reduce_local(
                    from.wrapping_offset(offset).cast(),
                    into.wrapping_offset(offset).cast(),
                    now as c_int,
                    datatype,
                    op,
                )
            },
            "MPI_Reduce_local",
        )?;
        done += now;
    }
    Ok(())
}
