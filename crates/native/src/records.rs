//! What the log tells, and which memory that touches.

use foretell_wire::log::module::Module;
use foretell_wire::record::Record;

/// What the log tells next.
pub(crate) enum Entry<'a> {
    /// A module was loaded.
    Module(Module<'a>),
    /// A thread did something.
    Record(u32, Record<'a>),
}

/// Memory that a record touches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Touch {
    pub(crate) addr: u64,
    pub(crate) length: u64,
    pub(crate) writes: bool,
    pub(crate) atomic: bool,
}

/// What a record touches, in order.
pub(crate) fn touches(record: &Record<'_>) -> [Option<Touch>; 2] {
    let one = |addr, length, writes, atomic| [Some(Touch { addr, length, writes, atomic }), None];
    match *record {
        Record::Read { addr, size, .. } => one(addr, size.into(), false, false),
        Record::Write { addr, size, .. } => one(addr, size.into(), true, false),
        Record::AtomicLoad { addr, size, .. } => one(addr, size.into(), false, true),
        Record::AtomicStore { addr, size, .. } | Record::Rmw { addr, size, .. } => {
            one(addr, size.into(), true, true)
        }
        Record::ReadRange { addr, bytes, .. } | Record::Scan { addr, bytes, .. } => {
            one(addr, bytes.len() as u64, false, false)
        }
        Record::WriteRange { addr, bytes, .. } => one(addr, bytes.len() as u64, true, false),
        Record::Fill { addr, length, .. } => one(addr, length, true, false),
        Record::Copy { to, from, bytes, .. } => {
            let touch = |addr, writes| Touch { addr, length: bytes.len() as u64, writes, atomic: false };
            [Some(touch(from, false)), Some(touch(to, true))]
        }
        Record::Clock(_)
        | Record::Ahead(_)
        | Record::Fence { .. }
        | Record::Branch { .. }
        | Record::Opaque { .. }
        | Record::Enter { .. }
        | Record::Exit { .. }
        | Record::Sync { .. } => [None, None],
    }
}

/// The site that a record tells; 0 if it tells none.
pub(crate) fn site_of(record: &Record<'_>) -> u64 {
    match *record {
        Record::Read { site, .. }
        | Record::Write { site, .. }
        | Record::AtomicLoad { site, .. }
        | Record::AtomicStore { site, .. }
        | Record::Rmw { site, .. }
        | Record::ReadRange { site, .. }
        | Record::Scan { site, .. }
        | Record::WriteRange { site, .. }
        | Record::Copy { site, .. }
        | Record::Fill { site, .. }
        | Record::Branch { site, .. }
        | Record::Opaque { site }
        | Record::Enter { site }
        | Record::Sync { site, .. } => site,
        Record::Clock(_) | Record::Ahead(_) | Record::Fence { .. } | Record::Exit { .. } => 0,
    }
}

/// How many bytes a word has: cells do not reach across words.
pub(crate) const WORD: u64 = 8;

/// A part of an access that lies within one word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Part {
    /// The address of the word.
    pub(crate) word: u64,
    /// The first byte in the word.
    pub(crate) first: u32,
    /// The byte after the last one, up to 8.
    pub(crate) end: u32,
    /// Where the part begins in the access.
    pub(crate) offset: u64,
}

impl Part {
    /// The bytes of the word, as bits.
    pub(crate) fn mask(self) -> u8 {
        mask(self.first, self.end)
    }
}

/// The bytes from `first` up to, not including, `end`, as bits.
#[expect(clippy::cast_possible_truncation, reason = "a word has eight bytes")]
pub(crate) fn mask(first: u32, end: u32) -> u8 {
    (((1_u32 << end) - 1) & !((1_u32 << first) - 1)) as u8
}

/// The parts of an access.
pub(crate) fn parts(addr: u64, length: u64) -> impl Iterator<Item = Part> {
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
