//! The exploration of all executions of one program.

use std::time::Instant;

use foretell_cimp::Condition;
use foretell_cimp::explore::{self, Access, Exploration, Limits, StateView};
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
use crate::stop::{self, TimeLimit};

/// Explores all executions of the program.
pub(super) fn explore(source: &Source, args: &ExploreArgs) -> Result<ProgramReport, Failure> {
    let begin = Instant::now();
    memory::reset_peak();
    let conditions = conditions(source, args)?;
    let limit = TimeLimit::start(args.time_limit.0)?;
    let found = explore::explore(&source.program, &limits(args, None));
    let mut report = report(source, found);
    for condition in conditions {
        let property = judge(source, args, condition);
        report.properties.push(property);
    }
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

fn limits<'l>(args: &ExploreArgs, property: Option<&'l dyn Fn(&StateView<'_>) -> bool>) -> Limits<'l> {
    let bytes = args.memory.or_else(|| memory::available().map(|bytes| bytes / 4));
    let bounds = Bounds { loop_bound: args.loops.and_then(|bound| bound.0), ..Bounds::default() };
    let usual = Limits::default();
    Limits {
        states: args.max_states.unwrap_or(usize::MAX),
        bytes: bytes.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(usual.bytes),
        bounds,
        count_executions: property.is_none() && !args.races_only,
        stop: Some(stop::flag()),
        property,
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

/// Whether the condition holds in every state. What cannot be computed, such as a division by zero, is no violation.
fn judge(source: &Source, args: &ExploreArgs, condition: &Condition) -> ProgramProperty {
    let holds = |state: &StateView<'_>| condition.holds(&|name| state.number(name)).unwrap_or(true);
    let found = explore::explore(&source.program, &limits(args, Some(&holds)));
    let verdict = match &found.violation {
        Some(_) => PropertyVerdict::Violated,
        None if found.is_complete() => PropertyVerdict::Holds,
        None => PropertyVerdict::Unknown,
    };
    ProgramProperty {
        property: format!("assert {condition}"),
        verdict,
        schedule: found.violation.as_ref().map(Schedule::to_string),
    }
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
