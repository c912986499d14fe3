//! A trace that is written down event by event, over a memory that says what each read sees.

use foretell_trace::source::BATCH;
use foretell_trace::symbol::Symbol;
use foretell_trace::{Batch, Event, Loc, LockId, Names, Op, Source, ThreadId, TraceError, Value, VarId};

/// Events in the order in which they happen; as a [`Source`] it gives them out from the first.
///
/// Threads, locks and variables are named by number, `T7`, `L7` and `V7`. Every variable holds 0 at first, every access
/// shows its value, and every event has a location of its own: its number.
#[derive(Debug, Default)]
pub struct Script {
    names: Names,
    events: Vec<Event>,
    /// What each variable holds.
    memory: Vec<u32>,
    /// How many events were given out.
    given: usize,
}

impl Script {
    /// An empty trace of so many threads, locks and variables.
    pub fn new(threads: usize, locks: usize, vars: usize) -> Script {
        // Ids are given in the order of the names, so the id with index 7 is that of `T7`, `L7` or `V7`. There are far
        // fewer than can be numbered.
        let mut names = Names::default();
        for number in 0..threads {
            let _ = names.threads.intern(format!("T{number}").as_bytes());
        }
        for number in 0..locks {
            let _ = names.locks.intern(format!("L{number}").as_bytes());
        }
        for number in 0..vars {
            let _ = names.vars.intern(format!("V{number}").as_bytes());
        }
        Script { names, events: Vec::new(), memory: vec![0; vars], given: 0 }
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether nothing has happened yet.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// What the variable holds now.
    pub fn content(&self, var: usize) -> u32 {
        self.memory[var]
    }

    /// Reads the variable.
    pub fn read(&mut self, thread: usize, var: usize) {
        let value = Symbol::number(self.memory[var]).map(Value);
        self.push(thread, VarId::from_index(var).map(|var| Op::Read { var, value }));
    }

    /// Writes the variable.
    pub fn write(&mut self, thread: usize, var: usize, content: u32) {
        self.memory[var] = content;
        let value = Symbol::number(content).map(Value);
        self.push(thread, VarId::from_index(var).map(|var| Op::Write { var, value }));
    }

    /// Takes a lock, which must be free.
    pub fn acquire(&mut self, thread: usize, lock: usize) {
        self.push(thread, LockId::from_index(lock).map(Op::Acquire));
    }

    /// Releases a lock, which the thread must hold.
    pub fn release(&mut self, thread: usize, lock: usize) {
        self.push(thread, LockId::from_index(lock).map(Op::Release));
    }

    /// Starts another thread.
    pub fn fork(&mut self, thread: usize, child: usize) {
        self.push(thread, ThreadId::from_index(child).map(Op::Fork));
    }

    /// Waits for another thread, which must do nothing afterwards.
    pub fn join(&mut self, thread: usize, child: usize) {
        self.push(thread, ThreadId::from_index(child).map(Op::Join));
    }

    /// The first event of a thread.
    pub fn begin(&mut self, thread: usize) {
        self.push(thread, Some(Op::Begin));
    }

    /// The last event of a thread.
    pub fn end(&mut self, thread: usize) {
        self.push(thread, Some(Op::End));
    }

    /// A decision that depends on what the thread has read.
    pub fn branch(&mut self, thread: usize) {
        self.push(thread, Some(Op::Branch));
    }

    /// Only a trace with more than 2^31 events could not number them all; none is made.
    fn push(&mut self, thread: usize, op: Option<Op>) {
        let number = u32::try_from(self.events.len() + 1).ok().and_then(Symbol::number);
        if let (Some(thread), Some(op), Some(number)) = (ThreadId::from_index(thread), op, number) {
            self.events.push(Event::new(thread, op, Loc(number)));
        }
    }
}

impl Source for Script {
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, TraceError> {
        batch.clear();
        let rest = &self.events[self.given..];
        batch.events.extend_from_slice(&rest[..rest.len().min(BATCH)]);
        self.given += batch.events.len();
        Ok(!batch.events.is_empty())
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn into_names(self: Box<Self>) -> Names {
        self.names
    }
}
