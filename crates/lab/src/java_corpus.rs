//! Every program of `corpus/java` over many seeds: those without races must show none, ever, and those with races must
//! show all of theirs and no other, nearly always, and follow the proofs.

use std::path::Path;
use std::process::{Command, ExitCode};

use foretell_testkit::java::{JavaProgram, compile, programs, races, variables};

use xtask::process::{must, release, root};
use xtask::setup;

/// So many seeds by default.
const SEEDS: u64 = 20;
/// In one of so many runs a race may stay unseen.
const MISSES: u64 = 20;

/// `cargo xtask java-corpus [SEEDS [PART OF A NAME]]`.
pub(crate) fn run(args: &[String]) -> Result<ExitCode, String> {
    let seeds = match args.first() {
        Some(text) => text.parse().map_err(|_| format!("`{text}` is no number of seeds"))?,
        None => SEEDS,
    };
    let part = args.get(1).map_or("", String::as_str);
    setup::install()?;
    must("cargo", &["build", "--quiet", "--release", "--package", "foretell", "--package", "foretell-jvm"])?;
    let folder = root().join("target/java-corpus");
    compile(&folder)?;
    let mut bad = 0_usize;
    println!("{:<24} {:>5} {:>8} {:>6}", "program", "runs", "complete", "wrong");
    for program in programs().iter().filter(|program| program.name.contains(part)) {
        bad += usize::from(!check(program, &folder, seeds));
    }
    if bad > 0 {
        return Err(format!("{bad} of these are not as they should be"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs a program with so many seeds, and says whether that showed what it should.
fn check(program: &JavaProgram, folder: &Path, seeds: u64) -> bool {
    let (mut complete, mut wrong) = (0_u64, Vec::new());
    for seed in 1..=seeds {
        match once(program, folder, seed) {
            Ok(is_complete) => complete += u64::from(is_complete),
            Err(message) => wrong.push(format!("seed {seed}: {message}")),
        }
    }
    println!("{:<24} {seeds:>5} {complete:>8} {:>6}", program.name, wrong.len());
    wrong.iter().for_each(|message| println!("  {message}"));
    wrong.is_empty() && (seeds - complete) * MISSES <= seeds
}

/// Whether a run shows all races; an error if it shows others, or the program does not follow a proof, or fails.
fn once(program: &JavaProgram, folder: &Path, seed: u64) -> Result<bool, String> {
    let output = Command::new(release("foretell"))
        .args(["run", "--format", "json", "--no-progress", "--confirm", "--seed", &seed.to_string()])
        .args(["--", "java", "-cp"])
        .arg(folder)
        .arg(&program.name)
        .output()
        .map_err(|error| error.to_string())?;
    let errors = String::from_utf8_lossy(&output.stderr);
    let found =
        races(&String::from_utf8_lossy(&output.stdout)).map_err(|message| format!("{message}: {errors}"))?;
    if errors.contains("Exception") || errors.contains("exit code") {
        return Err(errors.into_owned());
    }
    if found.iter().any(|race| race["confirmation"]["confirmed"] != true) {
        return Err("the program does not follow the proof of a race".to_string());
    }
    let found = variables(&found);
    let extra: Vec<_> = found.difference(&program.races).collect();
    if !extra.is_empty() {
        return Err(format!("{extra:?} is no race"));
    }
    Ok(found == program.races)
}
