//! A shell in which the commands of one page are run.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::pages::{Block, Page};
use crate::repository;
use crate::shown::matches;
use foretell_testkit::process::limited;

/// What names stand for in commands without output: each is a file of the repository.
const STANDING_IN: [(&str, &str); 6] = [
    ("TRACE", "examples/bank.std"),
    ("T", "examples/bank.std"),
    ("T.std", "corpus/mcm_figure1.std"),
    ("P.cimp", "examples/mcm_figure1.cimp"),
    ("bank.c", "corpus/native/counter_race.c"),
    ("bank.rs", "corpus/native/rust_static_race.rs"),
];

/// A folder in which commands are run, and how the last one ended.
pub(crate) struct Session {
    folder: tempfile::TempDir,
    status: i32,
}

/// What came of a block.
pub(crate) struct Ran {
    /// How many commands there were.
    pub(crate) commands: usize,
    /// What did not go as shown.
    pub(crate) wrong: Vec<String>,
}

/// A command, and what it prints.
struct Shown<'a> {
    command: String,
    output: Vec<&'a str>,
}

/// Runs foretell, and gives what it prints.
pub(crate) fn foretell(args: &[&str]) -> String {
    let output = limited(env!("CARGO_BIN_EXE_foretell")).args(args).output().expect("foretell runs");
    String::from_utf8(output.stdout).expect("text")
}

impl Session {
    pub(crate) fn new(page: &str) -> Session {
        let folder = tempfile::tempdir().expect("a folder");
        let root = repository().canonicalize().expect("the repository");
        for name in ["examples", "corpus", "docs"] {
            symlink(root.join(name), folder.path().join(name)).expect("a link");
        }
        eprintln!("{page}");
        Session { folder, status: 0 }
    }

    /// Runs the commands of a block. Gives also what the block should be, if it is not.
    pub(crate) fn run(&mut self, page: &Page, block: &Block) -> (Ran, Option<(String, String)>) {
        self.write_files(page);
        match block {
            Block::Console { line, text } => self.console(&format!("{}:{line}", page.name), text),
            Block::Commands { line, text } => (self.commands(page, *line, text), None),
            Block::File { .. } | Block::Other => (Ran { commands: 0, wrong: Vec::new() }, None),
        }
    }

    /// Writes the files that the page shows, unless they are there already.
    fn write_files(&self, page: &Page) {
        for block in page.blocks() {
            let Block::File { name, text } = block else { continue };
            let path = self.folder.path().join(name);
            if !path.exists() {
                fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
                fs::write(path, text).expect("a file");
            }
        }
    }

    fn console(&mut self, place: &str, text: &str) -> (Ran, Option<(String, String)>) {
        let commands = Shown::read(text);
        let mut ran = Ran { commands: commands.len(), wrong: Vec::new() };
        let mut rewritten = String::new();
        for Shown { command, output } in commands {
            let printed = self.shell(&command);
            let lines: Vec<&str> = printed.lines().collect();
            let is_right = matches(&output, &lines);
            rewritten.push_str(&format!("$ {command}\n"));
            for line in if is_right { &output } else { &lines } {
                rewritten.push_str(&format!("{}\n", without_times(line)));
            }
            if !is_right {
                let shown = output.join("\n");
                ran.wrong.push(format!("{place}: $ {command}\nshown:\n{shown}\nprinted:\n{printed}"));
            }
        }
        let rewritten = (!ran.wrong.is_empty()).then(|| (text.to_string(), rewritten));
        (ran, rewritten)
    }

    fn commands(&mut self, page: &Page, line: usize, text: &str) -> Ran {
        let place = format!("{}:{line}", page.name);
        let mut ran = Ran { commands: 0, wrong: Vec::new() };
        self.provide_files(page);
        for line in text.lines() {
            let command = line.split(" # ").next().unwrap_or_default().trim().replace('…', "");
            let is_ours = ["foretell ", "cargo foretell "].iter().any(|tool| command.starts_with(tool));
            if !is_ours || command.starts_with("foretell trace view") {
                continue;
            }
            ran.commands += 1;
            let printed = self.shell(&command);
            // Whoever is not understood ends with 2.
            if ![0, 1, 3].contains(&self.status) {
                ran.wrong.push(format!("{place}: {command}: exit code {}\n{printed}", self.status));
            }
        }
        ran
    }

    /// Files for names that stand for any.
    fn provide_files(&mut self, page: &Page) {
        for (name, file) in STANDING_IN {
            let (path, file) = (self.folder.path().join(name), repository().join(file));
            if !path.exists() && file.is_file() {
                fs::copy(file, path).expect("a copy");
            }
        }
        if page.needs_compilers() && !self.folder.path().join("my-tests").exists() {
            self.shell("foretell cc -g bank.c -o my-tests");
            // A package as one would like it: the test which is there to fail does not.
            self.shell("cp -r corpus/native/package/. . && sed -i 's/assert_eq!(1, 2)/assert_eq!(1, 1)/' tests/locks.rs");
            self.shell("git init --quiet");
        }
        let report = self.folder.path().join("report.json");
        if !report.exists() {
            let trace = self.folder.path().join("TRACE").display().to_string();
            let json = foretell(&["predict", "--format", "json", &trace]);
            fs::write(&report, &json).expect("a report");
            fs::write(self.folder.path().join("OLD.json"), json).expect("a report");
        }
    }

    /// What a command prints, in both ways.
    fn shell(&mut self, command: &str) -> String {
        let binary = Path::new(env!("CARGO_BIN_EXE_foretell")).parent().expect("a folder");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(PathBuf::from(binary)).chain(std::env::split_paths(&path));
        let output = Command::new("timeout")
            .args(["120", "bash", "-c"])
            .arg(format!("exec 2>&1; (exit {}); {command}", self.status))
            .current_dir(self.folder.path())
            .env("PATH", std::env::join_paths(folders).expect("folders"))
            .env("COLUMNS", "100")
            .env("NO_COLOR", "1")
            .env_remove("CARGO_TARGET_DIR")
            .stdin(Stdio::null())
            .output()
            .expect("there is a shell");
        self.status = output.status.code().unwrap_or(-1);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

/// The line with a sign for what differs from run to run: times, in seconds with their fractions.
fn without_times(line: &str) -> String {
    let is_time = |word: &str| {
        let fraction = word.split_once('.').map_or("", |(_, fraction)| fraction);
        (2..=3).contains(&fraction.len()) && word.chars().all(|c| c.is_ascii_digit() || c == '.')
    };
    let words: Vec<&str> = line.split(' ').map(|word| if is_time(word) { "[..]" } else { word }).collect();
    words.join(" ")
}

impl Shown<'_> {
    fn read(text: &str) -> Vec<Shown<'_>> {
        let mut all: Vec<Shown<'_>> = Vec::new();
        for line in text.lines() {
            match (line.strip_prefix("$ "), all.last_mut()) {
                (Some(command), _) => all.push(Shown { command: command.to_string(), output: Vec::new() }),
                // A command that goes on.
                (None, Some(last)) if last.output.is_empty() && last.command.ends_with('\\') => {
                    last.command.push('\n');
                    last.command.push_str(line);
                }
                (None, Some(last)) => last.output.push(line),
                (None, None) => panic!("`{line}` stands before the first command"),
            }
        }
        all
    }
}
