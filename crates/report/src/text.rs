//! Reports for people at a terminal.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use crate::cause::{causes, of_each};
use crate::cause_text;
use crate::coverage_text;
use crate::decision::{Answer, Decision};
use crate::hunt_text;
use crate::notes;
use crate::page::{GLUE, Ink, Page, Text};
use crate::predicted_deadlock;
use crate::predicted_violation::{self, PredictedViolation, ViolationKind};
use crate::race_text;
use crate::report::{Candidate, RacingAccess, Report, SliceInfo, TraceInfo};
use crate::sink::{Sink, whole};
use crate::visible::{pad, visible, width};

/// How much is shown, and how.
#[derive(Clone, Copy, Debug)]
pub struct Detail {
    /// How many candidates are listed.
    pub candidates: usize,
    /// How many steps of a witness are listed.
    pub steps: usize,
    /// How many columns the terminal has.
    pub width: usize,
    /// Whether the terminal shows colours.
    pub color: bool,
}

impl Default for Detail {
    fn default() -> Self {
        Detail { candidates: 20, steps: 40, width: 80, color: false }
    }
}

/// One report as text.
pub fn render(report: &Report, detail: Detail) -> io::Result<String> {
    whole(|sink| write(report, detail, sink))
}

/// The same, piece by piece.
pub fn write(report: &Report, detail: Detail, sink: &mut Sink<'_>) -> io::Result<()> {
    let mut page = Page::new(detail);
    write_trace(&mut page, &report.trace, &report.technique);
    notes::of_search(report).iter().for_each(|text| note(&mut page, text));
    let causes = causes(report);
    cause_text::write_all(&mut page, &causes);
    let of_each = of_each(&causes);
    for (index, race) in report.listed_races().enumerate() {
        sink.look()?;
        let cause = of_each.get(index).copied().flatten();
        race_text::write(&mut page, index + 1, race, cause, detail);
        sink.write_all(page.take().as_bytes())?;
    }
    for (index, deadlock) in report.deadlocks.iter().enumerate() {
        sink.look()?;
        predicted_deadlock::write(&mut page, index + 1, deadlock);
    }
    for (index, violation) in report.violations.iter().enumerate() {
        sink.look()?;
        predicted_violation::write(&mut page, index + 1, violation);
    }
    write_candidates(&mut page, report, detail);
    if let Some(hunt) = &report.hunt {
        hunt_text::write(&mut page, hunt);
    }
    write_summary(&mut page, report);
    sink.write_all(page.finish().as_bytes())
}

/// What was found in all, in a few words.
pub fn summary(reports: &[Report]) -> String {
    let races = reports.iter().flat_map(Report::listed_races).count();
    let open = reports.iter().map(|report| report.undecided.len() as u64 + report.stats.not_listed).sum();
    let pairs = match (races, open) {
        (0, 0) => "no race proven".to_string(),
        (0, open) => format!("no race proven, {} not proven", count(open, "candidate")),
        (races, open) => {
            let unconfirmed = unconfirmed(reports);
            let open =
                if open > 0 { format!(", {} not proven", count(open, "candidate")) } else { String::new() };
            format!("{} proven{unconfirmed}{open}", count(races, "race"))
        }
    };
    let pairs = match reports.iter().map(|report| report.deadlocks.len()).sum() {
        0_usize => pairs,
        deadlocks => format!("{pairs}, {} proven", count(deadlocks, "deadlock")),
    };
    let pairs = match uses_after_free(reports.iter().flat_map(|report| &report.violations)) {
        Some(uses) => format!("{pairs}, {uses} proven"),
        None => pairs,
    };
    match reports.iter().filter_map(|report| report.hunt.as_ref()).map(|hunt| hunt.deadlocks.len()).sum() {
        0_usize => pairs,
        deadlocks => format!("{pairs}, {}", count(deadlocks, "deadlock")),
    }
}

/// How many uses after a free there are, if any.
fn uses_after_free<'a>(all: impl IntoIterator<Item = &'a PredictedViolation>) -> Option<String> {
    let is_use = |violation: &&PredictedViolation| violation.kind == ViolationKind::UseAfterFree;
    match all.into_iter().filter(is_use).count() {
        0 => None,
        1 => Some("1 use after free".to_string()),
        uses => Some(format!("{uses} uses after free")),
    }
}

/// How many of the proven races the program was not driven into, if that was tried.
fn unconfirmed(reports: &[Report]) -> String {
    match reports.iter().flat_map(Report::unconfirmed_races).count() {
        0 => String::new(),
        unconfirmed => format!(" ({unconfirmed} not confirmed)"),
    }
}

/// What a reader may do next, if anything was found. With `saved`, a JSON report is there already.
pub fn next_step(reports: &[Report], saved: Option<&str>, detail: Detail) -> String {
    let found = |report: &Report| report.listed_races().next().is_some();
    let at = reports.iter().position(found).map(|at| (at, "--race 1"));
    let open = || reports.iter().position(|report| !report.undecided.is_empty());
    let Some((at, which)) = at.or_else(|| open().map(|at| (at, "--candidate 1"))) else {
        return String::new();
    };
    let report = if reports.len() > 1 { format!(" --report {}", at + 1) } else { String::new() };
    let explain = |file: &str| {
        let command = format!("foretell explain {file}{report} {which}").replace(' ', &GLUE.to_string());
        Text::new().ink(Ink::Heading, command)
    };
    let mut page = Page::new(detail);
    match saved {
        Some(file) => page.wrapped(2, 4, Text::from("next: ").append(explain(&visible(file)))),
        None => {
            let text =
                Text::from(format!("next: add -o{GLUE}report.json, then ")).append(explain("report.json"));
            page.wrapped(2, 4, text.add(format!("; or -o{GLUE}report.html for a browser")));
        }
    }
    page.finish()
}

/// The word on one pair as text.
pub fn render_decision(decision: &Decision, detail: Detail) -> String {
    let mut page = Page::new(detail);
    write_trace(&mut page, &decision.trace, &decision.technique);
    page.blank();
    let target = visible(&decision.first.target);
    page.wrapped(0, 2, Text::new().ink(Ink::Heading, target).add(": ").append(answer(decision)));
    race_text::write_access(&mut page, &decision.first, race_text::LINES_AROUND, race_text::FRAMES);
    race_text::write_access(&mut page, &decision.second, race_text::LINES_AROUND, race_text::FRAMES);
    race_text::write_witness(&mut page, decision.story.as_ref(), decision.witness.as_deref(), detail);
    write_contradiction(&mut page, &decision.steps);
    page.blank();
    page.line(format!("{}: decided in {:.2} s", decision.technique, decision.stats.seconds));
    page.finish()
}

/// The steps that lead to a contradiction.
pub(crate) fn write_contradiction(page: &mut Page, steps: &[String]) {
    for (index, step) in steps.iter().enumerate() {
        page.wrapped(2, 5, format!("{}. {}", index + 1, visible(step)));
    }
}

/// The answer in words.
pub(crate) fn answer(decision: &Decision) -> Text {
    match (decision.verdict, decision.window) {
        (Answer::Race, _) => {
            let why = ": a schedule makes the two accesses adjacent";
            Text::new().ink(Ink::Race, "race").add(" · ").ink(Ink::Sure, "proven").add(why)
        }
        (Answer::NoRace, _) if decision.steps.is_empty() => {
            Text::new().ink(Ink::Sure, "no race").add(": the search has tried all schedules of the model")
        }
        (Answer::NoRace, _) => Text::new()
            .ink(Ink::Sure, "no race")
            .add(": making the two accesses adjacent leads to a contradiction"),
        (Answer::NotInWindow, Some(window)) => Text::new()
            .ink(Ink::Doubt, format!("no race within a window of {window} events"))
            .add("; --window all decides"),
        (Answer::NotInWindow, None) => Text::new().ink(Ink::Doubt, "no race within one window"),
        (Answer::Undecided, _) => {
            let reason = visible(decision.reason.as_deref().unwrap_or("no reason is known"));
            Text::new().ink(Ink::Doubt, "undecided").add(format!(": {reason}"))
        }
    }
}

/// The trace, and what is to be known about it.
pub(crate) fn write_trace(page: &mut Page, trace: &TraceInfo, technique: &str) {
    let (events, threads) = (count(trace.events, "event"), count(trace.threads, "thread"));
    let about = format!(" · {} · {events}, {threads}", visible(technique));
    page.wrapped(0, 2, Text::new().ink(Ink::Heading, visible(&trace.file)).add(about));
    if let Some(slice) = &trace.slice {
        let SliceInfo { property, events, of, .. } = slice;
        page.wrapped(2, 4, format!("slice: {}; {events} of {of} events matter to it", visible(property)));
    }
    notes::of_trace(trace).iter().for_each(|text| note(page, text));
}

/// Writes what a reader should know before relying on the rest. What comes from outside is made visible.
pub(crate) fn note(page: &mut Page, text: &str) {
    page.wrapped(2, 4, Text::new().ink(Ink::Doubt, "note:").add(format!(" {}", visible(text))));
}

fn write_candidates(page: &mut Page, report: &Report, detail: Detail) {
    if report.undecided.is_empty() {
        return;
    }
    page.blank();
    page.line(Text::new().ink(Ink::Heading, "candidates, not proven to be races:"));
    for (index, candidate) in report.undecided.iter().take(detail.candidates).enumerate() {
        page.blank();
        write_candidate(page, index + 1, candidate);
    }
    let more = report.undecided.len().saturating_sub(detail.candidates);
    if more > 0 {
        page.blank();
        page.line(format!("  … and {more} more (--format json lists all)"));
    }
}

/// Writes one candidate with its number.
fn write_candidate(page: &mut Page, number: usize, candidate: &Candidate) {
    let target = format!("candidate {number}: {}", visible(&candidate.first.target));
    let reason = format!(": {}", visible(&candidate.reason));
    page.wrapped(2, 4, Text::new().ink(Ink::Doubt, target).add(reason));
    write_accesses(page, &candidate.first, &candidate.second);
    if candidate.more > 0 {
        page.line(format!("    and {} of these locations", count(candidate.more, "more pair")));
    }
}

/// Two accesses, one below the other; in columns if that fits.
pub(crate) fn write_accesses(page: &mut Page, first: &RacingAccess, second: &RacingAccess) {
    let rows = [first, second].map(|access| {
        [visible(&access.thread), operation(access), format!("at {}", visible(&access.location))]
    });
    let widest = |column: usize| rows.iter().map(|row| width(&row[column])).max().unwrap_or(0);
    let columns = [widest(0), widest(1), widest(2)];
    let events = [first.event, second.event].map(|event| format!("(event{GLUE}{event})"));
    let fits =
        4 + columns.iter().sum::<usize>() + 6 + events.iter().map(|event| width(event)).max().unwrap_or(0);
    for ([thread, operation, location], event) in rows.iter().zip(&events) {
        let text = |one: usize, other: usize, last: usize| {
            Text::new()
                .add(format!("{}  {}  ", pad(thread, one), pad(operation, other)))
                .ink(Ink::Place, pad(location, last))
                .ink(Ink::Quiet, format!("  {event}"))
        };
        if fits <= page.width {
            page.line(Text::from("    ").append(text(columns[0], columns[1], columns[2])));
        } else {
            page.wrapped(4, 6, text(0, 0, 0));
        }
    }
}

fn operation(access: &RacingAccess) -> String {
    let (op, target) = (visible(&access.op), visible(&access.target));
    match &access.value {
        Some(value) => format!("{op}({target},{})", visible(value)),
        None => format!("{op}({target})"),
    }
}

fn write_summary(page: &mut Page, report: &Report) {
    let races = match report.races.len() {
        0 => Text::new().ink(Ink::Heading, "no race proven"),
        races => {
            let unconfirmed = unconfirmed(std::slice::from_ref(report));
            Text::new().ink(Ink::Race, format!("{} proven", count(races, "race"))).add(unconfirmed)
        }
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
    let deadlocks = match report.deadlocks.len() {
        0 => Text::new(),
        deadlocks => Text::from(", ").ink(Ink::Race, format!("{} proven", count(deadlocks, "deadlock"))),
    };
    let uses = uses_after_free(&report.violations)
        .map(|uses| Text::from(", ").ink(Ink::Race, format!("{uses} proven")))
        .unwrap_or_default();
    page.blank();
    let technique = Text::from(format!("{}: ", visible(&report.technique)));
    let rest = format!("{candidates}{refuted} in {:.2} s", stats.seconds);
    page.wrapped(0, 2, technique.append(races).append(deadlocks).append(uses).add(rest));
    write_asides(page, report);
    notes::of_rest(report).iter().for_each(|text| note(page, text));
    coverage_text::write(page, &report.trace);
    if report.hunt.is_some() && report.trace.coverage.is_none() {
        page.wrapped(2, 4, "coverage: not measured, because online detection keeps no recording");
    }
    if let Some(command) = &report.evidence {
        note(page, &notes::ask_for_evidence(command));
    }
    if report.races.is_empty() {
        coverage_text::write_warning(page, &report.trace);
    }
}

/// What else there is to say of what was found.
fn write_asides(page: &mut Page, report: &Report) {
    let repeated = report.races.iter().filter(|race| race.repeated).count();
    if repeated > 0 {
        page.wrapped(2, 4, format!("{} already reported for an earlier process", count(repeated, "race")));
    }
    if let Some(suppressed) = report.suppressed.as_ref().filter(|suppressed| suppressed.count > 0) {
        let pairs = count(suppressed.count, "more pair");
        page.wrapped(2, 4, format!("{pairs} suppressed by {}", visible(&suppressed.file)));
    }
    if let Some(known) = report.known.as_ref().filter(|known| known.count > 0) {
        page.wrapped(2, 4, format!("{} from {}", known.words(), visible(&known.files.join(", "))));
    }
    if let Some(driven @ 1..) = report.driven {
        page.wrapped(2, 4, format!("the program itself was driven into {}", count(driven, "race")));
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
        let wide = Detail { width: 120, ..Detail::default() };
        let text = render(&report, wide).unwrap();
        for expected in [
            "note: interrupted: the results below are incomplete",
            "note: there is no room",
            "rv: no race proven, 1 pair refuted in",
            "note: 12 pairs have no race within a window of 1000 events; --window all decides them",
            "note: 3 pairs not examined",
        ] {
            assert!(text.contains(expected), "`{expected}` is not in {text}");
        }
        report.stats.not_in_window = 1;
        assert!(render(&report, Detail::default()).unwrap().contains("1 pair has no race"));
    }
}
