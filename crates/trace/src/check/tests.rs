use super::*;
use crate::format::text::{TextReader, op_text};
use crate::source::Source;

/// The operations as the checker leaves them, with `!` after each that is unexplained; or what is wrong, after the
/// number of the event.
fn check(trace: &'static str) -> Result<Vec<String>, String> {
    let text = trace.replace([';', ' '], "\n");
    let mut source = TextReader::new(Box::new(std::io::Cursor::new(text)));
    let (mut checker, mut batch, mut seen) = (Checker::default(), Batch::default(), Vec::new());
    while source.fill(&mut batch).map_err(|error| format!("{error}"))? {
        checker.check_batch(&mut batch, source.names()).map_err(|error| match error {
            TraceError::Malformed { violation, .. } => format!("{}: {violation}", violation.event),
            other => other.to_string(),
        })?;
        for event in &batch.events {
            let mark = if event.unexplained { "!" } else { "" };
            let again = match event.op {
                Op::AcquireAgain(_)
                | Op::ReleaseAgain(_)
                | Op::AcquireSharedAgain(_)
                | Op::ReleaseSharedAgain(_) => " again",
                _ => "",
            };
            seen.push(format!("{}{again}{mark}", op_text(event.op, source.names())));
        }
    }
    Ok(seen)
}

#[track_caller]
fn fine(trace: &'static str) {
    if let Err(violation) = check(trace) {
        panic!("{trace}: {violation}");
    }
}

#[track_caller]
fn wrong(trace: &'static str, violation: &str) {
    assert_eq!(check(trace).unwrap_err(), violation, "{trace}");
}

#[test]
fn locks_have_one_owner() {
    fine("a|acq(l)|1 a|rel(l)|1 b|acq(l)|1 b|rel(l)|1");
    wrong("a|rel(l)|1", "1: a releases l, which it does not hold");
    wrong("a|acq(l)|1 b|rel(l)|1", "2: b releases l, which a holds since event 1");
    wrong("a|acq(l)|1 b|acq(l)|1", "2: b acquires l while a holds it since event 1");
    wrong("a|acq(l)|1 b|racq(l)|1", "2: b acquires l while a holds it since event 1");
    wrong("a|racq(l)|1 b|acq(l)|1", "2: b acquires l while a holds it since event 1");
    wrong("a|rrel(l)|1", "1: a releases l, which it does not hold");
    wrong("a|acq(l)|1 a|rrel(l)|1", "2: a releases l, which a holds since event 1");
}

#[test]
fn repeated_acquires_are_marked() {
    assert_eq!(
        check("a|acq(l)|1 a|acq(l)|1 a|rel(l)|1 a|rel(l)|1").unwrap(),
        ["acq(l)", "acq(l) again", "rel(l) again", "rel(l)"]
    );
    assert_eq!(
        check("a|racq(l)|1 b|racq(l)|1 a|racq(l)|1 a|rrel(l)|1 a|rrel(l)|1").unwrap(),
        ["racq(l)", "racq(l)", "racq(l) again", "rrel(l) again", "rrel(l)"]
    );
    wrong("a|acq(l)|1 a|acq(l)|1 a|rel(l)|1 b|acq(l)|1", "4: b acquires l while a holds it since event 1");
}

#[test]
fn a_writer_may_become_a_reader_and_the_last_reader_a_writer() {
    fine("a|acq(l)|1 a|racq(l)|1 a|rel(l)|1 b|racq(l)|1 a|rrel(l)|1 b|acq(l)|1");
    wrong("a|acq(l)|1 a|racq(l)|1 b|racq(l)|1", "3: b acquires l while a holds it since event 1");
}

#[test]
fn attempts_fail_only_if_somebody_holds_the_lock() {
    fine("a|acq(l)|1 b|tryfail(l)|1 b|rtryfail(l)|1");
    fine("a|racq(l)|1 b|tryfail(l)|1");
    wrong("a|tryfail(l)|1", "1: the attempt to acquire l fails although no thread holds it");
    wrong("a|racq(l)|1 b|rtryfail(l)|1", "2: the attempt to acquire l fails although no thread holds it");
}

#[test]
fn an_attempt_that_succeeds_is_an_acquire() {
    fine("a|try(l)|1 a|rel(l)|1 b|rtry(l)|1 a|rtry(l)|1 a|rrel(l)|1 b|rrel(l)|1 a|try(l)|1");
    wrong("a|racq(l)|1 b|try(l)|1", "2: b acquires l while a holds it since event 1");
    wrong("a|try(l)|1 b|rtry(l)|1", "2: b acquires l while a holds it since event 1");
    let again = check("a|acq(l)|1 a|try(l)|1 a|rel(l)|1 a|rel(l)|1 b|try(l)|1").unwrap();
    assert_eq!(again, ["acq(l)", "acq(l) again", "rel(l) again", "rel(l)", "try(l)"]);
}

#[test]
fn threads_begin_and_end_once() {
    fine("a|begin|1 a|fork(b)|1 b|begin|1 b|end|1 a|join(b)|1 a|join(b)|1");
    fine("a|fork(b)|1 a|join(b)|1");
    wrong("a|w(x)|1 a|begin|1", "2: a begins again; its first event is 1");
    wrong("a|end|1 a|w(x)|1", "2: a continues after its end at event 1");
    wrong("b|w(x)|1 a|join(b)|1 b|w(x)|1", "3: b continues after it was joined at event 2");
    wrong("a|fork(b)|1 a|join(b)|1 b|w(x)|1", "3: b continues after it was joined at event 2");
    wrong("a|join(b)|1", "1: join of b, which was neither forked nor seen before");
    wrong("a|fork(b)|1 c|fork(b)|1", "2: b is forked again; it was forked at event 1");
    wrong("b|w(x)|1 a|fork(b)|1", "2: b is forked although it runs since event 1");
    wrong("a|fork(a)|1", "1: a forks itself");
    wrong("a|w(x)|1 a|join(a)|1", "2: a joins itself");
}

#[test]
fn a_wait_gives_up_the_lock_and_takes_it_back() {
    fine(
        "a|acq(l)|1 a|acq(l)|1 a|wait(c,l)|1 b|acq(l)|1 b|notify(c)|1 b|rel(l)|1 a|woken(c,l)|1 a|rel(l)|1 a|rel(l)|1",
    );
    fine("a|acq(l)|1 a|wait(l)|1 a|timeout(l)|1 a|rel(l)|1");
    wrong("a|wait(c,l)|1", "1: a releases l, which it does not hold");
    wrong("a|acq(l)|1 a|wait(c,l)|1 a|w(x)|1", "3: a continues while it waits on c");
    wrong("a|acq(l)|1 a|wait(c,l)|1 a|woken(d,l)|1", "3: a continues while it waits on c");
    wrong("a|acq(l)|1 a|wait(c,l)|1 b|join(a)|1", "3: join of a while it waits on c");
    wrong("a|w(x)|1 a|woken(c,l)|1", "2: a returns from a wait on c that it did not begin");
    wrong(
        "a|acq(l)|1 a|wait(c,l)|1 b|acq(l)|1 a|timeout(c,l)|1",
        "4: a acquires l while b holds it since event 3",
    );
}

#[test]
fn barriers_are_left_by_who_came() {
    fine("a|arrive(b)|1 c|arrive(b)|1 a|depart(b)|1 c|depart(b)|1 a|arrive(b)|1 a|depart(b)|1");
    fine("a|arrive(b)|1 c|arrive(b)|1 a|depart(b)|1 a|arrive(b)|1 c|depart(b)|1 a|depart(b)|1");
    wrong("a|arrive(b)|1 a|arrive(b)|1", "2: a arrives at b again before it departed");
    wrong("a|depart(b)|1", "1: a departs from b without having arrived");
    wrong(
        "a|arrive(b)|1 c|arrive(b)|1 a|depart(b)|1 a|arrive(b)|1 a|depart(b)|1",
        "5: a departure from b overtakes one of the generation before it",
    );
}

#[test]
fn semaphores_have_no_more_permits_than_they_were_given() {
    fine("a|p(s)|1 a|p(s)|1 a|v(s)|1");
    fine("a|sem(s,0)|1 a|v(s)|1 a|p(s)|1");
    wrong("a|sem(s,1)|1 a|p(s)|1 a|p(s)|1", "3: the semaphore s has no permit left");
    wrong("a|p(s)|1 a|sem(s,1)|1", "2: the semaphore s is created after its first use");
}

#[test]
fn freed_memory_is_left_alone() {
    fine("a|alloc(x)|1 a|w(x)|1 a|free(x)|1 a|alloc(x)|1 a|r(x)|1");
    wrong("a|free(x)|1 b|r(x)|1", "2: x is used after it was freed at event 1");
    wrong("a|free(x)|1 b|astore(x)|1", "2: x is used after it was freed at event 1");
    wrong("a|free(x)|1 b|rmw(x)|1", "2: x is used after it was freed at event 1");
    wrong("a|free(x)|1 b|free(x)|1", "2: x is freed again; it was freed at event 1");
}

#[test]
fn memory_is_allocated_once_and_before_its_use() {
    let mut names = Names::default();
    let thread = names.threads.intern(b"a").unwrap();
    let var = names.vars.intern(b"x").unwrap();
    let loc = names.loc(b"1").unwrap();
    for first in [Op::Alloc(var), Op::Write { var, value: None }, Op::Free(var)] {
        let mut checker = Checker::default();
        let mut run = |op| checker.check(&mut Event::new(thread, op, loc), &names).unwrap();
        assert_eq!(run(first), Ok(()));
        let violation = run(Op::Alloc(var)).unwrap_err();
        assert_eq!(
            violation.to_string(),
            "x is allocated again without a generation of its own",
            "{first:?}"
        );
    }
}

#[test]
fn a_value_that_no_write_explains_is_flagged() {
    assert_eq!(
        check("a|w(x,1)|1 b|r(x,1)|1 b|r(x,2)|1 a|r(x,2)|1 a|w(x)|1 a|r(x,7)|1 a|r(x,7)|1").unwrap(),
        ["w(x,1)", "r(x,1)", "r(x,2)!", "r(x,2)", "w(x)", "r(x,7)", "r(x,7)"]
    );
    assert_eq!(
        check("a|astore(x,1)|1 b|rmw(x,1,2)|1 b|rmw(x,1,2)|1 a|aload(x,2)|1").unwrap(),
        ["astore(x,1)", "rmw(x,1,2)", "rmw(x,1,2)!", "aload(x,2)"]
    );
}

#[test]
fn the_first_read_tells_the_initial_value() {
    assert_eq!(check("a|r(x,5)|1 b|r(x,5)|1 b|r(x,0)|1").unwrap(), ["r(x,5)", "r(x,5)", "r(x,0)!"]);
}
