//! Slices, clause by clause, on the figures of the paper, and against all executions of random programs.

mod clauses;
mod figures;
mod script;
