//! Which reads matter, as part of a trace in the text and in the recording format.
//!
//! In text, comments tell it, so that others can still read the trace. A line `#dependence` comes first; after it these
//! have a meaning, in which events are named by their numbers, from 1 on:
//!
//! | line | meaning |
//! |---|---|
//! | `#steers R E` | what event R read steers event E and all that its thread does after it |
//! | `#union A B` | the next set (`s0`, `s1`, …) is all of A and B |
//! | `#value W A` | the value that event W writes depends on the reads in A |
//!
//! A set is a read, by its number, one of the unions so far, `-` for nothing, or `*` for all that the thread has read
//! before, which also is what the value of a write depends on that no line is about. Other remarks begin with `#` and a
//! blank.
//!
//! In a recording it is one sequence of varints: the number of events; the number of unions, and two sets for each; the
//! number of reads that steer something, for each how many events it comes after the one before (at first: the
//! beginning) and how many events later it steers; the number of values, for each how many events it comes after the
//! one before, and its set. A set is 0 for everything, 1 for nothing, and otherwise twice the number of a read, or one
//! more than twice the number of a union, counted from 1.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::dependence::{Dependence, Misfit, Part, Reads};
use crate::error::{Position, TraceError};
use crate::format::blocks::{push, take};
use crate::format::lines::Problem;
use crate::id::EventId;

const BEGINS: &[u8] = b"#dependence";

/// Takes the lines of a text that tell of dependence.
#[derive(Default)]
pub(crate) struct DependenceLines {
    begun: bool,
    unions: Vec<[Reads; 2]>,
    steers: Vec<(EventId, EventId)>,
    values: Vec<(EventId, Reads)>,
    /// The lines in which these two stand.
    lines_of_steers: Vec<u32>,
    lines_of_values: Vec<u32>,
}

impl DependenceLines {
    /// Whether the line is one of those that tell of dependence.
    pub(crate) fn is_for(line: &[u8]) -> bool {
        let word = words(line).next();
        word.is_some_and(|(_, word)| matches!(word, BEGINS | b"#steers" | b"#union" | b"#value"))
    }

    /// Takes a line that begins with `#`, and has this number.
    pub(crate) fn line(&mut self, line: &[u8], number: u32) -> Result<(), Problem> {
        if !self.begun {
            self.begun = line == BEGINS;
            return Ok(());
        }
        let mut words = words(line);
        match words.next() {
            Some((_, b"#steers")) => {
                let pair = (event(words.next(), line)?, event(words.next(), line)?);
                self.steers.push(pair);
                self.lines_of_steers.push(number);
            }
            Some((_, b"#union")) => {
                let pair = [self.set(words.next(), line)?, self.set(words.next(), line)?];
                self.unions.push(pair);
            }
            Some((_, b"#value")) => {
                let pair = (event(words.next(), line)?, self.set(words.next(), line)?);
                self.values.push(pair);
                self.lines_of_values.push(number);
            }
            Some((_, [b'#', _, ..])) => {
                return Err(Problem::expected(
                    0,
                    "`#steers`, `#union`, `#value`, or a remark: `#` and a blank",
                ));
            }
            _ => return Ok(()),
        }
        match words.next() {
            None => Ok(()),
            Some((at, _)) => Err(Problem::expected(at, "the end of the line")),
        }
    }

    /// A set of reads, all of whose unions were given.
    pub(crate) fn set(&self, word: Option<(usize, &[u8])>, line: &[u8]) -> Result<Reads, Problem> {
        let wanted =
            "a set of reads: the number of an event, `s` and the number of an earlier union, `-` or `*`";
        let set = word.and_then(|(_, text)| match text {
            b"-" => Some(Reads::NOTHING),
            b"*" => Some(Reads::EVERYTHING),
            [b's', number @ ..] => {
                Reads::union(number_of(number)?).filter(|_| number_of(number) < Some(self.unions.len()))
            }
            number => EventId::from_number(number_of(number)?).map(Reads::of),
        });
        set.ok_or_else(|| Problem::expected(word.map_or(line.len(), |(at, _)| at), wanted))
    }

    /// What was recorded about so many events, if anything.
    pub(crate) fn finish(&mut self, events: usize) -> Result<Option<Dependence>, TraceError> {
        if !self.begun {
            return Ok(None);
        }
        if let Some((event, at)) = self.subjects().find(|(event, _)| event.index() >= events) {
            return Err(TraceError::Dependence { at: Some(at), misfit: Misfit::NoEvent(event) });
        }
        let unions = std::mem::take(&mut self.unions);
        Ok(Some(build(events, unions, &self.steers, &self.values)))
    }

    /// The events that something is recorded about, and where.
    fn subjects(&self) -> impl Iterator<Item = (EventId, Position)> {
        let steers = self.steers.iter().map(|&(read, _)| read).zip(&self.lines_of_steers);
        let values = self.values.iter().map(|&(write, _)| write).zip(&self.lines_of_values);
        steers.chain(values).map(|(event, &line)| (event, Position::Text { line, column: 0 }))
    }

    /// Where the input says what does not fit: the first line about the event that is of this kind.
    pub(crate) fn place_of(&self, misfit: Misfit) -> Option<Position> {
        let (steers, event) = (self.steers.len(), misfit.event()?);
        let is_steering = matches!(misfit, Misfit::SteersUnread(_) | Misfit::SteersOther(_));
        let kind = self.subjects().enumerate().filter(|(number, _)| (*number < steers) == is_steering);
        kind.map(|(_, subject)| subject).find(|&(about, _)| about == event).map(|(_, at)| at)
    }
}

fn build(
    events: usize,
    unions: Vec<[Reads; 2]>,
    steers: &[(EventId, EventId)],
    values: &[(EventId, Reads)],
) -> Dependence {
    let mut dependence = Dependence::with_unions(events, unions);
    for &(read, event) in steers {
        dependence.steer(read, event);
    }
    for &(write, reads) in values {
        dependence.set_value(write, reads);
    }
    dependence
}

/// The words of a line, and where each begins.
pub(crate) fn words(line: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    line.split(|&byte| byte == b' ').filter_map(move |word| {
        let begin = at;
        at += word.len() + 1;
        (!word.is_empty()).then_some((begin, word))
    })
}

pub(crate) fn number_of<N: std::str::FromStr>(text: &[u8]) -> Option<N> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn event(word: Option<(usize, &[u8])>, line: &[u8]) -> Result<EventId, Problem> {
    let event = word.and_then(|(_, text)| EventId::from_number(number_of(text)?));
    event.ok_or_else(|| {
        Problem::expected(word.map_or(line.len(), |(at, _)| at), "the number of an event, from 1 on")
    })
}

/// Writes the lines that tell of the dependence.
pub(crate) fn write_text(dependence: &Dependence, output: &mut impl Write) -> io::Result<()> {
    let mut text = "#dependence\n".to_string();
    let set = |reads: Reads| set_text(Some(dependence), reads);
    // Writing into a string cannot fail.
    for &[first, second] in dependence.unions() {
        let _ = writeln!(text, "#union {} {}", set(first), set(second));
    }
    for (read, steered) in steers(dependence) {
        let _ = writeln!(text, "#steers {read} {steered}");
    }
    for (write, reads) in values(dependence) {
        let _ = writeln!(text, "#value {write} {}", set(reads));
    }
    output.write_all(text.as_bytes())
}

/// The word for a set of reads; all of them where nothing is known of sets.
pub(crate) fn set_text(dependence: Option<&Dependence>, reads: Reads) -> String {
    match part(dependence, reads) {
        Part::Nothing => "-".to_string(),
        Part::Everything => "*".to_string(),
        Part::Read(read) => read.to_string(),
        Part::Both(union, ..) => format!("s{union}"),
    }
}

fn part(dependence: Option<&Dependence>, reads: Reads) -> Part {
    dependence.map_or_else(|| Dependence::default().part(reads), |dependence| dependence.part(reads))
}

fn ids(dependence: &Dependence) -> impl Iterator<Item = EventId> {
    (0..dependence.len()).filter_map(EventId::from_index)
}

fn steers(dependence: &Dependence) -> impl Iterator<Item = (EventId, EventId)> {
    ids(dependence).filter_map(|read| Some((read, dependence.steered_by(read)?)))
}

fn values(dependence: &Dependence) -> impl Iterator<Item = (EventId, Reads)> {
    let values = ids(dependence).map(|write| (write, dependence.value_of(write)));
    values.filter(|&(_, reads)| reads != Reads::EVERYTHING)
}

/// The dependence as a part of a recording.
pub(crate) fn encode(dependence: &Dependence) -> Vec<u8> {
    let mut out = Vec::new();
    push(&mut out, dependence.len() as u64);
    push(&mut out, dependence.union_count() as u64);
    for set in dependence.unions().iter().flatten() {
        push(&mut out, set_number(Some(dependence), *set));
    }
    push(&mut out, steers(dependence).count() as u64);
    let mut last = 0;
    for (read, steered) in steers(dependence) {
        push(&mut out, u64::from(read.number() - last));
        push(&mut out, u64::from(steered.number().saturating_sub(read.number())));
        last = read.number();
    }
    push(&mut out, values(dependence).count() as u64);
    last = 0;
    for (write, reads) in values(dependence) {
        push(&mut out, u64::from(write.number() - last));
        push(&mut out, set_number(Some(dependence), reads));
        last = write.number();
    }
    out
}

/// The number of a set of reads.
pub(crate) fn set_number(dependence: Option<&Dependence>, reads: Reads) -> u64 {
    match part(dependence, reads) {
        Part::Everything => 0,
        Part::Nothing => 1,
        Part::Read(read) => u64::from(read.number()) << 1,
        Part::Both(union, ..) => (union as u64 + 1) << 1 | 1,
    }
}

/// The dependence that [`encode`] wrote of so many events; none if it is not one.
pub(crate) fn decode(mut bytes: &[u8], events: u64) -> Option<Dependence> {
    let bytes = &mut bytes;
    let count = usize::try_from(take(bytes)?).ok().filter(|&count| count as u64 == events)?;
    let mut unions = Vec::new();
    for _ in 0..take(bytes)? {
        let pair = [take_set(bytes, unions.len())?, take_set(bytes, unions.len())?];
        unions.push(pair);
    }
    let mut steers = Vec::new();
    let mut last = 0;
    for _ in 0..take(bytes)? {
        let read = step(&mut last, take(bytes)?).filter(|read| read.index() < count)?;
        let steered = u64::from(read.number()).checked_add(take(bytes)?)?;
        steers.push((read, EventId::from_number(u32::try_from(steered).ok()?)?));
    }
    let mut values = Vec::new();
    last = 0;
    for _ in 0..take(bytes)? {
        let write = step(&mut last, take(bytes)?).filter(|write| write.index() < count)?;
        values.push((write, take_set(bytes, unions.len())?));
    }
    bytes.is_empty().then(|| build(count, unions, &steers, &values))
}

/// The event so many after the last one.
pub(crate) fn step(last: &mut u64, by: u64) -> Option<EventId> {
    *last = last.checked_add(by)?;
    EventId::from_number(u32::try_from(*last).ok()?)
}

/// The set that [`set_number`] numbered, if it is made of so many unions.
pub(crate) fn take_set(bytes: &mut &[u8], unions: usize) -> Option<Reads> {
    match take(bytes)? {
        0 => Some(Reads::EVERYTHING),
        1 => Some(Reads::NOTHING),
        number if number & 1 == 0 => EventId::from_number(u32::try_from(number >> 1).ok()?).map(Reads::of),
        number => {
            let union = usize::try_from(number >> 1).ok()?.checked_sub(1)?;
            Reads::union(union).filter(|_| union < unions)
        }
    }
}
