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

/// Takes the reports of a detector and drops repetitions.
#[derive(Debug, Default)]
pub struct Reports {
    wanted: Pairs,
    pairs: Vec<Pair>,
    /// Location pairs already reported, smaller location first. Only used for [`Pairs::ByLocation`].
    seen: FxHashSet<(Loc, Loc)>,
    forgotten: u64,
}

impl Reports {
    /// An empty collection of the wanted kind.
    pub fn new(wanted: Pairs) -> Reports {
        Reports { wanted, ..Reports::default() }
    }

    /// Which pairs are wanted.
    pub fn wanted(&self) -> Pairs {
        self.wanted
    }

    /// Whether a report of this pair of locations would still add something. Detectors may ask before they spend time
    /// on a pair.
    pub fn is_news(&self, a: Loc, b: Loc) -> bool {
        self.wanted == Pairs::All || !self.seen.contains(&unordered(a, b))
    }

    /// Reports a pair; `first` stands before `second` in the trace.
    pub fn push(&mut self, first: (EventId, Loc), second: (EventId, Loc)) {
        if self.wanted == Pairs::All || self.seen.insert(unordered(first.1, second.1)) {
            self.pairs.push(Pair { first: first.0, second: second.0 });
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
