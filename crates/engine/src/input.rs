//! The trace that is analysed: a source that can be opened again, or a trace in memory.
//!
//! Techniques that look at each event once stream the trace; the others read it into memory when it is first needed,
//! and from then on all stages share it.

use std::cell::{Cell, OnceCell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use foretell_report::TraceInfo;
use foretell_report::coverage::Counter;
use foretell_trace::check::Checker;
use foretell_trace::dependence::Misfit;
use foretell_trace::values::Mismatch;
use foretell_trace::{
    Batch, Dependence, Ending, Event, EventId, Names, Source, Steps, Trace, TraceError, Values,
};

use crate::control::Control;
use crate::error::Error;
use crate::in_shards::ShardStore;
use crate::untaken::UntakenBranches;

/// What an event costs while pairs are decided: itself, the indexes over the trace, and the clocks.
const BYTES_PER_EVENT: u64 = 150;

/// A trace of no more events than this stays in memory once it was read, if there is room: each further reading would
/// cost more than what is made of it. Longer ones are read again, so that memory does not grow with them.
const KEPT_EVENTS: usize = 1 << 20;

/// A trace that can be opened as often as it is needed.
pub trait TraceSource {
    /// The name as people know it.
    fn name(&self) -> String;

    /// Begins to read at the first event. `doing` is the text beside the progress.
    fn open(&self, doing: &str) -> Result<Opened, Box<dyn std::error::Error + Send + Sync>>;

    /// Prepares a trace that was read into memory.
    fn prepare(&self, trace: Trace) -> Trace {
        trace
    }
}

/// A trace that is about to be read.
pub struct Opened {
    /// The events.
    pub source: Box<dyn Source>,
    /// How many bytes were read so far, and how many there are, as far as that is known.
    pub bytes: (Rc<Cell<u64>>, Option<u64>),
}

/// How far a trace was read that was not read to its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unread {
    /// How many events were read.
    pub events: usize,
    /// How many bytes were read.
    pub bytes: u64,
    /// How many bytes there are, where that is known.
    pub of: Option<u64>,
}

impl fmt::Display for Unread {
    /// How many events were read, of about how many: there are as many per byte in what was not read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let events = u64::try_from(self.events).unwrap_or(u64::MAX);
        let Some(of) = self.of.filter(|&of| self.bytes > 0 && self.bytes < of) else {
            return write!(f, "read {} events, and not those after them", grouped(events));
        };
        let about = u128::from(events) * u128::from(of) / u128::from(self.bytes);
        let permille = u128::from(self.bytes) * 1000 / u128::from(of);
        write!(
            f,
            "read {} of about {} events ({}.{} %)",
            grouped(events),
            grouped(u64::try_from(about).unwrap_or(u64::MAX)),
            permille / 10,
            permille % 10
        )
    }
}

/// The digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A trace that is, or may come to be, in memory.
pub struct Input<'a> {
    name: String,
    /// Where it can be read, unless it was in memory before.
    source: Option<&'a dyn TraceSource>,
    /// The trace, if it was in memory before.
    given: Option<&'a Trace>,
    loaded: OnceCell<Trace>,
    /// How far it was read when it was last read, if not to its end.
    unread: Rc<RefCell<Option<Unread>>>,
    untaken: Option<&'a dyn UntakenBranches>,
    /// Where what was found in shards is kept.
    store: Option<&'a dyn ShardStore>,
}

impl<'a> Input<'a> {
    /// A trace that is read when it is needed.
    pub fn of_source(source: &'a dyn TraceSource) -> Input<'a> {
        Input { source: Some(source), ..Input::empty(source.name()) }
    }

    /// A trace in memory, with the name that people know it by.
    pub fn of_trace(name: &str, trace: &'a Trace) -> Input<'a> {
        Input { given: Some(trace), ..Input::empty(name.to_string()) }
    }

    fn empty(name: String) -> Input<'a> {
        let (loaded, unread) = (OnceCell::new(), Rc::default());
        Input { name, source: None, given: None, loaded, unread, untaken: None, store: None }
    }

    /// The same with branches that the recorded run did not take.
    pub fn with_untaken(self, untaken: Option<&'a dyn UntakenBranches>) -> Input<'a> {
        Input { untaken, ..self }
    }

    /// The same, where what is found in shards is kept.
    pub fn with_store(self, store: Option<&'a dyn ShardStore>) -> Input<'a> {
        Input { store, ..self }
    }

    /// Where what was found in shards is kept.
    pub(crate) fn store(&self) -> Option<&'a dyn ShardStore> {
        self.store
    }

    /// The name as people know it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The branches that the recorded run did not take, if anything knows them.
    pub(crate) fn untaken(&self) -> Option<&'a dyn UntakenBranches> {
        self.untaken
    }

    /// How far it was read when it was last read, if not to its end.
    pub fn unread(&self) -> Option<Unread> {
        self.unread.borrow().clone()
    }

    /// The trace, if it is in memory.
    pub fn trace(&self) -> Option<&Trace> {
        self.given.or_else(|| self.loaded.get())
    }

    /// The trace, however large it is, or what was read of it before a stop.
    pub fn load(&self, doing: &str, control: &dyn Control) -> Result<&Trace, Error> {
        match self.trace() {
            Some(trace) => Ok(trace),
            None => {
                let trace = self.read(doing, usize::MAX, control.stop_flag())?;
                let trace = trace.ok_or_else(|| self.bad(TraceError::TooManyEvents))?;
                Ok(self.loaded.get_or_init(|| trace))
            }
        }
    }

    /// The trace, if working on it needs no more than `limit` bytes, or than the control says there is; otherwise for
    /// how many events there is room.
    pub fn load_within(
        &self,
        doing: &str,
        limit: Option<u64>,
        control: &dyn Control,
    ) -> Result<Result<&Trace, usize>, Error> {
        let room = room(limit, control);
        if self.trace().is_none() {
            let Some(trace) = self.read(doing, room, control.stop_flag())? else { return Ok(Err(room)) };
            self.loaded.get_or_init(|| trace);
        }
        Ok(self.trace().filter(|trace| trace.events().len() <= room).ok_or(room))
    }

    /// Begins to read a trace that is wanted again, batch by batch. What was read is to be handed to [`Input::keep`].
    pub(crate) fn open_to_keep(
        &self,
        doing: &str,
        limit: Option<u64>,
        control: &dyn Control,
    ) -> Result<Reading, Error> {
        let room = room(limit, control).min(KEPT_EVENTS);
        Ok(Reading { kept: Some(Kept { events: Vec::new(), room }), ..self.open(doing)? })
    }

    /// Keeps what was read to its end, if it is short enough.
    pub(crate) fn keep(&self, reading: Reading) {
        let Reading { kept: Some(kept), checker, source, read, .. } = reading else { return };
        // What is wrong beside the events is for those to report who need it.
        if kept.events.len() == read
            && let Ok(trace) = Trace::of_checked(kept.events, &checker, source)
        {
            self.loaded.get_or_init(|| self.prepare(trace));
        }
    }

    fn prepare(&self, trace: Trace) -> Trace {
        match self.source {
            Some(source) => source.prepare(trace),
            None => trace,
        }
    }

    /// Takes the trace out of the memory, if it was read.
    pub fn into_trace(self) -> Option<Trace> {
        self.loaded.into_inner()
    }

    /// Begins to read the trace, batch by batch.
    pub fn open(&self, doing: &str) -> Result<Reading, Error> {
        let source = self.source.ok_or_else(|| Error::Plan(format!("{} is in memory only", self.name)))?;
        *self.unread.borrow_mut() = None;
        let Opened { source, bytes } = source.open(doing).map_err(Error::Input)?;
        let position = Position { bytes, unread: Rc::clone(&self.unread) };
        Ok(Reading::new(self.name.clone(), source, position))
    }

    /// Reads the trace if it has no more events than `limit`, or what comes before a stop.
    fn read(&self, doing: &str, limit: usize, stop: &AtomicBool) -> Result<Option<Trace>, Error> {
        let Reading { source, position, .. } = self.open(doing)?;
        let is_too_large = Cell::new(false);
        let bounded = Bounded { source, position, stop, read: 0, limit, is_too_large: &is_too_large };
        let trace = Trace::read(Box::new(bounded));
        if is_too_large.get() {
            return Ok(None);
        }
        let trace = trace.map_err(|error| self.bad(error))?;
        Ok(Some(self.prepare(trace)))
    }

    /// What is reported about a trace that is not kept in memory.
    pub(crate) fn count(&self, doing: &str, control: &dyn Control) -> Result<TraceInfo, Error> {
        let mut reading = self.open(doing)?;
        while reading.next()?.is_some() {
            if control.is_stopped() {
                reading.stop();
                break;
            }
        }
        Ok(reading.info())
    }

    fn bad(&self, error: TraceError) -> Error {
        Error::Trace { file: self.name.clone(), error }
    }
}

/// For how many events there is room.
pub(crate) fn room(limit: Option<u64>, control: &dyn Control) -> usize {
    let bytes = limit.or_else(|| control.available_memory());
    let room = bytes.map_or(u64::MAX, |bytes| bytes / BYTES_PER_EVENT);
    usize::try_from(room).unwrap_or(usize::MAX)
}

/// Where a reading is, and where it leaves word if it ends early.
struct Position {
    bytes: (Rc<Cell<u64>>, Option<u64>),
    unread: Rc<RefCell<Option<Unread>>>,
}

impl Position {
    /// No more than so many events will be read.
    fn stop(&self, events: usize) {
        let (bytes, of) = &self.bytes;
        *self.unread.borrow_mut() = Some(Unread { events, bytes: bytes.get(), of: *of });
    }
}

/// A trace that is being read and checked, batch by batch.
pub struct Reading {
    name: String,
    source: Box<dyn Source>,
    checker: Checker,
    batch: Batch,
    read: usize,
    coverage: Counter,
    position: Position,
    /// The events so far, if they are to be kept.
    kept: Option<Kept>,
}

/// Events that are kept in memory.
struct Kept {
    events: Vec<Event>,
    /// How many there may be.
    room: usize,
}

impl Reading {
    fn new(name: String, source: Box<dyn Source>, position: Position) -> Reading {
        Reading {
            name,
            source,
            checker: Checker::default(),
            batch: Batch::default(),
            read: 0,
            coverage: Counter::default(),
            position,
            kept: None,
        }
    }

    /// The rest is left out, if there is any.
    pub fn stop(&mut self) {
        // If it cannot be read, it is there.
        if self.source.fill(&mut self.batch).unwrap_or(true) {
            self.position.stop(self.read);
        }
    }

    /// The next events with the id of the first, checked; `None` at the end.
    #[expect(clippy::should_implement_trait, reason = "what it returns borrows from the reading")]
    pub fn next(&mut self) -> Result<Option<(EventId, &[Event])>, Error> {
        let begin = self.read;
        if !self.next_checked(Checker::check_batch)? {
            return Ok(None);
        }
        // The check has numbered them all.
        Ok(EventId::from_index(begin).map(|first| (first, self.batch.events.as_slice())))
    }

    /// Has the next events checked by `check`; `false` at the end.
    pub fn next_checked(
        &mut self,
        check: impl FnOnce(&mut Checker, &mut Batch, &Names) -> Result<(), TraceError>,
    ) -> Result<bool, Error> {
        let failed = |error| Error::Trace { file: self.name.clone(), error };
        if !self.source.fill(&mut self.batch).map_err(failed)? {
            self.checker.finish(self.source.ending()).map_err(failed)?;
            return Ok(false);
        }
        check(&mut self.checker, &mut self.batch, self.source.names()).map_err(failed)?;
        self.coverage.batch(&self.batch.events, self.source.names());
        self.read += self.batch.events.len();
        self.keep_batch();
        Ok(true)
    }

    fn keep_batch(&mut self) {
        match &mut self.kept {
            Some(kept) if self.read <= kept.room => kept.events.extend_from_slice(&self.batch.events),
            _ => self.kept = None,
        }
    }

    /// The next events as they stand in the input; `false` at the end.
    pub fn next_unchecked(&mut self) -> Result<bool, Error> {
        let more = self.source.fill(&mut self.batch);
        let failed = |error| Error::Trace { file: self.name.clone(), error };
        let more = more.map_err(failed)?;
        self.read += self.batch.events.len();
        match (self.read, self.ending()) {
            (0, Ending::Complete) => Err(failed(TraceError::Empty)),
            (0, Ending::CutShort) => Err(failed(TraceError::CutToNothing)),
            _ => Ok(more),
        }
    }

    /// The events that the last call has read, and what their ids stand for.
    pub fn batch(&mut self) -> (&mut Batch, &Names) {
        (&mut self.batch, self.source.names())
    }

    /// What the ids of the events so far stand for.
    pub fn names(&self) -> &Names {
        self.source.names()
    }

    /// The same, once no more is read.
    pub fn into_names(self) -> Names {
        self.source.into_names()
    }

    /// What is reported about the trace. To be called once, at the end.
    pub fn info(&mut self) -> TraceInfo {
        let coverage = std::mem::take(&mut self.coverage).finish(self.names());
        TraceInfo {
            coverage: Some(coverage),
            file: self.name.clone(),
            events: self.read,
            threads: self.names().threads.len(),
            cut_short: self.is_cut_short(),
            unexplained_reads: self.checker.unexplained().1,
            ..TraceInfo::default()
        }
    }

    /// What the check has seen so far.
    pub fn checker(&self) -> &Checker {
        &self.checker
    }

    /// How many events have been read.
    pub fn events(&self) -> usize {
        self.read
    }

    /// How the recording ended; known at the end.
    pub fn ending(&self) -> Ending {
        self.source.ending()
    }

    /// Whether the recording ended in the middle; known at the end.
    pub fn is_cut_short(&self) -> bool {
        self.ending() == Ending::CutShort
    }

    /// The dependence information, if the trace has any; to be called once, at the end.
    pub fn dependence(&mut self) -> Result<Option<Dependence>, TraceError> {
        self.source.dependence()
    }

    /// The symbolic values, if the trace has any; to be called once, after [`Reading::dependence`].
    pub fn values(&mut self) -> Result<Option<Values>, TraceError> {
        self.source.values()
    }

    /// The step counts, if the trace has any; to be called once, at the end.
    pub fn steps(&mut self) -> Option<Steps> {
        self.source.steps()
    }
}

/// A source that ends early if it is too long, or once everything is to stop.
struct Bounded<'a> {
    source: Box<dyn Source>,
    position: Position,
    stop: &'a AtomicBool,
    /// How many events have been read.
    read: usize,
    /// How many events may be read.
    limit: usize,
    /// Set when there are more.
    is_too_large: &'a Cell<bool>,
}

impl Source for Bounded<'_> {
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, TraceError> {
        if self.read > 0 && self.stop.load(Ordering::Relaxed) {
            if self.source.fill(batch)? {
                self.position.stop(self.read);
            }
            batch.clear();
            return Ok(false);
        }
        let more = self.source.fill(batch)?;
        self.read += batch.events.len();
        if self.read > self.limit {
            self.is_too_large.set(true);
            batch.clear();
            return Ok(false);
        }
        Ok(more)
    }

    fn names(&self) -> &Names {
        self.source.names()
    }

    fn into_names(self: Box<Self>) -> Names {
        self.source.into_names()
    }

    fn dependence(&mut self) -> Result<Option<Dependence>, TraceError> {
        Ok(self.source.dependence()?.filter(|dependence| dependence.len() == self.read))
    }

    fn blame(&self, misfit: Misfit) -> TraceError {
        self.source.blame(misfit)
    }

    fn values(&mut self) -> Result<Option<Values>, TraceError> {
        Ok(self.source.values()?.filter(|values| values.len() == self.read))
    }

    fn blame_values(&self, mismatch: Mismatch) -> TraceError {
        self.source.blame_values(mismatch)
    }

    fn steps(&mut self) -> Option<Steps> {
        self.source.steps()
    }

    fn ending(&self) -> Ending {
        self.source.ending()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_how_much_was_read() {
        let unread = |events, bytes, of| Unread { events, bytes, of }.to_string();
        assert_eq!(unread(356_352, 36, Some(1_000)), "read 356,352 of about 9,898,666 events (3.6 %)");
        assert_eq!(unread(12, 0, None), "read 12 events, and not those after them");
        assert_eq!(grouped(1_000_000), "1,000,000");
    }
}
