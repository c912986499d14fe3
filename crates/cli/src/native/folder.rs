//! Folders for the logs of a run. What a program does may be a secret, so they are the user's alone; and they go when
//! the run ends, or when a later run finds that one was killed.
//!
//! A run holds a lock on a file in its folder, and a recorded process one on its log: as long as either is held,
//! the folder is in use.

use std::env;
use std::fs::{self, File, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

use rustix::process::geteuid;
use tempfile::TempDir;

/// What the names of folders begin with.
const PREFIX: &str = "foretell-";
/// The file whose lock the run holds, and its name until it does.
const LOCK: &str = "run.lock";
const LOCK_TO_BE: &str = "run.lock.new";
/// What logs are called.
const LOG_ENDING: &str = "ftraw";
/// The user may do everything, and others nothing.
const PRIVATE_FOLDER: u32 = 0o700;
const PRIVATE_FILE: u32 = 0o600;
/// A folder without a lock was killed while it was made, unless it is about to get one.
const MADE_BY_NOW: Duration = Duration::from_secs(60);

/// A folder that goes away with its content.
pub(super) struct Private {
    made: TempDir,
    /// Held for as long as the folder is in use.
    _lock: File,
}

impl Private {
    /// Makes a new one, and removes what killed runs have left.
    pub(super) fn new() -> io::Result<Private> {
        static CLEAN: Once = Once::new();
        CLEAN.call_once(|| remove_stale(&env::temp_dir()));
        Private::new_in(&env::temp_dir())
    }

    fn new_in(parent: &Path) -> io::Result<Private> {
        let private = || Permissions::from_mode(PRIVATE_FOLDER);
        let made = tempfile::Builder::new().prefix(PREFIX).permissions(private()).tempdir_in(parent)?;
        // The mask of the process may have taken rights away, even from the user.
        fs::set_permissions(made.path(), private())?;
        // It has its name only once it is locked: others find either no lock, or one that is held.
        let new = made.path().join(LOCK_TO_BE);
        let lock = File::options().write(true).create_new(true).mode(PRIVATE_FILE).open(&new)?;
        lock.set_permissions(Permissions::from_mode(PRIVATE_FILE))?;
        // Without file locks, no process removes the folder as stale either.
        let _ = lock.try_lock();
        fs::rename(new, made.path().join(LOCK))?;
        Ok(Private { made, _lock: lock })
    }

    pub(super) fn path(&self) -> &Path {
        self.made.path()
    }
}

/// Removes the folders of runs that were killed. Whatever cannot be removed stays where it is.
fn remove_stale(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_named_so = entry.file_name().to_string_lossy().starts_with(PREFIX);
        if is_named_so && entry.metadata().is_ok_and(|about| about.is_dir() && is_mine(&about)) {
            remove_if_stale(&entry.path());
        }
    }
}

fn is_mine(about: &fs::Metadata) -> bool {
    about.uid() == geteuid().as_raw()
}

fn remove_if_stale(folder: &Path) {
    let Some(_lock) = unused(&folder.join(LOCK)) else {
        let is_old = |about: &fs::Metadata| {
            about.modified().is_ok_and(|made| made.elapsed().is_ok_and(|age| age > MADE_BY_NOW))
        };
        if !folder.join(LOCK).exists() && fs::metadata(folder).is_ok_and(|about| is_old(&about)) {
            // These succeed only if nothing else is there.
            let _ = fs::remove_file(folder.join(LOCK_TO_BE));
            let _ = fs::remove_dir(folder);
        }
        return;
    };
    if recorders(folder).is_empty() {
        // The next run will try again.
        let _ = fs::remove_dir_all(folder);
    }
}

/// The logs in the folder that a process still writes to.
pub(super) fn recorders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let logs = entries.filter(|path| path.extension().is_some_and(|ending| ending == LOG_ENDING));
    logs.filter(|log| is_in_use(log)).collect()
}

/// The file, locked, if no other process has locked it.
fn unused(path: &Path) -> Option<File> {
    let file = File::open(path).ok()?;
    file.try_lock().ok().map(|()| file)
}

fn is_in_use(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("it is there").permissions().mode() & 0o777
    }

    #[test]
    fn folders_are_private_and_go_with_their_content() {
        let parent = tempfile::tempdir().expect("a folder");
        let made = Private::new_in(parent.path()).expect("a folder");
        assert_eq!(mode(made.path()), PRIVATE_FOLDER);
        assert_eq!(mode(&made.path().join(LOCK)), PRIVATE_FILE);
        let path = made.path().to_path_buf();
        drop(made);
        assert!(!path.exists());
    }

    /// A folder as a run leaves it that was killed.
    fn left(parent: &Path, name: &str) -> PathBuf {
        let folder = parent.join(name);
        fs::create_dir(&folder).expect("a folder");
        fs::write(folder.join(LOCK), "").expect("a file");
        fs::write(folder.join("12.ftraw"), "log").expect("a file");
        folder
    }

    /// Whether the folder is taken for stale. A process that another test starts holds all locks of this one until it
    /// becomes another program, so that may take a moment.
    fn is_removed(folder: &Path) -> bool {
        (0..1_000).any(|_| {
            remove_stale(folder.parent().expect("it is in a folder"));
            if folder.exists() {
                std::thread::sleep(Duration::from_millis(10));
            }
            !folder.exists()
        })
    }

    #[test]
    fn only_what_is_left_of_killed_runs_is_removed() {
        let parent = tempfile::tempdir().expect("a folder");
        let live = Private::new_in(parent.path()).expect("a folder");
        let stale = left(parent.path(), "foretell-stale");
        let recording = left(parent.path(), "foretell-recording");
        let log = File::open(recording.join("12.ftraw")).expect("a file");
        log.lock_shared().expect("a lock");
        let other = left(parent.path(), "another-program");
        let begun = parent.path().join("foretell-begun");
        fs::create_dir(&begun).expect("a folder");
        assert!(is_removed(&stale));
        assert!(live.path().exists() && recording.exists() && other.exists() && begun.exists());
        assert_eq!(recorders(&recording), [recording.join("12.ftraw")]);
        let long_ago = SystemTime::now() - 2 * MADE_BY_NOW;
        File::open(&begun).and_then(|folder| folder.set_modified(long_ago)).expect("an old folder");
        drop(log);
        assert!(is_removed(&recording));
        assert!(live.path().exists() && other.exists() && !begun.exists());
    }
}
