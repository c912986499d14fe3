//! Slices, clause by clause, on the figures of the paper, and on runs of programs.

mod clauses;
mod conjecture;
mod figures;
mod plain;
mod programs;
mod recording;
mod replay;
mod script;
