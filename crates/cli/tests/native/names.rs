//! What reports call things: threads by the names that the program gives them, memory by types and fields.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::{build, build_at, foretell, is_ready};

/// The report of a program as JSON, and as text.
fn report(program: &str) -> (Value, String) {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("names.json").display().to_string();
    foretell(&["run", "--no-progress", "-o", &file, "--", &build(program)]);
    let json = std::fs::read_to_string(&file).expect("a report");
    let text = foretell(&["run", "--no-progress", "--", &build(program)]).stdout;
    (serde_json::from_str(&json).expect("JSON"), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn threads_have_the_names_that_the_program_gives_them() {
    if !is_ready() {
        return;
    }
    let (json, text) = report("names/pool.c");
    let race = &json["races"][0];
    let names = ["first", "second"].map(|side| race[side]["thread_name"].as_str().unwrap_or_default());
    assert_eq!(names, ["janitor", "net-worker"], "{race:#}");
    assert_eq!(race["story"]["thread_names"]["T1"], "net-worker");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("T2 (janitor) writes it while T1 (net-worker) reads it"), "{text}");
    let origin = race["second"]["memory_allocated"]["stack"][0]["function"].as_str();
    assert_eq!(origin, Some("allocate"), "the calls of an allocation are its own");
    assert_eq!(json["trace"]["unexplained_reads"], 0, "to give a name is no fence");
}

#[test]
fn a_lock_that_protects_it_elsewhere_is_the_fix() {
    if !is_ready() {
        return;
    }
    let (json, _) = report("names/pool.c");
    let cause = &json["causes"][0];
    assert_eq!(cause["missing_lock"], "pool.lock", "{cause:#}");
    assert!(
        cause["sentence"].as_str().is_some_and(|text| text.contains("by `account` without `pool")),
        "{cause:#}"
    );
    assert!(cause["fix"].as_str().is_some_and(|text| text.contains("pool.c:31:")), "{cause:#}");
}

/// At every level of optimisation: what the compiler did to the code does not change what memory is called.
#[test]
fn memory_is_called_by_types_fields_and_variables() {
    if !is_ready() {
        return;
    }
    for level in ["-O0", "-O2"] {
        let program = build_at("names/pool.c", Some(level));
        let file = format!("{program}.json");
        foretell(&["run", "--no-progress", "-o", &file, "--", &program]);
        let json: Value =
            serde_json::from_str(&std::fs::read_to_string(&file).expect("a report")).expect("JSON");
        let races = json["races"].as_array().expect("races").iter();
        let targets: BTreeSet<&str> = races.filter_map(|race| race["first"]["target"].as_str()).collect();
        let expected =
            ["connection.stats.hits", "main::local.misses", "main::sum", "pool.total[1].hits"].into();
        assert_eq!(targets, expected, "{level}");
    }
}

#[test]
fn objects_behind_pointers_of_rust_are_called_by_their_fields() {
    if !is_ready() {
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join("shared.json").display().to_string();
    let trace = folder.join("shared.std").display().to_string();
    let program = crate::programs().join("names/shared.rs").display().to_string();
    foretell(&["run", "--no-progress", "-o", &file, "--trace", &trace, &program]);
    let json: Value = serde_json::from_str(&std::fs::read_to_string(&file).expect("a report")).expect("JSON");
    let races = json["races"].as_array().expect("races").iter();
    let targets: BTreeSet<&str> = races.filter_map(|race| race["first"]["target"].as_str()).collect();
    assert_eq!(targets, ["Cache.stats.misses", "Number.0", "Queue.next"].into());
    let trace = std::fs::read_to_string(&trace).expect("a trace");
    assert!(trace.contains("acq(Mutex<i32>)"), "the lock of an `Arc<Mutex<i32>>` has its name");
    assert!(trace.contains("w(Mutex<i32>.data"), "and so has what it protects");
}
