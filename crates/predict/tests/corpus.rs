//! Every example of the corpus, through every technique and every judge.

mod deciding;

use std::collections::BTreeSet;

use foretell_detect::{Pairs, Reports};
use foretell_predict::{Guarantee, Technique};
use foretell_testkit::corpus::{Example, Numbers, examples};
use foretell_trace::{EventId, Trace};
use foretell_witness::{Model, UnorderedReferee, oracle};

fn numbers(pairs: impl IntoIterator<Item = (EventId, EventId)>) -> BTreeSet<Numbers> {
    pairs.into_iter().map(|(first, second)| (first.number(), second.number())).collect()
}

fn reported(technique: Technique, trace: &Trace) -> BTreeSet<Numbers> {
    let Some(mut detector) = technique.detector() else {
        return numbers(deciding::races(technique, trace));
    };
    let mut reports = Reports::new(Pairs::All);
    detector.batch(EventId::FIRST, trace.events(), &mut reports);
    detector.finish(&mut reports);
    numbers(reports.pairs().iter().map(|pair| (pair.first, pair.second)))
}

/// What is wrong with the answer that a technique gives to an example, as the lines that its header should have.
fn check(example: &Example, technique: Technique, trace: &Trace) -> Option<String> {
    let reported = reported(technique, trace);
    if reported == example.expected(technique.name()) {
        return None;
    }
    let lines = example.lines_for(technique.name(), &reported);
    Some(format!("{}: the lines about {} should be exactly:\n{lines}", example.name, technique.name()))
}

#[test]
fn the_oracle_finds_exactly_the_races_of_each_example() {
    for example in examples() {
        let trace = foretell_testkit::trace(&example.text);
        let races = oracle::races(&trace, Model::SameWrite, 1_000_000).expect("examples are small");
        assert_eq!(numbers(races), example.races, "{}", example.name);
    }
}

#[test]
fn every_technique_answers_as_expected() {
    let mut wrong = Vec::new();
    let mut answers = 0;
    for example in examples() {
        let trace = foretell_testkit::trace(&example.text);
        for technique in Technique::ALL {
            answers += 1;
            wrong.extend(check(&example, technique, &trace));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(answers >= 60 * 17, "only {answers} answers: is the corpus complete?");
}

#[test]
fn what_a_sound_technique_adds_is_unordered_or_a_race_of_its_model() {
    for example in examples() {
        let trace = foretell_testkit::trace(&example.text);
        for difference in example.differences.iter().filter(|difference| difference.adds) {
            let technique = Technique::from_name(&difference.technique).expect("a technique");
            if technique.guarantee() != Guarantee::EveryReport {
                continue;
            }
            let id = |number| trace.id(number).expect("an event");
            let pair = (id(difference.pair.0), id(difference.pair.1));
            let proven = match technique {
                Technique::Said | Technique::Mcm => is_race(&trace, Model::SameValue, pair),
                Technique::SeqCheck | Technique::Rv => is_race(&trace, Model::ControlFlow, pair),
                Technique::ReconP | Technique::RvNre => is_race(&trace, Model::Necessary, pair),
                Technique::Recipe => is_race(&trace, Model::Values, pair),
                _ => is_unordered(&trace, pair),
            };
            assert!(proven, "{}: {difference:?}", example.name);
        }
    }
}

fn is_race(trace: &Trace, model: Model, pair: (EventId, EventId)) -> bool {
    oracle::races(trace, model, 1_000_000).expect("examples are small").contains(&pair)
}

fn is_unordered(trace: &Trace, pair: (EventId, EventId)) -> bool {
    let mut referee = UnorderedReferee::new(vec![pair]);
    referee.batch(EventId::FIRST, trace.events());
    referee.verdicts()[0].is_ok()
}
