//! The techniques that know which reads matter, before the exhaustive oracle: on random tiny traces of which that is
//! made up, too.

mod deciding;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use foretell_detect::Pair;
use foretell_predict::{Budget, Predictor, Technique, Verdict};
use foretell_testkit::depending;
use foretell_testkit::tiny::{self, Features, Shape};
use foretell_trace::{Dependence, EventId, Reads, Trace};
use foretell_witness::{Model, oracle};
use foretell_z3::Pool;

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

/// The example of the ReconP paper: only few reads of the three threads matter to what comes after them.
const EXAMPLE: &str = "\
t1|w(x,0)|1
t1|r(x,0)|2
t1|w(p0,0)|2
t1|w(y,1)|4
t3|w(z,2)|5
t2|r(y,1)|6
t2|w(t,1)|6
t2|r(z,2)|8
t2|branch|8
t2|r(z,2)|11
t2|w(x,2)|11
t2|r(y,1)|13
t2|branch|13
t2|w(y,3)|15
t3|r(y,3)|16
t3|w(z,3)|16
t3|r(x,2)|18
t3|branch|18
t3|r(y,3)|19
t3|w(p0,3)|19
";

fn id(number: u32) -> EventId {
    EventId::from_number(number).expect("a number")
}

/// The example, with what its source tells of reads that steer events, and of reads that are in what is written.
fn example(steered: &[(u32, u32)], values: &[(u32, u32)]) -> Trace {
    let trace = foretell_testkit::trace(EXAMPLE);
    let mut dependence = Dependence::new(trace.events().len());
    for (write, event) in trace.iter() {
        if event.op.access().is_some_and(|access| access.kind.writes()) {
            dependence.set_value(write, Reads::NOTHING);
        }
    }
    for &(read, event) in steered {
        dependence.steer(id(read), id(event));
    }
    for &(read, write) in values {
        dependence.set_value(id(write), Reads::of(id(read)));
    }
    trace.with_dependence(dependence).expect("this is of the trace")
}

/// What the source of the example tells.
const STEERED: [(u32, u32); 4] = [(2, 3), (8, 9), (12, 13), (17, 18)];
const VALUES: [(u32, u32); 4] = [(6, 7), (10, 11), (15, 16), (19, 20)];

#[test]
fn the_race_of_the_paper_is_found_by_those_who_know_what_matters() {
    let trace = example(&STEERED, &VALUES);
    let race = (id(3), id(20));
    for technique in [Technique::M2, Technique::SeqCheck, Technique::Mcm, Technique::Rv] {
        assert!(!races(technique, &trace).contains(&race), "{technique:?}");
    }
    for technique in [Technique::ReconP, Technique::RvNre] {
        assert!(races(technique, &trace).contains(&race), "{technique:?}");
    }
    assert!(all_races(&trace).contains(&race));
}

/// Event 4 decides whether event 6 happens, but every write that it can see wrote 1.
#[test]
fn a_read_that_finds_the_same_value_everywhere_need_not_see_the_same_write() {
    let text =
        "M|r(x,1)|1\nA|w(d,1)|2\nA|w(x,1)|3\nB|r(x,1)|4\nB|branch|5\nB|w(d,2)|6\n#dependence\n#steers 4 5\n";
    let race = (id(2), id(6));
    let finds = |technique: Technique, value: &str| {
        races(technique, &foretell_testkit::trace(&format!("{text}{value}"))).contains(&race)
    };
    for technique in [Technique::ReconP, Technique::RvNre] {
        assert!(finds(technique, "#value 3 -\n"), "{technique:?}");
    }
    assert!(!finds(Technique::SeqCheck, "#value 3 -\n"), "it asks for the same write");
    assert!(!finds(Technique::ReconP, ""), "what event 3 writes may be made of anything");
}

fn refutation(trace: &Trace, technique: Technique) -> Vec<String> {
    let stop = AtomicBool::new(false);
    let budget = Budget { per_pair: Duration::from_secs(60), stop: &stop };
    let predictor = Predictor::new(trace, technique, None, Arc::new(Pool::default()))
        .expect("the technique decides pairs");
    match predictor.explain(Pair { first: id(3), second: id(20) }, &budget) {
        Verdict::Unreachable(refutation) => refutation.steps,
        other => panic!("{other:?}"),
    }
}

/// Event 4 comes after event 3. So event 12 cannot be made to see what it wrote, if event 14 is needed; nor can event
/// 6.
#[test]
fn a_refutation_says_what_a_read_is_good_for() {
    let decides = example(&[&STEERED[..], &[(15, 18)]].concat(), &VALUES);
    let made_of = example(&STEERED, &[&VALUES[..], &[(6, 11)]].concat());
    let expected = [
        (
            &decides,
            Technique::RvNre,
            "event 12 (t2 reads y = 1 at 13) cannot see what it saw: no write that could run before it is left; \
             what it sees decides whether event 13 (t2 branches at 13) happens",
        ),
        (
            &made_of,
            Technique::RvNre,
            "event 6 (t2 reads y = 1 at 6) cannot see what it saw: no write that could run before it is left; \
             it goes into what event 11 (t2 writes x = 2 at 11) writes",
        ),
        (
            &made_of,
            Technique::ReconP,
            "event 4 (t1 writes y = 1 at 4) would have to run before event 6 (t2 reads y = 1 at 6), because the \
             second must see what the first writes; it goes into what event 11 (t2 writes x = 2 at 11) writes; \
             but it can only come after the race",
        ),
    ];
    for (trace, technique, step) in expected {
        assert_eq!(refutation(trace, technique), [step]);
    }
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
