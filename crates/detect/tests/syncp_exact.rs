//! The detector, the index and the definition agree on random small traces.

#[path = "syncp_exact/definition.rs"]
mod definition;
#[path = "syncp_exact/generate.rs"]
mod generate;
mod syncp_help;

use definition::Definition;
use foretell_detect::syncp::SyncPreserving;
use foretell_detect::{Pair, Pairs};
use foretell_trace::{EventId, Loc, Trace};
use generate::{Operations, Shape};
use syncp_help::{detect, trace};

/// Detector and index against the definition, on a trace that is short enough for it. Tells how many races there are.
fn check(text: &str) -> usize {
    let trace = trace(text);
    let races = Definition::new(&trace).races();
    check_detector(&trace, &races, text);
    check_index(&trace, &races, text);
    races.len()
}

/// Detector against the index, on a longer trace. Tells how many races there are.
fn check_long(text: &str) -> usize {
    let trace = trace(text);
    let index = SyncPreserving::new(&trace);
    let races: Vec<Pair> = all_pairs(&trace).filter(|&pair| index.ideal(pair).is_some()).collect();
    check_detector(&trace, &races, text);
    races.len()
}

fn check_detector(trace: &Trace, races: &[Pair], text: &str) {
    assert_eq!(detect(trace, Pairs::All), races, "every pair\n{text}");
    let by_location = locations(trace, &detect(trace, Pairs::ByLocation));
    let mut expected = locations(trace, races);
    expected.dedup();
    assert_eq!(by_location, expected, "one pair for each pair of locations\n{text}");
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

fn check_index(trace: &Trace, races: &[Pair], text: &str) {
    let index = SyncPreserving::new(trace);
    for pair in all_pairs(trace) {
        let witness = index.witness(pair);
        assert_eq!(witness.is_some(), races.contains(&pair), "the index about {pair:?}\n{text}");
        if let Some(witness) = witness {
            check_witness(trace, pair, &witness, text);
        }
    }
}

/// The schedule ends with the pair, runs a prefix of each thread in its order, and keeps the order of the trace before
/// the pair; reads in it see the same writes.
fn check_witness(trace: &Trace, pair: Pair, witness: &[EventId], text: &str) {
    let (before, end) = witness.split_at(witness.len() - 2);
    assert_eq!(end, [pair.first, pair.second], "{text}");
    assert!(before.is_sorted(), "{text}");
    for thread in trace.threads() {
        let of_thread = |id: &EventId| trace.event(*id).thread == thread;
        let all = trace.iter().map(|(id, _)| id).filter(of_thread);
        let run = witness.iter().copied().filter(of_thread);
        assert!(run.clone().eq(all.take(run.count())), "{pair:?}: {witness:?}\n{text}");
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
        assert_eq!(before[..position].iter().rfind(writes), all.iter().rfind(writes), "{text}");
    }
}

const SMALL: Shape = Shape { operations: Operations::Basic, events: 14, locks: 3, vars: 3 };

fn races_of(traces: u64, shape: Shape, check: impl Fn(&str) -> usize) -> usize {
    (0..traces).map(|seed| check(&generate::trace(seed, shape))).sum()
}

#[test]
fn exact_on_reads_writes_locks_forks_and_joins() {
    let races = races_of(20_000, SMALL, check) + races_of(1_000, Shape { events: 60, ..SMALL }, check);
    assert!(races > 10_000, "the traces are no test: {races} races");
}

#[test]
fn exact_on_all_operations() {
    let shape = Shape { operations: Operations::All, ..SMALL };
    let races = races_of(20_000, Shape { events: 18, ..shape }, check)
        + races_of(1_000, Shape { events: 60, ..shape }, check);
    assert!(races > 10_000, "the traces are no test: {races} races");
}

#[test]
fn exact_on_long_traces() {
    for operations in [Operations::Basic, Operations::All] {
        let shape = Shape { operations, events: 500, locks: 3, vars: 20 };
        let races = races_of(60, shape, check_long);
        assert!(races > 1_000, "the traces are no test: {races} races");
    }
}

#[test]
fn exact_where_accesses_hold_more_sets_of_locks_than_are_told_apart() {
    let shape = Shape { operations: Operations::Basic, events: 800, locks: 40, vars: 2 };
    let races = races_of(30, shape, check_long);
    assert!(races > 1_000, "the traces are no test: {races} races");
}
