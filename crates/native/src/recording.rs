//! The result of a conversion, as a source of events.

use foretell_trace::source::BATCH;
use foretell_trace::{Batch, Ending, Event, Names, Source, TraceError};

/// The events of a recorded program, not checked yet.
#[derive(Debug)]
pub struct Recording {
    events: Vec<Event>,
    names: Names,
    ending: Ending,
    read: usize,
}

impl Recording {
    pub(crate) fn new(events: Vec<Event>, names: Names, ending: Ending) -> Recording {
        Recording { events, names, ending, read: 0 }
    }

    /// All events.
    pub fn events(&self) -> &[Event] {
        &self.events
    }
}

impl Source for Recording {
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, TraceError> {
        batch.clear();
        let rest = self.events.get(self.read..).unwrap_or_default();
        let next = rest.get(..BATCH).unwrap_or(rest);
        batch.events.extend_from_slice(next);
        self.read += next.len();
        Ok(!next.is_empty())
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn into_names(self: Box<Self>) -> Names {
        self.names
    }

    fn ending(&self) -> Ending {
        self.ending
    }
}
