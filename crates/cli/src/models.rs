//! `foretell models`: models of library functions, of foretell and of the user.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use foretell_models::Table;
use foretell_report::Report;
use foretell_wire::settings;

use crate::Outcome;
use crate::args::{ModelsArgs, ModelsCommand};
use crate::error::Failure;
use crate::output::write;

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

/// Rejects files that the compiler pass would reject, before anything is compiled.
pub(crate) fn check_environment() -> Result<(), Failure> {
    let files = std::env::var_os(settings::MODELS.text()).unwrap_or_default();
    let mut files = std::env::split_paths(&files).filter(|file| !file.as_os_str().is_empty());
    files.try_for_each(|file| read(&file).map(drop))
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
