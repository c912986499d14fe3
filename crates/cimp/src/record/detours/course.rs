//! What of a run can still happen, one thing after the other, when something is missing.
//!
//! A thread that needs what is not there any more stops: from then on it does nothing. What it would have done may be missed by others in
//! turn; but all that anybody needs comes before, so a single pass finds out.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::machine::{Action, elements};
use crate::program::Program;
use crate::record::recorder::{Happening, What};
use crate::value::ThreadRef;

/// The state of locks, semaphores, conditions and threads.
pub(super) struct Course {
    /// Who holds each lock that is held, and how often.
    locks: FxHashMap<u32, (ThreadRef, u32)>,
    permits: FxHashMap<u32, u32>,
    waiting: FxHashMap<ThreadRef, Waiting>,
    /// Notifications that nobody has returned with yet.
    notifications: Vec<Notification>,
    /// How many things have happened.
    time: usize,
    started: FxHashSet<ThreadRef>,
    stopped: FxHashSet<ThreadRef>,
}

/// Somebody waits.
#[derive(Clone, Copy)]
struct Waiting {
    condition: u32,
    since: usize,
    /// How often the lock was held.
    depth: u32,
    /// All who waited were notified.
    is_woken: bool,
}

/// One of those who wait may return.
#[derive(Clone, Copy)]
struct Notification {
    condition: u32,
    time: usize,
}

impl Course {
    pub(super) fn new(program: &Program) -> Course {
        let semaphores = program.semaphores.iter();
        let permits =
            semaphores.flat_map(|(group, permits)| elements(group).map(|element| (element, *permits)));
        let roots = (0..program.threads.len()).filter_map(|root| u32::try_from(root).ok());
        Course {
            locks: FxHashMap::default(),
            permits: permits.collect(),
            waiting: FxHashMap::default(),
            notifications: Vec::new(),
            time: 0,
            started: roots.map(ThreadRef).collect(),
            stopped: FxHashSet::default(),
        }
    }

    /// The thread does nothing any more, and never ends.
    pub(super) fn stop(&mut self, thread: ThreadRef) {
        self.stopped.insert(thread);
    }

    /// Lets it happen, if that is possible; otherwise its thread stops.
    pub(super) fn happens(&mut self, happening: &Happening) -> bool {
        let thread = happening.at.thread;
        self.time += 1;
        let goes_on = self.started.contains(&thread) && !self.stopped.contains(&thread);
        let happens = goes_on
            && match happening.what {
                What::Step { action, child, .. } => self.step(thread, action, child),
                What::Initial { .. } | What::Decision { .. } => true,
            };
        if !happens {
            self.stop(thread);
        }
        happens
    }

    fn step(&mut self, thread: ThreadRef, action: Action, child: Option<ThreadRef>) -> bool {
        match action {
            Action::Acquire(lock) => return self.acquire(thread, lock),
            Action::Release(lock) => self.release(lock),
            Action::SemWait(semaphore) => return self.take_permit(semaphore),
            Action::SemPost(semaphore) => {
                let permits = self.permits.entry(semaphore).or_default();
                *permits = permits.saturating_add(1);
            }
            Action::Wait { condition, lock } => self.wait(thread, condition, lock),
            Action::Woken { condition, lock } => return self.wake(thread, condition, lock),
            Action::Notify(condition) => self.notify(condition),
            Action::NotifyAll(condition) => self.notify_all(condition),
            Action::Fork(_) => self.started.extend(child),
            // In the run it had ended; so it has if it did all that it did there.
            Action::Join(other) => return self.started.contains(&other) && !self.stopped.contains(&other),
            Action::Read(_) | Action::Write(_) | Action::Fail => {}
        }
        true
    }

    fn acquire(&mut self, thread: ThreadRef, lock: u32) -> bool {
        let (owner, depth) = self.locks.entry(lock).or_insert((thread, 0));
        if *owner == thread {
            *depth = depth.saturating_add(1);
        }
        *owner == thread
    }

    fn release(&mut self, lock: u32) {
        if let Some((_, depth)) = self.locks.get_mut(&lock) {
            *depth -= 1;
            if *depth == 0 {
                self.locks.remove(&lock);
            }
        }
    }

    fn take_permit(&mut self, semaphore: u32) -> bool {
        let permits = self.permits.entry(semaphore).or_default();
        let is_there = *permits > 0;
        *permits = permits.saturating_sub(1);
        is_there
    }

    fn wait(&mut self, thread: ThreadRef, condition: u32, lock: u32) {
        let depth = self.locks.remove(&lock).map_or(1, |(_, depth)| depth);
        self.waiting.insert(thread, Waiting { condition, since: self.time, depth, is_woken: false });
    }

    fn notify(&mut self, condition: u32) {
        if self.waiting.values().any(|waiting| waiting.condition == condition) {
            self.notifications.push(Notification { condition, time: self.time });
        }
    }

    fn notify_all(&mut self, condition: u32) {
        for waiting in self.waiting.values_mut().filter(|waiting| waiting.condition == condition) {
            waiting.is_woken = true;
        }
    }

    /// Whether the thread can return from its wait. It does so with the oldest notification that may be for it: those that wait for less long
    /// can do nothing with that one.
    fn wake(&mut self, thread: ThreadRef, condition: u32, lock: u32) -> bool {
        let Some(waiting) = self.waiting.remove(&thread) else { return false };
        if self.locks.contains_key(&lock) {
            return false;
        }
        self.locks.insert(lock, (thread, waiting.depth));
        if waiting.is_woken {
            return true;
        }
        let is_for_it = |found: &Notification| found.condition == condition && found.time > waiting.since;
        let found = self.notifications.iter().position(is_for_it);
        found.map(|found| self.notifications.remove(found)).is_some()
    }
}
