//! Jumps from one event to another.

use foretell_trace::{Event, EventId, LabelId, LockId, LockMode, Op, ThreadId, VarId};

use super::{Browser, HISTORY};
use crate::seek::{Direction, Look, Seek};

impl<'a> Browser<'a> {
    /// Goes to this event, whatever has to be shown for that.
    pub(super) fn jump(&mut self, event: EventId) {
        if let Some(here) = self.current().filter(|&here| here != event) {
            if self.history.len() == HISTORY {
                self.history.remove(0);
            }
            self.history.push(here);
        }
        self.go_to(event);
    }

    pub(super) fn jump_to_row(&mut self, row: usize) {
        let row = row.min(self.rows.len().saturating_sub(1));
        let event = self.rows.position(row).and_then(|position| self.order().event(position));
        if let Some(event) = event {
            self.jump(event);
        }
    }

    /// Goes to where the last jump began.
    pub(super) fn back(&mut self) {
        match self.history.pop() {
            Some(event) => self.go_to(event),
            None => self.message = "no earlier jump".to_string(),
        }
    }

    pub(super) fn go_to_number(&mut self, text: &str) {
        match text.trim().parse().ok().and_then(|number| self.trace.id(number)) {
            Some(event) => self.jump(event),
            None => self.message = format!("events are numbered from 1 to {}", self.trace.events().len()),
        }
    }

    fn go_to(&mut self, event: EventId) {
        let content = self.event(event);
        let mut changed = false;
        if self.order().position(event).is_none() {
            self.witness = None;
            self.message = format!("event {event} is not in the witness: this is the recorded order again");
            changed = true;
        }
        if !self.is_shown(content.thread) {
            self.hidden[content.thread.index()] = false;
            changed = true;
        }
        if !self.is_wanted(&content) {
            self.only_found = false;
            self.message = format!("event {event} is no match: these are all events again");
            changed = true;
        }
        let Some(position) = self.order().position(event) else { return };
        if changed {
            self.choose_rows(Some(position));
        } else {
            self.pending = Some(position);
            self.settle();
        }
    }

    /// A walk has found what it looked for.
    pub(super) fn found(&mut self, position: usize, wrapped: bool) {
        if let Some(event) = self.order().event(position) {
            self.jump(event);
        }
        if wrapped {
            self.message = "continued from the other end".to_string();
        }
    }

    pub(super) fn seek(
        &mut self,
        what: impl Into<String>,
        direction: Direction,
        look: impl FnMut(&Event) -> Look + 'a,
    ) {
        if let Some(from) = self.position() {
            self.seek = Some(Seek::new(what, direction, from, self.order().len(), look));
        }
    }

    pub(super) fn same_thread(&mut self, direction: Direction) {
        let Some(event) = self.current().map(|id| self.event(id)) else { return };
        self.seek(
            "other event of the thread that way",
            direction,
            is(move |other| other.thread == event.thread),
        );
    }

    pub(super) fn same_variable(&mut self, direction: Direction) {
        let Some(event) = self.current().map(|id| self.event(id)) else { return };
        match touched(event.op) {
            Some(var) => {
                let look = is(move |other| touched(other.op) == Some(var));
                self.seek("other access of the variable that way", direction, look);
            }
            None => self.message = "this event accesses no variable".to_string(),
        }
    }

    /// From a read to the write that it sees, from a write to the first read that sees it.
    pub(super) fn read_or_written(&mut self) {
        let Some(event) = self.current().map(|id| self.event(id)) else { return };
        let Some(access) = event.op.access() else {
            self.message = "this event accesses no variable".to_string();
            return;
        };
        let var = access.var;
        if event.unexplained {
            self.message = "no recorded write explains what this reads".to_string();
        } else if access.kind.reads() {
            let what = "write before it: it sees the initial value";
            self.seek(what, Direction::Backward, is(move |other| writes(other.op, var)));
        } else {
            let look = move |other: &Event| match other.op.access().filter(|access| access.var == var) {
                Some(access) if access.kind.reads() => Look::Here,
                Some(_) => Look::End,
                None => Look::On,
            };
            self.seek("read sees this write", Direction::Forward, look);
        }
    }

    /// From one half of something to the other.
    pub(super) fn other_half(&mut self) {
        let Some((id, event)) = self.current().map(|id| (id, self.event(id))) else { return };
        let thread = event.thread;
        match event.op {
            Op::Fork(child) => {
                self.seek_in(child, Direction::Forward, "event of the thread that starts here");
            }
            Op::Join(child) => self.seek_in(child, Direction::Backward, "event of the thread that ends here"),
            Op::Begin => {
                let look = is(move |other| other.op == Op::Fork(thread));
                self.seek("start of this thread in the trace", Direction::Backward, look);
            }
            Op::End => {
                let look = is(move |other| other.op == Op::Join(thread));
                self.seek("join of this thread", Direction::Forward, look);
            }
            op => match (opened(op), closed(op)) {
                (Some(whole), _) => self.seek_half(thread, whole, Direction::Forward),
                (None, Some(whole)) => self.seek_half(thread, whole, Direction::Backward),
                (None, None) => self.innermost_lock(id, thread),
            },
        }
    }

    fn seek_half(&mut self, thread: ThreadId, whole: Whole, direction: Direction) {
        self.seek("counterpart in the trace", direction, balanced(thread, whole, direction));
    }

    fn seek_in(&mut self, thread: ThreadId, direction: Direction, what: &str) {
        self.seek(what, direction, is(move |other| other.thread == thread));
    }

    fn innermost_lock(&mut self, id: EventId, thread: ThreadId) {
        let Some(position) = self.order().position(id) else { return };
        let course = self.course();
        let mut since = None;
        course.checkpoints.before(self.trace, &course.order, [position], |threads| {
            let locks = threads.doing(thread).map(crate::threads::Doing::locks).unwrap_or_default();
            since = locks.last().map(|section| section.since);
        });
        match since {
            Some(event) => self.jump(event),
            None => self.message = "this event has no counterpart, and no lock is held".to_string(),
        }
    }
}

/// A look for events of which something is true.
fn is(mut what: impl FnMut(&Event) -> bool) -> impl FnMut(&Event) -> Look {
    move |event| if what(event) { Look::Here } else { Look::On }
}

/// The variable that is accessed, allocated or freed.
fn touched(op: Op) -> Option<VarId> {
    match op {
        Op::Alloc(var) => Some(var),
        _ => op.access().map(|access| access.var),
    }
}

fn writes(op: Op, var: VarId) -> bool {
    op.access().is_some_and(|access| access.var == var && access.kind.writes())
}

/// What has two halves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Whole {
    Function(LabelId),
    Section(LockId, LockMode),
    /// A lock that is taken again while it is held.
    Again(LockId, LockMode),
}

/// What the operation is the first half of.
fn opened(op: Op) -> Option<Whole> {
    match op {
        Op::Enter(function) => Some(Whole::Function(function)),
        Op::AcquireAgain(lock) => Some(Whole::Again(lock, LockMode::Exclusive)),
        Op::AcquireSharedAgain(lock) => Some(Whole::Again(lock, LockMode::Shared)),
        _ => op.section_begin().map(|(lock, mode)| Whole::Section(lock, mode)),
    }
}

/// What the operation is the second half of.
fn closed(op: Op) -> Option<Whole> {
    match op {
        Op::Exit(function) => Some(Whole::Function(function)),
        Op::ReleaseAgain(lock) => Some(Whole::Again(lock, LockMode::Exclusive)),
        Op::ReleaseSharedAgain(lock) => Some(Whole::Again(lock, LockMode::Shared)),
        _ => op.section_end().map(|(lock, mode)| Whole::Section(lock, mode)),
    }
}

/// A look for the other half of something, past all of the same kind that lies between.
fn balanced(thread: ThreadId, whole: Whole, direction: Direction) -> impl FnMut(&Event) -> Look {
    let mut depth = 1_usize;
    move |event| {
        let (opens, closes) = (opened(event.op) == Some(whole), closed(event.op) == Some(whole));
        let (deeper, back) = match direction {
            Direction::Forward => (opens, closes),
            Direction::Backward => (closes, opens),
        };
        if event.thread == thread {
            depth = depth + usize::from(deeper) - usize::from(back);
        }
        if depth == 0 { Look::Here } else { Look::On }
    }
}
