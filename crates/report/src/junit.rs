//! Reports for test dashboards.

use crate::report::Report;

/// The reports in this form.
pub fn render(reports: &[Report]) -> String {
    crate::text::summary(reports)
}
