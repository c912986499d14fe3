//! How often everything that a thread had read was taken to matter, and why.

use std::fmt;

/// Why it is not known what a thread has done with what it read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Why {
    /// An unmodelled operation: the recorder said so.
    Opaque,
    /// A function was called that is neither instrumented nor known, or memory was touched unseen.
    Unknown,
    /// No way leads from the last record of the thread to this one.
    NoWay,
    /// The record is of no place in the code, or of another function than the one that was called.
    Nowhere,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Why::Opaque => "an unmodelled operation",
            Why::Unknown => "a call of unknown code, or an external write",
            Why::NoWay => "no path leads here from the last record",
            Why::Nowhere => "the record is not where the thread should be",
        })
    }
}

/// Where a thread was when its effects were no longer known, and how often.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GivenUp {
    /// Why.
    pub why: Why,
    /// The instruction at which that was noticed, or nothing.
    pub place: String,
    /// How often.
    pub times: u32,
}
