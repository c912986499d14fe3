//! Tests of the referee, the oracle and the proof of unordered accesses.

mod conformance;
mod necessary;
mod oracle;
mod proof;
mod properties;
mod referee;
mod rules;
mod unordered;
mod values;

use foretell_trace::{EventId, Trace};

/// A trace in the text format. Locations may be left out.
fn trace(text: &str) -> Trace {
    let complete: String = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| if line.matches('|').count() == 1 { format!("{line}|0\n") } else { format!("{line}\n") })
        .collect();
    foretell_testkit::trace(&complete)
}

/// Events by their numbers.
fn ids(numbers: &[u32]) -> Vec<EventId> {
    numbers.iter().map(|&number| id(number)).collect()
}

fn id(number: u32) -> EventId {
    EventId::from_number(number).unwrap()
}
