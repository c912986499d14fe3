//! What a thread would do next.

use std::fmt;

use crate::program::Position;
use crate::value::{CellRef, ThreadRef};

/// A place in memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MemoryLocation {
    /// A shared variable, or an element of a shared array.
    Shared {
        /// Its index in [`Program::shared`](crate::program::Program::shared).
        variable: u32,
        /// Its place among all elements of all variables.
        element: u32,
    },
    /// A field of a cell.
    Field {
        /// The cell.
        cell: CellRef,
        /// The number of the field in its kind.
        field: u32,
    },
}

/// A step, with its target; locks, semaphores and conditions are numbered over all arrays of their sort.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names are those of the instructions")]
pub enum Action {
    Read(MemoryLocation),
    Write(MemoryLocation),
    Acquire(u32),
    Release(u32),
    SemWait(u32),
    SemPost(u32),
    /// The first half of a wait: begins it.
    Wait {
        condition: u32,
        lock: u32,
    },
    /// The second half of a wait: returns from it.
    Woken {
        condition: u32,
        lock: u32,
    },
    Notify(u32),
    NotifyAll(u32),
    /// The function that the new thread runs.
    Fork(u32),
    Join(ThreadRef),
    /// A failure, which ends the execution. Other threads may run until then.
    Fail,
}

impl Action {
    /// The memory that is accessed, and whether it is written.
    pub fn access(self) -> Option<(MemoryLocation, bool)> {
        match self {
            Action::Read(place) => Some((place, false)),
            Action::Write(place) => Some((place, true)),
            _ => None,
        }
    }
}

/// What a thread would do next, and where in the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PendingStep {
    /// What.
    pub action: Action,
    /// Where.
    pub position: Position,
}

/// One move of an execution: a thread takes its next step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Turn {
    /// Who.
    pub thread: ThreadRef,
    /// The thread that is woken, if the step is a notification and a thread waits for it.
    pub wake: Option<ThreadRef>,
}

/// The turn that was asked for is none that the program could take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refused;

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the thread cannot take this turn now")
    }
}
