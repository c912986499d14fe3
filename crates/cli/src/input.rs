//! Where traces come from: files that can be read again, and standard input that cannot.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;

use foretell_engine::{Input, Opened, Reading, TraceSource};
use foretell_trace::dependence::Misfit;
use foretell_trace::format::{Format, open};
use foretell_trace::values::Mismatch;
use foretell_trace::{Batch, Dependence, Ending, Names, Source, Steps, Trace, TraceError, Values};

use crate::args::{Following, InputArgs};
use crate::error::Failure;
use crate::front_end::Language;
use crate::progress::Progress;
use crate::shell::quoted;
use crate::stop::Watch;

/// A trace, by where it is.
pub(crate) struct TraceFile {
    path: PathBuf,
    format: Option<Format>,
    show_progress: bool,
    following: Following,
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

impl TraceFile {
    pub(crate) fn new(path: &Path, args: &InputArgs) -> TraceFile {
        let format = args.from_format.or_else(|| Format::from_extension(path));
        let (path, show_progress) = (path.to_path_buf(), !args.no_progress);
        TraceFile { path, format, show_progress, following: Following::Full }
    }

    /// The same, where this is used of what the trace tells of dependence.
    pub(crate) fn following(self, following: Following) -> TraceFile {
        TraceFile { following, ..self }
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
        Language::is_cimp(&self.path).then(|| self.name())
    }

    /// Whether reading this and writing to `path` would meet in one file.
    pub(crate) fn is_same_file(&self, path: &Path) -> bool {
        match (self.path.canonicalize(), path.canonicalize()) {
            (Ok(input), Ok(output)) => !self.comes_once() && input == output,
            _ => false,
        }
    }

    /// Whether progress is shown while it is worked on.
    pub(crate) fn shows_progress(&self) -> bool {
        self.show_progress
    }

    /// Begins to read the trace.
    pub(crate) fn open(&self, doing: &str) -> Result<Reading, Failure> {
        Ok(Input::of_source(self).open(doing)?)
    }

    /// Reads the whole trace into memory, or what was read of it when everything is to stop.
    pub(crate) fn load(&self, doing: &str) -> Result<Trace, Failure> {
        let input = Input::of_source(self);
        input.load(doing, &Watch::new(self))?;
        let error = TraceError::TooManyEvents;
        input.into_trace().ok_or_else(|| Failure::Trace { file: self.name(), error })
    }

    /// A bar for the exploration of this trace.
    pub(crate) fn step_progress(&self, doing: &str) -> Progress {
        Progress::of_steps(doing, self.show_progress)
    }

    fn reader(&self, doing: &str) -> Result<Opened, Failure> {
        if self.format.is_none() && Language::is_cimp(&self.path) {
            return Err(Failure::Usage(format!(
                "{} is a program, not a trace; `foretell run` runs it and looks for races, `--trace` of it records the run",
                self.name()
            )));
        }
        let (read, mut of) = (Rc::default(), None);
        let (progress, input) = if self.is_stdin() {
            let progress = Progress::new(doing, None, self.show_progress);
            let input = progress.watch(Counted { inner: io::stdin(), read: Rc::clone(&read) });
            (progress, input)
        } else {
            let failed = |error| Failure::file(&self.path, "read", error);
            let file = File::open(&self.path).map_err(failed)?;
            let data = file.metadata().map_err(failed)?;
            if data.is_dir() {
                return Err(failed(io::Error::from(io::ErrorKind::IsADirectory)));
            }
            if data.is_file() && is_executable(&file) {
                return Err(Failure::Usage(format!(
                    "{} is an executable program, not a trace; to run it and find races: foretell run -- {}",
                    self.name(),
                    quoted(self.path.as_os_str())
                )));
            }
            of = data.is_file().then_some(data.len());
            let progress = Progress::new(doing, of, self.show_progress);
            let input = progress.watch(Counted { inner: file, read: Rc::clone(&read) });
            (progress, input)
        };
        let source = open(input, self.format).map_err(|error| Failure::Trace { file: self.name(), error })?;
        Ok(Opened { source: Box::new(Watched { source, progress }), bytes: (read, of) })
    }
}

/// Whether this is machine code. A file that cannot be read is reported by its reader.
fn is_executable(file: &File) -> bool {
    let mut magic = [0; 4];
    file.read_exact_at(&mut magic, 0).is_ok() && magic == *b"\x7fELF"
}

impl TraceSource for TraceFile {
    fn name(&self) -> String {
        TraceFile::name(self)
    }

    fn open(&self, doing: &str) -> Result<Opened, Box<dyn std::error::Error + Send + Sync>> {
        self.reader(doing).map_err(Into::into)
    }

    fn prepare(&self, trace: Trace) -> Trace {
        self.following.apply(trace)
    }
}

/// A source whose progress is shown until its end.
struct Watched {
    source: Box<dyn Source>,
    progress: Progress,
}

impl Source for Watched {
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, TraceError> {
        let more = self.source.fill(batch)?;
        self.progress.advance(batch.events.len());
        if !more {
            // The screen is free for results.
            self.progress.clear();
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
        self.source.dependence()
    }

    fn blame(&self, misfit: Misfit) -> TraceError {
        self.source.blame(misfit)
    }

    fn values(&mut self) -> Result<Option<Values>, TraceError> {
        self.source.values()
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
