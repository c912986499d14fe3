//! CIMP, a small concurrent language in which all executions of a program can be enumerated.
//!
//! * [`compile()`]: from text to a program, or to [diagnostics](Diagnostic); what the language is: `docs/cimp.md`
//! * [`condition`]: what may be asked of shared memory
//! * [`program`]: what the virtual machine runs
//! * [`value`], [`machine`]: the virtual machine, one state at a time
//! * [`scheduler`]: which thread takes the next step
//! * [`record`]: one execution as a trace, with the flow of values and decisions
//! * [`explore`]: all executions

#[cfg(test)]
mod assembly;
mod compile;
pub mod condition;
mod diagnostic;
mod effects;
pub mod explore;
pub mod machine;
pub mod program;
pub mod record;
pub mod scheduler;
mod syntax;
pub mod value;

pub use compile::compile;
pub use condition::Condition;
pub use diagnostic::Diagnostic;
