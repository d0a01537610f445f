//! Reduction operators.

use std::ffi::c_int;
use std::sync::Mutex;

use super::comm::Owned as Comm;
use super::datatype::Datatype;
use super::{MPI_Datatype, MPI_Op, check, text_of};
use crate::error::Result;
use crate::util::cast::{to_int, to_offset};
use crate::util::lock::lock;

unsafe extern "C" {
    safe fn mpixn_op_null() -> MPI_Op;
    // these only compare handles
    safe fn mpixn_op_kind(op: MPI_Op) -> c_int;
    safe fn mpixn_replace() -> MPI_Op;
    safe fn mpixn_element(datatype: MPI_Datatype) -> c_int;
    safe fn mpixn_kind(datatype: MPI_Datatype) -> c_int;
    safe fn mpixn_operator(op: MPI_Op) -> c_int;
    safe fn mpixn_operator_at(place: c_int) -> MPI_Op;
}

/// An operator: a handle that is not null and stays valid as long as MPI is given this value or a
/// copy of it. Whoever makes one vouches for that.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(transparent)]
pub struct Op(MPI_Op);

// SAFETY: a handle, which may be used in any thread that may call MPI.
unsafe impl Send for Op {}
// SAFETY: as above.
unsafe impl Sync for Op {}

impl Op {
    /// Takes a caller's handle; `None` if it is `MPI_OP_NULL`.
    ///
    /// # Safety
    /// `raw` must be null or an operator that is not freed while this value or a copy of it is
    /// used: until the call ends, or its operation is complete.
    pub unsafe fn from_raw(raw: MPI_Op) -> Option<Op> {
        if raw == mpixn_op_null() { None } else { Some(Op(raw)) }
    }

    /// Returns the number of a predefined operator, which is the same in all processes; `None` for
    /// one of the program's.
    pub fn number(self) -> Option<u8> {
        u8::try_from(mpixn_operator(self.0)).ok().filter(|&number| number > 0)
    }

    /// Returns the predefined operator of a number.
    pub fn of_number(number: u8) -> Option<Op> {
        // SAFETY: null, or an operator that is never freed.
        unsafe { Op::from_raw(mpixn_operator_at(number.into())) }
    }

    /// Returns true if a caller's handle is this operator.
    #[inline]
    pub fn is(self, raw: MPI_Op) -> bool {
        self.0 == raw
    }

    /// Returns the handle for a call of MPI.
    pub(super) fn raw(self) -> MPI_Op {
        self.0
    }

    /// `MPI_REPLACE`.
    pub fn replace() -> Op {
        Op(mpixn_replace())
    }

    /// Returns true for `MPI_NO_OP`.
    pub fn is_no_op(self) -> bool {
        self.kind() == Kind::Windows && self != Op::replace()
    }

    /// Returns what kind of operator it is.
    pub fn kind(self) -> Kind {
        match mpixn_op_kind(self.0) {
            0 => Kind::User,
            1 => Kind::Predefined,
            _ => Kind::Windows,
        }
    }

    /// Returns true if the operator commutes.
    pub fn commutes(self) -> Result<bool> {
        let mut commutes = 0;
        // SAFETY: a live operator; the result is a local.
        check(unsafe { mpi_sys::MPI_Op_commutative(self.0, &mut commutes) }, "MPI_Op_commutative")?;
        Ok(commutes != 0)
    }

    /// Fails, and says why, if the operator is none for reductions, or does not work on the
    /// datatype: a reduction of no elements makes MPI check that. `self_comm` must hold only this
    /// process. (`MPI_Reduce_local` has no communicator and would call the error handler of
    /// `MPI_COMM_WORLD`.)
    pub fn check_type(self, datatype: Datatype, self_comm: &Comm) -> std::result::Result<(), String> {
        // MPICH copies by them
        if self.kind() == Kind::Windows {
            return Err("it is for windows alone".into());
        }
        // a communicator takes one collective at a time, and several threads may get here
        static CHECKING: Mutex<()> = Mutex::new(());
        let _checking = lock(&CHECKING);
        let mut nothing = 0u64;
        let at: *mut std::ffi::c_void = (&raw mut nothing).cast();
        let (into, datatype) = (at.wrapping_byte_add(4), datatype.raw());
        // SAFETY: live handles; no element is read or written.
        let rc = unsafe { mpi_sys::MPI_Allreduce(at, into, 0, datatype, self.0, self_comm.raw()) };
        check(rc, "MPI_Allreduce").map_err(|e| text_of(*e))
    }
}

/// Who defines an operator, and for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The program.
    User,
    /// MPI, for reductions. All of these commute.
    Predefined,
    /// MPI, for windows alone: `MPI_REPLACE` and `MPI_NO_OP`.
    Windows,
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
    /// `MPI_UNSIGNED`, `MPI_UINT32_T`
    Unsigned,
    /// `MPI_UNSIGNED_LONG`, `MPI_UNSIGNED_LONG_LONG`, `MPI_UINT64_T`
    UnsignedLong,
    /// `MPI_UNSIGNED_CHAR`, `MPI_UINT8_T`
    UnsignedChar,
    /// `MPI_UNSIGNED_SHORT`, `MPI_UINT16_T`
    UnsignedShort,
}

impl Element {
    /// Bytes of an element.
    pub fn bytes(self) -> usize {
        match self {
            Element::UnsignedChar => 1,
            Element::UnsignedShort => 2,
            Element::Int | Element::Float | Element::Unsigned => 4,
            Element::Long | Element::Double | Element::UnsignedLong => 8,
        }
    }
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
pub fn predefined(op: Op, datatype: Datatype) -> Option<(Operator, Element)> {
    use Operator::{BitAnd, BitOr, BitXor, LogicalAnd, LogicalOr, LogicalXor, Max, Min, Product, Sum};
    const OPERATORS: [Operator; 10] = [Sum, Product, Min, Max, LogicalAnd, BitAnd, LogicalOr, BitOr, LogicalXor, BitXor];
    Some((*OPERATORS.get(position(mpixn_operator(op.0))?)?, element(datatype)?))
}

/// Returns the elements that a predefined datatype stands for, if the library reduces them.
pub fn element(datatype: Datatype) -> Option<Element> {
    use Element::{Double, Float, Int, Long, Unsigned, UnsignedChar, UnsignedLong, UnsignedShort};
    const ELEMENTS: [Element; 8] = [Int, Long, Float, Double, Unsigned, UnsignedLong, UnsignedChar, UnsignedShort];
    ELEMENTS.get(position(mpixn_element(datatype.raw()))?).copied()
}

/// Returns a number that tells a predefined datatype from others of its size, if they are of
/// another kind: integers, real and complex numbers, pairs; 0 for all that are none of these.
pub fn kind_of(datatype: Datatype) -> i32 {
    mpixn_kind(datatype.raw())
}

/// The place in an array of what C counts from 1 on.
fn position(counted: c_int) -> Option<usize> {
    usize::try_from(counted - 1).ok()
}

/// Lets MPI compute `into[i] = from[i] op into[i]` for `count` elements that are `extent` bytes
/// apart. Where there is a [`predefined`] pair, loops of `exec/elements.rs` do so instead.
///
/// # Safety
/// Both must be valid for `count` elements of the datatype and must not overlap.
pub unsafe fn reduce(from: *mut u8, into: *mut u8, count: i64, extent: i64, datatype: Datatype, op: Op) -> Result<()> {
    let mut done = 0;
    while done < count {
        let now = (count - done).min(i64::from(c_int::MAX));
        let offset = to_offset(done * extent);
        check(
            // SAFETY: the caller vouches for the buffers; the chunk lies within them.
            unsafe {
                mpi_sys::MPI_Reduce_local(
                    from.wrapping_offset(offset).cast(),
                    into.wrapping_offset(offset).cast(),
                    to_int(now),
                    datatype.raw(),
                    op.0,
                )
            },
            "MPI_Reduce_local",
        )?;
        done += now;
    }
    Ok(())
}
