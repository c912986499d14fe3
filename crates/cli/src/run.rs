//! `foretell run`: run a program once, record what it does, find races in it, and drive the program into each.

use std::fs;

use foretell_cimp::machine::{Bounds, Failure as Failed, Fault};
use foretell_cimp::record::{self, Ending, Limits, Run, confirm, detours};
use foretell_cimp::schedule::{
    Contest, DrFinder, Given, Pct, Pos, Random, RoundRobin, Schedule, Scheduler, Serial,
};
use foretell_engine::schedule::Origin;
use foretell_engine::untaken::Branches;
use foretell_engine::{Analysis, Control, Description, Found, Input, Plan, UntakenBranches};
use foretell_report::{Confirmation, Report};
use foretell_schedule::{Name, Relation, Strategy};

use crate::analysis::{Measured, outcome};
use crate::args::{Bound, InputArgs, RunArgs, ScheduleArgs, WantedArgs};
use crate::error::Failure;
use crate::front_end::Language;
use crate::input::TraceFile;
use crate::predict::{decide_on_slice, predict_on_slice, write_decisions};
use crate::program::Source;
use crate::render::write_reports;
use crate::slice::{self, Purpose};
use crate::stop::{TimeLimit, Watch};
use crate::suppress::Rules;
use crate::trace::convert;
use crate::{Outcome, native, output, stop};

/// How often a loop may go round in one run unless told otherwise: long before the run's steps are used up, so that a
/// loop without end is named.
pub(crate) const LOOP_BOUND: u32 = 100_000;

pub(crate) fn run(args: &RunArgs) -> Result<Outcome, Failure> {
    let language = Language::of(&args.program);
    language.check(&args.program, &args.arguments, args.separated)?;
    check_outputs(args)?;
    if language == Language::Native {
        return native::run(args);
    }
    if args.evidence.is_some() {
        return Err(Failure::Usage("--evidence packs the logs of native programs only".to_string()));
    }
    stop::listen()?;
    let source = Source::load(&args.program)?;
    let mut run = record(&source, &args.schedule, args.max_steps, args.loops)?;
    let saved = save(args, &run);
    run.trace = args.wanted.search.dependence.apply(run.trace);
    if run.trace.events().is_empty() && run.ending == Ending::Finished {
        output::note(&format!("{}: the program does nothing that others could notice", source.name()));
    }
    let found = predict(args, &source, &run)?;
    saved?;
    Ok(found.max(report_ending(&source, &run.ending)))
}

/// Whether all files can be written, to be asked before the program runs.
fn check_outputs(args: &RunArgs) -> Result<(), Failure> {
    args.wanted.check_outputs()?;
    args.trace.as_deref().map_or(Ok(()), convert::check_target)?;
    let others = [&args.flow, &args.evidence, &args.schedule.triggers];
    others.into_iter().flatten().try_for_each(|path| output::check(path))
}

/// Runs the program as told.
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
            // How long an execution is about can only be told from one.
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

/// Writes down what is wanted of the recording.
fn save(args: &RunArgs, run: &Run) -> Result<(), Failure> {
    if let Some(path) = &args.flow {
        output::write(Some(path), &foretell_depend::listing(&run.trace, &run.flow))?;
    }
    args.trace.as_ref().map_or(Ok(()), |path| convert::save(&run.trace, path))
}

/// Finds races in the recording, and tells of them.
fn predict(args: &RunArgs, source: &Source, run: &Run) -> Result<Outcome, Failure> {
    let file = TraceFile::new(&args.program, &InputArgs { from_format: None, no_progress: args.no_progress });
    let wanted = &args.wanted;
    let rules = Rules::load(wanted)?;
    let mut reports: Vec<Report> = match &wanted.slice {
        Some(purpose) => {
            let sliced = slice::to_predict(&run.trace, Some(&run.flow), purpose)?;
            if let Purpose::Race(a, b) = purpose {
                let decisions = decide_on_slice(&file, &run.trace, &sliced, (*a, *b), wanted)?;
                return write_decisions(&decisions, wanted);
            }
            predict_on_slice(&file, &run.trace, &sliced, wanted)?
        }
        None => {
            let recorded = Recorded { source, run, bounds: bounds(args.loops), file: &file };
            wanted.plans().map(|plan| recorded.report(&plan, wanted)).collect::<Result<_, _>>()?
        }
    };
    rules.apply(&mut reports);
    write_reports(&reports, wanted)?;
    Ok(reports.iter().map(outcome).max().unwrap_or(Outcome::Clean))
}

/// A recorded run of a program in CIMP.
pub(crate) struct Recorded<'a> {
    pub(crate) source: &'a Source,
    pub(crate) run: &'a Run,
    /// The limits that the run had.
    pub(crate) bounds: Bounds,
    pub(crate) file: &'a TraceFile,
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
        let origin = Some(Origin { program: &program, ..Origin::default() });
        let how = Description { origin, ..wanted.description() };
        let mut report = measured.report(&input, &how, self.file, &control)?;
        enter(&mut report, driven);
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
