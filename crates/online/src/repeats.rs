//! Accesses that the thread whose turn it is has just made, so that the same ones are passed over at a glance.
//!
//! Most accesses repeat another one: the same thread has done the same to the same bytes, and neither has it synchronised since nor did
//! anybody else do anything. What is remembered of their memory tells that as well, see [`crate::shadow`], but further away.

/// So many accesses are kept; those whose addresses have the same remainder share a place.
const KEPT: usize = 1 << 10;
/// Accesses are told apart by addresses in steps of this.
const GRAIN: u64 = 4;
/// An access is one number: its address in so many bits,
const ADDRESS: u32 = 48;
/// then how many bytes it has, in four bits,
const SIZE: u32 = ADDRESS;
/// whether it writes,
const WRITES: u32 = SIZE + 4;
/// and in which stretch it was made: between two of these the thread may have synchronised, or another one has its turn.
const STRETCH: u32 = WRITES + 1;

/// The accesses of the present stretch.
pub(crate) struct Repeats {
    kept: Box<[u64; KEPT]>,
    /// The number of the stretch, where it stands in an access. Never 0, for that is what empty places have.
    stretch: u64,
}

impl Default for Repeats {
    fn default() -> Repeats {
        Repeats { kept: Box::new([0; KEPT]), stretch: 1 << STRETCH }
    }
}

impl std::fmt::Debug for Repeats {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "stretch {}", self.stretch >> STRETCH)
    }
}

impl Repeats {
    /// Nothing is repeated from now on that was done before.
    pub(crate) fn forget(&mut self) {
        self.stretch = self.stretch.wrapping_add(1 << STRETCH);
        if self.stretch == 0 {
            self.kept.fill(0);
            self.stretch = 1 << STRETCH;
        }
    }

    /// Whether the access is nothing new. To read what one has just written is nothing new either. Without a branch: whether the next access
    /// writes is what the processor cannot guess.
    #[inline(always)]
    pub(crate) fn contain(&self, addr: u64, size: u8, writes: bool) -> bool {
        let access = self.access(addr, size, writes);
        let kept = self.kept[place_of(addr)];
        (kept & (access | !(1 << WRITES)) == access) & (addr >> ADDRESS == 0)
    }

    /// The access was made in the present stretch.
    #[inline(always)]
    pub(crate) fn add(&mut self, addr: u64, size: u8, writes: bool) {
        if addr >> ADDRESS == 0 {
            self.kept[place_of(addr)] = self.access(addr, size, writes);
        }
    }

    #[inline(always)]
    fn access(&self, addr: u64, size: u8, writes: bool) -> u64 {
        self.stretch | u64::from(writes) << WRITES | u64::from(size) << SIZE | addr
    }
}

#[inline(always)]
fn place_of(addr: u64) -> usize {
    (addr / GRAIN) as usize % KEPT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_is_repeated() {
        let mut repeats = Repeats::default();
        assert!(!repeats.contain(0, 1, false), "nothing was done yet");
        repeats.add(0x1000, 4, true);
        assert!(repeats.contain(0x1000, 4, true) && repeats.contain(0x1000, 4, false));
        for (addr, size) in [(0x1000, 2), (0x1000, 8), (0x1001, 4), (0x1000 + GRAIN * KEPT as u64, 4)] {
            assert!(!repeats.contain(addr, size, false), "{addr:#x} {size}");
        }
        repeats.add(0x2004, 8, false);
        assert!(repeats.contain(0x2004, 8, false) && !repeats.contain(0x2004, 8, true));
    }

    #[test]
    fn addresses_that_do_not_fit_are_always_new() {
        let mut repeats = Repeats::default();
        repeats.add(0x1000, 4, true);
        repeats.add(0x1000 | 1 << ADDRESS, 4, true);
        assert!(!repeats.contain(0x1000 | 1 << ADDRESS, 4, true));
        assert!(!repeats.contain(0x1000 | 1 << SIZE, 4, false));
    }

    #[test]
    fn nothing_outlives_its_stretch_however_many_there_are() {
        let mut repeats = Repeats::default();
        for _ in 0..3 << (u64::BITS - STRETCH) {
            assert!(!repeats.contain(0x1000, 4, false));
            repeats.add(0x1000, 4, true);
            assert!(repeats.contain(0x1000, 4, true));
            repeats.forget();
        }
    }
}
