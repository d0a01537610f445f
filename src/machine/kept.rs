//! What set calls have measured: kept in memory for later set calls of the program, and in a file
//! for later programs.
//!
//! The file is replaced as a whole: a reader finds the old one or the new one. Not being able to
//! read or write it only costs another measurement.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::environment;
use crate::error::Result;
use crate::model::kept::FILES;
use crate::mpi::coll;
use crate::mpi::comm::Owned as Comm;
use crate::mpi::of_process::OfProcess;
use crate::select::hints::kept_folder;
use crate::select::hints::origins::Origin;
use crate::util::cast::to_usize;
use crate::util::lock::lock;

/// What the process has measured or found in files, by what it belongs to, the newest last.
pub struct Memory<K, V>(OfProcess<Mutex<Vec<(K, V)>>>);

impl<K: PartialEq + Send, V: Copy + Send> Memory<K, V> {
    /// An empty one.
    pub const fn new() -> Self {
        Memory(OfProcess::new())
    }

    /// Returns what is remembered.
    pub fn recall(&self, key: &K) -> Result<Option<V>> {
        let memory = self.0.get()?;
        let all = lock(&memory);
        Ok(all.iter().rfind(|entry| entry.0 == *key).map(|entry| entry.1))
    }

    /// Remembers a value, in the place of an earlier one.
    pub fn remember(&self, key: K, value: V) -> Result<()> {
        let memory = self.0.get()?;
        let mut all = lock(&memory);
        all.retain(|entry| entry.0 != key);
        if all.len() as u64 == FILES {
            all.remove(0);
        }
        all.push((key, value));
        Ok(())
    }
}

/// Returns what process 0 remembers, or finds in its file by `read`, and whether this program has
/// measured it ([`Origin::Measured`]) or an earlier one ([`Origin::Kept`]). The same on all
/// processes. `to_words` and `from_words` convert it. Collective: a broadcast.
pub fn look_up<K: PartialEq + Send, V: Copy + Send, const N: usize>(
    comm: &Comm,
    memory: &Memory<K, (V, Origin)>,
    key: &K,
    read: impl FnOnce() -> Option<V>,
    to_words: impl FnOnce(V) -> [u64; N],
    from_words: impl FnOnce([u64; N]) -> V,
) -> Result<Option<(V, Origin)>> {
    let look = || {
        let known = match memory.recall(key)? {
            Some(known) => Some(known),
            None => read().map(|read| (read, Origin::Kept)),
        };
        Ok(known.map(|(value, origin)| (to_words(value), origin)))
    };
    Ok(told(comm, look)?.map(|(words, origin)| (from_words(words), origin)))
}

/// Where what is told to others comes from, as words from 1; 0 stands for nothing.
const ORIGINS: [Origin; 2] = [Origin::Measured, Origin::Kept];

/// A word that stands for no origin, but for what cannot be measured.
pub const IMPOSSIBLE: u64 = 1 + ORIGINS.len() as u64;

/// The word for an origin.
pub fn word_of(origin: Origin) -> u64 {
    ORIGINS.iter().position(|&other| other == origin).map_or(0, |i| 1 + i as u64)
}

/// The origin that a word stands for, if it is one.
pub fn origin_of(word: u64) -> Option<Origin> {
    ORIGINS.get(to_usize(word.checked_sub(1)?)).copied()
}

/// Tells all processes what process 0 finds.
fn told<const N: usize>(
    comm: &Comm,
    look: impl FnOnce() -> Result<Option<([u64; N], Origin)>>,
) -> Result<Option<([u64; N], Origin)>> {
    let mut message = vec![[0; 8]; 1 + N];
    // the others wait for the broadcast
    let looked = if comm.rank()? == 0 { look() } else { Ok(None) };
    if let Ok(Some((found, origin))) = looked {
        message = [word_of(origin)].into_iter().chain(found).map(u64::to_ne_bytes).collect();
    }
    coll::broadcast(comm, message.as_flattened_mut(), 0)?;
    looked?;
    let word = |i: usize| u64::from_ne_bytes(message[i]);
    Ok(origin_of(word(0)).map(|origin| (std::array::from_fn(|i| word(1 + i)), origin)))
}

/// Reads what a file holds by `parse`; `what` that is, for the log.
pub fn read_file<T>(name: String, what: &str, parse: impl Fn(&str) -> std::result::Result<T, String>) -> Option<T> {
    let path = path(name)?;
    match environment::text(&path) {
        Ok(text) => match parse(&text) {
            Ok(found) => {
                log::info!("{what} read from {}", path.display());
                Some(found)
            }
            Err(why) => {
                log::info!("{} does not count: {why}", path.display());
                None
            }
        },
        Err(e) => {
            if e.kind() != ErrorKind::NotFound {
                log::info!("{} does not count: {e}", path.display());
            }
            None
        }
    }
}

/// Writes a file with this text; `what` that is, for the log.
pub fn write_file(name: String, what: &str, text: &str) {
    let Some(path) = path(name) else { return };
    match replace(&path, text) {
        Ok(()) => log::info!("{what} written to {}", path.display()),
        Err(e) => log::info!("{what} cannot be kept, as {} cannot be written: {e}", path.display()),
    }
}

fn path(name: String) -> Option<PathBuf> {
    Some(kept_folder(environment::variable)?.join(name))
}

/// Puts a file with this text in the place of one that may be there.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    environment::refuse_pipe(path)?;
    environment::replace(path, |file| file.write_all(text.as_bytes()))
}
