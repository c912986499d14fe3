//! WCP: weak causally-precedes.
//!
//! Paper: Kini, Mathur, Viswanathan: Dynamic race prediction in linear time, PLDI 2017. The least order such that
//! (a) the end of a section precedes a later access, within a section of the same lock, that conflicts with an access
//! of the first; (b) if an event of one section precedes an event of a later section of the same lock, then the end of
//! the first precedes the end of the second; (c) happens-before may be composed on both sides. A pair that neither this
//! order nor thread order puts in order is reported.
//!
//! **Changed:**
//! * Rule (b) needs no queue for each pair of threads, and no cursor for each thread. The sections of a lock are
//!   ordered by happens-before, so those that precede an end form a prefix; and who takes the lock next learns all that
//!   the last owner knew when it gave the lock up. One queue for each lock, consumed from its front, is exact.
//! * A section in which nothing was made known to others before its end need not be queued: an order that reaches its
//!   beginning comes from its end or later. Without nested locks the queues stay empty.
//! * The sections of one lock end in happens-before order, so the join over "the ends of sections of other threads that
//!   touched x" is the last such end: two are kept for each lock and variable, of two different threads.
//! * An end that is known by its own time is known with all that happens before it: one comparison saves the join.
//! * The published algorithm leaves rule (b) out between two sections of one thread; the definition does not, nor do
//!   we.
//! * Atomics, allocation, semaphores, waits and barriers are hard edges (see the module `hard`), as
//!   fork and join are. Rule (a) also counts conflicts between atomics.
//! * Read-write locks: rules (a) and (b) hold for two sections unless both are shared, and two shared sections are not
//!   ordered by happens-before. Shared ends are therefore kept for each thread.
//!
//! **Guarantee:** none; candidates. The first report is a race or shows that a deadlock is possible; which of them, and
//! whether any later report is a race, is not known.
//!
//! **May miss:** races that need a section of the prefix to be left out or two conflicting sections to be swapped.

use std::collections::VecDeque;
use std::sync::Arc;

use foretell_trace::{Access, Event, EventId, LockId, LockMode, ThreadId, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::Detector;
use crate::accesses::{Accesses, Now};
use crate::clock::{Clock, Time};
use crate::hard::{Hard, HardPredecessors, Learners};
use crate::lock_set::{LockSetId, LockSets};
use crate::report::Reports;
use crate::table::at;

/// Weak causally-precedes.
#[derive(Debug, Default)]
pub struct Wcp {
    /// Happens-before.
    hard: Hard,
    threads: Vec<ThreadClocks>,
    locks: Vec<LockClocks>,
    /// For each lock and variable, the ends of sections in which the variable was touched.
    guarded: FxHashMap<(LockId, VarId), GuardedClocks>,
    accesses: Accesses,
    /// Only the empty set: this technique does not compare lock sets, as rule (a) implies what they say.
    sets: LockSets,
}

#[derive(Debug)]
struct ThreadClocks {
    known: HardPredecessors,
    /// The sections that are open, in the order of their beginnings.
    sections: Vec<EnteredSection>,
    /// What was touched since the outermost open section began, in order, with whether it was written.
    touched: Vec<(VarId, bool)>,
    /// The length of `touched` at which repetitions are next removed.
    tidy_at: usize,
}

#[derive(Clone, Copy, Debug)]
struct EnteredSection {
    lock: LockId,
    mode: LockMode,
    /// The local time of its beginning.
    began: Time,
    /// Where in [`ThreadClocks::touched`] its accesses begin.
    first: usize,
}

/// The end of a section.
#[derive(Debug)]
struct SectionEnd {
    thread: ThreadId,
    time: Time,
    /// What happens before it, and itself.
    clock: Clock,
}

/// A section whose beginning others may know without its end.
#[derive(Debug)]
struct Queued {
    began: Time,
    end: Arc<SectionEnd>,
}

#[derive(Debug, Default)]
struct LockClocks {
    /// The last exclusive section's end.
    last: Option<Arc<SectionEnd>>,
    /// What preceded it.
    known: Clock,
    /// Exclusive sections that do not precede the last end yet, oldest first.
    queue: VecDeque<Queued>,
    /// What shared sections leave behind, if there were any.
    shared: Option<Box<SharedLock>>,
}

#[derive(Debug, Default)]
struct SharedLock {
    /// What happened before the ends of shared sections so far.
    happened: Clock,
    /// What preceded them.
    known: Clock,
    /// By thread, the shared sections that do not precede the last exclusive end yet, oldest first.
    queues: Vec<VecDeque<Queued>>,
}

#[derive(Debug, Default)]
struct GuardedClocks {
    /// Ends of exclusive sections that touched the variable.
    touched: LatestEnds,
    /// Ends of exclusive sections that wrote it.
    written: LatestEnds,
    /// The same for shared sections, if there were any.
    shared: Option<Box<SharedEnds>>,
}

#[derive(Debug, Default)]
struct SharedEnds {
    /// The last shared section's end of each thread that touched the variable.
    touched: Vec<Arc<SectionEnd>>,
    /// The last shared section's end of each thread that wrote it.
    written: Vec<Arc<SectionEnd>>,
}

/// The last end, and the last end of any other thread.
#[derive(Debug, Default)]
struct LatestEnds {
    last: Option<Arc<SectionEnd>>,
    other: Option<Arc<SectionEnd>>,
}

impl LatestEnds {
    fn of_others(&self, thread: ThreadId) -> Option<&SectionEnd> {
        let last = self.last.as_deref()?;
        if last.thread == thread { self.other.as_deref() } else { Some(last) }
    }

    fn put(&mut self, end: &Arc<SectionEnd>) {
        match &mut self.last {
            Some(last) if last.thread == end.thread => {
                if last.time != end.time {
                    *last = Arc::clone(end);
                }
            }
            last => self.other = last.replace(Arc::clone(end)),
        }
    }
}

fn put_shared(ends: &mut Vec<Arc<SectionEnd>>, end: &Arc<SectionEnd>) {
    match ends.iter_mut().find(|known| known.thread == end.thread) {
        Some(known) => *known = Arc::clone(end),
        None => ends.push(Arc::clone(end)),
    }
}

impl GuardedClocks {
    /// Rule (a): an access of the thread within a section learns the ends of sections with conflicting accesses.
    fn precede(&self, thread: ThreadId, writes: bool, mode: LockMode, known: &mut HardPredecessors) {
        let exclusive = if writes { &self.touched } else { &self.written };
        if let Some(end) = exclusive.of_others(thread) {
            learn_end(known, end);
        }
        if mode == LockMode::Exclusive
            && let Some(shared) = &self.shared
        {
            let shared = if writes { &shared.touched } else { &shared.written };
            for end in shared.iter().filter(|end| end.thread != thread) {
                learn_end(known, end);
            }
        }
    }

    fn put(&mut self, end: &Arc<SectionEnd>, mode: LockMode, written: bool) {
        match mode {
            LockMode::Exclusive => {
                self.touched.put(end);
                if written {
                    self.written.put(end);
                }
            }
            LockMode::Shared => {
                let shared = self.shared.get_or_insert_default();
                put_shared(&mut shared.touched, end);
                if written {
                    put_shared(&mut shared.written, end);
                }
            }
        }
    }
}

impl ThreadClocks {
    fn new(me: ThreadId) -> ThreadClocks {
        ThreadClocks {
            known: HardPredecessors::new(me),
            sections: Vec::new(),
            touched: Vec::new(),
            tidy_at: TIDY_AT,
        }
    }

    fn touch(&mut self, access: Access) {
        if self.sections.is_empty() {
            return;
        }
        self.touched.push((access.var, access.kind.writes()));
        if self.touched.len() > self.tidy_at {
            self.tidy();
        }
    }

    /// Keeps the last of repeated touches only. It lies within every open section that an earlier one lies within.
    #[cold]
    fn tidy(&mut self) {
        let mut seen = FxHashSet::default();
        let keep: Vec<bool> = self.touched.iter().rev().map(|&touch| seen.insert(touch)).collect();
        let keep = |position: usize| keep[keep.len() - 1 - position];
        let kept: Vec<usize> = (0..self.touched.len()).filter(|&position| keep(position)).collect();
        for section in &mut self.sections {
            section.first = kept.partition_point(|&position| position < section.first);
        }
        self.touched = kept.iter().map(|&position| self.touched[position]).collect();
        self.tidy_at = TIDY_AT.max(2 * self.touched.len());
    }
}

/// An end that is known by its own time is known with all that happens before it.
fn learn_end(known: &mut HardPredecessors, end: &SectionEnd) {
    if !known.knows(end.thread, end.time) {
        known.learn(&end.clock);
    }
}

/// Rule (b) for the sections at the front of a queue; whether there were any.
fn consume(known: &mut HardPredecessors, queue: &mut VecDeque<Queued>) -> bool {
    let mut any = false;
    while let Some(front) = queue.front()
        && known.knows(front.end.thread, front.began)
    {
        learn_end(known, &front.end);
        queue.pop_front();
        any = true;
    }
    any
}

/// Fewer touches than this are not worth tidying.
const TIDY_AT: usize = 256;

impl Detector for Wcp {
    fn event(&mut self, id: EventId, event: &Event, reports: &mut Reports) {
        let me = event.thread;
        self.meet(me);
        if let Some(learnt) = self.hard.enter(event) {
            self.threads[me.index()].known.learn(learnt);
        }
        if let Some(access) = event.op.access() {
            let (time, locks) = (self.hard.clocks.seen(me).get(me), LockSetId::default());
            self.access(&Now { id, loc: event.loc, thread: me, access, time, locks }, reports);
        } else if let Some((lock, mode)) = event.op.section_begin() {
            self.begin(me, lock, mode);
        } else if let Some((lock, mode)) = event.op.section_end() {
            self.end(me, lock, mode);
        }
        match self.hard.leave(event) {
            Learners::None => {}
            Learners::Child(child) => self.tell(child),
            Learners::AllThreads => self.tell_all_threads(),
        }
    }
}

impl Wcp {
    /// A thread that is seen for the first time knows what all threads know from the start.
    fn meet(&mut self, thread: ThreadId) {
        while self.threads.len() <= thread.index() {
            let Some(new) = ThreadId::from_index(self.threads.len()) else { return };
            self.threads.push(ThreadClocks::new(new));
            self.tell(new);
        }
    }

    fn tell(&mut self, thread: ThreadId) {
        self.meet(thread);
        let learnt = self.hard.learnt_clock(thread);
        self.threads[thread.index()].known.learn(&learnt);
    }

    fn tell_all_threads(&mut self) {
        for thread in (0..self.threads.len()).filter_map(ThreadId::from_index) {
            self.tell(thread);
        }
    }

    fn access(&mut self, now: &Now, reports: &mut Reports) {
        let ThreadClocks { known, sections, .. } = &mut self.threads[now.thread.index()];
        for section in sections {
            if let Some(guarded) = self.guarded.get(&(section.lock, now.access.var)) {
                guarded.precede(now.thread, now.access.kind.writes(), section.mode, known);
            }
        }
        self.accesses.check(now, known.clock(), &self.sets, reports);
        self.accesses.record(now, &self.sets, reports.wanted());
        self.threads[now.thread.index()].touch(now.access);
    }

    fn begin(&mut self, me: ThreadId, lock: LockId, mode: LockMode) {
        let thread = &mut self.threads[me.index()];
        let happened = self.hard.clocks.of(me);
        thread.sections.push(EnteredSection {
            lock,
            mode,
            began: happened.get(me),
            first: thread.touched.len(),
        });
        let lock = at(&mut self.locks, lock.index());
        if let Some(last) = &lock.last
            && last.time > happened.get(last.thread)
        {
            happened.join(&last.clock);
            thread.known.learn(&lock.known);
        }
        if mode == LockMode::Exclusive
            && let Some(shared) = &lock.shared
        {
            happened.join(&shared.happened);
            thread.known.learn(&shared.known);
        }
    }

    fn end(&mut self, me: ThreadId, lock: LockId, mode: LockMode) {
        let thread = &mut self.threads[me.index()];
        let open = thread.sections.iter().rposition(|section| (section.lock, section.mode) == (lock, mode));
        let Some(position) = open else { return };
        let section = thread.sections.remove(position);
        let state = at(&mut self.locks, lock.index());
        match mode {
            LockMode::Exclusive => state.precede_exclusive_end(&mut thread.known),
            LockMode::Shared => state.precede_shared_end(&mut thread.known),
        }
        let clock = self.hard.clocks.of(me);
        let end = Arc::new(SectionEnd { thread: me, time: clock.get(me), clock: clock.clone() });
        for &(var, written) in &thread.touched[section.first..] {
            self.guarded.entry((lock, var)).or_default().put(&end, mode, written);
        }
        if thread.sections.is_empty() {
            thread.touched.clear();
        }
        match mode {
            LockMode::Exclusive => state.end_exclusive(&thread.known, section.began, end),
            LockMode::Shared => state.end_shared(&thread.known, section.began, end),
        }
        self.hard.clocks.advance(me);
    }
}

impl LockClocks {
    /// Rule (b) at the end of an exclusive section.
    fn precede_exclusive_end(&mut self, known: &mut HardPredecessors) {
        consume(known, &mut self.queue);
        let Some(shared) = &mut self.shared else { return };
        // Shared sections of different threads are not ordered: what one brings may reach the next.
        while shared.queues.iter_mut().fold(false, |any, queue| any | consume(known, queue)) {}
    }

    /// Rule (b) at the end of a shared section. Nothing is consumed: other readers do not learn what this one knew.
    fn precede_shared_end(&mut self, known: &mut HardPredecessors) {
        let count = self.queue.partition_point(|queued| known.knows(queued.end.thread, queued.began));
        if let Some(queued) = count.checked_sub(1).and_then(|last| self.queue.get(last)) {
            learn_end(known, &queued.end);
        }
    }

    fn end_exclusive(&mut self, known: &HardPredecessors, began: Time, end: Arc<SectionEnd>) {
        known.copy_to(&mut self.known);
        if began < end.time {
            self.queue.push_back(Queued { began, end: Arc::clone(&end) });
        }
        self.last = Some(end);
    }

    fn end_shared(&mut self, known: &HardPredecessors, began: Time, end: Arc<SectionEnd>) {
        let shared = self.shared.get_or_insert_default();
        shared.happened.join(&end.clock);
        let mut preceding = Clock::default();
        known.copy_to(&mut preceding);
        shared.known.join(&preceding);
        if began < end.time {
            at(&mut shared.queues, end.thread.index()).push_back(Queued { began, end });
        }
    }
}
