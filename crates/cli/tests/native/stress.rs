//! Programs that make it hard to record them. None may hang, break, or give a trace that does not hold; in both orders.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::{build, foretell, is_ready};
use foretell_testkit::process::limited;

const ORDERS: [&str; 2] = ["serial", "striped"];

/// A program of `corpus/native/stress`, compiled.
fn stress(name: &str) -> Option<String> {
    is_ready().then(|| build(&format!("stress/{name}.c")))
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Records a command; what foretell said, and the trace as text. The trace holds.
fn record(command: &[&str], order: &str, name: &str) -> (Output, String) {
    let path = file(&format!("{name}_{order}.std"));
    let shown = path.display().to_string();
    let mut arguments = vec!["record", "-o", &shown, "--order", order, "--seed", "1", "--"];
    arguments.extend(command);
    let output = foretell(&arguments);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{error}: {}", stderr(&output)));
    holds(&shown);
    (output, text)
}

/// The trace is one of a possible run.
fn holds(path: &str) {
    let checked = foretell(&["trace", "check", path]);
    assert!(
        checked.status.success(),
        "{path}: {}{}",
        String::from_utf8_lossy(&checked.stdout),
        stderr(&checked)
    );
}

/// Records a program that ends well, in both orders.
fn ends_well(name: &str) -> Vec<String> {
    let Some(program) = stress(name) else { return Vec::new() };
    let recorded = ORDERS.map(|order| {
        let (output, text) = record(&[&program], order, name);
        assert!(output.status.success(), "{name}, {order}: {}", stderr(&output));
        let errors = stderr(&output);
        assert!(
            !errors.contains("the program") && !errors.contains("foretell:"),
            "{name}, {order}: {errors}"
        );
        text
    });
    recorded.to_vec()
}

#[test]
fn a_loop_without_hooks_does_not_keep_others_from_running() {
    ends_well("hookless_spin");
}

#[test]
fn who_is_blocked_unseen_does_not_keep_others_from_running() {
    ends_well("blocked_outside");
}

#[test]
fn a_copy_of_a_process_is_recorded_on_its_own() {
    ends_well("fork_threads");
    for order in ORDERS {
        let copy = file(&format!("fork_threads_{order}-2.std"));
        let text = fs::read_to_string(&copy).expect("the trace of the copy");
        assert_eq!(text.lines().filter(|line| line.contains("|fork(")).count(), 1, "one thread was made");
        holds(&copy.display().to_string());
    }
}

#[test]
fn who_becomes_another_program_is_recorded_twice() {
    ends_well("become_another");
    for order in ORDERS {
        let other = file(&format!("become_another_{order}-2.std"));
        holds(&other.display().to_string());
    }
}

#[test]
fn processes_meet_at_objects_that_both_see() {
    ends_well("shared_objects");
}

#[test]
fn who_waits_for_a_lock_of_another_process_is_told_of_its_end() {
    ends_well("robust_processes");
}

#[test]
fn threads_that_nobody_has_seen_begin_may_end_a_wait() {
    for text in ends_well("unseen_threads") {
        // The permit that nobody was seen to give, and what was told with it.
        assert_eq!(text.lines().filter(|line| line.contains("|fork(")).count(), 1, "{text}");
        assert!(text.contains("outside"), "there are fences: {text}");
    }
}

#[test]
fn a_handler_may_end_a_wait() {
    ends_well("posting_handler");
}

#[test]
fn handlers_of_signals_do_no_harm() {
    ends_well("signals");
}

/// Also one that comes in the midst of a record.
#[test]
fn a_handler_may_wait_for_the_answer_of_a_thread() {
    let Some(program) = stress("asking_handler") else { return };
    // In parallel mode a handler still runs in the midst of a record, so this program may wait for itself.
    let (output, _) = record(&[&program], "serial", "asking_handler");
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn handlers_that_the_kernel_has_forgotten_are_put_off_as_well() {
    ends_well("handlers_for_one");
}

#[test]
fn handlers_may_jump_out_of_the_recorder() {
    for text in ends_well("jumping_handler") {
        let count = |part| text.lines().filter(|line| line.contains(part)).count();
        assert_eq!(count("|w(under_lock,"), 6000);
        assert_eq!(count("|w(faults,"), 80);
        assert_eq!(count("|w(finished,"), 4);
        assert_eq!(count("|join("), 3, "it is recorded to its end");
        let last = text.lines().rev().find_map(|line| line.split_once("|w(numbers[1],")?.1.split_once(')'));
        let last: usize = last.and_then(|(value, _)| value.parse().ok()).expect("it is counted up");
        let lost = last - count("|w(numbers[1],");
        assert!(lost < 20, "only what was not finished is lost, not {lost} of {last}");
    }
}

#[test]
fn there_may_be_a_thousand_threads() {
    for text in ends_well("many_threads") {
        assert_eq!(text.lines().filter(|line| line.contains("|fork(")).count(), 2000);
        assert_eq!(text.lines().filter(|line| line.contains("|join(")).count(), 2000);
    }
}

#[test]
fn threads_end_in_many_ways() {
    ends_well("endings");
}

#[test]
fn waiting_by_yielding_does_not_fill_the_trace() {
    for text in ends_well("yielding") {
        assert!(text.len() < 4 << 20, "{} bytes", text.len());
    }
}

#[test]
fn a_full_disk_ends_the_recording_and_not_the_program() {
    let Some(program) = stress("full_disk") else { return };
    for command in [&[program.as_str()][..], &[&program, "late"]] {
        for order in ORDERS {
            let (output, text) = record(command, order, "full_disk");
            let errors = stderr(&output);
            assert_eq!(errors.matches("the recording ends here").count(), 1, "{errors}");
            assert!(!errors.contains("the program ended"), "the program has not noticed: {errors}");
            assert!(text.lines().count() > 1000, "what was recorded by then is there: {command:?}, {order}");
        }
    }
}

#[test]
fn a_folder_that_cannot_be_written_to_is_told_and_the_program_runs() {
    let Some(program) = stress("become_another") else { return };
    let output = limited(program).env("FORETELL_LOG", "/nowhere").output().expect("it runs");
    assert!(output.status.success());
    assert!(stderr(&output).contains("nothing is recorded"), "{}", stderr(&output));
}

#[test]
fn nothing_is_lost_when_a_program_is_killed() {
    let Some(program) = stress("killed") else { return };
    for order in ORDERS {
        let (_, text) = record(&[&program], order, "killed");
        assert!(text.lines().any(|line| line.contains("|w(last,4711)|")), "{order}: {text}");
    }
}

#[test]
fn a_program_that_never_ends_can_be_killed() {
    let Some(program) = stress("endless") else { return };
    for order in ORDERS {
        let (_, text) = record(&["timeout", "-s", "KILL", "0.3", &program], order, "endless");
        assert!(text.lines().count() > 100, "{order}");
    }
}

#[test]
fn values_are_exact_when_threads_run_in_parallel() {
    if !is_ready() {
        return;
    }
    let program = build("hot_race.c");
    for round in 0..3 {
        let (_, text) = record(&[&program], "striped", &format!("hot{round}"));
        assert_eq!(text.lines().filter(|line| line.contains("|r(hot,")).count(), 8000);
        let path = file(&format!("hot{round}_striped.std")).display().to_string();
        let checked = foretell(&["trace", "check", &path]);
        let said = String::from_utf8_lossy(&checked.stdout).into_owned();
        assert!(!said.contains("no write explains"), "{said}");
    }
}
