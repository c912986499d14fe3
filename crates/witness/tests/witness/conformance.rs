//! The answers of an exhaustive search by code that shares nothing with this project.

use std::collections::BTreeSet;

use foretell_witness::{Model, oracle};

use crate::{id, trace};

const TRACES: &str = include_str!("../conformance/traces.txt");
const ANSWERS: &str = include_str!("../conformance/answers.jsonl");
const LIMIT: usize = 10_000_000;

#[test]
fn the_oracle_agrees_with_every_answer() {
    let mut traces = TRACES.split("== ").skip(1);
    let (mut count, mut pairs) = (0, [0; 3]);
    for line in ANSWERS.lines() {
        let answer: serde_json::Value = serde_json::from_str(line).unwrap();
        let (name, text) = traces.next().unwrap().split_once('\n').unwrap();
        assert_eq!(answer["trace"], name);
        let trace = trace(text);
        let models = [("rf", Model::SameWrite), ("value", Model::SameValue), ("cf", Model::ControlFlow)];
        for (place, (column, model)) in models.into_iter().enumerate() {
            let Some(expected) = answer.get(column) else { continue };
            let expected: BTreeSet<_> = expected
                .as_array()
                .unwrap()
                .iter()
                .map(|pair| (number(&pair[0]), number(&pair[1])))
                .map(|(first, second)| (id(first), id(second)))
                .collect();
            assert_eq!(oracle::races(&trace, model, LIMIT).unwrap(), expected, "{name} {column}");
            pairs[place] += expected.len();
        }
        count += 1;
    }
    assert_eq!((count, pairs), (500, [1723, 1846, 1923]));
}

fn number(value: &serde_json::Value) -> u32 {
    u32::try_from(value.as_u64().unwrap()).unwrap()
}

#[test]
fn the_oracle_gives_up_at_its_limit() {
    let trace = trace("a|w(x)\nb|w(x)");
    assert_eq!(oracle::races(&trace, Model::SameWrite, 4), None);
    assert_eq!(oracle::races(&trace, Model::SameWrite, 5).unwrap().len(), 1);
}
