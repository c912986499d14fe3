//! Runs of CIMP programs: under a scheduler, with all that is asked of `foretell run`.

use std::fs;

use foretell_cimp::machine::{Bounds, Failure as Failed, Fault};
use foretell_cimp::record::{self, Ending, Limits, Run, confirm, confirm_stuck, detours};
use foretell_cimp::scheduler::{
    Contest, DrFinder, Given, Pct, Pos, Random, RoundRobin, Schedule, Scheduler, Serial,
};
use foretell_engine::untaken::Branches;
use foretell_engine::witness_schedule::Origin;
use foretell_engine::{Analysis, Control, Description, Found, FoundDeadlock, Input, Plan, UntakenBranches};
use foretell_report::{Confirmation, Report};
use foretell_schedule::{Name, Relation, Strategy};

use super::Examined;
use crate::analysis::Measured;
use crate::args::{Bound, InputArgs, RunArgs, ScheduleArgs, WantedArgs};
use crate::error::Failure;
use crate::input::TraceFile;
use crate::predict::{decide_on_slice, predict_on_slice};
use crate::program::Source;
use crate::slice::{self, Purpose};
use crate::stop::{TimeLimit, Watch};
use crate::{Outcome, output};

/// The default of `--loops`: reached long before the run's steps are used up, so that an endless loop is named.
pub(crate) const LOOP_BOUND: u32 = 100_000;

/// Runs the program under the scheduler that the arguments name.
pub(crate) fn record(
    source: &Source,
    args: &ScheduleArgs,
    steps: usize,
    loops: Option<Bound>,
) -> Result<Run, Failure> {
    let limits = Limits { steps, bounds: bounds(loops) };
    let run_with = |scheduler: &mut dyn Scheduler| {
        record::run(&source.program, scheduler, &limits)
            .map_err(|error| Failure::Trace { file: source.name(), error })
    };
    match args.schedule.as_str() {
        "serial" => run_with(&mut Serial::new()),
        "round-robin" => run_with(&mut RoundRobin::default()),
        "random" => run_with(&mut Random::new(args.seed)),
        "contest" => run_with(&mut Contest::new(args.seed)),
        "pos" => run_with(&mut Pos::new(args.seed)),
        "pct" => {
            // How long an execution is can only be known from one.
            let expected = run_with(&mut Serial::new())?.schedule.0.len();
            run_with(&mut Pct::new(args.seed, args.depth(Name::Pct), expected as u64))
        }
        "drfinder" => reverse_locks(source, args, run_with),
        list => {
            let schedule: Schedule = list.parse().map_err(|error| {
                Failure::Usage(format!(
                    "{error}; expected serial, round-robin, random, contest, pct, pos, drfinder, or a list \
                     such as t1*7,t2"
                ))
            })?;
            let mut given = Given::new(schedule);
            let run = run_with(&mut given)?;
            match unfollowed(&given, &run) {
                Some(problem) => Err(Failure::Usage(format!(
                    "{}: the program cannot follow the schedule: {problem}",
                    source.name()
                ))),
                None => Ok(run),
            }
        }
    }
}

/// How far the machine may go.
pub(crate) fn bounds(loops: Option<Bound>) -> Bounds {
    let loop_bound = loops.map_or(Some(LOOP_BOUND), |bound| bound.0);
    Bounds { loop_bound, ..Bounds::default() }
}

/// Runs the program by what another run has taught: the one whose lessons are in the file, or one that is made for
/// that.
fn reverse_locks(
    source: &Source,
    args: &ScheduleArgs,
    run_with: impl Fn(&mut dyn Scheduler) -> Result<Run, Failure>,
) -> Result<Run, Failure> {
    let strategy = |relation| DrFinder::new(args.seed, args.depth(Name::DrFinder), relation);
    let known = args.triggers.as_deref().filter(|path| path.exists());
    let relation = match known {
        Some(path) => {
            let text = fs::read_to_string(path).map_err(|error| Failure::file(path, "read", error))?;
            let problem = |error| Failure::Usage(format!("{}: {error}", path.display()));
            source.program.parse_triggers(&text).map_err(problem)?
        }
        None => {
            let mut first = strategy(Relation::default());
            run_with(&mut first)?;
            first.learnt().map(|learnt| learnt.relation.clone()).unwrap_or_default()
        }
    };
    let mut strategy = strategy(relation);
    let run = run_with(&mut strategy)?;
    if let (Some(path), Some(learnt)) = (&args.triggers, strategy.learnt()) {
        output::write(Some(path), &source.program.triggers_text(learnt))?;
    }
    Ok(run)
}

/// Why the schedule was not followed to its end. A run that fails or is stopped before has something else to say.
fn unfollowed(given: &Given, run: &Run) -> Option<String> {
    let ended_early = given.left() > 0 && run.ending == Ending::Finished;
    let too_long = || format!("all threads have ended, but {} of its entries are left", given.left());
    given.problem().map(String::from).or_else(|| ended_early.then(too_long))
}

/// Finds races in the recording.
pub(super) fn examine(args: &RunArgs, source: &Source, run: &Run) -> Result<Examined, Failure> {
    let file = TraceFile::new(&args.program, &InputArgs { from_format: None, no_progress: args.no_progress });
    let wanted = &args.wanted;
    let Some(purpose) = &wanted.slice else {
        let recorded = Recorded { source, run, bounds: bounds(args.loops), file: &file };
        let reports = wanted.plans().map(|plan| recorded.report(&plan, wanted));
        return reports.collect::<Result<_, _>>().map(Examined::Reports);
    };
    let sliced = slice::to_predict(&run.trace, Some(&run.flow), purpose)?;
    match purpose {
        Purpose::Race(a, b) => {
            decide_on_slice(&file, &run.trace, &sliced, (*a, *b), wanted).map(Examined::Decisions)
        }
        Purpose::Events(_) | Purpose::On(_) => {
            predict_on_slice(&file, &run.trace, &sliced, wanted).map(Examined::Reports)
        }
    }
}

/// A recorded run of a program in CIMP.
pub(super) struct Recorded<'a> {
    pub(super) source: &'a Source,
    pub(super) run: &'a Run,
    /// The limits that the run had.
    pub(super) bounds: Bounds,
    pub(super) file: &'a TraceFile,
}

impl Recorded<'_> {
    /// The report of one technique, the program itself driven into every race.
    pub(crate) fn report(&self, plan: &Plan, wanted: &WantedArgs) -> Result<Report, Failure> {
        let limit = TimeLimit::start(plan.time_limit)?;
        let control = Watch::new(self.file).within(&limit);
        let program = self.source.name();
        let has_values = self.run.trace.values().is_some();
        let untaken = has_values.then_some(self as &dyn UntakenBranches);
        let input = Input::of_trace(&program, &self.run.trace).with_untaken(untaken);
        let measured = Measured::new(&input, plan, &control)?;
        let driven = self.drive(&measured.analysis, &control)?;
        let stuck = self.drive_into_deadlocks(&measured.analysis, &control)?;
        let origin = Some(Origin { program: &program, ..Origin::default() });
        let how = Description { origin, ..wanted.description() };
        let mut report = measured.report(&input, &how, self.file, &control)?;
        enter(&mut report, driven);
        for (deadlock, confirmation) in report.deadlocks.iter_mut().zip(stuck) {
            deadlock.confirmation = confirmation;
        }
        report.ending = ending_text(&self.run.ending);
        report.complete &= report.ending.is_none();
        Ok(report)
    }

    /// Drives the program into each race that comes with a schedule; says which these are. A race that the program does
    /// not follow would be a false one, the worst that can happen: then nothing that was found is worth anything.
    fn drive(
        &self,
        analysis: &Analysis,
        control: &dyn Control,
    ) -> Result<Vec<Option<Confirmation>>, Failure> {
        let drive = |race: &Found| {
            let Some(witness) = race.witness() else { return Ok(None) };
            if control.is_urgent() {
                return Ok(Some(Confirmation::not("there was no time for that")));
            }
            let trace = race.branch.as_ref().map_or(&self.run.trace, |branch| &branch.trace);
            let driven = confirm(&self.source.program, trace, witness);
            driven.map(|()| Some(Confirmation::of_machine())).map_err(|problem| {
                Failure::Internal(format!("a race was predicted that the program does not follow: {problem}"))
            })
        };
        analysis.races.iter().map(drive).collect()
    }

    /// The same for deadlocks.
    fn drive_into_deadlocks(
        &self,
        analysis: &Analysis,
        control: &dyn Control,
    ) -> Result<Vec<Option<Confirmation>>, Failure> {
        let drive = |found: &FoundDeadlock| {
            let (finding, program) = (&found.finding, &self.source.program);
            let before = finding.schedule().len().checked_sub(finding.waits().len());
            let Some(before) = before.and_then(|before| finding.schedule().get(..before)) else {
                return Ok(None);
            };
            if control.is_urgent() {
                return Ok(Some(Confirmation::not("there was no time for that")));
            }
            let driven = confirm_stuck(program, &self.run.trace, before, finding.waits(), finding.ended());
            driven.map(|()| Some(Confirmation::of_machine())).map_err(|problem| {
                Failure::Internal(format!(
                    "the program does not follow the schedule to a deadlock: {problem}"
                ))
            })
        };
        analysis.deadlocks.iter().map(drive).collect()
    }
}

/// Says of each race whether the program was driven into it.
fn enter(report: &mut Report, driven: Vec<Option<Confirmation>>) {
    let count = |is_confirmed| driven.iter().flatten().filter(|it| it.confirmed == is_confirmed).count();
    let (confirmed, left_out) = (count(true), count(false));
    if left_out > 0 {
        report.notes.push(format!("there was no time to drive the program into {left_out} of the races"));
    }
    report.driven = Some(confirmed);
    for (race, confirmation) in report.races.iter_mut().zip(driven) {
        race.confirmation = confirmation;
    }
}

impl UntakenBranches for Recorded<'_> {
    fn branches(
        &self,
        _: &dyn Fn() -> bool,
    ) -> Result<Option<Branches<'_>>, Box<dyn std::error::Error + Send + Sync>> {
        let limits = detours::Limits { bounds: self.bounds, ..detours::Limits::default() };
        let found = detours::detours(&self.source.program, self.run, limits).map_err(Failure::Usage)?;
        Ok(Some(Box::new(found)))
    }
}

/// How the run ended in one line, if not well.
pub(crate) fn ending_text(ending: &Ending) -> Option<String> {
    match ending {
        Ending::Finished => None,
        Ending::Failed(failure) => Some(failure.to_string()),
        Ending::Deadlock(blocked) => {
            let waiting: Vec<String> = blocked.iter().map(ToString::to_string).collect();
            Some(format!("deadlock: {}", waiting.join("; ")))
        }
        Ending::StepLimit => Some("stopped at the limit of steps".to_string()),
    }
}

/// Says how the run itself ended, if not well.
pub(crate) fn report_ending(source: &Source, ending: &Ending) -> Outcome {
    let message = match ending {
        Ending::Finished => return Outcome::Clean,
        Ending::Failed(Failed { fault, thread, position }) => {
            let help = matches!(fault, Fault::LoopBound(_))
                .then_some("--loops allows more; another schedule may need less");
            source.point_at(*position, &format!("{fault} (thread {thread})"), help)
        }
        Ending::Deadlock(blocked) => {
            let lines: Vec<String> = blocked
                .iter()
                .map(|thread| source.point_at(thread.position, &format!("deadlock: {thread}"), None))
                .collect();
            lines.join("\n")
        }
        Ending::StepLimit => format!(
            "error: {}: the run was stopped at its limit of steps; --max-steps gives more",
            source.name()
        ),
    };
    output::note(&message);
    Outcome::Incomplete
}
