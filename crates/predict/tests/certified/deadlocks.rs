//! Every candidate for a deadlock is one, or has a certificate that it is none.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use foretell_detect::Pairs;
use foretell_predict::{Budget, Certified, Certifier, Limit};
use foretell_testkit::tiny;
use foretell_trace::Trace;
use foretell_witness::proof::{self, RefutedGoal, TraceFacts};
use foretell_witness::{Model, Referee, oracle};

use super::CERTIFIED;
use crate::stuck::{Stuck, candidates, claim, shape, stuck};

const STATES: usize = 200_000;

/// How many candidates are refuted; each certificate is accepted, and all other candidates are deadlocks.
fn refuted(trace: &Trace, stop: &AtomicBool) -> usize {
    let budget = Budget { per_pair: Duration::from_secs(60), stop };
    let (facts, mut referee) = (TraceFacts::new(trace), Referee::new(trace));
    let mut refuted = 0;
    for (technique, model) in CERTIFIED {
        let certifier = Certifier::new(trace, technique).expect("an exact technique");
        let deadlocks: BTreeSet<Stuck> = match oracle::deadlocks(trace, model, STATES) {
            Some(deadlocks) => deadlocks.into_keys().collect(),
            None => continue,
        };
        for circle in candidates(trace, Pairs::All) {
            match certifier.certify(&circle, &budget) {
                Certified::Reached(witness) => {
                    referee.check_stuck(claim(&circle, &witness)).expect("the referee accepts it");
                    assert!(deadlocks.contains(&stuck(&circle)), "{technique:?}: {circle:?} is no deadlock");
                }
                Certified::Refuted(certificate) => {
                    let text = certificate.text();
                    let proven =
                        proof::check(&facts, &text).unwrap_or_else(|refusal| panic!("{refusal} in\n{text}"));
                    let goal = RefutedGoal::Deadlock { waits: circle.waits.clone(), ended: circle.ended };
                    assert_eq!(proven.goal(), &goal);
                    assert!(!deadlocks.contains(&stuck(&circle)), "{technique:?}: {circle:?} is a deadlock");
                    refuted += 1;
                }
                // Who meets whom at a barrier is not known.
                Certified::Undecided(Limit::Meeting) => {}
                undecided @ Certified::Undecided(_) => panic!("{technique:?} {circle:?}: {undecided:?}"),
            }
        }
    }
    refuted
}

#[test]
fn candidates_that_are_no_deadlocks_have_certificates() {
    let (stop, mut certificates) = (AtomicBool::new(false), 0);
    tiny::for_each(1500, shape, |_, trace| certificates += refuted(trace, &stop));
    assert!(certificates > 150, "{certificates}");
}

/// A certificate about two waits says nothing of a race, and the other way round.
#[test]
fn what_is_refuted_is_what_was_asked() {
    let text = "M|acq(g)|1\nM|acq(l)|2\nM|acq(m)|3\nM|rel(m)|4\nM|rel(l)|5\nM|rel(g)|6\nT|acq(g)|7\nT|acq(m)|8\n\
                T|acq(l)|9\nT|rel(l)|10\nT|rel(m)|11\nT|rel(g)|12\n";
    let trace = foretell_testkit::trace(text);
    let stop = AtomicBool::new(false);
    let budget = Budget { per_pair: Duration::from_secs(60), stop: &stop };
    let facts = TraceFacts::new(&trace);
    let [circle] = &candidates(&trace, Pairs::All)[..] else { return };
    let certifier = Certifier::new(&trace, CERTIFIED[0].0).expect("an exact technique");
    let Certified::Refuted(certificate) = certifier.certify(circle, &budget) else { panic!("it is refuted") };
    let text = certificate.text();
    let proven = proof::check(&facts, &text).expect("a proof");
    assert_eq!((proven.model(), proven.pair()), (Model::SameWrite, None));
    for (old, new) in
        [("deadlock 3 9", "pair 3 9"), ("deadlock 3 9", "deadlock 3 3"), ("deadlock 3 9", "deadlock 3")]
    {
        let changed = text.replace(old, new);
        assert_ne!(changed, text);
        assert!(proof::check(&facts, &changed).is_err(), "{changed}");
    }
}
