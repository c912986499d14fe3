//! A program as the virtual machine runs it: functions of instructions for a stack machine.
//!
//! Instructions that other threads can notice are *steps*: reads and writes of shared memory, synchronisation, forks
//! and joins. Everything between two steps of a thread is its own affair and happens together with the step before.
//!
//! Besides computing, instructions keep track of which decisions the thread's next events depend on (*control*). An
//! `if` is compiled to its condition, `Mark`, `Decide`, its ways, and `Meet` where they meet again: events after that
//! do not depend on the decision any more, but what the ways assigned does. Decisions whose ways may never meet (a loop
//! may not end, an assertion may fail, a function may return) are sticky: all that follows depends on them.

use foretell_depend::{Binary, Unary};

/// A place in the source text: line and column, from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in characters.
    pub column: u32,
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A checked program: every name is resolved, every jump is within its function, every stack is balanced.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Shared variables and arrays, in the order of their declaration.
    pub shared: Vec<Shared>,
    /// Locks, and arrays of them.
    pub locks: Vec<Group>,
    /// Semaphores, and arrays of them, with their permits at the beginning.
    pub semaphores: Vec<(Group, u32)>,
    /// Conditions, and arrays of them.
    pub conditions: Vec<Group>,
    /// The kinds of heap cells.
    pub cells: Vec<Cell>,
    /// All functions; also the bodies of threads, as functions of their own.
    pub functions: Vec<Function>,
    /// What runs from the beginning: the threads' names and bodies. A program that is not a parallel composition has
    /// one, `main`.
    pub threads: Vec<(String, usize)>,
    /// What the ways of decisions could do, see [`Instr::Decide`].
    pub scopes: Vec<Scope>,
}

/// A declared object, or an array of them: elements `first..first + length` of all objects of its sort.
#[derive(Clone, Debug)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// The number of its first element among all of the same sort.
    pub first: u32,
    /// How many elements it has if it is an array.
    pub length: Option<u32>,
}

/// A shared variable or array.
#[derive(Clone, Debug)]
pub struct Shared {
    /// Name and place in memory.
    pub group: Group,
    /// What its elements hold at the beginning, one value each.
    pub initial: Vec<i64>,
    /// Its accesses are atomic: they synchronise and are never part of a race.
    pub atomic: bool,
}

/// A kind of heap cell.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Its name.
    pub name: String,
    /// The fields, by name, with what they hold in a new cell.
    pub fields: Vec<(String, i64)>,
}

/// What the ways of a decision may do until they meet: an over-approximation from the program's text.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Scope {
    /// Shared variables that may be written: indices in [`Program::shared`]. Sorted.
    pub shared: Vec<usize>,
    /// Fields that may be written in any cell that has a field of this name. Sorted.
    pub fields: Vec<String>,
    /// Some way may synchronise, start or await threads, allocate, fail, or not end.
    pub may_stop: bool,
}

/// A function, or the body of a thread.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name, for diagnostics.
    pub name: String,
    /// How many of the locals are parameters: the first ones.
    pub parameters: u16,
    /// How many local variables it has, parameters included. Others hold 0 at first.
    pub locals: u16,
    /// How many loops it has, each with a counter.
    pub loops: u16,
    /// What it does. Never empty: ends with [`Instr::Return`].
    pub code: Vec<Instr>,
    /// Where each instruction comes from; as long as `code`.
    pub positions: Vec<Position>,
    /// Operations, by their places in `code`, that a reference may get to, which they cannot compute with: that they
    /// get numbers is a decision of its own. Sorted.
    pub doubtful: Vec<usize>,
}

/// One instruction. `index` stands for a number on the stack that picks an element of an array; operations on groups
/// that are no arrays take none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Instr {
    /// Pushes a number.
    Constant(i64),
    /// Pushes a local variable.
    Local(u16),
    /// Pops into a local variable.
    SetLocal(u16),
    /// Pops one, pushes the result.
    Unary(Unary),
    /// Pops the right operand, then the left one, pushes the result. Fails on division by zero. Arithmetic wraps
    /// around.
    Binary(Binary),
    /// Drops the top of the stack.
    Pop,

    /// *Step.* Reads `shared[i]`, an index in [`Program::shared`]; pops the element's index if that is an array; pushes
    /// what it read.
    Read(usize),
    /// *Step.* Pops the value, then the index if it is an array; writes.
    Write(usize),
    /// Pushes a reference to a new cell of this kind, an index in [`Program::cells`].
    New(usize),
    /// *Step.* Pops a reference, pushes what the field of this name holds. Fails if it is no reference, or the cell has
    /// no such field.
    ReadField(String),
    /// *Step.* Pops the value, then a reference; writes the field.
    WriteField(String),

    /// Continues elsewhere in the function.
    Jump(usize),
    /// Remembers on which decisions the thread depends now.
    Mark,
    /// Pops a number and continues at `otherwise` if it is 0. If the number depends on a read, this is a decision: a
    /// branch event, on which what follows depends.
    Decide {
        /// Where to go if the number is 0.
        otherwise: usize,
        /// What the ways may do, an index in [`Program::scopes`].
        scope: usize,
        /// The decision is never forgotten by a `Meet`: of a loop, or in a function that may call itself.
        sticky: bool,
    },
    /// The ways of the decision after the last `Mark` meet: forgets the mark and goes back to depending on what it
    /// says, unless there was a sticky decision since. What these locals hold, and with `top` the top of the stack,
    /// depends on the decision from now on.
    Meet {
        /// Locals that some way may assign.
        assigned: Vec<u16>,
        /// The ways leave their result on the stack.
        top: bool,
    },
    /// Forgets the last mark, but not the decisions since: some way returns, so that the ways do not meet here.
    Unmark,
    /// Pops a number; the program fails if it is 0. A sticky decision if the number depends on a read.
    Assert,
    /// A loop begins: its counter is 0.
    EnterLoop(u16),
    /// Another iteration of the loop begins: counts, and fails beyond the limit.
    Iterate(u16),

    /// *Step.* Takes the lock (index in [`Program::locks`], element by index); may take it again while holding it.
    Acquire(usize),
    /// *Step.* Gives it up; fails if the thread does not hold it.
    Release(usize),
    /// *Step.* Takes a permit of the semaphore, waiting until there is one.
    SemWait(usize),
    /// *Step.* Gives a permit.
    SemPost(usize),
    /// *Step, twice.* Releases the lock entirely and waits for a notification of the condition; when notified, takes
    /// the lock again as often as before. Fails if the thread does not hold the lock. Pops the index of the lock, then
    /// that of the condition.
    Wait {
        /// What to wait for.
        condition: usize,
        /// What to release.
        lock: usize,
    },
    /// *Step.* Wakes one of the threads that wait for the condition, any one, if there is any.
    Notify(usize),
    /// *Step.* Wakes all threads that wait for the condition.
    NotifyAll(usize),
    /// *Step.* Pops the arguments, the last one first, and starts a thread that runs the function; pushes a handle.
    Fork(usize),
    /// *Step.* Pops a handle and waits until that thread has ended.
    Join,
    /// Pops the arguments, the last one first, and runs the function; pushes its result.
    Call(usize),
    /// Pops the result and goes back to the caller, or ends the thread.
    Return,
}
