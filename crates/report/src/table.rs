//! Techniques side by side: one row for each technique on each trace.

use crate::report::Report;
use crate::visible::visible;

/// One table over all reports.
pub fn render(reports: &[Report]) -> String {
    let head = ["trace", "technique", "events", "threads", "races", "candidates", "seconds", "memory"];
    let mut rows = vec![head.map(String::from)];
    rows.extend(reports.iter().map(row));
    let widths: [usize; 8] =
        std::array::from_fn(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0));
    rows.iter().map(|row| format_row(row, &widths)).collect()
}

fn row(report: &Report) -> [String; 8] {
    [
        visible(&report.trace.file),
        report.technique.clone(),
        report.trace.events.to_string(),
        report.trace.threads.to_string(),
        report.races.len().to_string(),
        report.undecided.len().to_string(),
        format!("{:.3}", report.stats.seconds),
        report.stats.peak_memory_bytes.map_or("-".to_string(), memory),
    ]
}

fn memory(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}

/// Names to the left, numbers to the right.
fn format_row(row: &[String; 8], widths: &[usize; 8]) -> String {
    let cells = row.iter().zip(widths).enumerate().map(|(column, (cell, &width))| {
        if column < 2 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
    });
    let mut line = cells.collect::<Vec<_>>().join("  ");
    line.truncate(line.trim_end().len());
    line.push('\n');
    line
}
