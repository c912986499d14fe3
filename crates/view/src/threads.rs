//! What each thread is in the midst of: functions that it has entered, locks that it holds.

use foretell_trace::{Event, EventId, LabelId, Loc, LockId, LockMode, Op, ThreadId};

/// How many calls take as much memory as a thread that does nothing.
const THREAD: usize = 4;

/// A function that was entered and not yet left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Call {
    /// The function.
    pub function: LabelId,
    /// Where it was called.
    pub loc: Loc,
}

/// A lock that is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenLock {
    /// Which one.
    pub lock: LockId,
    /// Alone, or together with other readers.
    pub mode: LockMode,
    /// The event that took it.
    pub since: EventId,
}

/// What one thread is in the midst of.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Doing {
    calls: Vec<Call>,
    /// A lock keeps its slot for as long as it is held, so that it can be drawn as a straight line whatever is acquired
    /// and released beside it. The last slot is never empty.
    slots: Vec<Option<OpenLock>>,
}

impl Doing {
    /// The calls, the outermost first.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// The slots in which locks are held.
    pub fn slots(&self) -> &[Option<OpenLock>] {
        &self.slots
    }

    /// The locks that are held, in the order in which they were taken.
    pub fn locks(&self) -> Vec<OpenLock> {
        let mut locks: Vec<OpenLock> = self.slots.iter().copied().flatten().collect();
        locks.sort_unstable_by_key(|section| section.since);
        locks
    }

    /// The slot that the next lock will have.
    pub fn free_slot(&self) -> usize {
        self.slots.iter().position(Option::is_none).unwrap_or(self.slots.len())
    }

    fn size(&self) -> usize {
        self.calls.len() + self.slots.len()
    }

    fn take(&mut self, section: OpenLock) -> usize {
        let slot = self.free_slot();
        if slot == self.slots.len() {
            self.slots.push(None);
        }
        self.slots[slot] = Some(section);
        slot
    }

    fn give(&mut self, lock: LockId, mode: LockMode) -> Option<usize> {
        let is_it = |held: &Option<OpenLock>| {
            held.is_some_and(|section| (section.lock, section.mode) == (lock, mode))
        };
        let slot = self.slots.iter().position(is_it)?;
        self.slots[slot] = None;
        let used = self.slots.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        self.slots.truncate(used);
        Some(slot)
    }

    /// The function is left, and with it those that it called and that were left in some way which the trace does not
    /// show: by an exception, or a long jump.
    fn leave(&mut self, function: LabelId) -> usize {
        let Some(at) = self.calls.iter().rposition(|call| call.function == function) else { return 0 };
        let left = self.calls.len() - at;
        self.calls.truncate(at);
        left
    }
}

/// What an event changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// Nothing that is followed here.
    None,
    /// A function is entered.
    Entered,
    /// So many functions are left at once.
    Left(usize),
    /// A lock is taken and held in this slot.
    Taken(usize),
    /// The lock in this slot is released.
    Given(usize),
}

/// What all threads are in the midst of, after some events.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Threads {
    doing: Vec<Doing>,
    size: usize,
}

impl Threads {
    /// What this thread is in the midst of.
    pub fn doing(&self, thread: ThreadId) -> Option<&Doing> {
        self.doing.get(thread.index())
    }

    /// How much there is to remember: calls and locks of all threads, and the threads themselves.
    pub fn size(&self) -> usize {
        self.size + THREAD * self.doing.len()
    }

    /// The next event happens.
    pub fn step(&mut self, id: EventId, event: &Event) -> Change {
        let begun = event.op.section_begin();
        let ended = event.op.section_end();
        if begun.is_none() && ended.is_none() && !matches!(event.op, Op::Enter(_) | Op::Exit(_)) {
            return Change::None;
        }
        let index = event.thread.index();
        if self.doing.len() <= index {
            self.doing.resize_with(index + 1, Doing::default);
        }
        let doing = &mut self.doing[index];
        let before = doing.size();
        let change = match (begun, ended, event.op) {
            (Some((lock, mode)), ..) => Change::Taken(doing.take(OpenLock { lock, mode, since: id })),
            (_, Some((lock, mode)), _) => doing.give(lock, mode).map_or(Change::None, Change::Given),
            (.., Op::Enter(function)) => {
                doing.calls.push(Call { function, loc: event.loc });
                Change::Entered
            }
            (.., Op::Exit(function)) => Change::Left(doing.leave(function)),
            _ => Change::None,
        };
        self.size = self.size + doing.size() - before;
        change
    }
}

#[cfg(test)]
mod tests {
    use foretell_trace::Trace;

    use super::*;

    fn after(trace: &Trace, events: usize) -> Threads {
        let mut threads = Threads::default();
        for (id, event) in trace.iter().take(events) {
            threads.step(id, &event);
        }
        threads
    }

    fn locks(trace: &Trace, doing: &Doing) -> Vec<String> {
        let name = |section: &OpenLock| trace.names().locks.name(section.lock).to_string();
        doing.slots().iter().map(|slot| slot.as_ref().map_or(String::new(), name)).collect()
    }

    #[test]
    fn a_lock_keeps_its_slot_whatever_happens_beside_it() {
        let trace = foretell_testkit::trace(
            "A|acq(l)|1\nA|acq(m)|2\nA|rel(l)|3\nA|acq(n)|4\nA|rel(m)|5\nA|rel(n)|6\n",
        );
        let seen: Vec<_> = (1..=6)
            .map(|events| {
                let threads = after(&trace, events);
                locks(&trace, threads.doing(trace.event(EventId::FIRST).thread).unwrap())
            })
            .collect();
        let expected: [&[&str]; 6] = [&["l"], &["l", "m"], &["", "m"], &["n", "m"], &["n"], &[]];
        assert_eq!(seen, expected);
    }

    #[test]
    fn calls_are_followed_and_counted() {
        let trace = foretell_testkit::trace("A|enter(f)|1\nA|enter(g)|2\nA|enter(h)|3\nA|exit(g)|4\n");
        let mut threads = Threads::default();
        let changes: Vec<Change> = trace.iter().map(|(id, event)| threads.step(id, &event)).collect();
        assert_eq!(changes[3], Change::Left(2));
        assert_eq!(threads.size(), 1 + THREAD);
    }
}
