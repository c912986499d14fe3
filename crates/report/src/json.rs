//! Reports for programs, and for those who come back to them. The form is stable; see the user documentation.

use std::io::{self, Write as _};

use serde::Serialize;

use crate::cause::{Cause, causes};
use crate::report::Report;
use crate::sink::{Sink, whole};

/// One report or decision as an object, several as an array of objects. Ends with a line break.
pub fn render(reports: &[impl Serialize]) -> io::Result<String> {
    whole(|sink| write(reports, sink))
}

/// The same, piece by piece.
pub fn write(reports: &[impl Serialize], sink: &mut Sink<'_>) -> io::Result<()> {
    match reports {
        [report] => serde_json::to_writer(&mut *sink, report)?,
        reports => serde_json::to_writer(&mut *sink, reports)?,
    }
    sink.write_all(b"\n")
}

/// A report, with the causes of its races.
#[derive(Serialize)]
struct Explained<'a> {
    #[serde(flatten)]
    report: &'a Report,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    causes: Vec<Cause>,
}

/// Reports with the causes of their races, piece by piece.
pub fn write_reports(reports: &[Report], sink: &mut Sink<'_>) -> io::Result<()> {
    let explained: Vec<Explained<'_>> =
        reports.iter().map(|report| Explained { report, causes: causes(report) }).collect();
    write(&explained, sink)
}

/// The same, in one piece.
pub fn render_reports(reports: &[Report]) -> io::Result<String> {
    whole(|sink| write_reports(reports, sink))
}

/// Reads what [`render`] has made of reports.
pub fn parse(text: &str) -> serde_json::Result<Vec<Report>> {
    if text.trim_start().starts_with('[') {
        serde_json::from_str(text)
    } else {
        Ok(vec![serde_json::from_str(text)?])
    }
}
