//! Remembers the arguments of a call, so that an equal call needs no checks.
//!
//! Two calls are equal if all addresses, numbers and handles in their arguments are. What a handle
//! stands for may change: the program frees a datatype, and MPI gives its handle to another one.
//! Each derived datatype is therefore decoded, which makes MPI tell when one is freed
//! (`decode.rs`). A program's operators cannot be watched like that, so that calls with them are
//! not remembered.
//!
//! Cost: arguments that differ are found by comparing the two buffers, equal ones by comparing
//! numbers and, where there are arrays, their bytes. To remember arguments is to copy them.
//! Allocates if there are more list entries, or wider ones, than ever before.

use super::buffers::{Blocks, Buffers, Shape};
use super::known::Known;
use crate::error::Result;
use crate::mpi::Op;
use crate::mpi::datatype::{Datatype, byte};
use crate::mpi::op::Kind;
use crate::topology::neighborhood::{Neighbor, Neighborhood};

/// The arguments of a call.
#[derive(Debug, Default)]
pub struct RememberedArguments {
    sides: Option<[Side; 2]>,
    op: Option<Op>,
    /// How many datatypes had been freed; `None` if the arguments have none that can be.
    freed: Option<u64>,
    /// The arrays of both sides.
    arrays: [Vec<u8>; 2],
}

/// One side of a call, without its arrays.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Side {
    base: *mut u8,
    datatype: Datatype,
    extent: i64,
    form: Form,
}

/// A shape, without its arrays, but with the bytes of their entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    One(i64),
    Equal(i64),
    Vector(usize, usize),
    General(usize, usize),
}

impl Side {
    #[inline]
    fn of(blocks: &Blocks) -> Side {
        let form = match blocks.shape {
            Shape::One { count } => Form::One(count),
            Shape::Equal { count } => Form::Equal(count),
            Shape::Vector { counts, displs } => Form::Vector(counts.width(), displs.width()),
            Shape::General { counts, displs, .. } => Form::General(counts.width(), displs.width()),
        };
        Side { base: blocks.base, datatype: blocks.datatype, extent: blocks.extent, form }
    }
}

/// Returns the bytes of a side's arrays.
#[inline]
fn arrays<'a>(blocks: &'a Blocks) -> [&'a [u8]; 3] {
    match &blocks.shape {
        Shape::One { .. } | Shape::Equal { .. } => [&[]; 3],
        Shape::Vector { counts, displs } => [counts.bytes(), displs.bytes(), &[]],
        Shape::General { counts, displs, datatypes } => [counts.bytes(), displs.bytes(), datatypes.bytes()],
    }
}

impl RememberedArguments {
    /// Returns true if a call with these buffers is equal to the remembered one. `known`: that
    /// which `remember` had.
    #[inline]
    pub fn are(&self, buffers: &Buffers, known: &Known) -> bool {
        let Some(sides) = &self.sides else { return false };
        // new buffers are the most frequent difference
        if sides[0].base != buffers.input.base || sides[1].base != buffers.output.base {
            return false;
        }
        let equal = |side: &Side, kept: &[u8], blocks: &Blocks| {
            let mut rest = kept;
            *side == Side::of(blocks)
                && arrays(blocks).iter().all(|array| {
                    array.is_empty()
                        || rest.split_at_checked(array.len()).is_some_and(|(first, others)| {
                            rest = others;
                            first == *array
                        })
                })
        };
        equal(&sides[0], &self.arrays[0], &buffers.input)
            && equal(&sides[1], &self.arrays[1], &buffers.output)
            && self.op == buffers.op
            && self.freed.is_none_or(|freed| known.freed().is_ok_and(|now| now == freed))
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
        for (kept, blocks) in self.arrays.iter_mut().zip([&buffers.input, &buffers.output]) {
            kept.clear();
            arrays(blocks).iter().for_each(|array| kept.extend_from_slice(array));
        }
        self.freed = (input || output).then_some(freed);
        self.op = buffers.op;
        self.sides = Some([Side::of(&buffers.input), Side::of(&buffers.output)]);
    }

    /// Forgets the arguments.
    pub fn forget(&mut self) {
        self.sides = None;
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
        let side =
            |at, shape, names| Blocks { base: std::ptr::without_provenance_mut(at), datatype: byte(), extent: 1, shape, names };
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
        let mut arguments = RememberedArguments::default();
        for (k, call) in calls.iter().enumerate() {
            assert!(calls.iter().enumerate().all(|(i, other)| arguments.are(other, &known) == (k > 0 && i == k - 1)));
            arguments.remember(call, &n, 0, &known);
        }
        arguments.forget();
        assert!(!calls.iter().any(|call| arguments.are(call, &known)));
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
            |b: &mut Buffers| b.input.extent = 2,
            |b: &mut Buffers| b.op = Some(Op::replace()),
        ] {
            let mut other = calls[0];
            change(&mut other);
            calls.push(other);
        }
        only_equal_calls_match(&calls);
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
        let (known, mut arguments) = (Known::default(), RememberedArguments::default());
        let mut displs = DISPLS;
        for k in 0..displs.len() {
            let shape = |displs| Shape::Vector { counts: Ints::Narrow(&COUNTS), displs };
            let call = buffers(shape(Ints::Wide(&displs)), shape(Ints::Wide(&DISPLS)));
            arguments.remember(&call, &neighborhood(), 0, &known);
            assert!(arguments.are(&call, &known));
            displs[k] += 1;
            assert!(!arguments.are(&buffers(shape(Ints::Wide(&displs)), shape(Ints::Wide(&DISPLS))), &known));
        }
    }
}
