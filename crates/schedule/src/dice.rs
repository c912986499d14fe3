//! A small generator of random numbers, the same on every machine: SplitMix64 (Steele, Lea and Flood 2014).

/// See the module.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The same seed, the same numbers.
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    /// Any number.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 if the bound is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        // The bias is far below anything that shows.
        self.bits().checked_rem(bound).unwrap_or(0)
    }

    /// One of these, each as likely as the others.
    pub fn one_of<T: Copy>(&mut self, among: &[T]) -> Option<T> {
        let index = usize::try_from(self.below(among.len() as u64)).unwrap_or(0);
        among.get(index).copied()
    }
}
