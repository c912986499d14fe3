//! Running a command whose processes record what they do.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use foretell_native::{LogError, convert};
use foretell_trace::{Trace, TraceError};
use nix::sys::signal::Signal;
use tempfile::TempDir;

use super::watch::{self, EndedBy};
use crate::analysis::time_text;
use crate::args::Order;
use crate::error::Failure;
use crate::output;

/// Tells the library in the program where to write, see its `start.rs`.
const LOG_FOLDER: &str = "FORETELL_LOG";
/// Tells it what to draw its choices from.
const SEED: &str = "FORETELL_SEED";
/// Tells it how threads are to be recorded.
const ORDER: &str = "FORETELL_ORDER";
/// What logs are called.
const LOG_ENDING: &str = "ftraw";

/// A new folder that goes away with its content.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Result<Folder, Failure> {
        let made = tempfile::Builder::new().prefix("foretell-").tempdir();
        made.map(Folder).map_err(|error| Failure::file(&env::temp_dir(), "make a folder in", error))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

/// How a program is recorded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner<'a> {
    /// What the program is called when people are told of it.
    pub(crate) name: &'a Path,
    /// What all choices of the schedule are drawn from.
    pub(crate) seed: u64,
    /// How threads are recorded.
    pub(crate) order: Order,
    /// How long it may run, if there is a limit.
    pub(crate) stop_after: Option<Duration>,
}

/// Runs the command and returns what each of its recorded processes did, in the order of their numbers.
pub(crate) fn run(
    program: &Path,
    arguments: &[OsString],
    manner: Manner<'_>,
    folder: &Folder,
) -> Result<Vec<Trace>, Failure> {
    let name = manner.name;
    let child = command(program, manner, folder).args(arguments).spawn().map_err(|error| {
        let known = "a program is a file that ends in .cimp, .c, .cpp or .rs, or a command";
        Failure::Usage(format!("cannot run {}: {error}; {known}", name.display()))
    })?;
    let waited = watch::wait(child, manner.stop_after);
    let (status, ended_by) =
        waited.map_err(|error| Failure::Usage(format!("cannot wait for {}: {error}", name.display())))?;
    if let Some(ending) = ending(status, ended_by) {
        output::note(&format!("{}: {ending}", name.display()));
    }
    collect(name, folder)
}

/// A command whose processes write down what they do.
pub(crate) fn command(program: &Path, manner: Manner<'_>, folder: &Folder) -> Command {
    let mut command = Command::new(program);
    command
        .env(LOG_FOLDER, folder.path())
        .env(SEED, manner.seed.to_string())
        .env(ORDER, if manner.order == Order::Striped { "striped" } else { "serial" });
    command
}

/// What the processes of a command have written down, in the order of their numbers.
pub(crate) fn collect(name: &Path, folder: &Folder) -> Result<Vec<Trace>, Failure> {
    let logs = logs(folder)?;
    if logs.is_empty() {
        return Err(Failure::Usage(format!(
            "{} has not recorded anything: programs must be built with `foretell cc`, `foretell c++` or \
             `cargo foretell`",
            name.display()
        )));
    }
    let mut traces = Vec::new();
    for path in &logs {
        traces.extend(read(path, name)?);
    }
    if traces.is_empty() {
        return Err(Failure::Usage(format!("{} ended before it recorded anything", name.display())));
    }
    Ok(traces)
}

/// How the program ended, if that is to be told.
fn ending(status: ExitStatus, ended_by: EndedBy) -> Option<String> {
    let kept = "what was recorded up to then is kept";
    match (ended_by, status.signal(), status.code()) {
        (EndedBy::User, ..) => Some(format!("ended by Ctrl-C; {kept}")),
        (EndedBy::Time(limit), ..) => Some(format!("ended after {}; {kept}", time_text(limit))),
        (EndedBy::Itself, Some(signal), _) => {
            let name = Signal::try_from(signal).map_or("unknown", Signal::as_str);
            Some(format!("the program was killed by signal {signal} ({name}); {kept}"))
        }
        (EndedBy::Itself, None, None | Some(0)) => None,
        (EndedBy::Itself, None, Some(code)) => Some(format!("the program ended with exit code {code}")),
    }
}

fn logs(folder: &Folder) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error| Failure::file(folder.path(), "read", error);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder.path()).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|ending| ending == LOG_ENDING) {
            found.push(path);
        }
    }
    found.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    Ok(found)
}

/// What a process did; nothing if it was ended before it began to record.
fn read(log: &Path, program: &Path) -> Result<Option<Trace>, Failure> {
    let bytes = fs::read(log).map_err(|error| Failure::file(log, "read", error))?;
    let recording = match convert(&bytes) {
        Ok(recording) => recording,
        Err(LogError::Empty) => return Ok(None),
        Err(error) => {
            return Err(Failure::Usage(format!("the recording of {}: {error}", program.display())));
        }
    };
    drop(bytes);
    let failed = |error: TraceError| Failure::Trace { file: program.display().to_string(), error };
    Trace::check(recording).map(Some).map_err(failed)
}

/// The name for the trace of the process at `index`: all but the first have their number in it.
pub(crate) fn numbered(path: &Path, index: usize) -> PathBuf {
    if index == 0 {
        return path.to_path_buf();
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (stem, ending) = name.split_once('.').unwrap_or((&name, ""));
    path.with_file_name(format!("{stem}-{}.{ending}", index + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_process_has_the_plain_name() {
        let path = Path::new("out/run.ftr.zst");
        assert_eq!(numbered(path, 0), path);
        assert_eq!(numbered(path, 1), Path::new("out/run-2.ftr.zst"));
    }
}
