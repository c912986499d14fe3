//! The detector, the index and the definition agree on random small traces.

#[path = "syncp_exact/definition.rs"]
mod definition;

use definition::Definition;
use foretell_detect::syncp::{SyncP, SyncPreserving};
use foretell_detect::{Detector, Pair, Pairs, Reports};
use foretell_testkit::tiny::{self, Features, Shape};
use foretell_trace::{EventId, Loc, Trace};

/// What the detector reports, sorted.
fn detect(trace: &Trace, wanted: Pairs) -> Vec<Pair> {
    let mut reports = Reports::new(wanted);
    let mut detector = SyncP::default();
    detector.batch(EventId::FIRST, trace.events(), &mut reports);
    detector.finish(&mut reports);
    let mut pairs = reports.pairs().to_vec();
    pairs.sort_unstable();
    pairs
}

/// Detector and index against the definition, on a trace that is short enough for it. Tells how many races there are.
fn check(trace: &Trace) -> usize {
    let races = Definition::new(trace).races();
    check_detector(trace, &races);
    check_index(trace, &races);
    races.len()
}

/// Detector against the index, on a longer trace. Tells how many races there are.
fn check_long(trace: &Trace) -> usize {
    let index = SyncPreserving::new(trace);
    let races: Vec<Pair> = all_pairs(trace).filter(|&pair| index.ideal(pair).is_some()).collect();
    check_detector(trace, &races);
    races.len()
}

fn check_detector(trace: &Trace, races: &[Pair]) {
    assert_eq!(detect(trace, Pairs::All), races, "every pair");
    let by_location = locations(trace, &detect(trace, Pairs::ByLocation));
    let mut expected = locations(trace, races);
    expected.dedup();
    assert_eq!(by_location, expected, "one pair for each pair of locations");
}

fn all_pairs(trace: &Trace) -> impl Iterator<Item = Pair> {
    let ids = || trace.iter().map(|(id, _)| id);
    ids().flat_map(move |first| ids().skip(first.index() + 1).map(move |second| Pair { first, second }))
}

/// The location pairs of these pairs, smaller location first, sorted; with repetitions.
fn locations(trace: &Trace, pairs: &[Pair]) -> Vec<(Loc, Loc)> {
    let loc = |id: EventId| trace.event(id).loc;
    let mut locations: Vec<_> = pairs
        .iter()
        .map(|pair| (loc(pair.first), loc(pair.second)))
        .map(|(a, b)| (a.min(b), a.max(b)))
        .collect();
    locations.sort_unstable();
    locations
}

fn check_index(trace: &Trace, races: &[Pair]) {
    let index = SyncPreserving::new(trace);
    for pair in all_pairs(trace) {
        let witness = index.witness(pair);
        assert_eq!(witness.is_some(), races.contains(&pair), "the index about {pair:?}");
        if let Some(witness) = witness {
            check_witness(trace, pair, &witness);
        }
    }
}

/// The schedule ends with the pair, runs a prefix of each thread in its order, and keeps the order of the trace before
/// the pair; reads in it see the same writes.
fn check_witness(trace: &Trace, pair: Pair, witness: &[EventId]) {
    let (before, end) = witness.split_at(witness.len() - 2);
    assert_eq!(end, [pair.first, pair.second]);
    assert!(before.is_sorted());
    for thread in trace.threads() {
        let of_thread = |id: &EventId| trace.event(*id).thread == thread;
        let all = trace.iter().map(|(id, _)| id).filter(of_thread);
        let run = witness.iter().copied().filter(of_thread);
        assert!(run.clone().eq(all.take(run.count())), "{pair:?}: {witness:?}");
    }
    for (position, &id) in before.iter().enumerate() {
        let Some(access) = trace.event(id).op.access().filter(|access| access.kind.reads()) else { continue };
        let writes = |other: &&EventId| {
            trace
                .event(**other)
                .op
                .access()
                .is_some_and(|other| other.var == access.var && other.kind.writes())
        };
        let all: Vec<EventId> = trace.iter().map(|(id, _)| id).take(id.index()).collect();
        assert_eq!(before[..position].iter().rfind(writes), all.iter().rfind(writes));
    }
}

const EVERYTHING: Features = Features { unexplained: true, ..Features::ALL };

/// The number of races in the traces, of at most `shape.events` events, at a few locations or many.
fn races_of(count: u64, shape: Shape, check: impl Fn(&Trace) -> usize) -> usize {
    let at_least = shape.events / 3;
    let varied = |seed: u64| {
        let draw = usize::try_from(seed).unwrap_or(0);
        let events = at_least + draw % (shape.events - at_least) + 1;
        Shape { events, locations: [Some(2), Some(5), Some(20), None][draw % 4], ..shape }
    };
    let mut races = 0;
    tiny::for_each(count, varied, |_, trace| races += check(trace));
    races
}

#[test]
fn exact_on_reads_writes_locks_forks_and_joins() {
    let races = races_of(20_000, Shape::new(Features::BASIC, 14), check)
        + races_of(1_000, Shape::new(Features::BASIC, 60), check);
    assert!(races > 10_000, "the traces are no test: {races} races");
}

#[test]
fn exact_on_all_operations() {
    let races = races_of(20_000, Shape::new(EVERYTHING, 18), check)
        + races_of(1_000, Shape::new(EVERYTHING, 60), check);
    assert!(races > 10_000, "the traces are no test: {races} races");
}

#[test]
fn exact_on_long_traces() {
    for features in [Features::BASIC, EVERYTHING] {
        let races = races_of(60, Shape { vars: 20, ..Shape::new(features, 500) }, check_long);
        assert!(races > 1_000, "the traces are no test: {races} races");
    }
}

#[test]
fn exact_where_accesses_hold_more_sets_of_locks_than_are_told_apart() {
    let shape = Shape { locks: 40, vars: 2, ..Shape::new(Features::BASIC, 800) };
    let races = races_of(30, shape, check_long);
    assert!(races > 1_000, "the traces are no test: {races} races");
}
