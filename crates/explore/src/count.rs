//! Counts that grow exponentially, and say so when they have outgrown their number.

use std::fmt;
use std::ops::{Add, AddAssign, Mul};

/// How many there are; or, past what 128 bits hold, that there are more.
///
/// Counts are only added up and multiplied, so one that is past the end stays there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct Count(u128);

impl Count {
    /// None.
    pub const ZERO: Count = Count(0);
    /// A single one.
    pub const ONE: Count = Count(1);
    /// More than can be counted.
    pub const TOO_MANY: Count = Count(u128::MAX);

    /// The number, if it is known.
    pub fn get(self) -> Option<u128> {
        if self == Count::TOO_MANY { None } else { Some(self.0) }
    }
}

impl From<u64> for Count {
    fn from(number: u64) -> Count {
        Count(u128::from(number))
    }
}

impl Add for Count {
    type Output = Count;

    fn add(self, other: Count) -> Count {
        Count(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Count) {
        *self = *self + other;
    }
}

impl Mul for Count {
    type Output = Count;

    fn mul(self, other: Count) -> Count {
        Count(self.0.saturating_mul(other.0))
    }
}

/// Runs, as far as they were counted.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Tally {
    /// All of them.
    pub(crate) runs: Count,
    /// Those that cannot be prolonged.
    pub(crate) ends: Count,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.runs += other.runs;
        self.ends += other.ends;
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.get() {
            Some(number) => f.pad(&number.to_string()),
            None => f.pad("> 3.4e38"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_past_the_end_stays_there() {
        let large = Count(u128::MAX - 1);
        assert_eq!(large.get(), Some(u128::MAX - 1));
        assert_eq!((large + Count::ONE).get(), None);
        assert_eq!((large + Count::from(7) + Count::ZERO).to_string(), "> 3.4e38");
        assert_eq!((large * Count::from(2)).get(), None);
        assert_eq!(format!("{:>3}", Count::from(7) * Count::from(2)), " 14");
    }
}
