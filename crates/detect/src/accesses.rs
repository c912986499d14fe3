//! Past accesses, by variable, lock set and thread.
//!
//! For techniques that report every pair that their order leaves open. Where one pair for each pair of locations is
//! wanted, only the latest access of each kind at each location is kept: if an earlier access of the same thread, at
//! the same place and under the same locks, is not ordered before an event, then neither is the later one.

use std::collections::BTreeMap;

use foretell_trace::{Access, AccessKind, EventId, Loc, LockId, ThreadId};
use rustc_hash::FxHashMap;

use crate::clock::{Clock, Time};
use crate::lock_set::{LockSetId, LockSets};
use crate::report::{Pairs, Reports};
use crate::table::at;

/// An access as it is checked and remembered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    /// The event.
    pub(crate) id: EventId,
    /// Its place in the program.
    pub(crate) loc: Loc,
    /// Who did it.
    pub(crate) thread: ThreadId,
    /// What it touched.
    pub(crate) access: Access,
    /// The thread's local time.
    pub(crate) time: Time,
    /// What the thread held; the empty set for techniques that do not ask.
    pub(crate) locks: LockSetId,
}

/// An access of the past. Its variable, lock set and thread are those of the trail that it is on.
#[derive(Clone, Copy, Debug)]
struct TrailAccess {
    id: EventId,
    loc: Loc,
    time: Time,
    kind: AccessKind,
    atomic: bool,
}

type Key = (Loc, AccessKind, bool);

impl TrailAccess {
    fn key(&self) -> Key {
        (self.loc, self.kind, self.atomic)
    }
}

/// Trails longer than this find a location through a map.
const SHORT_TRAIL: usize = 8;

/// The accesses of one thread to one variable under one lock set, in the order of the trace.
#[derive(Debug, Default)]
struct Trail {
    /// Accesses, and gaps where one was replaced by a later one of the same key.
    entries: Vec<Option<TrailAccess>>,
    gaps: usize,
    /// Where the entry of each key stands, once the trail is no longer short.
    index: FxHashMap<Key, usize>,
}

impl Trail {
    fn append(&mut self, past: TrailAccess) {
        self.entries.push(Some(past));
    }

    /// Appends the access; an earlier one of the same key goes.
    fn replace(&mut self, past: TrailAccess) {
        if let Some(last) = self.entries.last_mut()
            && last.is_some_and(|last| last.key() == past.key())
        {
            *last = Some(past);
            return;
        }
        if let Some(position) = self.position(past.key()) {
            self.entries[position] = None;
            self.gaps += 1;
        }
        if !self.index.is_empty() {
            self.index.insert(past.key(), self.entries.len());
        }
        self.entries.push(Some(past));
        if self.gaps > SHORT_TRAIL && self.gaps > self.entries.len() / 2 {
            self.close_gaps();
        } else if self.index.is_empty() && self.entries.len() - self.gaps > SHORT_TRAIL {
            self.build_index();
        }
    }

    fn position(&self, key: Key) -> Option<usize> {
        if self.index.is_empty() {
            self.entries.iter().rposition(|entry| entry.is_some_and(|past| past.key() == key))
        } else {
            self.index.get(&key).copied()
        }
    }

    fn close_gaps(&mut self) {
        self.entries.retain(Option::is_some);
        self.gaps = 0;
        if !self.index.is_empty() {
            self.build_index();
        }
    }

    fn build_index(&mut self) {
        let entries = self.entries.iter().enumerate();
        self.index.clear();
        self.index.extend(entries.filter_map(|(position, entry)| Some((entry.as_ref()?.key(), position))));
    }

    /// The accesses after `known`, latest first.
    fn after(&self, known: Time) -> impl Iterator<Item = &TrailAccess> {
        self.entries.iter().rev().flatten().take_while(move |past| past.time > known)
    }
}

/// The accesses to one variable under one lock set.
#[derive(Debug, Default)]
struct LockSetGroup {
    /// The time of each thread's last access: compared with a clock before any trail is walked.
    touched: Clock,
    /// The time of each thread's last write.
    written: Clock,
    /// By the index of the thread.
    trails: BTreeMap<usize, Trail>,
}

/// The accesses to one variable.
#[derive(Debug, Default)]
struct Var {
    /// The lock sets that it was accessed under. Only grows.
    locks: Vec<LockSetId>,
    /// The accesses under each of them.
    groups: Vec<LockSetGroup>,
    /// A lock that was held exclusively at every access. With it in hand nothing needs to be compared.
    guard: Option<LockId>,
}

/// All past accesses that may still matter.
#[derive(Debug, Default)]
pub(crate) struct Accesses {
    vars: Vec<Var>,
}

impl Accesses {
    /// Reports each conflicting access of another thread that `clock` does not know and that no common lock keeps
    /// apart.
    pub(crate) fn check(&self, now: &Now, clock: &Clock, sets: &LockSets, reports: &mut Reports) {
        let Some(var) = self.vars.get(now.access.var.index()) else { return };
        if var.guard.is_some_and(|guard| sets.contains(now.locks, guard)) {
            return;
        }
        for (&locks, group) in var.locks.iter().zip(&var.groups) {
            let last = if now.access.kind.writes() { &group.touched } else { &group.written };
            if !last.is_within(clock) && sets.are_disjoint(locks, now.locks) {
                group.report(now, clock, reports);
            }
        }
    }

    /// Remembers the access.
    pub(crate) fn record(&mut self, now: &Now, sets: &LockSets, wanted: Pairs) {
        let var = at(&mut self.vars, now.access.var.index());
        let position = match var.locks.iter().position(|&locks| locks == now.locks) {
            Some(position) => position,
            None => var.add_group(now.locks, sets),
        };
        var.groups[position].record(now, wanted);
    }
}

impl Var {
    #[cold]
    fn add_group(&mut self, locks: LockSetId, sets: &LockSets) -> usize {
        let first = self.locks.is_empty();
        self.locks.push(locks);
        self.groups.push(LockSetGroup::default());
        // Once there is no common lock there never will be one again.
        if first || self.guard.is_some_and(|guard| !sets.contains_exclusive(locks, guard)) {
            self.guard = sets.common(&self.locks);
        }
        self.groups.len() - 1
    }
}

impl LockSetGroup {
    #[cold]
    fn report(&self, now: &Now, clock: &Clock, reports: &mut Reports) {
        if reports.is_over_full() {
            return;
        }
        for (thread, last) in self.touched.iter() {
            let known = clock.get(thread);
            if thread == now.thread || last <= known {
                continue;
            }
            let trail = self.trails.get(&thread.index());
            for past in trail.into_iter().flat_map(|trail| trail.after(known)) {
                let access = Access { var: now.access.var, kind: past.kind, atomic: past.atomic };
                if access.conflicts_with(now.access) && reports.is_news(past.loc, now.loc) {
                    reports.push((past.id, past.loc), (now.id, now.loc));
                }
            }
        }
    }

    fn record(&mut self, now: &Now, wanted: Pairs) {
        let Access { kind, atomic, .. } = now.access;
        self.touched.set(now.thread, now.time);
        if kind.writes() {
            self.written.set(now.thread, now.time);
        }
        let past = TrailAccess { id: now.id, loc: now.loc, time: now.time, kind, atomic };
        let trail = self.trails.entry(now.thread.index()).or_default();
        match wanted {
            Pairs::All => trail.append(past),
            Pairs::ByLocation => trail.replace(past),
        }
    }
}
