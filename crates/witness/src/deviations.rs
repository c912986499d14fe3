//! The deviating reads of a replay and what depends on them, where the trace has dependence information
//! ([`crate::Model::Necessary`]).

use std::collections::{BTreeSet, HashMap};

use foretell_trace::dependence::{Dependence, Part, Reads};
use foretell_trace::{EventId, ThreadId};

/// The reads that have deviated so far.
#[derive(Clone, Debug)]
pub(crate) struct DeviatingReads<'t> {
    dependence: &'t Dependence,
    /// All of them. Only grows.
    reads: BTreeSet<EventId>,
    /// For each thread, the first event that one of its deviating reads steers, and that read.
    halts: Vec<Option<(EventId, EventId)>>,
    /// The sets of two that were looked at: whether a deviating read is in them. A set is looked at when all its reads
    /// have run, so this does not change.
    looked_at: HashMap<usize, bool>,
}

impl<'t> DeviatingReads<'t> {
    /// None of the reads of so many threads has deviated.
    pub(crate) fn new(dependence: &'t Dependence, threads: usize) -> DeviatingReads<'t> {
        DeviatingReads {
            dependence,
            reads: BTreeSet::new(),
            halts: vec![None; threads],
            looked_at: HashMap::new(),
        }
    }

    /// All of them, in the order of the trace.
    pub(crate) fn reads(&self) -> impl Iterator<Item = EventId> {
        self.reads.iter().copied()
    }

    /// The read sees something else than observed.
    pub(crate) fn add(&mut self, read: EventId, thread: ThreadId) {
        self.reads.insert(read);
        if let Some(steered) = self.dependence.steered_by(read) {
            let halt = &mut self.halts[thread.index()];
            *halt = Some(halt.map_or((steered, read), |halt| halt.min((steered, read))));
        }
    }

    /// The deviating read because of which the event of this thread need not take place.
    pub(crate) fn that_steers(&self, event: EventId, thread: ThreadId) -> Option<EventId> {
        self.halts[thread.index()].filter(|&(steered, _)| steered <= event).map(|(_, read)| read)
    }

    /// Whether the read takes place only if it sees what it saw.
    pub(crate) fn steers_itself(&self, read: EventId) -> bool {
        self.dependence.steered_by(read) == Some(read)
    }

    /// Whether what the event, which has read what it reads, writes depends on a deviating read. Its thread has
    /// deviated.
    pub(crate) fn change_value_of(&mut self, write: EventId) -> bool {
        let value = self.dependence.value_of(write);
        // Values can travel far, so the way back is not for recursion.
        let mut open = vec![value];
        while let Some(&set) = open.last() {
            let Part::Both(index, first, second) = self.dependence.part(set) else {
                open.pop();
                continue;
            };
            match [self.hold_deviating_read(first), self.hold_deviating_read(second)] {
                [Some(one), Some(other)] => {
                    self.looked_at.insert(index, one || other);
                    open.pop();
                }
                [None, _] => open.push(first),
                [_, None] => open.push(second),
            }
        }
        self.hold_deviating_read(value).unwrap_or(true)
    }

    /// Whether a deviating read is in the set, if that is known.
    fn hold_deviating_read(&self, set: Reads) -> Option<bool> {
        match self.dependence.part(set) {
            Part::Nothing => Some(false),
            Part::Everything => Some(true),
            Part::Read(read) => Some(self.reads.contains(&read)),
            Part::Both(index, ..) => self.looked_at.get(&index).copied(),
        }
    }
}
