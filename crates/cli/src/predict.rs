//! `foretell predict`: find races in traces.

use std::path::Path;

use foretell_report::{Decision, Report};

use crate::analysis::held::Held;
use crate::analysis::{Plan, analyse, outcome, pair};
use crate::args::{PredictArgs, WantedArgs};
use crate::describe::{describe, describe_decision, telling};
use crate::error::{Failure, Failures};
use crate::input::Input;
use crate::render::{self, tell};
use crate::slice::{self, Purpose, Sliced};
use crate::stop::TimeLimit;
use crate::suppress::Rules;
use crate::{Outcome, stop};

pub(crate) fn run(args: &PredictArgs) -> Result<Outcome, Failure> {
    Input::refuse_repeated_stdin(&args.traces)?;
    match (args.pair, &args.wanted.slice) {
        (Some(_), Some(_)) => {
            Err(Failure::Usage("--slice 'race A,B' already decides just that pair".to_string()))
        }
        (Some(numbers), None) => decide(args, numbers),
        (None, Some(Purpose::Race(a, b))) => decide(args, (*a, *b)),
        (None, _) => predict(args),
    }
}

fn predict(args: &PredictArgs) -> Result<Outcome, Failure> {
    stop::listen()?;
    let rules = Rules::load(&args.wanted)?;
    let mut reports = Vec::new();
    let mut failures = Failures::default();
    for path in &args.traces {
        reports.extend(failures.keep(predict_on(path, args)).unwrap_or_default());
    }
    rules.apply(&mut reports);
    tell(&reports, &args.wanted)?;
    failures.into_result()?;
    Ok(reports.iter().map(outcome).max().unwrap_or(Outcome::Clean))
}

/// The report of each technique on one trace.
fn predict_on(path: &Path, args: &PredictArgs) -> Result<Vec<Report>, Failure> {
    let input = Input::new(path, &args.input).following(args.wanted.search.dependence);
    if let Some(purpose) = &args.wanted.slice {
        let trace = input.load("reads")?;
        let sliced = Sliced::to_predict(&trace, None, purpose)?;
        return predict_on_slice(&Held::new(&input, Some(&trace)), &sliced, &args.wanted);
    }
    let stored = if input.comes_once() { Some(input.load("reads")?) } else { None };
    let report = |plan: Plan| {
        let limit = TimeLimit::start(plan.time_limit)?;
        predict_with(&plan, &limit, &Held::new(&input, stored.as_ref()), &args.wanted)
    };
    args.wanted.plans().map(report).collect()
}

/// The report of one technique, with all that makes it readable.
pub(crate) fn predict_with(
    plan: &Plan,
    limit: &TimeLimit,
    held: &Held<'_>,
    wanted: &WantedArgs,
) -> Result<Report, Failure> {
    let mut report = analyse(held, plan, limit)?;
    describe(held, &mut report, wanted)?;
    Ok(report)
}

/// The report of each technique on a slice of a trace, which is held as a whole.
pub(crate) fn predict_on_slice(
    whole: &Held<'_>,
    sliced: &Sliced,
    wanted: &WantedArgs,
) -> Result<Vec<Report>, Failure> {
    wanted
        .plans()
        .map(|plan| {
            let plan = slice::plan(plan)?;
            let limit = TimeLimit::start(plan.time_limit)?;
            let mut report = analyse(&Held::new(whole.input(), Some(&sliced.trace)), &plan, &limit)?;
            sliced.enter(&mut report);
            describe(whole, &mut report, wanted)?;
            Ok(report)
        })
        .collect()
}

/// What each technique says about one pair, on a slice for just that question of a trace which is held as a whole.
pub(crate) fn decide_on_slice(
    whole: &Held<'_>,
    sliced: &Sliced,
    (a, b): (u32, u32),
    wanted: &WantedArgs,
) -> Result<Vec<Decision>, Failure> {
    let (Some(a), Some(b)) = (sliced.sliced(a), sliced.sliced(b)) else {
        return Err(Failure::Usage(format!("events {a} and {b} are no accesses")));
    };
    wanted
        .plans()
        .map(|plan| {
            let held = Held::new(whole.input(), Some(&sliced.trace));
            let mut decision = pair::decide(&held, (a, b), &slice::plan(plan)?)?;
            sliced.enter_decision(&mut decision);
            describe_decision(whole, &mut decision, telling(wanted))?;
            Ok(decision)
        })
        .collect()
}

/// Only one pair, but that in detail.
fn decide(args: &PredictArgs, numbers: (u32, u32)) -> Result<Outcome, Failure> {
    stop::listen()?;
    let mut decisions = Vec::new();
    for path in &args.traces {
        let input = Input::new(path, &args.input).following(args.wanted.search.dependence);
        if let Some(purpose) = &args.wanted.slice {
            let trace = input.load("reads")?;
            let (whole, sliced) =
                (Held::new(&input, Some(&trace)), Sliced::to_predict(&trace, None, purpose)?);
            decisions.extend(decide_on_slice(&whole, &sliced, numbers, &args.wanted)?);
            continue;
        }
        let held = Held::new(&input, None);
        for plan in args.wanted.plans() {
            let mut decision = pair::decide(&held, numbers, &plan)?;
            describe_decision(&held, &mut decision, telling(&args.wanted))?;
            decisions.push(decision);
        }
    }
    tell_decisions(&decisions, &args.wanted)
}

/// Writes the decisions where they are wanted.
pub(crate) fn tell_decisions(decisions: &[Decision], wanted: &WantedArgs) -> Result<Outcome, Failure> {
    render::tell_decisions(decisions, wanted)?;
    Ok(decisions.iter().map(pair::outcome).max().unwrap_or(Outcome::Clean))
}
