//! The ideal of one pair, and the schedule that it gives.
//!
//! Written for clearness, and apart from the streaming detector so that each can be tested against the other: it looks
//! at one pair at a time, keeps nothing between pairs, and compares each acquire with those of all threads.

use foretell_trace::{Access, EventId, LockId, LockMode, ThreadId, Trace};
use rustc_hash::FxHashMap;

use crate::clock::{Clock, Clocks, Time};
use crate::must::MustOrder;
use crate::report::Pair;
use crate::table::at;

/// An index over a whole trace from which the ideal and the schedule of any pair are computed, at a cost that depends
/// on the size of the ideal only.
#[derive(Debug)]
pub struct SyncPreserving<'a> {
    trace: &'a Trace,
    threads: Vec<ThreadSteps>,
    /// The position of each event among those of its thread.
    positions: Vec<usize>,
    /// Clocks that steps refer to: what an event needs by thread order, "reads from" and must-order alone.
    clocks: Vec<Clock>,
}

#[derive(Debug, Default)]
struct ThreadSteps {
    steps: Vec<ThreadEvent>,
    sections: Vec<Section>,
}

#[derive(Clone, Copy, Debug)]
struct ThreadEvent {
    id: EventId,
    /// Its local time, greater than that of the step before.
    time: Time,
    /// The position of the clock before it; its own entry there is of no use.
    clock: usize,
}

#[derive(Clone, Copy, Debug)]
struct Section {
    thread: ThreadId,
    lock: LockId,
    mode: LockMode,
    acquire: EventId,
    /// The position of the acquire in its thread.
    begin: usize,
    /// The position of the release in its thread, unless the trace ends before.
    end: Option<usize>,
}

impl Section {
    fn excludes(&self, other: &Section) -> bool {
        self.thread != other.thread && self.mode.excludes(other.mode)
    }
}

impl<'a> SyncPreserving<'a> {
    /// Indexes a trace.
    pub fn new(trace: &'a Trace) -> SyncPreserving<'a> {
        let mut indexer = Indexer::default();
        for (id, _) in trace.iter() {
            indexer.add(trace, id);
        }
        let Indexer { threads, positions, stored, .. } = indexer;
        SyncPreserving { trace, threads, positions, clocks: stored }
    }

    /// A schedule that ends with the two events, if they are a sync-preserving race: the trace restricted to the ideal
    /// of the pair, then the pair.
    pub fn witness(&self, pair: Pair) -> Option<Vec<EventId>> {
        let prefixes = self.ideal(pair)?;
        let mut schedule: Vec<EventId> = prefixes
            .iter()
            .zip(&self.threads)
            .flat_map(|(&length, thread)| thread.steps[..length].iter().map(|step| step.id))
            .collect();
        // The stable sort merges the threads' runs, each of which is sorted already.
        schedule.sort();
        schedule.extend([pair.first, pair.second]);
        Some(schedule)
    }

    /// How many events of each thread are in the ideal of the pair, if it is a sync-preserving race.
    pub fn ideal(&self, pair: Pair) -> Option<Vec<usize>> {
        let [first, second] = [self.accessed(pair.first)?, self.accessed(pair.second)?];
        if first.0 == second.0 || !first.1.conflicts_with(second.1) {
            return None;
        }
        let mut growing = Growing::new(self);
        growing.add_before(first.0, self.positions[pair.first.index()]);
        growing.add_before(second.0, self.positions[pair.second.index()]);
        growing.close();
        let apart = [(first.0, pair.first), (second.0, pair.second)]
            .iter()
            .all(|&(thread, event)| growing.lengths[thread.index()] <= self.positions[event.index()]);
        apart.then_some(growing.lengths)
    }

    fn accessed(&self, id: EventId) -> Option<(ThreadId, Access)> {
        let event = self.trace.events().get(id.index())?;
        Some((event.thread, event.op.access()?))
    }
}

/// An ideal that is being computed.
struct Growing<'a> {
    index: &'a SyncPreserving<'a>,
    /// How many events of each thread are in it.
    lengths: Vec<usize>,
    /// How many sections of each thread have been compared with others.
    compared: Vec<usize>,
    /// The sections in it that have been compared: of each thread and mode the last one, as those before have ended.
    sections: FxHashMap<LockId, Vec<Section>>,
}

impl<'a> Growing<'a> {
    fn new(index: &'a SyncPreserving<'a>) -> Growing<'a> {
        let threads = index.threads.len();
        Growing {
            index,
            lengths: vec![0; threads],
            compared: vec![0; threads],
            sections: FxHashMap::default(),
        }
    }

    /// Adds what comes before the event at `position` of its thread.
    fn add_before(&mut self, thread: ThreadId, position: usize) {
        let step = self.index.threads[thread.index()].steps[position];
        for (other, time) in self.index.clocks[step.clock].iter() {
            if other != thread
                && let Some(known) = self.index.threads.get(other.index())
            {
                let length = known.steps.partition_point(|step| step.time <= time);
                let reached = &mut self.lengths[other.index()];
                *reached = (*reached).max(length);
            }
        }
        let reached = &mut self.lengths[thread.index()];
        *reached = (*reached).max(position);
    }

    fn add(&mut self, thread: ThreadId, position: usize) {
        self.add_before(thread, position);
        let reached = &mut self.lengths[thread.index()];
        *reached = (*reached).max(position + 1);
    }

    /// Compares sections until no new one has come in.
    fn close(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            for thread in 0..self.lengths.len() {
                let sections = &self.index.threads[thread].sections;
                while let Some(&section) = sections.get(self.compared[thread])
                    && section.begin < self.lengths[thread]
                {
                    self.compared[thread] += 1;
                    self.compare(section);
                    changed = true;
                }
            }
        }
    }

    /// Adds the end of `section`, or of others of its lock that come before it.
    fn compare(&mut self, section: Section) {
        let others = self.sections.entry(section.lock).or_default();
        let mut missing = Vec::new();
        for other in others.iter().filter(|other| other.excludes(&section)) {
            let earlier = if other.acquire < section.acquire { other } else { &section };
            // Most ends are there already: what a section of the same thread that comes later brought in.
            missing.extend(
                earlier
                    .end
                    .filter(|&end| end >= self.lengths[earlier.thread.index()])
                    .map(|end| (earlier.thread, end)),
            );
        }
        match others.iter_mut().find(|other| (other.thread, other.mode) == (section.thread, section.mode)) {
            Some(last) => *last = section,
            None => others.push(section),
        }
        for (thread, position) in missing {
            self.add(thread, position);
        }
    }
}

/// Goes through a trace once to index it.
#[derive(Default)]
struct Indexer {
    clocks: Clocks,
    must: MustOrder,
    /// The last write of each variable: its thread, its time and the position of its clock.
    writes: Vec<Option<(ThreadId, Time, usize)>>,
    threads: Vec<ThreadSteps>,
    positions: Vec<usize>,
    stored: Vec<Clock>,
    /// The position of each thread's clock in `stored`.
    current: Vec<Option<usize>>,
}

impl Indexer {
    fn add(&mut self, trace: &Trace, id: EventId) {
        let event = trace.event(id);
        let thread = event.thread;
        self.clocks.of(thread);
        self.must.enter(&event, &mut self.clocks);
        let time = self.clocks.of(thread).get(thread);
        let clock = self.store(thread);
        let steps = &mut at(&mut self.threads, thread.index()).steps;
        let position = steps.len();
        steps.push(ThreadEvent { id, time, clock });
        self.positions.push(position);
        if let Some(access) = event.op.access() {
            self.access(thread, access);
        }
        self.section(thread, id, event.op, position);
        self.must.leave(&event, &mut self.clocks);
        self.clocks.advance(thread);
    }

    fn access(&mut self, thread: ThreadId, access: Access) {
        let write = at(&mut self.writes, access.var.index());
        if access.kind.reads()
            && let Some((writer, time, clock)) = *write
        {
            let reader = self.clocks.of(thread);
            reader.join(&self.stored[clock]);
            reader.raise(writer, time);
        }
        if access.kind.writes() {
            let time = self.clocks.of(thread).get(thread);
            let clock = self.store(thread);
            self.writes[access.var.index()] = Some((thread, time, clock));
        }
    }

    fn section(&mut self, thread: ThreadId, acquire: EventId, op: foretell_trace::Op, position: usize) {
        let sections = &mut self.threads[thread.index()].sections;
        if let Some((lock, mode)) = op.section_begin() {
            sections.push(Section { thread, lock, mode, acquire, begin: position, end: None });
        } else if let Some(ended) = op.section_end() {
            let open =
                |section: &&mut Section| section.end.is_none() && (section.lock, section.mode) == ended;
            if let Some(section) = sections.iter_mut().rev().find(open) {
                section.end = Some(position);
            }
        }
    }

    /// The position of a stored copy of the thread's clock; its own entry there may be an earlier time.
    fn store(&mut self, thread: ThreadId) -> usize {
        let clock = self.clocks.seen(thread);
        let current = at(&mut self.current, thread.index());
        if let Some(position) = *current
            && self.stored[position].is_same_but_for(clock, thread)
        {
            return position;
        }
        self.stored.push(clock.clone());
        *current.insert(self.stored.len() - 1)
    }
}
