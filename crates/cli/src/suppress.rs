//! Suppressions: files with rules about races, and baselines, which are earlier reports.

use std::env;
use std::fs;
use std::path::PathBuf;

use foretell_report::{Baseline, Report, Suppressions};
use foretell_wire::settings;

use crate::args::ReportArgs;
use crate::baseline;
use crate::error::Failure;
use crate::output;

/// The file with the rules, if none is given on the command line.
const VARIABLE: &str = settings::SUPPRESSIONS.text();
/// So many rules that were good for nothing are listed; of more, the number is shown.
const LISTED: usize = 10;

/// The rules and earlier reports that are to be applied, if there are any.
pub(crate) struct Rules {
    suppressions: Option<Suppressions>,
    baseline: Option<Baseline>,
}

impl Rules {
    /// Reads the rules and the earlier reports. Best done before there is much work that would be lost.
    pub(crate) fn load(wanted: &ReportArgs) -> Result<Rules, Failure> {
        Ok(Rules { suppressions: suppressions(wanted)?, baseline: baseline::load(&wanted.baseline)? })
    }

    /// Suppresses races in the reports, and notes unused rules.
    pub(crate) fn apply(self, reports: &mut [Report]) {
        if let Some(rules) = self.suppressions {
            suppress(rules, reports);
        }
        if let Some(baseline) = &self.baseline {
            baseline::apply(baseline, reports);
        }
    }
}

fn suppressions(wanted: &ReportArgs) -> Result<Option<Suppressions>, Failure> {
    let named = env::var_os(VARIABLE).filter(|name| !name.is_empty()).map(PathBuf::from);
    let Some(path) = wanted.suppressions.clone().or(named) else { return Ok(None) };
    let text = fs::read_to_string(&path).map_err(|error| Failure::file(&path, "read", error))?;
    let file = path.display().to_string();
    let rules =
        Suppressions::parse(&text, &file).map_err(|bad| Failure::Program(format!("error: {file}:{bad}")))?;
    for rule in rules.ignored() {
        output::note(&format!(
            "note: {file}: `{rule}` has no effect here; race:, race_top: and deadlock: have"
        ));
    }
    Ok(Some(rules))
}

/// Applies the rules, and says which were good for nothing.
fn suppress(mut rules: Suppressions, reports: &mut [Report]) {
    reports.iter_mut().for_each(|report| rules.apply(report));
    let unused: Vec<_> = rules.unused().collect();
    if unused.len() > LISTED {
        output::note(&format!("note: {}: {} rules have suppressed nothing", rules.file(), unused.len()));
        return;
    }
    for (line, rule) in unused {
        output::note(&format!("note: {}:{line}: `{rule}` has suppressed nothing", rules.file()));
    }
}
