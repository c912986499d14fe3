//! Accesses to memory fall into parts, one for each aligned word.

/// How many bytes a word has: cells do not reach across words.
pub const WORD: u64 = 8;

/// A part of an access that lies within one word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Part {
    /// The address of the word.
    pub word: u64,
    /// The first byte in the word.
    pub first: u32,
    /// The byte after the last one, up to 8.
    pub end: u32,
    /// Where the part begins in the access.
    pub offset: u64,
}

impl Part {
    /// The bytes of the word, as bits.
    #[inline]
    pub fn mask(self) -> u8 {
        mask(self.first, self.end)
    }
}

/// The bytes from `first` up to, not including, `end`, as bits.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "a word has eight bytes")]
pub fn mask(first: u32, end: u32) -> u8 {
    (((1_u32 << end) - 1) & !((1_u32 << first) - 1)) as u8
}

/// The parts of an access.
#[inline]
pub fn parts(addr: u64, length: u64) -> impl Iterator<Item = Part> {
    let mut offset = 0;
    std::iter::from_fn(move || {
        if offset >= length {
            return None;
        }
        let at = addr.wrapping_add(offset);
        let first = at % WORD;
        let taken = (WORD - first).min(length - offset);
        let part = Part { word: at - first, first: small(first), end: small(first + taken), offset };
        offset += taken;
        Some(part)
    })
}

#[expect(clippy::cast_possible_truncation, reason = "a position in a word is at most 8")]
fn small(position: u64) -> u32 {
    position as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_fall_into_words() {
        let found: Vec<_> = parts(0x1006, 11).collect();
        let expected = [(0x1000, 6, 8, 0), (0x1008, 0, 8, 2), (0x1010, 0, 1, 10)];
        let expected = expected.map(|(word, first, end, offset)| Part { word, first, end, offset });
        assert_eq!(found, expected);
        assert_eq!(found[0].mask(), 0b1100_0000);
        assert_eq!(found[1].mask(), 0xFF);
        assert_eq!(parts(5, 0).count(), 0);
    }
}
