//! `mpix-neighbor`: predicts the cost of schedules for a graph of messages and of protocols for
//! sparse exchanges, without MPI; if built for an MPI library, it also measures the machine's
//! parameters.
//!
//! `schedule` takes a graph from a file or a generator and shows the schedule of each algorithm;
//! `compare` compares the algorithms for general graphs on the test sets of IrregPC;
//! `docs/schedules.md` explains the figures. `sparse` predicts the times of the protocols for
//! dynamic sparse data exchange (`docs/sparse-model.md`). Under an MPI launcher, `sparse --compare`
//! also measures them, and `loggp` measures the LogGP parameters. `plot` draws tables of times that
//! the examples print. `info` prints the facts that a
//! report of a problem needs. `completions` and `man` write shell completions and manual pages.

#![deny(unsafe_code)]

mod chart;
mod compare;
mod curves;
mod export;
mod failure;
mod generator;
mod info;
mod input;
mod loggp;
mod matchings;
mod measured;
mod output;
mod pages;
mod parameters;
#[cfg(any(test, feature = "mpi"))]
mod plot;
mod plot_tables;
mod ports;
mod problem;
mod readers;
mod schedule;
mod selftest;
mod sparse;
mod svg;
mod table;
mod text;
mod timing;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use failure::{Failure, print};
use mpix_neighbor::util::say::say;

/// Predicts the costs of schedules for a graph of messages, and of protocols for sparse exchanges.
#[derive(Parser)]
#[command(name = "mpix-neighbor", version, about, max_term_width = 120)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Schedule(schedule::Arguments),
    Compare(compare::Arguments),
    Sparse(sparse::Arguments),
    Loggp(loggp::Arguments),
    Plot(plot_tables::Arguments),
    Info(info::Arguments),
    Completions(pages::Completions),
    Man(pages::Man),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Schedule(arguments) => schedule::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Sparse(arguments) if arguments.compare => measured::run(&arguments),
        Command::Sparse(arguments) => sparse::run(&arguments),
        Command::Loggp(arguments) => loggp::run(&arguments),
        Command::Plot(arguments) => plot_tables::run(&arguments),
        Command::Info(arguments) => info::run(&arguments),
        Command::Completions(arguments) => pages::completions(&arguments, Arguments::command()),
        Command::Man(arguments) => pages::man(&arguments, Arguments::command()),
    };
    let (code, text) = match done.and_then(|text| print(&text)) {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Failure::Usage(text)) => (2, text),
        Err(Failure::Run(text)) => (1, text),
    };
    say(&format!("error: {}\n", text::printable(&text)));
    ExitCode::from(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
