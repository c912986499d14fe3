//! Each rule of the machine, on traces of a few events.

use std::sync::Arc;

use foretell_trace::EventId;
use foretell_witness::observed::Observed;
use foretell_witness::{Blocked, Machine, Model};

use crate::{ids, trace};

/// Runs the events in this order; the error is that of the first one that cannot run, in words.
fn run_in(model: Model, text: &str, schedule: &[u32]) -> Result<(), String> {
    let trace = trace(text);
    let mut machine = Machine::new(Arc::new(Observed::new(&trace)), model);
    for id in ids(schedule) {
        let thread = trace.event(id).thread;
        assert_eq!(machine.next(thread), Some(id), "the test itself breaks thread order");
        assert_eq!(machine.enabled(thread).is_ok(), machine.clone().step(thread).is_ok());
        machine.step(thread).map_err(|blocked| format!("{id}: {}", blocked.text(trace.names())))?;
    }
    Ok(())
}

fn run(text: &str, schedule: &[u32]) -> Result<(), String> {
    run_in(Model::SameWrite, text, schedule)
}

fn blocked(why: &str) -> Result<(), String> {
    Err(why.to_string())
}

#[test]
fn a_lock_is_held_by_one_thread() {
    let text = "a|acq(l)\na|acq(l)\na|rel(l)\na|rel(l)\nb|acq(l)";
    assert_eq!(run(text, &[1, 2, 3, 5]), blocked("5: a holds l"));
    assert_eq!(run(text, &[5, 1]), blocked("1: b holds l"));
    assert_eq!(run(text, &[1, 2, 3, 4, 5]), Ok(()));
}

#[test]
fn readers_share_a_lock_and_a_writer_does_not() {
    let text = "a|racq(l)\nb|racq(l)\na|rrel(l)\nb|rrel(l)\nc|acq(l)\nc|rel(l)";
    assert_eq!(run(text, &[1, 2, 5]), blocked("5: a holds l"));
    assert_eq!(run(text, &[1, 2, 3, 5]), blocked("5: b holds l"));
    assert_eq!(run(text, &[5, 1]), blocked("1: c holds l"));
    assert_eq!(run(text, &[5, 6, 2, 1]), Ok(()));
}

#[test]
fn who_tries_takes_a_lock_like_who_waits() {
    let text = "a|try(l)\na|rel(l)\nb|rtry(l)";
    assert_eq!(run(text, &[1, 3]), blocked("3: a holds l"));
    assert_eq!(run(text, &[3, 1]), blocked("1: b holds l"));
    let text = "a|rtry(l)\nb|racq(l)\na|rrel(l)\nb|rrel(l)\nc|try(l)";
    assert_eq!(run(text, &[1, 2, 3, 5]), blocked("5: b holds l"));
    assert_eq!(run(text, &[5, 1]), blocked("1: c holds l"));
    assert_eq!(run(text, &[1, 2, 3, 4, 5]), Ok(()));
}

#[test]
fn a_reader_may_become_the_writer_if_it_is_the_only_one() {
    let text = "a|racq(l)\na|acq(l)\na|rel(l)\na|rrel(l)\nb|racq(l)\nb|rrel(l)";
    assert_eq!(run(text, &[1, 5, 2]), blocked("2: b holds l"));
    assert_eq!(run(text, &[1, 2, 5]), blocked("5: a holds l"));
    assert_eq!(run(text, &[1, 5, 6, 2]), Ok(()));
}

#[test]
fn an_attempt_fails_only_while_somebody_holds_the_lock() {
    let text = "a|acq(l)\nb|tryfail(l)\na|rel(l)";
    assert_eq!(run(text, &[2]), blocked("2: no thread holds l"));
    assert_eq!(run(text, &[1, 3, 2]), blocked("2: no thread holds l"));
    assert_eq!(run(text, &[1, 2, 3]), Ok(()));
    let shared = "a|racq(l)\nb|tryfail(l)\na|rrel(l)\na|acq(l)\nb|rtryfail(l)";
    assert_eq!(run(shared, &[1, 2, 5]), blocked("5: no thread holds l"));
    assert_eq!(run(shared, &[1, 2, 3, 4, 5]), Ok(()));
}

#[test]
fn a_thread_runs_between_its_fork_and_its_join() {
    let text = "a|fork(b)\nb|w(x)\na|join(b)\nc|w(x)";
    assert_eq!(run(text, &[2]), blocked("2: the thread is not forked yet"));
    assert_eq!(run(text, &[1, 3]), blocked("3: b has not run to its end"));
    assert_eq!(run(text, &[4, 1, 2, 3]), Ok(()));
    let silent = "a|fork(b)\nc|w(x)\nc|join(b)";
    assert_eq!(run(silent, &[2, 3]), blocked("3: b has not run to its end"));
}

#[test]
fn a_semaphore_has_the_permits_that_it_was_created_with() {
    let text = "a|sem(s,1)\nb|p(s)\na|v(s)\nc|p(s)";
    assert_eq!(run(text, &[2]), blocked("2: the semaphore s is not created yet"));
    assert_eq!(run(text, &[1, 4, 2]), blocked("2: the semaphore s has no permit"));
    assert_eq!(run(text, &[1, 4, 3, 2]), Ok(()));
}

#[test]
fn a_semaphore_whose_creation_is_unseen_has_the_least_permits_that_explain_the_trace() {
    let none = "a|v(s)\nb|p(s)";
    assert_eq!(run(none, &[2]), blocked("2: the semaphore s has no permit"));
    let two = "a|p(s)\nb|p(s)\na|v(s)\nc|p(s)";
    assert_eq!(run(two, &[4, 1, 2]), blocked("2: the semaphore s has no permit"));
    assert_eq!(run(two, &[4, 1, 3, 2]), Ok(()));
}

const TWO_WAITERS: &str = "a|acq(l)\na|wait(c,l)\nb|acq(l)\nb|wait(c,l)
    m|notify(c)\nb|woken(c,l)\nb|rel(l)\nm|notify(c)\na|woken(c,l)\na|rel(l)";

#[test]
fn a_notification_wakes_any_one_of_those_that_wait() {
    assert_eq!(run(TWO_WAITERS, &[1, 2, 3, 4, 5, 9, 10]), Ok(()));
    assert_eq!(
        run(TWO_WAITERS, &[1, 2, 3, 4, 5, 9, 10, 6]),
        blocked("6: no notification on c is left for it since the wait")
    );
    assert_eq!(run(TWO_WAITERS, &[3, 4, 5, 6, 7]), Ok(()));
    assert_eq!(run(TWO_WAITERS, &[1, 2, 3, 4, 5, 8, 9, 6]), blocked("6: a holds l"));
    assert_eq!(run(TWO_WAITERS, &[1, 2, 3, 4, 5, 8, 9, 10, 6]), Ok(()));
}

#[test]
fn who_began_to_wait_later_needs_a_later_notification() {
    assert_eq!(run(TWO_WAITERS, &[1, 2, 5, 3, 4, 8, 6, 7, 9]), Ok(()));
    assert_eq!(run(TWO_WAITERS, &[1, 2, 5, 3, 4, 8, 9, 10, 6]), Ok(()));
    assert_eq!(
        run(TWO_WAITERS, &[1, 2, 5, 8, 3, 4, 6]),
        blocked("6: no notification on c is left for it since the wait")
    );
}

#[test]
fn whoever_returns_in_time_takes_no_notification() {
    let text =
        "a|acq(l)\na|wait(c,l)\nb|acq(l)\nb|wait(c,l)\nm|notify(c)\nb|timeout(c,l)\nb|rel(l)\na|woken(c,l)";
    assert_eq!(run(text, &[1, 2, 3, 4, 5, 6, 7, 8]), Ok(()));
    assert_eq!(
        run(text, &[3, 4, 5, 6, 7, 1, 2, 8]),
        blocked("8: no notification on c is left for it since the wait")
    );
}

#[test]
fn a_notification_before_the_wait_is_lost() {
    assert_eq!(
        run(TWO_WAITERS, &[1, 2, 5, 3, 4, 6]),
        blocked("6: no notification on c is left for it since the wait")
    );
}

#[test]
fn each_wait_needs_a_notification_of_its_own() {
    let text = "a|acq(l)\na|wait(c,l)\nm|notify(c)\na|woken(c,l)\na|wait(c,l)\nm|notify(c)\na|woken(c,l)";
    assert_eq!(
        run(text, &[1, 2, 3, 4, 5, 7]),
        blocked("7: no notification on c is left for it since the wait")
    );
    assert_eq!(run(text, &[1, 2, 3, 4, 5, 6, 7]), Ok(()));
}

#[test]
fn a_waiter_has_given_up_the_lock_entirely() {
    let text =
        "a|acq(l)\na|acq(l)\na|wait(l)\nb|acq(l)\nb|notify(l)\nb|rel(l)\na|woken(l)\na|rel(l)\na|rel(l)";
    assert_eq!(run(text, &[1, 2, 3, 4, 5, 7]), blocked("7: b holds l"));
    assert_eq!(run(text, &[1, 2, 3, 4, 5, 6, 7, 8]), Ok(()));
}

#[test]
fn notify_all_wakes_everybody_who_waits() {
    let text = "a|acq(l)\na|wait(c,l)\nb|acq(l)\nb|wait(c,l)\nm|notifyall(c)
        a|woken(c,l)\na|rel(l)\nb|woken(c,l)\nb|rel(l)";
    assert_eq!(run(text, &[1, 2, 3, 4, 5, 8, 9, 6]), Ok(()));
    assert_eq!(
        run(text, &[3, 4, 5, 1, 2, 8, 9, 6]),
        blocked("6: no notification on c is left for it since the wait")
    );
}

#[test]
fn a_return_that_nobody_notified_needs_the_lock_only() {
    for back in ["timeout", "woken"] {
        let text = format!("m|notify(c)\na|acq(l)\na|wait(c,l)\na|{back}(c,l)\nb|w(x)");
        assert_eq!(run(&text, &[2, 3, 4]), Ok(()));
    }
}

#[test]
fn a_barrier_is_crossed_by_all_of_a_generation() {
    let text = "a|arrive(b)\nc|arrive(b)\na|depart(b)\na|arrive(b)\nc|depart(b)\nc|arrive(b)\nc|depart(b)\na|depart(b)";
    assert_eq!(run(text, &[1, 3]), blocked("3: not all have arrived at b for its crossing number 1"));
    assert_eq!(
        run(text, &[2, 1, 3, 4, 8]),
        blocked("8: not all have arrived at b for its crossing number 2")
    );
    assert_eq!(run(text, &[2, 1, 5, 6, 3, 4, 8, 7]), Ok(()));
}

#[test]
fn who_meets_whom_at_a_barrier_is_a_matter_of_numbers() {
    let text = "a|arrive(b)\nc|arrive(b)\na|depart(b)\nc|depart(b)\nd|arrive(b)\ne|arrive(b)\ne|depart(b)";
    assert_eq!(run(text, &[1, 5, 3]), Ok(()));
    assert_eq!(
        run(text, &[1, 2, 6, 3, 7]),
        blocked("7: not all have arrived at b for its crossing number 2")
    );
    assert_eq!(run(text, &[2, 6, 1, 7, 4]), Ok(()));
    assert_eq!(run(text, &[2, 6, 1, 3]), blocked("3: not all have arrived at b for its crossing number 2"));
}

#[test]
fn where_generations_differ_in_size_those_meet_who_met() {
    let text = "a|arrive(b)\nc|arrive(b)\na|depart(b)\nc|depart(b)\nd|arrive(b)\nd|depart(b)\ne|arrive(b)";
    assert_eq!(run(text, &[1, 5]), blocked("5: not all have arrived at b for its crossing number 1"));
    assert_eq!(run(text, &[1, 2, 5, 6, 7]), Ok(()));
    let more = "a|arrive(b)\na|depart(b)\nc|arrive(b)\nd|arrive(b)";
    assert_eq!(run(more, &[3]), blocked("3: not all have arrived at b for its crossing number 1"));
}

#[test]
fn a_read_sees_the_same_write() {
    let text = "a|w(x,1)\nb|r(x,1)\na|w(x,1)";
    assert_eq!(run(text, &[2]), blocked("2: it would read the initial content of x"));
    assert_eq!(run(text, &[1, 3, 2]), blocked("2: it would read x from event 3"));
    assert_eq!(run_in(Model::SameValue, text, &[1, 3, 2]), Ok(()));
}

#[test]
fn a_thread_stops_after_another_value() {
    let text = "a|w(x,1)\nb|r(x,1)\nb|w(y,1)\nb|branch";
    assert_eq!(
        run_in(Model::SameValue, text, &[2, 3]),
        blocked("3: its thread has read something else than observed")
    );
    assert_eq!(
        run_in(Model::ControlFlow, text, &[2, 3, 4]),
        blocked("4: its thread has read something else than observed")
    );
    assert_eq!(run_in(Model::ControlFlow, text, &[2, 3, 1]), Ok(()));
}

#[test]
fn without_branches_every_event_depends_on_every_read() {
    let text = "a|w(x,1)\nb|r(x,1)\nb|w(y,1)";
    assert_eq!(
        run_in(Model::ControlFlow, text, &[2, 3]),
        blocked("3: its thread has read something else than observed")
    );
}

#[test]
fn what_a_deviated_thread_writes_equals_nothing() {
    for (write, read) in [("w(y,1)", "r(y,1)"), ("w(y)", "r(y)")] {
        let text = format!("a|w(x,1)\nb|r(x,1)\nb|{write}\nc|{read}\nc|branch");
        assert_eq!(
            run_in(Model::ControlFlow, &text, &[2, 3, 4, 5]),
            blocked("5: its thread has read something else than observed")
        );
        assert_eq!(run_in(Model::ControlFlow, &text, &[1, 2, 3, 4, 5]), Ok(()));
    }
}

#[test]
fn without_values_the_same_value_means_the_same_write() {
    let text = "a|w(x)\nb|r(x,1)\na|w(x,1)\nb|w(y)";
    assert_eq!(
        run_in(Model::SameValue, text, &[1, 3, 2, 4]),
        blocked("4: its thread has read something else than observed")
    );
    assert_eq!(run_in(Model::SameValue, text, &[1, 2, 4]), Ok(()));
}

#[test]
fn the_first_read_shows_the_initial_value() {
    let text = "a|r(x,7)\na|w(x,0)\nb|r(x,0)\nb|w(y)";
    assert_eq!(
        run_in(Model::SameValue, text, &[3, 4]),
        blocked("4: its thread has read something else than observed")
    );
    let zero = "a|w(x,0)\nb|r(x,0)\nb|w(y)";
    assert_eq!(run_in(Model::SameValue, zero, &[2, 3]), Ok(()));
}

#[test]
fn updates_form_a_chain() {
    let text = "a|rmw(x,0,1)\nb|rmw(x,1,2)\nc|rmw(x,2,3)";
    assert_eq!(run(text, &[1, 3]), blocked("3: it would read x from event 1"));
    assert_eq!(run(text, &[1, 2, 3]), Ok(()));
    let after = format!("{text}\nc|w(y)\na|w(y)");
    assert_eq!(
        run_in(Model::SameValue, &after, &[2, 1, 5]),
        blocked("5: its thread has read something else than observed"),
        "a deviating update leaves nothing that was observed"
    );
}

#[test]
fn memory_is_used_between_its_allocation_and_its_end() {
    for access in ["w(x)", "r(x)", "rmw(x)", "aload(x)", "astore(x)"] {
        let text = format!("a|alloc(x)\nb|{access}\na|free(x)");
        assert_eq!(run(&text, &[2]), blocked("2: x is not allocated yet"));
        assert_eq!(run(&text, &[1, 3, 2]), blocked("2: x is freed"));
        assert_eq!(run(&text, &[1, 2, 3]), Ok(()));
    }
}

#[test]
fn allocated_memory_is_not_known_to_be_zero() {
    let text = "a|alloc(x)\na|w(x,0)\nb|r(x,0)\nb|w(y)";
    assert_eq!(
        run_in(Model::SameValue, text, &[1, 3, 4]),
        blocked("4: its thread has read something else than observed")
    );
}

/// Event 3 reads what no event wrote.
const UNEXPLAINED: &str = "a|w(x,1)\nc|r(z,0)\nb|r(x,5)\nc|w(y)\nb|r(x,5)\na|w(z,1)";

#[test]
fn nothing_passes_an_event_that_no_write_explains() {
    assert_eq!(
        run(UNEXPLAINED, &[2, 4]),
        blocked("4: event 3, which no recorded write explains, has not run")
    );
    assert_eq!(
        run(UNEXPLAINED, &[1, 3]),
        blocked("3: no recorded write explains it, and not everything before it in the trace has run")
    );
    assert_eq!(run(UNEXPLAINED, &[2, 1, 3, 5, 4]), Ok(()));
}

#[test]
fn the_write_from_outside_needs_the_run_as_observed() {
    let text = "a|w(x,1)\nc|r(x,1)\nb|r(z,0)\nb|w(z,1)\nb|r(z,5)";
    assert_eq!(
        run_in(Model::SameValue, text, &[2, 1, 3, 4, 5]),
        blocked("5: no recorded write explains it, and a thread has read something else than observed")
    );
    assert_eq!(run_in(Model::SameValue, text, &[3, 4, 1, 2, 5]), Ok(()));
}

#[test]
fn a_thread_at_its_end_is_blocked() {
    let trace = trace("a|w(x)");
    let mut machine = Machine::new(Arc::new(Observed::new(&trace)), Model::SameWrite);
    let thread = trace.event(EventId::FIRST).thread;
    assert_eq!(machine.step(thread), Ok(()));
    assert_eq!(machine.step(thread), Err(Blocked::AtEnd));
    assert_eq!(machine.ran(), 1);
    machine.rewind(&[EventId::FIRST], Model::SameWrite);
    assert_eq!(machine.next(thread), Some(EventId::FIRST));
}
