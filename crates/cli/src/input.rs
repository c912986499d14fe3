//! Where traces come from: files that can be read again, and standard input that cannot.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;

use foretell_report::TraceInfo;
use foretell_report::coverage::Counter;
use foretell_trace::check::Checker;
use foretell_trace::dependence::Misfit;
use foretell_trace::format::{Format, open};
use foretell_trace::values::Mismatch;
use foretell_trace::{
    Batch, Dependence, Ending, Event, EventId, Names, Source, Steps, Trace, TraceError, Values,
};

use crate::args::{Following, InputArgs};
use crate::error::Failure;
use crate::program::is_program;
use crate::progress::Progress;
use crate::stop;

/// A trace, by where it is.
pub(crate) struct Input {
    path: PathBuf,
    format: Option<Format>,
    show_progress: bool,
    following: Following,
    /// What was read when it was last not read to its end.
    unread: Rc<RefCell<Option<Unread>>>,
}

/// How far a trace was read that was not read to its end.
#[derive(Clone, Debug)]
pub(crate) struct Unread {
    /// How many events were read.
    pub(crate) events: usize,
    /// That in words, and how many there are about.
    pub(crate) text: String,
}

/// How many events were read, of about how many: there are as many per byte in what was not read.
pub(crate) fn read_text(events: usize, read: u64, of: Option<u64>) -> String {
    let events = u64::try_from(events).unwrap_or(u64::MAX);
    let of = of.filter(|&of| read > 0 && read < of);
    let Some(of) = of else { return format!("read {} events, and not those after them", grouped(events)) };
    let about = u128::from(events) * u128::from(of) / u128::from(read);
    let permille = u128::from(read) * 1000 / u128::from(of);
    format!(
        "read {} of about {} events ({}.{} %)",
        grouped(events),
        grouped(u64::try_from(about).unwrap_or(u64::MAX)),
        permille / 10,
        permille % 10
    )
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

/// How far the bytes of an input were read.
#[derive(Clone, Debug)]
struct Position {
    read: Rc<Cell<u64>>,
    /// How many there are, where that is known.
    of: Option<u64>,
    /// Where it is said that the rest was left out.
    unread: Rc<RefCell<Option<Unread>>>,
}

impl Position {
    /// No more than so many events will be read.
    fn stop(&self, events: usize) {
        let text = read_text(events, self.read.get(), self.of);
        *self.unread.borrow_mut() = Some(Unread { events, text });
    }
}

/// Counts bytes.
struct Counted<R> {
    inner: R,
    read: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.read.set(self.read.get() + length as u64);
        Ok(length)
    }
}

impl Input {
    pub(crate) fn new(path: &Path, args: &InputArgs) -> Input {
        let format = args.from_format.or_else(|| Format::from_extension(path));
        Input {
            path: path.to_path_buf(),
            format,
            show_progress: !args.no_progress,
            following: Following::Full,
            unread: Rc::default(),
        }
    }

    /// The same, where this is used of what the trace tells of dependence.
    pub(crate) fn following(self, following: Following) -> Input {
        Input { following, ..self }
    }

    /// How far it was read, if it was not read to its end.
    pub(crate) fn unread(&self) -> Option<Unread> {
        self.unread.borrow().clone()
    }

    /// Standard input can be one of the traces, but not two.
    pub(crate) fn refuse_repeated_stdin(paths: &[PathBuf]) -> Result<(), Failure> {
        if paths.iter().filter(|path| path.as_path() == Path::new("-")).count() > 1 {
            return Err(Failure::Usage("standard input (`-`) is given more than once".to_string()));
        }
        Ok(())
    }

    /// The name as people know it.
    pub(crate) fn name(&self) -> String {
        if self.is_stdin() { "<stdin>".to_string() } else { self.path.display().to_string() }
    }

    fn is_stdin(&self) -> bool {
        self.path == Path::new("-")
    }

    /// Whether this comes by once only, like standard input and all pipes.
    pub(crate) fn comes_once(&self) -> bool {
        self.is_stdin() || self.path.metadata().is_ok_and(|data| !data.is_file() && !data.is_dir())
    }

    /// When the recording was written, where that can be known: what runs was written before.
    pub(crate) fn written(&self) -> Option<SystemTime> {
        self.path.metadata().and_then(|data| data.modified()).ok()
    }

    /// The program, if the trace is what a program of one file did.
    pub(crate) fn program(&self) -> Option<String> {
        is_program(&self.path).then(|| self.name())
    }

    /// Whether reading this and writing to `path` would meet in one file.
    pub(crate) fn is_same_file(&self, path: &Path) -> bool {
        match (self.path.canonicalize(), path.canonicalize()) {
            (Ok(input), Ok(output)) => !self.comes_once() && input == output,
            _ => false,
        }
    }

    /// Begins to read the trace.
    pub(crate) fn open(&self, doing: &str) -> Result<Reading, Failure> {
        if self.format.is_none() && is_program(&self.path) {
            return Err(Failure::Usage(format!(
                "{} is a program, not a trace; `foretell run` runs it and looks for races, `--trace` of it records the run",
                self.name()
            )));
        }
        *self.unread.borrow_mut() = None;
        let mut position = Position { read: Rc::default(), of: None, unread: Rc::clone(&self.unread) };
        let read = Rc::clone(&position.read);
        let (progress, input) = if self.is_stdin() {
            let progress = Progress::new(doing, None, self.show_progress);
            let input = progress.watch(Counted { inner: io::stdin(), read });
            (progress, input)
        } else {
            let failed = |error| Failure::file(&self.path, "read", error);
            let file = File::open(&self.path).map_err(failed)?;
            let data = file.metadata().map_err(failed)?;
            if data.is_dir() {
                return Err(failed(io::Error::from(io::ErrorKind::IsADirectory)));
            }
            position.of = data.is_file().then_some(data.len());
            let progress = Progress::new(doing, position.of, self.show_progress);
            let input = progress.watch(Counted { inner: file, read });
            (progress, input)
        };
        let source = open(input, self.format).map_err(|error| self.bad(error))?;
        Ok(Reading {
            name: self.name(),
            source,
            checker: Checker::default(),
            batch: Batch::default(),
            read: 0,
            coverage: Counter::default(),
            position,
            progress,
        })
    }

    /// Reads the whole trace into memory, or what was read of it when everything is to stop.
    pub(crate) fn load(&self, doing: &str) -> Result<Trace, Failure> {
        self.load_up_to(doing, usize::MAX)?.ok_or_else(|| self.bad(TraceError::TooManyEvents))
    }

    /// As [`Input::load`], if the trace has no more events than `limit`.
    pub(crate) fn load_up_to(&self, doing: &str, limit: usize) -> Result<Option<Trace>, Failure> {
        let Reading { source, position, progress, .. } = self.open(doing)?;
        let too_large = Rc::new(Cell::new(false));
        let watched =
            Watched { source, position, progress, read: 0, limit, too_large: Rc::clone(&too_large) };
        let read = Trace::read(Box::new(watched));
        if too_large.get() {
            return Ok(None);
        }
        read.map(|trace| Some(self.following.apply(trace))).map_err(|error| self.bad(error))
    }

    /// What is to be said of a trace that is not kept.
    pub(crate) fn count(&self, doing: &str) -> Result<TraceInfo, Failure> {
        let mut reading = self.open(doing)?;
        while reading.next()?.is_some() {
            if stop::is_requested() {
                reading.stop();
                break;
            }
        }
        Ok(reading.info())
    }

    /// A bar for work on pairs of this trace.
    pub(crate) fn work_progress(&self, doing: &str) -> Progress {
        Progress::of_work(doing, self.show_progress)
    }

    /// A bar for the exploration of this trace.
    pub(crate) fn step_progress(&self, doing: &str) -> Progress {
        Progress::of_steps(doing, self.show_progress)
    }

    fn bad(&self, error: TraceError) -> Failure {
        Failure::Trace { file: self.name(), error }
    }
}

/// A trace that is being read and checked, batch by batch.
pub(crate) struct Reading {
    name: String,
    source: Box<dyn Source>,
    checker: Checker,
    batch: Batch,
    read: usize,
    coverage: Counter,
    position: Position,
    progress: Progress,
}

impl Reading {
    /// The rest is left out, if there is any.
    pub(crate) fn stop(&mut self) {
        // If it cannot be read, it is there.
        if self.source.fill(&mut self.batch).unwrap_or(true) {
            self.position.stop(self.read);
        }
    }

    /// The next events with the id of the first, checked; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<(EventId, &[Event])>, Failure> {
        let begin = self.read;
        if !self.next_checked(Checker::check_batch)? {
            return Ok(None);
        }
        // The check has numbered them all.
        Ok(EventId::from_index(begin).map(|first| (first, self.batch.events.as_slice())))
    }

    /// Has the next events checked by `check`; `false` at the end.
    pub(crate) fn next_checked(
        &mut self,
        check: impl FnOnce(&mut Checker, &mut Batch, &Names) -> Result<(), TraceError>,
    ) -> Result<bool, Failure> {
        let failed = |error| Failure::Trace { file: self.name.clone(), error };
        if !self.source.fill(&mut self.batch).map_err(failed)? {
            self.checker.finish(self.source.ending()).map_err(failed)?;
            return Ok(false);
        }
        check(&mut self.checker, &mut self.batch, self.source.names()).map_err(failed)?;
        self.coverage.batch(&self.batch.events, self.source.names());
        self.read += self.batch.events.len();
        self.progress.advance(self.batch.events.len());
        Ok(true)
    }

    /// The next events as they stand in the input; `false` at the end.
    pub(crate) fn next_unchecked(&mut self) -> Result<bool, Failure> {
        let more = self.source.fill(&mut self.batch);
        let failed = |error| Failure::Trace { file: self.name.clone(), error };
        let more = more.map_err(failed)?;
        self.read += self.batch.events.len();
        self.progress.advance(self.batch.events.len());
        match (self.read, self.ending()) {
            (0, Ending::Complete) => Err(failed(TraceError::Empty)),
            (0, Ending::CutShort) => Err(failed(TraceError::CutToNothing)),
            _ => Ok(more),
        }
    }

    /// The events that the last call has read, and what their ids stand for.
    pub(crate) fn batch(&mut self) -> (&mut Batch, &Names) {
        (&mut self.batch, self.source.names())
    }

    pub(crate) fn names(&self) -> &Names {
        self.source.names()
    }

    /// No more will be read: the screen is free for results.
    pub(crate) fn done(&self) {
        self.progress.clear();
    }

    /// What is to be said of what was read. To be asked once, at the end.
    pub(crate) fn info(&mut self) -> TraceInfo {
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
    pub(crate) fn checker(&self) -> &Checker {
        &self.checker
    }

    /// How many events have been read.
    pub(crate) fn events(&self) -> usize {
        self.read
    }

    /// How the recording ended; known at the end.
    pub(crate) fn ending(&self) -> Ending {
        self.source.ending()
    }

    /// Which reads matter, if the trace tells; to be asked once, at the end.
    pub(crate) fn dependence(&mut self) -> Result<Option<Dependence>, TraceError> {
        self.source.dependence()
    }

    /// How values are computed, if the trace tells; to be asked once, after [`Reading::dependence`].
    pub(crate) fn values(&mut self) -> Result<Option<Values>, TraceError> {
        self.source.values()
    }

    /// How far threads have come, if the trace tells; to be asked once, at the end.
    pub(crate) fn steps(&mut self) -> Option<Steps> {
        self.source.steps()
    }

    /// Whether the recording ended in the middle; known at the end.
    pub(crate) fn is_cut_short(&self) -> bool {
        self.ending() == Ending::CutShort
    }

    pub(crate) fn into_names(self) -> Names {
        self.source.into_names()
    }
}

/// A source whose progress is shown, and which ends early if it is too long or everything is to stop.
struct Watched {
    source: Box<dyn Source>,
    position: Position,
    progress: Progress,
    /// How many events have been read.
    read: usize,
    /// How many events may be read.
    limit: usize,
    /// Set when there are more.
    too_large: Rc<Cell<bool>>,
}

impl Source for Watched {
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, TraceError> {
        if self.read > 0 && stop::is_requested() {
            if self.source.fill(batch)? {
                self.position.stop(self.read);
            }
            batch.clear();
            return Ok(false);
        }
        let more = self.source.fill(batch)?;
        self.progress.advance(batch.events.len());
        self.read += batch.events.len();
        if self.read > self.limit {
            self.too_large.set(true);
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
    fn it_is_told_how_much_was_read() {
        assert_eq!(read_text(356_352, 36, Some(1_000)), "read 356,352 of about 9,898,666 events (3.6 %)");
        assert_eq!(read_text(12, 0, None), "read 12 events, and not those after them");
        assert_eq!(grouped(1_000_000), "1,000,000");
    }
}
