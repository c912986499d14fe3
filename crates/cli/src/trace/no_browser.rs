//! `foretell trace view` in a build without the browser: the events are printed.

use std::path::Path;

use crate::Outcome;
use crate::error::Failure;
use crate::input::TraceFile;

/// What `--report` needs.
pub(crate) const REPORT_NEEDS: &str = "this build has no browser: build foretell with its feature `browser`";

/// There is nothing to browse with.
pub(crate) fn is_possible() -> bool {
    false
}

pub(crate) fn run(_: &TraceFile, _: Option<&Path>) -> Result<Outcome, Failure> {
    Err(Failure::Usage(REPORT_NEEDS.to_string()))
}
