//! One pair for each pair of locations: exactly those that some pair of events has.

mod orders;

use std::collections::BTreeSet;

use foretell_detect::cp::Cp;
use foretell_detect::dco::Dco;
use foretell_detect::lockset::LockSet;
use foretell_detect::wcp::Wcp;
use foretell_detect::{Detector, Pairs};
use foretell_testkit::tiny::{self, Features, Shape};
use foretell_trace::{Loc, Trace};
use orders::pairs;

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

/// Every other trace with all operations.
fn shape(seed: u64, events: usize, locations: usize) -> Shape {
    let features = if seed.is_multiple_of(2) { Features::ALL } else { Features::BASIC };
    Shape { vars: 4, locations: Some(locations), ..Shape::new(features, events) }
}

fn check<D: Detector + Default>(trace: &Trace) {
    let all: BTreeSet<_> = locations::<D>(trace, Pairs::All).into_iter().collect();
    let one_each = locations::<D>(trace, Pairs::ByLocation);
    assert!(one_each.iter().eq(&all), "{one_each:?} {all:?}");
}

fn same_locations<D: Detector + Default>(count: u64) {
    let short = |seed: u64| {
        let length = usize::try_from(seed % 60).unwrap_or(0);
        shape(seed, 20 + length, 2 + length % 7)
    };
    tiny::for_each(count, short, |_, trace| check::<D>(trace));
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
    tiny::for_each(
        40,
        |seed| shape(seed, 1500, 40),
        |_, trace| {
            check::<LockSet>(trace);
            check::<Wcp>(trace);
        },
    );
}
