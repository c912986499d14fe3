//! Well-formedness: could any program have produced these events in this order?
//!
//! [`Checker`] looks at each event once and keeps what it needs to know about each lock, thread, variable and so on. It
//! also puts events into the form that analyses rely on: repeated acquires are marked as such, and a read that saw a
//! value that no write explains is flagged ([`Event::unexplained`]).

use std::fmt;

use crate::error::TraceError;
use crate::event::{Event, MemOrder, Op};
use crate::id::{BarrierId, CondId, EventId, LockId, SemId, ThreadId, VarId};
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
    /// The value, once a read or a write has told it; until then the next read tells.
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

/// What is wrong. Boxed, so that what every event hands back is one register.
type Wrong = Box<str>;
type Verdict = Result<(), Wrong>;

impl Checker {
    /// Checks the next events and puts them into the form that analyses rely on. Stops at the first violation.
    pub fn check_batch(&mut self, batch: &mut Batch, names: &Names) -> Result<(), TraceError> {
        self.check_each(batch, names, |_, _| {})
    }

    /// Like [`Checker::check_batch`], and hands each event on as soon as it is checked. That is faster than to look at the
    /// batch afterwards: what the processor has just learnt about an event it need not guess again.
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

    /// Acquires a lock that nobody holds, as nearly all acquires do; any other is left as it is.
    #[inline]
    fn takes_free_lock(&mut self, id: EventId, thread: ThreadId, lock: LockId) -> bool {
        let state = at(&mut self.locks, lock.index());
        let free = state.writer.is_none() && state.readers.is_empty();
        if free {
            state.writer = Some((thread, id, 1));
        }
        free
    }

    /// Ends a section that is not nested, as nearly all releases do; any other is left as it is.
    #[inline]
    fn gives_back_lock(&mut self, thread: ThreadId, lock: LockId) -> bool {
        let state = at(&mut self.locks, lock.index());
        let ends = matches!(state.writer, Some((owner, _, 1)) if owner == thread);
        if ends {
            state.writer = None;
        }
        ends
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
            return wrong!("{name} goes on after its end at event {ended}");
        }
        if let Some(joined) = thread.joined {
            return wrong!("{name} goes on after it was joined at event {joined}");
        }
        match (thread.waiting, event.op) {
            (
                Some((cond, lock, _)),
                Op::Woken { cond: c, lock: l } | Op::WaitTimeout { cond: c, lock: l },
            ) if (c, l) == (cond, lock) => Ok(()),
            (Some((cond, _, _)), _) => {
                wrong!("{name} goes on while it waits on {}", names.conds.name(cond))
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

    /// Whether the acquire begins a section (and does not merely repeat one).
    fn acquire(&mut self, id: EventId, thread: ThreadId, lock: LockId, names: &Names) -> Result<bool, Wrong> {
        let state = at(&mut self.locks, lock.index());
        match &mut state.writer {
            Some((owner, _, depth)) if *owner == thread => {
                *depth = depth.checked_add(1).ok_or("the lock is acquired too deeply")?;
                Ok(false)
            }
            Some((owner, since, _)) => held(lock, *owner, *since, thread, names),
            None => match state.readers.iter().find(|reader| reader.0 != thread) {
                Some(&(owner, since, _)) => held(lock, owner, since, thread, names),
                None => {
                    state.writer = Some((thread, id, 1));
                    Ok(true)
                }
            },
        }
    }

    /// Whether the release ends the section.
    fn release(&mut self, thread: ThreadId, lock: LockId, names: &Names) -> Result<bool, Wrong> {
        let state = at(&mut self.locks, lock.index());
        match &mut state.writer {
            Some((owner, _, depth)) if *owner == thread => {
                *depth -= 1;
                let ends = *depth == 0;
                if ends {
                    state.writer = None;
                }
                Ok(ends)
            }
            Some((owner, since, _)) => not_owner(lock, Some((*owner, *since)), thread, names),
            None => not_owner(lock, None, thread, names),
        }
    }

    fn acquire_shared(
        &mut self,
        id: EventId,
        thread: ThreadId,
        lock: LockId,
        names: &Names,
    ) -> Result<bool, Wrong> {
        let state = at(&mut self.locks, lock.index());
        if let Some((owner, since, _)) = state.writer
            && owner != thread
        {
            return held(lock, owner, since, thread, names);
        }
        match state.readers.iter_mut().find(|reader| reader.0 == thread) {
            Some((_, _, depth)) => {
                *depth = depth.checked_add(1).ok_or("the lock is acquired too deeply")?;
                Ok(false)
            }
            None => {
                state.readers.push((thread, id, 1));
                Ok(true)
            }
        }
    }

    fn release_shared(&mut self, thread: ThreadId, lock: LockId, names: &Names) -> Result<bool, Wrong> {
        let state = at(&mut self.locks, lock.index());
        let Some(position) = state.readers.iter().position(|reader| reader.0 == thread) else {
            return not_owner(lock, state.writer.map(|(owner, since, _)| (owner, since)), thread, names);
        };
        state.readers[position].2 -= 1;
        let ends = state.readers[position].2 == 0;
        if ends {
            state.readers.swap_remove(position);
        }
        Ok(ends)
    }

    fn try_failed(&mut self, lock: LockId, shared: bool, names: &Names) -> Verdict {
        let state = at(&mut self.locks, lock.index());
        if state.writer.is_some() || (!shared && !state.readers.is_empty()) {
            return Ok(());
        }
        wrong!("the attempt to take {} fails although nobody holds it", names.locks.name(lock))
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

    fn sem_init(&mut self, sem: SemId, permits: u32, names: &Names) -> Verdict {
        let state = at(&mut self.sems, sem.index());
        if state.touched {
            return wrong!("the semaphore {} is created after its first use", names.sems.name(sem));
        }
        *state = SemState { permits: Some(u64::from(permits)), touched: true };
        Ok(())
    }

    fn sem_wait(&mut self, sem: SemId, names: &Names) -> Verdict {
        let state = at(&mut self.sems, sem.index());
        state.touched = true;
        match &mut state.permits {
            Some(0) => wrong!("the semaphore {} has no permit left", names.sems.name(sem)),
            Some(permits) => {
                *permits -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn wait(&mut self, thread: ThreadId, cond: CondId, lock: LockId, names: &Names) -> Verdict {
        let state = at(&mut self.locks, lock.index());
        match state.writer {
            Some((owner, _, depth)) if owner == thread => {
                state.writer = None;
                let waiter = at(&mut self.threads, thread.index());
                waiter.waiting = Some((cond, lock, depth));
                waiter.runs = false;
                Ok(())
            }
            other => not_owner(lock, other.map(|(owner, since, _)| (owner, since)), thread, names),
        }
    }

    fn return_from_wait(
        &mut self,
        id: EventId,
        thread: ThreadId,
        cond: CondId,
        lock: LockId,
        names: &Names,
    ) -> Verdict {
        let Some((_, _, depth)) = at(&mut self.threads, thread.index()).waiting else {
            let (thread, cond) = (names.threads.name(thread), names.conds.name(cond));
            return wrong!("{thread} returns from a wait on {cond} that it did not begin");
        };
        if !self.acquire(id, thread, lock, names)? {
            let (thread, lock) = (names.threads.name(thread), names.locks.name(lock));
            return wrong!("{thread} returns from a wait although it holds {lock}");
        }
        if let Some((_, _, held)) = &mut at(&mut self.locks, lock.index()).writer {
            *held = depth;
        }
        let waiter = at(&mut self.threads, thread.index());
        waiter.waiting = None;
        waiter.runs = true;
        Ok(())
    }

    fn arrive(&mut self, thread: ThreadId, barrier: BarrierId, names: &Names) -> Verdict {
        let state = at(&mut self.barriers, barrier.index());
        if state.inside.iter().any(|inside| inside.0 == thread) {
            let (thread, barrier) = (names.threads.name(thread), names.barriers.name(barrier));
            return wrong!("{thread} arrives at {barrier} again before it departed");
        }
        state.inside.push((thread, state.open));
        Ok(())
    }

    fn depart(&mut self, thread: ThreadId, barrier: BarrierId, names: &Names) -> Verdict {
        let state = at(&mut self.barriers, barrier.index());
        let Some(position) = state.inside.iter().position(|inside| inside.0 == thread) else {
            let (thread, barrier) = (names.threads.name(thread), names.barriers.name(barrier));
            return wrong!("{thread} departs from {barrier} without having arrived");
        };
        let (_, generation) = state.inside[position];
        if generation == state.open {
            if state.inside.iter().any(|inside| inside.1 != generation) {
                let barrier = names.barriers.name(barrier);
                return wrong!("a departure from {barrier} overtakes one of the generation before it");
            }
            state.open += 1;
        }
        state.inside.swap_remove(position);
        Ok(())
    }
}

#[cold]
fn used_after_free<T>(var: VarId, freed: EventId, names: &Names) -> Result<T, Wrong> {
    wrong!("{} is used after it was freed at event {freed}", names.vars.name(var))
}

#[cold]
fn held<T>(
    lock: LockId,
    owner: ThreadId,
    since: EventId,
    thread: ThreadId,
    names: &Names,
) -> Result<T, Wrong> {
    let (lock, owner, thread) =
        (names.locks.name(lock), names.threads.name(owner), names.threads.name(thread));
    wrong!("{thread} acquires {lock} while {owner} holds it since event {since}")
}

#[cold]
fn not_owner<T>(
    lock: LockId,
    owner: Option<(ThreadId, EventId)>,
    thread: ThreadId,
    names: &Names,
) -> Result<T, Wrong> {
    let (lock, thread) = (names.locks.name(lock), names.threads.name(thread));
    match owner {
        Some((owner, since)) => {
            let owner = names.threads.name(owner);
            wrong!("{thread} releases {lock}, which {owner} holds since event {since}")
        }
        None => wrong!("{thread} releases {lock}, which it does not hold"),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::text::{TextReader, op_text};
    use crate::source::Source;

    /// The operations as the checker leaves them, with `!` after each that is unexplained; or what is wrong, after the
    /// number of the event.
    fn check(trace: &'static str) -> Result<Vec<String>, String> {
        let text = trace.replace([';', ' '], "\n");
        let mut source = TextReader::new(Box::new(std::io::Cursor::new(text)));
        let (mut checker, mut batch, mut seen) = (Checker::default(), Batch::default(), Vec::new());
        while source.fill(&mut batch).map_err(|error| format!("{error}"))? {
            checker.check_batch(&mut batch, source.names()).map_err(|error| match error {
                TraceError::Malformed { violation, .. } => format!("{}: {violation}", violation.event),
                other => other.to_string(),
            })?;
            for event in &batch.events {
                let mark = if event.unexplained { "!" } else { "" };
                let again = match event.op {
                    Op::AcquireAgain(_)
                    | Op::ReleaseAgain(_)
                    | Op::AcquireSharedAgain(_)
                    | Op::ReleaseSharedAgain(_) => " again",
                    _ => "",
                };
                seen.push(format!("{}{again}{mark}", op_text(event.op, source.names())));
            }
        }
        Ok(seen)
    }

    #[track_caller]
    fn fine(trace: &'static str) {
        if let Err(violation) = check(trace) {
            panic!("{trace}: {violation}");
        }
    }

    #[track_caller]
    fn wrong(trace: &'static str, violation: &str) {
        assert_eq!(check(trace).unwrap_err(), violation, "{trace}");
    }

    #[test]
    fn locks_have_one_owner() {
        fine("a|acq(l)|1 a|rel(l)|1 b|acq(l)|1 b|rel(l)|1");
        wrong("a|rel(l)|1", "1: a releases l, which it does not hold");
        wrong("a|acq(l)|1 b|rel(l)|1", "2: b releases l, which a holds since event 1");
        wrong("a|acq(l)|1 b|acq(l)|1", "2: b acquires l while a holds it since event 1");
        wrong("a|acq(l)|1 b|racq(l)|1", "2: b acquires l while a holds it since event 1");
        wrong("a|racq(l)|1 b|acq(l)|1", "2: b acquires l while a holds it since event 1");
        wrong("a|rrel(l)|1", "1: a releases l, which it does not hold");
        wrong("a|acq(l)|1 a|rrel(l)|1", "2: a releases l, which a holds since event 1");
    }

    #[test]
    fn repeated_acquires_are_marked() {
        assert_eq!(
            check("a|acq(l)|1 a|acq(l)|1 a|rel(l)|1 a|rel(l)|1").unwrap(),
            ["acq(l)", "acq(l) again", "rel(l) again", "rel(l)"]
        );
        assert_eq!(
            check("a|racq(l)|1 b|racq(l)|1 a|racq(l)|1 a|rrel(l)|1 a|rrel(l)|1").unwrap(),
            ["racq(l)", "racq(l)", "racq(l) again", "rrel(l) again", "rrel(l)"]
        );
        wrong(
            "a|acq(l)|1 a|acq(l)|1 a|rel(l)|1 b|acq(l)|1",
            "4: b acquires l while a holds it since event 1",
        );
    }

    #[test]
    fn a_writer_may_become_a_reader_and_the_last_reader_a_writer() {
        fine("a|acq(l)|1 a|racq(l)|1 a|rel(l)|1 b|racq(l)|1 a|rrel(l)|1 b|acq(l)|1");
        wrong("a|acq(l)|1 a|racq(l)|1 b|racq(l)|1", "3: b acquires l while a holds it since event 1");
    }

    #[test]
    fn attempts_fail_only_if_somebody_holds_the_lock() {
        fine("a|acq(l)|1 b|tryfail(l)|1 b|rtryfail(l)|1");
        fine("a|racq(l)|1 b|tryfail(l)|1");
        wrong("a|tryfail(l)|1", "1: the attempt to take l fails although nobody holds it");
        wrong("a|racq(l)|1 b|rtryfail(l)|1", "2: the attempt to take l fails although nobody holds it");
    }

    #[test]
    fn threads_begin_and_end_once() {
        fine("a|begin|1 a|fork(b)|1 b|begin|1 b|end|1 a|join(b)|1 a|join(b)|1");
        fine("a|fork(b)|1 a|join(b)|1");
        wrong("a|w(x)|1 a|begin|1", "2: a begins again; its first event is 1");
        wrong("a|end|1 a|w(x)|1", "2: a goes on after its end at event 1");
        wrong("b|w(x)|1 a|join(b)|1 b|w(x)|1", "3: b goes on after it was joined at event 2");
        wrong("a|fork(b)|1 a|join(b)|1 b|w(x)|1", "3: b goes on after it was joined at event 2");
        wrong("a|join(b)|1", "1: join of b, which was neither forked nor seen before");
        wrong("a|fork(b)|1 c|fork(b)|1", "2: b is forked again; it was forked at event 1");
        wrong("b|w(x)|1 a|fork(b)|1", "2: b is forked although it runs since event 1");
        wrong("a|fork(a)|1", "1: a forks itself");
        wrong("a|w(x)|1 a|join(a)|1", "2: a joins itself");
    }

    #[test]
    fn a_wait_gives_up_the_lock_and_takes_it_back() {
        fine(
            "a|acq(l)|1 a|acq(l)|1 a|wait(c,l)|1 b|acq(l)|1 b|notify(c)|1 b|rel(l)|1 a|woken(c,l)|1 a|rel(l)|1 a|rel(l)|1",
        );
        fine("a|acq(l)|1 a|wait(l)|1 a|timeout(l)|1 a|rel(l)|1");
        wrong("a|wait(c,l)|1", "1: a releases l, which it does not hold");
        wrong("a|acq(l)|1 a|wait(c,l)|1 a|w(x)|1", "3: a goes on while it waits on c");
        wrong("a|acq(l)|1 a|wait(c,l)|1 a|woken(d,l)|1", "3: a goes on while it waits on c");
        wrong("a|acq(l)|1 a|wait(c,l)|1 b|join(a)|1", "3: join of a while it waits on c");
        wrong("a|w(x)|1 a|woken(c,l)|1", "2: a returns from a wait on c that it did not begin");
        wrong(
            "a|acq(l)|1 a|wait(c,l)|1 b|acq(l)|1 a|timeout(c,l)|1",
            "4: a acquires l while b holds it since event 3",
        );
    }

    #[test]
    fn barriers_are_left_by_who_came() {
        fine("a|arrive(b)|1 c|arrive(b)|1 a|depart(b)|1 c|depart(b)|1 a|arrive(b)|1 a|depart(b)|1");
        fine("a|arrive(b)|1 c|arrive(b)|1 a|depart(b)|1 a|arrive(b)|1 c|depart(b)|1 a|depart(b)|1");
        wrong("a|arrive(b)|1 a|arrive(b)|1", "2: a arrives at b again before it departed");
        wrong("a|depart(b)|1", "1: a departs from b without having arrived");
        wrong(
            "a|arrive(b)|1 c|arrive(b)|1 a|depart(b)|1 a|arrive(b)|1 a|depart(b)|1",
            "5: a departure from b overtakes one of the generation before it",
        );
    }

    #[test]
    fn semaphores_have_no_more_permits_than_they_were_given() {
        fine("a|p(s)|1 a|p(s)|1 a|v(s)|1");
        fine("a|sem(s,0)|1 a|v(s)|1 a|p(s)|1");
        wrong("a|sem(s,1)|1 a|p(s)|1 a|p(s)|1", "3: the semaphore s has no permit left");
        wrong("a|p(s)|1 a|sem(s,1)|1", "2: the semaphore s is created after its first use");
    }

    #[test]
    fn freed_memory_is_left_alone() {
        fine("a|alloc(x)|1 a|w(x)|1 a|free(x)|1 a|alloc(x)|1 a|r(x)|1");
        wrong("a|free(x)|1 b|r(x)|1", "2: x is used after it was freed at event 1");
        wrong("a|free(x)|1 b|astore(x)|1", "2: x is used after it was freed at event 1");
        wrong("a|free(x)|1 b|rmw(x)|1", "2: x is used after it was freed at event 1");
        wrong("a|free(x)|1 b|free(x)|1", "2: x is freed again; it was freed at event 1");
    }

    #[test]
    fn memory_is_allocated_once_and_before_its_use() {
        let mut names = Names::default();
        let thread = names.threads.intern(b"a").unwrap();
        let var = names.vars.intern(b"x").unwrap();
        let loc = names.loc(b"1").unwrap();
        for first in [Op::Alloc(var), Op::Write { var, value: None }, Op::Free(var)] {
            let mut checker = Checker::default();
            let mut run = |op| checker.check(&mut Event::new(thread, op, loc), &names).unwrap();
            assert_eq!(run(first), Ok(()));
            let violation = run(Op::Alloc(var)).unwrap_err();
            assert_eq!(
                violation.to_string(),
                "x is allocated again without a generation of its own",
                "{first:?}"
            );
        }
    }

    #[test]
    fn a_value_that_no_write_explains_is_flagged() {
        assert_eq!(
            check("a|w(x,1)|1 b|r(x,1)|1 b|r(x,2)|1 a|r(x,2)|1 a|w(x)|1 a|r(x,7)|1 a|r(x,7)|1").unwrap(),
            ["w(x,1)", "r(x,1)", "r(x,2)!", "r(x,2)", "w(x)", "r(x,7)", "r(x,7)"]
        );
        assert_eq!(
            check("a|astore(x,1)|1 b|rmw(x,1,2)|1 b|rmw(x,1,2)|1 a|aload(x,2)|1").unwrap(),
            ["astore(x,1)", "rmw(x,1,2)", "rmw(x,1,2)!", "aload(x,2)"]
        );
    }

    #[test]
    fn the_first_read_tells_the_initial_value() {
        assert_eq!(check("a|r(x,5)|1 b|r(x,5)|1 b|r(x,0)|1").unwrap(), ["r(x,5)", "r(x,5)", "r(x,0)!"]);
    }
}
