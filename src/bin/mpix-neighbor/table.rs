//! Results as text: tables in Markdown format, and JSON.

/// Rows under a line of headings; the first column to the left, numbers to the right.
#[derive(Debug, Clone, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub fn new<T: Into<String>>(headings: impl IntoIterator<Item = T>) -> Table {
        Table { rows: vec![headings.into_iter().map(Into::into).collect()] }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let width =
            |column: usize| self.rows.iter().filter_map(|r| r.get(column)).map(|c| c.chars().count()).max().unwrap_or(0).max(3);
        for (i, row) in self.rows.iter().enumerate() {
            for (column, cell) in row.iter().enumerate() {
                let w = width(column);
                match column {
                    0 => write!(f, "| {cell:<w$} |")?,
                    _ => write!(f, " {cell:>w$} |")?,
                }
            }
            writeln!(f)?;
            if i == 0 {
                for column in 0..row.len() {
                    let dashes = "-".repeat(width(column) - usize::from(column > 0));
                    write!(f, "{}", if column == 0 { format!("| {dashes} |") } else { format!(" {dashes}: |") })?;
                }
                writeln!(f)?;
            }
        }
        Ok(())
    }
}

/// A quotient with `digits` digits behind the point; `-` where there is none.
pub fn quotient(of: f64, by: f64, digits: usize) -> String {
    let value = of / by;
    if value.is_finite() { format!("{value:.digits$}") } else { "-".into() }
}

/// A value as indented JSON.
pub fn json(value: &impl serde::Serialize) -> String {
    // numbers, texts and lists of them cannot fail
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_below_one_another() {
        let mut t = Table::new(["name", "n"]);
        t.row(["µ".into(), "1000".into()]);
        assert_eq!(t.to_string(), "| name |    n |\n| ---- | ---: |\n| µ    | 1000 |\n");
    }

    #[test]
    fn quotients_are_numbers() {
        let texts = [(1.0, 3.0), (0.0, 5.0), (1.0, 0.0), (0.0, 0.0), (f64::INFINITY, 1.0)].map(|(a, b)| quotient(a, b, 2));
        assert_eq!(texts, ["0.33", "0.00", "-", "-", "-"]);
    }
}
