//! Whether numbers can be what they have to be, asked of Z3.
//!
//! * [`process`]: a running `z3`, to talk with
//! * [`problem`]: numbers, what is computed from them, and what they may be
//! * [`pool`]: as many running solvers as are needed at a time
//!
//! Only what is computed is asked about: the order of events is nothing that this knows of. `z3` is a program of its own; where it is missing, nothing here
//! can be answered, and that is said.

pub mod pool;
pub mod problem;
pub mod process;

pub use pool::{Pool, program};
pub use problem::{Answer, Choice, Number, Problem};
pub use process::{Process, SolverError};
