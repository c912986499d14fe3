//! The operational semantics: which event can run next, and what it does.
//!
//! The meaning of each operation is that of [`foretell_trace::event`]; this is its executable form. A machine is in the
//! state after some prefix of a schedule. What a thread does next is always its next event of the trace; the machine
//! knows whether it can do so now, and keeps track of reads that saw something else than observed ([`Model`]).
//!
//! What [`foretell_trace::event`] leaves to us:
//! * An event that no recorded write explains stands for an external write, too, by code that may have looked at
//!   anything before: it can run only once everything before it in the trace has run, as observed.
//! * An update that deviates leaves a content that equals nothing observed, unless the trace shows that what it writes
//!   does not depend on what it read.
//! * Memory whose allocation the trace shows holds something unknown, not 0, unless a read shows what.

mod meetings;
mod waiting;

use std::sync::Arc;

use foretell_trace::values::Demand;
use foretell_trace::{Event, EventId, LockId, Model, Op, SemId, Symbol, ThreadId, Value, VarId, ops};

use self::meetings::BarrierState;
use crate::blocked::Blocked;
use crate::computed::{self, Computed, EvaluationTurn, Known};
use crate::deviations::DeviatingReads;
use crate::observed::{NONE, Observed, id, write_id};

/// A replay in progress.
#[derive(Clone, Debug)]
pub struct Machine<'t> {
    observed: Arc<Observed<'t>>,
    /// The model in force; one that the trace has enough information for.
    model: Model,
    /// The reads that saw something else than observed, in [`Model::Necessary`] only.
    deviating: Option<DeviatingReads<'t>>,
    /// The values, in [`Model::Values`] only.
    computed: Option<Computed<'t>>,
    /// How far each thread is.
    threads: Vec<ThreadProgress>,
    /// What each variable holds.
    vars: Vec<VariableState>,
    /// The holders of each lock.
    locks: Vec<LockState>,
    /// The permits of each semaphore; `None` until its creation has run.
    sems: Vec<Option<u64>>,
    /// The threads that wait for a notification of each condition. Short: searched linearly.
    waiting: Vec<Vec<ThreadId>>,
    /// How far each barrier is.
    barriers: Vec<BarrierState>,
    /// How many events have run. Only grows.
    ran: usize,
    /// How many threads have read something else than observed. Only grows.
    deviated: usize,
    /// How many events that no recorded write explains have run: always the first ones of the trace.
    unexplained_ran: usize,
    /// The index of the next of these, or [`NONE`]. Nothing after it can run.
    fence: u32,
}

#[derive(Clone, Copy, Debug)]
struct ThreadProgress {
    /// The index of its next event, or [`NONE`] at its end.
    next: u32,
    /// Its fork is in the trace and has not run.
    unborn: bool,
    /// It has read something else than observed. Stays.
    deviated: bool,
    /// It waits, and all that waited were woken. Reset when it returns.
    notified: bool,
    /// It waits, and this many notifications of one thread have come since by which no thread has returned.
    signals: u32,
}

/// A variable.
#[derive(Clone, Copy, Debug)]
struct VariableState {
    /// The index of the last write, or [`NONE`].
    writer: u32,
    content: CellContent,
    life: ThreadLife,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum CellContent {
    Known(Value),
    /// The trace does not show the value. The same write still means the same value.
    Hidden,
    /// It depends on a deviating read: equals nothing that was observed.
    Foreign,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ThreadLife {
    NotAllocated,
    Usable,
    Freed,
}

#[derive(Clone, Debug, Default)]
struct LockState {
    /// The exclusive holder.
    writer: Option<ThreadId>,
    /// The shared holders. Short: searched linearly.
    readers: Vec<ThreadId>,
}

impl LockState {
    fn clear(&mut self) {
        self.writer = None;
        self.readers.clear();
    }
}

impl<'t> Machine<'t> {
    /// A machine on which nothing has run.
    pub fn new(observed: Arc<Observed<'t>>, model: Model) -> Machine<'t> {
        let names = observed.trace().names();
        let mut machine = Machine {
            model: Model::SameWrite,
            deviating: None,
            computed: None,
            threads: Vec::with_capacity(observed.threads.len()),
            vars: (0..names.vars.len()).map(|var| initial_cell(&observed, var)).collect(),
            locks: vec![LockState::default(); names.locks.len()],
            sems: observed.permits.clone(),
            waiting: vec![Vec::new(); names.conds.len()],
            barriers: vec![BarrierState::default(); names.barriers.len()],
            ran: 0,
            deviated: 0,
            unexplained_ran: 0,
            fence: NONE,
            observed,
        };
        machine.rewind(&[], model);
        machine
    }

    /// Goes back to the state in which nothing has run. `ran` must hold all events that have run: only what these
    /// touched is reset, so that a short replay on a long trace is cheap.
    pub fn rewind(&mut self, ran: &[EventId], model: Model) {
        for &event in ran {
            self.forget(self.observed.trace().event(event).op);
        }
        let trace = self.observed.trace();
        self.model = crate::model::supported(model, trace);
        self.deviating = self.deviating_reads();
        let values = trace.values().filter(|_| self.model == Model::Values);
        self.computed = values.map(|values| Computed::new(trace, values));
        self.threads.clear();
        self.threads.extend(self.observed.threads.iter().map(|start| ThreadProgress {
            next: start.first,
            unborn: start.forked,
            deviated: false,
            notified: false,
            signals: 0,
        }));
        self.ran = 0;
        self.deviated = 0;
        self.unexplained_ran = 0;
        self.fence = self.observed.unexplained.first().copied().unwrap_or(NONE);
    }

    /// Resets what the operation touches.
    fn forget(&mut self, op: Op) {
        match op {
            Op::Read { var, .. }
            | Op::Write { var, .. }
            | Op::Load { var, .. }
            | Op::Store { var, .. }
            | Op::Rmw { var, .. }
            | Op::Free(var)
            | Op::Alloc(var) => self.vars[var.index()] = initial_cell(&self.observed, var.index()),
            Op::Acquire(lock)
            | Op::TryAcquire(lock)
            | Op::AcquireShared(lock)
            | Op::TryAcquireShared(lock) => self.locks[lock.index()].clear(),
            Op::Woken { lock, .. } | Op::WaitTimeout { lock, .. } => self.locks[lock.index()].clear(),
            Op::SemInit { sem, .. } | Op::SemWait(sem) | Op::SemPost(sem) => {
                self.sems[sem.index()] = self.observed.permits[sem.index()];
            }
            Op::Arrive(barrier) => self.barriers[barrier.index()] = BarrierState::default(),
            Op::Wait { cond, .. } => self.waiting[cond.index()].clear(),
            // These touch nothing that lasts, or undo what one of the above did.
            Op::Fence { .. }
            | Op::Release(_)
            | Op::ReleaseShared(_)
            | Op::Notify(_)
            | Op::NotifyAll(_)
            | Op::Depart(_)
            | ops!(control | labels | reentries | attempts) => {}
        }
    }

    /// From here on another model is in force. That makes no difference to what has run if it ran as recorded, and no
    /// values are computed; otherwise the answer is no.
    pub(crate) fn go_on_by(&mut self, model: Model) -> bool {
        let trace = self.observed.trace();
        self.model = crate::model::supported(model, trace);
        self.deviating = self.deviating_reads();
        self.model != Model::Values && self.computed.is_none() && self.deviated == 0
    }

    /// Runs the next events of the recorded run, of which only its first ones have run. Says whether all could.
    pub(crate) fn run_as_recorded(&mut self, count: usize) -> bool {
        let next = self.observed.trace().events().iter().skip(self.ran).take(count);
        let threads: Vec<ThreadId> = next.map(|event| event.thread).collect();
        threads.into_iter().all(|thread| {
            let is_next = self.threads[thread.index()].next as usize == self.ran;
            is_next && self.step(thread).is_ok()
        })
    }

    /// About how many bytes a copy takes.
    pub(crate) fn size(&self) -> usize {
        self.threads.len() * size_of::<ThreadProgress>()
            + self.vars.len() * size_of::<VariableState>()
            + self.locks.len() * size_of::<LockState>()
            + self.sems.len() * size_of::<Option<u64>>()
            + self.waiting.len() * size_of::<Vec<ThreadId>>()
            + self.barriers.len() * size_of::<BarrierState>()
    }

    /// How many events the trace has.
    pub(crate) fn event_count(&self) -> usize {
        self.observed.trace().events().len()
    }

    /// None so far, where it matters which they are.
    fn deviating_reads(&self) -> Option<DeviatingReads<'t>> {
        let trace = self.observed.trace();
        let dependence = trace.dependence().filter(|_| self.model == Model::Necessary);
        dependence.map(|dependence| DeviatingReads::new(dependence, trace.thread_count()))
    }

    /// The thread's next event, if it has one left.
    pub fn next(&self, thread: ThreadId) -> Option<EventId> {
        match self.threads[thread.index()].next {
            NONE => None,
            next => Some(id(next)),
        }
    }

    /// Whether the event has run.
    pub fn has_run(&self, event: EventId) -> bool {
        let thread = self.observed.trace().event(event).thread;
        self.threads[thread.index()].next as usize > event.index()
    }

    /// How many events have run.
    pub fn ran(&self) -> usize {
        self.ran
    }

    /// What the variable holds; `None` if the trace does not show it, it was written by a thread that had read
    /// something else than observed, or it is a number that is not among the values of the trace.
    pub fn value(&self, var: VarId) -> Option<Value> {
        if self.computed.is_some() {
            return match self.held(var).value? {
                Known::Name(value) => Some(value),
                Known::Number(number) => u32::try_from(number).ok().and_then(Symbol::number).map(Value),
            };
        }
        match self.vars[var.index()].content {
            CellContent::Known(value) => Some(value),
            CellContent::Hidden | CellContent::Foreign => None,
        }
    }

    /// Whether the thread's next event can run now.
    pub fn enabled(&self, thread: ThreadId) -> Result<(), Blocked> {
        let index = self.next_taking_place(thread)?;
        let event = self.observed.event(index);
        self.operation_enabled(index, event)?;
        match &self.computed {
            Some(computed) => computed.could_take_place(self.turn(index, event), |_| true),
            None => Ok(()),
        }
    }

    /// Runs the thread's next event.
    pub fn step(&mut self, thread: ThreadId) -> Result<(), Blocked> {
        let index = self.next_taking_place(thread)?;
        let event = self.observed.event(index);
        self.operation_enabled(index, event)?;
        let turn = self.turn(index, event);
        if let Some(computed) = &mut self.computed {
            computed.take_place(turn)?;
        }
        self.threads[thread.index()].next = self.observed.link(index).next;
        self.ran += 1;
        if index == self.fence {
            self.unexplained_ran += 1;
            self.fence = self.observed.unexplained.get(self.unexplained_ran).copied().unwrap_or(NONE);
        }
        self.apply(index, event);
        Ok(())
    }

    /// Whether the thread's next event, an access, could take place now if nothing had to be seen by it: the question
    /// that is asked about the two events of a race. An event that no recorded write explains cannot race: the code
    /// that wrote what it saw may also have synchronised with its thread.
    pub fn could_race(&self, thread: ThreadId) -> Result<(), Blocked> {
        match self.comes_to(thread)?.op.access() {
            Some(access) => self.usable(access.var),
            None => Ok(()),
        }
    }

    /// Whether the thread's next event, to which it comes as to one that races, accesses memory that has been given
    /// back.
    pub fn could_use_freed(&self, thread: ThreadId) -> Result<bool, Blocked> {
        let access = self.comes_to(thread)?.op.access();
        Ok(access.is_some_and(|access| self.vars[access.var.index()].life == ThreadLife::Freed))
    }

    /// The thread's next event, if the thread comes to it, whatever the event then finds.
    fn comes_to(&self, thread: ThreadId) -> Result<&'t Event, Blocked> {
        let index = self.next_taking_place(thread)?;
        if index == self.fence {
            self.as_observed_up_to(index)?;
        }
        let event = self.observed.event(index);
        if let Some(computed) = &self.computed {
            let of_others = |demand: &Demand| self.observed.newest[demand.term.index()] != Some(id(index));
            computed.could_take_place(self.turn(index, event), of_others)?;
        }
        Ok(event)
    }

    /// The state as far as it is not a function of itself: what can happen from here on depends on this alone.
    ///
    /// The positions of the threads determine the holders of locks, the permits, the arrivals, and what is allocated or
    /// freed, because each of these is a count or a set over the events that have run. Memory, deviations,
    /// notifications and the meetings at barriers depend on the order, too.
    pub fn key(&self) -> Box<[u32]> {
        let threads = self.threads.iter().flat_map(|thread| {
            [thread.next, u32::from(thread.deviated) | u32::from(thread.notified) << 1, thread.signals]
        });
        let inside = self.barriers.iter().flat_map(|barrier| {
            let mut inside = barrier.inside.clone();
            inside.sort_unstable();
            inside.into_iter().map(|(_, generation)| generation)
        });
        let vars =
            self.vars.iter().flat_map(|cell| [cell.writer, u32::from(cell.content == CellContent::Foreign)]);
        let deviating = self.deviating.iter().flat_map(|deviating| deviating.reads().map(EventId::number));
        let computed = self.computed.iter().flat_map(Computed::key);
        threads.chain(vars).chain(inside).chain(deviating).chain(computed).collect()
    }

    /// The index of the thread's next event, if the thread can take any step at all.
    fn next_taking_place(&self, thread: ThreadId) -> Result<u32, Blocked> {
        let state = &self.threads[thread.index()];
        if state.next == NONE {
            return Err(Blocked::AtEnd);
        }
        if state.unborn {
            return Err(Blocked::NotForked);
        }
        if state.deviated && self.model == Model::SameValue {
            return Err(Blocked::Deviated);
        }
        if let Some(read) = self.deviating.as_ref().and_then(|all| all.that_steers(id(state.next), thread)) {
            return Err(Blocked::Steered(read));
        }
        if state.next > self.fence {
            return Err(Blocked::BehindUnexplained(id(self.fence)));
        }
        Ok(state.next)
    }

    fn operation_enabled(&self, index: u32, event: &Event) -> Result<(), Blocked> {
        if index == self.fence {
            self.as_observed_up_to(index)?;
        }
        let thread = event.thread;
        match event.op {
            Op::Read { var, .. } | Op::Load { var, .. } | Op::Rmw { var, .. } => {
                self.usable(var)?;
                self.readable(index, event, var)
            }
            Op::Write { var, .. } | Op::Store { var, .. } | Op::Free(var) => self.usable(var),
            Op::Acquire(lock) | Op::TryAcquire(lock) | Op::WaitTimeout { lock, .. } => {
                self.lock_free(lock, thread)
            }
            Op::AcquireShared(lock) | Op::TryAcquireShared(lock) => self.lock_shareable(lock, thread),
            Op::TryAcquireFailed(lock) => {
                let state = &self.locks[lock.index()];
                require(state.writer.is_some() || !state.readers.is_empty(), Blocked::NotHeld(lock))
            }
            Op::TryAcquireSharedFailed(lock) => {
                require(self.locks[lock.index()].writer.is_some(), Blocked::NotHeld(lock))
            }
            Op::Join(child) => {
                let state = &self.threads[child.index()];
                require(state.next == NONE && !state.unborn, Blocked::StillRuns(child))
            }
            // Where the trace has dependence information, a branch is an event like any other.
            Op::Branch => {
                let as_observed = !self.threads[thread.index()].deviated
                    || self.deviating.is_some()
                    || self.computed.is_some();
                require(as_observed, Blocked::Deviated)
            }
            Op::SemPost(sem) => self.permits(sem).map(|_| ()),
            Op::SemWait(sem) => require(self.permits(sem)? > 0, Blocked::NoPermit(sem)),
            Op::Woken { cond, lock } => {
                self.notified(index, thread, cond)?;
                self.lock_free(lock, thread)
            }
            Op::Arrive(barrier) => self.gathering(barrier, self.generation(index, barrier)),
            Op::Depart(barrier) => {
                let inside = &self.barriers[barrier.index()].inside;
                let with = inside.iter().find(|inside| inside.0 == thread).map_or(NONE, |inside| inside.1);
                let complete = self.barriers[barrier.index()].generation > with
                    || self.arrivals_are_complete(barrier, with);
                require(complete, Blocked::ArrivalsMissing(barrier, with))
            }
            Op::Fence { .. }
            | Op::Release(_)
            | Op::ReleaseShared(_)
            | Op::Fork(_)
            | Op::Begin
            | Op::End
            | Op::SemInit { .. }
            | Op::Wait { .. }
            | Op::Notify(_)
            | Op::NotifyAll(_)
            | Op::Alloc(_)
            | ops!(labels | reentries) => Ok(()),
        }
    }

    /// What an event that no recorded write explains needs.
    #[cold]
    fn as_observed_up_to(&self, index: u32) -> Result<(), Blocked> {
        require(self.ran == index as usize, Blocked::UnexplainedTooEarly)?;
        require(self.deviated == 0, Blocked::UnexplainedAfterDeviation)
    }

    fn usable(&self, var: VarId) -> Result<(), Blocked> {
        match self.vars[var.index()].life {
            ThreadLife::Usable => Ok(()),
            ThreadLife::NotAllocated => Err(Blocked::NotAllocated(var)),
            ThreadLife::Freed => Err(Blocked::Freed(var)),
        }
    }

    fn readable(&self, index: u32, event: &Event, var: VarId) -> Result<(), Blocked> {
        let steers_itself =
            self.deviating.as_ref().is_some_and(|deviating| deviating.steers_itself(id(index)));
        if (self.model == Model::SameWrite || steers_itself) && !self.as_observed(index, event, var) {
            return Err(Blocked::OtherWrite(var, write_id(self.vars[var.index()].writer)));
        }
        Ok(())
    }

    /// Whether a read would see what it saw in the observed run.
    fn as_observed(&self, index: u32, event: &Event, var: VarId) -> bool {
        let cell = &self.vars[var.index()];
        let link = self.observed.link(index);
        if event.unexplained {
            // The write from outside comes just before, whatever was there.
            true
        } else if self.model == Model::SameWrite {
            cell.writer == link.source
        } else if let Some(computed) = &self.computed {
            computed.sees(event, self.held(var), cell.writer == link.source).as_observed
        } else if link.by_value {
            event.op.value_read().is_some_and(|seen| cell.content == CellContent::Known(seen))
        } else {
            cell.writer == link.source && cell.content != CellContent::Foreign
        }
    }

    /// What the variable holds, where values are computed.
    pub(crate) fn held(&self, var: VarId) -> computed::RecomputedContent {
        let computed = self.computed.as_ref();
        let initial = || self.observed.initial[var.index()].value;
        computed.and_then(|computed| computed.held(var)).unwrap_or_else(|| computed::RecomputedContent {
            value: computed.and_then(|computed| initial().map(|value| computed.shown(value))),
            as_observed: true,
        })
    }

    /// What the event sees, if it reads; or what it has seen, where values are computed.
    pub(crate) fn sees(&self, event: EventId) -> Option<computed::RecomputedContent> {
        let computed = self.computed.as_ref()?;
        let (id, event) = (event, &self.observed.trace().events()[event.index()]);
        let access = event.op.access().filter(|access| access.kind.reads())?;
        let same_write = self.vars[access.var.index()].writer == self.observed.source_of(id);
        Some(computed.seen(id).unwrap_or_else(|| computed.sees(event, self.held(access.var), same_write)))
    }

    fn turn(&self, index: u32, event: &Event) -> EvaluationTurn {
        EvaluationTurn {
            event: id(index),
            thread: event.thread,
            has_deviated: self.threads[event.thread.index()].deviated,
            sees: self.sees(id(index)),
        }
    }

    fn lock_free(&self, lock: LockId, thread: ThreadId) -> Result<(), Blocked> {
        self.lock_shareable(lock, thread)?;
        match self.locks[lock.index()].readers.iter().find(|&&reader| reader != thread) {
            Some(&reader) => Err(Blocked::Held(lock, reader)),
            None => Ok(()),
        }
    }

    fn lock_shareable(&self, lock: LockId, thread: ThreadId) -> Result<(), Blocked> {
        match self.locks[lock.index()].writer {
            Some(writer) if writer != thread => Err(Blocked::Held(lock, writer)),
            _ => Ok(()),
        }
    }

    fn permits(&self, sem: SemId) -> Result<u64, Blocked> {
        self.sems[sem.index()].ok_or(Blocked::NotCreated(sem))
    }

    /// What the event at `index`, which can run, does.
    fn apply(&mut self, index: u32, event: &Event) {
        let thread = event.thread;
        match event.op {
            Op::Read { var, .. } | Op::Load { var, .. } => self.read(index, event, var),
            Op::Write { var, value } | Op::Store { var, value, .. } => self.write(index, event, var, value),
            Op::Rmw { var, written, .. } => {
                self.read(index, event, var);
                self.write(index, event, var, written);
            }
            Op::Alloc(var) => self.vars[var.index()].life = ThreadLife::Usable,
            Op::Free(var) => self.vars[var.index()].life = ThreadLife::Freed,
            Op::Acquire(lock) | Op::TryAcquire(lock) | Op::WaitTimeout { lock, .. } => {
                self.locks[lock.index()].writer = Some(thread);
            }
            Op::Woken { cond, lock } => {
                self.return_woken(index, thread, cond);
                self.locks[lock.index()].writer = Some(thread);
            }
            Op::Release(lock) => self.locks[lock.index()].writer = None,
            Op::Wait { cond, lock } => {
                self.locks[lock.index()].writer = None;
                self.wait(index, thread, cond);
            }
            Op::AcquireShared(lock) | Op::TryAcquireShared(lock) => {
                self.locks[lock.index()].readers.push(thread);
            }
            Op::ReleaseShared(lock) => self.locks[lock.index()].readers.retain(|&reader| reader != thread),
            Op::Fork(child) => self.threads[child.index()].unborn = false,
            Op::SemInit { sem, permits } => self.sems[sem.index()] = Some(u64::from(permits)),
            Op::SemPost(sem) => {
                self.sems[sem.index()] = self.sems[sem.index()].map(|permits| permits.saturating_add(1));
            }
            Op::SemWait(sem) => {
                self.sems[sem.index()] = self.sems[sem.index()].map(|permits| permits.saturating_sub(1));
            }
            Op::Notify(cond) => self.notify(cond, |waiter| waiter.signals += u32::from(!waiter.notified)),
            Op::NotifyAll(cond) => {
                self.notify(cond, |waiter| (waiter.notified, waiter.signals) = (true, 0));
            }
            Op::Arrive(barrier) => self.arrive(thread, barrier, self.generation(index, barrier)),
            Op::Depart(barrier) => {
                self.barriers[barrier.index()].inside.retain(|inside| inside.0 != thread);
            }
            Op::Fence { .. }
            | Op::Join(_)
            | Op::Begin
            | Op::End
            | Op::Branch
            | ops!(labels | reentries | attempts) => {}
        }
    }

    fn read(&mut self, index: u32, event: &Event, var: VarId) {
        let as_observed = self.model == Model::SameWrite || self.as_observed(index, event, var);
        if let Some((seen, computed)) = self.sees(id(index)).zip(self.computed.as_mut()) {
            computed.read(id(index), seen);
            if event.unexplained {
                computed.set(var, seen);
            }
        }
        if event.unexplained {
            let content = event.op.value_read().map_or(CellContent::Hidden, CellContent::Known);
            let cell = &mut self.vars[var.index()];
            cell.writer = index;
            cell.content = content;
        } else if !as_observed {
            let thread = &mut self.threads[event.thread.index()];
            self.deviated += usize::from(!thread.deviated);
            thread.deviated = true;
            if let Some(deviating) = &mut self.deviating {
                deviating.add(id(index), event.thread);
            }
        }
    }

    fn write(&mut self, index: u32, event: &Event, var: VarId, value: Option<Value>) {
        let turn = self.turn(index, event);
        if let Some(computed) = &mut self.computed {
            let stored = computed.stores(turn, value);
            computed.set(var, stored);
        }
        let foreign = turn.has_deviated
            && self.deviating.as_mut().is_none_or(|deviating| deviating.change_value_of(id(index)));
        let cell = &mut self.vars[var.index()];
        cell.writer = index;
        cell.content = match value {
            _ if foreign => CellContent::Foreign,
            Some(value) => CellContent::Known(value),
            None => CellContent::Hidden,
        };
    }
}

fn initial_cell(observed: &Observed<'_>, var: usize) -> VariableState {
    let initial = observed.initial[var];
    VariableState {
        writer: NONE,
        content: initial.value.map_or(CellContent::Hidden, CellContent::Known),
        life: if initial.allocated_later { ThreadLife::NotAllocated } else { ThreadLife::Usable },
    }
}

fn require(condition: bool, otherwise: Blocked) -> Result<(), Blocked> {
    if condition { Ok(()) } else { Err(otherwise) }
}
