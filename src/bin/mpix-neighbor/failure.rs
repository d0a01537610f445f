//! Why a command fails.

use std::io::Write;

/// The reason for a failure.
#[derive(Debug)]
pub enum Failure {
    /// An invalid command line.
    Usage(String),
    /// Invalid input, or a file that cannot be read or written.
    Run(String),
}

impl From<String> for Failure {
    fn from(text: String) -> Failure {
        Failure::Run(text)
    }
}

/// Converts the result of writing to standard output; a closed pipe is not a failure.
pub fn unless_nobody_reads(written: std::io::Result<()>) -> Result<(), Failure> {
    match written {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::Run(format!("standard output: {e}"))),
        _ => Ok(()),
    }
}

/// Writes to standard output. A closed pipe is not a failure.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    unless_nobody_reads(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}
