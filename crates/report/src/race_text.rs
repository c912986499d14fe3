//! One race as text: both accesses with what is around them, and how they come together.

use crate::cause::Cause;
use crate::cause_text;
use crate::confirmation_text;
use crate::context::{Frame, HeldLock, HeldMode, Origin, is_of_library, own_frame};
use crate::function_name::short;
use crate::observed::{Deed, Observed};
use crate::page::{GLUE, Ink, Page, Text};
use crate::report::{Proof, Race, RacingAccess, WitnessTail};
use crate::source_text;
use crate::story::Story;
use crate::story_text;
use crate::text::Detail;
use crate::visible::{place, visible};
use crate::words::value_words;

/// How far what is around an access is indented.
pub(crate) const INDENT: usize = 6;
/// How many frames of a stack are printed,
pub(crate) const FRAMES: usize = 12;
/// and how many lines of the program before and after an access.
pub(crate) const LINES_AROUND: usize = 1;
/// How many new values are printed.
const VALUES: usize = 12;

/// Writes the race with this number.
pub(crate) fn write(page: &mut Page, number: usize, race: &Race, cause: Option<&Cause>, detail: Detail) {
    page.blank();
    write_title(page, number, race);
    if let Some(cause) = cause {
        cause_text::write(page, number, cause);
    }
    if let Some(hunted) = &race.hunted {
        page.wrapped(2, 4, visible(&hunted.words()));
    }
    if let Some(path) = &race.path {
        page.wrapped(2, 4, Text::new().ink(Ink::Heading, "path").add(format!(": {}", visible(path))));
    }
    if let Some(processes) = race.processes {
        page.line(format!("  found in {processes} processes; this is how the first of them shows it"));
    }
    write_access(page, &race.first, LINES_AROUND, FRAMES);
    write_access(page, &race.second, LINES_AROUND, FRAMES);
    write_origin_of_memory(page, race);
    if let Some(observed) = &race.observed {
        let title = match observed {
            Observed::Unordered => Text::new(),
            Observed::Ordered(_) => Text::new().ink(Ink::Heading, "why the recorded run hides it").add(": "),
        };
        page.wrapped(2, 4, title.append(observed_text(observed)));
    }
    match (race.proof, race.witness_length) {
        (Proof::Unordered, _) => page.wrapped(2, 4, UNORDERED),
        (Proof::Adjacent, Some(_)) if race.witness_tail.is_some() => {
            write_tail(page, race.witness_tail.as_ref(), detail);
        }
        (Proof::Adjacent, Some(length)) if race.witness.is_none() => page.wrapped(
            2,
            4,
            format!("witness  {length} steps, checked, not printed (--witness all prints it)"),
        ),
        (Proof::Adjacent, _) => {
            write_witness(page, race.story.as_ref(), race.witness.as_deref(), detail);
        }
    }
    write_values(page, race);
    // That the virtual machine of a program was driven into all races is shown once, at the end.
    if let Some(confirmation) = race.confirmation.as_ref().filter(|it| !it.confirmed || !it.live.is_empty()) {
        page.wrapped(2, 4, confirmation_text::words(confirmation));
    }
}

/// Writes the end of a witness whose beginning is the recorded run.
fn write_tail(page: &mut Page, tail: Option<&WitnessTail>, detail: Detail) {
    let Some(WitnessTail { after, events }) = tail else { return };
    let begin = match after {
        0 => String::new(),
        after => format!("the first {after} events as recorded, then "),
    };
    page.wrapped(2, 4, format!("witness  {begin}{}", steps(events, detail.steps)));
}

/// Writes which values lead there.
fn write_values(page: &mut Page, race: &Race) {
    if race.values.is_empty() {
        return;
    }
    page.wrapped(2, 4, "with values that the recorded run did not have there:");
    for new in race.values.iter().take(VALUES) {
        page.wrapped(4, 6, visible(&new.words()));
    }
    if let Some(more) = race.values.len().checked_sub(VALUES).filter(|&more| more > 0) {
        page.line(format!("    and {more} more"));
    }
}

/// What the proof is where there is no schedule.
const UNORDERED: &str =
    "proof: nothing in the recorded run itself orders the two accesses; the referee has checked that";

/// Writes what the race is about, in one sentence.
pub(crate) fn write_title(page: &mut Page, number: usize, race: &Race) {
    let title = format!("race {number}: {}", visible(&race.first.target));
    let title = Text::new().ink(Ink::Race, title).add(" · ").ink(Ink::Sure, "proven");
    page.wrapped(0, 2, title.add(format!(": {}", together(&race.first, &race.second))));
}

/// Both accesses in one sentence.
pub(crate) fn together(first: &RacingAccess, second: &RacingAccess) -> String {
    let one = |access: &RacingAccess| format!("{} {} it", visible(&access.thread_words()), verb(access).0);
    format!("{} while {}", one(first), one(second))
}

/// Writes how the memory came to be that is raced for, if that is known.
pub(crate) fn write_origin_of_memory(page: &mut Page, race: &Race) {
    if let Some(origin) = &race.second.memory_allocated {
        let target = visible(&race.second.target);
        page.wrapped(2, 4, Text::from(format!("{target} was allocated by ")).append(origin_text(origin)));
    }
}

/// Writes how the two come together: the story if there is one, otherwise the numbers of the events.
pub(crate) fn write_witness(page: &mut Page, story: Option<&Story>, witness: Option<&[u32]>, detail: Detail) {
    match (story, witness) {
        (Some(story), _) => story_text::write(page, story, "how it happens", 2),
        (None, Some(witness)) => page.wrapped(2, 4, format!("witness  {}", steps(witness, detail.steps))),
        (None, None) => {}
    }
}

/// Writes one of the two accesses with what is around it: so many lines of the program, and so many frames of the
/// stack.
pub(crate) fn write_access(page: &mut Page, access: &RacingAccess, lines: usize, frames: usize) {
    let function = access.function.as_ref().map(|function| format!(" in {}", short(function)));
    let text = Text::new()
        .ink(Ink::Heading, visible(&access.thread_words()))
        .add(format!(" {}{} at ", deed(access), function.unwrap_or_default()))
        .ink(Ink::Place, place(&access.location))
        .ink(Ink::Quiet, format!("  (event{GLUE}{})", access.event));
    page.wrapped(2, 4, text);
    source_text::write(page, access, lines);
    write_callers(page, access.stack.get(1..).unwrap_or_default(), frames);
    if let Some(locks) = &access.locks {
        page.wrapped(INDENT, INDENT + 2, locks_text(locks));
    }
    if let Some(start) = &access.thread_started {
        page.wrapped(INDENT, INDENT + 2, Text::from("thread started by ").append(origin_text(start)));
    }
}

/// What the access does, as a verb, and the memory order if there is one.
pub(crate) fn verb(access: &RacingAccess) -> (String, &str) {
    let (kind, order) = access.op.split_once('.').unwrap_or((&access.op, ""));
    let verb = match kind {
        "r" => "reads",
        "w" => "writes",
        "aload" => "atomically reads",
        "astore" => "atomically writes",
        "rmw" => "atomically updates",
        "free" => "frees",
        other => return (visible(other), order),
    };
    (verb.to_string(), order)
}

/// What the access does, in words.
pub(crate) fn deed(access: &RacingAccess) -> String {
    let (verb, order) = verb(access);
    let value =
        access.value.as_ref().map(|value| format!(" = {}", visible(&value_words(value)))).unwrap_or_default();
    let order = if order.is_empty() { String::new() } else { format!(" ({})", visible(order)) };
    format!("{verb} {}{value}{order}", visible(&access.target))
}

/// Functions of libraries that call each other are only counted, and so are calls of a function by itself.
fn write_callers(page: &mut Page, callers: &[Frame], frames: usize) {
    let both_of_library =
        |one: &Frame, other: &Frame| is_of_library(&one.location) && is_of_library(&other.location);
    let runs = callers.chunk_by(|one, other| one == other || both_of_library(one, other));
    let mut shown = 0;
    for run in runs.take(frames) {
        shown += run.len();
        let text = match run {
            [frame, rest @ ..] if !is_of_library(&frame.location) || rest.is_empty() => {
                let times = if rest.is_empty() { String::new() } else { format!(", {} times", run.len()) };
                Text::from("called from ").append(frame_text(frame)).add(times)
            }
            run => Text::from(format!("called through {} functions of libraries", run.len())),
        };
        page.wrapped(INDENT, INDENT + 2, text);
    }
    let more = callers.len() - shown;
    if more > 0 {
        page.line(format!("{:INDENT$}… and {more} more (foretell explain lists them)", ""));
    }
}

pub(crate) fn frame_text(frame: &Frame) -> Text {
    Text::from(format!("{} at ", short(&frame.function))).ink(Ink::Place, place(&frame.location))
}

fn locks_text(locks: &[HeldLock]) -> Text {
    if locks.is_empty() {
        return Text::from("holds no lock");
    }
    let mut text = Text::from("holds ");
    for (index, held) in locks.iter().enumerate() {
        let mode = match held.mode {
            HeldMode::Exclusive => "",
            HeldMode::Shared => " as a reader",
        };
        let gap = if index == 0 { "" } else { ", " };
        let location = own_frame(&held.stack).map_or(&held.location, |frame| &frame.location);
        text = text
            .add(format!("{gap}{}{mode} (locked at ", visible(&held.lock)))
            .ink(Ink::Place, place(location))
            .add(")");
    }
    text
}

fn origin_text(origin: &Origin) -> Text {
    let by = visible(&origin.thread);
    match own_frame(&origin.stack).or(origin.stack.first()) {
        None => Text::from(format!("{by} at ")).ink(Ink::Place, place(&origin.location)),
        Some(frame) => Text::from(format!("{by} in ")).append(frame_text(frame)),
    }
}

/// What kept the two apart in the recorded run.
pub(crate) fn observed_text(observed: &Observed) -> Text {
    let links = match observed {
        Observed::Unordered => {
            return Text::from("the recorded run shows it as well: nothing there orders the two");
        }
        Observed::Ordered(links) => links,
    };
    let mut text = Text::new();
    for (index, link) in links.iter().enumerate() {
        let gap = if index == 0 { "" } else { "; then " };
        text = text.add(gap).append(deed_text(&link.from)).add(" before ").append(deed_text(&link.to));
        if link.is_accident {
            text = text.add(", by accident: nothing in the program forces that order");
        }
    }
    text
}

pub(crate) fn deed_text(deed: &Deed) -> Text {
    let text = Text::from(format!("{} {}", visible(&deed.thread), visible(&deed.what)));
    let text = match deed.location.as_str() {
        "" => text,
        location => text.add(" at ").ink(Ink::Place, place(location)),
    };
    text.ink(Ink::Quiet, format!(" (event{GLUE}{})", deed.event))
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
