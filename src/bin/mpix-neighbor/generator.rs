//! Generators by name, as given on the command line.

use std::fmt;
use std::str::FromStr;

use mpix_neighbor::model::generate::{self, Pattern, Stencil};
use mpix_neighbor::topology::cartesian::Grid;
use mpix_neighbor::topology::graph::Graph;
use mpix_neighbor::topology::neighborhood::{Neighbor, Neighborhood};
use mpix_neighbor::util::cast::to_u32;

use crate::problem::Problem;
use crate::readers::MAX_PROCESSES;

/// Maximum number of edges that a generator may be asked for. All algorithms together take about
/// 300 bytes for each: 10 GB.
const MAX_EDGES: u64 = 1 << 25;

/// Weight of a heavy edge of [`Generator::Pattern`]; a light one has weight 1.
const HEAVY: u32 = 100;

/// A generator and its parameters, all in range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Generator {
    /// A grid: number of processes and periodicity of each dimension; with `true`, also with
    /// neighbors across edges and corners.
    Grid(Vec<(u32, bool)>, bool),
    /// Number of processes, and in- and out-degree of each.
    Regular(u32, u32),
    /// IrregPC's first test set, with this degree and number of processes.
    IrregPc1(u32, u32),
    /// IrregPC's second test set.
    IrregPc2,
    /// Like IrregPC's third test set: a mesh with this number of points and parts.
    Airfoil(u32, u32),
    /// SparseColl's irregular exchange on a periodic grid with this number of rows and columns.
    Pattern(Pattern, [u32; 2]),
    /// This many processes, of which the first sends to each of the others.
    Star(u32),
}

impl FromStr for Generator {
    type Err = String;

    fn from_str(text: &str) -> Result<Generator, String> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let words: Vec<&str> = if rest.is_empty() { Vec::new() } else { rest.split(',').collect() };
        // exactly the numbers that the generator takes; `optional` is the default of the last one
        let numbers = |form: &str, count: usize, optional: Option<u32>| -> Result<Vec<u32>, String> {
            let wrong = || format!("'{text}' is not of the form {form} with whole numbers from 1 on");
            let mut numbers = (words.iter().map(|w| w.parse::<u32>().ok().filter(|&n| n > 0)))
                .collect::<Option<Vec<u32>>>()
                .ok_or_else(wrong)?;
            if numbers.len() + 1 == count {
                numbers.extend(optional);
            }
            if numbers.len() == count { Ok(numbers) } else { Err(wrong()) }
        };
        let generator = match name {
            "grid" => {
                let full = words.get(1) == Some(&"box");
                if words.is_empty() || words.len() > 1 + usize::from(full) {
                    return Err(format!("'{text}' is not of the form grid:8x8px4 or grid:8x8,box"));
                }
                let dimension = |word: &str| {
                    let (digits, periodic) = word.strip_suffix('p').map_or((word, false), |digits| (digits, true));
                    let n = digits.parse::<u32>().ok().filter(|&n| n > 0);
                    n.map(|n| (n, periodic))
                        .ok_or_else(|| format!("'{word}' in '{text}' is not a number of processes, p behind it for periodic"))
                };
                Generator::Grid(words[0].split('x').map(dimension).collect::<Result<_, _>>()?, full)
            }
            "regular" => {
                let n = numbers("regular:N,D", 2, None)?;
                Generator::Regular(n[0], n[1])
            }
            "irregpc1" => {
                let n = numbers("irregpc1:D or irregpc1:D,N", 2, Some(32))?;
                Generator::IrregPc1(n[0], n[1])
            }
            "irregpc2" => {
                numbers("irregpc2", 0, None)?;
                Generator::IrregPc2
            }
            "airfoil" => {
                let n = numbers("airfoil:POINTS or airfoil:POINTS,PARTS", 2, Some(32))?;
                Generator::Airfoil(n[0], n[1])
            }
            "star" => Generator::Star(numbers("star:N", 1, None)?[0]),
            _ if let Some((_, pattern)) = Pattern::ALL.iter().find(|p| p.0 == name) => {
                let (rows, columns) = rest.split_once('x').unwrap_or((rest, rest));
                let side = |word: &str| word.parse::<u32>().ok().filter(|&n| n > 0);
                let sides =
                    side(rows).zip(side(columns)).ok_or_else(|| format!("'{text}' is not of the form {name}:4 or {name}:4x8"))?;
                Generator::Pattern(*pattern, sides.into())
            }
            _ => {
                return Err(format!(
                    "there is no generator '{name}', but grid, regular, irregpc1, irregpc2, airfoil, circular, horizontal, vertical and star"
                ));
            }
        };
        generator.check()?;
        Ok(generator)
    }
}

impl fmt::Display for Generator {
    /// In the format that `FromStr` reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Generator::Grid(dims, full) => {
                let dims: Vec<String> =
                    dims.iter().map(|(n, periodic)| format!("{n}{}", if *periodic { "p" } else { "" })).collect();
                write!(f, "grid:{}{}", dims.join("x"), if *full { ",box" } else { "" })
            }
            Generator::Regular(n, d) => write!(f, "regular:{n},{d}"),
            Generator::IrregPc1(d, n) => write!(f, "irregpc1:{d},{n}"),
            Generator::IrregPc2 => f.write_str("irregpc2"),
            Generator::Airfoil(points, parts) => write!(f, "airfoil:{points},{parts}"),
            Generator::Pattern(pattern, [rows, columns]) => {
                let name = Pattern::ALL.iter().find(|p| p.1 == *pattern).map_or("", |p| p.0);
                write!(f, "{name}:{rows}x{columns}")
            }
            Generator::Star(n) => write!(f, "star:{n}"),
        }
    }
}

impl Generator {
    /// Rejects contradictory parameters, and those that need an unreasonable amount of memory.
    fn check(&self) -> Result<(), String> {
        let (processes, degree) = match self {
            Generator::Grid(dims, full) => {
                let degree = if *full { 3u64.saturating_pow(to_u32(dims.len())) } else { 2 * dims.len() as u64 };
                (dims.iter().fold(1u64, |product, d| product.saturating_mul(u64::from(d.0))), degree)
            }
            Generator::Regular(n, d) | Generator::IrregPc1(d, n) => {
                if d >= n {
                    return Err(format!("{n} processes cannot have {d} different neighbors each"));
                }
                (u64::from(*n), u64::from(*d))
            }
            Generator::IrregPc2 => (32, 16),
            Generator::Star(n) => (u64::from(*n), 1),
            Generator::Airfoil(points, parts) => {
                if parts > points {
                    return Err(format!("{points} points are too few for {parts} parts"));
                }
                // the points determine the memory
                (u64::from(*parts), u64::from(*points).div_ceil(u64::from(*parts)) * 16)
            }
            Generator::Pattern(_, [rows, columns]) => {
                if rows % 2 == 1 || columns % 2 == 1 {
                    return Err(format!("of {rows} rows and {columns} columns one number is not even"));
                }
                (u64::from(*rows) * u64::from(*columns), 4)
            }
        };
        if processes > u64::from(MAX_PROCESSES) {
            return Err(format!("{processes} processes are more than {MAX_PROCESSES}"));
        }
        match processes.saturating_mul(degree) {
            edges if edges > MAX_EDGES => {
                Err(format!("'{self}' has more than {MAX_EDGES} edges or points, which take about 300 bytes each"))
            }
            _ => Ok(()),
        }
    }

    /// Makes the graph.
    pub fn make(&self, seed: u64) -> Problem {
        let graph = match *self {
            Generator::Grid(ref dims, full) => {
                let (sizes, periodic): (Vec<u32>, Vec<bool>) = dims.iter().copied().unzip();
                if !full {
                    return self.on_grid(&Grid::new(sizes, periodic), |_, _| 1);
                }
                let graph = generate::grid(&sizes, &periodic, Stencil::Box, None);
                return Problem { grid: Some(Grid::new(sizes, periodic)), ..Problem::new(self.to_string(), graph) };
            }
            Generator::Regular(n, d) => generate::random_regular(n, d, seed),
            Generator::IrregPc1(d, n) => generate::irregpc_uniform(n, d, seed),
            Generator::IrregPc2 => generate::irregpc_skewed(seed),
            Generator::Airfoil(points, parts) => generate::airfoil(points, parts, seed),
            Generator::Star(n) => Graph::from_edges(n, &(1..n).map(|to| (0, to, 1)).collect::<Vec<_>>()),
            Generator::Pattern(pattern, sides) => {
                let weight = |coords: &[u32], direction| pattern.weight(coords, direction, HEAVY);
                return self.on_grid(&Grid::new(sides.to_vec(), vec![true; 2]), weight);
            }
        };
        Problem::new(self.to_string(), graph)
    }

    /// A grid with weights given by `weight`, called with the source's coordinates and the
    /// direction.
    fn on_grid(&self, grid: &Grid, weight: impl Fn(&[u32], u32) -> u32) -> Problem {
        let world: Vec<Neighborhood> = (0..grid.size())
            .map(|p| {
                let plain = grid.neighborhood(p);
                let weigh = |n: &Neighbor, source| match source {
                    Some(source) => Neighbor { weight: weight(&grid.coords(source), n.direction), ..*n },
                    None => *n,
                };
                let sources = plain.sources().iter().map(|n| weigh(n, n.rank)).collect();
                let targets = plain.targets().iter().map(|n| weigh(n, n.rank.map(|_| p))).collect();
                Neighborhood::new(p, sources, targets, true)
            })
            .collect();
        let mut heaviest: Vec<Option<u32>> = vec![None; 2 * grid.dimensions()];
        for n in &world {
            for (heaviest, weight) in heaviest.iter_mut().zip(n.direction_weights(grid.dimensions())) {
                *heaviest = (*heaviest).max(weight);
            }
        }
        let mut directions: Vec<u32> = (0..to_u32(heaviest.len())).filter(|&d| heaviest[d as usize].is_some()).collect();
        directions.sort_by_key(|&d| std::cmp::Reverse(heaviest[d as usize]));
        Problem {
            name: self.to_string(),
            graph: Graph::from_neighborhoods(&world),
            world,
            directions: Some(directions),
            grid: Some(grid.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written() {
        for text in [
            "grid:8x8px4",
            "grid:3x3,box",
            "regular:64,6",
            "irregpc1:8,32",
            "irregpc2",
            "airfoil:2800,32",
            "circular:4x4",
            "horizontal:2x4",
            "vertical:4x8",
            "star:9",
        ] {
            assert_eq!(text.parse::<Generator>().unwrap().to_string(), text);
        }
        assert_eq!("irregpc1:8".parse(), Ok(Generator::IrregPc1(8, 32)));
        assert_eq!("circular:4".parse(), Ok(Generator::Pattern(Pattern::Circular, [4, 4])));
        assert_eq!("airfoil:2800".parse(), Ok(Generator::Airfoil(2800, 32)));
    }

    #[test]
    fn wrong_ones_are_refused() {
        for text in [
            "",
            "grid",
            "grid:",
            "grid:0x4",
            "grid:4xx4",
            "grid:4x-4",
            "grid:4,bx",
            "grid:4,box,1",
            "grid:65536x65536",
            "grid:4294967295x4294967295x4294967295",
            "regular:8",
            "regular:8,8",
            "regular:0,0",
            "regular:8,2,1",
            "regular:4000000,3999999",
            "irregpc1:",
            "irregpc1:32",
            "irregpc2:1",
            "airfoil:10",
            "airfoil:4294967295",
            "circular:3",
            "circular:4000000",
            "horizontal:x",
            "horizontal:4x",
            "vertical:4x3",
            "vertical:4x4x4",
            "star:0",
            "star:4,2",
            "tree:4",
        ] {
            let error = text.parse::<Generator>().unwrap_err();
            assert!(!error.is_empty(), "{text}");
        }
        // as many dimensions as a line can hold
        assert!(format!("grid:1{},box", "x1".repeat(200)).parse::<Generator>().is_err());
    }

    #[test]
    fn grids_have_matching_lists_and_directions() {
        for text in ["grid:3x1px4", "circular:4", "circular:2", "horizontal:4", "vertical:2x4"] {
            let problem = text.parse::<Generator>().unwrap().make(1);
            let sum = problem
                .world
                .iter()
                .map(Neighborhood::fingerprint)
                .fold([0u64; 2], |a, b| [a[0].wrapping_add(b[0]), a[1].wrapping_add(b[1])]);
            assert_eq!(sum, [0, 0], "{text}");
            // both ends of an edge have the same weight
            let arriving: u64 = problem
                .world
                .iter()
                .flat_map(|n| n.sources().iter().filter(|s| s.rank.is_some_and(|r| r != n.rank())))
                .map(|s| u64::from(s.weight))
                .sum();
            assert_eq!(arriving, problem.graph.loads().0.iter().sum::<u64>(), "{text}");
        }
        let problem = "vertical:4x8".parse::<Generator>().unwrap().make(1);
        assert_eq!(problem.directions.unwrap(), [2, 3, 0, 1]);
    }

    /// SparseColl: every process sends and receives two heavy and two light messages.
    #[test]
    fn heavy_edges() {
        for text in ["circular:4x8", "horizontal:6", "vertical:2x4"] {
            let (out, into) = text.parse::<Generator>().unwrap().make(1).graph.loads();
            assert!(out.iter().chain(&into).all(|&l| l == u64::from(2 * HEAVY + 2)), "{text}");
        }
    }
}
