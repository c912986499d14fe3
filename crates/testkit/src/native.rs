//! Programs in C, C++ and Rust with known races: `corpus/native`.
//!
//! Their first lines tell what is expected of them: `// race: 12 20` for a race between two lines, all of them and no
//! other, `// options: …` for options of the compiler, and `// shown by: serial` if its races only show if
//! threads take turns.

pub mod family;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Two lines of a program, the smaller one first.
pub type Lines = (u64, u64);

/// A program with known races.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its file name.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// Additional options of the compiler.
    pub options: Vec<String>,
    /// Its races show only if threads take turns.
    pub serial: bool,
    /// Its races; none if its name says so.
    pub races: BTreeSet<Lines>,
}

/// Builds what programs are compiled and linked with, beside this foretell.
///
/// # Panics
/// If that fails.
pub fn build_libraries(foretell: &str) {
    let target = Path::new(foretell).parent().and_then(Path::parent);
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--package", "foretell-llvm", "--package", "foretell-runtime"])
        .arg("--target-dir")
        .arg(target.expect("foretell is in a folder of the target"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status();
    assert!(built.is_ok_and(|status| status.success()), "the libraries cannot be built");
}

/// All programs that are said to have races or to have none, by name.
///
/// # Panics
/// If a program does not say what its name says.
pub fn programs() -> Vec<Program> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/native");
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| is_known(name)).collect();
    names.sort();
    names.into_iter().map(|name| program(&folder, name)).collect()
}

fn is_known(name: &str) -> bool {
    let stem = [".c", ".cpp", ".rs"].into_iter().find_map(|ending| name.strip_suffix(ending));
    stem.is_some_and(|stem| stem.ends_with("_race") || stem.ends_with("_norace"))
}

fn program(folder: &Path, name: String) -> Program {
    let path = folder.join(&name);
    let source = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    let told = |what: &'static str| source.lines().filter_map(move |line| line.strip_prefix(what));
    let races: BTreeSet<Lines> = told("// race: ").map(|text| two_lines(&name, text)).collect();
    assert_eq!(races.is_empty(), name.contains("_norace."), "{name} says what is expected");
    let options = told("// options: ").flat_map(str::split_whitespace).map(str::to_string).collect();
    let serial = source.lines().any(|line| line == "// shown by: serial");
    Program { name, path, options, serial, races }
}

fn two_lines(name: &str, text: &str) -> Lines {
    let numbers: Vec<u64> = text.split_whitespace().filter_map(|number| number.parse().ok()).collect();
    match numbers[..] {
        [one, other] => in_order(one, other),
        _ => panic!("{name}: two lines, not `{text}`"),
    }
}

fn in_order(one: u64, other: u64) -> Lines {
    (one.min(other), one.max(other))
}

impl Program {
    /// Which of foretell's compilers it needs, and the options that it always gets.
    pub fn compiler(&self) -> [&'static str; 2] {
        match self.path.extension().and_then(|ending| ending.to_str()) {
            Some("c") => ["cc", "-O1"],
            Some("rs") => ["rustc", "--edition=2024"],
            _ => ["c++", "-O1"],
        }
    }

    /// The exit code that goes with what foretell has printed as JSON: of what could not be reordered, that no race was
    /// found says nothing.
    pub fn exit_code(output: &str, has_races: bool) -> i32 {
        let is_blind = output.lines().last().is_some_and(|report| report.contains("\"blind\":true"));
        match (has_races, is_blind) {
            (true, _) => 1,
            (false, true) => 3,
            (false, false) => 0,
        }
    }

    /// The races in what foretell has printed as JSON, a list if there were several processes; what the program has
    /// printed may come before.
    pub fn reported(output: &str) -> Result<BTreeSet<Lines>, String> {
        let report = output.lines().last().unwrap_or_default();
        let report: Value = serde_json::from_str(report).map_err(|error| format!("{error}: {output}"))?;
        // Of several processes each has a report.
        let reports = report.as_array().map_or(std::slice::from_ref(&report), Vec::as_slice);
        let mut found = BTreeSet::new();
        for report in reports {
            for race in report["races"].as_array().ok_or("no races in the report")? {
                found.insert(in_order(line(&race["first"])?, line(&race["second"])?));
            }
        }
        Ok(found)
    }
}

/// The line of an access, whose location is `file:line:column`.
fn line(access: &Value) -> Result<u64, String> {
    let location = access["location"].as_str().ok_or("an access without a location")?;
    let line = location.rsplit(':').nth(1).and_then(|line| line.parse().ok());
    line.ok_or_else(|| format!("no line in {location}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_corpus_is_read() {
        let programs = programs();
        assert!(programs.len() >= 60, "only {} programs", programs.len());
        let hidden = programs.iter().find(|program| program.name == "lock_order_race.c");
        assert_eq!(hidden.map(|program| program.races.clone()), Some(BTreeSet::from([(10, 19)])));
        assert!(programs.iter().any(|program| program.options == ["-std=c++20"]));
    }

    #[test]
    fn reports_are_read() {
        let report = r#"{"races":[{"first":{"location":"a.c:20:3"},"second":{"location":"a.c:9:1"}}]}"#;
        let output = format!("printed by the program\n{report}\n");
        assert_eq!(Program::reported(&output), Ok(BTreeSet::from([(9, 20)])));
        let two = format!(r#"[{{"races":[]}},{report}]"#);
        assert_eq!(Program::reported(&two), Ok(BTreeSet::from([(9, 20)])));
        assert!(Program::reported("nothing of the kind").is_err());
    }
}
