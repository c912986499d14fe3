//! What foretell answers, as it is shipped.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use xtask::process::{must, release};

/// Builds what goes into programs that are recorded; foretell itself is there already.
pub(crate) fn ready_for_programs() -> Result<(), String> {
    let packages = ["--package", "foretell-llvm", "--package", "foretell-runtime"];
    must("cargo", &[&["build", "--quiet", "--release"][..], &packages].concat())
}

/// The JSON report of a command of foretell, `before` and `after` around what says where to write it. That races were
/// found, that not everything was decided, or that the program itself failed is an answer, if there is a report.
pub(crate) fn report<A: AsRef<OsStr>, B: AsRef<OsStr>>(
    before: &[A],
    after: &[B],
    folder: &Path,
) -> Result<Value, String> {
    let report = folder.join("report.json");
    // One from before must not be taken for the answer.
    let _ = fs::remove_file(&report);
    let mut command = Command::new(release("foretell"));
    command.args(before).args(["--no-progress", "-o"]).arg(&report).args(after);
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    let status = status.map_err(|error| format!("cannot run foretell: {error}"))?;
    let text = fs::read(&report).map_err(|error| format!("{command:?}: {status}; its report: {error}"))?;
    serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", report.display()))
}
