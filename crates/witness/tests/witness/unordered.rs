//! Happens-before as C11, C++20 and Rust define it, rule by rule.

use foretell_trace::EventId;
use foretell_witness::{Proof, UnorderedReferee};

use crate::{id, trace};

/// The judgement on a pair: nothing, or why it is no race.
fn judge(text: &str, first: u32, second: u32) -> Option<String> {
    let trace = trace(text);
    let mut referee = UnorderedReferee::new(vec![(id(first), id(second))]);
    let (early, late) = trace.events().split_at(trace.events().len() / 2);
    referee.batch(EventId::FIRST, early);
    referee.batch(EventId::from_index(early.len()).unwrap(), late);
    match referee.verdicts().pop().unwrap() {
        Ok(finding) => {
            assert_eq!((finding.first(), finding.second()), (id(first), id(second)));
            assert_eq!(*finding.proof(), Proof::Unordered);
            None
        }
        Err(rejection) => Some(rejection.to_string()),
    }
}

#[track_caller]
fn unordered(text: &str, first: u32, second: u32) {
    assert_eq!(judge(text, first, second), None);
}

#[track_caller]
fn ordered(text: &str, first: u32, second: u32) {
    let why = format!("happens-before orders event {second} after the first of the two");
    assert_eq!(judge(text, first, second), Some(why));
}

#[test]
fn wrong_pairs_are_rejected_with_the_reason() {
    let text = "a|w(x)\na|w(x)\nb|r(y)\nb|w(x)";
    assert_eq!(judge(text, 1, 2).unwrap(), "event 2 is of the same thread as the first of the two");
    assert_eq!(judge(text, 1, 3).unwrap(), "event 3 does not conflict with the first of the two");
    assert_eq!(judge(text, 4, 1).unwrap(), "event 1 must come after the first of the two");
    assert_eq!(judge(text, 1, 1).unwrap(), "event 1 must come after the first of the two");
    assert_eq!(judge(text, 1, 9).unwrap(), "event 9 does not exist");
    assert_eq!(judge(text, 8, 9).unwrap(), "event 8 does not exist");
    unordered(text, 1, 4);
}

#[test]
fn events_that_were_left_out_spoil_all() {
    let trace = trace("a|w(x)\nb|w(x)");
    let mut referee = UnorderedReferee::new(vec![(id(1), id(2))]);
    referee.batch(id(2), trace.events());
    let rejection = referee.verdicts().pop().unwrap().unwrap_err();
    assert_eq!(rejection.to_string(), "not all events before event 2 were shown");
}

#[test]
fn locks_fork_and_join_order() {
    ordered("a|acq(l)\na|w(x)\na|rel(l)\nb|acq(l)\nb|w(x)\nb|rel(l)", 2, 5);
    unordered("a|acq(l)\na|rel(l)\na|w(x)\nb|acq(l)\nb|w(x)\nb|rel(l)", 3, 5);
    ordered("a|w(x)\na|fork(b)\nb|w(x)", 1, 3);
    unordered("a|fork(b)\na|w(x)\nb|w(x)", 2, 3);
    ordered("a|fork(b)\nb|w(x)\na|join(b)\na|w(x)", 2, 4);
}

#[test]
fn a_shared_release_orders_exclusive_acquires_only() {
    ordered("a|racq(l)\na|r(x)\na|rrel(l)\nb|acq(l)\nb|w(x)", 2, 5);
    unordered("a|racq(l)\na|r(x)\na|rrel(l)\nb|racq(l)\nb|w(x)", 2, 5);
    ordered("a|acq(l)\na|w(x)\na|rel(l)\nb|racq(l)\nb|w(x)", 2, 5);
}

#[test]
fn an_acquire_load_is_ordered_after_the_release_store_that_it_sees() {
    ordered("a|w(x)\na|astore.rel(f,1)\nb|aload.acq(f,1)\nb|r(x)", 1, 4);
    unordered("a|w(x)\na|astore.rlx(f,1)\nb|aload.acq(f,1)\nb|r(x)", 1, 4);
    unordered("a|w(x)\na|astore.rel(f,1)\nb|aload.rlx(f,1)\nb|r(x)", 1, 4);
    unordered("a|astore.rel(f,1)\na|w(x)\nb|aload.acq(f,1)\nb|r(x)", 2, 4);
    ordered("a|w(x)\na|astore(f,1)\nb|aload(f,1)\nb|r(x)", 1, 4);
}

#[test]
fn updates_continue_a_release_sequence_and_stores_end_it() {
    ordered("a|w(x)\na|astore.rel(f,1)\nc|rmw.rlx(f,1,2)\nb|aload.acq(f,2)\nb|r(x)", 1, 5);
    unordered("a|w(x)\na|astore.rel(f,1)\nc|astore.rlx(f,2)\nb|aload.acq(f,2)\nb|r(x)", 1, 5);
    unordered("a|w(x)\na|astore.rel(f,1)\na|astore.rlx(f,2)\nb|aload.acq(f,2)\nb|r(x)", 1, 5);
    unordered("a|w(x)\na|astore.rel(f)\nc|rmw.rlx(f)\na|astore.rlx(f)\nb|aload.acq(f)\nb|r(x)", 1, 6);
    ordered("a|w(x)\na|astore.rel(f,1)\na|astore.rel(f,2)\nb|aload.acq(f,2)\nb|r(x)", 1, 5);
    ordered("a|w(x)\na|fence.rel\na|astore.rlx(f,1)\na|astore.rlx(f,2)\nb|aload.acq(f,2)\nb|r(x)", 1, 6);
    ordered("a|w(x)\na|astore.rel(f,1)\nc|rmw.rel(f,1,2)\nb|rmw.acq(f,2,3)\nb|r(x)", 1, 5);
}

#[test]
fn by_the_rules_of_c11_stores_of_its_thread_continue_a_release_sequence() {
    ordered("a|w(x)\na|astore.rel(f,1)\na|astore.rlx11(f,2)\nb|aload.acq(f,2)\nb|r(x)", 1, 5);
    ordered("a|w(x)\na|astore.rel(f)\nc|rmw.rlx(f)\na|astore.rlx11(f)\nb|aload.acq(f)\nb|r(x)", 1, 6);
    unordered("a|w(x)\na|astore.rel(f,1)\nc|astore.rlx11(f,2)\nb|aload.acq(f,2)\nb|r(x)", 1, 5);
    unordered("c|w(x)\na|astore.rel(f)\nc|rmw.rel(f)\na|astore.rlx11(f)\nb|aload.acq(f)\nb|r(x)", 1, 6);
    unordered("a|astore.rel(f,1)\na|w(x)\na|astore.rlx11(f,2)\nb|aload.acq(f,2)\nb|r(x)", 2, 5);
}

#[test]
fn fences_stand_in_for_orders() {
    ordered("a|w(x)\na|fence.rel\na|astore.rlx(f,1)\nb|aload.rlx(f,1)\nb|fence.acq\nb|r(x)", 1, 6);
    ordered("a|w(x)\na|fence.rel\na|astore.rlx(f,1)\nb|aload.acq(f,1)\nb|r(x)", 1, 5);
    unordered("a|w(x)\na|fence.acq\na|astore.rlx(f,1)\nb|aload.acq(f,1)\nb|r(x)", 1, 5);
    unordered("a|fence.rel\na|w(x)\na|astore.rlx(f,1)\nb|aload.acq(f,1)\nb|r(x)", 2, 5);
    unordered("a|w(x)\na|fence.rel\na|astore.rlx(f,1)\nb|fence.acq\nb|aload.rlx(f,1)\nb|r(x)", 1, 6);
    unordered("a|w(x)\na|fence\nb|fence\nb|r(x)", 1, 4);
}

#[test]
fn nothing_after_a_racy_read_is_trusted() {
    let text = "a|w(y)\na|w(x)\nb|r(x)\nb|r(y)";
    unordered(text, 2, 3);
    ordered(text, 1, 4);
    unordered("a|w(y)\na|w(x)\nb|r(y)\nb|r(x)", 1, 3);
}

#[test]
fn mixed_accesses_race_and_are_not_trusted_either() {
    let text = "a|w(y)\na|w(f,1)\nb|aload.acq(f,1)\nb|r(y)";
    unordered(text, 2, 3);
    ordered(text, 1, 4);
    ordered("a|w(f,1)\na|astore.rel(f,2)\nb|aload.acq(f,2)", 1, 3);
}

#[test]
fn semaphores_conditions_and_barriers_order() {
    ordered("a|w(x)\na|v(s)\nb|p(s)\nb|w(x)", 1, 4);
    ordered("m|w(x)\na|acq(l)\na|wait(c,l)\nm|notify(c)\na|woken(c,l)\na|w(x)", 1, 6);
    unordered("m|w(x)\na|acq(l)\na|wait(c,l)\nm|notify(c)\na|timeout(c,l)\na|w(x)", 1, 6);
    let barrier = "a|w(x)\na|arrive(b)\na|w(y)\nc|w(y)\nc|arrive(b)\nc|depart(b)\nc|w(x)\na|depart(b)";
    ordered(barrier, 1, 7);
    unordered(barrier, 3, 4);
}

#[test]
fn a_failed_attempt_orders_nothing() {
    unordered("a|w(x)\na|acq(l)\nb|tryfail(l)\nb|r(x)", 1, 4);
}

#[test]
fn memory_is_allocated_before_it_is_used() {
    ordered("a|w(y)\na|alloc(x)\nb|w(x)\nb|w(y)", 1, 4);
    unordered("a|alloc(x)\nb|r(x)\na|free(x)", 2, 3);
}

#[test]
fn an_event_that_no_write_explains_orders_everything() {
    let text = "a|w(x)\nb|w(y,1)\nc|r(y,5)\nb|w(x)\nd|w(x)";
    ordered(text, 1, 4);
    ordered(text, 1, 5);
    ordered(text, 2, 3);
    ordered("b|w(y,1)\nc|r(y,5)\nb|w(y,2)", 2, 3);
}
