//! CIMP, a small concurrent language in which all executions of a program can be enumerated.
//!
//! * [`program`]: what the virtual machine runs
//! * [`value`], [`machine`]: the virtual machine, one state at a time
//! * [`schedule`]: who takes the next step
//! * [`record`]: one execution as a trace, with the flow of values and decisions
//! * [`explore`]: all executions

#[cfg(test)]
mod assembly;
pub mod explore;
pub mod machine;
pub mod program;
pub mod record;
pub mod schedule;
pub mod value;
