//! `foretell trace check`: could a program have produced this?

use std::fmt::Write as _;

use foretell_report::visible::visible;
use foretell_trace::check::Checker;
use foretell_trace::{EventId, Position};

use crate::Outcome;
use crate::error::Failure;
use crate::input::TraceFile;
use crate::output;

/// How many things that are wrong are listed.
const LISTED: usize = 100;

pub(crate) fn run(input: &TraceFile) -> Result<Outcome, Failure> {
    let mut reading = input.open("checks")?;
    let name = visible(&input.name());
    let mut checker = Checker::default();
    let mut text = String::new();
    let (mut wrong, mut explained) = (0_usize, 0);
    while reading.next_unchecked()? {
        let (batch, names) = reading.batch();
        for index in 0..batch.events.len() {
            let verdict = checker.check(&mut batch.events[index], names);
            let verdict = verdict.map_err(|error| Failure::Trace { file: name.clone(), error })?;
            if let Err(violation) = verdict {
                wrong += 1;
                if wrong <= LISTED {
                    let at = place(&name, batch.position(index, violation.event), violation.event);
                    let _ = writeln!(text, "{at}: {}", visible(&violation.to_string()));
                }
            }
        }
        let (unexplained, _) = checker.unexplained();
        for read in &unexplained[explained..] {
            let index = read.event.index() + batch.events.len() - checker.event_count();
            let at = place(&name, batch.position(index, read.event), read.event);
            let _ = writeln!(
                text,
                "{at}: unexplained read: {} holds {} by the recorded writes, but {} was read",
                visible(names.vars.name(read.var)),
                visible(&names.value_text(read.expected)),
                visible(&names.value_text(read.seen))
            );
        }
        explained = unexplained.len();
    }
    let cut_short = reading.is_cut_short();
    write_summary(&mut text, &name, &checker, wrong, cut_short);
    output::write_text(None, &text)?;
    Ok(if wrong > 0 || cut_short { Outcome::Incomplete } else { Outcome::Clean })
}

fn place(name: &str, at: Position, event: EventId) -> String {
    match at {
        Position::Text { .. } => format!("{name}:{at} (event {event})"),
        _ => format!("{name}: {at}"),
    }
}

fn write_summary(text: &mut String, name: &str, checker: &Checker, wrong: usize, cut_short: bool) {
    let events = checker.event_count();
    let noun = if events == 1 { "event" } else { "events" };
    let (listed, unexplained) = checker.unexplained();
    if wrong > LISTED {
        let _ = writeln!(text, "… and {} more", wrong - LISTED);
    }
    let hidden = unexplained.saturating_sub(listed.len() as u64);
    if hidden > 0 {
        let _ = writeln!(text, "… and {hidden} more unexplained reads");
    }
    if cut_short {
        let _ = writeln!(text, "{name}: the recording was cut short after event {events}");
    }
    let verdict = match wrong {
        0 => "well formed".to_string(),
        1 => "1 event cannot be as it is".to_string(),
        wrong => format!("{wrong} events cannot be as they are"),
    };
    let reads = match unexplained {
        0 => String::new(),
        1 => ", 1 unexplained read (taken as an unknown write just before it)".to_string(),
        count => format!(", {count} unexplained reads (taken as unknown writes just before them)"),
    };
    let _ = writeln!(text, "{name}: {events} {noun}, {verdict}{reads}");
}
