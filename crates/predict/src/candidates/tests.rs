//! Candidates against the `lockset` detector, which knows the same pairs in another way, and against their limits.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

use foretell_detect::{Pair, Pairs, Reports};
use foretell_testkit::tiny::{self, Features, Shape};
use foretell_trace::{EventId, Loc, Trace};

use super::{Bucket, Candidates, Count, Key, PairLimits, Scope, quick_check, unordered};
use crate::technique::Technique;

static GO_ON: AtomicBool = AtomicBool::new(false);

const EVERYTHING: Features = Features { unexplained: true, values: true, branches: true, ..Features::ALL };

/// What the detector reports.
fn lockset(trace: &Trace, wanted: Pairs) -> BTreeSet<Pair> {
    let mut reports = Reports::new(wanted);
    let mut detector = Technique::Lockset.detector().expect("a detector");
    detector.batch(EventId::FIRST, trace.events(), &mut reports);
    detector.finish(&mut reports);
    reports.pairs().iter().copied().collect()
}

fn candidates(trace: &Trace, wanted: Pairs, limits: PairLimits) -> Candidates<'_> {
    Candidates::with(trace, Scope::default(), wanted, &GO_ON, Box::new(|_, _| None), limits)
}

/// All buckets, if nothing is ever settled.
fn all(mut candidates: Candidates<'_>) -> (Vec<Bucket>, u64) {
    let mut buckets = Vec::new();
    while let Some(batch) = candidates.next_batch(&|_| false) {
        buckets.extend(batch);
    }
    (buckets, candidates.not_examined())
}

fn locations(trace: &Trace, pair: Pair) -> (Loc, Loc) {
    unordered(trace.event(pair.first).loc, trace.event(pair.second).loc)
}

fn loops(seed: u64) -> Shape {
    let locations = [None, Some(2), Some(6)][usize::try_from(seed % 3).unwrap_or(0)];
    Shape { locations, ..Shape::new(EVERYTHING, 40) }
}

#[test]
fn all_pairs_are_those_of_the_lockset_detector() {
    let mut compared = 0;
    tiny::for_each(3000, loops, |_, trace| {
        let expected = lockset(trace, Pairs::All);
        let (buckets, not_examined) = all(candidates(trace, Pairs::All, PairLimits::default()));
        let pairs: Vec<Pair> = buckets.iter().flat_map(|bucket| bucket.pairs.clone()).collect();
        assert!(pairs.is_sorted_by_key(|pair| (pair.second, pair.first)), "not in the order of the trace");
        assert!(buckets.iter().all(|bucket| bucket.key == Key::Events(bucket.pairs[0])));
        assert_eq!((pairs.len(), not_examined), (expected.len(), 0));
        assert_eq!(BTreeSet::from_iter(pairs), expected);
        assert_eq!(quick_check(trace, Pairs::All), Count { number: expected.len() as u64, at_least: false });
        compared += expected.len();
    });
    assert!(compared > 30_000, "the traces are no test: {compared} pairs");
}

/// Groups the pairs that were handed out, and checks the order within each group.
fn by_location(
    trace: &Trace,
    limits: PairLimits,
    nearest_first: bool,
) -> BTreeMap<(Loc, Loc), BTreeSet<Pair>> {
    let mut groups: BTreeMap<(Loc, Loc), Vec<Pair>> = BTreeMap::new();
    for bucket in all(candidates(trace, Pairs::ByLocation, limits)).0 {
        let Key::Locations(a, b) = bucket.key else { panic!("{bucket:?}") };
        assert_eq!((bucket.left_out, bucket.next.is_some()), (0, bucket.more > 0));
        groups.entry((a, b)).or_default().extend(bucket.pairs);
    }
    let distance = |pair: &Pair| (pair.second.index() - pair.first.index(), pair.first);
    for pairs in groups.values() {
        assert!(!nearest_first || pairs.is_sorted_by_key(distance), "{pairs:?}");
    }
    let sets = groups.into_iter().map(|(locations, pairs)| {
        let set: BTreeSet<Pair> = pairs.iter().copied().collect();
        assert_eq!(set.len(), pairs.len(), "a pair came twice");
        (locations, set)
    });
    sets.collect()
}

#[test]
fn each_pair_of_locations_gets_all_its_pairs_nearest_first() {
    tiny::for_each(3000, loops, |_, trace| {
        let mut expected: BTreeMap<(Loc, Loc), BTreeSet<Pair>> = BTreeMap::new();
        for pair in lockset(trace, Pairs::All) {
            expected.entry(locations(trace, pair)).or_default().insert(pair);
        }
        assert_eq!(by_location(trace, PairLimits::default(), true), expected);
        let segments = PairLimits { buckets: 1, pairs: 1, ..PairLimits::default() };
        assert_eq!(by_location(trace, segments, false), expected, "in segments");
        assert_eq!(
            quick_check(trace, Pairs::ByLocation),
            Count { number: expected.len() as u64, at_least: false }
        );
    });
}

#[test]
fn what_a_glance_rules_out_is_not_asked() {
    tiny::for_each(500, loops, |_, trace| {
        // As if everything were ordered that lies more than seven events back.
        let before = |event: EventId, _| EventId::from_number(event.number().saturating_sub(7));
        let near = |pair: &Pair| pair.second.number() - pair.first.number() < 7;
        let expected: BTreeSet<Pair> = lockset(trace, Pairs::All).into_iter().filter(near).collect();
        for wanted in [Pairs::All, Pairs::ByLocation] {
            let candidates = Candidates::with(
                trace,
                Scope::default(),
                wanted,
                &GO_ON,
                Box::new(before),
                PairLimits::default(),
            );
            let pairs = all(candidates).0.into_iter().flat_map(|bucket| bucket.pairs).collect();
            assert_eq!(expected, pairs, "{wanted:?}");
        }
    });
}

#[test]
fn settled_locations_do_not_come_back() {
    tiny::for_each(500, loops, |_, trace| {
        let mut candidates = candidates(trace, Pairs::ByLocation, PairLimits::default());
        let mut seen = BTreeSet::new();
        while let Some(batch) = candidates.next_batch(&|key| seen.contains(&key)) {
            for bucket in batch {
                assert!(seen.insert(bucket.key));
            }
        }
        let expected: BTreeSet<_> =
            lockset(trace, Pairs::All).into_iter().map(|pair| locations(trace, pair)).collect();
        assert_eq!(seen.len(), expected.len());
        let mut none = candidates_of_all(trace);
        assert_eq!(none.next_batch(&|_| true), None);
    });
}

fn candidates_of_all(trace: &Trace) -> Candidates<'_> {
    candidates(trace, Pairs::All, PairLimits::default())
}

/// Many threads that all write one variable without any order.
fn crowd(threads: usize, events: usize, locations: usize) -> Trace {
    let line = |number: usize| format!("t{}|w(x)|{}\n", number % threads, number % locations);
    foretell_testkit::trace(&(0..events).map(line).collect::<String>())
}

/// All pairs of different threads are accounted for, whatever the limits.
fn accounted(trace: &Trace, wanted: Pairs, limits: PairLimits) -> (u64, u64, u64) {
    let (buckets, not_examined) = all(candidates(trace, wanted, limits));
    let delivered = buckets.iter().map(|bucket| bucket.pairs.len() as u64).sum();
    let left_out = buckets.iter().map(|bucket| bucket.left_out).sum();
    assert!(buckets.iter().all(|bucket| bucket.left_out == 0 || bucket.next.is_some()));
    (delivered, left_out, not_examined)
}

#[test]
fn limits_leave_out_but_lose_nothing() {
    let trace = crowd(5, 400, 3);
    let total = quick_check(&trace, Pairs::All).number;
    assert_eq!(total, 400 * 399 / 2 - 5 * (80 * 79 / 2));
    let limits = PairLimits { of_locations: 50, ..PairLimits::default() };
    let (delivered, left_out, not_examined) = accounted(&trace, Pairs::ByLocation, limits);
    assert_eq!((delivered, not_examined), (6 * 50, 0));
    assert_eq!(delivered + left_out, total);
    for inspections in [100, 1000, 5000, 10_000, 20_000] {
        for wanted in [Pairs::All, Pairs::ByLocation] {
            let limits = PairLimits { inspections, ..PairLimits::default() };
            let (delivered, left_out, not_examined) = accounted(&trace, wanted, limits);
            assert_eq!(delivered + left_out + not_examined, total, "{wanted:?} {inspections}");
            assert!(inspections > 1000 || left_out + not_examined > 0, "{wanted:?} {inspections}");
        }
    }
}

#[test]
fn a_crowd_at_few_locations_is_cheap() {
    let trace = crowd(100, 20_000, 7);
    let mut candidates = candidates(&trace, Pairs::ByLocation, PairLimits::default());
    let batch = candidates.next_batch(&|_| false).expect("there are pairs");
    assert_eq!(batch.len(), 7 * 8 / 2);
    assert!(batch.iter().all(|bucket| bucket.pairs.len() == super::FIRST_PASS && bucket.more > 1_000_000));
}

#[test]
fn nothing_comes_once_it_is_stopped() {
    let stop = AtomicBool::new(true);
    let trace = crowd(2, 10, 2);
    let mut candidates = Candidates::with(
        &trace,
        Scope::default(),
        Pairs::ByLocation,
        &stop,
        Box::new(|_, _| None),
        PairLimits::default(),
    );
    assert_eq!(candidates.next_batch(&|_| false), None);
}
