//! Running a command whose processes record what they do.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use foretell_native::{LogError, Why, convert};
use foretell_trace::{Ending, Trace, TraceError};
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
/// Whether the program looks for races in itself, and keeps no record.
const DETECT: &str = "FORETELL_DETECT";
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

/// What a process did.
pub(crate) struct Recording {
    pub(crate) trace: Trace,
    /// Why it is not complete, if it is not.
    pub(crate) cut_because: Option<String>,
}

/// How a command has come to its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    /// The number of its first process.
    pub(crate) process: u32,
    pub(crate) status: ExitStatus,
    pub(crate) by: EndedBy,
}

/// Runs the command and returns what each of its recorded processes did, in the order of their numbers.
pub(crate) fn run(
    program: &Path,
    arguments: &[OsString],
    manner: Manner<'_>,
    folder: &Folder,
) -> Result<Vec<Recording>, Failure> {
    let name = manner.name;
    let child = command(program, manner, folder).args(arguments).spawn().map_err(|error| {
        let known = "a program is a file that ends in .cimp, .c, .cpp or .rs, or a command";
        Failure::Usage(format!("cannot run {}: {error}; {known}", name.display()))
    })?;
    let process = child.id();
    let waited = watch::wait(child, manner.stop_after);
    let (status, by) =
        waited.map_err(|error| Failure::Usage(format!("cannot wait for {}: {error}", name.display())))?;
    if let Some(ending) = ending(status, by) {
        output::note(&format!("{}: {ending}", name.display()));
    }
    collect(name, folder, Ended { process, status, by })
}

/// A command whose processes write down what they do.
pub(crate) fn command(program: &Path, manner: Manner<'_>, folder: &Folder) -> Command {
    let mut command = Command::new(program);
    command
        .env(LOG_FOLDER, folder.path())
        .env(SEED, manner.seed.to_string())
        .env(ORDER, if manner.order == Order::Striped { "striped" } else { "serial" })
        .env(DETECT, "0");
    command
}

/// What the processes of a command have written down, in the order of their numbers.
pub(crate) fn collect(name: &Path, folder: &Folder, ended: Ended) -> Result<Vec<Recording>, Failure> {
    let logs = logs(folder)?;
    if logs.is_empty() {
        return Err(Failure::Usage(format!(
            "{} has not recorded anything: programs must be built with `foretell cc`, `foretell c++` or \
             `cargo foretell`",
            name.display()
        )));
    }
    let mut recordings = Vec::new();
    for path in &logs {
        recordings.extend(read(path, name, ended)?);
    }
    if recordings.is_empty() {
        return Err(Failure::Usage(format!("{} ended before it recorded anything", name.display())));
    }
    Ok(recordings)
}

/// How the program ended, if that is to be told.
fn ending(status: ExitStatus, ended_by: EndedBy) -> Option<String> {
    let kept = "what was recorded up to then is kept";
    match (ended_by, status.signal(), status.code()) {
        (EndedBy::User, ..) => Some(format!("ended by Ctrl-C; {kept}")),
        (EndedBy::Time(limit), ..) => Some(format!("ended after {}; {kept}", time_text(limit))),
        (EndedBy::Itself, Some(signal), _) => {
            Some(format!("the program was killed by {}; {kept}", signal_text(signal)))
        }
        (EndedBy::Itself, None, None | Some(0)) => None,
        (EndedBy::Itself, None, Some(code)) => Some(format!("the program ended with exit code {code}")),
    }
}

fn signal_text(signal: i32) -> String {
    let name = Signal::try_from(signal).map_or("unknown", Signal::as_str);
    format!("signal {signal} ({name})")
}

/// Why what a process has written down is not complete. It knows some reasons itself; others only who has waited for it.
fn why_cut(log: &Path, told: Option<Why>, ended: Ended) -> String {
    match told {
        Some(Why::Deadlock) => return "the program was in a deadlock".to_string(),
        Some(Why::NotWritten(error)) => {
            let error = io::Error::from_raw_os_error(i32::try_from(error).unwrap_or(0));
            return format!("it could not be written on: {error}");
        }
        None => {}
    }
    match (ended.by, ended.status.signal(), ended.status.code()) {
        (EndedBy::User, ..) => "ended by Ctrl-C".to_string(),
        (EndedBy::Time(limit), ..) => format!("ended after {}", time_text(limit)),
        (EndedBy::Itself, Some(signal), _) if is_of(log, ended.process) => {
            format!("the program was killed by {}", signal_text(signal))
        }
        (EndedBy::Itself, None, Some(code)) if is_of(log, ended.process) => {
            format!("the program ended past the recorder, with exit code {code}")
        }
        _ => "the process was killed, or ended past the recorder".to_string(),
    }
}

/// Whether the log is that of this process.
fn is_of(log: &Path, process: u32) -> bool {
    let name = log.file_stem().unwrap_or_default().to_string_lossy();
    // A process that has become another program has several.
    name.split('-').next() == Some(&process.to_string())
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
fn read(log: &Path, program: &Path, ended: Ended) -> Result<Option<Recording>, Failure> {
    let bytes = fs::read(log).map_err(|error| Failure::file(log, "read", error))?;
    let recording = match convert(&bytes) {
        Ok(recording) => recording,
        Err(LogError::Empty) => return Ok(None),
        Err(error) => {
            return Err(Failure::Usage(format!("the recording of {}: {error}", program.display())));
        }
    };
    let told = foretell_native::why_cut(&bytes);
    drop(bytes);
    let failed = |error: TraceError| Failure::Trace { file: program.display().to_string(), error };
    let trace = Trace::check(recording).map_err(failed)?;
    let cut_because = (trace.ending() == Ending::CutShort).then(|| why_cut(log, told, ended));
    Ok(Some(Recording { trace, cut_because }))
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
    fn why_a_recording_is_cut_short_is_told_as_far_as_it_is_known() {
        let killed = Ended { process: 12, status: ExitStatus::from_raw(9), by: EndedBy::Itself };
        let text = |log: &str, told, ended| why_cut(Path::new(log), told, ended);
        assert_eq!(text("12.ftraw", None, killed), "the program was killed by signal 9 (SIGKILL)");
        assert_eq!(text("12-1.ftraw", None, killed), "the program was killed by signal 9 (SIGKILL)");
        assert_eq!(text("123.ftraw", None, killed), "the process was killed, or ended past the recorder");
        let full = Some(Why::NotWritten(28));
        assert!(text("12.ftraw", full, killed).starts_with("it could not be written on: No space"));
        let stopped = Ended { by: EndedBy::Time(Duration::from_secs(3)), ..killed };
        assert_eq!(text("12.ftraw", None, stopped), "ended after 3s");
    }

    #[test]
    fn the_first_process_has_the_plain_name() {
        let path = Path::new("out/run.ftr.zst");
        assert_eq!(numbered(path, 0), path);
        assert_eq!(numbered(path, 1), Path::new("out/run-2.ftr.zst"));
    }
}
