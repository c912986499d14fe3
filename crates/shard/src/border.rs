//! The state of the recorded run between two events, but for memory; and the events that bring it about.
//!
//! These events are those of the recorded run that still matter: of locks the acquires whose sections are open, of
//! barriers the generations that some thread is in, of functions the calls that have not returned. They keep their
//! order, so any run can begin with them. Two things are not as they were recorded:
//!
//! * A wait needs its lock, so the acquire that it gives up comes right before it; a return from a wait that holds its
//!   lock is an acquire here.
//! * Notifications that threads may still return by are counted between the waits, where they have the same effect: a
//!   thread returns by the first one since its wait that no other has returned by.

use std::collections::BTreeMap;

use foretell_trace::{BarrierId, CondId, Event, Loc, LockId, LockMode, Op, SemId, ThreadId, ops};
use rustc_hash::FxHashMap;

use crate::whole::{Counting, Semaphore};

/// An event that brings about a part of the state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BorderEvent {
    /// The event of the trace that it stands for, or after which it has its place.
    pub(crate) at: u32,
    /// Its place among those with the same number.
    pub(crate) step: u8,
    /// Its thread; none for a notification, whose thread does not matter.
    pub(crate) thread: Option<ThreadId>,
    pub(crate) loc: Loc,
    pub(crate) op: Op,
}

impl BorderEvent {
    /// The event itself.
    pub(crate) fn of((at, event): (u32, Event)) -> BorderEvent {
        BorderEvent { at, step: 1, thread: Some(event.thread), loc: event.loc, op: event.op }
    }
}

/// The state at one border, but for memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Standing {
    /// What brings about the state of locks, conditions and barriers. Not sorted.
    pub(crate) events: Vec<BorderEvent>,
    /// The calls that have not returned, by thread.
    pub(crate) calls: Vec<(ThreadId, Vec<(u32, Event)>)>,
    pub(crate) semaphores: BTreeMap<SemId, Semaphore>,
}

/// A section that is open.
#[derive(Clone, Copy, Debug)]
struct Section {
    since: u32,
    loc: Loc,
    depth: u32,
}

/// A thread that waits.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    thread: ThreadId,
    lock: LockId,
    depth: u32,
    since: u32,
    loc: Loc,
    /// All that waited have been woken since.
    woken: bool,
    /// How many notifications came after this wait and before the next one, by which no thread has returned.
    notified: usize,
}

/// Who is at a barrier.
#[derive(Clone, Debug, Default)]
struct Gathering {
    /// The generation that is complete and has not departed as a whole: its arrivals and departures, and how many are
    /// still to depart.
    leaving: Vec<(u32, Event)>,
    inside: usize,
    /// The arrivals of the next one.
    coming: Vec<(u32, Event)>,
}

/// The state of the recorded run, but for memory.
#[derive(Debug, Default)]
pub(crate) struct State {
    sections: FxHashMap<(ThreadId, LockId, LockMode), Section>,
    /// Who waits at each condition, in the order in which they began.
    waiting: BTreeMap<CondId, Vec<Waiter>>,
    barriers: BTreeMap<BarrierId, Gathering>,
    calls: BTreeMap<usize, Vec<(u32, Event)>>,
    /// The fork of each thread.
    pub(crate) forks: FxHashMap<ThreadId, (u32, Event)>,
    pub(crate) counting: Counting,
    pub(crate) has_branches: bool,
    pub(crate) unexplained: u64,
}

impl State {
    /// The next event takes place. Returns from waits that no notification explains are those of a timeout: the result
    /// is the event as it is to be kept.
    pub(crate) fn event(&mut self, index: u32, event: &Event) -> Event {
        let mut kept = *event;
        self.unexplained += u64::from(event.unexplained);
        match event.op {
            ops!(locks) => self.lock(index, event),
            Op::Fork(child) => {
                self.forks.insert(child, (index, *event));
            }
            Op::Branch => self.has_branches = true,
            Op::SemInit { sem, permits } => self.counting.create(sem, permits),
            Op::SemWait(sem) => self.counting.take(sem),
            Op::SemPost(sem) => self.counting.post(sem),
            Op::Wait { cond, lock } => self.wait(index, event, cond, lock),
            Op::Woken { cond, lock } => {
                if !self.come_back(index, event, cond, lock, true) {
                    kept.op = Op::WaitTimeout { cond, lock };
                }
            }
            Op::WaitTimeout { cond, lock } => {
                self.come_back(index, event, cond, lock, false);
            }
            Op::Notify(cond) => self.notify(cond),
            Op::NotifyAll(cond) => self.notify_all(cond),
            Op::Arrive(barrier) => {
                self.counting.arrive(barrier);
                self.barriers.entry(barrier).or_default().coming.push((index, *event));
            }
            Op::Depart(barrier) => self.depart(index, event, barrier),
            Op::Enter(_) => self.calls.entry(event.thread.index()).or_default().push((index, *event)),
            Op::Exit(_) => {
                self.calls.entry(event.thread.index()).or_default().pop();
            }
            Op::Join(_) | Op::Begin | Op::End | Op::Dummy(_) | ops!(memory) => {}
        }
        kept
    }

    fn lock(&mut self, index: u32, event: &Event) {
        let (shared, exclusive) = (LockMode::Shared, LockMode::Exclusive);
        match event.op {
            Op::Acquire(lock) | Op::TryAcquire(lock) => self.begin(index, event, lock, exclusive, 1),
            Op::AcquireShared(lock) | Op::TryAcquireShared(lock) => self.begin(index, event, lock, shared, 1),
            Op::Release(lock) => drop(self.sections.remove(&(event.thread, lock, exclusive))),
            Op::ReleaseShared(lock) => drop(self.sections.remove(&(event.thread, lock, shared))),
            Op::AcquireAgain(lock) => self.deepen(event.thread, lock, exclusive, true),
            Op::ReleaseAgain(lock) => self.deepen(event.thread, lock, exclusive, false),
            Op::AcquireSharedAgain(lock) => self.deepen(event.thread, lock, shared, true),
            Op::ReleaseSharedAgain(lock) => self.deepen(event.thread, lock, shared, false),
            ops!(attempts | memory | control | semaphores | conditions | barriers | labels) => {}
        }
    }

    fn begin(&mut self, since: u32, event: &Event, lock: LockId, mode: LockMode, depth: u32) {
        self.sections.insert((event.thread, lock, mode), Section { since, loc: event.loc, depth });
    }

    fn deepen(&mut self, thread: ThreadId, lock: LockId, mode: LockMode, deeper: bool) {
        if let Some(section) = self.sections.get_mut(&(thread, lock, mode)) {
            section.depth = if deeper { section.depth + 1 } else { section.depth.saturating_sub(1) };
        }
    }

    fn wait(&mut self, since: u32, event: &Event, cond: CondId, lock: LockId) {
        let thread = event.thread;
        let section = self.sections.remove(&(thread, lock, LockMode::Exclusive));
        let depth = section.map_or(1, |section| section.depth);
        let waiter = Waiter { thread, lock, depth, since, loc: event.loc, woken: false, notified: 0 };
        self.waiting.entry(cond).or_default().push(waiter);
    }

    /// The thread returns from its wait. Says whether a notification explains that, if it is to be explained: the
    /// first one since the wait that no other return has used up.
    fn come_back(&mut self, index: u32, event: &Event, cond: CondId, lock: LockId, explained: bool) -> bool {
        let Some(waiting) = self.waiting.get_mut(&cond) else { return false };
        let Some(place) = waiting.iter().position(|waiter| waiter.thread == event.thread) else {
            return false;
        };
        let waiter = waiting[place];
        let mut is_explained = waiter.woken;
        if explained
            && !is_explained
            && let Some(first) = waiting[place..].iter_mut().find(|waiter| waiter.notified > 0)
        {
            first.notified -= 1;
            is_explained = true;
        }
        let waiter = waiting.remove(place);
        // For those who have waited longer they still count.
        match place.checked_sub(1).and_then(|before| waiting.get_mut(before)) {
            Some(before) if !before.woken => before.notified += waiter.notified,
            _ => {}
        }
        if waiting.is_empty() {
            self.waiting.remove(&cond);
        }
        self.begin(index, event, lock, LockMode::Exclusive, waiter.depth);
        is_explained
    }

    fn notify(&mut self, cond: CondId) {
        let last = self.waiting.get_mut(&cond).and_then(|waiting| waiting.last_mut());
        // Those who were all woken need no more.
        if let Some(last) = last.filter(|last| !last.woken) {
            last.notified += 1;
        }
    }

    fn notify_all(&mut self, cond: CondId) {
        for waiter in self.waiting.get_mut(&cond).into_iter().flatten() {
            (waiter.woken, waiter.notified) = (true, 0);
        }
    }

    fn depart(&mut self, index: u32, event: &Event, barrier: BarrierId) {
        let gathering = self.barriers.entry(barrier).or_default();
        if gathering.inside == 0 {
            self.counting.complete(barrier);
            gathering.leaving = std::mem::take(&mut gathering.coming);
            gathering.inside = gathering.leaving.len();
        }
        gathering.leaving.push((index, *event));
        gathering.inside = gathering.inside.saturating_sub(1);
        if gathering.inside == 0 {
            gathering.leaving.clear();
        }
        if gathering.coming.is_empty() && gathering.leaving.is_empty() {
            self.barriers.remove(&barrier);
        }
    }

    /// What brings about the present state.
    pub(crate) fn standing(&self) -> Standing {
        let mut events = Vec::new();
        for (&(thread, lock, mode), section) in &self.sections {
            let op = match mode {
                LockMode::Exclusive => Op::Acquire(lock),
                LockMode::Shared => Op::AcquireShared(lock),
            };
            let acquire =
                BorderEvent { at: section.since, step: 1, thread: Some(thread), loc: section.loc, op };
            events.extend((0..section.depth).map(|_| acquire));
        }
        for (&cond, waiting) in &self.waiting {
            waits(cond, waiting, &mut events);
        }
        for gathering in self.barriers.values() {
            events.extend(
                gathering.leaving.iter().chain(&gathering.coming).map(|&event| BorderEvent::of(event)),
            );
        }
        let calls = self.calls.iter().filter(|(_, calls)| !calls.is_empty());
        let calls = calls.filter_map(|(&thread, calls)| Some((ThreadId::from_index(thread)?, calls.clone())));
        Standing { events, calls: calls.collect(), semaphores: self.counting.semaphores().clone() }
    }
}

/// The waits at one condition, and the notifications that may still wake these threads.
fn waits(cond: CondId, waiting: &[Waiter], events: &mut Vec<BorderEvent>) {
    for (place, waiter) in waiting.iter().enumerate() {
        let Waiter { thread, lock, since, loc, .. } = *waiter;
        let event = |step, thread, op| BorderEvent { at: since, step, thread, loc, op };
        events.extend((0..waiter.depth).map(|_| event(0, Some(thread), Op::Acquire(lock))));
        events.push(event(1, Some(thread), Op::Wait { cond, lock }));
        let is_last_woken = waiter.woken && waiting.get(place + 1).is_none_or(|next| !next.woken);
        if is_last_woken {
            events.push(event(2, None, Op::NotifyAll(cond)));
        }
        // No thread returns more than once by those before the border.
        events.extend((0..waiter.notified.min(place + 1)).map(|_| event(2, None, Op::Notify(cond))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What brings about the state after this trace.
    fn standing(text: &str) -> Vec<String> {
        let trace = foretell_testkit::trace(text);
        let mut state = State::default();
        for (index, event) in (0..).zip(trace.events()) {
            state.event(index, event);
        }
        let mut events = state.standing().events;
        events.sort_by_key(|event| (event.at, event.step));
        let names = trace.names();
        let text = |event: &BorderEvent| {
            let thread = event.thread.map_or("-", |thread| names.threads.name(thread));
            format!("{thread}|{}", foretell_trace::format::text::op_text(event.op, names))
        };
        events.iter().map(text).collect()
    }

    #[test]
    fn open_sections_stay_and_closed_ones_go() {
        let text = "a|acq(l)|1\na|acq(l)|2\na|rel(l)|3\nb|acq(m)|4\nb|rel(m)|5\nc|acq(m)|6\na|acq(l)|7\n";
        assert_eq!(standing(text), ["a|acq(l)", "a|acq(l)", "c|acq(m)"]);
    }

    #[test]
    fn a_notification_counts_until_a_thread_returns_by_it() {
        let wait = |thread: &str| format!("{thread}|acq(l)|1\n{thread}|wait(c,l)|2\n");
        let text = format!("{}n|notify(c)|3\n{}n|notify(c)|4\n", wait("a"), wait("b"));
        let both = ["a|acq(l)", "a|wait(c,l)", "-|notify(c)", "b|acq(l)", "b|wait(c,l)", "-|notify(c)"];
        assert_eq!(standing(&text), both);
        // b cannot have returned by the first one.
        let text = format!("{text}b|woken(c,l)|5\nb|rel(l)|6\n");
        assert_eq!(standing(&text), both[..3]);
    }

    #[test]
    fn a_generation_stays_until_all_have_departed() {
        let text = "a|arrive(x)|1\nb|arrive(x)|2\na|depart(x)|3\na|arrive(x)|4\n";
        assert_eq!(standing(text), ["a|arrive(x)", "b|arrive(x)", "a|depart(x)", "a|arrive(x)"]);
        assert_eq!(standing(&format!("{text}b|depart(x)|5\n")), ["a|arrive(x)"]);
    }
}
