//! The program as its users meet it: what it prints, where, and with which exit code.

mod bad_input;
mod bounds;
mod browse;
mod certify;
mod compare;
mod coverage;
mod deadlocks;
mod documents;
mod exact;
mod explain;
mod explore;
mod front_door;
mod hostile;
mod hunt;
mod interrupt;
mod limits;
mod machine;
mod models;
mod predict;
mod programs;
mod readable;
mod reads;
mod recipe;
mod run;
mod shards;
mod slices;
mod traces;
mod violations;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use foretell_testkit::process::limited;
use serde_json::Value;

/// What a run of foretell came to.
struct Ran {
    code: i32,
    out: String,
    err: String,
}

impl Ran {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}{}", self.out, self.err))
    }

    /// What was printed as one line, so that it can be looked for wherever lines break.
    fn words(&self) -> String {
        self.out.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        let text = |bytes| String::from_utf8(bytes).expect("foretell prints text");
        let ran = Ran {
            code: output.status.code().expect("foretell is not killed"),
            out: text(output.stdout),
            err: text(output.stderr),
        };
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
        ran
    }
}

/// Foretell, whatever the terminal is like that the tests run in.
fn command() -> Command {
    let mut command = limited(env!("CARGO_BIN_EXE_foretell"));
    for variable in ["COLUMNS", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "LC_ALL", "LC_CTYPE", "LANG"] {
        command.env_remove(variable);
    }
    command
}

fn foretell(args: &[&str]) -> Ran {
    command().args(args).output().expect("foretell runs").into()
}

fn foretell_with_input(args: &[&str], input: &[u8]) -> Ran {
    let mut child = command()
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("foretell runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    // Foretell may stop reading early, at an error.
    let feeder = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("foretell ends");
    feeder.join().expect("the feeder ends");
    output.into()
}

/// A folder for one test, empty at its beginning.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    // It may not be there.
    drop(std::fs::remove_dir_all(&folder));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// A file with this content.
fn file(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = folder.join(name);
    std::fs::write(&path, content).expect("a file");
    path.to_str().expect("a plain path").to_string()
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The path of a program in `examples/`.
fn example(name: &str) -> String {
    repository().join(format!("examples/{name}.cimp")).to_str().expect("a plain path").to_string()
}

/// What the first lines of a program say of something, such as which variables race.
fn said(program: &str, key: &str) -> Vec<String> {
    let text = std::fs::read_to_string(program).expect("a program");
    let prefix = format!("#! {key}:");
    let line = text.lines().find_map(|line| line.strip_prefix(&prefix)).unwrap_or_default();
    line.split(", ").map(|part| part.trim().to_string()).filter(|part| !part.is_empty()).collect()
}

/// Runs foretell in a folder.
fn foretell_in(folder: &Path, args: &[&str]) -> Ran {
    let mut command = command();
    command.args(args).current_dir(folder).env_remove("FORETELL_SUPPRESSIONS");
    command.output().expect("foretell runs").into()
}

/// All programs in `examples/`.
fn examples() -> Vec<String> {
    let entries = std::fs::read_dir(repository().join("examples")).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let paths = paths.map(|path| path.to_str().expect("a plain path").to_string());
    let mut programs: Vec<String> = paths.filter(|path| path.ends_with(".cimp")).collect();
    programs.sort();
    assert!(programs.len() > 30);
    programs
}
