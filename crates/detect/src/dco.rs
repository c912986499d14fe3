//! DCO: the datarace causal order.
//!
//! Paper: Serbanuta, Chen, Rosu: Maximal causal models for sequentially consistent systems, RV 2012; section 4,
//! Definition 12. The least order that contains thread order and has every write before the reads that saw it, closed
//! under *lock atomicity* (if the beginning of a section precedes an event within another section of the same lock, so
//! does its end) and *write-read atomicity* (if a write precedes another write of the variable, so do the reads that
//! saw it). Two conflicting accesses that the order leaves open, under disjoint lock sets, are reported (Proposition
//! 7).
//!
//! **Changed:**
//! * We compute Definition 12; Algorithm 2 of the paper does not. It applies lock atomicity only to sections that
//!   accessed the variable at hand, not to all that the order reaches; its lines 24 to 27 look at the write at hand
//!   where the earlier write is meant; and it knows no initial values. Here every event joins clocks until nothing
//!   changes. All rules end in the event at hand, so this needs no second look at earlier events.
//! * The initial value counts as a write before everything: reads that saw it precede every write of the variable.
//!   Without this the order would let a later write run first and change what they saw.
//! * The paper compares the clocks of the two events, and the clock of an event contains the edges that pin what is
//!   read *at that event*: a read and the write that it saw, or a read and the write that ends its value, are never
//!   incomparable, so Proposition 7 never reports a read next to the write before it. But two accesses that are about
//!   to run next to each other need no pins of their own. We compare the earlier event with the clock of the later one
//!   as it is before the pinning edges of that event, which reports all that Proposition 7 does, and these.
//! * Of the sections of one thread on one lock only the last that a clock has reached matters, and of its writes to one
//!   variable only the last: the later one knows what the earlier one would bring. A cursor for each observing thread
//!   makes the search cheap.
//! * [`MustOrder`] is part of the order. A lock that both hold shared orders and excludes nothing.
//!
//! **Guarantee:** none; candidates. The paper's Theorem 4 is false: in a trace from which only a deadlock can be
//! reached the order leaves a pair open that no schedule makes adjacent.
//!
//! **May miss:** races that need a read to see another write of the same value, or that need a section or a read of the
//! trace to be left out. Memory grows with the number of sections, and of writes that are read.

use foretell_trace::{Event, EventId, LockId, LockMode, Op, ThreadId, VarId};

use crate::Detector;
use crate::accesses::{Accesses, Now};
use crate::clock::{Clock, Clocks, Time};
use crate::lock_set::LockSets;
use crate::must::MustOrder;
use crate::report::Reports;
use crate::table::at;

/// The datarace causal order.
#[derive(Debug, Default)]
pub struct Dco {
    /// The order itself. Every access and every end of a section has a time of its own.
    clocks: Clocks,
    must: MustOrder,
    sets: LockSets,
    /// The open sections of each thread: lock, mode, and when they began.
    open: Vec<Vec<(LockId, LockMode, Time)>>,
    locks: Vec<EndedSections>,
    vars: Vec<Var>,
    accesses: Accesses,
}

/// The sections of a lock that have ended: what preceded their ends, found by when they began.
#[derive(Debug, Default)]
struct EndedSections {
    exclusive: Log,
    shared: Log,
}

#[derive(Debug, Default)]
struct Var {
    /// Whether its allocation was seen, so that [`MustOrder`] may bring news at every access.
    allocated: bool,
    /// The last write.
    last: Option<LastWrite>,
    /// What precedes the reads that saw the last write, or the initial value if there was none.
    readers: Clock,
    /// What precedes the reads that saw the initial value.
    first_readers: Clock,
    /// The writes before the last, as far as they were read: what precedes their readers, found by when they were made.
    writes: Log,
}

#[derive(Debug)]
struct LastWrite {
    thread: ThreadId,
    time: Time,
    /// What precedes it, and itself.
    clock: Clock,
}

/// For each thread, clocks that are learnt by threads that know the thread up to some time.
#[derive(Debug, Default)]
struct Log {
    /// By thread, in the order of its times. A later entry knows all that an earlier one does. Only grows.
    entries: Vec<Vec<Entry>>,
    /// By observing thread, how far it has come.
    observers: Vec<Observer>,
}

#[derive(Debug)]
struct Entry {
    /// Who knows the thread up to here learns the clock.
    from: Time,
    clock: Clock,
}

/// How far one thread has come in a log, by observed thread.
#[derive(Debug, Default)]
struct Observer {
    /// How many entries it has reached. Only grows.
    reached: Vec<usize>,
    /// From when on the next entry counts; later than any time if there is none yet. Together in one place, so that one
    /// comparison with a clock tells that nothing is new.
    next: Vec<Time>,
}

impl Observer {
    fn meet(&mut self, entries: &[Vec<Entry>]) {
        self.reached.resize(entries.len(), 0);
        let unmet = &entries[self.next.len()..];
        self.next.extend(unmet.iter().map(|entries| entries.first().map_or(Time::MAX, |entry| entry.from)));
    }

    fn has_news(&self, clock: &Clock) -> bool {
        let (near, mut far) = clock.times();
        let is_near = self.next.iter().zip(near).fold(false, |any, (next, known)| any | (next <= known));
        is_near || far.any(|(index, known)| self.next.get(index).is_some_and(|&next| next <= known))
    }
}

impl Log {
    fn push(&mut self, thread: ThreadId, entry: Entry) {
        for observer in &mut self.observers {
            if let Some(next) = observer.next.get_mut(thread.index()) {
                *next = entry.from.min(*next);
            }
        }
        at(&mut self.entries, thread.index()).push(entry);
    }

    /// The observer learns what its clock has reached; whether there was anything new.
    fn learn(&mut self, observer: ThreadId, clock: &mut Clock) -> bool {
        // Most variables and locks are one thread's: nothing is kept of who has looked at them.
        if self.entries.is_empty() {
            return false;
        }
        let observer = at(&mut self.observers, observer.index());
        if observer.next.len() < self.entries.len() {
            observer.meet(&self.entries);
        }
        if !observer.has_news(clock) {
            return false;
        }
        let mut news = false;
        for (index, entries) in self.entries.iter().enumerate() {
            let known = clock.at(index);
            if observer.next[index] > known {
                continue;
            }
            let reached = &mut observer.reached[index];
            *reached += entries[*reached..].partition_point(|entry| entry.from <= known);
            observer.next[index] = entries.get(*reached).map_or(Time::MAX, |entry| entry.from);
            let Some(last) = reached.checked_sub(1).map(|last| &entries[last].clock) else { continue };
            if !last.is_within(clock) {
                clock.join(last);
                news = true;
            }
        }
        news
    }
}

impl Detector for Dco {
    fn event(&mut self, id: EventId, event: &Event, reports: &mut Reports) {
        let thread = event.thread;
        self.must.enter(event, &mut self.clocks);
        if let Some(access) = event.op.access() {
            if at(&mut self.vars, access.var.index()).allocated {
                self.settle(thread, None);
            }
            let (time, locks) = (self.clocks.of(thread).get(thread), self.sets.held(thread));
            self.access(&Now { id, loc: event.loc, thread, access, time, locks }, reports);
        } else {
            self.sets.event(event);
            self.settle(thread, None);
            self.other(event);
        }
        self.must.leave(event, &mut self.clocks);
    }
}

impl Dco {
    fn other(&mut self, event: &Event) {
        let thread = event.thread;
        if let Some((lock, mode)) = event.op.section_begin() {
            let now = self.clocks.of(thread).get(thread);
            at(&mut self.open, thread.index()).push((lock, mode, now));
        } else if let Some((lock, mode)) = event.op.section_end() {
            self.end(thread, lock, mode);
        } else if let Op::Alloc(var) = event.op {
            at(&mut self.vars, var.index()).allocated = true;
        }
    }

    fn end(&mut self, thread: ThreadId, lock: LockId, mode: LockMode) {
        let open = at(&mut self.open, thread.index());
        let Some(position) = open.iter().rposition(|&(held, how, _)| (held, how) == (lock, mode)) else {
            return;
        };
        let (_, _, began) = open.remove(position);
        let clock = self.clocks.of(thread);
        // Who knows a section's beginning knows its end too, unless something in between was made known to others.
        if began < clock.get(thread) {
            let lock = at(&mut self.locks, lock.index());
            let log = match mode {
                LockMode::Exclusive => &mut lock.exclusive,
                LockMode::Shared => &mut lock.shared,
            };
            log.push(thread, Entry { from: began, clock: clock.clone() });
        }
        self.clocks.advance(thread);
    }

    /// Joins what lock atomicity and, at a write, write-read atomicity demand, until nothing changes.
    fn settle(&mut self, thread: ThreadId, written: Option<VarId>) {
        let clock = self.clocks.of(thread);
        loop {
            let mut news = false;
            for &(lock, mode) in self.sets.held_locks(thread) {
                let lock = at(&mut self.locks, lock.index());
                news |= lock.exclusive.learn(thread, clock);
                if mode == LockMode::Exclusive {
                    news |= lock.shared.learn(thread, clock);
                }
            }
            if let Some(var) = written {
                news |= at(&mut self.vars, var.index()).writes.learn(thread, clock);
            }
            if !news {
                return;
            }
        }
    }

    fn access(&mut self, now: &Now, reports: &mut Reports) {
        self.accesses.check(now, self.clocks.of(now.thread), &self.sets, reports);
        self.accesses.record(now, &self.sets, reports.wanted());
        if now.access.kind.reads() {
            self.follow_seen(now);
        }
        if now.access.kind.writes() {
            self.follow_readers(now);
        }
        self.remember(now);
        self.clocks.advance(now.thread);
    }

    /// The write that a read saw precedes it.
    fn follow_seen(&mut self, now: &Now) {
        let clock = self.clocks.of(now.thread);
        let Some(seen) = &self.vars[now.access.var.index()].last else { return };
        if seen.time > clock.get(seen.thread) {
            clock.join(&seen.clock);
            self.settle(now.thread, None);
        }
    }

    /// The reads of writes that precede a write precede it.
    fn follow_readers(&mut self, now: &Now) {
        let var = &mut self.vars[now.access.var.index()];
        var.close_last();
        self.clocks.of(now.thread).join(&var.first_readers);
        self.settle(now.thread, Some(now.access.var));
    }

    fn remember(&mut self, now: &Now) {
        let clock = self.clocks.of(now.thread);
        let var = &mut self.vars[now.access.var.index()];
        if now.access.kind.reads() {
            var.readers.join(clock);
        }
        if !now.access.kind.writes() {
            return;
        }
        // A read-modify-write is the last reader of the value that it replaces.
        var.close_last();
        match &mut var.last {
            Some(last) => {
                (last.thread, last.time) = (now.thread, now.time);
                last.clock.copy_from(clock);
            }
            None => {
                var.last = Some(LastWrite { thread: now.thread, time: now.time, clock: clock.clone() });
            }
        }
    }
}

impl Var {
    /// Puts the readers of the last write, or of the initial value, where later writes find them.
    fn close_last(&mut self) {
        if self.readers.is_empty() {
            return;
        }
        let readers = std::mem::take(&mut self.readers);
        match &self.last {
            None => self.first_readers.join(&readers),
            Some(last) => self.writes.push(last.thread, Entry { from: last.time, clock: readers }),
        }
    }
}
