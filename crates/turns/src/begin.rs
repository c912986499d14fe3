//! How a recording begins: what the environment says, and the files that are made.

use std::ffi::{CStr, CString};

use foretell_wire::schedule::{self, Schedule};
use foretell_wire::settings::{self, Setting};

use crate::file;
use crate::folder;
use crate::kept::{KeptFile, LOG};
use crate::rotation;
use crate::scheduler::replay;
use crate::system::{self, errno, process_id, say};

/// Where processes count how long their logs are.
const USED: &str = "used";

/// The same folder wherever the process goes.
pub fn absolute(folder: String) -> String {
    let path = std::path::absolute(&folder);
    path.ok().and_then(|path| path.into_os_string().into_string().ok()).unwrap_or(folder)
}

/// All logs together may be so long as the environment says.
pub fn limit_logs() {
    if let (Some(limit), Some(path)) =
        (variable(&settings::LOG_LIMIT).and_then(|text| text.parse().ok()), folder::path_of(USED))
    {
        file::limit(limit, &path);
        if variable(&settings::LOG_KEEP).as_deref() == Some(settings::LAST) {
            rotation::expect_room();
        }
    }
}

/// If there is a schedule, this process follows it, and no other: it takes the file away.
pub fn follow_schedule() {
    let taken = c"schedule.taken";
    let Some(path) = folder::path_of(schedule::FILE) else { return };
    let Some(to) = folder::path_of(&taken.to_string_lossy()) else { return };
    // SAFETY: both paths end with a zero.
    if unsafe { libc::rename(path.as_ptr(), to.as_ptr()) } != 0 {
        return;
    }
    match system::map_text(&to).map(Schedule::parse) {
        Some(Ok(schedule)) => {
            replay::follow(&schedule);
        }
        Some(Err(problem)) => say(&format!("the schedule cannot be followed: {problem}")),
        None => say("the schedule cannot be read"),
    }
}

/// Makes the file for the log of this process; returns its name without the ending. A process that has become another
/// program has more than one.
pub fn open_log(folder: &str) -> Option<String> {
    let name = |number: u32| match number {
        0 => format!("{folder}/{}", process_id()),
        _ => format!("{folder}/{}-{number}", process_id()),
    };
    let mut number = 0;
    let mut created = create(&LOG, &name(number), "ftraw");
    while created.is_none() && errno() == libc::EEXIST {
        number += 1;
        created = create(&LOG, &name(number), "ftraw");
    }
    if created.is_none() {
        let error = std::io::Error::from_raw_os_error(errno());
        say(&format!("nothing is recorded: cannot write to {folder}: {error}"));
    }
    created.map(|()| name(number))
}

/// Makes a new file, which is the user's alone: what the program does may be a secret.
pub fn create(kept: &KeptFile, name: &str, ending: &str) -> Option<()> {
    const PRIVATE: libc::mode_t = 0o600;
    let path = CString::new(format!("{name}.{ending}")).ok()?;
    let how = libc::O_CREAT | libc::O_EXCL | libc::O_RDWR | libc::O_CLOEXEC;
    // SAFETY: the path ends with a zero.
    let file = unsafe { libc::open(path.as_ptr(), how, PRIVATE) };
    if file < 0 {
        return None;
    }
    // SAFETY: the process may have been denied access even to itself.
    unsafe { libc::fchmod(file, PRIVATE) };
    kept.keep(file, path);
    Some(())
}

/// A variable of the environment. There is one thread.
pub fn variable(setting: &Setting) -> Option<String> {
    // SAFETY: the name ends with a zero, and there is one thread.
    let value = unsafe { libc::getenv(setting.name.as_ptr()) };
    // SAFETY: it is not null, and the environment is of texts that end with a zero; there is one thread, so nothing
    // changes it.
    let value = (!value.is_null()).then(|| unsafe { CStr::from_ptr(value) })?;
    Some(value.to_string_lossy().into_owned())
}
