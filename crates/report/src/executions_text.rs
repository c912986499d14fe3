//! Explorations of programs for people at a terminal.

use crate::closure::PropertyVerdict;
use crate::executions::{ProgramAccess, ProgramProperty, ProgramReport, ProgramStats};
use crate::text::{count, line};
use crate::visible::visible;

/// One exploration as text.
pub fn render(report: &ProgramReport) -> String {
    let mut out = String::new();
    line(
        &mut out,
        format_args!("{} · all executions · {}", visible(&report.program), figures(&report.stats)),
    );
    if report.interrupted {
        line(&mut out, format_args!("  note: interrupted: the results below are incomplete"));
    }
    for note in &report.notes {
        line(&mut out, format_args!("  note: {}", visible(note)));
    }
    for (index, race) in report.races.iter().enumerate() {
        line(&mut out, format_args!("\nrace {}: {}", index + 1, visible(&race.target)));
        write_access(&mut out, &race.first);
        write_access(&mut out, &race.second);
        write_schedule(&mut out, &race.schedule);
    }
    for (index, failure) in report.failures.iter().enumerate() {
        let (message, location) = (visible(&failure.message), visible(&failure.location));
        let file = visible(&report.program);
        line(&mut out, format_args!("\nfailure {}: {file}:{location}: {message}", index + 1));
        line(&mut out, format_args!("  source    {}", visible(&failure.source)));
        line(&mut out, format_args!("  thread    {}", visible(&failure.thread)));
        write_schedule(&mut out, &failure.schedule);
    }
    for (index, deadlock) in report.deadlocks.iter().enumerate() {
        line(&mut out, format_args!("\ndeadlock {}:", index + 1));
        for thread in &deadlock.waiting {
            line(&mut out, format_args!("  {}", visible(thread)));
        }
        write_schedule(&mut out, &deadlock.schedule);
    }
    for property in &report.properties {
        write_property(&mut out, property);
    }
    line(&mut out, format_args!("\n{}", summary(report)));
    out
}

fn figures(stats: &ProgramStats) -> String {
    let states = count(stats.states, "state");
    match stats.executions {
        Some(executions) => {
            format!("{states}, {executions} execution{}", if executions == 1 { "" } else { "s" })
        }
        None => states,
    }
}

fn write_access(out: &mut String, access: &ProgramAccess) {
    let ProgramAccess { thread, op, location } = access;
    let what = if *op == "w" { "writes" } else { "reads" };
    line(out, format_args!("  {}  {what} at {}", visible(thread), visible(location)));
}

fn write_schedule(out: &mut String, schedule: &str) {
    let shown = if schedule.is_empty() { "at once".to_string() } else { visible(schedule) };
    line(out, format_args!("  schedule  {shown}"));
}

fn write_property(out: &mut String, property: &ProgramProperty) {
    let verdict = match property.verdict {
        PropertyVerdict::Holds => "holds in all states",
        PropertyVerdict::Violated => "is violated",
        PropertyVerdict::Unknown => "is unknown: it could not be evaluated in all states",
    };
    line(out, format_args!("\n{}: {verdict}", visible(&property.property)));
    if let Some(schedule) = &property.schedule {
        write_schedule(out, schedule);
    }
}

fn summary(report: &ProgramReport) -> String {
    let found = [
        count(report.races.len(), "race"),
        count(report.failures.len(), "failure"),
        count(report.deadlocks.len(), "deadlock"),
    ];
    let how_far = if report.complete { "all executions explored" } else { "not all executions explored" };
    format!("{}; {how_far} in {:.2} s", found.join(", "), report.stats.seconds)
}
