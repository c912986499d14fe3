//! A solver for clauses over booleans and over statements of the form "a comes before b".
//!
//! ```
//! use foretell_solve::{SearchAnswer, SearchLimits, OrderSolver};
//!
//! // Two chains of two nodes each: 0 < 2 and 1 < 3.
//! let mut solver = OrderSolver::new(&[0, 1, 0, 1]);
//! // One pair is to be completed before the other begins.
//! let clause = [solver.before(2, 1), solver.before(3, 0)];
//! solver.clause(&clause);
//! let late = solver.before(1, 0);
//! solver.clause(&[late]);
//! assert_eq!(solver.solve(&SearchLimits::default()), SearchAnswer::Sat);
//! assert!(solver.value(clause[1]));
//! ```
//!
//! It is made for callers that state what matters only when it does: they take a solution, see what it violates, add
//! clauses (and with them, new statements and booleans), and ask again. See [`OrderSolver`].

mod clauses;
mod clocks;
mod facts;
mod heap;
mod limits;
mod literal;
mod proof;
mod search;
mod solver;
mod theory;

pub use limits::{SearchAnswer, SearchLimits, Statistics};
pub use literal::Lit;
pub use proof::{Origin, ProofLog, ProofStep, StepId};
pub use solver::{Node, OrderSolver};
