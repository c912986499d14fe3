//! The accesses so far, and the search for those that race with a new one.
//!
//! Accesses of a variable are kept in classes: same thread, same kind, same locks held. Two classes whose locks exclude
//! each other never race (the ideal of such a pair contains the end of the earlier section, and so the earlier access),
//! so in a program that uses its locks well hardly any pair is ever looked at.
//!
//! For each pair of classes that may race there is a [`Front`]: which accesses of the earlier class are still open,
//! that is, not known to lie inside the ideal of the later class's thread. What lies inside stays inside as that thread
//! goes on, so each access leaves a front once. An access that does not leave is a race, so all work is paid for either
//! by an access that leaves or by a race that is reported.

use std::num::NonZero;

use foretell_trace::{Access, EventId, Loc, ThreadId, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::guard::{Guard, Guards, OpenSection};
use super::ideal::{Ideal, IdealClosure};
use super::section::{Index, Moment, Sections, Versions, next_index};
use crate::clock::{Clock, Time};
use crate::report::{Pairs, Reports};
use crate::table::at;

/// From how many open groups on a front remembers which locations have seen them.
const MANY_OPEN: usize = 8;

/// How many words of memory a kept ideal may cost for each section that it saves from being entered again.
const WORDS_PER_SECTION: usize = 4;

/// A new access, and what its thread knows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now<'a> {
    pub(super) id: EventId,
    pub(super) loc: Loc,
    pub(super) access: Access,
    pub(super) moment: Moment,
    /// What must come before it: closed.
    pub(super) clock: &'a Clock,
    /// The closure that goes with `clock`.
    pub(super) closure: &'a IdealClosure,
}

/// Everything that ideals grow from.
#[derive(Clone, Copy, Debug)]
pub(super) struct IdealInput<'a> {
    pub(super) sections: &'a Sections,
    pub(super) versions: &'a Versions,
}

/// The accesses so far.
#[derive(Debug, Default)]
pub(super) struct History {
    /// The classes of all variables. Only ever grows.
    classes: Vec<Class>,
    /// Where each class is.
    by_key: FxHashMap<ClassKey, Index>,
    vars: Vec<Var>,
    /// Memory for ideals that are not kept.
    scratch: Ideal,
}

#[derive(Debug, Default)]
struct Var {
    /// The locks held at its accesses.
    guards: Guards,
    /// The classes of its accesses.
    classes: Vec<Index>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct ClassKey {
    thread: ThreadId,
    access: Access,
    guard: Guard,
}

impl ClassKey {
    fn may_race(self, other: ClassKey) -> bool {
        self.thread != other.thread
            && self.access.conflicts_with(other.access)
            && !self.guard.excludes(other.guard)
    }
}

/// Accesses of one variable by one thread, of one kind, with the same locks held.
#[derive(Debug)]
struct Class {
    key: ClassKey,
    /// In the order of the thread. Only ever grows.
    entries: Vec<Entry>,
    /// The last entry of each location, but for the location of the last entry of all, so that a class with only one
    /// location needs no table. Stays empty if all pairs are wanted.
    last_at: FxHashMap<Loc, Index>,
    /// The other classes of the variable that may race with it as the earlier ones.
    fronts: Vec<Front>,
    /// How many classes of the variable have been considered for `fronts`.
    considered: usize,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    id: EventId,
    loc: Loc,
    time: Time,
    /// What its thread knew just before it.
    version: Index,
    /// The next entry of the same location, once there is one. Always `None` if all pairs are wanted.
    next: Option<NonZero<Index>>,
}

/// The accesses of an earlier class that may still race with new ones of a later class.
///
/// Accesses of one location form a group, and one race of a group is enough for the location that it races with. If all
/// pairs are wanted each access is a group of its own.
#[derive(Debug)]
struct Front {
    /// The earlier class.
    class: Index,
    /// How many entries of the class have been looked at.
    absorbed: usize,
    /// Groups that are still open, in the order in which they were opened.
    open: Vec<Open>,
    /// The locations of the open groups. Stays empty if all pairs are wanted.
    open_locs: FxHashSet<Loc>,
    /// How many groups have been opened so far.
    opened: u32,
    /// For a location of the later class, the value of `opened` when it was last seen: with all groups that had been
    /// opened by then it either races and that is reported, or they were closed. Only kept where much is open.
    seen_by: FxHashMap<Loc, u32>,
    /// The ideal of the latest pair so far, if it was costly to compute.
    kept: Option<Box<Ideal>>,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    /// The first entry of the group that may still race.
    entry: Index,
    /// The value of [`Front::opened`] when it was opened.
    number: u32,
}

impl History {
    /// Reports the races of a new access with those so far, and keeps it.
    pub(super) fn add(
        &mut self,
        now: &Now<'_>,
        held: &[OpenSection],
        past: IdealInput<'_>,
        reports: &mut Reports,
    ) {
        if reports.is_over_full() {
            // Nothing that is found from now on is kept, so nothing needs to be remembered either.
            return;
        }
        let class = self.class(now, held);
        self.find_new_fronts(class, now.access.var);
        let mut fronts = std::mem::take(&mut self.classes[class as usize].fronts);
        for front in &mut fronts {
            let earlier = &self.classes[front.class as usize];
            if front.absorb(earlier, now.clock.get(earlier.key.thread), reports.wanted()) {
                front.meet(earlier, now, past, &mut self.scratch, reports);
            }
        }
        let class = &mut self.classes[class as usize];
        class.fronts = fronts;
        class.add(now, reports.wanted());
    }

    fn class(&mut self, now: &Now<'_>, held: &[OpenSection]) -> Index {
        let var = at(&mut self.vars, now.access.var.index());
        let guard = var.guards.of(held);
        let key = ClassKey { thread: now.moment.thread, access: now.access, guard };
        *self.by_key.entry(key).or_insert_with(|| {
            let index = next_index(self.classes.len());
            self.classes.push(Class::new(key));
            var.classes.push(index);
            index
        })
    }

    fn find_new_fronts(&mut self, class: Index, var: VarId) {
        let all = &self.vars[var.index()].classes;
        let Class { key, considered, .. } = self.classes[class as usize];
        for &other in &all[considered..] {
            if key.may_race(self.classes[other as usize].key) {
                self.classes[class as usize].fronts.push(Front::new(other));
            }
        }
        self.classes[class as usize].considered = all.len();
    }
}

impl Class {
    fn new(key: ClassKey) -> Class {
        Class { key, entries: Vec::new(), last_at: FxHashMap::default(), fronts: Vec::new(), considered: 0 }
    }

    fn add(&mut self, now: &Now<'_>, wanted: Pairs) {
        let index = next_index(self.entries.len());
        if wanted == Pairs::ByLocation
            && let Some(before) = self.last_of_group(now.loc)
        {
            self.entries[before as usize].next = NonZero::new(index);
        }
        self.entries.push(Entry {
            id: now.id,
            loc: now.loc,
            time: now.moment.time,
            version: now.moment.version,
            next: None,
        });
    }

    /// The last entry at `loc`, which is about to get another one.
    fn last_of_group(&mut self, loc: Loc) -> Option<Index> {
        let last = next_index(self.entries.len()).checked_sub(1)?;
        let last_loc = self.entries[last as usize].loc;
        if last_loc == loc {
            return Some(last);
        }
        self.last_at.insert(last_loc, last);
        self.last_at.get(&loc).copied()
    }
}

impl Front {
    fn new(class: Index) -> Front {
        Front {
            class,
            absorbed: 0,
            open: Vec::new(),
            open_locs: FxHashSet::default(),
            opened: 0,
            seen_by: FxHashMap::default(),
            kept: None,
        }
    }

    /// Opens groups for new entries of the earlier class, but for those that lie inside already: up to local time
    /// `inside`. Tells whether any group is open.
    fn absorb(&mut self, earlier: &Class, inside: Time, wanted: Pairs) -> bool {
        if self.absorbed < earlier.entries.len() {
            let new = &earlier.entries[self.absorbed..];
            self.absorbed += new.partition_point(|entry| entry.time <= inside);
            for (offset, entry) in earlier.entries[self.absorbed..].iter().enumerate() {
                if wanted == Pairs::All || self.open_locs.insert(entry.loc) {
                    self.opened += 1;
                    self.open.push(Open { entry: next_index(self.absorbed + offset), number: self.opened });
                }
            }
            self.absorbed = earlier.entries.len();
        }
        !self.open.is_empty()
    }

    /// Reports the races of the new access with open groups, and closes groups that lie inside its ideal.
    fn meet(
        &mut self,
        earlier: &Class,
        now: &Now<'_>,
        past: IdealInput<'_>,
        scratch: &mut Ideal,
        reports: &mut Reports,
    ) {
        let mut search =
            RaceSearch { earlier, now, past, kept: &mut self.kept, scratch, scratch_ready: false };
        let seen = self.seen_by.get(&now.loc).copied().unwrap_or(0);
        let first = self.open.partition_point(|open| open.number <= seen);
        let mut left = first;
        for position in first..self.open.len() {
            let mut open = self.open[position];
            let loc = earlier.entries[open.entry as usize].loc;
            if reports.is_news(loc, now.loc) {
                let Some(race) = search.first_race(open.entry) else {
                    self.open_locs.remove(&loc);
                    continue;
                };
                reports.push((earlier.entries[race as usize].id, loc), (now.id, now.loc));
                open.entry = race;
            }
            self.open[left] = open;
            left += 1;
        }
        self.open.truncate(left);
        if left >= MANY_OPEN && reports.wanted() == Pairs::ByLocation {
            self.seen_by.insert(now.loc, self.opened);
        }
    }
}

/// The search for a race of one new access with the accesses of one earlier class.
struct RaceSearch<'a> {
    earlier: &'a Class,
    now: &'a Now<'a>,
    past: IdealInput<'a>,
    kept: &'a mut Option<Box<Ideal>>,
    /// An ideal of this new access, if `scratch_ready`.
    scratch: &'a mut Ideal,
    scratch_ready: bool,
}

impl RaceSearch<'_> {
    /// The first entry that races, among `entry` and those after it in its group.
    fn first_race(&mut self, mut entry: Index) -> Option<Index> {
        loop {
            let candidate = self.earlier.entries[entry as usize];
            if !self.lies_inside(&candidate) {
                return Some(entry);
            }
            entry = candidate.next?.get();
        }
    }

    /// Whether the ideal of the pair contains its earlier access.
    fn lies_inside(&mut self, entry: &Entry) -> bool {
        let thread = self.earlier.key.thread;
        if entry.time <= self.now.clock.get(thread) {
            return true;
        }
        let usable = |ideal: &Ideal| ideal.grown_for <= entry.time;
        if let Some(kept) = self.kept.as_deref_mut().filter(|kept| usable(kept)) {
            kept.set.join(self.now.clock);
            grow(kept, thread, entry, self.past);
            return entry.time <= kept.set.get(thread);
        }
        if !self.scratch_ready || !usable(self.scratch) {
            self.scratch.reset(self.now.clock, self.now.closure);
            self.scratch_ready = true;
        }
        let entered = grow(self.scratch, thread, entry, self.past);
        if self.kept.is_none() && entered * WORDS_PER_SECTION > self.scratch.size() {
            *self.kept = Some(Box::new(self.scratch.clone()));
        }
        entry.time <= self.scratch.set.get(thread)
    }
}

/// Lets an ideal grow to that of a pair whose earlier access is `entry`; the later one's part is in it already. Tells
/// how many sections entered.
fn grow(ideal: &mut Ideal, thread: ThreadId, entry: &Entry, past: IdealInput<'_>) -> usize {
    ideal.grown_for = entry.time;
    ideal.set.join(past.versions.get(entry.version));
    ideal.set.raise(thread, entry.time - 1);
    ideal.close(past.sections, past.versions)
}
