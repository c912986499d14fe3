//! A trace with what the formulas ask of it.
//!
//! Events are named by their index here, as vectors want it.

use std::collections::BTreeMap;

use foretell_trace::format::text::op_text;
use foretell_trace::{Event, EventId, Op, Trace, Value, ops};

/// An operation that no formula is written for.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("event {event} ({op}) cannot be put into a formula")]
pub struct Unsupported {
    /// The event.
    pub event: EventId,
    /// What it does.
    pub op: String,
}

/// A stretch of one thread from the acquire of a mutex to its release.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MutexSection {
    /// The acquire.
    pub acquire: usize,
    /// The release; `None` if the trace ends before it.
    pub release: Option<usize>,
}

/// A trace of plain accesses with values, mutexes, forks, joins and branches.
#[derive(Debug)]
pub struct Window {
    events: Vec<Event>,
    has_branches: bool,
    /// Per thread, its events.
    threads: Vec<Vec<usize>>,
    /// Per event, how many events of its thread come before it.
    places: Vec<usize>,
    /// Per event and thread, how many of the thread's events must have run once the event has.
    clocks: Vec<Vec<usize>>,
    /// What must run before what: from each event to the next of its thread, from forks, to joins. The must-order is
    /// what follows from these.
    edges: Vec<(usize, usize)>,
    /// Per lock, its sections in the order of the trace.
    sections: Vec<Vec<MutexSection>>,
    /// Per thread, its reads.
    reads: Vec<Vec<usize>>,
    /// Per variable, the writes to it.
    writes: Vec<Vec<usize>>,
    /// Per variable, what it holds at first.
    initial: Vec<Value>,
}

impl Window {
    /// Goes through the trace once.
    pub fn new(trace: &Trace) -> Result<Window, Unsupported> {
        if let Some((event, found)) = trace.iter().find(|(_, event)| !is_supported(event)) {
            return Err(Unsupported { event, op: op_text(found.op, trace.names()) });
        }
        let names = trace.names();
        let threads = trace.thread_count();
        let mut window = Window {
            events: trace.events().to_vec(),
            has_branches: trace.has_branches(),
            threads: vec![Vec::new(); threads],
            places: Vec::new(),
            clocks: Vec::new(),
            edges: Vec::new(),
            sections: vec![Vec::new(); names.locks.len()],
            reads: vec![Vec::new(); threads],
            writes: vec![Vec::new(); names.vars.len()],
            initial: vec![Value::ZERO; names.vars.len()],
        };
        window.order_events();
        window.find_sections();
        window.find_accesses();
        Ok(window)
    }

    fn order_events(&mut self) {
        let mut forks: BTreeMap<usize, usize> = BTreeMap::new();
        for index in 0..self.events.len() {
            let event = self.events[index];
            let thread = event.thread.index();
            let before = match self.threads[thread].last() {
                Some(&last) => Some(last),
                None => forks.get(&thread).copied(),
            };
            let joined = match event.op {
                // A thread that did nothing must still have been forked.
                Op::Join(child) => self.threads[child.index()].last().or(forks.get(&child.index())).copied(),
                Op::Fork(_)
                | Op::Begin
                | Op::End
                | Op::Branch
                | ops!(memory | locks | semaphores | conditions | barriers | labels) => None,
            };
            if let Op::Fork(child) = event.op {
                forks.insert(child.index(), index);
            }
            let mut clock = vec![0; self.threads.len()];
            for earlier in before.into_iter().chain(joined) {
                self.edges.push((earlier, index));
                for (mine, theirs) in clock.iter_mut().zip(&self.clocks[earlier]) {
                    *mine = (*mine).max(*theirs);
                }
            }
            self.places.push(self.threads[thread].len());
            self.threads[thread].push(index);
            clock[thread] = self.threads[thread].len();
            self.clocks.push(clock);
        }
    }

    fn find_sections(&mut self) {
        for (index, event) in self.events.iter().enumerate() {
            match event.op {
                Op::Acquire(lock) | Op::TryAcquire(lock) => {
                    self.sections[lock.index()].push(MutexSection { acquire: index, release: None });
                }
                Op::Release(lock) => {
                    if let Some(section) = self.sections[lock.index()].last_mut() {
                        section.release = Some(index);
                    }
                }
                Op::AcquireShared(_)
                | Op::TryAcquireShared(_)
                | Op::ReleaseShared(_)
                | ops!(
                    memory | control | semaphores | conditions | barriers | labels | reentries | attempts
                ) => {}
            }
        }
    }

    fn find_accesses(&mut self) {
        let mut touched = vec![false; self.initial.len()];
        for (index, event) in self.events.iter().enumerate() {
            match event.op {
                Op::Read { var, value } => {
                    self.reads[event.thread.index()].push(index);
                    // What is read before anything was written was there from the start.
                    if !touched[var.index()] {
                        self.initial[var.index()] = value.unwrap_or(Value::ZERO);
                    }
                    touched[var.index()] = true;
                }
                Op::Write { var, .. } => {
                    self.writes[var.index()].push(index);
                    touched[var.index()] = true;
                }
                Op::Load { .. }
                | Op::Store { .. }
                | Op::Rmw { .. }
                | Op::Fence { .. }
                | Op::Alloc(_)
                | Op::Free(_)
                | ops!(locks | control | semaphores | conditions | barriers | labels) => {}
            }
        }
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether there are no events.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// An event.
    pub fn event(&self, index: usize) -> &Event {
        &self.events[index]
    }

    /// What must run before what, as the pairs from which the rest follows.
    pub fn edges(&self) -> &[(usize, usize)] {
        &self.edges
    }

    /// Whether every schedule that runs `later` runs `earlier` before it.
    pub fn must(&self, earlier: usize, later: usize) -> bool {
        earlier != later && self.has_run(earlier, later)
    }

    /// Whether `event` has run in every schedule in which `last` has.
    pub fn has_run(&self, event: usize, last: usize) -> bool {
        self.places[event] < self.clocks[last][self.events[event].thread.index()]
    }

    /// Pairs of sections of one lock by different threads, the first of the trace first, unless the must-order keeps
    /// them apart anyway.
    pub fn rival_sections(&self) -> impl Iterator<Item = (MutexSection, MutexSection)> {
        self.sections.iter().flat_map(move |sections| {
            sections.iter().enumerate().flat_map(move |(place, &first)| {
                let later = sections[place + 1..].iter().map(move |&second| (first, second));
                later.filter(|&(first, second)| self.are_rivals(first, second))
            })
        })
    }

    fn are_rivals(&self, first: MutexSection, second: MutexSection) -> bool {
        let thread = |section: MutexSection| self.events[section.acquire].thread;
        thread(first) != thread(second)
            && !first.release.is_some_and(|release| self.must(release, second.acquire))
    }

    /// The writes to the variable that a read reads.
    pub fn writes_for(&self, read: usize) -> &[usize] {
        match self.events[read].op.access() {
            Some(access) => &self.writes[access.var.index()],
            None => &[],
        }
    }

    /// Whether a read saw what its variable held at first.
    pub fn saw_initial_value(&self, read: usize) -> bool {
        let event = self.events[read].op;
        let initial = event.access().map(|access| self.initial[access.var.index()]);
        event.value_read() == initial
    }

    /// The last read that comes before an event in its thread.
    pub fn last_read_before(&self, event: usize) -> Option<usize> {
        let reads = &self.reads[self.events[event].thread.index()];
        reads[..reads.partition_point(|&read| read < event)].last().copied()
    }

    /// Whether an event can run only if all earlier reads of its thread saw what they saw in the trace. Where the trace
    /// shows no branch at all, there might be one before any event.
    pub fn depends_on_reads(&self, event: usize) -> bool {
        !self.has_branches || self.events[event].op == Op::Branch
    }

    /// Per thread, the last event that depends on what its thread has read, among those that have run in every schedule
    /// in which `event` has, and `event` itself.
    pub fn deciding_events(&self, event: usize) -> impl Iterator<Item = usize> {
        self.threads.iter().zip(&self.clocks[event]).filter_map(|(events, &ran)| {
            events[..ran].iter().copied().rev().find(|&event| self.depends_on_reads(event))
        })
    }
}

fn is_supported(event: &Event) -> bool {
    let supported = match event.op {
        Op::Read { value, .. } | Op::Write { value, .. } => value.is_some(),
        Op::Acquire(_) | Op::TryAcquire(_) | Op::Release(_) | Op::AcquireAgain(_) | Op::ReleaseAgain(_) => {
            true
        }
        Op::Fork(_) | Op::Join(_) | Op::Begin | Op::End | Op::Branch => true,
        Op::Load { .. }
        | Op::Store { .. }
        | Op::Rmw { .. }
        | Op::Fence { .. }
        | Op::AcquireShared(_)
        | Op::TryAcquireShared(_)
        | Op::ReleaseShared(_)
        | Op::AcquireSharedAgain(_)
        | Op::ReleaseSharedAgain(_)
        | Op::Alloc(_)
        | Op::Free(_)
        | ops!(semaphores | conditions | barriers | labels | attempts) => false,
    };
    supported && !event.unexplained
}
