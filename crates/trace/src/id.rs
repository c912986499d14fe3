//! Narrow identifiers. Each fails at construction instead of wrapping around.

use std::fmt;
use std::num::NonZeroU32;

/// The position of an event in its trace, counted from 1 in the order of the input.
///
/// A trace holds at most 2^32 - 1 events; [`EventId::from_index`] refuses more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(NonZeroU32);

impl EventId {
    /// The first event of every trace.
    pub const FIRST: EventId = EventId(NonZeroU32::MIN);

    /// The id of the event at `index`, counted from 0, if it can be counted at all.
    #[inline]
    pub fn from_index(index: usize) -> Option<EventId> {
        u32::try_from(index).ok()?.checked_add(1).and_then(EventId::from_number)
    }

    /// The id of the event with this number, counted from 1.
    #[inline]
    pub fn from_number(number: u32) -> Option<EventId> {
        NonZeroU32::new(number).map(EventId)
    }

    /// The position counted from 0, as slices want it.
    #[inline]
    pub fn index(self) -> usize {
        self.0.get() as usize - 1
    }

    /// The position counted from 1, as people and reports want it.
    #[inline]
    pub fn number(self) -> u32 {
        self.0.get()
    }

    /// The event after this one, unless the trace would grow past what can be counted.
    #[inline]
    pub fn next(self) -> Option<EventId> {
        self.0.checked_add(1).map(EventId)
    }
}

impl fmt::Debug for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "e{}", self.0)
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An index into one of the name tables of a trace.
pub trait Id: Copy + Eq {
    /// The id at `index`, or `None` where the table would be too large.
    fn from_index(index: usize) -> Option<Self>;
    /// The position in its table.
    fn index(self) -> usize;
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(u32);

        impl $name {
            /// The id at `index`, or `None` where the table would be too large.
            #[inline]
            pub fn from_index(index: usize) -> Option<Self> {
                u32::try_from(index).ok().map(Self)
            }

            /// The position in the table that this id belongs to.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl Id for $name {
            #[inline]
            fn from_index(index: usize) -> Option<Self> {
                Self::from_index(index)
            }

            #[inline]
            fn index(self) -> usize {
                self.index()
            }
        }
    )*};
}

ids! {
    /// A thread. Ids are given in the order in which threads are first named.
    ThreadId;
    /// A memory location in one of its generations: memory that is allocated anew is another variable.
    VarId;
    /// A mutex or a read-write lock.
    LockId;
    /// A counting semaphore.
    SemId;
    /// A condition variable, or the wait set of a monitor.
    CondId;
    /// A barrier that threads cross together, generation by generation.
    BarrierId;
    /// A method, function or other label that does not take part in synchronisation.
    LabelId;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_ids_count_from_one_and_end_at_the_32_bit_limit() {
        assert_eq!(EventId::from_index(0), Some(EventId::FIRST));
        assert_eq!(EventId::from_index(4).unwrap().number(), 5);
        assert_eq!(EventId::from_number(5).unwrap().index(), 4);
        let last = EventId::from_index(u32::MAX as usize - 1).unwrap();
        assert_eq!(last.next(), None);
        assert_eq!(EventId::from_index(u32::MAX as usize), None);
        assert_eq!(ThreadId::from_index(u32::MAX as usize + 1), None);
    }
}
