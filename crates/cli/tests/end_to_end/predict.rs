//! `predict` with techniques that look at each event once.

use foretell_predict::Technique;
use foretell_testkit::corpus::examples;
use serde_json::Value;

use crate::{file, folder, foretell, foretell_with_input, repository};

fn pairs(list: &Value) -> Vec<(u64, u64)> {
    let event = |access: &Value| access["event"].as_u64().expect("a number");
    let list = list.as_array().expect("a list");
    list.iter().map(|pair| (event(&pair["first"]), event(&pair["second"]))).collect()
}

#[test]
fn every_example_through_the_program() {
    for example in examples() {
        let path = repository().join("corpus").join(format!("{}.std", example.name));
        let path = path.to_str().expect("a plain path");
        let streaming = Technique::ALL.into_iter().filter(|technique| !technique.decides_pairs());
        for technique in streaming.map(Technique::name) {
            let ran =
                foretell(&["predict", "--pairs", "all", "--format", "json", "--technique", technique, path]);
            let report = ran.json();
            let (races, undecided) = (pairs(&report["races"]), pairs(&report["undecided"]));
            let mut all: Vec<_> = races.iter().chain(&undecided).copied().collect();
            all.sort_unstable();
            let expected: Vec<_> =
                example.expected(technique).iter().map(|&(a, b)| (u64::from(a), u64::from(b))).collect();
            assert_eq!(all, expected, "{} {technique}", example.name);
            let code = if !races.is_empty() {
                1
            } else if !undecided.is_empty() {
                3
            } else {
                0
            };
            assert_eq!(ran.code, code, "{} {technique}", example.name);
        }
    }
}

#[test]
fn techniques_without_proofs_prove_nothing() {
    for technique in ["cp", "wcp", "dco", "lockset"] {
        for example in examples() {
            let ran =
                foretell_with_input(&["predict", "--technique", technique, "-"], example.text.as_bytes());
            assert_ne!(ran.code, 1, "{technique} {}", example.name);
            assert!(!ran.out.contains("proven:"), "{technique} {}: {}", example.name, ran.out);
            if ran.code == 3 {
                assert!(ran.out.contains("candidates, not proven to be races"), "{}", ran.out);
            }
        }
    }
}

#[test]
fn a_witness_ends_with_the_racing_two() {
    let path = repository().join("examples/bank.std");
    let ran = foretell(&["predict", "--format", "json", path.to_str().expect("a plain path")]);
    assert_eq!(ran.code, 1);
    let report = ran.json();
    assert_eq!(report["tool"], "foretell");
    assert_eq!(report["technique"], "auto");
    assert_eq!(report["trace"]["events"], 17);
    assert_eq!(report["trace"]["threads"], 3);
    let race = &report["races"][0];
    assert_eq!(race["witness"], serde_json::json!([1, 2, 3, 10, 11, 12, 13, 4, 14]));
    assert_eq!(race["proof"], "adjacent");
    assert_eq!(
        race["first"],
        serde_json::json!({
            "event": 4, "thread": "teller", "op": "w", "target": "note", "value": "1", "location": "bank.c:12",
            "locks": [], "thread_started": {"event": 1, "thread": "main", "location": "bank.c:40"},
            "excerpt": {"first": 12, "lines": [], "doubt": "missing"},
        })
    );
}

#[test]
fn one_race_per_location_pair_unless_all_are_wanted() {
    let text = "A|w(x)|1\nA|w(x)|1\nB|w(x)|2\nB|w(x)|2\n";
    let count = |wanted: &str| {
        let ran =
            foretell_with_input(&["predict", "--format", "json", "--pairs", wanted, "-"], text.as_bytes());
        ran.json()["races"].as_array().expect("a list").len()
    };
    assert_eq!((count("location"), count("all")), (1, 4));
}

#[test]
fn a_provable_pair_is_found_behind_one_that_is_not() {
    // (1,4) and (4,5) are at the same locations; only the second is a race.
    let text = "T1|w(y)|A\nT1|w(x)|B\nT2|r(x)|C\nT2|r(y)|D\nT3|w(y)|A\n";
    let report =
        foretell_with_input(&["predict", "--technique", "hb", "--format", "json", "-"], text.as_bytes())
            .json();
    assert!(pairs(&report["races"]).contains(&(4, 5)), "{report}");
    assert_eq!(pairs(&report["undecided"]), []);
}

#[test]
fn forgotten_accesses_leave_the_answer_open() {
    let many: String = (0..3000).map(|number| format!("T3|aload.rlx(x)|L{number}\n")).collect();
    let end = "T3|acq(l)|z1\nT3|rel(l)|z2\nT2|acq(l)|z3\nT2|rel(l)|z4\nT2|w(x)|z5\n";
    let text = format!("T1|aload.rlx(x)|a\n{many}{end}");
    let ran = foretell_with_input(&["predict", "--technique", "shb", "-"], text.as_bytes());
    assert_eq!(ran.code, 3, "{}", ran.out);
    assert!(ran.out.contains("dropped from the bounded history"), "{}", ran.out);
    let ran = foretell_with_input(&["predict", "--technique", "shb", "--pairs", "all", "-"], text.as_bytes());
    assert_eq!(ran.code, 1, "{}", ran.out);
}

#[test]
fn long_witnesses_are_checked_but_not_printed() {
    let text = "A|r(y)|1\n".repeat(50) + "A|w(x)|2\nB|w(x)|3\n";
    let args = ["predict", "--format", "json", "--witness", "10", "-"];
    let report = foretell_with_input(&args, text.as_bytes()).json();
    assert_eq!(report["races"][0]["witness"], Value::Null);
    assert_eq!(report["races"][0]["witness_length"], 52);
    assert_eq!(report["stats"]["witnesses_not_printed"], 1);
}

#[test]
fn a_race_that_only_the_language_knows_of_is_proven_unordered() {
    let path = repository().join("corpus/relaxed_publication.std");
    let ran = foretell(&["predict", "--format", "json", path.to_str().expect("a plain path")]);
    let report = ran.json();
    assert_eq!(ran.code, 1);
    assert_eq!(report["races"][0]["proof"], "unordered");
    assert_eq!(report["races"][0]["witness"], Value::Null);
}

#[test]
fn several_techniques_and_traces_make_several_reports() {
    let bank = repository().join("examples/bank.std");
    let bank = bank.to_str().expect("a plain path");
    let ran = foretell(&["predict", "--format", "json", "--technique", "hb,syncp", bank, bank]);
    assert_eq!(ran.code, 1);
    let report = ran.json();
    let techniques: Vec<_> =
        report.as_array().expect("a list").iter().map(|report| &report["technique"]).collect();
    assert_eq!(techniques, ["hb", "syncp", "hb", "syncp"]);
}

#[test]
fn reports_go_to_files() {
    let folder = folder("reports_go_to_files");
    let trace = file(&folder, "racy.std", "A|w(x)|1\nB|w(x)|2\n");
    let report = folder.join("report.json");
    let ran =
        foretell(&["predict", "--format", "json", "-o", report.to_str().expect("a plain path"), &trace]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    let report: Value = serde_json::from_slice(&std::fs::read(report).expect("a report")).expect("JSON");
    assert_eq!(report["races"].as_array().expect("a list").len(), 1);
}

#[test]
fn names_cannot_drive_the_terminal() {
    let text = "A\u{1b}[31m|w(x\u{7})|1\nB|w(x\u{7})|\u{1b}]0;title\u{7}\n";
    let ran = foretell_with_input(&["predict", "-"], text.as_bytes());
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(!ran.out.contains('\u{1b}') && !ran.out.contains('\u{7}'), "{:?}", ran.out);
    let view = foretell_with_input(&["trace", "view", "-"], text.as_bytes());
    assert!(!view.out.contains('\u{1b}'), "{:?}", view.out);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let racy: String = (0..200_000).map(|number| format!("T{}|w(x)|{number}\n", number % 2)).collect();
    let folder = folder("a_reader_that_has_seen_enough");
    let path = file(&folder, "long.std", racy);
    let status = std::process::Command::new("sh")
        .args([
            "-c",
            "\"$0\" trace view --count all \"$1\" | head -n 1",
            env!("CARGO_BIN_EXE_foretell"),
            &path,
        ])
        .output()
        .expect("a shell");
    assert!(status.stderr.is_empty(), "{}", String::from_utf8_lossy(&status.stderr));
}

#[test]
fn progress_is_not_drawn_into_a_pipe() {
    let bank = repository().join("examples/bank.std");
    assert_eq!(foretell(&["predict", bank.to_str().expect("a plain path")]).err, "");
}
