//! How the tests of orders run a detector on a trace.

#![expect(unreachable_pub, reason = "shared by several test programs")]

use foretell_detect::{Detector, Pairs, Reports};
use foretell_trace::{EventId, Trace};

/// The pairs that a detector reports, by event number, sorted.
pub fn pairs<D: Detector + Default>(trace: &Trace, wanted: Pairs) -> Vec<(u32, u32)> {
    let mut reports = Reports::new(wanted);
    let mut detector = D::default();
    detector.batch(EventId::FIRST, trace.events(), &mut reports);
    detector.finish(&mut reports);
    let mut pairs: Vec<_> =
        reports.pairs().iter().map(|pair| (pair.first.number(), pair.second.number())).collect();
    pairs.sort_unstable();
    pairs
}
