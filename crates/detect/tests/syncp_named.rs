//! Small traces with known answers.

mod syncp_help;

use foretell_detect::Pairs;
use foretell_detect::syncp::SyncPreserving;
use syncp_help::{detect, trace};

/// Checks the races of a trace given as `thread op; thread op; ...`, events counted from 1.
fn check(text: &str, expected: &[(u32, u32)]) {
    let lines: String = text
        .split(';')
        .enumerate()
        .map(|(index, event)| {
            let (thread, op) = event.trim().split_once(' ').unwrap();
            format!("{thread}|{op}|{}\n", index + 1)
        })
        .collect();
    let trace = trace(&lines);
    let pairs = detect(&trace, Pairs::All);
    let found: Vec<_> = pairs.iter().map(|pair| (pair.first.number(), pair.second.number())).collect();
    assert_eq!(found, expected, "{text}");
    let index = SyncPreserving::new(&trace);
    assert!(pairs.iter().all(|&pair| index.witness(pair).is_some()), "{text}");
}

#[test]
fn k1_a_deadlock_is_no_race() {
    check(
        "T2 acq(a); T2 acq(b); T2 w(x); T2 rel(b); T2 w(x); T2 rel(a); \
         T1 acq(b); T1 acq(a); T1 rel(a); T1 r(x); T1 rel(b)",
        &[],
    );
}

#[test]
fn k2_what_the_first_race_orders_is_no_race() {
    check("T1 w(y); T1 w(x); T2 r(x); T2 r(y)", &[(2, 3)]);
}

#[test]
fn k3_a_third_thread_may_stay_in_its_section() {
    check(
        "T3 acq(m); T3 w(z); T1 w(x); T1 w(y); T3 r(y); T3 rel(m); T2 r(z); T2 w(x)",
        &[(2, 7), (3, 8), (4, 5)],
    );
}

#[test]
fn k4_empty_sections_order_nothing() {
    check("T1 w(y); T1 acq(l); T1 rel(l); T2 acq(l); T2 rel(l); T2 w(y)", &[(1, 6)]);
}

#[test]
fn k5_a_section_that_is_not_needed_is_left_out() {
    check("T1 w(y); T1 acq(l); T1 w(x); T1 rel(l); T2 acq(l); T2 w(x); T2 rel(l); T2 w(y)", &[(1, 8)]);
}

#[test]
fn k6_a_race_that_needs_sections_in_another_order_is_missed() {
    check("T1 acq(l); T1 w(x); T1 w(y); T1 rel(l); T2 acq(l); T2 w(x); T2 rel(l); T2 w(y)", &[]);
}

#[test]
fn osr_false_race_is_not_reported() {
    check(
        "T3 acq(l); T3 r(x); T3 w(y); T3 rel(l); T2 w(x); T0 r(x); T0 acq(l); T0 rel(l); T0 w(y)",
        &[(2, 5), (5, 6)],
    );
}

#[test]
fn readers_exclude_only_writers() {
    check("T1 racq(l); T1 w(x); T1 rrel(l); T2 racq(l); T2 w(x); T2 rrel(l)", &[(2, 5)]);
    check("T1 racq(l); T1 w(x); T1 rrel(l); T2 acq(l); T2 w(x); T2 rel(l)", &[]);
}

#[test]
fn a_downgraded_lock_still_excludes_writers() {
    check(
        "T1 acq(l); T1 racq(l); T1 rel(l); T1 w(x); T2 racq(l); T2 w(x); T2 rrel(l); T1 rrel(l)",
        &[(4, 6)],
    );
    check("T1 acq(l); T1 racq(l); T1 rel(l); T1 w(x); T1 rrel(l); T2 acq(l); T2 w(x); T2 rel(l)", &[]);
}

#[test]
fn waiting_gives_up_the_lock() {
    check(
        "T1 acq(l); T1 wait(c,l); T2 acq(l); T2 w(x); T2 notify(c); T2 rel(l); T1 woken(c,l); T1 w(x); T1 rel(l)",
        &[],
    );
    check(
        "T1 acq(l); T1 w(x); T1 wait(c,l); T2 acq(l); T2 rel(l); T2 w(x); T1 timeout(c,l); T1 w(x)",
        &[(6, 8)],
    );
}

#[test]
fn a_read_that_nothing_explains_is_a_fence() {
    check("T1 w(x,1); T1 w(y,1); T2 r(x,7); T2 w(y,2)", &[(1, 3)]);
}
