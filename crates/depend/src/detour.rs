//! A recorded run in which one thread goes another way from some decision on, as a trace of its own.

use foretell_trace::{EventId, Trace};

/// A recorded run in which one thread goes another way from some decision on.
#[derive(Debug)]
pub struct Detour {
    /// What happens then, in an order in which it is well formed. From the decision on values are shown at most where
    /// they are those of the run: which they are depends on the schedule, and the trace's
    /// [`Values`](foretell_trace::values::Values) say how.
    pub trace: Trace,
    /// The decision that goes the other way. What comes before is as in the run.
    pub branch: EventId,
    /// What the thread does there. All of it follows the decision at once.
    pub added: Vec<EventId>,
    /// For each event of the trace, which event of the run it is; none of those that are added, nor of those that set
    /// things up.
    pub origins: Vec<Option<EventId>>,
}
