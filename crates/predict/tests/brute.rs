//! Oracle and exact techniques before a brute force that knows nothing but the description of the trace format, on
//! traces of every operation, half of them with several waiters and notifications, barriers that are crossed again and
//! again, and semaphores with several posts.

mod deciding;

use std::collections::BTreeSet;

use foretell_predict::Technique;
use foretell_testkit::brute::{self, Rules};
use foretell_testkit::tiny::{self, Features, Shape};
use foretell_witness::{Model, oracle};

const STATES: usize = 200_000;

const EXACT: [(Technique, Model, Rules); 3] = [
    (Technique::Rf, Model::SameWrite, Rules::SameWrite),
    (Technique::Mcm, Model::SameValue, Rules::SameValue),
    (Technique::Rv, Model::ControlFlow, Rules::ControlFlow),
];

fn shape(seed: u64) -> Shape {
    let features = Features {
        values: !seed.is_multiple_of(5),
        branches: !seed.is_multiple_of(7),
        unexplained: seed.is_multiple_of(11),
        crowds: seed.is_multiple_of(2),
        ..if seed.is_multiple_of(3) {
            Features { semaphores: true, waiting: true, ..Features::MUTEXES }
        } else {
            Features::ALL
        }
    };
    Shape {
        threads: 3 + usize::try_from(seed % 3).expect("small"),
        decisive: seed.is_multiple_of(4),
        locks: 2,
        vars: 2,
        ..Shape::new(features, 12 + usize::try_from(seed % 5).expect("small"))
    }
}

#[test]
fn all_answers_are_those_of_the_description() {
    let (mut compared, mut found) = (0, 0);
    for seed in 0..3000 {
        let text = tiny::trace(seed, shape(seed));
        let trace = foretell_testkit::trace(&text);
        for (technique, model, rules) in EXACT {
            let Some(expected) = brute::races(&text, rules, STATES) else { continue };
            let numbers = |races: deciding::Races| -> BTreeSet<_> {
                races.into_iter().map(|(a, b)| (a.number(), b.number())).collect()
            };
            let oracle =
                oracle::races(&trace, model, STATES).expect("there are not more states than by brute force");
            assert_eq!(numbers(oracle), expected, "{model:?}, seed {seed}\n{text}");
            assert_eq!(
                numbers(deciding::races(technique, &trace)),
                expected,
                "{technique:?}, seed {seed}\n{text}"
            );
            compared += 1;
            found += expected.len();
        }
    }
    assert!(compared > 8000 && found > 10_000, "{compared} {found}");
}
