//! Every "no" has a certificate that the checker accepts, and no race has one.

mod deadlocks;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use foretell_detect::Pair;
use foretell_predict::{Budget, Certificate, Certified, Certifier, Limit, Technique, conflicting_pairs};
use foretell_testkit::random::Random;
use foretell_testkit::spinning;
use foretell_testkit::tiny::{self, Features, Shape};
use foretell_testkit::{certificates, corpus, depending};
use foretell_trace::Trace;
use foretell_witness::proof::{self, Examination, Extent, TraceFacts};
use foretell_witness::{Claim, Model, Proof, Referee, oracle};

use crate::deciding::Races;

/// The races that a technique finds while it certifies all else, and the certificates.
pub(crate) fn certify(technique: Technique, trace: &Trace) -> (Races, Vec<(Pair, String)>) {
    let certifier = Certifier::new(trace, technique).expect("an exact technique");
    let stop = AtomicBool::new(false);
    let budget = Budget { per_pair: Duration::from_secs(60), stop: &stop };
    let (facts, mut referee) = (TraceFacts::new(trace), Referee::new(trace));
    let (mut races, mut certificates) = (Races::new(), Vec::new());
    for pair in conflicting_pairs(trace) {
        match certifier.certify(pair, &budget) {
            Certified::Reached(witness) => {
                let proof = Proof::Adjacent { model: witness.model, schedule: witness.schedule };
                let claim = Claim { first: pair.first, second: pair.second, proof };
                referee
                    .check(claim)
                    .unwrap_or_else(|rejection| panic!("{technique:?} {pair:?}: {rejection}"));
                races.insert((pair.first, pair.second));
            }
            Certified::Refuted(certificate) => {
                let text = certificate.text();
                let refuted = proof::check(&facts, &text)
                    .unwrap_or_else(|refusal| panic!("{technique:?} {pair:?}: {refusal}\n{text}"));
                assert_eq!(refuted.pair(), Some((pair.first, pair.second)));
                let binary = [Certificate::MAGIC, &certificate.binary()].concat();
                assert_eq!(proof::check(&facts, binary).as_ref(), Ok(&refuted), "{text}");
                assert_eq!(refuted.model(), certifier.model());
                certificates.push((pair, text));
            }
            // Who meets whom at a barrier is not known.
            Certified::Undecided(Limit::Meeting) => {}
            undecided @ Certified::Undecided(_) => panic!("{technique:?} {pair:?}: {undecided:?}"),
        }
    }
    (races, certificates)
}

/// The exact techniques with certificates, by their models.
const CERTIFIED: [(Technique, Model); 4] = [
    (Technique::Rf, Model::SameWrite),
    (Technique::Mcm, Model::SameValue),
    (Technique::Rv, Model::ControlFlow),
    (Technique::RvNre, Model::Necessary),
];

const STATES: usize = 1_000_000;

/// Of all kinds, each fourth of them with many that wait for others.
fn shape(seed: u64) -> Shape {
    let values = Features { values: true, branches: true, ..Features::MUTEXES };
    let features = match seed % 4 {
        0 => Features { forks: seed.is_multiple_of(8), ..values },
        1 => Features { values: seed % 8 == 1, ..Features::SEQUENTIAL },
        2 => Features { crowds: true, semaphores: true, waiting: true, ..values },
        _ => Features { values: true, branches: true, unexplained: seed % 8 == 7, ..Features::ALL },
    };
    let threads = if seed.is_multiple_of(3) { 6 } else { 4 };
    Shape { threads, decisive: seed % 16 < 8, ..Shape::new(features, 16) }
}

/// Calls `check` with random traces, of which each fifth synchronises by atomics, and every other one of the rest
/// shows which reads matter.
fn for_each(count: u64, mut check: impl FnMut(u64, &Trace)) {
    let atomics = |seed: u64| spinning::trace(seed, 2 + usize::try_from(seed % 3).expect("small"), 16);
    let complete = |seed: u64, trace: Trace| match seed % 5 {
        0 => foretell_testkit::trace(&atomics(seed)),
        _ if (seed / 4).is_multiple_of(2) => depending::at_random(seed, trace),
        _ => trace,
    };
    tiny::for_each_completed(count, shape, complete, &mut check);
}

fn races(trace: &Trace, model: Model) -> Races {
    oracle::races(trace, model, STATES).expect("the trace is tiny")
}

#[test]
fn every_no_has_a_certificate_and_no_race_has_one() {
    let (mut used, mut certificates) = (BTreeMap::new(), 0);
    for_each(2500, |_, trace| {
        for (technique, model) in CERTIFIED {
            let (found, texts) = certify(technique, trace);
            assert_eq!(found, races(trace, model), "{technique:?}");
            certificates += texts.len();
            assert_accounted(trace, model, &found, &texts);
            for word in
                texts.iter().flat_map(|(_, text)| text.lines()).filter_map(|line| line.split(' ').next())
            {
                *used.entry(word.to_string()).or_insert(0) += 1;
            }
        }
    });
    // What is rarer than this, the campaign finds, or the tests of the checker.
    let words = "absent attempt before-return begun between choice clause concrete cycle drop exclusion need permits pin \
                 pinned prefix reached sees source unexplained wakeups";
    let missing: Vec<&str> = words.split_whitespace().filter(|&word| !used.contains_key(word)).collect();
    assert!(missing.is_empty(), "never used: {missing:?} in {certificates} certificates; {used:?}");
}

/// With all certificates nothing but the races is left, and each race is left if it is not reported.
fn assert_accounted(trace: &Trace, model: Model, races: &Races, certificates: &[(Pair, String)]) {
    let facts = TraceFacts::new(trace);
    let examination = |reported: &Races| {
        let mut examination = Examination::new(&facts, model, Extent::Events, reported.iter().copied());
        for (_, text) in certificates {
            examination.refute(&proof::check(&facts, text).expect("it was accepted before"));
        }
        examination.finish(&|| false)
    };
    if let Err(open) = examination(races) {
        // Who meets whom at a barrier is not known.
        assert!(conflicting_pairs(trace).len() > races.len() + certificates.len(), "{open:?}");
    }
    for race in races {
        let others: Races = races.iter().copied().filter(|other| other != race).collect();
        assert!(examination(&others).is_err(), "{race:?} is a race, and was not reported");
    }
}

/// Each certificate can be put into words that fit on a screen.
#[test]
fn certificates_are_put_into_words() {
    let (mut explained, mut said) = (0, BTreeMap::new());
    for_each(600, |_, trace| {
        for (technique, _) in CERTIFIED {
            let certifier = Certifier::new(trace, technique).expect("an exact technique");
            let stop = AtomicBool::new(false);
            let budget = Budget { per_pair: Duration::from_secs(60), stop: &stop };
            for (pair, text) in certify(technique, trace).1 {
                let reasons = certifier.explain(pair, &budget).expect("it has a certificate");
                assert!(
                    reasons.len() <= 18 && reasons.iter().all(|reason| !reason.contains('\n')),
                    "{reasons:?}"
                );
                // What the others do without is not said; what is said, the certificate has.
                for (part, word) in
                    [("critical sections", "\nexclusion "), ("must see the same again", "\nchoice ")]
                {
                    let is_said = reasons.iter().any(|reason| reason.contains(part));
                    assert!(!is_said || text.contains(word), "{reasons:?}\n{text}");
                    *said.entry(part).or_insert(0) += usize::from(is_said);
                }
                explained += usize::from(reasons.len() > 1);
            }
        }
    });
    assert!(explained > 100 && said.values().all(|&count| count > 20), "{explained}, {said:?}");
}

/// A certificate with something changed in it is rejected, or proves something that is true all the same.
#[test]
fn changed_certificates_prove_nothing_false() {
    let (mut changed, mut accepted) = (0, 0);
    for_each(600, |seed, trace| {
        let facts = TraceFacts::new(trace);
        let mut random = Random::new(seed);
        let all: BTreeMap<Model, Races> = CERTIFIED.map(|(_, model)| (model, races(trace, model))).into();
        for (technique, _) in CERTIFIED {
            for (_, text) in certify(technique, trace).1 {
                for _ in 0..48 {
                    let text = certificates::change(&text, trace.events().len(), &mut random);
                    changed += 1;
                    let Ok(refuted) = proof::check(&facts, &text) else { continue };
                    accepted += 1;
                    let pair = refuted.pair().expect("it is about a pair");
                    assert!(
                        !all[&refuted.model()].contains(&pair),
                        "a false certificate is accepted:\n{text}"
                    );
                }
            }
        }
    });
    assert!(changed > 50_000 && accepted < changed / 2, "{accepted} of {changed}");
}

/// Races and certificates of traces whose races were found by code that shares nothing with the project.
#[test]
fn the_conformance_set_is_certified() {
    const TRACES: &str = include_str!("../../../witness/tests/conformance/traces.txt");
    const ANSWERS: &str = include_str!("../../../witness/tests/conformance/answers.jsonl");
    let mut certificates = 0;
    for (text, answer) in TRACES.split("== ").skip(1).zip(ANSWERS.lines()) {
        let (name, text) = text.split_once('\n').expect("a name");
        let answer: serde_json::Value = serde_json::from_str(answer).expect("JSON");
        let trace = foretell_testkit::trace(text);
        for ((technique, model), column) in CERTIFIED.into_iter().zip(["rf", "value", "cf"]) {
            // Traces without values have an answer for one model only.
            let Some(pairs) = answer[column].as_array() else { continue };
            let (found, texts) = certify(technique, &trace);
            let number = |value: &serde_json::Value| value.as_u64().expect("a number");
            let expected: BTreeSet<(u64, u64)> =
                pairs.iter().map(|pair| (number(&pair[0]), number(&pair[1]))).collect();
            let found_numbers: BTreeSet<(u64, u64)> =
                found.iter().map(|(a, b)| (a.number().into(), b.number().into())).collect();
            assert_eq!(found_numbers, expected, "{name} {technique:?}");
            assert_accounted(&trace, model, &found, &texts);
            certificates += texts.len();
        }
    }
    assert!(certificates > 500, "{certificates}");
}

/// Whatever has been proven of another pair, it is no proof that a race of the corpus is none.
#[test]
fn no_certificate_is_good_for_a_race() {
    let mut tried = 0;
    for example in corpus::examples() {
        let trace = foretell_testkit::trace(&example.text);
        if trace.events().len() > 50 {
            continue;
        }
        let facts = TraceFacts::new(&trace);
        for (technique, model) in CERTIFIED {
            let (found, texts) = certify(technique, &trace);
            for (first, second) in &found {
                for (pair, text) in &texts {
                    let old = format!("\npair {} {}\n", pair.first, pair.second);
                    let claimed = text.replace(&old, &format!("\npair {first} {second}\n"));
                    assert_ne!(&claimed, text);
                    assert!(
                        proof::check(&facts, &claimed).is_err(),
                        "{}: {model:?}\n{claimed}",
                        example.name
                    );
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 100, "{tried}");
}

/// A reason that the others do without is not given.
#[test]
fn the_reasons_are_those_that_are_needed() {
    // The flag orders the two; the lock, which both threads take on the way, has nothing to do with it.
    let text = "A|acq(l)|1\nA|w(y,1)|2\nA|rel(l)|3\nA|w(x,1)|4\nA|astore.rel(f,1)|5\nB|aload.acq(f,1)|6\nB|branch|7\n\
                B|acq(l)|8\nB|r(y,1)|9\nB|rel(l)|10\nB|r(x,1)|11\n";
    let trace = foretell_testkit::trace(text);
    let stop = AtomicBool::new(false);
    let budget = Budget { per_pair: Duration::from_secs(60), stop: &stop };
    for (technique, _) in CERTIFIED {
        let certifier = Certifier::new(&trace, technique).expect("an exact technique");
        let id = |number| trace.id(number).expect("an event");
        let reasons =
            certifier.explain(Pair { first: id(4), second: id(11) }, &budget).expect("a certificate");
        assert!(
            reasons.iter().any(|reason| reason.contains("reads f") || reason.contains("f = 1")),
            "{reasons:?}"
        );
        assert!(!reasons.iter().any(|reason| reason.contains("critical sections")), "{reasons:?}");
    }
}
