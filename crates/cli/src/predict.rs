//! `foretell predict`: find races in traces.

use std::path::Path;

use foretell_engine::describe::describe_decision;
use foretell_engine::{self as engine, Description, Input, Plan, ShardStore, Sliced, pair};
use foretell_report::{Decision, Report};
use foretell_trace::Trace;

use crate::analysis::{Measured, outcome, outcome_of_decision};
use crate::args::{PredictArgs, WantedArgs};
use crate::error::{Failure, Failures};
use crate::input::TraceFile;
use crate::render::{self, write_reports};
use crate::shards::{self, StateFolder};
use crate::slice::{self, Purpose};
use crate::sources::Sources;
use crate::stop::{TimeLimit, Watch};
use crate::suppress::Rules;
use crate::{Outcome, certify, stop};

pub(crate) fn run(args: &PredictArgs) -> Result<Outcome, Failure> {
    TraceFile::refuse_repeated_stdin(&args.traces)?;
    refuse_own_input(args)?;
    args.wanted.check_find()?;
    if args.shards.state.is_some() && (args.traces.len() > 1 || args.wanted.technique.len() > 1) {
        return Err(Failure::Usage("--state works with one trace and one technique at a time".to_string()));
    }
    args.wanted.report.check_outputs()?;
    certify::check_wanted(args)?;
    if let Some(folder) = &args.shards.plan {
        return shards::predict(args, folder);
    }
    match (args.pair, &args.wanted.slice) {
        (Some(_), Some(_)) => {
            Err(Failure::Usage("--slice 'race A,B' already decides just that pair".to_string()))
        }
        (Some(numbers), None) => decide(args, numbers),
        (None, Some(Purpose::Race(a, b))) => decide(args, (*a, *b)),
        (None, _) => predict(args),
    }
}

/// A report does not take the place of its trace.
fn refuse_own_input(args: &PredictArgs) -> Result<(), Failure> {
    for path in &args.traces {
        let file = TraceFile::new(path, &args.input);
        if let Some(output) = args.wanted.report.output.iter().find(|output| file.is_same_file(output)) {
            return Err(Failure::Usage(format!("the report would overwrite its trace {}", output.display())));
        }
    }
    Ok(())
}

fn predict(args: &PredictArgs) -> Result<Outcome, Failure> {
    stop::listen()?;
    let rules = Rules::load(&args.wanted.report)?;
    let mut reports = Vec::new();
    let mut failures = Failures::default();
    for path in &args.traces {
        reports.extend(failures.keep(predict_on(path, args)).unwrap_or_default());
    }
    rules.apply(&mut reports);
    write_reports(&reports, &args.wanted.report)?;
    failures.into_result()?;
    let certified = match (&args.certify, &reports[..]) {
        (Some(folder), [report]) => certify::write(args, folder, report)?,
        _ => Outcome::Clean,
    };
    Ok(reports.iter().map(outcome).max().unwrap_or(Outcome::Clean).max(certified))
}

/// The report of each technique on one trace.
fn predict_on(path: &Path, args: &PredictArgs) -> Result<Vec<Report>, Failure> {
    let file = TraceFile::new(path, &args.input).following(args.wanted.search.dependence);
    if let Some(purpose) = &args.wanted.slice {
        let trace = file.load("reads")?;
        let sliced = slice::to_predict(&trace, None, purpose)?;
        return predict_on_slice(&file, &trace, &sliced, &args.wanted);
    }
    let shared = Input::of_source(&file);
    let store = args.shards.state.as_deref().map(StateFolder::new);
    let store = store.as_ref().map(|store| store as &dyn ShardStore);
    if file.comes_once() {
        shared.load("reads", &Watch::new(&file))?;
    }
    let report = |plan: Plan| {
        let limit = TimeLimit::start(plan.time_limit)?;
        let control = Watch::new(&file).within(&limit);
        let own = Input::of_source(&file).with_store(store);
        let input = if file.comes_once() { &shared } else { &own };
        Measured::new(input, &plan, &control)?.report(input, &args.wanted.description(), &file, &control)
    };
    args.wanted.plans().map(report).collect()
}

/// The report of each technique on a slice of a trace.
pub(crate) fn predict_on_slice(
    file: &TraceFile,
    whole: &Trace,
    sliced: &Sliced,
    wanted: &WantedArgs,
) -> Result<Vec<Report>, Failure> {
    let (whole, part) = (Input::of_trace(&file.name(), whole), Input::of_trace(&file.name(), &sliced.trace));
    let how = Description { slice: Some(sliced), ..wanted.description() };
    let report = |plan| {
        let plan = engine::slice::plan(plan)?;
        let limit = TimeLimit::start(plan.time_limit)?;
        let control = Watch::new(file).within(&limit);
        Measured::new(&part, &plan, &control)?.report(&whole, &how, file, &control)
    };
    wanted.plans().map(report).collect()
}

/// What each technique says about one pair, on a slice of a trace for just that question.
pub(crate) fn decide_on_slice(
    file: &TraceFile,
    whole: &Trace,
    sliced: &Sliced,
    (a, b): (u32, u32),
    wanted: &WantedArgs,
) -> Result<Vec<Decision>, Failure> {
    let (Some(a), Some(b)) = (sliced.sliced(a), sliced.sliced(b)) else {
        return Err(Failure::Usage(format!("events {a} and {b} are no accesses")));
    };
    let (whole, part) = (Input::of_trace(&file.name(), whole), Input::of_trace(&file.name(), &sliced.trace));
    let control = Watch::new(file);
    let decide = |plan| {
        let mut decision = pair::decide(&part, (a, b), &engine::slice::plan(plan)?, &control)?;
        sliced.enter_decision(&mut decision);
        describe_decision(&whole, &mut decision, wanted.story_detail(), &mut Sources::new(file), &control)?;
        Ok(decision)
    };
    wanted.plans().map(decide).collect()
}

/// Only one pair, but that in detail.
fn decide(args: &PredictArgs, numbers: (u32, u32)) -> Result<Outcome, Failure> {
    stop::listen()?;
    let mut decisions = Vec::new();
    for path in &args.traces {
        let file = TraceFile::new(path, &args.input).following(args.wanted.search.dependence);
        if let Some(purpose) = &args.wanted.slice {
            let trace = file.load("reads")?;
            let sliced = slice::to_predict(&trace, None, purpose)?;
            decisions.extend(decide_on_slice(&file, &trace, &sliced, numbers, &args.wanted)?);
            continue;
        }
        let (input, control) = (Input::of_source(&file), Watch::new(&file));
        for plan in args.wanted.plans() {
            let mut decision = pair::decide(&input, numbers, &plan, &control)?;
            let (detail, sources) = (args.wanted.story_detail(), &mut Sources::new(&file));
            describe_decision(&input, &mut decision, detail, sources, &control)?;
            decisions.push(decision);
        }
    }
    write_decisions(&decisions, &args.wanted)
}

/// Writes the decisions where they are wanted.
pub(crate) fn write_decisions(decisions: &[Decision], wanted: &WantedArgs) -> Result<Outcome, Failure> {
    render::write_decisions(decisions, &wanted.report)?;
    Ok(decisions.iter().map(outcome_of_decision).max().unwrap_or(Outcome::Clean))
}
