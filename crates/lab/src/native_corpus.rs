//! Every program of `corpus/native` over many seeds: those without races must show none, ever, and those with races
//! must show all of theirs and no other, nearly always.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use foretell_testkit::native::family::{FAMILIES, Family, Member};
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
    for family in FAMILIES {
        bad += check_family(family, part, &folder, seeds)?;
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
    let options = program.compiler().into_iter().chain(program.options.iter().map(String::as_str));
    compile(&program.name, options, &program.path, folder)
}

fn compile<'a>(
    name: &str,
    options: impl Iterator<Item = &'a str>,
    source: &Path,
    folder: &Path,
) -> Result<String, String> {
    let built = folder.join(name.replace(['.', '/'], "_")).display().to_string();
    // Libraries come after the program that needs them.
    let (before, after): (Vec<_>, Vec<_>) = options.partition(|option| !option.starts_with("-l"));
    let output = Command::new(release("foretell"))
        .args(before)
        .arg(source)
        .args(after)
        .args(["-o", &built])
        .output()
        .map_err(|error| format!("cannot run foretell: {error}"))?;
    match output.status.success() {
        true => Ok(built),
        false => Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// The programs of a family, in serial order: none may show a race that is none in any of many runs, and each racy one
/// must show a race while it is hunted. Returns how many do not.
fn check_family(family: Family, part: &str, folder: &Path, seeds: u64) -> Result<usize, String> {
    let is_wanted = |member: &Member| family.name.contains(part) || member.name.contains(part);
    let members: Vec<Member> = family.members().into_iter().filter(is_wanted).collect();
    let Some(options) = family.options() else {
        println!("{}: skipped, its library is missing", family.name);
        return Ok(0);
    };
    let mut bad = 0;
    for member in members {
        let name = format!("{}/{}", family.name, member.name);
        let arguments =
            [member.compiler(), member.level()].into_iter().chain(options.iter().map(String::as_str));
        let built = compile(&name, arguments, &member.path, folder)?;
        let (mut shown, mut wrong) = (0_u64, Vec::new());
        for seed in 1..=seeds {
            match run_once(&built, "serial", seed).and_then(|printed| member.races_in(&printed)) {
                Ok(races) => shown += u64::from(races > 0),
                Err(message) => wrong.push(format!("seed {seed}: {message}")),
            }
        }
        let hunted = match hunt(&built).and_then(|printed| member.races_in(&printed)) {
            Ok(races) => races > 0,
            Err(message) => {
                wrong.push(format!("hunting: {message}"));
                false
            }
        };
        println!("{name:<32} {:<8} {seeds:>5} {shown:>8} {:>6}", "serial", wrong.len());
        wrong.iter().for_each(|message| println!("  {message}"));
        bad += usize::from(!wrong.is_empty() || member.is_racy() != hunted);
    }
    Ok(bad)
}

/// What foretell prints of ten runs under other schedules.
fn hunt(built: &str) -> Result<String, String> {
    const OPTIONS: [&str; 8] =
        ["hunt", "--strategy", "predict", "--runs", "10", "--format", "json", "--no-progress"];
    let output = Command::new(release("foretell")).args(OPTIONS).args(["--", built]).output();
    let output = output.map_err(|error| error.to_string())?;
    match output.status.code() {
        Some(0 | 1 | 3) => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        code => Err(format!("exit code {code:?}: {}", String::from_utf8_lossy(&output.stderr))),
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
    Program::reported(&run_once(built, order, seed)?)
}

/// What foretell prints of a run.
fn run_once(built: &str, order: &str, seed: u64) -> Result<String, String> {
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
        true => Ok(printed.into_owned()),
        false => Err(format!("exit code {code:?}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}
