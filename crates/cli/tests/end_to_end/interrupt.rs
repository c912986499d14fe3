//! Ctrl-C: what is known is told, and a second press ends everything.

use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{file, folder};

fn start(args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_foretell"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("foretell runs")
}

fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success(), "foretell has ended already");
}

#[test]
fn the_first_press_asks_for_what_is_known() {
    let folder = folder("the_first_press");
    // Some two million races, each with a schedule of up to three thousand steps: more than an hour's work.
    let text: String = (0..3000).map(|number| format!("T{}|w(x)|{number}\n", number % 2)).collect();
    let trace = file(&folder, "long.std", text);
    let unlimited = ["--pairs", "all", "--max-races", "all", "--time-limit", "none"];
    let child = start(&[&["predict", "-t", "syncp", "--format", "json", &trace], &unlimited[..]].concat());
    std::thread::sleep(Duration::from_secs(3));
    let begin = Instant::now();
    interrupt(&child);
    let output = child.wait_with_output().expect("foretell ends");
    assert!(begin.elapsed() < Duration::from_secs(30), "it took {:?}", begin.elapsed());
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    assert_eq!(report["interrupted"], true);
    assert!(report["stats"]["not_examined"].as_u64() > Some(0), "{}", report["stats"]);
    let proven = !report["races"].as_array().expect("a list").is_empty();
    assert_eq!(output.status.code(), Some(if proven { 1 } else { 3 }));
}

#[test]
fn the_second_press_ends_everything() {
    let mut child = start(&["predict", "-"]);
    // It waits for more input than this, and cannot stop politely.
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(b"T1|w(x)|1\n").expect("foretell reads");
    std::thread::sleep(Duration::from_secs(1));
    interrupt(&child);
    std::thread::sleep(Duration::from_millis(500));
    interrupt(&child);
    let status = child.wait().expect("foretell ends");
    assert_eq!(status.code(), Some(130));
}
