//! Ctrl-C: what is known is told, and a second press ends everything.

use std::io::Write as _;
use std::process::{Child, Stdio};
use std::time::Duration;

use foretell_testkit::process::{descendants, interruptible, send, wait_until, wait_until_busy};
use serde_json::Value;

use crate::{file, folder};

fn start(args: &[&str]) -> Child {
    interruptible(env!("CARGO_BIN_EXE_foretell"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("foretell runs")
}

fn interrupt(child: &Child) {
    send("INT", child.id());
}

/// Whether the process is foretell and has a handler for Ctrl-C. What starts it has one, too, and so has a copy of
/// that which is about to become foretell.
fn listens(process: u32) -> bool {
    const INT: u32 = 2;
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let caught = field("SigCgt:").and_then(|mask| u64::from_str_radix(mask, 16).ok()).unwrap_or(0);
    field("Name:") == Some("foretell") && caught >> (INT - 1) & 1 == 1
}

#[test]
fn the_first_press_asks_for_what_is_known() {
    let folder = folder("the_first_press");
    // Some two million races, each with a schedule of up to three thousand steps: more than an hour's work.
    let text: String = (0..3000).map(|number| format!("T{}|w(x)|{number}\n", number % 2)).collect();
    let trace = file(&folder, "long.std", text);
    let unlimited = ["--pairs", "all", "--max-races", "all", "--time-limit", "none"];
    let child = start(&[&["predict", "-t", "syncp", "--format", "json", &trace], &unlimited[..]].concat());
    wait_until_busy(child.id(), Duration::from_secs(2));
    interrupt(&child);
    let output = child.wait_with_output().expect("foretell ends");
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
    wait_until("it listens", || descendants(child.id()).into_iter().any(listens));
    // On a busy machine two presses may be heard as one.
    let mut status = None;
    for _ in 0..200 {
        interrupt(&child);
        std::thread::sleep(Duration::from_millis(200));
        status = child.try_wait().expect("foretell can be asked");
        if status.is_some() {
            break;
        }
    }
    assert_eq!(status.and_then(|status| status.code()), Some(130));
}
