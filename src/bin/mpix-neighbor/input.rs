//! Inputs as the command line gives them, for all commands: graphs, read from a file or made by a
//! generator; parameters of a machine; nodes; numbers of bytes.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use mpix_neighbor::model::loggp::PRESETS;
use mpix_neighbor::model::{FileError, Loggp};
use mpix_neighbor::schedule::Tuning;
use mpix_neighbor::topology::nodes::{Locality, Placement};
use mpix_neighbor::util::cast::to_u32;

use crate::failure::Failure;
use crate::generator::Generator;
use crate::problem::Problem;
use crate::readers::{self, MAX_PROCESSES, Owners};
use crate::text::{input_name, is_standard_input, printable, read, shown};

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

/// How much is done to find a good schedule.
#[derive(Args)]
pub struct Search {
    /// Elementary steps that an algorithm's search may take, about 10^9 a second
    #[arg(long, value_name = "STEPS", default_value_t = Tuning::default().budget)]
    pub budget: u64,
}

pub fn placement(text: &str) -> Result<Placement, String> {
    Placement::parse(text).ok_or_else(|| format!("not {}", Placement::TEXT))
}

/// The largest number of bytes that an option takes. All whole numbers up to it are exact.
const MOST_BYTES: f64 = 1e15;

/// A number of bytes, also with k, M or G behind it (powers of 1024).
pub fn bytes(text: &str) -> Result<f64, String> {
    let suffix = [('k', 1024.0), ('M', 1024.0 * 1024.0), ('G', 1024.0 * 1024.0 * 1024.0)];
    let scaled = suffix.iter().find_map(|&(letter, factor)| Some((text.strip_suffix(letter)?, factor)));
    let (digits, factor) = scaled.unwrap_or((text, 1.0));
    let number = digits.parse::<f64>().ok().map(|n| n * factor).filter(|n| (0.0..=MOST_BYTES).contains(n));
    number.ok_or_else(|| "not a number of bytes, such as 4096 or 4k, up to 10^15".into())
}

/// A time in microseconds.
pub fn microseconds(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|us| (0.0..=1e15).contains(us));
    number.ok_or_else(|| "not a number of microseconds".into())
}

/// The nodes of all processes.
pub fn locality(placement: &Placement, processes: usize) -> Result<Locality, Failure> {
    if let Placement::Listed(names) = placement
        && names.len() != processes
    {
        return Err(Failure::Usage(format!("--nodes names the nodes of {} processes, but there are {processes}", names.len())));
    }
    placement.locality(to_u32(processes)).map_err(Failure::Usage)
}

/// A preset's parameters, or a file's, as `option` names them.
pub fn model(option: &str, name: &str) -> Result<Loggp, Failure> {
    if let Some(model) = Loggp::preset(name) {
        return Ok(model);
    }
    let file = Path::new(name);
    let is_missing = |file: &Path| file.metadata().is_err_and(|e| e.kind() == std::io::ErrorKind::NotFound);
    if !is_standard_input(file) && is_missing(file) {
        let names: Vec<&str> = PRESETS.iter().map(|p| p.name).collect();
        return Err(Failure::Usage(format!("{option} {name} is neither a file nor one of {}", names.join(", "))));
    }
    let wrong = |e: FileError| {
        let e = match e {
            FileError::Form { line, text } => FileError::Form { line, text: shown(&text) },
            FileError::UnknownKey { line, key } => FileError::UnknownKey { line, key: shown(&key) },
            FileError::Value { line, key, value, wanted } => FileError::Value { line, key, value: shown(&value), wanted },
            other => other,
        };
        Failure::Run(format!("{}: {e}", input_name(file)))
    };
    read(file)?.parse().map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_bytes() {
        let read = |text| bytes(text).ok();
        assert_eq!(["0", "4096", "4k", "1.5M", "2G"].map(read), [0.0, 4096.0, 4096.0, 1_572_864.0, 2_147_483_648.0].map(Some));
        assert_eq!(["", "k", "-1", "4kk", "nan", "inf", "1e99", "1e15G"].map(read), [None; 8]);
    }
}
