//! A semaphore, a condition and a barrier.

use super::World;

/// The state of the semaphore.
#[derive(Default)]
pub(super) struct Semaphore {
    permits: usize,
    used: bool,
    /// Whether its creation was recorded; otherwise it may have had any number of permits.
    created: bool,
}

/// What a thread waits for.
pub(super) struct Waiting {
    /// The lock to take again, and how often it was held.
    lock: usize,
    depth: usize,
    notified: bool,
}

impl World {
    pub(super) fn semaphore(&mut self, thread: usize) {
        let state = &mut self.semaphore;
        if !state.used && self.random.once_in(3) {
            state.permits = self.random.below(3);
            (state.used, state.created) = (true, true);
            let op = format!("sem(s,{})", state.permits);
            return self.event(thread, op);
        }
        state.used = true;
        if self.random.once_in(2) {
            state.permits += 1;
            self.event(thread, "v(s)");
        } else if state.permits > 0 || (!state.created && self.random.once_in(4)) {
            state.permits = state.permits.saturating_sub(1);
            self.event(thread, "p(s)");
        }
    }

    /// Releases a lock that is held exclusively, however often.
    pub(super) fn wait(&mut self, thread: usize) {
        if self.shape.features.crowds && self.threads[thread].held.is_empty() {
            self.acquire(thread);
        }
        let held = &mut self.threads[thread].held;
        if held.is_empty() {
            return;
        }
        let (lock, _) = *self.random.pick(held);
        let depth = held.iter().filter(|held| held.0 == lock).count();
        if held.contains(&(lock, true)) {
            return;
        }
        held.retain(|held| held.0 != lock);
        self.threads[thread].waiting = Some(Waiting { lock, depth, notified: false });
        self.event(thread, format_args!("wait(c,l{lock})"));
    }

    pub(super) fn return_from_wait(&mut self, thread: usize) {
        let Some(Waiting { lock, depth, notified }) = self.threads[thread].waiting else { return };
        if self.is_taken(thread, lock, false) || (!notified && !self.random.once_in(4)) {
            return;
        }
        // Waits return without cause, and time runs out although a notification came.
        let woken = notified != self.random.once_in(6);
        self.threads[thread].waiting = None;
        self.threads[thread].held.extend(std::iter::repeat_n((lock, false), depth));
        self.event(thread, format_args!("{}(c,l{lock})", if woken { "woken" } else { "timeout" }));
    }

    pub(super) fn notify(&mut self, thread: usize) {
        let all = self.random.once_in(if self.shape.features.crowds { 4 } else { 2 });
        let waiting = self.threads.iter_mut().filter_map(|state| state.waiting.as_mut());
        let mut unnotified: Vec<&mut Waiting> = waiting.filter(|waiting| !waiting.notified).collect();
        if self.shape.features.crowds && !unnotified.is_empty() {
            let first = self.random.below(unnotified.len());
            unnotified.rotate_left(first);
        }
        for waiting in unnotified.into_iter().take(if all { usize::MAX } else { 1 }) {
            waiting.notified = true;
        }
        self.event(thread, if all { "notifyall(c)" } else { "notify(c)" });
    }

    pub(super) fn arrive(&mut self, thread: usize) {
        let gathered = self.threads.iter().filter(|state| state.inside == Some(self.generation)).count();
        // A barrier that is full opens before a thread comes again.
        if self.threads[thread].inside.is_none() && self.together != Some(gathered) {
            self.threads[thread].inside = Some(self.generation);
            self.event(thread, "arrive(b)");
        }
    }

    /// The first departure of a generation completes it, once all of the one before are gone.
    pub(super) fn depart(&mut self, thread: usize) {
        let Some(generation) = self.threads[thread].inside else { return };
        if generation == self.generation {
            let inside = || self.threads.iter().filter_map(|state| state.inside);
            let gathered = inside().filter(|&other| other == generation).count();
            let opens = self.together.map_or(gathered >= 2, |together| gathered == together);
            if !opens || inside().any(|other| other < generation) {
                return;
            }
            self.generation += 1;
        }
        self.threads[thread].inside = None;
        self.event(thread, "depart(b)");
    }
}
