//! What the search must tell apart, and sync-preserving races, kind by kind of synchronisation.

use foretell_witness::Model;
use foretell_witness::oracle::{races, sync_preserving_races};

use crate::{id, trace};

#[track_caller]
fn sync_preserving(text: &str, expected: &[(u32, u32)]) {
    let races = sync_preserving_races(&trace(text), 1_000_000).unwrap();
    assert_eq!(races, expected.iter().map(|&(a, b)| (id(a), id(b))).collect());
}

#[test]
fn a_state_knows_whether_a_notification_was_lost() {
    let trace = trace("a|acq(l)\na|wait(c,l)\nm|notify(c)\na|woken(c,l)\na|w(x)\nm|w(x)");
    assert!(races(&trace, Model::SameWrite, 1000).unwrap().contains(&(id(5), id(6))));
}

#[test]
fn a_state_knows_whether_a_write_came_before_its_thread_deviated() {
    // `b` must write `x` as observed and read another `q` than observed, for `d` writes `q` only after the race.
    let trace = trace(
        "a|w(p,1)\nb|r(p,1)\nb|w(x,1)\nd|w(z,1)\nd|w(q,1)\nb|r(q,1)\nb|fork(c)\nc|r(x,1)\nc|branch\nc|w(z,1)",
    );
    assert!(races(&trace, Model::ControlFlow, 1000).unwrap().contains(&(id(4), id(10))));
}

#[test]
fn a_section_may_be_left_out_but_not_overtaken() {
    sync_preserving("a|w(y)\na|acq(l)\na|rel(l)\nb|acq(l)\nb|rel(l)\nb|w(y)", &[(1, 6)]);
    sync_preserving("a|w(y)\na|acq(l)\na|w(x)\na|rel(l)\nb|acq(l)\nb|w(x)\nb|rel(l)\nb|w(y)", &[(1, 8)]);
    sync_preserving("a|acq(l)\na|w(x)\na|w(y)\na|rel(l)\nb|acq(l)\nb|w(x)\nb|rel(l)\nb|w(y)", &[]);
}

#[test]
fn shared_sections_have_no_order() {
    sync_preserving("a|racq(l)\na|w(y)\na|rrel(l)\nb|racq(l)\nb|rrel(l)\nb|w(y)", &[(2, 6)]);
    sync_preserving("a|racq(l)\na|w(y)\na|rrel(l)\nb|acq(l)\nb|rel(l)\nb|w(y)", &[]);
    sync_preserving("a|acq(l)\na|w(y)\na|rel(l)\nb|acq(l)\nb|rel(l)\nb|w(y)", &[]);
}

#[test]
fn a_failed_attempt_keeps_its_place() {
    sync_preserving("a|w(x)\na|acq(l)\nb|tryfail(l)\nb|w(x)\na|rel(l)", &[]);
    sync_preserving("a|acq(l)\na|w(x)\nb|tryfail(l)\nb|w(x)\na|rel(l)", &[(2, 4)]);
    // While the section of `c` lasts the attempt would fail as well, but that section comes later in the trace.
    sync_preserving("a|w(x)\na|acq(l)\nb|tryfail(l)\nb|w(x)\na|rel(l)\nc|acq(l)\nc|rel(l)", &[]);
}

#[test]
fn operations_on_a_semaphore_leave_no_gap() {
    sync_preserving("a|w(x)\na|v(s)\nb|v(s)\nb|p(s)\nb|w(x)", &[]);
    sync_preserving("a|v(s)\na|w(x)\nb|v(s)\nb|p(s)\nb|w(x)", &[(2, 5)]);
}

#[test]
fn operations_on_a_condition_or_a_barrier_leave_no_gap() {
    sync_preserving("a|w(x)\na|notify(c)\nb|notify(c)\nb|w(x)", &[]);
    sync_preserving("a|w(x)\na|arrive(b)\nc|arrive(b)\nc|w(x)", &[]);
}
