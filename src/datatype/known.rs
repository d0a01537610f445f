//! Facts about the datatypes that a call site used last, cached to spare calls of MPI.

use std::cell::{Cell, OnceCell, RefCell};
use std::sync::Arc;

use super::decode::Freed;
use super::typemap::Typemap;
use crate::error::Result;
use crate::mpi::Datatype;
use crate::mpi::datatype::Owned;

/// Facts about the datatypes that were looked up last.
///
/// Predefined datatypes never change. MPI may reuse the handle of a freed derived datatype for
/// another derived one, so only that it is derived is cached for good; its typemap, and the extent
/// of one that is watched, until a datatype is freed, or until [`Known::forget`].
#[derive(Debug, Default)]
pub struct Known {
    /// The two that were looked up last, newest first: as many as a call has, as a rule.
    last: [Cell<Option<(Datatype, Kind)>>; 2],
    recent: Recent,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Predefined {
        extent: i64,
        /// True if consecutive elements leave no gaps.
        dense: bool,
    },
    Derived {
        /// The extent, and how many datatypes had been freed; `None` if nobody would tell that this
        /// one is.
        extent: Option<(i64, u64)>,
    },
}

impl Known {
    /// Returns the extent: the bytes from one element to the next.
    #[inline]
    pub fn extent(&self, datatype: Datatype) -> Result<i64> {
        match self.last[0].get() {
            Some((known, Kind::Predefined { extent, .. })) if known == datatype => Ok(extent),
            _ => self.look_up_extent(datatype),
        }
    }

    #[inline(never)]
    fn look_up_extent(&self, datatype: Datatype) -> Result<i64> {
        match self.kind(datatype)? {
            Kind::Predefined { extent, .. } => Ok(extent),
            Kind::Derived { extent: Some((extent, freed)) } if freed == self.freed()? => Ok(extent),
            Kind::Derived { .. } => self.ask_extent(datatype),
        }
    }

    fn ask_extent(&self, datatype: Datatype) -> Result<i64> {
        let (freed, extent) = (self.recent.freed()?, datatype.extent()?);
        let lasting = Freed::has_decoded(datatype)?.then(|| (extent, freed.count()));
        self.remember(datatype, Kind::Derived { extent: lasting });
        Ok(extent)
    }

    /// Returns the size of a predefined datatype without holes; `None` for all others.
    #[inline]
    pub fn dense(&self, datatype: Datatype) -> Result<Option<i64>> {
        match self.kind(datatype)? {
            Kind::Predefined { extent, dense: true } => Ok(Some(extent)),
            _ => Ok(None),
        }
    }

    /// Returns true if the datatype is derived, so that its owner may free it.
    pub fn is_derived(&self, datatype: Datatype) -> Result<bool> {
        Ok(matches!(self.kind(datatype)?, Kind::Derived { .. }))
    }

    /// Returns how many decoded datatypes have been freed. While this number stays, equal handles
    /// are equal datatypes, but for [twins](Freed::twin), whose users forget them.
    #[inline]
    pub fn freed(&self) -> Result<u64> {
        Ok(self.recent.freed()?.count())
    }

    /// Returns the typemap of an element (see [`Freed::typemap`]).
    pub fn typemap(&self, datatype: Datatype) -> Result<Option<Arc<Typemap>>> {
        self.recent.typemap(datatype)
    }

    /// Forgets all typemaps, and extents of derived datatypes. `watches`: true if MPI is to tell
    /// when a datatype is freed that is looked up from now on. Otherwise a lookup costs less, and
    /// the typemaps must be forgotten before another call.
    pub fn forget(&self, watches: bool) {
        for last in &self.last {
            if let Some((datatype, Kind::Derived { .. })) = last.get() {
                last.set(Some((datatype, Kind::Derived { extent: None })));
            }
        }
        self.recent.list.borrow_mut().clear();
        self.recent.unwatched.set(!watches);
    }

    /// Returns what can stand for a derived datatype (see [`Freed::twin`]).
    pub fn twin(&self, datatype: Datatype) -> Result<Arc<Owned>> {
        self.recent.freed()?.twin(datatype)
    }

    #[inline]
    fn kind(&self, datatype: Datatype) -> Result<Kind> {
        for last in &self.last {
            if let Some((known, kind)) = last.get()
                && known == datatype
            {
                return Ok(kind);
            }
        }
        self.ask(datatype)
    }

    fn ask(&self, datatype: Datatype) -> Result<Kind> {
        let kind = if self.recent.freed()?.is_predefined(datatype)? {
            let extent = datatype.extent()?;
            Kind::Predefined { extent, dense: datatype.size()? == extent && datatype.true_extent()? == (0, extent) }
        } else {
            Kind::Derived { extent: None }
        };
        self.remember(datatype, kind);
        Ok(kind)
    }

    fn remember(&self, datatype: Datatype, kind: Kind) {
        let [first, second] = &self.last;
        if first.get().is_some_and(|(known, _)| known != datatype) {
            second.set(first.get());
        }
        first.set(Some((datatype, kind)));
    }
}

/// The typemaps that were looked up last.
#[derive(Debug, Default)]
struct Recent {
    freed: OnceCell<Arc<Freed>>,
    /// The count of `freed` when the list was begun.
    count: Cell<u64>,
    list: RefCell<Vec<(Datatype, Option<Arc<Typemap>>)>>,
    /// True if datatypes may be freed unnoticed (see [`Known::forget`]).
    unwatched: Cell<bool>,
    /// The entry to replace next.
    next: Cell<usize>,
}

impl Recent {
    /// One per neighbor in a 3-D grid, on both sides.
    const MOST: usize = 52;

    /// Returns the typemap of one element (see [`Freed::typemap`]). Calls no MPI for a datatype in
    /// the list.
    pub fn typemap(&self, datatype: Datatype) -> Result<Option<Arc<Typemap>>> {
        let freed = self.freed()?;
        let mut list = self.list.borrow_mut();
        if self.count.get() != freed.count() {
            self.count.set(freed.count());
            list.clear();
        }
        if let Some((_, map)) = list.iter().find(|(handle, _)| *handle == datatype) {
            return Ok(map.clone());
        }
        let map = freed.typemap(datatype, !self.unwatched.get())?;
        if list.len() < Recent::MOST {
            list.push((datatype, map.clone()));
        } else {
            list[self.next.get()] = (datatype, map.clone());
            self.next.set((self.next.get() + 1) % Recent::MOST);
        }
        Ok(map)
    }

    /// Returns the process's counter.
    #[inline]
    pub fn freed(&self) -> Result<&Arc<Freed>> {
        if let Some(freed) = self.freed.get() {
            return Ok(freed);
        }
        let freed = Freed::of_process()?;
        Ok(self.freed.get_or_init(|| freed))
    }
}
