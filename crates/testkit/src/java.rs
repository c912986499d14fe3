//! Programs in Java.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Builds the agent that records Java programs, beside this foretell.
///
/// # Panics
/// If that fails.
pub fn build_agent(foretell: &str) {
    let target = Path::new(foretell).parent().and_then(Path::parent);
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--package", "foretell-jvm", "--target-dir"])
        .arg(target.expect("foretell is in a folder of the target"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status();
    assert!(built.is_ok_and(|status| status.success()), "the agent cannot be built");
}

/// A program of `corpus/java`, which says which variables it races on.
#[derive(Clone, Debug)]
pub struct JavaProgram {
    /// The name of its main class.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// The variables, whichever object of their class they are of.
    pub races: BTreeSet<String>,
}

/// All of them.
///
/// # Panics
/// If a file cannot be read, or does not say what it races on.
pub fn programs() -> Vec<JavaProgram> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/java");
    let files = fs::read_dir(folder).expect("the corpus").map(|entry| entry.expect("a file").path());
    let mut programs: Vec<JavaProgram> = files
        .map(|path| {
            let source = fs::read_to_string(&path).expect("a program");
            let races = source.lines().find_map(|line| line.strip_prefix("// Races: "));
            assert!(races.is_some() || source.contains("// No races."), "{}", path.display());
            let races = races.into_iter().flat_map(|list| list.split(", ")).map(str::to_string).collect();
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            JavaProgram { name, path, races }
        })
        .collect();
    programs.sort_by(|one, other| one.name.cmp(&other.name));
    programs
}

/// Compiles all of them into a folder.
///
/// # Errors
/// If there is no compiler, or it finds fault with them.
pub fn compile(folder: &Path) -> Result<(), String> {
    let files = programs().into_iter().map(|program| program.path);
    let built = Command::new("javac").arg("-g").arg("-d").arg(folder).args(files).status();
    match built {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err("the programs cannot be compiled".to_string()),
        Err(error) => Err(format!("javac: {error}")),
    }
}

/// The races in what foretell has printed as JSON; what the program has printed may come before.
///
/// # Errors
/// If it is no report.
pub fn races(printed: &str) -> Result<Vec<Value>, String> {
    let report: Value = serde_json::from_str(printed.lines().last().unwrap_or_default())
        .map_err(|error| error.to_string())?;
    report["races"].as_array().cloned().ok_or_else(|| "there are no races in the report".to_string())
}

/// What is raced on, whichever object of its class it is of.
pub fn variables(races: &[Value]) -> BTreeSet<String> {
    let name = |race: &Value| {
        let name = race["first"]["target"].as_str().unwrap_or_default();
        let digits = |rest: &str| rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).to_string();
        name.split_once('#').map_or(name.to_string(), |(class, rest)| format!("{class}{}", digits(rest)))
    };
    races.iter().map(name).collect()
}
