//! Commands with several recorded processes.

use serde_json::Value;

use crate::{build, foretell, is_ready};

#[test]
fn the_same_race_of_two_processes_is_told_once() {
    if !is_ready() {
        return;
    }
    let program = build("counter_race.c");
    let command = format!("{program}; {program}");
    let run = |format: &str| {
        let output = foretell(&["run", "--no-progress", "--format", format, "--", "sh", "-c", &command]);
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let text = run("text");
    assert_eq!(text.matches("found in 2 processes").count(), text.matches("\nrace ").count(), "{text}");
    assert!(
        text.contains("sh (process 2) · auto") && text.contains("already reported for an earlier process"),
        "{text}"
    );
    let reports: Value = serde_json::from_str(&run("json")).expect("JSON");
    assert_eq!(reports[0]["races"][0]["processes"], 2);
    assert_eq!(reports[1]["races"][0]["repeated"], true);
}
