//! Finds out which processes of this node have ended.
//!
//! A waiting process checks after [`CHECK`], never before: a wait that ends sooner only reads the
//! clock now and then. A process counts as ended when two checks in a row find it so;
//! in between, MPI delivers what the process sent before it ended.
//!
//! Processes are known by number and start time, from one of two sources:
//! - [`introduce`]: the processes of a node tell each other when a communicator gets its first
//!   neighborhood or sparse exchange.
//! - Before that, the environments of the processes in `/proc`: launchers put each process's rank
//!   into a variable. Read on the first look that needs it. Where all processes of the world share
//!   the node, a rank that no process has belongs to one that has ended: no process leaves
//!   `MPI_Init` before all have entered it.
//!
//! A process whose state is unknown counts as alive: one on another node, in another container, of
//! another world (`MPI_Comm_spawn`), and, before the first introduction, one of a world on several
//! nodes that ended before this process checked, or of which a process has written over its
//! environment. A process that has finalized MPI but still runs is alive, too.
//!
//! A check costs one file of `/proc` per process that is waited for, ten times a second. Reading
//! the environments costs two files per process of the node, at most a few times in a program.

use std::collections::{HashMap, HashSet};
use std::io::ErrorKind;
use std::sync::Mutex;
use std::time::Duration;

use super::code::class_of;
use super::comm::{self, Communicator, Owned as Comm};
use super::errors::truncated;
use super::of_process::OfProcess;
use crate::error::{Error, Result};
use crate::util::backoff::{Alarm, CHECK};
use crate::util::cast::{to_int, to_u32};
use crate::util::lock::lock;
use crate::util::process::Stat;

/// Decides when a waiting process should check for dead ones, and remembers what it found.
#[derive(Debug, Default)]
pub struct Patience {
    alarm: Alarm,
    /// Processes that the last check found dead.
    suspects: Vec<u32>,
    /// True once a death is confirmed: others are then checked for at each reading of the clock.
    hurries: bool,
}

impl Patience {
    /// Begins a new wait. Allocates nothing.
    #[inline]
    pub fn restart(&mut self) {
        self.alarm.restart();
        self.hurries = false;
        self.suspects.clear();
    }

    /// Counts a poll without progress. Returns true when it is time to check.
    #[inline]
    pub fn is_over(&mut self) -> bool {
        // a simulated process does not end before the simulation does
        !super::is_simulated() && self.alarm.poll().is_some_and(|waited| waited >= CHECK || self.hurries)
    }

    /// Returns those of `wanted`, ranks of `comm`, that this check and the one before found dead.
    #[cold]
    pub fn look(&mut self, comm: Communicator, wanted: impl Iterator<Item = u32>) -> Vec<u32> {
        // a failure to find out says nothing about anybody
        let found = ended(comm, wanted).unwrap_or_default();
        let confirmed: Vec<u32> = found.iter().copied().filter(|rank| self.hurries || self.suspects.contains(rank)).collect();
        self.hurries |= !confirmed.is_empty();
        self.suspects = found;
        confirmed
    }

    /// Fails if one of these processes of `comm` is dead.
    #[cold]
    pub fn look_at(&mut self, comm: Communicator, wanted: impl Iterator<Item = u32>) -> Result<()> {
        self.look(comm, wanted).first().map_or(Ok(()), |&rank| Err(Error::Gone { rank }.into()))
    }

    /// Fails if any process of `comm` is dead, for an operation that needs all of them. No
    /// collective on `comm` can complete from then on.
    #[cold]
    pub fn look_at_all(&mut self, comm: &Comm) -> Result<()> {
        let dead = self.look(comm.view(), 0..comm.size()?);
        dead.first().map_or(Ok(()), |&rank| Err(comm.lose(rank)))
    }
}

/// Returns the error of an operation that needs all processes of `comm`, which `owner` owns unless
/// it is the user's: if a process has ended, that it has, rather than what MPI made of it.
#[cold]
pub fn explain(error: Box<Error>, comm: Communicator, owner: Option<&Comm>) -> Box<Error> {
    match (who_ended(&error, comm, &(0..comm.size().unwrap_or(0)), true), owner) {
        (Some(rank), Some(owner)) => owner.lose(rank),
        (Some(rank), None) => Error::Gone { rank }.into(),
        (None, _) => error,
    }
}

/// Returns the error of messages from and to some processes of `comm`: if one of them has ended,
/// that it has, rather than what MPI made of it. Never waits.
#[cold]
pub fn explain_messages(error: Box<Error>, comm: Communicator, peers: &(impl Iterator<Item = u32> + Clone)) -> Box<Error> {
    who_ended(&error, comm, peers, false).map_or(error, |rank| Error::Gone { rank }.into())
}

/// Returns a process of `comm` that has ended, if that may be why MPI has failed. `again`: looks
/// twice.
fn who_ended(error: &Error, comm: Communicator, wanted: &(impl Iterator<Item = u32> + Clone), again: bool) -> Option<u32> {
    /// MPI may notice before the system has taken the process away.
    const LATER: Duration = Duration::from_millis(20);
    let Error::Mpi { code, .. } = *error else { return None };
    if super::is_simulated() || class_of(code) == truncated() {
        return None;
    }
    let look = || ended(comm, wanted.clone()).ok()?.first().copied();
    look().or_else(|| {
        if !again {
            return None;
        }
        std::thread::sleep(LATER);
        look()
    })
}

/// Returns true if the process of rank `rank` of `comm` has ended. For one from which no message is
/// awaited: it may still have sent some.
#[cold]
pub fn has_ended(comm: &Comm, rank: u32) -> bool {
    ended(comm.view(), std::iter::once(rank)).is_ok_and(|dead| !dead.is_empty())
}

/// A process of this node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Process {
    number: u32,
    /// The process's start, in clock ticks since boot.
    start: u64,
}

impl Process {
    fn has_ended(self) -> bool {
        match Stat::of(self.number) {
            Ok(stat) => stat.start != self.start || stat.is_dead,
            // hidden, unless the kernel says that there is no such process
            Err(_) => {
                // SAFETY: signal 0 is none.
                let found = unsafe { libc::kill(to_int(self.number), 0) } == 0;
                !found && std::io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH)
            }
        }
    }
}

/// A process's identity: number, start time, and the namespaces that these belong to.
pub type Card = [u64; 3];

/// Returns this process's card, which is read once.
pub fn card() -> Result<Card> {
    with_known(|known| *known.card.get_or_insert_with(read_card))
}

fn read_card() -> Card {
    use std::os::unix::fs::MetadataExt;
    let number = std::process::id();
    let start = Stat::of(number).map_or(0, |stat| stat.start);
    let space = |name: &str| std::fs::metadata(format!("/proc/self/ns/{name}")).map_or(0, |file| file.ino());
    [number.into(), start, space("pid") << 32 ^ space("time")]
}

/// Records the identities of a node's processes: `cards` has one for each of their ranks in
/// `MPI_COMM_WORLD`.
pub fn introduce(worlds: &[Option<u32>], cards: &[Card]) -> Result<()> {
    let own = card()?[2];
    with_known(|known| {
        for (&[number, start, spaces], world) in cards.iter().zip(worlds) {
            if let (&Some(world), true) = (world, start != 0 && spaces == own) {
                let process = Process { number: to_u32(number), start };
                known.processes.insert(world, Entry::Told(process));
            }
        }
    })
}

/// A process of the world, as far as it is known.
#[derive(Debug)]
enum Entry {
    Told(Process),
    /// Processes with this rank in their environments: the program, and perhaps a script that
    /// started it. Dead when all are.
    Found(Vec<Process>),
}

impl Entry {
    fn has_ended(&self) -> bool {
        match self {
            Entry::Told(process) => process.has_ended(),
            Entry::Found(processes) => processes.iter().all(|p| p.has_ended()),
        }
    }
}

/// The known processes of this node, by rank in the world.
#[derive(Debug, Default)]
struct Known {
    processes: HashMap<u32, Entry>,
    card: Option<Card>,
    /// True if the environments have been read and need not be read again.
    read: bool,
}

static KNOWN: OfProcess<Mutex<Known>> = OfProcess::new();

fn with_known<T>(run: impl FnOnce(&mut Known) -> T) -> Result<T> {
    let known = KNOWN.get()?;
    Ok(run(&mut lock(&known)))
}

/// Returns those of `wanted`, ranks of `comm`, that have ended.
fn ended(comm: Communicator, wanted: impl Iterator<Item = u32>) -> Result<Vec<u32>> {
    let own = comm.rank()?;
    let ranks: Vec<u32> = wanted.filter(|&rank| rank != own).collect();
    let worlds = comm.world_ranks(&ranks)?;
    let (me, size) = (comm::world().rank()?, comm::world().size()?);
    with_known(|known| {
        let mut missing = Vec::new();
        if !known.read && worlds.iter().flatten().any(|world| !known.processes.contains_key(world)) {
            let (found, all) = survey(me, size).unwrap_or_default();
            // if some are missing, the next check reads again
            known.read = !all || found.len() == size as usize;
            missing = (0..size).filter(|rank| all && !found.contains_key(rank)).collect();
            for (rank, processes) in found {
                known.processes.entry(rank).or_insert(Entry::Found(processes));
            }
        }
        let dead = |world: u32| known.processes.get(&world).map_or_else(|| missing.contains(&world), Entry::has_ended);
        ranks.into_iter().zip(worlds).filter(|&(_, world)| world.is_some_and(dead)).map(|(rank, _)| rank).collect()
    })
}

/// Variables in which a launcher passes the rank, the size of the world, and the number of its
/// processes on this node: Open MPI; Hydra (MPICH, Intel MPI).
const VARIABLES: [[&str; 3]; 2] =
    [["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"], ["PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"]];

/// The variable in which some launchers name the job.
const JOB: &str = "PMIX_NAMESPACE";

/// Facts that the launcher passed to a process.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Told {
    rank: u32,
    size: u32,
    local: u32,
    job: Option<String>,
}

impl Told {
    /// Parses an environment in the form of `/proc/PID/environ`.
    fn parse(environment: &[u8], [rank, size, local]: [&str; 3]) -> Option<Told> {
        let text = |name: &str| {
            let mut variables = environment.split(|&byte| byte == 0);
            let value = variables.find_map(|v| v.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
            std::str::from_utf8(value).ok()
        };
        let number = |name: &str| text(name)?.parse().ok();
        Some(Told { rank: number(rank)?, size: number(size)?, local: number(local)?, job: text(JOB).map(str::to_owned) })
    }

    /// Returns true if both belong to one job, as far as they say.
    fn is_with(&self, other: &Told) -> bool {
        self.size == other.size && self.job == other.job
    }
}

/// True if a file of `/proc` could not be read because its process has ended.
fn is_gone(error: &std::io::Error) -> bool {
    error.kind() == ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH)
}

/// Processes by their ranks.
type Found = HashMap<u32, Vec<Process>>;

/// Finds the job's processes on this node by their environments. Also returns true if a rank that
/// is not among them must have ended. `me` and `size` are those of the world.
fn survey(me: u32, size: u32) -> Option<(Found, bool)> {
    let environment = |process: u32| std::fs::read(format!("/proc/{process}/environ"));
    let own = std::process::id();
    let mine = environment(own).ok()?;
    let (names, told) = VARIABLES.into_iter().find_map(|names| Some((names, Told::parse(&mine, names)?)))?;
    // this world is not the launcher's
    if (told.rank, told.size) != (me, size) {
        return None;
    }
    let numbers = std::fs::read_dir("/proc").ok()?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let (mut found, mut readable, mut nameless) = (Found::new(), true, Vec::new());
    let mut all = HashMap::new();
    for number in numbers {
        match Stat::of(number) {
            Ok(stat) => drop(all.insert(number, stat)),
            Err(error) => readable &= is_gone(&error),
        }
    }
    // the launcher is the first ancestor outside of the job; the unreadable first process of a
    // container may be anything
    let mut launcher = all.get(&own)?.parent;
    loop {
        match environment(launcher) {
            _ if launcher == 0 => break,
            Ok(text) if Told::parse(&text, names).is_some_and(|t| t.is_with(&told)) => launcher = all.get(&launcher)?.parent,
            Err(_) if launcher == 1 => launcher = 0,
            _ => break,
        }
    }
    let is_below = |mut process: u32| {
        while process > 1 && process != launcher {
            process = all.get(&process).map_or(0, |stat| stat.parent);
        }
        launcher != 0 && process == launcher
    };
    for (&number, stat) in all.iter().filter(|(_, stat)| !stat.is_dead) {
        let below = is_below(number);
        let theirs = match environment(number) {
            Ok(text) => {
                let theirs = Told::parse(&text, names);
                // that of a process that is ending is empty
                if below && number != launcher && theirs.is_none() && !text.is_empty() {
                    nameless.push(number);
                }
                theirs
            }
            Err(error) => {
                // one that has ended since its state was read
                readable &= !below || is_gone(&error);
                None
            }
        };
        // if the job has no name, another launcher's processes may look alike
        if let Some(theirs) = theirs.filter(|t| t.is_with(&told) && (below || told.job.is_some())) {
            found.entry(theirs.rank).or_default().push(Process { number, start: stat.start });
        }
    }
    // a program may write over its environment, to show a title in its place; but the children of
    // one that has a rank may have any
    let ranks: HashSet<u32> = found.values().flatten().map(|process| process.number).collect();
    let parent = |process: u32| all.get(&process).map(|stat| stat.parent);
    readable &= nameless.into_iter().all(|process| is_below_a_rank(process, launcher, &ranks, parent));
    // if this process cannot find itself, it cannot find others
    let sees = launcher != 0 && readable && found.get(&me).is_some_and(|list| list.iter().any(|p| p.number == own));
    Some((found, sees && told.local == size))
}

/// True if one of these processes with ranks is an ancestor of a process below the launcher.
fn is_below_a_rank(mut process: u32, launcher: u32, ranks: &HashSet<u32>, parent: impl Fn(u32) -> Option<u32>) -> bool {
    while process != launcher && !ranks.contains(&process) {
        process = parent(process).unwrap_or(launcher);
    }
    process != launcher
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_without_a_rank_may_be_one_that_has_a_title() {
        // the launcher 10 has started 11, 12 and 13; 14 is a child of 12, 15 one of 13
        let parent =
            |process| [(11, 10), (12, 10), (13, 10), (14, 12), (15, 13)].iter().find(|pair| pair.0 == process).map(|pair| pair.1);
        let ranks = HashSet::from([11, 12]);
        let below = |process| is_below_a_rank(process, 10, &ranks, parent);
        assert_eq!([13, 14, 15, 99].map(below), [false, true, false, false]);
    }

    #[test]
    fn processes_end() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let number = child.id();
        let process = Process { number, start: Stat::of(number).unwrap().start };
        assert!(!process.has_ended());
        // an earlier process with the same number
        assert!(Process { start: process.start - 1, ..process }.has_ended());
        child.kill().unwrap();
        // first a zombie, then gone
        while !process.has_ended() {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(process.has_ended());
    }

    #[test]
    fn environments_of_launchers() {
        let text = b"A=1\0OMPI_COMM_WORLD_RANK=2\0OMPI_COMM_WORLD_SIZE=4\0XPMIX_NAMESPACE=no\0OMPI_COMM_WORLD_LOCAL_SIZE=3\0PMIX_NAMESPACE=7\0";
        let told = Told::parse(text, VARIABLES[0]).unwrap();
        assert_eq!(told, Told { rank: 2, size: 4, local: 3, job: Some("7".into()) });
        assert!(Told::parse(text, VARIABLES[1]).is_none());
        assert!(!told.is_with(&Told { job: Some("8".into()), ..told.clone() }));
        assert!(told.is_with(&Told { rank: 0, ..told.clone() }));
    }
}
