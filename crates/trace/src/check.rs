//! Well-formedness: could any program have produced these events in this order?
//!
//! [`Checker`] looks at each event once and keeps what it needs to know about each lock, thread, variable and so on. It
//! also puts events into the form that analyses rely on: repeated acquires are marked as such, and a read that saw a
//! value that no write explains is flagged ([`Event::unexplained`]).

mod locks;
mod meetings;
#[cfg(test)]
mod tests;

use std::fmt;

use crate::error::TraceError;
use crate::event::{Event, MemOrder, Op};
use crate::id::{CondId, EventId, LockId, ThreadId, VarId};
use crate::name::Names;
use crate::ops;
use crate::source::{Batch, Ending};
use crate::symbol::Value;

/// Something that no run of a program could have done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The event that cannot be.
    pub event: EventId,
    /// What is wrong, with the names of the trace.
    pub text: Box<str>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A read that saw a value that no recorded write explains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnexplainedRead {
    /// The read.
    pub event: EventId,
    /// The variable.
    pub var: VarId,
    /// What it saw.
    pub seen: Value,
    /// What the recorded writes had left there.
    pub expected: Value,
}

/// How many unexplained reads are kept in detail; beyond this they are only counted.
const UNEXPLAINED_KEPT: usize = 1000;

/// Checks events one after the other. Its memory grows with the number of names, not with the length of the trace.
#[derive(Debug, Default)]
pub struct Checker {
    seen: usize,
    threads: Vec<ThreadState>,
    locks: Vec<LockState>,
    vars: Vec<VarState>,
    sems: Vec<SemState>,
    barriers: Vec<BarrierState>,
    unexplained: Vec<UnexplainedRead>,
    unexplained_count: u64,
    has_branches: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct ThreadState {
    /// It has begun and neither ended, nor was joined, nor waits.
    runs: bool,
    forked: Option<EventId>,
    first: Option<EventId>,
    ended: Option<EventId>,
    joined: Option<EventId>,
    /// What the thread waits for, and how deep it held the lock when it began to.
    waiting: Option<(CondId, LockId, u32)>,
}

#[derive(Clone, Debug, Default)]
struct LockState {
    /// Who holds the lock exclusively, since when, and how often it was acquired.
    writer: Option<(ThreadId, EventId, u32)>,
    /// Who holds the lock shared, since when, and how often it was acquired. Short: searched linearly.
    readers: Vec<(ThreadId, EventId, u32)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct VarState {
    /// The value, once a read or a write has shown it; until then the next read shows it.
    content: Option<Value>,
    allocated: bool,
    touched: bool,
    freed: Option<EventId>,
}

#[derive(Clone, Copy, Debug, Default)]
struct SemState {
    /// Permits left, once the semaphore's creation was seen.
    permits: Option<u64>,
    touched: bool,
}

#[derive(Clone, Debug, Default)]
struct BarrierState {
    /// Threads that have arrived and not departed yet, with their generation.
    inside: Vec<(ThreadId, u32)>,
    /// The generation that the next arrival joins.
    open: u32,
}

/// Names in a message; a macro so that messages are built only when something is wrong.
macro_rules! wrong {
    ($($text:tt)*) => { Err(format!($($text)*).into_boxed_str()) };
}
use wrong;

/// What is wrong. Boxed, so that what every event hands back is one register.
type Wrong = Box<str>;
type Verdict = Result<(), Wrong>;

impl Checker {
    /// Checks the next events and puts them into the form that analyses rely on. Stops at the first violation.
    pub fn check_batch(&mut self, batch: &mut Batch, names: &Names) -> Result<(), TraceError> {
        self.check_each(batch, names, |_, _| {})
    }

    /// Like [`Checker::check_batch`], and hands each event on as soon as it is checked. That is faster than to look at
    /// the batch afterwards: what the processor has just learnt about an event it need not guess again.
    #[inline]
    pub fn check_each(
        &mut self,
        batch: &mut Batch,
        names: &Names,
        mut look: impl FnMut(EventId, &Event),
    ) -> Result<(), TraceError> {
        for index in 0..batch.events.len() {
            let Some(id) = EventId::from_index(self.seen) else { return Err(TraceError::TooManyEvents) };
            if let Err(text) = self.step(id, &mut batch.events[index], names) {
                let violation = Box::new(Violation { event: id, text });
                return Err(TraceError::Malformed { at: batch.position(index, id), violation });
            }
            look(id, &batch.events[index]);
        }
        Ok(())
    }

    /// Checks the next event. After a violation the checker goes on as if the event had not happened.
    pub fn check(&mut self, event: &mut Event, names: &Names) -> Result<Result<(), Violation>, TraceError> {
        let id = EventId::from_index(self.seen).ok_or(TraceError::TooManyEvents)?;
        Ok(self.step(id, event, names).map_err(|text| Violation { event: id, text }))
    }

    #[inline]
    fn step(&mut self, id: EventId, event: &mut Event, names: &Names) -> Verdict {
        self.seen += 1;
        self.thread_may_run(id, event, names)?;
        match event.op {
            // Whether a plain access reads or writes is what the processor cannot guess: without a value they share a
            // path.
            Op::Read { var, value: None } | Op::Write { var, value: None } => {
                let content = self.usable(var, names)?;
                let kept = content.filter(|_| matches!(event.op, Op::Read { .. }));
                at(&mut self.vars, var.index()).content = kept;
                event.unexplained = false;
                Ok(())
            }
            Op::Acquire(lock) if self.takes_free_lock(id, event.thread, lock) => Ok(()),
            Op::Release(lock) if self.gives_back_lock(event.thread, lock) => Ok(()),
            _ => self.operation(id, event, names),
        }
    }

    /// To be called after the last event; `ending` is how the recording ended.
    pub fn finish(&self, ending: Ending) -> Result<(), TraceError> {
        match (self.seen, ending) {
            (0, Ending::Complete) => Err(TraceError::Empty),
            (0, Ending::CutShort) => Err(TraceError::CutToNothing),
            _ => Ok(()),
        }
    }

    /// How many events were checked.
    pub fn event_count(&self) -> usize {
        self.seen
    }

    /// Whether any event was a branch.
    pub fn has_branches(&self) -> bool {
        self.has_branches
    }

    /// The reads that no write explains: the first thousand of them, and how many there are.
    pub fn unexplained(&self) -> (&[UnexplainedRead], u64) {
        (&self.unexplained, self.unexplained_count)
    }

    #[inline]
    fn thread_may_run(&mut self, id: EventId, event: &Event, names: &Names) -> Verdict {
        let thread = at(&mut self.threads, event.thread.index());
        if thread.runs && !matches!(event.op, Op::Begin) {
            return Ok(());
        }
        self.thread_is_not_running(id, event, names)
    }

    #[cold]
    fn thread_is_not_running(&mut self, id: EventId, event: &Event, names: &Names) -> Verdict {
        let thread = at(&mut self.threads, event.thread.index());
        match thread.first {
            None => {
                thread.first = Some(id);
                thread.runs = true;
            }
            Some(first) if event.op == Op::Begin => {
                let name = names.threads.name(event.thread);
                return wrong!("{name} begins again; its first event is {first}");
            }
            Some(_) => {}
        }
        self.thread_is_stopped(event, names)
    }

    fn thread_is_stopped(&mut self, event: &Event, names: &Names) -> Verdict {
        let thread = at(&mut self.threads, event.thread.index());
        let name = names.threads.name(event.thread);
        if let Some(ended) = thread.ended {
            return wrong!("{name} continues after its end at event {ended}");
        }
        if let Some(joined) = thread.joined {
            return wrong!("{name} continues after it was joined at event {joined}");
        }
        match (thread.waiting, event.op) {
            (
                Some((cond, lock, _)),
                Op::Woken { cond: c, lock: l } | Op::WaitTimeout { cond: c, lock: l },
            ) if (c, l) == (cond, lock) => Ok(()),
            (Some((cond, _, _)), _) => {
                wrong!("{name} continues while it waits on {}", names.conds.name(cond))
            }
            (None, _) => Ok(()),
        }
    }

    fn operation(&mut self, id: EventId, event: &mut Event, names: &Names) -> Verdict {
        let thread = event.thread;
        match event.op {
            Op::Load { order: MemOrder::Release | MemOrder::AcqRel, .. } => {
                wrong!("an atomic read cannot release")
            }
            Op::Store { order: MemOrder::Acquire | MemOrder::AcqRel, .. } => {
                wrong!("an atomic write cannot acquire")
            }
            Op::Load { order: MemOrder::RelaxedC11, .. }
            | Op::Rmw { order: MemOrder::RelaxedC11, .. }
            | Op::Fence { order: MemOrder::RelaxedC11 } => {
                wrong!("only an atomic write can be relaxed by the rules of C11")
            }
            Op::Read { var, value } | Op::Load { var, value, .. } => {
                let content = self.usable(var, names)?;
                event.unexplained = self.read(id, var, content, value);
                Ok(())
            }
            Op::Write { var, value } | Op::Store { var, value, .. } => {
                self.usable(var, names)?;
                self.write(var, value);
                Ok(())
            }
            Op::Rmw { var, read, written, .. } => {
                let content = self.usable(var, names)?;
                event.unexplained = self.read(id, var, content, read);
                self.write(var, written);
                Ok(())
            }
            Op::Alloc(var) => self.alloc(var, names),
            Op::Free(var) => self.free(id, var, names),
            Op::Acquire(lock) | Op::AcquireAgain(lock) => {
                event.op = if self.acquire(id, thread, lock, names)? {
                    Op::Acquire(lock)
                } else {
                    Op::AcquireAgain(lock)
                };
                Ok(())
            }
            Op::TryAcquire(lock) => {
                if !self.acquire(id, thread, lock, names)? {
                    event.op = Op::AcquireAgain(lock);
                }
                Ok(())
            }
            Op::Release(lock) | Op::ReleaseAgain(lock) => {
                event.op = if self.release(thread, lock, names)? {
                    Op::Release(lock)
                } else {
                    Op::ReleaseAgain(lock)
                };
                Ok(())
            }
            Op::AcquireShared(lock) | Op::AcquireSharedAgain(lock) => {
                event.op = if self.acquire_shared(id, thread, lock, names)? {
                    Op::AcquireShared(lock)
                } else {
                    Op::AcquireSharedAgain(lock)
                };
                Ok(())
            }
            Op::TryAcquireShared(lock) => {
                if !self.acquire_shared(id, thread, lock, names)? {
                    event.op = Op::AcquireSharedAgain(lock);
                }
                Ok(())
            }
            Op::ReleaseShared(lock) | Op::ReleaseSharedAgain(lock) => {
                event.op = if self.release_shared(thread, lock, names)? {
                    Op::ReleaseShared(lock)
                } else {
                    Op::ReleaseSharedAgain(lock)
                };
                Ok(())
            }
            Op::TryAcquireFailed(lock) => self.try_failed(lock, false, names),
            Op::TryAcquireSharedFailed(lock) => self.try_failed(lock, true, names),
            Op::Fork(child) => self.fork(id, thread, child, names),
            Op::Join(child) => self.join(id, thread, child, names),
            Op::End => {
                let state = at(&mut self.threads, thread.index());
                state.ended = Some(id);
                state.runs = false;
                Ok(())
            }
            Op::Branch => {
                self.has_branches = true;
                Ok(())
            }
            Op::SemInit { sem, permits } => self.sem_init(sem, permits, names),
            Op::SemWait(sem) => self.sem_wait(sem, names),
            Op::SemPost(sem) => {
                let state = at(&mut self.sems, sem.index());
                state.touched = true;
                state.permits = state.permits.map(|permits| permits.saturating_add(1));
                Ok(())
            }
            Op::Wait { cond, lock } => self.wait(thread, cond, lock, names),
            Op::Woken { cond, lock } | Op::WaitTimeout { cond, lock } => {
                self.return_from_wait(id, thread, cond, lock, names)
            }
            Op::Arrive(barrier) => self.arrive(thread, barrier, names),
            Op::Depart(barrier) => self.depart(thread, barrier, names),
            Op::Fence { .. } | Op::Begin | Op::Notify(_) | Op::NotifyAll(_) | ops!(labels) => Ok(()),
        }
    }

    /// What is known of the variable's content, if it may be accessed at all.
    #[inline]
    fn usable(&mut self, var: VarId, names: &Names) -> Result<Option<Value>, Wrong> {
        let state = at(&mut self.vars, var.index());
        if let Some(freed) = state.freed {
            return used_after_free(var, freed, names);
        }
        state.touched = true;
        Ok(state.content)
    }

    /// Whether the value that was seen is one that no write explains.
    #[inline]
    fn read(&mut self, id: EventId, var: VarId, content: Option<Value>, seen: Option<Value>) -> bool {
        let Some(seen) = seen else { return false };
        at(&mut self.vars, var.index()).content = Some(seen);
        match content {
            Some(expected) if expected != seen => {
                self.unexplained_count += 1;
                if self.unexplained.len() < UNEXPLAINED_KEPT {
                    self.unexplained.push(UnexplainedRead { event: id, var, seen, expected });
                }
                true
            }
            Some(_) | None => false,
        }
    }

    #[inline]
    fn write(&mut self, var: VarId, written: Option<Value>) {
        at(&mut self.vars, var.index()).content = written;
    }

    fn alloc(&mut self, var: VarId, names: &Names) -> Verdict {
        let state = at(&mut self.vars, var.index());
        if state.allocated || state.touched || state.freed.is_some() {
            return wrong!("{} is allocated again without a generation of its own", names.vars.name(var));
        }
        state.allocated = true;
        Ok(())
    }

    fn free(&mut self, id: EventId, var: VarId, names: &Names) -> Verdict {
        let state = at(&mut self.vars, var.index());
        if let Some(freed) = state.freed {
            return wrong!("{} is freed again; it was freed at event {freed}", names.vars.name(var));
        }
        state.freed = Some(id);
        Ok(())
    }

    fn fork(&mut self, id: EventId, parent: ThreadId, child: ThreadId, names: &Names) -> Verdict {
        let name = names.threads.name(child);
        if parent == child {
            return wrong!("{name} forks itself");
        }
        let state = at(&mut self.threads, child.index());
        if let Some(forked) = state.forked {
            return wrong!("{name} is forked again; it was forked at event {forked}");
        }
        if let Some(first) = state.first {
            return wrong!("{name} is forked although it runs since event {first}");
        }
        state.forked = Some(id);
        Ok(())
    }

    fn join(&mut self, id: EventId, parent: ThreadId, child: ThreadId, names: &Names) -> Verdict {
        let name = names.threads.name(child);
        if parent == child {
            return wrong!("{name} joins itself");
        }
        let state = at(&mut self.threads, child.index());
        if state.forked.is_none() && state.first.is_none() {
            return wrong!("join of {name}, which was neither forked nor seen before");
        }
        if let Some((cond, _, _)) = state.waiting {
            return wrong!("join of {name} while it waits on {}", names.conds.name(cond));
        }
        state.joined.get_or_insert(id);
        state.runs = false;
        Ok(())
    }
}

#[cold]
fn used_after_free<T>(var: VarId, freed: EventId, names: &Names) -> Result<T, Wrong> {
    wrong!("{} is used after it was freed at event {freed}", names.vars.name(var))
}

/// The state at `index` of a table that grows as needed.
#[inline]
fn at<T: Default + Clone>(table: &mut Vec<T>, index: usize) -> &mut T {
    if index >= table.len() {
        grow(table, index);
    }
    &mut table[index]
}

#[cold]
fn grow<T: Default + Clone>(table: &mut Vec<T>, index: usize) {
    table.resize(index + 1, T::default());
}
