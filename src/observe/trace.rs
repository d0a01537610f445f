//! The trace, in Chrome's trace event format, which Perfetto and chrome://tracing open: one lane
//! for each process.
//!
//! Each process writes events to its own file next to the requested one, `FILE.RANK.part`: one JSON
//! object a line, through a buffer of 64 KiB, so that one write serves some hundred events. When
//! MPI is finalized, it renames the file to `FILE.RANK.done`. Process 0 waits for the others' files
//! (at most `REPORT` without progress), and merges all of them into one array. The events of a
//! process that died are included up to its last write; half a line at the end is left out.
//!
//! Times are microseconds of the wall clock, which hosts share as far as they are synchronized;
//! within a process they advance by the monotonic clock. Merging moves the origin to the earliest
//! event.

use std::cell::Cell;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::settings::{TRACE, complain};
use crate::environment;
use crate::util::backoff::{Backoff, Pace, REPORT};
use crate::util::lock::lock;
use crate::util::process::Stat;

/// Size of the write buffer in bytes.
const BUFFER: usize = 1 << 16;
/// Most events of a process. Further ones are counted, but not written.
const MOST: u64 = 1 << 20;

/// The file of a running process.
pub fn part(file: &Path, rank: u32) -> PathBuf {
    beside(file, rank, "part")
}

fn done(file: &Path, rank: u32) -> PathBuf {
    beside(file, rank, "done")
}

fn beside(file: &Path, rank: u32, kind: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(format!(".{rank}.{kind}"));
    name.into()
}

/// The events of a process.
pub struct Lane {
    file: PathBuf,
    rank: u32,
    /// When this process began, by the clock of the file system. `None` if that is not known.
    since: Option<SystemTime>,
    /// The same instant on both clocks.
    begin: Instant,
    wall: Duration,
    ids: AtomicU64,
    threads: AtomicU32,
    writer: Mutex<Writer>,
}

struct Writer {
    file: File,
    buffer: String,
    events: u64,
    dropped: u64,
    failed: Option<io::Error>,
}

impl Writer {
    fn line(&mut self, write: impl FnOnce(&mut String)) {
        if self.events >= MOST {
            self.dropped += 1;
            return;
        }
        self.events += 1;
        write(&mut self.buffer);
        self.buffer.push('\n');
        if self.buffer.len() > BUFFER - 512 {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if self.failed.is_none()
            && let Err(e) = self.file.write_all(self.buffer.as_bytes())
        {
            self.failed = Some(e);
        }
        self.buffer.clear();
    }
}

/// Nanoseconds, displayed as microseconds.
struct Micros(u128);

impl std::fmt::Display for Micros {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

impl Lane {
    /// Opens the file of a process.
    ///
    /// # Errors
    /// That file, or the requested one, cannot be written; with its name.
    pub fn open(file: &Path, rank: u32) -> Result<Lane, (PathBuf, io::Error)> {
        // so that an error is reported now, not at the end; process 0 makes the file
        match writable(file, rank == 0) {
            Err(e) if rank == 0 || e.kind() != io::ErrorKind::NotFound => return Err((file.into(), e)),
            _ => {}
        }
        let own = part(file, rank);
        let opened = OpenOptions::new().write(true).create(true).truncate(false).open(&own);
        let opened = opened.and_then(|part| hold(&part).and_then(|()| part.set_len(0)).map(|()| part)).map_err(|e| (own, e))?;
        // what an earlier program has left
        if rank == 0 {
            File::create(file).map_err(|e| (file.into(), e))?;
        }
        let _ = std::fs::remove_file(done(file, rank));
        let writer = Writer { file: opened, buffer: String::with_capacity(BUFFER), events: 0, dropped: 0, failed: None };
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (ids, threads) = (AtomicU64::new(0), AtomicU32::new(0));
        let (file, writer) = (file.to_owned(), Mutex::new(writer));
        let mut lane = Lane { file, rank, since: None, begin: Instant::now(), wall, ids, threads, writer };
        lane.event("M", "process_name", lane.begin, &format!("\"args\":{{\"name\":\"process {rank}\"}}"));
        lane.event("M", "process_sort_index", lane.begin, &format!("\"args\":{{\"sort_index\":{rank}}}"));
        // the file has these lines even if the process dies
        lane.since = {
            let mut writer = lock(&lane.writer);
            writer.flush();
            let written = writer.file.metadata().and_then(|part| part.modified());
            written.ok().and_then(|now| now.checked_sub(age()?))
        };
        Ok(lane)
    }

    /// A small number for the calling thread.
    fn thread(&self) -> u32 {
        thread_local! {
            static NUMBER: Cell<Option<u32>> = const { Cell::new(None) };
        }
        NUMBER.get().unwrap_or_else(|| {
            let number = self.threads.fetch_add(1, Ordering::Relaxed);
            NUMBER.set(Some(number));
            number
        })
    }

    fn nanoseconds(&self, at: Instant) -> u128 {
        (self.wall + at.saturating_duration_since(self.begin)).as_nanos()
    }

    fn event(&self, phase: &str, name: &str, at: Instant, rest: &str) {
        let (ts, rank, thread) = (Micros(self.nanoseconds(at)), self.rank, self.thread());
        lock(&self.writer).line(|line| {
            // writing to a string cannot fail
            let _ = write!(line, "{{\"ts\":{ts},\"ph\":\"{phase}\",\"pid\":{rank},\"tid\":{thread},\"name\":\"{name}\",{rest}}}");
        });
    }

    /// Adds a span from `begin` until now.
    pub fn span(&self, name: &str, category: &str, begin: Instant, arguments: &str) {
        // the first set call began before the lane existed
        let begin = begin.max(self.begin);
        let duration = Micros(begin.elapsed().as_nanos());
        self.event("X", name, begin, &format!("\"dur\":{duration},\"cat\":\"{category}\",\"args\":{{{arguments}}}"));
    }

    /// Adds an event at this instant.
    pub fn instant(&self, name: &str, arguments: &str) {
        self.event("i", name, Instant::now(), &format!("\"s\":\"t\",\"cat\":\"round\",\"args\":{{{arguments}}}"));
    }

    /// Begins a span that may overlap others. Returns its number.
    pub fn under_way(&self, name: &str) -> u64 {
        let id = self.ids.fetch_add(1, Ordering::Relaxed) + 1;
        self.event("b", name, Instant::now(), &format!("\"id2\":{{\"local\":\"{id}\"}},\"cat\":\"under way\",\"args\":{{}}"));
        id
    }

    /// Ends such a span.
    pub fn over(&self, name: &str, id: u64) {
        self.event("e", name, Instant::now(), &format!("\"id2\":{{\"local\":\"{id}\"}},\"cat\":\"under way\",\"args\":{{}}"));
    }

    /// Closes the process's file. Process 0 also merges all files.
    pub fn finish(&self, processes: u32) {
        let (dropped, failed) = {
            let mut writer = lock(&self.writer);
            writer.flush();
            (writer.dropped, writer.failed.take())
        };
        if let Some(e) = failed {
            complain(&format!("process {}: the trace is not complete: {TRACE}: {}: {e}", self.rank, self.file.display()));
        }
        if dropped > 0 {
            complain(&format!("process {}: the trace has the first {MOST} events; {dropped} more were left out", self.rank));
        }
        // if this fails, process 0 waits in vain and takes the part
        let _ = std::fs::rename(part(&self.file, self.rank), done(&self.file, self.rank));
        if self.rank == 0
            && let Err(e) = self.merge(processes)
        {
            complain(&format!("the parts of the trace could not be merged: {TRACE}: {}: {e}", self.file.display()));
        }
    }

    /// True if a part belongs to this run, and not to an earlier one that died: it has been written
    /// to since this process began. Other hosts may have other clocks, but the file system has one.
    fn is_of_this_run(&self, path: &Path) -> bool {
        let written = || std::fs::metadata(path)?.modified();
        written().is_ok_and(|written| self.since.is_none_or(|since| written >= since))
    }

    /// Merges the parts of all processes.
    fn merge(&self, processes: u32) -> io::Result<()> {
        // unfinished parts, with their last known lengths
        let mut open: Vec<(u32, u64)> = (0..processes).filter(|&r| part(&self.file, r).exists()).map(|r| (r, 0)).collect();
        open.retain(|&(rank, _)| self.is_of_this_run(&part(&self.file, rank)));
        let (mut progress, mut backoff) = (Instant::now(), Backoff::new(Pace::SLEEPING));
        while !open.is_empty() && progress.elapsed() < REPORT {
            backoff.snooze();
            let before = open.len();
            open.retain_mut(|(rank, length)| match std::fs::metadata(part(&self.file, *rank)) {
                Ok(_) if !is_held(&part(&self.file, *rank)) => false,
                Ok(metadata) => {
                    if metadata.len() > *length {
                        (*length, progress) = (metadata.len(), Instant::now());
                    }
                    true
                }
                Err(_) => false,
            });
            if open.len() < before {
                progress = Instant::now();
            }
        }
        let parts: Vec<PathBuf> = (0..processes)
            .flat_map(|rank| [done(&self.file, rank), part(&self.file, rank)])
            .filter(|path| self.is_of_this_run(path))
            .collect();
        environment::replace(&self.file, |file| write_merged(file, &parts))?;
        // those that still write keep theirs
        let late: Vec<PathBuf> = open.into_iter().map(|(rank, _)| part(&self.file, rank)).collect();
        for path in parts.iter().filter(|path| !late.contains(path)) {
            let _ = std::fs::remove_file(path);
        }
        if !late.is_empty() {
            complain(&format!(
                "the trace lacks what {} processes have still to write: {TRACE}: {}",
                late.len(),
                self.file.display()
            ));
        }
        Ok(())
    }
}

/// Writes the events of all parts.
fn write_merged(file: &mut File, parts: &[PathBuf]) -> io::Result<()> {
    let origin = parts.iter().filter_map(|path| first_time(path)).min().unwrap_or(0);
    let mut out = BufWriter::new(file);
    out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n")?;
    let mut first = true;
    for path in parts {
        let mut reader = BufReader::new(File::open(path)?);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line)? > 0 {
            // a killed process may have left half a line
            if line.ends_with(b"}\n")
                && let Some((time, rest)) = split_time(&line[..line.len() - 1])
            {
                let separator = if first { "" } else { ",\n" };
                write!(out, "{separator}{{\"ts\":{}", Micros(time.saturating_sub(origin)))?;
                out.write_all(rest)?;
                first = false;
            }
            line.clear();
        }
    }
    out.write_all(b"\n]}\n")?;
    out.flush()
}

/// Checks that a file can be written. `makes`: makes one if there is none.
fn writable(file: &Path, makes: bool) -> io::Result<()> {
    environment::refuse_pipe(file)?;
    OpenOptions::new().write(true).create(makes).truncate(false).open(file).map(drop)
}

/// Locks a part while its process lives. Where the file system has no locks, it counts as held.
///
/// # Errors
/// A process of another program holds it.
fn hold(file: &File) -> io::Result<()> {
    // SAFETY: a descriptor that is open.
    let locked = unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0;
    if !locked && io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock {
        return Err(io::Error::new(io::ErrorKind::WouldBlock, "another program that runs writes it"));
    }
    Ok(())
}

/// True if the process of a part lives, as far as its lock shows.
fn is_held(path: &Path) -> bool {
    // SAFETY: a descriptor that is open, and closed again, which gives the lock back.
    File::open(path).is_ok_and(|file| unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_SH | libc::LOCK_NB) } != 0)
}

/// Splits a line into the event's time in nanoseconds and the rest.
fn split_time(line: &[u8]) -> Option<(u128, &[u8])> {
    let text = line.strip_prefix(b"{\"ts\":")?;
    let end = text.iter().position(|&c| c == b',')?;
    let (time, rest) = text.split_at(end);
    let (whole, fraction) = std::str::from_utf8(time).ok()?.split_once('.')?;
    if fraction.len() != 3 {
        return None;
    }
    Some((whole.parse::<u128>().ok()?.checked_mul(1000)?.checked_add(fraction.parse().ok()?)?, rest))
}

/// The time of the first event in a part.
fn first_time(path: &Path) -> Option<u128> {
    let mut line = Vec::new();
    let file = File::open(path).ok()?;
    BufReader::new(io::Read::take(file, 4096)).read_until(b'\n', &mut line).ok()?;
    split_time(&line).map(|split| split.0)
}

/// How long this process has existed, or a little longer.
fn age() -> Option<Duration> {
    /// The start is rounded to a multiple of this.
    const ROUNDED: Duration = Duration::from_millis(20);
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // The file /proc/uptime may be that of a container.
    // SAFETY: the result is a local; the other call takes a number.
    let (told, frequency) = unsafe { (libc::clock_gettime(libc::CLOCK_BOOTTIME, &mut now), libc::sysconf(libc::_SC_CLK_TCK)) };
    let up = Duration::new(u64::try_from(now.tv_sec).ok()?, u32::try_from(now.tv_nsec).ok()?);
    let began = Duration::from_secs_f64(Stat::of(std::process::id()).ok()?.start as f64 / frequency.max(1) as f64);
    (told == 0).then(|| up.saturating_sub(began) + ROUNDED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_lines() {
        assert_eq!(Micros(1_234_567).to_string(), "1234.567");
        assert_eq!(Micros(5).to_string(), "0.005");
        let line = br#"{"ts":1234.567,"ph":"X"}"#;
        assert_eq!(split_time(line), Some((1_234_567, &br#","ph":"X"}"#[..])));
        for wrong in
            ["", "{", r#"{"ts":1,"ph":"X"}"#, r#"{"ts":1.5,"ph":"X"}"#, r#"{"ts":1.500"#, r#"{"ph":"X","ts":1.500,"a":0}"#]
        {
            assert_eq!(split_time(wrong.as_bytes()), None, "{wrong}");
        }
    }

    /// Two processes, of which one died in the middle of a line, and a part of an earlier program.
    #[test]
    fn lanes_become_one_file() {
        let folder = std::env::temp_dir().join(format!("mpix-neighbor-trace-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("run.json");
        let (lane, other) = (Lane::open(&file, 0).unwrap(), Lane::open(&file, 1).unwrap());
        let (held, e) = Lane::open(&file, 1).err().unwrap();
        assert!(held == part(&file, 1) && e.to_string() == "another program that runs writes it", "{}: {e}", held.display());
        std::fs::write(part(&file, 2), "{\"ts\":1.000,\"ph\":\"M\",\"name\":\"stale\"}\n").unwrap();
        let old = SystemTime::now() - Duration::from_secs(60);
        File::options().write(true).open(part(&file, 2)).unwrap().set_modified(old).unwrap();
        let id = other.under_way("gather");
        other.over("gather", id);
        other.instant("round", "\"round\":1");
        lock(&other.writer).buffer.push_str("{\"ts\":");
        lock(&other.writer).flush();
        // its lock goes with it, as with a process that dies
        drop(other);
        lane.span("alltoall", "call", Instant::now(), "\"messages\":1");
        lane.finish(3);
        let text = std::fs::read_to_string(&file).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((lines[0], lines[lines.len() - 1]), ("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", "]}"));
        let events = &lines[1..lines.len() - 1];
        assert_eq!(events.len(), 2 + 1 + 2 + 3, "{text}");
        assert!(events[0].starts_with("{\"ts\":0.000,\"ph\":\"M\",\"pid\":0,"), "{text}");
        assert!(events.iter().all(|line| line.trim_end_matches(',').ends_with('}')) && !text.contains("stale"), "{text}");
        assert_eq!(events.iter().filter(|line| line.ends_with(',')).count(), events.len() - 1);
        for (phase, process) in [("X", 0), ("b", 1), ("e", 1), ("i", 1)] {
            assert!(text.contains(&format!("\"ph\":\"{phase}\",\"pid\":{process},")), "{text}");
        }
        assert!(!part(&file, 0).exists() && !done(&file, 0).exists() && !part(&file, 1).exists());
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_process_ages() {
        let (first, begun) = (age().unwrap(), Instant::now());
        std::thread::sleep(Duration::from_millis(30));
        let grown = age().unwrap().checked_sub(first).unwrap();
        assert!(grown >= Duration::from_millis(30) && grown <= begun.elapsed() + Duration::from_millis(1));
        assert!(first < Duration::from_secs(3600), "{first:?}");
    }
}
