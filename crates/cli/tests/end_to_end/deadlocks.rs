//! Deadlocks: found, refuted, reported, suppressed, and asked for.

use std::collections::BTreeSet;
use std::fs;

use foretell_testkit::corpus::examples;
use serde_json::Value;

use crate::{folder, foretell, foretell_in, repository};

/// The events of each deadlock of a report.
fn stuck(report: &Value) -> BTreeSet<Vec<u32>> {
    let event = |thread: &Value| u32::try_from(thread["event"].as_u64().expect("a number")).expect("small");
    let events = |deadlock: &Value| {
        let mut waits: Vec<u32> = deadlock["waiting"].as_array().expect("a list").iter().map(event).collect();
        waits.sort_unstable();
        waits.extend(deadlock.get("ended").map(event));
        waits
    };
    report.get("deadlocks").and_then(Value::as_array).into_iter().flatten().map(events).collect()
}

#[test]
fn every_example_through_the_program() {
    for example in examples() {
        let path = repository().join("corpus").join(format!("{}.std", example.name));
        let path = path.to_str().expect("a plain path");
        let mut options = vec!["predict", "--find", "deadlocks", "--pairs", "all", "--format", "json"];
        options.extend(["--technique", "rf", path]);
        let ran = foretell(&options);
        let report = ran.json();
        assert_eq!(stuck(&report), example.deadlocks, "{}", example.name);
        assert_eq!(report["races"], serde_json::json!([]), "{}: races were not asked for", example.name);
        assert_eq!(ran.code == 1, !example.deadlocks.is_empty(), "{}: {}", example.name, ran.code);
    }
}

/// The trace in the documentation, and what is said of it there.
fn documented() -> (String, String) {
    let page = fs::read_to_string(repository().join("docs/deadlocks.md")).expect("the page is there");
    let block = |kind: &str| {
        let (_, after) = page.split_once(&format!("```{kind}\n")).expect("a block");
        after.split_once("```").expect("its end").0.to_string()
    };
    (block("trace"), block("text"))
}

#[test]
fn the_documented_deadlock_is_told_in_all_forms() {
    let folder = folder("documented_deadlock");
    let (trace, told) = documented();
    fs::write(folder.join("bank.std"), trace).expect("the folder is writable");
    let outputs = ["-o", "r.txt", "-o", "r.json", "-o", "r.html", "-o", "r.sarif", "-o", "r.xml"];
    let ran = foretell_in(&folder, &[&["predict", "bank.std"], &outputs[..]].concat());
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    let read = |name: &str| fs::read_to_string(folder.join(name)).expect("it was written");
    assert!(read("r.txt").contains(&told), "{}", read("r.txt"));
    assert!(read("r.txt").contains("no race proven, 1 deadlock proven"), "{}", read("r.txt"));
    let report: Value = serde_json::from_str(&read("r.json")).expect("JSON");
    assert_eq!(stuck(&report), BTreeSet::from([vec![4, 9]]));
    assert_eq!(report["deadlocks"][0]["witness"], serde_json::json!([1, 2, 3, 8, 4, 9]));
    let sarif: Value = serde_json::from_str(&read("r.sarif")).expect("JSON");
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "deadlock");
    assert!(read("r.xml").contains("type=\"deadlock\"") && read("r.xml").contains("failures=\"1\""));
    assert!(read("r.html").contains("2 threads wait for each other (proven by a schedule)"));

    fs::write(folder.join("rules"), "deadlock:^left$\n").expect("the folder is writable");
    let ran = foretell_in(&folder, &["predict", "--suppressions", "rules", "--format", "json", "bank.std"]);
    let report = ran.json();
    assert_eq!((ran.code, &report["suppressed"]["count"]), (0, &1.into()));
    assert_eq!(report["suppressed"]["deadlocks"][0]["rule"], "deadlock:^left$");
    let ran = foretell_in(&folder, &["predict", "--baseline", "r.json", "--format", "json", "bank.std"]);
    assert_eq!((ran.code, &ran.json()["known"]["count"]), (0, &1.into()));
    let ran = foretell_in(&folder, &["predict", "--find", "races", "bank.std"]);
    assert!(ran.code == 0 && !ran.out.contains("deadlock"), "{}", ran.out);
}

#[test]
fn what_cannot_be_found_is_refused() {
    let path = repository().join("examples/bank.std");
    let path = path.to_str().expect("a plain path");
    for (options, said) in [
        (&["--find", "wakeups"][..], "does not look for wakeups yet"),
        (&["--find", "locks"], "expected races, deadlocks, memory or all"),
        (&["--find", "deadlocks", "--technique", "shb"], "shb does not prove that"),
        (&["--find", "races,deadlocks", "--slice", "on balance"], "a slice does not have all locks"),
    ] {
        let ran = foretell(&[&["predict"], options, &[path]].concat());
        assert!(ran.code == 2 && ran.err.contains(said), "{options:?}: {} {}", ran.code, ran.err);
    }
    let ran = foretell(&["predict", "--find", "all", "--technique", "auto", path]);
    assert_eq!(ran.code, 1, "{}", ran.err);
}

#[test]
fn a_program_that_got_through_can_deadlock() {
    let folder = folder("cimp_deadlock");
    let program = "shared x;\nlock l, m;\n{\n{ sync (l) { sync (m) { x := 1; } } }\n||\n\
        { sync (m) { sync (l) { x := 2; } } }\n}\n";
    fs::write(folder.join("p.cimp"), program).expect("the folder is writable");
    let ran = foretell_in(&folder, &["run", "--find", "deadlocks", "--format", "json", "p.cimp"]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    let deadlock = &ran.json()["deadlocks"][0];
    assert_eq!(deadlock["waiting"].as_array().map(Vec::len), Some(2));
    assert_eq!(deadlock["confirmation"]["confirmed"], true, "the program was driven into it");
}
