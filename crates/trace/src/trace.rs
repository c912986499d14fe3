//! A whole trace in memory.

use crate::check::Checker;
use crate::error::TraceError;
use crate::event::Event;
use crate::id::{EventId, ThreadId};
use crate::name::Names;
use crate::source::{Batch, Ending, Source};

/// A trace that has passed [`Checker`]: it is well formed, repeated acquires are marked as such, and reads that no
/// write explains are flagged.
#[derive(Debug, Default)]
pub struct Trace {
    events: Vec<Event>,
    names: Names,
    ending: Ending,
    has_branches: bool,
}

impl Trace {
    /// Reads all of `source`, checking as it goes. A trace without any event is an error.
    pub fn read(mut source: Box<dyn Source>) -> Result<Trace, TraceError> {
        let mut checker = Checker::default();
        let mut batch = Batch::default();
        let mut events = Vec::new();
        while source.fill(&mut batch)? {
            checker.check_batch(&mut batch, source.names())?;
            events.extend_from_slice(&batch.events);
        }
        let ending = source.ending();
        checker.finish(ending)?;
        let has_branches = checker.has_branches();
        Ok(Trace { events, names: source.into_names(), ending, has_branches })
    }

    /// All events in the order of the trace.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The event with this id, which must be one of this trace.
    pub fn event(&self, id: EventId) -> Event {
        self.events[id.index()]
    }

    /// The event with this number counted from 1, if the trace is that long.
    pub fn id(&self, number: u32) -> Option<EventId> {
        EventId::from_number(number).filter(|id| id.index() < self.events.len())
    }

    /// All events with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (EventId, Event)> {
        self.events
            .iter()
            .enumerate()
            .filter_map(|(index, &event)| Some((EventId::from_index(index)?, event)))
    }

    /// What the ids stand for.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// How many threads are named in the trace, also those without events.
    pub fn thread_count(&self) -> usize {
        self.names.threads.len()
    }

    /// The threads that are named in the trace.
    pub fn threads(&self) -> impl Iterator<Item = ThreadId> {
        (0..self.thread_count()).filter_map(ThreadId::from_index)
    }

    /// How the recording ended.
    pub fn ending(&self) -> Ending {
        self.ending
    }

    /// Whether the trace shows branches. If not, every event is taken to depend on all earlier reads of its thread.
    pub fn has_branches(&self) -> bool {
        self.has_branches
    }
}
