//! `foretell trace view`: the events of a trace, a column for each thread.

use std::collections::BTreeMap;

use foretell_report::visible::{fit, pad, visible, width};
use foretell_trace::format::text::op_text;
use foretell_trace::{Event, EventId, Names, ThreadId};

use crate::Outcome;
use crate::error::Failure;
use crate::input::TraceFile;
use crate::output;

/// The narrowest column.
const NARROWEST: usize = 8;
/// The widest column; a longer operation is cut.
const WIDEST: usize = 32;

pub(crate) fn run(input: &TraceFile, from: usize, count: usize) -> Result<Outcome, Failure> {
    let mut reading = input.open("reads")?;
    let mut shown: Vec<(EventId, Event)> = Vec::new();
    let mut more = false;
    // Unchecked: a trace with something wrong is one that people want to look at.
    while !more && reading.next_unchecked()? {
        let begin = reading.events() - reading.batch().0.events.len();
        for (index, event) in reading.batch().0.events.iter().enumerate() {
            let id = EventId::from_index(begin + index).filter(|id| id.index() + 1 >= from);
            more |= id.is_some() && shown.len() == count;
            if let Some(id) = id.filter(|_| shown.len() < count) {
                shown.push((id, *event));
            }
        }
    }
    let (events, is_cut_short) = (reading.events(), reading.is_cut_short());
    // With the reading goes its progress bar.
    let names = reading.into_names();
    if shown.is_empty() {
        return Err(Failure::Usage(format!("{} has {events} events: none to show", input.name())));
    }
    let mut text = render(&shown, &names, more);
    if is_cut_short && !more {
        text.push_str("… and here the recording was cut short\n");
        output::write_text(None, &text)?;
        return Ok(Outcome::Incomplete);
    }
    output::write_text(None, &text)?;
    Ok(Outcome::Clean)
}

fn render(shown: &[(EventId, Event)], names: &Names, more: bool) -> String {
    let columns = columns(shown, names);
    let head = columns.iter().map(|(&thread, &width)| cell(names.threads.name(thread), width));
    let mut text = line("event", "", head);
    for (id, event) in shown {
        let cells = columns.iter().map(|(&thread, &width)| {
            cell(&if thread == event.thread { op_text(event.op, names) } else { String::new() }, width)
        });
        text.push_str(&line(&id.to_string(), &visible(&names.loc_text(event.loc)), cells));
    }
    if more {
        text.push_str("… more events follow (--from, --count)\n");
    }
    text
}

/// The threads that have something to show, with the widths of their columns.
fn columns(shown: &[(EventId, Event)], names: &Names) -> BTreeMap<ThreadId, usize> {
    let mut columns = BTreeMap::new();
    for (_, event) in shown {
        let name = width(&visible(names.threads.name(event.thread)));
        let column = columns.entry(event.thread).or_insert_with(|| name.clamp(NARROWEST, WIDEST));
        *column = (*column).max(width(&visible(&op_text(event.op, names)))).min(WIDEST);
    }
    columns
}

/// `text` in exactly so many columns.
fn cell(text: &str, columns: usize) -> String {
    pad(&fit(&visible(text), columns), columns)
}

fn line(event: &str, location: &str, cells: impl Iterator<Item = String>) -> String {
    let cells = cells.collect::<Vec<_>>().join("  ");
    let text = format!("{event:>8}  {cells}  {location}");
    format!("{}\n", text.trim_end())
}
