//! What of a run can still happen, one thing after the other, when something is missing.
//!
//! A thread that needs what is not there any more stops: from then on it does nothing. What it would have done may be
//! missed by others in turn; but all that an event needs comes before, so a single pass finds out. Where it is not
//! plain to see what is needed, a thread stops sooner than it would have to.

use foretell_trace::{BarrierId, CondId, LockId, LockMode, Op, SemId, ThreadId, VarId, ops};
use rustc_hash::{FxHashMap, FxHashSet};

/// The state of locks, semaphores, conditions, barriers, memory and threads.
#[derive(Debug, Default)]
pub struct Course {
    /// The holders of each held lock, how, and how often.
    locks: FxHashMap<LockId, Vec<Hold>>,
    permits: FxHashMap<SemId, u32>,
    waiting: FxHashMap<ThreadId, Waiting>,
    /// Notifications by which no thread has returned yet.
    notifications: Vec<Notification>,
    /// How many things have happened.
    time: usize,
    /// Threads that can only begin once they are forked, and have not been.
    unborn: FxHashSet<ThreadId>,
    stopped: FxHashSet<ThreadId>,
    /// Barriers that some thread did not come to, or did not leave.
    left_out: FxHashSet<BarrierId>,
    /// Variables whose memory was not allocated.
    missing: FxHashSet<VarId>,
}

#[derive(Clone, Copy, Debug)]
struct Hold {
    thread: ThreadId,
    mode: LockMode,
    depth: u32,
}

/// A thread waits.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    condition: CondId,
    since: usize,
    /// How often the lock was held.
    depth: u32,
    /// All waiting threads were notified.
    is_woken: bool,
}

/// One of the waiting threads may return.
#[derive(Clone, Copy, Debug)]
struct Notification {
    condition: CondId,
    time: usize,
}

impl Course {
    /// Nothing has happened yet of a run in which these threads can only begin once they are forked.
    pub fn new(unborn: impl IntoIterator<Item = ThreadId>) -> Course {
        Course { unborn: unborn.into_iter().collect(), ..Course::default() }
    }

    /// This has happened before anything was missing.
    pub fn happened(&mut self, thread: ThreadId, op: Op) {
        self.time += 1;
        self.step(thread, op);
    }

    /// The thread does nothing any more, and never ends.
    pub fn stop(&mut self, thread: ThreadId) {
        self.stopped.insert(thread);
    }

    /// Whether the thread has stopped.
    pub fn has_stopped(&self, thread: ThreadId) -> bool {
        self.stopped.contains(&thread)
    }

    /// Lets the thread do something that it did in the run, if that is possible; otherwise it stops.
    pub fn happens(&mut self, thread: ThreadId, op: Op) -> bool {
        self.time += 1;
        let goes_on = !self.unborn.contains(&thread) && !self.stopped.contains(&thread);
        let happens = goes_on && self.step(thread, op);
        if !happens {
            self.miss(op);
            self.stop(thread);
        }
        happens
    }

    /// What others may need does not happen.
    pub fn miss(&mut self, op: Op) {
        match op {
            Op::Arrive(barrier) | Op::Depart(barrier) => {
                self.left_out.insert(barrier);
            }
            Op::Alloc(var) => {
                self.missing.insert(var);
            }
            Op::Fence { .. }
            | Op::Free(_)
            | ops!(locks | control | semaphores | conditions | labels | accesses) => {}
        }
    }

    fn step(&mut self, thread: ThreadId, op: Op) -> bool {
        match op {
            Op::Acquire(lock) | Op::TryAcquire(lock) => {
                return self.acquire(thread, lock, LockMode::Exclusive);
            }
            Op::AcquireShared(lock) | Op::TryAcquireShared(lock) => {
                return self.acquire(thread, lock, LockMode::Shared);
            }
            Op::Release(lock) => return self.release(thread, lock, LockMode::Exclusive),
            Op::ReleaseShared(lock) => return self.release(thread, lock, LockMode::Shared),
            Op::TryAcquireFailed(lock) => return !self.holds(lock).is_empty(),
            Op::TryAcquireSharedFailed(lock) => {
                return self.holds(lock).iter().any(|hold| hold.mode == LockMode::Exclusive);
            }
            Op::SemInit { sem, permits } => {
                self.permits.insert(sem, permits);
            }
            Op::SemWait(sem) => return self.take_permit(sem),
            Op::SemPost(sem) => {
                let permits = self.permits.entry(sem).or_default();
                *permits = permits.saturating_add(1);
            }
            Op::Wait { cond, lock } => self.wait(thread, cond, lock),
            Op::Woken { cond, lock } => return self.wake(thread, cond, lock),
            Op::WaitTimeout { lock, .. } => return self.end_wait(thread, lock).is_some(),
            Op::Notify(cond) => self.notify(cond),
            Op::NotifyAll(cond) => self.notify_all(cond),
            Op::Fork(child) => {
                self.unborn.remove(&child);
            }
            // In the run it had ended; so it has if it did all that it did there.
            Op::Join(other) => return !self.unborn.contains(&other) && !self.stopped.contains(&other),
            Op::Arrive(barrier) | Op::Depart(barrier) => return !self.left_out.contains(&barrier),
            Op::Fence { .. } | Op::Begin | Op::End | Op::Branch | Op::Alloc(_) | ops!(labels | reentries) => {
            }
            Op::Read { var, .. }
            | Op::Write { var, .. }
            | Op::Load { var, .. }
            | Op::Store { var, .. }
            | Op::Rmw { var, .. }
            | Op::Free(var) => return !self.missing.contains(&var),
        }
        true
    }

    fn holds(&self, lock: LockId) -> &[Hold] {
        self.locks.get(&lock).map_or(&[], Vec::as_slice)
    }

    fn acquire(&mut self, thread: ThreadId, lock: LockId, mode: LockMode) -> bool {
        let holds = self.locks.entry(lock).or_default();
        if holds.iter().any(|hold| hold.thread != thread && hold.mode.excludes(mode)) {
            return false;
        }
        match holds.iter_mut().find(|hold| hold.thread == thread && hold.mode == mode) {
            Some(hold) => hold.depth = hold.depth.saturating_add(1),
            None => holds.push(Hold { thread, mode, depth: 1 }),
        }
        true
    }

    fn release(&mut self, thread: ThreadId, lock: LockId, mode: LockMode) -> bool {
        let holds = self.locks.entry(lock).or_default();
        let Some(place) = holds.iter().position(|hold| hold.thread == thread && hold.mode == mode) else {
            return false;
        };
        holds[place].depth -= 1;
        if holds[place].depth == 0 {
            holds.remove(place);
        }
        true
    }

    fn take_permit(&mut self, sem: SemId) -> bool {
        let permits = self.permits.entry(sem).or_default();
        let is_there = *permits > 0;
        *permits = permits.saturating_sub(1);
        is_there
    }

    fn wait(&mut self, thread: ThreadId, condition: CondId, lock: LockId) {
        let holds = self.locks.entry(lock).or_default();
        let depth = holds.iter().find(|hold| hold.thread == thread).map_or(1, |hold| hold.depth);
        holds.retain(|hold| hold.thread != thread);
        self.waiting.insert(thread, Waiting { condition, since: self.time, depth, is_woken: false });
    }

    fn notify(&mut self, condition: CondId) {
        if self.waiting.values().any(|waiting| waiting.condition == condition) {
            self.notifications.push(Notification { condition, time: self.time });
        }
    }

    fn notify_all(&mut self, condition: CondId) {
        for waiting in self.waiting.values_mut().filter(|waiting| waiting.condition == condition) {
            waiting.is_woken = true;
        }
    }

    /// The thread has the lock again after a wait, if no other thread has.
    fn end_wait(&mut self, thread: ThreadId, lock: LockId) -> Option<Waiting> {
        let waiting = self.waiting.remove(&thread)?;
        let hold = Hold { thread, mode: LockMode::Exclusive, depth: waiting.depth };
        let holds = self.locks.entry(lock).or_default();
        if !holds.is_empty() {
            return None;
        }
        holds.push(hold);
        Some(waiting)
    }

    /// Whether the thread can return from its wait. It does so with the oldest notification that may be for it: those
    /// that wait for less long can do nothing with that one.
    fn wake(&mut self, thread: ThreadId, condition: CondId, lock: LockId) -> bool {
        let Some(waiting) = self.end_wait(thread, lock) else { return false };
        if waiting.is_woken {
            return true;
        }
        let is_for_it = |found: &Notification| found.condition == condition && found.time > waiting.since;
        let found = self.notifications.iter().position(is_for_it);
        found.map(|found| self.notifications.remove(found)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use foretell_trace::format::text::TextReader;
    use foretell_trace::{Event, Trace};

    use super::*;

    /// What of the trace happens if this thread does nothing from its event at this place on.
    fn rest(text: &'static str, stops: &str, from: usize) -> Vec<usize> {
        let trace = Trace::read(Box::new(TextReader::new(Box::new(text.as_bytes())))).unwrap();
        let child = |event: &Event| if let Op::Fork(child) = event.op { Some(child) } else { None };
        let mut course = Course::new(trace.events().iter().filter_map(child));
        let mut happened = Vec::new();
        for (index, event) in trace.events().iter().enumerate() {
            if index + 1 >= from && *trace.names().threads.name(event.thread) == *stops {
                course.stop(event.thread);
            }
            if course.happens(event.thread, event.op) {
                happened.push(index + 1);
            }
        }
        happened
    }

    #[test]
    fn a_lock_that_is_never_given_back_stops_who_wants_it() {
        let text = "A|acq(l)|1\nA|rel(l)|2\nB|w(x,1)|3\nB|acq(l)|4\nB|w(x,2)|5\nB|rel(l)|6\nC|w(x,3)|7\n";
        assert_eq!(rest(text, "A", 2), [1, 3, 7]);
        assert_eq!(rest(text, "A", 1), [3, 4, 5, 6, 7]);
    }

    #[test]
    fn who_was_not_started_or_did_not_end_is_missed() {
        let text = "A|fork(B)|1\nB|w(x,1)|2\nC|join(B)|3\nC|w(x,2)|4\n";
        assert_eq!(rest(text, "A", 1), [0; 0]);
        assert_eq!(rest(text, "B", 2), [1]);
        assert_eq!(rest(text, "C", 4), [1, 2, 3]);
    }

    #[test]
    fn permits_and_memory_are_missed() {
        let text = "A|w(x,0)|1\nA|v(s)|2\nB|p(s)|3\nB|w(x,2)|4\n";
        assert_eq!(rest(text, "A", 2), [1]);
        assert_eq!(rest(text, "A", 9), [1, 2, 3, 4]);
        let text = "A|alloc(x)|1\nA|w(x,1)|2\nB|w(y,1)|3\nB|w(x,2)|4\n";
        assert_eq!(rest(text, "A", 1), [3]);
        assert_eq!(rest(text, "A", 2), [1, 3, 4]);
    }
}
