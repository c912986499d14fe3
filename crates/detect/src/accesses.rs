//! Past accesses, by variable, lock set and thread.
//!
//! For techniques that report every pair that their order leaves open. Where one pair for each pair of locations is
//! wanted, only the latest access of each kind at each location is kept: if an earlier access of the same thread, at
//! the same place and under the same locks, is not ordered before an event, then neither is the later one.

use foretell_trace::{Access, AccessKind, EventId, Loc, LockId, ThreadId, VarId};
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
    fn of(now: &Now) -> TrailAccess {
        let Access { kind, atomic, .. } = now.access;
        TrailAccess { id: now.id, loc: now.loc, time: now.time, kind, atomic }
    }

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
    index: Option<Box<FxHashMap<Key, usize>>>,
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
        if let Some(index) = &mut self.index {
            index.insert(past.key(), self.entries.len());
        }
        self.entries.push(Some(past));
        if self.gaps > SHORT_TRAIL && self.gaps > self.entries.len() / 2 {
            self.close_gaps();
        } else if self.index.is_none() && self.entries.len() - self.gaps > SHORT_TRAIL {
            self.build_index();
        }
    }

    fn position(&self, key: Key) -> Option<usize> {
        match &self.index {
            None => self.entries.iter().rposition(|entry| entry.is_some_and(|past| past.key() == key)),
            Some(index) => index.get(&key).copied(),
        }
    }

    fn close_gaps(&mut self) {
        self.entries.retain(Option::is_some);
        self.gaps = 0;
        if self.index.is_some() {
            self.build_index();
        }
    }

    fn build_index(&mut self) {
        let entries = self.entries.iter().enumerate();
        let index = self.index.get_or_insert_default();
        index.clear();
        index.extend(entries.filter_map(|(position, entry)| Some((entry.as_ref()?.key(), position))));
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
    /// Sorted by thread.
    trails: Vec<(ThreadId, Trail)>,
}

/// The accesses to one variable. Most variables of a large program need no more room than one access.
#[derive(Debug, Default)]
enum Var {
    #[default]
    Untouched,
    Once(OnlyAccess),
    Often(Box<Groups>),
}

/// The only access to a variable, or the last of several that are alike.
#[derive(Clone, Copy, Debug)]
struct OnlyAccess {
    locks: LockSetId,
    thread: ThreadId,
    past: TrailAccess,
}

/// The accesses to one variable, if there are several.
#[derive(Debug, Default)]
struct Groups {
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
        let var = match self.vars.get(now.access.var.index()) {
            None | Some(Var::Untouched) => return,
            Some(Var::Once(only)) => return only.check(now, clock, sets, reports),
            Some(Var::Often(groups)) => groups,
        };
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
        match var {
            Var::Untouched => *var = Var::Once(OnlyAccess::of(now)),
            Var::Once(only) if wanted == Pairs::ByLocation && only.is_like(now) => {
                only.past = TrailAccess::of(now);
            }
            Var::Once(only) => {
                let mut groups = Box::<Groups>::default();
                groups.record(&only.now(now.access.var), sets, wanted);
                groups.record(now, sets, wanted);
                *var = Var::Often(groups);
            }
            Var::Often(groups) => groups.record(now, sets, wanted),
        }
    }
}

impl OnlyAccess {
    fn of(now: &Now) -> OnlyAccess {
        OnlyAccess { locks: now.locks, thread: now.thread, past: TrailAccess::of(now) }
    }

    /// As it was when it happened.
    fn now(&self, var: VarId) -> Now {
        let TrailAccess { id, loc, time, kind, atomic } = self.past;
        Now { id, loc, thread: self.thread, access: Access { var, kind, atomic }, time, locks: self.locks }
    }

    fn is_like(&self, now: &Now) -> bool {
        (self.locks, self.thread, self.past.key()) == (now.locks, now.thread, TrailAccess::of(now).key())
    }

    fn check(&self, now: &Now, clock: &Clock, sets: &LockSets, reports: &mut Reports) {
        let past = self.now(now.access.var);
        if self.thread != now.thread
            && past.time > clock.get(self.thread)
            && past.access.conflicts_with(now.access)
            && sets.are_disjoint(self.locks, now.locks)
            && !reports.is_over_full()
            && reports.is_news(past.loc, now.loc)
        {
            reports.push((past.id, past.loc), (now.id, now.loc));
        }
    }
}

impl Groups {
    fn record(&mut self, now: &Now, sets: &LockSets, wanted: Pairs) {
        let position = match self.locks.iter().position(|&locks| locks == now.locks) {
            Some(position) => position,
            None => self.add_group(now.locks, sets),
        };
        self.groups[position].record(now, wanted);
    }

    #[cold]
    fn add_group(&mut self, locks: LockSetId, sets: &LockSets) -> usize {
        let first = self.locks.is_empty();
        // Most variables have one.
        if first {
            self.locks.reserve_exact(1);
            self.groups.reserve_exact(1);
        }
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
            let trail = self.place(thread).ok().map(|place| &self.trails[place].1);
            for past in trail.into_iter().flat_map(|trail| trail.after(known)) {
                let access = Access { var: now.access.var, kind: past.kind, atomic: past.atomic };
                if access.conflicts_with(now.access) && reports.is_news(past.loc, now.loc) {
                    reports.push((past.id, past.loc), (now.id, now.loc));
                }
            }
        }
    }

    fn record(&mut self, now: &Now, wanted: Pairs) {
        self.touched.set(now.thread, now.time);
        if now.access.kind.writes() {
            self.written.set(now.thread, now.time);
        }
        let place = self.place(now.thread).unwrap_or_else(|place| {
            self.trails.insert(place, (now.thread, Trail::default()));
            place
        });
        let (trail, past) = (&mut self.trails[place].1, TrailAccess::of(now));
        match wanted {
            Pairs::All => trail.append(past),
            Pairs::ByLocation => trail.replace(past),
        }
    }

    /// Where the trail of the thread is, or would be.
    fn place(&self, thread: ThreadId) -> Result<usize, usize> {
        self.trails.binary_search_by_key(&thread, |trail| trail.0)
    }
}
