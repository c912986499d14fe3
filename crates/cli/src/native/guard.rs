//! What is left to be done when foretell itself is killed: programs that it has started go on, and folders stay.
//!
//! A second process waits for that. It gets the name of each folder that programs record into, and of each that is
//! gone. When the pipe to it is closed, however foretell has come to its end, it kills what still records into the
//! other folders, and removes them.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufRead as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, ExitCode, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use foretell_wire::settings;

use super::processes::end_left;

/// Tells a process that it is the guard.
const AS_GUARD: &str = settings::AS_GUARD.text();
/// What messages begin with: a folder is there, or gone. They end with a zero.
const IS_THERE: u8 = b'+';
const IS_GONE: u8 = b'-';
const END: u8 = 0;

/// The pipe to the guard, once there is one.
static GUARD: Mutex<Option<ChildStdin>> = Mutex::new(None);

/// A folder that programs record into, as long as this lives.
#[derive(Debug)]
pub(super) struct Guarded(PathBuf);

impl Guarded {
    /// Has the folder looked after. If there can be no guard, nothing is.
    pub(super) fn new(folder: &Path) -> Guarded {
        notify(IS_THERE, folder);
        Guarded(folder.to_path_buf())
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        notify(IS_GONE, &self.0);
    }
}

fn notify(what: u8, folder: &Path) {
    let mut guard = GUARD.lock().unwrap_or_else(PoisonError::into_inner);
    if guard.is_none() {
        *guard = start().ok();
    }
    let message = [&[what], folder.as_os_str().as_bytes(), &[END]].concat();
    // There may be no guard.
    let _ = guard.as_mut().map(|pipe| pipe.write_all(&message));
}

/// Starts the guard. What a terminal sends to us it does not hear.
fn start() -> io::Result<ChildStdin> {
    let mut command = Command::new(env::current_exe()?);
    command.env(AS_GUARD, "1").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.current_dir("/").process_group(0).spawn()?;
    child.stdin.take().ok_or_else(|| io::Error::other("there is no pipe"))
}

/// Whether this process is the guard; if so, it has done its work.
pub(crate) fn become_guard() -> Option<ExitCode> {
    env::var_os(AS_GUARD)?;
    let mut folders = BTreeSet::new();
    for message in io::stdin().lock().split(END) {
        let Ok(message) = message else { break };
        match message.split_first() {
            Some((&IS_THERE, folder)) => folders.insert(PathBuf::from(OsStr::from_bytes(folder))),
            Some((_, folder)) => folders.remove(Path::new(OsStr::from_bytes(folder))),
            None => false,
        };
    }
    folders.iter().for_each(|folder| clean(folder));
    Some(ExitCode::SUCCESS)
}

/// Kills what records into the folder, and removes it. A process may just have started another.
fn clean(folder: &Path) {
    const ROUNDS: u32 = 50;
    const PAUSE: Duration = Duration::from_millis(20);
    for _ in 0..ROUNDS {
        if end_left(folder) == 0 {
            break;
        }
        thread::sleep(PAUSE);
    }
    // Another process may have removed it.
    let _ = fs::remove_dir_all(folder);
}
