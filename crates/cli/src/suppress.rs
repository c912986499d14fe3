//! Files with rules about races that somebody does not want to hear of.

use std::env;
use std::fs;
use std::path::PathBuf;

use foretell_report::{Report, Suppressions};

use crate::args::WantedArgs;
use crate::error::Failure;
use crate::output;

/// The file with the rules, if none is given on the command line.
const VARIABLE: &str = "FORETELL_SUPPRESSIONS";
/// So many rules that were good for nothing are listed; of more, the number is told.
const LISTED: usize = 10;

/// The rules that are to be applied, if there are any.
pub(crate) struct Rules(Option<Suppressions>);

impl Rules {
    /// Reads the rules. Best done before there is much work that would be lost.
    pub(crate) fn load(wanted: &WantedArgs) -> Result<Rules, Failure> {
        let named = env::var_os(VARIABLE).filter(|name| !name.is_empty()).map(PathBuf::from);
        let Some(path) = wanted.suppressions.clone().or(named) else { return Ok(Rules(None)) };
        let text = fs::read_to_string(&path).map_err(|error| Failure::file(&path, "read", error))?;
        let file = path.display().to_string();
        let rules = Suppressions::parse(&text, &file)
            .map_err(|bad| Failure::Program(format!("error: {file}:{bad}")))?;
        for rule in rules.ignored() {
            output::note(&format!("note: {file}: `{rule}` has no effect here; race: and race_top: have"));
        }
        Ok(Rules(Some(rules)))
    }

    /// Takes out of the reports what nobody wants to hear of, and says which rules were good for nothing.
    pub(crate) fn apply(mut self, reports: &mut [Report]) {
        let Some(rules) = &mut self.0 else { return };
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
}
