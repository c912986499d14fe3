//! The techniques that know which reads matter, before the exhaustive oracle: on random tiny traces of which that is made
//! up, too.

mod deciding;

use foretell_predict::{Predictor, Technique};
use foretell_testkit::depending;
use foretell_testkit::tiny::{self, Features, Shape};
use foretell_trace::Trace;
use foretell_witness::{Model, oracle};

use deciding::{Races, answers, races};

const STATES: usize = 1_000_000;

const EVERYTHING: Features = Features { values: true, branches: true, unexplained: true, ..Features::ALL };

fn shape(seed: u64, features: Features) -> Shape {
    // Without branches, reads can steer everything.
    let branches = features.branches && seed.is_multiple_of(4);
    Shape {
        threads: if seed.is_multiple_of(3) { 6 } else { 4 },
        decisive: seed.is_multiple_of(8),
        ..Shape::new(Features { branches, ..features }, 13)
    }
}

fn all_races(trace: &Trace) -> Races {
    oracle::races(trace, Model::Necessary, STATES).expect("the trace is tiny")
}

fn for_random_dependences(count: u64, features: Features, check: impl FnMut(u64, &Trace)) {
    tiny::for_each_completed(count, |seed| shape(seed, features), depending::at_random, check);
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

fn exact_on(count: u64, features: Features) {
    let (mut more, mut missed) = (0, 0);
    for_random_dependences(count, features, |_, trace| {
        let all = all_races(trace);
        assert_eq!(races(Technique::RvNre, trace), all);
        assert_nothing_ordered(Technique::RvNre, trace, &all);
        let closed = races(Technique::ReconP, trace);
        assert!(closed.is_subset(&all), "{closed:?} {all:?}");
        assert_nothing_ordered(Technique::ReconP, trace, &closed);
        more += all.difference(&races(Technique::Rv, trace)).count();
        missed += all.len() - closed.len();
    });
    assert!(more > 50 && missed > 10, "{more} {missed}");
}

#[test]
fn mutexes() {
    exact_on(6000, Features { values: true, branches: true, ..Features::MUTEXES });
}

#[test]
fn forks_and_joins() {
    exact_on(6000, Features { values: true, branches: true, ..Features::BASIC });
}

#[test]
fn every_synchronisation() {
    exact_on(5000, Features { values: true, branches: true, ..Features::SEQUENTIAL });
}

#[test]
fn atomics_and_unexplained_reads() {
    exact_on(6000, EVERYTHING);
}

#[test]
fn without_values() {
    exact_on(5000, Features { branches: true, ..Features::ALL });
}

/// Through windows one sees less, never anything else.
#[test]
fn windows_show_subsets() {
    let (mut seen, mut all, mut impossible) = (0, 0, 0);
    for_random_dependences(4000, EVERYTHING, |seed, trace| {
        let races = all_races(trace);
        let size = 2 + usize::try_from(seed % 10).expect("small");
        for technique in [Technique::RvNre, Technique::ReconP] {
            let (windowed, refuted) = answers(technique, trace, Some(size));
            assert!(windowed.is_subset(&races), "{technique:?} {size}");
            if technique == Technique::RvNre {
                assert!(refuted.is_disjoint(&races), "{technique:?} {size}");
            }
            seen += windowed.len();
            impossible += refuted.len();
        }
        all += 2 * races.len();
    });
    assert!(seen > 100 && all > seen && impossible > 100, "{seen} of {all}, {impossible} impossible");
}

/// Told only what is assumed anyway, the techniques find what they find without being told.
#[test]
fn the_strictest_dependence_is_the_one_that_is_assumed() {
    let told = |_, trace| depending::strictly(trace);
    tiny::for_each_completed(
        5000,
        |seed| shape(seed, EVERYTHING),
        told,
        |_, trace| {
            assert_eq!(races(Technique::RvNre, trace), races(Technique::Rv, trace));
            assert_eq!(races(Technique::ReconP, trace), races(Technique::SeqCheck, trace));
        },
    );
}

/// Where branches are, being told more than is assumed never loses anything.
#[test]
fn what_is_told_only_adds() {
    let (mut more, mut found) = (0, 0);
    let features = Features { values: true, branches: true, ..Features::BASIC };
    let branches = |seed| Shape { decisive: seed % 2 == 0, ..Shape::new(features, 14) };
    tiny::for_each_completed(5000, branches, depending::at_random, |_, trace| {
        if trace.has_branches() {
            for (assumed, told) in
                [(Technique::SeqCheck, Technique::ReconP), (Technique::Rv, Technique::RvNre)]
            {
                let (assumed, told) = (races(assumed, trace), races(told, trace));
                assert!(assumed.is_subset(&told), "{assumed:?} {told:?}");
                more += told.len() - assumed.len();
                found += assumed.len();
            }
        }
    });
    assert!(more > 100 && found > 1000, "{more} {found}");
}
