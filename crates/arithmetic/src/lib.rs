//! SMT queries over value constraints.
//!
//! * [`problem`]: numbers, what is computed from them, and what they may be, as an SMT-LIB problem in bit-vectors
//! * [`Solver`]: what answers such problems; the caller provides it
//!
//! A problem is about computed values only. The order of events is not part of it.

pub mod problem;

use std::fmt::Debug;
use std::time::Duration;

pub use problem::{Answer, Choice, Number, Problem};

/// Answers problems. Shared by threads.
pub trait Solver: Debug + Send + Sync {
    /// The answer to a problem, if it is found within `time`. An error of the solver is no answer.
    fn solve(&self, problem: &Problem, time: Duration) -> Option<Answer>;

    /// Whether there turned out to be no usable solver: no problem will be answered any more.
    fn is_unavailable(&self) -> bool;
}

/// No solver: answers nothing.
#[derive(Clone, Copy, Debug)]
pub struct NoSolver;

impl Solver for NoSolver {
    fn solve(&self, _: &Problem, _: Duration) -> Option<Answer> {
        None
    }

    fn is_unavailable(&self) -> bool {
        true
    }
}
