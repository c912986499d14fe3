//! The critical sections of a trace, and the clocks at which things happened.

use foretell_trace::{LockId, LockMode, ThreadId};

use crate::clock::{Clock, Time};
use crate::table::at;

/// A position in a table that holds at most one entry for each event of the trace. Events are counted in 32 bits, so
/// these positions fit as well.
pub(super) type Index = u32;

/// The next position of a table of this length.
pub(super) fn next_index(length: usize) -> Index {
    Index::try_from(length).unwrap_or(Index::MAX)
}

/// Stored clocks, shared by all events of a thread between two points where it learned of others.
///
/// A thread's own entry in them is 0, since it differs from event to event: a reference to a version keeps the
/// event's own time beside it. Only ever grows.
#[derive(Debug, Default)]
pub(super) struct Versions(Vec<Clock>);

impl Versions {
    /// Keeps a copy of the clock of `thread`.
    pub(super) fn keep(&mut self, thread: ThreadId, clock: &Clock) -> Index {
        let index = next_index(self.0.len());
        let mut version = clock.clone();
        version.set(thread, 0);
        self.0.push(version);
        index
    }

    pub(super) fn get(&self, index: Index) -> &Clock {
        &self.0[index as usize]
    }
}

/// An event of a thread and what it knows: everything that every schedule which runs the event runs before it, if that
/// schedule preserves the order of synchronisation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) thread: ThreadId,
    /// Its own local time.
    pub(super) time: Time,
    /// What it knows of other threads.
    pub(super) version: Index,
}

impl Moment {
    /// Raises `clock` so that it contains this event and what it knows; nothing to do if it does already, for clocks
    /// that contain an event contain what it knows.
    pub(super) fn raise(self, clock: &mut Clock, versions: &Versions) {
        if clock.get(self.thread) < self.time {
            clock.raise(self.thread, self.time);
            clock.join(versions.get(self.version));
        }
    }
}

/// A stretch in which a thread holds a lock.
#[derive(Clone, Copy, Debug)]
pub(super) struct CriticalSection {
    pub(super) thread: ThreadId,
    pub(super) lock: LockId,
    pub(super) mode: LockMode,
    /// Local time of the acquire.
    pub(super) begin: Time,
    /// The release, once it was seen.
    pub(super) end: Option<Moment>,
}

/// All sections so far. Their positions are in the order of their acquires in the trace.
#[derive(Debug, Default)]
pub(super) struct Sections {
    all: Vec<CriticalSection>,
    /// The sections of each thread, in its order.
    of_thread: Vec<Vec<Index>>,
}

impl Sections {
    /// A section begins.
    pub(super) fn begin(&mut self, thread: ThreadId, lock: LockId, mode: LockMode, time: Time) -> Index {
        let index = next_index(self.all.len());
        self.all.push(CriticalSection { thread, lock, mode, begin: time, end: None });
        at(&mut self.of_thread, thread.index()).push(index);
        index
    }

    /// The section ends with the release `end`.
    pub(super) fn end(&mut self, section: Index, end: Moment) {
        self.all[section as usize].end = Some(end);
    }

    pub(super) fn get(&self, section: Index) -> &CriticalSection {
        &self.all[section as usize]
    }

    /// The section that is number `position` of the thread's, if it begins by local time `until`.
    pub(super) fn nth_until(&self, thread: usize, position: Index, until: Time) -> Option<Index> {
        let section = *self.of_thread.get(thread)?.get(position as usize)?;
        (self.get(section).begin <= until).then_some(section)
    }
}
