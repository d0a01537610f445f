//! `mpix-neighbor info`: the facts that decide how the library works on this machine, for reports
//! of problems: the build, the files that it reads by itself, environment variables, and the
//! system's permissions and limits for shared memory; then a self-test.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use clap::Args;
use mpix_neighbor::environment::{names, text as file_text, variable};
use mpix_neighbor::model::copies::{NEVER, Node};
use mpix_neighbor::model::kept::rounded;
use mpix_neighbor::model::{FileError, Loggp};
use mpix_neighbor::select::hints::{kept_folder, loggp_path, site_loggp, unknown};
use rustix::fs::{MemfdFlags, memfd_create, statvfs};

use crate::failure::{Failure, print};
use crate::parameters::Parameters;
use crate::selftest;
use crate::text::printable;

/// Print the facts that a report of a problem needs: the build, files that are read, environment
/// variables, permissions and limits of the system; then test what works here: mpirun -n 2
/// mpix-neighbor info
#[derive(Args)]
pub struct Arguments {}

/// The lines about one subject, as name and value.
struct Section {
    title: &'static str,
    lines: Vec<(String, String)>,
}

/// Prints the report, and returns the self-test of the process that prints.
pub fn run(_: &Arguments) -> Result<String, Failure> {
    // other processes have the same to say. Launchers tell the rank before MPI does
    let first = ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"].iter().find_map(|name| variable(name));
    if first.is_none_or(|rank| rank == "0") {
        let mut out = String::new();
        for section in [build(), machine(), files(), environment(), shared_memory()] {
            out += &section.text();
            out.push('\n');
        }
        // a broken MPI may end the process in the test
        print(&out)?;
    }
    self_test()
}

/// Runs the checks. Where one fails, prints what it found.
#[cfg(not(feature = "mpi"))]
fn self_test() -> Result<String, Failure> {
    verdict(vec![("schedules", selftest::schedules())])
}

/// Runs the checks; collective over all processes of the launcher. The process where one fails
/// prints what it found.
#[cfg(feature = "mpi")]
fn self_test() -> Result<String, Failure> {
    use mpix_neighbor::measure::session::Session;
    let session = Session::init().map_err(|e| format!("MPI cannot be initialized: {e}"))?;
    let mut checks = vec![("schedules", selftest::schedules())];
    checks.extend(selftest::exchanges(&session));
    let holds = checks.iter().all(|(_, outcome)| outcome.is_ok());
    let all = session.least(holds.into()).map_err(|e| e.to_string())? == 1;
    match (holds, session.rank()) {
        (true, 0) if !all => Err("the self-test failed on another process".to_owned().into()),
        (true, 1..) => Ok(String::new()),
        _ => verdict(checks),
    }
}

/// The section of the self-test; where a check has failed, prints it, and returns an error.
fn verdict(checks: Vec<(&'static str, selftest::Outcome)>) -> Result<String, Failure> {
    let (holds, text) = outcomes(checks);
    if holds {
        return Ok(text);
    }
    print(&text)?;
    Err("the self-test failed: its lines with FAILED say why".to_owned().into())
}

/// The section of the self-test, and whether all checks hold.
fn outcomes(checks: Vec<(&'static str, selftest::Outcome)>) -> (bool, String) {
    let holds = checks.iter().all(|(_, outcome)| outcome.is_ok());
    let lines = checks.into_iter().map(|(what, outcome)| (what, outcome.unwrap_or_else(|why| format!("FAILED: {why}"))));
    let text = section("Self-test", lines).text();
    (holds, text + if holds { "  passed\n" } else { "  failed\n" })
}

impl Section {
    fn text(&self) -> String {
        let mut out = format!("{}:\n", self.title);
        for (what, value) in &self.lines {
            writeln!(out, "  {}: {}", printable(what), printable(value)).unwrap();
        }
        if self.lines.is_empty() {
            out += "  none\n";
        }
        out
    }
}

fn section<K: Into<String>, V: Into<String>>(title: &'static str, lines: impl IntoIterator<Item = (K, V)>) -> Section {
    Section { title, lines: lines.into_iter().map(|(what, value)| (what.into(), value.into())).collect() }
}

fn build() -> Section {
    let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
    let features = if cfg!(feature = "mpi") { "mpi, tool" } else { "tool" };
    let mut lines = vec![
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ("profile", profile.to_owned()),
        ("features", features.to_owned()),
    ];
    #[cfg(feature = "mpi")]
    {
        let (built_for, running) = mpix_neighbor::measure::libraries();
        lines.extend([("built for", built_for), ("MPI that is loaded", running)]);
    }
    #[cfg(not(feature = "mpi"))]
    lines.push(("built for", "no MPI (`make tool-mpi` builds the tool for one)".to_owned()));
    section("Build", lines)
}

fn machine() -> Section {
    let cores = std::thread::available_parallelism().map_or_else(|e| e.to_string(), |n| n.to_string());
    let system = [std::env::consts::OS, &of_kernel("/proc/sys/kernel/osrelease"), std::env::consts::ARCH].join(" ");
    let online = of_kernel("/sys/devices/system/cpu/online");
    section("Machine", [("system", system), ("cores online", online), ("cores for this process", cores)])
}

/// The text of a file of the kernel, or why it cannot be read.
fn of_kernel(path: &str) -> String {
    fs::read_to_string(path).map_or_else(|e| format!("unknown ({e})"), |text| text.trim().to_owned())
}

/// The files that the library reads without being told to.
fn files() -> Section {
    let nowhere = || "nowhere, as neither HOME nor XDG_* is set".to_owned();
    let shown = |path: &Path| path.display().to_string();
    let site = match site_loggp(variable, file_text) {
        Ok(Some(machine)) => parameters(&machine),
        // a file that cannot be read is not looked at
        Ok(None) => loggp_path(variable).and_then(|path| file_text(&path).err()).map_or("not there".into(), |e| absent(&e)),
        Err(e) => e.to_string(),
    };
    let named = variable("MPIX_LOGGP_FILE").or_else(|| Some(shown(&loggp_path(variable)?)));
    let mut lines = vec![(format!("LogGP parameters, {}", named.unwrap_or_else(nowhere)), site)];
    let Some(folder) = kept_folder(variable) else {
        lines.push(("measured by set calls".into(), nowhere()));
        return section("Files", lines);
    };
    let node = Node::new(&of_kernel("/proc/sys/kernel/hostname"));
    let copies = folder.join(node.file());
    let single = match file_text(&copies) {
        Ok(text) => {
            let said = |from| if from == NEVER { "never".into() } else { format!("from {from} bytes on") };
            node.read(&text).map_or_else(|why| format!("does not count: {why}"), said)
        }
        Err(e) => absent(&e),
    };
    lines.push((format!("single copies, {}", shown(&copies)), single));
    let kinds = [("LogGP parameters", "loggp-", parameters_in as fn(&str) -> String), ("Times of puts", "puts-", times_in)];
    for (what, kind, values) in kinds {
        // beside them may lie what a writer that was killed has left
        let counts = |name: &str| name.strip_prefix(kind).is_some_and(|number| number.parse::<u64>().is_ok());
        let mut measured: Vec<_> = (fs::read_dir(&folder).into_iter().flatten().flatten())
            .filter(|entry| entry.file_name().to_str().is_some_and(counts))
            .map(|entry| entry.path())
            .collect();
        measured.sort();
        if measured.is_empty() {
            lines.push((format!("{what} measured by set calls, {}", shown(&folder)), "not there".into()));
        }
        for path in measured {
            let value = file_text(&path).map_or_else(|e| absent(&e), |text| format!("{} ({})", values(&text), place(&text)));
            lines.push((format!("{what} measured by set calls, {}", shown(&path)), value));
        }
    }
    section("Files", lines)
}

fn absent(error: &std::io::Error) -> String {
    if error.kind() == std::io::ErrorKind::NotFound { "not there".into() } else { error.to_string() }
}

/// The MPI and nodes for which a file of measured values holds.
fn place(text: &str) -> String {
    let kept = |comment: &&str| ["mpi: ", "nodes: ", "puts: "].iter().any(|key| comment.starts_with(key));
    text.lines().filter_map(|line| line.strip_prefix("# ")).filter(kept).collect::<Vec<_>>().join("; ")
}

/// The parameters in a file of measured ones.
fn parameters_in(text: &str) -> String {
    text.parse().map_or_else(|e: FileError| e.without_content(), |machine| parameters(&machine))
}

/// The times in a file of those of puts: of 1 message, of 4, of a put, of one to where it is
/// received, for several numbers of bytes.
fn times_in(text: &str) -> String {
    let times: Vec<&str> = text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())).collect();
    format!("bytes = microseconds: {}", times.join("; "))
}

fn parameters(machine: &Loggp) -> String {
    Parameters::new("LogGP", &rounded(machine)).to_string()
}

/// The library's variables, those that look as if they were meant for it, and what is preloaded.
fn environment() -> Section {
    let mut names: Vec<String> = names();
    names.retain(|name| name == "LD_PRELOAD" || name.starts_with("MPIX_") || unknown::variable(name).is_some());
    names.sort();
    section(
        "Environment",
        names.iter().map(|name| {
            let value = variable(name).unwrap_or_default();
            let warning = unknown::variable(name).map_or(String::new(), |warning| format!(" ({warning})"));
            (name.clone(), value + &warning)
        }),
    )
}

/// Tells if the system permits processes of a node to share memory, and to read each other's.
fn shared_memory() -> Section {
    let anonymous = memfd_create(c"mpix-neighbor", MemfdFlags::CLOEXEC).map_or_else(|e| e.to_string(), |_| "permitted".into());
    let room = statvfs(c"/dev/shm").map_or_else(
        |e| e.to_string(),
        |s| {
            format!("{} of {} MiB free", s.f_bavail.saturating_mul(s.f_frsize) >> 20, s.f_blocks.saturating_mul(s.f_frsize) >> 20)
        },
    );
    let scope = match fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").as_deref().map(str::trim) {
        Ok("0") | Err(_) => "any process of the user (no ptrace_scope, or 0)".into(),
        Ok(scope) => format!("not that of other processes (ptrace_scope {scope}): no single copies"),
    };
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let filter = match status.lines().find_map(|line| line.strip_prefix("Seccomp:")).map(str::trim) {
        Some("0") => "none",
        Some(_) => "yes (seccomp), as in containers: it may forbid single copies",
        None => "unknown",
    };
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let limit = |name: &str| {
        let values = limits.lines().find_map(|line| line.strip_prefix(name));
        values.and_then(|values| values.split_whitespace().next()).unwrap_or("unknown").to_owned()
    };
    section(
        "Shared memory",
        [
            ("memory without a name (memfd_create)", anonymous),
            ("/dev/shm", room),
            ("memory that may be read", scope),
            ("filter of system calls", filter.into()),
            ("bytes of a file (ulimit -f)", limit("Max file size")),
            ("open files (ulimit -n)", limit("Max open files")),
            ("bytes of address space (ulimit -v)", limit("Max address space")),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each check has a line of its own, also where one fails.
    #[test]
    fn a_failed_check_is_told_in_lines() {
        let checks = |second: selftest::Outcome| vec![("one", Ok("fine".to_owned())), ("other", second)];
        assert_eq!(outcomes(checks(Ok("fine".into()))), (true, "Self-test:\n  one: fine\n  other: fine\n  passed\n".into()));
        let failed = "Self-test:\n  one: fine\n  other: FAILED: bad\n  failed\n";
        assert_eq!(outcomes(checks(Err("bad".into()))), (false, failed.into()));
    }
}
