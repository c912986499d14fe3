//! What was seen, each with the best way there.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::system::Sight;

/// Which threads take a step, one after the other.
pub(crate) type Path = Vec<u32>;

/// Everything that was seen so far, and for each the shortest path; of several, the one that comes first in the order
/// of threads. So the answer depends neither on the order of the search, nor on the available memory.
///
/// Of too many sights the greatest are left out, for the same reason.
#[derive(Debug)]
pub(crate) struct Sights {
    best: Mutex<BTreeMap<Sight, Path>>,
    /// How many are kept.
    most: usize,
    /// Whether any was left out.
    are_more: AtomicBool,
}

impl Sights {
    pub(crate) fn new(most: usize) -> Sights {
        Sights { best: Mutex::default(), most, are_more: AtomicBool::new(false) }
    }

    /// The path has led to the sight.
    pub(crate) fn add(&self, sight: Sight, path: Path) {
        let mut best = self.best.lock().unwrap_or_else(PoisonError::into_inner);
        match best.entry(sight) {
            Entry::Vacant(vacant) => {
                vacant.insert(path);
            }
            Entry::Occupied(mut known) => {
                if (path.len(), &path) < (known.get().len(), known.get()) {
                    known.insert(path);
                }
            }
        }
        if best.len() > self.most {
            best.pop_last();
            self.are_more.store(true, Ordering::Relaxed);
        }
    }

    /// Whether a path that is no longer than `length` is known.
    pub(crate) fn has_within(&self, sight: Sight, length: usize) -> bool {
        let best = self.best.lock().unwrap_or_else(PoisonError::into_inner);
        best.get(&sight).is_some_and(|path| path.len() <= length)
    }

    /// All that are kept, and whether there were more.
    pub(crate) fn into_inner(self) -> (BTreeMap<Sight, Path>, bool) {
        (self.best.into_inner().unwrap_or_else(PoisonError::into_inner), self.are_more.into_inner())
    }
}

/// What one depth-first walk has seen, so that it need not ask again and again. Such a walk comes to paths of one
/// length in their order, so only a shorter one is better than what it knows.
#[derive(Debug, Default)]
pub(crate) struct Known {
    depths: FxHashMap<Sight, usize>,
}

impl Known {
    /// Whether the sight was not seen so early before.
    #[inline]
    pub(crate) fn improves(&mut self, sight: Sight, depth: usize) -> bool {
        let known = self.depths.entry(sight).or_insert(usize::MAX);
        let improves = depth < *known;
        if improves {
            *known = depth;
        }
        improves
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_path_is_kept_and_of_these_the_first() {
        let sights = Sights::new(2);
        for (race, path) in [(1, vec![1, 1]), (1, vec![0, 2]), (1, vec![0, 0, 0]), (3, vec![]), (2, vec![7])]
        {
            sights.add(Sight::Race(race, 9), path);
        }
        assert!(sights.has_within(Sight::Race(1, 9), 2) && !sights.has_within(Sight::Race(1, 9), 1));
        let (kept, are_more) = sights.into_inner();
        let expected = [(Sight::Race(1, 9), vec![0, 2]), (Sight::Race(2, 9), vec![7])];
        assert_eq!((kept, are_more), (BTreeMap::from(expected), true));
    }
}
