//! Decodes datatypes: finds the typemap of each one once, by asking MPI how it was made, and keeps
//! it as an attribute of the datatype.
//!
//! MPI drops the attribute when the datatype is freed, and [`Freed`] counts that, but for
//! [twins](Freed::twin). As long as the count stays, a handle that was decoded still names the same
//! datatype, so that whoever remembers the handle with its typemap needs no call of MPI.
//!
//! Datatypes that a program makes for each call are not watched in this way (see
//! [`Known::forget`](super::known::Known::forget)), and what was found out of one serves those that
//! are made in the same way.
//!
//! Cost: one call of MPI for a datatype that was decoded before; for a new one that is made as an
//! earlier one of predefined datatypes, four, else some for each datatype that it is made of; one
//! more where it is watched.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use smallvec::SmallVec;

use crate::datatype::typemap::{MOST_PIECES, Pieces, Typemap};
use crate::error::{Error, Result};
use crate::mpi::Datatype;
use crate::mpi::attribute::TypeKey;
use crate::mpi::datatype::Owned;
use crate::mpi::envelope::{Combiner, Envelope, Numbers, Search, distributions, order_fortran};
use crate::mpi::of_process::OfProcess;
use crate::util::cast::{to_int, to_usize};
use crate::util::lock::lock;

/// The result of decoding a datatype: the typemap of an element, or `None` if it has none.
type Decoded = Option<Arc<Typemap>>;

/// Counts the decoded datatypes that have been freed.
#[derive(Debug, Default)]
pub struct Freed {
    count: AtomicU64,
    /// Locked while any datatype is decoded: of two threads that use one for the first time at
    /// once, one would free the attribute that the other reads.
    decodings: Mutex<Decodings>,
}

/// Results that are found again without asking MPI for all that led to them.
#[derive(Debug, Default)]
struct Decodings {
    /// Predefined datatypes. They are kept here because not all of them can have attributes.
    predefined: Vec<(Datatype, Decoded)>,
    /// Derived datatypes of predefined ones, each at its [`Construction::place`]; empty before the
    /// first. A program that makes its datatypes for each call makes the same ones again.
    made: Vec<Option<(Construction, Decoded)>>,
}

/// The constructor call that made a derived datatype of predefined ones.
#[derive(Debug, PartialEq)]
struct Construction {
    combiner: Combiner,
    numbers: Numbers,
    /// Positions in [`Decodings::predefined`].
    parts: SmallVec<[usize; 1]>,
}

impl Construction {
    /// The most that are kept.
    const MOST: usize = 64;

    /// The longest list of arguments of one that is kept.
    const LONGEST: i64 = 64;

    /// Returns the place among those that are kept.
    fn place(&self) -> usize {
        let numbers = self.numbers.iter().map(|number| number.cast_unsigned());
        let all = numbers.chain(self.parts.iter().map(|&part| part as u64));
        let mixed =
            all.fold(self.combiner as u64, |mixed, number| (mixed.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        to_usize(mixed >> 32) % Construction::MOST
    }
}

impl Decodings {
    /// Returns the position of a predefined datatype that has been decoded.
    fn find(&self, datatype: Datatype) -> Option<usize> {
        self.predefined.iter().position(|(known, _)| *known == datatype)
    }

    /// Returns the position of a predefined datatype, which is decoded if it is not among them.
    fn position(&mut self, predefined: &Envelope) -> Result<usize> {
        let datatype = predefined.datatype();
        if let Some(position) = self.find(datatype) {
            return Ok(position);
        }
        self.predefined.push((datatype, typemap_of(pieces_of_predefined(datatype)?, datatype)?));
        Ok(self.predefined.len() - 1)
    }

    /// Decodes a derived datatype. Returns also true if the result is kept here.
    fn decode(&mut self, envelope: &Envelope) -> Result<(Decoded, bool)> {
        let datatype = envelope.datatype();
        let pieces = match envelope.combiner {
            Some(combiner) if envelope.longest() <= Construction::LONGEST => {
                let (numbers, parts) = envelope.contents()?;
                // SAFETY: they are used while `parts` lives, but for predefined ones, which nobody
                // frees.
                let parts = unsafe { parts.lend() };
                if parts.iter().all(Envelope::is_predefined) {
                    let mut positions = SmallVec::new();
                    for part in parts {
                        positions.push(self.position(part)?);
                    }
                    let construction = Construction { combiner, numbers, parts: positions };
                    return self.decode_made(construction, datatype, parts).map(|map| (map, true));
                }
                pieces_of_made(combiner, &numbers, parts, &mut Search::default())?
            }
            _ => pieces_of(envelope, &mut Search::default())?,
        };
        typemap_of(pieces, datatype).map(|map| (map, false))
    }

    /// Decodes a datatype that was made of predefined ones.
    fn decode_made(&mut self, construction: Construction, datatype: Datatype, parts: &[Envelope]) -> Result<Decoded> {
        let place = construction.place();
        if let Some(Some((known, map))) = self.made.get(place)
            && *known == construction
        {
            return Ok(map.clone());
        }
        let Construction { combiner, numbers, .. } = &construction;
        let map = typemap_of(pieces_of_made(*combiner, numbers, parts, &mut Search::default())?, datatype)?;
        self.made.resize_with(Construction::MOST, || None);
        self.made[place] = Some((construction, map.clone()));
        Ok(map)
    }
}

static FREED: OfProcess<Freed> = OfProcess::new();

impl Freed {
    /// Returns the process's counter, which the first call makes.
    pub fn of_process() -> Result<Arc<Freed>> {
        FREED.get()
    }

    /// Returns how many have been freed. Calls no MPI.
    #[inline]
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// Returns the typemap of one element, or `None` if the datatype has too many irregular pieces
    /// or is of an unknown kind. `watches`: true if a new datatype is to be watched, even if
    /// decoding it again would cost little. Otherwise the result holds only as long as the caller
    /// knows that nobody frees the datatype.
    pub fn typemap(self: &Arc<Freed>, datatype: Datatype, watches: bool) -> Result<Decoded> {
        let mut decodings = self.decodings();
        if let Some(position) = decodings.find(datatype) {
            return Ok(decodings.predefined[position].1.clone());
        }
        // SAFETY: what is kept is read before the datatype can be freed.
        if let Some(kept) = unsafe { KEPT.get(datatype)?.as_ref() } {
            return Ok(kept.map.clone());
        }
        let envelope = Envelope::of(datatype)?;
        if envelope.is_predefined() {
            let position = decodings.position(&envelope)?;
            return Ok(decodings.predefined[position].1.clone());
        }
        let (map, is_kept) = decodings.decode(&envelope)?;
        if watches || !is_kept {
            // SAFETY: the datatype has no earlier value.
            unsafe { KEPT.set(datatype, Kept { map: map.clone(), twin: Mutex::default(), freed: Some(Arc::clone(self)) })? };
        }
        Ok(map)
    }

    /// Returns a committed datatype of the same data as a derived one, which stays when the program
    /// frees that. It has no attributes of the program's, whose callbacks would run. All who use it
    /// at a time share it.
    pub fn twin(self: &Arc<Freed>, datatype: Datatype) -> Result<Arc<Owned>> {
        let watches = true;
        self.typemap(datatype, watches)?;
        // SAFETY: what is kept is read before the datatype can be freed.
        let kept = unsafe { KEPT.get(datatype)?.as_ref() }.ok_or_else(|| Error::Internal("a datatype was not kept".into()))?;
        let mut twin = lock(&kept.twin);
        if let Some(twin) = twin.upgrade() {
            return Ok(twin);
        }
        let made = Arc::new(Owned::twin(datatype)?);
        // It has the same map. Nothing else counts on it once it is freed: who uses it forgets all
        // datatypes before another call.
        // SAFETY: a datatype that lives, and has no earlier value.
        unsafe { KEPT.set(made.lend(), Kept { map: kept.map.clone(), twin: Mutex::default(), freed: None })? };
        *twin = Arc::downgrade(&made);
        Ok(made)
    }

    /// Returns true if the datatype is predefined, so that nobody frees it. Does not decode derived
    /// datatypes.
    pub fn is_predefined(self: &Arc<Freed>, datatype: Datatype) -> Result<bool> {
        let mut decodings = self.decodings();
        if decodings.find(datatype).is_some() {
            return Ok(true);
        }
        if Freed::has_decoded(datatype)? {
            return Ok(false);
        }
        let envelope = Envelope::of(datatype)?;
        if envelope.is_predefined() {
            decodings.position(&envelope)?;
        }
        Ok(envelope.is_predefined())
    }

    /// Returns true if the derived datatype has been decoded, so that it counts once it is freed,
    /// unless it is a twin.
    pub fn has_decoded(datatype: Datatype) -> Result<bool> {
        Ok(!KEPT.get(datatype)?.is_null())
    }

    fn decodings(&self) -> MutexGuard<'_, Decodings> {
        lock(&self.decodings)
    }
}

/// A typemap attached to its datatype.
struct Kept {
    map: Decoded,
    /// See [`Freed::twin`]. Not owned: MPI keeps the datatype, with its attributes, for its twin.
    twin: Mutex<Weak<Owned>>,
    /// Counts when the datatype is freed; `None` for a twin.
    freed: Option<Arc<Freed>>,
}

static KEPT: TypeKey<Kept> = TypeKey::new();

impl Drop for Kept {
    fn drop(&mut self) {
        if let Some(freed) = &self.freed {
            freed.count.fetch_add(1, Ordering::Release);
        }
    }
}

/// Returns the typemap of an element of these pieces, if it agrees with what MPI says of size and
/// bounds.
fn typemap_of(pieces: Option<Pieces>, datatype: Datatype) -> Result<Decoded> {
    let Some(pieces) = pieces else { return Ok(None) };
    let (size, extent) = (datatype.size()?, datatype.extent()?);
    let (true_lb, true_extent) = datatype.true_extent()?;
    let (low, high) = (i128::from(true_lb), i128::from(true_lb) + i128::from(true_extent));
    let fits = |map: &Typemap| i64::try_from(map.size()) == Ok(size) && map.bounds().is_none_or(|bounds| bounds == (low, high));
    Ok(Typemap::new(pieces, extent).filter(fits).map(Arc::new))
}

/// Returns the pieces of an element.
fn pieces_of(envelope: &Envelope, search: &mut Search) -> Result<Option<Pieces>> {
    match envelope.combiner {
        None => Ok(None),
        Some(combiner) if combiner.is_predefined() => pieces_of_predefined(envelope.datatype()),
        Some(_) if envelope.longest() > to_int::<i64>(4 * MOST_PIECES) => Ok(None),
        Some(combiner) => search.within(envelope, |search, numbers, parts| pieces_of_made(combiner, numbers, parts, search)),
    }
}

fn pieces_of_predefined(datatype: Datatype) -> Result<Option<Pieces>> {
    let (size, (true_lb, true_extent)) = (datatype.size()?, datatype.true_extent()?);
    // datatypes of pairs may have holes
    let dense = size == 0 || (true_lb == 0 && true_extent == size);
    Ok(usize::try_from(size).ok().filter(|_| dense).map(Pieces::bytes))
}

/// Returns the pieces of an element of a datatype that `combiner` made of these parts. Stops where
/// they are too many.
fn pieces_of_made(combiner: Combiner, numbers: &[i64], parts: &[Envelope], search: &mut Search) -> Result<Option<Pieces>> {
    let mut elements = SmallVec::<[_; 1]>::with_capacity(parts.len());
    let mut sum = 0;
    for (k, part) in parts.iter().enumerate() {
        if combiner.leaves_out(k, numbers) {
            elements.push((Pieces::default(), 0));
            continue;
        }
        let Some(pieces) = pieces_of(part, search)? else { return Ok(None) };
        sum += pieces.len();
        // one piece of each may continue the one before it
        if sum > MOST_PIECES + parts.len() {
            return Ok(None);
        }
        elements.push((pieces, part.datatype().extent()?));
    }
    Ok(flatten(combiner, numbers, &elements))
}

/// Returns the predefined datatype that all data of a datatype is of; `None` if it is of several,
/// or if MPI does not tell.
pub fn basic(datatype: Datatype) -> Result<Option<Datatype>> {
    let mut found = None;
    let is_of_one = find_basic(&Envelope::of(datatype)?, &mut found, &mut Search::default())?;
    Ok(is_of_one.and(found))
}

/// Notes the predefined datatype that all data of a datatype is of. Returns `None` if it is not of
/// one, or not of the one that was `found` before.
fn find_basic(envelope: &Envelope, found: &mut Option<Datatype>, search: &mut Search) -> Result<Option<()>> {
    let Some(combiner) = envelope.combiner else { return Ok(None) };
    if combiner.is_predefined() {
        return Ok((*found.get_or_insert(envelope.datatype()) == envelope.datatype()).then_some(()));
    }
    search.within(envelope, |search, numbers, parts| {
        for (k, part) in parts.iter().enumerate() {
            let is_empty = combiner.leaves_out(k, numbers) || part.datatype().size()? == 0;
            if !is_empty && find_basic(part, found, search)?.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(()))
    })
}

/// Returns the pieces of a datatype that `combiner` made of `elements`, each with its extent, and
/// of these numbers. Returns `None` if it has no typemap.
fn flatten(combiner: Combiner, numbers: &[i64], elements: &[(Pieces, i64)]) -> Option<Pieces> {
    let number = |k: usize| numbers.get(k).copied();
    let single = || elements.first().map(|(pieces, extent)| (pieces, *extent));
    // `count` blocks, each with its length, displacement in bytes, and index in `elements`
    let blocks = |count: i64, block: &dyn Fn(usize) -> Option<(i64, i64, usize)>| {
        let mut all = Pieces::default();
        for k in 0..usize::try_from(count).ok()? {
            let (length, displacement, element) = block(k)?;
            let (pieces, extent) = elements.get(element)?;
            if length > 0 {
                all.append(&pieces.clone().repeated(length, *extent)?, displacement)?;
            }
        }
        Some(all.regular())
    };
    let scaled = |displacement: i64| displacement.checked_mul(elements.first()?.1);
    match combiner {
        Combiner::Named | Combiner::F90Real | Combiner::F90Complex | Combiner::F90Integer | Combiner::ValueIndex => None,
        Combiner::Dup | Combiner::Resized => Some(single()?.0.clone()),
        Combiner::Contiguous => {
            let (pieces, extent) = single()?;
            pieces.clone().repeated(number(0)?, extent)
        }
        Combiner::Vector | Combiner::Hvector | Combiner::HvectorInteger => {
            let (pieces, extent) = single()?;
            let stride = if combiner == Combiner::Vector { scaled(number(2)?)? } else { number(2)? };
            pieces.clone().repeated(number(1)?, extent)?.repeated(number(0)?, stride)
        }
        Combiner::Indexed => {
            let count = number(0)?;
            let n = usize::try_from(count).ok()?;
            blocks(count, &|k| Some((number(1 + k)?, scaled(number(1 + n + k)?)?, 0)))
        }
        Combiner::Hindexed | Combiner::HindexedInteger => {
            let count = number(0)?;
            let n = usize::try_from(count).ok()?;
            blocks(count, &|k| Some((number(1 + k)?, number(1 + n + k)?, 0)))
        }
        Combiner::IndexedBlock => blocks(number(0)?, &|k| Some((number(1)?, scaled(number(2 + k)?)?, 0))),
        Combiner::HindexedBlock => blocks(number(0)?, &|k| Some((number(1)?, number(2 + k)?, 0))),
        Combiner::Struct | Combiner::StructInteger => {
            let count = number(0)?;
            let n = usize::try_from(count).ok()?;
            blocks(count, &|k| Some((number(1 + k)?, number(1 + n + k)?, k)))
        }
        Combiner::Subarray => {
            let (pieces, extent) = single()?;
            subarray(numbers, pieces, extent)
        }
        Combiner::Darray => {
            let (pieces, extent) = single()?;
            darray(numbers, pieces, extent)
        }
    }
}

/// Returns the pieces of a subarray of elements with these pieces.
fn subarray(numbers: &[i64], pieces: &Pieces, extent: i64) -> Option<Pieces> {
    let number = |k: usize| numbers.get(k).copied();
    let dims = usize::try_from(number(0)?).ok()?;
    let fortran = number(1 + 3 * dims)? == order_fortran();
    let (mut pieces, mut stride, mut offset) = (pieces.clone(), extent, 0i64);
    // from the innermost dimension outward
    for k in 0..dims {
        let dim = if fortran { k } else { dims - 1 - k };
        let (size, part, start) = (number(1 + dim)?, number(1 + dims + dim)?, number(1 + 2 * dims + dim)?);
        pieces = pieces.repeated(part, stride)?;
        offset = offset.checked_add(start.checked_mul(stride)?)?;
        stride = stride.checked_mul(size)?;
    }
    moved(&pieces, offset)
}

/// Returns the pieces of a process's share of a distributed array of elements with these pieces.
fn darray(numbers: &[i64], pieces: &Pieces, extent: i64) -> Option<Pieces> {
    let number = |k: usize| numbers.get(k).copied();
    let dims = usize::try_from(number(2)?).ok()?;
    let fortran = number(3 + 4 * dims)? == order_fortran();
    let coordinates = grid_coordinates(numbers, dims)?;
    let (mut pieces, mut stride, mut offset) = (pieces.clone(), extent, 0i64);
    // from the innermost dimension outward
    for k in 0..dims {
        let dim = if fortran { k } else { dims - 1 - k };
        let field = |which: usize| number(3 + which * dims + dim);
        let (size, processes) = (field(0)?, field(3)?);
        let length = distributed_length(size, field(1)?, field(2)?, processes)?;
        let round = length.checked_mul(processes)?;
        let first = length.checked_mul(coordinates[dim])?;
        let behind = size.checked_sub(first)?.max(0);
        let (whole, part) = (behind.checked_div(round)?, behind.checked_rem(round)?.min(length));
        // the last block may be cut short
        let (whole, part) = if part == length { (whole + 1, 0) } else { (whole, part) };
        let distance = round.checked_mul(stride)?;
        let mut all = pieces.clone().repeated(length, stride)?.repeated(whole, distance)?;
        all.append(&pieces.repeated(part, stride)?, whole.checked_mul(distance)?)?;
        offset = offset.checked_add(first.checked_mul(stride)?)?;
        (pieces, stride) = (all, stride.checked_mul(size)?);
    }
    moved(&pieces, offset)
}

/// Returns the coordinates of a distributed array's process in the grid of processes, which is
/// always in C order.
fn grid_coordinates(numbers: &[i64], dims: usize) -> Option<Vec<i64>> {
    let number = |k: usize| numbers.get(k).copied();
    let (mut rest, mut rank) = (number(0)?, number(1)?);
    let mut coordinates = Vec::with_capacity(dims);
    for dim in 0..dims {
        rest = rest.checked_div(number(3 + 3 * dims + dim)?)?;
        coordinates.push(rank.checked_div(rest)?);
        rank = rank.checked_rem(rest)?;
    }
    Some(coordinates)
}

/// Returns how many consecutive elements of a dimension of `size` elements one of `processes`
/// processes has.
fn distributed_length(size: i64, distribution: i64, argument: i64, processes: i64) -> Option<i64> {
    let [block, cyclic, none, default] = distributions();
    match argument {
        _ if distribution == none => Some(size),
        given if given != default => Some(given),
        _ if distribution == block => size.checked_add(processes - 1)?.checked_div(processes),
        _ if distribution == cyclic => Some(1),
        _ => None,
    }
}

/// Returns the pieces shifted by `offset` bytes.
fn moved(pieces: &Pieces, offset: i64) -> Option<Pieces> {
    let mut moved = Pieces::default();
    moved.append(pieces, offset)?;
    Some(moved)
}
