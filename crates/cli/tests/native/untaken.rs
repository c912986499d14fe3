//! Races on ways that a recorded run did not go, by programs that say which there are: `recipe` and `auto` find them,
//! and the program is driven into them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::{build, foretell, is_ready, programs};

/// Two lines, the smaller one first.
type Lines = (u64, u64);

/// How often each program is recorded. Both threads of each go the way that decides first in all of these.
const SEEDS: [&str; 2] = ["1", "2"];

fn names() -> Vec<String> {
    let entries = fs::read_dir(programs().join("untaken")).expect("the folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    assert!(names.len() > 10, "{names:?}");
    names
}

/// The races that a program tells of itself with this word.
fn told(name: &str, word: &str) -> BTreeSet<Lines> {
    let text = fs::read_to_string(programs().join("untaken").join(name)).expect("a program");
    let lists = text.lines().filter_map(|line| line.strip_prefix(&format!("// {word}: ")));
    let pair = |pair: &str| {
        let (one, other) = pair.trim().split_once(' ').expect("two lines");
        (one.parse().expect("a line"), other.parse().expect("a line"))
    };
    lists.flat_map(|list| list.split(',').map(pair).collect::<Vec<_>>()).collect()
}

fn line(access: &Value) -> u64 {
    let place = access["location"].as_str().expect("a place");
    let line = place.rsplit(':').nth(1).expect("a line");
    line.parse().unwrap_or_else(|_| panic!("{place}"))
}

fn lines(race: &Value) -> Lines {
    let (one, other) = (line(&race["first"]), line(&race["second"]));
    (one.min(other), one.max(other))
}

/// The races that were found on the way that was taken, and beside it.
fn found(program: &str, seed: &str, options: &[&str]) -> [BTreeSet<Lines>; 2] {
    let report = format!("{program}.json");
    let fixed = ["run", "--no-progress", "--seed", seed, "-o", &report];
    let output = foretell(&[&fixed[..], options, &["--", program]].concat());
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_str(&fs::read_to_string(Path::new(&report)).expect("a report"))
        .expect("a report in JSON");
    assert_eq!(report["undecided"].as_array().map(Vec::len), Some(0), "{report}");
    let races = report["races"].as_array().expect("races");
    for race in races.iter().filter(|_| options.contains(&"--confirm")) {
        assert_eq!(race["confirmation"]["confirmed"], true, "{program} {seed}: {}", race["confirmation"]);
    }
    let of = |is_untaken: bool| {
        let of_them = races.iter().filter(|race| race["path"].is_string() == is_untaken);
        of_them.map(lines).collect()
    };
    [of(false), of(true)]
}

#[test]
fn programs_race_where_they_did_not_go() {
    if !is_ready() {
        return;
    }
    for name in names() {
        let program = build(&format!("untaken/{name}"));
        let expected = ["taken", "untaken"].map(|word| told(&name, word));
        for seed in SEEDS {
            for technique in ["recipe", "auto"] {
                let found = found(&program, seed, &["--technique", technique, "--confirm"]);
                assert_eq!(found, expected, "{name} with seed {seed}, by {technique}");
            }
        }
    }
}

#[test]
fn ways_that_were_not_taken_can_be_left_alone() {
    if !is_ready() {
        return;
    }
    let program = build("untaken/recipe_figure1.c");
    let found = found(&program, "1", &["--technique", "recipe", "--no-unexplored"]);
    assert_eq!(found, [told("recipe_figure1.c", "taken"), BTreeSet::new()]);
}
