//! Where in the program an access was made, and how.

use foretell_wire::races::RacingAccessKind;

use crate::calls::Context;

/// What is remembered of an access beside its epoch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct AccessSite {
    /// Where in the code.
    pub(crate) site: u64,
    /// In which calls.
    pub(crate) context: Context,
    /// How many bytes it touched; more than can be counted here are the most that can.
    pub(crate) bytes: u16,
    pub(crate) kind: RacingAccessKind,
}

impl Default for AccessSite {
    fn default() -> AccessSite {
        AccessSite { site: 0, context: Context::default(), bytes: 0, kind: RacingAccessKind::Read }
    }
}
