//! The library as other programs use it.

#[path = "../../../examples/find_race.rs"]
#[expect(dead_code, reason = "its `main` is for those who run the example")]
mod find_race;

use foretell::{Choice, Model, Plan, Recording, Technique};

#[test]
fn the_example_finds_the_race_and_prints_its_witness() {
    let text = find_race::races().expect("a trace");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "teller bank.c:12 races with auditor bank.c:31");
    let events: Vec<&str> =
        lines[1..].iter().filter_map(|line| line.trim().strip_prefix("event ")?.split(':').next()).collect();
    assert_eq!(events, ["1", "2", "3", "10", "11", "12", "13", "4", "14"]);
}

#[test]
fn findings_tell_their_model_and_reports_are_those_of_the_program() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/bank.std");
    let recording = Recording::open(path).expect("a trace");
    let analysis = recording
        .analyse(&Plan { choice: Choice::One(Technique::Rv), ..Plan::default() })
        .expect("an analysis");
    assert_eq!(analysis.races[0].model(), Some(Model::SameValue));
    let report = recording.report(analysis).expect("a report");
    assert_eq!((report.technique.as_str(), report.races.len(), report.complete), ("rv", 1, true));
    assert!(foretell::text(&report).expect("text").contains("bank.c:31"));
    assert!(foretell::json(&report).expect("JSON").contains("\"model\":\"same-value\""));
}

#[test]
fn what_is_no_trace_is_an_error_with_its_name() {
    let error = Recording::read("nonsense", "A|what(x)|1\n".as_bytes()).expect_err("no trace");
    assert!(error.to_string().starts_with("nonsense"), "{error}");
    assert!(Recording::open("no/such/file.std").is_err());
}
