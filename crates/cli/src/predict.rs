//! `foretell predict`: find races in traces.

use foretell_report::text::Detail;
use foretell_report::{json, text};

use crate::Outcome;
use crate::analysis::{Plan, analyse, outcome};
use crate::args::{OutputFormat, PredictArgs};
use crate::error::Failure;
use crate::input::Input;
use crate::output;

pub(crate) fn run(args: &PredictArgs) -> Result<Outcome, Failure> {
    Input::refuse_repeated_stdin(&args.traces)?;
    let mut reports = Vec::new();
    for path in &args.traces {
        let input = Input::new(path, &args.input);
        let stored = if input.comes_once() { Some(input.load("reads")?) } else { None };
        for &choice in &args.technique {
            let plan = Plan { choice, pairs: args.pairs.into(), witness_steps: args.witness };
            reports.push(analyse(&input, stored.as_ref(), &plan)?);
        }
    }
    let rendered = match args.format {
        OutputFormat::Json => {
            json::render(&reports).map_err(|error| Failure::Usage(format!("cannot write JSON: {error}")))?
        }
        OutputFormat::Text => {
            let texts: Vec<_> =
                reports.iter().map(|report| text::render(report, Detail::default())).collect();
            texts.join("\n")
        }
    };
    output::write(args.output.as_deref(), &rendered)?;
    Ok(reports.iter().map(outcome).max().unwrap_or(Outcome::Clean))
}
