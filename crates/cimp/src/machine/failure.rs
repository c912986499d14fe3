//! What can go wrong when a program runs.

use std::fmt;
use std::sync::Arc;

use crate::program::Position;

/// Why an execution cannot continue.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Fault {
    /// An assertion does not hold.
    Assertion,
    /// A division or a remainder by 0.
    DivisionByZero,
    /// An array has no element of this index.
    IndexOutOfBounds {
        /// The index; `None` if it is no number.
        index: Option<i64>,
        /// How many elements there are.
        length: u32,
    },
    /// A field of something that is no reference to a cell.
    NotAReference,
    /// A field that cells of this kind do not have.
    NoSuchField {
        /// The kind of the cell.
        cell: String,
        /// The field.
        field: String,
    },
    /// Arithmetic on a reference or a thread handle.
    NotANumber,
    /// A join of something that is no thread handle.
    NotAThread,
    /// A thread releases a lock, or waits with it, without holding it.
    NotHeld(String),
    /// More calls within calls than allowed.
    StackOverflow,
    /// A loop runs more often than allowed.
    LoopBound(u32),
    /// A thread loops forever without any visible operation.
    TooManySilentSteps,
    /// More threads than allowed.
    TooManyThreads,
}

impl Fault {
    /// Whether a limit of the run was reached, rather than something that the program does wrong for sure.
    pub fn is_limit(&self) -> bool {
        matches!(
            self,
            Fault::StackOverflow | Fault::LoopBound(_) | Fault::TooManySilentSteps | Fault::TooManyThreads
        )
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Assertion => write!(f, "the assertion does not hold"),
            Fault::DivisionByZero => write!(f, "division by zero"),
            Fault::IndexOutOfBounds { index: Some(index), length } => {
                write!(f, "the index {index} is out of bounds: the array has {length} elements")
            }
            Fault::IndexOutOfBounds { index: None, .. } => {
                write!(f, "the index is a reference, not a number")
            }
            Fault::NotAReference => write!(f, "a field of something that is no reference to a cell"),
            Fault::NoSuchField { cell, field } => write!(f, "a cell {cell} has no field {field}"),
            Fault::NotANumber => write!(f, "arithmetic on a reference or a thread handle"),
            Fault::NotAThread => write!(f, "a join of something that is no thread handle"),
            Fault::NotHeld(lock) => write!(f, "the thread does not hold {lock}"),
            Fault::StackOverflow => write!(f, "too many calls within calls"),
            Fault::LoopBound(bound) => write!(f, "the loop runs more than {bound} times"),
            Fault::TooManySilentSteps => {
                write!(
                    f,
                    "the thread runs on without a step that others could notice: probably an endless loop"
                )
            }
            Fault::TooManyThreads => write!(f, "too many threads"),
        }
    }
}

/// The end of an execution because something went wrong.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Failure {
    /// What went wrong.
    pub fault: Fault,
    /// The name of the thread that did it.
    pub thread: Arc<str>,
    /// Where in the program.
    pub position: Position,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.position, self.fault, self.thread)
    }
}
