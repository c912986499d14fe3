//! `cargo xtask soundness-native`: races of recorded C++ programs and Rust tests before all real executions of the same
//! programs.
//!
//! A random program of the small language CIMP is also a C++ program with the same lines, and a test in Rust. These are
//! compiled, recorded with several seeds and in all modes, and predicted on, all by the shipped commands; and every
//! race that comes out must be among those that the exhaustive exploration of the original finds. So the compiler pass,
//! the recorder, the converter and the prediction are judged together, by something that shares no code with the first
//! three.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::{env, fs};

use foretell_cimp::explore::{self, explore};
use foretell_testkit::program::{PROGRAM_FILE, Program, RUST_PRELUDE, RUST_TEST, Shape, program, shrink};
use serde_json::Value;

use xtask::process::{built, must};

/// A program with more states than this is left out: it would take too long.
const STATES: usize = 60_000;
/// How often each program is recorded in each mode.
const RUNS: u64 = 3;
/// The ways to record.
const ORDERS: [&str; 2] = ["serial", "striped"];
/// The ways to predict, one seed after the other. Unlike `auto`, `recipe` takes its time to follow branches that were
/// not taken.
const TECHNIQUES: [&str; 2] = ["auto", "recipe"];

/// What is judged.
const PACKAGES: [&str; 6] =
    ["--package", "foretell", "--package", "foretell-llvm", "--package", "foretell-runtime"];

/// Runs for a number of seconds, or until something is wrong or Ctrl-C.
pub(crate) fn run(args: &[String]) -> Result<ExitCode, String> {
    let number = |text: &String| text.parse().map_err(|_| format!("expected a number instead of `{text}`"));
    let (seconds, seed) = match args {
        [] => (None, None),
        [seconds] => (Some(number(seconds)?), None),
        [seconds, seed] => (Some(number(seconds)?), Some(number(seed)?)),
        _ => return Err("usage: cargo xtask soundness-native [SECONDS [SEED]]".to_string()),
    };
    must("cargo", &[&["build", "--quiet", "--release"][..], &PACKAGES].concat())?;
    let judges =
        [Language::Cpp, Language::Rust].map(|language| Judge::new(built("release", "foretell"), language));
    let [cpp, rust] = judges;
    let judges = [cpp?, rust?];
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
    // Campaigns with neighbouring seeds have no programs in common.
    let first: u64 = seed.unwrap_or(now) << 32;
    let (begin, mut tally) = (Instant::now(), Tally::default());
    for seed in first.. {
        if seconds.is_some_and(|seconds| begin.elapsed() >= Duration::from_secs(seconds)) {
            break;
        }
        for judge in &judges {
            tally.add(&judge.examine_seed(seed)?);
        }
        if tally.programs % 50 == 0 {
            println!("{tally} in {} s", begin.elapsed().as_secs());
        }
    }
    println!("{tally}\nevery race is real");
    Ok(ExitCode::SUCCESS)
}

/// A race: the variable without index or field, and the two lines, the smaller one first.
type Race = (String, u64, u64);

/// Numbers over many programs.
#[derive(Default)]
struct Tally {
    programs: u64,
    runs: u64,
    /// The races that the programs of these runs have, and how many of them were found.
    real: usize,
    found: usize,
    /// How many races were found on ways that the runs did not go.
    untaken: usize,
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.programs += other.programs;
        self.runs += other.runs;
        self.real += other.real;
        self.found += other.found;
        self.untaken += other.untaken;
    }
}

impl Display for Tally {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Tally { programs, runs, real, found, untaken } = self;
        write!(f, "{programs} programs, {runs} recorded runs, {found} of {real} races found, ")?;
        write!(f, "{untaken} where the run did not go")
    }
}

/// What can be wrong with a program.
enum Wrong {
    /// It cannot be compiled or explored as it is; of no interest.
    Unusable(String),
    /// Something that matters.
    Defect(String),
}

/// What programs are made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Language {
    Cpp,
    /// Programs are tests, as libtest runs them.
    Rust,
}

/// Compiles, records and compares.
struct Judge {
    foretell: PathBuf,
    folder: PathBuf,
    language: Language,
}

impl Judge {
    fn new(foretell: PathBuf, language: Language) -> Result<Judge, String> {
        let folder = env::temp_dir().join(format!("foretell-soundness-{}-{language:?}", std::process::id()));
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Judge { foretell, folder, language })
    }

    /// Examines the program of the seed, and makes it small if anything is wrong.
    fn examine_seed(&self, seed: u64) -> Result<Tally, String> {
        let mut shape = Shape::any(seed);
        // In C++ a number is no reference.
        shape.features.confusion = false;
        let large = program(seed, shape);
        let mut last = match self.examine(&large) {
            Ok(tally) => return Ok(tally),
            Err(Wrong::Unusable(why)) => return Err(format!("seed {seed}: {why}\n{large}")),
            Err(Wrong::Defect(why)) => why,
        };
        let small = shrink(large, |smaller| match self.examine(smaller) {
            Err(Wrong::Defect(why)) => {
                last = why;
                true
            }
            _ => false,
        });
        Err(format!("seed {seed}: {last}\n{small}"))
    }

    fn examine(&self, program: &Program) -> Result<Tally, Wrong> {
        let text = program.to_string();
        let Some(real) = real_races(&text)? else { return Ok(Tally::default()) };
        let binary = self.compile(program)?;
        let mut tally = Tally { programs: 1, ..Tally::default() };
        for order in ORDERS {
            for seed in 1..=RUNS {
                let (mut found, untaken) = self.races_of(&binary, order, seed)?;
                found.retain(|&(_, one, other)| !is_cell(&text, one) && !is_cell(&text, other));
                if let Some((variable, one, other)) = found.difference(&real).next() {
                    return Err(Wrong::Defect(format!(
                        "recorded {order} with seed {seed}, there is a race of {variable} at {one} and {other}, \
                         which no execution has"
                    )));
                }
                tally.runs += 1;
                tally.real += real.len();
                tally.found += found.len();
                tally.untaken += untaken;
            }
        }
        Ok(tally)
    }

    fn compile(&self, program: &Program) -> Result<PathBuf, Wrong> {
        let binary = self.folder.join("program");
        let write = |name: &str, text: &str| {
            let source = self.folder.join(name);
            fs::write(&source, text).map(|()| source).map_err(|error| Wrong::Defect(error.to_string()))
        };
        let mut command = Command::new(&self.foretell);
        match self.language {
            Language::Cpp => {
                let source = write("program.cpp", &program.to_cpp())?;
                command.args(["c++", "-O1", "-w", "-fwrapv"]).arg(source);
            }
            Language::Rust => {
                write(PROGRAM_FILE, &program.to_rust())?;
                let source = write("program.rs", RUST_PRELUDE)?;
                command.args(["rustc", "--edition=2021", "--test", "-Awarnings"]).arg(source);
            }
        }
        command.arg("-o").arg(&binary);
        let output = finish(&mut command)?;
        if output.status.success() {
            return Ok(binary);
        }
        Err(Wrong::Unusable(String::from_utf8_lossy(&output.stderr).into_owned()))
    }

    /// The races that foretell finds in one recorded run, and how many of them lie where that did not go.
    fn races_of(&self, binary: &Path, order: &str, seed: u64) -> Result<(BTreeSet<Race>, usize), Wrong> {
        let mut command = Command::new(&self.foretell);
        let technique = TECHNIQUES[usize::from(seed.is_multiple_of(2))];
        command.args(["run", "--format", "json", "--no-progress", "--technique", technique]);
        command.args(["--order", order, "--seed"]);
        // In parallel, a deadlock lasts for ever.
        command.arg(seed.to_string()).args(["--stop-after", "2s", "--"]).arg(binary);
        if self.language == Language::Rust {
            command.args([RUST_TEST, "--exact", "--nocapture", "--test-threads=1"]);
        }
        let output = finish(&mut command)?;
        let told = String::from_utf8_lossy(&output.stdout);
        let problem = |why: &str| {
            let errors = String::from_utf8_lossy(&output.stderr);
            Wrong::Defect(format!("recorded {order} with seed {seed}: {why}: {told}{errors}"))
        };
        if !matches!(output.status.code(), Some(0..=3)) {
            return Err(problem("it fails"));
        }
        let last = told.lines().last().unwrap_or_default();
        // A test that ends the process leaves a line without its end.
        let report = last.find('{').map_or(last, |start| &last[start..]);
        let report: Value = serde_json::from_str(report).map_err(|_| problem("no report"))?;
        let races = report["races"].as_array().ok_or_else(|| problem("no list of races"))?;
        let untaken = races.iter().filter(|race| race["path"].is_string()).count();
        let races = races.iter().map(|race| race_of(race).ok_or_else(|| problem("an unknown place")));
        Ok((races.collect::<Result<_, _>>()?, untaken))
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        // It is a temporary one, and is cleaned up as such.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn finish(command: &mut Command) -> Result<Output, Wrong> {
    command.output().map_err(|error| Wrong::Defect(error.to_string()))
}

/// All races of the program, unless it has too many states.
fn real_races(source: &str) -> Result<Option<BTreeSet<Race>>, Wrong> {
    let program = foretell_cimp::compile(source).map_err(|problems| {
        let lines: Vec<String> = problems.iter().map(|problem| problem.render("program", source)).collect();
        Wrong::Unusable(lines.join("\n"))
    })?;
    let all = explore(&program, &explore::Limits { states: STATES, ..explore::Limits::default() });
    let race = |race: &explore::Race| {
        let [one, other] = [&race.first, &race.second].map(|access| u64::from(access.position.line));
        (base(&race.variable), one.min(other), one.max(other))
    };
    Ok(all.is_complete().then(|| all.races.iter().map(race).collect()))
}

/// Whether a kind of cells is declared on this line. There C++ has the writes that make a new cell; in the original
/// they are no events.
fn is_cell(text: &str, line: u64) -> bool {
    let index = usize::try_from(line).unwrap_or(usize::MAX).saturating_sub(1);
    text.lines().nth(index).is_some_and(|line| line.starts_with("cell "))
}

/// A race of a report; None if it is not in the program itself.
fn race_of(race: &Value) -> Option<Race> {
    let line = |access: &Value| {
        let (_, place) = access["location"].as_str()?.split_once(&format!("{PROGRAM_FILE}:"))?;
        place.split(':').next()?.parse().ok()
    };
    let (one, other): (u64, u64) = (line(&race["first"])?, line(&race["second"])?);
    Some((base(race["first"]["target"].as_str()?), one.min(other), one.max(other)))
}

/// The variable that an element belongs to; all cells are one.
fn base(variable: &str) -> String {
    let end = variable.find(['[', '+', '#']).unwrap_or(variable.len());
    if variable.contains('.') || variable.starts_with("heap") {
        return "cell".to_string();
    }
    // In Rust it is named with its module.
    variable[..end].rsplit("::").next().unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many programs are examined: as many as a test run has time for.
    const PROGRAMS: u64 = 40;
    /// To compile a test in Rust takes long.
    const TESTS: u64 = 10;

    #[test]
    fn races_of_recorded_programs_are_real() {
        examine(Language::Cpp, 0..PROGRAMS);
    }

    #[test]
    fn races_of_recorded_tests_are_real() {
        examine(Language::Rust, 0..TESTS);
    }

    fn examine(language: Language, seeds: std::ops::Range<u64>) {
        if Command::new("clang++-22").arg("--version").output().is_err() {
            eprintln!("skipped: clang++-22 is missing; `cargo xtask setup` installs it");
            return;
        }
        must("cargo", &[&["build", "--quiet"][..], &PACKAGES].concat()).expect("it builds");
        let judge = Judge::new(built("debug", "foretell"), language).expect("a folder");
        let mut tally = Tally::default();
        for seed in seeds {
            tally.add(&judge.examine_seed(seed).unwrap_or_else(|wrong| panic!("{wrong}")));
        }
        println!("{tally}");
        // What finds nothing cannot be wrong.
        assert!(tally.found * 2 > tally.real && (tally.untaken > 0 || language == Language::Rust), "{tally}");
    }
}
