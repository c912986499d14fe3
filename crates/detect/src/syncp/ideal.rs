//! Sets of events that are closed under what a sync-preserving schedule needs, and how they grow.

use foretell_trace::{LockMode, ThreadId};
use rustc_hash::FxHashMap;

use super::section::{CriticalSection, Index, Sections, Versions};
use crate::clock::{Clock, Time};
use crate::table::at;

/// What has been made of the sections inside a set of events that only grows.
///
/// The set itself is a [`Clock`]: of each thread the events up to a local time. Closing it means: wherever it contains
/// two acquires of one lock that exclude each other, it contains the release of the earlier one.
///
/// What makes this cheap: in a closed set all sections of a lock but the last one have ended. So an acquire that enters
/// has to be compared with the last one only (and with each reader's last one, where readers share the lock).
#[derive(Clone, Debug, Default)]
pub(super) struct IdealClosure {
    /// Up to which local time the sections of each thread have been looked at. Only ever grows.
    reached: Clock,
    /// How many sections of each thread have been looked at.
    entered: Clock,
    /// For each lock, the position of its last exclusive section in the set, plus one; 0 if there is none.
    last: Vec<Index>,
    /// For each lock that was shared, each thread's last shared section in the set.
    readers: FxHashMap<usize, Vec<Index>>,
}

impl IdealClosure {
    /// Closes `set`, which contains the set of the last call. Tells how many sections entered, and whether the set grew
    /// in any thread but `own`.
    pub(super) fn close(
        &mut self,
        set: &mut Clock,
        own: Option<ThreadId>,
        sections: &Sections,
        versions: &Versions,
    ) -> Growth {
        let own = own.map_or(usize::MAX, ThreadId::index);
        let mut growth = Growth::default();
        loop {
            let mut closed = true;
            let mut reach = |closure: &mut IdealClosure, thread: usize, set: &mut Clock| {
                let until = set.at(thread);
                if until > closure.reached.at(thread) {
                    closure.reached.set_at(thread, until);
                    growth.others |= thread != own;
                    closed &= !closure.enter_sections(thread, until, set, sections, versions, &mut growth);
                }
            };
            (0..set.near_len()).for_each(|thread| reach(self, thread, set));
            for thread in set.far_beyond(&self.reached) {
                reach(self, thread, set);
            }
            if closed {
                // Both are the same now, and sets of many threads share what is the same.
                self.reached.share_far(set);
                return growth;
            }
        }
    }

    /// Becomes a copy of `other`, keeping its memory.
    pub(super) fn copy_from(&mut self, other: &IdealClosure) {
        self.reached.copy_from(&other.reached);
        self.entered.copy_from(&other.entered);
        self.last.clone_from(&other.last);
        self.readers.clone_from(&other.readers);
    }

    /// How much memory a copy takes, in words.
    pub(super) fn size(&self) -> usize {
        self.reached.len() + self.entered.len() + self.last.len()
    }

    /// Whether there was any section to enter: only then can `set` have grown.
    fn enter_sections(
        &mut self,
        thread: usize,
        until: Time,
        set: &mut Clock,
        sections: &Sections,
        versions: &Versions,
        growth: &mut Growth,
    ) -> bool {
        let before = growth.sections;
        while let Some(index) = sections.nth_until(thread, self.entered.at(thread), until) {
            self.entered.set_at(thread, self.entered.at(thread) + 1);
            growth.sections += 1;
            let mut must_end = |section: &CriticalSection| {
                // A section that excludes a later one ended before it began, so its end is known.
                if let Some(end) = section.end {
                    end.raise(set, versions);
                }
            };
            self.enter(index, sections, &mut must_end);
        }
        growth.sections != before
    }

    /// Compares a section that enters with the others of its lock, and tells which of them must have ended.
    ///
    /// Sections of one thread are never compared: either they are ordered by the thread, or one lies within the other
    /// (an upgraded or downgraded lock). Nor does the last section hide an earlier one that would have to be compared:
    /// if it is of the same thread as the one that enters, then whatever lies between the two is ordered by the thread.
    fn enter(&mut self, index: Index, sections: &Sections, must_end: &mut impl FnMut(&CriticalSection)) {
        let section = sections.get(index);
        let lock = section.lock.index();
        let mut compare = |other: Index| {
            let (earlier, later) = (sections.get(index.min(other)), sections.get(index.max(other)));
            if earlier.thread != later.thread {
                must_end(earlier);
            }
        };
        if let Some(last) = self.last.get(lock).and_then(|last| last.checked_sub(1)) {
            compare(last);
        }
        match section.mode {
            LockMode::Exclusive => {
                if let Some(readers) = self.readers.get(&lock) {
                    readers.iter().copied().for_each(compare);
                }
                let last = at(&mut self.last, lock);
                *last = (*last).max(index + 1);
            }
            LockMode::Shared => {
                let readers = self.readers.entry(lock).or_default();
                match readers.iter_mut().find(|reader| sections.get(**reader).thread == section.thread) {
                    Some(reader) => *reader = index,
                    None => readers.push(index),
                }
            }
        }
    }
}

/// What closing a set did.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Growth {
    /// How many sections entered.
    pub(super) sections: usize,
    /// Whether the set grew in a thread other than the one that it belongs to.
    pub(super) others: bool,
}

/// A closed set of events, with all that is needed to let it grow.
#[derive(Clone, Debug, Default)]
pub(super) struct Ideal {
    /// The events in it, by thread.
    pub(super) set: Clock,
    closure: IdealClosure,
    /// The local time of the earlier access that it was last grown for. It is part of the ideal of every later access
    /// of that thread, but not of an earlier one.
    pub(super) grown_for: Time,
}

impl Ideal {
    /// Becomes the closed set `set`, keeping its memory.
    pub(super) fn reset(&mut self, set: &Clock, closure: &IdealClosure) {
        self.set.copy_from(set);
        self.closure.copy_from(closure);
        self.grown_for = 0;
    }

    /// Closes it after `set` was raised. Tells how many sections entered.
    pub(super) fn close(&mut self, sections: &Sections, versions: &Versions) -> usize {
        self.closure.close(&mut self.set, None, sections, versions).sections
    }

    /// How much memory a copy takes, in words.
    pub(super) fn size(&self) -> usize {
        self.set.len() + self.closure.size()
    }
}
