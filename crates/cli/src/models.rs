//! `foretell models`: models of library functions, of foretell and of the user.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use foretell_models::Table;
use foretell_report::Report;
use foretell_wire::settings;

use crate::Outcome;
use crate::args::{LibraryArgs, ModelsArgs, ModelsCommand};
use crate::error::Failure;
use crate::output::write;

/// Options of `run`, `hunt`, `cargo foretell` and the compiler wrappers.
const OPTION: &str = "--models";
pub(crate) const INSTRUMENT_STD: &str = "--instrument-std";

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

/// Takes what is said of libraries (`--models FILE`, `--models=FILE`, `--instrument-std`) out of a compiler's
/// arguments.
pub(crate) fn taken_from(arguments: &[OsString]) -> Result<(Vec<OsString>, LibraryArgs), Failure> {
    let (mut rest, mut libraries) = (Vec::new(), LibraryArgs::default());
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        if argument == OPTION {
            let file = arguments.next().ok_or_else(|| Failure::Usage(format!("{OPTION} needs a file")))?;
            libraries.models.push(file.into());
        } else if let Some(file) = argument.to_str().and_then(|text| text.strip_prefix("--models=")) {
            libraries.models.push(file.into());
        } else if argument == INSTRUMENT_STD {
            libraries.instrument_std = true;
        } else {
            rest.push(argument.clone());
        }
    }
    Ok((rest, libraries))
}

/// The same as arguments of a compiler.
pub(crate) fn as_arguments(libraries: &LibraryArgs) -> impl Iterator<Item = &OsStr> {
    let models = libraries.models.iter().flat_map(|file| [OsStr::new(OPTION), file.as_os_str()]);
    models.chain(libraries.instrument_std.then_some(OsStr::new(INSTRUMENT_STD)))
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
    fn compilers_do_not_see_what_is_said_of_libraries() {
        let line = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        let given = line("-c --models a.toml x.c --instrument-std --models=b.toml -O2");
        let (rest, libraries) = taken_from(&given).expect("files");
        let wanted = LibraryArgs { models: vec!["a.toml".into(), "b.toml".into()], instrument_std: true };
        assert_eq!((&rest, &libraries), (&line("-c x.c -O2"), &wanted));
        let again: Vec<OsString> = as_arguments(&libraries).map(OsStr::to_os_string).collect();
        assert_eq!(taken_from(&again).expect("files"), (Vec::new(), wanted));
        assert!(taken_from(&line("x.c --models")).is_err());
    }
}
