//! Sets of small numbers.

/// What some code may do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Effects {
    /// Shared variables by their numbers, then fields by theirs.
    pub(crate) writes: Bits,
    /// It may synchronise, fail, or not come to an end.
    pub(crate) may_stop: bool,
}

impl Effects {
    /// Either this or that may be done.
    pub(crate) fn union(&mut self, other: &Effects) {
        self.may_stop |= other.may_stop;
        self.writes.union(&other.writes);
    }
}

/// A set of numbers below a bound.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    /// The empty set.
    pub(crate) fn new(bound: usize) -> Bits {
        Bits(vec![0; bound.div_ceil(64)])
    }

    pub(crate) fn insert(&mut self, number: usize) {
        self.0[number / 64] |= 1 << (number % 64);
    }

    pub(crate) fn union(&mut self, other: &Bits) {
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }

    /// All of them, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        let bits = |word: u64| (0..64).filter(move |bit| word >> bit & 1 == 1);
        self.0.iter().enumerate().flat_map(move |(at, &word)| bits(word).map(move |bit| at * 64 + bit))
    }
}
