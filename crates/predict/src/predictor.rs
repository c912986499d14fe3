//! Decides pairs, one at a time.

use foretell_detect::Pair;
use foretell_trace::{EventId, ThreadId, Trace};

use crate::technique::Technique;
use crate::verdict::{Budget, Limit, Verdict};

/// One technique, prepared for one trace. Can be shared by threads that work on different pairs.
#[derive(Debug)]
pub struct Predictor<'t> {
    trace: &'t Trace,
}

impl<'t> Predictor<'t> {
    /// A predictor for the technique, if it decides pairs one at a time. With a `window`, only schedules are looked
    /// for that leave the trace as it is outside one window of that many events.
    pub fn new(trace: &'t Trace, technique: Technique, window: Option<usize>) -> Option<Predictor<'t>> {
        let _ = window;
        technique.decides_pairs().then_some(Predictor { trace })
    }

    /// The trace that this is about.
    pub fn trace(&self) -> &'t Trace {
        self.trace
    }

    /// The last event of `thread` that runs before `event` in every schedule of the model that gets as far as
    /// `event`, as far as a glance tells. No access up to it can race with `event`.
    pub fn last_before(&self, event: EventId, thread: ThreadId) -> Option<EventId> {
        let _ = (event, thread);
        None
    }

    /// Whether the two can be made adjacent.
    pub fn decide(&self, pair: Pair, budget: &Budget<'_>) -> Verdict {
        let _ = (pair, budget);
        Verdict::Undecided(Limit::Technique)
    }
}
