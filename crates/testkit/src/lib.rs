//! Traces and programs made to measure, for tests and benchmarks. Never shipped.
//!
//! * [`adversarial`]: long traces that drive up one quantity each: same-value writers, sections, threads
//! * [`brute`]: all races of tiny traces, found in the plainest way
//! * [`busy`]: windows of a busy program with values and branches, for exact prediction
//! * [`certificates`]: certificates with something changed in them
//! * [`computed`]: a judge of how values are said to be computed
//! * [`corpus`]: small traces with known answers, kept as data
//! * [`depending`]: traces of which it is made up which reads matter to what
//! * [`locked`]: long traces of threads that mostly keep to their locks, for benchmarks
//! * [`java`]: what records programs in Java
//! * [`native`]: programs in C and C++ with known races
//! * [`tiny`]: random well-formed traces of a few events, for comparison with exhaustive search
//! * [`spinning`]: tiny traces of threads that synchronise by atomics alone
//! * [`script`]: a trace that is written down event by event
//! * [`program`]: random programs of the small language CIMP, and how to make them smaller
//! * [`watched`]: processes, and how much they take of what there is
//! * [`random`]: the seeded generator behind all of them

pub mod adversarial;
pub mod brute;
pub mod busy;
pub mod certificates;
pub mod computed;
pub mod corpus;
pub mod depending;
pub mod families;
pub mod java;
pub mod locked;
pub mod native;
pub mod process;
pub mod program;
pub mod random;
pub mod script;
pub mod spinning;
pub mod tiny;
pub mod watched;

use foretell_trace::Trace;
use foretell_trace::format::text::TextReader;

/// The trace that `text` spells in the text format.
///
/// # Panics
/// If the text is no well-formed trace.
pub fn trace(text: &str) -> Trace {
    let input = std::io::Cursor::new(text.to_string());
    Trace::read(Box::new(TextReader::new(Box::new(input)))).unwrap_or_else(|error| panic!("{error}\n{text}"))
}
