//! One pair for each pair of locations: exactly those that some pair of events has.

mod orders;
#[path = "orders/random.rs"]
mod random;

use std::collections::BTreeSet;

use foretell_detect::cp::Cp;
use foretell_detect::dco::Dco;
use foretell_detect::lockset::LockSet;
use foretell_detect::wcp::Wcp;
use foretell_detect::{Detector, Pairs};
use foretell_trace::{Loc, Trace};
use orders::{pairs, parse};
use random::{Shape, random_trace};

/// The location pairs of the reports, sorted, with repetitions.
fn locations<D: Detector + Default>(trace: &Trace, wanted: Pairs) -> Vec<(Loc, Loc)> {
    let location = |number| trace.id(number).map(|id| trace.event(id).loc);
    let mut found: Vec<_> = pairs::<D>(trace, wanted)
        .into_iter()
        .filter_map(|(first, second)| Some((location(first)?, location(second)?)))
        .map(|(a, b)| (a.min(b), a.max(b)))
        .collect();
    found.sort_unstable();
    found
}

fn same_locations<D: Detector + Default>(count: usize) {
    for seed in 0..count {
        let shape = Shape { events: 20 + seed % 60, locations: Some(2 + seed % 7), rich: seed % 2 == 0 };
        let text = random_trace(seed, shape);
        let trace = parse(&text);
        let all: BTreeSet<_> = locations::<D>(&trace, Pairs::All).into_iter().collect();
        let one_each = locations::<D>(&trace, Pairs::ByLocation);
        assert!(one_each.iter().eq(&all), "seed {seed}: {one_each:?} {all:?}\n{text}");
    }
}

#[test]
fn lockset_by_location() {
    same_locations::<LockSet>(8000);
}

#[test]
fn wcp_by_location() {
    same_locations::<Wcp>(8000);
}

#[test]
fn cp_by_location() {
    same_locations::<Cp>(8000);
}

#[test]
fn dco_by_location() {
    same_locations::<Dco>(8000);
}

/// Enough locations that histories need an index, and enough repetitions that gaps are closed.
#[test]
fn long_histories_keep_every_location() {
    for seed in 0..40 {
        let text = random_trace(seed, Shape { events: 1500, locations: Some(40), rich: seed % 2 == 0 });
        let trace = parse(&text);
        let all: BTreeSet<_> = locations::<LockSet>(&trace, Pairs::All).into_iter().collect();
        assert!(locations::<LockSet>(&trace, Pairs::ByLocation).iter().eq(&all), "seed {seed}");
        let all: BTreeSet<_> = locations::<Wcp>(&trace, Pairs::All).into_iter().collect();
        assert!(locations::<Wcp>(&trace, Pairs::ByLocation).iter().eq(&all), "seed {seed}");
    }
}
