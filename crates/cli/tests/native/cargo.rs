//! `cargo foretell`: packages in Rust, their programs and their tests.

use std::path::Path;
use std::process::Output;

use crate::{is_ready, programs};
use foretell_testkit::process::limited;

/// Runs `cargo foretell` on the package of the corpus. What it builds is kept for the next time.
fn cargo_foretell(args: &[&str]) -> Output {
    limited(env!("CARGO_BIN_EXE_cargo-foretell"))
        .arg("foretell")
        .args(args)
        .current_dir(programs().join("package"))
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("package"))
        .output()
        .expect("cargo-foretell runs")
}

/// Each test is recorded alone; what has a race, what fails and what is left out is told.
#[test]
fn each_test_of_a_package_is_looked_at() {
    if !is_ready() {
        return;
    }
    let output = cargo_foretell(&["test", "--no-progress", "--seed", "1", "--test", "locks"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    let text = String::from_utf8_lossy(&output.stdout);
    for good in ["a_mutex_keeps_apart", "writers_keep_apart", "a_condition_is_waited_for"] {
        let line = errors.lines().find(|line| line.starts_with(&format!("locks::{good}: ")));
        assert!(line.is_some_and(|line| line.contains("passed") && line.ends_with("no race")), "{errors}");
    }
    assert!(text.contains("locks::readers_do_not_keep_apart"), "the test is named: {text}");
    assert!(text.contains("src/lib.rs:14:"), "and the place: {text}");
    assert!(errors.contains("5 tests") && errors.contains("failed: locks::failing"), "{errors}");
    assert!(!errors.contains("locks::ignored"), "{errors}");
    assert_eq!(output.status.code(), Some(1), "{errors}");
}

#[test]
fn a_test_that_fails_is_not_hidden() {
    if !is_ready() {
        return;
    }
    let output = cargo_foretell(&["test", "--no-progress", "--test", "locks", "--", "failing"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("1 tests") && errors.contains("failed: locks::failing"), "{errors}");
    assert_eq!(output.status.code(), Some(2), "{errors}");
}

/// Dashboards are told of each test how it ended, beside its races.
#[test]
fn dashboards_are_told_of_each_test() {
    if !is_ready() {
        return;
    }
    let output = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tests.xml").display().to_string();
    let ran = cargo_foretell(&["test", "--no-progress", "--seed", "1", "-o", &output, "--test", "locks"]);
    assert_eq!(ran.status.code(), Some(1), "{}", String::from_utf8_lossy(&ran.stderr));
    let xml = std::fs::read_to_string(&output).expect("a report");
    let test = |name: &str| format!("<testcase classname=\"locks\" name=\"{name}\"");
    for name in ["a_mutex_keeps_apart", "writers_keep_apart", "readers_do_not_keep_apart", "failing"] {
        assert_eq!(xml.matches(&test(name)).count(), 1, "{name}: {xml}");
    }
    let failing = xml.split(&test("failing")).nth(1).expect("the test");
    let failing = failing.split("</testcase>").next().expect("its end");
    assert!(failing.contains("type=\"test-failed\"") && failing.contains("panicked"), "{failing}");
    assert!(xml.contains("type=\"data-race\""), "{xml}");
}

#[test]
fn the_program_of_a_package_is_run() {
    if !is_ready() {
        return;
    }
    let output = cargo_foretell(&["run", "--no-progress", "--release", "--", "--seed"]);
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains(r#"given: ["--seed"]"#), "{text}{errors}");
    assert!(text.contains("src/lib.rs:14:"), "{text}{errors}");
    assert_eq!(output.status.code(), Some(1), "{errors}");
}

#[test]
fn what_does_not_build_is_an_error() {
    if !is_ready() {
        return;
    }
    let output = cargo_foretell(&["build", "--features", "nowhere"]);
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
}
