//! Axioms of reads: when they are consistent, and what they see then.

use std::collections::HashSet;

use foretell_trace::dependence::{Dependence, Part};
use foretell_trace::{EventId, Model, Op};

use super::facts::TraceFacts;
use super::goal::Question;
use super::literal::{Atom, Clause, INITIAL, Literal, before, is, runs};
use crate::observed::{NONE, id};

/// For each thread no more are needed: what it writes later, what does not run, and what two others overwrite.
const MOST_EXCLUSIONS: usize = 4;

/// Why a read need not be looked at as seeing certain writes: see [`choice`].
#[derive(Clone, Copy, Debug)]
pub(super) enum Exclusion {
    /// Writes from this event of their thread on come after the read.
    Later(u32),
    /// Writes from this event of their thread on do not run.
    Absent(u32),
    /// Writes up to the first event, of its thread, are overwritten by the second before the read.
    Overwritten(u32, u32),
    /// What was there at first is overwritten by this write before the read.
    NotInitial(u32),
}

fn read_of(facts: &TraceFacts<'_>, read: u32) -> Result<(), String> {
    facts.read(read).map(|_| ()).ok_or_else(|| "this is no read whose write is recorded".to_string())
}

/// Whether the event changes what the read reads, or stands for what was there at first.
fn may_be_seen(facts: &TraceFacts<'_>, read: u32, write: u32) -> Result<(), String> {
    read_of(facts, read)?;
    let is_write = write == INITIAL || (write != read && facts.changed(write) == facts.read(read));
    if is_write { Ok(()) } else { Err("this is no write that the read could see".to_string()) }
}

/// The read is consistent if the event runs.
///
/// Condition: an event without recorded reason asks for all reads before it in the trace. Apart from these,
/// with `same-write` every read that runs is consistent; with `same-value` the thread goes no further than an
/// inconsistent read; with `control-flow` no further than to its next branch; with `necessary` no further than to what
/// the read steers.
pub(super) fn pin(
    facts: &TraceFacts<'_>,
    question: &Question,
    event: u32,
    read: u32,
) -> Result<Vec<Literal>, String> {
    read_of(facts, read)?;
    let is_fenced = facts.event(event).unexplained && read < event;
    if !is_fenced && !is_pinned(facts, question.model, event, read) {
        return Err("the event can run whatever the read sees".to_string());
    }
    Clause::new(facts).or(!runs(event)).or(is(Atom::Consistent(read))).into_literals()
}

fn is_pinned(facts: &TraceFacts<'_>, model: Model, event: u32, read: u32) -> bool {
    let is_later = facts.is_up_to(read, event);
    match model {
        Model::SameWrite => is_later,
        Model::SameValue => is_later && read != event,
        Model::ControlFlow => is_later && read != event && facts.op(event) == Op::Branch,
        Model::Necessary => steered(facts, read).is_some_and(|steered| facts.is_up_to(steered, event)),
        Model::Values => false,
    }
}

/// The first event that the read steers.
fn steered(facts: &TraceFacts<'_>, read: u32) -> Option<u32> {
    let steered = facts.trace().dependence()?.steered_by(id(read))?;
    Some(steered.number() - 1)
}

/// The read is consistent.
///
/// Condition: it comes before one of the events that come next, in its thread, and otherwise that thread would not get
/// so far: with `same-value` always, with `necessary` if it steers an event up to that one.
pub(super) fn pinned(facts: &TraceFacts<'_>, question: &Question, read: u32) -> Result<Vec<Literal>, String> {
    read_of(facts, read)?;
    let pins = |next: u32| match question.model {
        _ if read == next || !facts.is_up_to(read, next) => false,
        Model::SameValue => true,
        Model::Necessary => steered(facts, read).is_some_and(|steered| facts.is_up_to(steered, next)),
        Model::SameWrite | Model::ControlFlow | Model::Values => false,
    };
    if !question.next.iter().any(|&next| pins(next)) {
        return Err("the end can be reached whatever the read sees".to_string());
    }
    Clause::new(facts).or(is(Atom::Consistent(read))).into_literals()
}

/// A consistent read sees one of the writes that leave what it saw.
///
/// These are all writes of the same value, and what was there at first if that is the same; or, with `same-write` or
/// where the trace does not show both values, just the write that it saw. Writes can be excluded, each group by
/// literals that say what would have to be wrong with that:
/// * [`Exclusion::Later`] `e`: those at or after `e` in its thread, unless `e` comes before the read;
/// * [`Exclusion::Absent`] `e`: those at or after `e` in its thread, unless `e` runs;
/// * [`Exclusion::Overwritten`] `e` `o`: those at or before `e` in its thread, but for `o` itself, which is another
///   write
///   of the variable, unless the read comes before `o`, or `o` before `e`;
/// * [`Exclusion::NotInitial`] `o`: what was there at first, unless the read comes before `o`, a write of the variable.
pub(super) fn choice(
    facts: &TraceFacts<'_>,
    question: &Question,
    read: u32,
    exclusions: &[Exclusion],
) -> Result<Vec<Literal>, String> {
    let Some(var) = facts.read(read) else { return read_of(facts, read).map(|()| Vec::new()) };
    if exclusions.len() > MOST_EXCLUSIONS * (facts.trace().thread_count() + 1) {
        return Err("so many exclusions are never needed".to_string());
    }
    let mut clause = Clause::new(facts).or(!is(Atom::Consistent(read)));
    for &exclusion in exclusions {
        match exclusion {
            // What its thread does after the read comes after it in any case.
            Exclusion::Later(event) if event == read => {}
            Exclusion::Later(event) => clause.add(before(event, read)),
            Exclusion::Absent(event) => clause.add(runs(event)),
            Exclusion::Overwritten(_, other) | Exclusion::NotInitial(other)
                if other == read || facts.changed(other) != Some(var) =>
            {
                return Err("this event does not overwrite what the read could see".to_string());
            }
            Exclusion::Overwritten(event, other) => {
                clause.add(before(read, other));
                if event != other {
                    clause.add(before(other, event));
                }
            }
            Exclusion::NotInitial(other) => clause.add(before(read, other)),
        }
    }
    for write in sources(facts, question.model, read) {
        if !exclusions.iter().any(|&exclusion| is_excluded(facts, exclusion, write)) {
            clause.add(is(Atom::Sees(read, write)));
        }
    }
    clause.into_literals()
}

fn is_excluded(facts: &TraceFacts<'_>, exclusion: Exclusion, write: u32) -> bool {
    match exclusion {
        Exclusion::NotInitial(_) => write == INITIAL,
        _ if write == INITIAL => false,
        Exclusion::Later(event) | Exclusion::Absent(event) => facts.is_up_to(event, write),
        Exclusion::Overwritten(event, other) => write != other && facts.is_up_to(write, event),
    }
}

/// All that leaves what the read saw, or [`INITIAL`].
fn sources(facts: &TraceFacts<'_>, model: Model, read: u32) -> Vec<u32> {
    let link = facts.observed.link(read);
    let (Some(var), true) = (facts.read(read), link.by_value && model != Model::SameWrite) else {
        return vec![if link.source == NONE { INITIAL } else { link.source }];
    };
    let value = facts.op(read).value_read();
    let writes = facts.writes[var.index()].iter().copied();
    let same = writes.filter(|&write| write != read && facts.value_after(write) == value);
    let initial = facts.observed.initial[var.index()].value == value;
    same.chain(initial.then_some(INITIAL)).collect()
}

/// What a read sees comes before it.
pub(super) fn sees(facts: &TraceFacts<'_>, read: u32, write: u32) -> Result<Vec<Literal>, String> {
    may_be_seen(facts, read, write)?;
    if write == INITIAL {
        return Err("what was there at first is no event".to_string());
    }
    Clause::new(facts).or(!is(Atom::Sees(read, write))).or(before(write, read)).into_literals()
}

/// What a read sees has run.
pub(super) fn source_runs(facts: &TraceFacts<'_>, read: u32, write: u32) -> Result<Vec<Literal>, String> {
    may_be_seen(facts, read, write)?;
    if write == INITIAL {
        return Err("what was there at first is no event".to_string());
    }
    Clause::new(facts).or(!is(Atom::Sees(read, write))).or(runs(write)).into_literals()
}

/// No other write of the variable comes between a read and what it sees.
pub(super) fn between(
    facts: &TraceFacts<'_>,
    read: u32,
    write: u32,
    other: u32,
) -> Result<Vec<Literal>, String> {
    may_be_seen(facts, read, write)?;
    may_be_seen(facts, read, other)?;
    if other == write || other == INITIAL {
        return Err("this is no other write".to_string());
    }
    let mut clause = Clause::new(facts).or(!is(Atom::Sees(read, write))).or(before(read, other));
    if write != INITIAL {
        clause.add(before(other, write));
    }
    clause.into_literals()
}

/// If a consistent read sees a write, another read is consistent.
///
/// Condition: the write leaves what it did only if that read sees what it saw. With `necessary` the trace says that
/// what is written depends on it; otherwise it comes before the write in its thread, or is part of it.
pub(super) fn concrete(
    facts: &TraceFacts<'_>,
    question: &Question,
    read: u32,
    write: u32,
    other: u32,
) -> Result<Vec<Literal>, String> {
    may_be_seen(facts, read, write)?;
    read_of(facts, other)?;
    let matters = write != INITIAL
        && facts.is_up_to(other, write)
        && match facts.trace().dependence().filter(|_| question.model == Model::Necessary) {
            Some(dependence) => depends(dependence, write, other),
            None => true,
        };
    if !matters {
        return Err("what is written does not depend on that read".to_string());
    }
    Clause::new(facts).or(!is(Atom::Sees(read, write))).or(is(Atom::Consistent(other))).into_literals()
}

/// Whether what is written depends on the read, which comes before the write in its thread or is part of it.
fn depends(dependence: &Dependence, write: u32, read: u32) -> bool {
    let is_read = |event: EventId| event == id(read);
    let mut open = vec![dependence.value_of(id(write))];
    let mut visited = HashSet::new();
    while let Some(set) = open.pop() {
        match dependence.part(set) {
            Part::Everything => return true,
            Part::Read(event) if is_read(event) => return true,
            Part::Both(union, first, second) if visited.insert(union) => open.extend([first, second]),
            Part::Nothing | Part::Read(_) | Part::Both(..) => {}
        }
    }
    false
}
