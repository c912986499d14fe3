//! Schedulers that need no explanation.

use super::{Moment, Scheduler};
use crate::machine::Turn;
use crate::value::ThreadRef;

/// Runs a thread until it blocks or ends, then the next one. Notifications wake waiting threads in the order of their
/// numbers.
#[derive(Clone, Debug)]
pub struct Serial {
    current: ThreadRef,
}

impl Serial {
    /// Begins with the first thread.
    pub fn new() -> Serial {
        Serial::from(ThreadRef(0))
    }

    /// Begins with this thread.
    pub fn from(current: ThreadRef) -> Serial {
        Serial { current }
    }
}

impl Default for Serial {
    fn default() -> Self {
        Serial::new()
    }
}

impl Scheduler for Serial {
    fn pick(&mut self, moment: &Moment<'_>) -> Turn {
        let turn = moment.from(self.current);
        self.current = turn.thread;
        turn
    }
}

/// Each thread takes a step in turn.
#[derive(Clone, Debug, Default)]
pub struct RoundRobin {
    last: Option<ThreadRef>,
}

impl Scheduler for RoundRobin {
    fn pick(&mut self, moment: &Moment<'_>) -> Turn {
        let next = self.last.map_or(ThreadRef(0), |last| ThreadRef(last.0.saturating_add(1)));
        let turn = moment.from(next);
        self.last = Some(turn.thread);
        turn
    }
}
