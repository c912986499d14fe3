//! Reports for people at a terminal.

use std::fmt::Write as _;

use crate::decision::{Answer, Decision};
use crate::race_text;
use crate::report::{Access, Candidate, Report, SliceInfo, TraceInfo};
use crate::visible::visible;

/// How much is shown.
#[derive(Clone, Copy, Debug)]
pub struct Detail {
    /// How many candidates are listed.
    pub candidates: usize,
    /// How many steps of a witness are listed.
    pub steps: usize,
}

impl Default for Detail {
    fn default() -> Self {
        Detail { candidates: 20, steps: 40 }
    }
}

/// One report as text.
pub fn render(report: &Report, detail: Detail) -> String {
    let mut out = String::new();
    header(&mut out, report);
    let told = report.races.iter().filter(|race| !race.repeated);
    for (index, race) in told.enumerate() {
        race_text::write(&mut out, index + 1, race, detail);
    }
    write_candidates(&mut out, report, detail);
    write_summary(&mut out, report);
    out
}

/// The word on one pair as text.
pub fn render_decision(decision: &Decision, detail: Detail) -> String {
    let mut out = String::new();
    write_trace(&mut out, &decision.trace, &decision.technique);
    line(&mut out, format_args!("\n{}: {}", visible(&decision.first.target), answer(decision)));
    race_text::write_access(&mut out, &decision.first);
    race_text::write_access(&mut out, &decision.second);
    race_text::write_witness(&mut out, decision.story.as_ref(), decision.witness.as_deref(), detail);
    for (index, step) in decision.steps.iter().enumerate() {
        line(&mut out, format_args!("  {}. {}", index + 1, visible(step)));
    }
    line(&mut out, format_args!("\n{}: decided in {:.2} s", decision.technique, decision.stats.seconds));
    out
}

fn answer(decision: &Decision) -> String {
    match (decision.verdict, decision.window) {
        (Answer::Race, _) => {
            "race · proven: a schedule brings the two accesses next to each other".to_string()
        }
        (Answer::NoRace, _) if decision.steps.is_empty() => {
            "no race: the search has tried all schedules of the model".to_string()
        }
        (Answer::NoRace, _) => {
            "no race: to run the two next to each other leads to a contradiction".to_string()
        }
        (Answer::NotInWindow, Some(window)) => {
            format!("no race within a window of {window} events; --window all decides")
        }
        (Answer::NotInWindow, None) => "no race within one window".to_string(),
        (Answer::Undecided, _) => {
            format!("undecided: {}", visible(decision.reason.as_deref().unwrap_or("no reason is known")))
        }
    }
}

fn header(out: &mut String, report: &Report) {
    let trace = &report.trace;
    write_trace(out, trace, &report.technique);
    write_notes(out, report);
}

/// The trace, and what is to be known about it.
pub(crate) fn write_trace(out: &mut String, trace: &TraceInfo, technique: &str) {
    let (events, threads) = (count(trace.events, "event"), count(trace.threads, "thread"));
    line(out, format_args!("{} · {technique} · {events}, {threads}", visible(&trace.file)));
    if let Some(slice) = &trace.slice {
        let SliceInfo { property, events, of, .. } = slice;
        line(out, format_args!("  slice: {}; {events} of {of} events matter to it", visible(property)));
        if !slice.sound {
            line(out, format_args!("  note: the slice is as published: what is found in it is not proven"));
        }
    }
    if trace.cut_short {
        let because =
            trace.cut_because.as_ref().map(|why| format!(" ({})", visible(why))).unwrap_or_default();
        line(
            out,
            format_args!(
                "  note: the recording was cut short after event {}{because}; nothing is known of what came next",
                trace.events
            ),
        );
    }
    if trace.unexplained_reads > 0 {
        line(
            out,
            format_args!(
                "  note: {} saw a value that no recorded write explains; nothing is reordered across them",
                count(trace.unexplained_reads, "read")
            ),
        );
    }
}

fn write_notes(out: &mut String, report: &Report) {
    if report.interrupted {
        line(out, format_args!("  note: interrupted; what is not listed below is not known"));
    }
    for note in &report.notes {
        line(out, format_args!("  note: {}", visible(note)));
    }
}

fn write_candidates(out: &mut String, report: &Report, detail: Detail) {
    if report.undecided.is_empty() {
        return;
    }
    line(out, format_args!("\ncandidates, not proven to be races:"));
    for candidate in report.undecided.iter().take(detail.candidates) {
        write_candidate(out, candidate);
    }
    let more = report.undecided.len().saturating_sub(detail.candidates);
    if more > 0 {
        line(out, format_args!("  … and {more} more (--format json lists all)"));
    }
}

fn write_candidate(out: &mut String, candidate: &Candidate) {
    line(out, format_args!("\n  {}: {}", visible(&candidate.first.target), visible(&candidate.reason)));
    write_accesses(out, &candidate.first, &candidate.second);
    if candidate.more > 0 {
        line(out, format_args!("  and {} of these locations", count(candidate.more, "more pair")));
    }
}

pub(crate) fn write_accesses(out: &mut String, first: &Access, second: &Access) {
    let columns = |access: &Access| {
        (visible(&access.thread), operation(access), visible(&access.location), access.event)
    };
    let rows = [columns(first), columns(second)];
    let width = |text: fn(&(String, String, String, u32)) -> &String| {
        rows.iter().map(|row| text(row).chars().count()).max().unwrap_or(0)
    };
    let (threads, operations, locations) = (width(|row| &row.0), width(|row| &row.1), width(|row| &row.2));
    for (thread, operation, location, event) in &rows {
        line(
            out,
            format_args!(
                "  {thread:<threads$}  {operation:<operations$}  at {location:<locations$}  (event {event})"
            ),
        );
    }
}

fn operation(access: &Access) -> String {
    let target = visible(&access.target);
    match &access.value {
        Some(value) => format!("{}({target},{})", access.op, visible(value)),
        None => format!("{}({target})", access.op),
    }
}

fn write_summary(out: &mut String, report: &Report) {
    let races = match report.races.len() {
        0 => "no race proven".to_string(),
        races => format!("{} proven", count(races, "race")),
    };
    let candidates = match report.undecided.len() as u64 + report.stats.not_listed {
        0 => String::new(),
        candidates => format!(", {} not proven", count(candidates, "candidate")),
    };
    let stats = &report.stats;
    let refuted = match stats.refuted {
        0 => String::new(),
        pairs => format!(", {} refuted", count(pairs, "pair")),
    };
    line(out, format_args!("\n{}: {races}{candidates}{refuted} in {:.2} s", report.technique, stats.seconds));
    let repeated = report.races.iter().filter(|race| race.repeated).count();
    if repeated > 0 {
        line(out, format_args!("  {} told above, of an earlier process", count(repeated, "race")));
    }
    if let Some(suppressed) = report.suppressed.as_ref().filter(|suppressed| suppressed.count > 0) {
        let pairs = count(suppressed.count, "more pair");
        line(out, format_args!("  {pairs} suppressed by {}", visible(&suppressed.file)));
    }
    if let Some(driven @ 1..) = report.driven {
        let races = count(driven, "race");
        line(out, format_args!("  the program itself was driven into {races}"));
    }
    if let (1.., Some(window)) = (stats.not_in_window, report.window) {
        let have = if stats.not_in_window == 1 { "has" } else { "have" };
        let pairs = count(stats.not_in_window, "pair");
        line(
            out,
            format_args!(
                "  note: {pairs} {have} no race within a window of {window} events; --window all decides them"
            ),
        );
    }
    if stats.not_listed > 0 {
        line(out, format_args!("  note: {} of these not listed", count(stats.not_listed, "candidate")));
    }
    if stats.not_examined > 0 {
        line(out, format_args!("  note: {} not looked at", count(stats.not_examined, "pair")));
    }
    if report.stats.forgotten_accesses > 0 {
        line(
            out,
            format_args!(
                "  note: {} left the bounded history while they might still have raced; --pairs all keeps everything",
                count(report.stats.forgotten_accesses, "older access")
            ),
        );
    }
}

pub(crate) fn count(number: impl TryInto<u64>, noun: &str) -> String {
    let number = number.try_into().unwrap_or(u64::MAX);
    let plural = if noun.ends_with("ss") { "es" } else { "s" };
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}{plural}") }
}

pub(crate) fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing into a string cannot fail.
    let _ = out.write_fmt(text);
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_keeps_the_answer_open_is_told() {
        let mut report = Report::new("rv");
        report.window = Some(1000);
        report.interrupted = true;
        report.notes = vec!["there is no room".to_string()];
        report.stats.refuted = 1;
        report.stats.not_in_window = 12;
        report.stats.not_examined = 3;
        let text = render(&report, Detail::default());
        for expected in [
            "note: interrupted; what is not listed below is not known",
            "note: there is no room",
            "rv: no race proven, 1 pair refuted in",
            "note: 12 pairs have no race within a window of 1000 events; --window all decides them",
            "note: 3 pairs not looked at",
        ] {
            assert!(text.contains(expected), "`{expected}` is not in {text}");
        }
        report.stats.not_in_window = 1;
        assert!(render(&report, Detail::default()).contains("1 pair has no race"));
    }
}
