//! What follows from the observed run: reads-from, which notification woke which wait, which crossing of a barrier an
//! arrival belongs to, initial values. Found once per trace; a replay only looks it up.

use foretell_trace::{CondId, Event, EventId, Op, ThreadId, Trace, Value, ops};

use crate::computed::newest_reads;

/// Stands for "no event": the end of a thread, or the initial content of a variable.
pub(crate) const NONE: u32 = u32::MAX;

/// The observed run, with all that a replay must look up.
#[derive(Debug)]
pub struct Observed<'t> {
    trace: &'t Trace,
    /// Per event, what ties it to others.
    links: Vec<ObservedLink>,
    /// Per thread, where it begins.
    pub(crate) threads: Vec<Start>,
    /// Per variable, what it holds before anything has run.
    pub(crate) initial: Vec<Initial>,
    /// Per semaphore, its permits before anything has run; `None` if the trace shows its creation.
    pub(crate) permits: Vec<Option<u64>>,
    /// Per barrier and generation, how many arrive.
    pub(crate) arrivals: Vec<Vec<u32>>,
    /// Per barrier, how many threads cross it together, if the trace has that; otherwise those that did.
    pub(crate) sizes: Vec<Option<u32>>,
    /// The indices of the events that no recorded write explains. Sorted.
    pub(crate) unexplained: Vec<u32>,
    /// Per term, the last read that it depends on.
    pub(crate) newest: Vec<Option<EventId>>,
}

/// What ties one event to others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObservedLink {
    /// The index of the thread's next event, or [`NONE`].
    pub(crate) next: u32,
    /// For a read: the index of the write that it saw, or [`NONE`] for the initial content. For an arrival or a
    /// departure: its generation. For a return from a wait: a notification that explains it, or [`NONE`]. Otherwise
    /// meaningless.
    pub(crate) source: u32,
    /// For a read: both it and the write that it saw show their values, so that values can be compared.
    pub(crate) by_value: bool,
}

/// Where a thread begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    /// The index of its first event, or [`NONE`].
    pub(crate) first: u32,
    /// Whether the trace shows its fork.
    pub(crate) forked: bool,
}

/// A variable before anything has run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Initial {
    /// Its value, where that is known.
    pub(crate) value: Option<Value>,
    /// Whether the trace shows its allocation, so that it does not exist yet.
    pub(crate) allocated_later: bool,
}

impl<'t> Observed<'t> {
    /// Goes through the trace once.
    pub fn new(trace: &'t Trace) -> Observed<'t> {
        let names = trace.names();
        let mut observed = Observed {
            trace,
            links: Vec::with_capacity(trace.events().len()),
            threads: vec![Start { first: NONE, forked: false }; trace.thread_count()],
            initial: vec![Initial::default(); names.vars.len()],
            permits: vec![Some(0); names.sems.len()],
            arrivals: vec![vec![0]; names.barriers.len()],
            sizes: Vec::new(),
            unexplained: Vec::new(),
            newest: newest_reads(trace),
        };
        observed.link_threads();
        observed.link_reads();
        observed.count_permits();
        observed.number_generations();
        observed.match_notifications();
        observed
    }

    /// The trace that this is about.
    #[inline]
    pub fn trace(&self) -> &'t Trace {
        self.trace
    }

    /// The event at an index of the trace.
    #[inline]
    pub(crate) fn event(&self, index: u32) -> &'t Event {
        &self.trace.events()[index as usize]
    }

    /// What ties the event at this index to others.
    #[inline]
    pub(crate) fn link(&self, index: u32) -> ObservedLink {
        self.links[index as usize]
    }

    /// The index of the write that the event, a read, saw, or [`NONE`] for the initial content.
    pub(crate) fn source_of(&self, read: EventId) -> u32 {
        self.links[read.index()].source
    }

    /// Whether the event at this index is a return from a wait that a notification explains.
    pub(crate) fn is_notified(&self, index: u32) -> bool {
        matches!(self.event(index).op, Op::Woken { .. }) && self.links[index as usize].source != NONE
    }

    /// All events with their indices.
    fn indexed(&self) -> impl Iterator<Item = (u32, &'t Event)> + use<'t> {
        (0u32..).zip(self.trace.events())
    }

    fn link_threads(&mut self) {
        let mut last = vec![NONE; self.threads.len()];
        for (index, event) in self.indexed() {
            let thread = event.thread.index();
            match last[thread] {
                NONE => self.threads[thread].first = index,
                before => self.links[before as usize].next = index,
            }
            last[thread] = index;
            self.links.push(ObservedLink { next: NONE, source: NONE, by_value: false });
            if let Op::Fork(child) = event.op {
                self.threads[child.index()].forked = true;
            }
            if event.unexplained {
                self.unexplained.push(index);
            }
        }
    }

    fn link_reads(&mut self) {
        let mut memory = vec![LastWrite::default(); self.initial.len()];
        for (index, event) in self.indexed() {
            if let Op::Alloc(var) = event.op {
                self.initial[var.index()].allocated_later = true;
            }
            let Some(access) = event.op.access() else { continue };
            let last = &mut memory[access.var.index()];
            if event.unexplained {
                // An external write came just before: the read stands for that write, too.
                *last = LastWrite { index, value: event.op.value_read() };
            }
            if access.kind.reads() {
                self.links[index as usize].source = last.index;
                if last.index == NONE && last.value.is_none() {
                    last.value = event.op.value_read();
                    self.initial[access.var.index()].value = last.value;
                }
                self.links[index as usize].by_value = last.value.is_some() && event.op.value_read().is_some();
            }
            if access.kind.writes() {
                *last = LastWrite { index, value: event.op.value_written() };
            }
        }
        self.assume_zeros();
    }

    /// Memory that no read shows in its initial state holds 0, but for allocated memory, which may hold anything.
    fn assume_zeros(&mut self) {
        for initial in &mut self.initial {
            if initial.value.is_none() && !initial.allocated_later {
                initial.value = Some(Value::ZERO);
            }
        }
    }

    fn count_permits(&mut self) {
        let mut used = vec![0i64; self.permits.len()];
        for event in self.trace.events() {
            match event.op {
                Op::SemInit { sem, .. } => self.permits[sem.index()] = None,
                Op::SemPost(sem) => used[sem.index()] -= 1,
                Op::SemWait(sem) => {
                    let used = &mut used[sem.index()];
                    *used += 1;
                    if let Some(least) = &mut self.permits[sem.index()] {
                        *least = (*least).max(u64::try_from(*used).unwrap_or(0));
                    }
                }
                ops!(memory | locks | control | conditions | barriers | labels) => {}
            }
        }
    }

    fn number_generations(&mut self) {
        // Per barrier, the threads inside with their generations.
        let mut inside: Vec<Vec<(ThreadId, u32)>> = vec![Vec::new(); self.arrivals.len()];
        let mut open = vec![0u32; self.arrivals.len()];
        for (index, event) in self.indexed() {
            match event.op {
                Op::Arrive(barrier) => {
                    let barrier = barrier.index();
                    self.links[index as usize].source = open[barrier];
                    self.arrivals[barrier][open[barrier] as usize] += 1;
                    inside[barrier].push((event.thread, open[barrier]));
                }
                Op::Depart(barrier) => {
                    let barrier = barrier.index();
                    let Some(place) = inside[barrier].iter().position(|inside| inside.0 == event.thread)
                    else {
                        continue;
                    };
                    let (_, generation) = inside[barrier].swap_remove(place);
                    self.links[index as usize].source = generation;
                    if generation == open[barrier] {
                        open[barrier] += 1;
                        self.arrivals[barrier].push(0);
                    }
                }
                ops!(memory | locks | control | semaphores | conditions | labels) => {}
            }
        }
        self.sizes = self.arrivals.iter().map(|generations| size(generations)).collect();
    }

    fn match_notifications(&mut self) {
        // Per condition, the returns from waits that are still to be notified.
        let mut waiting: Vec<Vec<u32>> = vec![Vec::new(); self.trace.names().conds.len()];
        for (index, event) in self.indexed() {
            match event.op {
                Op::Wait { cond, .. } => {
                    let back = self.links[index as usize].next;
                    if back != NONE && matches!(self.event(back).op, Op::Woken { .. }) {
                        waiting[cond.index()].push(back);
                    }
                }
                Op::Woken { cond, .. } => waiting[cond.index()].retain(|&back| back != index),
                Op::Notify(cond) => {
                    let waiting = &mut waiting[cond.index()];
                    if let Some(place) = (0..waiting.len()).min_by_key(|&place| waiting[place]) {
                        let back = waiting.swap_remove(place);
                        self.links[back as usize].source = index;
                    }
                }
                Op::NotifyAll(cond) => self.notify_all(index, cond, &mut waiting),
                Op::WaitTimeout { .. } | ops!(memory | locks | control | semaphores | barriers | labels) => {}
            }
        }
    }

    fn notify_all(&mut self, notification: u32, cond: CondId, waiting: &mut [Vec<u32>]) {
        for back in waiting[cond.index()].drain(..) {
            self.links[back as usize].source = notification;
        }
    }
}

/// How many cross a barrier together whose generations have so many arrivals; no thread has departed from the last one.
fn size(generations: &[u32]) -> Option<u32> {
    let (&last, complete) = generations.split_last()?;
    let (&size, others) = complete.split_first()?;
    (last <= size && others.iter().all(|&other| other == size)).then_some(size)
}

/// What a variable holds at some point of the observed run.
#[derive(Clone, Copy)]
struct LastWrite {
    index: u32,
    value: Option<Value>,
}

impl Default for LastWrite {
    fn default() -> LastWrite {
        LastWrite { index: NONE, value: None }
    }
}

/// The id of the event at an index that is known to be one of the trace.
#[inline]
pub(crate) fn id(index: u32) -> EventId {
    EventId::from_index(index as usize).unwrap_or(EventId::FIRST)
}

/// The write at an index, or `None` for the initial content.
pub(crate) fn write_id(index: u32) -> Option<EventId> {
    if index == NONE { None } else { EventId::from_index(index as usize) }
}
