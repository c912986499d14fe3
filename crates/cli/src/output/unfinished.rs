//! Files that are being written: they have another name until they are complete. What a killed run has left goes when
//! the same file is written again.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::geteuid;

/// How such names end.
const ENDING: &str = ".part";
/// Between its last byte and its renaming, a file looks abandoned.
const COMPLETED_BY_NOW: Duration = Duration::from_secs(10);

/// What the file is called until it is complete.
pub(super) fn name(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(format!(".{}{ENDING}", std::process::id()));
    name.into()
}

/// Makes the file, locked as long as it is written.
pub(super) fn create(path: &Path) -> io::Result<File> {
    let file = File::create(path)?;
    // Where there are no locks, its age must do.
    let _ = file.try_lock();
    Ok(file)
}

/// Removes what killed runs have left of this file.
pub(super) fn remove_stale(path: &Path) {
    let Some(own) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else { return };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if process(&entry.file_name().to_string_lossy(), &own).is_some_and(|process| !is_running(process))
            && is_stale(&entry.path())
        {
            // The next run will try again.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The process that writes this file, if it will be called so.
fn process(name: &str, own: &str) -> Option<u32> {
    name.strip_prefix(own)?.strip_prefix('.')?.strip_suffix(ENDING)?.parse().ok()
}

fn is_running(process: u32) -> bool {
    Path::new(&format!("/proc/{process}")).exists()
}

/// Whether the file is the user's, was not written for a while, and is not locked by a writer.
fn is_stale(path: &Path) -> bool {
    let Ok(about) = fs::symlink_metadata(path) else { return false };
    let is_old = about.modified().is_ok_and(|time| time.elapsed().is_ok_and(|age| age > COMPLETED_BY_NOW));
    about.is_file()
        && about.uid() == geteuid().as_raw()
        && is_old
        && File::open(path).is_ok_and(|file| file.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    /// A process that is not there: the kernel gives no such number.
    const GONE: u32 = u32::MAX;

    #[test]
    fn only_what_killed_runs_have_left_of_a_file_is_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let old = |name: String| {
            let path = folder.path().join(name);
            let file = File::create(&path).expect("a file");
            file.set_modified(SystemTime::now() - 2 * COMPLETED_BY_NOW).expect("an old file");
            path
        };
        let stale = old(format!("run.ftr.{GONE}.part"));
        let kept = [
            old("run.ftr".to_string()),
            old(format!("run.ftr.{}.part", std::process::id())),
            old(format!("other.ftr.{GONE}.part")),
            old(format!("run.ftr.{GONE}.part.ftr")),
        ];
        let written = old(format!("run.ftr.{}.part", GONE - 1));
        let writer = File::open(&written).expect("a file");
        writer.lock().expect("a lock");
        let new = folder.path().join(format!("run.ftr.{}.part", GONE - 2));
        create(&new).expect("a file");
        remove_stale(&folder.path().join("run.ftr"));
        assert!(!stale.exists());
        assert!(kept.iter().chain([&written, &new]).all(|path| path.exists()));
        drop(writer);
        remove_stale(&folder.path().join("run.ftr"));
        assert!(!written.exists());
    }
}
