//! What the referee says to right and wrong claims.

use foretell_trace::Trace;
use foretell_witness::{Claim, Finding, Model, Proof, Referee, Rejection};

use crate::{id, ids, trace};

fn check(trace: &Trace, pair: (u32, u32), schedule: &[u32]) -> Result<Finding, Rejection> {
    let proof = Proof::Adjacent { model: Model::SameWrite, schedule: ids(schedule) };
    Referee::new(trace).check(Claim { first: id(pair.0), second: id(pair.1), proof })
}

fn rejected(trace: &Trace, pair: (u32, u32), schedule: &[u32]) -> String {
    check(trace, pair, schedule).unwrap_err().to_string()
}

const SECTIONS: &str = "t1|w(y)\nt1|acq(l)\nt1|rel(l)\nt2|acq(l)\nt2|rel(l)\nt2|w(y)\nt2|r(z)";

#[test]
fn a_right_claim_becomes_a_finding() {
    let trace = trace(SECTIONS);
    let finding = check(&trace, (1, 6), &[4, 5, 1, 6]).unwrap();
    assert_eq!((finding.first(), finding.second()), (id(1), id(6)));
    assert!(matches!(finding.proof(), Proof::Adjacent { schedule, .. } if schedule.len() == 4));
}

#[test]
fn a_wrong_step_is_named() {
    let trace = trace(SECTIONS);
    assert_eq!(
        rejected(&trace, (1, 6), &[1, 2, 4, 5, 1, 6]),
        "step 3 (event 4, t2: acq(l)) cannot run: t1 holds l"
    );
    assert_eq!(
        rejected(&trace, (1, 6), &[4, 1, 6]),
        "step 3 (event 6, t2: w(y)) is not the next of its thread: that is event 5"
    );
    assert_eq!(
        rejected(&trace, (1, 6), &[4, 4, 1, 6]),
        "step 2 (event 4, t2: acq(l)) is not the next of its thread: that is event 5"
    );
    assert_eq!(
        rejected(&trace, (1, 6), &[1, 2, 3, 2, 1, 6]),
        "step 4 (event 2, t1: acq(l)): its thread is at its end"
    );
    assert_eq!(rejected(&trace, (1, 6), &[99, 1, 6]), "step 1: event 99 does not exist");
    assert_eq!(check(&trace, (1, 6), &[4, 1, 6]).unwrap_err().step(), Some(3));
}

#[test]
fn a_wrong_pair_is_rejected_before_any_step() {
    let trace = trace(SECTIONS);
    assert_eq!(rejected(&trace, (6, 1), &[4, 5, 6, 1]), "event 1 must come after the first of the two");
    assert_eq!(rejected(&trace, (1, 2), &[1, 2]), "event 2 is of the same thread as the first of the two");
    assert_eq!(rejected(&trace, (1, 7), &[1, 7]), "event 7 does not conflict with the first of the two");
    assert_eq!(rejected(&trace, (1, 8), &[1, 8]), "event 8 does not exist");
    let ending = "the schedule does not end with the two events and 6 last";
    for schedule in [&[] as &[u32], &[6], &[4, 5, 6, 1], &[1, 6, 4]] {
        assert_eq!(rejected(&trace, (1, 6), schedule), ending);
    }
}

#[test]
fn two_atomics_do_not_race_and_freed_memory_does() {
    let trace = trace("a|alloc(x)\na|rmw(x,0,1)\nb|rmw(x,1,2)\na|free(x)");
    assert_eq!(rejected(&trace, (2, 3), &[1, 2, 3]), "event 3 does not conflict with the first of the two");
    assert!(check(&trace, (3, 4), &[1, 2, 3, 4]).is_ok());
    assert_eq!(
        rejected(&trace, (3, 4), &[3, 4]),
        "step 1 (event 3, b: rmw(x,1,2)) cannot run: x is not allocated yet"
    );
}

#[test]
fn an_event_that_no_write_explains_races_with_nothing() {
    let trace = trace("a|w(x,1)\nc|w(y)\nb|r(x,5)\na|w(x,2)");
    for schedule in [&[1, 3][..], &[2, 1, 3]] {
        let why = rejected(&trace, (1, 3), schedule);
        assert!(why.contains("event 3, b: r(x,5)"), "{why}");
    }
    assert_eq!(
        rejected(&trace, (3, 4), &[1, 2, 3, 4]),
        "step 4 (event 4, a: w(x,2)) cannot run: event 3, which no recorded write explains, has not run"
    );
}

#[test]
fn one_referee_judges_many_claims() {
    let trace = trace(SECTIONS);
    let mut referee = Referee::new(&trace);
    let right: &[u32] = &[4, 5, 1, 6];
    for schedule in [right, &[4, 1, 6], right, &[1, 2, 4, 1, 6], right] {
        let proof = Proof::Adjacent { model: Model::SameWrite, schedule: ids(schedule) };
        let verdict = referee.check(Claim { first: id(1), second: id(6), proof });
        assert_eq!(verdict.is_ok(), schedule == right);
    }
    assert!(referee.check(Claim { first: id(1), second: id(6), proof: Proof::Unordered }).is_err());
}
