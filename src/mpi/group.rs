//! Some processes of a communicator, with collectives of their own.
//!
//! MPI makes a part of a communicator only in calls that block (`MPI_Comm_split`,
//! `MPI_Comm_create_group`): if a process ends inside one, the others wait there forever. The
//! processes of a node, and those that edges connect, need few collectives, of few words: they run
//! here by messages on the communicator of all, and notice as those of `coll` do when a process has
//! ended.
//!
//! All but `largest` are allgathers by the algorithm of Bruck et al. (1997): ceil(log2 n) rounds,
//! in which a process sends twice as much each time.

use std::sync::Arc;

use super::comm::Owned as Comm;
use super::liveness::Patience;
use super::request::Request;
use super::{check, coll, datatype, liveness, message};
use crate::error::{Error, Result};
use crate::util::cast::{to_int, to_u32};

/// Tag of all messages. Two processes exchange them in the order in which both call the
/// collectives of their groups.
const TAG: i32 = 15;

/// Some processes of a communicator, the caller among them.
#[derive(Debug, Clone)]
pub struct Group {
    comm: Arc<Comm>,
    /// Ranks in the communicator, in ascending order.
    ranks: Vec<u32>,
    /// The caller's place among them.
    me: u32,
    /// True if collectives need these processes alone: whoever else has ended keeps nobody waiting.
    is_apart: bool,
}

impl Group {
    /// The processes of `comm` for which `belongs` returns true. Local; all of them pass the same.
    ///
    /// # Errors
    /// The caller is not among them.
    pub fn new(comm: &Arc<Comm>, belongs: impl Fn(u32) -> bool) -> Result<Group> {
        let ranks: Vec<u32> = (0..comm.size()?).filter(|&rank| belongs(rank)).collect();
        let Ok(me) = ranks.binary_search(&comm.rank()?) else {
            return Err(Error::Internal("a process is not in its own group".into()).into());
        };
        Ok(Group { comm: Arc::clone(comm), me: to_u32(me), ranks, is_apart: false })
    }

    /// The same processes, for calls that need no others, not even alive.
    #[must_use]
    pub fn apart(self) -> Group {
        Group { is_apart: true, ..self }
    }

    /// Fails if a process is known to have ended that the group needs.
    fn is_whole(&self) -> Result<()> {
        if self.is_apart { Ok(()) } else { self.comm.is_whole() }
    }

    /// Looks for processes that have ended, and that the group needs.
    fn look(&self, patience: &mut Patience) -> Result<()> {
        if self.is_apart {
            patience.look_at(self.comm.view(), self.ranks.iter().copied())
        } else {
            patience.look_at_all(&self.comm)
        }
    }

    /// The members that pass the same `color`. Collective over the group: an allgather of a word.
    pub fn part(&self, color: u32) -> Result<Group> {
        let colors = self.allgather([color.into()])?;
        Group::new(&self.comm, |rank| self.place(rank).is_some_and(|place| colors[place as usize] == [u64::from(color)]))
    }

    /// The ranks of the members in the communicator, in ascending order.
    pub fn ranks(&self) -> &[u32] {
        &self.ranks
    }

    /// Number of members.
    pub fn size(&self) -> u32 {
        to_u32(self.ranks.len())
    }

    /// The caller's place among the members.
    pub fn me(&self) -> u32 {
        self.me
    }

    /// The place of a process of the communicator, if it is a member.
    pub fn place(&self, rank: u32) -> Option<u32> {
        self.ranks.binary_search(&rank).ok().map(|place| to_u32(place))
    }

    /// Gathers `N` words of each member on all. Collective; ceil(log2 n) messages from each of n
    /// members.
    pub fn allgather<const N: usize>(&self, words: [u64; N]) -> Result<Vec<[u64; N]>> {
        self.is_whole()?;
        coll::count(Some(&self.comm), size_of_val(&words));
        let (size, me) = (self.ranks.len(), self.me as usize);
        // those of the member that comes k places after the caller, at k
        let mut all = vec![[0; N]; size];
        all[0] = words;
        let mut have = 1;
        while have < size {
            let count = have.min(size - have);
            all = self.round(all, have, count, [(me + size - have) % size, (me + have) % size])?;
            have += count;
        }
        all.rotate_right(me);
        Ok(all)
    }

    /// Sends the first `count` of `all` to one member, and receives as many of another one behind
    /// the first `have`.
    fn round<const N: usize>(
        &self,
        mut all: Vec<[u64; N]>,
        have: usize,
        count: usize,
        [to, from]: [usize; 2],
    ) -> Result<Vec<[u64; N]>> {
        let bytes = count * size_of::<[u64; N]>();
        let (known, new) = all.split_at_mut(have);
        assert!(count <= known.len() && count <= new.len(), "a round is within the list");
        // SAFETY: there is room for as many behind those that the caller has. What is sent does not
        // change, and neither part is touched, before both requests are complete.
        let posted = unsafe { self.post(known.as_ptr().cast(), new.as_mut_ptr().cast(), bytes, [to, from]) };
        match posted {
            Ok(requests) => {
                let look = |patience: &mut Patience| self.look(patience);
                coll::complete_watching(self.comm.view(), Some(&self.comm), requests, all, look)
            }
            Err(error) => {
                // MPI may still write to them
                std::mem::forget(all);
                Err(error)
            }
        }
    }

    /// Starts a send of `bytes` bytes to one member, and a receive of as many from another one.
    ///
    /// # Safety
    /// There are that many bytes at both places. They stay, and nobody else touches them, until the
    /// requests are complete, or for ever if this fails.
    unsafe fn post(&self, out: *const u8, into: *mut u8, bytes: usize, [to, from]: [usize; 2]) -> Result<[Request; 2]> {
        let mut send = Request::default();
        // SAFETY: the caller vouches for both places.
        let receive = unsafe { message::receive(into.cast(), bytes as u64, Some(self.ranks[from]), Some(TAG), &self.comm)? };
        let (kind, to) = (datatype::packed().raw(), to_int(self.ranks[to]));
        // not by `message`, which counts what users' data takes
        // SAFETY: as above.
        let sent = unsafe { mpi_sys::MPI_Isend(out.cast(), to_int(bytes), kind, to, TAG, self.comm.raw(), send.raw_mut()) };
        check(sent, "MPI_Isend").map_err(|error| liveness::explain(error, self.comm.view(), Some(&self.comm)))?;
        Ok([send, receive])
    }

    /// Returns after all members have called it. Collective; cost as of `allgather`.
    pub fn barrier(&self) -> Result<()> {
        self.allgather::<0>([]).map(drop)
    }

    /// Begins a barrier, for a caller that has other things to move forward meanwhile. Collective:
    /// ceil(log2 n) messages without data from each of n members.
    pub fn start_barrier(&self) -> Result<GroupBarrier<'_>> {
        self.is_whole()?;
        coll::count(Some(&self.comm), 0);
        let mut barrier = GroupBarrier {
            group: self,
            distance: 1,
            requests: [Request::default(), Request::default()],
            patience: Patience::default(),
        };
        barrier.post()?;
        Ok(barrier)
    }

    /// Returns the words of the first member on all. Collective; cost as of `allgather`.
    pub fn broadcast<const N: usize>(&self, words: [u64; N]) -> Result<[u64; N]> {
        self.allgather(words).map(|all| all[0])
    }

    /// Returns the largest of all members' values at each place, of lists of equal length.
    /// Collective: ceil(log2 n) messages of the list from each of n members, since a maximum may
    /// take a value twice.
    pub fn largest(&self, values: &[f64]) -> Result<Vec<f64>> {
        self.is_whole()?;
        coll::count(Some(&self.comm), size_of_val(values));
        let (size, me, length) = (self.ranks.len(), self.me as usize, values.len());
        // the largest that the caller knows, and room for those of another member
        let mut all: Vec<[u64; 1]> = values.iter().map(|value| [value.to_bits()]).collect();
        all.resize(2 * length, [0]);
        let mut distance = 1;
        while distance < size {
            all = self.round(all, length, length, [(me + distance) % size, (me + size - distance) % size])?;
            let (known, others) = all.split_at_mut(length);
            for (known, other) in known.iter_mut().zip(others) {
                *known = [f64::from_bits(known[0]).max(f64::from_bits(other[0])).to_bits()];
            }
            distance *= 2;
        }
        Ok(all[..length].iter().map(|word| f64::from_bits(word[0])).collect())
    }

    /// Returns true on all members if all pass true. Collective; cost as of `allgather`.
    pub fn all(&self, holds: bool) -> Result<bool> {
        Ok(self.allgather([holds.into()])?.iter().all(|&[holds]| holds == 1))
    }
}

/// A barrier in progress.
pub struct GroupBarrier<'a> {
    group: &'a Group,
    /// How far away the member is that hears from the caller in this round; doubled in each round.
    distance: usize,
    requests: [Request; 2],
    patience: Patience,
}

impl GroupBarrier<'_> {
    /// Returns true if all members have begun the barrier.
    ///
    /// # Errors
    /// A process has ended that the group needs.
    pub fn test(&mut self) -> Result<bool> {
        while self.distance < self.group.ranks.len() {
            let [send, receive] = &mut self.requests;
            let (sent, received) = (send.test()?, receive.test()?);
            if !(sent && received) {
                if self.patience.is_over() {
                    self.group.look(&mut self.patience)?;
                }
                return Ok(false);
            }
            self.distance *= 2;
            self.post()?;
        }
        Ok(true)
    }

    /// Starts the messages of the current round, if there is one.
    fn post(&mut self) -> Result<()> {
        let (size, me) = (self.group.ranks.len(), self.group.me as usize);
        if self.distance < size {
            let ends = [(me + self.distance) % size, (me + size - self.distance) % size];
            // SAFETY: no bytes.
            self.requests = unsafe { self.group.post(std::ptr::null(), std::ptr::null_mut(), 0, ends) }?;
        }
        Ok(())
    }
}
