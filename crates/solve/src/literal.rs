//! Variables and literals.

use std::ops::Not;

/// The number of a variable. Variable 0 is true in every problem.
pub(crate) type Var = u32;

/// A variable or its negation.
// Twice the number of the variable, plus one if negated: so literals index tables directly.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
pub struct Lit(u32);

impl Lit {
    /// What always holds.
    pub const TRUE: Lit = Lit(0);
    /// What never holds.
    pub const FALSE: Lit = Lit(1);

    /// The variable itself, or its negation if not `positive`.
    pub(crate) fn new(var: Var, positive: bool) -> Lit {
        Lit(var << 1 | u32::from(!positive))
    }

    pub(crate) fn var(self) -> Var {
        self.0 >> 1
    }

    pub(crate) fn is_positive(self) -> bool {
        self.0 & 1 == 0
    }

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

impl Not for Lit {
    type Output = Lit;

    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

/// A count or an index as it is stored. Problems that do not fit into memory are the only ones that would not fit here.
pub(crate) fn narrow(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
