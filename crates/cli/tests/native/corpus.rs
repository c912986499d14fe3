//! Every program of the corpus gives the races that it says, and no other.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::{build, foretell, is_ready, programs};

const SEEDS: u64 = 3;

/// Two lines of a program, the smaller one first.
type Lines = (u64, u64);

/// The races that a program announces in its comments: `// race: 12 20`.
fn expected(source: &str) -> BTreeSet<Lines> {
    let numbers = |text: &str| {
        let mut numbers = text.split_whitespace().map(|number| number.parse().expect("a line"));
        in_order(numbers.next().expect("a line"), numbers.next().expect("another line"))
    };
    source.lines().filter_map(|line| line.strip_prefix("// race: ")).map(numbers).collect()
}

fn in_order(one: u64, other: u64) -> Lines {
    (one.min(other), one.max(other))
}

/// The lines of the races in a report.
fn found(report: &Value) -> BTreeSet<Lines> {
    let line = |access: &Value| -> u64 {
        let location = access["location"].as_str().expect("a location");
        location.rsplit(':').nth(1).and_then(|line| line.parse().ok()).unwrap_or_else(|| panic!("{location}"))
    };
    let races = report["races"].as_array().expect("races");
    races.iter().map(|race| in_order(line(&race["first"]), line(&race["second"]))).collect()
}

/// What foretell finds in a run of the program with this seed, and its exit code.
fn races_of(program: &str, seed: u64) -> (BTreeSet<Lines>, Option<i32>) {
    let seed = seed.to_string();
    let output = foretell(&["run", "--format", "json", "--no-progress", "--seed", &seed, "--", program]);
    // What the program itself prints comes first.
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().unwrap_or_default();
    let report: Value = serde_json::from_str(last).unwrap_or_else(|error| {
        panic!("{program}: {error}: {text}{}", String::from_utf8_lossy(&output.stderr))
    });
    (found(&report), output.status.code())
}

fn check(kind: &str) {
    if !is_ready() {
        return;
    }
    let mut checked = 0;
    for entry in fs::read_dir(programs()).expect("the corpus") {
        let name = entry.expect("a file").file_name().to_string_lossy().into_owned();
        if !name.contains(kind) {
            continue;
        }
        let expected = expected(&fs::read_to_string(programs().join(&name)).expect("text"));
        assert_eq!(expected.is_empty(), kind == "_norace.", "{name} says what is expected");
        let program = build(&name);
        for seed in 1..=SEEDS {
            let (found, code) = races_of(&program, seed);
            assert_eq!(found, expected, "{name} with seed {seed}");
            assert_eq!(code, Some(i32::from(!expected.is_empty())), "{name} with seed {seed}");
        }
        checked += 1;
    }
    assert!(checked >= 10, "only {checked} programs");
}

#[test]
fn programs_with_races_show_these_and_no_others() {
    check("_race.");
}

#[test]
fn programs_without_races_show_none() {
    check("_norace.");
}
