//! What axioms look up in a trace, found once.

use std::collections::{HashMap, HashSet};

use foretell_trace::{Event, LockId, LockMode, Op, Trace, Value, VarId, ops};

use crate::observed::{NONE, Observed};

/// A trace as the axioms see it. Events are named by their indices.
#[derive(Debug)]
pub struct TraceFacts<'t> {
    pub(super) observed: Observed<'t>,
    /// For each thread, its events.
    threads: Vec<Vec<u32>>,
    /// For each event, its place in its thread.
    place: Vec<u32>,
    /// For each thread, its fork, or [`NONE`].
    pub(super) forks: Vec<u32>,
    /// For the first event of a critical section, its last one, or [`NONE`].
    section_end: Vec<u32>,
    /// For each lock, the first events of its critical sections.
    pub(super) sections: Vec<Vec<u32>>,
    /// For each variable, the events that change what it holds.
    pub(super) writes: Vec<Vec<u32>>,
    /// For each semaphore, its operations.
    pub(super) semaphores: Vec<Vec<u32>>,
    /// For each condition, its notifications.
    pub(super) notifications: Vec<Vec<u32>>,
    /// For each barrier, the arrivals.
    pub(super) arrivals: Vec<Vec<u32>>,
    /// The same by crossings of the trace.
    generations: Vec<Vec<Vec<u32>>>,
    /// For each barrier, whether only as many threads ever come as it takes.
    pub(super) regular: Vec<bool>,
}

impl<'t> TraceFacts<'t> {
    /// Goes through the trace once.
    pub fn new(trace: &'t Trace) -> TraceFacts<'t> {
        let names = trace.names();
        let events = trace.events().len();
        let mut facts = TraceFacts {
            observed: Observed::new(trace),
            threads: vec![Vec::new(); trace.thread_count()],
            place: Vec::with_capacity(events),
            forks: vec![NONE; trace.thread_count()],
            section_end: vec![NONE; events],
            sections: vec![Vec::new(); names.locks.len()],
            writes: vec![Vec::new(); names.vars.len()],
            semaphores: vec![Vec::new(); names.sems.len()],
            notifications: vec![Vec::new(); names.conds.len()],
            arrivals: vec![Vec::new(); names.barriers.len()],
            generations: vec![Vec::new(); names.barriers.len()],
            regular: Vec::new(),
        };
        let mut open: HashMap<(usize, LockId, LockMode), u32> = HashMap::new();
        for (index, event) in (0u32..).zip(trace.events()) {
            facts.add(index, event, &mut open);
        }
        facts.regular = (0..names.barriers.len()).map(|barrier| facts.is_regular(barrier)).collect();
        facts
    }

    fn add(&mut self, index: u32, event: &Event, open: &mut HashMap<(usize, LockId, LockMode), u32>) {
        let thread = event.thread.index();
        // A thread has no more events than the trace.
        self.place.push(u32::try_from(self.threads[thread].len()).unwrap_or(NONE));
        self.threads[thread].push(index);
        if let Some((lock, mode)) = event.op.section_end()
            && let Some(begin) = open.remove(&(thread, lock, mode))
        {
            self.section_end[begin as usize] = index;
        }
        if let Some((lock, mode)) = event.op.section_begin() {
            open.insert((thread, lock, mode), index);
            self.sections[lock.index()].push(index);
        }
        if let Some(var) = changed(event) {
            self.writes[var.index()].push(index);
        }
        match event.op {
            Op::Fork(child) => self.forks[child.index()] = index,
            Op::SemInit { sem, .. } | Op::SemWait(sem) | Op::SemPost(sem) => {
                self.semaphores[sem.index()].push(index);
            }
            Op::Notify(cond) | Op::NotifyAll(cond) => self.notifications[cond.index()].push(index),
            Op::Arrive(barrier) => {
                let generation = self.observed.link(index).source as usize;
                let generations = &mut self.generations[barrier.index()];
                generations.resize(generations.len().max(generation + 1), Vec::new());
                generations[generation].push(index);
                self.arrivals[barrier.index()].push(index);
            }
            Op::Wait { .. } | Op::Woken { .. } | Op::WaitTimeout { .. } | Op::Depart(_) => {}
            Op::Join(_) | Op::Begin | Op::End | Op::Branch | ops!(memory | locks | labels) => {}
        }
    }

    fn is_regular(&self, barrier: usize) -> bool {
        let threads: HashSet<u32> =
            self.arrivals[barrier].iter().map(|&arrival| self.thread(arrival)).collect();
        self.observed.sizes[barrier].is_some_and(|size| threads.len() == size as usize)
    }

    pub(super) fn trace(&self) -> &'t Trace {
        self.observed.trace()
    }

    /// The index of the event with this number, if there is one.
    pub(super) fn numbered(&self, number: Option<u32>) -> Option<u32> {
        let index = number.and_then(|number| number.checked_sub(1));
        index.filter(|&index| (index as usize) < self.trace().events().len())
    }

    pub(super) fn event(&self, event: u32) -> &'t Event {
        self.observed.event(event)
    }

    pub(super) fn op(&self, event: u32) -> Op {
        self.event(event).op
    }

    pub(super) fn thread(&self, event: u32) -> u32 {
        // There are fewer threads than events.
        u32::try_from(self.event(event).thread.index()).unwrap_or(NONE)
    }

    /// Whether both are of one thread, and the first comes before the second or is it.
    pub(super) fn is_up_to(&self, event: u32, last: u32) -> bool {
        self.thread(event) == self.thread(last) && event <= last
    }

    /// The event before this one in its thread.
    pub(super) fn previous(&self, event: u32) -> Option<u32> {
        let place = self.place[event as usize].checked_sub(1)?;
        Some(self.threads[self.thread(event) as usize][place as usize])
    }

    /// How many events of its thread come before the event.
    pub(super) fn place(&self, event: u32) -> u32 {
        self.place[event as usize]
    }

    /// The arrivals for which an arrival or a departure at the barrier waited in the trace.
    pub(super) fn awaited(&self, event: u32, barrier: usize) -> &[u32] {
        let own = self.observed.link(event).source;
        let awaited = match self.op(event) {
            Op::Arrive(_) => own.checked_sub(1),
            _ => Some(own),
        };
        let awaited = awaited.filter(|_| own != NONE);
        let arrivals = awaited.and_then(|awaited| self.generations[barrier].get(awaited as usize));
        arrivals.map_or(&[], Vec::as_slice)
    }

    /// The events of a thread.
    pub(super) fn events_of(&self, thread: usize) -> &[u32] {
        &self.threads[thread]
    }

    /// The last event of the critical section that begins here, if the trace has it.
    pub(super) fn section_end(&self, begin: u32) -> Option<u32> {
        Some(self.section_end[begin as usize]).filter(|&end| end != NONE)
    }

    /// The variable that the event changes.
    pub(super) fn changed(&self, event: u32) -> Option<VarId> {
        changed(self.event(event))
    }

    /// The variable that the event reads, unless what it sees has no recorded reason.
    pub(super) fn read(&self, event: u32) -> Option<VarId> {
        let step = self.event(event);
        let access = step.op.access().filter(|access| access.kind.reads() && !step.unexplained)?;
        Some(access.var)
    }

    /// What the event leaves behind, if the trace shows it.
    pub(super) fn value_after(&self, write: u32) -> Option<Value> {
        let op = self.op(write);
        // What has no recorded reason stands for the write that it saw, unless it writes itself.
        let writes = op.access().is_some_and(|access| access.kind.writes());
        if writes { op.value_written() } else { op.value_read() }
    }
}

/// The variable whose content the event changes.
fn changed(event: &Event) -> Option<VarId> {
    let access = event.op.access()?;
    let changes = access.kind.writes() && !matches!(event.op, Op::Free(_));
    (changes || event.unexplained).then_some(access.var)
}
