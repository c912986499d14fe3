//! Z3 as a process. Where the program `z3` is missing, problems stay unanswered, and callers say so.
//!
//! * [`process`]: one running `z3`
//! * [`pool`]: as many processes as are needed at a time; a [`foretell_arithmetic::Solver`]

pub mod pool;
pub mod process;

pub use pool::{Pool, program};
pub use process::{Process, SolverError};
