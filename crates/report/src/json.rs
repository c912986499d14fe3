//! Reports for programs. The form is stable; see the user documentation.

use serde::Serialize;

/// One report or decision as an object, several as an array of objects. Ends with a line break.
pub fn render(reports: &[impl Serialize]) -> serde_json::Result<String> {
    let mut text = match reports {
        [report] => serde_json::to_string(report)?,
        reports => serde_json::to_string(reports)?,
    };
    text.push('\n');
    Ok(text)
}
