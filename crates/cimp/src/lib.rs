//! CIMP, a small concurrent language in which all executions of a program can be enumerated.
//!
//! * [`compile()`]: from text to a program, or to [diagnostics](Diagnostic); what the language is: `docs/cimp.md`
//! * [`program`]: what the virtual machine runs

mod compile;
mod diagnostic;
mod effects;
pub mod program;
mod syntax;

pub use compile::compile;
pub use diagnostic::Diagnostic;
