//! A small seeded generator of random numbers: the same seed gives the same trace on every machine.

/// SplitMix64 (Steele, Lea and Flood 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The generator with this seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
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
