//! Input graphs: read from a file or made by a generator, as the command line says.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::failure::Failure;
use crate::generator::Generator;
use crate::problem::Problem;
use crate::readers::{self, MAX_PROCESSES, Owners};
use crate::text::{input_name, is_standard_input, printable, read};

/// Formats of files.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// `source target [weight]` on each line
    Edges,
    /// Matrix Market: the halo of a sparse matrix-vector product
    Mtx,
    /// METIS graph: the halo of a mesh
    Metis,
}

/// The options that say which graph.
#[derive(Args)]
pub struct Source {
    /// Graph: edge list, Matrix Market matrix (.mtx) or METIS graph (.graph, .metis), also
    /// compressed by gzip; - is standard input
    #[arg(required_unless_present = "generate", conflicts_with = "generate")]
    file: Option<PathBuf>,

    /// Generate the graph: grid:8x8x4 (8p: periodic; grid:8x8,box: also across corners),
    /// regular:N,D, irregpc1:D, irregpc2, airfoil:POINTS, star:N,
    /// circular:4x8, horizontal:4x8, vertical:4x8
    #[arg(long, value_name = "SPEC")]
    generate: Option<Generator>,

    /// From which generators and algorithms draw
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Format of the file [default: by its name]
    #[arg(long, conflicts_with = "generate")]
    format: Option<Format>,

    /// Number of processes: rows are dealt out in so many blocks
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_PROCESSES)), conflicts_with = "generate")]
    ranks: Option<u32>,

    /// Which process has which row or vertex: a number on each line, as METIS writes them; - is
    /// standard input
    #[arg(long, value_name = "FILE", conflicts_with = "generate")]
    partition: Option<PathBuf>,
}

impl Source {
    /// From what is drawn at random.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Reads or makes the graph.
    pub fn problem(&self) -> Result<Problem, Failure> {
        if let Some(generator) = &self.generate {
            return Ok(generator.make(self.seed));
        }
        let Some(file) = &self.file else {
            return Err(Failure::Usage("neither a file nor --generate is given".into()));
        };
        let plain = if file.extension().is_some_and(|e| e == "gz") { file.with_extension("") } else { file.clone() };
        let by_name = match plain.extension().and_then(|e| e.to_str()) {
            Some("mtx") => Format::Mtx,
            Some("graph" | "metis") => Format::Metis,
            _ => Format::Edges,
        };
        let format = self.format.unwrap_or(by_name);
        let name = input_name(file);
        let text = read(file)?;
        let pattern = match format {
            Format::Edges if self.partition.is_some() => {
                return Err(Failure::Usage("--partition is for matrices and meshes; an edge list names processes".into()));
            }
            Format::Edges => {
                let (graph, to_themselves) = readers::edge_list(&name, &text, self.ranks)?;
                let left_out = match to_themselves {
                    0 => String::new(),
                    1 => ", 1 edge of a process to itself left out".into(),
                    n => format!(", {n} edges of a process to itself left out"),
                };
                return Ok(Problem::new(short(file) + &left_out, graph));
            }
            Format::Mtx => readers::matrix_market(&name, &text)?,
            Format::Metis => readers::metis(&name, &text)?,
        };
        let (owners, how) = match (&self.partition, self.ranks) {
            (Some(_), _) if pattern.rows != pattern.columns => {
                return Err(Failure::Run(format!(
                    "{name}: --partition needs a square matrix, not {} x {}",
                    pattern.rows, pattern.columns
                )));
            }
            (Some(file), ranks) => {
                let parts = readers::partition(&input_name(file), &read(file)?, pattern.rows)?;
                let needed = parts.iter().max().map_or(1, |p| p + 1);
                if ranks.is_some_and(|r| r < needed) {
                    let file = input_name(file);
                    return Err(Failure::Run(format!("{file}: has part {}, but --ranks is {}", needed - 1, ranks.unwrap_or(0))));
                }
                (Owners::Parts(parts, ranks.unwrap_or(needed)), format!("parts of {}", short(file)))
            }
            (None, Some(ranks)) => (Owners::Blocks(ranks), format!("{ranks} blocks of rows")),
            (None, None) => return Err(Failure::Usage("a matrix or mesh needs --ranks or --partition".into())),
        };
        let graph = readers::halo(&pattern, &owners).map_err(|e| format!("{name}: {e}"))?;
        Ok(Problem::new(format!("{}, {how}", short(file)), graph))
    }
}

/// The name of a file without its directory.
fn short(file: &Path) -> String {
    match file.file_name() {
        Some(name) if !is_standard_input(file) => printable(&name.to_string_lossy()),
        _ => input_name(file),
    }
}
