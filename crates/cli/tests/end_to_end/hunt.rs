//! `foretell hunt` on programs of the virtual machine.

use serde_json::Value;

use crate::{Ran, example, foretell};

fn hunt(program: &str, more: &[&str]) -> (Ran, Value) {
    let ran = foretell(&[&["hunt", "--format", "json", &example(program)], more].concat());
    let report = ran.json();
    (ran, report)
}

fn curve(report: &Value) -> Vec<u64> {
    let runs = report["hunt"]["runs"].as_array().expect("a list");
    runs.iter().map(|run| run["total"].as_u64().expect("a number")).collect()
}

#[test]
fn every_strategy_hunts_and_the_curve_never_falls() {
    for strategy in ["random", "contest", "pct", "pos", "drfinder", "predict"] {
        let (ran, report) = hunt("bank", &["--strategy", strategy, "--runs", "12", "--patience", "none"]);
        assert_eq!(ran.code, 1, "{strategy}: {}", ran.err);
        let curve = curve(&report);
        assert_eq!(curve.len(), 12, "{strategy}");
        assert!(curve.is_sorted(), "{strategy}: {curve:?}");
        let races = report["races"].as_array().expect("a list");
        assert_eq!(curve.last().copied(), Some(races.len() as u64), "{strategy}");
        assert!(
            races
                .iter()
                .all(|race| race["first"]["target"].as_str().is_some_and(|at| at.contains("account")))
        );
        assert!(races.iter().all(|race| race["hunted"]["runs"].as_u64() >= Some(1)), "{strategy}");
    }
}

#[test]
fn a_hunt_repeats_itself_whatever_runs_at_the_same_time() {
    let said = |jobs: &str| {
        let (_, report) = hunt("bank", &["--strategy", "pos", "--runs", "8", "--seed", "40", "--jobs", jobs]);
        (curve(&report), report["races"].clone())
    };
    assert_eq!(said("1"), said("4"));
    let (_, other) = hunt("bank", &["--strategy", "pos", "--runs", "8", "--seed", "41"]);
    assert_eq!(other["hunt"]["runs"][0]["seed"], 41);
}

#[test]
fn a_hunt_gives_up_when_nothing_new_comes() {
    let (_, report) = hunt("bank", &["--runs", "50", "--patience", "3"]);
    let curve = curve(&report);
    assert_eq!(report["hunt"]["stopped"], "nothing-new");
    assert!(curve.len() < 50 && curve[curve.len() - 4..].windows(2).all(|two| two[0] == two[1]), "{curve:?}");
}

/// The philosophers get stuck in most runs; no race is among them.
#[test]
fn a_deadlock_is_a_finding_with_its_circle() {
    let (ran, report) = hunt("philosophers", &["--strategy", "random", "--runs", "6"]);
    assert_eq!(ran.code, 1);
    assert_eq!(report["races"], serde_json::json!([]));
    let deadlock = &report["hunt"]["deadlocks"][0];
    assert_eq!(deadlock["cycle"], 3);
    let waiting = deadlock["waiting"].as_array().expect("a list");
    for (one, next) in waiting.iter().zip(waiting.iter().cycle().skip(1)) {
        assert_eq!(one["held_by"], next["thread"], "{deadlock}");
    }
    let ran = foretell(&["hunt", &example("philosophers"), "--strategy", "random", "--runs", "6"]);
    assert!(ran.out.contains("deadlock 1 · 3 threads wait for each other"), "{}", ran.out);
    let (ran, report) = hunt("philosophers_ordered", &["--strategy", "random", "--runs", "6"]);
    assert_eq!((ran.code, &report["hunt"]["deadlocks"]), (0, &serde_json::json!([])));
}

/// Both races of the figure hide behind the usual order of locks. What is predicted from any run shows them at once.
#[test]
fn reversed_locks_show_what_noise_does_not() {
    let targets = |report: &Value| {
        let races = report["races"].as_array().expect("a list").iter();
        let mut targets: Vec<String> =
            races.filter_map(|race| race["first"]["target"].as_str().map(String::from)).collect();
        targets.sort();
        targets.dedup();
        targets
    };
    let all = ["--runs", "10", "--patience", "none"];
    let (_, found) = hunt("drfinder_figure2_work", &[&["--strategy", "drfinder"], &all[..]].concat());
    assert_eq!(targets(&found), ["x", "y"]);
    let steering = &found["hunt"]["runs"][1]["steering"];
    assert!(steering["reversals"].as_u64() > Some(0), "{steering}");
    let (_, predicted) = hunt("drfinder_figure2_work", &["--strategy", "predict", "--runs", "2"]);
    assert_eq!(targets(&predicted), ["x", "y"]);
}

#[test]
fn what_cannot_be_hunted_is_refused() {
    let ran = foretell(&["hunt", &example("bank"), "once"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("`once` is one too many"), "{}", ran.err);
    let ran = foretell(&["hunt", "--runs", "0", &example("bank")]);
    assert_eq!(ran.code, 2);
    let ran = foretell(&["hunt", "--slice", "on x", &example("bank")]);
    assert!(ran.code == 2 && ran.err.contains("--slice works on traces"), "{}", ran.err);
    let ran = foretell(&["hunt", "nowhere.cimp"]);
    assert!(ran.code == 2 && ran.err.contains("nowhere.cimp"), "{}", ran.err);
}
