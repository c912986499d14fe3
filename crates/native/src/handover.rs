//! Locks that one thread acquires and another releases, and locks that a thread still holds when it ends.
//!
//! A lock that any thread may release is not a lock to a trace, where only the holder releases; it is modelled as a
//! semaphore with one permit. Where that does not describe it (readers, conditions, repeated acquires), the trace has
//! the holder release it, between two fences. A holder that has ended must have done so before its end.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use foretell_wire::holders::{HoldMode, Holders};
use foretell_wire::record::{EXIT, SyncOp};

use crate::memory::{Era, Memory};

/// A lock, by the memory that it is in.
type Lock = (Era, u64);

/// Tracks the threads that acquire and release each lock.
#[derive(Debug, Default)]
pub(crate) struct Following {
    holders: Holders<Lock>,
    /// Locks that another thread than the holder released.
    handed: BTreeSet<Lock>,
    /// Locks with which something was done that no semaphore does.
    others: FxHashSet<Lock>,
    ended: FxHashSet<u32>,
    /// The locks of each thread that were released after its end.
    abandoned: BTreeMap<u32, BTreeSet<Lock>>,
}

impl Following {
    /// A thread has done something to a lock, or to a condition.
    pub(crate) fn follow(&mut self, memory: &Memory, thread: u32, op: SyncOp, object: u64, other: u64) {
        let place = |address| (memory.era(address), address);
        match op {
            SyncOp::Lock | SyncOp::TryLock => self.lock(place(object), thread, HoldMode::Alone),
            SyncOp::LockShared | SyncOp::TryLockShared => {
                self.others.insert(place(object));
                self.lock(place(object), thread, HoldMode::Shared);
            }
            SyncOp::Unlock => self.unlock(place(object), thread),
            SyncOp::Wait => {
                self.others.insert(place(other));
                self.holders.wait(place(other), thread);
            }
            SyncOp::Woken | SyncOp::TimedOut => {
                self.make_way(place(other), thread, HoldMode::Alone);
                if !self.holders.has_waited(place(other), thread) {
                    self.holders.take(place(other), thread, HoldMode::Alone);
                }
            }
            SyncOp::End if object != EXIT => {
                self.ended.insert(thread);
            }
            _ => {}
        }
    }

    fn lock(&mut self, lock: Lock, thread: u32, mode: HoldMode) {
        self.make_way(lock, thread, mode);
        if self.holders.is_held(lock, HoldMode::Alone) {
            self.others.insert(lock);
        }
        self.holders.take(lock, thread, mode);
    }

    fn make_way(&mut self, lock: Lock, thread: u32, mode: HoldMode) {
        for (holder, _) in self.holders.in_the_way(lock, thread, mode) {
            self.others.insert(lock);
            self.give_up_for(lock, holder);
        }
    }

    fn unlock(&mut self, lock: Lock, thread: u32) {
        match self.holders.give_up(lock, thread) {
            Some((holder, _)) if holder == thread => {}
            Some((holder, _)) => {
                self.handed.insert(lock);
                self.give_up_for(lock, holder);
            }
            None => {
                self.others.insert(lock);
            }
        }
    }

    fn give_up_for(&mut self, lock: Lock, holder: u32) {
        if self.ended.contains(&holder) {
            self.abandoned.entry(holder).or_default().insert(lock);
        }
    }

    /// All is known.
    pub(crate) fn finish(self) -> HandedOver {
        let mut found = HandedOver::default();
        for lock in self.handed.into_iter().filter(|lock| !self.others.contains(lock)) {
            found.by_era.entry(lock.0).or_default().push(lock.1);
            found.semaphores.insert(lock);
        }
        for (thread, mut locks) in self.abandoned {
            locks.retain(|lock| !found.semaphores.contains(lock));
            found.abandoned.insert(thread, locks.into_iter().map(|(_, address)| address).collect());
        }
        found
    }
}

/// What is not as with other locks.
#[derive(Debug, Default)]
pub(crate) struct HandedOver {
    /// Locks that are semaphores, really.
    semaphores: FxHashSet<Lock>,
    by_era: FxHashMap<Era, Vec<u64>>,
    abandoned: FxHashMap<u32, Vec<u64>>,
}

impl HandedOver {
    /// Whether other threads than its holder release the lock.
    pub(crate) fn is_semaphore(&self, era: Era, lock: u64) -> bool {
        !self.semaphores.is_empty() && self.semaphores.contains(&(era, lock))
    }

    /// All such locks in the memory of an era.
    pub(crate) fn semaphores_of(&self, era: Era) -> &[u64] {
        self.by_era.get(&era).map_or(&[], Vec::as_slice)
    }

    /// The locks that the thread holds at its end, and that were released later.
    pub(crate) fn abandoned_by(&self, thread: u32) -> &[u64] {
        self.abandoned.get(&thread).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn followed(all: &[(u32, SyncOp, u64, u64)]) -> HandedOver {
        let (mut following, memory) = (Following::default(), Memory::default());
        for &(thread, op, object, other) in all {
            following.follow(&memory, thread, op, object, other);
        }
        following.finish()
    }

    #[test]
    fn a_lock_that_a_stranger_gives_up_is_a_semaphore() {
        let found = followed(&[
            (1, SyncOp::Lock, 8, 0),
            (1, SyncOp::Lock, 16, 0),
            (1, SyncOp::Unlock, 16, 0),
            (1, SyncOp::End, 0, 0),
            (0, SyncOp::Unlock, 8, 0),
            (2, SyncOp::Lock, 8, 0),
        ]);
        assert_eq!(found.semaphores_of(Era::STATIC), [8]);
        assert!(found.is_semaphore(Era::STATIC, 8) && !found.is_semaphore(Era::STATIC, 16));
        assert_eq!(found.abandoned_by(1), [0_u64; 0]);
    }

    #[test]
    fn what_no_semaphore_does_is_released_before_the_end() {
        let found = followed(&[
            (1, SyncOp::Lock, 8, 0),
            (1, SyncOp::LockShared, 16, 0),
            (1, SyncOp::Lock, 24, 0),
            (1, SyncOp::End, 0, 0),
            (0, SyncOp::Lock, 8, 0),
            (0, SyncOp::Unlock, 16, 0),
        ]);
        assert_eq!(found.semaphores_of(Era::STATIC), [0_u64; 0]);
        assert_eq!(found.abandoned_by(1), [8, 16]);
    }

    #[test]
    fn who_has_called_exit_has_not_ended() {
        let found = followed(&[
            (0, SyncOp::Lock, 8, 0),
            (0, SyncOp::End, EXIT, 0),
            (0, SyncOp::Unlock, 8, 0),
            (1, SyncOp::Lock, 8, 0),
        ]);
        assert!(found.abandoned_by(0).is_empty() && found.semaphores.is_empty());
    }
}
