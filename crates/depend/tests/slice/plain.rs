//! Slices of random traces without a flow: they show what any program does that may have produced the trace.

use std::collections::BTreeSet;

use foretell_depend::{Property, Rule, Slicer};
use foretell_testkit::tiny::{self, Features, Shape};
use foretell_trace::{EventId, Trace};
use foretell_witness::{Model, oracle};

const STATES: usize = 1_000_000;
const EVERYTHING: Features = Features { values: true, unexplained: true, ..Features::ALL };

type Races = BTreeSet<(EventId, EventId)>;

fn races(trace: &Trace, model: Model) -> Races {
    oracle::races(trace, model, STATES).expect("the trace is tiny")
}

/// The pairs that race on the slice for them.
fn races_on_slices(trace: &Trace) -> Races {
    let slicer = Slicer::new(trace, None);
    conflicts(trace)
        .into_iter()
        .filter(|&(first, second)| {
            let slice = slicer.slice(&Property::race(first, second), Rule::Sound);
            let pair = slice.sliced(first).zip(slice.sliced(second)).expect("the property is kept");
            races(&slice.trace(trace).expect("a slice is well formed"), Model::SameValue).contains(&pair)
        })
        .collect()
}

fn conflicts(trace: &Trace) -> Vec<(EventId, EventId)> {
    let accesses: Vec<_> =
        trace.iter().filter_map(|(id, event)| Some((id, event.thread, event.op.access()?))).collect();
    let mut pairs = Vec::new();
    for (place, &(first, thread, access)) in accesses.iter().enumerate() {
        let later = accesses[place + 1..].iter();
        let conflicts = later.filter(|(_, other, later)| *other != thread && access.conflicts_with(*later));
        pairs.extend(conflicts.map(|&(second, ..)| (first, second)));
    }
    pairs
}

/// Slices lose no race that keeps values, and make up none that would change decisions.
fn check(count: u64, branches: bool) {
    let features = Features { branches, ..EVERYTHING };
    let mut more = 0;
    tiny::for_each(
        count,
        |seed| Shape { decisive: seed.is_multiple_of(2), ..Shape::new(features, 14) },
        |_, trace| {
            let (sliced, least, most) =
                (races_on_slices(trace), races(trace, Model::SameValue), races(trace, Model::ControlFlow));
            assert!(least.is_subset(&sliced), "lost {:?}", least.difference(&sliced));
            assert!(sliced.is_subset(&most), "made up {:?}", sliced.difference(&most));
            more += sliced.difference(&least).count();
        },
    );
    assert_eq!(more > 0, branches, "{more}");
}

#[test]
fn slices_of_traces_with_decisions_are_sound() {
    check(3000, true);
}

#[test]
fn slices_of_traces_without_decisions_show_what_keeps_values() {
    check(2000, false);
}
