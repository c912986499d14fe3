//! `foretell explore`: all runs that a trace implies.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{file, folder, foretell, foretell_with_input, repository};

fn corpus(name: &str) -> String {
    repository().join(format!("corpus/{name}.std")).to_str().expect("a plain path").to_string()
}

fn counts(report: &Value) -> [&Value; 2] {
    [&report["maximal"]["count"], &report["feasible"]["count"]]
}

/// Threads that do nothing to each other: more runs than anybody could walk.
fn vast() -> String {
    (0..120).map(|number| format!("T{0}|w(x{0},1)|{number}\n", number % 3)).collect()
}

#[test]
fn the_figures_of_the_paper_come_out_in_one_table() {
    let names = ["mcm_figure1", "mcm_figure6", "mcm_figure6_sliced"].map(corpus);
    for memory in [&["--memory", "0"][..], &[], &["--memory", "4K", "--jobs", "3"]] {
        let files = names.iter().map(String::as_str);
        let args: Vec<&str> = ["explore"].into_iter().chain(files).chain(memory.iter().copied()).collect();
        let ran = foretell(&args);
        assert_eq!((ran.code, ran.err.as_str()), (1, ""), "{}", ran.out);
        let rows: Vec<Vec<&str>> = ran.out.lines().map(|line| line.split_whitespace().collect()).collect();
        let head =
            ["Trace", "Events", "Th.", "S.V.", "H.B.", "Maximal", "Feasible", "Races", "Steps", "Time"];
        assert_eq!(rows[0], head);
        assert_eq!(rows[1][1..8], ["12", "2", "2", "1", "7", "46", "1"]);
        assert_eq!(rows[2][5], "7");
        assert_eq!((rows[3][5], rows[3][7]), ("10", "3"));
        assert!(ran.out.contains("witness  1 2 3 8 9 10 ‖ 4 11"), "{}", ran.out);
    }
}

#[test]
fn properties_hold_or_are_violated_by_a_schedule() {
    let peterson = corpus("mcm_figure3_peterson");
    let asked = |property: &str| {
        let args = ["explore", "--property", property, "--format", "json", &peterson];
        foretell(&args).json()["properties"][0].clone()
    };
    let holds = |property: &str| json!({"property": property, "verdict": "holds"});
    assert_eq!(asked("exclusive 7..8,15..16"), holds("exclusive 7..8,15..16"));
    assert_eq!(asked("race 7,15"), holds("race 7,15"));
    let violated = asked("race 5,10");
    assert_eq!(violated["verdict"], "violated");
    assert_eq!(violated["schedule"], json!([1, 2, 3, 4, 9]));
    let text = foretell(&["explore", "--races-only", "--property", "exclusive 1..8,9..16", &peterson]);
    assert_eq!(text.code, 1);
    assert!(text.out.contains("property exclusive 1..8,9..16: violated"), "{}", text.out);
    assert!(text.out.contains("schedule 1 9\n"), "{}", text.out);
}

/// Without races, a property alone makes the exit code; and reads that see something else are marked.
#[test]
fn a_violated_property_is_a_finding() {
    let text =
        "A|aload(x,0)|1\nA|acq(l)|2\nA|rel(l)|3\nB|aload(x,0)|4\nB|astore(x,1)|5\nB|acq(m)|6\nB|rel(m)|7\n";
    let run =
        |property: &str| foretell_with_input(&["explore", "--property", property, "-"], text.as_bytes());
    let ran = run("exclusive 2..3,6..7");
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.out.contains("no race, 1 of 1 property violated"), "{}", ran.out);
    assert!(ran.out.contains("schedule 1 2 4 5 6\n"), "{}", ran.out);
    let ran = run("exclusive 1..2,5..6");
    assert_eq!(ran.code, 1, "{}", ran.out);
    let ran = run("exclusive 2..3,4..5");
    assert_eq!(ran.code, 1, "{}", ran.out);
    let clean = foretell_with_input(&["explore", "-"], text.as_bytes());
    assert_eq!(clean.code, 0, "{}", clean.out);
}

#[test]
fn a_schedule_marks_reads_that_see_something_else() {
    // C waits for the end of B, which may have read something else with its last event.
    let text =
        "A|astore(f,1)|1\nB|aload(f,1)|2\nC|acq(l)|4\nC|rel(l)|5\nC|join(B)|6\nD|w(x,1)|7\nC|w(x,2)|8\n";
    let ran = foretell_with_input(&["explore", "--format", "json", "-"], text.as_bytes());
    let report = ran.json();
    let races = report["races"].as_array().expect("a list");
    assert_eq!(races.len(), 1, "{report}");
    assert_eq!(races[0]["strays"], json!([2]), "{report}");
    let text = foretell_with_input(&["explore", "-"], text.as_bytes()).out;
    assert!(text.contains("witness  2' 3 4 5 ‖"), "{text}");
    assert!(text.contains("' reads another value than observed"), "{text}");
}

#[test]
fn budgets_are_kept_and_told() {
    let trace = file(&folder("explore_budgets"), "vast.std", vast());
    for (limit, note) in [
        (["--max-steps", "1000"], "the limit of 1000 steps was reached; --max-steps gives more"),
        (["--time-limit", "1s"], "the time limit of 1s was reached; --time-limit gives more"),
        (["--time-limit", "0s"], "the time limit of 0s was reached"),
    ] {
        let begin = Instant::now();
        let args = ["explore", "--memory", "0", &trace];
        let ran = foretell(&[&args[..], &limit].concat());
        assert!(begin.elapsed() < Duration::from_secs(30), "it took {:?}", begin.elapsed());
        assert_eq!(ran.code, 3, "{}", ran.out);
        assert!(ran.out.contains(note) && ran.out.contains("the exploration is incomplete"), "{}", ran.out);
        assert!(ran.out.lines().nth(1).expect("a row").contains(">= "), "{}", ran.out);
        let report = foretell(&[&args[..], &limit, &["--format", "json"]].concat()).json();
        assert_eq!((&report["complete"], &report["maximal"]["exact"]), (&json!(false), &json!(false)));
        assert!(report["explored"].as_f64().expect("a number") < 1.0);
    }
    let ran = foretell(&["explore", "--format", "json", &trace]);
    assert_eq!(
        (ran.code, &ran.json()["maximal"]["exact"]),
        (0, &json!(false)),
        "more runs than can be counted"
    );
    assert_eq!(ran.json()["complete"], true);
}

#[test]
fn a_race_is_told_although_the_budget_ran_out() {
    let racy = format!("R|w(r,1)|1\nS|w(r,2)|2\n{}", vast());
    let args = ["explore", "--memory", "0", "--max-steps", "100", "--property", "exclusive 3..6,4..7", "-"];
    let ran = foretell_with_input(&args, racy.as_bytes());
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.out.contains("race 1: r · proven"), "{}", ran.out);
}

#[test]
fn the_answer_depends_neither_on_memory_nor_on_jobs() {
    let args =
        ["explore", "--format", "json", "--property", "exclusive 9..10,4..5", "--property", "race 1,11"];
    let trace = corpus("mcm_figure3_peterson");
    let run = |more: &[&str]| foretell(&[&args[..], more, &[&trace]].concat()).json();
    let expected = run(&[]);
    for more in [
        ["--memory", "0", "--jobs", "1"],
        ["--memory", "0", "--jobs", "4"],
        ["--memory", "9K", "--jobs", "2"],
    ] {
        let report = run(&more);
        assert_eq!(counts(&report), counts(&expected));
        for part in ["races", "properties", "happens_before", "complete"] {
            assert_eq!(report[part], expected[part], "{part} {more:?}");
        }
    }
    let races = run(&["--races-only"]);
    assert_eq!(races["races"], expected["races"]);
    assert!(["maximal", "feasible", "happens_before"].iter().all(|count| races[count].is_null()));
}

#[test]
fn bad_usage_is_explained() {
    let trace = corpus("mcm_figure1");
    for (property, said) in [
        ("race 4", "expected the numbers of two events"),
        ("exclusive 1..3", "expected two parts"),
        ("nonsense", "expected `assert CONDITION`, `race A,B`"),
        ("race 4,99", "there is no event 99: the trace has 12"),
        ("race 2,4", "of the same thread"),
        ("race 1,8", "cannot race"),
        ("exclusive 3..1,8..12", "no part of a thread"),
        ("exclusive 1..9,8..12", "no part of a thread"),
    ] {
        let ran = foretell(&["explore", "--property", property, &trace]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{property}");
        assert!(ran.err.contains(said), "`{said}` is not in {}", ran.err);
    }
    for bad in [["--memory", "lots"], ["--max-steps", "-1"], ["--jobs", "0"], ["--time-limit", "soon"]] {
        assert_eq!(foretell(&["explore", bad[0], bad[1], &trace]).code, 2, "{bad:?}");
    }
    assert_eq!(foretell(&["explore"]).code, 2);
    assert_eq!(foretell(&["explore", "-", "-"]).code, 2);
}

#[test]
fn one_bad_trace_does_not_cost_the_others() {
    let folder = folder("explore_bad");
    let bad = file(&folder, "bad.std", "A|rel(l)|1\n");
    let missing = folder.join("missing.std").to_str().expect("a plain path").to_string();
    let good = corpus("mcm_figure1");
    let ran = foretell(&["explore", "--format", "json", &bad, &good, &missing]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("bad.std") && ran.err.contains("missing.std"), "{}", ran.err);
    assert_eq!(counts(&ran.json()), [&json!(7), &json!(46)]);
    let none = foretell(&["explore", &bad]);
    assert_eq!((none.code, none.out.as_str()), (2, ""));
}

#[test]
fn a_report_goes_to_a_file_and_several_are_a_list() {
    let folder = folder("explore_output");
    let output = folder.join("report.json").to_str().expect("a plain path").to_string();
    let trace = corpus("mcm_figure1");
    let ran = foretell(&["explore", "--format", "json", "-o", &output, &trace, &trace]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    let reports: Value = serde_json::from_slice(&std::fs::read(&output).expect("a file")).expect("JSON");
    assert_eq!(reports.as_array().expect("a list").len(), 2);
}

/// Nothing in it does anything to others.
#[test]
fn a_trace_without_steps_has_no_run() {
    let ran = foretell_with_input(&["explore", "--format", "json", "-"], b"A|branch|1\nB|begin|2\n");
    assert_eq!(ran.code, 0);
    assert_eq!(counts(&ran.json()), [&json!(0), &json!(0)]);
}
