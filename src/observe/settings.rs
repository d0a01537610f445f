//! The environment variables that switch on statistics and the trace.

use std::path::PathBuf;

use crate::util::say::say;

/// Environment variable: the file for statistics, or `1` for standard error.
pub const STATS: &str = "MPIX_NEIGHBOR_STATS";
/// Environment variable: the file for the trace.
pub const TRACE: &str = "MPIX_NEIGHBOR_TRACE";

/// The settings in the environment. Only this code reads the variables.
pub struct Settings {
    /// Where statistics go; `None`: they are not counted.
    pub stats: Option<Output>,
    /// The file for the trace; `None`: there is none.
    pub trace: Option<PathBuf>,
}

/// Where statistics go.
#[derive(Debug, Clone)]
pub enum Output {
    /// To standard error.
    Stderr,
    /// Appended to a file.
    File(PathBuf),
}

impl Settings {
    /// Reads the settings, by a function that reads a variable.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Settings {
        let stats = match variable(STATS).as_deref().map(str::trim) {
            None | Some("" | "0" | "off" | "no" | "false") => None,
            Some("1" | "on" | "yes" | "true" | "stderr") => Some(Output::Stderr),
            Some(file) => Some(Output::File(absolute(file))),
        };
        let trace = variable(TRACE).map(|file| file.trim().to_owned());
        let trace = trace.filter(|file| !matches!(&file[..], "" | "0" | "off" | "no" | "false"));
        Settings { stats, trace: trace.as_deref().map(absolute) }
    }
}

/// The file of that name also where the program has changed its folder meanwhile.
fn absolute(file: &str) -> PathBuf {
    std::path::absolute(file).unwrap_or_else(|_| file.into())
}

/// Prints a line.
pub fn complain(text: &str) {
    say(&format!("mpix-neighbor: {text}\n"));
}
