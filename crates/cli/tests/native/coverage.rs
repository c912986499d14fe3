//! What a report says of how much it has seen, and of what it was not able to confirm.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::{build, foretell, is_ready};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A path for a file that is not there yet.
fn fresh(name: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    // What is left of an earlier run.
    let _ = fs::remove_file(&path);
    path.display().to_string()
}

fn json(bytes: &[u8]) -> Value {
    let printed = text(bytes);
    serde_json::from_str(printed.lines().last().unwrap_or_default()).expect("JSON")
}

#[test]
fn a_run_that_cannot_be_reordered_is_called_blind_in_every_form() {
    if !is_ready() {
        return;
    }
    let program = build("coverage/blind.c");
    let trace = fresh("blind.std");
    let forms = ["json", "sarif", "xml", "html"].map(|ending| fresh(&format!("blind.{ending}")));
    let mut arguments = vec!["run", "--no-progress", "--seed", "1", "--trace", &trace];
    forms.iter().for_each(|form| arguments.extend(["-o", form.as_str()]));
    arguments.extend(["--", &program]);
    let output = foretell(&arguments);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    for form in &forms {
        let written = fs::read_to_string(form).expect("a report");
        assert!(written.contains("calls unseen_library"), "{form}: {written}");
        assert!(
            written.contains(if form.ends_with("json") { "\"blind\":true" } else { "almost nothing" }),
            "{form}"
        );
    }
    let report: Value =
        serde_json::from_str(&fs::read_to_string(&forms[0]).expect("a report")).expect("JSON");
    let coverage = &report["trace"]["coverage"];
    assert_eq!(
        (&coverage["reorderable_accesses"], &coverage["thread_pairs"]),
        (&0.into(), &1.into()),
        "{coverage}"
    );
    assert!(coverage["concurrent_accesses"].as_u64() >= Some(20), "{coverage}");
    assert_eq!(coverage["causes"][0]["callee"], "unseen_library");
    let location = coverage["causes"][0]["location"].as_str().unwrap_or_default();
    assert!(location.contains("blind.c:1"), "{location}");
    // The trace tells the same, in its own words.
    let kept = foretell(&["predict", "--no-progress", "--format", "json", &trace]);
    assert_eq!(kept.status.code(), Some(3));
    assert_eq!(&json(&kept.stdout)["trace"]["coverage"], coverage);
    let streamed = foretell(&["predict", "--no-progress", "--technique", "hb", "--format", "json", &trace]);
    assert_eq!(&json(&streamed.stdout)["trace"]["coverage"], coverage);
    let shown = text(&foretell(&["predict", "--no-progress", &trace]).stdout);
    assert!(
        shown.lines().rev().take(2).any(|line| line.trim_start().starts_with("blind: almost nothing")),
        "{shown}"
    );
}

#[test]
fn one_thread_has_nothing_that_can_race() {
    if !is_ready() {
        return;
    }
    let output = foretell(&["run", "--no-progress", "--", &build("coverage/alone.c")]);
    let shown = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(shown.contains("coverage: one thread: nothing can race in this run"), "{shown}");
}

#[test]
fn programs_that_were_not_recorded_are_named() {
    if !is_ready() {
        return;
    }
    let program = build("coverage/starts_others.c");
    let output = foretell(&["run", "--no-progress", "--format", "json", "--", &program]);
    let reports = json(&output.stdout);
    let unrecorded = &reports[0]["trace"]["coverage"]["unrecorded_programs"];
    assert_eq!(unrecorded, &serde_json::json!(["/bin/echo", "/bin/true", "exit 0 # a shell"]), "{reports}");
    // The original, its copy, and two that were started again.
    assert_eq!(reports.as_array().map(Vec::len), Some(4));
}

#[test]
fn threads_that_were_not_recorded_are_counted() {
    if !is_ready() {
        return;
    }
    let output =
        foretell(&["run", "--no-progress", "--format", "json", "--", &build("stress/unseen_threads.c")]);
    let coverage = &json(&output.stdout)["trace"]["coverage"];
    assert_eq!(coverage["unrecorded_threads"], 1, "{coverage}");
}

#[test]
fn a_race_that_is_not_confirmed_is_marked_and_evidence_is_asked_for() {
    if !is_ready() {
        return;
    }
    let program = build("coverage/only_once.c");
    let forms = ["txt", "json", "sarif", "xml", "html"].map(|ending| fresh(&format!("only_once.{ending}")));
    let flag = fresh("only_once.flag");
    let mut arguments = vec!["run", "--no-progress", "--confirm", "--seed", "7"];
    forms.iter().for_each(|form| arguments.extend(["-o", form.as_str()]));
    arguments.extend(["--", &program, &flag]);
    let output = foretell(&arguments);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let asked = format!("foretell run --confirm --evidence evidence.tar.gz --seed 7 -- {program} {flag}");
    for form in &forms {
        let written = fs::read_to_string(form).expect("a report");
        // Text is wrapped.
        let plain = written.split_whitespace().collect::<Vec<_>>().join(" ");
        let mark = if form.ends_with(".json") { "\"confirmed\":false" } else { "not confirmed" };
        assert!(plain.contains(mark), "{form}: {plain}");
        assert!(plain.contains(&asked), "{form}: {plain}");
    }
    let sarif: Value = serde_json::from_str(&fs::read_to_string(&forms[2]).expect("a report")).expect("JSON");
    assert_eq!(sarif["runs"][0]["results"][0]["properties"]["confirmed"], false);
}

#[test]
fn evidence_is_packed_for_the_user_alone() {
    if !is_ready() {
        return;
    }
    let (program, archive) = (build("counter_race.c"), fresh("evidence.tar.gz"));
    let output = foretell(&["run", "--no-progress", "--evidence", &archive, "--", &program]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("also secrets"), "{}", text(&output.stderr));
    let mode = fs::metadata(&archive).expect("the archive").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let listed = Command::new("tar").args(["-tzf", &archive]).output().expect("tar runs");
    let listed = text(&listed.stdout);
    for part in ["command.txt", "versions.txt", "report.json", "race-1.schedule", ".ftraw"] {
        assert!(listed.lines().any(|line| line.ends_with(part)), "{part} is not in {listed}");
    }
}

#[test]
fn a_hunt_says_how_many_runs_could_not_be_looked_at() {
    if !is_ready() {
        return;
    }
    let program = build("coverage/only_once.c");
    for strategy in ["predict", "random"] {
        let hunt = |how: &str| {
            let flag = fresh(&format!("hunt_{strategy}_{how}.flag"));
            foretell(&[
                "hunt",
                "--no-progress",
                "--strategy",
                strategy,
                "--jobs",
                "1",
                "--runs",
                "3",
                "--",
                &program,
                &flag,
                how,
            ])
        };
        let all = hunt("always");
        assert_eq!(all.status.code(), Some(2), "{strategy}: {}", text(&all.stdout));
        assert!(text(&all.stdout).contains("(all failed or cut short)"), "{}", text(&all.stdout));
        let some = hunt("crash");
        assert_eq!(some.status.code(), Some(3), "{strategy}: {}", text(&some.stdout));
        assert!(text(&some.stdout).contains("(1 failed or cut short)"), "{}", text(&some.stdout));
    }
}
