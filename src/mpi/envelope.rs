//! How a datatype was made, as `MPI_Type_get_envelope` and `MPI_Type_get_contents` report it.

use std::ffi::c_int;

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
}

impl Combiner {
    const ALL: [Combiner; 19] = [
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
    ];

    /// Returns true for datatypes that cannot be freed.
    pub fn is_predefined(self) -> bool {
        matches!(self, Combiner::Named | Combiner::F90Real | Combiner::F90Complex | Combiner::F90Integer)
    }
}

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

    /// Returns true if the datatype cannot be freed.
    pub fn is_predefined(&self) -> bool {
        self.combiner.is_some_and(Combiner::is_predefined)
    }

    /// Returns the length of the longest list of arguments that describes the datatype.
    pub fn longest(&self) -> i64 {
        self.numbers.iter().map(|&n| n as i64).max().unwrap_or(0)
    }

    /// Returns the arguments of the constructor: counts, displacements and so on in one list, in
    /// the standard's order for large counts, and the datatypes.
    pub fn contents(&self) -> Result<(Vec<i64>, Parts)> {
        let [integers, addresses, counts, datatypes] = self.numbers.map(|n| to_usize(n));
        let mut integers = vec![0; integers];
        let mut addresses: Vec<MPI_Aint> = vec![0; addresses];
        let mut counts: Vec<MPI_Count> = vec![0; counts];
        let mut parts = Parts(vec![RSMPI_DATATYPE_NULL; datatypes]);
        // SAFETY: a live datatype; the arrays are as long as MPI has said.
        let rc = unsafe {
            mpixn_type_contents(
                self.datatype.raw(),
                &self.numbers,
                integers.as_mut_ptr(),
                addresses.as_mut_ptr(),
                counts.as_mut_ptr(),
                parts.0.as_mut_ptr(),
            )
        };
        check(rc, "MPI_Type_get_contents")?;
        let (integers, addresses) = (integers.into_iter().map(i64::from), addresses.into_iter().map(|a| a as i64));
        let counts = counts.into_iter().map(|c| c as i64);
        let integers: Vec<i64> = integers.collect();
        // for arrays, the large counts go after the number of dimensions
        let first = match self.combiner {
            Some(Combiner::Subarray) => 1,
            Some(Combiner::Darray) => 3,
            _ => integers.len(),
        };
        let (first, last) = integers.split_at(first.min(integers.len()));
        let numbers = first.iter().copied().chain(addresses).chain(counts).chain(last.iter().copied()).collect();
        Ok((numbers, parts))
    }
}

/// Datatypes that `MPI_Type_get_contents` returned; derived ones are freed when dropped.
pub struct Parts(Vec<MPI_Datatype>);

impl Parts {
    /// Returns the datatypes.
    ///
    /// # Safety
    /// They must not be used after `self` is dropped.
    pub unsafe fn lend(&self) -> impl ExactSizeIterator<Item = Datatype> + '_ {
        // SAFETY: MPI has returned datatypes, which live as long as `self`.
        self.0.iter().map(|&part| unsafe { Datatype::from_raw(part) }.unwrap_or_else(super::datatype::byte))
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        for part in &mut self.0 {
            // SAFETY: null, or a datatype that is ours; predefined ones are nobody's. Errors cannot
            // be reported.
            unsafe {
                let Some(datatype) = Datatype::from_raw(*part) else { continue };
                if Envelope::of(datatype).is_ok_and(|envelope| !envelope.is_predefined()) {
                    mpi_sys::MPI_Type_free(part);
                }
            }
        }
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
