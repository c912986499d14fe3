//! What can be said about a goal, and how long one may think about it.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use foretell_trace::{EventId, Model};

/// The answer to "can a schedule reach this goal?". That two accesses race is the goal that both come next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Yes, by this schedule.
    Reached(Witness),
    /// No schedule of this model can do it.
    Unreachable(Refutation),
    /// No schedule can do it that leaves the trace as it is outside one window. Others might.
    NotInWindow,
    /// Unknown.
    Undecided(Limit),
}

/// A schedule that is claimed to reach a goal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Witness {
    /// How far the schedule may deviate from what was observed.
    pub model: Model,
    /// The events in their new order. The last ones do not run: they are those that come next, in the order of the
    /// goal.
    pub schedule: Vec<EventId>,
}

/// Why no schedule reaches a goal: steps that lead to a contradiction, each in words.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Refutation {
    /// The steps. Empty if the search was exhausted without a short argument.
    pub steps: Vec<String>,
}

/// What ran out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Limit {
    /// The time for this pair.
    Budget,
    /// The time for this pair, without the solver that might have saved some.
    Solver,
    /// The patience of the user.
    Stopped,
    /// The memory: the window that it takes has too many events and threads, or the search in it too many clauses.
    Memory,
    /// What the technique can do: its answer is neither yes nor no.
    Technique,
    /// What the trace tells: it is impossible only if those meet at a barrier who met, and others might.
    Meeting,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limit::Budget => "the budget for one pair ran out",
            Limit::Solver => {
                "the budget for one pair ran out; the program `z3`, which is missing or does not answer, might have saved some"
            }
            Limit::Stopped => "the analysis was stopped",
            Limit::Memory => "deciding it would take too much memory",
            Limit::Technique => "the technique finds neither a schedule nor a contradiction",
            Limit::Meeting => {
                "impossible if the same threads as recorded meet at a barrier; but how many it takes is not known, so others might"
            }
        })
    }
}

/// How long one pair may take.
#[derive(Clone, Copy, Debug)]
pub struct Budget<'a> {
    /// Time on the clock for one pair.
    pub per_pair: Duration,
    /// Set when everything is to stop.
    pub stop: &'a AtomicBool,
}

impl Budget<'_> {
    /// When the time for a pair that is begun now runs out.
    pub fn deadline(&self) -> Option<Instant> {
        Instant::now().checked_add(self.per_pair)
    }

    /// Whether everything is to stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
