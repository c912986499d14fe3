//! Past accesses, by variable, lock set and thread; and lock sets themselves.
//!
//! For techniques that report every pair that their order leaves open. Where one pair for each pair of locations is
//! wanted, only the latest access of each kind at each location is kept: if an earlier access of the same thread, at the
//! same place and under the same locks, is not ordered before an event, then neither is the later one.

use foretell_trace::{Access, AccessKind, Event, EventId, Loc, LockId, LockMode, ThreadId};
use rustc_hash::FxHashMap;

use crate::clock::{Clock, Time};
use crate::report::{Pairs, Reports};
use crate::table::at;

/// A set of locks, each with how it is held. Equal sets have equal ids.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct LockSetId(u32);

type Hold = (LockId, LockMode);

/// The lock sets that occurred, and which of them each thread holds now.
#[derive(Debug)]
pub(crate) struct LockSets {
    /// The content of each set, sorted. The first is the empty set. Only grows.
    sets: Vec<Box<[Hold]>>,
    ids: FxHashMap<Box<[Hold]>, LockSetId>,
    /// Where adding a lock to a set leads. Only grows.
    with: FxHashMap<(LockSetId, Hold), LockSetId>,
    /// Where taking a lock out of a set leads. Only grows.
    without: FxHashMap<(LockSetId, Hold), LockSetId>,
    /// What each thread holds.
    held: Vec<LockSetId>,
}

impl Default for LockSets {
    fn default() -> LockSets {
        LockSets {
            sets: vec![Box::default()],
            ids: FxHashMap::from_iter([(Box::default(), LockSetId::default())]),
            with: FxHashMap::default(),
            without: FxHashMap::default(),
            held: Vec::new(),
        }
    }
}

impl LockSets {
    /// What the thread holds now.
    pub(crate) fn held(&self, thread: ThreadId) -> LockSetId {
        self.held.get(thread.index()).copied().unwrap_or_default()
    }

    /// The locks that the thread holds now.
    pub(crate) fn held_locks(&self, thread: ThreadId) -> &[Hold] {
        &self.sets[self.held(thread).0 as usize]
    }

    /// Takes note of sections that begin or end with this event.
    pub(crate) fn event(&mut self, event: &Event) {
        if let Some(hold) = event.op.section_begin() {
            self.change(event.thread, hold, true);
        } else if let Some(hold) = event.op.section_end() {
            self.change(event.thread, hold, false);
        }
    }

    /// Whether no lock keeps an access under one set from happening next to an access under the other.
    pub(crate) fn are_disjoint(&self, a: LockSetId, b: LockSetId) -> bool {
        let (a, b) = (&self.sets[a.0 as usize], &self.sets[b.0 as usize]);
        !a.iter().any(|(lock, mode)| b.iter().any(|(other, how)| lock == other && mode.excludes(*how)))
    }

    fn contains(&self, set: LockSetId, lock: LockId) -> bool {
        self.sets[set.0 as usize].iter().any(|hold| hold.0 == lock)
    }

    fn contains_exclusive(&self, set: LockSetId, lock: LockId) -> bool {
        self.sets[set.0 as usize].contains(&(lock, LockMode::Exclusive))
    }

    /// A lock that is held exclusively in all of the sets.
    fn common(&self, sets: &[LockSetId]) -> Option<LockId> {
        let (first, rest) = sets.split_first()?;
        let exclusive = self.sets[first.0 as usize].iter().filter(|hold| hold.1 == LockMode::Exclusive);
        exclusive.map(|hold| hold.0).find(|&lock| rest.iter().all(|&set| self.contains_exclusive(set, lock)))
    }

    fn change(&mut self, thread: ThreadId, hold: Hold, add: bool) {
        let before = *at(&mut self.held, thread.index());
        let steps = if add { &self.with } else { &self.without };
        let after = match steps.get(&(before, hold)) {
            Some(&after) => after,
            None => self.step(before, hold, add),
        };
        self.held[thread.index()] = after;
    }

    #[cold]
    fn step(&mut self, before: LockSetId, hold: Hold, add: bool) -> LockSetId {
        let mut content = self.sets[before.0 as usize].to_vec();
        match (content.binary_search(&hold), add) {
            (Err(position), true) => content.insert(position, hold),
            (Ok(position), false) => drop(content.remove(position)),
            (Ok(_), true) | (Err(_), false) => {}
        }
        let after = self.intern(content.into_boxed_slice());
        let steps = if add { &mut self.with } else { &mut self.without };
        steps.insert((before, hold), after);
        after
    }

    fn intern(&mut self, content: Box<[Hold]>) -> LockSetId {
        if let Some(&id) = self.ids.get(&content) {
            return id;
        }
        // Each new set needs an acquire of its own, and a trace has fewer events than a `u32` can count.
        let id = LockSetId(u32::try_from(self.sets.len()).unwrap_or(u32::MAX));
        self.sets.push(content.clone());
        self.ids.insert(content, id);
        id
    }
}

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
struct Past {
    id: EventId,
    loc: Loc,
    time: Time,
    kind: AccessKind,
    atomic: bool,
}

type Key = (Loc, AccessKind, bool);

impl Past {
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
    entries: Vec<Option<Past>>,
    gaps: usize,
    /// Where the entry of each key stands, once the trail is no longer short.
    index: FxHashMap<Key, usize>,
}

impl Trail {
    fn append(&mut self, past: Past) {
        self.entries.push(Some(past));
    }

    /// Appends the access; an earlier one of the same key goes.
    fn replace(&mut self, past: Past) {
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
    fn after(&self, known: Time) -> impl Iterator<Item = &Past> {
        self.entries.iter().rev().flatten().take_while(move |past| past.time > known)
    }
}

/// The accesses to one variable under one lock set.
#[derive(Debug, Default)]
struct Group {
    /// The time of each thread's last access: compared with a clock before any trail is walked.
    touched: Clock,
    /// The time of each thread's last write.
    written: Clock,
    /// By thread.
    trails: Vec<Trail>,
}

/// The accesses to one variable.
#[derive(Debug, Default)]
struct Var {
    /// The lock sets that it was accessed under. Only grows.
    locks: Vec<LockSetId>,
    /// The accesses under each of them.
    groups: Vec<Group>,
    /// A lock that was held exclusively at every access. With it in hand nothing needs to be compared.
    guard: Option<LockId>,
}

/// All past accesses that may still matter.
#[derive(Debug, Default)]
pub(crate) struct Accesses {
    vars: Vec<Var>,
}

impl Accesses {
    /// Reports each conflicting access of another thread that `clock` does not know and that no common lock keeps apart.
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
        self.groups.push(Group::default());
        // Once there is no common lock there never will be one again.
        if first || self.guard.is_some_and(|guard| !sets.contains_exclusive(locks, guard)) {
            self.guard = sets.common(&self.locks);
        }
        self.groups.len() - 1
    }
}

impl Group {
    #[cold]
    fn report(&self, now: &Now, clock: &Clock, reports: &mut Reports) {
        for (thread, last) in self.touched.iter() {
            let known = clock.get(thread);
            if thread == now.thread || last <= known {
                continue;
            }
            for past in self.trails[thread.index()].after(known) {
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
        let past = Past { id: now.id, loc: now.loc, time: now.time, kind, atomic };
        let trail = at(&mut self.trails, now.thread.index());
        match wanted {
            Pairs::All => trail.append(past),
            Pairs::ByLocation => trail.replace(past),
        }
    }
}
