//! Sound techniques against answers that were found by code which shares nothing with the project.

use std::collections::BTreeSet;

use foretell_detect::{Pairs, Reports};
use foretell_predict::{Guarantee, Technique};
use foretell_trace::EventId;

const TRACES: &str = include_str!("../../witness/tests/conformance/traces.txt");
const ANSWERS: &str = include_str!("../../witness/tests/conformance/answers.jsonl");

#[test]
fn sound_techniques_stay_inside_the_answers_and_the_quick_check_covers_them() {
    let mut compared = 0;
    for (text, answer) in TRACES.split("== ").skip(1).zip(ANSWERS.lines()) {
        let (name, text) = text.split_once('\n').expect("a name");
        let answer: serde_json::Value = serde_json::from_str(answer).expect("JSON");
        assert_eq!(answer["trace"], name);
        let races = |model: &str| -> BTreeSet<(u64, u64)> {
            let pairs = answer[model].as_array().into_iter().flatten();
            pairs.filter_map(|pair| Some((pair[0].as_u64()?, pair[1].as_u64()?))).collect()
        };
        let trace = foretell_testkit::trace(text);
        for technique in Technique::ALL {
            let Some(mut detector) = technique.detector() else { continue };
            let mut reports = Reports::new(Pairs::All);
            detector.batch(EventId::FIRST, trace.events(), &mut reports);
            detector.finish(&mut reports);
            let numbers = |id: EventId| u64::from(id.number());
            let reported: BTreeSet<_> =
                reports.pairs().iter().map(|pair| (numbers(pair.first), numbers(pair.second))).collect();
            if technique.guarantee() == Guarantee::EveryReport {
                assert!(reported.is_subset(&races("rf")), "{name} {technique:?}");
                compared += reported.len();
            }
            if technique == Technique::Lockset {
                for model in ["rf", "value", "cf"] {
                    assert!(races(model).is_subset(&reported), "{name} {model}");
                }
            }
        }
    }
    assert!(compared > 2000, "only {compared} reports were compared");
}
