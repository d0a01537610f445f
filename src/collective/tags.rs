//! Tags of collectives on the private communicator.
//!
//! Messages of two processes meet in the order in which they are posted. Where all messages of a
//! collective are posted when it starts, one tag serves all collectives of an operation, as all
//! processes start them in one order. Where later rounds are posted later, those of two collectives
//! that are under way at the same time may be posted in either order. Each collective then has a
//! tag of its own, computed from its number, which neighbors count in the same way.
//!
//! A persistent collective may have tags of its own, from above those: then its starts match with
//! one another alone.
//!
//! Verified collectives must work even if neighbors call different operations, which then do not
//! count alike. They have one tag for each field, and turns: the rounds of one begin when those of
//! all before it are complete here. The fields of a call run side by side, each in its own rounds:
//! with one tag for all fields, a block could arrive in another field's place.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use smallvec::SmallVec;

use crate::collective::OPERATIONS;
use crate::error::{Error, Result};
use crate::util::cast::to_int;
use crate::util::lock::lock;
use crate::util::turns::Turns;

/// Tags from here on go by number. Those below: 1 to 4 of operations, 5 to 8 of verified ones
/// (their first fields), 64 of negotiations, 65 of rows to and from process 0, 101 and 102 of
/// verification.
const FIRST: u32 = 128;

/// Number of collectives of an operation that have different tags: the least `MPI_TAG_UB` that the
/// standard allows is 32767, for all operations.
pub const NUMBERS: u32 = 7_280;

#[expect(clippy::cast_possible_truncation, reason = "a handful")]
const COUNT: u32 = OPERATIONS as u32;

/// Tags of the other fields of verified collectives, up to `FIRST_SHARED`.
const FIRST_FIELD: u32 = FIRST + COUNT * NUMBERS;

/// What [`NUMBERS`] limits the number of fields of.
const ONE_BY_ONE: &str = "calls that exchange several fields one by one, in rounds,";

/// Most fields of a verified collective: each has a tag below the least `MPI_TAG_UB` that the
/// standard allows.
pub const MOST_FIELDS: usize = 1 + (FIRST_SHARED - FIRST_FIELD) as usize / OPERATIONS;

/// Tags from here on belong to messages that were meant for shared memory, half of all that there
/// are at the most; those of persistent collectives that match alone follow.
const FIRST_SHARED: u32 = 32768;
const MOST_SHARED: u64 = 1 << 22;

/// Where the tags of messages begin that were meant for shared memory, and how many there are, in
/// an MPI whose largest one is `largest`.
pub fn shared(largest: i32) -> (u64, u64) {
    let first = u64::from(FIRST_SHARED);
    (first, ((u64::from(largest.unsigned_abs()) + 1).saturating_sub(first) / 2).min(MOST_SHARED))
}

/// How many numbers an operation has given out, of both kinds.
pub type Given = [u64; 2];

/// The tags of one operation on one communicator.
pub struct Tags {
    operation: u8,
    /// Numbers of persistent collectives that match alone.
    private: AtomicU64,
    /// Tags that these have.
    taken: Mutex<HashSet<i32>>,
    /// Numbers given out.
    next: AtomicU64,
    /// Tags of requests that are under way and have rounds to post, and how many there are.
    held: Mutex<Vec<i32>>,
    holding: AtomicUsize,
    /// The turns of verified collectives.
    pub turns: Turns,
}

impl Tags {
    /// For operation number `operation`.
    pub fn new(operation: u8) -> Tags {
        Tags {
            operation,
            private: AtomicU64::new(0),
            taken: Mutex::default(),
            next: AtomicU64::new(0),
            held: Mutex::new(Vec::new()),
            holding: AtomicUsize::new(0),
            turns: Turns::new(),
        }
    }

    /// How many numbers have been given out: of collectives, and of persistent ones that match
    /// alone.
    pub fn given(&self) -> Given {
        [&self.next, &self.private].map(|given| given.load(Ordering::Relaxed))
    }

    /// Goes on from `given` numbers, for another neighborhood: processes that were no neighbors
    /// before need not have counted alike.
    pub fn restart(&self, [next, private]: Given) {
        self.next.store(next, Ordering::Relaxed);
        self.private.store(private, Ordering::Relaxed);
    }

    /// The tag of all collectives whose messages are all posted when they start, on all processes.
    #[inline]
    pub fn one(&self) -> i32 {
        1 + i32::from(self.operation)
    }

    /// The tags of all verified collectives, one for each field. Calls with more than `MOST_FIELDS`
    /// are in error, and send nothing.
    pub fn verified(&self, tags: &mut [i32]) {
        for (field, tag) in (0u32..).zip(tags.iter_mut().take(MOST_FIELDS)) {
            *tag =
                to_int(field.checked_sub(1).map_or(1 + COUNT, |others| FIRST_FIELD + COUNT * others) + u32::from(self.operation));
        }
    }

    /// Tags of the next collectives, one for each entry of `tags`.
    ///
    /// # Errors
    /// A request is still under way after which `NUMBERS` collectives have started, or that many
    /// tags are not enough. Then no number is given out.
    #[inline]
    pub fn next(&self, tags: &mut [i32]) -> Result<()> {
        if tags.len() > NUMBERS as usize {
            return Err(Error::TooManyFields { fields: tags.len(), limit: NUMBERS as usize, what: ONE_BY_ONE }.into());
        }
        // collectives on a communicator are started one after the other
        let given = self.next.load(Ordering::Relaxed);
        for (number, tag) in (given..).zip(tags.iter_mut()) {
            *tag = to_int(u64::from(FIRST) + u64::from(COUNT) * (number % u64::from(NUMBERS)) + u64::from(self.operation));
        }
        if self.holding.load(Ordering::Relaxed) > 0 {
            let held = self.lock();
            if tags.iter().any(|tag| held.contains(tag)) {
                return Err(Error::TooManyStarted { limit: NUMBERS }.into());
            }
        }
        self.next.store(given + tags.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Tags that nobody else has, for a persistent collective. Neighbors make these in one order,
    /// and so come to the same ones. `largest` is the largest tag that the MPI has.
    ///
    /// # Errors
    /// The MPI has no more tags than the standard asks for, or an older collective still has one of
    /// those whose turn it is. Then no number is given out.
    pub fn private_matching(self: &Arc<Self>, tags: &mut [i32], largest: i32) -> Result<PrivateTags> {
        let (begin, count) = shared(largest);
        let first_private = begin + count;
        let numbers = (u64::from(largest.unsigned_abs()) + 1).saturating_sub(first_private) / u64::from(COUNT);
        if numbers < tags.len() as u64 {
            return Err(Error::NoTags.into());
        }
        let given = self.private.load(Ordering::Relaxed);
        for (number, tag) in (given..).zip(tags.iter_mut()) {
            *tag = to_int(first_private + u64::from(COUNT) * (number % numbers) + u64::from(self.operation));
        }
        let mut taken = self.taken();
        if tags.iter().any(|tag| taken.contains(tag)) {
            return Err(Error::NoTags.into());
        }
        taken.extend(tags.iter());
        self.private_number(tags.len());
        Ok(PrivateTags { of: Arc::clone(self), tags: SmallVec::from_slice(tags) })
    }

    fn taken(&self) -> MutexGuard<'_, HashSet<i32>> {
        lock(&self.taken)
    }

    /// The number of the next persistent collective that matches alone, of so many fields.
    pub fn private_number(&self, fields: usize) -> u64 {
        self.private.fetch_add(fields as u64, Ordering::Relaxed)
    }

    /// Notes that rounds with these tags are still to be posted.
    pub fn hold(&self, tags: &[i32]) {
        let mut held = self.lock();
        held.extend_from_slice(tags);
        self.holding.store(held.len(), Ordering::Relaxed);
    }

    /// They are posted.
    pub fn release(&self, tags: &[i32]) {
        let mut held = self.lock();
        held.retain(|tag| !tags.contains(tag));
        self.holding.store(held.len(), Ordering::Relaxed);
    }

    /// True if rounds with any tag are still to be posted, so that a later number may be refused.
    pub fn is_holding(&self) -> bool {
        self.holding.load(Ordering::Relaxed) > 0
    }

    fn lock(&self) -> MutexGuard<'_, Vec<i32>> {
        lock(&self.held)
    }
}

/// Tags that a persistent collective alone has until this is dropped.
pub struct PrivateTags {
    of: Arc<Tags>,
    tags: SmallVec<[i32; 1]>,
}

impl Drop for PrivateTags {
    fn drop(&mut self) {
        let mut taken = self.of.taken();
        self.tags.iter().for_each(|tag| _ = taken.remove(tag));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(tags: &Tags) -> Result<i32> {
        let mut tag = [0];
        tags.next(&mut tag).map(|()| tag[0])
    }

    #[test]
    fn tags_differ_as_long_as_they_must() {
        let all = [0, 1, 2, 3].map(|operation| Arc::new(Tags::new(operation)));
        let (mut seen, mut kept) = (HashSet::new(), Vec::new());
        for tags in &all {
            assert!(seen.insert(tags.one()));
            let mut fields = [0; MOST_FIELDS];
            tags.verified(&mut fields);
            assert!(fields.into_iter().all(|tag| tag > 0 && tag <= 32767 && seen.insert(tag)));
            for _ in 0..NUMBERS {
                let tag = next(tags).unwrap();
                assert!(seen.insert(tag) && tag <= 32767 && tag >= to_int(FIRST));
            }
        }
        // those of persistent ones, where there are such tags
        let mut own = [0; 2];
        for tags in &all {
            assert_eq!(tags.private_matching(&mut own, 32767).err().as_deref(), Some(&Error::NoTags));
            for _ in 0..100 {
                kept.push(tags.private_matching(&mut own, i32::MAX).unwrap());
                assert!(own.into_iter().all(|tag| tag > 32767 && seen.insert(tag)));
            }
            // four numbers, of which one that has a collective is not given out again
            let few = Tags::new(tags.operation).into();
            let make = |own: &mut [i32]| Tags::private_matching(&few, own, 32799);
            assert!(make(&mut [0; 5]).is_err());
            let (first, second) = (make(&mut own).unwrap(), make(&mut own).unwrap());
            assert!(own.into_iter().all(|tag| tag > 32783 && tag <= 32799));
            assert!(make(&mut own).is_err());
            drop(second);
            assert!(make(&mut own).is_err());
            drop(first);
            make(&mut own).unwrap();
            assert_eq!(few.given(), [0, 6]);
        }
        // one that is held is not given out again
        let tags = &all[1];
        tags.restart([u64::from(u32::MAX), 7]);
        assert_eq!(tags.private_number(3), 7);
        assert_eq!(tags.given(), [u64::from(u32::MAX), 10]);
        let first = next(tags).unwrap();
        tags.hold(&[first]);
        for _ in 1..NUMBERS {
            assert_ne!(next(tags), Ok(first));
        }
        let given = tags.given();
        assert_eq!(*next(tags).unwrap_err(), Error::TooManyStarted { limit: NUMBERS });
        assert_eq!(tags.next(&mut [0, 0]), Err(Error::TooManyStarted { limit: NUMBERS }.into()));
        assert_eq!(tags.given(), given);
        tags.release(&[first]);
        assert_eq!(next(tags), Ok(first));
        // nor are there more at a time than differ
        let mut many = vec![0; NUMBERS as usize + 1];
        assert!(matches!(*tags.next(&mut many).unwrap_err(), Error::TooManyFields { .. }));
        tags.next(&mut many[1..]).unwrap();
        let different: HashSet<i32> = many[1..].iter().copied().collect();
        assert_eq!(different.len(), NUMBERS as usize);
    }
}
