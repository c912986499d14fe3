//! `foretell hunt`: runs a program many times in different ways, and reports what all runs together have shown.
//!
//! [`run_plans`]: how each run is steered, and what it has learnt from earlier ones.

mod run_plans;

use std::thread;
use std::time::Instant;

use foretell_engine::describe::describe_deadlocks;
use foretell_engine::{Choice, Plan};
use foretell_predict::Technique;
use foretell_report::{Hunt, HuntRun, Shown, Stopped, Union};

use self::run_plans::RunPlans;
use crate::analysis::outcome;
use crate::args::{HuntArgs, InputArgs, Strategy, jobs};
use crate::error::Failure;
use crate::front_end::{Cimp, FrontEnd, Language, Native, RunOutcome, RunPlan};
use crate::input::TraceFile;
use crate::output;
use crate::progress::Progress;
use crate::render::write_reports;
use crate::sources::Sources;
use crate::suppress::Rules;
use crate::{Outcome, stop};

/// If so many runs in a row fail from the beginning, no other is made: the program cannot be run like this at all.
const ATTEMPTS: usize = 3;

pub(crate) fn run(args: &HuntArgs) -> Result<Outcome, Failure> {
    stop::listen()?;
    let language = Language::of(&args.program);
    language.check(&args.program, &args.arguments, args.separated)?;
    args.wanted.refuse_slice()?;
    args.wanted.check_find()?;
    args.wanted.report.check_outputs()?;
    match language {
        Language::Cimp => hunt(args, &Cimp::new(&args.program)?),
        Language::Native => hunt(args, &Native::new(&args.program, &args.arguments, &args.libraries)?),
    }
}

fn hunt(args: &HuntArgs, target: &impl FrontEnd) -> Result<Outcome, Failure> {
    let rules = Rules::load(&args.wanted.report)?;
    let technique = args.plans().next().map_or("auto", |plan| plan.choice.name());
    let program = args.program.display().to_string();
    let mut union = Union::new(technique, &program, args.strategy.name(), args.runs);
    let begin = Instant::now();
    let stopped = run_all(args, target, &mut union)?;
    let mut report = union.finish(stopped);
    report.stats.seconds = begin.elapsed().as_secs_f64();
    let file = TraceFile::new(&args.program, &InputArgs { from_format: None, no_progress: true });
    describe_deadlocks(&mut report, &mut Sources::new(&file));
    let by_runs = report.hunt.as_ref().map_or(Outcome::Clean, outcome_of_runs);
    let mut reports = [report];
    rules.apply(&mut reports);
    write_reports(&reports, &args.wanted.report)?;
    Ok(reports.iter().map(outcome).max().unwrap_or(Outcome::Clean).max(by_runs))
}

/// What the runs come to, whatever was found in them: a hunt that has looked at no run to its end is worth no more than
/// one such run.
fn outcome_of_runs(hunt: &Hunt) -> Outcome {
    match hunt.incomplete_runs() {
        _ if !hunt.deadlocks.is_empty() => Outcome::Race,
        0 => Outcome::Clean,
        incomplete if incomplete == hunt.runs.len() => Outcome::Incomplete,
        _ => Outcome::Undecided,
    }
}

/// Makes runs, as many at a time as there are processors, until there is a reason to stop.
fn run_all(args: &HuntArgs, target: &impl FrontEnd, union: &mut Union) -> Result<Stopped, Failure> {
    let mut plans = RunPlans::new(args);
    let at_once = jobs(args.wanted.search.jobs);
    let progress = Progress::of_work("hunts", !args.no_progress);
    progress.expect(args.runs);
    let mut failed = 0;
    while union.runs() < args.runs {
        if stop::is_requested() {
            return Ok(Stopped::Interrupted);
        }
        if args.patience.0.is_some_and(|patience| union.runs_without_news() >= patience as usize) {
            return Ok(Stopped::NothingNew);
        }
        let plans_now = plans.next(at_once.min(args.runs - union.runs()));
        for (plan, (outcome, seconds)) in plans_now.iter().zip(run_together(target, &plans_now, args)) {
            let mut run = HuntRun {
                run: plan.run,
                strategy: plan.strategy.text().to_string(),
                seed: plan.seed,
                seconds,
                ..HuntRun::default()
            };
            let shown = outcome.and_then(|outcome| look(target, args, outcome, plan, &mut plans, &mut run));
            let shown = match shown {
                Ok(shown) => shown,
                // What cannot be run at all is reported soon; what other runs have shown is not lost by one that fails.
                Err(failure) if failed + 1 >= ATTEMPTS.min(args.runs) && failed == union.runs() => {
                    return Err(failure);
                }
                Err(failure) => {
                    failed += 1;
                    run.ending = Some(failure.to_string());
                    Shown { is_incomplete: true, ..Shown::default() }
                }
            };
            union.add(run, shown);
            progress.worked();
            note_news(union);
        }
    }
    Ok(Stopped::AllRuns)
}

/// Looks at what a run has left behind.
fn look<T: FrontEnd>(
    target: &T,
    args: &HuntArgs,
    outcome: RunOutcome<T::Artifacts>,
    plan: &RunPlan,
    plans: &mut RunPlans<'_>,
    run: &mut HuntRun,
) -> Result<Shown, Failure> {
    let begin = Instant::now();
    plans.learn(&outcome.learnt);
    (run.ending, run.steering) = (outcome.ending, outcome.learnt.steering);
    let shown = target.examine(outcome.artifacts, plan, args)?;
    run.seconds += begin.elapsed().as_secs_f64();
    Ok(shown)
}

/// What has become of a run, and how many seconds it took.
type Timed<T> = (Result<RunOutcome<T>, Failure>, f64);

/// Makes some runs at the same time.
fn run_together<T: FrontEnd>(target: &T, plans: &[RunPlan], args: &HuntArgs) -> Vec<Timed<T::Artifacts>> {
    let timed = |plan| {
        let begin = Instant::now();
        let outcome = target.record(plan, args);
        (outcome, begin.elapsed().as_secs_f64())
    };
    let died = || (Err(Failure::Internal("a run could not be looked after".to_string())), 0.0);
    thread::scope(|scope| {
        let runs: Vec<_> = plans.iter().map(|plan| scope.spawn(move || timed(plan))).collect();
        runs.into_iter().map(|run| run.join().unwrap_or_else(|_| died())).collect()
    })
}

/// Says at once if a run has shown something new: who waits at a terminal need not wait for the end.
fn note_news(union: &Union) {
    let Some(run) = union.last() else { return };
    let stuck = if run.deadlock { ", and a deadlock" } else { "" };
    if run.new > 0 || run.deadlock {
        let HuntRun { run, strategy, seed, new, total, .. } = run;
        output::note(&format!("run {run} ({strategy}, seed {seed}): {new} new, {total} in all{stuck}"));
    }
}

impl HuntArgs {
    /// Whether only races of the runs themselves are wanted, by the default technique.
    pub(crate) fn only_shows(&self) -> bool {
        self.wanted.technique == [Choice::Auto]
            && self.wanted.find.is_empty()
            && self.strategy != Strategy::Predict
    }

    /// What is done with each run. To look at what a run itself has shown is what strategies are compared by; only who
    /// asks for predictions gets what it implies.
    pub(crate) fn plans(&self) -> impl Iterator<Item = Plan> {
        let choices =
            if self.only_shows() { vec![Choice::One(Technique::Hb)] } else { self.wanted.technique.clone() };
        choices.into_iter().map(|choice| self.wanted.plan(choice))
    }
}
