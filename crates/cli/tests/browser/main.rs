//! The page that a report is, in a real browser.

mod chromium;
mod front;
mod hostile;
mod large;
mod reading;

use std::path::{Path, PathBuf};

use foretell_testkit::process::limited;

/// A folder for one test, empty at its beginning.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("browser").join(test);
    // It may not be there.
    drop(std::fs::remove_dir_all(&folder));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// The page that foretell makes of a trace with this text, by these techniques.
fn page(folder: &Path, trace: &str, techniques: &str) -> PathBuf {
    std::fs::write(folder.join("t.std"), trace).expect("a file");
    let mut command = limited(env!("CARGO_BIN_EXE_foretell"));
    command.args(["predict", "--technique", techniques, "t.std", "--output", "report.html"]);
    let ran =
        command.current_dir(folder).env_remove("FORETELL_SUPPRESSIONS").output().expect("foretell runs");
    assert!(ran.status.code().is_some_and(|code| code != 2), "{}", String::from_utf8_lossy(&ran.stderr));
    folder.join("report.html")
}
