//! Where an output is written. A file has another name until it is complete: what was there before survives a failure,
//! and nothing looks whole that is not.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::unfinished;
use crate::error::Failure;

/// Whether this file could be written, to be asked before there is anything to write: a folder that is not there should
/// not cost a recording.
pub(crate) fn check(path: &Path) -> Result<(), Failure> {
    Target::new(path).try_open().map_err(|error| Failure::file(path, "write", error))
}

/// Where the output is written.
pub(crate) enum Target {
    Stdout,
    /// A device or a pipe, or a file in a folder that takes no new one.
    InPlace(PathBuf),
    /// A file that gets its own name only once it is complete.
    Unfinished {
        name: PathBuf,
        own: PathBuf,
    },
}

impl Target {
    pub(crate) fn new(path: &Path) -> Target {
        if path == Path::new("-") {
            return Target::Stdout;
        }
        // A link stays one.
        let own = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        if own.metadata().is_ok_and(|data| !data.is_file()) {
            return Target::InPlace(own);
        }
        unfinished::remove_stale(&own);
        let name = unfinished::name(&own);
        match unfinished::create(&name) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied && own.exists() => Target::InPlace(own),
            _ => Target::Unfinished { name, own },
        }
    }

    /// Has the output written, and keeps it only if that went well.
    pub(crate) fn fill<T, E>(
        self,
        failed: impl FnOnce(io::Error) -> E,
        write: impl FnOnce(&Target) -> Result<T, E>,
    ) -> Result<T, E> {
        let written = write(&self).and_then(|outcome| self.keep().map(|()| outcome).map_err(failed));
        if written.is_err() {
            self.discard();
        }
        written
    }

    pub(crate) fn open(&self) -> io::Result<Box<dyn Write>> {
        match self {
            Target::Stdout => Ok(Box::new(io::stdout())),
            Target::InPlace(path) => Ok(Box::new(File::options().write(true).truncate(true).open(path)?)),
            Target::Unfinished { name, .. } => Ok(Box::new(unfinished::create(name)?)),
        }
    }

    /// The same for what only the user may read.
    pub(crate) fn open_private(&self) -> io::Result<Box<dyn Write>> {
        let opened = self.open()?;
        if let Target::Unfinished { name, .. } = self {
            fs::set_permissions(name, fs::Permissions::from_mode(0o600))?;
        }
        Ok(opened)
    }

    /// Whether it could be written; leaves nothing behind.
    fn try_open(&self) -> io::Result<()> {
        match self {
            Target::Stdout => Ok(()),
            Target::InPlace(path) => {
                let kind = path.metadata()?.file_type();
                // To open a pipe is to wait for its reader.
                if kind.is_fifo() || kind.is_socket() {
                    return Ok(());
                }
                File::options().write(true).open(path).map(drop)
            }
            Target::Unfinished { .. } => {
                let opened = self.open();
                self.discard();
                opened.map(drop)
            }
        }
    }

    fn keep(&self) -> io::Result<()> {
        match self {
            Target::Stdout | Target::InPlace(_) => Ok(()),
            Target::Unfinished { name, own } => {
                if let Ok(before) = own.metadata() {
                    // Who could read it before can read it now; where that cannot be said, the usual must do.
                    let _ = fs::set_permissions(name, before.permissions());
                }
                fs::rename(name, own)
            }
        }
    }

    fn discard(&self) {
        if let Target::Unfinished { name, .. } = self {
            // It may not even have been created.
            let _ = fs::remove_file(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn write(path: &Path, text: &str, is_whole: bool) -> io::Result<()> {
        Target::new(path).fill(
            |error| error,
            |target| {
                target.open()?.write_all(text.as_bytes())?;
                if is_whole { Ok(()) } else { Err(io::Error::other("no more")) }
            },
        )
    }

    #[test]
    fn what_cannot_be_written_is_known_before() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(check(folder.path()).is_err(), "a folder is no file");
        assert!(check(&folder.path().join("missing/report.json")).is_err());
        for good in [folder.path().join("report.json"), "-".into(), "/dev/null".into()] {
            check(&good).expect("it can be written");
        }
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0, "nothing is left over");
    }

    #[test]
    fn only_what_is_whole_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, link) = (folder.path().join("report.json"), folder.path().join("latest.json"));
        assert!(write(&path, "half", false).is_err() && !path.exists());
        write(&path, "first", true).expect("it is written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("a private file");
        symlink(&path, &link).expect("a link");
        assert!(write(&link, "half", false).is_err());
        assert_eq!(fs::read_to_string(&path).expect("a file"), "first");
        write(&link, "second", true).expect("it is written");
        assert_eq!(fs::read_to_string(&path).expect("a file"), "second");
        assert!(link.is_symlink());
        assert_eq!(path.metadata().expect("a file").permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 2, "nothing is left over");
    }
}
