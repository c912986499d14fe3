//! Programs that can deadlock, and programs that look as if they could: recorded in a run that gets through.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::{foretell, is_ready, programs};

/// Compiles a program of `corpus/native/deadlocks`.
fn build(name: &str) -> String {
    let program =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("deadlocks_{}", name.replace('.', "_")));
    let (source, program) = (programs().join("deadlocks").join(name), program.display().to_string());
    let compiler = match name.rsplit_once('.') {
        Some((_, "rs")) => ["rustc", "--edition=2024"],
        Some((_, "c")) => ["cc", "-O1"],
        _ => ["c++", "-std=c++20"],
    };
    let source = source.display().to_string();
    let built = foretell(&[&compiler[..], &[&source, "-g", "-o", &program]].concat());
    assert!(built.status.success(), "{name}: {}", String::from_utf8_lossy(&built.stderr));
    program
}

/// How often a deadlock was predicted, over some seeds; a run that gets stuck itself has shown it.
fn seen(name: &str, seeds: u64) -> Vec<(usize, Option<i32>, String)> {
    let program = build(name);
    let run = |seed: u64| {
        let seed = seed.to_string();
        let options = ["run", "--find", "deadlocks", "--format", "json", "--no-progress", "--seed", &seed];
        let output = foretell(&[&options[..], &["--", &program]].concat());
        let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let predicted = report["deadlocks"].as_array().map_or(0, Vec::len);
        (predicted, output.status.code(), format!("{report}{}", String::from_utf8_lossy(&output.stderr)))
    };
    (1..=seeds).map(run).collect()
}

#[test]
fn programs_that_can_deadlock_are_proven_to_and_others_are_not() {
    if !is_ready() {
        return;
    }
    let folder = programs().join("deadlocks");
    let entries = fs::read_dir(folder).expect("the corpus is there");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    assert!(names.len() >= 20, "{names:?}");
    let (mut proven, mut stuck) = (0, 0);
    for name in names {
        for (seed, (predicted, code, said)) in (1..).zip(seen(&name, 2)) {
            let is_stuck = said.contains("the program is in a deadlock");
            if name.contains("_bad.") {
                assert!(predicted >= 1 || is_stuck, "{name} with seed {seed}: {predicted} {said}");
                (proven, stuck) = (proven + usize::from(predicted > 0), stuck + usize::from(is_stuck));
            } else {
                assert!(
                    predicted == 0 && !is_stuck && code != Some(1),
                    "{name} with seed {seed}: {code:?} {said}"
                );
            }
        }
    }
    assert!(proven > stuck, "{proven} {stuck}");
}
