//! Where in the program an access was made, and how.

use foretell_wire::races::RacingAccessKind;

use crate::calls::Context;

const KINDS: [RacingAccessKind; 6] = [
    RacingAccessKind::Read,
    RacingAccessKind::Write,
    RacingAccessKind::AtomicLoad,
    RacingAccessKind::AtomicStore,
    RacingAccessKind::Update,
    RacingAccessKind::Free,
];

/// What is remembered of an access beside its epoch. Two numbers, which stay in registers: it is made for every access
/// and kept for few.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct AccessSite {
    /// Where in the code.
    pub(crate) site: u64,
    /// In which calls, how many bytes it touched, and how: 32, 16 and 8 bits, the lowest first.
    about: u64,
}

impl AccessSite {
    /// An access to so many bytes; more than can be counted here are the most that can.
    #[inline(always)]
    pub(crate) fn new(site: u64, context: Context, bytes: u16, kind: RacingAccessKind) -> AccessSite {
        let about = u64::from(context.number()) | u64::from(bytes) << 32 | u64::from(kind as u8) << 48;
        AccessSite { site, about }
    }

    /// The same place, touched in this way.
    pub(crate) fn as_kind(self, kind: RacingAccessKind) -> AccessSite {
        AccessSite::new(self.site, self.context(), self.bytes(), kind)
    }

    /// In which calls.
    #[expect(clippy::cast_possible_truncation, reason = "the lowest bits are what is wanted")]
    pub(crate) fn context(&self) -> Context {
        Context::of(self.about as u32)
    }

    /// How many bytes it touched.
    #[expect(clippy::cast_possible_truncation, reason = "the lowest bits are what is wanted")]
    pub(crate) fn bytes(&self) -> u16 {
        (self.about >> 32) as u16
    }

    /// How it touched them.
    #[expect(clippy::cast_possible_truncation, reason = "there is nothing above")]
    pub(crate) fn kind(&self) -> RacingAccessKind {
        let is_it = |kind: &RacingAccessKind| *kind as u8 == (self.about >> 48) as u8;
        KINDS.into_iter().find(is_it).unwrap_or(RacingAccessKind::Read)
    }
}
