//! Programs that can use memory after it was freed, and programs that look as if they could: recorded in a run that
//! gets through, and driven to what was predicted.

use std::fs;

use serde_json::Value;

use crate::{build_in, foretell, is_ready, programs};

/// The uses after a free that a run of the program implies, with the races that are one as well.
fn found(name: &str, program: &str, seed: u64) -> usize {
    let seed = seed.to_string();
    let options = [
        "run",
        "--find",
        "races,memory",
        "--confirm",
        "--format",
        "json",
        "--no-progress",
        "--seed",
        &seed,
        "--",
    ];
    let output = foretell(&[&options[..], &[program]].concat());
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{name}: {error} {}", String::from_utf8_lossy(&output.stderr)));
    let list = |what: &str| report[what].as_array().cloned().unwrap_or_default();
    let violations = list("violations");
    for violation in &violations {
        assert_eq!(violation["kind"], "use-after-free", "{name}");
        assert_eq!(violation["first"]["op"], "free", "{name}");
        // A lock of Rust's library may not be free yet when its thread's turn ends with giving it up.
        let is_driven = violation["confirmation"]["confirmed"] == true || name.ends_with(".rs");
        assert!(is_driven, "{name} {seed}: {}", violation["confirmation"]);
    }
    let frees = |race: &&Value| race["first"]["op"] == "free" || race["second"]["op"] == "free";
    violations.len() + list("races").iter().filter(frees).count()
}

#[test]
fn programs_that_can_use_freed_memory_are_proven_to_and_others_are_not() {
    if !is_ready() {
        return;
    }
    let entries = fs::read_dir(programs().join("memory")).expect("the corpus is there");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    assert!(names.len() >= 14, "{names:?}");
    for name in names {
        let program = build_in("memory", &name);
        for seed in 1..=2 {
            let found = found(&name, &program, seed);
            assert_eq!(found > 0, name.contains("_bad."), "{name} with seed {seed}: {found}");
        }
    }
}

#[test]
fn a_use_after_free_is_replayed_from_its_report() {
    if !is_ready() {
        return;
    }
    let program = build_in("memory", "locked_bad.c");
    let report = format!("{program}.json");
    foretell(&["run", "--find", "memory", "--no-progress", "-o", &report, "--", &program]);
    let output = foretell(&["replay", &report, "--violation", "1"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.code() == Some(1) && text.contains("use after free"), "{output:?}");
    assert!(text.contains("confirmed"), "{text}");
}
