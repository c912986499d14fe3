//! One state of a running program, and how it goes on.
//!
//! In every state each thread stands before a step, or waits, or has ended: what a thread does between two steps is its
//! own affair and happens together with the step before; what it does before its first step happens when it is started.
//! To fail (an assertion, an index out of bounds, a lock that is not held) is a step of its own: what others do between
//! the thread's last step and its failure may well happen.
//!
//! * [`action`]: steps as others see them
//! * [`blocked`]: who waits for what
//! * [`failure`]: what can go wrong
//! * [`shadow`]: what travels with values and threads
//! * `silent`: instructions between steps
//! * `names`: what people and traces call things
//! * `copy`: states are copied without new memory
//! * [`key`]: states as bytes, the same bytes for the same state however it was reached

pub mod action;
pub mod blocked;
mod copy;
pub mod failure;
pub mod key;
mod names;
pub mod shadow;
mod silent;

pub use action::{Action, MemoryLocation, PendingStep, Refused, Turn};
pub use blocked::{Blocked, Wanted};
pub use failure::{Failure, Fault};
pub(crate) use names::elements;
pub use shadow::{At, Done, Guard, Shadow, Slot};

use crate::program::{Function, Group, Instr, Position, Program};
use crate::value::{ThreadRef, Value};

/// How far a machine may go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// How many calls may be within each other.
    pub call_depth: usize,
    /// How often a loop may run each time it is entered.
    pub loop_bound: Option<u32>,
    /// How many instructions a thread may run between two steps.
    pub silent_steps: usize,
    /// How many threads there may be.
    pub threads: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds { call_depth: 1_000, loop_bound: None, silent_steps: 1_000_000, threads: 1_000 }
    }
}

/// A state of a program.
pub struct Machine<'p, S: Shadow = ()> {
    program: &'p Program,
    bounds: Bounds,
    /// What the elements of all shared variables hold.
    memory: Vec<Slot<S::Tag>>,
    locks: Vec<Lock>,
    /// The permits of each semaphore.
    semaphores: Vec<u32>,
    /// In the order in which they were started, or, in a state that was found by its key, in the order of keys.
    threads: Vec<Thread<S>>,
    /// Once set, nothing happens any more.
    failure: Option<Failure>,
}

/// The owner of a lock, and how often it was acquired. A lock of depth 0 is free.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Lock {
    owner: ThreadRef,
    depth: u32,
}

const FREE: Lock = Lock { owner: ThreadRef(0), depth: 0 };

/// A heap cell.
#[derive(Debug)]
struct Cell<T> {
    kind: u32,
    fields: Vec<Slot<T>>,
}

struct Thread<S: Shadow> {
    /// Its parent; `None` if it runs from the beginning.
    parent: Option<ThreadRef>,
    /// Which of the threads that run from the beginning it is, or its number among those that its parent started.
    number: u32,
    /// How many threads it has started.
    forks: u32,
    status: Status,
    /// What it does next. Means nothing once the thread has ended.
    next: Action,
    /// What goes wrong if it fails next.
    fault: Option<Fault>,
    /// Functions that run, the one that was called last at the end.
    frames: Vec<Frame>,
    /// For each frame its locals, then its operands.
    slots: Vec<Slot<S::Tag>>,
    /// For each frame how often its loops have run.
    counters: Vec<u32>,
    control: S::Control,
    /// The cells that it has allocated.
    cells: Vec<Cell<S::Tag>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Status {
    /// Stands before a step.
    Ready,
    /// Waits for a notification; held the lock so often.
    Waiting { depth: u32 },
    /// Was notified and will take the lock so often again.
    Woken { depth: u32 },
    /// Has nothing left to do.
    Ended,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Frame {
    function: u32,
    /// The next instruction.
    pc: u32,
    /// Where its locals begin among the slots.
    base: u32,
    /// Where its loops begin among the counters.
    counters: u32,
}

/// A number that indexes parts of a program, or counts what is bounded by memory.
#[expect(clippy::cast_possible_truncation, reason = "no program has 2^32 parts of any sort")]
fn narrow(number: usize) -> u32 {
    number as u32
}

impl<'p, S: Shadow> Machine<'p, S> {
    /// The program at its beginning: every thread stands before its first step.
    pub fn start(program: &'p Program, bounds: Bounds, shadow: &mut S) -> Self {
        let number = |value: &i64| Slot { value: Value::Number(*value), tag: S::Tag::default() };
        let mut machine = Machine {
            program,
            bounds,
            memory: program.shared.iter().flat_map(|shared| shared.initial.iter().map(number)).collect(),
            locks: program.locks.iter().flat_map(|group| elements(group).map(|_| FREE)).collect(),
            semaphores: program
                .semaphores
                .iter()
                .flat_map(|(group, permits)| elements(group).map(|_| *permits))
                .collect(),
            threads: Vec::new(),
            failure: None,
        };
        for (index, &(_, function)) in program.threads.iter().enumerate() {
            let mut thread = Thread::new(None, narrow(index), S::Control::default());
            thread.enter(&program.functions[function], narrow(function));
            machine.threads.push(thread);
            machine.advance(ThreadRef(narrow(index)), shadow);
        }
        machine
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// All threads there have been so far, also those that have ended.
    pub fn threads(&self) -> impl Iterator<Item = ThreadRef> + use<S> {
        (0..narrow(self.threads.len())).map(ThreadRef)
    }

    /// Why nothing happens any more, if something went wrong.
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// Whether the thread has nothing left to do.
    pub fn has_ended(&self, thread: ThreadRef) -> bool {
        self.threads[thread.index()].status == Status::Ended
    }

    /// Whether all threads have ended.
    pub fn is_finished(&self) -> bool {
        self.threads.iter().all(|thread| thread.status == Status::Ended)
    }

    /// What the thread does next, be it possible now or not; nothing once it has ended.
    pub fn next(&self, thread: ThreadRef) -> Option<PendingStep> {
        if self.has_ended(thread) {
            return None;
        }
        Some(PendingStep { action: self.threads[thread.index()].next, position: self.position(thread) })
    }

    /// The functions that the thread is in, by their places in the program, the one that was called last first.
    pub fn calls(&self, thread: ThreadRef) -> impl Iterator<Item = u32> {
        self.threads[thread.index()].frames.iter().rev().map(|frame| frame.function)
    }

    /// Whether the thread can take its next step now.
    pub fn enabled(&self, thread: ThreadRef) -> bool {
        let state = &self.threads[thread.index()];
        match state.status {
            Status::Waiting { .. } | Status::Ended => return false,
            Status::Ready | Status::Woken { .. } => {}
        }
        self.failure.is_none()
            && match state.next {
                Action::Acquire(lock) => {
                    let lock = self.locks[lock as usize];
                    lock.depth == 0 || lock.owner == thread
                }
                Action::Woken { lock, .. } => self.locks[lock as usize].depth == 0,
                Action::SemWait(semaphore) => self.semaphores[semaphore as usize] > 0,
                Action::Join(other) => self.has_ended(other),
                _ => true,
            }
    }

    /// The threads that wait for the condition and were not notified yet.
    pub fn waiting(&self, condition: u32) -> impl Iterator<Item = ThreadRef> {
        self.threads().filter(move |&thread| self.waits_for(thread, condition))
    }

    fn waits_for(&self, thread: ThreadRef, condition: u32) -> bool {
        let state = &self.threads[thread.index()];
        matches!(state.status, Status::Waiting { .. })
            && matches!(state.next, Action::Woken { condition: awaited, .. } if awaited == condition)
    }

    /// The threads that the thread's next step could wake: one entry for each possible turn of the thread.
    pub fn choices(&self, thread: ThreadRef) -> Vec<Option<ThreadRef>> {
        let mut turns = Vec::new();
        self.add_turns(thread, &mut turns);
        turns.into_iter().map(|turn| turn.wake).collect()
    }

    /// Replaces `turns` by all turns that are possible now, in the order of the threads.
    pub fn turns(&self, turns: &mut Vec<Turn>) {
        turns.clear();
        for thread in self.threads() {
            self.add_turns(thread, turns);
        }
    }

    fn add_turns(&self, thread: ThreadRef, turns: &mut Vec<Turn>) {
        if !self.enabled(thread) {
            return;
        }
        let before = turns.len();
        if let Action::Notify(condition) = self.threads[thread.index()].next {
            turns.extend(self.waiting(condition).map(|waiter| Turn { thread, wake: Some(waiter) }));
        }
        if turns.len() == before {
            turns.push(Turn { thread, wake: None });
        }
    }

    fn allows(&self, turn: Turn) -> bool {
        if turn.thread.index() >= self.threads.len() || !self.enabled(turn.thread) {
            return false;
        }
        match (self.threads[turn.thread.index()].next, turn.wake) {
            (Action::Notify(condition), Some(wake)) => {
                wake.index() < self.threads.len() && self.waits_for(wake, condition)
            }
            (Action::Notify(condition), None) => self.waiting(condition).next().is_none(),
            (_, wake) => wake.is_none(),
        }
    }

    /// Takes a turn and runs the thread up to its next step.
    pub fn step_with(&mut self, turn: Turn, shadow: &mut S) -> Result<(), Refused> {
        if !self.allows(turn) {
            return Err(Refused);
        }
        let thread = turn.thread;
        if self.threads.len() >= self.bounds.threads
            && matches!(self.threads[thread.index()].next, Action::Fork(_))
        {
            self.fail(thread, Fault::TooManyThreads);
            return Ok(());
        }
        if let Some(fault) = self.threads[thread.index()].fault.take() {
            self.fail(thread, fault);
            return Ok(());
        }
        self.act(turn, shadow);
        if !matches!(self.threads[thread.index()].status, Status::Waiting { .. }) {
            self.skip_instruction(thread);
            self.advance(thread, shadow);
        }
        Ok(())
    }

    /// Does what the step does; the thread still stands at its instruction afterwards.
    fn act(&mut self, turn: Turn, shadow: &mut S) {
        let thread = turn.thread;
        let action = self.threads[thread.index()].next;
        let mut done = Done { action, value: None, address: None, child: None };
        match action {
            Action::Read(place) => {
                done.address = self.pop_address(thread, place);
                let value = *self.slot(place);
                done.value = Some(value);
                let tag = shadow.done(self.at(thread), &self.threads[thread.index()].control, done);
                self.push(thread, Slot { value: value.value, tag });
                return;
            }
            Action::Write(place) => {
                let value = self.pop(thread);
                done.value = Some(value);
                done.address = self.pop_address(thread, place);
                *self.slot(place) = value;
            }
            Action::Fork(function) => {
                done.child = Some(self.next_thread());
                shadow.done(self.at(thread), &self.threads[thread.index()].control, done);
                self.fork(thread, function, shadow);
                return;
            }
            Action::Join(_) => done.address = Some(self.pop(thread).tag),
            Action::Wait { condition, lock } => {
                done.address = self.pop_wait_operands(thread);
                let depth = std::mem::replace(&mut self.locks[lock as usize], FREE).depth;
                let state = &mut self.threads[thread.index()];
                state.status = Status::Waiting { depth };
                state.next = Action::Woken { condition, lock };
            }
            Action::Woken { lock, .. } => self.take_back(thread, lock),
            Action::Acquire(_)
            | Action::Release(_)
            | Action::SemWait(_)
            | Action::SemPost(_)
            | Action::Notify(_)
            | Action::NotifyAll(_) => {
                done.address = self.pop_index(thread);
                self.synchronise(turn, action);
            }
            Action::Fail => return,
        }
        shadow.done(self.at(thread), &self.threads[thread.index()].control, done);
    }

    fn synchronise(&mut self, turn: Turn, action: Action) {
        match action {
            Action::Acquire(lock) => {
                let lock = &mut self.locks[lock as usize];
                *lock = Lock { owner: turn.thread, depth: lock.depth.saturating_add(1) };
            }
            Action::Release(lock) => {
                let lock = &mut self.locks[lock as usize];
                lock.depth -= 1;
                if lock.depth == 0 {
                    *lock = FREE;
                }
            }
            Action::SemWait(semaphore) => self.semaphores[semaphore as usize] -= 1,
            Action::SemPost(semaphore) => {
                let permits = &mut self.semaphores[semaphore as usize];
                *permits = permits.saturating_add(1);
            }
            Action::Notify(_) => self.wake(turn.wake),
            Action::NotifyAll(condition) => {
                for thread in self.threads() {
                    if self.waits_for(thread, condition) {
                        self.wake(Some(thread));
                    }
                }
            }
            _ => {}
        }
    }

    fn wake(&mut self, thread: Option<ThreadRef>) {
        let Some(thread) = thread else { return };
        let status = &mut self.threads[thread.index()].status;
        if let Status::Waiting { depth } = *status {
            *status = Status::Woken { depth };
        }
    }

    fn take_back(&mut self, thread: ThreadRef, lock: u32) {
        let status = &mut self.threads[thread.index()].status;
        if let Status::Woken { depth } = *status {
            self.locks[lock as usize] = Lock { owner: thread, depth };
        }
        *status = Status::Ready;
    }

    fn next_thread(&self) -> ThreadRef {
        ThreadRef(narrow(self.threads.len()))
    }

    /// Starts a thread that runs the function with what is on the stack.
    fn fork(&mut self, parent: ThreadRef, function: u32, shadow: &mut S) {
        let child = self.next_thread();
        let code = &self.program.functions[function as usize];
        let state = &mut self.threads[parent.index()];
        state.forks += 1;
        let mut thread = Thread::new(Some(parent), state.forks, shadow.fork(&state.control));
        let arguments = state.slots.len() - usize::from(code.parameters);
        thread.slots.extend(state.slots.drain(arguments..));
        thread.enter(code, function);
        self.threads.push(thread);
        self.push(parent, Slot { value: Value::Thread(child), tag: S::Tag::default() });
        self.advance(child, shadow);
    }

    /// Runs the thread up to its next step, which may be that something goes wrong.
    fn advance(&mut self, thread: ThreadRef, shadow: &mut S) {
        let fault = self.run_silently(thread, shadow).err();
        let state = &mut self.threads[thread.index()];
        if fault.is_some() {
            state.next = Action::Fail;
        }
        state.fault = fault;
    }

    fn fail(&mut self, thread: ThreadRef, fault: Fault) {
        let position = self.position(thread);
        self.failure = Some(Failure { fault, thread: self.thread_name(thread).into(), position });
    }

    fn instruction(&self, thread: ThreadRef) -> Option<&'p Instr> {
        let frame = self.threads[thread.index()].frames.last()?;
        self.program.functions[frame.function as usize].code.get(frame.pc as usize)
    }

    fn position(&self, thread: ThreadRef) -> Position {
        let Some(frame) = self.threads[thread.index()].frames.last() else { return Position::default() };
        let positions = &self.program.functions[frame.function as usize].positions;
        positions.get(frame.pc as usize).copied().unwrap_or_default()
    }

    fn at(&self, thread: ThreadRef) -> At {
        At { thread, position: self.position(thread) }
    }

    /// What travels with the thread.
    pub(crate) fn control(&self, thread: ThreadRef) -> &S::Control {
        &self.threads[thread.index()].control
    }

    /// Whether the thread holds any lock.
    pub(crate) fn holds_a_lock(&self, thread: ThreadRef) -> bool {
        self.locks.iter().any(|lock| lock.depth > 0 && lock.owner == thread)
    }

    /// From now on threads may run only so many instructions between two steps.
    pub(crate) fn be_silent_for(&mut self, steps: usize) {
        self.bounds.silent_steps = steps;
    }

    /// How many cells the thread has allocated.
    pub(crate) fn cell_count(&self, thread: ThreadRef) -> usize {
        self.threads[thread.index()].cells.len()
    }

    fn skip_instruction(&mut self, thread: ThreadRef) {
        if let Some(frame) = self.threads[thread.index()].frames.last_mut() {
            frame.pc += 1;
        }
    }

    fn slot(&mut self, place: MemoryLocation) -> &mut Slot<S::Tag> {
        match place {
            MemoryLocation::Shared { element, .. } => &mut self.memory[element as usize],
            MemoryLocation::Field { cell, field } => {
                let cell = &mut self.threads[cell.owner.index()].cells[cell.number as usize];
                &mut cell.fields[field as usize]
            }
        }
    }

    fn push(&mut self, thread: ThreadRef, slot: Slot<S::Tag>) {
        self.threads[thread.index()].slots.push(slot);
    }

    fn pop(&mut self, thread: ThreadRef) -> Slot<S::Tag> {
        self.threads[thread.index()].pop()
    }

    /// Pops what picks the place: an index of an array, or a reference.
    fn pop_address(&mut self, thread: ThreadRef, place: MemoryLocation) -> Option<S::Tag> {
        let has_operand = match place {
            MemoryLocation::Shared { variable, .. } => {
                self.program.shared[variable as usize].group.length.is_some()
            }
            MemoryLocation::Field { .. } => true,
        };
        has_operand.then(|| self.pop(thread).tag)
    }

    /// Pops the index of the synchronisation object, if there are several.
    fn pop_index(&mut self, thread: ThreadRef) -> Option<S::Tag> {
        let program = self.program;
        let group = match self.instruction(thread)? {
            Instr::Acquire(lock) | Instr::Release(lock) => &program.locks[*lock],
            Instr::SemWait(semaphore) | Instr::SemPost(semaphore) => &program.semaphores[*semaphore].0,
            Instr::Notify(condition) | Instr::NotifyAll(condition) => &program.conditions[*condition],
            _ => return None,
        };
        self.pop_index_of(thread, group)
    }

    fn pop_index_of(&mut self, thread: ThreadRef, group: &Group) -> Option<S::Tag> {
        group.length.map(|_| self.pop(thread).tag)
    }

    fn pop_wait_operands(&mut self, thread: ThreadRef) -> Option<S::Tag> {
        let program = self.program;
        let Some(&Instr::Wait { condition, lock }) = self.instruction(thread) else { return None };
        let lock = self.pop_index_of(thread, &program.locks[lock]);
        let condition = self.pop_index_of(thread, &program.conditions[condition]);
        lock.or(condition)
    }

    /// The place that the next steps of both threads access, if at least one of them writes and not both are atomic: a
    /// data race, right now.
    pub fn race(&self, first: ThreadRef, second: ThreadRef) -> Option<MemoryLocation> {
        let access = |thread: ThreadRef| {
            self.next(thread).filter(|_| first != second).and_then(|step| step.action.access())
        };
        let ((place, writes), (other, also)) = (access(first)?, access(second)?);
        (place == other && (writes || also) && !self.is_atomic(place)).then_some(place)
    }
}

impl<'p> Machine<'p> {
    /// The program at its beginning, with nothing kept track of.
    pub fn new(program: &'p Program, bounds: Bounds) -> Self {
        Machine::start(program, bounds, &mut ())
    }

    /// Takes a turn and runs the thread up to its next step.
    pub fn step(&mut self, turn: Turn) -> Result<(), Refused> {
        self.step_with(turn, &mut ())
    }
}

impl<S: Shadow> Thread<S> {
    fn new(parent: Option<ThreadRef>, number: u32, control: S::Control) -> Self {
        Thread {
            parent,
            number,
            forks: 0,
            status: Status::Ready,
            next: Action::Fork(0),
            fault: None,
            frames: Vec::new(),
            slots: Vec::new(),
            counters: Vec::new(),
            control,
            cells: Vec::new(),
        }
    }

    /// Begins to run a function whose arguments are on the stack.
    fn enter(&mut self, code: &Function, function: u32) {
        let base = self.slots.len() - usize::from(code.parameters);
        self.frames.push(Frame {
            function,
            pc: 0,
            base: narrow(base),
            counters: narrow(self.counters.len()),
        });
        self.slots.resize(base + usize::from(code.locals), Slot::default());
        self.counters.resize(self.counters.len() + usize::from(code.loops), 0);
    }

    /// Forgets the function that runs, and gives its result.
    fn leave(&mut self) -> Slot<S::Tag> {
        let result = self.pop();
        if let Some(frame) = self.frames.pop() {
            self.slots.truncate(frame.base as usize);
            self.counters.truncate(frame.counters as usize);
        }
        result
    }

    /// Stacks are balanced, so there always is something to pop.
    fn pop(&mut self) -> Slot<S::Tag> {
        self.slots.pop().unwrap_or_default()
    }

    /// What lies on the stack below this many others.
    fn peek(&self, below: usize) -> Slot<S::Tag> {
        self.slots.len().checked_sub(below + 1).map_or_else(Slot::default, |place| self.slots[place])
    }
}

#[cfg(test)]
mod tests;
