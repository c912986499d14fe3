//! What the definitions of the orders share, taken literally: relations as matrices over events by position.

#![expect(unreachable_pub, reason = "shared by several test programs")]

use foretell_trace::{Event, EventId, LockMode, Op};

pub type Relation = Vec<Vec<bool>>;

/// A section of a lock; its beginning and its end belong to it.
#[derive(Clone, Copy, PartialEq)]
pub struct Section {
    pub lock: usize,
    pub mode: LockMode,
    pub thread: usize,
    pub begin: usize,
    /// Past the end of the trace if the section stays open.
    pub end: usize,
}

impl Section {
    pub fn contains(&self, events: &[Event], event: usize) -> bool {
        events[event].thread.index() == self.thread && (self.begin..=self.end).contains(&event)
    }

    pub fn excludes(&self, other: &Section) -> bool {
        self.lock == other.lock && self.mode.excludes(other.mode)
    }
}

pub fn sections(events: &[Event]) -> Vec<Section> {
    let mut sections = Vec::new();
    for (begin, event) in events.iter().enumerate() {
        let Some((lock, mode)) = event.op.section_begin() else { continue };
        let ends = |end: &Event| end.thread == event.thread && end.op.section_end() == Some((lock, mode));
        let end = events[begin..].iter().position(ends).map_or(events.len(), |length| begin + length);
        sections.push(Section { lock: lock.index(), mode, thread: event.thread.index(), begin, end });
    }
    sections
}

/// Whether two accesses would race if nothing ordered them.
pub fn conflict(a: &Event, b: &Event) -> bool {
    match (a.op.access(), b.op.access()) {
        (Some(x), Some(y)) => a.thread != b.thread && x.conflicts_with(y),
        _ => false,
    }
}

/// The write whose value the variable of the access at `at` has before it.
pub fn last_write(events: &[Event], at: usize) -> Option<usize> {
    let var = events[at].op.access()?.var;
    events[..at]
        .iter()
        .rposition(|event| event.op.access().is_some_and(|access| access.var == var && access.kind.writes()))
}

/// Fork, join and semaphores: what every order contains from the start. A child need not do anything.
pub fn must(events: &[Event], a: usize, b: usize) -> bool {
    let forked = match events[a].op {
        Op::Fork(child) => events[b].thread == child || events[b].op == Op::Join(child),
        _ => false,
    };
    let semaphore = |event: &Event| matches!(event.op, Op::SemInit { .. } | Op::SemWait(_) | Op::SemPost(_));
    let joined = events[b].op == Op::Join(events[a].thread);
    a < b && (forked || joined || (semaphore(&events[a]) && semaphore(&events[b])))
}

/// Transitive closure.
pub fn close(relation: &mut Relation) {
    for middle in 0..relation.len() {
        let after = relation[middle].clone();
        for row in relation.iter_mut().filter(|row| row[middle]) {
            row.iter_mut().zip(&after).for_each(|(mine, theirs)| *mine |= theirs);
        }
    }
}

/// Two positions as event numbers.
pub fn numbers(a: usize, b: usize) -> (u32, u32) {
    let number = |index| EventId::from_index(index).map_or(0, EventId::number);
    (number(a), number(b))
}
