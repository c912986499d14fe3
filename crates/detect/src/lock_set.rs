//! Lock sets: which locks a thread holds, and how. Equal sets are kept once.

use foretell_trace::{Event, LockId, LockMode, ThreadId};
use rustc_hash::FxHashMap;

use crate::table::at;

/// A set of locks, each with how it is held. Equal sets have equal ids.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct LockSetId(u32);

type Hold = (LockId, LockMode);

/// The lock sets that occurred, and which of them each thread holds now.
#[derive(Debug)]
pub struct LockSets {
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
    pub fn held(&self, thread: ThreadId) -> LockSetId {
        self.held.get(thread.index()).copied().unwrap_or_default()
    }

    /// The locks that the thread holds now.
    pub(crate) fn held_locks(&self, thread: ThreadId) -> &[Hold] {
        &self.sets[self.held(thread).0 as usize]
    }

    /// The locks of a set, each with how it is held.
    pub fn locks(&self, set: LockSetId) -> &[(LockId, LockMode)] {
        &self.sets[set.0 as usize]
    }

    /// Takes note of sections that begin or end with this event.
    pub fn event(&mut self, event: &Event) {
        if let Some(hold) = event.op.section_begin() {
            self.change(event.thread, hold, true);
        } else if let Some(hold) = event.op.section_end() {
            self.change(event.thread, hold, false);
        }
    }

    /// Whether no lock keeps an access under one set from happening next to an access under the other.
    pub fn are_disjoint(&self, a: LockSetId, b: LockSetId) -> bool {
        let (a, b) = (&self.sets[a.0 as usize], &self.sets[b.0 as usize]);
        !a.iter().any(|(lock, mode)| b.iter().any(|(other, how)| lock == other && mode.excludes(*how)))
    }

    pub(crate) fn contains(&self, set: LockSetId, lock: LockId) -> bool {
        self.sets[set.0 as usize].iter().any(|hold| hold.0 == lock)
    }

    pub(crate) fn contains_exclusive(&self, set: LockSetId, lock: LockId) -> bool {
        self.sets[set.0 as usize].contains(&(lock, LockMode::Exclusive))
    }

    /// A lock that is held exclusively in all of the sets.
    pub(crate) fn common(&self, sets: &[LockSetId]) -> Option<LockId> {
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
