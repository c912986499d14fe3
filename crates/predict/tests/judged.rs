//! Every technique before its judges, on thousands of random tiny traces: the exhaustive oracle knows all races, the
//! referee checks every proof.

use std::collections::BTreeSet;

use foretell_detect::{Pair, Pairs, Reports};
use foretell_predict::{ProofScheduler, Technique, conflicting_pairs};
use foretell_testkit::depending;
use foretell_testkit::tiny::{self, Features, Shape};
use foretell_trace::{EventId, Op, Trace};
use foretell_witness::{Claim, Model, Proof, Referee, UnorderedReferee, oracle};

/// How many states the oracle may visit; no tiny trace has that many.
const STATES: usize = 1_000_000;
const EVENTS: usize = 13;

fn detect(technique: Technique, trace: &Trace, wanted: Pairs) -> Vec<Pair> {
    let mut detector = technique.detector().expect("a technique that looks at each event once");
    let mut reports = Reports::new(wanted);
    detector.batch(EventId::FIRST, trace.events(), &mut reports);
    detector.finish(&mut reports);
    assert_eq!(reports.forgotten(), 0);
    reports.pairs().to_vec()
}

fn set(pairs: &[Pair]) -> BTreeSet<(EventId, EventId)> {
    let set: BTreeSet<_> = pairs.iter().map(|pair| (pair.first, pair.second)).collect();
    assert_eq!(set.len(), pairs.len(), "a pair was reported twice");
    set
}

fn races(trace: &Trace, model: Model) -> BTreeSet<(EventId, EventId)> {
    oracle::races(trace, model, STATES).expect("the trace is tiny")
}

fn for_random_traces(count: u64, features: Features, check: impl Fn(&Trace)) {
    tiny::for_each(count, |_| Shape::new(features, EVENTS), |_, trace| check(trace));
}

/// The pairs that the referee finds unordered in the observed run.
fn unordered(trace: &Trace, pairs: Vec<(EventId, EventId)>) -> BTreeSet<(EventId, EventId)> {
    let mut referee = UnorderedReferee::new(pairs);
    referee.batch(EventId::FIRST, trace.events());
    let accepted = referee.verdicts().into_iter().flatten();
    accepted.map(|finding| (finding.first(), finding.second())).collect()
}

/// Has the referee replay the technique's schedule for each of its pairs.
fn replayed(technique: Technique, trace: &Trace, pairs: &[Pair]) -> BTreeSet<(EventId, EventId)> {
    let scheduler = ProofScheduler::new(technique, trace).expect("the technique has proofs");
    let mut referee = Referee::new(trace);
    let mut accepted = BTreeSet::new();
    for pair in pairs {
        let Some(schedule) = scheduler.schedule(*pair) else { continue };
        let proof = Proof::Adjacent { model: Model::SameWrite, schedule };
        let claim = Claim { first: pair.first, second: pair.second, proof };
        let finding = referee.check(claim).unwrap_or_else(|rejection| panic!("{pair:?}: {rejection}"));
        accepted.insert((finding.first(), finding.second()));
    }
    accepted
}

#[test]
fn sync_preserving_races_are_exactly_those_of_the_definition() {
    for_random_traces(6000, Features::BASIC, |trace| {
        let found = detect(Technique::SyncP, trace, Pairs::All);
        let all = oracle::sync_preserving_races(trace, STATES).expect("the trace is tiny");
        assert_eq!(set(&found), all);
    });
}

#[test]
fn sync_preserving_races_are_races_whatever_the_synchronisation() {
    for features in [Features::SEQUENTIAL, Features::ALL] {
        for_random_traces(4000, features, |trace| {
            let found = detect(Technique::SyncP, trace, Pairs::All);
            assert_eq!(replayed(Technique::SyncP, trace, &found), set(&found));
            assert!(set(&found).is_subset(&races(trace, Model::SameWrite)));
        });
    }
}

#[test]
fn schedulable_happens_before_reports_races_only() {
    for features in [Features::BASIC, Features::SEQUENTIAL] {
        for_random_traces(4000, features, |trace| {
            let found = detect(Technique::Shb, trace, Pairs::All);
            assert_eq!(replayed(Technique::Shb, trace, &found), set(&found));
            assert!(set(&found).is_subset(&races(trace, Model::SameWrite)));
        });
    }
}

/// An attempt to lock that failed orders nothing by the language; the detector is more careful there.
fn fails_to_lock(trace: &Trace) -> bool {
    let fails = |op| matches!(op, Op::TryAcquireFailed(_) | Op::TryAcquireSharedFailed(_));
    trace.events().iter().any(|event| fails(event.op))
}

/// Nor does an arrival order those after it, unless their threads depart; the detector keeps them in their order.
fn acts_inside_a_barrier(trace: &Trace) -> bool {
    let mut inside = BTreeSet::new();
    trace.events().iter().any(|event| match event.op {
        Op::Arrive(_) => !inside.insert(event.thread),
        Op::Depart(_) => !inside.remove(&event.thread),
        Op::Join(child) if inside.contains(&child) => true,
        _ => inside.contains(&event.thread),
    })
}

#[test]
fn schedulable_happens_before_and_the_referee_agree_on_what_is_unordered() {
    for_random_traces(6000, Features::ALL, |trace| {
        let found = set(&detect(Technique::Shb, trace, Pairs::All));
        let pairs = conflicting_pairs(trace).iter().map(|pair| (pair.first, pair.second)).collect();
        let unordered = unordered(trace, pairs);
        if fails_to_lock(trace) || acts_inside_a_barrier(trace) {
            assert!(found.is_subset(&unordered), "{found:?} {unordered:?}");
        } else {
            assert_eq!(found, unordered);
        }
    });
}

#[test]
fn the_first_report_of_happens_before_is_a_race() {
    for features in [Features::BASIC, Features::SEQUENTIAL] {
        for_random_traces(4000, features, |trace| {
            let races = races(trace, Model::SameWrite);
            for technique in [Technique::Hb, Technique::FastTrack] {
                let found = detect(technique, trace, Pairs::All);
                if let Some(first) = found.first() {
                    assert!(races.contains(&(first.first, first.second)), "{technique:?} {first:?}");
                    let unordered = unordered(trace, vec![(first.first, first.second)]);
                    assert_eq!(unordered.len(), 1, "{technique:?} {first:?} has no proof");
                }
            }
        });
    }
}

#[test]
fn later_reports_of_happens_before_can_be_false() {
    let trace = foretell_testkit::trace("T1|w(y)|1\nT1|w(x)|2\nT2|r(x)|3\nT2|r(y)|4\n");
    let found = detect(Technique::Hb, &trace, Pairs::All);
    assert_eq!(found.len(), 2);
    assert_eq!(races(&trace, Model::SameWrite).len(), 1);
}

#[test]
fn weaker_orders_report_more() {
    for_random_traces(4000, Features::BASIC, |trace| {
        let hb = set(&detect(Technique::Hb, trace, Pairs::All));
        let shb = set(&detect(Technique::Shb, trace, Pairs::All));
        let cp = set(&detect(Technique::Cp, trace, Pairs::All));
        let wcp = set(&detect(Technique::Wcp, trace, Pairs::All));
        let fasttrack = set(&detect(Technique::FastTrack, trace, Pairs::All));
        assert!(shb.is_subset(&hb), "shb {shb:?} hb {hb:?}");
        assert!(fasttrack.is_subset(&hb), "fasttrack {fasttrack:?} hb {hb:?}");
        assert!(hb.is_subset(&cp), "hb {hb:?} cp {cp:?}");
        assert!(cp.is_subset(&wcp), "cp {cp:?} wcp {wcp:?}");
    });
}

#[test]
fn the_quick_check_misses_no_race_of_any_model() {
    let with_values = Features { values: true, branches: true, ..Features::SEQUENTIAL };
    for features in [Features::BASIC, with_values] {
        for_random_traces(2000, features, |trace| {
            let candidates = set(&detect(Technique::Lockset, trace, Pairs::All));
            for model in [Model::SameWrite, Model::SameValue, Model::ControlFlow] {
                let races = races(trace, model);
                assert!(races.is_subset(&candidates), "{model:?}: {races:?} {candidates:?}");
            }
        });
        let shape = |_| Shape::new(Features { branches: false, ..features }, EVENTS);
        tiny::for_each_completed(2000, shape, depending::at_random, |_, trace| {
            let candidates = set(&detect(Technique::Lockset, trace, Pairs::All));
            let races = races(trace, Model::Necessary);
            assert!(races.is_subset(&candidates), "{races:?} {candidates:?}");
        });
    }
}

#[test]
fn one_report_per_location_pair_loses_no_location_pair() {
    let loops = |_| Shape { locations: Some(4), ..Shape::new(Features::ALL, EVENTS) };
    tiny::for_each(3000, loops, |_, trace| {
        let streaming = Technique::ALL.into_iter().filter(|technique| !technique.decides_pairs());
        for technique in streaming.filter(|technique| *technique != Technique::FastTrack) {
            let locations = |pairs: &[Pair]| -> BTreeSet<_> {
                let ends = |pair: &Pair| [trace.event(pair.first).loc, trace.event(pair.second).loc];
                pairs.iter().map(|pair| BTreeSet::from(ends(pair))).collect()
            };
            let all = detect(technique, trace, Pairs::All);
            let by_location = detect(technique, trace, Pairs::ByLocation);
            assert_eq!(locations(&by_location), locations(&all), "{technique:?}");
            assert_eq!(by_location.len(), locations(&all).len(), "{technique:?}");
        }
    });
}
