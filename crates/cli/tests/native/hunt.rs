//! `foretell hunt` on native programs.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{build, endless, foretell, interrupted_by, is_ready};

fn hunt(more: &[&str]) -> (Option<i32>, Value, String) {
    let output = foretell(&[&["hunt", "--no-progress", "--format", "json"], more].concat());
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {err}"));
    (output.status.code(), report, err)
}

#[test]
fn every_strategy_finds_a_race_that_every_run_shows() {
    if !is_ready() {
        return;
    }
    let program = build("counter_race.c");
    for strategy in ["random", "contest", "pct", "pos", "drfinder", "predict"] {
        let (code, report, err) = hunt(&["--strategy", strategy, "--runs", "3", "--", &program]);
        assert_eq!(code, Some(1), "{strategy}: {err}");
        assert!(report["races"].as_array().is_some_and(|races| !races.is_empty()), "{strategy}");
        assert_eq!(report["hunt"]["runs"].as_array().map(Vec::len), Some(3), "{strategy}");
    }
}

#[test]
fn a_deadlock_is_told_with_stacks_and_who_holds_what() {
    if !is_ready() {
        return;
    }
    let program = build("deadlock.c");
    let (code, report, err) = hunt(&["--strategy", "random", "--runs", "2", "--", &program]);
    assert_eq!(code, Some(1), "{err}");
    let deadlock = &report["hunt"]["deadlocks"][0];
    assert_eq!(deadlock["cycle"], 2, "{deadlock}");
    let (one, other) = (&deadlock["waiting"][0], &deadlock["waiting"][1]);
    assert_eq!((&one["held_by"], &other["held_by"]), (&other["thread"], &one["thread"]));
    assert_eq!(
        one["locks"][0]["lock"].as_str().map(|lock| format!("lock {lock}")).as_deref(),
        other["waits_for"].as_str()
    );
    assert!(one["stack"][0]["function"] == "one" || one["stack"][0]["function"] == "two", "{one}");
}

/// What a program prints is of no interest unless somebody says so; how runs end is.
#[test]
fn runs_that_end_badly_are_told_and_do_not_end_the_hunt() {
    if !is_ready() {
        return;
    }
    let program = build("endless.c");
    let begin = Instant::now();
    let command = format!("{program}; exit 3");
    let (code, report, err) = hunt(&[
        "--strategy",
        "random",
        "--runs",
        "2",
        "--jobs",
        "1",
        "--stop-after",
        "2s",
        "--",
        "sh",
        "-c",
        &command,
    ]);
    assert!(begin.elapsed() < Duration::from_secs(60));
    assert_eq!(code, Some(1), "{err}");
    let endings: Vec<_> =
        report["hunt"]["runs"].as_array().expect("a list").iter().map(|run| run["ending"].clone()).collect();
    assert!(
        endings.iter().all(|ending| ending.as_str().is_some_and(|text| text.contains("ended after 2s"))),
        "{endings:?}"
    );
}

#[test]
fn ctrl_c_ends_the_hunt_and_leaves_nobody_behind() {
    if !is_ready() {
        return;
    }
    let endless = endless();
    let output = interrupted_by("INT", &["hunt", "--strategy", "random"], &endless);
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(out.contains("interrupted"), "{out}");
    let left = Command::new("pgrep").args(["-f", &endless.0]).output().expect("pgrep runs");
    assert!(left.stdout.is_empty(), "{}", String::from_utf8_lossy(&left.stdout));
}

#[test]
fn a_program_that_was_not_built_for_it_is_named() {
    if !is_ready() {
        return;
    }
    let output = foretell(&["hunt", "--", "true"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("foretell cc"));
}

/// Whatever a strategy does, the program could have done: who keeps to the rules has no race under any. A thread that
/// parks may get its token just before it would wait.
#[test]
fn no_strategy_shows_races_that_are_none() {
    if !is_ready() {
        return;
    }
    let programs = [
        "barrier_norace.c",
        "condition_norace.c",
        "once_norace.c",
        "rwlock_norace.c",
        "semaphore_norace.c",
        "two_locks_norace.cpp",
        "rust_channel_norace.rs",
        "rust_park_norace.rs",
    ];
    for name in programs {
        let program = build(name);
        for strategy in ["contest", "pct", "drfinder", "predict"] {
            let (code, report, err) =
                hunt(&["--strategy", strategy, "--runs", "4", "--patience", "none", "--", &program]);
            assert_eq!(report["races"], serde_json::json!([]), "{name}, {strategy}: {err}");
            assert_eq!(code, Some(0), "{name}, {strategy}: {err} {}", report["notes"]);
        }
    }
}
