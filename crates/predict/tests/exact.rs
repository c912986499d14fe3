//! The exact techniques before the exhaustive oracle: on thousands of random tiny traces they find its races, all of
//! them and no others, and the referee accepts every schedule.

mod certified;
mod deciding;
mod freed;
mod sharded;
mod stuck;

use std::sync::Arc;

use foretell_predict::{Portfolio, Predictor, Technique};
use foretell_testkit::spinning;
use foretell_testkit::tiny::{self, Features, Shape};
use foretell_trace::Trace;
use foretell_witness::{Model, oracle};
use foretell_z3::Pool;

use deciding::{Races, answers, answers_by, races};

const STATES: usize = 1_000_000;

const EXACT: [(Technique, Model); 3] = [
    (Technique::Rf, Model::SameWrite),
    (Technique::Mcm, Model::SameValue),
    (Technique::Rv, Model::ControlFlow),
];

/// Two to six threads, with few branches or many.
fn shape(seed: u64, features: Features, events: usize) -> Shape {
    Shape {
        threads: if seed.is_multiple_of(3) { 6 } else { 4 },
        decisive: seed.is_multiple_of(2),
        ..Shape::new(features, events)
    }
}

fn exact_on(count: u64, features: Features, events: usize) {
    tiny::for_each(
        count,
        |seed| shape(seed, features, events),
        |_, trace| {
            for (technique, model) in EXACT {
                let all = oracle::races(trace, model, STATES).expect("the trace is tiny");
                for portfolio in Portfolio::EACH {
                    let (found, _) = answers_by(technique, trace, None, portfolio);
                    assert_eq!(found, all, "{technique:?} {portfolio:?}");
                }
                assert_nothing_ordered(technique, trace, &all);
            }
        },
    );
}

/// What is said to be ordered at a glance does not race.
fn assert_nothing_ordered(technique: Technique, trace: &Trace, races: &Races) {
    let predictor = Predictor::new(trace, technique, None, Arc::new(Pool::default()))
        .expect("the technique decides pairs");
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
        |seed| shape(seed, EVERYTHING, 14),
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

/// The lock under which a thread races was taken before the window; another thread may have had it before that.
#[test]
fn a_lock_that_was_taken_before_the_window_hides_no_race() {
    let before = "t0|acq(l)|1\n";
    let race = "t0|r(x,0)|2\nt0|rel(l)|3\nt1|acq(l)|4\nt1|rel(l)|5\nt1|w(x,1)|6\n";
    // More than the first window that is tried has on either side.
    let between = "t2|w(y,1)|7\n".repeat(150);
    for (text, window) in [(format!("{before}{race}"), Some(5)), (format!("{before}{between}{race}"), None)] {
        let trace = foretell_testkit::trace(&text);
        for (technique, _) in EXACT {
            let (proven, refuted) = answers(technique, &trace, window);
            assert_eq!(
                (proven.len(), refuted.len()),
                (usize::from(window.is_none()), 0),
                "{technique:?} {window:?}"
            );
        }
    }
}

/// Through windows one sees less, never anything else.
#[test]
fn windows_show_subsets() {
    windows_show_subsets_with(EVERYTHING);
    windows_show_subsets_with(Features { values: true, branches: true, ..Features::MUTEXES });
}

fn windows_show_subsets_with(features: Features) {
    let (mut seen, mut all, mut impossible) = (0, 0, 0);
    tiny::for_each(
        2000,
        |seed| shape(seed, features, 14),
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
fn several_waiters_notifications_and_generations() {
    let crowds = Features { crowds: true, semaphores: true, waiting: true, ..Features::MUTEXES };
    exact_on(4000, Features { values: true, branches: true, ..crowds }, 16);
    exact_on(
        1500,
        Features { crowds: true, values: true, branches: true, unexplained: true, ..Features::ALL },
        14,
    );
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

/// Locks, tickets, sequences and counters made of atomic variables, right and wrong.
#[test]
fn synchronisation_by_atomics() {
    let mut found = [0; EXACT.len()];
    for seed in 0..6000 {
        let threads = 2 + usize::try_from(seed % 3).expect("small");
        let text = spinning::trace(seed, threads, 16);
        let trace = foretell_testkit::trace(&text);
        for (found, (technique, model)) in found.iter_mut().zip(EXACT) {
            let all = oracle::races(&trace, model, STATES).expect("the trace is tiny");
            for portfolio in Portfolio::EACH {
                let (decided, _) = answers_by(technique, &trace, None, portfolio);
                assert_eq!(decided, all, "{technique:?} {portfolio:?} {seed}\n{text}");
            }
            *found += all.len();
            if seed % 4 == 0 {
                let size = 4 + usize::try_from(seed % 9).expect("small");
                let (windowed, refuted) = answers(technique, &trace, Some(size));
                assert!(windowed.is_subset(&all), "{technique:?} {seed} {size}\n{text}");
                assert!(refuted.is_disjoint(&all), "{technique:?} {seed} {size}\n{text}");
            }
        }
    }
    assert!(found.iter().all(|&races| races > 1000), "{found:?}");
}
