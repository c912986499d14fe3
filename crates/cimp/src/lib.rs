//! CIMP, a small concurrent language in which all executions of a program can be enumerated.
//!
//! * [`program`]: what the virtual machine runs

pub mod program;
