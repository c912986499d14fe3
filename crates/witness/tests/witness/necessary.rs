//! The rules for traces that tell which reads matter to what, each on a few events.

use std::sync::Arc;

use foretell_trace::{Dependence, Reads, Trace};
use foretell_witness::observed::Observed;
use foretell_witness::{Claim, Machine, Model, Proof, Referee};

use crate::{id, ids, trace};

/// The trace, in which no read matters to anything but for what `tell` says.
fn told(text: &str, tell: impl Fn(&mut Dependence)) -> Trace {
    let trace = trace(text);
    let mut dependence = Dependence::new(trace.events().len());
    let writes =
        trace.iter().filter(|(_, event)| event.op.access().is_some_and(|access| access.kind.writes()));
    for (write, _) in writes {
        dependence.set_value(write, Reads::NOTHING);
    }
    tell(&mut dependence);
    trace.with_dependence(dependence).unwrap()
}

/// Runs the events in this order; the error is that of the first one that cannot run, in words.
fn run(trace: &Trace, schedule: &[u32]) -> Result<(), String> {
    let mut machine = Machine::new(Arc::new(Observed::new(trace)), Model::Necessary);
    for id in ids(schedule) {
        let thread = trace.event(id).thread;
        assert_eq!(machine.next(thread), Some(id), "the test itself breaks thread order");
        assert_eq!(machine.enabled(thread).is_ok(), machine.clone().step(thread).is_ok());
        machine.step(thread).map_err(|blocked| format!("{id}: {}", blocked.text(trace.names())))?;
    }
    Ok(())
}

fn blocked(why: &str) -> Result<(), String> {
    Err(why.to_string())
}

const STRAYED: &str = "a|w(x,1)\nb|r(x,1)\nb|w(y,1)\nb|w(y,2)\nb|branch";

#[test]
fn a_read_that_matters_to_nothing_stops_nothing() {
    assert_eq!(run(&told(STRAYED, |_| {}), &[2, 3, 4, 5, 1]), Ok(()));
}

#[test]
fn a_thread_goes_on_up_to_what_the_read_steers() {
    let text = STRAYED.replace("branch", "w(z,1)");
    let trace = told(&text, |of| of.steer(id(2), id(4)));
    let why = "4: event 2 has read something else than observed, and that decides what happens here";
    assert_eq!(run(&trace, &[2, 3, 4]), blocked(why));
    assert_eq!(run(&trace, &[1, 2, 3, 4, 5]), Ok(()));
}

#[test]
fn the_first_event_that_any_deviating_read_steers_counts() {
    let text = "a|w(x,1)\nb|r(x,1)\nb|r(x,1)\nb|w(y,1)\nb|w(y,2)";
    let trace = told(text, |of| {
        of.steer(id(2), id(5));
        of.steer(id(3), id(4));
    });
    let why = |event, read| {
        format!(
            "{event}: event {read} has read something else than observed, and that decides what happens here"
        )
    };
    assert_eq!(run(&trace, &[2, 3, 4]), Err(why(4, 3)));
    assert_eq!(run(&trace, &[2, 1, 3, 4, 5]), Err(why(5, 2)));
}

#[test]
fn a_read_that_steers_itself_must_see_what_it_saw() {
    let text = "a|w(x,1)\nb|r(x,1)\nb|w(y,1)";
    let trace = told(text, |of| of.steer(id(2), id(2)));
    assert_eq!(run(&trace, &[2]), blocked("2: it would read the initial content of x"));
    assert_eq!(run(&trace, &[1, 2, 3]), Ok(()));
    let schedule = ids(&[1, 2]);
    let claim =
        Claim { first: id(1), second: id(2), proof: Proof::Adjacent { model: Model::Necessary, schedule } };
    assert!(Referee::new(&trace).check(claim).is_ok(), "what a racing event sees does not matter");
}

/// Events 3 and 4 read, 5 and 6 write, and the reader of what these wrote steers its next event.
const WRITES: &str =
    "a|w(x,1)\na|w(v,1)\nb|r(x,1)\nb|r(v,1)\nb|w(y,1)\nb|w(z,1)\nc|r(y,1)\nc|r(z,1)\nc|w(u,1)";

#[test]
fn what_is_made_of_a_deviating_read_equals_nothing_and_all_else_does() {
    let trace = told(WRITES, |of| {
        of.set_value(id(5), Reads::of(id(3)));
        let both = of.unite(Reads::of(id(4)), Reads::of(id(3)));
        of.set_value(id(6), both);
        of.steer(id(7), id(9));
        of.steer(id(8), id(9));
    });
    let why = |read| {
        format!("9: event {read} has read something else than observed, and that decides what happens here")
    };
    assert_eq!(run(&trace, &[3, 1, 2, 4, 5, 6, 7, 8, 9]), Err(why(7)), "event 3 deviates and is in both");
    assert_eq!(run(&trace, &[1, 3, 4, 5, 6, 7, 8, 9]), Err(why(8)), "event 4 deviates and is in the second");
    assert_eq!(run(&trace, &[1, 2, 3, 4, 5, 6, 7, 8, 9]), Ok(()));
}

#[test]
fn where_nobody_knows_a_value_depends_on_all_reads_before() {
    let with = |value| {
        told(WRITES, move |of| {
            of.set_value(id(5), value);
            of.steer(id(7), id(9));
        })
    };
    let schedule = [1, 3, 4, 5, 6, 7, 8, 9];
    assert!(run(&with(Reads::EVERYTHING), &schedule).is_err());
    assert_eq!(run(&with(Reads::of(id(3))), &schedule), Ok(()));
}

#[test]
fn an_update_need_not_write_what_it_read() {
    let text = "a|w(x,1)\nb|rmw(x,1,5)\nc|r(x,5)\nc|w(y,1)";
    let with = |value| {
        told(text, move |of| {
            of.set_value(id(2), value);
            of.steer(id(3), id(4));
        })
    };
    assert_eq!(run(&with(Reads::NOTHING), &[2, 3, 4]), Ok(()));
    assert!(run(&with(Reads::of(id(2))), &[2, 3, 4]).is_err());
    assert!(run(&with(Reads::EVERYTHING), &[2, 3, 4]).is_err());
}

#[test]
fn the_write_from_outside_needs_every_read_as_observed() {
    let trace = told("a|w(x,1)\nc|r(x,1)\nb|r(z,0)\nb|w(z,1)\nb|r(z,5)", |_| {});
    assert_eq!(
        run(&trace, &[2, 1, 3, 4, 5]),
        blocked("5: no recorded write explains it, and a thread has read something else than observed")
    );
}

#[test]
fn what_the_trace_does_not_tell_is_assumed_as_ever() {
    let why = "5: its thread has read something else than observed";
    assert_eq!(run(&trace(STRAYED), &[2, 3, 4, 5]), blocked(why));
    let without_branches = trace(&STRAYED.replace("branch", "w(z,1)"));
    assert_eq!(run(&without_branches, &[2, 3]), blocked(&why.replace('5', "3")));
}

/// Sums of sums are as deep as a trace is long.
#[test]
fn values_may_have_come_a_long_way() {
    let count = 200_000;
    let reads: String = (0..count).map(|_| "b|r(x,1)\n").collect();
    let text = format!("a|w(x,1)\n{reads}b|w(y,1)\nc|r(y,1)\nc|w(z,1)");
    let trace = told(&text, |of| {
        let mut sum = Reads::NOTHING;
        for read in 2..2 + count {
            sum = of.unite(sum, Reads::of(id(read)));
        }
        of.set_value(id(count + 2), sum);
        of.steer(id(count + 3), id(count + 4));
    });
    let first_deviates: Vec<u32> = [2, 1].into_iter().chain(3..=count + 4).collect();
    let why = format!(
        "{}: event {} has read something else than observed, and that decides what happens here",
        count + 4,
        count + 3
    );
    assert_eq!(run_quietly(&trace, &first_deviates), Err(why));
    let as_observed: Vec<u32> = (1..=count + 4).collect();
    assert_eq!(run_quietly(&trace, &as_observed), Ok(()));
}

/// As [`run`], but each step only once.
fn run_quietly(trace: &Trace, schedule: &[u32]) -> Result<(), String> {
    let mut machine = Machine::new(Arc::new(Observed::new(trace)), Model::Necessary);
    for id in ids(schedule) {
        let step = machine.step(trace.event(id).thread);
        step.map_err(|blocked| format!("{id}: {}", blocked.text(trace.names())))?;
    }
    Ok(())
}
