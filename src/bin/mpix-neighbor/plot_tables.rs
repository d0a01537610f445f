//! `mpix-neighbor plot`: draws a table of times that an example has printed, as SVG.
//!
//! A table begins with its title, a line that ends with `, microseconds (ratio to ...)`. A line
//! with the name of the first column and those of the forms follows, and then a line for each
//! point: a number, and for each form a time, its ratio in parentheses, or `-` for a form that was
//! skipped.

use std::path::PathBuf;

use clap::Args;

use crate::curves::{Curve, Curves};
use crate::failure::Failure;
use crate::text::{input_name, printable, read};

/// Draw a table of times that the example ghost has printed as SVG, to standard output
#[derive(Args)]
pub struct Arguments {
    /// What the example has printed; - is standard input
    file: PathBuf,

    /// Which of its tables
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    table: u32,
}

/// A table as printed.
#[derive(Debug, PartialEq)]
struct Table {
    title: String,
    /// Name of the first column.
    across: String,
    names: Vec<String>,
    rows: Vec<Row>,
}

/// The number in the first column, and the microseconds of each form.
type Row = (f64, Vec<Option<f64>>);

/// The chart.
pub fn run(arguments: &Arguments) -> Result<String, Failure> {
    let name = input_name(&arguments.file);
    let text = read(&arguments.file)?;
    let mut tables = tables(&text).map_err(|e| format!("{name}: {e}"))?;
    let (wanted, found) = (arguments.table as usize, tables.len());
    if wanted > found {
        return Err(Failure::Run(format!("{name}: there is no table {wanted}, but {found} of them")));
    }
    let about = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    Ok(chart(&tables.swap_remove(wanted - 1), about).svg())
}

/// Finds all tables.
fn tables(text: &str) -> Result<Vec<Table>, String> {
    let mut lines = text.lines().zip(1..).peekable();
    let mut all = Vec::new();
    while let Some((line, at)) = lines.next() {
        let Some((title, _)) = line.split_once(", microseconds (ratio to ") else { continue };
        let head = lines.next().map(|(head, _)| head).unwrap_or_default();
        let mut words = head.split_whitespace().map(str::to_owned);
        let Some(across) = words.next() else { return Err(format!("line {at}: a title without a table")) };
        let mut table = Table { title: title.to_owned(), across, names: words.collect(), rows: Vec::new() };
        while let Some(&(line, at)) = lines.peek()
            && let Some(row) = row(line, table.names.len()).map_err(|e| format!("line {at}: {e}"))?
        {
            table.rows.push(row);
            lines.next();
        }
        all.push(table);
    }
    Ok(all)
}

/// Reads a line of a table of `forms` forms; `None` if it does not begin with a number.
fn row(line: &str, forms: usize) -> Result<Option<Row>, String> {
    let (mut plain, mut depth) = (String::new(), 0);
    for c in line.chars() {
        depth += i32::from(c == '(');
        plain.push(if depth > 0 { ' ' } else { c });
        depth -= i32::from(c == ')');
    }
    let mut words = plain.split_whitespace();
    let number = |word: &str| word.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
    let Some(first) = words.next().filter(|word| word.parse::<f64>().is_ok()) else { return Ok(None) };
    // both axes are logarithmic
    let x = number(first).ok_or_else(|| format!("'{}' has no place in a chart", printable(first)))?;
    let mut times = Vec::new();
    for word in words {
        times.push(match word {
            "-" => None,
            _ => Some(number(word).ok_or_else(|| format!("'{}' is not a time", printable(word)))?),
        });
    }
    if times.len() != forms {
        return Err(format!("{} times of {forms} forms", times.len()));
    }
    Ok(Some((x, times)))
}

/// A line for each form. In nanoseconds: the axis begins at 1.
fn chart(table: &Table, about: &str) -> Curves {
    let points = |form: usize| table.rows.iter().filter_map(move |(x, times)| Some((*x, times[form]? * 1e3))).collect();
    let curve = |(form, name): (usize, &String)| Curve { name: name.clone(), dashed: false, points: points(form) };
    Curves {
        title: table.title.clone(),
        subtitles: vec![about.to_owned()],
        axes: [table.across.clone(), "nanoseconds".into()],
        styles: ["measured", ""],
        curves: table.names.iter().enumerate().map(curve).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "4 processes\n\nOne put, microseconds (ratio to the plan)\ndoubles  plan  fence  pscw\n\
        1  0.50  2.00 (  4.00)  -\n10  1.50  3.00 (   2.00)  4.00 (1.5)\n\nOther, microseconds (ratio to the plan)\n\
        processes  plan\nresults agree\n";

    #[test]
    fn tables_are_found() {
        let found = tables(PRINTED).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].title.as_str(), found[0].across.as_str()), ("One put", "doubles"));
        assert_eq!(found[0].names, ["plan", "fence", "pscw"]);
        let rows = [(1.0, vec![Some(0.5), Some(2.0), None]), (10.0, vec![Some(1.5), Some(3.0), Some(4.0)])];
        assert_eq!(found[0].rows, rows);
        assert!(found[1].rows.is_empty());
    }

    #[test]
    fn a_chart_has_each_time() {
        let svg = chart(&tables(PRINTED).unwrap()[0], "4 processes").svg();
        assert_eq!(svg.matches("<circle").count(), 5);
        assert!(svg.contains("plan: 500 at 1<") && svg.contains("pscw: 4000 at 10<") && svg.contains(">4 processes<"), "{svg}");
        for k in [0, 1] {
            let mut alone = tables(PRINTED).unwrap().swap_remove(k);
            alone.rows.truncate(1);
            let svg = chart(&alone, "").svg();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }

    #[test]
    fn what_is_no_table_is_said() {
        let told = |rows: &str| tables(&format!("A, microseconds (ratio to b)\nx  b  c\n{rows}\n")).unwrap_err();
        assert_eq!(told("1  2.0"), "line 3: 1 times of 2 forms");
        assert_eq!(told("1  2.0  3.0 (1.5)\n2  2.0  three"), "line 4: 'three' is not a time");
        assert_eq!(told("1  2.0  3.0\n0  2.0  3.0"), "line 4: '0' has no place in a chart");
        assert_eq!(tables("A, microseconds (ratio to b)").unwrap_err(), "line 1: a title without a table");
    }
}
