//! Every event comes with the calls in which it happened.

use std::fs;
use std::path::Path;

use crate::{build, foretell, is_ready};

/// The functions that each thread is in when it does this, the outermost first, without repetitions.
fn stacks<'a>(trace: &'a str, thread: &str, op: &str) -> Vec<Vec<&'a str>> {
    let (mut stack, mut found) = (Vec::new(), Vec::new());
    let own = trace.lines().filter_map(|line| line.strip_prefix(thread)?.strip_prefix('|'));
    for line in own {
        let argument = |start: &str| line.strip_prefix(start)?.split(')').next();
        if let Some(function) = argument("enter(") {
            stack.push(function);
        } else if let Some(function) = argument("exit(") {
            assert_eq!(stack.pop(), Some(function), "{trace}");
        } else if line.starts_with(op) && found.last() != Some(&stack) {
            found.push(stack.clone());
        }
    }
    found
}

#[test]
fn calls_are_right_however_functions_are_left() {
    if !is_ready() {
        return;
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("calls.std").display().to_string();
    let recorded = foretell(&["record", "-o", &path, "--", &build("calls.cpp")]);
    assert!(recorded.status.success(), "{}", String::from_utf8_lossy(&recorded.stderr));
    let trace = fs::read_to_string(path).expect("a trace");
    for (thread, base) in [("T1", vec!["work"]), ("main", vec!["main", "work"])] {
        let check = |op: &str, above: &[&[&str]]| {
            let expected: Vec<_> = above.iter().map(|above| [&base[..], above].concat()).collect();
            assert_eq!(stacks(&trace, thread, op), expected, "{op} of {thread} in\n{trace}");
        };
        check("w(account.balance,", &[&["bank::Account::deposit"]]);
        check("w(caught,", &[&[]]);
        check("w(jumps,", &[&["jump"]]);
        check("w(compared,", &[&["compare"]]);
        check("w(depth,", &[&["descend"; 3], &["descend"; 2], &["descend"; 1]]);
        check("w(after,", &[&[]]);
    }
}

/// The last one to come tells for all that they leave, but each leaves where it came.
#[test]
fn who_leaves_a_barrier_does_so_in_its_own_calls() {
    if !is_ready() {
        return;
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("departures.std").display().to_string();
    foretell(&["record", "-o", &path, "--", &build("deadlock.c")]);
    let trace = fs::read_to_string(path).expect("a trace");
    for (thread, function) in [("T1", "one"), ("T2", "two")] {
        assert_eq!(stacks(&trace, thread, "depart("), [[function]], "{trace}");
        let place = |op: &str| {
            let start = format!("{thread}|{op}(");
            trace.lines().find(|line| line.starts_with(&start)).and_then(|line| line.rsplit_once('|'))
        };
        assert_eq!(place("depart").map(|line| line.1), place("arrive").map(|line| line.1), "{trace}");
    }
}
