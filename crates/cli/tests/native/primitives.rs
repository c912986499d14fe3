//! Tests in safe Rust of all that threads synchronise with, run under libtest as `cargo foretell test` does: none has a
//! race. Those that are there to have one show it. `cargo xtask native-corpus` tries more seeds, and optimised code.

use std::path::Path;
use std::process::{Command, Output};

use crate::{is_ready, programs};

/// Runs these tests of the package. What it builds is kept for the next time.
fn cargo_foretell(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cargo-foretell"))
        .args(["foretell", "test", "--no-progress", "--seed"])
        .args(args)
        .current_dir(programs().join("primitives"))
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("primitives"))
        .output()
        .expect("cargo-foretell runs")
}

/// The line that sums up, and all that was said.
fn summed_up(output: &Output) -> (String, String) {
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let sum = errors.lines().find(|line| line.contains(" tests, ")).unwrap_or_default().to_string();
    (sum, errors + &String::from_utf8_lossy(&output.stdout))
}

/// At least so many tests were run, and none has a race.
fn is_clean(seed: &str, options: &[&str], at_least: usize) {
    let output = cargo_foretell(&[&[seed], options].concat());
    let (sum, all) = summed_up(&output);
    let tests = sum.split(' ').next().and_then(|count| count.parse().ok()).unwrap_or(0_usize);
    assert!(tests >= at_least && sum.contains(": 0 with races, "), "{all}");
    assert!(sum.contains(" 0 failed, 0 stopped, 0 not recorded"), "{all}");
    // In some of them next to nothing can be reordered, which is told, too.
    assert!(matches!(output.status.code(), Some(0 | 3)), "{all}");
}

#[test]
fn tests_of_primitives_have_no_race() {
    if !is_ready() {
        return;
    }
    let others = ["--features", "others", "--test", "concurrent", "--test", "parking", "--test", "pool"];
    is_clean("1", &["--test", "standard"], 45);
    is_clean("2", &["--release", "--test", "standard"], 45);
    is_clean("3", &others, 40);
}

/// What is known of primitives does not hide races, whichever thread ends first.
#[test]
fn tests_with_races_show_them() {
    if !is_ready() {
        return;
    }
    for seed in ["1", "2", "3", "4"] {
        let output = cargo_foretell(&[seed, "--test", "races"]);
        let (sum, all) = summed_up(&output);
        let tests = sum.split(' ').next().unwrap_or_default();
        assert!(sum.contains(&format!(": {tests} with races, ")), "seed {seed}: {all}");
        assert_eq!(output.status.code(), Some(1), "seed {seed}: {all}");
    }
}
