//! All about one event, in words.

use foretell_report::visible::{place, visible};
use foretell_report::words::words;
use foretell_trace::{EventId, LockMode, Trace};

use crate::threads::Doing;

/// How many calls of a stack are shown.
const CALLS: usize = 12;

/// All about one event. Everything is safe to be shown.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Details {
    /// Which event of how many.
    pub number: String,
    /// Thread and operation.
    pub deed: String,
    /// Where.
    pub location: String,
    /// The line of the program, where it can be read.
    pub source: Option<String>,
    /// What else is to be said: locks, calls, races.
    pub more: Vec<String>,
}

impl Details {
    /// Of this event; `doing` is what its thread is in the midst of, once that is known.
    pub fn new(trace: &Trace, id: EventId, doing: Option<&Doing>) -> Details {
        let (event, names) = (trace.event(id), trace.names());
        let mut more = Vec::new();
        if event.unexplained {
            more.push("no recorded write explains the value that it read".to_string());
        }
        if let Some(doing) = doing {
            more.push(locks(trace, doing));
            more.extend(stack(trace, doing));
        }
        Details {
            number: format!("event {id} of {}", trace.events().len()),
            deed: visible(&format!("{} {}", names.threads.name(event.thread), words(event.op, names))),
            location: place(&names.loc_text(event.loc)),
            source: None,
            more,
        }
    }
}

fn locks(trace: &Trace, doing: &Doing) -> String {
    let names = trace.names();
    let locks: Vec<String> = doing
        .locks()
        .iter()
        .map(|section| {
            let shared = if section.mode == LockMode::Shared { " shared" } else { "" };
            let lock = visible(names.locks.name(section.lock));
            format!("{lock}{shared} (since event {})", section.since)
        })
        .collect();
    if locks.is_empty() { "holds no lock".to_string() } else { format!("holds {}", locks.join(", ")) }
}

/// The functions, the innermost first, each with the place where it was called.
fn stack(trace: &Trace, doing: &Doing) -> Vec<String> {
    let names = trace.names();
    let mut lines: Vec<String> = doing
        .calls()
        .iter()
        .rev()
        .take(CALLS)
        .enumerate()
        .map(|(depth, call)| {
            let function = visible(names.labels.name(call.function));
            let by = place(&names.loc_text(call.loc));
            let relation = if depth == 0 { "in" } else { "called from" };
            format!("{relation} {function}, which was called at {by}")
        })
        .collect();
    if doing.calls().len() > CALLS {
        lines.push(format!("… and {} more callers", doing.calls().len() - CALLS));
    }
    lines
}
