//! Programs that can deadlock, and programs that look as if they could: recorded in a run that gets through, and driven
//! into what was predicted.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::{build_in, foretell, is_ready, programs};

/// How often a deadlock was predicted, over some seeds; a run that gets stuck itself has shown it.
fn seen(name: &str, seeds: u64) -> Vec<(usize, Option<i32>, String)> {
    let program = build_in("deadlocks", name);
    let run = |seed: u64| {
        let confirms = seed == 1;
        let seed = seed.to_string();
        let options = ["run", "--find", "deadlocks", "--format", "json", "--no-progress", "--seed", &seed];
        let confirm = if confirms { &["--confirm"][..] } else { &[] };
        let output = foretell(&[&options[..], confirm, &["--", &program]].concat());
        let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let deadlocks = report["deadlocks"].as_array().map_or(&[][..], Vec::as_slice);
        for deadlock in deadlocks.iter().filter(|_| confirms) {
            assert_is_confirmed(name, deadlock);
        }
        let predicted = deadlocks.len();
        (predicted, output.status.code(), format!("{report}{}", String::from_utf8_lossy(&output.stderr)))
    };
    (1..=seeds).map(run).collect()
}

/// The program was driven into the deadlock: each thread waited where it should, for the next one.
fn assert_is_confirmed(name: &str, deadlock: &Value) {
    assert_eq!(deadlock["confirmation"]["confirmed"], true, "{name}: {}", deadlock["confirmation"]);
    let threads = |waiting: &Value| -> Vec<_> {
        let waiting = waiting.as_array().expect("those that wait");
        waiting.iter().map(|one| (one["thread"].clone(), one["held_by"].clone())).collect()
    };
    assert_eq!(threads(&deadlock["confirmation"]["waiting"]), threads(&deadlock["waiting"]), "{name}");
}

#[test]
fn a_deadlock_is_replayed_from_its_report_and_from_its_schedule() {
    if !is_ready() {
        return;
    }
    let program = build_in("deadlocks", "two_locks_bad.c");
    let file = |name: &str| Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).display().to_string();
    let (report, saved) = (file("deadlocks.json"), file("deadlocks.schedule"));
    foretell(&["run", "--find", "deadlocks", "--no-progress", "-o", &report, "--", &program]);
    let replayed = |arguments: &[&str]| {
        let output = foretell(&[&["replay"], arguments].concat());
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (code, text) = replayed(&[&report, "--deadlock", "1", "--save", &saved]);
    assert!(code == Some(1) && text.contains("deadlock · confirmed"), "{code:?} {text}");
    let schedule = fs::read_to_string(&saved).expect("the schedule was saved");
    let (code, text) = replayed(&[&saved, "--", &program]);
    assert!(code == Some(1) && text.contains("waits for lock"), "{code:?} {text}");
    // A thread that should wait does not: it has not gone as far as the others think.
    let waits: Vec<&str> = schedule.lines().filter(|line| line.starts_with("wait ")).collect();
    let turns: Vec<&str> = schedule.lines().filter(|line| !line.starts_with("wait ")).collect();
    let wrong = format!("{}\n{}\n", turns[..turns.len() - 1].join("\n"), waits.join("\n"));
    fs::write(&saved, wrong).expect("written");
    let (code, text) = replayed(&[&saved, "--", &program]);
    assert!(code == Some(3) && text.contains("not confirmed"), "{code:?} {text}");
    let output = foretell(&["replay", &report, "--deadlock", "9"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("no deadlock 9"), "{output:?}");
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
