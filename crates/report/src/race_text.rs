//! One race as text: both accesses with what is around them, and how they come together.

use crate::context::{Frame, HeldLock, HeldMode, Origin, Place, is_of_library, own_frame};
use crate::observed::{Deed, Link, Observed};
use crate::report::{Access, Proof, Race};
use crate::story::Story;
use crate::story_text;
use crate::text::{Detail, line};
use crate::visible::{place, visible};
use crate::words::value_words;

/// How wide the text should be.
const WIDTH: usize = 100;
/// How far what is around an access is indented.
const INDENT: usize = 6;
/// How many frames of a stack are printed.
const FRAMES: usize = 12;

/// Writes the race with this number.
pub(crate) fn write(out: &mut String, number: usize, race: &Race, detail: Detail) {
    let proof = match race.proof {
        Proof::Adjacent => "a schedule brings the two accesses next to each other",
        Proof::Unordered => "nothing in the observed run orders the two accesses",
    };
    let target = visible(&race.first.target);
    line(out, format_args!("\nrace {number}: {target} · proven: {proof}"));
    if let Some(processes) = race.processes {
        line(out, format_args!("  found in {processes} processes; this is how the first of them shows it"));
    }
    write_access(out, &race.first);
    write_access(out, &race.second);
    if let Some(origin) = &race.second.memory_allocated {
        wrapped(out, 2, &format!("{target} was allocated by {}", origin_text(origin)));
    }
    if let Some(observed) = &race.observed {
        wrapped(out, 2, &observed_text(observed));
    }
    match race.witness_length {
        Some(length) if race.witness.is_none() => {
            line(
                out,
                format_args!("  witness  {length} steps, checked, not printed (--witness all prints it)"),
            );
        }
        _ => write_witness(out, race.story.as_ref(), race.witness.as_deref(), detail),
    }
}

/// Writes how the two come together: the story if there is one, otherwise the numbers of the events.
pub(crate) fn write_witness(
    out: &mut String,
    story: Option<&Story>,
    witness: Option<&[u32]>,
    detail: Detail,
) {
    match (story, witness) {
        (Some(story), _) => story_text::write(out, story),
        (None, Some(witness)) => line(out, format_args!("  witness  {}", steps(witness, detail.steps))),
        (None, None) => {}
    }
}

/// Writes one of the two accesses with what is around it.
pub(crate) fn write_access(out: &mut String, access: &Access) {
    let function = access.function.as_ref().map(|function| format!(" in {}", visible(function)));
    line(
        out,
        format_args!(
            "  {} {}{} at {}  (event {})",
            visible(&access.thread),
            deed(access),
            function.unwrap_or_default(),
            place(&access.location),
            access.event
        ),
    );
    write_source(out, access);
    write_callers(out, access.stack.get(1..).unwrap_or_default());
    if let Some(locks) = &access.locks {
        wrapped(out, INDENT, &locks_text(locks));
    }
    if let Some(start) = &access.thread_started {
        wrapped(out, INDENT, &format!("thread started by {}", origin_text(start)));
    }
}

/// What the access does, in words.
pub(crate) fn deed(access: &Access) -> String {
    let (kind, order) = access.op.split_once('.').unwrap_or((&access.op, ""));
    let verb = match kind {
        "r" => "reads",
        "w" => "writes",
        "aload" => "atomically reads",
        "astore" => "atomically writes",
        "rmw" => "atomically updates",
        "free" => "frees",
        other => other,
    };
    let value =
        access.value.as_ref().map(|value| format!(" = {}", visible(&value_words(value)))).unwrap_or_default();
    let order = if order.is_empty() { String::new() } else { format!(" ({order})") };
    format!("{verb} {}{value}{order}", visible(&access.target))
}

/// The line of the program, with a mark below the column.
fn write_source(out: &mut String, access: &Access) {
    let (Some(source), Some(place)) = (&access.source, Place::parse(&access.location)) else { return };
    let number = place.line.to_string();
    let margin = number.len();
    let room = WIDTH.saturating_sub(INDENT + margin + 3);
    let shown: String = visible(&source.replace('\t', " ")).trim_end().chars().take(room).collect();
    // What all lines around have in common tells nothing.
    let spaces = shown.chars().take_while(|&character| character == ' ').count();
    let shown = shown.trim_start();
    line(out, format_args!("{:INDENT$}{number} | {shown}", ""));
    let column = place.column.and_then(|column| usize::try_from(column).ok());
    if let Some(column) = column.and_then(|column| column.checked_sub(spaces)).filter(|&column| column > 0)
        && column <= shown.chars().count()
    {
        line(out, format_args!("{:INDENT$}{:margin$} | {:>column$}", "", "", "^"));
    }
}

/// Functions of libraries that call each other are only counted.
fn write_callers(out: &mut String, callers: &[Frame]) {
    let runs = callers.chunk_by(|one, other| is_of_library(&one.location) && is_of_library(&other.location));
    let mut told = 0;
    for run in runs.take(FRAMES) {
        told += run.len();
        let text = match run {
            [frame] => format!("called from {}", frame_text(frame)),
            run => format!("called through {} functions of libraries", run.len()),
        };
        line(out, format_args!("{:INDENT$}{text}", ""));
    }
    let more = callers.len() - told;
    if more > 0 {
        line(out, format_args!("{:INDENT$}… and {more} more (--format json lists them)", ""));
    }
}

fn frame_text(frame: &Frame) -> String {
    format!("{} at {}", visible(&frame.function), place(&frame.location))
}

fn locks_text(locks: &[HeldLock]) -> String {
    if locks.is_empty() {
        return "holds no lock".to_string();
    }
    let lock = |held: &HeldLock| {
        let mode = match held.mode {
            HeldMode::Exclusive => "",
            HeldMode::Shared => " as a reader",
        };
        let location = own_frame(&held.stack).map_or(&held.location, |frame| &frame.location);
        format!("{}{mode} (locked at {})", visible(&held.lock), place(location))
    };
    format!("holds {}", locks.iter().map(lock).collect::<Vec<_>>().join(", "))
}

fn origin_text(origin: &Origin) -> String {
    let by = visible(&origin.thread);
    let own = own_frame(&origin.stack).or(origin.stack.first());
    match own {
        None => format!("{by} at {}", place(&origin.location)),
        Some(frame) => format!("{by} in {}", frame_text(frame)),
    }
}

fn observed_text(observed: &Observed) -> String {
    match observed {
        Observed::Unordered => "the recorded run shows it as well: nothing there orders the two".to_string(),
        Observed::Ordered(links) => {
            let deed = |deed: &Deed| {
                format!("{} {} (event {})", visible(&deed.thread), visible(&deed.what), deed.event)
            };
            let link = |link: &Link| format!("{} before {}", deed(&link.from), deed(&link.to));
            let links: Vec<String> = links.iter().map(link).collect();
            format!("why the recorded run hides it: {}", links.join(", and "))
        }
    }
}

/// Writes the text in lines that fit the width, all of them indented.
fn wrapped(out: &mut String, indent: usize, text: &str) {
    let mut current = String::new();
    for word in text.split(' ') {
        let length = indent + current.chars().count() + 1 + word.chars().count();
        if !current.is_empty() && length > WIDTH {
            line(out, format_args!("{:indent$}{current}", ""));
            current = String::from("  ");
            current.push_str(word);
            continue;
        }
        if !current.is_empty() {
            current.push(' ');
        }
        current.push_str(word);
    }
    line(out, format_args!("{:indent$}{current}", ""));
}

/// The steps of a witness, the racing two set apart. Of a long one, the end is what matters.
fn steps(witness: &[u32], limit: usize) -> String {
    let (before, racing) = witness.split_at(witness.len().saturating_sub(2));
    let skipped = before.len().saturating_sub(limit);
    let numbers = |events: &[u32]| events.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
    let mut text = String::new();
    if skipped > 0 {
        text.push_str(&format!("… {skipped} earlier … "));
    }
    text.push_str(&numbers(&before[skipped..]));
    format!("{} ‖ {}", text.trim_end(), numbers(racing)).trim_start().to_string()
}
