//! What the tests of the detector share.

use std::io::Cursor;

use foretell_detect::syncp::SyncP;
use foretell_detect::{Detector, Pair, Pairs, Reports};
use foretell_trace::format::text::TextReader;
use foretell_trace::{EventId, Trace};

/// Parses and checks a trace in the text format.
pub(crate) fn trace(text: &str) -> Trace {
    let reader = TextReader::new(Box::new(Cursor::new(text.as_bytes().to_vec())));
    Trace::read(Box::new(reader)).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// What the detector reports, sorted.
pub(crate) fn detect(trace: &Trace, wanted: Pairs) -> Vec<Pair> {
    let mut reports = Reports::new(wanted);
    let mut detector = SyncP::default();
    detector.batch(EventId::FIRST, trace.events(), &mut reports);
    detector.finish(&mut reports);
    let mut pairs = reports.pairs().to_vec();
    pairs.sort_unstable();
    pairs
}
