//! Collects and prints statistics when MPI is finalized.
//!
//! All processes of a communicator have the same records for it, as setting a neighborhood is
//! collective. The one with the lowest rank in `MPI_COMM_WORLD` prints them: each of the others
//! sends it one message on `MPI_COMM_WORLD`. Nothing here is collective, and every wait is bounded:
//! if a process has died, or does not see the same environment, the table says how many have
//! reported.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::record::{Medium, Observer, Record, USES};
use super::settings::{Output, STATS, complain};
use crate::environment;
use crate::error::{Error, Result};
use crate::mpi::comm::Owned as Comm;
use crate::mpi::liveness::Patience;
use crate::mpi::message::{self, Mode, Request, bytes_at};
use crate::mpi::{comm, errors};
use crate::util::backoff::{Backoff, Pace, REPORT};
use crate::util::cast::to_usize;
use crate::util::lock::lock;
use crate::util::say::say;

/// Tag of these messages: programs are unlikely to use it, and every MPI allows it.
const TAG: i32 = 31_013;

/// Numbers of a row: calls, time waited, messages and bytes by way, MPI's operations
/// ([`Tally::operate`](crate::mpi::tally::Tally::operate)), and what a window was used for.
const NUMBERS: usize = FIRST_USE + USES.len();

/// The place of a window's uses among them.
const FIRST_USE: usize = 12;

/// A row of the table, for one process or the sum of several.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    /// Number of the neighborhood on its processes, and name of the operation.
    number: u32,
    name: String,
    sums: [u64; NUMBERS],
    /// Longest time that any process waited, in nanoseconds.
    most: u64,
    processes: u32,
    text: String,
}

/// Rows by group, number and name.
type Table = BTreeMap<(u64, u32, String), Row>;

impl Row {
    fn of(record: &Record) -> Row {
        let waited = record.waited.load(Ordering::Relaxed);
        let mut sums = [0; NUMBERS];
        (sums[0], sums[1]) = (record.calls.load(Ordering::Relaxed), waited);
        for (i, tally) in record.tallies.iter().enumerate() {
            [sums[2 + 2 * i], sums[3 + 2 * i]] = tally.get();
        }
        sums[8..FIRST_USE].copy_from_slice(&record.tally(Medium::Mpi).operations());
        for (sum, times) in sums[FIRST_USE..].iter_mut().zip(&record.uses) {
            *sum = times.load(Ordering::Relaxed);
        }
        let text = lock(&record.text).clone();
        Row { number: record.group.number, name: record.name.to_owned(), sums, most: waited, processes: 1, text }
    }

    fn add(&mut self, other: &Row) {
        self.sums.iter_mut().zip(other.sums).for_each(|(a, b)| *a += b);
        self.most = self.most.max(other.most);
        self.processes += other.processes;
    }

    /// Writes a line of a message, without the text: the printing process uses its own.
    fn write(&self, hash: u64, out: &mut String) {
        let _ = write!(out, "{hash} {} {}", self.number, self.name);
        for n in self.sums {
            let _ = write!(out, " {n}");
        }
        out.push('\n');
    }

    fn read(line: &str) -> Option<(u64, Row)> {
        let mut words = line.split(' ');
        let (hash, number, name) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?, words.next()?.to_owned());
        let mut sums = [0; NUMBERS];
        for n in &mut sums {
            *n = words.next()?.parse().ok()?;
        }
        Some((hash, Row { number, name, sums, most: sums[1], processes: 1, text: String::new() }))
    }
}

fn enter(table: &mut Table, hash: u64, row: Row) {
    match table.entry((hash, row.number, row.name.clone())) {
        std::collections::btree_map::Entry::Occupied(mut known) => known.get_mut().add(&row),
        std::collections::btree_map::Entry::Vacant(place) => drop(place.insert(row)),
    }
}

/// Collects and prints.
pub fn finish(observer: &Observer) {
    let Some(output) = &observer.stats else { return };
    let records = lock(&observer.seen).records.clone();
    // errors of this must not end the program
    let collected = errors::returning(comm::world(), || Ok(collect(observer.rank, &records)));
    match collected {
        Ok((table, reported)) if !table.is_empty() => {
            for group in groups(&records, observer.rank) {
                put(output, &text(&table, &records, group, &reported));
            }
        }
        Ok(_) => {}
        Err(e) => complain(&format!("process {}: no statistics: {e}", observer.rank)),
    }
}

/// The groups that this process prints.
fn groups(records: &[std::sync::Arc<Record>], me: u32) -> BTreeSet<u64> {
    records.iter().filter(|r| r.group.leader() == me).map(|r| r.group.hash).collect()
}

/// Sends the rows that others print, and receives those that this process prints. Also returns the
/// processes that have reported.
fn collect(me: u32, records: &[std::sync::Arc<Record>]) -> (Table, BTreeSet<u32>) {
    let world = Comm::world();
    let mut letters: BTreeMap<u32, String> = BTreeMap::new();
    let (mut table, mut expected, mut led) = (Table::new(), BTreeSet::new(), BTreeSet::new());
    for record in records {
        let (leader, hash) = (record.group.leader(), record.group.hash);
        if leader == me {
            if led.insert(hash) {
                expected.extend(record.group.members.iter().copied().filter(|&m| m != me));
            }
            enter(&mut table, hash, Row::of(record));
        } else {
            Row::of(record).write(hash, letters.entry(leader).or_default());
        }
    }
    let mut sends: Vec<(Request, String, u32)> = Vec::new();
    for (leader, letter) in letters {
        let block = bytes_at(letter.as_ptr(), letter.len() as u64);
        // SAFETY: the text stays until the message is complete, or is leaked.
        match unsafe { message::send(Mode::Standard, &block, leader, TAG, &world) } {
            Ok(request) => sends.push((request, letter, leader)),
            // the others get theirs
            Err(e) => complain(&format!("process {me}: statistics for process {leader} are lost: {e}")),
        }
    }
    let mut reported = BTreeSet::from([me]);
    let (mut progress, mut patience) = (Instant::now(), Patience::default());
    let mut backoff = Backoff::new(Pace::SLEEPING);
    while !(expected.is_empty() && sends.is_empty()) && progress.elapsed() < REPORT {
        let before = expected.len() + sends.len();
        // a failed request is not tested again
        let pending = |request: &mut Request| matches!(request.test(), Ok(false));
        sends.retain_mut(|(request, ..)| pending(request));
        let mut failed = None;
        expected.retain(|&source| match receive(source, &world) {
            Ok(None) => true,
            Ok(Some(letter)) => {
                letter.lines().filter_map(Row::read).for_each(|(hash, row)| enter(&mut table, hash, row));
                reported.insert(source);
                false
            }
            Err(e) => {
                failed = Some(e);
                false
            }
        });
        if let Some(e) = failed {
            complain(&format!("process {me}: statistics of another process are lost: {e}"));
        }
        if expected.len() + sends.len() < before {
            progress = Instant::now();
        } else if patience.is_over() {
            let wanted = expected.iter().copied().chain(sends.iter().map(|send| send.2));
            let dead = patience.look(world.view(), wanted);
            expected.retain(|source| !dead.contains(source));
            let lost = sends.extract_if(.., |(.., leader)| dead.contains(leader));
            lost.for_each(|(_, letter, _)| std::mem::forget(letter));
        } else {
            backoff.snooze();
        }
    }
    // MPI may still read it
    sends.into_iter().for_each(|(_, letter, _)| std::mem::forget(letter));
    (table, reported)
}

/// Receives the message of a process, if it has sent one.
fn receive(source: u32, world: &Comm) -> Result<Option<String>> {
    let Some(found) = message::probe(Some(source), TAG, false, world)? else { return Ok(None) };
    let mut bytes = vec![0u8; to_usize(found.status.bytes)];
    // SAFETY: there is room for the message that has been found, and nobody touches the bytes until
    // it is complete.
    let mut request = unsafe { message::receive(bytes.as_mut_ptr(), bytes.len() as u64, Some(source), Some(TAG), world) }?;
    let (begin, mut patience, mut backoff) = (Instant::now(), Patience::default(), Backoff::new(Pace::YIELDING));
    while !request.test()? {
        let mut died = || patience.is_over() && !patience.look(world.view(), [source].into_iter()).is_empty();
        if begin.elapsed() > REPORT || died() {
            // MPI may still write it
            std::mem::forget(bytes);
            return Err(Error::Gone { rank: source }.into());
        }
        backoff.snooze();
    }
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// Formats the table of a group.
fn text(table: &Table, records: &[std::sync::Arc<Record>], hash: u64, reported: &BTreeSet<u32>) -> String {
    const P: &str = "mpix-neighbor stats:";
    let mut out = String::new();
    let Some(group) = records.iter().map(|r| &r.group).find(|g| g.hash == hash) else { return out };
    let (size, here) = (group.size, group.members.iter().filter(|m| reported.contains(m)).count());
    let world = group.leader();
    let processes = if size == 1 { "process" } else { "processes" };
    let _ = writeln!(out, "{P} {here} of {size} {processes}, the first of them process {world} of MPI_COMM_WORLD");
    let _ = writeln!(
        out,
        "{P} {:>3} {:14} {:>10} {:>10} {:>14} {:>10} {:>14} {:>10} {:>14} {:>11} {:>11}",
        "set", "operation", "calls", "shared", "bytes", "MPI", "bytes", "self", "bytes", "waited", "most"
    );
    let rows = || table.range((hash, 0, String::new())..).take_while(|(key, _)| key.0 == hash).map(|(_, row)| row);
    for row in rows() {
        let [calls, waited, shared, a, mpi, b, own, c, ..] = row.sums;
        let (waited, most) = (waited as f64 * 1e-9, row.most as f64 * 1e-9);
        let (number, name) = (row.number, &row.name);
        let _ = writeln!(
            out,
            "{P} {number:>3} {name:14} {calls:>10} {shared:>10} {a:>14} {mpi:>10} {b:>14} {own:>10} {c:>14} {waited:>11.6} {most:>11.6}"
        );
    }
    let _ = writeln!(out, "{P} sums over the processes; waited: seconds; most: of the process that waited longest");
    for row in rows() {
        if let Some(operations) = operations(row) {
            let _ = writeln!(out, "{P} {} {}: {operations}", row.number, row.name);
        }
    }
    for row in rows().filter(|row| !row.text.is_empty()) {
        let _ = writeln!(out, "{P} {} {}, process {world}: {}", row.number, row.name, row.text);
    }
    out
}

/// The MPI operations of a row, whose messages only MPI can count, and what a window was used for;
/// `None` if there is nothing of either.
fn operations(row: &Row) -> Option<String> {
    let [_, _, _, _, _, _, _, _, collectives, given, one_sided, moved, ref uses @ ..] = row.sums;
    let some = |count: u64, bytes: u64, one: &str, many: &str| {
        (count > 0).then(|| format!("{count} {} of {bytes} bytes", if count == 1 { one } else { many }))
    };
    let parts = [
        some(collectives, given, "MPI collective", "MPI collectives"),
        some(one_sided, moved, "one-sided operation", "one-sided operations"),
    ];
    let uses = uses.iter().zip(USES).filter(|(times, _)| **times > 0);
    let uses = uses.map(|(times, [one, many])| format!("{times} {}", if *times == 1 { one } else { many }));
    let parts: Vec<String> = parts.into_iter().flatten().chain(uses).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Writes a table in one piece.
fn put(output: &Output, text: &str) {
    use std::io::Write;
    match output {
        Output::Stderr => say(text),
        Output::File(file) => {
            let open = || std::fs::OpenOptions::new().append(true).create(true).open(file);
            if let Err(e) = environment::refuse_pipe(file).and_then(|()| open()).and_then(|mut f| f.write_all(text.as_bytes())) {
                complain(&format!("no statistics: {STATS}: cannot append to {}: {e}", file.display()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(number: u32, name: &str, first: u64) -> Row {
        let sums = std::array::from_fn(|k| first + k as u64);
        Row { number, name: name.to_owned(), sums, most: sums[1], processes: 1, text: String::new() }
    }

    #[test]
    fn rows_travel_as_lines() {
        let (sent, mut line) = (row(7, "alltoall", 100), String::new());
        sent.write(u64::MAX, &mut line);
        assert_eq!(
            line,
            "18446744073709551615 7 alltoall 100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117\n"
        );
        assert_eq!(Row::read(line.trim_end()), Some((u64::MAX, sent)));
        // of another version of the library, or half of one
        for wrong in [
            "",
            "1",
            "1 2 alltoall",
            "1 2 alltoall 1 2 3 4 5 6 7 8 9 10 11 12",
            "x 2 alltoall 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18",
        ] {
            assert_eq!(Row::read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn rows_add_up() {
        let mut table = Table::new();
        for first in [10, 40, 20] {
            enter(&mut table, 5, row(1, "gather", first));
        }
        enter(&mut table, 5, row(2, "gather", 1));
        enter(&mut table, 6, row(1, "gather", 1));
        assert_eq!(table.len(), 3);
        let sum = &table[&(5, 1, "gather".to_owned())];
        assert_eq!((sum.sums[0], sum.sums[11], sum.most, sum.processes), (70, 103, 41, 3));
    }

    #[test]
    fn operations_are_said_where_there_are_some() {
        let mut row = row(1, "rsx", 0);
        row.sums[FIRST_USE..].fill(0);
        let mut said = |numbers: [u64; 4]| {
            row.sums[8..FIRST_USE].copy_from_slice(&numbers);
            operations(&row)
        };
        assert_eq!(said([0; 4]), None);
        assert_eq!(said([1, 8, 0, 0]).unwrap(), "1 MPI collective of 8 bytes");
        assert_eq!(said([0, 0, 2, 16]).unwrap(), "2 one-sided operations of 16 bytes");
        assert_eq!(said([3, 24, 1, 8]).unwrap(), "3 MPI collectives of 24 bytes, 1 one-sided operation of 8 bytes");
        row.sums[8..].copy_from_slice(&[0, 0, 0, 0, 2, 1, 0, 0, 3, 1]);
        assert_eq!(operations(&row).unwrap(), "2 puts, 1 accumulate, 3 compare-and-swaps, 1 fence");
    }

    #[test]
    fn a_table_of_a_group() {
        use std::sync::Arc;
        let group =
            |hash, members: &[u32]| Arc::new(super::super::record::Group { members: members.into(), size: 3, hash, number: 1 });
        let record = |group| {
            Arc::new(Record {
                group,
                name: "gather",
                calls: 4.into(),
                waited: 2_500_000.into(),
                tallies: Default::default(),
                uses: Default::default(),
                text: std::sync::Mutex::new("schedule direct: why".into()),
                lane: None,
            })
        };
        let records = [record(group(9, &[2, 1, 5])), record(group(8, &[3]))];
        records[0].sent(Medium::Shared, 6, 48);
        records[0].sent(Medium::Own, 1, 8);
        records[0].tally(Medium::Mpi).operate([1, 8, 0, 0]);
        assert_eq!(groups(&records, 1), BTreeSet::from([9]));
        let mut table = Table::new();
        records.iter().for_each(|record| enter(&mut table, record.group.hash, Row::of(record)));
        let text = text(&table, &records, 9, &BTreeSet::from([1, 5, 7]));
        let lines: Vec<&str> = text.lines().map(|line| line.strip_prefix("mpix-neighbor stats: ").unwrap()).collect();
        assert_eq!(lines[0], "2 of 3 processes, the first of them process 1 of MPI_COMM_WORLD");
        let words: Vec<&str> = lines[2].split_whitespace().collect();
        assert_eq!(words, ["1", "gather", "4", "6", "48", "0", "0", "1", "8", "0.002500", "0.002500"]);
        assert_eq!(lines[4..], ["1 gather: 1 MPI collective of 8 bytes", "1 gather, process 1: schedule direct: why"]);
    }
}
