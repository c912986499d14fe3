//! What detectors say: pairs of events, nothing more. Names, stacks and proofs are added elsewhere.

use foretell_trace::{EventId, Loc};
use rustc_hash::FxHashSet;

/// Two conflicting accesses of different threads; `first` stands before `second` in the trace.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Pair {
    /// The earlier one in the trace.
    pub first: EventId,
    /// The later one.
    pub second: EventId,
}

/// Which pairs are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Pairs {
    /// One for each pair of program locations.
    #[default]
    ByLocation,
    /// Every pair of events.
    All,
}

/// So many pairs that there is no room for are still counted.
pub const COUNTED: u64 = 10_000;

/// Takes the reports of a detector and drops repetitions.
#[derive(Debug, Default)]
pub struct Reports {
    wanted: Pairs,
    /// How many pairs are kept, if not all.
    limit: Option<usize>,
    pairs: Vec<Pair>,
    /// Location pairs already reported, smaller location first. Only used for [`Pairs::ByLocation`].
    seen: FxHashSet<(Loc, Loc)>,
    /// How many reports came after the last one that was kept. Once there are [`COUNTED`], detectors need not go on.
    beyond: u64,
    forgotten: u64,
}

impl Reports {
    /// An empty collection of the wanted kind.
    pub fn new(wanted: Pairs) -> Reports {
        Reports { wanted, ..Reports::default() }
    }

    /// The same collection, but it keeps no more than so many pairs.
    #[must_use]
    pub fn up_to(self, limit: usize) -> Reports {
        Reports { limit: Some(limit), ..self }
    }

    /// Which pairs are wanted.
    #[inline]
    pub fn wanted(&self) -> Pairs {
        self.wanted
    }

    /// Whether a report of this pair of locations would still add something. Detectors may ask before they spend time
    /// on a pair.
    pub fn is_news(&self, a: Loc, b: Loc) -> bool {
        !self.is_over_full() && (self.wanted == Pairs::All || !self.seen.contains(&unordered(a, b)))
    }

    /// Whether so many more pairs were reported than are kept that no more are counted. Nothing that is reported from
    /// now on makes a difference.
    #[inline]
    pub fn is_over_full(&self) -> bool {
        self.beyond >= COUNTED
    }

    /// How many reports were not kept. Detectors may stop looking once there are [`COUNTED`], so there may be more such
    /// pairs.
    pub fn beyond(&self) -> u64 {
        self.beyond
    }

    /// Reports a pair; `first` stands before `second` in the trace.
    pub fn push(&mut self, first: (EventId, Loc), second: (EventId, Loc)) {
        if self.limit.is_some_and(|limit| self.pairs.len() >= limit) {
            self.push_beyond(first.1, second.1);
        } else if self.wanted == Pairs::All || self.seen.insert(unordered(first.1, second.1)) {
            self.pairs.push(Pair { first: first.0, second: second.0 });
        }
    }

    /// Counts a report that there is no room for, unless it repeats one that is kept.
    #[cold]
    fn push_beyond(&mut self, a: Loc, b: Loc) {
        if self.wanted == Pairs::All || self.seen.insert(unordered(a, b)) {
            self.beyond += 1;
        }
    }

    /// A detector says that it dropped an access from its history to bound its memory: pairs with it may be missing.
    pub fn forget(&mut self) {
        self.forgotten += 1;
    }

    /// How many accesses were dropped from histories.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// The pairs reported so far, in the order of their reports.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }
}

fn unordered(a: Loc, b: Loc) -> (Loc, Loc) {
    if a <= b { (a, b) } else { (b, a) }
}

#[cfg(test)]
mod tests {
    use foretell_trace::Symbol;

    use super::*;

    fn access(number: u32) -> (EventId, Loc) {
        (EventId::from_number(number).unwrap(), Loc(Symbol::number(number).unwrap()))
    }

    fn is_news(reports: &Reports, a: u32, b: u32) -> bool {
        reports.is_news(access(a).1, access(b).1)
    }

    #[test]
    fn what_comes_beyond_the_limit_is_only_counted() {
        for wanted in [Pairs::ByLocation, Pairs::All] {
            let mut reports = Reports::new(wanted).up_to(2);
            reports.push(access(1), access(2));
            reports.push(access(1), access(3));
            // As many as are kept are not too many: only one more tells that there are more.
            assert!(!reports.is_over_full() && is_news(&reports, 2, 3));
            reports.push(access(2), access(3));
            reports.push(access(3), access(4));
            assert_eq!((reports.pairs().len(), reports.beyond()), (2, 2));
            assert!(!reports.is_over_full() && is_news(&reports, 4, 5), "who counts has to look on");
            (6..).take(10_000).for_each(|number| reports.push(access(5), access(number)));
            assert!(reports.beyond() >= COUNTED && reports.is_over_full() && !is_news(&reports, 4, 5));
            assert_eq!(reports.pairs().len(), 2);
        }
    }

    #[test]
    fn a_repetition_is_not_beyond_the_limit() {
        let mut reports = Reports::new(Pairs::ByLocation).up_to(1);
        reports.push(access(1), access(2));
        reports.push(access(2), access(1));
        assert_eq!((reports.pairs().len(), reports.beyond()), (1, 0));
    }

    #[test]
    fn without_a_limit_everything_is_kept() {
        let mut reports = Reports::new(Pairs::ByLocation);
        (2..1000).for_each(|number| reports.push(access(1), access(number)));
        assert_eq!((reports.pairs().len(), reports.beyond()), (998, 0));
    }
}
