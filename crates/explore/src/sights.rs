//! What was seen, each with the best way there.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::system::Sight;

/// Which threads take a step, one after the other.
pub(crate) type Path = Vec<u32>;

/// Everything that was seen so far, and for each the shortest path; of several, the one that comes first in the order of
/// threads. So the answer depends neither on who looks where first, nor on how much memory there is.
#[derive(Debug, Default)]
pub(crate) struct Sights {
    best: Mutex<BTreeMap<Sight, Path>>,
}

impl Sights {
    /// The path has led to the sight.
    pub(crate) fn add(&self, sight: Sight, path: Path) {
        match self.best.lock().unwrap_or_else(PoisonError::into_inner).entry(sight) {
            Entry::Vacant(vacant) => {
                vacant.insert(path);
            }
            Entry::Occupied(mut known) => {
                if (path.len(), &path) < (known.get().len(), known.get()) {
                    known.insert(path);
                }
            }
        }
    }

    /// Whether a path that is no longer than `length` is known.
    pub(crate) fn has_within(&self, sight: Sight, length: usize) -> bool {
        let best = self.best.lock().unwrap_or_else(PoisonError::into_inner);
        best.get(&sight).is_some_and(|path| path.len() <= length)
    }

    pub(crate) fn into_inner(self) -> BTreeMap<Sight, Path> {
        self.best.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What one depth-first walk has seen, so that it need not ask again and again. Such a walk comes to paths of one length
/// in their order, so only a shorter one is better than what it knows.
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
