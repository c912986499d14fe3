//! Races for which not every read needs to see what it saw, and what is told of these reads.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{Ran, example, folder, foretell, said};

/// The write of `p[x]` and that of `p[0]` in Figure 2 of the `ReconP` paper, and the reads whose writes its Table I
/// keeps for them: events 3 and 22, and 2, 8, 11 and 18 of the paper.
const PAIR: [u64; 2] = [4, 21];
const KEPT: [u64; 4] = [2, 9, 11, 18];
/// The reads of `y`, events 6, 16 and 21 of the paper.
const LET_GO: [u64; 3] = [7, 16, 20];

fn run(technique: &str, more: &[&str]) -> Ran {
    let program = example("reconp_figure2");
    let schedule = said(&program, "schedule").join(",");
    foretell(&[&["run", "--schedule", &schedule, "--technique", technique, &program], more].concat())
}

/// The race of the figure, if it is among those that the technique proves.
fn race(technique: &str) -> Option<Value> {
    let report = run(technique, &["--format", "json"]).json();
    let events = |race: &&Value| {
        let event = |which: &str| race[which]["event"].as_u64();
        [event("first"), event("second")] == PAIR.map(Some)
    };
    report["races"].as_array().expect("a list").iter().find(events).cloned()
}

#[test]
fn a_race_that_needs_few_reads_is_found_by_those_who_know_which() {
    for technique in ["m2", "seqcheck", "rf", "mcm", "rv"] {
        assert!(race(technique).is_none(), "{technique}");
    }
    for technique in ["reconp", "rv-nre", "auto"] {
        let race = race(technique).unwrap_or_else(|| panic!("{technique} misses the race"));
        let reads = race["reads"]["reads"].as_array().expect("reads are told");
        let needed = |read: &&Value| {
            let need = &read["need"];
            need.get("decides").is_some() || need.get("passed").is_some()
        };
        let number = |read: &Value| read["event"].as_u64().expect("a number");
        let (kept, let_go): (Vec<&Value>, Vec<&Value>) = reads.iter().partition(needed);
        assert!(kept.iter().all(|read| read.get("strays").is_none()), "{technique}: {reads:?}");
        assert_eq!(kept.into_iter().map(number).collect::<Vec<_>>(), KEPT, "{technique}");
        assert_eq!(let_go.into_iter().map(number).collect::<Vec<_>>(), LET_GO, "{technique}");
    }
}

/// A report on the figure and its trace, in a folder.
fn reported(test: &str) -> (PathBuf, PathBuf) {
    let folder = folder(test);
    let (report, trace) = (folder.join("report.json"), folder.join("figure.std"));
    let path = |path: &Path| path.to_str().expect("a plain path").to_string();
    let ran = run("reconp", &["-o", &path(&report), "--trace", &path(&trace)]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    (report, trace)
}

/// What is said of the race of the figure.
fn explained(report: &Path, more: &[&str]) -> String {
    let text = std::fs::read_to_string(report).expect("a report");
    let races: Value = serde_json::from_str(&text).expect("a report");
    let is_it = |race: &Value| race["first"]["event"] == PAIR[0] && race["second"]["event"] == PAIR[1];
    let number = races["races"].as_array().expect("a list").iter().position(is_it).expect("the race") + 1;
    let report = report.to_str().expect("a plain path");
    let ran = foretell(&[&["explain", report, "--race", &number.to_string()], more].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.words()
}

#[test]
fn an_explanation_tells_what_each_read_is_good_for() {
    let (report, trace) = reported("reads_explained");
    for more in [&[][..], &["--trace", trace.to_str().expect("a plain path")]] {
        let words = explained(&report, more);
        for said in [
            "t3 reads x = 2 at 28:9 (event 18) matters: it decides what t3 does at 28:5 (event 19)",
            "t2 reads z = 2 at 19:10 (event 11) matters: a value that depends on it is written where t2 writes x = 2 at 19:5 (event 12), \
             and must be seen where t3 reads x = 2 at 28:9 (event 18)",
            "t2 reads y = 1 at 16:10 (event 7) does not matter: no event of this schedule depends on it; here it sees \
             another value",
        ] {
            assert!(words.contains(said), "{said}: {words}");
        }
    }
    let with_trace = || explained(&report, &["--trace", trace.to_str().expect("a plain path")]);
    assert!(
        with_trace().contains("Checked again just now: the referee accepts the proof"),
        "{}",
        with_trace()
    );
    // A file that does not tell which reads matter is not enough to check such a proof.
    let told = std::fs::read_to_string(&trace).expect("a trace");
    let untold: String =
        told.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect();
    std::fs::write(&trace, untold).expect("a trace");
    let words = with_trace();
    assert!(
        words.contains("It was not checked again now: the trace in the file has no dependence information"),
        "{words}"
    );
}

#[test]
fn nothing_is_told_of_reads_that_see_what_they_saw() {
    let ran = foretell(&["run", "--format", "json", "--technique", "shb", &example("bank")]);
    let report = ran.json();
    let races = report["races"].as_array().expect("a list");
    assert!(!races.is_empty() && races.iter().all(|race| race.get("reads").is_none()), "{}", ran.out);
}
