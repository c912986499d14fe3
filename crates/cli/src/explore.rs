//! `foretell explore`: all runs that recorded ones imply.
//!
//! * [`trace`]: the exploration of one trace
//! * [`property`]: what can be asked on the command line

pub(crate) mod property;
mod trace;

use std::path::Path;

use foretell_report::text::Detail;
use foretell_report::{ClosureReport, closure_text, json};

use crate::args::{ExploreArgs, OutputFormat};
use crate::error::{Failure, Failures};
use crate::input::Input;
use crate::{Outcome, output, stop};

pub(crate) fn run(args: &ExploreArgs) -> Result<Outcome, Failure> {
    Input::refuse_repeated_stdin(&args.files)?;
    stop::listen()?;
    let mut reports = Vec::new();
    let mut failures = Failures::default();
    for path in &args.files {
        reports.extend(failures.keep(explore(path, args)));
    }
    let rendered = match args.format {
        OutputFormat::Json => json::render(&reports).map_err(Failure::json)?,
        OutputFormat::Text => closure_text::render(&reports, Detail::default()),
    };
    if !reports.is_empty() {
        output::write(args.output.as_deref(), &rendered)?;
    }
    failures.into_result()?;
    Ok(reports.iter().map(outcome).max().unwrap_or(Outcome::Clean))
}

/// Explores what is in the file.
fn explore(path: &Path, args: &ExploreArgs) -> Result<ClosureReport, Failure> {
    trace::explore(&Input::new(path, &args.input), args)
}

/// What the report means for the exit code.
fn outcome(report: &ClosureReport) -> Outcome {
    if report.has_findings() {
        Outcome::Race
    } else if report.trace.cut_short {
        Outcome::Incomplete
    } else if report.is_open() {
        Outcome::Undecided
    } else {
        Outcome::Clean
    }
}
