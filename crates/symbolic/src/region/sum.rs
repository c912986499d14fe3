//! The joint effect of silent paths on values.

use rustc_hash::FxHashMap;

use super::Region;
use crate::shape::{Shape, Slot};

/// The effect so far.
#[derive(Default)]
pub(super) struct Sum {
    /// What changed values depend on; all others are unchanged.
    values: FxHashMap<Slot, Vec<Slot>>,
    steering: Vec<Slot>,
    pub(super) result: Vec<Slot>,
}

impl Sum {
    pub(super) fn value(&self, slot: Slot) -> Vec<Slot> {
        self.values.get(&slot).cloned().unwrap_or_else(|| vec![slot])
    }

    pub(super) fn steer(&mut self, slot: Slot) -> bool {
        let value = self.value(slot);
        add(&mut self.steering, &value)
    }

    pub(super) fn define(&mut self, slot: Slot, from: &[Slot], is_whole: bool) -> bool {
        let mut value = if is_whole { Vec::new() } else { self.value(slot) };
        let mut changed = is_whole;
        for &part in from {
            changed |= add(&mut value, &self.value(part));
        }
        self.values.insert(slot, value);
        changed
    }

    /// Only values count that may be used later.
    pub(super) fn finish(self, shape: &Shape) -> Region {
        let lasts = |slot: Slot| shape.lasts.get(slot as usize).copied().unwrap_or(true);
        let mut changes: Vec<_> =
            self.values.into_iter().filter(|(slot, from)| lasts(*slot) && from[..] != [*slot]).collect();
        changes.sort_unstable();
        Region { is_unknown: false, steering: self.steering, changes, result: self.result }
    }
}

/// Adds what is not there yet, in order; says whether there was anything.
pub(super) fn add(to: &mut Vec<Slot>, slots: &[Slot]) -> bool {
    let before = to.len();
    for &slot in slots {
        if let Err(place) = to.binary_search(&slot) {
            to.insert(place, slot);
        }
    }
    to.len() > before
}
