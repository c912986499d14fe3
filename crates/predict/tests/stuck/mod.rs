//! Deadlocks before the exhaustive oracle and before a brute force that knows nothing but the description of the trace
//! format: all of them and no others, and the referee accepts every schedule and no schedule that was changed.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use foretell_detect::Pairs;
use foretell_predict::{Budget, Circle, Goal, Limit, Predictor, Technique, Verdict, Waits, Witness};
use foretell_testkit::brute::{self, Rules};
use foretell_testkit::corpus::examples;
use foretell_testkit::depending;
use foretell_testkit::tiny::{self, Features, Shape};
use foretell_trace::{EventId, Trace};
use foretell_witness::{Model, Referee, StuckClaim, oracle};
use foretell_z3::Pool;

/// What waits, sorted, and the end of a thread that holds a lock.
pub(crate) type Stuck = (Vec<EventId>, Option<EventId>);

const STATES: usize = 200_000;

const EXACT: [(Technique, Model, Rules); 3] = [
    (Technique::Rf, Model::SameWrite, Rules::SameWrite),
    (Technique::Mcm, Model::SameValue, Rules::SameValue),
    (Technique::Rv, Model::ControlFlow, Rules::ControlFlow),
];

/// Locks above all, and what may stand between two of them.
pub(crate) fn shape(seed: u64) -> Shape {
    let locks = Features { forks: seed % 4 != 1, shared_locks: seed.is_multiple_of(5), ..Features::MUTEXES };
    let features = match seed % 4 {
        0 => Features { branches: true, values: seed.is_multiple_of(8), ..locks },
        1 => Features { upgrades: true, failed_attempts: true, shared_locks: true, ..locks },
        2 => Features { values: true, branches: true, unexplained: seed.is_multiple_of(5), ..Features::ALL },
        _ => Features { waiting: true, semaphores: true, crowds: seed.is_multiple_of(8), ..locks },
    };
    Shape {
        threads: 2 + usize::try_from(seed % 3).expect("small"),
        decisive: seed.is_multiple_of(5),
        locking: !seed.is_multiple_of(7),
        locks: 4,
        vars: 2,
        ..Shape::new(features, 14 + usize::try_from(seed % 11).expect("small"))
    }
}

pub(crate) fn candidates(trace: &Trace, pairs: Pairs) -> Vec<Circle> {
    let mut waits = Waits::default();
    waits.batch(EventId::FIRST, trace.events());
    let deadlocks = waits.deadlocks(pairs, || false);
    assert!(!deadlocks.are_more);
    deadlocks.circles.into_iter().flat_map(|circles| circles.circles).collect()
}

pub(crate) fn claim(circle: &Circle, witness: &Witness) -> StuckClaim {
    StuckClaim {
        waits: circle.waits.clone(),
        ended: circle.ended,
        model: witness.model,
        schedule: witness.schedule.clone(),
    }
}

/// The deadlocks that the technique proves, each of which the referee accepts, with the schedules; and those that it
/// refutes.
fn answers(
    technique: Technique,
    trace: &Trace,
    window: Option<usize>,
) -> (Vec<(Circle, Witness)>, Vec<Circle>) {
    let predictor =
        Predictor::new(trace, technique, window, Arc::new(Pool::default())).expect("the technique is exact");
    let stop = AtomicBool::new(false);
    let budget = Budget { per_pair: Duration::from_secs(60), stop: &stop };
    let mut referee = Referee::new(trace);
    let (mut found, mut refuted) = (Vec::new(), Vec::new());
    for circle in candidates(trace, Pairs::All) {
        match predictor.decide_goal(&Goal::from(&circle), &budget) {
            Verdict::Reached(witness) => {
                if let Err(rejection) = referee.check_stuck(claim(&circle, &witness)) {
                    panic!("{technique:?} {circle:?} {:?}: {rejection}", witness.schedule);
                }
                found.push((circle, witness));
            }
            Verdict::Unreachable(_) => refuted.push(circle),
            Verdict::Undecided(Limit::Meeting) => {}
            Verdict::NotInWindow if window.is_some() => {}
            other => panic!("{circle:?}: {other:?}"),
        }
    }
    (found, refuted)
}

pub(crate) fn stuck(circle: &Circle) -> Stuck {
    let mut waits = circle.waits.clone();
    waits.sort_unstable();
    (waits, circle.ended)
}

#[test]
fn deadlocks_are_those_of_oracle_and_description() {
    let (mut compared, mut yes, mut no, mut described) = (0, 0, 0, 0);
    let mut sizes = [0; 5];
    for seed in 0..20_000 {
        let text = tiny::trace(seed, shape(seed));
        let trace = foretell_testkit::trace(&text);
        let candidates = candidates(&trace, Pairs::All).len();
        for (technique, model, rules) in EXACT {
            // What is not even a candidate must not be one for the oracle either: asked of each trace once.
            if candidates == 0 && seed % 3 != technique as u64 % 3 {
                continue;
            }
            let Some(all) = oracle::deadlocks(&trace, model, STATES) else { continue };
            let (proven, _) = answers(technique, &trace, None);
            let found: BTreeSet<Stuck> = proven.iter().map(|(circle, _)| stuck(circle)).collect();
            let expected: BTreeSet<Stuck> = all.into_keys().collect();
            assert_eq!(found, expected, "{technique:?}, seed {seed}\n{text}");
            for (circle, witness) in &proven {
                assert_changes_are_rejected(&trace, circle, witness, &expected);
            }
            if candidates > 0 {
                let (inside, never) = answers(technique, &trace, Some(trace.events().len() / 2 + 2));
                assert!(
                    inside.iter().all(|(circle, _)| expected.contains(&stuck(circle))),
                    "seed {seed}\n{text}"
                );
                assert!(never.iter().all(|circle| !expected.contains(&stuck(circle))), "seed {seed}\n{text}");
            }
            compared += 1;
            (yes, no) = (yes + found.len(), no + candidates - found.len());
            found.iter().for_each(|(waits, ended)| sizes[if ended.is_some() { 0 } else { waits.len() }] += 1);
            if seed.is_multiple_of(4)
                && let Some(by_force) = brute::deadlocks(&text, rules, STATES)
            {
                let numbers = |stuck: &Stuck| -> brute::Stuck {
                    let numbers = stuck.0.iter().map(|event| event.number()).collect();
                    (numbers, stuck.1.map(EventId::number))
                };
                assert_eq!(
                    found.iter().map(numbers).collect::<BTreeSet<_>>(),
                    by_force,
                    "seed {seed}\n{text}"
                );
                described += by_force.len();
            }
        }
    }
    assert!(
        compared > 10_000 && yes > 1000 && no > 1000 && described > 200,
        "{compared} {yes} {no} {described}"
    );
    assert!([0, 2, 3].iter().all(|&size| sizes[size] > 10), "{sizes:?}");
}

/// The same where the trace tells which reads matter.
#[test]
fn deadlocks_that_depend_on_few_reads_are_those_of_the_oracle() {
    let (mut yes, mut more) = (0, 0);
    for seed in 0..6000 {
        let shape = Shape { decisive: false, ..shape(seed) };
        let features = Features { values: true, branches: seed.is_multiple_of(8), ..shape.features };
        let text = tiny::trace(seed, Shape { features, ..shape });
        let trace = depending::at_random(seed, foretell_testkit::trace(&text));
        if candidates(&trace, Pairs::All).is_empty() {
            continue;
        }
        let Some(all) = oracle::deadlocks(&trace, Model::Necessary, STATES) else { continue };
        let expected: BTreeSet<Stuck> = all.into_keys().collect();
        let (proven, _) = answers(Technique::RvNre, &trace, None);
        let found: BTreeSet<Stuck> = proven.iter().map(|(circle, _)| stuck(circle)).collect();
        assert_eq!(found, expected, "seed {seed}\n{text}{:?}", trace.dependence());
        yes += found.len();
        more += usize::from(found.len() > answers(Technique::Mcm, &trace, None).0.len());
    }
    assert!(yes > 100 && more > 0, "{yes} {more}");
}

#[test]
fn examples_have_the_deadlocks_that_they_say() {
    let mut stuck_examples = 0;
    for example in examples() {
        let trace = foretell_testkit::trace(&example.text);
        let (proven, _) = answers(Technique::Rf, &trace, None);
        let events = |circle: &Circle| {
            let (waits, ended) = stuck(circle);
            waits.iter().chain(&ended).map(|event| event.number()).collect()
        };
        let found: BTreeSet<Vec<u32>> = proven.iter().map(|(circle, _)| events(circle)).collect();
        assert_eq!(found, example.deadlocks, "{}", example.name);
        stuck_examples += usize::from(!found.is_empty());
    }
    assert!(stuck_examples >= 8, "{stuck_examples}: is the corpus complete?");
}

/// A schedule that lacks a step of a thread that waits, a circle with a gap, and an end that has not come.
fn assert_changes_are_rejected(trace: &Trace, circle: &Circle, witness: &Witness, all: &BTreeSet<Stuck>) {
    let mut referee = Referee::new(trace);
    let right = claim(circle, witness);
    let prefix = witness.schedule.len() - circle.waits.len();
    for &wait in &circle.waits {
        let thread = trace.event(wait).thread;
        let last = witness.schedule[..prefix].iter().rposition(|&event| trace.event(event).thread == thread);
        if let Some(last) = last {
            let mut wrong = right.clone();
            wrong.schedule.remove(last);
            assert!(referee.check_stuck(wrong).is_err(), "{right:?} without step {last}");
        }
        let mut smaller = circle.clone();
        smaller.waits.retain(|&other| other != wait);
        let mut wrong = right.clone();
        wrong.waits.clone_from(&smaller.waits);
        wrong.schedule.retain(|&event| event != wait);
        if !all.contains(&stuck(&smaller)) {
            assert!(referee.check_stuck(wrong).is_err(), "{right:?} without {wait}");
        }
    }
    let wrong = StuckClaim {
        ended: if right.ended.is_some() { None } else { Some(EventId::FIRST) },
        ..right.clone()
    };
    assert!(referee.check_stuck(wrong).is_err(), "{right:?} with another end");
    assert_eq!(referee.check_stuck(right.clone()).map(|deadlock| deadlock.waits().to_vec()), Ok(right.waits));
}
