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

use super::settings::{TRACE, complain, lock};
use crate::environment;
use crate::util::backoff::{Backoff, Pace, REPORT};
use crate::util::cast::whole;

/// Size of the write buffer in bytes.
const BUFFER: usize = 1 << 16;
/// Most events of a process. Further ones are counted, but not written.
const MOST: u64 = 1 << 20;

/// The file of a running process.
pub fn part(file: &str, rank: u32) -> PathBuf {
    PathBuf::from(format!("{file}.{rank}.part"))
}

fn done(file: &str, rank: u32) -> PathBuf {
    PathBuf::from(format!("{file}.{rank}.done"))
}

/// The events of a process.
pub struct Lane {
    file: String,
    rank: u32,
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
    pub fn open(file: &str, rank: u32) -> Result<Lane, (PathBuf, io::Error)> {
        // so that an error is reported now, not at the end; process 0 makes the file
        match writable(Path::new(file), rank == 0) {
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
        let lane = Lane { file: file.to_owned(), rank, begin: Instant::now(), wall, ids, threads, writer: Mutex::new(writer) };
        lane.event("M", "process_name", lane.begin, &format!("\"args\":{{\"name\":\"process {rank}\"}}"));
        lane.event("M", "process_sort_index", lane.begin, &format!("\"args\":{{\"sort_index\":{rank}}}"));
        // the file has these lines even if the process dies
        lock(&lane.writer).flush();
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
            complain(&format!("process {}: the trace is not complete: {TRACE}: {}: {e}", self.rank, self.file));
        }
        if dropped > 0 {
            complain(&format!("process {}: the trace has the first {MOST} events; {dropped} more were left out", self.rank));
        }
        // if this fails, process 0 waits in vain and takes the part
        let _ = std::fs::rename(part(&self.file, self.rank), done(&self.file, self.rank));
        if self.rank == 0
            && let Err(e) = self.merge(processes)
        {
            complain(&format!("the parts of the trace could not be merged: {TRACE}: {}: {e}", self.file));
        }
    }

    /// True if a part belongs to this run, and not to an earlier one that died.
    fn is_of_this_run(path: &Path, since: u128) -> bool {
        first_time(path).is_some_and(|first| first >= since)
    }

    /// Merges the parts of all processes.
    fn merge(&self, processes: u32) -> io::Result<()> {
        let since = process_start().unwrap_or(0);
        // unfinished parts, with their last known lengths
        let mut open: Vec<(u32, u64)> = (0..processes).filter(|&r| part(&self.file, r).exists()).map(|r| (r, 0)).collect();
        open.retain(|&(rank, _)| Self::is_of_this_run(&part(&self.file, rank), since));
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
            .filter(|path| Self::is_of_this_run(path, since))
            .collect();
        environment::replace(Path::new(&self.file), |file| write_merged(file, &parts))?;
        for path in &parts {
            let _ = std::fs::remove_file(path);
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

/// Locks a part while its process lives. Where that cannot be done, the part counts as not held.
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

/// When this process began, or a little earlier, in nanoseconds of the wall clock.
fn process_start() -> Option<u128> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let uptime = std::fs::read_to_string("/proc/uptime").ok()?;
    // the program's name, in parentheses, may contain anything
    let ticks: f64 = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()?;
    let up: f64 = uptime.split_whitespace().next()?.parse().ok()?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_nanos();
    // SAFETY: takes a number, accesses no memory.
    let frequency = unsafe { libc::sysconf(libc::_SC_CLK_TCK) } as f64;
    // both are truncated to hundredths
    let age = (up - ticks / frequency + 0.02).max(0.0);
    Some(now.saturating_sub(u128::from(whole(age * 1e9))))
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
        let file = folder.join("run.json").to_str().unwrap().to_owned();
        let (lane, other) = (Lane::open(&file, 0).unwrap(), Lane::open(&file, 1).unwrap());
        let (held, e) = Lane::open(&file, 1).err().unwrap();
        assert!(held == part(&file, 1) && e.to_string() == "another program that runs writes it", "{}: {e}", held.display());
        std::fs::write(part(&file, 2), "{\"ts\":1.000,\"ph\":\"M\",\"name\":\"stale\"}\n").unwrap();
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
}
