//! The meaning of records, and the memory that they access.

use foretell_wire::log::module::Module;
use foretell_wire::record::Record;

/// The next record.
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

/// The site of a record; 0 if it has none.
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
