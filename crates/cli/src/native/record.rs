//! Running a command whose processes record what they do.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use foretell_native::convert;
use foretell_trace::{Trace, TraceError};

use crate::args::Order;
use crate::error::Failure;

/// Tells the library in the program where to write, see its `start.rs`.
const LOG_FOLDER: &str = "FORETELL_LOG";
/// Tells it what to draw its choices from.
const SEED: &str = "FORETELL_SEED";
/// Tells it how threads are to be recorded.
const ORDER: &str = "FORETELL_ORDER";
/// What logs are called.
const LOG_ENDING: &str = "ftraw";

/// A folder that goes away with its content.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Result<Folder, Failure> {
        let path = env::temp_dir().join(format!("foretell-{}", std::process::id()));
        fs::create_dir_all(&path).map_err(|error| Failure::file(&path, "make", error))?;
        Ok(Folder(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // It is a temporary one: whoever cleans up there will find it.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// How a command is recorded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    /// What the choices of the schedule are drawn from.
    pub(crate) seed: u64,
    /// How threads are recorded.
    pub(crate) order: Order,
}

/// Runs the command and returns what each of its recorded processes did, in the order of their numbers.
pub(crate) fn run(
    program: &Path,
    arguments: &[OsString],
    how: How,
    folder: &Folder,
) -> Result<Vec<Trace>, Failure> {
    let status = Command::new(program)
        .args(arguments)
        .env(LOG_FOLDER, folder.path())
        .env(SEED, how.seed.to_string())
        .env(ORDER, if how.order == Order::Striped { "striped" } else { "serial" })
        .status()
        .map_err(|error| {
            let known = "a program is a file that ends in .cimp, .c or .cpp, or a command";
            Failure::Usage(format!("cannot run {}: {error}; {known}", program.display()))
        })?;
    tell_ending(program, status);
    let logs = logs(folder)?;
    if logs.is_empty() {
        return Err(Failure::Usage(format!(
            "{} has not recorded anything: programs must be built with `foretell cc` or `foretell c++`",
            program.display()
        )));
    }
    logs.iter().map(|path| read(path, program)).collect()
}

fn tell_ending(program: &Path, status: ExitStatus) {
    if let Some(signal) = status.signal() {
        eprintln!(
            "{}: killed by signal {signal}; what was recorded up to then is looked at",
            program.display()
        );
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

fn read(log: &Path, program: &Path) -> Result<Trace, Failure> {
    let bytes = fs::read(log).map_err(|error| Failure::file(log, "read", error))?;
    let recording = convert(&bytes)
        .map_err(|error| Failure::Usage(format!("the recording of {}: {error}", program.display())))?;
    let failed = |error: TraceError| Failure::Trace { file: program.display().to_string(), error };
    Trace::read(Box::new(recording)).map_err(failed)
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
