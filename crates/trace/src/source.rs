//! Traces as streams: events come in batches, so that a reader of any format costs one virtual call per thousands.

use crate::dependence::{Dependence, Misfit};
use crate::error::{Position, TraceError};
use crate::event::Event;
use crate::id::EventId;
use crate::name::Names;
use crate::steps::Steps;
use crate::values::{Mismatch, Values};

/// How many events a reader puts into a batch at most.
pub const BATCH: usize = 4096;

/// Consecutive events of a trace.
#[derive(Debug, Default)]
pub struct Batch {
    /// The events.
    pub events: Vec<Event>,
    /// The line of each event, in formats that have lines; otherwise empty.
    pub lines: Vec<u32>,
}

impl Batch {
    /// Forgets all events and keeps the memory.
    pub fn clear(&mut self) {
        self.events.clear();
        self.lines.clear();
    }

    /// Where the event at `index` stood; `id` is its number in the trace.
    pub fn position(&self, index: usize, id: EventId) -> Position {
        match self.lines.get(index) {
            Some(&line) => Position::Text { line, column: 0 },
            None => Position::Event(id),
        }
    }
}

/// How a recording ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ending {
    /// Properly, or the format cannot tell.
    #[default]
    Complete,
    /// In the middle: the program or the machine died before the recording was closed.
    CutShort,
}

/// A trace that is read once, from its first event to its last.
pub trait Source {
    /// Replaces the content of `batch` by the next events; `false` (and no events) once there are none left.
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, TraceError>;

    /// What the ids of the events so far stand for. Grows as the trace is read.
    fn names(&self) -> &Names;

    /// The names, once the events are read.
    fn into_names(self: Box<Self>) -> Names;

    /// How the recording ended; known once `fill` has returned `false`.
    fn ending(&self) -> Ending {
        Ending::Complete
    }

    /// Which reads matter to what comes after them, if that is known. To be asked once, after `fill` has returned
    /// `false`.
    fn dependence(&mut self) -> Result<Option<Dependence>, TraceError> {
        Ok(None)
    }

    /// The error that what [`Source::dependence`] gave does not fit the events, with its place where that is known.
    fn blame(&self, misfit: Misfit) -> TraceError {
        misfit.into()
    }

    /// How values are computed, if that is known. To be asked once, after [`Source::dependence`]: its sets of reads may
    /// be those that this gave.
    fn values(&mut self) -> Result<Option<Values>, TraceError> {
        Ok(None)
    }

    /// The error that what [`Source::values`] gave does not fit the events, with its place where that is known.
    fn blame_values(&self, mismatch: Mismatch) -> TraceError {
        mismatch.into()
    }

    /// How far threads have come at each event, if that is known. To be asked once, after `fill` has returned `false`.
    fn steps(&mut self) -> Option<Steps> {
        None
    }
}

/// Events that are in memory already, as a source: a recorder or a generator has them, and they are checked as any
/// other.
#[derive(Debug)]
pub struct Listed {
    events: Vec<Event>,
    /// How many were given out.
    given: usize,
    names: Names,
    ending: Ending,
    dependence: Option<Dependence>,
    steps: Option<Steps>,
}

impl Listed {
    /// The events in this order; their ids are those of `names`.
    pub fn new(events: Vec<Event>, names: Names, ending: Ending) -> Listed {
        Listed { events, given: 0, names, ending, dependence: None, steps: None }
    }

    /// The same events, of which it is known which reads matter.
    pub fn with_dependence(self, dependence: Dependence) -> Listed {
        Listed { dependence: Some(dependence), ..self }
    }

    /// The same events, of which it is known how far their threads have come.
    pub fn with_steps(self, steps: Steps) -> Listed {
        Listed { steps: Some(steps), ..self }
    }

    /// All events.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Which reads of these events matter, if that is known.
    pub fn known_dependence(&self) -> Option<&Dependence> {
        self.dependence.as_ref()
    }

    /// All events, and what they stand for.
    pub(crate) fn into_parts(self) -> (Vec<Event>, Names) {
        (self.events, self.names)
    }
}

impl Source for Listed {
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, TraceError> {
        batch.clear();
        batch.events.extend(self.events[self.given..].iter().take(BATCH));
        self.given += batch.events.len();
        Ok(!batch.events.is_empty())
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

    fn dependence(&mut self) -> Result<Option<Dependence>, TraceError> {
        Ok(self.dependence.take())
    }

    fn steps(&mut self) -> Option<Steps> {
        self.steps.take()
    }
}

/// All events of a source, for tests.
#[cfg(test)]
pub(crate) fn read_all(mut source: Box<dyn Source>) -> Result<(Vec<Event>, Names), TraceError> {
    let (mut batch, mut events) = (Batch::default(), Vec::new());
    while source.fill(&mut batch)? {
        events.extend_from_slice(&batch.events);
    }
    Ok((events, source.into_names()))
}

/// Hands all events of a source to a writer, for tests.
#[cfg(test)]
pub(crate) fn copy(
    source: impl Source + 'static,
    mut write: impl FnMut(&Event, &Names) -> Result<(), TraceError>,
) -> Result<(), TraceError> {
    let (events, names) = read_all(Box::new(source))?;
    events.iter().try_for_each(|event| write(event, &names))
}
