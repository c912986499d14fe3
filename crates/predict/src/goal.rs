//! What a schedule is to lead to.

use foretell_detect::Pair;
use foretell_trace::EventId;

/// A state of the program, told by events: a schedule reaches it if it ends like this. That two accesses race is the
/// goal that both come next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Goal {
    /// What people call it, with its article: `the race`.
    pub name: &'static str,
    /// Each is the next event of its thread, and none of them runs; of an access the memory is usable, and what any
    /// other event waits for need not have come. Events of different threads.
    pub next: Vec<EventId>,
    /// These have run.
    pub ran: Vec<EventId>,
    /// These have run, the first of each pair before the second.
    pub order: Vec<(EventId, EventId)>,
}

impl Goal {
    /// Nothing yet, of this name.
    pub fn new(name: &'static str) -> Goal {
        Goal { name, next: Vec::new(), ran: Vec::new(), order: Vec::new() }
    }

    /// All events that it speaks of.
    pub(crate) fn events(&self) -> impl Iterator<Item = EventId> {
        let ordered = self.order.iter().flat_map(|&(before, after)| [before, after]);
        self.next.iter().chain(&self.ran).copied().chain(ordered)
    }
}

impl From<Pair> for Goal {
    fn from(pair: Pair) -> Goal {
        Goal { next: vec![pair.first, pair.second], ..Goal::new("the race") }
    }
}
