//! Programs that are driven into their races: `foretell replay`, and `foretell run --confirm`.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::{build, foretell, is_ready};

/// One program of each kind: what threads wait for, what is raced for, and in which language.
const PROGRAMS: [&str; 15] = [
    "counter_race.c",
    "free_race.c",
    "lock_order_race.c",
    "condition_lost_race.c",
    "condition_timed_race.c",
    "barrier_race.c",
    "pipe_race.c",
    "copied_text_race.c",
    "double_checked_race.c",
    "exception_race.cpp",
    "mixed_written_race.c",
    "mixed_object_race.cpp",
    "figures/reconp_figure3.c",
    "rust_barrier_race.rs",
    "rust_mixed_sizes_race.rs",
];

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn file(name: &str) -> String {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).display().to_string()
}

fn report(path: &str) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn programs_are_driven_into_their_races() {
    if !is_ready() {
        return;
    }
    for name in PROGRAMS {
        let (built, path) = (build(name), file("confirmed.json"));
        let output = foretell(&["run", "--confirm", "--no-progress", "-o", &path, "--", &built]);
        let report = report(&path);
        let races = report["races"].as_array().expect("races");
        assert!(!races.is_empty(), "{name}: {}", text(&output));
        for race in races {
            assert_eq!(race["confirmation"]["confirmed"], true, "{name}: {}", race["confirmation"]);
            let live = &race["confirmation"]["live"];
            let places = |accesses: [&Value; 2]| {
                let mut places =
                    accesses.map(|access| access["location"].as_str().expect("a place").to_string());
                places.sort();
                places
            };
            assert_eq!(places([&live[0], &live[1]]), places([&race["first"], &race["second"]]), "{name}");
        }
        assert_eq!(report["driven"], races.len(), "{name}");
    }
}

#[test]
fn a_schedule_is_saved_and_followed_again() {
    if !is_ready() {
        return;
    }
    let (built, path, saved) = (build("bank_race.c"), file("again.json"), file("again.schedule"));
    foretell(&["run", "--no-progress", "-o", &path, "--", &built]);
    let output = foretell(&["replay", &path, "--race", "1", "--save", &saved]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(
        text(&output).contains(&format!("again: foretell replay {saved} -- {built}")),
        "{}",
        text(&output)
    );
    for _ in 0..3 {
        let output = foretell(&["replay", &saved, "--", &built]);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output));
        assert!(text(&output).contains("· confirmed:"), "{}", text(&output));
    }
}

#[test]
fn a_trace_that_was_kept_leads_there_as_well() {
    if !is_ready() {
        return;
    }
    let built = build("counter_race.c");
    for ending in ["ftr", "std"] {
        let (trace, path) = (file(&format!("kept.{ending}")), file("kept.json"));
        foretell(&["record", "-o", &trace, "--", &built]);
        foretell(&["predict", "--no-progress", &trace, "-o", &path]);
        let output = foretell(&["replay", &path]);
        assert_eq!(output.status.code(), Some(2), "nobody knows the program: {}", text(&output));
        let output = foretell(&["replay", &path, "--save", &file("kept.schedule"), "--", &built]);
        assert_eq!(output.status.code(), Some(1), "{ending}: {}", text(&output));
    }
}

#[test]
fn a_program_may_go_on_after_the_race() {
    if !is_ready() {
        return;
    }
    let (built, path) = (build("printing_race.c"), file("going.json"));
    foretell(&["run", "--no-progress", "-o", &path, "--", &built]);
    let (end, go_on) = (foretell(&["replay", &path]), foretell(&["replay", &path, "--go-on"]));
    assert_eq!((end.status.code(), go_on.status.code()), (Some(1), Some(1)), "{}", text(&go_on));
    assert!(go_on.stdout.len() > end.stdout.len(), "it prints at its end: {}", text(&go_on));
}

#[test]
fn a_program_that_goes_another_way_is_told_with_where_it_is() {
    if !is_ready() {
        return;
    }
    let (built, other) = (build("counter_race.c"), build("lock_order_race.c"));
    let (path, saved) = (file("diverging.json"), file("diverging.schedule"));
    foretell(&["run", "--no-progress", "-o", &path, "--", &built]);
    foretell(&["replay", &path, "--save", &saved]);
    let another = foretell(&["replay", &saved, "--", &other]);
    assert_eq!(another.status.code(), Some(3), "{}", text(&another));
    assert!(text(&another).contains("not confirmed"), "{}", text(&another));
    let schedule = fs::read_to_string(&saved).expect("a schedule");
    let (before, after) = schedule.split_once("run main ").expect("the first thread goes on");
    let rest = after.trim_start_matches(|sign: char| sign.is_ascii_digit());
    fs::write(&saved, format!("{before}run main 3000{rest}")).expect("the schedule is written");
    let ended = foretell(&["replay", &saved, "--", &built]);
    assert_eq!(ended.status.code(), Some(3), "{}", text(&ended));
    let told = text(&ended).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("main was to come to its step 3000"), "{told}");
    assert!(told.contains("its last recorded event is at"), "{told}");
    let plain = foretell(&["replay", &saved, "--", "true"]);
    assert!(text(&plain).contains("has not recorded anything"), "{}", text(&plain));
}

#[test]
fn what_is_no_schedule_is_refused_with_its_line() {
    let saved = file("wrong.schedule");
    fs::write(&saved, "foretell schedule 1\nprogram x\nseed y\n").expect("the file is written");
    let output = foretell(&["replay", &saved, "--", "true"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("line 3: expected `seed` and a number"), "{}", text(&output));
}
