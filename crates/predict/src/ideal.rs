//! The part of the observed run that a happens-before race needs.
//!
//! To show that two accesses race it is enough to run, in the observed order, all that must come before either of them:
//! by thread order, by what was read, by the order of locks, and by all other synchronisation. If neither of the two is
//! in that part, both are next when it has run.

use foretell_detect::Pair;
use foretell_trace::{Event, EventId, LockMode, Op, ThreadId, Trace, ops};

/// What directly comes before what, for a whole trace.
#[derive(Debug)]
pub struct HappensBeforeIdeals<'t> {
    trace: &'t Trace,
    /// For each event, where in `before` its predecessors begin; they end where those of the next event begin.
    begins: Vec<usize>,
    /// Events, by index, that have to come before an event whatever it sees.
    before: Vec<u32>,
    /// For each event that reads, the write that it saw, by index.
    source: Vec<Option<u32>>,
    /// Unexplained events, by index: nothing moves across them.
    fences: Vec<usize>,
}

impl<'t> HappensBeforeIdeals<'t> {
    /// Looks through the trace once.
    pub fn new(trace: &'t Trace) -> Self {
        let mut ideals = HappensBeforeIdeals {
            trace,
            begins: Vec::with_capacity(trace.events().len() + 1),
            before: Vec::new(),
            source: Vec::with_capacity(trace.events().len()),
            fences: Vec::new(),
        };
        let mut last = Last::default();
        for (index, event) in trace.events().iter().enumerate() {
            // A trace has fewer than 2^32 events.
            let Ok(number) = u32::try_from(index) else { break };
            ideals.begins.push(ideals.before.len());
            last.predecessors(event, &mut ideals.before);
            ideals.source.push(last.source(event));
            if event.unexplained {
                ideals.fences.push(index);
            }
            last.note(event, number);
        }
        ideals.begins.push(ideals.before.len());
        ideals
    }

    /// The events that have to run before the two accesses, in the observed order, and then the two; `None` if one of
    /// the two would be among them.
    pub fn schedule(&self, pair: Pair) -> Option<Vec<EventId>> {
        let events = self.trace.events();
        let (first, second) = (pair.first.index(), pair.second.index());
        // Of each thread, the events with an index below this are needed.
        let mut needed = vec![0; self.trace.thread_count()];
        needed[events[first].thread.index()] = first;
        needed[events[second].thread.index()] = second;
        let need = |index: u32, needed: &mut Vec<usize>| {
            let thread = events[index as usize].thread.index();
            needed[thread] = needed[thread].max(index as usize + 1);
        };
        for racing in [first, second] {
            self.predecessors(racing).iter().for_each(|&index| need(index, &mut needed));
        }
        if let Some(fence) = self.fences.iter().rev().find(|&&fence| fence < second) {
            needed.iter_mut().for_each(|needed| *needed = (*needed).max(fence + 1));
        }
        let mut schedule = Vec::new();
        for index in (0..second).rev() {
            if index >= needed[events[index].thread.index()] {
                continue;
            }
            if index == first {
                return None;
            }
            schedule.extend(EventId::from_index(index));
            self.predecessors(index)
                .iter()
                .chain(&self.source[index])
                .for_each(|&index| need(index, &mut needed));
        }
        schedule.reverse();
        schedule.extend([pair.first, pair.second]);
        Some(schedule)
    }

    fn predecessors(&self, index: usize) -> &[u32] {
        &self.before[self.begins[index]..self.begins[index + 1]]
    }
}

/// The last event of each kind on each object, by index.
#[derive(Debug, Default)]
struct Last {
    of_thread: Table,
    fork_of: Table,
    write: Table,
    alloc: Table,
    exclusive_end: Table,
    /// For each lock, the shared releases since the last exclusive one.
    shared_ends: Vec<Vec<u32>>,
    /// For each lock, who holds it in which mode, with where that began.
    holders: Vec<Vec<(ThreadId, LockMode, u32)>>,
    sem: Table,
    notify: Table,
    barriers: Vec<PendingBarrier>,
}

#[derive(Debug, Default)]
struct PendingBarrier {
    /// The last arrival of all.
    arrival: Option<u32>,
    /// The last arrival of the generations that are complete.
    complete: Option<u32>,
    /// How many have arrived since the last generation was complete.
    arrived: usize,
    /// How many of the last complete generation have still to depart.
    leaving: usize,
}

impl PendingBarrier {
    fn arrive(&mut self, index: u32) {
        self.arrival = Some(index);
        self.arrived += 1;
    }

    /// The arrival that a departure comes after; the first departure of a generation completes it.
    fn before_departure(&self) -> Option<u32> {
        if self.leaving == 0 { self.arrival } else { self.complete }
    }

    fn depart(&mut self) {
        self.complete = self.before_departure();
        if self.leaving == 0 {
            self.leaving = std::mem::take(&mut self.arrived);
        }
        self.leaving = self.leaving.saturating_sub(1);
    }
}

#[derive(Debug, Default)]
struct Table(Vec<Option<u32>>);

impl Table {
    fn get(&self, index: usize) -> Option<u32> {
        self.0.get(index).copied().flatten()
    }

    fn set(&mut self, index: usize, event: u32) {
        *at(&mut self.0, index) = Some(event);
    }
}

fn at<T: Default>(table: &mut Vec<T>, index: usize) -> &mut T {
    if index >= table.len() {
        table.resize_with(index + 1, T::default);
    }
    &mut table[index]
}

impl Last {
    /// What has to come before the event, apart from earlier events of its thread and the write that it saw.
    ///
    /// Operations on one semaphore, condition or barrier are chained, so the last stands for all.
    fn predecessors(&self, event: &Event, before: &mut Vec<u32>) {
        let thread = event.thread.index();
        if self.of_thread.get(thread).is_none() {
            before.extend(self.fork_of.get(thread));
        }
        if let Some((lock, mode)) = event.op.section_begin() {
            before.extend(self.exclusive_end.get(lock.index()));
            if mode == LockMode::Exclusive {
                before.extend(self.shared_ends.get(lock.index()).into_iter().flatten());
            }
        }
        if let Some(access) = event.op.access() {
            before.extend(self.alloc.get(access.var.index()));
        }
        match event.op {
            // A child that did nothing was forked at least.
            Op::Join(child) => {
                let child = child.index();
                before.extend(self.of_thread.get(child).or(self.fork_of.get(child)));
            }
            Op::SemInit { sem, .. } | Op::SemWait(sem) | Op::SemPost(sem) => {
                before.extend(self.sem.get(sem.index()));
            }
            Op::Notify(cond) | Op::NotifyAll(cond) | Op::Woken { cond, .. } => {
                before.extend(self.notify.get(cond.index()));
            }
            Op::Arrive(barrier) => {
                before.extend(self.barriers.get(barrier.index()).and_then(|barrier| barrier.arrival));
            }
            Op::Depart(barrier) => {
                before.extend(self.barriers.get(barrier.index()).and_then(PendingBarrier::before_departure));
            }
            Op::TryAcquireFailed(lock) | Op::TryAcquireSharedFailed(lock) => {
                let holders = self.holders.get(lock.index()).into_iter().flatten();
                before.extend(holders.map(|&(_, _, begin)| begin));
            }
            Op::Fork(_)
            | Op::Begin
            | Op::End
            | Op::Branch
            | Op::Wait { .. }
            | Op::WaitTimeout { .. }
            | ops!(memory | labels | sections | reentries) => {}
        }
    }

    fn source(&self, event: &Event) -> Option<u32> {
        let access = event.op.access().filter(|access| access.kind.reads())?;
        self.write.get(access.var.index())
    }

    fn note(&mut self, event: &Event, index: u32) {
        self.of_thread.set(event.thread.index(), index);
        if let Some(access) = event.op.access().filter(|access| access.kind.writes()) {
            self.write.set(access.var.index(), index);
        }
        if let Some((lock, mode)) = event.op.section_begin() {
            at(&mut self.holders, lock.index()).push((event.thread, mode, index));
        }
        if let Some((lock, mode)) = event.op.section_end() {
            at(&mut self.holders, lock.index()).retain(|holder| (holder.0, holder.1) != (event.thread, mode));
            let shared_ends = at(&mut self.shared_ends, lock.index());
            match mode {
                LockMode::Exclusive => {
                    shared_ends.clear();
                    self.exclusive_end.set(lock.index(), index);
                }
                LockMode::Shared => shared_ends.push(index),
            }
        }
        match event.op {
            Op::Fork(child) => self.fork_of.set(child.index(), index),
            Op::Alloc(var) => self.alloc.set(var.index(), index),
            Op::SemInit { sem, .. } | Op::SemWait(sem) | Op::SemPost(sem) => self.sem.set(sem.index(), index),
            Op::Notify(cond) | Op::NotifyAll(cond) => self.notify.set(cond.index(), index),
            Op::Arrive(barrier) => at(&mut self.barriers, barrier.index()).arrive(index),
            Op::Depart(barrier) => at(&mut self.barriers, barrier.index()).depart(),
            Op::Fence { .. }
            | Op::Join(_)
            | Op::Begin
            | Op::End
            | Op::Branch
            | Op::Wait { .. }
            | Op::Woken { .. }
            | Op::WaitTimeout { .. }
            | Op::Free(_)
            | ops!(locks | labels | accesses) => {}
        }
    }
}
