//! Which locks are held at the accesses of a variable, in a form that is quick to compare.
//!
//! Only used to leave out pairs that cannot race, so it may know of fewer locks than are held: nothing is lost by that
//! but time.

use foretell_trace::{LockId, LockMode};

use super::section::Index;

/// How many different locks of a variable are distinguished; others are as if not held.
const LOCKS: usize = u16::BITS as usize;

/// How many different sets of locks of a variable are distinguished in full. Beyond this only one lock of a set counts,
/// so that a variable that is accessed under ever new locks does not fall apart into as many classes.
const GUARDS: usize = 32;

/// A section that a thread is in.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenSection {
    pub(super) lock: LockId,
    pub(super) mode: LockMode,
    pub(super) section: Index,
}

/// A set of held locks, as bits over the locks that are known of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Guard {
    /// OpenSection in any mode.
    held: u16,
    /// OpenSection exclusively.
    alone: u16,
}

impl Guard {
    /// Whether two threads cannot hold these locks at the same time.
    pub(super) fn excludes(self, other: Guard) -> bool {
        (self.held & other.alone) | (self.alone & other.held) != 0
    }

    /// Of the locks only the one that was seen first.
    fn first_lock(self) -> Guard {
        let first = self.held & self.held.wrapping_neg();
        Guard { held: first, alone: self.alone & first }
    }
}

/// The locks that were held at the accesses of one variable.
#[derive(Debug, Default)]
pub(super) struct Guards {
    /// The first locks that were seen, at most [`LOCKS`].
    locks: Vec<LockId>,
    /// The first sets of locks that were seen, at most [`GUARDS`].
    full: Vec<Guard>,
}

impl Guards {
    /// The set of the locks held in these sections.
    pub(super) fn of(&mut self, held: &[OpenSection]) -> Guard {
        let mut guard = Guard::default();
        for held in held {
            let bit = self.bit(held.lock);
            guard.held |= bit;
            if held.mode == LockMode::Exclusive {
                guard.alone |= bit;
            }
        }
        if self.full.contains(&guard) {
            guard
        } else if self.full.len() < GUARDS {
            self.full.push(guard);
            guard
        } else {
            guard.first_lock()
        }
    }

    /// The bit of a lock; none if it came too late to have one.
    fn bit(&mut self, lock: LockId) -> u16 {
        match self.locks.iter().position(|&known| known == lock) {
            Some(position) => 1 << position,
            None if self.locks.len() < LOCKS => {
                self.locks.push(lock);
                1 << (self.locks.len() - 1)
            }
            None => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(lock: usize, mode: LockMode) -> OpenSection {
        OpenSection { lock: LockId::from_index(lock).unwrap(), mode, section: 0 }
    }

    #[test]
    fn only_readers_share_a_lock() {
        use LockMode::{Exclusive, Shared};
        let mut guards = Guards::default();
        let reader = guards.of(&[held(1, Shared), held(2, Shared)]);
        let writer = guards.of(&[held(1, Exclusive)]);
        let other = guards.of(&[held(3, Exclusive)]);
        assert!(!reader.excludes(reader));
        assert!(reader.excludes(writer) && writer.excludes(reader) && writer.excludes(writer));
        assert!(!writer.excludes(other));
    }

    #[test]
    fn ever_new_locks_make_a_bounded_number_of_sets_that_still_know_the_first_lock() {
        let mut guards = Guards::default();
        let common = held(0, LockMode::Exclusive);
        let sets: std::collections::HashSet<Guard> =
            (1..1000).map(|lock| guards.of(&[common, held(lock, LockMode::Exclusive)])).collect();
        assert!(sets.len() <= GUARDS + LOCKS);
        assert!(sets.iter().all(|set| sets.iter().all(|other| set.excludes(*other))));
    }
}
