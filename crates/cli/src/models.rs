//! `foretell models`: models of library functions, of foretell and of the user.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use foretell_models::Table;
use foretell_report::Report;
use foretell_wire::settings;

use crate::Outcome;
use crate::args::{ModelsArgs, ModelsCommand};
use crate::error::Failure;
use crate::output::write;

/// The option of `run`, `hunt`, `cargo foretell` and the compiler wrappers.
const OPTION: &str = "--models";

/// Runs the command.
pub(crate) fn run(args: &ModelsArgs) -> Result<Outcome, Failure> {
    let text = match &args.command {
        ModelsCommand::List { files, name } => list(files, name.as_deref())?,
        ModelsCommand::Check { files } => check(files)?,
        ModelsCommand::Suggest { report } => suggest(report)?,
    };
    write(None, &text)?;
    Ok(Outcome::Clean)
}

fn read(file: &Path) -> Result<Table, Failure> {
    let bad = |reason: String| Failure::Usage(format!("{}: {reason}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| bad(error.to_string()))?;
    Table::parse(&text).map_err(|error| bad(error.to_string()))
}

/// The files of the environment and then these, as the compiler pass gets them in [`settings::MODELS`]; what it would
/// reject is rejected before anything is compiled.
pub(crate) fn for_pass(files: &[PathBuf]) -> Result<OsString, Failure> {
    let known = std::env::var_os(settings::MODELS.text()).unwrap_or_default();
    let known = std::env::split_paths(&known).filter(|file| !file.as_os_str().is_empty());
    let all: Vec<PathBuf> = known.chain(files.iter().cloned()).collect();
    let mut absolute = Vec::new();
    for file in &all {
        read(file)?;
        absolute.push(std::path::absolute(file).map_err(|error| Failure::file(file, "find", error))?);
    }
    std::env::join_paths(absolute)
        .map_err(|_| Failure::Usage("a file with models cannot have a `:` in its name".to_string()))
}

/// Takes the files that `--models FILE` and `--models=FILE` name out of a compiler's arguments.
pub(crate) fn taken_from(arguments: &[OsString]) -> Result<(Vec<OsString>, Vec<PathBuf>), Failure> {
    let (mut rest, mut files) = (Vec::new(), Vec::new());
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        if argument == OPTION {
            let file = arguments.next().ok_or_else(|| Failure::Usage(format!("{OPTION} needs a file")))?;
            files.push(file.into());
        } else if let Some(file) = argument.to_str().and_then(|text| text.strip_prefix("--models=")) {
            files.push(file.into());
        } else {
            rest.push(argument.clone());
        }
    }
    Ok((rest, files))
}

fn list(files: &[PathBuf], name: Option<&str>) -> Result<String, Failure> {
    let mut all = Table::default();
    for (file, table) in foretell_models::shipped() {
        all.replace_with(table.map_err(|error| Failure::Internal(format!("{file}: {error}")))?);
    }
    for file in files {
        all.replace_with(read(file)?);
    }
    let is_wanted = |entry: &str| name.is_none_or(|name| entry.contains(name));
    let mut text = String::new();
    for (entry, model) in all.entries().into_iter().filter(|(entry, _)| is_wanted(entry)) {
        let _ = writeln!(text, "{entry:?} = {model:?}");
    }
    Ok(text)
}

fn check(files: &[PathBuf]) -> Result<String, Failure> {
    let mut text = String::new();
    for file in files {
        let _ = writeln!(text, "{}: {} models", file.display(), read(file)?.entries().len());
    }
    Ok(text)
}

/// A file of models to fill in: the functions whose calls were fences most often.
fn suggest(report: &Path) -> Result<String, Failure> {
    let bad = |reason: String| Failure::Usage(format!("{}: {reason}", report.display()));
    let text = std::fs::read_to_string(report).map_err(|error| bad(error.to_string()))?;
    let report: Report = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
    let causes = report.trace.coverage.map(|coverage| coverage.causes).unwrap_or_default();
    let mut text = String::from(
        "# Models of functions whose calls were fences (docs/models.md). A wrong model can cause a false race:\n\
         # state exactly what a function accesses, or leave it out.\n[functions]\n",
    );
    let mut functions: Vec<(String, u64, String)> = Vec::new();
    for cause in causes {
        let Some(callee) = cause.callee else { continue };
        match functions.iter_mut().find(|(name, ..)| *name == callee) {
            Some((_, fences, _)) => *fences += cause.fences,
            None => functions.push((callee, cause.fences, cause.location)),
        }
    }
    for (name, fences, location) in functions {
        let _ = writeln!(text, "\n# fences: {fences}, such as at {location}\n# \"{name}\" = \"\"");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_do_not_see_files_of_models() {
        let line = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        let (rest, files) = taken_from(&line("-c --models a.toml x.c --models=b.toml -O2")).expect("files");
        assert_eq!((rest, files), (line("-c x.c -O2"), vec!["a.toml".into(), "b.toml".into()]));
        assert!(taken_from(&line("x.c --models")).is_err());
    }
}
