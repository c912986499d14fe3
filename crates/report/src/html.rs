//! Reports for people with a browser.

use crate::report::Report;

/// The reports in this form.
pub fn render(reports: &[Report]) -> serde_json::Result<String> {
    crate::json::render(reports)
}
