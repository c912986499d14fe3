//! Techniques side by side, as in Table 1 of RVPredict's paper: one row for each trace.

use crate::report::Report;
use crate::visible::visible;

/// One technique of the table.
#[derive(Clone, Debug)]
pub struct Column {
    /// What it is called.
    pub title: String,
    /// Whether what it reports without proof is a candidate, and not a question that it failed to decide.
    pub candidates: bool,
}

/// What the marks in the table mean.
const LEGEND: &str = "\
QC: pairs that pass the quick check. A plain number counts proven races; 5+2? has 2 more pairs that are not decided,
5+2c has 2 candidates that the technique cannot prove; ? alone: the answer is not complete; >: at least. Times in seconds.";

/// One table; each row has one report for each column.
pub fn render(columns: &[Column], rows: &[Vec<Report>]) -> String {
    let mut cells = vec![head(columns)];
    cells.extend(rows.iter().filter_map(|reports| row(columns, reports)));
    let mut text = align(&cells);
    text.push('\n');
    text.push_str(LEGEND);
    text.push('\n');
    text
}

/// Rows of equal length, one below the other.
pub(crate) fn align(rows: &[Vec<String>]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let columns = rows.first().map_or(0, Vec::len);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    rows.iter().map(|row| format_row(row, &widths)).collect()
}

fn head(columns: &[Column]) -> Vec<String> {
    let fixed = ["trace", "threads", "events", "r/w", "syncs", "branches", "QC"];
    let counts = columns.iter().map(|column| column.title.clone());
    let times = columns.iter().map(|column| format!("{} time", column.title));
    fixed.into_iter().map(String::from).chain(counts).chain(times).collect()
}

fn row(columns: &[Column], reports: &[Report]) -> Option<Vec<String>> {
    let trace = &reports.first()?.trace;
    let counts = trace.counts.unwrap_or_default();
    let quick_check = match trace.quick_check {
        Some(number) if trace.quick_check_is_partial => format!(">{number}"),
        Some(number) => number.to_string(),
        None => "-".to_string(),
    };
    let numbers =
        [trace.threads as u64, trace.events as u64, counts.accesses(), counts.syncs, counts.branches];
    let mut row = vec![visible(&trace.file)];
    row.extend(numbers.map(|number| number.to_string()));
    row.push(quick_check);
    row.extend(columns.iter().zip(reports).map(|(column, report)| found(column, report)));
    row.extend(reports.iter().map(|report| format!("{:.3}", report.stats.seconds)));
    Some(row)
}

/// What was proven, and what was not.
fn found(column: &Column, report: &Report) -> String {
    let (races, open) = (report.races.len(), report.undecided.len());
    let mark = if column.candidates { "c" } else { "?" };
    match (races, open) {
        (races, 0) if report.is_open() => format!("{races}?"),
        (races, 0) => races.to_string(),
        (0, open) if column.candidates => format!("{open}{mark}"),
        (races, open) => format!("{races}+{open}{mark}"),
    }
}

/// Names to the left, numbers to the right.
fn format_row(row: &[String], widths: &[usize]) -> String {
    let cells = row.iter().zip(widths).enumerate().map(|(column, (cell, &width))| {
        if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
    });
    let mut line = cells.collect::<Vec<_>>().join("  ");
    line.truncate(line.trim_end().len());
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Candidate, RacingAccess};

    fn candidate() -> Candidate {
        let access = RacingAccess::default();
        Candidate { first: access.clone(), second: access, reason: String::new(), more: 0, fingerprint: None }
    }

    #[test]
    fn what_is_not_proven_is_marked() {
        let column = |candidates| Column { title: "x".to_string(), candidates };
        let mut report = Report::new("x");
        assert_eq!(found(&column(false), &report), "0");
        report.stats.not_in_window = 3;
        assert_eq!(found(&column(false), &report), "0?");
        report.undecided = vec![candidate(), candidate()];
        assert_eq!(found(&column(false), &report), "0+2?");
        assert_eq!(found(&column(true), &report), "2c");
    }
}
