//! The exploration of all executions of one program.

use std::cell::Cell;
use std::time::Instant;

use foretell_cimp::Condition;
use foretell_cimp::explore::{self, Exploration, Limits, Property, RaceSide, StateView};
use foretell_cimp::machine::Bounds;
use foretell_cimp::scheduler::Schedule;
use foretell_engine::analysis::time_text;
use foretell_report::{
    ProgramAccess, ProgramDeadlock, ProgramFailure, ProgramProperty, ProgramRace, ProgramReport,
    ProgramStats, PropertyVerdict,
};

use super::property::Wanted;
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
    let holds: Vec<_> = conditions.iter().map(|asked| |state: &StateView<'_>| asked.holds(state)).collect();
    let properties: Vec<Property<'_>> = holds.iter().map(|holds| holds as Property<'_>).collect();
    let bar = Progress::of_steps("explores", !args.input.no_progress);
    let watch = |states| bar.visited(states);
    let found =
        explore::explore(&source.program, &Limits { watch: Some(&watch), ..limits(args, &properties) });
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

fn limits<'l>(args: &ExploreArgs, properties: &'l [Property<'l>]) -> Limits<'l> {
    let bytes = args.memory.or_else(|| memory::available().map(|bytes| bytes / 4));
    let bounds = Bounds { loop_bound: args.loops.and_then(|bound| bound.0), ..Bounds::default() };
    let usual = Limits::default();
    Limits {
        states: args.max_states,
        bytes: bytes.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(usual.bytes),
        bounds,
        count_executions: !args.races_only,
        stop: Some(stop::flag()),
        properties,
        ..usual
    }
}

/// The properties that can be asked of a program: those of its memory. Events have numbers only in one run.
fn conditions<'a>(source: &Source, args: &'a ExploreArgs) -> Result<Vec<Asked<'a>>, Failure> {
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
            match condition.names().find_map(|(name, indexed)| misunderstood(source, name, indexed)) {
                Some(why) => Err(unusable(wanted, &why)),
                None => Ok(Asked { condition, doubt: Cell::new(false) }),
            }
        })
        .collect()
}

/// What is wrong with a name in a condition, if anything.
fn misunderstood(source: &Source, name: &str, indexed: bool) -> Option<String> {
    match source.program.shared.iter().find(|shared| shared.group.name == name) {
        None => Some(format!("there is no shared variable `{name}`")),
        Some(shared) if shared.group.length.is_some() && !indexed => {
            Some(format!("`{name}` is an array: say which element"))
        }
        Some(shared) if shared.group.length.is_none() && indexed => Some(format!("`{name}` is no array")),
        Some(_) => None,
    }
}

/// A condition that should hold in every state.
struct Asked<'a> {
    condition: &'a Condition,
    /// Set once it could not be computed in some state: because of a reference, a division by zero, an index that no
    /// element has.
    doubt: Cell<bool>,
}

impl Asked<'_> {
    /// Whether it holds. What cannot be computed is no violation, but leaves a doubt.
    fn holds(&self, state: &StateView<'_>) -> bool {
        self.condition.holds(&|name| state.number(name)).unwrap_or_else(|| {
            self.doubt.set(true);
            true
        })
    }
}

/// The word on each condition.
fn judge(conditions: &[Asked<'_>], found: &Exploration) -> Vec<ProgramProperty> {
    let judged = conditions.iter().zip(&found.violations).map(|(asked, violation)| ProgramProperty {
        property: format!("assert {}", asked.condition),
        verdict: match violation {
            Some(_) => PropertyVerdict::Violated,
            None if found.is_complete() && !asked.doubt.get() => PropertyVerdict::Holds,
            None => PropertyVerdict::Unknown,
        },
        schedule: violation.as_ref().map(Schedule::to_string),
    });
    judged.collect()
}

fn report(source: &Source, found: Exploration) -> ProgramReport {
    let mut notes: Vec<String> =
        found.incomplete.iter().map(|why| format!("not all executions are known: {why}")).collect();
    if found.is_complete()
        && found.final_states == 0
        && found.failures.is_empty()
        && found.deadlocks.is_empty()
    {
        notes.push("no execution comes to an end".to_string());
    }
    let complete = found.is_complete();
    let races = found.races.into_iter().map(|race| ProgramRace {
        target: race.variable,
        first: access(race.first),
        second: access(race.second),
        schedule: race.schedule.to_string(),
    });
    let failures = found.failures.into_iter().map(|found| ProgramFailure {
        message: found.failure.fault.to_string(),
        thread: found.failure.thread.to_string(),
        source: source.line(found.failure.position),
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
        complete,
        interrupted: false,
        notes,
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

fn access(access: RaceSide) -> ProgramAccess {
    ProgramAccess {
        thread: access.thread,
        op: if access.writes { "w" } else { "r" },
        location: access.position.to_string(),
    }
}
