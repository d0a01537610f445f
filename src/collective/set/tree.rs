//! Rows of words from all processes to process 0, and from there to all, along a binomial tree.
//!
//! `MPI_Gatherv` and `MPI_Scatterv` of usual MPIs exchange a message with each process, one after
//! the other. Along the tree process 0 exchanges `2 log2(P)` messages each way.
//!
//! In the tree process `p` stands for processes `p` to `p + 2^k - 1`, where `2^k` is the largest
//! power of two that divides `p`; its children are `p + 1`, `p + 2`, `p + 4` and so on below
//! `p + 2^k`, and its parent `p - 2^k`. So what comes from the children is in the order of ranks.
//!
//! Lengths travel first, as a process must know how long what its children send is. Collective over
//! the communicator; cost: `2 log2(P)` messages one after the other each way; memory for the words
//! of all that a process stands for, at the peak for half of them twice.

use crate::error::{Error, Result};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::p2p::Requests;
use crate::mpi::tally;
use crate::util::cast::{to_u32, to_usize};

/// Tag on the private communicator. No collective operation uses it.
const TAG: i32 = 65;

/// The length of all rows in place of those that process 0 could not make.
const FAILED: u32 = u32::MAX;

/// Rows of several processes, in the order of their ranks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rows {
    /// Length of each row.
    pub lengths: Vec<u32>,
    /// All rows, one after the other.
    pub words: Vec<u32>,
}

/// A process's place in the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    /// `None` of process 0.
    parent: Option<u32>,
    /// Each child, and the number of processes that it stands for.
    children: Vec<(u32, usize)>,
}

impl Place {
    fn of(me: u32, processes: u32) -> Place {
        let span = if me == 0 { processes.next_power_of_two() } else { 1 << me.trailing_zeros() };
        let children = std::iter::successors(Some(1u32), |step| step.checked_mul(2)).take_while(|&step| step < span);
        let children = children.map(|step| (me + step, step)).take_while(|&(child, _)| child < processes);
        Place {
            parent: (me > 0).then(|| me - span),
            children: children.map(|(child, step)| (child, to_usize(step.min(processes - child)))).collect(),
        }
    }

    /// Number of processes that each child stands for.
    fn spans(&self) -> Vec<usize> {
        self.children.iter().map(|&(_, processes)| processes).collect()
    }

    /// The children, each with one of the values.
    fn with<T>(&self, values: impl IntoIterator<Item = T>) -> impl Iterator<Item = (u32, T)> {
        self.children.iter().map(|&(child, _)| child).zip(values)
    }
}

/// Receives words from some processes: from each as many as `from` says.
fn receive(from: impl Iterator<Item = (u32, usize)>, requests: &mut Requests, comm: &Comm) -> Result<Vec<(u32, Vec<u32>)>> {
    let mut come = from.filter(|&(_, count)| count > 0).map(|(process, count)| (process, vec![0; count])).collect();
    requests.exchange(&mut Vec::new(), &mut come, TAG, comm)?;
    Ok(come)
}

/// Sends words to some processes. Returns them.
fn send(to: impl Iterator<Item = (u32, Vec<u32>)>, requests: &mut Requests, comm: &Comm) -> Result<Vec<(u32, Vec<u32>)>> {
    let mut out = to.filter(|(_, words)| !words.is_empty()).collect();
    requests.exchange(&mut out, &mut Vec::new(), TAG, comm)?;
    Ok(out)
}

/// A tree of the processes of a communicator.
struct Tree<'a> {
    comm: &'a Comm,
    place: Place,
    requests: Requests,
}

impl<'a> Tree<'a> {
    fn of(comm: &'a Comm) -> Result<Tree<'a>> {
        let mut requests = Requests::default();
        if let Some(tally) = tally::current() {
            requests.count(&tally);
        }
        Ok(Tree { comm, place: Place::of(comm.rank()?, comm.size()?), requests })
    }

    /// Appends to this process's words those of all for which it stands, of which each child sends
    /// `counts`, and passes all on to the parent. Returns them.
    fn up(&mut self, mut words: Vec<u32>, counts: &[usize]) -> Result<Vec<u32>> {
        let Tree { comm, place, requests } = self;
        let come = receive(place.with(counts.iter().copied()), requests, comm)?;
        words.reserve_exact(counts.iter().sum());
        // each is freed when it has been copied
        come.into_iter().for_each(|(_, theirs)| words.extend_from_slice(&theirs));
        match place.parent {
            Some(parent) => Ok(send(std::iter::once((parent, words)), requests, comm)?.pop().unwrap_or_default().1),
            None => Ok(words),
        }
    }

    /// Receives the words of all for which this process stands: `own` of its own, and `counts` of
    /// each child; process 0 has them. Passes the children theirs, and returns all.
    fn down(&mut self, all: Vec<u32>, own: usize, counts: &[usize]) -> Result<Vec<u32>> {
        let Tree { comm, place, requests } = self;
        let all = match place.parent {
            Some(parent) => {
                let count = own + counts.iter().sum::<usize>();
                receive(std::iter::once((parent, count)), requests, comm)?.pop().unwrap_or_default().1
            }
            None => all,
        };
        let mut rest = &all[own..];
        let parts = counts.iter().map(|&count| rest.split_off(..count).unwrap_or_default().to_vec());
        send(place.with(parts), requests, comm)?;
        Ok(all)
    }
}

/// Sums of the lengths that belong to each of several groups of processes.
fn sums(mut lengths: &[u32], groups: &[usize]) -> Vec<usize> {
    let mut part = |count: usize| lengths.split_off(..count).unwrap_or_default();
    groups.iter().map(|&count| part(count).iter().map(|&length| to_usize(length)).sum()).collect()
}

/// Gathers a row of each process on process 0, which alone returns them. Collective.
pub fn gather(comm: &Comm, row: Vec<u32>) -> Result<Option<Rows>> {
    let mut tree = Tree::of(comm)?;
    let spans = tree.place.spans();
    let lengths = tree.up(vec![to_u32(row.len())], &spans)?;
    let words = tree.up(row, &sums(&lengths[1..], &spans))?;
    Ok(tree.place.parent.is_none().then_some(Rows { lengths, words }))
}

/// Sends each process its row. Process 0 has the rows, or an error, of which all processes then
/// learn. Collective.
pub fn scatter(comm: &Comm, rows: Option<Result<Rows>>) -> Result<Vec<u32>> {
    let mut tree = Tree::of(comm)?;
    let (rows, error) = match rows {
        Some(Ok(rows)) => (rows, None),
        Some(Err(error)) => (Rows { lengths: vec![FAILED; comm.size()? as usize], words: Vec::new() }, Some(error)),
        None => (Rows::default(), None),
    };
    let spans = tree.place.spans();
    let lengths = tree.down(rows.lengths, 1, &spans)?;
    if lengths[0] == FAILED {
        return Err(error.unwrap_or_else(|| Error::Internal("process 0 could not make a plan".into()).into()));
    }
    let own = to_usize(lengths[0]);
    let mut all = tree.down(rows.words, own, &sums(&lengths[1..], &spans))?;
    all.truncate(own);
    all.shrink_to_fit();
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_process_has_one_parent_that_counts_it() {
        for processes in (1..70).chain([127, 128, 129, 1000]) {
            let places: Vec<Place> = (0..processes).map(|p| Place::of(p, processes)).collect();
            let mut parents = vec![None; processes as usize];
            for (p, place) in (0..).zip(&places) {
                let mut next = p + 1;
                for &(child, span) in &place.children {
                    assert_eq!(child, next, "the processes of a child of {p} follow those before it");
                    assert_eq!(parents[child as usize].replace(p), None, "{child} has one parent");
                    next += to_u32(span);
                }
                let span = places.iter().find_map(|other| other.children.iter().find(|&&(child, _)| child == p));
                assert_eq!(u64::from(next - p), span.map_or(processes.into(), |&(_, span)| span as u64), "{p} of {processes}");
            }
            assert!((0..).zip(&places).all(|(p, place): (usize, _)| place.parent == parents[p]), "{processes} processes");
            assert!(places.iter().all(|place| place.children.len() <= 32 - (processes - 1).leading_zeros() as usize));
        }
    }

    #[test]
    fn lengths_of_groups_add_up() {
        assert_eq!(sums(&[1, 2, 3, 4, 5, 6, 7], &[1, 2, 4]), [1, 5, 22]);
        assert_eq!(sums(&[], &[]), [0; 0]);
    }
}
