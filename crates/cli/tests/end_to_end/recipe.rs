//! The figures of the RECIPE paper: races for which a read sees another value, and races on ways that the run did not
//! go.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::{Ran, command, example, file, folder, foretell};

/// The races that the technique proves in the serial run of an example.
fn races(name: &str, technique: &str, more: &[&str]) -> Vec<Value> {
    let program = example(name);
    let command = ["run", "--format", "json", "--schedule", "serial", "--technique", technique, &program];
    let report = foretell(&[&command, more].concat()).json();
    report["races"].as_array().expect("a list").clone()
}

/// Between which lines the races are, each with the smaller one first.
fn lines(races: &[Value]) -> Vec<(u64, u64)> {
    let line = |access: &Value| {
        let location = access["location"].as_str().expect("a place");
        location.split(':').next().and_then(|line| line.parse::<u64>().ok()).expect("a line")
    };
    let mut lines: Vec<(u64, u64)> = races
        .iter()
        .map(|race| (line(&race["first"]), line(&race["second"])))
        .map(|(one, other)| (one.min(other), one.max(other)))
        .collect();
    lines.sort_unstable();
    lines
}

/// Where in an example a text stands for the first time.
fn line_of(name: &str, text: &str) -> u64 {
    let source = std::fs::read_to_string(example(name)).expect("an example");
    let index = source.lines().position(|line| line.contains(text)).expect("the text");
    index as u64 + 1
}

/// Lines 2 and 5 of the paper race because 3 is as good as 5 for the decision; lines 2 and 7 only on the way that was
/// not taken.
#[test]
fn figure_1_has_a_race_on_each_way() {
    let name = "recipe_figure1";
    let [writes, taken, untaken] = ["x := 1", "1 / x", "2 / x"].map(|text| line_of(name, text));
    for technique in ["rv", "rv-nre", "reconp"] {
        assert!(!lines(&races(name, technique, &[])).contains(&(writes, taken)), "{technique}");
    }
    let stays = races(name, "recipe", &["--no-unexplored"]);
    assert!(lines(&stays).contains(&(writes, taken)) && !lines(&stays).contains(&(writes, untaken)));
    for technique in ["recipe", "auto"] {
        let all = races(name, technique, &[]);
        assert!(lines(&all).contains(&(writes, taken)), "{technique}");
        let untaken: Vec<&Value> =
            all.iter().filter(|race| lines(std::slice::from_ref(race)) == [(writes, untaken)]).collect();
        let [race] = untaken[..] else { panic!("{technique}: {all:?}") };
        assert_eq!(race["path"], "not executed in the recorded run");
        assert_eq!(race["confirmation"]["confirmed"], true, "the machine was driven into it");
        let values = race["values"].as_array().expect("the values that lead there");
        assert!(values.iter().any(|new| new["target"] == "y" && new["read"] == "0"), "{values:?}");
    }
}

/// With the first value of `s1.f` the sum is 13 and still large enough.
#[test]
fn figure_2_tells_the_values_that_lead_to_the_race() {
    let name = "recipe_figure2";
    let pair = (line_of(name, "s2.f := 1"), line_of(name, "s2.f := x"));
    for technique in ["rv", "reconp"] {
        assert!(!lines(&races(name, technique, &[])).contains(&pair), "{technique}");
    }
    let all = races(name, "recipe", &["--no-unexplored"]);
    let race = all.iter().find(|race| lines(std::slice::from_ref(race)) == [pair]).expect("the race");
    let values = race["values"].as_array().expect("values");
    assert!(values.iter().any(|new| new["read"] == "3"), "{values:?}");
    assert!(values.iter().any(|new| new["written"] == "13"), "{values:?}");
}

/// An access to another object is no access to this one.
#[test]
fn figure_3_has_no_race_across_objects() {
    let name = "recipe_figure3";
    assert_eq!(lines(&races(name, "recipe", &[])), lines(&races(name, "rv", &[])));
}

/// The decision goes the same way with the old value, so the second read races as well.
#[test]
fn figure_5_has_a_race_behind_the_decision() {
    let name = "recipe_figure5";
    let pair = (line_of(name, "count := 1"), line_of(name, "next = count"));
    assert!(!lines(&races(name, "rv", &[])).contains(&pair));
    assert!(lines(&races(name, "recipe", &[])).contains(&pair));
}

/// The child that found no entry left in the run raises the number of threads if it finds one, while a third thread
/// reads it: on a way that the run did not go, with a number that its thread did not see.
#[test]
fn figure_6_has_a_race_on_the_way_of_who_finds_the_last_entry() {
    let name = "recipe_figure6";
    let (asks, raises) = (line_of(name, "the entries that are left"), line_of(name, "the last entry"));
    let pair = (asks.min(raises), asks.max(raises));
    for technique in ["rv", "rv-nre", "reconp"] {
        assert!(!lines(&races(name, technique, &[])).contains(&pair), "{technique}");
    }
    assert!(!lines(&races(name, "recipe", &["--no-unexplored"])).contains(&pair));
    for technique in ["recipe", "auto"] {
        let all = races(name, technique, &[]);
        let race = all.iter().find(|race| lines(std::slice::from_ref(race)) == [pair]);
        let race = race.unwrap_or_else(|| panic!("{technique}: {all:?}"));
        assert_eq!(race["path"], "not executed in the recorded run");
        assert_eq!(race["confirmation"]["confirmed"], true, "the machine was driven into it");
        let values = race["values"].as_array().expect("the values that lead there");
        assert!(values.iter().any(|new| new["target"] == "alive" && new["read"] == "4"), "{values:?}");
    }
}

/// A race on a way that the run did not go can be explained, and replayed, like any other.
#[test]
fn what_was_not_executed_is_explained_and_replayed() {
    let folder = folder("untaken");
    let [report, trace] = ["report.json", "trace.std"].map(|name| folder.join(name).display().to_string());
    let program = example("recipe_figure1");
    foretell(&["run", "--schedule", "serial", "--trace", &trace, "-o", &report, &program]);
    let text = std::fs::read_to_string(&report).expect("a report");
    let told: Value = serde_json::from_str(&text).expect("JSON");
    let races = told["races"].as_array().expect("a list");
    let number = races.iter().position(|race| race.get("path").is_some()).expect("one of them") + 1;
    let number = number.to_string();
    for more in [&[][..], &["--trace", &trace]] {
        let explained = foretell(&[&["explain", &report, "--race", &number], more].concat());
        let words: Vec<&str> = explained.out.split_whitespace().collect();
        let words = words.join(" ");
        assert!(words.contains("leaves the path of the recorded run"), "{words}{}", explained.err);
        assert!(!words.contains("reject"), "{words}");
    }
    let replayed = foretell(&["replay", &report, "--race", &number]);
    assert!(replayed.out.starts_with("confirmed"), "{}{}", replayed.out, replayed.err);
}

/// A recording in a file tells how values are computed, too; what lies on other ways only the program knows.
#[test]
fn a_recording_is_enough_for_values() {
    let folder = folder("recipe");
    for ending in ["std", "ftr"] {
        let trace = folder.join(format!("figure2.{ending}"));
        let trace = trace.to_str().expect("a plain path");
        foretell(&["run", "--schedule", "serial", "--trace", trace, &example("recipe_figure2")]);
        let report = foretell(&["predict", "--format", "json", "--technique", "recipe", trace]).json();
        let told = report["races"].as_array().expect("a list");
        assert_eq!(lines(told), lines(&races("recipe_figure2", "recipe", &["--no-unexplored"])), "{ending}");
    }
}

/// A program in which the writes of `x` race only if a sum comes out with `c` unset. It never does, whatever the three
/// others are: thousands of choices, of which a solver need not look at each.
fn many_sums() -> String {
    let counts = ["a", "b", "d"].map(|name| {
        format!("{{ local i = 1; while (i <= 20) {{ sync (m) {{ {name} := i; }} i := i + 1; }} }}\n||\n")
    });
    format!(
        "shared a, b, c, d, x;\nlock m;\n{{ x := 1; sync (m) {{ c := 1; }} }}\n||\n{}\
         {{\n    local sum, set;\n    sync (m) {{ set := c; }}\n\
         sync (m) {{ sum := (a * 31 + b * 17 + d * 7) % 997; }}\n\
         if (sum + set * 5000 == {}) x := 2;\n}}\n",
        counts.concat(),
        20 * (31 + 17 + 7) % 997 + 5000
    )
}

/// What `recipe` finds in a program with this solver, if each pair may take so long.
fn solved_by(solver: &str, budget: &str, program: &str) -> Ran {
    let options = ["run", "--format", "json", "--technique", "recipe", "--no-unexplored", "--budget", budget];
    let output = command().env("FORETELL_Z3", solver).args(options).arg(program).output();
    Ran::from(output.expect("the command"))
}

/// Without a solver, or with one that does not know, what takes too long without is undecided and said to be, and
/// nothing else changes.
#[test]
fn a_solver_that_is_missing_or_ignorant_leaves_pairs_undecided() {
    let folder = folder("solvers");
    let hard = file(&folder, "many_sums.cimp", many_sums());
    let refuted = solved_by("z3", "60s", &hard);
    assert_eq!((refuted.code, refuted.json()["stats"]["refuted"].as_u64()), (0, Some(1)), "{}", refuted.err);

    let script = |name: &str, text: &str| {
        let path = file(&folder, name, format!("#!/bin/sh\n{text}\n"));
        std::fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("a script");
        path
    };
    let answers = "case $line in *ready*) echo ready;; *check-sat*) echo unknown;; esac";
    let missing = folder.join("no_such_solver").display().to_string();
    // Whether it is said that a solver might have helped. One that is silent may be so for longer than the pair has.
    let solvers = [
        (missing.clone(), Some(true)),
        (script("nonsense", "exec yes"), Some(true)),
        (script("silent", "exec sleep 60"), None),
        (script("unknown", &format!("while read -r line; do {answers}; done")), Some(false)),
    ];
    for (solver, is_told) in solvers {
        let ran = solved_by(&solver, "1s", &hard);
        assert_eq!(ran.code, 3, "{solver}: {}", ran.err);
        let report = ran.json();
        let [pair] = &report["undecided"].as_array().expect("a list")[..] else {
            panic!("{solver}: {report}")
        };
        let reason = pair["reason"].as_str().expect("why");
        assert!(is_told.is_none_or(|told| reason.contains("`z3`") == told), "{solver}: {reason}");
    }
    let figure = solved_by(&missing, "60s", &example("recipe_figure2"));
    let with = races("recipe_figure2", "recipe", &["--no-unexplored"]);
    assert_eq!(figure.code, 1, "what does not need a solver stands");
    assert_eq!(lines(figure.json()["races"].as_array().expect("a list")), lines(&with));
}
