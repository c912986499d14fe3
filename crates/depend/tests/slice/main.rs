//! Slices, clause by clause, on the figures of the paper, and on runs of random programs.

mod clauses;
mod debug;
mod figures;
mod programs;
mod replay;
mod script;
