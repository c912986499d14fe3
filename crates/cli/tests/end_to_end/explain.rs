//! `explain`: one race of a report at length, or why a pair is none.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{Ran, command, file, folder, foretell_with_input};

/// The auditor could come first, and main does not take the lock for the total; the sum is safe.
const TRACE: &str = "\
main|fork(teller)|bank.c:20:5
main|fork(auditor)|bank.c:21:5
teller|w(note,1)|bank.c:2:5
teller|acq(lock)|bank.c:3:5
teller|w(sum,1)|bank.c:4:5
teller|w(total,1)|bank.c:5:5
teller|rel(lock)|bank.c:6:5
auditor|acq(lock)|bank.c:10:5
auditor|r(limit,0)|bank.c:11:10
auditor|rel(lock)|bank.c:12:5
auditor|r(note,1)|bank.c:13:10
main|r(total,1)|bank.c:22:5
main|acq(lock)|bank.c:23:5
main|r(sum,1)|bank.c:24:5
main|rel(lock)|bank.c:25:5
";

const SOURCE: &str = "void teller(void) {\n    note = 1;\n    lock();\n    sum = 1;\n    total = 1;\n    unlock();\n}\n\n\
                      void auditor(void) {\n    lock();\n    look(limit);\n    unlock();\n    look(note);\n}\n";

/// A folder with the trace, the program, and the report on it.
fn reported(test: &str) -> PathBuf {
    let folder = folder(test);
    file(&folder, "bank.c", SOURCE);
    file(&folder, "bank.std", TRACE);
    assert_eq!(foretell_in(&folder, &["predict", "bank.std", "-o", "report.json"]).code, 1);
    folder
}

fn foretell_in(folder: &Path, args: &[&str]) -> Ran {
    command().args(args).current_dir(folder).output().expect("foretell runs").into()
}

/// What is explained, in words.
fn explained(folder: &Path, args: &[&str]) -> String {
    let ran = foretell_in(folder, &[&["explain", "report.json"], args].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.out.lines().all(|line| line.chars().count() <= 80 || line.starts_with("      ")),
        "{}",
        ran.out
    );
    ran.words()
}

fn refused(folder: &Path, args: &[&str]) -> String {
    let ran = foretell_in(folder, &[&["explain"], args].concat());
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
    ran.err
}

fn assert_says(text: &str, expected: &[&str]) {
    for expected in expected {
        assert!(text.contains(expected), "`{expected}` is not in {text}");
    }
}

#[test]
fn a_proven_race_is_explained_and_checked_again() {
    let folder = reported("explain_proven");
    let text = explained(&folder, &["--race", "2"]);
    assert_says(
        &text,
        &[
            "race 2: note · proven: teller writes it while auditor reads it",
            "Two threads access the same memory",
            "2 | note = 1; | ^^^^",
            "13 | look(note); | ^^^^",
            "Neither thread holds a lock.",
            "» reads note",
            "teller unlocks lock at bank.c:6:5 (event 7) before auditor locks lock at bank.c:10:5 (event 8), by accident",
            "Checked again just now: the referee accepts the proof on bank.std.",
            "hold one lock at both places",
            "foretell explain report.json --race 2 --witness all",
        ],
    );
    assert_eq!(explained(&folder, &["--race", "1"]), explained(&folder, &[]));
    let all = explained(&folder, &["--race", "2", "--witness", "all"]);
    assert!(!all.contains("more step") && !all.contains("every step of the schedule"), "{all}");
}

#[test]
fn what_locks_have_to_do_with_it_is_told() {
    let folder = reported("explain_locks");
    let text = explained(&folder, &["--race", "1"]);
    assert_says(
        &text,
        &[
            "teller holds lock, but main holds no lock",
            "take lock also at bank.c:22:5",
            "join teller before bank.c:22:5",
        ],
    );
    let explain = |trace: &str, expected: &[&str]| {
        file(&folder, "other.std", trace);
        assert_eq!(foretell_in(&folder, &["predict", "other.std", "-o", "report.json"]).code, 1);
        assert_says(&explained(&folder, &[]), expected);
    };
    let different = "A|acq(l)|1\nA|w(x)|2\nA|rel(l)|3\nB|acq(m)|4\nB|w(x)|5\nB|rel(m)|6\n";
    explain(different, &["A holds l and B holds m: these are different locks", "decide on one lock for x"]);
    let readers = "A|racq(l)|1\nA|w(x)|2\nA|rrel(l)|3\nB|racq(l)|4\nB|w(x)|5\nB|rrel(l)|6\n";
    explain(readers, &["Both hold l, but only as readers", "acquire the lock exclusively"]);
    explain("A|w(x)|1\nB|astore.sc(x)|2\n", &["make the other access atomic as well: the one at 1"]);
    explain(
        "A|alloc(x)|1\nA|fork(B)|2\nB|r(x)|3\nA|free(x)|4\n",
        &["free the memory only when all threads are done"],
    );
}

#[test]
fn a_pair_that_is_no_race_is_explained() {
    let folder = reported("explain_refuted");
    let expected = [
        "events 5 and 14, sum: no race",
        "teller writes sum = 1 at bank.c:4:5",
        "Suppose that the two were adjacent",
        "event 4 (teller locks lock at bank.c:3:5)",
        "In another run the program may take another path",
    ];
    assert_says(&explained(&folder, &["--pair", "14,5"]), &expected);
    let lines = explained(&folder, &["--pair", "bank.c:24,bank.c:4"]);
    assert_says(&lines, &expected);
    assert_says(
        &lines,
        &["1 pair was examined, the nearest first (these are all): 1 cannot race, 0 not decided"],
    );
    let race = explained(&folder, &["--pair", "bank.c:2,bank.c:13:10"]);
    assert_says(
        &race,
        &["events 3 and 11, note: race · proven", "this pair races", "by accident", "Checked again just now"],
    );
}

#[test]
fn what_is_not_decided_says_why_and_what_would_decide_it() {
    let folder = folder("explain_undecided");
    file(&folder, "bank.std", TRACE);
    let explain = |args: &[&str], expected: &[&str]| {
        let args = [&["predict", "bank.std", "-o", "report.json"], args].concat();
        assert_eq!(foretell_in(&folder, &args).code, 3);
        assert_says(&explained(&folder, &[]), expected);
        assert_says(&explained(&folder, &["--candidate", "1"]), expected);
    };
    let budget = [
        "the budget for one pair ran out",
        "More time: --budget 10m",
        "explain report.json --pair",
        " --budget 10m",
    ];
    explain(&["-t", "rv", "--budget", "0s"], &budget);
    explain(&["-t", "lockset"], &["lockset does not prove what it reports", "--technique rv"]);
    let text = explained(&folder, &["--pair", "3,11", "--window", "2"]);
    assert_says(&text, &["no race within a window of 2 events", "--window all"]);
}

#[test]
fn without_its_trace_a_report_still_says_all_it_knows() {
    let folder = reported("explain_without_trace");
    std::fs::rename(folder.join("bank.std"), folder.join("moved.std")).expect("a trace");
    let text = explained(&folder, &["--race", "2"]);
    assert_says(
        &text,
        &["» reads note", "It was not checked again now: the trace bank.std cannot be found", "by accident"],
    );
    assert_says(&explained(&folder, &["--race", "2", "--witness", "all"]), &["not every step can be shown"]);
    assert_says(
        &refused(&folder, &["report.json", "--pair", "5,14"]),
        &["only be decided with the trace", "--trace FILE"],
    );
    let text = explained(&folder, &["--race", "2", "--trace", "moved.std"]);
    assert_says(&text, &["the referee accepts the proof on moved.std"]);
    // Another trace is not taken for it.
    file(&folder, "bank.std", TRACE.replace("r(note,1)", "r(memo,1)"));
    assert_says(
        &explained(&folder, &["--race", "2"]),
        &["is not the trace of the report any more: event 11 is not what auditor does"],
    );
    let other = refused(&folder, &["report.json", "--trace", "bank.std"]);
    assert_says(&other, &["bank.std is not the trace of the report"]);
    assert_says(&refused(&folder, &["report.json", "--trace", "nowhere"]), &["cannot read nowhere"]);
}

#[test]
fn a_proof_that_does_not_hold_is_rejected() {
    let folder = reported("explain_rejected");
    let text = std::fs::read_to_string(folder.join("report.json")).expect("a report");
    let mut report: Value = serde_json::from_str(&text).expect("JSON");
    report["races"][1]["witness"] = serde_json::json!([1, 2, 8, 3, 11]);
    file(&folder, "report.json", report.to_string());
    assert_says(&explained(&folder, &["--race", "2"]), &["REJECTED on bank.std", "foretell has a bug"]);
    report["races"][1]["witness"] = serde_json::json!([1, 99, 3, 11]);
    file(&folder, "report.json", report.to_string());
    assert_says(&explained(&folder, &["--race", "2"]), &["REJECTED", "steps that the trace has not"]);
}

#[test]
fn a_source_that_has_changed_is_noticed() {
    let folder = reported("explain_changed");
    file(&folder, "bank.c", SOURCE.replace("note = 1", "memo = 2"));
    let text = explained(&folder, &["--race", "2"]);
    assert_says(
        &text,
        &["the source around bank.c:2:5 has changed since the report was written", "2 | note = 1;"],
    );
    // What the report could not show is shown now.
    let folder = crate::folder("explain_later");
    file(&folder, "bank.std", TRACE);
    assert_eq!(foretell_in(&folder, &["predict", "bank.std", "-o", "report.json"]).code, 1);
    assert_says(&explained(&folder, &["--race", "2"]), &["(bank.c cannot be read here)"]);
    file(&folder, "bank.c", SOURCE);
    assert_says(&explained(&folder, &["--race", "2"]), &["2 | note = 1;"]);
}

#[test]
fn one_of_several_reports() {
    let folder = reported("explain_several");
    assert_eq!(foretell_in(&folder, &["predict", "bank.std", "bank.std", "-o", "report.json"]).code, 1);
    assert_says(
        &refused(&folder, &["report.json"]),
        &["holds 2 reports", "--report 2: bank.std, auto, 2 proven"],
    );
    assert_says(&refused(&folder, &["report.json", "--report", "3"]), &["has no report 3"]);
    assert_says(&explained(&folder, &["--report", "2"]), &["explain report.json --report 2 --race 1"]);
}

#[test]
fn what_is_no_report_is_refused_with_what_it_is() {
    let folder = reported("explain_refused");
    let refuse = |text: &str, expected: &str| {
        let name = file(&folder, "other.json", text);
        let said = refused(&folder, &[&name]);
        assert_says(&said, &[expected, "-o report.json` writes a report"]);
    };
    refuse("", "no JSON report: EOF");
    refuse("race 1: note", "no JSON report: expected value at line 1 column 1");
    refuse("{\"tool\":\"foretell\",", "no JSON report: EOF");
    refuse("[]", "holds no report");
    refuse("[1]", "JSON, but no report");
    refuse(&"[".repeat(100_000), "no JSON report");
    refuse("{\"version\":\"2.1.0\",\"runs\":[]}", "a SARIF file");
    let ran = foretell_in(&folder, &["predict", "bank.std", "--pair", "3,11", "--format", "json"]);
    refuse(&ran.out, "the word on one pair");
    let ran = foretell_in(&folder, &["explore", "bank.std", "--format", "json"]);
    refuse(&ran.out, "an exploration");
    file(&folder, "bytes.json", b"\xff\xfe");
    assert_says(&refused(&folder, &["bytes.json"]), &["nor any other text"]);
    assert_says(&refused(&folder, &["missing.json"]), &["cannot read missing.json"]);
    assert_says(
        &refused(&folder, &["report.json", "--race", "3"]),
        &["there is no race 3: the report has 2"],
    );
    assert_says(&refused(&folder, &["report.json", "--candidate", "1"]), &["the report has no candidate"]);
    for (pair, why) in [
        ("4,5", "both of thread teller"),
        ("3,99", "there is no event 99"),
        ("bank.c:2,bank.c:99", "no access at bank.c:99"),
        ("bank.c:2,bank.c:11", "conflict"),
        ("3", "expected two events such as 3,10"),
    ] {
        assert_says(&refused(&folder, &["report.json", "--pair", pair]), &[why]);
    }
    file(&folder, "clean.std", "A|w(x)|1\n");
    foretell_in(&folder, &["predict", "clean.std", "-o", "clean.json"]);
    assert_says(&refused(&folder, &["clean.json"]), &["neither a race nor an undecided pair"]);
}

#[test]
fn a_report_may_come_by_a_pipe_and_be_nonsense() {
    let folder = reported("explain_nonsense");
    let text = std::fs::read_to_string(folder.join("report.json")).expect("a report");
    let ran = foretell_with_input(&["explain", "-"], text.as_bytes());
    assert!(ran.code == 0 && ran.out.starts_with("race 1: total"), "{}{}", ran.out, ran.err);
    // Whatever numbers somebody writes into a report, it is told or refused.
    let report: Value = serde_json::from_str(&text).expect("JSON");
    let mut paths = Vec::new();
    numbers(&report, String::new(), &mut paths);
    assert!(paths.len() > 40);
    for path in paths {
        for number in [0, 1, u64::from(u32::MAX)] {
            let mut other = report.clone();
            *other.pointer_mut(&path).expect("a number") = number.into();
            let ran = foretell_with_input(&["explain", "-"], other.to_string().as_bytes());
            assert!([0, 2].contains(&ran.code), "{path}: {}", ran.err);
        }
    }
}

/// The paths of all numbers.
fn numbers(value: &Value, path: String, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| numbers(value, format!("{path}/{name}"), found));
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, value)| numbers(value, format!("{path}/{index}"), found));
        }
        Value::Number(number) if number.is_u64() => found.push(path),
        _ => {}
    }
}
