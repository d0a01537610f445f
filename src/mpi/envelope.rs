//! How a datatype was made, as `MPI_Type_get_envelope` and `MPI_Type_get_contents` report it.

use std::ffi::c_int;

use smallvec::{SmallVec, smallvec};

use super::constants::RSMPI_DATATYPE_NULL;
use super::datatype::Datatype;
use super::{MPI_Aint, MPI_Count, MPI_Datatype, check};
use crate::error::Result;
use crate::util::cast::to_usize;

unsafe extern "C" {
    safe static mpixn_combiners: [c_int; Combiner::ALL.len()];
    safe static mpixn_order_fortran: c_int;
    safe static mpixn_distribute: [c_int; 4];
    fn mpixn_type_envelope(datatype: MPI_Datatype, numbers: *mut [MPI_Count; 4], combiner: *mut c_int) -> c_int;
    fn mpixn_type_contents(
        datatype: MPI_Datatype,
        numbers: *const [MPI_Count; 4],
        integers: *mut c_int,
        addresses: *mut MPI_Aint,
        counts: *mut MPI_Count,
        datatypes: *mut MPI_Datatype,
    ) -> c_int;
}

/// How a datatype was made.
#[allow(missing_docs)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Combiner {
    Named,
    Dup,
    Contiguous,
    Vector,
    Hvector,
    HvectorInteger,
    Indexed,
    Hindexed,
    HindexedInteger,
    IndexedBlock,
    HindexedBlock,
    Struct,
    StructInteger,
    Subarray,
    Darray,
    Resized,
    F90Real,
    F90Complex,
    F90Integer,
    ValueIndex,
}

impl Combiner {
    const ALL: [Combiner; 20] = [
        Combiner::Named,
        Combiner::Dup,
        Combiner::Contiguous,
        Combiner::Vector,
        Combiner::Hvector,
        Combiner::HvectorInteger,
        Combiner::Indexed,
        Combiner::Hindexed,
        Combiner::HindexedInteger,
        Combiner::IndexedBlock,
        Combiner::HindexedBlock,
        Combiner::Struct,
        Combiner::StructInteger,
        Combiner::Subarray,
        Combiner::Darray,
        Combiner::Resized,
        Combiner::F90Real,
        Combiner::F90Complex,
        Combiner::F90Integer,
        Combiner::ValueIndex,
    ];

    /// Returns true if an element has no data of a part: a structure has empty blocks, which may be
    /// of any datatype. `numbers`: the arguments of the constructor.
    pub fn leaves_out(self, part: usize, numbers: &[i64]) -> bool {
        matches!(self, Combiner::Struct | Combiner::StructInteger) && numbers.get(1 + part) == Some(&0)
    }

    /// Returns true for datatypes that cannot be freed.
    pub fn is_predefined(self) -> bool {
        use Combiner::{F90Complex, F90Integer, F90Real, Named, ValueIndex};
        matches!(self, Named | F90Real | F90Complex | F90Integer | ValueIndex)
    }
}

/// The arguments of a constructor but for its datatypes: counts, displacements and so on, in the
/// standard's order for large counts. Those of a subarray of three dimensions need no allocation.
pub type Numbers = SmallVec<[i64; 12]>;

/// The envelope of a datatype: how it was made, and how many arguments describe it.
pub struct Envelope {
    datatype: Datatype,
    /// How many integers, addresses, large counts and datatypes describe it.
    numbers: [MPI_Count; 4],
    /// The constructor; `None` if it is unknown.
    pub combiner: Option<Combiner>,
}

impl Envelope {
    /// Asks MPI how a datatype was made (`MPI_Type_get_envelope`).
    pub fn of(datatype: Datatype) -> Result<Envelope> {
        let (mut numbers, mut combiner) = ([0; 4], 0);
        // SAFETY: a live datatype; the results are locals.
        check(unsafe { mpixn_type_envelope(datatype.raw(), &mut numbers, &mut combiner) }, "MPI_Type_get_envelope")?;
        let combiner = (mpixn_combiners.iter()).position(|&known| known == combiner).map(|k| Combiner::ALL[k]);
        Ok(Envelope { datatype, numbers, combiner })
    }

    /// Returns the datatype.
    pub fn datatype(&self) -> Datatype {
        self.datatype
    }

    /// Returns true if the datatype cannot be freed.
    pub fn is_predefined(&self) -> bool {
        self.combiner.is_some_and(Combiner::is_predefined)
    }

    /// Returns the length of the longest list of arguments that describes the datatype.
    pub fn longest(&self) -> i64 {
        self.numbers.iter().map(|&n| n as i64).max().unwrap_or(0)
    }

    /// Returns the arguments of the constructor.
    pub fn contents(&self) -> Result<(Numbers, Parts)> {
        let [integers, addresses, counts, datatypes] = self.numbers.map(|n| to_usize(n));
        let mut integers: SmallVec<[c_int; 12]> = smallvec![0; integers];
        let mut addresses: SmallVec<[MPI_Aint; 4]> = smallvec![0; addresses];
        let mut counts: SmallVec<[MPI_Count; 4]> = smallvec![0; counts];
        let mut parts: SmallVec<[MPI_Datatype; 4]> = smallvec![RSMPI_DATATYPE_NULL; datatypes];
        // SAFETY: a live datatype; the arrays are as long as MPI has said.
        let rc = unsafe {
            mpixn_type_contents(
                self.datatype.raw(),
                &self.numbers,
                integers.as_mut_ptr(),
                addresses.as_mut_ptr(),
                counts.as_mut_ptr(),
                parts.as_mut_ptr(),
            )
        };
        check(rc, "MPI_Type_get_contents")?;
        let parts = Parts::new(&parts)?;
        // for arrays, the large counts go after the number of dimensions
        let first = match self.combiner {
            Some(Combiner::Subarray) => 1,
            Some(Combiner::Darray) => 3,
            _ => integers.len(),
        };
        let (first, last) = integers.split_at(first.min(integers.len()));
        let wide = |integers: &[c_int]| -> Numbers { integers.iter().copied().map(i64::from).collect() };
        let mut numbers = wide(first);
        numbers.extend(addresses.into_iter().map(|a| a as i64));
        numbers.extend(counts.into_iter().map(|c| c as i64));
        numbers.extend(wide(last));
        Ok((numbers, parts))
    }
}

/// The envelopes of datatypes that `MPI_Type_get_contents` returned. Derived ones are freed when
/// dropped.
pub struct Parts(SmallVec<[Envelope; 1]>);

impl Parts {
    fn new(parts: &[MPI_Datatype]) -> Result<Parts> {
        let mut all = Parts(SmallVec::with_capacity(parts.len()));
        for &part in parts {
            // SAFETY: MPI has returned datatypes, which live as long as `all`.
            let datatype = unsafe { Datatype::from_raw(part) }.unwrap_or_else(super::datatype::byte);
            all.0.push(Envelope::of(datatype)?);
        }
        Ok(all)
    }

    /// Returns the envelopes.
    ///
    /// # Safety
    /// Their datatypes must not be used after `self` is dropped.
    pub unsafe fn lend(&self) -> &[Envelope] {
        &self.0
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        // one of an unknown kind may be predefined
        for part in self.0.iter().filter(|part| part.combiner.is_some_and(|combiner| !combiner.is_predefined())) {
            // SAFETY: a datatype that is ours; predefined ones are nobody's. Errors cannot be
            // reported.
            unsafe { mpi_sys::MPI_Type_free(&mut part.datatype.raw()) };
        }
    }
}

/// A search through the parts of a datatype, and theirs. It goes so far and no further: programs
/// nest datatypes as deep as they like, and one of two equal parts, of which each has two, has a
/// million after twenty levels.
#[derive(Default)]
pub struct Search {
    depth: usize,
    /// Derived parts that were found.
    seen: usize,
}

impl Search {
    const DEEPEST: usize = 128;
    const MOST_PARTS: usize = 1 << 18;

    /// Calls `look` with the constructor's arguments and the parts of a datatype, which must not be
    /// used afterwards. Returns `None` if the search does not go so far.
    pub fn within<T>(
        &mut self,
        made: &Envelope,
        look: impl FnOnce(&mut Search, &[i64], &[Envelope]) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        if self.depth == Search::DEEPEST || self.seen > Search::MOST_PARTS {
            return Ok(None);
        }
        let (numbers, parts) = made.contents()?;
        // SAFETY: they are used while `parts` lives, but for predefined ones, which nobody frees.
        let lent = unsafe { parts.lend() };
        self.seen += lent.iter().filter(|part| !part.is_predefined()).count();
        self.depth += 1;
        let found = look(self, &numbers, lent);
        self.depth -= 1;
        found
    }
}

/// `MPI_ORDER_FORTRAN`.
pub fn order_fortran() -> i64 {
    mpixn_order_fortran.into()
}

/// `MPI_DISTRIBUTE_BLOCK`, `_CYCLIC`, `_NONE` and `_DFLT_DARG`.
pub fn distributions() -> [i64; 4] {
    mpixn_distribute.map(i64::from)
}
