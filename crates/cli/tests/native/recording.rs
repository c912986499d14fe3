//! What is recorded, and what happens when a program does not end well.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{build, foretell, is_ready, programs};
use foretell_testkit::process::limited;

/// The trace of a run, as text.
fn trace(program: &str, seed: u64, name: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).display().to_string();
    let recorded = foretell(&["record", "-o", &path, "--seed", &seed.to_string(), "--", program]);
    assert!(recorded.status.success(), "{}", String::from_utf8_lossy(&recorded.stderr));
    fs::read_to_string(path).expect("a trace")
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    if !is_ready() {
        return;
    }
    let program = build("threads_norace.cpp");
    let first = trace(&program, 7, "first.std");
    assert_eq!(first, trace(&program, 7, "second.std"));
    let others: Vec<String> = (8..14).map(|seed| trace(&program, seed, "other.std")).collect();
    assert!(others.iter().any(|other| *other != first), "seeds make a difference");
}

#[test]
fn every_read_of_a_hot_variable_is_explained() {
    if !is_ready() {
        return;
    }
    let program = build("hot_race.c");
    for seed in 1..=3 {
        let name = format!("hot{seed}.std");
        let text = trace(&program, seed, &name);
        let turns = text.lines().filter(|line| line.contains("|r(hot,")).map(|line| line.split('|').next());
        let turns: Vec<_> = turns.collect();
        assert_eq!(turns.len(), 8000);
        assert!(turns.windows(2).filter(|pair| pair[0] != pair[1]).count() > 4, "threads take turns");
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).display().to_string();
        let checked = foretell(&["trace", "check", &path]);
        let said = String::from_utf8_lossy(&checked.stdout).into_owned();
        assert!(checked.status.success() && !said.contains("no write explains"), "{said}");
    }
}

#[test]
fn a_deadlock_is_reported_and_does_not_hang() {
    if !is_ready() {
        return;
    }
    let program = build("deadlock.c");
    let output = foretell(&["run", "--no-progress", "--", &program]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("deadlock"), "{errors}");
    assert_eq!(output.status.code(), Some(2), "the recording is cut short: {errors}");
}

#[test]
fn a_source_file_is_built_and_run_in_one_step() {
    if !is_ready() {
        return;
    }
    let source = programs().join("counter_race.c").display().to_string();
    let output = foretell(&["run", "--no-progress", &source]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("counter_race.c:8:"), "{text}");
}

#[test]
fn an_instrumented_program_runs_alone() {
    if !is_ready() {
        return;
    }
    let status = limited(build("counter_norace.c")).status().expect("it runs");
    assert!(status.success());
}

#[test]
fn a_process_that_is_not_recorded_comes_to_no_code_with_hooks() {
    if !is_ready() {
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("asked");
    fs::create_dir_all(&folder).expect("a folder");
    let library = folder.join("asked.so");
    let source = programs().join("asked.c");
    let compiled =
        Command::new("clang-22").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status();
    assert!(compiled.is_ok_and(|status| status.success()), "asked.c is compiled");
    for name in ["counter_race.c", "virtual_race.cpp"] {
        let program = build(name);
        let run = |recorded: bool| {
            let mut command = limited(&program);
            command.env("LD_PRELOAD", &library);
            if recorded {
                command.env("FORETELL_LOG", &folder);
            }
            let output = command.output().expect("it runs");
            String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default().to_string()
        };
        assert_eq!(run(false), "asked 0 times", "{name}");
        assert_ne!(run(true), "asked 0 times", "{name}");
    }
}

#[test]
fn a_program_that_records_nothing_is_named() {
    let output = foretell(&["run", "--no-progress", "--", "true"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("foretell cc"));
}

#[test]
fn an_explanation_does_not_take_the_program_for_its_trace() {
    if !is_ready() {
        return;
    }
    let program = build("atomic_and_plain_race.c");
    let report = format!("{program}.json");
    foretell(&["run", "-o", &report, "--", &program]);
    let output = foretell(&["explain", &report, "--race", "1"]);
    let text = String::from_utf8_lossy(&output.stdout);
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(words.join(" ").contains("was not kept (`foretell run --trace FILE` keeps it"), "{text}");
}
