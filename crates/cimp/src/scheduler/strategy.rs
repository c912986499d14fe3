//! The strategies of [`foretell_schedule`] as schedulers: programs in their terms.
//!
//! A function is known by its place in the program, and so is the kind of a lock: locks of one declaration, be it a
//! lock or an array of them, are used alike.

use foretell_schedule::relation::Unreadable;
use foretell_schedule::{Learnt, Operation, Ready, Relation, Strategy, innermost};

use super::{Moment, NO_TURN, Scheduler};
use crate::machine::{Action, Machine, MemoryLocation, Shadow, Turn, elements};
use crate::program::Program;
use crate::value::ThreadRef;

impl<S: Strategy> Scheduler for S {
    fn pick(&mut self, moment: &Moment<'_>) -> Turn {
        let thread = ThreadRef(Strategy::pick(self, moment.ready));
        let turns = moment.turns;
        let begin = turns.partition_point(|turn| turn.thread < thread);
        let end = turns.partition_point(|turn| turn.thread <= thread);
        self.dice().one_of(&turns[begin..end]).unwrap_or(NO_TURN)
    }

    fn happens(&mut self, thread: ThreadRef, operation: Operation, calls: &mut dyn Iterator<Item = u32>) {
        Strategy::happens(self, thread.0, operation, calls);
    }

    fn ended(&mut self, thread: ThreadRef) {
        Strategy::ended(self, thread.0);
    }
}

/// Replaces `ready` by the threads that can take these turns.
pub(crate) fn ready<S: Shadow>(machine: &Machine<'_, S>, turns: &[Turn], ready: &mut Vec<Ready>) {
    ready.clear();
    ready.extend(turns.chunk_by(|a, b| a.thread == b.thread).filter_map(|turns| turns.first()).map(|turn| {
        let functions = innermost(machine.calls(turn.thread));
        Ready { thread: turn.thread.0, next: machine.operation(turn.thread), functions }
    }));
}

impl<S: Shadow> Machine<'_, S> {
    /// What the thread does next, as a strategy sees it.
    pub(crate) fn operation(&self, thread: ThreadRef) -> Operation {
        let Some(step) = self.next(thread) else { return Operation::Other };
        match step.action {
            Action::Read(place) => Operation::Access { place: number_of(place), writes: false },
            Action::Write(place) => Operation::Access { place: number_of(place), writes: true },
            Action::Acquire(lock) => {
                Operation::Acquire { lock: among(lock, 0), kind: self.program().kind_of_lock(lock) }
            }
            Action::Release(lock) => Operation::Release { lock: among(lock, 0) },
            Action::SemWait(semaphore) | Action::SemPost(semaphore) => {
                Operation::Meet { object: among(semaphore, 1) }
            }
            Action::Wait { condition, .. }
            | Action::Woken { condition, .. }
            | Action::Notify(condition)
            | Action::NotifyAll(condition) => Operation::Meet { object: among(condition, 2) },
            Action::Fork(_) | Action::Join(_) | Action::Fail => Operation::Other,
        }
    }
}

/// A number for an object of one sort, other than those of the other sorts.
fn among(object: u32, sort: u64) -> u64 {
    u64::from(object) << 2 | sort
}

/// A number for a place. Should two places have the same one, strategies see a conflict where there is none, and
/// nothing else happens.
fn number_of(place: MemoryLocation) -> u64 {
    match place {
        MemoryLocation::Shared { element, .. } => u64::from(element) << 1,
        MemoryLocation::Field { cell, field } => {
            u64::from(cell.owner.0) << 48 ^ u64::from(cell.number) << 16 ^ u64::from(field) << 1 | 1
        }
    }
}

impl Program {
    fn kind_of_lock(&self, lock: u32) -> u32 {
        let kind = self.locks.iter().position(|group| elements(group).contains(&lock));
        kind.and_then(|kind| u32::try_from(kind).ok()).unwrap_or(u32::MAX)
    }

    /// What a run of the program has taught, as text for the next one.
    pub fn triggers_text(&self, learnt: &Learnt) -> String {
        let function = |id: u32| self.functions.get(id as usize).map_or("", |function| &function.name);
        let kind = |id: u32| self.locks.get(id as usize).map_or("", |group| &group.name);
        learnt.relation.to_text(function, kind, &learnt.statistics.notes())
    }

    /// What another run of the program has taught.
    pub fn parse_triggers(&self, text: &str) -> Result<Relation, Unreadable> {
        let position = |found: Option<usize>| found.and_then(|index| u32::try_from(index).ok());
        Relation::parse(
            text,
            |name| position(self.functions.iter().position(|function| function.name == name)),
            |name| position(self.locks.iter().position(|group| group.name == name)),
        )
    }
}
