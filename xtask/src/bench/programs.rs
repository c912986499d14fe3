//! The programs of a folder, built for a benchmark.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::root;

/// Builds every program of a folder of the repository, in the order of their names; returns where they are.
pub(crate) fn build_all(
    sources: &str,
    into: &Path,
    compiler: &Path,
    options: &[&str],
) -> Result<Vec<PathBuf>, String> {
    let sources = root().join(sources);
    let failed = |error| format!("{}: {error}", sources.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(&sources).map_err(failed)? {
        let source = entry.map_err(failed)?.path();
        if source.extension() == Some(OsStr::new("c")) {
            let program = into.join(source.file_stem().unwrap_or_default());
            build(&source, &program, compiler, options)?;
            found.push(program);
        }
    }
    found.sort();
    Ok(found)
}

fn build(source: &Path, program: &Path, compiler: &Path, options: &[&str]) -> Result<(), String> {
    let mut command = Command::new(compiler);
    let status = command.args(options).args(["-O1", "-g"]).arg(source).arg("-o").arg(program).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{}: {status}", source.display())),
        Err(error) => Err(format!("cannot run {}: {error}", compiler.display())),
    }
}
