//! Remembers the arguments of a call, so that an equal call needs no checks.
//!
//! Two calls are equal if all addresses, numbers and handles in their arguments are. What a handle
//! stands for may change: the program frees a datatype, and MPI gives its handle to another one.
//! Each derived datatype is therefore decoded, which makes MPI tell when one is freed
//! (`decode.rs`). A program's operators cannot be watched like that, so that calls with them are
//! not remembered.
//!
//! Cost: arguments that differ are found by comparing the two buffers, equal ones by comparing
//! numbers and, where there are arrays, all their entries. To remember arguments is to copy them,
//! which allocates for the first arrays of their width.

// inline(always): the C functions know the shapes, so that one comparison is left of all these (see
// `capi/side.rs`).

use super::buffers::{Blocks, Buffers, Ints, Shape};
use super::known::Known;
use crate::error::Result;
use crate::mpi::datatype::{Datatype, byte};
use crate::mpi::op::Kind;
use crate::mpi::{MPI_Datatype, MPI_Op, Op};
use crate::topology::neighborhood::{Neighbor, Neighborhood};

/// The arguments of a call.
#[derive(Debug)]
pub struct RememberedArguments {
    /// True if there are any.
    filled: bool,
    /// The blocks sent.
    pub input: RememberedSide,
    /// The blocks received.
    pub output: RememberedSide,
    /// The operator; `None` also of a call that receives nothing.
    op: Option<Op>,
    /// How many datatypes had been freed; `None` if the arguments have none that can be.
    freed: Option<u64>,
}

/// One side of a call.
#[derive(Debug)]
pub struct RememberedSide {
    /// Entries of the list of neighbors.
    degree: usize,
    base: *mut u8,
    datatype: Datatype,
    form: Form,
    counts: Array,
    displs: Array,
    datatypes: Vec<MPI_Datatype>,
}

/// A shape, without its arrays.
#[derive(Debug, Clone, Copy)]
enum Form {
    One(i64),
    Equal(i64),
    Vector,
    General,
}

/// A copy of an array of counts or displacements.
#[derive(Debug)]
enum Array {
    Narrow(Vec<i32>),
    Wide(Vec<i64>),
    Address(Vec<isize>),
}

impl Array {
    #[inline(always)]
    fn is(&self, ints: Ints) -> bool {
        match (self, ints) {
            (Array::Narrow(kept), Ints::Narrow(now)) => same(kept, now),
            (Array::Wide(kept), Ints::Wide(now)) => same(kept, now),
            (Array::Address(kept), Ints::Address(now)) => same(kept, now),
            _ => false,
        }
    }

    /// Copies an array, into the same memory if the entries are as wide.
    fn copy(&mut self, ints: &Ints) {
        match (&mut *self, ints) {
            (Array::Narrow(kept), Ints::Narrow(now)) => copy(kept, now),
            (Array::Wide(kept), Ints::Wide(now)) => copy(kept, now),
            (Array::Address(kept), Ints::Address(now)) => copy(kept, now),
            (_, Ints::Narrow(now)) => *self = Array::Narrow(now.to_vec()),
            (_, Ints::Wide(now)) => *self = Array::Wide(now.to_vec()),
            (_, Ints::Address(now)) => *self = Array::Address(now.to_vec()),
        }
    }
}

/// Compares two arrays. Empty ones have no address, and what only looks at one in advance takes 400
/// ns.
#[inline(always)]
fn same<T: PartialEq>(kept: &[T], now: &[T]) -> bool {
    kept.len() == now.len() && (now.is_empty() || kept == now)
}

fn copy<T: Copy>(kept: &mut Vec<T>, now: &[T]) {
    kept.clear();
    kept.extend_from_slice(now);
}

impl Default for RememberedSide {
    fn default() -> RememberedSide {
        let nothing = || Array::Narrow(Vec::new());
        RememberedSide {
            degree: 0,
            base: std::ptr::null_mut(),
            datatype: byte(),
            form: Form::One(0),
            counts: nothing(),
            displs: nothing(),
            datatypes: Vec::new(),
        }
    }
}

impl RememberedSide {
    /// Entries of the list of neighbors.
    #[inline(always)]
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// True if another call on the same neighborhood has the same buffer, datatype of all blocks,
    /// and shape. Without neighbors the datatype does not count.
    #[inline(always)]
    pub fn is(&self, base: *mut u8, datatype: MPI_Datatype, shape: Shape) -> bool {
        // new buffers are the most frequent difference
        if self.base != base {
            return false;
        }
        let same = match (self.form, shape) {
            (Form::One(kept), Shape::One { count }) | (Form::Equal(kept), Shape::Equal { count }) => kept == count,
            (Form::Vector, Shape::Vector { counts, displs }) => self.counts.is(counts) && self.displs.is(displs),
            (Form::General, Shape::General { counts, displs, datatypes }) => {
                self.counts.is(counts) && self.displs.is(displs) && same(&self.datatypes, datatypes.raw())
            }
            _ => false,
        };
        same && (self.degree == 0 || self.datatype.raw() == datatype)
    }

    fn is_of(&self, blocks: &Blocks) -> bool {
        self.is(blocks.base, blocks.datatype.raw(), blocks.shape)
    }

    fn copy(&mut self, blocks: &Blocks, degree: usize) {
        (self.degree, self.base, self.datatype) = (degree, blocks.base, blocks.datatype);
        self.form = match &blocks.shape {
            Shape::One { count } => Form::One(*count),
            Shape::Equal { count } => Form::Equal(*count),
            Shape::Vector { .. } => Form::Vector,
            Shape::General { .. } => Form::General,
        };
        if let Shape::Vector { counts, displs } | Shape::General { counts, displs, .. } = &blocks.shape {
            self.counts.copy(counts);
            self.displs.copy(displs);
        }
        if let Shape::General { datatypes, .. } = &blocks.shape {
            copy(&mut self.datatypes, datatypes.raw());
        }
    }
}

impl RememberedArguments {
    /// Remembers nothing yet.
    pub fn new() -> RememberedArguments {
        let side = RememberedSide::default;
        RememberedArguments { filled: false, input: side(), output: side(), op: None, freed: None }
    }

    /// True if there are arguments, whose datatypes are still there. `known`: that which `remember`
    /// had.
    #[inline(always)]
    pub fn are_valid(&self, known: &Known) -> bool {
        self.filled && self.freed.is_none_or(|freed| known.freed().is_ok_and(|now| now == freed))
    }

    /// True if the call reduced by that operator, or received nothing.
    #[inline(always)]
    pub fn reduces_by(&self, op: MPI_Op) -> bool {
        // SAFETY: the value is compared alone.
        self.op.is_none() || self.op == unsafe { Op::from_raw(op) }
    }

    /// True if a call with these buffers is equal to the remembered one. That may serve only if it
    /// [is valid](Self::are_valid).
    pub fn are(&self, buffers: &Buffers) -> bool {
        self.input.is_of(&buffers.input) && self.output.is_of(&buffers.output) && self.op == buffers.op
    }

    /// Remembers the arguments of a call on a neighborhood, which must be valid. `freed`: how many
    /// datatypes had been freed before they were checked.
    pub fn remember(&mut self, buffers: &Buffers, n: &Neighborhood, freed: u64, known: &Known) {
        self.forget();
        if buffers.op.is_some_and(|op| op.kind() == Kind::User) {
            return;
        }
        // what cannot be watched is not remembered
        let (Ok(input), Ok(output)) = (watch(&buffers.input, n.targets(), known), watch(&buffers.output, n.sources(), known))
        else {
            return;
        };
        self.input.copy(&buffers.input, n.targets().len());
        self.output.copy(&buffers.output, n.sources().len());
        self.op = buffers.op;
        self.freed = (input || output).then_some(freed);
        self.filled = true;
    }

    /// Forgets the arguments.
    pub fn forget(&mut self) {
        self.filled = false;
    }
}

/// Makes MPI tell when a datatype of one side is freed. Returns true if one can be. Datatypes of
/// blocks without data, and of entries that are no process, may be anything.
fn watch(side: &Blocks, list: &[Neighbor], known: &Known) -> Result<bool> {
    let mut any = false;
    let mut last = byte();
    for (entry, _) in list.iter().enumerate().filter(|(_, neighbor)| neighbor.rank.is_some()) {
        let datatype = match side.shape {
            Shape::General { .. } => side.locate(entry)?.datatype,
            _ => side.datatype,
        };
        if std::mem::replace(&mut last, datatype) != datatype && known.is_derived(datatype)? {
            known.typemap(datatype)?;
            any = true;
        }
    }
    Ok(any)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::buffers::{Ints, RECV, SEND};
    use crate::mpi::datatype::{Datatypes, double};

    const COUNTS: [i32; 3] = [1, 2, 3];
    const DISPLS: [i64; 3] = [0, 8, -8];

    fn buffers<'a>(input: Shape<'a>, output: Shape<'a>) -> Buffers<'a> {
        let side = |at, shape, names| Blocks {
            base: std::ptr::without_provenance_mut(at),
            datatype: byte(),
            extent: 1,
            shape,
            names,
            field: None,
        };
        Buffers { input: side(64, input, &SEND), output: side(128, output, &RECV), op: None }
    }

    /// One entry is a process, the others have no data or are none.
    fn neighborhood() -> Neighborhood {
        let neighbor = |rank| Neighbor { rank, weight: 1, direction: 0 };
        let list = vec![neighbor(Some(1)), neighbor(None), neighbor(None)];
        Neighborhood::new(0, list.clone(), list, false)
    }

    /// Remembers one of the calls, and finds that alone.
    fn only_equal_calls_match(calls: &[Buffers]) {
        let (known, n) = (Known::default(), neighborhood());
        let mut arguments = RememberedArguments::new();
        assert!(!arguments.are_valid(&known));
        for (k, call) in calls.iter().enumerate() {
            arguments.remember(call, &n, 0, &known);
            assert!(arguments.are_valid(&known));
            assert!(calls.iter().enumerate().all(|(i, other)| arguments.are(other) == (i == k)));
        }
        arguments.forget();
        assert!(!arguments.are_valid(&known));
    }

    #[test]
    fn each_number_and_address_counts() {
        let equal = |count| Shape::Equal { count };
        let mut calls = vec![
            buffers(equal(1), equal(1)),
            buffers(equal(2), equal(1)),
            buffers(equal(1), equal(2)),
            buffers(Shape::One { count: 1 }, equal(1)),
        ];
        for change in [
            |b: &mut Buffers| b.input.base = b.input.base.wrapping_add(1),
            |b: &mut Buffers| b.output.base = b.output.base.wrapping_add(1),
            |b: &mut Buffers| std::mem::swap(&mut b.input.base, &mut b.output.base),
            |b: &mut Buffers| b.op = Some(Op::replace()),
        ] {
            let mut other = calls[0];
            change(&mut other);
            calls.push(other);
        }
        only_equal_calls_match(&calls);
    }

    #[test]
    fn each_datatype_counts_where_there_are_neighbors() {
        let call = buffers(Shape::Equal { count: 1 }, Shape::Equal { count: 1 });
        let (mut sent, mut received) = (call, call);
        (sent.input.datatype, received.output.datatype) = (double(), double());
        let (known, mut arguments) = (Known::default(), RememberedArguments::new());
        let none = Neighborhood::new(0, vec![], vec![], false);
        for (n, equal) in [(&neighborhood(), false), (&none, true)] {
            arguments.remember(&call, n, 0, &known);
            assert!(arguments.are_valid(&known) && arguments.are(&call));
            assert_eq!([sent, received].map(|other| arguments.are(&other)), [equal; 2]);
        }
    }

    #[test]
    fn each_entry_of_each_array_counts() {
        let general = |counts, displs, datatypes| Shape::General { counts, displs, datatypes };
        let types = [byte(); 3];
        let types = || Datatypes::from(&types[..]);
        let (narrow, wide) = (Ints::Narrow(&COUNTS), Ints::Wide(&DISPLS));
        let other_counts: Vec<[i32; 3]> = (0..3).map(|k| std::array::from_fn(|i| COUNTS[i] + i32::from(i == k))).collect();
        let other_displs: Vec<[i64; 3]> = (0..3).map(|k| std::array::from_fn(|i| DISPLS[i] + i64::from(i == k))).collect();
        let other_types = [byte(), byte(), double()];
        let same = || general(narrow, wide, types());
        let mut calls = vec![
            buffers(same(), same()),
            buffers(Shape::Vector { counts: narrow, displs: wide }, same()),
            buffers(general(wide, narrow, types()), same()),
            buffers(same(), general(narrow, wide, Datatypes::from(&other_types[..]))),
        ];
        calls.extend(other_counts.iter().map(|other| buffers(same(), general(Ints::Narrow(other), wide, types()))));
        calls.extend(other_displs.iter().map(|other| buffers(general(narrow, Ints::Wide(other), types()), same())));
        only_equal_calls_match(&calls);
    }

    #[test]
    fn an_array_that_changes_in_place_is_found() {
        fn call(displs: &[i64]) -> Buffers<'_> {
            let shape = |displs| Shape::Vector { counts: Ints::Narrow(&COUNTS), displs };
            buffers(shape(Ints::Wide(displs)), shape(Ints::Wide(&DISPLS)))
        }
        let (known, mut arguments) = (Known::default(), RememberedArguments::new());
        let mut displs = DISPLS;
        for k in 0..displs.len() {
            arguments.remember(&call(&displs), &neighborhood(), 0, &known);
            assert!(arguments.are(&call(&displs)));
            displs[k] += 1;
            assert!(!arguments.are(&call(&displs)));
        }
    }
}
