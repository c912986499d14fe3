//! The programs in `examples/` do what their first lines say, in all executions; and their first runs are the traces of
//! the figures that they come from.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use foretell_cimp::compile;
use foretell_cimp::explore::{Exploration, Limits, explore};
use foretell_cimp::program::Program;
use foretell_cimp::record::{self, Ending};
use foretell_cimp::scheduler::{Given, Schedule, Scheduler, Serial};
use foretell_trace::format::text::TextWriter;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

struct Example {
    name: String,
    source: String,
    program: Program,
}

impl Example {
    fn read(path: &Path) -> Example {
        let source = fs::read_to_string(path).unwrap();
        let program = compile(&source).unwrap_or_else(|errors| panic!("{path:?}: {}", errors[0]));
        Example { name: path.file_stem().unwrap().to_str().unwrap().to_owned(), source, program }
    }

    fn all() -> Vec<Example> {
        let paths = fs::read_dir(folder("examples")).unwrap().map(|entry| entry.unwrap().path());
        let is_program = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "cimp");
        let mut examples: Vec<Example> = paths.filter(is_program).map(|path| Example::read(&path)).collect();
        examples.sort_by(|a, b| a.name.cmp(&b.name));
        assert!(examples.len() > 30);
        examples
    }

    /// What the first lines say of something, in the order of the alphabet.
    fn said(&self, key: &str) -> BTreeSet<String> {
        let prefix = format!("#! {key}:");
        let line = self.source.lines().find_map(|line| line.strip_prefix(&prefix));
        let parts = line.unwrap_or_default().split(", ").map(str::trim).filter(|part| !part.is_empty());
        parts.map(str::to_owned).collect()
    }

    fn schedule(&self) -> Option<Schedule> {
        let line = self.source.lines().find_map(|line| line.strip_prefix("#! schedule: "))?;
        Some(line.parse().unwrap())
    }

    fn record(&self) -> record::Run {
        let mut scheduler: Box<dyn Scheduler> = match self.schedule() {
            Some(schedule) => Box::new(Given::new(schedule)),
            None => Box::new(Serial::new()),
        };
        record::run(&self.program, &mut *scheduler, &record::Limits::default()).unwrap()
    }
}

fn endings(exploration: &Exploration) -> BTreeSet<String> {
    let found = [
        ("finished", exploration.final_states > 0),
        ("failed", !exploration.failures.is_empty()),
        ("deadlock", !exploration.deadlocks.is_empty()),
    ];
    found.into_iter().filter(|(_, found)| *found).map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn the_list_of_examples_is_complete() {
    let list = fs::read_to_string(folder("examples/README.md")).unwrap();
    for example in Example::all() {
        let cells = |key| example.said(key).into_iter().collect::<Vec<_>>();
        let start = format!("| [{0}]({0}.cimp) |", example.name);
        let Some(row) = list.lines().find(|row| row.starts_with(&start)) else { panic!("no {start}") };
        assert!(cells("races").iter().all(|race| row.contains(&format!("`{race}`"))), "{row}");
        assert!(cells("endings").iter().all(|ending| row.contains(ending)), "{row}");
    }
}

#[test]
fn the_program_of_the_manual_races() {
    let manual = fs::read_to_string(folder("docs/cimp.md")).unwrap();
    let program = manual.split("```cimp\n").nth(1).unwrap().split("```").next().unwrap();
    let exploration = explore(&compile(program).unwrap(), &Limits::default());
    let races: BTreeSet<&str> = exploration.races.iter().map(|race| race.variable.as_str()).collect();
    assert_eq!(races, BTreeSet::from(["served"]));
    assert_eq!(endings(&exploration), BTreeSet::from(["finished".to_owned()]));
}

#[test]
fn all_executions_are_as_the_first_lines_say() {
    let mut wrong = Vec::new();
    for example in Example::all() {
        let exploration = explore(&example.program, &Limits::default());
        let races: BTreeSet<String> = exploration.races.iter().map(|race| race.variable.clone()).collect();
        let found = (races, endings(&exploration), exploration.is_complete());
        let said = (example.said("races"), example.said("endings"), true);
        if found != said {
            wrong.push(format!("{}: {found:?}", example.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn first_runs_end_as_the_first_lines_say() {
    for example in Example::all() {
        let ending = match example.record().ending {
            Ending::Finished => "finished",
            Ending::Failed(_) => "failed",
            Ending::Deadlock(_) => "deadlock",
            Ending::StepLimit => "too long",
        };
        assert!(example.said("endings").contains(ending), "{}: {ending}", example.name);
    }
}

/// Who does what, line by line. Threads are numbered by their first appearance. What only one side says is left out:
/// decisions and where functions begin; and the figures do not say which accesses are atomic.
fn lines(text: &str) -> Vec<(usize, String)> {
    let mut threads: Vec<&str> = Vec::new();
    let mut lines = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut parts = line.split('|');
        let (thread, op) = (parts.next().unwrap(), parts.next().unwrap());
        if ["branch", "begin", "end", "enter"].iter().any(|left_out| op.starts_with(left_out)) {
            continue;
        }
        let number = threads.iter().position(|known| *known == thread).unwrap_or(threads.len());
        if number == threads.len() {
            threads.push(thread);
        }
        let op = op.replace("astore(", "w(").replace("aload(", "r(");
        let op = if op.starts_with("fork(") || op.starts_with("join(") { op[..4].to_owned() } else { op };
        lines.push((number, op.replace("a0", "a[0]")));
    }
    lines
}

#[test]
fn first_runs_are_the_traces_of_the_figures() {
    let mut compared = 0;
    for example in Example::all() {
        // The paper's first figure shows the program, the fourth one its trace.
        let figure = if example.name == "rv_figure1" { "rv_figure4" } else { &example.name };
        let Ok(expected) = fs::read_to_string(folder("corpus").join(format!("{figure}.std"))) else {
            continue;
        };
        let run = example.record();
        let mut writer = TextWriter::new(Vec::new());
        for event in run.trace.events() {
            writer.write(event, run.trace.names()).unwrap();
        }
        let found = lines(&String::from_utf8(writer.into_inner()).unwrap());
        let expected = lines(&expected);
        assert_eq!(found.len(), expected.len(), "{}", example.name);
        for ((thread, op), (expected_thread, expected_op)) in found.iter().zip(&expected) {
            let without_value = op.split(',').next().unwrap();
            let same = op == expected_op || format!("{without_value})") == *expected_op;
            assert!(thread == expected_thread && same, "{}: {op}, expected {expected_op}", example.name);
        }
        compared += 1;
    }
    assert!(compared >= 12, "{compared}");
}
