//! Reports for programs, and for those who come back to them. The form is stable; see the user documentation.

use serde::Serialize;

use crate::report::Report;

/// One report or decision as an object, several as an array of objects. Ends with a line break.
pub fn render(reports: &[impl Serialize]) -> serde_json::Result<String> {
    let mut text = match reports {
        [report] => serde_json::to_string(report)?,
        reports => serde_json::to_string(reports)?,
    };
    text.push('\n');
    Ok(text)
}

/// Reads what [`render`] has made of reports.
pub fn parse(text: &str) -> serde_json::Result<Vec<Report>> {
    if text.trim_start().starts_with('[') {
        serde_json::from_str(text)
    } else {
        Ok(vec![serde_json::from_str(text)?])
    }
}
