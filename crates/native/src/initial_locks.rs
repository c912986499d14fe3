//! Which locks the first thread holds from the beginning: the process may be a copy of another.

use rustc_hash::FxHashMap;

use foretell_wire::record::SyncOp;

/// Tracks the locks that each thread holds.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// How often each thread holds each lock, in whatever way.
    holds: FxHashMap<(u32, u64), u32>,
    /// How often each waiting thread held the lock that it gave up.
    given_up: FxHashMap<u32, u32>,
    /// The locks that the first thread gave up without having taken them.
    since_the_beginning: Vec<u64>,
}

impl Held {
    /// A thread has done something to a lock, or to a condition.
    pub(crate) fn follow(&mut self, thread: u32, op: SyncOp, object: u64, other: u64) {
        match op {
            SyncOp::Lock | SyncOp::LockShared | SyncOp::TryLock | SyncOp::TryLockShared => {
                *self.holds.entry((thread, object)).or_default() += 1;
            }
            SyncOp::Unlock => {
                self.begin_with(thread, object);
                if let Some(depth) = self.holds.get_mut(&(thread, object)) {
                    *depth = depth.saturating_sub(1);
                }
            }
            SyncOp::Wait => {
                self.begin_with(thread, other);
                let depth = self.holds.remove(&(thread, other)).unwrap_or(1);
                self.given_up.insert(thread, depth);
            }
            SyncOp::Woken | SyncOp::TimedOut => {
                let depth = self.given_up.remove(&thread).unwrap_or(1);
                self.holds.insert((thread, other), depth);
            }
            _ => {}
        }
    }

    fn begin_with(&mut self, thread: u32, lock: u64) {
        let is_held = self.holds.get(&(thread, lock)).is_some_and(|&depth| depth > 0);
        if is_held {
            return;
        }
        let by_others = self.holds.iter().any(|(&(_, other), &depth)| other == lock && depth > 0);
        if thread == 0 && !by_others && !self.since_the_beginning.contains(&lock) {
            self.since_the_beginning.push(lock);
        }
    }

    /// What the first thread held from the beginning.
    pub(crate) fn since_the_beginning(self) -> Vec<u64> {
        self.since_the_beginning
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_up_without_having_been_taken_was_there_from_the_beginning() {
        let mut held = Held::default();
        for (thread, op, object, other) in [
            (0, SyncOp::Lock, 1, 0),
            (0, SyncOp::Unlock, 1, 0),
            (0, SyncOp::Unlock, 2, 0),
            (1, SyncOp::Unlock, 3, 0),
            (1, SyncOp::Lock, 5, 0),
            (0, SyncOp::Unlock, 5, 0),
            (0, SyncOp::Wait, 9, 4),
            (0, SyncOp::Woken, 9, 4),
            (0, SyncOp::Unlock, 4, 0),
        ] {
            held.follow(thread, op, object, other);
        }
        assert_eq!(held.since_the_beginning(), [2, 4]);
    }
}
