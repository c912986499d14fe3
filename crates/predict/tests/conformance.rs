//! Sound techniques against answers that were found by code which shares nothing with the project.

use std::collections::BTreeSet;

use foretell_detect::{Pairs, Reports};
use foretell_predict::{Guarantee, Technique};
use foretell_trace::{EventId, Trace};

mod deciding;

const TRACES: &str = include_str!("../../witness/tests/conformance/traces.txt");
const ANSWERS: &str = include_str!("../../witness/tests/conformance/answers.jsonl");

/// The models by the names that the answers have for them.
const MODELS: [(Technique, &str); 3] =
    [(Technique::Rf, "rf"), (Technique::Mcm, "value"), (Technique::Rv, "cf")];

type Numbers = BTreeSet<(u64, u64)>;

fn numbers(pairs: impl IntoIterator<Item = (EventId, EventId)>) -> Numbers {
    pairs.into_iter().map(|(first, second)| (first.number().into(), second.number().into())).collect()
}

/// Calls `check` with the name of each trace, the trace, and its races by model.
fn for_each(mut check: impl FnMut(&str, &Trace, &dyn Fn(&str) -> Option<Numbers>)) {
    for (text, answer) in TRACES.split("== ").skip(1).zip(ANSWERS.lines()) {
        let (name, text) = text.split_once('\n').expect("a name");
        let answer: serde_json::Value = serde_json::from_str(answer).expect("JSON");
        assert_eq!(answer["trace"], name);
        // Traces without values have an answer for one model only.
        let races = |model: &str| -> Option<Numbers> {
            let pairs = answer[model].as_array()?.iter();
            Some(pairs.filter_map(|pair| Some((pair[0].as_u64()?, pair[1].as_u64()?))).collect())
        };
        check(name, &foretell_testkit::trace(text), &races);
    }
}

#[test]
fn exact_techniques_equal_the_answers() {
    let mut found = [0; 3];
    for_each(|name, trace, races| {
        for ((technique, model), found) in MODELS.into_iter().zip(&mut found) {
            let Some(expected) = races(model) else { continue };
            let proven = numbers(deciding::races(technique, trace));
            assert_eq!(proven, expected, "{name} {technique:?}");
            *found += proven.len();
        }
    });
    assert_eq!(found, [1723, 1846, 1923]);
}

#[test]
fn sound_techniques_stay_inside_the_answers_and_the_quick_check_covers_them() {
    let mut compared = 0;
    for_each(|name, trace, races| {
        for technique in Technique::ALL {
            let Some(mut detector) = technique.detector() else { continue };
            let mut reports = Reports::new(Pairs::All);
            detector.batch(EventId::FIRST, trace.events(), &mut reports);
            detector.finish(&mut reports);
            let reported = numbers(reports.pairs().iter().map(|pair| (pair.first, pair.second)));
            if technique.guarantee() == Guarantee::EveryReport {
                assert!(races("rf").is_some_and(|races| reported.is_subset(&races)), "{name} {technique:?}");
                compared += reported.len();
            }
            if technique == Technique::Lockset {
                for (_, model) in MODELS {
                    assert!(races(model).is_none_or(|races| races.is_subset(&reported)), "{name} {model}");
                }
            }
        }
    });
    assert!(compared > 2000, "only {compared} reports were compared");
}
