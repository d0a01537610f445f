//! Facts about the datatypes that a call site used last, cached to spare calls of MPI.

use std::cell::{Cell, OnceCell, RefCell};
use std::sync::Arc;

use super::decode::Freed;
use super::typemap::Typemap;
use crate::error::Result;
use crate::mpi::MPI_Datatype;
use crate::mpi::datatype::{extent, size, true_extent};

/// Facts about the datatypes that were looked up last.
///
/// Predefined datatypes never change. MPI may reuse the handle of a freed derived datatype for
/// another derived one, so only two facts about it are cached: that it is derived, and its typemap
/// until a datatype is freed.
#[derive(Debug, Default)]
pub struct Known {
    last: Cell<Option<(MPI_Datatype, Kind)>>,
    recent: Recent,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Predefined {
        extent: i64,
        /// True if consecutive elements leave no gaps.
        dense: bool,
    },
    Derived,
}

impl Known {
    /// Returns the extent: the bytes from one element to the next.
    ///
    /// # Safety
    /// `datatype` must be a datatype.
    #[inline(always)]
    pub unsafe fn extent(&self, datatype: MPI_Datatype) -> Result<i64> {
        // SAFETY: the caller vouches for the handle.
        match unsafe { self.kind(datatype) }? {
            Kind::Predefined { extent, .. } => Ok(extent),
            // SAFETY: as above.
            Kind::Derived => unsafe { extent(datatype) },
        }
    }

    /// Returns the size of a predefined datatype without holes; `None` for all others.
    ///
    /// # Safety
    /// `datatype` must be a datatype.
    #[inline]
    pub unsafe fn dense(&self, datatype: MPI_Datatype) -> Result<Option<i64>> {
        // SAFETY: the caller vouches for the handle.
        match unsafe { self.kind(datatype) }? {
            Kind::Predefined { extent, dense: true } => Ok(Some(extent)),
            _ => Ok(None),
        }
    }

    /// Returns true if the datatype is derived, so that its owner may free it.
    ///
    /// # Safety
    /// `datatype` must be a datatype.
    pub unsafe fn is_derived(&self, datatype: MPI_Datatype) -> Result<bool> {
        // SAFETY: the caller vouches for the handle.
        Ok(matches!(unsafe { self.kind(datatype) }?, Kind::Derived))
    }

    /// Returns how many decoded datatypes have been freed. While this number stays, equal handles
    /// are equal datatypes.
    pub fn freed(&self) -> Result<u64> {
        Ok(self.recent.freed()?.count())
    }

    /// Returns the typemap of an element (see [`Freed::typemap`]).
    ///
    /// # Safety
    /// `datatype` must be a datatype.
    pub unsafe fn typemap(&self, datatype: MPI_Datatype) -> Result<Option<Arc<Typemap>>> {
        // SAFETY: the caller vouches for the handle.
        unsafe { self.recent.typemap(datatype) }
    }

    #[inline(always)]
    unsafe fn kind(&self, datatype: MPI_Datatype) -> Result<Kind> {
        match self.last.get() {
            Some((known, kind)) if known == datatype => Ok(kind),
            // SAFETY: the callers of the above vouch for the handle.
            _ => unsafe { self.ask(datatype) },
        }
    }

    unsafe fn ask(&self, datatype: MPI_Datatype) -> Result<Kind> {
        // SAFETY: the callers of the above vouch for the handle.
        let kind = unsafe {
            if self.recent.freed()?.is_predefined(datatype)? {
                let extent = extent(datatype)?;
                Kind::Predefined { extent, dense: size(datatype)? == extent && true_extent(datatype)? == (0, extent) }
            } else {
                Kind::Derived
            }
        };
        self.last.set(Some((datatype, kind)));
        Ok(kind)
    }
}

/// The typemaps that were looked up last.
#[derive(Debug, Default)]
struct Recent {
    freed: OnceCell<Arc<Freed>>,
    /// The count of `freed` when the list was begun.
    count: Cell<u64>,
    list: RefCell<Vec<(MPI_Datatype, Option<Arc<Typemap>>)>>,
    /// The entry to replace next.
    next: Cell<usize>,
}

impl Recent {
    /// One per neighbor in a 3-D grid, on both sides.
    const MOST: usize = 52;

    /// Returns the typemap of one element (see [`Freed::typemap`]). Calls no MPI for a datatype in
    /// the list.
    ///
    /// # Safety
    /// `datatype` must be a datatype.
    pub unsafe fn typemap(&self, datatype: MPI_Datatype) -> Result<Option<Arc<Typemap>>> {
        let freed = self.freed()?;
        let mut list = self.list.borrow_mut();
        if self.count.get() != freed.count() {
            self.count.set(freed.count());
            list.clear();
        }
        if let Some((_, map)) = list.iter().find(|(handle, _)| *handle == datatype) {
            return Ok(map.clone());
        }
        // SAFETY: the caller vouches for the handle.
        let map = unsafe { freed.typemap(datatype) }?;
        if list.len() < Recent::MOST {
            list.push((datatype, map.clone()));
        } else {
            list[self.next.get()] = (datatype, map.clone());
            self.next.set((self.next.get() + 1) % Recent::MOST);
        }
        Ok(map)
    }

    /// Returns the process's counter.
    pub fn freed(&self) -> Result<&Arc<Freed>> {
        if let Some(freed) = self.freed.get() {
            return Ok(freed);
        }
        let freed = Freed::of_process()?;
        Ok(self.freed.get_or_init(|| freed))
    }
}
