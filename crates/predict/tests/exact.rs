//! The exact techniques before the exhaustive oracle: on thousands of random tiny traces they find its races, all of
//! them and no others, and the referee accepts every schedule.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use foretell_detect::Pair;
use foretell_predict::{Budget, Pinning, Predictor, Technique, Verdict};
use foretell_testkit::tiny::{self, Features, Shape};
use foretell_trace::{EventId, Trace};
use foretell_witness::{Claim, Model, Proof, Referee, oracle};

const STATES: usize = 1_000_000;

fn conflicts(trace: &Trace) -> Vec<Pair> {
    let accesses: Vec<_> =
        trace.iter().filter_map(|(id, event)| Some((id, event.thread, event.op.access()?))).collect();
    let mut pairs = Vec::new();
    for (index, &(first, thread, access)) in accesses.iter().enumerate() {
        for &(second, other, later) in &accesses[index + 1..] {
            if thread != other && access.conflicts_with(later) {
                pairs.push(Pair { first, second });
            }
        }
    }
    pairs
}

fn model(pinning: Pinning) -> Model {
    match pinning {
        Pinning::SameWrite => Model::SameWrite,
        Pinning::SameValue => Model::SameValue,
        Pinning::ControlFlow => Model::ControlFlow,
    }
}

/// The pairs that the technique proves, each of which the referee accepts.
fn races(technique: Technique, trace: &Trace) -> BTreeSet<(EventId, EventId)> {
    let predictor = Predictor::new(trace, technique, None).expect("the technique decides pairs");
    let stop = AtomicBool::new(false);
    let budget = Budget { per_pair: Duration::from_secs(60), stop: &stop };
    let mut referee = Referee::new(trace);
    let mut found = BTreeSet::new();
    for pair in conflicts(trace) {
        match predictor.decide(pair, &budget) {
            Verdict::Race(witness) => {
                let proof = Proof::Adjacent { model: model(witness.pinning), schedule: witness.schedule.clone() };
                let claim = Claim { first: pair.first, second: pair.second, proof };
                if let Err(rejection) = referee.check(claim) {
                    panic!("{technique:?} {pair:?} {:?}: {rejection}", witness.schedule);
                }
                found.insert((pair.first, pair.second));
            }
            Verdict::NoRace(_) => {}
            other => panic!("{pair:?}: {other:?}"),
        }
    }
    found
}

const EXACT: [(Technique, Model); 3] =
    [(Technique::Rf, Model::SameWrite), (Technique::Mcm, Model::SameValue), (Technique::Rv, Model::ControlFlow)];

fn exact_on(count: u64, features: Features, events: usize) {
    tiny::for_each(count, |_| Shape::new(features, events), |_, trace| {
        for (technique, model) in EXACT {
            let all = oracle::races(trace, model, STATES).expect("the trace is tiny");
            assert_eq!(races(technique, trace), all, "{technique:?}");
        }
    });
}

#[test]
fn mutexes() {
    exact_on(6000, Features { values: true, branches: true, ..Features::MUTEXES }, 14);
}

#[test]
fn forks_and_joins() {
    exact_on(6000, Features { values: true, branches: true, ..Features::BASIC }, 14);
}

#[test]
fn every_synchronisation() {
    exact_on(5000, Features { values: true, branches: true, ..Features::SEQUENTIAL }, 14);
}

#[test]
fn atomics_and_unexplained_reads() {
    exact_on(5000, Features { values: true, branches: true, unexplained: true, ..Features::ALL }, 13);
}

#[test]
fn without_values() {
    exact_on(3000, Features { branches: true, ..Features::ALL }, 13);
    exact_on(3000, Features::ALL, 13);
}
