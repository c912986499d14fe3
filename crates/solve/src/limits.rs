//! How long to search, and how it ended.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// When to give up. The default is never.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchLimits<'a> {
    /// How many conflicts one call may go through.
    pub conflicts: Option<u64>,
    /// Until when.
    pub deadline: Option<Instant>,
    /// Set by someone else to stop the search.
    pub stop: Option<&'a AtomicBool>,
}

/// How a search ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SearchAnswer {
    /// There is a solution, and the solver holds one.
    Sat,
    /// There is none, whatever clauses may be added.
    Unsat,
    /// A limit came first, or the memory that the clauses may take is used up.
    GaveUp,
}

/// What a solver has done so far, over all calls.
#[derive(Clone, Copy, Debug, Default)]
pub struct Statistics {
    /// Contradictions that it learnt from.
    pub conflicts: u64,
    /// Values that it chose.
    pub decisions: u64,
    /// Literals whose consequences it drew.
    pub propagations: u64,
    /// Pairs of nodes that clauses speak of.
    pub atoms: usize,
    /// Clauses that it holds, learnt ones included.
    pub clauses: usize,
}
