//! The exploration of all executions of one program.

use std::cell::Cell;
use std::time::Instant;

use foretell_cimp::Condition;
use foretell_cimp::explore::{self, Access, Exploration, Limits, Property, StateView};
use foretell_cimp::machine::Bounds;
use foretell_cimp::schedule::Schedule;
use foretell_report::{
    ProgramAccess, ProgramDeadlock, ProgramFailure, ProgramProperty, ProgramRace, ProgramReport,
    ProgramStats, PropertyVerdict,
};

use super::property::Wanted;
use crate::analysis::time_text;
use crate::args::ExploreArgs;
use crate::error::Failure;
use crate::memory;
use crate::program::Source;
use crate::progress::Progress;
use crate::stop::{self, TimeLimit};

/// Explores all executions of the program.
pub(super) fn explore(source: &Source, args: &ExploreArgs) -> Result<ProgramReport, Failure> {
    let begin = Instant::now();
    memory::reset_peak();
    let conditions = conditions(source, args)?;
    let limit = TimeLimit::start(args.time_limit.0)?;
    let holds: Vec<_> =
        conditions.iter().map(|condition| |state: &StateView<'_>| holds(condition, state)).collect();
    let watched = Watched::new(args);
    let watch = |_: &StateView<'_>| watched.visit();
    let properties = holds.iter().map(|holds| holds as Property<'_>).chain([&watch as Property<'_>]);
    let properties: Vec<Property<'_>> = properties.collect();
    let found = explore::explore(&source.program, &limits(args, &properties));
    let asked = judge(&conditions, &found);
    let mut report = report(source, found);
    report.properties = asked;
    if let (true, Some(time)) = (limit.is_over(), args.time_limit.0) {
        report
            .notes
            .push(format!("the time limit of {} was reached; --time-limit gives more", time_text(time)));
    }
    report.interrupted = stop::is_interrupted();
    report.stats.seconds = begin.elapsed().as_secs_f64();
    report.stats.peak_memory_bytes = memory::peak();
    Ok(report)
}

/// Counts states as they are visited, for the bar.
struct Watched {
    bar: Progress,
    states: Cell<usize>,
}

impl Watched {
    /// How many states are visited between two looks at the bar.
    const PACE: usize = 4096;

    fn new(args: &ExploreArgs) -> Watched {
        Watched { bar: Progress::of_steps("explores", !args.input.no_progress), states: Cell::new(0) }
    }

    /// Counts a state, in the guise of a property that always holds.
    fn visit(&self) -> bool {
        self.states.set(self.states.get() + 1);
        if self.states.get().is_multiple_of(Self::PACE) {
            self.bar.visited(self.states.get());
        }
        true
    }
}

fn limits<'l>(args: &ExploreArgs, properties: &'l [Property<'l>]) -> Limits<'l> {
    let bytes = args.memory.or_else(|| memory::available().map(|bytes| bytes / 4));
    let bounds = Bounds { loop_bound: args.loops.and_then(|bound| bound.0), ..Bounds::default() };
    let usual = Limits::default();
    Limits {
        states: args.max_states.unwrap_or(usize::MAX),
        bytes: bytes.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(usual.bytes),
        bounds,
        count_executions: !args.races_only,
        stop: Some(stop::flag()),
        properties,
        ..usual
    }
}

/// The properties that can be asked of a program: those of its memory. Events have numbers only in one run.
fn conditions<'a>(source: &Source, args: &'a ExploreArgs) -> Result<Vec<&'a Condition>, Failure> {
    let unusable = |wanted: &Wanted, why: &str| Failure::Usage(format!("{}: {wanted}: {why}", source.name()));
    args.property
        .iter()
        .map(|wanted| {
            let Wanted::Assert(condition) = wanted else {
                return Err(unusable(
                    wanted,
                    "events have numbers only in one run; --closure explores what one run implies",
                ));
            };
            let is_shared =
                |name: &String| source.program.shared.iter().any(|shared| shared.group.name == *name);
            match condition.names().iter().find(|name| !is_shared(name)) {
                Some(name) => Err(unusable(wanted, &format!("there is no shared variable `{name}`"))),
                None => Ok(condition),
            }
        })
        .collect()
}

/// Whether the condition holds. What cannot be computed, such as a division by zero, is no violation.
fn holds(condition: &Condition, state: &StateView<'_>) -> bool {
    condition.holds(&|name| state.number(name)).unwrap_or(true)
}

/// The word on each condition.
fn judge(conditions: &[&Condition], found: &Exploration) -> Vec<ProgramProperty> {
    let judged = conditions.iter().zip(&found.violations).map(|(condition, violation)| ProgramProperty {
        property: format!("assert {condition}"),
        verdict: match violation {
            Some(_) => PropertyVerdict::Violated,
            None if found.is_complete() => PropertyVerdict::Holds,
            None => PropertyVerdict::Unknown,
        },
        schedule: violation.as_ref().map(Schedule::to_string),
    });
    judged.collect()
}

fn report(source: &Source, found: Exploration) -> ProgramReport {
    let races = found.races.into_iter().map(|race| ProgramRace {
        target: race.variable,
        first: access(race.first),
        second: access(race.second),
        schedule: race.schedule.to_string(),
    });
    let failures = found.failures.into_iter().map(|found| ProgramFailure {
        message: found.failure.fault.to_string(),
        thread: found.failure.thread.to_string(),
        location: found.failure.position.to_string(),
        schedule: found.schedule.to_string(),
    });
    let deadlocks = found.deadlocks.into_iter().map(|deadlock| ProgramDeadlock {
        waiting: deadlock.blocked.iter().map(ToString::to_string).collect(),
        schedule: deadlock.schedule.to_string(),
    });
    ProgramReport {
        tool: "foretell",
        program: source.name(),
        complete: found.incomplete.is_empty(),
        interrupted: false,
        notes: found.incomplete.iter().map(|why| format!("not all executions are known: {why}")).collect(),
        races: races.collect(),
        failures: failures.collect(),
        deadlocks: deadlocks.collect(),
        properties: Vec::new(),
        stats: ProgramStats {
            states: found.states,
            final_states: found.final_states,
            executions: found.executions,
            ..ProgramStats::default()
        },
    }
}

fn access(access: Access) -> ProgramAccess {
    ProgramAccess {
        thread: access.thread,
        op: if access.writes { "w" } else { "r" },
        location: access.position.to_string(),
    }
}
