//! Happens-before: the reorderings of a trace in which no two dependent events change places.
//!
//! This is the Mazurkiewicz trace of the observed run. Two events depend on each other if they are of one thread; if
//! they touch one variable and not both only read it (allocation and release of memory count as writes); if they are
//! operations on one lock, unless both take or give up shared ownership, or both are attempts that failed; if they are
//! operations on one semaphore, condition or barrier; if one starts or awaits the thread of the other; or if one is a
//! read that no recorded write explains. All events run, so there are only complete reorderings to be counted.

use foretell_trace::{Op, Trace, ops};

use crate::compile::is_silent;
use crate::pack::Layout;
use crate::system::{System, Undo};

/// The order that the observed run puts on its steps.
#[derive(Debug, Default)]
pub(crate) struct Order {
    /// Per thread, its steps.
    threads: Vec<Vec<Needs>>,
    /// What the steps need.
    needs: Vec<Need>,
    layout: Layout,
}

/// So many needs, from this one on.
#[derive(Clone, Copy, Debug)]
struct Needs {
    begin: usize,
    end: usize,
}

/// A thread must have taken so many steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Need {
    thread: usize,
    steps: u32,
}

impl Order {
    /// `None` if there are too many steps to be numbered.
    pub(crate) fn new(trace: &Trace) -> Option<Order> {
        let mut order = Order { threads: vec![Vec::new(); trace.thread_count()], ..Order::default() };
        let mut objects = Objects::new(trace);
        let mut before = Vec::new();
        for event in trace.events().iter().filter(|event| !is_silent(event.op)) {
            let thread = event.thread.index();
            let steps = u32::try_from(order.threads[thread].len()).ok()?.checked_add(1)?;
            before.clear();
            objects.pass(Need { thread, steps }, event.op, event.unexplained, &mut before);
            order.push(thread, &mut before);
        }
        for (thread, steps) in order.threads.iter().enumerate() {
            order.layout.add(u32::try_from(thread).ok()?, 0, u32::try_from(steps.len()).ok()?);
        }
        Some(order)
    }

    /// A further step of the thread, after those `before` it; only the last one of each other thread counts.
    fn push(&mut self, thread: usize, before: &mut Vec<Need>) {
        before.sort_by_key(|need| (need.thread, std::cmp::Reverse(need.steps)));
        before.dedup_by_key(|need| need.thread);
        let begin = self.needs.len();
        self.needs.extend(before.iter().filter(|need| need.thread != thread));
        self.threads[thread].push(Needs { begin, end: self.needs.len() });
    }
}

/// What has happened to all objects so far.
struct Objects {
    vars: Vec<Object>,
    locks: Vec<Object>,
    sems: Vec<Object>,
    conds: Vec<Object>,
    barriers: Vec<Object>,
    /// Per thread, its last step; before its first one, its fork.
    last: Vec<Option<Need>>,
    /// The last event that no recorded write explains.
    fence: Option<Need>,
}

/// Operations of one object. Those of one kind may change places with each other.
#[derive(Clone, Default)]
struct Object {
    kind: Option<Kind>,
    /// The last operations, all of this kind.
    recent: Vec<Need>,
    /// Those just before them, which all of them come after.
    before: Vec<Need>,
}

/// What may change places with its like.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read,
    Share,
    Attempt,
}

impl Object {
    /// One more operation; what it comes after is added to `before`.
    fn touch(&mut self, step: Need, kind: Option<Kind>, before: &mut Vec<Need>) {
        if kind.is_none() || kind != self.kind {
            std::mem::swap(&mut self.before, &mut self.recent);
            self.recent.clear();
            self.kind = kind;
        }
        self.recent.push(step);
        before.extend_from_slice(&self.before);
    }
}

impl Objects {
    fn new(trace: &Trace) -> Objects {
        let names = trace.names();
        let objects = |count| vec![Object::default(); count];
        Objects {
            vars: objects(names.vars.len()),
            locks: objects(names.locks.len()),
            sems: objects(names.sems.len()),
            conds: objects(names.conds.len()),
            barriers: objects(names.barriers.len()),
            last: vec![None; trace.thread_count()],
            fence: None,
        }
    }

    /// One more step; what it comes after is added to `before`.
    fn pass(&mut self, step: Need, op: Op, unexplained: bool, before: &mut Vec<Need>) {
        before.extend(self.fence);
        before.extend(self.last[step.thread]);
        if unexplained {
            before.extend(self.last.iter().flatten());
            self.fence = Some(step);
        }
        if let Some(access) = op.access() {
            let kind = (!access.kind.writes()).then_some(Kind::Read);
            self.vars[access.var.index()].touch(step, kind, before);
        }
        match op {
            Op::Alloc(var) => self.vars[var.index()].touch(step, None, before),
            Op::AcquireShared(lock) | Op::TryAcquireShared(lock) | Op::ReleaseShared(lock) => {
                self.locks[lock.index()].touch(step, Some(Kind::Share), before);
            }
            Op::TryAcquireFailed(lock) | Op::TryAcquireSharedFailed(lock) => {
                self.locks[lock.index()].touch(step, Some(Kind::Attempt), before);
            }
            Op::Acquire(lock) | Op::TryAcquire(lock) | Op::Release(lock) => {
                self.locks[lock.index()].touch(step, None, before);
            }
            Op::Wait { cond, lock } | Op::Woken { cond, lock } | Op::WaitTimeout { cond, lock } => {
                self.conds[cond.index()].touch(step, None, before);
                self.locks[lock.index()].touch(step, None, before);
            }
            Op::Notify(cond) | Op::NotifyAll(cond) => self.conds[cond.index()].touch(step, None, before),
            Op::SemInit { sem, .. } | Op::SemWait(sem) | Op::SemPost(sem) => {
                self.sems[sem.index()].touch(step, None, before);
            }
            Op::Arrive(barrier) | Op::Depart(barrier) => {
                self.barriers[barrier.index()].touch(step, None, before);
            }
            Op::Fork(child) => self.last[child.index()] = Some(step),
            Op::Join(child) => before.extend(self.last[child.index()]),
            Op::Fence { .. }
            | Op::Begin
            | Op::End
            | Op::Branch
            | Op::Free(_)
            | ops!(labels | accesses | reentries) => {}
        }
        self.last[step.thread] = Some(step);
    }
}

/// Some steps of an order have been taken.
#[derive(Clone, Debug)]
pub(crate) struct Reordering<'o> {
    order: &'o Order,
    /// How many steps each thread has taken.
    taken: Vec<u32>,
}

impl<'o> Reordering<'o> {
    pub(crate) fn new(order: &'o Order) -> Reordering<'o> {
        Reordering { order, taken: vec![0; order.threads.len()] }
    }
}

impl System for Reordering<'_> {
    fn threads(&self) -> usize {
        self.taken.len()
    }

    fn is_enabled(&self, thread: usize) -> bool {
        self.order.threads[thread].get(self.taken[thread] as usize).is_some_and(|needs| {
            self.order.needs[needs.begin..needs.end].iter().all(|need| self.taken[need.thread] >= need.steps)
        })
    }

    fn step(&mut self, thread: usize) -> Undo {
        let position = self.taken[thread];
        self.taken[thread] += 1;
        Undo { position, content: 0 }
    }

    fn undo(&mut self, thread: usize, undo: Undo) {
        self.taken[thread] = undo.position;
    }

    fn key_words(&self) -> usize {
        self.order.layout.words()
    }

    fn pack(&self, key: &mut [u64]) {
        self.order.layout.pack(&self.taken, key);
    }

    fn unpack(&mut self, key: &[u64]) {
        self.order.layout.unpack(key, &mut self.taken);
    }
}
