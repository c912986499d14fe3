//! `foretell compare`: techniques side by side.

use foretell_predict::Technique;
use foretell_report::{json, table};

use crate::Outcome;
use crate::analysis::{Plan, analyse};
use crate::args::{Choice, CompareArgs, OutputFormat};
use crate::error::Failure;
use crate::input::Input;
use crate::output;

/// The exit code tells whether the comparison was made, not what was found.
pub(crate) fn run(args: &CompareArgs) -> Result<Outcome, Failure> {
    let choices = match args.technique.as_slice() {
        [] => Technique::ALL.map(Choice::One).to_vec(),
        chosen => chosen.to_vec(),
    };
    Input::refuse_repeated_stdin(&args.traces)?;
    let mut reports = Vec::new();
    let mut cut_short = false;
    for path in &args.traces {
        let input = Input::new(path, &args.input);
        let stored = if input.comes_once() { Some(input.load("reads")?) } else { None };
        for &choice in &choices {
            let plan = Plan { choice, pairs: args.pairs.into(), witness_steps: 0 };
            let report = analyse(&input, stored.as_ref(), &plan)?;
            cut_short |= report.trace.cut_short;
            reports.push(report);
        }
    }
    let rendered = match args.format {
        OutputFormat::Json => {
            json::render(&reports).map_err(|error| Failure::Usage(format!("cannot write JSON: {error}")))?
        }
        OutputFormat::Text => table::render(&reports),
    };
    output::write(args.output.as_deref(), &rendered)?;
    Ok(if cut_short { Outcome::Incomplete } else { Outcome::Clean })
}
