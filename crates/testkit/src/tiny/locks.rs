//! Mutexes and read-write locks, which are the same locks.

use super::World;

impl World {
    /// Whether another thread holds the lock, in a mode that excludes a shared or an exclusive acquire.
    pub(super) fn is_taken(&self, thread: usize, lock: usize, wanted_shared: bool) -> bool {
        let excludes = |&(held, shared): &(usize, bool)| held == lock && !(shared && wanted_shared);
        let mut others = self.threads.iter().enumerate().filter(|(other, _)| *other != thread);
        others.any(|(_, state)| state.held.iter().any(excludes))
    }

    pub(super) fn acquire(&mut self, thread: usize) {
        self.take(thread, false, "acq");
    }

    pub(super) fn acquire_shared(&mut self, thread: usize) {
        self.take(thread, true, "racq");
    }

    fn take(&mut self, thread: usize, shared: bool, op: &str) {
        let lock = self.random.below(self.locks);
        // Nested too deeply, small traces would consist of nothing else.
        let held = &self.threads[thread].held;
        let both = !self.shape.features.upgrades && held.contains(&(lock, !shared));
        if held.len() < self.locks.max(3) && !both && !self.is_taken(thread, lock, shared) {
            self.threads[thread].held.push((lock, shared));
            // Some acquires would not have waited. Nothing else depends on which, so no chance is drawn for it.
            let op = match (self.shape.features.failed_attempts && self.made % 3 == 2, shared) {
                (false, _) => op,
                (true, false) => "try",
                (true, true) => "rtry",
            };
            self.event(thread, format_args!("{op}(l{lock})"));
        }
    }

    pub(super) fn release(&mut self, thread: usize) {
        let count = self.threads[thread].held.len();
        if count == 0 {
            return;
        }
        // Locks need not be released in the reverse order.
        let position = if self.random.once_in(3) { self.random.below(count) } else { count - 1 };
        let (lock, shared) = self.threads[thread].held.remove(position);
        self.event(thread, format_args!("{}(l{lock})", if shared { "rrel" } else { "rel" }));
    }

    pub(super) fn attempt(&mut self, thread: usize) {
        let lock = self.random.below(self.locks);
        let shared = self.random.once_in(2);
        if self.is_taken(thread, lock, shared) {
            self.event(thread, format_args!("{}(l{lock})", if shared { "rtryfail" } else { "tryfail" }));
        }
    }
}
