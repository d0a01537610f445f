//! Type signatures: the predefined datatypes that the data of a datatype is of, in order.
//!
//! A signature is kept as a polynomial's value, so that a million repetitions cost as little as
//! one. Different ones have the same value by accident alone.

use crate::error::Result;
use crate::mpi::Datatype;
use crate::mpi::envelope::{Combiner, Envelope, Search};
use crate::mpi::op;

/// Where the polynomial is evaluated: an odd number, so that it has an inverse.
const POINT: u64 = 0x9e37_79b9_7f4a_7c15;

/// A type signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature {
    sum: u64,
    /// [`POINT`] to the power of the length.
    power: u64,
}

impl Signature {
    const EMPTY: Signature = Signature { sum: 0, power: 1 };

    /// Returns a datatype's signature, or `None` if MPI does not tell how it was made, or if it has
    /// too many parts, or parts nested too deep.
    ///
    /// Predefined datatypes count as the same if they have the same size and are of one kind, in
    /// whatever language: integers with and without sign, real and complex numbers, and each kind
    /// of pair. All others, such as characters and bytes, are one kind.
    pub fn of(datatype: Datatype) -> Result<Option<Signature>> {
        Signature::of_part(&Envelope::of(datatype)?, &mut Search::default())
    }

    fn of_part(envelope: &Envelope, search: &mut Search) -> Result<Option<Signature>> {
        let Some(combiner) = envelope.combiner else { return Ok(None) };
        let datatype = envelope.datatype();
        if combiner.is_predefined() {
            return Ok(Some(Signature::of_one(op::kind_of(datatype), datatype.size()?)));
        }
        let size = datatype.size()?;
        let is_struct = matches!(combiner, Combiner::Struct | Combiner::StructInteger);
        search.within(envelope, |search, numbers, parts| {
            let mut all = Signature::EMPTY;
            for (k, part) in parts.iter().enumerate() {
                let part_size = part.datatype().size()?;
                if part_size == 0 {
                    continue;
                }
                // all but structures repeat one datatype
                let times = if is_struct { numbers.get(1 + k).copied().unwrap_or(0) } else { size / part_size };
                if times > 0 {
                    let Some(one) = Signature::of_part(part, search)? else { return Ok(None) };
                    all = all.then(one.repeated(times.unsigned_abs()));
                }
            }
            Ok(Some(all))
        })
    }

    fn of_one(kind: i32, size: i64) -> Signature {
        Signature { sum: (i64::from(kind) << 32 | (size + 1)).cast_unsigned(), power: POINT }
    }

    fn then(self, next: Signature) -> Signature {
        let sum = self.sum.wrapping_mul(next.power).wrapping_add(next.sum);
        Signature { sum, power: self.power.wrapping_mul(next.power) }
    }

    fn repeated(self, mut times: u64) -> Signature {
        let (mut all, mut block) = (Signature::EMPTY, self);
        while times > 0 {
            if times % 2 == 1 {
                all = all.then(block);
            }
            block = block.then(block);
            times /= 2;
        }
        all
    }

    /// Returns the signature as a number that is not negative.
    pub fn number(self) -> i64 {
        ((self.sum.wrapping_mul(POINT) ^ self.power) >> 1).cast_signed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INT: Signature = Signature { sum: 1 << 32 | 5, power: POINT };

    #[test]
    fn repetition_is_concatenation() {
        let float = Signature::of_one(3, 4);
        let pair = INT.then(float);
        assert_eq!(Signature::of_one(1, 4), INT);
        assert_ne!(pair, float.then(INT));
        let mut all = Signature::EMPTY;
        for times in 0..70 {
            assert_eq!(pair.repeated(times), all);
            all = all.then(pair);
        }
        assert_eq!(pair.repeated(30).then(pair.repeated(12)), pair.repeated(42));
        assert_ne!(INT.repeated(2), Signature::of_one(2, 8));
        assert_ne!(INT.repeated(3).number(), INT.repeated(4).number());
    }

    #[test]
    fn lengths_count() {
        // a polynomial alone would not tell leading zeros apart
        let zero = Signature { sum: 0, power: POINT };
        assert_ne!(zero.then(INT).number(), INT.number());
    }

    #[test]
    fn numbers_are_not_negative() {
        // half of them would be
        assert!((1..64).all(|times| INT.repeated(times).number() >= 0));
    }
}
