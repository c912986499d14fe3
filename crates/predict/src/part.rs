//! A part of a longer trace, as a trace of its own.

/// What of a trace is a part of a longer one. Its first events only bring about the state in which the part begins, and
/// stay where they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// How many events bring about the state in which the part begins.
    pub border: u32,
    /// The index from which on second events of pairs are of interest: the others are those of another part.
    pub owned: u32,
    /// Whether the longer trace goes on after the part.
    pub continues: bool,
}
