//! The code of statements.

use rustc_hash::FxHashMap;

use crate::compile::Compiler;
use crate::compile::draft::{Draft, Ways};
use crate::compile::names::{Global, report_twice};
use crate::compile::references::{Origin, ValueHolder};
use crate::diagnostic::Span;
use crate::program::{Instr, Position};
use crate::syntax::tree::{Block, Body, Expression, Name, Object, Operation, Statement, Target};

/// Who runs the code.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runner {
    /// Any caller.
    Function,
    /// A thread of its own.
    Thread,
    /// A thread of its own that another one waits for: a block of a parallel statement.
    Branch,
}

/// A local variable.
#[derive(Clone, Copy)]
pub(crate) struct Local {
    pub(crate) slot: u16,
    position: Position,
    /// It is a copy of one that belongs to the thread which started this one.
    copied: bool,
}

/// A lock that is held by a `sync` around.
#[derive(Clone, Copy)]
struct SyncLock {
    lock: usize,
    /// The local that says which element is held, of an array.
    index: Option<u16>,
}

/// Writes the code of one function.
pub(crate) struct Writer<'c, 's> {
    pub(crate) compiler: &'c mut Compiler<'s>,
    pub(crate) draft: Draft,
    /// The number of the function.
    pub(crate) function: usize,
    runner: Runner,
    /// The local variables that can be seen. Nothing is ever shadowed, so a name stands for one of them at most.
    pub(crate) locals: FxHashMap<&'s str, Local>,
    /// Their names, in the order in which they were declared.
    visible: Vec<&'s str>,
    /// The first slot that no visible variable occupies.
    free: u16,
    /// The locks that are held by each `sync` around.
    held: Vec<SyncLock>,
    /// Where the outermost loop around begins.
    outermost_loop: Option<usize>,
}

impl<'c, 's> Writer<'c, 's> {
    pub(crate) fn new(compiler: &'c mut Compiler<'s>, function: usize, runner: Runner) -> Writer<'c, 's> {
        let draft = std::mem::replace(&mut compiler.drafts[function], Draft::new(String::new(), 0));
        Writer {
            compiler,
            draft,
            function,
            runner,
            locals: FxHashMap::default(),
            visible: Vec::new(),
            free: 0,
            held: Vec::new(),
            outermost_loop: None,
        }
    }

    /// Writes a whole function.
    pub(crate) fn function(mut self, parameters: &[Name<'s>], body: &Block<'s>) {
        for parameter in parameters {
            self.declare(*parameter, false);
        }
        self.body(body);
    }

    /// Writes a whole function, and hands it in.
    fn body(mut self, body: &Block<'s>) {
        self.block(body);
        self.emit(body.close.position, Instr::Constant(0));
        self.emit(body.close.position, Instr::Return);
        self.compiler.drafts[self.function] = self.draft;
    }

    pub(crate) fn emit(&mut self, position: Position, instr: Instr) -> usize {
        self.draft.emit(position, instr)
    }

    pub(crate) fn report(&mut self, span: Span, message: impl Into<String>) {
        self.compiler.diagnostics.report(span, message);
    }

    // Local variables.

    fn declare(&mut self, name: Name<'s>, copied: bool) -> u16 {
        let known = self.locals.get(name.text).map(|local| local.position);
        if let Some(first) = known.or(self.compiler.names.position(name.text)) {
            report_twice(name, first, &mut self.compiler.diagnostics);
        }
        let slot = self.slot(name.span);
        self.locals.entry(name.text).or_insert_with(|| {
            self.visible.push(name.text);
            Local { slot, position: name.span.position, copied }
        });
        slot
    }

    /// One more local, which may have no name.
    fn slot(&mut self, span: Span) -> u16 {
        let slot = self.free;
        match slot.checked_add(1) {
            Some(next) => self.free = next,
            None => self.report(span, format!("there are too many local variables: more than {}", u16::MAX)),
        }
        let locals = &mut self.draft.function.locals;
        *locals = self.free.max(*locals);
        slot
    }

    /// What is declared within is forgotten afterwards.
    fn scope(&mut self, write: impl FnOnce(&mut Self)) {
        let (visible, free) = (self.visible.len(), self.free);
        write(self);
        for name in self.visible.drain(visible..) {
            self.locals.remove(name);
        }
        self.free = free;
    }

    // Statements.

    fn block(&mut self, block: &Block<'s>) {
        self.scope(|writer| block.statements.iter().for_each(|statement| writer.statement(statement)));
    }

    fn statement(&mut self, statement: &Statement<'s>) {
        match statement {
            Statement::Skip => {}
            Statement::Block(block) => self.block(block),
            Statement::Parallel(bodies) => self.parallel(bodies),
            Statement::Local(locals) => {
                locals.iter().for_each(|(name, value)| self.local(*name, value.as_ref()));
            }
            Statement::Assign { target, value } => self.assign(target, value),
            Statement::If { span, condition, then, otherwise } => {
                self.decision(*span, condition, then, otherwise.as_deref());
            }
            Statement::While { span, condition, body } => self.repetition(*span, condition, body),
            Statement::Assert { span, condition } => {
                self.expression(condition);
                self.emit(span.position, Instr::Assert);
            }
            Statement::Operate { span, operation, object } => self.operate(*span, *operation, object),
            Statement::Sync { span, lock, body } => self.sync(*span, lock, body),
            Statement::Wait { span, condition, lock } => self.wait(*span, condition, lock),
            Statement::Join { span, handle } => {
                self.expression(handle);
                self.emit(span.position, Instr::Join);
            }
            Statement::Return { span, value } => self.leave(*span, value.as_ref()),
            Statement::Evaluate(expression) => {
                self.expression(expression);
                self.emit(expression.span.position, Instr::Pop);
            }
        }
    }

    fn local(&mut self, name: Name<'s>, value: Option<&Expression<'s>>) {
        // Without a value it is 0 again: its slot may have been in use, by another variable or in an earlier iteration.
        let origin = self.value_or_zero(name.span, value);
        let slot = self.declare(name, false);
        self.compiler.references.flow(origin, self.place(slot));
        self.emit(name.span.position, Instr::SetLocal(slot));
    }

    fn value_or_zero(&mut self, span: Span, value: Option<&Expression<'s>>) -> Origin<'s> {
        if let Some(value) = value {
            return self.expression(value);
        }
        self.emit(span.position, Instr::Constant(0));
        Origin::Number
    }

    fn assign(&mut self, target: &Target<'s>, value: &Expression<'s>) {
        match target {
            Target::Variable(Object { name, index: None }) if self.locals.contains_key(name.text) => {
                let origin = self.expression(value);
                self.set_local(*name, origin);
            }
            Target::Variable(object) => {
                let found = self.variable(object.name);
                let length = found.and_then(|variable| self.compiler.program.shared[variable].group.length);
                let surely_inside = found.is_some() && self.index(object, length);
                let origin = self.expression(value);
                if let Some(variable) = found {
                    self.compiler.references.flow(origin, ValueHolder::Shared(variable));
                    let instr = Instr::Write(variable);
                    self.draft.emit_perhaps_failing(object.name.span.position, instr, !surely_inside);
                }
            }
            Target::Field(of, field) => {
                self.expression(of);
                self.compiler.names.check_field(*field, &mut self.compiler.diagnostics);
                let origin = self.expression(value);
                self.compiler.references.flow(origin, ValueHolder::Field(field.text));
                let instr = Instr::WriteField(field.text.to_owned());
                self.draft.emit_perhaps_failing(field.span.position, instr, true);
            }
        }
    }

    fn set_local(&mut self, name: Name<'s>, origin: Origin<'s>) {
        let Some(local) = self.locals.get(name.text).copied() else { return };
        if local.copied {
            let message =
                format!("`{}` belongs to the thread that starts this one, which has only a copy", name.text);
            let help = Some("use a shared variable, or another local one".to_owned());
            self.compiler.diagnostics.report_with_help(name.span, message, help);
        }
        self.compiler.references.flow(origin, self.place(local.slot));
        self.emit(name.span.position, Instr::SetLocal(local.slot));
    }

    fn decision(
        &mut self,
        span: Span,
        condition: &Expression<'s>,
        then: &Statement<'s>,
        otherwise: Option<&Statement<'s>>,
    ) {
        self.expression(condition);
        self.emit(span.position, Instr::Mark);
        let decide = self.decide(span, false);
        self.scope(|writer| writer.statement(then));
        if let Some(otherwise) = otherwise {
            let jump = self.emit(span.position, Instr::Jump(usize::MAX));
            self.draft.lead_here(decide);
            self.scope(|writer| writer.statement(otherwise));
            self.draft.lead_here(jump);
        } else {
            self.draft.lead_here(decide);
        }
        self.meet(span, decide);
    }

    /// Writes the end of an `if` whose decision is at `decide`.
    fn meet(&mut self, span: Span, decide: usize) {
        let ways = decide + 1..self.draft.here();
        if self.draft.returns(ways.clone()) {
            // The ways meet where the function ends, and until then may run whatever follows: in a loop, all of it
            // again.
            self.set_ways(decide, self.outermost_loop.unwrap_or(decide + 1)..usize::MAX);
            self.emit(span.position, Instr::Unmark);
        } else {
            let assigned = self.draft.assigned(ways.clone(), self.free);
            self.set_ways(decide, ways);
            self.emit(span.position, Instr::Meet { assigned, top: false });
        }
    }

    /// Writes the instruction that decides on the last value. Its ways are still to be set.
    pub(crate) fn decide(&mut self, span: Span, sticky: bool) -> usize {
        let scope = self.compiler.ways.len();
        self.compiler.ways.push(Ways { function: self.function, code: 0..0 });
        self.emit(span.position, Instr::Decide { otherwise: usize::MAX, scope, sticky })
    }

    /// Says which instructions the decision at `decide` is about.
    pub(crate) fn set_ways(&mut self, decide: usize, code: std::ops::Range<usize>) {
        if let Some(Instr::Decide { scope, .. }) = self.draft.function.code.get(decide) {
            self.compiler.ways[*scope].code = code;
        }
    }

    fn repetition(&mut self, span: Span, condition: &Expression<'s>, body: &Statement<'s>) {
        let counter = self.draft.function.loops;
        match counter.checked_add(1) {
            Some(loops) => self.draft.function.loops = loops,
            None => self.report(span, format!("there are too many loops: more than {}", u16::MAX)),
        }
        self.emit(span.position, Instr::EnterLoop(counter));
        let start = self.draft.here();
        let outermost = self.outermost_loop;
        self.outermost_loop.get_or_insert(start);
        self.expression(condition);
        // No mark: nothing could be forgotten after the loop, as all that follows depends on its coming to an end.
        let decide = self.decide(span, true);
        self.scope(|writer| writer.statement(body));
        self.emit(span.position, Instr::Iterate(counter));
        self.emit(span.position, Instr::Jump(start));
        self.draft.lead_here(decide);
        self.outermost_loop = outermost;
        let end = if self.draft.returns(start..self.draft.here()) { usize::MAX } else { self.draft.here() };
        self.set_ways(decide, self.outermost_loop.filter(|_| end == usize::MAX).unwrap_or(start)..end);
    }

    // Synchronisation.

    fn operate(&mut self, span: Span, operation: Operation, object: &Object<'s>) {
        let (wanted, fits): (_, fn(Global) -> bool) = match operation {
            Operation::Acquire | Operation::Release => {
                ("a lock or semaphore", |global| matches!(global, Global::Lock(_) | Global::Semaphore(_)))
            }
            Operation::Down | Operation::Up => {
                ("a semaphore", |global| matches!(global, Global::Semaphore(_)))
            }
            Operation::Notify | Operation::NotifyAll => {
                ("a condition", |global| matches!(global, Global::Condition(_)))
            }
        };
        let Some(global) = self.global(object.name, wanted, fits) else { return };
        let (length, instr) = self.operation(operation, global);
        self.index(object, length);
        self.emit(span.position, instr);
    }

    /// How many elements the object has, and what is done to one.
    fn operation(&self, operation: Operation, global: Global) -> (Option<u32>, Instr) {
        let program = &self.compiler.program;
        let takes = matches!(operation, Operation::Acquire | Operation::Down);
        match global {
            Global::Lock(lock) if takes => (program.locks[lock].length, Instr::Acquire(lock)),
            Global::Lock(lock) => (program.locks[lock].length, Instr::Release(lock)),
            Global::Semaphore(semaphore) if takes => {
                (program.semaphores[semaphore].0.length, Instr::SemWait(semaphore))
            }
            Global::Semaphore(semaphore) => {
                (program.semaphores[semaphore].0.length, Instr::SemPost(semaphore))
            }
            Global::Condition(condition) if operation == Operation::Notify => {
                (program.conditions[condition].length, Instr::Notify(condition))
            }
            Global::Condition(condition) => {
                (program.conditions[condition].length, Instr::NotifyAll(condition))
            }
            Global::Shared(_) | Global::Cell(_) | Global::Function(_) => (None, Instr::Jump(usize::MAX)),
        }
    }

    /// The number of a lock.
    fn lock(&mut self, name: Name<'s>) -> Option<usize> {
        match self.global(name, "a lock", |global| matches!(global, Global::Lock(_)))? {
            Global::Lock(lock) => Some(lock),
            _ => None,
        }
    }

    fn sync(&mut self, span: Span, object: &Object<'s>, body: &Block<'s>) {
        let Some(lock) = self.lock(object.name) else {
            return self.block(body);
        };
        self.scope(|writer| {
            let index = writer.keep_index(span, object, lock);
            let held = SyncLock { lock, index };
            writer.operate_held(span.position, held, Instr::Acquire(lock));
            writer.held.push(held);
            writer.block(body);
            writer.held.pop();
            writer.operate_held(body.close.position, held, Instr::Release(lock));
        });
    }

    /// Computes which element is meant, once and for all.
    fn keep_index(&mut self, span: Span, object: &Object<'s>, lock: usize) -> Option<u16> {
        let length = self.compiler.program.locks[lock].length;
        self.index(object, length);
        length?;
        let slot = self.slot(span);
        self.emit(span.position, Instr::SetLocal(slot));
        Some(slot)
    }

    fn operate_held(&mut self, position: Position, held: SyncLock, instr: Instr) {
        if let Some(slot) = held.index {
            self.emit(position, Instr::Local(slot));
        }
        self.emit(position, instr);
    }

    fn wait(&mut self, span: Span, condition: &Object<'s>, lock: &Object<'s>) {
        let found =
            self.global(condition.name, "a condition", |global| matches!(global, Global::Condition(_)));
        let found_lock = self.lock(lock.name);
        let (Some(Global::Condition(condition_number)), Some(lock_number)) = (found, found_lock) else {
            return;
        };
        self.index(condition, self.compiler.program.conditions[condition_number].length);
        self.index(lock, self.compiler.program.locks[lock_number].length);
        self.emit(span.position, Instr::Wait { condition: condition_number, lock: lock_number });
    }

    fn leave(&mut self, span: Span, value: Option<&Expression<'s>>) {
        match self.runner {
            Runner::Branch => {
                self.report(span, "`return` cannot leave a block that runs in parallel to others");
            }
            Runner::Thread if value.is_some() => self.report(span, "a thread has no result: write `return;`"),
            Runner::Thread | Runner::Function => {}
        }
        let origin = self.value_or_zero(span, value);
        self.compiler.references.flow(origin, ValueHolder::Result(self.function));
        for held in self.held.clone().into_iter().rev() {
            self.operate_held(span.position, held, Instr::Release(held.lock));
        }
        self.emit(span.position, Instr::Return);
    }

    // Threads.

    fn parallel(&mut self, bodies: &[Body<'s>]) {
        self.scope(|writer| {
            let mut handles = Vec::new();
            for body in bodies {
                writer.fork_block(body.block.open.position, body, Runner::Branch);
                let handle = writer.slot(body.block.open);
                writer.emit(body.block.open.position, Instr::SetLocal(handle));
                handles.push(handle);
            }
            for (body, handle) in bodies.iter().zip(handles) {
                writer.emit(body.block.close.position, Instr::Local(handle));
                writer.emit(body.block.close.position, Instr::Join);
            }
        });
    }

    /// Starts a thread that runs a block, with copies of the locals that it uses.
    pub(crate) fn fork_block(&mut self, position: Position, body: &Body<'s>, runner: Runner) {
        let used: Vec<(&'s str, Local)> =
            body.names.iter().filter_map(|name| Some((*name, *self.locals.get(name)?))).collect();
        let name = format!("block at {}", body.block.open.position);
        let parameters = u16::try_from(used.len()).unwrap_or(u16::MAX);
        let function = self.compiler.new_function(name, parameters);
        let mut writer = Writer::new(self.compiler, function, runner);
        for (name, local) in &used {
            let span = Span { position: local.position, length: 1 };
            writer.declare(Name { text: name, span }, true);
        }
        writer.body(&body.block);
        for ((_, local), slot) in used.into_iter().zip(0..) {
            self.compiler
                .references
                .flow(Origin::Place(self.place(local.slot)), ValueHolder::Local { function, slot });
            self.emit(position, Instr::Local(local.slot));
        }
        self.emit(position, Instr::Fork(function));
    }
}
