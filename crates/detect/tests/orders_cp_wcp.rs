//! Causally-precedes and its weak form against their published definitions, on tiny random traces.

#[path = "orders/definition.rs"]
mod definition;
mod orders;

use definition::{Relation, Section, close, conflict, last_write, must, numbers, sections};
use foretell_detect::Pairs;
use foretell_detect::cp::Cp;
use foretell_detect::lockset::LockSet;
use foretell_detect::wcp::Wcp;
use foretell_testkit::tiny::{self, Features, Shape};
use foretell_trace::{Event, Trace};
use orders::pairs;

/// Conflicts as rule (a) means them: atomics count.
fn touch_alike(a: &Event, b: &Event) -> bool {
    match (a.op.access(), b.op.access()) {
        (Some(x), Some(y)) => a.thread != b.thread && x.var == y.var && (x.kind.writes() || y.kind.writes()),
        _ => false,
    }
}

/// What both orders contain from the start.
fn is_hard(events: &[Event], a: usize, b: usize) -> bool {
    let atomic = |at: usize| events[at].op.access().is_some_and(|access| access.atomic);
    let reads = |at: usize| events[at].op.access().is_some_and(|access| access.kind.reads());
    let passes_value = atomic(a) && atomic(b) && reads(b) && last_write(events, b) == Some(a);
    must(events, a, b) || (passes_value && events[a].thread != events[b].thread)
}

/// Happens-before, reflexive.
fn happens_before(events: &[Event]) -> Relation {
    let ends_then_begins =
        |a: usize, b: usize| match (events[a].op.section_end(), events[b].op.section_begin()) {
            (Some((lock, mode)), Some((other, how))) => lock == other && mode.excludes(how),
            _ => false,
        };
    let count = events.len();
    let mut relation = vec![vec![false; count]; count];
    for a in 0..count {
        for b in a..count {
            relation[a][b] =
                events[a].thread == events[b].thread || ends_then_begins(a, b) || is_hard(events, a, b);
        }
    }
    close(&mut relation);
    relation
}

/// One relation after the other.
fn product(first: &Relation, second: &Relation) -> Relation {
    let row = |row: &Vec<bool>| {
        let mut result = vec![false; row.len()];
        for middle in (0..row.len()).filter(|&middle| row[middle]) {
            result.iter_mut().zip(&second[middle]).for_each(|(mine, theirs)| *mine |= theirs);
        }
        result
    };
    first.iter().map(row).collect()
}

/// What composition with happens-before, which is reflexive, on both sides gives.
fn compose(order: &Relation, happens: &Relation) -> Relation {
    product(&product(happens, order), happens)
}

#[derive(Clone, Copy, PartialEq)]
enum Order {
    Cp,
    Wcp,
}

fn rules(order: Order, events: &[Event], sections: &[Section], relation: &mut Relation) {
    for first in sections {
        for second in sections.iter().filter(|second| first.excludes(second) && first.end < second.begin) {
            let inside = |section: &Section| {
                let section = *section;
                (0..events.len()).filter(move |&event| section.contains(events, event))
            };
            for a in inside(first) {
                for b in inside(second) {
                    let conflicts = touch_alike(&events[a], &events[b]);
                    match order {
                        Order::Cp if conflicts || relation[a][b] => relation[first.end][second.begin] = true,
                        Order::Wcp if conflicts => relation[first.end][b] = true,
                        Order::Wcp if relation[a][b] && second.end < events.len() => {
                            relation[first.end][second.end] = true;
                        }
                        Order::Cp | Order::Wcp => {}
                    }
                }
            }
        }
    }
}

/// The pairs that the definition of the order leaves open.
fn by_definition(order: Order, trace: &Trace) -> Vec<(u32, u32)> {
    let events = trace.events();
    let (sections, happens) = (sections(events), happens_before(events));
    let count = events.len();
    let mut relation: Relation =
        (0..count).map(|a| (0..count).map(|b| is_hard(events, a, b)).collect()).collect();
    loop {
        let before = relation.clone();
        rules(order, events, &sections, &mut relation);
        relation = compose(&relation, &happens);
        if relation == before {
            break;
        }
    }
    let mut pairs = Vec::new();
    for a in 0..count {
        for b in a + 1..count {
            if conflict(&events[a], &events[b]) && !relation[a][b] {
                pairs.push(numbers(a, b));
            }
        }
    }
    pairs
}

/// Plain accesses, mutexes, and in half of the traces forks and joins: what the definitions speak of.
fn mutexes(seed: u64) -> Shape {
    let events = [8, 14, 20, 26, 32, 38, 47][usize::try_from(seed % 7).unwrap_or(0)];
    Shape { vars: 4, ..Shape::new(Features { forks: seed.is_multiple_of(2), ..Features::MUTEXES }, events) }
}

#[test]
fn wcp_is_its_definition() {
    tiny::for_each(30_000, mutexes, |_, trace| {
        assert_eq!(pairs::<Wcp>(trace, Pairs::All), by_definition(Order::Wcp, trace));
    });
}

#[test]
fn cp_is_its_definition() {
    tiny::for_each(30_000, mutexes, |_, trace| {
        assert_eq!(pairs::<Cp>(trace, Pairs::All), by_definition(Order::Cp, trace));
    });
}

#[test]
fn cp_orders_more_than_wcp_and_both_more_than_lock_sets() {
    // Causally-precedes does not follow a lock that one thread holds in both modes; its header says so.
    for features in [Features::BASIC, Features { upgrades: false, ..Features::ALL }] {
        tiny::for_each(
            10_000,
            |_| Shape::new(features, 24),
            |_, trace| {
                let (cp, wcp) = (pairs::<Cp>(trace, Pairs::All), pairs::<Wcp>(trace, Pairs::All));
                let lockset = pairs::<LockSet>(trace, Pairs::All);
                assert!(cp.iter().all(|pair| wcp.contains(pair)), "{cp:?} {wcp:?}");
                assert!(wcp.iter().all(|pair| lockset.contains(pair)), "{wcp:?} {lockset:?}");
            },
        );
    }
}
