//! `trace check`, `stats`, `convert` and `view`, on every format.

use crate::{file, folder, foretell, foretell_with_input, repository};

/// What RAPID's formats can say.
const PLAIN: &str = "T0|fork(T1)|1\nT0|acq(L)|2\nT0|w(V)|3\nT0|rel(L)|4\nT1|acq(L)|5\nT1|r(V)|6\nT1|rel(L)|7\nT0|join(T1)|8\n";

#[test]
fn every_format_survives_the_way_there_and_back() {
    let folder = folder("every_format_survives");
    let original = file(&folder, "original.std", PLAIN);
    for ending in ["std", "csv", "rr", "ftr", "std.gz", "csv.zst", "rr.gz", "ftr.zst"] {
        let there = folder.join(format!("there.{ending}"));
        let there = there.to_str().expect("a plain path");
        let ran = foretell(&["trace", "convert", &original, "-o", there]);
        assert_eq!(ran.code, 0, "{ending}: {}", ran.err);
        let back = foretell(&["trace", "convert", there, "--to", "text", "-o", "-"]);
        assert_eq!(back.out, PLAIN, "{ending}");
        for command in [&["check"][..], &["stats"], &["view"]] {
            let ran = foretell(&[&["trace"], command, &[there]].concat());
            assert_eq!(ran.code, 0, "{ending} {command:?}: {}", ran.err);
        }
        let piped = std::fs::read(there).expect("a trace");
        let format = ending.split('.').next().expect("an ending");
        let hint = match format {
            "csv" => &["--from-format", "csv"][..],
            _ => &[],
        };
        let ran = foretell_with_input(&[&["predict", "--technique", "shb", "-"], hint].concat(), &piped);
        assert_eq!(ran.code, 0, "{ending} through a pipe: {}", ran.err);
    }
}

#[test]
fn all_examples_survive_as_recordings() {
    for example in foretell_testkit::corpus::examples() {
        let events: String = example
            .text
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| format!("{line}\n"))
            .collect();
        let convert = ["trace", "convert", "-", "-o", "-", "--to"];
        let folder = folder(&format!("recording_{}", example.name));
        let recording = folder.join("recording.ftr");
        let recording = recording.to_str().expect("a plain path");
        let ran = foretell_with_input(&["trace", "convert", "-", "-o", recording], events.as_bytes());
        assert_eq!(ran.code, 0, "{}: {}", example.name, ran.err);
        let back = foretell(&["trace", "convert", recording, "-o", "-", "--to", "text"]);
        let directly = foretell_with_input(&[&convert[..], &["text"]].concat(), events.as_bytes());
        assert_eq!(back.out, directly.out, "{}", example.name);
    }
}

#[test]
fn what_a_format_cannot_express_is_refused_unless_losses_are_allowed() {
    let folder = folder("what_a_format_cannot_express");
    let valued = file(&folder, "valued.std", "T0|w(V,5)|1\n");
    let branched = file(&folder, "branched.std", "T0|branch|1\n");
    let out = folder.join("out.csv");
    let out = out.to_str().expect("a plain path");
    let ran = foretell(&["trace", "convert", &valued, "-o", out]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("event 1") && ran.err.contains("cannot express"), "{}", ran.err);
    assert_eq!(foretell(&["trace", "convert", "--lossy", &valued, "-o", out]).code, 0);
    assert_eq!(foretell(&["trace", "convert", "--lossy", &branched, "-o", out]).code, 2);
}

#[test]
fn check_lists_everything_that_is_wrong() {
    let text = "T1|rel(l)|1\nT1|w(x,1)|2\n# between\nT2|r(x,7)|3\nT2|join(T9)|4\n";
    let ran = foretell_with_input(&["trace", "check", "-"], text.as_bytes());
    assert_eq!(ran.code, 2);
    for expected in [
        "<stdin>:1 (event 1): T1 releases l, which it does not hold",
        "<stdin>:4 (event 3): unexplained read: x holds 1 by the recorded writes, but 7 was read",
        "<stdin>:5 (event 4): join of T9",
        "4 events, 2 events cannot be as they are, 1 unexplained read",
    ] {
        assert!(ran.out.contains(expected), "`{expected}` is not in {}", ran.out);
    }
}

#[test]
fn an_unexplained_read_alone_is_no_error_but_is_told() {
    let path = repository().join("corpus/unexplained_read.std");
    let path = path.to_str().expect("a plain path");
    let ran = foretell(&["trace", "check", path]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("unexplained read: x holds 0"), "{}", ran.out);
    let ran = foretell(&["predict", path]);
    assert_eq!(ran.code, 0);
    assert!(ran.out.contains("1 fence: calls of uninstrumented code"), "{}", ran.out);
}

#[test]
fn stats_count() {
    let path = repository().join("examples/bank.std");
    let ran = foretell(&["trace", "stats", "--format", "json", path.to_str().expect("a plain path")]);
    let stats = ran.json();
    assert_eq!(stats["counts"]["events"], 17);
    assert_eq!((&stats["counts"]["reads"], &stats["counts"]["writes"]), (&3.into(), &2.into()));
    assert_eq!(stats["objects"]["threads"], 3);
    assert_eq!(stats["operations"]["acq"], 2);
    assert_eq!(stats["events_of_thread"]["teller"], 7);
}

#[test]
fn view_has_a_column_for_each_thread() {
    let ran = foretell_with_input(&["trace", "view", "--from", "4", "--count", "2", "-"], PLAIN.as_bytes());
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines[0].split_whitespace().collect::<Vec<_>>(), ["event", "T0", "T1"]);
    assert_eq!(lines[1].split_whitespace().collect::<Vec<_>>(), ["4", "rel(L)", "4"]);
    assert_eq!(lines[2].split_whitespace().collect::<Vec<_>>(), ["5", "acq(L)", "5"]);
    assert_eq!(lines[1].find("rel"), lines[0].find("T0"));
    assert_eq!(lines[2].find("acq"), lines[0].find("T1"));
    assert!(lines[3].contains("more events follow"), "{}", ran.out);
}

#[test]
fn a_timeline_is_written_for_other_viewers() {
    let folder = folder("a_timeline_is_written");
    let bank = repository().join("examples/bank.std");
    let bank = bank.to_str().expect("a plain path");
    let report = folder.join("report.json");
    let report = report.to_str().expect("a plain path");
    assert_eq!(foretell(&["predict", "--format", "json", "-o", report, bank]).code, 1);
    let out = folder.join("run.perfetto.json");
    let out = out.to_str().expect("a plain path");
    let ran = foretell(&["trace", "convert", bank, "-o", out, "--report", report]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let file = std::fs::read_to_string(out).expect("a timeline");
    let piped = foretell(&["trace", "convert", bank, "--to", "chrome", "--report", report, "-o", "-"]);
    assert_eq!(piped.out, file);
    let records = piped.json()["traceEvents"].as_array().expect("a list").clone();
    let races = records.iter().filter(|record| record["s"] == "g").count();
    assert_eq!(races, 2, "both accesses of the only race are marked");
    // A report goes with its own trace, and only into a timeline.
    let other = repository().join("corpus/mcm_figure1.std");
    let other = other.to_str().expect("a plain path");
    let ran = foretell(&["trace", "convert", other, "--to", "chrome", "--report", report, "-o", "-"]);
    assert!(ran.code == 2 && ran.err.contains("another trace"), "{}", ran.err);
    let ran = foretell(&["trace", "convert", bank, "--to", "text", "--report", report, "-o", "-"]);
    assert_eq!(ran.code, 2);
    let ran = foretell(&["trace", "view", bank, "--report", report]);
    assert!(ran.code == 2 && ran.err.contains("terminal"), "{}", ran.err);
}
