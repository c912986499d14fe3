//! States are copied onto each other without new memory: exploration does that once per step.

use super::{Cell, Machine, Shadow, Thread};
use crate::value::ThreadRef;

impl<T: Clone> Clone for Cell<T> {
    fn clone(&self) -> Self {
        Cell { kind: self.kind, fields: self.fields.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        self.kind = source.kind;
        self.fields.clone_from(&source.fields);
    }
}

impl<S: Shadow> Clone for Thread<S> {
    fn clone(&self) -> Self {
        let mut copy = Thread::new(self.parent, self.number, self.control.clone());
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, source: &Self) {
        self.parent = source.parent;
        self.number = source.number;
        self.forks = source.forks;
        self.status = source.status;
        self.next = source.next;
        self.fault.clone_from(&source.fault);
        self.frames.clone_from(&source.frames);
        self.slots.clone_from(&source.slots);
        self.counters.clone_from(&source.counters);
        self.control.clone_from(&source.control);
        self.cells.clone_from(&source.cells);
    }
}

impl<S: Shadow> Machine<'_, S> {
    /// This state, but the thread is as in the other one, with what it has allocated.
    pub(crate) fn with_thread_of(&self, other: &Self, thread: ThreadRef) -> Self {
        let mut both = self.clone();
        both.threads[thread.index()].clone_from(&other.threads[thread.index()]);
        both
    }
}

impl<S: Shadow> Clone for Machine<'_, S> {
    fn clone(&self) -> Self {
        Machine {
            program: self.program,
            bounds: self.bounds,
            memory: self.memory.clone(),
            locks: self.locks.clone(),
            semaphores: self.semaphores.clone(),
            threads: self.threads.clone(),
            failure: self.failure.clone(),
        }
    }

    fn clone_from(&mut self, source: &Self) {
        self.program = source.program;
        self.bounds = source.bounds;
        self.memory.clone_from(&source.memory);
        self.locks.clone_from(&source.locks);
        self.semaphores.clone_from(&source.semaphores);
        self.threads.clone_from(&source.threads);
        self.failure.clone_from(&source.failure);
    }
}
