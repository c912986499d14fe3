//! What a thread does between two steps, and what its next step will be.

use foretell_depend::{Binary, Unary};

use super::{Action, Cell, Fault, Guard, Machine, MemoryLocation, Shadow, Slot, Status, narrow};
use crate::program::{Group, Instr};
use crate::value::{self, CellRef, ThreadRef, Value};

impl<S: Shadow> Machine<'_, S> {
    /// Runs the thread until it stands before a step or has ended. What goes wrong leaves it before the instruction
    /// that did, and would go wrong again.
    pub(super) fn run_silently(&mut self, thread: ThreadRef, shadow: &mut S) -> Result<(), Fault> {
        for _ in 0..self.bounds.silent_steps {
            let Some(instruction) = self.instruction(thread) else { return Ok(()) };
            match instruction {
                Instr::Constant(number) => {
                    self.push(thread, Slot { value: Value::Number(*number), tag: S::Tag::default() });
                }
                Instr::Local(local) => {
                    let slot = *self.local(thread, *local);
                    self.push(thread, slot);
                }
                Instr::SetLocal(local) => {
                    let slot = self.pop(thread);
                    *self.local(thread, *local) = slot;
                }
                Instr::Pop => {
                    self.pop(thread);
                }
                Instr::Unary(op) => self.unary(thread, *op, shadow)?,
                Instr::Binary(op) => self.binary(thread, *op, shadow)?,
                Instr::New(kind) => self.allocate(thread, *kind, shadow),
                Instr::Jump(target) => {
                    self.jump(thread, *target);
                    continue;
                }
                Instr::Decide { otherwise, scope, sticky } => {
                    let on = self.pop(thread);
                    let at = self.at(thread);
                    let control = &mut self.threads[thread.index()].control;
                    if !shadow.decide(at, control, on, *scope, *sticky) {
                        self.jump(thread, *otherwise);
                        continue;
                    }
                }
                Instr::Mark => shadow.mark(&mut self.threads[thread.index()].control),
                Instr::Unmark => shadow.unmark(&mut self.threads[thread.index()].control),
                Instr::Meet { assigned, top } => self.meet(thread, assigned, *top, shadow),
                Instr::Assert => {
                    let holds = self.threads[thread.index()].peek(0);
                    self.guard(thread, Guard::NotZero, holds, shadow);
                    if !holds.value.is_true() {
                        return Err(Fault::Assertion);
                    }
                    self.pop(thread);
                }
                Instr::EnterLoop(number) => *self.counter(thread, *number) = 0,
                Instr::Iterate(number) => self.iterate(thread, *number, shadow)?,
                Instr::Call(function) => {
                    self.call(thread, *function, shadow)?;
                    continue;
                }
                Instr::Return => {
                    if self.leave(thread, shadow) {
                        return Ok(());
                    }
                }
                step => {
                    let next = self.next_step(thread, step, shadow)?;
                    self.threads[thread.index()].next = next;
                    return Ok(());
                }
            }
            self.skip_instruction(thread);
        }
        Err(Fault::TooManySilentSteps)
    }

    fn jump(&mut self, thread: ThreadRef, target: usize) {
        if let Some(frame) = self.threads[thread.index()].frames.last_mut() {
            frame.pc = narrow(target);
        }
    }

    fn local(&mut self, thread: ThreadRef, local: u16) -> &mut Slot<S::Tag> {
        let state = &mut self.threads[thread.index()];
        let base = state.frames.last().map_or(0, |frame| frame.base as usize);
        &mut state.slots[base + usize::from(local)]
    }

    fn counter(&mut self, thread: ThreadRef, number: u16) -> &mut u32 {
        let state = &mut self.threads[thread.index()];
        let base = state.frames.last().map_or(0, |frame| frame.counters as usize);
        &mut state.counters[base + usize::from(number)]
    }

    fn unary(&mut self, thread: ThreadRef, op: Unary, shadow: &mut S) -> Result<(), Fault> {
        let operand = self.threads[thread.index()].peek(0);
        if self.may_get_reference(thread) {
            self.guard(thread, Guard::Same, operand, shadow);
        }
        let value = value::unary(op, operand.value)?;
        let tag = shadow.unary(op, operand);
        self.pop(thread);
        self.push(thread, Slot { value, tag });
        Ok(())
    }

    fn binary(&mut self, thread: ThreadRef, op: Binary, shadow: &mut S) -> Result<(), Fault> {
        let (left, right) = (self.threads[thread.index()].peek(1), self.threads[thread.index()].peek(0));
        if self.may_get_reference(thread) {
            self.guard(thread, Guard::Same, left, shadow);
            self.guard(thread, Guard::Same, right, shadow);
        }
        if matches!(op, Binary::Divide | Binary::Remainder) {
            self.guard(thread, Guard::NotZero, right, shadow);
        }
        let value = value::binary(op, left.value, right.value)?;
        let tag = shadow.binary(op, left, right);
        self.pop(thread);
        self.pop(thread);
        self.push(thread, Slot { value, tag });
        Ok(())
    }

    /// Whether the thread stands before an operation that fails if it gets a reference, which it may.
    fn may_get_reference(&self, thread: ThreadRef) -> bool {
        self.threads[thread.index()].frames.last().is_some_and(|frame| {
            let doubtful = &self.program.functions[frame.function as usize].doubtful;
            !doubtful.is_empty() && doubtful.binary_search(&(frame.pc as usize)).is_ok()
        })
    }

    fn allocate(&mut self, thread: ThreadRef, kind: usize, shadow: &mut S) {
        let fields = &self.program.cells[kind].fields;
        let slot =
            |&(_, number): &(String, i64)| Slot { value: Value::Number(number), tag: S::Tag::default() };
        let at = self.at(thread);
        let state = &mut self.threads[thread.index()];
        let cell = CellRef { owner: thread, number: narrow(state.cells.len()) };
        state.cells.push(Cell { kind: narrow(kind), fields: fields.iter().map(slot).collect() });
        state.slots.push(Slot { value: Value::Cell(cell), tag: S::Tag::default() });
        for (field, &(_, number)) in fields.iter().enumerate().filter(|(_, (_, number))| *number != 0) {
            let place = MemoryLocation::Field { cell, field: narrow(field) };
            shadow.initial(at, &state.control, place, Value::Number(number));
        }
    }

    fn meet(&mut self, thread: ThreadRef, assigned: &[u16], top: bool, shadow: &mut S) {
        for by in shadow.meet(&mut self.threads[thread.index()].control) {
            for &local in assigned {
                let slot = self.local(thread, local);
                slot.tag = shadow.chosen(by, *slot);
            }
            if top {
                let mut result = self.pop(thread);
                result.tag = shadow.chosen(by, result);
                self.push(thread, result);
            }
        }
    }

    fn iterate(&mut self, thread: ThreadRef, number: u16, shadow: &mut S) -> Result<(), Fault> {
        shadow.iterate(self.position(thread));
        let Some(bound) = self.bounds.loop_bound else { return Ok(()) };
        let counter = self.counter(thread, number);
        if *counter >= bound {
            return Err(Fault::LoopBound(bound));
        }
        *counter += 1;
        Ok(())
    }

    fn call(&mut self, thread: ThreadRef, function: usize, shadow: &mut S) -> Result<(), Fault> {
        let state = &mut self.threads[thread.index()];
        if state.frames.len() >= self.bounds.call_depth {
            return Err(Fault::StackOverflow);
        }
        shadow.call(&mut state.control);
        state.enter(&self.program.functions[function], narrow(function));
        Ok(())
    }

    /// Goes back to the caller, to the instruction of the call. Whether that was the end of the thread.
    fn leave(&mut self, thread: ThreadRef, shadow: &mut S) -> bool {
        let state = &mut self.threads[thread.index()];
        let mut result = state.leave();
        if state.frames.is_empty() {
            state.status = Status::Ended;
            return true;
        }
        for by in shadow.leave(&mut state.control) {
            result.tag = shadow.chosen(by, result);
        }
        state.slots.push(result);
        false
    }

    fn guard(&mut self, thread: ThreadRef, guard: Guard, on: Slot<S::Tag>, shadow: &mut S) {
        shadow.guard(self.at(thread), &mut self.threads[thread.index()].control, guard, on);
    }

    /// The step that the thread stands before, or what goes wrong there. Leaves all operands where they are.
    pub(super) fn next_step(
        &mut self,
        thread: ThreadRef,
        instruction: &Instr,
        shadow: &mut S,
    ) -> Result<Action, Fault> {
        let program = self.program;
        match instruction {
            Instr::Read(variable) => Ok(Action::Read(self.shared_place(thread, *variable, 0, shadow)?)),
            Instr::Write(variable) => Ok(Action::Write(self.shared_place(thread, *variable, 1, shadow)?)),
            Instr::ReadField(field) => Ok(Action::Read(self.field_place(thread, field, 0, shadow)?)),
            Instr::WriteField(field) => Ok(Action::Write(self.field_place(thread, field, 1, shadow)?)),
            Instr::Acquire(lock) => {
                Ok(Action::Acquire(self.element(thread, &program.locks[*lock], 0, shadow)?))
            }
            Instr::Release(lock) => {
                let lock = self.element(thread, &program.locks[*lock], 0, shadow)?;
                self.must_hold(thread, lock)?;
                Ok(Action::Release(lock))
            }
            Instr::SemWait(semaphore) => {
                Ok(Action::SemWait(self.element(thread, &program.semaphores[*semaphore].0, 0, shadow)?))
            }
            Instr::SemPost(semaphore) => {
                Ok(Action::SemPost(self.element(thread, &program.semaphores[*semaphore].0, 0, shadow)?))
            }
            Instr::Wait { condition, lock } => self.next_wait(thread, *condition, *lock, shadow),
            Instr::Notify(condition) => {
                Ok(Action::Notify(self.element(thread, &program.conditions[*condition], 0, shadow)?))
            }
            Instr::NotifyAll(condition) => {
                Ok(Action::NotifyAll(self.element(thread, &program.conditions[*condition], 0, shadow)?))
            }
            Instr::Join => {
                let handle = self.threads[thread.index()].peek(0);
                self.guard(thread, Guard::Same, handle, shadow);
                match handle.value {
                    Value::Thread(other) => Ok(Action::Join(other)),
                    _ => Err(Fault::NotAThread),
                }
            }
            Instr::Fork(function) => {
                for below in (0..usize::from(program.functions[*function].parameters)).rev() {
                    let argument = self.threads[thread.index()].peek(below);
                    self.guard(thread, Guard::Same, argument, shadow);
                }
                Ok(Action::Fork(narrow(*function)))
            }
            silent => unreachable!("{silent:?} is no step"),
        }
    }

    fn next_wait(
        &mut self,
        thread: ThreadRef,
        condition: usize,
        lock: usize,
        shadow: &mut S,
    ) -> Result<Action, Fault> {
        let (locks, conditions) = (&self.program.locks[lock], &self.program.conditions[condition]);
        let lock = self.element(thread, locks, 0, shadow)?;
        let below = usize::from(locks.length.is_some());
        let condition = self.element(thread, conditions, below, shadow)?;
        if locks.length.is_some() && conditions.length.is_some() {
            let index = self.threads[thread.index()].peek(below);
            self.guard(thread, Guard::Same, index, shadow);
        }
        self.must_hold(thread, lock)?;
        Ok(Action::Wait { condition, lock })
    }

    fn shared_place(
        &mut self,
        thread: ThreadRef,
        variable: usize,
        below: usize,
        shadow: &mut S,
    ) -> Result<MemoryLocation, Fault> {
        let element = self.element(thread, &self.program.shared[variable].group, below, shadow)?;
        Ok(MemoryLocation::Shared { variable: narrow(variable), element })
    }

    /// The element of the group that the index on the stack picks, below so many other operands.
    fn element(
        &mut self,
        thread: ThreadRef,
        group: &Group,
        below: usize,
        shadow: &mut S,
    ) -> Result<u32, Fault> {
        let Some(length) = group.length else { return Ok(group.first) };
        let index = self.threads[thread.index()].peek(below);
        self.guard(thread, Guard::Below(length), index, shadow);
        let Value::Number(number) = index.value else {
            return Err(Fault::IndexOutOfBounds { index: None, length });
        };
        match u32::try_from(number) {
            Ok(index) if index < length => Ok(group.first + index),
            _ => Err(Fault::IndexOutOfBounds { index: Some(number), length }),
        }
    }

    fn field_place(
        &mut self,
        thread: ThreadRef,
        field: &str,
        below: usize,
        shadow: &mut S,
    ) -> Result<MemoryLocation, Fault> {
        let reference = self.threads[thread.index()].peek(below);
        self.guard(thread, Guard::Same, reference, shadow);
        let Value::Cell(cell) = reference.value else { return Err(Fault::NotAReference) };
        let kind = self.threads[cell.owner.index()].cells[cell.number as usize].kind;
        let kind = &self.program.cells[kind as usize];
        match kind.fields.iter().position(|(name, _)| name == field) {
            Some(field) => Ok(MemoryLocation::Field { cell, field: narrow(field) }),
            None => Err(Fault::NoSuchField { cell: kind.name.clone(), field: field.to_owned() }),
        }
    }

    fn must_hold(&self, thread: ThreadRef, lock: u32) -> Result<(), Fault> {
        let held = self.locks[lock as usize];
        if held.depth > 0 && held.owner == thread {
            Ok(())
        } else {
            Err(Fault::NotHeld(self.program.lock_name(lock)))
        }
    }
}
