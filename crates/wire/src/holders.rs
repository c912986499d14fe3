//! Who holds which lock according to the records, and what to tell when that does not fit together.
//!
//! Locks of libraries are known by the functions that take and give them up; code that does so in another way (a
//! guard that is forgotten and its lock given up by force, or by another thread) is not. Then a thread must have
//! given the lock up unseen.

use std::collections::BTreeMap;
use std::ops::Range;

/// How a thread holds a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HoldMode {
    /// No other thread can have it.
    Alone,
    /// Together with other readers.
    Shared,
}

/// The holders of all locks, which are distinguished by `Lock`.
#[derive(Debug)]
pub struct Holders<Lock> {
    /// Each hold of each lock, by a thread and how it holds it.
    held: BTreeMap<Lock, Vec<(u32, HoldMode)>>,
    /// How often each waiting thread held the lock that it gave up.
    given_up: BTreeMap<u32, usize>,
}

impl<Lock> Default for Holders<Lock> {
    fn default() -> Holders<Lock> {
        Holders { held: BTreeMap::new(), given_up: BTreeMap::new() }
    }
}

impl<Lock: Ord> Holders<Lock> {
    /// Those who stand in the way of a thread that is seen to take the lock: they must have given it up unseen.
    pub fn in_the_way(&mut self, lock: Lock, thread: u32, mode: HoldMode) -> Vec<(u32, HoldMode)> {
        let held = self.held.entry(lock).or_default();
        let clashes = |&(holder, how): &(u32, HoldMode)| clashes(thread, mode, holder, how);
        if !held.iter().any(clashes) {
            // Nearly always, and often: without allocating anything.
            return Vec::new();
        }
        let (gone, stay) = held.iter().copied().partition(clashes);
        *held = stay;
        gone
    }

    /// Each hold of the lock.
    pub fn holds(&self, lock: Lock) -> &[(u32, HoldMode)] {
        self.held.get(&lock).map_or(&[], Vec::as_slice)
    }

    /// The thread takes the lock.
    pub fn take(&mut self, lock: Lock, thread: u32, mode: HoldMode) {
        self.held.entry(lock).or_default().push((thread, mode));
    }

    /// The thread takes the lock from the thread that stands in the way, see [`Holders::in_the_way`]. Says whether a
    /// thread did.
    pub fn take_over(&mut self, lock: Lock, thread: u32, mode: HoldMode) -> bool {
        let held = self.held.entry(lock).or_default();
        let before = held.len();
        if before > 0 {
            held.retain(|&(holder, how)| !clashes(thread, mode, holder, how));
        }
        let somebody_did = held.len() < before;
        held.push((thread, mode));
        somebody_did
    }

    /// The thread gives the lock up: whose hold ends, and how it was held. That is another thread's if it has none
    /// itself.
    pub fn give_up(&mut self, lock: Lock, thread: u32) -> Option<(u32, HoldMode)> {
        let held = self.held.get_mut(&lock)?;
        let own = held.iter().rposition(|&(holder, _)| holder == thread);
        let position = own.or_else(|| held.len().checked_sub(1))?;
        Some(held.remove(position))
    }

    /// Whether an attempt to take the lock could fail.
    pub fn is_held(&self, lock: Lock, mode: HoldMode) -> bool {
        let keeps_out = |&(_, how): &(u32, HoldMode)| mode == HoldMode::Alone || how == HoldMode::Alone;
        self.held.get(&lock).is_some_and(|held| held.iter().any(keeps_out))
    }

    /// All who hold the lock; a thread that holds it more than once is among them as often.
    pub fn of(&self, lock: Lock) -> Vec<u32> {
        self.held.get(&lock).map(|held| held.iter().map(|&(holder, _)| holder).collect()).unwrap_or_default()
    }

    /// The thread waits, and gives the lock up however often it holds it. Says whether it holds it.
    pub fn wait(&mut self, lock: Lock, thread: u32) -> bool {
        let held = self.held.entry(lock).or_default();
        let before = held.len();
        held.retain(|&(holder, mode)| holder != thread || mode != HoldMode::Alone);
        let count = before - held.len();
        self.given_up.insert(thread, count);
        count > 0
    }

    /// The locks that are named by these are no more.
    pub fn forget(&mut self, locks: Range<Lock>)
    where
        Lock: Copy,
    {
        let gone: Vec<Lock> = self.held.range(locks).map(|(&lock, _)| lock).collect();
        for lock in gone {
            self.held.remove(&lock);
        }
    }

    /// Whether the thread waits.
    pub fn is_waiting(&self, thread: u32) -> bool {
        self.given_up.get(&thread).is_some_and(|&count| count > 0)
    }

    /// The thread has waited, and holds the lock as often as before. Says whether it did.
    pub fn has_waited(&mut self, lock: Lock, thread: u32) -> bool {
        let count = self.given_up.remove(&thread).unwrap_or(0);
        self.held.entry(lock).or_default().extend(std::iter::repeat_n((thread, HoldMode::Alone), count));
        count > 0
    }
}

/// Whether a thread that takes a lock in this way and a thread that holds it in that cannot both have it.
fn clashes(thread: u32, mode: HoldMode, holder: u32, how: HoldMode) -> bool {
    holder != thread && (mode == HoldMode::Alone || how == HoldMode::Alone)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock() -> u64 {
        8
    }

    #[test]
    fn a_lock_that_is_taken_twice_was_given_up_between() {
        let mut holders = Holders::default();
        holders.take(lock(), 1, HoldMode::Alone);
        assert_eq!(holders.in_the_way(lock(), 1, HoldMode::Alone), [], "it may be taken again");
        assert_eq!(holders.in_the_way(lock(), 2, HoldMode::Shared), [(1, HoldMode::Alone)]);
        assert!(!holders.is_held(lock(), HoldMode::Alone));
    }

    #[test]
    fn readers_do_not_stand_in_the_way_of_readers() {
        let mut holders = Holders::default();
        holders.take(lock(), 1, HoldMode::Shared);
        assert_eq!(holders.in_the_way(lock(), 2, HoldMode::Shared), []);
        holders.take(lock(), 2, HoldMode::Shared);
        assert!(holders.is_held(lock(), HoldMode::Alone) && !holders.is_held(lock(), HoldMode::Shared));
        assert_eq!(
            holders.in_the_way(lock(), 3, HoldMode::Alone),
            [(1, HoldMode::Shared), (2, HoldMode::Shared)]
        );
    }

    #[test]
    fn who_takes_a_lock_over_has_it_instead() {
        let mut holders = Holders::default();
        assert!(!holders.take_over(lock(), 1, HoldMode::Shared));
        assert!(!holders.take_over(lock(), 2, HoldMode::Shared));
        assert!(!holders.take_over(lock(), 2, HoldMode::Shared));
        assert!(holders.take_over(lock(), 2, HoldMode::Alone), "there was another reader");
        assert!(!holders.take_over(lock(), 2, HoldMode::Alone), "it may be taken again");
        assert_eq!(holders.of(lock()), [2; 4]);
    }

    #[test]
    fn a_lock_can_be_given_up_for_another() {
        let mut holders = Holders::default();
        holders.take(lock(), 1, HoldMode::Alone);
        assert_eq!(holders.give_up(lock(), 2), Some((1, HoldMode::Alone)));
        assert_eq!(holders.give_up(lock(), 1), None);
    }

    #[test]
    fn who_waits_gets_back_what_it_had() {
        let mut holders = Holders::default();
        holders.take(lock(), 1, HoldMode::Alone);
        holders.take(lock(), 1, HoldMode::Alone);
        assert!(holders.wait(lock(), 1) && !holders.is_held(lock(), HoldMode::Alone));
        assert!(holders.has_waited(lock(), 1));
        assert_eq!(holders.give_up(lock(), 1), Some((1, HoldMode::Alone)));
        assert!(holders.is_held(lock(), HoldMode::Alone), "it was held twice");
    }
}
