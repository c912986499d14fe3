//! Predicts data races: from one recorded run of a multithreaded program it proves which accesses could race in another
//! schedule of the same program. An independent referee checks every race before it is reported.
//!
//! Read a trace into a [`Recording`], [analyse](Recording::analyse) it by a [`Plan`], and look at the findings or
//! [render](text) them:
//!
//! ```
//! use foretell::{Choice, Plan, Recording, Technique};
//!
//! # fn main() -> Result<(), foretell::Error> {
//! // Two threads that write x, of which only one holds the lock.
//! let trace = "main|fork(t)|1\nmain|acq(l)|2\nmain|w(x)|3\nmain|rel(l)|4\nt|w(x)|5\n";
//! let recording = Recording::read("example", trace.as_bytes())?;
//! let plan = Plan { choice: Choice::One(Technique::SyncP), ..Plan::default() };
//! let analysis = recording.analyse(&plan)?;
//! let race = &analysis.races[0];
//! assert_eq!(race.accesses[0].location, "3");
//! assert_eq!(race.accesses[1].location, "5");
//! // The witness: events of the trace in an order in which the last two are next to each other.
//! let witness: Vec<u32> = race.witness().into_iter().flatten().map(|event| event.number()).collect();
//! assert_eq!(witness, [1, 2, 3, 5]);
//! let report = recording.report(analysis)?;
//! assert!(foretell::text(&report)?.contains("race 1"));
//! assert!(foretell::json(&report)?.starts_with('{'));
//! # Ok(())
//! # }
//! ```
//!
//! With `default-features = false` this is the library alone; the feature `cli` adds the programs `foretell` and
//! `cargo-foretell`, and what only they need.
//!
//! Traces are read as docs/trace-format.md describes them, in any of the formats and compressions. Programs that stop
//! an analysis themselves, follow its progress, or have the trace stream through memory use [`engine`].

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

pub use foretell_detect::{Pair, Pairs};
pub use foretell_engine as engine;
pub use foretell_engine::{Analysis, Candidate, Choice, Counts, Error, Found, Note, Plan, Reason};
pub use foretell_predict::Technique;
pub use foretell_report::{RacingAccess, Report};
pub use foretell_trace::{Event, EventId, Trace, TraceError};
pub use foretell_witness::{Finding, Model, Proof};

use foretell_engine::{Description, Input, NoExcerpts, Unattended};
use foretell_report::text::Detail;
use foretell_z3::Pool;

/// A recorded run in memory.
#[derive(Debug)]
pub struct Recording {
    name: String,
    trace: Trace,
}

impl Recording {
    /// Reads the trace in a file; the name's ending or the content tells the format.
    pub fn open(path: impl AsRef<Path>) -> Result<Recording, Error> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let format = foretell_trace::format::Format::from_extension(path);
        let file = File::open(path).map_err(|error| bad(&name, error.into()))?;
        Recording::new(name, Box::new(file), format)
    }

    /// Reads a trace; its content tells the format. `name` is what reports call it.
    pub fn read(name: &str, input: impl Read) -> Result<Recording, Error> {
        // The readers of formats may outlive what is borrowed here.
        let mut bytes = Vec::new();
        let mut input = input;
        input.read_to_end(&mut bytes).map_err(|error| bad(name, error.into()))?;
        Recording::new(name.to_string(), Box::new(io::Cursor::new(bytes)), None)
    }

    fn new(
        name: String,
        input: Box<dyn Read>,
        format: Option<foretell_trace::format::Format>,
    ) -> Result<Recording, Error> {
        let trace = foretell_trace::format::open(input, format).and_then(|source| Trace::read(source));
        match trace {
            Ok(trace) => Ok(Recording { name, trace }),
            Err(error) => Err(bad(&name, error)),
        }
    }

    /// A trace that is in memory already. `name` is what reports call it.
    pub fn from_trace(name: &str, trace: Trace) -> Recording {
        Recording { name: name.to_string(), trace }
    }

    /// The trace.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Runs the techniques of the plan, within its limit of time if there is one. Asks the program `z3`, where it is
    /// installed, about computed values.
    pub fn analyse(&self, plan: &Plan) -> Result<Analysis, Error> {
        let control = Unattended::within(plan.time_limit)
            .map_err(|error| Error::Plan(format!("cannot watch the time: {error}")))?
            .with_solver(Arc::new(Pool::default()));
        foretell_engine::analyse(&Input::of_trace(&self.name, &self.trace), plan, &control)
    }

    /// Makes a report of an analysis of this recording: with stacks, locks, and how each race comes about. Source files
    /// are not read.
    pub fn report(&self, analysis: Analysis) -> Result<Report, Error> {
        let input = Input::of_trace(&self.name, &self.trace);
        let how = Description::default();
        foretell_engine::report(&input, analysis, &how, &mut NoExcerpts, &Unattended::new())
    }
}

fn bad(name: &str, error: TraceError) -> Error {
    Error::Trace { file: name.to_string(), error }
}

/// The report as `foretell predict` prints it.
pub fn text(report: &Report) -> Result<String, Error> {
    foretell_report::text::render(report, Detail::default()).map_err(unwritable)
}

/// The report as `foretell predict --format json` prints it; docs/report.schema.json describes the form.
pub fn json(report: &Report) -> Result<String, Error> {
    foretell_report::json::render(std::slice::from_ref(report)).map_err(unwritable)
}

#[expect(clippy::needless_pass_by_value, reason = "made to be used with `map_err`")]
fn unwritable(error: io::Error) -> Error {
    Error::Plan(format!("the report cannot be written: {error}"))
}
