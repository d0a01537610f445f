//! Readers of graphs: edge lists, Matrix Market files, METIS graph files, partition files. Pure
//! functions from text; each error names the file, the line and the defect.

use mpix_neighbor::topology::graph::Graph;
use mpix_neighbor::util::cast::to_u32;

use crate::text::shown;

/// More processes than this are taken for a mistake: tables of this many are made.
pub const MAX_PROCESSES: u32 = 1 << 22;

/// The lines of a file, with their numbers.
struct Lines<'a> {
    name: &'a str,
    lines: std::iter::Enumerate<std::str::Lines<'a>>,
    /// Number of the line that was read last, from 1.
    at: usize,
}

impl<'a> Lines<'a> {
    fn new(name: &'a str, text: &'a str) -> Self {
        Lines { name, lines: text.lines().enumerate(), at: 0 }
    }

    /// The next line that does not begin with `comment`.
    fn next(&mut self, comment: char) -> Option<&'a str> {
        let (i, line) = self.lines.find(|(_, line)| !line.trim_start().starts_with(comment))?;
        self.at = i + 1;
        Some(line)
    }

    /// The next line that is neither empty nor a comment.
    fn next_full(&mut self, comment: char) -> Option<&'a str> {
        std::iter::from_fn(|| self.next(comment)).find(|line| !line.trim().is_empty())
    }

    /// An error at the line that was read last.
    fn error(&self, what: impl std::fmt::Display) -> String {
        format!("{}:{}: {what}", self.name, self.at)
    }

    /// An error at the end of the file.
    fn end(&self, what: impl std::fmt::Display) -> String {
        format!("{}: {what}", self.name)
    }

    /// A whole number in a range.
    fn number(&self, what: &str, word: Option<&str>, range: std::ops::RangeInclusive<u64>) -> Result<u64, String> {
        let word = word.ok_or_else(|| self.error(format_args!("{what} is missing")))?;
        (word.parse::<u64>().ok().filter(|n| range.contains(n))).ok_or_else(|| {
            self.error(format_args!("{what} '{}' is not a whole number from {} to {}", shown(word), range.start(), range.end()))
        })
    }

    /// The same for a range that ends below 2^32.
    fn small(&self, what: &str, word: Option<&str>, range: std::ops::RangeInclusive<u32>) -> Result<u32, String> {
        self.number(what, word, u64::from(*range.start())..=u64::from(*range.end())).map(to_u32)
    }
}

/// `source target [weight]` on each line; `#` begins a comment. Without a weight, 1. As many
/// processes as the highest number asks for, or `ranks`, which must be enough. Also returns the
/// number of edges of a process to itself, which the graph does not have.
pub fn edge_list(name: &str, text: &str, ranks: Option<u32>) -> Result<(Graph, usize), String> {
    let highest = ranks.unwrap_or(MAX_PROCESSES) - 1;
    let mut lines = Lines::new(name, text);
    let mut edges = Vec::new();
    while let Some(line) = lines.next_full('#') {
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_whitespace();
        let source = lines.small("source", words.next(), 0..=highest)?;
        let target = lines.small("target", words.next(), 0..=highest)?;
        let weight = match words.next() {
            Some(word) => lines.small("weight", Some(word), 0..=u32::MAX)?,
            None => 1,
        };
        if let Some(word) = words.next() {
            return Err(lines.error(format_args!("'{}' behind 'source target weight'", shown(word))));
        }
        edges.push((source, target, weight));
    }
    let processes = ranks.unwrap_or_else(|| edges.iter().map(|e| e.0.max(e.1) + 1).max().unwrap_or(0));
    if processes == 0 {
        return Err(lines.end("no edges, and no number of processes is given"));
    }
    let graph = Graph::from_edges(processes, &edges);
    let to_themselves = edges.len() - graph.edges();
    Ok((graph, to_themselves))
}

/// Which process needs which items: of a sparse matrix its nonzeros, of a mesh its pairs of
/// neighboring vertices.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pattern {
    /// Number of rows.
    pub rows: u32,
    /// Number of columns: the items that are sent.
    pub columns: u32,
    /// (row, column), in any order, possibly repeated.
    pub entries: Vec<(u32, u32)>,
    /// Weight of each column; empty if each weighs 1.
    pub sizes: Vec<u32>,
}

/// A sparse matrix in Matrix Market's coordinate format. Values are not looked at: an entry that is
/// stored counts.
pub fn matrix_market(name: &str, text: &str) -> Result<Pattern, String> {
    let mut lines = Lines::new(name, text);
    let banner = text.lines().next().unwrap_or_default().to_ascii_lowercase();
    let words: Vec<&str> = banner.split_whitespace().collect();
    let [magic, object, format, field, symmetry] = words[..] else {
        return Err(format!(
            "{name}:1: not a Matrix Market file: '%%MatrixMarket matrix coordinate <field> <symmetry>' is missing"
        ));
    };
    if magic != "%%matrixmarket" || object != "matrix" {
        return Err(format!("{name}:1: '{}' does not begin with '%%MatrixMarket matrix'", shown(&banner)));
    }
    if format != "coordinate" {
        return Err(format!(
            "{name}:1: format '{}' is not 'coordinate': a dense matrix has no halo worth a schedule",
            shown(format)
        ));
    }
    let values = match field {
        "pattern" => 0,
        "real" | "integer" => 1,
        "complex" => 2,
        _ => return Err(format!("{name}:1: field '{}' is not pattern, real, integer or complex", shown(field))),
    };
    let mirrored = match symmetry {
        "general" => false,
        "symmetric" | "skew-symmetric" | "hermitian" => true,
        _ => {
            return Err(format!(
                "{name}:1: symmetry '{}' is not general, symmetric, skew-symmetric or hermitian",
                shown(symmetry)
            ));
        }
    };
    let size = lines.next_full('%').ok_or_else(|| lines.end("the line 'rows columns entries' is missing"))?;
    let mut words = size.split_whitespace();
    let rows = lines.small("number of rows", words.next(), 1..=u32::MAX)?;
    let columns = lines.small("number of columns", words.next(), 1..=u32::MAX)?;
    let count = lines.number("number of entries", words.next(), 0..=u64::MAX)?;
    if mirrored && rows != columns {
        return Err(lines.error(format_args!("{symmetry}, but {rows} x {columns}")));
    }
    let mut entries = Vec::new();
    for i in 0..count {
        let line = lines.next_full('%').ok_or_else(|| lines.end(format_args!("ends after {i} of {count} entries")))?;
        let mut words = line.split_whitespace();
        let row = lines.small("row", words.next(), 1..=rows)? - 1;
        let column = lines.small("column", words.next(), 1..=columns)? - 1;
        let rest: Vec<&str> = words.collect();
        if rest.len() != values {
            return Err(lines.error(format_args!("{} values behind row and column, not {values}", rest.len())));
        }
        if let Some(word) = rest.iter().find(|w| !is_number(w)) {
            return Err(lines.error(format_args!("'{}' is not a number", shown(word))));
        }
        entries.push((row, column));
        if mirrored && row != column {
            entries.push((column, row));
        }
    }
    if lines.next_full('%').is_some() {
        return Err(lines.error(format_args!("more than the {count} entries that the file announces")));
    }
    Ok(Pattern { rows, columns, entries, sizes: Vec::new() })
}

/// Returns true for numbers, also of Fortran: 1.0D+00.
fn is_number(word: &str) -> bool {
    word.parse::<f64>().is_ok() || word.replace(['d', 'D'], "e").parse::<f64>().is_ok()
}

/// A graph in METIS's format: `vertices edges [fmt [ncon]]`, then a line for each vertex. Sizes of
/// vertices, where the file has them, are what they weigh when they are sent.
pub fn metis(name: &str, text: &str) -> Result<Pattern, String> {
    let mut lines = Lines::new(name, text);
    let header = lines.next_full('%').ok_or_else(|| lines.end("the line 'vertices edges' is missing"))?;
    let mut words = header.split_whitespace();
    let vertices = lines.small("number of vertices", words.next(), 1..=u32::MAX)?;
    let edges = lines.number("number of edges", words.next(), 0..=u64::MAX / 2)?;
    let format = words.next().unwrap_or("0");
    if format.len() > 3 || format.chars().any(|c| c != '0' && c != '1') {
        return Err(lines.error(format_args!("format '{}' is not three digits 0 or 1", shown(format))));
    }
    let flag = |place: usize| format.len() > place && format.as_bytes()[format.len() - 1 - place] == b'1';
    let (edge_weights, vertex_weights, vertex_sizes) = (flag(0), flag(1), flag(2));
    let constraints = match words.next() {
        Some(word) => lines.number("number of weights of a vertex", Some(word), 1..=1000)?,
        None => 1,
    };
    if let Some(word) = words.next() {
        return Err(lines.error(format_args!("'{}' behind 'vertices edges fmt ncon'", shown(word))));
    }
    let mut pattern = Pattern { rows: vertices, columns: vertices, ..Pattern::default() };
    for v in 0..vertices {
        // a vertex without neighbors is an empty line
        let line = lines.next('%').ok_or_else(|| lines.end(format_args!("ends after {v} of {vertices} vertices")))?;
        let mut words = line.split_whitespace();
        if vertex_sizes {
            pattern.sizes.push(lines.small("size of the vertex", words.next(), 0..=u32::MAX)?);
        }
        for _ in 0..if vertex_weights { constraints } else { 0 } {
            lines.number("weight of the vertex", words.next(), 0..=u64::MAX)?;
        }
        while let Some(word) = words.next() {
            let neighbor = lines.small("neighbor", Some(word), 1..=vertices)? - 1;
            if edge_weights {
                lines.number("weight of the edge", words.next(), 0..=u64::MAX)?;
            }
            pattern.entries.push((v, neighbor));
        }
    }
    if lines.next_full('%').is_some() {
        return Err(lines.error(format_args!("more than the {vertices} vertices that the file announces")));
    }
    if pattern.entries.len() as u64 != 2 * edges {
        let found = pattern.entries.len();
        return Err(lines.end(format_args!("{found} neighbors are listed, not twice the {edges} edges that the file announces")));
    }
    let (mut there, mut back) = (pattern.entries.clone(), Vec::with_capacity(pattern.entries.len()));
    back.extend(pattern.entries.iter().map(|&(v, neighbor)| (neighbor, v)));
    there.sort_unstable();
    back.sort_unstable();
    if let Some(((v, neighbor), (w, other))) = there.into_iter().zip(back).find(|(a, b)| a != b) {
        // the lesser one is listed at one end alone
        let (from, to) = if (v, neighbor) < (w, other) { (v, neighbor) } else { (other, w) };
        return Err(lines.end(format_args!("vertex {} lists {}, which does not list it as often", from + 1, to + 1)));
    }
    Ok(pattern)
}

/// A part number on each line, as METIS writes them: to which process each row belongs.
pub fn partition(name: &str, text: &str, rows: u32) -> Result<Vec<u32>, String> {
    let mut lines = Lines::new(name, text);
    let mut parts = Vec::new();
    while let Some(line) = lines.next_full('#') {
        let mut words = line.split_whitespace();
        parts.push(lines.small("part", words.next(), 0..=MAX_PROCESSES - 1)?);
        if let Some(word) = words.next() {
            return Err(lines.error(format_args!("'{}' behind the part", shown(word))));
        }
    }
    if parts.len() as u64 != u64::from(rows) {
        return Err(lines.end(format_args!("{} parts for {rows} rows", parts.len())));
    }
    Ok(parts)
}

/// Which process has which rows and columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owners {
    /// So many blocks of rows that follow one another, their sizes differing by at most one;
    /// columns likewise.
    Blocks(u32),
    /// A part for each row, and that for the column of the same number; and the number of
    /// processes.
    Parts(Vec<u32>, u32),
}

impl Owners {
    fn of(&self, item: u32, items: u32) -> u32 {
        match self {
            Owners::Parts(parts, _) => parts[item as usize],
            Owners::Blocks(ranks) => {
                // the first `longer` blocks have one item more
                let (size, longer) = (items / ranks, items % ranks);
                let head = u64::from(longer) * u64::from(size + 1);
                match u64::from(item) < head {
                    true => item / (size + 1),
                    false => longer + to_u32(u64::from(item) - head) / size,
                }
            }
        }
    }

    fn processes(&self) -> u32 {
        match self {
            Owners::Blocks(ranks) => *ranks,
            Owners::Parts(_, ranks) => *ranks,
        }
    }
}

/// The messages of a matrix-vector product: each column travels once from its owner to every other
/// process whose rows have an entry in it. An edge has the weight of its columns together.
pub fn halo(pattern: &Pattern, owners: &Owners) -> Result<Graph, String> {
    // (owner of the column, process that needs it, column)
    let mut needs: Vec<(u32, u32, u32)> = (pattern.entries.iter())
        .map(|&(row, column)| (owners.of(column, pattern.columns), owners.of(row, pattern.rows), column))
        .filter(|need| need.0 != need.1)
        .collect();
    needs.sort_unstable();
    needs.dedup();
    let size = |column: u32| pattern.sizes.get(column as usize).map_or(1, |&s| u64::from(s));
    let edges = (needs.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)))
        .map(|edge| {
            let weight: u64 = edge.iter().map(|need| size(need.2)).sum();
            let weight =
                u32::try_from(weight).map_err(|_| format!("the edge from {} to {} weighs {weight}", edge[0].0, edge[0].1))?;
            Ok((edge[0].0, edge[0].1, weight))
        })
        .collect::<Result<Vec<_>, String>>()?;
    Ok(Graph::from_edges(owners.processes(), &edges))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever stands in a file, there is a graph or an error that names the file.
        #[test]
        fn any_text_is_read_or_refused(
            banner in prop::sample::select(vec!["", "%%MatrixMarket matrix coordinate pattern symmetric\n", "%%MatrixMarket matrix coordinate real general\n"]),
            body in "([0-9]{1,2}( |\n|#|%|-|x|é){1,2}){0,40}",
            ranks in 1u32..9,
        ) {
            let text = format!("{banner}{body}");
            for result in [
                edge_list("f", &text, None).map(|_| ()),
                edge_list("f", &text, Some(ranks)).map(|_| ()),
                matrix_market("f", &text).and_then(|p| halo(&p, &Owners::Blocks(ranks)).map(|_| ())),
                metis("f", &text).and_then(|p| halo(&p, &Owners::Blocks(ranks)).map(|_| ())),
                partition("f", &text, ranks).map(|_| ()),
            ] {
                prop_assert!(result.is_ok() || result.unwrap_err().starts_with("f:"));
            }
        }
    }

    fn edges(g: &Graph) -> Vec<(u32, u32, u32)> {
        g.iter().collect()
    }

    #[test]
    fn edge_lists() {
        let (g, to_themselves) = edge_list("g", "# a graph\n0 1 5\n\n  2 0   # weight 1\n1 1 9\n", None).unwrap();
        assert_eq!((g.processes(), edges(&g), to_themselves), (3, vec![(0, 1, 5), (2, 0, 1)], 1));
        assert_eq!(edge_list("g", "0 1", Some(8)).unwrap().0.processes(), 8);
        assert_eq!(edge_list("g", "", Some(2)).unwrap().0.edges(), 0);
        for (text, ranks, error) in [
            ("", None, "g: no edges, and no number of processes is given"),
            ("0 1\n0", None, "g:2: target is missing"),
            ("0 1 -5", None, "g:1: weight '-5' is not a whole number from 0 to 4294967295"),
            ("0 1 4294967296", None, "g:1: weight '4294967296' is not a whole number from 0 to 4294967295"),
            ("0 1 1 1", None, "g:1: '1' behind 'source target weight'"),
            ("0 4", Some(4), "g:1: target '4' is not a whole number from 0 to 3"),
            ("x 4", None, "g:1: source 'x' is not a whole number from 0 to 4194303"),
        ] {
            assert_eq!(edge_list("g", text, ranks).unwrap_err(), error);
        }
    }

    #[test]
    fn matrices() {
        let text = "%%MatrixMarket matrix coordinate real symmetric\n% text\n4 4 4\n1 1 2.0\n2 1 -1e0\n4 2 3\n4 4 1.0D+00\n";
        let m = matrix_market("m", text).unwrap();
        assert_eq!((m.rows, m.columns), (4, 4));
        assert_eq!(m.entries, [(0, 0), (1, 0), (0, 1), (3, 1), (1, 3), (3, 3)]);
        // rows 0 1 | 2 3: the second process needs column 1, the first column 3
        assert_eq!(edges(&halo(&m, &Owners::Blocks(2)).unwrap()), [(0, 1, 1), (1, 0, 1)]);
        // rows 0 3 | 1 2: columns 1 to the first process, columns 0 and 3 to the second
        assert_eq!(edges(&halo(&m, &Owners::Parts(vec![0, 1, 1, 0], 2)).unwrap()), [(0, 1, 2), (1, 0, 1)]);
        let head = "%%MatrixMarket matrix coordinate pattern general\n";
        for (text, error) in [
            ("1 1 1\n1 1\n", "m:1: not a Matrix Market file"),
            (
                "%%MatrixMarket vector coordinate real general\n",
                "m:1: '%%matrixmarket vector coordinate real general' does not begin with '%%MatrixMarket matrix'",
            ),
            ("%%MatrixMarket matrix array real general\n2 2\n", "m:1: format 'array'"),
            ("%%MatrixMarket matrix coordinate text general\n", "m:1: field 'text'"),
            ("%%MatrixMarket matrix coordinate real round\n", "m:1: symmetry 'round'"),
            ("%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n", "m:2: symmetric, but 2 x 3"),
            ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1\n", "m:3: 0 values behind row and column, not 1"),
            ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 a\n", "m:3: 'a' is not a number"),
            (head, "m: the line 'rows columns entries' is missing"),
            (&format!("{head}2 0 1\n"), "m:2: number of columns '0'"),
            (&format!("{head}2 2\n"), "m:2: number of entries is missing"),
            (&format!("{head}2 2 99999999999999\n1 1\n"), "m: ends after 1 of 99999999999999 entries"),
            (&format!("{head}2 2 1\n3 1\n"), "m:3: row '3' is not a whole number from 1 to 2"),
            (&format!("{head}2 2 1\n1 1\n2 2\n"), "m:4: more than the 1 entries"),
        ] {
            let e = matrix_market("m", text).unwrap_err();
            assert!(e.starts_with(error), "{e}");
        }
    }

    #[test]
    fn rows_and_columns_of_a_matrix_that_is_not_square() {
        let m = Pattern { rows: 3, columns: 5, entries: vec![(0, 4), (0, 3), (2, 0), (2, 4), (0, 4)], sizes: Vec::new() };
        assert_eq!(edges(&halo(&m, &Owners::Blocks(2)).unwrap()), [(0, 1, 1), (1, 0, 2)]);
        // more processes than rows: the last have none
        let g = halo(&m, &Owners::Blocks(8)).unwrap();
        assert_eq!((g.processes(), edges(&g)), (8, vec![(0, 2, 1), (3, 0, 1), (4, 0, 1), (4, 2, 1)]));
    }

    #[test]
    fn blocks_differ_by_at_most_one_row() {
        for (items, ranks) in [(10, 3), (3, 8), (7, 7), (1, 1), (u32::MAX, 7)] {
            let owners = Owners::Blocks(ranks);
            assert_eq!((owners.of(0, items), owners.of(items - 1, items)), (0, ranks.min(items) - 1));
        }
        let of: Vec<u32> = (0..10).map(|i| Owners::Blocks(3).of(i, 10)).collect();
        assert_eq!(of, [0, 0, 0, 0, 1, 1, 1, 2, 2, 2]);
    }

    #[test]
    fn meshes() {
        // a path of three vertices and one alone
        let m = metis("m", "% text\n4 2\n2\n1 3\n2\n\n").unwrap();
        assert_eq!(m.entries, [(0, 1), (1, 0), (1, 2), (2, 1)]);
        let parts = partition("p", "0\n1\n0\n1\n", 4).unwrap();
        assert_eq!(edges(&halo(&m, &Owners::Parts(parts, 2)).unwrap()), [(0, 1, 2), (1, 0, 1)]);
        // sizes 10 and 20, two weights each, weighted edges
        let m = metis("m", "2 1 111 2\n10 1 1 2 7\n20 1 1 1 7\n").unwrap();
        assert_eq!(edges(&halo(&m, &Owners::Blocks(2)).unwrap()), [(0, 1, 10), (1, 0, 20)]);
        let heavy = Pattern { rows: 3, columns: 3, entries: vec![(0, 1), (0, 2)], sizes: vec![1, u32::MAX, 1] };
        let e = halo(&heavy, &Owners::Parts(vec![0, 1, 1], 2)).unwrap_err();
        assert_eq!(e, "the edge from 1 to 0 weighs 4294967296");
        for (text, error) in [
            ("", "m: the line 'vertices edges' is missing"),
            ("0 0", "m:1: number of vertices '0'"),
            ("2", "m:1: number of edges is missing"),
            ("2 1 2\n", "m:1: format '2'"),
            ("2 1 1 1 1\n", "m:1: '1' behind"),
            ("2 1\n2\n", "m: ends after 1 of 2 vertices"),
            ("2 1\n3\n1\n", "m:2: neighbor '3' is not a whole number from 1 to 2"),
            ("2 1 1\n2\n1 1\n", "m:2: weight of the edge is missing"),
            ("2 1 100\n\n1 1\n", "m:2: size of the vertex is missing"),
            ("2 2\n2\n1\n", "m: 2 neighbors are listed, not twice the 2 edges"),
            ("2 1\n2\n1\n1\n", "m:4: more than the 2 vertices"),
            ("3 2\n2\n3\n2 2\n", "m: vertex 1 lists 2, which does not list it as often"),
        ] {
            let e = metis("m", text).unwrap_err();
            assert!(e.starts_with(error), "{e}");
        }
    }

    #[test]
    fn partitions() {
        assert_eq!(partition("p", "1\n0\n", 2).unwrap(), [1, 0]);
        for (text, error) in [
            ("1\n", "p: 1 parts for 2 rows"),
            ("0\n-1\n", "p:2: part '-1' is not a whole number from 0 to 4194303"),
            ("0 1\n", "p:1: '1' behind the part"),
        ] {
            assert_eq!(partition("p", text, 2).unwrap_err(), error);
        }
    }
}
