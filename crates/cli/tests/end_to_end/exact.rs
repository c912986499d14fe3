//! `predict` with techniques that decide pairs one by one.

use std::collections::BTreeSet;

use foretell_predict::Technique;
use foretell_testkit::corpus::{Numbers, examples};
use foretell_testkit::tiny::{self, Features, Shape};
use serde_json::Value;

use crate::{Ran, file, folder, foretell, foretell_with_input, repository};

const RACY: &str = "A|w(x)|1\nB|w(x)|2\n";

fn deciding() -> impl Iterator<Item = &'static str> {
    let all = Technique::ALL.into_iter().filter(|technique| technique.decides_pairs());
    all.map(Technique::name).chain(["auto"])
}

/// The report without what differs from run to run.
fn essence(ran: &Ran) -> Value {
    let mut report = ran.json();
    report["stats"]["seconds"] = Value::Null;
    report["stats"]["peak_memory_bytes"] = Value::Null;
    report
}

fn code_for(report: &Value) -> i32 {
    let is_empty = |list: &str| report[list].as_array().expect("a list").is_empty();
    let stats = &report["stats"];
    if !is_empty("races") || report.get("deadlocks").is_some() {
        1
    } else if !is_empty("undecided") || stats["not_in_window"] != 0 || stats["not_examined"] != 0 {
        3
    } else {
        0
    }
}

#[test]
fn every_example_through_the_program() {
    for example in examples() {
        for technique in deciding() {
            for wanted in ["all", "location"] {
                let args = ["predict", "--pairs", wanted, "--format", "json", "--technique", technique, "-"];
                let ran = foretell_with_input(&args, example.text.as_bytes());
                let report = ran.json();
                let what = format!("{} {technique} {wanted}: {report}", example.name);
                assert_eq!(ran.code, code_for(&report), "{what}");
                assert_eq!(
                    (&report["interrupted"], &report["notes"]),
                    (&false.into(), &Value::Array(vec![]))
                );
                for race in report["races"].as_array().expect("a list") {
                    assert!(race["first"]["event"].as_u64() < race["second"]["event"].as_u64(), "{what}");
                }
            }
        }
    }
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_jobs() {
    let folder = folder("the_number_of_jobs");
    let features = Features { values: true, branches: true, ..Features::ALL };
    for seed in 0..6 {
        let locations = (seed % 2 == 0).then_some(9);
        let shape = Shape { locations, ..Shape::new(features, 150) };
        let trace = file(&folder, "trace.std", tiny::trace(seed, shape));
        for technique in ["rv", "rf", "auto"] {
            for wanted in ["location", "all"] {
                let run = |jobs: &str| {
                    let args = ["predict", "--format", "json", "--technique", technique, "--pairs", wanted];
                    essence(&foretell(&[&args[..], &["--jobs", jobs, &trace]].concat()))
                };
                let alone = run("1");
                assert_eq!(alone, run("2"), "seed {seed} {technique} {wanted}");
                assert_eq!(alone, run("7"), "seed {seed} {technique} {wanted}");
            }
        }
    }
}

#[test]
fn what_an_earlier_stage_has_proven_is_not_asked_again() {
    for wanted in ["location", "all"] {
        let args = ["predict", "--format", "json", "--pairs", wanted, "-"];
        let report = foretell_with_input(&args, RACY.as_bytes()).json();
        assert_eq!(report["races"].as_array().expect("a list").len(), 1);
        assert_eq!(report["undecided"], Value::Array(vec![]));
        assert_eq!(report["stats"]["refuted"], 0);
    }
}

#[test]
fn without_time_nothing_is_decided() {
    for wanted in ["location", "all"] {
        let args =
            ["predict", "--technique", "rv", "--budget", "0s", "--pairs", wanted, "--format", "json", "-"];
        let text = "A|acq(l)|1\nA|w(x)|2\nA|rel(l)|3\nB|acq(l)|4\nB|rel(l)|5\nB|w(x)|6\n".repeat(3);
        let ran = foretell_with_input(&args, text.as_bytes());
        let report = ran.json();
        if wanted == "location" {
            assert_eq!((ran.code, report["undecided"].as_array().map(Vec::len)), (3, Some(1)), "{report}");
            assert_eq!(report["undecided"][0]["reason"], "the budget for one pair ran out");
            assert!(report["undecided"][0]["more"].as_u64() > Some(1), "{report}");
        }
        assert_eq!(ran.code, code_for(&report), "{report}");
    }
}

#[test]
fn a_trace_without_room_is_left_undecided() {
    let bank = repository().join("examples/bank.std");
    let bank = bank.to_str().expect("a plain path");
    let ran = foretell(&["predict", "--technique", "seqcheck", "--memory", "1K", bank]);
    assert_eq!(ran.code, 3, "{}", ran.out);
    assert!(ran.out.contains("17 events") && ran.out.contains("room for 6 events"), "{}", ran.out);
    // In shards of two events there is little to find.
    let ran = foretell(&["predict", "--technique", "rv", "--memory", "1K", bank]);
    assert_eq!(ran.code, 3, "{}", ran.out);
    assert!(ran.out.contains("17 events") && ran.out.contains("within a window of 2 events"), "{}", ran.out);
    let notes = |trace: &str| {
        let ran = foretell(&["predict", "--technique", "auto", "--memory", "1K", "--format", "json", trace]);
        (ran.code, ran.json()["notes"].as_array().map(Vec::len))
    };
    // All that conflicts in the one was proven to race before the whole trace was needed, but not in the other.
    assert_eq!(notes(bank), (1, Some(0)));
    let figure = repository().join("corpus/rv_figure4.std");
    assert_eq!(notes(figure.to_str().expect("a plain path")), (3, Some(1)));
    let ran = foretell(&["predict", "--pair", "4,14", "--memory", "1K", bank]);
    assert_eq!((ran.code, ran.err.contains("--memory")), (2, true), "{}", ran.err);
}

#[test]
fn windows_are_taken_and_told() {
    for window in ["2", "1000", "all"] {
        let args = ["predict", "--technique", "rv", "--window", window, "--format", "json", "-"];
        let report = foretell_with_input(&args, RACY.as_bytes()).json();
        assert_eq!(report["window"].as_u64(), window.parse().ok(), "{report}");
    }
}

#[test]
fn one_pair_alone() {
    for technique in deciding() {
        let args = ["predict", "--technique", technique, "--pair", "2,1", "-"];
        let ran = foretell_with_input(&[&args[..], &["--format", "json"]].concat(), RACY.as_bytes());
        let decision = ran.json();
        assert_eq!(decision["technique"], technique);
        assert_eq!((&decision["first"]["event"], &decision["second"]["event"]), (&1.into(), &2.into()));
        assert!(decision["steps"].is_array() && decision["stats"]["seconds"].is_number());
        let (code, said) = match decision["verdict"].as_str() {
            Some("race") => (1, "race · proven"),
            Some("no-race") => (0, "no race"),
            Some("not-in-window") => (3, "no race within"),
            Some("undecided") => (3, "undecided: "),
            other => panic!("{other:?}"),
        };
        assert_eq!(ran.code, code, "{decision}");
        let text = foretell_with_input(&args, RACY.as_bytes());
        assert_eq!(text.code, code);
        assert!(text.out.contains(said) && text.out.contains("(event 2)"), "{}", text.out);
    }
}

#[test]
fn two_events_that_are_no_pair() {
    let text = "A|w(x)|1\nB|r(y)|2\nB|r(x)|3\nA|r(x)|4\n";
    for (pair, why) in [
        ("1,2", "event 1 is w(x) and event 2 is r(y)"),
        ("3,4", "of which one writes"),
        ("1,4", "both of thread A"),
        ("1,5", "there is no event 5: the trace has 4"),
    ] {
        let ran = foretell_with_input(&["predict", "--pair", pair, "-"], text.as_bytes());
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{pair}");
        assert!(ran.err.contains(why), "`{why}` is not in {}", ran.err);
    }
}

fn pairs(list: &Value) -> Vec<(u64, u64)> {
    let event = |access: &Value| access["event"].as_u64().expect("a number");
    let list = list.as_array().expect("a list");
    list.iter().map(|pair| (event(&pair["first"]), event(&pair["second"]))).collect()
}

fn listed(pairs: &BTreeSet<Numbers>) -> Vec<(u64, u64)> {
    pairs.iter().map(|&(a, b)| (u64::from(a), u64::from(b))).collect()
}

#[test]
fn the_races_of_the_same_write_model_are_found_exactly() {
    for example in examples() {
        let args = ["predict", "--pairs", "all", "--format", "json", "--technique", "rf", "-"];
        let report = foretell_with_input(&args, example.text.as_bytes()).json();
        assert_eq!(pairs(&report["races"]), listed(&example.races), "{}", example.name);
        assert_eq!(pairs(&report["undecided"]), listed(&example.undecided), "{}", example.name);
    }
}

#[test]
fn the_referee_rejects_nothing_and_exact_techniques_decide_all() {
    for example in examples() {
        for technique in deciding() {
            let args = ["predict", "--pairs", "all", "--format", "json", "--technique", technique, "-"];
            let report = foretell_with_input(&args, example.text.as_bytes()).json();
            let unknown = listed(&example.undecided);
            let undecided = report["undecided"].as_array().expect("a list");
            for (open, pair) in undecided.iter().zip(pairs(&report["undecided"])) {
                let reason = open["reason"].as_str().expect("a reason");
                assert!(!reason.contains("referee"), "{} {technique}: {reason}", example.name);
                assert!(
                    ["m2", "seqcheck", "reconp", "auto"].contains(&technique) || unknown.contains(&pair),
                    "{} {technique}: {reason}",
                    example.name
                );
            }
        }
    }
}

/// The writer's section comes first in every schedule, since the reader waits for the flag that is set in it.
const ORDERED: &str = "A|w(x,1)|1\nA|w(flag,1)|2\nB|r(flag,1)|3\nB|branch|4\nB|r(x,1)|5\n";

#[test]
fn a_pair_that_is_no_race_is_refuted_step_by_step() {
    let args = ["predict", "--technique", "rv", "--pair", "1,5", "-"];
    let ran = foretell_with_input(&args, ORDERED.as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("no race: ") && ran.out.contains("\n  1. "), "{}", ran.out);
    let decision =
        foretell_with_input(&[&args[..], &["--format", "json"]].concat(), ORDERED.as_bytes()).json();
    assert_eq!(decision["verdict"], "no-race");
    assert!(decision["steps"].as_array().is_some_and(|steps| !steps.is_empty()), "{decision}");
}

#[test]
fn beyond_the_window_is_not_refuted() {
    let far = format!("A|w(x,1)|1\n{}B|w(x,2)|3\n", "A|r(y,0)|2\n".repeat(50));
    let args = ["predict", "--technique", "rv", "--window", "10", "-"];
    let ran = foretell_with_input(&args, far.as_bytes());
    assert_eq!(ran.code, 3, "{}", ran.out);
    let note = "1 pair has no race within a window of 10 events; --window all decides them";
    assert!(ran.words().contains(note), "{}", ran.out);
    let report = foretell_with_input(&[&args[..], &["--format", "json"]].concat(), far.as_bytes()).json();
    assert_eq!(report["stats"]["not_in_window"], 1);
    let pair = foretell_with_input(&[&args[..], &["--pair", "1,52"]].concat(), far.as_bytes());
    assert_eq!((pair.code, pair.out.contains("no race within a window of 10")), (3, true), "{}", pair.out);
    let ran = foretell_with_input(&["predict", "--technique", "rv", "-"], far.as_bytes());
    assert_eq!(ran.code, 1, "{}", ran.out);
}

/// Windows begin where it suits the pair, not only at fixed places.
#[test]
fn a_pair_that_fits_into_a_window_is_looked_at() {
    let folder = folder("fitting_window");
    let filler = |count: usize| "T9|w(q)|q\n".repeat(count);
    let text = format!("{}A|w(x)|a\n{}B|w(x)|b\n", filler(3), filler(4));
    let trace = file(&folder, "apart.std", text);
    for size in 6..10 {
        let ran = foretell(&["predict", "-t", "rv", "--window", &size.to_string(), &trace]);
        assert_eq!(ran.code, 1, "{size}: {}", ran.out);
    }
    let ran = foretell(&["predict", "-t", "rv", "--window", "5", "--format", "json", &trace]);
    let report = ran.json();
    assert_eq!(
        (ran.code, &report["complete"], &report["stats"]["not_in_window"]),
        (3, &false.into(), &1.into())
    );
}
