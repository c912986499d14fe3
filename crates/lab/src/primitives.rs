//! The tests of the package `corpus/native/primitives` over many seeds, as they are and optimised: none may show a
//! race, but those that are there to have one.

use std::path::Path;
use std::process::Command;

use xtask::process::{release, root};

/// The tests that have no race, and those that all have one.
const CLEAN: &[&str] = &["--test", "standard", "--test", "concurrent", "--test", "parking", "--test", "pool"];
const RACES: &[&str] = &["--test", "races"];

/// Runs all tests with so many seeds. Returns how often that did not give what it should.
pub(crate) fn run(seeds: u64, folder: &Path) -> usize {
    let mut bad = 0;
    for (name, how) in [("primitives", &[][..]), ("primitives, optimised", &["--release"])] {
        for seed in 1..=seeds {
            for (tests, race) in [(CLEAN, false), (RACES, true)] {
                if let Err(message) = once(&[how, tests].concat(), seed, race, folder) {
                    println!("{name}, seed {seed}: {message}");
                    bad += 1;
                }
            }
        }
        println!("{name:<32} serial   {seeds:>5}");
    }
    bad
}

fn once(options: &[&str], seed: u64, race: bool, folder: &Path) -> Result<(), String> {
    let output = Command::new(release("cargo-foretell"))
        .args(["foretell", "test", "--no-progress", "--seed", &seed.to_string(), "--features", "others"])
        .args(options)
        .current_dir(root().join("corpus/native/primitives"))
        .env("CARGO_TARGET_DIR", folder.join("primitives"))
        .output()
        .map_err(|error| format!("cannot run cargo-foretell: {error}"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    let sum = errors.lines().find(|line| line.contains(" tests, ")).unwrap_or(&errors);
    let tests = sum.split(' ').next().unwrap_or_default();
    let with_races = if race { tests } else { "0" };
    // Where next to nothing can be reordered, the code says so.
    let codes: &[i32] = if race { &[1] } else { &[0, 3] };
    let is_right = sum.contains(&format!(": {with_races} with races, "))
        && sum.contains(" 0 failed, 0 stopped, 0 not recorded")
        && output.status.code().is_some_and(|code| codes.contains(&code));
    match is_right {
        true => Ok(()),
        false => Err(format!("{sum}\n{}", String::from_utf8_lossy(&output.stdout))),
    }
}
