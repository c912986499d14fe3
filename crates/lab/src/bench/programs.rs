//! The programs of a folder, built for a benchmark.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::process::root;

/// The files with this ending in a folder of the repository, in the order of their names.
pub(crate) fn sources(folder: &str, ending: &str) -> Result<Vec<PathBuf>, String> {
    let folder = root().join(folder);
    let failed = |error| format!("{}: {error}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let source = entry.map_err(failed)?.path();
        if source.extension() == Some(OsStr::new(ending)) {
            found.push(source);
        }
    }
    found.sort();
    Ok(found)
}

/// Builds every C program of a folder of the repository, in the order of their names; returns where they are.
pub(crate) fn build_all(
    folder: &str,
    into: &Path,
    compiler: &Path,
    options: &[&str],
) -> Result<Vec<PathBuf>, String> {
    let mut built = Vec::new();
    for source in sources(folder, "c")? {
        let program = into.join(source.file_stem().unwrap_or_default());
        build(&source, &program, compiler, options)?;
        built.push(program);
    }
    Ok(built)
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
