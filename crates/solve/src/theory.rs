//! The seam between the search and what it knows nothing about.

use crate::literal::{Lit, Var};

/// Judges sets of literals that the search makes true one after the other, and takes back in reverse.
pub(crate) trait Theory {
    /// The literal became true, as number `place` of all that are. What follows from it is added to `implied`; literals
    /// among these may be assigned already. If it contradicts earlier ones, the answer is false, and literals that
    /// cannot all be true, this one included, are added to `conflict`.
    fn assign(&mut self, literal: Lit, place: u32, implied: &mut Vec<Lit>, conflict: &mut Vec<Lit>) -> bool;

    /// A new level begins.
    fn push_level(&mut self);

    /// Takes back all levels above `level`. What this shows to follow is added to `implied`.
    fn pop_levels(&mut self, level: usize, implied: &mut Vec<Lit>);

    /// Adds literals to `reason` that were true before place `place` and from which the literal follows.
    fn explain(&mut self, literal: Lit, place: u32, reason: &mut Vec<Lit>);

    /// What the true literals say about a variable that is about to be decided.
    fn forced(&mut self, var: Var) -> Option<Lit>;
}
