//! The text of the report, and of the line that a launch adds to a file.
//!
//! [`write`] and [`write_line`] also run in signal handlers: they neither allocate nor lock.

use std::ffi::c_int;
use std::fmt::{self, Write as _};

use crate::counters::{AT_FLAWS, AT_PASSED, COLUMNS};
use crate::flaws::{self, FLAWS};
use crate::function::{Name, ROWS, Wide};
use crate::reason::{REASONS, TEXTS};
use crate::{schedules, settings};

/// The processes whose numbers a report contains.
pub enum Scope<'a> {
    /// All processes of a launch that reached `MPI_Finalize`.
    Launch {
        /// Its processes.
        processes: c_int,
    },
    /// One process, as the launch ended early.
    Process {
        /// Its rank.
        rank: c_int,
        /// How it ended: the first part of the text.
        how: &'a str,
        /// The second part.
        name: &'a str,
    },
}

/// "1 call", "2 calls".
struct Counted(u64, &'static str);

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        // "process" is the only word here that ends with s
        let plural = if self.0 == 1 {
            ""
        } else if self.1.ends_with('s') {
            "es"
        } else {
            "s"
        };
        write!(f, "{} {}{plural}", self.0, self.1)
    }
}

/// Prefix of every line.
const P: &str = "mpix-neighbor preload:";

fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 * 1e-9
}

/// Rows with calls: the row's index, its sums, and its maxima.
fn rows<'a>(sum: &'a [u64], most: &'a [u64]) -> impl Iterator<Item = (usize, &'a [u64], &'a [u64])> {
    (0..ROWS).filter_map(move |row| {
        let columns = row * COLUMNS..(row + 1) * COLUMNS;
        (sum[columns.clone()][0] > 0).then(|| (row, &sum[columns.clone()], &most[columns]))
    })
}

/// Calls passed on to the MPI: row, reason and number.
fn passed_on(sum: &[u64]) -> impl Iterator<Item = (usize, usize, u64)> + '_ {
    (sum[AT_PASSED..].iter().enumerate()).filter(|(_, calls)| **calls > 0).map(|(i, &calls)| (i / REASONS, i % REASONS, calls))
}

/// Writes the report.
pub fn write(out: &mut dyn fmt::Write, sum: &[u64], most: &[u64], scope: &Scope) -> fmt::Result {
    let taken: u64 = rows(sum, most).map(|row| row.1[0]).sum();
    let passed: u64 = passed_on(sum).map(|p| p.2).sum();
    let taken_over = Counted(taken, "call");
    match *scope {
        Scope::Launch { processes } => {
            writeln!(out, "{P} {taken_over} taken over on {}", Counted(processes.unsigned_abs().into(), "process"))?;
        }
        Scope::Process { rank, how, name } => {
            writeln!(out, "{P} process {rank}: {how}{name}; what follows is of this process alone")?;
            writeln!(out, "{P} {taken_over} taken over on process {rank}")?;
        }
    }
    if taken > 0 {
        writeln!(
            out,
            "{P} {:28} {:>13} {:>10} {:>14} {:>14} {:>10}",
            "function", "communicators", "calls", "bytes sent", "most", "seconds"
        )?;
        for (row, sum, most) in rows(sum, most) {
            writeln!(
                out,
                "{P} {} {:>13} {:>10} {:>14} {:>14} {:>10.6}",
                Wide(row),
                most[1],
                sum[0],
                sum[2],
                most[2],
                seconds(most[3])
            )?;
        }
        if let Scope::Launch { .. } = scope {
            writeln!(
                out,
                "{P} communicators, most bytes and seconds: of the process with most; calls and bytes: of all processes"
            )?;
        }
    }
    if passed > 0 {
        writeln!(out, "{P} {} went on to the MPI", Counted(passed, "call"))?;
        for (row, why, calls) in passed_on(sum) {
            writeln!(out, "{P} {}: {} {}", Name(row), Counted(calls, "call"), TEXTS[why].1)?;
        }
    }
    if settings::get().compare {
        for (row, sum, most) in rows(sum, most).filter(|row| row.1[4] > 0) {
            let differ = if sum[5] == 1 { "differs" } else { "differ" };
            writeln!(
                out,
                "{P} {} compared: {}, {} {differ}; {:.6} seconds here, {:.6} in the MPI",
                Name(row),
                Counted(sum[4], "call"),
                sum[5],
                seconds(most[6]),
                seconds(most[7])
            )?;
        }
    }
    for (flaw, &calls) in FLAWS.iter().zip(&sum[AT_FLAWS..AT_PASSED]).filter(|(_, calls)| **calls > 0) {
        let were = if calls == 1 { "was one" } else { "were ones" };
        writeln!(out, "{P} {} {were} that {} gets wrong: {}", Counted(calls, "call"), flaws::MPI, flaw.text)?;
    }
    Ok(())
}

/// Writes the schedules of process 0.
pub fn write_schedules(out: &mut String) -> fmt::Result {
    for (line, communicators) in schedules::kept() {
        writeln!(out, "{P} {} of process 0: {line}", Counted(communicators, "communicator"))?;
    }
    Ok(())
}

/// Writes the line of a launch: fields `key=value` with spaces between them, as docs/preload.md
/// says.
pub fn write_line(out: &mut dyn fmt::Write, program: &str, sum: &[u64], scope: &Scope) -> fmt::Result {
    let all = || rows(sum, sum);
    let (taken, bytes): (u64, u64) = (all().map(|r| r.1[0]).sum(), all().map(|r| r.1[2]).sum());
    let passed: u64 = passed_on(sum).map(|p| p.2).sum();
    write!(out, "mpix-neighbor-preload=1 program={program}")?;
    match *scope {
        Scope::Launch { processes } => write!(out, " end=finalize processes={processes}")?,
        Scope::Process { rank, how, name } => {
            let end = match (how, name) {
                (_, name) if !name.is_empty() => name,
                ("MPI_Abort", _) => "abort",
                _ => "exit",
            };
            write!(out, " end={end} process={rank}")?;
        }
    }
    write!(out, " taken={taken} bytes={bytes} passed={passed}")?;
    for (row, columns, _) in all() {
        write!(out, " taken.{}={}", Name(row), columns[0])?;
    }
    for (row, why, calls) in passed_on(sum) {
        write!(out, " passed.{}.{}={calls}", Name(row), TEXTS[why].0)?;
    }
    out.write_char('\n')
}
