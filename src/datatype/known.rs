//! What is known of the datatypes that a call site used last, so that MPI is not asked again.

use std::cell::{Cell, OnceCell, RefCell};
use std::sync::Arc;

use super::decode::Freed;
use super::typemap::Typemap;
use crate::error::Result;
use crate::mpi::MPI_Datatype;
use crate::mpi::datatype::{extent, size, true_extent};

/// What is known of datatypes that were asked for last. Predefined ones never change. The handle of
/// a derived one that was freed may come back as another derived one: what is known of it besides
/// its kind is its typemap, as long as no datatype is freed.
#[derive(Debug, Default)]
pub struct Known {
    last: Cell<Option<(MPI_Datatype, Kind)>>,
    recent: Recent,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Predefined {
        extent: i64,
        /// Whether elements behind one another leave no byte out.
        dense: bool,
    },
    Derived,
}

impl Known {
    /// Bytes from one element to the next.
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

    /// Bytes of an element of a predefined datatype without holes; `None` for all others.
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

    /// Whether it is a derived datatype, which its owner may free.
    ///
    /// # Safety
    /// `datatype` must be a datatype.
    pub unsafe fn is_derived(&self, datatype: MPI_Datatype) -> Result<bool> {
        // SAFETY: the caller vouches for the handle.
        Ok(matches!(unsafe { self.kind(datatype) }?, Kind::Derived))
    }

    /// How many datatypes have been freed whose typemaps were looked at: as long as it is the same,
    /// equal handles are equal datatypes.
    pub fn freed(&self) -> Result<u64> {
        Ok(self.recent.freed()?.count())
    }

    /// The typemap of an element, as [`Freed::typemap`].
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

/// Typemaps of the datatypes that were asked for last.
#[derive(Debug, Default)]
struct Recent {
    freed: OnceCell<Arc<Freed>>,
    /// What `freed` counted when the list was begun.
    count: Cell<u64>,
    list: RefCell<Vec<(MPI_Datatype, Option<Arc<Typemap>>)>>,
    /// Which entry is the next to be replaced.
    next: Cell<usize>,
}

impl Recent {
    /// As many as a process has neighbors in a 3-D grid, on both sides.
    const MOST: usize = 52;

    /// The typemap of one element, as [`Freed::typemap`]. No call of MPI for a datatype that is in
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

    /// The process's counter.
    pub fn freed(&self) -> Result<&Arc<Freed>> {
        if let Some(freed) = self.freed.get() {
            return Ok(freed);
        }
        let freed = Freed::of_process()?;
        Ok(self.freed.get_or_init(|| freed))
    }
}
