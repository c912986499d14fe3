//! The datarace causal order against its definition, on tiny random traces.

#[path = "orders/definition.rs"]
mod definition;
mod orders;

use definition::{Relation, Section, close, conflict, last_write, must, numbers, sections};
use foretell_detect::Pairs;
use foretell_detect::dco::Dco;
use foretell_detect::lockset::LockSet;
use foretell_testkit::tiny::{self, Features, Shape};
use foretell_trace::{Event, Trace};
use orders::pairs;

/// Thread order, what must be, and every write before the reads that saw it (but for those into `free`).
fn base(events: &[Event], free: usize) -> Relation {
    let mut relation = vec![vec![false; events.len()]; events.len()];
    for b in 0..events.len() {
        for (a, row) in relation.iter_mut().enumerate().take(b) {
            row[b] = events[a].thread == events[b].thread || must(events, a, b);
        }
        if free != b
            && events[b].op.access().is_some_and(|access| access.kind.reads())
            && let Some(seen) = last_write(events, b)
        {
            relation[seen][b] = true;
        }
    }
    relation
}

fn lock_atomicity(events: &[Event], sections: &[Section], relation: &mut Relation) {
    for first in sections.iter().filter(|first| first.end < events.len()) {
        for second in sections.iter().filter(|second| first.excludes(second) && first.end < second.begin) {
            for b in (0..events.len()).filter(|&b| second.contains(events, b)) {
                relation[first.end][b] |= relation[first.begin][b];
            }
        }
    }
}

fn write_read_atomicity(events: &[Event], free: usize, relation: &mut Relation) {
    for b in (0..events.len()).filter(|&b| free != b) {
        let Some(write) = events[b].op.access().filter(|access| access.kind.writes()) else { continue };
        for a in 0..b {
            let Some(read) = events[a].op.access().filter(|access| access.kind.reads()) else { continue };
            let seen_precedes = last_write(events, a).is_none_or(|seen| relation[seen][b]);
            if read.var == write.var && seen_precedes {
                relation[a][b] = true;
            }
        }
    }
}

/// The order without the edges that pin what is read at the event `free`.
fn order(events: &[Event], free: usize) -> Relation {
    let sections = sections(events);
    let mut relation = base(events, free);
    loop {
        let before = relation.clone();
        close(&mut relation);
        lock_atomicity(events, &sections, &mut relation);
        write_read_atomicity(events, free, &mut relation);
        if relation == before {
            return relation;
        }
    }
}

fn by_definition(trace: &Trace) -> Vec<(u32, u32)> {
    let events = trace.events();
    let sections = sections(events);
    let share_a_lock = |a: usize, b: usize| {
        sections
            .iter()
            .filter(|section| section.contains(events, a))
            .any(|first| sections.iter().any(|second| second.contains(events, b) && first.excludes(second)))
    };
    let mut pairs = Vec::new();
    for b in 0..events.len() {
        let order = order(events, b);
        for a in (0..b).filter(|&a| conflict(&events[a], &events[b])) {
            if !order[a][b] && !share_a_lock(a, b) {
                pairs.push(numbers(a, b));
            }
        }
    }
    pairs.sort_unstable();
    pairs
}

/// With all that the definition above speaks of, in half of the traces.
fn features(seed: u64) -> Features {
    let rich = seed.is_multiple_of(2);
    Features { shared_locks: rich, semaphores: rich, atomics: rich, ..Features::BASIC }
}

#[test]
fn dco_is_its_definition() {
    let events = |seed: u64| 8 + usize::try_from(seed % 20).unwrap_or(0);
    tiny::for_each(
        12_000,
        |seed| Shape::new(features(seed), events(seed)),
        |_, trace| assert_eq!(pairs::<Dco>(trace, Pairs::All), by_definition(trace)),
    );
}

#[test]
fn dco_stays_within_the_quick_check() {
    for features in [Features::BASIC, Features::ALL] {
        tiny::for_each(
            5_000,
            |_| Shape::new(features, 30),
            |_, trace| {
                let (dco, lockset) = (pairs::<Dco>(trace, Pairs::All), pairs::<LockSet>(trace, Pairs::All));
                assert!(dco.iter().all(|pair| lockset.contains(pair)), "{dco:?} {lockset:?}");
            },
        );
    }
}
