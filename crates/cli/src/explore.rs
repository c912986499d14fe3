//! `foretell explore`: all runs that recorded ones imply, and all executions of programs.
//!
//! * [`trace`]: the exploration of one trace
//! * [`program`]: the exploration of all executions of one program
//! * [`property`]: what can be asked on the command line

mod program;
pub(crate) mod property;
mod trace;

use std::path::Path;

use foretell_depend::Flow;
use foretell_report::text::Detail;
use foretell_report::{ClosureReport, ProgramReport, closure_text, executions_text, json};
use foretell_trace::Trace;
use serde::Serialize;

use self::property::Wanted;
use crate::args::{ExploreArgs, OutputFormat};
use crate::error::{Failure, Failures};
use crate::front_end::Language;
use crate::front_end::run_cimp::{ending_text, record, report_ending};
use crate::input::TraceFile;
use crate::program::Source;
use crate::slice;
use crate::{Outcome, output, screen, stop};

/// The most steps of the run whose closure is explored; with more, the exploration would not end.
const STEPS: usize = 1_000_000;

pub(crate) fn run(args: &ExploreArgs) -> Result<Outcome, Failure> {
    TraceFile::refuse_repeated_stdin(&args.files)?;
    stop::listen()?;
    args.output.as_deref().map_or(Ok(()), output::check)?;
    let mut reports = Vec::new();
    let mut failures = Failures::default();
    let mut found = Outcome::Clean;
    for path in &args.files {
        if let Some((report, ending)) = failures.keep(explore(path, args)) {
            found = found.max(ending).max(outcome(&report));
            reports.push(report);
        }
    }
    let rendered = match args.format {
        OutputFormat::Json => json::render(&reports).map_err(Failure::rendering)?,
        OutputFormat::Text => text(&reports, screen::detail(args.output.as_deref())),
    };
    if !reports.is_empty() {
        match args.format {
            OutputFormat::Json => output::write(args.output.as_deref(), &rendered)?,
            OutputFormat::Text => output::write_text(args.output.as_deref(), &rendered)?,
        }
    }
    failures.into_result()?;
    Ok(found)
}

/// What an exploration comes to.
#[derive(Serialize)]
#[serde(untagged)]
enum Explored {
    Closure(Box<ClosureReport>),
    Program(Box<ProgramReport>),
}

/// Explores what is in the file. If that is what one run of a program implies, also says how the run ended.
fn explore(path: &Path, args: &ExploreArgs) -> Result<(Explored, Outcome), Failure> {
    let input = TraceFile::new(path, &args.input);
    if !Language::is_cimp(path) {
        return Ok((closure(&input, &input.load("reads")?, None, args)?, Outcome::Clean));
    }
    let source = Source::load(path)?;
    if !args.closure {
        if args.slice.is_some() {
            let why =
                "all executions of a program are explored as they are; --closure explores a slice of one";
            return Err(Failure::Usage(format!("{}: {why}", source.name())));
        }
        if args.max_steps.is_some() {
            let why =
                "--max-steps bounds the exploration of a trace; that of a program is bounded by --max-states";
            return Err(Failure::Usage(format!("{}: {why}", source.name())));
        }
        return Ok((Explored::Program(Box::new(program::explore(&source, args)?)), Outcome::Clean));
    }
    let run = record(&source, &args.schedule, STEPS, args.loops)?;
    let ending = report_ending(&source, &run.ending);
    let mut explored = closure(&input, &run.trace, Some(&run.flow), args)?;
    if let (Explored::Closure(report), Some(how)) = (&mut explored, ending_text(&run.ending)) {
        report.complete = false;
        report.notes.push(format!("the run itself ended abnormally: {how}"));
    }
    Ok((explored, ending))
}

/// Explores what the trace implies, or a slice of it.
fn closure(
    input: &TraceFile,
    trace: &Trace,
    flow: Option<&Flow>,
    args: &ExploreArgs,
) -> Result<Explored, Failure> {
    let report = match &args.slice {
        None => trace::explore(input, trace, &args.property, args)?,
        Some(purpose) => {
            let sliced = slice::to_explore(trace, flow, purpose, args.slice_rule)?;
            let properties = args.property.iter().map(|wanted| wanted.sliced(&sliced));
            let properties: Vec<Wanted> = properties.collect::<Result<_, _>>().map_err(Failure::Usage)?;
            let mut report = trace::explore(input, &sliced.trace, &properties, args)?;
            sliced.enter_closure(&mut report);
            for (property, wanted) in report.properties.iter_mut().zip(&args.property) {
                property.property = wanted.to_string();
            }
            report
        }
    };
    Ok(Explored::Closure(Box::new(report)))
}

/// One table for all traces, then the programs.
fn text(reports: &[Explored], detail: Detail) -> String {
    let mut closures = Vec::new();
    let mut programs = Vec::new();
    for report in reports {
        match report {
            Explored::Closure(report) => closures.push(report.as_ref()),
            Explored::Program(report) => programs.push(executions_text::render(report)),
        }
    }
    if !closures.is_empty() {
        programs.insert(0, closure_text::render(&closures, detail));
    }
    programs.join("\n")
}

/// What the report means for the exit code.
fn outcome(report: &Explored) -> Outcome {
    let (found, cut_short, open) = match report {
        Explored::Closure(report) => (report.has_findings(), report.trace.cut_short, report.is_open()),
        Explored::Program(report) => (report.has_findings(), false, report.is_open()),
    };
    if found {
        Outcome::Race
    } else if cut_short {
        Outcome::Incomplete
    } else if open {
        Outcome::Undecided
    } else {
        Outcome::Clean
    }
}
