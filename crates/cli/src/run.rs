//! `foretell run`: run a program once, record what it does, find races in it, and drive the program into each.

use std::fs;

use foretell_cimp::machine::{Bounds, Failure as Failed, Fault};
use foretell_cimp::record::{self, Ending, Limits, Run, confirm};
use foretell_cimp::schedule::{
    Contest, DrFinder, Given, Pct, Pos, Random, RoundRobin, Schedule, Scheduler, Serial,
};
use foretell_report::{Confirmation, Report, fingerprint};
use foretell_schedule::{Name, Relation, Strategy};
use foretell_trace::EventId;

use crate::analysis::held::Held;
use crate::analysis::{Plan, outcome};
use crate::args::{Bound, InputArgs, RunArgs, ScheduleArgs, WantedArgs};
use crate::detours::{self, Recorded};
use crate::error::Failure;
use crate::input::Input;
use crate::predict::{decide_on_slice, predict_on_slice, predict_with, tell_decisions};
use crate::program::{Source, is_program};
use crate::render::tell;
use crate::slice::{Purpose, Sliced};
use crate::stop::TimeLimit;
use crate::suppress::Rules;
use crate::trace::convert;
use crate::{Outcome, native, output, schedule, stop};

/// How often a loop may go round in one run unless told otherwise: long before the run's steps are used up, so that a
/// loop without end is named.
pub(crate) const LOOP_BOUND: u32 = 100_000;

pub(crate) fn run(args: &RunArgs) -> Result<Outcome, Failure> {
    if !is_program(&args.program) {
        return native::run(args);
    }
    if let Some(argument) = args.arguments.first() {
        let argument = argument.to_string_lossy();
        return Err(Failure::Usage(format!(
            "`{argument}` is one too many: a .cimp program takes no arguments"
        )));
    }
    if args.evidence.is_some() {
        return Err(Failure::Usage("--evidence packs the logs of native programs only".to_string()));
    }
    stop::listen()?;
    let source = Source::load(&args.program)?;
    let mut run = record(&source, &args.schedule, args.max_steps, args.loops)?;
    save(args, &run)?;
    run.trace = args.wanted.search.dependence.apply(run.trace);
    if run.trace.events().is_empty() && run.ending == Ending::Finished {
        output::note(&format!("{}: the program does nothing that others could notice", source.name()));
    }
    let found = predict(args, &source, &run)?;
    Ok(found.max(tell_ending(&source, &run.ending)))
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

/// Runs the program by what another run has taught: the one whose lessons are in the file, or one that is made for that.
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
    let input = Input::new(&args.program, &InputArgs { from_format: None, no_progress: args.no_progress });
    let held = Held::new(&input, Some(&run.trace));
    let wanted = &args.wanted;
    let rules = Rules::load(wanted)?;
    let mut reports: Vec<Report> = match &wanted.slice {
        Some(purpose) => {
            let sliced = Sliced::to_predict(&run.trace, Some(&run.flow), purpose)?;
            if let Purpose::Race(a, b) = purpose {
                return tell_decisions(&decide_on_slice(&held, &sliced, (*a, *b), wanted)?, wanted);
            }
            predict_on_slice(&held, &sliced, wanted)?
        }
        None => {
            let recorded = Recorded { source, run, bounds: bounds(args.loops), input: &input };
            wanted.plans().map(|plan| report(&held, &recorded, &plan, wanted)).collect::<Result<_, _>>()?
        }
    };
    rules.apply(&mut reports);
    tell(&reports, wanted)?;
    Ok(reports.iter().map(outcome).max().unwrap_or(Outcome::Clean))
}

/// The report of one technique, the program itself driven into every race.
pub(crate) fn report(
    held: &Held<'_>,
    recorded: &Recorded<'_>,
    plan: &Plan,
    wanted: &WantedArgs,
) -> Result<Report, Failure> {
    let Recorded { source, run, .. } = *recorded;
    let limit = TimeLimit::start(plan.time_limit)?;
    let mut report = predict_with(plan, &limit, held, wanted)?;
    drive(source, run, &mut report)?;
    detours::add(recorded, (plan, &limit), wanted, &mut report)?;
    fingerprint::mark(&mut report);
    schedule::name_program(&mut report, &source.name(), &[], 0);
    report.ending = ending_text(&run.ending);
    report.complete &= report.ending.is_none();
    Ok(report)
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

/// Drives the program into each race that comes with a schedule. A race that the program does not follow would be a
/// false one, the worst that can happen: then nothing that was found is worth anything.
fn drive(source: &Source, run: &Run, report: &mut Report) -> Result<(), Failure> {
    let (mut driven, mut left_out) = (0, 0);
    for race in &mut report.races {
        let Some(witness) = &race.witness else { continue };
        if stop::is_urgent() {
            left_out += 1;
            race.confirmation = Some(Confirmation::not("there was no time for that"));
            continue;
        }
        let events: Vec<EventId> =
            witness.iter().filter_map(|&number| EventId::from_number(number)).collect();
        confirm(&source.program, &run.trace, &events).map_err(|problem| {
            Failure::Usage(format!(
                "a race was predicted that the program does not follow, a bug of foretell: {problem}"
            ))
        })?;
        driven += 1;
        race.confirmation = Some(Confirmation::of_machine());
    }
    if left_out > 0 {
        report.notes.push(format!("there was no time to drive the program into {left_out} of the races"));
    }
    report.driven = Some(driven);
    Ok(())
}

/// Says how the run itself ended, if not well.
pub(crate) fn tell_ending(source: &Source, ending: &Ending) -> Outcome {
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
