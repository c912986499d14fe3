//! Reports of earlier runs, whose races are not reported again.

use std::fs;
use std::path::PathBuf;

use foretell_report::{Baseline, Report};

use crate::error::Failure;

/// Reads the reports of earlier runs, if any are given.
pub(crate) fn load(paths: &[PathBuf]) -> Result<Option<Baseline>, Failure> {
    let mut baseline = Baseline::default();
    for path in paths {
        let text = fs::read_to_string(path).map_err(|error| Failure::file(path, "read", error))?;
        let file = path.display().to_string();
        baseline
            .add(&text, &file)
            .map_err(|bad| Failure::Usage(format!("{file} cannot be the baseline: {bad}")))?;
    }
    Ok((!paths.is_empty()).then_some(baseline))
}

/// Takes out of the reports what is known, and says how much was not found again.
pub(crate) fn apply(baseline: &Baseline, reports: &mut [Report]) {
    let not_seen = baseline.apply(reports);
    if not_seen > 0 {
        let (files, pairs) = (baseline.files().join(", "), if not_seen == 1 { "pair" } else { "pairs" });
        eprintln!("note: {files}: {not_seen} {pairs} not seen this time");
    }
}
