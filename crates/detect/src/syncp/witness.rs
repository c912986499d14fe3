//! The ideal of one pair, and the schedule that it gives.
//!
//! Written apart from the streaming detector so that each can be tested against the other: it looks at one pair at a
//! time and keeps nothing between pairs. A section that has ended inside the set demands nothing, so only those are
//! looked at that a thread is in where its part of the set ends: of these, each that comes before another one of its
//! lock has to end.

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
    /// The sections of each lock, by thread and mode.
    locks: FxHashMap<LockId, Vec<SectionsOfThread>>,
}

/// The sections of one lock that one thread has in one mode, as positions of acquires in the thread, with the acquires.
#[derive(Debug)]
struct SectionsOfThread {
    thread: ThreadId,
    mode: LockMode,
    begins: Vec<(usize, EventId)>,
}

#[derive(Debug, Default)]
struct ThreadSteps {
    steps: Vec<ThreadEvent>,
    /// In the order of their acquires.
    sections: Vec<WitnessSection>,
    /// For each section, those that the thread is in after its acquire, itself among them: where they begin in `held`.
    held_from: Vec<usize>,
    /// Positions of sections.
    held: Vec<usize>,
    /// The sections that the thread is in.
    open: Vec<usize>,
}

impl ThreadSteps {
    /// The sections that the thread is in after so many of its events.
    fn open_after(&self, length: usize) -> impl Iterator<Item = &WitnessSection> {
        let begun = self.sections.partition_point(|section| section.begin < length);
        let held = begun.checked_sub(1).map_or(&[][..], |last| {
            let end = self.held_from.get(begun).copied().unwrap_or(self.held.len());
            &self.held[self.held_from[last]..end]
        });
        held.iter()
            .map(|&section| &self.sections[section])
            .filter(move |section| section.end.is_none_or(|end| end >= length))
    }

    fn begin(&mut self, section: WitnessSection) {
        self.open.push(self.sections.len());
        self.sections.push(section);
        self.held_from.push(self.held.len());
        self.held.extend_from_slice(&self.open);
    }

    /// The thread leaves the section of this lock and mode that it entered last.
    fn end(&mut self, lock: LockId, mode: LockMode, position: usize) {
        let is_ended =
            |&section: &usize| (self.sections[section].lock, self.sections[section].mode) == (lock, mode);
        if let Some(place) = self.open.iter().rposition(is_ended) {
            let section = self.open.remove(place);
            self.sections[section].end = Some(position);
        }
    }
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
struct WitnessSection {
    thread: ThreadId,
    lock: LockId,
    mode: LockMode,
    acquire: EventId,
    /// The position of the acquire in its thread.
    begin: usize,
    /// The position of the release in its thread, unless the trace ends before.
    end: Option<usize>,
}

impl<'a> SyncPreserving<'a> {
    /// Indexes a trace.
    pub fn new(trace: &'a Trace) -> SyncPreserving<'a> {
        let mut indexer = Indexer::default();
        for (id, _) in trace.iter() {
            indexer.add(trace, id);
        }
        let Indexer { threads, positions, stored, .. } = indexer;
        let locks = by_lock(&threads);
        SyncPreserving { trace, threads, positions, clocks: stored, locks }
    }

    /// A schedule that ends with the two events, if they are a sync-preserving race: the trace restricted to the ideal
    /// of the pair, then the pair.
    pub fn witness(&self, pair: Pair) -> Option<Vec<EventId>> {
        let prefixes = self.ideal(pair)?;
        let parts = || prefixes.iter().zip(&self.threads);
        // Up to the first event that is missing it is the trace itself.
        let missing =
            parts().filter_map(|(&length, thread)| thread.steps.get(length)).map(|step| step.id).min();
        let whole = missing.map_or(self.trace.events().len(), EventId::index);
        let mut schedule: Vec<EventId> = (0..whole).filter_map(EventId::from_index).collect();
        for (&length, thread) in parts() {
            let begin = thread.steps[..length].partition_point(|step| step.id.index() < whole);
            schedule.extend(thread.steps[begin..length].iter().map(|step| step.id));
        }
        // The stable sort merges the threads' runs, each of which is sorted already.
        schedule[whole..].sort();
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

/// The sections of each lock, by thread and mode.
fn by_lock(threads: &[ThreadSteps]) -> FxHashMap<LockId, Vec<SectionsOfThread>> {
    let mut locks: FxHashMap<LockId, Vec<SectionsOfThread>> = FxHashMap::default();
    for section in threads.iter().flat_map(|thread| &thread.sections) {
        let WitnessSection { thread, mode, begin, acquire, .. } = *section;
        let sections = locks.entry(section.lock).or_default();
        match sections.iter_mut().find(|of| (of.thread, of.mode) == (thread, mode)) {
            Some(of) => of.begins.push((begin, acquire)),
            None => sections.push(SectionsOfThread { thread, mode, begins: vec![(begin, acquire)] }),
        }
    }
    locks
}

/// An ideal that is being computed.
struct Growing<'a> {
    index: &'a SyncPreserving<'a>,
    /// How many events of each thread are in it.
    lengths: Vec<usize>,
}

impl<'a> Growing<'a> {
    fn new(index: &'a SyncPreserving<'a>) -> Growing<'a> {
        Growing { index, lengths: vec![0; index.threads.len()] }
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

    /// Lets sections end until none that is open comes before another one of its lock.
    fn close(&mut self) {
        let mut thread = 0;
        let mut closed = 0;
        while closed < self.lengths.len() {
            match self.must_end(thread) {
                Some((of, position)) => {
                    self.add(of, position);
                    closed = 0;
                }
                None => {
                    closed += 1;
                    thread = (thread + 1) % self.lengths.len();
                }
            }
        }
    }

    /// The end of a section that the thread is in and that another one of its lock comes after.
    fn must_end(&self, thread: usize) -> Option<(ThreadId, usize)> {
        let open = self.index.threads[thread].open_after(self.lengths[thread]);
        let mut ending = open.filter_map(|section| Some((section, section.end?)));
        ending.find(|(section, _)| self.has_a_later_one(section)).map(|(section, end)| (section.thread, end))
    }

    /// Whether the set has an acquire that comes after the section, and that the section excludes.
    fn has_a_later_one(&self, section: &WitnessSection) -> bool {
        let sections = self.index.locks.get(&section.lock).into_iter().flatten();
        let mut excluded =
            sections.filter(|of| of.thread != section.thread && of.mode.excludes(section.mode));
        excluded.any(|of| {
            let length = self.lengths[of.thread.index()];
            let inside = of.begins.partition_point(|&(begin, _)| begin < length);
            of.begins[..inside].last().is_some_and(|&(_, acquire)| acquire > section.acquire)
        })
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
        let steps = &mut self.threads[thread.index()];
        if let Some((lock, mode)) = op.section_begin() {
            steps.begin(WitnessSection { thread, lock, mode, acquire, begin: position, end: None });
        } else if let Some((lock, mode)) = op.section_end() {
            steps.end(lock, mode, position);
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
