//! The nearest pairs of one pair of locations.

use std::collections::BinaryHeap;

use foretell_detect::Pair;
use foretell_trace::EventId;

/// A pair of events in the order in which pairs are tried: how far apart, then which.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Near {
    distance: u32,
    first: EventId,
}

impl Near {
    pub(super) fn new(first: EventId, second: EventId) -> Near {
        Near { distance: second.number() - first.number(), first }
    }

    pub(super) fn pair(self) -> Pair {
        // The second event exists: the pair was made from it.
        let second = EventId::from_number(self.first.number().saturating_add(self.distance));
        Pair { first: self.first, second: second.unwrap_or(self.first) }
    }
}

/// The pairs of one pair of locations, of which only the nearest that have not been tried are kept.
#[derive(Debug, Default)]
pub(super) struct Nearest {
    /// How many pairs there are. Counted in the first pass.
    pub(super) seen: u64,
    /// How many have been handed out. Only grows.
    pub(super) delivered: u64,
    /// The last one that has been handed out. Only grows.
    tried: Option<Near>,
    /// The nearest of the others, the farthest of them on top.
    kept: BinaryHeap<Near>,
    /// The nearest that was neither tried nor handed out after the last pass.
    next: Option<Near>,
}

impl Nearest {
    /// The number of the last event that can be the first of a pair with `second` and has not been tried with it.
    pub(super) fn up_to(&self, second: EventId) -> u32 {
        let tried = self.tried.map_or(1, |tried| tried.distance);
        second.number().saturating_sub(tried)
    }

    /// Keeps the pair if it is among the `limit` nearest that have not been tried. Otherwise no pair that is farther
    /// apart is: `false`, unless the pair has been tried already.
    pub(super) fn offer(&mut self, near: Near, limit: usize) -> bool {
        if self.tried.is_some_and(|tried| near <= tried) {
            return true;
        }
        if self.kept.len() < limit {
            self.kept.push(near);
            return true;
        }
        let Some(mut farthest) = self.kept.peek_mut() else { return false };
        let nearer = near < *farthest;
        if nearer {
            *farthest = near;
        }
        nearer
    }

    /// Hands out all but the farthest of what was kept, if more than `limit` were; the nearest first.
    pub(super) fn deliver(&mut self, limit: usize) -> Vec<Pair> {
        let mut kept = std::mem::take(&mut self.kept).into_sorted_vec();
        self.next = if kept.len() > limit { kept.get(limit).copied() } else { None };
        kept.truncate(limit);
        self.tried = kept.last().copied().or(self.tried);
        self.delivered += kept.len() as u64;
        kept.into_iter().map(Near::pair).collect()
    }

    /// How many pairs have not been handed out.
    pub(super) fn remaining(&self) -> u64 {
        self.seen.saturating_sub(self.delivered)
    }

    /// The nearest pair that has not been handed out.
    pub(super) fn next(&self) -> Option<Pair> {
        self.next.map(Near::pair)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(first: u32, second: u32) -> Near {
        Near::new(EventId::from_number(first).unwrap(), EventId::from_number(second).unwrap())
    }

    fn numbers(pairs: &[Pair]) -> Vec<(u32, u32)> {
        pairs.iter().map(|pair| (pair.first.number(), pair.second.number())).collect()
    }

    #[test]
    fn pairs_come_nearest_first_and_none_twice() {
        let all = [near(1, 9), near(8, 9), near(5, 9), near(4, 5), near(2, 9)];
        let mut nearest = Nearest { seen: 5, ..Nearest::default() };
        for near in all {
            nearest.offer(near, 3);
        }
        assert_eq!(numbers(&nearest.deliver(2)), [(4, 5), (8, 9)]);
        assert_eq!(nearest.next().map(|pair| pair.first.number()), Some(5));
        assert_eq!(nearest.remaining(), 3);
        for near in all {
            nearest.offer(near, 9);
        }
        assert_eq!(numbers(&nearest.deliver(8)), [(5, 9), (2, 9), (1, 9)]);
        assert_eq!((nearest.next(), nearest.remaining()), (None, 0));
    }
}
