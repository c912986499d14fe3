//! The exact techniques before the exhaustive oracle: on thousands of random tiny traces they find its races, all of
//! them and no others, and the referee accepts every schedule.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use foretell_detect::Pair;
use foretell_predict::{Budget, Limit, Pinning, Predictor, Technique, Verdict};
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

type Races = BTreeSet<(EventId, EventId)>;

/// The pairs that the technique proves, each of which the referee accepts.
fn races(technique: Technique, trace: &Trace) -> Races {
    answers(technique, trace, None).0
}

/// The pairs that the technique proves, and those that it refutes.
fn answers(technique: Technique, trace: &Trace, window: Option<usize>) -> (Races, Races) {
    let predictor = Predictor::new(trace, technique, window).expect("the technique decides pairs");
    let stop = AtomicBool::new(false);
    let budget = Budget { per_pair: Duration::from_secs(60), stop: &stop };
    let mut referee = Referee::new(trace);
    let (mut found, mut refuted) = (Races::new(), Races::new());
    for pair in conflicts(trace) {
        match predictor.decide(pair, &budget) {
            Verdict::Race(witness) => {
                let proof =
                    Proof::Adjacent { model: model(witness.pinning), schedule: witness.schedule.clone() };
                let claim = Claim { first: pair.first, second: pair.second, proof };
                if let Err(rejection) = referee.check(claim) {
                    panic!("{technique:?} {pair:?} {:?}: {rejection}", witness.schedule);
                }
                found.insert((pair.first, pair.second));
            }
            Verdict::NoRace(_) => {
                refuted.insert((pair.first, pair.second));
            }
            Verdict::NotInWindow if window.is_some() => {}
            Verdict::Undecided(Limit::Technique) if is_published(technique) => {}
            other => panic!("{pair:?}: {other:?}"),
        }
    }
    (found, refuted)
}

/// Techniques as published may know neither a yes nor a no.
fn is_published(technique: Technique) -> bool {
    matches!(technique, Technique::M2 | Technique::SeqCheck)
}

const EXACT: [(Technique, Model); 3] = [
    (Technique::Rf, Model::SameWrite),
    (Technique::Mcm, Model::SameValue),
    (Technique::Rv, Model::ControlFlow),
];

fn exact_on(count: u64, features: Features, events: usize) {
    tiny::for_each(
        count,
        |_| Shape::new(features, events),
        |_, trace| {
            for (technique, model) in EXACT {
                let all = oracle::races(trace, model, STATES).expect("the trace is tiny");
                assert_eq!(races(technique, trace), all, "{technique:?}");
                assert_nothing_ordered(technique, trace, &all);
            }
        },
    );
}

/// What is said to be ordered at a glance does not race.
fn assert_nothing_ordered(technique: Technique, trace: &Trace, races: &Races) {
    let predictor = Predictor::new(trace, technique, None).expect("the technique decides pairs");
    for &(first, second) in races {
        let (one, other) = (trace.event(first).thread, trace.event(second).thread);
        assert!(predictor.last_before(second, one) < Some(first), "{technique:?} {first} {second}");
        assert!(predictor.last_before(first, other) < Some(second), "{technique:?} {first} {second}");
    }
}

const EVERYTHING: Features = Features { values: true, branches: true, unexplained: true, ..Features::ALL };

/// Each technique finds what the weaker ones of its grid find.
#[test]
fn techniques_nest() {
    let nested = [
        (Technique::M2, Technique::Rf),
        (Technique::M2, Technique::SeqCheck),
        (Technique::SeqCheck, Technique::Rv),
        (Technique::Rf, Technique::Mcm),
        (Technique::Said, Technique::Mcm),
        (Technique::Mcm, Technique::Rv),
    ];
    let (mut missed, mut found) = (0, 0);
    tiny::for_each(
        4000,
        |_| Shape::new(EVERYTHING, 14),
        |_, trace| {
            for (weaker, stronger) in nested {
                let (weak, strong) = (races(weaker, trace), races(stronger, trace));
                assert!(weak.is_subset(&strong), "{weaker:?} {weak:?} {stronger:?} {strong:?}");
                missed += strong.len() - weak.len();
                found += weak.len();
            }
        },
    );
    assert!(missed > 100 && found > 1000, "{missed} {found}");
}

/// Through windows one sees less, never anything else.
#[test]
fn windows_show_subsets() {
    let (mut seen, mut all, mut impossible) = (0, 0, 0);
    tiny::for_each(
        2000,
        |_| Shape::new(EVERYTHING, 14),
        |seed, trace| {
            for (technique, model) in EXACT {
                let races = oracle::races(trace, model, STATES).expect("the trace is tiny");
                let size = 2 + usize::try_from(seed % 10).expect("small");
                let (windowed, refuted) = answers(technique, trace, Some(size));
                assert!(windowed.is_subset(&races), "{technique:?} {size}");
                assert!(refuted.is_disjoint(&races), "{technique:?} {size}");
                seen += windowed.len();
                all += races.len();
                impossible += refuted.len();
            }
        },
    );
    assert!(seen > 100 && all > seen && impossible > 100, "{seen} of {all}, {impossible} impossible");
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
