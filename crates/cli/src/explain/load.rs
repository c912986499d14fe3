//! JSON reports that are read back.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use foretell_report::{Report, json};
use serde_json::Value;

use crate::error::Failure;

/// What writes a report that can be explained.
const HINT: &str = "`foretell predict TRACE -o report.json` writes a report";

/// The report in the file, or the one with this number of several.
pub(crate) fn load(path: &Path, number: Option<usize>) -> Result<Report, Failure> {
    let name = path.display().to_string();
    let text = read(path)?;
    let mut reports = json::parse(&text)
        .map_err(|error| Failure::Usage(format!("{name} is {}; {HINT}", what_it_is(&text, &error))))?;
    if let Some(other) = reports.iter().find(|report| report.tool != "foretell") {
        return Err(Failure::Usage(format!("{name} was written by {}; {HINT}", other.tool)));
    }
    let several = reports.len();
    match number {
        None if several == 1 => Ok(reports.remove(0)),
        Some(number) if (1..=several).contains(&number) => Ok(reports.remove(number - 1)),
        None if several == 0 => Err(Failure::Usage(format!("{name} holds no report; {HINT}"))),
        None => Err(Failure::Usage(format!(
            "{name} holds {several} reports; choose one with --report:{}",
            listing(&reports)
        ))),
        Some(number) => {
            Err(Failure::Usage(format!("{name} has no report {number}, but these:{}", listing(&reports))))
        }
    }
}

/// What the file holds, or what comes from standard input.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    let failed = |error| Failure::file(path, "read", error);
    if path == Path::new("-") {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text).map_err(failed)?;
        return Ok(text);
    }
    let bytes = fs::read(path).map_err(failed)?;
    String::from_utf8(bytes).map_err(|_| {
        Failure::Usage(format!("{} is no JSON report, nor any other text; {HINT}", path.display()))
    })
}

/// A line for each report.
fn listing(reports: &[Report]) -> String {
    let line = |(index, report): (usize, &Report)| {
        let (file, technique) = (&report.trace.file, &report.technique);
        format!("\n  --report {}: {file}, {technique}, {} proven", index + 1, report.races.len())
    };
    reports.iter().enumerate().map(line).collect()
}

/// What a file holds that is no report.
fn what_it_is(text: &str, error: &serde_json::Error) -> String {
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        return format!("no JSON report: {error}");
    };
    let first = value.get(0).unwrap_or(&value);
    let has = |field: &str| first.get(field).is_some();
    if has("runs") && has("version") {
        "a SARIF file, which contains less than a JSON report".to_string()
    } else if has("verdict") && has("first") {
        "the word on one pair, which is all there is to say about it".to_string()
    } else if has("feasible") || has("program") || has("shared_variables") {
        "an exploration, whose races come with their schedules".to_string()
    } else {
        format!("JSON, but no report: {error}")
    }
}
