//! Every example of the corpus, through every technique and every judge.

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
    let mut detector = technique.detector().expect("a technique that looks at each event once");
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
        for technique in Technique::ALL.into_iter().filter(|technique| !technique.decides_pairs()) {
            answers += 1;
            wrong.extend(check(&example, technique, &trace));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(answers >= 40 * 8, "only {answers} answers: is the corpus complete?");
}

#[test]
fn what_a_sound_technique_adds_is_unordered_in_the_observed_run() {
    for example in examples() {
        let trace = foretell_testkit::trace(&example.text);
        for difference in example.differences.iter().filter(|difference| difference.adds) {
            let technique = Technique::from_name(&difference.technique).expect("a technique");
            if technique.guarantee() != Guarantee::EveryReport {
                continue;
            }
            let id = |number| trace.id(number).expect("an event");
            let mut referee = UnorderedReferee::new(vec![(id(difference.pair.0), id(difference.pair.1))]);
            referee.batch(EventId::FIRST, trace.events());
            assert!(referee.verdicts()[0].is_ok(), "{}: {difference:?}", example.name);
        }
    }
}
