//! `mpix-neighbor completions` and `mpix-neighbor man`: shell completions and manual pages,
//! generated from the definition of the command line, so that they are always up to date.

use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;

use crate::failure::Failure;
use crate::text::printable;

/// Print a completion script for a shell
#[derive(Args)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

/// Write man pages, mpix-neighbor.1 and one for each command, into a directory
#[derive(Args)]
pub struct Man {
    /// The directory, which is made if it is not there
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

/// The completion script.
pub fn completions(arguments: &Completions, mut command: Command) -> Result<String, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "mpix-neighbor", &mut script);
    String::from_utf8(script).map_err(|e| Failure::Run(e.to_string()))
}

/// Writes the man pages; prints nothing.
pub fn man(arguments: &Man, command: Command) -> Result<String, Failure> {
    let directory = &arguments.directory;
    let failed = |e: std::io::Error| Failure::Run(format!("{}: {e}", printable(&directory.display().to_string())));
    std::fs::create_dir_all(directory).map_err(failed)?;
    clap_mangen::generate_to(command.disable_help_subcommand(true), directory).map_err(failed)?;
    Ok(String::new())
}
