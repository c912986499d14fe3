//! Every program of `corpus/native` over many seeds: those without races must show none, ever, and those with races
//! must show all of theirs and no other, nearly always.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use foretell_testkit::native::{Lines, Program, programs};

use xtask::process::{must, release, root};
use xtask::setup;

use crate::primitives;

/// So many seeds by default.
const SEEDS: u64 = 20;
/// In one of so many runs a race may stay unseen.
const MISSES: u64 = 20;

/// The package whose tests are run as well.
const PACKAGE: &str = "primitives";

/// What the runs of one program in one mode have shown.
#[derive(Default)]
struct Tally {
    runs: u64,
    /// Runs that showed all races.
    complete: u64,
    /// What went wrong: races that are none, or runs that failed.
    wrong: Vec<String>,
}

impl Tally {
    fn is_good(&self) -> bool {
        self.wrong.is_empty() && (self.runs - self.complete) * MISSES <= self.runs
    }
}

/// `cargo xtask native-corpus [SEEDS [PART OF A NAME]]`.
pub(crate) fn run(args: &[String]) -> Result<ExitCode, String> {
    let seeds = match args.first() {
        Some(text) => text.parse().map_err(|_| format!("`{text}` is no number of seeds"))?,
        None => SEEDS,
    };
    let part = args.get(1).map_or("", String::as_str);
    let folder = prepare()?;
    let mut bad = 0_usize;
    println!("{:<32} {:<8} {:>5} {:>8} {:>6}", "program", "order", "runs", "complete", "wrong");
    for program in programs().iter().filter(|program| program.name.contains(part)) {
        let built = build(program, &folder)?;
        for order in orders().filter(|&order| order == "serial" || !program.serial) {
            let tally = tally(program, &built, order, seeds);
            let (runs, complete, wrong) = (tally.runs, tally.complete, tally.wrong.len());
            println!("{:<32} {order:<8} {runs:>5} {complete:>8} {wrong:>6}", program.name);
            tally.wrong.iter().for_each(|message| println!("  {message}"));
            bad += usize::from(!tally.is_good());
        }
    }
    if PACKAGE.contains(part) {
        bad += primitives::run(seeds, &folder);
    }
    if bad > 0 {
        return Err(format!("{bad} of these are not as they should be"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds foretell with all that programs need, and makes the folder for those that are built.
pub(crate) fn prepare() -> Result<PathBuf, String> {
    setup::install()?;
    let packages = ["--package", "foretell", "--package", "foretell-llvm", "--package", "foretell-runtime"];
    must("cargo", &[&["build", "--quiet", "--release"][..], &packages].concat())?;
    let folder = root().join("target/native-corpus");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

/// The ways to record that this build knows.
fn orders() -> impl Iterator<Item = &'static str> {
    let help = Command::new(release("foretell")).args(["run", "--help"]).output();
    let knows_both = help.is_ok_and(|help| String::from_utf8_lossy(&help.stdout).contains("striped"));
    ["serial", "striped"].into_iter().filter(move |&order| order == "serial" || knows_both)
}

/// Builds a program for recording, in this folder.
pub(crate) fn build(program: &Program, folder: &Path) -> Result<String, String> {
    let built = folder.join(program.name.replace('.', "_")).display().to_string();
    let output = Command::new(release("foretell"))
        .args(program.compiler())
        .args(&program.options)
        .arg(&program.path)
        .args(["-o", &built])
        .output()
        .map_err(|error| format!("cannot run foretell: {error}"))?;
    match output.status.success() {
        true => Ok(built),
        false => Err(format!("{}: {}", program.name, String::from_utf8_lossy(&output.stderr))),
    }
}

fn tally(program: &Program, built: &str, order: &str, seeds: u64) -> Tally {
    let mut tally = Tally::default();
    for seed in 1..=seeds {
        tally.runs += 1;
        match once(built, order, seed) {
            Ok(found) => {
                tally.complete += u64::from(found.is_superset(&program.races));
                let extra: Vec<_> = found.difference(&program.races).collect();
                if !extra.is_empty() {
                    tally.wrong.push(format!("seed {seed}: {extra:?} is no race"));
                }
            }
            Err(message) => tally.wrong.push(format!("seed {seed}: {message}")),
        }
    }
    tally
}

fn once(built: &str, order: &str, seed: u64) -> Result<BTreeSet<Lines>, String> {
    let mut command = Command::new(release("foretell"));
    command.args(["run", "--format", "json", "--no-progress", "--seed", &seed.to_string()]);
    if order != "serial" {
        command.args(["--order", order]);
    }
    let output = command.args(["--", built]).output().map_err(|error| error.to_string())?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let found = Program::reported(&printed)
        .map_err(|message| format!("{message}{}", String::from_utf8_lossy(&output.stderr)))?;
    let code = output.status.code();
    match code == Some(Program::exit_code(&printed, !found.is_empty())) {
        true => Ok(found),
        false => Err(format!("exit code {code:?}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}
