//! A small seeded generator of random numbers: the same seed gives the same trace on every machine.

use foretell_schedule::Dice;

/// The generator of the scheduling strategies, with what generators of traces ask for.
#[derive(Clone, Debug)]
pub struct Random(Dice);

impl Random {
    /// The generator with this seed.
    pub fn new(seed: u64) -> Random {
        Random(Dice::new(seed))
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// A number below `bound`, which must not be 0.
    pub fn below(&mut self, bound: usize) -> usize {
        // The bias is far below anything that a test could see.
        usize::try_from(self.bits() % bound as u64).unwrap_or(0)
    }

    /// True once in `times` on average.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of the elements, which must not be empty.
    pub fn pick<'a, T>(&mut self, elements: &'a [T]) -> &'a T {
        &elements[self.below(elements.len())]
    }
}
