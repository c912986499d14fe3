//! The folder for logs, in which the process also finds and leaves words for the one that has started it.

use std::cell::UnsafeCell;
use std::ffi::CString;

use crate::system;

/// Written once, before there is a second thread.
struct LogFolder(UnsafeCell<Option<String>>);

// SAFETY: it is written once, before there is a second thread, and only read afterwards.
unsafe impl Sync for LogFolder {}

static FOLDER: LogFolder = LogFolder(UnsafeCell::new(None));

/// This is the folder. There is no second thread yet.
pub fn set(folder: String) {
    // SAFETY: there is no other thread yet, and nothing borrows it.
    unsafe { *FOLDER.0.get() = Some(folder) };
}

/// The folder for logs, if the environment names one.
pub fn path() -> Option<&'static str> {
    // SAFETY: it is written before there is a second thread only.
    unsafe { &*FOLDER.0.get() }.as_deref()
}

/// The path of a file in the folder.
pub fn path_of(name: &str) -> Option<CString> {
    CString::new(format!("{}/{name}", path()?)).ok()
}

/// Whether there is such a file in the folder.
pub fn has_file(name: &str) -> bool {
    path_of(name).is_some_and(|path| system::exists(&path))
}

/// Leaves a word for the process that has started the program.
pub fn write_file(name: &str, text: &str) {
    if let Some(path) = path_of(name) {
        system::write_file(&path, text.as_bytes());
    }
}
